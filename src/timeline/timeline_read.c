/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_read.h. */
#include "timeline/timeline_read.h"
#include "timeline/timeline_blocks.h"
#include "tool/vec.h"
#include "trace/events.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the file ---- */

/* NULL: it is not in the file. */
static const void *part(const struct fv_timeline_file *t, struct fv_timeline_part p, size_t bytes)
{
    return p.offset % 8 || p.offset > t->bytes || p.count > (t->bytes - p.offset) / bytes ? NULL : t->map + p.offset;
}

static bool is_block(const struct fv_timeline_file *t, uint64_t from, const struct fv_timeline_block *b)
{
    const uint64_t offset = from + b->offset;

    return offset <= t->bytes && b->bytes <= t->bytes - offset && b->count <= FV_TIMELINE_RAW;
}

static bool leaves_are_right(const struct fv_timeline_file *t, const struct fv_timeline_row *r)
{
    const struct fv_timeline_block *b =
        part(t, (struct fv_timeline_part){ r->leaves, r->leaf_blocks }, sizeof(struct fv_timeline_block));

    for (uint32_t i = 0; b && i < r->leaf_blocks; i++)
        if (!is_block(t, r->bins, &b[i]))
            return false;
    return b && r->leaf_width <= 63;
}

#define LATEST_NS (UINT64_C(1) << 62)

static bool rows_are_right(const struct fv_timeline_file *t)
{
    const struct fv_timeline_header *h = t->header;

    for (uint64_t i = 0; i < h->rows.count; i++) {
        const struct fv_timeline_row *r = &t->rows[i];
        uint64_t bins = 0, n = r->bin_count;

        if (n > t->bytes || r->levels > 63) /* then the sum is right, too */
            return false;
        for (uint32_t k = 0; k < r->levels; k++, n = (n + 1) / 2)
            bins += n;
        if (r->begin_ns > r->end_ns || r->end_ns > LATEST_NS || r->width > 63 || r->width + r->levels > 63 ||
            r->first_kind > h->kinds.count || r->first_chunk > h->chunks.count ||
            r->chunk_count > h->chunks.count - r->first_chunk || r->region_bytes > 4 ||
            r->classes & ~(FV_TIMELINE_WAITS | ((1u << FV_TIMELINE_CLASS_COUNT) - 1)) ||
            !part(t, (struct fv_timeline_part){ r->bins, bins }, fv_timeline_bin_bytes(r->classes, r->region_bytes)) ||
            !leaves_are_right(t, r))
            return false;
    }
    return true;
}

static bool kinds_are_right(const struct fv_timeline_file *t)
{
    const uint64_t regions = t->header->regions.count;

    for (uint64_t i = 0; i < t->header->kinds.count; i++)
        if (t->kinds[i].region >= regions || (t->kinds[i].outer >= regions && t->kinds[i].outer != FV_TIMELINE_NONE))
            return false;
    return true;
}

static bool blocks_are_right(const struct fv_timeline_file *t)
{
    for (uint64_t i = 0; i < t->header->chunks.count; i++)
        if (!is_block(t, 0, &t->chunks[i].block) || t->chunks[i].row >= t->header->rows.count)
            return false;
    for (uint64_t i = 0; i < t->header->message_blocks.count; i++)
        if (!is_block(t, 0, &t->messages[i].block))
            return false;
    for (uint64_t i = 0; i < t->header->member_blocks.count; i++)
        if (!is_block(t, 0, &t->members[i].block))
            return false;
    for (uint64_t i = 0; i < t->header->io_blocks.count; i++)
        if (!is_block(t, 0, &t->io[i].block))
            return false;
    return true;
}

static bool series_are_right(const struct fv_timeline_file *t)
{
    for (uint64_t i = 0; i < t->header->series.count; i++) {
        const struct fv_timeline_series *s = &t->series[i];

        if (s->row >= t->header->rows.count ||
            !part(t, (struct fv_timeline_part){ s->points, s->count }, sizeof(struct fv_timeline_point)) ||
            !part(t, (struct fv_timeline_part){ s->extremes, fv_timeline_extremes_of(s->count) },
                  sizeof(struct fv_timeline_extremes)))
            return false;
    }
    return true;
}

