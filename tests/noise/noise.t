#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""What noise cost a run: a hog that is bound to a rank's processor, and a rank that is stopped again and again. Each
interval of a rank takes the same CPU time, so that all that it takes longer was done to it; how much that was the
program measures itself, by clocks and the kernel's run delay. So other tests beside change what is to be found, and not
whether it is found."""
import os
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from measured import Truth
from report import check, close, equal

INTERVALS = 80
# seconds in all: what reading clocks and files takes, and turns of the scheduler between a reading and the call
SLACK = 3e-3


def stolen_s():
    """Time that a hypervisor has taken from all processors so far, in whole ticks of each."""
    with open('/proc/stat') as f:
        return int(f.readline().split()[8]) / os.sysconf('SC_CLK_TCK')


class Ran:
    """A run with two ranks, and what it measured, in seconds."""

    def __init__(self, mpi, program, disturb=None, intervals=INTERVALS, options=(), within=()):
        told = harness.scratch('told')
        directory = os.path.join(harness.scratch('exp'), 'e')
        stolen = stolen_s()
        process = harness.start(
            [*within] + mpi.command(2, mpi.profiled([program, told, str(intervals)], directory, options))
        )
        disturber = threading.Thread(target=disturb, args=(told, process)) if disturb else None
        if disturber:
            disturber.start()
        self.run = harness.finish(process, directory=directory)
        if disturber:
            disturber.join()
        self.stolen = stolen_s() - stolen + (os.cpu_count() / os.sysconf('SC_CLK_TCK') if stolen else 0)
        self.run.ended(0)
        self.data = self.run.report().data
        self.truth = {k: v * 1e-9 for k, v in Truth(self.run.out).items()}
        self.off, self.delay, self.cost = (
            [self.truth['{}.{}'.format(r, what)] for r in (0, 1)] for what in ('off', 'delay', 'cost')
        )
        self.ranks = self.data['noise_ranks']
        self.noise = next((f for f in self.data['findings'] if f['name'] == 'noise'), None)

    @property
    def before_allreduce(self):
        return next(row for row in self.data['noise'] if row['function'] == 'MPI_Allreduce' and row['interval_count'])

    @property
    def total(self):
        return sum(r['app_time_s'] for r in self.data['ranks'])


def has_09(what, found, excess):
    check(found >= 0.9 * excess - SLACK, '{}: {:.4f} s of {:.4f} s that the run measured', what, found, excess)


def same(what, found, truth, part=0.1, unseen=0):
    """`unseen`: of the truth, what the kernel counts for no thread."""
    most = part * truth + 2 * SLACK
    check(-most - unseen <= found - truth <= most, '{}: {:.4f} s, the program measured {:.4f} s', what, found, truth)


def is_known(ran):
    if ran.ranks[0]['preempted_s'] is None:
        raise harness.Skip('the kernel does not tell context switches')


def told_alike(ran):
    """What a report says of noise follows from what the program measured, whatever the machine did."""
    row = ran.before_allreduce
    same('blocked and preempted', row['preempted_s'] + row['blocked_s'], sum(ran.off), unseen=ran.stolen)
    same('cost', row['cost_s'], sum(ran.cost), 0.15)
    equal('intervals', row['interval_count'], 2 * INTERVALS)
    check(
        row['p50_s'] <= row['p90_s'] <= row['p99_s'] and row['p50_s'] >= 0.0095,
        'percentiles {} {} {}',
        row['p50_s'],
        row['p90_s'],
        row['p99_s'],
    )
    shares = {k: row['variance'][k + '_share'] for k in ('preempted', 'blocked', 'rest')}
    check(abs(sum(shares.values()) - 1) < 1e-6, 'shares are not 1 together: {}', shares)
    expected = [p['expected_s'] for p in row['projection']]
    check(
        expected == sorted(expected)
        and [p['rank_count'] for p in row['projection']] == sorted(p['rank_count'] for p in row['projection']),
        '{}',
        row['projection'],
    )
    check(bool(expected) == (row['preempted_s'] > 0), '{} of {}', expected, row['preempted_s'])


def cpu_s(pid):
    """Of a process, to the kernel's ticks."""
    with open('/proc/{}/stat'.format(pid)) as f:
        return sum(int(ticks) for ticks in f.read().rsplit(')', 1)[1].split()[11:13]) / os.sysconf('SC_CLK_TCK')


