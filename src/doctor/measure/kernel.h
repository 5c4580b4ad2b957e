/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel tells of a thread and of its processor, read between two gaps: always of this machine, whatever
 * FVMPI_SENSORS_ROOT says. A thread opens its own. */
#ifndef FV_MEASURE_KERNEL_H
#define FV_MEASURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fv_kernel_view {
    int schedstat, interrupts, stat; /* -1: cannot be read */
    unsigned cpu;
    char *text;
    size_t room;
};
void fv_kernel_open(struct fv_kernel_view *out, unsigned cpu);
void fv_kernel_close(struct fv_kernel_view *view);

/* Until now the thread was ready to run and had no processor for so long; 0 where that is not known. */
uint64_t fv_kernel_run_delay_ns(struct fv_kernel_view *view);
/* Interrupts of the processor since boot: of its timer (LOC, or a row called a timer), and all others. */
struct fv_interrupts {
    uint64_t ticks, others;
};
bool fv_kernel_interrupts(struct fv_kernel_view *view, struct fv_interrupts *out);
/* What a hypervisor took from the processor since boot. In steps of 10 ms. */
uint64_t fv_kernel_stolen_ns(struct fv_kernel_view *view);

/* CPU time of all tasks on all processors since boot, in ns (steps of 10 ms), interrupts and what was stolen left out.
 * False: not known. */
bool fv_kernel_busy_ns(uint64_t *out);

/* ---- forms of these files, for tests ---- */

bool fv_interrupts_parse(const char *text, unsigned cpu, struct fv_interrupts *out);

#endif
