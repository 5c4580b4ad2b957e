/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_read.h. */
#include "timeline/timeline_read.h"
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

static bool rows_are_right(const struct fv_timeline_file *t)
{
    const struct fv_timeline_header *h = t->header;

    for (uint64_t i = 0; i < h->rows.count; i++) {
        const struct fv_timeline_row *r = &t->rows[i];
        uint64_t bins = 0, n = r->bin_count;

        for (uint32_t k = 0; k < r->levels && k < 64; k++, n = (n + 1) / 2)
            bins += n;
        if (r->levels > 64 || r->width > 63 || r->bin_count > h->bins || r->first_chunk > h->chunks.count ||
            r->chunk_count > h->chunks.count - r->first_chunk ||
            !part(t, (struct fv_timeline_part){ r->bins, bins }, sizeof(struct fv_timeline_bin)))
            return false;
    }
    for (uint64_t i = 0; i < h->chunks.count; i++)
        if (t->chunks[i].offset > t->bytes || t->chunks[i].bytes > t->bytes - t->chunks[i].offset)
            return false;
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
    t->chunks = part(t, h->chunks, sizeof(*t->chunks));
    t->messages = part(t, h->messages, sizeof(*t->messages));
    t->contexts = part(t, h->contexts, sizeof(*t->contexts));
    t->strings = part(t, h->strings, 1);
    return h->regions.count && t->rows && t->regions && t->chunks && t->messages && t->contexts && t->strings &&
           h->strings.count && !t->strings[h->strings.count - 1] && rows_are_right(t);
}

bool fv_timeline_open(struct fv_timeline_file *t, const char *path, uint64_t source)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
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

/* ---- bins ---- */

struct gathered {
    double parts[FV_TIMELINE_CLASS_COUNT], wait, region_ns;
    uint32_t region;
};

/* One of a level, as far as it is in the stretch: in ns. */
static void gather_bin(struct gathered *g, const struct fv_timeline_bin *bin, double unit, double part)
{
    double region_ns = bin->region_ns * unit * part;

    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        g->parts[c] += bin->ns[c] * unit * part;
    g->wait += bin->wait_ns * unit * part;
    if (bin->region == FV_TIMELINE_NONE)
        return;
    if (bin->region == g->region)
        g->region_ns += region_ns;
    else if (region_ns > g->region_ns) {
        g->region = bin->region;
        g->region_ns = region_ns;
    }
}

struct level {
    const struct fv_timeline_bin *bins;
    uint64_t count;
    unsigned width;
};

#define EDGES 4 /* bins that a stretch has at least: those at its edges count in part */

/* The coarsest that has as many in a stretch, or the finest. */
static struct level level_of(const struct fv_timeline_file *t, const struct fv_timeline_row *row, double ns)
{
    struct level l = { (const struct fv_timeline_bin *)(const void *)(t->map + row->bins), row->bin_count, row->width };

    for (uint32_t i = 1; i < row->levels && (double)(UINT64_C(2) << l.width) <= ns / EDGES; i++) {
        l.bins += l.count;
        l.count = (l.count + 1) / 2;
        l.width++;
    }
    return l;
}

static void gather(const struct level *l, double from, double to, struct gathered *g)
{
    const double width = (double)(UINT64_C(1) << l->width), unit = (double)(UINT64_C(1) << fv_timeline_shift(l->width));

    for (uint64_t i = from > 0 ? (uint64_t)(from / width) : 0; i < l->count && (double)i * width < to; i++) {
        double begin = (double)i * width, end = begin + width;

        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        if (end > begin)
            gather_bin(g, &l->bins[i], unit, (end - begin) / width);
    }
}

/* ---- slices ---- */

#define DEEPEST UINT16_MAX

struct varints {
    const uint8_t *at, *stop;
};

