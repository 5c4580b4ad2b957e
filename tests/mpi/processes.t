#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Threads, forked children, shells in between, MPI that is loaded late."""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal

ROUNDS, THREADS, TIMES = 3, 4, 50


def threads(tap, mpi):
    with tap.test('{}: 4 threads on their own communicators'.format(mpi)):
        run = mpi.profile(mpi.build('threads.c', '-pthread'), 2).ended(0)
        if 'no MPI_THREAD_MULTIPLE' in run.out:
            raise Skip('this MPI provides no MPI_THREAD_MULTIPLE')
        report = run.report()
        report.shape(2, threaded=True)
        equal('dropped', [report.dropped(r) for r in (0, 1)], [0, 0])
        equal('states', [report.rank(r)['state'] for r in (0, 1)], ['finalized'] * 2)
        calls, volume = ROUNDS * THREADS * TIMES, ROUNDS * TIMES * 8 * (1 + 2 + 3 + 4)
        site = report.callsite('MPI_Sendrecv', inside='exchange')
        site.expect(count=calls, sent=volume, received=volume)
        equal('path', site.names[1], 'worker')
        report.callsite('MPI_Allreduce', inside='meet').expect(count=ROUNDS * THREADS, sent=8 * ROUNDS * THREADS)
        report.traffic({(0, 1): (calls, volume), (1, 0): (calls, volume)})
    with tap.test('{}: posted by one thread, completed by another'.format(mpi)):
        report.callsite('MPI_Irecv', inside='post').expect(count=50, received=2000)
        report.callsite('MPI_Wait', inside='complete').expect(count=50, received=0)


