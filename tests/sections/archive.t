#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sections as regions of the archive: all nests, also sections that overlap each other, measured instances of functions
and OpenMP's regions; the time of a region is that of its section in the report; the archive is the same however many
processes merged it. And waiting for locks inside of sections, as the program measures it."""
import collections
import hashlib
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from report import check, equal

SOURCE = os.path.join(os.path.dirname(os.path.dirname(HERE)), 'src')
CC = os.environ.get('CC', 'gcc').split()


def build(name, *flags, compiler=CC):
    out = os.path.join(harness.scratch('bin'), name)
    harness.run(
        list(compiler)
        + ['-O1', '-g', '-D_GNU_SOURCE', '-I', SOURCE, os.path.join(HERE, name + '.c'), '-o', out]
        + list(flags)
    ).ended(0)
    return out


def record(command, *options, launcher=()):
    """(directory, what the program printed)"""
    directory = os.path.join(harness.scratch('run'), 'experiment')
    run = harness.run([harness.FVMPI, 'run', '-q', '-o', directory] + list(options) + list(launcher) + command)
    return directory, run.out


def report(directory):
    return harness.profile_of(directory)


def merged(directory, processes=(), options=()):
    out = os.path.join(harness.scratch('otf2'), 'a')
    harness.run(
        list(processes) + [os.path.join(harness.BUILD, 'fvunify'), '-q', directory, '-o', out] + list(options)
    ).ended(0)
    path = os.path.join(out, 'traces.otf2')
    said = harness.run([harness.FVMPI, 'check', path]).ended(0).out
    check('0 errors, 0 warnings' in said, 'fvmpi check: {}', said)
    return path


class Regions:
    """Visits of regions, as otf2-print tells them; met: the time of those in which, or at whose end, a signal handler
    was."""

    def __init__(self, path, handler=None):
        self.time, self.visits, self.outer = collections.Counter(), collections.Counter(), collections.defaultdict(set)
        self.met, handled = collections.Counter(), -1
        stacks = collections.defaultdict(list)
        for line in harness.run(['otf2-print', path]).ended(0).out.splitlines():
            found = re.match(
                r'(?:CALLING_CONTEXT_)?(ENTER|LEAVE) +(\d+) +(\d+)  (?:Region|Calling Context): "(.*?)" <\d+>', line
            )
            if not found:
                continue
            what, location, time, name = found.groups()
            stack = stacks[location]
            if what == 'ENTER':
                self.outer[name].update(region for region, _ in stack)
                stack.append((name, int(time)))
                continue
            region, begin = stack.pop()
            equal('left', name, region)
            self.time[name] += int(time) - begin
            self.visits[name] += 1
            if name == handler:
                handled = int(time)
            elif handled >= begin:
                self.met[name] += int(time) - begin
        check(not any(stacks.values()), 'left open: {}', stacks)


def compare(directory, profile, paused=(), handler=None):
    """The regions of sections against the report. Both tell of the same ticks: what may differ is the rate, each
    measured, and the last nanosecond at each end. A handler that comes in when a section's end has read the clock is
    told before that end, which then stands where the handler ended."""
    found = Regions(merged(directory), handler)
    for s in profile['sections']:
        if s['whole'] or not s['count'] or s['section'] in paused:
            continue
        name = s['section'] if not s['number'] else '{} {}'.format(s['section'], s['number'])
        wanted = s['thread_time']['sum_s']
        check(
            abs(found.time[name] * 1e-9 - wanted)
            <= 0.001 * wanted + 2e-9 * found.visits[name] + 1e-9 * found.met[name],
            '{}: {} s in the archive, {} s in the report',
            name,
            found.time[name] * 1e-9,
            wanted,
        )
        check(found.visits[name] >= s['count'], '{}: {} visits of {}', name, found.visits[name], s['count'])
    return found


def alone(tap):
    serial = build('serial', '-lpthread', '-ldl')
    for mode in ('nested', 'names', 'threads', 'interrupted', 'early'):
        with tap.test('serial, {}: the time of a region is its section\'s'.format(mode)):
            directory, _ = record([serial, mode], '--trace')
            compare(directory, report(directory), handler='handler' if mode == 'interrupted' else None)
    with tap.test('overlapping sections: the inner one is left and entered again'):
        directory, _ = record([serial, 'overlap'], '--trace')
        found = compare(directory, report(directory))
        equal('visits', (found.visits['first'], found.visits['second']), (1, 2))
        equal('second is in first', found.outer['second'], {'first'})
    for mode, paused in (('unbalanced', ()), ('killed', ()), ('jumps', ()), ('paused', ('half',)), ('many', ())):
        with tap.test('serial, {}: all nests'.format(mode)):
            directory, _ = record([serial, mode], '--trace')
            if mode != 'jumps':
                compare(directory, report(directory), paused)
            else:
                merged(directory)
    with tap.test('without MPI the trace lacks nothing of it'):
        directory, _ = record([serial, 'nested'], '--trace')
        said = harness.run([os.path.join(harness.BUILD, 'fvunify'), directory]).ended(0).err
        check('is in the trace' not in said, 'fvunify: {}', said)
        said = harness.run([harness.FVMPI, 'report', directory]).ended(0).out
        check('its analysis is left out' not in said, 'report: {}', said)
    with tap.test('without MPI: a trace of nothing is said to be that'):
        directory, _ = record(['true'], '--trace')
        said = harness.run([os.path.join(harness.BUILD, 'fvunify'), directory]).ended(0).err
        check(': nothing is in the trace: of a program without MPI it has sections' in said, 'fvunify: {}', said)
    with tap.test('measured instances that overlap sections'):
        directory, _ = record([serial, 'hot'], '--trace', '--sample=1000')
        compare(directory, report(directory))
        samples_are_in_sections(merged(directory, options=['--calling-contexts']))


def samples_are_in_sections(path):
    """The calling context of a sample leads through all that is entered, sections and measured functions."""
    stack, inside = [], collections.Counter()
    for line in harness.otf2_events(os.path.dirname(path)).splitlines():
        what, _, _, _, name = line.split(' ', 4)
        if what == 'enter':
            stack.append(name)
        elif what == 'leave':
            stack.pop()
        elif what == 'sample':
            frames = iter(frame.split(':')[0] for frame in name.split(' > '))
            check(all(region in frames for region in stack), '{} is not in {}', name, stack)
            inside[name.split(' > ')[0]] += 'burn' in name
    check(inside['a'] and inside['b'], 'samples in sections: {}', inside)


def threads(tap):
    with tap.test('OpenMP and threads that end in a section'):
        directory, _ = record([build('team', '-fopenmp', '-lpthread')], '--trace', '--threads')
        profile = report(directory)
        found = compare(directory, profile)
        equal('of both threads', found.visits['inside'], 4)
        check(found.outer['inside'] >= {'around'}, 'inside is in {}', found.outer['inside'])
        equal(
            'ended by their threads',
            [s['unbalanced']['ended_by_thread_end'] for s in profile['sections'] if s['section'] == 'left open'],
            [2],
        )


def one_by_one(rows, path):
    """Each instance that the report has by itself is where it ends in the archive."""
    found = {
        (e.region.strip('"'), e.location & 0xFFFFFFFF, e.instance): (e.mpi_calls, e.mpi_bytes, e.mpi_time)
        for e in otf2_print.events(path)
        if e.kind == 'LEAVE' and 'instance' in e
    }
    equal('instances', len(found), len(rows))
    check(any(row['calls'] > 1 and row['mpi_bytes'] for row in rows), 'rows: {}', rows)
    for row in rows:
        name = row['section'] if not row['number'] else '{} {}'.format(row['section'], row['number'])
        calls, size, ns = found[name, row['rank'], row['instance_number']]
        equal(name, (calls, size), (row['calls'], row['mpi_bytes']))
        wanted = row['mpi_time_s']
        check(abs(ns * 1e-9 - wanted) <= 0.001 * wanted + 3e-9, '{}: {} ns of MPI, wanted {} s', name, ns, wanted)


def with_mpi(tap, mpi):
    launcher = [mpi.exec] + mpi.options + ['-n', '2']
    with tap.test('{}: calls are in their sections'.format(mpi)):
        options = ['--trace', '--section-instances', '3']
        directory, _ = record([build('exchange', compiler=[mpi.cc])], *options, launcher=launcher)
        found = compare(directory, report(directory))
        equal('barriers', found.visits['MPI_Barrier'], 2 * (4 * 2 + 7))
        check(
            {'round', 'round 1', 'A', 'B', 'nearly all'} <= found.outer['MPI_Barrier'], '{}', found.outer['MPI_Barrier']
        )
        check(
            all(not name.startswith('MPI_') for section in ('A', 'B', 'sizes') for name in found.outer[section]),
            'a section is in a call: {}',
            found.outer,
        )
    with tap.test('{}: what MPI did in each instance'.format(mpi)):
        profile = report(directory)
        one_by_one(profile['section_instances'], merged(directory))
        threads = {(rank['rank'], thread['thread']) for rank in profile['ranks'] for thread in rank['threads']}
        for instance in profile['section_instances']:
            check((instance['rank'], instance['thread']) in threads, 'not a thread of its rank: {}', instance)
    with tap.test('{}: the same archive from 1 and 2 processes'.format(mpi)):
        digests = set()
        for n in ('1', '2'):
            path = merged(directory, [mpi.exec] + mpi.options + ['-n', n])
            digests.add(
                hashlib.sha1(
                    ''.join(harness.run(['otf2-print'] + o + [path]).ended(0).out for o in ([], ['-G'])).encode()
                ).hexdigest()
            )
        equal('archives', len(digests), 1)


def recorded_off(tap, mpi):
    with tap.test('{}: a trace without calls is said to be that'.format(mpi)):
        program = build('exchange', compiler=[mpi.cc])
        directory, _ = record([program], '--trace', '--off-at-start', launcher=[mpi.exec] + mpi.options + ['-n', '2'])
        said = harness.run([os.path.join(harness.BUILD, 'fvunify'), directory]).ended(0).err
        check(': no MPI call is in the trace: recording was off, or' in said, 'fvunify: {}', said)


def again(test, tries=3):
    """The program's clock is outside of fvmpi's: a busy machine may stop the program in between."""
    for left in range(tries, 0, -1):
        try:
            return test()
        except AssertionError:
            if left == 1:
                raise


def waits(tap, what, program, launcher=()):
    """Within 5 % of what the program measured, each rank's."""

    def once():
        directory, out = record([program], '--threads', launcher=launcher)
        sections = {(s['section'], s['number']): s for s in report(directory)['sections'] if not s['whole']}
        told = [line.split() for line in out.splitlines() if line.startswith('lock ')]
        equal('told', len(told), 5 * (2 if launcher else 1))
        for _, rank, name, number, seconds, faults, switches in told:
            of = next(r for r in sections[name, int(number)]['per_rank'] if r['rank'] == int(rank))
            wanted = float(seconds)
            check(
                abs(of['lock_wait_s'] - wanted) <= 0.05 * wanted + 1e-4,
                '{} {} of rank {}: waited {} s, wanted {}',
                name,
                number,
                rank,
                of['lock_wait_s'],
                wanted,
            )
            check(wanted > 0.01 or name == 'free', '{}: nobody waited', name)
            if int(faults) < 0:
                continue
            check(
                0 <= of['fault_count'] - int(faults) <= 4 + 0.02 * int(faults),
                '{}: {} faults, wanted {}',
                name,
                of['fault_count'],
                faults,
            )
            check(
                0 <= of['switch_count'] - int(switches) <= 3,
                '{}: {} switches, wanted {}',
                name,
                of['switch_count'],
                switches,
            )
        for r in sections['holder', 0]['per_rank']:
            check(r['lock_wait_s'] < 0.005, 'the holder waited {} s', r['lock_wait_s'])

    with tap.test('{}: waiting for locks, faults and switches in sections'.format(what)):
        if harness.SANITIZER and str(what) == 'mpich':
            raise harness.Skip("MPICH's libraries lock before AddressSanitizer is there")
        again(once)


def main():
    tap = harness.Tap()
    waits(tap, 'serial', build('locks', '-lpthread'))
    for mpi in harness.an_mpi(tap):
        waits(
            tap,
            mpi,
            build('locks', '-DWITH_MPI', '-lpthread', compiler=[mpi.cc]),
            [mpi.exec] + mpi.options + ['-n', '2'],
        )
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')) or not shutil.which('otf2-print'):
        with tap.test('archives'):
            raise harness.Skip('no OTF2, or no otf2-print (package otf2-tools)')
    else:
        alone(tap)
        threads(tap)
        for mpi in harness.an_mpi(tap, quiet=True):
            with_mpi(tap, mpi)
            recorded_off(tap, mpi)
    tap.done()


main()
