/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations as JSON. */
#include "views/relations.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct fv_json *j;
    void *subject;
    enum fv_json_ranks ranks;
};

static void put_list(struct fv_json *j, const char *key, const struct fv_value *v)
{
    fv_json_array(j, key);
    for (size_t i = 0; i < v->count; i++)
        switch (v->type) {
        case FV_TYPE_REALS: fv_json_real(j, NULL, ((const double *)v->items)[i]); break;
        case FV_TYPE_RANKS: fv_json_signed(j, NULL, ((const int *)v->items)[i]); break;
        default: {
            const struct fv_rank_run *run = (const struct fv_rank_run *)v->items + i;

            fv_json_array(j, NULL);
            fv_json_signed(j, NULL, run->first);
            fv_json_signed(j, NULL, run->stride);
            fv_json_signed(j, NULL, run->count);
            fv_json_end(j);
        }
        }
    fv_json_end(j);
}

void fv_json_value(struct fv_json *j, const char *key, const struct fv_value *v)
{
    char digits[24];

    if (v->null) {
        fv_json_null(j, key);
        return;
    }
    switch (v->type) {
    case FV_TYPE_WHOLE: fv_json_unsigned(j, key, v->whole); break;
    case FV_TYPE_NUMBER: fv_json_signed(j, key, v->number); break;
    case FV_TYPE_REAL: fv_json_real(j, key, v->real); break;
    case FV_TYPE_TRUTH: fv_json_bool(j, key, v->truth); break;
    case FV_TYPE_TEXT: fv_json_string(j, key, v->text); break;
    case FV_TYPE_HEX:
        snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)v->whole);
        fv_json_string(j, key, digits);
        break;
    default: put_list(j, key, v);
    }
}

static void put_relation(const struct writer *w, const char *key, const struct fv_relation *r, const void *parent);

/* ---- rows as objects ---- */

/* Columns from `first` on; those of a group become an object. */
static void put_columns(const struct writer *w, const struct fv_relation *r, const void *row, size_t first)
{
    char group[FV_KEY_BYTES] = "";

    for (size_t i = first; i < r->column_count; i++) {
        const struct fv_column_def *c = &r->columns[i];
        size_t bytes = fv_column_group(c);

        if (c->flags & FV_FLAT)
            continue;
        if (group[0] && (strncmp(group, c->key, bytes) || group[bytes])) {
            fv_json_end(w->j);
            group[0] = '\0';
        }
        if (bytes && !group[0]) {
            snprintf(group, sizeof(group), "%.*s", (int)bytes, c->key);
            fv_json_object(w->j, group);
        }
        const char *key = c->key + (bytes ? bytes + 1 : 0);

        if (c->type == FV_TYPE_RELATION) {
            put_relation(w, key, c->nested, fv_column_parent(c, row));
        } else {
            struct fv_value v = fv_column_value(c, w->subject, row);

            fv_json_value(w->j, key, &v);
        }
    }
    if (group[0])
        fv_json_end(w->j);
}

static void put_list_of(const struct writer *w, const char *key, const struct fv_relation *r, const void *parent)
{
    bool map = r->shape == FV_MAP;
    size_t count = fv_relation_count(r, w->subject, parent);

    if (map)
        fv_json_object(w->j, key);
    else
        fv_json_array(w->j, key);
    for (size_t i = 0; i < count; i++) {
        const void *row = fv_relation_row(r, w->subject, parent, i);

        if (!row)
            continue;
        fv_json_object(w->j, map ? fv_column_value(&r->columns[0], w->subject, row).text : NULL);
        put_columns(w, r, row, map);
        fv_json_end(w->j);
    }
    fv_json_end(w->j);
}

static void put_one(const struct writer *w, const char *key, const struct fv_relation *r, const void *parent)
{
    const void *row = fv_relation_count(r, w->subject, parent) ? fv_relation_row(r, w->subject, parent, 0) : NULL;

    if (!row) {
        fv_json_null(w->j, key);
        return;
    }
    fv_json_object(w->j, key);
    put_columns(w, r, row, 0);
    fv_json_end(w->j);
}

/* ---- rows as arrays ---- */

static void put_keys(const struct writer *w, const struct fv_relation *r)
{
    char key[FV_KEY_BYTES];

    fv_json_array(w->j, "columns");
    for (size_t i = 0; i < r->column_count; i++)
        if (!(r->columns[i].flags & FV_FLAT))
            fv_json_string(w->j, NULL, fv_column_flat_key(&r->columns[i], key));
    fv_json_end(w->j);
}

static void put_rows(const struct writer *w, const char *key, const struct fv_relation *r, const void *parent)
{
    size_t count = fv_relation_count(r, w->subject, parent);

    fv_json_object(w->j, key);
    put_keys(w, r);
    fv_json_array(w->j, "rows");
    for (size_t i = 0; i < count; i++) {
        const void *row = fv_relation_row(r, w->subject, parent, i);

        if (!row)
            continue;
        fv_json_array(w->j, NULL);
        for (size_t k = 0; k < r->column_count; k++) {
            if (r->columns[k].flags & FV_FLAT)
                continue;
            struct fv_value v = fv_column_value(&r->columns[k], w->subject, row);

            fv_json_value(w->j, NULL, &v);
        }
        fv_json_end(w->j);
    }
    fv_json_end(w->j);
    fv_json_end(w->j);
}

