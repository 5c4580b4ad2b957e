#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi where: call paths of all threads of jobs that hang, each in its own way; what is not interrupted; that nothing is
seen of it; and --hang-after, whose looks are in the report after a kill."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import wait_until
from report import check, equal

LOOKS = 8
FAST = ['--looks', str(LOOKS), '--interval', '0.05']


class Job:
    """A job that hangs, from its start to its kill."""

    def __init__(self, mpi, ranks, arguments, options=(), launcher=()):
        self.directory = os.path.join(harness.scratch('exp'), 'e')
        command = mpi.command(ranks, mpi.profiled([mpi.build('where.c')] + arguments, self.directory, list(options)))
        self.process = harness.start(command[:1] + list(launcher) + command[1:])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.kill()

    def kill(self):
        if self.process:
            harness.kill_all(self.process.number)
            harness.finish(self.process, 60)
        self.process = None

    def where(self, *options):
        return harness.run([harness.FVMPI, 'where', self.directory] + FAST + list(options))

    def answer(self):
        return json.loads(self.where('--json', '-').ended(0).out)

    def until(self, holds):
        """Waits until the job is where it is to be."""
        return wait_until(lambda: holds(self.answer_or_none()), what='the hang', pause=0.3, limit=60)

    def answer_or_none(self):
        run = harness.run([harness.FVMPI, 'where', self.directory, '--looks', '1', '--json', '-'])
        return json.loads(run.out) if run.rc == 0 else None


def threads(answer, rank):
    return [t for t in answer['looks']['looked_threads'] if t['rank'] == rank]


def names(thread):
    return [frame['function'] for frame in thread['path']]


def has_come(answer):
    """All of `where all` are where they stay, and were for a second: then they hold others up."""
    if not answer or not answer['looks']:
        return False
    main = {t['rank']: t for t in answer['looks']['looked_threads'] if t['main']}
    return (
        len(main) == 8
        and all(main[r]['mpi_function'] == 'MPI_Allreduce' for r in (0, 1))
        and main[2]['system_call'] == 'read'
        and 'holds up' in main[2]['text']
        and 'solve' in names(main[3])
        and main[4]['holder_tid']
        and main[5]['how'] == 'stopped'
        and main[6]['system_call'] == 'poll'
        and main[7]['mpi_function'] == 'MPI_Recv'
    )


