/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks: a row each. */
#include "doctor/looks.h"

#define CPU           "sys/devices/system/cpu/"
#define MM            "sys/kernel/mm/"
#define SYS           "proc/sys/"
#define ON_EACH(file) CPU "cpu*/" file

/* A row is to be seen as one. */
/* clang-format off */
const struct fv_doctor_check fv_doctor_checks[] = {
    /* ---- processes ---- */
    { .name = "pinning", .about = "each thread that computes has one core",
      .effect = "threads move to other processors and lose their caches",
      .fix = "mpiexec --bind-to core (Open MPI), mpiexec -bind-to core (MPICH), srun --cpu-bind=cores; threads: "
             "OMP_PROC_BIND=close OMP_PLACES=cores", .look = fv_doctor_look_pinning, .of_processes = true },
    { .name = "overlap", .about = "processes have processors and cores of their own",
      .effect = "ranks take turns on a processor, or slow each other on a core",
      .fix = "give each rank its own core: --bind-to core, --cpu-bind=cores; check rank files and masks of several "
             "mpiexec on one node",
      .look = fv_doctor_look_overlap, .of_processes = true },
    { .name = "too_many", .about = "no more computing threads than processors they may use",
      .effect = "threads take turns on a processor, milliseconds each",
      .fix = "use fewer ranks or threads on this node (mpiexec -n, OMP_NUM_THREADS), or wider masks",
      .look = fv_doctor_look_too_many, .of_processes = true },
    { .name = "placement", .about = "a process's memory is on the NUMA node of its processors",
      .effect = "memory has up to twice the latency and less bandwidth",
      .fix = "bind before memory is touched, and touch it by the thread that uses it; for a running process: "
             "migratepages PID all NODE",
      .look = fv_doctor_look_placement, .of_processes = true },
    /* ---- what runs besides ---- */
    { .name = "tasks", .about = "nothing else runs", .effect = "other tasks preempt ranks, milliseconds at a time",
      .fix = "ps -eo pcpu,psr,pid,user,comm --sort=-pcpu | head # end or move other tasks",
      .look = fv_doctor_look_tasks },
    { .name = "services", .about = "no service uses 0.1 % of a processor or more, or is known to wake up",
      .effect = "services preempt ranks, often at the same moment on all nodes", .fix = "sudo systemctl stop NAME",
      .look = fv_doctor_look_services },
    { .name = "modules", .about = "no module of the kernel is known to disturb, and none is missing for sensors",
      .effect = "kernel threads, timers and interrupts of modules preempt ranks", .fix = "sudo modprobe -r NAME",
      .look = fv_doctor_look_modules },
    { .name = "cgroup", .about = "this control group has no quota of processor time, and was never throttled",
      .effect = "all threads stop for the rest of a period, up to 100 ms",
      .fix = "a larger limit for the job or container, or none: cpu.max (version 1: cpu.cfs_quota_us)",
      .look = fv_doctor_look_cgroup },
    { .name = "steal", .about = "no hypervisor takes time", .effect = "processors stand still while they seem to run",
      .fix = "none from inside: use your own host, or dedicated processors", .look = fv_doctor_look_steal },
    { .name = "swap", .about = "there is none", .effect = "a swapped-out page costs milliseconds",
      .fix = "sudo swapoff -a", .look = fv_doctor_look_swap },
    /* ---- clocks and cores ---- */
    { .name = "governor", .about = "performance on every processor",
      .effect = "clocks ramp up during the first milliseconds", .boot = "cpufreq.default_governor=performance",
      .look = fv_doctor_look_files, .files = { { ON_EACH("cpufreq/scaling_governor"), "performance" } } },
    { .name = "clock_range", .about = "minimum and maximum clock are the same",
      .effect = "clocks vary over time and between processors",
      .fix = "for c in /sys/devices/system/cpu/cpu*/cpufreq; do cat "
                                                              "$c/scaling_max_freq | sudo tee $c/scaling_min_freq; "
                                                              "done", .look = fv_doctor_look_clock_range },
    { .name = "turbo", .about = "off", .effect = "clocks depend on temperature and on how many cores are busy",
      .look = fv_doctor_look_files, .files = { { CPU "intel_pstate/no_turbo", "1" }, { CPU "cpufreq/boost", "0" } } },
    { .name = "thermal", .about = "never throttled since boot", .effect = "clocks fall below the nominal clock",
      .fix = "improve cooling, or lower the clock: turbo off, a smaller scaling_max_freq",
      .look = fv_doctor_look_thermal },
    { .name = "c_states", .about = "an idle processor wakes up within 10 us",
      .effect = "a thread that waits for a message or a lock wakes up late, up to 1 ms",
      .fix = "sudo cpupower idle-set -D 10 # or hold /dev/cpu_dma_latency open with 0 written to it",
      .boot = "processor.max_cstate=1 intel_idle.max_cstate=1", .look = fv_doctor_look_c_states },
    { .name = "smt", .about = "off, so that a core has one processor",
      .effect = "the other hardware thread takes 20 % to 50 % of the core",
      .fix = "echo off | sudo tee /sys/devices/system/cpu/smt/control # or leave one thread of each core idle",
      .boot = "nosmt", .look = fv_doctor_look_smt },
    { .name = "clock_source", .about = "tsc, or the processor's own counter",
      .effect = "reading the time is a system call, which costs microseconds",
      .fix = "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource",
      .boot = "tsc=reliable, where the TSC is", .look = fv_doctor_look_clock_source },
    /* ---- memory ---- */
    { .name = "numa_balancing", .about = "off",
      .effect = "the kernel adds page faults and moves pages", .boot = "numa_balancing=disable",
      .look = fv_doctor_look_files, .files = { { SYS "kernel/numa_balancing", "0" } } },
    { .name = "thp", .about = "madvise or never",
      .effect = "page faults take up to milliseconds, and khugepaged moves pages",
      .boot = "transparent_hugepage=madvise", .look = fv_doctor_look_files,
      .files = { { MM "transparent_hugepage/enabled", "madvise never" } } },
    { .name = "thp_defrag", .about = "madvise, defer or never", .effect = "page faults wait until memory is compacted",
      .look = fv_doctor_look_files, .files = { { MM "transparent_hugepage/defrag",
          "madvise defer defer+madvise never" } } },
    { .name = "compaction", .about = "not in advance", .effect = "a kernel thread moves pages",
      .look = fv_doctor_look_files, .files = { { SYS "vm/compaction_proactiveness", "0" } } },
    { .name = "ksm", .about = "does not run",
      .effect = "a kernel thread compares pages, and writes to merged pages fault", .look = fv_doctor_look_files,
      .files = { { MM "ksm/run", "0 2" } } },
    /* ---- the kernel on processors that measure ---- */
    { .name = "isolation", .about = "some processors are kept free of other tasks",
      .effect = "any task may preempt a rank",
      .fix = "sudo sh -c 'cd /sys/fs/cgroup && echo +cpuset > cgroup.subtree_control && mkdir measured && echo LIST > "
             "measured/cpuset.cpus && echo isolated > measured/cpuset.cpus.partition' # cgroups of version 2; then "
             "start the job there", .boot = "isolcpus=managed_irq,domain,LIST", .look = fv_doctor_look_isolation },
    { .name = "tick", .about = "none on processors that measure", .effect = "some microseconds at each tick",
      .fix = "only at boot, by a kernel parameter", .boot = "nohz_full=LIST (with CONFIG_NO_HZ_FULL=y)",
      .look = fv_doctor_look_tick },
    { .name = "rcu", .about = "callbacks do not run on processors that measure",
      .effect = "some microseconds after system calls of other processes",
      .fix = "only at boot, by a kernel parameter",
      .boot = "rcu_nocbs=LIST", .look = fv_doctor_look_rcu },
    { .name = "irqbalance", .about = "does not run", .effect = "moves interrupts to other processors every 10 s",
      .fix = "sudo systemctl stop irqbalance", .look = fv_doctor_look_irqbalance },
    { .name = "irq", .about = "interrupts stay away from processors that measure",
      .effect = "each takes some microseconds and evicts cache lines",
      .fix = "echo KEEPERS | sudo tee /proc/irq/*/smp_affinity_list # interrupts that the kernel manages for each "
             "processor (NVMe, network queues) cannot be moved",
      .boot = "irqaffinity=KEEPERS",
      .look = fv_doctor_look_irq },
    { .name = "workqueues", .about = "the kernel's work queues stay away from processors that measure",
      .effect = "kernel workers preempt for 10 us to 1 ms", .fix = "echo MASK | sudo tee "
                                                                   "/sys/devices/virtual/workqueue/{,*/}cpumask # "
                                                                   "queues of each processor cannot be moved",
      .boot = "workqueue.unbound_cpus=KEEPERS", .look = fv_doctor_look_workqueues },
    { .name = "ipi", .about = "fewer than 100 interrupts a second from other processors",
      .effect = "each stops a processor for microseconds",
      .fix = "let fewer threads of a process unmap or protect memory (TLB); switch off numa_balancing and thp; isolate "
             "processors",
      .look = fv_doctor_look_ipi },
    { .name = "watchdog", .about = "off",
      .effect = "a timer and a counter interrupt on each processor, every few seconds", .boot = "nowatchdog",
      .look = fv_doctor_look_files, .files = { { SYS "kernel/watchdog", "0" }, { SYS "kernel/nmi_watchdog", "0" } } },
    { .name = "realtime", .about = "not throttled",
      .effect = "a rank under SCHED_FIFO stops for the rest of each second",
      .fix = "echo -1 | sudo tee /proc/sys/kernel/sched_rt_runtime_us", .look = fv_doctor_look_realtime },
    /* ---- between runs ---- */
    { .name = "aslr", .about = "off", .effect = "addresses, and so conflicts in caches, differ from run to run",
      .fix = "fvmpi run --aslr off -- mpiexec ... # or leave it on, run often, and report an interval",
      .boot = "norandmaps", .look = fv_doctor_look_aslr },
    { .name = "warm_up", .about = "first instances are left out",
      .effect = "caches, page cache and branch predictors are cold at first; DRAM refreshes and shared caches cannot "
                "be switched off",
      .fix = "leave out first instances until times no longer fall; read files beforehand; the rest is unexplained",
      .look = fv_doctor_look_warm_up },
    { 0 },
};
/* clang-format on */

const struct fv_doctor_check *fv_doctor_check_of(const char *name)
{
    for (const struct fv_doctor_check *c = fv_doctor_checks; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}
