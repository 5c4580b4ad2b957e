#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it delays the sampler's signals.
"""Measured instances of functions in the archive: each one that was logged is a region, nested with the calls of MPI,
with its CPU time; samples of the CPU clock, each where the thread was; the archive is the same however many processes
merged it, and what the analysis says of waiting does not change."""
import collections
import hashlib
import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
MPI = os.path.join(os.path.dirname(HERE), 'mpi')
sys.path.append(sys.path[0] + '/../harness')
import harness
import samples
from report import check, equal

CHUNK = struct.Struct('=IHHQQIIQ')  # struct fv_chunk_header, up to `first`
LOG = 22  # FV_CHUNK_INSTANCE_LOG
SAMPLE_LOG = 48  # FV_CHUNK_SAMPLE_LOG
UNIFY = os.path.join(harness.BUILD, 'fvunify')
GENERATOR = os.path.join(harness.BUILD, 'tests/bench/trace_gen')
REGIONS = os.path.join(harness.BUILD, 'tests/otf2/regions')


def unify(directory, *options, processes=0, mpi=None):
    command = [UNIFY, directory] + list(options)
    if processes:
        command = [mpi.exec] + mpi.options + ['-n', str(processes)] + command
    return harness.run(command).ended(0).err


def checked(directory):
    """No faults: above all, all nests."""
    run = harness.run([harness.FVMPI, 'check', '--strict', os.path.join(directory, 'traces.otf2')])
    equal('errors of {}\n{}{}'.format(directory, run.out[-1500:], run.err[-500:]), run.rc, 0)


def printed(directory, *options):
    return harness.run(['otf2-print'] + list(options) + [os.path.join(directory, 'traces.otf2')]).ended(0).out


def digest(directory):
    return hashlib.sha1((printed(directory) + printed(directory, '-G')).encode()).hexdigest()


def cpu_times(directory, event='(?:CALLING_CONTEXT_)?LEAVE'):
    """Of the instances; or of the samples."""
    return [
        int(ns)
        for ns in re.findall(
            event + r' .*\n *ADDITIONAL ATTRIBUTES:.*"fvmpi::cpu_time" <\d+>; UINT64; (\d+)', printed(directory)
        )
    ]


class Region:
    """What python3-otf2 reads of one: who, what, when, and the regions directly in it."""

    def __init__(self, rank, thread, name, begin):
        self.rank, self.thread, self.name, self.begin, self.end, self.inner = rank, thread, name, begin, None, []
        self.is_call = False


def regions(directory):
    out, stacks = [], collections.defaultdict(list)
    for line in harness.otf2_events(directory).splitlines():
        what, ns, rank, thread, name = line.split(' ', 4)
        stack = stacks[rank, thread]
        if what == 'enter':
            region = Region(int(rank), thread, name, int(ns))
            region.is_call = name.startswith('MPI_') and not any(outer.is_call for outer in stack)
            if stack:
                stack[-1].inner.append(region)
            stack.append(region)
            out.append(region)
        elif what == 'leave':
            equal('left', name, stack[-1].name)
            stack.pop().end = int(ns)
    equal('left open', [r[-1].name for r in stacks.values() if r], [])
    return out


