#!/usr/bin/env python3
"""Locks in the report: programs that measure their own waits find them under the right names, with the right sites, in
JSON and text; what waiting takes from the speedup; threads of a killed process that wait."""
import csv
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import threads
import harness
from report import check, equal

ROUNDS = 6
OPTIONS = ['--threads=hold,owner']


def profile(directory):
    return json.loads(harness.run([harness.FVMPI, 'report', directory, '--json', '-']).ended(0).out)


def text(command, directory, *options, status=0):
    return harness.run([harness.FVMPI, command, directory, '--color', 'never', '--width', '120'] +
                       list(options)).ended(status).out


def truths(run):
    return {f[1]: int(f[2]) for f in (line.split() for line in run.out.splitlines()) if f[0] == 'truth'}


def near(what, found_s, truth_ns):
    """Within 5 %, and what a loaded machine puts between two readings of the clock."""
    check(abs(found_s * 1e9 - truth_ns) <= 0.05 * truth_ns + 2e6, '{}: {} s, the program measured {} ns', what, found_s,
          truth_ns)


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
    rows = [r for r in k['per_rank'] + k['per_thread'] if r['rank'] == 0]
    return sum(r['wait_s'] for r in rows)


def whole(found):
    for k in found['locks']:
        waits = [s for s in k['sites'] if s['role'] == 'waits']
        equal('acquired of ' + k['name'], sum(s['count'] for s in waits), k['acquired'])
        equal('contended of ' + k['name'], sum(s['contended'] for s in waits), k['contended'])
        check(abs(sum(s['wait_s'] for s in waits) - k['wait_s']['sum']) < 1e-6, 'waits of {}', k)
    t = found['thread_waiting']
    check(abs(sum(k['wait_s']['sum'] for k in found['locks']) - t['wait_s']) < 1e-6, 'sum of waits: {}', t)
    check(abs(sum(k['wait_s'] for k in t['kinds']) - t['wait_s']) < 1e-6, 'sum of kinds: {}', t)
    waits = [(k['inside_mpi'], -k['wait_s']['sum']) for k in found['locks']]
    equal('order', waits, sorted(waits))


def stack(phase):
    """The sum of its components: N."""
    return phase['bound'] + phase['synchronisation'] + phase['imbalance'] + phase['few_cpus']


def known(tap, who, directory, truth, ranks):
    found = profile(directory)
    with tap.test('{}: sums agree'.format(who)):
        whole(found)
    with tap.test('{}: a lock, who waits, and who holds it meanwhile'.format(who)):
        k = lock(found, 'mutex', 'contended')
        near('contended', of_first_rank(k), truth['contended'])
        equal('ranks', (k['ranks'], k['contended'], k['acquired']), (ranks, ROUNDS * ranks, 2 * ROUNDS * ranks))
        equal('waits', list(places(k, 'waits')), ['waiter'])
        equal('holds', list(places(k, 'holds')), ['holder'])
        check(abs(places(k, 'holds')['holder'] - k['wait_s']['sum']) < 1e-6, 'all of the waiting: {}', k)
        held = places(k, 'holds', 'hold_s')['holder']
        check(held * 1e9 >= 0.95 * truth['contended_held'] * ranks, 'held {}', held)
    with tap.test('{}: every kind by its name'.format(who)):
        for kind, name, waits in (('mutex', 'convoy', 'in_convoy'), ('cond', 'filled', 'consumer'),
                                  ('rwlock', 'starved', 'writer'), ('spin', 'spun', 'spins'),
                                  ('barrier', 'uneven', 'at_barrier'), ('sem', 'tokens', 'takes')):
            k = lock(found, kind, name)
            if name != 'starved':  # readers wait for the writer, too
                near(name, of_first_rank(k), truth[name])
            check(waits in places(k, 'waits'), '{}: {}', name, places(k, 'waits'))
        near('late', of_first_rank(lock(found, 'join', 'threads of late()')), truth['late'])
        near('once', of_first_rank(lock(found, 'once', 'once')), truth['once'])
        equal('free_lock', lock(found, 'mutex', 'free_lock')['acquired'], 1000 * ranks)
        equal('signals', list(places(lock(found, 'cond', 'filled'), 'holds', 'count')), ['producer'])
    with tap.test('{}: who comes last to a barrier'.format(who)):
        k = lock(found, 'barrier', 'uneven')
        last = sorted((r['last'] for r in k['per_thread'] if r['rank'] == 0), reverse=True)
        check(len(last) == 4 and last[0] >= ROUNDS - 1 and sum(last) == ROUNDS, 'last: {}', last)
    with tap.test('{}: phases, and what waiting takes from them'.format(who)):
        phase, = [p for p in found['phases'] if p['function'] == 'in_convoy()']
        equal('threads', (phase['threads']['min'], phase['threads']['max'], phase['instances'], phase['ranks']),
              (4, 4, ranks, ranks))
        near('waits', phase['per_rank'][0]['wait_s'], truth['convoy'])
        useful = phase['thread_s'] - phase['wait_s'] - phase['queue_s']
        for key, value in (('bound', useful / phase['longest_s']),
                           ('bound_waitless', useful / phase['longest_waitless_s']),
                           ('without_waiting', phase['longest_s'] / phase['longest_waitless_s'])):
            check(abs(phase[key] - value) < 1e-6 * value, '{}: {} is not {}', key, phase[key], value)
        # one behind the other: hardly faster than one thread, and nearly four times as fast without the lock
        check(phase['bound'] < 2 and phase['without_waiting'] > 2, 'phase: {}', phase)
        check(abs(stack(phase) - 4) < 1e-6, 'sum: {}', phase)
    return found


