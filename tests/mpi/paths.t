#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Call paths: every way to a call is a call site of its own, with its functions and lines up to main, and
is the same call site on all ranks, wherever the loader put the program (ASLR)."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

REDUCE = 'MPI_Allreduce'

# (count on each rank, functions from the call to main)
WAYS = [
    (50, 'leaf left main'),
    (50, 'leaf right main'),
    (1, 'down recursive main'),
    (3, 'down down down recursive main'),
    (100, 'down ' * 100 + 'recursive main'),
    (500, 'down ' * 500 + 'recursive main'),
    (1, 'even odd even mutual main'),
    (2, 'halo step main'),
    (2, 'pack halo step main'),
    (1, 'by_pointer apply main'),
    (20, 'bottom variable main'),
    (10, 'bottom back main'),
    (3, 'shared_step in_library main'),
    (4, 'plugin_step in_plugin main'),
    (4, 'called_back plugin_step in_plugin main'),
    (4, 'plugin_other in_plugin main'),
    (4, 'called_back plugin_other in_plugin main'),
]
PLUGINS = {'plugin_step': 'plugin.so', 'plugin_other': 'other.so'}
MODULES = {'shared_step': 'libpaths.so', 'in_library': 'libpaths.so', 'leaf': 'paths', **PLUGINS}

CXX_WAYS = [
    (3, 'work::Grid<int>::exchange work::run main'),
    (4, 'work::Grid<double>::exchange work::run main'),
    (5, 'work::thrower work::catcher main'),
]


def all_frames(report, names):
    found = [s for s in report.callsites(REDUCE) if s.names == names]
    equal('call sites of {}'.format(' <- '.join(names[:4])), len(found), 1)
    return found[0]


def build(mpi, flags):
    tag = ''.join(flags)
    library = mpi.build('paths_library.c', '-shared', '-fPIC', output='libpaths.so')
    plugins = [
        mpi.build('paths_library.c', '-shared', '-fPIC', '-DPLUGIN=' + name, output=file)
        for name, file in PLUGINS.items()
    ]
    where = os.path.dirname(library)
    program = mpi.build(
        'paths.c', *(flags + ['-L' + where, '-lpaths', '-Wl,-rpath,' + where, '-ldl', '-pthread']), output='paths' + tag
    )
    return program, plugins


def check_paths(report, ranks, program):
    text = harness.sources('paths.c', 'paths_library.c', 'known.h')
    report.sane(ranks, threads=['in_thread'])
    for count, names in WAYS:
        site = all_frames(report, names.split())
        site.expect(count=count, sent=8 * count, received=8 * count)
        site.lines(text)
        for frame in site.path:
            wanted = MODULES.get(frame['function'], os.path.basename(program) if frame['function'] == 'main' else None)
            if wanted and wanted != 'paths':
                equal('module of ' + frame['function'], os.path.basename(frame['module']), wanted)


