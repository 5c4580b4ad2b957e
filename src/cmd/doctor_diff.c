/* SPDX-License-Identifier: BSD-3-Clause */
/* See doctor_diff.h. Rows of the same table belong together where their names and numbers are the same: the same test
 * on the same processor, the same working set. */
#include "cmd/doctor_diff.h"
#include "base/base.h"
#include "cmd/doctor_page.h"
#include "tool/relation.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 0.1 /* of the smaller value: what differs by less is not shown */

enum { KEYS = 3, VALUES = 4 };

/* What is compared, and what a row is known by. */
static const struct compared {
    const char *table, *keys[KEYS], *values[VALUES];
    bool more_is_better;
} compared[] = {
    { "noise", { "test", "phase", "cpu" }, { "mode_s", "p99_percent", "max_percent" }, false },
    { "detours", { "phase", "cpu" }, { "gaps_per_second", "lost_share", "p99_s", "max_s" }, false },
    { "branches", { "pattern" }, { "mode_s" }, false },
    { "memory_latency", { "bytes" }, { "mode_s", "p99_percent" }, false },
    { "memory_tlb", { "pages" }, { "paged_s" }, false },
    { "memory_bandwidth", { "kernel", "processors" }, { "bytes_per_s" }, true },
};

struct change {
    double order; /* first: fv_by_real() */
    const char *table, *of, *value, *before, *after;
    double ratio; /* NAN: of 0 */
    bool is_worse;
};

struct check_change {
    const char *check, *before, *after;
    enum fv_color color;
};

struct changes {
    struct fv_arena arena;
    struct change *items;
    size_t count, room;
    struct check_change *checks;
    size_t check_count, check_room;
    size_t compared, missing; /* values; rows that one file alone has */
};

static const void *all_of(void *subject, const void *parent)
{
    (void)parent;
    return subject;
}

static const struct fv_column_def check_columns[] = {
    { "check", "check", "", "Name of the check.", FV_FIELD(struct check_change, check) },
    { "before", "before", "", "Its result before.", FV_FIELD(struct check_change, before) },
    { "after", "after", "", "Its result after.", FV_FIELD(struct check_change, after) },
};
static const struct fv_relation checks = {
    .title = "Checks with another result",
    FV_COLUMNS(check_columns),
    .base = all_of,
    FV_ITEMS(struct changes, checks, check_count),
};

static const struct fv_column_def change_columns[] = {
    { "table", "table", "", "What was measured.", FV_FIELD(struct change, table) },
    { "of", "of", "", "Test, processor or size.", FV_FIELD(struct change, of) },
    { "value", "value", "", "The value, as in JSON.", FV_FIELD(struct change, value) },
    { "before", "before", "", "The value before.", FV_FIELD(struct change, before) },
    { "after", "after", "", "The value after.", FV_FIELD(struct change, after) },
    { "ratio", "ratio", "ratio", "After over before. Null: it was 0.", FV_FIELD(struct change, ratio),
      .flags = FV_NULLABLE },
};
static const struct fv_relation values = {
    .title = "Measured values that differ by more than 10 %",
    FV_COLUMNS(change_columns),
    .base = all_of,
    FV_ITEMS(struct changes, items, count),
};

static bool is_same_row(const struct compared *c, const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < KEYS && c->keys[i]; i++)
        if (!json_equal(json_object_get(a, c->keys[i]), json_object_get(b, c->keys[i])))
            return false;
    return true;
}

static const json_t *row_like(const struct compared *c, const json_t *rows, const json_t *row)
{
    const json_t *other;
    size_t i;

    json_array_foreach(rows, i, other) if (is_same_row(c, row, other)) return other;
    return NULL;
}

