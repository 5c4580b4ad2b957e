#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The application does not notice fvmpi: same output, same exit status, same standard input."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

ARGUMENTS = ['two words', '', '"quoted"', "it's", '$HOME', '--trace', '-n', '*']


def same(native, profiled):
    equal('exit status', profiled.rc, native.rc)
    if native.out != profiled.out:
        a, b = native.out.splitlines(), profiled.out.splitlines()
        for i, (x, y) in enumerate(zip(a, b)):
            equal('line {} of the output'.format(i + 1), y, x)
        equal('lines of output', len(b), len(a))
    equal('output', profiled.out, native.out)


def main():
    tap = harness.Tap()
    harness.patiently()
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]  # of what is not the launcher's
    for mpi in harness.mpis(tap):
        for ranks, code in ((1, 0), (2, 3), (3, 0)) if str(mpi) in each else ((2, 3),):
            with tap.test('{}: output of {} ranks, exit status {}'.format(mpi, ranks, code)):
                program = mpi.build('transparent.c')
                arguments = [str(code)] + ARGUMENTS
                native = mpi.native(program, ranks, arguments)
                check(len(native.out) > 3000 and native.rc == code, 'the program itself: {} {}', native.rc, native.err)
                profiled = mpi.profile(program, ranks, arguments)
                same(native, profiled)
                if code == 0:
                    profiled.report().sane(ranks)
        with tap.test('{}: output by LD_PRELOAD alone'.format(mpi)):
            native = mpi.native(program, 2, ['0'])
            directory = os.path.join(harness.scratch('exp'), 'e')
            preload = ['env', 'LD_PRELOAD=' + mpi.preload, 'FVMPI_OUTPUT=' + directory, program, '0']
            profiled = harness.run(mpi.command(2, preload), directory=directory)
            same(native, profiled)
            profiled.report().sane(2)
        with tap.test('{}: fvmpi run around the launcher'.format(mpi)):
            directory = os.path.join(harness.scratch('exp'), 'e')
            profiled = harness.run(
                mpi.profiled(['--'] + mpi.command(2, [program, '0']), directory), directory=directory
            )
            same(native, profiled)
            profiled.report().sane(2)
        if str(mpi) not in each:
            continue
        with tap.test('{}: disabled, nothing is written'.format(mpi)):
            directory = os.path.join(harness.scratch('exp'), 'e')
            profiled = mpi.profile(program, 2, ['0'], options=['--disable'], directory=directory)
            same(native, profiled)
            check(not os.path.exists(directory), '{} is there', directory)
        with tap.test('{}: a depth of 1 and tiny budgets change nothing'.format(mpi)):
            profiled = mpi.profile(
                program, 2, ['0'], options=['--depth', '1', '--profile-max', '64k', '--collectives-max', '4k']
            )
            same(native, profiled)
            profiled.report().shape(2)
    tap.done()


main()
