#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Call sites in Python: the program says itself, by its own frames, which function, file and line each call stands in.

Interpreters are /usr/bin/python3, those of the PATH that are called python3.8 to python3.13, and those that
FVMPI_TEST_PYTHONS lists, with colons between. MPI is called by ctypes; by mpi4py where there is one for the MPI.
"""
import collections
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal

RANKS = 2
KNOWN = ['3.{}'.format(n) for n in range(8, 14)]
PROGRAM = os.path.join(harness.PROGRAMS, 'python_paths.py')
INTERPRETER = re.compile(r'libpython|/lib-dynload/|libffi|mpi4py/MPI\.')


def interpreters():
    """By version."""
    found = {}
    names = ['/usr/bin/python3'] + os.environ.get('FVMPI_TEST_PYTHONS', '').split(':') + ['python' + v for v in KNOWN]
    for path in filter(None, map(shutil.which, filter(None, names))):
        probe = harness.run(
            [
                path,
                '-c',
                'import ctypes, platform, struct, sys; print(platform.python_implementation(), '
                'struct.calcsize("P"), "%d.%d" % sys.version_info[:2])',
            ],
            cwd='/',
        )
        said = probe.out.split()
        if not probe.rc and said[:2] == ['CPython', '8'] and said[2] in KNOWN:
            found.setdefault(said[2], path)
    return found


def has_mpi4py(mpi, python):
    probe = harness.run([python, '-c', 'import mpi4py.MPI; print(mpi4py.MPI.__file__)'], cwd='/')
    return not probe.rc and ('libmpich' in harness.run(['ldd', probe.out.strip()]).out) == (mpi.name == 'mpich')


def in_python(path):
    return [[f['function'], os.path.basename(f['file']), f['line']] for f in path if (f['file'] or '').endswith('.py')]


def same_sites(sites, wanted):
    """Each call site that the program tells of, once, with its calls on each rank."""
    found = collections.Counter(json.dumps(in_python(site.path)) for site in sites)
    calls = {json.dumps(path): count for count, path in wanted}
    equal('call sites that are not there', sorted(set(calls) - set(found))[:3], [])
    equal('call sites that should not be there', sorted(set(found) - set(calls))[:3], [])
    equal('call sites that are there twice', [path for path in found if found[path] > 1][:3], [])
    for site in sites:
        site.expect(count=calls[json.dumps(in_python(site.path))])


def no_interpreter(report):
    for site in report.callsites('MPI_Barrier'):
        for frame in site.path:
            check(not INTERPRETER.search(frame['module'] or ''), 'a frame of the interpreter in {}: {}', site, frame)


def c_where_it_stands(report, by_mpi4py):
    """The program's own functions in C: inside of the innermost Python, and between Python."""
    called = [site.names for site in report.callsites('MPI_Barrier') if 'through' in site.names]
    equal('call sites below through()', len(called), 1)
    names = [name.rsplit('.', 1)[-1] for name in called[0]]
    equal(
        'the path',
        names[: 3 if by_mpi4py else 4],
        ([] if by_mpi4py else ['barrier']) + ['called', 'through', 'callbacks'],
    )


class Case:
    def __init__(self, mpi, python, by_mpi4py=False):
        self.mpi, self.by_mpi4py = mpi, by_mpi4py
        library = mpi.build('python_library.c', '-shared', '-fPIC', output='python_library.so')
        self.command = [python, PROGRAM, library] + ['mpi4py'] * by_mpi4py

    def native(self):
        return harness.run(self.mpi.command(RANKS, self.command), cwd='/').ended(0)

    def profile(self, *options, **more):
        directory = os.path.join(harness.scratch('exp'), 'e')
        command = self.mpi.profiled(self.command, directory, ['--mpi', self.mpi.name] + list(options))
        return harness.run(self.mpi.command(RANKS, command), directory=directory, cwd='/', **more).ended(0)


def known_answer(tap, case, label):
    with tap.test(label):
        run = case.profile()
        equal('output', run.out, case.native().out)
        report = run.report()
        report.shape(RANKS, threaded=True)
        same_sites(report.callsites('MPI_Barrier'), json.loads(run.out))
        no_interpreter(report)
        c_where_it_stands(report, case.by_mpi4py)


def samples_in(report, rank, name):
    """Of a rank, with the function for their innermost one."""
    found = [p for p in report.data['costs']['procedures'] if p['procedure'] == name]
    equal('procedures called ' + name, len(found), 1)
    return sum(row['exclusive_ticks'] for row in found[0]['per_thread'] if row['rank'] == rank)


