#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it makes the threads, which fvmpi then sees late.
# Not under AddressSanitizer: the stand-in for a processor's counters must be the first library.
"""Threads that work while others have a section open: each has a row, with the CPU time that its own clock tells and what
it counts, once where several have the section open, with those that begin and end in it, in nested sections; short
sections are marked, and cost little; the user and system time of threads that live at the end."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal, plainly

# CPU time at a barrier, and of what comes before a thread's own clock is read
SLACK_S = 0.004
WORKED = {
    'work': {1: 20, 2: 40, 3: 60},
    'outer': {1: 25, 2: 35, 3: 45},
    'inner': {1: 15, 2: 25, 3: 35},
    'both': {1: 5, 2: 10, 3: 50},
}


def profile(program, words, options, env):
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = harness.run(
        [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', *options, program, *words],
        env=env,
        directory=directory,
    ).ended(0)
    return run, plainly(run.report().data)


def told(run):
    """What each thread did, by section and thread, in s: its own clock's."""
    found = {}
    for section, thread, ns in re.findall(r'^worker (\w+) (\d+) (\d+)$', run.out, re.M):
        found.setdefault(section, {})[int(thread)] = int(ns) * 1e-9
    return found


def numbers(run, data):
    """Which thread each worker is: threads are numbered as they come. In "work" each does its own amount."""
    rows = sorted(threads(data, 'work').values(), key=lambda row: row['cpu_s'])[1:]
    return {worker + 1: row['thread'] for worker, row in enumerate(rows)} | {0: 0, 4: 4}


def section(data, name):
    (found,) = [s for s in data['sections'] if s['section'] == name]
    return found


def threads(data, name):
    return {row['thread']: row for row in section(data, name)['per_thread']}


def times(run, data):
    number = numbers(run, data)
    for name, worked in told(run).items():
        rows = threads(data, name)
        openers = {'both': {number[1], number[2]}, 'born': {0}}.get(name, {0})
        equal(name + ': openers', {t for t, row in rows.items() if row['opener']}, openers)
        for thread, seconds in worked.items():
            row = rows[number[thread]]
            check(
                seconds - 1e-4 <= row['cpu_s'] <= seconds + SLACK_S or row['opener'],
                '{}: thread {} worked {} s by its clock: {}',
                name,
                thread,
                seconds,
                row,
            )
            equal(name + ': kind', row['kind'], 'exact')
            check(abs(row['user_s'] + row['system_s'] - row['cpu_s']) < 1e-9, 'user and system are all: {}', row)
    work = section(data, 'work')
    equal('threads', (work['thread_count'], work['other_thread_count'], work['cpu_kind']), (1, 3, 'exact'))
    total = sum(row['cpu_s'] for row in work['per_thread'])
    check(
        abs(work['user_time']['sum_s'] + work['system_time']['sum_s'] - total) < 1e-9,
        'user and system time of the section are those of its threads: {}',
        work,
    )


def counts(run, data):
    number = numbers(run, data)
    rows = {(row['section'], row['event']): row for row in data['counter_sections']}
    for name, worked in {**WORKED, 'born': {4: 50}}.items():
        row = rows[name, 'INSTRUCTIONS']
        worked = {number[worker]: ms for worker, ms in worked.items()}
        found = {t['thread']: t['counted'] for t in row['per_thread'] if t['counted']}
        equal(name + ': instructions by thread', found, {t: 1000 * ms for t, ms in worked.items()})
        equal(name + ': in all', (row['counted'], row['kind']), (1000 * sum(worked.values()), 'exact'))
        by_thread = {
            t['thread']: t['metric_value']
            for m in data['counter_metrics']
            if (m['section'], m['metric']) == (name, 'instruction_rate')
            for t in m['per_thread']
        }
        times = {t['thread']: t['time_s'] for t in row['per_thread']}
        for thread, ms in worked.items():
            check(
                abs(by_thread[thread] * times[thread] - 1000 * ms) < 1e-6 * 1000 * ms,
                '{}: rate of thread {}: {} in {} s',
                name,
                thread,
                by_thread,
                times,
            )


