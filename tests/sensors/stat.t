#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi stat on trees of files that stand in for /proc and /sys of machines that this one is not (FVMPI_SENSORS_ROOT):
what is found, sums and sources, rates in true time, gauges that fall, counters that wrap or begin anew, files that go
away; wrong words; and on this machine itself."""
import csv
import fnmatch
import io
import json
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal
from trees import NODE, tree, write


def stat(root, *words, rc=0):
    return harness.run([harness.FVMPI, 'stat', *words], env={'FVMPI_SENSORS_ROOT': root}).ended(rc)


def rows(out):
    return [{k: float(v) if v else None for k, v in row.items()} for row in csv.DictReader(io.StringIO(out))]


def once(root, *words):
    (row,) = rows(stat(root, '--csv', '-i', '0.01', '-n', '1', *words).out)
    return {k: v for k, v in row.items() if not k.endswith('_s')}


def static(tap, root):
    with tap.test('gauges are told, counters that stand have a rate of 0'):
        equal(
            'values',
            once(
                root,
                'vmstat',
                'meminfo',
                'nodemem.MemFree',
                'temperature',
                'disk.in_flight',
                'resctrl',
                'roce.out_of_sequence',
            ),
            {
                'vmstat.nr_free_pages': 1000,
                'vmstat.pgfault': 0,
                'vmstat.pgmajfault': 0,
                'meminfo.MemTotal': 2 << 20,
                'meminfo.HugePages_Total': 3,
                'nodemem.MemFree': 512 << 10,
                'temperature.temp1_input': 45,
                'temperature.temp2_input': None,
                'temperature.temp3_input': None,
                'temperature.temp4_input': None,
                'disk.in_flight': 3,
                'resctrl.llc_occupancy': 66560,
                'resctrl.mbm_total_bytes': 0,
                'resctrl.mbm_local_bytes': None,
                'roce.out_of_sequence': 0,
            },
        )
    with tap.test('sources: by name, by star, each; in the order of their numbers'):
        equal('one', once(root, 'temperature.temp1_input@hwmon1'), {'temperature.temp1_input@hwmon1': 50})
        equal(
            'each',
            list(once(root, '--per-source', 'infiniband.port_xmit_wait', 'net.rx_bytes', 'numastat.numa_m*')),
            [
                'infiniband.port_xmit_wait@mlx5_0/1',
                'infiniband.port_xmit_wait@mlx5_2/1',
                'infiniband.port_xmit_wait@mlx5_10/1',
                'net.rx_bytes@eth0',
                'net.rx_bytes@lo',
                'numastat.numa_miss@node0',
                'numastat.numa_miss@node1',
            ],
        )
        equal(
            'starred',
            list(once(root, 'pressure.some@*', 'interrupts.LOC@CPU1')),
            ['pressure.some@cpu', 'pressure.some@io', 'interrupts.LOC@CPU1'],
        )
    with tap.test('the list'):
        out = stat(root, '--list').out
        for part in (
            '  cpu.user  s/s  Programs ran, in user mode.\n',
            '  @mlx5_0/1 @mlx5_2/1 @mlx5_10/1\n',
            '  temperature.temp1_input  C  gauge  Temperature of the sensor with this number.\n',
            '  interrupts.0  /s  IO-APIC 2-edge timer\n',
            '  interrupts.LOC  /s  Local timer interrupts\n',
            '  nodemem.MemFree  bytes  gauge  Free memory.\n',
            '  @hwmon0 @hwmon1\n',
            'cxi: not on this machine ({}/sys/class/cxi/*/device/telemetry)'.format(root),
        ):
            check(part in out, '{} in {}', part, out)


def described(tap):
    """Names as kernels have them, from old ones to 6.18."""
    files = dict(NODE)
    for name in ('vmstat', 'meminfo'):
        with open(os.path.join(harness.SOURCE, 'tests/sensors', name + '.names')) as f:
            files['proc/' + name] = ''.join('{}: 1\n'.format(line.strip()) for line in f)
    with tap.test('each event has a sentence'):
        out = stat(tree(files), '--list').out
        events = [line.split('  ') for line in out.splitlines() if line.startswith('  ') and '@' not in line]
        check(len(events) > 270, '{} events', len(events))
        bare = [e[1] for e in events if not e[-1].endswith('.') and not e[1].startswith('interrupts.')]
        equal('without one', bare, [])
        equal(
            'help', harness.run([harness.FVMPI, 'run', '--sensors', 'help']).ended(0).out.splitlines()[0][:5], 'cpu: '
        )
    with tap.test('the glossary has all that the table reads by name'):
        known = {}
        for line in stat('', '--glossary').out.splitlines():
            name, _, about = line.strip().partition(': ')
            if not line.startswith(' '):
                kind = name
            else:
                known[kind + '.' + name] = about
        with open(os.path.join(harness.SOURCE, 'src/sensors/table.c')) as f:
            text = f.read()
        rows = re.findall(r'\{\s*"(\w+)",\s*"[^{]*?FILES\(([^)]*)\)', text)
        check(len(rows) > 15, '{}', rows)
        names = [kind + '.' + name for kind, files in rows for name in re.findall(r'"([^"]+)"', files)]
        equal('without one', [n for n in names if not any(fnmatch.fnmatchcase(n, k) for k in known)], [])
        check(all(about.endswith('.') for k, about in known.items()), '{}', known)


def changed(tap, root):
    """Each file is written anew while a run samples: what it grew by is what the rates add up to."""
    path = 'sys/class/net/eth0/statistics/rx_bytes'
    with tap.test('rates in true time add up to what was counted; resets, wraps, gauges that fall, files that go'):
        process = harness.start(
            [
                harness.FVMPI,
                'stat',
                '--csv',
                '-i',
                '0.05',
                'net.rx_bytes@eth0',
                'energy',
                'vmstat.pgfault',
                'vmstat.nr_free_pages',
                'cpu.user',
                'numastat.numa_hit',
                'interrupts.LOC',
                'infiniband.port_xmit_data',
            ],
            env={'FVMPI_SENSORS_ROOT': root},
        )
        lines = []

        def read(until):
            """So many samples from now on: what is written before is in them."""
            for _ in range(until):
                lines.append(process.stdout.readline().decode())

        read(3)
        for n in range(2, 12):
            write(root, path, '{}\n'.format(1000 * n))
            read(1)
        write(root, 'sys/class/powercap/intel-rapl:0/energy_uj', '671150\n')  # 328,850 to the wrap, and 671,150
        write(root, 'proc/vmstat', 'nr_free_pages 400\npgfault 6500\npgmajfault 7\n')
        write(
            root,
            'proc/stat',
            'cpu  30 0 30 300 0 0 0 0 0 0\ncpu0 60 0 20 100 0 0 0 0 0 0\ncpu1 120 0 10 200 0 0 0 0 0 0\n',
        )
        write(root, 'sys/devices/system/node/node1/numastat', 'numa_hit 2345\nnuma_miss 20\n')
        write(
            root,
            'proc/interrupts',
            '           CPU0       CPU1\n  0:         10         20   IO-APIC   2-edge      timer\nLOC:        150        260   Local timer interrupts\n',
        )
        write(root, 'sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data', '40\n')  # it was reset
        read(4)
        write(root, 'proc/vmstat', '\n')
        read(3)
        os.kill(process.pid, signal.SIGINT)
        harness.finish(process).ended(0)
        samples = rows(''.join(lines))
        times = [0] + [s['time_s'] for s in samples]
        sums = {
            k: sum(s[k] * (times[i + 1] - times[i]) for i, s in enumerate(samples) if s[k] is not None)
            for k in samples[0]
            if not k.endswith('_s')
        }
        close('bytes', sums['net.rx_bytes@eth0'], 10000, 1)
        close('energy', sums['energy.energy_uj'], 1, 1e-3)
        close('faults', sums['vmstat.pgfault'], 1500, 1)
        close('CPU time', sums['cpu.user'], 1.5, 1e-3)
        close('pages', sums['numastat.numa_hit'], 345, 0.1)
        close('interrupts', sums['interrupts.LOC'], 110, 0.1)
        close('after a reset, in words of 4 bytes', sums['infiniband.port_xmit_data'], 160, 0.4)
        equal('a gauge', (samples[0]['vmstat.nr_free_pages'], samples[-4]['vmstat.nr_free_pages']), (1000, 400))
        equal(
            'what is gone is not 0', (samples[-1]['vmstat.nr_free_pages'], samples[-1]['vmstat.pgfault']), (None, None)
        )
        check(all(b > a for a, b in zip(times, times[1:])) and all(s['late_s'] >= 0 for s in samples), '{}', samples)


def shares(tap):
    files = dict(NODE)
    files.update(
        {
            'sys/class/net/eth0/speed': '10000\n',
            'sys/class/net/lo/speed': '-1\n',
            'sys/class/infiniband/mlx5_0/ports/1/rate': '100 Gb/sec (4X EDR)\n',
            'sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq': '1500000\n',
            'sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq': '3000000\n',
        }
    )
    root = tree(files)
    with tap.test('shares of the most that is possible, where that is known'):
        wanted = {
            'net.rx_bytes@eth0': 0,
            'net.rx_bytes@lo': None,
            'cpu.user': 0,
            'frequency.scaling_cur_freq': 50,
            'vmstat.pgfault': None,
            'infiniband.port_xmit_data@mlx5_0/1': 0,
        }
        equal('shares', once(root, '--share', *wanted), wanted)
        file = os.path.join(harness.scratch('recording'), 'f')
        harness.run(
            [harness.FVMPI, 'record', '-o', file, '-i', '0.01', *wanted, '--', 'true'], env={'FVMPI_SENSORS_ROOT': root}
        ).ended(0)
        with open(file) as f:
            header = json.loads(f.readline())
        equal(
            'maxima',
            {s['label']: s.get('maximum') for s in header['series']},
            {
                'net.rx_bytes@eth0': 1.25e9,
                'net.rx_bytes@lo': None,
                'cpu.user': 2,
                'frequency.scaling_cur_freq': 3e9,
                'vmstat.pgfault': None,
                'infiniband.port_xmit_data@mlx5_0/1': 1.25e10,
            },
        )


def clients(tap):
    """Of file systems, of a batch job's group, of sockets: by what they add up to."""
    files = dict(NODE)
    mount = 'device srv:/x mounted on {} with fstype {} statvers=1.1\n\topts:\trw,vers=4.2\n\tage:\t10\n\tbytes:\t{}\n\tRPC iostats version: 1.1\n'
    mounts = (
        lambda a, b: 'device /dev/sda mounted on / with fstype ext4\n'
        + mount.format('/home', 'nfs4', a)
        + mount.format('/tmp', 'tmpfs', '9 9 9 9 9 9 9 9')
        + mount.format('/data', 'nfs', b)
    )  # noqa: E731
    stats = lambda n, total: 'snapshot_time 123.4 secs.nsecs\nread_bytes  {} samples [bytes] 4096 1048576 {}\nopen {} samples [regs]\n'.format(
        n, total, n
    )  # noqa: E731
    files.update(
        {
            'proc/self/mountstats': mounts('100 200 0 0 90 200 1 1', '1 2 3 4 5 6 7 8'),
            'proc/net/rpc/nfs': 'net 0 0 0 0\nrpc 1000 3 1000\nproc4 60 1 2\n',
            'proc/fs/lustre/llite/scratch-1/stats': stats(10, 40960),
            'proc/self/cgroup': '12:cpu:/old\n0::/slurm/job_7\n',
            'sys/fs/cgroup/slurm/job_7/cpu.stat': 'usage_usec 5000000\nthrottled_usec 0\n',
            'sys/fs/cgroup/cpu.stat': 'usage_usec 99\n',
            'sys/class/hwmon/hwmon3/energy1_input': '77\n',
            'sys/class/hwmon/hwmon3/energy1_label': 'Ecore000\n',
            'sys/class/hwmon/hwmon3/energy129_input': '1000000\n',
            'sys/class/hwmon/hwmon3/energy129_label': 'Esocket0\n',
        }
    )
    root = tree(files)
    events = [
        'nfs.read_bytes',
        'nfs.server_write_bytes@/data',
        'nfsrpc',
        'lustre',
        'jobgroup',
        'socketenergy.energy@Esocket0',
    ]
    with tap.test('clients of file systems, the group of a job, energy of sockets'):
        process = harness.start(
            [harness.FVMPI, 'stat', '--csv', '-i', '0.02', *events], env={'FVMPI_SENSORS_ROOT': root}
        )
        lines = [process.stdout.readline().decode() for _ in range(3)]
        write(root, 'proc/self/mountstats', mounts('1100 200 0 0 90 200 1 1', '11 2 3 4 5 1006 7 8'))
        write(root, 'proc/net/rpc/nfs', 'net 0 0 0 0\nrpc 1500 13 1500\nproc4 60 1 2\n')
        write(root, 'proc/fs/lustre/llite/scratch-1/stats', stats(12, 2137112))
        write(root, 'sys/fs/cgroup/slurm/job_7/cpu.stat', 'usage_usec 7500000\nthrottled_usec 1250000\n')
        write(root, 'sys/class/hwmon/hwmon3/energy129_input', '4000000\n')
        lines += [process.stdout.readline().decode() for _ in range(12)]
        os.kill(process.pid, signal.SIGINT)
        harness.finish(process).ended(0)
        samples = rows(''.join(lines))
        times = [0] + [s['time_s'] for s in samples]
        sums = {
            k: sum(s[k] * (times[i + 1] - times[i]) for i, s in enumerate(samples) if s[k] is not None)
            for k in samples[0]
            if not k.endswith('_s')
        }
        added = {
            'nfs.read_bytes': 1010,
            'nfs.server_write_bytes@/data': 1000,
            'nfsrpc.calls': 500,
            'nfsrpc.retransmissions': 10,
            'nfsrpc.refreshes': 500,
            'lustre.read_bytes': 2096152,
            'lustre.open': 2,
            'jobgroup.usage_usec': 2.5,
            'jobgroup.throttled_usec': 1.25,
            'socketenergy.energy@Esocket0': 3,
        }
        equal('columns', set(sums), set(added))
        for name, value in added.items():
            close(name, sums[name], value, 1e-3 * value)
        out = stat(root, '--list').out
        for part in (
            '  @/home @/data\n',
            '  jobgroup.usage_usec  s/s  Processor time of all tasks of the group.\n',
            '  lustre.read_bytes  bytes/s  Bytes that programs read.\n',
            '  @Esocket0\n',
        ):
            check(part in out, '{} in {}', part, out)


