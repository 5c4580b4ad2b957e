#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi record, fvmpi label and fvmpi stat --from, on trees of files that stand in for a machine's /proc and /sys: what
is recorded and read back, after a kill, too; files of others; the command that runs meanwhile; rotation; full disks;
commands by the FIFO, and whatever else is written into it. Times are compared with times of the same run only."""
import atexit
import csv
import io
import json
import os
import random
import signal
import stat as modes
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal
from trees import NODE, tree, write

LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics
BYTES = 'sys/class/net/eth0/statistics/rx_bytes'


class Recording:
    """`fvmpi record` in a directory of its own, where its file is called f."""

    def __init__(self, root, *words, command=(), control=False, shell=None):
        self.directory = harness.scratch('recording')
        self.file, self.fifo = os.path.join(self.directory, 'f'), os.path.join(self.directory, 'c')
        line = (
            [harness.FVMPI, 'record', '-o', 'f', *words]
            + (['--control', 'c'] if control else [])
            + (['--', *command] if command else [])
        )
        if shell:
            line = ['sh', '-c', shell + ' exec "$@"', 'sh'] + line
        self.process = harness.start(line, env={'FVMPI_SENSORS_ROOT': root} if root else None, cwd=self.directory)

    def whole(self):
        """Lines that are there by now, but one that is not whole; of all files."""
        found = []
        for name in sorted(n for n in os.listdir(self.directory) if n == 'f' or n.startswith('f.')):
            with open(os.path.join(self.directory, name), 'rb') as f:
                found += [json.loads(line) for line in f.read().split(b'\n')[:-1]]
        return found

    def until(self, condition, what):
        def ask():
            check(self.process.poll() is None, 'it has ended: {}', self.process.returncode)
            return condition(self.whole())

        return harness.wait_until(ask, what=what)

    def sampled(self):
        """What is there now is in a sample that is in the file. Monotonic clocks are one."""
        now = time.monotonic()
        self.until(
            lambda lines: any(
                'values' in line and lines[0]['start_monotonic_ns'] * 1e-9 + line['time_s'] > now for line in lines
            ),
            'a sample',
        )
        return self.whole()

    def say(self, data):
        with open(self.fifo, 'wb', buffering=0) as f:
            f.write(data)

    def end(self, sig=signal.SIGINT, rc=0):
        os.kill(self.process.pid, sig)
        return self.ended(rc)

    def ended(self, rc=0):
        self.run = harness.finish(self.process).ended(rc)
        return self.whole()


def samples(lines):
    return [line for line in lines if 'values' in line]


def times_of(lines, series):
    """Of each value: the time that it is of, and itself."""
    last, found = 0, []
    for line in lines:
        if line.get('paused') is False:
            last = line['time_s']
        if 'values' in line and line['values'][series] is not None:
            found.append((line['time_s'] - last, line['values'][series]))
            last = line['time_s']
    return found


def total(lines, series):
    return sum(seconds * value for seconds, value in times_of(lines, series))


def stat(path, *words, rc=0, said=''):
    run = harness.run([harness.FVMPI, 'stat', '--from', path, *words]).ended(rc)
    check(said in run.err and (said or not run.err), '{} in {}', said, run.err)
    return run.out


def rows(out):
    return list(csv.DictReader(io.StringIO(out)))


# ---- what is recorded ----


def recorded(tap):
    with tap.test('the header, values, and the end'):
        lines = Recording(
            tree(NODE), '-i', '0.1', '-n', '3', 'net.rx_bytes@*', 'meminfo.MemTotal', 'vmstat.pgfault', 'temperature'
        ).ended()
        header, end = lines[0], lines[-1]
        equal(
            'schema',
            (header['schema'], header['file'], header['interval_s'], header['command']),
            ('fvmpi-record-1', 1, 0.1, None),
        )
        equal('machine', (header['host'], header['kernel']), (os.uname().nodename, 'Linux ' + os.uname().release))
        with open('/proc/sys/kernel/random/boot_id') as f:
            equal('boot', header['boot_id'], f.read().strip().replace('-', ''))
        equal(
            'series',
            header['series'][0],
            {
                'label': 'net.rx_bytes@eth0',
                'sensor': 'net',
                'event': 'rx_bytes',
                'source': 'eth0',
                'unit': 'bytes',
                'about': 'Bytes received.',
                'kind': 'counter',
            },
        )
        equal(
            'another',
            header['series'][2],
            {
                'label': 'meminfo.MemTotal',
                'sensor': 'meminfo',
                'event': 'MemTotal',
                'source': None,
                'unit': 'bytes',
                'about': 'Memory that the kernel manages.',
                'kind': 'gauge',
            },
        )
        equal('first', samples(lines)[0]['values'][:5], [0, 0, 2 << 20, 0, 45])
        equal('what is not there', samples(lines)[0]['values'][5:], [None] * 3)
        equal('the end', (end['end'], end['samples']), ('count', 3))
        check(0 < end['cpu_s'] < end['time_s'] + 1 and end['memory_bytes'] > 0, '{}', end)
        clocks = header['start_realtime_ns'] - header['start_monotonic_ns'], time.time_ns() - time.monotonic_ns()
        check(abs(clocks[0] - clocks[1]) < 60e9, 'clocks {}', clocks)
    with tap.test('rates in true time add up to what was counted; gauges that fall, small and negative numbers'):
        root = tree(
            dict(
                NODE,
                **{'sys/class/hwmon/hwmon0/temp1_input': '-12345\n', 'sys/class/hwmon/hwmon1/temp1_input': '-12345\n'},
            )
        )
        recording = Recording(
            root,
            '-i',
            '0.005',
            '--budget',
            '100',
            'net.rx_bytes@eth0',
            'vmstat.nr_free_pages',
            'temperature.temp1_input',
            'energy',
        )
        recording.sampled()
        for n in range(2, 30):
            write(root, BYTES, '{}\n'.format(1000 * n))
            time.sleep(random.random() / 50)
        write(root, 'sys/class/powercap/intel-rapl:0/energy_uj', '262143000001\n')
        write(root, 'proc/vmstat', 'nr_free_pages 400\npgfault 5000\npgmajfault 7\n')
        recording.sampled()
        lines = recording.end()
        close('bytes', total(lines, 0), 28000, 0.1)
        equal('a gauge', (samples(lines)[0]['values'][1], samples(lines)[-1]['values'][1]), (1000, 400))
        equal('negative', {s['values'][2] for s in samples(lines)} - {None}, {-12.345})
        close('a millionth', total(lines, 3), 1e-6, 1e-12)
    with tap.test('times: samples are due at the start and so many intervals, and are late by what they say'):
        for line in samples(lines):
            due = (
                line['time_s'] - line['late_s'] - (samples(lines)[0]['time_s'] - samples(lines)[0]['late_s'])
            ) / 0.005
            check(abs(due - round(due)) < 1e-3 or line is samples(lines)[-1], '{} of {}', due, line)
        times = [0] + [line['time_s'] for line in samples(lines)]
        check(all(b > a for a, b in zip(times, times[1:])), '{}', times)
        equal('late ones', lines[-1]['late'], sum(line['late_s'] > 0.0025 for line in samples(lines)))
    with tap.test('what is dear, or slow, is read by some samples only'):
        recording = Recording(tree(NODE), '-i', '0.01', '-n', '48', '--budget', '100', 'net.rx_bytes', 'interrupts.LOC')
        lines = recording.ended()
        equal('every', {s['name']: s['every'] for s in lines[0]['sensors']}, {'net': 1, 'interrupts': 16})
        equal('read', [i for i, s in enumerate(samples(lines), 1) if s['values'][1] is not None], [16, 32, 48])
        lines = Recording(tree(NODE), '-i', '0.001', '-n', '20', '--budget', '0.1', 'net.rx_bytes').ended()
        every = lines[0]['sensors'][0]['every']
        check(
            every & (every - 1) == 0 and every * 1e-6 >= lines[0]['sensors'][0]['cost_s'] * (1 - 1e-5),
            'the least power of 2 that the budget allows: {}',
            lines[0]['sensors'],
        )
        check(
            every == 1 or every * 1e-6 / 2 < lines[0]['sensors'][0]['cost_s'],
            'the least power of 2 that the budget allows: {}',
            lines[0]['sensors'],
        )
        check(
            len(samples(lines)) == 20 and all(s['values'][0] is not None for s in samples(lines)),
            'a sample without any: {}',
            samples(lines),
        )


# ---- files ----


def files(tap):
    root = tree(NODE)

    def refused(why, prepare, *words, rc=1):
        directory = harness.scratch('refused')
        prepare(directory)
        before = {n: os.lstat(os.path.join(directory, n)).st_mtime_ns for n in os.listdir(directory)}
        run = harness.run(
            [harness.FVMPI, 'record', '-i', '0.01', '-n', '1', *words], env={'FVMPI_SENSORS_ROOT': root}, cwd=directory
        ).ended(rc)
        check(why in run.err and run.err.count('\n') == 1, '{}: {}', words, run.err)
        equal(
            'left as they were',
            {n: os.lstat(os.path.join(directory, n)).st_mtime_ns for n in os.listdir(directory)},
            before,
        )

    def put(name, text='theirs'):
        def prepare(directory):
            with open(os.path.join(directory, name), 'w') as f:
                f.write(text)

        return prepare

    with tap.test('no file of others is written to, no link followed'):
        refused('f: File exists', put('f'), '-o', 'f')
        refused('f: File exists', lambda d: os.symlink('nowhere', os.path.join(d, 'f')), '-o', 'f')
        refused('File exists', lambda d: None, '-o', '/dev/full')
        refused('No such file', lambda d: None, '-o', 'no/f')
        refused('Not a directory', put('no'), '-o', 'no/f')
        refused('too long', lambda d: None, '-o', 'x' * 300)
        refused('c: File exists', put('c'), '--control', 'c')
        refused('c: File exists', lambda d: os.symlink('nowhere', os.path.join(d, 'c')), '--control', 'c')
        refused('.control: File exists', put('.control'), '--control', '.')
    with tap.test('the name that a file has, unless given, is new each time'):
        directory = harness.scratch('named')
        for _ in range(3):
            harness.run(
                [harness.FVMPI, 'record', '-q', '-i', '0.001', '-n', '1'],
                env={'FVMPI_SENSORS_ROOT': root},
                cwd=directory,
            ).ended(0)
        names = os.listdir(directory)
        check(
            len(names) == 3
            and all(
                n.startswith('fvmpi-record-{}-2'.format(os.uname().nodename)) and n.endswith('.jsonl') for n in names
            ),
            '{}',
            names,
        )
    with tap.test('wrong words have one line each'):
        for words, said in (
            (['-i', '0'], '--interval takes'),
            (['-n', '0'], '--count takes'),
            (['--rotate', 'x'], '--rotate takes'),
            (['--rotate', '1k'], '--rotate takes'),
            (['--keep', '2'], 'needs --rotate'),
            (['--budget', '101'], '--budget takes'),
            (['--'], 'the command is missing'),
            (['nothing.here'], 'no such sensor'),
        ):
            refused(said, lambda d: None, *words, rc=2)
        refused('not on this machine', lambda d: None, 'cxi', rc=1)
    with tap.test('where there is no room it says so, and what there is is whole'):
        recording = Recording(root, '-i', '0.001', '--budget', '100', '*', shell='ulimit -f 40;')
        lines = recording.ended(1)
        check(
            'f: File too large; it has what was recorded until now' in recording.run.err
            and recording.run.err.count('\n') == 1,
            '{}',
            recording.run.err,
        )
        with open(recording.file, 'rb') as f:
            check(f.read().endswith(b'}\n') and samples(lines), 'whole lines')
        stat(recording.file, said='the recording has no end')
        recording = Recording(
            root,
            '-i',
            '0.001',
            '--budget',
            '100',
            '*',
            shell='ulimit -f 40;',
            command=['sh', '-c', 'while ! grep -q values f; do sleep 0.01; done; sleep 3; echo on; exit 5'],
        )
        recording.ended(5)
        equal('the command goes on', recording.run.out, 'on\n')
    with tap.test('no room for the first line: no file, and no command'):
        recording = Recording(root, '--per-source', '*', shell='ulimit -f 1;', command=['echo', 'began'])
        recording.process.wait()
        run = harness.finish(recording.process).ended(1)
        equal('nothing', (run.out, os.listdir(recording.directory)), ('', []))


def another(tap):
    root = tree(NODE)
    with tap.test('another recording at will: the first one has its end, the second one its begin'):
        recording = Recording(root, '-i', '0.005', '--budget', '100', 'net.rx_bytes@eth0', control=True)
        recording.until(lambda lines: len(samples(lines)) > 2, 'samples')
        recording.say(b'label first\nrecord f.second\nlabel second\n')
        recording.until(lambda lines: {'second'} <= {line.get('label') for line in lines}, 'the label')
        recording.say(b'record f\n')  # which is there
        lines = recording.end()
        both = [recording.file, recording.file + '.second']
        first, second = ([json.loads(line) for line in open(name)] for name in both)
        equal('files', sorted(os.listdir(recording.directory)), ['f', 'f.second'])
        equal('begins', [part[0]['schema'] for part in (first, second)], 2 * ['fvmpi-record-1'])
        equal('ends', [part[-1]['end'] for part in (first, second)], ['record', 'signal'])
        equal(
            'labels',
            [[line['label'] for line in p if 'label' in line] for p in (first, second)],
            [['first'], ['second']],
        )
        equal(
            'samples',
            [part[-1]['samples'] for part in (first, second)],
            [len(samples(part)) for part in (first, second)],
        )
        check(second[0]['start_monotonic_ns'] > first[0]['start_monotonic_ns'], '{}', second[0])
        check('record: f: File exists; no file is overwritten' in recording.run.err, '{}', recording.run.err)
        for name, part in zip(both, (first, second)):
            equal('read', len(rows(stat(name, '--csv'))), len(samples(part)) + 1)


def rotation(tap):
    root = tree(NODE)
    with tap.test('rotation: each file can be read by itself, together they have every sample'):
        recording = Recording(root, '-i', '0.001', '--budget', '100', '--rotate', '8k', 'vmstat', 'net', control=True)
        recording.until(lambda lines: sum('schema' in line for line in lines) > 2, 'a third file')
        before = len(samples(recording.whole()))
        recording.say(b'rotate\nrotate\n')
        recording.until(lambda lines: len(samples(lines)) > 2 * before, 'twice as many samples')
        lines = recording.end()
        names = sorted(os.listdir(recording.directory))
        check(len(names) > 3 and names[:2] == ['f', 'f.0002'], '{}', names)
        equal('headers', [line['file'] for line in lines if 'schema' in line], list(range(1, len(names) + 1)))
        equal('where it goes on', [line['continued'] for line in lines if 'continued' in line], names[1:])
        count = lines[-1]['samples']
        equal('samples', len(samples(lines)), count)
        times = [line['time_s'] for line in samples(lines)]
        equal('in order', times, sorted(times))
        longest = max(len(json.dumps(line)) for line in samples(lines))
        sizes = [os.path.getsize(os.path.join(recording.directory, n)) for n in names]
        check(all(size < 8192 + longest + 100 for size in sizes), '{}', sizes)
        equal('read', len(rows(stat(recording.file, '--csv'))), count)
        equal(
            'from the second on',
            len(rows(stat(recording.file + '.0002', '--csv'))),
            count - len(samples([json.loads(x) for x in open(recording.file)])),
        )
        summary = rows(stat(recording.file + '.0002', '--csv', '--summary', 'vmstat.nr_free_pages'))
        equal('the mean of what stands', float(summary[0]['mean']), 1000)
    with tap.test('so many files are kept'):
        recording = Recording(
            root, '-i', '0.001', '--budget', '100', '-n', '500', '--rotate', '4k', '--keep', '2', 'vmstat', 'net'
        )
        recording.ended()
        names = sorted(os.listdir(recording.directory))
        check(len(names) == 2 and names[0] != 'f', '{}', names)
        check(
            '500 samples, of which the last are in {} to {}, '.format(*names) in recording.run.err
            and 'fvmpi stat --from {} prints'.format(names[0]) in recording.run.err,
            '{}',
            recording.run.err,
        )
        stat(os.path.join(recording.directory, names[0]))
        os.remove(os.path.join(recording.directory, names[1]))
        stat(os.path.join(recording.directory, names[0]), said=names[1] + ': the recording continues there')
    with tap.test('a file of others in the place of the next one stays, and one in the place of the oldest'):
        recording = Recording(root, '-i', '0.01', 'vmstat', control=True)
        with open(recording.file + '.0002', 'w') as f:
            f.write('{}\n')
        harness.wait_until(lambda: os.path.exists(recording.fifo), what='the FIFO')
        recording.say(b'rotate\n')
        recording.ended(1)
        check(
            'f.0002: File exists' in recording.run.err and open(recording.file + '.0002').read() == '{}\n',
            '{}',
            recording.run.err,
        )
        recording = Recording(root, '-i', '0.01', '--rotate', '1G', '--keep', '1', 'vmstat', control=True)
        recording.until(samples, 'a sample')
        os.rename(recording.file, recording.file + 'moved')
        with open(recording.file, 'w') as f:
            f.write('{}\n')
        recording.say(b'rotate\n')
        recording.until(lambda lines: any(line.get('file') == 2 for line in lines), 'the second file')
        recording.end()
        equal('stays', open(recording.file).read(), '{}\n')


def killed(tap):
    root = tree(NODE)
    with tap.test('killed at any moment, it can be read'):
        for _ in range(8 if LONG else 3):
            recording = Recording(root, '-i', '0.001', '--budget', '100', '--rotate', '64k', '*')
            harness.wait_until(
                lambda: os.path.exists(recording.file) and os.path.getsize(recording.file), what='the first line'
            )
            time.sleep(random.random() * 2)
            os.kill(recording.process.pid, signal.SIGKILL)
            harness.finish(recording.process)
            names = sorted(os.listdir(recording.directory))
            text = b''.join(open(os.path.join(recording.directory, name), 'rb').read() for name in names)
            lines = [json.loads(line) for line in text.split(b'\n')[:-1]]
            equal('read', len(rows(stat(recording.file, '--csv', said='was killed'))), len(samples(lines)))
    with tap.test('a last line that is torn is told, wherever'):
        recording = Recording(root, '-i', '0.001', '-n', '5', 'net')
        recording.ended()
        with open(recording.file, 'rb') as f:
            whole = f.read()
        begin = whole.rindex(b'\n', 0, whole.rindex(b'{"end"') - 1) + 1
        for end in range(begin + 1, whole.index(b'\n', begin)):
            with open(recording.file, 'wb') as f:
                f.write(whole[:end])
            equal('samples', len(rows(stat(recording.file, '--csv', said='its last line is torn'))), 4)
    with tap.test('signals that end it end it well'):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            recording = Recording(root, '-i', '0.01', 'net')
            recording.until(samples, 'a sample')
            lines = recording.end(sig)
            equal('the end', (lines[-1]['end'], lines[-1]['samples']), ('signal', len(samples(lines))))
            check('{} samples in f'.format(len(samples(lines))) in recording.run.err, '{}', recording.run.err)


# ---- the command ----


def command(tap):
    root = tree(NODE)
    with tap.test('the command: its output, its exit status, its signals'):
        recording = Recording(root, '-q', '-i', '0.01', 'net', command=['sh', '-c', 'echo out; echo err >&2; exit 7'])
        lines = recording.ended(7)
        equal('output', (recording.run.out, recording.run.err), ('out\n', 'err\n'))
        equal(
            'the end',
            (lines[-1]['end'], lines[0]['command']),
            ('command', ['sh', '-c', 'echo out; echo err >&2; exit 7']),
        )
        check(samples(lines), 'a short command has a sample, too')
        recording = Recording(root, '-q', '-i', '0.01', 'net', command=['sh', '-c', 'kill -SEGV $$'])
        recording.ended(128 + signal.SIGSEGV)
        recording = Recording(root, 'net', command=['/no/such/program'])
        recording.ended(127)
        check('/no/such/program: cannot start it' in recording.run.err, '{}', recording.run.err)
    with tap.test('what is sent to it is handed on, and it waits for the command'):
        recording = Recording(
            root,
            '-i',
            '0.01',
            'net',
            command=['sh', '-c', 'trap "sleep 0.1; exit 9" TERM; echo ready; while :; do sleep 0.01; done'],
        )
        equal('ready', recording.process.stdout.readline(), b'ready\n')
        lines = recording.end(signal.SIGTERM, rc=9)
        equal('the end', lines[-1]['end'], 'command')
    with tap.test('signals that are ignored, or blocked, in the command are those of before'):
        seen = 'grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status'
        plain = harness.run(['sh', '-c', seen]).ended(0).out
        recording = Recording(root, '-q', 'net', command=['sh', '-c', seen])
        recording.ended()
        equal('signals', recording.run.out, plain)
    with tap.test('so many samples, and the command goes on'):
        recording = Recording(
            root,
            '-i',
            '0.01',
            '-n',
            '2',
            'net',
            control=True,
            command=[
                'sh',
                '-c',
                'while ! grep -q \'e[n]d"\' f || [ -e c ]; do sleep 0.01; done; fv=$(ls); echo $fv; exit 3',
            ],
        )
        lines = recording.ended(3)
        equal('the end', (lines[-1]['end'], len(samples(lines)), recording.run.out), ('count', 2, 'f\n'))


# ---- the FIFO ----


def labels(lines):
    return [line['label'] for line in lines if 'label' in line]


def label(*words, rc=0, said='', env=None, cwd=None):
    run = harness.run([harness.FVMPI, 'label', *words], env=env, cwd=cwd).ended(rc)
    check(said in run.err and run.err.count('\n') == bool(said), '{}: {}', words, run.err)


def no_sensors(tap):
    with tap.test('a label for a run that reads no sensors: what would'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        harness.run([harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', 'true']).ended(0)
        label('x', directory, rc=1, said='start it with fvmpi run --sensors LIST')
        label('x', os.path.join(directory, '..'), rc=1, said='start fvmpi record with this --control')


def control(tap):
    root = tree(NODE)
    with tap.test('labels: what they say is what is read'):
        recording = Recording(root, '-i', '0.01', 'net', control=True)
        harness.wait_until(lambda: os.path.exists(recording.fifo), what='the FIFO')
        equal('for its user alone', modes.S_IMODE(os.stat(recording.fifo).st_mode), 0o600)
        texts = ['plain', 'größe "x" \\ \\n \t 漢字', '  within   ', "a'b;$(c)", 'x' * 4089, '\U0001f600']
        for text in texts:
            label('--', text, recording.fifo)
        wanted = [t.strip().replace('\t', '\\x09') for t in texts]
        recording.until(lambda lines: len(labels(lines)) == len(texts), 'the labels')
        label('by the variable', env={'FVMPI_CONTROL': recording.fifo})
        recording.say(b'label bytes \xff\xfe\x01\n')
        recording.until(lambda lines: len(labels(lines)) == len(texts) + 2, 'the label')
        lines = recording.end()
        equal('labels', labels(lines), wanted + ['by the variable', 'bytes \\xff\\xfe\\x01'])
        check(not os.path.exists(recording.fifo), 'the FIFO is removed')
        out = stat(recording.file, '--csv')
        equal('printed', [row['label'] for row in rows(out) if row['label']], labels(lines))
        check(' # größe "x"' in stat(recording.file), 'in text')
    with tap.test('what was handed over before the end is in the recording'):
        for i in range(10):
            recording = Recording(
                root, 'net', control=True, command=['sh', '-c', '"$0" label one; "$0" label two', harness.FVMPI]
            )
            equal('labels', labels(recording.ended()), ['one', 'two'])
        recording = Recording(root, '-i', '0.01', 'net', control=True)
        recording.until(samples, 'a sample')
        os.kill(recording.process.pid, signal.SIGSTOP)  # so that all is there when it looks
        os.waitid(os.P_PID, recording.process.pid, os.WSTOPPED)
        for name in 'abcdef':
            label(name * 3000, recording.fifo)
        os.kill(recording.process.pid, signal.SIGTERM)
        lines = recording.end(signal.SIGCONT)
        equal('labels', [text[0] for text in labels(lines)], list('abcdef'))
    with tap.test('label says what is wrong, in a line'):
        directory = harness.scratch('labels')
        fifo, plain = os.path.join(directory, 'fifo'), os.path.join(directory, 'plain')
        os.mkfifo(fifo)
        open(plain, 'w').close()
        os.symlink(fifo, os.path.join(directory, 'link'))
        for words, rc, said in (
            (['x', fifo], 1, 'no recording reads it'),
            (['x', plain], 1, 'not a FIFO'),
            (['x', directory], 1, '/.control: not there'),
            (['x', os.path.join(directory, 'link')], 1, 'Too many levels'),
            (['a\nb', fifo], 2, 'a label is one line'),
            (['x' * 4090, fifo], 2, 'longer than 4089'),
            (['', fifo], 2, 'it is empty'),
            (['  ', fifo], 2, 'it is empty'),
            (['x'], 2, 'no FIFO: name it'),
            (['two', 'words', 'more'], 2, 'quote it'),
            ([], 2, 'one is needed'),
        ):
            label(*words, rc=rc, said=said)
        equal('nothing is written', os.path.getsize(plain), 0)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        try:
            while True:
                os.write(writer, b'x' * 4096)
        except BlockingIOError:
            label('x', fifo, rc=1, said='it is full')
        os.close(reader)
        os.close(writer)
    with tap.test('the FIFO in a directory, the one that a kill left, and one that is in use'):
        recording = Recording(
            root,
            '-i',
            '0.01',
            '--control',
            '.',
            'net',
            command=[
                'sh',
                '-c',
                '"$0" label within; "$0" label by . ; while ! grep -q by f; do sleep 0.01; done',
                harness.FVMPI,
            ],
        )
        equal('labels', labels(recording.ended()), ['within', 'by'])
        first = Recording(root, '-i', '0.01', 'net', control=True)
        first.until(samples, 'a sample')
        used = harness.run(
            [harness.FVMPI, 'record', '-o', 'g', '-n', '1', '--control', first.fifo], cwd=first.directory
        ).ended(1)
        check('c: File exists; it is not overwritten' in used.err, '{}', used.err)
        os.kill(first.process.pid, signal.SIGKILL)
        harness.finish(first.process)
        check(os.path.exists(first.fifo), 'it is left')
        harness.run(
            [harness.FVMPI, 'record', '-o', 'g', '-i', '0.01', '-n', '1', '--control', first.fifo], cwd=first.directory
        ).ended(0)
        check(not os.path.exists(first.fifo), 'it was replaced, and removed')
    with tap.test('pause: nothing is read, and what is counted meanwhile is in no rate'):
        root = tree(NODE)
        grid = '           CPU0       CPU1\nLOC:        {}        200   Local timer interrupts\n'
        recording = Recording(
            root, '-i', '0.005', '--budget', '100', 'net.rx_bytes@eth0', 'interrupts.LOC', control=True
        )  # the second is read by every 32nd sample
        recording.sampled()
        write(root, BYTES, '2000\n')
        write(root, 'proc/interrupts', grid.format(150))
        read = lambda lines: sum(s['values'][1] is not None for s in samples(lines))
        count = read(recording.sampled())
        recording.until(lambda lines: read(lines) > count, 'a reading of interrupts')
        recording.say(b'pause\npause\n')
        recording.until(lambda lines: lines[-1].get('paused'), 'the pause')
        write(root, BYTES, '900000\n')
        write(root, 'proc/interrupts', grid.format(70000))
        recording.say(b'label meanwhile\n')
        recording.until(lambda lines: labels(lines), 'the label')
        recording.say(b'resume\nresume\n')
        recording.sampled()
        write(root, BYTES, '900500\n')
        write(root, 'proc/interrupts', grid.format(70030))
        count = read(recording.sampled())
        recording.until(lambda lines: read(lines) > count, 'a reading of interrupts')
        lines = recording.end()
        close('bytes', total(lines, 0), 1500, 0.01)
        close('interrupts', total(lines, 1), 80, 0.01)
        kinds = [
            'values' if 'values' in line else 'label' if 'label' in line else line.get('paused') for line in lines[1:-1]
        ]
        equal('what is in the pause', kinds[kinds.index(True) : kinds.index(False) + 1], [True, 'label', False])
        equal('once each', (kinds.count(True), kinds.count(False)), (1, 1))
    with tap.test('another interval, from then on'):
        recording = Recording(root, '-i', '3600', '--budget', '100', 'net', 'interrupts.LOC', control=True)
        harness.wait_until(lambda: os.path.exists(recording.fifo), what='the FIFO')
        recording.say(b'interval 0.004\n')
        recording.until(lambda lines: len(samples(lines)) > 20, 'samples')
        recording.say(
            b'interval 0.2\ninterval 0\ninterval 0.0009\ninterval 86401\ninterval\ninterval 1e3\ninterval nan\n'
        )
        count = len(recording.whole())
        recording.sampled()
        lines = recording.end()
        changes = [line for line in lines[1:] if 'interval_s' in line]
        equal(
            'intervals',
            [(c['interval_s'], [s['every'] for s in c['sensors']]) for c in changes],
            [(0.004, [1, 32]), (0.2, [1, 1])],
        )
        equal('others are none', recording.run.err.count('fvmpi: record: control: interval'), 6)
        begin = lines.index(changes[0])
        for line in lines[begin + 1 : lines.index(changes[1])]:
            due = (line['time_s'] - line['late_s'] - changes[0]['time_s']) / 0.004
            check(abs(due - round(due)) < 1e-3 and due > 0.5, '{}', line)


def garbage(tap):
    root = tree(NODE)
    random.seed(int(os.environ.get('FVMPI_TEST_SEED', '18')))
    with tap.test('pieces of lines, many lines at once, and lines that are too long'):
        recording = Recording(root, '-i', '0.01', 'net', control=True)
        recording.until(samples, 'a sample')
        for piece in (
            b'lab',
            b'el one\nlabel two\r\n\n  \n\tlabel three\nla',
            b'bel four\n',
            b'label ' + b'x' * 10000,
            b'y' * 5000 + b'\n',
            b'pausenot\nlabel\nresume now\n',
            b'label \x00nul\n',
            b'label last\n',
        ):
            recording.say(piece)
        recording.until(lambda lines: 'last' in labels(lines), 'the last one')
        lines = recording.end()
        equal('labels', labels(lines), ['one', 'two', 'three', 'four', 'x' * 4089, 'nul', 'last'])
        for said in (
            'control: pausenot: no such command',
            'control: label: its value is missing',
            'control: resume now: this command takes nothing',
            'the label is cut',
        ):
            check(said in recording.run.err, '{} in {}', said, recording.run.err)
    with tap.test('whatever bytes'):
        recording = Recording(root, '-i', '0.01', 'net', control=True)
        recording.until(samples, 'a sample')
        for _ in range(150):
            kind = random.randrange(3)
            data = bytes(random.randrange(256) for _ in range(random.randrange(2000)))
            if kind == 1:
                data = b'label ' + data
            if kind == 2:
                data = b' '.join(
                    random.choice(
                        [b'label', b'pause', b'resume', b'interval', b'0.01', b'\n', b'1e999', b'-1', b'\x00', b'%s%n']
                    )
                    for _ in range(50)
                )
            recording.say(data + random.choice([b'', b'\n']))
        recording.say(b'\nlabel last\nresume\ninterval 0.01\n')
        recording.until(lambda lines: 'last' in labels(lines) and lines[-1].get('values'), 'the last one, and a sample')
        recording.end()
        stat(recording.file)
        said = recording.run.err.count('\n')
        check(said == 8 + 1, '{} lines: {}', said, recording.run.err[:3000])
    with tap.test('many writers: each line is whole, and none is lost'):
        recording = Recording(root, '-i', '0.001', '--budget', '100', 'net', control=True)
        recording.until(samples, 'a sample')
        script = 'import sys\nf = open(sys.argv[1], "wb", buffering=0)\nfor i in range(200): f.write(b"label %s-%d %s\\n" % (sys.argv[2].encode(), i, sys.argv[2].encode() * 300))'
        writers = [harness.start([sys.executable, '-c', script, recording.fifo, name]) for name in 'abcdef']
        for writer in writers:
            harness.finish(writer).ended(0)
        recording.until(lambda lines: len(labels(lines)) == 1200, 'the labels')
        lines = recording.end()
        equal(
            'labels',
            sorted(labels(lines)),
            sorted('{}-{} {}'.format(n, i, n * 300) for n in 'abcdef' for i in range(200)),
        )
        equal('nothing else', recording.run.err.count('control:'), 0)


# ---- read back ----


def read_back(tap):
    root = tree(NODE)
    recording = Recording(
        root, '-i', '0.005', '--budget', '100', 'net.rx_bytes', 'vmstat.nr_free_pages', 'pressure.some@*', control=True
    )
    for n in range(1, 15):
        write(root, BYTES, '{}\n'.format(1000 + n * n * 100))
        write(root, 'proc/vmstat', 'nr_free_pages {}\npgfault 5000\n'.format(1000 - n * n))
        time.sleep(random.random() / 50)
    recording.sampled()
    recording.say(b'pause\nresume\n')
    recording.until(lambda lines: any(line.get('paused') is False for line in lines), 'the pause')
    recording.sampled()
    lines = recording.end()
    with tap.test('the samples, as CSV and as text; some events'):
        read = [row for row in rows(stat(recording.file, '--csv')) if not row['label']]
        equal(
            'values',
            [[float(row[k]) if row[k] else None for k in list(row)[2:-1]] for row in read],
            [s['values'] for s in samples(lines)],
        )
        equal('times', [row['time_s'] for row in read], ['{:.6f}'.format(s['time_s']) for s in samples(lines)])
        equal(
            'columns',
            list(read[0]),
            [
                'time_s',
                'late_s',
                'net.rx_bytes',
                'vmstat.nr_free_pages',
                'pressure.some@cpu',
                'pressure.some@io',
                'label',
            ],
        )
        equal(
            'chosen',
            list(rows(stat(recording.file, '--csv', '-n', '2', 'pressure', 'net'))[0])[2:-1],
            ['pressure.some@cpu', 'pressure.some@io', 'net.rx_bytes'],
        )
        equal('by source', list(rows(stat(recording.file, '--csv', '*@io'))[0])[2:-1], ['pressure.some@io'])
        equal('headings', stat(recording.file, '-n', '2', 'vmstat.nr*').split()[:2], ['time_s', 'vmstat.nr_free_pages'])
        stat(recording.file, 'net.rx_byte', rc=2, said='did you mean net.rx_bytes')
        for words in (['-i', '1'], ['--list'], ['--per-source']):
            stat(recording.file, *words, rc=2, said='a recording has its own interval')
        check('--from FILE' in harness.run([harness.FVMPI, 'stat', '--summary']).ended(2).err, '--summary alone')
    with tap.test('the summary: means over time, and percentiles'):
        for i, row in enumerate(rows(stat(recording.file, '--csv', '--summary'))):
            known = times_of(lines, i)
            values = sorted(v for _, v in known)

            def quantile(part):
                at = part * (len(values) - 1)
                low = int(at)
                return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])

            equal('which', (row['event'], row['samples']), (lines[0]['series'][i]['label'], str(len(known))))
            wanted = (
                sum(s * v for s, v in known) / sum(s for s, _ in known),
                values[0],
                quantile(0.5),
                quantile(0.99),
                values[-1],
            )
            for key, value in zip(('mean', 'min', 'p50', 'p99', 'max'), wanted):
                close(row['event'] + ' ' + key, float(row[key]), value, 1e-6 * max(1, abs(value)))
        text = stat(recording.file, '--summary')
        check(
            '{}, from 2'.format(os.uname().nodename) in text and '{} samples in '.format(len(samples(lines))) in text,
            '{}',
            text,
        )
    with tap.test('files that are damaged, or none'):
        with open(recording.file) as f:
            whole = f.read().splitlines(True)

        def made(*lines):
            path = os.path.join(harness.scratch('made'), 'f')
            with open(path, 'w') as f:
                f.write(''.join(lines))
            return path

        out = stat(
            made(
                whole[0],
                '{"values":[1],"time_s":1}\n',
                'rubbish\n',
                '[1]\n',
                '{"values":[1,2,3,"x"],"time_s":1}\n',
                '{"values":[1,2,3,4]}\n',
                '{"later":1,"time_s":2}\n',
                *whole[1:],
            ),
            '--csv',
            said='5 damaged lines are left out',
        )
        equal('the others', len(rows(out)), len(rows(stat(recording.file, '--csv'))))
        for text, said in (
            ('', 'not a recording of'),
            ('rubbish', 'not a recording of'),
            ('{}', 'not a recording of'),
            ('{"schema":"fvmpi-record-2"}', 'another version'),
            ('{"schema":"fvmpi-record-1"}', 'not a recording of'),
            ('{"schema":"fvmpi-record-1","file":1,"series":[{}]}', 'not a recording of'),
            ('{"schema":"fvmpi-record-1","file":0,"series":[{"label":"a"}]}', 'not a recording of'),
            ('[' * 100000, 'not a recording of'),
        ):
            stat(made(text, '\n'), rc=1, said=said)
        stat('/no/such', rc=1, said='No such file')
        for name in ('f', '../f', '/etc/passwd', 'x' * 5000, ''):
            out = stat(
                made(whole[0], whole[1], '{{"continued":"{}"}}\n'.format(name)),
                said='f: the recording '
                if name in ('../f', '/etc/passwd', 'x' * 5000)
                else 'the recording continues there',
            )
        evil = json.loads(whole[0])
        evil['series'][0]['label'] = 'a\x1b[31m'
        out = stat(
            made(json.dumps(evil) + '\n', '{"label":"b\\u001b[2J","time_s":1}\n', '{"end":"count","time_s":2}\n')
        )
        check('\x1b' not in out and 'a\\x1b[31m' in out and 'b\\x1b[2J' in out, '{}', out)


def cost(tap):
    with tap.test('on this machine; what recording took is a diagnostic'):
        for words in (
            ['-i', '0.1', '-n', '20', '*'],
            ['-i', '0.001', '-n', '1000', '--budget', '10', 'vmstat'],
            ['-i', '1', '-n', '2', 'vmstat'],
        ):
            recording = Recording(None, *words)
            lines = recording.ended()
            end, size = lines[-1], os.path.getsize(recording.file)
            equal('samples', end['samples'], len(samples(lines)))
            print(
                '# {}: {:.2f} % of a processor, {:.1f} KB/s, {:.1f} MiB, {} of {} late, {} missed'.format(
                    ' '.join(words),
                    100 * end['cpu_s'] / end['time_s'],
                    size / 1000 / end['time_s'],
                    end['memory_bytes'] / (1 << 20),
                    end['late'],
                    end['samples'],
                    end['missed'],
                )
            )


def main():
    tap = harness.Tap()
    atexit.register(harness.kill_all)  # what a test that failed left
    for part in (recorded, files, rotation, killed, command, no_sensors, control, garbage, read_back, cost):
        part(tap)
    tap.done()


main()
