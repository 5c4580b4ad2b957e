/* SPDX-License-Identifier: BSD-3-Clause */
/* See steps.h. Room in the spill file is reserved before it is used: a full disk is an error code, not a
 * signal. */
#include "analysis/steps.h"
#include "tool/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_BYTES  (FV_STEPS_A_BLOCK * sizeof(struct fv_step))
#define EXTENT_BYTES (FV_BLOCKS_AN_EXTENT * BLOCK_BYTES)

#define PIECE_BYTES (UINT64_C(1) << 20) /* of an extent: allocated at a time */

_Static_assert(sizeof(struct fv_step) == 32, "two steps are a cache line");
_Static_assert(sizeof(struct fv_step_detail) <= sizeof(struct fv_step), "a detail has the room of a step");
_Static_assert(sizeof(struct fv_step_post) <= sizeof(struct fv_step), "a post has the room of a step");
_Static_assert(EXTENT_BYTES % PIECE_BYTES == 0, "pieces end with extents");

const char *const fv_wait_state_names[FV_WS_COUNT] = { "none",
#define FV_WAIT_STATE(state, name) name,
                                                       FV_WAIT_STATES(FV_WAIT_STATE)
#undef FV_WAIT_STATE
};

static uint32_t *processes_of(const struct fv_merge *m)
{
    uint64_t *owner = fv_xcalloc(m->defs.rank_count + 1, sizeof(*owner));
    uint32_t *out = fv_xcalloc(m->defs.rank_count + 1, sizeof(*out));

    for (size_t i = 0; i < m->file_count; i++)
        owner[m->files[i].rank] = (uint64_t)m->transport->rank;
    fv_transport_sum(m->transport, owner, m->defs.rank_count);
    for (size_t i = 0; i < m->defs.rank_count; i++)
        out[i] = (uint32_t)owner[i];
    free(owner);
    return out;
}

void fv_steps_init(struct fv_steps *s, const struct fv_merge *m)
{
    uint32_t *process = processes_of(m);

    *s = (struct fv_steps){ .processes = (uint32_t)m->transport->size,
                            .own = (uint32_t)m->transport->rank,
                            .spill = { .file = -1 } };
    s->first_line = fv_xcalloc(m->defs.rank_count + 1, sizeof(*s->first_line));
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        s->first_line[i + 1] = s->first_line[i] + m->defs.ranks[i].thread_count;
    s->line_count = s->first_line[m->defs.rank_count];
    s->lines = fv_xcalloc(2 * (size_t)s->line_count + 1, sizeof(*s->lines));
    s->visited = fv_xcalloc(1, sizeof(*s->visited));
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        for (uint32_t k = s->first_line[i]; k < s->first_line[i + 1]; k++)
            s->lines[k] = (struct fv_step_line){ .rank = i, .slot = k - s->first_line[i], .process = process[i] };
    free(process);
}

static bool failed(const struct fv_spill *f, int error)
{
    fv_log("%s: %s; the analysis needs this file for a while. %s, or run fvunify with --no-analysis", f->path,
           strerror(error), error == ENOSPC || error == EDQUOT ? "Make room" : "Name another directory with -o");
    return false;
}

bool fv_steps_create(struct fv_steps *s, const struct fv_transport *t, const char *directory, uint64_t memory)
{
    struct fv_spill *f = &s->spill;
    size_t room = strlen(directory) + 60;

    f->in_memory = memory * 2 / 3 / EXTENT_BYTES;
    s->resident = memory - f->in_memory * EXTENT_BYTES;
    s->resident = s->resident > PIECE_BYTES ? s->resident : PIECE_BYTES;
    f->path = fv_xcalloc(room, 1);
    snprintf(f->path, room, "%s/.fvunify-steps-%d", directory, t->rank);
    f->file = fv_new_file(f->path, O_RDWR, 0600);
    if (f->file >= 0) /* nothing is ever left behind */
        unlink(f->path);
    s->failed = f->file < 0 && !failed(f, errno);
    return !fv_transport_any(t, s->failed);
}

/* Behind the end of the file, too: it grows. */
static bool map_extent(struct fv_spill *f)
{
    bool in_memory = f->extent_count < f->in_memory;
    void *map =
        mmap(NULL, EXTENT_BYTES, PROT_READ | PROT_WRITE, in_memory ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
             in_memory ? -1 : f->file, in_memory ? 0 : (off_t)((f->extent_count - f->in_memory) * EXTENT_BYTES));

    if (map == MAP_FAILED)
        return failed(f, errno);
    if (in_memory)
        madvise(map, EXTENT_BYTES, MADV_HUGEPAGE);
    FV_GROW(f->extents, f->extent_room, f->extent_count + 1);
    f->extents[f->extent_count++] = map;
    return true;
}

/* Room in the file, and, at one go, in memory: a page that is touched first costs more than its steps. */
static bool allocate(struct fv_spill *f)
{
    size_t most = f->allocated < PIECE_BYTES ? f->allocated : PIECE_BYTES,
           more = most < BLOCK_BYTES ? BLOCK_BYTES : most, in_extent = f->allocated % EXTENT_BYTES,
           extent = f->allocated / EXTENT_BYTES;
    off_t at = (off_t)(f->allocated - f->in_memory * EXTENT_BYTES);
    int error = extent < f->in_memory ? 0 : posix_fallocate(f->file, at, (off_t)more);

    if (error)
        return failed(f, error);
#ifdef MADV_POPULATE_WRITE /* an older system says no */
    madvise((char *)f->extents[extent] + in_extent, more, MADV_POPULATE_WRITE);
#endif
    f->allocated += more;
    return true;
}

