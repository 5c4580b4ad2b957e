#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""Locks in the report: programs that measure their own waits find them under the right names, with the right sites, in
JSON and text; what waiting takes from the speedup; threads of a killed process that wait."""
import csv
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from measured import Measured
from report import check, close, equal

ROUNDS = 6
OPTIONS = ['--threads=hold,owner']


def profile(directory):
    return harness.profile_of(directory)


def text(command, directory, *options, status=0):
    return (
        harness.run([harness.FVMPI, command, directory, '--color', 'never', '--width', '120'] + list(options))
        .ended(status)
        .out
    )


def lock(found, kind, name):
    hits = [k for k in found['locks'] if k['kind'] == kind and k['name'] == name]
    check(len(hits) == 1, '{} {}: {} of {}', kind, name, len(hits), [(k['kind'], k['name']) for k in found['locks']])
    return hits[0]


def places(k, role, key='wait_s'):
    """{function: seconds} of the sites of one role."""
    found = {}
    for s in k['sites']:
        if s['role'] == role and s[key]:
            name = s['path'][0]['function']
            found[name] = found.get(name, 0) + s[key]
    return found


def of_first_rank(k):
    """Waiting of rank 0, which says what it measured."""
    rows = [r for r in k['per_rank'] if r['rank'] == 0]
    return sum(r['wait_s'] for r in rows)


def whole(found):
    for k in found['locks']:
        waits = [s for s in k['sites'] if s['role'] == 'waits']
        equal('acquired of ' + k['name'], sum(s['count'] for s in waits), k['count'])
        equal('contended of ' + k['name'], sum(s['contended_count'] for s in waits), k['contended_count'])
        check(abs(sum(s['wait_s'] for s in waits) - k['wait_s']) < 1e-6, 'waits of {}', k)
    t = found['thread_waiting']
    check(abs(sum(k['wait_s'] for k in found['locks']) - t['wait_s']) < 1e-6, 'sum of waits: {}', t)
    check(abs(sum(k['wait_s'] for k in t['sync_kinds']) - t['wait_s']) < 1e-6, 'sum of kinds: {}', t)
    waits = [(k['inside_mpi'], -k['wait_s']) for k in found['locks']]
    equal('order', waits, sorted(waits))


def stack(phase):
    """The sum of its components: N."""
    return (
        phase['speedup']['bound']
        + phase['speedup']['lost_to_waiting']
        + phase['speedup']['lost_to_imbalance']
        + phase['speedup']['lost_to_few_cpus']
    )


def sums(found, truth, ranks):
    whole(found)


def one_lock(found, truth, ranks):
    k = lock(found, 'mutex', 'contended')
    truth.near('contended', 1e9 * of_first_rank(k))
    equal('ranks', (k['rank_count'], k['contended_count'], k['count']), (ranks, ROUNDS * ranks, 2 * ROUNDS * ranks))
    equal('waits', list(places(k, 'waits')), ['waiter'])
    equal('holds', list(places(k, 'holds')), ['holder'])
    check(abs(places(k, 'holds')['holder'] - k['wait_s']) < 1e-6, 'all of the waiting: {}', k)
    held = places(k, 'holds', 'hold_s')['holder']
    others = (ranks - 1) * ROUNDS * 0.020  # at least; rank 0 says what it measured
    check(held >= 0.95 * (1e-9 * truth['contended_held'] + others), 'held {}', held)


def every_kind(found, truth, ranks):
    for kind, name, waits in (
        ('mutex', 'convoy', 'in_convoy'),
        ('cond', 'filled', 'consumer'),
        ('rwlock', 'starved', 'writer'),
        ('spin', 'spun', 'spins'),
        ('barrier', 'uneven', 'at_barrier'),
        ('sem', 'tokens', 'takes'),
    ):
        k = lock(found, kind, name)
        if name != 'starved':  # readers wait for the writer, too
            truth.near(name, 1e9 * of_first_rank(k))
        check(waits in places(k, 'waits'), '{}: {}', name, places(k, 'waits'))
    truth.near('late', 1e9 * of_first_rank(lock(found, 'join', 'threads of late()')))
    truth.near('once', 1e9 * of_first_rank(lock(found, 'once', 'once')))
    equal('free_lock', lock(found, 'mutex', 'free_lock')['count'], 1000 * ranks)
    equal('signals', list(places(lock(found, 'cond', 'filled'), 'holds', 'count')), ['producer'])


def last(found, truth, ranks):
    k = lock(found, 'barrier', 'uneven')
    last = sorted((r['last_count'] for r in k['per_thread'] if r['rank'] == 0), reverse=True)
    equal('last', last, sorted((truth['last' + str(i)] for i in range(4)), reverse=True))
    equal('all of them', sum(last), ROUNDS)


def one_by_one(found, truth, ranks):
    (phase,) = [p for p in found['phases'] if p['function'] == 'in_convoy()']
    equal(
        'threads',
        (phase['team']['min'], phase['team']['max'], phase['instance_count'], phase['rank_count']),
        (4, 4, ranks, ranks),
    )
    truth.near('waits', 1e9 * phase['per_rank'][0]['wait_s'], 'convoy')
    useful = phase['thread_s'] - phase['wait_s'] - phase['queue_s']
    for key, value in (
        ('bound', useful / phase['longest_s']),
        ('bound_waitless', useful / phase['longest_waitless_s']),
        ('without_waiting', phase['longest_s'] / phase['longest_waitless_s']),
    ):
        check(abs(phase['speedup'][key] - value) < 1e-6 * value, '{}: {} is not {}', key, phase['speedup'][key], value)
    # one behind the other: hardly faster than one thread, and nearly four times as fast without the lock
    check(phase['speedup']['bound'] < 2 and phase['speedup']['without_waiting'] > 2, 'phase: {}', phase)
    check(abs(stack(phase) - 4) < 1e-6, 'sum: {}', phase)


def known(tap, who, make, ranks):
    """The last run's directory, and what was found in it."""

    def run():
        done = make().ended(0)
        directory[:] = [done.directory]
        return done.out, profile(done.directory)

    directory, measured = [], Measured(run)
    for name, judge in (
        ('sums agree', sums),
        ('a lock, who waits, and who holds it meanwhile', one_lock),
        ('every kind by its name', every_kind),
        ('who comes last to a barrier', last),
        ('phases, and what waiting takes from them', one_by_one),
    ):
        with tap.test('{}: {}'.format(who, name)):
            measured.test(judge, ranks)
    return directory[0], measured.found


