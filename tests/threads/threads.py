# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of threads share: programs of this directory, built and run under the serial flavour or an MPI's."""
import functools
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'mpi'), os.path.join(os.path.dirname(HERE), 'sampler')]
import harness

# Only then does ThreadSanitizer stand behind us, before the C library, and knows the program's threads.
TSAN = ['-fsanitize=thread'] if 'thread' in os.environ.get('SANITIZE_FLAGS', '') else []
if TSAN:  # all is made for it here; else it ignores what its own functions call: us
    os.environ['TSAN_OPTIONS'] = os.environ.get('TSAN_OPTIONS', '') + ':ignore_noninstrumented_modules=0'
_bin = None


def build(source, *flags, compiler=None, output=None):
    """Compiles a program; its path."""
    global _bin
    _bin = _bin or harness.scratch('bin')
    path = os.path.join(_bin, output or os.path.splitext(source)[0] + '.' + source.rsplit('.', 1)[1])
    compiler = compiler or ('c++' if source.endswith('.cpp') else 'cc')
    harness.run(
        [compiler, '-O2', '-g', '-Wall', '-Wextra', '-pthread', os.path.join(HERE, source), '-o', path]
        + TSAN
        + list(flags)
    ).ended(0)
    return path


def record(command, *options, **more):
    """Runs it under the serial flavour."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    return harness.run(
        [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial'] + list(options) + command,
        directory=directory,
        **more,
    )


def symbols(path):
    """Sorted (address, name) of an ELF file's functions and variables."""
    text = subprocess.run(
        ['nm', '--defined-only', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True
    ).stdout
    return sorted(
        (int(f[0], 16), f[2])
        for f in (line.split() for line in text.splitlines())
        if len(f) == 3 and f[1] in 'tTbBdDrR'
    )


NUMBER = re.compile(r'-?(0x[0-9a-f]+|\d+)')
KINDS = ('mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp')  # enum fv_sync_kind


class Record(dict):
    """Of one thread, object, site and operation: numbers, and `names`, the functions of its path, innermost first."""

    def __getattr__(self, name):
        return self[name]


class Waits:
    """What one rank's file says of synchronisation. With --clock=monotonic, ticks are ns."""

    def __init__(self, directory, rank=0):
        modules, nodes, tables = {}, {}, {}
        self.objects, self.records, self.threads, self.lives, self.damages = {}, [], [], [], []
        self.regions, self.team = [], []
        lines = harness.dump(os.path.join(directory, 'rank-{:06d}.fvr'.format(rank)))
        for kind, f in lines:
            if kind == 'modules':
                modules[f['id']] = f['path']
            elif kind == 'paths':
                nodes[f['id']] = f
            elif kind == 'damage':
                self.damages.append(f)

        @functools.lru_cache(None)
        def name(module, offset, bias):
            if module not in tables:
                tables[module] = symbols(modules[module]) if module in modules else []
            found = [n for a, n in tables[module] if a <= offset - bias]
            return re.sub(r'(?<=.)\..*', '', found[-1]) if found else '?'

        @functools.lru_cache(None)
        def names(path):
            found = []
            while path in nodes:
                found.append(name(nodes[path]['module'], int(nodes[path]['offset'], 16), 1))
                path = nodes[path]['parent']
            return found

        for kind, f in lines:
            if kind not in ('sync_objects', 'sync', 'sync_thread', 'lives', 'omp', 'omp_threads'):
                continue
            r = Record({k: int(v, 0) if NUMBER.fullmatch(v) else v for k, v in f.items()})
            r.update((k, -1) for k, v in r.items() if v == 0xFFFFFFFF)  # FV_NO_THREAD
            if kind == 'sync_objects':
                r['name'] = name(f['module'], r.offset, 0) if 'static' in str(r.flags) else None
                r['names'] = names(f['path'])
                self.objects[r.id] = r
            elif kind == 'sync':
                r['names'] = names(f['path'])
                r.update(wait=r.wait_sum, holds=r.hold_count, hold=r.hold_sum)
                self.records.append(r)
            elif kind == 'sync_thread':
                r.update(
                    dict.fromkeys(KINDS, 0),
                    **{k: int(v) for k, _, v in (word.partition(':') for word in f['wait_ticks'].split(',')) if v},
                )
                self.threads.append(r)
            elif kind == 'omp':
                r['names'] = names(f['path'])
                self.regions.append(r)
            elif kind == 'omp_threads':
                self.team.append(r)
            elif kind == 'lives':
                r['routine'] = (
                    name(f['routine_module'], r.routine_offset, 0) if f['routine_module'] in modules else None
                )
                r['create_names'], r['join_names'] = names(f['create_path']), names(f['join_path'])
                self.lives.append(r)

    def of(self, name, kind=None, **wanted):
        """Records of the static object `name`, of those that are as wanted."""
        ids = [i for i, o in self.objects.items() if o.name == name and kind in (None, o.kind)]
        return [r for r in self.records if r.object in ids and all(r[k] == v for k, v in wanted.items())]


def total(records, key):
    return sum(r[key] for r in records)
