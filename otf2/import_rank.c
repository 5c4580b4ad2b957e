/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: a rank is followed through its events. Where it is in its call tree decides what is a call of MPI
 * and where from; what OTF2 says at the end of an operation is known here from its beginning on, by the first pass. */
#include "otf2/import_state.h"
#include "merge/calls.h"

#include <stdlib.h>
#include <string.h>

/* The time since `since` was spent where the thread is. */
static void spend(struct fv_import_rank *r, struct fv_import_stream *s)
{
    const struct fv_import_location *l = fv_import_at(r->import, FV_IMPORT_LOCATION, s->location);

    if (r->spent && r->is_in && s->depth && !s->call && s->now > s->since)
        r->spent(r->context, l->slot, s->open[s->depth - 1].node, fv_import_in_run(r, s->since),
                 fv_import_in_run(r, s->now));
    s->since = s->now;
}

/* ---- regions ---- */

static uint32_t node_below(struct fv_import_rank *r, const struct fv_import_stream *s, uint32_t module, uint32_t line)
{
    uint32_t parent = s->depth ? s->open[s->depth - 1].node : 0;

    return fv_call_tree_node(r->import->tree, parent, module, line);
}

static void push(struct fv_import_stream *s, uint32_t region, uint32_t node, uint32_t lock)
{
    FV_GROW(s->open, s->room, s->depth + 1);
    s->open[s->depth++] = (struct fv_open_region){ region, node, s->now, lock };
}

static void begin_call(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t function, uint32_t node)
{
    s->call = s->depth + 1;
    r->calls += r->is_in;
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_ENTER,
                                      .ref = fv_import_in_all(r, &r->import->numbers.functions, function),
                                      .context = fv_import_path_in_all(r, node) });
}

static void end_call(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t function)
{
    s->call = 0;
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_LEAVE,
                                      .aux = s->was_cut,
                                      .ref = fv_import_in_all(r, &r->import->numbers.functions, function) });
    s->was_cut = false;
}

/* A function that calls itself stays at its place in the call tree; so does what is too deep. */
static bool is_again(const struct fv_import_stream *s, uint32_t region)
{
    return s->depth && (s->open[s->depth - 1].region == region || s->depth >= FV_IMPORT_DEPTH);
}

static uint32_t caller_of(const struct fv_import_rank *r, const struct fv_import_context *context)
{
    const struct fv_import_context *caller = fv_import_get(r->import, FV_IMPORT_CONTEXT, context->parent);

    return caller ? caller->node : 0;
}

/* On a stream of an accelerator all is a kernel that is nothing else. */
static uint32_t device_kind(const struct fv_import_rank *r, const struct fv_import_stream *s,
                            const struct fv_import_region *g)
{
    const struct fv_import_location *l = fv_import_at(r->import, FV_IMPORT_LOCATION, s->location);

    if (!l || l->type != OTF2_LOCATION_TYPE_ACCELERATOR_STREAM)
        return 0;
    switch (g->role) {
    case OTF2_REGION_ROLE_DATA_TRANSFER:
    case OTF2_REGION_ROLE_RMA: return FV_CALLS_COPY;
    case OTF2_REGION_ROLE_UNKNOWN:
    case OTF2_REGION_ROLE_FUNCTION:
    case OTF2_REGION_ROLE_CODE:
    case OTF2_REGION_ROLE_LOOP:
    case OTF2_REGION_ROLE_PARALLEL: return FV_CALLS_KERNEL;
    default: return 0;
    }
}

/* What is no call of MPI begins, or ends. */
static void put_region(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_import_region *g,
                       bool begins, uint32_t node)
{
    struct fv_record m = { .kind = begins ? FV_REC_INSTANCE : FV_REC_INSTANCE_END,
                           .op = begins ? g->construct : 1,
                           .peer = begins && g->is_section,
                           .aux = begins ? g->line : 0,
                           .tag = begins ? device_kind(r, s, g) : 0,
                           .context = fv_import_path_in_all(r, node) };

    if (g->is_work) {
        m.kind = begins ? FV_REC_WORK_ENTER : FV_REC_WORK_LEAVE;
        m.ref = fv_import_in_all(r, &r->import->numbers.functions, g->threads);
    }
    fv_import_put(r, s, m);
}

