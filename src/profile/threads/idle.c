/* SPDX-License-Identifier: BSD-3-Clause */
/* See locks.h: workers that have nothing to do, told apart from threads that are in each other's way. */
#include "profile/build.h"
#include "profile/threads/locks.h"

#include <math.h>
#include <stdlib.h>

#define OWN 0.1 /* of the signals: from then on those that wait there also let others go on */

static bool is_awaited(const struct fv_lock_view *k)
{
    return (k->kind == FV_SYNC_COND || k->kind == FV_SYNC_SEM) && !k->rest && !k->inside_mpi;
}

static bool is_main(const struct fv_model *m, const struct fv_lock_part *part)
{
    uint32_t thread = fv_build_thread(m, part->rank, part->thread);

    return thread != FV_NONE && m->threads[thread].main;
}

/* Notes what main threads waited. */
static bool is_for_work(const struct fv_model *m, struct fv_lock_view *k)
{
    uint64_t signals = 0, own = 0;

    for (uint32_t i = 0; i < k->parts; i++) {
        const struct fv_lock_part *part = &fv_model_locks(m)->parts[k->first_part + i];

        signals += part->n.signals;
        own += is_main(m, part) ? 0 : part->n.signals;
        k->main_s += is_main(m, part) ? part->n.wait_s : 0;
    }
    return signals && (double)own < OWN * (double)signals;
}

void fv_locks_find_idle(struct fv_model *m)
{
    struct fv_locks *l = fv_model_locks(m);
    bool *seen = fv_xcalloc(m->thread_count, sizeof(*seen));

    for (size_t i = 0; i < l->count; i++) {
        struct fv_lock_view *k = &l->items[i];
        bool for_work = is_awaited(k) && is_for_work(m, k);

        for (uint32_t n = 0; for_work && n < k->parts; n++) {
            const struct fv_lock_part *part = &l->parts[k->first_part + n];
            uint32_t thread = fv_build_thread(m, part->rank, part->thread);

            if (thread == FV_NONE || m->threads[thread].main || !(part->n.wait_s > 0))
                continue;
            k->idle_s += part->n.wait_s;
            l->ranks[part->rank].idle_s += part->n.wait_s;
            l->ranks[part->rank].idlers += !seen[thread];
            seen[thread] = true;
        }
        l->idle_s += k->idle_s;
    }
    free(seen);
}

double fv_lock_contention_s(const struct fv_lock_view *k)
{
    if (k->rest || k->kind == FV_SYNC_JOIN)
        return 0;
    return fmax(k->n.wait_s - k->idle_s - k->main_s, 0);
}
