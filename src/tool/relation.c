/* SPDX-License-Identifier: BSD-3-Clause */
/* See relation.h. */
#include "tool/relation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stored_value(const struct fv_column_def *c, const char *at, struct fv_value *v)
{
    switch (c->stored) {
    case FV_U8: v->whole = *(const uint8_t *)at; break;
    case FV_U32: v->whole = *(const uint32_t *)(const void *)at; break;
    case FV_U64: v->whole = *(const uint64_t *)(const void *)at; break;
    case FV_I32: v->number = *(const int32_t *)(const void *)at; break;
    case FV_I64: v->number = *(const int64_t *)(const void *)at; break;
    case FV_F64: v->real = *(const double *)(const void *)at; break;
    case FV_BOOLEAN: v->truth = *(const bool *)(const void *)at; break;
    case FV_STRING: v->text = *(const char *const *)(const void *)at; break;
    default: v->null = true; break;
    }
}

struct fv_value fv_column_value(const struct fv_column_def *c, void *subject, const void *row)
{
    struct fv_value v = { .type = c->type };
    uint64_t none = c->stored == FV_U32 ? UINT32_MAX : UINT64_MAX;

    if (c->known && !c->known(subject, row, c)) {
        v.null = true;
        return v;
    }
    if (c->stored)
        stored_value(c, (const char *)row + c->offset, &v);
    else
        c->get(subject, row, c, &v);
    if ((v.type == FV_TYPE_REAL && !isfinite(v.real)) || (v.type == FV_TYPE_TEXT && !v.text))
        v.null = true;
    if (((c->flags & FV_UNLESS_0) == FV_UNLESS_0 && !v.whole) ||
        ((c->flags & FV_UNLESS_NONE) == FV_UNLESS_NONE && v.whole == none))
        v.null = true;
    return v;
}

const void *fv_column_parent(const struct fv_column_def *c, const void *row)
{
    return (const char *)row + c->offset;
}

size_t fv_column_group(const struct fv_column_def *c)
{
    const char *dot = strchr(c->key, '.');

    return dot ? (size_t)(dot - c->key) : 0;
}

char *fv_column_flat_key(const struct fv_column_def *c, char out[FV_KEY_BYTES])
{
    snprintf(out, FV_KEY_BYTES, "%s", c->key);
    for (char *p = out; *p; p++)
        if (*p == '.')
            *p = '_';
    return out;
}

const char *fv_column_exactness(const struct fv_column_def *c)
{
    if (c->type > FV_TYPE_REAL)
        return NULL;
    return c->flags & FV_ESTIMATE              ? "estimate"
           : c->flags & FV_AS_KIND             ? "as wait_kind says"
           : *c->unit && strcmp(c->unit, "id") ? "exact"
                                               : NULL;
}

/* Does it stand in flat forms? Lists of reals do where they have no other (FV_FLAT). */
static bool is_flat(const struct fv_column_def *c)
{
    return c->type != FV_TYPE_RELATION && (c->type != FV_TYPE_REALS || c->flags & FV_FLAT);
}

/* ---- rows ---- */

static const char *base_of(const struct fv_relation *r, void *subject, const void *parent)
{
    return r->base ? r->base(subject, parent) : parent;
}

/* A member that is a uint32_t or a size_t, as the relation says. */
static size_t number_at(const struct fv_relation *r, const void *at, uint32_t offset)
{
    const void *member = (const char *)at + offset;

    return r->count_bytes == sizeof(uint32_t) ? *(const uint32_t *)member : *(const size_t *)member;
}

size_t fv_relation_count(const struct fv_relation *r, void *subject, const void *parent)
{
    if (r->count)
        return r->count(subject, parent);
    const char *base = base_of(r, subject, parent);

    if (!base || !r->item_bytes)
        return base != NULL;
    return number_at(r, r->sliced ? parent : base, r->items_count);
}

const void *fv_relation_row(const struct fv_relation *r, void *subject, const void *parent, size_t i)
{
    if (r->row)
        return r->row(subject, parent, i);
    const char *base = base_of(r, subject, parent);

    if (r->sliced)
        i += number_at(r, parent, r->items_first);
    return r->item_bytes ? *(const char *const *)(const void *)(base + r->items) + i * r->item_bytes : base;
}

/* ---- relations of a set ---- */

static bool visit(struct fv_relation_place *place, fv_place_fn *take, void *context)
{
    const struct fv_relation *r = place->chain[place->depth - 1];

    if (r->name && !take(context, place))
        return false;
    for (size_t i = 0; i < r->column_count; i++) {
        if (r->columns[i].type != FV_TYPE_RELATION)
            continue;
        if (place->depth == FV_RELATION_DEPTH) {
            fv_log("relation %s: nested too deep; make FV_RELATION_DEPTH larger", r->columns[i].nested->key);
            abort();
        }
        place->chain[place->depth] = r->columns[i].nested;
        place->links[place->depth++] = &r->columns[i];
        bool more = visit(place, take, context);
        place->depth--;
        if (!more)
            return false;
    }
    return true;
}

bool fv_relations_visit(const struct fv_relation *const *set, fv_place_fn *take, void *context)
{
    for (; *set; set++) {
        struct fv_relation_place place = { .chain = { *set }, .depth = 1 };

        if (!visit(&place, take, context))
            return false;
    }
    return true;
}

struct wanted {
    const char *name;
    struct fv_relation_place *out;
};

static bool is_wanted(void *context, const struct fv_relation_place *place)
{
    struct wanted *w = context;

    if (strcmp(place->chain[place->depth - 1]->name, w->name))
        return true;
    *w->out = *place;
    return false;
}

bool fv_relations_find(const struct fv_relation *const *set, const char *name, struct fv_relation_place *out)
{
    struct wanted wanted = { name, out };

    return !fv_relations_visit(set, is_wanted, &wanted);
}

/* ---- flat forms ---- */

size_t fv_relation_flat_count(const struct fv_relation *r)
{
    size_t count = r->outer_count;

    for (size_t i = 0; i < r->column_count; i++)
        count += is_flat(&r->columns[i]);
    return count;
}

const struct fv_column_def *fv_relation_flat_column(const struct fv_relation *r, size_t index)
{
    if (index < r->outer_count)
        return &r->outer[index];
    index -= r->outer_count;
    for (size_t i = 0; i < r->column_count; i++)
        if (is_flat(&r->columns[i]) && !index--)
            return &r->columns[i];
    return NULL;
}

/* Rows of chain[at] whose parent is known, and of all that is inside of them. */
static bool each(const struct fv_relation_place *place, void *subject, size_t at, const void *outer, const void *parent,
                 fv_flat_fn *take, void *context)
{
    const struct fv_relation *r = place->chain[at];
    size_t count = fv_relation_count(r, subject, parent);

    for (size_t i = 0; i < count; i++) {
        const void *row = fv_relation_row(r, subject, parent, i);
        struct fv_flat_row flat = { r, outer, row };

        if (!row)
            continue;
        if (at + 1 < place->depth
                ? !each(place, subject, at + 1, row, fv_column_parent(place->links[at + 1], row), take, context)
                : !take(context, &flat))
            return false;
    }
    return true;
}

bool fv_relation_each(const struct fv_relation_place *place, void *subject, fv_flat_fn *take, void *context)
{
    return each(place, subject, 0, NULL, NULL, take, context);
}
