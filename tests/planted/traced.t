#!/usr/bin/env python3
# Not under ThreadSanitizer: it slows what is measured.
"""A trace never knows less than a profile: what the findings of a plain run name, those of a traced and merged run of
the same program name as well. And a halo exchange whose messages are posted in time and moved late is told as that by
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
        if kinds['no_progress'] > kinds['late_sender']:  # else this MPI moved them by itself
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
            check('moves them only in its next call' in row['text'] and 'fvmpi run --trace' in row['next'], '{}', row)


def main():
    tap = harness.Tap()
    harness.needs_fvunify(tap)
    for mpi in harness.mpis(tap):
        found = both(tap, mpi, 'halo exchange', mpi.build(os.path.join(HERE, 'overlap.c'), '-lm'), ['60'], 'react')
        if len(found) == 2:
            halo(tap, mpi, found[False], found[True])
    for mpi in harness.an_mpi(tap):
        both(tap, mpi, 'an imbalance', mpi.build(os.path.join(HERE, 'planted.c'), '-lm'), ['imbalance'], 'react')
    tap.done()


main()
