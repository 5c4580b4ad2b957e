#!/usr/bin/env python3
"""Communicators: whatever way one was made, messages are counted between world ranks, collectives are
compared among its members, and it is described with its name and size."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from report import check, close, equal


def main():
    tap = harness.Tap()
    for mpi in harness.mpis(tap):
        for ranks in (2, 3, 4):
            with tap.test('{}: matrix in world ranks on {}'.format(mpi, ranks)):
                run = mpi.profile(mpi.build('comms.c'), ranks).ended(0)
                report = run.report()
                rows = [[int(w) for w in line.split()[1:]] for line in run.out.splitlines() if line.startswith('truth')]
                check(rows, 'no truth in {}', run.out)
                report.traffic({(a, b): (n, volume) for a, b, n, volume in rows})
            with tap.test('{}: communicators on {}'.format(mpi, ranks)):
                report.sane(ranks)
                wanted = {'MPI_COMM_WORLD': ranks, 'reversed': ranks, 'copy': ranks, 'grid': ranks, 'few': 2,
                          'even': (ranks + 1) // 2, 'odd': ranks // 2}
                found = {c['name']: c['size'] for c in report.data['communicators'] if c['name'] in wanted}
                equal('sizes by name', found, wanted)
                names = [c['name'] for c in report.data['communicators']]
                equal('named once', [n for n in list(wanted) + ['bridge'] if names.count(n) != 1], [])
        with tap.test('{}: a thousand communicators'.format(mpi)):
            run = mpi.profile(mpi.build('many_comms.c'), 2).ended(0)
            report = run.report()
            report.sane(2)
            for function in ('MPI_Comm_dup', 'MPI_Barrier', 'MPI_Comm_free'):
                report.callsite(function, inside='loop').expect(count=1000)
            report.callsite('MPI_Send', inside='loop').expect(count=[1000, 0], sent=[4000, 0])
            report.callsite('MPI_Allreduce', inside='crowd').expect(count=100, sent=800, received=800)
            report.traffic({(0, 1): (1000, 4000)})
        with tap.test('{}: waiting in the right one of a thousand communicators'.format(mpi)):
            site = report.callsite('MPI_Barrier', inside='loop')
            equal('wait_kind', site.data['wait_kind'], 'exact')
            truth = [float(w) for w in run.out.split()[1:]]
            check(truth[0] > 4 * 0.05 * 0.9, 'rank 0 should have waited: {}', truth)
            for rank in (0, 1):
                site.wait(rank, truth[rank], within=0.02 + 0.05 * truth[rank])
    tap.done()


main()
