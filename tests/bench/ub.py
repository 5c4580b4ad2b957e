#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How well a speedup stack's estimate "if nobody waited" fits: against the same program with its locks and barriers
taken out.   tests/bench/ub.py BUILD [N [REPEATS]]

share/examples/ub.c, kinds tiny, rnd and seq, on 1 and N threads; of each time the least of all repetitions. Figures are
for people, on a quiet machine; nothing gates on them."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def times(fvmpi, command, threads, is_free, place):
    """Of its phase: the longest thread, and without waits, in seconds."""
    directory = tempfile.mkdtemp(dir=place)
    subprocess.run(
        [fvmpi, 'run', '-q', '--threads', '--mpi', 'serial', '-o', directory + '/e'] + command,
        env=dict(os.environ, FREE=str(int(is_free))),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    phase = json.loads(
        subprocess.run([fvmpi, 'report', directory + '/e', '--json', '-'], check=True, stdout=subprocess.PIPE).stdout
    )['phases'][0]
    return phase['longest_s'], phase['longest_waitless_s']


def main():
    fvmpi, threads, repeats = (
        os.path.join(sys.argv[1], 'fvmpi'),
        int(sys.argv[2]) if len(sys.argv) > 2 else len(os.sched_getaffinity(0)),
        int(sys.argv[3]) if len(sys.argv) > 3 else 7,
    )
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, 'ub')
        subprocess.run(
            ['cc', '-O2', '-pthread', os.path.join(HERE, '../../share/examples/ub.c'), '-o', program], check=True
        )
        print(
            '{} threads, least of {}\n{:6} {:>9} {:>9} {:>9} {:>9} {:>8}'.format(
                threads, repeats, 'kind', 'T1 ms', 'speedup', 'no waits', 'oracle', 'error'
            )
        )
        for kind in ('tiny', 'rnd', 'seq'):

            def least(count, is_free):
                words = [program, kind, str(count), '20', '200', '40000']
                found = [times(fvmpi, words, count, is_free, place) for _ in range(repeats)]
                return [min(of) for of in zip(*found)]

            (one, _), (longest, waitless), (one_free, _), (free, _) = (
                least(1, False),
                least(threads, False),
                least(1, True),
                least(threads, True),
            )
            print(
                '{:6} {:9.1f} {:9.2f} {:9.2f} {:9.2f} {:8.1%}'.format(
                    kind,
                    one * 1e3,
                    one / longest,
                    one / waitless,
                    one_free / free,
                    (one / waitless) / (one_free / free) - 1,
                )
            )


main()