def tableless(mpi, *flags):
    """Callers without unwind tables: each is one call site, unwound once, and what lies where a frame pointer would
    lead is no caller."""
    program = mpi.build('tableless.c', *flags, output='tableless' + ''.join(flags))
    run = mpi.profile(program, 1).ended(0)
    sites = sorted(
        (s.data['count'], [n for n in s.names if n and not n.startswith('0x')])
        for s in run.report().callsites('MPI_Comm_rank')
    )
    framed = ['call_mpi', 'with_frames', 'main']
    if flags and flags[0] != '-O0':  # then not even that can be known
        equal('call sites', sites, [(2000, framed[:2]), (24000, framed[:1])])
    else:
        equal('call sites', sites, [(2000, framed), (12000, ['call_mpi']), (12000, ['call_mpi', 'by_assembler'])])
    dump = harness.run([harness.FVMPI, 'dump', os.path.join(run.directory, 'rank-000000.fvr')]).ended(0).out
    misses = int(re.search(r'path_misses=(\d+)', dump).group(1))
    check(misses < 30, '{} times unwound', misses)


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.an_mpi(tap):
        for flags, ranks in (
            ([], 2),
            (['-no-pie'], 1),
            (['-fomit-frame-pointer', '-O3'], 1),
            (['-fno-omit-frame-pointer', '-O1'], 1),
        ):
            what = '{}: {}'.format(mpi, ' '.join(flags) or 'position-independent, -O2')
            with tap.test(what + ': runs and is reported'):
                program, plugins = build(mpi, flags)
                report = mpi.profile(program, ranks, plugins).ended(0).report()
                threaded = report.callsites(REDUCE, 'in_thread')
            with tap.test(what + ': a thread starts its own path'):
                equal('call sites in the thread', [s.names[:2] for s in threaded], [['in_thread', 'worker']])
                threaded[0].expect(count=6)
                check('main' not in threaded[0].names, 'main in {}', threaded[0])
            with tap.test(what + ': each way is one call site, functions and lines right'):
                check_paths(report, ranks, program)
            with tap.test(what + ': two calls in a function are two call sites'):
                sites = report.callsites(REDUCE, 'twice')
                text = harness.sources('paths.c')['paths.c']
                equal(
                    'their counts by line',
                    sorted((text[s.path[0]['line'] - 1].split()[-2], s.on(0, 'count')) for s in sites),
                    [('first', 5), ('second', 7)],
                )
            with tap.test(what + ': through libc'):
                sites = report.callsites(REDUCE, 'compare')
                check(
                    sites and all(s.names[-2:] == ['sorted', 'main'] for s in sites),
                    'paths {}',
                    [s.names for s in sites],
                )
                # (a sanitizer's own qsort stands in for the C library's)
                check(
                    any(
                        'libc' in os.path.basename(f['module'] or '') or 'interceptor' in (f['function'] or '')
                        for f in sites[0].path
                    ),
                    'no frame of libc in {}',
                    sites[0],
                )
            with tap.test(what + ': a clone goes by its name'):
                sites = [s for s in report.callsites(REDUCE) if s.names[0].split('.')[0] == 'constant']
                equal('call sites', [s.names for s in sites], [['constant', 'main']])
            with tap.test(what + ': nothing else'):
                known = set(n.split()[0] for _, n in WAYS) | {'twice', 'compare', 'in_thread'}
                equal(
                    'unexpected',
                    [str(s) for s in report.callsites(REDUCE) if s.names[0].split('.')[0] not in known | {'constant'}],
                    [],
                )
        with tap.test('{}: C++ names'.format(mpi)):
            report = mpi.profile(mpi.build('paths_cxx.cpp'), 2).ended(0).report()
            report.sane(2)
            for count, names in CXX_WAYS:
                all_frames(report, names.split()).expect(count=count)
            text = harness.sources('paths_cxx.cpp', 'known.h')
            for site in report.callsites(REDUCE):
                site.lines(text)
            hidden = [s for s in report.callsites(REDUCE) if 'hidden' in s.path[0]['function']]
            equal('hidden', [s.data['count'] for s in hidden], [2])
            check('(anonymous namespace)::hidden' in hidden[0].path[0]['function'], 'hidden is {}', hidden[0].path[0])
            inner = [
                s for s in report.callsites(REDUCE) if any('with_lambda' == (n or '').split('::')[-1] for n in s.names)
            ]
            equal('through the lambda', [s.data['count'] for s in inner], [4])
            check('lambda' in inner[0].path[0]['function'], 'the lambda is {}', inner[0].path[0])
        with tap.test('{}: a stripped program shows module and offset'.format(mpi)):
            program = mpi.build('p2p.c', '-s', output='stripped')
            report = mpi.profile(program, 2).ended(0).report()
            sends = report.callsites('MPI_Send')
            equal('MPI_Send sites', len(sends), 8)
            for site in sends:
                equal('module', os.path.basename(site.path[0]['module']), 'stripped')
                check(site.path[0]['offset'], 'offset {}', site.path[0]['offset'])
                check(
                    site.path[0]['function'] is None or 'stripped' in str(site.path[0]['function']),
                    'a stripped function is called {}',
                    site.path[0]['function'],
                )
        for flags in ([], ['-O0', '-fno-asynchronous-unwind-tables'], ['-O2', '-fno-asynchronous-unwind-tables']):
            with tap.test('{}: callers without unwind tables {}'.format(mpi, ' '.join(flags))):
                if os.uname().machine != 'x86_64':
                    raise harness.Skip('is x86-64 assembler')
                tableless(mpi, *flags)
    tap.done()


main()