/* Of a function of the program our own archives say where it was called from, of all else what called it. */
static uint32_t node_of(struct fv_import_rank *r, const struct fv_import_stream *s, const struct fv_import_region *g,
                        uint32_t said)
{
    bool is_function = g->function == FV_NONE && g->library == FV_NONE && !g->is_work;

    return is_function && !s->call ? fv_call_tree_node(r->import->tree, said, g->module, 0) : said;
}

/* `context`: of what is entered; `event` may say the calling context of the call, + 1, and what is waited for. */
static void enter(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t region,
                  const struct fv_import_context *context, const struct fv_record *event)
{
    const struct fv_import_region *g = fv_import_at(r->import, FV_IMPORT_REGION, region);
    const struct fv_import_context *said =
        event->id ? fv_import_get(r->import, FV_IMPORT_CONTEXT, event->id - 1) : NULL;
    uint32_t node = s->depth ? s->open[s->depth - 1].node : 0;

    if (!g) {
        FV_IMPORT_ODD(r->import, no_reference, 1);
        return;
    }
    spend(r, s);
    if (g->library != FV_NONE)
        fv_import_enter_library(r, s, g, said ? said->node : context ? caller_of(r, context) : node);
    if (context || said)
        node = context ? context->node : node_of(r, s, g, said->node);
    else if (g->function == FV_NONE && !is_again(s, region))
        node = node_below(r, s, g->module, 0);
    if (g->function != FV_NONE && !s->call)
        begin_call(r, s, g->function, node);
    else if (!s->call && g->library == FV_NONE)
        put_region(r, s, g, true, node);
    push(s, region, node, event->aux);
    if (g->is_barrier)
        fv_import_enter_barrier(r, s);
}

/* `event` may say more of it; NULL: nothing does. */
static void pop(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *event)
{
    const struct fv_import_region *g = fv_import_at(r->import, FV_IMPORT_REGION, s->open[s->depth - 1].region);

    uint32_t node = s->open[s->depth - 1].node;

    spend(r, s);
    if (event && event->tag && g->threads != FV_NONE)
        fv_import_leave_wait(r, s, event);
    else if (g->is_barrier)
        fv_import_leave_barrier(r, s);
    if (s->bare > s->depth)
        fv_import_end_bare(r, s);
    s->depth--;
    if (g->library != FV_NONE)
        fv_import_leave_library(r, s, g, event);
    else if (s->call == s->depth + 1)
        end_call(r, s, g->function);
    else if (!s->call)
        put_region(r, s, g, false, node);
}

/* Those inside of it that were not left are left with it; more than so many are not believed. */
#define INSIDE_MOST 1024
static void leave(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t region, const struct fv_record *event)
{
    size_t at = s->depth, least = at > INSIDE_MOST ? at - INSIDE_MOST : 0;

    while (at > least && s->open[at - 1].region != region)
        at--;
    at = at > least ? at : 0;
    FV_IMPORT_ODD(r->import, unbalanced, at ? s->depth - at : 1);
    while (at && s->depth >= at)
        pop(r, s, s->depth == at ? event : NULL);
}

static void in_context(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    const struct fv_import_context *c = fv_import_get(r->import, FV_IMPORT_CONTEXT, m->ref);
    uint32_t region = c ? fv_import_number(r->import, FV_IMPORT_REGION, c->region) : FV_NONE;

    if (region == FV_NONE)
        FV_IMPORT_ODD(r->import, no_reference, 1);
    else if (m->kind == FV_RAW_CONTEXT_ENTER)
        enter(r, s, region, c, m);
    else
        leave(r, s, region, m);
}

