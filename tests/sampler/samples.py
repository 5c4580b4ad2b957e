# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs under --sample, and reads what `fvmpi dump` says of them; functions by name."""
import bisect
import collections
import itertools
import os
import subprocess

import harness
from report import check, equal

HERE = os.path.dirname(os.path.abspath(__file__))
BREAKPOINTS, CALLS, COSTS, CLOCK = 'breakpoints', 'calls', 'costs', 'clock'  # enum fv_sampler_mode

METRICS = (
    'time',
    'cpu',
    'mpi',
    'mpi_calls',
    'faults',
    'switches',
    'migrations',
    'mpi_bytes',
    'event_0',
    'event_1',
    'event_2',
    'event_3',
)
LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev check-long: all of it; else one short known answer of each kind


def enough(is_enough, attempt, seconds):
    """attempt(seconds), or with twice as many until that is enough: what is sampled in a second depends on the
    machine."""
    for _ in range(3):
        found = attempt(seconds)
        if is_enough(found):
            return found
        seconds *= 2
    return attempt(seconds)


def compile_with(compiler, source, *flags, name=None):
    path = os.path.join(harness.scratch('bin'), name or os.path.splitext(source)[0])
    harness.run(
        [compiler, '-O2', '-g', '-Wall', '-Wextra', os.path.join(HERE, source), '-o', path] + list(flags)
    ).ended(0)
    return path


