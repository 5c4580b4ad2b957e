/* See steps.h. Room in a spill file is reserved before it is used: a full disk is an error code, not a
 * signal. */
#include "analysis/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES  (FV_STEPS_A_BLOCK * sizeof(struct fv_step))
#define EXTENT_BYTES (FV_BLOCKS_AN_EXTENT * BLOCK_BYTES)

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

static bool failed(const struct fv_spill *f, int error)
{
    fv_log("%s: %s; the analysis needs this file for a while. %s, or run fvunify with --no-analysis", f->path,
           strerror(error),
           error == ENOSPC || error == EDQUOT ? "Make room" : "Name another directory with -o");
    return false;
}

static bool open_spill(struct fv_spill *f, const char *directory, int process, int flags)
{
    f->path = spill_path(directory, process);
    f->file = open(f->path, O_RDWR | O_CLOEXEC | flags, 0600);
    return f->file >= 0 || failed(f, errno);
}

/* Behind the end of the file, too: it grows. */
static bool map_extent(struct fv_spill *f)
{
    void *map = mmap(NULL, EXTENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f->file,
                     (off_t)(f->extent_count * EXTENT_BYTES));

    if (map == MAP_FAILED)
        return failed(f, errno);
    FV_GROW(f->extents, f->extent_room, f->extent_count + 1);
    f->extents[f->extent_count++] = map;
    return true;
}

static bool on_several_hosts(const struct fv_transport *t)
{
    char name[256] = "";

    gethostname(name, sizeof(name) - 1);
    uint64_t hash = fv_hash_bytes(name, strlen(name)), most[2] = { hash, ~hash };
    fv_transport_max(t, most, 2);
    return most[0] != ~most[1];
}

bool fv_steps_create(struct fv_steps *s, const struct fv_transport *t, const char *directory)
{
    struct fv_spill *own = &s->spill[t->rank];
    bool good = open_spill(own, directory, t->rank, O_CREAT | O_TRUNC);

    s->several_hosts = on_several_hosts(t);
    good = !fv_transport_any(t, !good);
    for (int i = 1; !t->rank && i < t->size && good; i++)
        good = open_spill(&s->spill[i], directory, i, 0);
    good = !fv_transport_any(t, !good);
    if (own->file >= 0) /* who needs it has it: nothing is ever left behind */
        unlink(own->path);
    return good;
}

static bool add_block(struct fv_steps *s, struct fv_line *l)
{
    struct fv_spill *f = &s->spill[s->own];
    size_t need = ((size_t)f->blocks + 1) * BLOCK_BYTES;

    if (need > f->extent_count * EXTENT_BYTES) {
        if (!map_extent(f))
            return false;
        if (f->extent_count % (FV_STEPS_RESIDENT / EXTENT_BYTES) == 0)
            fv_steps_forget(s);
    }
    if (need > f->allocated) {
        size_t more = f->allocated < EXTENT_BYTES ? f->allocated + BLOCK_BYTES : EXTENT_BYTES;
        int error = posix_fallocate(f->file, (off_t)f->allocated, (off_t)more);

        if (error)
            return failed(f, error);
        f->allocated += more;
    }
    FV_GROW(l->blocks, l->room, (size_t)l->block_count + 1);
    l->blocks[l->block_count++] = f->blocks++;
    return true;
}

struct fv_step *fv_steps_add(struct fv_steps *s, uint32_t line)
{
    struct fv_line *l = &s->lines[line];

    if (l->count == l->block_count * FV_STEPS_A_BLOCK && !add_block(s, l))
        return NULL;
    return fv_step(s, line, l->count++); /* the file was empty: zeros */
}

/* ---- to the first process ---- */

static void pack_lines(const struct fv_steps *s, struct fv_bytes *out)
{
    fv_bytes_number(out, s->spill[s->own].blocks);
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

static uint32_t unpack_lines(struct fv_steps *s, const struct fv_bytes *bytes)
{
    struct fv_bytes_reader r = { .at = bytes->data, .stop = bytes->data + bytes->count };
    uint32_t blocks = (uint32_t)fv_bytes_take(&r);

    while (r.at < r.stop) {
        struct fv_line *l = &s->lines[fv_bytes_take(&r)];

        l->count = (uint32_t)fv_bytes_take(&r);
        l->begin_ns = fv_bytes_take(&r);
        l->end_ns = fv_bytes_take(&r);
        l->block_count = (uint32_t)fv_bytes_take(&r);
        FV_GROW(l->blocks, l->room, (size_t)l->block_count);
        fv_bytes_get(&r, l->blocks, l->block_count * sizeof(*l->blocks));
    }
    return blocks;
}

/* What the other wrote must be in the file as this host sees it. */
static bool map_other(struct fv_spill *f, uint32_t blocks)
{
    struct stat st;

    if (fstat(f->file, &st))
        return failed(f, errno);
    if ((uint64_t)st.st_size < blocks * BLOCK_BYTES)
        return failed(f, ESTALE);
    while (f->extent_count * FV_BLOCKS_AN_EXTENT < blocks)
        if (!map_extent(f))
            return false;
    return true;
}

bool fv_steps_gather(struct fv_steps *s, const struct fv_transport *t)
{
    struct fv_bytes bytes = { 0 };
    bool good = true;

    if (t->rank) {
        if (s->several_hosts) {
            for (size_t i = 0; i < s->spill[s->own].extent_count; i++)
                msync(s->spill[s->own].extents[i], EXTENT_BYTES, MS_SYNC);
            good = !fsync(s->spill[s->own].file) || failed(&s->spill[s->own], errno);
        }
        pack_lines(s, &bytes);
        fv_transport_put(t, 0, &bytes);
    }
    for (int i = 1; !t->rank && i < t->size; i++) {
        bytes.count = 0;
        fv_transport_get(t, i, &bytes);
        good = map_other(&s->spill[i], unpack_lines(s, &bytes)) && good;
    }
    free(bytes.data);
    return !fv_transport_any(t, !good);
}

void fv_steps_forget(const struct fv_steps *s)
{
    for (int i = 0; i < s->processes; i++)
        for (size_t k = 0; k < s->spill[i].extent_count; k++) /* shared with the file: nothing is lost */
            madvise(s->spill[i].extents[k], EXTENT_BYTES, MADV_DONTNEED);
}

void fv_steps_release(struct fv_steps *s)
{
    for (int i = 0; i < s->processes; i++) {
        struct fv_spill *f = &s->spill[i];

        for (size_t k = 0; k < f->extent_count; k++)
            munmap(f->extents[k], EXTENT_BYTES);
        if (f->path && f->file >= 0)
            close(f->file);
        free(f->extents);
        free(f->path);
    }
    for (uint32_t i = 0; i < s->line_count; i++)
        free(s->lines[i].blocks);
    free(s->spill);
    free(s->lines);
    free(s->first_line);
    *s = (struct fv_steps){ 0 };
}
