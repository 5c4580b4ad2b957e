#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--trace-keep: what a ring has kept is the end of the whole trace, and merges without a wrong match, however the run ends.

The program (kept.c) gives each message a length that says which of its kind it is. So a receive that is matched with
another send than its own has another length."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'harness'))
import harness
from harness import FVMPI, Skip, check, equal, run, scratch

FVUNIFY = os.path.join(harness.BUILD, 'fvunify-serial')
LONG = os.environ.get('FVMPI_TEST_LONG') == '1'
RING = ['--trace-keep', '64K']
PAIRS = 0.2  # of two ranks' calls: 5.2 messages in 18.8 calls of an iteration, and what is cut off
TIMES = ('thread', 'begin', 'end', 'gap', 'duration')


def events_of(directory, rank):
    """Of a rank, by time: what each event says but for times."""
    lines = harness.dumped(os.path.join(directory, 'rank-{:06d}.fvr'.format(rank)), 'event')
    lines.sort(key=lambda fields: int(fields['begin']))
    return [
        {key: value for key, value in fields.items() if key not in TIMES}
        for fields in lines
        if fields['kind'] != 'order'
    ]


def stood_still(directory):
    """Whether pauses of rank 0, as without a processor, are a third of what is kept: then no loop may have most of it."""
    lines = harness.dumped(os.path.join(directory, 'rank-000000.fvr'), 'event')
    times = sorted(int(fields[at]) for fields in lines for at in ('begin', 'end') if fields['kind'] == 'call')
    gaps, kept = [b - a for a, b in zip(times, times[1:])], times[-1] - times[0]
    return sum(gap for gap in gaps if gap > kept / 50) > kept / 3


def matched(*directories):
    """Of each archive, how many pairs of messages it has, each of one length, and how many sends and receives without
    another side, though all ranks still recorded."""
    python = harness.otf2_python()
    if not python:
        raise Skip('merged and checked; no python3-otf2 to read it with')
    script = os.path.join(harness.SOURCE, 'tests', 'harness', 'otf2_pairs.py')
    archives = [os.path.join(directory, 'traces.otf2') for directory in directories]
    for line in run([python, script] + archives, cwd='/').ended(0).out.splitlines():
        pairs = [pair.split(':') for pair in line.split()]
        both = [pair for pair in pairs if len(pair) == 2]
        equal('pairs of two lengths', [pair for pair in both if pair[0] != pair[1]][:5], [])
        yield len(both), sum(len(pair) == 1 and not pair[0].startswith('+') for pair in pairs)


def merged(directory):
    """What fvunify says of a ring: nothing is damaged or missing."""
    said = run([FVUNIFY, directory])
    check(said.rc == 0, 'fvunify: {}\n{}', said.rc, said.err)
    check('not in the trace' not in said.err and 'damaged' not in said.err, '{}', said.err)
    run([FVMPI, 'check', directory]).ended(0)
    return said.err


def undamaged(directory):
    for name in os.listdir(directory):
        if name.endswith('.fvr'):
            equal('damage in ' + name, harness.dumped(os.path.join(directory, name), 'damage'), [])


def are_merged_well(directories, least, rest=40):
    """At most `rest` messages were under way at the end. least: of pairs; below 1, a part of the calls."""
    for directory in directories:
        undamaged(directory)
    said = [merged(directory) for directory in directories]
    for words, (pairs, others) in zip(said, matched(*directories)):
        calls = int(re.search('ranks?, ([0-9]+) calls', words).group(1))
        enough = pairs >= (least if least >= 1 else least * calls)
        check(enough and others <= rest, '{} pairs, {} others\n{}', pairs, others, words)
    return said


def analysis_of(directory):
    with open(os.path.join(directory, 'analysis.json')) as f:
        return json.load(f)


