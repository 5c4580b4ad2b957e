#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The line of each source that names its licence.

    licences.py [--add]    names the sources that lack it, exit 1; --add: adds it

.reuse/dep5 has the copyright, and the licence of all other files. So have programs of tests and examples, whose lines are named by number."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TAG = 'SPDX-' 'License-Identifier: '  # in two, as reuse reads this file, too
LINE = TAG + 'BSD-3-Clause'
# How each kind of file comments.
FORMS = {
    **dict.fromkeys(('c', 'h', 'cpp', 'hpp', 'css', 'js', 'mjs', 'map'), '/* {} */'),
    **dict.fromkeys(('py', 'sh', 't', 'm4', 'ac', 'am', 'tbl', 'yml', 'cff', 'toml'), '# {}'),
    **dict.fromkeys(('f90', 'F90'), '! {}'),
    **dict.fromkeys(('1',), '.\\" {}'),
    **dict.fromkeys(('html',), '<!-- {} -->'),
}
OTHERS = re.compile(r'share/vendor/[^/]*/')  # .reuse/dep5 has their licences
NUMBERED = re.compile(r'share/examples/|tests/.*\.(c|h|cpp|hpp|f90|F90)$|tests/mpi/python_.*\.py$')
HEAD = 12  # lines in which others have theirs
# What must stay the first line of a file; the licence is below it.
FIRST = re.compile(r'#!|<!doctype |/\* In .*\. \*/$')


def text_of(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as f:
        return f.read()


def files():
    """Of the repository; of a tarball all that is there, with what was built."""
    if os.path.exists(os.path.join(ROOT, '.git')):
        command = ['git', 'ls-files', '-co', '--exclude-standard']
        names = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
        return [name for name in names if os.path.isfile(os.path.join(ROOT, name))]
    return []


def form_of(name):
    """How the line is written in a file; None: it carries none."""
    if NUMBERED.match(name) or OTHERS.match(name):
        return None
    base = os.path.basename(name)
    form = FORMS.get(base.rpartition('.')[2]) if '.' in base.lstrip('.') else None
    if not form and os.access(os.path.join(ROOT, name), os.X_OK) and text_of(name).startswith('#!'):
        form = '# {}'
    return form


def carriers():
    """(file, its line)"""
    return [(name, form_of(name).format(LINE)) for name in files() if form_of(name)]


def has(name, line):
    """Or the file is of others, and says so; then `reuse lint` wants the text of its licence in LICENSES/."""
    lines = text_of(name).splitlines()
    others = [other for other in lines[:HEAD] if TAG in other and LINE not in other]
    return line in lines[:2] or bool(others)


def add(name, line):
    lines = text_of(name).splitlines(keepends=True)
    lines.insert(bool(lines and FIRST.match(lines[0])), line + '\n')
    with open(os.path.join(ROOT, name), 'w', encoding='utf-8') as f:
        f.write(''.join(lines))


def main():
    lacking = [(name, line) for name, line in carriers() if not has(name, line)]
    for name, line in lacking:
        if '--add' in sys.argv[1:]:
            add(name, line)
        else:
            print('{}: no line {}'.format(name, line))
    sys.exit(bool(lacking) and '--add' not in sys.argv[1:])


if __name__ == '__main__':
    main()
