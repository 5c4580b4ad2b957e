/* SPDX-License-Identifier: BSD-3-Clause */
/* See diff_tables.h. */
#include "diff/diff_tables.h"
#include "diff/diff.h"
#include "profile/relations.h"
#include "tool/words.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct fv_diff_table fv_diff_tables[FV_DIFF_TABLES] = {
    { .relation = "findings",
      .noun = "finding",
      .about = "lost time of a rank (mean over ranks)",
      .names = { "name" },
      .by_chance = "noise",
      .place = "place",
      .rank = "rank",
      .text = "text",
      .seconds = "lost_s",
      .lines = true },
    { .relation = "sampled_functions",
      .noun = "function",
      .about = "CPU time of a rank outside of MPI, with callees, by clock samples",
      .names = { "function" },
      .file = "file",
      .line = "line",
      .seconds = "ticks",
      .less = "mpi_ticks",
      .mean = "mean_cpu_s",
      .ticks = true },
    { .relation = "cpu_procedures",
      .noun = "procedure",
      .about = "CPU time of a rank outside of MPI in procedures of the program, with library functions that they call, "
               "by clock samples",
      .names = { "procedure" },
      .file = "file",
      .line = "first_line",
      .left_out = "library",
      .seconds = "own_ticks",
      .less = "own_mpi_ticks",
      .parts = "per_thread",
      .part_seconds = "own_ticks",
      .part_less = "own_mpi_ticks",
      .ticks = true },
    { .relation = "regions",
      .noun = "region",
      .about = "time of a rank outside of MPI",
      .names = { "label" },
      .seconds = "mean_s",
      .count = "count",
      .parts = "per_rank",
      .part_seconds = "time_s",
      .is_mean = true,
      .lines = true },
    { .relation = "sections",
      .noun = "section",
      .about = "elapsed time of a rank",
      .names = { "section", "number" },
      .left_out = "whole",
      .seconds = "elapsed_sum_s",
      .count = "count",
      .mean = "instance_mean_s",
      .parts = "per_rank",
      .part_seconds = "elapsed_s" },
    { .relation = "locks",
      .noun = "lock",
      .about = "waiting of a rank's threads",
      .names = { "label" },
      .place = "kind",
      .seconds = "wait_s",
      .count = "count",
      .parts = "per_rank",
      .part_seconds = "wait_s",
      .lines = true },
};

/* ---- columns ---- */

static const struct fv_column_def *column_of(const struct fv_relation *r, const char *key)
{
    char flat[FV_KEY_BYTES];

    for (size_t i = 0; key && i < r->column_count; i++)
        if (!strcmp(fv_column_flat_key(&r->columns[i], flat), key))
            return &r->columns[i];
    return NULL;
}

/* NAN: not known, or there is no such column. */
static double real_of(const struct fv_column_def *c, void *subject, const void *row)
{
    if (!c)
        return NAN;
    const struct fv_value v = fv_column_value(c, subject, row);

    return v.null                     ? NAN
           : v.type == FV_TYPE_WHOLE  ? (double)v.whole
           : v.type == FV_TYPE_NUMBER ? (double)v.number
           : v.type == FV_TYPE_TRUTH  ? v.truth
           : v.type == FV_TYPE_REAL   ? v.real
                                      : NAN;
}

/* NULL: none. Stays until the next value is read. */
static const char *text_of(const struct fv_column_def *c, void *subject, const void *row)
{
    if (!c)
        return NULL;
    const struct fv_value v = fv_column_value(c, subject, row);

    return v.null || v.type != FV_TYPE_TEXT || !*v.text ? NULL : v.text;
}

/* ---- the rows of a run ---- */

struct reader {
    struct fv_diff *diff;
    struct fv_diff_entries *to;
    const struct fv_diff_table *table;
    const struct fv_relation *relation;
    struct fv_tables *subject;
    size_t run;       /* of the side */
    double unit_s;    /* what one of the table's seconds is */
    double rank_unit; /* the same of a rank's mean */
    struct fv_string key, name;
    bool any;
};

