#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A part of a run: fvmpi report --from S --to S. Cut in two anywhere, the parts have together what the whole has: the
time of each function, of MPI, of the program and for files, what was sent and computed, to the nanosecond. A call that the
cut goes through is in both."""
import json
import os
import random
import re
import shutil
import signal
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, close, equal
from viewed import events_of

FVUNIFY = os.path.join(harness.BUILD, 'fvunify')
NS = 1e-9
FUZZ = 1e-12  # of sums of seconds


def report_of(path, *options):
    return harness.valid(harness.run([harness.FVMPI, 'report', path, '--json', '-', *options]).ended(0).out)


def sums(data):
    """Seconds and calls; of MPI also bytes."""
    found = {}

    def add(kind, name, *values):
        found[kind, name] = [a + b for a, b in zip(found.get((kind, name), [0] * 3), values)]

    for f in data['mpi_functions'] or ():
        add('mpi', f['function'], f['time']['sum_s'], f['count'], f['bytes_sent'])
    for f in data['instrumented'] or ():
        add('function', f['function'], f['time_s'], f['calls'], 0)
    for f in data['io'] or ():
        add('file', f['function'], f['time_s'] + f['in_mpi_s'], f['calls'], 0)
    return found


def compared(path, at_s, whole):
    parts = [report_of(path, '--to', '%.9f' % at_s), report_of(path, '--from', '%.9f' % at_s)]
    before, after, of_all = sums(parts[0]), sums(parts[1]), sums(whole)
    calls = 0

    equal('functions', set(before) | set(after), set(of_all))
    for key, (seconds, count, sent) in of_all.items():
        a, b = before.get(key, [0] * 3), after.get(key, [0] * 3)
        # each call that is cut has both its halves rounded to ns
        close('seconds of {}'.format(key), a[0] + b[0], seconds, NS * (1 + count) + FUZZ)
        check(a[1] + b[1] >= count, '{} calls of {}, wanted {} at least', a[1] + b[1], key, count)
        equal('bytes of {}'.format(key), a[2] + b[2], sent)
        calls += count
    for name in ('compute_s', 'mpi_s'):
        close(
            name,
            sum(part['run']['rank_time'][name] for part in parts),
            whole['run']['rank_time'][name],
            NS * (1 + calls) + FUZZ,
        )
    equal('command', [' from ' in part['run']['command'] for part in parts], [True, True])
    for part in parts:
        kinds = [p['text'] for p in part['problems'] if 'it is left out' in p['text']]
        equal('analysis', kinds, [])
    return parts


def foreign(tap):
    place = harness.scratch('archives')
    with open(os.path.join(HERE, 'foreign.json')) as f:
        figures = json.load(f)
    with tarfile.open(os.path.join(HERE, 'foreign.tar.xz')) as tar:
        tar.extractall(place)
    choose = random.Random(4711)
    for name in sorted(figures):
        with tap.test('{}: two parts have what the whole has'.format(name)):
            anchor = os.path.join(place, figures[name]['anchor'])
            whole = report_of(anchor)
            compared(anchor, whole['run']['elapsed_s'] * choose.uniform(0.1, 0.9), whole)
    return os.path.join(place, figures['scorep-late']['anchor'])


def refused(tap, anchor):
    fvunify = lambda *options: harness.run([FVUNIFY, *options]).ended(2).err  # noqa: E731
    refuse = lambda status, *options: (  # noqa: E731
        harness.run([harness.FVMPI, 'report', anchor, *options]).ended(status).err
    )
    with tap.test('a part that is none: one line'):
        err = refuse(1, '--from', '1e6')
        check(
            re.fullmatch(r'fvmpi: \S+: its trace ends after [\d.]+ s, before the part that is asked for\n', err),
            '{}',
            err,
        )
        check('later than --from' in refuse(2, '--from', '2', '--to', '1'), 'no order')
        check('seconds from' in refuse(2, '--from', 'x'), 'not a number')
        check('takes -o DIR' in fvunify(anchor, '--from', '0.1'), 'fvunify: where to')
        check('for an archive' in fvunify(os.path.dirname(anchor), '--from', '0.1'), 'fvunify: an experiment')
    with tap.test('nothing of it is left'):
        left = [name for name in os.listdir(os.path.dirname(anchor)) if 'part' in name]
        equal('files', left, [])


def own(tap, mpi):
    with tap.test('{}: of rank files, as of their archive'.format(mpi)):
        run = mpi.profile(mpi.build('waitpaths.c'), 4, ['paths'], ['--trace', '--sample=off', '-q']).ended(0)
        directory = run.directory
        harness.run([FVUNIFY, '-q', directory]).ended(0)
        whole = report_of(os.path.join(directory, 'traces.otf2'))
        at_s = whole['run']['elapsed_s'] / 2
        parts = compared(directory, at_s, whole)
        equal('command', parts[1]['run']['command'], '{}, from {:g} s'.format(directory, float('%.9f' % at_s)))
        text = harness.run([harness.FVMPI, 'report', directory, '--from', '%.9f' % at_s]).ended(0).out
        check('.fvmpi-part' not in text, 'names a directory that is gone: {}', text)
        equal('left', [name for name in os.listdir(directory) if 'part' in name], [])


def on_their_way(tap, mpi):
    """What is received first was sent before the part begins: no later send is taken for it."""
    with tap.test('{}: messages that are on their way where a part begins'.format(mpi)):
        program = mpi.build(os.path.join(HERE, 'ahead.c'), output='ahead')
        run = mpi.profile(program, 2, [], ['--trace', '--sample=off', '-q']).ended(0)
        harness.run([FVUNIFY, '-q', run.directory]).ended(0)
        barriers = [
            begin
            for begin, _, name, *_ in events_of(os.path.join(run.directory, 'traces.otf2'))[0]
            if name == 'MPI_Barrier'
        ]
        at_s = sorted(barriers)[len(barriers) // 2] * NS
        text = ' '.join(
            harness.run([harness.FVMPI, 'report', run.directory, '--from', '%.9f' % at_s]).ended(0).out.split()
        )
        check('before they were sent' not in text, 'taken for later ones: {}', text)
        missing = re.search(r'one side is missing of (\d+) messages', text)
        check(
            missing and int(missing.group(1)) in (2, 3, 4),
            'on their way: 2 or 3, and a barrier perhaps, found {}: {}',
            missing,
            text,
        )


def asleep(tap, mpi):
    """A sleep has no samples: calls that were measured name it, of the run as of a part. What has samples is known by
    them, of the run as of its archive."""
    program = mpi.build(os.path.join(HERE, 'asleep.c'), '-O0', '-finstrument-functions', output='asleep')
    run = mpi.profile(program, 2, [], ['--trace', '--functions', '--sample', '-q']).ended(0)
    archive = os.path.join(run.directory, 'traces.otf2')
    harness.run([FVUNIFY, '-q', run.directory]).ended(0)
    with tap.test('{}: a late rank that slept'.format(mpi)):
        begins = [e for e in events_of(archive)[0] if e[2] == 'MPI_Barrier']
        words = ['--from', '%.9f' % (begins[1][0] * NS), '--to', '%.9f' % (begins[-2][1] * NS)]
        for part in [], words:
            text = ' '.join(harness.run([harness.FVMPI, 'report', run.directory, *part]).ended(0).out.split())
            found = re.search(
                r'Late rank, [^:]*: rank 1 made others wait.*? in (\w+)\(\)[^,]*, the other.*?\((.*?)\)', text
            )
            check(found, '{}', text)
            equal('in, by', found.groups(), ('asleep', 'measured calls'))
    with tap.test('{}: a part whose report is not read to its end leaves nothing'.format(mpi)):
        reader = 'set -o pipefail; "$0" "$@" | true'
        command = [harness.FVMPI, 'report', '--from', '0.1', '--json', '-', run.directory]
        harness.run(['bash', '-c', reader, *command]).ended(128 + signal.SIGPIPE)
        equal('left', [name for name in os.listdir(run.directory) if name.startswith('.fvmpi-part')], [])
    with tap.test('{}: a part of a run that misses a rank'.format(mpi)):
        rest = shutil.copytree(
            run.directory, run.directory + '-rest', symlinks=True, ignore=lambda *_: ['rank-000001.fvr', 'traces']
        )
        found = harness.run([harness.FVMPI, 'report', '--from', '0.1', rest])
        check(found.out.startswith('compute ') and 'rank 1 has no rank file' in found.err, '{}', found)
    for how in [], ['--calling-contexts']:
        with tap.test('{}: samples of the archive {}'.format(mpi, ' '.join(how))):
            harness.run([FVUNIFY, '-q', *how, run.directory]).ended(0)
            experiment = os.path.join(run.directory, 'again' + ''.join(how))
            harness.run([FVUNIFY, '-q', archive, '-o', experiment]).ended(0)
            samples = [
                json.load(open(os.path.join(place, 'analysis.json')))['samples']
                for place in (run.directory, experiment)
            ]
            check(samples[0]['count'], 'none')
            equal('by regions', samples[0].pop('by_regions'), False)
            for key in 'count', 'cpu_s', 'by_regions':
                equal(key, *(s.get(key, False) for s in samples))
            behind = samples[0]['elsewhere'] - samples[1]['elsewhere']  # the program's end, which the archive ends with
            check(0 <= behind <= 2, '{} of {}', behind, samples[0]['elsewhere'])
            found, wanted = map(procedures, samples)
            if how:  # calling contexts begin before main(); awake() begins once it is entered
                found = {(rank, name): total for (rank, name), total in found.items() if name == 'main'}
            equal('procedures', {k: wanted.get(k) for k in found}, found)


def procedures(samples):
    return {(row['rank'], row['function']): row['total'] for row in samples['procedures']}


def main():
    tap = harness.Tap()
    if not os.path.exists(FVUNIFY + '-serial'):
        with tap.test('parts of runs'):
            raise harness.Skip('OTF2 was not found; install the package libotf2-trace-dev')
        tap.done()
    refused(tap, foreign(tap))
    for mpi in harness.an_mpi(tap):
        own(tap, mpi)
        on_their_way(tap, mpi)
        asleep(tap, mpi)
    tap.done()


main()
