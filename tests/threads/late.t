#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""analysis.json tells what threads waited for each other, and how much of the waiting in MPI their locks are to blame
for, as a program knows it that measures both."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from analysis_json import Analysis
from measured import Measured
from report import check, close, equal, plain

OPTIONS = ['-q', '--threads', '--trace', '--clock=monotonic']
CASES = ('direct', 'joined', 'computed', 'barrier', 'team')


class Found:
    """What the program said of a run, and the analysis of it."""

    def __init__(self, run):
        self.analysis, self.archive = Analysis(run.directory), os.path.join(run.directory, 'traces.otf2')
        self.timed, self.queued = {}, {}
        for f in (line.split() for line in run.out.splitlines()):
            if f[:1] == ['timed']:
                self.timed.setdefault(f[1], {})[f[2]] = int(f[3]) / 1e9
            elif f[:1] == ['queued']:
                self.queued[f[1]] = self.queued.get(f[1], 0) + int(f[2]) / 1e9


def near(truth, what, found, wanted, queued):
    """More or less than the program says by no more than the machine kept it from its processors meanwhile."""
    off, within = abs(found - wanted), 0.05 * wanted + 0.002
    truth.expect(
        off <= within,
        off <= within + queued,
        '{}: {:.4f} s, the program measured {:.4f} s, and waited {:.4f} s for processors',
        what,
        found,
        wanted,
        queued,
    )


def waited(truth):
    return max(truth['sent'] - truth['heard'], 0)


def blamed(truth):
    """Of all that the late one did since they were in step, the locks' share of the waiting (share/analysis.md: delay
    costs)."""
    late = truth['sent'] - min(truth['began'], truth.get('from', truth['began']))
    return waited(truth) * min(truth['locks'] / late, 1)


def total(rows, key='wait_s'):
    return sum(row[key] for row in rows)


def sums(data):
    t = data['threads']
    some = 1e-6
    for kind in t['kinds']:
        of_ranks = sum(r['kinds'].get(kind['kind'], 0) for r in t['ranks'])
        check(abs(of_ranks - kind['wait_s']) < some, '{}: {} of {}', kind['kind'], of_ranks, kind['wait_s'])
    check({name for r in t['ranks'] for name in r['kinds']} <= {k['kind'] for k in t['kinds']}, 'kinds: {}', t['kinds'])
    for rank in t['ranks']:
        check(abs(total(rank['threads']) - rank['wait_s']) < some, 'threads of {}', rank['rank'])
        check(abs(sum(rank['kinds'].values()) - rank['wait_s']) < some, 'kinds of {}', rank['rank'])
    for rows in (t['kinds'], t['ranks'], t['waits'] + [t['waits_left_out']]):
        check(abs(total(rows) - t['wait_s']) < some, 'all: {} of {}', total(rows), t['wait_s'])
        equal('count', total(rows, 'count'), t['count'])
    check(
        abs(total(data['delays'], 'locks_s') - t['mpi_wait_s']) < some, 'delays: {} {}', data['delays'], t['mpi_wait_s']
    )
    check(abs(total(t['ranks'], 'mpi_wait_s') - t['mpi_wait_s']) < some, 'ranks: {}', t['ranks'])
    check(total(t['mpi_waits']) <= t['mpi_wait_s'] + some, 'direct: {} {}', t['mpi_waits'], t['mpi_wait_s'])
    for d in data['delays']:
        check(d['locks_s'] <= (d['cost_s'] if d['where'] == 'computing' else 0) + some, 'part: {}', d)


def case_of(found, truth, case):
    hear, say = (
        [s for s in found.analysis.inside(name) if plain(s['path'][1]['function']) == case] for name in ('hear', 'say')
    )
    timed, queued = found.timed[case], found.queued[case]
    near(truth, 'waited', found.analysis.kind(hear, 1, 'late_sender'), waited(timed), queued)
    near(
        truth,
        'late',
        sum(row['locks_s'] for s in say for row in s['per_rank'] if row['rank'] == 0),
        timed['locks'],
        queued,
    )
    near(truth, 'because of locks', found.analysis.delays(say, 0, key='locks_s'), blamed(timed), queued)


def own(found, truth):
    if 'own' not in found.timed:
        raise harness.Skip('no MPI_THREAD_MULTIPLE')
    (row,) = [r for r in found.analysis.data['threads']['mpi_waits'] if (r['rank'], r['cause_rank']) == (0, 0)]
    near(truth, 'waited', row['wait_s'], blamed(found.timed['own']), found.queued['own'])