/* Of the call that the thread is in; NULL: it has none. */
static const struct fv_import_region *region_now(const struct fv_import_rank *r, const struct fv_import_stream *s)
{
    return s->call && !s->made_call ? fv_import_at(r->import, FV_IMPORT_REGION, s->open[s->call - 1].region) : NULL;
}

static bool is_of_neighbours(const struct fv_import_rank *r, const struct fv_import_stream *s)
{
    const struct fv_import_region *g = region_now(r, s);

    return g && g->neighbours;
}

/* ---- references ---- */

static uint32_t comm_of(struct fv_import_rank *r, uint32_t ref)
{
    const struct fv_import_comm *c = fv_import_get(r->import, FV_IMPORT_COMM, ref);

    return fv_import_find(r, c ? c->number : FV_NONE, &r->import->numbers.comms);
}

static uint32_t window_of(struct fv_import_rank *r, uint32_t ref)
{
    const struct fv_import_window *w = fv_import_get(r->import, FV_IMPORT_WINDOW, ref);

    return fv_import_find(r, w ? w->number : FV_NONE, &r->import->numbers.windows);
}

/* ---- messages ---- */

static void message(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    struct fv_record out = *m;

    out.ref = comm_of(r, m->ref);
    if (out.ref != FV_NONE)
        fv_import_put(r, s, out);
}

/* As if it had been posted for the message that came: among receives of its kind it has the same place. */
static void post(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    struct fv_record out = *m;
    uint64_t number = r->receives++;

    if (r->survey) {
        uint32_t e = number < r->survey->receive_count ? r->survey->receives[number] : FV_NONE;

        if (e == FV_NONE)
            return; /* it never came */
        out.ref = fv_numbers_get(&r->import->numbers.comms, r->survey->envelopes[e].comm);
        out.peer = r->survey->envelopes[e].peer;
        out.tag = r->survey->envelopes[e].tag;
        if (out.ref == FV_NONE)
            return;
    }
    fv_import_put(r, s, out);
}

/* ---- collective operations ---- */

/* All ranks count the operations of a communicator in the order in which these were begun. */
static uint32_t number_of_next(struct fv_import_rank *r)
{
    uint64_t begun = r->begun++;
    uint32_t comm = r->survey && begun < r->survey->collective_count ? r->survey->collectives[begun] : FV_NONE;

    if (comm == FV_NONE)
        return FV_NONE;
    if (comm >= r->number_count) {
        size_t room = r->number_count;

        r->numbers = fv_grow(r->numbers, &room, (size_t)comm + 1, sizeof(*r->numbers));
        memset(r->numbers + r->number_count, 0, (room - r->number_count) * sizeof(*r->numbers));
        r->number_count = room;
    }
    return r->numbers[comm]++;
}

static void end_collective(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m,
                           uint32_t number, bool neighbours)
{
    struct fv_record out = *m;

    out.ref = comm_of(r, m->ref);
    if (out.ref == FV_NONE)
        return;
    out.aux = m->op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE ? FV_NONE : number; /* nobody waits for that */
    out.tag = neighbours;
    out.op = m->op < FV_OP_NONE ? m->op : FV_OP_BARRIER;
    fv_import_put(r, s, out);
}

static void collective(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    switch (m->kind) {
    case FV_REC_COLL_BEGIN:
        s->collective = number_of_next(r);
        fv_import_put(r, s, *m);
        return;
    case FV_REC_COLL_END:
        end_collective(r, s, m, s->collective, is_of_neighbours(r, s));
        s->collective = FV_NONE;
        return;
    case FV_REC_ICOLL_BEGIN:
        fv_pendings_add(
            &r->collectives,
            &(struct fv_pending){ .number = m->id, .tag = number_of_next(r), .neighbour = is_of_neighbours(r, s) });
        fv_import_put(r, s, *m);
        return;
    default: break;
    }
    struct fv_pending *p = fv_pendings_find(&r->collectives, m->id);
    if (!p) {
        FV_IMPORT_ODD(r->import, no_begin, 1);
        return;
    }
    const struct fv_pending begun = *p;
    fv_pendings_remove(&r->collectives, p);
    end_collective(r, s, m, begun.tag, begun.neighbour);
}

