/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: chunks and tables of the file. */
#include "merge/labels.h"
#include "timeline/timeline_state.h"
#include "tool/runs.h"
#include "trace/events.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 8

uint64_t fv_timeline_put(struct fv_timeline_writer *w, const void *data, size_t bytes)
{
    static const char none[ALIGN];
    const size_t gap = (ALIGN - w->at % ALIGN) % ALIGN;
    uint64_t where = w->at + gap;

    w->failed = w->failed || fwrite(none, 1, gap, w->out) != gap || (bytes && fwrite(data, 1, bytes, w->out) != bytes);
    w->at = where + bytes;
    return where;
}

/* ---- blocks ---- */

struct fv_timeline_block fv_timeline_put_block(struct fv_timeline_writer *w, fv_timeline_putter *put, size_t first,
                                               size_t columns, size_t rows)
{
    const struct fv_bytes *packed = fv_timeline_pack(&w->packer, first, columns);

    return (struct fv_timeline_block){ .offset = put(w, packed->data, packed->count),
                                       .bytes = (uint32_t)packed->count,
                                       .count = (uint32_t)rows };
}

/* ---- slices ---- */

/* Outer ones first. */
static bool comes_before(const void *a, const void *b)
{
    const struct fv_timeline_slice *x = a, *y = b;

    return x->begin_ns != y->begin_ns ? x->begin_ns < y->begin_ns : x->depth < y->depth;
}

static void add_slice(struct fv_bytes *columns, const struct fv_timeline_slice *s,
                      const struct fv_timeline_slice_kind *kind, uint64_t before, uint32_t row)
{
    fv_bytes_number(&columns[0], s->begin_ns - before);
    fv_bytes_number(&columns[1], s->ns);
    fv_bytes_number(&columns[2], (uint64_t)s->kind << 1 | (s->wait_ns != 0));
    fv_bytes_number(&columns[4], s->context == FV_TIMELINE_NONE ? 0 : (uint64_t)s->context + 1);
    if (s->wait_ns) {
        const int64_t cause = s->cause == FV_TIMELINE_NONE ? 0 : (int64_t)s->cause + 1;

        fv_bytes_number(&columns[3], s->wait_ns);
        fv_bytes_number(&columns[5], fv_zigzag(cause - (int64_t)row));
    }
    if (kind->flags & FV_TIMELINE_TOGETHER) {
        fv_bytes_number(&columns[6], s->comm);
        fv_bytes_number(&columns[7], s->instance);
        fv_bytes_number(&columns[8], s->root == FV_TIMELINE_NONE ? 0 : (uint64_t)s->root + 1);
    }
    if (kind->flags & FV_TIMELINE_OF_FILE)
        fv_bytes_number(&columns[9], s->file);
}

void fv_timeline_put_chunk(struct fv_timeline_writer *w, fv_timeline_putter *put, struct fv_timeline_thread *t,
                           unsigned length)
{
    struct fv_timeline_slice *s = t->lengths[length].items;
    const size_t count = t->lengths[length].count;
    uint64_t before, end = 0;

    if (!count)
        return;
    t->lengths[length].count = 0;
    t->lengths[length].items = s = fv_runs_sort(s, count, t->lengths[length].room, sizeof(*s), comes_before);
    before = s->begin_ns;
    for (size_t i = 0; i < count; i++) {
        add_slice(w->packer.columns, &s[i], &w->kinds[s[i].kind], before, t->row);
        before = s[i].begin_ns;
        end = s[i].begin_ns + s[i].ns > end ? s[i].begin_ns + s[i].ns : end;
    }
    FV_GROW(w->chunks, w->chunk_room, w->chunk_count + 1);
    w->chunks[w->chunk_count++] =
        (struct fv_timeline_chunk){ .block = fv_timeline_put_block(w, put, FV_TIMELINE_TIME_COLUMNS,
                                                                   FV_TIMELINE_SLICE_COLUMNS, count),
                                    .begin_ns = s[0].begin_ns,
                                    .end_ns = end,
                                    .row = t->row,
                                    .length = length };
}