static bool is_right(struct fv_timeline_file *t, uint64_t source)
{
    const struct fv_timeline_header *h = t->header;

    if (t->bytes < sizeof(*h) || memcmp(h->magic, FV_TIMELINE_MAGIC, sizeof(h->magic)) != 0 ||
        h->version != FV_TIMELINE_VERSION || !h->complete || h->file_bytes != t->bytes ||
        (source != FV_TIMELINE_ANY && h->source != source))
        return false;
    t->rows = part(t, h->rows, sizeof(*t->rows));
    t->regions = part(t, h->regions, sizeof(*t->regions));
    t->kinds = part(t, h->kinds, sizeof(*t->kinds));
    t->chunks = part(t, h->chunks, sizeof(*t->chunks));
    t->messages = part(t, h->message_blocks, sizeof(*t->messages));
    t->members = part(t, h->member_blocks, sizeof(*t->members));
    t->io = part(t, h->io_blocks, sizeof(*t->io));
    t->files = part(t, h->files, sizeof(*t->files));
    t->contexts = part(t, h->contexts, sizeof(*t->contexts));
    t->series = part(t, h->series, sizeof(*t->series));
    t->labels = part(t, h->labels, sizeof(*t->labels));
    t->critical = part(t, h->critical, sizeof(*t->critical));
    t->comms = part(t, h->comms, sizeof(*t->comms));
    t->comm_names = part(t, h->comm_names, sizeof(*t->comm_names));
    t->strings = part(t, h->strings, 1);
    return h->regions.count && t->rows && t->regions && t->chunks && t->messages && t->contexts && t->strings &&
           t->series && t->labels && t->critical && t->comms && t->comm_names && t->members && t->io && t->files &&
           t->kinds && series_are_right(t) && h->strings.count && !t->strings[h->strings.count - 1] &&
           rows_are_right(t) && kinds_are_right(t) && blocks_are_right(t);
}

bool fv_timeline_open(struct fv_timeline_file *t, const char *path, uint64_t source)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a FIFO is no reason to wait */
    struct stat st;

    *t = (struct fv_timeline_file){ 0 };
    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);

        t->map = map == MAP_FAILED ? NULL : map;
        t->bytes = (size_t)st.st_size;
        t->header = map == MAP_FAILED ? NULL : map;
    }
    close(fd);
    if (t->map && is_right(t, source))
        return true;
    fv_timeline_close(t);
    return false;
}

void fv_timeline_close(struct fv_timeline_file *t)
{
    if (t->map)
        munmap((void *)(uintptr_t)t->map, t->bytes);
    *t = (struct fv_timeline_file){ 0 };
}

const char *fv_timeline_text(const struct fv_timeline_file *t, uint32_t string)
{
    return string < t->header->strings.count ? t->strings + string : "";
}

const char *fv_timeline_comm_name(const struct fv_timeline_file *t, uint32_t comm)
{
    return comm < t->header->comm_names.count ? fv_timeline_text(t, t->comm_names[comm]) : "";
}

const char *fv_timeline_file_name(const struct fv_timeline_file *t, uint32_t file)
{
    return file < t->header->files.count ? fv_timeline_text(t, t->files[file].name) : "";
}

/* ---- slices ---- */

struct fv_timeline_slice_kind fv_timeline_slice_kind_of(const struct fv_timeline_file *t, uint32_t row, uint64_t kind)
{
    const uint64_t first = t->rows[row].first_kind;

    return kind < t->header->kinds.count - first ? t->kinds[first + kind]
                                                 /* damaged */
                                                 : (struct fv_timeline_slice_kind){ .outer = FV_TIMELINE_NONE };
}

