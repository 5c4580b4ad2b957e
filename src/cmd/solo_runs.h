/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of fvmpi run --stacks --solo and --throughput in which one thread, or with --throughput one rank, at a time
 * runs alone, with all of the shared cache or a part of it: what there is of cache, who holds the rest (the kernel's
 * cache allocation, resctrl, where there is one, else the pirate), and whether the pirate works here, which is tried on
 * a chase of pointers before. resctrl is not tried: the kernel's word is taken. One thread. */
#ifndef FV_SOLO_RUNS_H
#define FV_SOLO_RUNS_H

#include "base/solo.h"
#include "doctor/doctor.h"
#include "doctor/measure/memory.h"

#include <limits.h>
#include <sys/types.h>

struct fv_solo_runs {
    struct fv_doctor doctor;
    struct fv_shared_cache cache;
    struct fv_solo_page *page;
    char path[PATH_MAX + 32]; /* the page's file */
    char group[PATH_MAX];     /* of resctrl; empty: none */
    enum fv_solo_how how;     /* of parts of the cache; FV_SOLO_WHOLE: there can be none here */
    pid_t pirate;
    bool takes_turns; /* ranks, one at a time (rt/turns.h), and not threads */
};

/* In a directory that is there. False: not even all of the cache, which has been said. */
bool fv_solo_runs_init(struct fv_solo_runs *s, const char *directory, bool takes_turns, bool is_quiet);
void fv_solo_runs_release(struct fv_solo_runs *s);
/* Of the part of the shared cache that is wished, the part that can be had: of resctrl a number of ways. */
double fv_solo_runs_part(struct fv_solo_runs *s, double part);

/* What is started from here on runs so, until the end. limit_s: what a thread that runs alone may take at a time.
 * False: it can't be had, which has been said. */
bool fv_solo_runs_begin(struct fv_solo_runs *s, double part, double limit_s);
void fv_solo_runs_end(struct fv_solo_runs *s);

/* The pirate's bytes, and what the thread has: the last cache holds lines or its own caches do, so that the pirate's
 * own is no part of what it takes. For tests. */
uint64_t fv_solo_pirate_bytes(const struct fv_shared_cache *cache, double part);
uint64_t fv_solo_left_bytes(const struct fv_shared_cache *cache, double part);
/* Of a mask of ways the lowest for that part, `least` at least, and how large that part is. For tests. */
uint64_t fv_solo_ways(uint64_t all, unsigned least, double part, double *got);

#endif
