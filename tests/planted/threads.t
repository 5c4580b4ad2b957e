#!/usr/bin/env python3
"""Threads that wait for a known reason: idle workers are no contention, a contended lock is the first finding, a lock that is
held is told whoever waits for it, and a main thread that waits for its workers does not compute. By what the program measured."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'mpi')]
import harness
from findings import first_lines, found
from report import check, close, equal


def near(what, seconds, wanted):
    close(what, seconds, wanted, 0.15 * wanted + 0.002)


class Ran:
    def __init__(self, mpi, program, *arguments):
        self.run = mpi.profile(program, 2, arguments, ['--threads=hold']).ended(0)
        line = re.search(r'^truth wait_s (\S+) main_s (\S+) hold_s (\S+)$', self.run.out, re.M)
        check(line, 'no truth in {!r}', self.run.out)
        self.wait_s, self.main_s, self.hold_s = (float(x) for x in line.groups())
        self.data = harness.report_of(self.run.directory).data
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
    for problem, kind, function in (('pool', 'cond', 'next_task'), ('semaphore', 'sem', 'next_by_semaphore')):
        with tap.test('{}: workers idle at a {}'.format(mpi, kind)):
            ran = Ran(mpi, program, problem)
            equal('first finding', ran.findings[0]['name'], 'idle_workers')
            equal('function', ran.findings[0]['function'], function)
            near('idle', ran.waiting['idle_s'], ran.wait_s)
            near('lost', ran.findings[0]['lost_s'], ran.lost(ran.wait_s))
            equal('contended', ran.finding('contended_lock'), None)
            check('workers idle for want of tasks' in ran.first, '{}', ran.first)
            contended = re.search(r'most: (.*?) \(', ran.first.split('Findings')[0]) # MPI has locks of its own
            check(not contended or function not in contended.group(1), '{}', ran.first)
            equal('idle at', [k['kind'] for k in ran.data['locks'] if k['idle_s'] > 0], [kind])
        with tap.test('{}: workers with work, at a {}'.format(mpi, kind)):
            ran = Ran(mpi, program, problem, 'sound')
            # the program's own clock also counts a worker that lost its processor when a task was there at once
            check(ran.waiting['idle_s'] <= 1.15 * ran.wait_s + 0.002, 'idle {}, at most {}', ran.waiting['idle_s'], ran.wait_s)
            check(not ran.finding('idle_workers') or ran.lost(ran.wait_s) > 0.017 * ran.data['run']['rank_time']['total_s'],
                  '{}', ran.findings)
            near('main threads', ran.main_wait(), ran.main_s)
            near('main threads in all', ran.waiting['main_wait_s'], ran.main_s)
            total = ran.data['run']['rank_time']
            told = re.search(r'compute (\S+) %, waiting for threads (\S+) %, MPI (\S+) %', ran.first)
            check(told, '{}', ran.first)
            near('told', float(told.group(2)) / 100 * total['total_s'], ran.main_s)
            near('computing', float(told.group(1)) / 100 * total['total_s'], total['compute_s'] - ran.main_wait())


def contended(tap, mpi, program):
    with tap.test('{}: a contended mutex'.format(mpi)):
        ran = Ran(mpi, program, 'contended')
        first = ran.findings[0]
        equal('finding and function', (first['name'], first['function']), ('contended_lock', 'update'))
        check('cells' in first['text'] and 'update() at threads.c' in first['text'], '{}', first)
        near('waited', ran.lock('cells')['wait_s'], ran.wait_s)
        near('lost', first['lost_s'], ran.lost(ran.wait_s))
        near('idle', ran.waiting['idle_s'], 0)
        check('most: cells (mutex)' in ran.first, '{}', ran.first)
        for rank in ran.data['ranks']: # contend(): 60 times 5 ms of CPU time in each of two threads
            workers = [t for t in rank['threads'] if not t['main']]
            near('CPU time of workers', sum(t['user_s'] + t['system_s'] for t in workers), 0.6)
            close('user and system', rank['user_s'] + rank['system_s'], rank['cpu_s'], 1e-6)
            check(sum(t['user_s'] + t['system_s'] for t in rank['threads']) <= rank['cpu_s'] + 0.02, 'threads of {}', rank)
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
            if told and ran.lock('cells')['hold_share'] > 0.26: # MPI_Init takes as long as it likes
                check(share, 'not told: {}', ran.text)
                near('share in words', float(share.group(1)) / 100, ran.lock('cells')['hold_share'])
            equal('said of one thread', bool(share) and not told, False)


def teams(tap, mpi):
    program = mpi.build(os.path.join(HERE, 'omp.c'), '-O2', '-g', '-fopenmp', output='planted_omp')
    for arguments in ([], ['sound']):
        with tap.test('{}: threads of a region that have {}'.format(mpi, 'the same to do' if arguments else 'different times')):
            run = mpi.profile(program, 2, arguments, ['--threads']).ended(0)
            lost = float(re.search(r'^truth lost_s (\S+)$', run.out, re.M).group(1))
            total = harness.report_of(run.directory).data['run']['rank_time']['total_s']
            finding = next((f for f in found(run) if f['name'] == 'thread_imbalance'), None)
            if arguments: # threads of a busy machine do not get the same
                check(not finding or lost > 0.017 * total, '{}, lost {} of {} s', finding, lost, total)
                continue
            check(finding, 'none: {}', found(run))
            equal('function', finding['function'], 'relax')
            check('region in relax() at omp.c' in finding['text'], '{}', finding)
            near('lost', finding['lost_s'], lost)


def main():
    tap = harness.Tap()
    for mpi in harness.mpis(tap):
        program = mpi.build(os.path.join(HERE, 'threads.c'), '-O2', '-g', '-pthread', output='planted_threads')
        for case in (idle, contended, held):
            case(tap, mpi, program)
        teams(tap, mpi)
    tap.done()


main()