def generated(tap):
    with tap.test('generated: around calls and in each other, of the same functions in all ranks'):
        with_them, without = harness.scratch('with'), harness.scratch('without')
        harness.run([GENERATOR, with_them, '4', '3000', '0', '10']).ended(0)
        harness.run([GENERATOR, without, '4', '3000']).ended(0)
        said = unify(with_them)
        check('2400 measured calls' in said and said.count('measured') == 1, said)
        check('instances' not in unify(without), 'there are none')
        checked(with_them)
        found = regions(with_them)
        counts = collections.Counter((r.rank, r.name) for r in found if not r.is_call)
        equal('instances', counts, {(rank, name): 300 for rank in range(4) for name in ('app+0x2000', 'app+0x3000')})
        for r in found:
            if r.name == 'app+0x2000':
                equal('in step', [i.name if not i.is_call else 'call' for i in r.inner], ['app+0x3000'] + 5 * ['call'])
                equal('in half', [i.is_call for i in r.inner[0].inner], 5 * [True])
                equal('its length', r.end - r.begin, 9950)
        equal('CPU times', sorted(cpu_times(with_them)), [200] * 1200 + [500] * 1200)
    with tap.test('generated: the analysis of waiting is the same'):
        check(analysis(with_them) == analysis(without), 'analysis.json differs')
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: the same archive from 2 and 3 processes'.format(mpi)):
            wanted = digest(with_them)
            for processes in (2, 3):
                out = harness.scratch('archive')
                unify(with_them, '-o', out, '-q', processes=processes, mpi=mpi)
                equal('{} processes'.format(processes), digest(out), wanted)
    with tap.test('generated: a part of the log is missing'):
        path = os.path.join(with_them, 'rank-000002.fvr')
        with open(path, 'r+b') as f:
            data = f.read()
            chunk = next(at for at in range(0, len(data), 128) if CHUNK.unpack_from(data, at)[:2] == (0x4B435646, LOG))
            f.seek(chunk + 64 + 10 * 32)  # its eleventh record: ends before it begins
            f.write(data[chunk + 64 + 10 * 32 + 8 :][:8] + data[chunk + 64 + 10 * 32 :][:8])
        done = harness.run([UNIFY, with_them]).ended(1)
        check(re.search('1 measured call is left out', done.err), done.err)
        checked(with_them)
        equal('the others', len(cpu_times(with_them)), 2399)


def ranks_of(run):
    ranks = samples.read(run.directory)
    if all(s['mode'] == samples.COSTS for r in ranks for s in r.samplers):
        raise harness.Skip('no instances here: ' + run.err.strip())
    return ranks


def logged(ranks):
    """(rank, function): how many."""
    out = collections.Counter()
    for number, rank in enumerate(ranks):
        of_thread = collections.defaultdict(list)
        for c in rank.contexts:
            of_thread[c.thread].append(c.name)
        for thread, context, *_ in rank.logged:
            out[number, of_thread[thread][context]] += 1
    return out


def real(tap):
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: the instances of a run, with the calls in them'.format(mpi)):
            program = samples.compile_with(mpi.cc, 'exchange.c')

            def attempt(seconds):
                run = mpi.profile(program, 2, [str(seconds)], options=['--trace', '--sample=400', '-q']).ended(0)
                equal('output', run.out, 'total 1\n' * 2)
                ranks = ranks_of(run)
                return run, ranks, logged(ranks)

            def has_all(found):
                return all(found[2][rank, name] > 0 for rank in (0, 1) for name in ('exchange', 'compute'))

            run, ranks, wanted = found = samples.enough(has_all, attempt, 0.4)
            check(has_all(found), 'logged: {}', wanted)
            equal(
                'logged and returned',
                len([i for r in ranks for i in r.logged]),
                sum(s['returns'] - s.get('log_lost', 0) for r in ranks for s in r.samplers),
            )
            said = unify(run.directory)
            check('{} measured calls'.format(sum(wanted.values())) in said and said.count('measured') == 1, said)
            checked(run.directory)
            found = regions(run.directory)
            measured = collections.Counter((r.rank, r.name) for r in found if not r.is_call)
            for place, count in wanted.items():
                if place[1] != '?':  # of a library without symbols
                    # its functions have several names
                    if not (harness.SANITIZER and re.search('asan|interceptor|sanitizer', place[1])):
                        equal('instances of {}'.format(place), measured[place], count)
            for rank in (0, 1):
                equal(
                    'instances of rank {}'.format(rank),
                    *(sum(n for (who, _), n in c.items() if who == rank) for c in (measured, wanted)),
                )
            for r in found:
                calls = [i.name for i in r.inner if i.is_call]
                if r.name == 'exchange':
                    equal('calls in exchange', calls, ['MPI_Allreduce', 'MPI_Barrier', 'MPI_Allreduce'])
                elif r.name in ('compute', 'work'):
                    equal('calls in ' + r.name, calls, [])
            equal('CPU times', sorted(cpu_times(run.directory)), sorted(i[4] for r in ranks for i in r.logged))
            equal(
                'calls',
                sum(r.is_call for r in found),
                sum(site.on(rank, 'count') for site in run.report().sites for rank in (0, 1)),
            )