def sampled(command, rate=400, before=(), options=(), **more):
    directory = os.path.join(harness.scratch('exp'), 'e')
    done = harness.run(
        list(before)
        + [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', '--sample={}'.format(rate)]
        + list(options)
        + command,
        directory=directory,
        **more,
    )
    return done


def accounts(rank):
    """What must hold always."""
    equal('damages', rank.damages, [])
    for s in rank.samplers:
        equal('entries', s['entries'], s['returns'] + s['abandoned'] + s['open'])
        mine = [c for c in rank.contexts if c.thread == s['thread']]
        for key in ('entries', 'returns', 'abandoned'):
            equal(key + ' of contexts', sum(getattr(c, key) for c in mine), s[key])
    equal('ticks', sum(rank.costs.values()), sum(s['ticks'] - s['lost_paths'] for s in rank.samplers))
    for c in rank.contexts:
        equal('reservoir of {}'.format(c), len(c.reservoir), min(c.returns, 64))
        check(c.window <= c.returns <= c.entries, 'counts of {}', c)


def total(rank, key):
    return sum(s[key] for s in rank.samplers)


def named(rank, name):
    return [c for c in rank.contexts if c.name == name]


def a_third_left(rank, least, longer, one_in):
    """Of known.cpp's `left`: one call in three was left; and of each name less than one in so many took longer by that
    factor: two calls measured as one."""
    for name in ('thrower', 'jumper'):
        these = named(rank, name)
        gone, returned = sum(c.abandoned for c in these), sum(c.returns for c in these)
        check(gone + returned >= least, 'few instances of {}: {}', name, gone + returned)
        check(
            0.1 < gone / (gone + returned) < 0.6,
            '{} of {} calls of {} were left, not a third',
            gone,
            gone + returned,
            name,
        )
        times = sorted(i[2] for c in these for i in c.reservoir)
        joined = sum(t > longer * times[len(times) // 2] for t in times)
        check(joined * one_in < len(times), 'two calls measured as one: {} of {}', joined, times)


def symbols(path):
    """Sorted (address, name) of an ELF file's functions."""
    text = subprocess.run(
        ['nm', '--defined-only', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True
    ).stdout
    return {int(f[0], 16): f[2] for f in (line.split() for line in text.splitlines()) if len(f) == 3 and f[1] in 'tT'}


class Context:
    """Instances of a function in a calling context."""

    def __init__(self, fields, name, callers):
        self.name, self.callers = name, callers
        for key in ('entries', 'returns', 'abandoned', 'window', 'thread'):
            setattr(self, key, int(fields[key]))
        self.flags = fields['flags'].split('+')
        self.counted = None  # instances whose events are known, where there are events
        self.moments = {}
        for which in ('all', 'in_window'):
            for metric, pair in itertools.zip_longest(METRICS, fields[which].split(';'), fillvalue='0,0'):
                self.moments[which, metric] = tuple(float(x) for x in pair.split(','))
        self.reservoir = [tuple(int(x) for x in i.split(',')) for i in fields['reservoir'].split(';') if i != '-']

    def count(self, which='all'):
        return self.returns if which == 'all' else self.window

    def mean(self, metric='cpu', which='all'):
        return self.moments[which, metric][0]

    def variation(self, metric='cpu', which='all'):
        n, (mean, m2) = self.count(which), self.moments[which, metric]
        return (m2 / (n - 1)) ** 0.5 / mean if n > 1 and mean > 0 else 0.0

    def spread(self):
        """Of CPU times, without the outliers of a loaded machine: 10th to 90th percentile, over the median."""
        times = sorted(i[2] for i in self.reservoir)
        return (times[len(times) * 9 // 10] - times[len(times) // 10]) / max(times[len(times) // 2], 1)

    def __str__(self):
        return '{0.name} <- {1}: {0.returns} returns, cpu {2:.0f} ns cov {3:.2f}, window {0.window} {4:.0f} ns cov {5:.2f}'.format(
            self,
            '/'.join(self.callers),
            self.mean(),
            self.variation(),
            self.mean(which='in_window'),
            self.variation(which='in_window'),
        )


class Rank:
    def __init__(self):
        self.metric_events = []
        self.samplers, self.contexts, self.costs, self.damages = [], [], collections.Counter(), []
        self.logged = []  # (thread, context, begin, end, cpu_ns, flags)
        self.threads = []


class Names:
    """Names of the functions of a rank's call paths. Records may come in any order: made of all lines first."""

    tables = {}

    def __init__(self, records):
        self.nodes = {(f['thread'], f['id']): f for kind, f in records if kind == 'sample_paths'}
        self.modules = [
            (int(f['begin'], 16), int(f['end'], 16), int(f['bias'], 16), f['path'], f['id'])
            for kind, f in records
            if kind == 'modules'
        ]
        self.known = {}

    def find(self, module, address):
        if module not in self.tables:
            table = symbols(module)
            self.tables[module] = (sorted(table), table)
        addresses, table = self.tables[module]
        at = bisect.bisect_right(addresses, address) - 1
        return table[addresses[at]] if at >= 0 and address - addresses[at] < 65536 else '?'

    def name(self, node):
        key = node['module'], int(node['offset'], 16)
        if key not in self.known:
            self.known[key] = '?'
            for begin, end, bias, path, number in self.modules:
                if key[0] == number:
                    self.known[key] = self.find(path, key[1] - 1)
                elif (
                    key[0] == '0' and begin <= key[1] - 1 < end
                ):  # an object that was not known yet: an absolute address
                    self.known[key] = self.find(path, key[1] - 1 - bias)
        return self.known[key]

    def path(self, fields):
        names, node = [], self.nodes.get((fields['thread'], fields['path']))
        while node:
            names.append(self.name(node))
            node = self.nodes.get((fields['thread'], node['parent']))
        return names


def rank_of(records):
    rank, names = Rank(), Names(records)
    by_index, of_instances, counts = {}, [], []
    for kind, fields in records:
        if kind == 'sampler':
            rank.samplers.append({k: int(v) if v.isdigit() else v for k, v in fields.items()})
        elif kind == 'instance_log':
            rank.logged.append(
                tuple(int(fields[k]) for k in ('thread', 'context', 'begin', 'end', 'cpu_ns')) + (fields['flags'],)
            )
        elif kind == 'threads':
            rank.threads.append(fields)
        elif kind == 'metric_events':
            rank.metric_events.append(fields)
        elif kind == 'damage':
            rank.damages.append(fields)
        elif kind == 'costs':
            rank.costs[tuple(names.path(fields))] += int(fields['ticks'])
        elif kind == 'instances':
            path = names.path(fields)
            rank.contexts.append(Context(fields, path[0], path[1:]))
            by_index[fields['thread'], sum(f['thread'] == fields['thread'] for f in of_instances)] = rank.contexts[-1]
            of_instances.append(fields)
        elif kind == 'event_counts':
            counts.append(fields)
    for fields in counts:
        by_index[fields['thread'], int(fields['index'])].counted = int(fields['all'])
    return rank


def read(experiment):
    """The ranks of an experiment, in order."""
    files = []
    for kind, fields in harness.dump(experiment):
        if kind == 'file':
            files.append([])
        files[-1].append((kind, fields))
    return [rank_of(records) for records in files]
