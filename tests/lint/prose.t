#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documents are plain English, by share/doc/style.md."""
import glob
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.append(sys.path[0] + '/../harness')
import harness
import prose
from report import equal

EXAMPLES = {'share/doc/style.md'}  # it quotes what is wrong


def documents():
    names = [
        'README.md',
        'ARCHITECTURE.md',
        'CONTRIBUTING.md',
        'CHANGES.md',
        'CODE_OF_CONDUCT.md',
        'SECURITY.md',
        'SUPPORT.md',
    ]
    names += sorted(
        os.path.relpath(n, SOURCE)
        for pattern in ('share/*.md', 'share/doc/*.md', 'share/man/*.1')
        for n in glob.glob(os.path.join(SOURCE, pattern))
    )
    return [n for n in names if n not in EXAMPLES]


def main():
    tap = harness.Tap()
    for name in documents():
        with tap.test(name):
            wrong = prose.measure(os.path.join(SOURCE, name))[-1]
            equal('wrong', wrong, [])
    tap.done()


main()
