#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
# Not under AddressSanitizer: ranks of the second host do not come up under its launcher.
"""Ranks of several hosts merged. Each host is a network, host name, mount and time namespace of this machine, whose
monotonic clock is days away from the others'. After fvunify no message goes backwards, and each interval, also between
hosts, is what CLOCK_REALTIME says, which namespaces share, to 50 us. Where a host's wall clock is wrong, messages say
by how much, to the time that the fastest of them takes. Without a trace collectives say it: waiting is what the TSC
says, which namespaces share."""
import os
import re
import shutil
import signal
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal

UNIFY = os.path.join(harness.BUILD, 'fvunify')
OFFSETS_S = (1000, 100000, 5000000)
WITHIN_NS = 50000
WRONG_NS = 3000000
FAR_NS = 40000000  # longer than a barrier takes, also on a busy machine
LATE_MS = 60
CHUNK = 20  # calls, of which one was not interrupted between the program's clock and ours


def able():
    if os.geteuid() != 0:
        raise Skip('namespaces want root')
    for tool in ('unshare', 'nsenter', 'ip'):
        if not shutil.which(tool):
            raise Skip('no {}; packages util-linux and iproute2'.format(tool))
    if not harness.otf2_python():
        raise Skip('no python3-otf2')


def address(i):
    return '10.77.0.{}'.format(i + 1)


