/* SPDX-License-Identifier: BSD-3-Clause */
/* See io.h: the track. */
#include "profile/io/io.h"
#include "profile/build.h"
#include "trace/format_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gather {
    struct fv_build *build;
    struct fv_io_view *out;
    struct fv_index files, parts;
    uint32_t rank;
};

/* ---- sums ---- */

static void end_rank(struct fv_io_ranks *r)
{
    if (r->last != FV_NONE && (r->min_rank == FV_NONE || r->last_s < r->min_s)) {
        r->min_rank = r->last;
        r->min_s = r->last_s;
    }
}

/* Ranks come one after the other. */
static void add_rank(struct fv_io_ranks *r, uint32_t rank, double seconds)
{
    if (r->last != rank || !r->count) {
        if (r->count++)
            end_rank(r);
        else
            r->min_rank = r->max_rank = FV_NONE;
        r->last = rank;
        r->last_s = 0;
    }
    r->last_s += seconds;
    if (r->max_rank == FV_NONE || r->last_s > r->max_s) {
        r->max_rank = rank;
        r->max_s = r->last_s;
    }
}

static void add(const struct gather *g, struct fv_io_sum *sum, const struct fv_io_record *r)
{
    double seconds = fv_build_seconds(g->build->model, g->rank, r->ticks);

    sum->calls += r->calls;
    sum->failed += r->failed;
    sum->failed_unknown |= r->flags & FV_IO_FAILED_UNKNOWN;
    sum->bytes += r->bytes;
    sum->untimed += r->untimed;
    sum->unsized += r->unsized;
    sum->empty += r->empty;
    sum->consecutive += r->consecutive;
    sum->forward += r->forward;
    sum->placed += r->placed;
    for (unsigned i = 0; i < FV_IO_SIZES; i++)
        sum->sizes[i] += r->sizes[i];
    *(r->flags & FV_IO_IN_MPI ? &sum->in_mpi_s : &sum->seconds) += seconds;
    sum->max_s = fmax(sum->max_s, fv_build_seconds(g->build->model, g->rank, r->ticks_max));
}

/* ---- functions ---- */

struct fv_io_function_view fv_io_function(const struct fv_io_view *view, uint32_t number)
{
    return number - FV_IO_OTHER_FUNCTIONS < view->other_count
               ? view->others[number - FV_IO_OTHER_FUNCTIONS]
               : (struct fv_io_function_view){ fv_io_function_name(number), fv_io_operation_of(number) };
}

/* One of an archive, by its name and what it does. */
static uint32_t other_function(struct fv_model *m, const struct fv_io_function_words *words)
{
    struct fv_io_view *view = fv_model_io(m);
    const uint64_t hash = fv_mix2(fv_hash_text(words->name), words->operation);
    struct fv_index_probe probe = fv_index_probe(&view->other_index, hash);

    for (uint32_t i; (i = fv_index_next(&probe)) != FV_NONE;)
        if (view->others[i].operation == words->operation && !strcmp(view->others[i].name, words->name))
            return i;
    FV_GROW(view->others, view->other_room, view->other_count + 1);
    view->others[view->other_count] =
        (struct fv_io_function_view){ fv_arena_string(&m->arena, words->name), words->operation };
    fv_index_add(&view->other_index, hash, (uint32_t)view->other_count);
    return (uint32_t)view->other_count++;
}

uint32_t fv_io_function_number(struct fv_build *b, uint32_t rank, uint32_t number)
{
    struct fv_build_file *file = &b->files[rank];
    struct fv_numbers *numbers = fv_build_numbers(file, FV_CHUNK_IO_FUNCTIONS);
    uint32_t at = fv_numbers_get(numbers, number - FV_IO_OTHER_FUNCTIONS);
    struct fv_io_function_record room;

    if (number < FV_IO_OTHER_FUNCTIONS)
        return number;
    if (at == FV_NONE) {
        const struct fv_io_function_words words = fv_io_function_in(file->reader, number, &room);

        if (!words.operation || !fv_number_is_id(file->reader, number - FV_IO_OTHER_FUNCTIONS + 1))
            return FV_IO_NO_FUNCTION;
        at = other_function(b->model, &words);
        fv_numbers_set(numbers, number - FV_IO_OTHER_FUNCTIONS, at);
    }
    return FV_IO_OTHER_FUNCTIONS + at;
}

/* ---- what a rank file has ---- */

static void read_files(struct gather *g)
{
    struct fv_build_file *file = &g->build->files[g->rank];
    struct fv_cursor c = fv_cursor(file->reader, FV_CHUNK_IO_FILES);
    struct fv_numbers *files = fv_build_numbers(file, FV_CHUNK_IO_FILES);
    struct fv_io_view *out = g->out;

    for (const void *p; (p = fv_cursor_next(&c));) {
        const struct fv_io_file *f = p;
        uint32_t at =
            FV_INTERN_NAME(g->files, out->files, out->file_count, out->file_room, &g->build->model->arena, f->path);

        out->files[at].kind = f->kind;
        out->files[at].filesystem = f->filesystem;
        if (fv_number_is_id(file->reader, f->id))
            fv_numbers_set(files, f->id, at);
    }
}

