#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fvmpi view takes:   view_bench.py BUILD RANKS CALLS [RANKS CALLS]...

Of made traces (trace_gen): how long the index takes, by one process and by two, its bytes a call; opening it again; and
the server's answers for tiles of random stretches of time, at random zoom, of as many lines as a page of 1,280 x 800
shows: median, 95th percentile and the longest, ms."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

BUILD = sys.argv[1]
COUNT, TALL, LEAST_ROW = 1000, 600, 2  # tiles of a line, pixels of all rows, of one
TRIES = int(os.environ.get('FVMPI_BENCH_TRIES', '200'))


def seconds(does):
    begin = time.monotonic()
    result = does()
    return time.monotonic() - begin, result


def index(made, processes):
    place = os.path.join(made, '.index')
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


def lines_of(ranks):
    merge = max(1, -(-ranks * LEAST_ROW // TALL))
    return ';'.join('{}-{}'.format(i, min(i + merge, ranks) - 1) for i in range(0, ranks, merge))


def spent(server):
    """Seconds of processors, by the server so far."""
    with open('/proc/{}/stat'.format(server.pid)) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def tiles(address, span, ranks):
    base, token = address.split('/?token=')
    lines, choose, found = lines_of(ranks).encode(), random.Random(4711), []
    for _ in range(TRIES):
        length = span * 10 ** choose.uniform(-6, 0)
        begin = choose.uniform(0, span - length)
        url = '{}/tiles?token={}&from={}&to={}&count={}'.format(base, token, begin, begin + length, COUNT)
        found.append(seconds(lambda: urllib.request.urlopen(urllib.request.Request(url, data=lines)).read())[0] * 1e3)
    return sorted(found)


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
        server.terminate()
        server.wait()
        again, (server, address) = seconds(lambda: served(made))
        before = spent(server)
        times = tiles(address, calls * 1000, ranks)
        cpu = (spent(server) - before) / TRIES * 1e3
        server.terminate()
        server.wait()
        slices = ranks * calls * 11 // 10
        print(
            '{} rows, {:.1f} million calls: index {:.2f} s by one process, {:.2f} s by two, {:.1f} bytes a call; opened in '
            '{:.2f} s, again in {:.2f} s; tiles: median {:.1f} ms, 95th percentile {:.1f} ms, most {:.1f} ms, of processors {:.1f} ms in the mean'.format(
                ranks,
                slices / 1e6,
                one,
                two,
                size / slices,
                first,
                again,
                times[len(times) // 2],
                times[int(len(times) * 0.95)],
                times[-1],
                cpu,
            )
        )
    finally:
        shutil.rmtree(os.path.dirname(made))


for i in range(2, len(sys.argv) - 1, 2):
    bench(int(sys.argv[i]), int(sys.argv[i + 1]))
