/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_write.h. */
#include "timeline/timeline_state.h"
#include "tool/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 512 /* slices */

static struct fv_timeline_writer *writer_of(struct fv_sink *sink)
{
    return (struct fv_timeline_writer *)(void *)sink;
}

/* ---- slices ---- */

static unsigned length_of(uint64_t ns)
{
    return ns ? (63 - (unsigned)__builtin_clzll(ns)) / 2 : 0;
}

static void put_chunk(struct fv_timeline_writer *w, struct fv_timeline_thread *t, unsigned length)
{
    fv_timeline_put_chunk(w, fv_timeline_limit_put, t, length);
    fv_timeline_limit_apply(w);
}

static void keep(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_timeline_slice *slice)
{
    const struct fv_timeline_slice_kind *kind = &w->kinds[slice->kind];
    const bool is_sampled = kind->flags & FV_TIMELINE_SAMPLED;
    unsigned length = length_of(slice->ns);
    struct fv_timeline_row *row = &w->rows[t->row];
    struct fv_timeline_region *region = &w->regions[kind->region];

    if (length < w->limit.least) {
        row->left_out++;
    } else {
        FV_GROW(t->lengths[length].items, t->lengths[length].room, t->lengths[length].count + 1);
        t->lengths[length].items[t->lengths[length].count++] = *slice;
        if (t->lengths[length].count == CHUNK)
            put_chunk(w, t, length);
    }
    row->begin_ns = row->end_ns && row->begin_ns < slice->begin_ns ? row->begin_ns : slice->begin_ns;
    row->end_ns = row->end_ns > slice->begin_ns + slice->ns ? row->end_ns : slice->begin_ns + slice->ns;
    row->slices += !is_sampled;
    row->depth = row->depth > slice->depth + 1 ? row->depth : slice->depth + 1;
    region->count += !is_sampled;
    region->ns += slice->ns;
}

static void end_sampled(struct fv_timeline_writer *w, struct fv_timeline_thread *t)
{
    if (t->sampled.ns)
        keep(w, t, &t->sampled);
    t->sampled.ns = 0;
}

/* What the innermost region has had until now. */
static void spend(struct fv_timeline_writer *w, struct fv_timeline_thread *t, uint64_t now)
{
    if (t->depth && now > t->since_ns)
        fv_timeline_add_piece(w, &t->bins,
                              &(struct fv_timeline_piece){ t->since_ns, now, t->open[t->depth - 1].region });
    t->since_ns = now > t->since_ns ? now : t->since_ns;
}

static void enter(struct fv_timeline_writer *w, struct fv_timeline_thread *t, uint64_t now, uint32_t region,
                  uint32_t node, bool is_open)
{
    end_sampled(w, t);
    spend(w, t, now);
    FV_GROW(t->open, t->room, t->depth + 1);
    t->open[t->depth++] = (struct fv_timeline_open){
        .begin_ns = now,
        .region = region,
        .context = node ? w->merge->context_of_node[node] : FV_TIMELINE_NONE,
        .comm = FV_TIMELINE_NONE,
        .root = FV_TIMELINE_NONE,
        .file = FV_TIMELINE_NONE,
        .is_open = is_open,
    };
}

/* Of a slice in the regions that are open. */
static uint32_t kind_of(struct fv_timeline_writer *w, const struct fv_timeline_thread *t, uint32_t region,
                        uint32_t flags)
{
    const uint32_t outer = t->depth ? t->open[t->depth - 1].region : FV_TIMELINE_NONE;

    return FV_INTERN(w->kind_index, w->kinds, w->kind_count, w->kind_room,
                     (struct fv_timeline_slice_kind){ region, outer, (uint32_t)t->depth, flags });
}

/* An archive's wait is told once it is over, in the region that has it. */
static void waited_within(struct fv_timeline_thread *t, uint64_t wait_ns, uint32_t cause)
{
    if (!t->depth || !wait_ns)
        return;
    t->open[t->depth - 1].wait_ns += wait_ns;
    t->open[t->depth - 1].cause = cause;
}