def stacks(tap, directory, found):
    (number,) = [i + 1 for i, p in enumerate(found['phases']) if p['function'] == 'in_convoy()']
    phase = found['phases'][number - 1]
    waitless = phase['longest_waitless_s'] / phase['rank_count']
    with tap.test('stacks: bounds of all phases, and a stack with T1'):
        said = text('stacks', directory)
        check('phase {}: 4 threads of in_convoy()'.format(number) in said, 'text: {}', said)
        said = text('stacks', directory, '--phase', str(number), '--t1', '{:.9f}'.format(3 * waitless))
        check(re.search(r'S_w = T1 / max\(t_i-w_i\) +3\.00 ', said), 'S_w: {}', said)
        check('not measured yet' in said, 'cache and memory: {}', said)
        measured = 3 * waitless / (phase['longest_s'] / phase['rank_count'])
        check(
            re.search(r'synchronisation +{:.2f} '.format(3 - measured), said),
            'synchronisation {}: {}',
            3 - measured,
            said,
        )
    with tap.test('stacks: a speedup that cannot be is rejected'):
        said = text('stacks', directory, '--phase', str(number), '--t1', '{:.9f}'.format(4.3 * waitless), status=1)
        check('rejected' in said, 'text: {}', said)
        equal('T1 of which', harness.run([harness.FVMPI, 'stacks', directory, '--t1', '1']).rc, 2)
        equal('no phase', harness.run([harness.FVMPI, 'stacks', directory, '--phase', '99']).rc, 2)


def region(found, name):
    """The phase of a region that a function forks."""
    (phase,) = [p for p in found['phases'] if p['kind'] == 'omp' and p['path'][0]['function'] == name]
    return phase


def uneven_loop(found, truth):
    phase = region(found, 'imbalanced')
    equal(
        'region', (phase['instance_count'], phase['team']['min'], phase['team']['max'], phase['open']), (3, 4, 4, False)
    )
    check(phase['function'].startswith('imbalanced._omp_fn'), 'function: {}', phase['function'])
    truth.near('waits at its end', 1e9 * phase['join_s'], 'imbalanced')
    truth.near('waits', 1e9 * phase['wait_s'], 'imbalanced')
    check(
        abs(stack(phase) - 4) < 1e-6
        and phase['speedup']['lost_to_waiting'] < 0.2
        and phase['speedup']['lost_to_imbalance'] > 0.5,
        'stack: {}',
        phase,
    )
    check(
        phase['longest_s'] * phase['speedup']['bound'] <= phase['thread_s'] - phase['wait_s'] + 1e-6, 'bound: {}', phase
    )
    equal('its threads', lock(found, 'omp', 'imbalanced._omp_fn.0')['thread_count'], 4)


