#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""OpenMP by OMPT: what clang compiles, and what GCC compiles on LLVM's runtime. Programs that count their regions, and
that measure what their threads wait, find both again; what they do stays the same."""
import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from measured import Measured
from omp_known import OPTIONS, alone_waits_for_nobody, known, near, of, region
from report import check, equal
from threads import total

PASSIVE = {'OMP_WAIT_POLICY': 'passive'}
ROUNDS, TEAM = 7, 3  # of ompt.c
TRACE = OPTIONS + ['--trace']
LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics


def clang(source, *flags, **more):
    return threads.build(source, '-fopenmp', *flags, compiler='clang++' if source.endswith('.cpp') else 'clang', **more)


def of_mpi(mpi, source):
    wrapper = os.path.join(harness.scratch('cc'), 'mpicc')
    with open(wrapper, 'w') as f:
        f.write('#!/bin/sh\nOMPI_CC=clang MPICH_CC=clang exec {} "$@"\n'.format(mpi.cc))
    os.chmod(wrapper, 0o755)
    return threads.build(source, '-fopenmp', '-DWITH_MPI', compiler=wrapper, output='{}.{}'.format(source, mpi))


def missing():
    for compiler in ('clang', 'clang++'):
        if harness.run(['sh', '-c', 'command -v ' + compiler]).rc:
            return 'no ' + compiler
    program = os.path.join(harness.scratch('try'), 'a')
    if harness.run(['sh', '-c', 'echo "int main(void) { return 0; }" | clang -x c - -fopenmp -o ' + program]).rc:
        return 'no libomp (libomp-dev)'
    return None


def whole(waits):
    equal('damages', waits.damages, [])
    for t in waits.threads:
        equal('losses', (t.overflow, t.missed, t.wait_begin, t.trace_lost), (0, 0, 0, 0))
        equal(
            'thread {}'.format(t.thread),
            t.omp,
            total([r for r in waits.records if r.thread == t.thread and r.kind == 'omp'], 'wait'),
        )
    for r in waits.regions:
        equal(
            'region of {}'.format(r.names),
            (r.threads, r.open, r.lost),
            (total([t for t in waits.team if t.region == r.id], 'count'), 0, 0),
        )
    return waits


def counted(waits):
    """What ompt.c counts."""

    def regions(name, level=1):  # a compiler may call a function at several places
        found = [r for r in region(waits, name) if r.level == level]
        return total(found, 'count'), total(found, 'threads')

    for name in ('barriers', 'critical', 'shared', 'tasks'):
        equal(name, regions(name), (ROUNDS, ROUNDS * TEAM))
    equal('alone', regions('alone'), (ROUNDS, ROUNDS))
    equal('nested', regions('nested'), (ROUNDS, ROUNDS * 2))
    inner = [r for r in waits.regions if r.level == 2]
    equal('inner', (total(inner, 'count'), total(inner, 'threads')), (ROUNDS * 2, ROUNDS * 4))
    (at,) = {r.object for r in region(waits, 'barriers')}
    mine = [r for r in waits.records if r.object == at]
    equal('barriers', total(mine, 'acquired'), ROUNDS * TEAM * 3)
    equal('last at them', total(mine, 'last'), ROUNDS * 3)
    equal('criticals', total(of(waits, '.gomp_critical_user_counted'), 'acquired'), ROUNDS * TEAM)
    equal('held', total(of(waits, '.gomp_critical_user_counted'), 'holds'), ROUNDS * TEAM)
    equal('untimed', total(waits.regions, 'untimed'), 0)


def said_by(directory, *words):
    said = ' '.join(harness.run([harness.FVMPI, 'report', '--width=500', '--all', directory]).ended(0).out.split())
    for word in words:
        check(word in said, '"{}" is not in the report: {}', word, said)
    return said


def counts(tap):
    for source in ('ompt.c', 'ompt.cpp'):
        with tap.test('{}: regions, barriers and criticals as often as they are'.format(source)):
            program = clang(source)
            plain = harness.run([program], env=PASSIVE).ended(0).out
            for options in (OPTIONS, TRACE, OPTIONS + ['--sample']):
                run = threads.record([program], *options, env=PASSIVE).ended(0)
                equal('output', run.out, plain)
                waits = whole(threads.Waits(run.directory))
                counted(waits)
                equal(
                    "the runtime's own waits", [r for r in waits.records if r.kind in ('cond', 'join') and r.wait], []
                )
            said = said_by(
                run.directory,
                'region in barriers()',
                'critical (counted)',
                'OpenMP barriers() at ompt.c',
                'OpenMP shared() at ompt.c',
            )
            check(': not seen.' not in said, 'report: {}', said)
            said = harness.run([harness.FVMPI, 'stacks', run.directory]).ended(0).out
            check('{} threads, OpenMP region in tasks()'.format(TEAM) in said, 'stacks: {}', said)
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: regions of each rank; a child that uses OpenMP, and regions, before MPI_Init'.format(mpi)):
            program = of_mpi(mpi, 'ompt.c')
            for what in ('count', 'before'):
                plain = harness.run(mpi.command(2, [program, what]), env=PASSIVE).ended(0)
                run = mpi.profile(program, 2, [what], options=['-q'] + OPTIONS, env=PASSIVE).ended(0)
                equal('output', sorted(run.out.splitlines()), sorted(plain.out.splitlines()))
                for rank in range(2):
                    counted(whole(threads.Waits(run.directory, rank)))


def same(tap):
    with tap.test('everything else is as without us'):
        program = clang('omp_same.cpp')
        env = dict(PASSIVE, OMP_NUM_THREADS='3')
        plain = harness.run([program], env=env).ended(0).out
        for options in (['--threads'], TRACE, OPTIONS + ['--sample']):
            run = threads.record([program], *options, env=env).ended(0)
            equal('output', run.out, plain)
        whole(threads.Waits(run.directory))
    with tap.test('exceptions in a region; exit() in one'):
        program = clang('ompt.cpp')
        equal('output', threads.record([program, 'thrown'], *TRACE, env=PASSIVE).ended(0).out, 'thrown 300\n')
        run = threads.record([program, 'leave'], *TRACE, env=PASSIVE).ended(5)
        equal('regions', [(r.count, r.open > 0) for r in threads.Waits(run.directory).regions], [(0, True)])


def cases(tap):
    program = clang('omp_cases.c')

    def run(name, *more):
        return threads.record([program, name] + list(more), *OPTIONS, env=PASSIVE)

    # Of a turn in an iteration that has none ("turns") the runtime tells nothing.
    for name, waits in (('doacross', 4), ('taskloop', 1), ('depend', 1), ('shared', 4)):
        with tap.test('waiting in a region: {}'.format(name)):

            def make(name=name):
                done = run(name).ended(0)
                return done.out, whole(threads.Waits(done.directory))

            def judge(found, truth, name=name, waits=waits):
                near(truth, name, total(region(found, name), 'wait'), waits=waits)

            Measured(make).test(judge)
    for name, out in (
        ('many', 'many 19999900000'),
        ('nested', 'nested 800'),
        ('teams', 'teams 450'),
        ('large', 'large 300'),
        ('paused', 'paused 40'),
    ):
        with tap.test('as without us: {}'.format(name)):
            for options in (OPTIONS, TRACE):
                equal('output', threads.record([program, name], *options, env=PASSIVE).ended(0).out, out + '\n')
    with tap.test('teams of several threads, none of which is the first'):
        waits = whole(threads.Waits(run('teams').ended(0).directory))
        equal('teams', (total(waits.regions, 'count'), total(waits.regions, 'threads')), (150, 450))
        equal('critical', total(of(waits, '.gomp_critical_user_shared_by_teams'), 'acquired'), 450)
    with tap.test('one thread waits for nobody, whatever keeps it'):
        alone_waits_for_nobody(whole(threads.Waits(run('alone').ended(0).directory)))
    with tap.test('a team that is too large is counted'):
        equal(
            'lost', [(r.threads, r.lost) for r in threads.Waits(run('large').ended(0).directory).regions], [(300, 44)]
        )
    with tap.test('a fork in a region: nothing of the child is in the file'):
        waits = whole(threads.Waits(run('forked').ended(0).directory))
        equal('regions', sorted((r.count, r.threads, r.open) for r in waits.regions), [(1, 1, 0), (50, 100, 0)])
    with tap.test('killed where it waits, or in a task that is run there'):
        for more in ([], ['in']):
            waits = threads.Waits(run('hung', *more).directory)
            equal('waits', [t.wait_kind for t in waits.threads if t.wait_begin], [] if more else ['omp'])


def gcc(tap):
    """GCC's code in LLVM's runtime: GOMP_*() is ours, and OMPT tells of the same regions."""
    folder = harness.scratch('libgomp')
    env = dict(PASSIVE, LD_LIBRARY_PATH=folder)
    with tap.test("GCC's program, and libomp by the name of libgomp: regions and waits once"):
        found = re.search(r'libomp\S* => (\S+)', harness.run(['ldd', clang('ompt.c')]).ended(0).out)
        if not found:
            raise harness.Skip('libomp is linked statically')
        os.symlink(os.path.realpath(found.group(1)), os.path.join(folder, 'libgomp.so.1'))
        program = threads.build('ompt.c', '-fopenmp', output='ompt.gcc')
        if harness.run([program], env=env).rc:
            raise harness.Skip("GCC's program does not run on this libomp")
        plain = harness.run([program], env=env).ended(0).out
        for options in (OPTIONS, TRACE):
            run = threads.record([program], *options, env=env).ended(0)
            equal('output', run.out, plain)
            counted(whole(threads.Waits(run.directory)))
        said_by(run.directory, 'OpenMP barriers() at ompt.c')
    program = threads.build('omp.c', '-fopenmp', output='omp.gcc')
    known(tap, "GCC's program on libomp", lambda: threads.record([program, '4'], *OPTIONS, env=env), 4)
    program = threads.build('omp_cases.c', '-fopenmp', '-DNO_TEAMS', output='omp_cases.gcc')
    with tap.test("GCC's program on libomp: waiting in a region: doacross"):

        def make():
            done = threads.record([program, 'doacross'], *OPTIONS, env=env).ended(0)
            return done.out, whole(threads.Waits(done.directory))

        def judge(found, truth):
            near(truth, 'doacross', total(region(found, 'doacross'), 'wait'), waits=4)

        Measured(make).test(judge)
    with tap.test("GCC's and clang's code in one program"):
        object_ = threads.build('omp_same.cpp', '-fopenmp', '-c', output='omp_same.o')
        program = os.path.join(harness.scratch('llvm'), 'mixed')
        harness.run(['clang++', '-fopenmp', object_, '-o', program]).ended(0)
        env = dict(PASSIVE, OMP_NUM_THREADS='3')
        plain = harness.run([program], env=env).ended(0).out
        run = threads.record([program], *OPTIONS, env=env).ended(0)
        equal('output', run.out, plain)
        waits = whole(threads.Waits(run.directory))
        check(total(waits.regions, 'count') > 5, 'regions: {}', waits.regions)
        equal('untimed', total(waits.regions, 'untimed'), 0)


def of_both(tap):
    with tap.test("GCC's program, which opens a plugin of clang's: iterations wait for those before, as without us"):
        plugin = clang('omp_plugin.c', '-DPLUGIN', '-shared', '-fPIC', output='plugin.clang.so')
        program = threads.build('omp_plugin.c', '-fopenmp', output='omp_plugin.gcc')
        plain = harness.run([program, plugin], env=PASSIVE).ended(0).out
        equal('plain', plain, 'own 2, out of order 0\nsum 42\n')
        equal('output', threads.record([program, plugin], *OPTIONS, env=PASSIVE).ended(0).out, plain)


def tools(tap):
    with tap.test('OMP_TOOL=disabled: nothing is seen, and the report says so'):
        program = clang('ompt.c')
        run = threads.record([program], *OPTIONS, env=dict(PASSIVE, OMP_TOOL='disabled')).ended(0)
        equal('regions', threads.Waits(run.directory).regions, [])
        said = said_by(run.directory)
        check(re.search(r'libomp\S*: not seen\.', said), 'report: {}', said)
    with tap.test('where --threads was not asked for, another tool is found: by OMP_TOOL_LIBRARIES, or linked'):
        tool = threads.build('ompt_tool.c', '-shared', '-fPIC', output='libompttool.so')
        linked = clang(
            'ompt.c', '-Wl,--no-as-needed', tool, '-Wl,-rpath,' + os.path.dirname(tool), output='ompt.linked'
        )
        library = os.path.join(harness.LIBS, 'libfvmpi-serial-threads.so')
        output = os.path.join(harness.scratch('exp'), 'e')
        for command, env in (([clang('ompt.c')], {'OMP_TOOL_LIBRARIES': tool}), ([linked], {})):
            env = dict(PASSIVE, FVMPI_OUTPUT=output, FVMPI_QUIET='1', LD_PRELOAD=harness.in_front(library), **env)
            said = harness.run(command, env=env).ended(0).out
            check(said.startswith('another tool\n'), 'without --threads: {}', said)
            output += '1'
            said = harness.run(command, env=dict(env, FVMPI_OUTPUT=output, FVMPI_THREADS='1')).ended(0).out
            check(said.startswith('sum '), 'with --threads: {}', said)
            output += '2'


def archives(tap):
    with tap.test('the archive has fork, join, barriers and criticals, without errors'):
        run = threads.record([clang('ompt.c')], *TRACE, env=PASSIVE).ended(0)
        check_archive(run.directory)
    for mpi in harness.an_mpi(tap, quiet=True):
        with tap.test('{}: the archive'.format(mpi)):
            run = mpi.profile(of_mpi(mpi, 'ompt.c'), 2, options=['-q'] + TRACE, env=PASSIVE).ended(0)
            check_archive(run.directory)
    with tap.test('killed at any moment: the file can be read, and the trace merged'):
        program = clang('ompt.c')
        for attempt in range(4 if LONG else 2):
            directory = os.path.join(harness.scratch('exp'), 'e')
            started = harness.start(
                [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial'] + TRACE + [program, 'open'],
                env=PASSIVE,
            )
            begun = time.time()
            while not os.path.exists(os.path.join(directory, 'rank-000000.fvr')) and time.time() < begun + 20:
                time.sleep(0.01)
            time.sleep(random.uniform(0.05, 0.4))
            os.killpg(started.pid, signal.SIGKILL)
            harness.finish(started, harness.LIMIT, directory)
            equal('damages', threads.Waits(directory).damages, [])
            said_by(directory, 'killed')
            check_archive(directory, complete=False)


def check_archive(directory, complete=True):
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    said = harness.run([harness.FVMPI, 'check', directory]).ended(0).out
    check(' 0 errors' in said, 'fvmpi check: {}', said)
    if not complete:
        return
    if harness.run(['sh', '-c', 'command -v otf2-print']).rc:
        raise harness.Skip('no otf2-print')
    out = harness.run(['otf2-print', os.path.join(directory, 'traces.otf2')]).ended(0).out
    ranks = len([n for n in os.listdir(directory) if n.endswith('.fvr')])
    forks, joins = len(re.findall(r'^THREAD_FORK ', out, re.M)), len(re.findall(r'^THREAD_JOIN ', out, re.M))
    equal('forks and joins', (forks, joins), (8 * ROUNDS * ranks, 8 * ROUNDS * ranks))
    acquired = len(re.findall(r'^THREAD_ACQUIRE_LOCK .*"OpenMP"', out, re.M))
    equal('criticals', acquired, 2 * ROUNDS * TEAM * ranks)


def main():
    tap = harness.Tap()
    why = missing()
    if why:
        tap.skip('OpenMP by OMPT', why)
        tap.done()
        return
    program = clang('omp.c')
    for team, policy in ((4, 'passive'), (4, 'active'), (1, 'passive')):
        who = '{} thread(s), {}'.format(team, policy)
        known(tap, who, lambda: threads.record([program, str(team)], *OPTIONS, env={'OMP_WAIT_POLICY': policy}), team)
    for mpi in harness.an_mpi(tap):
        program = of_mpi(mpi, 'omp.c')
        known(tap, str(mpi), lambda: mpi.profile(program, 2, ['2'], options=['-q'] + OPTIONS, env=PASSIVE), 2)
    counts(tap)
    same(tap)
    cases(tap)
    gcc(tap)
    of_both(tap)
    tools(tap)
    archives(tap)
    tap.done()


if __name__ == '__main__':
    main()
