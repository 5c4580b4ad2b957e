/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of one thread in the rank file that grow in chunks, each twice as large as the one before, also from the
 * signal handler: there the file's lock is only tried. Records never move. */
#ifndef FV_RECORD_TABLE_H
#define FV_RECORD_TABLE_H

#include "trace/writer.h"

#define FV_RECORD_TABLE_CHUNKS 16

struct fv_record_table {
    struct fv_chunk_header *chunk[FV_RECORD_TABLE_CHUNKS];
    enum fv_chunk_type type;
    uint32_t thread;
    uint32_t bytes; /* of a record */
    uint32_t first; /* records of the first chunk */
    uint32_t most;  /* records of all */
    uint32_t count;
};

/* For so many records at most; the first chunk is half a page, or what one record takes. False: there is no room in the
 * file for it. */
bool fv_record_table_init(struct fv_record_table *table, enum fv_chunk_type type, uint32_t thread, uint32_t bytes,
                          uint32_t most);
/* A new record, zero; it becomes part of the file by fv_record_table_commit(), before the next one is asked for.
 * NULL: the table is full, or there is no room just now. */
void *fv_record_table_next(struct fv_record_table *table);
void fv_record_table_commit(struct fv_record_table *table);

/* Of an array: the value of that rank, 0 the least; puts some in order. */
uint64_t fv_ranked(uint64_t *value, unsigned count, unsigned rank);

/* The chunk of a record, and a chunk's first record. */
static inline unsigned fv_record_table_chunk(const struct fv_record_table *table, uint32_t index)
{
    return 31u - (unsigned)__builtin_clz(index / table->first + 1);
}
static inline uint32_t fv_table_begin(const struct fv_record_table *table, unsigned chunk)
{
    return table->first * ((1u << chunk) - 1);
}

static inline void *fv_record_table_at(const struct fv_record_table *table, uint32_t index)
{
    unsigned chunk = fv_record_table_chunk(table, index);

    return (char *)fv_chunk_records(table->chunk[chunk]) +
           (size_t)(index - fv_table_begin(table, chunk)) * table->bytes;
}

#endif
