#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI that was used and cannot be seen: the program does what it does without fvmpi, one line at its end says what was
not recorded and what to do, and that works. Where there is nothing to say, nothing is said."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import unseen
from report import check, equal


def linker_of(program):
    """The dynamic linker, which is a command as well."""
    return next(
        line.split()[0]
        for line in harness.run(['ldd', program]).ended(0).out.splitlines()
        if line.split()[0].startswith('/')
    )


def said(mpi, command, ranks, text, options=(), recorded=False):
    """Runs it without and with fvmpi: what it printed is the same, and this is the one line that the library said;
    None: none."""
    native = harness.run(mpi.command(ranks, command))
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = harness.run(mpi.command(ranks, mpi.profiled(command, directory, options)), directory=directory).ended(
        native.rc
    )
    equal('output', sorted(run.out.split('\n')), sorted(native.out.split('\n')))
    lines = [
        line
        for line in run.err.splitlines()
        if line.startswith('fvmpi: ') and 'fvmpi: run: ' not in line and 'but the launcher is' not in line
    ]
    equal('lines', len(lines), int(text is not None))
    check(text is None or text in lines[0], '{}', lines)
    equal('recorded', os.path.exists(directory), recorded)
    return run


def leaves_late():
    """A program with a library whose destructor, behind fvmpi's, leaves by _exit()."""
    folder = harness.scratch('late')
    library, program = os.path.join(folder, 'liblate.so'), os.path.join(folder, 'late')
    for name, text in (
        ('lib', '#include <unistd.h>\n__attribute__((destructor)) static void leave(void) { _exit(3); }\nint here;\n'),
        ('main', 'extern int here;\nint main(void) { return here; }\n'),
    ):
        with open(os.path.join(folder, name + '.c'), 'w') as f:
            f.write(text)
    harness.run(['cc', '-shared', '-fPIC', os.path.join(folder, 'lib.c'), '-o', library]).ended(0)
    harness.run(['cc', os.path.join(folder, 'main.c'), library, '-Wl,-rpath,' + folder, '-o', program]).ended(0)
    return program


def no_mpi(tap, mpi):
    with tap.test('{}: a program without MPI'.format(mpi)):
        said(
            mpi,
            ['/bin/echo', 'good'],
            2,
            'nothing was recorded: fvmpi saw no call of MPI_Init; for a program without MPI, use fvmpi run --mpi serial',
        )
        said(mpi, ['/bin/echo', 'good'], 1, None, ['--mpi', 'serial'], recorded=True)
    with tap.test('{}: a program that fails before MPI_Init'.format(mpi)):
        text = 'fvmpi saw no call of MPI_Init that returned before '
        for fails in 'import sys; sys.exit(3)', 'import os; os._exit(3)':
            command = ['/usr/bin/python3', '-c', fails]
            said(mpi, command, 1, ': nothing was recorded: {}it ended with exit status 3; '.format(text))
        said(mpi, [leaves_late()], 1, ': nothing was recorded: {}it ended with exit status 3; '.format(text))
        options = ['run', '--mpi', str(mpi), '-o', 'e']
        run = harness.run([harness.FVMPI, *options, *mpi.command(1, command)]).ended(3)
        check(
            text + mpi.exec + ' ended with exit status 3. If an error is printed above, ' in run.err,
            'around the launcher: {}',
            run.err,
        )
        one_leaves = 'case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} in 1) sleep 1; kill -9 $$;; esac; exec ' + mpi.build(
            'tool.c', '-DPROGRAM', output='tool-alone'
        )
        run = harness.run([harness.FVMPI, *options, *mpi.command(2, ['/bin/sh', '-c', one_leaves])])
        check(text + mpi.exec + ' ended with exit status ' in run.err, 'rank 0 is in MPI_Init: {}', run.err)
        killed = ['/usr/bin/python3', '-c', 'import os; os.kill(os.getpid(), 9)']
        run = harness.run([harness.FVMPI, *options, *killed]).ended(137)
        check(text + 'python3 was ended by signal 9 (Killed). ' in run.err, 'without a launcher: {}', run.err)
    with tap.test('{}: a static program, started by a script'.format(mpi)):
        program = os.path.join(mpi.folder, 'static')
        os.makedirs(mpi.folder, exist_ok=True)
        with open(program + '.c', 'w') as f:
            f.write('int main(void) { return 0; }\n')
        if harness.run(['cc', '-static', program + '.c', '-o', program]).rc:
            raise harness.Skip('no static C library')
        said(mpi, ['/bin/sh', '-c', 'exec ' + program], 1, 'static: statically linked, so nothing was recorded')
    with tap.test('{}: a script that starts a program is no program without MPI'.format(mpi)):
        program = mpi.build('tool.c', '-DPROGRAM', output='tool-alone')
        for script in program, program + '; true', 'true; ' + program, 'exec {} {}'.format(linker_of(program), program):
            run = said(mpi, ['/bin/sh', '-c', script], 2 if script == program else 1, None, recorded=True)
            equal('MPI_Barrier', run.report().total('MPI_Barrier'), 6 if script == program else 3)


