#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The sources are as ./dev format makes them, and no line of C or JavaScript has more than 120 columns."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import format
import harness
from report import check, equal


def main():
    tap = harness.Tap()
    with tap.test('all sources are as ./dev format makes them'):
        if format.missing():
            raise harness.Skip(format.missing())
        equal('changes', format.run(True), [])
    with tap.test('no line of C or JavaScript is longer than {} columns'.format(format.WIDTH)):
        if not os.path.exists(os.path.join(format.ROOT, '.git')):
            raise harness.Skip('no checkout of git')
        c, _, javascript = format.sources()
        names = [n for n in c if n.startswith(format.C_FOLDERS)] + javascript
        check(len(names) > 500 and javascript, '{} sources', len(names))
        for name in names:
            with open(os.path.join(format.ROOT, name)) as f:
                equal(name, [line for line in f if len(line.rstrip('\n')) > format.WIDTH], [])
    tap.done()


main()
