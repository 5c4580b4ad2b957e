#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Functions that the compiler instrumented: their calls are counted exactly, by function and call path, of C, C++ and
Fortran, threads, recursion, exceptions and longjmp(), alone and under both MPIs; times of a tree add up; a killed run
tells what it was in; and the program prints what it prints alone."""
import collections
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from report import check, close, equal

STEPS, TINY = 20, 300000
FLAGS = ['-O2', '-g', '-finstrument-functions', '-pthread']
# Of a process: calls by function. fib(10) takes 177; jump() two times, three deep; threads two times 100, 200, 300.
CALLS = {
    'main': 1,
    'work': STEPS,
    'inlined': STEPS,
    'inner': STEPS * 13 + 2 * 600,
    'wait_for_all': STEPS,
    'reduce': 1,
    'fib': 177,
    'jump': 2,
    'deeper': 6,
    'many': 1,
    'with_threads': 2,
    'of_thread': 6,
}
HERE_FILE = 'known.c'


def rows(value):
    return [dict(zip(value['columns'], row)) for row in value['rows']] if isinstance(value, dict) else value


def functions_of(report):
    return {f['function']: f for f in report['instrumented']}


def tree_of(report):
    """By call path, names inwards: the frames of callers that are functions of the program."""
    paths, names = report['instrumented_paths'], {}
    for p in paths:
        names[p['id']] = names.get(p['parent_id'], ()) + (report['instrumented'][p['function_id']]['function'],)
    found = {}
    for p in paths:
        found.setdefault(names[p['id']], []).append(p)
    return found


def calls_of(ranks, tiny, combined):
    return dict(
        {name: ranks * calls for name, calls in dict(CALLS, tiny=tiny).items()},
        **{'combine': combined} if combined else {},
    )


def sums_hold(report, ranks):
    """What a function and those that it calls have of their own is its time."""
    paths = report['instrumented_paths']
    for p in paths:
        inner = [c for c in paths if c['parent_id'] == p['id']]
        if not any(f['nested'] for f in report['instrumented'] if f['id'] in {c['function_id'] for c in inner + [p]}):
            close(
                'time of {}'.format(p['path'][0]['function']),
                p['self_s'] + sum(c['time_s'] for c in inner),
                p['time_s'],
                1e-9 + 1e-6 * p['time_s'],
            )
        check(p['self_s'] <= p['time_s'] * (1 + 1e-6) + 1e-9 and p['mpi_s'] <= p['time_s'] * (1 + 1e-6) + 1e-9, '{}', p)
        check(
            p['open_count'] or p['min_s'] <= p['mean_s'] * (1 + 1e-6) and p['mean_s'] <= p['max_s'] * (1 + 1e-6),
            '{}',
            p,
        )
    for f in report['instrumented']:
        of = [p for p in paths if p['function_id'] == f['id']]
        equal('calls of {}'.format(f['function']), f['calls'], sum(p['calls'] for p in of))
        close(
            'own time of {}'.format(f['function']), f['self_s'], sum(p['self_s'] for p in of), 1e-9 + 1e-6 * f['self_s']
        )
        of = rows(f['per_rank'])
        check(len(of) == f['rank_count'] <= ranks, '{}', f)
        equal('calls by rank', sum(r['calls'] for r in of), f['calls'])


def as_known(report, ranks, tiny, out, traced=False):
    found = functions_of(report)
    combined = sum(map(int, re.findall(r'combined (\d+)', out)))
    equal('calls', {name: f['calls'] for name, f in found.items()}, calls_of(ranks, tiny, combined))
    check(
        all(f['min_s'] <= f['mean_s'] * (1 + 1e-6) and f['mean_s'] <= f['max_s'] * (1 + 1e-6) for f in found.values()),
        '{}',
        found,
    )
    equal(
        'nested', {name: f['nested'] for name, f in found.items() if name not in ('fib', 'deeper') and f['nested']}, {}
    )
    check(all(f['file'].endswith(HERE_FILE) and f['line'] for f in found.values()), '{}', found)
    tree = tree_of(report)
    inner, by_inlined = tree[('main', 'work', 'inner')], tree[('main', 'work', 'inlined', 'inner')]
    equal('inner() of work()', sum(p['calls'] for p in inner), ranks * STEPS * 10)
    equal('inner() of inlined()', [p['calls'] for p in by_inlined], [ranks * STEPS * 3])
    equal('path', [f['function'] for f in by_inlined[0]['path']], ['inner', 'inlined', 'work', 'main'])
    equal('inner() of threads', [p['calls'] for p in tree[('of_thread', 'inner')]], [ranks * 1200])
    equal(
        'left',
        report['instrumented_lost'],
        {
            'too_deep': 0,
            'no_room': 0,
            'left': ranks * 6,
            'unbegun': 0,
            'interrupted': 0,
            'untraced': combined if traced else 0,
        },
    )
    sums_hold(report, ranks)
    return found, tree


LEVELS = """#include <setjmp.h>
static jmp_buf back;
static volatile int left;
static __attribute__((noinline)) void d(void) { if (left && !--left) longjmp(back, 1); }
static __attribute__((noinline)) void c(void) { for (int i = 0; i < 4; i++) d(); }
static __attribute__((noinline)) void b(void) { for (int i = 0; i < 3; i++) c(); }
static __attribute__((noinline)) void a(void) { for (int i = 0; i < 2; i++) b(); }
int main(void) {
    a();
    left = 30;
    a();
    left = 6;
    if (!setjmp(back)) a();
    a();
    return 0;
}
"""


# step() is called first by main(), then by other(). It prints how long each call took, as it sees it.
WARM = """#include <stdio.h>
#include <time.h>
#include <unistd.h>
#define PLAIN __attribute__((noinline))
static int calls;
__attribute__((no_instrument_function)) static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
PLAIN void step(void) {
    double begin = now();
    usleep(calls++ ? 1000 : 400000);
    printf("%.9f\\n", now() - begin);
}
PLAIN void other(void) { step(); calls++; }
PLAIN void seldom(void) { usleep(calls ? 100 : 100000); calls++; }
int main(void) {
    for (int i = 0; i < 9; i++) seldom();
    calls = 0;
    step();
    for (int i = 0; i < 20; i++) other();
    return 0;
}
"""


def first_calls(tap):
    """Of step() the first of 21 calls, made by another caller than the others; seldom() is called nine times, which is
    too few. A call that lasts longer for want of a processor does so for the program, too."""
    source, program = os.path.join(harness.scratch(), 'warm.c'), os.path.join(harness.scratch(), 'warm')
    with open(source, 'w') as f:
        f.write(WARM)
    harness.run(['cc', *FLAGS, source, '-o', program]).ended(0)
    with tap.test('first calls apart'):
        directory = os.path.join(harness.scratch(), 'e')
        done = harness.run([harness.FVMPI, 'run', '-q', '--functions', '-o', directory, '--mpi', 'serial', program])
        times = list(map(float, done.ended(0).out.split()))
        first, later = times[0], times[1:]
        rows_of = {row['function']: row for row in harness.report_of(directory).data['function_warm_up']}
        equal('functions', sorted(rows_of), ['other', 'step'])
        row, near = rows_of['step'], 0.001 + 0.05 * first
        equal('threads', row['thread_count'], 1)
        if first < 1.8 * max(later) or (first < 2.2 * max(later) and not row['warm_up_count']):
            equal('a run without warm-up', (row['warm_up_count'], row['warm_up_s'], row['excess_s']), (0, None, 0))
            return
        equal('warm up', row['warm_up_count'], 1)
        mean = sum(later) / len(later)
        for key, value in (('warm_up_s', first), ('steady_s', mean), ('excess_s', first - mean)):
            close(key, row[key], value, near)
        close('longest later', row['steady_max_s'], max(later), near)
        close('ratio', row['ratio'], row['warm_up_s'] / row['steady_s'], 1e-6 * row['ratio'])
        text = harness.run([harness.FVMPI, 'report', directory]).ended(0).out
        check('First calls of functions' in text, '{}', text)


def levels(tap):
    """c() and d() are on levels 4 and 5. The third a() is left in its sixth d()."""
    source = os.path.join(harness.scratch('src'), 'levels.c')
    program = os.path.join(os.path.dirname(source), 'levels')
    with open(source, 'w') as f:
        f.write(LEVELS)
    harness.run(['cc', '-O1', '-g', '-fno-inline', '-finstrument-functions', source, '-o', program]).ended(0)
    with tap.test('--depth leaves out what is called deeper, and says how much'):
        full = {'main': 1, 'a': 4, 'b': 7, 'c': 3 * 6 + 2, 'd': 3 * 24 + 6}
        for options, names in (([], 'main a b c d'), (['--depth', '4'], 'main a b c'), (['--depth', '3'], 'main a b')):
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-q', '--functions', '--trace', '--sample=off', *options, '-o', directory, '--']
                + [program],
                directory=directory,
            ).ended(0)
            report = run.report().data
            wanted = {name: full[name] for name in names.split()}
            equal('calls', {name: f['calls'] for name, f in functions_of(report).items()}, wanted)
            left_out = sum(full.values()) - sum(wanted.values())
            equal('left out', report['instrumented_lost']['too_deep'], left_out)
            text = harness.run([harness.FVMPI, 'report', directory]).ended(0).out
            said = '{} calls left out, deeper than --depth {}'.format(left_out, options[-1]) if options else ''
            check(said in text and bool(said) == ('--depth' in text), '{}', text)
            if shutil.which('otf2-print'):
                entered = [e for e in otf2_print.events(otf2_print.merge(directory)) if e.kind == 'ENTER']
                equal('in the archive', collections.Counter(e.region.strip('"') for e in entered), wanted)


def alone(tap, program):
    plain = harness.run([program, '1000']).ended(0)
    with tap.test('alone'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [harness.FVMPI, 'run', '--functions', '-o', directory, '--mpi', 'serial', program, '1000'],
            directory=directory,
        ).ended(0)
        equal('output', run.out, plain.out)
        as_known(run.report().data, 1, 1000, run.out)
    with tap.test('a short one is counted on, unless all are wanted'):
        for option in ('--functions', '--functions=all'):
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-q', option, '-o', directory, '--mpi', 'serial', program, str(TINY)],
                directory=directory,
            ).ended(0)
            found, _ = as_known(run.report().data, 1, TINY, run.out)
            if harness.SANITIZER and not found['tiny']['counted'] and option == '--functions':
                raise harness.Skip('no function is short with {}'.format(harness.SANITIZER))
            equal(
                '{}: counted'.format(option), found['tiny']['counted'], TINY - 131071 if option == '--functions' else 0
            )  # it is looked at every 65,536 calls
    with tap.test('switched off'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', program, '1000'], directory=directory
        ).ended(0)
        report = run.report().data
        equal(
            'nothing',
            (report['instrumented'], report['instrumented_paths'], report['instrumented_lost']),
            ([], [], None),
        )
    with tap.test('a program that is not instrumented is told how'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '--functions', '-o', directory, '--mpi', 'serial', '/bin/true'],
            directory=directory,
        ).ended(0)
        text = harness.run([harness.FVMPI, 'report', directory]).ended(0).out
        check('-finstrument-functions' in text, '{}', text)


def killed(tap, program):
    with tap.test('a killed run tells what it was in'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        process = harness.start(
            [harness.FVMPI, 'run', '-q', '--functions', '-o', directory, '--mpi', 'serial', program, '1000', 'hang']
        )
        while b'hangs' not in process.stdout.readline():
            check(process.poll() is None, 'it has ended')
        harness.wait_until(lambda: len(under_way(directory)) == 2, what='the last work()')
        harness.kill_all()
        harness.finish(process)
        report = harness.profile_of(directory)
        found = functions_of(report)
        equal('open', {name for name, f in found.items() if f['open_count']}, {'main', 'work'})
        equal('calls', found['work']['calls'], STEPS + 1)
        sums_hold(report, 1)


def languages(tap):
    place = harness.scratch('bin')
    for compiler, left in (('g++', 0), ('clang++', 100)):  # two functions that clang does not end, 50 times
        with tap.test('exceptions, {}'.format(compiler)):
            program = os.path.join(place, 'thrown-' + compiler)
            if harness.run(['which', compiler]).rc:
                raise harness.Skip('no {}'.format(compiler))
            harness.run(
                [
                    compiler,
                    '-O2',
                    '-g',
                    '-finstrument-functions',
                    '-finstrument-functions-exclude-file-list=/usr/' if compiler == 'g++' else '-DCLANG',
                    os.path.join(HERE, 'thrown.cpp'),
                    '-o',
                    program,
                ]
            ).ended(0)
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-q', '--functions', '-o', directory, '--mpi', 'serial', program],
                directory=directory,
            ).ended(0)
            equal('output', run.out, harness.run([program]).ended(0).out)
            report = run.report().data
            found = {name.split('(')[0]: f for name, f in functions_of(report).items()}
            equal(
                'calls',
                {
                    name: found[name]['calls']
                    for name in ('main', 'solver::Field<double>::relax', 'between', 'thrower', 'after')
                },
                {'main': 1, 'solver::Field<double>::relax': 5, 'between': 50, 'thrower': 50, 'after': 50},
            )
            tree = {
                tuple(name.split('(')[0] for name in names): sum(p['calls'] for p in of)
                for names, of in tree_of(report).items()
            }
            equal('after() is called by who catches', tree[('main', 'solver::Field<double>::relax', 'after')], 50)
            equal('left', report['instrumented_lost']['left'], left)
            sums_hold(report, 1)
    with tap.test('Fortran'):
        program = os.path.join(place, 'modules')
        harness.run(
            [
                'gfortran',
                '-O1',
                '-g',
                '-finstrument-functions',
                os.path.join(HERE, 'modules.f90'),
                '-J',
                place,
                '-o',
                program,
            ]
        ).ended(0)
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '--functions', '-o', directory, '--mpi', 'serial', program],
            directory=directory,
        ).ended(0)
        equal('output', run.out, harness.run([program]).ended(0).out)
        found = functions_of(run.report().data)
        calls = {name: f['calls'] for name, f in found.items()}
        equal('calls', sorted(calls.values()), [1, 1, 7, 77])
        check(
            any('relax' in name and calls[name] == 7 for name in calls)
            and any('sweep' in name and calls[name] == 77 for name in calls),
            '{}',
            calls,
        )


def visits_of(directory, whole=True):
    """Of regions, by the archive, which is well made: what is entered is left. Not whole: of a killed run, of which
    collectives lack a rank."""
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    said = harness.run([harness.FVMPI, 'check', directory]).ended(0).out
    check(('0 errors, 0 warnings' if whole else ' 0 errors') in said, 'fvmpi check: {}', said)
    if not shutil.which('otf2-print'):
        raise harness.Skip('merged and checked; no otf2-print to read it with')
    entered = re.findall(
        r'^(?:CALLING_CONTEXT_)?ENTER +\d+ +\d+  (?:Region|Calling Context): "(.*?)" <',
        harness.run(['otf2-print', os.path.join(directory, 'traces.otf2')]).ended(0).out,
        re.M,
    )
    return collections.Counter(entered)


HARD = {
    'jumps': [],
    'deep': [],
    'siblings': [],
    'pauses': [],
    'forks': [],
    'alternate': ['handler', 'tiny'],
    'timers': ['handler', 'tiny'],
    'attributes': ['handler', 'tiny'],
    'bursts': [],
    'leaves': ['leaving', 'tiny', 'body'],
}


def hard(tap):
    """Where it is hard to know which functions a thread is in: what each case calls is counted, times add up, and the
    program prints what it prints alone."""
    program = os.path.join(harness.scratch('hard'), 'hard')
    harness.run(['cc', *FLAGS, '-w', os.path.join(HERE, 'hard.c'), '-o', program]).ended(0)
    for case, unknown in HARD.items():  # how often handlers come in, and what they call, nobody knows
        with tap.test('hard: {}'.format(case)):
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [
                    harness.FVMPI,
                    'run',
                    '-q',
                    '--functions',
                    '--sample=off',
                    '-o',
                    directory,
                    '--mpi',
                    'serial',
                    program,
                    case,
                ],
                directory=directory,
            ).ended(0)
            equal('output', run.out, harness.run([program, case]).ended(0).out)
            report = run.report().data
            found = functions_of(report)
            wanted = {name: int(calls) for name, calls in re.findall(r'^truth (\S+) (\d+)$', run.out, re.M)}
            equal(
                'calls',
                {name: found[name]['calls'] if name in found else 0 for name in wanted if name not in unknown},
                {name: calls for name, calls in wanted.items() if name not in unknown},
            )
            if case == 'siblings':  # of the outermost call of down(), and of those within it, which are one place
                names = tree_of(report)
                equal(
                    'by call path',
                    sorted(p['calls'] for path, of in names.items() if path[-1] == 'beside' for p in of),
                    [100, 300],
                )
            outermost = sum(p['time_s'] for p in report['instrumented_paths'] if p['parent_id'] is None)
            close(
                'sum of own times', sum(f['self_s'] for f in report['instrumented']), outermost, 0.01 * outermost + 1e-6
            )  # a handler may leave a hook with a part
            equal(
                'nested',
                sum(
                    f['nested']
                    for f in report['instrumented']
                    if f['function'] not in ('recurse', 'down', 'steps', *unknown)
                ),
                0,
            )  # a handler may call what it has interrupted


def filtered(tap):
    """Functions that a filter leaves out have no calls, what they call is their callers', by name and by file."""
    place = harness.scratch('filtered')
    program = os.path.join(place, 'known')
    harness.run(['cc', *FLAGS, '-DALONE', os.path.join(HERE, HERE_FILE), '-o', program]).ended(0)

    def recorded(program, text, out=None):
        name, directory = os.path.join(place, 'filter'), os.path.join(harness.scratch('exp'), 'e')
        with open(name, 'w') as f:
            f.write(text)
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '--functions-filter', name, '-o', directory, '--mpi', 'serial', program],
            directory=directory,
        )
        return run if out else run.ended(0).report().data

    regions = 'SCOREP_REGION_NAMES_BEGIN\n{}\nSCOREP_REGION_NAMES_END\n'
    with tap.test('a filter: names'):
        report = recorded(program, regions.format('  EXCLUDE *  # all\n  INCLUDE main inner fi?'))
        equal(
            'calls',
            {f['function']: f['calls'] for f in report['instrumented']},
            {name: CALLS[name] for name in ('main', 'inner', 'fib')},
        )
        equal(
            'who calls inner()',
            sorted(names for names in tree_of(report) if names[-1] == 'inner'),
            [('inner',), ('main', 'inner')],
        )
        sums_hold(report, 1)
        equal(
            'options',
            {o['option']: o['value'] for o in report['options'] if 'functions' in o['option']},
            {'--functions': '1', '--functions-filter': os.path.join(place, 'filter')},
        )
    with tap.test('a filter that leaves all out is what is said'):
        run = recorded(program, regions.format('EXCLUDE *'), out=True).ended(0)
        said = ' '.join(harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out.split())
        check('none was called that the filter {} leaves in'.format(os.path.join(place, 'filter')) in said, '{}', said)
    with tap.test('a filter: files, and names as the linker has them'):
        program = os.path.join(place, 'thrown')
        harness.run(
            ['g++', '-O2', '-g', '-finstrument-functions', os.path.join(HERE, 'thrown.cpp'), '-o', program]
        ).ended(0)
        names = lambda report: {f['function'].split('(')[0] for f in report['instrumented']}
        check({'after', 'between'} <= names(recorded(program, '')), 'an empty filter')
        own = names(recorded(program, 'SCOREP_FILE_NAMES_BEGIN EXCLUDE * INCLUDE */thrown.cpp SCOREP_FILE_NAMES_END'))
        # of which libbfd says that they are in this file
        own = {name for name in own if '__detail::__to_chars' not in name}
        equal(
            'no standard library',
            own,
            {'main', 'solver::Field<double>::relax', 'between', 'thrower', 'after', 'Guard::~Guard'},
        )
        equal(
            'mangled',
            names(recorded(program, regions.format('EXCLUDE * INCLUDE MANGLED _Z5afterd _Z7betweeni'))),
            {'after', 'between'},
        )
        equal(
            'with a scope',
            names(recorded(program, regions.format('EXCLUDE * INCLUDE solver::*'))),
            {'solver::Field<double>::relax'},
        )
    with tap.test('a filter that is none'):
        run = recorded(program, 'EXCLUDE f\n', out=True).ended(2)
        equal(
            'said',
            run.err.splitlines(),
            [
                'fvmpi: {}: line 1: neither SCOREP_FILE_NAMES_BEGIN nor SCOREP_REGION_NAMES_BEGIN; give a filter file in Score-P\'s format, see share/doc/functions.md'.format(
                    os.path.join(place, 'filter')
                )
            ],
        )


