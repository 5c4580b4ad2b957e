#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi scaling, of runs on one, two and four ranks whose parts scale in a known way: each value is what POP's formulas
give from the runs' own reports, what is divided among the ranks loses nothing, what each of them does again loses all
but its share, and the efficiency that was spoiled is named. Bad input gets one line."""
import json
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal

SIZES = (1, 2, 4)
WORK, COPIED, UNEVEN = 100, 400, 0


def scaling(*arguments):
    done = harness.run([harness.FVMPI, 'scaling', '--json', '-'] + list(arguments)).ended(0)
    return harness.valid(done.out, 'scaling')


def text(*arguments):
    return harness.run([harness.FVMPI, 'scaling', '--width', '200'] + list(arguments)).ended(0).out


def refused(words, *arguments, rc=1):
    done = harness.run([harness.FVMPI, 'scaling'] + list(arguments)).ended(rc)
    check(words in done.err and (rc == 2 or done.err.count('\n') == 1), 'not said in one line: {}\n{}', words, done.err)


class Run:
    """What a run's own report says: P, sum U, T."""

    def __init__(self, run):
        self.directory = run.directory
        report = run.report().data
        ranks = report['ranks']
        self.ranks, self.elapsed = len(ranks), max(r['app_time_s'] for r in ranks)
        self.useful = sum(r['app_time_s'] - r['mpi_time_s'] for r in ranks)
        self.efficiency = report['efficiency']
        waited = [f['lost_s'] for f in report['findings'] if f['name'] == 'no_processor']
        self.no_processor = sum(waited) / self.ranks


def by_formulas(found, runs, weak):
    for point, run in zip(found['points'], runs):
        r, first = run.ranks / runs[0].ranks, runs[0]
        speedup = first.elapsed / run.elapsed * (r if weak else 1)
        computation = first.useful / run.useful * (r if weak else 1)
        wanted = {
            'rank_count': run.ranks,
            'run_count': 1,
            'factor': r,
            'elapsed_s': run.elapsed,
            'useful_s': run.useful,
            'speedup': speedup,
            'of_ideal': speedup / r,
            'parallel': run.useful / run.ranks / run.elapsed,
            'computation': computation,
            'load_balance': run.efficiency['load_balance'],
        }
        for key, value in wanted.items():
            close('{} of {} ranks'.format(key, run.ranks), point[key], value, 1e-6 * (1 + abs(value)))
        close('global', point['global'], point['parallel'] * point['computation'], 1e-9)
        close(
            'global / global_ref is speedup / r',
            point['global'] / found['points'][0]['global'],
            point['of_ideal'],
            1e-6,
        )


def part(found, name, table):
    (row,) = [p for p in found['parts'] if p['table'] == table and p['name'] == name]
    return row


REASONS = {
    'computation': 'what fell most: computation scalability',
    'load_balance': 'work is shared less evenly',
    'communication': 'more of the time is in MPI',
}


def fell_most(found, runs, planted, by):
    """Of a busy machine MPI_Init may take so long that communication falls more than what was planted; then that is to
    be told."""
    left = {'computation': found['points'][-1]['computation']}
    left.update({key: runs[-1].efficiency[key] / runs[0].efficiency[key] for key in ('load_balance', 'communication')})
    check(left[planted] < by, '{} did not fall: {}', planted, left)
    worst = min(left, key=left.get)
    equal('what fell most, of {}'.format(left), found['scaling']['worst'], worst)
    said = text('--strong', *[run.directory for run in runs])
    waited = runs[-1].no_processor / runs[-1].elapsed - runs[0].no_processor / runs[0].elapsed
    reason = 'had no processor' if waited >= 0.5 * (1 - left[worst]) else REASONS[worst]
    check(reason in said, 'the reason is not said: {}', said)
    return said


def strong(runs):
    found = scaling('--strong', *[run.directory for run in runs])
    equal('kind', found['scaling']['kind'], 'strong')
    by_formulas(found, runs, weak=False)
    divided, copied = part(found, 'divided', 'sections'), part(found, 'copied', 'sections')
    for row in divided, copied:
        times = [t['time_s'] for t in row['times']]
        close('ideal', row['ideal_s'], times[0] / 4, 1e-9)
        close('lost', row['lost_s'], times[-1] - times[0] / 4, 1e-9)
    check(copied['lost_s'] > 0.6 * COPIED / 1000, 'copied: {}', copied)
    check(copied['lost_s'] > 4 * divided['lost_s'], 'divided {}, copied {}', divided['lost_s'], copied['lost_s'])
    said = fell_most(found, runs, 'computation', 0.5)
    check('strong scaling: speedup {:.2f} of 4'.format(found['points'][-1]['speedup']) in said, '{}', said)
    check('copied' in said, '{}', said)


def weak(runs):
    found = scaling('--weak', *[run.directory for run in reversed(runs)])
    by_formulas(found, runs, weak=True)
    check(
        part(found, 'divided', 'sections')['lost_s'] < 0,
        'that was divided, in a weak run: {}',
        part(found, 'divided', 'sections'),
    )


