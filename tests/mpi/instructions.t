#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: its instructions would be counted.
# Not under AddressSanitizer: valgrind does not run with it.
"""What a call costs, in instructions, which depend on the compiler alone: not more than here, by far."""
import os
import platform
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [HERE + '/../harness', HERE + '/../bench']
import harness
import instructions
from report import check

MARGIN = 1.15  # another compiler
BOUNDS = {  # by what gcc 12 makes
    'profile': {
        'MPI_Iprobe, new path': 3012,
        '4 Irecv, 4 Isend, Waitall': 6465,
        'MPI_Iprobe': 249,
        'MPI_Allreduce': 311,
        'Irecv, Send, Wait': 1125,
        'MPI_Iprobe (Fortran)': 316,
    },
    '--trace': {'MPI_Iprobe': 336, 'MPI_Allreduce': 494, 'Irecv, Send, Wait': 1725},
}


def needs_optimized():
    """Skips where the numbers are others."""
    if platform.machine() != 'x86_64':
        raise harness.Skip('the bounds are for x86-64')
    with open(os.path.join(harness.BUILD, 'Makefile'), encoding='utf-8') as f:
        flags = re.search(r'^CFLAGS = (.*)$', f.read(), re.M)
    if not flags or not re.search(r'-O[23]', flags.group(1)):
        raise harness.Skip('the build is not optimized')


def compare(mode, added):
    for case, most in BOUNDS[mode].items():
        if case not in added:  # no compiler of Fortran
            continue
        print('# %s, %s: %d instructions, at most %d' % (mode, case, added[case], most * MARGIN))
        check(0 < added[case] <= most * MARGIN, '%s, %s: %d instructions' % (mode, case, added[case]))


tap = harness.Tap()
counter = None
with tap.test('instructions are counted'):
    try:
        needs_optimized()
        counter = instructions.Counter(harness.BUILD)
        counter.compile_mpi()
        plain = counter.count('of_mpi', None, 'mpich')
        check(plain['MPI_Iprobe'] > 0, 'nothing was counted')
    except instructions.Missing as why:
        counter = None
        raise harness.Skip(str(why).splitlines()[0])
for mode in BOUNDS:
    with tap.test('a call in a run with %s' % mode):
        if not counter:
            raise harness.Skip('nothing was counted')
        compare(mode, counter.added('of_mpi', instructions.MODES[mode], 'mpich', plain))
if counter:
    counter.close()
tap.done()
