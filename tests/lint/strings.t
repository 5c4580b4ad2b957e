#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the sources print is plain English, by share/doc/style.md: messages, --help, reports, meanings of columns."""
import collections
import fnmatch
import glob
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.append(sys.path[0] + '/../harness')
import harness
import prose
import strings
from report import check, equal

# Still to be edited. A file leaves this list, and none comes.
NOT_YET = []
KNOWN = r'''
#include "a folder/of four/words/here.h"
#define SAYS "a macro goes " \
             "over two lines"
fv_log("%s: rank %d has " /* and */
       "no samples. They are "PRIu64" words; say `fvmpi run`", a, b); // "this is no literal"
static const char usage[] = "usage: fvmpi one two three\n"
                            "Reads all files of a\n"
                            "run, and says so.\n"
                            "  -o, --output FILE  write it to a file\n"
                            "                     that is called \"FILE\"\n";
sscanf(line, "%*s %llu %llu %llu %d", c); char quote = '"'; puts("three words only"); puts("a \033[1mbold\033[0m word here");
'''


def sources():
    names = [
        os.path.relpath(name, SOURCE)
        for folder in ('src', 'otf2', 'mpi-wrappers')
        for name in glob.glob(os.path.join(SOURCE, folder, '**', '*.[ch]'), recursive=True)
    ]
    return sorted(names)


def main():
    tap = harness.Tap()
    with tap.test('literals become sentences'):
        equal(
            'sentences',
            [(line, sentence) for line, _, sentence in strings.sentences(KNOWN)],
            [
                (3, 'a macro goes over two lines'),
                (5, '%s: rank %d has no samples.'),
                (5, 'They are PRIu64 words; say `fvmpi run`'),
                (7, 'usage: fvmpi one two three'),
                (7, 'Reads all files of a run, and says so.'),
                (7, 'write it to a file that is called "FILE"'),
                (12, 'a bold word here'),
            ],
        )
    with tap.test('words that are ruled out are found'):
        said = 'puts("Of all ranks, the first waits."); puts("nobody reads this one"); puts("it is not told here");'
        equal('found', [bool(strings.FORBIDDEN.search(s)) for _, _, s in strings.sentences(said)], [True] * 3)
    folders = collections.defaultdict(list)
    for name in sources():
        words, wrong = strings.measure(os.path.join(SOURCE, name))
        if wrong and any(fnmatch.fnmatch(name, pattern) for pattern in NOT_YET):
            with tap.test(name):
                raise harness.Skip('to be edited: {}'.format(wrong[0]))
        else:
            folders[os.path.dirname(name)].append((name, words, wrong))
    words = []
    for folder, files in sorted(folders.items()):
        with tap.test(folder):
            equal('wrong', ['{}:{}'.format(name, w) for name, _, wrong in files for w in wrong], [])
        words += [n for _, all_words, _ in files for n in all_words]
    with tap.test('sentences are short in the mean'):
        mean, long = sum(words) / len(words), sum(n > prose.LONG for n in words) / len(words)
        check(mean <= prose.MEAN_MOST and long <= prose.LONG_MOST, 'mean {:.1f} words, above 25: {:.0%}', mean, long)
    tap.done()


main()
