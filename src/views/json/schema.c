/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON Schema of what fv_json_relations() writes: types, units and meanings of all columns. */
#include "views/flat.h"
#include "views/relations.h"

#include <stdio.h>
#include <string.h>

static const char *const type_names[] = {
    [FV_TYPE_WHOLE] = "integer", [FV_TYPE_NUMBER] = "integer", [FV_TYPE_REAL] = "number",
    [FV_TYPE_TRUTH] = "boolean", [FV_TYPE_TEXT] = "string",    [FV_TYPE_HEX] = "string",
    [FV_TYPE_REALS] = "array",   [FV_TYPE_RANKS] = "array",    [FV_TYPE_RUNS] = "array",
};

static void put_type(struct fv_json *j, const char *name, bool nullable)
{
    if (!nullable) {
        fv_json_string(j, "type", name);
        return;
    }
    fv_json_array(j, "type");
    fv_json_string(j, NULL, name);
    fv_json_string(j, NULL, "null");
    fv_json_end(j);
}

static void put_items(struct fv_json *j, const struct fv_column_def *c)
{
    fv_json_object(j, "items");
    if (c->type == FV_TYPE_RUNS) {
        fv_json_string(j, "type", "array");
        fv_json_string(j, "description", "first rank, stride, how many");
        fv_json_unsigned(j, "minItems", 3);
        fv_json_unsigned(j, "maxItems", 3);
        fv_json_object(j, "items");
        fv_json_string(j, "type", "integer");
        fv_json_end(j);
    } else {
        fv_json_string(j, "type", c->type == FV_TYPE_REALS ? "number" : "integer");
    }
    fv_json_end(j);
}

static void put_words(struct fv_json *j, const struct fv_column_def *c)
{
    fv_json_array(j, "enum");
    for (const char *const *word = c->words; *word; word++)
        fv_json_string(j, NULL, *word);
    if (c->flags & FV_NULLABLE)
        fv_json_null(j, NULL);
    fv_json_end(j);
}

/* What a value is, and what it means. */
static void put_column(struct fv_json *j, const char *key, const struct fv_column_def *c)
{
    fv_json_object(j, key);
    put_type(j, type_names[c->type], c->flags & FV_NULLABLE);
    if (c->type == FV_TYPE_HEX)
        fv_json_string(j, "pattern", "^[0-9a-f]{16}$");
    if (c->type == FV_TYPE_WHOLE)
        fv_json_unsigned(j, "minimum", 0);
    if (c->type >= FV_TYPE_REALS)
        put_items(j, c);
    if (c->words)
        put_words(j, c);
    fv_json_string(j, "description", c->doc);
    if (c->unit && *c->unit)
        fv_json_string(j, "unit", c->unit);
    if (fv_column_exactness(c))
        fv_json_string(j, "exactness", fv_column_exactness(c));
    fv_json_end(j);
}

static void put_relation(struct fv_json *j, const char *key, const struct fv_relation *r);

/* Keys from column *at on that are of one object: of a group, or of the row. */
static void put_properties(struct fv_json *j, const struct fv_relation *r, size_t first, size_t end, size_t group);

/* Behind the columns of the group that begins at `first`. */
static size_t group_end(const struct fv_relation *r, size_t first, size_t bytes)
{
    size_t end = first + 1;

    while (end < r->column_count && fv_column_group(&r->columns[end]) == bytes &&
           !strncmp(r->columns[end].key, r->columns[first].key, bytes))
        end++;
    return end;
}

static void put_required_key(struct fv_json *j, const struct fv_column_def *c, const char *key)
{
    char summary[FV_KEY_BYTES];

    fv_json_string(j, NULL, key);
    if (c->type == FV_TYPE_RELATION && c->nested->by_rank) {
        snprintf(summary, sizeof(summary), "%s_summary", key);
        fv_json_string(j, NULL, summary);
    }
}

