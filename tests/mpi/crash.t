#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing recorded is lost to the death of a process, and the application lives and dies as it would
without fvmpi: killed ranks, aborts, exits, hangs, full disks, directories that vanish or never were."""
import os
import random
import shutil
import signal
import struct
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from harness import Skip, wait_until
from report import Mismatch, check, equal

LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics
ROUNDS = 12 if LONG else 2
DISKS = ('16k', '64k', '256k', '1500k', '3m') if LONG else ('16k', '256k')
SLOT = struct.Struct('<8q')


class Job:
    """A run of crash.c in one of its ways, with the truth that it notes."""

    def __init__(self, mpi, way, ranks=2, directory=None, program=None, options=()):
        self.ranks = ranks
        self.slots = os.path.join(harness.scratch('slots'), 'slots')
        self.directory = directory or os.path.join(harness.scratch('exp'), 'e')
        command = [program, self.slots] if program else [mpi.build('crash.c'), way, self.slots]
        self.process = harness.start(mpi.command(ranks, mpi.profiled(command, self.directory, options)))

    def truth(self):
        """[(pid, calls, ready)] of each rank"""
        try:
            with open(self.slots, 'rb') as f:
                data = f.read(SLOT.size * self.ranks)
        except OSError:
            return []
        if len(data) < SLOT.size * self.ranks:
            return []
        return [SLOT.unpack_from(data, SLOT.size * r)[:3] for r in range(self.ranks)]

    def until_ready(self):
        return wait_until(
            lambda: (lambda t: t if t and all(row[2] for row in t) else None)(self.truth()),
            what='the program to get ready',
        )

    def finish(self):
        self.run = harness.finish(self.process, directory=self.directory)
        check(not self.run.late, 'the job did not end')
        wait_until(lambda: all(harness.is_dead(pid) for pid, _, _ in self.truth() if pid), what='the end of the ranks')
        return self.run

    def check_counts(self, exactly=False):
        report = self.run.report()
        report.shape(self.ranks)
        for rank, (_, calls, _) in enumerate(self.truth()):
            found = report.total('MPI_Sendrecv', rank=rank)
            check(
                found in ((calls,) if exactly else (calls, calls + 1)),
                'rank {}: {} calls reported, {} returned',
                rank,
                found,
                calls,
            )
            sent = report.total('MPI_Sendrecv', 'bytes_sent', rank)
            equal('rank {}: bytes'.format(rank), sent, 4 * found)
        return report


def native(mpi, way):
    return harness.run(mpi.command(2, [mpi.build('crash.c'), way, os.path.join(harness.scratch('slots'), 'slots')]))


def check_in_call(report, rank, function, inside, at_least=0.0):
    """Of a dead rank, at_least is 0: how long it was in the call is known up to the last sign of life of
    any rank, which may be the call itself."""
    where = 'rank {}: in_call'.format(rank)
    call = report.rank(rank)['in_call']
    check(call is not None, '{} is null', where)
    equal(where, call['function'], function)
    names = [f['function'] for f in call['path']]
    equal(where + ': path', (names[:1], names[-1:]), ([inside], ['main']))
    seconds = call['for_s']
    check(at_least <= seconds <= report.data['run']['elapsed_s'], '{}: {} seconds', where, seconds)


def states(report):
    return [report.rank(r)['state'] for r in range(report.ranks)]


def killed_at_random(tap, mpi):
    for i in range(ROUNDS):
        with tap.test('{}: rank {} killed at a random moment, round {}'.format(mpi, i % 2, i + 1)):
            job = Job(mpi, 'loop')
            job.until_ready()
            wait_until(lambda: job.truth()[0][1], what='the first call')
            time.sleep(random.uniform(0.0, 0.15))
            os.kill(job.truth()[i % 2][0], signal.SIGKILL)
            job.finish()
            report = job.check_counts()
            equal('state of the killed rank', states(report)[i % 2], 'killed')
            check(states(report)[1 - i % 2] in ('killed', 'exited'), 'states {}', states(report))
            equal('complete', report.data['run']['complete'], False)


def killed_with_everything(tap, mpi):
    """All that can be recorded at once: a report and an archive, and what had returned by then."""
    program = mpi.build('crash_all.c', '-finstrument-functions', '-pthread')
    options = [
        '--trace',
        '--sample',
        '--functions',
        *harness.FRONTS,
        *([] if harness.SANITIZER else ['--threads']),
        '--sensors',
        'vmstat',
        '--sensors-hz',
        '50',
    ]
    for i in range(ROUNDS):
        with tap.test('{}: killed while all is recorded, round {}'.format(mpi, i + 1)):
            job = Job(mpi, '', program=program, options=options)
            job.until_ready()
            wait_until(lambda: job.truth()[0][1], what='the first call')
            time.sleep(random.uniform(0.0, 0.5))
            os.kill(job.truth()[i % 2][0], signal.SIGKILL)
            job.finish()
            report = job.check_counts()
            equal('state of the killed rank', states(report)[i % 2], 'killed')
            with open(job.slots, 'rb') as f:
                steps = [SLOT.unpack(f.read(SLOT.size))[3] for _ in range(job.ranks)]
            (row,) = [row for row in report.data['instrumented'] if row['function'] == 'step']
            check(
                sum(steps) <= row['calls'] <= sum(steps) + job.ranks,
                'step(): {} calls, {} returned',
                row['calls'],
                steps,
            )
            if shutil.which('otf2-print'):
                otf2_print.merge(job.directory, warnings=None)
            if not harness.FRONTS:
                continue
            for rank, returned in enumerate(steps):
                calls = report.data['memory_ranks'][rank]
                check(
                    calls['malloc_calls'] >= 21 * returned and calls['free_calls'] >= 20 * returned,
                    'rank {}: {} steps, {}',
                    rank,
                    returned,
                    calls,
                )
            for path in (job.slots + '.of-rank-0', job.slots + '.of-rank-1'):
                check(any(row['io_file'] == path for row in report.data['io_files']), '{} is not among the files', path)


def hangs(tap, mpi):
    with tap.test('{}: a hung job shows where it hangs while it hangs'.format(mpi)):
        job = Job(mpi, 'hang')
        job.until_ready()
        time.sleep(0.5)
        live = harness.report_of(job.directory)
        live.shape(2)
        check_in_call(live, 0, 'MPI_Recv', 'ask', at_least=0.2)
        check_in_call(live, 1, 'MPI_Barrier', 'arrive', at_least=0.2)
        equal('exchanges', [live.total('MPI_Sendrecv', rank=r) for r in (0, 1)], [57, 57])
    with tap.test('{}: and after all of it was killed'.format(mpi)):
        harness.kill_all()
        job.finish()
        report = job.check_counts(exactly=True)
        equal('states', states(report), ['killed'] * 2)
        check_in_call(report, 0, 'MPI_Recv', 'ask')
        check_in_call(report, 1, 'MPI_Barrier', 'arrive')
        equal('complete', report.data['run']['complete'], False)
        text = harness.run([harness.FVMPI, 'report', job.directory]).ended(0).out
        check(
            'MPI_Recv' in text and 'ask' in text and 'killed' in text, 'the text report does not tell:\n{}', text[:1500]
        )


WAYS = {
    'abort': (['killed', 'exited'], 'killed', None),
    'segv': (['killed', 'exited'], 'killed', None),
    'exit': (['killed', 'exited'], None, None),  # the first one's status makes MPICH's mpiexec kill the other
    '_exit': (['killed', 'exited'], None, None),
    'mpi_abort': (['killed', 'exited'], None, ('MPI_Abort', 'die_by_abort')),
}


def dies(mpi, way):
    rank0, rank1, call = WAYS[way]
    plain = native(mpi, way)
    job = Job(mpi, way)
    run = job.finish()
    # MPICH's mpiexec tells of the rank whose end it sees first: of ours, or of one that it ended itself
    race = {'abort': (6, 15), 'segv': (11, 15)}.get(way, ()) if mpi.name == 'mpich' else ()
    check(run.rc == plain.rc or run.rc in race, 'exit status {}, without us {}', run.rc, plain.rc)
    equal('output', run.out.replace(str(job.truth()[1][0]), 'PID'), plain.out) if way in ('exit', '_exit') else None
    report = job.check_counts(exactly=True)
    found = states(report)
    check(found[0] in rank0, 'state of rank 0: {}', found[0])
    check(found[1] == rank1 if rank1 else found[1] in ('killed', 'exited'), 'state of rank 1: {}', found[1])
    equal('complete', report.data['run']['complete'], False)
    check(way != 'exit' or 'exited' in found, 'states {}', found)
    if way in ('exit', '_exit'):
        equal('in no call', [report.rank(r)['in_call'] for r in (0, 1)], [None, None])
    else:
        check_in_call(report, 0, 'MPI_Recv', 'ask')
    if way == 'mpi_abort':  # what the launcher did to the other rank comes behind
        first = harness.run([harness.FVMPI, 'report', job.directory]).ended(0).out.splitlines()[0]
        check(first.startswith('Aborted: rank 1 called MPI_Abort'), '{}', first)
    if call:
        check_in_call(report, 1, *call)
    elif way in ('abort', 'segv'):
        equal('rank 1 in no call', report.rank(1)['in_call'], None)


def lives_on(mpi, way, directory, warned=True):
    """The application goes on as if nothing was; at most one line a rank says what is wrong."""
    job = Job(mpi, way, directory=directory)
    run = job.finish().ended(0)
    equal('output', run.out, 'good end of {}\n'.format(way))
    said = [line for line in run.err.splitlines() if line.strip()]
    equal('lines on stderr that are not ours', [line for line in said if not line.startswith('fvmpi: ')], [])
    if warned:
        check(1 <= len(said) <= 2, 'stderr has {} lines:\n{}', len(said), run.err)
    return job


def disks(tap, mpi):
    for size in DISKS:
        with tap.test('{}: disk of {} full'.format(mpi, size)):
            with harness.Mounted('size=' + size) as path:
                job = lives_on(mpi, 'grow', os.path.join(path, 'e'), warned=False)
                done = harness.run([harness.FVMPI, 'report', job.directory, '--json', '-'])
                check(done.rc in (0, 1) and not done.late, 'report ends with {}: {}', done.rc, done.err)
                if done.rc == 1:
                    check(done.err.startswith('fvmpi: '), 'report says {!r}', done.err)
                    check(job.run.err.startswith('fvmpi: '), 'no warning: {!r}', job.run.err)
                    check(size in ('16k', '64k', '256k'), 'nothing at all was recorded')
                else:
                    report = job.run.report()
                    report.shape()
                    text = harness.run([harness.FVMPI, 'report', job.directory]).ended(0).out
                    check('too many were made' not in text, 'the disk was full, but:\n{}', text)
                    for entry in report.data['ranks']:
                        rank = entry['rank']
                        equal('state of rank {}'.format(rank), entry['state'], 'finalized')
                        found, truth = report.total('MPI_Sendrecv', rank=rank), job.truth()[rank][1]
                        lost = report.dropped(rank)
                        if lost:
                            check('fvmpi: ' in job.run.err, 'rank {}: {} dropped and nothing was said', rank, lost)
                        check(
                            found <= truth <= found + lost,
                            'rank {}: {} of {} calls, {} dropped',
                            rank,
                            found,
                            truth,
                            lost,
                        )
    with tap.test('{}: a limit on the size of files'.format(mpi)):
        job = lives_on(mpi, 'limited', os.path.join(harness.scratch('exp'), 'e'))
        report = job.run.report()
        report.shape(2)
        for rank in (0, 1):
            found, truth, lost = report.total('MPI_Sendrecv', rank=rank), job.truth()[rank][1], report.dropped(rank)
            check(lost > 0, 'rank {}: nothing was dropped', rank)
            check(found <= truth <= found + lost, 'rank {}: {} of {} calls, {} dropped', rank, found, truth, lost)
    with tap.test('{}: directory removed while running'.format(mpi)):
        job = Job(mpi, 'slow')
        job.until_ready()
        shutil.rmtree(job.directory)
        run = job.finish().ended(0)
        equal('output', run.out, 'good end of slow\n')
        done = harness.run([harness.FVMPI, 'report', job.directory])
        check(done.rc == 1 and done.err.startswith('fvmpi: ') and not done.out, 'report: {} {!r}', done.rc, done.err)
    with tap.test('{}: directory below a file'.format(mpi)):
        lives_on(mpi, 'slow', '/dev/null/x')
    with tap.test('{}: read-only directory'.format(mpi)):
        with harness.Mounted('ro') as path:
            lives_on(mpi, 'slow', os.path.join(path, 'e'))


def main():
    tap = harness.Tap()
    harness.patiently()
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]  # of what is the file's, not the MPI's
    for mpi in harness.mpis(tap):
        killed_at_random(tap, mpi)
        if str(mpi) in each or LONG:
            killed_with_everything(tap, mpi)
        hangs(tap, mpi)
        tap.together([('{}: {}'.format(mpi, way), dies, mpi, way) for way in WAYS], 2)
        if str(mpi) not in each:
            continue
        with tap.test('{}: endless call paths are all counted'.format(mpi)):
            job = Job(mpi, 'grow')
            run = job.finish().ended(0)
            report = run.report()
            report.sane(2)
            sites = report.callsites('MPI_Sendrecv')
            equal('call sites', len(sites), 4096)
            equal('calls', [report.total('MPI_Sendrecv', rank=r) for r in (0, 1)], [4096, 4096])
        disks(tap, mpi)
    tap.done()


main()
