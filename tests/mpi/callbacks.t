#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Attribute functions, operators, error handlers and generalised requests that call MPI again: the same
output with and without fvmpi, recorded or paused, and every call of the application's own counted once."""
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

COUNTS = {
    'attributes': {
        'MPI_Comm_create_keyval': 1,
        'MPI_Comm_set_attr': 1,
        'MPI_Comm_dup': 2,
        'MPI_Comm_delete_attr': 1,
        'MPI_Comm_free': 2,
        'MPI_Comm_free_keyval': 1,
    },
    'kept': {'MPI_Sendrecv': 2, 'MPI_Comm_free': 1},
    'operators': {'MPI_Op_create': 1, 'MPI_Allreduce': 3, 'MPI_Op_free': 1},
    'handlers': {
        'MPI_Comm_dup': 1,
        'MPI_Comm_create_errhandler': 1,
        'MPI_Comm_set_errhandler': 1,
        'MPI_Send': 4,
        'MPI_Win_create': 1,
        'MPI_Win_create_errhandler': 1,
        'MPI_Win_set_errhandler': 1,
        'MPI_Win_fence': 2,
        'MPI_Put': 1,
        'MPI_Win_free': 1,
        'MPI_File_open': 1,
        'MPI_File_create_errhandler': 1,
        'MPI_File_set_errhandler': 1,
        'MPI_File_seek': 1,
        'MPI_File_close': 1,
        'MPI_Errhandler_free': 3,
        'MPI_Comm_free': 1,
    },
    'shallow': {'MPI_Barrier': 2},
    'deep': {'MPI_Barrier': 3},
    'generalized': {'MPI_Grequest_start': 2, 'MPI_Cancel': 2, 'MPI_Grequest_complete': 2, 'MPI_Wait': 2},
    'finish': {'MPI_Finalize': 1},
    'main': {'MPI_Init': 1},
}
THROWN = 3  # calls that never returned: counted as dropped, which the report shows


def counts(report, ranks):
    found = {}
    for site in report.sites:
        inside = found.setdefault(site.names[0], {})
        inside[site.function] = inside.get(site.function, 0) + site.data['count']
    equal('calls', found, {op: {f: n * ranks for f, n in calls.items()} for op, calls in COUNTS.items()})
    equal('calls that were left', [report.dropped(r) for r in range(ranks)], [THROWN] * ranks)
    equal('states', [report.rank(r)['state'] for r in range(ranks)], ['finalized'] * ranks)
    equal('in a call', [report.rank(r)['in_call'] for r in range(ranks)], [None] * ranks)
    for site in report.callsites('MPI_Sendrecv', inside='kept'):
        site.expect(count=2, sent=8, received=8)
    report.callsite('MPI_Allreduce', inside='operators').expect(count=3, sent=24, received=24)


def times(report, ranks):
    """What callbacks take is the outer call's, once."""
    for rank in range(ranks):
        slow = [s.on(rank, 'time_sum_s') for s in report.callsites('MPI_Comm_dup', inside='attributes')]
        entry = report.rank(rank)
        check(0.02 <= sum(slow) <= entry['app_time_s'], 'rank {}: MPI_Comm_dup took {} s', rank, slow)
        inside = sum(s.on(rank, 'time_sum_s') for s in report.sites)
        check(inside <= entry['app_time_s'] * 1.001, 'rank {}: {} s in MPI of {}', rank, inside, entry['app_time_s'])


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.mpis(tap):
        for ranks in harness.few(mpi, (2, 3)):  # one rank of Open MPI has no windows
            with tap.test('{}: callbacks on {} ranks'.format(mpi, ranks)):
                program = mpi.build('callbacks.c')
                native = mpi.native(program, ranks).ended(0)
                check(
                    'copied 1, deleted 2, reduced yes, handled 6, thrown 3, queried 2, freed 2, cancelled 2'
                    in native.out,
                    'the program itself: {}',
                    native.out,
                )
                run = mpi.profile(program, ranks).ended(0)
                equal('output', run.out, native.out)
                report = run.report()
                report.shape(ranks)
                counts(report, ranks)
                times(report, ranks)
            with tap.test('{}: callbacks on {} ranks, paused'.format(mpi, ranks)):
                run = mpi.profile(program, ranks, options=['--off-at-start']).ended(0)
                equal('output', run.out, native.out)
                equal('call sites', run.report().sites, [])
    tap.done()


main()
