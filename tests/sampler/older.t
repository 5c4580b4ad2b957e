#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sampling as on older systems: without the C library's _dl_find_object() (before glibc 2.35), without events that
signal as SIGTRAP (before Linux 5.19). FVMPI_WITHOUT says what is not to be used here."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples
from report import check, equal
from samples import accounts, compile_with, sampled

NO_FIND = {'FVMPI_WITHOUT': 'find_object'}


def rank_of(done):
    (rank,) = samples.read(done.ended(0).directory)
    accounts(rank)
    return rank


def share(rank, *names):
    """Of the samples, how many have all these functions in their call path."""
    return sum(n for path, n in rank.costs.items() if all(name in path for name in names)) / max(
        1, sum(rank.costs.values())
    )


def unwinding(tap):
    with tap.test("the unwinder against libunwind: the loader's objects read before"):
        done = harness.run([os.path.join(harness.BUILD, 'tests', 'unit', 'test_sampler')], env=NO_FIND).ended(0)
        check('not ok' not in done.out and 'ok 1 - frames' in done.out, done.out)
    clock = compile_with('cc', 'clock.c', '-pthread')
    with tap.test('any run: where CPU time goes, with whole call paths'):
        rank = rank_of(sampled([clock, 'plain'], 'clock', env=NO_FIND))
        check(rank.samplers[0]['ticks'] >= 25, 'ticks: {}', rank.samplers)
        check(share(rank, 'busy', 'main') > 0.9, 'costs: {}', rank.costs)
        if not harness.SANITIZER:  # whose functions may stand in between
            equal('paths that were cut', rank.samplers[0]['cut'], 0)
    patterns = compile_with('cc', 'patterns.c')
    with tap.test('--sample: costs likewise'):
        rank = rank_of(sampled([patterns, '0.5'], 400, env=NO_FIND))
        check(rank.samplers[0]['ticks'] >= 25, 'ticks: {}', rank.samplers)
        check(share(rank, 'work', 'main') > 0.9, 'costs: {}', rank.costs)
    breaks = compile_with('cc', 'breaks.c', '-pthread', '-ldl')
    with tap.test('libraries that are opened and closed meanwhile: what has gone is not read'):
        plugins = [
            compile_with('cc', 'plugin.c', '-shared', '-fPIC', '-DEXTRA={}'.format(n), name='p{}.so'.format(n))
            for n in (0, 7)
        ]
        done = sampled([breaks, 'plugins'] + plugins, 1000, env=NO_FIND)
        rank = rank_of(done)
        equal('output', done.out, 'called 1\n')
        check(rank.samplers[0]['ticks'] >= 25, 'ticks: {}', rank.samplers)
    with tap.test('threads: each has whole call paths'):
        done = sampled([breaks, 'threads'], 500, env=NO_FIND)
        rank = rank_of(done)
        equal('output', done.out, 'joined 4\n')
        check(share(rank, 'task') > 0.5, 'costs: {}', rank.costs)


def signals(tap):
    patterns, breaks = compile_with('cc', 'patterns.c'), compile_with('cc', 'breaks.c', '-pthread', '-ldl')
    without = {'FVMPI_WITHOUT': 'sigtrap'}
    with tap.test('events that signal by their descriptors: what can be sampled is the same'):
        usual = rank_of(sampled([patterns, '0.5'], 400))
        rank = rank_of(sampled([patterns, '0.5'], 400, env=without))
        equal(
            'mode and what refuses the rest',
            [(s['mode'], s['refusal']) for s in rank.samplers],
            [(s['mode'], s['refusal']) for s in usual.samplers],
        )
        check(rank.samplers[0]['ticks'] >= 25, 'ticks: {}', rank.samplers)
        check(share(rank, 'work', 'main') > 0.9, 'costs: {}', rank.costs)
    with tap.test('likewise, in threads: none is killed while it makes others'):
        done = sampled([breaks, 'many'], 2000, env=without)
        accounts(rank_of(done))
        equal('output', done.out, 'joined 400\n')
    with tap.test('likewise, SIGTRAP blocked now and then, handled, and given back'):
        for way, output in (('blocked', ''), ('handled', 'traps 1\n')):
            done = sampled([patterns, '0.6', way], 400, env=without)
            accounts(rank_of(done))
            check(output in done.out, '{}: {}', way, done.out)
    with tap.test('likewise, whole instances: every one is accounted for'):
        done = sampled([patterns, '2'], 500, env=without)
        harness.needs_instances(done)
        rank = rank_of(done)
        check(
            sum(c.returns for c in rank.contexts if c.name == 'constant') > 5,
            'instances: {}',
            [str(c) for c in rank.contexts],
        )
    with tap.test('without breakpoints: costs, and one line that says so'):
        done = sampled([patterns, '0.3'], 400, env={'FVMPI_WITHOUT': 'breakpoints,sigtrap,find_object'})
        rank = rank_of(done)
        check('function calls are not measured' in done.err and done.err.count('\n') == 1, done.err)
        check(share(rank, 'work', 'main') > 0.9, 'costs: {}', rank.costs)


def main():
    tap = harness.Tap()
    unwinding(tap)
    signals(tap)
    tap.done()


if __name__ == '__main__':
    main()
