/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: one-sided communication. When its operations are complete follows from the
 * synchronisation. */
#include "transcript/transcript_state.h"

#include "merge/calls.h"

static uint64_t peer_of(const struct fv_record *m)
{
    return m->peer == FV_PEER_ALL ? (uint64_t)-1 : m->peer;
}

static void moved(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m, uint32_t window)
{
    if (m->kind != FV_REC_RMA_GET) {
        fv_transcript_note_moved(&h->call.sent, m->sent);
        fv_transcript_note_peer(t, h, t->merge->defs.windows[m->ref].comm, m->peer, m->sent);
    }
    if (m->kind == FV_REC_RMA_GET || (m->kind == FV_REC_RMA_ATOMIC && m->received))
        fv_transcript_note_moved(&h->call.received, m->received);
    if (m->kind == FV_REC_RMA_PUT)
        FV_TRANSCRIPT_DETAIL(h, PUT, window, m->peer, m->sent, 0);
    else if (m->kind == FV_REC_RMA_GET)
        FV_TRANSCRIPT_DETAIL(h, GET, window, m->peer, m->received, 0);
    else
        FV_TRANSCRIPT_DETAIL(h, ATOMIC, window, m->peer, m->sent, m->received, 0);
}

/* Post and start say with whom; complete and wait are with the same. */
static void with_group(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                       uint32_t window)
{
    const struct fv_defs *d = &t->merge->defs;
    const struct fv_call_info info =
        fv_call_info(d->functions[h->call.function].name, d->functions[h->call.function].class);

    FV_TRANSCRIPT_DETAIL(h, RMA_SYNC, window, (uint64_t)-1);
    if (info.sync == FV_RMA_POST || info.sync == FV_RMA_START)
        for (uint32_t i = 0; i < d->groups[m->aux].count; i++)
            FV_TRANSCRIPT_DETAIL(h, MEMBER, d->groups[m->aux].ranks[i]);
}

void fv_transcript_window_done(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m)
{
    if (!h->call.is_open || m->kind == FV_REC_RMA_COLL_BEGIN || m->kind == FV_REC_RMA_END)
        return;
    const struct fv_def_window *w = &t->merge->defs.windows[m->ref];
    const uint32_t comm = fv_transcript_comm(t, w->comm), window = fv_transcript_window(t, m->ref);

    h->call.comm = h->call.comm ? h->call.comm : comm;
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_WIN_CREATE: FV_TRANSCRIPT_DETAIL(h, WIN_NEW, window, comm, w->sequence); break;
    case FV_REC_WIN_DESTROY: FV_TRANSCRIPT_DETAIL(h, WIN_GONE, window); break;
    case FV_REC_RMA_COLL_END:
        if (m->op == FV_OP_BARRIER)
            FV_TRANSCRIPT_DETAIL(h, RMA_SYNC, window, (uint64_t)-1);
        break;
    case FV_REC_RMA_GROUP: with_group(t, h, m, window); break;
    case FV_REC_RMA_LOCK: FV_TRANSCRIPT_DETAIL(h, LOCK, window, peer_of(m), m->op); break;
    case FV_REC_RMA_UNLOCK:
    case FV_REC_RMA_SYNC: FV_TRANSCRIPT_DETAIL(h, RMA_SYNC, window, peer_of(m)); break;
    default: moved(t, h, m, window);
    }
}
