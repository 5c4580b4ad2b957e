/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison as text. Its first lines, at most FIRST_LINES, say what changed most and where; then come what was
 * compared and how, the runs as a whole, and each table. */
#include "diff/diff_relations.h"
#include "views/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINES 15
#define MOST        3     /* changes */
#define SHORTEST    20    /* a name in a first line is not cut below this */
#define WORTH       0.005 /* of the elapsed time: smaller changes are not worth a first line */

#define NAMES 8 /* columns of the names of fields */

/* Green: less time, more efficiency. Dim: noise. */
static enum fv_color color_of(const struct fv_diff *d, const struct fv_change *c, enum fv_diff_unit unit)
{
    bool more_is_better = unit == FV_UNIT_SHARE;

    if (isnan(c->change) || c->change == 0 || unit == FV_UNIT_COUNT || unit == FV_UNIT_BYTES)
        return FV_PLAIN;
    if (d->noise && !c->significant)
        return FV_DIM;
    return d->noise ? (c->change > 0) == more_is_better ? FV_GREEN : FV_RED : FV_PLAIN;
}

/* ---- frames ---- */

static void frame_label(const struct fv_diff_frame *f, char *out, size_t bytes)
{
    char text[512];

    if (f->function)
        snprintf(text, sizeof(text), "%s", f->function);
    else
        snprintf(text, sizeof(text), "%s%s0x%llx", f->module, *f->module ? "+" : "", (unsigned long long)f->offset);
    fv_words_clean(text, out, bytes);
}

/* "a.c:12"; without a line where in the module; "" where the label says it. */
static void frame_place(const struct fv_diff_frame *f, char *out, size_t bytes)
{
    char text[300] = "";

    if (f->file && f->line)
        snprintf(text, sizeof(text), "%s:%u", f->file, f->line);
    else if (f->function && *f->module)
        snprintf(text, sizeof(text), "%s+0x%llx", f->module, (unsigned long long)f->offset);
    fv_words_clean(text, out, bytes);
}

/* ---- verdict ---- */

/* That an item takes. */
static size_t lines_of(const struct fv_page *p, const char *text)
{
    return 1 + fv_words_columns(text) / (p->width > 20 ? p->width - 10 : 10);
}

/* Before any change: it may be that of the machine. Returns how many lines it took. */
static size_t put_disturbed(const struct fv_page *p, const struct fv_diff *d)
{
    char text[200] = "", part[FV_WORD];

    for (unsigned s = 0; s < 2; s++) {
        double lost_s = 0, time_s = 0;

        for (size_t r = 0; r < d->side[s].count; r++) {
            const struct fv_diff_run *run = &d->side[s].runs[r];

            lost_s += run->no_processor_s;
            time_s += run->value[FV_RUN_COMPUTE] + run->value[FV_RUN_MPI];
        }
        if (lost_s > 0)
            fv_words_add(text, sizeof(text), "%s%s of the time of %c", *text ? " and " : "",
                         fv_words_percent(lost_s, time_s, part), "AB"[s]);
    }
    if (!*text)
        return 0;
    fv_page_item(p, FV_RED, 0, "noisy: ranks were runnable but had no processor for %s. All changes include this",
                 text);
    return 2;
}

/* Nor is what a damaged or killed run lacks a change. Returns how many lines it took. */
static size_t put_incomplete(const struct fv_page *p, const struct fv_diff *d)
{
    size_t lines = 0;

    for (unsigned s = 0; s < 2; s++) {
        size_t incomplete = 0;

        for (size_t r = 0; r < d->side[s].count; r++)
            incomplete += !d->side[s].runs[r].complete;
        if (!incomplete)
            continue;
        fv_page_item(p, FV_RED, 0, "%c is incomplete%s: what it lacks looks like a change", "AB"[s],
                     d -> side[s].count > 1 ? ", in a part of its runs" : "");
        lines++;
    }
    return lines;
}