static const struct fv_column_def *of(const struct reader *r, const char *key)
{
    return column_of(r->relation, key);
}

static double seconds_of(const struct reader *r, const struct fv_relation *in, const char *seconds, const char *less,
                         const void *row)
{
    double off = real_of(column_of(in, less), r->subject, row);

    return (real_of(column_of(in, seconds), r->subject, row) - (isnan(off) ? 0 : off)) * r->unit_s;
}

/* Numbers of lines, which stand behind a colon or a blank, are left out: "f() at a.c:12 to 20" is "f() at a.c: to ". */
static char *without_lines(struct fv_arena *arena, const char *text)
{
    char *out = fv_arena_string(arena, text), *to = out;

    for (const char *p = text; *p; p++) {
        bool first = p == text || !strchr(": ", p[-1]);

        if (isdigit((unsigned char)*p) && !first)
            while (isdigit((unsigned char)p[1]))
                p++;
        else
            *to++ = *p;
    }
    *to = '\0';
    return out;
}

/* "a.c:12"; "" where nothing is known. */
static void add_file(const struct reader *r, const void *row, struct fv_string *out, bool with_line)
{
    const char *file = text_of(of(r, r->table->file), r->subject, row);
    double line = with_line && file ? real_of(of(r, r->table->line), r->subject, row) : NAN;

    fv_string_clear(out);
    if (!file)
        return;
    file = text_of(of(r, r->table->file), r->subject, row);
    fv_string_add(out, "%s", fv_base_name(file));
    if (line > 0)
        fv_string_add(out, ":%.0f", line);
}

/* Names, file, place, rank; of what is by chance its name. */
static void make_key(struct reader *r, const void *row, struct fv_string *scratch)
{
    const struct fv_diff_table *t = r->table;
    const char *name = text_of(of(r, t->names[0]), r->subject, row);
    double number;

    fv_string_clear(&r->key);
    fv_string_clear(&r->name);
    fv_string_add(&r->name, "%s", name ? name : "(not known)");
    number = real_of(of(r, t->names[1]), r->subject, row);
    if (number != 0 && !isnan(number))
        fv_string_add(&r->name, " %.0f", number);
    fv_string_add(&r->key, "%s", r->name.text);
    if (t->by_chance && fv_same_text(name, t->by_chance))
        return;
    if (!isnan(number))
        fv_string_add(&r->key, "\n%.0f", number);
    add_file(r, row, scratch, false);
    fv_string_add(&r->key, "\n%s", scratch->text);
    const char *place = text_of(of(r, t->place), r->subject, row);
    fv_string_add(&r->key, "\n%s", place ? place : ""); /* may be another's from here on */
    number = real_of(of(r, t->rank), r->subject, row);
    if (!isnan(number) && place)
        fv_string_add(&r->key, "\n#%.0f", number);
}

static uint32_t find_entry(const struct fv_diff_entries *in, const char *key)
{
    struct fv_index_probe p = fv_index_probe(&in->index, fv_hash_text(key));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE && strcmp(in->items[i].key, key))
        continue;
    return i;
}

static struct fv_diff_entry *entry_of(struct reader *r, const void *row)
{
    const struct fv_diff_table *t = r->table;
    struct fv_arena *arena = &r->diff->arena;
    struct fv_string scratch = { 0 };

    make_key(r, row, &scratch);
    uint32_t found = find_entry(r->to, r->key.text);
    if (found == FV_NONE) {
        double rank = real_of(of(r, t->rank), r->subject, row);
        struct fv_diff_entry entry = { .key = fv_arena_string(arena, r->key.text),
                                       .name = fv_arena_string(arena, r->name.text),
                                       .rank = isnan(rank) ? -1 : (long)rank };
        entry.loose = t->lines ? without_lines(arena, entry.key) : entry.key;
        add_file(r, row, &scratch, true);
        const char *place = t->place ? text_of(of(r, t->place), r->subject, row) : *scratch.text ? scratch.text : NULL;
        entry.place = place ? fv_arena_string(arena, place) : NULL;
        const char *text = text_of(of(r, t->text), r->subject, row);
        entry.text = text ? fv_arena_string(arena, text) : NULL;
        FV_GROW(r->to->items, r->to->room, r->to->count + 1);
        found = (uint32_t)r->to->count++;
        r->to->items[found] = entry;
        fv_index_add(&r->to->index, fv_hash_text(entry.key), found);
    }
    fv_string_release(&scratch);
    return &r->to->items[found];
}

