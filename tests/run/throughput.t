#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that take turns (rt/turns.h): one computes at a time, whatever else ranks do the program's output is the same
and it never hangs. And fvmpi run --throughput: copies and ranks, together and alone, in experiments of their own, with
components that fit together."""
import ctypes
import math
import mmap
import os
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal

GOOD, WAITS, STILL, LONG, BARRIERS, CREATOR, NESTED, LARGE, LATE, LEFT, CUT = range(11)
WHOLE, PIRATE = 0, 1
RANKS, STEPS = 2, 20


class Page(ctypes.Structure):
    """src/base/solo.h, struct fv_solo_page; what is of the kernel's cache line is aligned to 64."""

    _fields_ = [
        ('magic', ctypes.c_uint64),
        ('cache_bytes', ctypes.c_uint64),
        ('left_bytes', ctypes.c_uint64),
        ('part_ppm', ctypes.c_uint64),
        ('limit_ns', ctypes.c_uint64),
        ('budget_ns', ctypes.c_uint64),
        ('wait_ns', ctypes.c_uint64),
        ('how', ctypes.c_uint32),
        ('pad', ctypes.c_uint32),
        ('claimed', ctypes.c_uint32),
        ('wanted', ctypes.c_uint32),
        ('cpu', ctypes.c_uint32),
        ('pad_1', ctypes.c_uint8 * 52),
        ('ready', ctypes.c_uint32),
        ('pad_2', ctypes.c_uint32),
        ('probes', ctypes.c_uint64),
        ('misses', ctypes.c_uint64),
        ('domains', ctypes.c_uint8 * 1024),
        ('takes_turns', ctypes.c_uint32),
        ('turns_why', ctypes.c_uint32),
        ('boot', ctypes.c_uint8 * 16),
        ('fill_ns', ctypes.c_uint64),
        ('pad_3', ctypes.c_uint8 * 8),
        ('turn', ctypes.c_uint32),
        ('turns_drawn', ctypes.c_uint32),
        ('turn_process', ctypes.c_uint32),
        ('pad_4', ctypes.c_uint32),
        ('turn_since_ns', ctypes.c_uint64),
    ]


def boot_id():
    with open('/proc/sys/kernel/random/boot_id') as f:
        return bytes.fromhex(f.read().strip().replace('-', ''))


def new_page(limit=60.0, wait=20.0, how=WHOLE, boot=None):
    """The page, its file."""
    path = os.path.join(harness.scratch(), 'page')
    with open(path, 'w+b') as f:
        f.truncate(4096)
        page = Page.from_buffer(mmap.mmap(f.fileno(), 4096))
    page.magic, page.part_ppm, page.limit_ns, page.wait_ns, page.budget_ns = (
        0x31306F6C6F737666,
        1000000,
        int(limit * 1e9),
        int(wait * 1e9),
        int(1e11),
    )
    page.how, page.takes_turns, page.fill_ns = how, 1, 1000
    page.boot[:] = boot or boot_id()
    return page, path


class Shared:
    """What the ranks count."""

    def __init__(self):
        self.path = os.path.join(harness.scratch(), 'shared')
        with open(self.path, 'wb') as f:
            f.write(bytes(4096))

    def most(self):
        with open(self.path, 'rb') as f:
            return struct.unpack('<4i', f.read(16))[1]


def made_resctrl():
    """Parts of the cache by files: nothing is tried before."""
    root = harness.scratch('root')
    os.makedirs(root + '/sys/fs/resctrl')
    with open(root + '/sys/fs/resctrl/schemata', 'w') as f:
        f.write('L3:0=ffff\n')
    return root


def alone_of(directory):
    """The records of ranks that took turns."""
    return [
        {key: int(value, 0) for key, value in row.items() if key != 'kind'}
        for row in harness.dumped(directory, 'solo')
        if row['kind'] == 'rank'
    ]


def turns(mpi, program, mode, page=None, **more):
    """Its run, what the ranks counted, the records of ranks."""
    page, path = page or new_page(**more)
    shared = Shared()
    done = mpi.profile(program, RANKS, [shared.path, mode], env={'FVMPI_SOLO': path}, limit=100).ended(0)
    return done, shared.most(), alone_of(done.directory)


