#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""Threads that wait for a known reason: idle workers are no contention, a contended lock is the first finding, a lock
that is held is told whoever waits for it, and a main thread that waits for its workers does not compute. By what the
program measured."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from findings import first_lines, found, is_disturbed
from report import check, close, equal, plainly

LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics


def near(what, seconds, wanted):
    close(what, seconds, wanted, 0.15 * wanted + 0.002)


class Ran:
    def __init__(self, mpi, program, *arguments):
        self.run = mpi.profile(program, 2, arguments, ['--threads=hold']).ended(0)
        line = re.search(r'^truth wait_s (\S+) main_s (\S+) hold_s (\S+)$', self.run.out, re.M)
        check(line, 'no truth in {!r}', self.run.out)
        self.wait_s, self.main_s, self.hold_s = (float(x) for x in line.groups())
        self.data = self.run.report().data
        self.waiting = self.data['thread_waiting']
        self.findings = found(self.run)
        self.first = first_lines(self.run)
        self.text = harness.run([harness.FVMPI, 'report', self.run.directory, '--width', '200']).ended(0).out

    def finding(self, name):
        return next((f for f in self.findings if f['name'] == name), None)

    def lock(self, name):
        return next(k for k in self.data['locks'] if k['name'] == name)

    def lost(self, wait_s):
        """Of the ranks' time, what waiting is of the threads'."""
        return wait_s * self.data['run']['rank_time']['total_s'] / self.waiting['thread_s']

    def main_wait(self):
        return sum(r['thread_wait_share'] * r['app_time_s'] for r in self.data['ranks'])


def idle(tap, mpi, program):
    for problem, kind, function in (('pool', 'cond', 'next_task'), ('semaphore', 'sem', 'next_by_semaphore'))[
        : 2 if LONG else 1
    ]:
        with tap.test('{}: workers idle at a {}'.format(mpi, kind)):
            ran = Ran(mpi, program, problem)
            equal('first finding', ran.findings[0]['name'], 'idle_workers')
            equal('function', ran.findings[0]['function'], function)
            near('idle', ran.waiting['idle_s'], ran.wait_s)
            near('lost', ran.findings[0]['lost_s'], ran.lost(ran.wait_s))
            equal('contended', ran.finding('contended_lock'), None)
            check('workers without tasks' in ran.first, '{}', ran.first)
            contended = re.search(r'most: (.*?) \(', ran.first.split('Findings')[0])  # MPI has locks of its own
            check(not contended or function not in contended.group(1), '{}', ran.first)
            equal('idle at', [k['kind'] for k in ran.data['locks'] if k['idle_s'] > 0], [kind])
        with tap.test('{}: workers with work, at a {}'.format(mpi, kind)):
            ran = Ran(mpi, program, problem, 'sound')
            # the program's own clock also counts a worker that lost its processor when a task was there at once
            check(
                ran.waiting['idle_s'] <= 1.15 * ran.wait_s + 0.002,
                'idle {}, at most {}',
                ran.waiting['idle_s'],
                ran.wait_s,
            )
            check(
                not ran.finding('idle_workers')
                or ran.lost(ran.wait_s) > 0.017 * ran.data['run']['rank_time']['total_s'],
                '{}',
                ran.findings,
            )
            near('main threads', ran.main_wait(), ran.main_s)
            near('main threads in all', ran.waiting['main_wait_s'], ran.main_s)
            total = ran.data['run']['rank_time']
            told = re.search(r'compute (\S+) %, waiting for threads (\S+) %, MPI (\S+) %', ran.first)
            check(told, '{}', ran.first)
            cpu = re.search(r'of it in main threads, while the other threads computed for ([\d.]+) (m?s)', ran.first)
            check(cpu, '{}', ran.first)
            near('of the workers', float(cpu.group(1)) * (0.001 if cpu.group(2) == 'ms' else 1), 2 * 4 * 80 * 0.002)
            near('told', float(told.group(2)) / 100 * total['total_s'], ran.main_s)
            near('computing', float(told.group(1)) / 100 * total['total_s'], total['compute_s'] - ran.main_wait())


