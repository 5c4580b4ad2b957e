#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi report --rank, --thread, --function, --read-ranks, and --read-ranks of the other commands: a report of a part says of it what the whole report says, and
says that it is of a part. The experiments are those of tests/replay."""
import csv
import importlib.util
import io
import json
import os
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal


def unpacked(name):
    place = harness.scratch()
    with tarfile.open(os.path.join(os.path.dirname(HERE), 'replay', name + '.tar.xz')) as packed:
        packed.extractall(place)
    return os.path.join(place, name)


def report(experiment, *options, status=0):
    return harness.run([harness.FVMPI, 'report', experiment, '--no-symbols'] + list(options)).ended(status)


def data_of(experiment, *options):
    return json.loads(report(experiment, '--json', '-', *options).out)


def rows(experiment, table, *options):
    return list(csv.DictReader(io.StringIO(report(experiment, '--table', table, '--csv', '-', *options).out)))


def parts_of(data, rank):
    """What a report says of the calls of a rank at each call site."""
    parts = {}
    for site in data['callsites']:
        for row in site['per_rank']['rows']:
            part = dict(zip(site['per_rank']['columns'], row))
            if part['rank'] == rank:
                parts[site['key']] = part
    return parts


def alike(what, found, wanted):
    """But for the last digits: of a sum, and of the point in time that others are relative to."""
    equal(what + ': keys', sorted(found), sorted(wanted))
    for key, value in wanted.items():
        if isinstance(value, float):
            close('{}: {}'.format(what, key), found[key], value, 1e-9)
        elif not isinstance(value, (list, dict)):
            equal('{}: {}'.format(what, key), found[key], value)


def one_rank(experiment):
    whole = data_of(experiment)
    for row in whole['ranks']:
        rank = row['rank']
        part = data_of(experiment, '--rank', str(rank))
        equal('ranks', [r['rank'] for r in part['ranks']], [rank])
        wanted = parts_of(whole, rank)
        equal('call sites of {}'.format(rank), sorted(s['key'] for s in part['callsites']), sorted(wanted))
        for site in part['callsites']:
            of = wanted[site['key']]
            alike('rank {}, {}'.format(rank, site['function']), parts_of(part, rank)[site['key']], of)
            equal('its sums', (site['count'], site['rank_count']), (of['count'], 1))
            close('its time', site['time']['sum_s'], of['time_sum_s'], 1e-9)
        for key in ('app_time_s', 'mpi_time_s', 'wait_s', 'cpu_s', 'state', 'host'):
            equal('rank {}: {}'.format(rank, key), part['ranks'][0][key], row[key])
        equal('complete', part['run']['complete'], row['state'] == 'finalized' and not losses(part))
        equal('choice', part['run']['choice'], {'read_ranks': None, 'shown_ranks': str(rank), 'shown_threads': None})
        equal('findings', part['findings'], [])
        equal('balance of one', part['efficiency']['load_balance'], None)
        check('report it without --rank' in part['run']['not_judged'], '{}', part['run'])
        equal(
            'messages to others', part['matrix']['rows'], [edge for edge in whole['matrix']['rows'] if edge[0] == rank]
        )
        calls = sum(f['count'] for f in part['mpi_functions'])
        equal('calls', calls, sum(of['count'] for of in wanted.values()))
    equal('choice of all', whole['run']['choice'], {'read_ranks': None, 'shown_ranks': None, 'shown_threads': None})


def losses(data):
    return [p for p in data['problems'] if p['kind'] not in ('note', 'left_out')]


def all_ranks(experiment):
    whole, part = data_of(experiment), data_of(experiment, '--rank', '0-1000')
    for key in ('ranks', 'callsites', 'mpi_functions', 'message_sizes', 'size_classes', 'matrix', 'communicators'):
        equal(key, part[key], whole[key])


def read_ranks(experiment):
    whole, part = data_of(experiment), data_of(experiment, '--read-ranks', '0,2')
    equal('ranks', [r['rank'] for r in part['ranks']], [0, 2])
    equal('complete', part['run']['complete'], False)
    equal('what is missing', losses(part), [])
    for rank in (0, 2):
        calls = {key: of['count'] for key, of in parts_of(part, rank).items()}
        equal('calls of {}'.format(rank), calls, {key: of['count'] for key, of in parts_of(whole, rank).items()})
    text = ' '.join(report(experiment, '--read-ranks', '0,2').out.split())
    check('a part 2 of 3 ranks: 2 finalized' in text, '{}', text)
    check('--read-ranks 0,2: the files of 2 of 3 ranks were read' in text, '{}', text)
    check('INCOMPLETE' not in text and ' complete ' not in text, '{}', text)
    both = data_of(experiment, '--read-ranks', '0-1', '--rank', '1')
    equal('read, and shown', [r['rank'] for r in both['ranks']], [1])
    os.remove(os.path.join(experiment, 'rank-000001.fvr'))
    for ranks, missing in (('0,2', []), ('0-1', ['rank 1 has no rank file']), ('1-7', ['rank 1 has no rank file'])):
        found = data_of(experiment, '--read-ranks', ranks)
        equal('missing of ' + ranks, [p['text'] for p in losses(found)], missing)
    check('INCOMPLETE' in report(experiment, '--read-ranks', '0-1').out, 'rank 1 has no file')
    check('none of its 2 rank files' in report(experiment, '--read-ranks', '7', status=1).err, 'no such rank')


def compared(command, rank, *arguments):
    done = harness.run([harness.FVMPI, command, '--json', '-', '--read-ranks', rank] + list(arguments)).ended(0)
    return json.loads(done.out), done.err


def other_commands(ring, sections, omp, threads):
    """Rank 1 alone, of which fvmpi report --read-ranks says how long it was in MPI."""
    read = {run: data_of(run, '--read-ranks', '1')['ranks'][0] for run in (ring, sections)}
    found, _ = compared('diff', '1', sections, ring)
    for side, run in ('a', sections), ('b', ring):
        close('diff, ' + side, found['run_changes'][1][side], read[run]['app_time_s'] - read[run]['mpi_time_s'], 1e-9)
        check([p for p in found['problems'] if run in p['text'] and '1 of ' in p['text']], '{}', found['problems'])
    found, _ = compared('scaling', '1', '--strong', sections, ring)
    for point, run, ranks in zip(found['points'], (sections, ring), (2, 3)):
        equal('ranks', point['rank_count'], ranks)
        close('elapsed', point['elapsed_s'], read[run]['app_time_s'], 1e-9)
        close('of all ranks', point['useful_s'], ranks * (read[run]['app_time_s'] - read[run]['mpi_time_s']), 1e-9)
    check('1 of 3 ranks were read' in ' '.join(p['text'] for p in found['problems']), '{}', found['problems'])
    found, err = compared('stacks', '0', omp, threads)
    phases = [p for run in (omp, threads) for p in data_of(run, '--read-ranks', '0')['phases']]
    points = [s['points'][0]['useful_s'] for s in found['speedups'] if s['name']]
    times = [p['thread_s'] - p['wait_s'] for p in phases]
    check(points, 'no phases')
    for useful in points:
        check(min(abs(useful - time) for time in times) < 1e-9, '{} s is of no phase of rank 0: {}', useful, times)
    check('1 of 2 ranks were read' in err, '{}', err)
    for command in ('diff', 'scaling', 'stacks'):
        done = harness.run([harness.FVMPI, command, '--read-ranks', 'x', ring, ring]).ended(2)
        check('--read-ranks takes a list of ranks' in done.err, '{}', done.err)
    done = harness.run([harness.FVMPI, 'diff', '--read-ranks', '2', ring, sections]).ended(1)
    check('without --read-ranks all are read' in done.err, '{}', done.err)


def threads(experiment):
    whole = data_of(experiment)
    all_of = {t['thread'] for r in whole['ranks'] for t in r['threads']}
    check(len(all_of) > 1, 'one thread')
    counts, waits = {}, {}
    for thread in sorted(all_of):
        part = data_of(experiment, '--thread', str(thread))
        equal('threads', {t['thread'] for r in part['ranks'] for t in r['threads']}, {thread})
        for lock in part['locks']:
            counts[lock['key']] = counts.get(lock['key'], 0) + lock['count']
            waits[lock['key']] = waits.get(lock['key'], 0) + lock['wait_s']
        calls = sum(t['count'] for r in whole['ranks'] for t in r['threads'] if t['thread'] == thread)
        equal('calls of thread {}'.format(thread), sum(s['count'] for s in part['callsites']), calls)
        equal('efficiency', part['efficiency']['parallel'], None)
        text = report(experiment, '--thread', str(thread)).out
        check('--thread {}: the report is of these threads'.format(thread) in ' '.join(text.split()), 'said')
        check('Threads  those that were chosen' in text, '{}', text)
    equal('operations on locks', counts, {lock['key']: lock['count'] for lock in whole['locks']})
    for lock in whole['locks']:
        close('waiting for ' + lock['kind'], waits[lock['key']], lock['wait_s'], 1e-9)
    check('no rank has such a thread' in report(experiment, '--thread', '99', status=1).err, 'said')


def analysed(experiment):
    """A trace that is analysed already is not offered for it."""
    unify = os.path.join(harness.BUILD, 'fvunify')
    if not os.path.exists(unify):
        raise harness.Skip('no fvunify')
    check('fvunify' in report(experiment, '--thread', '0').out, 'not yet: it is offered')
    harness.run([unify, '-q', experiment]).ended(0)
    for choice in ('--thread', '--rank', '--read-ranks'):
        text = report(experiment, choice, '0').out
        check('left out' in ' '.join(text.split()) and 'fvunify' not in text, '{}: {}', choice, text)


def function(experiment):
    text = report(experiment, '--function', 'MPI_Send').out
    tables = [block.split()[0] for block in text.strip().split('\n\n')]
    for name in ('callsites', 'mpi_functions', 'size_classes', 'site_sizes'):
        check(name in tables, 'no {} in {}', name, tables)
    wanted = [r for r in rows(experiment, 'callsites') if r['function'] == 'MPI_Send']
    equal('rows', rows(experiment, 'callsites', '--function', 'MPI_Send'), wanted)
    outer = [r for r in rows(experiment, 'callsites') if 'main' in r['path'].split(' < ')]
    check(outer, 'no call in main()')
    equal('calls below main()', rows(experiment, 'callsites', '--function', 'main'), outer)
    tables = json.loads(report(experiment, '--function', 'MPI_Send', '--json', '-').out)
    sites = [dict(zip(t['columns'], row)) for t in tables if t['table'] == 'callsites' for row in t['rows']]
    equal('call sites in JSON', [s['number'] for s in sites], [int(r['number']) for r in wanted])
    equal('no part of a name', rows(experiment, 'callsites', '--function', 'mai'), [])
    check('nothing was recorded' in report(experiment, '--function', 'nobody', status=1).err, 'said')
    check('no functions' in report(experiment, '--table', 'ranks', '--function', 'main', status=2).err, 'said')


def refused(experiment):
    for options in (
        ['--rank', 'x'],
        ['--rank', '3-1'],
        ['--thread', ''],
        ['--read-ranks', '1,'],
        ['--function', 'main', '--text'],
        ['--source', 'a.c', '--thread', '0'],
    ):
        done = report(experiment, *options, status=2)
        equal('lines of {}'.format(options), (done.out, len(done.err.splitlines())), ('', 1))
    check('no such rank' in report(experiment, '--rank', '7', status=1).err, 'said')


def main():
    tap = harness.Tap()
    if not importlib.util.find_spec('_lzma'):
        print('1..0 # SKIP this python3 has no lzma, which unpacks the rank files')
        return
    ring = unpacked('openmpi')
    for name in ('openmpi', 'sections', 'killed'):
        with tap.test('{}: one rank'.format(name)):
            one_rank(ring if name == 'openmpi' else unpacked(name))
    with tap.test('all ranks'):
        all_ranks(ring)
    with tap.test('threads'):
        threads(unpacked('threads'))
    with tap.test('a trace that is analysed'):
        analysed(unpacked('states'))
    with tap.test('a function'):
        function(ring)
    with tap.test('what cannot be'):
        refused(ring)
    with tap.test('few rank files, of the other commands'):
        other_commands(ring, unpacked('sections'), unpacked('omp'), unpacked('threads'))
    with tap.test('few of many rank files'):
        read_ranks(ring)
    tap.done()


main()
