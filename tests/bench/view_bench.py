#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fvmpi view takes:   view_bench.py BUILD RANKS CALLS [RANKS CALLS]...

Of made traces (trace_gen): how long the index takes, by one process and by two, its bytes a call; opening it again; and
the server's answers for tiles of random stretches of time, at random zoom, of as many lines as a page of 1,280 x 800
shows: median, 95th percentile and the longest, ms. Then, a line each, what panels ask for, of all rows and the first
ones of the same stretches. Made traces have no files: /files is of dd, which reads and writes a byte at a time."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

BUILD = sys.argv[1]
COUNT, TALL, LEAST_ROW = 1000, 600, 2  # tiles of a line, pixels of all rows, of one
TRIES = int(os.environ.get('FVMPI_BENCH_TRIES', '200'))
OF_PANELS = max(TRIES // 5, 1)  # stretches
BYTES = 1000000  # that dd reads and writes


def seconds(does):
    begin = time.monotonic()
    result = does()
    return time.monotonic() - begin, result


def index(made, processes):
    place = os.path.join(made, '.index')
    if os.path.exists(place):  # it would be taken as it is
        os.unlink(place)
    subprocess.run(
        [
            os.path.join(BUILD, 'fvunify-serial'),
            '--timeline',
            place,
            '--source',
            '1',
            '--processes',
            str(processes),
            '--',
            made,
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return os.path.getsize(place)


def served(made):
    server = subprocess.Popen([os.path.join(BUILD, 'fvmpi'), 'view', made], stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().split()[0]


def whole(address):
    """Until there is more than the first part."""
    while json.loads(ask(address, 'more'))['percent'] is not None:
        time.sleep(0.05)


def lines_of(ranks):
    merge = max(1, -(-ranks * LEAST_ROW // TALL))
    return ';'.join('{}-{}'.format(i, min(i + merge, ranks) - 1) for i in range(0, ranks, merge))


def spent(server):
    """Seconds of processors, by the server so far."""
    with open('/proc/{}/stat'.format(server.pid)) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def stretches(span):
    choose = random.Random(4711)
    for _ in range(TRIES):
        length = span * 10 ** choose.uniform(-6, 0)
        begin = choose.uniform(0, span - length)
        yield begin, begin + length


def ask(address, path, data=None, **values):
    base, token = address.split('/?token=')
    query = urllib.parse.urlencode({'token': token, **values})
    with urllib.request.urlopen(urllib.request.Request('{}/{}?{}'.format(base, path, query), data=data)) as answer:
        return answer.read()


def times(address, path, windows, **more):
    """ms of each, sorted."""
    return sorted(
        seconds(lambda: ask(address, path, **{'from': begin, 'to': end}, **more))[0] * 1e3 for begin, end in windows
    )


def median(sorted_ms):
    return sorted_ms[len(sorted_ms) // 2]


def high(sorted_ms):
    return sorted_ms[int(len(sorted_ms) * 0.95)]


def panel(address, span, what, path, **more):
    found = times(address, path, list(stretches(span))[:OF_PANELS], **more)
    print('    {:38} median {:7.1f} ms, 95th percentile {:7.1f} ms'.format(what, median(found), high(found)))


def panels(address, span):
    regions = json.loads(ask(address, 'about'))['regions']
    first = str(next(i for i, region in enumerate(regions) if region[0] == 'MPI_Send'))
    for what, path, more in (
        ('/collectives', 'collectives', {}),
        ('/profiles', 'profiles', {}),
        ('/messages, 500 at most', 'messages', {'most': 500}),
        ('/messages of MPI_Send, 500 at most', 'messages', {'most': 500, 'region': first}),
        ('/traffic', 'traffic', {}),
        ('/traffic of MPI_Send', 'traffic', {'region': first}),
        ('/sums: functions', 'sums', {}),
        ('/tree: call paths', 'tree', {}),
        ('/waits: waiting', 'waits', {}),
        ('/calls of MPI_Send, the longest', 'calls', {'region': first}),
    ):
        panel(address, span, what, path, **more)


def files():
    made = os.path.join(tempfile.mkdtemp(prefix='fvmpi-view.'), 'exp')
    command = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count={}'.format(BYTES), 'status=none']
    options = ['--trace', '--io', '--mpi', 'serial', '--sample=off', '-q', '-o', made]
    try:
        subprocess.run([os.path.join(BUILD, 'fvmpi'), 'run', *options, *command], check=True)
        server, address = served(made)
        whole(address)
        about = json.loads(ask(address, 'about'))
        print('1 row, {:.1f} million operations on files'.format(about['io'] / 1e6))
        panel(address, about['span_ns'], '/files', 'files')
        server.terminate()
        server.wait()
    finally:
        shutil.rmtree(os.path.dirname(made))


def bench(ranks, calls):
    made = os.path.join(tempfile.mkdtemp(prefix='fvmpi-view.'), 'exp')
    try:
        subprocess.run(
            [os.path.join(BUILD, 'tests/bench/trace_gen'), made, str(ranks), str(calls), '0', '20', '1'], check=True
        )
        one, size = seconds(lambda: index(made, 1))
        two, _ = seconds(lambda: index(made, 2))
        os.unlink(os.path.join(made, '.index'))
        first, (server, address) = seconds(lambda: served(made))
        rest, _ = seconds(lambda: whole(address))
        server.terminate()
        server.wait()
        again, (server, address) = seconds(lambda: served(made))
        before = spent(server)
        span = calls * 1000
        found = times(address, 'tiles', stretches(span), count=COUNT, data=lines_of(ranks).encode())
        cpu = (spent(server) - before) / TRIES * 1e3
        slices = ranks * calls * 11 // 10
        print(
            '{} rows, {:.1f} million calls: index {:.2f} s by one process, {:.2f} s by two, {:.1f} bytes a call; first '
            'part in {:.2f} s, the whole in {:.2f} s, again in {:.2f} s; tiles: median {:.1f} ms, 95th percentile {:.1f} ms, most {:.1f} ms, of processors {:.1f} ms in the mean'.format(
                ranks,
                slices / 1e6,
                one,
                two,
                size / slices,
                first,
                first + rest,
                again,
                median(found),
                high(found),
                found[-1],
                cpu,
            )
        )
        panels(address, span)
        server.terminate()
        server.wait()
    finally:
        shutil.rmtree(os.path.dirname(made))


for i in range(2, len(sys.argv) - 1, 2):
    bench(int(sys.argv[i]), int(sys.argv[i + 1]))
files()
