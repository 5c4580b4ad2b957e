#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it does not support small stacks or the cancellation of threads.
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""What comes in between does not hang, crash or change a program with --threads: callbacks of the loader, forks,
cancellation, handlers that post or jump away, plugins that go, threads that nobody saw begin."""
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from report import check, equal
from threads import total


def main():
    tap = harness.Tap()
    program = threads.build('interrupted.c')
    runs = {}
    for case in ('callback', 'forks', 'cancel', 'jumps', 'posts', 'unseen', 'nameless'):
        with tap.test('{}: the same as without'.format(case)):
            plain = harness.run([program, case]).ended(0)
            run = threads.record([program, case], '--threads=hold', '--clock=monotonic').ended(0)
            equal('output', (run.out, run.err), (plain.out, ''))
            runs[case] = run
            equal('damages', harness.dumped(run.directory, 'damage'), [])
    with tap.test('a handler that jumps out of what writes the trace: the thread goes on to be recorded'):
        run = threads.record([program, 'jumps'], '--threads', '--trace', '--clock=monotonic').ended(0)
        equal('output', (run.out, run.err), (runs['jumps'].out, ''))
        waits = threads.Waits(run.directory)
        equal('the thread', [life.creator for life in waits.lives if life.routine == 'seen'], [0])
        equal('damages', waits.damages, [])
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: forks, with a handler from before MPI_Init'.format(mpi)):
            ours = threads.build('interrupted.c', '-DWITH_MPI', compiler=mpi.cc, output='interrupted.' + str(mpi))
            run = mpi.profile(ours, 1, ['forks'], ['-q', '--threads']).ended(0)
            equal('output', run.out, runs['forks'].out)
    with tap.test('an allocator that locks, and makes its locks on first use'):
        run = threads.record([threads.build('own_malloc.c', '-fno-builtin')], '--threads').ended(0)
        equal('output', (run.out, run.err), ('allocated\n', ''))
    with tap.test('who has the name of a joined thread is another'):
        waits = threads.Waits(runs['unseen'].directory)
        (life,) = [life for life in waits.lives if life.routine == 'seen']
        check(life.join_end < life.end + 20e6, 'joined at {}, ended at {}', life.join_end, life.end)
    with tap.test('plugins with their locks at one address'):
        plugins = [
            threads.build('plugin.c', '-shared', '-fPIC', '-DLOCK=lock_' + name, *more, output=name + '.so')
            for name, more in (('a', []), ('b', ['-DSHIFTED']))
        ]
        run = threads.record([program] + plugins, '--threads', '--clock=monotonic').ended(0)
        lines = run.out.splitlines()
        if lines[0] != lines[1]:
            raise harness.Skip('the loader gave them different addresses')
        waits = threads.Waits(run.directory)
        for name in 'ab':
            records = waits.of('lock_' + name)
            equal(
                'lock_' + name,
                (total(records, 'acquired'), sorted({n for r in records for n in r.names})),
                (5, ['use']),
            )
    with tap.test('a library whose program headers stand elsewhere'):
        moved = threads.build(
            'plugin.c', '-shared', '-fPIC', '-DLOCK=lock_moved', '-Wl,-z,max-page-size=65536', output='moved.so'
        )
        run = threads.record([program, moved, moved], '--threads').ended(0)
        records = threads.Waits(run.directory).of('lock_moved')
        equal('lock_moved', (total(records, 'acquired'), sorted({n for r in records for n in r.names})), (10, ['use']))
    tap.done()


if __name__ == '__main__':
    main()
