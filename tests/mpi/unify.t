#!/usr/bin/env python3
"""fvunify: the archive of real programs passes the strict checker, is the same however many processes merged
it and with whichever MPI, holds what the program did, and tells of killed ranks, missing files and clocks."""
import hashlib
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from report import check, equal

PROGRAMS = ('p2p.c requests.c collectives.c persistent.c nonblocking.c inter.c grid.c window.c file.c comms.c '
            'many_comms.c threads.c mprobe.c').split()
UNIFY = os.path.join(harness.BUILD, 'fvunify')
GENERATOR = os.path.join(harness.BUILD, 'tests/bench/trace_gen')


def unify(directory, *options, processes=0, mpi=None, rc=0):
    command = [UNIFY, directory] + list(options)
    if processes:
        command = [mpi.exec] + mpi.options + ['-n', str(processes)] + command
    return harness.run(command).ended(rc)


def checked(directory, rc=0):
    run = harness.run([harness.FVMPI, 'check', os.path.join(directory, 'traces.otf2')])
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
    for program in PROGRAMS:
        if not os.path.exists(os.path.join(harness.HERE, program)):
            continue
        with tap.test('{}: {} merged and checked'.format(mpi, program)):
            with open(os.path.join(harness.BUILD, 'mpi-wrappers', mpi.name, 'mpi-have.h')) as f:
                if program == 'persistent.c' and 'HAVE_MPI_Allreduce_init 1' not in f.read():
                    raise harness.Skip('no MPI_Allreduce_init')
            arguments = [os.path.join(harness.scratch('data'), 'f')] if program == 'file.c' else []
            ranks = 2 if program == 'many_comms.c' else 4
            run = mpi.profile(mpi.build(program), ranks, arguments, ['--trace']).ended(0)
            unify(run.directory, '-q')
            checked(run.directory)
            text = printed(run.directory)
            equal('enter and leave', count(text, 'ENTER'), count(text, 'LEAVE'))
            equal('posted and ended receives', count(text, 'MPI_IRECV') + count(text, 'MPI_REQUEST_CANCELLED') >=
                  count(text, 'MPI_IRECV_REQUEST'), True)


def same_for_all(tap, mpi):
    with tap.test('{}: the same archive from 1, 2, 3 and 4 processes'.format(mpi)):
        run = mpi.profile(mpi.build('collectives.c'), 4, (), ['--trace']).ended(0)
        unify(run.directory)
        wanted = digest(run.directory)
        for processes in (1, 2, 3, 4):
            out = harness.scratch('archive')
            unify(run.directory, '-o', out, '-q', processes=processes, mpi=mpi)
            equal('{} processes'.format(processes), digest(out), wanted)
    with tap.test('{}: a file is missing'.format(mpi)):
        less = harness.scratch('less')
        for name in os.listdir(run.directory):
            if name.endswith('.fvr') and name != 'rank-000002.fvr':
                shutil.copy(os.path.join(run.directory, name), less)
        done = unify(less, rc=1)
        check('rank 2 has no rank file' in done.err, 'not named: {}', done.err)
        check('missing' in printed(less, '-G'), 'the archive does not say it')
    with tap.test('{}: ranks without a trace'.format(mpi)):
        run = mpi.profile(mpi.build('p2p.c'), 2).ended(0)
        done = unify(run.directory, rc=1)
        check('--trace' in done.err, 'what to do is not said: {}', done.err)
        check(not os.path.exists(os.path.join(run.directory, 'traces.otf2')), 'an archive was made')


def chunks(tap, mpi):
    with tap.test('{}: no call is lost between chunks'.format(mpi)):
        source = os.path.join(harness.scratch('src'), 'many.c')
        with open(source, 'w') as f:
            f.write('#include <mpi.h>\nint main(int c, char **v) { int r; MPI_Init(&c, &v); '
                    'for (int i = 0; i < 100000; i++) MPI_Comm_rank(MPI_COMM_WORLD, &r); return MPI_Finalize(); }\n')
        program = source[:-2]
        harness.run([mpi.cc, '-g', source, '-o', program]).ended(0)
        run = mpi.profile(program, 1, (), ['--trace']).ended(0)
        unify(run.directory, '-q')
        text = printed(run.directory)
        equal('calls', count(text, 'ENTER'), 100002)
        equal('gaps', count(text, 'MEASUREMENT_ON_OFF'), 0)


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


def options(tap):
    with tap.test('options'):
        check('usage' in harness.run([UNIFY, '--help']).ended(0).out, 'no help')
        harness.run([UNIFY]).ended(2)
        harness.run([UNIFY, '--nonsense', '.']).ended(2)
        harness.run([UNIFY, '--memory', '3', '.']).ended(2)
        harness.run([UNIFY, '/nonexistent']).ended(1)


def clocks(tap):
    with tap.test('hosts whose clocks differ'):
        if not os.path.exists(GENERATOR):
            raise harness.Skip('trace_gen is not built')
        d, raw = harness.scratch('skewed'), harness.scratch('raw')
        harness.run([GENERATOR, d, '4', '5000', '50']).ended(0)
        unify(d, '-q', '--no-correct', '-o', raw)
        check('receive-before-send' in checked(raw), 'the test is void: nothing is early')
        done = unify(d)
        check('clocks were moved' in done.err, 'not said: {}', done.err)
        check('receive-before-send' not in checked(d), 'a message is still early')
        few = harness.scratch('few')
        unify(d, '-q', '--memory', '1M', '-o', few)
        equal('with little memory', digest(few), digest(d))


def main():
    tap = harness.Tap()
    if not os.path.exists(UNIFY + '-serial'):
        with tap.test('fvunify'):
            raise harness.Skip('built without OTF2')
        tap.done()
    if not shutil.which('otf2-print'):
        with tap.test('fvunify'):
            raise harness.Skip('no otf2-print; its package is otf2-tools')
        tap.done()
    options(tap)
    clocks(tap)
    for mpi in harness.mpis(tap):
        real_programs(tap, mpi)
        same_for_all(tap, mpi)
        killed(tap, mpi)
        chunks(tap, mpi)
    tap.done()


main()
