/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_relations.h: the rows. Slices come chunk by chunk of each location, so that memory is that of a chunk
 * and each is decoded once; all else is an array by time, of which a stretch is found by halving. */
#include "timeline/timeline_scan.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK_NS = 2 }; /* of what becomes a real number of seconds and comes back */

struct fv_timeline_scan {
    const struct fv_relation *relation;
    const struct fv_timeline_file *t;
    struct fv_timeline_range ranges[FV_TIMELINE_BOUNDS];
    uint64_t from, to;  /* ns, by time: from <= it < to */
    uint64_t first_end; /* ns: what ends before is not wanted */
    uint64_t least_ns;
    uint64_t at, end; /* of an array; of slices the next chunk of `row`, of values the next point of `series`, of
                       * messages and spans the next block */
    struct fv_timeline_message *messages; /* of a block */
    size_t message_count, message_room;
    struct fv_timeline_member *members; /* the same */
    size_t member_count, member_room;
    struct fv_timeline_operation operation, whole; /* operation: it is put together; whole: the row */
    struct fv_timeline_io_operation *io;           /* of a block */
    size_t io_count, io_room;
    uint32_t row, series;
    struct fv_timeline_gathering slices; /* of a chunk */
    size_t next;
    struct fv_timeline_event slice;
    struct fv_timeline_measured value;
};

static bool is_of_slices(const struct fv_relation *r)
{
    return r == &fv_timeline_call_relation || r == &fv_timeline_wait_relation || r == &fv_timeline_sample_relation;
}

/* Blocks that say when the first begins and when the last ends. */
static bool is_of_spans(const struct fv_relation *r)
{
    return r == &fv_timeline_collective_relation || r == &fv_timeline_io_relation;
}

enum fv_timeline_bound fv_timeline_bound_of(const struct fv_relation *r, const struct fv_column_def *c)
{
    static const struct {
        const char *key;
        enum fv_timeline_bound bound;
        bool spans, others; /* of slices all */
    } bounds[] = {
        { "begin_s", FV_TIMELINE_BY_TIME, true, true },        { "sent_s", FV_TIMELINE_BY_TIME, true, true },
        { "time_s", FV_TIMELINE_BY_TIME, true, true },         { "end_s", FV_TIMELINE_BY_END, true, false },
        { "duration_s", FV_TIMELINE_BY_LENGTH, false, false }, { "wait_s", FV_TIMELINE_BY_LENGTH, false, false },
        { "rank", FV_TIMELINE_BY_RANK, false, false },         { "thread", FV_TIMELINE_BY_THREAD, false, false },
    };