def cray(tap):
    """As the node's controller writes it: a number, its unit, and when it was read."""
    at = 'sys/cray/pm_counters/'
    root = tree(
        {
            at + 'energy': '1000 J 1700000000 us\n',
            at + 'cpu_energy': '400 J 1700000000 us\n',
            at + 'accel0_energy': '300 J\n',
            at + 'power': '512 W 1700000000 us\n',
            at + 'power_cap': '0 W\n',
        }
    )
    with tap.test('counters of power of a Cray'):
        equal(
            'values',
            {k: v for k, v in once(root, 'craypower', 'crayenergy.cpu_energy').items() if v is not None},
            {'craypower.power': 512, 'craypower.power_cap': 0, 'crayenergy.cpu_energy': 0},
        )
        process = harness.start(
            [harness.FVMPI, 'stat', '--csv', '-i', '0.02', 'crayenergy'], env={'FVMPI_SENSORS_ROOT': root}
        )
        lines = [process.stdout.readline().decode() for _ in range(3)]
        write(root, at + 'energy', '1250 J 1700000900 us\n')
        write(root, at + 'accel0_energy', '360 J\n')
        lines += [process.stdout.readline().decode() for _ in range(8)]
        os.kill(process.pid, signal.SIGINT)
        harness.finish(process).ended(0)
        samples = rows(''.join(lines))
        times = [0] + [s['time_s'] for s in samples]
        sums = {
            k: sum(s[k] * (times[i + 1] - times[i]) for i, s in enumerate(samples) if s[k] is not None)
            for k in samples[0]
        }
        close('energy', sums['crayenergy.energy'], 250, 0.1)
        close('of an accelerator', sums['crayenergy.accel0_energy'], 60, 0.1)
        equal('what is not there', samples[-1]['crayenergy.accel1_energy'], None)


