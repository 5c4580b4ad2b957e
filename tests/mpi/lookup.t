#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it forbids RTLD_DEEPBIND.
"""Programs that find MPI by dlopen() and dlsym(), in C and in Python: each call is counted, once. And what these two
functions promise their callers holds with fvmpi as without."""
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import unseen
from report import check, equal, problems

WAYS = {
    'by_handle': 1,
    'by_version': 2,
    'by_program': 4,
    'deep_lazy': 5,
    'deep_now': 6,
    'plain': 7,
    'by_fortran': 8,
    'closed_and_opened': 9,
}  # PMPI_Barrier is not MPI_Barrier

CTYPES = """
import ctypes, os, sys
mode = sum(getattr(os, 'RTLD_' + word) for word in sys.argv[2].split())
mpi = ctypes.CDLL(sys.argv[1], mode)
world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, 'ompi_mpi_comm_world'))) if 'libmpi.so.40' in sys.argv[1] else 0x44000000
mpi.MPI_Init(None, None)
for i in range(7):
    mpi.MPI_Barrier(world)
address = ctypes.cast(mpi.MPI_Barrier, ctypes.c_void_p).value
ctypes.CFUNCTYPE(ctypes.c_int, type(world) if not isinstance(world, int) else ctypes.c_int)(address)(world)
print('done')
sys.stdout.flush()
mpi.MPI_Finalize()
"""

CFFI = """
import cffi, sys
ffi = cffi.FFI()
ffi.cdef('int MPI_Init(void *, void *); int MPI_Barrier(%s); int MPI_Finalize(void); extern char ompi_mpi_comm_world;'
         % ('void *' if 'libmpi.so.40' in sys.argv[1] else 'int'))
mpi = ffi.dlopen(sys.argv[1])
world = ffi.addressof(mpi, 'ompi_mpi_comm_world') if 'libmpi.so.40' in sys.argv[1] else 0x44000000
mpi.MPI_Init(ffi.NULL, ffi.NULL)
for i in range(8):
    mpi.MPI_Barrier(world)
print('done')
sys.stdout.flush()
mpi.MPI_Finalize()
"""


def libraries(mpi):
    """MPI's C library, and its Fortran library or ''."""
    c = unseen.library_of(mpi)
    names = ['libmpichfort.so.12', 'libmpifort.so.12'] if str(mpi) == 'mpich' else ['libmpi_mpifh.so.40']
    fortran = [os.path.join(os.path.dirname(c), name) for name in names]
    return c, next((path for path in fortran if os.path.exists(path)), '')


def both(mpi, command, ranks, options=(), env=None):
    """Without fvmpi and with it: the report."""
    native = harness.run(mpi.command(ranks, command), env=env).ended(0)
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = harness.run(
        mpi.command(ranks, mpi.profiled(command, directory, ['--mpi', str(mpi)] + list(options))),
        env=env,
        directory=directory,
    ).ended(0)
    equal('output', sorted(run.out.split('\n')), sorted(native.out.split('\n')))
    check('fvmpi: ' not in run.err, 'said: {}', run.err)
    report = run.report()
    equal('problems', problems(report.data), [])
    return report


def ways(tap, mpi, library, fortran, opened=4):
    program = mpi.build('lookup.c', '-fno-optimize-sibling-calls', '-Wl,--as-needed', '-ldl', output='lookup')
    version = os.path.join(mpi.folder, 'lookup.map')
    with open(version, 'w') as f:
        f.write('PLUGIN { global: deep_now; };\n')
    plugins = [
        mpi.build(
            'lookup.c',
            '-DPLUGIN=' + name,
            '-fno-optimize-sibling-calls',
            '-shared',
            '-fPIC',
            *flags,
            output='lookup_{}.so'.format(name),
        )
        for name, flags in (
            ('deep_lazy', ['-Wl,-z,lazy']),
            ('deep_now', ['-Wl,-z,now', '-Wl,-z,relro', '-Wl,--version-script=' + version]),
            ('plain', []),
        )
    ]
    wanted = {way: times for way, times in WAYS.items() if fortran or way != 'by_fortran'}
    for how, ranks in (('now', 2), ('global', 1), ('deep', 1), ('lazy deep global', 1))[:opened]:
        with tap.test('{}: every way to find a function, MPI opened {}'.format(mpi, how)):
            # by a bare name they are found where who opens them says, or the environment
            files, env = (
                (list(map(os.path.basename, plugins)), {'LD_LIBRARY_PATH': mpi.folder})
                if how == 'deep'
                else (plugins, None)
            )
            report = both(mpi, [program, library, how] + files + [fortran], ranks, env=env)
            equal('MPI_Barrier', report.total('MPI_Barrier'), ranks * sum(wanted.values()))
            for way, times in wanted.items():
                equal(way, sum(s.data['count'] for s in report.callsites('MPI_Barrier', inside=way)), ranks * times)


