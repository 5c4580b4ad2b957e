#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Worksharing of OpenMP: loops, sections, singles and masked, by place, with known counts and times that lie between
what the program computed there and what passed there; of libgomp and of LLVM's runtime (OMPT); in the archive, too,
with sections, instrumented functions and samples around them."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
import otf2_print
from report import check, equal

THREADS = 2
UNTOLD = {'gcc': ('static for', 'masked'), 'clang': ()}  # libgomp is not asked
UNTIMED = {'gcc': ('single',), 'clang': ()}
OWN = 'single'  # that makes the tasks


def constructs(text):
    """What the program says of itself, by line: name, times, inner, outer."""
    found = {}
    for line in text.splitlines():
        if ', ' in line and line[0].isdigit():
            (number, name), (times, inner, outer) = line.split(', ')[0].split(' ', 1), line.split(', ')[1].split()
            found[int(number)] = name, int(times), float(inner), float(outer)
    return found


def recorded(program, *options):
    """By the clock that the program measures with."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    return harness.run(
        [
            harness.FVMPI,
            'run',
            '-q',
            '--threads',
            '--clock=monotonic',
            '--sample=off',
            *options,
            '-o',
            directory,
            '--mpi',
            'serial',
            program,
        ],
        directory=directory,
    ).ended(0)


def profile(tap, compiler, program):
    with tap.test('{}: counts, and times between what the program measured'.format(compiler)):
        plain = harness.run([program]).ended(0)
        run = recorded(program)
        equal('output', run.out, plain.out)
        known = {line: of for line, of in constructs(run.err).items() if of[0] not in UNTOLD[compiler]}
        rows = {r['path'][0]['line']: r for r in run.report().data['worksharing']}
        table = (
            harness.run(
                [
                    harness.FVMPI,
                    'report',
                    run.directory,
                    '--table',
                    'worksharing',
                    '--columns',
                    'construct,function',
                    '--csv',
                    '-',
                ]
            )
            .ended(0)
            .out
        )
        functions = [line.split(',', 1)[1] for line in table.splitlines()[1:] if not line.startswith('task')]
        check(
            functions and all(re.search(r'loops|others|tasks|main', f) for f in functions),
            'the functions that they stand in: {}',
            table,
        )
        # a call's line is that of the directive, or beside it, as the compiler likes
        by_line = {line: rows.get(line) or rows.get(line + 1) or rows.get(line - 1) for line in known}
        equal('places', sorted(line for line in by_line if by_line[line] is None), [])
        equal('no others', len(rows), len(known))
        for line, (name, times, inner, outer) in sorted(known.items()):
            r, one = by_line[line], name.split()[-1] in ('single', 'masked', 'task')
            equal(
                '{} {}'.format(line, name),
                (r['construct'], r['executed']),
                (name.split()[-1], times if one else THREADS * times),
            )
            if name == 'task':  # any thread runs them
                check(r['thread_count'] <= THREADS and r['times'] == times, '{}', r)
            else:
                equal(
                    'line {}'.format(line), (r['times'], r['thread_count']), (times, 1 if name == 'masked' else THREADS)
                )
            if name in UNTIMED[compiler]:
                equal('untimed {}'.format(line), (r['timed'], r['time_s'], r['balance']), (0, None, None))
                continue
            equal('timed {}'.format(line), r['timed'], r['executed'])
            check(inner <= r['time_s'] + 1e-6, 'line {}: computed {} s, {}', line, inner, r)
            check(
                name in ('copied single', 'parallel for', 'task') or r['time_s'] <= outer + 1e-6,
                'line {}: passed {} s, {}',
                line,
                outer,
                r,
            )
            check(
                r['max_s'] <= r['thread_max_s'] + 1e-9 <= r['time_s'] + 2e-9 and 0 < r['balance'] <= 1 + 1e-9, '{}', r
            )


def archive(tap, compiler, program):
    with tap.test('{}: in the archive'.format(compiler)):
        run = recorded(program, '--trace')
        known = constructs(run.err)
        rows = [r for r in run.report().data['worksharing'] if r['timed']]
        wanted = {}
        for r in rows:
            key = 'omp ' + r['construct']
            wanted[key] = wanted.get(key, 0) + r['timed']
        found, open_ = {}, {}
        for e in otf2_print.events(otf2_print.merge(run.directory, '--no-samples')):
            if e.kind == 'ENTER':
                open_.setdefault(e.location, []).append(e.region.strip('"'))
                if e.region.strip('"') in wanted:
                    found[e.region.strip('"')] = found.get(e.region.strip('"'), 0) + 1
                    check('worksharing.c' in e.get('call_path', '') or compiler == 'clang', '{}', e)
            elif e.kind == 'LEAVE':
                equal('nesting', open_[e.location].pop(), e.region.strip('"'))
        equal('regions', found, wanted)
        equal('left', [s for s in open_.values() if s], [])
        check(known, 'the program has measured')
    with tap.test('{}: with all that may be around'.format(compiler)):
        for options in (['--trace', '--functions=all'], ['--trace', '--sample=on'], ['--trace', *harness.FRONTS]):
            run = recorded(program, *options)
            otf2_print.merge(run.directory)


EXCEPTION = """#include <cstdio>
__attribute__((noinline)) static void thrower(int i) { if (i % 2) throw i; }
int main() {
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    for (int round = 0; round < 3; round++) {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 10; i++)
            try { thrower(i); } catch (int) { n++; }
    }
    std::printf("%d\\n", n);
}
"""


def exception(tap, compiler, place):
    with tap.test('{}: a function that the last iteration leaves by an exception ends in its loop'.format(compiler)):
        program = os.path.join(place, 'exception.' + compiler)
        with open(program + '.cpp', 'w') as f:
            f.write(EXCEPTION)
        harness.run(
            [compiler, '-O1', '-g', '-fopenmp', '-finstrument-functions', program + '.cpp', '-o', program]
        ).ended(0)
        run = recorded(program, '--trace', '--functions=all')
        equal('output', run.out, '15\n')
        regions = [
            e.region.strip('"')
            for e in otf2_print.events(otf2_print.merge(run.directory, '--no-samples'))
            if e.kind == 'ENTER'
        ]
        equal('calls', len([r for r in regions if r.startswith('thrower')]), 30)
        equal('loops', regions.count('omp for'), 6)


def targets(tap, place, event, *flags):
    """By a library that stands in for one that tells of them."""
    here = os.path.dirname(os.path.abspath(__file__))
    library, program = os.path.join(place, 'libtarget{}.so'.format(event)), os.path.join(place, 'target' + event)
    harness.run(
        ['cc', '-O1', '-g', '-shared', '-fPIC', *flags, '-o', library, os.path.join(here, 'target_runtime.c')]
    ).ended(0)
    harness.run(['cc', '-O0', '-g', '-o', program, os.path.join(here, 'target.c'), library]).ended(0)
    with tap.test('target regions, told by {}: counts and times, by line'.format(event)):
        run = recorded(program)
        equal('output', run.out, 'done\n')
        known = constructs(run.err)
        rows = {r['path'][0]['line']: r for r in run.report().data['worksharing']}
        equal('lines', sorted(rows), sorted(known))
        for line, (name, times, inner, outer) in known.items():
            r = rows[line]
            equal(
                'line {}'.format(line),
                (r['construct'], r['times'], r['executed'], r['timed']),
                (name.replace('nowait ', ''), times, times, times),
            )
            check(inner <= r['time_s'] + 1e-6 <= outer + 2e-6, 'line {}: {} to {} s, {}', line, inner, outer, r)
    with tap.test('target regions, told by {}: in the archive'.format(event)):
        found = [
            e.region.strip('"')
            for e in otf2_print.events(otf2_print.merge(recorded(program, '--trace').directory, '--no-samples'))
            if e.kind == 'ENTER'
        ]
        equal('regions', (found.count('omp target'), found.count('omp target data')), (6, 3))


def untold(tap, place):
    """A loop of which libgomp hears nothing."""
    program = os.path.join(place, 'untold')
    with open(program + '.c', 'w') as f:
        f.write(
            'int main(void)\n{\n    double s = 0;\n#pragma omp parallel for reduction(+ : s)\n'
            '    for (int i = 0; i < 1000; i++)\n        s += i;\n    return s < 0;\n}\n'
        )
    harness.run(['gcc', '-O1', '-fopenmp', program + '.c', '-o', program]).ended(0)
    with tap.test('gcc: a loop with a static schedule makes no row, and why is said'):
        said = harness.run([harness.FVMPI, 'report', recorded(program).directory, '--table', 'worksharing']).ended(0)
        check('static schedule' in said.err, '{}', said.err)


def main():
    tap = harness.Tap()
    place = harness.scratch('bin')
    untold(tap, place)
    targets(tap, place, 'target')
    targets(tap, place, 'target_emi', '-DEMI')
    for compiler in UNTOLD:
        if not shutil.which(compiler):
            with tap.test(compiler):
                raise harness.Skip('no ' + compiler)
            continue
        program = os.path.join(place, 'worksharing.' + compiler)
        harness.run(
            [
                compiler,
                '-O1',
                '-g',
                '-fopenmp',
                '-finstrument-functions',
                os.path.join(os.path.dirname(os.path.abspath(__file__)), 'worksharing.c'),
                '-o',
                program,
            ]
        ).ended(0)
        profile(tap, compiler, program)
        archive(tap, compiler, program)
        exception(tap, {'gcc': 'g++', 'clang': 'clang++'}[compiler], place)
    tap.done()


main()
