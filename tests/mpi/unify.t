#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvunify: the archive of real programs passes the strict checker, is the same however many processes merged
it and with whichever MPI, holds what the program did, and tells of killed ranks, missing files and clocks."""
import collections
import hashlib
import json
import os
import re
import shutil
import struct
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from report import check, equal

PROGRAMS = 'many_comms.c threads.c mprobe.c'.split()
ALSO_TRACED = 'p2p.c requests.c collectives.c persistent.c nonblocking.c inter.c grid.c window.c file.c comms.c'.split()
UNIFY = os.path.join(harness.BUILD, 'fvunify')
GENERATOR = os.path.join(harness.BUILD, 'tests/bench/trace_gen')


def unify(directory, *options, processes=0, mpi=None, rc=0):
    command = [UNIFY, directory] + list(options)
    if processes:
        command = [mpi.exec] + mpi.options + ['-n', str(processes)] + command
    return harness.run(command).ended(rc)


def checked(directory, *options, rc=0):
    run = harness.run([harness.FVMPI, 'check', os.path.join(directory, 'traces.otf2')] + list(options))
    equal('errors of {}\n{}{}'.format(directory, run.out[-1500:], run.err[-500:]), run.rc, rc)
    return run.out


def printed(directory, *options):
    return harness.run(['otf2-print'] + list(options) + [os.path.join(directory, 'traces.otf2')]).ended(0).out


def digest(directory):
    """Of all that otf2-print says."""
    return hashlib.sha1((printed(directory) + printed(directory, '-G')).encode()).hexdigest()


def count(text, event):
    return len(re.findall('^' + event + ' ', text, re.M))


def real_programs(tap, mpi):
    # fewer ranks of ALSO_TRACED are merged where their traces are read, in trace.t
    for program in PROGRAMS + ALSO_TRACED if harness.all_cases() else PROGRAMS:
        if not os.path.exists(os.path.join(harness.PROGRAMS, program)):
            continue
        with tap.test('{}: {} merged and checked'.format(mpi, program)):
            with open(os.path.join(harness.BUILD, 'mpi-wrappers', mpi.name, 'mpi-have.h')) as f:
                if program == 'persistent.c' and 'HAVE_MPI_Allreduce_init 1' not in f.read():
                    raise harness.Skip('no MPI_Allreduce_init')
            arguments = [os.path.join(harness.scratch('data'), 'f')] if program == 'file.c' else []
            ranks = 2 if program == 'many_comms.c' or not harness.all_cases() else 4
            run = mpi.profile(mpi.build(program), ranks, arguments, ['--trace']).ended(0)
            unify(run.directory, '-q')
            checked(run.directory)
            otf2_print.pairs(printed(run.directory))


RANKS = """
import sys, otf2
with otf2.reader.open(sys.argv[1]) as trace:
    group, = [g for g in trace.definitions.groups
              if g.group_type == otf2.GroupType.COMM_LOCATIONS and g.paradigm == otf2.Paradigm.MPI]
    print(len(group.members), *[','.join(map(str, n)) for n in (
        [m._ref for m in group.members[:5]], sorted({location._ref for location, _ in trace.events}))])
