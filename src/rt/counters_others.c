/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h: threads that are read by others, at the process's end and while a section is open. */
#include "rt/accounts.h"
#include "rt/counters_of.h"
#include "rt/layers.h"

#include <string.h>

/* ---- at the end ---- */

/* Threads that are still there, such as those of a pool, do not tell any more. */
void fv_counters_update_all(struct fv_thread *self)
{
    uint64_t signals;

    if (!fv_counters_are_on() || !fv_lock_is_free(&fv_rt.lock))
        return;
    if (self && self->counters)
        fv_counters_update(self);
    signals = fv_lock_sigsave(&fv_rt.lock);
    for (struct fv_thread *t = fv_rt.threads; t; t = t->next_all) {
        struct fv_thread_counters *c = t->counters;

        if (t == self || !c || !__atomic_load_n(&c->begun_ticks, __ATOMIC_ACQUIRE))
            continue;
        struct fv_counter_reading now = c->now;
        if (!c->unknown)
            fv_counters_read_groups(c, &now);
        fv_counters_read_accounts_of(t, &now);
        fv_counters_put_whole(c, &now);
    }
    fv_unlock_sigrestore(&fv_rt.lock, signals);
}

/* ---- of other threads, while a section is open ---- */

/* All that the thread has counted, and those before it. */
static bool read_other(const struct fv_thread *t, struct fv_counter_reading *out, uint64_t *in_mpi, unsigned *flags)
{
    const struct fv_thread_counters *c = t->counters;

    if (!c)
        return false;
    bool lives = __atomic_load_n(&c->begun_ticks, __ATOMIC_ACQUIRE) != 0;
    struct fv_counter_reading now = c->begun; /* not its last one, which the thread may be writing */
    if (lives && !c->unknown)
        fv_counters_read_groups(c, &now);
    if (lives)
        fv_counters_read_accounts_of(t, &now);
    struct fv_counter_values sum = lives ? c->before : *c->whole;
    if (lives)
        fv_counters_add(&sum, &now, &c->begun);
    for (unsigned i = 0; i < fv_counters_wanted(); i++) {
        out->at[i] = (struct fv_perf_count){ sum.at[i].count, sum.at[i].enabled, sum.at[i].running };
        in_mpi[i] = sum.at[i].in_mpi + (lives ? __atomic_load_n(&c->in_mpi[i], __ATOMIC_RELAXED) : 0);
    }
    *flags = fv_counters_unknown_flags(c);
    return true;
}

/* Under fv_rt.lock, as all that follows. */
static FV_COLD struct fv_counter_span *make_other(const struct fv_thread *t)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_COUNTER_OTHERS, .first_pages = 1, .most_pages = 16 };
    static struct fv_tail tail;
    struct fv_counter_other *record = NULL;
    struct fv_counter_span *made = fv_memory_new(sizeof(*made));

    if (made && fv_lock_is_free(&fv_rt.writer.lock))
        record = fv_tail_next(&tail, &kind, FV_NO_THREAD, sizeof(*record), false);
    if (!record) {
        fv_memory_free(made, sizeof(*made));
        return NULL;
    }
    record->thread = t->id;
    made->sum = &record->sum;
    fv_tail_commit(&tail, sizeof(*record));
    return made;
}

void fv_counters_other_begin(const struct fv_thread *t, struct fv_counter_span **of)
{
    unsigned flags;

    if (!t->counters)
        return;
    *of = *of ? *of : make_other(t);
    if (*of)
        read_other(t, &(*of)->since, (*of)->in_mpi_since, &flags);
}

void fv_counters_other_end(const struct fv_thread *t, uint32_t section, struct fv_counter_span **of, bool was_there,
                           uint64_t ticks)
{
    struct fv_counter_reading now;
    uint64_t in_mpi[FV_COUNTERS];
    unsigned flags;

    *of = *of || !t->counters ? *of : make_other(t);
    if (!*of || !read_other(t, &now, in_mpi, &flags))
        return;
    struct fv_counter_span *o = *of;
    if (!was_there) {
        o->since = (struct fv_counter_reading){ 0 };
        memset(o->in_mpi_since, 0, sizeof(o->in_mpi_since));
    }
    fv_counters_add(o->sum, &now, &o->since);
    for (unsigned i = 0; i < fv_counters_wanted(); i++)
        o->sum->at[i].in_mpi += in_mpi[i] > o->in_mpi_since[i] ? in_mpi[i] - o->in_mpi_since[i] : 0;
    o->sum->section = section;
    o->sum->flags |= flags;
    o->sum->ticks += ticks;
    __atomic_store_n(&o->sum->last, fv_ticks(), __ATOMIC_RELEASE);
}

void fv_counters_other_clear(struct fv_counter_span *of)
{
    if (!of)
        return;
    memset(of->sum->at, 0, sizeof(of->sum->at));
    of->sum->ticks = 0;
}

const struct fv_layer fv_counters_others_layer = { .at = { [FV_AT_EXIT] = fv_counters_update_all } };
