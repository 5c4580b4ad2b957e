/* SPDX-License-Identifier: BSD-3-Clause */
/* See read_analysis.h. The outermost object and its arrays are taken apart here, item by item; items are
 * jansson's. */
#include "profile/read_analysis.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct source {
    FILE *file;
    struct fv_analysis_result *to;
    uint64_t *delay_sites, *procedure_sites; /* ids, until all sites are known */
    size_t delay_room, procedure_room;
    uint64_t (*computed_sites)[2]; /* from, and the next */
    size_t computed_sites_room;
    bool schema_seen, run_seen, efficiency_seen;
    char *why; /* sticky: "" all is well so far */
};

static FV_PRINTF(2, 3) void fail(struct source *s, const char *format, ...)
{
    va_list args;

    if (*s->why)
        return;
    va_start(args, format);
    vsnprintf(s->why, FV_ANALYSIS_WHY, format, args);
    va_end(args);
}

/* ---- values ---- */

static double number(struct source *s, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_number_value(value);

    if (!json_is_number(value) || !isfinite(number) || number < 0)
        fail(s, "%s is no time or count", key);
    return number;
}

/* null where it could not be computed. */
static double maybe(struct source *s, const json_t *object, const char *key)
{
    return json_is_null(json_object_get(object, key)) ? NAN : number(s, object, key);
}

static uint64_t count(struct source *s, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0)
        fail(s, "%s is no count", key);
    return (uint64_t)json_integer_value(value);
}

static double number_or_0(struct source *s, const json_t *object, const char *key)
{
    return json_object_get(object, key) ? number(s, object, key) : 0;
}

static uint32_t small(struct source *s, const json_t *object, const char *key)
{
    uint64_t value = count(s, object, key);

    if (value >= INT32_MAX)
        fail(s, "%s is too large", key);
    return (uint32_t)value;
}

static const char *string(struct source *s, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_null(value))
        return NULL;
    if (!json_is_string(value))
        fail(s, "%s is no name", key);
    return json_is_string(value) ? fv_arena_string(&s->to->arena, json_string_value(value)) : NULL;
}

/* 16 hexadecimal digits; null is 0. */
static uint64_t key(struct source *s, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    const char *digits = json_string_value(value);

    if (json_is_null(value))
        return 0;
    if (!digits || strlen(digits) != 16 || strspn(digits, "0123456789abcdef") != 16)
        fail(s, "%s is no key", name);
    return digits ? strtoull(digits, NULL, 16) : 0;
}

const char *const fv_place_names[] = { FV_PLACE_LIST(FV_LIST_WORD) NULL };

static void by_place(struct source *s, const json_t *object, const char *key, double out[FV_PLACES])
{
    const json_t *both = json_object_get(object, key);

    for (unsigned w = 0; w < FV_PLACES; w++)
        out[w] = number(s, both, fv_place_names[w]);
}

/* ---- rows ---- */

static const char *const estimates[] = { "no_progress", "late_taker" };

bool fv_kind_is_estimate(const char *kind)
{
    for (size_t i = 0; i < sizeof(estimates) / sizeof(*estimates); i++)
        if (!strcmp(kind, estimates[i]))
            return true;
    return false;
}

static double estimated(struct source *s, const json_t *kinds)
{
    double sum = 0;

    for (size_t i = 0; i < sizeof(estimates) / sizeof(*estimates); i++)
        sum += number_or_0(s, kinds, estimates[i]);
    return sum;
}

static void take_rank(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;

    FV_GROW(a->ranks, a->rank_room, a->rank_count + 1);
    a->ranks[a->rank_count++] =
        (struct fv_analysed_rank){ .rank = small(s, row, "rank"),
                                   .identity = { key(s, row, "process"), count(s, row, "traced_calls") },
                                   .caused_s = number(s, row, "caused_s"),
                                   .delay_s = number(s, row, "delay_s"),
                                   .critical_s = number(s, row, "critical_s") };
}