def tree(tap, mpi):
    fifo = os.path.join(harness.scratch('fifo'), 'mesh')
    os.mkfifo(fifo)
    with Job(mpi, 8, ['all', fifo]) as job:
        with tap.test('{}: eight ranks, each where it hangs'.format(mpi)):
            job.until(has_come)
            answer = job.answer()
            equal('looks', answer['looks']['look_count'], LOOKS)
            main = {r: [t for t in threads(answer, r) if t['main']][0] for r in range(8)}
            equal('in norm()', [names(main[r])[:2] for r in (0, 1)], [['norm', 'all']] * 2)
            equal('file', main[2]['call_file'], fifo)
            check('load_mesh' in names(main[2]) and names(main[2])[-1] == 'main', '{}', names(main[2]))
            equal('answers', [main[r]['answer_count'] for r in range(8)], [LOOKS] * 5 + [0, 0, LOOKS])
            equal('how', [main[r]['how'] for r in (5, 6)], ['stopped', 'unrestartable'])
            equal('halo()', names(main[7])[0], 'halo')
        with tap.test('{}: two threads that wait for each other'.format(mpi)):
            first, second = ([t for t in threads(answer, 4) if f in names(t)][0] for f in ('deadlock', 'update'))
            equal('holders', (first['holder_tid'], second['holder_tid']), (second['tid'], first['tid']))
            check('a deadlock' in first['text'], '{}', first['text'])
        with tap.test('{}: the text names who holds others up, and who moves'.format(mpi)):
            text = job.where('--all', '--width', '200').ended(0).out
            where = text[text.index('Where everybody is') :]
            for pattern in (
                r'^  rank 2: read\(\) <- (__interceptor_read\(\) at \S+ <- )?load_mesh\(\) at where.c:\d+ <- all\(\) at where.c:\d+ <- main\(\) at',
                r'^  rank 3: (smooth\(\) <- |restrict_grid\(\) <- )?solve\(\).* <- all\(\).*\n.*loops: [2-8] of 8 looks differ below it',
                r'^  rank 5: \(stopped\).*\n.*not interrupted: it is stopped',
                r'^  rank 4: pthread_mutex_lock\(\) <- deadlock\(\) at where.c:\d+',
                r'^  rank 6: poll\(\).*\n.*not interrupted: its system call would fail \(poll is not begun anew after a signal\); its last call: MPI_\w+ <- ',
                r'^  2 ranks \(0-1\): MPI_Allreduce <- norm\(\) at where.c:\d+ <- all',
                r'^  6 ranks \(0-4, 7\): main\(\) at where.c:\d+$',
                r'^    2 ranks \(0-1\): all\(\) at where.c:\d+ > norm\(\) at where.c:\d+ > MPI_Allreduce$',
            ):
                check(re.search(pattern, where, re.M), 'no {}:\n{}', pattern, where[:4000])
            check(
                where.index('rank 2: read') < where.index('2 ranks (0-1)'),
                'who holds others up is not first:\n{}',
                where,
            )
            check(job.process.poll() is None, 'the job has ended')
        with tap.test('{}: the tables have what the text of the report prints'.format(mpi)):
            looks = harness.profile_of(job.directory)['looks']
            text = harness.run([harness.FVMPI, 'report', job.directory, '--width', '900', '--all']).ended(0).out
            places, branches = text[text.index('Where everybody is') :].split('\n\n')[:2]
            equal(
                'places',
                ['{rank_text}: {place}'.format(**row) for row in looks['places']],
                re.findall(r'^  (\S.*)', places, re.M),
            )
            equal('tree', lines_of(looks['tree']), branches.split('\n')[1:])
            for place in looks['places']:
                check(looks['tree'][place['node_id']]['label'] == place['place'].split(' <- ')[0], '{}', place)
        with tap.test('{}: why a thread was not interrupted is known to who looked alone'.format(mpi)):
            equal('how', [t['how'] for t in looks['looked_threads'] if t['rank'] in (5, 6)], ['stopped', 'untold'])


def lines_of(tree):
    """As text has them: a chain of functions that have the same threads is one line."""

    def below(parent, indent):
        for row in [row for row in tree if row['parent_id'] == parent]:
            chain = [row]
            while True:
                inner = [of for of in tree if of['parent_id'] == chain[-1]['id']][:1]
                if not inner or inner[0]['thread_count'] != row['thread_count']:
                    break
                chain += inner
            yield '{}{}: {}'.format(indent, row['rank_text'], ' > '.join(of['label'] for of in chain))
            yield from below(chain[-1]['id'], indent + '  ')

    return list(below(None, '  '))


def from_elsewhere(job):
    """The answer on another host: one with another name, which has booted at another time."""
    boot_id = os.path.join(harness.scratch('boot'), 'id')
    with open(boot_id, 'w') as f:
        f.write('11111111-2222-3333-4444-555555555555\n')
    enter = 'hostname elsewhere && mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
    host = ['unshare', '--mount', '--uts', 'sh', '-c', enter, boot_id]
    if os.geteuid() or harness.run(host + ['true']).rc:
        raise harness.Skip('no namespaces')
    run = harness.run(host + [harness.FVMPI, 'where', job.directory] + FAST + ['--json', '-'])
    return json.loads(run.ended(0).out)


def elsewhere(tap, mpi):
    with tap.test('{}: ranks on another host, with --hang-after and without'.format(mpi)):
        for options, how in ((['--hang-after', '1000s'], 'looked_at'), ([], 'elsewhere')):
            with Job(mpi, 2, ['order'], options) as job:
                job.until(lambda answer: answer and answer['hang'] and answer['hang']['mismatches'])
                main = [t for t in from_elsewhere(job)['looks']['looked_threads'] if t['main']]
                equal('how', [t['how'] for t in main], [how] * 2)
                equal('in MPI', [t['mpi_function'] for t in main], ['MPI_Bcast', 'MPI_Reduce'])
                equal('answers', [t['answer_count'] for t in main], [LOOKS if options else 0] * 2)