static enum fv_io_operation operation_of(const struct gather *g, const struct fv_io_record *r)
{
    return (enum fv_io_operation)fv_io_function(g->out, r->function).operation;
}

static void add_to_file(struct gather *g, struct fv_io_file_view *f, const struct fv_io_record *r)
{
    enum fv_io_operation operation = operation_of(g, r);
    bool is_read = operation == FV_IO_OP_READ || operation == FV_IO_OP_ASYNC_READ,
         is_write = operation == FV_IO_OP_WRITE || operation == FV_IO_OP_ASYNC_WRITE;
    double seconds = fv_build_seconds(g->build->model, g->rank, r->ticks);

    add(g, is_read ? &f->read : is_write ? &f->write : &f->other, r);
    f->opens += operation == FV_IO_OP_OPEN ? r->calls : 0;
    f->seeks += operation == FV_IO_OP_SEEK ? r->calls : 0;
    f->syncs += operation == FV_IO_OP_SYNC ? r->calls : 0;
    f->states += operation == FV_IO_OP_STAT ? r->calls : 0;
    *(r->flags & FV_IO_IN_MPI ? &f->in_mpi_s : &f->seconds) += seconds;
    add_rank(&f->ranks, g->rank, seconds);
}

static bool makes_sense(const struct gather *g, const struct fv_io_record *r)
{
    return operation_of(g, r) && r->calls && r->failed <= r->calls && r->ticks_max <= r->ticks;
}

static void read_records(struct gather *g, struct fv_io_rank_view *rank)
{
    struct fv_build_file *file = &g->build->files[g->rank];
    struct fv_cursor c = fv_cursor(file->reader, FV_CHUNK_IO);
    const struct fv_numbers *files = fv_build_numbers(file, FV_CHUNK_IO_FILES);
    struct fv_io_view *out = g->out;
    struct fv_io_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        r.function = fv_io_function_number(g->build, g->rank, r.function);
        if (!makes_sense(g, &r))
            continue;
        uint32_t at = fv_numbers_get(files, r.file), node = fv_build_node_of(g->build, file, r.path);
        struct fv_io_part *part = FV_INTERNED(g->parts, out->parts, out->part_count, out->part_room,
                                              (uint32_t[]){ at, node, r.function, r.flags & FV_IO_IN_MPI, g->rank });
        enum fv_io_operation operation = operation_of(g, &r);
        double seconds = fv_build_seconds(g->build->model, g->rank, r.ticks);

        add(g, &part->sum, &r);
        rank->seconds += r.flags & FV_IO_IN_MPI ? 0 : seconds;
        rank->read += operation == FV_IO_OP_READ ? r.bytes : 0;
        rank->written += operation == FV_IO_OP_WRITE ? r.bytes : 0;
        if (at != FV_NONE)
            add_to_file(g, &out->files[at], &r);
    }
}

static void read_process(struct gather *g, struct fv_io_rank_view *rank)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_IO_PROCESS),
                     threads = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_IO_THREAD);
    const void *p = fv_cursor_next(&c);
    struct fv_io_thread t;
    struct fv_io_process of;

    if (p) {
        memcpy(&of, p, sizeof(of));
        rank->is_known = of.known && of.ticks;
        rank->counts = (struct fv_io_counts){ .asked_read = of.last.asked_read - of.first.asked_read,
                                              .asked_written = of.last.asked_written - of.first.asked_written,
                                              .reads = of.last.reads - of.first.reads,
                                              .writes = of.last.writes - of.first.writes,
                                              .device_read = of.last.device_read - of.first.device_read,
                                              .device_written = of.last.device_written - of.first.device_written };
    }
    while ((p = fv_cursor_next(&threads))) {
        memcpy(&t, p, sizeof(t));
        g->out->no_room += t.no_room;
        g->out->interrupted += t.interrupted;
    }
}

/* ---- the track ---- */

static void *begin_io(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_io(b->model);
    return g;
}

static void read_io(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;
    struct fv_io_view *out = g->out;
    (void)b;

    g->rank = rank;
    FV_GROW(out->ranks, out->rank_room, out->rank_count + 1);
    struct fv_io_rank_view *r = &out->ranks[out->rank_count++];
    *r = (struct fv_io_rank_view){ .rank = rank };
    read_files(g);
    read_records(g, r);
    read_process(g, r);
    out->seconds += r->seconds;
}

static int by_seconds(double a, double b, uint64_t x, uint64_t y)
{
    if (a != b)
        return a > b ? -1 : 1;
    return (x < y) - (x > y);
}

