#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it delays the sampler's signals.
"""What breaks a sampler: threads that come and go in every way, stacks and code that are not what they were, children,
debuggers, refusals. The programs run as without it, and what was sampled adds up."""
import errno
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples  # LONG: ./dev statistics
from measured import TRIES, repeat
from report import check, equal
from samples import BREAKPOINTS, COSTS, accounts, compile_with, named, sampled, total


def run(command, output, rate=500, before=(), environ=None):
    """The rank of a run that printed what is expected, and nothing else."""
    done = sampled(command, rate, before, env=environ or {}).ended(0)
    equal('output', done.out, output)
    (rank,) = samples.read(done.directory)
    accounts(rank)
    rank.err = done.err
    return rank


def threads(tap, breaks, cxx):
    def computing(rank, count):
        """Threads that have ticks and instances of their own."""
        busy = [s['thread'] for s in rank.samplers if s['ticks'] >= 10]
        check(len(busy) >= count, '{} threads: {}', len(busy), rank.samplers)
        measured = {c.thread for c in named(rank, 'task') if c.returns}
        check(len(measured) >= count, 'task in threads {}', measured)

    with tap.test('pthreads: each is sampled'):
        computing(run([breaks, 'threads'], 'joined 4\n'), 4)
    with tap.test('std::thread, std::async'):
        computing(run([cxx, 'std'], 'done 4\n'), 4)
    with tap.test('OpenMP'):
        computing(run([cxx, 'omp'], 'done 12\n'), 4)
    for mpi in list(harness.mpis(tap))[: None if samples.LONG else 1]:
        with tap.test('{}: OpenMP in ranks'.format(mpi)):
            program = compile_with(
                mpi.cxx, 'threads.cpp', '-pthread', '-fopenmp', '-DWITH_MPI', name='threads.' + mpi.name
            )
            done = mpi.profile(program, 2, ['omp'], options=['--sample=500', '-q']).ended(0)
            equal('output', done.out, 'done 12\n' * 2)
            for rank in samples.read(done.directory):
                accounts(rank)
                computing(rank, 4)
    with tap.test('400 short threads: few records, and all adds up'):
        rank = run([breaks, 'many'], 'joined 400\n')
        equal('threads', sum(int(t['threads']) for t in rank.threads), 401)
        check(len(rank.samplers) < 50, '{} records', len(rank.samplers))
    with tap.test('threads with stacks of 16 KiB'):
        computing(run([breaks, 'small_stacks'], 'joined 4\n'), 4)
    with tap.test('cancelled, and left by pthread_exit(), inside of instances'):

        def endings():
            rank = run([breaks, 'endings'], 'ended 15 cleaned 30\n')
            equal('open', total(rank, 'open'), 0)
            check(total(rank, 'abandoned') > 0, 'none was abandoned: {}', rank.samplers)  # some 4 of 80, by chance

        repeat(endings)


