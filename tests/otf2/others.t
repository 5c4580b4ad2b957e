#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives of other projects, which are not here: where FVMPI_TEST_ARCHIVES is a folder with them, as NAME.tar.gz, they are
read. others.json has what python3-otf2 counted in each: functions as calls, inclusive and exclusive seconds and first line,
messages and bytes by pair of ranks, counts by rank. pipit-*: the test data of pipit (github.com/hpcgroup/pipit), in tests/data
there: ping-pong-otf2 and ping-pong-papi-otf2, packed as pipit-pingpong and pipit-papi."""
import json
import os
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal, plainly

NEAR_S = 1e-6


def near(what, found, wanted):
    check(abs(found - wanted) <= 1e-4 * wanted + NEAR_S, '{}: {}, wanted {}', what, found, wanted)


def functions_of(data):
    """Calls, inclusive and exclusive seconds, first line; of the program and of MPI."""
    found = {}
    for row in data['instrumented']:
        found[row['function'].split('(')[0].split()[-1]] = [row['calls'], row['time_s'], row['self_s'], row['line']]
    for site in data['callsites']:
        if site['function']:
            calls, seconds, _, line = found.get(site['function'], (0, 0, 0, 0))
            seconds += site['time']['sum_s']
            found[site['function']] = [calls + site['count'], seconds, seconds, line]
    return found


def functions(data, figures):
    found = functions_of(data)
    equal('functions', sorted(found), sorted(figures['functions']))
    in_mpi = sum(seconds for name, (_, seconds, _, _) in figures['functions'].items() if name.startswith('MPI_'))
    for name, (calls, inclusive, exclusive, line) in figures['functions'].items():
        equal('calls of ' + name, found[name][0], calls)
        near('time of ' + name, found[name][1], inclusive)
        equal('line of ' + name, found[name][3] or 0, line)
        if name == 'main':
            near('time of main itself', found[name][2] - in_mpi, exclusive)


def counters(data, figures):
    found = {c['event']: c for c in data['counters']}
    for event, wanted in figures['counters'].items():
        equal(event, [rank['counted'] for rank in found[event]['per_rank']], wanted)
        of_functions = [row for row in data['instrumented_counts'] if row['event'] == event]
        equal(event + ' of functions', sum(row['self_counted'] for row in of_functions), sum(wanted))


def archive(tap, folder, name, figures):
    place = harness.scratch('others')
    with tarfile.open(os.path.join(folder, name + '.tar.gz')) as tar:
        tar.extractall(place)
    anchor = os.path.join(place, figures['anchor'])
    run = harness.run([harness.FVMPI, 'report', anchor, '--json', '-']).ended(0)
    data = plainly(harness.valid(run.out))
    with tap.test(name + ': nothing is amiss'):
        equal('ranks', data['run']['rank_count'], figures['ranks'])
        check('cannot be read' not in run.err, '{}', run.err)
    with tap.test(name + ': functions, their calls, times and lines'):
        functions(data, figures)
    with tap.test(name + ': messages'):
        pairs = {'{} {}'.format(m['from'], m['to']): [m['messages'], m['bytes']] for m in data['matrix']}
        equal('pairs', pairs, figures['sent'])
    with tap.test(name + ': waiting'):
        out = harness.scratch('analysis')
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', anchor, '-o', out]).ended(0)
        with open(os.path.join(out, 'analysis.json')) as f:
            kinds = {kind['kind']: kind['wait_s'] for kind in json.load(f)['kinds']}
        near('late sender', kinds['late_sender'], figures['late_sender_s'])
    with tap.test(name + ': counters, by rank and by function'):
        counters(data, figures)


def main():
    tap = harness.Tap()
    folder = os.environ.get('FVMPI_TEST_ARCHIVES')
    with open(os.path.join(HERE, 'others.json')) as f:
        figures = json.load(f)
    names = [name for name in figures if folder and os.path.exists(os.path.join(folder, name + '.tar.gz'))]
    if not names or not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')):
        with tap.test('archives of other projects'):
            raise harness.Skip('FVMPI_TEST_ARCHIVES names no folder with them, or OTF2 was not found')
    for name in names:
        archive(tap, folder, name, figures[name])
    tap.done()


main()
