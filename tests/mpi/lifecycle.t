#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ways to come to MPI and to leave it, and processes that a rank makes meanwhile: the same output and exit
status as without fvmpi, whole records of the ranks, and nothing from or of their children."""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal


def ours(text):
    return [line for line in text.splitlines() if 'fvmpi' in line and 'wrote' not in line]


def same(mpi, program, way, ranks=2, launch=None):
    """One way without and with fvmpi; what the ranks print is mixed."""
    native = mpi.native(program, ranks, way)
    lacks = [
        why
        for said, why in (('cannot', 'this MPI cannot'), ('no sessions', 'this MPI has no sessions'))
        if said in native.out
    ]
    if lacks and not harness.all_cases():
        raise Skip(lacks[0])
    directory = os.path.join(harness.scratch('exp'), 'e')
    if launch == 'around':
        run = harness.run(mpi.profiled(['--'] + mpi.command(ranks, [program] + way), directory), directory=directory)
    else:
        run = mpi.profile(program, ranks, way, directory=directory)
    check(not native.late, 'hangs without fvmpi: {}', way)
    run.ended(native.rc)
    equal('output', sorted(run.out), sorted(native.out))
    if lacks:
        raise Skip(lacks[0])
    return native, run


def barriers(report, state='finalized'):
    equal('states', [report.rank(r)['state'] for r in (0, 1)], [state] * 2)
    report.callsite('MPI_Barrier', inside='before').expect(count=2)
    report.callsite('MPI_Barrier', inside='after').expect(count=3)


def ends(tap, mpi, program, is_whole):
    for way, inside in (('plain', 'finalize'), ('exec', 'finalize'), ('atexit', 'finalize'), ('fini', 'finalize'))[
        : None if is_whole else 2
    ]:
        with tap.test('{}: {}'.format(mpi, way)):
            native, run = same(mpi, program, [way, '/bin/echo', 'executed'])
            equal('from fvmpi', ours(run.err), [])
            report = run.report()
            report.shape(2)
            barriers(report)
            report.callsite('MPI_Finalize', inside=inside).expect(count=1)
            equal('rank files', len(glob.glob(run.directory + '*/*.fvr')), 2)
    with tap.test('{}: exit by another thread'.format(mpi)):
        native, run = same(mpi, program, ['thread'])
        equal('exit status', run.rc, 3)
        report = run.report()
        report.shape(2, threaded=True)
        # the launcher may have killed the one that was slower
        states = [report.rank(r)['state'] for r in (0, 1)]
        check(set(states) <= {'exited', 'killed'} and 'exited' in states, 'states {}', states)
        for r in (0, 1):
            equal('rank {} was in'.format(r), report.rank(r)['in_call']['function'], 'MPI_Recv')
        report.callsite('MPI_Barrier', inside='after').expect(count=3)
    with tap.test('{}: without a launcher'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(mpi.profiled([program], directory), directory=directory).ended(0)
        equal('output', run.out, 'plain: done\n')
        run.report().sane(1)
        run.report().callsite('MPI_Barrier', inside='after').expect(count=3)


def children(tap, mpi, program):
    with tap.test('{}: children made in every way'.format(mpi)):
        native, run = same(mpi, program, ['children'])
        equal('from fvmpi', ours(run.err), [])
        report = run.report()
        report.shape(2)
        barriers(report)
        equal('calls', sorted({s.function for s in report.sites}), ['MPI_Barrier', 'MPI_Finalize', 'MPI_Init_thread'])
        equal('rank files', len(glob.glob(run.directory + '*/*.fvr')), 2)


def sessions(tap, mpi, program):
    for way, count in (('sessions', 4), ('both', 2)):
        with tap.test('{}: {}'.format(mpi, way)):
            native, run = same(mpi, program, [way])
            report = run.report()
            report.sane(2)
            equal('MPI_Allreduce', report.total('MPI_Allreduce'), 2 * count)
            if way == 'both':
                barriers(report)


def others(tap, mpi, program):
    for way in ('join', 'connect'):
        with tap.test('{}: MPI_Comm_{}'.format(mpi, way)):
            native, run = same(mpi, program, [way])
            report = run.report()
            report.sane(2)
            report.callsite('MPI_Sendrecv', inside='talk').expect(count=1, sent=4, received=4)
            report.traffic({(0, 1): (1, 4), (1, 0): (1, 4)})
    with tap.test('{}: MPI_Comm_spawn, two experiments'.format(mpi)):
        native, run = same(mpi, program, ['spawn'], launch='around')
        for directory in (run.directory, run.directory + '-2'):
            report = harness.report_of(directory)
            report.sane(2)
            report.callsite('MPI_Sendrecv', inside='talk').expect(count=1, sent=4, received=4)
    with tap.test('{}: MPI_Comm_spawn, what is spawned is not preloaded'.format(mpi)):
        native, run = same(mpi, program, ['spawn'])
        run.report().sane(2)
        run.report().callsite('MPI_Comm_spawn', inside='spawn').expect(count=1)


def plugin(tap, mpi):
    with tap.test('{}: MPI in a plugin, RTLD_LOCAL'.format(mpi)):
        host = mpi.build('plugin_host.c', '-pthread', '-ldl', output='plain_host')
        path = mpi.build('plugin.c', '-pthread', '-shared', '-fPIC', output='plain_plugin.so')
        native = mpi.native(host, 2, [path]).ended(0)
        run = mpi.profile(host, 2, [path], options=['--mpi', str(mpi)]).ended(0)
        equal('output', sorted(run.out), sorted(native.out))
        report = run.report()
        report.shape(2, threaded=True)
        equal('states', [report.rank(r)['state'] for r in (0, 1)], ['finalized'] * 2)
        equal('MPI_Barrier', sum(s.data['count'] for s in report.callsites('MPI_Barrier', inside='meet')), 2 * 6)


def archive(mpi):
    """What --enable-static installs, of the objects of this build: the file, and the names that they refer to weakly,
    which those for an archive do not."""
    path = os.path.join(harness.scratch('archive'), 'libfvmpi.a')
    patterns = [
        'mpi-wrappers/.libs/libfvmpi_{}_la-*.o'.format(mpi),
        'src/*/.libs/libfvbase_la-*.o',
        'src/sensors/.libs/libfvsensors_la-*.o',
        'src/.libs/libfvrt_la-*.o',
        'src/*/.libs/libfvrt_la-*.o',
    ]
    objects = [o for p in patterns for o in glob.glob(os.path.join(harness.BUILD, p))]
    check(len(objects) > 20, 'objects {}', objects)
    harness.run(['ar', 'rc', path] + objects).ended(0)
    weak = {line.split()[-1] for line in harness.run(['nm', path]).ended(0).out.splitlines() if ' w PMPI' in line}
    with open(os.path.join(harness.BUILD, 'mpi-wrappers', mpi.name, 'mpi-have.h')) as f:
        there = {'P' + name for name in re.findall(r'HAVE_(MPI\w+) 1$', f.read(), re.M)}
    return [path] + ['-Wl,-u,' + name for name in sorted(weak & there)]


def static(tap, mpi):
    with tap.test('{}: linked with the archive of fvmpi'.format(mpi)):
        program = mpi.build('lifecycle.c', '-pthread', *archive(mpi), '-lunwind', output='archived')
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(mpi.command(2, ['env', 'FVMPI_OUTPUT=' + directory, program]), directory=directory).ended(0)
        run.report().sane(2)
        barriers(run.report())
    with tap.test('{}: all of MPI linked statically'.format(mpi)):
        found = harness.run([mpi.cc, '-print-file-name=libmpich.a']).out.strip()
        if str(mpi) != 'mpich' or not os.path.isabs(found):
            raise Skip('no archive of this MPI')
        if harness.SANITIZER:
            raise Skip('what a sanitizer links brings its MPI along')
        program = mpi.build(
            'lifecycle.c',
            '-pthread',
            *archive(mpi),
            '-Wl,-Bstatic',
            '-lmpich',
            '-Wl,-Bdynamic',
            '-lhwloc',
            '-lucp',
            '-lucs',
            '-lunwind',
            '-lm',
            output='static',
        )
        check('libmpi' not in harness.run(['ldd', program]).out, 'MPI is linked dynamically')
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(mpi.command(2, ['env', 'FVMPI_OUTPUT=' + directory, program]), directory=directory).ended(0)
        run.report().sane(2)
        barriers(run.report())


def main():
    tap = harness.Tap()
    harness.patiently()
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]  # of what is not the MPI's
    for mpi in harness.mpis(tap):
        program = mpi.build('lifecycle.c', '-pthread')
        ends(tap, mpi, program, str(mpi) in each)
        if str(mpi) in each:
            children(tap, mpi, program)
        sessions(tap, mpi, program)
        others(tap, mpi, program)
        plugin(tap, mpi)
        static(tap, mpi)
    tap.done()


main()