# Of Sapphire Rapids: numbers that worker i counts i times in section "sheet", by event of the stand-in
SHEET = {
    'UOPS_RETIRED:SLOTS': 1740000,
    'TOPDOWN:SLOTS_P': 6000000,
    'TOPDOWN:BACKEND_BOUND_SLOTS': 3060000,
    'IDQ_UOPS_NOT_DELIVERED:CORE': 600000,
    'TOPDOWN:MEMORY_BOUND_SLOTS': 2000000,
    'TOPDOWN:BR_MISPREDICT_SLOTS': 400000,
    'MEM_INST_RETIRED:ALL_LOADS': 300000,
    'MEM_INST_RETIRED:ALL_STORES': 100000,
    'BRANCH-INSTRUCTIONS': 150000,
    'FP_ARITH_INST_RETIRED:SCALAR': 40000,
    'FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE': 20000,
    'FP_ARITH_INST_RETIRED:4_FLOPS': 30000,
    'FP_ARITH_INST_RETIRED:8_FLOPS': 50000,
    'L1D:REPLACEMENT': 10000,
}
PARTS = {
    'work_s': 0.29,
    'mispredicted_s': 4 / 60,
    'restarts_s': 2 / 60,
    'fetch_s': 0.1,
    'memory_s': 20 / 60,
    'core_s': 10.6 / 60,
    'untold_s': 0,
}
REST = ['thrown_away_s', 'late_fetch_s', 'narrow_fetch_s', 'backend_s']
RATES = {
    'ipc': 1,
    'l1_busy': 4 / 50,
    'l2_busy': 1 / 100,
    'load_share': 0.3,
    'store_share': 0.1,
    'branch_share': 0.15,
    'fp_scalar_share': 0.04,
    'fp_vector_share': 0.1,
    'rest_share': 0.31,
    'l1d_miss_share': 1 / 30,
    'flop_of_peak': (40 + 2 * 20 + 4 * 30 + 8 * 50) / 1000 / 32,
}
NULL = ['integer_share', 'fp_share', 'memory_busy', 'itlb_misses_per_1000']
# Level 3 of memory, and cycles by what retired
LEVELS = {
    **{name: SHEET[name] for name in list(SHEET)[:5]},
    'EXE_ACTIVITY:BOUND_ON_LOADS': 80000,
    'EXE_ACTIVITY:BOUND_ON_STORES': 20000,
    'MEMORY_ACTIVITY:STALLS_L1D_MISS': 70000,
    'MEMORY_ACTIVITY:STALLS_L2_MISS': 50000,
    'MEMORY_ACTIVITY:STALLS_L3_MISS': 40000,
    'UOPS_RETIRED:SLOTS:c=1': 700000,
    'UOPS_RETIRED:SLOTS:c=2': 500000,
    'UOPS_RETIRED:SLOTS:c=4': 100000,
    'ARITH:DIVIDER_ACTIVE': 50000,
}
LEVEL_PARTS = {'l1_s': 0.1, 'l2_s': 0.2, 'l3_s': 0.1, 'dram_s': 0.4, 'stores_s': 0.2}
COMPLETION = {
    'retired_none_share': 0.3,
    'retired_1_share': 0.2,
    'retired_2_share': 0.4,
    'retired_4_share': 0.1,
    'divider_busy': 0.05,
}
# The mix by width, and misses by demand and prefetch
WIDTHS = {
    'MEM_INST_RETIRED:ALL_LOADS': 300000,
    'MEM_INST_RETIRED:ALL_STORES': 100000,
    'BRANCH-INSTRUCTIONS': 150000,
    'FP_ARITH_INST_RETIRED:SCALAR': 40000,
    'r0cc7': 20000,
    'r30c7': 30000,
    'rc0c7': 60000,
    'L1D:REPLACEMENT': 10000,
    'MEM_LOAD_RETIRED:L1_MISS': 4000,
    'L2_RQSTS:ALL_CODE_RD': 2000,
    'L2_LINES_IN:ALL': 6000,
    'L2_RQSTS:ALL_DEMAND_MISS': 1500,
    'L2_LINES_OUT:NON_SILENT': 2000,
    'r0f40': 5000,
}
MIX = {
    'load_share': 0.3,
    'store_share': 0.1,
    'branch_share': 0.15,
    'fp_scalar_share': 0.04,
    'fp_128_share': 0.02,
    'fp_256_share': 0.03,
    'fp_512_share': 0.06,
    'rest_share': 0.3,
}
MISSES = {
    'l1i_misses_per_1000': 2,
    'l1d_demand_share': 0.4,
    'l2_demand_share': 0.25,
    'l2_prefetch_share': 0.75,
    'l2_miss_share': 0.015,
    'write_back_share': 0.25,
    'prefetch_share': 0.005,
}
NOT_OF_INTEL = [
    'fma_share',
    'fma_flop_share',
    'l1d_hardware_share',
    'l1d_software_share',
    'fp_vector_share',
    'fp_share',
]


