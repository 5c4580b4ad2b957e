/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory.h. */
#include "doctor/measure/memory.h"
#include "base/now.h"
#include "doctor/files.h"
#include "doctor/measure/noise.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, SMALLEST = 4096, REPEATS_MOST = 500, REPEATS_LEAST = 11, UNROLLED = 16, FLAT_LEVELS = 16 };
#define REPEAT_NS    200e3
#define LARGEST      (UINT64_C(1) << 30)
#define ARRAY_MOST   (UINT64_C(128) << 20)
#define ARRAY_A_S    (UINT64_C(100) << 20) /* no more of it in a second of the time, in which it is made, too */
#define ARRAY_LEAST  (UINT64_C(8) << 20)
#define TLB_PAGES    (UINT64_C(1) << 15)
#define PART_LATENCY 0.6 /* of the time */
#define PART_TLB     0.15

/* ---- what there is ---- */

static uint64_t bytes_of(const char *text)
{
    char *end;
    uint64_t value = text ? strtoull(text, &end, 10) : 0;

    return !text ? 0 : *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : *end == 'G' ? value << 30 : value;
}

static void add_cache(struct fv_doctor *d, struct fv_measurement *m, unsigned long level, uint64_t bytes)
{
    if (!bytes || !level || (m->cache_count && bytes <= m->caches[m->cache_count - 1].bytes))
        return;
    FV_GROW(m->caches, m->cache_room, m->cache_count + 1);
    m->caches[m->cache_count++] = (struct fv_cpu_cache){ fv_arena_printf(&d->arena, "L%lu", level), bytes };
}

void fv_memory_find_caches(struct fv_doctor *d, struct fv_measurement *m)
{
    static const int names[] = { _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                 _SC_LEVEL4_CACHE_SIZE };
    size_t cpu = fv_cpus_first(&m->cpus);

    for (unsigned i = 0; i < 10; i++) {
        const char *type = fv_doctor_value(d, "sys/devices/system/cpu/cpu%zu/cache/index%u/type", cpu, i);
        const char *level = fv_doctor_value(d, "sys/devices/system/cpu/cpu%zu/cache/index%u/level", cpu, i);

        if (type && level && strcmp(type, "Instruction"))
            add_cache(d, m, strtoul(level, NULL, 10),
                      bytes_of(fv_doctor_value(d, "sys/devices/system/cpu/cpu%zu/cache/index%u/size", cpu, i)));
    }
    m->sizes_from = m->cache_count ? "/sys" : NULL;
    for (unsigned i = 0; !m->sizes_from && i < 4; i++) {
        long bytes = sysconf(names[i]);

        add_cache(d, m, i + 1, bytes > 0 ? (uint64_t)bytes : 0);
    }
    if (!m->sizes_from && m->cache_count)
        m->sizes_from = "CPUID";
}

/* What a control group leaves; UINT64_MAX: it has no limit, or none that can be read. */
static uint64_t left_in_group(struct fv_doctor *d, const char *path)
{
    static const char *const names[][2] = { { "memory.max", "memory.current" },
                                            { "memory.limit_in_bytes", "memory.usage_in_bytes" } };

    for (size_t i = 0; i < 2; i++) {
        const char *most = fv_doctor_value(d, "%s/%s", path, names[i][0]),
                   *now = fv_doctor_value(d, "%s/%s", path, names[i][1]);
        uint64_t limit = bytes_of(most), used = bytes_of(now);

        if (most && now && *most >= '0' && *most <= '9')
            return limit > used ? limit - used : 0;
    }
    return UINT64_MAX;
}

static uint64_t free_bytes(struct fv_doctor *d)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/meminfo"),
               *row = text ? strstr(text, "MemAvailable:") : NULL;
    uint64_t free = row ? strtoull(row + strlen("MemAvailable:"), NULL, 10) << 10 : 0;
    const char *own = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/self/cgroup");
    own = own ? strstr(own, "0::/") : NULL;
    const char *group =
        own ? fv_arena_printf(&d->arena, "sys/fs/cgroup/%.*s", (int)strcspn(own + 4, "\n"), own + 4) : NULL;
    const char *const groups[] = { group, "sys/fs/cgroup", "sys/fs/cgroup/memory" };

    for (size_t i = 0; i < 3; i++) {
        uint64_t left = groups[i] ? left_in_group(d, groups[i]) : UINT64_MAX;

        free = left < free ? left : free;
    }
    return free;
}