/* "fixed work, alone, cpu 3", "bytes 32 KiB" */
static void say_row(const struct compared *c, const json_t *row, char out[120])
{
    char size[FV_WORD];

    out[0] = '\0';
    for (size_t i = 0; i < KEYS && c->keys[i]; i++) {
        const json_t *value = json_object_get(row, c->keys[i]);
        const char *comma = i ? ", " : "";

        if (json_is_string(value))
            fv_words_add(out, 120, "%s%s", comma, json_string_value(value));
        else if (!strcmp(c->keys[i], "bytes"))
            fv_words_add(out, 120, "%s%s", comma, fv_words_bytes((uint64_t)json_number_value(value), size));
        else
            fv_words_add(out, 120, "%s%s %.0f", comma, c->keys[i], json_number_value(value));
    }
}

static bool ends(const char *key, const char *end)
{
    size_t length = strlen(key), bytes = strlen(end);

    return length >= bytes && !strcmp(key + length - bytes, end);
}

static char *say_value(const char *key, double value, char out[FV_WORD])
{
    char size[FV_WORD];

    if (ends(key, "bytes_per_s"))
        snprintf(out, FV_WORD, "%s/s", fv_words_bytes(fv_words_whole(value), size));
    else if (ends(key, "_s"))
        fv_words_seconds(value, out);
    else if (ends(key, "_percent"))
        fv_words_percent(value, 100, out);
    else if (ends(key, "_share"))
        fv_words_percent(value, 1, out);
    else
        fv_words_mean(value, out);
    return out;
}

static void compare_row(struct changes *all, const struct compared *c, const json_t *before, const json_t *after)
{
    char of[120], word[FV_WORD];

    for (size_t i = 0; i < VALUES && c->values[i]; i++) {
        const json_t *a = json_object_get(before, c->values[i]), *b = json_object_get(after, c->values[i]);
        double x = json_number_value(a), y = json_number_value(b);

        if (!json_is_number(a) || !json_is_number(b))
            continue;
        all->compared++;
        if (fabs(x - y) <= ALIKE * fmin(x, y))
            continue;
        say_row(c, before, of);
        FV_GROW(all->items, all->room, all->count + 1);
        all->items[all->count++] = (struct change){
            .order = x > 0 && y > 0 ? -fabs(log(y / x)) : -INFINITY,
            .table = c->table,
            .of = fv_arena_string(&all->arena, of),
            .value = c->values[i],
            .before = fv_arena_string(&all->arena, say_value(c->values[i], x, word)),
            .after = fv_arena_string(&all->arena, say_value(c->values[i], y, word)),
            .ratio = x > 0 ? y / x : NAN,
            .is_worse = c->more_is_better ? y < x : y > x,
        };
    }
}

static void compare(struct changes *all, const struct compared *c, const json_t *before, const json_t *after)
{
    const json_t *olds = json_object_get(before, c->table), *news = json_object_get(after, c->table), *row;
    size_t i;

    json_array_foreach(olds, i, row)
    {
        const json_t *like = row_like(c, news, row);

        if (like)
            compare_row(all, c, row, like);
        all->missing += !like;
    }
    json_array_foreach(news, i, row) all->missing += !row_like(c, olds, row);
}

/* ---- text ---- */

static void put_file(const struct fv_page *p, const char *what, const char *file, const json_t *all)
{
    const json_t *machine = json_object_get(all, "machine"), *measurement = json_object_get(all, "measurement");
    const char *host = json_string_value(json_object_get(machine, "host")),
               *kernel = json_string_value(json_object_get(machine, "kernel"));
    char seconds[FV_WORD];

    if (json_is_object(measurement))
        fv_words_seconds(json_number_value(json_object_get(measurement, "elapsed_s")), seconds);
    fv_page_item(p, FV_PLAIN, 0, "%s: %s: %s, Linux %s, %s%s", what, file, host ? host : "?", kernel ? kernel : "?",
                 json_is_object(measurement) ? "measured for " : "not measured",
                 json_is_object(measurement) ? seconds : "");
}