static double *values_at(struct fv_diff_entry *e, size_t run)
{
    FV_GROW(e->values, e->value_room, (run + 1) * FV_ENTRY_METRICS);
    FV_GROW(e->there, e->there_room, run + 1);
    for (; e->runs <= run; e->runs++) {
        for (unsigned k = 0; k < FV_ENTRY_METRICS; k++)
            e->values[e->runs * FV_ENTRY_METRICS + k] = NAN;
        e->there[e->runs] = false;
    }
    return &e->values[run * FV_ENTRY_METRICS];
}

static void add_known(double *to, double value)
{
    if (!isnan(value))
        *to = isnan(*to) ? value : *to + value;
}

static void add_ranks(struct reader *r, struct fv_diff_entry *e, const void *row)
{
    const struct fv_column_def *parts = of(r, r->table->parts), *rank = NULL;
    size_t ranks = (size_t)r->subject->model->world_size; /* by number: of some there may be no file */

    if (!parts)
        return;
    rank = column_of(parts->nested, "rank");
    const void *parent = fv_column_parent(parts, row);
    size_t count = fv_relation_count(parts->nested, r->subject, parent);

    FV_GROW(e->rank_s, e->rank_room, ranks);
    for (; e->ranks < ranks; e->ranks++)
        e->rank_s[e->ranks] = 0;
    for (size_t i = 0; i < count; i++) {
        const void *part = fv_relation_row(parts->nested, r->subject, parent, i);
        double number = part ? real_of(rank, r->subject, part) : -1;

        if (number >= 0 && number < (double)ranks)
            e->rank_s[(size_t)number] +=
                seconds_of(r, parts->nested, r->table->part_seconds, r->table->part_less, part);
    }
}

static bool take_row(void *context, const struct fv_flat_row *at)
{
    struct reader *r = context;
    const struct fv_diff_table *t = r->table;

    r->any = true;
    if (real_of(of(r, t->left_out), r->subject, at->row) > 0)
        return true;
    double seconds = seconds_of(r, r->relation, t->seconds, t->less, at->row) * r->rank_unit;
    if (t->ticks && !(seconds > 0))
        return true;
    struct fv_diff_entry *e = entry_of(r, at->row);
    double *values = values_at(e, r->run), mean = real_of(of(r, t->mean), r->subject, at->row);

    if (!(values[FV_ENTRY_TIME] >= seconds)) /* of several that are one: what cannot be added is the longest's */
        values[FV_ENTRY_MEAN] = mean;
    e->there[r->run] = true;
    add_known(&values[FV_ENTRY_TIME], seconds);
    add_known(&values[FV_ENTRY_COUNT],
              real_of(of(r, t->count), r->subject, at->row) / (double)r->subject->model->rank_count);
    add_ranks(r, e, at->row);
    return true;
}

/* Has it rows whenever there is nothing to tell? */
static bool is_always_there(const struct fv_relation_place *place)
{
    for (size_t i = 0; i < place->depth; i++)
        if (place->chain[i]->recorded_by)
            return false;
    return true;
}

void fv_diff_tables_take(struct fv_diff *d, unsigned side, const struct fv_profile *profile)
{
    struct fv_tables subject;

    fv_tables_init(&subject, profile);
    for (unsigned i = 0; i < FV_DIFF_TABLES; i++) {
        struct fv_relation_place place;
        const struct fv_diff_table *t = &fv_diff_tables[i];

        if (!fv_relations_find(fv_profile_relations, t->relation, &place))
            continue;
        struct reader r = { .diff = d,
                            .to = &d->side[side].tables[i],
                            .table = t,
                            .relation = place.chain[place.depth - 1],
                            .subject = &subject,
                            .run = d->side[side].count - 1,
                            .unit_s = t->ticks ? fv_model_costs(profile->model)->tick_s : 1,
                            .rank_unit = t->is_mean ? 1 : 1 / (double)profile->model->rank_count };

        fv_relation_each(&place, &subject, take_row, &r);
        r.to->recorded += r.any || is_always_there(&place);
        fv_string_release(&r.key);
        fv_string_release(&r.name);
    }
    fv_tables_release(&subject);
}

