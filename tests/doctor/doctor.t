#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi doctor on trees of files that stand in for /proc, /sys and /boot (FVMPI_SENSORS_ROOT): each check once good,
bad and unknown; --apply and --restore; masks of made processes and of real ranks; damaged, huge and odd files; wrong
words; and this machine itself."""
import gzip
import os
import re
import shutil
import stat
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

CPU = 'sys/devices/system/cpu/'
SYS = 'proc/sys/'
MM = 'sys/kernel/mm/'
CONFIG = '#\n# Linux\n#\nCONFIG_X86=y\nCONFIG_HZ=1000\nCONFIG_NO_HZ_FULL=y\nCONFIG_RCU_NOCB_CPU=y\n# CONFIG_RCU_NOCB_CPU_DEFAULT_ALL is not set\n'
STAT = 'cpu  100 0 100 9800 0 0 0 {} 0 0\ncpu0 100 0 100 9800 0 0 0 0 0 0\nprocs_running {}\n'
INTERRUPTS = (
    '           CPU0       CPU1       CPU2       CPU3\n  0:         10         20  0 0 IO-APIC   2-edge      timer\nRES:  {0} {0} {0} {0}  Rescheduling interrupts\n'
    'CAL: 10 10 10 10  Function call interrupts\nTLB: 0 0 0 0  TLB shootdowns\n'
)

# A machine of four processors on which everything is good: 1 to 3 measure.
QUIET = {
    SYS + 'kernel/hostname': 'node7\n',
    SYS + 'kernel/osrelease': '6.1.0-test\n',
    SYS + 'kernel/random/boot_id': 'b007\n',
    CPU + 'online': '0-3\n',
    CPU + 'isolated': '1-3\n',
    CPU + 'nohz_full': '1-3\n',
    CPU + 'smt/active': '0\n',
    CPU + 'smt/control': 'off\n',
    CPU + 'intel_pstate/no_turbo': '1\n',
    'sys/devices/system/clocksource/clocksource0/current_clocksource': 'tsc\n',
    'sys/devices/system/clocksource/clocksource0/available_clocksource': 'tsc hpet acpi_pm \n',
    SYS + 'kernel/numa_balancing': '0\n',
    MM + 'transparent_hugepage/enabled': 'always [madvise] never\n',
    MM + 'transparent_hugepage/defrag': 'always defer defer+madvise [madvise] never\n',
    SYS + 'vm/compaction_proactiveness': '0\n',
    MM + 'ksm/run': '0\n',
    'proc/cmdline': 'quiet rcu_nocbs=1-3 panic=1\n',
    'boot/config-6.1.0-test': CONFIG,
    'proc/2/comm': 'kthreadd\n',
    'proc/1/status': 'Name:\tsystemd\n',
    'proc/1/cgroup': '0::/init.scope\n',
    'proc/modules': 'ext4 811008 1 - Live 0x0\n',
    'proc/self/personality': '00000000\n',
    'proc/self/cgroup': '0::/job/step\n',
    'proc/irq/0/smp_affinity_list': '0-3\n',
    'proc/irq/0/effective_affinity_list': '0\n',
    'proc/irq/9/smp_affinity_list': '0\n',
    'proc/interrupts': INTERRUPTS.format(100),
    'proc/uptime': '1000.00 3900.00\n',
    'sys/devices/virtual/workqueue/cpumask': '00000000,00000001\n',
    'sys/devices/virtual/workqueue/writeback/cpumask': '1\n',
    SYS + 'kernel/watchdog': '0\n',
    SYS + 'kernel/nmi_watchdog': '0\n',
    SYS + 'kernel/sched_rt_runtime_us': '-1\n',
    SYS + 'kernel/sched_rt_period_us': '1000000\n',
    SYS + 'kernel/randomize_va_space': '0\n',
    'proc/swaps': 'Filename Type Size Used Priority\n',
    'proc/stat': STAT.format(0, 1),
    'proc/pressure/cpu': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n',
    'proc/cpuinfo': 'processor : 0\nflags : fpu sse\n',
    'sys/fs/cgroup/job/step/cpu.max': 'max 100000\n',
    'sys/fs/cgroup/job/cpu.max': 'max 100000\n',
    'sys/fs/cgroup/job/cpu.stat': 'usage_usec 1\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n',
    'sys/devices/system/node/node0/cpulist': '0-1\n',
    'sys/devices/system/node/node1/cpulist': '2-3\n',
}
for cpu in range(4):
    at = '{}cpu{}/'.format(CPU, cpu)
    QUIET.update(
        {
            at + 'cpufreq/scaling_governor': 'performance\n',
            at + 'cpufreq/scaling_min_freq': '2400000\n',
            at + 'cpufreq/scaling_max_freq': '2400000\n',
            at + 'thermal_throttle/core_throttle_count': '0\n',
            at + 'thermal_throttle/package_throttle_count': '0\n',
            at + 'cpuidle/state0/latency': '0\n',
            at + 'cpuidle/state0/disable': '0\n',
            at + 'cpuidle/state1/latency': '2\n',
            at + 'cpuidle/state1/disable': '0\n',
            at + 'cpuidle/state2/latency': '133\n',
            at + 'cpuidle/state2/disable': '1\n',
            at + 'topology/thread_siblings_list': '{}\n'.format(cpu),
        }
    )

# User and system time, those of children, and the begin, in ticks.
PROCESS = '{0} (a b) x) S 1 1 1 0 -1 0 0 0 0 0 {1} {2} 0 0 20 0 1 0 {3} 0 0\n'

# By check: (what makes it bad, a part of what is found, a part of the fix), and the files without which it is unknown.
# None: the file is not there.
BAD = {
    'tasks': [
        ({'proc/stat': STAT.format(0, 3)}, '2 other tasks ran', 'ps -eo'),
        ({'proc/pressure/cpu': 'some avg10=12.50 avg60=0 avg300=0 total=9\n'}, '12.5 %', 'ps -eo'),
    ],
    'services': [
        (
            {'proc/9/cgroup': '0::/system.slice/cron.service\n', 'proc/9/stat': PROCESS.format(9, 0, 0, 100)},
            '1 of 1 service may disturb',
            'sudo systemctl stop cron',
        ),
        (
            {
                'proc/8/cgroup': '2:cpu:/x\n1:name=systemd:/system.slice/db.service/worker\n0::/\n',
                'proc/8/stat': PROCESS.format(8, 150, 40, 100),
                'proc/9/cgroup': '0::/system.slice/db.service\n',
                'proc/9/stat': PROCESS.format(9, 10, 0, 50000),
                'proc/10/cgroup': '0::/system.slice/quiet.service\n',
                'proc/10/stat': PROCESS.format(10, 1, 0, 100),
            },
            '1 of 2 services may disturb; all use 0.2 % of a processor',
            'sudo systemctl stop db',
        ),
    ],
    'modules': [
        (
            {'proc/modules': 'ext4 811008 1 - Live 0x0\nipmi_si 86016 0 - Live 0x0\nzfs 9 2 - Live 0x0\n'},
            '3 modules; may disturb: ipmi_si (a kernel thread polls the management controller), zfs (',
            'sudo modprobe -r ipmi_si zfs',
        )
    ],
    'cgroup': [
        (
            {'sys/fs/cgroup/job/cpu.stat': 'nr_periods 100\nnr_throttled 17\n'},
            'throttled 17 times (/sys/fs/cgroup/job)',
            'cpu.max',
        ),
        ({'sys/fs/cgroup/job/cpu.max': '150000 100000\n'}, 'a quota of 1.5 processors (/sys/fs/cgroup/job)', 'cpu.max'),
        (
            {
                'proc/self/cgroup': '4:memory:/m\n3:cpu,cpuacct:/a/b\n',
                'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us': '200000\n',
                'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us': '100000\n',
            },
            'a quota of 2 processors',
            'cpu.cfs_quota_us',
        ),
    ],
    'steal': [({'proc/stat': STAT.format(200, 1)}, 'took 2 %', 'none from inside')],
    'swap': [
        (
            {'proc/swaps': 'Filename Type Size Used Priority\n/dev/sda2 partition 8388604 2048 -2\n'},
            '1 device, 2 MiB used',
            'swapoff -a',
        )
    ],
    'governor': [
        (
            {CPU + 'cpu2/cpufreq/scaling_governor': 'powersave\n'},
            'scaling_governor performance (3 times), scaling_governor powersave',
            'echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor',
        ),
        (
            {'{}cpu{}/cpufreq/scaling_governor'.format(CPU, c): 'p{}\n'.format(c) for c in range(1, 8)},
            'scaling_governor p5, and other values (2 times)',
            'echo performance',
        ),
    ],
    'clock_range': [
        ({CPU + 'cpu1/cpufreq/scaling_min_freq': '800000\n'}, '800 to 2400 MHz on 1 processor', 'scaling_min_freq')
    ],
    'turbo': [
        (
            {CPU + 'intel_pstate/no_turbo': '0\n'},
            'no_turbo 0',
            'echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo',
        ),
        (
            {CPU + 'intel_pstate/no_turbo': None, CPU + 'cpufreq/boost': '1\n'},
            'boost 1',
            'echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost',
        ),
    ],
    'thermal': [({CPU + 'cpu3/thermal_throttle/package_throttle_count': '12\n'}, 'throttled 12 times', 'cooling')],
    'c_states': [({CPU + 'cpu0/cpuidle/state2/disable': '0\n'}, 'up to 133 us', 'cpupower idle-set -D 10')],
    'smt': [
        (
            {CPU + 'smt/active': '1\n', CPU + 'smt/control': 'on\n'},
            'several hardware threads',
            'echo off | sudo tee /sys/devices/system/cpu/smt/control',
        ),
        (
            {CPU + 'smt/active': None, CPU + 'cpu0/topology/thread_siblings_list': '0,2\n'},
            'thread_siblings_list',
            'smt/control',
        ),
    ],
    'clock_source': [
        ({'sys/devices/system/clocksource/clocksource0/current_clocksource': 'hpet\n'}, 'hpet', 'echo tsc')
    ],
    'numa_balancing': [
        (
            {SYS + 'kernel/numa_balancing': '1\n'},
            'numa_balancing 1',
            'echo 0 | sudo tee /proc/sys/kernel/numa_balancing',
        )
    ],
    'thp': [({MM + 'transparent_hugepage/enabled': '[always] madvise never\n'}, 'enabled always', 'echo madvise')],
    'thp_defrag': [
        (
            {MM + 'transparent_hugepage/defrag': '[always] defer defer+madvise madvise never\n'},
            'defrag always',
            'echo madvise',
        )
    ],
    'compaction': [({SYS + 'vm/compaction_proactiveness': '20\n'}, 'compaction_proactiveness 20', 'echo 0')],
    'ksm': [({MM + 'ksm/run': '1\n'}, 'run 1', 'echo 0')],
    'isolation': [({CPU + 'isolated': '\n'}, 'no processor', 'isolated > measured/cpuset.cpus.partition')],
    'tick': [
        ({CPU + 'nohz_full': '(null)\n'}, '1000 ticks/s (CONFIG_HZ), on every', 'kernel parameter'),
        (
            {CPU + 'nohz_full': None, 'boot/config-6.1.0-test': CONFIG.replace('CONFIG_NO_HZ_FULL=y', '')},
            'without CONFIG_NO_HZ_FULL',
            'none with this kernel',
        ),
    ],
    'rcu': [
        ({'proc/cmdline': 'quiet xrcu_nocbs=1\n'}, 'run on every processor', 'kernel parameter'),
        (
            {'boot/config-6.1.0-test': CONFIG.replace('CONFIG_RCU_NOCB_CPU=y', '')},
            'without CONFIG_RCU_NOCB_CPU',
            'none with this kernel',
        ),
    ],
    'irqbalance': [({'proc/777/comm': 'irqbalance\n'}, 'process 777', 'systemctl stop irqbalance')],
    'irq': [
        (
            {'proc/irq/9/smp_affinity_list': '2\n'},
            '1 of 2 interrupts go to processors other than 0',
            'echo 0 | sudo tee',
        )
    ],
    'workqueues': [({'sys/devices/virtual/workqueue/writeback/cpumask': 'f\n'}, '1 of 2 masks', 'echo 1 | sudo tee')],
    'ipi': [({'proc/interrupts': INTERRUPTS.format(1000000)}, '1e+03 rescheduling', 'fewer threads')],
    'watchdog': [
        ({SYS + 'kernel/nmi_watchdog': '1\n'}, 'nmi_watchdog 1', 'echo 0 | sudo tee /proc/sys/kernel/nmi_watchdog')
    ],
    'realtime': [({SYS + 'kernel/sched_rt_runtime_us': '0\n'}, '0 %', 'echo -1')],
    'aslr': [({SYS + 'kernel/randomize_va_space': '2\n'}, 'randomize_va_space 2', 'fvmpi run --aslr off')],
}
UNKNOWN = {
    'tasks': ['proc/stat', 'proc/pressure/cpu'],
    'services': ['proc/1/cgroup'],
    'modules': ['proc/modules'],
    'cgroup': ['proc/self/cgroup'],
    'steal': ['proc/cpuinfo'],
    'swap': ['proc/swaps'],
    'governor': [CPU + 'cpu{}/cpufreq/scaling_governor'],
    'clock_range': [CPU + 'cpu{}/cpufreq/scaling_min_freq'],
    'turbo': [CPU + 'intel_pstate/no_turbo'],
    'thermal': [
        CPU + 'cpu{}/thermal_throttle/core_throttle_count',
        CPU + 'cpu{}/thermal_throttle/package_throttle_count',
    ],
    'c_states': [
        CPU + 'cpu{}/cpuidle/state0/latency',
        CPU + 'cpu{}/cpuidle/state1/latency',
        CPU + 'cpu{}/cpuidle/state2/latency',
    ],
    'smt': [CPU + 'smt/active', CPU + 'cpu{}/topology/thread_siblings_list'],
    'clock_source': ['sys/devices/system/clocksource/clocksource0/current_clocksource'],
    'numa_balancing': [SYS + 'kernel/numa_balancing'],
    'thp': [MM + 'transparent_hugepage/enabled'],
    'thp_defrag': [MM + 'transparent_hugepage/defrag'],
    'compaction': [SYS + 'vm/compaction_proactiveness'],
    'ksm': [MM + 'ksm/run'],
    'isolation': [CPU + 'isolated'],
    'tick': [CPU + 'nohz_full', 'boot/config-6.1.0-test'],
    'rcu': ['proc/cmdline'],
    'irqbalance': ['proc/2/comm'],
    'irq': ['proc/irq/0/smp_affinity_list', 'proc/irq/9/smp_affinity_list'],
    'workqueues': [CPU + 'online'],
    'ipi': ['proc/interrupts'],
    'watchdog': [SYS + 'kernel/watchdog', SYS + 'kernel/nmi_watchdog'],
    'realtime': [SYS + 'kernel/sched_rt_period_us'],
    'aslr': [SYS + 'kernel/randomize_va_space'],
}
# Neither good nor bad, or good in another way.
INTEL = 'vendor_id : GenuineIntel\nflags : fpu sse\n'
OTHER = [
    (
        'services',
        'good',
        {
            'proc/9/cgroup': '0::/system.slice/quiet.service\n',
            'proc/9/stat': PROCESS.format(9, 1, 0, 100),
            'proc/11/cgroup': '0::/user.slice/user-0.slice/session-1.scope\n',
            'proc/11/stat': PROCESS.format(11, 90000, 0, 100),
        },
    ),
    (
        'services',
        'good',
        {
            'proc/self/cgroup': '0::/system.slice/batch.service/step\n',
            'proc/9/cgroup': '0::/system.slice/batch.service\n',
            'proc/9/stat': PROCESS.format(9, 90000, 0, 100),
        },
    ),
    ('modules', 'good', {'proc/modules': ''}),
    ('modules', 'unknown', {'proc/modules': 'ext4\n'}),
    ('modules', 'note', {'proc/cpuinfo': INTEL}),
    ('modules', 'good', {'proc/cpuinfo': INTEL.replace('sse', 'hypervisor')}),
    (
        'modules',
        'good',
        {
            'proc/cpuinfo': INTEL,
            'sys/class/powercap/intel-rapl:0/energy_uj': '1\n',
            'sys/class/hwmon/hwmon0/temp1_input': '1\n',
            'sys/bus/event_source/devices/uncore_imc_0/type': '9\n',
        },
    ),
    ('realtime', 'note', {SYS + 'kernel/sched_rt_runtime_us': '950000\n'}),
    ('steal', 'note', {'proc/cpuinfo': 'flags : fpu hypervisor sse\n', 'proc/1/x': 'a'}),
    ('clock_source', 'note', {'sys/devices/system/clocksource/clocksource0/current_clocksource': 'kvm-clock\n'}),
    ('cgroup', 'note', {'sys/fs/cgroup/job/cpu.max': '400000 100000\n'}),
    ('cgroup', 'unknown', {'proc/self/cgroup': '0::/../../elsewhere\n', 'sys/fs/cgroup/cpu.stat': 'usage_usec 1\n'}),
    ('cgroup', 'unknown', {'proc/self/cgroup': '0::/elsewhere\n', 'sys/fs/cgroup/cpu.stat': 'usage_usec 1\n'}),
    ('cgroup', 'unknown', {'proc/self/cgroup': '2:cpu:/a\n0::/job\n'}),
    ('cgroup', 'unknown', {'sys/fs/cgroup/job/cpu.max': 'much\n'}),
    ('cgroup', 'unknown', {'proc/self/cgroup': '0::' + '/a' * 400000 + '\n'}),
    ('cgroup', 'good', {'proc/self/cgroup': '0::/job\n' * 100000}),
    ('cgroup', 'good', {'proc/self/cgroup': '0::/docker/77\n', 'sys/fs/cgroup/cpu.max': 'max 100000\n'}),
    (
        'cgroup',
        'good',
        {
            'proc/self/cgroup': '2:cpu:/\n0::/job\n',
            'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
            'sys/fs/cgroup/job/cpu.max': '100000 100000\n',
        },
    ),
    ('isolation', 'good', {CPU + 'isolated': '\n', 'sys/fs/cgroup/job/cpuset.cpus.partition': 'isolated\n'}),
    (
        'isolation',
        'bad',
        {
            CPU + 'isolated': '\n',
            'sys/fs/cgroup/job/cpuset.cpus.partition': 'isolated invalid (Parent is not a partition root)\n',
        },
    ),
    (
        'c_states',
        'good',
        {
            **{'{}cpu{}/cpuidle/state{}/latency'.format(CPU, c, s): None for c in range(4) for s in range(3)},
            'proc/cmdline': 'idle=poll\n',
        },
    ),
    (
        'rcu',
        'good',
        {'proc/cmdline': 'quiet\n', 'boot/config-6.1.0-test': CONFIG + 'CONFIG_RCU_NOCB_CPU_DEFAULT_ALL=y\n'},
    ),
    ('rcu', 'good', {'proc/cmdline': 'nohz_full=1-3\n'}),
    ('aslr', 'good', {SYS + 'kernel/randomize_va_space': '2\n', 'proc/self/personality': '00040000\n'}),
    ('irqbalance', 'unknown', {'proc/2/comm': 'sh\n'}),
    ('irq', 'unknown', {'proc/irq/9/smp_affinity_list': 'x\n'}),
    ('workqueues', 'unknown', {'sys/devices/virtual/workqueue/writeback/cpumask': 'x\n'}),
    ('clock_range', 'unknown', {CPU + 'cpu1/cpufreq/scaling_max_freq': 'x\n'}),
    ('thermal', 'unknown', {CPU + 'cpu1/thermal_throttle/core_throttle_count': 'x\n'}),
    ('c_states', 'unknown', {CPU + 'cpu1/cpuidle/state2/disable': 'x\n'}),
    ('tasks', 'good', {'proc/pressure/cpu': None}),
    ('tasks', 'unknown', {'proc/stat': None, 'proc/pressure/cpu': 'some avg10=nan'}),
    (
        'tick',
        'bad',
        {CPU + 'nohz_full': '\n', 'boot/config-6.1.0-test': None, 'proc/config.gz': gzip.compress(CONFIG.encode())},
    ),
    ('governor', 'unknown', {CPU + 'cpu0/cpufreq/scaling_governor': 'x y\n'}),
    ('numa_balancing', 'unknown', {SYS + 'kernel/numa_balancing': 'many\n'}),
    ('numa_balancing', 'unknown', {SYS + 'kernel/numa_balancing': '\n'}),
    ('isolation', 'unknown', {CPU + 'isolated': '1-\n'}),
    ('isolation', 'unknown', {CPU + 'isolated': '0-99999\n'}),
    ('workqueues', 'good', {CPU + 'isolated': '\n', CPU + 'nohz_full': '\n'}),
]


def put(root, files):
    for path, text in files.items():
        whole = os.path.join(root, path)
        if text is None:
            if os.path.exists(whole):
                os.unlink(whole)
            continue
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, 'wb') as f:
            f.write(text if isinstance(text, bytes) else text.encode())


def tree(*files):
    root = harness.scratch('root')
    for some in files:
        put(root, some)
    return root


def environment(root):
    return {'FVMPI_SENSORS_ROOT': root, 'XDG_STATE_HOME': os.path.join(root, 'run')}  # of users that are not root


def doctor(root, *words, rc=0):
    """rc None: 0 or 1."""
    run = harness.run([harness.FVMPI, 'doctor', *words], env=environment(root))
    return run.ended(rc if rc is not None or run.rc not in (0, 1) else run.rc)


def found(root, *words):
    """By check, of JSON that is as the schema says."""
    run = harness.run([harness.FVMPI, 'doctor', '--json', '-', *words], env=environment(root))
    data = harness.valid(run.out, 'doctor')
    check(run.rc == (1 if data['machine']['bad_count'] else 0), 'status {}: {}', run.rc, data['machine'])
    return data, {c['check']: c for c in data['checks']}


def states(tap):
    with tap.test('a quiet machine: all is good, status 0'):
        root = tree(QUIET)
        data, checks = found(root)
        equal(
            'not good',
            {name: (c['state'], c['found']) for name, c in checks.items() if c['state'] != 'good'},
            {'warm_up': ('note', 'no file tells')},
        )
        equal(
            'machine',
            data['machine'],
            {
                'host': 'node7',
                'kernel': '6.1.0-test',
                'processors': '0-3',
                'root': root,
                'bad_count': 0,
                'unknown_count': 0,
                'note_count': 1,
                'good_count': len(checks) - 1,
            },
        )
        equal('checks with cases', sorted(BAD), sorted(set(checks) - {'warm_up'}))
        equal('checks that can be unknown', sorted(UNKNOWN), sorted(BAD))
        doctor(root, rc=0)
    for name, cases in BAD.items():
        with tap.test(name + ': bad, unknown'):
            for files, said, fix in cases:
                c = found(tree(QUIET, files), name)[1][name]
                check(c['state'] == 'bad' and said in c['found'] and fix in c['fix'], '{}', c)
            gone = {path.format(cpu): None for path in UNKNOWN[name] for cpu in range(4)}
            equal('without its files', found(tree(QUIET, gone), name)[1][name]['state'], 'unknown')
    with tap.test('what is neither, and what is read in another way'):
        for name, state, files in OTHER:
            c = found(tree(QUIET, files), name)[1][name]
            check(c['state'] == state, '{} should be {}: {}', name, state, c)
    with tap.test('an empty tree: nothing is good, status 0'):
        equal(
            'states',
            {c['state'] for name, c in found(harness.scratch('empty'))[1].items() if name != 'warm_up'},
            {'unknown'},
        )


def lists(tap):
    with tap.test('services and modules are listed'):
        root = tree(QUIET, BAD['services'][1][0], BAD['modules'][0][0], {'proc/cpuinfo': INTEL})
        data, checks = found(root)
        equal(
            'services',
            [[s[k] for k in ('service', 'processes', 'cpu_s', 'task')] for s in data['services']],
            [['db', 2, 2, None], ['quiet', 1, 0.01, None]],
        )
        equal('shares', [round(s['processor_share'], 6) for s in data['services']], [0.002002, 0.00001])
        equal('modules', [m['module'] for m in data['modules']], ['ext4', 'ipmi_si', 'zfs'])
        check(
            'not there for sensors: intel_rapl_msr (energy), coretemp (temperatures), intel_uncore'
            in checks['modules']['found'],
            '{}',
            checks['modules'],
        )
        check(
            checks['modules']['fix'].endswith('; sudo modprobe -a intel_rapl_msr coretemp intel_uncore'), '{}', checks
        )
        check(re.search(r'Services .*\n.*\n  db +2 +2', doctor(root, rc=1).out), 'no table')
        equal('none', [found(tree(QUIET), 'swap')[0][k] for k in ('services', 'modules')], [[], []])


def text(tap):
    with tap.test('the text: what is bad or unknown with effect and fix, the rest by name; all with --all'):
        root = tree(
            QUIET,
            BAD['thp'][0][0],
            {
                CPU + 'smt/active': None,
                **{'{}cpu{}/topology/thread_siblings_list'.format(CPU, c): None for c in range(4)},
            },
        )
        out = doctor(root, '--width', '120', rc=1).out
        check('node7, Linux 6.1.0-test, processors 0-3: 1 bad, 1 unknown, 1 note,' in out, '{}', out)
        check(
            re.search(
                r'^  bad +thp +enabled always\n    effect: page faults .*\n    -> echo madvise \| sudo tee /sys/kernel/mm/transparent_hugepage/enabled\n    -> at boot: transparent_hugepage=madvise\n'
                r'  unknown +smt +cannot read',
                out,
                re.M,
            ),
            '{}',
            out,
        )
        check(
            '\nnote: warm_up (--all)\ngood: tasks, services, modules, cgroup,' in out
            and 'governor' not in out.split('\ngood: ')[0],
            '{}',
            out,
        )
        check(
            re.search(
                r'^  good +governor +scaling_governor performance \(4 times\)$', doctor(root, '--all', rc=1).out, re.M
            ),
            'all',
        )
        out = doctor(root, 'ksm', 'thp', rc=1).out
        check('1 bad, 0 unknown, 0 notes, 1 good' in out and re.search('good +ksm', out), '{}', out)


# ---- apply and restore ----

FILES = ['proc', 'sys', 'boot']


def contents(root):
    got = {}
    for top in FILES:
        for at, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                with open(os.path.join(at, name), 'rb') as f:
                    got[os.path.relpath(os.path.join(at, name), root)] = f.read()
    return got


def value(data):
    chosen = re.search(rb'\[(.*?)\]', data)
    return chosen[1] if chosen else data.strip()


WRITTEN = [
    'governor',
    'clock_range',
    'turbo',
    'c_states',
    'smt',
    'clock_source',
    'numa_balancing',
    'thp',
    'thp_defrag',
    'compaction',
    'ksm',
    'irq',
    'workqueues',
    'watchdog',
]


def noisy():
    files = {}
    for name in WRITTEN + ['aslr', 'swap']:
        files.update(BAD[name][0][0])
    return tree(QUIET, files)


def saved_in(root):
    found = [os.path.join(at, name) for at, _, names in os.walk(os.path.join(root, 'run')) for name in names]
    equal('files that are saved', len(found), 1)
    return found[0]


def round_trip(tap):
    root = noisy()
    before = contents(root)
    with tap.test('--dry-run tells, and writes nothing'):
        out = doctor(root, '--apply', '--dry-run').out
        check('thp: would write /sys/kernel/mm/transparent_hugepage/enabled: always -> madvise\n' in out, '{}', out)
        check(
            'governor: would write /sys/devices/system/cpu/cpu2/cpufreq/scaling_governor: powersave -> performance\n'
            in out
            and 'cpu1/cpufreq/scaling_governor' not in out,
            '{}',
            out,
        )
        equal('files', contents(root), before)
        check(not os.path.exists(os.path.join(root, 'run')), 'saved')
    with tap.test('--apply writes what is bad, and saves what was there for its owner alone'):
        out = doctor(root, '--apply').out
        path = saved_in(root)
        check('saved the old values: {}\n'.format(path) in out, '{}', out)
        equal(
            'modes',
            (stat.S_IMODE(os.stat(path).st_mode), stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)),
            (0o600, 0o700),
        )
        equal('written', {line.split(':')[0] for line in out.splitlines() if 'written' in line}, set(WRITTEN))
        checks = found(root)[1]
        # smt/active is the kernel's to change, as are those that have no file
        equal('still bad', {name for name, c in checks.items() if c['state'] == 'bad'}, {'aslr', 'swap', 'smt'})
        equal('smt', value(contents(root)[CPU + 'smt/control']), b'off')
    with tap.test('a second --apply does not lose what the first one saved'):
        now = contents(root)
        put(root, BAD['ksm'][0][0])
        err = doctor(root, '--apply', rc=1).err
        check('has values saved by an earlier --apply; run fvmpi doctor --restore' in err, '{}', err)
        put(root, {MM + 'ksm/run': '0'})
        equal('files', contents(root), now)
    with tap.test('--restore puts all back, once'):
        out = doctor(root, '--restore', '--dry-run').out
        check(
            'would write /sys/kernel/mm/transparent_hugepage/enabled: madvise -> always\n' in out
            and value(contents(root)[MM + 'ksm/run']) == b'0',
            '{}',
            out,
        )
        lines = doctor(root, '--restore').out.splitlines()
        after = contents(root)
        equal('values', {k: value(v) for k, v in after.items()}, {k: value(v) for k, v in before.items()})
        place = [
            next(i for i, line in enumerate(lines) if part in line)
            for part in ('watchdog', 'smt/control', 'scaling_governor')
        ]
        equal('the latest first', place, sorted(place))
        check(not os.path.exists(path), 'still saved')
        check('nothing is saved' in doctor(root, '--restore', rc=1).err, 'again')
    with tap.test('checks that are named: these alone, and notes, too; what has no file is said'):
        put(root, {SYS + 'kernel/sched_rt_runtime_us': '950000\n'})
        out = doctor(root, '--apply', 'realtime', 'ksm').out
        equal(
            'now',
            [
                value(contents(root)[f])
                for f in (SYS + 'kernel/sched_rt_runtime_us', MM + 'ksm/run', SYS + 'kernel/numa_balancing')
            ],
            [b'-1', b'0', b'1'],
        )
        doctor(root, '--restore')
        equal(
            'before',
            [value(contents(root)[f]) for f in (SYS + 'kernel/sched_rt_runtime_us', MM + 'ksm/run')],
            [b'950000', b'1'],
        )
        run = doctor(root, '--apply', 'aslr', rc=1)
        check(
            'aslr: no file to write: fvmpi run --aslr off' in run.err and 'nothing to write' in run.out,
            '{} {}',
            run.out,
            run.err,
        )


def failures(tap):
    with tap.test('what cannot be written is said, the rest is written and put back'):
        root = noisy()
        target = os.path.join(root, MM + 'ksm/run')
        os.rename(target, target + '.other')
        os.symlink('run.other', target)  # a link is not written through
        run = doctor(root, '--apply', rc=1)
        check(
            'ksm: {}/sys/kernel/mm/ksm/run: 1 does not become 0: Too many levels'.format(root) in run.err
            and 'ksm: 0 of 1 files' in run.out
            and 'thp: 1 of 1' in run.out,
            '{} {}',
            run.out,
            run.err,
        )
        equal('behind the link', open(target).read(), '1\n')
        gone = os.path.join(root, SYS + 'kernel/numa_balancing')
        os.unlink(gone)
        run = doctor(root, '--restore', rc=1)
        check(
            run.err.count('\n') == 1 and 'numa_balancing: cannot be restored to 1: No such file' in run.err,
            '{}',
            run.err,
        )
        equal('thp', value(contents(root)[MM + 'transparent_hugepage/enabled']), b'always')
        put(root, {SYS + 'kernel/numa_balancing': '0\n'})
        doctor(root, '--restore')
        equal('put back at last', open(gone).read(), '1')
    with tap.test('nothing is written where nothing can be saved, or where others could change what is saved'):
        for what in ('a file', 'a link', 'writable by others', 'a link for a folder'):
            root = noisy()
            before = contents(root)
            put(root, {'run/x': ''})
            folder = os.path.join(root, 'run', 'fvmpi')
            name = 'doctor.saved' if not os.geteuid() else 'doctor-node7.saved'
            elsewhere = os.path.join(root, 'elsewhere')
            if what == 'a file':
                put(root, {'run/fvmpi': 'x'})
            elif what == 'a link for a folder':
                os.mkdir(elsewhere)
                os.symlink(elsewhere, folder)
            else:
                os.mkdir(folder, 0o700)
                if what == 'a link':
                    os.symlink(elsewhere, os.path.join(folder, name))
                else:
                    os.chmod(folder, 0o777)
            err = doctor(root, '--apply', rc=1).err
            check('nothing was changed' in err or 'has values saved' in err, '{}: {}', what, err)
            equal(what, contents(root), before)
            check(not os.path.exists(elsewhere) or not os.listdir(elsewhere), '{}: followed', what)
    with tap.test('a root that is read-only'):
        root = noisy()
        before = contents(root)
        script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77; shift; exec "$@"'
        run = (
            harness.run(
                ['unshare', '-m', 'sh', '-c', script, 'sh', root, harness.FVMPI, 'doctor', '--apply'],
                env=environment(root),
            )
            if shutil.which('unshare')
            else None
        )
        if not run or run.rc not in (0, 1) or 'unshare' in run.err:
            raise harness.Skip('no mounts of our own')
        run.ended(1)
        check('Read-only file system; nothing was changed' in run.err or 'No such file' in run.err, '{}', run.err)
        equal('files', contents(root), before)
    with tap.test('what is saved is put back only if it is of this boot, and leads nowhere else'):
        root = noisy()
        doctor(root, '--apply', 'ksm')
        path = saved_in(root)
        good = open(path).read()
        victim = os.path.join(root, 'etc/x')
        put(root, {'etc/x': 'mine'})
        for line in (
            'etc/x\tmine\tyours',
            'proc/../etc/x\tmine\tyours',
            '/etc/x\tmine\tyours',
            'no tabs',
            'proc/a\tb',
            'proc/a\tb\tc\td',
            '\t\t\t',
            '\xff' * 5000,
        ):
            with open(path, 'w') as f:
                f.write(good + line + '\n')
            check('a saved line is damaged' in doctor(root, '--restore', rc=1).err, '{}', line)
            equal(line, open(victim).read(), 'mine')
        for text, said in (
            (good.replace('b007', 'b008'), 'from before the last boot'),
            ('', 'cannot be read'),
            ('x' * 100000, 'not a file of --apply'),
            ('\0' * 100, 'cannot be read'),
        ):
            with open(path, 'w') as f:
                f.write(text)
            check(said in doctor(root, '--restore', rc=1).err, '{}', said)
        with open(path, 'w') as f:
            f.write(good)
        os.chmod(path, 0o644)
        check('must be a file of yours alone' in doctor(root, '--restore', rc=1).err, 'readable by all')


# ---- odd files ----


def odd(tap):
    with tap.test('damaged files: no crash, JSON stays JSON'):
        for text in (
            b'',
            b'\n',
            b'\0\0\0',
            b'a' * 100000,
            b'[',
            b']x[',
            b'99999999999999999999999\n',
            b'-1\n',
            b'1e400 inf nan\n',
            b'\xff\xfe\x80\n' * 100,
            b',\n',
            b'0-\n',
            b'cpu  \n' * 9,
            b' ' * 5000 + b'\n' * 5000,
            b'0,' * 50000,
            b'f' * 9000,
            b'RES: ' + b'9' * 5000,
            b'%s%n\n',
            b'\nCONFIG_HZ=' + b'9' * 5000 + b'\n',
            b'some avg10=nan',
            gzip.compress(b'\nCONFIG_X=y\n')[:-9],
        ):
            damaged = tree({name: text for name in QUIET}, {'proc/config.gz': text})
            found(damaged)
            doctor(damaged, '--all', rc=None)
            equal('nothing is written', doctor(damaged, '--apply', '--dry-run', rc=None).rc, 0)
    with tap.test('pipes and directories in place of files, a file without end'):
        root = tree({name: text for name, text in QUIET.items() if 'kernel/' not in name})
        for name in ('numa_balancing', 'hostname', 'random'):
            os.makedirs(os.path.join(root, SYS, 'kernel', name))
        os.mkfifo(os.path.join(root, SYS, 'kernel/watchdog'))
        os.mkfifo(os.path.join(root, SYS, 'kernel/randomize_va_space'))
        for name in ('proc/interrupts', 'proc/config.gz', 'proc/cmdline', CPU + 'isolated'):
            with open(os.path.join(root, name), 'w') as f:
                f.truncate(1 << 40)
        checks = found(root)[1]
        equal(
            'states',
            [checks[n]['state'] for n in ('numa_balancing', 'watchdog', 'aslr', 'ipi', 'rcu')],
            ['unknown'] * 5,
        )


# ---- processes ----


def thread(pid, tid, cpus, ticks):
    at = 'proc/{}/task/{}/'.format(pid, tid)
    return {
        at + 'status': 'Name:\tworker\nPPid:\t1\nCpus_allowed:\tf\nCpus_allowed_list:\t{}\n'.format(cpus),
        at + 'stat': '{} (a ) b) R 1 1 1 0 -1 0 1 2 3 4 {} 1 0 0\n'.format(tid, ticks),
    }


def process(pid, threads, rank=None, maps='7f00 default anon=10 N0=10 kernelpagesize_kB=4\n'):
    files = {
        'proc/{}/status'.format(pid): 'Name:\tapp\nPPid:\t1\n',
        'proc/{}/numa_maps'.format(pid): maps,
        'proc/{}/environ'.format(pid): 'HOME=/\0' + ('PMI_RANK={}\0'.format(rank) if rank is not None else ''),
    }
    for n, (cpus, ticks) in enumerate(threads):
        files.update(thread(pid, pid + n, cpus, ticks))
    return files


def masks(tap):
    cases = [
        (
            'pinned one by one',
            [('0', 9)],
            [('1', 9)],
            {'pinning': 'good', 'overlap': 'good', 'too_many': 'good', 'placement': 'good'},
        ),
        (
            'everywhere',
            [('0-3', 9)],
            [('1', 9)],
            {'pinning': 'bad', 'overlap': 'good', 'too_many': 'good', 'placement': 'good'},
        ),
        (
            'wide, the same',
            [('0-1', 9)],
            [('0-1', 9)],
            {'pinning': 'note', 'overlap': 'note', 'too_many': 'good', 'placement': 'good'},
        ),
        (
            'wide, partly the same',
            [('0-1', 9)],
            [('1-2', 9)],
            {'pinning': 'note', 'overlap': 'bad', 'too_many': 'good', 'placement': 'good'},
        ),
        (
            'one processor for two',
            [('0', 9)],
            [('0', 9)],
            {'pinning': 'good', 'overlap': 'bad', 'too_many': 'bad', 'placement': 'good'},
        ),
        (
            'more threads than processors',
            [('0-1', 9), ('0-1', 9), ('0-1', 9)],
            [('2', 9)],
            {'pinning': 'note', 'overlap': 'good', 'too_many': 'bad', 'placement': 'bad'},
        ),
        (
            'an idle helper is not judged',
            [('0', 9000), ('0-3', 1)],
            [('1', 9)],
            {'pinning': 'good', 'overlap': 'good', 'too_many': 'good', 'placement': 'good'},
        ),
    ]
    with tap.test('masks of processes'):
        for what, first, second, wanted in cases:
            data, checks = found(tree(QUIET, process(100, first, 0), process(200, second, 1)), '-p', '100,200')
            equal(what, {name: c['state'] for name, c in checks.items()}, wanted)
        equal(
            'who',
            (
                data['processes'][0]['rank'],
                data['processes'][0]['pid'],
                [t['computes'] for t in data['processes'][0]['threads']],
                data['processes'][1]['processors'],
            ),
            (0, 100, [True, False], '1'),
        )
    with tap.test('ranks on one core'):
        siblings = {
            '{}cpu{}/topology/thread_siblings_list'.format(CPU, cpu): '{},{}\n'.format(cpu % 2, cpu % 2 + 2)
            for cpu in range(4)
        }
        checks = found(
            tree(QUIET, siblings, process(100, [('0', 9)], 0), process(200, [('2', 9)], 1)), '-p', '100', '--pid', '200'
        )[1]
        check(
            checks['overlap']['state'] == 'bad'
            and checks['overlap']['found'] == 'rank 0, rank 1 share a core: processors 0 and 2',
            '{}',
            checks['overlap'],
        )
        equal(
            'both threads of a core',
            found(tree(QUIET, siblings, process(100, [('0,2', 9)])), '-p', '100')[1]['pinning']['state'],
            'good',
        )
    with tap.test('memory on another node'):
        far = '7f00 default anon=10 N0=10 N1=30 kernelpagesize_kB=4\n7f01 bind:1 huge N1=1 kernelpagesize_kB=2048\n'
        data, checks = found(tree(QUIET, process(100, [('0', 9)], 3, far)), '-p', '100')
        check(
            checks['placement']['state'] == 'bad' and 'rank 3' in checks['placement']['found'],
            '{}',
            checks['placement'],
        )
        check(
            abs(data['processes'][0]['remote_share'] - (120 + 2048) / (160 + 2048)) < 1e-9,
            '{}',
            data['processes'][0]['remote_share'],
        )
        equal(
            'near both',
            found(tree(QUIET, process(100, [('0-3', 9)], 3, far)), '-p', '100')[1]['placement']['state'],
            'good',
        )
        equal(
            'hidden',
            found(tree(QUIET, process(100, [('0', 9)]), {'proc/100/numa_maps': None}), '-p', '100')[1]['placement'][
                'state'
            ],
            'unknown',
        )
        equal(
            'no nodes',
            found(tree({k: v for k, v in QUIET.items() if '/node/' not in k}, process(100, [('0', 9)])), '-p', '100')[
                1
            ]['placement']['state'],
            'unknown',
        )
    with tap.test('processes that cannot be read'):
        root = tree(QUIET, process(100, [('0', 9)]), process(300, []))
        equal(
            'no masks',
            {c['state'] for name, c in found(root, '-p', '100,300', 'pinning', 'overlap', 'too_many')[1].items()},
            {'unknown'},
        )
        check('--pid 999: there is no such process' in doctor(root, '-p', '100,999', rc=1).err, 'gone')
        for text in (
            b'',
            b'\0' * 100,
            b'Name:\t\xff\nCpus_allowed_list:\t0-\n',
            b'Cpus_allowed_list:\t' + b'0,' * 9000,
            b'Name:' * 9999,
            b' N0=nan N1=-5 N99999=3 N=\n',
        ):
            names = ('status', 'environ', 'numa_maps', 'task/100/status', 'task/100/stat')
            damaged = tree(QUIET, process(100, [('0', 9)]), {'proc/100/' + n: text for n in names})
            run = harness.run([harness.FVMPI, 'doctor', '--json', '-', '-p', '100'], env=environment(damaged))
            check(run.rc in (0, 1), '{} {}', text[:20], run.err)
            for name in names[1:]:
                found(tree(QUIET, process(100, [('0', 9)]), {'proc/100/' + name: text}), '-p', '100')


def ranks(tap):
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: one process of the node speaks, of all ranks'.format(mpi)):
            run = harness.run(mpi.command(3, [harness.FVMPI, 'doctor', '--json', '-']))  # its status is the launcher's
            data = harness.valid(run.out[: run.out.rindex('}') + 1], 'doctor')
            equal('ranks', [p['rank'] for p in data['processes']], [0, 1, 2])
            equal('names', {p['name'] for p in data['processes']}, {'fvmpi'})
            name = os.path.join(harness.scratch('files'), 'of-{}.json')
            harness.run(mpi.command(2, [harness.FVMPI, 'doctor', '--json', name.format('%h')]))
            with open(name.format(os.uname().nodename)) as f:
                harness.valid(f.read(), 'doctor')
            equal(
                'checks of processes',
                {'pinning', 'overlap', 'too_many', 'placement'} - {c['check'] for c in data['checks']},
                set(),
            )


# ---- words, and this machine ----


def words(tap):
    with tap.test('wrong words have one line each, and status 2'):
        root = tree(QUIET)
        for arguments, said in (
            (['goveror'], 'goveror: no such check, did you mean governor; fvmpi doctor --all'),
            (['--apply', '--restore'], 'one or the other'),
            (['--dry-run'], 'it goes with'),
            (['--restore', 'ksm'], 'it writes back all'),
            (['--json', '-', '--apply'], 'goes with neither'),
            (['-p', 'x'], '--pid takes'),
            (['-p', '1,,2'], '--pid takes'),
            (['-p', '0'], '--pid takes'),
            (['--aply'], 'did you mean --apply'),
            (['pinning'], 'of which processes?'),
        ):
            run = doctor(root, *arguments, rc=2)
            check(said in run.err and run.err.count('\n') == 1, '{}: {}', arguments, run.err)
    with tap.test('a root that is far too long'):
        doctor('/' + 'a' * 5000, rc=0)


def here(tap):
    with tap.test('on this machine'):
        run = harness.run([harness.FVMPI, 'doctor', '--json', '-'])
        data = harness.valid(run.out, 'doctor')
        checks = {c['check']: c for c in data['checks']}
        equal('status', run.rc, 1 if data['machine']['bad_count'] else 0)
        for name, path in (
            ('numa_balancing', '/proc/sys/kernel/numa_balancing'),
            ('aslr', '/proc/sys/kernel/randomize_va_space'),
            ('ksm', '/sys/kernel/mm/ksm/run'),
        ):
            try:
                with open(path) as f:
                    now = f.read().strip()
            except OSError:
                now = None
            equal(name, checks[name]['state'], 'unknown' if now is None else 'good' if now == '0' else 'bad')


def main():
    tap = harness.Tap()
    states(tap)
    lists(tap)
    text(tap)
    round_trip(tap)
    failures(tap)
    odd(tap)
    masks(tap)
    ranks(tap)
    words(tap)
    here(tap)
    tap.done()


main()
