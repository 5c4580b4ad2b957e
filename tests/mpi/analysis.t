#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""fvunify's analysis.json (share/analysis.md): each kind of waiting has the right length, on the right rank and
call path, with the right cause; delays, critical paths and efficiencies of programs that are known. The programs
(waitstates.c, waitpaths.c) say when they called and worked. That the trace tells their calls with these times is judged
by that; what follows from the calls is judged by the times of the trace, whatever else the machine did."""
import bisect
import collections
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from analysis_json import Analysis
from measured import Measured
from report import check, close, equal, plain
from traced_calls import CLOCKS, Calls

UNIFY = os.path.join(harness.BUILD, 'fvunify')
INJECTED = 3 * 0.04  # by each case of waitstates
SMALL = 0.6 * INJECTED  # what a rank may wait without being meant to
FOR_ALL = ('wait_at_nxn', 'wait_at_barrier', 'wait_at_create', 'wait_at_io', 'wait_at_fence', 'early_scan')
PROMPT = 0.002  # from the program to the trace, and back: of most calls, as each may be interrupted there


class Line:
    """Of a program's first comment: KIND CASE RANKS FUNCTION|FUNCTION <- RANK FUNCTION [from|until RANK]"""

    def __init__(self, words):
        self.kind, self.case = words[:2]
        self.waiting, self.functions, self.cause = [], [], None
        self.first = self.last = None
        if self.kind != 'none':
            self.waiting = [int(r) for r in words[2].split(',')]
            self.functions = words[3].split('|')
            self.cause, self.cause_function = int(words[5]), words[6]
            self.last = int(words[8]) if words[7:8] == ['until'] else self.cause
            self.first = int(words[8]) if words[7:8] == ['from'] else None

    def turns(self, case, slot, rank):
        """How long the rank waited in the call of this slot, in each round."""
        found = []
        for turn in range(3):
            enter, leave = case.calls[slot, turn, rank]
            if self.first is not None:
                enter = max(enter, case.calls[0, turn, self.first][0])
            found.append(max(0, min(case.calls[0, turn, self.last][0], leave) - enter))
        return found

    def is_in_order(self, case):
        """The cause came last, not the rank that the line tells the waiting by, nor one that others wait for as well."""
        others = [self.last if self.first is None else self.first] + (self.waiting if self.kind in FOR_ALL else [])
        return all(
            case.calls[0, turn, self.cause][0] >= case.calls[0, turn, other][0] for turn in range(3) for other in others
        )

    def judge(self, found, case, truth):
        """{rank: how long it waited, in each round}"""
        waited = {}
        if self.waiting and not self.is_in_order(case):
            truth.expect(False, case.queued > SMALL, 'the test is void: rank {} did not come last', self.cause)
            return {}
        for rank in self.waiting:
            slot = max(range(len(self.functions)), key=lambda i: sum(self.turns(case, i, rank)))
            waited[rank] = self.turns(case, slot, rank)
            truth.expect(
                sum(waited[rank]) > 0.3 * INJECTED,
                case.queued > SMALL,
                'the test is void: rank {} waited only {}',
                rank,
                waited[rank],
            )
            self.judge_wait(found, rank, self.functions[slot], waited[rank])
        return waited

    def judge_wait(self, found, rank, function, turns):
        sites = found.inside(self.case, [function])
        check(sites, 'no {}', function)
        truth = sum(turns)
        within = 0.002 + 0.02 * truth
        close(
            '{} of rank {} in {}'.format(self.kind, rank, function), found.kind(sites, rank, self.kind), truth, within
        )
        causes = found.inside(self.case, [self.cause_function])
        check(causes, 'no {}', self.cause_function)
        seconds, count = found.caused(sites, rank, self.kind, causes, self.cause)
        close('{} of rank {} for rank {}'.format(self.kind, rank, self.cause), seconds, truth, within)
        check(count >= sum(wait > 0.002 for wait in turns), 'rank {} waits {} times for it', rank, count)


