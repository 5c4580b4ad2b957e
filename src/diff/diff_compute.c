/* SPDX-License-Identifier: BSD-3-Clause */
/* From the sums of each run to what changed. */
#include "diff/diff.h"
#include "profile/sections/sections.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static double wait_of(const struct fv_diff *d, const struct fv_diff_sample *s)
{
    return s->wait_s[d->waits];
}

/* What a run has of a path that may not be there: then there were no calls, and no quotients. */
static void add_values(const struct fv_diff *d, const struct fv_diff_path *p, size_t run, double out[FV_DIFF_METRICS])
{
    const struct fv_diff_sample *s = p && run < p->sample_count && p->samples[run].there ? &p->samples[run] : NULL;

    if (!s)
        return;
    double wait = wait_of(d, s);

    out[FV_DIFF_TIME] += s->time_s;
    out[FV_DIFF_CALLS] += s->calls;
    out[FV_DIFF_BYTES] += s->bytes;
    out[FV_DIFF_WAIT] = isnan(wait) ? out[FV_DIFF_WAIT] : isnan(out[FV_DIFF_WAIT]) ? wait : out[FV_DIFF_WAIT] + wait;
    out[FV_DIFF_BALANCE] = s->balance;
}

static void no_values(double out[FV_DIFF_METRICS])
{
    for (unsigned k = 0; k < FV_DIFF_METRICS; k++)
        out[k] = 0;
    out[FV_DIFF_WAIT] = out[FV_DIFF_EFFICIENCY] = out[FV_DIFF_BALANCE] = NAN;
}

/* Waiting of a run without a call is 0 where other runs know it. */
static void settle_waits(const struct fv_diff *d, double (*values)[FV_DIFF_METRICS])
{
    size_t runs = d->side[0].count + d->side[1].count;
    bool known = false;

    for (size_t r = 0; r < runs; r++)
        known = known || !isnan(values[r][FV_DIFF_WAIT]);
    for (size_t r = 0; r < runs; r++) {
        double *v = values[r];

        if (known && isnan(v[FV_DIFF_WAIT]) && v[FV_DIFF_CALLS] == 0)
            v[FV_DIFF_WAIT] = 0;
        if (v[FV_DIFF_TIME] > 0 && !isnan(v[FV_DIFF_WAIT]))
            v[FV_DIFF_EFFICIENCY] = fmax(0, 1 - v[FV_DIFF_WAIT] / v[FV_DIFF_TIME]);
    }
}

/* values[run]: A's runs, then B's. */
static void change_row(const struct fv_diff *d, struct fv_diff_row *row, double (*values)[FV_DIFF_METRICS])
{
    size_t n[2] = { d->side[0].count, d->side[1].count };
    double *column = fv_xcalloc(n[0] + n[1], sizeof(*column));

    settle_waits(d, values);
    for (unsigned k = 0; k < FV_DIFF_METRICS; k++) {
        for (size_t r = 0; r < n[0] + n[1]; r++)
            column[r] = values[r][k];
        fv_change_of(&row->change[k], column, n[0], column + n[0], n[1]);
    }
    free(column);
}

/* Kinds of the waiting that is compared, as fv_wait_kind_of() takes them; where nothing waits, none. */
static unsigned wait_kinds_of(const struct fv_diff *d, const struct fv_diff_path *p)
{
    unsigned kinds = 0;

    for (size_t r = 0; p && r < p->sample_count; r++) {
        const struct fv_diff_sample *s = &p->samples[r];

        if (s->there && (s->wait_s[d->waits] > 0 || (s->calls > 0 && isnan(s->wait_s[d->waits]))))
            kinds |= 1u << s->wait_kind[d->waits];
    }
    return kinds;
}

/* ---- rows ---- */

