/* SPDX-License-Identifier: BSD-3-Clause */
/* See flat.h. */
#include "views/flat.h"
#include "tool/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* In the same group if there is one, else of the row. */
static const struct fv_column_def *find_kind(const struct fv_relation *r, const struct fv_column_def *of)
{
    const struct fv_column_def *found = NULL;
    size_t group = fv_column_group(of);

    for (size_t i = 0; i < r->column_count; i++) {
        const struct fv_column_def *c = &r->columns[i];

        if (!strcmp(c->key, "wait_kind") && !found)
            found = c;
        if (group && !strncmp(c->key, of->key, group + 1) && !strcmp(c->key + group + 1, "wait_kind"))
            found = c;
    }
    return found;
}

void fv_flat_init(struct fv_flat *flat, const struct fv_relation *r)
{
    flat->count = fv_relation_flat_count(r);
    flat->items = fv_xcalloc(flat->count ? flat->count : 1, sizeof(*flat->items));
    for (size_t i = 0; i < flat->count; i++) {
        flat->items[i].column = fv_relation_flat_column(r, i);
        flat->items[i].outer = i < r->outer_count;
        if (flat->items[i].column->flags & FV_AS_KIND && !flat->items[i].outer)
            flat->items[i].kind = find_kind(r, flat->items[i].column);
        fv_column_flat_key(flat->items[i].column, flat->items[i].key);
    }
}

void fv_flat_release(struct fv_flat *flat)
{
    free(flat->items);
    *flat = (struct fv_flat){ 0 };
}

size_t fv_flat_find(const struct fv_flat *flat, const char *key, size_t bytes)
{
    for (size_t i = 0; i < flat->count; i++)
        if (strlen(flat->items[i].key) == bytes && !memcmp(flat->items[i].key, key, bytes))
            return i;
    return SIZE_MAX;
}

size_t fv_flat_find_titled(const struct fv_flat *flat, const char *title, size_t bytes, size_t *others)
{
    size_t found = SIZE_MAX;

    *others = 0;
    for (size_t i = flat->count; i-- > 0;)
        if (strlen(flat->items[i].column->title) == bytes && !strncasecmp(flat->items[i].column->title, title, bytes)) {
            *others += found != SIZE_MAX;
            found = i;
        }
    return found;
}

size_t fv_flat_choose(const struct fv_flat *flat, const char *keys, size_t *chosen, uint8_t *weights)
{
    bool all = !keys || !*keys;
    size_t count = 0;

    for (; all && count < flat->count; count++) {
        chosen[count] = count;
        weights[count] = !count ? 0 : count < UINT8_MAX ? (uint8_t)(UINT8_MAX - count) : 1;
    }
    for (const char *p = keys; !all && *p && count < flat->count; p += strspn(p, " ,")) {
        size_t bytes = strcspn(p, " ,"), key = strcspn(p, "/ ,"), at = fv_flat_find(flat, p, key);

        if (at != SIZE_MAX) {
            chosen[count] = at;
            weights[count++] = key < bytes ? (uint8_t)strtoul(p + key + 1, NULL, 10) : 0;
        }
        p += bytes;
    }
    return count;
}

struct fv_value fv_flat_judge(const struct fv_flat_column *c, void *subject, const struct fv_flat_row *row)
{
    struct fv_value v = fv_flat_read(c, subject, row);

    if (c->kind && !v.null) {
        const struct fv_value kind = fv_column_value(c->kind, subject, row->row);

        v.estimate = !kind.null && !strcmp(kind.text, "estimate");
    }
    return v;
}

/* A run of ranks: "7", "0-3", "0-8/2" (every second). */
static void add_run(struct fv_string *out, int64_t first, int64_t stride, int64_t count)
{
    fv_string_add(out, "%s%lld", out->used ? ", " : "", (long long)first);
    if (count > 1)
        fv_string_add(out, "-%lld", (long long)(first + (count - 1) * stride));
    if (count > 1 && stride != 1)
        fv_string_add(out, "/%lld", (long long)stride);
}

static void put_runs(const struct fv_value *v, struct fv_string *out)
{
    const struct fv_rank_run *runs = v->items;

    for (size_t i = 0; i < v->count; i++)
        add_run(out, runs[i].first, runs[i].stride, runs[i].count);
}

/* Neighbours are one run; those of another MPI_COMM_WORLD (-1) stay single. */
static void put_ranks(const struct fv_value *v, struct fv_string *out)
{
    const int *ranks = v->items;

    for (size_t i = 0, end; i < v->count; i = end) {
        for (end = i + 1; end < v->count && ranks[i] >= 0 && ranks[end] - 1 == ranks[end - 1];)
            end++;
        add_run(out, ranks[i], 1, (int64_t)(end - i));
    }
}

static void put_reals(const struct fv_value *v, struct fv_string *out)
{
    const double *reals = v->items;
    char word[FV_REAL];

    for (size_t i = 0; i < v->count; i++)
        fv_string_add(out, "%s%.*s", i ? " " : "", (int)fv_words_real(reals[i], word), word);
}

const char *fv_flat_text(const struct fv_value *v, struct fv_string *out)
{
    fv_string_clear(out);
    switch (v->type) {
    case FV_TYPE_HEX: fv_string_add(out, "%016llx", (unsigned long long)v->whole); break;
    case FV_TYPE_RANKS: put_ranks(v, out); break;
    case FV_TYPE_REALS: put_reals(v, out); break;
    default: put_runs(v, out); break;
    }
    return out->text;
}
