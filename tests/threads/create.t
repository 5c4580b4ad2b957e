#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it does not support small stacks or the cancellation of threads.
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""pthread_create(): threads are recorded from their start on when samples or locks are wanted, and what the program
sees of its threads stays as it is."""
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
import samples
from report import check, equal


def main():
    tap = harness.Tap()
    program, classes = threads.build('create.c', '-fopenmp'), threads.build('create.cpp')
    plain, plain_classes = harness.run([program]).ended(0).out, harness.run([classes]).ended(0).out
    for options in ([], ['--sample'], ['--threads'], ['--sample=1000', '--threads=hold,owner']):
        with tap.test('the same output, {}'.format(' '.join(options) or 'no option')):
            run = threads.record([program], *options).ended(0)
            # a thread prints before who made it, or after
            equal('output', sorted(run.out.splitlines()), sorted(plain.splitlines()))
            equal('output of C++', threads.record([classes], *options).ended(0).out, plain_classes)
            slots = harness.dumped(run.directory, 'threads')
            if options:
                check(sum(int(s['threads']) for s in slots) >= 4 + 2 + 20 + 1 + 20 + 2, 'threads: {}', slots)
                check(len(slots) < 30, 'slots of ended threads are used again: {}', len(slots))
            else:
                equal('threads', len(slots), 1)
    with tap.test('threads that call no MPI are sampled'):
        run = threads.record([program, '0.2'], '--sample=500')
        if 'no samples are taken' in run.err:
            raise harness.Skip(run.err.strip())
        (rank,) = samples.read(run.ended(0).directory)
        in_worker = [n for path, n in rank.costs.items() if 'worker' in path]
        check(sum(in_worker) > 200, 'ticks below worker: {} of {}', sum(in_worker), sum(rank.costs.values()))
        check(sum(1 for s in rank.samplers if s['ticks'] > 40) >= 4, 'samplers: {}', rank.samplers)
        check(all('trampoline' not in path for path in rank.costs), 'paths: {}', list(rank.costs))
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: threads of a rank, and none of MPI itself'.format(mpi)):
            program = threads.build('create_mpi.c', compiler=mpi.cc, output='create_mpi.' + str(mpi))
            run = mpi.profile(program, 2, options=['-q', '--sample']).ended(0)
            equal('output', run.out, 'sum 6\n')
            slots = harness.dumped(run.directory, 'threads')
            equal('threads', sum(int(s['threads']) for s in slots), 2 * (1 + 3))
        with tap.test('{}: threads from before MPI_Init'.format(mpi)):
            run = mpi.profile(program, 2, options=['-q', '--threads']).ended(0)
            equal('output', run.out, 'sum 6\n')
            slots = harness.dumped(run.directory, 'threads')
            equal('threads', sum(int(s['threads']) for s in slots), 2 * (1 + 1 + 3))
            early = [r for rank in (0, 1) for r in threads.Waits(run.directory, rank).of('early_lock')]
            equal('locks', [(r.acquired, r.names[0]) for r in early], [(5, 'early')] * 2)
            begun = [r for rank in (0, 1) for r in threads.Waits(run.directory, rank).of('begun')]
            equal('last at a barrier where the other has been since before MPI_Init', [r.last for r in begun], [1, 1])
    tap.done()


if __name__ == '__main__':
    main()