SHORT = """#include <stdio.h>
volatile unsigned sum;
__attribute__((noinline)) void tiny(unsigned i) { sum += i; }
__attribute__((noinline)) void heavy(void) { for (unsigned i = 0; i < 1000000; i++) tiny(i); }
int main(void) { for (int i = 0; i < 40; i++) heavy(); printf("%u\\n", sum); }
"""


def own_cost(tap):
    """What measuring took is told of the function whose calls took it, and of a filter that leaves it out; never of one
    that is called forty times."""
    place = harness.scratch('short')
    program, filter_ = os.path.join(place, 'short'), os.path.join(place, 'filter')
    with open(program + '.c', 'w') as f:
        f.write(SHORT)
    with open(filter_, 'w') as f:
        f.write('SCOREP_REGION_NAMES_BEGIN EXCLUDE tiny SCOREP_REGION_NAMES_END')
    harness.run(['cc', '-O1', '-g', '-finstrument-functions', program + '.c', '-o', program]).ended(0)
    for name, options in (
        ('short functions', ['--functions=all']),
        ('short functions that a filter leaves out', ['--functions-filter', filter_]),
    ):
        with tap.test('the finding own_cost: ' + name):
            directory = os.path.join(harness.scratch('exp'), 'e')
            data = (
                harness.run(
                    [harness.FVMPI, 'run', '-q', *options, '-o', directory, '--mpi', 'serial', program],
                    directory=directory,
                )
                .ended(0)
                .report()
                .data
            )
            found = [f for f in data['findings'] if f['name'] == 'own_cost']
            if not found:
                overhead, cpu = data['run']['overhead'], sum(r['cpu_s'] for r in data['ranks'])
                own = overhead['time_s'] - overhead['once_s']
                check(own < 0.11 * cpu, 'not said: fvmpi took {} of {} s', own, cpu)
                raise harness.Skip('fvmpi took {:.0%} of the CPU time'.format(own / cpu))
            check('heavy is called' not in found[0]['text'], '{}', found[0])
            if 'filter' in name:
                check(
                    'Functions that the filter leaves out also cost time' in found[0]['text']
                    and found[0]['function'] is None,
                    '{}',
                    found[0],
                )
            else:
                check(
                    'tiny is called most often, 40,000,000 times' in found[0]['text']
                    and found[0]['function'] == 'tiny',
                    '{}',
                    found[0],
                )


