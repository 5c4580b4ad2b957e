#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Functions whose durations are known: the instances that were chosen without bias have their mean and their variation,
whatever the pattern (tests/unit/test_windows shows it of the choice alone). The truth is what the program says of the
same run: the work of its calls, and what a unit of work took by its own clock. Chance has its share: the standard error
of so many instances is allowed for, and a run on a busy machine may be repeated; what is counted must be right in
each."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples  # LONG: ./dev statistics
from measured import TRIES, repeat
from report import check, equal

# in the truth, function, called by
MEASURED = (
    ('constant', 'constant', 'all'),
    ('alternating', 'alternating', 'all'),
    ('blocks', 'blocks', 'all'),
    ('period', 'period', 'all'),
    ('drift', 'drift', 'all'),
    ('rare', 'rare', 'all'),
    ('steady', 'steady_caller', 'all'),
    ('varying', 'varying_caller', 'all'),
    ('steady', 'callee', 'steady_caller'),
    ('varying', 'callee', 'varying_caller'),
    ('recurse', 'recurse', 'all'),
    ('deep', 'deep', 'all'),
    ('tail', 'tail_caller', 'all'),
)
TOLERANCE = 0.10
ENOUGH = 8  # instances
GAP_CHAIN = 4  # entries that one look for gaps takes at most (src/sampler/window.c)


class Truth:
    def __init__(self, text):
        lines = [line.split() for line in text.splitlines()]
        self.of = {f[1]: tuple(float(x) for x in f[2:]) for f in lines if f[0] == 'truth'}
        (self.unit_ns,) = [float(f[1]) for f in lines if f[0] == 'unit']

    def mean_ns(self, name):
        return self.of[name][1] * self.unit_ns

    def variation(self, name):
        return self.of[name][2]


def run(program, seconds, what='all', rate=500, env=None):
    directory = os.path.join(harness.scratch('exp'), 'e')
    done = harness.run(
        [
            harness.FVMPI,
            'run',
            '-q',
            '-o',
            directory,
            '--mpi',
            'serial',
            '--sample={}'.format(rate),
            program,
            str(seconds),
            what,
        ],
        directory=directory,
        env=env,
    ).ended(0)
    harness.needs_instances(done)
    (rank,) = samples.read(directory)
    accounts(rank)
    equal(
        'by breakpoints alone',
        [s['by_breakpoints'] for s in rank.samplers],
        [int(bool(env) or os.uname().machine == 'aarch64')],
    )
    return Truth(done.out), rank


def accounts(rank):
    """Of what began, all ended, one way or the other."""
    equal('damages', rank.damages, [])
    (sampler,) = rank.samplers
    equal('entries', sampler['entries'], sampler['returns'] + sampler['abandoned'])
    for key in ('entries', 'returns', 'abandoned'):
        equal(key + ' of contexts', sum(getattr(c, key) for c in rank.contexts), sampler[key])


def only(rank, name, caller):
    """Where main() was inlined into, or not, `all` is the caller's name."""
    found = [
        c
        for c in rank.contexts
        if c.name == name
        and c.callers
        and (c.callers[0] == caller or caller == 'all' and c.callers[0] in ('main', '_ZL3alli'))
    ]
    check(
        len(found) == 1,
        '{} contexts of {} in {}: {}',
        len(found),
        name,
        caller,
        [str(c) for c in rank.contexts if c.name == name],
    )
    return found[0]


def off(rank, c, truth, variation):
    """Is the mean in the window further off than 10 %, chance apart? A machine that takes the processor away, and
    counts that as CPU time, adds to the variation. What a trap costs is subtracted as it was calibrated, which the
    sampler says how well it knows: of a function that calls itself, the traps that look for its gaps are within its
    instances, too."""
    (sampler,) = rank.samplers
    trap = sampler['trap_spread_ticks'] * sampler['trap_ns'] / max(sampler['trap_ticks'], 1)
    traps = 1 + GAP_CHAIN if c.name == 'recurse' else 1
    error = max(variation, c.variation(which='in_window')) / c.window**0.5
    return abs(c.mean(which='in_window') - truth) > (TOLERANCE + 2.5 * error) * truth + traps * trap


