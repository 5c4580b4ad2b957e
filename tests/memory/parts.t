#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it has an allocator of its own.
"""Parts of what --memory records: calls by function with their sizes and times, by library, by section, and what the
process has from the system. A program of known calls; and one that a signal handler ends in the allocator."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

SOURCE = os.path.join(os.path.dirname(os.path.dirname(HERE)), 'src')
GIVE = (
    '#include <stdlib.h>\nvoid *give(unsigned long bytes);\nvoid *give(unsigned long bytes) { return malloc(bytes); }\n'
)
MIB = 1 << 20
SIZES = 'smallest_bytes', 'mean_bytes', 'largest_bytes'
CHAIN = sum(k * 100 for k in range(1, 501))  # that realloc() asks for, once around


def build():
    directory = harness.scratch('bin')
    source, library, program = (os.path.join(directory, name) for name in ('give.c', 'libgive.so', 'parts'))
    with open(source, 'w') as f:
        f.write(GIVE)
    harness.run(['cc', '-O0', '-g', '-shared', '-fPIC', source, '-o', library]).ended(0)
    harness.run(
        ['cc', '-O1', '-g', '-pthread', '-I', SOURCE, os.path.join(HERE, 'parts.c'), '-o', program]
        + ['-L', directory, '-lgive', '-ldl', '-Wl,-rpath,' + directory]
    ).ended(0)
    return program


def recorded(program, option, *arguments, rc=0):
    directory = os.path.join(harness.scratch('exp'), 'e')
    command = [harness.FVMPI, 'run', '-q', option, '-o', directory, '--', program, *arguments]
    return harness.run(command, directory=directory, limit=60).ended(rc)


def functions(report):
    """Counts and sizes of each; of times what follows from their being times of some of these calls."""
    rows = {row['function']: row for row in report['memory_functions']}
    wanted = {  # calls, failed, bytes, smallest, largest
        'malloc': (205, 0, 3 * MIB + 200 * 10000 + 80000, 10000, MIB),
        'calloc': (1, 1, 100, 100, 100),
        'realloc': (1500, 0, 3 * CHAIN, 100, 50000),
        'aligned_alloc': (1, 0, 640, 640, 640),
    }
    for name, numbers in wanted.items():
        keys = 'calls', 'failed_calls', 'bytes', 'smallest_bytes', 'largest_bytes'
        equal(name, tuple(rows[name][key] for key in keys), numbers)
        check(abs(rows[name]['mean_bytes'] - numbers[2] / numbers[0]) < 1e-6 * numbers[2], '{}: {}', name, rows[name])
    check(
        3 <= rows['free']['calls'] < 10 and rows['free']['bytes'] >= 3 * MIB,
        'free, some of libraries: {}',
        rows['free'],
    )
    check(MIB <= rows['free']['largest_bytes'] < MIB + 8192, 'as the allocator rounds it up: {}', rows['free'])
    equal('functions', sorted(rows), sorted([*wanted, 'free']))
    for name, row in rows.items():
        check(row['timed_calls'] <= row['calls'] + row['failed_calls'], '{}: {}', name, row)
        equal(name + ' was timed', row['min_s'] is not None, row['timed_calls'] > 0)
        if row['timed_calls']:
            check(0 <= row['min_s'] <= row['max_s'], '{}: {}', name, row)
        if row['time_s'] is not None:  # else its only calls whose time was taken are large
            check((row['max_s'] or 0) <= row['time_s'] * (1 + 1e-6), '{}: {}', name, row)
            all_calls = row['calls'] + row['failed_calls']
            check(abs(row['mean_s'] * all_calls - row['time_s']) <= 1e-6 * row['time_s'], '{}: {}', name, row)
    check(rows['malloc']['timed_calls'] >= 3 and rows['free']['timed_calls'] >= 3, 'large ones are timed: {}', rows)
    whole = report['memory_ranks'][0]
    equal('in all', sum(row['calls'] for row in rows.values() if row['function'] != 'free'), 205 + 1 + 1500 + 1)
    equal('of the rank', (whole['malloc_calls'], whole['realloc_calls'], whole['aligned_calls']), (205, 1500, 1))
    equal('frees', whole['free_calls'], rows['free']['calls'] + 1499)


def sections(report):
    """What the thread did in each, and what the process had before and after."""
    rows = {(row['section'], row['number']): row for row in report['memory_sections']}
    grow, heap, shrink = rows['grow', 0], rows['heap', 1], rows['shrink', 2]
    work = 'count', 'allocations', 'bytes', 'frees'
    equal('grow', tuple(grow[key] for key in work), (3, 1503, 3 * MIB + 3 * CHAIN, 1499))
    equal('heap', tuple(heap[key] for key in work), (1, 200, 2000000, 0))
    equal('shrink', tuple(shrink[key] for key in work), (1, 0, 0, 3))
    check(3 * MIB < grow['grown_bytes'] <= 3 * MIB + (1 << 17), '{}', grow)
    check(-3 * MIB - (1 << 14) < shrink['grown_bytes'] <= -3 * MIB, '{}', shrink)
    sizes = {name: tuple(row[key] and round(row[key], 6) for key in SIZES) for (name, _), row in rows.items()}
    equal('sizes', sizes['grow'], (100, round((3 * MIB + 3 * CHAIN) / 1503, 6), MIB))
    equal('sizes', sizes['heap'], (10000, 10000, 10000))
    equal('nothing is allocated', sizes['shrink'], (None, None, None))
    equal('one within another', sizes['first'], (100, 80100 / 3, 50000))
    equal('that ends behind it', sizes['second'], (640, 80640 / 3, 50000))
    for row in rows.values():
        equal(row['section'] + ': times', row['min_s'] is None, row['max_s'] is None)
        check(row['min_s'] is None or 0 <= row['min_s'] <= row['max_s'], '{}', row)
        if row['mean_s'] is not None:
            check((row['max_s'] or 0) <= row['allocator_s'] * (1 + 1e-6), 'the longest is part of all: {}', row)
        # between instances nothing is allocated
        equal(row['section'], row['end_live_bytes'] - row['begin_live_bytes'], row['grown_bytes'])
        equal(row['section'], row['end_heap_bytes'] - row['begin_heap_bytes'], row['heap_grown_bytes'])
        check((row['allocator_s'] is None) or row['allocator_s'] >= 0, '{}', row)
    check(2000000 - (1 << 18) < heap['heap_grown_bytes'] < 2000000 + (1 << 18), '{}', heap)
    equal('mappings', [row['end_chunks'] - row['begin_chunks'] for row in (grow, heap, shrink)], [3, 0, -3])
    check(3 * MIB < grow['end_mapped_bytes'] - grow['begin_mapped_bytes'] < 3 * MIB + (1 << 17), '{}', grow)
    for row, calls in ((grow, 1503), (shrink, 3)):  # a realloc() is one call
        if row['mean_s'] is not None:
            check(abs(row['mean_s'] * calls - row['allocator_s']) <= 1e-6 * row['allocator_s'], '{}: {}', calls, row)
    check(grow['max_s'] > 0 and shrink['max_s'] > 0, 'large ones are timed: {} {}', grow, shrink)
    check(grow['allocator_s'] > 0 and shrink['allocator_s'] > 0, 'time of large ones: {} {}', grow, shrink)


def libraries(report):
    """By whose code called."""
    rows = {os.path.basename(row['library_path'] or ''): row for row in report['memory_libraries']}
    equal('libgive.so', (rows['libgive.so']['bytes'], rows['libgive.so']['allocations']), (80000, 2))
    equal('sizes', tuple(rows['libgive.so'][key] for key in SIZES), (30000, 40000, 50000))
    equal('rows', sum(row['bytes'] for row in rows.values()), sum(row['bytes'] for row in report['memory']))


def system(report):
    (row,) = report['memory_system']
    equal('chunks', row['end_chunks'] - row['begin_chunks'], 0)
    check(row['end_heap_bytes'] >= row['begin_heap_bytes'] + 2000000 - (1 << 18), '{}', row)
    if row['end_arena_bytes'] is None:
        raise harness.Skip('the C library has no mallinfo2()')
    equal('arenas', row['end_used_bytes'] + row['end_free_bytes'], row['end_arena_bytes'])
    check(2000000 < row['end_used_bytes'] <= row['end_arena_bytes'] <= row['end_heap_bytes'], '{}', row)
    check(row['end_top_bytes'] <= row['end_free_bytes'] and row['end_free_chunks'], '{}', row)


def new(tap):
    """C++'s new is of who says it, not of its library."""
    with tap.test("C++'s new counts for the program"):
        source = os.path.join(harness.scratch('bin'), 'new.cpp')
        with open(source, 'w') as f:
            f.write('int *volatile p; int main() { p = new int[50000]; return 0; }\n')
        harness.run(['g++', '-O0', '-g', source, '-o', source + '.out']).ended(0)
        rows = recorded(source + '.out', '--memory').report().data['memory_libraries']
        equal('new', [row['bytes'] for row in rows if row['library_path'].endswith('new.cpp.out')], [200000])