    for (unsigned i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
        if (!strcmp(c->key, bounds[i].key) &&
            (is_of_slices(r) || (is_of_spans(r) ? bounds[i].spans : bounds[i].others)))
            return bounds[i].bound;
    return FV_TIMELINE_BOUNDS;
}

uint64_t fv_timeline_rows(const struct fv_relation *r, const struct fv_timeline_file *t)
{
    const struct fv_timeline_header *h = t->header;
    uint64_t count = 0;

    if (is_of_slices(r))
        return h->slices;
    if (r == &fv_timeline_message_relation)
        return h->messages;
    if (r == &fv_timeline_collective_relation)
        return h->members;
    if (r == &fv_timeline_io_relation)
        return h->io;
    if (r == &fv_timeline_label_relation)
        return h->labels.count;
    if (r == &fv_timeline_critical_relation)
        return h->critical.count;
    for (uint64_t i = 0; i < h->series.count; i++)
        count += t->series[i].count;
    return count;
}

/* ---- bounds ---- */

static uint64_t ns_before(double s)
{
    const double ns = floor(s * 1e9) - SLACK_NS;

    return ns >= 0x1p63 ? UINT64_C(1) << 63 : ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t ns_behind(double s)
{
    const double ns = ceil(s * 1e9) + SLACK_NS;

    return ns >= 0x1p63 ? UINT64_MAX : ns > 0 ? (uint64_t)ns : 0;
}

static const struct fv_timeline_span_block *spans_of(const struct fv_timeline_scan *s)
{
    return s->relation == &fv_timeline_io_relation ? s->t->io : s->t->members;
}

/* What begins in time may stand in the last block that begins before. From the first one that does not end too early
 * all are read, so that no operation has a gap. */
static void choose_spans(struct fv_timeline_scan *s)
{
    const struct fv_timeline_header *h = s->t->header;
    const struct fv_timeline_span_block *blocks = spans_of(s);
    const uint64_t count = s->relation == &fv_timeline_io_relation ? h->io_blocks.count : h->member_blocks.count;

    s->end = FV_COUNT_BEFORE(i, count, blocks[i].begin_ns < s->to);
    s->at = FV_COUNT_BEFORE(i, s->end, blocks[i].begin_ns < s->from);
    s->at -= s->at > 0;
    while (s->at < s->end && blocks[s->at].end_ns < s->first_end)
        s->at++;
}

struct fv_timeline_scan *fv_timeline_scan_begin(const struct fv_relation *r, const struct fv_timeline_file *t,
                                                const struct fv_timeline_range ranges[FV_TIMELINE_BOUNDS])
{
    struct fv_timeline_scan *s = fv_xcalloc(1, sizeof(*s));

    s->relation = r;
    s->t = t;
    memcpy(s->ranges, ranges, sizeof(s->ranges));
    s->from = ns_before(ranges[FV_TIMELINE_BY_TIME].least);
    s->to = ns_behind(ranges[FV_TIMELINE_BY_TIME].most);
    s->first_end = ns_before(ranges[FV_TIMELINE_BY_END].least);
    s->least_ns = ns_before(ranges[FV_TIMELINE_BY_LENGTH].least);
    if (ranges[FV_TIMELINE_BY_END].most < ranges[FV_TIMELINE_BY_TIME].most) /* it begins before it ends */
        s->to = ns_behind(ranges[FV_TIMELINE_BY_END].most);
    s->row = UINT32_MAX;
    s->series = UINT32_MAX;
    if (is_of_spans(r)) {
        choose_spans(s);
    } else if (r == &fv_timeline_message_relation) {
        s->end = t->header->message_blocks.count;
    } else if (r == &fv_timeline_label_relation) {
        s->end = t->header->labels.count;
        s->at = FV_COUNT_BEFORE(i, s->end, t->labels[i].ns < s->from);
    } else if (r == &fv_timeline_critical_relation) {
        s->end = t->header->critical.count;
        s->at = FV_COUNT_BEFORE(i, s->end, t->critical[i].begin_ns < s->from);
    }
    return s;
}

void fv_timeline_scan_end(struct fv_timeline_scan *s)
{
    if (!s)
        return;
    free(s->slices.items);
    free(s->messages);
    free(s->members);
    free(s->io);
    free(s);
}

/* ---- slices ---- */

static bool is_within(double value, const struct fv_timeline_range *range)
{
    return value >= range->least && value <= range->most;
}

static bool next_row(struct fv_timeline_scan *s)
{
    while (++s->row < s->t->header->rows.count) {
        const struct fv_timeline_row *r = &s->t->rows[s->row];

        if (!is_within(r->rank, &s->ranges[FV_TIMELINE_BY_RANK]) ||
            !is_within(r->thread, &s->ranges[FV_TIMELINE_BY_THREAD]))
            continue;
        s->at = r->first_chunk;
        s->end = r->first_chunk + r->chunk_count;
        return true;
    }
    return false;
}

static bool keep(void *context, const struct fv_timeline_seen *slice)
{
    struct fv_timeline_scan *s = context;

    FV_GROW(s->slices.items, s->slices.room, s->slices.count + 1);
    s->slices.items[s->slices.count++] = *slice;
    return true;
}

/* Of the next chunk that may have some. A slice's own stretch is within [begin - 1, end]: one of no length, too. */
static bool next_chunk(struct fv_timeline_scan *s)
{
    const uint64_t since = s->from > s->first_end ? s->from : s->first_end;

    while (s->at < s->end || next_row(s)) {
        s->next = s->slices.count = 0;
        while (s->at < s->end && !s->slices.count)
            fv_timeline_chunk_slices(s->t, s->at++, since ? since - 1 : 0, s->to, s->least_ns, keep, s);
        if (s->slices.count)
            return true;
    }
    return false;
}

static bool is_wanted(const struct fv_timeline_scan *s, const struct fv_timeline_seen *seen)
{
    if (seen->begin_ns < s->from)
        return false;
    return s->relation == &fv_timeline_sample_relation ? seen->is_sampled
           : s->relation == &fv_timeline_wait_relation ? seen->wait_ns > 0
                                                       : !seen->is_sampled;
}

static const void *next_slice(struct fv_timeline_scan *s)
{
    while (s->next < s->slices.count || next_chunk(s)) {
        const struct fv_timeline_seen *seen = &s->slices.items[s->next++];

        if (!is_wanted(s, seen))
            continue;
        s->slice = (struct fv_timeline_event){ *seen, s->row };
        return &s->slice;
    }
    return NULL;
}

/* ---- by blocks ---- */

/* What the block has is kept. */
typedef void read_block(struct fv_timeline_scan *s, uint64_t block);

/* The next of `count` that were kept is there; false: there are no more. */
static bool has_next(struct fv_timeline_scan *s, size_t *count, read_block *read)
{
    while (s->next == *count) {
        if (s->at == s->end)
            return false;
        s->next = *count = 0;
        read(s, s->at++);
    }
    return true;
}

/* ---- messages ---- */

static void keep_message(void *context, const struct fv_timeline_message *message)
{
    struct fv_timeline_scan *s = context;

    if (message->sent_ns < s->from)
        return;
    FV_GROW(s->messages, s->message_room, s->message_count + 1);
    s->messages[s->message_count++] = *message;
}

static void read_messages(struct fv_timeline_scan *s, uint64_t block)
{
    fv_timeline_block_messages(s->t, block, s->from, s->to, keep_message, s);
}

static const void *next_message(struct fv_timeline_scan *s)
{
    return has_next(s, &s->message_count, read_messages) ? &s->messages[s->next++] : NULL;
}

/* ---- collective operations, and those on files ---- */

static void keep_member(void *context, const struct fv_timeline_member *member)
{
    struct fv_timeline_scan *s = context;

    FV_GROW(s->members, s->member_room, s->member_count + 1);
    s->members[s->member_count++] = *member;
}

static void read_members(struct fv_timeline_scan *s, uint64_t block)
{
    fv_timeline_block_members(s->t, block, keep_member, s);
}

/* Calls at the begin that go on with an operation are of one that begins too early. */
static const void *next_operation(struct fv_timeline_scan *s)
{
    const struct fv_timeline_member *m;

    do {
        m = has_next(s, &s->member_count, read_members) ? &s->members[s->next] : NULL;
        const bool ends = !m || m->flags & FV_TIMELINE_MEMBER_BEGINS;

        if (ends)
            s->whole = s->operation;
        if (!m)
            s->operation.calls = 0;
        else if (ends || s->operation.calls)
            fv_timeline_operation_add(&s->operation, m);
        s->next += m != NULL;
        if (ends && s->whole.calls && s->whole.begin_ns >= s->from)
            return &s->whole;
    } while (m);
    return NULL;
}

static void keep_io(void *context, const struct fv_timeline_io_operation *operation)
{
    struct fv_timeline_scan *s = context;

    if (operation->begin_ns < s->from || operation->begin_ns >= s->to)
        return;
    FV_GROW(s->io, s->io_room, s->io_count + 1);
    s->io[s->io_count++] = *operation;
}

static void read_io(struct fv_timeline_scan *s, uint64_t block)
{
    fv_timeline_block_io(s->t, block, keep_io, s);
}

static const void *next_io(struct fv_timeline_scan *s)
{
    return has_next(s, &s->io_count, read_io) ? &s->io[s->next++] : NULL;
}

/* ---- arrays ---- */

static const void *next_value(struct fv_timeline_scan *s)
{
    const struct fv_timeline_point *points;

    while (s->at >= s->end) {
        if (++s->series >= s->t->header->series.count)
            return NULL;
        s->value.series = s->t->series[s->series];
        points = (const void *)(s->t->map + s->value.series.points);
        s->end = FV_COUNT_BEFORE(i, s->value.series.count, points[i].ns < s->to);
        s->at = FV_COUNT_BEFORE(i, s->end, points[i].ns < s->from);
    }
    points = (const void *)(s->t->map + s->value.series.points);
    s->value.ns = points[s->at].ns;
    s->value.value = points[s->at++].value;
    return &s->value;
}

static const void *next_of_array(struct fv_timeline_scan *s, const void *item, uint64_t ns)
{
    s->at++;
    return ns < s->to ? item : NULL;
}

const void *fv_timeline_scan_next(struct fv_timeline_scan *s)
{
    const struct fv_timeline_file *t = s->t;

    if (is_of_slices(s->relation))
        return next_slice(s);
    if (s->relation == &fv_timeline_value_relation)
        return next_value(s);
    if (s->relation == &fv_timeline_message_relation)
        return next_message(s);
    if (s->relation == &fv_timeline_collective_relation)
        return next_operation(s);
    if (s->relation == &fv_timeline_io_relation)
        return next_io(s);
    if (s->at >= s->end)
        return NULL;
    if (s->relation == &fv_timeline_label_relation)
        return next_of_array(s, &t->labels[s->at], t->labels[s->at].ns);
    return next_of_array(s, &t->critical[s->at], t->critical[s->at].begin_ns);
}