/* ---- tables ---- */

uint32_t fv_timeline_string(struct fv_timeline_writer *w, const char *text)
{
    size_t at = w->strings.count;

    if (!text || !*text || at > UINT32_MAX / 2)
        return 0;
    fv_bytes_put(&w->strings, text, strlen(text) + 1);
    return (uint32_t)at;
}

static uint32_t class_of(const struct fv_timeline_writer *w, uint32_t function)
{
    static const uint8_t of_mpi[FV_CLASS_COUNT] = {
        [FV_CLASS_OTHER] = FV_TIMELINE_MPI,      [FV_CLASS_P2P] = FV_TIMELINE_P2P,
        [FV_CLASS_COMPLETION] = FV_TIMELINE_P2P, [FV_CLASS_COMM] = FV_TIMELINE_MPI,
        [FV_CLASS_RMA] = FV_TIMELINE_RMA,        [FV_CLASS_COLLECTIVE] = FV_TIMELINE_COLLECTIVE,
        [FV_CLASS_INIT] = FV_TIMELINE_MPI,       [FV_CLASS_IO] = FV_TIMELINE_IO,
    };
    const struct fv_def_function *f = &w->merge->defs.functions[function];
    const struct fv_call_info call = fv_call_info(f->name, f->class);

    switch (f->class) {
    case FV_CLASS_OF_FILES: return FV_TIMELINE_IO;
    case FV_CLASS_OF_MEMORY: return FV_TIMELINE_MEMORY;
    case FV_CLASS_SECTION: return FV_TIMELINE_FUNCTION;
    case FV_CLASS_OF_THREADS:
        return call.role >= FV_ROLE_OMP_LOOP && call.role <= FV_ROLE_OMP_TARGET_DATA ? FV_TIMELINE_OPENMP
                                                                                     : FV_TIMELINE_THREADS;
    default: break;
    }
    if (call.op != FV_OP_NONE && call.role >= FV_ROLE_ONE2ALL && call.role <= FV_ROLE_COLL_OTHER)
        return FV_TIMELINE_COLLECTIVE;
    return call.role == FV_ROLE_P2P ? FV_TIMELINE_P2P : f->class < FV_CLASS_COUNT ? of_mpi[f->class] : FV_TIMELINE_MPI;
}

/* Constructs of OpenMP are regions of archives, as OPARI names them. */
static uint32_t class_of_name(const char *name)
{
    if (strncmp(name, "!$omp", 5))
        return FV_TIMELINE_FUNCTION;
    return strstr(name, "barrier") || strstr(name, "critical") ? FV_TIMELINE_THREADS : FV_TIMELINE_OPENMP;
}

/* In rank files teams have no regions. */
bool fv_timeline_has_teams(const struct fv_timeline_writer *w)
{
    const struct fv_defs *d = &w->merge->defs;

    for (size_t i = 0; i < d->rank_count && !w->merge->source_context; i++)
        if (d->ranks[i].omp_objects)
            return true;
    return false;
}

static void make_regions(struct fv_timeline_writer *w)
{
    const struct fv_defs *d = &w->merge->defs;
    const struct fv_contexts *c = &w->merge->contexts;

    w->region_count = d->function_count + c->function_count;
    w->region_count += fv_timeline_has_teams(w);
    w->regions = fv_xcalloc(w->region_count + 1, sizeof(*w->regions));
    for (uint32_t i = 0; i < d->function_count; i++)
        w->regions[i] =
            (struct fv_timeline_region){ .name = fv_timeline_string(w, d->functions[i].name), .class = class_of(w, i) };
    for (size_t i = 0; i < c->function_count; i++)
        w->regions[d->function_count + i] =
            (struct fv_timeline_region){ .name = fv_timeline_string(w, c->functions[i].name),
                                         .file = fv_timeline_string(w, c->functions[i].file),
                                         .class = class_of_name(c->functions[i].name) };
    if (fv_timeline_has_teams(w))
        w->regions[w->region_count - 1] =
            (struct fv_timeline_region){ .name = fv_timeline_string(w, "omp parallel"), .class = FV_TIMELINE_OPENMP };
}

