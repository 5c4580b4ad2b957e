/* The comparison as text: a verdict, what was compared and how, the runs as a whole, MPI functions, call
 * paths. */
#include "diff/diff_relations.h"
#include "views/text/text.h"

#include <math.h>
#include <string.h>

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

/* ---- verdict ---- */

static void put_verdict(const struct fv_page *p, const struct fv_diff *d)
{
    const struct fv_change *c = &d->run[FV_RUN_ELAPSED];
    char a[FV_WORD], b[FV_WORD], percent[FV_WORD], change[FV_WORD], half[FV_WORD], wait[FV_WORD];

    fprintf(p->out, "%selapsed %s -> %s, %s%s", fv_page_on(p, FV_BOLD), fv_words_seconds(c->mean[0], a),
            fv_words_seconds(c->mean[1], b), fv_diff_percent_word(c, percent), fv_page_off(p));
    fv_diff_change_word(c->change, FV_UNIT_SECONDS, change);
    fv_diff_half_word(c, FV_UNIT_SECONDS, half);
    if (isnan(c->p))
        fputs(": one run a side, no word on noise\n", p->out);
    else
        fprintf(p->out, ": %s%s%s (%s %s)\n", fv_page_on(p, color_of(d, c, FV_UNIT_SECONDS)),
                c->significant ? "significant, outside of the runs' spread" : "within the noise",
                fv_page_off(p), change, half);
    fv_page_item(p, FV_PLAIN, 0, "of a rank: computing %s, MPI %s, of which waiting %s",
                 fv_diff_change_word(d->run[FV_RUN_COMPUTE].change, FV_UNIT_SECONDS, a),
                 fv_diff_change_word(d->run[FV_RUN_MPI].change, FV_UNIT_SECONDS, b),
                 fv_diff_change_word(d->run[FV_RUN_WAIT].change, FV_UNIT_SECONDS, wait));
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
            exact = exact && d->side[s].runs[r].wait_kind[d->waits] == FV_WAIT_EXACT;
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
    struct fv_diff_tables tables = { .diff = d };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_diff_run_changes, NULL, &tables);
    sheet.top = FV_DIFF_RUN_METRICS;
    for (unsigned k = 0; k < FV_DIFF_RUN_METRICS; k++)
        if (!isnan(d->run[k].mean[0]) || !isnan(d->run[k].mean[1]))
            fv_sheet_add(&sheet, NULL, fv_relation_row(&fv_diff_run_changes, &tables, NULL, k),
                         color_of(d, &d->run[k], fv_diff_run_metrics[k].unit));
    fv_page_heading(p, "Runs",
                    d->noise
                        ? "seconds, calls and bytes of a rank (mean); spread: standard deviation of the runs"
                        : "seconds, calls and bytes of a rank (mean)");
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
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

    if ((isnan(c->mean[0]) && isnan(c->mean[1])) || !(c->mean[0] != 0 || c->mean[1] != 0))
        return;
    fv_diff_value_word(c->mean[0], unit, a);
    fv_diff_value_word(c->mean[1], unit, b);
    if (row->join == FV_JOIN_ONLY_A || row->join == FV_JOIN_ONLY_B || !strcmp(a, b))
        fv_words_add(text, bytes, "%s%s %s%s", *text ? "; " : "", fv_diff_metrics[metric].name, mark,
                     row->join == FV_JOIN_ONLY_B ? b : a);
    else
        fv_words_add(text, bytes, "%s%s %s%s -> %s%s%s", *text ? "; " : "", fv_diff_metrics[metric].name,
                     mark, *a ? a : "-", mark, *b ? b : "-", c->significant ? " *" : "");
}

static void put_row(const struct fv_page *p, const struct fv_diff *d, const struct fv_diff_row *row,
                    size_t number)
{
    const struct fv_change *c = &row->change[FV_DIFF_TIME];
    bool only = row->join == FV_JOIN_ONLY_A || row->join == FV_JOIN_ONLY_B;
    char a[FV_WORD], b[FV_WORD], change[FV_WORD], percent[FV_WORD], half[FV_WORD], text[600] = "";

    fprintf(p->out, "\n%s%4zu  %s%s  ", fv_page_on(p, FV_BOLD), number, row->function, fv_page_off(p));
    fv_diff_change_word(c->change, FV_UNIT_SECONDS, change);
    fv_diff_half_word(c, FV_UNIT_SECONDS, half);
    fv_words_seconds(c->mean[0], a);
    fv_words_seconds(c->mean[1], b);
    fputs(fv_page_on(p, color_of(d, c, FV_UNIT_SECONDS)), p->out);
    if (only)
        fprintf(p->out, "%s", change);
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
