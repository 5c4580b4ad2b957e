#!/usr/bin/env python3
"""analysis.json tells what threads waited for each other, and how much of the waiting in MPI their locks are to blame for, as
a program knows it that measures both."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import threads
import harness
from analysis_json import Analysis
from report import Mismatch, check, equal, plain
from samples import repeat

OPTIONS = ['-q', '--threads', '--trace', '--clock=monotonic']
CASES = ('direct', 'joined', 'computed', 'barrier', 'team')


def near(what, found, truth, slack=2e-3):
    check(abs(found - truth) <= 0.05 * truth + slack, '{}: {:.4f} s, the program measured {:.4f} s', what, found, truth)


def truths(run):
    found = {}
    for f in (line.split() for line in run.out.splitlines()):
        if f and f[0] == 'truth':
            found.setdefault(f[1], {})[f[2]] = int(f[3]) / 1e9
    return found


def waited(truth):
    return max(truth['sent'] - truth['heard'], 0)


def blamed(truth):
    """Of all that the late one did since they were in step, the locks' share of the waiting (share/analysis.md: delay costs)."""
    late = truth['sent'] - min(truth['began'], truth.get('from', truth['began']))
    return waited(truth) * min(truth['locks'] / late, 1)


def total(rows, key='wait_s'):
    return sum(row[key] for row in rows)


def sums(data):
    t = data['threads']
    some = 1e-6
    equal('kinds', {k['kind']: round(k['wait_s'], 6) for k in t['kinds']},
          {k['kind']: round(sum(r['kinds'].get(k['kind'], 0) for r in t['ranks']), 6) for k in t['kinds']})
    for rank in t['ranks']:
        check(abs(total(rank['threads']) - rank['wait_s']) < some, 'threads of {}', rank['rank'])
        check(abs(sum(rank['kinds'].values()) - rank['wait_s']) < some, 'kinds of {}', rank['rank'])
    for rows in (t['kinds'], t['ranks'], t['waits'] + [t['waits_left_out']]):
        check(abs(total(rows) - t['wait_s']) < some, 'all: {} of {}', total(rows), t['wait_s'])
        equal('count', total(rows, 'count'), t['count'])
    check(abs(total(data['delays'], 'locks_s') - t['mpi_wait_s']) < some, 'delays: {} {}', data['delays'], t['mpi_wait_s'])
    check(abs(total(t['ranks'], 'mpi_wait_s') - t['mpi_wait_s']) < some, 'ranks: {}', t['ranks'])
    check(total(t['mpi_waits']) <= t['mpi_wait_s'] + some, 'direct: {} {}', t['mpi_waits'], t['mpi_wait_s'])
    for d in data['delays']:
        check(d['locks_s'] <= (d['cost_s'] if d['where'] == 'computing' else 0) + some, 'part: {}', d)


class Run:
    """The program under an MPI, once more where a busy machine spoilt it."""

    def __init__(self, mpi):
        self.mpi, self.found = mpi, None
        self.program = threads.build('late.c', '-fopenmp', '-fno-optimize-sibling-calls', compiler=mpi.cc, output='late.' + str(mpi))

    def again(self):
        run = self.mpi.profile(self.program, 2, options=OPTIONS).ended(0)
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
        self.found, self.truth = Analysis(run.directory), truths(run)
        self.archive = os.path.join(run.directory, 'traces.otf2')

    def test(self, look, *arguments):
        def attempt():
            if not self.found:
                self.again()
            try:
                look(self.found, self.truth, *arguments)
            except Mismatch:
                self.found = None
                raise
        repeat(attempt)


def case_of(found, truth, case):
    hear, say = ([s for s in found.inside(name) if plain(s['path'][1]['function']) == case] for name in ('hear', 'say'))
    near('waited', found.kind(hear, 1, 'late_sender'), waited(truth[case]))
    near('late', sum(row['locks_s'] for s in say for row in s['per_rank'] if row['rank'] == 0), truth[case]['locks'])
    near('because of locks', found.delays(say, 0, key='locks_s'), blamed(truth[case]))


def own(found, truth):
    row, = [r for r in found.data['threads']['mpi_waits'] if (r['rank'], r['cause_rank']) == (0, 0)]
    near('waited', row['wait_s'], blamed(truth['own']))


