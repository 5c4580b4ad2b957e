#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Recording is switched off and on, by MPI_Pcontrol, by fvmpi.h and from the command line."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

BARRIERS = {
    'before': [3, 3],
    'off': [0, 0],
    'on_again': [5, 5],
    'level_five': [7, 7],
    'made_off': [2, 2],
    'one_sided': [4, 0],
    'late': [1, 1],
}


def barriers(report, wanted):
    found = {}
    for site in report.callsites('MPI_Barrier'):
        names = [n for n in site.names if n != 'barriers']
        row = found.setdefault(names[0], [0, 0])
        for rank in (0, 1):
            row[rank] += site.on(rank, 'count')
    equal('barriers', found, {k: v for k, v in wanted.items() if any(v)})


def section(report, name, number):
    found = [s for s in report.data['sections'] if s['section'] == name and s['number'] == number]
    equal('sections {} {}'.format(name, number), len(found), 1)
    return found[0]


def forgets(tap, mpi):
    """Which ranks and threads have what after MPI_Pcontrol(2), and that its time is gone as well."""
    run = mpi.profile(mpi.build('forget.c', '-lpthread'), 2, options=['--sample=clock']).ended(0)
    report = run.report()
    since, inside = (float(s) for s in run.out.split())
    with tap.test('{}: MPI_Pcontrol(2) forgets calls, messages and threads'.format(mpi)):
        report.sane(2, threads=('calls',))
        equal('functions before it', report.callsites(inside='before') + report.callsites('MPI_Comm_rank'), [])
        barriers = report.total('MPI_Barrier')
        equal('barriers', barriers, 2 * (6 + 5 + 2 + 3))
        report.traffic({(0, 1): (2, 16)})
        equal(
            'samples of before',
            [
                p['procedure']
                for p in (report.data['costs'] or {'procedures': []})['procedures']
                if p['procedure'].startswith('before')
            ],
            [],
        )
        equal('sent', report.total('MPI_Send', 'bytes_sent'), 16)
    with tap.test('{}: the measured interval begins at it'.format(mpi)):
        for rank in (0, 1):
            check(report.rank(rank)['forgotten_s'] > 0.2, 'forgotten: {}', report.rank(rank)['forgotten_s'])
        app = report.rank(0)['app_time_s']
        check(
            since < app < since + report.rank(0)['finalize_s'] + 0.1 * since + 0.005, '{} s instead of {}', app, since
        )
        text = harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out
        check('MPI_Pcontrol(2) discarded what was recorded before' in text, 'the text does not say so')
    with tap.test('{}: a section that is open across it counts from there'.format(mpi)):
        around = section(report, 'around', 0)
        equal('calls in it', around['mpi_calls']['sum'], 2 * 6)
        check(
            around['elapsed']['sum_s'] - around['elapsed']['max_s'] < 1.1 * inside + 0.005,
            '{} s, but {} passed since',
            around['elapsed'],
            inside,
        )
    with tap.test('{}: MPI_Pcontrol(3) and (4) mark points'.format(mpi)):
        for number, calls in ((1, 2 + 1), (2, 3 + 1), (3, 0)):  # and the next MPI_Pcontrol
            since_mark = section(report, 'since mark', number)
            equal('calls since mark {}'.format(number), since_mark['mpi_calls']['sum'], 2 * calls)
            equal('mistakes', [k for k, v in since_mark['unbalanced'].items() if v], [])
    with tap.test('{}: nothing is forgotten of a trace, which is told'.format(mpi)):
        run = mpi.profile(mpi.build('forget.c', '-lpthread'), 2, options=['--trace']).ended(0)
        equal('lines for two calls', run.err.count('MPI_Pcontrol(2): no effect in a run with --trace'), 1)
        equal('barriers', run.report().total('MPI_Barrier'), 2 * (3 + 6 + 5 + 2 + 3))


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: MPI_Pcontrol'.format(mpi)):
            run = mpi.profile(mpi.build('pcontrol.c'), 2).ended(0)
            report = run.report()
            report.sane(2)
            barriers(report, BARRIERS)
        with tap.test('{}: a communicator made while off is known'.format(mpi)):
            report.traffic({(0, 1): (2, 4 + 16)})
            equal('MPI_Comm_split', len(report.callsites('MPI_Comm_split')), 0)
        with tap.test('{}: receives across the switch'.format(mpi)):
            report.callsite('MPI_Irecv', inside='across').expect(count=[0, 1], received=[0, 16])
            equal('posted while off', len(report.callsites('MPI_Irecv', inside='across_off')), 0)
        with tap.test('{}: waiting after it is still compared rightly'.format(mpi)):
            late = [s for s in report.callsites('MPI_Barrier') if 'late' in s.names][0]
            truth = [float(s) for s in run.out.split()[1:]]
            check(truth[0] > 0.05, 'the test is void: rank 0 waited {}', truth)
            for rank in (0, 1):
                late.wait(rank, truth[rank], within=0.004 + 0.05 * truth[rank])
        with tap.test('{}: --off-at-start'.format(mpi)):
            report = mpi.profile(mpi.build('pcontrol.c'), 2, options=['--off-at-start']).ended(0).report()
            barriers(report, dict(BARRIERS, before=[0, 0]))
        with tap.test('{}: FVMPI_OFF_AT_START and never on'.format(mpi)):
            report = mpi.profile(mpi.build('collectives.c'), 2, env={'FVMPI_OFF_AT_START': '1'}).ended(0).report()
            equal('call sites', [str(s) for s in report.sites if s.function not in ('MPI_Init', 'MPI_Finalize')], [])
            equal('states', [r['state'] for r in report.data['ranks']], ['finalized'] * 2)
        with tap.test('{}: relinked with -lfvmpi, fvmpi.h'.format(mpi)):
            program = mpi.build(
                'pause.c', '-L' + harness.LIBS, '-l:libfvmpi-{}.so'.format(mpi), '-Wl,-rpath,' + harness.LIBS
            )
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = mpi.native(program, 2, env={'FVMPI_OUTPUT': directory}, directory=directory).ended(0)
            check(re.match(r'version \d+\.\d+\.\d+\n$', run.out), 'output {!r}', run.out)
            run.report().sane(2)
            barriers(run.report(), {'recorded': [3, 3], 'resumed': [4, 4]})
        with tap.test('{}: relinked and under fvmpi run, counted once'.format(mpi)):
            report = mpi.profile(program, 2).ended(0).report()
            barriers(report, {'recorded': [3, 3], 'resumed': [4, 4]})
        forgets(tap, mpi)
    tap.done()


main()
