#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Partitioned operations in the archive: each is received as what was sent, by the order in which they were made, and
apart from ordinary messages of the same peers and tag."""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from analysis_json import Analysis
from report import check, close, equal

ROUNDS = 3
SIZES = [[500] * ROUNDS, [10] * ROUNDS, [30] * ROUNDS]  # of a channel each, and of ordinary messages
COMMS = 2


def judge(mpi):
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = mpi.profile(mpi.build('partitioned.c'), 2, [str(ROUNDS)], ['--trace'], directory).ended(0)
    if run.out:
        raise harness.Skip('partitioned operations came with MPI 4.0, this is ' + run.out.split('\n')[0])
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    archive = os.path.join(directory, 'traces.otf2')
    check(' 0 errors' in harness.run([harness.FVMPI, 'check', archive]).out, 'fvmpi check: {}', archive)
    sizes = {'send': collections.defaultdict(list), 'receive': collections.defaultdict(list)}
    for line in harness.otf2_events(directory).splitlines():
        what, _, _, _, *rest = line.split()
        if what in sizes:
            comm, _, tag, length = map(int, rest)
            sizes[what][comm, tag].append(length)
    equal('received', sizes['receive'], sizes['send'])
    equal('sent', sorted(sizes['send'].values()), sorted(SIZES * COMMS))
    names = [c['name'] for c in harness.profile_of(directory)['communicators']]
    check(not [n for n in names if n and 'partitioned' in n], 'communicators of the report: {}', names)


def late(mpi):
    """A part that is made ready late makes the receiver wait, and not for progress."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = mpi.profile(mpi.build('partitioned.c'), 2, [str(ROUNDS), '50'], ['--trace'], directory).ended(0)
    if run.out.startswith('MPI'):
        raise harness.Skip('partitioned operations came with MPI 4.0, this is ' + run.out.split('\n')[0])
    waited = float(run.out)
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    data = harness.report_of(directory).data
    found = {k['kind']: k['wait_s'] for k in data['waiting']['kinds']}
    check(found['late_sender'] <= 1.01 * waited, 'waited {} s, found: {}', waited, found)
    if waited >= ROUNDS * 0.04:  # else rank 1 came late itself
        check(found['late_sender'] > 0.7 * waited, 'waited {} s, found: {}', waited, found)
    top = data['waiting']['culprits'][0]
    function = next(s['function'] for s in data['callsites'] if s['id'] == top['callsite_id'])
    equal('who was late', (top['rank'], top['where'], function), (0, 'computing', 'MPI_Pready'))
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', os.path.join(directory, 'traces.otf2')]).ended(0)
    again = harness.report_of(os.path.join(directory, 'traces.fvmpi')).data['waiting']['kinds']
    close('by the archive', {k['kind']: k['wait_s'] for k in again}['late_sender'], found['late_sender'], 1e-3)


def without_ends(mpi):
    """Where the trace does not have the end of a send, it has ended when the next one of its channel begins."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = mpi.profile(mpi.build('partitioned.c'), 2, ['8', '20', 'pause'], ['--trace'], directory).ended(0)
    if run.out.startswith('MPI'):
        raise harness.Skip('partitioned operations came with MPI 4.0, this is ' + run.out.split('\n')[0])
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    found = Analysis(directory).data
    equal('messages before they were sent', found['unmatched']['early'], 0)
    late = sum(k['wait_s'] for k in found['kinds'] if k['kind'].startswith('late_sender'))
    check(late <= 1.01 * float(run.out), 'waited {} s, found: {}', run.out, late)


def exchanged(mpi):
    """Of an exchange by one request an MPI's status may tell anything."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = mpi.profile(mpi.build('isendrecv.c'), 3, options=['--trace'], directory=directory).ended(0)
    if run.out:
        raise harness.Skip('MPI_Isendrecv came with MPI 4.0, this is ' + run.out.split('\n')[0])
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    found = collections.Counter()
    for line in harness.otf2_events(directory).splitlines():
        what, _, rank, _, *rest = line.split()
        if what == 'receive':
            _, peer, tag, length = map(int, rest)
            found[int(rank), peer, tag, length] += 1
    left, right = ((r, (r + 2) % 3) for r in range(3)), ((r, (r + 1) % 3) for r in range(3))
    wanted = {(r, peer, tag, size): 3 for r, peer in left for tag, size in ((1, 0), (2, 0), (3, 50), (4, 50))}
    wanted.update({(r, peer, 100, 7): 48 for r, peer in right})
    equal('received', dict(found), wanted)


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.mpis(tap):
        with tap.test('{}: as they were made'.format(mpi)):
            judge(mpi)
        with tap.test('{}: a late part makes the receiver wait'.format(mpi)):
            late(mpi)
        with tap.test('{}: sends without an end'.format(mpi)):
            without_ends(mpi)
        with tap.test('{}: exchanges by one request are from who was asked for'.format(mpi)):
            exchanged(mpi)
    tap.done()


if __name__ == '__main__':
    main()
