#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fvmpi view's server sums up of a stretch of time and rows, and calls that it finds: against the events of the
archive as otf2-print tells them, summed up here. Bookmarks: who may leave some, and what becomes of them."""
import base64
import json
import os
import random
import re
import struct
import sys
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
import otf2_print
from analysis_json import Analysis
from report import check, equal
from served import seen_in_browser
from viewed import Server, Tiles, counted, events_of, foreign, windows

SUMS = 'region count inclusive exclusive longest wait sampled shortest whole least most least_row most_row'.split()


def stretches(span, rows):
    """Windows, each of all rows or of some."""
    choose = random.Random(815)
    for begin, end in windows(span):
        first = choose.randrange(rows)
        yield begin, end, 0, rows
        yield begin, end, first, choose.randrange(1, rows - first + 1)


def asked(begin, end, first, rows):
    return {'from': begin, 'to': end, 'first': first, 'rows': rows}


def inside(calls, begin, end):
    return [call for call in calls if call[0] < end and call[1] > begin]


def wanted_sums(exact, begin, end, rows):
    """By name: durations of whole calls, and which rows have least and most of it."""
    by_row = [counted(exact[row], begin, end) for row in rows]
    wanted = {}
    for name in {name for row in by_row for name in row}:
        whole = [u - b for row in rows for b, u, n, *_ in inside(exact[row], begin, end) if n == name]
        own = [row.get(name, (0, 0, 0))[2] for row in by_row]
        wanted[name] = (min(whole), max(whole), sum(whole), min(own), max(own))
        wanted[name] += (rows[own.index(min(own))], rows[own.index(max(own))])
    return wanted


def functions(tap, name, server, names, exact, span):
    rows_counted = [
        row for row, (_, thread, *_) in enumerate(server.json('about')['rows']) if exact[row] or not thread
    ]  # other threads without events are in no sum

    with tap.test(name + ': durations of calls, and rows that have least and most'):
        for window in stretches(span, len(exact)):
            begin, end, first, rows = window
            answer = server.json('sums', **asked(*window))
            sums = [dict(zip(SUMS, row)) for row in answer['regions']]
            own = [row for row in range(first, first + rows) if row in rows_counted]
            lives = [
                (min(call[0] for call in exact[row]), max(call[1] for call in exact[row])) for row in own if exact[row]
            ]
            equal('rows', answer['rows'], len(own))
            inside_ns = sum(max(min(until, end) - max(since, begin), 0) for since, until in lives)
            equal('their time, each from its first event to its last one', answer['rows_ns'], inside_ns)
            keys = 'shortest longest whole least most least_row most_row'.split()
            found = {names[sum['region']]: tuple(sum[key] for key in keys) for sum in sums}
            equal(str(window), found, wanted_sums(exact, begin, end, own))
    with tap.test(name + ': a function by row'):
        for begin, end, first, rows in stretches(span, len(exact)):
            region = random.Random(begin).randrange(len(names))
            found = server.json('shares', region=region, **asked(begin, end, first, rows))['rows']
            own = [row for row in range(first, first + rows) if row in rows_counted]
            wanted = [counted(exact[row], begin, end).get(names[region], (0, 0, 0)) for row in own]
            equal(names[region], [tuple(row[1:4]) for row in found], wanted)
            equal('rows', [row[0] for row in found], own)


def wanted_tree(exact, begin, end, first, rows):
    """By the names around it: calls, inclusive and exclusive ns."""
    tree = {}

    def add(path, *more):
        tree[path] = tuple(a + b for a, b in zip(tree.get(path, (0, 0, 0)), more))

    for calls in exact[first : first + rows]:
        for since, until, name, _, around in inside(calls, begin, end):
            part = min(until, end) - max(since, begin)
            add((*around, name), 1, part, part)
            if around:
                add(tuple(around), 0, 0, -part)
    return tree


def paths_of(nodes, names):
    paths, found = [], {}
    for parent, region, *numbers in nodes:
        paths.append((paths[parent] if parent is not None else ()) + (names[region],))
        found[paths[-1]] = tuple(numbers[:3])
    return found


def tree(tap, name, server, names, exact, span):
    with tap.test(name + ': call paths'):
        for window in stretches(span, len(exact)):
            answer = server.json('tree', **asked(*window))
            equal('left out', answer['left_out'], 0)
            equal(str(window), paths_of(answer['nodes'], names), wanted_tree(exact, *window))


def bar(ns):
    """The one of fv_timeline_bar() that begins last, not after it."""
    return max((b for b in range(256) if (4 + b % 4) * 2.0 ** (b // 4 - 2) <= ns), default=0)


def calls(tap, name, server, names, exact, span):
    with tap.test(name + ': calls by duration and by time, their histogram'):
        for begin, end, first, rows in stretches(span, len(exact)):
            choose = random.Random(begin + rows)
            region, other = choose.randrange(len(names)), choose.randrange(len(names))
            all = [
                (u - b, b, row)
                for row in range(first, first + rows)
                for b, u, n, *_ in inside(exact[row], begin, end)
                if n in (names[region], names[other])
            ]
            least, most = sorted(choose.choice(all)[0] for _ in range(2)) if all else (0, 10**9)
            wanted = sorted((call for call in all if least <= call[0] <= most), key=lambda c: (-c[0], c[1], c[2]))
            window = asked(begin, end, first, rows)
            window['region'] = '{},{}'.format(region, other)
            found = server.json('calls', least=least, most=most, count=5, **window)
            equal('longest', [(c[1], c[0], c[8]) for c in found['calls']], wanted[:5])
            equal('counts', [found[key] for key in ('all', 'in_range')], [len(all), len(wanted)])
            equal('left out', found['left_out'], max(len(wanted) - 5, 0))
            equal('all of it', found['all_ns'], sum(call[0] for call in all))
            bars = {}
            for ns, *_ in all:
                bars[bar(ns)] = bars.get(bar(ns), 0) + 1
            equal('histogram', dict(found['bars']), bars)
            since = sorted((b, row) for _, b, row in all if b >= begin)
            found = server.json('calls', order=1, count=3, **window)['calls']
            equal('earliest', [(c[0], c[8]) for c in found], since[:3])
            found = server.json('calls', order=2, count=1, **window)['calls']
            equal('latest', [c[0] for c in found], [b for b, _ in since[-1:]])


def waiting(tap, name, server, about, span):
    rows = len(about['rows'])
    with tap.test(name + ': waiting by function and late row'):
        some = 0
        for begin, end, first, many in stretches(span, rows):
            wanted = {}
            for row in range(first, first + many):
                window = {'from': begin, 'to': end}
                for since, _, wait, region, _, _, cause, *_ in server.json('slices', row=row, **window)['slices']:
                    part = min(since + wait, end) - max(since, begin)
                    if wait and part > 0:
                        n, sum, longest = wanted.get((region, cause), (0, 0, 0))
                        wanted[region, cause] = (n + 1, sum + part, max(longest, wait))
            found = server.json('waits', **asked(begin, end, first, many))['waits']
            equal(str(begin), {(row[0], row[1]): tuple(row[2:]) for row in found}, wanted)
            equal('longest first', [row[3] for row in found], sorted((row[3] for row in found), reverse=True))
            some += len(found)
        check(some, 'no waiting')


def messages(tap, name, server, anchor, span, rows):
    with tap.test(name + ': messages by pair and size'):
        wanted = {}
        for event in otf2_print.events(anchor):
            if event.kind in ('MPI_SEND', 'MPI_ISEND'):
                key = (event.location, event.receiver)
                wanted.setdefault(key, []).append(int(event.length))
        cells = server.json('traffic')['cells']
        equal('messages sent', sorted(c[2:] for c in cells), sorted([len(m), sum(m)] for m in wanted.values()))
        of_rows = [asked(0, span, row, 1) for row in range(rows)]
        equal(
            'of each row',
            [len(server.json('messages', **window)['messages']) for window in of_rows],
            [sum(c[2] for c in cells if row in c[:2]) for row in range(rows)],
        )
        for begin, end, first, many in stretches(span, rows):
            shown = range(first, first + many)
            found = server.json('messages', **{'from': begin, 'to': end})['messages']
            found = [m for m in found if m[2] in shown or m[3] in shown]
            equal('of rows', server.json('messages', **asked(begin, end, first, many))['messages'], found)
            few = server.json('messages', most=len(found) - 1, **asked(begin, end, first, many))
            equal('too many', (few['messages'], few['left_out']), ([], len(found)))
            pairs, sizes = {}, {}
            for _, _, sender, receiver, size, *_ in found:
                for table, key in ((pairs, (sender, receiver)), (sizes, size.bit_length())):
                    n, sent = table.get(key, (0, 0))
                    table[key] = (n + 1, sent + size)
            traffic = server.json('traffic', **asked(begin, end, first, many))
            equal('groups', (traffic['groups'], traffic['merge']), (rows, 1))
            equal('pairs', {(c[0], c[1]): tuple(c[2:]) for c in traffic['cells']}, pairs)
            equal('sizes', {s[0]: tuple(s[1:]) for s in traffic['sizes']}, sizes)


def matched(anchor):
    """(sent, received, sender, receiver, bytes) of each message: sends and receives of a pair, communicator and tag
    belong together in the order in which they were begun."""
    clock = harness.run(['otf2-print', '-G', anchor]).ended(0).out
    ticks, offset = map(int, re.search(r'Ticks per Seconds: (\d+), Global Offset: (\d+)', clock).groups())
    sends, receives, posted, entered = {}, {}, {}, {}
    for number, event in enumerate(otf2_print.events(anchor)):
        kind, here, ns = event.kind, event.location, (event.time - offset) * 10**9 // ticks
        if kind == 'ENTER':
            entered[here] = number
        elif kind == 'MPI_IRECV_REQUEST':
            posted[here, event.request] = number
        elif kind in ('MPI_SEND', 'MPI_ISEND'):
            key = (here, int(event.receiver), event['communicator id'], event.tag)
            sends.setdefault(key, []).append((number, ns, int(event.length)))
        elif kind in ('MPI_RECV', 'MPI_IRECV'):
            key = (int(event.sender), here, event['communicator id'], event.tag)
            begun = entered[here] if kind == 'MPI_RECV' else posted[here, event.request]
            receives.setdefault(key, []).append((begun, ns))
    equal('channels', sorted(sends), sorted(receives))
    for key, all in sends.items():
        equal(str(key), len(all), len(receives[key]))
        for (_, sent, size), (_, received) in zip(sorted(all), sorted(receives[key])):
            yield sent, received, key[0], key[1], size


def of_calls(tap, name, server, anchor, names, exact, span):
    with tap.test(name + ': messages by pair and size of calls of some functions'):
        all, some = list(matched(anchor)), 0

        def is_of(row, ns, wanted):
            return any(begin <= ns <= end for begin, end, region, *_ in exact[row] if region in wanted)

        choose = random.Random(46)
        each = [[region] for region in range(len(names))] + [choose.sample(range(len(names)), 2) for _ in names]
        asked_for = [((0, span, 0, len(exact)), regions) for regions in each]
        asked_for += [(window, choose.choice(each)) for window in stretches(span, len(exact))]
        for (begin, end, first, rows), regions in asked_for:
            wanted, pairs, sizes = {names[region] for region in regions}, {}, {}
            for sent, received, sender, receiver, size in all:
                is_there = sent < end and received >= begin
                is_in = first <= sender < first + rows or first <= receiver < first + rows
                if not (is_there and is_in and (is_of(sender, sent, wanted) or is_of(receiver, received, wanted))):
                    continue
                for table, key in ((pairs, (sender, receiver)), (sizes, size.bit_length())):
                    n, bytes = table.get(key, (0, 0))
                    table[key] = (n + 1, bytes + size)
            found = server.json('traffic', region=','.join(map(str, regions)), **asked(begin, end, first, rows))
            equal('{} {}'.format(wanted, begin), {(c[0], c[1]): tuple(c[2:]) for c in found['cells']}, pairs)
            equal('sizes', {s[0]: tuple(s[1:]) for s in found['sizes']}, sizes)
            some += 0 < sum(n for n, _ in pairs.values()) < len(all)
        check(some, 'none of a part of them')
        equal('none', server.json('traffic', region='x')['cells'], [])


# ---- collective operations ----

KIND = 'region operations calls ns wait sent received alone partial spread longest begin end row'.split()


def wanted_kinds(calls, begin, end, rows):
    """By region: calls, ns, bytes sent and received, calls that are alone, operations, their spread, and the longest
    operations: (ns, begin, end, rows that were last)."""
    operations = {}
    for i, (row, since, until, region, comm, number, members, sent, received) in enumerate(calls):
        operations.setdefault((comm, number) if number else i, []).append(calls[i])
    wanted = {}
    for all in operations.values():
        seen = [c for c in all if c[0] in rows and c[1] < end and (not begin or c[2] > begin)]
        if not seen:
            continue
        region = min(all)[3]
        kind = wanted.setdefault(region, [0] * 6 + [[]])
        more = (
            len(seen),
            sum(min(c[2], end) - max(c[1], begin) for c in seen),
            sum(c[7] for c in seen),
            sum(c[8] for c in seen),
            len(seen) * (all[0][5] is None),
        )
        kind[:5] = [a + b for a, b in zip(kind, more)]
        if all[0][5] is None:
            continue
        equal('members', len(all), all[0][6])
        begins = [c[1] for c in all]
        last = [c[0] for c in all if c[1] == max(begins)]
        kind[5] += 1
        kind[6].append((max(begins) - min(begins), min(begins), max(c[2] for c in all), last))
    return wanted


def waits_in(waits, calls, kind, begin, end, rows):
    """Of blocking calls."""
    return sum(
        max(min(since + wait, end) - max(since, begin), 0)
        for row, since, wait, region in waits
        if row in rows and region == kind['region'] and any(c[0] == row and c[1] == since for c in calls)
    )


def same_kind(region, kind, sums, operations):
    keys = 'calls ns sent received alone operations'.split()
    equal(region, [kind[key] for key in keys], sums)
    equal('spread of ' + region, kind['spread'], sum(o[0] for o in operations))
    equal('partial ' + region, kind['partial'], 0)
    if not operations:
        return
    longest = max(o[0] for o in operations)
    equal('longest ' + region, kind['longest'], longest)
    is_one = any(o[:3] == (longest, kind['begin'], kind['end']) and kind['row'] in o[3] for o in operations)
    check(is_one, '{} of {}', kind, operations)


def collectives(tap, name, server, anchor, names, many_rows, span, has_waits=True):
    with tap.test(name + ': collective operations: calls, times, bytes and how far members are apart'):
        calls = harness.otf2_operations(anchor)['collectives']
        slices = [(row, s) for row in range(many_rows) for s in server.json('slices', row=row)['slices']]
        waits = [(row, s[0], s[2], s[3]) for row, s in slices if s[2]]
        some = 0
        for begin, end, first, many in stretches(span, many_rows):
            rows = range(first, first + many)
            answer = server.json('collectives', **asked(begin, end, first, many))
            found = [dict(zip(KIND, row)) for row in answer['kinds']]
            wanted = wanted_kinds(calls, begin, end, rows)
            equal('{} to {}'.format(begin, end), sorted(names[k['region']] for k in found), sorted(wanted))
            for kind in found:
                *sums, operations = wanted[names[kind['region']]]
                same_kind(names[kind['region']], kind, sums, operations)
                if has_waits:
                    equal('waiting', kind['wait'], waits_in(waits, calls, kind, begin, end, rows))
                some += len(operations)
        check(some, 'no operations')


def without_communicators(tap, place):
    """EZTrace's communicator has not all of its members: what is not known is not told."""
    with tap.test('eztrace-late: calls of collective operations that cannot be put together have no imbalance'):
        server = Server(os.path.join(place, 'eztrace-late', 'eztrace_log.otf2'))
        kinds = [dict(zip(KIND, row)) for row in server.json('collectives')['kinds']]
        rows = len(server.json('about')['rows'])
        check(kinds, 'none')
        for kind in kinds:
            whole = kind['operations'] - kind['partial']
            equal('calls', kind['calls'] >= kind['alone'] + whole * rows, True)
            check(whole or not (kind['spread'] or kind['longest']), '{}', kind)
        server.stop()


