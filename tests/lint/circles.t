#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The files of a folder are layers: no file uses another that, directly or not, uses it; and so are the folders, by
src/layers.txt. A call upward is a callback. Seen by nm in the objects of the build: what one of them leaves undefined
and another one defines."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get('FVMPI_BUILD') or os.path.join(SOURCE, 'build'))
FOLDERS = ['otf2'] + sorted(
    'src/' + d for d in os.listdir(os.path.join(SOURCE, 'src')) if os.path.isdir(os.path.join(SOURCE, 'src', d))
)

sys.dont_write_bytecode = True
import layers

LAYERS = layers.layers()

_tables = {}


def objects(folder):
    """By source file, one object of each; not of the library that does nothing, which ./dev bench builds."""
    found = {}
    for at, _, names in os.walk(os.path.join(BUILD, folder)):
        for name in sorted(names):
            match = re.match(r'(?:\w+-)?([\w-]+)\.o$', name)
            where = os.path.relpath(re.sub(r'/\.libs$', '', at), BUILD)
            if (
                match
                and not name.startswith('libfvmpi_nop_')
                and any(os.path.exists(os.path.join(tree, where, match[1] + '.c')) for tree in (SOURCE, BUILD))
            ):
                source, path = os.path.relpath(os.path.join(where, match[1] + '.c'), folder), os.path.join(at, name)
                # not what an older makefile left
                if source not in found or os.path.getmtime(path) > os.path.getmtime(found[source]):
                    found[source] = path
    return found


def symbols(paths):
    """By object: what it defines, what it uses."""
    found = {path: (set(), set()) for path in paths}
    for line in subprocess.run(
        ['nm', '-A', '-P', '-g'] + list(paths), capture_output=True, text=True, check=True
    ).stdout.splitlines():
        path, _, rest = line.partition(': ')
        name, kind = rest.split()[:2]
        found[path][kind in 'Uvw'].add(name)
    return found


def tables_of(folder):
    if folder not in _tables:
        files = objects(folder)
        found = symbols(files.values()) if files else {}
        _tables[folder] = {name: found[path] for name, path in files.items()}
    return _tables[folder]


def reach(graph, start):
    seen, todo = set(), [start]
    while todo:
        for to in graph[todo.pop()] - seen:
            seen.add(to)
            todo.append(to)
    return seen


def circles(folder):
    tables = tables_of(folder)
    graph = {a: {b for b in tables if b != a and tables[a][1] & tables[b][0]} for a in tables}
    beyond = {a: reach(graph, a) for a in graph}
    return len(tables), {frozenset(b for b in beyond[a] if a in beyond[b]) for a in graph if a in beyond[a]}


def folder_of(layer):
    return layer if layer == 'otf2' else 'src/' + layer


def upward(layer, may):
    """What its files use that only folders define which it does not use."""
    below = {
        symbol
        for name in may
        if not name.endswith('.h')
        for defined, _ in tables_of(folder_of(name)).values()
        for symbol in defined
    }
    above = {
        symbol
        for name in LAYERS
        if name not in may
        for defined, _ in tables_of(folder_of(name)).values()
        for symbol in defined
    }
    return [
        '{} uses {}'.format(name, symbol)
        for name, (_, used) in sorted(tables_of(folder_of(layer)).items())
        for symbol in sorted(used & above - below)
        if symbol.startswith('fv_')
    ]


def main():
    number, failed = 0, 0
    for layer, may in LAYERS.items():
        said = upward(layer, may)
        number, failed = number + 1, failed + bool(said)
        print('{} {} - {} calls only what it may use'.format('not ok' if said else 'ok', number, layer))
        for line in said:
            print('# ' + line)
    for folder in FOLDERS:
        count, found = circles(folder)
        number, failed = number + 1, failed + bool(found)
        print('{} {} - {}: no circle of its {} files'.format('not ok' if found else 'ok', number, folder, count))
        for circle in found:
            print('# a circle: ' + ' '.join(sorted(circle)))
    print('1..{}'.format(number))
    sys.exit(failed > 0)


main()
