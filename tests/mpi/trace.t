#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The trace says what the profile says, call by call: each call of the report is an event at its call site,
what was sent and received are its details, whatever was posted is completed, in every language; so it is in the
archive. A killed rank's trace reaches to its last call. A used-up budget ends the trace, and what is missing is
counted."""
import collections
import contextlib
import os
import random
import re
import shlex
import shutil
import signal
import struct
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from report import Mismatch, check, equal

LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics
PROGRAMS = 'p2p.c requests.c restarted.c collectives.c persistent.c nonblocking.c inter.c grid.c window.c file.c owners.c comms.c'.split()
ENDS = {
    'isend': ('sent', 'cancelled', 'freed'),
    'irecv': ('received', 'cancelled', 'freed'),
    'icollective': ('done', 'freed'),
}


def event(text):
    """As shlex would, but ten times faster."""
    return {key: value.strip('"') for key, value in re.findall(r'(\w+)=("[^"]*"|\S+)', text)}


class Trace:
    """The events of one rank, from `fvmpi dump`."""

    def __init__(self, path):
        run = harness.run([harness.FVMPI, 'dump', path]).ended(0)
        functions, sites = {}, {}
        self.calls, self.details, self.damage = [], [], []
        chunks = []  # in the file, compressed ones come behind the chunk that they were taken from
        for line in run.out.splitlines():
            kind, _, rest = line.partition(' ')
            if kind == 'chunk':
                chunks.append([])
            if kind == 'damage':
                self.damage.append(line)
            if kind not in ('functions', 'sites', 'event'):
                continue
            row = event(rest) if kind == 'event' else dict(w.split('=', 1) for w in shlex.split(rest))
            if kind == 'functions':
                functions[row['id']] = row['name']
            elif kind == 'sites':
                sites[row['thread'], row['index']] = (row['path'], row['function'])
            else:
                chunks[-1].append(row)
        chunks.sort(key=lambda rows: int(rows[0]['begin']) if rows else 0)
        for row in (row for rows in chunks for row in rows):
            if row['kind'] == 'call':
                row['path'], function = sites[row['thread'], row['site']]
                row['function'] = functions[function]
                row['details'] = []
                self.calls.append(row)
            elif row['kind'] not in ('pause', 'resume'):
                self.calls[-1]['details'].append(row)
                self.details.append((self.calls[-1], row))

    def of(self, *kinds):
        return [row for _, row in self.details if row['kind'] in kinds]

    def sum(self, key, *kinds):
        return sum(int(row[key]) for row in self.of(*kinds))

    def ordered(self):
        last = {}
        for call in self.calls:
            check(
                int(call['begin']) >= last.get(call['thread'], 0) and int(call['end']) >= int(call['begin']),
                'events are out of order: {}',
                call,
            )
            last[call['thread']] = int(call['end'])


EVENT = re.compile(r'^event thread=0 begin=(\d+) end=(\d+) kind="(\w+)"(?: site=(\d+))?', re.M)


def brief_events(path):
    """Of hundreds of thousands: (begin, end, kind, MPI function), in order of time."""
    out = harness.run([harness.FVMPI, 'dump', path]).ended(0).out
    names = dict(re.findall(r'^functions .*\bid=(\d+) .*name="([^"]*)"', out, re.M))
    sites = {
        site: names[function]
        for site, function in re.findall(r'^sites thread=0 index=(\d+) .*function=(\d+)', out, re.M)
    }
    chunks = [EVENT.findall(text) for text in out.split('\nchunk ')]
    chunks.sort(key=lambda rows: int(rows[0][0]) if rows else 0)
    return [(int(begin), int(end), kind, sites.get(site)) for rows in chunks for begin, end, kind, site in rows]


def traces(directory):
    names = sorted(n for n in os.listdir(directory) if re.match(r'rank-\d+\.fvr$', n))
    return [Trace(os.path.join(directory, n)) for n in names]


def completed(trace, rank):
    """Requests: posted once, ended at most once, and only what was posted."""
    for start, ends in ENDS.items():
        posted = [r['request'] for r in trace.of(start)]
        equal('rank {}: {} numbered twice'.format(rank, start), len(posted), len(set(posted)))
        ended = [r['request'] for r in trace.of(*ends) if r['request'] in set(posted)]
        equal('rank {}: {} ended twice'.format(rank, start), len(ended), len(set(ended)))
        equal('rank {}: {} that never ended'.format(rank, start), sorted(set(posted) - set(ended)), [])
    known = {r['request'] for r in trace.of('isend', 'irecv', 'icollective', 'put', 'get', 'atomic', 'read', 'write')}
    equal(
        'rank {}: what ended without a beginning'.format(rank),
        [r for r in trace.of('sent', 'received', 'cancelled', 'done', 'freed') if r['request'] not in known],
        [],
    )


def agrees(report, directory, ranks):
    for rank, trace in enumerate(traces(directory)):
        equal('rank {}: damage'.format(rank), trace.damage, [])
        trace.ordered()
        counts = collections.Counter(c['function'] for c in trace.calls)
        wanted = collections.Counter()
        for site in report.sites:
            if site.on(rank, 'count'):
                wanted[site.function] += site.on(rank, 'count')
        equal('rank {}: calls'.format(rank), counts, wanted)
        equal('rank {}: calls in the report'.format(rank), report.rank(rank)['trace']['count'], len(trace.calls))
        completed(trace, rank)
        sent = sum(s.on(rank, 'bytes_sent') for s in report.sites)
        received = sum(s.on(rank, 'bytes_received') for s in report.sites)
        equal(
            'rank {}: bytes sent'.format(rank),
            trace.sum('bytes', 'send', 'isend', 'put', 'write')
            + trace.sum('sent', 'collective', 'icollective', 'atomic'),
            sent,
        )
        equal(
            'rank {}: bytes received'.format(rank),
            trace.sum('bytes', 'recv', 'received', 'mrecv', 'get', 'read')
            + trace.sum('received', 'collective', 'icollective', 'atomic'),
            received,
        )


def matched(all_traces):
    """On MPI_COMM_WORLD: as many messages and bytes from a to b were sent as received."""
    sent, received = collections.Counter(), collections.Counter()
    for rank, trace in enumerate(all_traces):
        posted = {r['request']: r for r in trace.of('irecv', 'matched')}
        for row in trace.of('send', 'isend'):
            if row['comm'] == '1':
                sent[rank, int(row['peer']), int(row['tag'])] += int(row['bytes']) + 1
        for row in trace.of('recv'):
            if row['comm'] == '1':
                received[int(row['peer']), rank, int(row['tag'])] += int(row['bytes']) + 1
        for row in trace.of('received'):
            if posted.get(row['request'], {}).get('comm') == '1':
                received[int(row['peer']), rank, int(row['tag'])] += int(row['bytes']) + 1
        for row in trace.of('mrecv'):
            if posted[row['request']]['comm'] == '1':
                p = posted[row['request']]
                received[int(p['peer']), rank, int(p['tag'])] += int(row['bytes']) + 1
    equal('messages', sent, received)


def killed(mpi, options=(), calls_at_least=0):
    """Ranks of crash.c count their calls in shared memory; the trace of a killed rank has that many. They are
    killed at a random call, not after a time: a fast machine makes a million calls a second."""
    slots = os.path.join(harness.scratch('slots'), 'slots')
    directory = os.path.join(harness.scratch('exp'), 'e')
    program = mpi.build('crash.c')
    process = harness.start(
        mpi.command(2, mpi.profiled([program, 'loop', slots], directory, ['--trace'] + list(options)))
    )

    def truth():
        try:
            with open(slots, 'rb') as f:
                data = f.read(128)
        except OSError:
            return None
        rows = [struct.unpack_from('<8q', data, 64 * r)[:3] for r in range(2)] if len(data) == 128 else []
        return rows if rows and all(row[2] for row in rows) else None

    try:
        rows = harness.wait_until(truth, what='the program to get ready')
        wanted = calls_at_least + random.randrange(50, 20000)
        pause = 0.01 if calls_at_least else 0.0005  # these take long
        harness.wait_until(lambda: min(row[1] for row in truth()) >= wanted, what='so many calls', pause=pause)
        for pid, _, _ in rows:
            with contextlib.suppress(ProcessLookupError):  # the launcher may be faster with the second
                os.kill(pid, signal.SIGKILL)
        harness.finish(process, 30)
        harness.wait_until(lambda: all(harness.is_dead(row[0]) for row in rows), what='the end of the ranks')
    finally:
        harness.kill_all()
    for rank in range(2):
        calls = truth()[rank][1]
        events = brief_events(os.path.join(directory, 'rank-{:06d}.fvr'.format(rank)))
        kinds = collections.Counter(kind for _, _, kind, _ in events)
        found = sum(function == 'MPI_Sendrecv' for _, _, _, function in events)
        check(found in (calls, calls + 1), 'rank {}: {} calls in the trace, {} returned', rank, found, calls)
        equal('rank {}: sends and receives'.format(rank), (kinds['send'], kinds['recv']), (found, found))
        last = 0
        for begin, end, kind, _ in events:
            check(kind != 'call' or last <= begin <= end, 'rank {}: events are out of order at {}', rank, begin)
            last = end if kind == 'call' else last
    return directory


def budget(mpi):
    directory = os.path.join(harness.scratch('exp'), 'e')
    program = mpi.build('../run/silence.c', '-ldl', output='silence_trace')
    run = mpi.profile(
        program, 2, ['calls', '30000'], ['--trace', '--trace-max=64K'], directory, env={'FVMPI_DEPTH': '4'}
    ).ended(7)
    plain = mpi.profile(program, 2, ['calls', '1']).ended(7)
    equal('output', sorted(run.out), sorted(plain.out))  # of two ranks: as the launcher mixes it
    for rank, trace in enumerate(traces(directory)):
        entry = run.report().rank(rank)
        equal(
            'calls',
            sum(s.on(rank, 'count') for s in run.report().sites),
            entry['trace']['count'] + entry['dropped']['events'],
        )
        equal('calls in the file', len(trace.calls), entry['trace']['count'])
        check(entry['dropped']['events'] > 0, 'rank {}: nothing was dropped', rank)
        check(entry['trace']['count'] > 1000, 'rank {}: the budget was not used', rank)
        check(entry['trace']['stop_s'] is not None, 'rank {}: no word of its end', rank)
    check('the trace ends here' in run.err, 'no word of it: {}', run.err)


def neighbours(mpi):
    """Whom the neighbourhood collectives exchange with: sources, then destinations."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    mpi.profile(mpi.build('neighbours.c'), 4, (), ['--trace'], directory).ended(0)
    for rank in range(4):
        other, below = rank ^ 1, rank ^ 2  # in a grid of 2 x 2: along a closed row, and across the edge that is open
        grid = [below] + [other, other]
        wanted = {name: (grid, grid) for name in ('grid', 'copy', 'later')}
        wanted['rows'] = ([1 - rank % 2] * 2,) * 2
        wanted['star'] = ([1, 2, 3] if rank == 0 else [0],) * 2
        wanted['ring'] = ([(rank + 1) % 4], [(rank + 3) % 4])
        wanted['told'] = ([(rank + 3) % 4], [(rank + 1) % 4])
        dump = (
            harness.run([harness.FVMPI, 'dump', os.path.join(directory, 'rank-{:06d}.fvr'.format(rank))]).ended(0).out
        )
        names = {row['id']: row['name'] for row in map(event, re.findall(r'^comms (.*)', dump, re.M))}
        found = {}
        for row in map(event, re.findall(r'^neighbours (.*)', dump, re.M)):
            ranks, sources = [int(r) for r in row['rank'].split(',')], int(row['sources'])
            found[names[row['comm']]] = ranks[:sources], ranks[sources:]
        equal('neighbours of rank {}'.format(rank), found, wanted)
    profile = mpi.profile(mpi.build('neighbours.c'), 4).ended(0)
    dump = harness.run([harness.FVMPI, 'dump', profile.directory]).ended(0).out
    equal('without a trace', re.findall(r'^neighbours', dump, re.M), [])
    return directory, profile.directory


