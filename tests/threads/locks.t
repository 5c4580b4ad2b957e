#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""What threads wait for: programs that measure their own waits find them again, at the right objects and call sites,
under the serial flavour and both MPIs."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from measured import Measured
from report import check, equal
from threads import total

ROUNDS = 6
OPTIONS = ['--threads=hold,owner', '--clock=monotonic']


def sites(records, key):
    """Functions that called, of records with some `key`."""
    return sorted({r.names[0] for r in records if r[key]})


def whole(waits, truth):
    equal('damages', waits.damages, [])
    for r in waits.records:
        check(
            r.contended <= r.acquired
            and sum(int(n) for n in str(r.wait_histogram).split(',')) <= r.contended + r.failed,
            'counts: {}',
            r,
        )
        check(r.object in waits.objects, 'object of {}', r)
    for t in waits.threads:
        mine = [r for r in waits.records if r.thread == t.thread]
        for kind in threads.KINDS[:-1]:
            equal('{} of thread {}'.format(kind, t.thread), t[kind], total([r for r in mine if r.kind == kind], 'wait'))
        equal('overflow', (t.overflow, t.holds_lost, t.missed, t.lives_lost), (0, 0, 0, 0))


def mutex(waits, truth):
    truth.near('contended', total(waits.of('contended'), 'wait'))
    equal('who waits', sites(waits.of('contended'), 'wait'), ['waiter'])
    waiting = waits.of('contended', flags=0)
    equal('whole path', [r.names[0] for r in waiting], ['waiter'])
    equal('contended', (total(waiting, 'contended'), total(waits.of('contended'), 'acquired')), (ROUNDS, 2 * ROUNDS))
    held = [r for r in waits.of('contended') if r.names[0] == 'holder']
    truth.near('held', total(held, 'hold'), 'contended_held')
    equal('holds', total(held, 'holds'), ROUNDS)
    equal('waits in its way', total(held, 'blocked'), ROUNDS)
    equal('their time', total(held, 'blocked_ticks'), total(waiting, 'wait'))
    equal('owner changes', total(waits.of('contended'), 'owner_changes'), 2 * ROUNDS - 1)


def uncontended(waits, truth):
    (r,) = waits.of('free_lock')
    equal('counts', (r.acquired, r.contended, r.failed, r.wait, r.holds, r.flags), (1000, 0, 0, 0, 1000, 'site'))
    equal('site', r.names, ['uncontended'])


def convoy(waits, truth):
    truth.near('convoy', total(waits.of('convoy'), 'wait'))
    equal('acquired', total(waits.of('convoy'), 'acquired'), 4 * ROUNDS)
    equal('whose', sites(waits.of('convoy'), 'wait'), ['in_convoy'])
    check(total(waits.of('convoy'), 'hold') >= 4 * ROUNDS * 2e6, 'held: {}', total(waits.of('convoy'), 'hold'))


def queue(waits, truth):
    truth.near('filled', total(waits.of('filled'), 'wait'))
    equal('who waits', sites(waits.of('filled', operation='wait'), 'acquired'), ['consumer'])
    (signals,) = waits.of('filled', operation='signal')
    equal('signals', (signals.acquired, signals.names[0]), (2 * ROUNDS, 'producer'))
    check(total(waits.of('queue_lock'), 'hold') < 0.5 * truth['filled'], 'waiting counts as holding')


def readers(waits, truth):
    truth.near('starved', total(waits.of('starved', operation='timed'), 'wait'))
    equal('in vain', total(waits.of('starved', operation='timed'), 'failed'), truth['timeouts'])
    check(total(waits.of('starved', operation='read'), 'acquired') >= 1, 'readers')
    equal('who', sites(waits.of('starved'), 'wait')[-1:], ['writer'])


def spin(waits, truth):
    truth.near('spun', total(waits.of('spun'), 'wait'))
    equal('acquired', total(waits.of('spun'), 'acquired'), 2 * ROUNDS)


def barrier(waits, truth):
    waiting = waits.of('uneven')
    truth.near('uneven', total(waiting, 'wait'))
    last = [r for r in waiting if r.last]
    equal('last', (total(last, 'last'), total(waiting, 'acquired')), (ROUNDS, 4 * ROUNDS))
    equal(
        'last, of each',
        sorted(r.last for r in last),
        sorted(n for i in range(4) for n in [truth['last' + str(i)]] if n),
    )
    equal('parties', [o.parties for o in waits.objects.values() if o.name == 'uneven'], [4])