/* ---- windows ---- */

static bool group_of(struct fv_import_rank *r, const struct fv_record *m, uint32_t *out)
{
    const struct fv_import_group *g =
        fv_import_get(r->import, FV_IMPORT_GROUP, fv_import_group_ref(m->aux, OTF2_GROUP_TYPE_COMM_GROUP));

    *out = g ? g->number : FV_NONE;
    FV_IMPORT_ODD(r->import, no_reference, !g);
    return *out != FV_NONE;
}

static void note_operation(struct fv_import_rank *r, const struct fv_import_stream *s, const struct fv_record *m)
{
    const struct fv_import_region *g = region_now(r, s);

    if (g && g->calls_request && !fv_pendings_find(&r->operations, m->id))
        fv_pendings_add(&r->operations, &(struct fv_pending){ .number = m->id, .peer = m->peer });
}

static void window(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    struct fv_record out = *m;

    if (m->kind == FV_REC_RMA_COLL_BEGIN) {
        fv_import_put(r, s, out);
        return;
    }
    out.ref = window_of(r, m->ref);
    if (out.ref == FV_NONE || (m->kind == FV_REC_RMA_GROUP && !group_of(r, m, &out.aux)))
        return;
    if (m->kind == FV_REC_RMA_PUT || m->kind == FV_REC_RMA_GET || m->kind == FV_REC_RMA_ATOMIC)
        note_operation(r, s, m);
    struct fv_pending *p = m->kind == FV_REC_RMA_END ? fv_pendings_find(&r->operations, m->id) : NULL;
    if (p) {
        out.aux = 1;
        out.peer = p->peer;
        fv_pendings_remove(&r->operations, p);
    }
    fv_import_put(r, s, out);
}

/* ---- events ---- */

/* Those that belong into a call of MPI. */
static void in_call(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_SEND:
    case FV_REC_ISEND:
    case FV_REC_RECEIVE:
    case FV_REC_IRECEIVE_END:
    case FV_REC_COMM_CREATE:
    case FV_REC_COMM_DESTROY: message(r, s, m); break;
    case FV_REC_IRECEIVE: post(r, s, m); break;
    case FV_REC_COLL_BEGIN:
    case FV_REC_COLL_END:
    case FV_REC_ICOLL_BEGIN:
    case FV_REC_ICOLL_END: collective(r, s, m); break;
    case FV_REC_ISEND_END:
    case FV_REC_TEST:
    case FV_REC_CANCEL: fv_import_put(r, s, *m); break;
    default: window(r, s, m); break;
    }
}

static const struct fv_import_process *process_of(const struct fv_import_rank *r)
{
    return fv_import_at(r->import, FV_IMPORT_PROCESS, r->import->ranks[r->rank].process);
}

static void end_program(struct fv_import_rank *r, struct fv_import_stream *s, uint64_t status, bool is_unknown)
{
    fv_import_put(r, s, (struct fv_record){ .kind = FV_REC_PROGRAM_END, .id = status, .op = is_unknown });
    r->ended = true;
}

/* What another tool does behind the program's end is none of its time. */
static bool is_behind(const struct fv_import_rank *r, const struct fv_import_stream *s, const struct fv_record *m)
{
    return m->kind == FV_REC_PROGRAM_END && r->import->call_path == FV_NONE && !s->depth && r->last_ns;
}