def wrappers(tap):
    """fvcc and its like: what they run, and what is recorded of it."""
    place = harness.scratch('wrappers')
    for name in ('fvcc', 'fvc++', 'fvfort'):
        shutil.copy(os.path.join(harness.SOURCE, 'share', 'fvcc'), os.path.join(place, name))
    shown = (
        lambda name, *arguments: harness.run([os.path.join(place, name), '--fv:show', *arguments]).ended(0).out.strip()
    )
    with tap.test('fvcc, fvc++, fvfort'):
        equal('C', shown('fvcc', '-c', 'a b.c'), "mpicc -g -finstrument-functions -c 'a b.c'")
        equal('C++', shown('fvc++', '-O2', 'a.cpp'), 'mpicxx -g -finstrument-functions -O2 a.cpp')
        equal(
            'Fortran without MPI', shown('fvfort', '--fv:no-mpi', 'a.f90'), 'gfortran -g -finstrument-functions a.f90'
        )
        run = harness.run([os.path.join(place, 'fvcc'), '--fv:include=solve', 'solver.c', 'main.c']).ended(2)
        equal(
            'one of two',
            run.err,
            'fvcc: of these files some are to be instrumented, and some are not (main.c): compile them one by one\n',
        )
        equal('none', shown('fvcc', '--fv:include=solve', '-c', 'main.c'), 'mpicc -c main.c')
        equal('another', shown('fvcc', '--fv:compiler=gcc', 'a.c'), 'gcc -g -finstrument-functions a.c')
        for wrong in ('--fv:shout', '--fv:include'):
            run = harness.run([os.path.join(place, 'fvcc'), wrong, 'a.c']).ended(2)
            check(
                run.err.startswith('fvcc: {}: no such option'.format(wrong)) and run.err.count('\n') == 1, '{}', run.err
            )
    with tap.test('fvcc finds fvmpi.h, and says what it adds'):
        fvcc, headers = os.path.join(harness.SOURCE, 'share', 'fvcc'), os.path.join(
            os.path.realpath(harness.SOURCE), 'src'
        )
        said = lambda what, **env: harness.run([fvcc, '--fv:showme' + what], env=env).ended(0).out.strip()
        source, program = os.path.join(place, 'section.c'), os.path.join(place, 'section')
        with open(source, 'w') as f:
            f.write('#include <fvmpi.h>\nint main(void) { fvmpi_label("here"); return 0; }\n')
        run = harness.run([fvcc, '--fv:no-mpi', '--fv:verbose', source, '-o', program]).ended(0)
        equal('said', run.err.strip(), 'cc -g -finstrument-functions {} -o {} -I{}'.format(source, program, headers))
        harness.run([program]).ended(0)
        equal('to compile', said('=compile'), '-g -finstrument-functions -I' + headers)
        equal('directories', said('=incdirs'), headers)
        equal('a compiler', said('=command', FVCC_CC='ccache gcc'), 'ccache gcc')
        equal('version', 'fvmpi ' + said('=version').split()[1], said('=version'))
        equal(
            'variables',
            said('', FVCC_CC='gcc', FVCC_CFLAGS='-O2 -DA', FVCC_LDFLAGS='-lm'),
            'gcc -g -finstrument-functions -O2 -DA -I{} -lm'.format(headers),
        )
        libraries = os.path.join(os.path.realpath(harness.SOURCE), 'build', '.libs')
        if os.path.exists(libraries + '/libfvmpi.so'):
            equal('to link', said('=link'), '-L{0} -Wl,-rpath,{0} -Wl,--no-as-needed -lfvmpi'.format(libraries))
        harness.run([fvcc, '--fv:showme=all']).ended(2)
    with tap.test('fvcc leaves out what it is told to'):
        program, directory = os.path.join(place, 'known'), os.path.join(harness.scratch('exp'), 'e')
        harness.run(
            [
                os.path.join(place, 'fvcc'),
                '--fv:no-mpi',
                '--fv:exclude=tiny,fib',
                '-O2',
                '-pthread',
                '-DALONE',
                os.path.join(HERE, HERE_FILE),
                '-o',
                program,
            ]
        ).ended(0)
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '--functions', '-o', directory, '--mpi', 'serial', program],
            directory=directory,
        ).ended(0)
        equal('functions', set(functions_of(run.report().data)), set(CALLS) - {'fib'})