static void take_kind(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;
    const char *kind = string(s, row, "kind");

    FV_GROW(a->kinds, a->kind_room, a->kind_count + 1);
    a->kinds[a->kind_count++] =
        (struct fv_analysed_kind){ kind ? kind : "", count(s, row, "count"), number(s, row, "wait_s") };
}

static void take_part(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;
    struct fv_analysed_part p = { .rank = small(s, row, "rank"),
                                  .count = count(s, row, "count"),
                                  .time_s = number(s, row, "time_s"),
                                  .wait_s = number(s, row, "wait_s"),
                                  .caused_s = number(s, row, "caused_s"),
                                  .withheld_s = number(s, row, "withheld_s"),
                                  .estimated_s = estimated(s, json_object_get(row, "kinds")) };

    by_place(s, row, "delay_s", p.delay_s);
    by_place(s, row, "critical_s", p.critical_s);
    FV_GROW(a->parts, a->part_room, a->part_count + 1);
    a->parts[a->part_count++] = p;
}

static void take_site(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;
    const json_t *parts = json_object_get(row, "per_rank");
    struct fv_analysed_site site = { .id = count(s, row, "id"),
                                     .key = key(s, row, "key"),
                                     .first_part = (uint32_t)a->part_count };

    if (!json_is_array(parts))
        fail(s, "per_rank is no list");
    for (size_t i = 0; i < json_array_size(parts) && !*s->why; i++)
        take_part(s, json_array_get(parts, i));
    site.parts = (uint32_t)a->part_count - site.first_part;
    FV_GROW(a->sites, a->site_room, a->site_count + 1);
    a->sites[a->site_count++] = site;
}

static void take_delay(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;
    const char *where = json_string_value(json_object_get(row, "where"));
    struct fv_analysed_delay d = { .rank = small(s, row, "rank"),
                                   .cost_s = number(s, row, "cost_s"),
                                   .direct_s = number(s, row, "direct_s") };

    while (where && d.where < FV_PLACES && strcmp(where, fv_place_names[d.where]))
        d.where++;
    if (!where || d.where == FV_PLACES) {
        fail(s, "where is neither computing nor mpi");
        d.where = FV_PLACE_COMPUTING;
    }
    FV_GROW(s->delay_sites, s->delay_room, a->delay_count + 1);
    s->delay_sites[a->delay_count] = count(s, row, "callsite");
    FV_GROW(a->delays, a->delay_room, a->delay_count + 1);
    a->delays[a->delay_count++] = d;
}

static void take_procedure(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;
    const json_t *total = json_object_get(row, "total");
    struct fv_analysed_procedure p = { .rank = small(s, row, "rank"),
                                       .function = string(s, row, "function"),
                                       .file = string(s, row, "file"),
                                       .cpu_s = number(s, total, "cpu_s"),
                                       .delay_s = number(s, total, "delay_s"),
                                       .critical_s = number(s, total, "critical_s") };

    FV_GROW(s->procedure_sites, s->procedure_room, a->procedure_count + 1);
    s->procedure_sites[a->procedure_count] = count(s, row, "callsite");
    FV_GROW(a->procedures, a->procedure_room, a->procedure_count + 1);
    a->procedures[a->procedure_count++] = p;
}

/* Returns how many samples it has. */
static uint64_t take_computed(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;
    const uint64_t from = count(s, row, "from_callsite"), site = count(s, row, "callsite");
    struct fv_analysed_computing c = { .rank = small(s, row, "rank"),
                                       .function = string(s, row, "function"),
                                       .file = string(s, row, "file"),
                                       .count = count(s, row, "count"),
                                       .cpu_s = number(s, row, "cpu_s") };

    if (!from || !site)
        return c.count;
    FV_GROW(s->computed_sites, s->computed_sites_room, a->computed_count + 1);
    s->computed_sites[a->computed_count][0] = from;
    s->computed_sites[a->computed_count][1] = site;
    FV_GROW(a->computed, a->computed_room, a->computed_count + 1);
    a->computed[a->computed_count++] = c;
    return c.count;
}