/* wait_ns: from its begin on, for a row. */
static void leave(struct fv_timeline_writer *w, struct fv_timeline_thread *t, uint64_t now, uint64_t wait_ns,
                  uint32_t cause)
{
    if (!t->depth)
        return;
    end_sampled(w, t);
    spend(w, t, now);
    const struct fv_timeline_open *o = &t->open[--t->depth];
    struct fv_timeline_slice slice = { .begin_ns = o->begin_ns,
                                       .ns = now > o->begin_ns ? now - o->begin_ns : 0,
                                       .depth = (uint32_t)t->depth,
                                       .context = o->context,
                                       .cause = cause,
                                       .comm = o->comm,
                                       .instance = o->instance,
                                       .root = o->root,
                                       .file = o->file };
    if (!wait_ns && o->wait_ns) {
        wait_ns = o->wait_ns;
        slice.cause = o->cause;
    }
    slice.wait_ns = wait_ns < slice.ns ? wait_ns : slice.ns;
    if (o->first_member)
        fv_timeline_member_leave(w, t, o, now, slice.wait_ns);
    if (!slice.ns && w->regions[o->region].class == FV_TIMELINE_THREADS) {
        waited_within(t, wait_ns, cause);
        return;
    }
    slice.kind = kind_of(w, t, o->region,
                         (o->comm != FV_TIMELINE_NONE ? FV_TIMELINE_TOGETHER : 0) |
                             (o->file != FV_TIMELINE_NONE ? FV_TIMELINE_OF_FILE : 0));
    keep(w, t, &slice);
    if (slice.wait_ns)
        fv_timeline_add_piece(
            w, &t->bins,
            &(struct fv_timeline_piece){ slice.begin_ns, slice.begin_ns + slice.wait_ns, FV_TIMELINE_NONE });
}

/* The function of the program at a node of the call tree. */
static uint32_t function_at(const struct fv_timeline_writer *w, uint32_t node)
{
    const struct fv_merge *m = w->merge;
    uint32_t function = m->function_of_node[node], context = m->context_of_node[node];

    if (function == FV_NONE && context < w->context_count)
        function = w->function_of_context[context];
    return function == FV_NONE ? FV_TIMELINE_NONE : (uint32_t)m->defs.function_count + function;
}

/* Does MPI, or the C library, call it within the call that is open? That is none of the program's functions. */
static bool is_of_call(const struct fv_timeline_writer *w, const struct fv_timeline_thread *t, uint32_t node)
{
    const struct fv_merge *m = w->merge;

    return w->code && t->depth && t->open[t->depth - 1].region < m->defs.function_count &&
           !t->open[t->depth - 1].is_open && w->code[m->defs.tree.nodes[node].module] == FV_CODE_OTHER;
}

static void instance(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    const uint32_t function = function_at(w, r->context);

    if (function != FV_TIMELINE_NONE && !is_of_call(w, t, r->context))
        enter(w, t, r->time_ns, function, r->context, r->peer == 1);
}

static void instance_end(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    if (t->depth && t->open[t->depth - 1].region == function_at(w, r->context))
        leave(w, t, r->time_ns, 0, FV_TIMELINE_NONE);
}

/* Outside of all regions, and in a section alone, a sample says where the time since the one before, or the last
 * region, went: as much of it as the thread had of a processor, right before the sample. */
static void sample(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    const uint32_t context = w->merge->context_of_node[r->context];
    const uint32_t region = context < w->context_count ? (uint32_t)w->merge->defs.function_count +
                                                             w->function_of_context[w->context_count + context]
                                                       : function_at(w, r->context);
    const uint64_t least = r->sent < r->time_ns ? r->time_ns - r->sent : 0;
    const uint64_t begin = t->since_ns > least ? t->since_ns : least;

    w->rows[t->row].samples++;
    w->header.samples++;
    if ((t->depth && !t->open[t->depth - 1].is_open) || region == FV_TIMELINE_NONE || begin >= r->time_ns)
        return;
    spend(w, t, begin);
    fv_timeline_add_piece(w, &t->bins, &(struct fv_timeline_piece){ begin, r->time_ns, region });
    if (t->sampled.ns && w->kinds[t->sampled.kind].region == region && t->sampled.context == context &&
        t->sampled.begin_ns + t->sampled.ns == begin) {
        t->sampled.ns += r->time_ns - begin;
    } else {
        end_sampled(w, t);
        t->sampled = (struct fv_timeline_slice){ .begin_ns = begin,
                                                 .ns = r->time_ns - begin,
                                                 .kind = kind_of(w, t, region, FV_TIMELINE_SAMPLED),
                                                 .depth = (uint32_t)t->depth,
                                                 .context = context,
                                                 .cause = FV_TIMELINE_NONE };
    }
    t->since_ns = r->time_ns;
}

/* Of several that a call completes the first one. */
static void take_part(const struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    const uint32_t own = w->rows[t->row].rank;
    struct fv_timeline_open *o = t->depth ? &t->open[t->depth - 1] : NULL;

    if (!o || o->comm != FV_TIMELINE_NONE || r->aux == FV_NONE || r->tag)
        return;
    o->comm = r->ref;
    o->instance = r->aux;
    o->root = r->peer == FV_PEER_SELF   ? own
              : r->peer >= FV_PEER_OURS ? FV_TIMELINE_NONE
                                        : fv_groups_peer(&w->groups, r->ref, own, r->peer);
}