def under_way(directory):
    """Records of calls that are under way, of a file that is being written."""
    return [fields for fields in harness.dumped(directory, 'function_calls') if fields['opened'] != '0']


def unhindered(mpi, program, options):
    """A run in which no thread lost its processor for long while it made a place of the tree: others that come there
    meanwhile wait for a moment, and what they can't count they say."""
    for _ in range(6):
        run = mpi.profile(program, 2, ['1000'], options).ended(0)
        if not run.report().data['instrumented_lost']['no_room']:
            break
    return run


def undisturbed(mpi, program, options):
    """Findings on who is late, of a run in which others did not take more from the ranks than what they differ by: then
    that is what is said."""
    for _ in range(6):
        run = mpi.profile(program, 2, ['1000', 'uneven'], ['--functions', '--sample=off'] + options).ended(0)
        if options:
            harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
        report = run.report().data
        name = 'late_rank' if options else 'load_imbalance'
        # that a rank was preempted is a finding of its own, and names no function
        findings = [f for f in report['findings'] if f['name'] == name and 'preempted' not in f['text']]
        outside = [r['app_time_s'] - r['mpi_time_s'] for r in report['ranks']]
        if findings or not any(
            f['name'] == 'no_processor' and f['lost_s'] > 0.5 * (max(outside) - min(outside))
            for f in report['findings']
        ):
            return findings
    raise harness.Skip('others took more from the ranks than what they differ by, in each of 6 runs')