def critical(found, truth):
    phase = region(found, 'criticals')
    waits = lock(found, 'omp', '.gomp_critical_user_named')['wait_s'] + sum(
        s['wait_s']
        for s in lock(found, 'omp', 'criticals._omp_fn.0')['sites']
        if s['path'][0]['function'] != 'criticals'
    )
    close('waits', phase['wait_s'] - phase['join_s'], waits, 0.002 + 0.05 * waits)
    check(phase['speedup']['bound'] < 1.5, 'one behind the other: {}', phase)
    if phase['cpu_count'] > 1:
        check(phase['speedup']['without_waiting'] > 1.5, 'nothing is gained without the lock: {}', phase)
    else:  # the others have no processor, with the lock or without it
        equal('without the lock', phase['speedup']['without_waiting'], 1)
    equal('no phase of the library', [p['function'] for p in found['phases'] if p['kind'] == 'threads'], [])


def openmp(tap):
    program = threads.build('omp.c', '-fopenmp')

    def run():
        done = threads.record([program, '4'], '--threads=hold', env={'OMP_WAIT_POLICY': 'passive'}).ended(0)
        directory[:] = [done.directory]
        return done.out, profile(done.directory)

    directory, measured = [], Measured(run)
    with tap.test('OpenMP: an uneven loop is imbalance'):
        measured.test(uneven_loop)
    with tap.test('OpenMP: a critical is synchronisation'):
        measured.test(critical)
    directory, found = directory[0], measured.found
    with tap.test('OpenMP: stacks'):
        number = found['phases'].index(region(found, 'imbalanced')) + 1
        said = text('stacks', directory, '--phase', str(number))
        check(
            said.startswith('phase {}: 4 threads, OpenMP region in imbalanced() at omp.c:'.format(number)),
            'text: {}',
            said,
        )
        longest = found['phases'][number - 1]['longest_s']
        said = text('stacks', directory, '--phase', str(number), '--t1', '{:.9f}'.format(1.5 * longest))
        check(re.search(r'S_m = T1 / max t_i +1\.50 ', said), 'S_m: {}', said)
        said = text('report', directory)
        check('OpenMP imbalanced() at omp.c:' in said, 'report: {}', said)
        check('\n  critical (named)  ' in said and '\n  region in imbalanced()  ' in said, 'names: {}', said)


def crowded(tap, program):
    with tap.test('threads that compute on one processor have no speedup'):
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        try:
            run = threads.record([program, 'compute'], '--threads').ended(0)
        finally:
            os.sched_setaffinity(0, allowed)
        (phase,) = [p for p in profile(run.directory)['phases'] if p['function'] == 'computes()']
        equal('threads', (phase['team']['max'], phase['cpu_count']), (4, 1))
        check(phase['speedup']['bound'] < 1.05 or phase['cpu_s'] < 0.06 * phase['thread_s'], 'bound: {}', phase)
        check('4 threads had 1 processor, which bounds the speedup' in text('stacks', run.directory), 'stacks')
        said = text('report', run.directory)
        check('Off the CPU: ' in said and 'more threads than processors' in said, 'report: {}', said)


def alike(tap, program):
    """What a compiler made two of, a reader sees as one: in the report, and in the stacks by the same number."""
    with tap.test('phases that look the same are one, for report and stacks'):
        run = threads.record([program, 'alike'], '--threads').ended(0)
        (phase,) = profile(run.directory)['phases']
        equal('instances', phase['instance_count'], 2)
        said = text('stacks', run.directory)
        equal('stacks', re.findall(r'phase \d+: \d+ threads', said), ['phase 1: 2 threads'])
        text('stacks', run.directory, '--phase', '1')
        equal('no other', harness.run([harness.FVMPI, 'stacks', run.directory, '--phase', '2']).rc, 2)


def first_words(said):
    """The verdict, in one line."""
    return ' '.join(said.split('\n\n')[0].split())