/* A call of MPI's or of the C library's for a file that is open. */
static void use_file(const struct fv_timeline_writer *w, struct fv_timeline_thread *t, uint32_t handle)
{
    const struct fv_defs *d = &w->merge->defs;
    struct fv_timeline_open *o = t->depth ? &t->open[t->depth - 1] : NULL;

    if (o && o->file == FV_TIMELINE_NONE && handle < d->handle_count && d->handles[handle].file < d->file_count &&
        w->regions[o->region].class != FV_TIMELINE_FUNCTION)
        o->file = d->handles[handle].file;
}

/* Ends come in the order of begins: a region around others that is left takes them along. */
static void team(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    if (w->parallel == FV_TIMELINE_NONE)
        return;
    if (r->kind == FV_REC_TEAM_BEGIN)
        enter(w, t, r->time_ns, w->parallel, 0, true);
    else if (t->depth && t->open[t->depth - 1].region == w->parallel)
        leave(w, t, r->time_ns, 0, FV_TIMELINE_NONE);
}

/* ---- records ---- */

static void collective(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    if (r->kind != FV_REC_ICOLL_BEGIN)
        take_part(w, t, r);
    fv_timeline_member_record(w, t, r);
}

/* Then it is as one on the window's communicator. */
static void on_window(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    struct fv_record of = *r;

    of.aux = fv_timeline_window_number(w, r);
    of.ref = w->merge->defs.windows[r->ref].comm;
    of.peer = FV_PEER_NONE;
    collective(w, t, &of);
}

static void io(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    use_file(w, t, r->ref);
    fv_timeline_io_record(w, t, r);
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    struct fv_timeline_writer *w = writer_of(sink);
    struct fv_timeline_thread *t = &w->threads[slot];

    w->header.span_ns = r->time_ns > w->header.span_ns ? r->time_ns : w->header.span_ns;
    switch ((enum fv_record_kind)r->kind) {
    case FV_REC_ENTER:
    case FV_REC_LIBRARY_ENTER:
    case FV_REC_WORK_ENTER:
    case FV_REC_REGION_ENTER:
    case FV_REC_SECTION_ENTER:
        enter(w, t, r->time_ns, r->ref, r->kind == FV_REC_SECTION_ENTER ? 0 : r->context,
              r->kind == FV_REC_SECTION_ENTER);
        break;
    case FV_REC_INSTANCE: instance(w, t, r); break;
    case FV_REC_LEAVE:
    case FV_REC_REGION_LEAVE:
        leave(w, t, r->time_ns, r->sent, r->sent ? fv_timeline_row_of(w, r->id) : FV_TIMELINE_NONE);
        break;
    case FV_REC_LIBRARY_LEAVE:
        if (r->aux)
            use_file(w, t, r->aux - 1);
        leave(w, t, r->time_ns, 0, FV_TIMELINE_NONE);
        break;
    case FV_REC_WORK_LEAVE:
    case FV_REC_SECTION_LEAVE: leave(w, t, r->time_ns, 0, FV_TIMELINE_NONE); break;
    case FV_REC_INSTANCE_END: instance_end(w, t, r); break;
    case FV_REC_TEAM_BEGIN:
    case FV_REC_TEAM_END: team(w, t, r); break;
    case FV_REC_SAMPLE: sample(w, t, r); break;
    case FV_REC_COLL_END:
    case FV_REC_ICOLL_END:
    case FV_REC_ICOLL_BEGIN: collective(w, t, r); break;
    case FV_REC_RMA_COLL_END: on_window(w, t, r); break;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_SEEK:
    case FV_REC_IO_BEGIN:
    case FV_REC_IO_END:
    case FV_REC_IO_CANCEL: io(w, t, r); break;
    case FV_REC_COUNTER:
    case FV_REC_SENSOR: fv_timeline_count_record(w, t->row, r); break;
    default: fv_timeline_message_record(w, t->row, r);
    }
    return !w->failed;
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_timeline_writer *w = writer_of(sink);
    size_t before = w->thread_room;
    uint32_t row = fv_timeline_row_of(w, location);

    if (row == FV_TIMELINE_NONE)
        return false;
    FV_GROW(w->threads, w->thread_room, (size_t)slot + 1);
    memset(w->threads + before, 0, (w->thread_room - before) * sizeof(*w->threads));
    w->threads[slot].row = row;
    if (!slot) {
        fv_timeline_match(w);
        fv_timeline_forget_rank(w);
        fv_timeline_derive(w);
        fv_timeline_write_values(w);
    }
    return true;
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_timeline_writer *w = writer_of(sink);
    struct fv_timeline_thread *t = &w->threads[slot];
    struct fv_timeline_row *row = &w->rows[t->row];

    while (t->depth)
        leave(w, t, t->since_ns, 0, FV_TIMELINE_NONE);
    end_sampled(w, t);
    for (unsigned i = 0; i < FV_TIMELINE_LENGTHS; i++) {
        put_chunk(w, t, i);
        free(t->lengths[i].items);
    }
    fv_timeline_end_bins(w, &t->bins, row);
    w->header.slices += row->slices;
    free(t->open);
    *t = (struct fv_timeline_thread){ .row = t->row };
    return !w->failed;
}

