#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank that polls waits: it is a finding of its own, and not taken for a rank that has more to do. One that computes
between its questions does not wait."""
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal


ASKED_BY = {
    'polls': 'MPI_Testall',
    'probes': 'MPI_Testall|MPI_Iprobe',
    'rounds': 'MPI_Testall|MPI_Iprobe|MPI_Request_get_status',
}


def findings_of(run):
    return {f['name']: f for f in reversed(harness.profile_of(run.directory)['findings'])}


def polls(tap, mpi, program, how):
    with tap.test('{}: {}: the rank is said to wait, as long as the program says'.format(mpi, how)):
        run = mpi.profile(program, 2, [how], ['-q']).ended(0)
        asked = sum(float(s) for s in re.findall(r'asked (\S+)', run.out))
        found = findings_of(run)
        polling = found['polling']
        close('lost', polling['lost_s'], asked, 0.05 * asked + 0.01)
        equal('rank', polling['rank'], 0)
        check(re.search(ASKED_BY[how], polling['text']), '{}', polling)
        check('ask()' in polling['text'], '{}', polling)
        outside = harness.profile_of(run.directory)['ranks'][0]['polled_s']
        check(outside < polling['lost_s'], 'outside of MPI: {} of {}', outside, polling['lost_s'])
    with tap.test(
        '{}: polling is neither computing nor MPI in the efficiencies, the table of ranks and the first line'.format(
            mpi
        )
    ):
        report = harness.profile_of(run.directory)
        ranks, times = report['ranks'], report['run']['rank_time']
        computed = [r['app_time_s'] - r['mpi_time_s'] - r['polled_s'] for r in ranks]
        check(0.2 * asked < ranks[0]['polled_s'] <= asked, '{} of {}', ranks[0]['polled_s'], asked)
        check(computed[0] < 0.5 * computed[1], '{}', computed)
        close('polled', times['polled_s'], sum(r['polled_s'] for r in ranks), 1e-6)
        close('computed', times['compute_s'], sum(computed), 1e-6)
        close('load balance', report['efficiency']['load_balance'], sum(computed) / 2 / max(computed), 1e-6)
        said = first_line(run)
        check(said[1], 'no polling: {}', said)
        close('asked', ranks[0]['polled_s'] + ranks[0]['asked_s'], asked, 0.05 * asked + 0.01)
        parts = [times['compute_s'], times['polled_s'] + times['asked_s'], times['mpi_s'] - times['asked_s']]
        for what, word, part in zip(('compute', 'polling', 'MPI'), said, parts):
            close(what, word, 100 * part / times['total_s'], 0.06)
    with tap.test('{}: {}: and is not who has more to do'.format(mpi, how)):
        imbalance = found.get('load_imbalance')
        check(not imbalance or imbalance['rank'] == 1, '{}', imbalance)
        check(imbalance or 'no_processor' in found, 'rank 1 has more to do: {}', found)
        if imbalance:
            check('ask' not in imbalance['text'], '{}', imbalance)


def first_line(run):
    """Its parts, in percent: computing, polling, MPI."""
    text = harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out
    said = re.search(r'compute (\S+) %, (?:polling (\S+) %, )?MPI (\S+) %', text)
    check(said, '{}', text)
    return [float(part or 0) for part in said.groups()]


def moves(tap, mpi, program):
    with tap.test('{}: moves: what takes as long as to move the bytes is not waiting'.format(mpi)):
        run = mpi.profile(program, 2, ['moves'], ['-q']).ended(0)
        for rank in harness.profile_of(run.directory)['ranks']:
            check(rank['asked_s'] <= max(rank['mpi_time_s'] - 24 * (64 << 20) / 1e9, 0), '{}', rank)
        close('all parts, %', sum(first_line(run)), 100, 0.2)


def waits_not(tap, mpi, program, how, why):
    with tap.test('{}: {}: {}'.format(mpi, how, why)):
        run = mpi.profile(program, 2, [how], ['-q']).ended(0)
        equal('finding', findings_of(run).get('polling'), None)
        parts = first_line(run)
        close('all parts, %', sum(parts), 100, 0.2)
        check(parts[1] < 2, '{} % polling', parts[1])


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        program = mpi.build('../planted/polling.c', '-O1', '-g', '-pthread')
        polls(tap, mpi, program, 'polls')
        polls(tap, mpi, program, 'probes')
        polls(tap, mpi, program, 'rounds')
        waits_not(tap, mpi, program, 'overlaps', 'who computes meanwhile does not wait')
        waits_not(tap, mpi, program, 'twice', 'nor with two calls a question')
        waits_not(tap, mpi, program, 'helps', 'nor does a rank whose second thread asks')
        moves(tap, mpi, program)
    tap.done()


main()