def beside_hogs(mpi, program, duties_ms, **more):
    """(run, numbers of the hogs' processes); the run's `hog_s`: their CPU time meanwhile, starting and ending the job
    included."""
    processes = [subprocess.Popen([program, 'hog', '1', str(duty)], env=harness.environment()) for duty in duties_ms]
    try:
        for process in processes:
            harness.wait_until(lambda: open('/proc/{}/comm'.format(process.pid)).read() == 'fv_hog\n', what='the hog')
        before = sum(cpu_s(process.pid) for process in processes)
        ran = Ran(mpi, program, **more)
        ran.hog_s = sum(cpu_s(process.pid) for process in processes) - before
    finally:
        for process in processes:
            process.kill()
            process.wait()
    is_known(ran)
    return ran, [process.pid for process in processes]


def service(program):
    """A process whose control group is named as that of a service is a service's; what a rank starts is the rank's."""
    directory, root = harness.scratch('exp'), harness.scratch('root')
    process = subprocess.Popen([program, 'hog', '1', '10'], env=harness.environment())
    try:
        os.makedirs('{}/proc/{}'.format(root, process.pid))
        with open('{}/proc/{}/cgroup'.format(root, process.pid), 'w') as f:
            f.write('2:cpu:/made/up\n0::/system.slice/fv-made.service/worker\n')
        busy = (
            'import os, subprocess, sys, time\np = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)\n'
            'print(p.pid, flush=True)\nend = time.monotonic() + 0.7\nwhile time.monotonic() < end: pass'
        )
        words = [harness.FVMPI, 'run', '-o', directory + '/e', '--mpi', 'serial', sys.executable, '-c', busy]
        words += [program, 'hog', '1', '10']
        run = harness.run(words, env={'FVMPI_SENSORS_ROOT': root}, directory=directory + '/e')
        child = int(run.out.split()[0])
        os.kill(child, signal.SIGKILL)
        run.ended(0)
    finally:
        process.kill()
        process.wait()
    rows = run.report().data['other_processes']
    seen = {p['pid'] for p in rows}
    if not seen & {process.pid, child}:
        raise harness.Skip('the hogs are not among those that there was time to look at')
    equal('services', [p['service'] for p in rows if p['service']], ['fv-made'] * (process.pid in seen))
    equal(
        'started',
        {p['pid']: p['started_by'] for p in rows if p['started_by'] is not None},
        {child: 0} if child in seen else {},
    )


def beside_hog(mpi, program, **more):
    ran, pids = beside_hogs(mpi, program, [10], **more)
    return ran, pids[0]


def hogs(mpi, program):
    """Three that have a third each are named together."""
    ran, pids = beside_hogs(mpi, program, [4, 4, 4])
    others = [p for p in ran.data['other_processes'] if p['rank'] is None]
    rows = [p for p in others if p['pid'] in pids]
    if len(rows) < 3:
        raise harness.Skip('{} of them are among those that there was time to look at'.format(len(rows)))
    together = sum(p['cpu_s'] for p in rows)
    there = sum(
        p['cpu_s']
        for p in others
        if p['processors'] is None or rows[0]['processors'] in p['processors'] or '-' in p['processors']
    )
    if together < 0.55 * max(there, ran.ranks[1]['preempted_s']):
        raise harness.Skip(
            'others had {:.2f} s beside their {:.2f} s, of {:.2f} s that the rank lost'.format(
                there - together, together, ran.ranks[1]['preempted_s']
            )
        )
    equal('by', [ran.ranks[1][key] for key in ('by', 'by_count', 'by_pid')], ['fv_hog', 3, None])
    close('their CPU time', ran.ranks[1]['by_cpu_s'], together, 1e-9 + 1e-6 * together)
    if ran.noise and ran.noise['rank'] == 1:
        check(
            '`fv_hog`' in ran.noise['text'] and '3 processes of that name' in ran.noise['text'], '{}', ran.noise['text']
        )


