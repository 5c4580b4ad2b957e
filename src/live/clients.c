/* SPDX-License-Identifier: BSD-3-Clause */
/* See clients.h. */
#include "live/clients.h"

#include <string.h>

static void put_event(struct fv_client *c, const char *event)
{
    fv_jsonl_text(&c->out, "event: ");
    fv_jsonl_text(&c->out, event);
    fv_jsonl_text(&c->out, "\ndata: ");
}

/* What it did not read in time is gone. */
static void put_missed(struct fv_client *c, const struct fv_ring *ring)
{
    if (c->line >= ring->first)
        return;
    if (!c->is_record && (c->is_begun || c->is_late)) {
        put_event(c, "missed");
        fv_jsonl_whole(&c->out, ring->first - c->line);
        fv_jsonl_text(&c->out, "\n\n");
    }
    c->line = ring->first;
}

/* ---- server-sent events ---- */

static void put_batch(struct fv_client *c, const struct fv_ring *ring)
{
    if (c->line == ring->end)
        return;
    for (; c->line < ring->end && c->out.used < FV_CLIENT_BYTES; c->line++) {
        const struct fv_ring_place *place = fv_ring_place(ring, c->line);

        fv_jsonl_text(&c->out, "data: ");
        fv_jsonl_put(&c->out, ring->text + place->at, place->length);
        fv_jsonl_text(&c->out, "\n");
    }
    fv_jsonl_text(&c->out, "id: ");
    fv_jsonl_whole(&c->out, c->line - 1);
    fv_jsonl_text(&c->out, "\n\n");
}

static void put_status(struct fv_client *c, struct fv_live *live, size_t clients)
{
    int64_t now = fv_live_now_ns();

    if (c->status_ns && now - c->status_ns < FV_CLIENT_STATUS_NS)
        return;
    c->status_ns = now;
    put_event(c, "status");
    fv_live_status(live, clients, &c->out);
    fv_jsonl_text(&c->out, "\n\n");
}

static void fill_stream(struct fv_client *c, struct fv_live *live, size_t clients)
{
    put_missed(c, &live->ring);
    if (!c->is_begun) {
        put_event(c, "header");
        fv_live_header(live, false, &c->out);
        fv_jsonl_text(&c->out, "\n\n");
    }
    c->is_begun = true;
    put_batch(c, &live->ring);
    put_status(c, live, clients);
}

/* ---- a recording ---- */

static void put_unknown(struct fv_client *c, size_t count)
{
    while (count--)
        fv_jsonl_text(&c->out, "null,");
}

/* All samples of a recording have as many values, another node's behind ours. */
static void put_sample(struct fv_client *c, const struct fv_live *live, const char *text,
                       const struct fv_ring_place *place)
{
    static const char end[] = "]}";
    size_t before = place->first ? c->own + place->first - live->others_first : 0,
           length = place->length - (sizeof(end) - 1);
    const char *values = (const char *)memchr(text, '[', length) + 1, *time = memchr(text, ',', length);

    fv_jsonl_put(&c->out, text, (size_t)((place->first ? time : values) - text));
    fv_jsonl_text(&c->out, place->first ? ",\"values\":[" : "");
    put_unknown(c, before);
    fv_jsonl_put(&c->out, values, length - (size_t)(values - text));
    for (size_t i = before + place->count; i < c->values; i++)
        fv_jsonl_text(&c->out, ",null");
    fv_jsonl_text(&c->out, end);
}

/* As `fvmpi record` ends one: it is whole. */
static void put_end(const struct fv_live *live, struct fv_jsonl *out)
{
    fv_jsonl_text(out, "{\"end\":\"saved\",");
    fv_jsonl_time(out, fv_live_now_ns() - live->start_ns);
    fv_jsonl_text(out, ",\"samples\":");
    fv_jsonl_whole(out, live->samples);
    fv_jsonl_text(out, ",\"late\":");
    fv_jsonl_whole(out, live->late);
    fv_jsonl_text(out, ",\"missed\":");
    fv_jsonl_whole(out, live->missed);
    fv_jsonl_text(out, "}\n");
}

static void fill_record(struct fv_client *c, struct fv_live *live)
{
    const struct fv_ring *ring = &live->ring;

    if (!c->is_begun) {
        c->own = c->values = live->watch.count;
        for (size_t i = 0; i < live->other_count; i++)
            c->values += live->others[i].count;
        c->until = ring->end;
        fv_live_header(live, true, &c->out);
        fv_jsonl_text(&c->out, "\n");
    }
    c->is_begun = true;
    put_missed(c, ring);
    for (; c->line < c->until && c->out.used < FV_CLIENT_BYTES; c->line++) {
        const struct fv_ring_place *place = fv_ring_place(ring, c->line);

        if (place->count == FV_LIVE_ADDED)
            continue;
        if (place->count)
            put_sample(c, live, ring->text + place->at, place);
        else
            fv_jsonl_put(&c->out, ring->text + place->at, place->length);
        fv_jsonl_text(&c->out, "\n");
    }
    if (c->line >= c->until && !c->is_ended) {
        put_end(live, &c->out);
        c->is_ended = true;
    }
}

bool fv_client_fill(struct fv_client *c, struct fv_live *live, size_t clients)
{
    c->out.used = c->given = 0;
    if (c->is_record)
        fill_record(c, live);
    else
        fill_stream(c, live, clients);
    return c->out.used;
}
