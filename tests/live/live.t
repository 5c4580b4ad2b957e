#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi live: who may ask, and for what; samples, interval, labels, /metrics; several clients, slow ones and garbage;
the page in a browser; a job that hangs, while it does and when it was killed."""
import json
import os
import random
import re
import shutil
import signal
import socket
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal
from served import Served, seen_in_browser
from trees import NODE, tree, write

BYTES = 'sys/class/net/eth0/statistics/rx_bytes'


class Live(Served):
    """On a tree of files or on this machine."""

    def __init__(self, *words, root=None, cwd=None):
        super().__init__('live', *words, env={'FVMPI_SENSORS_ROOT': root} if root else None, cwd=cwd)
        self.host, self.port = self.base.split('//')[1], int(self.base.split(':')[2])

    def ask(self, path='/', token=None, method='GET', data=None, **headers):
        status, text = self.fetch(path, token, method, data, headers)
        return status, text.decode()

    def control(self, command):
        return self.ask('/control', method='POST', data=command)[0]

    def kept(self):
        return [json.loads(line) for line in self.ask('/record')[1].splitlines()]

    def connect(self, receive=None):
        client = socket.socket()
        if receive:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.settimeout(30)
        client.connect(('127.0.0.1', self.port))
        return client

    def stream(self, receive=None):
        """A client of samples, of which nothing has been read yet."""
        client = self.connect(receive)
        client.sendall('GET /stream?token={} HTTP/1.1\r\nHost: {}\r\n\r\n'.format(self.token, self.host).encode())
        return Stream(client)

    def end(self):
        os.kill(self.process.pid, signal.SIGINT)
        return harness.finish(self.process).ended(0)


class Stream:
    """What a client got: (event, data) each, by the rules of server-sent events and of chunks."""

    def __init__(self, client):
        self.client, self.raw, self.text, self.begun = client, b'', '', False

    def read(self):
        data = self.client.recv(65536)
        check(data, 'the server has closed a stream')
        self.raw += data
        if not self.begun and b'\r\n\r\n' in self.raw:
            head, self.raw = self.raw.split(b'\r\n\r\n', 1)
            check(b' 200 ' in head.split(b'\r\n')[0] and b'chunked' in head, '{}', head)
            self.begun = True
        while self.begun and b'\r\n' in self.raw:
            size, rest = self.raw.split(b'\r\n', 1)
            if len(rest) < int(size, 16) + 2:
                break
            self.text += rest[: int(size, 16)].decode()
            self.raw = rest[int(size, 16) + 2 :]

    def events(self):
        for block in self.text.split('\n\n')[:-1]:
            fields = [line.split(': ', 1) for line in block.split('\n')]
            kind = next((value for name, value in fields if name == 'event'), 'message')
            for name, value in fields:
                if name == 'data':
                    yield kind, json.loads(value)

    def until(self, condition, what):
        end = time.time() + harness.LIMIT
        while not condition(list(self.events())):
            check(time.time() < end, '{} did not come', what)
            self.read()
        return list(self.events())

    def close(self):
        self.client.close()


def times_of(events):
    return [data['time_s'] for kind, data in events if kind == 'message' and 'values' in data]


def who_may_ask(tap, live):
    for what, wanted, given in (
        ('no token', 403, {'token': ''}),
        ('another token', 403, {'token': '0' * 32}),
        ('good', 200, {}),
        ('foreign Host', 403, {'Host': 'evil'}),
        ('foreign Origin', 403, {'Origin': 'http://evil'}),
        ('our Origin', 200, {'Origin': 'http://' + live.host}),
        ('PUT', 405, {'method': 'PUT'}),
        ('token in a header', 200, {'token': '', 'Authorization': 'Bearer ' + live.token}),
        ('another one there', 403, {'token': '', 'Authorization': 'Bearer x'}),
        ('from a page of another site', 403, {'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors'}),
        ('traversal', 404, {'path': '/../../etc/passwd'}),
        ('GET of control', 405, {'path': '/control'}),
    ):
        with tap.test(what):
            equal(
                what,
                live.ask(given.pop('path', '/'), given.pop('token', None), given.pop('method', 'GET'), **given)[0],
                wanted,
            )
    with tap.test('from this host alone'):
        addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {
            '127.0.0.1'
        }
        outward = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            outward.connect(('192.0.2.1', 9))  # sends nothing: the address that it would be from
            addresses.add(outward.getsockname()[0])
        except OSError:
            pass
        addresses = {address for address in addresses if not address.startswith('127.')}
        if not addresses:
            raise harness.Skip('this host has no other address than that of loopback')
        for address in addresses:
            client = socket.socket()
            client.settimeout(10)
            check(client.connect_ex((address, live.port)) != 0, 'it answers at {}', address)


def what_it_serves(tap, live):
    with tap.test('commands'):
        for command, wanted in (
            (b'interval 0.02', 200),
            (b'interval 0.001', 400),
            (b'label here', 200),
            (b'watch no.such', 400),
            (b'watch vmstat.pgfault', 200),
            (b'rotate', 400),
        ):
            equal(command, live.control(command), wanted)
    with tap.test('what is kept'):
        lines = harness.wait_until(lambda: (lambda l: l if len(l) > 20 else None)(live.kept()), what='samples')
        equal('values', {len(line['values']) for line in lines if 'values' in line}, {3})
        equal(
            'gauge',
            {line['values'][1] for line in lines if 'values' in line and line['values'][1] is not None},
            {2048 * 1024},
        )
        equal('labels', [line['label'] for line in lines if 'label' in line], ['here'])
    with tap.test('metrics'):
        text = live.ask('/metrics')[1]
        check('fvmpi_net_rx_bytes_total{source="eth0"} 1000\n' in text and text.endswith('# EOF\n'), '{}', text)


def rates(tap, live, root):
    with tap.test('what two clients get is the same, and rates add up to what was counted'):
        clients = [live.stream(), live.stream()]
        for client in clients:
            client.until(lambda events: times_of(events), 'a sample')
        counted = 1000
        for step in (100, 7, 12345, 900000):
            counted += step
            write(root, BYTES, '{}\n'.format(counted))
            now = time.monotonic()
            for client in clients:
                client.until(
                    lambda events: events[0][1]['start_monotonic_ns'] * 1e-9 + times_of(events)[-1] > now,
                    'a later sample',
                )
        seen = []
        for client in clients:
            events = list(client.events())
            equal('what begins', events[0][0], 'header')
            place = [series['label'] for series in events[0][1]['series']].index('net.rx_bytes')
            samples = [data for kind, data in events if kind == 'message' and 'values' in data]
            added = sum((b['time_s'] - a['time_s']) * b['values'][place] for a, b in zip(samples, samples[1:]))
            close('added', added, counted - 1000, 1e-4 * (counted - 1000))
            seen.append({sample['time_s']: sample['values'] for sample in samples})
            client.close()
        common = seen[0].keys() & seen[1].keys()
        check(len(common) > 3, 'they have {} samples in common', len(common))
        for at in common:
            equal('at {}'.format(at), seen[0][at], seen[1][at])


def slow(tap, live):
    with tap.test(
        'a client that reads nothing holds up nobody'
        + (', and is told what it missed' if os.environ.get('FVMPI_TEST_LONG') else '')
    ):
        for pattern in (
            b'watch vmstat.*',
            b'watch interrupts.*',
            b'watch cpu.*',
            b'watch softirqs.*',
            b'interval 0.01',
        ):
            equal('choice', live.control(pattern), 200)
        idle, good = live.stream(receive=4096), live.stream()
        filled = (
            lambda events: len(times_of(events)) and live.ask('/record')[1].count('\n') < len(times_of(events)) - 50
        )  # noqa: E731
        good.until(filled, 'more samples than are kept') if os.environ.get('FVMPI_TEST_LONG') else good.until(
            lambda events: len(times_of(events)) > 100, 'samples'
        )
        equal('missed by the other', [data for kind, data in good.events() if kind == 'missed'], [])
        times = times_of(good.events())
        check(times == sorted(set(times)), 'times do not grow')
        good.close()
        if os.environ.get('FVMPI_TEST_LONG'):
            idle.until(lambda events: any(kind == 'missed' for kind, _ in events), 'what it missed')
        idle.until(lambda events: times_of(events), 'its samples')
        idle.close()


def garbage(tap, live):
    request = 'GET /events?token={} HTTP/1.1\r\nHost: {}\r\nX: y\r\n\r\n'.format(live.token, live.host).encode()
    with tap.test('garbage, and what is too long'):
        maker, said = random.Random(18), []
        kinds = [
            lambda: maker.randbytes(maker.randrange(1, 400)),
            lambda: request[: maker.randrange(len(request))],
            lambda: request.replace(b'X: y', b'X: ' + b'y' * 200000),
            lambda: request.replace(b'/events', b'/' + b'a' * 100000),
            lambda: request.replace(b'GET', b'POST').replace(b'X: y', b'Content-Length: 99999999'),
            lambda: b'POST /control?token='
            + live.token.encode()
            + b' HTTP/1.1\r\nHost: '
            + live.host.encode()
            + b'\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n',
            lambda: bytes(byte ^ (maker.randrange(256) if maker.random() < 0.02 else 0) for byte in request),
            lambda: request.replace(b'Host', b'Host: evil\r\nHost'),
        ]
        for i in range(200):
            client = live.connect()
            try:
                client.sendall(kinds[i % len(kinds)]())
                client.shutdown(socket.SHUT_WR)
                said.append(client.recv(4096)[:12])
            except OSError:
                pass  # it was closed on us
            client.close()
        check(not any(answer.startswith(b'HTTP/1.1 5') for answer in said), 'its own mistake: {}', said)
        equal('a good one', live.ask()[0], 200)
    with tap.test('who connects and says nothing leaves room for others'):
        silent = [live.connect() for _ in range(20)]
        equal('a good one', live.ask()[0], 200)
        if os.environ.get('FVMPI_TEST_LONG'):
            for client in silent:
                equal('what is said to it', client.recv(1), b'')
        for client in silent:
            client.close()
    with tap.test('as many streams as there may be, and not one more'):
        harness.wait_until(
            lambda: '\nfvmpi_live_clients 0\n' in live.ask('/metrics')[1], what='that those of before are gone'
        )
        streams = [live.stream() for _ in range(16)]
        for stream in streams:
            stream.until(lambda events: events, 'its header')
        equal('the 17th', live.ask('/stream')[0], 503)
        for stream in streams:
            stream.close()
        harness.wait_until(lambda: live.ask('/record')[0] == 200, what='that they are gone')
        harness.wait_until(lambda: '\nfvmpi_live_clients 0\n' in live.ask('/metrics')[1], what='that they are gone')


class Recording:
    """What fvmpi record would write on another node."""

    def __init__(self, path, host, start_ns, number=1):
        series = [
            {
                'label': label,
                'sensor': label.split('.')[0],
                'event': label.split('.')[1],
                'source': None,
                'unit': unit,
                'kind': kind,
            }
            for label, unit, kind in (('net.rx_bytes', 'bytes', 'counter'), ('made.up', '', 'gauge'))
        ]
        self.file = open(path, 'w')
        self.start_ns = start_ns
        self.put(
            json.dumps(
                {
                    'schema': 'fvmpi-record-1',
                    'file': number,
                    'host': host,
                    'start_realtime_ns': start_ns,
                    'series': series,
                }
            )
            + '\n'
        )

    def put(self, text):
        self.file.write(text)
        self.file.flush()

    def sample(self, *values):
        time_s = 1e-9 * (time.time_ns() - self.start_ns)
        self.put(json.dumps({'time_s': time_s, 'values': values}) + '\n')
        return time_s


def nodes(tap, root):
    directory = harness.scratch('nodes')
    old = Recording(os.path.join(directory, 'old.jsonl'), 'old', time.time_ns() - 10**12)
    old.sample(1, 1)
    os.utime(old.file.name, (1, 1))
    live = Live('-i', '0.05', 'net.rx_bytes', 'meminfo.MemTotal', '--nodes', directory, root=root)
    start_ns = time.time_ns() - 5 * 10**9
    other = Recording(os.path.join(directory, 'b.jsonl'), '<node 2>', start_ns)
    values = lambda place: [
        line['values'][place] for line in live.kept()[1:] if 'values' in line and line['values'][place] is not None
    ]  # noqa: E731
    seen = lambda wanted: harness.wait_until(
        lambda: len(live.kept()[0]['series']) == 4 and values(3) == wanted, what='the other node\'s samples'
    )  # noqa: E731
    with tap.test('another node\'s recording, as it grows'):
        other.put(json.dumps({'time_s': 0.5, 'values': [9, 9]}) + '\n')  # before fvmpi live began
        told = [other.sample(1000 + i, 7) for i in range(3)]
        seen([7, 7, 7])
        harness.wait_until(lambda: len(values(1)) > 1, what='our own samples')
        header, lines = live.kept()[0], live.kept()[1:]
        equal(
            'series',
            [series['label'] for series in header['series']],
            ['net.rx_bytes', 'meminfo.MemTotal', '<node 2>:net.rx_bytes', '<node 2>:made.up'],
        )
        equal('hosts', [series.get('host') for series in header['series']], [None, None, '<node 2>', '<node 2>'])
        equal(
            'its samples',
            [line['values'] for line in lines if 'values' in line and line['values'][3] is not None],
            [[None, None, 1000 + i, 7] for i in range(3)],
        )
        for line, wanted in zip((line for line in lines if 'values' in line and line['values'][3] is not None), told):
            close('when', header['start_realtime_ns'] * 1e-9 + line['time_s'], start_ns * 1e-9 + wanted, 1e-3)
        equal(
            'ours',
            {tuple(line['values'][1:]) for line in lines if 'values' in line and line['values'][3] is None}
            - {(None, None, None)},
            {(2048 * 1024, None, None)},
        )
    with tap.test('a stream that begins later has the same series'):
        stream = live.stream()
        data = stream.until(lambda events: events, 'a header')[0][1]
        equal(
            'others',
            [(block['first'] >= 1024, [series['label'] for series in block['added']]) for block in data['others']],
            [(True, ['<node 2>:net.rx_bytes', '<node 2>:made.up'])],
        )
        stream.close()
    with tap.test('a torn line, a label, damage, the next file'):
        other.put('{"time_s": ')
        time.sleep(0.5)
        other.put('{}, "values": [null, 8]}}\n'.format(1e-9 * (time.time_ns() - start_ns)))
        other.put('no JSON\n{"values": [1, 2]}\n{"time_s": 6, "values": [1]}\n[]\n')
        other.put(json.dumps({'time_s': 6, 'label': 'there'}) + '\n')
        other.put('{"continued": "b.jsonl.0002"}\n')
        other = Recording(os.path.join(directory, 'b.jsonl.0002'), '<node 2>', start_ns, 2)
        other.sample(2000, 9)
        seen([7, 7, 7, 8, 9])
        equal('series', len(live.kept()[0]['series']), 4)
        equal('labels', [line['label'] for line in live.kept() if 'label' in line], ['<node 2>: there'])
        # a piece that takes the number of the one that has ended
        os.rename(os.path.join(directory, 'b.jsonl'), os.path.join(directory, 'b.jsonl.0003'))
        with open(os.path.join(directory, 'b.jsonl.0003'), 'r+') as f:
            f.truncate(0)
        third = Recording(os.path.join(directory, 'b.jsonl.0003'), '<node 2>', start_ns, 3)
        third.sample(3000, 9)
        seen([7, 7, 7, 8, 9, 9])
    with tap.test('what is saved is a recording'):
        path = os.path.join(harness.scratch('saved'), 'live.jsonl')
        with open(path, 'w') as f:
            f.write(live.ask('/record')[1])
        run = harness.run([harness.FVMPI, 'stat', '--from', path, '--csv']).ended(0)
        equal('it has an end', run.err, '')
        equal(
            'columns',
            run.out.split('\n')[0],
            'time_s,late_s,net.rx_bytes,meminfo.MemTotal,<node 2>:net.rx_bytes,<node 2>:made.up,label',
        )
        equal(
            'its values',
            [line.split(',')[5] for line in run.out.splitlines()[1:] if line.split(',')[5]],
            ['7', '7', '7', '8', '9', '9'],
        )
    with tap.test('fvmpi record beside it'):
        harness.run(
            [
                harness.FVMPI,
                'record',
                '-q',
                '-i',
                '0.05',
                '-n',
                '4',
                '-o',
                os.path.join(directory, 'real.jsonl'),
                'net.tx_bytes',
            ],
            env={'FVMPI_SENSORS_ROOT': root},
        ).ended(0)
        harness.wait_until(lambda: len(live.kept()[0]['series']) == 5 and len(values(4)) == 4, what='its samples')
    with open(os.path.join(directory, 'c.jsonl'), 'w') as f:
        f.write('garbage\n')
    other.sample(1, 7)
    seen_in_browser(tap, 'nodes', 'live.mjs', live.address, 'nodes')
    # once it is there the one before was looked at
    Recording(os.path.join(directory, 'd.jsonl'), 'later', start_ns, 1).sample(1, 7)
    harness.wait_until(
        lambda: any(series['label'].startswith('later') for series in live.kept()[0]['series']),
        what='a file behind that',
    )
    with tap.test('what is no recording is said, once'):
        err = live.end().err
        equal(
            'said',
            [line for line in err.splitlines() if 'c.jsonl' in line],
            [
                'fvmpi: live: {}/c.jsonl: not a recording of this version of fvmpi record; it is left out'.format(
                    directory
                )
            ],
        )
        check('old' not in err, '{}', err)
    with tap.test('a directory that is not there'):
        run = harness.run([harness.FVMPI, 'live', '--nodes', os.path.join(directory, 'none')]).ended(1)
        check('No such file' in run.err, '{}', run.err)


def job(tap, mpi, is_looked_at):
    """Two ranks in different collectives."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    live = Live(directory)
    with tap.test('{}: nothing of a job that is to come'.format(mpi)):
        equal('header', live.kept()[0]['job'], directory)
        check(not any('job' in line for line in live.kept()[1:]), 'a job')
    process = harness.start(
        mpi.command(
            2, mpi.profiled([mpi.build('hang.c'), 'calls'], directory, ['--sensors', 'vmstat.pgfault,meminfo.MemFree'])
        ),
        env={'LD_PRELOAD': harness.SANITIZER},  # not patient: who sleeps is not interrupted
    )
    last = lambda key: next((line[key] for line in reversed(live.kept()[1:]) if key in line), None)  # noqa: E731
    until = lambda key, condition, what: harness.wait_until(
        lambda: (lambda found: found if found and condition(found) else None)(last(key)), what=what, pause=0.2
    )  # noqa: E731
    with tap.test('{}: a job that hangs'.format(mpi)):
        told = until('told', lambda told: told['is_lasting'] and told['waiting'] == 2, 'that they wait for each other')
        check('Still running: rank 0 calls MPI_Bcast, rank 1 MPI_Reduce' in told['headline'], '{}', told['headline'])
        equal(
            'waits',
            [text.split(' (')[0] for text in told['waits']],
            ['rank 0 in MPI_Bcast waits for rank 1', 'rank 1 in MPI_Reduce waits for rank 0'],
        )
        numbers = until('job', lambda found: found['state'] == ['waits', 'waits'], 'their states')
        equal('ranks', numbers['rank'], [0, 1])
        check(not numbers['is_over'], 'it is over')
        for mpi_s, elapsed_s in zip(numbers['mpi_s'], numbers['elapsed_of_rank_s']):
            check(0 < mpi_s <= elapsed_s, '{} s of {} s in MPI', mpi_s, elapsed_s)
    with tap.test('{}: its own sensors'.format(mpi)):
        sensors = until(
            'told',
            lambda told: len(told['sensors']) == 2 and None not in [of['last'] for of in told['sensors']],
            'what they counted',
        )['sensors']
        equal(
            'events',
            [(of['event'], of['kind']) for of in sensors],
            [('vmstat.pgfault', 'counter'), ('meminfo.MemFree', 'gauge')],
        )
        check(all(0 <= of['last'] <= of['most'] * (1 + 1e-6) for of in sensors), '{}', sensors)
    with tap.test('{}: it is looked at once it hangs, as fvmpi where does'.format(mpi)):
        found = until('told', lambda told: told['where'], 'where everybody is')['where']
        looks = json.loads(harness.run([harness.FVMPI, 'where', directory, '--json', '-']).ended(0).out)['looks']
        for table, keys in (
            ('places', ('rank_text', 'place', 'suspect')),
            ('tree', ('id', 'parent_id', 'rank_text', 'label')),
        ):
            rows = [[[row[key] for key in keys] for row in of[table]] for of in (found, looks)]
            equal(table, *rows)
            equal('all of ' + table, found[table + '_all'], len(looks[table]))
        check(found['places'][0]['suspect'], '{}', found['places'])
        check(re.match('the same in all [23] looks', found['places'][0]['text']), '{}', found['places'])
    with tap.test('{}: what others saw later takes its place, with the finding'.format(mpi)):
        harness.run([harness.FVMPI, 'where', directory, '--looks', '5', '--interval', '0.05']).ended(0)
        told = until('told', lambda told: told['where']['at_s'] > found['at_s'], 'the looks of fvmpi where')
        text = harness.run([harness.FVMPI, 'report', directory, '--width', '500', '--top', '999']).ended(0).out
        places, branches = text[text.index('Where everybody is ') :].split('\n\n')[:2]
        equal(
            'places',
            ['{}: {}'.format(row['rank_text'], row['place']) for row in told['where']['places']],
            re.findall(r'^  (\S.*)', places, re.M),
        )
        check([of for of in told['findings'] if of['name'] == 'hang'], '{}', told['findings'])
    if is_looked_at:
        expected = os.path.join(harness.scratch('where'), 'tree')
        with open(expected, 'w') as f:
            f.write('\n'.join(line[2:] for line in branches.split('\n')[1:]))
        for pid in harness.marked(process.number):  # all looks are done: who waits gives way to the browser
            os.setpriority(os.PRIO_PROCESS, pid, 19)
        seen_in_browser(
            tap,
            '{}: a job that hangs'.format(mpi),
            'live.mjs',
            live.address,
            'job',
            expected,
            'rank 0 calls MPI_Bcast, rank 1 MPI_Reduce',
        )
    with tap.test('{}: after it was killed'.format(mpi)):
        harness.kill_all(process.number)
        harness.finish(process)
        until('told', lambda told: told['headline'].startswith('Killed'), 'that it was killed')
        until('job', lambda found: found['is_over'], 'that it is over')
    with tap.test('{}: another run in its place'.format(mpi)):
        shutil.rmtree(directory)
        harness.run(mpi.command(2, mpi.profiled([mpi.build('hang.c'), 'none'], directory, []))).ended(0)
        until('told', lambda told: not told['headline'].startswith('Killed'), 'the next run')
        live.end()


