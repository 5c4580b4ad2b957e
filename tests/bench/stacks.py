#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Speedup stacks of small programs, as a table of Markdown:   tests/bench/stacks.py BUILD [N [REPEATS [KIND...]]]

share/examples/ub.c (tiny, rnd, seq) and kernels.c, on 1 and N threads. The stack is of `fvmpi run --stacks=N --solo`, the
shortest of all repetitions. Its estimate of the speedup if nobody waited is held against the oracle: the same program
with its locks and barriers taken out (FREE=1), without fvmpi's --threads. Figures are for people, on a quiet machine;
nothing gates on them."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
UB = os.path.join(HERE, '../../share/examples/ub.c')
KERNELS = os.path.join(HERE, 'kernels.c')
# Each with its words behind the number of threads, and variables.
PROGRAMS = {
    'ub tiny': (UB, 'tiny', ['20', '200', '40000'], {}),
    'ub rnd': (UB, 'rnd', ['20', '200', '40000'], {}),
    'ub seq': (UB, 'seq', ['20', '200', '40000'], {}),
    'cluster': (KERNELS, 'cluster', [], {}),
    'fluid': (KERNELS, 'fluid', [], {}),
    'fluid, one lock': (KERNELS, 'fluid', [], {'MUTEXES': '1'}),
    'ocean': (KERNELS, 'ocean', [], {}),
    'options': (KERNELS, 'options', [], {}),
    'lattice': (KERNELS, 'lattice', [], {}),
    'sort': (KERNELS, 'sort', [], {}),
}
COLUMNS = ('program', 'speedup', 'if nobody waited', 'oracle', 'error', 'waiting', 'imbalance', 'few CPUs', 'overhead',
           'cache', 'memory', 'verdict')  # fmt: skip


def compiled(place):
    made = {}
    for source in (UB, KERNELS):
        made[source] = os.path.join(place, os.path.basename(source)[:-2])
        subprocess.run(['cc', '-O2', '-pthread', source, '-lm', '-o', made[source]], check=True)
    return made


def longest_s(fvmpi, command, environment, place):
    """Time of the thread that takes longest, with locks and barriers taken out."""
    directory = os.path.join(tempfile.mkdtemp(dir=place), 'e')
    subprocess.run(
        [fvmpi, 'run', '-q', '--threads', '--sample=off', '--mpi', 'serial', '-o', directory, *command],
        env={**environment, 'FREE': '1'}, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    said = subprocess.run([fvmpi, 'report', directory, '--json', '-'], check=True, stdout=subprocess.PIPE).stdout
    return max(phase['longest_s'] for phase in json.loads(said)['phases'])


def stack_of(fvmpi, command, environment, place, threads, repeats):
    """The point of the program's phase with so many threads."""
    directory = os.path.join(tempfile.mkdtemp(dir=place), 'e')
    subprocess.run(
        [fvmpi, 'run', '-q', '--stacks={}'.format(threads), '--solo', '--repeats={}'.format(repeats), '--sample=off']
        + ['--mpi', 'serial', '-o', directory, '--', *command],
        env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    runs = [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    runs = [run for run in runs if os.path.isdir(run)]
    said = subprocess.run([fvmpi, 'stacks', *runs, '--json', '-'], check=True, stdout=subprocess.PIPE).stdout
    phases = [of for of in json.loads(said)['speedups'] if of['kind'] == 'threads']
    points = [point for of in phases for point in of['points'] if point['thread_count'] == threads]
    return max(points, key=lambda point: point['useful_s'])


def number(value, form='{:.2f}'):
    return '-' if value is None else form.format(value)


def row(fvmpi, name, made, place, threads, repeats):
    source, kind, words, variables = PROGRAMS[name]
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith('FVMPI_')}, **variables}
    command = lambda n: [made[source], kind, str(n), *words]  # noqa: E731
    point = stack_of(fvmpi, command('{N}'), environment, place, threads, repeats)
    free = [min(longest_s(fvmpi, command(n), environment, place) for _ in range(repeats)) for n in (1, threads)]
    oracle, estimate = free[0] / free[1], point['speedup_waitless']
    lost = [point['lost_to_' + what] for what in ('waiting', 'imbalance', 'few_cpus', 'overhead', 'cache', 'memory')]
    verdict = point['verdict'] if point['separation'] == 'good' else point['verdict'] + ', ' + point['separation']
    error = None if estimate is None else 100 * (estimate / oracle - 1)
    return [
        name,
        *map(number, (point['speedup'], estimate, oracle)),
        number(error, '{:+.1f} %'),
        *map(number, lost),
        verdict,
    ]


def main():
    fvmpi = os.path.join(sys.argv[1], 'fvmpi')
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else len(os.sched_getaffinity(0))
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    model = re.search('model name\\s*: (.*)', open('/proc/cpuinfo').read())
    print('{} threads, shortest of {} runs, on {} ({})\n'.format(threads, repeats, model[1] if model else os.uname().machine,
                                                               time.strftime('%Y-%m-%d')))  # fmt: skip
    print('| ' + ' | '.join(COLUMNS) + ' |\n' + '|---' * len(COLUMNS) + '|')
    with tempfile.TemporaryDirectory() as place:
        made = compiled(place)
        for name in sys.argv[4:] or PROGRAMS:
            print('| ' + ' | '.join(row(fvmpi, name, made, place, threads, repeats)) + ' |', flush=True)


main()