OPEN, CLOSED = {'size': 2, 'periodic': False}, {'size': 2, 'periodic': True}
GRIDS = {**dict.fromkeys(('grid', 'copy', 'later'), [OPEN, CLOSED]), 'rows': [CLOSED]}


def grids(traced, profiled):
    """The dimensions of each communicator's grid, and in an archive where its ranks stand: as neighbours.c is told by
    MPI_Cart_coords."""
    for directory in (traced, profiled):
        comms = harness.report_of(directory).data['communicators']
        equal(
            'grids',
            sorted((c['name'], c['grid']) for c in comms if c['grid']),
            sorted((name, grid) for name, grid in GRIDS.items() for _ in range(2 if name == 'rows' else 1)),
        )
    unify = os.path.join(harness.BUILD, 'fvunify')
    if not os.path.exists(unify) or not shutil.which('otf2-print'):
        raise harness.Skip('no fvunify or no otf2-print: built without OTF2')
    harness.run([unify, '-q', traced]).ended(0)
    archive = os.path.join(traced, 'traces.otf2')
    check(' 0 errors' in harness.run([harness.FVMPI, 'check', archive]).ended(0).out, 'fvmpi check')
    defs = harness.run(['otf2-print', '-G', archive]).ended(0).out
    places = re.findall(r'^CART_COORDINATE .*Topology: "(\w+)" .*Rank: (\d+) .*Coordinates?: \(([\d, ]+)\)', defs, re.M)
    for name in ('grid', 'copy', 'later'):
        equal(
            name,
            [(int(rank), at) for of, rank, at in places if of == name],
            [(rank, '{}, {}'.format(rank // 2, rank % 2)) for rank in range(4)],
        )
    equal('rows', [(int(rank), at) for of, rank, at in places if of == 'rows'], 2 * [(0, '0'), (1, '1')])
    closed = re.findall(r'^CART_DIMENSION .*Size: (\d+), Periodicity: (\w+)', defs, re.M)
    equal('dimensions', sorted(closed), sorted(3 * [('2', 'FALSE')] + 5 * [('2', 'TRUE')]))


def main():
    tap = harness.Tap()
    harness.patiently()
    has_archives = os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')) and shutil.which('otf2-print')
    for mpi in harness.an_mpi(tap, first='mpich'):  # it has MPI_Allreduce_init()
        have = os.path.join(harness.BUILD, 'mpi-wrappers', mpi.name, 'mpi-have.h')
        for name in PROGRAMS:
            ranks = 3 if name in ('inter.c', 'grid.c') else 2
            with tap.test('{}: {} on {} ranks'.format(mpi, name, ranks)):
                with open(have) as f:
                    if name == 'persistent.c' and 'HAVE_MPI_Allreduce_init 1' not in f.read():
                        raise harness.Skip('no MPI_Allreduce_init')
                directory = os.path.join(harness.scratch('exp'), 'e')
                run = mpi.profile(
                    mpi.build(name),
                    ranks,
                    [os.path.join(harness.scratch('data'), 'f')] if name in ('file.c', 'owners.c') else [],
                    ['--trace'],
                    directory,
                ).ended(0)
                agrees(run.report(), directory, ranks)
                matched(traces(directory))
                if has_archives:
                    archive = otf2_print.merge(directory)
                    otf2_print.pairs(harness.run(['otf2-print', archive]).ended(0).out)
        for binding in ('MPIF_H', 'USE_F08'):
            with tap.test('{}: fortran.F90, {}'.format(mpi, binding)):
                directory = os.path.join(harness.scratch('exp'), 'e')
                program = mpi.build('fortran.F90', '-D' + binding, output='fortran_' + binding.lower())
                run = mpi.profile(program, 3, (), ['--trace'], directory).ended(0)
                agrees(run.report(), directory, 3)
                matched(traces(directory))
        for i in range(3 if LONG else 1):
            with tap.test('{}: killed, {}'.format(mpi, i + 1)):
                killed(mpi)
        with tap.test('{}: killed, compressed'.format(mpi)):
            directory = killed(mpi, ['--trace-zstd=1'], 150000)
            run = harness.run([harness.FVMPI, 'dump', directory]).ended(0)
            check(run.out.count('type=packed') >= 2, 'nothing was compressed')
        with tap.test('{}: neighbours in topologies'.format(mpi)):
            directories = neighbours(mpi)
        with tap.test('{}: grids'.format(mpi)):
            grids(*directories)
        with tap.test('{}: the budget'.format(mpi)):
            budget(mpi)
    tap.done()


main()
