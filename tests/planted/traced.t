#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""A trace never knows less than a profile: what the findings of a traced run name before fvunify analysed its trace,
they name behind it as well, or the trace says who made others wait, and in which function. Of one run each, of the
programs with a known problem. And a halo exchange whose messages are posted in time and moved late is told as that by
the trace (no_progress), with the function that computed meanwhile; the profile says that it may be so."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from analysis_json import Analysis
from report import check, equal, plain

UNIFY = os.path.join(harness.BUILD, 'fvunify')
LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics
OF_RANKS = ('load_imbalance', 'late_rank', 'no_progress')


def report_of(mpi, program, arguments, traced):
    run = mpi.profile(program, 2, arguments, ['--trace'] if traced else []).ended(0)
    if traced:
        harness.run([UNIFY, '-q', run.directory]).ended(0)
    return run, harness.report_of(run.directory).data


def named(report):
    """{(function, rank)} that made others wait, by the program and not by the machine."""
    return {(plain(f['function']), f['rank']) for f in report['findings'] if f['name'] in OF_RANKS and f['function']}


def both(tap, mpi, name, program, arguments, function):
    found = {}
    for traced in (False, True):
        with tap.test('{}: {}: {}'.format(mpi, name, 'with a trace' if traced else 'as any run tells it')):
            found[traced] = run, report = report_of(mpi, program, arguments, traced)
            wrong = {who for who in named(report) if who != (function, 1)}
            equal('names', wrong, set())
            check(named(report) or is_disturbed(report), 'it names nobody: {}', [f['text'] for f in report['findings']])
    with tap.test('{}: {}: the trace names what the profile names'.format(mpi, name)):
        less = named(found[False][1]) - named(found[True][1])
        check(
            not less or is_disturbed(found[True][1]),
            'missing: {}; {}',
            less,
            [f['text'] for f in found[True][1]['findings']],
        )
    return found


def is_disturbed(report):
    """No processor for as long as the excess; what is not judged then is said."""
    return any(f['name'] == 'no_processor' for f in report['findings'])


def halo(tap, mpi, plainly, traced):
    with tap.test('{}: halo exchange: the trace tells what the waiting is'.format(mpi)):
        run, report = traced
        truth = {int(rank): float(wait) for rank, wait, _ in re.findall(r'^truth (\d) (\S+) (\S+)$', run.out, re.M)}
        sites = [s for s in Analysis(run.directory).data['callsites'] if s['function'] == 'MPI_Waitall']
        of_rank = [row for s in sites for row in s['per_rank'] if row['rank'] == 0]
        known = sum(row['wait_s'] for row in of_rank)
        kinds = {kind: sum(row['kinds'].get(kind, 0) for row in of_rank) for kind in ('no_progress', 'late_sender')}
        check(
            known >= 0.9 * truth[0] or is_disturbed(report),
            '{} of {} s in MPI_Waitall are explained: {}',
            known,
            truth[0],
            kinds,
        )
        if kinds['late_sender'] < 0.1 * truth[0]:  # else this MPI moved some of them by itself
            check(
                kinds['no_progress'] >= 0.9 * truth[0] or is_disturbed(report),
                '{} of {} s in MPI_Waitall are without progress',
                kinds['no_progress'],
                truth[0],
            )
        if kinds['no_progress'] > kinds['late_sender']:
            check(
                [f for f in report['findings'] if f['name'] == 'no_progress' and f['rank'] == 1]
                or is_disturbed(report),
                'no finding: {}',
                [f['text'] for f in report['findings']],
            )
            equal('waiting is', report['waiting']['wait_kind'], 'estimate')
    with tap.test('{}: halo exchange: the profile says that it may be so'.format(mpi)):
        rows = [f for f in plainly[1]['findings'] if f['name'] == 'load_imbalance' and f['rank'] == 1]
        check(rows or is_disturbed(plainly[1]), '{}', [f['text'] for f in plainly[1]['findings']])
        for row in rows:
            check(
                'moves them only when rank 1 calls MPI again' in row['text'] and 'fvmpi run --trace' in row['next'],
                '{}',
                row,
            )


def apart(tap, mpi):
    with tap.test('{}: where trace and profile differ, the report says both, where and why'.format(mpi)):
        run = mpi.profile(mpi.build(os.path.join(HERE, 'transfers.c'), '-g'), 2, [], ['--trace']).ended(0)

        def said():
            return re.search(
                r'the profile alone says \S+ m?s, more than the trace. (100|[89]\d)\.\d % of the difference is in '
                r'MPI_Waitall of main\(\) at transfers.c:26: without the trace, the time in which data are under way '
                r'counts as waiting there',
                ' '.join(harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out.split()),
            )

        check(not said(), 'without an analysis')
        harness.run([UNIFY, '-q', run.directory]).ended(0)
        check(said() or is_disturbed(harness.report_of(run.directory).data), 'not said')


def alike(tap, mpi):
    """The estimate takes the fastest call for a transfer. Where all of them wait, that is not known, and not denied."""
    with tap.test('{}: all calls wait alike: the profile says that it does not know, the trace knows'.format(mpi)):
        run = mpi.profile(mpi.build(os.path.join(HERE, 'epochs.c')), 2, [], ['--trace', '--sample=off']).ended(0)

        def said():
            text = harness.run([harness.FVMPI, 'report', run.directory, '--all']).ended(0).out
            left = harness.report_of(run.directory).data['run']['not_judged'] or ''
            return 'perhaps more' in text or 'not known how much is waiting' in text, bool(re.search(LONG_CALLS, left))

        equal('before the analysis', said(), (True, True))
        harness.run([UNIFY, '-q', run.directory]).ended(0)
        equal('with it', said(), (False, False))
        found = Analysis(run.directory)
        late = sum(w['wait_s'] for w in found.data['waits'] if w['kind'] == 'late_post' and w['rank'] == 0)
        check(late >= 0.9 * 10 * 0.02, 'late post: {} s', late)