static void put_required(struct fv_json *j, const struct fv_relation *r, size_t first, size_t end, size_t group)
{
    char name[FV_KEY_BYTES];

    fv_json_array(j, "required");
    for (size_t i = first; i < end;) {
        size_t bytes = group ? 0 : fv_column_group(&r->columns[i]);

        if (r->columns[i].flags & FV_FLAT) {
            i++;
        } else if (bytes) {
            snprintf(name, sizeof(name), "%.*s", (int)bytes, r->columns[i].key);
            fv_json_string(j, NULL, name);
            i = group_end(r, i, bytes);
        } else {
            put_required_key(j, &r->columns[i], r->columns[i].key + (group ? group + 1 : 0));
            i++;
        }
    }
    fv_json_end(j);
}

/* type, required, properties of columns first..end - 1. */
static void put_object(struct fv_json *j, const struct fv_relation *r, size_t first, size_t end, size_t group)
{
    put_required(j, r, first, end, group);
    fv_json_bool(j, "additionalProperties", false);
    fv_json_object(j, "properties");
    put_properties(j, r, first, end, group);
    fv_json_end(j);
}

static void put_properties(struct fv_json *j, const struct fv_relation *r, size_t first, size_t end, size_t group)
{
    char name[FV_KEY_BYTES];

    for (size_t i = first; i < end; i++) {
        const struct fv_column_def *c = &r->columns[i];
        size_t bytes = group ? 0 : fv_column_group(c);

        if (c->flags & FV_FLAT)
            continue;
        if (bytes) {
            size_t behind = group_end(r, i, bytes);

            snprintf(name, sizeof(name), "%.*s", (int)bytes, c->key);
            fv_json_object(j, name);
            fv_json_string(j, "type", "object");
            put_object(j, r, i, behind, bytes);
            fv_json_end(j);
            i = behind - 1;
        } else if (c->type == FV_TYPE_RELATION) {
            put_relation(j, c->key + (group ? group + 1 : 0), c->nested);
        } else {
            put_column(j, c->key + (group ? group + 1 : 0), c);
        }
    }
}

/* ---- relations ---- */

static void put_row_types(struct fv_json *j, const struct fv_relation *r)
{
    fv_json_object(j, "rows");
    fv_json_string(j, "type", "array");
    fv_json_object(j, "items");
    fv_json_string(j, "type", "array");
    fv_json_array(j, "prefixItems");
    for (size_t i = 0; i < r->column_count; i++)
        if (!(r->columns[i].flags & FV_FLAT))
            put_column(j, NULL, &r->columns[i]);
    fv_json_end(j);
    fv_json_bool(j, "items", false);
    fv_json_end(j);
    fv_json_end(j);
}

static void put_table(struct fv_json *j, const struct fv_relation *r)
{
    char key[FV_KEY_BYTES];

    fv_json_array(j, "required");
    fv_json_string(j, NULL, "columns");
    fv_json_string(j, NULL, "rows");
    fv_json_end(j);
    fv_json_bool(j, "additionalProperties", false);
    fv_json_object(j, "properties");
    fv_json_object(j, "columns");
    fv_json_array(j, "const");
    for (size_t i = 0; i < r->column_count; i++)
        if (!(r->columns[i].flags & FV_FLAT))
            fv_json_string(j, NULL, fv_column_flat_key(&r->columns[i], key));
    fv_json_end(j);
    fv_json_end(j);
    put_row_types(j, r);
    fv_json_end(j);
}

static void put_relation_body(struct fv_json *j, const struct fv_relation *r)
{
    bool list = r->shape == FV_LIST, map = r->shape == FV_MAP;

    put_type(j, list ? "array" : "object", r->nullable || r->by_rank || r->of_ranks);
    fv_json_string(j, "description", r->doc);
    if (r->name)
        fv_json_string(j, "table", r->name);
    if (r->shape == FV_ROWS) {
        put_table(j, r);
        return;
    }
    if (list || map)
        fv_json_object(j, list ? "items" : "additionalProperties");
    if (list || map)
        fv_json_string(j, "type", "object");
    put_object(j, r, map, r->column_count, 0);
    if (list || map)
        fv_json_end(j);
}

static void put_summary(struct fv_json *j, const char *key)
{
    char name[FV_KEY_BYTES];

    snprintf(name, sizeof(name), "%s_summary", key);
    fv_json_object(j, name);
    fv_json_string(j, "$ref", "#/$defs/summary");
    fv_json_end(j);
}

