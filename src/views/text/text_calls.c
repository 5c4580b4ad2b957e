/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions and call sites. */
#include "views/text/text.h"

#include <math.h>
#include <string.h>

/* MPI calls are what the report is about, unless the program made none. */
static bool are_told(const struct fv_model *m)
{
    return m->site_count || !(fv_text_serial(m) || m->shown_threads);
}

FV_TEXT_SECTION(functions)
{
    const struct fv_model *m = v->model;
    struct fv_text_table t;

    if (!are_told(m))
        return;
    fv_text_table_begin(&t, p, v, "mpi_functions");
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i].sites)
            fv_text_table_add(&t, &m->functions[i], FV_PLAIN);
    fv_page_heading(p, "MPI functions", "over all ranks; ~ marks an estimate of waiting, others are exact");
    fv_text_table_end(&t, "function", "");
}

/* ---- call sites ---- */

#define WORTH 0.01 /* of all time: a call site with less is not shown unless more is asked for */

/* A number for each rank: mean, and which rank has least and most. */
static void put_over_ranks(const struct fv_page *p, const struct fv_model *m, const struct fv_site *s)
{
    const struct fv_site_rank *parts = &m->site_ranks[s->first], *least = NULL, *most = NULL;
    char mean[FV_WORD], low[FV_WORD], high[FV_WORD];

    for (uint32_t i = 0; i < s->ranks; i++) {
        if (!parts[i].stat.calls)
            continue;
        least = !least || parts[i].stat.sum_s < least->stat.sum_s ? &parts[i] : least;
        most = !most || parts[i].stat.sum_s > most->stat.sum_s ? &parts[i] : most;
    }
    if (least != most)
        fv_page_item(p, s->cov >= 0.25 ? FV_YELLOW : FV_PLAIN, 6, "a rank %s, %s (rank %d) to %s (rank %d), cov %.2f",
                     fv_words_seconds(s->rank_mean, mean), fv_words_seconds(least->stat.sum_s, low),
                     m->ranks[least->rank].world_rank, fv_words_seconds(most->stat.sum_s, high),
                     m->ranks[most->rank].world_rank, s->cov);
}

/* " (name)" where several programs ran and the site is of one of them: their paths may read the same. */
static const char *program_of(const struct fv_model *m, const struct fv_site *s, char *out, size_t bytes)
{
    const struct fv_site_rank *parts = &m->site_ranks[s->first];
    uint32_t program = s->ranks ? m->ranks[parts[0].rank].program : 0;
    bool one = s->ranks && m->program_count > 1;
    char clean[280];

    for (uint32_t i = 1; i < s->ranks; i++)
        one = one && m->ranks[parts[i].rank].program == program;
    out[0] = '\0';
    if (one)
        snprintf(out, bytes, " (%s)", fv_words_clean(m->programs[program].label, clean, sizeof(clean)));
    return out;
}

#define CLASSES 3 /* of sizes are shown unless all are asked for */

/* "8 B to 15 B: 1,000 sent, 3.20 ms" */
static void put_class(const struct fv_site_size *of, char *text, size_t bytes)
{
    double seconds = of->sent.seconds + of->received.seconds;
    char low[FV_WORD], high[FV_WORD], word[FV_WORD];

    fv_words_add(text, bytes, "%s", fv_words_bytes(of->lost ? fv_size_bucket_low(of->bucket) : of->min, low));
    if (strcmp(low, fv_words_bytes(of->lost ? fv_size_bucket_high(of->bucket) : of->max, high)))
        fv_words_add(text, bytes, " to %s", high);
    fv_words_add(text, bytes, ": ");
    if (of->sent.count)
        fv_words_add(text, bytes, "%s sent", fv_words_count(of->sent.count, word));
    if (of->received.count)
        fv_words_add(text, bytes, "%s%s received", of->sent.count ? ", " : "",
                     fv_words_count(of->received.count, word));
    if (seconds > 0)
        fv_words_add(text, bytes, ", %s", fv_words_seconds(seconds, word));
}

/* Has a class of a site more time than another? Of equal ones the earlier has. */
static bool is_longer(const struct fv_site_size *a, const struct fv_site_size *b)
{
    double x = a->sent.seconds + a->received.seconds, y = b->sent.seconds + b->received.seconds;

    return x != y ? x > y : a < b;
}

