#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One library for all MPIs of MPICH's binary interface, and one for all of the standard's: it finds the program's at
run time, and needs none. Intel's and Cray's sonames, and the standard's, from standin.py."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import standard_abi
import standin
from report import check, equal


def recorded(soname):
    """Known counts in C and the three bindings of Fortran. Cray's library is Intel's by another name: one program will do
    for it in check."""
    programs = ['p2p.c', 'collectives.c', 'persistent.c', 'file.c']
    if 'cray' in soname and not harness.all_cases():
        programs = programs[:1]
    run = harness.run(
        [sys.executable, os.path.join(harness.PROGRAMS, 'counts.t'), *programs],
        env={'FVMPI_TEST_MPI': soname, 'FVMPI_TEST_SANITIZER': harness.SANITIZER, 'FVMPI_BUILD': harness.BUILD},
    )
    lines = run.out.splitlines()
    check(
        run.rc == 0 and lines[-1] == ('1..9' if len(programs) == 4 else '1..5'),
        '{}\n{}',
        run.err[-2000:],
        '\n'.join(l for l in lines if not l.startswith('ok'))[:2000],
    )


def loaded(library, program):
    out = harness.run(['env', 'LD_PRELOAD=' + library, 'LD_TRACE_LOADED_OBJECTS=1', program]).out
    return sorted(words[0] for words in map(str.split, out.splitlines()) if words[0].startswith(('libmpi', 'libmpich')))


def standins(tap):
    for mpi in standin.every():
        soname, why = mpi.soname, mpi.missing()
        with tap.test('{}: what is recorded'.format(soname)):
            if why:
                raise harness.Skip(why)
            recorded(soname)
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
            check(mpi.library in said, '{}', said)


def standard(tap):
    """What is the standard ABI's own: its functions, statuses and numbers; an MPI behind it; whatever launcher."""
    mpi = standin.StandardAbi()
    why = mpi.missing()
    with tap.test('standard ABI: functions, statuses, numbers'):
        if why:
            raise harness.Skip(why)
        run = mpi.profile(mpi.build('standard_abi.c'), 2, options=['--trace']).ended(0)
        equal('output', run.out, '1.0\n' * 2)
        equal('said', run.err.count('fvmpi: '), run.err.count('fvmpi: wrote'))
        report = run.report()
        report.sane(2)
        equal('thread level', [rank['thread_level'] for rank in report.data['ranks']], ['MPI_THREAD_MULTIPLE'] * 2)
        for name in 'MPI_Abi_get_version', 'MPI_Abi_get_info', 'MPI_Status_get_source':
            equal(name, report.total(name), 2)
        equal('bytes', report.callsite('MPI_Recv', inside='ring').each('bytes_received'), [40, 40])
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
        moved = [line.split() for line in harness.otf2_events(run.directory).splitlines()]
        for what in 'send', 'receive':
            equal(what, sorted(int(words[-1]) for words in moved if words[0] == what), [24, 24, 40, 40])
    if why:
        return
    with tap.test('standard ABI: fvmpi was built without'):
        run = harness.run([harness.FVMPI, 'run', mpi.build('p2p.c')], env={'FVMPI_LIBDIR': '/nowhere'}).ended(1)
        check(
            '/nowhere/libfvmpi-abi.so: not there' in run.err and 'configure it --with-mpi-abi=DIR' in run.err,
            '{}',
            run.err,
        )
    with tap.test('standard ABI: --threads'):
        mpi.profile(mpi.build('standard_abi.c'), 2, options=['--threads']).ended(0).report().sane(2)
    with tap.test('standard ABI: in a plugin, RTLD_LOCAL'):
        host = mpi.build('plugin_host.c', '-pthread', '-ldl', output='plain_host')
        path = mpi.build('plugin.c', '-pthread', '-shared', '-fPIC', output='plain_plugin.so')
        report = mpi.profile(host, 2, [path], options=['--mpi', 'abi']).ended(0).report()
        report.shape(2, threaded=True)
        equal('MPI_Barrier', sum(s.data['count'] for s in report.callsites('MPI_Barrier', inside='meet')), 2 * 6)
    other = harness.Mpi('mpich')
    for ours, program in (other, mpi.build('p2p.c')), (mpi, other.build('p2p.c')):
        with tap.test('{} under a program of the other'.format(os.path.basename(ours.library))):
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                mpi.command(2, ['env', 'LD_PRELOAD=' + ours.preload, 'FVMPI_OUTPUT=' + directory, program])
            ).ended(0)
            check(
                ' preload libfvmpi-{}.so instead, it runs unrecorded'.format('abi' if ours is other else 'mpich')
                in run.err,
                '{}',
                run.err,
            )
            check(not os.path.exists(directory), '{} was made', directory)
    with tap.test('standard ABI: what stands behind its library is none of the program\'s'):
        program = mpi.build(
            'p2p.c', '-Wl,--no-as-needed', mpi.path, standin.library(other.cc, 'libmpich.so.12'), output='p2p_both'
        )
        said = harness.run([harness.FVMPI, 'run', '--dry-run', program]).ended(0).out
        check(mpi.library in said, '{}', said)
    with tap.test('standard ABI: any launcher is its own'):
        for launcher in 'mpiexec.mpich', 'mpiexec.openmpi':
            run = harness.run([harness.FVMPI, 'run', '--dry-run', launcher, '-n', '2', mpi.build('p2p.c')]).ended(0)
            check(mpi.library in run.out and not run.err, '{}\n{}', run.out, run.err)
            equal(
                launcher + ' is told the environment',
                'OMPI_MCA_mca_base_env_list=' in run.out,
                launcher == 'mpiexec.openmpi',
            )