def patterns(program, env=None):
    """Each within 10 % in one run of three at least: chance and a busy machine spoil one function in this run and
    another in the next, a choice that is biased spoils the same one in each."""
    wrong = set(MEASURED)
    for _ in range(TRIES):
        truth, rank = run(program, 4, env=env)
        seen, still = {}, []
        for known, name, caller in MEASURED:
            c = only(rank, name, caller)
            mean, cov = truth.mean_ns(known), truth.variation(known)
            if name != 'callee' or known == 'steady':  # of the other there are few
                check(c.returns >= 20, 'few instances: {}', c)
            if c.window >= ENOUGH:
                seen[known, name, caller] = (cov, c.variation(which='in_window'), c.window)
                if off(rank, c, mean, cov):
                    still.append('{:.0f} ns expected, cov {:.2f}: {}'.format(mean, cov, c))
                    continue
            wrong.discard((known, name, caller))
        in_order(seen)
        if not wrong:
            return
        print('\n'.join('# another run: ' + s for s in still))
    check(False, 'off in each run: {}', sorted(wrong))


def in_order(seen):
    """The truly steadier one must look steadier; the estimate of a variation is off by about cov / sqrt(2 n)."""
    for a, (true_a, cov_a, n_a) in seen.items():
        for b, (true_b, cov_b, n_b) in seen.items():
            if true_b > true_a + 0.2 and true_b > 1.4 * true_a and min(n_a, n_b) >= 25:
                check(
                    cov_a < cov_b, 'variation of {}: {}, of {}: {}; truly {} and {}', a, cov_a, b, cov_b, true_a, true_b
                )


def left(program, env=None):
    # fewer debug registers for entries, and those around one that was left are given up
    truth, rank = run(program, 1.5 if env else 0.7, 'left', env=env)
    samples.a_third_left(rank, 30, 1.4, 10)


def alone(program, what):
    """A function that follows itself: the next instance after a sample is no fair choice, the window's is."""
    truth, rank = run(program, 2, what)
    c = only(rank, what, 'all')
    mean, cov = truth.mean_ns(what), truth.variation(what)
    check(c.window >= 40, 'few in the window: {}', c)
    check(abs(c.mean() / mean - 1) > 0.12, 'all instances are not biased, so this shows nothing: {} of {}', c, mean)
    check(not off(rank, c, mean, cov), '{} ns expected: {}', mean, c)


def often(program, what):
    """The mean of many runs is nearer to the truth than one."""
    runs = []
    for _ in range(8):
        truth, rank = run(program, 2, what)
        c = only(rank, what, 'all')
        runs.append(
            (c.mean(which='in_window') / truth.mean_ns(what) - 1, c.variation(which='in_window') / c.window**0.5)
        )
    bias = sum(b for b, _ in runs) / len(runs)
    error = sum(e * e for _, e in runs) ** 0.5 / len(runs)
    check(abs(bias) < 0.05 + 2.5 * error, 'biased by {:.3f}, chance explains {:.3f}: {}', bias, error, runs)


def main():
    tap = harness.Tap()
    program = os.path.join(harness.scratch('bin'), 'known')
    harness.run(['c++', '-O2', '-g', '-Wall', '-Wextra', os.path.join(HERE, 'known.cpp'), '-o', program]).ended(0)
    with tap.test('thirteen patterns: means within 10 %, variations in order'):
        repeat(lambda: patterns(program))
    with tap.test('exceptions, longjmp: a third is left'):
        repeat(lambda: left(program))
    by_breakpoints = {'FVMPI_WITHOUT': 'watchpoints'}  # as on AArch64
    if samples.LONG:
        with tap.test('without watchpoints, the same: patterns'):
            repeat(lambda: patterns(program, by_breakpoints))
    with tap.test('without watchpoints, the same: exceptions, longjmp'):
        repeat(lambda: left(program, by_breakpoints))
    for what in ('alternating', 'blocks') if samples.LONG else ('blocks',):
        with tap.test('{} alone: biased, but not in the window'.format(what)):
            repeat(lambda: alone(program, what))
        if samples.LONG:
            with tap.test('{} alone, eight times'.format(what)):
                repeat(lambda: often(program, what))
    tap.done()


if __name__ == '__main__':
    main()
