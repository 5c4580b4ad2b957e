#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What --sample costs packaged programs:   sampling_table.py BUILD LAMMPS-SCRIPT HPCC-INPUT [RESULT.json]

As FVSampler's Table 2: wall time of each program as it is, under `fvmpi run --sample=off`, and under `fvmpi run
--sample=RATE`, alternating; medians, the ratio of the last to the first, and between which ratios the middle half of
the pairs lies. So what recording costs is told apart from sampling; and what each run pays once, for its start and end,
by a program that does nothing. `fvmpi run -q` computes no report. FVMPI_BENCH_PAIRS pairs (7), FVMPI_BENCH_RATE samples
a second of each thread (100), FVMPI_BENCH_SCALE times as much work (1)."""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD, SCRIPT, HPCC_INPUT = sys.argv[1:4]
FVMPI = os.path.join(BUILD, 'fvmpi')
WORK = tempfile.mkdtemp(prefix='fvmpi-bench-')
PAIRS = int(os.environ.get('FVMPI_BENCH_PAIRS', '7'))
RATE = int(os.environ.get('FVMPI_BENCH_RATE', '100'))
SCALE = float(os.environ.get('FVMPI_BENCH_SCALE', '1'))
ENV = {k: v for k, v in os.environ.items() if not k.startswith('FVMPI_')}
ENV.update(FVMPI_LIBDIR=os.path.join(BUILD, '.libs'), OMP_NUM_THREADS='1')
OPENMPI = ['mpiexec.openmpi', '--oversubscribe'] + (['--allow-run-as-root'] if os.getuid() == 0 else []) + ['-n', '2']


def data(name, megabytes):
    """Text that compresses as text does."""
    path = os.path.join(WORK, name)
    rng = random.Random(1)
    words = [''.join(rng.choice('etaoinshrdlu') for _ in range(rng.randint(2, 9))) for _ in range(5000)]
    line = ' '.join(rng.choice(words) for _ in range(20000)) + '\n'
    with open(path, 'w') as f:
        while f.tell() < megabytes * 1e6 * SCALE:
            at = rng.randrange(len(line))
            f.write(line[at:] + line[:at])
    return path


def compress():
    return ['pbzip2', '-k', '-f', '-p2', data('text', 40)]


def recovery():
    for name in os.listdir(WORK):
        if name.startswith('recovery'):
            os.unlink(os.path.join(WORK, name))
    path = os.path.join(WORK, 'blocks')
    if not os.path.exists(path):
        data('blocks', 8)
    return ['par2', 'create', '-q', '-q', '-r20', 'recovery.par2', 'blocks']


def lammps():
    return ['lmp', '-in', SCRIPT, '-var', 'steps', str(int(600 * SCALE)), '-log', 'none']


def hpcc():
    shutil.copy(HPCC_INPUT, os.path.join(WORK, 'hpccinf.txt'))
    return ['hpcc']


def python():
    return [
        sys.executable,
        '-c',
        'import heapq, random\nfor n in range({}):\n    v = [random.random() for _ in range(20000)]\n'
        '    heapq.heapify(v)\n    sorted(v, key=lambda x: -x)\n'.format(int(120 * SCALE)),
    ]


def nothing():
    return ['true']


# name, program, languages, how it is parallel, launcher, threads, command
PROGRAMS = [
    ('LAMMPS', 'lmp', 'C++', 'MPI', OPENMPI, 1, lammps),
    ('HPCC', 'hpcc', 'C', 'MPI', OPENMPI, 1, hpcc),
    ('pbzip2', 'pbzip2', 'C++', 'Pthreads', [], 1, compress),
    ('par2', 'par2', 'C++', 'OpenMP', [], 2, recovery),
    ('Python', 'python3', 'C', '-', [], 1, python),
    ('nothing', 'true', '-', '-', [], 1, nothing),
]


def seconds(command, environment):
    begin = time.monotonic()
    done = subprocess.run(
        command,
        env=environment,
        cwd=WORK,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        timeout=600,
    )
    if done.returncode:
        raise RuntimeError('{}: {}'.format(' '.join(command)[:200], done.stdout[-500:]))
    return time.monotonic() - begin


def row(name, language, model, launcher, threads, command):
    environment = dict(ENV, OMP_NUM_THREADS=str(threads))
    directory = os.path.join(WORK, 'exp')
    fvmpi = [FVMPI, 'run', '-q', '-o', directory] + (['--mpi', 'openmpi'] if launcher else ['--mpi', 'serial'])
    without, recorded, sampled = [], [], []
    words = command()
    for _ in range(PAIRS):
        if command is recovery:
            command()  # its files are in the way
        without.append(seconds(launcher + words, environment))
        for times, sample in ((recorded, 'off'), (sampled, RATE)):
            if command is recovery:
                command()
            shutil.rmtree(directory, ignore_errors=True)
            times.append(seconds(launcher + fvmpi + ['--sample={}'.format(sample)] + words, environment))
    ratios = sorted(b / a for a, b in zip(without, sampled))
    return {
        'program': name,
        'language': language,
        'parallel': model,
        'pairs': PAIRS,
        'samples_per_second': RATE,
        'without_s': without,
        'recorded_s': recorded,
        'sampled_s': sampled,
        'recorded_median_s': statistics.median(recorded),
        'without_median_s': statistics.median(without),
        'sampled_median_s': statistics.median(sampled),
        'ratio': statistics.median(sampled) / statistics.median(without),
        'ratio_low': ratios[len(ratios) // 4],
        'ratio_high': ratios[3 * len(ratios) // 4],
    }


def main():
    rows = []
    print(
        '  {} samples/s of each thread, wall time, median of {} pairs; in brackets the middle half of the ratios of pairs'.format(
            RATE, PAIRS
        )
    )
    print(
        '  {:<10} {:<8} {:<9} {:>10} {:>12} {:>10} {:>7}'.format(
            'program', 'language', 'parallel', 'without', '--sample=off', '--sample', 'ratio'
        )
    )
    for name, program, language, model, launcher, threads, command in PROGRAMS:
        if not shutil.which(program):
            print('  {:<10} not installed'.format(name))
            continue
        try:
            r = row(name, language, model, launcher, threads, command)
        except (RuntimeError, subprocess.TimeoutExpired) as why:
            print('  {:<10} {}'.format(name, str(why).replace('\n', ' ')[:200]))
            continue
        rows.append(r)
        print(
            '  {:<10} {:<8} {:<9} {:>8.2f} s {:>10.2f} s {:>8.2f} s {:>6.3f}x ({:.3f} .. {:.3f})'.format(
                name,
                language,
                model,
                r['without_median_s'],
                r['recorded_median_s'],
                r['sampled_median_s'],
                r['ratio'],
                r['ratio_low'],
                r['ratio_high'],
            ),
            flush=True,
        )
    if rows:
        print(
            '  {:<10} {:<8} {:<9} {:>10} {:>12} {:>10} {:>6.3f}x   the paper, of 17 programs at 30/s: 1.06x'.format(
                'median', '', '', '', '', '', statistics.median(r['ratio'] for r in rows if r['program'] != 'nothing')
            )
        )
    if len(sys.argv) > 4:
        with open(sys.argv[4], 'w') as f:
            json.dump(rows, f, indent=1)
            f.write('\n')
        print('  {}'.format(sys.argv[4]))


try:
    main()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
