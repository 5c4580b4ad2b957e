#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics and samples of OTF2 archives in fvmpi report: of Score-P (foreign.tar.xz; foreign.json has what python3-otf2 counted),
and of archives that metrics.c writes, of every mode and scope."""
import json
import os
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal, plainly

POINT, LAST, NEXT = 16, 32, 48  # when a value is of: also 0, since the start ...
GROWS, ABSOLUTE, CHANGE = 0, 1, 2  # ... and what it is
UINT64, INT64, DOUBLE = 4, 8, 10
BINARY, DECIMAL = 0, 1
STRICT, SYNCHRONOUS, ASYNCHRONOUS = 0, 1, 2
LOCATION, PROCESS, NODE = 0, 1, 2


def report_of(path):
    return plainly(harness.valid(harness.run([harness.FVMPI, 'report', path, '--json', '-']).ended(0).out))


def written(*lines):
    out = harness.scratch('metrics')
    program = os.path.join(harness.BUILD, 'tests/otf2/metrics')
    subprocess.run([program, out], input='\n'.join(lines).encode(), check=True, timeout=60)
    return report_of(os.path.join(out, 'traces.otf2'))


def member(name, mode, type_=UINT64, base=DECIMAL, exponent=0, unit='#'):
    return 'member {} {} {} {} {} {}'.format(name, mode, type_, base, exponent, unit)


def counters(data):
    return {c['event']: c for c in data['counters']}


def series(data, event):
    """Values along time by the ends of their intervals, in ns."""
    number = next(s['id'] for s in data['sensors'] if s['event'] == event)
    return [(round(1e9 * p['end_s']), round(p['mean'], 6)) for p in data['sensor_series'] if p['sensor_id'] == number]


RANK_1 = ('1 0 enter 0', '1 9000 leave 0')


def of_score_p(tap):
    place = harness.scratch('archives')
    with open(os.path.join(HERE, 'foreign.json')) as f:
        figures = json.load(f)['scorep-metrics']['metrics']
    with tarfile.open(os.path.join(HERE, 'foreign.tar.xz')) as tar:
        tar.extractall(place)
    with tap.test('Score-P: counters of each rank as python3-otf2 counted them, and what was counted in MPI'):
        data = report_of(os.path.join(place, 'scorep-metrics/traces.otf2'))
        found = counters(data)
        equal('counters', sorted(found), sorted(k for k in figures if not k.startswith('ru_maxrss')))
        for name, (ranks, in_mpi) in figures.items():
            if name in found:
                equal(name, [r['counted'] for r in found[name]['per_rank']], ranks)
                equal(name + ' in MPI', found[name]['counted_in_mpi'], in_mpi)
                equal(name + ' mode', found[name]['mode'], None)
    with tap.test('Score-P: counters by function add up to those of the threads'):
        rows = data['instrumented_counts']
        equal('events', sorted({r['event'] for r in rows}), sorted(found))
        for name, (ranks, in_mpi) in figures.items():
            own = [r for r in rows if r['event'] == name]
            equal(name, sum(r['self_counted'] for r in own), sum(ranks) if name in found else 0)
            equal(name + ' in MPI', sum(r['mpi_counted'] for r in own), in_mpi if name in found else 0)
    with tap.test('Score-P: what is no counter is a series of each rank'):
        rows = {s['event']: s for s in data['sensors']}
        equal('series', sorted(rows), ['ru_maxrss@rank 0', 'ru_maxrss@rank 1'])
        for rank, last in enumerate(figures['ru_maxrss'][0]):
            row = rows['ru_maxrss@rank {}'.format(rank)]
            equal('kind', (row['kind'], row['unit'], row['most']), ('gauge', 'Bytes', 1024 * last))


def of_functions(tap):
    def row(data, function, event):
        found = [r for r in data['instrumented_counts'] if (r['function'], r['event']) == (function, event)]
        equal('rows of {}, {}'.format(function, event), len(found), 1)
        return tuple(found[0][key] for key in ('counted', 'self_counted', 'mpi_counted', 'calls'))

    with tap.test('counters by function: in itself, in MPI, and with what it calls'):
        data = written(
            member('PAPI_TOT_CYC', GROWS),
            'class 0 0',
            '0 0 value 0 1000',
            '0 0 enter 0',
            '0 100 value 0 2000',
            '0 100 enter 1',
            '0 200 value 0 2500',
            '0 200 enter 2',
            '0 300 value 0 4500',
            '0 300 leave 2',
            '0 350 value 0 4600',
            '0 350 leave 1',
            '0 360 value 0 4610',
            '0 360 enter 1',
            '0 380 value 0 4650',
            '0 380 leave 1',
            '0 400 value 0 5000',
            '0 400 leave 0',
            *RANK_1,
        )
        equal('solve', row(data, 'solve', 'PAPI_TOT_CYC'), (2600 + 40, 500 + 2000 + 100 + 40, 2000, 2))
        equal('main', row(data, 'main', 'PAPI_TOT_CYC'), (4000, 1000 + 10 + 350, 0, 1))
        most = [r['max_rank'] for r in data['instrumented_counts']]
        equal('ranks', most, [0, 0])
    with tap.test('counters by function: not where they are read elsewhere'):
        data = written(
            member('PAPI_TOT_CYC', GROWS),
            'class 1 0',
            '0 0 enter 0',
            '0 100 value 0 2000',
            '0 200 enter 1',
            '0 300 value 0 4500',
            '0 350 leave 1',
            '0 400 leave 0',
            *RANK_1,
        )
        equal('counted', [c['counted'] for c in data['counters']], [2500])
        equal('of functions', data['instrumented_counts'], [])


def counts(tap):
    with tap.test('names of PAPI are known quantities: metrics are made of them, also outside of MPI'):
        data = written(
            member('PAPI_TOT_CYC', GROWS),
            member('PAPI_TOT_INS', GROWS),
            'class 0 0 1',
            '0 0 value 0 1000 500',
            '0 0 enter 0',
            '0 100 value 0 2000 2500',
            '0 100 enter 2',
            '0 300 value 0 5000 3500',
            '0 300 leave 2',
            '0 400 value 0 6000 7500',
            '0 400 leave 0',
            *RANK_1,
        )
        found = counters(data)
        equal('cycles', (found['PAPI_TOT_CYC']['counted'], found['PAPI_TOT_CYC']['counted_in_mpi']), (5000, 3000))
        equal('of', (found['PAPI_TOT_CYC']['quantity'], found['PAPI_TOT_INS']['quantity']), ('cycles', 'instructions'))
        ipc = next(m for m in data['counter_metrics'] if m['metric'] == 'ipc')
        equal('IPC', (ipc['metric_value'], ipc['outside_mpi']), (7000 / 5000, 6000 / 2000))
    with tap.test('of threads, by what came since the value before, with base and exponent'):
        data = written(
            member('added', CHANGE | LAST, exponent=3, unit='B'),
            member('grown', GROWS | POINT, base=BINARY, exponent=10),
            member('tenths', GROWS, exponent=-1, unit='s'),
            'class 1 0 1 2',
            '0 0 enter 0',
            '0 100 value 0 5 7 1',
            '0 300 value 0 6 9 5',
            '0 400 leave 0',
            '2 0 enter 0',
            '2 50 value 0 1 100 10',
            '2 250 value 0 2 101 12',
            '2 260 leave 0',
            *RANK_1,
        )
        found = counters(data)
        threads = {name: [t['counted'] for t in c['per_thread']] for name, c in found.items()}
        equal('threads', threads, {'added (B)': [11000, 3000], 'grown': [2048, 1024], 'tenths (10^-1 s)': [4, 2]})
        equal('in MPI', {c['counted_in_mpi'] for c in found.values()}, {None})
    with tap.test('one value, or one that goes back: not known'):
        data = written(
            member('once', GROWS),
            member('back', GROWS),
            'class 1 0',
            'class 1 1',
            '0 0 enter 0',
            '0 10 value 0 5',
            '0 10 value 1 5',
            '0 20 value 1 4',
            '0 30 leave 0',
            *RANK_1,
        )
        equal('counted', [c['counted'] for c in data['counters']], [None, None])
    with tap.test('more than there is room for are series'):
        names = ['m{}'.format(i) for i in range(20)]
        lines = [member(name, GROWS) for name in names] + ['class 1 {}'.format(i) for i in range(20)] + ['1 0 enter 0']
        for time in (0, 100):
            lines += ['1 {} value {} {}'.format(time, i, time + i) for i in range(20)]
        data = written(*lines, '1 100 leave 0', '0 0 enter 0', '0 100 leave 0')
        equal('counters', sorted(counters(data)), sorted(names[:16]))
        equal('series', [s['event'] for s in data['sensors']], [name + '@rank 1' for name in names[16:]])


def along_time(tap):
    with tap.test('series: of a moment, of the time before and behind, of changes; of threads, processes and the node'):
        data = written(
            member('hot', ABSOLUTE | POINT, DOUBLE, exponent=-1, unit='C'),
            member('load', ABSOLUTE | NEXT),
            member('held', CHANGE | LAST, INT64, base=BINARY, exponent=10, unit='B'),
            member('joules', GROWS, exponent=-3, unit='J'),
            'class 2 0',
            'class 2 1',
            'class 2 2',
            'class 2 3',
            'instance 0 2 0',
            'instance 1 1 1',
            'instance 3 0 1',
            '0 0 enter 0',
            '0 1000 value 2 10',
            '0 2000 value 2 -4',
            '0 9000 leave 0',
            '3 1000 value 4 205',
            '3 2000 value 4 210',
            '3 3000 value 5 7',
            '3 4000 value 5 9',
            '3 6000 value 5 9',
            '3 7000 value 6 1000',
            '3 8000 value 6 3000',
            *RANK_1,
        )
        equal('hot', series(data, 'hot'), [(2000, 21.0)])
        equal('load', series(data, 'load@rank 1'), [(4000, 7), (6000, 9), (8000, 9)])
        equal('held', series(data, 'held@rank 0 thread 0'), [(2000, 6 * 1024)])
        equal('joules', series(data, 'joules@rank 1'), [(8000, 2e6)])
        rows = {s['event']: (s['kind'], s['unit'], s['total']) for s in data['sensors']}
        equal('joules', rows['joules@rank 1'], ('counter', 'J/s', 2.0))
        equal('hot', rows['hot'], ('gauge', 'C', None))
        equal('counters', data['counters'], [])
    with tap.test('series of many values: the file stays small'):
        lines = [member('load', ABSOLUTE | POINT), 'class 2 0', '0 0 enter 0']
        lines += ['0 {} value 0 {}'.format(10 * i, i) for i in range(1, 200001)]
        data = written(*lines, '0 2000010 leave 0', *RANK_1)
        row = data['sensors'][0]
        equal('values', (row['least'], row['most'], row['intervals']), (2, 200000, 199999))
    with tap.test('metrics that are not defined, or have no values'):
        data = written(
            member('a', GROWS),
            'class 1 0 5',
            'instance 9 1 0',
            '0 0 enter 0',
            '0 1 value 0 1 2',
            '0 2 value 0 3 4',
            '0 3 value 1',
            '0 4 leave 0',
            *RANK_1,
        )
        equal('counted', [(c['event'], c['counted']) for c in data['counters']], [('a', 2)])


def procedures(data):
    """Samples by function: in it alone, with what it calls, and of the first those in MPI."""
    return {
        row['procedure']: (row['exclusive']['ticks'], row['inclusive']['ticks'], row['exclusive']['mpi_ticks'])
        for row in (data['costs'] or {}).get('procedures', ())
    }


def samples(tap):
    with tap.test('samples: CPU time of functions, in MPI and outside, by what a sample stands for'):
        data = written(
            'context 0 -1',
            'context 1 0',
            'context 2 1',
            'generator 1 -3 10',
            '0 0 enter 0',
            '0 1000 sample 0',
            '0 2000 sample 1',
            '0 3000 sample 1',
            '0 4000 enter 2',
            '0 5000 sample 2',
            '0 6000 leave 2',
            '0 7000 sample 1',
            '0 9000 leave 0',
            *RANK_1,
        )
        equal('all', (data['costs']['all']['time_s'], data['costs']['all']['mpi_ticks']), (0.05, 1))
        equal('functions', procedures(data), {'main': (1, 5, 0), 'solve': (4, 4, 1)})
    with tap.test('samples by an event: how much time they stand for is not known'):
        data = written('context 0 -1', '0 0 enter 0', '0 1000 sample 0', '0 9000 leave 0', *RANK_1)
        equal('samples', procedures(data), {})


def own_samples(mpi, tap):
    with tap.test('{}: samples of our own archive, of either kind: those of the rank files'.format(mpi)):
        run = mpi.profile(mpi.build('waitpaths.c'), 2, ['paths'], ['--trace', '-q']).ended(0)
        first = report_of(run.directory)
        one = procedures(first)
        check(one, 'samples')
        for options in ((), ('--calling-contexts',)):
            harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', *options, run.directory]).ended(0)
            again = report_of(os.path.join(run.directory, 'traces.otf2'))
            other = procedures(again)
            of_all = [data['costs']['all'] for data in (first, again)]
            equal('ticks', of_all[1]['ticks'], of_all[0]['ticks'])
            # A sample in what fvmpi itself does for a call is one of MPI; its time may lie outside of the call's.
            check(abs(of_all[1]['mpi_ticks'] - of_all[0]['mpi_ticks']) <= 1 + 0.05 * of_all[0]['ticks'], '{}', of_all)
            for function in ('workers', 'stencil', 'pipeline', 'chain', 'start'):
                equal(function, other.get(function, (0, 0))[1], one.get(function, (0, 0))[1])


def main():
    tap = harness.Tap()
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')):
        with tap.test('metrics of archives'):
            raise harness.Skip('OTF2 was not found; install the package libotf2-trace-dev')
        tap.done()
    of_score_p(tap)
    counts(tap)
    of_functions(tap)
    along_time(tap)
    samples(tap)
    for mpi in harness.an_mpi(tap):
        own_samples(mpi, tap)
    tap.done()


main()