def mismatch(tap, mpi):
    with tap.test('{}: a collective in another order: the finding names the function'.format(mpi)):
        with Job(mpi, 2, ['order'], ['--hang-after', '1s']) as job:
            wait_until(lambda: looks_in(job) == 3, what='three looks of --hang-after', pause=0.3, limit=60)
            job.kill()
            report = harness.profile_of(job.directory)
            [hang] = [f for f in report['findings'] if f['name'] == 'hang']
            check('rank 0 calls MPI_Bcast, rank 1 MPI_Reduce' in hang['text'], '{}', hang['text'])
            equal('function', hang['function'], 'order')
            text = harness.run([harness.FVMPI, 'report', job.directory, '--width', '200']).ended(0).out
            check(re.search(r'^Where everybody is.*3 looks', text, re.M), 'no looks:\n{}', text[:3000])
            check(re.search(r'^  rank 0: MPI_Bcast <- order\(\) at where.c', text, re.M), '{}', text[:3000])


def asking(tap, mpi):
    with tap.test('{}: a rank that asks in vain makes no progress; one whose messages come does'.format(mpi)):
        with Job(mpi, 2, ['asks'], ['--hang-after', '1s']) as job:
            wait_until(lambda: looks_in(job) == 3, what='three looks of --hang-after', pause=0.3, limit=60)
            job.kill()
            looks = harness.profile_of(job.directory)['looks']['looked_threads']
            [names_of_first] = [names(t) for t in looks if t['rank'] == 0 and t['main']]
            check('ask' in names_of_first, '{}', looks)
        for how in ('answers', 'warms'):
            with Job(mpi, 1, [how], ['--hang-after', '2s']) as job:
                harness.finish(job.process, 60)
                job.process = None
                equal(how + ': looks', looks_in(job), 0)
                equal(how + ': ended', harness.profile_of(job.directory)['ranks'][0]['state'], 'finalized')


def stopped(tap, mpi):
    with tap.test('{}: a rank that is stopped is not only outside of MPI; the hang is the first finding'.format(mpi)):
        with Job(mpi, 2, ['stopped']) as job:
            job.until(lambda a: a and a['hang'] and a['hang']['lasting'] and threads(a, 1)[0]['how'] == 'stopped')
            answer = job.answer()
            [cause] = answer['hang']['causes']
            equal('state', (cause['hang_state'], cause['rank_list']), ('stopped', [1]))
            words = 'rank 0 waits for rank 1, which is stopped (SIGSTOP), outside of MPI, '
            check(words in answer['hang']['text'], '{}', answer['hang']['text'])
            hang = harness.profile_of(job.directory)['findings'][0]
            equal('first finding', (hang['name'], hang['rank']), ('hang', 1))
            check(words in hang['text'], '{}', hang['text'])
            check('kill -CONT ' in hang['next'], '{}', hang['next'])