static uint64_t last_cache(const struct fv_measurement *m)
{
    return m->cache_count ? m->caches[m->cache_count - 1].bytes : UINT64_C(32) << 20;
}

/* ---- pointer chases ---- */

/* Numbers of so many bits, each once, in an order that no prefetcher knows. */
static uint64_t scatter(uint64_t i, unsigned bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;

    for (int round = 0; round < 2; round++) {
        i = i * UINT64_C(0x9e3779b97f4a7c15) & mask;
        i ^= i >> (bits / 2 + 1);
    }
    return i * UINT64_C(0xbf58476d1ce4e5b9) & mask;
}

/* All nodes, each `stride` behind the one before, become one ring; within their stride they stand on different
 * lines. */
static void **make_ring(char *memory, size_t nodes, size_t stride)
{
    unsigned bits = fv_log2_bucket(nodes - 1);
    void **first = NULL, **last = NULL;

    for (uint64_t i = 0; i < UINT64_C(1) << bits; i++) {
        uint64_t node = scatter(i, bits);

        if (node >= nodes)
            continue;
        void **at = (void **)(void *)(memory + node * stride + node * LINE % stride);
        if (last)
            *last = at;
        else
            first = at;
        last = at;
    }
    *last = first;
    return first;
}

static __attribute__((noinline)) void **chase(void **at, size_t steps)
{
    for (size_t i = 0; i < steps; i += UNROLLED) {
#pragma GCC unroll 16
        for (int k = 0; k < UNROLLED; k++)
            at = *at;
    }
    __asm__ volatile("" : "+r"(at));
    return at;
}

/* Repeats the chase until the time is over, at least a few times: ns of a step each. */
static size_t measure_ring(const struct fv_measure_clock *clock, void **at, size_t nodes, double until_s,
                           double *values)
{
    size_t steps = UNROLLED * 16, count = 0;
    double took = 0;

    at = chase(at, fv_round_up(nodes < 65536 ? nodes : 65536, UNROLLED)); /* what was built is warm, or does not fit */
    while (!fv_measure_stop) {
        uint64_t begin = fv_measure_ticks(clock);

        at = chase(at, steps);
        took = (double)(fv_measure_ticks(clock) - begin) * clock->tick_ns;
        if (took >= REPEAT_NS / 2)
            break;
        steps *= 2;
    }
    while (!fv_measure_stop && count < REPEATS_MOST && (count < REPEATS_LEAST || fv_now_s() < until_s)) {
        uint64_t begin = fv_measure_ticks(clock);

        at = chase(at, steps);
        values[count++] = (double)(fv_measure_ticks(clock) - begin) * clock->tick_ns / (double)steps;
    }
    return count;
}

struct memory_job {
    struct fv_measurement *m;
    uint64_t room;
    double until_s;
};

static void *map(uint64_t bytes, int advice)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, advice);
    return memory;
}

static void add_latency(struct fv_measurement *m, uint64_t bytes, double *values, size_t count)
{
    struct fv_latency l = { .bytes = bytes, .first_value = (uint32_t)m->value_count };

    if (!count)
        return;
    fv_spread_of(values, count, &l.spread);
    FV_GROW(m->values, m->value_room, m->value_count + count);
    for (size_t i = 0; i < count; i++)
        m->values[m->value_count++] = values[i] / l.spread.mode - 1;
    FV_GROW(m->latencies, m->latency_room, m->latency_count + 1);
    m->latencies[m->latency_count++] = l;
}

/* 1, 1.5, 2, 3, 4, 6 ... */
static uint64_t next_size(uint64_t size)
{
    return (size & (size - 1)) ? size / 3 * 4 : size / 2 * 3;
}

