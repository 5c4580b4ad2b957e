/* SPDX-License-Identifier: BSD-3-Clause */
/* See lookup.h. */
#include "query/lookup.h"

#include <stdlib.h>

uint64_t fv_sql_hash_number(double value)
{
    uint64_t bits;

    value += 0.0; /* -0 is 0 */
    memcpy(&bits, &value, sizeof(bits));
    return fv_mix(bits);
}

uint64_t fv_sql_hash_text(const char *text)
{
    return fv_hash_text(text);
}

/* False: it equals nothing. */
static bool hash_of(const struct fv_value *v, struct fv_string *text, uint64_t *out)
{
    if (v->null)
        return false;
    switch (v->type) {
    case FV_TYPE_WHOLE: *out = fv_sql_hash_number((double)v->whole); break;
    case FV_TYPE_NUMBER: *out = fv_sql_hash_number((double)v->number); break;
    case FV_TYPE_REAL: *out = fv_sql_hash_number(v->real); break;
    case FV_TYPE_TRUTH: *out = fv_sql_hash_number(v->truth); break;
    default: *out = fv_sql_hash_text(fv_sql_words(v, text)); break;
    }
    return true;
}

static int by_hash(const void *a, const void *b)
{
    const struct fv_sql_entry *x = a, *y = b;
    const size_t depth = FV_RELATION_DEPTH;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    for (size_t i = 0; i < depth; i++)
        if (x->place.number[i] != y->place.number[i])
            return x->place.number[i] < y->place.number[i] ? -1 : 1;
    return 0;
}

bool fv_sql_lookup_ready(struct fv_sql_lookup *l, const struct fv_sql_table *table, size_t column,
                         const struct fv_sql_catalogue *catalogue, const struct fv_sql_run *runs, size_t run_count)
{
    struct fv_string text = { 0 };
    struct fv_sql_rows rows;

    if (l->made || !l->asked++)
        return l->made;
    fv_sql_rows_init(&rows, table, catalogue, runs, 0, run_count);
    while (fv_sql_rows_next(&rows)) {
        const struct fv_value v = fv_sql_rows_value(&rows, &table->columns[column]);
        uint64_t hash;

        if (!hash_of(&v, &text, &hash))
            continue;
        FV_GROW(l->entries, l->room, l->count + 1);
        l->entries[l->count++] = (struct fv_sql_entry){ hash, rows.place };
    }
    fv_sql_rows_release(&rows);
    fv_string_release(&text);
    if (l->count)
        qsort(l->entries, l->count, sizeof(*l->entries), by_hash);
    l->made = true;
    return true;
}

size_t fv_sql_lookup_find(const struct fv_sql_lookup *l, uint64_t hash, size_t *first)
{
    *first = FV_COUNT_BEFORE(i, l->count, l->entries[i].hash < hash);
    return FV_COUNT_BEFORE(i, l->count, l->entries[i].hash <= hash) - *first;
}

void fv_sql_lookup_release(struct fv_sql_lookup *l)
{
    free(l->entries);
    *l = (struct fv_sql_lookup){ 0 };
}