def children(tap, mpi):
    with tap.test('{}: fork, exec and system'.format(mpi)):
        program = mpi.build('children.c')
        native = mpi.native(program, 2).ended(0)
        run = mpi.profile(program, 2).ended(0)
        equal(
            'output',
            sorted(run.out.replace(' set', '').splitlines()),
            sorted(x.rstrip() for x in native.out.splitlines()),
        )
        report = run.report()
        report.sane(2)
        report.callsite('MPI_Barrier', inside='before').expect(count=2)
        report.callsite('MPI_Barrier', inside='after').expect(count=3)
        equal('rank files', len(glob.glob(run.directory + '/*.fvr')), 2)
        equal('stderr', [x for x in run.err.splitlines() if x.startswith('fvmpi:') and 'warn' in x], [])
    with tap.test('{}: a shell in between'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        shell = mpi.profiled(
            ['sh', '-c', 'echo before; "$0" "$@"; code=$?; echo after; exit $code', program], directory
        )
        run = harness.run(mpi.command(2, shell), directory=directory).ended(0)
        equal('echoes', (run.out.count('before\n'), run.out.count('after\n')), (2, 2))
        run.report().sane(2)
        run.report().callsite('MPI_Barrier', inside='after').expect(count=3)
    with tap.test('{}: exec by a shell, arguments with blanks'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        shell = mpi.profiled(['sh', '-c', 'exec "$0" "$@"', mpi.build('transparent.c'), '0', 'two words'], directory)
        run = harness.run(mpi.command(1, shell), directory=directory).ended(0)
        check('argument <two words>' in run.out, 'output {}', run.out[:300])
        run.report().sane(1)
    with tap.test('{}: two programs one after the other in a shell'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        shell = mpi.profiled(['sh', '-c', 'ls / > /dev/null; exec ' + mpi.build('collectives.c')], directory)
        run = harness.run(mpi.command(1, shell), directory=directory).ended(0)
        equal('rank files', len(glob.glob(directory + '/*.fvr')), 1)
    with tap.test('{}: a program without MPI'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(mpi.profiled(['env', 'echo', 'hello'], directory, ['--mpi', str(mpi)]), directory=directory)
        equal('output and status', (run.out, run.rc), ('hello\n', 0))


def python(tap, mpi):
    interpreter, script, native = '/usr/bin/python3', os.path.join(harness.PROGRAMS, 'python_ring.py'), None
    with tap.test('{}: mpi4py'.format(mpi)):
        probe = (
            harness.run([interpreter, '-c', 'import mpi4py.MPI; print(mpi4py.MPI.__file__)'])
            if os.path.exists(interpreter)
            else None
        )
        if not probe or probe.rc:
            raise Skip('no mpi4py for /usr/bin/python3')
        linked = harness.run(['ldd', probe.out.strip()]).out
        if ('libmpich' in linked) != (str(mpi) == 'mpich'):
            raise Skip('mpi4py uses the other MPI')
        native = harness.run(mpi.command(2, [interpreter, script])).ended(0)
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            mpi.command(2, mpi.profiled([interpreter, script], directory, ['--mpi', str(mpi)])), directory=directory
        ).ended(0)
        equal('output', run.out, native.out)
        report = run.report()
        report.shape(2)
        equal('states', [report.rank(r)['state'] for r in (0, 1)], ['finalized'] * 2)
        sites = report.callsites('MPI_Sendrecv')
        equal('call sites of MPI_Sendrecv', len(sites), 1)
        sites[0].expect(count=3, sent=240, received=240)
        equal('where it is', [(f['function'], f['file'], f['line']) for f in sites[0].path], [('<module>', script, 9)])
        at_exit = report.callsites('MPI_Finalize')[0].path
        equal('call path at exit', [(f['function'], f['line']) for f in at_exit], [('exit', None)])
        check(re.fullmatch(r'Python 3\.\d+\.\d+\+?', at_exit[0]['file']), 'MPI_Finalize in {}', at_exit)
        check(report.total('MPI_Bcast', rank=0) > 0, 'no broadcast: {}', [s.function for s in report.sites])
    with tap.test('{}: mpi4py, the library found without being told'.format(mpi)):
        if not native:
            raise Skip('see above')
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(mpi.command(2, mpi.profiled([interpreter, script], directory)), directory=directory)
        if run.rc == 2 and 'fvmpi: ' in run.err:
            check('--mpi' in run.err, 'refuses without naming --mpi: {}', run.err)
        else:
            equal('output', run.ended(0).out, native.out)
            run.report().shape(2)


def silent_children(tap, mpi):
    """Made past fork(), so that nothing tells of them: of whatever they do nothing is recorded, and the parent's is
    whole."""
    with tap.test('{}: children by _Fork(), clone() and a system call'.format(mpi)):
        if harness.SANITIZER:
            raise harness.Skip('AddressSanitizer has the allocator')
        program = mpi.build('silent_children.c', '-pthread', '-g', '-finstrument-functions')
        native = mpi.native(program, 1).ended(0)
        run = mpi.profile(
            program, 1, options=['--memory=exact', '--threads=hold', '--io', '--functions', '--trace', '--sample']
        ).ended(0)
        equal('output', run.out, native.out)
        data, rounds = run.report().data, 3 * 20000 + 10
        equal('problems', data['problems'], [])
        equal('MPI calls', sum(c['count'] for c in data['callsites'] if c['function'] == 'MPI_Comm_rank'), rounds)
        equal('sections', [s['count'] for s in data['sections'] if s['section'] == 'round'], [rounds])
        equal(
            'locks',
            [(k['kind'], k['count']) for k in data['locks'] if k['symbol'] in ('mutex', 'semaphore')],
            [('mutex', rounds), ('sem', rounds)],
        )
        equal(
            'allocations',
            sum(m['allocations'] for m in data['memory'] if m['path'][0]['function'] == 'allocate'),
            rounds,
        )
        equal(
            'files',
            sum(i['calls'] for i in data['io'] if i['io_file'] == '/dev/null' and i['function'] == 'fputc'),
            rounds,
        )
        equal(
            'functions',
            {f['function']: f['calls'] for f in data['instrumented'] if f['function'] in ('allocate', 'work')},
            {'allocate': rounds, 'work': 4},
        )
        equal('functions of fvmpi.h', [f['function'] for f in data['instrumented'] if 'fvmpi' in f['function']], [])


def clone_vm(tap, mpi):
    with tap.test('{}: a child of clone() in the program\'s memory: why its calls are not in the trace'.format(mpi)):
        run = mpi.profile(mpi.build('clone_vm.c'), 1, options=['--trace']).ended(0)
        equal('output', run.out, 'status 3\n')
        reason = 'a child of clone() or vfork() made them, and has no trace'
        texts = [p['text'] for p in run.report().data['problems'] if 'not in the trace' in p['text']]
        check(texts and reason in texts[0], '{}', texts)
        if os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')):
            unify = harness.run([os.path.join(harness.BUILD, 'fvunify'), run.directory]).ended(1)
            check(not re.search(r'\b1 (samples|calls|ranks)\b', unify.err), 'plurals: {}', unify.err)
            check(' calls are not in the trace: ' + reason in unify.err, 'fvunify: {}', unify.err)


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        threads(tap, mpi)
        children(tap, mpi)
        silent_children(tap, mpi)
        clone_vm(tap, mpi)
        python(tap, mpi)
    tap.done()


main()
