#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi view of two traces: each is as it is alone; the page's table of differences, and what stands below what."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import json

import harness
from report import check, equal
from served import seen_in_browser
from viewed import Server, counted, events_of, foreign


def each_as_alone(tap, first, second):
    both = Server(first, second)
    with tap.test('two traces: each is as it is alone'):
        for number, anchor in enumerate((first, second)):
            alone = Server(anchor)
            for path, values in (
                ('sums', {}),
                ('rows', {'from': 10**8, 'to': 10**9}),
                ('messages', {}),
                ('tree', {}),
                ('calls', {'region': '0,1,2,3'}),
                ('slices', {'row': 1}),
                ('labels', {}),
            ):
                equal(path, both.json(path, trace=number, **values), alone.json(path, **values))
            about = both.json('about', trace=number)
            equal('second', about.pop('second'), None if number else second)
            wanted = alone.json('about')
            equal('alone', wanted.pop('second'), None)
            equal('about', about, wanted)
            alone.stop()
        check(both.json('sums') != both.json('sums', trace=1), 'the second one is the first one')
        equal('no third one', both.json('about', trace=2)['title'], first)
    with tap.test('two traces: bookmarks are of the first one'):
        place = os.path.join(first[: -len('.otf2')] + '.fvmpi', '.fvmpi-view', 'bookmarks')
        equal('kept', both.fetch('/bookmark', method='POST', data=b'0-1\nboth')[0], 200)
        check(os.path.exists(place), 'no file {}', place)
        equal('forgotten', both.fetch('/forget', method='POST', data=b'0-1\n')[0], 200)
    equal('stopped', both.stop().rc, 0)


def wrong(tap, anchor):
    with tap.test('three traces, or one that is not there: one line'):
        run = harness.run([harness.FVMPI, 'view', anchor, anchor, anchor]).ended(2)
        check('two traces at most are compared' in run.err, '{}', run.err)
        run = harness.run([harness.FVMPI, 'view', anchor, '/none.otf2']).ended(1)
        equal('lines', len(run.err.splitlines()), 1)


def exact(anchor):
    """By function: exclusive ns and calls of the whole run, as otf2-print has them; and when each one's calls begin in
    the first row that has any."""
    sums, begins = {}, {}
    for regions in events_of(anchor):
        own = {}
        for begin, _, name, _, _ in regions:
            own.setdefault(name, []).append(begin)
        for name, moments in own.items():
            begins.setdefault(name, sorted(moments))
        for name, (calls, _, ns) in counted(regions, 0, 10**18).items():
            count, exclusive = sums.get(name, (0, 0))
            sums[name] = (count + calls, exclusive + ns)
    return sums, begins


def in_browser(tap, first, second):
    server = Server(first, second)
    sides = [exact(anchor) for anchor in (first, second)]
    names = sorted(set(sides[0][0]) | set(sides[1][0]))
    none = (0, 0)
    wanted = {
        'exclusive': {name: [side[0].get(name, none)[1] for side in sides] for name in names},
        'calls': {name: [side[0].get(name, none)[0] for side in sides] for name in names},
        'shift': sides[0][1]['MPI_Barrier'][1] - sides[1][1]['MPI_Barrier'][1],
    }
    seen_in_browser(tap, 'two traces', 'view_compare.mjs', server.address, json.dumps(wanted))
    server.stop()


def main():
    tap = harness.Tap()
    archives = foreign(tap)
    first, second = archives['scorep-late'], archives['scorep-coll']
    each_as_alone(tap, first, second)
    wrong(tap, first)
    in_browser(tap, second, first)  # the second one is longer
    shutil.rmtree(first[: -len('.otf2')] + '.fvmpi')
    tap.done()


main()
