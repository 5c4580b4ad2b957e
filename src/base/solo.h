/* SPDX-License-Identifier: BSD-3-Clause */
/* One page of a file by which fvmpi run --stacks --solo, the pirate and the program's library talk (threads/solo.h,
 * cmd/pirate.h). `fvmpi run` makes it and names it in FVMPI_SOLO; the first process that records claims it. The words
 * that are waited for are futexes. */
#ifndef FV_SOLO_H
#define FV_SOLO_H

#include "base/list.h"
#include "base/now.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FV_SOLO_MAGIC UINT64_C(0x31306f6c6f737666) /* "fvsolo01" */

/* How the cache is made smaller. In the rank file, too. */
#define FV_SOLO_HOW_LIST(X)                                                              \
    X(WHOLE, "whole")     /* it is not */                                                \
    X(PIRATE, "pirate")   /* another process holds the rest, and says whether it does */ \
    X(RESCTRL, "resctrl") /* the kernel's cache allocation: part of the ways */
#define FV_SOLO_HOW(name, word) FV_SOLO_##name,
enum fv_solo_how { FV_SOLO_HOW_LIST(FV_SOLO_HOW) FV_SOLO_HOWS };

/* Why a phase of threads (threads/gate.h), or the ranks that took turns (rt/turns.h), were let go; in the rank file
 * (fv_solo_record.why), too. */
enum fv_gate_why {
    FV_GATE_GOOD,     /* it was not */
    FV_GATE_WAITS,    /* the one waited for a lock, a condition or the like */
    FV_GATE_STILL,    /* it used no CPU time: what it waits for is not seen, or it sleeps */
    FV_GATE_LONG,     /* it came to no barrier: it spins for another one, or its work is endless */
    FV_GATE_BARRIERS, /* threads did not come together: barriers of some of them */
    FV_GATE_CREATOR,  /* the thread that made them works, too */
    FV_GATE_NESTED,   /* a phase within the phase, or other threads made meanwhile */
    FV_GATE_LARGE,    /* more than FV_GATE_SEATS threads */
    FV_GATE_LATE,     /* what makes the cache ready did not answer */
    FV_GATE_LEFT,     /* the one left by another way than its end */
    FV_GATE_CUT,      /* it took too long in all */
    FV_GATE_WHYS
};

#define FV_SOLO_CPUS 1024

struct fv_solo_page {
    uint64_t magic;
    uint64_t cache_bytes, left_bytes; /* C; what the thread that runs alone has of it */
    uint64_t part_ppm;                /* of the shared cache, in millionths */
    uint64_t limit_ns;                /* it runs alone for no longer, at a time */
    uint64_t budget_ns;               /* all waiting for the pirate may take so long */
    uint64_t wait_ns; /* it waits for a lock or the like for no longer; 2.5 times as long without CPU time; 10 times
                       * until all are parked */
    uint32_t how;
    /* written by the program's library */
    uint32_t claimed __attribute__((aligned(64))); /* the process; 0: none yet */
    uint32_t wanted;                               /* odd: the pirate is; counts up */
    uint32_t cpu;                                  /* where the thread is that will run alone */
    /* by the pirate */
    uint32_t ready __attribute__((aligned(64))); /* = wanted: it holds its part */
    uint64_t probes, misses; /* timed reads of its lines since it began; of them, those that were not in the cache */
    /* by fvmpi run, before: processors with the same number have the same last cache; 0: not known, or all have */
    uint8_t domains[FV_SOLO_CPUS];
    /* ranks that take turns (rt/turns.h), where fvmpi run says so, before: threads do not, then */
    uint32_t takes_turns;
    uint32_t turns_why; /* by a rank: all were let go, and why (enum fv_gate_why); 0: they were not */
    uint8_t boot[16];   /* of the node: where it is another one, the page is not shared */
    uint64_t fill_ns;   /* what filling the shared cache takes at most, line after line; 0: not known */
    uint32_t turn __attribute__((aligned(64))); /* whose it is, by numbers that are drawn: a futex */
    uint32_t turns_drawn;
    uint32_t turn_process;  /* whose it is; 0: nobody has taken it yet */
    uint64_t turn_since_ns; /* CLOCK_MONOTONIC: when that one took it; 0: nobody has yet */
};
_Static_assert(sizeof(struct fv_solo_page) <= 4096, "a page");

/* ---- to the pirate: it may be told so by the program's library, and by fvmpi run ---- */

#define FV_SOLO_LATE_NS INT64_C(3000000000)
#define FV_SOLO_LOOK_NS 50000000

/* It reads its part of the cache, beside page->cpu, then says so, within seconds. False: it does not, or was told to
 * rest meanwhile. */
static inline bool fv_solo_call(struct fv_solo_page *page)
{
    const struct timespec look = { 0, FV_SOLO_LOOK_NS };
    int64_t until = fv_now_ns() + FV_SOLO_LATE_NS;
    uint32_t wanted = page->wanted + 1 + (page->wanted & 1), ready;

    __atomic_store_n(&page->wanted, wanted, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &page->wanted, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    while ((ready = __atomic_load_n(&page->ready, __ATOMIC_SEQ_CST)) != wanted &&
           __atomic_load_n(&page->wanted, __ATOMIC_SEQ_CST) == wanted && fv_now_ns() < until)
        syscall(SYS_futex, &page->ready, FUTEX_WAIT, ready, &look, NULL, 0);
    return ready == wanted;
}

/* Once, whoever says so. */
static inline void fv_solo_rest(struct fv_solo_page *page)
{
    uint32_t wanted = __atomic_load_n(&page->wanted, __ATOMIC_SEQ_CST);

    if (wanted & 1 &&
        __atomic_compare_exchange_n(&page->wanted, &wanted, wanted + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &page->wanted, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#define FV_SOLO_MISSES 0.03 /* of its probes: above that the pirate did not hold its part */
#define FV_SOLO_PROBES 64   /* fewer tell nothing */

#endif
