#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Computing between two calls is named by both, with the time that each rank took: what the program measured itself;
and with --sample by the procedures that took it. The sum over all regions, which is what a rank was outside of MPI,
report.py checks of every program."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from measured import Measured
from report import check, close, equal

STEPS = 8
ENDS = {
    'first': (('MPI_Barrier', 'step'), ('MPI_Allreduce', 'step'), STEPS),
    'second': (('MPI_Allreduce', 'step'), ('MPI_Barrier', 'step'), STEPS),
    'from_one': (('MPI_Iprobe', 'one'), ('MPI_Iprobe', 'either'), STEPS // 2),
    'from_two': (('MPI_Iprobe', 'two'), ('MPI_Iprobe', 'either'), STEPS // 2),
    'resumed': (('MPI_Pcontrol', 'pauses'), ('MPI_Barrier', 'pauses'), 2),
}


def regions(report, name):
    """MPI_Allreduce comes before two barriers in step(), the loop's and one behind it."""
    before, behind, count = ENDS[name]
    if name != 'second':
        return report.region(before, behind)
    by_id = {s.data['id']: s for s in report.sites}
    found = [
        r
        for r in report.data['waiting']['regions']
        if r['from_callsite_id'] is not None and by_id[r['from_callsite_id']].function == 'MPI_Allreduce'
    ]
    equal('regions behind MPI_Allreduce', len(found), 2)
    loop, last = sorted(found, key=lambda r: -r['count'])
    equal('the last', last['count'], 2)
    rows = {row['rank']: row for row in last['per_rank']}
    return {
        **loop,
        'count': loop['count'] + 2,
        'per_rank': [{**row, 'time_s': row['time_s'] + rows[row['rank']]['time_s']} for row in loop['per_rank']],
    }


def judge(found, truth):
    (report,) = found
    for name, (_, _, count) in ENDS.items():
        region = regions(report, name)
        equal(name + ': times', region['count'], 2 * count)
        for row in region['per_rank']:
            truth.near('{}.{}'.format(row['rank'], name), row['time_s'] * 1e9)


def sums(report):
    for region in report.data['waiting']['regions']:
        seconds = [row['time_s'] for row in region['per_rank']]
        if not seconds:  # nothing but a part of the critical path
            continue
        equal('wait_kind', region['wait_kind'], 'exact')
        equal('ranks', region['rank_count'], len(seconds))
        equal('count', region['count'], sum(row['count'] for row in region['per_rank']))
        close('mean', region['mean_s'], sum(seconds) / report.ranks, 1e-9)
        close('longest', region['max_s'], max(seconds), 1e-9)
        check(
            region['max_rank'] in [row['rank'] for row in region['per_rank'] if row['time_s'] >= max(seconds)],
            'max_rank',
        )
        close('imbalance', region['imbalance_s'], report.ranks * max(seconds) - sum(seconds), 1e-8)


def words(directory):
    out = harness.run([harness.FVMPI, 'report', directory, '--all', '--width', '160']).ended(0).out
    lines = {number: line for number, line in enumerate(harness.sources('regions.c')['regions.c'], 1)}
    barrier, allreduce = (
        min(n for n, line in lines.items() if call in line) for call in ('OK(MPI_Barrier', 'OK(MPI_Allreduce')
    )
    text = ' '.join(out.split())
    check('step(): MPI_Barrier:{} -> MPI_Allreduce:{}'.format(barrier, allreduce) in text, 'no region in {}', out)
    out = (
        harness.run(
            [harness.FVMPI, 'report', directory, '--table', 'regions', '--columns', 'label,place', '--csv', '-']
        )
        .ended(0)
        .out
    )
    check('step() at regions.c:{} to {}'.format(barrier, allreduce) in out, 'no place in {}', out)


def unify(run):
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)


RATE = 1000


def near(what, found, wanted, least=0):
    """As samples tell it: chance, and what the machine takes between the program's clock and ours."""
    close(what, found, wanted, 0.15 * wanted + 2 * (wanted / RATE) ** 0.5 + least)


def measured_cpu(run):
    return {
        int(w[1]): [float(s) * 1e-9 for s in w[2:]]
        for w in (line.split() for line in run.out.splitlines())
        if w[:1] == ['cpu']
    }


def sampled(run, source):
    """Of two procedures in a region the one that rank 1 alone is in comes first, with the CPU time that it measured."""
    region = run.report().region(('MPI_Barrier', 'step'), ('MPI_Allreduce', 'step'))
    cpu = measured_cpu(run)
    equal('max_rank', region['max_rank'], 1)
    found = {p['procedure']: p for p in region['region_procedures']}
    equal('procedures', [p['procedure'] for p in region['region_procedures']][:2], ['react', 'advance'])
    equal('source', {p['source'] for p in region['region_procedures']}, {source})
    for name, mine, others in (('react', cpu[1][1], cpu[0][1]), ('advance', cpu[1][0], cpu[0][0])):
        row = found[name]
        equal(name + ': rank', row['rank'], 1)
        near(name + ': seconds', row['time_s'], mine)
        near(name + ': of the others', row['others_s'], others, 0.01)
        if source == 'profile':
            close(name + ': samples', row['ticks'] / RATE, row['time_s'], 1e-6 + 0.01 * row['time_s'])
        else:  # each stands for the CPU time since the one before it
            near(name + ': samples', row['ticks'] / RATE, mine)
    text = harness.run([harness.FVMPI, 'report', run.directory, '--width', '120']).ended(0).out
    # in the region's line; where ranks had no processors for most of it, in the finding
    check(
        re.search(
            r'rank 1: \S+ m?s in react(\(\))?, others |rank 1 made others wait. It was slow in react\b|of CPU time in react\(\)',
            ' '.join(text.split()),
        ),
        'no procedure in {}',
        text,
    )


def turns(run, traced):
    """Two regions begin behind one call. A trace tells them apart; samples of the profile are of both."""
    cpu, report = measured_cpu(run), run.report()
    for name, other, part, behind in (('left', 'right', 2, 'MPI_Barrier'), ('right', 'left', 3, 'MPI_Allreduce')):
        region = report.region(('MPI_Iprobe', 'look'), (behind, 'turns'))
        found = {p['procedure']: p for p in region['region_procedures']}
        near(name, found[name]['time_s'], cpu[region['max_rank']][part])
        equal(other + ' is there', other in found, not traced)


def thin(mpi):
    """A main() that calls a library for all it does, as LAMMPS'."""
    library = mpi.build('react.c', '-DLIBRARY', '-shared', '-fPIC', output='libreact.so')
    os.makedirs(os.path.join(mpi.folder, 'bin'), exist_ok=True)  # what lies beside a program is the program's
    return mpi.build('react.c', '-DPROGRAM', library, '-Wl,-rpath,' + mpi.folder, output=os.path.join('bin', 'thin'))


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.an_mpi(tap):
        for traced in ([], ['--trace']):
            suffix = ', by the trace' if traced else ''
            # each of both programs by one of both ways will do
            if traced or harness.all_cases():
                with tap.test('{}: procedures of a region{}'.format(mpi, suffix)):
                    run = mpi.profile(mpi.build('react.c'), 2, options=traced + ['--sample={}'.format(RATE)]).ended(0)
                    if traced:
                        unify(run)
                    sampled(run, 'trace' if traced else 'profile')
                    turns(run, bool(traced))
            if not traced or harness.all_cases():
                with tap.test('{}: ... of a library that does all{}'.format(mpi, suffix)):
                    run = mpi.profile(thin(mpi), 2, options=traced + ['--sample={}'.format(RATE)]).ended(0)
                    if traced:
                        unify(run)
                    sampled(run, 'trace' if traced else 'profile')
    for mpi in harness.an_mpi(tap):
        for options in ([], ['--barrier=before'], ['--trace']):
            how = '{}, {}'.format(mpi, ' '.join(options) or 'profile')

            def make():
                run = mpi.profile(mpi.build('regions.c'), 2, options=options).ended(0)
                if options == ['--trace']:
                    unify(run)
                last.append(run.directory)
                return run.out, (run.report(),)

            last = []
            measured = Measured(make)
            with tap.test(how + ': regions are as long as the program measured'):
                measured.test(judge)
            with tap.test(how + ': sums'):
                measured.found[0].sane(2)
                sums(measured.found[0])
            with tap.test(how + ': in words'):
                words(last[-1])
    tap.done()


if __name__ == '__main__':
    main()
