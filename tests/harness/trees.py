# SPDX-License-Identifier: BSD-3-Clause
"""Trees of files that stand in for /proc and /sys of a machine (FVMPI_SENSORS_ROOT)."""
import os

import harness

NODE = {
    'proc/vmstat': 'nr_free_pages 1000\npgfault 5000\npgmajfault 7\n',
    'proc/stat': 'cpu  30 0 30 300 0 0 0 0 0 0\ncpu0 10 0 20 100 0 0 0 0 0 0\ncpu1 20 0 10 200 0 0 0 0 0 0\nintr 12345\nctxt 1\n',
    'proc/meminfo': 'MemTotal:       2048 kB\nHugePages_Total:       3\n',
    'proc/interrupts': '           CPU0       CPU1\n  0:         10         20   IO-APIC   2-edge      timer\nLOC:        100        200   Local timer interrupts\nERR:          0\n',
    'proc/softirqs': '                    CPU0       CPU1\n          HI:          1          2\n       TIMER:        300        400\n',
    'proc/pressure/cpu': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
    'proc/pressure/io': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=250000\n',
    'proc/diskstats': ' 259       0 nvme0n1 100 0 800 50 200 0 1600 70 3 90 120 0 0 0 0 0 0\n',
    'sys/devices/system/node/node0/numastat': 'numa_hit 1000\nnuma_miss 10\n',
    'sys/devices/system/node/node1/numastat': 'numa_hit 2000\nnuma_miss 20\n',
    'sys/devices/system/node/node0/meminfo': 'Node 0 MemTotal:       1024 kB\nNode 0 MemFree:        512 kB\n',
    'sys/class/net/eth0/statistics/rx_bytes': '1000\n',
    'sys/class/net/eth0/statistics/tx_bytes': '2000\n',
    'sys/class/net/lo/statistics/rx_bytes': '10\n',
    'sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data': '400\n',
    'sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait': '77\n',
    'sys/class/infiniband/mlx5_10/ports/1/counters/port_xmit_wait': '5\n',
    'sys/class/infiniband/mlx5_2/ports/1/counters/port_xmit_wait': '6\n',
    'sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence': '3\n',
    'sys/devices/system/cpu/cpu0/cpuidle/state0/time': '5000000\n',
    'sys/devices/system/cpu/cpu0/cpuidle/state1/time': '7000000\n',
    'sys/fs/resctrl/mon_data/mon_L3_00/llc_occupancy': '65536\n',
    'sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes': '1000000\n',
    'sys/fs/resctrl/mon_data/mon_L3_01/llc_occupancy': '1024\n',
    'sys/class/powercap/intel-rapl:0/energy_uj': '262143000000\n',
    'sys/class/powercap/intel-rapl:0/max_energy_range_uj': '262143328850\n',
    'sys/class/hwmon/hwmon0/temp1_input': '40000\n',
    'sys/class/hwmon/hwmon1/temp1_input': '50000\n',
    'sys/class/hwmon/hwmon2/name': 'fans\n',
}


def tree(files):
    root = harness.scratch('root')
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), 'w') as f:
            f.write(text)
    return root


def write(root, name, text):
    """In place: it is open."""
    with open(os.path.join(root, name), 'r+') as f:
        f.write(text)
        f.truncate()
