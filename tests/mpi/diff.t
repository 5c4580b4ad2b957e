#!/usr/bin/env python3
"""fvmpi diff, of real runs: what it says of a call path is what the reports of the runs say; call paths that are
gone, new or moved are found; a run against itself has no change; bad input gets one line."""
import json
import os
import shutil
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from report import check, close, equal


def diff(*arguments, **more):
    done = harness.run([harness.FVMPI, 'diff', '--json', '-'] + [str(a) for a in arguments], **more).ended(0)
    return json.loads(done.out)


def text(*arguments):
    return harness.run([harness.FVMPI, 'diff', '--width', '400'] + [str(a) for a in arguments]).ended(0).out


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
    return {'time_s': d['time_s']['sum'] / n, 'count': d['count'] / n,
            'bytes': (d['bytes_sent'] + d['bytes_received']) / n,
            'wait_s': None if d['wait_s'] is None else d['wait_s'] / n}


def agrees(compared, function, name, a, b):
    """A row against the reports of all runs of both sides."""
    found = row(compared, function, name)
    for side, runs in (('a', a), ('b', b)):
        values = [of_a_rank(run, function, name) for run in runs]
        for key in ('time_s', 'count', 'bytes', 'wait_s'):
            each = [v[key] for v in values]
            where = '{} in {}: {} of {}'.format(function, name, key, side)
            if None in each:
                equal(where, found[key][side], None)
                continue
            close(where, found[key][side], statistics.mean(each), 1e-9 + 1e-9 * max(each))
            if len(runs) > 1:
                close(where + ', deviation', found[key][side + '_stddev'], statistics.stdev(each),
                      1e-9 + 1e-6 * statistics.stdev(each))
    return found


def changed(mpi, program, base):
    other = mpi.profile(program, 2, ['350', 'gone', 'added']).ended(0)
    compared = diff(base.directory, other.directory)
    for name in ('MPI_Barrier', 'late'), ('MPI_Allreduce', 'same'):
        equal('joined', agrees(compared, *name, [base], [other])['joined'], 'position')
    late = row(compared, 'MPI_Barrier', 'late')['time_s']
    measured = float(other.out) / 2  # of a rank: one of two waits
    check(late['b'] > 0.7 * measured, 'the barrier takes {} s, {} were injected', late['b'], measured)
    close('change', late['change'], late['b'] - late['a'], 1e-9)
    equal('noise', [late['p'], late['interval'], late['significant'], compared['noise_known']], [None, None, None, False])
    gone, added = row(compared, 'MPI_Bcast', 'gone'), row(compared, 'MPI_Allgather', 'added')
    equal('gone', [gone['joined'], gone['count']['a'], gone['count']['b'], gone['path_b']], ['only_a', 7, 0, None])
    equal('added', [added['joined'], added['count']['a'], added['count']['b'], added['path_a']], ['only_b', 0, 5, None])
    equal('joined', compared['joined'], {'position': 7, 'names': 0, 'only_a': 1, 'only_b': 1})
    said = text(base.directory, other.directory)
    for words in ('one run a side, no word on noise', 'Call paths only in A', 'Call paths only in B', '1 only in A, 1 only in B'):
        check(words in said, 'not said: {}\n{}', words, said)
    return other


def built_anew(mpi, base):
    """Four lines more at its top, in another folder: the same functions at other places."""
    folder = harness.scratch('moved')
    with open(os.path.join(harness.HERE, 'diff.c')) as f:
        source = f.read()
    with open(os.path.join(folder, 'diff.c'), 'w') as f:
        f.write('/*\n *\n *\n */\n' + source)
    program = os.path.join(folder, 'other')
    harness.run([mpi.cc, '-O2', '-g', os.path.join(folder, 'diff.c'), '-o', program]).ended(0)
    other = mpi.profile(program, 2, ['50']).ended(0)
    compared = diff(base.directory, other.directory)
    equal('joined', compared['joined'], {'position': 0, 'names': 8, 'only_a': 0, 'only_b': 0})
    pairs = sorted((r['path_a'][0]['line'], r['path_b'][0]['line'], r['count']['a'], r['count']['b'])
                   for r in rows(compared, 'MPI_Bcast', 'twice'))
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
    equal('a count that never varies', [gone['count']['p'], gone['count']['significant']], [0, True])
    for r in compared['callsites']:
        t = r['time_s']
        check(not t['significant'] or abs(t['change']) > t['interval'], 'marked, but within its interval: {}', t)
        equal('count of ' + str(inside(r)), r['count']['significant'], r['joined'].startswith('only'))
    same = diff(*[r.directory for r in a], '--', *[r.directory for r in a])
    every = [m for r in same['callsites'] + same['functions'] for m in r.values() if isinstance(m, dict)]
    every += list(same['run'].values())
    equal('changes of a run against itself', [m for m in every if m['change'] or m['significant']], [])
    check('within the noise' in text(*[r.directory for r in a], '--', *[r.directory for r in a]), 'no verdict')