void fv_diff_entries_release(struct fv_diff_entries *e)
{
    for (size_t i = 0; i < e->count; i++) {
        free(e->items[i].values);
        free(e->items[i].there);
        free(e->items[i].rank_s);
    }
    free(e->items);
    fv_index_release(&e->index);
    *e = (struct fv_diff_entries){ 0 };
}

/* ---- both sides ---- */

static uint32_t *join(const struct fv_diff_entries *a, const struct fv_diff_entries *b, bool *named)
{
    uint32_t *partner = fv_xcalloc(a->count + 1, sizeof(*partner));
    bool *taken = fv_xcalloc(b->count + 1, sizeof(*taken));
    struct fv_index loose = { 0 };

    for (size_t i = 0; i < a->count; i++)
        if ((partner[i] = find_entry(b, a->items[i].key)) != FV_NONE)
            taken[partner[i]] = true;
    for (uint32_t k = 0; k < b->count; k++)
        if (!taken[k])
            fv_index_add(&loose, fv_hash_text(b->items[k].loose), k);
    for (size_t i = 0; i < a->count; i++) {
        struct fv_index_probe p = fv_index_probe(&loose, fv_hash_text(a->items[i].loose));

        for (uint32_t k; partner[i] == FV_NONE && (k = fv_index_next(&p)) != FV_NONE;)
            if (!taken[k] && !strcmp(a->items[i].loose, b->items[k].loose)) {
                partner[i] = k;
                named[i] = taken[k] = true;
            }
    }
    fv_index_release(&loose);
    free(taken);
    return partner;
}

static bool same_ranks(const struct fv_diff *d)
{
    for (unsigned s = 0; s < 2; s++)
        for (size_t r = 0; r < d->side[s].count; r++)
            if (d->side[s].runs[r].ranks != d->side[0].runs[0].ranks)
                return false;
    return true;
}

/* Whose seconds changed most. */
static void find_rank(const struct fv_diff *d, struct fv_diff_entry_row *row, const struct fv_diff_entry *const of[2])
{
    size_t ranks[2] = { of[0] ? of[0]->ranks : 0, of[1] ? of[1]->ranks : 0 };

    for (size_t i = 0; i < ranks[0] || i < ranks[1]; i++) {
        double a = i < ranks[0] ? of[0]->rank_s[i] / (double)d->side[0].count : 0,
               b = i < ranks[1] ? of[1]->rank_s[i] / (double)d->side[1].count : 0;

        if (row->rank < 0 || fabs(b - a) > fabs(row->rank_change_s)) {
            row->rank = (long)i;
            row->rank_change_s = b - a;
        }
    }
}

/* A run that does not have the row counts as 0, unless nobody knows the number. */
static void change_entry(const struct fv_diff *d, struct fv_diff_entry_row *row,
                         const struct fv_diff_entry *const of[2], unsigned metric, double *values)
{
    size_t n[2] = { d->side[0].count, d->side[1].count };
    bool known = false;

    for (size_t r = 0; r < n[0] + n[1]; r++) {
        const struct fv_diff_entry *e = of[r >= n[0]];
        size_t run = r < n[0] ? r : r - n[0];

        values[r] = e && run < e->runs ? e->values[run * FV_ENTRY_METRICS + metric] : NAN;
        known = known || !isnan(values[r]);
    }
    for (size_t r = 0; known && metric != FV_ENTRY_MEAN && r < n[0] + n[1]; r++)
        if (isnan(values[r]))
            values[r] = 0;
    fv_change_of(&row->change[metric], values, n[0], values + n[0], n[1]);
}

