#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it has an allocator of its own.
"""What a program allocates (--memory): leaks of known size and place, the peak and who makes it, realloc() chains,
aligned ones, frees by other threads, C++'s new, Fortran's allocate, fork(), handlers, a killed run; alone and under
both MPIs; and the program prints and returns what it does alone."""
import itertools
import os
import random
import re
import shutil
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from report import Mismatch, check, equal

KNOWN = os.path.join(HERE, 'known.c')
ENDS_WITH = 7  # what it returns
LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics
OPTIONS = '--memory', '--memory=exact'
KEYS = (
    'bytes',
    'allocations',
    'frees',
    'freed_bytes',
    'live_bytes',
    'live_count',
    'at_peak_bytes',
    'peak_bytes',
    'foreign_bytes',
    'foreign_frees',
    'live_error_bytes',
)


def recorded(command, option='--memory', rc=ENDS_WITH):
    """A run under `fvmpi run`, by the words of a command line."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    return harness.run(
        [harness.FVMPI, 'run', '-q', option, '-o', directory, '--', *command], directory=directory
    ).ended(rc)


def names_of(row):
    """Of its path, innermost first, without arguments."""
    return [(frame['function'] or '').split('(')[0] for frame in row['path']]


def of(report, function):
    """Sums over the paths whose innermost frame is the function's, but for C++'s operator new."""
    found = {}
    for row in report['memory']:
        names = list(itertools.dropwhile(lambda name: name.startswith('operator new'), names_of(row)))
        if names and names[0] == function:
            for key in KEYS:
                found[key] = found.get(key, 0) + row[key]
            found['kind'] = row['kind']
    return found


def has(report, function, **wanted):
    found = of(report, function)
    equal('{}()'.format(function), {key: found.get(key) for key in wanted}, wanted)


def compiled(name, *arguments):
    program = os.path.join(harness.scratch('bin'), name)
    harness.run(['cc', '-O1', '-g', '-pthread', '-o', program, KNOWN, *arguments]).ended(0)
    return program


# ---- what each way of it has in its report ----


def leak(report):
    """What is leaked is live, where it was allocated; what is freed is not."""
    whole = report['memory_ranks'][0]['mode'] == 'exact'
    kind = 'exact' if whole else 'exact from 4 KiB'
    has(report, 'leaked', bytes=819200, live_bytes=819200, live_count=100, kind=kind)
    has(report, 'passing', bytes=819200, freed_bytes=819200, frees=100, live_bytes=0)


def peak(report):
    """Who makes it; and it is that of both, in the allocator's bytes."""
    has(report, 'leaked', at_peak_bytes=3 << 20, live_bytes=0)
    has(report, 'passing', at_peak_bytes=5 << 20, bytes=6 << 20)
    check(8 << 20 <= report['memory_ranks'][0]['peak_bytes'] < (8 << 20) + (1 << 18), '{}', report['memory_ranks'])


def threads(report):
    """Frees by another thread."""
    has(report, 'made_for_others', foreign_frees=100, foreign_bytes=1000000, live_bytes=0)


def realloc(report):
    """A chain, of which the last one fails."""
    has(report, 'resized', allocations=20, bytes=1050000, freed_bytes=950000, live_bytes=100000, live_count=1)
    equal('calls that failed', report['memory_ranks'][0]['failed_calls'], 1)


def aligned(report):
    has(report, 'aligned', bytes=5000 + 8192 + 6000 + 7000 + 8192 + 12000, allocations=6)


def fork(report):
    """Of a child nothing is recorded."""
    has(report, 'leaked', bytes=20000, allocations=1)


def signal(report):
    """Handlers between allocations."""
    found = of(report, 'passing')
    check(found['bytes'] and found['live_bytes'] == 0, '{}', found)


CALLS = r"""#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
static void *volatile p, *volatile q;
static void works(void) {
    p = malloc(1000); p = realloc(p, 5000); free(p);
    p = calloc(10, 7); free(p); free(NULL);
    p = memalign(64, 300); free(p);
    p = aligned_alloc(64, 320); free(p);
    if (!posix_memalign((void **)&p, 64, 340)) free(p);
    p = valloc(360); free(p);
    p = pvalloc(380); free(p);
    p = malloc(50); q = realloc(p, 1ul << 60); free(p);
}
static void *many(int n) { while (n--) { p = malloc(24); free(p); } return 0; }
int main(int argc, char **argv) {
    works();
    fclose(fopen("/dev/null", "w"));
    many(argc > 1 ? 100000 : 0);
    return 0;
}
"""
# Of works(): the call, what it allocates, and what it frees.
WANTED = [
    ('malloc', 1000, None),
    ('realloc', 5000, 1000),
    ('free', None, 5000),
    ('calloc', 70, None),
    ('free', None, 70),
    ('memalign', 300, None),
    ('free', None, 300),
    ('aligned_alloc', 320, None),
    ('free', None, 320),
    ('posix_memalign', 340, None),
    ('free', None, 340),
    ('valloc', 360, None),
    ('free', None, 360),
    ('pvalloc', 380, None),
    ('free', None, 380),
    ('malloc', 50, None),
    ('realloc', None, None),  # it fails
    ('free', None, 50),
]


