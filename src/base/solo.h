/* One page of a file by which fvmpi run --stacks --solo, the pirate and the program's library talk (threads/solo.h, cmd/pirate.h). `fvmpi run` makes it and names it in
 * FVMPI_SOLO; the first process that records claims it. The words that are waited for are futexes. */
#ifndef FV_SOLO_H
#define FV_SOLO_H

#include <stdint.h>

#define FV_SOLO_MAGIC UINT64_C(0x31306f6c6f737666) /* "fvsolo01" */

/* How the cache is made smaller. In the rank file, too. */
enum fv_solo_how {
    FV_SOLO_WHOLE,   /* it is not */
    FV_SOLO_PIRATE,  /* another process holds the rest, and says whether it does */
    FV_SOLO_RESCTRL, /* the kernel's cache allocation: part of the ways */
    FV_SOLO_HOWS
};

#define FV_SOLO_CPUS 1024

struct fv_solo_page {
    uint64_t magic;
    uint64_t cache_bytes, left_bytes; /* C; what the thread that runs alone has of it */
    uint64_t part_ppm;  /* of the shared cache, in millionths */
    uint64_t limit_ns;  /* it runs alone for no longer, at a time */
    uint64_t budget_ns; /* all waiting for the pirate may take so long */
    uint64_t wait_ns;   /* it waits for a lock or the like for no longer; 2.5 times as long without CPU time; 10 times until all are parked */
    uint32_t how;
    /* written by the program's library */
    uint32_t claimed __attribute__((aligned(64))); /* the process; 0: none yet */
    uint32_t wanted; /* odd: the pirate is; counts up */
    uint32_t cpu;    /* where the thread is that will run alone */
    /* by the pirate */
    uint32_t ready __attribute__((aligned(64))); /* = wanted: it holds its part */
    uint64_t probes, misses; /* timed reads of its lines since it began; of them, those that were not in the cache */
    /* by fvmpi run, before: processors with the same number have the same last cache; 0: not known, or all have */
    uint8_t domains[FV_SOLO_CPUS];
};
_Static_assert(sizeof(struct fv_solo_page) <= 4096, "a page");

#define FV_SOLO_MISSES 0.03 /* of its probes: above that the pirate did not hold its part */
#define FV_SOLO_PROBES 64   /* fewer tell nothing */

#endif
