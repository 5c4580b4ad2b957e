#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Who made others wait, in the report: text, JSON and tables, from the trace and from the profile alone, for programs
in which that is known (late_sender.c: rank 0; waitpaths.c: rank 0 in `imbalance`). An analysis.json that is not
of the rank files is left out, with one note."""
import csv
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import FVMPI
from report import check, close, equal

SLEPT = 5 * 0.06  # by late_sender, in each case
UNIFY = os.path.join(harness.BUILD, 'fvunify')


def text_of(directory, *options):
    return ' '.join(harness.run([FVMPI, 'report', directory, '--width', '100'] + list(options)).ended(0).out.split())


def place(report, culprit):
    """(MPI function, function that calls it)"""
    sites = [s for s in report.sites if s.data['id'] == culprit['callsite_id']]
    equal('call sites of that id', len(sites), 1)
    return sites[0].function, sites[0].names[0]


def notes(report):
    return [p['text'] for p in report.data['problems'] if p['file'] == 'analysis.json']


def sums(report):
    """What must hold of what was taken from a trace."""
    waiting = report.data['waiting']
    total = waiting['wait_s']
    some = 1e-6 + 1e-6 * total
    equal('source', waiting['source'], 'trace')
    close('coverage', waiting['coverage'], 1, 0.001)
    close('waiting of the ranks', sum(r['wait_s'] for r in report.data['ranks']), total, some)
    close('waiting of the call sites', sum(s.data['wait_s'] or 0 for s in report.sites), total, some)
    close('kinds', sum(k['wait_s'] for k in waiting['kinds'] if not k['is_transfer']), total, some)
    close('culprits', sum(c['cost_s'] for c in waiting['culprits']) + waiting['unexplained_s'], total, some)
    close(
        'charged', sum(r['charged_s'] for r in waiting['per_rank']), sum(c['cost_s'] for c in waiting['culprits']), some
    )
    for c in waiting['culprits']:
        close('direct and propagated', c['direct_s'] + c['propagated_s'], c['cost_s'], 1e-6)
    close(
        'critical path', sum(r['critical_s'] for r in waiting['per_rank']), waiting['critical_path']['length_s'], some
    )
    costs = [c['cost_s'] for c in waiting['culprits']]
    equal('largest first', costs, sorted(costs, reverse=True))
    e = report.data['efficiency']
    close('serialization x transfer', e['serialization'] * e['transfer'], e['communication'], 1e-6)
    for site in report.sites:
        equal('{}: wait_kind'.format(site), site.data['wait_kind'], 'exact')


def traced(tap, mpi):
    """Returns the directory of a run that was analysed."""
    run = mpi.profile(mpi.build('late_sender.c'), 2, (), ['--trace'])
    lines = dict(late=0, late_wait=0)
    for number, line in enumerate(harness.sources('late_sender.c')['late_sender.c'], 1):
        case = re.match(r'OP (\w+)', line)
        name = case.group(1) if case else name if number > 1 else None
        if 'MPI_Send(' in line and name in lines:
            lines[name] = number
    with tap.test('{}: before fvunify it is the profile that tells'.format(mpi)):
        run.ended(0)
        report = harness.report_of(run.directory)
        check((report.data['waiting'] or {}).get('source') != 'trace', 'a source without a source')
        check('fvunify ' + run.directory in text_of(run.directory), 'no word of fvunify')
    with tap.test('{}: the cause of late messages'.format(mpi)):
        harness.run([UNIFY, '-q', run.directory]).ended(0)
        report = harness.report_of(run.directory)
        equal('notes', notes(report), [])
        report.sane(2)
        sums(report)
        waiting = report.data['waiting']
        truth = {w[2]: float(w[3]) for w in (line.split() for line in run.out.splitlines()) if w[:1] == ['truth']}
        for culprit in waiting['culprits'][:2]:
            function, case = place(report, culprit)
            equal('culprit', (culprit['rank'], culprit['where'], function), (0, 'computing', 'MPI_Send'))
            # in the call it may also be without a processor, which is no waiting
            check(
                0.8 * SLEPT <= culprit['cost_s'] <= truth[case] + 0.01,
                '{} costs {} of {} s',
                case,
                culprit['cost_s'],
                truth[case],
            )
            site = report.callsite('MPI_Recv' if case == 'late' else 'MPI_Wait', inside=case)
            check(
                0.9 * SLEPT <= site.on(1, 'wait_s') <= truth[case] + 0.005,
                '{}: waits {} of {} s',
                case,
                site.on(1, 'wait_s'),
                truth[case],
            )
        equal('kind', waiting['kinds'][0]['kind'], 'late_sender')
        regions = {
            report.sites[r['callsite_id']].names[0]: r
            for r in reversed(waiting['regions'])  # longest last
            if report.sites[r['callsite_id']].function == 'MPI_Send'
        }
        for case in lines:
            equal('who computes in ' + case, (regions[case]['max_rank'], regions[case]['rank_count']), (0, 1))
            close('balance of ' + case, regions[case]['balance'], 0.5, 1e-6)
            check(regions[case]['max_s'] >= SLEPT, '{}: computing {}', case, regions[case]['max_s'])
    with tap.test('{}: in words'.format(mpi)):
        words = text_of(run.directory)
        match = re.search(
            r'(\(exact\).*)?Rank 0 is to blame for most: [0-9.]+ % of all waiting,( above all \([0-9.]+ %\))? '
            r'in (late|late_wait)\(\) at late_sender\.c:(\d+) <- \w+\(\) at late_sender\.c:\d+, '
            r'before MPI_Send \(#(\d+)\)',
            words,
        )
        check(match, 'no headline in {}', words[words.find('Waiting') :][:600])
        equal('line', int(match.group(4)), lines[match.group(3)])
        equal('number', int(match.group(5)), waiting['culprits'][0]['callsite_id'] + 1)
        for word in (
            'serialization',
            'late sender',
            'critical path: ',
            'late(): MPI_Send:{0} -> MPI_Send:{0}'.format(lines['late']),
        ):
            check(word in words, 'no "{}"', word)
        section = harness.run([FVMPI, 'report', run.directory, '--width', '100']).ended(0).out
        section = re.search(r'^Waiting.*?^$', section, re.S | re.M).group(0).splitlines()
        text = '\n'.join(section)
        for heading, row in (
            ('rank  place', r'^ {2,}(?:\d+  |  no rank was)'),
            ('kind of waiting', r'^  \S'),
            ('computing between', r'^  \w+\(\): '),
        ):
            table = re.search(
                r'^ +{}.*?\n(.*?)(?=^ +kind of waiting|^ +computing|^  critical path)'.format(heading),
                text,
                re.S | re.M,
            )
            rows = re.findall(row, table.group(1), re.M)
            check(1 <= len(rows) <= 3, '{} rows of "{}" in\n{}', len(rows), heading, text)
        check(len(section) <= 28, '{} lines:\n{}', len(section), text)  # a few of each, and what a busy machine adds
        longer = harness.run([FVMPI, 'report', run.directory, '--all']).ended(0).out
        check(
            len(re.search(r'^Waiting.*?^$', longer, re.S | re.M).group(0).splitlines()) > len(section),
            'not longer with --all',
        )
        for top in (1, 4):
            text = harness.run([FVMPI, 'report', run.directory, '--top', str(top)]).ended(0).out
            table = re.search(r'^ +rank  place .*?^ +kind of waiting', text, re.S | re.M)
            check(table, 'no culprits in {}', text)
            table = table.group(0)
            equal(
                'rows of --top {}'.format(top),
                len(re.findall(r'^ +\d+  ', table, re.M)),
                min(top, len(waiting['culprits'])),
            )
    with tap.test('{}: the same without symbols, and as tables'.format(mpi)):
        bare = harness.report_of(run.directory, '--no-symbols').data['waiting']
        equal('kinds', bare['kinds'], waiting['kinds'])
        equal('charged', bare['per_rank'], waiting['per_rank'])
        close('costs', bare['culprits'][0]['cost_s'], waiting['culprits'][0]['cost_s'], 1e-6)
        tables = os.path.join(harness.scratch(), 'csv')
        harness.run([FVMPI, 'report', run.directory, '--csv', tables]).ended(0)
        for name, key in (('culprits', 'culprits'), ('wait_kinds', 'kinds'), ('regions', 'regions')):
            with open(os.path.join(tables, name + '.csv'), newline='') as f:
                rows = list(csv.DictReader(f))
            equal(name, len(rows), len(waiting[key]))
    with tap.test('{}: with a rank missing, or the archive elsewhere'.format(mpi)):
        part, elsewhere = (os.path.join(harness.scratch(), name) for name in ('part', 'elsewhere'))
        os.mkdir(part)
        for name in os.listdir(run.directory):
            if name.endswith('.fvr') and '0001.fvr' not in name:
                shutil.copy(os.path.join(run.directory, name), part)
        harness.run([UNIFY, '-q', part])
        report = harness.report_of(part)
        equal('source', report.data['waiting']['source'], 'trace')
        equal('wait_kind', report.data['waiting']['wait_kind'], 'estimate')
        check(
            not [s for s in report.sites if s.data['wait_kind'] == 'exact' and s.data['wait_s']], 'exact without a rank'
        )
        harness.run([UNIFY, '-q', '-o', elsewhere, run.directory]).ended(0)
        said = harness.run([FVMPI, 'report', elsewhere])
        said.ended(1)
        check('only what fvunify wrote; report the experiment directory' in said.err, '{}', said.err)
    return run.directory


def imbalance(tap, mpi):
    """Rank 0 works twice as long; with and without a trace."""
    program = mpi.build('waitpaths.c')
    for options in ([], ['--trace']):
        with tap.test('{}: an imbalance, {}'.format(mpi, 'from the trace' if options else 'from the profile')):
            run = mpi.profile(program, 2, ['imbalance'], options).ended(0)
            if options:
                harness.run([UNIFY, '-q', run.directory]).ended(0)
            report = harness.report_of(run.directory)
            report.sane(2)
            waiting, top = report.data['waiting'], report.data['waiting']['culprits'][0]
            equal('source', waiting['source'], 'trace' if options else 'profile')
            equal(
                'culprit',
                (top['rank'], top['where'], place(report, top)),
                (0, 'computing', ('MPI_Allreduce', 'imbalance')),
            )
            worked = [0, 0]
            for words in (line.split() for line in run.out.splitlines()):
                if words[:1] == ['worked']:
                    worked[int(words[3])] += float(words[5]) - float(words[4])
            late = worked[0] - worked[1]
            close('cost', top['cost_s'], late, 0.03 + 0.15 * late)
            equal('kind', waiting['kinds'][0]['kind'], 'wait_at_nxn')
            close('kinds', sum(k['wait_s'] for k in waiting['kinds'] if not k['is_transfer']), waiting['wait_s'], 1e-6)
            words = text_of(run.directory)
            pattern = (
                r'Rank 0 is to blame for most: [0-9.]+ % of all waiting'
                if options
                else r'([0-9.]+ \w+ of (about )?[0-9.]+ \w+ of waiting \([0-9.]+ %\)|All waiting \([0-9.]+ \w+\))'
                r' is in collectives\. '
                r'Rank 0 came last for most: [0-9.]+ % of it'
            )
            check(
                re.search(
                    pattern + r',.* in imbalance\(\) at waitpaths\.c:\d+ <- \w+\(\) at waitpaths\.c:\d+, '
                    r'before MPI_Allreduce',
                    words,
                ),
                'no headline in {}',
                words[words.find('Waiting') :][:600],
            )
            if not options:
                equal(
                    'what only a trace tells',
                    (waiting['critical_path'], waiting['unexplained_s'], report.data['efficiency']['transfer']),
                    (None, None, None),
                )


def foreign(tap, mpi, directory):
    other = mpi.profile(mpi.build('waitpaths.c'), 2, ['imbalance'], ['--trace'])
    target = os.path.join(other.directory, 'analysis.json')
    with tap.test('{}: an analysis of another run is left out'.format(mpi)):
        other.ended(0)
        shutil.copy(os.path.join(directory, 'analysis.json'), target)
        report = harness.report_of(other.directory)
        equal('notes', len(notes(report)), 1)
        check('not of these rank files' in notes(report)[0], '{}', notes(report))
        equal('source', report.data['waiting']['source'], 'profile')
        check(report.data['run']['complete'], 'incomplete because of it')
    with tap.test('{}: a damaged analysis is left out'.format(mpi)):
        with open(os.path.join(directory, 'analysis.json')) as f:
            text = f.read()
        for damaged, word in (
            (text[: len(text) // 2], 'ends early'),
            (text.replace('analysis-1', 'analysis-9'), 'schema'),
        ):
            with open(target, 'w') as f:
                f.write(damaged)
            report = harness.report_of(other.directory)
            equal('notes', len(notes(report)), 1)
            check(word in notes(report)[0] and 'run fvunify again' in notes(report)[0], '{}', notes(report))
            equal('source', report.data['waiting']['source'], 'profile')
    with tap.test('{}: nobody waits, nothing is said'.format(mpi)):
        alone = mpi.profile(mpi.build('collectives.c'), 1).ended(0)
        check('Waiting' not in text_of(alone.directory), 'a section without waiting')


def main():
    tap = harness.Tap()
    harness.needs_fvunify(tap)
    for mpi in harness.an_mpi(tap):
        directory = traced(tap, mpi)
        imbalance(tap, mpi)
        foreign(tap, mpi, directory)
    tap.done()


main()