def plain(mpi, program, mode):
    return mpi.native(program, RANKS, [Shared().path, mode], limit=60).ended(0).out


def of_mpi(tap, mpi):
    program = mpi.build('../run/turns.c', '-pthread', output='turns')
    for mode in ('collectives', 'messages', 'buffers', 'leaves'):
        with tap.test('{}: one computes at a time: {}'.format(mpi, mode)):
            done, most, rows = turns(mpi, program, mode)
            equal('output', done.out, plain(mpi, program, mode))
            equal('most at a time', most, 1)
            equal('ranks', len(rows), RANKS)
            for row in rows:
                equal('good', (row['why'], row['let_go']), (GOOD, 0))
                check(row['measured'] >= STEPS, '{}', row)
                check(
                    row['cpu_ns'] >= 0.95 * STEPS * 2e6,
                    'the program computed for {} ms, by its CPU clock: {}',
                    STEPS * 2,
                    row,
                )
                if mode == 'messages':
                    check(row['intervals'] > row['measured'] + STEPS, 'local calls give up the turn: {}', row)
    with tap.test('{}: what is not recorded is not measured'.format(mpi)):
        done, most, rows = turns(mpi, program, 'parts')
        equal('output', done.out, plain(mpi, program, 'parts'))
        equal('most at a time', most, 1)
        for row in rows:
            check(
                0.95 * STEPS * 2e6 <= row['cpu_ns'] <= 2 * STEPS * 2e6,
                'recorded are {} ms of CPU time: {}',
                STEPS * 2,
                row,
            )
    with tap.test('{}: the report says that it is no usual run'.format(mpi)):
        said = harness.run([harness.FVMPI, 'stacks', done.directory]).ended(1).err
        check('its threads or ranks ran one at a time' in said, '{}', said)
        equal('findings', done.report().data['findings'], [])
        said = harness.run([harness.FVMPI, 'report', done.directory, '--width', '200']).ended(0).out
        check('no findings: threads, or ranks, worked one at a time' in said, '{}', said)
    for mode, reasons, page in (
        ('flags', [LONG], {'limit': 1.0}),
        ('interrupted', [LONG], {'limit': 1.0}),
        ('sleeps', [STILL], {'wait': 0.2}),
        ('threads', [GOOD, STILL, LONG], {'wait': 0.2, 'limit': 2.0}),
    ):
        with tap.test('{}: ranks that wait by other means are let go: {}'.format(mpi, mode)):
            done, _, rows = turns(mpi, program, mode, **page)
            equal('output', done.out, plain(mpi, program, mode))
            check(
                {row['why'] for row in rows} <= set(reasons)
                and any(row['why'] == reasons[-1] or GOOD in reasons for row in rows),
                '{}: {}',
                reasons,
                rows,
            )
    with tap.test('{}: who takes too long in all is let go'.format(mpi)):
        done, _, rows = turns(mpi, program, 'parts', limit=0.1)
        equal('output', done.out, plain(mpi, program, 'parts'))
        check(
            all(row['let_go'] and row['why'] in (CUT, LONG) for row in rows),
            'they compute for {} ms one after the other: {}',
            4 * STEPS * 2 * RANKS,
            rows,
        )
    with tap.test('{}: FVMPI_SOLO names something else'.format(mpi)):
        theirs = Shared()
        for path, said in (
            (theirs.path, 'is not a file of fvmpi run'),
            (os.path.dirname(theirs.path), 'directory'),
            (theirs.path + '.c', 'No such file'),
        ):
            done = mpi.profile(program, RANKS, [Shared().path, 'collectives'], env={'FVMPI_SOLO': path}).ended(0)
            equal(
                'lines',
                [said in line for line in done.err.splitlines() if line.startswith('fvmpi: FVMPI_SOLO')],
                [True],
            )
        equal('what was in it', open(theirs.path, 'rb').read(), bytes(4096))
    with tap.test('{}: a page of another node'.format(mpi)):
        done, _, rows = turns(mpi, program, 'collectives', boot=bytes(16))
        equal('output', done.out, plain(mpi, program, 'collectives'))
        equal('ranks that took turns', rows, [])
    with tap.test('{}: a pirate that never answers'.format(mpi)):
        done, _, rows = turns(mpi, program, 'collectives', how=PIRATE)
        equal('output', done.out, plain(mpi, program, 'collectives'))
        check({row['why'] for row in rows} == {LATE}, '{}', rows)


