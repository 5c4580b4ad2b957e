#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it does not support small stacks or the cancellation of threads.
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""Locks of every kind and every odd case return what they return without fvmpi; what becomes of records then."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
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
    for options in (
        ['--threads'],
        ['--threads=hold,owner'],
        ['--threads=hold', '--sample=200'],
        ['--threads', '--profile-max=64k'],
    ):
        with tap.test('the same codes, {}'.format(' '.join(options))):
            run = threads.record([program], '--clock=monotonic', *options).ended(0)
            equal('output', run.out, plain.out)
            equal('warnings', run.err if '--sample=200' not in options else '', '')
            waits = threads.Waits(run.directory)
            equal('damages', waits.damages, [])
            lost = sum(t.overflow for t in waits.threads)
            check((lost > 0) == (options[-1] == '--profile-max=64k'), 'lost for want of room: {}', lost)
            equal(
                'they are counted all the same',
                total([r for r in waits.records if not r.object], 'acquired')
                + total([r for r in waits.records if not r.object], 'failed')
                > 0,
                lost > 0,
            )
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
    with tap.test('a lock that others release is held from its last acquisition on'):
        records = waits.of('handed')
        equal('counts', (total(records, 'acquired'), total(records, 'holds')), (4, 1))
        check(total(records, 'hold') > 10e6, 'held for {}', total(records, 'hold'))
    with tap.test('a robust recursive lock does not wait for its holder'):
        records = waits.of('robust_lock')
        equal('counts', (total(records, 'acquired'), total(records, 'contended'), total(records, 'holds')), (3, 0, 1))
    with tap.test('64 threads'):
        records = waits.of('many_lock')
        equal('acquired', total(records, 'acquired'), 64 * 500)
        equal('holds', total(records, 'holds'), 64 * 500)
    with tap.test('locks of the child of a fork are not ours'):
        equal('forked', total(waits.of('forked'), 'acquired'), 1)
    with tap.test('locks before main'):
        equal('early', [o.names for o in objects(waits, 'early')], [['before_main']])
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: a program that never starts MPI'.format(mpi)):
            library = os.path.join(harness.LIBS, 'libfvmpi-{}-threads.so'.format(mpi))
            preload = ':'.join(filter(None, [os.environ.get('FVMPI_TEST_SANITIZER'), library]))
            run = harness.run([program], env={'LD_PRELOAD': preload, 'FVMPI_THREADS': 'hold'}).ended(0)
            equal('output', (run.out, run.err), (plain.out, ''))
    with tap.test('a handler that posts in between is counted'):
        posts = total(waits.of('posted', operation='post'), 'acquired') + sum(t.missed for t in waits.threads)
        check(posts > 1, 'posts: {}', posts)
    program = threads.build('semantics.cpp', '-std=c++20')
    plain = harness.run([program]).ended(0)
    with tap.test('C++: the same output'):
        run = threads.record([program], '--threads=hold,owner', '--clock=monotonic').ended(0)
        equal('output', (run.out, run.err), (plain.out, ''))
        waits = threads.Waits(run.directory)
        equal('damages', waits.damages, [])
    with tap.test('C++: what of it are POSIX locks is seen'):
        kinds = {o.name: o.kind for o in waits.objects.values() if o.name and o.name.startswith('_ZL')}
        equal(
            'kinds',
            kinds,
            {
                '_ZL7a_mutex': 'mutex',
                '_ZL7a_timed': 'mutex',
                '_ZL8a_shared': 'rwlock',
                '_ZL11a_recursive': 'mutex',
                '_ZL6a_once': 'once',
            },
        )
        equal('of call_once()', [(r.acquired, r.last) for r in waits.of('_ZL6a_once')], [(1, 1)])
    program = threads.build('c11.c')
    plain = harness.run([program]).ended(0)
    for options in (['--threads'], ['--threads=hold,owner', '--trace'], ['--sample']):
        with tap.test('C11: the same output, {}'.format(' '.join(options))):
            run = threads.record([program], '--clock=monotonic', *options).ended(0)
            equal('output', run.out, plain.out)
            equal('threads', sum(int(s['threads']) for s in harness.dumped(run.directory, 'threads')), 4)
            if options == ['--threads=hold,owner', '--trace']:
                waits = threads.Waits(run.directory)
    with tap.test('C11: locks, conditions and joins'):
        equal('damages', waits.damages, [])
        again = {how: waits.of('again', operation=how) for how in ('lock', 'try', 'timed')}
        equal(
            'again',
            {how: (total(r, 'acquired'), total(r, 'failed')) for how, r in again.items()},
            {'lock': (3, 0), 'try': (0, 1), 'timed': (0, 2)},
        )
        check(total(waits.of('turned', operation='wait'), 'wait') > 15e6, 'waited {}', waits.of('turned'))
        equal('once', [(r.acquired, r.last) for r in waits.of('once')], [(1, 1)])
        equal(
            'joins',
            sorted((o.name, total(waits_of(waits, o), 'acquired')) for o in waits.objects.values() if o.kind == 'join'),
            [('holds', 1), ('tries', 2)],
        )
        equal(
            'lives',
            sorted((life.routine, life.join_names[0]) for life in waits.lives if life.creator >= 0),
            [('holds', 'main'), ('tries', 'elsewhere'), ('tries', 'elsewhere')],
        )
    tap.done()


def waits_of(waits, thing):
    return [r for r in waits.records if r.object == thing.id]


if __name__ == '__main__':
    main()