class Case:
    """What the program noted of a case: its calls by the trace, and how long the ranks waited for processors."""

    def __init__(self, case, text, calls, truth):
        self.calls, self.outside, self.queued = {}, [], queued(text, case)
        for words in (line.split() for line in text.splitlines()):
            if words[:2] == ['noted', case]:
                slot, turn, rank = map(int, words[2:5])
                self.note(slot, turn, rank, calls[rank], *map(float, words[5:]))
        if self.outside:
            usual = statistics.median(self.outside)
            truth.expect(
                usual < PROMPT,
                usual < PROMPT + self.queued,
                'most calls begin or end {} s off where they were made',
                usual,
            )

    def note(self, slot, turn, rank, calls, enter, leave):
        if slot == 2:  # after the barrier
            at = bisect.bisect_left(calls.calls, (enter + CLOCKS,)) - 1
            self.calls[slot, turn, rank] = (calls.calls[at][1],) * 2
            return
        begin, end = self.calls[slot, turn, rank] = calls.within(enter, leave)
        self.outside.append(max(begin - enter, leave - end if leave else 0))


def judge_case(lines, found, case, truth):
    name, waited = lines[0].case, collections.defaultdict(lambda: [0, 0, 0])
    for line in lines:
        for rank, turns in line.judge(found, case, truth).items():
            waited[rank] = [a + b for a, b in zip(waited[rank], turns)]
    for rank in range(found.ranks):
        kinds = [line.kind for line in lines if rank in line.waiting]
        other = found.waits(found.inside(name), rank, kinds)
        truth.expect(other < SMALL, other < SMALL + case.queued, 'rank {} waits {} s for nothing', rank, other)
    if waited:
        judge_charge(name, lines[0].cause, waited, found, case, truth)


def judge_charge(name, cause, waited, found, case, truth):
    """At least the cause worked longer than those who wait, since they all left the barrier. At most they waited; and
    who is late here may be late for the next barrier, too."""

    def work(turn, rank):
        return case.calls[0, turn, rank][0] - case.calls[2, turn, rank][0]

    least = sum(
        max(0, min(wait, work(turn, cause) - work(turn, rank)))
        for rank, turns in waited.items()
        for turn, wait in enumerate(turns)
    )
    barriers = [s for s in found.data['callsites'] if name in [plain(f['function']) for f in s['path'][1:]]]
    most = sum(map(sum, waited.values())) + sum(found.waits(barriers, rank) for rank in range(found.ranks))
    computing, mpi = (found.delays(found.inside(name), cause, where) for where in ('computing', 'mpi'))
    off = max(least * 0.8 - 0.01 - computing - mpi, computing + mpi - most * 1.05 - 0.01, 0.7 * least - computing)
    truth.expect(
        off <= 0,
        off <= case.queued,
        'charged to rank {}: {} + {} s, wanted {} to {} s, most of it for computing',
        cause,
        computing,
        mpi,
        least,
        most,
    )


def cases_of(source):
    """{case: its lines}"""
    found = collections.defaultdict(list)
    for text in harness.sources(source)[source]:
        words = text.lstrip('!* ').split()
        if words[:1] == ['@'] and words[1].islower():
            found[words[2]].append(Line(words[1:]))
    return found


def queued(text, case):
    """Seconds that ranks waited for processors."""
    return sum(
        float(words[3]) for words in (line.split() for line in text.splitlines()) if words[:2] == ['queued', case]
    )


def worked(text, case, calls):
    """{(function, rank): seconds from call to call}"""
    found = collections.defaultdict(float)
    for words in (line.split() for line in text.splitlines()):
        if words[:2] == ['worked', case]:
            before, after = calls[int(words[3])].around(*map(float, words[4:]))
            found[words[2], int(words[3])] += after - before
    return found


def unify(mpi, directory, processes=0):
    command = [mpi.exec] + mpi.options + ['-n', str(processes)] if processes else []
    harness.run(command + [UNIFY, '-q', directory]).ended(0)
    return Analysis(directory)


