/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: a file of limited size. Its bins are fewer from the start, values have half of it at most, and
 * messages what is left at the end. As soon as slices have no room, the shortest ones of all rows are left out: longer
 * ones are what is looked for, and are around them. */
#include "timeline/timeline_state.h"
#include "tool/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define BIN_BYTES 32 /* of a leaf and its part of the bins above, at most */

bool fv_timeline_limit_open(struct fv_timeline_limit *l, const char *path, const struct fv_merge *merge,
                            uint64_t most_bytes)
{
    char own[PATH_MAX];

    if (!most_bytes)
        return true;
    snprintf(own, sizeof(own), "%s.slices.%d", path, merge->transport->rank);
    const int fd = fv_new_file(own, O_RDWR, 0666);
    if (fd < 0) {
        fv_log("%s: %s", own, strerror(errno));
        return false;
    }
    unlink(own);
    l->slices = fdopen(fd, "w+");
    l->bytes = most_bytes / (uint64_t)merge->transport->size;
    return true;
}

void fv_timeline_limit_close(struct fv_timeline_limit *l)
{
    if (l->slices)
        fclose(l->slices);
    l->slices = NULL;
}

size_t fv_timeline_limit_bins(const struct fv_timeline_writer *w)
{
    return w->limit.slices ? (size_t)(w->header.most_bytes / 8 / (w->row_count + 1) / BIN_BYTES) : SIZE_MAX;
}

bool fv_timeline_limit_has_room(const struct fv_timeline_writer *w, uint64_t more)
{
    return !w->limit.slices || w->at + more + more / 8 <= w->limit.bytes / 2;
}

bool fv_timeline_limit_takes(const struct fv_timeline_writer *w, uint64_t more)
{
    const uint64_t tables = w->chunk_count * sizeof(*w->chunks) + w->row_count * sizeof(*w->rows) +
                            w->region_count * sizeof(*w->regions) + w->kind_count * sizeof(*w->kinds) +
                            w->strings.count + w->context_count * sizeof(struct fv_timeline_context);

    return !w->header.most_bytes || w->at + more + tables <= w->header.most_bytes;
}

uint64_t fv_timeline_limit_put(struct fv_timeline_writer *w, const void *data, size_t bytes)
{
    struct fv_timeline_limit *l = &w->limit;
    const uint64_t where = l->at;

    if (!l->slices)
        return fv_timeline_put(w, data, bytes);
    w->failed = fwrite(data, 1, bytes, l->slices) != bytes || w->failed;
    l->at += bytes;
    return where;
}

bool fv_timeline_limit_blocks(struct fv_timeline_writer *w, struct fv_timeline_part *out, uint64_t before,
                              const void *blocks, size_t count, size_t bytes)
{
    const bool has_room = fv_timeline_limit_takes(w, count * bytes);

    if (!has_room) {
        w->failed = fseeko(w->out, (off_t)before, SEEK_SET) || w->failed;
        w->at = before;
        count = 0;
    }
    *out = (struct fv_timeline_part){ fv_timeline_put(w, blocks, count * bytes), count };
    return has_room;
}

/* ---- what is left out ---- */

static bool read_block(struct fv_timeline_writer *w, const struct fv_timeline_block *b, char *out)
{
    return pread(fileno(w->limit.slices), out, b->bytes, (off_t)b->offset) == (ssize_t)b->bytes;
}

/* Blocks that stay move towards the begin. */
static void take_out_chunks(struct fv_timeline_writer *w)
{
    struct fv_timeline_limit *l = &w->limit;
    char *bytes = fv_xcalloc(FV_TIMELINE_RAW, 1);
    size_t kept = 0;

    w->failed = fflush(l->slices) || w->failed;
    l->at = 0;
    for (size_t i = 0; i < w->chunk_count; i++) {
        struct fv_timeline_chunk c = w->chunks[i];

        if (c.length < l->least) {
            w->rows[c.row].left_out += c.block.count;
            continue;
        }
        w->failed = w->failed || !read_block(w, &c.block, bytes) ||
                    pwrite(fileno(l->slices), bytes, c.block.bytes, (off_t)l->at) != (ssize_t)c.block.bytes;
        c.block.offset = l->at;
        l->at += c.block.bytes;
        w->chunks[kept++] = c;
    }
    w->chunk_count = kept;
    w->failed = ftruncate(fileno(l->slices), (off_t)l->at) || fseeko(l->slices, (off_t)l->at, SEEK_SET) || w->failed;
    free(bytes);
}

/* Of chunks that are not full yet. */
static void take_out_slices(struct fv_timeline_writer *w)
{
    for (size_t i = 0; i < w->thread_room; i++)
        for (unsigned k = 0; k < w->limit.least && k < FV_TIMELINE_LENGTHS; k++) {
            w->rows[w->threads[i].row].left_out += w->threads[i].lengths[k].count;
            w->threads[i].lengths[k].count = 0;
        }
}

static uint64_t bytes_of(const struct fv_timeline_chunk *c)
{
    return c->block.bytes + sizeof(*c);
}

/* A quarter of the room becomes free, so that this is not often done. */
void fv_timeline_limit_apply(struct fv_timeline_writer *w)
{
    struct fv_timeline_limit *l = &w->limit;
    const uint64_t room = l->bytes / 4 * 3;
    uint64_t all = w->at, of_length[FV_TIMELINE_LENGTHS] = { 0 };

    if (!l->slices || w->at + l->at + w->chunk_count * sizeof(*w->chunks) <= room)
        return;
    for (size_t i = 0; i < w->chunk_count; i++) {
        of_length[w->chunks[i].length] += bytes_of(&w->chunks[i]);
        all += bytes_of(&w->chunks[i]);
    }
    while (all > room / 4 * 3 && l->least < FV_TIMELINE_LENGTHS)
        all -= of_length[l->least++];
    take_out_chunks(w);
    take_out_slices(w);
}

void fv_timeline_limit_end(struct fv_timeline_writer *w)
{
    struct fv_timeline_limit *l = &w->limit;
    struct fv_timeline_left_out *out = &w->header.left_out;
    char *bytes;

    if (!l->slices)
        return;
    bytes = fv_xcalloc(FV_TIMELINE_RAW, 1);
    w->failed = fflush(l->slices) || w->failed;
    for (size_t i = 0; i < w->chunk_count; i++) {
        struct fv_timeline_block *b = &w->chunks[i].block;

        w->failed = w->failed || !read_block(w, b, bytes);
        b->offset = fv_timeline_put(w, bytes, b->bytes);
    }
    for (size_t i = 0; i < w->row_count; i++)
        out->slices += w->rows[i].left_out;
    if (out->slices)
        out->least_ns = l->least < FV_TIMELINE_LENGTHS ? UINT64_C(1) << 2 * l->least : UINT64_MAX;
    fv_timeline_limit_close(l);
    free(bytes);
}
