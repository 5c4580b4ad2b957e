#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Regions that programs mark for Kokkos' tools, NVTX, ITT, Caliper and LIKWID become sections: their counts and times,
alone and under both MPIs, as the program's own clock has them; what it prints is what it prints alone. Another tool
that a user names is left alone, and told."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal

STEPS, KERNELS = 20, 5
KINDS = {'kokkos': 'KOKKOS_TOOLS_LIBS', 'nvtx': 'NVTX_INJECTION64_PATH', 'itt': 'INTEL_LIBITTNOTIFY64'}


def sections(directory):
    return {s['section']: s for s in harness.profile_of(directory)['sections'] if not s['whole']}


def rows(table):
    return [dict(zip(table['columns'], row)) for row in table['rows']] if isinstance(table, dict) else table


def truth(out):
    """{section: (seconds between its marks, seconds around them)}"""
    ((a, b, c, d),) = re.findall(r'^truth step (\S+) to (\S+) axpy (\S+) to (\S+)$', out, re.M)
    return {'step': (float(a), float(b)), 'axpy': (float(c), float(d))}


def counted(kind, run, ranks):
    found, own = sections(run.directory), truth(run.out)
    wanted = {'step': ranks * STEPS, 'axpy': ranks * STEPS * KERNELS}
    if kind == 'nvtx':
        wanted['around'] = wanted['axpy']
    if kind == 'itt':
        wanted['app'] = wanted['step']
    equal('sections', {name: s['count'] for name, s in found.items()}, wanted)
    for name, (least, most) in own.items():
        elapsed = next(of['elapsed_s'] for of in rows(found[name]['per_rank']) if of['rank'] == 0)
        check(0.999 * least <= elapsed <= 1.001 * most, '{}: {} s, not {} to {}', name, elapsed, least, most)
    check(found['axpy']['elapsed']['mean_s'] <= found['step']['elapsed']['mean_s'], '{}', found)
    equal('CPU time, which is not read', found['axpy']['user_time']['sum_s'], None)
    return found


LIBRARIES = {
    'phase': 10,
    'function': 10,
    'scope': 20,
    'region': 20,
    'exchange': 10,
    'loop': 10,
    'left loop': 10,
    'c loop': 10,
    'first': 10,
    'second': 10,
}


def libraries(tap):
    """Caliper and LIKWID are libraries that do something: they go on to do it, and the regions are sections as well; in
    a program that has them in itself they are their own."""
    place = harness.scratch('bin')
    at = lambda name: os.path.join(place, name)
    build = lambda name, *arguments: harness.run(['c++', '-O2', '-fPIC', '-o', at(name), *arguments, '-ldl']).ended(0)
    source, standin = os.path.join(HERE, 'libraries.cpp'), os.path.join(HERE, 'libraries_standin.cpp')
    build('libstandin.so', '-shared', standin)
    build('linked', source, '-L' + place, '-lstandin', '-Wl,-rpath,' + place)
    build('plugin.so', '-shared', source, '-L' + place, '-lstandin', '-Wl,-rpath,' + place)
    build('loader', '-DLOADER', source)
    harness.run(['c++', '-O2', '-c', '-o', at('standin.o'), standin]).ended(0)
    harness.run(['ar', 'rc', at('libown.a'), at('standin.o')]).ended(0)
    ours = os.path.join(os.path.dirname(harness.FVMPI), '.libs')
    build(
        'own', source, '-Wl,--no-as-needed', '-L' + ours, '-lfvmpi-serial', '-Wl,-rpath,' + ours, '-L' + place, '-lown'
    )  # as who relinks with fvmpi
    for name, program, options, wanted in (
        ('of shared libraries', [at('linked')], [], LIBRARIES),
        ('of a library that is loaded privately', [at('loader'), at('plugin.so')], [], LIBRARIES),
        ('switched off', [at('linked')], ['--annotations=off'], {}),
        ('that the program has in itself', [at('own')], [], {}),
    ):
        with tap.test('Caliper and LIKWID: regions {}'.format(name)):
            if harness.SANITIZER and program == [at('own')]:
                raise harness.Skip('AddressSanitizer must come first')
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial'] + options + program
            ).ended(0)
            equal('sections', {name: s['count'] for name, s in sections(directory).items()}, wanted)
            equal('output', run.out, harness.run(program, env={'FVMPI_DISABLE': '1'}).ended(0).out)
            check('the libraries begun 140 ended 150' in run.out, '{}', run.out)


