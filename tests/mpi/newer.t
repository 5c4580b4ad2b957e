#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions of MPI-4.1 and 5.0. MPICH's library has wrappers for them whatever the MPI that it was built with, since
the program's may be newer; here a library stands in for that. Operations that MPI_Request_get_status_X reports are
over: the bytes count, once."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

ROUND = 40 + 80


def archive_of(directory):
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    check(
        ' 0 errors' in harness.run([harness.FVMPI, 'check', os.path.join(directory, 'traces.otf2')]).out,
        'fvmpi check: {}',
        directory,
    )
    lines = [line.split() for line in harness.otf2_events(directory).splitlines()]
    return {what: sorted(int(words[-1]) for words in lines if words[0] == what) for what in ('send', 'receive')}


def recorded(run, rounds, wanted):
    report = run.report()
    report.sane(2)
    equal(
        'bytes received',
        [sum(sum(s.each('bytes_received')) for s in report.callsites('MPI_Irecv'))],
        [3 * rounds * ROUND],
    )
    calls = {f['function']: f['count'] for f in report.data['mpi_functions']}
    for name, least in wanted.items():
        check(calls.get(name, 0) >= least, '{}: {} calls', name, calls.get(name))
    moved = archive_of(run.directory)
    equal('messages of the archive', moved['receive'], [40] * 3 * rounds + [80] * 3 * rounds)
    equal('sent', moved['send'], moved['receive'])


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.mpis(tap):
        if str(mpi) != 'mpich':
            continue
        standin = mpi.build('newer.c', '-DSTANDIN', '-shared', '-fPIC', output='libnewer.so')
        linked = [standin, '-Wl,-rpath,' + os.path.dirname(standin)]
        names = ['MPI_Request_get_status_' + how for how in ('all', 'any', 'some')]
        with tap.test('mpich: MPI_Request_get_status_all, _any and _some in C'):
            run = mpi.profile(mpi.build('newer.c', *linked), 2, (), ['--trace']).ended(0)
            equal('output', run.out, '-1\n-1\n')
            recorded(run, 2, dict(dict.fromkeys(names, 2), MPI_Status_get_source=2, MPI_Abi_get_version=2))
        with tap.test('mpich: ... in Fortran'):
            if not shutil.which(mpi.fc):
                raise harness.Skip('no ' + mpi.fc)
            run = mpi.profile(mpi.build('newer_fortran.F90', *linked), 2, (), ['--trace']).ended(0)
            recorded(run, 1, dict.fromkeys(names, 1))
    tap.done()


main()
