#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What sampling costs:   sampler_bench.py BUILD PROGRAM [LAMMPS-SCRIPT]

CPU time of the same work with and without --sample, in alternating pairs: the median of the pairs' differences, and
from where to where the middle half of them reaches. Both run under fvmpi, so that the difference is sampling alone."""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

BUILD, PROGRAM = sys.argv[1:3]
SCRIPT = sys.argv[3] if len(sys.argv) > 3 else None
FVMPI = os.path.join(BUILD, 'fvmpi')
WORK = tempfile.mkdtemp(prefix='fvmpi-bench-')
PAIRS = int(os.environ.get('FVMPI_BENCH_PAIRS', '7'))
ENV = dict(os.environ, FVMPI_LIBDIR=os.path.join(BUILD, '.libs'), OMP_NUM_THREADS='1')


class Run:
    def __init__(self, command, rate, launcher=()):
        self.directory = os.path.join(WORK, 'exp')
        shutil.rmtree(self.directory, ignore_errors=True)
        options = ['--sample={}'.format(rate)] if rate else []
        if not launcher:
            options += ['--mpi', 'serial']
        begin = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        done = subprocess.run(
            list(launcher) + [FVMPI, 'run', '-q', '-o', self.directory] + options + command,
            env=ENV,
            cwd=WORK,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=300,
        )
        self.total = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - begin
        self.out, self.err = done.stdout, done.stderr
        if done.returncode:
            sys.exit('sampler_bench: {}: {}'.format(' '.join(command), done.stderr[-500:]))

    def samplers(self):
        """Sums over threads."""
        text = subprocess.run(
            [FVMPI, 'dump', self.directory], stdout=subprocess.PIPE, universal_newlines=True, env=ENV
        ).stdout
        sums = {}
        for line in text.splitlines():
            if line.startswith('sampler '):
                for key, value in re.findall(r'(\w+)=(\d+)', line):
                    sums[key] = sums.get(key, 0) + int(value)
        return sums


def quartiles(values):
    values = sorted(values)
    return values[len(values) // 4], statistics.median(values), values[(3 * len(values)) // 4]


def of_program(what, rate, millions=1000, pairs=PAIRS):
    """CPU times, counts and memory of pairs of runs."""
    found = []
    for _ in range(pairs):
        plain = Run([PROGRAM, what, str(millions)], 0).out.split()
        run = Run([PROGRAM, what, str(millions)], rate)
        sampled = run.out.split()
        found.append((float(plain[0]), float(sampled[0]), run.samplers(), int(sampled[1]) - int(plain[1])))
    return found


def least(runs):
    return min(r[1] for r in runs) - min(r[0] for r in runs)


def row(name, low, median, high, unit, note=''):
    print(
        '  {:<34} {:8.1f} {:<3} ({:.1f} .. {:.1f}){}'.format(
            name, median, unit, low, high, '   ' + note if note else ''
        )
    )


def costs():
    spin = of_program('spin', 1000)
    if not spin[0][2].get('ticks'):
        print('  SKIP: ' + (Run([PROGRAM, 'spin', '1'], 100).err.strip() or 'nothing was sampled'))
        return False
    tick = quartiles([(with_ - without) * 1e6 / c['ticks'] for without, with_, c, _ in spin])
    calls = of_program('calls', 1000)
    least_tick = least(spin) * 1e6 / spin[-1][2]['ticks']
    rest = [((with_ - without) * 1e6 - tick[1] * c['ticks'], c) for without, with_, c, _ in calls]
    print('  each, CPU time at 1000 samples/s, 8 frames (median of {} pairs, and the middle half)'.format(PAIRS))
    row(
        'tick, call path counted',
        *tick,
        'us',
        'of the fastest runs {:.1f}; the paper: 44 us a sample'.format(least_tick),
    )
    row('trap, what it does included', *quartiles([us / c['traps'] for us, c in rest]), 'us', 'the paper: 11 us')
    told = calls[-1][2]
    row(
        'instance, all of its traps',
        *quartiles([us / c['returns'] for us, c in rest]),
        'us',
        'of the fastest runs {:.1f}'.format((least(calls) * 1e6 - least_tick * told['ticks']) / told['returns']),
    )
    print(
        '  by its own account: {:.1f} us a tick or trap, {:.1f} traps an instance'.format(
            told['tool_ns'] / 1e3 / (told['ticks'] + told['traps']), told['traps'] / told['returns']
        )
    )
    memory = [m for _, _, _, m in of_program('mix', 100, 300, 3)]
    print('  memory of a sampled thread, resident: {:+.0f} KiB   the paper: 7 MB'.format(statistics.median(memory)))
    return True


def overheads():
    print(
        '  whole programs, CPU time, sampling against not (median of {} pairs, and the middle half); the paper: 6 % at 30/s'.format(
            PAIRS
        )
    )
    lmp = shutil.which('lmp') if SCRIPT else None
    launcher = []
    if lmp:
        # more would wait for each other, with the CPU busy
        launcher = ['mpiexec.openmpi', '--oversubscribe', '--bind-to', 'none', '-n', '1']
        if os.getuid() == 0:
            launcher.insert(1, '--allow-run-as-root')
    for rate in (30, 100, 250, 1000):
        row(
            'functions of 10 us to 1 ms, {}/s'.format(rate),
            *quartiles([(b / a - 1) * 100 for a, b, _, _ in of_program('mix', rate)]),
            '%',
        )
    for rate in (30, 100, 250, 1000) if lmp else ():
        command = [lmp, '-in', SCRIPT, '-var', 'steps', '60', '-log', 'none']
        ratios = []
        for _ in range(PAIRS):
            plain = Run(command, 0, launcher=launcher).total
            ratios.append((Run(command, rate, launcher=launcher).total / plain - 1) * 100)
        row('LAMMPS on 1 rank, {}/s'.format(rate), *quartiles(ratios), '%')
    if not lmp:
        print('  LAMMPS is not installed')


try:
    print('\nsampling')
    if costs():
        overheads()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
