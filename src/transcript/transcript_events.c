/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: the events of a trace (trace/events.h). */
#include "transcript/transcript_state.h"

#include <stdlib.h>

#define CHUNK_BYTES 65536

void fv_transcript_events(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    if (h->in_events)
        fv_transcript_chunk(t, FV_CHUNK_EVENTS, slot, h->before, h->events.data, h->events.count);
    h->before += h->in_events;
    h->in_events = h->events.count = 0;
}

/* Room for an event, in a chunk that has a base. */
static void make_room(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    if (h->events.count + h->details.count >= CHUNK_BYTES)
        fv_transcript_events(t, h, slot);
    if (!h->events.count)
        fv_bytes_put(&h->events, &(struct fv_event_base){ h->event_end }, sizeof(struct fv_event_base));
}

static void put(struct fv_bytes *out, enum fv_event_kind kind, const uint64_t *field)
{
    uint8_t *at = fv_bytes_add(out, FV_EVENT_MAX);

    out->count = (size_t)(fv_put_event(at, kind, field) - out->data);
}

void fv_transcript_detail(struct fv_transcript_thread *h, enum fv_event_kind kind, const uint64_t *field)
{
    put(&h->details, kind, field);
}

static uint32_t site_of(struct fv_transcript *t, struct fv_transcript_thread *h)
{
    const uint32_t path = fv_transcript_path(t, h->call.node),
                   function = fv_transcript_function_id(t, h->call.function);

    return FV_INTERN(h->site_index, h->sites, h->site_count, h->site_room, (struct {
                         uint32_t path;
                         uint16_t function, pad;
                     }){ path, (uint16_t)function, 0 });
}

void fv_transcript_event_call(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot, uint64_t end)
{
    uint64_t begin = h->call.begin > h->event_end ? h->call.begin : h->event_end;

    make_room(t, h, slot);
    put(&h->events, FV_EV_CALL, (const uint64_t[]){ site_of(t, h), begin - h->event_end, end - begin });
    fv_bytes_put(&h->events, h->details.data, h->details.count);
    h->details.count = 0;
    h->event_end = end;
    h->in_events++;
}

void fv_transcript_event(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot,
                         enum fv_event_kind kind, uint64_t ticks, uint64_t second)
{
    make_room(t, h, slot);
    put(&h->events, kind, (const uint64_t[]){ ticks > h->event_end ? ticks - h->event_end : 0, second });
    h->event_end = ticks > h->event_end ? ticks : h->event_end;
    h->in_events += fv_event_is_of_thread(kind);
}

void fv_transcript_lasting(struct fv_transcript *t, struct fv_transcript_thread *h, enum fv_event_kind kind,
                           uint64_t begin, uint64_t end, uint64_t *field)
{
    begin = begin > h->event_end ? begin : h->event_end;
    end = end > begin ? end : begin;
    make_room(t, h, fv_transcript_slot(t, h));
    field[0] = begin - h->event_end;
    field[1] = end - begin;
    put(&h->events, kind, field);
    h->event_end = end;
    h->in_events++;
}
