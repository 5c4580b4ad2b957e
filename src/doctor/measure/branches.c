/* SPDX-License-Identifier: BSD-3-Clause */
/* See branches.h. One loop with one branch a turn, by a byte of an array: all bytes are 1, they alternate, or they are
 * random. Random ones are too many for a predictor to learn, and half of its guesses are wrong. All else is the same,
 * so that the difference is what wrong guesses cost. */
#include "doctor/measure/branches.h"
#include "base/list.h"
#include "doctor/measure/noise.h"

#include <stdlib.h>

enum { BRANCHES = 1 << 18, REPEATS_MOST = 500, REPEATS_LEAST = 11 };
const char *const fv_branch_patterns[] = { FV_BRANCH_PATTERNS(FV_LIST_WORD) NULL };

/* The empty instruction is one that the compiler cannot do without, so the branch stays one. */
static __attribute__((noinline)) uint64_t run(const uint8_t *taken)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < BRANCHES; i++)
        if (taken[i]) {
            sum += i;
            __asm__ volatile("" : "+r"(sum));
        }
    return sum;
}

static void fill(uint8_t *taken, enum fv_branch_pattern pattern)
{
    uint64_t random = 88172645463325252; /* xorshift64 */

    for (size_t i = 0; i < BRANCHES; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        taken[i] = (uint8_t)(pattern == FV_BRANCH_SAME          ? 1
                             : pattern == FV_BRANCH_ALTERNATING ? i & 1
                                                                : random >> 32 & 1);
    }
}

static void measure_pattern(struct fv_measurement *m, uint8_t *taken, enum fv_branch_pattern pattern, double seconds)
{
    int64_t end_ns = fv_now_ns() + (int64_t)(seconds * 1e9);
    struct fv_branches b = { .pattern = fv_branch_patterns[pattern] };
    double values[REPEATS_MOST];
    size_t count = 0;

    fill(taken, pattern);
    run(taken); /* the predictor learns what it can */
    while (!fv_measure_stop && count < REPEATS_MOST && (count < REPEATS_LEAST || fv_now_ns() < end_ns)) {
        uint64_t begin = fv_measure_ticks(&m->clock);

        run(taken);
        values[count++] = (double)(fv_measure_ticks(&m->clock) - begin) * m->clock.tick_ns / BRANCHES;
    }
    if (!count)
        return;
    fv_spread_of(values, count, &b.spread);
    FV_GROW(m->branches, m->branch_room, m->branch_count + 1);
    m->branches[m->branch_count++] = b;
}

struct branch_job {
    struct fv_measurement *m;
    double seconds;
};

static void measure_all(struct fv_pinned_thread *p)
{
    struct branch_job *job = p->data;
    uint8_t *taken = fv_xcalloc(BRANCHES, 1);

    for (unsigned i = 0; i < FV_BRANCH_PATTERN_COUNT && !fv_measure_stop; i++)
        measure_pattern(job->m, taken, (enum fv_branch_pattern)i, job->seconds / FV_BRANCH_PATTERN_COUNT);
    free(taken);
}

void fv_branches_measure(struct fv_measurement *m, double seconds)
{
    struct branch_job job = { m, seconds };
    struct fv_pinned_thread first = { (unsigned)fv_cpus_first(&m->cpus), &job, false };

    fv_run_pinned_threads(&first, 1, measure_all);
}