def untold(runs):
    found = scaling(*[run.directory for run in runs])
    equal('speedup', {p['speedup'] for p in found['points']}, {None})
    equal('lost', {p['lost_s'] for p in found['parts']}, {None})
    check('say --strong' in text(*[run.directory for run in runs]).splitlines()[0], 'it is not asked for')


def repeated(mpi, program, runs):
    """Two runs of a size: their mean."""
    again = Run(mpi.profile(program, 2, [str(w) for w in (WORK, COPIED, UNEVEN)]).ended(0))
    found = scaling('--strong', runs[0].directory, runs[1].directory, again.directory)
    equal('points', [(p['rank_count'], p['run_count']) for p in found['points']], [(1, 1), (2, 2)])
    close('mean', found['points'][1]['elapsed_s'], statistics.mean([runs[1].elapsed, again.elapsed]), 1e-6)
    equal(
        'least and most',
        [round(found['points'][1][key], 6) for key in ('elapsed_min_s', 'elapsed_max_s')],
        sorted(round(run.elapsed, 6) for run in (runs[1], again)),
    )


def uneven(mpi, program):
    runs = [Run(mpi.profile(program, ranks, ['200', '0', '200']).ended(0)) for ranks in (1, 2)]
    found = scaling('--strong', *[run.directory for run in runs])
    fell_most(found, runs, 'load_balance', 0.75)


def by_threads(mpi):
    """Threads of one rank and of two: work that all divide, and work of the main thread, at which the others wait. The
    run on one thread has no team of OpenMP."""
    if harness.SANITIZER and str(mpi) == 'mpich':
        raise harness.Skip("MPICH's libraries lock before AddressSanitizer is there")
    program, runs, reports = mpi.build('scaling_omp.c', '-fopenmp'), [], []
    for ranks, threads in ((1, 1), (1, 2), (2, 2)):
        runs.append(
            mpi.profile(program, ranks, [str(WORK), str(COPIED)], ['--threads'], env={'OMP_NUM_THREADS': str(threads)})
            .ended(0)
            .directory
        )
        reports.append(harness.report_of(runs[-1]).data)
    found = scaling('--strong', *runs)
    equal(
        'sizes',
        [(p['rank_count'], p['thread_count'], p['factor']) for p in found['points']],
        [(1, 1, 1), (1, 2, 2), (2, 4, 4)],
    )
    equal('by threads', found['scaling']['by_threads'], True)
    first = reports[0]['ranks'][0]
    close(
        'computing of one thread',
        found['points'][0]['useful_s'],
        first['app_time_s'] - first['mpi_time_s'],
        0.02 * COPIED / 1000,
    )
    close('OpenMP of one thread', found['points'][0]['openmp'], 1, 0.02)
    for point, report in list(zip(found['points'], reports))[1:]:
        of = report['hybrid_efficiency']
        for key, wanted in (
            ('parallel', of['parallel']),
            ('openmp', of['omp_parallel']),
            ('load_balance', of['mpi_load_balance']),
            ('useful_s', of['useful_s']),
            ('computation', found['points'][0]['useful_s'] / of['useful_s']),
        ):
            close('{} of {} threads'.format(key, point['thread_count']), point[key], wanted, 1e-6 * (1 + wanted))
    left = {'openmp': found['points'][-1]['openmp'], 'computation': found['points'][-1]['computation']}
    # 0.5 by what is slept, and both ranks do what one did
    check(left['openmp'] < 0.7, 'workers wait for the main thread: {}', left)
    said = text('--strong', *runs)
    check('threads' in said and 'OpenMP' in said, '{}', said)


def files(runs):
    out = os.path.join(harness.scratch('scaling'), 'csv')
    directories = [run.directory for run in runs]
    harness.run([harness.FVMPI, 'scaling', '--strong', '--csv', out] + directories).ended(0)
    found = scaling('--strong', *directories)
    with open(os.path.join(out, 'part_times.csv')) as f:
        equal('rows', len(f.read().splitlines()) - 1, len(found['parts']) * len(SIZES))
    json.loads(harness.run([harness.FVMPI, 'scaling', '--schema']).ended(0).out)


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        program = mpi.build('scaling.c')
        runs = []
        with tap.test('{}: runs'.format(mpi)):
            runs += [
                Run(mpi.profile(program, ranks, [str(w) for w in (WORK, COPIED, UNEVEN)]).ended(0)) for ranks in SIZES
            ]
        if not runs:
            continue
        for name, judge in (
            ('strong', lambda: strong(runs)),
            ('weak', lambda: weak(runs)),
            ('nobody told', lambda: untold(runs)),
            ('several runs of a size', lambda: repeated(mpi, program, runs)),
            ('uneven ranks', lambda: uneven(mpi, program)),
            ('ranks of threads', lambda: by_threads(mpi)),
            ('files', lambda: files(runs)),
        ):
            with tap.test('{}: {}'.format(mpi, name)):
                judge()
        with tap.test('{}: bad input'.format(mpi)):
            refused('all runs are on 2 ranks', runs[1].directory, runs[1].directory)
            refused('needed', runs[1].directory, rc=2)
            refused('runs are one or the other', '--weak', '--strong', runs[0].directory, runs[1].directory, rc=2)
            refused('/nowhere', runs[0].directory, '/nowhere')
    tap.done()


main()