/* As many of a kind as a line holds, at least one; all, where all are asked for. False: there are none. */
static bool say_differences(const struct fv_page *p, const struct fv_diff *d, unsigned kind, char *text, size_t bytes)
{
    size_t room = fv_page_all(p) ? bytes : p->width > 60 ? p->width - 40 : 20, left_out = 0;
    char said[400], one[800];

    *text = '\0';
    for (size_t i = 0; i < d->differing_count; i++) {
        const struct fv_diff_fact *f = &d->differing[i];
        const char *no = kind == FV_DIFF_ENVIRONMENT ? "not set" : "not known", *a = f->value[0], *b = f->value[1];

        if (f->kind != kind)
            continue;
        snprintf(said, sizeof(said), "%s%.80s %.120s -> %.120s", *text ? ", " : "", f->name, a ? a : no, b ? b : no);
        fv_words_clean(said, one, sizeof(one));
        if (*text && (left_out || fv_words_columns(text) + fv_words_columns(one) > room))
            left_out++;
        else
            fv_words_add(text, bytes, "%s", one);
    }
    if (left_out)
        fv_words_add(text, bytes, ", and %zu more", left_out);
    return *text;
}

/* A line for each kind. Returns how many it took. */
static size_t put_differences(const struct fv_page *p, const struct fv_diff *d)
{
    char text[4000];
    size_t lines = 0;

    for (unsigned kind = 0; fv_diff_fact_kinds[kind]; kind++)
        if (say_differences(p, d, kind, text, sizeof(text))) {
            fv_page_item(p, FV_YELLOW, 0, "%s differs: %s", fv_diff_fact_kinds[kind], text);
            lines += lines_of(p, text);
        }
    return lines;
}

static void put_verdict(const struct fv_page *p, const struct fv_diff *d)
{
    const struct fv_change *c = &d->run[FV_RUN_ELAPSED];
    char a[FV_WORD], b[FV_WORD], percent[FV_WORD], change[FV_WORD], half[FV_WORD], wait[FV_WORD];

    fprintf(p->out, "%selapsed %s -> %s, %s%s", fv_page_on(p, FV_BOLD), fv_words_seconds(c->mean[0], a),
            fv_words_seconds(c->mean[1], b), fv_diff_percent_word(c, percent), fv_page_off(p));
    fv_diff_change_word(c->change, FV_UNIT_SECONDS, change);
    fv_diff_half_word(c, FV_UNIT_SECONDS, half);
    if (isnan(c->p))
        fputs(": one run each, so noise is unknown\n", p->out);
    else
        fprintf(p->out, ": %s%s%s (%s %s)\n", fv_page_on(p, color_of(d, c, FV_UNIT_SECONDS)),
                c->significant ? "significant, outside of the runs' spread" : "within the noise", fv_page_off(p),
                change, half);
    fv_page_item(p, FV_PLAIN, 0, "of a rank: computing %s, MPI %s, of which waiting %s",
                 fv_diff_change_word(d->run[FV_RUN_COMPUTE].change, FV_UNIT_SECONDS, a),
                 fv_diff_change_word(d->run[FV_RUN_MPI].change, FV_UNIT_SECONDS, b),
                 fv_diff_change_word(d->run[FV_RUN_WAIT].change, FV_UNIT_SECONDS, wait));
    c = &d->run[FV_RUN_PARALLEL];
    if (!isnan(c->change))
        fv_page_item(p, FV_PLAIN, 0, "parallel efficiency %s -> %s, %s",
                     fv_diff_value_word(c->mean[0], FV_UNIT_SHARE, a), fv_diff_value_word(c->mean[1], FV_UNIT_SHARE, b),
                     fv_diff_change_word(c->change, FV_UNIT_SHARE, change));
}

/* ---- the largest changes ---- */

/* Of computing or of MPI: these do not overlap, and their sum is the change of a rank's time. */
struct largest {
    const struct fv_change *change;
    const struct fv_diff_row *path;        /* a call path, or ... */
    const struct fv_diff_entry_row *entry; /* ... a row of computing */
};

