#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documents are plain English, by share/doc/style.md. Guides are short, and all documents together; share/doc/index.md
names each guide. Documents that README.md and the index name are links."""
import fnmatch
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.append(sys.path[0] + '/../harness')
import harness
import prose
from report import check, equal

EXAMPLES = {'share/doc/style.md'}  # it quotes what is wrong
GENERATED_GUIDES = {'tour.md', 'glossary.md', 'sensor-events.md'}
NO_GUIDES = GENERATED_GUIDES | {
    'index.md',  # names the guides
    'style.md',  # for developers, like decisions.md
    'decisions.md',
    'losses.md',
}
GENERATED = ['share/format.md', 'share/fvmpi-*.md', *('share/doc/' + n for n in GENERATED_GUIDES)]
GUIDE_MOST = 700  # words
ALL_MOST = 45000  # words, as wc -w counts them


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
    with open(os.path.join(SOURCE, name), encoding='utf-8') as f:
        return f.read()


def words_of(name):
    return len(read(name).split())


def guides(tap):
    names = {os.path.basename(n) for n in glob.glob(os.path.join(SOURCE, 'share/doc/*.md'))}
    with tap.test('guides have at most {} words'.format(GUIDE_MOST)):
        check(NO_GUIDES < names, 'not there: {}', NO_GUIDES - names)
        words = {n: words_of('share/doc/' + n) for n in names - GENERATED_GUIDES - {'losses.md'}}  # a table
        equal('longer', {n: count for n, count in words.items() if count > GUIDE_MOST}, {})
    with tap.test('index.md names each guide'):
        index = read('share/doc/index.md')
        equal('not named', sorted(n for n in names - NO_GUIDES if '| [{0}]({0}) |'.format(n) not in index), [])


def links(tap):
    """Who reads these on a forge goes on by a click."""
    for name in ('README.md', 'share/doc/index.md'):
        with tap.test('{}: documents are links, and links lead to files'.format(name)):
            text = re.sub(r'^```.*?^```', '', read(name), flags=re.S | re.M)
            to = re.findall(r'\]\((?!https?:)([^)#]+)[^)]*\)', text)
            here = os.path.join(SOURCE, os.path.dirname(name))
            check(len(to) > 25, '{} links', len(to))
            equal('lead nowhere', [n for n in to if not os.path.exists(os.path.join(here, n))], [])
            plain = re.sub(r'!?\[[^]]*\]\([^)]*\)', '', text)
            equal('no links', re.findall(r'[\w./-]+\.md\b|\b[A-Z]{6,}\.\w+', plain), [])


def written():
    """The documents of the repository that are not generated."""
    command = ['git', 'ls-files', '*.md', 'share/man/*', ':!LICENSES']
    names = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=True).stdout.split()
    return [
        n
        for n in names
        if os.path.isfile(os.path.join(SOURCE, n)) and not any(fnmatch.fnmatch(n, g) for g in GENERATED)
    ]


def front_door(tap):
    with tap.test('README.md has at most 130 lines, CHANGES.md 25 entries a version'):
        check(read('README.md').count('\n') <= 130, '{} lines', read('README.md').count('\n'))
        entries = [of.count('\n- ') for of in read('CHANGES.md').split('\n## ')[1:]]
        check(entries and max(entries) <= 25, 'entries: {}', entries)


def all_words(tap):
    with tap.test('all documents that are not generated have fewer than {:,} words'.format(ALL_MOST)):
        if not os.path.exists(os.path.join(SOURCE, '.git')):
            raise harness.Skip('no checkout of git')
        words = {n: words_of(n) for n in written()}
        check(len(words) > 50, '{} documents', len(words))
        longest = sorted(words, key=words.get, reverse=True)[:3]
        count = sum(words.values())
        check(
            count < ALL_MOST,
            '{:,} words; the longest: {}',
            count,
            ', '.join('{} {:,}'.format(n, words[n]) for n in longest),
        )


def main():
    tap = harness.Tap()
    guides(tap)
    links(tap)
    front_door(tap)
    all_words(tap)
    for name in documents():
        with tap.test(name):
            wrong = prose.measure(os.path.join(SOURCE, name))[-1]
            equal('wrong', wrong, [])
    tap.done()


main()
