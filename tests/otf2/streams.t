#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Accelerators in OTF2 archives: what ran on each stream (gpu.c writes the archive), in the report and in fvmpi view."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal, plainly
from viewed import Server

KERNEL, COPY, SYNC = 'saxpy(int, float)', 'memcpy HtoD', 'sync'


def written(*how):
    out = harness.scratch('gpu')
    subprocess.run([os.path.join(harness.BUILD, 'tests/otf2/gpu'), out, *how], check=True, timeout=60)
    return os.path.join(out, 'traces.otf2')


def report_of(anchor):
    return plainly(harness.valid(harness.run([harness.FVMPI, 'report', anchor, '--json', '-']).ended(0).out))


def close(found, wanted):
    return abs(found - wanted) < 1e-9


def report(tap, name, anchor, device):
    data = report_of(anchor)
    with tap.test(name + ': kernels, copies and what else ran, by stream'):
        rows = [(r['rank'], r['device'], r['stream'], r['function'], r['kind'], r['calls']) for r in data['streams']]
        wanted = [
            (0, device, 'CUDA[0:1]', KERNEL, 'kernel', 3),
            (0, device, 'CUDA[0:2]', COPY, 'copy', 2),
            (0, device, 'CUDA[0:2]', SYNC, 'other', 1),
        ]
        equal('rows', rows, wanted)
        kernel, copy, sync = data['streams']
        for row, seconds in ((kernel, 60e-6), (copy, 5e-6), (sync, 1e-6)):
            check(close(row['time_s'], seconds) and close(row['mean_s'], seconds / row['calls']), '{}', row)
            check(abs(row['share'] - seconds / 100e-6) < 0.02, '{}', row)
        check(close(kernel['min_s'], 10e-6) and close(kernel['max_s'], 30e-6), '{}', kernel)
    with tap.test(name + ': they are no functions of the program'):
        equal('functions', [r['function'] for r in data['instrumented']], ['main'])
        check(close(data['instrumented'][0]['time_s'], 100e-6), '{}', data['instrumented'])
    with tap.test(name + ': in the text'):
        text = harness.run([harness.FVMPI, 'report', anchor, '--width', '160']).ended(0).out
        check('Streams of accelerators' in text and 'CUDA[0:1]  saxpy        kernel' in text, '{}', text)


def seen(tap, name, anchor):
    server = Server(anchor)
    with tap.test(name + ': rows of fvmpi view have the names of streams'):
        about = server.json('about')
        equal('rows', [(row[0], row[4]) for row in about['rows']], [(0, ''), (0, 'CUDA[0:1]'), (0, 'CUDA[0:2]')])
        names = [region[0] for region in about['regions']]
        sums = {names[row[0]]: row[1:4] for row in server.json('sums', first=1, rows=1)['regions']}
        equal('first stream', sums, {KERNEL: [3, 60000, 60000]})
    server.stop()


def main():
    tap = harness.Tap()
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')):
        with tap.test('accelerators in archives'):
            raise harness.Skip('OTF2 was not found; install the package libotf2-trace-dev')
        tap.done()
    for name, how, device in (('a device', (), 'GPU 0'), ('beside threads', ('beside',), None)):
        anchor = written(*how)
        report(tap, name, anchor, device)
        seen(tap, name, anchor)
    tap.done()


main()