/* `times`: without call paths, and who else took part. */
static inline struct fv_timeline_seen next_slice(const struct fv_timeline_file *t, struct fv_timeline_column *columns,
                                                 uint64_t before, uint32_t row, bool times)
{
    struct fv_timeline_seen s = { .context = FV_TIMELINE_NONE, .cause = FV_TIMELINE_NONE };

    s.comm = s.root = s.file = FV_TIMELINE_NONE;
    s.begin_ns = before + fv_timeline_next(&columns[0]);
    s.ns = fv_timeline_next(&columns[1]);
    const uint64_t number = fv_timeline_next(&columns[2]);
    const struct fv_timeline_slice_kind kind = fv_timeline_slice_kind_of(t, row, number >> 1);
    s.region = kind.region;
    s.depth = kind.depth;
    s.is_sampled = kind.flags & FV_TIMELINE_SAMPLED;
    s.wait_ns = number & 1 ? fv_timeline_next(&columns[3]) : 0;
    if (times)
        return s;
    const uint64_t context = fv_timeline_next(&columns[4]);
    if (context && context <= t->header->contexts.count)
        s.context = (uint32_t)context - 1;
    if (number & 1) {
        const uint64_t cause = row + (uint64_t)fv_unzigzag(fv_timeline_next(&columns[5]));
        if (cause && cause <= t->header->rows.count)
            s.cause = (uint32_t)cause - 1;
    }
    if (kind.flags & FV_TIMELINE_TOGETHER) {
        s.comm = (uint32_t)fv_timeline_next(&columns[6]);
        s.instance = (uint32_t)fv_timeline_next(&columns[7]);
        s.root = (uint32_t)fv_timeline_next(&columns[8]) - 1; /* 0: all bits are 1 */
    }
    if (kind.flags & FV_TIMELINE_OF_FILE)
        s.file = (uint32_t)fv_timeline_next(&columns[9]);
    return s;
}

struct looking {
    uint64_t from, to, least_ns;
    fv_timeline_take *take;
    void *context;
    bool times; /* alone are wanted */
};

/* False: enough. */
static bool take_chunk(const struct fv_timeline_file *t, const struct fv_timeline_chunk *c, const struct looking *l,
                       struct fv_timeline_unpacked *u)
{
    uint64_t before = c->begin_ns;

    if (c->begin_ns >= l->to || c->end_ns < l->from || (c->length < 31 && l->least_ns >> (2 * c->length) >= 4) ||
        !fv_timeline_unpack(u, t->map, &c->block, FV_TIMELINE_TIME_COLUMNS, FV_TIMELINE_SLICE_COLUMNS, !l->times))
        return true;
    for (uint32_t k = 0; k < c->block.count && fv_timeline_has_more(&u->columns[0]); k++) {
        const struct fv_timeline_seen s = next_slice(t, u->columns, before, c->row, l->times);

        before = s.begin_ns;
        if (s.begin_ns >= l->to)
            break;
        if (s.ns >= l->least_ns && (!l->from || s.begin_ns + s.ns > l->from) && !l->take(l->context, &s))
            return false;
    }
    return true;
}

bool fv_timeline_chunk_slices(const struct fv_timeline_file *t, uint64_t chunk, uint64_t from, uint64_t to,
                              uint64_t least_ns, fv_timeline_take *take, void *context)
{
    const struct looking looking = { from, to, least_ns, take, context, false };
    struct fv_timeline_unpacked u = { 0 };
    const bool is_all = take_chunk(t, &t->chunks[chunk], &looking, &u);

    fv_timeline_unpacked_release(&u);
    return is_all;
}

static bool look_at_row(const struct fv_timeline_file *t, uint32_t row, const struct looking *looking)
{
    const struct fv_timeline_row *r = &t->rows[row];
    struct fv_timeline_unpacked u = { 0 };
    bool is_all = true;

    for (uint64_t i = r->first_chunk; is_all && i < r->first_chunk + r->chunk_count; i++)
        is_all = take_chunk(t, &t->chunks[i], looking, &u);
    fv_timeline_unpacked_release(&u);
    return is_all;
}

bool fv_timeline_slices(const struct fv_timeline_file *t, uint32_t row, uint64_t from, uint64_t to, uint64_t least_ns,
                        fv_timeline_take *take, void *context)
{
    return look_at_row(t, row, &(struct looking){ from, to, least_ns, take, context, false });
}

void fv_timeline_times(const struct fv_timeline_file *t, uint32_t row, uint64_t from, uint64_t to,
                       fv_timeline_take *take, void *context)
{
    look_at_row(t, row, &(struct looking){ from, to, 0, take, context, true });
}

/* ---- messages ---- */

static struct fv_timeline_message next_message(struct fv_timeline_column *columns, uint64_t before)
{
    uint64_t numbers[FV_TIMELINE_MESSAGE_COLUMNS];