static int by_call(const void *a, const void *b)
{
    const struct fv_io_call_view *x = a, *y = b;

    return by_seconds(x->sum.seconds + x->sum.in_mpi_s, y->sum.seconds + y->sum.in_mpi_s, x->sum.calls, y->sum.calls);
}

/* Where the files are now. */
struct order {
    struct fv_io_file_view view;
    uint32_t was;
};

static int by_file(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    int order = by_seconds(x->view.seconds + x->view.in_mpi_s, y->view.seconds + y->view.in_mpi_s,
                           x->view.read.bytes + x->view.write.bytes, y->view.read.bytes + y->view.write.bytes);

    return order ? order : strcmp(x->view.path, y->view.path);
}

static void order_files(struct fv_io_view *out)
{
    struct order *order = fv_xcalloc(out->file_count, sizeof(*order));
    uint32_t *now = fv_xcalloc(out->file_count, sizeof(*now));

    for (size_t i = 0; i < out->file_count; i++)
        order[i] = (struct order){ out->files[i], (uint32_t)i };
    if (out->file_count)
        qsort(order, out->file_count, sizeof(*order), by_file);
    for (size_t i = 0; i < out->file_count; i++) {
        out->files[i] = order[i].view;
        now[order[i].was] = (uint32_t)i;
    }
    for (size_t i = 0; i < out->part_count; i++)
        out->parts[i].place.file = out->parts[i].place.file == FV_NONE ? FV_NONE : now[out->parts[i].place.file];
    free(order);
    free(now);
}

static void finish_io(struct fv_build *b, void *state)
{
    struct gather *g = state;
    struct fv_io_view *out = g->out;
    (void)b;

    for (size_t i = 0; i < out->file_count; i++)
        if (out->files[i].ranks.count)
            end_rank(&out->files[i].ranks);
    order_files(out);
    fv_io_fold(out);
    fv_index_release(&g->files);
    fv_index_release(&g->parts);
    free(g);
}

const struct fv_track fv_track_io = {
    .name = "io",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_IO, FV_CHUNK_IO_FILES, FV_CHUNK_IO_FUNCTIONS, FV_CHUNK_IO_THREAD, FV_CHUNK_IO_PROCESS },
    .begin = begin_io,
    .read = read_io,
    .finish = finish_io,
};

/* ---- over the ranks ---- */

static int by_place(const struct fv_io_place *a, const struct fv_io_place *b)
{
    const uint32_t x[] = { a->file, a->node, a->function, a->flags }, y[] = { b->file, b->node, b->function, b->flags };

    for (unsigned i = 0; i < sizeof(x) / sizeof(*x); i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int by_place_and_rank(const void *a, const void *b)
{
    const struct fv_io_part *x = a, *y = b;
    int order = by_place(&x->place, &y->place);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_sum(struct fv_io_sum *to, const struct fv_io_sum *from)
{
    to->calls += from->calls;
    to->failed += from->failed;
    to->failed_unknown |= from->failed_unknown;
    to->bytes += from->bytes;
    to->untimed += from->untimed;
    to->unsized += from->unsized;
    to->empty += from->empty;
    to->consecutive += from->consecutive;
    to->forward += from->forward;
    to->placed += from->placed;
    for (unsigned i = 0; i < FV_IO_SIZES; i++)
        to->sizes[i] += from->sizes[i];
    to->in_mpi_s += from->in_mpi_s;
    to->seconds += from->seconds;
    to->max_s = fmax(to->max_s, from->max_s);
}

static void add_part(void *to, const void *from)
{
    add_sum(&((struct fv_io_part *)to)->sum, &((const struct fv_io_part *)from)->sum);
}

void fv_io_fold(struct fv_io_view *out)
{
    struct fv_io_call_view *call = NULL;

    out->part_count = fv_fold(out->parts, out->part_count, sizeof(*out->parts), by_place_and_rank, add_part);
    out->call_count = 0;
    for (size_t i = 0; i < out->part_count; i++) {
        const struct fv_io_part *part = &out->parts[i];

        if (!call || by_place(&call->place, &part->place)) {
            FV_GROW(out->calls, out->call_room, out->call_count + 1);
            call = &out->calls[out->call_count++];
            *call = (struct fv_io_call_view){ .place = part->place };
        }
        add_sum(&call->sum, &part->sum);
        add_rank(&call->ranks, part->rank, part->sum.seconds + part->sum.in_mpi_s);
    }
    for (size_t i = 0; i < out->call_count; i++)
        end_rank(&out->calls[i].ranks);
    if (out->call_count)
        qsort(out->calls, out->call_count, sizeof(*out->calls), by_call);
}

void fv_io_view_release(void *data)
{
    struct fv_io_view *view = data;

    free(view->parts);
    free(view->calls);
    free(view->files);
    free(view->ranks);
    free(view->others);
    fv_index_release(&view->other_index);
    *view = (struct fv_io_view){ 0 };
}
