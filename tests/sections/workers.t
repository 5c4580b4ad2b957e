#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
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


def main():
    tap = harness.Tap()
    env = harness.fake_pmu()
    program = os.path.join(harness.scratch('bin'), 'workers')
    harness.run(
        ['cc', '-O1', '-g', '-pthread', '-I', os.path.join(harness.SOURCE, 'src')]
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
    with tap.test('short sections are marked, and reading other threads is no more than 1 % of the time'):
        run, data = profile(program, ['short'], [], None)
        short = section(data, 'short')
        equal('marks', (short['too_short'], section(data, 'all')['too_short']), (True, False))
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
    tap.done()


main()