def counted_events(tap):
    with tap.test('events of single calls are metrics, before the end of each'):
        program = samples.compile_with('cc', 'counted.c', '-pthread')

        def attempt(seconds):
            run = samples.sampled([program, str(seconds)], options=['--trace', '--events=PAGE-FAULTS']).ended(0)
            return run, samples.read(run.directory)

        def calls(found):
            return logged(found[1])[0, 'fresh']

        run, ranks = found = samples.enough(lambda found: calls(found) > 5, attempt, 0.5)
        if all(s['mode'] == samples.COSTS for r in ranks for s in r.samplers):
            raise harness.Skip('no instances here')
        wanted = [int(fields['count'].split(',')[0]) for fields in harness.dumped(run.directory, 'logged_events')]
        if not wanted:
            raise harness.Skip('PAGE-FAULTS cannot be counted here')
        unify(run.directory, '-q')
        checked(run.directory)
        told = re.findall(
            r'^METRIC .*Value: \("PAGE-FAULTS" <\d+>; UINT64; (\d+)\).*\n(?:CALLING_CONTEXT_)?LEAVE .*"(\w+)[^"]*" <\d+>',
            printed(run.directory),
            re.M,
        )
        equal('counts', sorted(int(count) for count, _ in told), sorted(wanted))
        equal('faults of fresh', [count for count, name in told if name == 'fresh'], ['64'] * calls(found))


def in_archive(directory):
    """Of each sample of the archive: the functions around it, outermost first, and the call of MPI that is open there,
    or the region."""
    out, innermost, stacks = [], [], collections.defaultdict(list)
    for line in harness.otf2_events(directory).splitlines():
        what, _, rank, thread, rest = line.split(' ', 4)
        stack = stacks[rank, thread]
        if what == 'enter':
            stack.append(rest)
        elif what == 'leave':
            stack.pop()
        elif what == 'sample':
            out.append(
                (
                    [frame.split(':')[0] for frame in rest.split(' > ')],
                    next((r for r in stack if r.startswith('MPI_')), None),
                )
            )
            innermost.append(stack[-1] if stack else None)
    return out, innermost


def times(directory, kinds):
    """All lines of these kinds, without what stands behind the location."""
    return [
        line.split(' ')[:4] + (line.split(' ', 4)[4:] if 'sample' not in kinds else [])
        for line in harness.otf2_events(directory).splitlines()
        if line.split(' ')[0] in kinds
    ]


def both_forms(in_metric, in_contexts):
    """Regions, times and CPU times of samples are the same, and where each was."""
    equal('regions', times(in_metric, ('enter', 'leave')), times(in_contexts, ('enter', 'leave')))
    equal('samples', times(in_metric, ('sample',)), times(in_contexts, ('sample',)))
    equal(
        'CPU times',
        [int(ns) for ns in re.findall(r'^METRIC .*"CPU time" <\d+>; UINT64; (\d+)\)', printed(in_metric), re.M)],
        cpu_times(in_contexts, 'CALLING_CONTEXT_SAMPLE'),
    )
    (paths, _), (others, innermost) = in_archive(in_metric), in_archive(in_contexts)
    # in a region that its path does not lead through it is that region's
    for (path, call), (other, _), region in zip(paths, others, innermost):
        check(call or path == other or other[-1] == region, '{} and {}', path, other)
    outside = [path == other for (path, call), (other, _) in zip(paths, others) if not call]
    check(
        outside and outside.count(False) <= 3 + len(outside) // 10,
        '{} of {} differ',
        outside.count(False),
        len(outside),
    )
    check(not re.search('^CALLING_CONTEXT_', printed(in_metric), re.M), 'calling contexts where regions are entered')
    check(
        not [path for path, _ in paths if any(frame.startswith('fv_') for frame in path)],
        "fvmpi's own frames are in them",
    )