static int by_size(const void *a, const void *b)
{
    const struct fv_change *x = ((const struct largest *)a)->change, *y = ((const struct largest *)b)->change;
    double u = fabs(x->change), v = fabs(y->change);

    return x->significant != y->significant ? y->significant - x->significant : (u < v) - (u > v);
}

static uint32_t table_of(const char *relation)
{
    uint32_t i = 0;

    while (strcmp(fv_diff_tables[i].relation, relation))
        i++;
    return i;
}

/* Where computing changed is told by procedures, unless clock samples do not tell it: none were taken, or the time went
 * by without using a processor. Then by what is between calls. */
static uint32_t computing_table(const struct fv_diff *d)
{
    uint32_t procedures = table_of("cpu_procedures");
    double sum = 0, most = fabs(d->run[FV_RUN_COMPUTE].change);
    bool any = false;

    for (size_t i = 0; i < d->entry_count; i++)
        if (d->entries[i].table == procedures) {
            sum += d->entries[i].change[FV_ENTRY_TIME].change;
            most = fmax(most, fabs(d->entries[i].change[FV_ENTRY_TIME].change));
            any = true;
        }
    return any && fabs(d->run[FV_RUN_COMPUTE].change - sum) <= 0.5 * most ? procedures : table_of("regions");
}

static struct largest *find_largest(const struct fv_diff *d, size_t *count)
{
    struct largest *out = fv_xcalloc(d->path_count + d->entry_count + 1, sizeof(*out));
    const struct fv_change *elapsed = &d->run[FV_RUN_ELAPSED];
    double least = WORTH * fmax(elapsed->mean[0], elapsed->mean[1]);
    uint32_t table = computing_table(d);

    *count = 0;
    for (size_t i = 0; i < d->path_count; i++)
        if (fabs(d->paths[i].change[FV_DIFF_TIME].change) >= least)
            out[(*count)++] = (struct largest){ &d->paths[i].change[FV_DIFF_TIME], &d->paths[i], NULL };
    for (size_t i = 0; i < d->entry_count; i++)
        if (d->entries[i].table == table && fabs(d->entries[i].change[FV_ENTRY_TIME].change) >= least)
            out[(*count)++] = (struct largest){ &d->entries[i].change[FV_ENTRY_TIME], NULL, &d->entries[i] };
    qsort(out, *count, sizeof(*out), by_size);
    return out;
}

/* "MPI_Send in f() at a.c:3"; "react() at a.c:12"; "f(): MPI_Send:3 -> MPI_Recv:4". */
static void name_largest(const struct largest *l, char *out, size_t bytes)
{
    const struct fv_diff_entry_row *e = l->entry;
    const struct fv_diff_path *path = e ? NULL : l->path->path[1] ? l->path->path[1] : l->path->path[0];
    char name[512] = "", place[300] = "", where[300];

    if (e && fv_diff_tables[e->table].lines) {
        snprintf(out, bytes, "between %s", e->name);
        return;
    }
    if (e) {
        fv_words_brief(e->name, name, sizeof(name));
        snprintf(place, sizeof(place), "%s", e->place ? e->place : "");
    } else if (path->count) {
        frame_label(&path->frames[0], where, sizeof(where));
        fv_words_brief(where, name, sizeof(name));
        frame_place(&path->frames[0], place, sizeof(place));
    }
    snprintf(out, bytes, "%s%s%s%s%s%s", e ? "" : l->path->function, e || !*name ? "" : " in ", name,
             *name && *name != '[' && !strstr(name, "+0x") ? "()" : "", *place ? " at " : "", place);
}

