#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that fvmpi adds to a call: ./dev bench instructions, and tests/mpi/instructions.t.

Valgrind's callgrind counts them, call by call, so that neither the processor nor what else runs there matters. Of each
case the least of nine calls is taken, and that without fvmpi is subtracted."""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OFF = ['--sample=off']
MODES = {  # of programs with MPI: what fvmpi run gets
    'profile': OFF,
    '--sample': [],
    '--trace': OFF + ['--trace'],
    '--threads': OFF + ['--threads'],
}
LIBC = {  # of one without: the cases that each looks at
    '--functions': (OFF + ['--functions=all'], ['instrumented function']),
    '--functions --trace': (OFF + ['--functions=all', '--trace'], ['instrumented function']),
    '--io': (OFF + ['--io'], ['write, 1 byte']),
    '--memory': (OFF + ['--memory'], ['malloc and free, 64 bytes', 'malloc and free, 16 KiB']),
    '--memory=exact': (OFF + ['--memory=exact'], ['malloc and free, 64 bytes', 'malloc and free, 16 KiB']),
}
LIMIT = 120  # seconds


class Missing(Exception):
    """What is needed is not here."""


def least_of_each(pattern):
    """Instructions by case, from callgrind's dumps."""
    found = collections.defaultdict(list)
    for path in sorted(glob.glob(pattern), key=lambda p: [int(n) for n in re.findall(r'\d+', os.path.basename(p))]):
        with open(path, encoding='utf-8', errors='replace') as f:
            text = f.read()
        name = re.search(r'^desc: Trigger: Client Request: (.*)$', text, re.M)
        total = re.search(r'^(?:summary|totals): (\d+)', text, re.M)
        if name and total:
            found[name.group(1)].append(int(total.group(1)))
    return {name: min(counts) for name, counts in found.items()}


class Counter:
    """Compiles and counts in a directory of its own; of MPICH, or without MPI."""

    def __init__(self, build):
        self.fvmpi = os.path.join(os.path.abspath(build), 'fvmpi')
        self.work = tempfile.mkdtemp(prefix='fvmpi-instructions-')
        self.runs = 0
        if not shutil.which('valgrind'):
            raise Missing('no valgrind')

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def compile(self, compiler, *arguments):
        """False: it cannot."""
        if not shutil.which(compiler.split()[0]):
            return False
        made = subprocess.run([*compiler.split(), *arguments], cwd=self.work, capture_output=True, text=True)
        if made.returncode and 'callgrind.h' in made.stderr:
            raise Missing('no valgrind/callgrind.h')
        return not made.returncode

    def compile_mpi(self, compiler=None, fortran=None):
        compiler = compiler or os.environ.get('MPICH_MPICC') or 'mpicc.mpich'
        fortran = fortran or compiler.replace('mpicc', 'mpif90')
        source = os.path.join(HERE, 'mpi_instructions.c')
        if self.compile(fortran, '-O2', '-c', os.path.join(HERE, 'mpi_instructions_f.f90')) and self.compile(
            compiler, '-O2', '-DFORTRAN', '-c', source
        ):
            self.compile(fortran, '-o', 'of_mpi', 'mpi_instructions.o', 'mpi_instructions_f.o')
        elif not self.compile(compiler, '-O2', '-o', 'of_mpi', source):
            raise Missing('%s does not compile' % compiler)

    def compile_libc(self):
        flags = ['-O2', '-fno-builtin', '-finstrument-functions', '-finstrument-functions-exclude-file-list=counted.h']
        if not self.compile('gcc', *flags, '-o', 'of_libc', os.path.join(HERE, 'libc_instructions.c')):
            raise Missing('gcc does not compile')

    def count(self, program, options, mpi):
        """Instructions of each case; options None: without fvmpi."""
        self.runs += 1
        dumps = os.path.join(self.work, 'dump-%d' % self.runs)
        command = ['valgrind', '-q', '--tool=callgrind', '--instr-atstart=no', '--collect-atstart=no']
        command += ['--callgrind-out-file=' + dumps, './' + program]
        if options is not None:
            command = [self.fvmpi, 'run', '-q', '-o', 'exp-%d' % self.runs, '--mpi', mpi, *options, '--', *command]
        run = subprocess.run(command, cwd=self.work, capture_output=True, text=True, timeout=LIMIT)
        if run.returncode:
            raise Missing('%s: %s' % (' '.join(command), run.stderr or run.stdout))
        return least_of_each(dumps + '*')

    def added(self, program, options, mpi, plain):
        """What fvmpi adds, by case."""
        counted = self.count(program, options, mpi)
        return {case: counted[case] - plain[case] for case in plain if case in counted}


def show(title, head, rows):
    print('\n%s\n%-28s' % (title, '') + ''.join('%12s' % h for h in head))
    for name, cells in rows:
        print('%-28s' % name + ''.join('%12s' % ('-' if c is None else c) for c in cells))


def main(build):
    counter = Counter(build)
    try:
        counter.compile_mpi()
        plain = counter.count('of_mpi', None, 'mpich')
        modes = {m: counter.added('of_mpi', options, 'mpich', plain) for m, options in MODES.items()}
        rows = [(case, [plain[case]] + [modes[m].get(case) for m in MODES]) for case in plain]
        show('instructions of MPICH, and what fvmpi adds', ['plain', *MODES], rows)
        counter.compile_libc()
        plain = counter.count('of_libc', None, 'serial')
        rows = []
        for mode, (options, cases) in LIBC.items():
            added = counter.added('of_libc', options, 'serial', plain)
            rows += [('%s, %s' % (mode, case), [plain[case], added.get(case)]) for case in cases]
        show('instructions without MPI, and what fvmpi adds', ['plain', 'added'], [(n[:60], c) for n, c in rows])
    except Missing as why:
        print('instructions: not counted: %s' % why)
    finally:
        counter.close()


if __name__ == '__main__':
    main(sys.argv[1])
