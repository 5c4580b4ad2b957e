/* SPDX-License-Identifier: BSD-3-Clause */
/* The text report: the order of its parts, and how efficient the run was. */
#include "views/text/text.h"
#include "profile/hang/hang.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- efficiency ---- */

/* What a metric is: its definition up to the formula, or the first sentence. */
static const char *meaning_of(const struct fv_column_def *metric, char out[160])
{
    snprintf(out, 160, "%.*s", (int)strcspn(metric->doc, ":."), metric->doc);
    *out = (char)tolower((unsigned char)*out);
    return out;
}

/* A line for each metric, indented as it is a factor of one above: `depth`, a digit each. */
static void put_metrics(const struct fv_page *p, const struct fv_profile *v, const char *relation, const char *depth,
                        const char *about)
{
    struct fv_text_table t;
    char percent[FV_WORD], meaning[160];

    fv_text_table_begin(&t, p, v, relation);
    const struct fv_relation *r = t.sheet.relation;
    const void *row = fv_relation_row(r, &t.tables, NULL, 0);
    fv_page_heading(p, r->title, about);
    for (size_t i = 0; i < r->column_count && depth[i]; i++) {
        int indent = 2 * (depth[i] - '0');
        const struct fv_value value = fv_column_value(&r->columns[i], &t.tables, row);
        bool known = !value.null && isfinite(value.real);

        if (!known && indent == 4 && !isfinite(v->model->efficiency.serialization) &&
            !isfinite(v->model->efficiency.transfer))
            continue;
        meaning_of(&r->columns[i], meaning);
        fprintf(p->out, "  %*s%-*s %s%8s%s", indent, "", 20 - indent, r->columns[i].title,
                fv_page_on(p, !known                     ? FV_PLAIN
                              : value.real < FV_POP_GOOD ? FV_YELLOW
                                                         : FV_GREEN),
                known ? fv_words_percent(value.real, 1, percent) : "-", fv_page_off(p));
        if (p->width >= 40 + strlen(meaning))
            fprintf(p->out, "   %s%s%s", fv_page_on(p, FV_DIM), meaning, fv_page_off(p));
        putc('\n', p->out);
    }
    fv_text_table_end(&t, NULL, NULL);
}

FV_TEXT_SECTION(efficiency)
{
    if (fv_text_serial(v->model) || (!isfinite(v->model->efficiency.parallel) && !v->model->calls_left_out))
        return;
    put_metrics(p, v, "efficiency", "01122", "POP metrics; " FV_POP_GOOD_WORDS);
    if (v->model->hybrid.known)
        put_metrics(p, v, "hybrid_efficiency", "01221222", "the same of all threads: POP's hybrid metrics");
}

/* ---- the order ---- */

/* Behind what is to be read first. */
#define SECTIONS(X)    \
    X(identity)        \
    X(notes)           \
    X(unfinished)      \
    X(hang)            \
    X(looks)           \
    X(thread_waits)    \
    X(efficiency)      \
    X(waiting)         \
    X(iterations)      \
    X(samples)         \
    X(costs)           \
    X(instrumentation) \
    X(io)              \
    X(counters)        \
    X(memory)          \
    X(machine)         \
    X(noise) X(sections) X(locks) X(phases) X(worksharing) X(functions) X(sites) X(sizes) X(peers) X(comms) X(ranks)

#define DECLARE(name) extern fv_text_section fv_text_##name;
DECLARE(first)
SECTIONS(DECLARE)
#define ROW(name) fv_text_##name,
static fv_text_section *const sections[] = { SECTIONS(ROW) };

int fv_view_first(const struct fv_profile *v, const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(o, out);

    fv_text_first(&page, v);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}

int fv_view_where(const struct fv_profile *v, const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(o, out);
    char text[1500];

    if (fv_hang_headline(v->model, text, sizeof(text))[0])
        fv_page_item(&page, FV_RED, 0, "%s", text);
    fv_text_looks(&page, v);
    fv_text_hang(&page, v);
    fv_text_thread_waits(&page, v);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}

int fv_view_text(const struct fv_profile *v, const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(o, out);

    fv_text_first(&page, v);
    putc('\n', page.out);
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        sections[i](&page, v);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
