#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: fvmpi leaves SIGBUS to it.
"""A rank file that somebody makes shorter while the program runs ends the recording, not the program. The program's own
SIGBUS, and its action for it, are as without fvmpi."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

LOST = 'recording ends here'


def alone(mpi, recorded, *options):
    """A rank without a launcher, whose exit status is its own."""
    program = mpi.build('bus.c')
    directory = os.path.join(harness.scratch('exp'), 'e')
    plain = harness.run([program, *options])
    run = harness.run(
        mpi.profiled([program, *options, os.path.join(directory, 'rank-000000.fvr')], directory, ['-q', *recorded]),
        directory=directory,
    )
    return plain, run


def shorter(mpi, recorded):
    _, run = alone(mpi, recorded, 'shorter')
    run.ended(0)
    equal('output', run.out.split(), ['default', 'done'])
    equal('told', run.err.count(LOST), 1)


def own(mpi, what):
    plain, run = alone(mpi, ['--trace', '--sample'], what)
    equal('exit', run.rc, plain.rc if plain.rc >= 0 else 128 - plain.rc)
    equal('output', run.out, plain.out)
    check(LOST not in run.err, "{}", run.err)


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.an_mpi(tap):
        for recorded in ([], ['--trace'], ['--sample'], ['--threads=hold,owner', '--trace']):
            with tap.test('{}: the file is made shorter {}'.format(mpi, ' '.join(recorded))):
                shorter(mpi, recorded)
        for what in ('kept', 'touch', 'raise', 'handler'):
            with tap.test('{}: {}'.format(mpi, what)):
                own(mpi, what)
    tap.done()


if __name__ == '__main__':
    main()
