/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases that look the same become one: of a loop that the compiler unrolled, each pass is a call path of its
 * own, which nothing in the source tells from the next. */
#include "profile/build.h"
#include "profile/threads/phases.h"

#include <stdlib.h>

/* For each phase the first that is equal, by its new number. Returns how many are left, in front. */
static uint32_t fold_items(struct fv_phases *s, uint32_t *same)
{
    struct fv_index index = { 0 };
    size_t kept = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        struct fv_phase p = s->items[i];
        size_t before = kept;

        same[i] = FV_INTERN(index, s->items, kept, s->room, (uint32_t[]){ p.kind, p.node, p.routine });
        if (kept > before) {
            s->items[same[i]] = p;
            continue;
        }
        fv_phase_sums_add(&s->items[same[i]].sums, &p.sums);
        fv_busiest_add(&s->items[same[i]].busiest, &p.busiest);
        fv_phase_alone_add(&s->items[same[i]].alone, &p.alone);
        s->items[same[i]].open = s->items[same[i]].open || p.open;
    }
    fv_index_release(&index);
    return (uint32_t)kept;
}

/* Instances are numbered within a phase and rank: those of a phase that is added come behind. */
static void fold_lives(struct fv_phases *s, const uint32_t *same, const uint64_t *before)
{
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < s->part_count; i++)
        fv_index_add(&index, fv_hash_key((uint32_t[]){ s->parts[i].phase, s->parts[i].rank }, 8), i);
    for (size_t i = 0; i < s->life_count; i++) {
        struct fv_life *l = &s->lives[i];

        if (l->phase == FV_NONE)
            continue;
        l->instance += (uint32_t)before[FV_FIND(index, s->parts, (uint32_t[]){ l->phase, l->rank })];
        l->phase = same[l->phase];
    }
    fv_index_release(&index);
}

/* Instances of the phases that a part is added to. */
static void count_before(const struct fv_phases *s, const uint32_t *same, uint64_t *before)
{
    struct fv_phases sums = { 0 };
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < s->part_count; i++) {
        const struct fv_phase_part *part = &s->parts[i];
        uint32_t k = FV_INTERN(index, sums.parts, sums.part_count, sums.part_room,
                               (uint32_t[]){ same[part->phase], part->rank });

        before[i] = sums.parts[k].sums.instances;
        sums.parts[k].sums.instances += part->sums.instances;
    }
    fv_index_release(&index);
    free(sums.parts);
}

static void fold_parts(struct fv_phases *s, const uint32_t *same)
{
    struct fv_index index = { 0 };
    size_t kept = 0;

    for (uint32_t i = 0; i < s->part_count; i++) {
        const struct fv_phase_part part = s->parts[i];
        size_t before = kept;
        uint32_t k = FV_INTERN(index, s->parts, kept, s->part_room, (uint32_t[]){ same[part.phase], part.rank });

        if (kept > before)
            s->parts[k].sums = part.sums;
        else
            fv_phase_sums_add(&s->parts[k].sums, &part.sums);
    }
    s->part_count = kept;
    fv_index_release(&index);
}

void fv_phases_fold(struct fv_phases *s)
{
    uint32_t *same = fv_xcalloc(s->count, sizeof(*same));
    uint64_t *before = fv_xcalloc(s->part_count, sizeof(*before));
    uint32_t kept = fold_items(s, same);

    if (kept < s->count) {
        count_before(s, same, before);
        fold_lives(s, same, before);
        fold_parts(s, same);
        for (size_t i = 0; i < s->counted_count; i++)
            s->counted[i].scope = same[s->counted[i].scope];
        s->count = kept;
        fv_phases_order(s);
    }
    free(same);
    free(before);
}
