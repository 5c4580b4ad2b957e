/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran alone, in the application: the page by which `fvmpi run` tells of it (base/solo.h), and records of it in the
 * rank file. Threads of a phase are threads/solo.c's, ranks of a node turns.c's. */
#ifndef FV_SOLO_PAGE_H
#define FV_SOLO_PAGE_H

#include "base/solo.h"
#include "rt/tail.h"

/* The page that FVMPI_SOLO names, the same each time. NULL: none is named, or it cannot be had, which has been said
 * once. As recording begins, by one thread. */
struct fv_solo_page *fv_solo_map(void);

/* A record with the key's kind and place, and with how the page says that it is measured. NULL: no room. By who owns
 * the tail. */
struct fv_solo_record *fv_solo_new_record(struct fv_tail *tail, const struct fv_solo_page *page,
                                          const struct fv_solo_record *key);

/* A stretch of time in which somebody runs alone, the calling thread or, by CLOCK_PROCESS_CPUTIME_ID, the process: its
 * begin, and its end, which adds it up. errno may change. */
struct fv_solo_interval {
    clockid_t cpu_clock;
    uint64_t begin, cpu_begin, probes_begin, misses_begin;
};
void fv_solo_interval_begin(struct fv_solo_interval *interval, const struct fv_solo_page *page, clockid_t cpu_clock);
void fv_solo_interval_end(const struct fv_solo_interval *interval, const struct fv_solo_page *page,
                          struct fv_solo_record *to);

#endif
