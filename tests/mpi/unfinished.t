#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What programs leave unfinished, in a trace: receives whose requests were freed, locks that are held at an abort, and
a rank that was aborted before its first call. Nothing of it is called an error, or a trace that was not asked for."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal

UNIFY = os.path.join(harness.BUILD, 'fvunify')


def merged(directory, rc=0):
    """What fvunify says, and fvmpi check."""
    said = harness.run([UNIFY, '-q', directory]).ended(rc).err
    return said, harness.run([harness.FVMPI, 'check', directory]).ended(0).out


def freed(tap, mpi, program):
    with tap.test('{}: a receive whose request was freed: its message is unrecorded, no error'.format(mpi)):
        run = mpi.profile(program, 2, ['freed'], ['--trace', '-q']).ended(0)
        _, said = merged(run.directory)
        check(
            'tag 5: 1 messages sent, 0 received [warning message-unrecorded]' in said
            and '0 errors, 1 warnings' in said,
            'fvmpi check: {}',
            said,
        )


def locked(tap, mpi, program):
    with tap.test('{}: locks that are held at an abort'.format(mpi)):
        run = mpi.profile(program, 2, ['locked'], ['--trace', '-q'])
        check(run.rc != 0, 'it was not aborted')
        _, said = merged(run.directory)
        check(str(2**32 - 1) not in said, 'fvmpi check: {}', said)
        equal('at all ranks', len(re.findall(r'lock \d+ at all ranks on window \d+ is never released', said)), 2)
        equal('at rank 0', len(re.findall(r'lock \d+ at rank 0 on window \d+ is never released', said)), 2)


def early(tap, mpi, program):
    """Rank 0 waits, with --barrier, for the mark of a rank that runs without fvmpi, which aborts."""
    with tap.test('{}: aborted before its first call: its trace is there, and has nothing'.format(mpi)):
        directory = os.path.join(harness.scratch('exp'), 'e')
        with_us = mpi.profiled([program, 'early'], directory, ['--trace', '--barrier=before', '-q'])
        run = harness.run([mpi.exec] + mpi.options + ['-n', '1'] + with_us + [':', '-n', '1', program, 'early'])
        check(run.rc != 0 and os.path.isdir(directory), 'it was not aborted: {}', run.err)
        head = harness.run([harness.FVMPI, 'dump', directory]).ended(0).out
        if re.search('^cells ', head, re.M):
            raise Skip('it made a call before')
        said = harness.run([UNIFY, directory]).err
        check('--trace' not in said and 'no events' not in said and 'not in the trace' not in said, 'fvunify: {}', said)


def main():
    tap = harness.Tap()
    harness.patiently()
    if not os.path.exists(UNIFY + '-serial'):
        with tap.test('fvunify'):
            raise Skip('built without OTF2')
        tap.done()
    for mpi in harness.an_mpi(tap):
        program = mpi.build('unfinished.c')
        freed(tap, mpi, program)
        locked(tap, mpi, program)
        early(tap, mpi, program)
    tap.done()


if __name__ == '__main__':
    main()
