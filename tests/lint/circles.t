#!/usr/bin/env python3
"""The files of a folder are layers: no file uses another that, directly or not, uses it. A call upward is a callback. Seen by nm
in the objects of the build: what one of them leaves undefined and another one of the folder defines."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get('FVMPI_BUILD') or os.path.join(SOURCE, 'build'))
FOLDERS = ['otf2'] + sorted('src/' + d for d in os.listdir(os.path.join(SOURCE, 'src')) if os.path.isdir(os.path.join(SOURCE, 'src', d)))
# Still to be opened: each leaves this list for good, and so does each file in it.
KNOWN = {
    'src/rt': ['barrier.c call.c comm.c events.c sections.c start.c thread.c'],
    'src/sampler': ['contexts.c window.c', 'calibrate.c pmu.c'],
    'src/threads': ['holds.c objects.c sync.c traced.c'],
}


def objects(folder):
    """By source file, one object of each."""
    found = {}
    for at, _, names in os.walk(os.path.join(BUILD, folder)):
        for name in sorted(names):
            match = re.match(r'(?:\w+-)?([\w-]+)\.o$', name)
            where = os.path.relpath(re.sub(r'/\.libs$', '', at), BUILD)
            if match and os.path.exists(os.path.join(SOURCE, where, match[1] + '.c')):
                found[os.path.relpath(os.path.join(where, match[1] + '.c'), folder)] = os.path.join(at, name)
    return found


def symbols(path):
    defined, used = set(), set()
    for line in subprocess.run(['nm', '-P', '-g', path], capture_output=True, text=True, check=True).stdout.splitlines():
        name, kind = line.split()[:2]
        (used if kind in 'Uvw' else defined).add(name)
    return defined, used


def reach(graph, start):
    seen, todo = set(), [start]
    while todo:
        for to in graph[todo.pop()] - seen:
            seen.add(to)
            todo.append(to)
    return seen


def circles(folder):
    tables = {name: symbols(path) for name, path in objects(folder).items()}
    graph = {a: {b for b in tables if b != a and tables[a][1] & tables[b][0]} for a in tables}
    beyond = {a: reach(graph, a) for a in graph}
    return len(tables), {frozenset(b for b in beyond[a] if a in beyond[b]) for a in graph if a in beyond[a]}


def main():
    number, failed = 0, 0
    for folder in FOLDERS:
        count, found = circles(folder)
        known, said = [set(k.split()) for k in KNOWN.get(folder, [])], []
        for circle in found:
            if not any(circle <= k for k in known):
                said.append('a circle: ' + ' '.join(sorted(circle)))
        for k in known:
            left = set().union(*[c for c in found if c <= k])
            if count and not left:
                said.append('opened, take it from the list: ' + ' '.join(sorted(k)))
            elif left != k:
                print('# {}: may leave the list: {}'.format(folder, ' '.join(sorted(k - left))))
        number, failed = number + 1, failed + bool(said)
        print('{} {} - {}: no circle of its {} files{}'.format('not ok' if said else 'ok', number, folder, count,
                                                             ' but those to be opened' if known else ''))
        for line in said:
            print('# ' + line)
    print('1..{}'.format(number))
    sys.exit(failed > 0)


main()
