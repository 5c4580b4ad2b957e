#!/usr/bin/env python3
"""One library for all MPIs of MPICH's binary interface: it finds the program's at run time, and needs none. Intel's and Cray's
sonames, from standin.py."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
import standin
from report import check, equal


def recorded(tap, soname):
    """Known counts in C and the three bindings of Fortran."""
    run = harness.run([sys.executable, os.path.join(harness.HERE, 'counts.t'), 'p2p.c', 'collectives.c', 'persistent.c', 'file.c'],
                      env={'FVMPI_TEST_MPI': soname, 'FVMPI_BUILD': harness.BUILD})
    lines = run.out.splitlines()
    check(run.rc == 0 and len(lines) > 12, '{}\n{}', run.err[-2000:], '\n'.join(l for l in lines if not l.startswith('ok'))[:2000])


def loaded(library, program):
    out = harness.run(['env', 'LD_PRELOAD=' + library, 'LD_TRACE_LOADED_OBJECTS=1', program]).out
    return sorted(words[0] for words in map(str.split, out.splitlines()) if words[0].startswith(('libmpi', 'libmpich')))


def standins(tap):
    for soname in standin.KNOWN:
        mpi = standin.StandIn(soname)
        why = mpi.missing()
        with tap.test('{}: what is recorded'.format(soname)):
            if why:
                raise harness.Skip(why)
            recorded(tap, soname)
        if why:
            continue
        with tap.test('{}: no other MPI is loaded'.format(soname)):
            equal('libraries', loaded(mpi.library, mpi.build('p2p.c')), [soname])
        with tap.test('{}: a function that the MPI has not'.format(soname)):
            run = mpi.profile(mpi.build('abi.c'), 1).ended(0)
            older = mpi.lacks is not None
            equal('output', run.out, 'failed\n' if older else 'sent\n')
            equal('said', run.err.count("fvmpi: MPI_Send_c: the program's MPI does not have it"), int(older))
            equal('MPI_Barrier', run.report().total('MPI_Barrier'), 1)
        with tap.test('{}: chosen by fvmpi run'.format(soname)):
            said = harness.run([harness.FVMPI, 'run', '--dry-run', mpi.build('p2p.c')]).ended(0).out
            check('/libfvmpi-mpich.so' in said, '{}', said)


def without(tap, mpi):
    with tap.test('mpich: programs without MPI'):
        run = harness.run(['env', 'LD_BIND_NOW=1', 'LD_PRELOAD=' + mpi.preload, 'sh', '-c', 'echo good']).ended(0)
        equal('output', run.out + run.err, 'good\n')
        equal('libraries', loaded(mpi.library, '/bin/sh'), [])
        os.makedirs(mpi.folder, exist_ok=True)
        program = os.path.join(mpi.folder, 'without')
        flags = [w for w in harness.run([mpi.cc, '-show']).ended(0).out.split() if w.startswith('-I')]
        harness.run(['cc', '-fPIE', '-pie', '-DWITHOUT', *flags, os.path.join(harness.HERE, 'abi.c'), '-o', program]).ended(0)
        run = harness.run(['env', 'LD_PRELOAD=' + mpi.preload, program]).ended(0)
        equal('said', run.out + run.err, '0 0\n')
    with tap.test('mpich: linked with -lfvmpi by a linker that drops what nobody needs'):
        program = mpi.build('transparent.c', '-Wl,--as-needed', mpi.library, '-Wl,-rpath,' + harness.LIBS, output='as-needed')
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(mpi.command(2, ['env', 'FVMPI_OUTPUT=' + directory, program, '0']), directory=directory).ended(0)
        run.report().shape(2)
    with tap.test('mpich: a plugin brings Open MPI'):
        other = harness.Mpi('openmpi')
        if other.missing():
            raise harness.Skip(other.missing())
        host = mpi.build('plugin_host.c', '-pthread', '-ldl', output='plain_host')
        path = other.build('plugin.c', '-pthread', '-shared', '-fPIC', output='plain_plugin.so')
        run = harness.run(['env', 'LD_PRELOAD=' + mpi.preload, host, path])
        equal('exit status', run.rc, 1)
        equal('said', run.err.count('libfvmpi-mpich.so: the program has loaded Open MPI ('), 1)


def main():
    tap = harness.Tap()
    standins(tap)
    for mpi in harness.mpis(tap):
        if str(mpi) == 'mpich':
            without(tap, mpi)
    tap.done()


main()