def archive_of_samples(directory, said, logged, late):
    """`said`: what the analysis knows of them; it ends with MPI."""
    found, _ = in_archive(directory)
    equal('samples', len(found), logged)
    program = ('work', 'compute', 'exchange', 'goes_on', 'main')  # the analysis charges to them what libraries took
    outside = collections.Counter(
        next((f for f in reversed(path) if f in program + ('afterwards',)), '') for path, call in found if not call
    )
    equal('outside of calls', sum(outside.values()), said['count'] + late)
    check(0 < outside['afterwards'] <= late, '{} of {} samples after MPI_Finalize', outside['afterwards'], late)
    for function in program:
        wanted = sum(p['count'] for p in said['procedures'] if p['function'] == function)
        # A tick and the trap of a return may come together, the tick first: its sample stands in the function that has
        # returned.
        check(
            abs(outside[function] - wanted) <= 3 + wanted // 20,
            'in {}: {}, not {}',
            function,
            outside[function],
            wanted,
        )
    for path, call in found:
        check(not call or call in path, '{} in {}', path, call)
    check(
        not [path for path, _ in found if any(frame.startswith('fv_') for frame in path)],
        "fvmpi's own frames are in them",
    )
    for path in (path for path, call in found if path[-1] == 'work' and not call):
        check('main' in path and ('compute' in path or 'exchange' in path), '{}', path)
    check([call for _, call in found if call], 'none is in a call')
    equal('their CPU time', len(cpu_times(directory, 'CALLING_CONTEXT_SAMPLE')), len(found))
    check(
        re.search(
            r'INTERRUPT_GENERATOR +0 .*Mode: TIME, Base: DECIMAL, Exponent: -9, Period: 2500000$',
            printed(directory, '-G'),
            re.M,
        ),
        'the period of 400 samples a second',
    )


def after_the_end(dump):
    """Samples of what ranks did when MPI had ended."""
    late, end = 0, None
    for what, fields in dump:
        end = int(fields['end_ticks']) if what == 'header' else end
        late += what == 'sample_log' and int(fields['ticks']) > end
    return late


def regions_of(directory):
    """As who knows nothing of calling contexts reads them."""
    return harness.run([REGIONS, os.path.join(directory, 'traces.otf2')]).ended(0).out


def clock_samples(tap):
    for mpi in harness.an_mpi(tap):
        with tap.test(
            '{}: samples of the CPU clock, the same from any number of processes; a damaged chunk'.format(mpi)
        ):
            program = samples.compile_with(mpi.cc, 'exchange.c')

            def attempt(seconds):
                run = mpi.profile(program, 2, [str(seconds), '0.1'], options=['--trace', '--sample=400', '-q']).ended(0)
                return run, harness.dump(run.directory)

            def logged(found):
                return sum(what == 'sample_log' for what, _ in found[1])

            run, dump = found = samples.enough(lambda found: logged(found) > 1100, attempt, 1.5)  # 508 are a chunk
            told = unify(run.directory)
            check('{} samples of the CPU clock'.format(logged(found)) in told, '{}: {}', logged(found), told)
            checked(run.directory)
            wanted = analysis(run.directory)
            said = wanted['samples']
            in_contexts = harness.scratch('contexts')
            unify(run.directory, '-q', '--calling-contexts', '-o', in_contexts)
            checked(in_contexts)
            archive_of_samples(in_contexts, said, logged(found), after_the_end(dump))
            both_forms(run.directory, in_contexts)
            equal(
                'ticks',
                sum(int(fields['ticks']) for what, fields in dump if what == 'sampler'),
                logged(found)
                + sum(
                    int(fields[key])
                    for what, fields in dump
                    if what == 'sampler'
                    for key in ('lost_paths', 'samples_lost')
                ),
            )
            equal('samples', said['count'] + said['elsewhere'], logged(found))
            equal('lost, damaged', (said['lost'], said['damaged']), (0, 0))
            weights = [int(fields['cpu_ns']) / 1e9 for what, fields in dump if what == 'sample_log']
            check(said['cpu_s'] <= sum(weights) + 1e-9, '{} of {} s', said['cpu_s'], sum(weights))
            check({'compute', 'main'} <= {p['function'] for p in said['procedures']}, '{}', said['procedures'])
            for p in said['procedures']:
                check(p['cpu_s'] <= p['total']['cpu_s'] + 1e-9, '{}', p)
                check(sum(line['count'] for line in p['lines']) <= p['count'], '{}', p)
            equal('regions', sum(r['count'] for r in said['regions']), said['count'])
            alone = digest(run.directory), digest(in_contexts)
            for processes in (2, 3) if harness.all_cases() else (3,):
                out = harness.scratch('archive')
                unify(run.directory, '-o', out, '-q', processes=processes, mpi=mpi)
                check(analysis(out) == wanted, 'not the same from {} processes', processes)
                equal('the archive of {} processes'.format(processes), digest(out), alone[0])
                unify(run.directory, '-o', out, '-q', '--calling-contexts', processes=processes, mpi=mpi)
                equal('with calling contexts, of {} processes'.format(processes), digest(out), alone[1])
            out = harness.scratch('without')
            unify(run.directory, '-q', '--no-samples', '-o', out)
            checked(out)
            check('"CPU time"' not in printed(out) + printed(out, '-G'), 'samples')
            for other in (run.directory, in_contexts):
                check(
                    regions_of(out).count('enter') > 100 and regions_of(out) == regions_of(other),
                    'regions of {} differ',
                    other,
                )
            lost = break_chunk(run.directory)
            check('of the CPU clock are damaged' in harness.run([UNIFY, run.directory]).ended(1).err, 'not told')
            equal('damaged', analysis(run.directory)['samples']['damaged'], lost)


