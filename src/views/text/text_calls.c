/* Functions and call sites. */
#include "views/text/text.h"

#include <math.h>
#include <string.h>

void fv_text_functions(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_model *m = v->model;
    struct fv_text_table t;
    size_t rows = 0, all = 0;

    fv_text_table_begin(&t, p, v, "mpi_functions");
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i].sites && all++ < p->top &&
            m->functions[i].time.sum >= p->threshold * m->efficiency.thread_s) {
            fv_text_table_add(&t, &m->functions[i], FV_PLAIN);
            rows++;
        }
    fv_page_heading(p, "MPI functions", "over all ranks; ~ marks an estimate of waiting, others are exact");
    fv_text_table_end(&t);
    fv_page_cut(p, rows, all, "function", "");
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
                fv_words_percent(s->wait_s, s->time.sum, b), fv_wait_kind_name(s->wait_kind),
                s->barriers ? ", inserted barriers included" : "");
    if (s->time.bytes_sent || s->time.bytes_received)
        fprintf(p->out, "      sent %s, received %s\n", fv_words_bytes(s->time.bytes_sent, a),
                fv_words_bytes(s->time.bytes_received, b));
}

static void put_frame(const struct fv_page *p, const struct fv_profile *v, const struct fv_frame *f,
                      size_t indent)
{
    char label[512], clean[512], where[300];
    size_t room = p->width > indent + 20 ? p->width - indent : 20;

    fv_words_clean(fv_frame_label(f, v->symbols, label, sizeof(label)), clean, sizeof(clean));
    fv_frame_location(f, v->symbols, where, sizeof(where));
    size_t taken = fv_words_columns(where) + (where[0] ? 2 : 0) + (f->inlined ? 10 : 0);
    fv_words_fit(clean, room > taken + 12 ? room - taken : 12);
    fprintf(p->out, "%*s%s%s%s%s%s%s\n", (int)indent, "", clean, f->inlined ? " [inlined]" : "",
            where[0] ? "  " : "", fv_page_on(p, FV_DIM), where, fv_page_off(p));
}

static void put_site_path(const struct fv_page *p, const struct fv_profile *v, struct fv_path *path,
                          uint32_t node)
{
    size_t depth = p->top == SIZE_MAX ? SIZE_MAX : 24;

    fv_path_of(path, v->symbols, node);
    if (!path->count)
        fprintf(p->out, "%*s(call path not recorded)\n", 8, "");
    for (size_t i = 0; i < path->count && i < depth; i++)
        put_frame(p, v, &path->frames[i], 8);
    if (path->count > depth)
        fprintf(p->out, "%*s%s... %zu outer frame%s; --all shows all%s\n", 8, "", fv_page_on(p, FV_DIM),
                path->count - depth, fv_words_s(path->count - depth), fv_page_off(p));
}

void fv_text_sites(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_model *m = v->model;
    size_t rows = m->site_count < p->top ? m->site_count : p->top;
    struct fv_path path = { 0 };
    double rest = 0;
    char part[FV_WORD], text[128];

    while (rows && m->sites[rows - 1].time.sum < p->threshold * m->efficiency.thread_s)
        rows--;
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