void fv_timeline_make_tables(struct fv_timeline_writer *w)
{
    const struct fv_defs *d = &w->merge->defs;

    fv_bytes_put(&w->strings, "", 1);
    make_regions(w);
    w->first_row = fv_xcalloc(d->rank_count + 1, sizeof(*w->first_row));
    for (size_t i = 0; i < d->rank_count; i++) {
        w->first_row[i] = (uint32_t)w->row_count;
        w->row_count += d->ranks[i].thread_count;
    }
    w->rows = fv_xcalloc(w->row_count + 1, sizeof(*w->rows));
    for (uint32_t i = 0, at = 0; i < d->rank_count; i++) {
        uint32_t host = fv_timeline_string(w, d->ranks[i].host);

        for (uint32_t k = 0; k < d->ranks[i].thread_count; k++)
            w->rows[at++] = (struct fv_timeline_row){ .rank = d->ranks[i].world_rank, .thread = k, .host = host };
    }
}

uint32_t fv_timeline_row_of(const struct fv_timeline_writer *w, uint64_t location)
{
    const struct fv_defs *d = &w->merge->defs;
    uint32_t world = (uint32_t)location, slot = (uint32_t)(location >> 32);
    size_t rank = FV_COUNT_BEFORE(i, d->rank_count, d->ranks[i].world_rank < world);

    return rank < d->rank_count && d->ranks[rank].world_rank == world && slot < d->ranks[rank].thread_count
               ? w->first_row[rank] + slot
               : FV_TIMELINE_NONE;
}

void fv_timeline_name_row(void *writer, uint64_t location, const char *name)
{
    struct fv_timeline_writer *w = writer;
    const uint32_t row = fv_timeline_row_of(w, location);

    if (row != FV_TIMELINE_NONE)
        w->rows[row].name = fv_timeline_string(w, name);
}

void fv_timeline_add_label(void *writer, uint64_t time_ns, uint64_t location, const char *text)
{
    struct fv_timeline_writer *w = writer;
    const uint32_t row = fv_timeline_row_of(w, location);

    if (row == FV_TIMELINE_NONE)
        return;
    w->header.span_ns = time_ns > w->header.span_ns ? time_ns : w->header.span_ns;
    FV_GROW(w->labels, w->label_room, w->label_count + 1);
    w->labels[w->label_count++] = (struct fv_timeline_label){ time_ns, row, fv_timeline_string(w, text) };
}

static int by_row(const void *a, const void *b)
{
    const struct fv_timeline_chunk *x = a, *y = b;

    return x->row != y->row         ? (x->row > y->row) - (x->row < y->row)
           : x->length != y->length ? (x->length > y->length) - (x->length < y->length)
                                    : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static struct fv_timeline_part part(struct fv_timeline_writer *w, const void *items, size_t count, size_t bytes)
{
    return (struct fv_timeline_part){ fv_timeline_put(w, items, count * bytes), count };
}

static void write_contexts(struct fv_timeline_writer *w)
{
    const struct fv_contexts *c = &w->merge->contexts;
    struct fv_timeline_context *all = fv_xcalloc(c->count + 1, sizeof(*all));
    uint32_t file = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct fv_calling_context *from = &c->items[i];

        if (!i || from->file != c->items[i - 1].file)
            file = fv_timeline_string(w, from->file);
        all[i] =
            (struct fv_timeline_context){ from->parent, w->regions[w->merge->defs.function_count + from->function].name,
                                          file, from->line };
    }
    w->header.contexts = part(w, all, c->count, sizeof(*all));
    free(all);
}

