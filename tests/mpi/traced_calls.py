# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a rank as its rank file has them."""
import bisect
import os

import harness
from report import check

CLOCKS = 1e-5  # in which the trace's clock and the program's are the same


def fields(line):
    return dict(word.partition('=')[::2] for word in line.split())


class Calls:
    """When a rank was in MPI, by its trace, in seconds of CLOCK_MONOTONIC."""

    def __init__(self, directory, rank):
        path = os.path.join(directory, 'rank-{:06d}.fvr'.format(rank))
        lines = harness.run([harness.FVMPI, 'dump', path]).ended(0).out.splitlines()
        (header,) = (fields(line) for line in lines if line.startswith('header '))
        first, first_ns, last, last_ns = (
            int(header[key]) for key in ('first.ticks', 'first.monotonic_ns', 'last.ticks', 'last.monotonic_ns')
        )
        events = (fields(line) for line in lines if line.startswith('event ') and 'kind="call"' in line)
        self.calls = sorted(
            tuple(
                1e-9 * (first_ns + (int(e[key]) - first) * (last_ns - first_ns) / (last - first))
                for key in ('begin', 'end')
            )
            for e in events
        )

    def within(self, enter, leave):
        """The call that was made between these times; leave 0: not known."""
        at = bisect.bisect_left(self.calls, (enter,))
        near = self.calls[max(at - 2, 0) : at + 2]  # the clocks differ
        if not leave:
            return next(call for call in near if call[0] >= enter - CLOCKS)
        found = max(near, key=lambda call: min(call[1], leave) - max(call[0], enter))
        check(
            found[0] >= enter - CLOCKS and found[1] <= leave + CLOCKS, 'no call from {} to {}: {}', enter, leave, near
        )
        return found

    def around(self, begin, end):
        """From the call before to the call after."""
        after = bisect.bisect_left(self.calls, (begin,))
        check(
            0 < after < len(self.calls)
            and self.calls[after - 1][1] <= begin + CLOCKS
            and end <= self.calls[after][0] + CLOCKS,
            'calls from {} to {}: {}',
            begin,
            end,
            self.calls[after - 1 : after + 1],
        )
        return self.calls[after - 1][1], self.calls[after][0]

    def next(self, ns):
        """The first call that began then, or later: of those within the difference of the clocks the nearest."""
        at = bisect.bisect_left(self.calls, (ns - CLOCKS,))
        check(at < len(self.calls), 'no call after {}', ns)
        return min(self.calls[at : at + 3], key=lambda call: abs(call[0] - ns))

    def before(self, ns):
        """When the last call ended that was over then."""
        return max(
            end
            for begin, end in self.calls[max(bisect.bisect_left(self.calls, (ns + CLOCKS,)) - 3, 0) :]
            if end <= ns + CLOCKS
        )