def both(found, truth):
    waits = found.data['threads']['waits']
    row, = [r for r in found.data['threads']['mpi_waits'] if (r['rank'], r['cause_rank']) == (1, 0)]
    near('rank 1 for rank 0', row['wait_s'], sum(blamed(truth[c]) for c in CASES))
    for row in waits:
        check(row['rank'] in (0, 1) and row['path'] and row['function'], 'wait: {}', row)
    near('at the gate', total([w for w in waits if w['lock_name'] == 'gate' and w['rank'] == 0]),
         sum(truth[c]['locks'] for c in ('direct', 'barrier', 'own') if c in truth))
    equal('kinds', {w['kind'] for w in waits if w['lock_name'] in ('gate', 'row')}, {'lock_contention'})
    check('omp_lock' in {w['kind'] for w in waits}, 'no critical section: {}', waits)


def names(archive):
    """In the archive: kind and name of a lock by its number, as properties of its rank; how it is acquired; on whom is waited."""
    out = harness.run([harness.FVMPI, 'check', archive]).ended(0).out
    check(' 0 errors' in out, 'fvmpi check: {}', out)
    defs = harness.run(['otf2-print', '-G', archive]).ended(0).out
    events = harness.run(['otf2-print', archive]).ended(0).out
    locks = {int(number): (int(rank), name) for rank, number, name in re.findall(
        r'LOCATION_GROUP_PROPERTY .*?<(\d+)>, Name: "fvmpi::LOCK::(\d+)" <\d+>.*Value: "([^"]*)"', defs)}
    for name in ('mutex gate', 'mutex row'):
        equal(name, [rank for rank, n in locks.values() if n == name], [0, 1] if name == 'mutex gate' else [0])
    models = {}
    for model, number in re.findall(r'THREAD_ACQUIRE_LOCK .*Model: "([^"]*)".*Lock: (\d+)', events):
        models.setdefault(model, set()).add(locks.get(int(number), (0, '?'))[1])
    check('mutex gate' in models['POSIX threads'] and not [n for n in models['POSIX threads'] if n.startswith('omp ')], '{}', models)
    check(models['OpenMP'] and all(n.startswith('omp ') for n in models['OpenMP']), '{}', models)
    for number, name in re.findall(r'"fvmpi::lock" <\d+>; UINT32; (\d+)\), \("fvmpi::lock_name" <\d+>; STRING; "([^"]*)"', events):
        equal('name of {}'.format(number), locks[int(number)][1].split(' ', 1)[1], name)
    check('; STRING; "gate"' in events, 'nobody waits at the gate')


def report(found, directory):
    out = ' '.join(harness.run([harness.FVMPI, 'report', directory]).ended(0).out.split())
    said = re.search(r'Ranks waited ([\d.]+) (s|ms) in MPI for ranks that waiting for locks had made late', out)
    check(said, 'not said: {}', out)
    near('said', float(said.group(1)) * (1 if said.group(2) == 's' else 1e-3), found.data['threads']['mpi_wait_s'])


def late(tap, mpi):
    run = Run(mpi)
    with tap.test('{}: what sums up'.format(mpi)):
        run.test(lambda found, truth: sums(found.data))
    for case in CASES:
        with tap.test('{}: {}'.format(mpi, case)):
            run.test(case_of, case)
    with tap.test('{}: own threads'.format(mpi)):
        if 'own' not in run.truth:
            raise harness.Skip('no MPI_THREAD_MULTIPLE')
        run.test(own)
    with tap.test('{}: who waited for whom, and for what'.format(mpi)):
        run.test(both)
    with tap.test('{}: names of locks in the archive'.format(mpi)):
        names(run.archive)
    with tap.test('{}: the report'.format(mpi)):
        report(run.found, os.path.dirname(run.archive))


def main():
    tap = harness.Tap()
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify')) or not shutil.which('otf2-print'):
        with tap.test('archives'):
            raise harness.Skip('no fvunify or no otf2-print: built without OTF2')
        return tap.done()
    for mpi in harness.mpis(tap):
        late(tap, mpi)
    return tap.done()


if __name__ == '__main__':
    main()
