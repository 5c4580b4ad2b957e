#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it fills fields of statuses that Open MPI leaves unset, otherwise in each run.
"""Every function of mpi-api.tbl, called by a program in each binding of each MPI (every/): what it prints is the
same byte for byte with fvmpi and without, recorded, traced and paused, and fvmpi counts every call. At the end, a
table of functions seen / functions called.

Of functions that are not called the reason is printed. What an MPI lacks is found in mpi-have.h for C, and
for Fortran by asking the compiler and the linker.
"""
import concurrent.futures
import contextlib
import itertools
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import Mismatch, check, equal

EVERY = os.path.join(harness.PROGRAMS, 'every')
BINDINGS = ('c', 'mpif', 'usempi', 'f08')
TITLES = {'c': 'C', 'mpif': 'mpif.h', 'usempi': 'use mpi', 'f08': 'mpi_f08'}
LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics
# Without LONG: mpif.h and use mpi share their wrappers, and each binding has the same ones for each MPI
FEW = {'mpich': ('c', 'f08'), 'openmpi': ('c', 'mpif')}
ROLES = ('', 'thread', 'connect', 'spawn')  # arguments; each is a run. Other roles are of spawned processes
UNSURE, ATTEMPTS = ('connect', 'spawn'), 4  # Open MPI 4.1 hangs in one of ten, without fvmpi; then again
FORTRAN = ['-w', '-O0', '-g', '-ffree-line-length-none', '-fallow-argument-mismatch', '-fmax-errors=0']
UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) [`']?(\w+?)_*\b")
STATUS = re.compile(r'array_of_statuses=\[[^]]*\]')
NOT_FOUND = re.compile(r"Symbol '(\w+)' referenced at .* not found in module")


def generator(*arguments):
    return harness.run([sys.executable, os.path.join(EVERY, 'gen_calls.py')] + list(arguments))


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def write(path, text):
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)


# ---- what an MPI has


def functions_of_c(mpi):
    header = read(os.path.join(harness.BUILD, 'mpi-wrappers', mpi.name, 'mpi-have.h'))
    return set(re.findall(r'#define HAVE_(\w+) 1', header))


def linked(mpi, folder, names):
    """Those of `names`, of Fortran procedures, that the MPI's libraries have."""
    source = os.path.join(folder, 'probe.f90')
    write(source, ''.join(['program probe\n'] + ['call %s()\n' % n for n in names] + ['end program\n']))
    said = harness.run(['mpifort.' + mpi.name] + FORTRAN + [source, '-o', source + '.x'])
    missing = {m.lower() for m in UNDEFINED.findall(said.err)}
    if said.rc and not missing:
        raise Mismatch('the probe of Fortran functions: ' + said.err[-2000:])
    return {n for n in names if n.lower() not in missing}


def in_module(mpi, folder, names):
    source = os.path.join(folder, 'module.f90')
    write(
        source,
        ''.join(
            ['program probe\n']
            + ['use mpi_f08, only: x%d => %s\n' % (i, n) for i, n in enumerate(names)]
            + ['end program\n']
        ),
    )
    said = harness.run(['mpifort.' + mpi.name] + FORTRAN + ['-c', source, '-o', source + '.o'])
    missing = set(NOT_FOUND.findall(said.err))
    if said.rc and not missing:
        raise harness.Skip('no module mpi_f08')
    return {n for n in names if n.lower() not in missing}


def functions_of(mpi, binding, folder):
    """With the names of the table; MPI_X_c in mpi_f08: the specific procedure of large counts."""
    if binding == 'c':
        return functions_of_c(mpi)
    names = generator('--names', binding).ended(0).out.split()
    small = [n for n in names if not n.endswith('_c')]
    if binding != 'f08':
        return linked(mpi, folder, small)
    large = {n + how: n + '_c' for n in small for how in ('_f08_large', '_f08ts_large')}
    return in_module(mpi, folder, small) | {large[n] for n in linked(mpi, folder, sorted(large))}


# ---- building


class Program:
    def __init__(self, mpi, binding):
        self.mpi, self.binding = mpi, binding
        self.folder = os.path.join(harness.BUILD, 'tests', 'programs', mpi.name, 'every', binding)
        self.path = os.path.join(self.folder, 'every')
        os.makedirs(self.folder, exist_ok=True)

    def build(self):
        if self.binding != 'c' and not shutil.which('mpifort.' + self.mpi.name):
            raise harness.Skip('no mpifort.' + self.mpi.name)
        have = os.path.join(self.folder, 'have')
        write(have, '\n'.join(sorted(functions_of(self.mpi, self.binding, self.folder))) + '\n')
        source = self.path + ('.c' if self.binding == 'c' else '.f90')
        made = generator(self.binding, have, source + '.new')
        check(made.rc == 0, '{}', made.err)
        self.skips = [l for l in made.out.splitlines() if l.startswith('skip ')]
        self.counts = dict(l.split() for l in made.out.splitlines() if not l.startswith('skip '))
        helper = os.path.join(EVERY, 'every_help.c')
        if (
            os.path.exists(self.path)
            and os.path.exists(source)
            and read(source) == read(source + '.new')
            and os.path.getmtime(self.path) > os.path.getmtime(helper)
        ):
            return
        os.rename(source + '.new', source)
        harness.run([self.mpi.cc, '-O1', '-g', '-c', helper, '-o', self.path + '_help.o']).ended(0)
        compiler = [self.mpi.cc, '-O0', '-g', '-w'] if self.binding == 'c' else ['mpifort.' + self.mpi.name] + FORTRAN
        harness.run(compiler + [source, self.path + '_help.o', '-o', self.path], cwd=self.folder).ended(0)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path + '_child')
        os.link(self.path, self.path + '_child')

    def run(self, options=None):
        """Of all roles: Result. options: None for a run without fvmpi."""
        where = harness.scratch('every')
        with concurrent.futures.ThreadPoolExecutor(2) as pool:  # a launcher takes its time to begin and to end
            return Result(where, list(pool.map(lambda role: self.run_role(role, options, where), ROLES)))

    def run_role(self, role, options, where):
        words = [role] if role else []
        for _ in range(ATTEMPTS if role in UNSURE else 1):
            limit = {'limit': 10} if role in UNSURE else {}
            if options is None:
                run = self.mpi.native(self.path, 2, words, cwd=where, **limit)
            else:
                run = self.mpi.profile(self.path, 2, words, options=options, cwd=where, **limit)
            if not run.late:
                break
            print('# {}: {} hangs{}'.format(self.mpi, role, '' if options is None else ', with fvmpi'))
        return run


def defined(text):
    """Without what Open MPI leaves as its memory was: source, tag and the mark of cancellation of a file
    operation; of the three requests of MPI_Waitsome and MPI_Testsome, statuses behind those that completed."""
    lines, in_file = [], False
    for line in text.splitlines():
        in_file = line.startswith('== file_') if line.startswith('==') else in_file
        line = re.sub(r'status=\[\S+ \S+ (\S+) \S+ ', r'status=[- - \1 - ', line) if in_file else line
        some = re.match(r'MPI_(?:Wait|Test)some .*outcount=(-?\d+)', line)
        number = itertools.count()
        lines.append(
            STATUS.sub(lambda of: '-' if max(int(some.group(1)), 0) <= next(number) < 3 else of.group(), line)
            if some
            else line
        )
    return '\n'.join(lines)


class Result:
    def __init__(self, where, runs):
        self.runs = runs
        files = [role + 'rank%d' % r for role in ROLES for r in (0, 1)]
        self.said = {f[:-4]: defined(read(os.path.join(where, f))) for f in os.listdir(where) if f.endswith('.out')}
        self.made = [{}, {}]
        for f in files:
            path = os.path.join(where, f + '.calls')
            for line in read(path).splitlines() if os.path.exists(path) else []:
                name, count = line.split()
                made = self.made[int(f[-1])]
                made[name] = made.get(name, 0) + int(count)

    def legal(self):
        """Only calls with a `!` may fail."""
        for run in self.runs:
            run.ended(0)
        equal(
            'processes without output',
            [f for f in (role + 'rank%d' % r for role in ROLES for r in (0, 1)) if f not in self.said],
            [],
        )
        for name, text in self.said.items():
            wrong = [l for l in text.splitlines() if re.match(r'MPI_\w+ -?[1-9]', l)]
            check(not wrong, '{}: calls that should not fail: {}', name, '\n'.join(wrong[:10]))

    def same_as(self, native):
        equal('exit codes', [r.rc for r in self.runs], [r.rc for r in native.runs])
        equal('files of output', sorted(self.said), sorted(native.said))
        for name, text in native.said.items():
            if self.said[name] != text:
                a, b = text.splitlines(), self.said[name].splitlines()
                block = ''
                for x, y in zip(a, b):
                    block = x if x.startswith('==') else block
                    equal('{}, {}'.format(name, block), y, x)
                equal(name + ': lines', len(b), len(a))
            equal(name, self.said[name], text)
        for mine, other in zip(self.runs, native.runs):
            equal('standard output', mine.out, other.out)

    def seen(self):
        counts = [{}, {}]
        for run in self.runs:
            report = run.report()
            report.shape(2)
            for site in report.sites:
                for rank in (0, 1):
                    if site.on(rank, 'count'):
                        counts[rank][site.function] = counts[rank].get(site.function, 0) + site.on(rank, 'count')
        return counts


def compare(made, seen):
    """Functions called, those seen as often on each rank, lines that say where it is not so."""
    called, good, wrong = set(), set(), []
    names = sorted({n for table in made + seen for n in table})
    for name in names:
        counts = [(made[r].get(name, 0), seen[r].get(name, 0)) for r in (0, 1)]
        if any(m for m, _ in counts):
            called.add(name)
            if all(m == s for m, s in counts):
                good.add(name)
        if any(m != s for m, s in counts):
            wrong.append(
                '{}: calls / seen {} on rank 0, {} on rank 1'.format(name, *('{} / {}'.format(*c) for c in counts))
            )
    return called, good, wrong


def test(tap, mpi, binding, table):
    name = '{}, {}: '.format(mpi, TITLES[binding])
    program = Program(mpi, binding)
    built = []
    with tap.test(name + 'every function of the table has a call or a reason'):
        program.build()
        built.append(program)
    if not built:
        return
    native = []
    with tap.test(name + 'the program itself'):
        result = program.run()
        result.legal()
        native.append(result)
    if not native:
        return
    profiled = []
    # Fortran's wrappers call the same recorder, and the recorder is the same for each MPI: a traced run, which records as well, does for them
    whole = (binding == 'c' and mpi.name == 'mpich') or LONG
    with tap.test(name + 'same output recorded' + ('' if whole else ' and traced')):
        profiled.append(program.run([] if whole else ['--trace']))
        profiled[0].same_as(native[0])
    for words, options in (('paused', ['--off-at-start']), ('traced', ['--trace'])) if whole else ():
        with tap.test(name + 'same output ' + words):
            program.run(options).same_as(native[0])
    with tap.test(name + 'functions seen are functions called, as often'):
        check(profiled, 'the recorded run failed')
        profiled[0].legal()
        called, good, wrong = compare(profiled[0].made, profiled[0].seen())
        table[binding, mpi.name] = '{}/{}'.format(len(good), len(called))
        never = sorted(n for n in profiled[0].made[0] if n not in called)
        print(
            '# {}{} functions called, {} of the table are not there, {} skipped; not called here: {}'.format(
                name, len(called), program.counts['missing'], len(program.skips), ' '.join(never) or 'none'
            )
        )
        for line in program.skips:
            print('#   ' + line)
        check(not wrong, '{} of {} functions seen as often as called\n{}', len(good), len(called), '\n'.join(wrong))


def main():
    tap, table, mpis = harness.Tap(), {}, []
    harness.patiently()
    for mpi in harness.mpis(tap):
        mpis.append(mpi.name)
        for binding in BINDINGS if LONG else FEW[mpi.name]:
            test(tap, mpi, binding, table)
    print('# functions seen / called')
    print('# {:8}'.format('') + ''.join('{:>12}'.format(m) for m in mpis))
    for binding in BINDINGS:
        print('# {:8}'.format(TITLES[binding]) + ''.join('{:>12}'.format(table.get((binding, m), '-')) for m in mpis))
    tap.done()


main()
