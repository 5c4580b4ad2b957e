#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Error codes are MPI's own: more than 200 calls that fail return the same numbers, byte for byte, without
fvmpi, with it, and paused; and what they were charged with is nothing. And requests in unusual company."""
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal


def same(native, run):
    run.ended(native.rc)
    for i, (a, b) in enumerate(zip(native.out.splitlines(), run.out.splitlines())):
        equal('line {}'.format(i + 1), b, a)
    equal('output', run.out, native.out)


def mixed(mpi):
    run = mpi.profile(mpi.build('mixed.c'), 2).ended(0)
    equal('output', run.out, 'good end\n')
    report = run.report()
    report.sane(2)
    for inside, function, count, received in (
        ('inactive', 'MPI_Irecv', 1, 8),
        ('freed', 'MPI_Irecv', 3, 24),
        ('general', 'MPI_Irecv', 1, 20),
        ('copied', 'MPI_Irecv', 1, 40),
    ):
        report.callsite(function, inside=inside).expect(count=count, received=received, sent=0)
    for function, count in (('Waitany', 2), ('Waitsome', 1), ('Testsome', 1), ('Testany', 1), ('Testall', 1)):
        report.callsite('MPI_' + function, inside='inactive').expect(count=count, received=0)
    restarted = report.callsite('MPI_Startall', inside='restarted')
    restarted.expect(count=3, sent=84, received=84)
    of_messages = [restarted.data['message_' + key] for key in ('count', 'min_bytes', 'max_bytes')]
    equal('each message of MPI_Startall counts', of_messages, [2 * 3 * 4, 4, 24])
    report.traffic({(r, r): (6, 84) for r in (0, 1)})


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.mpis(tap):
        with tap.test('{}: requests in unusual company'.format(mpi)):
            mixed(mpi)
        program = mpi.build('errors.c')
        for ranks in (1, 2):
            # one rank of Open MPI 4.1 has no windows
            if ranks == 1 and str(mpi) == 'openmpi':
                continue
            native = mpi.native(program, ranks).ended(0)
            with tap.test('{}: codes of {} ranks, recorded'.format(mpi, ranks)):
                check(native.out.count(', class ') > 200 * ranks, 'the program itself: {}', native.out[-1000:])
                run = mpi.profile(program, ranks)
                same(native, run)
                report = run.report()
                report.sane(ranks)
                for site in report.callsites(inside='point_to_point'):
                    site.expect(sent=0, received=0)
                # in each of 16 rounds messages of 4 and 6 integers fit; of 10 into 7 nothing counts as arrived
                fit = [s for s in report.callsites('MPI_Irecv', inside='truncated')]
                equal(
                    'bytes received', [sum(s.on(r, 'bytes_received') for s in fit) for r in range(ranks)], [640] * ranks
                )
            with tap.test('{}: codes of {} ranks, paused'.format(mpi, ranks)):
                native = mpi.native(program, ranks, ['0']).ended(0)
                same(native, mpi.profile(program, ranks, ['0']))
                same(native, mpi.profile(program, ranks, ['0'], options=['--off-at-start']))
            with tap.test('{}: codes of {} ranks, traced'.format(mpi, ranks)):
                same(mpi.native(program, ranks), mpi.profile(program, ranks, options=['--trace']))
    tap.done()


main()
