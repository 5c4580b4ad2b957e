#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Test programs of Debian's MPI-parallel libraries, most of them Fortran: the same exit status, results and files with
fvmpi and without, and a whole report. What is not installed is a SKIP that names the package.

FVMPI_TEST_LONG=1 runs all of ScaLAPACK's programs, not only one of each kind, and mpi4py's own test-suite if
FVMPI_TEST_MPI4PY names its unpacked sources (Debian's package does not contain it).
"""
import glob
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal, problems

LONG = os.environ.get('FVMPI_TEST_LONG')
RANKS = 2
SCALAPACK = '/usr/lib/x86_64-linux-gnu/scalapack/{}-tests'
# One of each kind: LU, Cholesky, QR, reduction, least squares, PBLAS; band solver, inversion, and PBLAS again: these take longest.
SHORT = 'xdlu xcllt xsqr xztrd xsls PBLAS/dpb1tst'.split()
MORE = 'xcdblu xdinv PBLAS/spb3tst'.split() if harness.all_cases() else []
# Need more than two processes. Of these, with four, xdsep and xssep differ from run to run without fvmpi, too, and
# xdsyevr decides by variables that it never set: it passes alone and fails with fvmpi.
LEFT_OUT = re.compile(r'x.*(gsep|sep|svd|evr)$|x[CF]btest$')
SENDS = (
    'MPI_Send',
    'MPI_Isend',
    'MPI_Rsend',
    'MPI_Irsend',
    'MPI_Ssend',
    'MPI_Issend',
    'MPI_Bsend',
    'MPI_Sendrecv',
    'MPI_Start',
)
RECEIVES = ('MPI_Recv', 'MPI_Irecv', 'MPI_Sendrecv', 'MPI_Start')


def results(text):
    """Without times, and without the width of columns that times change."""
    return [
        re.sub(r'[ \t]+', ' ', re.sub(r'\b\d+\.\d+([EDe][-+]\d+)?\b|\*+', '#', line)).strip()
        for line in text.splitlines()
    ]


def files_of(directory):
    found = {}
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), 'rb') as f:
            found[name] = f.read()
    return found


def both(mpi, program, ranks=RANKS, arguments=(), inputs=(), stdin=None, options=()):
    """Runs without and with fvmpi in directories of their own, which hold the inputs; compares; returns the second
    run."""
    outcomes = []
    for profiled in (False, True):
        cwd, directory = harness.scratch('cwd'), os.path.join(harness.scratch('exp'), 'e')
        for path in inputs:
            shutil.copy(path, cwd)
        command = [program] + list(arguments)
        if profiled:
            command = mpi.profiled(command, directory, options)
        if stdin:  # of every rank, whatever the launcher does with its own
            command = ['sh', '-c', 'exec "$@" < "$0"', stdin] + command
        run = harness.run(mpi.command(ranks, command), cwd=cwd, directory=directory)
        outcomes.append((run, files_of(cwd)))
    (native, before), (run, after) = outcomes
    native.ended(0)
    run.ended(0)
    equal('results', results(run.out), results(native.out))
    equal('names of the files', sorted(after), sorted(before))
    for name in before:
        same = after[name] == before[name] or results(after[name].decode('latin1')) == results(
            before[name].decode('latin1')
        )
        check(same, '{} differs', name)
    check(native.out.strip(), 'it printed nothing')
    return run


def whole(run, ranks, program=None):
    """Nothing lost, nothing unknown, and what was sent is what was received."""
    report = run.report()
    report.shape(ranks)
    if program:  # whose main is the outermost function; Python's is not
        report.sane(ranks, os.path.basename(program))
    equal('problems', problems(report.data), [])
    for entry in report.data['ranks']:
        equal('lost by rank {}'.format(entry['rank']), {k: v for k, v in entry['dropped'].items() if v}, {})
        equal('end of rank {}'.format(entry['rank']), entry['state'], 'finalized')
    sent = sum(s.data['bytes_sent'] for s in report.sites if s.function in SENDS)
    equal('bytes received', sum(s.data['bytes_received'] for s in report.sites if s.function in RECEIVES), sent)
    return report


def scalapack(tap, mpi):
    folder = SCALAPACK.format(mpi)
    programs = [os.path.join(folder, name) for name in SHORT + MORE]
    if LONG:
        programs = [
            path
            for path in sorted(glob.glob(folder + '/x*') + glob.glob(folder + '/PBLAS/*tst'))
            if not LEFT_OUT.search(path)
        ]
    for program in programs:
        with tap.test('{}: ScaLAPACK, {}'.format(mpi, os.path.basename(program))):
            if not os.path.exists(program):
                raise Skip('not installed: scalapack-mpi-test')
            inputs = glob.glob('/usr/share/scalapack/*.dat') + glob.glob('/usr/share/scalapack/PBLAS/*.dat')
            report = whole(both(mpi, program, inputs=inputs), RANKS, program)
            for function in ('MPI_Init', 'MPI_Finalize'):
                equal('calls of ' + function, report.total(function), RANKS)
            # the path of a call goes from the C library through Fortran to the program's main function
            check(any('main' in site.names for site in report.sites), 'no call path ends in main')


def mumps(tap, mpi):
    for kind, data in (('s', 'real'), ('d', 'real'), ('c', 'cmplx'), ('z', 'cmplx')):
        program = '/usr/lib/mumps/{}simpletest'.format(kind)
        with tap.test('{}: MUMPS, {}'.format(mpi, os.path.basename(program))):
            if not os.path.exists(program):
                raise Skip('not installed: mumps-test')
            if ('libmpich' in harness.run(['ldd', program]).out) != (mpi.name == 'mpich'):
                raise Skip("Debian's mumps-test uses the other MPI")
            report = whole(both(mpi, program, stdin='/usr/lib/mumps/input_simpletest_' + data), RANKS, program)
            for function in ('MPI_Init', 'MPI_Finalize'):
                equal('calls of ' + function, report.total(function), RANKS)


def hdf5(tap, mpi):
    with tap.test('{}: HDF5, a collective write of a Fortran program'.format(mpi)):
        compiler = shutil.which('h5pfc.' + mpi.name)
        if not compiler or not shutil.which(mpi.fc):
            raise Skip('not installed: libhdf5-{}-dev, gfortran'.format(mpi))
        folder = harness.scratch('build')
        program = os.path.join(folder, 'suites_hdf5')
        harness.run(
            [compiler, '-g', os.path.join(harness.PROGRAMS, 'suites_hdf5.F90'), '-o', program], cwd=folder
        ).ended(0)
        run = both(mpi, program)
        equal('output', run.out.strip(), 'wrong elements: 0')
        report = whole(run, RANKS, program)
        equal('calls of MPI_File_open', report.total('MPI_File_open') >= RANKS, True)
        report.callsite('MPI_Barrier', inside='MAIN__').expect(count=1)


def mpi4py(tap, mpi):
    with tap.test('{}: mpi4py.bench ringtest'.format(mpi)):
        python = '/usr/bin/python3'
        probe = (
            harness.run([python, '-c', 'import mpi4py.MPI; print(mpi4py.MPI.__file__)'])
            if os.path.exists(python)
            else None
        )
        if not probe or probe.rc:
            raise Skip('not installed: python3-mpi4py')
        if ('libmpich' in harness.run(['ldd', probe.out.strip()]).out) != (mpi.name == 'mpich'):
            raise Skip("Debian's mpi4py uses the other MPI")
        whole(both(mpi, python, arguments=['-m', 'mpi4py.bench', 'ringtest'], options=['--mpi', mpi.name]), RANKS)
    suite = os.environ.get('FVMPI_TEST_MPI4PY')
    if LONG and suite:
        with tap.test('{}: the tests of {}'.format(mpi, suite)):
            counts = []
            for profiled in (False, True):
                command = ['/usr/bin/python3', os.path.join(suite, 'test', 'runtests.py'), '--no-builddir', '-v']
                directory = os.path.join(harness.scratch('exp'), 'e')
                if profiled:
                    command = mpi.profiled(command, directory, ['--mpi', mpi.name])
                run = harness.run(mpi.command(RANKS, command), limit=1200, directory=directory)
                verdicts = re.findall(r'^(test\S* \(.*?\)).*?\.\.\. (ok|FAIL|ERROR|skipped)', run.err, re.M)
                counts.append((run.rc, sorted(verdicts)))
            check(counts[0][1], 'it ran no test')
            equal('exit status and verdicts', counts[1], counts[0])


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.an_mpi(tap):
        for suite in (scalapack, mumps, hdf5, mpi4py):
            suite(tap, mpi)
    tap.done()


main()
