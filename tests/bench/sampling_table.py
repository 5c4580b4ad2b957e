#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What --sample costs 17 programs, as a table of Markdown:   sampling_table.py BUILD LAMMPS-SCRIPT HPCC-INPUT [RESULT.json]

As FVSampler's Table 2: wall time of each program as it is, under `fvmpi run --sample=off`, and under `fvmpi run
--sample=RATE`, alternating; medians, the ratio of the last to the first, and between which ratios the middle half of
the pairs lies. So what recording costs is told apart from sampling; and what each run pays once, for its start and end,
by a program that does nothing. `fvmpi run -q` computes no report. FVMPI_BENCH_PAIRS pairs (7), FVMPI_BENCH_RATE samples
a second of each thread (100), FVMPI_BENCH_SCALE times as much work (1), FVMPI_BENCH_PROGRAMS=NAME,NAME: these alone."""
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
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
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


def archive():
    return ['xz', '-k', '-f', '-T2', '-3', '--block-size=2MiB', data('text', 40)]


def ours(source, *words, compiler='cc'):
    """A program of the sources, compiled once. The last of its words, if there are any, is how much it does."""

    def command():
        program = os.path.join(WORK, os.path.basename(source).replace('.', '-'))
        if not os.path.exists(program):
            flags = ['-pthread', '-lm'] if compiler == 'cc' else ['-lm']
            subprocess.run([compiler, '-O2', os.path.join(SOURCE, source), '-o', program, *flags], check=True)
        return [program, *words[:-1], *(str(int(int(word) * SCALE)) for word in words[-1:])]

    return command


def kernel(kind, rounds):
    return ('kernel ' + kind, 'cc', 'C', 'Pthreads', [], 1, ours('tests/bench/kernels.c', kind, '2', rounds))


def ub(kind, locks):
    return ('ub ' + kind, 'cc', 'C', 'Pthreads', [], 1, ours('share/examples/ub.c', kind, '2', '60', '200', locks))


# name, program, languages, how it is parallel, launcher, threads, command
PROGRAMS = [
    ('LAMMPS', 'lmp', 'C++', 'MPI', OPENMPI, 1, lammps),
    ('HPCC', 'hpcc', 'C', 'MPI', OPENMPI, 1, hpcc),
    ('pbzip2', 'pbzip2', 'C++', 'Pthreads', [], 1, compress),
    ('par2', 'par2', 'C++', 'OpenMP', [], 2, recovery),
    ('Python', 'python3', 'C', '-', [], 1, python),
    ('heat.c', 'mpicc.openmpi', 'C', 'MPI', OPENMPI, 1, ours('share/examples/heat.c', compiler='mpicc.openmpi')),
    (
        'heat.f90',
        'mpifort.openmpi',
        'Fortran',
        'MPI',
        OPENMPI,
        1,
        ours('share/examples/heat.f90', compiler='mpifort.openmpi'),
    ),
    ('xz', 'xz', 'C', 'Pthreads', [], 1, archive),
    ub('tiny', '40000'),
    ub('rnd', '40000'),
    ub('seq', '40000'),
    kernel('cluster', '6000'),
    kernel('fluid', '3000'),
    kernel('ocean', '20000'),
    kernel('options', '1500'),
    kernel('lattice', '300'),
    kernel('sort', '300'),
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


HEAD = ('program', 'language', 'parallel by', 'without', '`--sample=off`', '`--sample`', 'ratio')


def line(r):
    launched = {'MPI': 'MPI, 2 ranks'}.get(r['parallel'], r['parallel'])
    times = ['{:.2f} s'.format(r[key + '_median_s']) for key in ('without', 'recorded', 'sampled')]
    ratio = '{:.2f} ({:.2f} to {:.2f})'.format(r['ratio'], r['ratio_low'], r['ratio_high'])
    return '| {} |'.format(' | '.join([r['program'], r['language'], launched, *times, ratio]))


def measured(programs):
    for name, program, language, model, launcher, threads, command in programs:
        if not shutil.which(program):
            print('{}: not installed'.format(name), file=sys.stderr)
            continue
        try:
            yield row(name, language, model, launcher, threads, command)
        except (RuntimeError, subprocess.SubprocessError) as why:
            print('{}: {}'.format(name, str(why).replace('\n', ' ')[:200]), file=sys.stderr)


def main():
    wanted = os.environ.get('FVMPI_BENCH_PROGRAMS')
    programs = [of for of in PROGRAMS if not wanted or of[0] in wanted.split(',')]
    rows = []
    print('{} samples/s of each thread, wall time, medians of {} pairs; in parentheses the middle half of the ratios of '
          'pairs\n'.format(RATE, PAIRS))  # fmt: skip
    print('| {} |\n{}|'.format(' | '.join(HEAD), '|---' * len(HEAD)))
    for r in measured(programs):
        rows.append(r)
        print(line(r), flush=True)
    ratios = [r['ratio'] for r in rows if r['program'] != 'nothing']
    if ratios:
        print('\nmedian of {} programs: {:.3f}, from {:.3f} to {:.3f}; the paper, of 17 programs at 30/s: 1.06, from 1.00 '
              'to 1.12'.format(len(ratios), statistics.median(ratios), min(ratios), max(ratios)))  # fmt: skip
    if len(sys.argv) > 4:
        with open(sys.argv[4], 'w') as f:
            json.dump(rows, f, indent=1)
            f.write('\n')
        print(sys.argv[4])


try:
    main()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
