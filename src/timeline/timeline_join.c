/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: a timeline that several processes make. The first one knows the program's functions, and tells
 * the others their classes. At the end the others send what they wrote, and their tables; offsets in what they wrote
 * move by where it then stands. */
#include "timeline/timeline_state.h"

#include <stdlib.h>
#include <string.h>

#define PIECE (1 << 20)

/* ---- what all need ---- */

/* Of a call path: where the program's own code is innermost, which calls what a library does; itself, if it has
 * none. */
static uint32_t own_context(const struct fv_contexts *c, uint32_t context)
{
    uint32_t own = context;

    while (own != FV_NONE && !c->items[own].is_own)
        own = c->items[own].parent;
    return own != FV_NONE ? own : context;
}

void fv_timeline_share(struct fv_timeline_writer *w)
{
    const struct fv_transport *t = w->merge->transport;
    const struct fv_contexts *c = &w->merge->contexts;
    struct fv_bytes classes = { 0 }, functions = { 0 };

    for (size_t i = 0; !t->rank && i < w->region_count; i++)
        fv_bytes_put(&classes, &w->regions[i].class, sizeof(uint32_t));
    for (size_t i = 0; !t->rank && i < c->count; i++)
        fv_bytes_put(&functions, &c->items[i].function, sizeof(uint32_t));
    for (size_t i = 0; !t->rank && i < c->count; i++)
        fv_bytes_put(&functions, &c->items[own_context(c, (uint32_t)i)].function, sizeof(uint32_t));
    fv_transport_share(t, &classes);
    fv_transport_share(t, &functions);
    if (t->rank) {
        w->region_count = classes.count / sizeof(uint32_t);
        w->regions = fv_xrealloc(w->regions, w->region_count + 1, sizeof(*w->regions));
        memset(w->regions, 0, (w->region_count + 1) * sizeof(*w->regions));
        for (size_t i = 0; i < w->region_count; i++)
            memcpy(&w->regions[i].class, classes.data + i * sizeof(uint32_t), sizeof(uint32_t));
    }
    w->context_count = functions.count / sizeof(uint32_t) / 2;
    w->function_of_context = (uint32_t *)(void *)functions.data;
    free(classes.data);
    w->code = w->merge->source == &fv_rank_file_source ? fv_contexts_code(&w->merge->defs) : NULL;
}

/* ---- of one of the others ---- */

static void send_body(struct fv_timeline_writer *w)
{
    const struct fv_transport *t = w->merge->transport;
    char *piece = fv_xcalloc(PIECE, 1);

    w->failed = fflush(w->out) || fseek(w->out, 0, SEEK_SET) || w->failed;
    t->send(t, 0, &w->at, sizeof(w->at));
    for (uint64_t left = w->at; left;) {
        const size_t bytes = left < PIECE ? left : PIECE;

        w->failed = fread(piece, 1, bytes, w->out) != bytes || w->failed;
        t->send(t, 0, piece, bytes);
        left -= bytes;
    }
    free(piece);
}

static void send_array(struct fv_timeline_writer *w, const void *items, size_t count, size_t bytes)
{
    const struct fv_bytes all = { .data = (uint8_t *)(uintptr_t)items, .count = count * bytes };

    fv_transport_put(w->merge->transport, 0, &all);
}

static void send_all(struct fv_timeline_writer *w)
{
    struct fv_bytes series = { 0 };

    send_body(w);
    for (size_t i = 0; i < w->value_count; i++)
        fv_bytes_put(&series, &w->values[i].series, sizeof(w->values[i].series));
    send_array(w, &w->header, 1, sizeof(w->header));
    send_array(w, w->rows, w->row_count, sizeof(*w->rows));
    send_array(w, w->regions, w->region_count, sizeof(*w->regions));
    send_array(w, w->kinds, w->kind_count, sizeof(*w->kinds));
    send_array(w, w->chunks, w->chunk_count, sizeof(*w->chunks));
    send_array(w, series.data, series.count, 1);
    send_array(w, w->strings.data, w->strings.count, 1);
    fv_timeline_send_messages(w);
    send_array(w, w->members, w->member_count, sizeof(*w->members));
    send_array(w, w->io, w->io_count, sizeof(*w->io));
    free(series.data);
}

/* ---- of the first one ---- */

/* What it wrote, behind what there is. Where that is. */
static uint64_t take_body(struct fv_timeline_writer *w, int from)
{
    const struct fv_transport *t = w->merge->transport;
    char *piece = fv_xcalloc(PIECE, 1);
    uint64_t left, where = fv_timeline_put(w, "", 0);

    t->receive(t, from, &left, sizeof(left));
    while (left) {
        const size_t bytes = left < PIECE ? left : PIECE;

        t->receive(t, from, piece, bytes);
        w->failed = fwrite(piece, 1, bytes, w->out) != bytes || w->failed;
        w->at += bytes;
        left -= bytes;
    }
    free(piece);
    return where;
}