def keeps_the_end(mpi, program):
    """The ring of each rank is the end of what a whole trace of the same program has, by count and by arguments."""
    whole = mpi.profile(program, 2, ['1700'], ['--trace']).ended(0)
    ring = mpi.profile(program, 2, ['1700'], RING).ended(0)
    for rank in 0, 1:
        kept, every = events_of(ring.directory, rank), events_of(whole.directory, rank)
        check(1000 < len(kept) < len(every) / 2, '{} of {} events', len(kept), len(every))
        check(every[-len(kept) :] == kept, 'rank {}: not the end of the whole trace', rank)
    size = max(os.path.getsize(name) for name in glob_of(ring.directory))
    check(size < os.path.getsize(glob_of(whole.directory)[0]) and size < 300000, 'a rank file has {} bytes', size)
    calls = [sum(site['count'] for site in r.report().data['callsites']) for r in (whole, ring)]
    equal('calls in the profile, which is of the whole run', calls[1], calls[0])
    data = ring.report().data
    begin = max(rank['trace']['from_s'] for rank in data['ranks'])
    for unit in data['iterations'][:1]:
        equal('ranks whose iterations are aligned', unit['rank_count'], 2)
        check(unit['begin_s'] >= begin, 'iterations before all ranks have some: {} {}', unit, begin)
    check(data['iterations'] or stood_still(ring.directory), 'no iterations in what was kept')
    undamaged(ring.directory)


def merges(mpi, program, ranks, mode):
    ring = mpi.profile(program, ranks, ['1500', mode], RING).ended(0)
    said = are_merged_well([ring.directory], 1000, 0)[0]
    check(re.search('--trace-keep has kept the last [0-9.]+ s of all ranks', said), '{}', said)
    check(re.search('[0-9]+ sends or receives are left out|: 1 send or receive is left out', said), '{}', said)
    stretch = analysis_of(ring.directory)['stretch']
    begins = [rank['trace']['from_s'] for rank in ring.report().data['ranks']]
    check(
        abs(max(begins) - stretch['begin_s']) < 1e-3 < stretch['end_s'] - stretch['begin_s'], '{} {}', begins, stretch
    )
    check(len(set(begins)) == ranks, 'rings that begin at one time: {}', begins)
    text = run([FVMPI, 'report', ring.directory]).ended(0).out
    check(re.search('trace .* of all ranks it has the last', text), '{}', text[:2000])
    of_archive(ring.directory)


def of_archive(directory):
    """Time of which nothing is kept is no computing: to the archive recording was off."""
    kept = {rank['rank']: rank['trace']['from_s'] for rank in harness.profile_of(directory)['ranks']}
    for rank in harness.profile_of(os.path.join(directory, 'traces.otf2'))['ranks']:
        from_s = kept[rank['rank']]  # of the run; the rank may have begun later
        check(abs(rank['paused_s'] - from_s) < 0.2 * from_s, '{} {}', rank['paused_s'], kept)
    before = ['--from', '0', '--to', str(min(kept.values()) / 2)]
    text = ' '.join(run([FVMPI, 'report', directory, *before]).out.split())
    check(' in this time: recording was paused, or --trace-keep kept what came later' in text, '{}', text)
    check('off from the start' not in text, '{}', text)


def copied(directory, to):
    """As it would be if all were killed now."""
    os.mkdir(to)
    for name in glob_of(directory):
        shutil.copy(name, to)


def is_stopped(pid):
    """Whether all its threads are."""
    states = []
    for task in os.listdir('/proc/{}/task'.format(pid)):
        with open('/proc/{}/task/{}/stat'.format(pid, task)) as f:
            states.append(f.read().rpartition(')')[2].split()[0])
    return set(states) == {'T'}


def dies_at_any_time(mpi, program, times):
    """Ranks are stopped, their files copied, and when they are dead, the copies are what kills then had left."""
    directory = os.path.join(scratch('exp'), 'e')
    started = harness.start(mpi.command(2, mpi.profiled([program, '1000000000'], directory, RING)))
    copies = [os.path.join(scratch('copy'), 'e') for _ in range(times)]
    chance = random.Random(1)
    try:
        harness.wait_until(lambda: len(glob_of(directory)) == 2, what='two rank files')
        time.sleep(0.5)
        ranks = [int(harness.dumped(name, 'header')[0]['pid']) for name in glob_of(directory)]
        for copy in copies:
            time.sleep(chance.uniform(0.001, 0.03))
            for pid in ranks:
                os.kill(pid, signal.SIGSTOP)
            harness.wait_until(lambda: all(map(is_stopped, ranks)), what='ranks that are stopped')
            copied(directory, copy)
            for pid in ranks:
                os.kill(pid, signal.SIGCONT)
    finally:
        harness.kill_all(started.number)
        harness.finish(started)
    are_merged_well(copies + [directory], PAIRS)


