#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""What threads do in the archive: creation and join, the order in which locks are acquired, waiting with its length,
kind and cause, as programs that measure their own waits know them; as otf2-print reads it, and approved by `fvmpi
check`."""
import filecmp
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
import otf2_print
from analysis_json import Analysis
from measured import Measured
from report import check, equal

ROUNDS = 6
OPTIONS = ['--threads', '--trace', '--clock=monotonic']


class Archive:
    def __init__(self, directory, warnings=0, processes=None):
        self.directory = directory
        # samples would put contexts in place of call_path
        self.path = otf2_print.merge(directory, '--no-samples', warnings=warnings, processes=processes)
        self.events = otf2_print.events(self.path)

    def of(self, *kinds):
        return [e for e in self.events if e.kind in kinds]

    def locks(self, rank=0):
        """Acquisitions by the number of the lock: [order, begin, end, location]."""
        found, held = {}, {}
        for e in self.of('THREAD_ACQUIRE_LOCK', 'THREAD_RELEASE_LOCK'):
            if e.location % (1 << 32) != rank:
                continue
            key = (int(e.lock), int(e['acquisition order']), e.location)
            if e.kind == 'THREAD_ACQUIRE_LOCK':
                check(key not in held, 'twice: {}', e)
                held[key] = e.time
            else:
                found.setdefault(key[0], []).append([key[1], held.pop(key), e.time, e.location])
        return {lock: sorted(all_of) for lock, all_of in found.items()}, held

    def waits(self):
        """Regions of waiting: the enter's fields and those of the leave."""
        open_, found = {}, []
        for e in self.of('ENTER', 'LEAVE'):
            if e.kind == 'ENTER':
                open_[e.location] = e
            elif 'lock' in open_[e.location]:
                enter = open_.pop(e.location)
                found.append(
                    otf2_print.Event(e, lock=enter.lock, begin=enter.time, call_path=enter.get('call_path', ''))
                )
        return found


def in_order(locks, exclusive):
    for lock, all_of in locks.items():
        equal('orders of lock {}'.format(lock), [a[0] for a in all_of], list(range(1, len(all_of) + 1)))
        for before, after in zip(all_of, all_of[1:]):
            check(lock not in exclusive or before[2] <= after[1], 'lock {}: {} before {}', lock, before, after)


class Known:
    """What is found in a run of known.c."""

    def __init__(self, archive):
        self.archive = archive
        self.objects = threads.Waits(archive.directory).objects
        self.named = {o.name: o.id for o in self.objects.values() if o.name}
        self.waits = [w for w in archive.waits() if w.location % (1 << 32) == 0]
        self.locks, self.held = archive.locks()

    def of(self, name):
        return [w for w in self.waits if w.lock == self.named[name]]


def acquisitions(known, truth):
    in_order(known.locks, {o.id for o in known.objects.values() if o.kind in ('mutex', 'spin')})
    equal('left held', known.held, {})
    for name, count in (('free_lock', 1000), ('contended', 2 * ROUNDS), ('convoy', 4 * ROUNDS), ('spun', 2 * ROUNDS)):
        equal(name, len(known.locks[known.named[name]]), count)


def waiting(known, truth):
    for name in ('contended', 'convoy', 'filled', 'spun', 'uneven', 'tokens', 'once', 'late'):
        truth.near(name, sum(w.get('wait', 0) for w in known.of(name)))
    truth.near('starved', sum(w.wait for w in known.of('starved') if 'timedwrlock' in w.region))
    for name, region, kind in (
        ('contended', 'pthread_mutex_lock', 'lock_contention'),
        ('spun', 'pthread_spin_lock', 'lock_contention'),
        ('filled', 'pthread_cond_wait', 'condition'),
        ('uneven', 'pthread_barrier_wait', 'thread_barrier'),
        ('tokens', 'sem_wait', 'semaphore'),
        ('late', 'pthread_join', 'thread_join'),
    ):
        equal(name, {(w.region, w.wait_kind) for w in known.of(name) if 'wait' in w}, {('"' + region + '"', kind)})
        check(all(w.wait == w.time - w.begin for w in known.of(name) if 'wait' in w), 'length of {}', name)


