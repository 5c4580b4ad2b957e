/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of fvmpi view (viewer.h): of rows, and of calls of some functions. */
#include "viewer/answer.h"

#if FV_MICROHTTPD

#define MESSAGES 5000 /* in an answer */

/* ---- calls that send or receive ---- */

struct stretch {
    uint64_t begin_ns, end_ns;
};
/* When each row was in calls of some regions; one within another one is in its stretch. */
struct calls {
    const struct fv_timeline_file *timeline;
    const bool *regions;
    uint64_t from_ns, to_ns; /* of ends of messages */
    struct row_calls {
        struct stretch *items; /* by time */
        size_t count, room;
        bool is_known;
    } * rows;
};

static bool take_call(void *context, const struct fv_timeline_seen *slice)
{
    struct calls *c = ((void **)context)[0];
    struct row_calls *row = ((void **)context)[1];

    if (c->regions[slice->region]) {
        FV_GROW(row->items, row->room, row->count + 1);
        row->items[row->count++] = (struct stretch){ slice->begin_ns, slice->begin_ns + slice->ns };
    }
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void join_stretches(struct row_calls *row)
{
    size_t count = 0;

    if (row->count)
        qsort(row->items, row->count, sizeof(*row->items), by_begin);
    for (size_t i = 0; i < row->count; i++) {
        const struct stretch next = row->items[i];
        struct stretch *last = count ? &row->items[count - 1] : NULL;

        if (!last || next.begin_ns > last->end_ns)
            row->items[count++] = next;
        else if (next.end_ns > last->end_ns)
            last->end_ns = next.end_ns;
    }
    row->count = count;
}

/* A call has what its row sends or receives in its time, both ends told. */
static bool is_of(struct calls *c, uint32_t number, uint64_t ns)
{
    if (number >= c->timeline->header->rows.count)
        return false;
    struct row_calls *row = &c->rows[number];

    if (!row->is_known) {
        void *context[] = { c, row };

        row->is_known = true;
        /* also those that end with the first message */
        fv_timeline_times(c->timeline, number, c->from_ns ? c->from_ns - 1 : 0, c->to_ns + 1, take_call, context);
        join_stretches(row);
    }
    const size_t before = FV_COUNT_BEFORE(i, row->count, row->items[i].begin_ns <= ns);

    return before && row->items[before - 1].end_ns >= ns;
}

static void take_ends(void *context, const struct fv_timeline_message *message)
{
    struct calls *c = context;

    c->from_ns = message->sent_ns < c->from_ns ? message->sent_ns : c->from_ns;
    c->to_ns = message->received_ns > c->to_ns ? message->received_ns : c->to_ns;
}

/* Those whose messages may be on their way. */
static struct calls calls_of(const struct fv_timeline_file *t, const struct fv_timeline_window *w, const bool *regions)
{
    struct calls c = { .timeline = t, .regions = regions, .from_ns = UINT64_MAX };

    c.rows = fv_xcalloc(t->header->rows.count + 1, sizeof(*c.rows));
    fv_timeline_messages(t, w->from, w->to, take_ends, &c);
    return c;
}

static bool is_of_calls(void *calls, const struct fv_timeline_message *m)
{
    return is_of(calls, m->from, m->sent_ns) || is_of(calls, m->to, m->received_ns);
}

static void release_calls(struct calls *c)
{
    for (uint64_t i = 0; i < c->timeline->header->rows.count; i++)
        free(c->rows[i].items);
    free(c->rows);
}

/* ---- messages ---- */

struct largest {
    struct fv_timeline_message items[2 * MESSAGES];
    const struct fv_timeline_window *window;
    struct calls *calls; /* NULL: of any function */
    uint64_t all, most;  /* most: of more none is wanted */
    size_t count;
};

static int by_bytes(const void *a, const void *b)
{
    const struct fv_timeline_message *x = a, *y = b;

    return x->bytes != y->bytes       ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
           : x->sent_ns != y->sent_ns ? (x->sent_ns > y->sent_ns) - (x->sent_ns < y->sent_ns)
                                      : (x->from > y->from) - (x->from < y->from);
}

static void choose_largest(struct largest *l)
{
    if (l->count)
        qsort(l->items, l->count, sizeof(*l->items), by_bytes);
    l->count = l->count < MESSAGES ? l->count : MESSAGES;
}

static void take_message(void *context, const struct fv_timeline_message *message)
{
    struct largest *l = context;

    if (!fv_timeline_wants(l->window, message->from) && !fv_timeline_wants(l->window, message->to))
        return;
    if (l->calls && !is_of_calls(l->calls, message))
        return;
    if (++l->all > l->most)
        return;
    if (l->count == 2 * MESSAGES)
        choose_largest(l);
    l->items[l->count++] = *message;
}

static void find(struct largest *found, const struct fv_timeline_file *t)
{
    const struct fv_timeline_window *w = found->window;

    /* Of all rows, blocks of messages are counted without a look into them. */
    if (found->most < t->header->messages && !w->wanted && w->rows == t->header->rows.count)
        found->all = fv_timeline_message_count(t, w->from, w->to);
    if (found->all <= found->most) {
        found->all = 0;
        fv_timeline_messages(t, w->from, w->to, take_message, found);
    }
}

static void find_of_calls(struct largest *found, const struct fv_timeline_file *t, const bool *regions)
{
    struct calls calls = calls_of(t, found->window, regions);

    found->calls = &calls;
    fv_timeline_messages(t, found->window->from, found->window->to, take_message, found);
    found->calls = NULL;
    release_calls(&calls);
}

enum MHD_Result fv_viewer_messages(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    const uint64_t most = (uint64_t)number(connection, "most", 0, 1e18, 1e18);
    const bool is_chosen = fv_web_query(connection, "region") != NULL;
    bool *regions = fv_viewer_regions(v, connection);
    struct largest *found = fv_xcalloc(1, sizeof(*found));
    struct answer *a = begin_answer();

    found->window = &w;
    found->most = most;
    if (is_chosen)
        find_of_calls(found, v->timeline, regions);
    else
        find(found, v->timeline);
    free(regions);
    if (found->all > found->most)
        found->count = 0;
    choose_largest(found);
    fv_json_unsigned(&a->json, "left_out", found->all - found->count);
    fv_json_array(&a->json, "messages");
    for (size_t i = 0; i < found->count; i++) {
        const struct fv_timeline_message *m = &found->items[i];

        TELL_NUMBERS(&a->json, m->sent_ns, m->received_ns, m->from, m->to, m->bytes, m->tag, m->comm);
    }
    fv_json_end(&a->json);
    free(found);
    return end_answer(v, connection, a);
}

enum MHD_Result fv_viewer_traffic(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    struct fv_timeline_traffics *t = fv_xcalloc(1, sizeof(*t));
    struct answer *a = begin_answer();

    if (fv_web_query(connection, "region")) {
        bool *regions = fv_viewer_regions(v, connection);
        struct calls calls = calls_of(v->timeline, &w, regions);

        fv_timeline_traffic(v->timeline, &w, is_of_calls, &calls, t);
        release_calls(&calls);
        free(regions);
    } else
        fv_timeline_traffic(v->timeline, &w, NULL, NULL, t);
    fv_json_unsigned(&a->json, "merge", t->merge);
    fv_json_unsigned(&a->json, "groups", t->groups);
    fv_json_array(&a->json, "sizes");
    for (uint64_t k = 0; k < sizeof(t->sizes) / sizeof(*t->sizes); k++)
        if (t->sizes[k].count)
            TELL_NUMBERS(&a->json, k, t->sizes[k].count, t->sizes[k].bytes);
    fv_json_end(&a->json);
    fv_json_array(&a->json, "cells");
    for (uint64_t k = 0; k < (uint64_t)t->groups * t->groups; k++)
        if (t->cells[k].count)
            TELL_NUMBERS(&a->json, k / t->groups, k % t->groups, t->cells[k].count, t->cells[k].bytes);
    fv_json_end(&a->json);
    free(t);
    return end_answer(v, connection, a);
}
#endif
