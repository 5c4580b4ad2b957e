#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Programs with known culprits: the report names the function whose instances differ, before those that only call it,
and says so no longer of the repaired program. Then LAMMPS, of which others know where its time goes."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples  # LONG: ./dev statistics
from measured import repeat
from report import check, equal

CASES = (
    ('search.c', 'search', 'a linear search, of values that are near each other'),
    ('collisions.c', 'hashtable_search', 'a hash table whose keys collide'),
    ('sets.cpp', 'contains', 'a tree set where a hash set would do'),
)


def compiled(source, *flags):
    path = os.path.join(harness.scratch('bin'), os.path.splitext(source)[0])
    harness.run(
        [
            'c++' if source.endswith('.cpp') else 'cc',
            '-O2',
            '-g',
            '-Wall',
            '-Wextra',
            *flags,
            os.path.join(HERE, 'cases', source),
            '-o',
            path,
        ]
    ).ended(0)
    return path


def sampled(command):
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = harness.run(
        [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', '--sample=400'] + command, directory=directory
    ).ended(0)
    harness.needs_instances(run)
    return run


def by_cpu(run):
    return run.report().sampled()


def line(f):
    return '{}: {:.1f} % of the time, within {}{}'.format(
        f['function'], 100 * (f['time_share'] or 0), f['within'], ', varies' if f['varies'] else ''
    )


def variation(f):
    """Of the time; of what is too short to be measured there is none."""
    return (f['time_share'] or 0) * (f['within'] or 0)


def named_first(program, culprit):
    run = sampled([program, '1.5'])
    functions = by_cpu(run)
    check(
        functions and functions[0]['function'] == culprit and functions[0]['varies'],
        'not first: {}\n{}',
        culprit,
        '\n'.join(line(f) for f in functions[:5]),
    )
    check(functions[0]['time_share'] > 0.1 and functions[0]['within'] > 0.4, '{}', line(functions[0]))
    return run


def gone(program, culprit, as_it_was):
    run = sampled([program, '1.5', 'repaired'])
    equal('result', run.out, as_it_was.out)
    (before,) = [f for f in by_cpu(as_it_was) if f['function'] == culprit]
    for f in by_cpu(run):
        check(f['function'] != culprit or not f['varies'], 'still: {}', line(f))
        check(
            f['function'] != culprit or variation(f) < 0.5 * variation(before),
            'as much as before, {}: {}',
            line(before),
            line(f),
        )


def loop_at_entry():
    """Calls that take the same time, of which breakpoints see each turn."""
    run = sampled([compiled('loop.c'), '1.5'])
    turns = [f for f in by_cpu(run) if f['function'] == 'turns']
    check(turns and sum(f['return_count'] for f in turns) >= 8, 'not sampled: {}', [f['function'] for f in by_cpu(run)])
    costs = run.report().data['costs']
    if not costs['loops']:
        raise harness.Skip('no disassembler')
    for f in turns:
        check(not f['varies'] and f['within'] is None and f['metrics']['cpu_time_s']['mean'] is None, '{}', line(f))
    text = harness.run([harness.FVMPI, 'report', run.directory, '--all', '--width', '200']).ended(0).out
    check(re.search(r'^ *turns .* loop at entry', text, re.M), '{}', text)
    check('run longer' not in text, '{}', text)


def forked_teams():
    """A function that forks a team is called once by each fork: what its workers take is not of calls of its own. Of n
    samples chance makes 2 sqrt(n), at 95 %; thrice that, as the calls that were measured differ, too."""
    run = sampled([compiled('team.c', '-fopenmp'), '2.5'])
    called, found = int(run.out), {f['function']: f for f in run.report().data['function_totals']}
    for name in ('smooth', 'alone'):
        f = found[name]
        if f['call_count'] is None:
            raise harness.Skip('fewer than 8 calls of {} were measured'.format(name))
        samples_of_it = called * f['metrics']['cpu_time_s']['mean'] * 400
        check(
            abs(f['call_count'] / called - 1) < 6 / samples_of_it**0.5 + 0.1,
            '{}: {} calls told, {} made, of which {:.0f} samples',
            name,
            f['call_count'],
            called,
            samples_of_it,
        )


def inclusive(rank, name):
    """Part of the clock samples with that function on the path."""
    return sum(n for path, n in rank.costs.items() if any(name in f for f in path)) / max(sum(rank.costs.values()), 1)


def results(text):
    """LAMMPS' own numbers: from the header of its table to the loop time."""
    lines = text.splitlines()
    first = next((i for i, text in enumerate(lines) if text.split()[:2] == ['Step', 'Temp']), len(lines))
    return lines[first : next((i for i, text in enumerate(lines) if text.startswith('Loop time')), first)]


def lammps(mpi):
    program = shutil.which('lmp')
    if not program:
        raise harness.Skip('no lmp')
    if ('libmpich' in harness.run(['ldd', program]).out) != (str(mpi) == 'mpich'):
        raise harness.Skip('lmp is not of this MPI')
    script = os.path.join(os.path.dirname(os.path.dirname(HERE)), 'share', 'demo', 'melt.lmp')
    serial = {'OMP_NUM_THREADS': '1'}

    def alone(steps):
        """(arguments, the run, CPU seconds of a rank)"""
        arguments, before = ['-in', script, '-var', 'steps', str(steps), '-log', 'none'], os.times()
        native, after = mpi.native(program, 4, arguments, env=serial).ended(0), os.times()
        check(len(results(native.out)) > 2, 'LAMMPS alone prints\n{}', native.out[-2000:])
        return arguments, native, (after.children_user - before.children_user) / 4

    steps, ticks, rate = 40, 200 if samples.LONG else 40, 200
    arguments, native, seconds = alone(steps)
    if seconds < 2 * ticks / rate:  # samples are of CPU time, of which a faster machine needs less
        arguments, native, seconds = alone(int(steps * 2 * ticks / rate / seconds) + 1)
    run = mpi.profile(program, 4, arguments, options=['--sample={}'.format(rate), '-q'], env=serial).ended(0)
    harness.needs_instances(run)
    equal('results', results(run.out), results(native.out))
    equal('messages', run.err, native.err)
    ranks = samples.read(run.directory)
    equal('ranks', len(ranks), 4)
    for rank in ranks:
        (s,) = rank.samplers
        equal('damages', rank.damages, [])
        equal('entries', s['entries'], s['returns'] + s['abandoned'])
        check(s['ticks'] >= ticks, 'ticks: {} of {} s', s, seconds)
    functions, costs = by_cpu(run), run.report().data['costs']
    share = {p['procedure'].split('(')[0]: p['inclusive']['ticks'] / costs['all']['ticks'] for p in costs['procedures']}
    check(
        'LAMMPS_NS::PairLJCut::compute' in (f['function'].split('(')[0] for f in functions),
        'functions:\n{}',
        '\n'.join(line(f) for f in functions[:9]),
    )
    pair = share.get('LAMMPS_NS::PairLJCut::compute', 0)
    build = share.get('LAMMPS_NS::Neighbor::build', 0)
    check(
        0.5 < pair < 0.95,
        'forces take {:.0f} % of the time:\n{}',
        100 * pair,
        '\n'.join(line(f) for f in functions[:9]),
    )
    check(
        0.05 < build < 0.4,
        'neighbour lists take {:.0f} % of the time:\n{}',
        100 * build,
        '\n'.join(line(f) for f in functions[:9]),
    )


def main():
    tap = harness.Tap()
    for source, culprit, what in CASES if samples.LONG else CASES[:1]:
        program, as_it_was = compiled(source), None
        with tap.test('{}: named first'.format(what)):
            as_it_was = repeat(lambda: named_first(program, culprit))
        with tap.test('{}: repaired, it is gone'.format(what)):
            if not as_it_was:
                sampled(['true'])  # skips where there are no instances
                check(False, 'there is nothing to compare with')
            repeat(lambda: gone(program, culprit, as_it_was))
    with tap.test('a function that begins with its loop is not judged'):
        loop_at_entry()
    with tap.test('how often a function that forks a team was called'):
        forked_teams()
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: LAMMPS on 4 ranks'.format(mpi)):
            lammps(mpi)
    tap.done()


if __name__ == '__main__':
    main()
