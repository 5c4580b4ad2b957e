/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run's times depend on and its program does not say: the machine, told by one process of each node, and
 * variables of the environment that steer MPI, OpenMP and where processes are put, by each process. Read once, when
 * recording begins: some forty small files, 0.2 ms (0.6 ms where the kernel has not looked at them for a while); the
 * environment takes 5 us.
 *
 * What would take longer is left out. Up to Linux 5.17 the kernel sleeps 10 ms before it tells a frequency, both in
 * /proc/cpuinfo and in cpufreq: there the processor's name is what the instruction CPUID says, and no frequency is
 * told. Rejected: hwloc (a library in the application, tens of ms). */
#include "monitor/facts.h"
#include "base/process.h"
#include "base/secret.h"
#include "monitor/speaker.h"
#include "rt/layers.h"
#include "rt/tail.h"
#include "rt/thread.h"
#include "sensors/sensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#define CPU  "sys/devices/system/cpu"
#define NODE "sys/devices/system/node"
enum { VALUE = 1024, OF_VARIABLE = 256, VARIABLES = 64, NODES = 64, CACHES = 16 };

static struct fv_tail facts;

/* ---- the file ---- */

/* Of a value that is longer the end is cut off, and "..." says so. */
static void put_bytes(enum fv_fact_key key, uint32_t index, const char *value, size_t length)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_FACTS, .first_pages = 1, .most_pages = 4, .varies = true
    };
    size_t most = key == FV_FACT_VARIABLE ? OF_VARIABLE : VALUE, kept = length < most ? length : most,
           bytes = (sizeof(struct fv_fact) + kept + 8) & ~(size_t)7;
    struct fv_fact *out = fv_tail_next(&facts, &kind, FV_NO_THREAD, bytes, true);

    if (!out)
        return;
    out->bytes = (uint32_t)bytes;
    out->key = (uint16_t)key;
    out->flags = kept < length ? FV_FACT_CUT : 0;
    out->index = index;
    out->value_bytes = (uint32_t)kept;
    memcpy(out->value, value, kept);
    if (kept < length)
        memcpy(out->value + kept - 3, "...", 3);
    fv_tail_commit(&facts, bytes);
}

void fv_fact_put(enum fv_fact_key key, uint32_t index, const char *value)
{
    put_bytes(key, index, value, strlen(value));
}

static void put_number(enum fv_fact_key key, uint32_t index, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    fv_fact_put(key, index, text);
}

/* ---- small files ---- */

/* Its first line. False: it is not there, or there is nothing in it. */
static bool FV_PRINTF(3, 4) look(char *out, size_t bytes, const char *format, ...)
{
    char path[512];
    int n = snprintf(path, sizeof(path), "%s/", fv_sensors_root());
    va_list args;

    va_start(args, format);
    vsnprintf(path + n, sizeof(path) - (size_t)n, format, args);
    va_end(args);
    if (fv_file_read(path, out, bytes) <= 0)
        return false;
    out[strcspn(out, "\n")] = '\0';
    return *out;
}

/* As it stands in the file. */
static void put_file(enum fv_fact_key key, const char *path)
{
    char text[VALUE];

    if (look(text, sizeof(text), "%s", path))
        fv_fact_put(key, 0, text);
}

bool fv_next_range(const char **at, unsigned long *first, unsigned long *last)
{
    char *end;

    *first = *last = strtoul(*at, &end, 10);
    if (end == *at)
        return false;
    if (*end == '-') {
        *at = end + 1;
        *last = strtoul(*at, &end, 10);
    }
    *at = end + (*end == ',');
    return true;
}

static unsigned long count_list(const char *list)
{
    unsigned long first, last, count = 0;

    while (fv_next_range(&list, &first, &last))
        count += last >= first ? last - first + 1 : 0;
    return count;
}

static bool is_in_list(const char *list, unsigned long cpu)
{
    unsigned long first, last;

    while (fv_next_range(&list, &first, &last))
        if (first <= cpu && cpu <= last)
            return true;
    return false;
}

/* ---- the machine ---- */

/* Does the kernel tell frequencies at once? */
static bool is_frequency_cheap(const char *release)
{
#if defined __x86_64__ || defined __i386__
    char *end;
    unsigned long major = strtoul(release, &end, 10), minor = *end ? strtoul(end + 1, NULL, 10) : 0;

    return major > 5 || (major == 5 && minor >= 18);
#else
    (void)release;
    return true;
#endif
}

