/* SPDX-License-Identifier: BSD-3-Clause */
/* See collect.h: what threads wait for each other, and how late locks make them.
 *
 * A thread that waits for a lock comes later by that time. One that waits at a barrier or for a join is let
 * go by another: it would have been let go earlier by what locks had made that one late, but not before it
 * came itself. So it is late by its own lateness and this wait, at most by the lateness of the other. Who
 * waits for a thread that computes is not late by a lock. */
#include "analysis/collect_state.h"
#include "merge/threads.h"

static bool is_lock(unsigned wait)
{
    return wait == FV_TW_LOCK || wait == FV_TW_OMP_LOCK;
}

/* The other thread of this rank that was waited for; NULL: it is not known. */
static const struct fv_call_thread *cause_of(const struct fv_rank_collect *r, const struct fv_call_thread *t,
                                             const struct fv_record *leave)
{
    uint64_t slot = leave->id >> 32;
    const struct fv_call_thread *cause =
        leave->id != FV_LOCATION_NONE && slot < r->thread_count ? &r->threads[slot] : NULL;

    return cause != t ? cause : NULL;
}

static void tally(struct fv_rank_collect *r, const struct fv_call_thread *t, const struct fv_call_thread *cause,
                  const struct fv_record *leave)
{
    struct fv_tallies *out = r->all->tallies;
    uint32_t rank = r->all->steps->lines[t->line].rank, kind = leave->op;

    fv_tallies_add(out, &(struct fv_tally){ FV_TALLY_THREAD_SITE, t->region.context, rank, t->region.ref << 8 | kind,
                                            t->region.peer, 0, 1, leave->sent });
    fv_tallies_add(out, &(struct fv_tally){ FV_TALLY_THREAD_LINE, 0, t->line, kind, 0, 0, 1, leave->sent });
    if (cause)
        fv_tallies_add(out, &(struct fv_tally){ FV_TALLY_THREAD_CAUSE, 0, cause->line, kind, 0, 0, 1, leave->sent });
}

static void waited(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *leave)
{
    const struct fv_call_thread *cause = cause_of(r, t, leave);

    if (!leave->op)
        return;
    tally(r, t, cause, leave);
    if (is_lock(leave->op)) {
        t->locks.late_ns += leave->sent;
    } else if (cause) {
        uint64_t late = t->locks.late_ns + leave->sent;

        t->locks.late_ns = late < cause->locks.late_ns ? late : cause->locks.late_ns;
    }
}

static void remember(struct fv_pendings *p, uint64_t number, const struct fv_call_thread *t)
{
    if (number && !fv_pendings_find(p, number))
        fv_pendings_add(p, &(struct fv_pending){ .number = number, .sent = t->locks.late_ns });
}

/* A thread that begins is as late as who made it was then: it cannot help that. */
static void begin(struct fv_pendings *p, uint64_t number, struct fv_call_thread *t)
{
    const struct fv_pending *made = number ? fv_pendings_find(p, number) : NULL;

    if (made)
        t->locks.late_ns = t->locks.at_call_ns = made->sent;
}

/* One that there was before waited for the parallel region since the last that is known of it. */
static void begin_part(struct fv_pendings *p, const struct fv_record *m, struct fv_call_thread *t)
{
    const struct fv_pending *made = m->sent ? fv_pendings_find(p, m->sent) : NULL;
    uint64_t late = t->locks.late_ns + (m->time_ns - t->locks.last_ns);

    if (made)
        t->locks.late_ns = late < made->sent ? late : made->sent;
}

static void forget(struct fv_pendings *p, uint64_t number)
{
    struct fv_pending *made = number ? fv_pendings_find(p, number) : NULL;

    if (made)
        fv_pendings_remove(p, made);
}

void fv_collect_of_thread(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_REGION_ENTER: t->region = *m; break;
    case FV_REC_REGION_LEAVE: waited(r, t, m); break;
    case FV_REC_THREAD_CREATE: remember(&r->births, m->id, t); break;
    case FV_REC_THREAD_BEGIN:
        begin(&r->births, m->id, t);
        forget(&r->births, m->id);
        break;
    case FV_REC_OMP_FORK: remember(&r->forks, m->sent, t); break;
    case FV_REC_TEAM_BEGIN: begin_part(&r->forks, m, t); break;
    case FV_REC_OMP_JOIN: forget(&r->forks, m->sent); break;
    default: break;
    }
    t->locks.last_ns = m->time_ns;
}

uint16_t fv_collect_locked(struct fv_call_thread *t, uint64_t ns)
{
    struct fv_lock_clock *c = &t->locks;
    uint64_t late = c->late_ns > c->at_call_ns ? c->late_ns - c->at_call_ns : 0;

    c->at_call_ns = c->late_ns;
    return late >= ns ? (ns ? FV_LOCKED : 0) : (uint16_t)((double)late / (double)ns * FV_LOCKED + 0.5);
}