def old_kokkos(tap, source):
    """Kokkos before 3.7 asks another variable, which is set for it alone, wherever it is linked into: newer ones say
    that it is old."""
    place = harness.scratch('bin')
    at = lambda name: os.path.join(place, name)
    build = lambda name, *arguments: harness.run(['cc', '-O2', '-s', '-o', at(name), *arguments, '-ldl']).ended(0)
    with open(at('main.c'), 'w') as f:
        f.write('int marks_main(int, char **);\nint main(int argc, char **argv) { return marks_main(argc, argv); }\n')
    with open(at('shows.c'), 'w') as f:  # what is said to a program that has a newer one, which knows both
        f.write(
            '#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) { const char *old = getenv("KOKKOS_PROFILE_LIBRARY"), *new = getenv("KOKKOS_TOOLS_LIBS");\n'
            'printf("old %d new %d\\n", !!old, new && dlsym(dlopen(new, RTLD_NOW), "kokkosp_init_library")); }\n'
        )
    with open(at('asks.c'), 'w') as f:  # has none
        f.write(
            '#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { printf("old %d\\n", !!getenv(argv[1])); }\n'
        )
    with open(at('cxx.cpp'), 'w') as f:
        f.write('void gone(int *p) { delete p; }\n')
    build('program', '-DOLD_KOKKOS', source)
    build('program-in-one-segment', '-DOLD_KOKKOS', '-Wl,-z,noseparate-code', source)
    build('program-that-does-not-move', '-DOLD_KOKKOS', '-no-pie', source)
    for library in ('libkokkoscore.so', 'libsolver.so'):
        harness.run(
            ['cc', '-O2', '-fPIC', '-DOLD_KOKKOS', '-Dmain=marks_main', '-c', '-o', at('marks.o'), source]
        ).ended(0)
        harness.run(['c++', '-s', '-fPIC', '-shared', '-o', at(library), at('marks.o'), at('cxx.cpp'), '-ldl']).ended(0)
        build('with-' + library, at('main.c'), at(library), '-Wl,-rpath,' + place)
    for program in (
        'program',
        'program-in-one-segment',
        'program-that-does-not-move',
        'with-libkokkoscore.so',
        'with-libsolver.so',
    ):
        with tap.test('Kokkos before 3.7: {}'.format(program)):
            directory = os.path.join(harness.scratch('exp'), 'e')
            counted(
                'kokkos',
                harness.run(
                    [harness.FVMPI, 'run', '-o', directory, '--mpi', 'serial', at(program), 'kokkos'],
                    directory=directory,
                ).ended(0),
                1,
            )
    with tap.test('Kokkos before 3.7: another tool'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [harness.FVMPI, 'run', '-o', directory, '--mpi', 'serial', at('program'), 'kokkos'],
            env={'KOKKOS_PROFILE_LIBRARY': '/nowhere/old-tool.so'},
        ).ended(0)
        check(
            'KOKKOS_PROFILE_LIBRARY selects another tool (/nowhere/old-tool.so); it, not fvmpi, will ' in run.err,
            '{}',
            run.err,
        )
        equal('sections', sections(directory), {})
    build('shows', at('shows.c'))
    build('asks', at('asks.c'))
    for program, wanted in (([at('shows')], 'old 0 new 1'), ([at('asks'), 'KOKKOS_PROFILE_LIBRARY'], 'old 0')):
        with tap.test('not before 3.7: {}'.format(os.path.basename(program[0]))):
            run = harness.run(
                [harness.FVMPI, 'run', '-q', '-o', os.path.join(harness.scratch('exp'), 'e'), '--mpi', 'serial']
                + program
            ).ended(0)
            equal('variables', run.out.strip(), wanted)


def without_times(text):
    return re.sub(r'\d+\.\d+', 'S', text)


def main():
    tap = harness.Tap()
    harness.patiently()
    program = os.path.join(harness.scratch('bin'), 'marks')
    source = os.path.join(HERE, 'marks.c')
    harness.run(['cc', '-O2', source, '-o', program, '-ldl']).ended(0)
    for kind, variable in KINDS.items():
        directory = os.path.join(harness.scratch('exp'), 'e')
        command = [harness.FVMPI, 'run', '-o', directory, '--mpi', 'serial']
        with tap.test('{}: alone'.format(kind)):
            run = harness.run(command + [program, kind], directory=directory).ended(0)
            counted(kind, run, 1)
            equal('output', without_times(run.out), without_times(harness.run([program, kind]).ended(0).out))
        with tap.test('{}: switched off'.format(kind)):
            off = os.path.join(harness.scratch('exp'), 'e')
            harness.run(
                [harness.FVMPI, 'run', '-q', '-o', off, '--annotations=off', '--mpi', 'serial', program, kind]
            ).ended(0)
            equal('sections', sections(off), {})
        with tap.test('{}: another tool'.format(kind)):
            other = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-o', other, '--mpi', 'serial', program, kind],
                env={variable: '/nowhere/other-tool.so'},
            ).ended(0)
            equal('sections', sections(other), {})
            check(
                '{} selects another tool (/nowhere/other-tool.so); it, not fvmpi, will '.format(variable) in run.err,
                '{}',
                run.err,
            )
        with tap.test('{}: a path of ours, of another process'.format(kind)):
            again = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-o', again, '--mpi', 'serial', program, kind],
                directory=again,
                env={variable: '/nowhere/libfvmpi-openmpi.so'},
            ).ended(0)
            counted(kind, run, 1)
            check('another tool' not in run.err, '{}', run.err)
    old_kokkos(tap, source)
    libraries(tap)
    for mpi in harness.an_mpi(tap):
        program = mpi.build(source, '-DWITH_MPI', '-ldl', output='marks')
        for kind in KINDS:
            with tap.test('{}: {}'.format(mpi, kind)):
                run = mpi.profile(program, 2, [kind]).ended(0)
                found = counted(kind, run, 2)
                equal(
                    'MPI calls',
                    {name: found[name]['mpi_calls']['sum'] for name in ('step', 'axpy')},
                    {'step': 2 * STEPS, 'axpy': 0},
                )
    tap.done()


main()
