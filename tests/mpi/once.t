#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What all ranks of a node meet is told by one of them, with their number: here no directory, and no room. And one of
them makes what all need."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import equal

RANKS = 2


def place():
    """A file, where a directory is wanted."""
    path = os.path.join(harness.scratch('place'), 'f')
    with open(path, 'w'):
        return path


def told(mpi, directory, what):
    run = mpi.profile(mpi.build('once.c'), RANKS, (), ['-q', '--trace'], directory).ended(0)
    lines = [line for line in run.err.splitlines() if 'fvmpi: ' in line]
    others = [line for line in lines if what not in line and '1 more rank of this node met the same' not in line]
    equal('lines', sum(what in line for line in lines), 1)
    equal('others', len(others), int(what == 'cannot grow'))  # that the trace ends
    equal('counts', len(lines) - 1 - len(others), 1 + len(others))


def made(mpi, ranks):
    """Directories and claims that a run makes, by all of its ranks."""
    count = mpi.build('counted.c', '-shared', '-fPIC', '-ldl')
    directory, log = os.path.join(harness.scratch('exp'), 'e'), os.path.join(harness.scratch('log'), 'log')
    mpi.profile(
        mpi.build('p2p.c'), ranks, (), ['-q'], directory, env={'LD_PRELOAD': harness.in_front(count), 'FVTEST_LOG': log}
    ).ended(0)
    with open(log) as f:
        lines = f.read().splitlines()
    equal('rank files', sum(name.startswith('rank-') for name in os.listdir(directory)), ranks)
    equal('directories', lines.count('mkdir ' + directory), 1)
    equal('claims', lines.count('symlink .job'), 1)


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.mpis(tap):
        with tap.test('{}: no directory'.format(mpi)):
            directory = place()
            told(mpi, directory, 'cannot make the experiment directory')
            told(mpi, directory, 'cannot make the experiment directory')  # by the next job, too
        with tap.test('{}: no room'.format(mpi)):
            told(mpi, os.path.join(harness.scratch('exp'), 'e'), 'cannot grow')
        with tap.test('{}: one rank makes the directory'.format(mpi)):
            made(mpi, RANKS if mpi.name == 'mpich' else 4)
    tap.done()


if __name__ == '__main__':
    main()
