#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it delays the sampler's signals.
"""Whole instances of functions, sampled: every one is accounted for, known durations are found again, and programs that
use SIGTRAP, fork, longjmp and exceptions run as without. What else breaks samplers is in breaks.t."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples
from measured import repeat
from report import check, equal
from samples import accounts, compile_with, sampled


def only(rank, name, *callers):
    found = [c for c in rank.contexts if c.name == name and tuple(c.callers[: len(callers)]) == callers]
    check(len(found) == 1, '{} of {} called by {}: {}', len(found), name, callers, [str(c) for c in rank.contexts])
    return found[0]


def means(run, rank):
    """Durations found again, in units of what `constant` took for its 2000."""
    truth = {f[1]: float(f[2]) for f in (line.split() for line in run.out.splitlines()) if f[0] == 'truth'}
    unit = only(rank, 'constant').mean() / 2000
    for name in ('alternating', 'blocks', 'period', 'drift', 'steady_caller', 'varying_caller'):
        wanted = {'steady_caller': 2000, 'varying_caller': 2750}.get(name) or truth[name]
        c = only(rank, name)
        check(c.returns >= 20, 'few instances: {}', c)
        check(abs(c.mean() / unit - wanted) < 0.35 * wanted, '{} units, not {}: {}', c.mean() / unit, wanted, c)


def ranking(_, rank):
    """The spread tells the steady from the varying, also where one function has callers of both kinds."""
    spread = {n: only(rank, n).spread() for n in ('constant', 'alternating', 'blocks', 'period', 'drift')}
    steady, varying = only(rank, 'steady_caller').spread(), only(rank, 'varying_caller').spread()
    check(all(spread[n] > 1.5 * spread['constant'] for n in ('alternating', 'blocks', 'drift')), 'spreads: {}', spread)
    check(varying > 1.5 * steady, 'callers: {} and {}', steady, varying)
    check(all(only(rank, n).variation() > 0.25 for n in spread if n != 'constant'), 'variations')


def measured(patterns):
    run = sampled([patterns, '3'], 500).ended(0)
    (rank,) = samples.read(run.directory)
    return run, rank


def held_back(patterns):
    """With a budget of a third of what instances cost on this machine where they may cost what they want."""
    rate, seconds, percent = 5000, 0.3, 100
    for _ in range(4):
        run = sampled([patterns, str(seconds)], rate, options=['--sample-budget={}'.format(percent)]).ended(0)
        (s,) = samples.read(run.directory)[0].samplers
        cost = s['tool_ns'] * 1e-9
        if s['held_back']:
            break
        check(cost <= 0.01 * percent * (seconds + 1), '{} s in {} s, with {} %: not held back', cost, seconds, percent)
        cost, usual = cost / seconds, s['ticks'] / seconds
        if cost < 0.02:
            raise harness.Skip(
                'sampling {} times a second takes {:.1f} % of the time: no budget is below that'.format(
                    rate, 100 * cost
                )
            )
        percent = max(int(100 * cost / 3), 1)
        # in a third of it what is there for the first second is used up
        seconds = 3 * 0.01 * percent / (cost - 0.01 * percent)
    check(s['held_back'] > s['ticks'] // 4, 'not held back by {} %: {}', percent, s)
    check(s['returns'] > 0, 'no instances: {}', s)
    check(s['ticks'] / seconds > 0.5 * usual, 'ticks: {} a second, {} before', s['ticks'] / seconds, usual)
    equal('told', run.report().data['sampling']['held_back_ticks'], s['held_back'])


def serial(tap, patterns):
    with tap.test('patterns: every instance is accounted for'):
        run, rank = measured(patterns)
        accounts(rank)
        equal('open at the end', rank.samplers[0]['open'], 0)
        check(rank.samplers[0]['ticks'] > 300, 'ticks: {}', rank.samplers[0])
    for what, judge in (('durations', means), ('variation', ranking)):
        with tap.test('patterns: ' + what):
            runs = iter([(run, rank)])
            repeat(lambda: judge(*next(runs, None) or measured(patterns)))
    with tap.test('many samples: instances stay within their budget, ticks go on'):
        held_back(patterns)
    with tap.test('patterns: costs lie where the work is'):
        work = sum(n for path, n in rank.costs.items() if path[0] == 'work' and 'main' in path)
        check(work > 0.9 * sum(rank.costs.values()), '{} of {}', work, sum(rank.costs.values()))
    with tap.test('report: the same numbers, and the culprits'):
        functions = run.report().sampled()
        equal('samples', sum(f['sample_count'] for f in functions), rank.samplers[0]['returns'])
        for name in ('constant', 'alternating', 'period'):
            (f,) = [f for f in functions if f['function'] == name]
            c = only(rank, name)
            check(abs(f['mean'] * 1e9 - c.mean()) < 1e-6 * c.mean(), 'mean of {}: {} and {}', name, f, c)
            check(abs(f['cov'] - c.variation()) < 1e-6, 'variation of {}: {} and {}', name, f, c)
            check(0.02 < f['time_share'] < 0.3, 'share of {}: {}', name, f)
            equal('path of ' + name, f['path'][-1]['function'], 'main')
        check(any(f['varies'] and f['function'] == 'varying_caller' for f in functions), 'nothing varies')
    with tap.test('longjmp, recursion, tail calls'):
        (rank,) = samples.read(sampled([patterns, '1.5', 'oddities']).ended(0).directory)
        accounts(rank)
        jumper = [c for c in rank.contexts if c.name == 'jumper']
        check(sum(c.abandoned for c in jumper) > 0, 'none was abandoned: {}', jumper)
        recursion = [c for c in rank.contexts if c.name == 'recurse']
        check(sum(c.returns for c in recursion) > 0, 'no recursion: {}; {}', recursion, rank.samplers)
        same = max((c for c in jumper if c.callers[0] == 'same_site'), key=lambda c: c.returns)
        check(same.abandoned > 0 and same.returns > 8, 'left and returned: {}', same)
        times, whole = sorted(i[2] for i in same.reservoir), sorted(
            i[2] for i in only(rank, 'constant_again').reservoir
        )
        check(
            times[len(times) * 3 // 4] < 1.3 * whole[len(whole) * 3 // 4],
            'two calls measured as one: {} and {}',
            times,
            whole,
        )
        for name in ('tail_caller', 'tail_target'):
            check(only(rank, name).returns > 0, '{} did not return', name)
    with tap.test('Fortran'):
        (rank,) = samples.read(sampled([compile_with('gfortran', 'steps.f90', '-fno-inline')], 1000).ended(0).directory)
        accounts(rank)
        (step,) = [c for c in rank.contexts if c.name.startswith('step')]
        check(step.returns >= 10 and step.variation() > 0.3, 'half are three times as long: {}', step)
    with tap.test('C++ exceptions'):
        run = sampled([compile_with('c++', 'exceptions.cpp'), '1']).ended(0)
        equal('output', run.out, 'as expected: 1\n')
        (rank,) = samples.read(run.directory)
        accounts(rank)
        throwers = [c for c in rank.contexts if 'thrower' in c.name]
        check(sum(c.abandoned for c in throwers) > 0, 'none was abandoned: {}', [str(c) for c in rank.contexts])
        check(sum(c.returns for c in throwers) > 0, 'none returned: {}', [str(c) for c in rank.contexts])
    with tap.test('fork, exec, system()'):
        run = sampled([patterns, '0.4', 'children']).ended(0)
        check('children bad 0\n' in run.out, run.out)
        accounts(*samples.read(run.directory))
    with tap.test('killed: what was measured is there'):
        run = sampled([patterns, '0.5', 'killed'])
        (rank,) = samples.read(run.directory)
        accounts(rank)
        check(rank.samplers[0]['returns'] > 0, 'no instances')
    with tap.test('any run: ticks and nothing else; --sample=off: nothing'):
        for options in ((), ('--sample=off',)):
            directory = os.path.join(harness.scratch('exp'), 'e')
            harness.run(
                [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', *options, patterns, '0.1']
            ).ended(0)
            (rank,) = samples.read(directory)
            equal('samplers', len(rank.samplers), int(not options))
            for sampler in rank.samplers:
                check(sampler['ticks'] > 0 and not sampler['traps'] and not sampler['entries'], '{}', sampler)


def signals(tap, patterns):
    with tap.test('SIGTRAP blocked now and then'):
        (rank,) = samples.read(sampled([patterns, '0.6', 'blocked']).ended(0).directory)
        accounts(rank)
        check(rank.samplers[0]['late'] > 0, 'none came late: {}', rank.samplers[0])
    with tap.test('SIGTRAP handled by the application, and given back'):
        run = sampled([patterns, '0.6', 'handled']).ended(0)
        check('traps 1\n' in run.out, run.out)
        (rank,) = samples.read(run.directory)
        accounts(rank)
        check(rank.samplers[0]['returns'] > 0, 'no instances: {}', rank.samplers[0])
    with tap.test('SIGTRAP held, handled and ignored by sigset(), sigignore()'):
        native = harness.run([patterns, '0.01', 'held']).ended(0)
        check('held 1\n' in native.out, 'alone: {}', native.out)
        run = sampled([patterns, '0.5', 'held']).ended(0)
        check('held 1\n' in run.out, run.out)
        (rank,) = samples.read(run.directory)
        accounts(rank)
        check(rank.samplers[0]['returns'] > 0, 'no instances: {}', rank.samplers[0])
    with tap.test("the application's own SIGTRAP kills it, as without"):
        equal(
            'exit status',
            sampled([patterns, '0.2', 'raise']).rc,
            harness.run(
                [
                    harness.FVMPI,
                    'run',
                    '-q',
                    '-o',
                    os.path.join(harness.scratch('exp'), 'e'),
                    '--mpi',
                    'serial',
                    patterns,
                    '0.2',
                    'raise',
                ]
            ).rc,
        )
    with tap.test('SIGTRAP ignored from the start: refused in one line'):
        run = sampled([patterns, '0.2'], before=['sh', '-c', 'trap "" TRAP; exec "$0" "$@"']).ended(0)
        check(run.err.count('SIGTRAP') == 1 and run.err.count('\n') == 1, run.err)
        (rank,) = samples.read(run.directory)
        equal('samplers', [s['ticks'] for s in rank.samplers], [])


BYTES = 32  # of an exchange: two times eight, out and in


def with_mpi(tap):
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: MPI inside of instances'.format(mpi)):
            program = compile_with(mpi.cc, 'exchange.c')

            def attempt(seconds):
                run = mpi.profile(program, 2, [str(seconds)], options=['--sample=400', '-q']).ended(0)
                equal('output', run.out, 'total 1\n' * 2)
                return run, samples.read(run.directory)

            def has_some(found):
                return all(
                    sum(c.returns for c in rank.contexts if c.name == name) >= 5
                    for rank in found[1]
                    for name in ('exchange', 'compute')
                )

            run, ranks = samples.enough(has_some, attempt, 0.5)
            (both,) = [f for f in run.report().sampled('mpi_calls') if f['function'] == 'exchange']
            equal(
                'instances of both ranks',
                (both['sample_count'], both['rank_count'], round(both['mean'], 6)),
                (sum(only(r, 'exchange', 'main').returns for r in ranks), 2, 3),
            )
            for number, rank in enumerate(ranks):
                accounts(rank)
                c = only(rank, 'exchange', 'main')
                check(c.returns >= 5, 'few instances: {}', c)
                equal('MPI calls of {}'.format(c), round(c.mean('mpi_calls'), 6), 3)
                equal('MPI bytes of {}'.format(c), round(c.mean('mpi_bytes'), 6), BYTES)
                check(0 < c.mean('mpi') < c.mean('time'), 'MPI time {} of {}', c.mean('mpi'), c.mean('time'))
                equal('MPI calls of compute', only(rank, 'compute', 'main').mean('mpi_calls'), 0)
                if number == 1:
                    check(
                        c.mean('mpi') > 0.3 * c.mean('time'),
                        'rank 1 does not wait: {} {}',
                        c.mean('mpi'),
                        c.mean('time'),
                    )


def logged(tap):
    for mpi in harness.an_mpi(tap, quiet=True):
        with tap.test('{}: with a trace, each measured instance is in it'.format(mpi)):
            program = compile_with(mpi.cc, 'exchange.c')
            for rank in samples.enough(
                lambda ranks: all(len(rank.logged) > 260 for rank in ranks),
                lambda seconds: samples.read(
                    mpi.profile(
                        program, 2, [str(seconds)], options=['--sample=1500', '--sample-budget=100', '--trace', '-q']
                    )
                    .ended(0)
                    .directory
                ),
                2,
            ):
                accounts(rank)
                equal('instances', len(rank.logged), rank.samplers[0]['returns'] - rank.samplers[0]['log_lost'])
                check(len(rank.logged) > 260, 'less than a chunk holds: {}', len(rank.logged))
                ends = [end for _, _, _, end, _, _ in rank.logged]
                equal('order', ends, sorted(ends))
                for number, c in enumerate(rank.contexts):
                    mine = [i for i in rank.logged if i[1] == number]
                    equal('of {}'.format(c), len(mine), c.returns)
                    # where the window was found to be shorter, those before count in part
                    check(
                        c.window <= sum(i[5] == 'in_window' for i in mine),
                        '{} in the window: {}',
                        sum(i[5] == 'in_window' for i in mine),
                        c,
                    )
                    check(not mine or abs(sum(i[4] for i in mine) / len(mine) - c.mean()) < 1, 'CPU time of {}', c)
        with tap.test('{}: what exceeds the budget of the trace is counted'.format(mpi)):
            (rank,) = samples.enough(
                lambda ranks: ranks[0].samplers[0]['log_lost'],
                lambda seconds: samples.read(
                    mpi.profile(
                        program,
                        1,
                        [str(seconds)],
                        options=['--sample=3000', '--sample-budget=100', '--trace', '-q'],
                        env={'FVMPI_TRACE_MAX': '64K'},
                    )
                    .ended(0)
                    .directory
                ),
                0.8,
            )
            (sampler,) = rank.samplers
            equal('all', len(rank.logged) + sampler['log_lost'], sampler['returns'])
            check(sampler['log_lost'] > 0, 'none was lost: {}', sampler)
        with tap.test('{}: samples inside of MPI_Finalize and of wrappers'.format(mpi)):
            run = mpi.profile(program, 2, ['0.1'], options=['--sample=5000', '-q']).ended(0)
            equal('output', run.out, 'total 1\n' * 2)
            for rank in samples.read(run.directory):
                accounts(rank)


def main():
    tap = harness.Tap()
    patterns = compile_with('cc', 'patterns.c')
    first = sampled([patterns, '0.1'])
    if 'sampled' in first.err:
        with tap.test('sampling'):
            raise harness.Skip(first.err.strip())
        tap.done()
    serial(tap, patterns)
    signals(tap, patterns)
    with_mpi(tap)
    logged(tap)
    tap.done()


if __name__ == '__main__':
    main()