# ---- fvmpi run --throughput ----

COPY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words)
{
    char line[100] = "";
    volatile double x = 1;
    char *got = fgets(line, sizeof(line), stdin);
    for (long i = 0; i < 30000000; i++) x = x * 1.0000001;
    printf("%s of %s: %s\n", words[1], words[2], got ? line : "nothing");
    return count == 4 && !strcmp(words[1], words[3]) ? 3 : 0;
}
"""
LOST = ('lost_to_waiting', 'lost_to_few_cpus', 'lost_to_sharing')


def consistent(p):
    """What is told of a number of them fits together, whatever this machine lets be measured."""
    n = p['count']
    equal('shares', [share['rank'] for share in p['shares']], list(range(n)))
    close('together', math.fsum(share['together_s'] for share in p['shares']), p['together_s'], 1e-6)
    if p['throughput'] is None:
        check(p['is_off_cpu'] or p['separation'] != 'good', 'nothing is told, for no reason: {}', p)
        equal('components', [p[key] for key in LOST], [None] * 3)
        return
    close('throughput', p['throughput'], p['alone_s'] / p['elapsed_s'], 1e-6)
    close('N', p['throughput'] + math.fsum(p[key] for key in LOST), n, 1e-6)
    if p['lost_to_cache'] is not None:
        close('sharing', p['lost_to_cache'] + p['lost_to_memory'], p['lost_to_sharing'], 1e-6)


def found_in(place):
    names = [os.path.join(place, name) for name in sorted(os.listdir(place))]
    return harness.valid(harness.run([harness.FVMPI, 'stacks', *names, '--json', '-']).ended(0).out, 'stacks')[
        'throughputs'
    ]


def of_copies(tap):
    place = harness.scratch()
    program, text = os.path.join(place, 'copy'), os.path.join(place, 'text')
    with open(program + '.c', 'w') as f:
        f.write(COPY)
    with open(text, 'w') as f:
        f.write('a line\n')
    subprocess.run(['cc', '-O1', program + '.c', '-o', program], check=True)

    made = dict(os.environ, FVMPI_SENSORS_ROOT=made_resctrl())

    def run(*words, rc=0, text=text, env=made):
        with open(text) as f:
            done = subprocess.run(
                [harness.FVMPI, 'run', *words],
                env=env,
                stdin=f,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=120,
            )
        equal('exit status: {}'.format(done.stderr), done.returncode, rc)
        return done

    with tap.test('copies: together, and one alone before and after; each has its number and the input'):
        # on this machine, whatever it lets be measured
        done = run('--throughput=3', '-o', place + '/all', '--', program, '{I}', '{N}', env=None)
        names = sorted(os.listdir(place + '/all'))
        has_part = 'parts of it by' in done.stderr
        equal(
            'experiments',
            names,
            sorted(['copies-3', 'copy-alone-100', 'copy-alone-100.2'] + (['copy-alone-33'] if has_part else [])),
        )
        lines = sorted(line for line in done.stdout.splitlines() if line)
        equal(
            'output',
            lines,
            sorted(['0 of 1: a line'] * (len(names) - 1) + ['{} of 3: a line'.format(i) for i in range(3)]),
        )
        check('3 copies on this node' in done.stderr, '{}', done.stderr)
        (p,) = found_in(place + '/all')
        equal('what', (p['kind'], p['count'], p['run_count']), ('copies', 3, 1))
        consistent(p)
    with tap.test('copies: repeated'):
        run('-q', '--throughput=2', '--repeats=2', '-o', place + '/twice', '--', program, '{I}', '{N}')
        check(
            {'copies-2', 'copies-2.2', 'copy-alone-100.4'} <= set(os.listdir(place + '/twice')),
            '{}',
            os.listdir(place + '/twice'),
        )
        (p,) = found_in(place + '/twice')
        equal('runs', p['run_count'], 2)
        consistent(p)
    with tap.test('copies: one fails'):
        done = run('--throughput=2', '-o', place + '/fails', '--', program, '{I}', '{N}', '1', rc=3)
        check('ended with status 3' in done.stderr, '{}', done.stderr)
    with tap.test('copies: scripts, which call exec() or end by _exit()'):
        script = os.path.join(place, 'script')
        for name, word in (('exec', 'exec'), ('_exit', '')):
            with open(script, 'w') as f:
                f.write(
                    '#!/bin/sh\ni=0\nwhile [ $i -lt 100000 ]; do i=$((i + 1)); done\n{} {} "$@"\n'.format(word, program)
                )
            os.chmod(script, 0o755)
            run('-q', '--throughput=2', '-o', os.path.join(place, name), '--', script, '{I}', '{N}')
            names = sorted(os.listdir(os.path.join(place, name)))
            check(names[:2] == ['copies-2', 'copy-alone-100'] and 'copies-2-2' not in names, '{}', names)
            replaced = sorted(
                file for file in os.listdir(os.path.join(place, name, 'copies-2')) if file.startswith('rank-')
            )
            equal(
                'rank files',
                replaced,
                ['rank-00000{}.fvr{}'.format(i, end) for i in range(2) for end in (('', '.1') if word else ('',))],
            )
            rows = alone_of(os.path.join(place, name, 'copy-alone-100'))
            equal(
                'one copy, measured to its end',
                [(row['measured'], row['let_go'], row['intervals']) for row in rows],
                [(1, 0, 1)],
            )
            (p,) = found_in(os.path.join(place, name))
            check(p['separation'] not in ('not_measured', 'no_barrier', 'left'), '{}', p)
            consistent(p)
    with tap.test('copies: what they run under fvmpi run is no copy'):
        inner = os.path.join(place, 'inner.')
        run(
            '-q',
            '--throughput=2',
            '-o',
            place + '/outer',
            '--',
            'sh',
            '-c',
            harness.FVMPI + ' run -q -o ' + inner + '{I} ' + program + ' {I} {N}',
        )
        for number in '01':
            equal(
                'files',
                sorted(name for name in os.listdir(inner + number) if name.endswith('.fvr')),
                ['rank-000000.fvr'],
            )
    with tap.test('SIGTERM: the copies get it, and no further ones are made'):
        ignores = ['sh', '-c', 'if [ {N} = 1 ]; then exit 0; fi; trap "" TERM; : > ' + place + '/here.{I}; sleep 3']
        process = subprocess.Popen(
            [harness.FVMPI, 'run', '-q', '--throughput=2,3', '-o', place + '/told', '--'] + ignores,
            env=made,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and not all(os.path.exists('{}/here.{}'.format(place, i)) for i in range(2)):
            time.sleep(0.01)
        process.terminate()
        said = process.communicate(timeout=60)[1]
        equal('exit status', process.returncode, 128 + signal.SIGTERM)
        equal('experiments', sorted(os.listdir(place + '/told')), ['copies-2', 'copy-alone-100'])
        check('so no more are made' in said, '{}', said)
    with tap.test('what it does not go with, and what is done once'):
        before = sorted(os.listdir(place))
        for words, said in (
            (['--stacks'], '--stacks'),
            (['--solo'], '--solo'),
            (['--passes', '--counters=software'], '--passes'),
            (['--mpi-calls=0'], '--mpi-calls'),
        ):
            check(
                said in run('--throughput=2', *words, '-o', place + '/none', '--', program, 'a', 'b', rc=2).stderr,
                '{}',
                words,
            )
        check(
            program + ' a b'
            in run('--throughput=2', '--dry-run', '-o', place + '/none', '--', program, 'a', 'b').stdout,
            'the command is not printed',
        )
        equal(
            'disabled',
            run('--throughput=2', '--disable', '-o', place + '/none', '--', program, 'a', 'b').stdout.splitlines()[0],
            'a of b: a line',
        )
        check(
            'above 1' in run('--throughput=1,1', '-o', place + '/none', '--', program, 'a', 'b', rc=2).stderr,
            'no number',
        )
        equal('files', sorted(os.listdir(place)), before)
    with tap.test('wrong words'):
        for words, said in (
            (['--throughput=x', '--', program], 'numbers'),
            (['--throughput=2,3', '--', 'mpiexec', '-n', '2', program], '{N}'),
        ):
            check(said in run(*words, rc=2).stderr, '{}', words)


COUNTS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int main(int count, char **words)
{
    void (*fake_count)(unsigned, unsigned long) = (void (*)(unsigned, unsigned long))dlsym(RTLD_DEFAULT, "fake_count");
    volatile double x = 1;
    for (long i = 0; i < 30000000; i++) x = x * 1.0000001;
    fake_count(0, 2000000 * atol(words[1])); /* cycles, instructions, misses of the last cache */
    fake_count(1, 1000000);
    fake_count(3, 64000);
    return 0;
}
"""