def waited(all):
    """How long the calls of an operation on a window waited: nobody waits for who comes when the call is over."""
    last = max(c[1] for c in all)
    return sum(last - c[1] for c in all if c[2] > last)


def on_windows(tap, name, trace, anchor):
    """The n-th of a window on one rank is the n-th on the others; analysis.json counts them for itself."""
    of = ('MPI_Win_create', 'MPI_Win_fence', 'MPI_Win_free')
    with tap.test(name + ': operations on windows: waiting as the analysis has it, and as follows from their begins'):
        operations = {}
        for call in harness.otf2_operations(anchor)['collectives']:
            if call[3] in of:
                operations.setdefault((call[4], call[5]), []).append(call)
        statement = "SELECT function, begin_s, calls, complete, spread_s, wait_s FROM trace_collectives WHERE function "
        statement += "IN ('{}')".format("', '".join(of))
        told = json.loads(harness.run([harness.FVMPI, 'query', trace, statement, '--json']).ended(0).out)['rows']
        told = sorted([f, round(b * 1e9), n, whole, *(round(s * 1e9) for s in more)] for f, b, n, whole, *more in told)
        begins = {key: [c[1] for c in all] for key, all in operations.items()}
        wanted = sorted(
            [all[0][3], min(begins[key]), len(all), 1, max(begins[key]) - min(begins[key]), waited(all)]
            for key, all in operations.items()
        )
        equal('operations', told, wanted)
        sites = Analysis(os.path.dirname(anchor)).data['callsites']
        for function in of:
            waits = [row['wait_s'] for site in sites if site['function'] == function for row in site['per_rank']]
            waits = sum(round(wait * 1e9) for wait in waits)
            equal('waiting in ' + function, sum(row[5] for row in told if row[0] == function), waits)
            check(waits, 'none waited in {}', function)


