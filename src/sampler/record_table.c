/* SPDX-License-Identifier: BSD-3-Clause */
/* See record_table.h. */
#include "sampler/record_table.h"
#include "rt/process.h"

bool fv_record_table_init(struct fv_record_table *table, enum fv_chunk_type type, uint32_t thread, uint32_t bytes,
                          uint32_t most)
{
    const uint32_t header = sizeof(struct fv_chunk_header);
    uint32_t first = (uint32_t)(fv_round_up(header + bytes, FV_PAGE / 2) - header) / bytes; /* one at least */

    *table = (struct fv_record_table){ .type = type, .thread = thread, .bytes = bytes, .first = first, .most = most };
    table->chunk[0] = fv_writer_chunk(&fv_rt.writer, type, thread, 0, (size_t)bytes * first);
    return table->chunk[0] != NULL;
}

void *fv_record_table_next(struct fv_record_table *table)
{
    unsigned at = fv_record_table_chunk(table, table->count);
    uint32_t left = table->most - table->count, room = table->first << at;

    if (!left || at >= FV_RECORD_TABLE_CHUNKS)
        return NULL;
    if (!table->chunk[at])
        table->chunk[at] = fv_writer_try_chunk(&fv_rt.writer, table->type, table->thread, table->count,
                                               (size_t)table->bytes * (room < left ? room : left));
    return table->chunk[at] ? fv_record_table_at(table, table->count) : NULL;
}

void fv_record_table_commit(struct fv_record_table *table)
{
    fv_chunk_commit(table->chunk[fv_record_table_chunk(table, table->count)], table->bytes);
    table->count++;
}

uint64_t fv_ranked(uint64_t *value, unsigned count, unsigned rank)
{
    for (unsigned i = 0; i <= rank; i++)
        for (unsigned j = i + 1; j < count; j++)
            if (value[j] < value[i]) {
                uint64_t t = value[i];
                value[i] = value[j];
                value[j] = t;
            }
    return value[rank];
}
