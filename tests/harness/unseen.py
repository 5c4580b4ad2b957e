# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose MPI is used in ways that fvmpi cannot see."""
import os

import harness

OPENS = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
mpi.MPI_Init(None, None)
print('done')
sys.stdout.flush()
mpi.MPI_Finalize()
"""


def library_of(mpi):
    program = mpi.build('transparent.c')
    found = [line.split()[2] for line in harness.run(['ldd', program]).ended(0).out.splitlines() if '=> /' in line]
    return [path for path in found if os.path.basename(path).startswith(('libmpi.so', 'libmpich.so'))][0]


def static_within(mpi):
    """A program that is not static, with MPI's archive in it."""
    archive = harness.run(['cc', '-print-file-name=libmpich.a']).ended(0).out.strip()
    if str(mpi) != 'mpich' or not os.path.isabs(archive):
        raise harness.Skip('no archive of it')
    flags = [w for w in harness.run([mpi.cc, '-show']).ended(0).out.split() if w.startswith('-I')]
    program = os.path.join(harness.scratch('within'), 'within')  # another test may make or run its own meanwhile
    harness.run(
        [
            'cc',
            '-O2',
            '-DPROGRAM',
            *flags,
            os.path.join(harness.PROGRAMS, 'tool.c'),
            '-o',
            program,
            archive,
            '-s',
            '-lhwloc',
            '-lucp',
            '-lucs',
            '-lm',
            '-lpthread',
            '-ldl',
            '-lrt',
        ]
    ).ended(0)
    return program
