#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for progress (src/analysis/progress.h) in real runs. The program says when each rank posted its part, came
back to MPI, and was let go. From that follows what the MPI at hand did, and how long a rank waited for progress: with a
thread that makes progress (MPICH_ASYNC_PROGRESS) next to nothing. That fvunify finds as long, for the right rank,
whatever the machine did."""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from analysis_json import Analysis
from report import check, close, equal
from traced_calls import CLOCKS, Calls

UNIFY = os.path.join(harness.BUILD, 'fvunify')
ROUNDS, MILLISECONDS = 6, 25
CASES = {
    'sender_computes': ['sender_computes'],
    'small_message': ['small_message'],
    'receiver_computes': ['receiver_computes'],
    'barrier': ['barrier'],
    'target_computes': ['target_lock', 'target_unlock'],
}
ABOUT = 5e-5  # within which two times are about the same: the clock of the program, and that of the trace
LEAST = 20e-6


Noted = collections.namedtuple('Noted', 'posted back leave again')  # again: begin of the call behind that


def noted(text, calls):
    """{case: {(round, rank): Noted}}, by the trace's times of the calls that the program tells of."""
    found = collections.defaultdict(dict)
    for words in (line.split() for line in text.splitlines()):
        if words[:1] != ['noted']:
            continue
        turn, rank, posted, back = int(words[2]), int(words[3]), float(words[4]), float(words[5])
        begin, end = calls[rank].next(back)
        found[words[1]][turn, rank] = Noted(
            calls[rank].before(posted), begin, end, calls[rank].next(end + 2 * CLOCKS)[0]
        )
    return found


def partner(case, calls, turn, rank):
    """Whose return the rank may have waited for."""
    if case != 'barrier':
        return rank + 1
    others = [r for t, r in calls if t == turn and r != rank and calls[t, r].back < calls[turn, rank].leave]
    return max(others, key=lambda r: calls[turn, r].back) if others else rank + 1


class Truth:
    """How long a rank waited for progress in a case: between `least` and `most` seconds. moved, withheld: calls that
    were over before the other rank came back, or after."""

    def __init__(self):
        self.least = self.most = 0
        self.moved = self.withheld = self.unclear = 0
        self.sharp = self.sharp_most = 0  # over at once when the other rank came back

    def add(self, case, calls, rank):
        for turn in range(ROUNDS):
            me, other = calls[turn, rank], calls[turn, partner(case, calls, turn, rank)]
            begin = max(me.back, other.posted)
            if case == 'barrier':  # until then it waits for those that have not begun it
                begin = max([begin] + [c.posted for (t, _), c in calls.items() if t == turn])
            self.judge(other.back - begin, me.leave - other.back)
            apart = min(other.again, me.leave) - max(other.leave, begin)
            if apart > LEAST:  # others had its processor before its call behind that: who waits still may wait for that
                self.most += max(other.again - begin, 0)

    def judge(self, before, after):
        if before > 0 and -ABOUT <= after <= before / 20 + ABOUT:
            self.sharp += 1
            self.sharp_most += before + ABOUT
        if after < -ABOUT:  # a call that was not blocked says nothing
            self.moved += before + after > 2 * LEAST
            self.unclear += LEAST / 2 < before + after <= 2 * LEAST
        elif after < ABOUT or abs(before - after) < ABOUT or abs(before - LEAST) < ABOUT:
            self.unclear += 1
            self.most += max(before, 0) + ABOUT
        elif before > LEAST and after < before:
            self.withheld += 1
            self.least += before - ABOUT
            self.most += before + ABOUT


def truths(case, calls, ranks):
    """{rank: Truth}. Where messages of the size often move by themselves, only those may be told that end at once when
    the other rank comes back, if one in three does: of all ranks together."""
    found = {rank: Truth() for rank in range(0, ranks, 2)}
    for rank, truth in found.items():
        for part in CASES[case]:
            truth.add(part, calls[part], rank)
    moved, withheld, unclear, sharp = (
        sum(getattr(t, key) for t in found.values()) for key in ('moved', 'withheld', 'unclear', 'sharp')
    )
    for truth in found.values():
        if case != 'barrier' and withheld <= 10 * (moved + unclear):
            truth.least = 0
        if case != 'barrier' and withheld + unclear <= 10 * moved:
            truth.most = truth.sharp_most if sharp >= 3 and 3 * sharp >= withheld + moved else 0
    return found


def unify(directory):
    harness.run([UNIFY, '-q', directory]).ended(0)
    found = Analysis(directory)
    found.sums()
    return found


