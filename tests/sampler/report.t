#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where CPU time is, as fvmpi report says it of a program that knows: shares of functions, the hot line and loop, the
annotated source, folded stacks, speedscope's format, tables; and time that is spent waiting for threads."""
import csv
import json
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

SOURCE = os.path.join(HERE, 'shares.c')


def compiled(source, *flags, compiler='cc'):
    path = os.path.join(harness.scratch('bin'), os.path.splitext(source)[0])
    return path, harness.run([compiler, '-O1', '-g', os.path.join(HERE, source), '-o', path] + list(flags))


def recorded(command, **more):
    directory = os.path.join(harness.scratch('exp'), 'e')
    done = harness.run(
        [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', '--sample=1000'] + command,
        directory=directory,
        **more,
    )
    done.ended(0)
    return done, directory


def report(directory, *options, **wanted):
    done = harness.run([harness.FVMPI, 'report', directory] + list(options))
    done.ended(wanted.get('status', 0))
    return done


def marked(text):
    """The numbers of the lines of shares.c with a mark."""
    with open(SOURCE) as lines:
        return [n for n, line in enumerate(lines, 1) if '/* ' + text in line]


def near(what, ticks, of, share):
    """As near as counted ticks can be: four standard deviations, and a percent for what the program itself misses."""
    within = 4 * (share * (1 - share) / of) ** 0.5 + 0.01
    check(
        abs(ticks / of - share) < within,
        '{}: {} of {} samples, wanted {:.3f} +- {:.3f}',
        what,
        ticks,
        of,
        share,
        within,
    )


def procedures(costs):
    return {p['procedure']: p for p in costs['procedures']}


def shares(costs, truth):
    by_name, ticks = procedures(costs), costs['all']['ticks']
    check(ticks > 300, 'only {} samples', ticks)
    equal('samples', sum(p['exclusive']['ticks'] for p in costs['procedures']), ticks)
    near('thirty', by_name['thirty']['inclusive']['ticks'], ticks, truth[0] / sum(truth))
    near('seventy', by_name['seventy']['exclusive']['ticks'], ticks, truth[1] / sum(truth))
    near('spin', by_name['spin']['exclusive']['ticks'], ticks, truth[0] / sum(truth))
    check(by_name['main']['inclusive']['ticks'] > 0.98 * ticks, 'main: {}', by_name['main'])
    check(
        abs(costs['all']['time_s'] - sum(truth)) < 0.15 * sum(truth) + costs['all']['error_s'],
        '{} seconds of {}',
        costs['all']['time_s'],
        sum(truth),
    )


def loops(costs, directory):
    if not costs['loops_known']:
        raise harness.Skip('built without libopcodes')
    hot = max(costs['loops'], key=lambda l: l['exclusive']['ticks'])
    equal('function', hot['function'], 'seventy')
    check(hot['first_line'] in marked('seventy: inner loop') + marked('seventy: line'), '{}', hot)
    equal('depth', hot['depth'], 2)
    equal('kind', (hot['parallelised'], hot['vectorised']), ('no', False))
    outer = costs['loops'][hot['parent_id']]
    equal('outer loop', outer['first_line'], marked('seventy: outer loop')[0])
    check(outer['inclusive']['ticks'] >= hot['inclusive']['ticks'], '{} in {}', hot, outer)
    equal('statements', (outer['kind'], hot['kind']), ('for', 'for'))
    text = report(directory, '--width', '140').out
    check(re.search(r'^  Loops .*\n  loop .*\n  shares\.c:[0-9-]+ +seventy .* for ', text, re.M), 'text: {}', text)


def source(directory, costs):
    text = report(directory, '--source', 'shares.c').out
    rows = [line.split() for line in text.splitlines() if '/* seventy: ' in line]
    equal('lines', len(rows), 3)
    # which of a loop's lines a sample falls on is the compiler's and the processor's matter
    percent = sum(float(row[0]) for row in rows if row[1] == '%')
    wanted = 100 * procedures(costs)['seventy']['exclusive']['ticks'] / costs['all']['ticks']
    check(0.95 * wanted < percent < wanted + 0.2, '{} % of {} %: {}', percent, wanted, rows)
    of_rank = report(directory, '--source', 'sampler/shares.c', '--rank', '0').out
    equal('rank', of_rank.replace('rank 0', 'all ranks'), text)
    gone = report(directory, '--source', 'shares.c', '--source-path', HERE + '=/nowhere').out
    check('/nowhere/shares.c: No such file or directory: lines are shown by number' in gone, '{}', gone)
    equal('no file', 'spin' in gone, False)


def source_of_no_name(directory, costs):
    """-g is spoken of where samples have no lines, in the C library for one."""
    said = report(directory, '--source', 'other.c', status=1).err
    known = sum(l['exclusive']['ticks'] for l in costs['lines'])
    unknown = costs['all']['ticks'] - known - round(costs['fvmpi_share'] * costs['all']['ticks'])
    check('no samples in a file of that name' in said, '{}', said)
    equal('compile it with -g', 'compile it with -g' in said, unknown > 0)


def exports(directory, ticks):
    folded = [line.rsplit(' ', 1) for line in report(directory, '--folded', '-').out.splitlines()]
    equal('folded', sum(int(n) for _, n in folded), ticks)
    equal('stacks are there once', len(set(s for s, _ in folded)), len(folded))
    check(any(s == 'rank 0;thread 0;main;thirty;spin' for s, _ in folded), '{}', folded)
    scope = json.loads(report(directory, '--speedscope', '-').out)
    profile = scope['profiles'][0]
    equal('weights', len(profile['weights']), len(profile['samples']))
    check(abs(sum(profile['weights']) - profile['endValue']) < 1e-6, '{}', profile['endValue'])
    names = [f['name'] for f in scope['shared']['frames']]
    check(['main', 'thirty', 'spin'] in [[names[i] for i in s] for s in profile['samples']], '{}', scope)


def tables(directory, ticks):
    out = harness.scratch('csv')
    report(directory, '--csv', out)
    with open(os.path.join(out, 'cpu_procedures.csv'), newline='') as rows:
        equal('samples', sum(int(row['exclusive_ticks']) for row in csv.DictReader(rows)), ticks)


def words(directory):
    text = report(directory).out
    for heading in ('\nFunctions', '\nCPU time', '\n  Lines', '\n  Call tree'):
        check(heading in text, 'no {} in {}', heading, text)
    for options, status in (
        (['--rank', 'none'], 2),
        (['--folded', '-', '--json', '-'], 2),
        (['--source', 'none.c'], 1),
        (['--source', 'shares.c', '--rank', '5'], 1),
        (['--source', 'shares.c', '--text'], 2),
        (['--source-path', 'x'], 2),
        (['--folded', os.path.join(directory, 'rank-000000.fvr')], 2),
    ):
        done = report(directory, *options, status=status)
        equal('lines of {}'.format(options), len(done.err.splitlines()), 1)


def waiting():
    program, build = compiled('waits.c', '-fopenmp')
    if build.rc:
        raise harness.Skip('no OpenMP')
    if len(os.sched_getaffinity(0)) < 2:
        raise harness.Skip('one processor: OpenMP does not spin with more threads than that')
    costs = harness.profile_of(recorded([program], env={'OMP_WAIT_POLICY': 'active'})[1])['costs']
    by_name = procedures(costs)
    check(len(costs['sampled_threads']) == 2, 'threads: {}', costs['sampled_threads'])
    equal('waiting while computing', by_name['compute']['inclusive']['sync_ticks'], 0)
    spun = costs['all']['ticks'] - by_name['compute']['inclusive']['ticks']
    check(
        costs['all']['sync_ticks'] > 0.8 * spun - 20, '{} of {} samples are waiting', costs['all']['sync_ticks'], spun
    )
    check(costs['all']['sync_ticks'] > 20, '{} samples are waiting', costs['all']['sync_ticks'])


def kinds_of_loops(compiler):
    program, build = compiled('kinds.c', '-fopenmp', compiler=compiler)
    if build.rc:
        raise harness.Skip('no OpenMP')
    costs = harness.profile_of(recorded([program])[1])['costs']
    if not costs['loops_known']:
        raise harness.Skip('built without libopcodes')
    hot = sorted(costs['loops'], key=lambda l: -l['exclusive']['ticks'])[:2]
    equal(
        'kinds',
        sorted((l['function'] == 'single', l['parallelised'], l['vectorised']) for l in hot),
        [(False, 'openmp', True), (True, 'no', False)],
    )


def main():
    tap = harness.Tap()
    program, build = compiled('shares.c')
    build.ended(0)
    run, directory = recorded([program, '1.5'])
    truth = [float(x) for x in run.out.split()[1:]]
    costs = harness.profile_of(directory)['costs']
    if not costs or not costs['all']['ticks']:
        with tap.test('samples of the CPU clock'):
            raise harness.Skip(run.err.strip() or 'none')
        tap.done()
    ticks = costs['all']['ticks']
    for name, test in (
        ('shares of CPU time', lambda: shares(costs, truth)),
        ('loops', lambda: loops(costs, directory)),
        ('annotated source', lambda: source(directory, costs)),
        ('no such source', lambda: source_of_no_name(directory, costs)),
        ('exports', lambda: exports(directory, ticks)),
        ('tables', lambda: tables(directory, ticks)),
        ('text, and wrong words', lambda: words(directory)),
        ('kinds of loops', lambda: kinds_of_loops('cc')),
        ('waiting for threads', waiting),
    ):
        with tap.test(name):
            test()
    tap.done()


if __name__ == '__main__':
    main()