static void path_row(const struct fv_diff *d, struct fv_diff_row *row, enum fv_diff_join join,
                     const struct fv_diff_path *a, const struct fv_diff_path *b)
{
    size_t n[2] = { d->side[0].count, d->side[1].count };
    double(*values)[FV_DIFF_METRICS] = fv_xcalloc(n[0] + n[1], sizeof(*values));

    *row = (struct fv_diff_row){ .join = join, .path = { a, b }, .function = a ? a->function : b->function };
    row->wait_kinds = wait_kinds_of(d, a) | wait_kinds_of(d, b);
    row->wait_kind = fv_wait_kind_of(row->wait_kinds);
    for (size_t r = 0; r < n[0] + n[1]; r++) {
        no_values(values[r]);
        add_values(d, r < n[0] ? a : b, r < n[0] ? r : r - n[0], values[r]);
    }
    change_row(d, row, values);
    free(values);
}

static void join_paths(struct fv_diff *d)
{
    const struct fv_diff_paths *a = &d->side[0].paths, *b = &d->side[1].paths;
    struct fv_diff_partner *partner = fv_xcalloc(a->count + 1, sizeof(*partner));
    bool *taken = fv_xcalloc(b->count + 1, sizeof(*taken));

    fv_diff_paths_join(a, b, partner);
    d->paths = fv_xcalloc(a->count + b->count + 1, sizeof(*d->paths));
    for (size_t i = 0; i < a->count; i++) {
        bool only = partner[i].item == FV_NONE;
        struct fv_diff_row *row = &d->paths[d->path_count++];

        path_row(d, row,
                 only                 ? FV_JOIN_ONLY_A
                 : partner[i].by_name ? FV_JOIN_NAMES
                                      : FV_JOIN_POSITION,
                 &a->items[i], only ? NULL : &b->items[partner[i].item]);
        row->uneven = partner[i].uneven;
        if (!only)
            taken[partner[i].item] = true;
    }
    for (size_t i = 0; i < b->count; i++)
        if (!taken[i])
            path_row(d, &d->paths[d->path_count++], FV_JOIN_ONLY_B, NULL, &b->items[i]);
    for (size_t i = 0; i < d->path_count; i++)
        d->joined[d->paths[i].join]++;
    free(partner);
    free(taken);
}

static int by_function(const void *a, const void *b)
{
    return strcmp((*(const struct fv_diff_row *const *)a)->function, (*(const struct fv_diff_row *const *)b)->function);
}

/* Rows of one MPI function, added up. */
static void function_row(const struct fv_diff *d, struct fv_diff_row *out, struct fv_diff_row *const *rows,
                         size_t count)
{
    size_t n[2] = { d->side[0].count, d->side[1].count };
    double(*values)[FV_DIFF_METRICS] = fv_xcalloc(n[0] + n[1], sizeof(*values));
    bool has[2] = { false, false };

    *out = (struct fv_diff_row){ .function = rows[0]->function };
    for (size_t r = 0; r < n[0] + n[1]; r++)
        no_values(values[r]);
    for (size_t i = 0; i < count; i++) {
        has[0] = has[0] || rows[i]->path[0];
        has[1] = has[1] || rows[i]->path[1];
        out->wait_kinds |= rows[i]->wait_kinds;
        for (size_t r = 0; r < n[0] + n[1]; r++)
            add_values(d, rows[i]->path[r >= n[0]], r < n[0] ? r : r - n[0], values[r]);
    }
    out->wait_kind = fv_wait_kind_of(out->wait_kinds);
    for (size_t r = 0; r < n[0] + n[1]; r++)
        values[r][FV_DIFF_BALANCE] = NAN; /* of a sum of paths it is not known */
    out->join = has[0] && has[1] ? FV_JOIN_POSITION : has[0] ? FV_JOIN_ONLY_A : FV_JOIN_ONLY_B;
    change_row(d, out, values);
    free(values);
}