def stacks(tap, directory, found):
    number, = [i + 1 for i, p in enumerate(found['phases']) if p['function'] == 'in_convoy()']
    phase = found['phases'][number - 1]
    waitless = phase['longest_waitless_s'] / phase['ranks']
    with tap.test('stacks: bounds of all phases, and a stack with T1'):
        said = text('stacks', directory)
        check('phase {}: 4 threads of in_convoy()'.format(number) in said, 'text: {}', said)
        said = text('stacks', directory, '--phase', str(number), '--t1', '{:.9f}'.format(3 * waitless))
        check(re.search(r'S_w = T1 / max\(t_i-w_i\) +3\.00 ', said), 'S_w: {}', said)
        check('not measured yet' in said, 'cache and memory: {}', said)
        measured = 3 * waitless / (phase['longest_s'] / phase['ranks'])
        check(re.search(r'synchronisation +{:.2f} '.format(3 - measured), said), 'synchronisation {}: {}', 3 - measured,
              said)
    with tap.test('stacks: a speedup that cannot be is rejected'):
        said = text('stacks', directory, '--phase', str(number), '--t1', '{:.9f}'.format(4.3 * waitless), status=1)
        check('rejected' in said, 'text: {}', said)
        equal('T1 of which', harness.run([harness.FVMPI, 'stacks', directory, '--t1', '1']).rc, 2)
        equal('no phase', harness.run([harness.FVMPI, 'stacks', directory, '--phase', '99']).rc, 2)


def region(found, name):
    """The phase of a region that a function forks."""
    phase, = [p for p in found['phases'] if p['kind'] == 'omp' and p['path'][0]['function'] == name]
    return phase


def openmp(tap):
    program = threads.build('omp.c', '-fopenmp')
    run = threads.record([program, '4'], '--threads=hold', env={'OMP_WAIT_POLICY': 'passive'}).ended(0)
    found, truth = profile(run.directory), truths(run)
    with tap.test('OpenMP: an uneven loop is imbalance, a critical is synchronisation'):
        phase = region(found, 'imbalanced')
        equal('region', (phase['instances'], phase['threads']['min'], phase['threads']['max'], phase['open']), (3, 4, 4, False))
        check(phase['function'].startswith('imbalanced._omp_fn'), 'function: {}', phase['function'])
        near('waits at its end', phase['join_s'], truth['imbalanced'])
        near('waits', phase['wait_s'], truth['imbalanced'])
        check(abs(stack(phase) - 4) < 1e-6 and phase['synchronisation'] < 0.2 and phase['imbalance'] > 0.5,
              'stack: {}', phase)
        check(phase['longest_s'] * phase['bound'] <= phase['thread_s'] - phase['wait_s'] + 1e-6, 'bound: {}', phase)
        phase = region(found, 'criticals')
        near('waits', phase['wait_s'] - phase['join_s'], lock(found, 'omp', '.gomp_critical_user_named')['wait_s']['sum'] * 1e9 +
             sum(s['wait_s'] for s in lock(found, 'omp', 'criticals._omp_fn.0')['sites']
                 if s['path'][0]['function'] != 'criticals') * 1e9)
        check(phase['bound'] < 1.5 and phase['without_waiting'] > 1.5, 'one behind the other: {}', phase)
        equal('no phase of the library', [p['function'] for p in found['phases'] if p['kind'] == 'threads'], [])
        equal('its threads', lock(found, 'omp', 'imbalanced._omp_fn.0')['threads'], 4)
    with tap.test('OpenMP: stacks'):
        number = found['phases'].index(region(found, 'imbalanced')) + 1
        said = text('stacks', run.directory, '--phase', str(number))
        check(said.startswith('phase {}: 4 threads, OpenMP region in imbalanced() at omp.c:'.format(number)), 'text: {}', said)
        longest = found['phases'][number - 1]['longest_s']
        said = text('stacks', run.directory, '--phase', str(number), '--t1', '{:.9f}'.format(1.5 * longest))
        check(re.search(r'S_m = T1 / max t_i +1\.50 ', said), 'S_m: {}', said)
        said = text('report', run.directory)
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
        phase, = [p for p in profile(run.directory)['phases'] if p['function'] == 'computes()']
        equal('threads', (phase['threads']['max'], phase['cpus']), (4, 1))
        check(phase['bound'] < 1.05 or phase['cpu_s'] < 0.06 * phase['thread_s'], 'bound: {}', phase)
        check('4 threads had 1 processor, which bounds the speedup' in text('stacks', run.directory), 'stacks')
        said = text('report', run.directory)
        check('Off the CPU: ' in said and 'more threads than processors' in said, 'report: {}', said)


