#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the sources: C by clang-format, Python by black, JavaScript by prettier.

    format.py [--check] [FILE...]    rewrites the files; --check: names those that would change, exit 1

Without FILEs it takes all of the repository, but for C of tests that are programs, whose lines tests name. Comments
of C and JavaScript that are wider than the column limit are wrapped here: clang-format would join the tables in them,
prettier leaves them. A comment on lines of its own goes on in the next line. One behind code goes on below itself, or
stands above the code where there is little room. The versions are those of Debian 12 and of tests/page/package.json:
others format otherwise."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENDORED = re.compile(r'share/vendor/[^/]*/')  # libraries of others, as they are
PRETTIER = os.path.join(ROOT, 'tests/page/node_modules/.bin/prettier')
C_FOLDERS = ('src/', 'mpi-wrappers/', 'otf2/', 'tests/unit/')
ROUNDS = 12
WIDTH = 120
ROOM = 48  # columns that a comment behind code needs
OWN = re.compile(r'^(\s*)(/\*+|\*(?!/))(\s*)(.*)$')
BEHIND = re.compile(r'^(\s*)(\S.*?)(\s*)/\* ((?:[^"]|"[^"]*")*)$')
ITEM = re.compile(r'^(?:[-*] |\d+\. |(?:\[[^\]]*\]|\S+)  +)')


def split(text, room):
    """Words that have room, and the rest."""
    at = text.rfind(' ', 0, room + 1)
    if text[at + 1 :] == '*/':
        at = text.rfind(' ', 0, at)
    return (text[:at].rstrip(), text[at:].strip()) if at > 0 else (text, '')


def is_table(text):
    return re.search(r'\S  +\S', text)


def code_of(line, is_within):
    """The line without what strings hold, unless it goes on with a comment."""
    return line if is_within else re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' * len(m[0]), line)


class Wrapped:
    def __init__(self, text):
        self.lines = text.split('\n')
        self.done = []

    def own(self, indent, begin, gap, text):
        """In lines of a comment's own: what has no room goes to the next line, which it begins if that is of the same paragraph."""
        star = indent + (' ' if begin.startswith('/*') else '') + '*'
        is_end = text.endswith('*/')
        first, rest = split(text, WIDTH - len(indent + begin + gap))
        if not rest:
            self.done.append(indent + begin + gap + text)
            return
        self.done.append(indent + begin + gap + first)
        below = OWN.match(self.lines[0]) if self.lines and not is_end else None
        hang = gap if gap.strip() == '' and gap else ' '
        if ITEM.match(text) and begin == '*':
            hang += ' ' * len(ITEM.match(text)[0])
        if (
            below
            and below[2] == '*'
            and below[1] + '*' == star
            and below[3] == hang
            and below[4]
            and not ITEM.match(below[4])
            and not is_table(below[4] + text)
        ):
            self.lines[0] = star + hang + rest + ' ' + below[4]
        else:
            self.lines.insert(0, star + hang + rest)

    def behind(self, indent, code, gap, text):
        column = len(indent + code + gap)
        is_whole = text.endswith('*/')
        if is_whole and (
            code.startswith('#') or (column > WIDTH - ROOM and not code.startswith('}') and code[-1] in ';{,:')
        ):
            self.lines[:0] = [indent + '/* ' + text, indent + code]
            return
        first, rest = split(text, WIDTH - column - 3)
        if not rest or column > WIDTH - 20:
            self.done.append(indent + code + gap + '/* ' + text)
            return
        self.done.append(indent + code + gap + '/* ' + first)
        star = ' ' * (column + 1) + '* '
        if not is_whole and self.lines and self.lines[0].strip().startswith('*'):
            self.lines[0] = star + rest + ' ' + self.lines[0].strip()[1:].strip()
        else:
            self.lines.insert(0, star + rest)

    def line(self, line, is_within):
        """One that is too long; is_within: it goes on with a comment. False: what became of it is to be looked at again."""
        own, behind, end = OWN.match(line), BEHIND.match(line), code_of(line, is_within).find('*/')
        is_one = end in (-1, len(line) - 2)
        if own and (is_within or (line.strip().startswith('/*') and is_one)):
            self.own(*own.groups())
        elif behind and not is_within and is_one and '/*' not in behind[4]:
            before = len(self.lines)
            self.behind(*behind.groups())
            return len(self.lines) < before + 2
        else:
            self.done.append(line)
        return True

    def run(self):
        star = None  # where lines that go on with a comment have it; -1: as they are
        while self.lines:
            line = self.lines.pop(0)
            if star is not None and star >= 0 and line.strip():
                line = ' ' * star + ('' if line.strip().startswith('*') else '* ') + line.strip()
            if len(line) <= WIDTH:
                self.done.append(line)
            elif not self.line(line, star is not None):
                continue
            line = self.done[-1]
            code = code_of(line, star is not None)
            last = max(code.rfind('/*'), code.rfind('*/'))
            if last >= 0:
                star = None if code.startswith('*/', last) else last + 1 if line[:last].strip() else -1
        return '\n'.join(self.done)