def glob_of(directory):
    if not os.path.isdir(directory):
        return []
    return [os.path.join(directory, name) for name in sorted(os.listdir(directory)) if name.endswith('.fvr')]


def is_kept_from_outside(mpi, program):
    directory, cwd = os.path.join(scratch('exp'), 'e'), scratch('cwd')
    started = harness.start(mpi.command(2, mpi.profiled([program, '3000', 'wait'], directory, RING)), cwd=cwd)
    try:
        harness.wait_until(lambda: len(glob_of(directory)) == 2, what='two rank files')
        refused = None
        for last in None, '1h':
            time.sleep(0.3)
            run([FVMPI, 'keep', directory] + (['--last', last] if last else [])).ended(0)
        harness.wait_until(lambda: os.path.exists(os.path.join(cwd, 'waits')), what='a rank that waits')
        run([FVMPI, 'keep', directory]).ended(0)
        refused = run([FVUNIFY, directory])
        short = run([FVMPI, 'keep', '--last', '1ms', '-o', os.path.join(cwd, 'short'), directory]).ended(0)
    finally:
        open(os.path.join(cwd, 'go'), 'w').close()
        ended = harness.finish(started)
    ended.ended(0)
    check(refused.rc == 1 and 'fvmpi keep' in refused.err, '{}', refused.err)
    copies = [os.path.join(directory, name) for name in ('keep-1', 'keep-2', 'keep-3')]
    are_merged_well(copies, 0)
    states = {rank['state'] for copy in copies for rank in harness.profile_of(copy)['ranks']}
    equal('states of ranks in copies', states, {'cut'})
    long, brief = [len(events_of(copy, 0)) for copy in (copies[-1], os.path.join(cwd, 'short'))]
    check(0 < brief < long / 4, '{} of {} events', brief, long)
    are_merged_well([directory], 1000, 0)


def is_kept_by_the_program(mpi, program):
    ring = mpi.profile(program, 2, ['1500', 'keep'], RING).ended(0)
    copy = os.path.join(ring.directory, 'program-keep-1')
    are_merged_well([copy], 500)
    are_merged_well([ring.directory], 1000, 0)
    whole = ring.report().data
    equal('labels', [label['text'] for label in whole['labels']], ['fvmpi_keep 1: half of it'] * 2)
    half = harness.profile_of(copy)
    calls = [sum(site['count'] for site in data['callsites']) for data in (half, whole)]
    check(0.4 < calls[0] / calls[1] < 0.6, 'calls: {}', calls)