class Program:
    """A program that is run and analysed."""

    def __init__(self, tap, mpi, name, program, ranks, arguments, ends=True):
        self.tap, self.mpi, self.program = tap, mpi, program
        self.ranks, self.arguments, self.ends = ranks, arguments, ends
        self.measured = Measured(self.run)
        with tap.test('{}: {} analysed'.format(mpi, name)):
            self.measured.run()

    def run(self):
        run = self.mpi.profile(self.program, self.ranks, self.arguments, ['--trace'])
        if self.ends:
            run.ended(0)
        found = unify(self.mpi, run.directory)
        equal('ranks', found.ranks, self.ranks)
        equal('complete', found.data['run']['complete'], self.ends)
        if self.ends:
            equal('unmatched', {k: v for k, v in found.data['unmatched'].items() if v}, {})
        found.sums()
        return run.out, (run, found, [Calls(run.directory, rank) for rank in range(self.ranks)])

    def test(self, name, judge, *more):
        if self.measured.runs:
            with self.tap.test('{}: {}'.format(self.mpi, name)):
                self.measured.test(lambda found, truth: judge(truth, *found, *more))


def judge_noted(truth, run, found, calls, name, lines):
    if name == 'neighbours' and not any(s['kinds'] for s in found.inside(name)):
        raise harness.Skip('traces do not tell neighbours')
    case = Case(name, run.out, calls, truth)
    if name == 'nxn_persistent' and not case.calls:
        raise harness.Skip('no MPI_Allreduce_init')
    check(case.calls, 'the program did not come by')
    judge_case(lines, found, case, truth)


def same_for_all(truth, run, found, calls, mpi):
    for processes in (1, 2, 3):
        data = unify(mpi, run.directory, processes).data
        for key in set(data) | set(found.data):
            if key != 'merge':
                equal('{} processes: {}'.format(processes, key), data[key], found.data[key])


def kinds(tap, mpi):
    scratch = os.path.join(harness.scratch('data'), 'f')
    program = Program(tap, mpi, 'waits', mpi.build('waitstates.c'), 4, ['waits', scratch])
    for case, lines in cases_of('waitstates.c').items():
        program.test(case, judge_noted, case, lines)
    program.test('the same from 1, 2 and 3 processes', same_for_all, mpi)
    killed = Program(tap, mpi, 'a killed run', mpi.build('waitstates.c'), 4, ['killed'], ends=False)
    for case in ('late_send', 'nxn_allreduce'):
        killed.test(case + ' before the kill', judge_noted, case, cases_of('waitstates.c')[case])
    lost = mpi.build('lost.c', '-c', output='lost.o')
    binding = 'MPIF_H' if mpi.name == 'mpich' else 'USE_MPI'  # both lead to the same entry points
    fortran = Program(
        tap, mpi, 'Fortran', mpi.build('waitstates.F90', '-D' + binding, lost, output='waitstates_f'), 3, []
    )
    for case, lines in cases_of('waitstates.F90').items():
        fortran.test('Fortran ' + case, judge_noted, case, lines)


def critical_path(truth, run, found, calls, case):
    work, wait = worked(run.out, case, calls), queued(run.out, case)
    check(work, 'the program did not come by')
    for (function, rank), seconds in sorted(work.items()):
        off = abs(found.critical(found.inside(case, [function]), rank) - seconds)
        truth.expect(
            off < 0.003 + 0.02 * seconds,
            off < 0.003 + 0.02 * seconds + wait,
            '{} of rank {}: {} s more or less than {} s',
            function,
            rank,
            off,
            seconds,
        )
    total = sum(found.critical(found.inside(case), rank) for rank in range(found.ranks))
    off = abs(total - sum(work.values()))
    truth.expect(
        off < 0.01 + 0.05 * total,
        off < 0.01 + 0.05 * total + wait,
        'all ranks: {} s more or less than {} s',
        off,
        total,
    )


