/* SPDX-License-Identifier: BSD-3-Clause */
/* See clock.h. */
#include "rt/clock.h"
#include "base/base.h"
#include "base/options.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

uint8_t fv_clock_tsc;

#if FV_HAS_COUNTER
/* Unstable ones (across sockets, or in some virtual machines) make the kernel choose another source. */
static bool kernel_trusts_it(void)
{
    static const char wanted[] = FV_COUNTER_SOURCE;
    char name[32] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    ssize_t n = read(fd, name, sizeof(name) - 1);
    close(fd);
    if (n > 0 && name[n - 1] == '\n')
        name[n - 1] = '\0';
    return n > 0 && !strcmp(name, wanted);
}
#endif

_Static_assert((int)FV_CLOCK_CHOICE_TSC == FV_CLOCK_TSC && (int)FV_CLOCK_CHOICE_MONOTONIC == FV_CLOCK_MONOTONIC,
               "an option's value is the rank file's");

void fv_clock_init(int wanted)
{
#if FV_HAS_COUNTER
    fv_clock_tsc = wanted == FV_CLOCK_CHOICE_TSC || (wanted == FV_CLOCK_CHOICE_AUTO && kernel_trusts_it());
#else
    (void)wanted;
#endif
}

uint64_t fv_clock_nominal_hz(void)
{
    if (!fv_clock_tsc)
        return UINT64_C(1000000000);
#if defined(__x86_64__)
    unsigned a, b, c, d;

    /* Hypervisors tell the TSC's kHz here (leaf 0x40000010), where they tell it at all. */
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & 1u << 31)) {
        __cpuid(0x40000000, a, b, c, d);
        if (a >= 0x40000010 && a < 0x40010000) {
            __cpuid(0x40000010, a, b, c, d);
            if (a)
                return a * UINT64_C(1000);
        }
    }
    if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
        return (uint64_t)c * b / a;
#elif defined(__aarch64__)
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
#endif
    return 0;
}

uint64_t fv_ticks_of_system(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void fv_clock_point(struct fv_clock_point *out)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 3; i++) {
        struct timespec real, mono;
        uint64_t before = fv_ticks();

        clock_gettime(CLOCK_REALTIME, &real);
        clock_gettime(CLOCK_MONOTONIC, &mono);
        uint64_t after = fv_ticks();
        if (after - before < best) {
            best = after - before;
            out->ticks = before + (after - before) / 2;
            out->realtime_ns = real.tv_sec * INT64_C(1000000000) + real.tv_nsec;
            out->monotonic_ns = mono.tv_sec * INT64_C(1000000000) + mono.tv_nsec;
        }
    }
}