/* ---- the outermost object ---- */

static void take_schema(struct source *s, const json_t *value)
{
    const char *name = json_string_value(value);

    s->schema_seen = true;
    if (!name || strcmp(name, "fvmpi-analysis-1"))
        fail(s, "its schema is not fvmpi-analysis-1");
}

static void take_run(struct source *s, const json_t *value)
{
    const char *clock = json_string_value(json_object_get(value, "clock"));

    s->run_seen = true;
    s->to->world_size = small(s, value, "ranks");
    s->to->one_clock = clock && !strcmp(clock, "one");
}

static void take_unexplained(struct source *s, const json_t *value)
{
    s->to->unexplained_s = json_number_value(value);
    if (!json_is_number(value) || !isfinite(s->to->unexplained_s) || s->to->unexplained_s < 0)
        fail(s, "unexplained_s is no time");
}

static void take_critical_path(struct source *s, const json_t *value)
{
    s->to->critical_path_s = number(s, value, "length_s");
    s->to->switches = count(s, value, "switches");
}

/* Null where no rank recorded what threads waited for. */
static void take_threads(struct source *s, const json_t *value)
{
    if (!json_is_null(value))
        s->to->lock_wait_s = number(s, value, "mpi_wait_s");
}

/* Null where there are none. */
static void take_samples(struct source *s, const json_t *value)
{
    const json_t *procedures = json_object_get(value, "procedures"), *regions = json_object_get(value, "regions");
    uint64_t listed = 0;

    if (json_is_null(value))
        return;
    if (!json_is_array(procedures) || !json_is_array(regions))
        fail(s, "procedures or regions is no list");
    for (size_t i = 0; i < json_array_size(procedures) && !*s->why; i++)
        take_procedure(s, json_array_get(procedures, i));
    for (size_t i = 0; i < json_array_size(regions) && !*s->why; i++)
        listed += take_computed(s, json_array_get(regions, i));
    s->to->by_regions = json_is_true(json_object_get(value, "by_regions"));
    s->to->computed_whole =
        listed && listed == count(s, value, "count") && !count(s, value, "lost") && !count(s, value, "damaged");
}

static void take_unmatched(struct source *s, const json_t *value)
{
    static const char *const keys[] = { "sends", "receives", "collectives", "unknown" };

    s->to->unmatched = 0;
    for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        s->to->unmatched += count(s, value, keys[i]);
    s->to->cut_calls = json_object_get(value, "cut") ? count(s, value, "cut") : 0;
    s->to->early = json_object_get(value, "early") ? count(s, value, "early") : 0;
}

static void take_merge(struct source *s, const json_t *value)
{
    s->to->cut_short = count(s, value, "waits_cut_short");
}

static void take_bins(struct source *s, const json_t *row)
{
    struct fv_analysis_result *a = s->to;
    const json_t *bins = json_object_get(row, "wait_s");
    struct fv_analysed_bins b = { .rank = small(s, row, "rank"), .count = json_array_size(bins) };

    if (!json_is_array(bins))
        fail(s, "wait_s is no list");
    b.wait_s = fv_arena_take(&a->arena, b.count * sizeof(*b.wait_s));
    for (size_t i = 0; i < b.count; i++) {
        b.wait_s[i] = json_number_value(json_array_get(bins, i));
        if (!json_is_number(json_array_get(bins, i)) || b.wait_s[i] < 0)
            fail(s, "wait_s is no time");
    }
    FV_GROW(a->bins, a->bins_room, a->bins_count + 1);
    a->bins[a->bins_count++] = b;
}

/* Null: there is none, as of very many ranks. */
static void take_over_time(struct source *s, const json_t *value)
{
    const json_t *ranks = json_object_get(value, "ranks");

    if (json_is_null(value))
        return;
    s->to->bin_s = number(s, value, "bin_s");
    if (!json_is_array(ranks) || !(s->to->bin_s > 0))
        fail(s, "waiting_over_time is none");
    for (size_t i = 0; i < json_array_size(ranks) && !*s->why; i++)
        take_bins(s, json_array_get(ranks, i));
}