static void take(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    switch (m->kind) {
    case FV_REC_ENTER: enter(r, s, fv_import_number(r->import, FV_IMPORT_REGION, m->ref), NULL, m); return;
    case FV_REC_LEAVE: leave(r, s, fv_import_number(r->import, FV_IMPORT_REGION, m->ref), m); return;
    case FV_RAW_CONTEXT_ENTER:
    case FV_RAW_CONTEXT_LEAVE: in_context(r, s, m); return;
    case FV_RAW_SAMPLE: fv_import_sample(r, s, m); return;
    case FV_REC_MEASURE:
        spend(r, s);
        s->is_off = !m->op;
        fv_import_put(r, s, *m);
        return;
    case FV_REC_PROGRAM_BEGIN: /* told when the rank is opened */ r->program = m->ref; return;
    case FV_REC_PROGRAM_END:
        if (is_behind(r, s, m))
            s->now = r->last_ns > r->from_ns ? r->last_ns : r->from_ns;
        while (s->depth)
            pop(r, s, NULL);
        end_program(r, s, m->id, !process_of(r) || process_of(r)->state); /* ours say only the code of MPI_Abort */
        return;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_SEEK:
    case FV_REC_IO_BEGIN:
    case FV_REC_IO_ISSUED:
    case FV_REC_IO_END:
    case FV_REC_IO_CANCEL:
    case FV_REC_IO_SAME:
    case FV_REC_IO_DELETE:
    case FV_REC_IO_LOCK: fv_import_file(r, s, m); return;
    default: break;
    }
    if (FV_RECORD_IS_OF_THREAD(m->kind)) {
        fv_import_of_threads(r, s, m);
        return;
    }
    if (s->call) {
        in_call(r, s, m);
        return;
    }
    FV_IMPORT_ODD(r->import, outside, 1);
    s->made_call = 1;
    begin_call(r, s, r->import->any_call, s->depth ? s->open[s->depth - 1].node : 0);
    in_call(r, s, m);
    end_call(r, s, r->import->any_call);
    s->made_call = 0;
}

/* ---- the rank ---- */

#define LATEST_NS (UINT64_C(1) << 60) /* what is later is damaged */

uint64_t fv_import_ns(const struct fv_import *import, uint64_t ticks)
{
    uint64_t after = ticks > import->offset ? ticks - import->offset : 0;
    unsigned __int128 ns = after;

    if (import->resolution)
        ns = ns * UINT64_C(1000000000) / import->resolution;
    return ns < LATEST_NS ? (uint64_t)ns : LATEST_NS;
}

static struct fv_heap_item next_of(const struct fv_import *import, struct fv_import_stream *s, uint32_t slot)
{
    const struct fv_record *m = fv_import_stream_peek(s);
    uint64_t ns = m ? fv_import_ns(import, m->time_ns) : UINT64_MAX;

    return (struct fv_heap_item){ ns > s->now ? ns : s->now, 0, slot };
}

static bool has_next(struct fv_import_stream *s)
{
    return fv_import_stream_peek(s) != NULL;
}

/* ---- a part of the run ---- */

static void go_on_in(struct fv_import_rank *r, struct fv_import_stream *s)
{
    struct fv_open_region *o = &s->open[s->depth];
    const struct fv_import_region *g = fv_import_at(r->import, FV_IMPORT_REGION, o->region);

    o->since = s->now;
    if (g->library != FV_NONE)
        fv_import_go_on_in_library(r, s, g);
    else if (g->function != FV_NONE && !s->call)
        begin_call(r, s, g->function, o->node);
    else if (!s->call)
        put_region(r, s, g, true, o->node);
    s->depth++;
}

/* Where it is in the program, as if all of that began now. */
static void go_on_here(struct fv_import_rank *r, struct fv_import_stream *s)
{
    const size_t depth = s->depth;
    const uint64_t now = s->now;

    s->now = s->since = r->from_ns;
    if (s->is_off)
        fv_import_put(r, s, (struct fv_record){ .kind = FV_REC_MEASURE });
    fv_import_begin_teams(r, s);
    s->call = 0;
    for (s->depth = 0; s->depth < depth;)
        go_on_in(r, s);
    if (s->bare)
        fv_import_go_on_in_library(r, s, NULL);
    s->was_cut = s->call;
    r->cut += s->call != 0;
    if (s->call && s->collective != FV_NONE)
        fv_import_put(r, s, (struct fv_record){ .kind = FV_REC_COLL_BEGIN });
    s->now = now;
}

