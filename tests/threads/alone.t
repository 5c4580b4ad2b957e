#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""One thread at a time, the others parked (threads/gate.h, fvmpi run --stacks --solo): programs print the same and
never hang, whatever their threads wait for; what ran alone is counted, and what is not separable is told with its
reason."""
import mmap
import os
import shutil
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
from threads import HERE, TSAN, build, harness, record
from report import check, equal

GOOD, WAITS, STILL, LONG, BARRIERS, CREATOR, NESTED, LARGE, LATE, LEFT, CUT = range(11)
WHOLE, PIRATE = 0, 1
THREADS, ROUNDS, TIMES = 3, 5, 4
RUN, OF_THREADS, OF_OMP = 'process', 'threads', 'omp'


class Page:
    """What `fvmpi run` makes (src/base/solo.h)."""

    def __init__(self, how=WHOLE, limit=60.0, budget=100.0, answers=None, wait=20.0):
        self.path = os.path.join(harness.scratch(), 'page')
        with open(self.path, 'w+b') as f:
            f.truncate(4096)
            self.map = mmap.mmap(f.fileno(), 4096)
        self.map[:60] = struct.pack(
            '<QQQQQQQI',
            0x31306F6C6F737666,
            4000000,
            3000000,
            500000,
            int(limit * 1e9),
            int(budget * 1e9),
            int(wait * 1e9),
            how,
        )
        self.over = False
        self.thread = threading.Thread(target=self.answer, args=answers or (0, 0), daemon=True)
        if answers is not None:
            self.thread.start()

    def word(self, offset):
        return struct.unpack_from('<I', self.map, offset)[0]

    def answer(self, probes, misses):
        """In the pirate's place: ready at once, and so many probes are made of each call of it."""
        while not self.over:
            wanted = self.word(68)
            if wanted % 2 and self.word(128) != wanted:
                struct.pack_into('<I', self.map, 128, wanted)
            done, missed = struct.unpack_from('<QQ', self.map, 136)
            if wanted % 2:
                struct.pack_into('<QQ', self.map, 136, done + probes, missed + misses)
            time.sleep(0.001)


def alone(program, mode, page=None, rc=0, **env):
    """Its output, the record of the process, and those of phases."""
    page = page or Page()
    done = record([program, mode], '--threads', env=dict(env, FVMPI_SOLO=page.path), limit=120)
    page.over = True
    equal('exit status', done.rc, rc)
    rows = [
        {key: value if key == 'kind' else int(value, 0) for key, value in row.items()}
        for row in harness.dumped(done.directory, 'solo')
    ]
    return done, rows[0] if rows else None, rows[1:]


def plain(program, mode, rc=0, **env):
    return harness.run([program, mode], env=env, limit=60).ended(rc).out


def good(program, mode, kind, counts, **env):
    """Its phases are separable: so many (instances, intervals) in all."""
    done, process, phases = alone(program, mode, **env)
    equal('output', done.out, plain(program, mode, **env))
    equal('process', (process['kind'], process['how'], process['part_ppm']), (RUN, WHOLE, 500000))
    equal('kinds and reasons', [(p['kind'], p['why'], p['let_go']) for p in phases], [(kind, GOOD, 0)] * len(phases))
    # clang unrolls loops: then there are several
    equal('measured and intervals', (sum(p['measured'] for p in phases), sum(p['intervals'] for p in phases)), counts)
    for p in phases:
        check(p['ticks'] > 0 and p['threads'] >= 2 and p['count'] >= p['measured'], '{}', p)


def refused(program, mode, reasons, rc=0, **env):
    done, _, phases = alone(program, mode, Page(limit=2.0, wait=0.2), rc=rc, **env)
    equal('output', done.out, plain(program, mode, rc=rc, **env))
    found = sorted(set(p['why'] for p in phases if p['let_go']))
    check(found and set(found) <= set(reasons), 'why {}, one of {} was wanted', found, reasons)


def all_modes(tap, program, name, has_omp=True):
    if has_omp:
        with tap.test(name + ': barriers of a region'):
            good(program, 'omp_barriers', OF_OMP, (TIMES, TIMES * (ROUNDS + 1)))
        with tap.test(name + ': singles, with copyprivate'):
            good(program, 'omp_single', OF_OMP, (1, 4 * ROUNDS + 1))
        with tap.test(name + ': loops, ordered, sections; tasks'):
            for mode in ('omp_loops', 'omp_tasks'):  # separable or not: the same output
                done, _, phases = alone(program, mode, Page(limit=2.0, wait=0.2))
                equal('output', done.out, plain(program, mode))
                equal('phases', len(phases), 1)
        with tap.test(name + ': a thread that spins for a parked one'):
            refused(program, 'omp_flags', [LONG])
        with tap.test(name + ': regions within regions'):
            refused(program, 'omp_nested', [NESTED], OMP_MAX_ACTIVE_LEVELS='2')
        with tap.test(name + ': two threads that each fork teams'):
            done, _, phases = alone(program, 'teams', Page(limit=2.0, wait=0.2))
            equal('output', done.out, plain(program, 'teams'))
            check(any(p['kind'] == OF_THREADS and p['why'] == NESTED for p in phases), '{}', phases)
            check(all(p['measured'] + p['let_go'] <= p['count'] for p in phases), '{}', phases)
        with tap.test(name + ': many regions: fewer and fewer are measured'):
            done, _, phases = alone(program, 'omp_many')
            equal('output', done.out, plain(program, 'omp_many'))
            (phase,) = phases
            equal('regions', phase['count'], 3000)
            check(phase['why'] == GOOD and 64 <= phase['measured'] <= 64 + 32 * 6, '{}', phase)


