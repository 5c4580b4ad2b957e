/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: samples of the CPU clock, as any run of fvmpi has them. */
#include "transcript/transcript_state.h"

#include <stdlib.h>

void fv_transcript_sample(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                          uint64_t ticks)
{
    uint32_t path = fv_transcript_sample_path(t, h, m->context);
    struct fv_cost *c =
        FV_INTERNED(h->cost_index, h->costs, h->cost_count, h->cost_room, ((uint32_t[]){ path, 0 /* section */ }));
    const struct fv_logged_sample logged = { ticks, path, m->sent < UINT32_MAX ? (uint32_t)m->sent : UINT32_MAX };

    c->ticks++;
    c->in_mpi += m->op;
    h->samples++;
    h->sample_ns += m->sent;
    fv_bytes_put(&h->sample_log, &logged, sizeof(logged));
    h->record.begin = h->record.begin ? h->record.begin : ticks;
    h->record.end = ticks > h->record.end ? ticks : h->record.end;
}

/* A sample stands for as much as the thread's do on average. */
static uint64_t rate_of(const struct fv_transcript_thread *h)
{
    double rate = 1e9 * (double)h->samples / (double)h->sample_ns;

    return rate < 1 ? 1 : (uint64_t)(rate + 0.5);
}

void fv_transcript_samples(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    if (h->samples) {
        const struct fv_sampler_record r = { .rate = rate_of(h), .ticks = h->samples, .mode = FV_SAMPLER_CLOCK };

        fv_transcript_chunk(t, FV_CHUNK_SAMPLER, slot, 0, &r, sizeof(r));
        fv_transcript_chunk(t, FV_CHUNK_SAMPLE_PATHS, slot, 0, h->sample_path_records.data,
                            h->sample_path_records.count);
        fv_transcript_chunk(t, FV_CHUNK_COSTS, slot, 0, h->costs, h->cost_count * sizeof(*h->costs));
        fv_transcript_chunk(t, FV_CHUNK_SAMPLE_LOG, slot, 0, h->sample_log.data, h->sample_log.count);
    }
    free(h->sample_path_records.data);
    free(h->sample_log.data);
    free(h->costs);
    fv_numbers_release(&h->sample_paths);
    fv_index_release(&h->cost_index);
}