def gpus(tap):
    card = 'sys/class/drm/card{}/device/'
    root = tree(
        {
            card.format(0) + 'gpu_busy_percent': '40\n',
            card.format(0) + 'mem_info_vram_used': '1048576\n',
            card.format(1) + 'gpu_busy_percent': '70\n',
            card.format(1) + 'mem_info_vram_used': '2097152\n',
            card.format(1) + 'mem_info_gtt_used': '4096\n',
        }
    )
    with tap.test('GPUs of AMD'):
        equal(
            'values',
            {k: v for k, v in once(root, '--per-source', 'amdgpu', 'amdgpumemory').items() if v is not None},
            {
                'amdgpu.gpu_busy_percent@card0': 40,
                'amdgpu.gpu_busy_percent@card1': 70,
                'amdgpumemory.mem_info_vram_used@card0': 1 << 20,
                'amdgpumemory.mem_info_vram_used@card1': 2 << 20,
                'amdgpumemory.mem_info_gtt_used@card1': 4096,
            },
        )
        equal(
            'together',
            once(root, 'amdgpu.gpu_busy_percent', 'amdgpumemory.mem_info_vram_used'),
            {'amdgpu.gpu_busy_percent': 55, 'amdgpumemory.mem_info_vram_used': 3 << 20},
        )
        check('  amdgpu.gpu_busy_percent  %  gauge  How busy' in stat(root, '--list').out, 'no unit')


