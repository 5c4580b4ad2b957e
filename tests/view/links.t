#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi view: what lies over and between the rows. Calls of collective operations, values along time and labels are held
against the archive as otf2-print tells it, the critical path against analysis.json, waits against their causes."""
import array
import json
import math
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
import otf2_print
from report import check, equal
from served import seen_in_browser
from viewed import Server, foreign

MEMORY = 'memory allocated'
ROW, BEGIN, NS, WAIT, REGION, DEPTH, CONTEXT, CAUSE, SAMPLED, TOGETHER = range(10)


def merged(directory):
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    return os.path.join(directory, 'traces.otf2')


def calls_of(server, row):
    return server.json('slices', row=row)['slices']


# ---- by any number of processes ----


def all_of(trace, processors):
    before = os.sched_getaffinity(0)
    place = (
        os.path.join(trace, '.fvmpi-view') if os.path.isdir(trace) else trace[: -len('.otf2')] + '.fvmpi/.fvmpi-view'
    )
    shutil.rmtree(place, ignore_errors=True)
    os.sched_setaffinity(0, processors)
    server = Server(trace)
    os.sched_setaffinity(0, before)
    about = server.json('about')
    found = [about] + [
        server.json(path) for path in ('sums', 'messages', 'blocked', 'critical', 'labels', 'series', 'waits')
    ]
    found += [server.json('slices', row=row) for row in range(len(about['rows']))]
    found += [server.ask('values', series=','.join(map(str, range(len(found[6]['series'])))), count=10)[1]]
    server.stop()
    return found


def by_any_number(tap, name, trace):
    with tap.test(name + ': one process makes the same as several'):
        all = os.sched_getaffinity(0)
        if len(all) < 2:
            raise harness.Skip('one processor')
        one, several = all_of(trace, {min(all)}), all_of(trace, all)
        for i, (found, wanted) in enumerate(zip(several, one)):
            equal('part {}'.format(i), found, wanted)


# ---- collective operations ----


def operations(anchor):
    """Of each communicator the calls, by location: [(enter, leave)]."""
    found, stacks, open_comm = {}, {}, {}
    for event in otf2_print.events(anchor):
        stack = stacks.setdefault(event.location, [])
        if event.kind == 'ENTER':
            stack.append(event.time)
        elif event.kind == 'MPI_COLLECTIVE_END':
            open_comm[event.location] = event['communicator id']
        elif event.kind == 'LEAVE':
            begin, comm = stack.pop(), open_comm.pop(event.location, None)
            if comm is not None:
                found.setdefault(comm, {}).setdefault(event.location, []).append((begin, event.time))
    return found


def together(tap, name, anchor):
    server = Server(anchor)
    ns = harness.run(['otf2-print', '-G', anchor]).ended(0).out
    ticks = int(ns.split('Ticks per Seconds: ')[1].split(',')[0])
    offset = int(ns.split('Global Offset: ')[1].split(',')[0].split()[0])
    with tap.test(name + ': the calls of a collective operation'):
        seen = 0
        for calls in operations(anchor).values():
            locations = sorted(calls)
            if len(locations) < 2:
                continue
            for each in list(zip(*(calls[at] for at in locations)))[:20]:
                wanted = [((begin - offset) * 10**9 // ticks, row) for row, (begin, _) in enumerate(each)]
                rows = server.json('about')['rows']
                mine = [s for s in calls_of(server, 0) if s[0] == wanted[0][0] and len(locations) == len(rows)]
                for slice in mine:
                    found = server.json('together', row=0, begin=slice[0], depth=slice[4])
                    if not found['members']:
                        continue
                    equal('members', found['members'], len(rows))
                    equal('calls', [(c[BEGIN], c[ROW]) for c in found['calls']], wanted)
                    seen += 1
        check(seen > 2, '{} operations', seen)
    with tap.test(name + ': of what is no such call: nothing'):
        equal('no call', server.json('together', row=0, begin=1, depth=7), {'members': 0, 'calls': []})
        equal('no row', server.json('together', row=99999, begin=0)['calls'], [])
    server.stop()


# ---- waits ----


def waits(tap, mpi):
    run = mpi.profile(mpi.build('waitpaths.c'), 4, ['paths'], ['--trace', '--sample=off', '-q']).ended(0)
    merged(run.directory)
    by_any_number(tap, str(mpi), run.directory)
    with open(os.path.join(run.directory, 'analysis.json')) as f:
        analysis = json.load(f)
    server = Server(run.directory)
    span = server.json('about')['span_ns']
    blocked = server.json('blocked', count=1000)['calls']
    with tap.test('{}: calls that waited, the longest first, with who was late'.format(mpi)):
        check(len(blocked) > 3, '{}', blocked)
        equal('order', blocked, sorted(blocked, key=lambda c: (-c[WAIT], c[ROW], c[BEGIN])))
        wanted = {
            (row, s[0], s[2], s[6]) for row in range(4) for s in calls_of(server, row) if s[2] and s[6] is not None
        }
        equal('calls', {(c[ROW], c[BEGIN], c[WAIT], c[CAUSE]) for c in blocked}, wanted)
        few = server.json('blocked', count=2)
        equal('two', (few['calls'], few['left_out']), (blocked[:2], len(blocked) - 2))
    with tap.test('{}: the chain behind a wait goes from cause to cause, back in time'.format(mpi)):
        longest = 0
        for call in blocked:
            at, chain = call, server.json('chain', row=call[ROW], begin=call[BEGIN], depth=call[DEPTH])['calls']
            for link in chain:
                equal('the row that was late', link[ROW], at[CAUSE])
                check(link[BEGIN] + link[WAIT] <= at[BEGIN] + at[WAIT], '{} then {}', at, link)
                check(link[BEGIN] + link[WAIT] > at[BEGIN], '{} then {}', at, link)
                at = link
            longest = max(longest, len(chain))
        check(longest >= 1, 'no chain')
    with tap.test('{}: the critical path is one stretch behind the other, as long as the analysis says'.format(mpi)):
        path = server.json('critical')['stretches']
        check(path, 'none')
        for before, after in zip(path, path[1:]):
            equal('begin', after[1], before[2])
        by_rank = {r['rank']: r['critical_s'] for r in analysis['ranks']}
        for rank in range(4):
            own = sum(end - begin for row, begin, end in path if row == rank) / 1e9
            check(abs(own - by_rank[rank]) < 1e-5 + 0.01 * span / 1e9, 'rank {}: {} s, {}', rank, own, by_rank)
    server.stop()


# ---- values ----


def values_of(server, series, count, **window):
    status, data = server.ask('values', series=series, count=count, **window)
    equal('status', status, 200)
    all = array.array('d', data)
    return [all[3 * i : 3 * i + 3] for i in range(len(all) // 3)]


def metrics(anchor):
    """Of each metric: (ns after the first event, value)."""
    clock = harness.run(['otf2-print', '-G', anchor]).ended(0).out
    ticks = int(clock.split('Ticks per Seconds: ')[1].split(',')[0])
    offset = int(clock.split('Global Offset: ')[1].split(',')[0].split()[0])
    found = {}
    text = harness.run(['otf2-print', anchor]).ended(0).out
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == 'METRIC':
            for value in line.split('Value: ')[1:]:
                name = value.split('"')[1]
                number = value.split(';')[2].strip().rstrip(')')
                found.setdefault(name, []).append(((int(words[2]) - offset) * 10**9 // ticks, float(number)))
    return found


def is_same(found, wanted):
    """otf2-print has six digits."""
    return math.isclose(found, wanted, rel_tol=1e-5) or (math.isnan(found) and math.isnan(wanted))


def wanted_of(points, begin, end):
    """Least, most and last of a value that holds until the next one."""
    held = [v for ns, v in points if ns <= begin][-1:] + [v for ns, v in points if begin < ns < end]
    return (min(held), max(held), held[-1]) if held else (math.nan,) * 3


def rates_of(points):
    """Of what is counted: seconds and rate between two readings. An end that is less than half as long as what is before
    belongs to it."""
    found = [((ns - since) / 1e9, value - before) for (since, before), (ns, value) in zip(points, points[1:])]
    if len(found) > 1 and found[-1][0] < found[-2][0] / 2:
        found[-2:] = [tuple(map(sum, zip(*found[-2:])))]
    return [(seconds, change / seconds) for seconds, change in found]


def values(tap, mpi):
    program = mpi.build('../sensors/known.c', '-pthread', '-ldl')
    words = ['wait', 'label', 'meshed', 'pages', '3000', 'wait', 'wait']
    options = ['--trace', '--memory', '--sensors', 'vmstat.nr_free_pages,vmstat.pgfault', '--sensors-hz', '200', '-q']
    run = None
    with tap.test('{}: memory and a sensor are recorded'.format(mpi)):
        run = mpi.profile(program, 2, words, options).ended(0)
    if not run:
        return
    anchor = merged(run.directory)
    exact = metrics(anchor)
    times = []
    for trace in (run.directory, anchor):
        server = Server(trace)
        span = server.json('about')['span_ns']
        with tap.test('{}: {}: labels'.format(mpi, os.path.basename(trace))):
            equal('labels', [label[1:] for label in server.json('labels')['labels']], [[0, 'meshed']])
            at = server.json('labels')['labels'][0][0]
            equal('before', server.json('labels', to=at)['labels'], [])
            times.append(at)
            check(abs(at - times[0]) < 2, 'at {}', times)
        with tap.test('{}: {}: values along time'.format(mpi, os.path.basename(trace))):
            series = server.json('series')['series']
            check(any(s['of'] == 'process' for s in series), '{}', series)
            for number, one in enumerate(series):
                if one['is_rate']:
                    points = exact[one['name']]
                    rates = rates_of(points)
                    wanted = max(rate for _, rate in rates)
                    digits = 2e-5 * points[-1][1] / min(seconds for seconds, _ in rates)
                    equal('rates of ' + one['name'], one['count'], len(rates))
                    found = values_of(server, number, 1)[0][1]
                    check(abs(found - wanted) <= digits, '{}: {}, wanted {}', one['name'], found, wanted)
                    continue
                name = one['name'].split('@')[0]
                points = exact.get(one['name'], exact.get(name))
                if name == MEMORY:
                    continue  # one for each rank, of one name
                check(points, '{} of {}', one, list(exact))
                equal('values of ' + name, one['count'], len(points))
                for count in (1, 7, 100):
                    for i, found in enumerate(values_of(server, number, count)):
                        wanted = wanted_of(points, span * i / count, span * (i + 1) / count)
                        check(
                            all(map(is_same, found, wanted)),
                            '{} {} of {}: {}, wanted {}',
                            name,
                            i,
                            count,
                            list(found),
                            wanted,
                        )
            counts = [one['count'] for one in series if one['name'].split('@')[0] == MEMORY]
            equal('ranks', len(counts), 2)
            equal('values of memory', sum(counts), len(exact[MEMORY]))
        with tap.test('{}: {}: nonsense is no series'.format(mpi, os.path.basename(trace))):
            for words in ('', 'x', '99999', ',', '-1'):
                equal(words, server.ask('values', series=words)[1], b'')
        server.stop()


def derived(tap):
    """IPC and memory bandwidth follow from counters that are read together."""
    out = os.path.join(harness.scratch('derived'), 'a')
    lines = ['member {} 0 4 1 0 #'.format(name) for name in ('PAPI_TOT_CYC', 'PAPI_TOT_INS', 'PAPI_L3_TCM')]
    lines += ['class 0 0 1 2', 'class 0 0']
    lines += ['0 0 value 0 0 0 0', '0 0 enter 0', '0 1000 value 0 2000 3000 10', '0 1000 enter 1']
    lines += ['0 3000 value 0 2000 3000 50', '0 3000 leave 1', '0 4000 value 0 6000 4000 50', '0 4000 leave 0']
    lines += ['1 0 value 1 0', '1 0 enter 0', '1 1000 value 1 500', '1 1000 leave 0']
    os.makedirs(out)
    program = os.path.join(harness.BUILD, 'tests/otf2/metrics')
    subprocess.run([program, out], input='\n'.join(lines).encode(), check=True, timeout=60)
    server = Server(os.path.join(out, 'traces.otf2'))
    with tap.test('IPC and memory bandwidth, of a thread that counted what they are made of'):
        series = server.json('series')['series']
        known = {(one['name'], one['row']): number for number, one in enumerate(series)}
        equal('rows', sorted(row for name, row in known if name in ('IPC', 'memory bandwidth')), [0, 0])
        ipc, bandwidth = (known[name, 0] for name in ('IPC', 'memory bandwidth'))
        equal(
            'units',
            [(series[i]['unit'], series[i]['is_rate']) for i in (ipc, bandwidth)],
            [('instructions a cycle', False), ('bytes', True)],
        )
        window = {'from': 0, 'to': 4000}
        most = [[value[1] for value in values_of(server, i, 4, **window)] for i in (ipc, bandwidth)]
        equal('IPC', most[0][0], 1.5)
        equal('nothing ran', most[0][2], 0)
        equal('IPC at the end', most[0][3], 0.25)
        equal('bandwidth', [most[1][0], most[1][2]], [64 * 10 / 1e-6, 64 * 40 / 2e-6])
    server.stop()


def in_browser(tap, mpi):
    program = mpi.build('../planted/hybrid.c', '-fopenmp')
    options = ['--trace', '--threads', '--memory', '-q']
    run = None
    with tap.test('{}: hybrid: threads and memory are recorded'.format(mpi)):
        run = mpi.profile(program, 2, [], options).ended(0)
    if not run:
        return
    server = Server(run.directory)
    seen_in_browser(tap, '{}: hybrid'.format(mpi), 'view_rows.mjs', server.address)
    server.stop()
    by_any_number(tap, '{}: hybrid'.format(mpi), run.directory)


def archive_of(archives, name):
    return os.path.join(os.path.dirname(os.path.dirname(archives['scorep-late'])), name, 'traces.otf2')


def called(anchor):
    """Of each location what calls had: (begin, depth) -> root and file, as far as otf2-print tells them."""
    clock = harness.run(['otf2-print', '-G', anchor]).ended(0).out
    ticks, offset = map(int, re.search(r'Ticks per Seconds: (\d+), Global Offset: (\d+)', clock).groups())
    found = {}
    for event in otf2_print.events(anchor):
        calls, stack = found.setdefault(event.location, ({}, []))
        if event.kind == 'ENTER':
            stack.append(((event.time - offset) * 10**9 // ticks, len(stack)))
        elif event.kind == 'LEAVE':
            stack.pop()
        elif event.kind == 'MPI_COLLECTIVE_END' and event.root != 'NONE':
            calls.setdefault(stack[-1], {})['root'] = int(event.root)
        elif event.kind.startswith('IO_') and 'handle' in event:
            calls.setdefault(stack[-1], {}).setdefault('file', event.handle.strip('"').partition('file://')[2])
    return [calls for _, (calls, _) in sorted(found.items())]


def details(tap, archives):
    """The root of a collective operation, the file of a call, names of communicators."""
    for name, key, least in (('scorep-coll', 'root', 20), ('scorep-io', 'file', 40)):
        server = Server(archive_of(archives, name))
        with tap.test('{}: the {} of each call, as otf2-print has it'.format(name, key)):
            some = 0
            for row, wanted in enumerate(called(archive_of(archives, name))):
                for begin, _, _, _, depth, *_ in server.json('slices', row=row)['slices']:
                    found = server.json('call', row=row, begin=begin, depth=depth)
                    equal('row {} at {}'.format(row, begin), found.get(key), wanted.get((begin, depth), {}).get(key))
                    some += key in found
            check(some >= least, '{} calls', some)
            check('MPI_COMM_WORLD' in server.json('about')['comms'], '{}', server.json('about')['comms'])
            equal('no such call', server.json('call', row=0, begin=1, depth=99), {})
        server.stop()


def highest(anchor):
    """Bytes a second of the fastest operation of each location, way and interface, as otf2-print tells them."""
    clock = harness.run(['otf2-print', '-G', anchor]).ended(0).out
    ticks, offset = map(int, re.search(r'Ticks per Seconds: (\d+), Global Offset: (\d+)', clock).groups())
    interfaces = {'[MPI I/O]': 'MPI', '[POSIX I/O]': 'POSIX', '[ISO C I/O]': 'stdio'}
    begun, found = {}, {}
    for event in otf2_print.events(anchor):
        if not event.kind.startswith('IO_OPERATION'):
            continue
        ns, of = (event.time - offset) * 10**9 // ticks, (event.location, event.handle)
        if event.kind == 'IO_OPERATION_BEGIN':
            begun[of] = (ns, event.mode)
        elif event.kind == 'IO_OPERATION_COMPLETE':
            since, mode = begun.pop(of)
            if mode not in ('READ', 'WRITE') or ns == since:
                continue
            name = 'file {}s, {}'.format(mode.lower(), interfaces[event.handle.strip('"').partition('file://')[0]])
            rate = int(event['bytes result']) * 1e9 / (ns - since)
            found[name, event.location] = max(rate, found.get((name, event.location), 0))
    return found


def rates_of_files(tap, archives):
    anchor = archive_of(archives, 'scorep-io')
    server = Server(anchor)
    with tap.test('scorep-io: bytes a second of files, as otf2-print has them'):
        series = server.json('series')['series']
        found = {
            (s['name'], s['row']): values_of(server, i, 1)[0][1] for i, s in enumerate(series) if 'file ' in s['name']
        }
        wanted = highest(anchor)
        check(len(wanted) > 4, '{}', wanted)
        equal('series', sorted(found), sorted(wanted))
        for key, rate in wanted.items():
            check(abs(found[key] - rate) <= rate * 1e-9, '{}: {}, wanted {}', key, found[key], rate)
    server.stop()


def charts_in_browser(tap, archives):
    """Several values in one chart, rows in any order, messages of one function."""
    servers = [Server(archive_of(archives, 'scorep-metrics')), Server(archives['scorep-late'])]
    seen_in_browser(tap, 'charts and order', 'view_charts.mjs', *[server.address for server in servers])
    for server in servers:
        server.stop()


def main():
    tap = harness.Tap()
    harness.patiently()
    archives = foreign(tap)
    details(tap, archives)
    rates_of_files(tap, archives)
    charts_in_browser(tap, archives)
    for name in ('scorep-coll', 'scorep-late'):
        together(tap, name, archives[name])
        by_any_number(tap, name, archives[name])
    derived(tap)
    for mpi in harness.an_mpi(tap):
        waits(tap, mpi)
        values(tap, mpi)
        in_browser(tap, mpi)
    tap.done()


main()