class Hosts:
    """`count` hosts on one bridge. Nothing outside the new namespaces is changed. UCX finds network devices in /sys,
    which shows those of the namespace that mounted it."""

    def __init__(self, count, boot_ids):
        self.where = harness.scratch('hosts')
        self.count, self.boot_ids = count, boot_ids
        self.pids, self.keepers = [], []

    def start(self):
        for i in range(self.count):
            self.enter(i)
        self.connect()

    def enter(self, i):
        pid_file = os.path.join(self.where, address(i) + '.pid')
        boot_id = os.path.join(self.where, 'boot_id{}'.format(i))
        with open(boot_id, 'w') as f:
            f.write('{0}{0}{0}{0}{0}{0}{0}{0}-0000-4000-8000-000000000000\n'.format(i + 1))
        script = (
            'hostname fvhost{} && ip link set lo up && mount -t sysfs sysfs /sys && {{ [ -z "$2" ] || '
            'mount --bind "$2" /proc/sys/kernel/random/boot_id; }} && echo $$ > "$1.new" && mv "$1.new" "$1" '
            '&& exec sleep 300'
        ).format(i)
        command = [
            'unshare',
            '--net',
            '--uts',
            '--mount',
            '--time',
            '--fork',
            '--kill-child',
            '--monotonic',
            str(OFFSETS_S[i]),
            '--boottime',
            str(OFFSETS_S[i]),
            'sh',
            '-c',
            script,
            'sh',
            pid_file,
            boot_id if self.boot_ids else '',
        ]
        keeper = harness.start(command)
        self.keepers.append(keeper)
        harness.wait_until(lambda: os.path.exists(pid_file) or keeper.poll() is not None, what='a host')
        if not os.path.exists(pid_file):
            raise Skip('no namespaces here: ' + keeper.stderr.read().decode().strip())
        with open(pid_file) as f:
            self.pids.append(f.read().strip())

    def inside(self, i, *command):
        done = harness.run(['nsenter', '--target', self.pids[i], '--net'] + list(command))
        if done.rc:
            raise Skip('no network of namespaces here: {}: {}'.format(' '.join(command), done.err.strip()))

    def connect(self):
        """The bridge stands on the first host."""
        self.inside(0, 'ip', 'link', 'add', 'fv0', 'type', 'bridge')
        for i in range(1, len(self.pids)):
            port = 'port{}'.format(i)
            self.inside(0, 'ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'fv0', 'netns', self.pids[i])
            self.inside(0, 'ip', 'link', 'set', port, 'master', 'fv0', 'up')
        for i in range(len(self.pids)):
            self.inside(i, 'ip', 'address', 'add', address(i) + '/24', 'dev', 'fv0')
            self.inside(i, 'ip', 'link', 'set', 'fv0', 'up')

    def environment(self, i, **values):
        with open(os.path.join(self.where, address(i) + '.env'), 'w') as f:
            for name, value in values.items():
                f.write("export {}='{}'\n".format(name, value))

    def run(self, mpi, ranks, command):
        """mpiexec runs on the first host, which has an entry of its own, so that it takes none for local. The programs
        end without MPI_Finalize: whoever is first must not make it kill the others."""
        hosts = ','.join(address(i) for i in range(len(self.pids)))
        enter = os.path.join(harness.PROGRAMS, 'enter_host')
        start = [
            'nsenter',
            '--target',
            self.pids[0],
            '--net',
            '--uts',
            '--mount',
            '--time',
            mpi.exec,
            '-launcher',
            'ssh',
            '-launcher-exec',
            enter,
            '-disable-auto-cleanup',
            '-iface',
            'fv0',
            '-hosts',
            hosts,
            '-n',
            str(ranks),
        ]
        return harness.run(
            start + command, {'FVTEST_HOSTS': self.where, 'UCX_TLS': 'tcp,self', 'UCX_NET_DEVICES': 'fv0'}
        )

    def close(self):
        for keeper in self.keepers:
            keeper.kill()
            keeper.communicate()


def calls_in(archive, ranks):
    """By rank, (function, enter, leave) of the calls that the program noted; and how long each message took."""
    text = harness.otf2_events(archive)
    found, sent, received = [[] for _ in range(ranks)], {}, {}
    for line in text.splitlines():
        what, ns, rank, _, rest = line.split(' ', 4)
        ns, rank = int(ns), int(rank)
        if what == 'enter' and rest in ('MPI_Send', 'MPI_Recv', 'MPI_Barrier'):
            found[rank].append([rest, ns, None])
        elif what == 'leave' and found[rank] and found[rank][-1][2] is None:
            found[rank][-1][2] = ns
        elif what == 'send':
            sent.setdefault((rank, int(rest.split()[1])), []).append(ns)
        elif what == 'receive':
            received.setdefault((int(rest.split()[1]), rank), []).append(ns)
    equal(
        'messages',
        {way: len(times) for way, times in received.items()},
        {way: len(times) for way, times in sent.items()},
    )
    return found, [end - begin for way, times in sent.items() for begin, end in zip(times, received[way])]


def truth_of(path, ranks):
    rows = []
    for rank in range(ranks):
        with open('{}.{}'.format(path, rank)) as f:
            rows.append([(name, int(begin), int(end)) for name, begin, end in (line.split() for line in f)])
    return rows


def fastest(truth):
    """The slower direction's fastest message between ranks 0 and 1: what no one can learn from messages alone."""
    best = []
    for a, b in ((0, 1), (1, 0)):
        sent, received = (
            [row for row in truth[rank] if row[0] == name] for rank, name in ((a, 'MPI_Send'), (b, 'MPI_Recv'))
        )
        equal('messages', len(sent), len(received))
        best.append(min(end[2] - begin[1] for begin, end in zip(sent, received)))
    return max(best)


def spread(found, truth):
    """How far any two points in time are further apart, or nearer, than the program saw. By chunks: the least
    that lies between the program's clock and ours."""
    begins, ends = [], []
    for mine, theirs in zip(found, truth):
        equal('calls', [call[0] for call in mine], [call[0] for call in theirs])
        pairs = list(zip(mine, theirs))
        for at in range(0, len(pairs) - CHUNK + 1, CHUNK):
            chunk = pairs[at : at + CHUNK]
            begins.append(min(call[1] - known[1] for call, known in chunk))
            ends.append(max(call[2] - known[2] for call, known in chunk))
    return max(begins) - min(begins), max(ends) - min(ends)


def merged(directory, *options):
    out = harness.scratch('archive')
    done = harness.run([UNIFY, directory, '-o', out] + list(options)).ended(0)
    checked = harness.run([harness.FVMPI, 'check', '--strict', os.path.join(out, 'traces.otf2')])
    return out, done.err, checked


TRIES = 10  # of three hosts one is lost more often


def ended_first(done):
    """mpiexec lost a host whose ranks had ended, which they do without MPI_Finalize (hosts.c): it wrote to it, which
    ended it or failed its own assertion, or took what a rank's closed connection told, 1, for the signal that ended
    it."""
    signs = r'EXIT STRING: Hangup \(signal 1\)|HYD_pmcd_pmiserv_send_signal .*assert \(!closed\) failed'
    return done.rc == -signal.SIGPIPE or re.search(signs, done.out + done.err)


def run_on_hosts(mpi, count, ranks, boot_ids, wrong, command, options):
    """The experiment."""
    able()
    hosts = Hosts(count, boot_ids)
    try:
        hosts.start()
        if wrong:
            shim = mpi.build('hosts_clock.c', '-shared', '-fPIC', output='hosts_clock.so')
            hosts.environment(wrong[0], LD_PRELOAD=shim, HOSTS_WRONG_NS=wrong[1])
        for _ in range(TRIES):
            directory = os.path.join(harness.scratch('exp'), 'e')
            done = hosts.run(mpi, ranks, mpi.profiled(command, directory, options))
            if not ended_first(done):
                break
        done.ended(0)
    finally:
        hosts.close()
    return directory


def recorded(mpi, count, boot_ids, wrong):
    """The experiment and the truth."""
    known = os.path.join(harness.scratch('truth'), 'truth')
    command = [mpi.build('hosts.c'), known]
    return run_on_hosts(mpi, count, count, boot_ids, wrong, command, ['--trace', '--clock', 'monotonic']), known


def early(mpi, count, boot_ids, wrong):
    """A run in which messages arrive before they are sent. On a busy machine all may take longer than the clock is
    wrong."""
    for _ in range(4):
        directory, known = recorded(mpi, count, boot_ids, wrong)
        if 'receive-before-send' in merged(directory, '--no-correct')[2].out:
            return directory, known
    raise Skip('in 4 runs each message took longer than the {} ms that the clock is wrong'.format(WRONG_NS // 1000000))


def apart(tap, mpi, name, count, boot_ids=True, wrong=None):
    with tap.test('{}: {}'.format(mpi, name)):
        directory, known = (early if wrong else recorded)(mpi, count, boot_ids, wrong)
        report = harness.report_of(directory)
        equal(
            'hosts',
            sorted({entry['host'] for entry in report.data['ranks']}),
            ['fvhost{}'.format(i) for i in range(count)],
        )
        truth = truth_of(known, count)
        archive, said, checked = merged(directory)
        check(checked.rc == 0, 'fvmpi check --strict:\n{}', checked.out[-1500:])
        found, took = calls_in(archive, count)
        check(took and min(took) >= 0, 'a message took {} ns', min(took or [0]))
        begins, ends = spread(found, truth)
        print(
            '# {}: intervals right within {:.1f} us at begins, {:.1f} us at ends; the fastest message took {:.1f} us; {}'.format(
                name, begins / 1e3, ends / 1e3, min(took) / 1e3, said.strip().replace('\n', '; ')
            )
        )
        allowed = WITHIN_NS + (fastest(truth) if wrong else 0)
        check(
            max(begins, ends) <= allowed, 'intervals are wrong by {} and {} ns, allowed are {}', begins, ends, allowed
        )


def as_one_host(directory):
    """The same files, as if all ranks had run since one boot: the TSC is one."""
    copy = os.path.join(harness.scratch('one'), 'e')
    shutil.copytree(directory, copy, ignore=shutil.ignore_patterns('.job'))
    for name in os.listdir(copy):
        if not name.endswith('.fvr'):
            continue
        with open(os.path.join(copy, name), 'r+b') as f:
            header = f.read(4096)
            f.seek(0)
            f.write(
                header.replace(
                    bytes.fromhex('22222222000040008000000000000000'),
                    bytes.fromhex('11111111000040008000000000000000'),
                    1,
                )
            )
    return copy


def waiting(tap, mpi, name, wrong_ns, late):
    with tap.test('{}: waiting of ranks of two hosts, {}'.format(mpi, name)):
        ranks, calls = 4, 40
        command = [mpi.build('hosts_late.c'), str(late), str(LATE_MS if late >= 0 else 0)]
        directory = run_on_hosts(mpi, 2, ranks, True, (1, wrong_ns), command, [])
        found, truth = harness.report_of(directory).data, harness.report_of(as_one_host(directory)).data
        if truth['run']['clock_count'] != 1:
            raise Skip('no TSC to know the truth by')
        equal('clocks', found['run']['clock_count'], 2)
        equal('alignment of one clock', truth['run']['alignment'], None)
        error = found['run']['alignment']['error_s']
        check(error is not None and error < abs(wrong_ns) / 1e9, 'the clocks are aligned to within {} s only', error)
        print(
            '# {}: clocks aligned to within {:.1f} us; {:.1f} ms of {:.1f} ms waiting found'.format(
                name, error * 1e6, found['waiting']['wait_s'] * 1e3, truth['waiting']['wait_s'] * 1e3
            )
        )
        for mine, known in zip(found['ranks'], truth['ranks']):
            check(
                abs(mine['wait_s'] - known['wait_s']) <= calls * error,
                'rank {}: waits {}, but {}; the error is {}',
                known['rank'],
                mine['wait_s'],
                known['wait_s'],
                error,
            )
        # Of two that come last within the error either may be taken for the last, and is charged with all that the
        # others wait.
        delays = [[r['delay_s'] for r in report['ranks']] for report in (found, truth)]
        for mine, known in zip(*(delays if late >= 0 else ([sum(d)] for d in delays))):
            check(
                abs(mine - known) <= ranks * calls * error, 'delays of {}, but {}; the error is {}', mine, known, error
            )
        if late >= 0:
            equal('who came last', found['waiting']['culprits'][0]['rank'], late)


def main():
    tap = harness.Tap()
    if not os.path.exists(UNIFY + '-serial'):
        with tap.test('fvunify'):
            raise Skip('built without OTF2')
        tap.done()
    for mpi in harness.mpis(tap):
        if str(mpi) != 'mpich':
            continue
        apart(tap, mpi, 'two time namespaces of one boot', 2, boot_ids=False)
        apart(tap, mpi, 'three hosts', 3)
        apart(tap, mpi, 'a wall clock that is behind', 2, wrong=(1, -WRONG_NS))
        waiting(tap, mpi, 'a wall clock ahead', FAR_NS, -1)
        waiting(tap, mpi, 'the last one behind a wall clock ahead', FAR_NS, 3)
        if harness.all_cases():  # the same, with less or the other way round
            apart(tap, mpi, 'two hosts', 2)
            apart(tap, mpi, 'a wall clock that is ahead', 2, wrong=(1, WRONG_NS))
            waiting(tap, mpi, 'a wall clock behind', -FAR_NS, -1)
            waiting(tap, mpi, 'the last one on the other host', -FAR_NS, 1)
    tap.done()


main()