def samples(tap, mpi, python, label, options, under=()):
    """Where a Python program computes: its own functions and lines, as much as they measured themselves."""
    library = mpi.build('python_library.c', '-shared', '-fPIC', output='python_library.so')
    program = os.path.join(harness.PROGRAMS, 'python_compute.py')
    with open(program) as text:
        lines = {re.search('LINE (.*)', line).group(1): n for n, line in enumerate(text, 1) if '# LINE' in line}
    for option in options:
        with tap.test('{}: samples{}'.format(label, ''.join(' ' + o for o in option))):
            directory = os.path.join(harness.scratch('exp'), 'e')
            command = mpi.profiled([python, program, library, '0.5'], directory, ['--mpi', mpi.name] + option)
            run = harness.run(mpi.command(RANKS, list(under) + command), directory=directory, cwd='/').ended(0)
            report = run.report()
            for said in map(json.loads, run.out.splitlines()):
                found = samples_in(report, said['rank'], 'heavy')
                both = found + samples_in(report, said['rank'], 'light')
                check(both > 20, 'rank {}: {} samples', said['rank'], both)
                part = said['heavy'] / (said['heavy'] + said['light'])
                away = 5 * (part * (1 - part) / both) ** 0.5 + 0.02
                check(
                    abs(found / both - part) < away,
                    'rank {}: {} of {} samples, {:.3f} of the time',
                    said['rank'],
                    found,
                    both,
                    part,
                )
            procedures = {p['procedure']: p for p in report.data['costs']['procedures']}
            equal('heavy is in', os.path.basename(procedures['heavy']['file']), 'python_compute.py')
            equal(
                'they are the program\'s',
                [procedures[name]['library'] for name in ('heavy', 'light', 'compute')],
                [False] * 3,
            )
            named = {f['function'] for f in report.data['findings'] if f['name'] == 'load_imbalance'}
            check(named <= {'heavy', 'timed', 'compute'}, 'computing longer is said of {}', named)
            interpreter = sum(
                p['exclusive']['ticks'] for p in procedures.values() if p['procedure'].startswith('_PyEval')
            )
            check(
                interpreter <= report.data['costs']['all']['ticks'] / 20,
                '{} samples are in the interpreter',
                interpreter,
            )
            on = [l for l in report.data['costs']['lines'] if l['procedure_id'] == procedures['heavy']['id']]
            top = max(on, key=lambda l: l['exclusive']['ticks'])
            check(
                abs(top['line'] - lines['heavy']) <= 1,
                'most of heavy() is on line {}, not {}',
                top['line'],
                lines['heavy'],
            )


def shorter(paths, depth):
    """What the innermost frames tell apart."""
    calls = collections.Counter()
    for count, path in paths:
        calls[json.dumps(path[:depth])] += count
    return [[count, json.loads(path)] for path, count in calls.items()]


def options(tap, case, label, more=True):
    by_c = 0 if case.by_mpi4py else 1
    for depth in (1, 3):
        if depth == 1 and by_c:
            continue
        with tap.test('{}: --depth {}'.format(label, depth)):
            run = case.profile('--depth', str(depth))
            wanted = [(n, p) for n, p in shorter(json.loads(run.out), depth - by_c) if 'called' not in str(p)]
            found = [site for site in run.report().callsites('MPI_Barrier') if 'called' not in str(site)]
            same_sites(found, wanted)
    for option in ('--sample', '--threads') if more else ():
        with tap.test('{}: {}'.format(label, option)):
            run = case.profile(option)
            same_sites(run.report().callsites('MPI_Barrier'), json.loads(run.out))


def told(run, version):
    """One line of the run, and a note of the report."""
    text = 'Python {}: fvmpi cannot read frames of this version'.format(version)
    equal('lines on stderr', run.err.count(text), 1)
    notes = [p['text'] for p in run.report().data['problems'] if text in p['text']]
    check(len(notes) == 1 and '{} ranks'.format(RANKS) in notes[0], 'no note: {}', run.report().data['problems'])


def other_versions(tap, mpi, python, version):
    """What the interpreter's memory holds is not what the version says: it is seen before anything is made of it."""
    # 3.8 to 3.10 differ in the tables of lines and one offset, which no type tells
    alike = KNOWN[:3] if version in KNOWN[:3] else [version]
    for other in [v for v in KNOWN if v not in alike]:
        with tap.test('{}: Python {}, which says that it is {}'.format(mpi, version, other)):
            library = mpi.build('python_version.c', '-shared', '-fPIC', output='python_version.so')
            run = Case(mpi, python).profile(
                env={'LD_PRELOAD': harness.in_front(library), 'VERSION_OF_PYTHON': other + '.1 (main)'}
            )
            told(run, other + '.1')
            sites = run.report().callsites('MPI_Barrier')
            equal('frames of Python', [site for site in sites if in_python(site.path)], [])
            equal('calls', sum(site.on(0, 'count') for site in sites), sum(count for count, _ in json.loads(run.out)))