def alone(tap, mpi):
    with tap.test('{}: operations on MPI_COMM_SELF are those of a rank'.format(mpi)):
        run = mpi.profile(mpi.build('../view/alone.c'), 2, [], ['--trace', '-q']).ended(0)
        statement = "SELECT calls, complete FROM trace_collectives WHERE function = 'MPI_Allreduce'"
        told = json.loads(harness.run([harness.FVMPI, 'query', run.directory, statement, '--json']).ended(0).out)
        equal('operations', told['rows'], [[1, None]] * 10)
        server = Server(run.directory)
        region = [region[0] for region in server.json('about')['regions']].index('MPI_Allreduce')
        for row in (0, 1):
            slices = server.json('slices', row=row)['slices']
            _, begin, depth = max((s[1], s[0], s[4]) for s in slices if s[3] == region)
            found = server.json('together', row=row, begin=begin, depth=depth)
            equal('members', (found['members'], [call[0] for call in found['calls']]), (1, [row]))
        server.stop()


# ---- files ----

INTERFACES = {'MPI I/O': 0, 'MPI-IO': 0, 'POSIX I/O': 1, 'ISO C I/O': 2}
FILE = 'opens reads writes others read written unknown ns moving longest begin row'.split()


def wanted_files(io, begin, end, rows):
    wanted = {}
    for row, since, until, name, interface, kind, size in io:
        if row not in rows or since >= end or (begin and until <= begin):
            continue
        key = (name, INTERFACES[interface])
        of = wanted.setdefault(key, dict.fromkeys(FILE, 0))
        of[{'open': 'opens', 'read': 'reads', 'write': 'writes'}.get(kind, 'others')] += 1
        of['ns'] += max(min(until, end) - max(since, begin), 0)
        if kind in ('read', 'write'):
            of['unknown'] += size is None
            of['read' if kind == 'read' else 'written'] += size or 0
            of['moving'] += 0 if size is None else until - since
        of['longest'] = max(of['longest'], until - since)
    return wanted


