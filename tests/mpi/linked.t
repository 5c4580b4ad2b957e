#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it must be the first library of a program.
"""-lfvmpi, one library for each MPI: wherever it stands in the command that links, the program does what it does
without, and each call is counted once. Where it cannot work, the linker or the program says what to do."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import standin
from report import check, equal, problems

OURS = ['-L' + harness.LIBS, '-Wl,-rpath,' + harness.LIBS]
ADDRESSES = ['-DPOINTS=2', '-fno-pie', '-no-pie']  # the program's own ones
WANTED = {'MPI_Init': 1, 'MPI_Barrier': 3, 'MPI_Allreduce': 5, 'MPI_Bcast': 1, 'MPI_Finalize': 1}


def flags_of(mpi):
    """Of the compiler wrapper: to compile, and to link."""
    words = harness.run([mpi.cc, '-show']).ended(0).out.split()[1:]
    return [w for w in words if w.startswith(('-I', '-D'))], [w for w in words if w.startswith(('-L', '-l', '-Wl,'))]


def compiled(mpi, name, words):
    """Links by hand, so that the order is ours: the program, then the words."""
    os.makedirs(mpi.folder, exist_ok=True)
    path = os.path.join(mpi.folder, name)
    harness.run(
        [
            'cc',
            '-O2',
            '-g',
            '-DPROGRAM',
            *flags_of(mpi)[0],
            os.path.join(harness.PROGRAMS, 'tool.c'),
            '-o',
            path,
            *words,
            *os.environ.get('SANITIZE_FLAGS', '').split(),
        ]
    ).ended(0)
    return path


def recorded(mpi, program, ranks, arguments=(), out='', under=()):
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = harness.run(
        mpi.command(ranks, list(under) + [program] + list(arguments)),
        env={'FVMPI_OUTPUT': directory},
        directory=directory,
    ).ended(0)
    equal('output', run.out, out)
    check('fvmpi: ' not in run.err, 'said: {}', run.err)
    equal('problems', problems(run.report().data), [])
    return run.report()


def totals(report, ranks, wanted=None):
    wanted = wanted or WANTED
    equal(
        'calls', {name: report.total(name) for name in wanted}, {name: ranks * times for name, times in wanted.items()}
    )


def orders(tap, mpi, is_whole):
    libraries = flags_of(mpi)[1]
    first, last = OURS + ['-lfvmpi'] + libraries, libraries + ['-Wl,--no-as-needed'] + OURS + ['-lfvmpi']
    ways = {
        'first': first,
        'first, --as-needed': ['-Wl,--as-needed'] + first,
        'last': last,
        'last, bound at once': ['-Wl,-z,now'] + last,
        'last, not position-independent': ['-no-pie'] + last,
        'first, with addresses of functions': ADDRESSES + first,
        'last, with addresses of functions': ADDRESSES + last,
    }
    for way, words in ways.items() if is_whole else [(way, ways[way]) for way in ('first', 'last')]:
        with tap.test('{}: -lfvmpi {}'.format(mpi, way)):
            program = compiled(mpi, 'linked-' + way.replace(' ', '').replace(',', ''), words)
            ranks = 2 if way in ('first', 'last') else 1
            totals(recorded(mpi, program, ranks), ranks)
            if ranks == 2:
                run = mpi.profile(program, 1).ended(0)
                check('fvmpi: ' not in run.err, 'under fvmpi run: {}', run.err)
                totals(run.report(), 1)


def others(tap, mpi):
    """What else is in the program."""
    with tap.test('{}: -lfvmpi, and a tool behind it'.format(mpi)):
        tool = mpi.build('tool.c', '-DTOOL', '-shared', '-fPIC', output='libtool-linked.so')
        words = OURS + ['-lfvmpi', '-Wl,--no-as-needed', tool, '-Wl,-rpath,' + mpi.folder]
        totals(
            recorded(mpi, compiled(mpi, 'linked-tool', words + flags_of(mpi)[1]), 1, out='tool: 3 barriers, 5 sums\n'),
            1,
        )
    with tap.test('{}: -lfvmpi, and a library that calls MPI before main'.format(mpi)):
        early = mpi.build('tool.c', '-DEARLY', '-shared', '-fPIC', output='libearly-linked.so')
        words = OURS + ['-lfvmpi', '-Wl,--no-as-needed', early, '-Wl,-rpath,' + mpi.folder]
        totals(recorded(mpi, compiled(mpi, 'linked-early', words + flags_of(mpi)[1]), 1), 1)
    with tap.test('{}: -lfvmpi, fvmpi.h'.format(mpi)):
        program = mpi.build('pause.c', *OURS, '-lfvmpi', output='linked-pause')
        version = harness.run([harness.FVMPI, '--version']).ended(0).out.split()[-1]
        report = recorded(mpi, program, 1, out='version {}\n'.format(version))
        equal('MPI_Barrier', report.total('MPI_Barrier'), 7)
    with tap.test('{}: -lfvmpi, Fortran'.format(mpi)):
        if not shutil.which(mpi.fc):
            raise harness.Skip('no ' + mpi.fc)
        program = mpi.build('tool_fortran.F90', '-Wl,--no-as-needed', *OURS, '-lfvmpi', output='linked-fortran')
        totals(recorded(mpi, program, 1), 1, {name: times for name, times in WANTED.items() if name != 'MPI_Bcast'})
    with tap.test('{}: -lfvmpi in a plug-in'.format(mpi)):
        plugin = mpi.build('plugin.c', '-shared', '-fPIC', '-pthread', *OURS, '-lfvmpi', output='linked-plugin.so')
        host = mpi.build('plugin_host.c', '-pthread', '-Wl,--as-needed', '-ldl', output='linked-host')
        equal('MPI_Barrier', recorded(mpi, host, 1, [plugin], 'child 7\n').total('MPI_Barrier'), 6)
    with tap.test('{}: -lfvmpi, and its flavour is not there'.format(mpi)):
        alone = harness.scratch('alone')
        shutil.copy(os.path.realpath(os.path.join(harness.LIBS, 'libfvmpi.so')), os.path.join(alone, 'libfvmpi.so.0'))
        program = compiled(
            mpi,
            'linked-alone',
            ['-Wl,--disable-new-dtags,-rpath,' + alone, '-L' + harness.LIBS, '-lfvmpi'] + flags_of(mpi)[1],
        )
        run = mpi.native(program, 1, env={'FVMPI_OUTPUT': os.path.join(alone, 'e')}).ended(0)
        equal('output', run.out, '')
        check(
            'libfvmpi-{}.so: cannot open'.format(mpi) in run.err
            and 'Install all libraries of fvmpi in one directory' in run.err,
            'said: {}',
            run.err,
        )
        check(not os.path.exists(os.path.join(alone, 'e')), 'something was recorded')


def standard(tap):
    mpi = standin.StandardAbi()
    with tap.test('standard ABI: -lfvmpi'):
        if mpi.missing():
            raise harness.Skip(mpi.missing())
        program = mpi.build('tool.c', '-DPROGRAM', *OURS, '-lfvmpi', output='linked-first')
        totals(recorded(mpi, program, 2), 2)


def installed(tap):
    """What pkg-config says, and what a static program is told."""
    place = harness.scratch('installed')
    with tap.test('installed: pkg-config, and static programs'):
        if harness.SANITIZER:
            raise harness.Skip('a sanitized library wants its run-time first')
        harness.run(['make', '-s', '-C', harness.BUILD, 'install', 'prefix=' + place]).ended(0)
        with open(os.path.join(place, 'lib', 'pkgconfig', 'fvmpi.pc')) as f:
            words = next(line for line in f if line.startswith('Libs:')).split()
        equal('pkg-config', words[-3:], ['-Wl,-rpath,${libdir}', '-Wl,--no-as-needed', '-lfvmpi'])
        said = harness.run([os.path.join(place, 'bin', 'fvcc'), '--fv:link', '--fv:show', 'a.c']).ended(0).out
        lib = os.path.realpath(os.path.join(place, 'lib'))
        headers = os.path.join(os.path.realpath(place), 'include')
        wanted = ' a.c -I{1} -L{0} -Wl,-rpath,{0} -Wl,--no-as-needed -lfvmpi\n'.format(lib, headers)
        check(said.endswith(wanted), 'fvcc: {}', said)
        for archive in os.listdir(os.path.join(place, 'lib')):
            if archive.startswith('libfvmpi-') and archive.endswith('.a'):
                return
        made = os.path.join(place, 'static.c')
        with open(made, 'w') as f:
            f.write('int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }\n')
        run = harness.run(
            ['cc', '-static', made, '-o', os.path.join(place, 'static'), '-L' + os.path.join(place, 'lib'), '-lfvmpi']
        )
        check(
            run.rc and 'a static program needs the archive for its MPI, -lfvmpi-mpich or -lfvmpi-openmpi' in run.err,
            'said: {}',
            run.err,
        )


def main():
    tap = harness.Tap()
    harness.patiently()
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]  # of what is the linker's
    for mpi in harness.mpis(tap):
        orders(tap, mpi, str(mpi) in each)
        if str(mpi) in each:
            others(tap, mpi)
    standard(tap)
    installed(tap)
    tap.done()


main()
