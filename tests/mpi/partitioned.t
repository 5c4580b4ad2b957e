#!/usr/bin/env python3
"""Partitioned operations in the archive: each is received as what was sent, by the order in which they were made, and
apart from ordinary messages of the same peers and tag."""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from report import check, equal

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


def main():
    tap = harness.Tap()
    for mpi in harness.mpis(tap):
        with tap.test('{}: as they were made'.format(mpi)):
            judge(mpi)
    tap.done()


if __name__ == '__main__':
    main()