def unknown_version(tap, mpi):
    with tap.test('{}: Python of a version to come'.format(mpi)):
        program = mpi.build(
            'p2p.c', os.path.join(harness.PROGRAMS, 'python_version.c'), '-rdynamic', output='p2p_python'
        )
        run = mpi.profile(program, RANKS, env={'VERSION_OF_PYTHON': '3.99.0+ (main)'}).ended(0)
        told(run, '3.99.0+')


CRASH = """import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
library.start()
library.barrier()
def inner():
    os.abort()
def outer():
    inner()
outer()
"""


def crash(tap, mpi, python):
    with tap.test('{}: where a signal comes'.format(mpi)):
        library = mpi.build('python_library.c', '-shared', '-fPIC', output='python_library.so')
        directory = os.path.join(harness.scratch('exp'), 'e')
        command = mpi.profiled([python, '-c', CRASH, library], directory, ['--mpi', mpi.name])
        path = harness.run(mpi.command(1, command), directory=directory).report().rank(0)['signal']['path']
        equal(
            'the path',
            [(f['function'], f['line']) for f in path if f['file'] == '<string>'],
            [('inner', 6), ('outer', 8), ('<module>', 9)],
        )


def embedded(tap, mpi, python):
    with tap.test('{}: an interpreter in a program in C'.format(mpi)):
        config = os.path.realpath(python) + '-config'
        flags = harness.run([config, '--embed', '--ldflags']) if os.path.exists(config) else None
        if not flags or flags.rc:
            raise Skip('no ' + config)
        report = mpi.profile(mpi.build('python_embedded.c', '-rdynamic', *flags.out.split()), RANKS).report()
        found = sorted(
            (site.names, [f['line'] for f in site.path if f['file'] == '<string>'], site.each('count'))
            for site in report.callsites('MPI_Barrier')
        )
        inside = ['barrier', 'step', '<module>', 'within', 'main']
        equal(
            'call sites',
            found,
            [(inside, [4, 5], [3] * RANKS), (inside, [4, 6], [1] * RANKS)]
            + [(['barrier', 'without', 'main'], [], [1] * RANKS)] * 4,
        )


def main():
    tap = harness.Tap()
    harness.patiently()
    every = interpreters()
    for mpi in harness.an_mpi(tap):
        unknown_version(tap, mpi)
        if not every:
            with tap.test(str(mpi)):
                raise Skip('no CPython from {} to {}'.format(KNOWN[0], KNOWN[-1]))
        for version, python in sorted(every.items()):
            known_answer(tap, Case(mpi, python), '{}: Python {}, ctypes'.format(mpi, version))
            samples(tap, mpi, python, '{}: Python {}'.format(mpi, version), [[], ['--sample']])
            if has_mpi4py(mpi, python):
                case = Case(mpi, python, True)
                known_answer(tap, case, '{}: Python {}, mpi4py'.format(mpi, version))
                options(tap, case, '{}: Python {}, mpi4py'.format(mpi, version))
        for version, python in sorted(every.items())[:1]:
            refused = '{}: Python {}, where the kernel reads no memory'.format(mpi, version)
            if harness.run([mpi.build('refuse_reads.c'), 'true']).rc:
                with tap.test(refused):
                    raise Skip('no filters of system calls')
            else:
                samples(tap, mpi, python, refused, [[]], [mpi.build('refuse_reads.c')])
            # these two are recorded alike, however MPI is called
            more = not has_mpi4py(mpi, python) or harness.all_cases()
            options(tap, Case(mpi, python), '{}: Python {}'.format(mpi, version), more)
            crash(tap, mpi, python)
            embedded(tap, mpi, python)
        shared = [
            (v, p) for v, p in sorted(every.items()) if 'libpython' in harness.run(['ldd', os.path.realpath(p)]).out
        ]
        if not shared:
            with tap.test('{}: versions that are wrong'.format(mpi)):
                raise Skip('no interpreter in a shared library, in front of which a function can be put')
        for version, python in shared[:1]:
            other_versions(tap, mpi, python, version)
    tap.done()


main()