static void put_largest(const struct fv_page *p, const struct fv_diff *d, const struct largest *l)
{
    enum fv_diff_join join = l->entry ? l->entry->join : l->path->join;
    char head[100], name[900], tail[200], a[FV_WORD], b[FV_WORD];

    snprintf(head, sizeof(head), "  %9s  ", fv_diff_change_word(l->change->change, FV_UNIT_SECONDS, a));
    if (l->entry && !isnan(l->entry->rank_change_s))
        fv_words_add(head, sizeof(head), "(rank %ld %s) ", l->entry->rank,
                     fv_diff_change_word(l->entry->rank_change_s, FV_UNIT_SECONDS, a));
    if (fv_diff_only(join))
        snprintf(tail, sizeof(tail), ": only in %s", join == FV_JOIN_ONLY_A ? "A" : "B");
    else
        snprintf(tail, sizeof(tail), ": %s -> %s", fv_words_seconds(l->change->mean[0], a),
                 fv_words_seconds(l->change->mean[1], b));
    if (d->noise && !l->change->significant)
        fv_words_add(tail, sizeof(tail), "; within the noise");
    name_largest(l, name, sizeof(name));
    size_t used = strlen(head) + strlen(tail);
    fv_words_fit(name, p->width > used + SHORTEST ? p->width - used : SHORTEST);
    fprintf(p->out, "%s%s%s%s%s\n", fv_page_on(p, color_of(d, l->change, FV_UNIT_SECONDS)), head, name, tail,
            fv_page_off(p));
}

/* Returns how many lines it took. */
static size_t put_changes(const struct fv_page *p, const struct fv_diff *d)
{
    size_t count, shown;
    struct largest *largest = find_largest(d, &count);

    if (count)
        fv_page_heading(p, "Largest changes", "in MPI and outside of it, seconds of a rank (mean over ranks)");
    for (shown = 0; shown < count && shown < MOST; shown++)
        put_largest(p, d, &largest[shown]);
    free(largest);
    return shown ? shown + 2 : 0;
}

/* ---- findings of one side alone ---- */

static char *say_finding(const struct fv_diff *d, const struct fv_diff_entry_row *e, char *out, size_t bytes)
{
    unsigned side = e->join == FV_JOIN_ONLY_B;
    double lost = e->change[FV_ENTRY_TIME].mean[side];
    char word[FV_WORD];

    snprintf(out, bytes, "%s: ", side ? "new" : "gone");
    if (!isnan(lost))
        fv_words_add(out, bytes, "%s, ", fv_words_seconds(lost, word));
    if (e->runs[side] < d->side[side].count)
        fv_words_add(out, bytes, "in %zu of %zu runs, ", e->runs[side], d->side[side].count);
    fv_words_add(out, bytes, "%s", e->text ? e->text : e->name);
    return out;
}

/* The first line of all names a noisy side. */
static bool is_told_here(const struct fv_diff_entry_row *e, enum fv_diff_join join)
{
    return e->table == table_of("findings") && e->join == join && strcmp(e->name, FV_FINDING_DISTURBED) != 0;
}

/* In so many lines: new ones first. */
static void put_findings(const struct fv_page *p, const struct fv_diff *d, size_t room)
{
    size_t all = 0, shown = 0;
    char text[4200];

    for (size_t i = 0; i < d->entry_count; i++)
        all += is_told_here(&d->entries[i], FV_JOIN_ONLY_A) || is_told_here(&d->entries[i], FV_JOIN_ONLY_B);
    if (!all)
        return;
    fv_page_heading(p, "Findings that are new, or gone", "time lost, of a rank (mean over ranks)");
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < d->entry_count; i++) {
            if (!is_told_here(&d->entries[i], pass ? FV_JOIN_ONLY_A : FV_JOIN_ONLY_B))
                continue;
            say_finding(d, &d->entries[i], text, sizeof(text));
            size_t lines = lines_of(p, text);

            if (shown && lines + (shown + 1 < all) > room)
                break;
            fv_page_item(p, FV_PLAIN, 2, "%s", text);
            room = room > lines ? room - lines : 0;
            shown++;
        }
    fv_page_cut(p, shown, all, "finding", "");
}