def calls_in_trace(tap):
    source = os.path.join(harness.scratch('src'), 'calls.c')
    program = os.path.join(os.path.dirname(source), 'calls')
    with open(source, 'w') as f:
        f.write(CALLS)
    harness.run(['cc', '-O0', '-g', '-w', source, '-o', program]).ended(0)
    harness.WITHOUT.clear()  # who allocates in fopen() has a name in debug information alone
    with tap.test('--memory=calls: each call is a region of the archive, with its bytes'):
        run = recorded([program], '--memory=calls', rc=0)
        archive = otf2_print.merge(run.directory)
        entered = [e for e in otf2_print.events(archive) if e.kind == 'ENTER']
        equal(
            'calls',
            [
                (e.region.strip('"'), e.get('ALLOCATION_SIZE'), e.get('DEALLOCATION_SIZE'))
                for e in entered
                if e.call_path.startswith('works@')
            ],
            WANTED,
        )
        check([e for e in entered if 'fopen' in e.call_path and e.region == '"malloc"'], 'of fopen(): {}', entered)
        check('0 errors, 0 warning' in harness.run([harness.FVMPI, 'check', archive]).ended(0).out, 'the archive')
        report = run.report().data
        has(report, 'works', allocations=9, frees=9, live_bytes=0)
        check(all(r['allocations'] or r['frees'] for r in report['memory']), 'rows of nothing: {}', report['memory'])
    with tap.test('... none within a function for files, whose region goes on'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        options = ['-q', '--memory=calls', '--io', '-o', directory]
        harness.run([harness.FVMPI, 'run', *options, '--', program], directory=directory).ended(0)
        entered = [e for e in otf2_print.events(otf2_print.merge(directory)) if e.kind == 'ENTER']
        equal('fopen()', [e for e in entered if 'fopen' in e.call_path], [])
        equal('calls', len([e for e in entered if e.call_path.startswith('works@')]), len(WANTED))
    with tap.test('... until the budget of the trace is used up, which is said'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        options = ['-q', '--memory=calls', '--trace-max', '256k', '-o', directory]
        run = harness.run([harness.FVMPI, 'run', *options, '--', program, 'many'], directory=directory).ended(0)
        check('the trace ends here: FVMPI_TRACE_MAX is used up' in run.err, '{}', run.err)
        merged = harness.run([os.path.join(harness.BUILD, 'fvunify'), directory])
        said = re.search(r'(\d+) calls of the allocator are not in the trace: .* raise FVMPI_TRACE_MAX', merged.err)
        check(said and 100000 < int(said.group(1)) < 200020, '{}', merged.err)
        entered = [e for e in otf2_print.events(os.path.join(directory, 'traces.otf2')) if e.kind == 'ENTER']
        equal(
            'calls of many()', len([e for e in entered if e.call_path.startswith('many@')]) + int(said.group(1)), 200000
        )
    with tap.test('by its variable alone: it needs a trace'):
        library = ' '.join(
            os.path.join(harness.BUILD, '.libs', 'libfvmpi-{}.so'.format(n)) for n in ('serial', 'memory')
        )
        env = {
            'LD_PRELOAD': library,
            'FVMPI_MEMORY': 'calls',
            'FVMPI_OUTPUT': os.path.join(harness.scratch('exp'), 'e'),
        }
        said = harness.run([program], env=env).ended(0).err
        check('FVMPI_MEMORY=calls: calls are in a trace only; set FVMPI_TRACE=1, too' in said, '{}', said)


def one_process(tap, program):
    for way in (leak, peak, threads, realloc, aligned, fork, signal):
        plain = harness.run([program, way.__name__]).ended(ENDS_WITH)
        for option in OPTIONS:
            with tap.test(
                '{}, {}: it prints and returns what it does alone, and is seen to do it'.format(option, way.__name__)
            ):
                run = recorded([program, way.__name__], option)
                equal('output', run.out, plain.out)
                way(run.report().data)
    with tap.test('who called it'):
        directory = recorded([program, 'peak']).directory
        table = (
            harness.run(
                [
                    harness.FVMPI,
                    'report',
                    directory,
                    '--table',
                    'memory',
                    '--columns',
                    'function,called_by',
                    '--csv',
                    '-',
                ]
            )
            .ended(0)
            .out
        )
        check('leaked,peak <- main' in table.splitlines(), '{}', table)
    with tap.test('text and dump show it'):
        check('Live at the end' in harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out, 'report')
        dump = harness.run([harness.FVMPI, 'dump', os.path.join(run.directory, 'rank-000000.fvr')]).ended(0).out
        check('memory_sites' in dump and 'memory_process mode=exact' in dump, '{}', dump[-2000:])


def loader(tap, program):
    with tap.test(
        'in callbacks of dl_iterate_phdr() allocations are counted, in no call path: the unwinder may need the loader'
    ):
        run = recorded([program, 'loader'])
        (pages,) = run.report().data['memory_ranks']
        times = int(run.out.split()[0])
        equal('passing()', of(run.report().data, 'passing'), {})
        check(times <= pages['unseen'] < times + 100, '{} of {}', pages['unseen'], times)
        has(run.report().data, 'made_for_others', allocations=1000)
    with tap.test('what is in memory, if the kernel tells'):
        check(pages['resident_bytes'] is None or 0 <= pages['huge_bytes'] <= pages['resident_bytes'] > 0, '{}', pages)


def threads_recorded(tap, program):
    """By others, from their start on: to record them the C library is asked where their stack is, and allocates, with a
    lock held."""
    for option in ('--threads', '--sample', '--io', '--functions'):
        with tap.test('{}: threads begin, and allocate'.format(option)):
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-q', '--memory', option, '-o', directory, '--', program, 'loader'],
                directory=directory,
                limit=60,
            ).ended(ENDS_WITH)
            has(run.report().data, 'made_for_others', bytes=5000000, allocations=1000, freed_bytes=5000000)
            threads(
                harness.run(
                    [harness.FVMPI, 'run', '-q', '--memory', option, '-o', directory + '2', '--', program, 'threads'],
                    directory=directory + '2',
                    limit=60,
                )
                .ended(ENDS_WITH)
                .report()
                .data
            )


def bounds(tap, program):
    with tap.test('a thread asks for its stack before it allocates'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        plain = harness.run([program, 'bounds']).ended(ENDS_WITH)
        run = harness.run(
            [harness.FVMPI, 'run', '-q', '--memory', '-o', directory, '--', program, 'bounds'],
            directory=directory,
            limit=60,
        ).ended(ENDS_WITH)
        equal('output', (run.out, run.out.split()[0]), (plain.out, '1'))


def small_ones(tap, program):
    """Each sample stands for 512 KiB: five standard errors, of the run's own."""
    with tap.test('of small ones, the estimate says so, and is true to within 5 of its errors'):
        report = recorded([program, 'leak', '100', '200000']).report().data
        found = of(report, 'leaked')
        equal('kind', found.get('kind'), 'estimate')
        check(found['live_error_bytes'] and abs(found['live_bytes'] - 2e7) < 5 * found['live_error_bytes'], '{}', found)
    with tap.test('sums are exact all the same'):
        more = report['memory_ranks'][0]['bytes'] - 4e7
        check(0 <= more < 1e5, '{} bytes more', more)
    with tap.test('--memory=exact knows each'):
        has(
            recorded([program, 'leak', '100', '20000'], '--memory=exact').report().data,
            'leaked',
            live_bytes=2000000,
            live_count=20000,
            kind='exact',
        )


SOURCES = (
    (
        'g++',
        'new.cpp',
        'grown',
        50024,
        '#include <vector>\n__attribute__((noinline)) std::vector<char> *grown(int n) { return new std::vector<char>(n); }\nint main() { grown(50000); return 0; }\n',
    ),
    (
        'gfortran',
        'allocate.f90',
        'allocates',
        80000,
        'subroutine allocates(a)\n  real(8), pointer :: a(:)\n  allocate(a(10000))\nend subroutine\nprogram p\n  interface\n    subroutine allocates(a)\n'
        '      real(8), pointer :: a(:)\n    end subroutine\n  end interface\n  real(8), pointer :: a(:)\n  call allocates(a)\n  a(1) = 1\n  print *, a(1)\nend program\n',
    ),
)


def languages(tap):
    for compiler, name, function, wanted, text in SOURCES:
        with tap.test('{}: what {}() allocates'.format(name, function)):
            if not shutil.which(compiler):
                raise harness.Skip('no ' + compiler)
            source = os.path.join(harness.scratch('bin'), name)
            with open(source, 'w') as f:
                f.write(text)
            harness.run([compiler, '-O0', '-g', '-o', source + '.out', source]).ended(0)
            report = recorded([source + '.out'], rc=0).report().data
            total = sum(
                r['live_bytes'] for r in report['memory'] if function in names_of(r) and r['kind'] != 'estimate'
            )
            check(total in (wanted, wanted - 24), '{} bytes, wanted {}', total, wanted)


def other_allocators(tap):
    """One that the program is linked with, by its file: forwarded to, with the same counts."""
    for name in ('libjemalloc.so.2', 'libtcmalloc_minimal.so.4'):
        try:
            program = compiled('other', '-Wl,--no-as-needed', '-l:' + name)
        except Mismatch:
            with tap.test(name):
                raise harness.Skip('it is not there')
            continue
        plain = harness.run([program, 'leak']).ended(ENDS_WITH)
        for option in OPTIONS:
            with tap.test(
                '{}, {}: the program does what it does alone; what is leaked; and it is named'.format(name, option)
            ):
                run = recorded([program, 'leak'], option)
                equal('output', run.out, plain.out)
                report = run.report().data
                has(report, 'leaked', bytes=819200, live_bytes=819200, live_count=100)
                check(name in report['memory_ranks'][0]['allocator'], '{}', report['memory_ranks'])


def slow_allocator(tap):
    """It says itself how long it took. Long calls are all timed; of short ones a few, to within 5 standard errors of
    the run's own, where calls in which others had the processor, of which there are few, may be among them or not."""
    library = os.path.join(harness.scratch('bin'), 'libslow.so')
    harness.run(['cc', '-O1', '-shared', '-fPIC', '-o', library, os.path.join(HERE, 'slow.c')]).ended(0)
    program = compiled('slowed', '-Wl,--no-as-needed', library)
    for what, bytes_each, times in (('short calls', 3000, 8000), ('long calls', 200000, 1000)):
        run = recorded([program, 'leak', str(bytes_each), str(times)])
        report = run.report().data
        (rank,) = report['memory_ranks']
        slow = re.search(r'slow: (\d+) to (\d+) ns, between (\d+)', run.err)
        least, most, between = [int(ns) / 1e9 for ns in slow.groups()]
        with tap.test('time in the allocator, {}: as it says itself'.format(what)):
            margin = 5 * rank['allocator_error_s'] + 0.05 * most  # and what the call itself takes
            check(
                least - margin < rank['allocator_s'] < most + between + margin,
                '{} for {} to {} s, and {} s between',
                rank,
                least,
                most,
                between,
            )
        with tap.test('time in the allocator, {}: by library'.format(what)):
            (own,) = [row for row in report['memory_libraries'] if row['library_path'].endswith('/slowed')]
            (malloc,) = [row for row in report['memory_functions'] if row['function'] == 'malloc']
            if what == 'long calls':  # each one was timed, but those that were drawn are not the same
                check(own['min_s'] >= 2e-5 * 0.99 and own['max_s'] <= malloc['max_s'], '{} {}', own, malloc)
                check(0.8 * malloc['time_s'] <= own['time_s'] <= malloc['time_s'] * 1.01, '{} {}', own, malloc)
                check(own['min_s'] <= own['mean_s'] <= own['max_s'], '{}', own)
            else:  # small ones are sampled
                equal('time of small ones', own['time_s'], None)
        with tap.test('time in the allocator, {}: so many were timed'.format(what)):
            calls = sum(rank[kind + '_calls'] for kind in ('malloc', 'calloc', 'realloc', 'aligned', 'free'))
            if what == 'long calls':
                check(3 * times <= rank['timed_calls'] <= calls, '{}', rank)
            else:
                check(0 < rank['timed_calls'] < calls / 10, '{}', rank)
        with tap.test('time in the allocator, {}: it is named, with who asks for it'.format(what)):
            time_s = report['ranks'][0]['app_time_s']
            # it can't be more than all
            if min(rank['allocator_s'], time_s) - 2 * min(rank['allocator_error_s'], time_s) < 0.03 * time_s:
                raise harness.Skip(
                    'others had the processor in a call that was drawn: the estimate may be anything, and nothing is said'
                )
            equal('findings', [f['name'] for f in report['findings'] if f['name'] == 'allocator'], ['allocator'])
            (found,) = [f for f in report['findings'] if f['name'] == 'allocator']
            check(found['function'] in ('leaked', 'passing'), '{}', found)
            check(0 < found['lost_s'] <= rank['allocator_s'], '{}', found)
    with tap.test('a program that hardly allocates has no such finding'):
        equal(
            'found',
            [f for f in recorded([compiled('known'), 'peak']).report().data['findings'] if f['name'] == 'allocator'],
            [],
        )


def preloaded(directory, *libraries):
    """By hand."""
    return {
        'LD_PRELOAD': harness.in_front(
            *[os.path.join(harness.LIBS, 'libfvmpi-{}.so'.format(name)) for name in libraries]
        ),
        'FVMPI_MEMORY': '1',
        'FVMPI_OUTPUT': directory,
        'FVMPI_QUIET': '1',
    }


def killed(tap, program):
    """Whatever was counted is in the file, at whatever moment."""
    for i in range(4 if LONG else 2):
        with tap.test('killed run {}: what it had'.format(i)):
            directory = os.path.join(harness.scratch('exp'), 'e')
            process = harness.start([program, 'churn'], env=preloaded(directory, 'serial', 'memory'))
            harness.wait_until(lambda: os.path.exists(os.path.join(directory, 'rank-000000.fvr')), what='the rank file')
            time.sleep(0.2 + 0.2 * random.random())
            harness.kill_all(process.number)
            harness.finish(process)
            found = of(harness.profile_of(directory), 'passing')
            # at most 64 objects of up to 16 KiB are live, and one that was just being counted
            check(
                found['allocations'] > 64 and found['live_count'] - 5 * found['live_error_bytes'] / 512 <= 65,
                '{}',
                found,
            )


def unloaded(tap, program):
    with tap.test('without the library of it one line says what to preload'):
        run = harness.run([program, 'peak'], env=preloaded(os.path.join(harness.scratch('exp'), 'e'), 'serial')).ended(
            ENDS_WITH
        )
        equal('lines', len(re.findall(r'libfvmpi-memory\.so is not loaded', run.err)), 1)


def with_mpi(tap, mpi):
    program = mpi.build(KNOWN, '-O1', '-pthread', '-DWITH_MPI', output='memory-known')
    with tap.test('{}: leaks of both ranks, a row for each'.format(mpi)):
        report = recorded(mpi.command(2, [program, 'leak']), rc=0).report().data
        has(report, 'leaked', live_bytes=2 * 819200, live_count=200)
        equal('ranks', [r['rank'] for r in report['memory_ranks']], [0, 1])
    with tap.test('{}: in the archive: the series of each rank, also of two processes that make it'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [
                harness.FVMPI,
                'run',
                '-q',
                '--memory',
                '--trace',
                '-o',
                directory,
                '--',
                *mpi.command(2, [program, 'leak']),
            ],
            directory=directory,
        ).ended(0)
        path = otf2_print.merge(directory)
        said = harness.run(['otf2-print', path]).ended(0).out
        locations = dict(
            re.findall(
                r'^LOCATION +(\d+) +Name: "Memory of rank (\d)" <\d+>, Type: METRIC',
                harness.run(['otf2-print', '-G', path]).ended(0).out,
                re.M,
            )
        )
        equal('ranks', sorted(locations.values()), ['0', '1'])
        for location, rank in locations.items():
            values = [
                int(value)
                for value in re.findall(
                    r'^METRIC +{} +\d+ +Metric: \d+, 1 Value: \("memory allocated" <\d+>; UINT64; (\d+)\)'.format(
                        location
                    ),
                    said,
                    re.M,
                )
            ]
            series = [row for row in run.report().data['memory_series'] if row['rank'] == int(rank)]
            equal('most of rank ' + rank, max(values), max(row['most_bytes'] for row in series))
            equal('last of rank ' + rank, values[-1], series[-1]['last_bytes'])
        several = otf2_print.merge(directory, processes=[mpi.exec] + mpi.options + ['-n', '2'])
        equal(
            'of two processes', harness.run(['otf2-print', several]).ended(0).out.split('\n')[8:], said.split('\n')[8:]
        )


def main():
    tap = harness.Tap()
    harness.patiently()
    program = compiled('known')
    one_process(tap, program)
    calls_in_trace(tap)
    loader(tap, program)
    threads_recorded(tap, program)
    bounds(tap, program)
    small_ones(tap, program)
    languages(tap)
    other_allocators(tap)
    slow_allocator(tap)
    killed(tap, program)
    unloaded(tap, program)
    for mpi in harness.an_mpi(tap):
        with_mpi(tap, mpi)
    tap.done()


main()
