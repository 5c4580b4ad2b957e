#!/usr/bin/env python3
"""Recording is switched off and on, by MPI_Pcontrol, by fvmpi.h and from the command line."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from report import check, equal

BARRIERS = {'before': [3, 3], 'off': [0, 0], 'on_again': [5, 5], 'level_two': [7, 7], 'made_off': [2, 2],
            'one_sided': [4, 0], 'late': [1, 1]}


def barriers(report, wanted):
    found = {}
    for site in report.callsites('MPI_Barrier'):
        names = [n for n in site.names if n != 'barriers']
        row = found.setdefault(names[0], [0, 0])
        for rank in (0, 1):
            row[rank] += site.on(rank, 'count')
    equal('barriers', found, {k: v for k, v in wanted.items() if any(v)})


def main():
    tap = harness.Tap()
    for mpi in harness.mpis(tap):
        with tap.test('{}: MPI_Pcontrol'.format(mpi)):
            run = mpi.profile(mpi.build('pcontrol.c'), 2).ended(0)
            report = run.report()
            report.sane(2)
            barriers(report, BARRIERS)
        with tap.test('{}: a communicator made while off is known'.format(mpi)):
            report.traffic({(0, 1): (2, 4 + 16)})
            equal('MPI_Comm_split', len(report.callsites('MPI_Comm_split')), 0)
        with tap.test('{}: receives across the switch'.format(mpi)):
            report.callsite('MPI_Irecv', inside='across').expect(count=[0, 1], received=[0, 16])
            equal('posted while off', len(report.callsites('MPI_Irecv', inside='across_off')), 0)
        with tap.test('{}: waiting after it is still compared rightly'.format(mpi)):
            late = [s for s in report.callsites('MPI_Barrier') if 'late' in s.names][0]
            truth = [float(s) for s in run.out.split()[1:]]
            check(truth[0] > 0.05, 'the test is void: rank 0 waited {}', truth)
            for rank in (0, 1):
                late.wait(rank, truth[rank], within=0.004 + 0.05 * truth[rank])
        with tap.test('{}: --off-at-start'.format(mpi)):
            report = mpi.profile(mpi.build('pcontrol.c'), 2, options=['--off-at-start']).ended(0).report()
            barriers(report, dict(BARRIERS, before=[0, 0]))
        with tap.test('{}: FVMPI_OFF_AT_START and never on'.format(mpi)):
            report = mpi.profile(mpi.build('collectives.c'), 2, env={'FVMPI_OFF_AT_START': '1'}).ended(0).report()
            equal('call sites', [str(s) for s in report.sites if s.function not in ('MPI_Init', 'MPI_Finalize')], [])
            equal('states', [r['state'] for r in report.data['ranks']], ['finalized'] * 2)
        with tap.test('{}: relinked with -lfvmpi, fvmpi.h'.format(mpi)):
            program = mpi.build('pause.c', '-I' + os.path.join(harness.SOURCE, 'src'), '-L' + harness.LIBS,
                                '-l:libfvmpi-{}.so'.format(mpi), '-Wl,-rpath,' + harness.LIBS)
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = mpi.native(program, 2, env={'FVMPI_OUTPUT': directory}, directory=directory).ended(0)
            check(re.match(r'version \d+\.\d+\.\d+\n$', run.out), 'output {!r}', run.out)
            run.report().sane(2)
            barriers(run.report(), {'recorded': [3, 3], 'resumed': [4, 4]})
        with tap.test('{}: relinked and under fvmpi run, counted once'.format(mpi)):
            report = mpi.profile(program, 2).ended(0).report()
            barriers(report, {'recorded': [3, 3], 'resumed': [4, 4]})
    tap.done()


main()
