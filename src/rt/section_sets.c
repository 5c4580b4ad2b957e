/* SPDX-License-Identifier: BSD-3-Clause */
/* See section_sets.h. */
#include "rt/section_sets.h"
#include "base/lock.h"
#include "rt/process.h"
#include "rt/tail.h"

#include <string.h>

enum { SETS = 4095, SET_PLACES = 8192 };

static struct fv_lock lock;
static struct {
    struct fv_section *section[FV_SECTIONS + 1]; /* by id */
    uint32_t count;
    uint16_t places[FV_SECTION_PLACES]; /* id */
    struct fv_tail tail;
} known;
static struct {
    struct fv_section_set set[SETS + 1]; /* by id */
    uint32_t count;
    uint16_t places[SET_PLACES]; /* id */
    struct fv_tail tail;
} sets;

uint32_t fv_section_hash(const char *name, int32_t number)
{
    uint64_t hash = (uint32_t)number * UINT64_C(0x9e3779b97f4a7c15);

    for (unsigned i = 0; i < FV_SECTION_NAME - 1 && name[i]; i++)
        hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)fv_mix(hash);
}

/* Under the lock. 0: no disk. */
static uint32_t make_section(const char *name, int32_t number, int32_t level, unsigned flags, uint16_t *place)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_SECTIONS, .first_pages = 1, .most_pages = 16 };
    struct fv_section *s = fv_tail_next(&known.tail, &kind, FV_NO_THREAD, sizeof(*s), false);

    if (!s)
        return 0;
    *s = (struct fv_section){ .number = number, .level = level, .flags = flags };
    strncpy(s->name, name, FV_SECTION_NAME - 1);
    fv_tail_commit(&known.tail, sizeof(*s));
    known.section[++known.count] = s;
    return *place = (uint16_t)known.count;
}

uint32_t fv_section_find(const char *name, int32_t number, int32_t level)
{
    uint32_t at = fv_section_hash(name, number) % FV_SECTION_PLACES, id;

    fv_lock(&lock);
    while ((id = known.places[at]) && (known.section[id]->flags || known.section[id]->number != number ||
                                       !fv_section_has_name(known.section[id]->name, name)))
        at = (at + 1) % FV_SECTION_PLACES;
    if (!id && known.count < FV_SECTIONS - 1)
        id = make_section(name, number, level, 0, &known.places[at]);
    else if (!id && known.count == FV_SECTIONS - 1)
        id = make_section("(others)", 0, 0, FV_SECTION_OTHERS, &known.places[at]);
    else if (!id)
        id = FV_SECTIONS;
    fv_unlock(&lock);
    return id;
}

bool fv_section_is_others(uint32_t id)
{
    return known.section[id]->flags & FV_SECTION_OTHERS;
}

uint32_t fv_section_set_find(uint32_t outer, uint32_t section)
{
    uint32_t at = (uint32_t)fv_mix((uint64_t)outer << 32 | section) % SET_PLACES, id;

    fv_lock(&lock);
    while ((id = sets.places[at]) && (sets.set[id].outer != outer || sets.set[id].section != section))
        at = (at + 1) % SET_PLACES;
    if (!id && sets.count < SETS) {
        static const struct fv_tail_kind kind = { .type = FV_CHUNK_SECTION_SETS, .first_pages = 1, .most_pages = 16 };
        struct fv_section_set *s = fv_tail_next(&sets.tail, &kind, FV_NO_THREAD, sizeof(*s), false);

        if (s) {
            id = ++sets.count;
            *s = sets.set[id] = (struct fv_section_set){ outer, section };
            fv_tail_commit(&sets.tail, sizeof(*s));
            sets.places[at] = (uint16_t)id;
        }
    }
    fv_unlock(&lock);
    return id;
}
