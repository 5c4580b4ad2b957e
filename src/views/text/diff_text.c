/* The comparison as text: a verdict, what was compared and how, the runs as a whole, MPI functions, call
 * paths. */
#include "diff/diff.h"
#include "views/text/text.h"

#include <math.h>
#include <string.h>

#define NAMES 8 /* columns of the names of fields */

/* ---- words ---- */

/* Of damaged files sums may be beyond any count. */
static uint64_t whole(double value)
{
    return value < 0x1p64 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

static char *value_word(double value, enum fv_diff_unit unit, char out[FV_WORD])
{
    if (isnan(value))
        return strcpy(out, "");
    switch (unit) {
    case FV_UNIT_SECONDS: return fv_words_seconds(value, out);
    case FV_UNIT_BYTES: return fv_words_bytes(whole(value), out);
    case FV_UNIT_SHARE: return fv_words_percent(value, 1, out);
    case FV_UNIT_COUNT: break;
    }
    if (value < 1e15 && fabs(value - floor(value + 0.5)) > 1e-6 && value < 1e4)
        snprintf(out, FV_WORD, "%.2f", value); /* the mean of ranks need not be whole */
    else
        fv_words_count(whole(value), out);
    return out;
}

/* "-2.20 s", "+10.1 points". */
static char *change_word(double change, enum fv_diff_unit unit, char out[FV_WORD])
{
    char word[FV_WORD];

    if (isnan(change))
        return strcpy(out, "");
    if (unit == FV_UNIT_SHARE && change == 0)
        strcpy(out, "0 points");
    else if (unit == FV_UNIT_SHARE)
        snprintf(out, FV_WORD, "%+.1f points", 100 * change);
    else
        snprintf(out, FV_WORD, "%s%.28s",
                 change > 0   ? "+"
                 : change < 0 ? "-"
                              : "",
                 value_word(fabs(change), unit, word));
    return out;
}

static char *percent_word(const struct fv_change *c, char out[FV_WORD])
{
    double percent = 100 * c->change / c->mean[0];

    if (isnan(c->change))
        return strcpy(out, "");
    if (c->change == 0)
        return strcpy(out, "same");
    if (!(c->mean[0] > 0))
        return strcpy(out, "new");
    if (percent >= 1000)
        snprintf(out, FV_WORD, "x %.3g", c->mean[1] / c->mean[0]);
    else
        snprintf(out, FV_WORD, "%+.1f %%", percent);
    return out;
}

/* "+- 20.0 ms"; "" where the noise is not known. */
static char *half_word(const struct fv_change *c, enum fv_diff_unit unit, char out[FV_WORD])
{
    char word[FV_WORD];

    if (isnan(c->half))
        return strcpy(out, "");
    if (unit == FV_UNIT_SHARE)
        snprintf(out, FV_WORD, "+- %.1f", 100 * c->half);
    else
        snprintf(out, FV_WORD, "+- %.28s", value_word(c->half, unit, word));
    return out;
}

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

/* ---- verdict ---- */

static void put_verdict(const struct fv_page *p, const struct fv_diff *d)
{
    const struct fv_change *c = &d->run[FV_RUN_ELAPSED];
    char a[FV_WORD], b[FV_WORD], percent[FV_WORD], change[FV_WORD], half[FV_WORD], wait[FV_WORD];

    fprintf(p->out, "%selapsed %s -> %s, %s%s", fv_page_on(p, FV_BOLD), fv_words_seconds(c->mean[0], a),
            fv_words_seconds(c->mean[1], b), percent_word(c, percent), fv_page_off(p));
    change_word(c->change, FV_UNIT_SECONDS, change);
    half_word(c, FV_UNIT_SECONDS, half);
    if (isnan(c->p))
        fputs(": one run a side, no word on noise\n", p->out);
    else
        fprintf(p->out, ": %s%s%s (%s %s)\n", fv_page_on(p, color_of(d, c, FV_UNIT_SECONDS)),
                c->significant ? "significant, outside of the runs' spread" : "within the noise",
                fv_page_off(p), change, half);
    fv_page_item(p, FV_PLAIN, 0, "of a rank: computing %s, MPI %s, of which waiting %s",
                 change_word(d->run[FV_RUN_COMPUTE].change, FV_UNIT_SECONDS, a),
                 change_word(d->run[FV_RUN_MPI].change, FV_UNIT_SECONDS, b),
                 change_word(d->run[FV_RUN_WAIT].change, FV_UNIT_SECONDS, wait));
}

/* ---- what was compared ---- */

static void put_side(const struct fv_page *p, const struct fv_diff *d, unsigned s)
{
    const struct fv_diff_side *side = &d->side[s];
    int version = (int)strcspn(side->runs[0].mpi, "\t,"); /* without its long tail */
    char names[700] = "";
    size_t shown = side->count <= 8 || p->top == SIZE_MAX ? side->count : 7;

    for (size_t r = 0; r < shown && strlen(names) + 80 < sizeof(names); r++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%.200s", r ? ", " : "",
                 side->runs[r].directory);
    if (shown < side->count)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), ", ... (%zu)", side->count);
    fv_text_field(p, NAMES, s ? "B" : "A", "%s: %zu run%s on %zu rank%s, %.*s: %.700s", names, side->count,
                  fv_words_s(side->count), side->runs[0].ranks, fv_words_s(side->runs[0].ranks), version,
                  side->runs[0].mpi, side->runs[0].command);
}