LONG_CALLS = r'how much of MPI_Win_(start|complete) \(\S+ m?s\) is waiting: no such call took less than [1-9]\d+(\.\d)? ms; fvunify'
LATE = ('late_rank', 'no_progress')
# What ranks wait for is a guess of the profile. The trace knows it, also where others had processors.
GUESSES = ('unexplained_waiting', 'small_messages')
# Program, arguments, options, and who is to blame: {function: rank}; none: nobody, or each in turn
PLANTED = (
    ('planted.c', ['imbalance'], [], {'react': 1, 'compute': 1}),
    ('planted.c', ['faults'], [], {None: 1}),
    ('planted.c', ['turns'], [], {}),
)
SELDOM = (  # if LONG
    ('planted.c', ['places'], [], {'react': 1, 'compute': 1}),
    ('planted.c', ['moves'], [], {}),
    ('planted.c', ['snapshot'], [], {None: 0}),
    ('planted.c', ['leak'], harness.FRONTS[1:], {}),
    ('planted.c', ['chain'], [], {}),
    ('planted.c', ['both'], [], {}),
    ('planted.c', ['pipeline'], [], {}),
    ('planted.c', ['startup'], [], {}),
    ('planted.cpp', [], [], {'chemistry::Reactor<double>::react': 1, 'chemistry::Reactor<double>::compute': 1}),
    ('rare.c', [], ['--sample'], {'lookup': 1}),
    ('planted.F90', [], [], {'chemistry::react': 1, 'chemistry::compute': 1}),
    ('sites.c', ['varies'], ['--sample=400'], {}),
    ('omp.c', [], ['--threads'], {}),
    ('hybrid.c', [], ['--threads'], {}),
    ('polling.c', ['polls'], [], {}),
    ('sections.c', [], [], {}),
    ('iterations.c', ['every'], [], {}),
    ('iterations.c', ['grows'], [], {}),
    ('iterations.c', ['moves'], [], {}),
) + tuple(
    ('threads.c', [problem], ['--threads=hold'], {'compute': 1, None: 1} if problem == 'given' else {})
    for problem in ('pool', 'semaphore', 'contended', 'held', 'turns', 'crowded', 'given')
)


def ranks_of(finding):
    """All that a finding names: "ranks 0-1 made others wait"."""
    named = re.match(r'(?:others waited for )?ranks? ([\d,-]+) ?', finding['text'])
    parts = [part.split('-') for part in named.group(1).strip(',').split(',')] if named else []
    return {finding['rank']} | {rank for part in parts for rank in range(int(part[0]), int(part[-1]) + 1)}


def knows(late, finding):
    """Does the trace tell of the same, and of a function if the profile named one?"""
    if finding['name'] in GUESSES:
        return finding['name'] == 'unexplained_waiting' or 'or the ranks take turns' in finding['text']
    of_program = ' was preempted for ' not in late['text']
    return of_program and finding['rank'] in ranks_of(late) and (late['function'] or not finding['function'])


def key(finding):
    return finding['name'], finding['rank'], finding['function'], finding['text'] if finding['lost_s'] is None else None


def judged(report):
    return report['run']['not_judged'] or ''


def lost_by(before, behind):
    """Findings that are there no more, and that the trace has nothing for."""
    late = [f for f in behind['findings'] if f['name'] in LATE]
    have = {key(f) for f in behind['findings']}
    return [
        f['text']
        for f in before['findings']
        if key(f) not in have
        and not (f['name'] in OF_RANKS + GUESSES + ('blocked_rank',) and any(knows(item, f) for item in late))
        # what the trace explained may leave less than is worth a finding
        and not (f['name'] in GUESSES and ('what ranks wait for' in judged(behind) or 'messages of' in judged(behind)))
    ]


def planted(tap, mpi, source, arguments, options, blamed):
    name = ' '.join([source] + arguments)
    with tap.test('{}: {}: the findings of the profile, behind fvunify'.format(mpi, name)):
        program = mpi.build(
            os.path.join(HERE, source),
            '-O2',
            '-g',
            '-lm',
            '-pthread',
            '-fopenmp',
            output='traced_' + source.replace('.', '_'),
        )
        run = mpi.profile(program, 2, arguments, ['--trace'] + options).ended(0)
        before = harness.report_of(run.directory).data
        harness.run([UNIFY, '-q', run.directory]).ended(0)
        behind = harness.report_of(run.directory).data
        equal('lost; {}'.format([f['text'] for f in behind['findings']]), lost_by(before, behind), [])
        for report in (before, behind) if blamed else ():
            by_program = [
                f for f in report['findings'] if f['name'] in OF_RANKS and ' was preempted for ' not in f['text']
            ]
            # a machine that takes processors makes any rank late
            wrong = [f['text'] for f in by_program if blamed.get(plain(f['function']), -1) != f['rank']]
            check(not wrong or is_disturbed(report), 'blamed: {}', wrong)


def main():
    tap = harness.Tap()
    harness.needs_fvunify(tap)
    for mpi in harness.mpis(tap):
        found = both(tap, mpi, 'halo exchange', mpi.build(os.path.join(HERE, 'overlap.c'), '-lm'), ['60'], 'react')
        if len(found) == 2:
            halo(tap, mpi, found[False], found[True])
    for mpi in harness.an_mpi(tap):
        apart(tap, mpi)
        alike(tap, mpi)
        for case in PLANTED + (SELDOM if LONG else ()):
            planted(tap, mpi, *case)
    tap.done()


main()
