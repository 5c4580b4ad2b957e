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

# Still to be edited. A document leaves this list, and none comes.
NOT_YET = {
    'share/doc/decisions.md',
    'share/doc/glossary.md',
    'share/format.md',
    'share/fvmpi-diff-2.md',
    'share/fvmpi-doctor-1.md',
    'share/fvmpi-profile-2.md',
    'share/fvmpi-scaling-1.md',
    'share/fvmpi-stacks-1.md',
}
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
            if name in NOT_YET and wrong:
                raise harness.Skip('to be edited: {}'.format(wrong[-1]))
            equal('wrong', wrong, [])
    tap.done()


main()
