#!/usr/bin/env python3
"""What all ranks of a node meet is told by one of them: here no directory, and no room."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
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
    equal('lines', (sum(what in line for line in lines), sum(what not in line for line in lines)),
          (1, int(what == 'cannot grow')))  # and that the trace ends


def main():
    tap = harness.Tap()
    for mpi in harness.mpis(tap):
        with tap.test('{}: no directory'.format(mpi)):
            directory = place()
            told(mpi, directory, 'cannot make the experiment directory')
            told(mpi, directory, 'cannot make the experiment directory')  # by the next job, too
        with tap.test('{}: no room'.format(mpi)):
            told(mpi, os.path.join(harness.scratch('exp'), 'e'), 'cannot grow')
    tap.done()


if __name__ == '__main__':
    main()
