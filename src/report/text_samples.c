/* Sampled functions: which vary, and what part of the time is theirs. */
#include "report/text.h"

#include <math.h>

static void put_row(struct fv_table *t, const struct fv_view *v, struct fv_path *path,
                    const struct fv_sampled *s)
{
    char label[512], clean[512], word[FV_WORD];
    const struct fv_sampled_stat *stat = &s->all;

    size_t own = fv_view_sampled_path(v, path, s), caller = own + 1;

    fv_table_row(t, s->varies ? FV_YELLOW : FV_PLAIN);
    fv_table_set(t, 0, "%s",
                 own < path->count
                     ? fv_words_clean(fv_frame_label(&path->frames[own], v->model, label, sizeof(label)),
                                      clean, sizeof(clean))
                     : "?");
    while (caller + 1 < path->count && path->frames[caller].inlined)
        caller++;
    if (caller < path->count)
        fv_table_set(t, 1, "%s",
                     fv_words_clean(fv_frame_label(&path->frames[caller], v->model, label, sizeof(label)),
                                    clean, sizeof(clean)));
    fv_table_set(t, 2, "%s", fv_words_percent(s->share, 1, word));
    fv_table_set(t, 3, "%s", s->varies ? "varies" : "");
    fv_table_set(t, 4, "%.2f", s->within);
    if (isfinite(s->between))
        fv_table_set(t, 5, "%.2f", s->between);
    fv_table_set(t, 6, "%s%s", s->fast ? "~" : "", fv_words_seconds(stat->mean[FV_METRIC_CPU], word));
    fv_table_set(t, 7, "%s", fv_words_seconds(stat->mean[FV_METRIC_TIME], word));
    if (stat->mean[FV_METRIC_MPI] > 0)
        fv_table_set(t, 8, "%s",
                     fv_words_percent(stat->mean[FV_METRIC_MPI], stat->mean[FV_METRIC_TIME], word));
    fv_table_set(t, 9, "%s", fv_words_count(stat->count, word));
    fv_table_set(t, 10, "%s", fv_words_count(s->window.count, word));
    if (s->window.count >= FV_SAMPLED_ENOUGH && stat->mean[FV_METRIC_CPU] > 0)
        fv_table_set(t, 11, "%.2f", s->window.mean[FV_METRIC_CPU] / stat->mean[FV_METRIC_CPU]);
}

static void put_summary(const struct fv_page *p, const struct fv_samples *s)
{
    char a[FV_WORD], b[FV_WORD], c[FV_WORD], d[FV_WORD], e[FV_WORD], f[FV_WORD], text[600];

    snprintf(text, sizeof(text),
             "%s samples of the CPU clock, %s instances measured on %u thread%s (%s ended by longjmp, "
             "exceptions or the "
             "thread's end); sampling itself took %s. Of each instance %s are subtracted for its traps; that "
             "varies by %s",
             fv_words_count(s->ticks, a), fv_words_count(s->returns, b), s->threads, fv_words_s(s->threads),
             fv_words_count(s->abandoned, c), fv_words_seconds(s->tool_s, d), fv_words_seconds(s->trap_s, e),
             fv_words_seconds(s->trap_spread_s, f));
    fputs("  ", p->out);
    fv_page_words(p, text, 2);
    if (s->lost)
        fprintf(p->out,
                "  %s more calls were not measured: the table of calling contexts of a thread was full\n",
                fv_words_count(s->lost, a));
}

void fv_text_samples(const struct fv_page *p, const struct fv_view *v)
{
    static const struct fv_column columns[] = {
        { "function", true, true, 0 },   { "called by", true, true, 4 },   { "CPU share", false, false, 0 },
        { "", true, false, 0 },          { "within", false, false, 0 },    { "between", false, false, 0 },
        { "mean CPU", false, false, 0 }, { "mean time", false, false, 3 }, { "in MPI", false, false, 2 },
        { "samples", false, false, 2 },  { "in window", false, false, 1 }, { "bias", false, false, 1 },
    };
    const struct fv_samples *s = &v->model->samples;
    size_t rows = s->count < p->top ? s->count : p->top;
    struct fv_path path = { 0 };
    struct fv_table t;

    if (!s->threads)
        return;
    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < rows; i++)
        put_row(&t, v, &path, &s->items[i]);
    fv_page_heading(
        p, "Functions",
        "sampled whole instances. within, between: standard deviation of the CPU time over its mean, in a "
        "thread, and of the means of threads; a function varies that has more than 10 % of the CPU time and "
        "more than 0.20 within or 0.10 between. bias: mean of the instances chosen without bias (in window) "
        "over that of all. ~ marks functions too fast to be sure");
    put_summary(p, s);
    fv_table_print(&t, p);
    fv_page_cut(p, rows, s->count, "function", " in its calling context");
    fv_table_release(&t);
    fv_path_release(&path);
}
