#!/usr/bin/env python3
"""Locks of every kind and every odd case return what they return without fvmpi; what becomes of records then."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import threads
import harness
from report import check, equal
from threads import total


def objects(waits, name):
    return sorted((o for o in waits.objects.values() if o.name == name), key=lambda o: o.id)


def main():
    tap = harness.Tap()
    program = threads.build('semantics.c')
    plain = harness.run([program]).ended(0)
    check(plain.out.count('\n') > 150, 'output: {}', plain.out)
    for options in (['--threads'], ['--threads=hold,owner'], ['--threads=hold', '--sample=200'],
                    ['--threads', '--profile-max=64k']):
        with tap.test('the same codes, {}'.format(' '.join(options))):
            run = threads.record([program], '--clock=monotonic', *options).ended(0)
            equal('output', run.out, plain.out)
            equal('warnings', run.err if '--sample=200' not in options else '', '')
            waits = threads.Waits(run.directory)
            equal('damages', waits.damages, [])
            lost = sum(t.overflow for t in waits.threads)
            check((lost > 0) == (options[-1] == '--profile-max=64k'), 'lost for want of room: {}', lost)
            equal('they are counted all the same', total([r for r in waits.records if not r.object], 'acquired') +
                  total([r for r in waits.records if not r.object], 'failed') > 0, lost > 0)
            if options == ['--threads=hold,owner']:
                kept = waits
    waits = kept
    with tap.test('an address that is used again is another object'):
        places = objects(waits, 'place')
        equal('uses', [total(waits_of(waits, o), 'acquired') for o in places], [1, 2, 3])
        equal('retired', [o.retired > 0 for o in places], [True, True, False])
        check(all(a.retired <= b.first for a, b in zip(places, places[1:])), 'in order: {}', places)
    with tap.test('a thread that ends holding a lock'):
        equal('held', total(waits.of('left'), 'held_at_end'), 1)
        equal('holds', total(waits.of('left'), 'holds'), 0)
    with tap.test('a recursive lock is held once'):
        records = waits.of('recursive')
        equal('counts', (total(records, 'acquired'), total(records, 'holds')), (3, 1))
        check(total(records, 'hold') > 10e6, 'held for {}', total(records, 'hold'))
    with tap.test('64 threads'):
        records = waits.of('many_lock')
        equal('acquired', total(records, 'acquired'), 64 * 500)
        equal('holds', total(records, 'holds'), 64 * 500)
    with tap.test('locks of the child of a fork are not ours'):
        equal('forked', total(waits.of('forked'), 'acquired'), 1)
    with tap.test('locks before main'):
        equal('early', [o.names for o in objects(waits, 'early')], [['before_main']])
    for mpi in harness.mpis(tap):
        with tap.test('{}: a program that never starts MPI'.format(mpi)):
            library = os.path.join(harness.LIBS, 'libfvmpi-{}-threads.so'.format(mpi))
            preload = ':'.join(filter(None, [os.environ.get('FVMPI_TEST_SANITIZER'), library]))
            run = harness.run([program], env={'LD_PRELOAD': preload, 'FVMPI_THREADS': 'hold'}).ended(0)
            equal('output', (run.out, run.err), (plain.out, ''))
    with tap.test('a handler that posts in between is counted'):
        posts = total(waits.of('posted', operation='post'), 'acquired') + sum(t.missed for t in waits.threads)
        check(posts > 1, 'posts: {}', posts)
    tap.done()


def waits_of(waits, thing):
    return [r for r in waits.records if r.object == thing.id]


if __name__ == '__main__':
    main()
