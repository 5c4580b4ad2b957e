#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Eight threads that share objects, make and destroy others, and make threads: every operation is counted once. Built
for ThreadSanitizer (./dev tsan), which sees fvmpi's tables as the threads use them: no races."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from report import equal
from threads import total

THREADS, ROUNDS, BRIEF = 8, 80, 8 * 10  # brief: one for each eight rounds


def counts(waits):
    equal('damages', waits.damages, [])
    equal(
        'lost',
        [(t.overflow, t.missed, t.lives_lost) for t in waits.threads if t.overflow or t.missed or t.lives_lost],
        [],
    )
    kinds = {
        kind: total([r for r in waits.records if r.kind == kind and r.operation != 'post'], 'acquired')
        for kind in ('mutex', 'rwlock', 'spin', 'sem', 'join')
    }
    each = THREADS * ROUNDS
    equal(
        'kinds',
        kinds,
        {
            'mutex': 2 * each + BRIEF + THREADS,
            'rwlock': 2 * each,
            'spin': each,
            'sem': 2 * each,
            'join': BRIEF + THREADS,
        },
    )
    equal(
        'of the shared ones',
        (total(waits.of('stressed'), 'acquired'), total(waits.of('both_ways'), 'acquired')),
        (each + BRIEF, each),
    )
    equal('posts', total(waits.of('given', operation='post'), 'acquired'), each)
    equal('last', (total(waits.of('together'), 'last'), total(waits.of('together'), 'acquired')), (20, 20 * THREADS))
    equal(
        'lives', len([life for life in waits.lives if life.creator >= 0 and life.join_end >= life.end]), BRIEF + THREADS
    )


def main():
    tap = harness.Tap()
    is_tsan = 'thread' in os.environ.get('SANITIZE_FLAGS', '')
    program = threads.build('stress.c')
    plain = harness.run([program, str(ROUNDS)]).ended(0)
    for options in (['--threads'], ['--threads=hold,owner'], ['--threads=hold,owner', '--trace']):
        with tap.test(' '.join(options)):
            run = threads.record([program, str(ROUNDS)], '--clock=monotonic', *options).ended(0)
            equal('output', run.out, plain.out)
            equal('warnings', run.err, '')
            if not is_tsan:  # which begins threads below us
                counts(threads.Waits(run.directory))
    tap.done()


if __name__ == '__main__':
    main()