"""
WORLD_SIZE = 44  # where it stands in a rank file


def same_for_all(tap, mpi):
    with tap.test('{}: the same archive from 1, 2, 3 and 4 processes'.format(mpi)):
        run = mpi.profile(mpi.build('collectives.c'), 4, (), ['--trace']).ended(0)
        unify(run.directory)
        wanted = digest(run.directory)
        for processes in (1, 2, 3, 4):
            out = harness.scratch('archive')
            unify(run.directory, '-o', out, '-q', processes=processes, mpi=mpi)
            equal('{} processes'.format(processes), digest(out), wanted)
    with tap.test('{}: the files of its ranks are in two directories: the same archive, in the first'.format(mpi)):
        halves = [harness.scratch('half'), harness.scratch('half')]
        for rank in range(4):
            shutil.copy(os.path.join(run.directory, 'rank-{:06}.fvr'.format(rank)), halves[rank % 2])
        for processes in (1, 3):
            unify(halves[0], halves[1], '-q', processes=processes, mpi=mpi)
            equal('archive', digest(halves[0]), wanted)
        equal('beside the others', len(os.listdir(halves[1])), 2)
        whole, parts = (harness.profile_of(*d, '--no-symbols') for d in ([run.directory], halves))
        equal('names', parts['run'].pop('directory'), ' '.join(halves))
        alike = [
            json.dumps(r, sort_keys=True).replace(d, 'DIR')
            for r, d in ((parts, ' '.join(halves)), (whole, whole['run'].pop('directory')))
        ]
        equal('report of two directories', *alike)
        folder = os.path.join(halves[0], 'ranks-000000')  # as a large job has it
        shutil.copytree(halves[1], folder)
        unify(halves[0], '-q')
        equal('archive', digest(halves[0]), wanted)
        shutil.rmtree(folder)
        err = 'rank-000001.fvr and {}/rank-000001.fvr are both of rank 1'.format(halves[1])
        for command in ([harness.FVMPI, 'report'], [harness.FVMPI, 'stacks'], [UNIFY]):
            check(err in harness.run(command + [run.directory, halves[1]]).ended(1).err, 'a rank twice: not said')
        equal('dump', len(harness.run([harness.FVMPI, 'dump'] + halves).ended(0).out.split('\nfile ')), 4)
        gone = os.path.join(halves[1], 'gone')
        check(gone + ': No such' in harness.run([harness.FVMPI, 'report', halves[0], gone]).ended(1).err, 'not said')
    with tap.test('{}: a file is missing'.format(mpi)):
        less = harness.scratch('less')
        for name in os.listdir(run.directory):
            if name.endswith('.fvr') and name != 'rank-000002.fvr':
                shutil.copy(os.path.join(run.directory, name), less)
        done = unify(less, rc=1)
        check('rank 2 has no rank file' in done.err, 'not named: {}', done.err)
        check('missing' in printed(less, '-G'), 'the archive does not say it')
    with tap.test('{}: two files that say that there are 20000 ranks make the files of three locations'.format(mpi)):
        few = harness.scratch('few')
        for rank in (1, 3):
            copy = shutil.copy(os.path.join(run.directory, 'rank-{:06}.fvr'.format(rank)), few)
            with open(copy, 'r+b') as f:
                f.seek(WORLD_SIZE)
                f.write(struct.pack('i', 20000))
        check('ranks 4 to 19999 have no rank file' in unify(few, rc=1).err, 'not said')
        equal(
            'files',
            sorted(os.listdir(os.path.join(few, 'traces'))),
            sorted('{}.{}'.format(i, kind) for i in (0, 1, 3) for kind in ('def', 'evt')),
        )
        checked(few)
        text = printed(few)
        equal('enter and leave', count(text, 'ENTER'), count(text, 'LEAVE'))
        check('"19998 MPI ranks without a rank file"' in printed(few, '-G'), 'the archive does not say it')
        python = harness.otf2_python()
        if python:
            said = harness.run([python, '-c', RANKS, os.path.join(few, 'traces.otf2')], cwd='/').ended(0).out
            equal('what a reader sees', said.split(), ['20000', '0,1,0,3,0', '1,3'])
    with tap.test('{}: ranks without a trace'.format(mpi)):
        run = mpi.profile(mpi.build('p2p.c'), 2).ended(0)
        done = unify(run.directory, rc=1)
        check('--trace' in done.err, 'what to do is not said: {}', done.err)
        check(not os.path.exists(os.path.join(run.directory, 'traces.otf2')), 'an archive was made')


# As Scalasca finds the program of a ProgramBegin: a region of this role and paradigm, its base name and command line.
PROGRAM_REGIONS = """
import os, sys, otf2
from otf2.enums import Paradigm, RegionRole
with otf2.reader.open(sys.argv[1]) as trace:
    regions = [(r.name, r.canonical_name) for r in trace.definitions.regions
               if r.region_role == RegionRole.ARTIFICIAL and r.paradigm == Paradigm.MEASUREMENT_SYSTEM]
    begun = set()
    for location, event in trace.events:
        if isinstance(event, otf2.events.ProgramBegin):
            words = [event.program_name] + list(event.program_arguments)
            begun.add((os.path.basename(words[0]), ' '.join(words)))
    assert sorted(regions) == sorted(begun), (regions, begun)
    for region in sorted(regions):
        print(*region, sep='|')
