#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Waiting that the programs cause themselves is found: at the right call site, on the right ranks, of the
right length. Exact for collectives, an estimate for point-to-point calls."""
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from measured import Measured
from report import check, equal

SLEPT = 0.2

# who must have waited for the sleeper's two naps; the others about 0. P ranks, L = P - 1.
WAITERS = {
    'barrier': lambda r, P: r != 1,
    'balanced': lambda r, P: False,
    'allreduce': lambda r, P: r != P - 1,
    'alltoall': lambda r, P: r != 0,
    'late_root_bcast': lambda r, P: r != 1,
    'early_root_bcast': lambda r, P: False,
    'late_root_scatter': lambda r, P: r != 0,
    'early_reduce': lambda r, P: r == 0,
    'late_leaf_reduce': lambda r, P: r == 0,
    'late_root_reduce': lambda r, P: False,
    'early_gather': lambda r, P: r == P - 1,
    'late_first_scan': lambda r, P: r > 0,
    'late_last_scan': lambda r, P: False,
    'split_barrier': lambda r, P: r == 0 and P > 2,
    'late_silent_allgatherv': lambda r, P: False,
}


def truths(text):
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ['truth']:
            yield words[1], words[2], [float(w) for w in words[3:]]


def profile(mpi, ranks):
    run = mpi.profile(mpi.build('waits.c'), ranks).ended(0)
    cases = {case: (function, waits) for function, case, waits in truths(run.out)}
    lost = {
        words[1]: float(words[2]) for words in (line.split() for line in run.out.splitlines()) if words[:1] == ['lost']
    }
    equal('cases', sorted(cases), sorted(WAITERS))
    run.report().sane(ranks)
    return run.out, (run.report(), cases, lost)


def judge(found, truth, case, ranks):
    report, cases, lost = found
    (function, waits), lost = cases[case], lost[case] + truth.stolen_s
    site = report.callsite(function, inside=case)
    site.expect(count=2)
    equal('wait_kind', site.data['wait_kind'], 'exact')
    for rank in range(ranks):
        # the program's clock reads stand around fvmpi's; between them the scheduler may strike
        wait = site.on(rank, 'wait_s')
        off, within = abs(wait - waits[rank]), max(0.004, 0.05 * waits[rank])
        truth.expect(
            off <= within,
            off <= within + lost,
            '{}: rank {} waited {} s, the program measured {} s; the ranks may have lost {} s',
            site,
            rank,
            wait,
            waits[rank],
            lost,
        )
        if WAITERS[case](rank, ranks):
            # a loaded machine may make the waiter itself late, which the truth knows
            check(max(waits) >= 0.6 * SLEPT, 'the test is void: {}', waits)
            least = min(0.6 * SLEPT, 0.95 * waits[rank] - 0.004)
            truth.expect(wait >= least, wait >= least - lost, 'rank {} waited {} of {} s', rank, wait, SLEPT)
        else:
            # but for what the program measured, where ranks wait for a processor
            most = max(0.5 * SLEPT, 1.05 * waits[rank] + 0.004)
            truth.expect(wait <= most, wait <= most + lost, 'rank {} waited {} s for nobody', rank, wait)


def late_sender(mpi):
    run = mpi.profile(mpi.build('late_sender.c'), 2).ended(0)
    lost = {f[1]: (float(f[2]), float(f[3])) for f in map(str.split, run.out.splitlines()) if f[:1] == ['lost']}
    return run.out, (run.report(), list(truths(run.out)), lost)


def judge_late_sender(found, truth):
    report, cases, losses = found
    report.sane(2)
    equal('cases', [case for function, case, inside in cases], ['late', 'late_wait', 'prompt'])
    for function, case, (inside,) in cases:
        site, sender = report.callsite(function, inside=case), report.callsite('MPI_Send', inside=case)
        site.expect(count=[0, 40])
        equal('{}: wait_kind'.format(site), site.data['wait_kind'], 'estimate')
        # the best call lasts a microsecond: all the rest of the time in them is waiting
        check(case == 'prompt' or inside > 0.9 * 5 * 0.06, '{} lasted only {}', case, inside)
        wait, within = site.on(1, 'wait_s'), 0.002 + 0.1 * inside
        at_sender, lost = (rank + truth.stolen_s for rank in losses[case])
        off = abs(wait - inside)
        truth.expect(off <= within, off <= within + lost, '{} waits {} of {} s, lost {}', site, wait, inside, lost)
        check(wait <= inside, '{} waits longer than it lasts, {}', site, inside)
        wait = sender.data['wait_s'] or 0
        truth.expect(wait < 0.1, wait < 0.1 + at_sender, '{} waits {}, lost {}', sender, wait, at_sender)


def main():
    tap = harness.Tap()
    for mpi in harness.mpis(tap):
        for ranks in harness.few(mpi, (2, 4)):
            measured = Measured(lambda: profile(mpi, ranks))
            with tap.test('{}: collectives on {} ranks are reported'.format(mpi, ranks)):
                measured.run()
            for case in WAITERS:
                with tap.test('{}: {} on {} ranks'.format(mpi, case, ranks)):
                    measured.test(judge, case, ranks)
        with tap.test('{}: a rank alone never waits'.format(mpi)):
            report = mpi.profile(mpi.build('collectives.c'), 1).ended(0).report()
            for site in report.sites:
                if site.function not in ('MPI_Init', 'MPI_Finalize'):
                    check(not site.data['wait_s'], '{} waits {}', site, site.data['wait_s'])
        with tap.test('{}: a late sender is estimated'.format(mpi)):
            Measured(lambda mpi=mpi: late_sender(mpi)).test(judge_late_sender)
    tap.done()


main()
