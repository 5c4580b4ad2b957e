#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_THREAD_MULTIPLE with totals that are known, from threads older than MPI_Init, threads that come and go
by the thousand, and threads that pause recording under each other's feet. Under ./dev tsan the program is
instrumented, too."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal

THREADS, N, TOGGLES, SHORT = 8, 60, 50, 2000
SIZES = sum(40 * t for t in range(THREADS))


def tsan():
    flags = os.environ.get('SANITIZE_FLAGS', '').split()
    return [f for f in flags if 'thread' in f]


def totals(report):
    report.shape(2, threaded=True)
    equal('dropped', [report.dropped(r) for r in (0, 1)], [0, 0])
    equal('states', [report.rank(r)['state'] for r in (0, 1)], ['finalized'] * 2)
    equal('in a call', [report.rank(r)['in_call'] for r in (0, 1)], [None] * 2)
    each = THREADS * N
    for function in ('MPI_Send', 'MPI_Recv'):
        sites = report.callsites(function, inside='work')
        equal('call sites of {}'.format(function), len(sites), 2)
        equal('calls of {}'.format(function), sum(s.data['count'] for s in sites), 2 * each)
        for site in sites:
            site.expect(count=each // 2)
        key = 'bytes_sent' if function == 'MPI_Send' else 'bytes_received'
        equal('{} of {}'.format(key, function), sum(s.data[key] for s in sites), 2 * N * SIZES)
    report.callsite('MPI_Irecv', inside='work').expect(count=each, sent=0, received=8 * each)
    report.callsite('MPI_Isend', inside='work').expect(count=each, sent=8 * each, received=0)
    report.callsite('MPI_Waitall', inside='work').expect(count=each, sent=0, received=0)
    report.callsite('MPI_Allreduce', inside='work').expect(count=each, sent=8 * each, received=8 * each)
    report.callsite('MPI_Comm_split', inside='work').expect(count=each)
    report.callsite('MPI_Comm_free', inside='work').expect(count=each)
    equal('path', report.callsite('MPI_Irecv', inside='work').names[1], 'worker')
    equal('while paused', report.callsites(inside='unseen'), [])
    report.callsite('MPI_Sendrecv', inside='again').expect(count=each, sent=4 * each, received=4 * each)


def pauses(report):
    site = report.callsite('MPI_Sendrecv', inside='toggled')
    most = (THREADS - 1) * N
    check(
        all(0 < n <= most for n in site.each('count')),
        'MPI_Sendrecv in toggled: {} of at most {}',
        site.each('count'),
        most,
    )
    equal('bytes of what was counted', site.data['bytes_sent'], 4 * site.data['count'])
    # two call sites; what begins after MPI_Pcontrol(0) is not counted
    sites = report.callsites('MPI_Pcontrol', inside='toggled')
    equal('MPI_Pcontrol in toggled', [s.each('count') for s in sites], [[TOGGLES] * 2])


def short_lived(mpi, run, report):
    report.callsite('MPI_Sendrecv', inside='brief').expect(count=2 * SHORT, sent=8 * SHORT, received=8 * SHORT)
    report.callsite('MPI_Initialized', inside='late').expect(count=SHORT)
    files = [os.path.join(run.directory, 'rank-00000{}.fvr'.format(r)) for r in (0, 1)]
    text = harness.run([harness.FVMPI, 'dump', run.directory]).ended(0).out
    check(len(text) > 1000, 'dump: {}', text)
    for path in files:
        check(os.path.getsize(path) < 4 << 20, '{}: {} bytes for {} threads', path, os.path.getsize(path), SHORT)


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: 8 threads, totals'.format(mpi)):
            run = mpi.profile(mpi.build('hammer.c', '-pthread', *tsan()), 2).ended(0)
            if 'no MPI_THREAD_MULTIPLE' in run.out:
                raise Skip('this MPI provides no MPI_THREAD_MULTIPLE')
            check('ThreadSanitizer' not in run.err, '{}', run.err[:6000])
            report = run.report()
            totals(report)
        with tap.test('{}: pausing under 8 threads'.format(mpi)):
            pauses(report)
        with tap.test('{}: {} short-lived threads'.format(mpi, SHORT)):
            short_lived(mpi, run, report)
        with tap.test('{}: calls of a thread that watches MPI_Init'.format(mpi)):
            report.callsite('MPI_Init_thread', inside='main').expect(count=1)
            for r in (0, 1):
                entry = report.rank(r)
                check(
                    entry['mpi_time_s'] <= entry['app_time_s'],
                    'rank {}: MPI {} of {}',
                    r,
                    entry['mpi_time_s'],
                    entry['app_time_s'],
                )
    tap.done()


main()
