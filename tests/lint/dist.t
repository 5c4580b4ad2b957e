#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tarball has all sources, tests and documents, and what Python makes of tables, so that it needs neither Python
nor autotools. Each C file is in a local.am, each script in pages that are there."""
import fnmatch
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get('FVMPI_BUILD') or os.path.join(SOURCE, 'build'))
ASK = 'include Makefile\nask: ; @printf "%s\\n" $(DISTFILES) : $(tables) $(generated_by_table) $(pages) : $(made_by_tests)\n'
# Where the build is in the source tree, it has more: what depends on the MPIs that are there.
KINDS = re.compile(r'\.(am|c|cpp|css|f90|h|hpp|html|js|map|md|mjs|png|pyi?|ipynb|sh|t|tbl|toml|txt|typed|xz|[1-9])$')
OF_DEBIAN_BUILD = re.compile(r'debian/(files|.*\.substvars|.*debhelper.*)$')
OF_BUILD = re.compile(r'mpi-wrappers/(front-stubs\.h|(abi|mpich|openmpi)/)')
RELEASE = {'AUTHORS', 'CITATION.cff', 'LICENSE', 'LICENSES', '.reuse/dep5', 'codemeta.json'}
number, failed = 0, 0


def check(what, wrong):
    global number, failed
    number, failed = number + 1, failed + bool(wrong)
    print('{} {} - {}'.format('not ok' if wrong else 'ok', number, what))
    for line in sorted(wrong):
        print('# ' + line)


def relative(path):
    path = os.path.join(BUILD, path)
    for tree in (BUILD, SOURCE):
        if os.path.realpath(path).startswith(os.path.realpath(tree) + '/'):
            return os.path.relpath(os.path.realpath(path), os.path.realpath(tree))
    return path


def lists():
    """What make ships; what Python makes; patterns of what tests make, which is not shipped."""
    out = subprocess.run(
        ['make', '-s', '-C', BUILD, '-f', '-', 'ask'], input=ASK, capture_output=True, text=True, check=True
    ).stdout.split()
    at, end = [i for i, word in enumerate(out) if word == ':']
    return {relative(name) for name in out[:at]}, {relative(name) for name in out[at + 1 : end]}, out[end + 1 :]


def sources():
    for top in ('debian', 'mpi-wrappers', 'otf2', 'packaging', 'python', 'share', 'src', 'tests'):
        for at, folders, names in os.walk(os.path.join(SOURCE, top)):
            folders[:] = [name for name in folders if name not in ('node_modules', '__pycache__', '.deps', '.libs')]
            if top == 'debian':  # a build of the packages unpacks them there
                folders[:] = [name for name in folders if name in ('source', 'tests')]
            for name in names:
                yield os.path.relpath(os.path.join(at, name), SOURCE)


def is_shipped(name, shipped):
    while name and name not in shipped:
        name = os.path.dirname(name)
    return name


def words():
    """Of all makefiles' parts; %D% is the folder of the part."""
    for name in sources():
        if os.path.basename(name) == 'local.am':
            with open(os.path.join(SOURCE, name), encoding='utf-8') as f:
                yield from f.read().replace('%D%', os.path.dirname(name)).split()


def scripts_of_no_page():
    """The first line of a script names its pages."""
    folder = os.path.join(SOURCE, 'share', 'page')
    for name in os.listdir(folder):
        if name.endswith('.js'):
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                pages = re.match(r'/\* In (.*)\. \*/$', f.readline())
            if not pages or set(pages[1].split(', ')) - set(os.listdir(folder)):
                yield name


def main():
    shipped, made, left_out = lists()
    files = [
        name
        for name in sources()
        if (
            KINDS.search(name)
            or name.startswith(('debian/', 'packaging/'))
            or name.startswith('tests/')
            and BUILD != SOURCE
        )
        and not OF_BUILD.match(name)
        and not OF_DEBIAN_BUILD.match(name)
    ]
    named = set(words())
    check(
        'make has a list of what it ships',
        []
        if len(shipped) > 500 and len(files) > 500
        else ['{} shipped, {} are there'.format(len(shipped), len(files))],
    )
    check('each source, test and document is in the tarball', [name for name in files if not is_shipped(name, shipped)])
    check(
        'what describes a release is in the tarball',
        {name for name in os.listdir(SOURCE) if name.endswith('.md')}.union(RELEASE) - shipped,
    )
    check('what Python makes is in the tarball, too', made - shipped)
    # Of a folder make takes what the build has in it, too.
    built = {
        os.path.join(folder, name)
        for folder in shipped
        if os.path.isdir(os.path.join(BUILD, folder)) and BUILD != SOURCE
        for name in set(os.listdir(os.path.join(BUILD, folder))) - set(os.listdir(os.path.join(SOURCE, folder)))
    }
    check(
        'what tests make is not in the tarball',
        [name for name in built if not any(fnmatch.fnmatch(name, pattern) for pattern in left_out)],
    )
    check(
        'each C file is in a local.am',
        [name for name in files if re.match(r'(src|otf2|mpi-wrappers)/.*\.c$', name) and name not in named],
    )
    check('each script says of which pages it is', list(scripts_of_no_page()))
    print('1..{}'.format(number))
    sys.exit(failed > 0)


main()