def ended_inside(tap, program):
    with tap.test('a handler that interrupts the allocator calls exit(): it ends, glibc is not asked'):
        unasked = 0
        for i in range(12):
            run = recorded(program, '--memory', 'exits', str(3000 + 777 * i), rc=3)
            (row,) = run.report().data['memory_system']
            unasked += row['end_arena_bytes'] is None
        check(unasked, 'the handler never came while the program allocated')


def nodes(tap):
    """A stand-in for a machine with two NUMA nodes, a processor each. Its numa_maps says where stacks really are."""
    with tap.test('memory of a thread on another NUMA node: which, whose, and what to do'):
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if len(cpus) < 2:
            raise harness.Skip('there is one processor')
        root = harness.scratch('root')
        files = {'online': '0-1\n', 'node0/cpulist': '{}\n'.format(cpus[0]), 'node1/cpulist': '{}\n'.format(cpus[1])}
        for name, text in files.items():
            path = os.path.join(root, 'sys/devices/system/node', name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w') as f:
                f.write(text)
        os.makedirs(os.path.join(root, 'proc/self'))
        program = os.path.join(harness.scratch('bin'), 'nodes')
        harness.run(['cc', '-O1', '-g', '-pthread', os.path.join(HERE, 'nodes.c'), '-o', program]).ended(0)
        directory = os.path.join(harness.scratch('exp'), 'e')
        command = [harness.FVMPI, 'run', '-q', '--memory', '-o', directory, '--', program]
        command += [str(cpu) for cpu in cpus] + [os.path.join(root, 'proc/self/numa_maps')]
        run = harness.run(command, directory=directory, env={'FVMPI_SENSORS_ROOT': root}).ended(0)
        report = run.report().data
        keys = 'memory_kind', 'node', 'near_bytes', 'far_bytes', 'far_node'
        page = 4096
        equal(
            'places',
            sorted(tuple(row[key] for key in keys) for row in report['memory_places']),
            sorted(
                [
                    ('stack', 0, 10 * page, 0, None),
                    ('heap', 0, 20000 * page, 100 * page, 1),
                    ('stack', 1, 2 * page, 50 * page, 0),
                    ('heap', 1, 100 * page, 20000 * page, 0),
                ]
            ),
        )
        found = [f for f in report['findings'] if f['name'] == 'far_memory']
        equal('findings', [f['text'].split(' of ')[0] for f in found], ['the heap', 'the stack'])
        check(all('ran on node 1' in f['text'] and 'mostly on node 0' in f['text'] for f in found), '{}', found)
        check('interleave' in str(found[0]) and 'localalloc' in str(found[1]), 'remedies: {}', found)
    with tap.test('... no rows where there is one node'):
        with open(os.path.join(root, 'sys/devices/system/node/online'), 'w') as f:
            f.write('0\n')
        command[command.index('-o') + 1] = directory + '2'
        run = harness.run(command, directory=directory + '2', env={'FVMPI_SENSORS_ROOT': root}).ended(0)
        equal('places', run.report().data['memory_places'], [])


def main():
    tap = harness.Tap()
    program = build()
    for option in ('--memory', '--memory=exact', '--memory=calls'):
        report = recorded(program, option).report().data
        for test in (functions, sections, libraries, system):
            with tap.test('{}: {}'.format(option, test.__name__)):
                test(report)
    with tap.test('the text has them'):
        said = harness.run([harness.FVMPI, 'report', recorded(program, '--memory').directory]).ended(0).out
        for title in ('Calls of the allocator', 'Memory by library', 'Memory by section', 'Memory from the system'):
            check(title in said, '{} is not in: {}', title, said)
        check("operator new" not in said or 'libc.so' not in said, 'glibc has no operator new: {}', said)
    new(tap)
    ended_inside(tap, program)
    nodes(tap)
    tap.done()


main()
