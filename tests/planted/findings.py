# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this directory read of a report: its findings, and the lines that it begins with."""
import re

import harness
from harness import FVMPI
from report import check

FIRST = 15


def found(run):
    """All findings but what the machine did. The runs are short, and MPI_Init is as long as it likes."""
    return [f for f in run.report().data['findings'] if f['name'] not in ('no_processor', 'noise', 'startup')]


def truth_of(out):
    """What a planted program says of itself: what its ranks were outside of MPI less than the longest one; the time of
    all; of it in MPI. In C each rank says its own."""
    line = re.search(r'^truth lost_s (\S+) total_s (\S+) mpi_s (\S+)$', out, re.M)
    ranks = re.findall(r'^truth rank \d+ outside_s (\S+) total_s (\S+)$', out, re.M)
    check(line or ranks, 'no truth in {!r}', out)
    if line:
        return [float(x) for x in line.groups()]
    outside, total = ([float(x) for x in part] for part in zip(*ranks))
    return [max(outside) * len(outside) - sum(outside), sum(total), sum(total) - sum(outside)]


def first_lines(run):
    """Of the text: what stands before the run's identity. Asked once, as Run.report() is."""
    if not hasattr(run, 'first_lines'):
        run.first_lines = lines_before_identity(run)
    return run.first_lines


def lines_before_identity(run):
    out = harness.run([FVMPI, 'report', run.directory, '--width', '100']).ended(0).out.splitlines()
    end = next(i for i, line in enumerate(out) if line.startswith('  command '))
    check(end - 1 <= FIRST, '{} lines before the identity', end - 1)
    return ' '.join(' '.join(out[:end]).split())


def is_blocked(run):
    """The machine kept a rank waiting, for the disk or for memory."""
    return any(f['name'] == 'blocked_rank' for f in run.report().data['findings'])


def is_disturbed(run, lost):
    """The machine took more from the run than the problem costs."""
    return any(f['name'] == 'no_processor' and f['lost_s'] > lost for f in run.report().data['findings'])