def judge(found, case, calls, ranks):
    """Returns what was waited for progress in all, at least."""
    sites, all_of_it = found.inside(case), 0
    for rank, truth in truths(case, calls, ranks).items():
        seconds = found.kind(sites, rank, 'no_progress')
        check(
            truth.least <= seconds <= truth.most + 1e-9,
            'rank {} waits {} s for progress, wanted {} to {} s ({} withheld, {} moved, {} unclear)',
            rank,
            seconds,
            truth.least,
            truth.most,
            truth.withheld,
            truth.moved,
            truth.unclear,
        )
        if case != 'barrier':
            caused = sum(
                w['wait_s']
                for w in found.data['waits']
                if w['kind'] == 'no_progress'
                and w['rank'] == rank
                and w['cause_rank'] == rank + 1
                and w['callsite'] in [s['id'] for s in sites]
            )
            close('for rank {}'.format(rank + 1), caused, seconds, 1e-6)
        withheld = sum(row['withheld_s'] for s in found.data['callsites'] for row in s['per_rank'])
        check(withheld >= seconds - 1e-6, 'withheld {} s', withheld)
        all_of_it += truth.least
    return all_of_it


def started_late(analysis, rank):
    """How much the rank had the processor in start(), where it waits without fvmpi's knowing: then each_round(), which
    calls that too, may have more than what computes."""
    rows = (analysis.data['samples'] or {'procedures': []})['procedures']
    return sum(max(row['delay_s'], 0) for row in rows if (row['rank'], row['function']) == (rank, 'start'))


def report(run, least, analysis):
    """The finding names who computed, where, and what helps; nothing that holds such waiting is called exact."""
    found = harness.report_of(run.directory)
    rows = [f for f in found.data['findings'] if f['name'] == 'no_progress']
    # of a rank that was preempted for most of it, the finding noise has that waiting
    preempted = [f for f in found.data['findings'] if f['name'] == 'noise' and 'By the trace, others wait' in f['text']]
    check(rows or preempted or least <= 0, 'no finding, with {} s', least)
    for row in rows:
        equal('evidence is not exact', row['evidence'] == 'exact', False)
        check(row['rank'] % 2 == 1, 'names rank {}', row['rank'])
        check(
            re.search('MPI_Test in .* or send messages below the eager limit', row['next'])
            or ' was preempted for ' in row['text'],
            'next: {}',
            row['next'],
        )
        disturbed = any(f['name'] == 'no_processor' for f in found.data['findings']) or re.search(
            ' was preempted for |in the kernel', row['text']
        )
        also = ('each_round',) if started_late(analysis, row['rank']) > 0 else ()
        check(
            row['function'] in ('compute', 'slowly', 'now') + also or (disturbed and row['function'] is None),
            'names {}: {}',
            row['function'],
            row['text'],
        )
    waiting = found.data['waiting']
    if any(k['kind'] == 'no_progress' for k in waiting['kinds']):
        equal('waiting is', waiting['wait_kind'], 'estimate')
        text = ' '.join(harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out.split())
        check(
            re.search(
                r' is waiting \((estimate|exact but for [0-9.]+ % of it)\), [0-9.]+ % transfer and overhead ', text
            ),
            'the first lines: {}',
            text[:400],
        )


def runs(tap, mpi, ranks, environment, what):
    with tap.test('{}: {} ranks{}'.format(mpi, ranks, what)):
        run = mpi.profile(
            mpi.build('progress.c'), ranks, [str(ROUNDS), str(MILLISECONDS)], ['--trace'], env=environment
        ).ended(0)
        found = unify(run.directory)
        equal('ranks', found.ranks, ranks)
    if not os.path.exists(os.path.join(run.directory, 'analysis.json')):
        return
    calls, least = noted(run.out, [Calls(run.directory, rank) for rank in range(ranks)]), 0
    for case, parts in CASES.items():
        with tap.test('{}: {} ranks{}: {}'.format(mpi, ranks, what, case)):
            equal('rounds', [len(calls[part]) for part in parts], [ROUNDS * ranks] * len(parts))
            least += judge(found, case, calls, ranks)
    with tap.test('{}: {} ranks{}: the report'.format(mpi, ranks, what)):
        report(run, least if least > 0.1 * found.data['run']['elapsed_s'] * ranks else 0, found)


def main():
    tap = harness.Tap()
    harness.needs_fvunify(tap)
    for mpi in harness.mpis(tap):
        for ranks in harness.few(mpi, (2, 4)):
            runs(tap, mpi, ranks, {}, '')
        if str(mpi) == 'mpich':
            runs(tap, mpi, 2, {'MPICH_ASYNC_PROGRESS': '1'}, ' with a progress thread')
    tap.done()


main()