def in_words(operation):
    return [*operation[:4], ('MPI', 'POSIX', 'stdio')[INTERFACES[operation[4]]], *operation[5:]]


def files_by_query(trace):
    statement = 'SELECT rank, begin_s, end_s, file, interface, kind, bytes FROM trace_io'
    rows = json.loads(harness.run([harness.FVMPI, 'query', trace, statement, '--json']).ended(0).out)['rows']
    return sorted(([row[0], *(round(s * 1e9) for s in row[1:3]), *row[3:]] for row in rows), key=str)


def files(tap, name, anchor, trace=None):
    server = Server(trace or anchor)
    about = server.json('about')
    with tap.test(name + ': files: what was opened, read and written, and how long that took'):
        io = harness.otf2_operations(anchor)['io']
        for begin, end, first, many in stretches(about['span_ns'], len(about['rows'])):
            answer = server.json('files', **asked(begin, end, first, many))
            equal('left out', answer['left_out'], 0)
            found = {(f[0], f[2][0]): dict(zip(FILE, f[2][1:])) for f in answer['files']}
            wanted = wanted_files(io, begin, end, range(first, first + many))
            equal('files', sorted(found), sorted(wanted))
            for key, of in found.items():
                is_there = [key[0], of['begin'], of['begin'] + of.pop('longest'), of.pop('row')]
                check(is_there in [[i[3], i[1], i[2], i[0]] for i in io], '{} has no {}', key, is_there)
                longest = wanted[key].pop('longest')
                equal('longest of {}'.format(key), is_there[2] - is_there[1], longest)
                of.pop('begin'), wanted[key].pop('begin'), wanted[key].pop('row')
                equal(str(key), of, wanted[key])
        equal('operations', about['io'], len(io))
        equal('one by one, by SQL', files_by_query(trace or anchor), sorted(map(in_words, io), key=str))
        check(len(io) > 10, 'only {}', len(io))
        equal('left out of the index', about['left_out']['io'], 0)
    if not trace:
        seen_in_browser(tap, name, 'view_statistics.mjs', server.address, name)
    server.stop()


