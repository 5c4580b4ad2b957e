"""Reads what `fvmpi dump` says of samples; functions by name."""
import collections
import re
import subprocess

METRICS = ('time', 'cpu', 'mpi', 'mpi_calls', 'faults', 'switches', 'migrations', 'mpi_bytes', 'event_0', 'event_1',
           'event_2', 'event_3')


def symbols(path):
    """Sorted (address, name) of an ELF file's functions."""
    text = subprocess.run(['nm', '--defined-only', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          universal_newlines=True).stdout
    return {int(f[0], 16): f[2] for f in (line.split() for line in text.splitlines()) if len(f) == 3 and f[1] in 'tT'}


class Context:
    """Instances of a function in a calling context."""

    def __init__(self, fields, name, callers):
        self.name, self.callers = name, callers
        for key in ('entries', 'returns', 'abandoned', 'window', 'flags', 'thread'):
            setattr(self, key, int(fields[key]))
        self.moments = {}
        for which in ('all', 'in_window'):
            for metric, pair in zip(METRICS, fields[which].split(';')):
                self.moments[which, metric] = tuple(float(x) for x in pair.split(','))
        self.reservoir = [tuple(int(x) for x in i.split(',')) for i in fields['reservoir'].split(';') if i]

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
            self, '/'.join(self.callers), self.mean(), self.variation(), self.mean(which='in_window'),
            self.variation(which='in_window'))


class Rank:
    def __init__(self):
        self.samplers, self.contexts, self.costs, self.damages = [], [], collections.Counter(), []


def read(fvmpi, experiment):
    """The ranks of an experiment, in order."""
    text = subprocess.run([fvmpi, 'dump', experiment], stdout=subprocess.PIPE, universal_newlines=True,
                          check=True).stdout
    ranks, tables = [], {}
    for line in text.splitlines():
        kind, _, rest = line.partition(' ')
        fields = dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', rest))
        if kind == 'file':
            ranks.append(Rank())
            nodes, modules, ranges = {}, {}, []
        elif kind == 'module':
            modules[fields['id']] = fields['path'].strip('"')
            ranges.append((int(fields['begin'], 16), int(fields['end'], 16), int(fields['bias'], 16), fields['id']))
        elif kind == 'sample_path':
            nodes[fields['thread'], fields['id']] = fields
        elif kind == 'sampler':
            ranks[-1].samplers.append({k: int(v) for k, v in fields.items()})
        elif kind == 'damage':
            ranks[-1].damages.append(line)
        elif kind in ('instances', 'cost'):
            def name(node):
                number, offset = node['module'], int(node['offset'], 16)
                if number == '0': # an object that was not known yet: an absolute address
                    for begin, end, bias, number in ranges:
                        if begin <= offset - 1 < end:
                            offset -= bias
                            break
                module = modules.get(number, '?')
                if module not in tables:
                    tables[module] = symbols(module) if module != '?' else {}
                table, at = tables[module], offset - 1
                best = max((a for a in table if a <= at), default=None)
                return table[best] if best is not None and at - best < 65536 else '?'

            names, node = [], nodes.get((fields['thread'], fields['path']))
            while node:
                names.append(name(node))
                node = nodes.get((fields['thread'], node['parent']))
            if kind == 'cost':
                ranks[-1].costs[tuple(names)] += int(fields['ticks'])
            else:
                ranks[-1].contexts.append(Context(fields, names[0], names[1:]))
    return ranks
