/* SPDX-License-Identifier: BSD-3-Clause */
/* See looks.h. */
#include "profile/looks/looks.h"
#include "profile/hang/hang.h"
#include "profile/build.h"
#include "profile/looks/looks_relations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

const char *fv_looked_name(enum fv_looked_how how)
{
#define NAME(name, number, word, why) \
    case FV_LOOKED_##name: return word;
    switch (how) {
        FV_LOOKED_HOWS(NAME)
    }
    return "unknown";
}

const char *fv_looked_why(enum fv_looked_how how)
{
#define WHY(name, number, word, why) \
    case FV_LOOKED_##name: return why;
    switch (how) {
        FV_LOOKED_HOWS(WHY)
    }
    return NULL;
}

/* A record, as the model has its numbers. */
struct item {
    uint32_t rank, node;
    const char *function;
    double at_s;
    struct fv_look look;
};
struct reading {
    struct item *items;
    size_t count, room;
    uint64_t newest;
};

static uint64_t request_of(uint64_t look)
{
    return look >> FV_LOOK_SHIFT << FV_LOOK_SHIFT;
}

static void add(struct fv_build *b, struct reading *r, uint32_t rank, const struct fv_look *look)
{
    const struct fv_seen_looks *seen = b->seen;
    struct fv_build_file *file = &b->files[rank];

    if (seen && request_of(look->look) != seen->request && !(seen->or_newer && request_of(look->look) > seen->request))
        return;
    if (request_of(look->look) > r->newest)
        r->newest = request_of(look->look);
    FV_GROW(r->items, r->room, r->count + 1);
    struct item *out = &r->items[r->count++];
    *out = (struct item){ .rank = rank, .at_s = NAN, .look = *look };
    out->look.file[FV_LOOK_FILE - 1] = '\0';
    if (look->ticks)
        out->at_s = fv_build_time(b->model, rank, look->ticks);
    out->node = fv_build_node_of(b, file, look->call_begin ? look->call_path : look->path);
    if (look->call_begin)
        out->function = b->model->functions[fv_build_function_of(b, file, look->function)].name;
}

static void *begin_looks(struct fv_build *b)
{
    struct reading *r = fv_xcalloc(1, sizeof(*r));

    r->newest = b->seen ? b->seen->request : 0;
    return r;
}

static void read_looks(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_LOOKS);
    struct fv_look copy;

    for (const struct fv_look *p; (p = fv_cursor_next(&c));) {
        memcpy(&copy, p, sizeof(copy)); /* it may be written again meanwhile */
        add(b, state, rank, &copy);
    }
}

static uint32_t rank_of(const struct fv_model *m, int world_rank)
{
    size_t at = FV_COUNT_BEFORE(i, m->rank_count, m->ranks[i].world_rank < world_rank);

    return at < m->rank_count && m->ranks[at].world_rank == world_rank ? (uint32_t)at : FV_NONE;
}

/* By rank, thread and look; what was seen from outside before what the thread says itself. */
static int by_thread(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->look.tid != y->look.tid)
        return x->look.tid < y->look.tid ? -1 : 1;
    if (x->look.look != y->look.look)
        return x->look.look < y->look.look ? -1 : 1;
    return (x->look.ticks > y->look.ticks) - (x->look.ticks < y->look.ticks);
}

static const struct fv_thread_view *thread_of(const struct fv_model *m, uint32_t rank, uint32_t tid)
{
    const struct fv_rank *r = &m->ranks[rank];

    for (uint32_t i = 0; i < r->threads; i++)
        if (m->threads[r->first_thread + i].tid == tid && m->threads[r->first_thread + i].alive)
            return &m->threads[r->first_thread + i];
    return NULL;
}

/* Of one that was not interrupted: the call of MPI that it is in. */
static void take_call(struct fv_model *m, struct fv_looks_thread *out, const struct fv_in_call_view *in)
{
    if (!in->active || in->function == FV_NONE)
        return;
    out->function = m->functions[in->function].name;
    out->node = in->node;
}

static bool is_of_process(const struct item *items, size_t count, uint32_t rank, uint32_t tid)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].rank == rank && items[i].look.tid == tid)
            return true;
    return false;
}

static bool is_new_place(const struct fv_looks *l, const struct fv_looks_thread *t, uint32_t node)
{
    for (uint32_t i = 0; i < t->places; i++)
        if (l->places[t->first_place + i] == node)
            return false;
    return true;
}

static void add_answer(struct fv_looks *l, struct fv_looks_thread *out, const struct item *item, uint64_t *call)
{
    out->different += is_new_place(l, out, item->node);
    FV_GROW(l->places, l->place_room, l->place_count + 1);
    l->places[l->place_count++] = out->node = item->node;
    out->calls += !out->places || *call != item->look.call_begin;
    *call = item->look.call_begin;
    out->places++;
    out->function = item->function;
    out->system_call = item->look.system_call;
    out->holder = item->look.holder;
    l->at_s = isfinite(l->at_s) ? fmax(l->at_s, item->at_s) : item->at_s;
}