static void begin_program(struct fv_import_rank *r, uint64_t ns)
{
    struct fv_import_stream *s = &r->streams[0];
    const uint64_t now = s->now;

    s->now = ns;
    if (r->import->ranks[r->rank].location_count && r->survey)
        fv_import_put(r, s, (struct fv_record){ .kind = FV_REC_PROGRAM_BEGIN });
    s->now = now;
}

static void begin_part(struct fv_import_rank *r)
{
    r->is_in = true;
    begin_program(r, r->survey->first_ns > r->from_ns ? r->survey->first_ns : r->from_ns);
    for (uint32_t i = 0; i < r->import->ranks[r->rank].location_count; i++)
        go_on_here(r, &r->streams[i]);
    fv_import_begin_metrics(r);
}

/* ns of the archive; base_ns was added to what records have. */
static void take_part(struct fv_import_rank *r)
{
    const struct fv_import_part *part = &r->import->part;
    const bool is_part = r->survey && r->import->is_part;
    const int64_t from = is_part ? (int64_t)part->from_ns - r->base_ns : 0;
    const int64_t to = is_part ? (int64_t)part->to_ns - r->base_ns : 0;

    r->from_ns = from > 0 ? (uint64_t)from : 0;
    r->is_in = !r->from_ns;
    r->to_ns = !is_part || part->to_ns == UINT64_MAX ? UINT64_MAX : to > 0 ? (uint64_t)to : 0;
}

/* Not a thread, and the sink does not know it. */
static void open_recorder(struct fv_import_rank *r, uint32_t number, uint32_t location)
{
    fv_import_stream_open(r->import, location, &r->streams[number]);
    r->streams[number].reads_metrics = true;
    if (has_next(&r->streams[number]))
        fv_heap_push(&r->next, next_of(r->import, &r->streams[number], number));
}

void fv_import_rank_open(struct fv_import_rank *r)
{
    const struct fv_import_rank_def *def = &r->import->ranks[r->rank];

    r->program = FV_NONE;
    take_part(r);
    r->takes_metrics = r->transcript || r->import->series;
    r->stream_count = def->location_count + (r->takes_metrics ? def->recorder_count : 0);
    r->streams = fv_xcalloc((size_t)r->stream_count + 1, sizeof(*r->streams));
    for (uint32_t i = def->location_count; i < r->stream_count; i++)
        open_recorder(r, i, def->recorders[i - def->location_count]);
    for (uint32_t i = 0; i < def->location_count; i++) {
        fv_import_stream_open(r->import, def->locations[i], &r->streams[i]);
        r->streams[i].reads_metrics = r->takes_metrics || r->takes_samples;
        if (!i && r->survey)
            r->streams[0].now = r->survey->first_ns;
        if (r->locations)
            r->locations[i] = (struct fv_location_stats){ .location = fv_location_of(r->rank, i) };
        r->failed = !r->sink->open(r->sink, i, fv_location_of(r->rank, i)) || r->failed;
        if (has_next(&r->streams[i]))
            fv_heap_push(&r->next, next_of(r->import, &r->streams[i], i));
    }
    if (r->is_in)
        begin_program(r, r->streams[0].now);
}

#define WATCHED 4096 /* events */

static void watch(struct fv_import_rank *r)
{
    const struct fv_import_watch *w = &r->import->watch;

    if (w->progress && !r->is_quiet)
        w->progress(w->context, WATCHED * FV_IMPORT_EVENT_BYTES);
    r->failed = r->failed || *w->stop;
}