def configured(tap):
    """By configure: the header of what directory, or of mpicc_abi."""
    place, script = harness.scratch('abi'), os.path.join(harness.SOURCE, 'mpi-wrappers', 'find-abi.sh')
    header, tools = standard_abi.header(), os.path.join(place, 'bin')
    # an installation of Open MPI has another mpi.h beside it, which may have the macro, too
    texts = {
        'plain/include': header,
        'openmpi/include': '#define MPI_ABI_VERSION 1\n',
        'openmpi/include/standard_abi': header,
        'mpich/include': '#ifdef MPI_ABI\n' + header + '#endif\n',
        'itself': header,
        'native/include': '#define MPI_ABI_VERSION 1\n',
        'draft/include': header.replace('THREAD_MULTIPLE = 4096', 'THREAD_MULTIPLE = 7'),
        'nothing': None,
    }
    for name, text in texts.items():
        os.makedirs(os.path.join(place, name), exist_ok=True)
        if text:
            standard_abi.gen.write(os.path.join(place, name), 'mpi.h', text)
    wanted = {
        'plain': 'plain/include',
        'openmpi': 'openmpi/include/standard_abi',
        'mpich': 'mpich/include',
        'itself': 'itself',
        'native': None,
        'draft': None,
        'nothing': None,
    }
    for name, include in wanted.items():
        with tap.test('configure --with-mpi-abi: {}'.format(name)):
            run = harness.run(['sh', script, 'cc', os.path.join(place, name)]).ended(0 if include else 1)
            equal('flags', run.out, '-DMPI_ABI -I{}/{}\n'.format(place, include) if include else '')
    with tap.test('configure: the header of mpicc_abi'):
        path = {'PATH': tools + ':' + os.environ['PATH']}
        os.mkdir(tools)
        for shows, answers, include in ('-show', 'cc -DMPI_ABI -I{} -L/x -lmpi_abi', 'mpich/include'), (
            '-showme',
            'cc -I{} -pthread -L/x -lmpi_abi',
            'openmpi/include/standard_abi',
        ):
            with open(os.path.join(tools, 'mpicc_abi'), 'w') as f:
                f.write(
                    '#!/bin/sh\n[ "$1" = {} ] && echo {}\n'.format(shows, answers.format(os.path.join(place, include)))
                )
            os.chmod(os.path.join(tools, 'mpicc_abi'), 0o755)
            run = harness.run(['sh', script, 'cc'], env=path).ended(0)
            check(
                run.out.startswith('-DMPI_ABI ') and run.out.endswith('-I{}/{}\n'.format(place, include)), '{}', run.out
            )


def without(tap, mpi):
    with tap.test('mpich: programs without MPI'):
        run = harness.run(['env', 'LD_BIND_NOW=1', 'LD_PRELOAD=' + mpi.preload, 'sh', '-c', 'echo good']).ended(0)
        equal('output', run.out + run.err, 'good\n')
        equal('libraries', loaded(mpi.library, '/bin/sh'), [])
        os.makedirs(mpi.folder, exist_ok=True)
        program = os.path.join(mpi.folder, 'without')
        flags = [w for w in harness.run([mpi.cc, '-show']).ended(0).out.split() if w.startswith('-I')]
        harness.run(
            ['cc', '-fPIE', '-pie', '-DWITHOUT', *flags, os.path.join(harness.PROGRAMS, 'abi.c'), '-o', program]
        ).ended(0)
        run = harness.run(['env', 'LD_PRELOAD=' + mpi.preload, program]).ended(0)
        equal('said', run.out + run.err, '0 0\n')
    with tap.test('mpich: linked with -lfvmpi by a linker that drops what nobody needs'):
        program = mpi.build(
            'transparent.c', '-Wl,--as-needed', mpi.library, '-Wl,-rpath,' + harness.LIBS, output='as-needed'
        )
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            mpi.command(2, ['env', 'FVMPI_OUTPUT=' + directory, program, '0']), directory=directory
        ).ended(0)
        run.report().shape(2)
    with tap.test('mpich: a plugin brings Open MPI'):
        other = harness.Mpi('openmpi')
        if other.missing():
            raise harness.Skip(other.missing())
        host = mpi.build('plugin_host.c', '-pthread', '-ldl', output='plain_host')
        path = other.build('plugin.c', '-pthread', '-shared', '-fPIC', output='plain_plugin.so')
        run = harness.run(['env', 'LD_PRELOAD=' + mpi.preload, host, path])
        equal('exit status', run.rc, 1)
        equal('said', run.err.count('libfvmpi-mpich.so: the program loaded Open MPI ('), 1)


def main():
    tap = harness.Tap()
    harness.patiently()
    standins(tap)
    standard(tap)
    configured(tap)
    for mpi in harness.mpis(tap):
        if str(mpi) == 'mpich':
            without(tap, mpi)
    tap.done()


main()
