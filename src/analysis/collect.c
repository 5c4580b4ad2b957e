/* See collect.h: steps, and which part takes which record. */
#include "analysis/collect_state.h"

#include <stdlib.h>

void fv_collect_init(struct fv_collect *c, const struct fv_merge *m, const struct fv_sites *sites,
                     const struct fv_groups *groups, struct fv_steps *steps, struct fv_tallies *tallies)
{
    *c = (struct fv_collect){
        .merge = m, .sites = sites, .groups = groups, .steps = steps, .tallies = tallies
    };
    c->traits = fv_xcalloc(m->defs.function_count + 1, 1);
    for (size_t i = 0; i < m->defs.function_count; i++)
        c->traits[i] = (uint8_t)fv_call_traits(m->defs.functions[i].name);
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        c->traced += m->defs.ranks[i].traced != 0;
}

void fv_collect_release(struct fv_collect *c)
{
    free(c->traits);
    free(c->items);
}

/* ---- steps ---- */

/* The step that holds the next dependency of the call: its own, then one more each. */
struct fv_step *fv_collect_dependency(struct fv_rank_collect *r, struct fv_call_thread *t, uint32_t *number)
{
    static struct fv_step nowhere;
    struct fv_steps *steps = r->all->steps;

    if (!t->used++) {
        *number = t->first;
        return fv_step(steps, t->line, t->first);
    }
    *number = steps->lines[t->line].count;
    struct fv_step *s = fv_steps_add(steps, t->line);
    if (!s) {
        r->failed = true;
        nowhere = (struct fv_step){ 0 };
        return &nowhere;
    }
    s->begin = t->begin;
    s->site = t->site;
    s->flags = FV_STEP_MORE;
    s->cause_line = s->comm = FV_NONE;
    return s;
}

/* When the call before ended. */
static uint64_t end_before(const struct fv_rank_collect *r, const struct fv_call_thread *t)
{
    const struct fv_steps *steps = r->all->steps;

    return t->first ? fv_step(steps, t->line, t->first - 1)->end : steps->lines[t->line].begin_ns;
}

static void begin_step(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns, uint32_t site)
{
    struct fv_step *s = fv_steps_add(r->all->steps, t->line);

    t->used = 0;
    t->site = site;
    t->begin = ns;
    if (!s) {
        r->failed = true;
        return;
    }
    t->first = r->all->steps->lines[t->line].count - 1;
    s->begin = s->end = ns;
    s->site = site;
    if (t->locks.late_ns != t->locks.at_call_ns) {
        uint64_t before = end_before(r, t);

        s->locked = fv_collect_locked(t, ns > before ? ns - before : 0);
    }
    s->cause_line = s->comm = FV_NONE;
}

static void end_step(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns)
{
    struct fv_steps *steps = r->all->steps;

    for (uint32_t i = t->first; i < steps->lines[t->line].count; i++)
        fv_step(steps, t->line, i)->end = ns;
}

/* ---- telling ---- */

void fv_collect_tell(struct fv_rank_collect *r, const struct fv_item *item)
{
    struct fv_collect *c = r->all;

    FV_GROW(c->items, c->room, c->count + 1);
    c->items[c->count++] = *item;
}

struct fv_item fv_collect_item(const struct fv_call_thread *t, enum fv_item_kind kind, uint64_t key)
{
    return (struct fv_item){ .key = key,
                             .ns = t->begin,
                             .line = t->line,
                             .site = t->site,
                             .step = t->first,
                             .reply = FV_NONE,
                             .kind = (uint8_t)kind };
}

uint64_t fv_collect_channel(uint32_t space, uint32_t from, uint32_t to, uint32_t tag)
{
    return fv_mix2(fv_mix2(space, (uint64_t)from << 32 | to), tag);
}

/* ---- records ---- */

static void enter(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    t->function = m->ref;
    t->traits = r->all->traits[m->ref];
    begin_step(r, t, m->time_ns, fv_sites_find(r->all->sites, m->ref, m->context));
    if (t->traits & FV_CALL_PROBE && !r->failed)
        fv_step(r->all->steps, t->line, t->first)->flags |= FV_STEP_PROBE;
}

static void measure(struct fv_rank_collect *r, struct fv_call_thread *t, bool on, uint64_t ns)
{
    if (!on) {
        t->off = ns + !ns;
        return;
    }
    if (!t->off)
        return;
    begin_step(r, t, t->off, FV_NONE);
    if (!r->failed) {
        struct fv_step *s = fv_step(r->all->steps, t->line, t->first);

        s->flags = FV_STEP_PAUSE;
        s->end = ns;
    }
    t->off = 0;
}