def more_ranks(mpi, program, base):
    other = mpi.profile(program, 3, ['50']).ended(0)
    compared = diff(base.directory, other.directory)
    equal('ranks', [compared['a'][0]['ranks'], compared['b'][0]['ranks']], [2, 3])
    agrees(compared, 'MPI_Allreduce', 'same', [base], [other])
    check('A ran on 2 ranks, B on 3' in text(base.directory, other.directory), 'text says nothing of it')


def refusals(base):
    e = base.directory
    broken = harness.scratch('broken')
    with open(os.path.join(broken, 'rank-000000.fvr'), 'w') as f:
        f.write('nothing')
    link = os.path.join(harness.scratch('link'), 'l')
    os.symlink(e, link)
    for arguments, rc, words in (
            ([], 2, 'two experiments'), ([e], 2, 'two experiments'), ([e, '--'], 2, 'two experiments'),
            (['--', e], 2, 'two experiments'), ([e, e, e], 2, '--'), ([e, e, '--', e], 2, 'twice'),
            ([e, '--', e, link], 2, 'twice'),
            ([e, os.path.join(broken, 'none')], 1, 'none'), ([e, broken], 1, 'rank-000000.fvr'),
            (['--top', '0', e, e], 2, '--top'), (['--color', 'red', e, e], 2, '--color'), (['--bogus', e, e], 2, '--bogus'),
            ([e, e, '--json'], 2, '--json'), (['--json', '-', '--text', e, e], 2, 'stdout'),
            (['--json', os.path.join(e, 'rank-000000.fvr'), e, e], 2, 'recorded'),
            (['--json', os.path.join(broken, 'no', 'x'), e, e], 1, 'No such file')):
        done = harness.run([harness.FVMPI, 'diff'] + arguments)
        lines = done.err.splitlines()
        equal('exit status of diff ' + ' '.join(arguments), done.rc, rc)
        check(len(lines) == 1 and lines[0].startswith('fvmpi: ') and words in lines[0], 'diff {}: {!r}', arguments, done.err)
        equal('stdout', done.out, '')
    check('rank-000000.fvr' in os.listdir(e) and not harness.run([harness.FVMPI, 'report', e]).ended(0).err, 'damaged')


def incomplete(base):
    part = os.path.join(harness.scratch('part'), 'p')
    shutil.copytree(base.directory, part, symlinks=True)  # .job names the job and leads nowhere
    os.unlink(os.path.join(part, 'rank-000001.fvr'))
    check('p is incomplete' in text(base.directory, part), 'text says nothing of it')


def of_the_trace(mpi, program):
    """Waiting of call paths is what analysis.json has, where every experiment has one."""
    unify = os.path.join(harness.BUILD, 'fvunify-serial')
    if not os.path.exists(unify):
        raise harness.Skip('no fvunify-serial: built without OTF2')
    runs = [mpi.profile(program, 2, [ms], options=['--trace']).ended(0) for ms in ('50', '150')]
    harness.run([unify, runs[0].directory]).ended(0)
    compared = diff(*[r.directory for r in runs])
    equal('waiting, one analysis.json', compared['waits'], 'profile')
    one_analysis, other_commands = compared['notes']
    check('fvunify' in one_analysis['text'], 'notes: {}', compared['notes'])
    check('different commands' in other_commands['text'], 'notes: {}', compared['notes'])
    harness.run([unify, runs[1].directory]).ended(0)
    compared = diff(*[r.directory for r in runs])
    equal('waiting, two', [compared['waits'], compared['notes']], ['analysis', [other_commands]])
    for side, run in (('a', runs[0]), ('b', runs[1])):
        with open(os.path.join(run.directory, 'analysis.json')) as f:
            sites = json.load(f)['callsites']
        for function, name in ('MPI_Barrier', 'late'), ('MPI_Allreduce', 'same'):
            wanted = [s['wait_s'] for s in sites if s['function'] == function and s['path'][0]['function'] == name]
            close('waiting in ' + name, row(compared, function, name)['wait_s'][side], wanted[0] / 2, 1e-9)
        close('waiting in all', compared['run']['wait_s'][side], sum(s['wait_s'] for s in sites) / 2, 1e-9)
    check('waiting  of the traces' in text(*[r.directory for r in runs]), 'text says nothing of it')


def main():
    tap = harness.Tap()
    for number, mpi in enumerate(harness.mpis(tap)):
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
        with tap.test('bad input gets one line'):
            refusals(base)
        with tap.test('a run with a rank missing'):
            incomplete(base)
    tap.done()


main()
