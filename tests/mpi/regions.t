#!/usr/bin/env python3
"""Computing between two calls is named by both, with the time that each rank took: what the program measured itself. The
sum over all regions, which is what a rank was outside of MPI, report.py checks of every program."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
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
    found = [r for r in report.data['waiting']['regions'] if r['from_callsite_id'] is not None and
             by_id[r['from_callsite_id']].function == 'MPI_Allreduce']
    equal('regions behind MPI_Allreduce', len(found), 2)
    loop, last = sorted(found, key=lambda r: -r['count'])
    equal('the last', last['count'], 2)
    rows = {row['rank']: row for row in last['per_rank']}
    return {**loop, 'count': loop['count'] + 2,
            'per_rank': [{**row, 'time_s': row['time_s'] + rows[row['rank']]['time_s']} for row in loop['per_rank']]}


def judge(found, truth):
    report, = found
    for name, (_, _, count) in ENDS.items():
        region = regions(report, name)
        equal(name + ': times', region['count'], 2 * count)
        for row in region['per_rank']:
            truth.near('{}.{}'.format(row['rank'], name), row['time_s'] * 1e9)


def sums(report):
    for region in report.data['waiting']['regions']:
        seconds = [row['time_s'] for row in region['per_rank']]
        if not seconds: # nothing but a part of the critical path
            continue
        equal('wait_kind', region['wait_kind'], 'exact')
        equal('ranks', region['rank_count'], len(seconds))
        equal('count', region['count'], sum(row['count'] for row in region['per_rank']))
        close('mean', region['mean_s'], sum(seconds) / report.ranks, 1e-9)
        close('longest', region['max_s'], max(seconds), 1e-9)
        check(region['max_rank'] in [row['rank'] for row in region['per_rank'] if row['time_s'] >= max(seconds)], 'max_rank')
        close('imbalance', region['imbalance_s'], report.ranks * max(seconds) - sum(seconds), 1e-8)


def words(directory):
    out = harness.run([harness.FVMPI, 'report', directory, '--all', '--width', '160']).ended(0).out
    lines = {number: line for number, line in enumerate(harness.sources('regions.c')['regions.c'], 1)}
    barrier, allreduce = (min(n for n, line in lines.items() if call in line) for call in ('OK(MPI_Barrier', 'OK(MPI_Allreduce'))
    text = ' '.join(out.split())
    check('step(): MPI_Barrier:{} -> MPI_Allreduce:{}'.format(barrier, allreduce) in text, 'no region in {}', out)
    out = harness.run([harness.FVMPI, 'report', directory, '--table', 'regions', '--columns', 'label,place', '--csv', '-']).ended(0).out
    check('step() at regions.c:{} to {}'.format(barrier, allreduce) in out, 'no place in {}', out)


def main():
    tap = harness.Tap()
    for mpi in harness.mpis(tap):
        for options in ([], ['--barrier=before'], ['--trace']):
            how = '{}, {}'.format(mpi, ' '.join(options) or 'profile')

            def make():
                run = mpi.profile(mpi.build('regions.c'), 2, options=options).ended(0)
                if options == ['--trace']:
                    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
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