/* All looks at one thread. */
static void add_thread(struct fv_model *m, const struct reading *r, const struct item *item, size_t count)
{
    struct fv_looks *l = fv_model_looks(m);
    const struct fv_thread_view *t = thread_of(m, item->rank, item->look.tid);
    struct fv_looks_thread out = { .rank = item->rank, .thread = t ? t->id : FV_NONE, .tid = item->look.tid };
    uint64_t call = 0;

    out.is_main = t ? t->main : item->look.tid == m->ranks[item->rank].pid;
    out.first_place = (uint32_t)l->place_count;
    for (size_t i = 0; i < count; i++) {
        const struct fv_look *look = &item[i].look;
        bool is_last = i + 1 == count, is_answer = look->ticks;

        out.looks += !i || look->look != look[0].look || item[i - 1].look.look != look->look;
        out.state = look->state ? (char)look->state : out.state;
        if (look->file[0])
            out.file = fv_arena_string(&m->arena, look->file);
        if (is_answer)
            add_answer(l, &out, &item[i], &call);
        else
            out.system_call = look->system_call;
        if (is_last)
            out.how = is_answer || look->how != FV_LOOK_TAKEN ? look->how : FV_LOOK_SILENT;
    }
    if (out.how != FV_LOOK_TAKEN && t)
        take_call(m, &out, &t->in_call);
    if (out.holder && !is_of_process(r->items, r->count, out.rank, out.holder))
        out.holder = 0;
    FV_GROW(l->items, l->room, l->count + 1);
    l->items[l->count++] = out;
}

/* Where no process of another host can be asked. */
static bool is_elsewhere(const struct fv_build *b, const struct fv_rank *r)
{
    struct utsname own;

    return b->seen && !uname(&own) && strcmp(own.nodename, r->host) != 0;
}

static void add_rank(struct fv_build *b, uint32_t rank)
{
    struct fv_model *m = b->model;
    struct fv_looks *l = fv_model_looks(m);
    const struct fv_rank *r = &m->ranks[rank];
    struct fv_looks_thread out = {
        .rank = rank, .thread = FV_NONE, .is_main = true, .system_call = FV_LOOK_UNKNOWN_CALL
    };

    /* what a look from outside saw is known to who looked alone */
    out.how = fv_rank_has_ended(r)             ? FV_LOOKED_ENDED
              : r->stopped                     ? FV_LOOKED_STOPPED
              : r->state == FV_RANK_RUNNING    ? (b->seen ? FV_LOOKED_NO_SIGNAL : FV_LOOKED_UNTOLD)
              : r->signal.number || r->aborted ? FV_LOOKED_DEAD
              : is_elsewhere(b, r)             ? FV_LOOKED_ELSEWHERE
                                               : FV_LOOKED_DEAD;
    take_call(m, &out, &r->in_call);
    FV_GROW(l->items, l->room, l->count + 1);
    l->items[l->count++] = out;
}

static int by_rank(const void *a, const void *b)
{
    const struct fv_looks_thread *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->is_main != y->is_main)
        return x->is_main ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Looks that were asked for before are dropped. */
static void choose(struct reading *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->count; i++)
        if (request_of(r->items[i].look.look) == r->newest)
            r->items[kept++] = r->items[i];
    r->count = kept;
    if (kept)
        qsort(r->items, kept, sizeof(*r->items), by_thread);
}

static void add_seen(struct fv_build *b, struct reading *r)
{
    for (size_t i = 0; b->seen && i < b->seen->count; i++) {
        uint32_t rank = rank_of(b->model, b->seen->items[i].world_rank);

        if (rank != FV_NONE)
            add(b, r, rank, &b->seen->items[i].look);
    }
}

static void add_all(struct fv_build *b, const struct reading *r, bool *met)
{
    struct fv_looks *l = fv_model_looks(b->model);

    for (size_t i = 0, end; i < r->count; i = end) {
        for (end = i; end < r->count && r->items[end].rank == r->items[i].rank &&
                      r->items[end].look.tid == r->items[i].look.tid;)
            end++;
        uint32_t looks = (uint32_t)(r->items[end - 1].look.look & (FV_LOOK_MOST - 1)) + 1;

        add_thread(b->model, r, &r->items[i], end - i);
        met[r->items[i].rank] = true;
        l->looks = looks > l->looks ? looks : l->looks;
    }
}

static void finish_looks(struct fv_build *b, void *state)
{
    struct fv_model *m = b->model;
    struct fv_looks *l = fv_model_looks(m);
    struct reading *r = state;
    bool *met = fv_xcalloc(m->rank_count + 1, sizeof(*met));

    add_seen(b, r);
    choose(r);
    l->request = r->newest;
    l->at_s = NAN;
    add_all(b, r, met);
    for (uint32_t rank = 0; r->newest && rank < m->rank_count; rank++)
        if (!met[rank])
            add_rank(b, rank);
    if (l->count)
        qsort(l->items, l->count, sizeof(*l->items), by_rank);
    free(met);
    free(r->items);
    free(r);
}

const struct fv_track fv_track_looks = {
    .name = "looks",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_LOOKS },
    .begin = begin_looks,
    .read = read_looks,
    .finish = finish_looks,
    .of_process = true,
};

#define SINCE_S 1e-3 /* more than threads answer one after the other, and clocks are apart */

bool fv_looks_are_past(const struct fv_model *m, uint32_t rank)
{
    const struct fv_hang *h = fv_model_hang(m);

    return m->ranks[rank].in_call.begin_s > fv_model_looks(m)->at_s + SINCE_S &&
           !(h && h->ranks[rank].state == FV_HANG_ASKS);
}

void fv_looks_fold(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_looks *l = fv_model_looks(m);

    for (size_t i = 0; i < l->count; i++)
        l->items[i].node = fv_alike(alikes, l->items[i].node);
    for (size_t i = 0; i < l->place_count; i++)
        l->places[i] = fv_alike(alikes, l->places[i]);
}

void fv_looks_release(void *data)
{
    struct fv_looks *l = data;

    free(l->items);
    free(l->places);
}
