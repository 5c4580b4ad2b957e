#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Somebody else's profiling tool in the same program. Behind fvmpi, as a shared library, it sees what it sees without
fvmpi; in front of it, linked into the program, it hides calls: that is told, and the rest is recorded."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

TOLD = 'tool: 3 barriers, 5 sums\n'


def counts(report):
    return {s.function: s.each('count') for s in report.sites}


def behind(tap, mpi, library):
    folder = os.path.dirname(library)
    linked = ['-L' + folder, '-l:' + os.path.basename(library), '-Wl,-rpath,' + folder]
    with tap.test('{}: a tool in a shared library sees its calls, and so does fvmpi'.format(mpi)):
        program = mpi.build('tool.c', '-DPROGRAM', *linked, output='tool-behind')
        equal('without fvmpi', mpi.native(program, 2).ended(0).out, TOLD)
        # AddressSanitizer has functions of threads of its own
        for options in ([], ['--trace']) if harness.SANITIZER else ([], ['--trace'], ['--threads']):
            run = mpi.profile(program, 2, options=options).ended(0)
            equal('with fvmpi', run.out, TOLD)
            report = run.report()
            report.sane(2)
            found = counts(report)
            equal(
                'counts',
                [found.get('MPI_' + f) for f in ('Barrier', 'Allreduce', 'Bcast', 'Finalize')],
                [[3, 3], [5, 5], [1, 1], [1, 1]],
            )
            equal('problems', report.data['problems'], [])
    with tap.test('{}: the same, preloaded behind fvmpi'.format(mpi)):
        program = mpi.build('tool.c', '-DPROGRAM', output='tool-alone')
        run = mpi.profile(program, 2, env={'LD_PRELOAD': harness.in_front(library)}).ended(0)
        equal('output', run.out, TOLD)
        equal('counts', counts(run.report()).get('MPI_Allreduce'), [5, 5])
    with tap.test('{}: a Fortran program, and a tool in C'.format(mpi)):
        if not shutil.which(mpi.fc):
            raise harness.Skip('no ' + mpi.fc)
        program = mpi.build('tool_fortran.F90', *linked, output='tool-fortran')
        native, run = mpi.native(program, 2).ended(0), mpi.profile(program, 2).ended(0)
        equal('output', run.out, native.out)
        equal('counts', counts(run.report()).get('MPI_Allreduce'), [5, 5])


def in_front(tap, mpi):
    with tap.test('{}: a program that has an address of a function defines none'.format(mpi)):
        run = mpi.profile(
            mpi.build('tool.c', '-DPROGRAM', '-DPOINTS=1', '-fno-pie', '-no-pie', output='tool-points'), 1
        ).ended(0)
        check('fvmpi: ' not in run.err, 'said: {}', run.err)
        equal('problems', run.report().data['problems'], [])
        equal('counts', counts(run.report()).get('MPI_Barrier'), [3])
    with tap.test('{}: a tool linked into the program hides what it defines'.format(mpi)):
        program = mpi.build('tool.c', '-DPROGRAM', '-DTOOL', output='tool-inside')
        equal('without fvmpi', mpi.native(program, 2).ended(0).out, TOLD)
        run = mpi.profile(program, 2).ended(0)
        equal('output', run.out, TOLD)
        equal(
            'told, once', run.err.count('tool-inside defines 3 MPI functions itself, in front of fvmpi: calls of '), 1
        )
        for name in ('MPI_Barrier', 'MPI_Allreduce', 'MPI_Finalize'):
            check(name in run.err, '{} is not named: {}', name, run.err)
        report = run.report()
        found = counts(report)
        equal(
            'counts',
            [found.get('MPI_' + f) for f in ('Init', 'Barrier', 'Allreduce', 'Bcast')],
            [[1, 1], None, None, [1, 1]],
        )
        check(not report.data['run']['complete'], 'not said to be incomplete')
        words = [p['text'] for p in report.data['problems']]
        check([w for w in words if 'tool-inside defines 3 MPI functions itself' in w and '(2 ranks)' in w], '{}', words)
        check([w for w in words if 'exited without MPI_Finalize, as far as fvmpi can see' in w], '{}', words)


def handing_on(tap, mpi):
    """A tool that is preloaded in front of fvmpi, and calls who is next: what it hands on is recorded, and not said to
    be missing."""
    program = mpi.build('tool.c', '-DPROGRAM', output='tool-alone')
    for all_of_it in (True, False):
        with tap.test(
            '{}: a tool in front hands on {}'.format(mpi, 'all calls' if all_of_it else 'all but one function\'s')
        ):
            if harness.SANITIZER:
                raise harness.Skip('AddressSanitizer must come first')
            library = mpi.build(
                'tool.c',
                '-DTOOL',
                '-DHANDS_ON={}'.format(2 if all_of_it else 1),
                '-shared',
                '-fPIC',
                '-ldl',
                output='libtool-on{}-{}.so'.format(int(all_of_it), mpi),
            )
            run = mpi.profile(
                '/bin/sh',
                2,
                ['-c', 'LD_PRELOAD={}:$LD_PRELOAD exec {}'.format(library, program)],
                options=['--mpi', str(mpi)],
            ).ended(0)
            equal('output', run.out, TOLD)
            report = run.report()
            found = counts(report)
            equal(
                'counts',
                [found.get('MPI_' + f) for f in ('Barrier', 'Allreduce', 'Bcast', 'Finalize')],
                [[3, 3], [5, 5] if all_of_it else None, [1, 1], [1, 1]],
            )
            words = [p['text'] for p in report.data['problems']]
            told = 'defines 1 MPI function itself, in front of fvmpi: calls of MPI_Allreduce are not recorded'
            equal('complete', report.data['run']['complete'], all_of_it)
            equal('problems', [told in w for w in words], [] if all_of_it else [True])
            equal(
                'told',
                [told in line for line in run.err.splitlines() if 'fvmpi: ' in line],
                [] if all_of_it else [True],
            )


def main():
    tap = harness.Tap()
    harness.patiently()
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]  # of what is the linker's
    for mpi in harness.mpis(tap):
        behind(tap, mpi, mpi.build('tool.c', '-DTOOL', '-shared', '-fPIC', output='libtool-{}.so'.format(mpi)))
        if str(mpi) in each:
            in_front(tap, mpi)
            handing_on(tap, mpi)
    tap.done()


main()
