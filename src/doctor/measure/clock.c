/* SPDX-License-Identifier: BSD-3-Clause */
/* See clock.h. */
#include "doctor/measure/clock.h"
#include "doctor/files.h"

#if defined __x86_64__ || defined __i386__
static bool has_word(const char *line, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = line; at && (at = strstr(at, word)); at += length)
        if ((at == line || strchr(" \t:", at[-1])) && (!at[length] || strchr(" \t\n", at[length])))
            return true;
    return false;
}

/* The counter's pace is constant, in sleep too, and the kernel has not found it to be off. */
static bool is_invariant(struct fv_doctor *d)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/cpuinfo"),
               *flags = text ? strstr(text, "\nflags") : NULL;
    char *line = flags ? fv_arena_bytes(&d->arena, flags + 1, strcspn(flags + 1, "\n")) : NULL;

    return line && has_word(line, "constant_tsc") && has_word(line, "nonstop_tsc") &&
           has_word(fv_doctor_value(d, "sys/devices/system/clocksource/clocksource0/available_clocksource"), "tsc");
}
#else
static bool is_invariant(struct fv_doctor *d)
{
    (void)d;
    return false;
}
#endif

void fv_measure_clock_init(struct fv_doctor *d, struct fv_measure_clock *out)
{
    *out = (struct fv_measure_clock){ .is_tsc = is_invariant(d), .tick_ns = 1 };
    if (!out->is_tsc)
        return;
    uint64_t begin_ns = fv_now_ns(), begin = fv_measure_ticks(out), end_ns = begin_ns, end = begin;
    while (end_ns - begin_ns < 20000000) {
        end_ns = fv_now_ns();
        end = fv_measure_ticks(out);
    }
    out->tick_ns = (double)(end_ns - begin_ns) / (double)(end - begin);
}