def break_chunk(directory):
    """The first of two chunks of samples of a rank is gone. Says how many it had."""
    for rank in (0, 1):
        path = os.path.join(directory, 'rank-{:06}.fvr'.format(rank))
        with open(path, 'rb') as f:
            data = bytearray(f.read())
        chunks = [at for at in range(0, len(data), 128) if CHUNK.unpack_from(data, at)[:2] == (0x4B435646, SAMPLE_LOG)]
        if len([at for at in chunks if CHUNK.unpack_from(data, at)[4]]) < 2:
            continue
        first = min(chunks, key=lambda at: CHUNK.unpack_from(data, at)[7])
        used = CHUNK.unpack_from(data, first)[4]
        data[first] ^= 255
        with open(path, 'wb') as f:
            f.write(data)
        return used // 16
    raise AssertionError('no rank has two chunks of samples')


def without_log(path):
    """The file's chunks of logged instances get a type that no reader knows."""
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    for at in range(0, len(data), 128):
        magic, kind, version, size, _, thread, _, first = CHUNK.unpack_from(data, at)
        if magic != 0x4B435646 or kind != LOG:
            continue
        check_sum = 0xCBF29CE484222325
        for word in (magic, 0x7F16, version, size, thread, first):
            check_sum = (check_sum ^ word) * 0x100000001B3 % 2**64
        struct.pack_into('=H', data, at + 4, 0x7F16)
        struct.pack_into('=Q', data, at + 40, check_sum)
    with open(path, 'wb') as f:
        f.write(data)


def analysis(directory):
    """But what the analysis itself cost."""
    with open(os.path.join(directory, 'analysis.json')) as f:
        data = json.load(f)
    data['merge'] = None
    return data


def threads(tap):
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: threads that never call MPI; the analysis knows nothing of them'.format(mpi)):
            program = samples.compile_with(mpi.cc, 'workers.c', '-pthread')

            def attempt(seconds):
                run = mpi.profile(program, 2, [str(seconds)], options=['--trace', '--sample=400', '-q']).ended(0)
                equal('output', run.out, 'sum 1\n' * 2)
                return run, ranks_of(run)

            def workers(found):
                return [len({i[0] for i in rank.logged} - {0}) for rank in found[1]]

            run, _ = found = samples.enough(lambda found: workers(found) == [2, 2], attempt, 0.3)
            equal('threads with instances of each rank', workers(found), [2, 2])
            unify(run.directory, '-q')
            checked(run.directory)
            with_them = analysis(run.directory)
            for number in range(2):
                without_log(os.path.join(run.directory, 'rank-{:06}.fvr'.format(number)))
            equal('left', [r.logged for r in samples.read(run.directory)], [[], []])
            unify(run.directory, '-q')
            equal('CPU times', cpu_times(run.directory), [])
            check(analysis(run.directory) == with_them, 'the analysis differs')


def main():
    tap = harness.Tap()
    generated(tap)
    real(tap)
    counted_events(tap)
    clock_samples(tap)
    threads(tap)
    tap.done()


if __name__ == '__main__':
    main()
