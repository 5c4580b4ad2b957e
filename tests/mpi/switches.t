#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Computing without a processor: how long a rank was blocked, and how long others had its processor, between which
calls: what the program measured itself. Where the kernel does not tell it, nothing is known, and the program runs as
ever."""
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from measured import Measured
from report import check, equal

OFF = ('blocked_s', 'preempted_s')


def ranks_of(report, function):
    region = report.region(('MPI_Barrier', function), ('MPI_Allreduce', function))
    return {row['rank']: row for row in region['per_rank']}, region


def sleeps(found, truth):
    rows, region = ranks_of(found[0], 'sleeps')
    equal('longest', region['max_rank'], 1)
    equal('of the longest', region['blocked_s'], rows[1]['blocked_s'])
    truth.near('rank 1 sleeps', rows[1]['blocked_s'] * 1e9, '1.sleeps')
    check(rows[1]['blocked_count'] >= 8, 'rank 1 was blocked {} times', rows[1]['blocked_count'])
    check(rows[0]['blocked_s'] < 0.25 * rows[1]['blocked_s'], 'rank 0 was blocked for {} s', rows[0]['blocked_s'])


def shares(found, truth):
    rows, _ = ranks_of(found[0], 'shares')
    for rank, row in rows.items():
        truth.near(
            'rank {} has no processor'.format(rank),
            (row['preempted_s'] + row['blocked_s']) * 1e9,
            '{}.shares'.format(rank),
        )
        check(row['preempted_s'] >= row['blocked_s'], 'rank {} was blocked for {} s', rank, row['blocked_s'])


def often(found, truth):
    rows, _ = ranks_of(found[0], 'often')
    for row in rows.values():
        check(
            row['unseen_count'] > 0 and 100 < row['blocked_count'] < 2000,
            '{} times of 2000, {} not seen',
            row['blocked_count'],
            row['unseen_count'],
        )


def bounded(found, truth):
    for region in found[0].data['waiting']['regions']:
        for row in region['per_rank']:
            check(0 <= row['blocked_s'] + row['preempted_s'] <= row['time_s'] + 1e-9, 'more than the time: {}', row)


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        program = mpi.build('switches.c')

        def make():
            run = mpi.profile(program, 2).ended(0)
            return run.out, (run.report(),)

        measured = Measured(make)
        measured.run()
        if measured.found[0].data['waiting']['regions'][0]['blocked_s'] is None:
            with tap.test('{}: context switches'.format(mpi)):
                raise harness.Skip('the kernel does not tell them')
            continue
        for judge in (sleeps, shares, often, bounded):
            with tap.test('{}: {}'.format(mpi, judge.__name__)):
                measured.test(judge)
    tap.done()


main()