static void sum_functions(struct fv_diff *d)
{
    struct fv_diff_row **rows = fv_xcalloc(d->path_count + 1, sizeof(struct fv_diff_row *));

    d->functions = fv_xcalloc(d->path_count + 1, sizeof(*d->functions));
    for (size_t i = 0; i < d->path_count; i++)
        rows[i] = &d->paths[i];
    qsort(rows, d->path_count, sizeof(struct fv_diff_row *), by_function);
    for (size_t i = 0, end; i < d->path_count; i = end) {
        for (end = i + 1; end < d->path_count && !by_function(&rows[i], &rows[end]);)
            end++;
        function_row(d, &d->functions[d->function_count++], rows + i, end - i);
    }
    free(rows);
}

static int by_change(const void *a, const void *b)
{
    const struct fv_diff_row *x = a, *y = b;
    const struct fv_change *p = &x->change[FV_DIFF_TIME], *q = &y->change[FV_DIFF_TIME];
    double u = fabs(p->change), v = fabs(q->change);

    if (p->significant != q->significant)
        return p->significant ? -1 : 1;
    if (u != v)
        return u > v ? -1 : 1;
    int names = strcmp(x->function, y->function);
    if (names)
        return names;
    const struct fv_diff_path *f = x->path[0] ? x->path[0] : x->path[1], *g = y->path[0] ? y->path[0] : y->path[1];
    uint64_t h = f ? f->position_hash : 0, i = g ? g->position_hash : 0;

    return (h > i) - (h < i);
}

/* ---- the run as a whole ---- */

/* Is waiting taken from analysis.json? Then the runs' sums, too. */
static void choose_waits(struct fv_diff *d)
{
    size_t runs = d->side[0].count + d->side[1].count, with = 0;

    for (unsigned s = 0; s < 2; s++)
        for (size_t r = 0; r < d->side[s].count; r++)
            with += d->side[s].runs[r].analysis;
    d->waits = with == runs ? FV_WAITS_ANALYSIS : FV_WAITS_PROFILE;
    if (with && with < runs)
        fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                       "only %zu of %zu experiments have a usable analysis.json, so waiting comes from the profiles. "
                       "fvunify makes it from runs with --trace",
                       with, runs);
    for (unsigned s = 0; s < 2; s++)
        for (size_t r = 0; r < d->side[s].count; r++) {
            struct fv_diff_run *run = &d->side[s].runs[r];
            bool take = d->waits == FV_WAITS_ANALYSIS;

            run->value[FV_RUN_SERIALIZATION] = take ? run->efficiency[0] : NAN;
            run->value[FV_RUN_TRANSFER] = take ? run->efficiency[1] : NAN;
            run->value[FV_RUN_WAIT] = run->wait_s[d->waits];
        }
}

static void change_runs(struct fv_diff *d)
{
    size_t n[2] = { d->side[0].count, d->side[1].count };
    double *values = fv_xcalloc(n[0] + n[1], sizeof(*values));

    for (unsigned k = 0; k < FV_DIFF_RUN_METRICS; k++) {
        for (size_t r = 0; r < n[0] + n[1]; r++)
            values[r] = d->side[r >= n[0]].runs[r < n[0] ? r : r - n[0]].value[k];
        fv_change_of(&d->run[k], values, n[0], values + n[0], n[1]);
    }
    free(values);
}

/* ---- what the reader must know ---- */

