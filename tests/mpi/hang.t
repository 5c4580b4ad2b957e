#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that hang: who waits for whom is told, while they hang and after they were killed, with a profile and with
a trace; and what a rank exited with."""
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import wait_until
from report import Mismatch, check, equal

TOGETHER = 8  # jobs that hang at a time

# way, ranks, traced: ranks that depend on each other; whom the others wait for, and how many they are; what the text of
# each rank must be; of the headline
CASES = [
    (
        'head',
        2,
        False,
        {0, 1},
        None,
        {
            0: r'in MPI_Recv waits to receive from rank 1 \(tag 5, MPI_COMM_WORLD\)',
            1: r'in MPI_Recv waits to receive from rank 0 \(tag 7, ',
        },
        r'ranks 0 and 1 wait for each other',
    ),
    (
        'ring',
        3,
        False,
        {0, 1, 2},
        None,
        {r: r'in MPI_Ssend waits to send to rank {} \(tag 3, '.format((r + 1) % 3) for r in range(3)},
        r'ranks 0-2 wait for each other',
    ),
    (
        'barrier',
        4,
        False,
        {0, 1, 2, 3},
        None,
        {
            0: r'in MPI_Barrier waits for rank 2 \(collective call 2 on MPI_COMM_WORLD\)',
            2: r'in MPI_Finalize waits for ranks 0, 1, 3 to call it, too',
        },
        r'ranks 0-3 wait',
    ),
    (
        'order',
        2,
        False,
        {0, 1},
        None,
        {
            0: r'in MPI_Barrier waits for rank 1 \(collective call 1 on one\)',
            1: r'in MPI_Barrier waits for rank 0 \(collective call 1 on two\)',
        },
        r'0 and 1',
    ),
    (
        'loop',
        3,
        False,
        None,
        ('active', [2], 2),
        {
            0: r'in MPI_Wait waits to receive from rank 2 \(tag 4, ',
            1: r'in MPI_Recv waits to receive from rank 0 \(tag 4, ',
            2: r'outside of MPI, .*MPI_Barrier$',
        },
        r'2 ranks wait for rank 2, which is outside of MPI',
    ),
    ('isend', 2, False, {0, 1}, None, {0: r'in MPI_Wait waits to send to rank 1 \(tag 6, '}, r'0 and 1 wait for each'),
    (
        'any',
        3,
        False,
        {0, 1, 2},
        None,
        {0: r'in MPI_Recv waits to receive from any of ranks 1 and 2 \(tag 8, '},
        r'0-2 wait',
    ),
    (
        'roots',
        2,
        False,
        {0, 1},
        None,
        {},
        r'rank 0 calls MPI_Bcast with root 1, rank 1 with root 0, as collective call 2 on MPI_COMM_WORLD',
    ),
    ('calls', 2, False, {0, 1}, None, {}, r'rank 0 calls MPI_Bcast, rank 1 MPI_Reduce, as collective call 2 on '),
    (
        'sendrecv',
        2,
        False,
        {0, 1},
        None,
        {0: r'to send to rank 1 \(tag 1, .*or to receive from rank 1 \(tag 2, '},
        r'0 and 1',
    ),
    (
        'waitall',
        3,
        False,
        {0, 1, 2},
        None,
        {1: r'in MPI_Waitall waits to receive from rank 0 .*or to receive from rank 2'},
        r'ranks 0-2 wait for each other',
    ),
    (
        'ibarrier',
        2,
        False,
        {0, 1},
        None,
        {0: r'in MPI_Wait waits for rank 1 \(collective call 2 on MPI_COMM_WORLD\)'},
        r'ranks 0 and 1',
    ),
    ('head', 2, True, {0, 1}, None, {0: r'receive from rank 1 \(tag 5'}, r'ranks 0 and 1 wait for each other'),
    ('isend', 2, True, {0, 1}, None, {0: r'in MPI_Wait waits to send to rank 1 \(tag 6, '}, r'ranks 0 and 1'),
    ('ibarrier', 2, True, {0, 1}, None, {0: r'in MPI_Wait waits for rank 1 \(collective call 2'}, r'ranks 0 and 1'),
]


class Job:
    def __init__(self, mpi, case):
        self.way, self.ranks, self.traced, self.cycle, self.cause, self.texts, self.headline = case
        self.directory = os.path.join(harness.scratch('exp'), 'e')
        options = ['--trace'] if self.traced else []
        program = mpi.build('hang.c')
        self.process = harness.start(
            mpi.command(self.ranks, mpi.profiled([program, self.way], self.directory, options))
        )

    def hang(self, waiting):
        """What a report says when so many ranks wait."""
        if not os.path.isdir(self.directory) or len(os.listdir(self.directory)) <= self.ranks:
            return None
        try:
            hang = harness.report_of(self.directory).data['hang']
        except Mismatch:
            return None
        return hang if hang and hang['waiting_count'] == waiting else None

    def judge(self, hang, running):
        check(
            re.match('Still running: ' if running else 'Killed(; if it hung before)?: ', hang['text']),
            'headline: {}',
            hang['text'],
        )
        check(re.search(self.headline, hang['text']), 'headline: {}', hang['text'])
        if running:
            check(hang['lasting'], 'not lasting')
        found = [set(c['rank_list']) for c in hang['cycles']]
        equal('cycles', len(found), 1 if self.cycle else 0)
        if self.cycle:
            equal('ranks in it', hang['cycles'][0]['rank_count'], len(self.cycle))
            check(found[0] <= self.cycle and len(found[0]) > 1, 'cycle {}', found[0])
            equal('stuck', {r['rank'] for r in hang['per_rank'] if r['stuck']}, self.cycle)
        causes = [(c['hang_state'], c['rank_list'], c['waiting_count']) for c in hang['causes']]
        equal('causes', causes, [self.cause] if self.cause else [])
        for rank, text in self.texts.items():
            check(re.search(text, hang['per_rank'][rank]['text']), '{}', hang['per_rank'][rank]['text'])


def hangs(tap, mpi, cases):
    jobs = [Job(mpi, case) for case in cases]
    for job in jobs:
        name = '{}: {}{}'.format(mpi, job.way, ', traced' if job.traced else '')
        with tap.test(name + ', while it hangs'):
            waiting = job.ranks if job.cycle else job.cause[2]
            hang = wait_until(lambda: job.hang(waiting), what='that {} ranks wait'.format(waiting), pause=0.2)
            job.judge(hang, running=True)
            first = harness.run([harness.FVMPI, 'report', job.directory]).ended(0).out.splitlines()
            check(first[0].startswith('Still running: '), 'first line: {}', first[0])
    harness.kill_all()
    for job in jobs:
        with tap.test('{}: {}{}, after it was killed'.format(mpi, job.way, ', traced' if job.traced else '')):
            harness.finish(job.process, directory=job.directory)
            hang = wait_until(
                lambda: (lambda h: h if not h['text'].startswith('Still') else None)(
                    harness.report_of(job.directory).data['hang']
                ),
                what='the end of the ranks',
            )
            job.judge(hang, running=False)
            text = harness.run([harness.FVMPI, 'report', job.directory]).ended(0).out
            check(re.search('^Which rank waits for which', text, re.M), 'no section:\n{}', text[:1500])
            check('measure a longer run' not in text, 'advice for a run that went well:\n{}', text[:1500])
            if job.way == 'loop':
                check(
                    re.search(
                        r'^  rank 2 killed, outside of MPI, last in MPI_Barrier:\n +main  hang.c:\d+$', text, re.M
                    ),
                    'not where it came from:\n{}',
                    text[:1500],
                )
                last = harness.report_of(job.directory).rank(2)['last_call']
                equal('last call', (last['function'], last['path'][0]['function']), ('MPI_Barrier', 'main'))


def ended_by_a_launcher(tap, mpi):
    """As by Ctrl-C, or at a time limit."""
    with tap.test('{}: a rank that slept when SIGTERM ended the job held it up, and did not compute'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        process = harness.start(mpi.command(2, mpi.profiled([mpi.build('hang.c'), 'sleeping'], directory)))

        def waits():
            if not os.path.isdir(directory) or len(os.listdir(directory)) <= 2:
                return None
            hang = harness.report_of(directory).data['hang']
            return hang and hang['lasting'] and hang['causes']

        wait_until(waits, what='that rank 0 waits', pause=0.2)
        found = {f['name']: f for f in harness.report_of(directory).data['findings']}
        check('hang' in found and not [name for name in found if 'imbalance' in name], 'while it runs: {}', found)
        os.kill(process.pid, signal.SIGTERM)
        harness.finish(process, directory=directory)
        found = {f['name']: f for f in harness.report_of(directory).data['findings']}
        check('hang' in found and not [name for name in found if 'imbalance' in name], 'behind it: {}', found)
        equal('rank, which may go on', (found['hang']['rank'], found['hang']['title']), (1, 'Held up'))


def progress(directory, rank):
    """Ticks of the last clock sample, of the last one that found progress, and a child; None: not yet."""
    path = os.path.join(directory, 'rank-%06d.fvr' % rank)
    header = harness.run([harness.FVMPI, 'dump', path]).out if os.path.exists(path) else ''
    found = [re.search(r' %s=(\d+)' % name, header) for name in ('alive_ticks', 'progress_ticks', 'child_ticks')]
    return [int(f.group(1)) for f in found] if all(found) else None


def in_vain(tap, mpi):
    """test_hang.c has what follows from it after ten seconds."""
    for way in 'asking', 'askers', 'child':
        with tap.test('{}: {}: ranks that ask in vain make no progress'.format(mpi, way)):
            goes_in_vain(mpi, way)
    for way in 'worker', 'between':
        with tap.test('{}: {}: who computes makes progress'.format(mpi, way)):
            computes(mpi, way)


def goes_in_vain(mpi, way):
    directory = os.path.join(harness.scratch('exp'), 'e')
    command = mpi.profiled([mpi.build('hang.c', '-pthread'), way], directory, ['--sample'])
    process = harness.start(mpi.command(2, command))

    def asks():
        found = [progress(directory, rank) for rank in range(2)]
        # a first sample may come late
        return all(found) and all(f[1] and f[0] - f[1] > 4e9 and (f[2] > f[1]) == (way == 'child') for f in found)

    wait_until(asks, what='that both ranks ask in vain', pause=0.2)
    os.kill(process.pid, signal.SIGTERM)
    harness.finish(process, directory=directory)


def computes(mpi, way):
    """Two seconds after their first sample, when no call has come back with anything."""
    directory, first = os.path.join(harness.scratch('exp'), 'e'), {}
    program = mpi.build('hang.c', '-pthread')
    process = harness.start(mpi.command(2, mpi.profiled([program, way], directory)))

    def goes_on():
        found = [progress(directory, rank) for rank in range(2)]
        for rank, ticks in enumerate(found):
            if ticks and rank not in first:
                first[rank] = ticks[0]
        return all(
            ticks and ticks[1] and ticks[0] - first[rank] > 6e9 and ticks[0] - ticks[1] < 3e9
            for rank, ticks in enumerate(found)
        )

    wait_until(goes_on, what='that both ranks make progress', pause=0.1)
    os.kill(process.pid, signal.SIGTERM)
    harness.finish(process, directory=directory)


def statuses(tap, mpi):
    with tap.test('{}: what a rank exited with is told'.format(mpi)):
        run = mpi.profile(mpi.build('hang.c'), 2, ['status'])
        check(not run.late and run.rc, 'exit status {}', run.rc)
        report = run.report()
        rank = report.rank(1)
        equal('rank 1', (rank['state'], rank['exit_status']), ('exited', 3))
        equal(
            'rank 0',
            report.rank(0)['exit_status'],
            None if report.rank(0)['state'] == 'killed' else report.rank(0)['exit_status'],
        )
        text = report.data['hang']['text']
        check(
            re.search(r'rank 0 waits for rank 1, which exited without MPI_Finalize \(exit status 3\)', text), '{}', text
        )
        found = [f for f in report.data['findings'] if f['name'] == 'hang']
        for finding in found:  # rank 0 had waited for a second when the launcher ended it
            check('Its last call was in main() at hang.c:' in finding['text'], '{}', finding)
            check('exit()' in finding['next'], '{}', finding)
        text = harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out
        check(re.search('^  rank 1 exited with status 3, outside of MPI', text, re.M), '{}', text[:1500])
    with tap.test('{}: a run that ends well does not hang'.format(mpi)):
        report = mpi.profile(mpi.build('hang.c'), 2, ['none']).ended(0).report()
        equal('hang', report.data['hang'], None)
        equal('exit status', [report.rank(r)['exit_status'] for r in (0, 1)], [0, 0])


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.an_mpi(tap):
        statuses(tap, mpi)
        ended_by_a_launcher(tap, mpi)
        in_vain(tap, mpi)
        for i in range(0, len(CASES), TOGETHER):
            hangs(tap, mpi, CASES[i : i + TOGETHER])
    tap.done()


main()
