#!/usr/bin/env python3
"""What threads wait for: programs that measure their own waits find them again, at the right objects and call sites,
under the serial flavour and both MPIs."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import threads
import harness
from report import check, equal
from threads import total

ROUNDS = 6
OPTIONS = ['--threads=hold,owner', '--clock=monotonic']


def near(what, found, truth, slack=2e6):
    """Within 5 %, and what a loaded machine puts between two readings of the clock."""
    check(abs(found - truth) <= 0.05 * truth + slack, '{}: {:.3f} ms, the program measured {:.3f} ms', what, found / 1e6,
          truth / 1e6)


def sites(records, key):
    """Functions that called, of records with some `key`."""
    return sorted({r.names[0] for r in records if r[key]})


def known(tap, who, waits, truth):
    with tap.test('{}: the file is whole'.format(who)):
        equal('damages', waits.damages, [])
        for r in waits.records:
            check(r.contended <= r.acquired and sum(int(n) for n in r.histogram.split(',')) <= r.contended + r.failed,
                  'counts: {}', r)
            check(r.object in waits.objects, 'object of {}', r)
        for t in waits.threads:
            mine = [r for r in waits.records if r.thread == t.thread]
            for kind in ('mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once'):
                equal('{} of thread {}'.format(kind, t.thread), t[kind], total([r for r in mine if r.kind == kind], 'wait'))
            equal('overflow', (t.overflow, t.holds_lost, t.missed, t.lives_lost), (0, 0, 0, 0))
    with tap.test('{}: a mutex that another holds'.format(who)):
        near('contended', total(waits.of('contended'), 'wait'), truth['contended'])
        equal('who waits', sites(waits.of('contended'), 'wait'), ['waiter'])
        waiting = waits.of('contended', flags=0)
        equal('whole path', [r.names[0] for r in waiting], ['waiter'])
        equal('contended', (total(waiting, 'contended'), total(waits.of('contended'), 'acquired')), (ROUNDS, 2 * ROUNDS))
        held = [r for r in waits.of('contended') if r.names[0] == 'holder']
        near('held', total(held, 'hold'), truth['contended_held'])
        equal('holds', total(held, 'holds'), ROUNDS)
        equal('waits in its way', total(held, 'blocked'), ROUNDS)
        equal('their time', total(held, 'blocked_ticks'), total(waiting, 'wait'))
        equal('owner changes', total(waits.of('contended'), 'owner_changes'), 2 * ROUNDS - 1)
    with tap.test('{}: an uncontended mutex'.format(who)):
        r, = waits.of('free_lock')
        equal('counts', (r.acquired, r.contended, r.failed, r.wait, r.holds, r.flags), (1000, 0, 0, 0, 1000, 1))
        equal('site', r.names, ['uncontended'])
    with tap.test('{}: a convoy'.format(who)):
        near('convoy', total(waits.of('convoy'), 'wait'), truth['convoy'])
        equal('acquired', total(waits.of('convoy'), 'acquired'), 4 * ROUNDS)
        equal('whose', sites(waits.of('convoy'), 'wait'), ['in_convoy'])
        check(total(waits.of('convoy'), 'hold') >= 4 * ROUNDS * 2e6, 'held: {}', total(waits.of('convoy'), 'hold'))
    with tap.test('{}: a queue'.format(who)):
        near('filled', total(waits.of('filled'), 'wait'), truth['filled'])
        equal('who waits', sites(waits.of('filled', operation='wait'), 'acquired'), ['consumer'])
        signals, = waits.of('filled', operation='signal')
        equal('signals', (signals.acquired, signals.names[0]), (2 * ROUNDS, 'producer'))
        check(total(waits.of('queue_lock'), 'hold') < 0.5 * truth['filled'], 'waiting counts as holding')
    with tap.test('{}: readers and a writer that starves'.format(who)):
        near('starved', total(waits.of('starved', operation='timed'), 'wait'), truth['starved'])
        equal('in vain', total(waits.of('starved', operation='timed'), 'failed') > 0, truth['starved'] > 79e6)
        check(total(waits.of('starved', operation='read'), 'acquired') >= 1, 'readers')
        equal('who', sites(waits.of('starved'), 'wait')[-1:], ['writer'])
    with tap.test('{}: a spin lock'.format(who)):
        near('spun', total(waits.of('spun'), 'wait'), truth['spun'])
        equal('acquired', total(waits.of('spun'), 'acquired'), 2 * ROUNDS)
    with tap.test('{}: an uneven barrier'.format(who)):
        waiting = waits.of('uneven')
        near('uneven', total(waiting, 'wait'), truth['uneven'])
        last = [r for r in waiting if r.last]
        equal('last', (total(last, 'last'), total(waiting, 'acquired')), (ROUNDS, 4 * ROUNDS))
        # the thread with the longest work is last, but for what a loaded machine does
        check(max(r.last for r in last) >= ROUNDS - 1, 'last: {}', last)
        equal('parties', [o.parties for o in waits.objects.values() if o.name == 'uneven'], [4])
    with tap.test('{}: a semaphore'.format(who)):
        near('tokens', total(waits.of('tokens', operation='wait'), 'wait'), truth['tokens'])
        equal('posts', total(waits.of('tokens', operation='post'), 'acquired'), ROUNDS)
        equal('taken', total(waits.of('tokens', operation='wait'), 'acquired'), ROUNDS)
    with tap.test('{}: once'.format(who)):
        near('once', total(waits.of('once'), 'wait'), truth['once'])
        equal('ran', (total(waits.of('once'), 'last'), total(waits.of('once'), 'acquired')), (1, 2))
    with tap.test('{}: joins and lives'.format(who)):
        near('late', total(waits.of('late', 'join'), 'wait'), truth['late'])
        equal('who', sites(waits.of('late', 'join'), 'wait'), ['joins'])
        lives = [life for life in waits.lives if life.creator >= 0]
        equal('threads', len(lives), 2 + 4 + 2 + 2 + 4 + 2 + 2 + 1 + 4)
        for life in lives:
            check(0 < life.created <= life.begin < life.end and life.join_end >= life.join_begin > 0, 'order: {}', life)
            check(life.join_end >= life.end - 1e6 and life.joiner == life.creator, 'join: {}', life)
            check(life.wait_at_end >= life.wait_at_begin, 'waits: {}', life)
        late, = [life for life in lives if life.routine == 'late']
        equal('made and joined', (late.create_names[:2], late.join_names[:2]), (['joins', 'main'],) * 2)
        check(39e6 < late.end - late.begin < late.join_end - late.created, 'late lived {}', late)
        at_barrier = [life.wait_at_end - life.wait_at_begin for life in lives if life.routine == 'at_barrier']
        near('waits in lives', sum(at_barrier), truth['uneven'])


def truths(run):
    return {f[1]: int(f[2]) for f in (line.split() for line in run.out.splitlines()) if f[0] == 'truth'}


def races(tap):
    """ThreadSanitizer stands between the program and us, so that sites and beginnings are its own: only races are seen."""
    with tap.test('no races'):
        run = threads.record([threads.build('known.c')], *OPTIONS).ended(0)
        check('ThreadSanitizer' not in run.err, '{}', run.err)
        equal('locks', sum(r.acquired for r in threads.Waits(run.directory).of('convoy')), 4 * ROUNDS)
    tap.done()


def main():
    tap = harness.Tap()
    if 'thread' in os.environ.get('SANITIZE_FLAGS', ''):
        races(tap)
    run = threads.record([threads.build('known.c')], *OPTIONS).ended(0)
    known(tap, 'serial', threads.Waits(run.directory), truths(run))
    for mpi in harness.mpis(tap):
        program = threads.build('known.c', '-DWITH_MPI', compiler=mpi.cc, output='known.' + str(mpi))
        run = mpi.profile(program, 2, options=['-q'] + OPTIONS).ended(0)
        known(tap, str(mpi), threads.Waits(run.directory), truths(run))
    with tap.test('the plain library says what is missing'):
        program = threads.build('known.c')
        env = {'LD_PRELOAD': os.path.join(harness.LIBS, 'libfvmpi-serial.so'), 'FVMPI_THREADS': '1',
               'FVMPI_OUTPUT': os.path.join(harness.scratch('exp'), 'e')}
        if not os.environ.get('SANITIZE_FLAGS'):
            said = harness.run([program], env=env).ended(0).err
            check('libfvmpi-serial-threads.so' in said and said.count('\n') == 1, 'it says: {}', said)
    tap.done()


if __name__ == '__main__':
    main()