static uint64_t number(struct varints *v)
{
    uint64_t value = 0;

    for (unsigned shift = 0; v->at < v->stop && shift < 64; shift += 7) {
        uint8_t byte = *v->at++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    v->at = v->stop;
    return value;
}

static struct fv_timeline_seen next_slice(const struct fv_timeline_file *t, struct varints *v, uint64_t before)
{
    struct fv_timeline_seen s = { .context = FV_TIMELINE_NONE, .cause = FV_TIMELINE_NONE };

    s.begin_ns = before + number(v);
    s.ns = number(v);
    const uint64_t region = number(v);
    s.region = region >> 2 < t->header->regions.count ? (uint32_t)(region >> 2) : 0;
    s.is_sampled = region & 1;
    const uint64_t depth = number(v);
    s.depth = depth < DEEPEST ? (uint32_t)depth : DEEPEST;
    const uint64_t context = number(v);
    if (context && context <= t->header->contexts.count)
        s.context = (uint32_t)context - 1;
    if (region & 2) {
        s.wait_ns = number(v);
        const uint64_t cause = number(v);
        if (cause && cause <= t->header->rows.count)
            s.cause = (uint32_t)cause - 1;
    }
    return s;
}

bool fv_timeline_slices(const struct fv_timeline_file *t, uint32_t row, uint64_t from, uint64_t to, uint64_t least_ns,
                        fv_timeline_take *take, void *context)
{
    const struct fv_timeline_row *r = &t->rows[row];

    for (uint64_t i = r->first_chunk; i < r->first_chunk + r->chunk_count; i++) {
        const struct fv_timeline_chunk *c = &t->chunks[i];
        struct varints v = { t->map + c->offset, t->map + c->offset + c->bytes };
        uint64_t before = 0;

        if (c->begin_ns >= to || c->end_ns < from || (c->length < 31 && least_ns >> (2 * c->length) >= 4))
            continue;
        for (uint32_t k = 0; k < c->count && v.at < v.stop; k++) {
            const struct fv_timeline_seen s = next_slice(t, &v, before);

            before = s.begin_ns;
            if (s.begin_ns >= to)
                break;
            if (s.ns >= least_ns && s.begin_ns + s.ns > from && !take(context, &s))
                return false;
        }
    }
    return true;
}

/* ---- all of a stretch ---- */

static bool keep(void *context, const struct fv_timeline_seen *slice)
{
    struct fv_timeline_gathering *g = context;

    FV_GROW(g->items, g->room, g->count + 1);
    g->items[g->count++] = *slice;
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const struct fv_timeline_seen *x = a, *y = b;

    return x->begin_ns != y->begin_ns ? (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns)
                                      : (x->depth > y->depth) - (x->depth < y->depth);
}

/* Slices come as stretches that are in order, a few for each length: these are merged, two and two. */
static void merge(const struct fv_timeline_seen *a, size_t a_count, const struct fv_timeline_seen *b, size_t b_count,
                  struct fv_timeline_seen *out)
{
    while (a_count && b_count) {
        const bool is_b = by_begin(b, a) < 0;

        *out++ = is_b ? *b++ : *a++;
        a_count -= !is_b;
        b_count -= is_b;
    }
    memcpy(out, a, a_count * sizeof(*a));
    memcpy(out + a_count, b, b_count * sizeof(*b));
}

static size_t run_length(const struct fv_timeline_seen *items, size_t count)
{
    size_t length = count > 0;

    while (length < count && by_begin(&items[length - 1], &items[length]) <= 0)
        length++;
    return length;
}

/* False: that was all one run. */
static bool merge_runs(const struct fv_timeline_gathering *g, struct fv_timeline_seen *out)
{
    for (size_t at = 0; at < g->count;) {
        const size_t a = run_length(g->items + at, g->count - at);
        const size_t b = run_length(g->items + at + a, g->count - at - a);

        if (a == g->count)
            return false;
        merge(g->items + at, a, g->items + at + a, b, out + at);
        at += a + b;
    }
    return true;
}

static void sort(struct fv_timeline_gathering *g)
{
    struct fv_timeline_seen *other = fv_xcalloc(g->room + 1, sizeof(*other));

    while (merge_runs(g, other)) {
        struct fv_timeline_seen *merged = other;

        other = g->items;
        g->items = merged;
    }
    free(other);
}

void fv_timeline_gather(const struct fv_timeline_file *t, uint32_t row, uint64_t from, uint64_t to,
                        struct fv_timeline_gathering *g)
{
    g->count = 0;
    fv_timeline_slices(t, row, from, to, 0, keep, g);
    if (g->count)
        sort(g);
}

/* ---- tiles ---- */

struct tiling {
    const struct fv_timeline_file *timeline;
    double from, step;
    struct gathered *out;
    size_t count;
};

/* A stretch in which a region was innermost; or, of none, in which a call waited. */
static void spread(const struct tiling *t, double begin, double end, uint32_t region)
{
    size_t i = begin > t->from ? (size_t)((begin - t->from) / t->step) : 0;

    for (; i < t->count && t->from + t->step * (double)i < end; i++) {
        const double since = t->from + t->step * (double)i, least = begin > since ? begin : since;
        const double most = end < since + t->step ? end : since + t->step, ns = most > least ? most - least : 0;
        struct gathered *g = &t->out[i];

        if (region == FV_TIMELINE_NONE) {
            g->wait += ns;
            continue;
        }
        g->parts[t->timeline->regions[region].class % FV_TIMELINE_CLASS_COUNT] += ns;
        if (region == g->region || ns > g->region_ns) {
            g->region_ns = region == g->region ? g->region_ns + ns : ns;
            g->region = region;
        }
    }
}

/* By slices: those in each other are open together. */
static void tile_exactly(const struct tiling *t, uint32_t row, struct fv_timeline_gathering *g)
{
    const struct fv_timeline_seen **open = NULL;
    size_t depth = 0, room = 0;
    double since = 0;

    fv_timeline_gather(t->timeline, row, (uint64_t)t->from, (uint64_t)(t->from + t->step * (double)t->count) + 1, g);
    for (size_t i = 0; i <= g->count; i++) {
        const struct fv_timeline_seen *next = i < g->count ? &g->items[i] : NULL;

        while (depth && (!next || open[depth - 1]->begin_ns + open[depth - 1]->ns <= next->begin_ns)) {
            const struct fv_timeline_seen *s = open[--depth];
            const double end = (double)(s->begin_ns + s->ns);

            spread(t, since, end, s->region);
            since = end > since ? end : since;
        }
        if (!next)
            break;
        if (depth)
            spread(t, since, (double)next->begin_ns, open[depth - 1]->region);
        since = (double)next->begin_ns;
        if (next->wait_ns)
            spread(t, since, since + (double)next->wait_ns, FV_TIMELINE_NONE);
        FV_GROW(open, room, depth + 1);
        open[depth++] = next;
    }
    free(open);
}

/* Bins are as long as a part of a stretch, or there are few slices: then these are taken. */
#define FEW 4096

static void tile_row(const struct tiling *t, uint32_t row, struct fv_timeline_gathering *g)
{
    const struct fv_timeline_row *r = &t->timeline->rows[row];
    const struct level l = level_of(t->timeline, r, t->step);

    if (!r->levels)
        return;
    if (r->slices + r->samples < FEW || (double)(UINT64_C(1) << l.width) > t->step / EDGES) {
        tile_exactly(t, row, g);
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        gather(&l, t->from + t->step * (double)i, t->from + t->step * (double)(i + 1), &t->out[i]);
}

static uint8_t part_of(double ns, double all)
{
    double part = all > 0 ? ns / all * 255 : 0;

    return part >= 255 ? 255 : part > 0 && part < 1 ? 1 : (uint8_t)(part + 0.5); /* what is there is seen */
}

void fv_timeline_tiles(const struct fv_timeline_file *t, uint32_t first, uint32_t merge, double from, double to,
                       struct fv_timeline_tile *out, size_t count)
{
    struct tiling tiling = { t, from, (to - from) / (double)(count ? count : 1), NULL, count };
    struct fv_timeline_gathering g = { 0 };
    double all = 0;

    tiling.out = fv_xcalloc(count + 1, sizeof(*tiling.out));
    for (size_t i = 0; i < count; i++)
        tiling.out[i].region = FV_TIMELINE_NONE;
    for (uint32_t k = 0; k < merge && (uint64_t)first + k < t->header->rows.count; k++, all += tiling.step)
        tile_row(&tiling, first + k, &g);
    for (size_t i = 0; i < count; i++) {
        const struct gathered *from_rows = &tiling.out[i];

        for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
            out[i].parts[c] = part_of(from_rows->parts[c], all);
        out[i].wait = part_of(from_rows->wait, all);
        out[i].region = from_rows->region;
        out[i].region_part = part_of(from_rows->region_ns, all);
    }
    free(tiling.out);
    free(g.items);
}
