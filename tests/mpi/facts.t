#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each run tells of its machine, its environment and where its threads may run: what this script reads of the
machine itself, and of a made tree what it holds; variables of one rank, secrets and long values; masks that differ,
overlap and move; what fvmpi diff makes of two runs; damage. On both MPIs and without."""
import contextlib
import glob
import os
import re
import struct
import sys
import tarfile

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
HERE = os.path.dirname(os.path.abspath(__file__))
import harness
from report import check, equal

CPUS = sorted(os.sched_getaffinity(0))
CPU = 'sys/devices/system/cpu'
TREE = {
    'proc/sys/kernel/osrelease': '6.1.0-made\n',
    'proc/sys/kernel/numa_balancing': '1\n',
    'proc/sys/kernel/randomize_va_space': '0\n',
    'sys/kernel/mm/transparent_hugepage/enabled': 'always madvise [never]\n',
    'sys/devices/system/clocksource/clocksource0/current_clocksource': 'hpet\n',
    'sys/devices/system/node/online': '0-1\n',
    'sys/devices/system/node/node0/cpulist': '0-3\n',
    'sys/devices/system/node/node0/distance': '10 21\n',
    'sys/devices/system/node/node1/cpulist': '4-7\n',
    'sys/devices/system/node/node1/distance': '21 10\n',
    CPU + '/online': '0-7\n',
    CPU + '/smt/active': '1\n',
    CPU + '/isolated': '6-7\n',
    CPU + '/nohz_full': '7\n',
    CPU + '/intel_pstate/no_turbo': '1\n',
}
for n in range(8):  # MADE
    TREE.update(
        {
            '{}/cpu{}/{}'.format(CPU, n, path): text
            for path, text in {
                'topology/core_siblings_list': '0-3\n' if n < 4 else '4-7\n',
                'topology/thread_siblings_list': '{},{}\n'.format(n // 2 * 2, n // 2 * 2 + 1),
                'cpufreq/scaling_governor': 'powersave\n',
                'cpufreq/scaling_driver': 'intel_pstate\n',
                'cpufreq/cpuinfo_min_freq': '800000\n',
                'cpufreq/cpuinfo_max_freq': '3700000\n',
                'cpufreq/scaling_cur_freq': '2400123\n',
                'cache/index0/level': '1\n',
                'cache/index0/type': 'Data\n',
                'cache/index0/size': '32K\n',
                'cache/index0/shared_cpu_list': '0-1\n',
                'cache/index1/level': '3\n',
                'cache/index1/type': 'Unified\n',
                'cache/index1/size': '30720K\n',
                'cache/index1/shared_cpu_list': '0-3\n',
            }.items()
        }
    )


MADE = set(range(8))


def tree(**changes):
    root = harness.scratch('root')
    for path, text in dict(TREE, **changes).items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), 'w') as f:
            f.write(text)
    return root


@contextlib.contextmanager
def on_processors_of(root):
    """The made machine tells of 8 processors: what runs elsewhere finds nothing of its own."""
    before = os.sched_getaffinity(0)
    if root:
        if not before & MADE:
            raise harness.Skip('none of processors 0 to 7 may be used here')
        os.sched_setaffinity(0, before & MADE)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def read(path):
    """The first line; None: it is not there."""
    try:
        with open('/' + path) as f:
            return f.readline().strip() or None
    except OSError:
        return None


def cpuinfo(key):
    with open('/proc/cpuinfo') as f:
        found = re.search(r'^{}\s*: (.*)$'.format(re.escape(key)), f.read(), re.M)
    return found.group(1).strip() if found else None


class Kind:
    """A program with MPI or without."""

    def __init__(self, mpi):
        self.mpi = mpi
        self.ranks = 2 if mpi else 1
        if mpi:
            self.program = mpi.build('facts.c', '-pthread')
        else:
            self.program = os.path.join(harness.scratch(), 'facts')
            harness.run(['cc', '-g', '-DALONE', '-pthread', os.path.join(HERE, 'facts.c'), '-o', self.program]).ended(0)

    def __str__(self):
        return str(self.mpi or 'without MPI')

    def threads(self, rank, value):
        """Arguments of profile() by which a rank has that OMP_NUM_THREADS. Without MPI recording begins before the
        program could set it."""
        return dict(words=['set', str(rank), 'OMP_NUM_THREADS', value]) if self.mpi else dict(OMP_NUM_THREADS=value)

    def profile(self, words=(), options=('-q',), ranks=None, **env):
        """Open MPI binds ranks to cores, which is not what is looked for."""
        env.setdefault('OMPI_MCA_hwloc_base_binding_policy', 'none')
        with on_processors_of(env.get('FVMPI_SENSORS_ROOT')):
            return self.start(words, options, ranks, env)

    def start(self, words, options, ranks, env):
        if self.mpi:
            return self.mpi.profile(self.program, ranks or self.ranks, list(words), options, env=env).ended(0)
        directory = os.path.join(harness.scratch('exp'), 'e')
        return harness.run(
            [harness.FVMPI, 'run', '-o', directory, '--mpi', 'serial', *options, self.program, *words],
            env=env,
            directory=directory,
        ).ended(0)


def text_of(run, *options):
    return harness.run([harness.FVMPI, 'report', run.directory, '--width', '160', *options]).ended(0).out


def bytes_of(run):
    return b''.join(open(path, 'rb').read() for path in glob.glob(os.path.join(run.directory, '*.fvr')))


def variables(run):
    return {(row['variable'], row['value']): row for row in run.report().data['environment']}


# ---- the machine ----


def here(tap, kind):
    with tap.test('{}: this machine'.format(kind)):
        run = kind.profile()
        (machine,) = run.report().data['machines']
        equal('host', machine['host'], os.uname().nodename)
        equal('ranks', [machine['rank_count'], machine['rank_runs']], [kind.ranks, [[0, 1, kind.ranks]]])
        wanted = {
            'processor': cpuinfo('model name'),
            'processors': read(CPU + '/online'),
            'processor_count': os.sysconf('SC_NPROCESSORS_ONLN'),
            'socket_count': len(
                {read(path[1:]) for path in glob.glob('/' + CPU + '/cpu[0-9]*/topology/physical_package_id')}
            )
            or None,
            'kernel': read('proc/sys/kernel/osrelease'),
            'clock_source': read('sys/devices/system/clocksource/clocksource0/current_clocksource'),
            'memory_bytes': os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE'),
            'governor': read(CPU + '/cpu0/cpufreq/scaling_governor'),
            'isolated': read(CPU + '/isolated'),
        }
        for path, key in (
            ('proc/sys/kernel/randomize_va_space', 'randomized'),
            (CPU + '/smt/active', 'smt'),
            ('proc/sys/kernel/numa_balancing', 'numa_balancing'),
        ):
            wanted[key] = None if read(path) is None else read(path) != '0'
        enabled = re.search(r'\[(\w+)\]', read('sys/kernel/mm/transparent_hugepage/enabled') or '')
        wanted['hugepages'] = enabled and enabled.group(1)
        nodes = sorted(
            glob.glob('/sys/devices/system/node/node[0-9]*'), key=lambda path: int(re.search(r'\d+$', path).group())
        )
        wanted['numa_processors'] = (
            '; '.join(
                '{}: {}'.format(re.search(r'\d+$', path).group(), read(path[1:] + '/cpulist') or '') for path in nodes
            )
            or None
        )
        for key, value in wanted.items():
            equal(key, machine[key], value)
        if cpuinfo('flags'):
            equal('a hypervisor', machine['hypervisor'] is not None, 'hypervisor' in cpuinfo('flags').split())
        text = text_of(run)
        check(
            re.search(
                r'^  machine +.*{}.*Linux {}'.format(re.escape(wanted['processor'] or ''), re.escape(wanted['kernel'])),
                text,
                re.M,
            ),
            'in text: {}',
            text,
        )
        print('# not here: ' + ', '.join(key for key, value in machine.items() if value is None))


def randomized(tap, kind):
    with tap.test('{}: --aslr off'.format(kind)):
        if kind.profile().report().data['machines'][0]['randomized'] is not True:
            raise harness.Skip('addresses are not randomized here')
        run = kind.profile(options=['-q', '--aslr', 'off'])
        if 'the kernel refuses' in run.err:
            raise harness.Skip(run.err.strip())
        equal('randomized', run.report().data['machines'][0]['randomized'], False)


def made(tap, kind):
    with tap.test('{}: a made machine'.format(kind)):
        run = kind.profile(FVMPI_SENSORS_ROOT=tree(), SLURM_TOPOLOGY_ADDR='switch1.node7')
        (machine,) = run.report().data['machines']
        wanted = {
            'socket_count': 2,
            'processor_count': 8,
            'processors': '0-7',
            'core_threads': 2,
            'smt': True,
            'numa_processors': '0: 0-3; 1: 4-7',
            'numa_distances': '0: 10 21; 1: 21 10',
            'caches': 'L1 Data 32K 0-1; L3 Unified 30720K 0-3',
            'mhz': 2400,
            'mhz_min': 800,
            'mhz_max': 3700,
            'governor': 'powersave',
            'frequency_driver': 'intel_pstate',
            'turbo': False,
            'hugepages': 'never',
            'randomized': False,
            'numa_balancing': True,
            'isolated': '6-7',
            'tickless': '7',
            'kernel': '6.1.0-made',
            'clock_source': 'hpet',
            'address': 'switch1.node7',
        }
        for key, value in wanted.items():
            equal(key, machine[key], value)
        told = bytes_of(run).count(b'6.1.0-made')
        equal('ranks that tell of the node', told, 1)
        check('8 processors, SMT on, governor powersave, Linux 6.1.0-made' in text_of(run), 'in text: {}', text_of(run))
    with tap.test('{}: before Linux 5.18 the frequency is not asked for'.format(kind)):
        root = tree(**{'proc/sys/kernel/osrelease': '5.14.0-427.el9\n'})
        equal('MHz', kind.profile(FVMPI_SENSORS_ROOT=root).report().data['machines'][0]['mhz'], None)


# ---- the environment ----


def environment(tap, kind):
    with tap.test('{}: variables, of one rank and of all'.format(kind)):
        last = kind.ranks - 1
        run = kind.profile(
            OMP_PLACES='cores', UCX_TLS='self,sm', UNRELATED='1', OMP_EMPTY='', **kind.threads(last, '3')
        )
        found = variables(run)
        equal('of the last rank', found['OMP_NUM_THREADS', '3']['rank_runs'], [[last, 1, 1]])
        equal(
            'of all',
            [
                found['OMP_PLACES', 'cores']['rank_runs'],
                found['UCX_TLS', 'self,sm']['rank_count'],
                ('OMP_EMPTY', '') in found,
            ],
            [[[0, 1, kind.ranks]], kind.ranks, True],
        )
        check(b'UNRELATED' not in bytes_of(run), 'a variable of nobody')
        launchers = [
            name
            for name, _ in found
            if name not in os.environ
            and not name.startswith(
                (
                    'OMP_',
                    'UCX_',
                    'OMPI_MCA_hwloc_base_binding_policy',
                    'OMPI_MCA_orte_tmpdir_base',
                    'OMPI_MCA_pml',
                    'OMPI_MCA_rmaps_base_oversubscribe',
                )
            )
        ]
        equal('what launchers tell their processes', launchers, [])
    with tap.test('{}: no secrets'.format(kind)):
        names = [
            'OMP_TOKEN',
            'UCX_API_KEY',
            'FI_PASSWORD',
            'OMPI_MCA_pml_auth_word',
            'MPICH_SECRET_X',
            'I_MPI_CREDENTIALS',
            'OMPI_MCA_a_key_b',
        ]
        run = kind.profile(**{name: 'hush-hush' for name in names})
        check(b'hush-hush' not in bytes_of(run), 'a secret is in a rank file')
    with tap.test('{}: long values are cut, and too many left out'.format(kind)):
        run = kind.profile(OMP_PLACES='{0},' * 300, **{'UCX_V{}'.format(i): 'x' for i in range(100)})
        report = run.report()
        rows = report.data['environment']
        check(len(rows) <= 64, '{} variables', len(rows))
        check(any('variables' in problem['text'] for problem in report.data['problems']), '{}', report.data['problems'])
        run = kind.profile(OMP_PLACES='{0},' * 300, OMP_DISPLAY_ENV='false')
        value, cut = next(
            (row['value'], row['cut']) for row in run.report().data['environment'] if row['variable'] == 'OMP_PLACES'
        )
        equal('cut', [value[-3:], len('OMP_PLACES=' + value), cut], ['...', 256, True])


# ---- processors ----


def masks(tap, kind):
    first, last = str(CPUS[0]), str(CPUS[-1])
    everywhere = os.sysconf('SC_NPROCESSORS_ONLN')
    with tap.test('{}: masks of ranks and threads'.format(kind)):
        if len(CPUS) < 2:
            raise harness.Skip('one processor')
        rank = kind.ranks - 1
        run = kind.profile(
            ['bind', str(rank), first, 'thread', str(rank), last, first, 'move', '0', last], ['-q', '--threads']
        )
        rows = {(row['rank'], row['thread']): row for row in run.report().data['affinity']}
        if kind.mpi:
            equal(
                'bound',
                [rows[rank, 0][key] for key in ('processors', 'processor_count', 'is_bound', 'cpu', 'other_ranks')],
                [first, 1, True, int(first), 1],
            )
        (moved,) = [row for (of, thread), row in rows.items() if of == rank and thread]
        equal(
            'a thread that moved',
            [moved[key] for key in ('processors', 'processors_last', 'cpu')],
            [last, first, int(last)],
        )
        equal('rank 0 moved', rows[0, 0]['processors_last'], last)
        if kind.mpi:
            equal(
                'not bound',
                [rows[0, 0]['processor_count'], rows[0, 0]['is_bound'], rows[0, 0]['other_ranks']],
                [len(CPUS), len(CPUS) < everywhere, 1],
            )
            equal('of the thread', moved['other_ranks'], 1)
            equal('did not move', rows[1, 0]['processors_last'], None)
    with tap.test('{}: a mask of taskset, and nodes of processors'.format(kind)):
        if kind.mpi:
            raise harness.Skip('of one process alone')
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            ['taskset', '-c', last, harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', kind.program],
            directory=directory,
        ).ended(0)
        (row,) = run.report().data['affinity']
        node = [re.search(r'\d+$', path).group() for path in glob.glob('/' + CPU + '/cpu{}/node[0-9]*'.format(last))]
        equal(
            'mask',
            [row['processors'], row['cpu'], row['numa_nodes'], row['numa_node']],
            [last, int(last), node[0] if node else None, int(node[0]) if node else 0],
        )


def patched(run, field, values):
    """A field of the header, 64-bit words, of each rank."""
    program = os.path.join(harness.scratch(), 'offset')
    with open(program + '.c', 'w') as f:
        f.write(
            '#include "trace/format.h"\n#include <stdio.h>\n#include <stddef.h>\nint main(void) {{ printf("%zu", offsetof(struct fv_file_header, {})); }}\n'.format(
                field
            )
        )
    harness.run(
        ['cc', '-I', harness.INCLUDE, '-I', os.path.join(harness.BUILD, 'src'), program + '.c', '-o', program]
    ).ended(0)
    offset = int(harness.run([program]).ended(0).out)
    for rank, value in values.items():
        with open(os.path.join(run.directory, 'rank-{:06d}.fvr'.format(rank)), 'r+b') as f:
            f.seek(offset)
            f.write(struct.pack('=Q', value))


def crowded(tap, kind):
    """What this machine has too few processors for: masks as a launcher might have made them."""
    with tap.test('{}: ranks bound to one processor'.format(kind)):
        run = kind.profile(ranks=4)
        patched(run, 'cpu_mask[0]', {0: 0b0001, 1: 0b1110, 2: 0b0001, 3: 0b0100})
        check('ranks 0, 2 are bound to processor 0 of ' in text_of(run), '{}', text_of(run))
        for name, masks in {
            'a core each': [1, 2, 4, 8],
            'all': [15] * 4,
            'halves': [3, 3, 12, 12],
            'overlapping': [3, 6, 12, 9],
        }.items():
            patched(run, 'cpu_mask[0]', dict(enumerate(masks)))
            check('are bound to' not in text_of(run), '{}: {}', name, text_of(run))


# ---- others ----


def compared(tap, kind):
    with tap.test('{}: fvmpi diff'.format(kind)):
        root = tree()
        a = kind.profile(FVMPI_SENSORS_ROOT=root, OMP_NUM_THREADS='4', OMP_PLACES='cores')
        b = kind.profile(
            **{
                'FVMPI_SENSORS_ROOT': tree(**{'proc/sys/kernel/osrelease': '6.2.0-made\n'}),
                'OMP_NUM_THREADS': '4',
                'UCX_TLS': 'tcp',
                **kind.threads(0, '8'),
            }
        )
        out = harness.run([harness.FVMPI, 'diff', a.directory, b.directory, '--json', '-']).ended(0).out
        rows = [
            tuple(row[key] for key in ('kind', 'name', 'a', 'b')) for row in harness.valid(out, 'diff')['differences']
        ]
        threads = '4 | 8' if kind.mpi else '8'
        equal(
            'differences',
            rows,
            [
                ('machine', 'kernel', '6.1.0-made', '6.2.0-made'),
                ('environment', 'OMP_NUM_THREADS', '4', threads),
                ('environment', 'OMP_PLACES', 'cores', None),
                ('environment', 'UCX_TLS', None, 'tcp'),
            ],
        )
        text = harness.run([harness.FVMPI, 'diff', a.directory, b.directory, '--width', '160']).ended(0).out
        check('machine differs: kernel 6.1.0-made -> 6.2.0-made\n' in text, '{}', text)
        check(
            'environment differs: OMP_NUM_THREADS 4 -> {}, OMP_PLACES cores -> not set, UCX_TLS not set -> tcp\n'.format(
                threads
            )
            in text,
            '{}',
            text,
        )
        if not kind.mpi:
            escape = kind.profile(FVMPI_SENSORS_ROOT=root, OMP_NUM_THREADS='\033[31m')
            check(
                '\033' not in harness.run([harness.FVMPI, 'diff', a.directory, escape.directory]).ended(0).out,
                'an escape sequence',
            )
        same = kind.profile(FVMPI_SENSORS_ROOT=root, OMP_NUM_THREADS='4', OMP_PLACES='cores')
        check(
            'differs' not in harness.run([harness.FVMPI, 'diff', a.directory, same.directory]).ended(0).out,
            'two runs alike',
        )


def old(tap):
    with tap.test('an experiment of a version that recorded none'):
        archive = os.path.join(harness.SOURCE, 'tests', 'replay', 'openmpi.tar.xz')
        folder = harness.scratch('old')
        with tarfile.open(archive) as t:
            t.extractall(folder)
        directory = os.path.dirname(next(iter(glob.glob(os.path.join(folder, '**', '*.fvr'), recursive=True))))
        data = harness.report_of(directory).data
        equal('tables', [data[key] for key in ('machines', 'environment', 'affinity')], [[], [], []])
        new = Kind(None).profile()
        check(
            'differs' not in harness.run([harness.FVMPI, 'diff', directory, new.directory]).ended(0).out,
            'what is not known is no difference',
        )


def damaged(tap, kind):
    with tap.test('{}: a damaged record costs its chunk'.format(kind)):
        run = kind.profile(OMP_PLACES='cores')
        path = os.path.join(run.directory, 'rank-000000.fvr')
        data = open(path, 'rb').read()
        at = data.index(b'OMP_PLACES=cores') - 16
        equal('value_bytes', struct.unpack_from('=I', data, at + 12)[0], len('OMP_PLACES=cores'))
        with open(path, 'r+b') as f:
            f.seek(at + 12)
            f.write(b'\xff\xff\xff\x7f')
        report = harness.report_of(run.directory)
        check(
            any('facts chunk' in problem['text'] for problem in report.data['problems']), '{}', report.data['problems']
        )
        equal('what is behind', report.data['machines'] and report.data['machines'][0]['kernel'], None)


def main():
    tap = harness.Tap()
    for kind in [Kind(mpi) for mpi in harness.an_mpi(tap)] + [Kind(None)]:
        here(tap, kind)
        randomized(tap, kind)
        made(tap, kind)
        environment(tap, kind)
        masks(tap, kind)
        if kind.mpi:
            crowded(tap, kind)
        compared(tap, kind)
    damaged(tap, Kind(None))
    old(tap)
    tap.done()


main()