def played(program, events, env):
    """Of another processor: the library gets the list that `fvmpi run` would have made there."""
    names = ['INSTRUCTIONS', 'CYCLES'] + [
        '{}@4:{}:0:0:2:0'.format(name, number + 2) for number, name in enumerate(events)
    ]
    counts = ['1:1000000', '0:1000000'] + ['{}:{}'.format(i + 2, n) for i, n in enumerate(events.values())]
    given = ['FVMPI_COUNTERS=@spr,' + ','.join(names), 'FVMPI_COUNTERS_SHARED=1', 'COUNTS=' + ','.join(counts)]
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = harness.run(
        [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', 'env', *given, program, 'sheet'],
        env=env,
        directory=directory,
    ).ended(0)
    return run, plainly(run.report().data)


def near(what, found, wanted):
    check(
        found is not None and abs(found - wanted) <= 1e-6 * max(abs(wanted), 1e-3),
        '{}: {} is not {}',
        what,
        found,
        wanted,
    )


def sheet(data):
    measured, rows = threads(data, 'sheet'), {row['thread']: row for row in section(data, 'sheet')['sheet']}
    equal('threads', sorted(rows), [0, 1, 2, 3])
    most = max(row['cpu_s'] for row in measured.values())
    for thread, row in rows.items():
        near('time', row['time_s'], measured[thread]['time_s'])
        parts = [row[key] for key in [*PARTS, *REST, 'kernel_s', 'off_cpu_s'] if row[key] is not None]
        near('parts of thread {} add up'.format(thread), sum(parts), row['time_s'])
        near('kernel', row['kernel_s'], measured[thread]['system_s'])
        near('balance', row['load_balance'], measured[thread]['cpu_s'] / most)
        for key in NULL + REST:
            equal(key, row[key], None)
        if not thread:  # it counted nothing
            near('untold', row['untold_s'], measured[0]['user_s'])
            continue
        for key, share in PARTS.items():
            near(key, row[key], share * measured[thread]['user_s'])
        for key, value in RATES.items():
            near(key, row[key], value)
    mix = [key for key in RATES if key.endswith('_share') and key != 'l1d_miss_share']
    near('the mix of instructions is 100 %', sum(rows[1][key] for key in mix), 1)
    slots = 'half of the slots wait for data or for units'
    memory = 'a fifth of the slots waits for loads and stores: look at caches and the layout of data'
    equal('mark', {row['mark'] for row in rows.values()}, {None, slots + '; ' + memory})
    equal('marked', {row['marked'] for row in rows.values()}, {None, 'backend_s memory_s'})
    balances = sorted(row['instruction_balance'] for row in rows.values())
    for found, wanted in zip(balances, (0, 1 / 3, 2 / 3, 1)):
        near('balance of instructions', found, wanted)


def process(data):
    """A process has the times of its threads together, and the metrics of their sums."""
    rows, (whole,) = section(data, 'sheet')['sheet'], section(data, 'sheet')['sheet_processes']
    (opener,) = [row for row in rows if not row['thread']]
    near('elapsed', whole['elapsed_s'], opener['time_s'])
    near('time', whole['time_s'], sum(row['time_s'] for row in rows))
    parts = [key for key in whole if key.endswith('_s') and key not in ('time_s', 'elapsed_s')]
    for key in parts:
        found = [row[key] for row in rows if row[key] is not None]
        equal(key + ' is known', whole[key] is not None, bool(found))
        if found:
            near(key, whole[key], sum(found))
    near('parts add up', sum(whole[key] or 0 for key in parts), whole['time_s'])
    for key, value in RATES.items():
        near(key, whole[key], value)
    near('balance', whole['load_balance'], sum(row['load_balance'] for row in rows) / len(rows))
    near('balance of instructions', whole['instruction_balance'], 0.5)
    equal('marked', whole['marked'], 'backend_s memory_s')


def colours(directory, data):
    """On a terminal the cells that are marked stand out, with the reason, and no others of their row."""
    report = [harness.FVMPI, 'report', '--width', '400', directory]
    plain = harness.run(report, env={'TERM': 'xterm'}).ended(0).out
    check('\033' not in plain, 'what is no terminal has colours')
    text = harness.run([*report, '--color', 'always']).ended(0).out
    block = lambda said: said[said.index('where the time of each thread went') :].split('\n\n')[0]  # noqa: E731
    equal('the same words', block(re.sub('\033\\[[0-9]*m', '', text)), block(plain))
    rows = [line for line in block(text).splitlines() if re.search(r'(^|m) +sheet +0 +\d ', line)]
    of = section(data, 'sheet')['sheet']
    equal('rows', len(rows), len(of))
    for line in rows:
        cells = re.findall('\033\\[33m *(.*?)\033\\[0m', line)
        if 'half of the slots' in line:
            check(len(cells) == 2 and re.match(r'[0-9.]+ [mu]?s$', cells[0]), 'not time and reason: {!r}', line)
            check(cells[1].startswith('half of the slots'), 'not the reason: {!r}', line)
        else:
            equal('cells', cells, [])
    equal('marked', sum('\033[33m' in line for line in rows), sum(row['marked'] is not None for row in of))


def levels(data):
    for row in section(data, 'sheet')['sheet']:
        parts = [row[key] or 0 for key in row if key.endswith('_s') and key != 'time_s']
        near('parts of thread {} add up'.format(row['thread']), sum(parts), row['time_s'])
        if not row['thread']:
            continue
        user_s = row['time_s'] - row['kernel_s'] - row['off_cpu_s']
        equal('memory is divided', row['memory_s'], None)
        for key, share in LEVEL_PARTS.items():
            near(key, row[key], share * 20 / 60 * user_s)
        for key, value in COMPLETION.items():
            near(key, row[key], value)
        check('dram_s' in row['marked'].split() and 'waits for memory' in row['mark'], 'marks: {}', row)


def widths(data):
    (whole,) = section(data, 'sheet')['sheet_processes']
    for row in [*section(data, 'sheet')['sheet'], whole]:
        if row.get('thread') == 0:
            continue
        for key, value in {**MIX, **MISSES}.items():
            near(key, row[key], value)
        near('the mix of instructions is 100 %', sum(row[key] for key in MIX), 1)
        for key in NOT_OF_INTEL:
            equal(key, row[key], None)


def main():
    tap = harness.Tap()
    env = harness.fake_pmu()
    program = os.path.join(harness.scratch('bin'), 'workers')
    harness.run(
        ['cc', '-O1', '-g', '-pthread', '-I', harness.INCLUDE]
        + [os.path.join(HERE, 'workers.c'), '-o', program, '-ldl']
    ).ended(0)
    with tap.test('without any option each thread is a row, with the CPU time of its clock'):
        run, data = profile(program, ['stay'], [], None)
        times(run, data)
        text = harness.run([harness.FVMPI, 'report', '--width', '160', run.directory]).ended(0).out
        check(re.search(r'^Threads of sections', text, re.M), 'text: {}', text)
        check(
            re.search(r'^  work +0 +0 +\* ', text, re.M) or re.search(r'^  work +0 +0 ', text, re.M), 'text: {}', text
        )
    with tap.test('threads that live at the end have user and system time'):
        lived = {t['thread']: t for t in data['ranks'][0]['threads']}
        for thread in (1, 2, 3):
            row = lived[thread]
            check(
                row['user_s'] is not None and row['user_s'] + row['system_s'] > 0.1,
                'thread {} worked for 0.1 s at least: {}',
                thread,
                row,
            )
    with tap.test('what each thread counts in a section that others have open'):
        run, data = profile(program, [], ['--counters', 'INSTRUCTIONS,TASK-CLOCK'], env)
        times(run, data)
        counts(run, data)
    with tap.test('page faults of each thread in a section, with --counters software'):
        pages = {**os.environ, 'PAGES': '1000'}
        _, data = profile(program, ['sheet'], ['--counters', 'software'], pages)
        found = sorted(row['page_faults'] for row in threads(data, 'sheet').values())
        for worker, faults in enumerate(found[1:]):
            check(0 <= faults - 1000 * (worker + 1) < 500, 'worker {} touched {} pages: {}', worker, worker + 1, found)
        check(found[0] < 500, 'the thread that waited touched none: {}', found)
        rows = threads(profile(program, ['sheet'], [], pages)[1], 'sheet')
        equal('not known without', {t for t, row in rows.items() if row['page_faults'] is None}, {1, 2, 3})
    with tap.test('short sections are marked, and reading other threads is no more than 1 % of the time'):
        run, data = profile(program, ['short'], ['--counters', 'TASK-CLOCK'], None)
        short = section(data, 'short')
        equal('marks', (short['too_short'], section(data, 'all')['too_short']), (True, False))
        marks = {row['section']: row['too_short'] for row in data['counter_sections']}
        equal('mark of what is counted', marks['short'], True)
        metrics = {(row['section'], row['too_short']) for row in data['counter_metrics'] if row['section']}
        equal('marks of metrics', metrics & {('short', False), ('all', True)}, set())
        check(('short', True) in metrics, '{}', metrics)
        dump = harness.run([harness.FVMPI, 'dump', run.directory]).ended(0).out
        spans = [
            dict(re.findall(r'(\w+)=(\d+)', line)) for line in dump.split('\n') if line.startswith('section_spans ')
        ]
        (span,) = [s for s in spans if int(s['times']) == 20000]
        if int(span['read_times']) < 20000:
            equal('kind', (short['cpu_kind'], threads(data, 'short')[1]['kind']), ('estimate', 'estimate'))
        text = harness.run([harness.FVMPI, 'report', '--width', '200', run.directory]).ended(0).out
        said = ' '.join(text.split())
        check(
            re.search(r'- section short( \(and 1 more, marked short\))?: an instance takes .* less than 150 us', said),
            'text: {}',
            text,
        )
    with tap.test(
        'the sheet of a section: causes of stalls in seconds that add up, rates, mix of instructions, balance'
    ):
        run, data = played(program, SHEET, env)
        sheet(data)
        text = harness.run([harness.FVMPI, 'report', '--width', '240', run.directory]).ended(0).out
        check(re.search(r'^Sheets of sections  ', text, re.M), 'text: {}', text)
        check(re.search(r'^Sheets of sections by process', text, re.M), 'text: {}', text)
        process(data)
        colours(run.directory, data)
        table = harness.run(
            [harness.FVMPI, 'report', '--table', 'section_sheet_processes', '--csv', '-', run.directory]
        )
        check(len(table.ended(0).out.splitlines()) == 4, 'a row of the whole, and of each section: {}', table.out)
    with tap.test('level 3 divides memory, and parts still add up; cycles by what retired'):
        levels(played(program, LEVELS, env)[1])
    with tap.test('the mix by the width of vectors; misses by demand and prefetch; what is written back'):
        widths(played(program, WIDTHS, env)[1])
    with tap.test('what top-down does not divide, or tells nothing of, is a part of its own'):
        few = {name: SHEET[name] for name in list(SHEET)[:4]}
        for row in section(played(program, few, env)[1], 'sheet')['sheet']:
            if row['thread']:
                user_s = row['time_s'] - row['kernel_s'] - row['off_cpu_s']
                near('back end', row['backend_s'], 0.51 * user_s)
                near('thrown away', row['thrown_away_s'], 0.1 * user_s)
                equal('level 2', (row['memory_s'], row['mispredicted_s']), (None, None))
        none = {'L1D:REPLACEMENT': 10000}
        for row in section(played(program, none, env)[1], 'sheet')['sheet']:
            near('untold', row['untold_s'], row['time_s'] - row['kernel_s'] - row['off_cpu_s'])
            equal('work', row['work_s'], None)
    tap.done()


main()