def chain(truth, run, found, calls):
    """Ranks 1 to 3 wait for rank 0, and a bit for each other, and in the barrier behind."""
    sites, seconds, wait = (
        found.inside('chain'),
        worked(run.out, 'chain', calls)['MPI_Send', 0],
        queued(run.out, 'chain'),
    )
    more = max(0, sum(found.waits(sites, rank) for rank in range(4)) - 3 * seconds)

    def between(what, low, value, high):
        truth.expect(
            low < value < high, low - wait < value < high + wait, '{}: {} s, wanted {} to {} s', what, value, low, high
        )

    for key, times in (('direct_s', 1), ('propagated_s', 2), ('cost_s', 3)):
        wanted = times * seconds
        between(key, 0.85 * wanted, found.delays(sites, 0, key=key), 1.02 * wanted + more)
    for rank in (1, 2, 3):
        waits = found.kind(found.inside('chain', ['MPI_Recv']), rank, 'late_sender')
        between('rank {} waits'.format(rank), 0.85 * seconds, waits, waits + 1)
        between('charged to rank {}'.format(rank), -1, found.delays(sites, rank), 0.1 * seconds)


def late_finalize(truth, run, found, calls):
    sites = [s for s in found.data['callsites'] if s['function'] == 'MPI_Finalize']
    ends = {int(w[1]): float(w[2]) for w in (line.split() for line in run.out.splitlines()) if w[:1] == ['ends']}
    ends = {rank: calls[rank].within(end, 0)[0] for rank, end in ends.items()}
    for rank in (0, 1, 3):
        close('rank {}'.format(rank), found.kind(sites, rank, 'wait_at_finalize'), ends[2] - ends[rank], PROMPT)
        close('for rank 2', found.caused(sites, rank, 'wait_at_finalize', sites, 2)[0], ends[2] - ends[rank], PROMPT)


def load_balance(truth, run, found, calls):
    work, wait = worked(run.out, 'all', calls), queued(run.out, 'all')
    slow, fast = work['-', 0], work['-', 1]
    sites = found.inside('imbalance', ['MPI_Allreduce'])
    off = abs(found.data['efficiency']['load_balance'] - (slow + fast) / (2 * slow))
    truth.expect(off < 0.03, off < 0.03 + wait / slow, 'load balance: {} more or less', off)
    for what, seconds in (('rank 1', found.kind(sites, 1, 'wait_at_nxn')), ('charged', found.delays(sites, 0))):
        off, within = abs(seconds - (slow - fast)), 0.005 + 0.1 * (slow - fast)
        truth.expect(off < within, off < within + wait, '{}: {} s, wanted {} s', what, seconds, slow - fast)


def serialization(truth, run, found, calls):
    work, wait = list(worked(run.out, 'all', calls).values()), queued(run.out, 'all')
    off = abs(found.data['efficiency']['serialization'] - max(work) / sum(work))
    truth.expect(off < 0.02, off < 0.02 + wait / sum(work), 'serialization: {} more or less', off)
    off, within = abs(found.data['efficiency']['ideal_s'] - sum(work)), 0.02 + 0.05 * sum(work)
    truth.expect(off < within, off < within + wait, 'ideal time: {} s more or less than {} s', off, sum(work))


def nobody_waits(truth, run, found, calls):
    sites = [s for s in found.data['callsites'] if s['function'] not in ('MPI_Init', 'MPI_Finalize')]
    wait = queued(run.out, 'all')
    for rank in range(found.ranks):
        waits, few = found.waits(sites, rank), 0.01 * found.data['ranks'][rank]['elapsed_s']
        truth.expect(waits < few, waits < few + wait, 'rank {} waits {} s', rank, waits)


def paths(tap, mpi):
    built = mpi.build('waitpaths.c')
    program = Program(tap, mpi, 'paths', built, 4, ['paths'])
    for case in ('chain', 'pipeline', 'workers', 'stencil'):
        program.test('critical path of ' + case, critical_path, case)
    program.test('a chain of delays is charged to its beginning', chain)
    program.test('a late MPI_Finalize', late_finalize)
    Program(tap, mpi, 'an imbalance', built, 2, ['imbalance']).test('load balance', load_balance)
    Program(tap, mpi, 'a serial program', built, 4, ['serial']).test('serialization', serialization)
    Program(tap, mpi, 'a balanced program', built, 2, ['balanced']).test('nobody waits', nobody_waits)


def main():
    tap = harness.Tap()
    harness.needs_fvunify(tap)
    for mpi in harness.an_mpi(tap):
        kinds(tap, mpi)
        paths(tap, mpi)
    tap.done()


main()
