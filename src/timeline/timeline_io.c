/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: operations on files. What reads, writes or synchronises says when it begins and ends; all else
 * takes the time of its call until then. */
#include "timeline/timeline_state.h"
#include "tool/runs.h"
#include "trace/events.h"

#include <stdlib.h>

static void add(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r, uint64_t begin_ns, unsigned kind)
{
    const struct fv_defs *d = &w->merge->defs;
    const struct fv_def_handle *h = r->ref < d->handle_count ? &d->handles[r->ref] : NULL;

    if (!h || h->file >= d->file_count)
        return;
    FV_GROW(w->io, w->io_room, w->io_count + 1);
    w->io[w->io_count++] = (struct fv_timeline_io){ .begin_ns = begin_ns,
                                                    .ns = r->time_ns > begin_ns ? r->time_ns - begin_ns : 0,
                                                    .bytes = r->kind == FV_REC_IO_END ? r->sent : FV_IO_BYTES_UNKNOWN,
                                                    .row = row,
                                                    .file = h->file,
                                                    .kind = kind + FV_TIMELINE_IO_KINDS * h->kind };
}

/* Bytes a second of a thread, in the time of each operation; 0 between them. Of those that overlap, a later one has the
 * time that is left of it. */
static void add_rate(struct fv_timeline_writer *w, const struct fv_timeline_io *io)
{
    static const char *const names[][FV_DEF_IO_KINDS] = {
        [FV_TIMELINE_IO_READ] = { "file reads, MPI", "file reads, POSIX", "file reads, stdio" },
        [FV_TIMELINE_IO_WRITE] = { "file writes, MPI", "file writes, POSIX", "file writes, stdio" },
    };
    const unsigned kind = io->kind % FV_TIMELINE_IO_KINDS, interface = io->kind / FV_TIMELINE_IO_KINDS;
    const uint64_t end_ns = io->begin_ns + io->ns;

    if (kind > FV_TIMELINE_IO_WRITE || interface >= FV_DEF_IO_KINDS || io->bytes == FV_IO_BYTES_UNKNOWN)
        return;
    struct fv_timeline_values *v = fv_timeline_io_values(w, io->row, io->kind, names[kind][interface]);
    const uint64_t since_ns = v->count ? v->points[v->count - 1].ns : 0;

    if (io->begin_ns > since_ns)
        fv_timeline_add_point(v, io->begin_ns, 0);
    if (end_ns > since_ns && io->ns)
        fv_timeline_add_point(v, end_ns,
                              (double)io->bytes * 1e9 /
                                  (double)(end_ns - (io->begin_ns > since_ns ? io->begin_ns : since_ns)));
}

static unsigned kind_of(unsigned op)
{
    return op & FV_IO_FLUSH ? FV_TIMELINE_IO_OTHER : op & FV_IO_WRITE ? FV_TIMELINE_IO_WRITE : FV_TIMELINE_IO_READ;
}

static void end(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r)
{
    struct fv_timeline_begun *b = fv_timeline_find_begun(w->begun_io, w->begun_io_count, r->ref, r->id);

    if (!b)
        return;
    const size_t before = w->io_count;
    if (r->kind == FV_REC_IO_END)
        add(w, row, r, b->begin_ns, kind_of(b->op));
    if (w->io_count > before)
        add_rate(w, &w->io[before]);
    *b = w->begun_io[--w->begun_io_count];
}

void fv_timeline_io_record(struct fv_timeline_writer *w, const struct fv_timeline_thread *t, const struct fv_record *r)
{
    const uint64_t called_ns = t->depth ? t->open[t->depth - 1].begin_ns : r->time_ns;

    switch ((enum fv_record_kind)r->kind) {
    case FV_REC_IO_OPEN: add(w, t->row, r, called_ns, FV_TIMELINE_IO_OPEN); break;
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_SEEK: add(w, t->row, r, called_ns, FV_TIMELINE_IO_OTHER); break;
    case FV_REC_IO_BEGIN:
        FV_GROW(w->begun_io, w->begun_io_room, w->begun_io_count + 1);
        w->begun_io[w->begun_io_count++] = (struct fv_timeline_begun){ r->id, r->time_ns, r->ref, r->op };
        break;
    default: end(w, t->row, r);
    }
}

/* ---- the file ---- */

#define BLOCK 1024 /* operations */

static bool begins_before(const void *a, const void *b)
{
    const struct fv_timeline_io *x = a, *y = b;

    return x->begin_ns != y->begin_ns ? x->begin_ns < y->begin_ns : x->row < y->row;
}

static struct fv_timeline_span_block put_io(struct fv_timeline_writer *w, const struct fv_timeline_io *io, size_t count)
{
    struct fv_bytes *columns = w->packer.columns;
    struct fv_timeline_span_block out = { .begin_ns = io->begin_ns };
    uint64_t before = io->begin_ns;
    uint32_t row = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t ends = io[i].begin_ns + io[i].ns;

        fv_bytes_number(&columns[0], io[i].begin_ns - before);
        fv_bytes_number(&columns[1], io[i].ns);
        fv_bytes_number(&columns[2], fv_zigzag((int64_t)io[i].row - (int64_t)row));
        fv_bytes_number(&columns[3], io[i].file);
        fv_bytes_number(&columns[4], io[i].kind);
        fv_bytes_number(&columns[5], io[i].bytes + 1); /* not known: 0 */
        before = io[i].begin_ns;
        row = io[i].row;
        out.end_ns = ends > out.end_ns ? ends : out.end_ns;
    }
    out.block = fv_timeline_put_block(w, fv_timeline_put, FV_TIMELINE_IO_COLUMNS, FV_TIMELINE_IO_COLUMNS, count);
    return out;
}

void fv_timeline_write_io(struct fv_timeline_writer *w)
{
    const size_t count = w->io_count, block_count = (count + BLOCK - 1) / BLOCK;
    struct fv_timeline_span_block *blocks = fv_xcalloc(block_count + 1, sizeof(*blocks));
    const uint64_t before = w->at;

    w->io = fv_runs_sort(w->io, count, w->io_room, sizeof(*w->io), begins_before);
    for (size_t i = 0; i < block_count; i++)
        blocks[i] = put_io(w, w->io + i * BLOCK, i + 1 < block_count ? BLOCK : count - i * BLOCK);
    w->header.io = count;
    if (!fv_timeline_limit_blocks(w, &w->header.io_blocks, before, blocks, block_count, sizeof(*blocks)))
        w->header.left_out.io = count;
    free(blocks);
}
