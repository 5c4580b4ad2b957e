#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fvmpi report writes for other people's viewers. Perfetto's trace is decoded by protoc, and held against the
archive's events as otf2-print tells them; pprof's and callgrind's profiles against the folded stacks."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, close, equal
from viewed import events_of, foreign

BEGIN, END, INSTANT, COUNTER = ('TYPE_SLICE_BEGIN', 'TYPE_SLICE_END', 'TYPE_INSTANT', 'TYPE_COUNTER')


# ---- protocol buffers ----


def message(lines):
    """Of protoc's text: a message's fields, each a list, until the brace that closes it."""
    fields = {}
    for line in lines:
        key, brace, value = line.strip().partition(' ')
        if key == '}':
            return fields
        if value == '' and brace:
            value = message(lines)
        elif key.endswith(':'):
            key, value = key[:-1], value
        elif value == '{':
            value = message(lines)
        check(not key.isdigit(), 'a field that no description has: {}', line)
        fields.setdefault(key, []).append(value if isinstance(value, dict) else value.strip('"'))
    return fields


def decoded(path, description, kind):
    """The whole file; its text says each field."""
    with gzip.open(path) as f:
        data = f.read()
    command = ['protoc', '--decode=' + kind, '-I' + HERE, os.path.join(HERE, description)]
    done = subprocess.run(command, input=data, capture_output=True, timeout=harness.LIMIT)
    equal('protoc: ' + done.stderr.decode(), done.returncode, 0)
    return message(iter(done.stdout.decode().splitlines()))


def one(fields, key, otherwise=None):
    values = fields.get(key, [])
    check(len(values) <= 1, 'several of {}: {}', key, values)
    return values[0] if values else otherwise


# ---- Perfetto ----


class Trace:
    def __init__(self, packets):
        self.words = {key: {} for key in ('event_categories', 'event_names', 'debug_annotation_string_values')}
        self.words['debug_annotation_names'] = {}
        self.tracks, self.events = {}, []
        for packet in packets:
            for key, entries in one(packet, 'interned_data', {}).items():
                for entry in entries:
                    check(one(entry, 'iid') not in self.words[key], '{} twice: {}', key, entry)
                    self.words[key][one(entry, 'iid')] = one(entry, 'name', '')
            track, event = one(packet, 'track_descriptor'), one(packet, 'track_event')
            if track:
                self.tracks[one(track, 'uuid')] = track
            if event:
                self.events.append((int(one(packet, 'timestamp', 0)), event))
        self.events.sort(key=lambda event: event[0])  # those of one time keep their order

    def name(self, event):
        number = one(event, 'name_iid')
        return self.words['event_names'][number] if number else one(event, 'name', '')

    def category(self, event):
        number = one(event, 'category_iids')
        return self.words['event_categories'].get(number)

    def annotations(self, event):
        names, texts = self.words['debug_annotation_names'], self.words['debug_annotation_string_values']
        return {
            names[one(a, 'name_iid')]: texts[one(a, 'string_value_iid')]
            if 'string_value_iid' in a
            else one(a, 'uint_value', one(a, 'string_value'))
            for a in event.get('debug_annotations', [])
        }

    def of(self, *types):
        return [(ns, event) for ns, event in self.events if one(event, 'type') in types]

    def slices(self):
        """Of each track: begin, end, name, category, annotations; they are in each other."""
        found, open_ = {}, {}
        for ns, event in self.of(BEGIN, END):
            track = one(event, 'track_uuid')
            check(track in self.tracks, 'no track: {}', event)
            if one(event, 'type') == BEGIN:
                open_.setdefault(track, []).append((ns, event))
            else:
                check(open_.get(track), 'ends, but did not begin: {}', event)
                begin, what = open_[track].pop()
                row = (begin, ns, self.name(what), self.category(what), self.annotations(what))
                found.setdefault(track, []).append(row)
        equal('did not end', [track for track, rest in open_.items() if rest], [])
        return found

    def threads(self):
        """Tracks of threads, by rank and thread."""
        tracks = {
            (int(one(t['thread'][0], 'pid')), int(one(t['thread'][0], 'tid'))): uuid
            for uuid, t in self.tracks.items()
            if 'thread' in t
        }
        return [uuid for _, uuid in sorted(tracks.items())]