/* The first processor's part of /proc/cpuinfo, which is all that a short look has; "": it is not cheap. */
static void look_cpuinfo(char *out, size_t bytes, const char *release)
{
    char path[512];

    out[0] = '\0';
    snprintf(path, sizeof(path), "%s/proc/cpuinfo", fv_sensors_root());
    if (is_frequency_cheap(release))
        fv_file_read(path, out, bytes);
}

/* What stands behind "KEY : " there. Its bytes; 0: there is none. */
static size_t of_cpuinfo(const char *cpuinfo, const char *key, const char **out)
{
    for (const char *line = cpuinfo; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strlen(key), colon = strcspn(line, ":\n");

        if (strncmp(line, key, length) || length + strspn(line + length, "\t ") != colon || line[colon] != ':')
            continue;
        *out = line + colon + 1 + strspn(line + colon + 1, " ");
        return strcspn(*out, "\n");
    }
    return 0;
}

#if defined __x86_64__ || defined __i386__
/* The processor's own word. */
static void put_brand(void)
{
    unsigned words[13] = { 0 }, most, unused;
    char *name = (char *)words;

    __cpuid(0x80000000u, most, unused, unused, unused);
    if (most < 0x80000004u)
        return;
    for (unsigned i = 0; i < 3; i++)
        __cpuid(0x80000002u + i, words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    name += strspn(name, " ");
    for (size_t n = strlen(name); n && name[n - 1] == ' ';)
        name[--n] = '\0';
    fv_fact_put(FV_FACT_PROCESSOR, 0, name);
}

static void put_hypervisor(void)
{
    unsigned a, b, c, d, name[4] = { 0 };

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
        return;
    __cpuid(0x40000000u, a, name[0], name[1], name[2]);
    fv_fact_put(FV_FACT_HYPERVISOR, 0, (const char *)name);
}
#else
static void put_brand(void) {}

static void put_hypervisor(void) {}
#endif

static void put_model(const char *cpuinfo)
{
    const char *name;
    size_t length = of_cpuinfo(cpuinfo, "model name", &name);

    length = length ? length : of_cpuinfo(cpuinfo, "cpu", &name);
    if (length)
        put_bytes(FV_FACT_PROCESSOR, 0, name, length);
    else
        put_brand();
}

/* A file a socket: who stands in none that was met is in the next one. */
static void put_sockets(const char *online)
{
    char met[4 * VALUE] = "", list[VALUE];
    unsigned long first, last, sockets = 0;
    size_t used = 0;

    while (fv_next_range(&online, &first, &last))
        for (unsigned long cpu = first; cpu <= last; cpu++) {
            if (is_in_list(met, cpu))
                continue;
            if (!look(list, sizeof(list), CPU "/cpu%lu/topology/core_siblings_list", cpu) || !is_in_list(list, cpu) ||
                used + strlen(list) + 2 > sizeof(met))
                return;
            used += (size_t)snprintf(met + used, sizeof(met) - used, "%s%s", used ? "," : "", list);
            sockets++;
        }
    if (sockets)
        put_number(FV_FACT_SOCKETS, 0, sockets);
}

static void put_nodes(void)
{
    char nodes[VALUE], text[VALUE];
    const char *at = nodes;
    unsigned long first, last, count = 0;

    if (!look(nodes, sizeof(nodes), NODE "/online"))
        return;
    while (fv_next_range(&at, &first, &last))
        for (unsigned long node = first; node <= last && count < NODES; node++, count++) {
            look(text, sizeof(text), NODE "/node%lu/cpulist", node); /* "": it has memory alone */
            fv_fact_put(FV_FACT_NODE_PROCESSORS, (uint32_t)node, text);
            if (look(text, sizeof(text), NODE "/node%lu/distance", node))
                fv_fact_put(FV_FACT_NODE_DISTANCES, (uint32_t)node, text);
        }
}

static void put_caches(unsigned long cpu)
{
    for (unsigned i = 0; i < CACHES; i++) {
        char level[16], type[32], size[32], shared[VALUE] = "", text[VALUE + 96];

        if (!look(level, sizeof(level), CPU "/cpu%lu/cache/index%u/level", cpu, i))
            return;
        if (!look(type, sizeof(type), CPU "/cpu%lu/cache/index%u/type", cpu, i) ||
            !look(size, sizeof(size), CPU "/cpu%lu/cache/index%u/size", cpu, i))
            continue;
        look(shared, sizeof(shared), CPU "/cpu%lu/cache/index%u/shared_cpu_list", cpu, i);
        snprintf(text, sizeof(text), "%s %s %s %s", level, type, size, shared);
        fv_fact_put(FV_FACT_CACHE, i, text);
    }
}

/* kHz of cpufreq. */
static void put_khz(enum fv_fact_key key, unsigned long cpu, const char *file)
{
    char text[32];

    if (look(text, sizeof(text), CPU "/cpu%lu/cpufreq/%s", cpu, file))
        put_number(key, (uint32_t)cpu, (strtoul(text, NULL, 10) + 500) / 1000);
}

/* Without cpufreq, as in most virtual machines: the first processor's. */
static void put_mhz(const char *cpuinfo)
{
    const char *mhz, *cpu;

    if (of_cpuinfo(cpuinfo, "cpu MHz", &mhz) && of_cpuinfo(cpuinfo, "processor", &cpu))
        put_number(FV_FACT_MHZ, (uint32_t)strtoul(cpu, NULL, 10), (uint64_t)(strtod(mhz, NULL) + 0.5));
}

static void put_frequency(unsigned long cpu, const char *release, const char *cpuinfo)
{
    char text[VALUE];

    if (look(text, sizeof(text), CPU "/cpu%lu/cpufreq/scaling_governor", cpu)) {
        fv_fact_put(FV_FACT_GOVERNOR, (uint32_t)cpu, text);
        if (look(text, sizeof(text), CPU "/cpu%lu/cpufreq/scaling_driver", cpu))
            fv_fact_put(FV_FACT_FREQUENCY_DRIVER, (uint32_t)cpu, text);
        put_khz(FV_FACT_MHZ_MIN, cpu, "cpuinfo_min_freq");
        put_khz(FV_FACT_MHZ_MAX, cpu, "cpuinfo_max_freq");
        if (is_frequency_cheap(release))
            put_khz(FV_FACT_MHZ, cpu, "scaling_cur_freq");
    } else {
        put_mhz(cpuinfo);
    }
    if (look(text, sizeof(text), CPU "/cpufreq/boost"))
        fv_fact_put(FV_FACT_TURBO, 0, text);
    else if (look(text, sizeof(text), CPU "/intel_pstate/no_turbo"))
        fv_fact_put(FV_FACT_TURBO, 0, *text == '0' ? "1" : "0");
}

/* Of "always [madvise] never" the one that is in effect. */
static void put_hugepages(void)
{
    char text[VALUE], *begin, *end;

    if (look(text, sizeof(text), "sys/kernel/mm/transparent_hugepage/enabled") && (begin = strchr(text, '[')) &&
        (end = strchr(begin, ']')))
        put_bytes(FV_FACT_HUGEPAGES, 0, begin + 1, (size_t)(end - begin - 1));
}

/* As `fvmpi run --aslr off` and setarch -R have it, or the kernel for all. */
static void put_randomized(void)
{
    int personality_now = personality(0xffffffff); /* tells */
    char text[16];

    if (personality_now >= 0 && personality_now & ADDR_NO_RANDOMIZE)
        fv_fact_put(FV_FACT_RANDOMIZED, 0, "0");
    else if (personality_now >= 0 && look(text, sizeof(text), "proc/sys/kernel/randomize_va_space"))
        fv_fact_put(FV_FACT_RANDOMIZED, 0, *text == '0' ? "0" : "1");
}

static void put_machine(unsigned cpu)
{
    char cpuinfo[4096], online[VALUE], text[VALUE], release[VALUE];
    const char *address = fv_env("SLURM_TOPOLOGY_ADDR");
    struct sysinfo info;

    if (look(release, sizeof(release), "proc/sys/kernel/osrelease"))
        fv_fact_put(FV_FACT_KERNEL, 0, release);
    look_cpuinfo(cpuinfo, sizeof(cpuinfo), release);
    put_model(cpuinfo);
    put_hypervisor();
    put_frequency(cpu, release, cpuinfo);
    if (look(online, sizeof(online), CPU "/online")) {
        fv_fact_put(FV_FACT_PROCESSORS, 0, online);
        put_sockets(online);
    }
    if (look(text, sizeof(text), CPU "/cpu%u/topology/thread_siblings_list", cpu))
        put_number(FV_FACT_CORE_THREADS, cpu, count_list(text));
    put_file(FV_FACT_SMT, CPU "/smt/active");
    put_nodes();
    put_caches(cpu);
    if (!sysinfo(&info))
        put_number(FV_FACT_MEMORY, 0, (uint64_t)info.totalram * info.mem_unit);
    put_hugepages();
    put_file(FV_FACT_CLOCK_SOURCE, "sys/devices/system/clocksource/clocksource0/current_clocksource");
    put_file(FV_FACT_ISOLATED, CPU "/isolated");
    put_file(FV_FACT_TICKLESS, CPU "/nohz_full");
    put_file(FV_FACT_NUMA_BALANCING, "proc/sys/kernel/numa_balancing");
    put_randomized();
    if (address)
        fv_fact_put(FV_FACT_ADDRESS, 0, address);
}

/* ---- the environment ---- */

/* A name that ends in '*' is the begin of many. */
static bool is_one_of(const char *const *names, const char *name, size_t length)
{
    for (; *names; names++) {
        size_t n = strlen(*names);

        if ((*names)[n - 1] == '*' ? length >= n - 1 && !memcmp(*names, name, n - 1)
                                   : length == n && !memcmp(*names, name, n))
            return true;
    }
    return false;
}

/* What people set, not what a launcher tells its processes. A rank's own numbers (SLURM_PROCID) are in its file
 * already, fvmpi's options, too. */
static bool is_wanted(const char *name, size_t length)
{
    static const char *const wanted[] = { "OMP_*",
                                          "KMP_*",
                                          "GOMP_*",
                                          "OMPI_MCA_*",
                                          "PMIX_MCA_*",
                                          "PRTE_MCA_*",
                                          "MPICH_*",
                                          "MPIR_CVAR_*",
                                          "MV2_*",
                                          "I_MPI_*",
                                          "UCX_*",
                                          "FI_*",
                                          "PSM2_*",
                                          "HCOLL_*",
                                          "MKL_*",
                                          "OPENBLAS_*",
                                          "MALLOC_*",
                                          "GLIBC_TUNABLES",
                                          "CUDA_VISIBLE_DEVICES",
                                          "ROCR_VISIBLE_DEVICES",
                                          "SLURM_CPU_BIND*",
                                          "SLURM_MEM_BIND*",
                                          "SLURM_DISTRIBUTION",
                                          "SLURM_CPUS_PER_TASK",
                                          "SLURM_NTASKS_PER_NODE",
                                          "SLURM_TASKS_PER_NODE",
                                          "SLURM_THREADS_PER_CORE",
                                          "SLURM_HINT",
                                          "SLURM_JOB_PARTITION",
                                          NULL };
    static const char *const launchers[] = { "OMPI_MCA_orte_*",
                                             "OMPI_MCA_ess*",
                                             "OMPI_MCA_pmix*",
                                             "OMPI_MCA_initial_wdir",
                                             "OMPI_MCA_mca_base_env_list",
                                             "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                             "OMPI_MCA_mpi_oversubscribe",
                                             "PMIX_MCA_mca_base_component_show_load_errors",
                                             "PMIX_MCA_psec",
                                             "PRTE_MCA_prte_*",
                                             "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
                                             "I_MPI_HYDRA_*",
                                             "SLURM_CPU_BIND_LIST",
                                             NULL };

    return is_one_of(wanted, name, length) && !is_one_of(launchers, name, length) && !fv_secret_name(name, length);
}

static void put_variables(void)
{
    char open[VALUE];
    uint64_t count = 0;
    int awaited = 0;

    for (char **entry = environ; entry && *entry; entry++)
        if (is_wanted(*entry, strcspn(*entry, "=")) && ++count <= VARIABLES)
            fv_fact_put(FV_FACT_VARIABLE, 0, fv_secret_word(*entry, &awaited, open, sizeof(open)));
    if (count > VARIABLES)
        put_number(FV_FACT_LEFT_OUT, 0, count - VARIABLES);
}

/* ---- the layer ---- */

static void start(struct fv_thread *self)
{
    static bool is_told;
    unsigned cpu = 0;
    (void)self;

    if (is_told)
        return;
    is_told = true;
    put_variables();
    if (!fv_speaks_for_node())
        return;
    syscall(SYS_getcpu, &cpu, NULL, NULL);
    put_machine(cpu);
}

const struct fv_layer fv_facts_layer = { .at = { [FV_AT_START] = start } };
