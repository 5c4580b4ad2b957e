/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: the first pass over a rank. It takes the records that import_rank.c makes of the events, and
 * notes what OTF2 says at an operation's end by the number of its beginning. */
#include "otf2/import_state.h"

#include <stdlib.h>
#include <string.h>

struct surveying {
    struct fv_sink sink; /* first: a sink is one of these */
    struct fv_import_survey *out;
    struct fv_pendings receives, collectives; /* by request: the number of the beginning */
    uint64_t without_end;
    uint64_t *in_collective; /* by thread: its number; + 1 */
    uint64_t *samples;       /* likewise */
    bool *calls;
};

static void note(uint32_t **items, size_t *count, size_t *room, uint32_t value)
{
    *items = fv_grow(*items, room, *count + 1, sizeof(**items));
    (*items)[(*count)++] = value;
}

static void begin_collective(struct surveying *v, uint32_t slot, const struct fv_record *m)
{
    struct fv_import_survey *o = v->out;

    if (m->kind == FV_REC_COLL_BEGIN)
        v->in_collective[slot] = o->collective_count + 1;
    else if (!fv_pendings_find(&v->collectives, m->id))
        fv_pendings_add(&v->collectives, &(struct fv_pending){ .number = m->id, .sent = o->collective_count });
    note(&o->collectives, &o->collective_count, &o->collective_room, FV_NONE);
}

static void end_collective(struct surveying *v, uint32_t slot, const struct fv_record *m)
{
    if (m->kind == FV_REC_COLL_END) {
        if (v->in_collective[slot])
            v->out->collectives[v->in_collective[slot] - 1] = m->ref;
        v->in_collective[slot] = 0;
        return;
    }
    struct fv_pending *p = fv_pendings_find(&v->collectives, m->id);
    if (!p)
        return;
    v->out->collectives[p->sent] = m->ref;
    fv_pendings_remove(&v->collectives, p);
}

static void post(struct surveying *v, const struct fv_record *m)
{
    struct fv_import_survey *o = v->out;

    if (fv_pendings_find(&v->receives, m->id))
        v->without_end++; /* its number is used again */
    else
        fv_pendings_add(&v->receives, &(struct fv_pending){ .number = m->id, .sent = o->receive_count });
    note(&o->receives, &o->receive_count, &o->receive_room, FV_NONE);
}

static void come(struct surveying *v, const struct fv_record *m)
{
    struct fv_import_survey *o = v->out;
    struct fv_pending *p = fv_pendings_find(&v->receives, m->id);

    if (!p)
        return;
    o->receives[p->sent] = FV_INTERN(o->envelope_index, o->envelopes, o->envelope_count, o->envelope_room,
                                     (uint32_t[]){ m->ref, m->peer, m->tag });
    fv_pendings_remove(&v->receives, p);
}

static void forget(struct surveying *v, uint64_t id)
{
    struct fv_pending *p = fv_pendings_find(&v->receives, id);

    if (p)
        fv_pendings_remove(&v->receives, p);
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct surveying *v = (struct surveying *)(void *)sink;
    struct fv_import_survey *o = v->out;

    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_ENTER:
        o->calls++;
        v->calls[slot] = true;
        FV_INTERN(o->site_index, o->sites, o->site_count, o->site_room, (uint32_t[]){ m->ref, m->context });
        break;
    case FV_REC_IRECEIVE: post(v, m); break;
    case FV_REC_IRECEIVE_END: come(v, m); break;
    case FV_REC_CANCEL: forget(v, m->id); break;
    case FV_REC_COLL_BEGIN:
    case FV_REC_ICOLL_BEGIN: begin_collective(v, slot, m); break;
    case FV_REC_COLL_END:
    case FV_REC_ICOLL_END: end_collective(v, slot, m); break;
    case FV_REC_SAMPLE: v->samples[slot]++; break;
    case FV_REC_PROGRAM_END: o->exit_code = (int64_t)m->id; break;
    default: break;
    }
    return true;
}

static bool nothing(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool nothing_closed(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

void fv_import_survey(struct fv_import *import, uint32_t rank, struct fv_import_survey *out)
{
    struct surveying v = { .sink = { .open = nothing, .put = put, .close = nothing_closed }, .out = out };
    struct fv_import_rank r = {
        .import = import, .rank = rank, .sink = &v.sink, .takes_samples = fv_import_defines_samples(import)
    };
    const size_t threads = import->ranks[rank].location_count;

    const uint64_t before = import->oddities.cut + import->oddities.missing;

    *out = (struct fv_import_survey){ .program = FV_NONE };
    v.in_collective = fv_xcalloc(threads + 1, sizeof(*v.in_collective));
    v.samples = fv_xcalloc(threads + 1, sizeof(*v.samples));
    v.calls = fv_xcalloc(threads + 1, sizeof(*v.calls));
    fv_import_rank_open(&r);
    fv_import_rank_until(&r, UINT64_MAX);
    out->program = r.program;
    out->locks = (uint32_t)r.lock_count;
    out->lock_names = fv_xcalloc(r.lock_count + 1, sizeof(*out->lock_names));
    for (size_t i = 0; i < r.lock_count; i++)
        out->lock_names[i] = r.locks[i].name;
    for (size_t i = 0; i < threads; i++)
        out->samples += v.calls[i] ? v.samples[i] : 0;
    out->has_threads = r.has_threads;
    out->first_ns = r.first_ns;
    out->last_ns = r.last_ns;
    out->events = r.events;
    fv_import_rank_close(&r);
    out->is_cut = import->oddities.cut + import->oddities.missing > before;
    FV_IMPORT_ODD(import, no_end, v.receives.count + v.collectives.count + v.without_end);
    fv_pendings_release(&v.receives);
    fv_pendings_release(&v.collectives);
    free(v.in_collective);
    free(v.samples);
    free(v.calls);
}

void fv_import_survey_release(struct fv_import_survey *s)
{
    free(s->lock_names);
    free(s->envelopes);
    free(s->receives);
    free(s->collectives);
    free(s->sites);
    fv_index_release(&s->envelope_index);
    fv_index_release(&s->site_index);
}
