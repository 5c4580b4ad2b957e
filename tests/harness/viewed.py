# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi view's server, and what an archive has as otf2-print tells it: what the server says is held against that."""
import array
import json
import os
import random
import re
import tarfile
import time

import harness
import otf2_print
from report import check, equal
from served import Served

WINDOWS = 12
PATIENCE_S = 60
HERE = os.path.dirname(os.path.abspath(__file__))


def foreign(tap):
    """Archives of other tools by name; where fvmpi cannot read any, the test is skipped."""
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')):
        with tap.test('traces in a browser'):
            raise harness.Skip('OTF2 was not found; install the package libotf2-trace-dev')
        tap.done()
    place = harness.scratch('archives')
    with tarfile.open(os.path.join(HERE, '../otf2/foreign.tar.xz')) as tar:
        tar.extractall(place)
    names = ('scorep-late', 'scorep-coll', 'scorep-rma')
    return {name: os.path.join(place, name, 'traces.otf2') for name in names}


class Server(Served):
    def __init__(self, *words, env=None):
        super().__init__('view', *words, env=env)

    def ask(self, path, token=None, **values):
        return self.fetch('/' + path, token, **values)

    def json(self, path, **values):
        status, text = self.ask(path, **values)
        equal(path, status, 200)
        return json.loads(text)

    def whole(self):
        """Until there is more than the first part of a large trace."""
        end = time.monotonic() + PATIENCE_S
        while self.json('more')['percent'] is not None:
            check(time.monotonic() < end, 'not whole within {} s', PATIENCE_S)
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        return harness.finish(self.process)


CLASSES = 9  # of regions, timeline.h


class Tiles:
    """What the server says of so many tiles of each line: "0-3,7;4" are two."""

    def __init__(self, server, lines, count, **window):
        status, data = server.fetch('/tiles', method='POST', data=lines.encode(), count=count, **window)
        equal('tiles', status, 200)
        self.all, self.count = (lines.count(';') + 1) * count, count
        equal('bytes', len(data), self.all * (7 + CLASSES))
        self.regions = array.array('I', data[: 4 * self.all])
        self.region_parts, self.waits = data[4 * self.all : 5 * self.all], data[5 * self.all : 6 * self.all]
        self.parts, self.computing = data[6 * self.all : -self.all], data[-self.all :]

    def row(self, data, row):
        return list(data[row * self.count : (row + 1) * self.count])

    def of_class(self, k, row):
        return self.row(self.parts[k * self.all : (k + 1) * self.all], row)


def generated(ranks, calls, *words):
    """An experiment with a trace that no program made; words: trace_gen's others."""
    made = os.path.join(harness.scratch('generated'), 'exp')
    generate = os.path.join(harness.BUILD, 'tests/bench/trace_gen')
    harness.run([generate, made, *map(str, (ranks, calls, *words))]).ended(0)
    return made


def events_of(anchor):
    """Regions of each location: (begin, end, name, depth, the names around it), ns; as otf2-print tells them."""
    clock = harness.run(['otf2-print', '-G', anchor]).ended(0).out
    ticks, offset = map(int, re.search(r'Ticks per Seconds: (\d+), Global Offset: (\d+)', clock).groups())
    found = {}
    for event in otf2_print.events(anchor):
        rows, stack = found.setdefault(event.location, ([], []))
        ns = (event.time - offset) * 10**9 // ticks
        if event.kind == 'ENTER':
            stack.append((ns, event.region.strip('"')))
        elif event.kind == 'LEAVE':
            begin, name = stack.pop()
            rows.append((begin, ns, name, len(stack), [around for _, around in stack]))
    return [rows for _, (rows, _) in sorted(found.items())]


def counted(rows, begin, end):
    """Of each region: calls that have a part of [begin, end), inclusive and exclusive ns of it."""
    sums = {}
    for since, until, name, _, around in rows:
        if since >= end or until <= begin:
            continue
        part = min(until, end) - max(since, begin)
        count, inclusive, exclusive = sums.get(name, (0, 0, 0))
        sums[name] = (count + 1, inclusive + (0 if name in around else part), exclusive + part)
        if around:
            count, inclusive, exclusive = sums.get(around[-1], (0, 0, 0))
            sums[around[-1]] = (count, inclusive, exclusive - part)
    return {name: sum for name, sum in sums.items() if sum[0]}


def windows(span):
    """The whole run, and stretches of any length."""
    choose = random.Random(4711)
    yield 0, span
    for _ in range(WINDOWS):
        length = int(10 ** choose.uniform(3, 9))
        begin = choose.randrange(max(span - length, 1))
        yield begin, min(begin + length, span)