def call_paths(known, truth):
    for name, function in (('contended', 'waiter'), ('spun', 'spins'), ('tokens', 'takes'), ('late', 'joins')):
        check(all(w.call_path.startswith(function + '@') for w in known.of(name)), '{}: {}', name, known.of(name))


def causes(known, truth):
    holders = {a[3] for a in known.locks[known.named['contended']]}
    for w in known.of('contended'):
        equal('holder', {w.cause}, holders - {w.location})
    for w in known.of('uneven'):
        if 'wait' in w:
            last = [o.location for o in known.of('uneven') if 'wait' not in o and w.begin <= o.begin <= w.time]
            check(w.cause in last, 'the last one: {} not in {}', w, last)
    for name in ('filled', 'tokens'):
        equal('who let go', len({w.cause for w in known.of(name)}), 1)
        check(known.of(name)[0].cause != known.of(name)[0].location, 'itself: {}', name)
    (late,) = known.of('late')
    (wait,) = [e for e in known.archive.of('THREAD_WAIT') if e.time == late.time and e.location == late.location]
    (end,) = [
        e
        for e in known.archive.of('THREAD_END')
        if e['sequence count'] == wait['sequence count'] and e.location % (1 << 32) == 0
    ]
    equal('joined', late.cause, end.location)


def lives(known, truth):
    links = {}
    for e in known.archive.of('THREAD_CREATE', 'THREAD_BEGIN', 'THREAD_END', 'THREAD_WAIT'):
        if e.location % (1 << 32) == 0:
            links.setdefault(int(e['sequence count']), []).append((e.time, e.kind))
    equal('numbers', sorted(links), list(range(1, 24)))
    for events in links.values():
        equal(
            'order',
            [kind for _, kind in sorted(events)],
            ['THREAD_CREATE', 'THREAD_BEGIN', 'THREAD_END', 'THREAD_WAIT'],
        )


def judged(tap, who, tests, make, found_in):
    """Tests of a program, by what it measured; the last run's archive."""

    def run():
        run = make().ended(0)
        return run.out, found_in(Archive(run.directory))

    measured = Measured(run)
    for name, judge in tests:
        with tap.test('{}: {}'.format(who, name)):
            measured.test(judge)
    return measured.found


def known(tap, who, make):
    tests = (
        ('the order of acquisitions', acquisitions),
        ('waiting', waiting),
        ('call paths', call_paths),
        ('causes', causes),
        ('threads', lives),
    )
    return judged(tap, who, tests, make, Known).archive


def few(tap):
    with tap.test('recursive, handed over, tried, shared, a condition, a detached thread'):
        run = threads.record([threads.build('traced.c'), 'few'], *OPTIONS).ended(0)
        archive = Archive(run.directory)
        objects = {o.name: o.id for o in threads.Waits(run.directory).objects.values() if o.name}
        locks, held = archive.locks()
        equal('held', held, {})
        in_order(locks, {objects[name] for name in ('again', 'handed', 'tried', 'guarded')})
        for name, count in (('again', 2), ('handed', 4), ('tried', 1), ('shared', 2), ('guarded', 3)):
            equal(name, len(locks[objects[name]]), count)
        first, second = locks[objects['shared']]
        check(first[1] < second[1] <= second[2] < first[2], 'readers: {}', locks[objects['shared']])
        (wait,) = [w for w in archive.waits() if 'cond' in w.region]
        before, signalling, after = locks[objects['guarded']]
        check(before[2] <= wait.begin <= signalling[1] <= wait.time <= after[1] + 1, 'condition: {}', wait)
        equal('who signalled', wait.cause, signalling[3])


