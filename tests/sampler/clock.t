#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Clock samples alone (--sample=clock): a program does not notice them, whatever it does with signals, and SIGPROF is
its own as soon as it wants it."""
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples
from report import check, equal
from samples import CLOCK, accounts, compile_with, sampled

GOES_ON, SIGPROF_USED, SIGPROF_BLOCKED, SMALL_STACK, NO_TIMER, NOT_HERE = (
    'goes_on',
    'sigprof_used',
    'sigprof_blocked',
    'small_stack',
    'no_timer',
    'not_here',
)  # enum fv_sampler_stop


NO_SIGNALS = 'import os, resource, sys; resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0)); os.execv(sys.argv[1], sys.argv[1:])'


TIMER = {'FVMPI_WITHOUT': 'clock_event'}


natives = {}  # by command: what asks fvmpi for a timer changes nothing of them


def native_run(command, environ):
    known = json.dumps([command, {key: value for key, value in environ.items() if not key.startswith('FVMPI_')}])
    if known not in natives:
        natives[known] = harness.run(command, env=environ)
    return natives[known]


def run(command, ticks, stopped=GOES_ON, before=(), environ=None):
    """The rank of a run that printed what it prints without fvmpi, and ended alike; with so many ticks at least."""
    native = native_run(list(before) + command, environ or {})
    done = sampled(command, 'clock', before, env=environ or {})
    equal('output', done.out, native.out)
    equal('messages', done.err, native.err)
    equal('status', done.rc, native.rc if native.rc >= 0 else 128 - native.rc)
    rank = samples.read(done.directory)[0]
    accounts(rank)
    if stopped is not None:
        equal('why it stopped', [s['stopped'] for s in rank.samplers], [stopped])
    check(rank.samplers[0]['ticks'] >= ticks, 'ticks: {}', rank.samplers)
    rank.directory, rank.out = done.directory, native.out
    return rank


def unnoticed(tap, clock, by_event):
    source, environ = ('an event', {}) if by_event else ('a timer', TIMER)
    with tap.test('by {}: where CPU time goes, by names; and no instances'.format(source)):
        rank = run([clock, 'plain'], 25, environ=environ)
        (sampler,) = rank.samplers
        if by_event and not sampler['by_event']:
            raise harness.Skip('no events here')
        equal('mode, by an event', (sampler['mode'], sampler['by_event']), (CLOCK, by_event))
        equal('contexts and traps', (rank.contexts, sampler['traps'], sampler['refusal']), ([], 0, 0))
        work = sum(n for path, n in rank.costs.items() if 'busy' in path)
        check(work > 0.9 * sampler['ticks'], '{} of {}', work, sampler['ticks'])
        check(sampler['ticks'] <= 0.5 * 1.2 * sampler['rate'] + 2, 'more ticks than CPU time: {}', sampler)
        check(sampler['tool_ns'] < 0.02 * 0.5e9, 'its time: {}', sampler)
    for way, what, ticks in (
        ('blocked', 'signals that are blocked: none is pending, waited for, or lost', 40),
        ('handles', 'a handler that blocks all signals, and unblocks them', 25),
        ('let_in', 'ppoll, pselect, epoll_pwait, sigsuspend: not interrupted', 30),
        ('children', 'children have no ticks, and their own actions', 15),
        ('ends', 'SIGPROF that nobody handles ends the program', 15),
    ):
        with tap.test('by {}: {}'.format(source, what)):
            run([clock, way], ticks, environ=environ)
    for mask in ('open', 'blocked'):
        with tap.test('by {}: what is executed has its mask {}, and nothing is pending'.format(source, mask)):
            run([clock, 'executes', mask], 15, environ=environ)


def its_own(tap, clock):
    with tap.test('a profiler of its own: ticks end, and none arrives there'):
        rank = run([clock, 'profiler'], 10, SIGPROF_USED)
        check('own 1 foreign 0' in rank.out, rank.out)
        report = harness.run([harness.FVMPI, 'report', rank.directory]).ended(0).out
        check('the program uses SIGPROF itself; fvmpi run --sample' in ' '.join(report.split()), report)
    with tap.test('SIGPROF is ignored'):
        run([clock, 'ignores'], 10, SIGPROF_USED)
    with tap.test('signal stacks: none is seen that the program has not set; one too small ends the ticks'):
        if harness.SANITIZER:
            raise harness.Skip('AddressSanitizer has set one')
        run([clock, 'stacks'], 10, SMALL_STACK)
    with tap.test('linked with -pg'):
        profiled = compile_with('cc', 'clock.c', '-pg', '-pthread', name='clock_pg')
        run([profiled, 'plain'], 0, SIGPROF_USED, environ={'GMON_OUT_PREFIX': os.path.join(harness.scratch(), 'gmon')})
    with tap.test('blocked from the start'):
        run([clock, 'plain'], 0, SIGPROF_BLOCKED, before=[clock, 'blocking'])
    with tap.test('under valgrind, or what looks like it'):
        library = compile_with('cc', 'plugin.c', '-shared', '-fPIC', '-DEXTRA=0', name='vgpreload_core-test.so')
        run([clock, 'plain'], 0, NOT_HERE, environ={'LD_PRELOAD': harness.in_front(library)})


def closed(tap):
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: a program that closes all descriptors has ticks again in its next call'.format(mpi)):
            program = mpi.build(
                os.path.join(HERE, 'clock.c'), '-O1', '-g', '-pthread', '-DWITH_MPI', output='clock_mpi'
            )
            run = mpi.profile(program, 1, ['closes']).ended(0)
            (sampler,) = samples.read(run.directory)[0].samplers
            check(sampler['ticks'] > 0.8 * 0.4 * sampler['rate'], '{}', sampler)
        with tap.test('{}: SIGPROF becomes the program\'s while a child has copies of the descriptors'.format(mpi)):
            equal('ticks that came to it', mpi.profile(program, 1, ['taken']).ended(0).out.strip(), 'foreign 0')
        with tap.test(
            '{}: one is pending as it becomes the program\'s: a tick does not come to it, its own does'.format(mpi)
        ):
            for way, what in ('still', 'foreign 0'), ('pending', 'foreign 1'):
                run = mpi.profile(program, 1, [way]).ended(0)
                equal(way, run.out.strip(), what)
                stopped = {s['stopped'] for s in samples.read(run.directory)[0].samplers}
                equal('why it stopped', stopped, {SIGPROF_USED})
            equal('without fvmpi', harness.run(mpi.command(1, [program, 'pending'])).ended(0).out.strip(), what)


def elsewhere(tap, clock):
    with tap.test('perf_event_open is refused'):
        patterns = compile_with('cc', 'patterns.c')
        run([clock, 'plain'], 25, before=[patterns, 'deny', '1'])
    with tap.test('no timer to be had'):
        run([clock, 'plain'], 0, NO_TIMER, before=[sys.executable, '-c', NO_SIGNALS], environ=TIMER)
    with tap.test('no room for what signals say'):
        rank = run([clock, 'plain'], 0, None, before=[sys.executable, '-c', NO_SIGNALS])
        (sampler,) = rank.samplers
        check(sampler['ticks'] > 25 if sampler['by_event'] else sampler['stopped'] == NO_TIMER, '{}', sampler)


def main():
    tap = harness.Tap()
    clock = compile_with('cc', 'clock.c', '-pthread')
    unnoticed(tap, clock, True)
    unnoticed(tap, clock, False)
    its_own(tap, clock)
    elsewhere(tap, clock)
    closed(tap)
    tap.done()


if __name__ == '__main__':
    main()