static void put_relation(struct fv_json *j, const char *key, const struct fv_relation *r)
{
    fv_json_object(j, key);
    put_relation_body(j, r);
    fv_json_end(j);
    if (r->by_rank)
        put_summary(j, key);
}

static void put_definitions(struct fv_json *j)
{
    static const char *const types[] = { "string", "integer", "number", "number", "number", "integer",
                                         "number", "number",  "number", "number", "integer" };

    fv_json_object(j, "$defs");
    fv_json_object(j, "summary");
    put_type(j, "object", true);
    fv_json_string(j, "description",
                   "The values of each column over the ranks: how many there are, mean, standard deviation (of the "
                   "population), smallest and largest with a rank that has it, quartiles. Null unless "
                   "--json-ranks=summary "
                   "is in force, as it is by default above 512 ranks.");
    fv_json_object(j, "properties");
    fv_json_object(j, "columns");
    fv_json_array(j, "const");
    for (unsigned i = 0; i < FV_JSON_SUMMARY_KEYS; i++)
        fv_json_string(j, NULL, fv_json_summary_keys[i]);
    fv_json_end(j);
    fv_json_end(j);
    fv_json_object(j, "rows");
    fv_json_string(j, "type", "array");
    fv_json_object(j, "items");
    fv_json_string(j, "type", "array");
    fv_json_array(j, "prefixItems");
    for (unsigned i = 0; i < FV_JSON_SUMMARY_KEYS; i++) {
        fv_json_object(j, NULL);
        fv_json_string(j, "type", types[i]);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_bool(j, "items", false);
    fv_json_end(j);
    fv_json_end(j);
    fv_json_end(j);
    fv_json_end(j);
    fv_json_end(j);
}

int fv_json_schema(const char *schema, const char *title, const struct fv_relation *const *set, FILE *out)
{
    struct fv_json json = { .out = out }, *j = &json;

    fv_json_object(j, NULL);
    fv_json_string(j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    fv_json_string(j, "title", title);
    fv_json_string(j, "type", "object");
    fv_json_array(j, "required");
    fv_json_string(j, NULL, "schema");
    for (const struct fv_relation *const *r = set; *r; r++) {
        const struct fv_column_def as_column = { .type = FV_TYPE_RELATION, .nested = *r };

        put_required_key(j, &as_column, (*r)->key);
    }
    fv_json_end(j);
    fv_json_object(j, "properties");
    fv_json_object(j, "schema");
    fv_json_string(j, "const", schema);
    fv_json_end(j);
    for (const struct fv_relation *const *r = set; *r; r++)
        put_relation(j, (*r)->key, *r);
    fv_json_end(j);
    put_definitions(j);
    fv_json_end(j);
    return fflush(out) || ferror(out) || json.failed ? -FV_EIO : 0;
}

/* ---- tables in flat forms ---- */

struct describing {
    struct fv_json json;
    const char *table; /* this alone; NULL: all */
};

/* Lists are words there. */
static void put_flat_column(struct fv_json *j, const struct fv_flat_column *column)
{
    struct fv_column_def c = *column->column;

    if (c.type >= FV_TYPE_REALS)
        c.type = FV_TYPE_TEXT;
    put_column(j, column->key, &c);
}

static bool put_flat_table(void *context, const struct fv_relation_place *place)
{
    const struct fv_relation *r = place->chain[place->depth - 1];
    struct describing *d = context;
    struct fv_flat flat;

    if (d->table && strcmp(d->table, r->name))
        return true;
    fv_flat_init(&flat, r);
    fv_json_object(&d->json, r->name);
    fv_json_string(&d->json, "description", r->doc);
    fv_json_object(&d->json, "columns");
    for (size_t i = 0; i < flat.count; i++)
        put_flat_column(&d->json, &flat.items[i]);
    fv_json_end(&d->json);
    fv_json_end(&d->json);
    fv_flat_release(&flat);
    return true;
}

int fv_json_tables(const char *table, const struct fv_relation *const *set, FILE *out)
{
    struct describing d = { .json.out = out, .table = table };

    fv_json_object(&d.json, NULL);
    fv_relations_visit(set, put_flat_table, &d);
    fv_json_end(&d.json);
    return fflush(out) || ferror(out) || d.json.failed ? -FV_EIO : 0;
}
