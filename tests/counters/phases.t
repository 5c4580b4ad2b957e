#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: the stand-in for a processor's counters must be the first library.
"""fvmpi run --counters --threads: what is counted in phases of parallel threads, with known answers by a processor that
is not there (fake_pmu.c) and by page faults: of created threads, also where later ones have their predecessors' places,
of regions of OpenMP, by libgomp and by OMPT, with tasks at their ends and regions in them; after _exit(), a kill and
MPI_Pcontrol(2), without descriptors, and what that costs; with events that take turns, and of runs that are joined."""
import math
import os
import re
import sys
import timeit

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal, plainly

ROUNDS, TEAM = 3, 3
SMALL, LARGE = ROUNDS * (6000 + 3000), ROUNDS * 2 * 50000
REGIONS = {'plain': ROUNDS * (600 + 3 * 10), 'with_tasks': 8 * 40, 'outer': 2 * 2 + 2 * 20, 'inner': 4 * 20}
THREADS = {'plain': ROUNDS * TEAM, 'with_tasks': TEAM, 'outer': 2, 'inner': 4}


def build(compiler, *flags):
    path = os.path.join(harness.scratch('bin'), os.path.basename(compiler) + '.' + ''.join(flags))
    harness.run([compiler, '-O1', '-g', '-pthread', *flags, os.path.join(HERE, 'phases.c'), '-o', path, '-ldl']).ended(
        0
    )
    return path