def devices(tap):
    """Software's device stands in for a memory controller's: its event is that of page faults, in units of half a
    MiB."""
    device = 'sys/bus/event_source/devices/{}/'
    imc = device.format('uncore_imc_3')
    files = {
        device.format('software') + 'type': '1\n',
        'sys/devices/system/cpu/online': '0\n',
        imc + 'type': '1\n',
        imc + 'cpumask': '0\n',
        imc + 'events/cas_count_read': 'low=0x2,high\n',
        imc + 'events/cas_count_read.scale': '0.5\n',
        imc + 'events/cas_count_read.unit': 'MiB\n',
        imc + 'format/low': 'config:0-1\n',
        imc + 'format/high': 'config2:3,5-6\n',
        imc + 'events/data_reads': 'low=2,unknown=3\n',
        imc + 'events/cas_count_write': 'low\n',
        device.format('uncore_imc_4') + 'type': '77\n',
        # Numbers of events that the kernel has no name for: 2 is that of page faults.
        device.format('uncore_upi_0') + 'type': '1\n',
        device.format('uncore_upi_0') + 'format/event': 'config:0-7\n',
        device.format('uncore_upi_0') + 'format/umask': 'config2:0-7\n',
        device.format('amd_df') + 'type': '1\n',
        device.format('amd_df') + 'format/event': 'config2:0-7,32-35,59-60\n',
        device.format('amd_df') + 'format/umask': 'config:0-7\n',
        device.format('cxl_pmu_mem0.0') + 'type': '1\n',
        device.format('cxl_pmu_mem0.0') + 'events/m2s_rwd_memwr': 'mask=0x2\n',
        device.format('cxl_pmu_mem0.0') + 'format/mask': 'config:0-31\n',
    }
    root, pages = tree(files), 20000
    with tap.test('numbers of AMD are not used where events have other bits'):
        new = tree({**files, device.format('amd_df') + 'format/event': 'config2:0-7,32-37\n'})
        check('xgmi: not on this machine' in stat(new, '--list').out, 'it is')
    with tap.test('devices of perf events'):
        cpu = min(os.sched_getaffinity(0))
        write(root, 'sys/devices/system/cpu/online', '{}\n'.format(cpu))
        write(root, imc + 'cpumask', '{}\n'.format(cpu))
        others = {'upi.data_sent': 64 / 9, 'xgmi.link3_data_sent': 32, 'cxl.m2s_rwd_memwr': 64}
        names = ['perf.page-faults@cpu{}'.format(cpu), 'memorytraffic.cas_count_read@uncore_imc_3/cpu{}'.format(cpu)]
        names += [
            'upi.data_sent@*/cpu{}'.format(cpu),
            'xgmi.link3_data_sent@cpu{}'.format(cpu),
            'cxl.m2s_rwd_memwr@*/cpu{}'.format(cpu),
        ]
        process = harness.start(
            [harness.FVMPI, 'stat', '--csv', '-i', '0.02', *names], env={'FVMPI_SENSORS_ROOT': root}
        )
        lines = [process.stdout.readline().decode() for _ in range(3)]
        if not lines[0]:
            said = harness.finish(process).err.strip()
            check('not permitted here' in said, '{}', said)
            raise harness.Skip(said + '; perf_event_open() for all programs is not allowed here?')
        touch = 'import mmap, os; os.sched_setaffinity(0, [{}]); m = mmap.mmap(-1, {} * 4096); [m.__setitem__(i, 1) for i in range(0, len(m), mmap.PAGESIZE)]'.format(
            cpu, pages
        )
        harness.run([sys.executable, '-c', touch]).ended(0)
        lines += [process.stdout.readline().decode() for _ in range(4)]
        os.kill(process.pid, signal.SIGINT)
        harness.finish(process).ended(0)
        samples = rows(''.join(lines))
        times = [0] + [s['time_s'] for s in samples]
        faults, traffic, *links = (
            sum(s[k] * (times[i + 1] - times[i]) for i, s in enumerate(samples) if s[k] is not None)
            for k in samples[0]
            if not k.endswith('_s')
        )
        for (name, each), sent in zip(others.items(), links):
            close(name, sent, each * faults, 0.05 * each * faults)
        check(faults > 0, 'no faults')
        close('half a MiB each', traffic / 524288, faults, 0.05 * faults)
        out = stat(root, '--list').out
        check('memorytraffic.cas_count_read  bytes/s  ' in out and '_4' not in out, '{}', out)