def contended(tap, mpi, program):
    with tap.test('{}: a contended mutex'.format(mpi)):
        ran = Ran(mpi, program, 'contended')
        first = ran.findings[0]
        equal('finding and function', (first['name'], first['function']), ('contended_lock', 'update'))
        check('cells' in first['text'] and 'update() at threads.c' in first['text'], '{}', first)
        close(
            'part',
            float(re.search(r"together, (\S+) % of the threads' time", first['text']).group(1)) / 100,
            ran.lock('cells')['wait_s'] / ran.waiting['thread_s'],
            0.001,
        )
        near('waited', ran.lock('cells')['wait_s'], ran.wait_s)
        near('lost', first['lost_s'], ran.lost(ran.wait_s))
        near('idle', ran.waiting['idle_s'], 0)
        check('most: cells (mutex)' in ran.first, '{}', ran.first)
        for rank in ran.data['ranks']:  # contend(): 60 times 5 ms of CPU time in each of two threads
            workers = [t for t in rank['threads'] if not t['main']]
            near('CPU time of workers', sum(t['user_s'] + t['system_s'] for t in workers), 0.6)
            close('user and system', rank['user_s'] + rank['system_s'], rank['cpu_s'], 1e-6)
            check(
                sum(t['user_s'] + t['system_s'] for t in rank['threads']) <= rank['cpu_s'] + 0.02, 'threads of {}', rank
            )
        own = ran.data['run']['overhead']
        check(
            own['time_s'] <= sum(r['cpu_s'] for r in ran.data['ranks']),
            'fvmpi had more CPU time than there was: {}',
            own,
        )
        check(
            own['rank_memory_bytes'] <= max(r['resident_peak'] for r in ran.data['ranks']),
            'more memory than was resident: {}',
            own,
        )
        user = sum(r['user_s'] for r in ran.data['ranks'])
        check(re.search(r'^  CPU time +user \S+ \S+, system ', ran.text, re.M) and user > 0, '{}', ran.text)
        check(re.search(r'^Threads\b', ran.text, re.M), 'no threads: {}', ran.text)
    with tap.test('{}: the same mutex, by one thread'.format(mpi)):
        equal('finding', Ran(mpi, program, 'contended', 'sound').finding('contended_lock'), None)


def held(tap, mpi, program):
    for problem, told in (('held', False), ('turns', True)):
        with tap.test('{}: a mutex that is held, and nobody waits: {}'.format(mpi, problem)):
            ran = Ran(mpi, program, problem)
            equal('finding', ran.finding('contended_lock'), None)
            near('held', ran.lock('cells')['hold_s'], ran.hold_s)
            near('share', ran.lock('cells')['hold_share'], ran.hold_s / ran.data['run']['rank_time']['total_s'])
            share = re.search(r'held +for (\S+) % of the time', ran.text)
            if told and ran.lock('cells')['hold_share'] > 0.26:  # MPI_Init takes as long as it likes
                check(share, 'not told: {}', ran.text)
                near('share in words', float(share.group(1)) / 100, ran.lock('cells')['hold_share'])
            equal('said of one thread', bool(share) and not told, False)


GIVEN_S = 0.3  # CPU time


def given(tap, mpi, program):
    """Without --threads too: who waits for its own threads, which compute, neither sleeps nor does I/O."""
    with tap.test('{}: a main thread gives its work to another'.format(mpi)):
        run = mpi.profile(program, 2, ['given']).ended(0)
        main_s = float(re.search(r'^truth .* main_s (\S+) ', run.out, re.M).group(1))
        longest = found(run)[0]
        if longest['rank'] != 1:  # what took its processor cost more
            check(is_disturbed(run, 0.5 * main_s), 'rank: {}', found(run))
            return
        near('lost', longest['lost_s'], main_s)
        if main_s > 1.5 * GIVEN_S:  # the thread had no processor for long: whether it was waited for is not sure
            check('it sleeps, or' not in longest['text'] or main_s > 3.5 * GIVEN_S, '{}', longest)
            return
        equal('findings', [f['name'] for f in found(run)], ['load_imbalance'])
        told = run.report().data['waiting']['regions'][0]['blocked_s'] is not None
        equal('in words', 'it waits for its other threads, which compute' in first_lines(run), told)


def crowded(tap, mpi, program):
    with tap.test('{}: threads share a processor, and the main thread waits for them'.format(mpi)):
        ran = Ran(mpi, program, 'crowded')
        quiet = next((f for f in ran.data['findings'] if f['name'] == 'no_processor'), None)
        check(quiet and quiet['lost_s'] > 0.3 * ran.main_s, '{}, main threads {} s', quiet, ran.main_s)
        check(ran.first.startswith('noisy run: ranks'), '{}', ran.first)


WORTH_A_WORD = (
    0.05  # CPU time of threads other than the main ones, of the ranks' time: then the report names the option
)


def others(data):
    """That CPU time, and the ranks' time."""
    cpu_s = 0
    for rank in data['ranks']:
        recorded = sum(t['user_s'] + t['system_s'] for t in rank['threads'] if not t['main'])
        (main,) = [t for t in rank['threads'] if t['main']]
        cpu_s += max(recorded, rank['cpu_s'] - main['user_s'] - main['system_s'] - rank['init_s'])
    return cpu_s, data['run']['rank_time']['total_s']