def last(tap):
    with tap.test('who came last to a barrier, also where it runs after those whom it let go'):
        run = threads.record([threads.build('traced.c'), 'last'], *OPTIONS)
        if run.rc == 3:
            raise harness.Skip('no SCHED_IDLE here, or no processor of its own to choose')
        run.ended(0)
        waits = [w for w in Archive(run.directory).waits() if 'barrier' in w.region]
        meets = sorted({w.location for w in waits})
        equal('threads', len(meets), 2)
        waited = [w for w in waits if 'wait' in w]
        check(len(waited) >= 4, 'turns are 6: {}', waits)
        equal('who let whom go', {(w.location, w.cause) for w in waited}, {tuple(meets), tuple(reversed(meets))})


def begins(tap):
    with tap.test('threads that begin while the file is being made longer: no sample is lost'):
        run = threads.record([threads.build('slow_file.c')], '--sample=clock', *OPTIONS).ended(0)
        equal('output', run.out, 'computed\n')
        Archive(run.directory)  # which tells of what is not in it


def loop(tap):
    program, n = threads.build('traced.c'), 40000
    with tap.test('chunks that are full, compressed or not'):
        for options in ([], ['--trace-zstd=1']):
            run = threads.record([program, 'loop', str(n)], *(OPTIONS + options))
            if options and 'libzstd' in run.err:
                continue
            equal('output', run.ended(0).out, 'acquired {}\n'.format(2 * n))
            archive = Archive(run.directory)
            equal('gaps', archive.of('MEASUREMENT_ON_OFF'), [])
            locks, held = archive.locks()
            all_of = max(locks.values(), key=len)
            equal('acquisitions', len(all_of), 2 * n)
            in_order(locks, locks)
    with tap.test('the end of the budget'):
        run = threads.record([program, 'loop', str(n)], '--trace-max=256K', *OPTIONS).ended(0)
        equal('output', run.out, 'acquired {}\n'.format(2 * n))
        archive = harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', '--no-samples', run.directory]).ended(1)
        lost = [t.trace_lost for t in threads.Waits(run.directory).threads]
        check(sum(lost) > n, 'lost: {} {}', lost, archive.err)
        check(
            '{} events of threads are not in the trace: '.format(sum(lost)) in archive.err, 'not said: {}', archive.err
        )
        said = harness.run([harness.FVMPI, 'check', os.path.join(run.directory, 'traces.otf2')]).ended(0).out
        check(' 0 errors' in said, 'fvmpi check: {}', said)


def regions_of(archive, rank=0):
    """Each location's events of teams, in order."""
    found = {}
    for e in archive.of('THREAD_FORK', 'THREAD_JOIN', 'THREAD_TEAM_BEGIN', 'THREAD_TEAM_END'):
        if e.location % (1 << 32) == rank:
            found.setdefault(e.location, []).append(e)
    return found


def teams(archive, truth):
    events = regions_of(archive)
    master = events[0]
    outer, inner = ['THREAD_FORK', 'THREAD_TEAM_BEGIN'], ['THREAD_TEAM_END', 'THREAD_JOIN']
    equal('the first', [e.kind for e in master], (outer + inner) * 5 + outer * 2 + inner * 2 + outer + inner)
    equal(
        'asked for', [int(e['requested threads']) for e in master if e.kind == 'THREAD_FORK'], [3, 3, 3, 3, 2, 2, 2, 0]
    )
    for e in sum(events.values(), []):
        check(
            e.kind != 'THREAD_FORK'
            or e.call_path.split('@')[0].split('.')[0] in ('uneven', 'team_lost', 'task', 'nested', 'asked'),
            'call path: {}',
            e,
        )
    for i in range(3):
        fork, join = master[4 * i].time, master[4 * i + 3].time
        others = [[e for e in mine if fork <= e.time <= join] for where, mine in events.items() if where]
        equal(
            'a team',
            sorted([e.kind for e in mine] for mine in others if mine),
            [['THREAD_TEAM_BEGIN', 'THREAD_TEAM_END']] * 2,
        )
        equal(
            'they end together',
            len({e.time for mine in others + [master[4 * i : 4 * i + 3]] for e in mine if e.kind == 'THREAD_TEAM_END'}),
            1,
        )
    forks = [e for mine in events.values() for e in mine if e.kind == 'THREAD_FORK']
    equal('nested', len([e for e in forks if e.call_path.startswith('nested')]), 3)