    for (unsigned i = 0; i < FV_TIMELINE_MESSAGE_COLUMNS; i++)
        numbers[i] = fv_timeline_next(&columns[i]);
    return fv_timeline_message_of(numbers, before);
}

static void take_messages(const struct fv_timeline_file *t, uint64_t block, uint64_t from, uint64_t to,
                          fv_timeline_take_message *take, void *context, struct fv_timeline_unpacked *u)
{
    const struct fv_timeline_message_block *b = &t->messages[block];
    uint64_t before = b->begin_ns;

    if (b->end_ns < from || b->begin_ns >= to ||
        !fv_timeline_unpack(u, t->map, &b->block, FV_TIMELINE_MESSAGE_COLUMNS, FV_TIMELINE_MESSAGE_COLUMNS, true))
        return;
    for (uint32_t k = 0; k < b->block.count && fv_timeline_has_more(&u->columns[0]); k++) {
        const struct fv_timeline_message m = next_message(u->columns, before);

        before = m.sent_ns;
        if (m.sent_ns >= to)
            break;
        if (m.received_ns >= from)
            take(context, &m);
    }
}

void fv_timeline_block_messages(const struct fv_timeline_file *t, uint64_t block, uint64_t from, uint64_t to,
                                fv_timeline_take_message *take, void *context)
{
    struct fv_timeline_unpacked u = { 0 };

    take_messages(t, block, from, to, take, context, &u);
    fv_timeline_unpacked_release(&u);
}

void fv_timeline_messages(const struct fv_timeline_file *t, uint64_t from, uint64_t to, fv_timeline_take_message *take,
                          void *context)
{
    struct fv_timeline_unpacked u = { 0 };

    for (uint64_t i = 0; i < t->header->message_blocks.count && t->messages[i].begin_ns < to; i++)
        take_messages(t, i, from, to, take, context, &u);
    fv_timeline_unpacked_release(&u);
}

static void count_message(void *context, const struct fv_timeline_message *message)
{
    uint64_t *count = context;

    (void)message;
    ++*count;
}

/* Blocks of which all messages are wanted need not be unpacked: the next one begins where the last one of them is sent,
 * or later. */
uint64_t fv_timeline_message_count(const struct fv_timeline_file *t, uint64_t from, uint64_t to)
{
    const uint64_t blocks = t->header->message_blocks.count;
    struct fv_timeline_unpacked u = { 0 };
    uint64_t count = 0;

    for (uint64_t i = 0; i < blocks && t->messages[i].begin_ns < to; i++)
        if (t->messages[i].first_received_ns >= from && i + 1 < blocks && t->messages[i + 1].begin_ns < to)
            count += t->messages[i].block.count;
        else
            take_messages(t, i, from, to, count_message, &count, &u);
    fv_timeline_unpacked_release(&u);
    return count;
}

/* ---- collective operations, and those on files ---- */

static bool is_in(const struct fv_timeline_span_block *b, uint64_t from, uint64_t to)
{
    return b->begin_ns < to && (!from || b->end_ns > from);
}

static uint32_t moved(uint32_t row, struct fv_timeline_column *column)
{
    return row + (uint32_t)fv_unzigzag(fv_timeline_next(column));
}

/* The first of them is another operation than what was taken before, unless that `goes_on`. */
static void take_members(const struct fv_timeline_file *t, uint64_t block, bool goes_on, fv_timeline_take_member *take,
                         void *context, struct fv_timeline_unpacked *u)
{
    const struct fv_timeline_span_block *b = &t->members[block];
    struct fv_timeline_column *c = u->columns;
    uint64_t first = b->begin_ns;
    uint32_t row = 0, comm = 0, number = 0;

    if (!fv_timeline_unpack(u, t->map, &b->block, FV_TIMELINE_MEMBER_COLUMNS, FV_TIMELINE_MEMBER_COLUMNS, true))
        return;
    for (uint32_t k = 0; k < b->block.count && fv_timeline_has_more(&c[1]); k++) {
        const uint64_t region = fv_timeline_next(&c[4]);
        struct fv_timeline_member m = { .flags = region & 15, .region = (uint32_t)(region >> 4) };

        if (!k || m.flags & FV_TIMELINE_MEMBER_BEGINS) {
            first += fv_timeline_next(&c[0]);
            comm = (uint32_t)fv_timeline_next(&c[9]);
            number = moved(number, &c[10]);
        }
        m.flags |= k || goes_on ? 0 : FV_TIMELINE_MEMBER_BEGINS;
        m.comm = comm;
        m.instance = number - 1;
        m.begin_ns = first + fv_timeline_next(&c[1]);
        m.ns = fv_timeline_next(&c[2]);
        m.row = row = moved(row, &c[3]);
        m.sent = fv_timeline_next(&c[5]);
        m.received = fv_timeline_next(&c[6]);
        if (m.flags & FV_TIMELINE_MEMBER_WAITED) {
            m.wait_ns = fv_timeline_next(&c[7]);
            m.wait_begin_ns = m.begin_ns + (uint64_t)fv_unzigzag(fv_timeline_next(&c[8]));
        }
        if (m.row < t->header->rows.count && m.region < t->header->regions.count)
            take(context, &m);
    }
}

