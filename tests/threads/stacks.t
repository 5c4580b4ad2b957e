#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""fvmpi stacks of runs with 1, 2 and 4 threads: each value is what the formulas give from the runs' own reports, what
is rejected is so by its own numbers, and components add up to N."""
import csv
import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal

APART = ('lost_to_overhead', 'lost_to_cache', 'lost_to_memory')
LOST = ('lost_to_serial', 'lost_to_waiting', 'lost_to_imbalance', 'lost_to_few_cpus', 'lost_to_work')


def record(program, threads):
    directory = os.path.join(harness.scratch('exp'), 'e')
    return harness.run(
        [harness.FVMPI, 'run', '-q', '--threads', '--mpi', 'serial', '-o', directory, program],
        env={'OMP_NUM_THREADS': str(threads)},
        directory=directory,
    ).ended(0)


def stacks(*arguments, rc=0):
    return harness.run([harness.FVMPI, 'stacks', *arguments]).ended(rc)


def found_in(directories):
    return harness.valid(stacks(*directories, '--json', '-').out, 'stacks')['speedups']


class Alone:
    """What the report of one run says of its phase, of one rank."""

    def __init__(self, run):
        data = run.report().data
        (phase,) = data['phases']
        (rank,) = data['ranks']
        self.threads, self.longest, self.waitless, self.queue = (
            phase['team']['max'],
            phase['longest_s'],
            phase['longest_waitless_s'],
            phase['queue_s'],
        )
        self.useful = phase['thread_s'] - phase['wait_s']
        self.elapsed, self.parallel = rank['app_time_s'], phase['elapsed_s']


def by_formulas(found, alone):
    program, phase = found
    equal('kinds', (program['kind'], program['name'], phase['kind']), ('program', None, 'omp'))
    one = alone[0]
    for run, p, q in zip(alone, phase['points'], program['points']):
        equal('threads', (p['thread_count'], q['thread_count']), (run.threads,) * 2)
        wanted = {
            'longest_s': run.longest,
            'longest_waitless_s': run.waitless,
            'useful_s': run.useful,
            'queue_s': run.queue,
            'speedup': one.longest / run.longest,
        }
        if p['verdict'] == 'good':
            n = run.threads
            wanted.update(
                {
                    'speedup_waitless': one.longest / run.waitless,
                    'speedup_balanced': one.longest * n / run.useful,
                    'speedup_placed': one.longest * n / (run.useful - run.queue),
                }
            )
        for key, value in wanted.items():
            close('{} of {} threads'.format(key, run.threads), p[key], value, 1e-6 * (1 + abs(value)))
        close('elapsed', q['elapsed_s'], run.elapsed, 1e-6 * run.elapsed)
        close('serial', q['serial_s'], run.elapsed - run.parallel, 1e-6 * run.elapsed)
        close('speedup of the program', q['speedup'], one.elapsed / run.elapsed, 1e-6)


def verdicts(found):
    for phase in found:
        one = phase['points'][0]
        for p in phase['points'][1:]:
            off = [
                q['off_cpu_s'] is not None and q['off_cpu_s'] - q['queue_s'] > 0.02 * q['useful_s'] for q in (p, one)
            ]
            large = (
                max(
                    p['speedup'] if phase['name'] else 0,
                    one['longest_s'] / p['longest_waitless_s'],
                    one['longest_s'] / p['longest_s'] if phase['name'] else 0,
                )
                > 1.05 * p['thread_count']
            )
            spread = (
                one['elapsed_max_s'] - one['elapsed_min_s'] > 0.05 * (one['elapsed_max_s'] + one['elapsed_min_s']) / 2
            )
            equal(
                'verdict of {}'.format(p),
                p['verdict'],
                't1_varies' if spread else 'off_cpu' if any(off) else 'too_large' if large else 'good',
            )
            values = [p[key] for key in LOST]
            if p['verdict'] == 'good':
                close('sum', p['speedup'] + math.fsum(values), p['thread_count'], 1e-6)
            else:
                equal('components', values, [None] * len(LOST))


TEAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *work(void *unused)
{
    volatile double x = 1;
    for (int i = 0; i < 20000000; i++) x = x * 1.0000001;
    return unused;
}
int main(int count, char **words)
{
    pthread_t threads[64];
    int n = count > 1 ? atoi(words[1]) : 2;
    for (int i = 0; i < n; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
    printf("%d of %s\n", n, count > 2 ? words[2] : "");
    return n == 7 ? 7 : 0;
}
"""


