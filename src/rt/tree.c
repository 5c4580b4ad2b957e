/* SPDX-License-Identifier: BSD-3-Clause */
/* The call tree of the process: frames that call paths share are stored once. Nodes live in PATHS
 * chunks, of one size but for the first few, which are smaller, so an id leads to its node by division; a table of
 * ids finds the child of a node.
 * Everything here is called under fv_tree_lock, on call path misses only. */
#include "rt/path.h"

#include <string.h>

#define NODES(kib) ((((kib) << 10) - sizeof(struct fv_chunk_header)) / sizeof(struct fv_path_record))
#define LARGE      64 /* KiB */
#define CHUNKS     69 /* about 262,000 nodes, 4 MiB */

/* The first node's number - 1 in each of the small chunks, which have 1, 2, 4 ... 32 KiB, and in the next. */
enum { SMALL = 6 };
static const uint32_t first_of[SMALL + 1] = { 0,
                                              NODES(1),
                                              NODES(1) + NODES(2),
                                              NODES(1) + NODES(2) + NODES(4),
                                              NODES(1) + NODES(2) + NODES(4) + NODES(8),
                                              NODES(1) + NODES(2) + NODES(4) + NODES(8) + NODES(16),
                                              NODES(1) + NODES(2) + NODES(4) + NODES(8) + NODES(16) + NODES(32) };

struct fv_lock fv_tree_lock;

static struct fv_chunk_header *chunks[CHUNKS];
static uint32_t node_count;
static uint32_t *table; /* ids; 0: empty */
static uint32_t mask;

/* The chunk of node `index`, counted from 0, and where it is in there. */
static uint32_t chunk_of(uint32_t index, uint32_t *within)
{
    uint32_t c = 0;

    if (index >= first_of[SMALL]) {
        *within = (index - first_of[SMALL]) % NODES(LARGE);
        return SMALL + (index - first_of[SMALL]) / NODES(LARGE);
    }
    while (index >= first_of[c + 1])
        c++;
    *within = index - first_of[c];
    return c;
}

const struct fv_path_record *fv_tree_node(uint32_t id)
{
    uint32_t within, c = chunk_of(id - 1, &within);
    const struct fv_path_record *records = fv_chunk_records(chunks[c]);

    return &records[within];
}

static uint32_t place(const struct fv_path_record *key)
{
    return (uint32_t)fv_mix2(fv_mix2(key->parent, key->module), key->offset);
}

/* Doubles the table; the load stays under one half. */
static bool grow(void)
{
    uint32_t size = mask ? (mask + 1) * 2 : 4096, old_mask = mask;
    uint32_t *bigger = fv_memory_new(size * sizeof(*table)), *old = table;

    if (!bigger)
        return false;
    table = bigger;
    mask = size - 1;
    for (uint32_t id = 1; id <= node_count; id++) {
        uint32_t at = place(fv_tree_node(id)) & mask;

        while (table[at])
            at = (at + 1) & mask;
        table[at] = id;
    }
    if (old)
        fv_memory_free(old, (old_mask + 1) * sizeof(*table));
    return true;
}

/* A new node, visible to readers when it is whole. */
static uint32_t append(const struct fv_path_record *key)
{
    uint32_t within, c = chunk_of(node_count, &within);

    if (c == CHUNKS)
        return 0;
    if (!chunks[c])
        chunks[c] = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_PATHS, FV_NO_THREAD, node_count,
                                    (c < SMALL ? first_of[c + 1] - first_of[c] : NODES(LARGE)) * sizeof(*key));
    if (!chunks[c])
        return 0;
    memcpy(fv_chunk_next(chunks[c]), key, sizeof(*key));
    fv_chunk_commit(chunks[c], sizeof(*key));
    return ++node_count;
}

uint32_t fv_tree_child(uint32_t parent, uint32_t module, uint64_t offset)
{
    const struct fv_path_record key = { parent, module, offset };

    if (node_count * 2 >= mask && !grow())
        return 0;
    uint32_t at = place(&key) & mask;
    for (; table[at]; at = (at + 1) & mask)
        if (!memcmp(fv_tree_node(table[at]), &key, sizeof(key)))
            return table[at];
    return table[at] = append(&key);
}
