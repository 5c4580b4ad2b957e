#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it must come first, and the library that is preloaded here is the wrong one alone.
"""The library for one MPI preloaded under a program of the other: the program runs as if it were not there,
after one line that says so. And: fvmpi run picks the right one by itself, whatever it stands under."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal


def main():
    tap = harness.Tap()
    found = list(harness.mpis(tap))
    for mpi in found:
        others = [m for m in found if m is not mpi]
        if not others:
            with tap.test('{}: under the other MPI'.format(mpi)):
                raise harness.Skip('only one MPI is here')
        for other in others:
            for ranks in (1, 2):
                with tap.test('{} program under libfvmpi-{}.so, {} ranks'.format(mpi, other, ranks)):
                    program = mpi.build('transparent.c')
                    native = mpi.native(program, ranks, ['0', 'a b'])
                    directory = os.path.join(harness.scratch('exp'), 'e')
                    run = harness.run(
                        mpi.command(
                            ranks,
                            ['env', 'LD_PRELOAD=' + other.preload, 'FVMPI_OUTPUT=' + directory, program, '0', 'a b'],
                        )
                    )
                    equal('output', run.out, native.out)
                    equal('exit status', run.rc, native.rc)
                    lines = [line for line in run.err.splitlines() if line.strip()]
                    equal('lines on stderr', len(lines), 1)
                    check(
                        lines[0].startswith('fvmpi: ') and 'libfvmpi-' + str(mpi) in lines[0],
                        'the warning: {}',
                        lines[0],
                    )
                    check(not os.path.exists(directory), '{} was made', directory)
            with tap.test('{} program, fvmpi run told to use {}'.format(mpi, other)):
                run = mpi.profile(program, 2, ['0'], options=['--mpi', str(other)])
                check(
                    run.rc == 2 or run.out == mpi.native(program, 2, ['0']).out,
                    'neither refused nor run: {} {}',
                    run.rc,
                    run.err,
                )
                check(
                    'fvmpi: run: --mpi {}, but transparent needs lib'.format(other) in run.err
                    and 'leave --mpi out, or say --mpi {}'.format(mpi) in run.err,
                    'said: {}',
                    run.err,
                )
                check('mpiexec.' not in run.err, 'the launcher is blamed: {}', run.err)
        with tap.test('{}: the right library is chosen'.format(mpi)):
            report = mpi.profile(mpi.build('collectives.c'), 2).ended(0).report()
            check(
                ('MPICH' if str(mpi) == 'mpich' else 'Open MPI') in report.data['run']['mpi'],
                'run.mpi is {}',
                report.data['run']['mpi'],
            )
        with tap.test('{}: a wrong library already in LD_PRELOAD'.format(mpi)):
            if not others:
                raise harness.Skip('only one MPI is here')
            directory = os.path.join(harness.scratch('exp'), 'e')
            wrapped = ['env', 'LD_PRELOAD=' + others[0].preload] + mpi.profiled([program, '0'], directory)
            run = harness.run(mpi.command(2, wrapped), directory=directory)
            equal('exit status', run.rc, 0)
            equal('output', run.out, mpi.native(program, 2, ['0']).out)
    tap.done()


main()