def end_within_page(library):
    """The same with PT_GNU_RELRO shorter by 64 bytes, the table of what is called: the dynamic linker does not protect
    its last page then, as where pages are larger than the linker knew."""
    other = library.replace('.so', '_odd.so')
    with open(library, 'rb') as f:
        data = bytearray(f.read())
    (at,) = struct.unpack_from('<Q', data, 32)
    (count,) = struct.unpack_from('<H', data, 56)
    for header in range(at, at + 56 * count, 56):
        if struct.unpack_from('<I', data, header)[0] == 0x6474E552:
            struct.pack_into(
                '<QQ', data, header + 32, *(size - 64 for size in struct.unpack_from('<QQ', data, header + 32))
            )
    with open(other, 'wb') as f:
        f.write(data)
    return other


def slots(tap, mpi):
    """Libraries with RTLD_DEEPBIND, whose slots are in memory that is, or is not, read-only by then; some opened by
    threads at a time."""
    program = mpi.build('lookup.c', '-DTHREADS=4', '-pthread', '-ldl', output='lookup_threads')

    def library(name, *flags):
        return mpi.build('lookup.c', '-shared', '-fPIC', *flags, output='lookup_slots_{}.so'.format(name))

    relro = ['-Wl,-z,now', '-Wl,-z,relro']
    for name, file, times in (
        ('protected in part', end_within_page(library('part', '-DSLOTS=4', '-DCALLED', *relro)), 2),
        ('in code', library('code', '-DSLOTS=1', '-DIN_CODE', '-Wl,-z,notext', '-Wl,--no-warnings'), 0),
    ):
        with tap.test('{}: slots {}'.format(mpi, name)):
            equal('MPI_Barrier', both(mpi, [program, '1', file], 1).total('MPI_Barrier'), times)
    with tap.test('{}: slots that threads lead at a time'.format(mpi)):
        files = [library(str(i), '-DSLOTS=2000', *relro) for i in range(4)]
        equal('MPI_Barrier', both(mpi, [program, '10'] + files, 1).total('MPI_Barrier'), 40)


def python(tap, mpi, library):
    # RTLD_DEEPBIND: Python's own variables are others then, and MPI_Init crashes without fvmpi
    for mode in 'RTLD_LOCAL RTLD_LAZY', 'RTLD_GLOBAL RTLD_NOW':
        with tap.test('{}: Python, ctypes, {}'.format(mpi, mode)):
            report = both(mpi, ['/usr/bin/python3', '-c', CTYPES, library, mode.replace('RTLD_', '')], 1)
            equal('MPI_Barrier', report.total('MPI_Barrier'), 8)
    with tap.test('{}: Python, cffi'.format(mpi)):
        found = [
            p for p in ('/usr/bin/python3', sys.executable) if not harness.run([p, '-c', 'import cffi'], cwd='/').rc
        ]
        if not found:
            raise harness.Skip('no cffi')
        equal('MPI_Barrier', both(mpi, [found[0], '-c', CFFI, library], 1).total('MPI_Barrier'), 8)


def rules(tap, mpi):
    folder = os.path.join(mpi.folder, 'lookup_rules')
    hidden = os.path.join(folder, 'hidden')
    os.makedirs(hidden, exist_ok=True)
    source = os.path.join(harness.PROGRAMS, 'lookup_rules.c')
    for path, name in (folder, 'librules.so'), (hidden, 'libhidden_rules.so'):
        harness.run(
            ['cc', '-O2', '-DLIBRARY', '-shared', '-fPIC', source, '-o', os.path.join(path, name), '-ldl']
        ).ended(0)
    for own in ([], ['-DOWN']):
        program = os.path.join(folder, 'own' if own else 'rules')
        harness.run(
            [
                'cc',
                '-O2',
                *own,
                source,
                '-o',
                program,
                '-rdynamic',
                '-L' + folder,
                '-lrules',
                '-ldl',
                '-Wl,--enable-new-dtags,-rpath,$ORIGIN:$ORIGIN/hidden',
            ]
        ).ended(0)
        files = [
            'libhidden_rules.so',
            '$ORIGIN/hidden/libhidden_rules.so',
            os.path.join(hidden, 'libhidden_rules.so'),
            '/no_such/library.so',
        ]
        for now in {}, {'LD_BIND_NOW': '1'}:
            with tap.test(
                '{}: what dlsym() and dlopen() promise{}{}'.format(
                    mpi, ', a program with a dlsym() of its own' if own else '', ', LD_BIND_NOW' if now else ''
                )
            ):
                native = harness.run([program] + files, env=now).ended(0)
                run = harness.run([program] + files, env=dict(now, LD_PRELOAD=mpi.preload)).ended(0)
                equal('output', run.out + run.err, native.out + native.err)
                equal('what is hidden was found', run.out.count('opened'), 6)


def main():
    tap = harness.Tap()
    harness.patiently()
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]  # of what is the loader's
    for mpi in harness.mpis(tap):
        library, fortran = libraries(mpi)
        if str(mpi) not in each:
            ways(tap, mpi, library, fortran, 1)
            continue
        ways(tap, mpi, library, fortran)
        slots(tap, mpi)
        python(tap, mpi, library)
        rules(tap, mpi)
    tap.done()


main()
