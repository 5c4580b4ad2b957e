#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fault tolerance (MPIX_Comm_shrink, _agree, _revoke): the communicators of who is left are known, the same on all
their ranks. The MPI's own functions abort (MPICH 4.0): a library stands in for them."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal


def judge(mpi):
    program = mpi.build('survivors.c')
    if 'none' in harness.run([program]).out:
        raise harness.Skip('{} has no MPIX_Comm_shrink'.format(mpi))
    standin = mpi.build('survivors.c', '-DSTANDIN', '-shared', '-fPIC', output='survivors.so')
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = mpi.profile(program, 3, (), ['--trace'], directory, env={'LD_PRELOAD': harness.in_front(standin)}).ended(0)
    equal('agreed', run.out.split(), ['8'] * 4)
    profile = harness.profile_of(directory)
    left = [c for c in profile['communicators'] if c['size'] == 2]
    equal(
        'communicators',
        [(c['members'], c['parent_uid'], c['rank_count'], c['inferred'], c['freed']) for c in left],
        [([[0, 1, 2]], left[0]['parent_uid'], 2, False, True)] * 2,
    )
    calls = {f['function']: f['count'] for f in profile['mpi_functions']}
    equal('calls', [calls.get('MPIX_Comm_' + name) for name in ('shrink', 'agree', 'revoke')], [4, 4, 4])
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    archive = os.path.join(directory, 'traces.otf2')
    check(' 0 errors' in harness.run([harness.FVMPI, 'check', archive]).out, 'fvmpi check: {}', archive)
    lines = [line.split() for line in harness.otf2_events(directory).splitlines()]
    comms = {what: sorted(words[4] for words in lines if words[0] == what) for what in ('send', 'receive')}
    equal('received', comms['receive'], comms['send'])
    equal('by two communicators', [comms['send'].count(c) for c in sorted(set(comms['send']))], [2, 2])


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.mpis(tap):
        with tap.test('{}: who is left'.format(mpi)):
            judge(mpi)
    tap.done()


if __name__ == '__main__':
    main()