static void put_first(const struct fv_page *p, const struct fv_diff *d)
{
    size_t before = 3 + put_disturbed(p, d);

    before += put_incomplete(p, d);
    before += put_differences(p, d);
    put_verdict(p, d);
    before += put_changes(p, d);
    put_findings(p, d, fv_page_all(p) ? SIZE_MAX : before + 2 < FIRST_LINES ? FIRST_LINES - before - 2 : 0);
}

/* ---- what was compared ---- */

static void put_side(const struct fv_page *p, const struct fv_diff *d, unsigned s)
{
    const struct fv_diff_side *side = &d->side[s];
    int version = (int)strcspn(side->runs[0].mpi, "\t,"); /* without its long tail */
    char names[700] = "";
    size_t shown = side->count <= 8 || p->top == SIZE_MAX ? side->count : 7;

    for (size_t r = 0; r < shown && strlen(names) + 80 < sizeof(names); r++)
        fv_words_add(names, sizeof(names), "%s%.200s", r ? ", " : "", side->runs[r].directory);
    if (shown < side->count)
        fv_words_add(names, sizeof(names), ", ... (%zu)", side->count);
    fv_text_field(p, NAMES, s ? "B" : "A", "%s: %zu run%s on %zu rank%s, %.*s: %.700s", names, side->count,
                  fv_words_s(side->count), side->runs[0].ranks, fv_words_s(side->runs[0].ranks), version,
                  side->runs[0].mpi, side->runs[0].command);
}

static void put_noise(const struct fv_page *p, const struct fv_diff *d)
{
    const char *one = d->side[0].count < 2 ? "A" : "B", *many = d->side[0].count < 2 ? "B" : "A";
    bool both = d->side[0].count > 1 && d->side[1].count > 1;

    if (!d->noise)
        fv_text_field(p, NAMES, "noise", "not known: give several runs a side (fvmpi diff A1 A2 A3 -- B1 B2 B3)");
    else
        fv_text_field(p, NAMES, "noise",
                      "+- is the 95 %% interval of the change, by %s%s%s%s%s. * marks what counts: the interval leaves "
                      "out 0, and of those marked in a list no more than 5 %% are expected to be chance",
                      both ? "Welch's t" : "Student's t (", both ? "" : one,
                      both ? "" : " has one run, taken to spread as those of ", both ? "" : many, both ? "" : ")");
}

static void put_method(const struct fv_page *p, const struct fv_diff *d)
{
    bool exact = true;

    put_side(p, d, 0);
    put_side(p, d, 1);
    put_noise(p, d);
    for (unsigned s = 0; s < 2; s++)
        for (size_t r = 0; r < d->side[s].count; r++)
            exact = exact && d->side[s].runs[r].wait_kind[d->waits] == FV_WAIT_EXACT;
    fv_text_field(p, NAMES, "waiting", "%s%s",
                  d->waits == FV_WAITS_ANALYSIS ? "of the traces: analysis.json, which is beside every experiment"
                                                : "of the profiles",
                  !exact                         ? "; ~ marks an estimate, others are exact"
                  : d->waits == FV_WAITS_PROFILE ? ", exact"
                                                 : "");
    fv_text_field(p, NAMES, "joined",
                  "%zu call path%s by function, file and line; %zu by the names of functions, in the order of the "
                  "source; %zu only in A, %zu only in B",
                  d->joined[FV_JOIN_POSITION], fv_words_s(d->joined[FV_JOIN_POSITION]), d->joined[FV_JOIN_NAMES],
                  d->joined[FV_JOIN_ONLY_A], d->joined[FV_JOIN_ONLY_B]);
}

static void put_notes(const struct fv_page *p, const struct fv_diff *d)
{
    size_t shown = 0, most = fv_text_losses_shown(p);

    for (; shown < d->notes.count && shown < most; shown++)
        fv_text_note(p, fv_problem_is_loss(d->notes.items[shown].kind) ? FV_RED : FV_YELLOW, "%s",
                     d->notes.items[shown].text);
    fv_page_cut(p, shown, d->notes.count, "remark", "");
}

/* ---- the runs as a whole ---- */