def perfetto(path, *options):
    out = os.path.join(harness.scratch('perfetto'), 'trace')
    harness.run([harness.FVMPI, 'report', path, '--perfetto', out, *options]).ended(0)
    return Trace(decoded(out, 'perfetto.proto', 'Trace')['packet'])


def flows(trace):
    """Of each flow: when and what it leads from, and to."""
    ends = {}
    for ns, event in trace.of(INSTANT):
        for key in ('flow_ids', 'terminating_flow_ids'):
            for flow in event.get(key, []):
                check(key not in ends.setdefault(flow, {}), 'flow {} twice', flow)
                ends[flow][key] = (ns, event)
    for flow, of in ends.items():
        equal('ends of flow {}'.format(flow), sorted(of), ['flow_ids', 'terminating_flow_ids'])
    return [(of['flow_ids'], of['terminating_flow_ids']) for of in ends.values()]


def same_events(tap, name, anchor, trace):
    with tap.test('{}: Perfetto has the events of the archive'.format(name)):
        rows, slices = [row for row in events_of(anchor) if row], trace.slices()
        threads = trace.threads()
        equal('threads', len(threads), len(rows))
        for row, uuid in zip(rows, threads):
            found = sorted(s[:3] for s in slices.get(uuid, []) if s[1] > s[0])
            equal('slices', found, sorted(event[:3] for event in row if event[1] > event[0]))
    with tap.test('{}: processes, and flows of messages'.format(name)):
        numbers = sorted(int(one(t['process'][0], 'pid')) for t in trace.tracks.values() if 'process' in t)
        equal('numbers', numbers, list(range(1, len(numbers) + 1)))
        sent = [f for f in flows(trace) if trace.category(f[0][1]) == 'message']
        for (begin, event), (end, other) in sent:
            words = [trace.annotations(e) for e in (event, other)]
            equal('bytes and tags', *[(w['bytes'], w['tag']) for w in words])
            check(begin <= end, 'received before it was sent: {} {}', begin, end)
        harness_events = harness.run(['otf2-print', anchor]).ended(0).out
        equal('messages', len(sent), len(re.findall(r'^MPI_RECV |^MPI_IRECV ', harness_events, re.M)))


def of_archives(tap):
    for name, anchor in foreign(tap).items():
        same_events(tap, name, anchor, perfetto(anchor))