def wrong(tap, root):
    with tap.test('wrong words have one line each'):
        for words, rc, said in (
            (
                ['vmstat.pgfalt'],
                2,
                'stat: vmstat.pgfalt: vmstat has no such event, did you mean pgfault; fvmpi stat --list lists them',
            ),
            (['vmsta'], 2, 'no such sensor, did you mean vmstat;'),
            (['cxi'], 1, 'not on this machine: there is no {}/sys/class/cxi'.format(root)),
            (['-i', '0'], 2, '--interval takes seconds'),
            (['-n', 'x'], 2, '--count takes a number'),
            (['x' * 300], 2, 'longer than'),
            (['net.rx_bytes@eth9'], 2, 'net has no such source; it has eth0, lo'),
        ):
            err = stat(root, *words, rc=rc).err
            check(said in err, '{}: {}', words, err)
        check('no known sensors' in stat(harness.scratch('empty'), '-n', '1', rc=1).err, 'an empty tree')
    with tap.test('damaged files'):
        for text in (
            '',
            '\n',
            '\0\0\0',
            'a' * 100000,
            'cpu0\n',
            'cpu0 x y\n',
            'pgfault 99999999999999999999999\n',
            ' ' * 5000 + '\n' * 5000,
        ):
            damaged = tree({name: text for name in NODE})
            run = harness.run([harness.FVMPI, 'stat', '-i', '0.01', '-n', '2'], env={'FVMPI_SENSORS_ROOT': damaged})
            check(run.rc in (0, 1), '{}: {}', text[:20], run.err)
            harness.run([harness.FVMPI, 'stat', '--list'], env={'FVMPI_SENSORS_ROOT': damaged}).ended(0)


def here(tap):
    with tap.test('on this machine'):
        out = (
            harness.run([harness.FVMPI, 'stat', '-i', '0.05', '-n', '26', 'cpu.user', 'cpu.idle', 'vmstat.pgfault'])
            .ended(0)
            .out.splitlines()
        )
        equal('lines', len(out), 26 + 2)
        equal(
            'headings',
            [line.split() for line in out if 'cpu' in line],
            [['cpu.user', 'cpu.idle', 'vmstat.pgfault']] * 2,
        )
        check(all(float(v) >= 0 for line in out if 'cpu' not in line for v in line.split()), '{}', out)


def main():
    tap = harness.Tap()
    root = tree(NODE)
    static(tap, root)
    described(tap)
    changed(tap, root)
    shares(tap)
    clients(tap)
    cray(tap)
    gpus(tap)
    devices(tap)
    wrong(tap, tree(NODE))
    here(tap)
    tap.done()


main()