/* With another state. */
static void compare_checks(struct changes *all, const json_t *before, const json_t *after)
{
    static const struct compared by_name = { "checks", { "check" }, { NULL }, false };
    const json_t *olds = json_object_get(before, "checks"), *news = json_object_get(after, "checks"), *row;
    size_t i;

    json_array_foreach(news, i, row)
    {
        const json_t *old = row_like(&by_name, olds, row);
        const char *was = json_string_value(json_object_get(old, "state")),
                   *is = json_string_value(json_object_get(row, "state"));
        const char *had = json_string_value(json_object_get(old, "found")),
                   *has = json_string_value(json_object_get(row, "found"));

        if (!was || !is || !strcmp(was, is))
            continue;
        FV_GROW(all->checks, all->check_room, all->check_count + 1);
        all->checks[all->check_count++] = (struct check_change){
            json_string_value(json_object_get(row, "check")),
            fv_arena_printf(&all->arena, "%s: %s", was, had ? had : "?"),
            fv_arena_printf(&all->arena, "%s: %s", is, has ? has : "?"),
            !strcmp(is, "bad")    ? FV_RED
            : !strcmp(is, "good") ? FV_GREEN
                                  : FV_PLAIN,
        };
    }
}

static void put_checks(const struct fv_page *p, struct changes *all)
{
    struct fv_page whole = *p;
    struct fv_sheet sheet;

    whole.top = SIZE_MAX;
    if (!all->check_count)
        return;
    fv_sheet_init(&sheet, &whole, &checks, NULL, all);
    for (size_t i = 0; i < all->check_count; i++)
        fv_sheet_add(&sheet, NULL, &all->checks[i], all->checks[i].color);
    fv_page_heading(p, checks.title, "");
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

static void put_values(const struct fv_page *p, struct changes *all)
{
    struct fv_sheet sheet;

    if (!all->count)
        return;
    qsort(all->items, all->count, sizeof(*all->items), fv_by_real);
    fv_sheet_init(&sheet, p, &values, NULL, all);
    for (size_t i = 0; i < all->count; i++)
        fv_sheet_add(&sheet, NULL, &all->items[i], all->items[i].is_worse ? FV_RED : FV_GREEN);
    fv_page_heading(p, values.title, "largest first; single measurements: what differs may be chance, so repeat both");
    fv_sheet_print(&sheet);
    fv_sheet_cut(&sheet, "value", "");
    fv_sheet_release(&sheet);
}

static void put_sum(const struct fv_page *p, const struct changes *all)
{
    if (!all->check_count)
        fv_page_item(p, FV_PLAIN, 0, "no check has another result");
    if (all->compared)
        fv_page_item(p, FV_PLAIN, 0, "%zu of %zu measured values differ by less than 10 %%", all->compared - all->count,
                     all->compared);
    else
        fv_page_item(p, FV_PLAIN, 0,
                     "no measured value is in both files: fvmpi doctor --measure --json FILE writes them");
    if (all->missing)
        fv_page_item(p, FV_YELLOW, 0, "%zu measured row%s in one file alone: other processors or sizes", all->missing,
                     all->missing == 1 ? " is" : "s are");
}

int fv_doctor_diff(const char *const files[2], const struct fv_text_options *options, FILE *out)
{
    const struct fv_page page = fv_text_page(options, out);
    static const char wanted[] = "--diff takes two files of fvmpi doctor --json FILE";
    json_t *before = fv_doctor_read(files[0], wanted), *after = before ? fv_doctor_read(files[1], wanted) : NULL;
    struct changes all = { 0 };

    if (!after) {
        json_decref(before);
        return -FV_EINVAL;
    }
    for (size_t i = 0; i < sizeof(compared) / sizeof(*compared); i++)
        compare(&all, &compared[i], before, after);
    compare_checks(&all, before, after);
    put_file(&page, "before", files[0], before);
    put_file(&page, "after", files[1], after);
    put_checks(&page, &all);
    put_values(&page, &all);
    put_sum(&page, &all);
    free(all.items);
    free(all.checks);
    fv_arena_release(&all.arena);
    json_decref(before);
    json_decref(after);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