static void end_program(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns)
{
    measure(r, t, true, ns);
    r->all->steps->lines[t->line].end_ns = ns;
    begin_step(r, t, ns, FV_NONE);
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct fv_rank_collect *r = (struct fv_rank_collect *)(void *)sink;
    struct fv_call_thread *t = &r->threads[slot];
    struct fv_line *l = &r->all->steps->lines[t->line];

    if (slot) { /* a thread is there from its first event to its last */
        /* Where it took over the slot of one that made no calls, from its own first one. */
        if (!t->met || (m->kind == FV_REC_THREAD_BEGIN && !l->count))
            l->begin_ns = m->time_ns;
        l->end_ns = m->time_ns;
        t->met = true;
    }
    if (FV_RECORD_IS_OF_THREAD(m->kind)) { /* steps are of calls of MPI */
        fv_collect_of_thread(r, t, m);
        return true;
    }
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_PROGRAM_BEGIN: l->begin_ns = m->time_ns; break;
    case FV_REC_PROGRAM_END: end_program(r, t, m->time_ns); break;
    case FV_REC_MEASURE: measure(r, t, m->op, m->time_ns); break;
    case FV_REC_ENTER: enter(r, t, m); break;
    case FV_REC_LEAVE:
        fv_collect_whole(r, t, m->time_ns);
        end_step(r, t, m->time_ns);
        break;
    case FV_REC_SEND:
    case FV_REC_ISEND: fv_collect_send(r, t, m); break;
    case FV_REC_RECEIVE: fv_collect_receive(r, t, m); break;
    case FV_REC_MATCHED: fv_collect_matched(r, t, m); break;
    case FV_REC_IRECEIVE: fv_collect_posted(r, t, m); break;
    case FV_REC_ISEND_END: fv_collect_send_end(r, t, m->id); break;
    case FV_REC_IRECEIVE_END: fv_collect_receive_end(r, t, m); break;
    case FV_REC_CANCEL: fv_collect_cancel(r, m); break;
    case FV_REC_COLL_END: fv_collect_collective(r, t, m, NULL); break;
    case FV_REC_ICOLL_BEGIN: fv_collect_request(r, t, m->id); break;
    case FV_REC_ICOLL_END: fv_collect_request_end(r, t, m); break;
    case FV_REC_RMA_COLL_END: fv_collect_window(r, t, m); break;
    case FV_REC_RMA_GROUP: fv_collect_epoch(r, t, m); break;
    case FV_REC_RMA_LOCK: fv_collect_lock(r, t, m); break;
    case FV_REC_RMA_UNLOCK: fv_collect_unlock(r, t, m); break;
    case FV_REC_RMA_PUT:
    case FV_REC_RMA_GET:
    case FV_REC_RMA_ATOMIC: r->last_op_ns = m->time_ns; break;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_BEGIN: fv_collect_file(r, t, m); break;
    default: break;
    }
    return !r->failed;
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool close_look_ahead(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_rank_collect *r = (struct fv_rank_collect *)(void *)sink;
    struct fv_call_thread *t = &r->threads[slot];

    if (slot && t->off)
        measure(r, t, true, r->all->steps->lines[t->line].end_ns);
    return !r->failed;
}

static void find_neighbours(struct fv_rank_collect *r, const struct fv_merge_file *file)
{
    struct fv_cursor c = fv_cursor(file->reader, FV_CHUNK_NEIGHBOURS);

    for (const struct fv_neighbours *n; (n = fv_cursor_next(&c));) {
        uint32_t comm = n->comm < file->map.comm_count ? file->map.comms[n->comm] : FV_NONE;

        if (comm == FV_NONE)
            continue;
        FV_GROW(r->neighbours, r->neighbour_room, r->neighbour_count + 1);
        r->neighbours[r->neighbour_count++] = (struct neighbours){ comm, n };
    }
}

struct fv_rank_collect *fv_collect_rank(struct fv_collect *c, const struct fv_merge_file *file)
{
    const struct fv_defs *d = &c->merge->defs;
    struct fv_rank_collect *r = fv_xcalloc(1, sizeof(*r));
    uint32_t rank = file->rank;

    r->all = c;
    r->world = d->ranks[rank].world_rank;
    r->thread_count = d->ranks[rank].thread_count;
    r->threads = fv_xcalloc(r->thread_count + 1, sizeof(*r->threads));
    for (uint32_t i = 0; i < r->thread_count; i++)
        r->threads[i] = (struct fv_call_thread){ .line = c->steps->first_line[rank] + i, .site = FV_NONE };
    fv_receives_init(&r->posted, fv_collect_tell_receive, r);
    find_neighbours(r, file);
    r->sink = (struct fv_sink){ .context = r, .open = open_location, .put = put, .close = close_location };
    return r;
}

static bool put_cancelled(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct fv_rank_collect *r = sink->context;

    (void)slot;
    if (m->kind == FV_REC_CANCEL && !m->op)
        fv_pendings_add(&r->cancelled, &(struct fv_pending){ .number = m->id });
    return true;
}

struct fv_sink fv_collect_look_ahead(struct fv_rank_collect *r)
{
    return (struct fv_sink){
        .context = r, .open = open_location, .put = put_cancelled, .close = close_look_ahead
    };
}

struct fv_sink *fv_collect_sink(struct fv_rank_collect *r)
{
    return &r->sink;
}

void fv_collect_rest(struct fv_rank_collect *r)
{
    fv_receives_rest(&r->posted);
}

void fv_collect_answer(struct fv_rank_collect *r, const struct fv_answer *a)
{
    if (a->later)
        fv_collect_send_answer(r, a);
    else
        fv_collect_cause(fv_step(r->all->steps, a->line, (uint32_t)a->reply), a);
}

void fv_collect_rank_release(struct fv_rank_collect *r)
{
    fv_pendings_release(&r->receives);
    fv_pendings_release(&r->begun);
    fv_pendings_release(&r->sends);
    fv_pendings_release(&r->send_numbers);
    fv_pendings_release(&r->matched);
    fv_pendings_release(&r->cancelled);
    fv_pendings_release(&r->births);
    fv_pendings_release(&r->forks);
    fv_index_release(&r->counter_index);
    free(r->counters);
    free(r->neighbours);
    free(r->locks);
    fv_receives_release(&r->posted);
    free(r->threads);
    free(r);
}
