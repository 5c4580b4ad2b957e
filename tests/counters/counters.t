#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: the stand-in for a processor's counters must be the first library.
"""fvmpi run --counters: what is counted over whole threads and in sections. Page faults, against getrusage(), of C and
Fortran, of threads, under both MPIs and without; events of a processor that is not there (fake_pmu.c): in MPI and
outside, by thread, rank and section, in groups that take turns, with too many of them, after a fork(), a kill and
MPI_Pcontrol(2); who has more work, and who slower work; and the processor's own instructions, where it tells them."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from measured import repeat
from report import check, close, equal, plainly

THREAD_PAGES = 700
INSTRUCTIONS, IN_MPI, OF_THREAD = 1000000, 10 * 500, 70000


class Kind:
    """The program with MPI or without."""

    def __init__(self, mpi):
        self.mpi = mpi
        self.ranks = 2 if mpi else 1
        if mpi:
            self.program = mpi.build(os.path.join(HERE, 'known.c'), '-pthread', '-ldl')
        else:
            self.program = os.path.join(harness.scratch(), 'known')
            harness.run(
                [
                    'cc',
                    '-g',
                    '-DALONE',
                    '-pthread',
                    '-I',
                    harness.INCLUDE,
                    os.path.join(HERE, 'known.c'),
                    '-o',
                    self.program,
                    '-ldl',
                ]
            ).ended(0)

    def __str__(self):
        return str(self.mpi or 'without MPI')

    def profile(self, words, options, env=None):
        if self.mpi:
            return self.mpi.profile(self.program, 2, list(words), ['-q', *options], env=env)
        directory = os.path.join(harness.scratch('exp'), 'e')
        return harness.run(
            [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', *options, self.program, *words],
            env=env,
            directory=directory,
        )


def counted(run):
    data = plainly(run.report().data)
    return (
        {row['event']: row for row in data['counters']},
        {(row['section'], row['event']): row for row in data['counter_sections']},
        data,
    )


def by_rank(row, key='counted'):
    return [part[key] for part in row['per_rank']]


def faults_said(run):
    said = {}
    for rank, number in re.findall(r'^faults (\d+) (\d+)$', run.out, re.M):
        said[int(rank)] = said.get(int(rank), 0) + int(number)
    return [said[rank] for rank in sorted(said)]


def faults(tap, kind):
    with tap.test('{}: page faults are those of getrusage(), also of threads'.format(kind)):
        run = kind.profile(['even'], ['--counters', 'software,PAGE-FAULTS:u']).ended(0)
        whole, sections, _ = counted(run)
        said = faults_said(run)
        # by a perf event, where these are permitted
        if not whole['PAGE-FAULTS:u']['refused_ranks']:
            equal('mode of :u', whole['PAGE-FAULTS:u']['mode'], 'user')
            for found, wanted, most in zip(
                by_rank(sections['touch', 'PAGE-FAULTS:u']), said, by_rank(sections['touch', 'PAGE-FAULTS'])
            ):
                check(
                    wanted <= found <= most,
                    'in the section {} in user mode, by getrusage() {}, in all {}',
                    found,
                    wanted,
                    most,
                )
        # what begin and end of the section take in between may touch a page of their own
        for found, wanted in zip(by_rank(sections['touch', 'PAGE-FAULTS']), said):
            check(wanted <= found <= wanted + 3 * 8, 'in the section {}, by getrusage() {}', found, wanted)
        row = whole['PAGE-FAULTS']
        equal(
            'reading',
            (row['mode'], row['kind'], row['refused_ranks'], row['rank_count']),
            ('both', 'exact', 0, kind.ranks),
        )
        for rank in range(kind.ranks):
            threads = [part['counted'] for part in row['per_thread'] if part['rank'] == rank]
            equal('threads', len(threads), 2)
            check(THREAD_PAGES <= threads[1] <= THREAD_PAGES + 20, 'of the thread {}', threads)
            equal('sum', sum(threads), by_rank(row)[rank])
            check(threads[0] >= said[rank], 'of the main thread {}, of the section {}', threads, said)
        cpu = sections['work', 'TASK-CLOCK']
        check(all(0.1e9 <= ns < 1e9 for ns in by_rank(cpu)), 'CPU time of the section {}', cpu)


def fortran(tap, mpi):
    with tap.test('{}: page faults of a Fortran program'.format(mpi)):
        program = os.path.join(harness.scratch('bin'), 'known_f')
        modules = harness.scratch('modules')
        harness.run(
            [
                mpi.fc,
                '-g',
                '-J',
                modules,
                os.path.join(harness.INCLUDE, 'fvmpi.f90'),
                os.path.join(HERE, 'known.f90'),
                '-o',
                program,
            ]
        ).ended(0)
        run = mpi.profile(program, 2, [], ['-q', '--counters', 'PAGE-FAULTS']).ended(0)
        _, sections, _ = counted(run)
        for found, wanted in zip(by_rank(sections['touch', 'PAGE-FAULTS']), faults_said(run)):
            check(wanted <= found <= wanted + 12, 'in the section {}, by getrusage() {}', found, wanted)


def processor(tap, kind, env):
    """Rank 1 of `more` has three times the instructions."""
    with tap.test('{}: events of a processor, in MPI and outside, by thread and section'.format(kind)):
        run = kind.profile(['more'], ['--counters', 'INSTRUCTIONS,CYCLES'], env).ended(0)
        whole, sections, data = counted(run)
        in_mpi = IN_MPI if kind.mpi else 0
        work = [INSTRUCTIONS, 3 * INSTRUCTIONS][: kind.ranks]
        row = whole['INSTRUCTIONS']
        equal('mode', row['mode'], 'user')
        equal(
            'asked for', [o['value'] for o in data['options'] if o['option'] == '--counters'], ['INSTRUCTIONS,CYCLES']
        )
        equal('by rank', by_rank(row), [n + OF_THREAD + in_mpi for n in work])
        equal('in MPI', by_rank(row, 'counted_in_mpi'), [in_mpi] * kind.ranks)
        equal(
            'by thread',
            [(p['rank'], p['counted'], p['counted_in_mpi']) for p in row['per_thread']],
            [part for rank, n in enumerate(work) for part in ((rank, n + in_mpi, in_mpi), (rank, OF_THREAD, 0))],
        )
        equal(
            'spread',
            (row['counted'], row['counted_min'], row['min_rank'], row['counted_max'], row['max_rank']),
            (sum(by_rank(row)), min(by_rank(row)), 0, max(by_rank(row)), kind.ranks - 1),
        )
        equal('in the section', by_rank(sections['work', 'INSTRUCTIONS']), work)
        equal('in MPI there', by_rank(sections['work', 'INSTRUCTIONS'], 'counted_in_mpi'), [0] * kind.ranks)
        equal('in another', by_rank(sections['touch', 'INSTRUCTIONS']), [0] * kind.ranks)
        metrics = {(m['section'], m['metric']): m for m in data['counter_metrics']}
        of_threads = {
            (name, p['rank'], p['thread']): p['counted']
            for name in ('INSTRUCTIONS', 'CYCLES')
            for p in whole[name]['per_thread']
        }
        equal(
            'IPC by thread',
            {(p['rank'], p['thread']): round(p['metric_value'], 9) for p in metrics['all', 'ipc']['per_thread']},
            {
                (r, t): round(n / of_threads['CYCLES', r, t], 9)
                for (name, r, t), n in of_threads.items()
                if name == 'INSTRUCTIONS' and of_threads['CYCLES', r, t]
            },
        )
        time_s = {(p['rank'], p['thread']): p['time_s'] for p in row['per_thread']}
        equal(
            'rate by thread, by its own time',
            {
                (p['rank'], p['thread']): round(p['metric_value'] * time_s[p['rank'], p['thread']])
                for p in metrics['all', 'instruction_rate']['per_thread']
            },
            {(r, t): n for (name, r, t), n in of_threads.items() if name == 'INSTRUCTIONS'},
        )
        close('IPC of the section', metrics['work', 'ipc']['metric_value'], 2, 1e-9)
        outside = sum(work) + kind.ranks * OF_THREAD
        close('IPC outside of MPI', metrics['all', 'ipc']['outside_mpi'], outside / (sum(work) / 2), 1e-9)
        rate = metrics['work', 'instruction_rate']
        longest = max(by_rank(sections['work', 'INSTRUCTIONS'], 'time_s'))
        close('rate', rate['metric_value'] * longest, sum(work), 1)


def balanced(kind, how, options, env):
    """The one finding of a rank 1 that computes longer."""
    run = kind.profile([how], ['--counters', *options], env).ended(0)
    found = [f for f in run.report().data['findings'] if f['name'] == 'instruction_balance']
    equal('rank', [f['rank'] for f in found], [1])
    return found[0]


def balance(tap, kind, env):
    """Rank 1 computes longer by a clock that goes on while a busy machine keeps the other from its processor."""
    for how, words in (
        ('more', 'has more work: 3.07e+06 instructions'),
        ('slow', 'has slower work: 1.07e+06 instructions'),
    ):
        with tap.test('{}: a rank that computes longer, {}'.format(kind, how)):
            found = repeat(lambda: balanced(kind, how, ['INSTRUCTIONS,CYCLES'], env))
            check(words in found['text'], '{}', found['text'])
            check(found['evidence'] != 'estimate', '{}', found)
    with tap.test('{}: such a finding of events that took turns is an estimate'.format(kind)):
        five = 'INSTRUCTIONS,CYCLES,BRANCH-INSTRUCTIONS,BRANCH-MISSES,CACHE-MISSES'
        found = repeat(lambda: balanced(kind, 'more', [five, '--counters-shared'], dict(env, FAKE_PMU_RUNNING='25')))
        equal('evidence', found['evidence'], 'estimate')
    with tap.test(
        '{}: where work is even there is no such finding, nor where threads are a team, which spins, nor where it was not counted apart'.format(
            kind
        )
    ):
        for words, options in ((['even'], []), (['more', 'team'], []), (['more'], ['--counters-mpi=0'])):
            run = kind.profile(words, ['--counters', 'INSTRUCTIONS,CYCLES', *options], env).ended(0)
            found = [f['text'] for f in run.report().data['findings'] if f['name'] == 'instruction_balance']
            equal('findings', found, [])
        equal('in MPI', counted(run)[0]['INSTRUCTIONS']['counted_in_mpi'], None)


def scales(tap, kind, env):
    with tap.test('{}: computation scalability in its factors'.format(kind)):
        directories = []
        for ranks in (1, 2):
            run = kind.mpi.profile(
                kind.program, ranks, ['more'], ['-q', '--counters', 'INSTRUCTIONS,CYCLES'], env=env
            ).ended(0)
            directories.append(run.directory)
        instructions, cycles = [INSTRUCTIONS + OF_THREAD, 4 * INSTRUCTIONS + 2 * OF_THREAD], [
            INSTRUCTIONS / 2,
            2 * INSTRUCTIONS,
        ]
        for option, grown in (('--strong', 1), ('--weak', 2)):
            out = harness.run([harness.FVMPI, 'scaling', option, '--json', '-', *directories]).ended(0).out
            first, last = harness.valid(out, 'scaling')['points']
            close('instructions', last['instruction_scalability'], grown * instructions[0] / instructions[1], 1e-6)
            close('IPC', last['ipc_scalability'], instructions[1] / cycles[1] / (instructions[0] / cycles[0]), 1e-6)
            close(
                'product',
                last['instruction_scalability'] * last['ipc_scalability'] * last['frequency_scalability'],
                last['computation'],
                1e-6,
            )
            equal('of the reference', (first['ipc_scalability'], first['frequency_scalability']), (1, 1))


def turns(tap, kind, env):
    five = 'INSTRUCTIONS,CYCLES,BRANCH-INSTRUCTIONS,BRANCH-MISSES,CACHE-MISSES'
    with tap.test('{}: more events than registers are refused, with the names of those to drop'.format(kind)):
        run = kind.profile(['even'], ['--counters', five], env)
        equal('status', run.rc != 0, True)
        check(
            'no register left for CACHE-MISSES; leave it out, let events take turns (--counters-shared)' in run.err,
            '{}',
            run.err,
        )
    with tap.test('{}: unless they take turns: counts are scaled, and say so'.format(kind)):
        run = kind.profile(['even'], ['--counters-shared', '--counters', five], dict(env, FAKE_PMU_RUNNING='25')).ended(
            0
        )
        whole, sections, data = counted(run)
        equal('kind', {row['kind'] for row in whole.values()}, {'estimate'})
        in_mpi = IN_MPI if kind.mpi else 0
        for found in by_rank(whole['INSTRUCTIONS']):
            close('scaled', found, INSTRUCTIONS + OF_THREAD + in_mpi, 8)
        for found in by_rank(sections['work', 'INSTRUCTIONS']):
            close('scaled in the section', found, INSTRUCTIONS, 8)
        groups = [event['group'] for event in harness.dumped(run.directory, 'counter_events')]
        equal('groups', groups[:5], ['0'] * 4 + ['1'])
    with tap.test('{}: what was never counted is not known'.format(kind)):
        run = kind.profile(['even'], ['--counters', 'INSTRUCTIONS'], dict(env, FAKE_PMU_RUNNING='0')).ended(0)
        equal('count', counted(run)[0]['INSTRUCTIONS']['counted'], None)
        equal('metrics', run.report().data['counter_metrics'], [])


def passes(tap, kind, env):
    """Six events of four registers: two runs."""
    with tap.test('{}: more events in several runs, joined'.format(kind)):
        base = os.path.join(harness.scratch('exp'), 'e')
        options = [
            '-q',
            '--passes',
            '--counters',
            'INSTRUCTIONS,CYCLES,PAGE-FAULTS,BRANCH-INSTRUCTIONS,BRANCH-MISSES,CACHE-MISSES,CACHE-REFERENCES',
            '-o',
            base,
        ]
        command = kind.mpi.command(2, [kind.program, 'even']) if kind.mpi else [kind.program, 'even']
        harness.run(
            [harness.FVMPI, 'run', *options, *([] if kind.mpi else ['--mpi', 'serial']), '--', *command], env=env
        ).ended(0)
        equal('directories', sorted(name for name in os.listdir(os.path.dirname(base))), ['e-1', 'e-2'])
        data = plainly(
            harness.valid(harness.run([harness.FVMPI, 'report', '--json', '-', base + '-1', base + '-2']).ended(0).out)
        )
        whole = {row['event']: row for row in data['counters']}
        equal(
            'events',
            list(whole),
            [
                'INSTRUCTIONS',
                'CYCLES',
                'PAGE-FAULTS',
                'BRANCH-INSTRUCTIONS',
                'BRANCH-MISSES',
                'CACHE-MISSES',
                'CACHE-REFERENCES',
            ],
        )
        in_mpi = IN_MPI if kind.mpi else 0
        equal('once', by_rank(whole['INSTRUCTIONS']), [INSTRUCTIONS + OF_THREAD + in_mpi] * kind.ranks)
        equal('ranks', whole['CACHE-MISSES']['rank_count'], kind.ranks)
        other = os.path.join(harness.scratch('exp'), 'other')
        harness.run(
            [
                harness.FVMPI,
                'run',
                '-q',
                '--counters',
                'PAGE-FAULTS',
                '-o',
                other,
                *([] if kind.mpi else ['--mpi', 'serial']),
                '--',
                *command,
            ],
            env=env,
        ).ended(0)
        for second, why in (
            (base + '-1', '{0}-1: pass 1/2, as is {0}-1; give each pass once'.format(base)),
            (other, '{}: not recorded with --passes'.format(other)),
        ):
            refused = harness.run([harness.FVMPI, 'report', '--json', '-', base + '-1', base + '-2', second])
            check(refused.rc != 0 and why in refused.err, '{}: {}', why, refused.err)
        check(
            any('e-2' in p['text'] and 'another run' in p['text'] for p in data['problems']),
            'said: {}',
            data['problems'],
        )
        one = plainly(harness.valid(harness.run([harness.FVMPI, 'report', '--json', '-', base + '-2']).ended(0).out))
        equal(
            'events of one',
            [row['event'] for row in one['counters']],
            ['INSTRUCTIONS', 'CYCLES', 'PAGE-FAULTS', 'CACHE-MISSES', 'CACHE-REFERENCES'],
        )
        check(not any('another run' in p['text'] for p in one['problems']), 'said: {}', one['problems'])


def archived(tap, kind, env):
    with tap.test('{}: in the archive, at ends of sections'.format(kind)):
        run = kind.profile(['more'], ['--trace', '--counters', 'CYCLES,INSTRUCTIONS'], env).ended(0)
        path = otf2_print.merge(run.directory)
        definitions = harness.run(['otf2-print', '-G', path]).ended(0).out
        equal(
            'members',
            re.findall(r'^METRIC_MEMBER +\d+ +Name: "([^"]*)" .*Mode: (\w+), Value Type: (\w+)', definitions, re.M),
            [
                ('CYCLES', 'ACCUMULATED_START', 'UINT64'),
                ('INSTRUCTIONS', 'ACCUMULATED_START', 'UINT64'),
                ('CPU time', 'ABSOLUTE_LAST', 'UINT64'),
            ],
        )
        found = re.findall(
            r'^METRIC +(\d+) +\d+ +Metric: \d+, 1 Value: \("INSTRUCTIONS" <\d+>; UINT64; (\d+)\)',
            harness.run(['otf2-print', path]).ended(0).out,
            re.M,
        )
        # three sections that count nothing, then the work, which rank 1 has three times of
        for location, work in zip(sorted({place for place, _ in found}, key=int), (INSTRUCTIONS, 3 * INSTRUCTIONS)):
            equal('of one rank', [int(value) for place, value in found if place == location], [0] * 7 + [work])
        harness.run([harness.FVMPI, 'check', path]).ended(0)
    with tap.test(
        '{}: threads that follow each other are one location of the archive, whose counts go on'.format(kind)
    ):
        run = kind.profile(['even', 'heirs'], ['--trace', '--counters', 'INSTRUCTIONS'], env).ended(0)
        found = re.findall(
            r'^METRIC +(\d+) +\d+ +Metric: \d+, 1 Value: \("INSTRUCTIONS" <\d+>; UINT64; (\d+)\)',
            harness.run(['otf2-print', otf2_print.merge(run.directory)]).ended(0).out,
            re.M,
        )
        places = {place: [int(value) for other, value in found if other == place] for place, _ in found}
        equal(
            'of threads',
            [values for values in places.values() if len(values) == 4],
            [[OF_THREAD * n for n in (1, 2, 2, 3)]] * kind.ranks,
        )


def peaks(tap, kind, env):
    with tap.test('{}: against what the doctor measured'.format(kind)):
        place = harness.scratch()
        run = kind.profile(['even'], ['--counters', 'INSTRUCTIONS,CACHE-MISSES'], env).ended(0)
        file = os.path.join(place, 'machine.json')

        def report(text):
            with open(file, 'w') as f:
                f.write(text)
            return harness.run([harness.FVMPI, 'report', run.directory, '--peaks', file, '--json', '-'])

        found = report(
            '{"schema": "fvmpi-doctor-1", "memory_bandwidth": [{"bytes_per_s": 7e9}, {"bytes_per_s": 9e9}]}'
        ).ended(0)
        rates = [row for row in json.loads(found.out)['counter_metrics'] if row['metric'] == 'memory_read_rate']
        equal('peaks', [row['peak'] for row in rates], [9e9] * len(rates))
        check(rates and all(row['of_peak'] == row['metric_value'] / 9e9 for row in rates), '{}', rates)
        for text in (
            '',
            '[]',
            '{"schema": "fvmpi-doctor-1"}',
            '{"schema": "other", "memory_bandwidth": [{"bytes_per_s": 7e9}]}',
        ):
            check('--peaks takes a file of' in report(text).ended(1).err, '{}', text)


def lives(tap, kind, env):
    with tap.test('{}: a killed rank has what was counted until then'.format(kind)):
        run = kind.profile(['even', 'kill'], ['--counters', 'INSTRUCTIONS'], env)
        whole, sections, _ = counted(run)
        row = whole['INSTRUCTIONS']
        last = kind.ranks - 1
        check(by_rank(row)[last] >= INSTRUCTIONS + OF_THREAD, 'of the killed rank {}', row)
        equal('in its section', by_rank(sections['work', 'INSTRUCTIONS'])[last], INSTRUCTIONS)
    with tap.test(
        '{}: a thread for which there is no descriptor is told, and what others counted is a part'.format(kind)
    ):
        run = kind.profile(['even', 'limit'], ['--counters', 'INSTRUCTIONS,PAGE-FAULTS'], env).ended(0)
        whole, sections, _ = counted(run)
        row = whole['INSTRUCTIONS']
        equal(
            'by rank',
            [(p['counted'], p['thread_count'], p['missing_threads'], p['kind']) for p in row['per_rank']],
            [(INSTRUCTIONS + (IN_MPI if kind.mpi else 0), 1, 1, 'part')] * kind.ranks,
        )
        equal(
            'in all',
            (row['counted'], row['missing_threads'], row['kind'], row['counted_min']),
            (sum(by_rank(row)), kind.ranks, 'part', None),
        )
        equal(
            'of the section',
            (sections['work', 'INSTRUCTIONS']['kind'], whole['PAGE-FAULTS']['kind']),
            ('exact', 'exact'),
        )
        equal('lines', run.err.count('--counters: a thread is not counted: '), kind.ranks)
    if not kind.mpi:
        with tap.test(
            '{}: threads that are still there at _exit() are counted, after a kill they are missing'.format(kind)
        ):
            row = counted(kind.profile(['even', 'leave'], ['--counters', 'INSTRUCTIONS'], env).ended(0))[0][
                'INSTRUCTIONS'
            ]
            equal(
                'after _exit()',
                (row['counted'], row['missing_threads'], row['kind']),
                (INSTRUCTIONS + 2 * OF_THREAD, 0, 'exact'),
            )
            row = counted(kind.profile(['even', 'die'], ['--counters', 'INSTRUCTIONS'], env))[0]['INSTRUCTIONS']
            equal(
                'after a kill',
                (row['counted'], row['missing_threads'], row['kind']),
                (INSTRUCTIONS + OF_THREAD, 1, 'part'),
            )
        with tap.test('{}: what the program took the descriptor of is not known, the rest is'.format(kind)):
            whole = counted(kind.profile(['even', 'close'], ['--counters', 'INSTRUCTIONS,PAGE-FAULTS'], env).ended(0))[
                0
            ]
            equal('instructions', whole['INSTRUCTIONS']['counted'], None)
            check(whole['PAGE-FAULTS']['counted'] > 3 * 1500, '{}', whole['PAGE-FAULTS'])
        return
    with tap.test('{}: a section\'s time is with its pauses, as are its counts'.format(kind)):
        row = counted(kind.profile(['even', 'pause'], ['--counters', 'INSTRUCTIONS'], env).ended(0))[1][
            'paused', 'INSTRUCTIONS'
        ]
        equal('counted', by_rank(row), [1000] * 2)
        check(all(s >= 0.2 for s in by_rank(row, 'time_s')), 'a pause of 0.2 s of CPU time: {}', row)
    with tap.test('{}: what reading around a call costs is in what a call costs'.format(kind)):
        costs = []
        for options in (['--counters-mpi=0'], []):
            run = kind.profile(['even'], ['--counters', 'INSTRUCTIONS,CYCLES', *options], env).ended(0)
            costs.append(min(int(header['tool_call_ticks']) for header in harness.dumped(run.directory, 'header')))
        check(costs[1] > 2 * costs[0], 'eight system calls and more, beside a call without any: {}', costs)
    with tap.test('{}: a child counts nothing, and what was forgotten is'.format(kind)):
        run = kind.profile(['even', 'child'], ['--counters', 'INSTRUCTIONS'], env).ended(0)
        equal('with a child', by_rank(counted(run)[0]['INSTRUCTIONS']), [INSTRUCTIONS + OF_THREAD + IN_MPI] * 2)
        run = kind.profile(['even', 'forget'], ['--counters', 'INSTRUCTIONS'], env).ended(0)
        threads = counted(run)[0]['INSTRUCTIONS']['per_thread']
        equal(
            'of main threads, after MPI_Pcontrol(2)', [p['counted'] for p in threads if p['thread'] == 0], [IN_MPI] * 2
        )


def words(tap, kind, env):
    with tap.test('{}: names that nobody knows are refused, and help lists the groups'.format(kind)):
        run = kind.profile(['even'], ['--counters', 'INSTRUCTION'], env)
        check(
            run.rc != 0 and '--counters: INSTRUCTION: no such event; did you mean INSTRUCTIONS?' in run.err,
            '{}',
            run.err,
        )
        out = harness.run([harness.FVMPI, 'run', '--counters', 'help']).ended(0).out
        for group in (
            'statistics',
            'cache',
            'l1',
            'l2',
            'tlb',
            'memory',
            'simd',
            'width',
            'vectors',
            'stalls',
            'frontend',
            'backend',
            'ports',
            'levels',
            'completion',
            'speculation',
            'branches',
            'software',
            'sheet',
        ):
            check(re.search('^{}: '.format(group), out, re.M), '{}: {}', group, out)
        check(re.search(r'^  PAGE-FAULTS +page faults, minor and major$', out, re.M), 'available: {}', out)
        metrics = ' '.join(re.findall(r'^  (?:metrics|this processor has no events for): (.*)$', out, re.M)).split()
        check(len(metrics) == len(set(metrics)) > 60, 'each metric is there, or said not to be: {}', metrics)
    with tap.test('{}: "sheet" is all groups, too many for one run'.format(kind)):
        run = kind.profile(['even'], ['--counters', 'sheet'], env)
        check(run.rc != 0 and '--passes' in run.err, '{} {}', run.rc, run.err)
    with tap.test('{}: what cannot be had is told once, and the rest counts'.format(kind)):
        run = kind.profile(['even'], ['--counters', 'r3f3f3f:k,PAGE-FAULTS']).ended(0)
        whole, _, _ = counted(run)
        if whole['r3f3f3f:k']['refused_ranks']:
            equal('lines', run.err.count('--counters: not counted: r3f3f3f:k: '), 1)
            check(whole['r3f3f3f:k']['reason'], 'reason: {}', whole)
        check(whole['PAGE-FAULTS']['counted'] > 0, '{}', whole)


def real(tap, kind):
    """At least one instruction for each step of a loop; where there is a PMU."""
    with tap.test('{}: instructions of this processor'.format(kind)):
        run = kind.profile(['even'], ['--counters', 'INSTRUCTIONS,CYCLES']).ended(0)
        row = counted(run)[0]['INSTRUCTIONS']
        if row['refused_ranks']:
            raise harness.Skip(row['reason'])
        check(all(n > 1e6 for n in by_rank(row)), '{}', row)


EMPTY = """#include <fvmpi.h>
int main(void)
{
    for (int i = 0; i < 1000; i++) {
        fvmpi_section_begin("empty", 0, 0);
        fvmpi_section_end("empty", 0, 0);
    }
    return 0;
}
"""


def empty(tap):
    with tap.test('a share of CPU time ends at 1, also of sections that are too short to measure it'):
        place, directory = harness.scratch(), os.path.join(harness.scratch('exp'), 'e')
        with open(os.path.join(place, 'empty.c'), 'w') as source:
            source.write(EMPTY)
        program = os.path.join(place, 'empty')
        harness.run(['cc', '-O1', '-I', harness.INCLUDE, source.name, '-o', program]).ended(0)
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', '--counters', 'software', program],
            directory=directory,
        ).ended(0)
        rows = {r['section']: r for r in run.report().data['counter_metrics'] if r['metric'] == 'cpu_share'}
        values = [
            r[key]
            for r in rows.values()
            for key in ('metric_value', 'metric_mean', 'metric_min', 'metric_max')
            if r[key] is not None
        ]
        check('empty' in rows and all(value <= 1 for value in values), '{}', rows)
        text = harness.run([harness.FVMPI, 'report', directory]).ended(0).out
        equal('it is said', 'too short to measure CPU time' in text, rows['empty']['metric_value'] is None)


def main():
    tap = harness.Tap()
    harness.patiently()
    env = harness.fake_pmu()
    empty(tap)
    for kind in [Kind(mpi) for mpi in harness.an_mpi(tap)] + [Kind(None)]:
        faults(tap, kind)
        if kind.mpi:
            fortran(tap, kind.mpi)
            balance(tap, kind, env)
            scales(tap, kind, env)
            archived(tap, kind, env)
        processor(tap, kind, env)
        turns(tap, kind, env)
        passes(tap, kind, env)
        peaks(tap, kind, env)
        lives(tap, kind, env)
        words(tap, kind, env)
        real(tap, kind)
    tap.done()


main()