def profile(command, options, env):
    directory = os.path.join(harness.scratch('exp'), 'e')
    return harness.run(
        [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', '--threads', *options, *command],
        env=env,
        directory=directory,
    )


def phases(run):
    """By function, or OpenMP's by the function that forks, and by event; metrics likewise."""
    data = plainly(run.report().data)
    names = {p['id']: re.match(r'\w+', p['function']).group() for p in data['phases']}
    return (
        {(names[row['phase_id']], row['event']): row for row in data['counter_phases']},
        {(names[row['phase_id']], row['metric']): row for row in data['counter_phase_metrics']},
        data,
    )


def created(tap, program, env):
    with tap.test('created threads: the counters of a phase are those of its threads, whoever had their places before'):
        run = profile([program, 'threads'], ['--counters', 'INSTRUCTIONS,CYCLES,PAGE-FAULTS'], env).ended(0)
        rows, metrics, data = phases(run)
        for function, wanted, threads in (('small', SMALL, ROUNDS * TEAM), ('large', LARGE, ROUNDS * 2)):
            row = rows[function, 'INSTRUCTIONS']
            equal(
                function,
                (row['counted'], row['kind'], row['kind_of_phase'], row['rank_count'], row['missing_threads']),
                (wanted, 'exact', 'threads', 1, 0),
            )
            (part,) = row['per_rank']
            equal(
                'by rank',
                (part['rank'], part['thread_count'], part['counted'], part['counted_in_mpi']),
                (0, threads, wanted, 0),
            )
            phase = data['phases'][row['phase_id']]
            close('longest', part['time_s'], phase['longest_s'], 1e-12)
            close('rate', row['rate_per_s'] * phase['longest_s'], wanted, wanted * 1e-9)
            close('IPC', metrics[function, 'ipc']['metric_value'], 2, 1e-9)
            close('outside of MPI', metrics[function, 'ipc']['outside_mpi'], 2, 1e-9)
            close(
                'rate',
                metrics[function, 'instruction_rate']['metric_value'] * phase['longest_s'],
                wanted,
                wanted * 1e-9,
            )
        touched = ROUNDS * TEAM * 200
        check(
            touched <= rows['small', 'PAGE-FAULTS']['counted'] <= touched + ROUNDS * TEAM * 20,
            'page faults of {}: {}',
            touched,
            rows['small', 'PAGE-FAULTS'],
        )
        check(
            rows['large', 'PAGE-FAULTS']['counted'] <= ROUNDS * 2 * 20, 'page faults: {}', rows['large', 'PAGE-FAULTS']
        )
        text = harness.run([harness.FVMPI, 'report', '--width', '200', run.directory]).ended(0).out
        check(
            re.search(r'^  small\(\) by create\(\) .* INSTRUCTIONS +27,000 ', text, re.M)
            and re.search(r'^  large\(\) by create\(\) .* ipc +2\.00 ', text, re.M),
            'text: {}',
            text,
        )
    with tap.test('without --threads there are no phases, and without --counters no counters of them'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [
                harness.FVMPI,
                'run',
                '-q',
                '-o',
                directory,
                '--mpi',
                'serial',
                '--counters',
                'INSTRUCTIONS',
                program,
                'threads',
            ],
            env=env,
            directory=directory,
        ).ended(0)
        equal('counters', phases(run)[:2], ({}, {}))
        equal('counters', phases(profile([program, 'threads'], [], env).ended(0))[:2], ({}, {}))
    with tap.test('threads that live at the end: by _exit() they are counted, after a kill they are missing'):
        row = phases(profile([program, 'threads', 'leave'], ['--counters', 'INSTRUCTIONS'], env).ended(0))[0][
            'stay', 'INSTRUCTIONS'
        ]
        equal('after _exit()', (row['counted'], row['missing_threads'], row['kind']), (1400, 0, 'exact'))
        rows = phases(profile([program, 'threads', 'die'], ['--counters', 'INSTRUCTIONS'], env))[0]
        row = rows['stay', 'INSTRUCTIONS']
        equal('after a kill', (row['counted'], row['missing_threads'], row['kind']), (None, 2, 'part'))
        equal(
            'of those that had ended',
            (rows['small', 'INSTRUCTIONS']['counted'], rows['small', 'INSTRUCTIONS']['kind']),
            (SMALL, 'exact'),
        )
    with tap.test('threads for which there is no descriptor are missing where they are, and only in what needs one'):
        rows, metrics, _ = phases(
            profile([program, 'threads', 'limit'], ['--counters', 'INSTRUCTIONS,CYCLES,PAGE-FAULTS'], env).ended(0)
        )
        for function, wanted, missing in (('small', SMALL // ROUNDS, (ROUNDS - 1) * TEAM), ('large', None, ROUNDS * 2)):
            row = rows[function, 'INSTRUCTIONS']
            equal(function, (row['counted'], row['missing_threads'], row['kind']), (wanted, missing, 'part'))
            equal(
                'page faults',
                (rows[function, 'PAGE-FAULTS']['missing_threads'], rows[function, 'PAGE-FAULTS']['kind']),
                (0, 'exact'),
            )
        check(
            ('small', 'ipc') not in metrics and ('small', 'page_fault_rate') in metrics,
            'metrics are of what is known: {}',
            list(metrics),
        )
    with tap.test('events that take turns are estimates'):
        five = 'INSTRUCTIONS,CYCLES,BRANCH-INSTRUCTIONS,BRANCH-MISSES,CACHE-MISSES'
        row = phases(
            profile(
                [program, 'threads'], ['--counters-shared', '--counters', five], dict(env, FAKE_PMU_RUNNING='25')
            ).ended(0)
        )[0]['large', 'INSTRUCTIONS']
        equal('kind', row['kind'], 'estimate')
        close('scaled', row['counted'], LARGE, ROUNDS * 2 * 4)


def regions(tap, compiler, who, env):
    with tap.test(
        '{}: the counters of a region are those of its teams, with the tasks at its end, and of regions in it by the threads that are of both'.format(
            who
        )
    ):
        if harness.run(
            [
                'sh',
                '-c',
                'echo "int main(void) { return 0; }" | '
                + compiler
                + ' -x c - -fopenmp -o '
                + os.path.join(harness.scratch('try'), 'a'),
            ]
        ).rc:
            raise harness.Skip('no {} with OpenMP'.format(compiler))
        program = build(compiler, '-fopenmp')
        rows, metrics, data = phases(
            profile([program, 'regions'], ['--counters', 'INSTRUCTIONS,CYCLES,PAGE-FAULTS'], env).ended(0)
        )
        of_phase = {p['id']: p for p in data['phases']}
        equal('regions', {function for function, _ in rows}, set(REGIONS))
        for name, wanted in REGIONS.items():
            row = rows[name, 'INSTRUCTIONS']
            equal(
                name,
                (
                    row['counted'],
                    row['kind'],
                    row['kind_of_phase'],
                    row['missing_threads'],
                    row['per_rank'][0]['thread_count'],
                ),
                (wanted, 'exact', 'omp', 0, THREADS[name]),
            )
            close('IPC of ' + name, metrics[name, 'ipc']['metric_value'], 2, 1e-9)
            phase = of_phase[row['phase_id']]
            check(
                row['per_rank'][0]['thread_s'] <= phase['thread_s'] * (1 + 1e-9),
                'counted for {}, there for {}',
                row['per_rank'][0]['thread_s'],
                phase['thread_s'],
            )
        touched = ROUNDS * TEAM * 50
        check(
            touched <= rows['plain', 'PAGE-FAULTS']['counted'] <= touched + ROUNDS * TEAM * 20,
            'page faults of {}: {}',
            touched,
            rows['plain', 'PAGE-FAULTS'],
        )


def costs(tap, env):
    with tap.test('what reading at regions costs is in the own overhead'):
        program, found = build('cc', '-fopenmp'), [math.inf, math.inf]
        read = min(timeit.repeat(os.getppid, number=1000, repeat=20)) / 1000  # the least that a system call takes here
        for _ in range(6):  # the least of each: others may make any of them longer
            for i, options in enumerate(([], ['--counters', 'PAGE-FAULTS:u,PAGE-FAULTS,CONTEXT-SWITCHES'])):
                report = profile([program, 'regions', 'many'], options, {}).ended(0).report()
                if report.rank(0)['ready_s'] < 0.02 * report.rank(0)['app_time_s']:
                    found[i] = min(found[i], report.data['run']['overhead']['time_s'])
            if found[1] > found[0] + 18000 * read:
                break
        if math.inf in found:
            raise harness.Skip('others had the processor in each run')
        check(
            found[1] > found[0] + 18000 * read,
            'three system calls, six times in each of 1,000 regions: {}; one takes {}',
            found,
            read,
        )


def passes(tap, program, env):
    """Six events of four registers: two runs."""
    with tap.test('counters of phases of several runs, joined'):
        base = os.path.join(harness.scratch('exp'), 'p')
        events = [
            'INSTRUCTIONS',
            'CYCLES',
            'PAGE-FAULTS',
            'BRANCH-INSTRUCTIONS',
            'BRANCH-MISSES',
            'CACHE-MISSES',
            'CACHE-REFERENCES',
        ]
        harness.run(
            [
                harness.FVMPI,
                'run',
                '-q',
                '--passes',
                '--counters',
                ','.join(events),
                '-o',
                base,
                '--mpi',
                'serial',
                '--threads',
                '--',
                program,
                'threads',
            ],
            env=env,
        ).ended(0)
        data = plainly(
            harness.valid(harness.run([harness.FVMPI, 'report', '--json', '-', base + '-1', base + '-2']).ended(0).out)
        )
        rows = {
            (row['function'].rstrip('()'), row['event']): (row['counted'], row['kind'])
            for row in data['counter_phases']
        }
        equal('events', {event for _, event in rows}, set(events))
        for function, wanted in (('small', SMALL), ('large', LARGE)):
            equal('instructions', rows[function, 'INSTRUCTIONS'], (wanted, 'exact'))
            equal('of the other run', rows[function, 'CACHE-MISSES'], (wanted // 10, 'exact'))


def of_mpi(tap, mpi, env):
    with tap.test(
        '{}: created threads of each rank, which are not forgotten with MPI_Pcontrol(2), as phases are not'.format(mpi)
    ):
        program = mpi.build(os.path.join(HERE, 'phases.c'), '-DWITH_MPI', '-pthread', '-ldl')
        for words in ([], ['forget']):
            run = mpi.profile(
                program, 2, ['threads', *words], ['-q', '--threads', '--counters', 'INSTRUCTIONS,CYCLES'], env=env
            ).ended(0)
            rows, _, data = phases(run)
            equal('phases', [p['instance_count'] for p in data['phases']], [2 * ROUNDS] * 2)
            for function, wanted in (('small', SMALL), ('large', LARGE)):
                row = rows[function, 'INSTRUCTIONS']
                equal(
                    function,
                    [(p['rank'], p['counted'], p['kind']) for p in row['per_rank']],
                    [(rank, wanted, 'exact') for rank in range(2)],
                )
                equal(
                    'spread',
                    (row['counted'], row['counted_min'], row['counted_max'], row['missing_threads']),
                    (2 * wanted, wanted, wanted, 0),
                )


def main():
    tap = harness.Tap()
    harness.patiently()
    env = harness.fake_pmu()
    program = build('cc')
    created(tap, program, env)
    passes(tap, program, env)
    costs(tap, env)
    regions(tap, 'cc', 'libgomp', env)
    regions(tap, 'clang', 'OMPT', env)
    for mpi in harness.an_mpi(tap):
        of_mpi(tap, mpi, env)
    tap.done()


main()
