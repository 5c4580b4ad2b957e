#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi diff, of real runs: what it says of a call path is what the reports of the runs say; call paths that are
gone, new or moved are found; a run against itself has no change; bad input gets one line."""
import csv
import json
import os
import shutil
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal


def diff(*arguments, **more):
    done = harness.run([harness.FVMPI, 'diff', '--json', '-'] + [str(a) for a in arguments], **more).ended(0)
    return harness.valid(done.out, 'diff')


def changes(entries):
    return {c['metric']: c for c in entries}


def text(*arguments):
    return harness.run([harness.FVMPI, 'diff', '--width', '400'] + [str(a) for a in arguments]).ended(0).out


def calls(row):
    count = changes(row['changes'])['count']
    return count['a'], count['b']


def joined(compared):
    return [
        compared['comparison'][key] for key in ('by_position_count', 'by_names_count', 'only_a_count', 'only_b_count')
    ]


def inside(row):
    path = row['path_a'] or row['path_b']
    return row['function'], path[0]['function']


def rows(compared, function, name):
    return [r for r in compared['callsites'] if inside(r) == (function, name)]


def row(compared, function, name):
    found = rows(compared, function, name)
    equal('rows of {} in {}'.format(function, name), len(found), 1)
    return found[0]


def of_a_rank(run, function, name):
    """The same from fvmpi report: sums over ranks, divided by their number."""
    d = run.report().callsite(function, inside=name).data
    n = run.report().ranks
    return {
        'time_s': d['time']['sum_s'] / n,
        'count': d['count'] / n,
        'bytes': (d['bytes_sent'] + d['bytes_received']) / n,
        'wait_s': None if d['wait_s'] is None else d['wait_s'] / n,
    }


def agrees(compared, function, name, a, b):
    """A row against the reports of all runs of both sides."""
    found = row(compared, function, name)
    change = changes(found['changes'])
    for side, runs in (('a', a), ('b', b)):
        values = [of_a_rank(run, function, name) for run in runs]
        for key in ('time_s', 'count', 'bytes', 'wait_s'):
            each = [v[key] for v in values]
            where = '{} in {}: {} of {}'.format(function, name, key, side)
            if None in each:
                equal(where, change[key][side], None)
                continue
            close(where, change[key][side], statistics.mean(each), 1e-9 + 1e-9 * max(each))
            if len(runs) > 1:
                close(
                    where + ', deviation',
                    change[key][side + '_stddev'],
                    statistics.stdev(each),
                    1e-9 + 1e-6 * statistics.stdev(each),
                )
    return found


def changed(mpi, program, base):
    other = mpi.profile(program, 2, ['350', 'gone', 'added']).ended(0)
    compared = diff(base.directory, other.directory)
    for name in ('MPI_Barrier', 'late'), ('MPI_Allreduce', 'same'):
        equal('joined', agrees(compared, *name, [base], [other])['joined'], 'position')
    late = changes(row(compared, 'MPI_Barrier', 'late')['changes'])['time_s']
    measured = float(other.out) / 2  # of a rank: one of two waits
    check(late['b'] > 0.7 * measured, 'the barrier takes {} s, {} were injected', late['b'], measured)
    close('change', late['change'], late['b'] - late['a'], 1e-9)
    equal(
        'noise',
        [late['p'], late['interval'], late['significant'], compared['comparison']['noise_known']],
        [None, None, None, False],
    )
    gone, added = row(compared, 'MPI_Bcast', 'gone'), row(compared, 'MPI_Allgather', 'added')
    equal('gone', [gone['joined'], calls(gone), gone['path_b']], ['only_a', (7, 0), []])
    equal('added', [added['joined'], calls(added), added['path_a']], ['only_b', (0, 5), []])
    equal('joined', joined(compared), [7, 0, 1, 1])
    said = text(base.directory, other.directory)
    for words in ('one run each, so noise is unknown', 's, only in A', 's, only in B', '1 only in A, 1 only in B'):
        check(words in said, 'not said: {}\n{}', words, said)
    return other


def built_anew(mpi, base):
    """Four lines more at its top, in another folder: the same functions at other places."""
    folder = harness.scratch('moved')
    with open(os.path.join(harness.PROGRAMS, 'diff.c')) as f:
        source = f.read()
    with open(os.path.join(folder, 'diff.c'), 'w') as f:
        f.write('/*\n *\n *\n */\n' + source)
    program = os.path.join(folder, 'other')
    harness.run([mpi.cc, '-O2', '-g', os.path.join(folder, 'diff.c'), '-o', program]).ended(0)
    other = mpi.profile(program, 2, ['50']).ended(0)
    compared = diff(base.directory, other.directory)
    equal('joined', joined(compared), [0, 8, 0, 0])
    pairs = sorted(
        (r['path_a'][0]['line'], r['path_b'][0]['line']) + calls(r) for r in rows(compared, 'MPI_Bcast', 'twice')
    )
    regions = [r for r in compared['entries'] if r['table'] == 'regions']
    check(len(regions) > 5, '{} regions', len(regions))
    equal('computing between calls whose lines moved', {r['joined'] for r in regions}, {'names'})
    equal('counts of the two in twice()', [p[2:] for p in pairs], [(1, 1), (3, 3)])
    equal('lines', [p[1] - p[0] for p in pairs], [4, 4])
    check('joined by the names of functions' in text(base.directory, other.directory), 'text says nothing of it')


def with_noise(mpi, program, base, other):
    a = [base] + [mpi.profile(program, 2, ['50']).ended(0) for _ in range(2)]
    b = [other] + [mpi.profile(program, 2, ['350', 'gone', 'added']).ended(0)]
    compared = diff(*[r.directory for r in a], '--', *[r.directory for r in b])
    for name in ('MPI_Barrier', 'late'), ('MPI_Allreduce', 'same'):
        agrees(compared, *name, a, b)
    gone = row(compared, 'MPI_Bcast', 'gone')
    count = changes(gone['changes'])['count']
    equal('a count that never varies', [count['p'], count['significant']], [0, True])
    for r in compared['callsites']:
        t = changes(r['changes'])['time_s']
        check(not t['significant'] or abs(t['change']) > t['interval'], 'marked, but within its interval: {}', t)
        equal(
            'count of ' + str(inside(r)), changes(r['changes'])['count']['significant'], r['joined'].startswith('only')
        )
    same = diff(*[r.directory for r in a], '--', *[r.directory for r in a])
    every = same['run_changes'] + [
        c for r in same['callsites'] + same['mpi_functions'] + same['entries'] for c in r['changes']
    ]
    equal('changes', len(every), 11 + 6 * len(same['callsites'] + same['mpi_functions']) + 3 * len(same['entries']))
    equal('changes of a run against itself', [m for m in every if m['change'] or m['significant']], [])
    check('within the noise' in text(*[r.directory for r in a], '--', *[r.directory for r in a]), 'no verdict')


def more_ranks(mpi, program, base):
    other = mpi.profile(program, 3, ['50']).ended(0)
    compared = diff(base.directory, other.directory)
    equal('ranks', [compared['runs_a'][0]['rank_count'], compared['runs_b'][0]['rank_count']], [2, 3])
    agrees(compared, 'MPI_Allreduce', 'same', [base], [other])
    check('A ran on 2 ranks, B on 3' in text(base.directory, other.directory), 'text says nothing of it')


def schema(compared):
    """The JSON Schema has the keys of the document, and the words that stand in it."""
    done = harness.run([harness.FVMPI, 'diff', '--schema']).ended(0)
    said = json.loads(done.out)
    check_object('', said, compared)


def check_object(where, said, value):
    if 'const' in said:
        equal(where, value, said['const'])
    check(value is not None or 'null' in said['type'] or None in said.get('enum', []), '{} is null', where)
    if value is None:
        return
    check('enum' not in said or value in said['enum'], '{} is {}', where, value)
    if isinstance(value, dict):
        equal('keys of ' + where, sorted(value), sorted(said['properties']))
        for key in value:
            check_object(where + '.' + key, said['properties'][key], value[key])
    if isinstance(value, list):
        for entry in value:
            check_object(where + '[]', said['items'], entry)


def tables(compared, base, other):
    """--csv writes what the JSON has."""
    folder = os.path.join(harness.scratch('csv'), 'd')
    harness.run([harness.FVMPI, 'diff', '--csv', folder, base.directory, other.directory]).ended(0)
    for key in ('entries', 'callsites', 'mpi_functions', 'run_changes', 'problems'):
        with open(os.path.join(folder, key + '.csv')) as f:
            found = list(csv.DictReader(f))
        equal(key, len(found), len(compared[key]))
        for i, row in enumerate(found):
            if 'time_b_s' in row:
                close('time of B', float(row['time_b_s']), compared[key][i]['changes'][0]['b'], 1e-9)


def refusals(base):
    e = base.directory
    broken = harness.scratch('broken')
    with open(os.path.join(broken, 'rank-000000.fvr'), 'w') as f:
        f.write('nothing')
    link = os.path.join(harness.scratch('link'), 'l')
    os.symlink(e, link)
    for arguments, rc, words in (
        ([], 2, 'two experiments'),
        ([e], 2, 'two experiments'),
        ([e, '--'], 2, 'two experiments'),
        (['--', e], 2, 'two experiments'),
        ([e, e, e], 2, '--'),
        ([e, e, '--', e], 2, 'twice'),
        ([e, '--', e, link], 2, 'twice'),
        ([e, os.path.join(broken, 'none')], 1, 'none'),
        ([e, broken], 1, 'rank-000000.fvr'),
        (['--top', '0', e, e], 2, '--top'),
        (['--color', 'red', e, e], 2, '--color'),
        (['--bogus', e, e], 2, '--bogus'),
        ([e, e, '--json'], 2, '--json'),
        (['--json', '-', '--text', e, e], 2, 'stdout'),
        (['--json', os.path.join(e, 'rank-000000.fvr'), e, e], 2, 'recorded'),
        (['--csv', e, e, e], 2, 'recorded'),
        (['--json', os.path.join(broken, 'no', 'x'), e, e], 1, 'No such file'),
    ):
        done = harness.run([harness.FVMPI, 'diff'] + arguments)
        lines = done.err.splitlines()
        equal('exit status of diff ' + ' '.join(arguments), done.rc, rc)
        begin = '{"error":' if '--json' in arguments else 'fvmpi: '
        check(
            len(lines) == 1 and lines[0].startswith(begin) and words in lines[0], 'diff {}: {!r}', arguments, done.err
        )
        equal('stdout', done.out, '')
    check('rank-000000.fvr' in os.listdir(e) and not harness.run([harness.FVMPI, 'report', e]).ended(0).err, 'damaged')


def incomplete(base):
    part = os.path.join(harness.scratch('part'), 'p')
    shutil.copytree(base.directory, part, symlinks=True)  # .job names the job and leads nowhere
    os.unlink(os.path.join(part, 'rank-000001.fvr'))
    told = text(base.directory, part)
    check('p is incomplete' in told, 'text says nothing of it')
    check('B is incomplete' in told.split('Largest changes')[0], 'after the changes: {}', told)
    whole = os.path.join(base.directory, 'rank-000001.fvr')
    for quarters in (1, 2, 3):  # call paths that a damaged file lacks are no program without symbols
        shutil.copy(whole, part)
        os.truncate(os.path.join(part, 'rank-000001.fvr'), os.path.getsize(whole) * quarters // 4)
        findings = harness.report_of(part).data['findings']
        equal('cut', [f for f in findings if f['name'] == 'no_symbols'], [])


def of_the_trace(mpi, program):
    """Waiting of call paths is what analysis.json has, where every experiment has one."""
    unify = os.path.join(harness.BUILD, 'fvunify-serial')
    if not os.path.exists(unify):
        raise harness.Skip('no fvunify-serial: built without OTF2')
    runs = [mpi.profile(program, 2, [ms], options=['--trace']).ended(0) for ms in ('50', '150')]
    harness.run([unify, runs[0].directory]).ended(0)
    compared = diff(*[r.directory for r in runs])
    equal('waiting, one analysis.json', compared['comparison']['wait_source'], 'profile')
    one_analysis, other_commands = compared['problems']
    check('fvunify' in one_analysis['text'], 'problems: {}', compared['problems'])
    check('different commands' in other_commands['text'], 'problems: {}', compared['problems'])
    harness.run([unify, runs[1].directory]).ended(0)
    compared = diff(*[r.directory for r in runs])
    equal('waiting, two', [compared['comparison']['wait_source'], compared['problems']], ['analysis', [other_commands]])
    for side, run in (('a', runs[0]), ('b', runs[1])):
        with open(os.path.join(run.directory, 'analysis.json')) as f:
            sites = json.load(f)['callsites']
        for function, name in ('MPI_Barrier', 'late'), ('MPI_Allreduce', 'same'):
            wanted = [s['wait_s'] for s in sites if s['function'] == function and s['path'][0]['function'] == name]
            close(
                'waiting in ' + name,
                changes(row(compared, function, name)['changes'])['wait_s'][side],
                wanted[0] / 2,
                1e-9,
            )
        close(
            'waiting in all',
            changes(compared['run_changes'])['wait_s'][side],
            sum(s['wait_s'] for s in sites) / 2,
            1e-9,
        )
    check('waiting  of the traces' in text(*[r.directory for r in runs]), 'text says nothing of it')


def not_of_the_trace(mpi, program):
    """What the report does not take from an analysis.json the comparison does not, either."""
    unify = os.path.join(harness.BUILD, 'fvunify-serial')
    if not os.path.exists(unify):
        raise harness.Skip('no fvunify-serial: built without OTF2')
    short = mpi.profile(program, 2, ['2000', 'busy'], options=['--trace', '--trace-max', '64K']).ended(0)
    run, other = [mpi.profile(program, 2, [ms], options=['--trace']).ended(0) for ms in ('50', '300')]
    harness.run([unify, short.directory])  # 1: calls are missing
    for r in (run, other):
        harness.run([unify, r.directory]).ended(0)
    copied = os.path.join(harness.scratch('copied'), 'c')
    shutil.copytree(run.directory, copied, symlinks=True)
    shutil.copy(os.path.join(other.directory, 'analysis.json'), copied)
    for directory, words in ((short.directory, '% of the MPI time only'), (copied, 'not of these rank files')):
        compared = diff(run.directory, directory)
        equal('waits', compared['comparison']['wait_source'], 'profile')
        check(
            any('analysis.json' in n['text'] and words in n['text'] for n in compared['problems']),
            '{}',
            compared['problems'],
        )
        sites = harness.report_of(directory).sites
        for s in (s for s in sites if s.data['function'] == 'MPI_Barrier'):
            found = row(compared, 'MPI_Barrier', 'late')
            close('waiting', changes(found['changes'])['wait_s']['b'], s.data['wait_s'] / 2, 1e-9)
            equal('kind', found['wait_kind'], s.data['wait_kind'])


def main():
    tap = harness.Tap()
    harness.WITHOUT.clear()  # samples in functions without a name make a note of their own
    for number, mpi in enumerate(harness.an_mpi(tap)):
        program, base, other = mpi.build('diff.c'), None, None
        with tap.test('{}: slower, gone and added call paths'.format(mpi)):
            base = mpi.profile(program, 2, ['50']).ended(0)
            other = changed(mpi, program, base)
        with tap.test('{}: a program built anew'.format(mpi)):
            built_anew(mpi, base)
        if number:
            continue
        with tap.test('{}: several runs a side'.format(mpi)):
            with_noise(mpi, program, base, other)
        with tap.test('{}: 2 and 3 ranks'.format(mpi)):
            more_ranks(mpi, program, base)
        with tap.test('{}: waiting of the traces'.format(mpi)):
            of_the_trace(mpi, program)
        with tap.test('{}: an analysis of too little, or of another run'.format(mpi)):
            not_of_the_trace(mpi, program)
        with tap.test('the JSON is as --schema says'):
            schema(diff(base.directory, other.directory))
        with tap.test('the tables of --csv'):
            tables(diff(base.directory, other.directory), base, other)
        with tap.test('bad input gets one line'):
            refusals(base)
        with tap.test('a run with a rank missing'):
            incomplete(base)
    tap.done()


main()