static void take_stretch(struct source *s, const json_t *value)
{
    s->to->from_s = json_is_null(value) ? 0 : number(s, value, "begin_s");
}

static void take_efficiency(struct source *s, const json_t *value)
{
    s->efficiency_seen = true;
    s->to->ideal_s = maybe(s, value, "ideal_s");
}

static const struct member {
    const char *key;
    bool list; /* `take` is for its items */
    void (*take)(struct source *s, const json_t *value);
} members[] = {
    { "schema", false, take_schema },
    { "run", false, take_run },
    { "ranks", true, take_rank },
    { "kinds", true, take_kind },
    { "waiting_over_time", false, take_over_time },
    { "stretch", false, take_stretch },
    { "callsites", true, take_site },
    { "delays", true, take_delay },
    { "unexplained_s", false, take_unexplained },
    { "critical_path", false, take_critical_path },
    { "efficiency", false, take_efficiency },
    { "unmatched", false, take_unmatched },
    { "samples", false, take_samples },
    { "threads", false, take_threads },
    { "merge", false, take_merge },
};

static int next_character(struct source *s)
{
    int c;

    do
        c = getc_unlocked(s->file);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    return c;
}

/* A number or a word ends where something else begins; jansson would take that from the file, too. */
static json_t *load_word(struct source *s)
{
    char word[64];
    size_t n = 0;
    int c;

    while ((c = getc_unlocked(s->file)) != EOF && !strchr(",]} \t\r\n", c) && n < sizeof(word))
        word[n++] = (char)c;
    ungetc(c, s->file);
    return json_loadb(word, n, JSON_DECODE_ANY, NULL);
}

/* A value whose first character is c. NULL: none; why says it. */
static json_t *load(struct source *s, int c)
{
    json_error_t error = { .text = "" };
    json_t *value;

    ungetc(c, s->file);
    if (c == '{' || c == '[' || c == '"')
        value = json_loadf(s->file, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);
    else
        value = load_word(s);
    if (!value)
        fail(s, "it ends early or is no JSON%s%s", error.text[0] ? ": " : "", error.text);
    return value;
}

static void take_value(struct source *s, const struct member *member, int c)
{
    json_t *value = load(s, c);

    if (value && member)
        member->take(s, value);
    json_decref(value);
}

static void take_list(struct source *s, const struct member *member)
{
    int c = next_character(s);

    while (c != ']' && !*s->why) {
        take_value(s, member, c);
        c = next_character(s);
        if (c == ',')
            c = next_character(s);
        else if (c != ']')
            fail(s, "it ends early or is no JSON");
    }
}

static void take_member(struct source *s, int c)
{
    json_t *key = c == '"' ? load(s, c) : NULL;
    const struct member *member = NULL;

    if (!key || next_character(s) != ':')
        fail(s, "it ends early or is no JSON");
    for (unsigned i = 0; key && i < sizeof(members) / sizeof(*members); i++)
        if (!strcmp(json_string_value(key), members[i].key))
            member = &members[i];
    json_decref(key);
    if (*s->why)
        return;
    c = next_character(s);
    if (member && member->list && c != '[')
        fail(s, "%s is no list", member->key);
    else if (member && !member->list && c == '[')
        fail(s, "%s is a list", member->key);
    else if (c == '[') /* of no member: its items are passed by */
        take_list(s, member);
    else
        take_value(s, member, c);
}

static void take_all(struct source *s)
{
    int c = next_character(s);

    if (c != '{')
        fail(s, "it is no JSON object");
    c = next_character(s);
    while (c != '}' && !*s->why) {
        take_member(s, c);
        c = next_character(s);
        if (c == ',')
            c = next_character(s);
        else if (c != '}')
            fail(s, "it ends early or is no JSON");
    }
    if (!s->schema_seen || !s->run_seen || !s->efficiency_seen)
        fail(s, "keys of fvmpi-analysis-1 are missing");
}