def at_their_end(archive, truth):
    waits = archive.waits()
    at_end = [w for w in waits if w.region == '"omp implicit barrier"' and w.call_path.startswith('uneven@')]
    truth.near('uneven', sum(w.get('wait', 0) for w in at_end))
    equal('who', (len(at_end), len([w for w in at_end if 'wait' in w])), (9, 6))
    equal('kind', {w.wait_kind for w in at_end if 'wait' in w}, {'omp_barrier'})
    late = {w.location for w in at_end if 'wait' not in w}
    equal('cause', {w.cause for w in at_end if 'wait' in w}, late)
    check(0 not in late, 'the late one: {}', late)
    nested = [w.call_path for w in waits if w.region == '"omp implicit barrier"' and w.call_path.startswith('nested')]
    equal('nested', (len(nested), len([p for p in nested if p.startswith('nested._omp_fn')])), (6, 4))
    inside = [w for w in waits if w.region == '"omp barrier"' and w.call_path.startswith('asked._omp_fn')]
    late = {w.location for w in inside if 'wait' not in w}
    equal('late at a barrier', len(late), 1)
    equal('for whom', {w.cause for w in inside if w.get('wait', 0) > 1e6}, late if len(inside) > 1 else set())
    (task,) = [
        w for w in waits if w.region == '"omp implicit barrier"' and w.call_path.startswith('task@') and not w.location
    ]
    truth.near('after the task', task.wait, 'task')


def paradigm(archive, truth):
    defs = harness.run(['otf2-print', '-G', archive.path]).ended(0).out.splitlines()
    for name, role in (('omp implicit barrier', 'IMPLICIT_BARRIER'), ('omp barrier', 'BARRIER')):
        (line,) = [d for d in defs if d.startswith('REGION ') and 'Name: "{}"'.format(name) in d]
        check('Paradigm: "OpenMP"' in line and 'Role: {},'.format(role) in line, '{}', line)


def omp_killed(tap, program):
    with tap.test('killed in a parallel region'):
        archive = Archive(threads.record([program, 'killed'], *OPTIONS).directory)
        events = regions_of(archive)
        equal(
            'the first',
            [e.kind for e in events[0]],
            ['THREAD_FORK', 'THREAD_TEAM_BEGIN', 'THREAD_TEAM_END', 'THREAD_JOIN'],
        )
        (wait,) = [w for w in archive.waits() if 'omp' in w.region]
        check(
            wait.location == 0 and events[0][1].time <= wait.begin <= wait.time <= events[0][2].time, 'open: {}', wait
        )


def omp_paused(tap, program):
    with tap.test('recording is paused from within a parallel region to within a later one'):
        archive = Archive(threads.record([program, 'paused'], *OPTIONS).ended(0).directory)
        events = regions_of(archive)
        one = ['THREAD_FORK', 'THREAD_TEAM_BEGIN', 'THREAD_TEAM_END', 'THREAD_JOIN']
        equal('the first', [e.kind for e in events.pop(0)], one * 2)
        equal('the other', [[e.kind for e in mine] for mine in events.values()], [one[1:3] * 2])


def omp_mpi(tap, mpi):
    program = threads.build('traced_omp.c', '-fopenmp', '-DWITH_MPI', compiler=mpi.cc, output='traced_omp.mpi')
    run = mpi.profile(program, 2, options=['-q'] + OPTIONS).ended(0)
    archive = Archive(run.directory)
    with tap.test('{}: teams of both ranks'.format(mpi)):
        equal(
            'forks',
            [len([e for e in regions_of(archive, rank)[rank] if e.kind == 'THREAD_FORK']) for rank in (0, 1)],
            [8, 8],
        )


def not_made(tap):
    with tap.test('a thread that was not made'):
        archive = Archive(threads.record([threads.build('traced.c'), 'refused'], *OPTIONS).ended(0).directory)
        links = [e.kind for e in archive.of('THREAD_CREATE', 'THREAD_BEGIN', 'THREAD_END', 'THREAD_WAIT')]
        equal('events', sorted(links), ['THREAD_BEGIN', 'THREAD_CREATE', 'THREAD_END', 'THREAD_WAIT'])