def little_room(mpi, program):
    """Logs of 4 KiB: calls of the wait log are thinned, and preemptions that have no room are summed up, and said."""
    ran, _ = beside_hog(mpi, program, intervals=300, options=('--collectives-max', '4096'))
    said = [p['text'] for p in ran.data['problems']]
    check(any('preemption before some collective calls had no room' in text for text in said), 'not said: {}', said)
    equal(
        'intervals that are known',
        [row['interval_count'] for row in ran.data['noise'] if row['function'] == 'MPI_Allreduce'],
        [0],
    )
    check(
        0 < ran.ranks[1]['cost_s'] <= 1.2 * sum(ran.cost),
        'cost {}, by the program {}',
        ran.ranks[1]['cost_s'],
        sum(ran.cost),
    )
    has_09('preempted', ran.ranks[1]['preempted_s'], ran.off[1])  # sums are whole


def hog(mpi, program):
    ran, pid = beside_hog(mpi, program)
    excess = ran.off[1]
    check(excess > 0.1 * INTERVALS * 0.01, 'the hog took {:.4f} s only', excess)
    has_09('preempted', ran.ranks[1]['preempted_s'], excess)
    longest = ran.delay.index(max(ran.delay))  # others may have disturbed rank 0 for longer
    has_09('before the call', ran.before_allreduce['rank_preempted_s'], max(ran.delay))
    if max(ran.delay) > 1.2 * min(ran.delay) + SLACK:
        equal('the rank', ran.before_allreduce['rank'], longest)
    variance = ran.before_allreduce['variance']
    check(
        variance['preempted_share'] >= 0.9
        and variance['preempted_low'] <= variance['preempted_share'] <= variance['preempted_high'],
        'variance {}',
        variance,
    )
    told_alike(ran)
    return ran, pid


def names_the_hog(ran, pid):
    """By the table of processes: it is named if it had half of what others had there."""
    others = [p for p in ran.data['other_processes'] if p['rank'] is None]
    row = next((p for p in others if p['pid'] == pid), None)
    if row is None and any('unknown' in p['name'] for p in others):
        print(
            '# it is among those that there was no time to look at: {}'.format(
                [p['name'] for p in others if not p['pid']]
            )
        )
        return
    check(row is not None, 'no hog among {}', others)
    equal('its name', row['name'], 'fv_hog')
    check(
        0 < row['cpu_s'] <= ran.hog_s + 2 / os.sysconf('SC_CLK_TCK'),
        'its CPU time: {} s, meanwhile {} s',
        row['cpu_s'],
        ran.hog_s,
    )
    check(',' not in row['processors'] and '-' not in row['processors'], 'it may run on {}', row['processors'])
    there = sum(
        p['cpu_s']
        for p in others
        if p['processors'] is None or row['processors'] in p['processors'] or '-' in p['processors']
    )
    if row['cpu_s'] < 0.55 * max(there, ran.ranks[1]['preempted_s']):
        print(
            '# others had {:.2f} s beside the hog\'s {:.2f} s, of {:.2f} s that the rank lost'.format(
                there - row['cpu_s'], row['cpu_s'], ran.ranks[1]['preempted_s']
            )
        )
        return
    equal('by', ran.ranks[1]['by'], 'fv_hog')
    equal('by', [ran.ranks[1][key] for key in ('by_pid', 'by_count')], [pid, 1])
    if ran.noise['rank'] == 1:  # others may have disturbed rank 0 for longer
        check('`fv_hog`' in ran.noise['text'], '{}', ran.noise['text'])


