/* SPDX-License-Identifier: BSD-3-Clause */
/* See omp_entries.h. */
#include "threads/omp_entries.h"

#define ENTRIES_MOST 4096 /* of a thread */

FV_TLS struct fv_omp_member *fv_omp_current;

static uint32_t last_id; /* of a region, in the process */

static void *carve(struct fv_omp *omp, size_t bytes)
{
    if (omp->slab_left < bytes) {
        omp->slab = fv_memory_new(4 * FV_PAGE);
        omp->slab_left = omp->slab ? 4 * FV_PAGE : 0;
    }
    if (omp->slab_left < bytes)
        return NULL;
    omp->slab_left -= bytes;
    return omp->slab + omp->slab_left;
}

/* Entries by their path; almost always there is one body at a path. */
struct at_path {
    uint64_t key;
    struct fv_omp_entry *first;
};

static struct fv_omp_entry *find(const struct fv_omp *omp, fv_omp_body *body, uint32_t path)
{
    const struct at_path *at = fv_map_find(&omp->paths, sizeof(*at), path + UINT64_C(1));
    struct fv_omp_entry *entry = at ? at->first : NULL;

    while (FV_UNLIKELY(entry && entry->body != body))
        entry = entry->next;
    return entry;
}

static const struct fv_tail_kind region_kind = { .type = FV_CHUNK_OMP, .first_pages = 1, .most_pages = 4 },
                                 thread_kind = { .type = FV_CHUNK_OMP_THREADS, .first_pages = 1, .most_pages = 4 };

/* NULL: no room. */
static struct fv_omp_entry *new_entry(struct fv_sync *s, fv_omp_body *body, uint32_t path)
{
    struct fv_omp *omp = s->omp;
    struct fv_omp_entry *entry = carve(omp, sizeof(*entry));
    struct fv_omp_region *record =
        entry ? fv_tail_next(&omp->regions, &region_kind, s->thread->id, sizeof(*record), false) : NULL;

    if (!record)
        return NULL;
    *record = (struct fv_omp_region){
        .id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED),
        .thread = s->thread->id,
        .path = path,
        .module = FV_MODULE_UNKNOWN,
        .first = fv_ticks(),
    };
    if (body)
        record->module = fv_module_of((uintptr_t)body, &record->offset);
    fv_tail_commit(&omp->regions, sizeof(*record));
    *entry = (struct fv_omp_entry){ .body = body, .path = path, .record = record };
    return entry;
}

/* Files are written, modules looked for, locks taken: nothing of that is the application's. NULL: not even
 * the rest; that is counted. */
static FV_COLD struct fv_omp_entry *make_entry(struct fv_sync *s, fv_omp_body *body, uint32_t path)
{
    struct fv_omp *omp = s->omp;
    struct fv_thread *current = fv_current;
    struct fv_scope scope = fv_scope_enter();

    fv_current = NULL;
    struct at_path *at =
        omp->count < ENTRIES_MOST ? fv_map_add(&omp->paths, sizeof(*at), path + UINT64_C(1), 4 * ENTRIES_MOST) : NULL;
    struct fv_omp_entry *entry = at ? new_entry(s, body, path) : NULL;
    if (entry) {
        entry->next = at->first;
        at->first = entry;
        omp->count++;
    } else {
        if (!omp->rest)
            omp->rest = new_entry(s, NULL, 0);
        entry = omp->rest;
        s->state->overflow += !entry;
    }
    fv_current = current;
    fv_scope_leave(&scope);
    return entry;
}

uint32_t fv_omp_path(struct fv_sync *s, struct fv_call_place site)
{
    struct fv_thread *current = fv_current;

    if (!current)
        return fv_sync_path(s, site);
    fv_current = NULL;
    const struct fv_path_entry *known = fv_path_known(current, site);
    fv_current = current;
    return FV_LIKELY(known != NULL) ? known->path : fv_sync_path(s, site);
}

struct fv_omp_entry *fv_omp_entry_of(struct fv_sync *s, fv_omp_body *body, struct fv_call_place site)
{
    uint32_t path = fv_omp_path(s, site);

    if (!s->omp && !(s->omp = fv_memory_new(sizeof(*s->omp))))
        return NULL;
    struct fv_omp_entry *entry = find(s->omp, body, path);
    return entry ? entry : make_entry(s, body, path);
}

static struct fv_omp_part *new_part(struct fv_sync *s, struct fv_omp_entry *entry, uint32_t number, uint32_t thread)
{
    struct fv_omp *omp = s->omp;
    struct fv_omp_part *part = carve(omp, sizeof(*part));
    struct fv_omp_thread *record =
        part ? fv_tail_next(&omp->threads, &thread_kind, s->thread->id, sizeof(*record), false) : NULL;

    if (!record)
        return NULL;
    *record = (struct fv_omp_thread){ .region = entry->record->id, .number = number, .thread = thread };
    fv_tail_commit(&omp->threads, sizeof(*record));
    *part = (struct fv_omp_part){ .number = number, .thread = thread, .record = record };
    return part;
}

struct fv_omp_part *fv_omp_part_of(struct fv_sync *s, struct fv_omp_entry *entry, struct fv_omp_part *before,
                                   uint32_t number, uint32_t thread, struct fv_call_place site)
{
    struct fv_omp_part **link = before ? &before->next : &entry->parts;

    while (*link && ((*link)->number < number || ((*link)->number == number && (*link)->thread != thread)))
        link = &(*link)->next;
    if (*link && (*link)->number == number)
        return *link;
    struct fv_omp_part *part = new_part(s, entry, number, thread);
    if (!part)
        return NULL;
    part->next = *link;
    *link = part;
    if (thread != FV_NO_THREAD && entry->body)
        part->join = fv_sync_record_of(s, (uintptr_t)entry->body, FV_SYNC_OMP, FV_SYNC_WAIT, site, entry->path, thread);
    if (part->join)
        entry->record->object = part->join->object;
    return part;
}
