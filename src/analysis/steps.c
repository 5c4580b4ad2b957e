/* See steps.h. Room in a spill file is reserved before it is used: a full disk is an error code, not a
 * signal. */
#include "analysis/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_BYTES (FV_STEPS_A_BLOCK * sizeof(struct fv_step))
#define EXTENT_MAX  (UINT64_C(64) << 20)

_Static_assert(sizeof(struct fv_step) == 64, "a step is a cache line");

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

    *s = (struct fv_steps){ .processes = m->transport->size, .own = m->transport->rank };
    s->spill = fv_xcalloc((size_t)s->processes, sizeof(*s->spill));
    s->first_line = fv_xcalloc(m->defs.rank_count + 1, sizeof(*s->first_line));
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        s->first_line[i + 1] = s->first_line[i] + m->defs.ranks[i].thread_count;
    s->line_count = s->first_line[m->defs.rank_count];
    s->lines = fv_xcalloc(s->line_count + 1, sizeof(*s->lines));
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        for (uint32_t k = s->first_line[i]; k < s->first_line[i + 1]; k++)
            s->lines[k] = (struct fv_line){ .rank = i, .slot = k - s->first_line[i], .process = process[i] };
    free(process);
}

static char *spill_path(const char *directory, int process)
{
    size_t room = strlen(directory) + 40;
    char *path = fv_xcalloc(room, 1);

    snprintf(path, room, "%s/.fvunify-steps-%d", directory, process);
    return path;
}

static bool map_spill(struct fv_spill *f, size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f->file, 0);

    if (map == MAP_FAILED)
        return false;
    f->map = map;
    f->mapped = bytes;
    return true;
}

static bool failed(const struct fv_spill *f, int error)
{
    fv_log("%s: %s; the analysis needs this file for a while. %s, or run fvunify with --no-analysis", f->path,
           strerror(error),
           error == ENOSPC || error == EDQUOT ? "Make room" : "Name another directory with -o");
    return false;
}

static bool open_spill(struct fv_spill *f, const char *directory, int process, int flags, size_t bytes)
{
    f->path = spill_path(directory, process);
    f->file = open(f->path, O_RDWR | O_CLOEXEC | flags, 0600);
    return (f->file >= 0 && map_spill(f, bytes)) || failed(f, errno);
}

bool fv_steps_create(struct fv_steps *s, const struct fv_transport *t, const char *directory, uint64_t most)
{
    uint64_t *bytes = fv_xcalloc((size_t)t->size, sizeof(*bytes));
    bool good;

    bytes[t->rank] = (most / FV_STEPS_A_BLOCK + s->line_count + 2) * BLOCK_BYTES;
    fv_transport_sum(t, bytes, (size_t)t->size);
    good = open_spill(&s->spill[t->rank], directory, t->rank, O_CREAT | O_TRUNC, bytes[t->rank]);
    good = !fv_transport_any(t, !good);
    for (int i = 1; !t->rank && i < t->size && good; i++)
        good = open_spill(&s->spill[i], directory, i, 0, bytes[i]);
    good = !fv_transport_any(t, !good);
    if (s->spill[t->rank].file >= 0 &&
        s->spill[t->rank].path) /* who needs it has it: nothing is ever left behind */
        unlink(s->spill[t->rank].path);
    free(bytes);
    return good;
}

static bool add_block(struct fv_spill *f, struct fv_line *l)
{
    size_t need = ((size_t)f->blocks + 1) * BLOCK_BYTES;

    if (need > f->allocated) {
        size_t extent = f->allocated < EXTENT_MAX ? f->allocated + BLOCK_BYTES : EXTENT_MAX;
        int error = need > f->mapped ? EFBIG : posix_fallocate(f->file, (off_t)f->allocated, (off_t)extent);

        if (error)
            return failed(f, error);
        f->allocated += extent;
        madvise(f->map, f->mapped, MADV_DONTNEED); /* shared with the file: nothing is lost */
    }
    FV_GROW(l->blocks, l->room, (size_t)l->block_count + 1);
    l->blocks[l->block_count++] = f->blocks++;
    return true;
}

struct fv_step *fv_steps_add(struct fv_steps *s, uint32_t line)
{
    struct fv_line *l = &s->lines[line];

    if (l->count == l->block_count * FV_STEPS_A_BLOCK && !add_block(&s->spill[s->own], l))
        return NULL;
    return fv_step(s, line, l->count++); /* the file was empty: zeros */
}

/* ---- to the first process ---- */

static void pack_lines(const struct fv_steps *s, struct fv_bytes *out)
{
    for (uint32_t i = 0; i < s->line_count; i++) {
        const struct fv_line *l = &s->lines[i];

        if (l->process != (uint32_t)s->own)
            continue;
        fv_bytes_number(out, i);
        fv_bytes_number(out, l->count);
        fv_bytes_number(out, l->begin_ns);
        fv_bytes_number(out, l->end_ns);
        fv_bytes_number(out, l->block_count);
        fv_bytes_put(out, l->blocks, l->block_count * sizeof(*l->blocks));
    }
}

static void unpack_lines(struct fv_steps *s, const struct fv_bytes *bytes)
{
    struct fv_bytes_reader r = { .at = bytes->data, .stop = bytes->data + bytes->count };

    while (r.at < r.stop) {
        struct fv_line *l = &s->lines[fv_bytes_take(&r)];

        l->count = (uint32_t)fv_bytes_take(&r);
        l->begin_ns = fv_bytes_take(&r);
        l->end_ns = fv_bytes_take(&r);
        l->block_count = (uint32_t)fv_bytes_take(&r);
        FV_GROW(l->blocks, l->room, (size_t)l->block_count);
        fv_bytes_get(&r, l->blocks, l->block_count * sizeof(*l->blocks));
    }
}

void fv_steps_gather(struct fv_steps *s, const struct fv_transport *t)
{
    struct fv_bytes bytes = { 0 };

    if (t->rank) {
        pack_lines(s, &bytes);
        fv_transport_put(t, 0, &bytes);
    }
    for (int i = 1; !t->rank && i < t->size; i++) {
        bytes.count = 0;
        fv_transport_get(t, i, &bytes);
        unpack_lines(s, &bytes);
    }
    free(bytes.data);
}

void fv_steps_forget(const struct fv_steps *s)
{
    for (int i = 0; i < s->processes; i++)
        if (s->spill[i].map)
            madvise(s->spill[i].map, s->spill[i].mapped, MADV_DONTNEED);
}

void fv_steps_release(struct fv_steps *s)
{
    for (int i = 0; i < s->processes; i++) {
        struct fv_spill *f = &s->spill[i];

        if (f->map)
            munmap(f->map, f->mapped);
        if (f->path && f->file >= 0)
            close(f->file);
        free(f->path);
    }
    for (uint32_t i = 0; i < s->line_count; i++)
        free(s->lines[i].blocks);
    free(s->spill);
    free(s->lines);
    free(s->first_line);
    *s = (struct fv_steps){ 0 };
}