def is_kept_when_slow(mpi, program):
    """Instance 41 takes 300 times as long as the others, where the machine lets them be short. What it makes slow is kept,
    too, and the first two instances that are chosen by number."""
    options = RING + ['--keep-slow', 'step:50', '--trace-iterations', 'step:2', '--section-instances=100']
    ring = mpi.profile(program, 2, ['0', 'steps'], options).ended(0)
    kept = sorted(int(name[10:]) for name in os.listdir(ring.directory) if name.startswith('slow-keep-'))
    data = ring.report().data
    of_ranks = []
    for rank in 0, 1:
        seconds = [row['elapsed_s'] for row in data['section_instances'] if row['rank'] == rank]
        times = {n: seconds[n - 1] / sorted(seconds[: n - 1])[(n - 1) // 2] for n in range(11, 61)}
        clearly = {n for n in times if times[n] > 60 and not {*kept, 16} & {*range(n - 20, n)}}
        check(len(kept) > 15 or clearly <= set(kept), 'rank {}: {} {}', rank, kept, times)
        of_ranks.append(times)
    check(all(any(times[n] > 45 for times in of_ranks) for n in kept), '{} {}', kept, of_ranks)
    chosen = {name for name in os.listdir(ring.directory) if name.startswith('iteration-keep-')}
    equal('chosen', chosen, {'iteration-keep-4', 'iteration-keep-16'})
    labels = {label['text'] for label in data['labels']}
    is_slow = 41 in kept and all(times[41] > 60 for times in of_ranks)  # to both ranks
    for name in [*chosen] + ['slow-keep-41'] * is_slow:
        copy = os.path.join(ring.directory, name)
        equal('ranks', len(glob_of(copy)), 2)
        are_merged_well([copy], PAIRS)
        check(any(re.match(name + r': step took [0-9.]+ times its median$', text) for text in labels), '{}', labels)


def longest_stays(mpi, program):
    """A copy holds up the other rank in its next instance, which is so short that it is slow then. The longest instance,
    which comes late, is kept nevertheless, in place of shorter ones. Instance 100 is slow by copies alone."""
    count, long, copies = 4000, 3000, 100
    options = RING + ['--trace-iterations', 'step:2', '--section-instances={}'.format(count)]
    ring = mpi.profile(program, 2, [str(count), 'short'], options).ended(0)
    names = [name for name in os.listdir(ring.directory) if name.startswith('slow-keep-')]
    by_rank = [
        [int(n[10:]) for n in names if 'rank-00000{}.fvr'.format(rank) in os.listdir(os.path.join(ring.directory, n))]
        for rank in (0, 1)
    ]
    kept = sorted(int(name[10:]) for name in names)
    labels = [label['text'] for label in ring.report().data['labels']]  # of those that were removed, too
    copied = {int(number) for number in re.findall('slow-keep-([0-9]+):', ' '.join(labels))}
    held_up = copied & {*range(long - 20, long)}  # then the time of that copy was taken off
    for rank in 0, 1:
        seconds = [row['elapsed_s'] for row in ring.report().data['section_instances'] if row['rank'] == rank]
        longer = sum(s > seconds[long - 1] / 2 for s in seconds)
        check(len(by_rank[rank]) <= 16, '{}', by_rank)
        check(long in by_rank[rank] or longer > 16 or held_up, 'rank {}: {}, copied {}', rank, kept, copied)
        was_kept = any(text.startswith('slow-keep-{}:'.format(copies)) for text in labels)
        check(not was_kept or seconds[copies - 1] > 0.01, 'rank {}: {}', rank, seconds[copies - 1])
    chosen = {name for name in os.listdir(ring.directory) if name.startswith('iteration-keep-')}
    equal('chosen', chosen, {'iteration-keep-4', 'iteration-keep-16'})


def is_refused():
    for given in 'step:1', 'step:0.5', ':3', '':
        said = run([FVMPI, 'run', '--trace-keep', '1M', '--keep-slow', given, 'true'])
        check(said.rc == 2 and 'such as step:3' in said.err, '{}: {} {}', given, said.rc, said.err)
    for given in 'step:0', 'step:17', 'step:1.5', ':3', '':
        said = run([FVMPI, 'run', '--trace-iterations', given, 'true'])
        check(said.rc == 2 and 'such as step:4' in said.err, '{}: {} {}', given, said.rc, said.err)


tap = harness.Tap()
harness.needs_fvunify(tap)
for mpi in harness.mpis(tap):
    program = mpi.build('kept.c', '-ldl')
    with tap.test('{}: ranks merge without a wrong match'.format(mpi)):
        for ranks in harness.few(mpi, [2, 3]):
            merges(mpi, program, ranks, "wild")
for mpi in harness.an_mpi(tap, quiet=True):
    program = mpi.build('kept.c', '-ldl')
    with tap.test('{}: a ring is the end of the whole trace'.format(mpi)):
        keeps_the_end(mpi, program)
    with tap.test('{}: it is whole whenever ranks are killed'.format(mpi)):
        dies_at_any_time(mpi, program, 200 if LONG else 20)
    with tap.test('{}: fvmpi keep copies it while the job runs'.format(mpi)):
        is_kept_from_outside(mpi, program)
    with tap.test('{}: fvmpi_keep() copies it'.format(mpi)):
        is_kept_by_the_program(mpi, program)
    with tap.test('{}: --keep-slow copies it'.format(mpi)):
        is_kept_when_slow(mpi, program)
    with tap.test('{}: the longest instances stay'.format(mpi)):
        longest_stays(mpi, program)
with tap.test('--keep-slow, --trace-iterations: no name, no number'):
    is_refused()
tap.done()