def unified(mpi, program, arguments, options, ranks=2):
    """A run, and its archive."""
    run = mpi.profile(mpi.build(program), ranks, arguments, ['--trace', '--sample=off', '-q', *options]).ended(0)
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
    return run.directory, os.path.join(run.directory, 'traces.otf2')


def recorded(tap, mpi):
    """Rank files have what their archive has."""
    snapshot = os.path.join(harness.scratch('files'), 'snapshot')
    if not harness.SANITIZER:  # it is in front of the C library itself
        directory, anchor = unified(mpi, '../io/rank0.c', [snapshot], ['--io'])
        for trace in (directory, anchor):
            files(tap, '{}, --io, {}'.format(mpi, os.path.basename(trace)), anchor, trace)
    directory, anchor = unified(mpi, 'nonblocking.c', [], [])
    server = Server(directory)
    about = server.json('about')
    names = [row[0] for row in about['regions']]
    title = '{}, non-blocking'.format(mpi)
    collectives(tap, title, server, anchor, names, 2, about['span_ns'], has_waits=False)
    server.stop()
    alone(tap, mpi)
    directory, anchor = unified(mpi, 'owners.c', [os.path.join(harness.scratch('windows'), 'data')], [])
    server = Server(directory)
    about = server.json('about')
    title = '{}, windows'.format(mpi)
    collectives(tap, title, server, anchor, [row[0] for row in about['regions']], 2, about['span_ns'])
    server.stop()
    for trace in (directory, anchor):
        on_windows(tap, '{}, {}'.format(title, os.path.basename(trace)), trace, anchor)
    directory, anchor = unified(mpi, 'waitpaths.c', ['paths'], [], ranks=4)
    server = Server(directory)
    about = server.json('about')
    names = [row[0] for row in about['regions']]
    of_calls(tap, '{}, wait paths'.format(mpi), server, anchor, names, events_of(anchor), about['span_ns'])
    server.stop()


