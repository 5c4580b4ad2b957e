/* SPDX-License-Identifier: BSD-3-Clause */
/* See section_gather.h: sections and sets of them, as the present file numbers them. */
#include "profile/sections/section_gather.h"

#include <math.h>
#include <string.h>

/* Bucket b holds 2^(b-1) to 2^b - 1 bytes, bucket 0 those without. */
unsigned fv_section_class(const struct fv_cell *cell)
{
    unsigned bucket = cell->size_bucket;

    return !fv_cell_has_size(cell) ? FV_SECTION_CLASSES : bucket <= 12 ? 0 : bucket <= 16 ? 1 : bucket <= 20 ? 2 : 3;
}

uint32_t fv_section_view_of(struct fv_section_gather *g, const char *name, int32_t number, int32_t level, bool whole,
                            bool others)
{
    struct fv_sections_view *s = g->out;
    uint64_t hash = fv_mix2(fv_mix2(fv_hash_bytes(name, strlen(name)), (uint32_t)number), whole);
    struct fv_index_probe p = fv_index_probe(&g->names, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (s->items[i].number == number && s->items[i].whole == whole && s->items[i].others == others &&
            !strcmp(s->items[i].name, name))
            return i;
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count] = (struct fv_section_view){ .name = fv_arena_string(&g->build->model->arena, name),
                                                   .number = number,
                                                   .level = level,
                                                   .whole = whole,
                                                   .others = others };
    fv_index_add(&g->names, hash, (uint32_t)s->count);
    return (uint32_t)s->count++;
}

struct fv_section_rank *fv_section_rank_of(struct fv_section_gather *g, uint32_t section, uint32_t rank)
{
    struct fv_sections_view *s = g->out;

    for (size_t i = g->first_rank; i < s->rank_count; i++)
        if (s->ranks[i].section == section)
            return &s->ranks[i];
    FV_GROW(s->ranks, s->rank_room, s->rank_count + 1);
    struct fv_section_rank *r = &s->ranks[s->rank_count++];
    *r = (struct fv_section_rank){ .section = section, .rank = rank, .shortest_s = NAN, .longest_s = NAN };
    return r;
}

void fv_section_read_names(struct fv_section_gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTIONS);
    struct fv_section r;

    g->section_count = g->set_count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        uint64_t id = c.index + 1; /* the reader bounds it */
        char name[FV_SECTION_NAME];

        memcpy(&r, p, sizeof(r));
        memcpy(name, r.name, sizeof(name));
        name[sizeof(name) - 1] = '\0';
        FV_GROW(g->section, g->section_room, id + 1);
        for (; g->section_count <= id; g->section_count++)
            g->section[g->section_count] = FV_NONE;
        g->section[id] = fv_section_view_of(g, name, r.number, r.level, false, r.flags & FV_SECTION_OTHERS);
    }
    c = fv_cursor(f->reader, FV_CHUNK_SECTION_SETS);
    for (const void *p; (p = fv_cursor_next(&c));) {
        uint64_t id = c.index + 1;

        FV_GROW(g->sets, g->set_room, id + 1);
        for (; g->set_count <= id; g->set_count++)
            g->sets[g->set_count] = (struct fv_section_set){ 0 };
        memcpy(&g->sets[id], p, sizeof(*g->sets));
    }
}

void fv_section_chain(const struct fv_section_gather *g, uint32_t set, uint32_t out[FV_SECTION_CHAIN], unsigned *count)
{
    *count = 0;
    for (uint32_t next; set && set < g->set_count && *count < FV_SECTION_CHAIN; set = next) {
        uint32_t id = g->sets[set].section;

        next = g->sets[set].outer < set ? g->sets[set].outer : 0; /* else damaged: no cycles */
        unsigned k = 0;
        while (k < *count && id < g->section_count && out[k] != g->section[id])
            k++;
        if (k == *count && id < g->section_count && g->section[id] != FV_NONE)
            out[(*count)++] = g->section[id];
    }
}
