#!/usr/bin/env python3
"""fvunify's analysis.json (share/analysis.md): each kind of waiting has the right length, on the right rank and
call path, with the right cause; delays, critical paths and efficiencies of programs that are known. The truth
is what the programs measured themselves (waitstates.c, waitpaths.c), so that a loaded machine does not matter."""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from analysis_json import Analysis
from report import Mismatch, check, close, equal, plain

UNIFY = os.path.join(harness.BUILD, 'fvunify')
INJECTED = 3 * 0.04  # by each case of waitstates
SMALL = 0.6 * INJECTED  # what a rank may wait without being meant to, when others want its core


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

    def turns(self, notes, slot, rank):
        """How long the rank waited in the call of this slot, in each round."""
        found = []
        for turn in range(3):
            enter, leave = notes[slot, turn, rank]
            if self.first is not None:
                enter = max(enter, notes[0, turn, self.first][0])
            found.append(max(0, min(notes[0, turn, self.last][0], leave) - enter))
        return found

    def judge(self, found, notes):
        """{rank: how long it waited, in each round}"""
        truth = {}
        for rank in self.waiting:
            slot = max(range(len(self.functions)), key=lambda i: sum(self.turns(notes, i, rank)))
            truth[rank] = self.turns(notes, slot, rank)
            check(sum(truth[rank]) > 0.3 * INJECTED, 'the test is void: rank {} waited only {}', rank, truth[rank])
            self.judge_wait(found, rank, self.functions[slot], truth[rank])
        return truth

    def judge_wait(self, found, rank, function, turns):
        sites = found.inside(self.case, [function])
        check(sites, 'no {}', function)
        truth = sum(turns)
        within = 0.002 + 0.02 * truth
        close('{} of rank {} in {}'.format(self.kind, rank, function), found.kind(sites, rank, self.kind), truth, within)
        causes = found.inside(self.case, [self.cause_function])
        check(causes, 'no {}', self.cause_function)
        seconds, count = found.caused(sites, rank, self.kind, causes, self.cause)
        close('{} of rank {} for rank {}'.format(self.kind, rank, self.cause), seconds, truth, within)
        check(count >= sum(wait > 0.002 for wait in turns), 'rank {} waits {} times for it', rank, count)


def judge_case(lines, found, notes):
    case, truth = lines[0].case, collections.defaultdict(lambda: [0, 0, 0])
    for line in lines:
        for rank, turns in line.judge(found, notes).items():
            truth[rank] = [a + b for a, b in zip(truth[rank], turns)]
    for rank in range(found.ranks):
        kinds = [line.kind for line in lines if rank in line.waiting]
        other = found.waits(found.inside(case), rank, kinds)
        check(other < SMALL, 'rank {} waits {} s for nothing', rank, other)
    if truth:
        judge_charge(case, lines[0].cause, truth, found, notes)


def judge_charge(case, cause, truth, found, notes):
    """At least the cause worked longer than those who wait, since they all left the barrier. At most they waited; and
    who is late here may be late for the next barrier, too."""
    def work(turn, rank):
        return notes[0, turn, rank][0] - notes[2, turn, rank][0]
    least = sum(max(0, min(wait, work(turn, cause) - work(turn, rank)))
                for rank, turns in truth.items() for turn, wait in enumerate(turns))
    barriers = [s for s in found.data['callsites'] if case in [plain(f['function']) for f in s['path'][1:]]]
    most = sum(map(sum, truth.values())) + sum(found.waits(barriers, rank) for rank in range(found.ranks))
    computing, mpi = (found.delays(found.inside(case), cause, where) for where in ('computing', 'mpi'))
    check(least * 0.8 - 0.01 <= computing + mpi <= most * 1.05 + 0.01,
          'charged to rank {}: {} + {}, wanted {} to {}', cause, computing, mpi, least, most)
    check(computing > 0.7 * least, 'charged to the computation: {} of {}', computing, least)


def cases_of(source):
    """{case: its lines}"""
    found = collections.defaultdict(list)
    for text in harness.sources(source)[source]:
        words = text.lstrip('!* ').split()
        if words[:1] == ['@'] and words[1].islower():
            found[words[2]].append(Line(words[1:]))
    return found


def noted(text):
    """{case: {(slot, round, rank): (enter, leave)}}"""
    found = collections.defaultdict(dict)
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ['noted']:
            found[words[1]][tuple(map(int, words[2:5]))] = float(words[5]), float(words[6])
    return found


def worked(text):
    """{case: {(function, rank): seconds}}"""
    found = collections.defaultdict(dict)
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ['worked']:
            found[words[1]][words[2], int(words[3])] = float(words[4])
    return found


def unify(mpi, directory, processes=0):
    command = [mpi.exec] + mpi.options + ['-n', str(processes)] if processes else []
    harness.run(command + [UNIFY, '-q', directory]).ended(0)
    return Analysis(directory)