def with_counters(tap):
    """A processor that is not there counts; parts of the cache are by a resctrl that is made of files."""
    place, root = harness.scratch(), made_resctrl()
    program = os.path.join(place, 'counts')
    with open(program + '.c', 'w') as f:
        f.write(COUNTS)
    subprocess.run(['cc', '-O1', program + '.c', '-o', program, '-ldl'], check=True)
    with tap.test('copies: cycles and lines from memory by the part of the cache, and the bandwidth that they want'):
        if harness.SANITIZER:
            raise harness.Skip('AddressSanitizer must come first')
        out = os.path.join(place, 'runs')
        harness.run(
            [
                harness.FVMPI,
                'run',
                '-q',
                '--throughput=2',
                '--counters',
                'INSTRUCTIONS,CYCLES,CACHE-MISSES',
                '-o',
                out,
                '--',
                program,
                '{N}',
            ],
            env=dict(harness.fake_pmu(), FVMPI_SENSORS_ROOT=root),
            limit=120,
        ).ended(0)
        names = [os.path.join(out, name) for name in sorted(os.listdir(out))]
        data = harness.valid(harness.run([harness.FVMPI, 'stacks', *names, '--json', '-']).ended(0).out, 'stacks')
        whole, half = data['throughput_curve']
        equal(
            'parts',
            (whole['cache_share'], half['cache_share'], half['method'], whole['run_count']),
            (1, 0.5, 'resctrl', 2),
        )
        for of in (whole, half):
            close('cycles', of['cycles_per_instruction'], 2, 1e-9)
            close('lines', of['lines_per_1000'], 64, 1e-9)
            close('bandwidth', of['bytes_per_s'], 64 * 64000 / of['alone_s'], 1e-3 * of['bytes_per_s'])
        (p,) = data['throughputs']
        consistent(p)
        close('read', p['read_bytes_per_s'], 2 * 64 * 64000 / p['elapsed_s'], 1e-3 * p['read_bytes_per_s'])
        if half['verdict'] == 'good':
            close('wanted', p['wanted_bytes_per_s'], 2 * half['bytes_per_s'], 1e-9 * p['wanted_bytes_per_s'])


def main():
    tap = harness.Tap()
    with_counters(tap)
    for mpi in harness.an_mpi(tap):  # each of them with ./dev mpis
        of_mpi(tap, mpi)
    of_copies(tap)
    for mpi in harness.an_mpi(tap, quiet=True):
        with tap.test('ranks: together, and one at a time'):
            place, shared = os.path.join(harness.scratch(), 'ranks'), Shared()
            program = os.path.join(mpi.folder, 'turns')
            done = harness.run(
                [harness.FVMPI, 'run', '--throughput', '-o', place, '--']
                + mpi.command(RANKS, [program, shared.path, 'collectives']),
                limit=120,
            ).ended(0)
            names = sorted(os.listdir(place))
            has_part = 'parts of it by' in done.err
            equal(
                'experiments',
                names,
                sorted(
                    ['ranks', 'ranks-2-alone-100', 'ranks-2-alone-100.2'] + (['ranks-2-alone-50'] if has_part else [])
                ),
            )
            equal('output', done.out, plain(mpi, program, 'collectives') * len(names))
            (p,) = found_in(place)
            equal('what', (p['kind'], p['count']), ('ranks', RANKS))
            consistent(p)
            check(p['turn_s'] > 0, '{}', p)
    tap.done()


main()