static size_t take_array(struct fv_timeline_writer *w, int from, struct fv_bytes *out, size_t bytes)
{
    out->count = 0;
    fv_transport_get(w->merge->transport, from, out);
    return out->count / bytes;
}

static void take_header(struct fv_timeline_writer *w, const struct fv_timeline_header *h)
{
    w->header.span_ns = h->span_ns > w->header.span_ns ? h->span_ns : w->header.span_ns;
    w->header.slices += h->slices;
    w->header.samples += h->samples;
    w->header.unmatched += h->unmatched;
    w->header.bins += h->bins;
    w->header.left_out.slices += h->left_out.slices;
    w->header.left_out.series += h->left_out.series;
    if (h->left_out.least_ns > w->header.left_out.least_ns)
        w->header.left_out.least_ns = h->left_out.least_ns;
}

/* Of a row one process has something. */
static void take_rows(struct fv_timeline_writer *w, const struct fv_timeline_row *rows, size_t count, uint64_t where)
{
    for (size_t i = 0; i < count && i < w->row_count; i++)
        if (rows[i].levels || rows[i].slices || rows[i].samples) {
            const uint32_t host = w->rows[i].host, name = w->rows[i].name;

            w->rows[i] = rows[i];
            w->rows[i].host = host;
            w->rows[i].name = name;
            w->rows[i].bins += where;
            w->rows[i].leaves += where;
            w->rows[i].first_kind = w->kind_count;
        }
}

static void take_chunks(struct fv_timeline_writer *w, const struct fv_timeline_chunk *chunks, size_t count,
                        uint64_t where)
{
    FV_GROW(w->chunks, w->chunk_room, w->chunk_count + count);
    for (size_t i = 0; i < count; i++) {
        w->chunks[w->chunk_count] = chunks[i];
        w->chunks[w->chunk_count++].block.offset += where;
    }
}

static void take_series(struct fv_timeline_writer *w, int from, uint64_t where)
{
    struct fv_bytes series = { 0 }, strings = { 0 };
    const size_t count = take_array(w, from, &series, sizeof(struct fv_timeline_series));
    const struct fv_timeline_series *s = (const void *)series.data;
    const char *text = (take_array(w, from, &strings, 1), (const char *)strings.data);

    FV_GROW(w->values, w->value_room, w->value_count + count);
    for (size_t i = 0; i < count; i++) {
        struct fv_timeline_values *v = &w->values[w->value_count++];

        *v = (struct fv_timeline_values){ .series = s[i], .is_written = true };
        v->series.name = fv_timeline_string(w, text + s[i].name);
        v->series.unit = fv_timeline_string(w, text + s[i].unit);
        v->series.points += where;
        v->series.extremes += where;
    }
    w->value_written = w->value_count;
    free(series.data);
    free(strings.data);
}

/* What comes is added to `items`, of `bytes` each. */
static void *take_more(struct fv_timeline_writer *w, int from, void *items, size_t *count, size_t *room, size_t bytes)
{
    struct fv_bytes in = { 0 };
    const size_t more = take_array(w, from, &in, bytes);

    items = fv_grow(items, room, *count + more, bytes);
    if (more)
        memcpy((char *)items + *count * bytes, in.data, more * bytes);
    *count += more;
    free(in.data);
    return items;
}
#define TAKE_MORE(w, from, items, count, room) \
    ((items) = take_more(w, from, items, &(count), &(room), sizeof(*(items))))

static void take_all(struct fv_timeline_writer *w, int from)
{
    const uint64_t where = take_body(w, from);
    struct fv_bytes in = { 0 };
    size_t count;

    if (take_array(w, from, &in, sizeof(w->header)))
        take_header(w, (const void *)in.data);
    count = take_array(w, from, &in, sizeof(*w->rows));
    take_rows(w, (const void *)in.data, count, where);
    count = take_array(w, from, &in, sizeof(*w->regions));
    for (size_t i = 0; i < count && i < w->region_count; i++) {
        const struct fv_timeline_region *regions = (const void *)in.data;

        w->regions[i].count += regions[i].count;
        w->regions[i].ns += regions[i].ns;
    }
    TAKE_MORE(w, from, w->kinds, w->kind_count, w->kind_room);
    count = take_array(w, from, &in, sizeof(*w->chunks));
    take_chunks(w, (const void *)in.data, count, where);
    free(in.data);
    take_series(w, from, where);
    fv_timeline_take_messages(w, from);
    TAKE_MORE(w, from, w->members, w->member_count, w->member_room);
    TAKE_MORE(w, from, w->io, w->io_count, w->io_room);
}

void fv_timeline_join(struct fv_timeline_writer *w)
{
    const struct fv_transport *t = w->merge->transport;

    if (t->rank)
        send_all(w);
    for (int i = 1; !t->rank && i < t->size; i++)
        take_all(w, i);
}