def parts(trace, directory):
    """What has a part of the stretch is whole, as in all of the trace; and ranks that were chosen are alone."""
    rows = [row[:3] for uuid in trace.threads() for row in trace.slices()[uuid]]
    moments = sorted(row[0] for row in rows)
    begin, end = moments[len(moments) // 3], moments[len(moments) // 2]
    stretch = ['--from', '{:.9f}'.format(begin / 1e9), '--to', '{:.9f}'.format(end / 1e9)]
    part = perfetto(directory, *stretch)
    found = [row[:3] for uuid in part.threads() for row in part.slices().get(uuid, [])]
    equal('slices', sorted(found), sorted(row for row in rows if row[0] < end and row[1] > begin))
    check(0 < len(found) < len(rows), '{} of {}', len(found), len(rows))
    flows(part)
    ranks = perfetto(directory, '--rank', '1-2')
    equal('processes', sorted(one(t['process'][0], 'pid') for t in ranks.tracks.values() if 'process' in t), ['2', '3'])
    known = {one(t, 'uuid') for t in ranks.tracks.values()}
    equal('strangers', {one(e, 'track_uuid') for _, e in ranks.events} - known, set())
    equal('slices', ranks.slices()[ranks.threads()[0]], trace.slices()[trace.threads()[1]])
    for options in (['--from', '2', '--to', '1'], ['--from', 'x'], ['--to', '-1']):
        harness.run([harness.FVMPI, 'report', directory, '--perfetto', '-', *options]).ended(2)


def of_a_run(tap, mpi):
    options = ['--trace', '--sample=off', '--section-cpu=0', '-q'] + ([] if harness.SANITIZER else ['--memory'])
    run = mpi.profile(mpi.build('waitpaths.c'), 4, ['paths'], options).ended(0)
    trace = perfetto(run.directory)
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
    same_events(tap, str(mpi), os.path.join(run.directory, 'traces.otf2'), trace)
    with tap.test('{}: waiting has tracks of its own, and who is waited for'.format(mpi)):
        slices = trace.slices()
        waits = [s for rows in slices.values() for s in rows if s[3] == 'waiting']
        called = [s for uuid in trace.threads() for s in slices.get(uuid, []) if 'waited (ns)' in s[4]]
        equal('waits', len(waits), len(called))
        seconds = sum(int(s[4]['waited (ns)']) for s in called) / 1e9
        kinds = harness.profile_of(run.directory)['waiting']['kinds']
        ends = sum(kind['wait_s'] for kind in kinds if 'completion' in kind['kind'])  # behind waiting, in the same call
        close('seconds', seconds, sum(kind['wait_s'] for kind in kinds) - ends, 1e-3 * seconds)
        led = [f for f in flows(trace) if trace.category(f[0][1]) == 'waiting']
        equal('flows', len(led), len([s for s in called if 'waited for' in s[4]]))
        check(any('main' in s[4].get('called by', '') for s in called), '{}', called[:3])
    with tap.test('{}: a part of the trace: a stretch, ranks'.format(mpi)):
        parts(trace, run.directory)
    with tap.test('{}: values along time'.format(mpi)):
        if harness.SANITIZER:
            raise harness.Skip('a sanitizer has the allocator, whose memory is the value')
        counters = {one(event, 'track_uuid') for _, event in trace.of(COUNTER)}
        check(counters, 'none')
        for uuid in counters:
            check('counter' in trace.tracks[uuid] and 'parent_uuid' in trace.tracks[uuid], '{}', trace.tracks[uuid])
    with tap.test('{}: what is no trace'.format(mpi)):
        plain = mpi.profile(mpi.build('waitpaths.c'), 2, ['paths'], ['--sample=off', '-q']).ended(0)
        out = os.path.join(harness.scratch(), 'none')
        refused = harness.run([harness.FVMPI, 'report', plain.directory, '--perfetto', out]).ended(1)
        check('--trace' in refused.err and not os.path.exists(out), '{}', refused.err)


def in_sections(tap, mpi):
    """Functions that samples found in sections lie within these, and nowhere else than where the table has them."""
    with tap.test('{}: samples in sections'.format(mpi)):
        source = os.path.join(os.path.dirname(HERE), 'planted', 'sections.c')
        program = mpi.build(source, '-O0', '-g', output='in_sections')
        run = mpi.profile(program, 2, ['cpu'], ['--trace', '--sample=1000', '-q']).ended(0)
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
        trace, all_ns = perfetto(run.directory), 0
        for uuid in trace.threads():
            rows = trace.slices()[uuid]
            steps = [row for row in rows if row[2].startswith('step ')]
            sampled = [row for row in rows if 'where this is from' in row[4]]
            found = [row for row in sampled if any(step[0] <= row[0] and row[1] <= step[1] for step in steps)]
            found_ns, step_ns = (sum(row[1] - row[0] for row in of) for of in (found, steps))
            check(found_ns <= step_ns, 'samples for {} ns in steps of {} ns', found_ns, step_ns)
            check('spin' in {row[2] for row in found}, '{}', found[:3])
            all_ns += sum(row[1] - row[0] for row in sampled)
        computing_ns = harness.profile_of(run.directory)['sampling']['computing_s'] * 1e9
        check(all_ns > 0.5 * computing_ns, 'samples for {} ns of {} ns', all_ns, computing_ns)
        command = [harness.FVMPI, 'query', run.directory, '--json', 'SELECT sum(duration_s) FROM trace_samples']
        (row,) = json.loads(harness.run(command).ended(0).out)['rows']
        close('the table', float(row[0]), all_ns / 1e9, 1e-6)
        command[2] = os.path.join(run.directory, 'traces.otf2')
        (row,) = json.loads(harness.run(command).ended(0).out)['rows']
        close('of the archive', float(row[0]), all_ns / 1e9, 0.05 * all_ns / 1e9)


# ---- samples ----


def folded(directory):
    """Ticks by rank, thread and stack."""
    text = harness.run([harness.FVMPI, 'report', directory, '--folded', '-']).ended(0).out
    found = {}
    for line in text.splitlines():
        stack, ticks = line.rsplit(' ', 1)
        found[stack] = found.get(stack, 0) + int(ticks)
    return found


def of_pprof(path):
    """The same of pprof's; the time of each as well."""
    profile = decoded(path, 'profile.proto', 'Profile')
    text = profile['string_table']
    name = lambda number: text[int(number or 0)]
    functions = {one(f, 'id'): name(one(f, 'name')) for f in profile['function']}
    places = {one(p, 'id'): functions[one(p['line'][0], 'function_id')] for p in profile['location']}
    equal('types', [name(one(t, 'type')) for t in profile['sample_type']], ['samples', 'cpu'])
    found = {}
    for sample in profile['sample']:
        labels = ['{} {}'.format(name(one(of, 'key')), name(one(of, 'str'))) for of in sample['label']]
        stack = labels + [places[p].replace(';', ':') for p in reversed(sample.get('location_id', []))]
        ticks, ns = map(int, sample['value'])
        check(ns > 0, '{}', sample)
        found[';'.join(stack)] = found.get(';'.join(stack), 0) + ticks
    return found, sum(int(sample['value'][1]) for sample in profile['sample'])


def of_callgrind(text):
    """ns of each function by itself, and of what each calls."""
    self_ns, called_ns, function, callee = {}, {}, None, None
    for line in text.splitlines():
        key, _, value = line.partition('=')
        if key == 'fn':
            function = value
        elif key == 'cfn':
            callee = value
        elif key == 'calls':
            equal('calls, which samples do not tell', value.split()[0], '1')
        elif re.fullmatch(r'\d+ \d+', line):
            into, name = (called_ns, (function, callee)) if callee else (self_ns, function)
            into[name] = into.get(name, 0) + int(line.split()[1])
            callee = None
    return self_ns, called_ns


def samples(tap, mpi):
    with tap.test('{}: samples for pprof: those of the folded stacks'.format(mpi)):
        run = mpi.profile(mpi.build('waitpaths.c'), 2, ['paths'], ['--sample=1000', '-q']).ended(0)
        place = harness.scratch('samples')
        options = ['--pprof', os.path.join(place, 'p'), '--callgrind', os.path.join(place, 'c')]
        harness.run([harness.FVMPI, 'report', run.directory] + options).ended(0)
        stacks = folded(run.directory)
        found, ns = of_pprof(os.path.join(place, 'p'))
        check(len(stacks) > 3, '{}', stacks)
        equal('stacks', found, stacks)
    with tap.test('{}: for KCachegrind: time of functions, and of what they call'.format(mpi)):
        with open(os.path.join(place, 'c')) as f:
            self_ns, called_ns = of_callgrind(f.read())
        close('all', sum(self_ns.values()), ns, 1e-6 * ns)
        inner = lambda name: {s for s in stacks if name in s.split(';')[2:]}
        of_main = sum(t for s, t in stacks.items() if s in inner('main')) * ns / sum(stacks.values())
        if shutil.which('callgrind_annotate'):
            said = harness.run(['callgrind_annotate', '--threshold=100', os.path.join(place, 'c')]).ended(0).out
            total = re.search(r'^ *([\d,]+).* PROGRAM TOTALS', said, re.M)[1]
            close('callgrind_annotate', int(total.replace(',', '')), ns, 1e-6 * ns)
        close('main', self_ns['main'] + sum(t for (f, _), t in called_ns.items() if f == 'main'), of_main, 1e-3 * ns)
    with tap.test('{}: no samples'.format(mpi)):
        plain = mpi.profile(mpi.build('waitpaths.c'), 2, ['paths'], ['--sample=off', '-q']).ended(0)
        for option in ('--pprof', '--callgrind'):
            refused = harness.run([harness.FVMPI, 'report', plain.directory, option, '-']).ended(1)
            check(option in refused.err and '--sample' in refused.err, '{}', refused.err)


def main():
    tap = harness.Tap()
    harness.patiently()
    if not shutil.which('protoc'):
        with tap.test('files for other viewers'):
            raise harness.Skip('protoc was not found; install the package protobuf-compiler')
        tap.done()
    of_archives(tap)
    for mpi in harness.an_mpi(tap):
        of_a_run(tap, mpi)
        in_sections(tap, mpi)
        samples(tap, mpi)
    tap.done()


main()
