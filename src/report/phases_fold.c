/* Phases that look the same become one: of a loop that the compiler unrolled, each pass is a call path of its
 * own, which nothing in the source tells from the next. */
#include "report/build.h"

#include <stdlib.h>

static uint64_t phase_hash(const struct fv_phase *p)
{
    return fv_mix2(fv_mix2(p->routine, p->kind), p->node);
}

/* For each phase the first that is equal, by its new number. Returns how many are left, in front. */
static uint32_t fold_items(struct fv_phases *s, uint32_t *same)
{
    struct fv_index index = { 0 };
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        struct fv_phase p = s->items[i];
        struct fv_index_probe probe = fv_index_probe(&index, phase_hash(&p));
        uint32_t k;

        while ((k = fv_index_next(&probe)) != FV_NONE)
            if (s->items[k].kind == p.kind && s->items[k].routine == p.routine && s->items[k].node == p.node)
                break;
        if (k == FV_NONE) {
            fv_index_add(&index, phase_hash(&p), kept);
            s->items[kept] = p;
            same[i] = kept++;
            continue;
        }
        fv_phase_sums_add(&s->items[k].sums, &p.sums);
        s->items[k].open = s->items[k].open || p.open;
        same[i] = k;
    }
    fv_index_release(&index);
    return kept;
}

/* Of parts by (phase, rank), which are some. */
static uint32_t find_part(const struct fv_phases *s, struct fv_index *index, uint32_t phase, uint32_t rank)
{
    struct fv_index_probe p = fv_index_probe(index, fv_mix2(phase, rank));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE)
        if (s->parts[i].phase == phase && s->parts[i].rank == rank)
            break;
    return i;
}

/* Instances are numbered within a phase and rank: those of a phase that is added come behind. */
static void fold_lives(struct fv_phases *s, const uint32_t *same, const uint64_t *before)
{
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < s->part_count; i++)
        fv_index_add(&index, fv_mix2(s->parts[i].phase, s->parts[i].rank), i);
    for (size_t i = 0; i < s->life_count; i++) {
        struct fv_life *l = &s->lives[i];

        if (l->phase == FV_NONE)
            continue;
        l->instance += (uint32_t)before[find_part(s, &index, l->phase, l->rank)];
        l->phase = same[l->phase];
    }
    fv_index_release(&index);
}

/* Instances of the phases that a part is added to. */
static void count_before(const struct fv_phases *s, const uint32_t *same, uint64_t *before)
{
    struct fv_phases sums = { .parts = fv_xcalloc(s->part_count, sizeof(*sums.parts)) };
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < s->part_count; i++) {
        uint32_t phase = same[s->parts[i].phase], k = find_part(&sums, &index, phase, s->parts[i].rank);

        if (k == FV_NONE) {
            k = i;
            sums.parts[k].phase = phase;
            sums.parts[k].rank = s->parts[i].rank;
            fv_index_add(&index, fv_mix2(phase, s->parts[i].rank), k);
        }
        before[i] = sums.parts[k].sums.instances;
        sums.parts[k].sums.instances += s->parts[i].sums.instances;
    }
    fv_index_release(&index);
    free(sums.parts);
}

static void fold_parts(struct fv_phases *s, const uint32_t *same)
{
    struct fv_index index = { 0 };
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->part_count; i++) {
        struct fv_phase_part part = s->parts[i];

        part.phase = same[part.phase];
        uint32_t k = find_part(s, &index, part.phase, part.rank);
        if (k != FV_NONE) {
            fv_phase_sums_add(&s->parts[k].sums, &part.sums);
            continue;
        }
        fv_index_add(&index, fv_mix2(part.phase, part.rank), kept);
        s->parts[kept++] = part;
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
        s->count = kept;
        fv_phases_order(s);
    }
    free(same);
    free(before);
}
