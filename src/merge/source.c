/* SPDX-License-Identifier: BSD-3-Clause */
/* See source.h: rank files. */
#include "merge/source.h"
#include "merge/merge.h"

#include <string.h>

static bool define(struct fv_merge *m, struct fv_defs *own)
{
    for (size_t i = 0; i < m->file_count; i++) {
        fv_defs_add_file(own, m->files[i].reader, m->files[i].name, &m->files[i].map);
        fv_reader_forget(m->files[i].reader, NULL);
    }
    return true;
}

static uint32_t rank_index(const struct fv_defs *d, const struct fv_reader *reader)
{
    uint32_t world_rank = (uint32_t)fv_reader_header(reader)->world_rank;
    size_t low = 0, high = d->rank_count;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;

        if (d->ranks[middle].world_rank <= world_rank)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static void number(struct fv_merge *m, struct fv_defs *own, struct fv_def_map *numbers)
{
    (void)own;
    for (size_t i = 0; i < m->file_count; i++) {
        fv_def_map_through(&m->files[i].map, numbers);
        m->files[i].rank = rank_index(&m->defs, m->files[i].reader);
    }
}

static void tell_site(const struct fv_def_map *map, uint32_t function, uint64_t path, fv_source_site_fn *take,
                      void *context)
{
    uint32_t in_defs = fv_numbers_get(&map->functions, function), node = fv_numbers_get(&map->nodes, path);

    if (in_defs != FV_NONE)
        take(context, in_defs, node == FV_NONE ? 0 : node);
}

static void sites(const struct fv_merge *m, size_t file, fv_source_site_fn *take, void *context)
{
    const struct fv_merge_file *f = &m->files[file];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SITES);
    struct fv_site_record site;
    struct fv_thread_record thread;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&site, p, sizeof(site));
        tell_site(&f->map, site.function, site.path, take, context);
    }
    c = fv_cursor(f->reader, FV_CHUNK_THREADS);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&thread, p, sizeof(thread));
        if (thread.in_call.begin)
            tell_site(&f->map, thread.in_call.function, thread.in_call.path, take, context);
    }
    fv_reader_forget(f->reader, NULL);
}

static void *open_rank(const struct fv_merge *m, const struct fv_source_rank *r)
{
    const struct fv_merge_file *f = &m->files[r->file];

    return fv_replay_open(r->replay, f->rank, f->reader, &f->map, r->sink, r->locations, r->stats);
}

static bool until(void *records, uint64_t time_ns)
{
    return fv_replay_until(records, time_ns);
}

static bool close_rank(void *records)
{
    return fv_replay_close(records);
}

const struct fv_record_source fv_rank_file_source = {
    .define = define, .number = number, .sites = sites, .open = open_rank, .until = until, .close = close_rank
};