def finding(ran):
    """By what the program measured: 2 % of the ranks' time are worth one; what is near that may be either."""
    cost = max(sum(ran.cost), sum(ran.delay)) / ran.total
    if cost < 0.015:
        check(ran.noise is None, 'noise took {:.2%}, and is told: {}', cost, ran.noise)
    elif cost > 0.03:
        check(ran.noise is not None, 'noise took {:.2%}, and is not told', cost)
        check(
            ran.noise['evidence'] == 'estimate' and ran.noise['lost_s'] >= 0.85 * sum(ran.cost) - 2 * SLACK,
            '{}',
            ran.noise,
        )
    if ran.noise:  # the rank that is named has most of what the seconds are of
        of = max(([r[key] or 0 for r in ran.ranks] for key in ('preempted_s', 'cost_s')), key=sum)
        close('lost', ran.noise['lost_s'], sum(of), 1e-6 + 1e-6 * sum(of))
        equal('the rank', ran.noise['rank'], of.index(max(of)))
        check('rank {}'.format(ran.noise['rank']) in ran.noise['text'], '{}', ran.noise['text'])
    print(
        '# noise: {:.2%} of the time by the program, {}'.format(
            cost, ran.noise and '{:.2%} by the finding'.format(ran.noise['lost_s'] / ran.total)
        )
    )


def quiet(mpi, program):
    ran = Ran(mpi, program)
    is_known(ran)
    told_alike(ran)
    finding(ran)


def stopped(mpi, program):
    """Stopped for 6 of 30 ms: that is waiting, which is told apart from what others took."""

    def pulses(told, process):
        path = os.path.join(told, 'pid.1')
        while process.poll() is None and not os.path.exists(path):
            time.sleep(0.005)
        time.sleep(0.05)
        while process.poll() is None:
            try:
                pid = int(open(path).read() or 0)
                if not pid:
                    continue
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.006)
                os.kill(pid, signal.SIGCONT)
            except OSError:
                return
            time.sleep(0.024)

    ran = Ran(mpi, program, pulses)
    is_known(ran)
    held, row = ran.off[1] - ran.delay[1], ran.before_allreduce
    check(held > 0.05 * INTERVALS * 0.01, 'it was stopped for {:.4f} s only', held)
    has_09('blocked', row['blocked_s'], held)
    check(
        row['preempted_s'] <= sum(ran.delay) * 1.1 + 2 * SLACK,
        'preempted for {}, by the program {}',
        row['preempted_s'],
        sum(ran.delay),
    )
    if held > 2 * sum(ran.delay):
        check(row['variance']['blocked_share'] > row['variance']['preempted_share'], 'variance {}', row['variance'])
    check(row['variance']['blocked_share'] + row['variance']['preempted_share'] >= 0.9, 'variance {}', row['variance'])
    finding(ran)


class Quota:
    """A control group whose tasks have 60 % of two processors: 24 ms in each 20 ms."""

    def __enter__(self):
        with open('/proc/self/cgroup') as f:
            groups = {line.split(':', 2)[1]: line.strip().split(':', 2)[2] for line in f}
        own = next((names for names in groups if 'cpu' in names.split(',')), '')
        self.path = os.path.join('/sys/fs/cgroup', own, groups[own].lstrip('/'), 'fvmpi-test-{}'.format(os.getpid()))
        try:
            os.mkdir(self.path)
            for name, value in (
                (('cpu.cfs_period_us', 20000), ('cpu.cfs_quota_us', 24000)) if own else (('cpu.max', '24000 20000'),)
            ):
                with open(os.path.join(self.path, name), 'w') as f:
                    f.write(str(value))
        except OSError as error:
            self.__exit__()
            raise harness.Skip('no quota can be set: {}'.format(error)) from None
        self.within = ['sh', '-c', 'echo $$ > "$0"/cgroup.procs && exec "$@"', self.path]
        return self

    def throttled_s(self):
        with open(os.path.join(self.path, 'cpu.stat')) as f:
            stat = dict(line.split() for line in f)
        return int(stat['throttled_usec']) * 1e-6 if 'throttled_usec' in stat else int(stat['throttled_time']) * 1e-9

    def is_gone(self):
        try:
            os.rmdir(self.path)
        except FileNotFoundError:
            pass
        except OSError:
            return False  # a process of the job ends just now
        return True

    def __exit__(self, *_):
        harness.wait_until(self.is_gone, what='that the group is empty')