"""


def programs(tap, mpi):
    with tap.test('{}: each program is a region, as Scalasca needs it'.format(mpi)):
        program = mpi.build('mpmd_meet.c')
        other = os.path.join(harness.scratch('other'), 'other')
        shutil.copy(program, other)
        directory = os.path.join(harness.scratch('exp'), 'e')
        command = mpi.command(1, mpi.profiled([program, 'x y', '-z'], directory, ['--trace']))
        for others in ([other], [program, 'x y', '-z']):
            command += [':', '-n', '1'] + mpi.profiled(others, directory, ['--trace'])
        harness.run(command).ended(0)
        unify(directory, '-q')
        checked(directory, '--strict')
        python = harness.otf2_python()
        if not python:
            raise harness.Skip('merged and checked; no python3-otf2 to read it with')
        script = [python, '-c', PROGRAM_REGIONS, os.path.join(directory, 'traces.otf2')]
        equal(
            'programs',
            harness.run(script, cwd='/').ended(0).out.splitlines(),
            ['mpmd_meet|{} x y -z'.format(os.path.realpath(program)), 'other|' + os.path.realpath(other)],
        )


FAILURES = {
    'receives': {'mpich': (0, 8), 'openmpi': (0, 9)},
    'collectives': {'mpich': (3, 4), 'openmpi': (3, 4)},
    'freed': {'mpich': (0, 0), 'openmpi': (0, 0)},
}


def failed_run(mpi, program, arguments, failures):
    """What otf2-print says of it, and which records are marked with which error."""
    run = mpi.profile(program, 2, arguments, ['--trace']).ended(0)
    equal('printed', sorted(run.out.splitlines()), ['rank {}: {} failed'.format(r, failures[r]) for r in (0, 1)])
    unify(run.directory, '-q')
    checked(run.directory, '--strict')
    text = printed(run.directory)
    return text, re.findall(
        r'^([A-Z_]+) .*\n +ADDITIONAL ATTRIBUTES: \("fvmpi::error" <\d+>; STRING; "(\w+)"', text, re.M
    )


def failed(tap, mpi):
    """Operations that failed are in the archive, and marked: messages are matched, collective calls in step."""
    with tap.test('{}: failed.F90'.format(mpi)):
        _, marked = failed_run(mpi, mpi.build('failed.F90', output='failed_f'), [], (0, 3))
        equal(
            'marked',
            sorted(marked),
            [(kind, 'MPI_ERR_TRUNCATE') for kind in ('MPI_COLLECTIVE_END', 'MPI_IRECV', 'MPI_RECV')],
        )
    for part, failures in FAILURES.items():
        with tap.test('{}: failed.c, {}'.format(mpi, part)):
            text, marked = failed_run(mpi, mpi.build('failed.c'), [part], failures[mpi.name])
            if part == 'receives':
                equal(
                    'marked',
                    sorted(marked),
                    [('MPI_IRECV', 'MPI_ERR_TRUNCATE')] * 4 + [('MPI_RECV', 'MPI_ERR_TRUNCATE')] * 4,
                )
                equal('bytes', len(re.findall(r'^MPI_I?RECV .*Length: 0\b', text, re.M)), 8)
            elif part == 'collectives':
                # One of both fails in the first three, both in those with a negative count and a root that there is
                # not; the latter is on no record, because it has no root.
                kinds = collections.Counter(kind for kind, _ in marked)
                equal('marked', kinds, {'MPI_COLLECTIVE_END': 4, 'NON_BLOCKING_COLLECTIVE_COMPLETE': 1})
                equal('in all', count(text, 'MPI_COLLECTIVE_END'), 2 * 10)
            else:
                equal('destroyed', count(text, 'COMM_DESTROY'), 2 * 4)
                for rank in ('0', '1'):
                    gone = [i for i, line in enumerate(text.splitlines()) if re.match('COMM_DESTROY +' + rank, line)]
                    used = [i for i, line in enumerate(text.splitlines()) if re.match('MPI_IRECV +' + rank, line)]
                    equal('order on rank ' + rank, sum(g < u for g, u in zip(gone, used)), 0)


def analysed(directory):
    """analysis.json, but for how long it took and what it needed for that."""
    with open(os.path.join(directory, 'analysis.json')) as f:
        return re.sub('"(analysis_s|spill_bytes)":[^,}]*', '', f.read())


def same_analysis(tap, mpi):
    """Most calls wait, and make others wait, over all the processes of the merge; and with little memory in windows of
    few calls."""
    with tap.test('{}: the same analysis from 1, 2 and 3 processes, with much memory and with little'.format(mpi)):
        if not os.path.exists(GENERATOR):
            raise harness.Skip('trace_gen is not built')
        d = harness.scratch('uneven')
        harness.run([GENERATOR, d, '6', '4000', '0', '0', '1']).ended(0)
        unify(d, '-q')
        wanted = analysed(d)
        for found in ('"kind":"late_sender"', '"propagated_s":[1-9]', '"switches":[1-9]'):
            check(re.search(found, wanted), 'the test is void: no {}', found)
        for processes in (1, 2, 3):
            for memory in ('256M', '1M'):
                out = harness.scratch('analysis')
                unify(d, '-q', '-o', out, '--memory', memory, processes=processes, mpi=mpi)
                equal('{} processes with {}'.format(processes, memory), analysed(out), wanted)


PEAK = """
import os, resource, subprocess, sys
rc = subprocess.call(sys.argv[2:], close_fds=False)
with open(os.path.join(sys.argv[1], str(os.getpid())), 'w') as f:
    f.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(rc)