/* Of an operation that has a part of the stretch no block is left out; of another one some may be. */
void fv_timeline_members_of(const struct fv_timeline_file *t, uint64_t from, uint64_t to, fv_timeline_take_member *take,
                            void *context)
{
    struct fv_timeline_unpacked u = { 0 };
    bool goes_on = false;

    for (uint64_t i = 0; i < t->header->member_blocks.count; i++) {
        const bool is_wanted = is_in(&t->members[i], from, to);

        if (is_wanted)
            take_members(t, i, goes_on, take, context, &u);
        goes_on = is_wanted;
    }
    fv_timeline_unpacked_release(&u);
}

void fv_timeline_block_members(const struct fv_timeline_file *t, uint64_t block, fv_timeline_take_member *take,
                               void *context)
{
    struct fv_timeline_unpacked u = { 0 };

    take_members(t, block, true, take, context, &u);
    fv_timeline_unpacked_release(&u);
}

static void take_io(const struct fv_timeline_file *t, uint64_t block, fv_timeline_take_io *take, void *context,
                    struct fv_timeline_unpacked *u)
{
    const struct fv_timeline_span_block *b = &t->io[block];
    struct fv_timeline_column *c = u->columns;
    uint64_t begin = b->begin_ns;
    uint32_t row = 0;

    if (!fv_timeline_unpack(u, t->map, &b->block, FV_TIMELINE_IO_COLUMNS, FV_TIMELINE_IO_COLUMNS, true))
        return;
    for (uint32_t k = 0; k < b->block.count && fv_timeline_has_more(&c[0]); k++) {
        struct fv_timeline_io_operation o = { .begin_ns = begin += fv_timeline_next(&c[0]),
                                              .ns = fv_timeline_next(&c[1]) };

        o.row = row = moved(row, &c[2]);
        o.file = (uint32_t)fv_timeline_next(&c[3]);
        const uint64_t kind = fv_timeline_next(&c[4]);
        o.kind = kind % FV_TIMELINE_IO_KINDS;
        o.interface = (uint32_t)(kind / FV_TIMELINE_IO_KINDS);
        o.bytes = fv_timeline_next(&c[5]) - 1;
        if (o.row < t->header->rows.count && o.file < t->header->files.count)
            take(context, &o);
    }
}

void fv_timeline_io_of(const struct fv_timeline_file *t, uint64_t from, uint64_t to, fv_timeline_take_io *take,
                       void *context)
{
    struct fv_timeline_unpacked u = { 0 };

    for (uint64_t i = 0; i < t->header->io_blocks.count; i++)
        if (is_in(&t->io[i], from, to))
            take_io(t, i, take, context, &u);
    fv_timeline_unpacked_release(&u);
}

void fv_timeline_block_io(const struct fv_timeline_file *t, uint64_t block, fv_timeline_take_io *take, void *context)
{
    struct fv_timeline_unpacked u = { 0 };

    take_io(t, block, take, context, &u);
    fv_timeline_unpacked_release(&u);
}

bool fv_timeline_choice_has(const struct fv_timeline_choice *part, const struct fv_timeline_row *row)
{
    return (!part->ranks || fv_spans_have(part->ranks, row->rank)) &&
           (!part->threads || fv_spans_have(part->threads, row->thread));
}
