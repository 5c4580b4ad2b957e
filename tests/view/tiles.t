#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi view's tiles at every zoom, by bins of any length, by leaves and by calls: what they have is what the calls have
that fvmpi query tells. And indexes that several processes made."""
import json
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal
from viewed import CLASSES, Server, Tiles, foreign, generated

RANKS, CALLS = 3, 20000
SINGLE = ';'.join(map(str, range(RANKS)))  # each rank a line


def calls_of(made):
    """Of each rank: (begin, end, function, depth, wait) in ns, outer ones first."""
    query = [harness.FVMPI, 'query', made, 'SELECT rank, begin_s, end_s, function, depth, wait_s FROM trace_calls']
    told = json.loads(harness.run([*query, '--json', '--all']).ended(0).out)
    rows = [[] for _ in range(RANKS)]
    for rank, begin, end, function, depth, wait in told['rows']:
        rows[rank].append((round(begin * 1e9), round(end * 1e9), function, depth, round(wait * 1e9)))
    return [sorted(calls, key=lambda call: (call[0], call[3])) for calls in rows]


class Exact:
    """What each function alone has of tiles, ns; and what is waiting."""

    def __init__(self, calls, begin, end, count):
        self.begin, self.step, self.count = begin, (end - begin) / count, count
        self.own, self.wait = {}, [0.0] * count
        around = []
        for since, until, function, depth, wait in calls:
            del around[depth:]
            if since < end and until > begin:
                self.add(self.of(function), since, until, 1)
                if depth:
                    self.add(self.of(around[-1]), since, until, -1)
                self.add(self.wait, since, since + wait, 1)
            around.append(function)

    def of(self, function):
        return self.own.setdefault(function, [0.0] * self.count)

    def add(self, tiles, since, until, sign):
        first = max(int((since - self.begin) / self.step), 0)
        for i in range(first, self.count):
            begin = self.begin + i * self.step
            if begin >= until:
                break
            tiles[i] += sign * max(min(until, begin + self.step) - max(since, begin), 0)


def near(what, found, wanted, edge):
    """Each but for the bins at its edges, and for all together those at the window's edges; each is rounded by itself,
    and of what is less than a part there is one."""
    for tile, (a, b) in enumerate(zip(found, wanted)):
        check(abs(a - b) <= 1.5 + 2 * edge, '{}, tile {}: {}, wanted {}', what, tile, a, b)
    all, few = sum(wanted), len([b for b in wanted if 0 < b < 1])
    check(abs(sum(found) - all) <= 2 + 2 * edge + 0.55 * len(found) + few, '{}: {}, wanted {}', what, sum(found), all)


def held(server, exact, begin, end, count):
    """True: these are exact, and the function that has most was held against them, too."""
    about = server.json('about')
    names, classes = [row[0] for row in about['regions']], [row[1] for row in about['regions']]
    tiles, step = Tiles(server, SINGLE, count, **{'from': begin, 'to': end}), (end - begin) / count
    leaf = 16 * about['span_ns'] / min(len(calls) for calls in exact)  # at most; an eighth of it at least
    edge = 255 * min(leaf / step, 1) if leaf <= 8 * step else 0
    for row, calls in enumerate(exact):
        wanted = Exact(calls, begin, end, count)
        what = 'rank {} from {} to {}'.format(row, begin, end)
        for k in range(CLASSES):
            own = [tiles_ for name, tiles_ in wanted.own.items() if classes[names.index(name)] == k]
            scaled = [sum(parts) / step * 255 for parts in zip(*own)] if own else [0] * count
            near('{}, class {}'.format(what, k), tiles.of_class(k, row), scaled, edge)
        near(what + ', waiting', tiles.row(tiles.waits, row), [ns / step * 255 for ns in wanted.wait], edge)
        if edge:
            continue
        for tile, (region, part) in enumerate(zip(tiles.row(tiles.regions, row), tiles.row(tiles.region_parts, row))):
            most = max(parts[tile] for parts in wanted.own.values()) / step * 255
            check(abs(part - most) <= 1, '{}, tile {}: {} has most, wanted {}', what, tile, part, most)
            if most > 2:
                own = wanted.own[names[region]][tile] / step * 255
                check(own >= most - 1, '{}, tile {}: {} has {}, not {}', what, tile, names[region], own, most)
    return not edge


def together(server, begin, end, count):
    """Several rows as one are their mean."""
    window = {'from': begin, 'to': end}
    single = Tiles(server, SINGLE, count, **window)
    one = Tiles(server, '0-{}'.format(RANKS - 1), count, **window)
    for k in range(CLASSES):
        rows = [single.of_class(k, row) for row in range(RANKS)]
        for tile, found in enumerate(one.of_class(k, 0)):
            mean = sum(row[tile] for row in rows) / RANKS
            check(abs(found - mean) <= 1.5, '{}: {}, of {}', tile, found, [row[tile] for row in rows])


def told(made):
    """All that fvmpi query tells of the trace."""
    answers = {}
    for table in ('calls', 'waits', 'messages', 'critical_path', 'values'):
        query = [harness.FVMPI, 'query', made, 'SELECT * FROM trace_' + table, '--csv', '--all']
        answers[table] = sorted(harness.run(query).ended(0).out.splitlines())
    return answers


def joined(tap, made):
    """An index that several processes made of their ranks has what one process finds."""
    place = os.path.join(made, '.fvmpi-view', 'timeline')
    with open(place, 'rb') as index:
        source = '{:x}'.format(struct.unpack_from('<Q', index.read(24), 16)[0])
    wanted = None
    for processes in ('1', '2', '3'):
        with tap.test('an index by processes, {}'.format(processes)):
            os.unlink(place)
            made_by = ['--source', source, '--processes', processes, '--', made]
            harness.run([os.path.join(harness.BUILD, 'fvunify-serial'), '--timeline', place, *made_by]).ended(0)
            bytes, answers = os.path.getsize(place), told(made)
            equal('taken as it is', os.path.getsize(place), bytes)
            wanted = wanted or answers
            check(all(len(answers[table]) > 1000 for table in ('calls', 'waits', 'messages')), 'too few')
            for table, rows in answers.items():
                equal('{}, of {}'.format(table, len(rows)), sorted(set(rows) ^ set(wanted[table]))[:3], [])
                equal(table, len(rows), len(wanted[table]))


def main():
    tap = harness.Tap()
    foreign(tap)  # skips where no trace can be shown
    made = generated(RANKS, CALLS, 0, 20, 1)
    exact = calls_of(made)
    server = Server(made)
    span, choose, alone = server.json('about')['span_ns'], random.Random(45), 0
    equal('calls', sum(map(len, exact)), server.json('about')['slices'])
    for part in (1, 0.6, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4):
        with tap.test('tiles of {:g} of the time'.format(part)):
            for count in (40, 250, 1000):
                begin = choose.uniform(0, span * (1 - part))
                alone += held(server, exact, begin, begin + part * span, count)
                together(server, begin, begin + part * span, count)
    check(0 < alone < 30, '{} of them by calls', alone)
    server.stop()
    joined(tap, made)
    tap.done()


main()
