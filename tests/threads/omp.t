#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""OpenMP by libgomp: regions, barriers, criticals, locks and tasks. Programs that measure their own waits find them
again, and what they do stays the same."""
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from measured import Measured
from omp_known import OPTIONS, alone_waits_for_nobody, known, near, of, region, rest
from report import check, equal
from threads import total


def cases(tap):
    program, passive = threads.build('omp_cases.c', '-fopenmp'), {'OMP_WAIT_POLICY': 'passive'}

    def run(name, *options, env=passive, **more):
        return threads.record([program, name], *(options or OPTIONS), env=env, **more)

    def whole(waits):
        equal('damages', waits.damages, [])
        for t in waits.threads:
            equal('losses', (t.overflow, t.missed, t.wait_begin, t.trace_lost), (0, 0, 0, 0))
        return waits

    for name, waits in (('doacross', 4), ('turns', 4), ('taskloop', 1), ('depend', 1), ('shared', 9)):
        with tap.test('waiting in a region: {}'.format(name)):

            def make(name=name):
                done = run(name).ended(0)
                return done.out, whole(threads.Waits(done.directory))

            def judge(found, truth, name=name, waits=waits):
                near(truth, name, total(region(found, name), 'wait'), waits=waits)
                equal('untimed', total(found.regions, 'untimed'), 0)

            Measured(make).test(judge)
    for name, out in (
        ('many', 'many 19999900000'),
        ('nested', 'nested 800'),
        ('teams', 'teams 450'),
        ('large', 'large 300'),
        ('paused', 'paused 40'),
        ('same', None),
    ):
        with tap.test('as without us: {}'.format(name)):
            plain = harness.run([program, name], env=passive).ended(0).out
            check(out is None or plain == out + '\n', 'plain: {}', plain)
            for options in (OPTIONS, OPTIONS + ['--trace']):
                equal('output', run(name, *options).ended(0).out, plain)
    with tap.test('tasks while recording is paused are not in the trace'):
        said = harness.run([harness.FVMPI, 'dump', run('paused', *OPTIONS, '--trace').ended(0).directory]).ended(0).out
        events = {
            kind: [int(t) for t in re.findall(r'^event thread=\d+ begin=(\d+) .* kind="{}"'.format(kind), said, re.M)]
            for kind in ('team end', 'pause')
        }
        equal('pauses', len(events['pause']), 1)
        check(len(events['team end']) > 2 and max(events['team end']) < events['pause'][0], 'ends: {}', events)
    with tap.test('teams that come again do not grow the file'):
        waits = whole(threads.Waits(run('nested').ended(0).directory))
        inner = [r for r in waits.regions if r.level == 2]
        equal('inner', (total(inner, 'count'), total(inner, 'threads')), (400, 800))
        check(len(waits.team) <= 4 * len(waits.threads), 'records: {}', len(waits.team))
        waits = whole(threads.Waits(run('teams').ended(0).directory))
        equal('teams', (total(waits.regions, 'count'), total(waits.regions, 'threads')), (150, 450))
        equal('critical', total(of(waits, '.gomp_critical_user_shared_by_teams'), 'acquired'), 450)
    with tap.test('one thread waits for nobody, whatever keeps it'):
        alone_waits_for_nobody(whole(threads.Waits(run('alone').ended(0).directory)))
    with tap.test('a team that is too large is counted'):
        waits = threads.Waits(run('large').ended(0).directory)
        equal('lost', [(r.threads, r.lost) for r in waits.regions], [(300, 44)])
    with tap.test('a fork in a region: nothing of the child is in the file'):
        waits = whole(threads.Waits(run('forked').ended(0).directory))
        equal('regions', sorted((r.count, r.threads, r.open) for r in waits.regions), [(1, 1, 0), (50, 100, 0)])
    with tap.test('exit() in a region'):
        waits = threads.Waits(run('exit').ended(3).directory)
        equal('regions', [(r.count, r.open > 0) for r in waits.regions], [(0, True)])
    with tap.test('killed where it waits, or in a task that is run there'):
        for more in ([], ['in']):
            waits = threads.Waits(threads.record([program, 'hung'] + more, *OPTIONS, env=passive).directory)
            kind = [t.wait_kind for t in waits.threads if t.wait_begin]
            equal('waits', kind, [] if more else ['omp'])


def fortran_locks(waits, truth):
    contended = [r for r in waits.records if r.kind == 'omp' and r.operation == 'lock' and r.wait > 1e6]
    near(truth, 'lock', total(contended, 'wait'), waits=3)
    equal('criticals', total(of(waits, '.gomp_critical_user_tally'), 'acquired'), 9)
    equal('regions', sorted(r.threads for r in waits.regions), [3, 3])


def main():
    tap = harness.Tap()
    program = threads.build('omp.c', '-fopenmp')
    for team, policy in ((4, 'passive'), (4, 'active'), (1, 'passive')):
        who = '{} thread(s), {}'.format(team, policy)
        known(tap, who, lambda: threads.record([program, str(team)], *OPTIONS, env={'OMP_WAIT_POLICY': policy}), team)
    for mpi in harness.an_mpi(tap):
        program = threads.build('omp.c', '-fopenmp', '-DWITH_MPI', compiler=mpi.cc, output='omp.' + str(mpi))
        known(
            tap,
            str(mpi),
            lambda: mpi.profile(program, 2, ['2'], options=['-q'] + OPTIONS, env={'OMP_WAIT_POLICY': 'passive'}),
            2,
        )
    with tap.test('everything else is as without us'):
        program = threads.build('omp_same.cpp', '-fopenmp')
        for cancel in ('true', 'false'):
            env = {'OMP_CANCELLATION': cancel, 'OMP_NUM_THREADS': '3', 'OMP_WAIT_POLICY': 'passive'}
            plain = harness.run([program], env=env).ended(0).out
            for options in (['--threads'], OPTIONS + ['--sample']):
                run = threads.record([program], *options, env=env).ended(0)
                equal('output', run.out, plain)
            waits = threads.Waits(run.directory)
            equal('damages', waits.damages, [])
            equal('untimed, if any', total(waits.regions, 'untimed') > 0, True)
    with tap.test('Fortran'):
        if harness.run(['sh', '-c', 'command -v gfortran']).rc:
            raise harness.Skip('no gfortran')
        lost = threads.build('../mpi/lost.c', '-c', output='lost.o')
        program = threads.build('omp_fortran.f90', lost, '-fopenmp', compiler='gfortran')

        def fortran():
            run = threads.record([program], *OPTIONS).ended(0)
            equal('output', rest(run), ['total 48'])
            return run.out, threads.Waits(run.directory)

        Measured(fortran).test(fortran_locks)
    with tap.test('a libgomp that only a plugin sees'):
        plugin = threads.build('omp_plugin.c', '-fopenmp', '-DPLUGIN', '-shared', '-fPIC', output='plugin.so')
        program = threads.build('omp_plugin.c', output='omp_plugin')
        run = threads.record([program, plugin], *OPTIONS).ended(0)
        equal('output', run.out, 'sum 42\n')
        waits = threads.Waits(run.directory)
        equal(
            'regions', [(r.count, r.threads, r.names[:2]) for r in waits.regions], [(1, 3, ['plugin_sum', 'main'])] * 2
        )
        equal('criticals', total(of(waits, '.gomp_critical_user_sums'), 'acquired'), 6)
    cases(tap)
    tap.done()


if __name__ == '__main__':
    main()