static void put_runs(const struct fv_page *p, const struct fv_diff *d)
{
    struct fv_diff_tables tables = { .diff = d };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_diff_run_changes, NULL, &tables);
    sheet.top = FV_DIFF_RUN_METRICS;
    for (unsigned k = 0; k < FV_DIFF_RUN_METRICS; k++)
        if (!isnan(d->run[k].mean[0]) || !isnan(d->run[k].mean[1]))
            fv_sheet_add(&sheet, NULL, fv_relation_row(&fv_diff_run_changes, &tables, NULL, k),
                         color_of(d, &d->run[k], fv_diff_run_metrics[k].unit));
    fv_page_heading(p, "Runs",
                    d->noise ? "seconds, calls and bytes of a rank (mean); spread: standard deviation of the runs"
                             : "seconds, calls and bytes of a rank (mean)");
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

/* ---- findings, functions, procedures, regions, sections, locks ---- */

static void put_entries(const struct fv_page *p, const struct fv_diff *d, uint32_t table)
{
    const struct fv_diff_table *t = &fv_diff_tables[table];
    struct fv_diff_tables tables = { .diff = d };
    struct fv_relation_place place;
    struct fv_sheet sheet;

    if (!fv_relations_find(fv_profile_relations, t->relation, &place))
        return;
    fv_sheet_init(&sheet, p, &fv_diff_entries, NULL, &tables);
    for (size_t i = 0; i < d->entry_count; i++)
        if (d->entries[i].table == table)
            fv_sheet_add(&sheet, NULL, &d->entries[i],
                         color_of(d, &d->entries[i].change[FV_ENTRY_TIME], FV_UNIT_SECONDS));
    if (sheet.all_rows) {
        fv_page_heading(p, place.chain[place.depth - 1]->title, t->about);
        fv_sheet_print(&sheet);
        fv_sheet_cut(&sheet, t->noun, "");
    }
    fv_sheet_release(&sheet);
    fv_diff_tables_release(&tables);
}

/* ---- MPI functions ---- */

static void put_functions(const struct fv_page *p, const struct fv_diff *d)
{
    struct fv_diff_tables tables = { .diff = d };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_diff_functions, NULL, &tables);
    for (size_t i = 0; i < d->function_count; i++)
        fv_sheet_add(&sheet, NULL, &d->functions[i],
                     color_of(d, &d->functions[i].change[FV_DIFF_TIME], FV_UNIT_SECONDS));
    fv_page_heading(p, "MPI functions", "of a rank (mean over ranks), largest change first");
    fv_sheet_print(&sheet);
    fv_sheet_cut(&sheet, "function", "");
    fv_sheet_release(&sheet);
}

/* ---- call paths ---- */

/* Paths that are joined have as many frames; where they stand at another place, both are shown. */
static void put_path(const struct fv_page *p, const struct fv_diff_row *row)
{
    const struct fv_diff_path *path = row->path[1] ? row->path[1] : row->path[0], *old = row->path[0];
    size_t depth = p->top == SIZE_MAX ? SIZE_MAX : 24;
    char label[512], place[300], before[300], moved[620];

    if (!path->count)
        fprintf(p->out, "%*s(call path not recorded)\n", 8, "");
    for (size_t i = 0; i < path->count && i < depth; i++) {
        frame_label(&path->frames[i], label, sizeof(label));
        frame_place(&path->frames[i], place, sizeof(place));
        frame_place(&(old ? old : path)->frames[i], before, sizeof(before));
        snprintf(moved, sizeof(moved), "%s -> %s", before, place);
        fv_text_frame(p, 8, label, path->frames[i].inlined, strcmp(place, before) ? moved : place);
    }
    if (path->count > depth)
        fv_text_outer(p, 8, path->count - depth);
}

