/* SPDX-License-Identifier: BSD-3-Clause */
/* See merge.h. */
#include "merge/merge.h"
#include "experiment/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD_MAX (UINT32_C(1) << 21) /* the ranks of a communicator fit one definition of OTF2, of 16 MB */

/* ---- files ---- */

/* Ranks of the run: what most of its files say, because a damaged one may say anything; and no fewer than the
 * ranks that are there. */
static uint32_t world_size_of(const struct fv_experiment *e)
{
    uint32_t world = 1;
    size_t most = 0;

    for (size_t i = 0; i < e->count; i++) {
        int size = fv_reader_header(e->files[i].reader)->world_size;
        size_t same = 0;

        for (size_t k = 0; k < e->count && k < 64; k++)
            same += fv_reader_header(e->files[k].reader)->world_size == size;
        if (size > 0 && (same > most || (same == most && (uint32_t)size < world))) {
            most = same;
            world = (uint32_t)size;
        }
    }
    for (size_t i = 0; i < e->count; i++) {
        int rank = fv_reader_header(e->files[i].reader)->world_rank;

        world = rank >= 0 && (uint32_t)rank >= world ? (uint32_t)rank + 1 : world;
    }
    return world;
}

/* The first process's part: which files belong to the run. Afterwards none of them is open. */
static void choose(struct fv_merge *m, char *const *directories, size_t count, struct fv_bytes *out)
{
    struct fv_experiment e;

    if (fv_experiment_open(&e, directories, count)) {
        fv_bytes_number(out, 0);
        fv_bytes_number(out, 0);
        return;
    }
    fv_bytes_number(out, e.count);
    fv_bytes_number(out, world_size_of(&e));
    for (size_t i = 0; i < e.count; i++)
        fv_bytes_string(out, e.files[i].path);
    m->problems = e.problems;
    e.problems = (struct fv_problems){ 0 };
    fv_experiment_release(&e);
}

static void count_events(struct fv_merge *m, const struct fv_reader *reader)
{
    size_t count;
    const struct fv_chunk *chunks = fv_reader_chunks(reader, &count);
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += fv_chunk_has_events(&chunks[i]) ? chunks[i].used : 0;
    m->event_bytes += bytes;
    m->largest_bytes = bytes > m->largest_bytes ? bytes : m->largest_bytes;
}

static bool open_file(struct fv_merge *m, const char *path)
{
    const char *name = fv_base_name(path);
    struct fv_reader *reader = NULL;
    char why[256] = "";

    if (fv_reader_open(path, &reader, why, sizeof(why))) {
        fv_log("%s: %s; the merge needs it", name, why);
        return false;
    }
    if (fv_reader_header(reader)->world_rank < 0) {
        fv_log("%s: damaged: it names rank %d; move it away", name, fv_reader_header(reader)->world_rank);
        fv_reader_free(reader);
        return false;
    }
    m->files[m->file_count++] = (struct fv_merge_file){ .reader = reader, .name = name };
    count_events(m, reader);
    return true;
}

bool fv_merge_open(struct fv_merge *m, const struct fv_transport *t, char *const *directories, size_t directory_count)
{
    struct fv_bytes bytes = { 0 };
    bool good = true;

    *m = (struct fv_merge){ .transport = t, .source = &fv_rank_file_source };
    if (!t->rank)
        choose(m, directories, directory_count, &bytes);
    fv_transport_share(t, &bytes);
    struct fv_bytes_reader r = { .at = bytes.data, .stop = bytes.data + bytes.count };
    uint64_t count = fv_bytes_take(&r), world = fv_bytes_take(&r);
    uint64_t from = count * (uint64_t)t->rank / (uint64_t)t->size;
    uint64_t to = count * ((uint64_t)t->rank + 1) / (uint64_t)t->size;
    if (world > WORLD_MAX && !t->rank)
        fv_log("%s: a rank file is damaged: it names %llu ranks; move it away", directories[0],
               (unsigned long long)world);
    m->files = fv_xcalloc(to - from + 1, sizeof(*m->files));
    fv_defs_init(&m->defs, (uint32_t)world);
    for (uint64_t i = 0; i < to && good && world <= WORLD_MAX; i++) {
        const char *path = fv_bytes_text(&r, &m->arena);

        good = i < from || open_file(m, path);
    }
    free(bytes.data);
    return !fv_transport_any(t, !good || !count || world > WORLD_MAX);
}

bool fv_merge_take_head(struct fv_merge *m, uint64_t bytes)
{
    bool good = true;

    m->event_bytes = m->largest_bytes = 0;
    for (size_t i = 0; i < m->file_count && good; i++) {
        good = fv_reader_take_head(m->files[i].reader, bytes);
        count_events(m, m->files[i].reader);
    }
    return !fv_transport_any(m->transport, !good);
}

/* ---- definitions ---- */