def untold(tap, mpi, program):
    with tap.test('{}: without --threads and findings, the option is named'.format(mpi)):
        run = mpi.profile(program, 2, ['held']).ended(0)
        first, none = first_lines(run), not found(run)
        startup = any(f['name'] == 'startup' for f in run.report().data['findings'])
        equal(
            'no findings in {!r}'.format(first),
            bool(re.search('no (other )?findings[:;]', first)),
            none and not startup,
        )
        named = 'fvmpi run --threads shows what threads wait for' in first
        others_s, total_s = others(run.report().data)
        if abs(others_s / total_s - WORTH_A_WORD) > 0.01:  # on a busy machine the run takes longer, and it is less
            equal('named', named, none and not startup and others_s > WORTH_A_WORD * total_s)


def teams(tap, mpi):
    program = mpi.build(os.path.join(HERE, 'omp.c'), '-O2', '-g', '-fopenmp', output='planted_omp')
    for arguments in ([], ['sound']):
        with tap.test(
            '{}: threads of a region that have {}'.format(mpi, 'the same to do' if arguments else 'different times')
        ):
            run = mpi.profile(program, 2, arguments, ['--threads']).ended(0)
            lost = float(re.search(r'^truth lost_s (\S+)$', run.out, re.M).group(1))
            total = run.report().data['run']['rank_time']['total_s']
            finding = next((f for f in found(run) if f['name'] == 'thread_imbalance'), None)
            equal('the end of a region is no lock', [f for f in found(run) if f['name'] == 'contended_lock'], [])
            if arguments:  # threads of a busy machine do not get the same
                check(not finding or lost > 0.017 * total, '{}, lost {} of {} s', finding, lost, total)
                continue
            check(finding or is_disturbed(run, 0.5 * lost), 'none: {}', found(run))
            if not finding:
                continue
            equal('function', finding['function'], 'relax')
            check(
                'region in relax() at omp.c' in finding['text']
                and re.search(r'; thread 0 of rank [01] works longest$', finding['text']),
                '{}',
                finding,
            )
            near('lost', finding['lost_s'], lost)


def told_of(data, name):
    found = [f for f in data['functions'] if f['function'] == name]
    equal('contexts of {}'.format(name), len(found), 1)
    return found[0]


def joined(tap, mpi):
    """Workers stand below the fork as the thread that forked them, and what they do differently is told of the
    function."""
    program = mpi.build(os.path.join(HERE, 'omp.c'), '-O2', '-g', '-fopenmp', output='planted_omp')
    for options in (['--sample=250', '--threads'], ['--sample=250'])[: 2 if LONG else 1]:
        with tap.test('{}: a team is one function, {}'.format(mpi, ' '.join(options))):
            run = mpi.profile(program, 2, [], options).ended(0)
            harness.needs_instances(run)
            data = run.report().data
            for name, path in (('relax._omp_fn.0', []), ('compute', ['relax._omp_fn.0'])):
                of = told_of(data, name)
                equal(
                    'path',
                    [f['function'] for f in of['path'] if 'gomp' not in f['function']][1:],
                    path + ['GOMP_parallel', 'relax', 'main'],
                )
                rows = of['metrics']['cpu_time_s']['per_thread']
                equal('threads', {row['thread'] > 0 for row in rows}, {False, True})
                equal('their number', of['thread_count'], len(rows))
                for row in rows:
                    near('thread {}'.format(row['thread']), row['mean'], 0.003 if row['thread'] else 0.009)
                if len(rows) == 4 and all(row['sample_count'] >= 8 for row in rows):  # (9, 3, 9, 3)
                    close('between', of['between'], 0.577, 0.09)
                    equal(
                        'varies',
                        (of['varies_by'], of['advice'].split(' (')[0]),
                        ('between', 'varies from thread to thread'),
                    )
            names = [p['procedure'] for p in data['costs']['procedures']]
            check('run_member' not in names and names.count('GOMP_parallel') == 1, 'procedures: {}', names)
            text = harness.run([harness.FVMPI, 'report', run.directory, '--width', '200']).ended(0).out
            check('OpenMP region in relax()' in text, '{}', text)