def of_files(tap, mpi):
    """Nothing of what looks at the end, and at exec(), is in the way of the program's own files."""
    text = 'nothing was recorded: fvmpi saw no call of MPI_Init'
    with tap.test('{}: a program that closes what it has not opened, and forks'.format(mpi)):
        said(mpi, ['/usr/bin/python3', '-c', CLOSES], 1, text)
    with tap.test('{}: exec() of what is no file'.format(mpi)):
        fifo = os.path.join(harness.scratch('fifo'), 'fifo')
        os.makedirs(os.path.dirname(fifo), exist_ok=True)
        os.mkfifo(fifo, 0o755)
        said(mpi, ['/usr/bin/python3', '-c', BECOMES, fifo], 1, text)


def without_preload(tap, mpi):
    program = mpi.build('tool.c', '-DPROGRAM', output='tool-alone')
    wanted = '{}: was started without the LD_PRELOAD that fvmpi run set, and was not recorded; start it by: fvmpi run '.format(
        program
    )
    for script in 'unset LD_PRELOAD; {}; true', 'unset LD_PRELOAD; exec {}', 'exec env -u LD_PRELOAD {}':
        with tap.test('{}: {}'.format(mpi, script.format('program'))):
            said(mpi, ['/bin/sh', '-c', script.format(program)], 2 if 'true' in script else 1, wanted)
    with tap.test('{}: ... and with fvmpi run there'.format(mpi)):
        said(
            mpi,
            ['/bin/sh', '-c', 'unset LD_PRELOAD; {} run {}; true'.format(harness.FVMPI, program)],
            1,
            None,
            recorded=True,
        )


def within(tap, mpi):
    """MPI's archive in a program that is not static."""
    with tap.test('{}: a static MPI within a program'.format(mpi)):
        program = unseen.static_within(mpi)
        text = 'seems to contain an MPI library, whose calls fvmpi cannot see'
        for options in [], ['--mpi', 'mpich']:
            said(mpi, [program], 2, text, options)
        run = harness.run([harness.FVMPI, 'run', '-o', 'e', *mpi.command(1, [program])]).ended(0)
        check('fvmpi: nothing was recorded in ' in run.err and text in run.err, 'around the launcher: {}', run.err)


def opened(tap, mpi, others):
    program = mpi.build('lookup.c', '-fno-optimize-sibling-calls', '-Wl,--as-needed', '-ldl', output='lookup')
    library = unseen.library_of(mpi)
    with tap.test('{}: dlmopen()'.format(mpi)):
        if mpi.native(program, 1, [library, 'space']).rc:
            raise harness.Skip('it does not work without fvmpi')
        run = said(
            mpi,
            [program, library, 'space'],
            1,
            'was loaded by dlmopen() into a separate name space, and was not recorded',
            ['--mpi', str(mpi)],
        )
        check(os.path.basename(library) in run.err, '{}', run.err)
    names = {'mpich': 'MPICH', 'openmpi': 'Open MPI'}
    for other in others:
        with tap.test('{}: opened by a program under the library for {}'.format(mpi, other)):
            text = "{} was used and not recorded: fvmpi's library is for {}; say fvmpi run --mpi {}".format(
                names[str(mpi)], names[str(other)], mpi
            )
            said(mpi, ['/usr/bin/python3', '-c', unseen.OPENS, library], 1, text, ['--mpi', str(other)])
    with tap.test('{}: PMPI_ functions alone'.format(mpi)):
        said(
            mpi,
            ['/usr/bin/python3', '-c', unseen.OPENS.replace('.MPI_', '.PMPI_'), library],
            1,
            'was used and not recorded: its PMPI_ functions were called',
            ['--mpi', str(mpi)],
        )
    with tap.test('{}: opened by a program without a launcher'.format(mpi)):
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '-o', 'e', '/usr/bin/python3', '-c', unseen.OPENS, library]
        ).ended(0)
        equal('output', run.out, 'done\n')
        check(
            "was used and not recorded: fvmpi's library is for programs without MPI; say fvmpi run --mpi {}".format(mpi)
            in run.err,
            '{}',
            run.err,
        )


CLOSES = """
import os
os.closerange(3, 256)
files = [os.open('/dev/null', os.O_WRONLY) for i in range(80)]
child = os.fork()
if not child:
    for file in files:
        os.write(file, b'good')
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""

BECOMES = """
import os, sys
try:
    os.execv(sys.argv[1], ['fifo'])
except OSError as e:
    print(e.strerror)
"""


def main():
    tap = harness.Tap()
    found = list(harness.mpis(tap))
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True, first='mpich')]  # of what is not the MPI's
    for mpi in found:
        no_mpi(tap, mpi)
        if str(mpi) in each:
            of_files(tap, mpi)
            without_preload(tap, mpi)
        within(tap, mpi)
        opened(tap, mpi, [other for other in found if other is not mpi])
    tap.done()


main()