# ---- what rows spend their time on ----


def profiles(tap, name, server, names, exact, span):
    with tap.test(name + ': the time of each row by function'):
        for begin, end, first, rows in stretches(span, len(exact)):
            found = server.json('profiles', **asked(begin, end, first, rows))['rows']
            equal('rows', [row[0] for row in found], list(range(first, first + rows)))
            for row, *told in found:
                own = {name: sums[2] for name, sums in counted(exact[row], begin, end).items()}
                least = (end - begin) // 4000 + 1
                wanted = {name: ns for name, ns in own.items() if ns >= least}
                equal('row {}'.format(row), {names[r]: ns for r, ns in zip(told[:-1:2], told[1:-1:2])}, wanted)
                equal('rest of {}'.format(row), told[-1], sum(own.values()) - sum(wanted.values()))


def archive(tap, name, anchor):
    server = Server(anchor)
    about = server.json('about')
    names, span = [row[0] for row in about['regions']], about['span_ns']
    exact = events_of(anchor)
    functions(tap, name, server, names, exact, span)
    tree(tap, name, server, names, exact, span)
    calls(tap, name, server, names, exact, span)
    profiles(tap, name, server, names, exact, span)
    collectives(tap, name, server, anchor, names, len(exact), span)
    if name != 'scorep-rma':
        waiting(tap, name, server, about, span)
    if about['messages']:
        messages(tap, name, server, anchor, span, len(about['rows']))
        of_calls(tap, name, server, anchor, names, exact, span)
    if name == 'scorep-late':
        seen_in_browser(tap, name, 'view_statistics.mjs', server.address, name)
    equal('stopped', server.stop().rc, 0)


IN_OPENMP = ('omp barrier', 'omp implicit barrier', 'omp lock')  # where an experiment has what threads wait


def sums_by_name(trace):
    """Calls, time, time itself and waiting of each region; and all waiting."""
    server = Server(trace)
    names = [row[0] for row in server.json('about')['regions']]
    sums = {names[row[0]]: (*row[1:4], row[5]) for row in server.json('sums')['regions']}
    equal('stopped', server.stop().rc, 0)
    return sums, sum(row[-1] for row in sums.values())


def experiments(tap, place):
    """An experiment that is made of an archive, as a report of it or of a part of it, says what the archive says."""
    for name in ('scorep-late', 'scorep-coll', 'scorep-rma', 'scorep-hybrid', 'scorep-omp'):
        anchor = os.path.join(place, name, 'traces.otf2')
        with tap.test('{}: an experiment of it has the same'.format(name)):
            directory = os.path.join(harness.scratch('experiments'), name)
            harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', '-o', directory, anchor]).ended(0)
            (wanted, waited), (found, also) = sums_by_name(anchor), sums_by_name(directory)
            threads = [found.pop(of) for of in IN_OPENMP if of in found]
            check(waited > 0, 'no waiting')
            check(abs(waited - also) <= len(found), 'waiting {}, wanted {}', also, waited)
            if threads:
                of_calls = lambda sums: {of: row[:2] for of, row in sums.items()}
                equal('regions', of_calls(found), of_calls(wanted))
            else:
                equal('regions', found, wanted)


def part_of_experiment(tap, place):
    """Windows that were made before a part begins (at 0.42 s) are known in it."""
    with tap.test('scorep-rma: a part has the waits of its fences'):
        directory = os.path.join(harness.scratch('part'), 'e')
        words = ['-q', '--from', '0.43', '-o', directory, os.path.join(place, 'scorep-rma', 'traces.otf2')]
        harness.run([os.path.join(harness.BUILD, 'fvunify'), *words]).ended(0)
        found, _ = sums_by_name(directory)
        check('MPI_Win_allocate' not in found, '{}', list(found))
        equal('fences', found['MPI_Win_fence'][0], 10)
        check(found['MPI_Win_fence'][-1] > found['MPI_Win_fence'][1] / 2, '{}', found['MPI_Win_fence'])


def waits_in_page(directory):
    """Of each row of a page's timeline, by rank and thread: how long each call took and waited, and for whom."""
    page, rows = os.path.join(directory, 'page.html'), {}
    harness.run([harness.FVMPI, 'report', directory, '--html', page]).ended(0)
    with open(page) as f:
        packed = re.search(r'class="timeline">([^<]*)<', f.read()).group(1)
    timeline = json.loads(zlib.decompress(base64.b64decode(packed), 31))
    equal('left out', timeline['left_out'], 0)
    for row in timeline['rows']:
        waited = {i: tuple(of) for i, *of in zip(*[iter(row['waits'])] * 4)}
        rows[row['rank'], row['thread']] = [(ns, waited.get(i)) for i, ns in enumerate(row['durations'])]
    return timeline['waits_analysed'], rows


