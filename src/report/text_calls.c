/* Functions and call sites. */
#include "report/text.h"

#include <math.h>
#include <string.h>

static const char *wait_word(double wait_s, enum fv_wait_kind kind, char out[FV_WORD])
{
    if (kind == FV_WAIT_UNKNOWN)
        return "";
    fv_words_seconds(wait_s, out);
    if (kind == FV_WAIT_ESTIMATE && wait_s > 0) /* marked, and the heading says how */
        memmove(out + 1, out, strlen(out) + 1), out[0] = '~';
    return out;
}

void fv_text_functions(const struct fv_page *p, const struct fv_model *m)
{
    static const struct fv_column columns[] = {
        { "function", true, true, 0 },   { "time", false, false, 0 },  { "of all", false, false, 0 },
        { "waiting", false, false, 6 },  { "calls", false, false, 0 }, { "mean", false, false, 5 },
        { "min", false, false, 2 },      { "max", false, false, 3 },   { "sent", false, false, 4 },
        { "received", false, false, 4 }, { "sites", false, false, 2 }, { "ranks", false, false, 1 },
    };
    char word[FV_WORD];
    struct fv_table t;
    size_t rows = 0, all = 0;

    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < m->function_count; i++) {
        const struct fv_func *f = &m->functions[i];

        all += f->sites != 0;
        if (!f->sites || rows >= p->top)
            continue;
        rows++;
        fv_table_row(&t, FV_PLAIN);
        fv_table_set(&t, 0, "%s", f->name);
        fv_table_set(&t, 1, "%s", fv_words_seconds(f->time.sum, word));
        fv_table_set(&t, 2, "%s", fv_words_percent(f->time.sum, m->efficiency.thread_s, word));
        fv_table_set(&t, 3, "%s", wait_word(f->wait_s, f->wait_kind, word));
        fv_table_set(&t, 4, "%s", fv_words_count(f->time.calls, word));
        fv_table_set(&t, 5, "%s", fv_words_seconds(fv_stat_mean(&f->time), word));
        fv_table_set(&t, 6, "%s", fv_words_seconds(f->time.min, word));
        fv_table_set(&t, 7, "%s", fv_words_seconds(f->time.max, word));
        if (f->time.bytes_sent)
            fv_table_set(&t, 8, "%s", fv_words_bytes(f->time.bytes_sent, word));
        if (f->time.bytes_received)
            fv_table_set(&t, 9, "%s", fv_words_bytes(f->time.bytes_received, word));
        fv_table_set(&t, 10, "%u", f->sites);
        fv_table_set(&t, 11, "%u", f->ranks);
    }
    fv_page_heading(p, "MPI functions", "over all ranks; ~ marks an estimate of waiting, others are exact");
    fv_table_print(&t, p);
    fv_page_cut(p, rows, all, "function", "");
    fv_table_release(&t);
}

/* ---- call sites ---- */

/* " (name)" where several programs ran and the site is of one of them: their paths may read the same. */
static const char *program_of(const struct fv_model *m, const struct fv_site *s, char *out, size_t bytes)
{
    const struct fv_site_rank *parts = &m->site_ranks[s->first];
    uint32_t program = s->ranks ? m->ranks[parts[0].rank].program : 0;
    bool one = s->ranks && m->program_count > 1;

    for (uint32_t i = 1; i < s->ranks; i++)
        one = one && m->ranks[parts[i].rank].program == program;
    out[0] = '\0';
    if (one)
        snprintf(out, bytes, " (%s)", m->programs[program].label);
    return out;
}