static void put_noise(const struct fv_page *p, const struct fv_diff *d)
{
    const char *one = d->side[0].count < 2 ? "A" : "B", *many = d->side[0].count < 2 ? "B" : "A";
    bool both = d->side[0].count > 1 && d->side[1].count > 1;

    if (!d->noise)
        fv_text_field(p, NAMES, "noise",
                      "not known: give several runs a side (fvmpi diff A1 A2 A3 -- B1 B2 B3)");
    else
        fv_text_field(
            p, NAMES, "noise",
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
            exact = exact && d->side[s].runs[r].wait_exact[d->waits];
    fv_text_field(p, NAMES, "waiting", "%s%s",
                  d->waits == FV_WAITS_ANALYSIS
                      ? "of the traces: analysis.json, which is beside every experiment"
                      : "of the profiles",
                  !exact                         ? "; ~ marks an estimate, others are exact"
                  : d->waits == FV_WAITS_PROFILE ? ", exact"
                                                 : "");
    fv_text_field(
        p, NAMES, "joined",
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
    static const struct fv_column columns[] = {
        { "", true, true, 0 },         { "A", false, false, 0 },        { "B", false, false, 0 },
        { "change", false, false, 0 }, { "of A", false, false, 5 },     { "+-", false, false, 4 },
        { "", true, false, 0 },        { "spread A", false, false, 2 }, { "spread B", false, false, 2 },
    };
    char word[FV_WORD];
    struct fv_table t;

    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (unsigned k = 0; k < FV_DIFF_RUN_METRICS; k++) {
        const struct fv_diff_metric_word *w = &fv_diff_run_metrics[k];
        const struct fv_change *c = &d->run[k];

        if (isnan(c->mean[0]) && isnan(c->mean[1]))
            continue;
        fv_table_row(&t, color_of(d, c, w->unit));
        fv_table_set(&t, 0, "%s", w->name);
        fv_table_set(&t, 1, "%s", value_word(c->mean[0], w->unit, word));
        fv_table_set(&t, 2, "%s", value_word(c->mean[1], w->unit, word));
        fv_table_set(&t, 3, "%s", change_word(c->change, w->unit, word));
        if (w->unit != FV_UNIT_SHARE)
            fv_table_set(&t, 4, "%s", percent_word(c, word));
        fv_table_set(&t, 5, "%s", half_word(c, w->unit, word));
        fv_table_set(&t, 6, "%s", c->significant ? "*" : "");
        fv_table_set(&t, 7, "%s", value_word(c->stddev[0], w->unit, word));
        fv_table_set(&t, 8, "%s", value_word(c->stddev[1], w->unit, word));
    }
    fv_page_heading(p, "Runs",
                    d->noise
                        ? "seconds, calls and bytes of a rank (mean); spread: standard deviation of the runs"
                        : "seconds, calls and bytes of a rank (mean)");
    fv_table_print(&t, p);
    fv_table_release(&t);
}

/* ---- MPI functions ---- */

static void put_pair(struct fv_table *t, size_t column, const struct fv_diff_row *row,
                     enum fv_diff_metric metric)
{
    const struct fv_change *c = &row->change[metric];
    enum fv_diff_unit unit = fv_diff_metrics[metric].unit;
    char word[FV_WORD];

    for (unsigned s = 0; s < 2; s++) {
        bool estimate = metric == FV_DIFF_WAIT && row->wait_kind == FV_WAIT_ESTIMATE && c->mean[s] > 0;

        value_word(c->mean[s], unit, word);
        if (metric != FV_DIFF_BYTES || c->mean[0] > 0 || c->mean[1] > 0)
            fv_table_set(t, column + s, "%s%s", estimate ? "~" : "", word);
    }
}

static void put_functions(const struct fv_page *p, const struct fv_diff *d)
{
    static const struct fv_column columns[] = {
        { "function", true, true, 0 },  { "time A", false, false, 0 },    { "time B", false, false, 0 },
        { "change", false, false, 0 },  { "of A", false, false, 6 },      { "+-", false, false, 5 },
        { "", true, false, 0 },         { "waiting A", false, false, 4 }, { "waiting B", false, false, 4 },
        { "calls A", false, false, 3 }, { "calls B", false, false, 3 },   { "bytes A", false, false, 2 },
        { "bytes B", false, false, 2 },
    };
    char word[FV_WORD];
    struct fv_table t;
    size_t rows = d->function_count < p->top ? d->function_count : p->top;

    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < rows; i++) {
        const struct fv_diff_row *f = &d->functions[i];
        const struct fv_change *c = &f->change[FV_DIFF_TIME];

        fv_table_row(&t, color_of(d, c, FV_UNIT_SECONDS));
        fv_table_set(&t, 0, "%s", f->function);
        put_pair(&t, 1, f, FV_DIFF_TIME);
        fv_table_set(&t, 3, "%s", change_word(c->change, FV_UNIT_SECONDS, word));
        fv_table_set(&t, 4, "%s", percent_word(c, word));
        fv_table_set(&t, 5, "%s", half_word(c, FV_UNIT_SECONDS, word));
        fv_table_set(&t, 6, "%s", c->significant ? "*" : "");
        put_pair(&t, 7, f, FV_DIFF_WAIT);
        put_pair(&t, 9, f, FV_DIFF_CALLS);
        put_pair(&t, 11, f, FV_DIFF_BYTES);
    }
    fv_page_heading(p, "MPI functions", "of a rank (mean over ranks), largest change first");
    if (rows)
        fv_table_print(&t, p);
    fv_page_cut(p, rows, d->function_count, "function", "");
    fv_table_release(&t);
}

/* ---- call paths ---- */

static void frame_label(const struct fv_diff_frame *f, char *out, size_t bytes)
{
    char text[512];

    if (f->function)
        snprintf(text, sizeof(text), "%s", f->function);
    else
        snprintf(text, sizeof(text), "%s%s0x%llx", f->module, *f->module ? "+" : "",
                 (unsigned long long)f->offset);
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
    size_t used = strlen(text);

    if ((isnan(c->mean[0]) && isnan(c->mean[1])) || !(c->mean[0] != 0 || c->mean[1] != 0))
        return;
    value_word(c->mean[0], unit, a);
    value_word(c->mean[1], unit, b);
    if (row->join == FV_JOIN_ONLY_A || row->join == FV_JOIN_ONLY_B || !strcmp(a, b))
        snprintf(text + used, bytes - used, "%s%s %s%s", used ? "; " : "", fv_diff_metrics[metric].name, mark,
                 row->join == FV_JOIN_ONLY_B ? b : a);
    else
        snprintf(text + used, bytes - used, "%s%s %s%s -> %s%s%s", used ? "; " : "",
                 fv_diff_metrics[metric].name, mark, *a ? a : "-", mark, *b ? b : "-",
                 c->significant ? " *" : "");
}

static void put_row(const struct fv_page *p, const struct fv_diff *d, const struct fv_diff_row *row,
                    size_t number)
{
    const struct fv_change *c = &row->change[FV_DIFF_TIME];
    bool only = row->join == FV_JOIN_ONLY_A || row->join == FV_JOIN_ONLY_B;
    char a[FV_WORD], b[FV_WORD], change[FV_WORD], percent[FV_WORD], half[FV_WORD], text[600] = "";

    fprintf(p->out, "\n%s%4zu  %s%s  ", fv_page_on(p, FV_BOLD), number, row->function, fv_page_off(p));
    change_word(c->change, FV_UNIT_SECONDS, change);
    half_word(c, FV_UNIT_SECONDS, half);
    fv_words_seconds(c->mean[0], a);
    fv_words_seconds(c->mean[1], b);
    fputs(fv_page_on(p, color_of(d, c, FV_UNIT_SECONDS)), p->out);
    if (only)
        fprintf(p->out, "%s", change);
    else
        fprintf(p->out, "%s -> %s: %s, %s", a, b, change, percent_word(c, percent));
    fprintf(p->out, "%s%s%s%s%s\n", *half ? " (" : "", half, *half ? ")" : "", c->significant ? " *" : "",
            fv_page_off(p));
    for (unsigned k = FV_DIFF_WAIT; k < FV_DIFF_METRICS; k++)
        add_metric(text, sizeof(text), row, (enum fv_diff_metric)k);
    if (*text)
        fv_page_item(p, FV_PLAIN, 6, "%s", text);
    if (row->join == FV_JOIN_NAMES)
        fprintf(p->out, "      %sjoined by the names of functions%s%s\n", fv_page_on(p, FV_YELLOW),
                row->uneven ? "; A and B have different numbers of such paths, paired in order" : "",
                fv_page_off(p));
    put_path(p, row);
}

static void put_paths(const struct fv_page *p, const struct fv_diff *d, const char *title, const char *remark,
                      const bool joins[FV_DIFF_JOINS])
{
    size_t shown = 0, all = 0;

    for (size_t i = 0; i < d->path_count; i++)
        all += joins[d->paths[i].join];
    if (!all)
        return;
    fv_page_heading(p, title, remark);
    for (size_t i = 0; i < d->path_count && shown < p->top; i++)
        if (joins[d->paths[i].join])
            put_row(p, d, &d->paths[i], ++shown);
    if (shown < all)
        putc('\n', p->out);
    fv_page_cut(p, shown, all, "call path", "");
}

int fv_diff_text(const struct fv_diff *d, const struct fv_text_options *o, FILE *out)
{
    static const bool joined[FV_DIFF_JOINS] = { [FV_JOIN_POSITION] = true, [FV_JOIN_NAMES] = true },
                      only_a[FV_DIFF_JOINS] = { [FV_JOIN_ONLY_A] = true },
                      only_b[FV_DIFF_JOINS] = { [FV_JOIN_ONLY_B] = true };
    const struct fv_page page = fv_text_page(o, out);

    put_verdict(&page, d);
    putc('\n', out);
    put_method(&page, d);
    put_notes(&page, d);
    put_runs(&page, d);
    put_functions(&page, d);
    put_paths(&page, d, "Call paths",
              d->noise ? "time in MPI of a rank (mean over ranks); changes that count first, then the largest"
                       : "time in MPI of a rank (mean over ranks), largest change first",
              joined);
    put_paths(&page, d, "Call paths only in A", "gone, or moved to another place", only_a);
    put_paths(&page, d, "Call paths only in B", "new, or moved from another place", only_b);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
