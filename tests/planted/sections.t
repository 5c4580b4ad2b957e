#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sections by number, and MPI functions of sections over the ranks: what sections.c did is known."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal

STEPS, LONGEST, RANKS = 46, 17, 2


def functions(section, ranks):
    sends = section['mpi_calls_by_function']
    isend, recv = (next(f for f in sends if f['function'] == name) for name in ('MPI_Isend', 'MPI_Recv'))
    equal(
        'calls',
        {k: isend['rank_calls'][k] for k in ('mean_count', 'min_count', 'max_count', 'max_rank')},
        {'mean_count': (ranks + 1) / 2, 'min_count': 1, 'max_count': ranks, 'max_rank': ranks - 1},
    )
    equal(
        'lengths',
        {k: isend['rank_length'][k] for k in ('mean_bytes', 'min_bytes', 'max_bytes', 'max_rank')},
        {'mean_bytes': 1000 * (ranks + 1) / 2, 'min_bytes': 1000, 'max_bytes': 1000 * ranks, 'max_rank': ranks - 1},
    )
    equal('received by', recv['rank_calls']['max_rank'], 0)
    rows = [r for r in section['mpi_calls_by_function_and_rank'] if r['function'] == 'MPI_Isend']
    equal(
        'by rank',
        [(r['rank'], r['count'], r['bytes_sent'], r['length_bytes'], r['below_4k_count']) for r in rows],
        [(r, r + 1, 1000 * (r + 1) ** 2, 1000 * (r + 1), r + 1) for r in range(ranks)],
    )
    for f in sends:
        here = [r for r in section['mpi_calls_by_function_and_rank'] if r['function'] == f['function']]
        equal('ranks of ' + f['function'], f['rank_count'], len(here))
        equal('calls of ' + f['function'], f['count'], sum(r['count'] for r in here))
        times = [r['time_s'] for r in here]
        close('time of ' + f['function'], f['time_s'], sum(times), 1e-9 + 1e-6 * f['time_s'])
        for what, wanted in (('mean_s', sum(times) / len(times)), ('min_s', min(times)), ('max_s', max(times))):
            close('{} of {}'.format(what, f['function']), f['rank_times'][what], wanted, 1e-9 + 1e-6 * wanted)


def names(data, steps, ranks):
    equal(
        'names',
        [(n['section'], n['number_count'], n['count']) for n in data['section_names']],
        [('step', STEPS, STEPS * ranks)],
    )
    name = data['section_names'][0]
    for key in ('elapsed', 'mpi_time', 'thread_time'):
        wanted = sum(s[key]['sum_s'] for s in steps)
        close(key, name[key]['sum_s'], wanted, 1e-9 + 1e-6 * wanted)
    each = [sum(row['elapsed_s'] for s in steps for row in s['per_rank'] if row['rank'] == r) for r in range(ranks)]
    for what, wanted in (('mean_s', sum(each) / ranks), ('min_s', min(each)), ('max_s', max(each))):
        close('elapsed ' + what, name['elapsed'][what], wanted, 1e-9 + 1e-6 * wanted)
    equal(
        'instance',
        (name['instance']['min_s'], name['instance']['max_s']),
        (min(s['instance']['min_s'] for s in steps), max(s['instance']['max_s'] for s in steps)),
    )
    equal('longest', name['longest_number'], max(steps, key=lambda s: s['elapsed']['sum_s'])['number'])


def words(directory, longest):
    def rows(*options):
        out = harness.run([harness.FVMPI, 'report', directory, '--width', '200'] + list(options)).ended(0).out
        return re.search(r'^Sections\b.*?\n\n', out, re.M | re.S).group(0), out

    brief, whole = rows()
    equal('rows of steps', re.findall(r'^ *(step.*?)  ', brief, re.M), ['step ({}, longest {})'.format(STEPS, longest)])
    check(re.search(r'^MPI calls of sections', whole, re.M) is None or 'MPI_' in whole, '{}', whole)
    every, _ = rows('--all')
    equal('all rows', len(re.findall(r'^ *step ', every, re.M)), STEPS)


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        program = mpi.build(os.path.join(HERE, 'sections.c'), output='planted_sections')
        run = mpi.profile(program, RANKS)
        with tap.test('{}: steps'.format(mpi)):
            data = harness.report_of(run.ended(0).directory).data
            steps = [s for s in data['sections'] if s['section'] == 'step']
            equal('steps', sorted(s['number'] for s in steps), list(range(1, STEPS + 1)))
            names(data, steps, RANKS)
            words(run.directory, data['section_names'][0]['longest_number'])
        with tap.test('{}: MPI functions over the ranks'.format(mpi)):
            for section in steps:
                functions(section, RANKS)
            whole = data['sections'][0]
            isend = next(f for f in whole['mpi_calls_by_function'] if f['function'] == 'MPI_Isend')
            equal('in all', [isend['rank_calls'][k] for k in ('min_count', 'max_count')], [STEPS, STEPS * RANKS])
    tap.done()


main()