/* ---- the file ---- */

/* That of another process than the first has no name. */
static int open_file(const char *path, int process)
{
    char own[PATH_MAX];

    snprintf(own, sizeof(own), process ? "%s.%d" : "%s", path, process);
    int fd = fv_new_file(own, O_RDWR, 0666);
    if (fd < 0)
        fv_log("%s: %s", own, strerror(errno));
    else if (process)
        unlink(own);
    return fd;
}

struct fv_timeline_writer *fv_timeline_create(const char *path, const struct fv_merge *merge, uint64_t most_bytes)
{
    struct fv_timeline_writer *w;
    struct fv_timeline_limit limit = { 0 };
    int fd = open_file(path, merge->transport->rank);

    if (fv_transport_any(merge->transport, fd < 0 || !fv_timeline_limit_open(&limit, path, merge, most_bytes))) {
        if (fd >= 0)
            close(fd);
        fv_timeline_limit_close(&limit);
        return NULL;
    }
    w = fv_xcalloc(1, sizeof(*w));
    w->limit = limit;
    w->header.most_bytes = most_bytes;
    w->sink = (struct fv_sink){ .open = open_location, .put = put, .close = close_location };
    w->merge = merge;
    w->path = strdup(path);
    w->out = fdopen(fd, "w+");
    fv_groups_init(&w->groups, &merge->defs);
    fv_timeline_make_tables(w);
    fv_timeline_share(w);
    w->parallel = fv_timeline_has_teams(w) ? (uint32_t)w->region_count - 1 : FV_TIMELINE_NONE;
    fv_timeline_put(w, &w->header, sizeof(w->header));
    return w;
}

struct fv_sink *fv_timeline_sink(struct fv_timeline_writer *w)
{
    return &w->sink;
}

static void release(struct fv_timeline_writer *w)
{
    fv_timeline_limit_close(&w->limit);
    fv_groups_release(&w->groups);
    for (size_t i = 0; i < w->value_count; i++)
        free(w->values[i].points);
    fv_index_release(&w->value_index);
    free(w->values);
    free(w->critical);
    free(w->labels);
    free(w->function_of_context);
    free(w->code);
    fv_timeline_packer_release(&w->packer);
    free(w->path);
    free(w->rows);
    free(w->first_row);
    free(w->regions);
    free(w->kinds);
    fv_index_release(&w->kind_index);
    free(w->chunks);
    free(w->strings.data);
    free(w->threads);
    fv_timeline_release_messages(w);
    free(w->members);
    free(w->io);
    free(w->begun_members);
    free(w->window_counts);
    free(w->begun_io);
    free(w);
}

static void leave_out_critical(struct fv_timeline_writer *w)
{
    if (fv_timeline_limit_takes(w, w->critical_count * sizeof(*w->critical)))
        return;
    w->header.left_out.critical = w->critical_count;
    w->critical_count = 0;
}

/* By the first process. */
static bool write_file(struct fv_timeline_writer *w, uint64_t source)
{
    w->header.source = source;
    fv_timeline_write_series(w);
    fv_timeline_write_messages(w);
    fv_timeline_write_members(w);
    fv_timeline_write_io(w);
    leave_out_critical(w);
    fv_timeline_write_tables(w);
    /* What was left out may have been written. */
    if (fflush(w->out) || w->failed || ftruncate(fileno(w->out), (off_t)w->at))
        return false;
    w->header.complete = 1;
    return !fseek(w->out, 0, SEEK_SET) && fwrite(&w->header, sizeof(w->header), 1, w->out) == 1;
}

void fv_timeline_doubt(struct fv_timeline_writer *w, const struct fv_timeline_doubts *doubts)
{
    w->header.doubts = *doubts;
}

bool fv_timeline_finish(struct fv_timeline_writer *w, bool good, uint64_t source)
{
    const bool is_first = !w->merge->transport->rank;
    bool written = good;

    if (good) {
        fv_timeline_match(w);
        fv_timeline_derive(w);
        fv_timeline_write_values(w);
        fv_timeline_limit_end(w);
        fv_timeline_join(w);
        written = !fv_transport_any(w->merge->transport, w->failed) && (!is_first || write_file(w, source));
    }
    if ((fclose(w->out) || !written) && is_first) {
        if (good)
            fv_log("%s: %s; is there room on the disk?", w->path, strerror(errno));
        written = false;
        unlink(w->path);
    }
    release(w);
    return written;
}