def lost(tap, mpi):
    with tap.test('{}: a lost message: its receiver holds all up'.format(mpi)):
        with Job(mpi, 4, ['lost']) as job:
            job.until(lambda a: a and a['hang'] and any(c['lasting'] for c in a['hang']['cycles']))
            text = job.where('--all', '--width', '200').ended(0).out
            places, tree = text[text.index('Where everybody is') :].split('The same as a tree')
            receives, others = r'^ +rank 1: MPI_Recv <- halo\(\)', r'^ +3 ranks \(0, 2-3\): MPI_Allreduce <- norm\(\)'
            at = [re.search(pattern, places, re.M) for pattern in (receives, others)]
            check(all(at) and at[0].start() < at[1].start(), 'not in that order:\n{}', places)
            at = [tree.find(branch) for branch in ('  rank 1: lost()', '  3 ranks (0, 2-3): lost()')]
            check(-1 < at[0] < at[1], 'not in that order:\n{}', tree)
            handled = r'read\(\) <- (?:__interceptor_read\(\) at \S+ <- )?on_user_signal\(\) at where.c:\d+ <- (\S+) .*background\(\)'
            handler = re.search(handled, places)
            check(handler, 'no thread in background():\n{}', places)
            if os.uname().machine == 'x86_64':
                check('<- (signal handler) <-' in handler.group(0), '{}', handler.group(0))
            helper = places.find(' of another thread')
            check(helper < 0 or handler.start() < helper, "MPI's threads come first:\n{}", places)
            [hang] = [f for f in harness.profile_of(job.directory)['findings'] if f['name'] == 'hang']
            equal('whose fault', (hang['rank'], hang['function']), (1, 'halo'))
            expected = 'Rank 1 in MPI_Recv waits to receive from rank 0 (tag 42, MPI_COMM_WORLD)'
            check(expected in hang['text'], '{}', hang['text'])


def calls_in(job):
    report = harness.profile_of(job.directory)
    return sum(f['count'] for f in report['mpi_functions'])


def healthy(tap, mpi):
    """Killed long after somebody looked at it."""
    with tap.test('{}: a run that goes on after a look, and is killed: no hang'.format(mpi)):
        with Job(mpi, 2, ['healthy']) as job:
            job.until(lambda a: a and a['looks'] and all(t['answer_count'] for r in (0, 1) for t in threads(a, r)[:1]))
            before = calls_in(job)
            wait_until(lambda: calls_in(job) > before + 20, what='20 calls', pause=0.2, limit=60)
            job.kill()
            report = harness.profile_of(job.directory)
            check(report['looks'], 'no looks')
            equal('findings', [f['text'] for f in report['findings'] if f['name'] == 'hang'], [])


def looks_in(job):
    run = harness.run([harness.FVMPI, 'report', job.directory, '--json', '-', '--no-symbols'])
    looks = json.loads(run.out)['looks'] if run.rc == 0 else None
    return looks['look_count'] if looks else 0


def dead(tap, mpi):
    """MPICH ends the others, too."""
    with tap.test('{}: a dead rank'.format(mpi)):
        with Job(mpi, 2, ['dead'], launcher=['--enable-recovery'] if str(mpi) == 'openmpi' else []) as job:
            if str(mpi) == 'openmpi':
                job.until(
                    lambda a: a
                    and a['looks']
                    and [t['how'] for t in a['looks']['looked_threads'] if t['rank'] == 1] == ['dead']
                    and a['hang']['lasting']
                )
                text = job.where('--width', '200').ended(0).out
                check(re.search(r'^  rank 1: .*\n.*dead: it was killed', text, re.M), '{}', text)
                check('waits for rank 1, which is dead: killed outside of MPI' in text, '{}', text)
                check('MPI_Allreduce <- norm()' in text, '{}', text)
            else:
                wait_until(lambda: job.process.poll() is not None, what='the end', limit=60)
                run = job.where()
                check(run.rc == 1 and 'no rank of it runs' in run.err, '{}: {}{}', run.rc, run.out, run.err)


def signals(tap, mpi):
    with tap.test('{}: no signal is free, or it is blocked'.format(mpi)):
        with Job(mpi, 3, ['signal']) as job:
            job.until(
                lambda a: a
                and a['looks']
                and [t['how'] for t in a['looks']['looked_threads'] if t['main']]
                == ['looked_at', 'no_signal', 'blocked']
            )
            text = job.where('--width', '200').ended(0).out
            check('not interrupted: its process has no signal free for it' in text, '{}', text)
            check('not interrupted: it blocks the signal' in text, '{}', text)