/* "; calls 100 -> 120", "; calls 100"; nothing where nothing is known or all is 0. */
static void add_metric(char *text, size_t bytes, const struct fv_diff_row *row, enum fv_diff_metric metric)
{
    const struct fv_change *c = &row->change[metric];
    enum fv_diff_unit unit = fv_diff_metrics[metric].unit;
    const char *mark = metric == FV_DIFF_WAIT && row->wait_kind == FV_WAIT_ESTIMATE ? "~" : "";
    char a[FV_WORD], b[FV_WORD];

    if ((isnan(c->mean[0]) && isnan(c->mean[1])) || !(c->mean[0] != 0 || c->mean[1] != 0))
        return;
    fv_diff_value_word(c->mean[0], unit, a);
    fv_diff_value_word(c->mean[1], unit, b);
    if (fv_diff_only(row->join) || !strcmp(a, b))
        fv_words_add(text, bytes, "%s%s %s%s", *text ? "; " : "", fv_diff_metrics[metric].name, mark,
                     row->join == FV_JOIN_ONLY_B ? b : a);
    else
        fv_words_add(text, bytes, "%s%s %s%s -> %s%s%s", *text ? "; " : "", fv_diff_metrics[metric].name, mark,
                     *a ? a : "-", mark, *b ? b : "-", c->significant ? " *" : "");
}

static void put_row(const struct fv_page *p, const struct fv_diff *d, const struct fv_diff_row *row, size_t number)
{
    const struct fv_change *c = &row->change[FV_DIFF_TIME];
    bool only = fv_diff_only(row->join);
    char a[FV_WORD], b[FV_WORD], change[FV_WORD], percent[FV_WORD], half[FV_WORD], text[600] = "";

    fprintf(p->out, "\n%s%4zu  %s%s  ", fv_page_on(p, FV_BOLD), number, row->function, fv_page_off(p));
    fv_diff_change_word(c->change, FV_UNIT_SECONDS, change);
    fv_diff_half_word(c, FV_UNIT_SECONDS, half);
    fv_words_seconds(c->mean[0], a);
    fv_words_seconds(c->mean[1], b);
    fputs(fv_page_on(p, color_of(d, c, FV_UNIT_SECONDS)), p->out);
    if (only)
        fprintf(p->out, "%s, only in %s", change, row->join == FV_JOIN_ONLY_A ? "A" : "B");
    else
        fprintf(p->out, "%s -> %s: %s, %s", a, b, change, fv_diff_percent_word(c, percent));
    fprintf(p->out, "%s%s%s%s%s\n", *half ? " (" : "", half, *half ? ")" : "", c->significant ? " *" : "",
            fv_page_off(p));
    for (unsigned k = FV_DIFF_WAIT; k < FV_DIFF_METRICS; k++)
        add_metric(text, sizeof(text), row, (enum fv_diff_metric)k);
    if (*text)
        fv_page_item(p, FV_PLAIN, 6, "%s", text);
    if (row->join == FV_JOIN_NAMES)
        fprintf(p->out, "      %sjoined by the names of functions%s%s\n", fv_page_on(p, FV_YELLOW),
                row->uneven ? "; A and B have different numbers of such paths, paired in order" : "", fv_page_off(p));
    put_path(p, row);
}

static void put_paths(const struct fv_page *p, const struct fv_diff *d)
{
    size_t shown = 0;

    if (!d->path_count)
        return;
    fv_page_heading(p, "Call paths",
                    d->noise ? "time in MPI of a rank (mean over ranks); changes that count first, then the largest"
                             : "time in MPI of a rank (mean over ranks), largest change first");
    for (; shown < d->path_count && shown < p->top; shown++)
        put_row(p, d, &d->paths[shown], shown + 1);
    if (shown < d->path_count)
        putc('\n', p->out);
    fv_page_cut(p, shown, d->path_count, "call path", "");
}

/* ---- all ---- */

int fv_diff_text(const struct fv_diff *d, const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(o, out);

    put_first(&page, d);
    putc('\n', out);
    put_method(&page, d);
    put_notes(&page, d);
    put_runs(&page, d);
    for (uint32_t i = 0; i < FV_DIFF_TABLES; i++)
        put_entries(&page, d, i);
    put_functions(&page, d);
    put_paths(&page, d);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