def killed(tap):
    with tap.test('killed while it waits'):
        run = threads.record([threads.build('traced.c'), 'killed'], *OPTIONS)
        archive = Archive(run.directory, warnings=1)  # the lock is held
        (wait,) = [w for w in archive.waits() if 'mutex' in w.region]
        check(wait.wait > 80e6 and wait.call_path.startswith('stuck@'), 'open wait: {}', wait)
        _, held = archive.locks()
        equal('held', len(held), 1)


def own_locks(tap, mpi):
    """What fvmpi asks of the C library for itself is no lock of the program's, and MPI_Init has its time."""
    with tap.test('{}: a lock in front of sbrk()'.format(mpi)):
        program = threads.build('own_sbrk.c', '-rdynamic', '-ldl', compiler=mpi.cc, output='own_sbrk.' + str(mpi))
        run = mpi.profile(program, 1, options=['-q', '--memory'] + OPTIONS).ended(0)
        found = Archive(run.directory).of('THREAD_ACQUIRE_LOCK', 'ENTER', 'LEAVE')
        main_thread = [e for e in found if e.location == found[0].location]
        begin, end = [next(i for i, e in enumerate(main_thread) if e.kind == k) for k in ('ENTER', 'LEAVE')]
        check('MPI_Init' in main_thread[begin].region, '{}', main_thread[begin])
        check(main_thread[end].time - main_thread[begin].time > 1000, '{} to {}', main_thread[begin], main_thread[end])
        equal('acquired before', [e for e in main_thread[:end] if e.kind == 'THREAD_ACQUIRE_LOCK'], [])


def main():
    tap = harness.Tap()
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')) or not shutil.which('otf2-print'):
        with tap.test('archives'):
            raise harness.Skip('no fvunify-serial or no otf2-print: built without OTF2')
        return tap.done()
    program = threads.build('known.c')
    known(tap, 'serial', lambda: threads.record([program], *OPTIONS))
    few(tap)
    last(tap)
    begins(tap)
    loop(tap)
    killed(tap)
    not_made(tap)
    program = threads.build('traced_omp.c', '-fopenmp')
    judged(
        tap,
        'serial',
        (('parallel regions', teams), ('the barrier at their end', at_their_end), ('the paradigm', paradigm)),
        lambda: threads.record([program], *OPTIONS),
        lambda archive: archive,
    )
    omp_killed(tap, program)
    omp_paused(tap, program)
    for count, mpi in enumerate(harness.an_mpi(tap)):
        if not count:
            omp_mpi(tap, mpi)
        own_locks(tap, mpi)
        program = threads.build('known.c', '-DWITH_MPI', compiler=mpi.cc, output='known.' + str(mpi))
        one = known(tap, str(mpi), lambda: mpi.profile(program, 2, options=['-q'] + OPTIONS))
        with tap.test('{}: the same archive by two processes'.format(mpi)):
            two = Archive(one.directory, processes=mpi.command(2, []))
            same = filecmp.dircmp(os.path.dirname(one.path), os.path.dirname(two.path))
            equal('files', (same.left_only, same.right_only), ([], []))
            equal('events', [dict(e) for e in two.events], [dict(e) for e in one.events])
        with tap.test('{}: waiting in MPI as without --threads'.format(mpi)):
            run = mpi.profile(mpi.build('late_sender.c'), 2, (), ['-q'] + OPTIONS).ended(0)
            harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', '--no-samples', run.directory]).ended(0)
            found = Analysis(run.directory)
            wait = found.kind(found.inside('late', ['MPI_Recv']), 1, 'late_sender')
            inside = next(
                float(f[3]) for f in map(str.split, run.out.splitlines()) if f[:3] == ['truth', 'MPI_Recv', 'late']
            )
            check(0.29 < wait <= inside + 0.01, 'waited {} s of {} s', wait, inside)
    return tap.done()


if __name__ == '__main__':
    main()