def stacks(tap, breaks):
    with tap.test('coroutines: swapcontext()'):
        rank = run([breaks, 'coroutines'], 'switched 1\n')
        check(total(rank, 'returns') > 0, 'no instances: {}', rank.samplers)
    with tap.test("the application's signal stack, and handlers on it"):
        rank = run([breaks, 'signal_stack'], 'handled 1 same 1 overwritten 0\n')
        check(total(rank, 'returns') > 0 and not total(rank, 'no_stack'), 'no instances: {}', rank.samplers)
    with tap.test("the application's signal stack is too small: left alone, and counted"):
        amx = compile_with('cc', 'amx.c', '-shared', '-fPIC', '-ldl', name='amx.so')
        for environ in {}, {'LD_PRELOAD': harness.in_front(amx)}:
            rank = run([breaks, 'smallest_signal_stack'], 'handled 1 same 1 overwritten 0\n', environ=environ)
            check(total(rank, 'no_stack') > 50, 'counted, {}: {}', environ, rank.samplers)
    with tap.test('left by longjmp(), its slot is not touched again: the outer one still returns'):
        rank = run([breaks, 'left'], 'done\n')
        inner, outer = named(rank, 'jumps_out'), named(rank, 'goes_on')
        check(sum(c.abandoned for c in inner) > 5, 'inner: {}', [str(c) for c in inner])
        times = sorted(i[2] for c in outer for i in c.reservoir)
        longer = sum(t > 1.6 * times[len(times) // 2] for t in times)
        check(len(times) > 20 and longer * 20 < len(times), 'two calls measured as one: {} of {}', longer, times)
    with tap.test('what lasts: no watchpoint on its slot, which slows down all who copy'):

        def lasts():
            lasting = named(run([breaks, 'lasting'], 'done\n'), 'looks_back')
            returns, abandoned = (sum(getattr(c, key) for c in lasting) for key in ('returns', 'abandoned'))
            # one whose next tick comes late, on a busy machine, is still watched by its slot when it reads that
            check(returns > 5 and abandoned <= returns / 20, '{} returned, {} were given up', returns, abandoned)

        repeat(lasts)
    with tap.test('more contexts than a chunk of records, and than there may be'):
        rank = run([breaks, 'contexts'], 'done\n', 3000)
        check(len(rank.contexts) > 100, '{} contexts', len(rank.contexts))
    with tap.test('a function that the handler calls, too'):
        run([breaks, 'errors'], 'looked 1\n')
    with tap.test('recursion: a context, not one for each depth'):
        rank = run([breaks, 'recursion'], 'done\n')
        for name in ('tree', 'chain'):
            check(0 < len(named(rank, name)) <= 4, '{} contexts of {}', len(named(rank, name)), name)
            check(sum(c.returns for c in named(rank, name)) > 0, 'no instances of {}', name)
        equal('contexts without a record', total(rank, 'lost_contexts'), 0)


def code(tap, breaks):
    with tap.test('libraries that are opened and closed meanwhile'):
        plugins = [
            compile_with('cc', 'plugin.c', '-shared', '-fPIC', '-DEXTRA={}'.format(n), name='p{}.so'.format(n))
            for n in (0, 7)
        ]
        rank = run([breaks, 'plugins'] + plugins, 'called 1\n', 1000)
        check(total(rank, 'returns') > 0, 'no instances: {}', rank.samplers)
    with tap.test('parts that stand elsewhere (.cold), indirect functions, the PLT'):
        odd = ('odd_task', 'chosen_task', 'compare')
        rank = samples.enough(
            lambda found: all(sum(c.returns for c in named(found, name)) for name in odd),
            lambda _: run([breaks, 'odd_code'], 'done\n', 1000),
            1,
        )
        equal('measured', [str(c) for c in rank.contexts if '.cold' in c.name], [])
        for name in odd:
            check(sum(c.returns for c in named(rank, name)) > 0, 'no instances of {}', name)
            equal(name + ' abandoned', sum(c.abandoned for c in named(rank, name)), 0)


def around(tap, patterns, breaks):
    with tap.test('a child cannot switch off the events'):
        rank = run([breaks, 'disabling_child'], 'disabled 0\n')
        check(total(rank, 'ticks') > 100, 'ticks: {}', rank.samplers)
    with tap.test('vfork(), posix_spawn()'):
        run([breaks, 'spawned'], 'spawned 20\n')
    with tap.test('poll, epoll_wait, select, nanosleep are not interrupted'):
        rank = run([breaks, 'waits'], 'interrupted 0\n', 2000)
        check(total(rank, 'ticks') > 20, 'ticks: {}', rank.samplers)
    with tap.test('signals that a thread waits for are its own'):
        for before in ((), (patterns, 'deny', str(errno.EPERM))):
            run([breaks, 'signals_waited_for'], 'foreign 0 own 40\n', 2000, before=before)
    with tap.test('a trap that says of no breakpoint, which the kernel takes for the program\'s own'):
        rank = run([breaks, 'nameless'], 'tasks 200\n')
        check(os.uname().machine != 'x86_64' or total(rank, 'traps') >= 200, 'traps: {}', rank.samplers)
    with tap.test('migrations are counted'):
        if len(os.sched_getaffinity(0)) < 2:
            raise harness.Skip('one processor')
        for before, exact in (((), 1), ((breaks, 'unprivileged'), 0)):
            rank = run([breaks, 'migrations'], 'processors 2\n', 400 if exact else 3000, before=before)
            if exact and not rank.samplers[0]['migrations_exact']:
                continue  # not permitted here
            equal('exact', rank.samplers[0]['migrations_exact'], exact)
            (c,) = named(rank, 'moves')
            mean = c.mean('migrations')
            check(c.returns > 5 and (1.5 if exact else 0) < mean <= 2.5, 'migrations {}: {}', mean, c)


def refusals(tap, patterns, breaks, holder):
    for name in ('EPERM', 'ENOSYS', 'EACCES', 'EINVAL')[: None if samples.LONG else 2]:
        with tap.test('perf_event_open fails by {}: said once, a timer samples costs'.format(name)):
            rank = run([breaks, 'busy'], 'tasks 1\n', before=[patterns, 'deny', str(getattr(errno, name))])
            check(rank.err.count('perf_event_open') == 1 and rank.err.count('\n') == 1, rank.err)
            (sampler,) = rank.samplers
            equal('mode and refusal', (sampler['mode'], sampler['refusal']), (COSTS, getattr(errno, name)))
            check(25 <= sampler['ticks'] <= 0.5 * 1.6 * sampler['rate'], 'ticks: {}', sampler)
            work = sum(n for path, n in rank.costs.items() if path[:3] == ('work', 'task', 'busy'))
            check(work > 0.9 * sampler['ticks'], '{} of {}', work, sampler['ticks'])
    with tap.test('half of the file descriptors are the application\'s'):
        rank = run([breaks, 'threads'], 'joined 4\n', before=['sh', '-c', 'ulimit -n 64; exec "$0" "$@"'])
        check(rank.err.count('ulimit -n') == 1 and rank.err.count('\n') == 1, rank.err)
        equal('refusals', {(s['mode'], s['refusal']) for s in rank.samplers}, {(COSTS, errno.EMFILE)})
    with tap.test('a kernel that calls itself an old one: what it has counts, not its name'):
        rank = run([breaks, 'busy'], 'tasks 1\n', before=['setarch', '--uname-2.6'])
        equal('refusals', (rank.err, rank.samplers[0]['mode']), ('', BREAKPOINTS))
    denied = [patterns, 'deny', str(errno.EPERM)]
    with tap.test('the timer interrupts no poll, epoll_wait, select, nanosleep'):
        rank = run([breaks, 'waits'], 'interrupted 0\n', 1000, before=denied)
        check(total(rank, 'ticks') > 2, 'ticks: {}', rank.samplers)
    with tap.test('the timer: threads, children'):
        # the kernel counts a thread's user time at its own ticks, which may miss a short thread
        for left in range(2 * TRIES - 1, -1, -1):
            rank = run([breaks, 'threads'], 'joined 4\n', before=denied)
            if sum(s['ticks'] > 2 for s in rank.samplers) >= 3:
                break
            check(left, 'ticks: {}', rank.samplers)
        run([breaks, 'disabling_child'], 'disabled 0\n', before=denied)
        run([breaks, 'endings'], 'ended 15 cleaned 30\n', before=denied)
    for held, mode in ((2, BREAKPOINTS), (3, COSTS), (1, BREAKPOINTS), (4, COSTS))[: None if samples.LONG else 2]:
        with tap.test('{} debug registers are held by somebody else'.format(held)):
            rank, err = traced(holder, held, 'leave', breaks)
            (sampler,) = rank.samplers
            equal(
                'mode and refusal', (sampler['mode'], sampler['refusal']), (mode, errno.ENOSPC if mode == COSTS else 0)
            )
            check(sampler['ticks'] > 50 and (sampler['returns'] > 0) == (mode == BREAKPOINTS), 'counts: {}', sampler)
            equal('lines', (err.count('debug register'), err.count('\n')), (int(mode == COSTS), int(mode == COSTS)))
    with tap.test('SIGTRAP blocked from the start: refused in one line'):
        rank = run([breaks, 'busy'], 'tasks 1\n', before=[breaks, 'blocking'])
        equal('lines', (rank.err.count('SIGTRAP'), rank.err.count('\n')), (1, 1))
        equal('ticks', total(rank, 'ticks'), 0)
    with tap.test('under valgrind, or what looks like it: refused in one line'):
        library = compile_with('cc', 'plugin.c', '-shared', '-fPIC', '-DEXTRA=0', name='vgpreload_core-test.so')
        rank = run([breaks, 'busy'], 'tasks 1\n', environ={'LD_PRELOAD': harness.in_front(library)})
        equal('lines', (rank.err.count('valgrind'), rank.err.count('\n')), (1, 1))
        equal('samplers', rank.samplers, [])
    with tap.test('no room for records: said once, and not as if it were the C library'):
        done = sampled([breaks, 'busy'], 500, ['sh', '-c', 'ulimit -f 10; exec "$0" "$@"']).ended(0)
        equal('output', done.out, 'tasks 1\n')
        check('cannot grow' in done.err and 'glibc' not in done.err, done.err)
    with tap.test('a debugger is attached: refused in one line'):
        rank, err = traced(holder, 1, 'stay', breaks)
        equal('lines', (err.count('debugger'), err.count('\n')), (1, 1))
        equal('ticks', total(rank, 'ticks'), 0)


def traced(holder, held, how, breaks):
    """By the library itself: `fvmpi run` would be what the holder traces."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    library = os.path.join(harness.LIBS, 'libfvmpi-serial.so')
    preload = ':'.join(filter(None, [os.environ.get('FVMPI_TEST_SANITIZER'), library]))
    done = harness.run(
        [holder, str(held), how, preload, breaks, 'busy'],
        env={'FVMPI_OUTPUT': directory, 'FVMPI_SAMPLE': '500', 'FVMPI_QUIET': '1'},
    ).ended(0)
    equal('output', done.out, 'tasks 1\n')
    (rank,) = samples.read(directory)
    accounts(rank)
    return rank, done.err


def main():
    tap = harness.Tap()
    breaks = compile_with('cc', 'breaks.c', '-pthread', '-ldl')
    first = sampled([breaks, 'busy'])
    if 'sampled' in first.err:
        with tap.test('sampling'):
            raise harness.Skip(first.err.strip())
        tap.done()
    cxx = compile_with('c++', 'threads.cpp', '-pthread', '-fopenmp')
    threads(tap, breaks, cxx)
    stacks(tap, breaks)
    code(tap, breaks)
    patterns = compile_with('cc', 'patterns.c')
    around(tap, patterns, breaks)
    refusals(tap, patterns, breaks, compile_with('cc', 'holder.c'))
    tap.done()


if __name__ == '__main__':
    main()