def thread_modes(tap, program):
    with tap.test('threads: barriers'):
        good(program, 'barriers', OF_THREADS, (1, ROUNDS + 1))
    with tap.test('threads: one waits for a parked one, by a condition or a semaphore'):
        for mode in ('condition', 'semaphore'):
            refused(program, mode, [WAITS])
    with tap.test('threads: by a pipe, which is not seen'):
        refused(program, 'pipe', [STILL])
    with tap.test('threads: a lock that is held by a parked one'):
        refused(program, 'held', [WAITS])
    with tap.test('threads: barriers of two of three'):
        refused(program, 'pair', [BARRIERS])
    with tap.test('threads: one exits, others fork, and their children run on'):
        for mode in ('leave', 'fork'):
            done, _, phases = alone(program, mode)
            equal('output', done.out, plain(program, mode))
            equal('phases', len(phases), 1)
    with tap.test('threads: exit() while others are parked'):
        done, _, _ = alone(program, 'exit', rc=7)
        equal('output', done.out, 'one leaves\n')
    with tap.test('threads: one is cancelled where it is parked'):
        done, _, phases = alone(program, 'cancel', Page(limit=2.0, wait=0.2))
        equal('output', done.out, plain(program, 'cancel'))
    with tap.test('threads: they make threads of their own'):
        refused(program, 'maker', [NESTED])
    with tap.test('threads: their creator waits for each to begin'):
        done, _, phases = alone(program, 'handshake', Page(limit=2.0, wait=0.2))
        equal('output', done.out, plain(program, 'handshake'))
        # the first may have ended by then
        check(all(p['why'] in (GOOD, NESTED) and not p['measured'] for p in phases) and phases, '{}', phases)
    with tap.test('threads: their creator is one of them'):
        refused(program, 'creator', [CREATOR])
    with tap.test('signals come all the time'):
        done, _, phases = alone(program, 'signals')
        equal('output', done.out, plain(program, 'signals'))
        check(all(p['why'] == GOOD for p in phases) and len(phases) == 2, '{}', phases)


def pages(tap, program):
    with tap.test('a pirate that answers, and its probes'):
        for misses in (0, 50):
            _, process, phases = alone(program, 'barriers', Page(PIRATE, answers=(1000, misses)))
            equal('how', process['how'], PIRATE)
            (phase,) = phases
            equal('measured', (phase['measured'], phase['why'], phase['intervals']), (1, GOOD, ROUNDS + 1))
            check(phase['misses'] * 1000 == phase['probes'] * misses, '{}', phase)
            check(bool(phase['lost_ticks']) == bool(misses and phase['probes']), '{}', phase)
    with tap.test('several last caches: who catches up goes to another one, and comes back'):
        page = Page()
        page.map[152 : 152 + 1024] = bytes(1 + cpu % 2 for cpu in range(1024))
        done, _, phases = alone(program, 'masks', page)
        equal('output', done.out, plain(program, 'masks'))
        check(all(p['why'] == GOOD for p in phases), '{}', phases)
    with tap.test('the one moves to where another last cache is: that time is lost'):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            raise harness.Skip('one processor')
        page = Page(PIRATE, answers=(1000, 0))
        page.map[152 : 152 + 1024] = bytes(1 + (cpu == cpus[1]) for cpu in range(1024))
        _, _, phases = alone(program, 'moves', page, CPUS='{} {}'.format(*cpus[:2]))
        (phase,) = phases
        check(phase['measured'] == 1 and 0 < phase['lost_intervals'] < phase['intervals'], '{}', phase)
    with tap.test('a pirate that never answers'):
        done, _, phases = alone(program, 'barriers', Page(PIRATE))
        equal('output', done.out, plain(program, 'barriers'))
        equal('why', [(p['why'], p['measured']) for p in phases], [(LATE, 0)])
    with tap.test('a pirate that takes too long in all'):
        done, _, phases = alone(program, 'barriers', Page(PIRATE, budget=0.001, answers=(1000, 0)))
        equal('output', done.out, plain(program, 'barriers'))
        check(phases[0]['why'] == CUT and not phases[0]['measured'], '{}', phases)
    with tap.test('no page, or another file in its place'):
        place = os.path.join(harness.scratch(), 'x')
        for bytes_of in (None, b'x' * 10, b'\0' * 4096):
            if bytes_of is not None:
                with open(place, 'wb') as f:
                    f.write(bytes_of)
            done = record([program, 'barriers'], '--threads', env={'FVMPI_SOLO': place}, limit=60).ended(0)
            equal('output', done.out, plain(program, 'barriers'))
            equal('records', harness.dumped(done.directory, 'solo'), [])
    with tap.test('a process that comes second is not measured'):
        page = Page()
        struct.pack_into('<I', page.map, 64, 1)
        equal('records', alone(program, 'barriers', page)[1], None)


def main():
    tap = harness.Tap()
    gcc = build('alone.c', '-fopenmp')
    all_modes(tap, gcc, 'libgomp')
    thread_modes(tap, gcc)
    pages(tap, gcc)
    if (
        not TSAN
        and shutil.which('clang')
        and not subprocess.run(
            ['clang', '-fopenmp', '-x', 'c', '-', '-o', os.devnull],
            input=b'int main(void) { return 0; }',
            stderr=subprocess.DEVNULL,
        ).returncode
    ):
        all_modes(tap, build('alone.c', '-fopenmp', compiler='clang', output='alone.clang'), 'libomp')
    else:
        tap.line(True, 'libomp # SKIP no clang with -fopenmp')
    tap.done()


main()