def clang_format(names, *options):
    """The names in what it says of them, by all processors."""
    parts = [names[i :: os.cpu_count()] for i in range(os.cpu_count())]
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        said = pool.map(
            lambda part: subprocess.run(
                ['clang-format', *options, *part], capture_output=True, text=True, cwd=ROOT
            ).stderr
            if part
            else '',
            parts,
        )
    return sorted(set(re.findall(r'^(\S+?):\d+:\d+: ', ''.join(said), re.M)))


def wrapped(name):
    with open(os.path.join(ROOT, name)) as f:
        text = f.read()
    return text, Wrapped(text).run()


def wrap(names):
    changed = []
    for name in names:
        before, after = wrapped(name)
        if after != before:
            changed.append(name)
            with open(os.path.join(ROOT, name), 'w') as f:
                f.write(after)
    return changed


def format_c(names, is_check):
    if is_check:
        return sorted(set([n for n in names if len(set(wrapped(n))) > 1] + clang_format(names, '--dry-run')))
    changed, left = set(), names
    for _ in range(ROUNDS):  # comments that have moved may have to be wrapped again
        left = sorted(set(wrap(left) + clang_format(left, '--dry-run')))
        clang_format(left, '-i')
        changed.update(left)
    return sorted(changed)


def format_python(names, is_check):
    out = subprocess.run(
        ['black', '--fast'] + (['--check'] if is_check else []) + names, capture_output=True, text=True, cwd=ROOT
    ).stderr
    return re.findall(r'^(?:would reformat|reformatted) (.*)', out, re.M)


def format_javascript(names, is_check):
    if is_check:
        out = subprocess.run([PRETTIER, '--list-different'] + names, capture_output=True, text=True, cwd=ROOT).stdout
        return sorted(set(out.split() + [n for n in names if len(set(wrapped(n))) > 1]))
    changed = wrap(names)
    out = subprocess.run([PRETTIER, '--write'] + names, capture_output=True, text=True, cwd=ROOT).stdout
    return sorted(set(changed + [line.split()[0] for line in out.splitlines() if 'unchanged' not in line]))


def sources():
    """Of the repository: C, Python, JavaScript."""
    names = subprocess.run(
        ['git', 'ls-files', '-co', '--exclude-standard'], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    names = [n for n in names if not VENDORED.match(n)]
    c = [n for n in names if n.endswith(('.c', '.h')) and n.startswith(C_FOLDERS)]
    python = [n for n in names if n.endswith('.py') or n.endswith('.t') and 'python3' in first_line(n)]
    return c, python, [n for n in names if n.endswith(('.js', '.mjs'))]


def first_line(name):
    with open(os.path.join(ROOT, name)) as f:
        return f.readline()


def missing():
    """What the formatting needs and is not here, or in another version; None: nothing."""
    if not os.path.exists(os.path.join(ROOT, '.git')):
        return 'no checkout of git'
    for command, version in (('clang-format', 'clang-format version 14.'), ('black', 'black, 23.')):
        if not shutil.which(command):
            return 'no ' + command
        said = subprocess.run([command, '--version'], capture_output=True, text=True).stdout
        if version not in said:
            return '{}, wanted {}'.format(said.splitlines()[0], version)
    return None if os.path.exists(PRETTIER) else 'no prettier: ./dev deps'


def run(is_check, wanted=()):
    """Names of the files that change."""
    kinds = [[n for n in names if not wanted or n in wanted] for names in sources()]
    return [
        n
        for names, of in zip(kinds, (format_c, format_python, format_javascript))
        if names
        for n in of(names, is_check)
    ]


def main():
    is_check = '--check' in sys.argv[1:]
    why = missing()
    if why:
        sys.exit('format: ' + why)
    changed = run(is_check, [os.path.relpath(os.path.abspath(n), ROOT) for n in sys.argv[1:] if n != '--check'])
    for name in changed:
        print(('not as formatted: ' if is_check else 'formatted: ') + name)
    sys.exit(bool(changed) and is_check)


if __name__ == '__main__':
    main()