def same_results(tap, mpi):
    with tap.test('a program with 100,000 restartable calls that is looked at 50 times'):
        program = mpi.build('where_calls.c', '-pthread')
        expected = harness.run([program]).ended(0).out
        directory = os.path.join(harness.scratch('exp'), 'e')
        process = harness.start([harness.FVMPI, 'run', '-o', directory, program])
        looks = answers = 0
        while process.poll() is None and looks < 50:
            run = harness.run([harness.FVMPI, 'where', directory, '--looks', '16', '--interval', '0.01', '--json', '-'])
            if run.rc == 0:
                looks += 16
                answers += sum(t['answer_count'] for t in json.loads(run.out)['looks']['looked_threads'])
        run = harness.finish(process, 60).ended(0)
        equal('output', run.out, expected)
        check(' 0 interrupted, 0 wrong, lock 0' in run.out, '{}', run.out)
        check(looks >= 50 and answers >= looks, '{} looks, {} answers', looks, answers)


PYTHON = """
import time
def load(path):
    return open(path, 'rb').read(1)
def main():
    load(%r)
main()
"""


def python(tap):
    with tap.test("Python's frames"):
        fifo = os.path.join(harness.scratch('fifo'), 'data')
        os.mkfifo(fifo)
        script = fifo + '.py'
        with open(script, 'w') as f:
            f.write(PYTHON % fifo)
        directory = os.path.join(harness.scratch('exp'), 'e')
        process = harness.start([harness.FVMPI, 'run', '-o', directory, sys.executable, script])

        def paths():
            run = harness.run([harness.FVMPI, 'where', directory, '--looks', '1', '--json', '-'])
            found = json.loads(run.out)['looks']['looked_threads'] if run.rc == 0 else []
            return found and 'load' in names(found[0]) and found[0]

        try:
            thread = wait_until(paths, what='the call of load()', pause=0.2, limit=30)
        finally:
            harness.kill_all(process.number)
            harness.finish(process, 60)
        calls = names(thread)
        check(calls.index('load') < calls.index('main'), '{}', calls)
        equal('system call', thread['system_call'], 'openat')


def wrong_use(tap):
    with tap.test('errors'):
        empty = harness.scratch('empty')
        run = harness.run([harness.FVMPI, 'where', empty])
        check(run.rc == 1 and empty in run.err, '{} {}', run.rc, run.err)
        for words in (['--looks', '0'], ['--interval', 'x'], ['a', 'b'], []):
            run = harness.run([harness.FVMPI, 'where'] + words)
            check(run.rc == 2 and run.err, '{}: {} {}', words, run.rc, run.err)
        json.loads(harness.run([harness.FVMPI, 'where', '--schema']).ended(0).out)


def rights(tap):
    with tap.test('an experiment of somebody else'):
        other = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
        if os.geteuid() or harness.run(other + [harness.FVMPI, '--version']).rc:
            raise harness.Skip('not root, no setpriv, or others may not read the build')
        for options, words in (([], "an experiment is its owner's alone"), (['--share'], "it is another user's")):
            directory = os.path.join(harness.scratch('exp'), 'e')
            for folder in (os.path.dirname(directory), os.path.dirname(os.path.dirname(directory))):
                os.chmod(folder, 0o755)
            process = harness.start(
                [harness.FVMPI, 'run', '-q', '-o', directory] + options + ['--mpi', 'serial', 'sleep', '100']
            )
            try:
                wait_until(lambda: harness.run([harness.FVMPI, 'where', directory]).rc == 0, what='the rank', limit=60)
                run = harness.run(other + [harness.FVMPI, 'where', directory, '--looks', '1'])
                keep = harness.run(other + [harness.FVMPI, 'keep', directory])
            finally:
                harness.kill_all(process.number)
                harness.finish(process, 60)
            check(words in run.out + run.err, '{}{}', run.out, run.err)
            equal('status', (run.rc, keep.rc), (0 if options else 1, 1))
            check(('name another directory with -o' if options else words) in keep.err, '{}', keep.err)


def main():
    tap = harness.Tap()
    wrong_use(tap)
    rights(tap)
    for mpi in harness.an_mpi(tap):
        for test in (tree, stopped, lost, mismatch, asking, healthy, elsewhere, signals, same_results):
            test(tap, mpi)
    for mpi in harness.mpis(tap, quiet=True):
        dead(tap, mpi)
    python(tap)
    tap.done()


main()
