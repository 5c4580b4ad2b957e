#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No function of C has 50 lines or more, and no file of the product or the unit tests 800. No file has marks of a
merge."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRODUCT, TESTS = ('src', 'mpi-wrappers', 'otf2'), ('tests/unit',)
FUNCTION, FILE = 50, 800


def sources(folders):
    for folder in folders:
        for at, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                path = os.path.join(at, name)
                if name.endswith(('.c', '.h')):
                    with open(path, encoding='utf-8') as f:
                        lines = f.read().splitlines()
                    if not re.match(r'.*(Generated|Made) by', ' '.join(lines[:2])):  # a tarball has such
                        yield os.path.relpath(path, ROOT), lines


def marked():
    """Lines that git leaves where both sides changed something."""
    for at, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ('.git', 'node_modules') and not f.startswith('build')]
        for name in names:
            path = os.path.join(at, name)
            if not os.path.isfile(path) or name.endswith(('.xz', '.png')):
                continue
            with open(path, 'rb') as f:
                if re.search(rb'^(?:<{7}|>{7}) ', f.read(), re.M):
                    yield os.path.relpath(path, ROOT)


def functions(lines):
    """First line and length of each: between braces in the first column."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == '{':
            begin = number
        elif line == '}' and begin:
            yield begin, number - begin - 1
            begin = None


def main():
    tap = harness.Tap()
    product, tests = list(sources(PRODUCT)), list(sources(TESTS))
    found = [('{}:{}'.format(name, at), length) for name, lines in product + tests for at, length in functions(lines)]
    with tap.test('no function has {} lines'.format(FUNCTION)):
        check(len(found) > 3000, '{} functions', len(found))
        equal('too long', [one for one in found if one[1] >= FUNCTION], [])
    with tap.test('no file of the product or the unit tests has {} lines'.format(FILE)):
        check(len(product) > 400, '{} files', len(product))
        equal('too long', [(name, len(lines)) for name, lines in product + tests if len(lines) >= FILE], [])
    with tap.test('no file has marks of a merge'):
        equal('marked', sorted(marked()), [])
    tap.done()


main()
