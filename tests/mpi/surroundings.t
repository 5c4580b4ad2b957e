#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Surroundings that not every library survives: a stderr that nobody reads or that is not there, ranks that
go to directories of their own, a plugin that is closed. The application does not notice, and its files are
its own; a loader that starts the program."""
import glob
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal, problems

# Starts a command with other descriptors. Python ignores SIGPIPE, and what it starts would, too.
WITHOUT_READER = 'r, w = os.pipe(); os.close(r); os.dup2(w, 2); '
WITHOUT_STDERR = 'os.close(2); '
WITHOUT_ANY = 'os.closerange(0, 3); '
NOWHERE = '/dev/null/x'  # each rank says that it cannot record there


def changed(how, command):
    text = (
        'import os, signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL); '
        + how
        + 'os.execvp(sys.argv[1], sys.argv[1:])'
    )
    return [sys.executable, '-c', text] + command


def texts(directory):
    found = []
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), errors='replace') as f:
            found.append(f.read())
    return sorted(found)


def descriptors(tap, mpi):
    with tap.test('{}: nobody reads stderr'.format(mpi)):
        program = mpi.build('transparent.c')
        native = harness.run(mpi.command(2, changed(WITHOUT_READER, [program, '0']))).ended(0)
        run = harness.run(mpi.command(2, changed(WITHOUT_READER, mpi.profiled([program, '0'], NOWHERE)))).ended(0)
        equal('output', run.out, native.out)
    program = mpi.build('surroundings.c')
    for what, how in (('no stderr', WITHOUT_STDERR), ('no standard descriptor', WITHOUT_ANY)):
        for where in ('cannot record', 'records'):
            with tap.test('{}: {}, {}'.format(mpi, what, where)):
                mine, natives = harness.scratch('files'), harness.scratch('files')
                directory = NOWHERE if where == 'cannot record' else os.path.join(harness.scratch('exp'), 'e')
                native = harness.run(mpi.command(2, changed(how, [program, 'files', natives]))).ended(0)
                run = harness.run(
                    mpi.command(2, changed(how, mpi.profiled([program, 'files', mine], directory))),
                    env={'FVMPI_DEPHT': '1'},
                    directory=directory,
                ).ended(0)
                equal('files', texts(mine), texts(natives))
                equal('files that are descriptor 2', texts(mine).count('descriptor 2\nend\n'), 2)
                if where == 'records':
                    run.report().sane(2)
                    run.report().callsite('MPI_Barrier', inside='meet').expect(count=7)


def directories(tap, mpi):
    program = mpi.build('surroundings.c')
    preload = ['env', 'LD_PRELOAD=' + mpi.preload]
    for what, before, wanted in (
        ('no output named', preload, 'fvmpi-surroundings-2p-*'),
        ('a relative output', preload + ['FVMPI_OUTPUT=out/e'], 'out/e'),
        ('under fvmpi run', [harness.FVMPI, 'run'], 'fvmpi-surroundings-2p-*'),
    ):
        with tap.test('{}: ranks that go apart before MPI_Init, {}'.format(mpi, what)):
            cwd, apart = harness.scratch('cwd'), harness.scratch('apart')
            run = harness.run(mpi.command(2, before + [program, 'apart', apart]), cwd=cwd).ended(0)
            equal('output', run.out, 'good end\n')
            equal('what is in their directories', glob.glob(apart + '/*/*'), [])
            found = glob.glob(os.path.join(cwd, wanted))
            equal('number of experiments', len(found), 1)
            harness.report_of(found[0]).sane(2)


def plugins(tap, mpi):
    with tap.test('{}: a plugin with -lfvmpi is closed'.format(mpi)):
        sanitize = os.environ.get('SANITIZE_FLAGS', '').split()
        plugin = mpi.build(
            'plugin.c', '-shared', '-fPIC', '-pthread', mpi.library, '-Wl,-rpath,' + harness.LIBS, output='plugin.so'
        )
        host = mpi.build('plugin_host.c', '-pthread', '-Wl,--as-needed', '-ldl', *sanitize)
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(mpi.command(2, [host, plugin]), env={'FVMPI_OUTPUT': directory}, directory=directory).ended(0)
        equal('output', run.out, 'child 7\n')
        equal('stderr', run.err, '')
        report = run.report()
        report.shape(2, threaded=True)
        equal('states', [report.rank(r)['state'] for r in (0, 1)], ['finalized'] * 2)
        equal('calls of MPI_Barrier', [report.total('MPI_Barrier', rank=r) for r in (0, 1)], [6, 6])


def fibers(tap, mpi):
    """A call that comes back on another thread is nobody's: it is counted, and both threads' calls are right."""
    with tap.test('{}: a fiber that changes threads in its calls'.format(mpi)):
        run = mpi.profile(mpi.build('fibers.c', '-pthread'), 1, limit=60).ended(0)
        probes, iprobes = (int(w) for w in run.out.split()[1:])
        report = run.report()
        equal('MPI_Iprobe', report.total('MPI_Iprobe'), iprobes)
        dropped = report.dropped(0)
        equal('MPI_Probe, and not recorded', report.total('MPI_Probe') + dropped, probes)
        check(dropped > 0, 'none came back elsewhere')


def loaders(tap, mpi):
    """/proc/self/exe is the loader then, and not the program."""
    with tap.test('{}: started by the loader'.format(mpi)):
        program = mpi.build('tool.c', '-DPROGRAM')
        found = harness.run(['readelf', '-lW', program]).ended(0).out
        loader = found.split('program interpreter: ')[1].split(']')[0]
        run = mpi.profile(loader, 1, [program]).ended(0)
        report = run.report()
        check('/tool.c' in report.callsites('MPI_Barrier')[0].path[0]['file'], 'another line')
        equal('problems', problems(report.data), [])


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        descriptors(tap, mpi)
        directories(tap, mpi)
        plugins(tap, mpi)
        fibers(tap, mpi)
        loaders(tap, mpi)
    tap.done()


main()