def consistent(found):
    """What is told of one thread at a time fits together, whatever this machine lets be measured."""
    for phase in found:
        curve = {(c['thread_count'], c['cache_share']): c for c in phase['curve']}
        for p in phase['points']:
            whole = curve.get((p['thread_count'], 1.0))
            values = [p[key] for key in APART]
            if p['separation'] == 'good':
                close('apart', math.fsum(values), p['lost_to_work'], 1e-6)
                close('alone', p['speedup_alone'], phase['points'][0]['longest_s'] / whole['alone_s'], 1e-6)
                equal('the whole', whole['verdict'], 'good')
            else:
                equal('not told', values[1:], [None, None])
            if p['thread_count'] == 1:
                equal('one thread', p['separation'], 'not_run')
            if p['lost_to_sharing'] is not None:
                close('together', p['lost_to_overhead'] + p['lost_to_sharing'], p['lost_to_work'], 1e-6)


def one_at_a_time(tap, program, place, run):
    """fvmpi run --stacks --solo."""
    with tap.test('run --solo: on this machine, whatever it lets be measured'):
        directory = os.path.join(place, 'solo')
        done = run('--solo', '--stacks=2', '-o', directory, '--', program)
        names = sorted(os.listdir(directory))
        has_part = 'parts of it by' in done.err
        check(has_part != ('cache and memory cannot be separated here: ' in done.err), '{}', done.err)
        equal(
            'runs',
            names,
            sorted(
                ['threads-1', 'threads-1.2', 'threads-2', 'threads-2-alone-100', 'threads-2-alone-100.2']
                + (['threads-2-alone-50'] if has_part else [])
            ),
        )
        equal('output', done.out, harness.run([program]).ended(0).out * len(names))
        found = found_in([os.path.join(directory, name) for name in names])
        consistent(found)
        equal(
            'curve',
            [(c['thread_count'], c['cache_share'], c['run_count'], c['method']) for c in found[1]['curve']],
            [(2, 1.0, 2, 'whole')] + ([(2, 0.5, 1, 'pirate')] if has_part else []),
        )
        check(
            all(
                c['alone_s'] > 0 and c['verdict'] in ('good', 'off_cpu', 'varies', 'pirate_lost')
                for c in found[1]['curve']
            ),
            '{}',
            found[1]['curve'],
        )
        check('One thread at a time' in done.err, '{}', done.err)
        said = stacks(os.path.join(directory, 'threads-2-alone-100'), rc=1).err
        check('its threads or ranks ran one at a time' in said, '{}', said)
    with tap.test('run --solo=curve: by resctrl, which is made of files here'):
        root = harness.scratch('root')
        os.makedirs(root + '/sys/fs/resctrl/info/L3')
        for name, text in (
            ('schemata', '    L3:0=ffff;1=fff0\n    MB:0=100\n'),
            ('tasks', ''),
            ('info/L3/min_cbm_bits', '2\n'),
        ):
            with open(root + '/sys/fs/resctrl/' + name, 'w') as f:
                f.write(text)
        directory = os.path.join(place, 'ways')
        done = harness.run(
            [harness.FVMPI, 'run', '--mpi', 'serial', '--solo=curve', '--stacks=2', '-o', directory, '--', program],
            env={'FVMPI_SENSORS_ROOT': root},
            limit=120,
        ).ended(0)
        check('parts of it by resctrl' in done.err, '{}', done.err)
        names = sorted(os.listdir(directory))
        equal(
            'runs',
            names,
            sorted(
                ['threads-1', 'threads-1.2', 'threads-2']
                + ['threads-2-alone-' + name for name in ('100', '100.2', '75', '50', '25', '12')]
            ),
        )
        (group,) = [name for name in os.listdir(root + '/sys/fs/resctrl') if name.startswith('fvmpi-')]
        with open('{}/sys/fs/resctrl/{}/schemata'.format(root, group)) as f:
            equal('ways of the last part', f.read(), 'L3:0=3;1=30\n')
        pids = []
        for name in (group + '/tasks', 'tasks'):
            with open(root + '/sys/fs/resctrl/' + name) as f:
                pids.append(f.read())
        check(pids[0] == pids[1] != '', 'moved there, and back: {}', pids)
        found = found_in([os.path.join(directory, name) for name in names])
        consistent(found)
        equal(
            'curve',
            [(c['cache_share'], c['method'], c['cache_bytes'], c['missed_share']) for c in found[1]['curve']],
            [(1.0, 'whole', None, None)] + [(part, 'resctrl', None, None) for part in (0.75, 0.5, 0.25, 0.125)],
        )
    with tap.test('run --solo: through a launcher'):
        for mpi in harness.an_mpi(tap, quiet=True):
            done = harness.run(
                [
                    harness.FVMPI,
                    'run',
                    '--solo',
                    '--stacks=2',
                    '-o',
                    os.path.join(place, 'launched-{}'.format(mpi)),
                    '--',
                ]
                + mpi.command(1, [program]),
                limit=120,
            )
            # the program has no MPI: nothing is recorded
            check('--solo: left out with a launcher' in done.err and 'run 3 of 3' in done.err, '{}', done.err)