def without_mpi(tap, name, *options):
    with tap.test(name):
        directory = os.path.join(harness.scratch('exp'), 'e')
        live = Live(directory)
        process = harness.start(
            [harness.FVMPI, 'run', '-q', '-o', directory, *options, '--mpi', 'serial', 'sleep', '100']
        )
        found = lambda: next((line['job'] for line in reversed(live.kept()[1:]) if 'job' in line), None)  # noqa: E731
        numbers = harness.wait_until(found, what='the job', pause=0.2)
        equal('it runs', (numbers['state'], numbers['is_over']), (['active'], False))
        harness.kill_all(process.number)
        harness.finish(process)
        harness.wait_until(lambda: found()['is_over'], what='that it is over', pause=0.2)
        equal('it has ended', found()['state'], ['ended'])
        live.end()


GROWTH = re.compile(r' to ([0-9.]+) MiB, .* was allocated by remember\(\) at leaks.c:')


def leaking(tap):
    """What a run's findings say while it goes on is said again as it grows older."""
    if harness.SANITIZER:
        return
    with tap.test('a program whose memory grows: its findings, while it runs'):
        program = os.path.join(harness.scratch('leaks'), 'leaks')
        harness.run(['cc', '-O1', '-g', os.path.join(HERE, 'leaks.c'), '-o', program]).ended(0)
        directory = os.path.join(harness.scratch('exp'), 'e')
        live = Live(directory)
        process = harness.start([harness.FVMPI, 'run', '-q', '-o', directory, '--memory', '--mpi', 'serial', program])

        def growth(than):
            """Of the latest findings, to how many MiB it grew; None: no more than `than`."""
            told = [line['told'] for line in live.kept()[1:] if 'told' in line][-1:]
            texts = [f['text'] for of in told for f in of['findings'] if f['title'] == 'Growing memory']
            mib = [float(of.group(1)) for of in map(GROWTH.search, texts) if of]
            return mib[0] if mib and mib[0] > than else None

        try:
            first = harness.wait_until(lambda: growth(0), what='that memory grows', pause=0.2)
            harness.wait_until(lambda: growth(first), what='that it has grown since', pause=0.2)
        finally:
            harness.kill_all(process.number)
            harness.finish(process)
            live.end()


def main():
    tap = harness.Tap()
    harness.patiently()
    root = tree(NODE)
    try:
        live = Live('-i', '0.05', '--budget', '100', 'net.rx_bytes', 'meminfo.MemTotal', root=root)
    except harness.Skip as skip:
        with tap.test('live'):
            raise skip
        return tap.done()
    who_may_ask(tap, live)
    what_it_serves(tap, live)
    rates(tap, live, root)
    without_mpi(tap, 'a program without MPI runs until it ends')
    without_mpi(tap, 'one whose file is on its node\'s own disk', '--local', harness.scratch('disk'))
    leaking(tap)
    garbage(tap, live)
    slow(tap, live)
    with tap.test('it ends'):
        check('samples' in live.end().err, 'no summary')
    live = Live('-i', '0.05', 'net.rx_bytes', root=root)
    seen_in_browser(tap, 'sensors', 'live.mjs', live.address, 'sensors')
    live.end()
    nodes(tap, root)
    for i, mpi in enumerate(harness.an_mpi(tap)):
        job(tap, mpi, is_looked_at=not i)
    tap.done()


main()