static size_t sizes_to(uint64_t size, uint64_t most)
{
    size_t count = 0;

    for (; size <= most; size = next_size(size))
        count++;
    return count;
}

static uint64_t huge_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    char line[200];
    uint64_t kib = 0;

    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, "AnonHugePages:", strlen("AnonHugePages:")))
            kib = strtoull(line + strlen("AnonHugePages:"), NULL, 10);
    if (file)
        fclose(file);
    return kib << 10;
}

static void measure_latency(struct fv_pinned_thread *p)
{
    struct memory_job *job = p->data;
    struct fv_measurement *m = job->m;
    double values[REPEATS_MOST], per_byte = 0;
    char *memory = map(job->room, MADV_HUGEPAGE);
    size_t left = sizes_to(SMALLEST, job->room);

    for (uint64_t bytes = SMALLEST; memory && bytes <= job->room && !fv_measure_stop;
         bytes = next_size(bytes), left--) {
        double begin = fv_now_s(), until = begin + (job->until_s - begin) / (double)left;

        if (begin + fmax(per_byte * (double)bytes, REPEATS_LEAST * REPEAT_NS * 1e-9) > job->until_s)
            break;
        void **ring = make_ring(memory, bytes / LINE, LINE);
        per_byte = (fv_now_s() - begin) / (double)bytes;
        add_latency(m, bytes, values, measure_ring(&m->clock, ring, bytes / LINE, until, values));
        m->largest_bytes = bytes;
    }
    m->huge_bytes = memory ? huge_bytes() : 0;
    if (memory)
        munmap(memory, job->room);
}

static double median_of_ring(const struct fv_measurement *m, void **ring, size_t nodes, double until_s)
{
    double values[REPEATS_MOST];
    struct fv_spread spread;

    fv_spread_of(values, measure_ring(&m->clock, ring, nodes, until_s, values), &spread);
    return spread.p50;
}

static void measure_tlb(struct fv_pinned_thread *p)
{
    struct memory_job *job = p->data;
    struct fv_measurement *m = job->m;
    uint64_t most = job->room / m->page_bytes < TLB_PAGES ? job->room / m->page_bytes : TLB_PAGES;
    char *memory = most ? map(most * m->page_bytes, MADV_NOHUGEPAGE) : NULL;
    size_t left = sizes_to(16, most);

    for (uint64_t pages = 16; memory && pages <= most && fv_now_s() < job->until_s && !fv_measure_stop;
         pages = next_size(pages), left--) {
        double each = (job->until_s - fv_now_s()) / (2 * (double)left);
        struct fv_tlb_point point = { .pages = pages };

        point.paged = median_of_ring(m, make_ring(memory, pages, m->page_bytes), pages, fv_now_s() + each);
        point.dense = median_of_ring(m, make_ring(memory, pages, LINE), pages, fv_now_s() + each);
        if (fv_measure_stop)
            break;
        FV_GROW(m->tlb, m->tlb_room, m->tlb_count + 1);
        m->tlb[m->tlb_count++] = point;
    }
    if (memory)
        munmap(memory, most * m->page_bytes);
}

/* The last number of pages before the first that takes a fifth longer than side by side, and stays so. */
static void find_reach(struct fv_measurement *m)
{
    size_t i = m->tlb_count;

    while (i && m->tlb[i - 1].paged > 1.2 * m->tlb[i - 1].dense)
        i--;
    m->tlb_pages = i && i < m->tlb_count ? m->tlb[i - 1].pages : 0;
}

/* ---- levels ---- */

const char *fv_measure_level_name(const struct fv_measurement *m, uint64_t bytes)
{
    for (size_t i = 0; i < m->cache_count; i++)
        if (bytes <= m->caches[i].bytes)
            return m->caches[i].name;
    return m->cache_count ? "DRAM" : NULL;
}