static void put_site_head(const struct fv_page *p, const struct fv_model *m, size_t i)
{
    const struct fv_site *s = &m->sites[i];
    char a[FV_WORD], b[FV_WORD], c[FV_WORD], d[FV_WORD], clean[128], program[300], text[900], line[1000];

    fprintf(p->out, "\n%s%4zu  %s%s", fv_page_on(p, FV_BOLD), i + 1,
            fv_words_clean(m->functions[s->function].name, clean, sizeof(clean)), fv_page_off(p));
    fprintf(p->out, "  %s, %s%s%s of all\n", fv_words_seconds(s->time.sum, a), fv_page_on(p, FV_CYAN),
            fv_words_percent(s->time.sum, m->efficiency.thread_s, b), fv_page_off(p));
    snprintf(text, sizeof(text), "%s call%s on %u of %zu rank%s%s; each %s, %s to %s",
             fv_words_count(s->time.calls, a), fv_words_s(s->time.calls), s->ranks, m->rank_count,
             fv_words_s(m->rank_count), program_of(m, s, program, sizeof(program)),
             fv_words_seconds(fv_stat_mean(&s->time), b), fv_words_seconds(s->time.min, c),
             fv_words_seconds(s->time.max, d));
    fputs("      ", p->out);
    fv_page_words(p, fv_words_clean(text, line, sizeof(line)), 8);
    if (s->ranks > 1) {
        snprintf(text, sizeof(text), "a rank %s, %s to %s, cov %.2f", fv_words_seconds(s->rank_mean, a),
                 fv_words_seconds(s->rank_min, b), fv_words_seconds(s->rank_max, c), s->cov);
        fprintf(p->out, "      %s%s%s\n", fv_page_on(p, s->cov >= 0.25 ? FV_YELLOW : FV_PLAIN), text,
                fv_page_off(p));
    }
    if (s->wait_kind != FV_WAIT_UNKNOWN && s->wait_s > 0)
        fprintf(p->out, "      waiting %s, %s of it (%s)%s\n", fv_words_seconds(s->wait_s, a),
                fv_words_percent(s->wait_s, s->time.sum, b), fv_view_wait_kind(s->wait_kind),
                s->barriers ? ", inserted barriers included" : "");
    if (s->time.bytes_sent || s->time.bytes_received)
        fprintf(p->out, "      sent %s, received %s\n", fv_words_bytes(s->time.bytes_sent, a),
                fv_words_bytes(s->time.bytes_received, b));
}

static void put_frame(const struct fv_page *p, const struct fv_view *v, const struct fv_frame *f,
                      size_t indent)
{
    char label[512], clean[512], where[300];
    size_t room = p->width > indent + 20 ? p->width - indent : 20;

    fv_words_clean(fv_frame_label(f, v->model, label, sizeof(label)), clean, sizeof(clean));
    fv_text_location(f, v->model, where, sizeof(where));
    size_t taken = fv_words_columns(where) + (where[0] ? 2 : 0) + (f->inlined ? 10 : 0);
    fv_words_fit(clean, room > taken + 12 ? room - taken : 12);
    fprintf(p->out, "%*s%s%s%s%s%s%s\n", (int)indent, "", clean, f->inlined ? " [inlined]" : "",
            where[0] ? "  " : "", fv_page_on(p, FV_DIM), where, fv_page_off(p));
}

static void put_site_path(const struct fv_page *p, const struct fv_view *v, struct fv_path *path,
                          uint32_t node)
{
    size_t depth = p->top == SIZE_MAX ? SIZE_MAX : 24;

    fv_path_of(path, v->symbols, v->model, node);
    if (!path->count)
        fprintf(p->out, "%*s(call path not recorded)\n", 8, "");
    for (size_t i = 0; i < path->count && i < depth; i++)
        put_frame(p, v, &path->frames[i], 8);
    if (path->count > depth)
        fprintf(p->out, "%*s%s... %zu outer frame%s; --all shows all%s\n", 8, "", fv_page_on(p, FV_DIM),
                path->count - depth, fv_words_s(path->count - depth), fv_page_off(p));
}

void fv_text_sites(const struct fv_page *p, const struct fv_view *v)
{
    const struct fv_model *m = v->model;
    size_t rows = m->site_count < p->top ? m->site_count : p->top;
    struct fv_path path = { 0 };
    double rest = 0;
    char part[FV_WORD], text[128];

    fv_page_heading(
        p, "Call sites",
        "an MPI function and the path of calls that leads to it, innermost first. cov: standard deviation of "
        "the ranks' times over their mean; 0 is balanced");
    for (size_t i = 0; i < rows; i++) {
        put_site_head(p, m, i);
        put_site_path(p, v, &path, m->sites[i].node);
    }
    for (size_t i = rows; i < m->site_count; i++)
        rest += m->sites[i].time.sum;
    putc('\n', p->out);
    snprintf(text, sizeof(text), ", with %s of the time",
             fv_words_percent(rest, m->efficiency.thread_s, part));
    fv_page_cut(p, rows, m->site_count, "call site", text);
    fv_path_release(&path);
}
