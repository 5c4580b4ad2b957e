#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs that nobody here wrote: the same results with and without fvmpi, and a whole report."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal


def results(text):
    """LAMMPS' table of results, its counts, not its timings."""
    kept = []
    for line in text.splitlines():
        if re.match(r'\s*\d+(\s+-?\d[\d.e+-]*){5}', line) or re.match(
            r'(Nlocal|Nghost|Neighs|Total # of neighbors|Dangerous|Created)', line.strip()
        ):
            kept.append(line.rstrip())
    return kept


def whole(report, ranks, program):
    report.sane(ranks, os.path.basename(os.path.realpath(program)))
    for entry in report.data['ranks']:
        check(
            0 < entry['mpi_time_s'] < entry['app_time_s'],
            'rank {}: MPI {} of {}',
            entry['rank'],
            entry['mpi_time_s'],
            entry['app_time_s'],
        )
    for key in ('parallel', 'load_balance', 'communication'):
        value = report.data['efficiency'][key]
        check(0 < value <= 1, '{} efficiency is {}', key, value)
    sent = sum(
        s.data['bytes_sent']
        for s in report.sites
        if s.function in ('MPI_Send', 'MPI_Isend', 'MPI_Sendrecv', 'MPI_Rsend', 'MPI_Start', 'MPI_Startall')
    )
    received = sum(
        s.data['bytes_received']
        for s in report.sites
        if s.function in ('MPI_Recv', 'MPI_Irecv', 'MPI_Sendrecv', 'MPI_Start', 'MPI_Startall')
    )
    check(sent > 0, 'nothing sent')
    equal('bytes received against bytes sent', received, sent)
    equal('bytes in the matrix', sum(volume for _, volume in report.matrix().values()), sent)


def main():
    tap = harness.Tap()
    harness.patiently()
    mpis = list(harness.mpis(tap))
    for ranks in (2, 4) if harness.all_cases() else (2,):
        with tap.test('LAMMPS on {} ranks'.format(ranks)):
            program, mpi = harness.packaged('lmp', mpis)
            arguments = ['-in', os.path.join(harness.PROGRAMS, 'melt.in'), '-log', 'none']
            native = mpi.native(program, ranks, arguments).ended(0)
            check(len(results(native.out)) > 12, 'LAMMPS alone prints\n{}', native.out[-2000:])
            run = mpi.profile(program, ranks, arguments).ended(0)
            equal('results', results(run.out), results(native.out))
            whole(run.report(), ranks, program)
    if harness.all_cases():
        hpcc(tap, mpis)
    tap.done()


def hpcc(tap, mpis):
    with tap.test('HPCC on 2 ranks'):
        program, mpi = harness.packaged('hpcc', mpis)
        found = []
        for profiled in (False, True):
            cwd = harness.scratch('cwd')
            shutil.copy(os.path.join(harness.PROGRAMS, 'hpccinf.txt'), cwd)
            run = (mpi.profile if profiled else mpi.native)(program, 2, cwd=cwd)
            run.ended(0)
            with open(os.path.join(cwd, 'hpccoutf.txt')) as f:
                text = f.read()
            found.append(
                re.findall(r'PASSED|FAILED|^Success=.*|^\w*Errors=.*|^\w*Procs=.*|^HPL_N.*|\w+_N=.*', text, re.M)
            )
        check(len(found[0]) > 15 and 'FAILED' not in found[0] and 'Success=1' in found[0], 'HPCC alone: {}', found[0])
        # how often PTRANS passes is for its clock to say
        check('FAILED' not in found[1] and 'PASSED' in found[1], 'HPCC under fvmpi: {}', found[1])
        equal('checks', *[[line for line in lines if line != 'PASSED'] for lines in reversed(found)])
        whole(run.report(), 2, program)


main()
