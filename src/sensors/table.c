/* SPDX-License-Identifier: BSD-3-Clause */
/* See sensors.h: the sensors that are known, one row each. Who adds one adds a row. */
#include "sensors/forms.h"

#include <string.h>

#define FILES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* A row is to be seen as one. */
/* clang-format off */
const struct fv_sensor_kind fv_sensor_kinds[] = {
    { "cpu", "time of each processor by activity (/proc/stat); 1 is one processor all the time", &fv_form_lines,
      "proc/stat cpu",
      FILES("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"), "s", 0.01,
      false, false, NULL, 10 },
    { "vmstat", "events of the kernel's virtual memory (/proc/vmstat)", &fv_form_keys, "proc/vmstat", NULL, "", 1,
      false, false, "nr_", 1000 },
    { "meminfo", "memory of the machine (/proc/meminfo)", &fv_form_keys, "proc/meminfo", NULL, "bytes", 1024, true,
      false, NULL, 10 },
    { "numastat", "where pages were allocated, by NUMA node", &fv_form_keys, "sys/devices/system/node/node*/numastat",
      NULL, "pages", 1, false, false, NULL, 100 },
    { "nodemem", "memory of each NUMA node", &fv_form_keys, "sys/devices/system/node/node*/meminfo", NULL, "bytes",
      1024, true, false, NULL, 10 },
    { "pressure", "time in which some or all tasks waited for processors, memory or I/O (/proc/pressure)",
        &fv_form_pressure, "proc/pressure/*", NULL, "s", 1e-6, false, false, NULL, 100 },
    { "net", "network interfaces", &fv_form_files, "sys/class/net/*/statistics",
      FILES("rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors"),
        "", 1, false, false, NULL, 1000 },
    { "infiniband",
        "ports of InfiniBand and RoCE; port_xmit_wait: ticks with data to send but no credit",
        &fv_form_files,
      "sys/class/infiniband/*/ports/*/counters",
      FILES("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets", "port_xmit_wait",
        "port_xmit_discards", "symbol_error"), "", 1, false, false, NULL, 100 },
    { "roce", "ports of InfiniBand and RoCE: retransmissions and congestion notices", &fv_form_files,
        "sys/class/infiniband/*/ports/*/hw_counters",
      FILES("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "np_cnp_sent",
        "rp_cnp_handled"), "", 1, false, false, NULL, 100 },
    { "cxi", "Slingshot: traffic and pauses of each port", &fv_form_files, "sys/class/cxi/*/device/telemetry",
      FILES("hni_sts_tx_ok_octets", "hni_sts_rx_ok_octets", "hni_tx_paused_0", "hni_rx_paused_0", "hni_pause_sent",
        "hni_pause_recv"), "", 1, false, false, NULL, 10 },
    { "energy", "energy by RAPL, so that the rate is the power in W", &fv_form_files, "sys/class/powercap/*rapl:*",
        FILES("energy_uj"), "J", 1e-6, false, false, NULL, 100 },
    { "temperature", "sensors of hwmon", &fv_form_files, "sys/class/hwmon/hwmon*",
      FILES("temp1_input", "temp2_input", "temp3_input", "temp4_input"), "C", 1e-3, true, true, NULL, 10 },
    { "socketenergy", "energy of each socket by hwmon (amd_energy), so that the rate is the power in W",
      &fv_form_values, "sys/class/hwmon/hwmon*/energy*_input Esocket", FILES("energy"), "J", 1e-6, false, false, NULL,
      10 },
    { "power", "power by hwmon", &fv_form_files, "sys/class/hwmon/hwmon*",
      FILES("power1_input", "power1_average", "power2_input"), "W", 1e-6, true, false, NULL, 10 },
    { "crayenergy",
      "energy of a node, its processors, memory and accelerators (HPE Cray), so that the rate is the power in W",
      &fv_form_files, "sys/cray/pm_counters",
      FILES("energy", "cpu_energy", "memory_energy", "accel0_energy", "accel1_energy", "accel2_energy",
        "accel3_energy"), "J", 1, false, false, NULL, 10 },
    { "craypower", "present power of a node, its processors, memory and accelerators (HPE Cray)", &fv_form_files,
      "sys/cray/pm_counters",
      FILES("power", "cpu_power", "memory_power", "accel0_power", "accel1_power", "accel2_power", "accel3_power",
        "power_cap"), "W", 1, true, false, NULL, 10 },
    { "amdgpu", "GPUs of AMD: how busy they and their memory are (amdgpu)", &fv_form_files,
      "sys/class/drm/card*/device", FILES("gpu_busy_percent", "mem_busy_percent"), "%", 1, true, true, NULL, 10 },
    { "amdgpumemory", "memory of GPUs of AMD in use (amdgpu)", &fv_form_files, "sys/class/drm/card*/device",
      FILES("mem_info_vram_used", "mem_info_gtt_used"), "bytes", 1, true, false, NULL, 10 },
    { "nvidia",
      "GPUs of NVIDIA by NVML, which is loaded only if this sensor is named; the rate of energy is the power in W",
      &fv_form_nvidia, "libnvidia-ml.so.1",
      FILES("energy", "power", "gpu_busy", "memory_busy", "memory_used", "temperature", "sm_clock"), "", 1, false,
      false, NULL, 10 },
    { "rocm",
      "energy of GPUs of AMD by ROCm SMI, which is loaded only if this sensor is named; the rate is the power in W",
      &fv_form_rocm,
      "librocm_smi64.so.7 librocm_smi64.so.6 librocm_smi64.so.5 librocm_smi64.so.1 /opt/rocm/lib/librocm_smi64.so "
      "librocm_smi64.so", FILES("energy"), "", 1, false, false, NULL, 10 },
    { "frequency", "clock of each processor", &fv_form_files, "sys/devices/system/cpu/cpu*/cpufreq",
      FILES("scaling_cur_freq"), "Hz", 1000, true, true, NULL, 10 },
    { "idle", "time of each processor in each idle state; deep ones take long to leave", &fv_form_files,
      "sys/devices/system/cpu/cpu*/cpuidle/state*", FILES("time"), "s", 1e-6, false, false, NULL, 10 },
    { "resctrl", "each last-level cache: bytes in it, and bytes moved to and from memory, of all nodes and of its own",
        &fv_form_files, "sys/fs/resctrl/mon_data/*",
      FILES("llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"), "bytes", 1, false, false, "llc_", 10 },
    { "memorytraffic", "what memory controllers read and write (uncore perf events; perf_event_paranoid of 0, or root)",
      &fv_form_perf, "sys/bus/event_source/devices/uncore_imc*",
      FILES("cas_count_read", "cas_count_write", "data_reads", "data_writes"), "", 1, false, false, NULL, 100 },
    { "upi", "data between sockets by UPI links of Intel (uncore perf events, as above)", &fv_form_perf,
      "sys/bus/event_source/devices/uncore_upi*", FILES("data_sent", "data_received"), "bytes", 64.0 / 9, false, false,
      NULL, 100 },
    { "xgmi", "data that each link to another socket of AMD sends, up to Zen 3 (uncore perf events, as above)",
      &fv_form_perf, "sys/bus/event_source/devices/amd_df",
      FILES("link0_data_sent", "link1_data_sent", "link2_data_sent", "link3_data_sent"), "bytes", 32, false, false,
      NULL, 100 },
    { "cxl", "data to and from memory behind CXL (perf events of its devices, as above)", &fv_form_perf,
      "sys/bus/event_source/devices/cxl_pmu_*", FILES("m2s_req_memrd", "m2s_rwd_memwr", "s2m_drs_memdata"), "bytes", 64,
      false, false, NULL, 100 },
    { "perf",
      "context switches, migrations and page faults, by processor (software perf events; perf_event_paranoid of 0, or "
      "root)",
      &fv_form_perf, "sys/bus/event_source/devices/software",
      FILES("context-switches", "cpu-migrations", "page-faults", "major-faults", "alignment-faults"), "", 1, false,
      false, NULL, 1000 },
    { "throttle", "times that a processor was slowed because it was hot", &fv_form_files,
      "sys/devices/system/cpu/cpu*/thermal_throttle", FILES("core_throttle_count", "package_throttle_count"), "", 1,
      false, false, NULL, 10 },
    { "interrupts", "interrupts by kind and processor (/proc/interrupts)", &fv_form_grid, "proc/interrupts", NULL, "",
      1, false, false, NULL, 10 },
    { "softirqs", "soft interrupts by kind and processor", &fv_form_grid, "proc/softirqs", NULL, "", 1, false, false,
      NULL, 100 },
    { "cgroup", "processor time of this machine's control groups, and their throttling", &fv_form_keys,
      "sys/fs/cgroup/cpu.stat", NULL, "", 1, false, false, NULL, 100 },
    { "jobgroup",
      "the control group of this process, such as its batch job: processor time and throttling",
      &fv_form_keys, "sys/fs/cgroup@/cpu.stat", NULL, "", 1, false, false, NULL, 100 },
    { "jobmemory",
      "the control group of this process: how often it reached its memory limits, and kills for that",
      &fv_form_keys, "sys/fs/cgroup@/memory.events", NULL, "", 1, false, false, NULL, 100 },
    { "hugepages", "pages of each large size", &fv_form_files, "sys/kernel/mm/hugepages/*", FILES("nr_hugepages",
        "free_hugepages", "resv_hugepages", "surplus_hugepages"), "", 1,
      true, false, NULL, 10 },
    { "disk", "block devices: requests, bytes read and written, time (/proc/diskstats)", &fv_form_lines,
      "proc/diskstats *", FILES("reads", "reads_merged", "read_sectors", "read_ms", "writes", "writes_merged",
        "written_sectors", "write_ms", "in_flight", "busy_ms", "queued_ms"),
      "", 1, false, false, "in_flight", 100 },
    { "nfs",
      "each NFS mount: bytes that programs read and wrote, also without the cache (direct), and bytes of the server",
      &fv_form_mounts, "proc/self/mountstats",
      FILES("read_bytes", "write_bytes", "direct_read_bytes", "direct_write_bytes", "server_read_bytes",
        "server_write_bytes"),
      "bytes", 1, false, false, NULL, 10 },
    { "nfsrpc", "calls of this machine as an NFS client, and retransmissions", &fv_form_lines,
      "proc/net/rpc/nfs =rpc", FILES("calls", "retransmissions", "refreshes"), "", 1, false, false, NULL, 10 },
    { "lustre", "each Lustre file system: bytes, and counts of other operations", &fv_form_totals,
        "proc/fs/lustre/llite/*/stats", NULL, "", 1, false, false, NULL, 10 },
    { "lustredebug", "the same below /sys/kernel/debug, which only root may read", &fv_form_totals,
        "sys/kernel/debug/lustre/llite/*/stats", NULL, "", 1, false, false, NULL, 10 },
    { 0 },
};
/* clang-format on */

const struct fv_sensor_kind *fv_sensor_kind_of(const char *name, size_t length)
{
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++)
        if (strlen(k->name) == length && !memcmp(k->name, name, length))
            return k;
    return NULL;
}

/* "rx_bytes" and the like. Ports of InfiniBand count words of 4 bytes, disks sectors of 512. */
void fv_sensor_unit(const char *name, const char **unit, double *scale)
{
    static const struct {
        const char *end, *unit;
        double scale;
    } units[] = { { "_bytes", "bytes", 1 },        { "_octets", "bytes", 1 },    { "port_xmit_data", "bytes", 4 },
                  { "port_rcv_data", "bytes", 4 }, { "_sectors", "bytes", 512 }, { "_ms", "s", 1e-3 },
                  { "_usec", "s", 1e-6 } };
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        size_t end = strlen(units[i].end);

        if (length >= end && !strcmp(name + length - end, units[i].end)) {
            *unit = units[i].unit;
            *scale = units[i].scale;
            return;
        }
    }
}