static int by_time(const void *a, const void *b)
{
    const struct fv_timeline_label *x = a, *y = b;

    return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : (x->row > y->row) - (x->row < y->row);
}

static void write_labels(struct fv_timeline_writer *w)
{
    const struct fv_defs *d = &w->merge->defs;
    size_t count;
    struct fv_label *from = fv_labels_of_all(d, &w->merge->clocks, &count);

    for (size_t i = 0; i < count; i++) {
        char *text = strndup(from[i].text, from[i].length);

        fv_timeline_add_label(w, from[i].time_ns, fv_location(&d->ranks[from[i].rank], 0), text);
        free(text);
    }
    if (w->label_count)
        qsort(w->labels, w->label_count, sizeof(*w->labels), by_time);
    w->header.labels = part(w, w->labels, w->label_count, sizeof(*w->labels));
    free(from);
}

static void write_comms(struct fv_timeline_writer *w)
{
    const size_t count = w->merge->defs.comm_count;
    uint32_t *traced = fv_xcalloc(count + 1, sizeof(*traced));

    for (size_t i = 0; i < count; i++)
        traced[i] = fv_groups_traced(&w->groups, (uint32_t)i);
    w->header.comms = part(w, traced, count, sizeof(*traced));
    for (size_t i = 0; i < count; i++) {
        const struct fv_def_comm *c = &w->merge->defs.comms[i];

        traced[i] = fv_timeline_string(w, c->flags & FV_COMM_WORLD  ? "MPI_COMM_WORLD"
                                          : c->flags & FV_COMM_SELF ? "MPI_COMM_SELF"
                                                                    : c->name);
    }
    w->header.comm_names = part(w, traced, count, sizeof(*traced));
    free(traced);
}

static void write_files(struct fv_timeline_writer *w)
{
    const struct fv_defs *d = &w->merge->defs;
    const size_t count = d->file_count;
    struct fv_timeline_io_file *all = fv_xcalloc(count + 1, sizeof(*all));

    for (size_t i = 0; i < count; i++)
        all[i] = (struct fv_timeline_io_file){ fv_timeline_string(w, d->files[i].name),
                                               fv_timeline_string(w, d->files[i].host) };
    w->header.files = part(w, all, count, sizeof(*all));
    free(all);
}

/* It came from its end to its begin. */
static void write_critical(struct fv_timeline_writer *w)
{
    struct fv_timeline_stretch *c = w->critical;

    for (size_t i = 0; i < w->critical_count / 2; i++) {
        const struct fv_timeline_stretch other = c[w->critical_count - 1 - i];

        c[w->critical_count - 1 - i] = c[i];
        c[i] = other;
    }
    w->header.critical = part(w, c, w->critical_count, sizeof(*c));
}

void fv_timeline_write_tables(struct fv_timeline_writer *w)
{
    write_labels(w);
    write_comms(w);
    write_files(w);
    write_critical(w);
    if (w->chunk_count)
        qsort(w->chunks, w->chunk_count, sizeof(*w->chunks), by_row);
    for (size_t i = 0; i < w->chunk_count; i++) {
        struct fv_timeline_row *row = &w->rows[w->chunks[i].row];

        row->first_chunk = row->chunk_count++ ? row->first_chunk : i;
    }
    write_contexts(w);
    w->header.kinds = part(w, w->kinds, w->kind_count, sizeof(*w->kinds));
    w->header.chunks = part(w, w->chunks, w->chunk_count, sizeof(*w->chunks));
    w->header.rows = part(w, w->rows, w->row_count, sizeof(*w->rows));
    w->header.regions = part(w, w->regions, w->region_count, sizeof(*w->regions));
    w->header.strings = part(w, w->strings.data, w->strings.count, 1);
    memcpy(w->header.magic, FV_TIMELINE_MAGIC, sizeof(w->header.magic));
    w->header.version = FV_TIMELINE_VERSION;
    w->header.span_ns++;
    w->header.file_bytes = w->at;
}
