#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several programs in one launch, `mpiexec -n 1 ./master : -n 2 ./worker`: each keeps its own name, ranks,
times and call sites. Calls that the compiler made of one line of the source are one call site. And programs
that a program spawned: those are another run."""
import glob
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, close, equal


def launch(mpi, first, others, workers):
    directory = os.path.join(harness.scratch('exp'), 'e')
    command = mpi.command(1, mpi.profiled(first, directory))
    command += [':', '-n', str(workers)] + mpi.profiled(others, directory)
    return harness.run(command, directory=directory).ended(0)


def text_of(run):
    return harness.run([harness.FVMPI, 'report', run.directory, '--width', '200', '--color', 'never']).ended(0).out


def two_programs(tap, mpi, master, worker):
    with tap.test('{}: two programs'.format(mpi)):
        run = launch(mpi, [master, 'x y'], [worker], 2)
        report = run.report()
        report.shape(3)
        equal('states', [report.rank(r)['state'] for r in range(3)], ['finalized'] * 3)
        programs = report.data['programs']
        equal('programs', [p['program'] for p in programs], [os.path.realpath(master), os.path.realpath(worker)])
        equal('ranks', [p['rank_runs'] for p in programs], [[[0, 1, 1]], [[1, 1, 2]]])
        check("'x y'" in programs[0]['command'] and 'x y' not in programs[1]['command'], 'commands {}', programs)
        equal('program of each rank', [report.rank(r)['program_id'] for r in range(3)], [0, 1, 1])
        whole = report.data['run']['rank_time']
        for key in ('total_s', 'compute_s', 'mpi_s', 'wait_s'):
            close(key + ' of the programs together', sum(p['rank_time'][key] for p in programs), whole[key], 1e-6)
    with tap.test('{}: the same function, file and line in both are two call sites'.format(mpi)):
        sites = report.callsites('MPI_Barrier')
        equal('counts', sorted(s.each('count') for s in sites), [[0, 2, 2], [2, 0, 0]])
        equal('lines', len({s.path[0]['line'] for s in sites}), 1)
    with tap.test('{}: three calls on one line are one call site'.format(mpi)):
        report.callsite('MPI_Send', inside='hand_out').expect(count=[6, 0, 0], sent=[240, 0, 0])
        report.callsite('MPI_Recv', inside='work').expect(count=[0, 3, 3], received=[0, 120, 120])
    with tap.test('{}: without -o they share a directory too'.format(mpi)):
        where = harness.scratch('cwd')
        command = mpi.command(1, [master, 'x y']) + [':', '-n', '2', worker]
        harness.run([harness.FVMPI, 'run', '--'] + command, cwd=where).ended(0)
        made = os.listdir(where)
        equal('directories', len(made), 1)
        equal('ranks', harness.report_of(os.path.join(where, made[0])).data['run']['complete'], True)
    with tap.test('{}: the text names both'.format(mpi)):
        text = text_of(run)
        for words in (
            'master on rank 0: ',
            'worker on ranks 1-2: ',
            '1 of 3 ranks (mpmd_master); each',
            '2 of 3 ranks (mpmd_worker); each',
        ):
            check(words in text, 'no <{}> in\n{}', words, text[:1500])
        rows = text[text.rindex('MPI over time') :].splitlines()[1:4]
        equal('program of each rank', [row.split()[2] for row in rows], ['mpmd_master', 'mpmd_worker', 'mpmd_worker'])


def one_file_two_names(tap, mpi, program):
    with tap.test('{}: a copy under another name is another program'.format(mpi)):
        copies = [os.path.join(harness.scratch('copies'), name) for name in ('left', 'right')]
        for copy in copies:
            shutil.copy(program, copy)
        report = launch(mpi, [copies[0]], [copies[1]], 1).report()
        equal('programs', [os.path.basename(p['program']) for p in report.data['programs']], ['left', 'right'])
        sites = report.callsites('MPI_Barrier')
        equal('call sites', sorted(s.each('count') for s in sites), [[0, 2], [2, 0]])
        equal('their programs', sorted(os.path.basename(s.path[0]['module']) for s in sites), ['left', 'right'])
    with tap.test('{}: a copy elsewhere is the same program'.format(mpi)):
        copy = os.path.join(harness.scratch('elsewhere'), os.path.basename(program))
        shutil.copy(program, copy)
        run = launch(mpi, [program], [copy, 'argument'], 1)
        report = run.report()
        equal('programs', [(p['rank_runs'], p['command_count']) for p in report.data['programs']], [([[0, 1, 2]], 2)])
        report.callsite('MPI_Barrier', inside='meet').expect(count=[2, 2])
        check('(and 1 other command line)' in text_of(run), 'text:\n{}', text_of(run)[:600])


def spawned(tap, mpi):
    with tap.test('{}: spawned processes have a report of their own'.format(mpi)):
        program = mpi.build('spawn.c')
        if mpi.native(program, 2).rc:
            raise Skip('this MPI does not spawn here')
        directory = os.path.join(harness.scratch('exp'), 'e')
        harness.run([harness.FVMPI, 'run', '-o', directory] + mpi.command(2, [program])).ended(0)
        found = [harness.Run([], 0, '', '', False, path) for path in sorted(glob.glob(directory + '*'))]
        equal('experiments', len(found), 2)
        parents = [run for run in found if run.report().callsites('MPI_Comm_spawn')]
        children = [run for run in found if run not in parents]
        equal('of the parents', len(parents), 1)
        parents[0].report().sane(2)
        children[0].report().sane(2)
        parents[0].report().traffic({(0, -1): (2, 8)})
        children[0].report().callsite('MPI_Recv', inside='child').expect(count=1, received=4)
        children[0].report().callsite('MPI_Allreduce', inside='child').expect(count=1)
        text = ' '.join(text_of(parents[0]).split())
        check('started processes that are not in this report' in text, 'no word about them in\n{}', text[:1500])
        check('(another job)' in text, 'peers of another job:\n{}', text)
        check('not in this report' not in text_of(children[0]), 'the children started none:\n{}', text_of(children[0]))


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.an_mpi(tap):
        master, worker = mpi.build('mpmd.c', output='mpmd_master'), mpi.build(
            'mpmd.c', '-DWORKER', output='mpmd_worker'
        )
        two_programs(tap, mpi, master, worker)
        one_file_two_names(tap, mpi, mpi.build('mpmd_meet.c'))
        spawned(tap, mpi)
    tap.done()


main()
