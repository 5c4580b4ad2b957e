#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Programs with a known problem on a machine that others use: four times as many processes that compute as there are
processors. Whatever is named is the right rank and function, delays by preemption are no fault of the program, and what
was not found is not denied. With FVMPI_TEST_LONG (./dev statistics) each runs ten times, and the problem is found in
eight of them, and programs without a problem are accused of nothing."""
import contextlib
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from findings import first_lines, truth_of
from report import check, equal, plain

LONG = os.environ.get('FVMPI_TEST_LONG') == '1'
TIMES, ENOUGH = (10, 0.8) if LONG else (1, 0)  # runs; part of them that find the problem
HOGS = 4 * (os.cpu_count() or 1)
HOG = 'import time\nend = time.monotonic() + 900\nwhile time.monotonic() < end: pass'
REACT_S = 60 * 0.010  # CPU time that rank 1 has more
FLAGS = ('-lm', '-pthread', '-fopenmp')
MACHINE = ('no_processor', 'noise', 'startup')


@contextlib.contextmanager
def loaded(hogs):
    """Children of ours, which end with this."""
    started = [subprocess.Popen([sys.executable, '-c', HOG], env=harness.environment()) for _ in range(hogs)]
    try:
        yield
    finally:
        for hog in started:
            hog.kill()
            hog.wait()


def is_denied(run):
    return re.search(r'nothing (else )?that fvmpi knows the cause of', first_lines(run))


class Case:
    """Source and arguments of a program; the finding, the rank, and functions that may be named: the first is the
    planted one."""

    def __init__(
        self,
        source,
        arguments,
        finding,
        rank,
        functions,
        options=(),
        seconds=None,
        any_of_them=False,
        times=TIMES,
        also=(),
    ):
        self.source, self.arguments, self.finding, self.rank, self.functions = (
            source,
            arguments,
            finding,
            rank,
            functions,
        )
        self.options, self.seconds, self.any_of_them, self.times = options, seconds, any_of_them, times
        self.also = also  # findings that are true as well

    def __str__(self):
        return ' '.join([self.source] + self.arguments + list(self.options))

    def run(self, mpi, more=()):
        program = mpi.build(os.path.join(HERE, self.source), '-O2', '-g', *FLAGS, output=self.source.replace('.', '_'))
        run = mpi.profile(program, 2, self.arguments + list(more), list(self.options)).ended(0)
        if self.options and self.options[0].startswith('--sample'):
            harness.needs_instances(run)
        if '--trace' in self.options:
            harness.run([os.path.join(harness.BUILD, 'fvunify'), run.directory]).ended(0)
        return run

    def judge_any(self, run):
        """Raises where anything but self.also is said, or of anybody else; is self.finding among it?"""
        said = self.names(run)
        for f in said:
            check(f['name'] in self.also, 'said of the program: {}', f)
            rank, function = self.also[f['name']]
            check(rank is None or f['rank'] in (None, rank), 'said of the program: {}', f)
            check(function is None or plain(f['function'] or '') in function.split('|'), 'function: {}', f)
        check(said or not self.finding or not is_denied(run), '{}', first_lines(run))
        return self.finding is None or self.finding in [f['name'] for f in said]

    def names(self, run):
        """Findings that accuse the program. A late rank by preemption is the machine's, and so may be other functions'
        variation, if that is said."""
        return [
            f
            for f in harness.report_of(run.directory).data['findings']
            if f['name'] not in MACHINE
            and ' was preempted for ' not in f['text']
            and (' for processors ' not in f['text'] or plain(f['function'] or '') in self.functions)
        ]

    def judge(self, run):
        """Raises where anything wrong is said; was the planted problem found, with its function?"""
        found = False
        for f in self.names(run):
            function = plain(f['function'] or '').split(':')[-1].split('>')[-1]
            if f['name'] not in (self.finding, 'late_rank', 'load_imbalance'):
                check(
                    f['name'] in ('unexplained_waiting', 'instruction_balance', 'own_cost', *self.also),
                    'said of the program: {}',
                    f,
                )
                continue
            equal('rank of {}'.format(f), f['rank'], self.rank)
            check(not function or function in self.functions, 'function: {}', f)
            found = found or self.any_of_them or function == self.functions[0]
            if f['name'] == 'load_imbalance' and re.search(r'computes \S+ m?s of CPU time', f['text']):
                check(re.search(r'times as much', f['text']), 'no ratio: {}', f)
                check(
                    not self.seconds or 0.7 * self.seconds < f['lost_s'] < 1.4 * self.seconds,
                    '{} s, truly {} of CPU time',
                    f['lost_s'],
                    self.seconds,
                )
        check(self.names(run) or not is_denied(run), '{}', first_lines(run))
        return found


CASES = [
    Case('planted.c', ['imbalance'], 'load_imbalance', 1, ('react', 'compute'), seconds=REACT_S),
    # in the kernel, where no samples are
    Case('planted.c', ['faults'], 'load_imbalance', 1, ('touch', 'main'), seconds=REACT_S, any_of_them=True),
    Case('planted.c', ['imbalance'], 'load_imbalance', 1, ('react', 'compute'), options=('--trace',), seconds=REACT_S),
    Case('planted.c', ['imbalance'], 'load_imbalance', 1, ('react', 'compute'), options=('--sample',), seconds=REACT_S),
    Case('planted.F90', [], 'load_imbalance', 1, ('react', 'compute'), seconds=REACT_S),
    Case('planted.cpp', [], 'load_imbalance', 1, ('react', 'compute'), seconds=REACT_S),
    Case(
        'rare.c',
        [],
        'rare_slow_calls',
        1,
        ('lookup',),
        options=('--sample',),
        times=3,
        also=('slow_iterations',),  # every 50th
    ),
    Case('sites.c', ['varies'], 'varying_function', None, ('lookup',), options=('--sample=400',), times=3),
]


def other(source, arguments, options, finding, **said):
    """A program of which nothing but this may be said: {finding: (rank, function)}, with None for any, and FUNCTION|CALLER
    where both have the time."""
    return Case(source, arguments, finding, None, (), options, times=3, also={'unexplained_waiting': ANY, **said})


ANY = (None, None)
HOLD = ('--threads=hold',)
OTHERS = [  # planted.c chain takes minutes there
    other('planted.c', ['places'], (), 'load_imbalance', load_imbalance=(1, 'react')),
    other('planted.c', ['moves'], (), None),
    other('planted.c', ['snapshot'], (), 'blocked_rank', blocked_rank=(0, None), slow_iterations=(0, None)),
    other(
        'planted.c', ['leak'], ('--memory',), 'growing_memory', growing_memory=(1, 'remember'), load_imbalance=(1, None)
    ),
    other('planted.c', ['both'], (), None, small_messages=ANY),
    other('planted.c', ['turns'], (), None, small_messages=ANY),
    other('planted.c', ['pipeline'], (), None),
    other('planted.c', ['startup'], (), None),
    other('overlap.c', ['60'], (), 'load_imbalance', load_imbalance=(1, 'react')),
    other('omp.c', [], ('--threads',), None, thread_imbalance=ANY),
    other('hybrid.c', [], ('--threads',), None, thread_imbalance=ANY, load_imbalance=(1, None)),
    other('polling.c', ['polls'], (), 'polling', polling=(0, None), load_imbalance=(1, 'sum|work'), own_cost=ANY),
    other('sections.c', ['work'], (), None),
    other('threads.c', ['pool'], HOLD, 'idle_workers', idle_workers=(None, 'next_task')),
    other('threads.c', ['semaphore'], HOLD, 'idle_workers', idle_workers=(None, 'next_by_semaphore')),
    other('threads.c', ['contended'], HOLD, 'contended_lock', contended_lock=(None, 'update')),
    other('threads.c', ['held'], HOLD, None, contended_lock=ANY),
    other('threads.c', ['turns'], HOLD, None, contended_lock=ANY),
    other('threads.c', ['crowded'], HOLD, None, contended_lock=ANY),
    other('threads.c', ['given'], HOLD, 'load_imbalance', load_imbalance=(1, None)),
    # what sleeps for long wakes up late
    other('iterations.c', ['every'], (), None, slow_iterations=ANY, blocked_rank=ANY),
    other('iterations.c', ['grows', 'long'], (), 'growing_iterations', growing_iterations=(None, 'norm')),
    other('iterations.c', ['moves'], (), 'moving_imbalance', moving_imbalance=(None, 'norm')),
    other('iterations.c', ['steady'], (), None),
    other('iterations.c', ['nest'], (), None, blocked_rank=ANY),
]


def judged(tap, mpi, case, hogs):
    with tap.test('{}: {}, with {} other processes'.format(mpi, case, hogs)):
        times, found = case.times, sum(case.judge_any(case.run(mpi)) for _ in range(case.times))
        if found < int(ENOUGH * times):  # few runs say little
            times, found = TIMES, found + sum(case.judge_any(case.run(mpi)) for _ in range(TIMES - times))
        print('# {}: found in {} of {}'.format(case, found, times))
        check(found >= int(ENOUGH * times), 'found in {} of {} runs', found, times)


def planted(tap, mpi, case, hogs=HOGS):
    with tap.test('{}: {}, with {} other processes'.format(mpi, case, hogs)):
        found = sum(case.judge(case.run(mpi)) for _ in range(case.times))
        print('# {}: found in {} of {}'.format(case, found, case.times))
        check(found >= int(ENOUGH * case.times), 'found in {} of {} runs', found, case.times)


def sound(tap, mpi, hogs):
    """Nothing is wrong with these."""
    with tap.test('{}: no findings of sound programs, with {} other processes'.format(mpi, hogs)):
        for problem in ('imbalance', 'moves', 'faults', 'snapshot') * 5 if LONG else ('imbalance',):
            case = Case('planted.c', [problem], 'none', None, ())
            run = case.run(mpi, ['sound'])
            # On a quiet machine a rank may really be slower, by the first touch of its memory: the program says so, too.
            lost = 0 if hogs else truth_of(run.out)[0]
            equal(
                'findings of {}'.format(problem),
                [
                    (f['name'], f['text'])
                    for f in case.names(run)
                    if f['name'] != 'unexplained_waiting'
                    and not (f['name'] == 'load_imbalance' and f['lost_s'] < 1.1 * lost)
                ],
                [],
            )


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        with loaded(HOGS):
            for case in CASES if LONG else CASES[:3]:
                planted(tap, mpi, case)
            sound(tap, mpi, HOGS)
            for case in OTHERS if LONG else ():
                judged(tap, mpi, case, HOGS)
        if LONG:
            for case in CASES:
                planted(tap, mpi, case, hogs=0)
            for case in OTHERS:
                judged(tap, mpi, case, 0)
            sound(tap, mpi, 0)
    tap.done()


main()