def semaphore(waits, truth):
    truth.near('tokens', total(waits.of('tokens', operation='wait'), 'wait'))
    equal('posts', total(waits.of('tokens', operation='post'), 'acquired'), ROUNDS)
    equal('taken', total(waits.of('tokens', operation='wait'), 'acquired'), ROUNDS)


def once(waits, truth):
    truth.near('once', total(waits.of('once'), 'wait'))
    equal('ran', (total(waits.of('once'), 'last'), total(waits.of('once'), 'acquired')), (1, 2))


def lives(waits, truth):
    truth.near('late', total(waits.of('late', 'join'), 'wait'))
    equal('who', sites(waits.of('late', 'join'), 'wait'), ['joins'])
    lives = [life for life in waits.lives if life.creator >= 0]
    equal('threads', len(lives), 2 + 4 + 2 + 2 + 4 + 2 + 2 + 1 + 4)
    for life in lives:
        check(0 < life.created <= life.begin < life.end and life.join_end >= life.join_begin > 0, 'order: {}', life)
        check(life.join_end >= life.end - 1e6 and life.joiner == life.creator, 'join: {}', life)
        check(life.wait_at_end >= life.wait_at_begin, 'waits: {}', life)
    (late,) = [life for life in lives if life.routine == 'late']
    equal('made and joined', (late.create_names[:2], late.join_names[:2]), (['joins', 'main'],) * 2)
    check(39e6 < late.end - late.begin < late.join_end - late.created, 'late lived {}', late)
    at_barrier = [life.wait_at_end - life.wait_at_begin for life in lives if life.routine == 'at_barrier']
    truth.near('waits in lives', sum(at_barrier), 'uneven')


TESTS = (
    ('the file is whole', whole),
    ('a mutex that another holds', mutex),
    ('an uncontended mutex', uncontended),
    ('a convoy', convoy),
    ('a queue', queue),
    ('readers and a writer that starves', readers),
    ('a spin lock', spin),
    ('an uneven barrier', barrier),
    ('a semaphore', semaphore),
    ('once', once),
    ('joins and lives', lives),
)


def known(tap, who, make):
    def run():
        run = make().ended(0)
        return run.out, threads.Waits(run.directory)

    measured = Measured(run)
    for name, judge in TESTS:
        with tap.test('{}: {}'.format(who, name)):
            measured.test(judge)


def races(tap):
    """ThreadSanitizer stands between the program and us, so that sites and beginnings are its own: only races are
    seen."""
    with tap.test('no races'):
        run = threads.record([threads.build('known.c')], *OPTIONS).ended(0)
        check('ThreadSanitizer' not in run.err, '{}', run.err)
        equal('locks', sum(r.acquired for r in threads.Waits(run.directory).of('convoy')), 4 * ROUNDS)
    tap.done()


def main():
    tap = harness.Tap()
    if 'thread' in os.environ.get('SANITIZE_FLAGS', ''):
        races(tap)
    program = threads.build('known.c')
    known(tap, 'serial', lambda: threads.record([program], *OPTIONS))
    for mpi in harness.an_mpi(tap):
        program = threads.build('known.c', '-DWITH_MPI', compiler=mpi.cc, output='known.' + str(mpi))
        known(tap, str(mpi), lambda: mpi.profile(program, 2, options=['-q'] + OPTIONS))
    with tap.test('the plain library says what is missing'):
        program = threads.build('known.c')
        env = {
            'LD_PRELOAD': os.path.join(harness.LIBS, 'libfvmpi-serial.so'),
            'FVMPI_THREADS': '1',
            'FVMPI_OUTPUT': os.path.join(harness.scratch('exp'), 'e'),
        }
        if not os.environ.get('SANITIZE_FLAGS'):
            said = harness.run([program], env=env).ended(0).err
            check('libfvmpi-serial-threads.so' in said and said.count('\n') == 1, 'it says: {}', said)
    tap.done()


if __name__ == '__main__':
    main()
