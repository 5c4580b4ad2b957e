# SPDX-License-Identifier: BSD-3-Clause
"""What a program measured of itself, and how far a busy machine may have spoilt that.

    truth NAME VALUE [LESS [MORE]]     a line of its output: what it measured, and by how much what a recorder can see may be
                                       less or more, for its threads lost their processors meanwhile (lost.h)

An assertion holds within its tolerance. Only where it does not, and the machine took more from the program than nothing, the
run is made again, at most TRIES times in all. The last is judged by what its program says that it lost; where a hypervisor took
processors away, which no program sees, by that as well. What is wrong by more than that is wrong at once, on any machine.
"""

import os

from report import Mismatch, check

TRIES = 3


def repeat(attempt):
    """What a busy machine may spoil gets another try."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return attempt()
        except Mismatch as why:
            if not left:
                raise
            print('# again: {}'.format(why))


class Disturbed(Mismatch):
    """Not as wanted, but the machine may be to blame."""


def stolen():
    """Seconds so far that each processor of this machine, a virtual one, was ready to run and did not."""
    try:
        with open('/proc/stat') as f:
            lines = [line.split() for line in f if line.startswith('cpu') and line[3].isdigit()]
        return [int(line[8]) / os.sysconf('SC_CLK_TCK') for line in lines]
    except (OSError, IndexError, ValueError):
        return []


class Truth(dict):
    def __init__(self, text):
        self.less, self.more, self.is_last, self.stolen_s = {}, {}, True, 0
        for f in (line.split() for line in text.splitlines()):
            if f[:1] == ['truth'] and len(f) > 2 and f[2].lstrip('-').isdigit():
                self[f[1]], self.less[f[1]], self.more[f[1]] = (list(map(int, f[2:5])) + [0, 0])[:3]

    def near(self, what, found, name=None, slack=2e6, part=0.05):
        """`found`, in the program's unit, is what the program measured under this name."""
        name = name or what
        off, within = found - self[name], part * self[name] + slack
        lost = (self.less[name] if off < 0 else self.more[name]) + 1e9 * self.stolen_s
        said = '{}: {:.3f} ms, the program measured {:.3f} ms, of which it may have lost {:.3f} ms'.format(
            what, found / 1e6, self[name] / 1e6, lost / 1e6
        )
        self.expect(abs(off) <= within, abs(off) <= within + lost, '{}', said)

    def expect(self, good, is_excused, message, *values):
        """Good, or explained by what the machine took."""
        said = message.format(*values)
        if good:
            return
        if not self.is_last and (self.stolen_s or is_excused):
            raise Disturbed(said)
        check(is_excused, '{}', said)
        print('# ' + said)


class Measured:
    """Runs of a program. make() runs it once: its output, and what was found, as a tuple."""

    def __init__(self, make):
        self.make, self.runs, self.found = make, 0, None

    def run(self):
        before = stolen()
        text, self.found = self.make()
        self.runs += 1
        self.truth = Truth(text)
        most = max((now - then for now, then in zip(stolen(), before)), default=0)
        self.truth.stolen_s, self.truth.is_last = most, self.runs >= TRIES

    def test(self, judge, *more):
        """judge(found, truth, *more), of the last run or of another one."""
        while True:
            if not self.found:
                self.run()
            try:
                return judge(self.found, self.truth, *more)
            except Disturbed as why:
                print('# again: {}'.format(why))
                self.found = None
