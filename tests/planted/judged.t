#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is not judged, or not exactly, is said, and not denied (judged.c)."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

UNIFY = os.path.join(harness.BUILD, 'fvunify')


def said(run, unified=False):
    """The report's first lines, and what it does not judge."""
    if unified:
        if not os.path.exists(UNIFY):
            raise harness.Skip('no fvunify')
        harness.run([UNIFY, '-q', run.directory]).ended(0)
    text = harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out
    data = harness.report_of(run.directory).data
    return ' '.join(text.split()), data['run']['not_judged'] or '', data['run']['rank_time']['wait_kind']


def judged(tap, mpi):
    program = mpi.build(os.path.join(HERE, 'judged.c'), '-g', '-pthread')
    with tap.test('{}: a profile does not judge collective calls on files'.format(mpi)):
        run = mpi.profile(program, 2, ['files', os.path.join(harness.scratch('file'), 'file')], ['--trace']).ended(0)
        text, left, _ = said(run)
        check('how much of MPI_File_' in left, '{}', left)
        check('perhaps more)' in text or 'not known how much is waiting' in text, '{}', text[:600])
    with tap.test('{}: ... and a trace does'.format(mpi)):
        text, left, _ = said(run, unified=True)
        check('MPI_File_' not in left and 'perhaps more)' not in text, '{}: {}', left, text[:600])
    with tap.test('{}: a trace does not judge waiting for processes that it has nothing of'.format(mpi)):
        run = mpi.profile(program, 2, ['world'], ['--trace'])
        if run.rc:
            raise harness.Skip('this MPI does not spawn here')
        text, left, _ = said(run, unified=True)
        check('another MPI_COMM_WORLD' in left and 'transfer and overhead' not in text, '{}: {}', left, text[:600])
    with tap.test('{}: the main thread\'s part of the waiting of several is an estimate'.format(mpi)):
        text, _, kind = said(mpi.profile(program, 2, ['threads']).ended(0))
        if 'MPI_THREAD_MULTIPLE' not in text:
            raise harness.Skip('no MPI_THREAD_MULTIPLE')
        equal('kind', kind, 'estimate')
        check('is waiting (estimate' in text, '{}', text[:600])


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        judged(tap, mpi)
    tap.done()


main()