static void add_entry(struct fv_diff *d, uint32_t table, enum fv_diff_join join, const struct fv_diff_entry *a,
                      const struct fv_diff_entry *b, double *values)
{
    const struct fv_diff_entry *const of[2] = { a, b }, *shown = b ? b : a;
    struct fv_diff_entry_row *row = &d->entries[d->entry_count++];

    *row = (struct fv_diff_entry_row){ .table = table,
                                       .name = shown->name,
                                       .place = shown->place,
                                       .text = shown->text,
                                       .join = join,
                                       .rank = shown->rank,
                                       .rank_change_s = NAN };
    for (unsigned s = 0; s < 2; s++)
        for (size_t r = 0; of[s] && r < of[s]->runs; r++)
            row->runs[s] += of[s]->there[r];
    for (unsigned k = 0; k < FV_ENTRY_METRICS; k++)
        change_entry(d, row, of, k, values);
    if (same_ranks(d) && row->rank < 0)
        find_rank(d, row, of);
}

static void compare(struct fv_diff *d, uint32_t table)
{
    const struct fv_diff_entries *a = &d->side[0].tables[table], *b = &d->side[1].tables[table];
    bool *named = fv_xcalloc(a->count + 1, sizeof(*named)), *taken = fv_xcalloc(b->count + 1, sizeof(*taken));
    double *values = fv_xcalloc(d->side[0].count + d->side[1].count, sizeof(*values));
    uint32_t *partner = join(a, b, named);

    FV_GROW(d->entries, d->entry_room, d->entry_count + a->count + b->count);
    for (size_t i = 0; i < a->count; i++) {
        bool only = partner[i] == FV_NONE;

        add_entry(d, table,
                  only       ? FV_JOIN_ONLY_A
                  : named[i] ? FV_JOIN_NAMES
                             : FV_JOIN_POSITION,
                  &a->items[i], only ? NULL : &b->items[partner[i]], values);
        if (!only)
            taken[partner[i]] = true;
    }
    for (size_t i = 0; i < b->count; i++)
        if (!taken[i])
            add_entry(d, table, FV_JOIN_ONLY_B, NULL, &b->items[i], values);
    free(partner);
    free(values);
    free(taken);
    free(named);
}

static int by_change(const void *a, const void *b)
{
    const struct fv_diff_entry_row *x = a, *y = b;
    const struct fv_change *p = &x->change[FV_ENTRY_TIME], *q = &y->change[FV_ENTRY_TIME];
    double u = isnan(p->change) ? 0 : fabs(p->change), v = isnan(q->change) ? 0 : fabs(q->change);

    if (p->significant != q->significant)
        return p->significant ? -1 : 1;
    if (u != v)
        return u > v ? -1 : 1;
    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names                ? names
           : x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                                : strcmp(x->place ? x->place : "", y->place ? y->place : "");
}

static void say_missing(struct fv_diff *d, const struct fv_diff_table *t, const size_t recorded[2])
{
    fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                   "table %s is not compared: %zu of %zu runs of A recorded it, and %zu of %zu of B", t->relation,
                   recorded[0], d->side[0].count, recorded[1], d->side[1].count);
}

void fv_diff_tables_compare(struct fv_diff *d)
{
    for (uint32_t i = 0; i < FV_DIFF_TABLES; i++) {
        size_t recorded[2] = { d->side[0].tables[i].recorded, d->side[1].tables[i].recorded }, first = d->entry_count;

        if (recorded[0] == d->side[0].count && recorded[1] == d->side[1].count) {
            compare(d, i);
            if (d->entry_count > first)
                fv_change_discover_rows(d->entries[first].change, FV_ENTRY_METRICS, sizeof(*d->entries),
                                        d->entry_count - first);
        } else if (recorded[0] || recorded[1]) {
            say_missing(d, &fv_diff_tables[i], recorded);
        }
    }
    if (d->entry_count)
        qsort(d->entries, d->entry_count, sizeof(*d->entries), by_change);
}
