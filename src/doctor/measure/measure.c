/* SPDX-License-Identifier: BSD-3-Clause */
/* See measure.h. */
#include "doctor/measure/measure.h"
#include "doctor/files.h"
#include "doctor/looks.h"
#include "doctor/measure/branches.h"
#include "doctor/measure/counts.h"
#include "doctor/measure/kernel.h"
#include "doctor/measure/memory.h"
#include "doctor/measure/noise.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Of the time; the rest is for what is between. */
#define PART_ALONE     0.33
#define PART_TOGETHER  0.23
#define PART_MEMORY    0.32
#define PART_BRANCHES  0.02
#define ALONE_LEAST_S  0.2 /* for one processor */
#define LEAST_MEMORY_S 0.3

static struct fv_cpus allowed(void)
{
    cpu_set_t *set = CPU_ALLOC(FV_CPUS_MOST);
    size_t bytes = CPU_ALLOC_SIZE(FV_CPUS_MOST);
    struct fv_cpus cpus = { 0 };

    CPU_ZERO_S(bytes, set);
    if (!sched_getaffinity(0, bytes, set))
        for (size_t cpu = 0; cpu < FV_CPUS_MOST; cpu++)
            if (CPU_ISSET_S(cpu, bytes, set))
                fv_cpus_set(&cpus, cpu);
    CPU_FREE(set);
    return cpus;
}

/* So many of them, evenly spread. */
static struct fv_cpus some_of(const struct fv_cpus *cpus, size_t wanted)
{
    size_t count = fv_cpus_count(cpus), seen = 0, taken = 0;
    struct fv_cpus some = { 0 };

    for (size_t cpu = 0; cpu < FV_CPUS_MOST; cpu++)
        if (fv_cpus_has(cpus, cpu) && seen++ * wanted / count == taken) {
            fv_cpus_set(&some, cpu);
            taken++;
        }
    return some;
}

static double own_cpu_ns(void)
{
    struct rusage usage = { 0 };

    getrusage(RUSAGE_SELF, &usage);
    return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e9 +
           ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e3;
}

static void find_facts(struct fv_doctor *d, struct fv_measurement *m)
{
    const char *hz = fv_doctor_config(d, "CONFIG_HZ");

    m->hz = hz ? strtoull(hz, NULL, 10) : 0;
    m->is_guest = fv_doctor_has_hypervisor(d);
    fv_measure_clock_init(d, &m->clock);
    fv_memory_find_caches(d, m);
}

static void measure_noise(struct fv_doctor *d, struct fv_measurement *m)
{
    size_t count = fv_cpus_count(&m->alone_cpus);

    fv_noise_calibrate(m);
    for (size_t cpu = 0; cpu < FV_CPUS_MOST; cpu++)
        if (fv_cpus_has(&m->alone_cpus, cpu) && !fv_measure_stop) {
            struct fv_cpus one = { 0 };

            fv_cpus_set(&one, cpu);
            fv_noise_measure(m, &d->arena, &one, false, PART_ALONE * m->seconds / (double)count);
        }
    if (fv_cpus_count(&m->cpus) > 1 && !fv_measure_stop)
        fv_noise_measure(m, &d->arena, &m->cpus, true, PART_TOGETHER * m->seconds);
}

int fv_measure(struct fv_doctor *d, const struct fv_measure_wish *wish, struct fv_measurement *m)
{
    uint64_t busy_ns, busy_end_ns, begin_ns = fv_now_ns();
    double own_ns = own_cpu_ns(), seconds = wish->seconds;
    bool is_busy_known = fv_kernel_busy_ns(&busy_ns);

    *m = (struct fv_measurement){ .seconds = seconds, .cpus = allowed(), .others_processors = NAN };
    for (size_t i = 0; wish->only && i < FV_CPUS_WORDS; i++)
        m->cpus.bits[i] &= wish->only->bits[i];
    m->event_count = wish->event_count;
    memcpy(m->events, wish->events, sizeof(m->events));
    size_t count = fv_cpus_count(&m->cpus), alone = (size_t)fmax(1, PART_ALONE * seconds / ALONE_LEAST_S);
    if (!count)
        return -FV_ENOENT;
    m->alone_cpus = some_of(&m->cpus, alone < count ? alone : count);
    m->processors = fv_cpus_list(&m->cpus, &d->arena);
    m->alone = fv_cpus_list(&m->alone_cpus, &d->arena);
    find_facts(d, m);
    fv_counts_try(m);
    measure_noise(d, m);
    if (!fv_measure_stop)
        fv_branches_measure(m, PART_BRANCHES * seconds);
    if (!fv_measure_stop)
        fv_memory_measure(
            d, m, fmin(PART_MEMORY * seconds, fmax(seconds - (double)(fv_now_ns() - begin_ns) * 1e-9, LEAST_MEMORY_S)));
    double took_ns = (double)(fv_now_ns() - begin_ns);
    if (is_busy_known && fv_kernel_busy_ns(&busy_end_ns))
        m->others_processors = fmax(0, (double)(busy_end_ns - busy_ns) - (own_cpu_ns() - own_ns)) / took_ns;
    m->elapsed_s = took_ns * 1e-9;
    m->interrupted = fv_measure_stop;
    d->measured = m;
    return 0;
}