void fv_memory_find_levels(struct fv_measurement *m)
{
    struct fv_plateau found[FLAT_LEVELS];
    double *modes = fv_xcalloc(m->latency_count + 1, sizeof(*modes));

    for (size_t i = 0; i < m->latency_count; i++)
        modes[i] = m->latencies[i].spread.mode;
    size_t count = fv_plateaus_of(modes, m->latency_count, 0.1, found, FLAT_LEVELS);
    for (size_t i = 0; i < count; i++) {
        const struct fv_latency *first = &m->latencies[found[i].first], *last = first + found[i].count - 1;
        size_t values = last->first_value + last->spread.count - first->first_value;
        struct fv_memory_level level = { NULL, first->bytes, last->bytes, found[i].value, { 0 } };
        double *sorted = fv_xcalloc(values, sizeof(*sorted));

        level.name = fv_measure_level_name(m, (uint64_t)sqrt((double)first->bytes * (double)last->bytes));
        memcpy(sorted, m->values + first->first_value, values * sizeof(*sorted));
        fv_spread_of(sorted, values, &level.above);
        free(sorted);
        FV_GROW(m->levels, m->level_room, m->level_count + 1);
        m->levels[m->level_count++] = level;
    }
    free(modes);
}

/* ---- the shared cache ---- */

#define SHARED_ABOVE 1.5 /* times private_bytes: from there on latencies are of the shared cache */
#define SHARED_RATIO 2   /* of memory to it, at least */

