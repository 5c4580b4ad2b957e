#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of GPUs, whose libraries are stood in for by gpus.c: what is found and read, by fvmpi stat, fvmpi record and
fvmpi run; GPUs and numbers that are not there, or are lost meanwhile; libraries that are missing, old or cannot begin;
who loads them, and a program that uses the same one."""
import csv
import ctypes.util
import io
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal
from trees import tree

ANSWERS = {
    'count.0': '2',
    'gpu.0': '0',
    'gpu.1': '0',
    'energy.0': '5000000000',
    'energy.1': '7000',
    'power.0': '65500',
    'power.1': '250000',
    'limit.0': '400000',
    'limit.1': '400000',
    'utilization.0': '40 10',
    'utilization.1': '80 30',
    'memory.0': '80000 79000 1000',
    'memory.1': '80000 41000 39000',
    'temperature.0': '41',
    'temperature.1': '51',
    'clock.0': '1000',
    'clock.1': '1400',
    'most.0': '2000',
    'most.1': '2000',
}
GPU0, GPU1 = 'gpu0/0000:3b:00.0', 'gpu1/0000:3c:00.0'
ALL = {
    'energy': 0,
    'power': 315.5,
    'gpu_busy': 60,
    'memory_busy': 20,
    'memory_used': 40000,
    'temperature': 46,
    'sm_clock': 1.2e9,
}


def library(name='libnvidia-ml.so.1', *options):
    """A folder that has it alone."""
    folder = harness.scratch('library')
    harness.run(
        ['cc', '-shared', '-fPIC', *options, os.path.join(HERE, 'gpus.c'), '-o', os.path.join(folder, name)]
    ).ended(0)
    return folder


class Gpus:
    """Answers of a library in a folder."""

    def __init__(self, library, **answers):
        all = {**ANSWERS, **{k.replace('_', '.'): v for k, v in answers.items()}}
        self.folder = tree({k: v for k, v in all.items() if v is not None})
        self.env = {'GPU_ANSWERS': self.folder, 'LD_LIBRARY_PATH': library}

    def stat(self, *words, rc=0, **env):
        return harness.run([harness.FVMPI, 'stat', *words], env={**self.env, **env}).ended(rc)

    def once(self, *words):
        (row,) = csv.DictReader(io.StringIO(self.stat('--csv', '-i', '0.01', '-n', '1', *words).out))
        return {k.partition('.')[2]: float(v) if v else None for k, v in row.items() if not k.endswith('_s')}

    def path(self, name):
        return os.path.join(self.folder, name)

    def was_loaded(self):
        return os.path.exists(self.path('LOADED'))


def values(tap, nvml):
    gpus = Gpus(nvml)
    with tap.test('GPUs of NVIDIA: sums, means, each'):
        equal('together', gpus.once('nvidia'), ALL)
        equal(
            'each',
            gpus.once('--per-source', 'nvidia.power', 'nvidia.sm_clock@gpu1/*'),
            {'power@' + GPU0: 65.5, 'power@' + GPU1: 250, 'sm_clock@' + GPU1: 1.4e9},
        )
        equal('by its address', gpus.once('nvidia.temperature@*3c:00.0'), {'temperature@' + GPU1: 51})
        equal(
            'share of the most',
            gpus.once('--share', 'nvidia.power@' + GPU1, 'nvidia.gpu_busy', 'nvidia.memory_used', 'nvidia.sm_clock'),
            {'power@' + GPU1: 62.5, 'gpu_busy': 60, 'memory_used': 25, 'sm_clock': 60},
        )
        equal('no maximum', gpus.once('--share', 'nvidia.temperature'), {'temperature': None})
        lines = gpus.stat('--list').out.splitlines()
        (at,) = (i for i, line in enumerate(lines) if line.startswith('nvidia: '))
        check('2 sources' in lines[at], '{}', lines[at])
        equal('sources', lines[at + 1], '  @{} @{}'.format(GPU0, GPU1))
        equal('events', [line.split()[0] for line in lines[at + 2 : at + 9]], ['nvidia.' + name for name in ALL])
        check(all(line.endswith('.') for line in lines[at + 2 : at + 9]), '{}', lines[at : at + 9])
    with tap.test('numbers that a GPU does not have, and that none has'):
        some = Gpus(nvml, energy_1=None, utilization_0=None, utilization_1=None, temperature_1='4294967295')
        equal('of one', some.once('--per-source', 'nvidia.energy'), {'energy@' + GPU0: 0, 'energy@' + GPU1: None})
        equal('not available', some.once('nvidia.temperature'), {'temperature': 41})
        equal('events', list(some.once('nvidia')), [name for name in ALL if not name.endswith('_busy')])
        check('nvidia has no such event' in some.stat('nvidia.gpu_busy', rc=2).err, 'it has')
        some = Gpus(nvml, **{'CODE.gpu.0': '15'})
        equal('the other GPU', list(some.once('--per-source', 'nvidia.power')), ['power@' + GPU1])
    with tap.test('an NVML of before energy, and of older names'):
        equal(
            'values',
            Gpus(library('libnvidia-ml.so.1', '-DOLD')).once('--per-source', 'nvidia.[ept]*'),
            {'power@gpu0': 65.5, 'power@gpu1': 250, 'temperature@gpu0': 41, 'temperature@gpu1': 51},
        )
    return gpus


def recorded(tap, nvml):
    with tap.test('recorded: the energy in all, and a GPU that is lost'):
        gpus, file = Gpus(nvml), os.path.join(harness.scratch('recording'), 'f')
        change = 'sleep 0.3; echo 5000600000 >{0}/energy.0; sleep 0.2; echo 15 >{0}/CODE.power.1; sleep 0.5'.format(
            gpus.folder
        )
        harness.run(
            [harness.FVMPI, 'record', '-o', file, '-i', '0.1', '--budget', '100', '--per-source']
            + ['nvidia.energy', 'nvidia.power', '--', 'sh', '-c', change],
            env=gpus.env,
        ).ended(0)
        with open(file) as f:
            lines = [json.loads(line) for line in f]
        (series,) = (line['series'] for line in lines if 'series' in line)
        equal(
            'series',
            [(s['label'], s['unit'], s['kind'], s['maximum']) for s in series if s['event'] == 'energy'],
            [('nvidia.energy@' + GPU0, 'J', 'counter', 400), ('nvidia.energy@' + GPU1, 'J', 'counter', 400)],
        )
        samples = [line for line in lines if 'values' in line]
        column = [s['label'] for s in series].index('nvidia.power@' + GPU1)
        known = [s['values'][column] for s in samples if s['values'][0] is not None]
        equal('its power', (known[0], known[-1]), (250, None))
        column = [s['label'] for s in series].index('nvidia.power@' + GPU0)
        read = [s for s in samples if s['values'][column] is not None]
        total = sum(b['values'][0] * (b['time_s'] - a['time_s']) for a, b in zip(read, read[1:]))
        close('energy', total, 600, 1)


def wrong(tap, nvml):
    def said(gpus, text, *words, **env):
        run = gpus.stat(*(words or ('nvidia',)), rc=1, **env)
        equal('said', run.err, 'fvmpi: stat: {}: {}\n'.format(words[0] if words else 'nvidia', text))
        name = words[0] if words else 'nvidia'
        check('\n{}: {}\n'.format(name, text) in '\n' + gpus.stat('--list', **env).out, 'not in the list')

    with tap.test('libraries that are not there, are old, or cannot begin'):
        gpus = Gpus(nvml)
        if not ctypes.util.find_library('nvidia-ml'):
            said(
                Gpus(harness.scratch('none')),
                'not on this machine: libnvidia-ml.so.1: cannot open shared object file: No such file or directory',
            )
        said(
            Gpus(nvml, **{'CODE.init.0': '9'}),
            'cannot be read: libnvidia-ml.so.1: Words of NVML for 9; nvidia-smi has to work first',
        )
        said(Gpus(nvml, count_0='0'), 'not on this machine: libnvidia-ml.so.1 finds no GPU')
        said(
            Gpus(nvml, **{'CODE.gpu.0': '4', 'CODE.gpu.1': '15'}),
            'cannot be read: libnvidia-ml.so.1 says of each GPU: Words of NVML for 15',
        )
        other = library('librocm_smi64.so.7', '-DROCM')
        shutil.copy(os.path.join(other, 'librocm_smi64.so.7'), os.path.join(other, 'libnvidia-ml.so.1'))
        said(Gpus(other), 'cannot be read: libnvidia-ml.so.1 has no nvmlInit_v2; install a newer one')
        said(
            gpus,
            'not on this machine: a tree of files has no libraries',
            FVMPI_SENSORS_ROOT=tree({'proc/vmstat': 'pgfault 1\n'}),
        )
        equal('nobody loaded it', gpus.was_loaded(), False)


def rocm(tap):
    folder = library('librocm_smi64.so.7', '-DROCM')
    with tap.test('GPUs of AMD'):
        gpus = Gpus(folder)
        equal(
            'values', gpus.once('--per-source', 'rocm'), {'energy@gpu0/0001:40:02.1': 0, 'energy@gpu1/0001:41:02.1': 0}
        )
        process = harness.start([harness.FVMPI, 'stat', '--csv', '-i', '0.05', '-n', '6', 'rocm.energy'], env=gpus.env)
        lines = [process.stdout.readline().decode() for _ in range(3)]
        with open(gpus.path('energy.0'), 'r+') as f:
            f.write('5000200000')  # 200,000 pieces of 15.25 uJ
        lines.append(harness.finish(process).ended(0).out)
        rows = [[float(v) for v in row] for row in list(csv.reader(io.StringIO(''.join(lines))))[1:]]
        close('J', sum(r[2] * (r[0] - before[0]) for before, r in zip([[0]] + rows, rows)), 3.05, 1e-3)
        run = Gpus(folder, energy_0=None, energy_1=None).stat('rocm', rc=1)
        check('librocm_smi64.so.7 says of each GPU: RSMI_STATUS of 2\n' in run.err, '{}', run.err)


class Kind:
    """A program with MPI or without."""

    def __init__(self, mpi):
        self.mpi = mpi
        options = ['-g', '-pthread', '-ldl']
        source = os.path.join(HERE, 'known.c')
        if mpi:
            self.program = mpi.build(source, *options, output='gpus-known')
        else:
            self.program = os.path.join(harness.scratch(), 'known')
            harness.run(['cc', '-DALONE', '-I', harness.INCLUDE, source, '-o', self.program, *options]).ended(0)

    def __str__(self):
        return str(self.mpi or 'without MPI')

    def native(self, gpus, *words):
        if self.mpi:
            return self.mpi.native(self.program, 2, list(words), env=gpus.env)
        return harness.run([self.program, *words], env=gpus.env)

    def profile(self, gpus, words, *options, env=None):
        env = {**gpus.env, **(env or {})}
        if self.mpi:
            return self.mpi.profile(self.program, 2, list(words), ['-q', *options], env=env)
        directory = os.path.join(harness.scratch('exp'), 'e')
        return harness.run(
            [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', *options, self.program, *words],
            env=env,
            directory=directory,
        )


def of_a_job(tap, kind, nvml):
    with tap.test('{}: in a job, in all and by section'.format(kind)):
        gpus = Gpus(nvml)
        words = ['wait', 'begin', 'busy', 'wait', 'add', gpus.path('energy.0'), '90000', 'wait', 'end', 'busy', 'wait']
        sensors = 'nvidia,nvidia.power@gpu0/*'
        run = kind.profile(gpus, words, '--sensors', sensors, '--sensors-hz', '10').ended(0)
        equal('output', run.out, kind.native(gpus, *words).ended(0).out)
        data = run.report().data
        found = {row['event']: row for row in data['sensors']}
        equal('events', list(found), ['nvidia.' + name for name in ALL] + ['nvidia.power@' + GPU0])
        close('J', found['nvidia.energy']['total'], 90, 1e-6)
        equal('unit and kind', (found['nvidia.energy']['unit'], found['nvidia.energy']['kind']), ('J/s', 'counter'))
        for name, value in ALL.items():
            if name != 'energy':
                close(name, found['nvidia.' + name]['mean'], value, 1e-6 * value)
        close('one', found['nvidia.power@' + GPU0]['mean'], 65.5, 1e-6)
        check(found['nvidia.energy']['about'].startswith('Energy of the GPU'), '{}', found['nvidia.energy'])
        sections = {data['sensors'][r['sensor_id']]['event']: r for r in data['sensor_sections']}
        close('of the section', sections['nvidia.energy']['total'], 90, 1e-3)
    with tap.test('{}: the program uses the library, too'.format(kind)):
        gpus = Gpus(nvml)
        words = ['wait', 'gpu', 'wait', 'gpu', 'fork']
        run = kind.profile(gpus, words, '--sensors', 'nvidia.power,vmstat.pgfault', *harness.FRONTS).ended(0)
        equal('output', run.out, kind.native(gpus, *words).ended(0).out)
        equal('output', run.out, '131003\n')
        report = run.report()
        (row,) = (r for r in report.data['sensors'] if r['event'] == 'nvidia.power')
        close('power', row['mean'], 315.5, 1e-6)
        files = json.dumps(report.data['io_files'])
        if harness.FRONTS:
            check(
                gpus.path('power.0') in files and gpus.path('clock.0') not in files,
                'not of the program alone: {}',
                files,
            )
        equal('messages', [line for line in run.err.splitlines() if 'sensors' in line], [])


def ends(tap, kind, nvml):
    """While a call lasts. The library aborts if it is used behind its destructor."""
    for words in (['wait'], ['leave'], []):
        with tap.test('{}: a call lasts while the program ends: {}'.format(kind, ' '.join(words) or 'at once')):
            gpus = Gpus(nvml, SLEEP='70')
            run = kind.profile(gpus, words, '--sensors', 'nvidia.energy', '--sensors-hz', '1000').ended(0)
            equal('output', run.out, kind.native(gpus, *words).ended(0).out)


def by_name_only(tap, kind, nvml):
    with tap.test('{}: only who names the sensor loads the library'.format(kind)):
        gpus = Gpus(nvml)
        kind.profile(gpus, ['wait'], '--sensors', 'default,vmstat').ended(0)
        gpus.stat('-n', '1', '-i', '0.01')
        equal('by others', gpus.was_loaded(), False)
        kind.profile(gpus, ['wait'], '--sensors', 'nvidia.power').ended(0)
        equal('by name', gpus.was_loaded(), True)
    with tap.test('{}: what cannot be had is said once, and the others are read'.format(kind)):
        gpus = Gpus(nvml, **{'CODE.init.0': '9'})
        for env, why in (
            ({}, 'cannot be read: libnvidia-ml.so.1: Words of NVML for 9; nvidia-smi has to work first'),
            (
                {'FVMPI_SENSORS_ROOT': tree({'proc/vmstat': 'pgfault 1\n'})},
                'not on this machine: a tree of files has no libraries',
            ),
        ):
            run = kind.profile(gpus, ['wait'], '--sensors', 'nvidia,vmstat.pgfault', env=env).ended(0)
            equal(
                'said',
                [line for line in run.err.splitlines() if '--sensors' in line],
                ['fvmpi: --sensors: nvidia: ' + why],
            )
            equal('events', [row['event'] for row in run.report().data['sensors']], ['vmstat.pgfault'])
        run = kind.profile(gpus, ['wait'], '--sensors', '*').ended(0)
        equal('of all', [line for line in run.err.splitlines() if '--sensors' in line], [])


def main():
    tap = harness.Tap()
    nvml = library()
    values(tap, nvml)
    recorded(tap, nvml)
    wrong(tap, nvml)
    rocm(tap)
    for kind in [Kind(mpi) for mpi in harness.an_mpi(tap)] + [Kind(None)]:
        of_a_job(tap, kind, nvml)
    ends(tap, Kind(None), nvml)
    by_name_only(tap, Kind(None), nvml)
    tap.done()


main()