/* Up a binomial tree; the first process then has all. */
static bool gather(const struct fv_transport *t, struct fv_defs *defs)
{
    struct fv_bytes bytes = { 0 };
    bool good = true;
    int step;

    for (step = 1; step < t->size && !(t->rank & step); step <<= 1) {
        struct fv_defs other;

        if (t->rank + step >= t->size)
            continue;
        bytes.count = 0;
        fv_transport_get(t, t->rank + step, &bytes);
        good = fv_defs_unpack(&other, bytes.data, bytes.count) && good;
        fv_defs_merge(defs, &other);
        fv_defs_release(&other);
    }
    if (t->rank) {
        bytes.count = 0;
        fv_defs_pack(defs, &bytes);
        fv_transport_put(t, t->rank & ~step, &bytes);
    }
    free(bytes.data);
    return good;
}

/* Of each call path, from the first process. */
static bool share_numbers(const struct fv_merge *m, const uint32_t *numbers, uint32_t **out, struct fv_bytes *bytes)
{
    size_t count = m->defs.tree.node_count;

    bytes->count = 0;
    if (!m->transport->rank)
        fv_bytes_put(bytes, numbers, count * sizeof(*numbers));
    fv_transport_share(m->transport, bytes);
    *out = fv_xcalloc(count + 1, sizeof(**out));
    bool good = bytes->count == count * sizeof(**out);
    if (good)
        memcpy(*out, bytes->data, bytes->count);
    return good;
}

/* The call paths themselves: functions are regions behind those of MPI. */
static void share_calling(struct fv_merge *m, struct fv_bytes *bytes)
{
    bytes->count = 0;
    for (size_t i = 0; i < m->contexts.count; i++) {
        const struct fv_calling_context *x = &m->contexts.items[i];
        const struct fv_calling_node node = { x->parent, (uint32_t)m->defs.function_count + x->function, FV_NONE };

        fv_bytes_put(bytes, &node, sizeof(node));
    }
    fv_transport_share(m->transport, bytes);
    m->calling_count = bytes->count / sizeof(*m->calling);
    m->calling = fv_xcalloc(m->calling_count + 1, sizeof(*m->calling));
    memcpy(m->calling, bytes->data, m->calling_count * sizeof(*m->calling));
}

/* All get the first process's, and its numbers of the call paths. */
static bool share(struct fv_merge *m, enum fv_merge_samples samples)
{
    const struct fv_transport *t = m->transport;
    struct fv_bytes bytes = { 0 };
    bool good = true;

    if (!t->rank)
        fv_defs_pack(&m->defs, &bytes);
    fv_transport_share(t, &bytes);
    if (t->rank) {
        fv_defs_release(&m->defs);
        good = fv_defs_unpack(&m->defs, bytes.data, bytes.count);
    }
    good = share_numbers(m, m->contexts.of_node, &m->context_of_node, &bytes) && good;
    good = share_numbers(m, m->contexts.function_of_node, &m->function_of_node, &bytes) && good;
    m->has_samples = samples != FV_SAMPLES_NONE && fv_defs_has_samples(&m->defs);
    if (m->has_samples && samples == FV_SAMPLES_CONTEXTS)
        share_calling(m, &bytes);
    free(bytes.data);
    return good;
}

static void find_numbers(struct fv_merge *m, struct fv_defs *own)
{
    struct fv_def_map numbers;

    fv_defs_find(&m->defs, own, &numbers);
    m->source->number(m, own, &numbers);
    fv_def_map_release(&numbers);
    m->calls = fv_xcalloc(m->defs.function_count + 1, sizeof(*m->calls));
    for (size_t i = 0; i < m->defs.function_count; i++)
        m->calls[i] = fv_call_info(m->defs.functions[i].name, m->defs.functions[i].class);
}

bool fv_merge_unify(struct fv_merge *m, bool symbols, enum fv_merge_samples samples)
{
    const struct fv_transport *t = m->transport;
    struct fv_defs own, all;

    fv_defs_init(&own, m->defs.world_size);
    bool good = !fv_transport_any(t, !m->source->define(m, &own));
    fv_defs_init(&all, m->defs.world_size);
    fv_defs_merge(&all, &own);
    good = gather(t, &all) && good;
    if (!t->rank) {
        fv_defs_release(&m->defs);
        fv_defs_sort(&m->defs, &all);
        fv_contexts_init(&m->contexts, &m->defs, symbols, samples != FV_SAMPLES_NONE, m->source_context != NULL);
    }
    fv_defs_release(&all);
    good = share(m, samples) && good;
    if (good)
        find_numbers(m, &own);
    fv_defs_release(&own);
    if (!fv_transport_any(t, !good))
        good = fv_lock_names_collect(&m->locks, m, symbols);
    fv_clocks_init(&m->clocks, &m->defs);
    good = !fv_transport_any(t, !good);
    if (good)
        fv_rings_find(&m->rings, m, false);
    return good;
}

void fv_merge_close(struct fv_merge *m)
{
    for (size_t i = 0; i < m->file_count; i++) {
        fv_def_map_release(&m->files[i].map);
        fv_reader_free(m->files[i].reader);
    }
    free(m->files);
    free(m->calls);
    free(m->context_of_node);
    free(m->function_of_node);
    free(m->calling);
    fv_contexts_release(&m->contexts);
    fv_lock_names_release(&m->locks);
    fv_rings_release(&m->rings);
    fv_clocks_release(&m->clocks);
    fv_defs_release(&m->defs);
    fv_problems_release(&m->problems);
    fv_arena_release(&m->arena);
    *m = (struct fv_merge){ 0 };
}