static uint64_t private_bytes_of(struct fv_doctor *d, uint32_t cpu)
{
    const char *core = fv_doctor_value(d, "sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    uint64_t most = 0;

    for (unsigned i = 0; core && i < 10; i++) {
        const char *shared = fv_doctor_value(d, "sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, i);
        uint64_t bytes = bytes_of(fv_doctor_value(d, "sys/devices/system/cpu/cpu%u/cache/index%u/size", cpu, i));

        if (shared && !strcmp(shared, core) && bytes > most)
            most = bytes;
    }
    return most;
}

void fv_memory_find_shared(const struct fv_measurement *m, struct fv_shared_cache *c)
{
    size_t first = 0;

    c->bytes = 0;
    c->cache_ns = c->memory_ns = NAN;
    while (first < m->latency_count && (double)m->latencies[first].bytes < SHARED_ABOVE * (double)c->private_bytes)
        first++;
    if (first + 1 >= m->latency_count)
        return;
    c->cache_ns = m->latencies[first].spread.p50;
    c->memory_ns = m->latencies[m->latency_count - 1].spread.p50;
    if (!(c->memory_ns > SHARED_RATIO * c->cache_ns))
        return;
    for (size_t i = first; i < m->latency_count && m->latencies[i].spread.p50 < sqrt(c->cache_ns * c->memory_ns); i++)
        c->bytes = m->latencies[i].bytes;
}

void fv_memory_shared_cache(struct fv_doctor *d, uint32_t cpu, double seconds, struct fv_shared_cache *out)
{
    struct fv_measurement m = { .seconds = seconds };
    struct memory_job job = { &m, 0, fv_now_s() + seconds };
    struct fv_pinned_thread first = { cpu, &job, false };

    *out = (struct fv_shared_cache){ .private_bytes = private_bytes_of(d, cpu), .cache_ns = NAN, .memory_ns = NAN };
    fv_cpus_set(&m.cpus, cpu);
    fv_measure_clock_init(d, &m.clock);
    fv_memory_find_caches(d, &m);
    uint64_t room = free_bytes(d) / 4, wanted = last_cache(&m) * 2;
    wanted = wanted > LARGEST ? LARGEST : wanted;
    job.room = (room < wanted ? room : wanted) / SMALLEST * SMALLEST;
    if (job.room && out->private_bytes)
        fv_run_pinned_threads(&first, 1, measure_latency);
    if (m.largest_bytes >= last_cache(&m)) /* else nothing is known of memory */
        fv_memory_find_shared(&m, out);
    fv_measurement_release(&m);
}

struct chase_job {
    struct fv_measure_clock clock;
    uint64_t bytes;
    double seconds, value;
};

static void measure_chase(struct fv_pinned_thread *p)
{
    struct chase_job *job = p->data;
    double values[REPEATS_MOST];
    struct fv_spread spread;
    char *memory = map(job->bytes, MADV_HUGEPAGE);

    if (!memory)
        return;
    size_t nodes = job->bytes / LINE,
           count = measure_ring(&job->clock, make_ring(memory, nodes, LINE), nodes, fv_now_s() + job->seconds, values);
    if (count) {
        fv_spread_of(values, count, &spread);
        job->value = spread.p50;
    }
    munmap(memory, job->bytes);
}

double fv_memory_chase(struct fv_doctor *d, uint32_t cpu, uint64_t bytes, double seconds)
{
    struct chase_job job = { .bytes = bytes / SMALLEST * SMALLEST, .seconds = seconds, .value = NAN };
    struct fv_pinned_thread pinned = { cpu, &job, false };

    fv_measure_clock_init(d, &job.clock);
    if (job.bytes)
        fv_run_pinned_threads(&pinned, 1, measure_chase);
    return job.value;
}

/* ---- bandwidth ---- */

typedef double lane __attribute__((vector_size(64))); /* a line */
enum { COPY, TRIAD, KERNELS };
static const char *const kernels[] = { "copy", "triad" };
const char *const fv_omissions[] = { FV_OMISSIONS(FV_LIST_WORD) NULL };
static const double arrays_moved[] = { 2, 3 }; /* read and written; what a write reads before is not counted */

struct bandwidth_job {
    const struct fv_measurement *m;
    uint64_t bytes; /* of an array */
    double seconds; /* of all kernels, and to make the arrays */
    double *values[KERNELS];
    size_t count[KERNELS];
};

/* Line by line, and not by memcpy(), which may bypass the caches. */
static __attribute__((noinline)) void copy(lane *a, const lane *b, size_t lines)
{
    for (size_t i = 0; i < lines; i++) {
        a[i] = b[i];
        __asm__ volatile("" ::: "memory");
    }
}

static __attribute__((noinline)) void triad(lane *a, const lane *b, const lane *c, size_t lines)
{
    for (size_t i = 0; i < lines; i++) {
        a[i] = b[i] + 3.0 * c[i];
        __asm__ volatile("" ::: "memory");
    }
}

static void measure_bandwidth(struct fv_pinned_thread *p)
{
    enum { ROOM = 1000 };
    struct bandwidth_job *j = p->data;
    double began = fv_now_s(), each = j->seconds / (KERNELS + 1);
    char *memory = map(3 * j->bytes, MADV_HUGEPAGE);
    size_t lines = j->bytes / sizeof(lane);

    if (!memory)
        return;
    memset(memory, 0, 3 * j->bytes); /* by the processor that uses it */
    lane *a = (lane *)(void *)memory, *b = a + lines, *c = b + lines;
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        double until = began + (kernel + 2) * each;

        j->values[kernel] = fv_xcalloc(ROOM, sizeof(double));
        while (!fv_measure_stop && j->count[kernel] < ROOM && (j->count[kernel] < 3 || fv_now_s() < until)) {
            uint64_t begin = fv_measure_ticks(&j->m->clock);

            if (kernel == COPY)
                copy(a, b, lines);
            else
                triad(a, b, c, lines);
            j->values[kernel][j->count[kernel]++] =
                (double)(fv_measure_ticks(&j->m->clock) - begin) * j->m->clock.tick_ns;
        }
    }
    munmap(memory, 3 * j->bytes);
}

static void add_bandwidth(struct fv_measurement *m, struct bandwidth_job *jobs, size_t count, int kernel)
{
    struct fv_bandwidth row = { .kernel = kernels[kernel], .bytes = 3 * jobs[0].bytes };
    double *above = NULL;
    size_t used = 0, room = 0;

    for (size_t i = 0; i < count; i++) {
        struct fv_spread spread;

        fv_spread_of(jobs[i].values[kernel], jobs[i].count[kernel], &spread);
        if (!spread.count)
            continue;
        row.processors++;
        row.bytes_per_s += arrays_moved[kernel] * (double)jobs[i].bytes / spread.p50 * 1e9;
        FV_GROW(above, room, used + spread.count);
        for (size_t k = 0; k < spread.count; k++)
            above[used++] = jobs[i].values[kernel][k] / spread.mode - 1;
    }
    fv_spread_of(above, used, &row.above);
    free(above);
    if (!used)
        return;
    FV_GROW(m->bandwidths, m->bandwidth_room, m->bandwidth_count + 1);
    m->bandwidths[m->bandwidth_count++] = row;
}

/* The first reason stands. */
static void say_left_out(struct fv_measurement *m, const struct fv_pinned_thread *pinned, size_t count, bool in_time)
{
    const char *why = in_time ? NULL : fv_omissions[FV_OMISSION_TIME];

    for (size_t i = 0; !why && i < count; i++) {
        const struct bandwidth_job *job = pinned[i].data;

        if (!job->count[KERNELS - 1])
            why = fv_omissions[job->bytes && !pinned[i].ran ? FV_OMISSION_PROCESSOR : FV_OMISSION_MEMORY];
    }
    if (why && !fv_measure_stop && !m->bandwidth_left_out)
        m->bandwidth_left_out = why;
}

/* Arrays of all together are four times the last cache, if there is memory for it. */
static void bandwidth_of(struct fv_measurement *m, size_t count, uint64_t room, double seconds)
{
    uint64_t bytes = last_cache(m) * 4 / 3 / count, most = room / 3 / count,
             in_time = (uint64_t)(seconds * (double)ARRAY_A_S);
    struct bandwidth_job *jobs = fv_xcalloc(count, sizeof(*jobs));
    struct fv_pinned_thread *pinned = fv_xcalloc(count, sizeof(*pinned));
    size_t used = 0;

    most = in_time < most ? in_time : most;
    bytes = bytes < ARRAY_LEAST ? ARRAY_LEAST : bytes > ARRAY_MOST ? ARRAY_MOST : bytes;
    bytes = (bytes < most ? bytes : most) / sizeof(lane) * sizeof(lane);
    for (unsigned cpu = 0; cpu < FV_CPUS_MOST && used < count; cpu++)
        if (fv_cpus_has(&m->cpus, cpu)) {
            jobs[used] = (struct bandwidth_job){ .m = m, .bytes = bytes, .seconds = seconds };
            pinned[used] = (struct fv_pinned_thread){ cpu, &jobs[used], false };
            used++;
        }
    if (bytes)
        fv_run_pinned_threads(pinned, used, measure_bandwidth);
    say_left_out(m, pinned, used, in_time >= sizeof(lane));
    for (int kernel = 0; kernel < KERNELS; kernel++)
        add_bandwidth(m, jobs, used, kernel);
    for (size_t i = 0; i < used; i++)
        for (int kernel = 0; kernel < KERNELS; kernel++)
            free(jobs[i].values[kernel]);
    free(jobs);
    free(pinned);
}

void fv_memory_measure(struct fv_doctor *d, struct fv_measurement *m, double seconds)
{
    uint64_t room = free_bytes(d) / 4, wanted = last_cache(m) * 4;
    double end = fv_now_s() + seconds;
    struct memory_job job = { m, 0, end - (1 - PART_LATENCY) * seconds };
    struct fv_pinned_thread first = { (unsigned)fv_cpus_first(&m->cpus), &job, false };
    size_t count = fv_cpus_count(&m->cpus);

    wanted = wanted < UINT64_C(64) << 20 ? UINT64_C(64) << 20 : wanted > LARGEST ? LARGEST : wanted;
    job.room = (room < wanted ? room : wanted) / SMALLEST * SMALLEST;
    m->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    if (job.room)
        fv_run_pinned_threads(&first, 1, measure_latency);
    job.until_s = end - (1 - PART_LATENCY - PART_TLB) * seconds;
    if (!fv_measure_stop)
        fv_run_pinned_threads(&first, 1, measure_tlb);
    find_reach(m);
    fv_memory_find_levels(m);
    if (!fv_measure_stop)
        bandwidth_of(m, 1, room, fmax(end - fv_now_s(), 0) / (count > 1 ? 2 : 1));
    if (!fv_measure_stop && count > 1)
        bandwidth_of(m, count, room, fmax(end - fv_now_s(), 0));
}