"""


def shared_memory_need(tap, mpi):
    """What an MPI process needs for itself depends on the machine; what the first one needs beside that does not."""
    with tap.test('{}: no process needs much more memory than others'.format(mpi)):
        if not os.path.exists(GENERATOR):
            raise harness.Skip('trace_gen is not built')
        if os.environ.get('FVMPI_TEST_SANITIZER'):
            raise harness.Skip('a sanitizer has memory of its own')
        d, out, peaks = (harness.scratch(name) for name in ('even', 'out', 'peaks'))
        harness.run([GENERATOR, d, '4', '250000']).ended(0)
        harness.run(
            mpi.command(4, [sys.executable, '-c', PEAK, peaks, UNIFY, d, '-q', '-o', out, '--memory', '64M'])
        ).ended(0)
        kib = []
        for name in os.listdir(peaks):
            with open(os.path.join(peaks, name)) as f:
                kib.append(int(f.read()))
        equal('processes', len(kib), 4)
        check(max(kib) - min(kib) < 8 << 10, 'KiB: {}', sorted(kib))


def need_of_a_rank(tap):
    """A job of many ranks, each with little, has one process to merge it."""
    with tap.test('what a rank takes of the merge: less than 32 KiB'):
        if not os.path.exists(GENERATOR):
            raise harness.Skip('trace_gen is not built')
        if os.environ.get('FVMPI_TEST_SANITIZER'):
            raise harness.Skip('a sanitizer has memory of its own')
        kib = []
        for ranks in (100, 1100):
            d, peaks = harness.scratch('ranks'), harness.scratch('peaks')
            harness.run([GENERATOR, d, str(ranks), '20']).ended(0)
            harness.run([sys.executable, '-c', PEAK, peaks, UNIFY, d, '-q', '-o', harness.scratch('out')]).ended(0)
            with open(os.path.join(peaks, os.listdir(peaks)[0])) as f:
                kib.append(int(f.read()))
        check(kib[1] - kib[0] < 32 * 1000, 'KiB with 100 and 1,100 ranks: {}', kib)


def many_calls(mpi, calls=100000):
    """A program of so many calls, and two more."""
    source = os.path.join(harness.scratch('src'), 'many.c')
    with open(source, 'w') as f:
        f.write(
            '#include <mpi.h>\nint main(int c, char **v) {{ int r; MPI_Init(&c, &v); '
            'for (int i = 0; i < {}; i++) MPI_Comm_rank(MPI_COMM_WORLD, &r); return MPI_Finalize(); }}\n'.format(calls)
        )
    program = source[:-2]
    harness.run([mpi.cc, '-g', source, '-o', program]).ended(0)
    return program


def chunks(tap, mpi):
    with tap.test('{}: no call is lost between chunks'.format(mpi)):
        run = mpi.profile(many_calls(mpi), 1, (), ['--trace']).ended(0)
        unify(run.directory, '-q', '--no-samples')
        text = printed(run.directory)
        equal('calls', count(text, 'ENTER'), 100002)
        equal('gaps', count(text, 'MEASUREMENT_ON_OFF'), 0)


def small(tap, mpi):
    with tap.test('{}: the rank file of a small run is small'.format(mpi)):
        program = many_calls(mpi, 1)
        for options in ([], ['--trace']):
            run = mpi.profile(program, 1, (), options + ['-q']).ended(0)
            size = os.path.getsize(os.path.join(run.directory, 'rank-000000.fvr'))
            check(size <= 64 << 10, '{}: {} bytes', options, size)
            equal(
                'damages',
                re.findall(r'damages=(\d+)', harness.run([harness.FVMPI, 'dump', run.directory]).ended(0).out),
                ['0'],
            )
        archive = harness.scratch('small')
        unify(run.directory, '-q', '-o', archive)
        sizes = {os.path.join(f, n): os.path.getsize(os.path.join(f, n)) for f, _, all in os.walk(archive) for n in all}
        check(sizes and sum(sizes.values()) <= 64 << 10, 'the archive: {}', sizes)


def budget(tap, mpi):
    with tap.test('{}: calls that are not in the trace are missing, also for --quiet'.format(mpi)):
        program = mpi.build('../run/silence.c', '-ldl', output='silence_budget')
        run = mpi.profile(program, 2, ['calls', '30000'], ['--trace', '--trace-max=64K']).ended(7)
        dropped = sum(run.report().rank(r)['dropped']['events'] for r in (0, 1))
        check(dropped > 0, 'the test is void')
        for options in ([], ['-q'], ['-q', '--no-analysis']):
            done = unify(run.directory, *options, processes=2, mpi=mpi, rc=1)
            check('{} calls are not in the trace: '.format(dropped) in done.err, 'not said: {}', done.err)
        checked(run.directory)


def killed(tap, mpi):
    with tap.test('{}: a killed rank'.format(mpi)):
        run = mpi.profile(mpi.build('collectives.c'), 4, (), ['--trace']).ended(0)
        path = os.path.join(run.directory, 'rank-000001.fvr')
        with open(path, 'r+b') as f:  # the state, and the end of the measurement, as a killed process leaves them
            f.seek(32)
            f.write((1).to_bytes(4, sys.byteorder))
        done = unify(run.directory)
        check('rank 1: was killed' in done.err, 'not said: {}', done.err)
        check('Value: "killed"' in printed(run.directory, '-G'), 'the archive does not say it')
        checked(run.directory)


PAUSES = r"""
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, ranks, in, sum, one = 1;
    MPI_Request requests[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pcontrol(0);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


def pauses(tap, mpi):
    source = os.path.join(harness.scratch('src'), 'pauses.c')
    program = source[:-2]
    with open(source, 'w') as f:
        f.write(PAUSES)
    harness.run([mpi.cc, '-g', source, '-o', program]).ended(0)
    with tap.test('{}: what completes in a pause stays open, which is no fault'.format(mpi)):
        run = mpi.profile(program, 2, (), ['--trace']).ended(0)
        unify(run.directory, '-q')
        text = printed(run.directory)
        equal('completed', count(text, 'MPI_ISEND_COMPLETE') + count(text, 'NON_BLOCKING_COLLECTIVE_COMPLETE'), 0)
        equal('switched', count(text, 'MEASUREMENT_ON_OFF'), 4)
        checked(run.directory, '--strict')
        with open(os.path.join(run.directory, 'traces.otf2'), 'rb') as f:
            check(b'MPI_COMMUNICATION_COMPLETE\0false' in f.read(), 'the archive says that it holds all messages')
    with tap.test('{}: what begins before recording does is not in the archive'.format(mpi)):
        run = mpi.profile(program, 2, (), ['--trace', '--off-at-start']).ended(0)
        unify(run.directory, '-q')
        text = printed(run.directory)
        equal('switched', count(text, 'MEASUREMENT_ON_OFF'), 4)
        equal('sends', count(text, 'MPI_ISEND'), 0)
        checked(run.directory, '--strict')


def two_runs(tap, mpi):
    with tap.test('{}: rank files of two runs'.format(mpi)):
        mixed, lines = harness.scratch('mixed'), []
        for rank in (0, 1):
            run = mpi.profile(mpi.build('p2p.c'), 2, (), ['--trace']).ended(0)
            shutil.copy(os.path.join(run.directory, 'rank-{:06}.fvr'.format(rank)), mixed)
        report = harness.run([harness.FVMPI, 'report', mixed]).ended(0).out
        done = unify(mixed, '--no-samples', rc=1)
        for said in (report, done.err):
            check(re.search('rank-000000.fvr: of another run, left out', said), 'not said: {}', said)
            check('rank 0 has no rank file' in said, 'not said: {}', said)
        text = printed(mixed)
        check(
            not re.search(r'^ENTER +0 ', text, re.M) and re.search(r'^ENTER +1 ', text, re.M), 'the older run is used'
        )


# rename() number FAIL_AT fails, or ends the process.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
int rename(const char *from, const char *to)
{
    static int count;
    int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    if (++count != atoi(getenv("FAIL_AT")))
        return next(from, to);
    if (getenv("FAIL_KILL"))
        _exit(9);
    errno = EBUSY;
    return -1;
}
"""
MOVES = 8  # of four parts, out and in


def old_archives(tap):
    if not os.path.exists(GENERATOR):
        with tap.test('old archives'):
            raise harness.Skip('trace_gen is not built')
    d = harness.scratch('again')
    harness.run([GENERATOR, d, '2', '300', '0']).ended(0)
    unify(d, '-q')
    wanted = digest(d)
    merge, parts = [UNIFY + '-serial', d, '-q', '--no-analysis'], (
        'traces',
        'traces.def',
        'traces.marker',
        'traces.otf2',
    )

    def inodes():
        return [os.stat(os.path.join(d, p)).st_ino for p in parts]

    with tap.test('an archive is replaced, and only by a whole one'):
        shim = os.path.join(harness.scratch('src'), 'shim.c')
        with open(shim, 'w') as f:
            f.write(SHIM)
        library = shim[:-1] + 'so'
        harness.run(['cc', '-shared', '-fPIC', shim, '-o', library, '-ldl']).ended(0)
        preload = harness.in_front(library)
        for at in range(1, MOVES + 1):
            before = inodes()
            env = {'LD_PRELOAD': preload, 'FAIL_AT': str(at)}
            done = harness.run(merge, env=env).ended(1)
            check('left in ' + d + '/.traces-unfinished' in done.err, 'not said: {}', done.err)
            equal('the old archive, move {} failed'.format(at), inodes(), before)
            harness.run(merge, env=dict(env, FAIL_KILL='1')).ended(9)
            # The next merge fails, on a disk that is full: the old one is back.
            full = harness.run(['sh', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$0" "$@"'] + merge)
            check(full.rc == 1 and 'room on the disk' in full.err, 'the test is void: {} {}', full.rc, full.err)
            equal('the old archive, killed at move {}'.format(at), inodes(), before)
        harness.run(merge, env={'LD_PRELOAD': preload, 'FAIL_AT': str(MOVES + 1)}).ended(0)
        check(inodes() != before, 'not replaced')
        equal('the new archive', digest(d), wanted)
        check(not os.path.exists(os.path.join(d, '.traces-unfinished')), 'something is left')
    with tap.test('no analysis is left of an archive that was replaced'):
        analysis = os.path.join(d, 'analysis.json')
        unify(d, '-q')
        check(os.path.exists(analysis), 'the test is void')
        harness.run(merge).ended(0)
        check(not os.path.exists(analysis), 'still there')
        with open(analysis, 'w') as f:
            f.write('{ "mine": 1 }')
        harness.run(merge).ended(0)
        with open(analysis) as f:
            equal('what fvunify did not write', f.read(), '{ "mine": 1 }')
        os.remove(analysis)
    with tap.test('what fvunify did not write is not replaced'):
        for name, text in (
            ('traces.otf2', b'my notes\n'),
            ('traces.otf2', b''),
            ('traces.def', b'notes'),
            ('traces.otf2', b'\3BOTF2\0\3\2\3Score-P 8.4\0'),
            ('traces', b'notes'),
            ('traces/notes', b'notes'),
            ('traces.otf2/notes', b'notes'),
        ):
            out = harness.scratch('foreign')
            path = os.path.join(out, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as f:
                f.write(text)
            done = unify(d, '-q', '--no-analysis', '-o', out, rc=1)
            equal('lines', done.err.count('\n'), 1)
            check(
                name.split('/')[0] + ': not written by fvunify' in done.err and '-o' in done.err,
                'not said: {}',
                done.err,
            )
            with open(path, 'rb') as f:
                equal(name, f.read(), text)
            equal('files', os.listdir(out), [name.split('/')[0]])


def full_disk(tap):
    if not os.path.exists(GENERATOR):
        with tap.test('no room for the analysis'):
            raise harness.Skip('trace_gen is not built')
    d = harness.scratch('full')
    harness.run([GENERATOR, d, '2', '3000', '0']).ended(0)
    unify(d, '-q')
    wanted = digest(d)
    for blocks in (0, 1, 20, 40, 80, 160):  # of 512 bytes: how large a file may become
        with tap.test('no room for the analysis behind {} blocks'.format(blocks)):
            done = harness.run(
                ['sh', '-c', 'ulimit -f $0; exec "$@"', str(blocks), UNIFY + '-serial', d, '-q', '--memory', '1M']
            )  # so that no step stays in memory
            equal('status\n' + done.err, done.rc, 1)
            equal('said', done.err.count('the analysis needs this file'), 1)
            # then all of the merge before is there; else the new archive alone
            kept = 'could not be written' in done.err
            equal(
                'files',
                sorted(n for n in os.listdir(d) if not n.startswith('rank')),
                ['analysis.json'] * kept + ['traces', 'traces.def', 'traces.marker', 'traces.otf2'],
            )
            if kept:
                equal('the archive before', digest(d), wanted)
        unify(d, '-q')


NAMES = (
    '.fvunify-steps-0',
    '.fvunify-steps-1',
    '.analysis.json.part',
    'analysis.json',
    'traces.otf2',
    'traces.def',
    'traces.marker',
    'traces',
    '.traces-unfinished',
)


def plant(kind, path, victim):
    """A link to what is somebody's, or to nothing; or a FIFO that nobody writes to. What must stay as it is."""
    if kind == 'fifo':
        os.mkfifo(path)
        return None
    os.symlink(victim, path)
    if kind == 'dangling':
        return None
    mine = os.path.join(victim, 'traces.otf2') if kind == 'directory' else victim
    os.makedirs(os.path.dirname(mine), exist_ok=True)
    with open(mine, 'w') as f:
        f.write('mine')
    return mine


def planted(tap):
    if not os.path.exists(GENERATOR):
        with tap.test('planted names'):
            raise harness.Skip('trace_gen is not built')
    d = harness.scratch('planted')
    harness.run([GENERATOR, d, '4', '300', '0']).ended(0)
    mpi = next(harness.an_mpi(tap, quiet=True), None)
    for name in NAMES:
        with tap.test('{}: no link is followed, no FIFO is waited for'.format(name)):
            for kind in ('file', 'directory', 'dangling', 'fifo'):
                out, victim = harness.scratch('out'), os.path.join(harness.scratch('victim'), 'v')
                mine = plant(kind, os.path.join(out, name), victim)
                command = [UNIFY, d, '-q', '-o', out]
                done = harness.run(
                    mpi.command(2, command) if mpi and (kind == 'file' or name.endswith('-1')) else command
                )  # -1: of a second process
                check(done.rc in (0, 1) and not done.late, '{}: {} {}', kind, done.rc, done.err)
                check(not done.rc or name in done.err, '{}: not named: {}', kind, done.err)
                if mine:
                    with open(mine) as f:
                        equal(kind, f.read(), 'mine')
                    equal(kind, len(os.listdir(os.path.dirname(mine))), 1)
                else:
                    check(not os.path.lexists(victim), '{}: something was made through it', kind)


def options(tap):
    with tap.test('options'):
        check('usage' in harness.run([UNIFY, '--help']).ended(0).out, 'no help')
        harness.run([UNIFY]).ended(2)
        harness.run([UNIFY, '--nonsense', '.']).ended(2)
        harness.run([UNIFY, '--memory', '3', '.']).ended(2)
        harness.run([UNIFY, '/nonexistent']).ended(1)


def without_events(tap, mpi):
    with tap.test('{}: a profile without events; the run that has them is named'.format(mpi)):
        run = mpi.profile(mpi.build('hang.c'), 2, ['none']).ended(0)
        alone = unify(run.directory, rc=1)
        check('2 of 2 ranks: only a profile, no events; record with' in alone.err, 'not said: {}', alone.err)
        for i in (2, 3):
            mpi.profile(mpi.build('hang.c'), 2, ['none'], [] if i == 3 else ['--trace'], directory=run.directory).ended(
                0
            )
            found = unify(run.directory, rc=1)
            equal(
                'said',
                found.err.strip(),
                'fvmpi: {0}: 2 of 2 ranks: only a profile, no events; {0}-2 beside it '
                'has events: fvunify {0}-2'.format(run.directory),
            )
        unify(run.directory + '-2', '-q')


def clocks(tap):
    with tap.test('hosts whose clocks differ'):
        if not os.path.exists(GENERATOR):
            raise harness.Skip('trace_gen is not built')
        d, raw = harness.scratch('skewed'), harness.scratch('raw')
        harness.run([GENERATOR, d, '4', '5000', '50']).ended(0)
        unify(d, '-q', '--no-correct', '-o', raw)
        check('receive-before-send' in checked(raw), 'the test is void: nothing is early')
        done = unify(d)
        check('clocks were corrected' in done.err, 'not said: {}', done.err)
        check('receive-before-send' not in checked(d), 'a message is still early')
        few = harness.scratch('few')
        unify(d, '-q', '--memory', '1M', '-o', few)
        equal('with little memory', digest(few), digest(d))


def main():
    tap = harness.Tap()
    harness.patiently()
    harness.needs_fvunify(tap)
    if not shutil.which('otf2-print'):
        with tap.test('fvunify'):
            raise harness.Skip('no otf2-print; its package is otf2-tools')
        tap.done()
    options(tap)
    need_of_a_rank(tap)
    clocks(tap)
    old_archives(tap)
    full_disk(tap)
    planted(tap)
    for mpi in harness.an_mpi(tap, first='mpich'):  # it has MPI_Allreduce_init()
        real_programs(tap, mpi)
        programs(tap, mpi)
        same_for_all(tap, mpi)
        same_analysis(tap, mpi)
        shared_memory_need(tap, mpi)
        killed(tap, mpi)
        budget(tap, mpi)
        without_events(tap, mpi)
        two_runs(tap, mpi)
        pauses(tap, mpi)
        failed(tap, mpi)
        chunks(tap, mpi)
        small(tap, mpi)
    tap.done()


main()
