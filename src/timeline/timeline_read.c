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
    t->chunks = part(t, h->chunks, sizeof(*t->chunks));
    t->messages = part(t, h->messages, sizeof(*t->messages));
    t->contexts = part(t, h->contexts, sizeof(*t->contexts));
    t->series = part(t, h->series, sizeof(*t->series));
    t->labels = part(t, h->labels, sizeof(*t->labels));
    t->critical = part(t, h->critical, sizeof(*t->critical));
    t->comms = part(t, h->comms, sizeof(*t->comms));
    t->strings = part(t, h->strings, 1);
    return h->regions.count && t->rows && t->regions && t->chunks && t->messages && t->contexts && t->strings &&
           t->series && t->labels && t->critical && t->comms && series_are_right(t) && h->strings.count &&
           !t->strings[h->strings.count - 1] && rows_are_right(t);
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
    struct fv_timeline_seen s = { .context = FV_TIMELINE_NONE, .cause = FV_TIMELINE_NONE, .comm = FV_TIMELINE_NONE };

    s.begin_ns = before + number(v);
    s.ns = number(v);
    const uint64_t region = number(v);
    s.region = region >> 3 < t->header->regions.count ? (uint32_t)(region >> 3) : 0;
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
    if (region & 4) {
        s.comm = (uint32_t)number(v);
        s.instance = (uint32_t)number(v);
    }
    return s;
}

bool fv_timeline_chunk_slices(const struct fv_timeline_file *t, uint64_t chunk, uint64_t from, uint64_t to,
                              uint64_t least_ns, fv_timeline_take *take, void *context)
{
    const struct fv_timeline_chunk *c = &t->chunks[chunk];
    struct varints v = { t->map + c->offset, t->map + c->offset + c->bytes };
    uint64_t before = 0;

    if (c->begin_ns >= to || c->end_ns < from || (c->length < 31 && least_ns >> (2 * c->length) >= 4))
        return true;
    for (uint32_t k = 0; k < c->count && v.at < v.stop; k++) {
        const struct fv_timeline_seen s = next_slice(t, &v, before);

        before = s.begin_ns;
        if (s.begin_ns >= to)
            break;
        if (s.ns >= least_ns && (!from || s.begin_ns + s.ns > from) && !take(context, &s))
            return false;
    }
    return true;
}

bool fv_timeline_slices(const struct fv_timeline_file *t, uint32_t row, uint64_t from, uint64_t to, uint64_t least_ns,
                        fv_timeline_take *take, void *context)
{
    const struct fv_timeline_row *r = &t->rows[row];

    for (uint64_t i = r->first_chunk; i < r->first_chunk + r->chunk_count; i++)
        if (!fv_timeline_chunk_slices(t, i, from, to, least_ns, take, context))
            return false;
    return true;
}