class Program:
    """A program that was run and analysed. What fails is judged by a second run, for others may have kept the ranks
    of the first from their cores."""

    def __init__(self, tap, mpi, name, program, ranks, arguments, ends=True):
        self.tap, self.mpi, self.name, self.program = tap, mpi, name, program
        self.ranks, self.arguments, self.ends = ranks, arguments, ends
        self.runs = []
        with tap.test('{}: {} analysed'.format(mpi, name)):
            self.run()

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
        self.runs.append((run, found))

    def test(self, name, judge, *more):
        if not self.runs:
            return
        with self.tap.test('{}: {}'.format(self.mpi, name)):
            try:
                judge(*self.runs[0], *more)
            except Mismatch as why:
                print('# judged again: {}: {}'.format(name, why))
                if len(self.runs) < 2:
                    self.run()
                judge(*self.runs[1], *more)


def judge_noted(run, found, case, lines):
    notes = noted(run.out)
    if case == 'nxn_persistent' and case not in notes:
        raise harness.Skip('no MPI_Allreduce_init')
    if case == 'neighbours' and not any(s['kinds'] for s in found.inside(case)):
        raise harness.Skip('traces do not tell neighbours')
    check(case in notes, 'the program did not come by')
    judge_case(lines, found, notes[case])


def same_for_all(run, found, mpi):
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
    binding = 'MPIF_H' if mpi.name == 'mpich' else 'USE_MPI'  # both lead to the same entry points
    fortran = Program(tap, mpi, 'Fortran', mpi.build('waitstates.F90', '-D' + binding, output='waitstates_f'), 3, [])
    for case, lines in cases_of('waitstates.F90').items():
        fortran.test('Fortran ' + case, judge_noted, case, lines)


def critical_path(run, found, case):
    truth = worked(run.out)[case]
    check(truth, 'the program did not come by')
    for (function, rank), seconds in sorted(truth.items()):
        close('{} of rank {}'.format(function, rank), found.critical(found.inside(case, [function]), rank),
              seconds, 0.003 + 0.02 * seconds)
    total = sum(found.critical(found.inside(case), rank) for rank in range(found.ranks))
    close('all ranks', total, sum(truth.values()), 0.01 + 0.05 * total)


def chain(run, found):
    """Ranks 1 to 3 wait for rank 0, and a bit for each other, and in the barrier behind."""
    sites, seconds = found.inside('chain'), worked(run.out)['chain']['MPI_Send', 0]
    more = sum(found.waits(sites, rank) for rank in range(4)) - 3 * seconds
    for key, times in (('direct_s', 1), ('propagated_s', 2), ('cost_s', 3)):
        charged, wanted = found.delays(sites, 0, key=key), times * seconds
        check(0.85 * wanted < charged < 1.02 * wanted + max(0, more), '{}: {}, wanted {} to {}', key, charged, wanted, wanted + more)
    for rank in (1, 2, 3):
        waits = found.kind(found.inside('chain', ['MPI_Recv']), rank, 'late_sender')
        check(waits > 0.85 * seconds, 'rank {} waits {}', rank, waits)
        check(found.delays(sites, rank) < 0.1 * seconds, 'charged to rank {}: {}', rank, found.delays(sites, rank))


def late_finalize(run, found):
    sites = [s for s in found.data['callsites'] if s['function'] == 'MPI_Finalize']
    ends = {int(w[1]): float(w[2]) for w in (line.split() for line in run.out.splitlines()) if w[:1] == ['ends']}
    for rank in (0, 1, 3):
        close('rank {}'.format(rank), found.kind(sites, rank, 'wait_at_finalize'), ends[2] - ends[rank], 0.01)
        close('for rank 2', found.caused(sites, rank, 'wait_at_finalize', sites, 2)[0], ends[2] - ends[rank], 0.01)


def load_balance(run, found):
    slow, fast = (worked(run.out)['all']['-', rank] for rank in (0, 1))
    close('load balance', found.data['efficiency']['load_balance'], (slow + fast) / (2 * slow), 0.03)
    sites = found.inside('imbalance', ['MPI_Allreduce'])
    close('rank 1', found.kind(sites, 1, 'wait_at_nxn'), slow - fast, 0.005 + 0.1 * (slow - fast))
    close('charged', found.delays(sites, 0), slow - fast, 0.005 + 0.1 * (slow - fast))


def serialization(run, found):
    work = list(worked(run.out)['all'].values())
    close('serialization', found.data['efficiency']['serialization'], max(work) / sum(work), 0.02)
    close('ideal time', found.data['efficiency']['ideal_s'], sum(work), 0.02 + 0.05 * sum(work))


def nobody_waits(run, found):
    sites = [s for s in found.data['callsites'] if s['function'] not in ('MPI_Init', 'MPI_Finalize')]
    for rank in range(found.ranks):
        waits = found.waits(sites, rank)
        check(waits < 0.01 * found.data['ranks'][rank]['elapsed_s'], 'rank {} waits {} s', rank, waits)


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
    if not os.path.exists(UNIFY + '-serial'):
        with tap.test('fvunify'):
            raise harness.Skip('built without OTF2')
        tap.done()
    for mpi in harness.mpis(tap):
        kinds(tap, mpi)
        paths(tap, mpi)
    tap.done()


main()