COUNTS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static void (*fake_count)(unsigned, unsigned long);
static pthread_barrier_t all;
static void *work(void *unused)
{
    volatile double x = 1;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4000000; i++) x = x * 1.0000001;
        fake_count(0, 2000000); /* cycles, instructions, misses of the last cache */
        fake_count(1, 1000000);
        fake_count(3, 64000);
        pthread_barrier_wait(&all);
    }
    return unused;
}
int main(int count, char **words)
{
    pthread_t threads[64];
    int n = atoi(words[count - 1]);
    fake_count = (void (*)(unsigned, unsigned long))dlsym(RTLD_DEFAULT, "fake_count");
    pthread_barrier_init(&all, 0, n);
    for (int i = 0; i < n; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
    return 0;
}
"""


def with_counters(tap, place):
    """A processor that is not there counts; parts of the cache are by a resctrl that is made of files."""
    root, program = harness.scratch('root'), os.path.join(place, 'counts')
    with open(program + '.c', 'w') as f:
        f.write(COUNTS)
    subprocess.run(['cc', '-O1', '-g', '-pthread', program + '.c', '-o', program, '-ldl'], check=True)
    os.makedirs(root + '/sys/fs/resctrl')
    with open(root + '/sys/fs/resctrl/schemata', 'w') as f:
        f.write('L3:0=ffff\n')
    with tap.test('run --solo --counters: cycles and lines from memory of the thread that ran alone'):
        directory = os.path.join(place, 'counted')
        harness.run(
            [
                harness.FVMPI,
                'run',
                '-q',
                '--solo',
                '--stacks=2',
                '--counters',
                'INSTRUCTIONS,CYCLES,CACHE-MISSES',
                '-o',
                directory,
                '--',
                program,
                '{N}',
            ],
            env=dict(harness.fake_pmu(), FVMPI_SENSORS_ROOT=root),
            limit=120,
        ).ended(0)
        (phase,) = [
            of
            for of in found_in([os.path.join(directory, name) for name in sorted(os.listdir(directory))])
            if of['kind'] == 'threads'
        ]
        equal('parts', [c['cache_share'] for c in phase['curve']], [1.0, 0.5])
        for c in phase['curve']:
            close('cycles', c['cycles_per_instruction'], 2, 1e-9)
            close('lines', c['lines_per_1000'], 64, 1e-9)
            close('bandwidth', c['bytes_per_s'], 64 * 5 * 64000 / c['alone_s'], 1e-3 * c['bytes_per_s'])
        phases = harness.dumped(os.path.join(directory, 'threads-2-alone-100'), 'counter_phases')
        check(sum(of['kind'] == 'alone' for of in phases) == 1, 'one thread ran alone: {}', phases)


def many_runs(tap, program):
    """fvmpi run --stacks."""

    def run(*words, rc=0):
        return harness.run([harness.FVMPI, 'run', '--mpi', 'serial', *words], limit=120).ended(rc)

    place = harness.scratch()
    team = os.path.join(place, 'team')
    with open(team + '.c', 'w') as f:
        f.write(TEAM)
    subprocess.run(['cc', '-O1', '-g', '-pthread', team + '.c', '-o', team], check=True)
    with tap.test('run --stacks: OMP_NUM_THREADS'):
        directory = os.path.join(place, 'omp')
        done = run('--stacks=2', '-o', directory, '--', program)
        equal('runs', sorted(os.listdir(directory)), ['threads-1', 'threads-1.2', 'threads-2'])
        equal('output', done.out, harness.run([program]).ended(0).out * 3)
        check(
            'from 1 to 2 threads: ' in done.err and 'fvmpi stacks {}/threads-* --html'.format(directory) in done.err,
            '{}',
            done.err,
        )
        points = found_in([os.path.join(directory, name) for name in sorted(os.listdir(directory))])[0]['points']
        equal('points', [(p['thread_count'], p['run_count']) for p in points], [(1, 2), (2, 1)])
    with tap.test('run --stacks: {N} in the command, twice in a word, all processors'):
        directory = os.path.join(place, 'words')
        done = run('--stacks', '-q', '-o', directory, '--', team, '{N}', '{N}-{N}')
        cpus = len(os.sched_getaffinity(0))
        counts = [1] + [n for n in (2**i for i in range(1, 12)) if n < cpus] + ([cpus] if cpus > 1 else []) + [1]
        equal('output', done.out, ''.join('{0} of {0}-{0}\n'.format(n) for n in counts))
        equal('said', done.err, '')
    with tap.test('run --stacks: a program that takes neither'):
        done = run('--stacks=3', '-o', os.path.join(place, 'neither'), '--', team, rc=1)
        check('1 thread was asked for, 2 worked in parallel' in done.err and '{N}' in done.err, '{}', done.err)
    with tap.test('run --stacks: one run fails'):
        done = run('--stacks=7,2', '-o', os.path.join(place, 'fails'), '--', team, '{N}', rc=7)
        equal('output', done.out, '1 of \n7 of \n')
        check('ended with status 7' in done.err, '{}', done.err)
    with tap.test('run --stacks: under a launcher'):
        for mpi in harness.an_mpi(tap, quiet=True):
            directory = os.path.join(place, 'below')
            said = harness.run(
                mpi.command(2, [harness.FVMPI, 'run', '--stacks=2', '-o', directory, '--', program]), limit=60
            )
            check('say fvmpi run --stacks ... -- mpiexec' in said.err, '{}', said.err)
            check(not os.path.exists(directory), 'it has run')
    one_at_a_time(tap, program, place, run)
    with_counters(tap, place)
    with tap.test('run --stacks: wrong words'):
        for value in ('x', '1,', ',2', '2,,3', '0', '99999', '-2'):
            said = harness.run([harness.FVMPI, 'run', '--stacks=' + value, '--', program])
            if value != '0':  # off
                equal(value, said.rc, 2)
        equal('solo', harness.run([harness.FVMPI, 'run', '--solo=x', '--', program]).rc, 2)
        said = run('--stacks', '-o', place, '--', program, rc=1)
        check('name another directory for --stacks' in said.err, '{}', said.err)


def main():
    tap = harness.Tap()
    program = os.path.join(harness.scratch(), 'known')
    subprocess.run(['cc', '-O1', '-g', '-fopenmp', os.path.join(HERE, 'speedup.c'), '-o', program], check=True)
    runs = [record(program, threads) for threads in (1, 2, 4)]
    directories = [run.directory for run in runs]
    with tap.test('by formulas, from the reports of the runs'):
        by_formulas(found_in(directories), [Alone(run) for run in runs])
    with tap.test('what is rejected is so by its own numbers, and components add up'):
        verdicts(found_in(directories))
    with tap.test('their order does not matter; of runs with one number of threads the shortest counts'):
        equal('order', found_in(directories[::-1]), found_in(directories))
        twice = found_in(directories + directories[2:])[1]['points'][2]
        equal('runs', twice['run_count'], 2)
        close('the shortest', twice['longest_s'], found_in(directories)[1]['points'][2]['longest_s'], 1e-9)
    with tap.test('text and CSV'):
        said = stacks(*directories, '--width', '200').out
        check(said.startswith('from 1 to 4 threads: '), '{}', said)
        check('The whole program' in said and 'OpenMP main() at speedup.c:' in said, '{}', said)
        folder = harness.scratch('csv')
        stacks(*directories, '--csv', folder)
        with open(os.path.join(folder, 'stacks.csv')) as f:
            equal('rows', len(list(csv.DictReader(f))), 6)
    with tap.test('wrong words'):
        for words, rc, text in (
            ([directories[0], directories[0]], 1, 'all runs had 1 thread: runs with 1, 2, 4'),
            (directories + ['--t1', '1'], 2, 'T1 comes from the run with one thread'),
            (directories[:1] + ['--json', '-'], 2, 'it needs runs with several numbers of threads'),
            (directories + ['--json', '-', '--text'], 2, '--text'),
        ):
            err = stacks(*words, rc=rc).err
            check(text in err, '{}: {}', words, err)
    many_runs(tap, program)
    tap.done()


main()