def first_words(said):
    """The verdict, in one line."""
    return ' '.join(said.split('\n\n')[0].split())


def main():
    tap = harness.Tap()
    run = threads.record([threads.build('known.c')], *OPTIONS).ended(0)
    found = known(tap, 'serial', run.directory, truths(run), 1)
    with tap.test('the text says it, what matters first'):
        said = text('report', run.directory)
        check(re.search(r'^elapsed .*; threads waited .* of their time; most: \w+ \(\w+\), ', first_words(said)), 'verdict: {}', said)
        section = said[said.index('Locks and barriers'):said.index('Thread phases')]
        rows = section.splitlines()
        check(rows[1].startswith('  threads waited '), 'totals: {}', rows[1])
        check(any(row.split()[:2] == ['contended', 'mutex'] for row in rows), 'table: {}', section)
        section = text('report', run.directory, '--all').split('Locks and barriers')[1]
        check(re.search(r'\n  contended\n +waits +waiter\(\) at known.c:\d+ \(100.0 %\)\n +holds +holder\(\) at '
                        r'known.c:\d+ \(100.0 %\)\n', section), 'sites: {}', section)
        check(re.search(r'\n +last +thread \d+ in \d of 6 rounds', section), 'last: {}', section)
        check(max(map(len, rows)) <= 120, 'width')
    with tap.test('tables'):
        tables = os.path.join(harness.scratch('csv'), 'd')
        harness.run([harness.FVMPI, 'report', run.directory, '--csv', tables]).ended(0)
        with open(os.path.join(tables, 'locks.csv'), newline='') as f:
            rows = {r['name']: r for r in csv.DictReader(f)}
        equal('contended', (rows['contended']['kind'], int(rows['contended']['contended'])), ('mutex', ROUNDS))
        with open(os.path.join(tables, 'lock_sites.csv'), newline='') as f:
            rows = [r for r in csv.DictReader(f) if r['lock'] == rows['contended']['id'] and float(r['wait_s']) > 0]
        equal('its site', [r['path'].split(' ')[0] for r in rows], ['waiter'])
        with open(os.path.join(tables, 'phases.csv'), newline='') as f:
            equal('phases', sum(1 for r in csv.DictReader(f)), len(found['phases']))
    stacks(tap, run.directory, found)
    program = threads.build('report.c')
    with tap.test('locks of a heap by their first use, a member by its struct'):
        run = threads.record([program, '20'], *OPTIONS).ended(0)
        found = profile(run.directory)
        heap, = [k for k in found['locks'] if k['objects'] == 8]
        check(re.match(r'8 mutexes first used in insert\(\) at report.c:\d+ <- worker\(\) at report.c:\d+$',
                       heap['name']), 'name: {}', heap['name'])
        equal('acquired', heap['acquired'], 4 * 64)
        member, = [k for k in found['locks'] if k['kind'] == 'mutex' and k['symbol'] == 'state+0x28']
        equal('its name', (member['name'], list(places(member, 'waits'))), ('state+0x28', ['update']))
    with tap.test('C++: the callers of its library, not the library'):
        run = threads.record([threads.build('report.cpp')], *OPTIONS).ended(0)
        found = profile(run.directory)
        equal('acquired', lock(found, 'mutex', 'app::taken')['acquired'], 80)
        equal('threads', [p['function'] for p in found['phases']], ['std::thread'])
        said = text('report', run.directory)
        check(re.search(r'first used in Queue::\w+\(.*\n(.*\n)? +waits +Queue::pop\(\) at', said), 'text: {}', said)
        check('signals  Queue::push(int) at' in said, 'text: {}', said)
    with tap.test('threads of a killed process that wait'):
        run = threads.record([program, 'deadlock'], *OPTIONS)
        found = profile(run.directory)
        now = {w['path'][0]['function']: w['name'] for w in found['thread_waiting']['now'] if w['kind'] == 'mutex'}
        equal('waits', now, {'one_way': 'second_lock', 'other_way': 'first_lock'})
        said = text('report', run.directory)
        check(re.search(r'Threads that wait for other threads.*\n(.*\n)*? +thread \d+ \(\d+\) of rank 0: mutex second_lock, '
                        r'in one_way\(\)', said), 'text: {}', said)
    openmp(tap)
    crowded(tap, program)
    for mpi in harness.mpis(tap):
        program = threads.build('known.c', '-DWITH_MPI', compiler=mpi.cc, output='known.' + str(mpi))
        run = mpi.profile(program, 2, options=['-q'] + OPTIONS).ended(0)
        known(tap, str(mpi), run.directory, truths(run), 2)
        with tap.test('{}: the verdict names what threads waited for'.format(mpi)):
            said = first_words(text('report', run.directory))
            check(re.search(r'^compute .* threads waited .* of their time; most: \w+ \(\w+\), ', said), 'verdict: {}', said)
    tap.done()


if __name__ == '__main__':
    main()