def page_waits(tap, mpi, server, directory):
    """The one-file page and this say the same of the same calls, once fvunify was there."""
    with tap.test('{}: waits of calls are those of the one-file page'.format(mpi)):
        equal('before fvunify', waits_in_page(directory)[0], False)
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
        with open(os.path.join(directory, 'analysis.json')) as f:
            analysis = json.load(f)
        doubts, sides = server.json('about')['doubts'], analysis['unmatched']
        equal('early', doubts['early'], sides.pop('early'))
        equal('missing', doubts['missing'], sum(sides.values()))
        estimated = sum(of['wait_s'] for of in analysis['kinds'] if of['kind'] in ('no_progress', 'late_taker'))
        equal('estimated', doubts['estimated_ns'], round(estimated * 1e9))
        is_analysed, found = waits_in_page(directory)
        about, some = server.json('about'), 0
        equal('analysed', is_analysed, True)
        for row, (rank, thread, *_) in enumerate(about['rows']):
            slices = sorted(server.json('slices', row=row, **{'from': 0, 'to': about['span_ns']})['slices'])
            wanted = []
            for _, ns, wait, region, _, _, cause, *_ in slices:
                if about['regions'][region][0].startswith('MPI_'):
                    wanted.append((ns, (wait, *about['rows'][cause][:2]) if wait else None))
            all = found.get((rank, thread), [])
            equal('waits of row {}'.format(row), [of for _, of in all], [of for _, of in wanted])
            check(all and max(abs(a[0] - b[0]) for a, b in zip(all, wanted)) <= 1000, 'durations of row {}', row)
            some += sum(1 for _, of in all if of)
        check(some, 'no call waited')
        place = os.path.join(directory, '.fvmpi-view')
        with open(os.path.join(place, 'timeline'), 'rb') as f:
            index = f.read()
        slices = server.json('slices', row=0, **{'from': 0, 'to': about['span_ns']})['slices']
        ends = min(of[0] for of in slices), max(of[0] + of[1] for of in slices)
        row = struct.pack('<QQ', *ends)
        check(index.count(row) >= 1, 'its row is not there')
        with open(os.path.join(place, 'timeline'), 'wb') as f:
            f.write(index.replace(row, struct.pack('<QQ', ends[0], 2**64 - 1)))
        equal('a row without an end', waits_in_page(directory), (True, found))
        with open(os.path.join(place, 'timeline'), 'wb') as f:
            f.write(b'damaged')  # of the user: none is made in its place
        equal('analysed without an index', waits_in_page(directory), (True, found))
        equal('left', sorted(os.listdir(place)), ['timeline'])
        equal('size', os.path.getsize(os.path.join(place, 'timeline')), 7)
        os.unlink(os.path.join(place, 'timeline'))


def sampled(tap, mpi):
    """Of a run without instrumented functions, call paths are those of MPI's calls and of samples."""
    with tap.test('{}: call paths of calls and samples: all of the time, and the program above its calls'.format(mpi)):
        run = mpi.profile(mpi.build('../planted/planted.c'), 2, ['imbalance'], ['--trace', '-q']).ended(0)
        server = Server(run.directory)
        names = [row[0] for row in server.json('about')['regions']]
        nodes = server.json('tree')['nodes']
        paths = paths_of(nodes, names)
        own = sum(row[3] for row in server.json('sums')['regions'])
        equal('time', sum(path[2] for path in paths.values()), own)
        equal('of the roots', sum(numbers[1] for path, numbers in paths.items() if len(path) == 1), own)
        check(any(path[-1].startswith('MPI_') and 'main' in path for path in paths), '{}', paths)
    page_waits(tap, mpi, server, run.directory)
    server.stop()
    with tap.test('{}: call paths: samples in libraries are of the function that called them'.format(mpi)):
        program = mpi.build('../../share/examples/heat.c', '-lm')
        run = mpi.profile(program, 2, [], ['--trace', '--sample=1000', '-q']).ended(0)
        server = Server(run.directory)
        names = [row[0] for row in server.json('about')['regions']]
        paths = paths_of(server.json('tree')['nodes'], names)
        check(any('react' in path for path in paths), '{}', paths)
        with open(os.path.join(harness.SOURCE, 'share/examples/heat.c')) as source:
            own = set(re.findall(r'^(?:static )?\w+ \*?(\w+)\(', source.read(), re.M))  # libraries may call themselves
        check({'main', 'react', 'draw'} <= own, '{}', own)
        equal('twice', [path for path in paths if any(path.count(name) > 1 for name in own)], [])
        within = {path[-1] for path in paths if any(name.startswith('MPI_') for name in path[:-1])}
        equal('what MPI calls within a call', within - {'sched_yield', 'look'}, set())  # the harness's own library
        server.stop()