/* The histogram of a site with several classes of sizes: those with most time, in the order of sizes. */
static void put_classes(const struct fv_page *p, const struct fv_model *m, const struct fv_site *s)
{
    uint32_t most = p->brief ? CLASSES : s->sizes;
    char text[FV_SIZE_BUCKETS * 80] = "";

    if (s->sizes < 2)
        return;
    const struct fv_site_size *all = &m->site_sizes[s->first_size];
    for (uint32_t i = 0; i < s->sizes; i++) {
        uint32_t longer = 0;

        for (uint32_t k = 0; k < s->sizes; k++)
            longer += is_longer(&all[k], &all[i]);
        if (longer >= most)
            continue;
        fv_words_add(text, sizeof(text), "%s", *text ? "; " : "");
        put_class(&all[i], text, sizeof(text));
    }
    if (s->sizes > most)
        fv_words_add(text, sizeof(text), "; %u more: --table site_sizes", s->sizes - most);
    fv_page_item(p, FV_PLAIN, 6, "by size  %s", text);
}

static void put_moved(const struct fv_page *p, const struct fv_model *m, const struct fv_site *s)
{
    const struct fv_site_rank sizes = fv_site_messages(m, s);
    uint64_t bytes = s->stat.bytes_sent + s->stat.bytes_received;
    char a[FV_WORD], b[FV_WORD], c[FV_WORD], d[FV_WORD], e[FV_WORD], each[4 * FV_WORD] = "";

    if (!bytes)
        return;
    const bool known = sizes.messages && !sizes.sizes_lost;
    if (known && !strcmp(fv_words_bytes(sizes.size_min, c), fv_words_bytes(sizes.size_max, d)))
        snprintf(each, sizeof(each), ", %s each", c);
    else if (known)
        snprintf(each, sizeof(each), ", %s to %s each, mean %s", c, d, fv_words_bytes(bytes / sizes.messages, e));
    fprintf(p->out, "      sent %s, received %s%s\n", fv_words_bytes(s->stat.bytes_sent, a),
            fv_words_bytes(s->stat.bytes_received, b), each);
    put_classes(p, m, s);
}

static void put_site_head(const struct fv_page *p, const struct fv_model *m, size_t i)
{
    const struct fv_site *s = &m->sites[i];
    char a[FV_WORD], b[FV_WORD], c[FV_WORD], d[FV_WORD], clean[128], program[300];

    fprintf(p->out, "\n%s%4zu  %s%s", fv_page_on(p, FV_BOLD), i + 1,
            fv_words_clean(m->functions[s->function].name, clean, sizeof(clean)), fv_page_off(p));
    fprintf(p->out, "  %s, %s%s%s of all\n", fv_words_seconds(s->stat.sum_s, a), fv_page_on(p, FV_CYAN),
            fv_words_percent(s->stat.sum_s, m->efficiency.thread_s, b), fv_page_off(p));
    fv_page_item(p, FV_PLAIN, 6, "%s call%s on %u of %zu rank%s%s; each %s, %s to %s", fv_words_count(s->stat.calls, a),
                 fv_words_s(s->stat.calls), s->ranks, m->rank_count, fv_words_s(m->rank_count),
                 program_of(m, s, program, sizeof(program)), fv_words_seconds(fv_call_stat_mean(&s->stat), b),
                 fv_words_seconds(s->stat.min_s, c), fv_words_seconds(s->stat.max_s, d));
    put_over_ranks(p, m, s);
    if (s->wait_kind != FV_WAIT_UNKNOWN && s->wait_s > 0)
        fprintf(p->out, "      waiting %s, %s of it (%s)%s\n", fv_words_seconds(s->wait_s, a),
                fv_words_percent(s->wait_s, s->stat.sum_s, b), fv_wait_kind_name(s->wait_kind),
                s->barriers ? ", inserted barriers included" : "");
    put_moved(p, m, s);
}

FV_TEXT_SECTION(sites)
{
    const struct fv_model *m = v->model;
    struct fv_path path = { 0 };
    struct fv_text_table t;
    double rest = 0;
    char part[FV_WORD], text[128];

    if (!are_told(m))
        return;
    fv_page_heading(
        p, "Call sites",
        "an MPI function and the path of calls that leads to it, innermost first. cov: standard deviation of "
        "the ranks' times over their mean; 0 is balanced");
    fv_text_table_begin(&t, p, v, "callsites"); /* chooses; each row has lines of its own */
    if (p->brief) {
        t.sheet.top = fv_text_few(p);
        t.sheet.least = WORTH;
    }
    for (size_t i = 0; i < m->site_count; i++) {
        if (!fv_sheet_choose(&t.sheet, NULL, &m->sites[i])) {
            rest += m->sites[i].stat.sum_s;
            continue;
        }
        put_site_head(p, m, i);
        fv_text_path(p, v, &path, m->sites[i].node, 8, 24);
        if (!path.count)
            fprintf(p->out, "%*s(call path not recorded)\n", 8, "");
    }
    putc('\n', p->out);
    snprintf(text, sizeof(text), ", with %s of the time", fv_words_percent(rest, m->efficiency.thread_s, part));
    fv_text_table_end(&t, "call site", text);
    fv_path_release(&path);
}
