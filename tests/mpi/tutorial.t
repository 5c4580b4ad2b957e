#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""share/doc/tutorial.md: its commands, in their order, on copies of its examples, in C and in Fortran. What the report
names is what the tutorial shows: the problem of each step, and no more the one that was mended before. The program
computes the same in all steps."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

TUTORIAL = os.path.join(harness.SOURCE, 'share', 'doc', 'tutorial.md')
EXAMPLES = os.path.join(harness.SOURCE, 'share', 'examples')
# a quarter of them will do without ./dev mpis
ROUNDS = r'(#define ROUNDS +|rounds = )160\b'
# experiment: the function of its first finding
PLANTED = {'slow': 'react', 'even': 'exchange_with', 'packed': 'draw|save', 'fast': None}


def commands():
    """Lines that begin with a dollar, in blocks of code."""
    with open(TUTORIAL, encoding='utf-8') as f:
        return [line[6:].strip() for line in f if line.startswith('    $ ')]


def tools(mpi):
    """A folder whose mpicc, mpifort and mpiexec are this MPI's, and fvmpi is the build's."""
    folder = harness.scratch('bin')
    programs = {'mpicc': [mpi.cc], 'mpifort': [mpi.fc], 'mpiexec': [mpi.exec] + mpi.options, 'fvmpi': [harness.FVMPI]}
    programs['fvunify'] = [os.path.join(harness.BUILD, 'fvunify')]
    for name, command in programs.items():
        path = os.path.join(folder, name)
        with open(path, 'w') as f:
            f.write('#!/bin/sh\nexec {} "$@"\n'.format(' '.join(command)))
        os.chmod(path, 0o755)
    return folder


def in_fortran(command):
    """The tutorial says it once, of C."""
    command = command.replace('--source heat.c', '--source heat.f90')
    return re.sub(r'\bmpicc -g -O2(.*) heat.c -o (heat\d) -lm', r'mpifort -g -O2 -cpp\1 heat.f90 -o \2', command)


def first_lines(out):
    return ' '.join(out.split('\n\n  command')[0].split())


def walk(mpi, fortran):
    folder, path, said, values = harness.scratch('tutorial'), tools(mpi) + ':' + os.environ['PATH'], {}, set()
    for name in os.listdir(EXAMPLES):
        with open(os.path.join(EXAMPLES, name), encoding='utf-8') as f:
            text = f.read()
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text if harness.all_cases() else re.sub(ROUNDS, r'\g<1>80', text))
    for command in commands():
        done = harness.run(
            ['sh', '-c', in_fortran(command) if fortran else command], env={'PATH': path}, cwd=folder
        ).ended(0)
        values.update(re.findall(r'^ *(heat \S+)$', done.out, re.M))
        of = re.match(r'fvmpi report (\w+)$', command)
        if of:
            said[of.group(1)] = done.out
    equal('what the program prints', len(values), 1)
    equal('experiments', sorted(said), sorted(PLANTED))
    return folder, said


def findings(folder, experiment):
    return harness.valid(
        harness.run([harness.FVMPI, 'report', os.path.join(folder, experiment), '--json', '-']).ended(0).out
    )['findings']


def judge(folder, said):
    lost = {}
    for experiment, planted in PLANTED.items():
        found = findings(folder, experiment)
        lost[experiment] = {
            name: sum(f['lost_s'] or 0 for f in found if re.search(name, f['text']) and f['name'] != 'startup')
            for name in filter(None, PLANTED.values())
        }
    first = findings(folder, 'slow')
    check(
        any(f['name'] == 'load_imbalance' and f['rank'] == 1 and 'react' in f['text'] for f in first),
        'react() on rank 1: {}',
        first,
    )
    check('react' in first_lines(said['slow']), '{}', said['slow'])
    check(lost['even']['react'] < 0.5 * lost['slow']['react'], 'react() still: {}', lost)
    late = findings(folder, 'packed')
    if not any(f['name'] in ('noise', 'no_processor') for f in late):
        check(
            any(f['name'] == 'late_rank' and f['rank'] == 0 and re.search(PLANTED['packed'], f['text']) for f in late),
            'draw() or save() on rank 0: {}',
            late,
        )
    for mended in ('packed', 'fast'):
        check(
            not any(f['name'] == 'small_messages' for f in findings(folder, mended)),
            'messages: {}',
            findings(folder, mended),
        )


def main():
    tap = harness.Tap()
    harness.needs_fvunify(tap)
    for mpi in harness.an_mpi(tap):
        for fortran in (False, True):
            if fortran and not harness.all_cases():
                continue
            with tap.test('{}: the tutorial in {}'.format(mpi, 'Fortran' if fortran else 'C')):
                folder, said = walk(mpi, fortran)
                judge(folder, said)
    tap.done()


main()