def main():
    tap = harness.Tap()
    program = threads.build('known.c')
    directory, found = known(tap, 'serial', lambda: threads.record([program], *OPTIONS), 1)
    with tap.test('the text says it, what matters first'):
        said = text('report', directory)
        check(
            re.search(
                r'^(noisy run: .*)?elapsed .*; threads waited .* of their time; (.*; )?most: \w+ \(\w+\), ',
                first_words(said),
            ),
            'verdict: {}',
            said,
        )
        section = said[said.index('Locks and barriers') : said.index('Thread phases')]
        rows = section.splitlines()
        check(rows[1].startswith('  threads waited '), 'totals: {}', rows[1])
        check(any(row.split()[:2] == ['contended', 'mutex'] for row in rows), 'table: {}', section)
        section = text('report', directory, '--all').split('Locks and barriers')[1]
        check(
            re.search(
                r'\n  contended\n +waits +waiter\(\) at known.c:\d+ \(100.0 %\)\n +holds +holder\(\) at '
                r'known.c:\d+ \(100.0 %\)\n',
                section,
            ),
            'sites: {}',
            section,
        )
        check(re.search(r'\n +last +thread \d+ in \d of 6 rounds', section), 'last: {}', section)
        check(max(map(len, rows)) <= 120, 'width')
    with tap.test('tables'):
        tables = os.path.join(harness.scratch('csv'), 'd')
        harness.run([harness.FVMPI, 'report', directory, '--csv', tables]).ended(0)
        with open(os.path.join(tables, 'locks.csv'), newline='') as f:
            rows = {r['name']: r for r in csv.DictReader(f)}
        equal('contended', (rows['contended']['kind'], int(rows['contended']['contended_count'])), ('mutex', ROUNDS))
        with open(os.path.join(tables, 'lock_sites.csv'), newline='') as f:
            rows = [
                r
                for r in csv.DictReader(f)
                if r['lock_id'] == rows['contended']['id'] and r['role'] == 'waits' and float(r['wait_s']) > 0
            ]
        equal('its site', [r['path'].split(' ')[0] for r in rows], ['waiter'])
        with open(os.path.join(tables, 'phases.csv'), newline='') as f:
            equal('phases', sum(1 for r in csv.DictReader(f)), len(found['phases']))
    stacks(tap, directory, found)
    program = threads.build('report.c')
    with tap.test('locks of a heap by their first use, a member by its struct'):
        run = threads.record([program, '20'], *OPTIONS).ended(0)
        found = profile(run.directory)
        (heap,) = [k for k in found['locks'] if k['object_count'] == 8]
        check(
            re.match(
                r'8 mutexes first used in insert\(\) at report.c:\d+ <- worker\(\) at report.c:\d+$', heap['name']
            ),
            'name: {}',
            heap['name'],
        )
        equal('acquired', heap['count'], 4 * 64)
        (member,) = [k for k in found['locks'] if k['kind'] == 'mutex' and k['symbol'] == 'state+0x28']
        equal('its name', (member['name'], list(places(member, 'waits'))), ('state+0x28', ['update']))
    with tap.test('C++: the callers of its library, not the library'):
        run = threads.record([threads.build('report.cpp')], *OPTIONS).ended(0)
        found = profile(run.directory)
        equal('acquired', lock(found, 'mutex', 'app::taken')['count'], 80)
        equal('threads', [p['function'] for p in found['phases']], ['std::thread'])
        said = text('report', run.directory, '--all')  # which of them is waited for most is the machine's to say
        check(re.search(r'first used in Queue::\w+\(.*\n(.*\n)? +waits +Queue::pop\(\) at', said), 'text: {}', said)
        if any(k['wait_s'] for k in found['locks'] if k['kind'] == 'cond'):  # else all was there before a thread came
            check('signals  Queue::push() at' in said, 'text: {}', said)
    with tap.test('threads of a killed process that wait'):
        run = threads.record([program, 'deadlock'], *OPTIONS)
        found = profile(run.directory)
        now = {w['path'][0]['function']: w['name'] for w in found['thread_waiting']['now'] if w['kind'] == 'mutex'}
        equal('waits', now, {'one_way': 'second_lock', 'other_way': 'first_lock'})
        said = text('report', run.directory)
        check(
            re.search(
                r'Threads that wait for other threads.*\n(.*\n)*? +thread \d+ \(\d+\) of rank 0: mutex second_lock, '
                r'in one_way\(\)',
                said,
            ),
            'text: {}',
            said,
        )
    openmp(tap)
    crowded(tap, program)
    alike(tap, program)
    for mpi in harness.an_mpi(tap):
        program = threads.build('known.c', '-DWITH_MPI', compiler=mpi.cc, output='known.' + str(mpi))
        directory, _ = known(tap, str(mpi), lambda: mpi.profile(program, 2, options=['-q'] + OPTIONS), 2)
        with tap.test('{}: the verdict names what threads waited for'.format(mpi)):
            said = first_words(text('report', directory))
            check(
                re.search(
                    r'^(noisy run: .*)?compute .* threads waited .* of their time; (.*; )?most: \w+ \(\w+\), ', said
                ),
                'verdict: {}',
                said,
            )
    tap.done()


if __name__ == '__main__':
    main()