static void go_on(struct fv_import_rank *r, uint32_t slot)
{
    r->streams[slot].next++;
    if (has_next(&r->streams[slot]))
        fv_heap_replace(&r->next, next_of(r->import, &r->streams[slot], slot));
    else
        fv_heap_pop(&r->next);
}

bool fv_import_rank_until(struct fv_import_rank *r, uint64_t time_ns)
{
    while (!r->failed && r->next.count) {
        uint32_t slot = r->next.items[0].number;
        struct fv_import_stream *s = &r->streams[slot];
        uint64_t ns = r->next.items[0].time;

        if (time_ns != UINT64_MAX && fv_import_in_run(r, ns) > time_ns)
            break;
        if (FV_UNLIKELY(ns > r->to_ns))
            break;
        if (FV_UNLIKELY(!r->is_in && ns >= r->from_ns))
            begin_part(r);
        const struct fv_record *m = &s->ahead[s->next];
        FV_IMPORT_ODD(r->import, backward, fv_import_ns(r->import, m->time_ns) < s->now);
        s->now = ns;
        if (FV_UNLIKELY(++r->steps % WATCHED == 0))
            watch(r);
        if (m->kind == FV_RAW_METRIC || slot >= r->import->ranks[r->rank].location_count) {
            if (m->kind == FV_RAW_METRIC)
                fv_import_metric(r, s, m);
            go_on(r, slot);
            continue;
        }
        if (m->kind != FV_RAW_SAMPLE || !m->op) { /* a pass that takes no metrics does not see the others */
            r->first_ns = r->events++ && r->first_ns < ns ? r->first_ns : ns;
            r->last_ns = ns > r->last_ns && !is_behind(r, s, m) ? ns : r->last_ns;
        }
        take(r, s, m);
        go_on(r, slot);
    }
    return !r->failed;
}

/* Regions that were not left are left with the thread's last event, or where the part that is taken ends. */
static void end_stream(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t slot)
{
    if (!r->failed && has_next(s)) {
        s->now = r->to_ns;
        r->cut += s->call != 0;
    } else {
        FV_IMPORT_ODD(r->import, unbalanced, r->failed ? 0 : s->depth);
    }
    while (s->depth && !r->failed)
        pop(r, s, NULL);
    if (s->bare && !r->failed)
        fv_import_end_bare(r, s);
    if (!slot && !r->ended && !r->failed) {
        s->now = r->survey && r->survey->last_ns > s->now ? r->survey->last_ns : s->now;
        s->now = s->now < r->to_ns ? s->now : r->to_ns;
        s->now = s->now > r->from_ns ? s->now : r->from_ns;
        end_program(r, s, 0, true);
    }
    r->failed = !r->sink->close(r->sink, slot) || r->failed;
    fv_import_stream_close(s);
}

bool fv_import_rank_close(struct fv_import_rank *r)
{
    const uint32_t threads = r->import->ranks[r->rank].location_count;

    if (!r->is_in && !r->failed)
        begin_part(r);
    fv_import_end_metrics(r);
    for (uint32_t i = threads; i < r->stream_count; i++)
        fv_import_stream_close(&r->streams[i]);
    for (uint32_t i = 0; i < threads; i++)
        end_stream(r, &r->streams[i], i);
    if (r->survey && !r->failed && !r->survey->is_cut && r->to_ns == UINT64_MAX && r->events < r->survey->events) {
        const bool is_stopped = r->import->watch.stop && *r->import->watch.stop;

        if (!is_stopped && !r->import->short_ranks++) /* one stands for all */
            fv_log("%s: only %llu of the %llu events of rank %u could be read again; allow more open files (ulimit "
                   "-n), or use more processes",
                   r->import->anchor, (unsigned long long)r->events, (unsigned long long)r->survey->events, r->rank);
        r->failed = true;
    }
    fv_pendings_release(&r->collectives);
    fv_pendings_release(&r->operations);
    fv_import_threads_release(r);
    fv_heap_release(&r->next);
    free(r->streams);
    free(r->numbers);
    return !r->failed;
}
