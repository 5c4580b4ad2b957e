#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi view --index-max: the index stays below that size; what it has is as in an index of everything, and what it has
not is counted and said."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal
from served import seen_in_browser
from viewed import CLASSES, Server, Tiles, foreign, generated

RANKS, CALLS = 8, 160000
MOST = 1 << 20


def index_of(made):
    return os.path.join(made, '.fvmpi-view', 'timeline')


def found_by(server, **window):
    regions = ','.join(map(str, range(len(server.json('about')['regions']))))
    return server.json('calls', region=regions, **window)


def parts_of(server, count, **window):
    rows = len(server.json('about')['rows'])
    lines = ';'.join(map(str, range(rows)))
    tiles = Tiles(server, lines, count, **window)
    return tiles.parts + tiles.computing


class Whole:
    """What an index of everything says."""

    def __init__(self, made):
        server = Server(made)
        self.about = server.json('about')
        self.bytes = os.path.getsize(index_of(made))
        self.span = self.about['span_ns']
        self.windows = [(0, self.span), (self.span // 3, self.span // 3 * 2), (self.span // 5, self.span // 4)]
        self.tiles = [parts_of(server, 50, **{'from': begin, 'to': end}) for begin, end in self.windows]
        self.ns = [found_by(server, least=least) for least in (0, 1 << 10, 1 << 12, 1 << 14, 1 << 16)]
        self.server = server


def left_out(tap, made, whole):
    size = ('--index-max', '1M')
    server = Server(made, *size)
    about = server.json('about')
    out = about['left_out']
    with tap.test('--index-max: the file is not larger than that, and whole without it'):
        equal(
            'without',
            whole.about['left_out'],
            dict.fromkeys(('calls', 'least_ns', 'messages', 'series', 'critical', 'collectives', 'io'), 0),
        )
        check(whole.bytes > 1.5 * MOST, 'too small to test it: {}', whole.bytes)
        check(os.path.getsize(index_of(made)) <= MOST, '{}', os.path.getsize(index_of(made)))
    with tap.test('--index-max: the shortest calls are left out, and no other; they are counted'):
        check(out['calls'] > 0, '{}', out)
        every, kept = found_by(whole.server), found_by(server)
        equal('calls', kept['all'] + out['calls'], every['all'])
        least = out['least_ns']
        equal('longer ones', found_by(server, least=least)['in_range'], found_by(whole.server, least=least)['in_range'])
        longest = [call[:9] for call in kept['calls'][:500]]
        equal('the longest', longest, [call[:9] for call in every['calls'][:500]])
    with tap.test('--index-max: counts and times of functions over the run are of all calls'):
        equal('regions', about['regions'], whole.about['regions'])
        equal('calls', about['slices'], whole.about['slices'])
    with tap.test('--index-max: parts of each moment are as without, but for what a bin hides'):
        for (begin, end), wanted in zip(whole.windows, whole.tiles):
            tiles = parts_of(server, 50, **{'from': begin, 'to': end})
            far = [abs(a - b) for a, b in zip(tiles, wanted)]
            check(max(far) <= 40 and sum(far) / len(far) <= 4, '{} to {}: {}', begin, end, sorted(far)[-20:])
    with tap.test('--index-max: of messages all are there, or none'):
        found = server.json('messages')
        told = len(found['messages']) + found['left_out']
        equal('messages', (told, out['messages']), (0, whole.about['messages']))
        equal('critical path', server.json('critical')['stretches'], [])
        check(out['critical'] > 0, '{}', out)
        equal('in all', about['messages'], whole.about['messages'])
    with tap.test('--index-max: of collective operations all are there, or none'):
        found = server.json('collectives')['kinds']
        if out['collectives']:
            equal('left out', (found, out['collectives']), ([], about['collectives']))
        else:
            equal('kinds', found, whole.server.json('collectives')['kinds'])
    with tap.test('--index-max: far in, where bins are longer than a pixel: parts are means'):
        tiles = parts_of(server, 64, **{'from': whole.span // 2, 'to': whole.span // 2 + 64000})
        check(any(tiles), 'nothing')
    with tap.test('--index-max: a closer look is not coarser'):
        finest = None
        for part in [1.3**k for k in range(16)]:
            length, count, rows = int(whole.span / part), 250, len(about['rows'])
            tiles = parts_of(server, count, **{'from': 0, 'to': length})
            of_row = [tuple(tiles[k * rows * count + i] for k in range(CLASSES)) for i in range(count)]
            changes = sum(a != b for a, b in zip(of_row, of_row[1:]))
            each = length / (changes + 1)
            check(finest is None or each <= 2 * finest, '1/{:.1f}: {} ns, finest {}', part, each, finest)
            finest = min(each, finest or each)
    seen_in_browser(tap, '--index-max', 'view_limited.mjs', server.address)
    run = server.stop()
    with tap.test('--index-max: what is missing is said'):
        check('{} calls are not in the index'.format(out['calls']) in run.err, '{}', run.err)
        check('{} messages are not in the index'.format(out['messages']) in run.err, '{}', run.err)


def cached(tap, made):
    def look(*options):
        server = Server(made, *options)
        out = server.json('about')['left_out']['calls']
        server.stop()
        return os.stat(index_of(made)).st_mtime_ns, out

    with tap.test('--index-max: an index of that size is used again, another is made for another size'):
        first = look('--index-max', '1M')
        equal('again', look('--index-max', '1M'), first)
        more = look('--index-max', '3M')
        check(more[0] != first[0] and 0 < more[1] <= first[1], '{} {}', more, first)
        every = look('--index-max', '1G')
        equal('with room', every[1], 0)
        equal('without a limit', look(), every)
    with tap.test('--index-max: a query has all calls, whatever the page was made with'):
        look('--index-max', '1M')
        run = harness.run([harness.FVMPI, 'query', made, 'select count(*) n from trace_calls', '--csv'])
        equal('calls', run.ended(0).out.split()[-1], str(RANKS * CALLS * 11 // 10))


def wrong(tap):
    with tap.test('--index-max: sizes that are none'):
        for size in ('0', '1', '1000K', 'x', '-1M', ''):
            run = harness.run([harness.FVMPI, 'view', '/none', '--index-max', size]).ended(2)
            check('takes a size from 1M' in run.err, '{}', run.err)


def main():
    tap = harness.Tap()
    foreign(tap)  # skips where no trace can be shown
    made = generated(RANKS, CALLS, 0, 20, 1)
    whole = Whole(made)
    left_out(tap, made, whole)
    whole.server.stop()
    cached(tap, made)
    wrong(tap)
    tap.done()


main()