def both(found, truth):
    waits, queued = found.analysis.data['threads']['waits'], sum(found.queued.values())
    (row,) = [r for r in found.analysis.data['threads']['mpi_waits'] if (r['rank'], r['cause_rank']) == (1, 0)]
    near(truth, 'rank 1 for rank 0', row['wait_s'], sum(blamed(found.timed[c]) for c in CASES), queued)
    for row in waits:
        check(row['rank'] in (0, 1) and row['path'] and row['function'], 'wait: {}', row)
    near(
        truth,
        'at the gate',
        total([w for w in waits if w['lock_name'] == 'gate' and w['rank'] == 0]),
        sum(found.timed[c]['locks'] for c in ('direct', 'barrier', 'own') if c in found.timed),
        queued,
    )
    equal('kinds', {w['kind'] for w in waits if w['lock_name'] in ('gate', 'row')}, {'lock_contention'})
    check('omp_lock' in {w['kind'] for w in waits}, 'no critical section: {}', waits)


def names(archive):
    """In the archive: kind and name of a lock by its number, as properties of its rank; how it is acquired; on whom is
    waited."""
    out = harness.run([harness.FVMPI, 'check', archive]).ended(0).out
    check(' 0 errors' in out, 'fvmpi check: {}', out)
    defs = harness.run(['otf2-print', '-G', archive]).ended(0).out
    events = harness.run(['otf2-print', archive]).ended(0).out
    locks = {
        int(number): (int(rank), name)
        for rank, number, name in re.findall(
            r'LOCATION_GROUP_PROPERTY .*?<(\d+)>, Name: "fvmpi::LOCK::(\d+)" <\d+>.*Value: "([^"]*)"', defs
        )
    }
    for name in ('mutex gate', 'mutex row'):
        equal(name, [rank for rank, n in locks.values() if n == name], [0, 1] if name == 'mutex gate' else [0])
    models = {}
    for model, number in re.findall(r'THREAD_ACQUIRE_LOCK .*Model: "([^"]*)".*Lock: (\d+)', events):
        models.setdefault(model, set()).add(locks.get(int(number), (0, '?'))[1])
    check(
        'mutex gate' in models['POSIX threads'] and not [n for n in models['POSIX threads'] if n.startswith('omp ')],
        '{}',
        models,
    )
    check(models['OpenMP'] and all(n.startswith('omp ') for n in models['OpenMP']), '{}', models)
    for number, name in re.findall(
        r'"fvmpi::lock" <\d+>; UINT32; (\d+)\), \("fvmpi::lock_name" <\d+>; STRING; "([^"]*)"', events
    ):
        equal('name of {}'.format(number), locks[int(number)][1].split(' ', 1)[1], name)
    check('; STRING; "gate"' in events, 'nobody waits at the gate')


def report(found, directory):
    out = ' '.join(harness.run([harness.FVMPI, 'report', directory]).ended(0).out.split())
    said = re.search(r'ranks waited ([\d.]+) (s|ms) in MPI for ranks that locks had made late', out)
    check(said, 'not said: {}', out)
    wait = found.data['threads']['mpi_wait_s']
    close('said', float(said.group(1)) * (1 if said.group(2) == 's' else 1e-3), wait, 0.01 * wait)


def late(tap, mpi):
    program = threads.build(
        'late.c', '-fopenmp', '-fno-optimize-sibling-calls', compiler=mpi.cc, output='late.' + str(mpi)
    )

    def run():
        run = mpi.profile(program, 2, options=OPTIONS).ended(0)
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
        return run.out, Found(run)

    measured = Measured(run)
    with tap.test('{}: what sums up'.format(mpi)):
        measured.test(lambda found, truth: sums(found.analysis.data))
    for case in CASES:
        with tap.test('{}: {}'.format(mpi, case)):
            measured.test(case_of, case)
    with tap.test('{}: own threads'.format(mpi)):
        measured.test(own)
    with tap.test('{}: who waited for whom, and for what'.format(mpi)):
        measured.test(both)
    found = measured.found
    with tap.test('{}: names of locks in the archive'.format(mpi)):
        names(found.archive)
    with tap.test('{}: the report'.format(mpi)):
        report(found.analysis, os.path.dirname(found.archive))


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
