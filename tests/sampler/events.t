#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it delays the sampler's signals.
"""Performance events inside of instances: known counts are found again, also in threads; names, and what cannot be had,
are said in one line; an event of calls chooses the instances where there is one (here: a breakpoint in its place)."""
import ctypes
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples
from report import check, equal
from samples import BREAKPOINTS, CALLS


def fvmpi_run(command, *options, **more):
    directory = os.path.join(harness.scratch('exp'), 'e')
    return harness.run(
        [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial'] + list(options) + command,
        directory=directory,
        **more,
    )


def counted(command, events, *options, **more):
    run = fvmpi_run(command, '--sample=400', '--events=' + events, *options, **more).ended(0)
    (rank,) = samples.read(run.directory)
    samples.accounts(rank)
    return run, rank


def of(rank, name):
    found = [c for c in rank.contexts if c.name == name and c.returns]
    check(found, 'no instance of {}: {}', name, [str(c) for c in rank.contexts])
    return found


def counter(type, config):
    """The errno of perf_event_open for a counter of this process; 0: it is there, and counts."""
    libc = ctypes.CDLL(None, use_errno=True)
    attr = struct.pack('<IIQQQQQ', type, 112, config, 0, 0, 0, 1 << 6).ljust(112, b'\0')  # exclude_hv
    fd = libc.syscall(298, attr, 0, -1, -1, 8)
    if fd < 0:
        return ctypes.get_errno()
    os.close(fd)
    return 0


def apart(rank):
    """What the two clocks differ by in each context, in traps."""
    return [abs(c.mean('event_0') - c.mean('cpu')) / rank.samplers[0]['trap_ns'] for c in of(rank, 'quiet')]


def same_clock(program):
    """An instance has two traps, of which a part would be in the one and not in the other. Where the host takes a
    processor away between the two readings, only more instances help."""
    _, rank = samples.enough(
        lambda found: max(apart(found[1]), default=2) < 2 / 3,
        lambda seconds: counted([program, str(seconds)], 'TASK-CLOCK'),
        0.6,
    )
    check(
        max(apart(rank), default=2) < 2 / 3,
        'they differ by {} traps of {} ns',
        apart(rank),
        rank.samplers[0]['trap_ns'],
    )


def counts(tap, program):
    with tap.test('software events: 64 fresh pages a call, as many switches as the program counts itself'):
        run, rank = counted([program, '1'], 'PAGE-FAULTS,context-switches,ALIGNMENT-FAULTS,EMULATION-FAULTS')
        own = float(run.out.split()[1])
        for c in of(rank, 'fresh'):
            equal('faults of {}'.format(c), c.mean('event_0'), 64)
            equal('deviation', c.moments['all', 'event_0'][1], 0)
        for c in of(rank, 'quiet'):
            equal('faults of {}'.format(c), c.mean('event_0'), 0)
        for c in of(rank, 'sleeper'):
            check(abs(c.mean('event_1') - own) < 0.5, 'switches: {} of {}', c.mean('event_1'), own)
            # but for what falls between the two readings, in the handler
            check(abs(c.mean('event_1') - c.mean('switches')) * c.returns < 3.5, 'getrusage: {}', c.mean('switches'))
        for c in rank.contexts:
            equal('other faults', (c.mean('event_2'), c.mean('event_3')), (0, 0))
        equal('estimates', [(s['events_scaled'], s['events_lost']) for s in rank.samplers], [(0, 0)])
    with tap.test('report: the events are metrics, by their names'):
        report = run.report()
        faults = {f['function']: f for f in report.sampled('PAGE-FAULTS')}
        equal(
            'faults',
            (faults['fresh']['mean'], faults['fresh']['sample_count']),
            (64, sum(c.returns for c in of(rank, 'fresh'))),
        )
        check('quiet' not in faults or not faults['quiet']['mean'], 'faults of quiet: {}', faults)
        check(any(f['mean'] > 2 for f in report.sampled('context-switches')), 'no switches')
    with tap.test('report: counts of single calls, also of those one behind the other'):
        for f in report.data['functions']:
            for kept in (f['instances'], f['recent']):
                if f['function'] == 'fresh':
                    equal('faults', {row['event_1'] for row in kept}, {64})
                elif f['function'] == 'uneven':
                    equal('faults', {row['event_1'] for row in kept}, {4, 64})
                begins = [row['begin_s'] for row in kept]
                equal('order', begins, sorted(begins))
            equal('last calls', len(f['recent']), min(f['return_count'], 64))
        (uneven,) = [f for f in report.data['function_totals'] if f['function'] == 'uneven']
        equal(
            'histogram',
            [(row['begin'], row['end']) for row in uneven['metrics']['PAGE-FAULTS']['histogram']],
            [(4, 8), (64, 128)],
        )
    with tap.test('trace: counts beside its log of calls'):
        traced, logged = counted([program, '0.5'], 'PAGE-FAULTS', '--trace')
        counts = [
            fields['count'].split(',')[0]
            for fields in harness.dumped(os.path.join(traced.directory, 'rank-000000.fvr'), 'logged_events')
        ]
        equal('records', len(counts), len(logged.logged))
        names = [next(c.name for i, c in enumerate(logged.contexts) if i == entry[1]) for entry in logged.logged]
        equal('faults', {count for count, name in zip(counts, names) if name == 'fresh'}, {'64'})
    with tap.test('report: an event that was chosen is judged as the CPU time is'):
        judged = {
            f['function']: f['metrics'].get('PAGE-FAULTS')
            for f in report.data['function_totals']
            if f['time_share'] > 0.1
        }
        if not judged.get('uneven') or judged['uneven']['sample_count'] < 20:
            raise harness.Skip('too few calls were sampled on this machine')
        check(judged['uneven']['varies'] and judged['uneven']['within'] > 0.5, '{}', judged['uneven'])
        equal('fresh', (judged['fresh']['varies'], judged['fresh']['within']), (False, 0))
        text = ' '.join(harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out.split())
        check('PAGE-FAULTS varies from call to call (cov ' in text, '{}', text)
    with tap.test("TASK-CLOCK is the CPU time: the handler's part is subtracted"):
        same_clock(program)


def refusals(tap, program):
    with tap.test('--events alone turns sampling on'):
        run = fvmpi_run([program, '0.3'], '--events=PAGE-FAULTS').ended(0)
        equal('rates', [s['rate'] for s in samples.read(run.directory)[0].samplers], [100])
    for words, line in (
        (['PAGE-FAULT'], 'PAGE-FAULT: no such event; did you mean PAGE-FAULTS?'),
        (['CYCLES', 'QQQQQQQ'], 'QQQQQQQ: no such event on this processor'),
        (['CS', 'FAULTS', 'TASK-CLOCK', 'MIGRATIONS', 'CPU-CLOCK'], 'more than 4 events'),
        (['CS', '', 'CS'], 'not names separated by commas'),
        (['FAULTS', 'CS', 'faults'], 'an event is named twice'),
        (['CS@1:'], 'not names separated by commas'),
    ):
        with tap.test('--events={}: refused in one line'.format(','.join(words))):
            run = fvmpi_run([program, '0.1'], '--events=' + ','.join(words)).ended(2)
            check(line in run.err and run.err.count('\n') == 1, run.err)
    with tap.test('switches in user mode only: there are none, so it is refused; the rest is counted'):
        run, rank = counted([program, '0.5'], 'CONTEXT-SWITCHES:u,PAGE-FAULTS:u')
        check(
            run.err.count('CONTEXT-SWITCHES:u: happens only in the kernel') == 1 and run.err.count('\n') == 1, run.err
        )
        equal(
            'events',
            {(e['name'], e['refusal'], e['user_only']) for e in rank.metric_events},
            {('CONTEXT-SWITCHES:u', '13', '1'), ('PAGE-FAULTS:u', '0', '1')},
        )
        equal('faults', {c.mean('event_1') for c in of(rank, 'fresh')}, {64.0})
    with tap.test('kernel.perf_event_paranoid = 2, unprivileged: in user mode, and what that leaves out is said'):
        env = harness.fake_pmu(FAKE_PMU_PARANOID='1')
        run, rank = counted(
            [program, '0.5'], 'PAGE-FAULTS,CS', env=dict(env, LD_PRELOAD=harness.in_front(env['LD_PRELOAD']))
        )
        check(
            run.err.count('CS: happens only in the kernel, where counting is not permitted') == 1
            and run.err.count('\n') == 1,
            run.err,
        )
        equal(
            'events',
            {(e['name'], e['refusal'], e['user_only']) for e in rank.metric_events},
            {('PAGE-FAULTS', '0', '1'), ('CS', '13', '1')},
        )
        equal('faults', {c.mean('event_0') for c in of(rank, 'fresh')}, {64.0})
    with tap.test('a name that only libpfm4 knows, without `fvmpi run`; a list of too many'):
        library = os.path.join(harness.BUILD, '.libs', 'libfvmpi-serial.so')
        for value, line in (
            ('RETIRED_THINGS,CS', 'RETIRED_THINGS: not a generic event'),
            ('RETIRED_THINGS@4:0xc0:0:0:0:77', 'RETIRED_THINGS: encoded for another processor'),
            ('CS,FAULTS,TASK-CLOCK,MIGRATIONS,CPU-CLOCK', 'more than 4 events'),
            ('CS,CS', 'an event is named twice'),
        ):
            environment = dict(
                LD_PRELOAD=harness.in_front(library),
                FVMPI_EVENTS=value,
                FVMPI_SAMPLE='1',
                FVMPI_QUIET='1',
                FVMPI_OUTPUT=os.path.join(harness.scratch('exp'), 'e'),
            )
            run = harness.run([program, '0.1'], env=environment).ended(0)
            check(line in run.err and run.err.count('\n') == 1, run.err)
    with tap.test(
        'the application closes the counters: what it has in their place stays, instances without are counted'
    ):
        run, rank = samples.enough(
            lambda found: found[1].samplers[0]['events_lost'],
            lambda seconds: counted([program, str(seconds), 'closed'], 'PAGE-FAULTS,CS'),
            0.4,
        )
        equal('pipes', run.out, 'whole 2 of 2\n')
        (s,) = rank.samplers
        check(0 < s['events_lost'] < s['returns'], 'lost: {}', s)
        equal('faults', {c.mean('event_0') for c in of(rank, 'fresh') if 'uncounted' not in c.flags}, {64.0})
        equal('counted', sum(c.counted for c in rank.contexts), s['returns'] - s['events_lost'])
        check(
            all('scaled' in c.flags and not c.mean('event_0') for c in rank.contexts if 'uncounted' in c.flags),
            'not counted, but 0',
        )


def pmu(tap, program):
    with tap.test('a PMU: instructions per call are the same each time'):
        error = counter(0, 1)  # PERF_COUNT_HW_INSTRUCTIONS
        if error:
            raise harness.Skip('no PMU: perf_event_open of PERF_COUNT_HW_INSTRUCTIONS: ' + os.strerror(error))
        run, rank = counted([program, '1'], 'INSTRUCTIONS:u,CYCLES,L1-DCACHE-LOAD-MISSES')
        for c in of(rank, 'quiet'):  # a loop of 200000 rounds, of 3 to 5 instructions
            check(550000 < c.mean('event_0') < 1100000, 'instructions: {}', c.mean('event_0'))
            check(c.variation('event_0') < 0.05, 'they vary: {}', c.variation('event_0'))
    with tap.test('a PMU: the event of calls'):
        run = fvmpi_run([program, '0.2'], '--dry-run', '--sample').ended(0)
        if 'FVMPI_CALL_EVENT' not in run.out:
            raise harness.Skip('this processor has no precise event of calls that can be had')
        run, rank = counted([program, '1'], 'PAGE-FAULTS')
        equal('mode', [s['mode'] for s in rank.samplers], [CALLS])
        check(rank.samplers[0]['returns'] > 20, 'few instances: {}', rank.samplers)


def address(program, name):
    for line in harness.run(['nm', program]).ended(0).out.splitlines():
        if line.split()[-1] == name:
            return int(line.split()[0], 16)


def calls(tap, program):
    def sampled(event, *command):
        environment = dict(FVMPI_CALL_EVENT=event)
        return counted([program] + list(command), 'PAGE-FAULTS', env=environment)

    fresh = address(program, 'fresh')
    with tap.test('event of calls: each sample is an instance, and of that function'):
        run, rank = sampled('breakpoint@5:0:{:#x}'.format(fresh), '1')
        (s,) = rank.samplers
        equal('mode and refusal', (s['mode'], s['refusal']), (CALLS, 0))
        equal('samples', s['call_samples'], s['entries'] + s['refused'])
        check(s['entries'] > 50 and s['refused'] <= s['entries'] // 10, 'entries: {}', s)
        equal('functions', {(c.name, c.callers[0], c.window - c.returns) for c in rank.contexts}, {('fresh', 'run', 0)})
        equal('faults', {c.mean('event_0') for c in rank.contexts}, {64.0})
        check(s['ticks'] > 50, 'ticks: {}', s)
    with tap.test('event of calls: in threads'):
        run, rank = sampled('breakpoint@5:0:{:#x}'.format(fresh), '0.5', '2')
        check(
            sum(s['mode'] == CALLS and s['returns'] > 10 for s in rank.samplers) == len(rank.samplers),
            '{}',
            rank.samplers,
        )
    with tap.test('event of calls: a sample that is no entry is refused'):
        run, rank = sampled('breakpoint@5:0:{:#x}'.format(body(program, fresh)), '0.5')
        (s,) = rank.samplers
        check(s['refused'] > 10 and s['entries'] == 0 and s['call_samples'] == s['refused'], '{}', s)
    for event, line in (
        ('calls@4:0xffffffffffff:0:0:18:0', 'calls: perf_event_open does not have it here'),
        ('calls@4:0x2c4:0:0:18:77', 'calls: encoded for another processor'),
        ('calls@', 'not an event of `fvmpi run`'),
    ):
        with tap.test('FVMPI_CALL_EVENT={}: said once, breakpoints instead'.format(event)):
            run, rank = sampled(event, '0.4')
            check(line in run.err and run.err.count('\n') == 1, run.err)
            (s,) = rank.samplers
            check(s['mode'] == BREAKPOINTS and s['returns'] > 5, '{}', s)


def body(program, entry):
    """The address of the second instruction."""
    text = (
        harness.run(
            [
                'objdump',
                '-d',
                '--no-show-raw-insn',
                '--start-address={}'.format(entry),
                '--stop-address={}'.format(entry + 32),
                program,
            ]
        )
        .ended(0)
        .out
    )
    return [int(line.split(':')[0], 16) for line in text.splitlines() if line.startswith('  ')][1]


def main():
    tap = harness.Tap()
    program = samples.compile_with('cc', 'counted.c', '-no-pie', '-lpthread')
    first = fvmpi_run([program, '0.1'], '--sample')
    if 'calls are not measured' in first.err or 'no samples are taken' in first.err:
        with tap.test('events'):
            raise harness.Skip(first.err.strip())
        tap.done()
    counts(tap, program)
    refusals(tap, program)
    pmu(tap, program)
    calls(tap, program)
    tap.done()


if __name__ == '__main__':
    main()
