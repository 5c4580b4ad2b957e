#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--barrier: fvmpi's own barriers around collectives. What they take is the injected delay; the program prints and
returns what it does without, whatever ranks are paused, call in vain, or run without fvmpi or the option."""
import os
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal

LATE = ('MPI_Bcast', 'MPI_Reduce', 'MPI_Allreduce', 'MPI_Scan', 'MPI_Gatherv')
INSIDE = ('broadcast', 'reduction', 'allreduction', 'scan', 'gather')
WITHIN = 0.008  # seconds; delays are 50 ms and more. On a busy machine ranks start that far apart


def delays(run):
    """By collective: how much later than rank 0 the other rank came, how long rank 0 was in the call. On a machine that
    is busy the second is longer than the first, and what rank 0 lost before it was in the barrier is not in the first.
    """
    found = re.findall(r'^ *late (\S+) +([0-9.-]+) +([0-9.]+) +([0-9.]+)', run.err, re.M)
    return {name: (float(late) - float(lost), float(took)) for name, late, took, lost in found}


def between(what, found, low, high):
    check(low - WITHIN <= found <= high + WITHIN, '{}: found {}, wanted {} to {}', what, found, low, high)


def whole(report):
    report.shape(2, threaded=True)
    equal('complete', report.data['run']['complete'], True)


def barrier_time(site, rank):
    return site.on(rank, 'barrier_s') or 0


def is_late_here(report, function, inside, late, took):
    """Before: rank 0 spends the delay in the barrier, and that is its waiting; the rest is transfer."""
    site = report.callsite(function, inside=inside)
    equal(inside + ': kind', site.data['wait_kind'], 'exact')
    between(inside + ': rank 0 in the barrier', barrier_time(site, 0), late, took)
    between(inside + ': transfer', site.on(0, 'time_sum_s') - barrier_time(site, 0), 0, took - late)
    check(barrier_time(site, 1) < barrier_time(site, 0), '{}: rank 1 in the barrier: {}', inside, barrier_time(site, 1))
    for rank in (0, 1):
        equal('{}: waiting of rank {}'.format(inside, rank), site.on(rank, 'wait_s'), barrier_time(site, rank))


def in_c(tap, mpi):
    program = mpi.build('barrier.c', '-lpthread')
    native = mpi.native(program, 2).ended(0)
    with tap.test('{}: before: the delay is in the barriers'.format(mpi)):
        run = mpi.profile(program, 2, options=['--barrier', 'before']).ended(0)
        report = run.report()
        whole(report)
        equal('output', run.out, native.out)
        late = delays(run)
        for function, inside in zip(LATE, INSIDE):
            is_late_here(report, function, inside, *late[function])
        check(report.rank(1)['delay_s'] > 0.9 * sum(late[f][0] for f in LATE), 'delay of rank 1: {}', report.rank(1))
    with tap.test(
        '{}: before: on all ranks, paused ones too; not in MPI_Barrier, nor on what was not seen made'.format(mpi)
    ):
        between('paused', barrier_time(report.callsite('MPI_Allreduce', inside='paused'), 0), *late['paused'])
        sites = {s.names[0]: s for s in report.sites if s.function in ('MPI_Barrier', 'MPI_Allreduce')}
        equal('own barrier', sites['own_barrier'].data['barrier_s'], None)
        equal('hidden', sites['unknown'].data['barrier_s'], None)
        equal('barriers of the program', report.total('MPI_Barrier'), 2)
        wanted = sum(s.data['count'] for s in report.sites if s.data['barrier_s'] is not None)
        equal(
            'run.barriers',
            {k: report.data['run']['barriers'][k] for k in ('where', 'rank_count')},
            {'where': 'before', 'rank_count': 2},
        )
        close('count', report.data['run']['barriers']['count'], wanted, 2)
    with tap.test('{}: before: text and dump say so'.format(mpi)):
        text = harness.run([harness.FVMPI, 'report', run.directory, '--width', '200', '--color', 'never']).ended(0).out
        check('perturbed  barriers were inserted before collectives' in text, 'text:\n{}', text[:1500])
        dump = harness.run([harness.FVMPI, 'dump', run.directory]).ended(0).out
        check(
            'barrier=before barrier_ranks=2' in dump and re.search(r'^cells .* barrier_ticks=[1-9]', dump, re.M),
            'dump:\n{}',
            dump[:1000],
        )
    with tap.test('{}: after: the delay is not in the barriers of what meets anyway'.format(mpi)):
        run = mpi.profile(program, 2, options=['--barrier', 'after', '--trace']).ended(0)
        report = run.report()
        whole(report)
        equal('output', run.out, native.out)
        site, (late, took) = report.callsite('MPI_Allreduce', inside='allreduction'), delays(run)['MPI_Allreduce']
        between('barrier of the one in time', barrier_time(site, 0), 0, took - late)
        between('its waiting', site.on(0, 'wait_s'), late, took)
        site, (late, took) = report.callsite('MPI_Bcast', inside='broadcast'), delays(run)['MPI_Bcast']
        between('barrier of the root, who sends and goes', barrier_time(site, 0), late / 2, took)
        equal('where', report.data['run']['barriers']['where'], 'after')
        dump = harness.run([harness.FVMPI, 'dump', run.directory]).ended(0).out
        names = dict(re.findall(r'^functions .*\bid=(\d+) .*name=(\S+)', dump, re.M))
        equal('MPI_Barrier in the file', len([n for n in names.values() if 'MPI_Barrier' in n]), 1)
    with tap.test('{}: no collective but MPI_Barrier: no barrier, and not perturbed'.format(mpi)):
        run = mpi.profile(mpi.build('hang.c'), 2, ['none'], ['--barrier', 'before']).ended(0)
        equal('barriers', run.report().data['run']['barriers']['count'], 0)
        text = harness.run([harness.FVMPI, 'report', run.directory, '--width', '200', '--color', 'never']).ended(0).out
        check('perturbed  no: there were no calls into which' in text, 'text:\n{}', text[:1500])
    with tap.test('{}: off: nothing'.format(mpi)):
        report = mpi.profile(program, 2).ended(0).report()
        equal('run.barriers', report.data['run']['barriers'], None)
        equal('barriers', [str(s) for s in report.sites if s.data['barrier_s'] is not None], [])


def in_fortran(tap, mpi):
    with tap.test('{}: Fortran'.format(mpi)):
        program = mpi.build('barrier_fortran.F90', mpi.build('lost.c', '-c', output='lost.o'))
        native = mpi.native(program, 2).ended(0)
        for where in ('before', 'after'):
            run = mpi.profile(program, 2, options=['--barrier', where]).ended(0)
            equal('output', sorted(run.out.split('\n')), sorted(native.out.split('\n')))
            sites = [s for s in run.report().sites if s.data['barrier_s'] is not None]
            late = delays(run)
            found = {s.names[0].split('::')[-1]: s for s in sites if s.on(0, 'count')}
            equal('sites', sorted(n for n in found), ['allreduction', 'broadcast'])
            for name, site in found.items():
                seconds, took = late[name]
                if where == 'before':
                    between(name + ' before', barrier_time(site, 0), seconds, took)
                elif name == 'broadcast':
                    between(name + ' after', barrier_time(site, 0), seconds / 2, took)
                else:
                    between(name + ' after', barrier_time(site, 0), 0, took - seconds)


def together(tap, mpi, what, first, others, inserted, say, either=False):
    """One rank as `first` says, two as `others` say. Those in `inserted` have barriers among themselves;
    `either`: or nobody has, by who came first."""
    program = mpi.build('barrier.c', '-lpthread')
    with tap.test('{}: {}'.format(mpi, what)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        native = harness.run(mpi.command(1, [program, '0']) + [':', '-n', '2', program, '1']).ended(0)

        def under(options, colour):
            return [program, colour] if options is None else mpi.profiled([program, colour], directory, options)

        run = harness.run(
            mpi.command(1, under(first, '0')) + [':', '-n', '2'] + under(others, '1'), directory=directory
        ).ended(0)
        equal('output', run.out, native.out)
        report = run.report()
        with_barrier = {
            r: sum(
                row['count']
                for s in report.sites
                for row in s.data['per_rank']
                if row['rank'] == r and row['barrier_s'] is not None
            )
            for r in range(3)
        }
        some = inserted if any(with_barrier.values()) or not either else ()
        equal('calls with a barrier', with_barrier, {r: int(r in some) for r in range(3)})
        check(say in run.err, 'not said: {}\n{}', say, run.err)
        marks = [n for n in os.listdir(directory) if n.startswith('.barrier-before-')]
        equal('marks that are left', marks, [])


def mixed(tap, mpi):
    before = ['--barrier', 'before', '--barrier-wait', '1']
    missing = '--barrier before: rank 0 of 3 did not start with it'
    together(tap, mpi, 'a rank without fvmpi hangs nobody', None, before, (1, 2), missing)
    together(tap, mpi, 'a rank without the option hangs nobody', [], before, (1, 2), missing)
    together(
        tap,
        mpi,
        'a rank with the other option hangs nobody',
        ['--barrier', 'after', '--barrier-wait', '1'],
        before,
        (1, 2),
        'did not start with it',
        either=True,
    )


def aborted(tap, mpi):
    with tap.test('{}: a handler that aborts while rank 0 waits for a mark'.format(mpi)):
        program = mpi.build('barrier_abort.c')
        directory = os.path.join(harness.scratch('exp'), 'e')
        command = mpi.command(
            1, mpi.profiled([program, '3'], directory, ['--barrier', 'before', '--barrier-wait', '30'])
        )
        began = time.monotonic()
        run = harness.run(command + [':', '-n', '1', program], directory=directory, limit=60)
        check(run.rc != 0, 'ended well')
        check(time.monotonic() - began < 25, 'the handler had no effect: {} s', time.monotonic() - began)
        dump = harness.run([harness.FVMPI, 'dump', directory]).ended(0).out
        check('aborted' in dump, 'dump:\n{}', dump[:600])


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        in_c(tap, mpi)
        in_fortran(tap, mpi)
        mixed(tap, mpi)
        aborted(tap, mpi)
    tap.done()


main()