static bool add_block(struct fv_steps *s, struct fv_step_line *l)
{
    struct fv_spill *f = &s->spill;
    size_t need = ((size_t)f->blocks + 1) * BLOCK_BYTES;

    if (need > f->extent_count * EXTENT_BYTES) {
        if (!map_extent(f))
            return false;
    }
    if (need > f->allocated && !allocate(f))
        return false;
    fv_steps_visited(s, FV_STEPS_A_BLOCK);
    FV_GROW(l->blocks, l->room, (size_t)l->block_count + 1);
    l->blocks[l->block_count++] =
        f->extents[f->blocks / FV_BLOCKS_AN_EXTENT] + f->blocks % FV_BLOCKS_AN_EXTENT * FV_STEPS_A_BLOCK;
    f->blocks++;
    return true;
}

struct fv_step *fv_steps_add(struct fv_steps *s, uint32_t line)
{
    struct fv_step_line *l = &s->lines[line];

    s->failed = s->failed || (l->count == l->block_count * FV_STEPS_A_BLOCK && !add_block(s, l));
    if (s->failed)
        return NULL;
    return fv_step(s, line, l->count++); /* the file was empty: zeros */
}

/* ---- details ---- */

struct fv_step_detail *fv_step_need_detail(struct fv_steps *steps, struct fv_step *s)
{
    if (s->has_detail)
        return fv_step_detail(steps, s);
    struct fv_step_detail *d = (struct fv_step_detail *)(void *)fv_steps_add(steps, steps->line_count);
    if (!d)
        return NULL;
    d->length = s->length;
    d->cause_after = s->cause_after;
    s->length = (steps->lines[steps->line_count].count - 1) & INT32_MAX;
    s->has_detail = 1;
    return d;
}

void fv_step_set_length(struct fv_steps *steps, struct fv_step *s, uint64_t ns)
{
    struct fv_step_detail *d = s->has_detail || ns > INT32_MAX ? fv_step_need_detail(steps, s) : NULL;

    if (d)
        d->length = ns;
    else
        s->length = ns & INT32_MAX;
}

void fv_step_set_cause(struct fv_steps *steps, struct fv_step *s, uint64_t ns)
{
    int64_t after = (int64_t)(fv_step_time(ns) - s->begin);
    bool is_far = after >= INT64_C(1) << 39 || after < -(INT64_C(1) << 39);
    struct fv_step_detail *d = s->has_detail || is_far ? fv_step_need_detail(steps, s) : NULL;

    if (d)
        d->cause_after = after;
    else
        s->cause_after = after;
}

void fv_step_withhold(struct fv_steps *steps, struct fv_step *s, uint64_t back_ns, uint32_t line, uint32_t step,
                      uint32_t site)
{
    struct fv_step_post post = { .line = FV_NONE };
    struct fv_step_detail *d = fv_step_need_detail(steps, s);
    struct fv_step *room = d ? fv_steps_add(steps, steps->line_count) : NULL;

    if (!room) /* steps->failed says so */
        return;
    if (s->flags & FV_STEP_KNOWN)
        post = fv_step_post(steps, s);
    memcpy(room, &post, sizeof(post));
    d->part_ns = steps->lines[steps->line_count].count - 1;
    s->withheld = 1;
    s->flags |= FV_STEP_KNOWN;
    fv_step_set_cause(steps, s, back_ns);
    s->cause_line = line;
    s->cause_step = step;
    s->cause_site = site & FV_STEP_NO_SITE;
}

/* ---- to the first process ---- */

void fv_steps_gather(struct fv_steps *s, const struct fv_transport *t)
{
    struct line {
        uint64_t begin_ns, end_ns;
        uint32_t line, count;
    };
    struct fv_bytes bytes = { 0 };

    for (uint32_t i = 0; t->rank && i < s->line_count; i++) {
        const struct fv_step_line *l = &s->lines[i];

        if (fv_steps_are_own(s, i))
            fv_bytes_put(&bytes, &(struct line){ l->begin_ns, l->end_ns, i, l->count }, sizeof(struct line));
    }
    if (t->rank)
        fv_transport_put(t, 0, &bytes);
    for (int i = 1; !t->rank && i < t->size; i++)
        fv_transport_get(t, i, &bytes);
    for (size_t i = 0; !t->rank && i < bytes.count / sizeof(struct line); i++) {
        const struct line *of = (struct line *)(void *)bytes.data + i;
        struct fv_step_line *l = &s->lines[of->line];

        l->begin_ns = of->begin_ns;
        l->end_ns = of->end_ns;
        l->count = of->count;
    }
    free(bytes.data);
}

void fv_steps_forget(const struct fv_steps *s)
{
    *s->visited = 0;
    for (size_t k = s->spill.in_memory; k < s->spill.extent_count; k++) /* shared with the file: nothing is lost */
        madvise(s->spill.extents[k], EXTENT_BYTES, MADV_DONTNEED);
}

void fv_steps_release(struct fv_steps *s)
{
    struct fv_spill *f = &s->spill;

    for (size_t k = 0; k < f->extent_count; k++)
        munmap(f->extents[k], EXTENT_BYTES);
    if (f->path && f->file >= 0)
        close(f->file);
    free(f->extents);
    free(f->path);
    for (size_t i = 0; s->lines && i < 2 * (size_t)s->line_count + 1; i++)
        free(s->lines[i].blocks);
    free(s->lines);
    free(s->first_line);
    free(s->visited);
    *s = (struct fv_steps){ 0 };
}
