#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documents are plain English, by share/doc/style.md; guides are short, and share/doc/index.md names each."""
import glob
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.append(sys.path[0] + '/../harness')
import harness
import prose
from report import check, equal

EXAMPLES = {'share/doc/style.md'}  # it quotes what is wrong
NO_GUIDES = {
    'index.md',  # names the guides
    'decisions.md',  # for developers, like the next
    'style.md',
    'losses.md',  # a table
    'tour.md',  # these are generated
    'glossary.md',
    'sensor-events.md',
}
GUIDE_MOST = 700  # words


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


def read(name):
    with open(os.path.join(SOURCE, 'share/doc', name), encoding='utf-8') as f:
        return f.read()


def guides(tap):
    names = {os.path.basename(n) for n in glob.glob(os.path.join(SOURCE, 'share/doc/*.md'))}
    with tap.test('guides have at most {} words'.format(GUIDE_MOST)):
        check(NO_GUIDES < names, 'not there: {}', NO_GUIDES - names)
        words = {n: len(read(n).split()) for n in names - NO_GUIDES}
        equal('longer', {n: count for n, count in words.items() if count > GUIDE_MOST}, {})
    with tap.test('index.md names each guide'):
        equal('not named', sorted(n for n in names - NO_GUIDES if '| {} |'.format(n) not in read('index.md')), [])


def main():
    tap = harness.Tap()
    guides(tap)
    for name in documents():
        with tap.test(name):
            wrong = prose.measure(os.path.join(SOURCE, name))[-1]
            equal('wrong', wrong, [])
    tap.done()


main()