/* ---- rows of ranks, summed up ---- */

struct of_rank {
    double value;
    int64_t rank;
};

static void put_summary_row(struct fv_json *j, const struct fv_column_def *c, struct of_rank *values, size_t count)
{
    char key[FV_KEY_BYTES];
    double mean = 0, m2 = 0;

    for (size_t i = 0; i < count; i++) {
        double delta = values[i].value - mean;

        mean += delta / (double)(i + 1);
        m2 += delta * (values[i].value - mean);
    }
    qsort(values, count, sizeof(*values), fv_by_real);
    fv_json_array(j, NULL);
    fv_json_string(j, NULL, fv_column_flat_key(c, key));
    fv_json_unsigned(j, NULL, count);
    fv_json_real(j, NULL, mean);
    fv_json_real(j, NULL, sqrt(m2 / (double)count));
    fv_json_real(j, NULL, values[0].value);
    fv_json_signed(j, NULL, values[0].rank);
    for (int quarter = 1; quarter <= 3; quarter++)
        fv_json_real(j, NULL, fv_quantile(values, sizeof(*values), count, quarter / 4.0));
    fv_json_real(j, NULL, values[count - 1].value);
    fv_json_signed(j, NULL, values[count - 1].rank);
    fv_json_end(j);
}

static bool as_number(const struct fv_value *v, double *out)
{
    *out = v->type == FV_TYPE_WHOLE ? (double)v->whole : v->type == FV_TYPE_NUMBER ? (double)v->number : v->real;
    return !v->null;
}

static const struct fv_column_def *rank_column(const struct fv_relation *r)
{
    for (size_t i = 0; i < r->column_count; i++)
        if (r->columns[i].flags & FV_IS_RANK)
            return &r->columns[i];
    return NULL;
}

const char *const fv_json_summary_keys[FV_JSON_SUMMARY_KEYS] = { "column", "count",    "mean",    "stddev",
                                                                 "min",    "min_rank", "q1",      "median",
                                                                 "q3",     "max",      "max_rank" };

static void put_summary(const struct writer *w, const char *key, const struct fv_relation *r, const void *parent)
{
    const struct fv_column_def *ranks = rank_column(r);
    size_t count = fv_relation_count(r, w->subject, parent);
    struct of_rank *values = fv_xcalloc(count ? count : 1, sizeof(*values));

    fv_json_object(w->j, key);
    fv_json_array(w->j, "columns");
    for (unsigned i = 0; i < FV_JSON_SUMMARY_KEYS; i++)
        fv_json_string(w->j, NULL, fv_json_summary_keys[i]);
    fv_json_end(w->j);
    fv_json_array(w->j, "rows");
    for (size_t k = 0; k < r->column_count; k++) {
        const struct fv_column_def *c = &r->columns[k];
        size_t known = 0;

        if (c == ranks || c->flags & FV_IS_RANK || !strcmp(c->unit, "id") ||
            (c->type != FV_TYPE_WHOLE && c->type != FV_TYPE_NUMBER && c->type != FV_TYPE_REAL) || c->flags & FV_FLAT)
            continue;
        for (size_t i = 0; i < count; i++) {
            const void *row = fv_relation_row(r, w->subject, parent, i);
            struct fv_value v = row ? fv_column_value(c, w->subject, row) : (struct fv_value){ .null = true };

            values[known].rank = row ? fv_column_value(ranks, w->subject, row).number : 0;
            known += as_number(&v, &values[known].value);
        }
        if (known)
            put_summary_row(w->j, c, values, known);
    }
    fv_json_end(w->j);
    fv_json_end(w->j);
    free(values);
}

/* ---- all ---- */

static void put_shape(const struct writer *w, const char *key, const struct fv_relation *r, const void *parent)
{
    if (r->nullable && r->shape != FV_ONE && !fv_relation_count(r, w->subject, parent)) {
        fv_json_null(w->j, key);
        return;
    }
    switch (r->shape) {
    case FV_ONE: put_one(w, key, r, parent); break;
    case FV_ROWS: put_rows(w, key, r, parent); break;
    default: put_list_of(w, key, r, parent);
    }
}

static void put_relation(const struct writer *w, const char *key, const struct fv_relation *r, const void *parent)
{
    char summary[FV_KEY_BYTES];

    if (r->of_ranks && w->ranks == FV_JSON_RANKS_NONE) {
        fv_json_null(w->j, key);
        return;
    }
    if (!r->by_rank) {
        put_shape(w, key, r, parent);
        return;
    }
    snprintf(summary, sizeof(summary), "%s_summary", key);
    if (w->ranks == FV_JSON_RANKS_ALL)
        put_shape(w, key, r, parent);
    else
        fv_json_null(w->j, key);
    if (w->ranks == FV_JSON_RANKS_SUMMARY)
        put_summary(w, summary, r, parent);
    else
        fv_json_null(w->j, summary);
}

void fv_json_relations(struct fv_json *j, const struct fv_relation *const *set, void *subject, enum fv_json_ranks ranks)
{
    const struct writer w = { j, subject, ranks };

    for (; *set; set++)
        put_relation(&w, (*set)->key, *set, NULL);
}
