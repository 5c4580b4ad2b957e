#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi beside other tools on the same programs, as tables of Markdown:   peers.py BUILD

Tools are those that Debian packages (eztrace, heaptrack): which is not installed is said. Runs of all alternate, so that
what the machine does meets each alike, and the least of each counts. Calls: mpi_bench.c, one rank, call paths of 8
frames, ns more than without a tool; EZTrace 2.0 crashes in its MPI_Testany, behind these. Messages: ring.c, 2 ranks,
time of its loop. Allocations: libc_bench.c, ns per malloc() and free(). FVMPI_BENCH_RUNS runs of each (7), FVMPI_BENCH_ROUNDS of the ring (300,000)."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
FVMPI = os.path.join(BUILD, 'fvmpi')
WORK = tempfile.mkdtemp(prefix='fvmpi-peers-')
RUNS = int(os.environ.get('FVMPI_BENCH_RUNS', '7'))
ROUNDS = os.environ.get('FVMPI_BENCH_ROUNDS', '300000')
OUT = os.path.join(WORK, 'out')
MPIEXEC = ['mpiexec.openmpi', '--oversubscribe'] + ['--allow-run-as-root'] * (os.getuid() == 0) + ['-n']
CALLS = {
    'iprobe': ('MPI_Iprobe', 1),
    'allreduce': ('MPI_Allreduce', 1),
    'irecv_send_wait': ('Irecv, Send, Wait, each', 3),
}
# Title, the tool's command before the program, what it has of each call.
MPI = (
    ('plain', [], ''),
    ('fvmpi, profile', [FVMPI, 'run', '-q', '--sample=off', '-o', OUT], 'sums by whole call path'),
    ('fvmpi, profile and clock samples', [FVMPI, 'run', '-q', '-o', OUT], 'sums by whole call path'),
    ('fvmpi, trace', [FVMPI, 'run', '-q', '--sample=off', '--trace', '-o', OUT], 'each call, with its whole call path'),
    ('EZTrace', ['eztrace', '-t', 'openmpi', '-o', OUT], 'each call, without a call path'),
)
ALLOCATIONS = (
    ('plain', [], ''),
    (
        'fvmpi --memory',
        [FVMPI, 'run', '-q', '--sample=off', '--memory', '--mpi', 'serial', '-o', OUT],
        'counts, and places of a sample',
    ),
    (
        'fvmpi --memory=exact',
        [FVMPI, 'run', '-q', '--sample=off', '--memory=exact', '--mpi', 'serial', '-o', OUT],
        'the place of each, exact',
    ),
    ('heaptrack', ['heaptrack', '-r', '-o', os.path.join(OUT, 'log')], 'the place of each, exact'),
)


def compiled(command, source, *options):
    program = os.path.join(WORK, source[:-2])
    subprocess.run([command, '-O2', '-w', '-o', program, os.path.join(HERE, source), *options], check=True)
    return program


def run_of(command):
    """What it prints, and the size of what it leaves, in bytes."""
    shutil.rmtree(OUT, ignore_errors=True)
    if 'heaptrack' in command:
        os.makedirs(OUT)
    environment = {k: v for k, v in os.environ.items() if not k.startswith('FVMPI_')}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, timeout=300)
    size = sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(OUT) for name in names)
    return done.stdout.decode(errors='replace'), size


def measured(tools, program, launcher, pattern):
    """{title: [(what the pattern finds, bytes)]} of the tools that are here, in turns."""
    here = [tool for tool in tools if not tool[1] or shutil.which(tool[1][0])]
    for title in [title for title, command, _ in tools if command and not shutil.which(command[0])]:
        print('{} is not installed'.format(title))
    results = {title: [] for title, _, _ in here}
    for _ in range(RUNS):
        for title, command, _ in here:
            text, size = run_of(launcher + command + program)
            found = re.findall(pattern, text, re.M)
            if not found:
                sys.exit('{}: {}'.format(title, text))
            results[title].append((found, size))
    return results


def calls():
    runs = measured(MPI, [compiled('mpicc.openmpi', 'mpi_bench.c'), '8'], MPIEXEC + ['1'], r'^([a-z_]+) ([0-9.]+)$')
    least = {
        title: {name: min(float(dict(found)[name]) for found, _ in of) for name in CALLS} for title, of in runs.items()
    }
    print('\n| ns more | {} |\n|---|---|---|---|'.format(' | '.join(name for name, _ in CALLS.values())))
    for title, of in least.items():
        if title != 'plain':
            more = [(of[name] - least['plain'][name]) / count for name, (_, count) in CALLS.items()]
            print('| {} | {} |'.format(title, ' | '.join('{:.0f}'.format(ns) for ns in more)))


def ring():
    results = measured(MPI, [compiled('mpicc.openmpi', 'ring.c'), ROUNDS], MPIEXEC + ['2'], r'^([0-9.]+)$')
    about = {title: has for title, _, has in MPI}
    plain = min(float(found[0]) for found, _ in results['plain'])
    print(
        '\n| {} x Irecv, Isend, Waitall, 2 ranks | loop | times | MB | it has |\n|---|---|---|---|---|'.format(ROUNDS)
    )
    for title, runs in results.items():
        seconds = min(float(found[0]) for found, _ in runs)
        size = statistics.median(size for _, size in runs) / 1e6
        print(
            '| {} | {:.0f} ms | {:.2f} | {:.1f} | {} |'.format(
                title, seconds * 1e3, seconds / plain, size, about[title]
            )
        )


def allocations():
    program = [compiled('gcc', 'libc_bench.c', '-pthread', '-fno-builtin', '-D_GNU_SOURCE'), 'allocations']
    results = measured(ALLOCATIONS, program, [], r'^(?:malloc|\.\.\.).* ([0-9.]+) ns$')
    about = {title: has for title, _, has in ALLOCATIONS}
    print('\n| malloc() and free() | 64 bytes | on two threads | 100 kB | it has |\n|---|---|---|---|---|')
    for title, runs in results.items():
        least = [min(map(float, column)) for column in zip(*[found for found, _ in runs])]
        print('| {} | {} | {} |'.format(title, ' | '.join('{:.0f} ns'.format(ns) for ns in least), about[title]))


try:
    calls()
    ring()
    allocations()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