def quota(mpi, program):
    with Quota() as group:
        ran = Ran(mpi, program, within=group.within)
        most = group.throttled_s()
    if not most:
        raise harness.Skip('others had the processors: the quota was never used up')
    is_known(ran)
    row = ran.before_allreduce
    has_09('preempted', row['preempted_s'], sum(ran.delay))
    # the kernel may take its turn while the program reads its clocks, which is in none of its intervals
    has_09('blocked and preempted', row['preempted_s'] + row['blocked_s'], sum(ran.off))
    for rank in ran.ranks:
        check(
            rank['preempted_s'] <= rank['ready_s'] + SLACK,
            'preempted {}, ready {}',
            rank['preempted_s'],
            rank['ready_s'],
        )
    found = [r['throttled_s'] for r in ran.data['ranks']]
    # on a busy machine the quota may be used up before a rank begins alone
    check(any(found) and all((of or 0) <= most + 1e-6 for of in found), 'throttled {}, the group {} s', found, most)
    equal('noise_ranks', [r['throttled_s'] for r in ran.ranks], found)
    check(ran.noise is not None, 'no finding, of {} s that the ranks were kept from processors', sum(ran.delay))
    if max(found) / 2 > 0.55 * max(r['preempted_s'] for r in ran.ranks):
        check('by the quota of processor time of its control group' in ran.noise['text'], '{}', ran.noise['text'])
    without = next((f for f in ran.data['findings'] if f['name'] == 'no_processor'), None)
    check(without is not None, 'no finding no_processor')
    if sum(found) / 2 > 0.55 * without['lost_s']:
        check(
            'quota of processor time of their control group (cpu.max) was used up' in without['text'],
            '{}',
            without['text'],
        )
    print(
        '# throttled {:.2f} s in all, ranks kept from processors {:.2f} s, finding {}'.format(
            most, sum(ran.delay), without['text']
        )
    )


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        if len(os.sched_getaffinity(0)) < 2:
            with tap.test(str(mpi)):
                raise harness.Skip('a processor for each of two ranks is not here')
            continue
        program, kept = mpi.build(os.path.join(HERE, 'noise.c')), []
        with tap.test('{}: a hog on the processor of rank 1'.format(mpi)):
            kept.append(hog(mpi, program))
        for judge in (names_the_hog, lambda ran, pid: finding(ran)):
            with tap.test('{}: {}'.format(mpi, 'who it was' if judge is names_the_hog else 'the finding')):
                if not kept:
                    raise harness.Skip('no run')
                judge(*kept[0])
        with tap.test('{}: hogs of one name'.format(mpi)):
            hogs(mpi, program)
        with tap.test('{}: a service of the system'.format(mpi)):
            service(program)
        with tap.test('{}: little room'.format(mpi)):
            little_room(mpi, program)
        with tap.test('{}: a rank that is stopped'.format(mpi)):
            stopped(mpi, program)
        with tap.test('{}: a quota of processor time'.format(mpi)):
            quota(mpi, program)
        with tap.test('{}: nobody disturbs'.format(mpi)):
            quiet(mpi, program)
    tap.done()


main()