static bool same_program(const struct fv_diff_run *a, const struct fv_diff_run *b)
{
    return a->build_id_bytes == b->build_id_bytes && !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

/* Without the directory of the program, in which two builds differ that are to be compared. */
static const char *without_directory(const char *command)
{
    const char *slash = memrchr(command, '/', strcspn(command, " "));

    return slash ? slash + 1 : command;
}

static void say_sides(struct fv_diff *d)
{
    const struct fv_diff_run *a = d->side[0].runs, *b = d->side[1].runs;

    for (unsigned s = 0; s < 2; s++) {
        const struct fv_diff_run *runs = d->side[s].runs;
        bool ranks = false, commands = false, programs = false;

        for (size_t r = 1; r < d->side[s].count; r++) {
            ranks = ranks || runs[r].ranks != runs[0].ranks;
            commands = commands || strcmp(runs[r].command, runs[0].command);
            programs = programs || !same_program(&runs[r], &runs[0]);
        }
        if (ranks || commands || programs)
            fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                           "the runs of %c differ in their%s%s%s: their spread is not only noise", "AB"[s],
                           ranks ? " number of ranks" : "", commands ? ranks ? ", command" : " command" : "",
                           programs ? ranks || commands ? ", build of the program" : " build of the program" : "");
        for (size_t r = 0; r < d->side[s].count; r++)
            if (!runs[r].complete)
                fv_problem_add(&d->notes, FV_PROBLEM_DAMAGED, NULL,
                               "%s is incomplete (fvmpi report says why): its sums may be too small",
                               runs[r].directory);
        for (size_t r = 0; r < d->side[s].count; r++)
            if (runs[r].read < runs[r].ranks)
                fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                               "%s: the files of %zu of %zu ranks were read: means per rank are of these",
                               runs[r].directory, runs[r].read, runs[r].ranks);
    }
    if (a->ranks != b->ranks)
        fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                       "A ran on %zu rank%s, B on %zu: means per rank are compared, not sums", a->ranks,
                       fv_words_s(a->ranks), b->ranks);
    if (strcmp(without_directory(a->command), without_directory(b->command)))
        fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                       "A and B were run by different commands, so their work may differ");
}

/* The usual case: the program of A was built over. */
static void say_unknown(struct fv_diff *d)
{
    size_t unknown = 0;

    for (size_t i = 0; i < d->path_count; i++) {
        const struct fv_diff_path *p = d->paths[i].path[d->paths[i].join == FV_JOIN_ONLY_B];
        bool any = false;

        for (size_t k = 0; k < p->count; k++)
            any = any || !p->frames[k].function;
        unknown += any && (d->paths[i].join == FV_JOIN_ONLY_A || d->paths[i].join == FV_JOIN_ONLY_B);
    }
    if (unknown)
        fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                       "%zu call path%s could not be joined, because functions in %s have no names: keep the old "
                       "program, or its debug file where FVMPI_DEBUG_PATH names it",
                       unknown, fv_words_s(unknown), unknown == 1 ? "it" : "them");
}

static void say_lost_analysis(struct fv_diff *d)
{
    for (unsigned s = 0; s < 2 && d->waits == FV_WAITS_ANALYSIS; s++)
        for (size_t r = 0; r < d->side[s].count; r++) {
            const struct fv_diff_run *run = &d->side[s].runs[r];

            if (run->analysis_lost_s > 0.01 * run->value[FV_RUN_WAIT])
                fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                               "%s: %.1f %% of the waiting in analysis.json is in call paths that the profile lacks: "
                               "run fvunify again while the program's files exist",
                               run->directory, 100 * run->analysis_lost_s / run->value[FV_RUN_WAIT]);
        }
}

void fv_diff_compute(struct fv_diff *d)
{
    d->noise = d->side[0].count > 1 || d->side[1].count > 1;
    choose_waits(d);
    change_runs(d);
    join_paths(d);
    sum_functions(d);
    fv_change_discover_rows(d->paths->change, FV_DIFF_METRICS, sizeof(*d->paths), d->path_count);
    fv_change_discover_rows(d->functions->change, FV_DIFF_METRICS, sizeof(*d->functions), d->function_count);
    qsort(d->paths, d->path_count, sizeof(*d->paths), by_change);
    qsort(d->functions, d->function_count, sizeof(*d->functions), by_change);
    fv_diff_tables_compare(d);
    d->differing = fv_diff_facts_compare(d->facts, &d->arena, &d->differing_count);
    say_sides(d);
    say_unknown(d);
    say_lost_analysis(d);
}