/* ---- what refers to what ---- */

static void check_ranks(struct source *s)
{
    const struct fv_analysis_result *a = s->to;

    for (size_t i = 0; i < a->rank_count; i++)
        if (a->ranks[i].rank >= a->world_size)
            fail(s, "rank %u of %u", a->ranks[i].rank, a->world_size);
    for (size_t i = 0; i < a->part_count; i++)
        if (a->parts[i].rank >= a->world_size)
            fail(s, "rank %u of %u", a->parts[i].rank, a->world_size);
    for (size_t i = 0; i < a->delay_count; i++)
        if (a->delays[i].rank >= a->world_size)
            fail(s, "rank %u of %u", a->delays[i].rank, a->world_size);
    for (size_t i = 0; i < a->procedure_count; i++)
        if (a->procedures[i].rank >= a->world_size)
            fail(s, "rank %u of %u", a->procedures[i].rank, a->world_size);
    for (size_t i = 0; i < a->computed_count; i++)
        if (a->computed[i].rank >= a->world_size)
            fail(s, "rank %u of %u", a->computed[i].rank, a->world_size);
    for (size_t i = 0; i < a->bins_count; i++)
        if (a->bins[i].rank >= a->world_size)
            fail(s, "rank %u of %u", a->bins[i].rank, a->world_size);
}

static uint32_t find_site(struct source *s, const struct fv_index *index, uint64_t id)
{
    struct fv_index_probe p = fv_index_probe(index, fv_mix(id));
    uint32_t site;

    while ((site = fv_index_next(&p)) != FV_NONE && s->to->sites[site].id != id)
        ;
    if (site == FV_NONE)
        fail(s, "there is no call site %llu", (unsigned long long)id);
    return site;
}

static void find_sites(struct source *s)
{
    struct fv_analysis_result *a = s->to;
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < a->site_count; i++)
        fv_index_add(&index, fv_mix(a->sites[i].id), i);
    for (size_t i = 0; i < a->delay_count; i++)
        a->delays[i].site = find_site(s, &index, s->delay_sites[i]);
    for (size_t i = 0; i < a->procedure_count; i++)
        a->procedures[i].site = find_site(s, &index, s->procedure_sites[i]);
    for (size_t i = 0; i < a->computed_count; i++) {
        a->computed[i].from = find_site(s, &index, s->computed_sites[i][0]);
        a->computed[i].site = find_site(s, &index, s->computed_sites[i][1]);
    }
    fv_index_release(&index);
}

int fv_analysis_result_read(struct fv_analysis_result *out, const char *path, char why[FV_ANALYSIS_WHY])
{
    struct source s = { .to = out, .why = why };
    struct stat st;

    *out = (struct fv_analysis_result){ .ideal_s = NAN };
    *why = '\0';
    if (stat(path, &st))
        return -FV_ENOENT;
    if (!S_ISREG(st.st_mode) || !(s.file = fopen(path, "re"))) {
        fail(&s, "%s", S_ISREG(st.st_mode) ? strerror(errno) : "it is no file");
        return -FV_EFORMAT;
    }
    take_all(&s);
    if (ferror(s.file))
        fail(&s, "it cannot be read");
    fclose(s.file);
    if (!*why) {
        check_ranks(&s);
        find_sites(&s);
    }
    free(s.delay_sites);
    free(s.procedure_sites);
    free(s.computed_sites);
    return *why ? -FV_EFORMAT : 0;
}

void fv_analysis_result_release(struct fv_analysis_result *a)
{
    free(a->ranks);
    free(a->kinds);
    free(a->bins);
    free(a->sites);
    free(a->parts);
    free(a->delays);
    free(a->procedures);
    free(a->computed);
    fv_arena_release(&a->arena);
    *a = (struct fv_analysis_result){ 0 };
}