IDLE = '''
import otf2, sys
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as trace:
    node = trace.definitions.system_tree_node("node", "machine")
    group = trace.definitions.location_group("process", system_tree_parent=node)
    region = trace.definitions.region("work")
    works, idles = (trace.event_writer(name, group=group) for name in ("works", "idles"))
    for begin, end in ((100, 600), (700, 1100)):
        works.enter(begin, region)
        works.leave(end, region)
'''


def idle(tap):
    with tap.test('a thread without events is in no sum, no mean and no share'):
        python, place = harness.otf2_python(), os.path.join(harness.scratch('idle'), 'idle')
        if not python:
            raise harness.Skip('no python3-otf2 to write it with')
        harness.run([python, '-c', IDLE, place], cwd='/').ended(0)
        server = Server(os.path.join(place, 'traces.otf2'))
        equal('rows', len(server.json('about')['rows']), 2)
        sums = server.json('sums')
        equal('counted', [sums['rows'], sums['rows_ns']], [1, 1000])
        equal('least', dict(zip(SUMS, sums['regions'][0]))['least'], 900)
        equal('shares', [row[0] for row in server.json('shares', region=0)['rows']], [0])
        equal('profiles', [row[0] for row in server.json('profiles')['rows']], [0])
        both = Tiles(server, '0-1', 1, **{'from': 0, 'to': 500})
        equal('both in one line: its part of work', both.row(both.region_parts, 0), [255])
        server.stop()


# ---- bookmarks ----


def post(server, path, text, **more):
    return server.fetch('/' + path, method='POST', data=text.encode(), **more)


def bookmarks(tap, anchor):
    server = Server(anchor)
    file = os.path.join(anchor[: -len('.otf2')] + '.fvmpi/.fvmpi-view', 'bookmarks')
    kept = lambda: server.json('bookmarks')['bookmarks']  # noqa: E731
    with tap.test('bookmarks are kept beside the trace, changed and forgotten'):
        equal('none', kept(), [])
        for place, note in (
            ('0-100,0,24', 'slow "here" <b>'),
            ('5-9,1,24&rows=all', ''),
            ('0-100,0,24', 'again\tand\nmore'),
        ):
            equal('kept', post(server, 'bookmark', place + '\n' + note)[0], 200)
        equal('two', kept(), [['0-100,0,24', 'again and more'], ['5-9,1,24&rows=all', '']])
        server.stop()
        server = Server(anchor)
        equal('later', len(kept()), 2)
        for _ in range(2):
            equal('forgotten', post(server, 'forget', '0-100,0,24\n')[0], 200)
        equal('one', kept(), [['5-9,1,24&rows=all', '']])
    with tap.test('who may not, or sends nonsense, changes none'):
        for path in ('bookmark', 'forget'):
            equal('no token', post(server, path, '5-9,1,24&rows=all\nx', token='0' * 32)[0], 403)
            for header in ({'Origin': 'http://example.org'}, {'Sec-Fetch-Site': 'cross-site'}, {'Host': 'example.org'}):
                equal(str(header), post(server, path, '5-9,1,24&rows=all\nx', headers=header)[0], 403)
            equal('GET', server.ask(path)[0], 405)
            for text in ('', '\nnote', 'p' * 501, 'p\n' + 'n' * 2001, 'p' * 9000, 'a\tb\nnote'):
                equal(text[:9], post(server, path, text)[0], 400)
        equal('one', kept(), [['5-9,1,24&rows=all', '']])
    with tap.test('not more than there is room for; any file, or none that can be written'):
        with open(file, 'w') as f:
            f.write(''.join('{},0,0\tn\n'.format(i) for i in range(600)))
        equal('most', len(kept()), 500)
        equal('full', post(server, 'bookmark', 'new\nnote')[0], 503)
        equal('another note', post(server, 'bookmark', '7,0,0\nnote')[0], 200)
        with open(file, 'wb') as f:
            f.write(bytes(range(256)) * 40)
        server.json('bookmarks')
        os.unlink(file)
        os.mkdir(file)
        equal('none', kept(), [])
        equal('a directory', post(server, 'bookmark', 'new\nnote')[0], 503)
        equal('still there', server.ask('about')[0], 200)
    equal('stopped', server.stop().rc, 0)


def main():
    tap = harness.Tap()
    harness.patiently()
    archives = foreign(tap)
    for name, anchor in archives.items():
        archive(tap, name, anchor)
    place = os.path.dirname(os.path.dirname(archives['scorep-rma']))
    experiments(tap, place)
    part_of_experiment(tap, place)
    files(tap, 'scorep-io', os.path.join(place, 'scorep-io', 'traces.otf2'))
    without_communicators(tap, place)
    bookmarks(tap, archives['scorep-rma'])
    idle(tap)
    for mpi in harness.an_mpi(tap):
        recorded(tap, mpi)
        sampled(tap, mpi)
    tap.done()


main()