def sections(tap, mpi):
    """What workers and threads made inside of a section do belongs to it, and nothing that they do outside."""
    program = mpi.build(os.path.join(HERE, 'team.c'), '-O2', '-g', '-fopenmp', output='planted_team')
    ways = (['--sample=250', '--threads'], ['--sample=250', '--section-cpu=0'], ['--sample=250'])
    for options in ways[: 3 if LONG else 2]:
        with tap.test('{}: a section around a team, {}'.format(mpi, ' '.join(options))):
            run = mpi.profile(program, 2, [], options, env={'OMP_WAIT_POLICY': 'passive'}).ended(0)
            process_s, main_s = map(float, re.search(r'^truth process_s (\S+) main_s (\S+)$', run.out, re.M).groups())
            section = next(s for s in plainly(run.report().data)['sections'] if s['section'] == 'team')
            if '--section-cpu=0' in options:
                equal('not measured', section['process_cpu']['sum_s'], None)
            else:
                near('process', section['process_cpu']['sum_s'], process_s)
                near('all threads', section['user_time']['sum_s'] + section['system_time']['sum_s'], process_s)
                by_thread = section['per_thread']
                near('main threads', sum(row['cpu_s'] for row in by_thread if row['opener']), main_s)
                equal('threads of teams', len([row for row in by_thread if not row['opener']]), 6)
            n = 250 * process_s
            close('sampled', section['sampled_cpu']['sum_s'], process_s, (2 * n**0.5 + 0.05 * n) / 250)
            equal('threads', (section['thread_count'], section['thread_sampled']['count']), (2, 8))
            near('a thread', section['thread_sampled']['mean_s'] * 8, section['sampled_cpu']['sum_s'])
            check(
                section['thread_sampled']['max_s'] < 2 * section['thread_sampled']['min_s'],
                '{}',
                section['thread_sampled'],
            )


def hybrid(tap, mpi):
    """Efficiencies of MPI and OpenMP: their products, and their parts as the program measured them."""
    program = mpi.build(os.path.join(HERE, 'hybrid.c'), '-O2', '-g', '-fopenmp', output='planted_hybrid')
    for arguments in ([], ['sound']):
        with tap.test('{}: MPI and OpenMP, {}'.format(mpi, 'sound' if arguments else 'each with its losses')):
            run = mpi.profile(program, 2, arguments, ['--threads']).ended(0)
            line = next(line for line in run.out.splitlines() if line.startswith('truth')).split()
            truth = {k: float(v) for k, v in zip(line[1::2], line[2::2])}
            data = run.report().data
            of, plain = data['hybrid_efficiency'], data['efficiency']
            for key, factors in (
                ('parallel', ('mpi_parallel', 'omp_parallel')),
                ('mpi_parallel', ('mpi_load_balance', 'mpi_communication')),
                ('omp_parallel', ('omp_load_balance', 'omp_scheduling', 'omp_serialization')),
            ):
                product = 1
                for factor in factors:
                    product *= of[factor]
                close(key, of[key], product, 1e-6)
            for key, name in (
                ('mpi_parallel', 'parallel'),
                ('mpi_load_balance', 'load_balance'),
                ('mpi_communication', 'communication'),
            ):
                close(key, of[key], plain[name], 1e-6)  # as many threads on each rank
            if not is_disturbed(run, 0):  # else a thread lost its processor between the program's clock and ours
                for key, wanted in (
                    ('omp_parallel', 'omp'),
                    ('omp_load_balance', 'balance'),
                    ('omp_serialization', 'serialization'),
                ):
                    close(key, of[key], truth[wanted], 0.04)
                for key in ('imbalance_s', 'serialization_s', 'useful_s'):
                    # what the machine takes between the two clocks
                    close(key, of[key], truth[key], 0.1 * truth[key] + 0.04)
            check(of['scheduling_s'] >= 0, '{}', of)
            check(
                'OpenMP'
                in harness.run([harness.FVMPI, 'report', run.directory])
                .ended(0)
                .out.split('Efficiency of MPI and OpenMP')[1],
                'no text',
            )
    with tap.test('{}: what is not recorded is not said'.format(mpi)):
        run = mpi.profile(program, 2, [], []).ended(0)
        equal('without --threads', set(run.report().data['hybrid_efficiency'].values()), {None})
        check('MPI and OpenMP' not in harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out, 'text')


def main():
    tap = harness.Tap()
    mpis = list(harness.mpis(tap) if LONG else harness.an_mpi(tap))
    for mpi in mpis:
        program = mpi.build(os.path.join(HERE, 'threads.c'), '-O2', '-g', '-pthread', output='planted_threads')
        for case in (idle, contended, held, given, crowded, untold):
            case(tap, mpi, program)
        teams(tap, mpi)
        if mpi is mpis[-1] or LONG:  # threads of OpenMP are those of its runtime, under any MPI
            for case in (joined, sections, hybrid):
                case(tap, mpi)
    tap.done()


main()
