/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: calls of functions of the program, as if its compiler had instrumented them for fvmpi. */
#include "transcript/transcript_state.h"

#include <stdio.h>
#include <stdlib.h>

void fv_transcript_function_enter(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                                  uint64_t ticks)
{
    const uint32_t node = m->context, line = m->aux;
    uint32_t caller = h->depth ? h->open[h->depth - 1].record + 1 : 0,
             path = line ? fv_transcript_entry(t, node, line) : fv_transcript_path(t, node);
    size_t before = h->function_count;
    bool again = h->depth && h->functions[h->open[h->depth - 1].record].node == path; /* by itself */
    uint32_t record = again ? h->open[h->depth - 1].record
                            : FV_INTERN(h->function_index, h->functions, h->function_count, h->function_room,
                                        (uint32_t[]){ caller, path });

    if (h->function_count > before) {
        const struct fv_node *n = &t->merge->defs.tree.nodes[node];

        h->functions[record].module = fv_numbers_get(&t->modules, n->module);
        h->functions[record].offset = (uint64_t)line - 1; /* one past it is its line, 0: not known */
        h->functions[record].ticks_min = UINT64_MAX;
        h->functions[record].flags = m->tag;
        h->open_records = fv_grow(h->open_records, &h->open_room, (size_t)record + 1, sizeof(*h->open_records));
        h->open_records[record] = 0;
    }
    struct fv_function_calls *f = &h->functions[record];
    f->calls++;
    f->nested += h->open_records[record] > 0;
    FV_GROW(h->open, h->depth_room, h->depth + 1);
    h->open[h->depth++] = (struct fv_transcript_function){
        .record = record, .begin = ticks, .mpi = h->record.mpi_ticks, .nested = h->open_records[record] > 0
    };
    for (uint32_t i = 0; i < t->counter_count; i++)
        h->open[h->depth - 1].counted[i] = h->counts[i].last;
    h->open_records[record]++;
    fv_transcript_event(t, h, fv_transcript_slot(t, h), FV_EV_FUNCTION_ENTER, ticks, f->node);
}

void fv_transcript_function_leave(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks)
{
    if (!h->depth)
        return;
    const struct fv_transcript_function o = h->open[--h->depth];
    struct fv_function_calls *f = &h->functions[o.record];
    uint64_t took = ticks - o.begin, mpi = h->record.mpi_ticks - o.mpi;

    h->open_records[o.record]--;
    f->self_ticks += took - o.called;
    f->mpi_self_ticks += mpi - o.mpi_called;
    f->last = ticks;
    if (!o.nested) {
        f->ticks += took;
        f->ticks_min = took < f->ticks_min ? took : f->ticks_min;
        if (!f->ended++)
            f->ticks_first = took;
        else if (took > f->ticks_later)
            f->ticks_later = took;
        f->mpi_ticks += mpi;
    }
    if (h->depth) {
        h->open[h->depth - 1].called += took;
        h->open[h->depth - 1].mpi_called += mpi;
    }
    fv_transcript_event(t, h, fv_transcript_slot(t, h), FV_EV_FUNCTION_LEAVE, ticks, h->depth);
}

void fv_transcript_stream(struct fv_transcript *t, uint32_t slot, const char *device, const char *name)
{
    struct fv_stream_record r = { .thread = slot };

    snprintf(r.device, sizeof(r.device), "%s", device);
    snprintf(r.name, sizeof(r.name), "%s", name);
    fv_bytes_put(&t->streams, &r, sizeof(r));
}

void fv_transcript_functions(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    const struct fv_function_losses losses = { 0 };

    for (size_t i = 0; i < h->function_count; i++)
        h->functions[i].ticks_min = h->functions[i].ended ? h->functions[i].ticks_min : 0;
    fv_transcript_chunk(t, FV_CHUNK_FUNCTION_CALLS, slot, 0, h->functions, h->function_count * sizeof(*h->functions));
    if (h->function_count)
        fv_transcript_chunk(t, FV_CHUNK_FUNCTION_LOSSES, slot, 0, &losses, sizeof(losses));
    free(h->functions);
    free(h->open);
    free(h->open_records);
    fv_index_release(&h->function_index);
}