def main():
    tap = harness.Tap()
    program = os.path.join(harness.scratch('bin'), 'known')
    harness.run(['cc', *FLAGS, '-DALONE', os.path.join(HERE, HERE_FILE), '-o', program]).ended(0)
    alone(tap, program)
    levels(tap)
    first_calls(tap)
    killed(tap, program)
    languages(tap)
    hard(tap)
    filtered(tap)
    own_cost(tap)
    wrappers(tap)
    for mpi in harness.an_mpi(tap):
        program = mpi.build(os.path.join(HERE, HERE_FILE), *FLAGS, output='known')
        with tap.test('{}: known calls'.format(mpi)):
            run = unhindered(mpi, program, ['--functions'])
            equal(
                'output',
                sorted(run.out.splitlines()),
                sorted(mpi.native(program, 2, ['1000']).ended(0).out.splitlines()),
            )
            report = run.report().data
            found, tree = as_known(report, 2, 1000, run.out)
            (barriers,) = [f for f in report['mpi_functions'] if f['function'] == 'MPI_Barrier']
            close(
                'MPI_Barrier is the MPI time of who calls it',
                found['wait_for_all']['mpi_s'],
                barriers['time']['sum_s'],
                1e-6 * barriers['time']['sum_s'] + 1e-9,
            )
            close('and of its caller', found['work']['mpi_s'], found['wait_for_all']['mpi_s'], 1e-9)
            equal(
                'own MPI time of work()',
                found['work']['mpi_s'] > 0 and [p['self_s'] for p in tree[('main', 'work')]] and True,
                True,
            )
            times = {r['rank']: r['self_s'] for r in rows(found['inner']['per_rank'])}
            equal('rank 1 has more to do', found['inner']['max_rank'], max(times, key=times.get))
            check(times[1] > times[0], '{}', times)
        with tap.test('{}: each call in the archive'.format(mpi)):
            run = unhindered(mpi, program, ['--functions', '--trace', '--sample=off'])
            as_known(run.report().data, 2, 1000, run.out, traced=True)
            combined = sum(map(int, re.findall(r'combined (\d+)', run.out)))
            visits = visits_of(run.directory)
            # main() of thread 0 was entered before recording began; what MPI calls is in its call, whose record is one
            equal('visits', {name: visits[name] for name in calls_of(2, 1000, 0)}, calls_of(2, 1000, 0))
            equal('in calls of MPI', visits['combine'], 0)
            check(combined > 0, 'MPI combined nothing')
        for options in ([], ['--trace']):
            with tap.test(
                '{}: who computes longest is named without samples {}'.format(mpi, ' '.join(options)).strip()
            ):
                findings = undisturbed(mpi, program, options)
                equal(
                    'function',
                    [(f['rank'], f['function'], os.path.basename(f['file'] or '')) for f in findings[:1]],
                    [(1, 'inner', HERE_FILE)],
                )
                check(
                    '(measured calls)' in findings[0]['text']
                    and 'inner() at {}:{}'.format(HERE_FILE, findings[0]['line']) in findings[0]['text'],
                    '{}',
                    findings,
                )
        with tap.test("{}: without MPI's calls".format(mpi)):
            run = mpi.profile(program, 2, ['1000'], ['--functions', '--mpi-calls', '0', '--sample=off']).ended(0)
            report = run.report().data
            equal(
                'calls of MPI',
                (report['callsites'], report['mpi_functions'], [r['mpi_time_s'] for r in report['ranks']]),
                ([], [], [0, 0]),
            )
            check(all(not any(r['dropped'].values()) for r in report['ranks']), '{}', report['ranks'])
            equal('efficiency', set(report['efficiency'].values()), {None})
            equal('calls', functions_of(report)['work']['calls'], 2 * STEPS)
            check(any('--mpi-calls' in p['text'] for p in report['problems']), '{}', report['problems'])
            check(
                '--mpi-calls 0' in harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out,
                'the text does not say it',
            )
        with tap.test('{}: the archive of a killed run'.format(mpi)):
            run = mpi.profile(program, 2, ['1000', 'die'], ['--functions', '--trace', '--sample=off'])
            check(run.rc != 0, 'it was not killed')
            visits = visits_of(run.directory, whole=False)
            equal(
                'visits',
                {name: visits[name] for name in ('main', 'work', 'fib')},
                {'main': 2, 'work': 2 * STEPS + 2, 'fib': 2 * 177},
            )
    tap.done()


main()
