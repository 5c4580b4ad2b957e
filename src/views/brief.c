/* SPDX-License-Identifier: BSD-3-Clause */
#include "views/brief.h"
#include "base/shell.h"
#include "profile/fatal.h"
#include "profile/relations.h"
#include "tool/json_stream.h"
#include "tool/words.h"
#include "views/text/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_MOST 16
#define LOSSES     2   /* that are said, of what makes the report incomplete */
#define TEXT_MOST  600 /* bytes of a sentence */

struct brief {
    const struct fv_profile *v;
    const struct fv_brief_options *options;
    struct fv_tables tables;
    struct flag {                 /* an option of `fvmpi run`, ... */
        const char *text, *table; /* ... and the first table that it fills */
        size_t bytes;
        bool is_recorded;
    } flags[FLAGS_MOST];
    size_t flag_count;
    char verdict[TEXT_MOST], left[TEXT_MOST], incomplete[TEXT_MOST];
};

/* ---- what was not recorded ---- */

static size_t flag_at(struct brief *b, const char *flag, size_t bytes)
{
    for (size_t i = 0; i < b->flag_count; i++)
        if (b->flags[i].bytes == bytes && !strncmp(b->flags[i].text, flag, bytes))
            return i;
    if (b->flag_count < FLAGS_MOST)
        b->flags[b->flag_count++] = (struct flag){ .text = flag, .bytes = bytes };
    return b->flag_count - 1;
}

/* What has one row has it always, unless it may be null. */
static bool has_rows(const struct fv_relation *r, struct fv_tables *tables)
{
    const bool one = r->shape == FV_ONE;

    return (!one || r->nullable) && fv_relation_count(r, tables, NULL) && (!one || fv_relation_row(r, tables, NULL, 0));
}

/* By the option that its relation names. */
static bool list_flag(void *context, const struct fv_relation_place *place)
{
    struct brief *b = context;
    const struct fv_relation *r = place->chain[place->depth - 1];
    const char *text = r->recorded_by ? strstr(r->recorded_by, "--") : NULL;
    const size_t bytes = text ? strcspn(text, " ,=)") : 0;

    if (!text || place->depth > 1)
        return true;
    struct flag *flag = &b->flags[flag_at(b, text, bytes)];
    flag->table = flag->table ? flag->table : r->name;
    flag->is_recorded = flag->is_recorded || has_rows(r, &b->tables) || b->options->asked_for(&b->tables, text, bytes);
    return true;
}

/* Those that were in use are taken out. */
static void drop_recorded(struct brief *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->flag_count; i++)
        if (!b->flags[i].is_recorded)
            b->flags[kept++] = b->flags[i];
    b->flag_count = kept;
}

/* ---- as text ---- */

static const char *seconds(double s, char out[FV_WORD])
{
    snprintf(out, FV_WORD, "%.6g s", s);
    return out;
}

static void put_finding(FILE *out, const struct brief *b, const struct fv_finding *f)
{
    char id[FV_FINDING_ID], lost[FV_WORD], part[FV_WORD];

    fprintf(out, "finding %s: %s", fv_finding_id(b->v->findings, f, id), f->title);
    if (isfinite(f->lost_s))
        fprintf(out, ", %s, %s", seconds(f->lost_s, lost),
                fv_words_percent(f->lost_s, b->v->model->efficiency.total_s, part));
    fprintf(out, " (%s): %.*s\n", fv_evidence_words[f->evidence], TEXT_MOST, f->text);
    if (f->rank != FV_NONE || f->function)
        fputs("  at:", out);
    if (f->rank != FV_NONE)
        fprintf(out, " rank %d", b->v->model->ranks[f->rank].world_rank);
    if (f->function)
        fprintf(out, "%s %.200s", f->rank != FV_NONE ? "," : "", f->function);
    if (f->function && f->file)
        fprintf(out, " %.200s", f->file);
    if (f->function && f->file && f->line)
        fprintf(out, ":%u", f->line);
    if (f->rank != FV_NONE || f->function)
        putc('\n', out);
    if (*f->next)
        fprintf(out, "  next: %.*s\n", TEXT_MOST, f->next);
}

static void put_text(FILE *out, const struct brief *b, size_t shown)
{
    const struct fv_model *m = b->v->model;
    const struct fv_findings *f = b->v->findings;
    char part[FV_WORD], elapsed[FV_WORD];

    fprintf(out, "run: %.200s; %zu rank%s; %s\n", m->command, m->rank_count, fv_words_s(m->rank_count),
            seconds(m->elapsed_s, elapsed));
    fprintf(out, "verdict: %s\n", b->verdict);
    if (*b->incomplete)
        fprintf(out, "incomplete: %s\n", b->incomplete);
    if (isfinite(m->efficiency.parallel))
        fprintf(out, "parallel efficiency: %s\n", fv_words_percent(m->efficiency.parallel, 1, part));
    for (size_t i = 0; i < shown; i++)
        put_finding(out, b, &f->items[i]);
    if (shown < f->count)
        fprintf(out, "%zu smaller finding%s left out\n", f->count - shown, fv_words_s(f->count - shown));
    if (*b->left)
        fprintf(out, "%s\n", b->left);
    const bool of_archive = fv_model_is_of_archive(m);
    for (size_t i = 0; i < b->flag_count; i++) {
        fprintf(out, "%s%s", i ? ", " : of_archive ? "not in the archive: " : "not recorded: ", b->flags[i].table);
        if (!of_archive)
            fprintf(out, " (%.*s)", (int)b->flags[i].bytes, b->flags[i].text);
    }
    fputs(b->flag_count ? "\n" : "", out);
    if (f->count && !m->is_part)
        fprintf(out, "numbers behind a finding: %s\n", FV_COMMAND("fvmpi", "explain", "ID", m->directory));
}

/* ---- as JSON ---- */

static void put_text_or_null(struct fv_json *j, const char *key, const char *text)
{
    char cut[TEXT_MOST];

    snprintf(cut, sizeof(cut), "%s", text ? text : "");
    fv_json_string(j, key, text ? cut : NULL);
}

static void put_finding_json(struct fv_json *j, const struct brief *b, const struct fv_finding *f)
{
    char id[FV_FINDING_ID];

    fv_json_object(j, NULL);
    fv_json_string(j, "finding_id", fv_finding_id(b->v->findings, f, id));
    fv_json_string(j, "title", f->title);
    fv_json_real(j, "lost_s", f->lost_s);
    fv_json_real(j, "lost_share", f->lost_s / b->v->model->efficiency.total_s);
    fv_json_string(j, "evidence", fv_evidence_words[f->evidence]);
    if (f->rank == FV_NONE)
        fv_json_null(j, "rank");
    else
        fv_json_signed(j, "rank", b->v->model->ranks[f->rank].world_rank);
    put_text_or_null(j, "function", f->function);
    put_text_or_null(j, "file", f->file);
    if (f->line)
        fv_json_unsigned(j, "line", f->line);
    else
        fv_json_null(j, "line");
    put_text_or_null(j, "text", f->text);
    put_text_or_null(j, "next", f->next);
    fv_json_end(j);
}

static void put_json(FILE *out, const struct brief *b, size_t shown)
{
    struct fv_json json = { .out = out }, *j = &json;
    const struct fv_model *m = b->v->model;
    char flag[100];

    fv_json_object(j, NULL);
    fv_json_string(j, "schema", FV_BRIEF_SCHEMA);
    put_text_or_null(j, "command", m->command);
    fv_json_unsigned(j, "ranks", m->rank_count);
    fv_json_real(j, "elapsed_s", m->elapsed_s);
    fv_json_string(j, "verdict", b->verdict);
    put_text_or_null(j, "incomplete", *b->incomplete ? b->incomplete : NULL);
    fv_json_real(j, "parallel_efficiency", m->efficiency.parallel);
    fv_json_array(j, "findings");
    for (size_t i = 0; i < shown; i++)
        put_finding_json(j, b, &b->v->findings->items[i]);
    fv_json_end(j);
    fv_json_unsigned(j, "findings_left_out", b->v->findings->count - shown);
    put_text_or_null(j, "rest", *b->left ? b->left : NULL);
    fv_json_object(j, "not_recorded");
    for (size_t i = 0; i < b->flag_count; i++) {
        snprintf(flag, sizeof(flag), "%.*s", (int)b->flags[i].bytes, b->flags[i].text);
        fv_json_string(j, b->flags[i].table, fv_model_is_of_archive(m) ? NULL : flag);
    }
    fv_json_end(j);
    fv_json_end(j);
}

/* ---- both ---- */

static char *make(const struct brief *b, size_t shown, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);

    if (!out)
        return NULL;
    (b->options->is_json ? put_json : put_text)(out, b, shown);
    fclose(out);
    return text;
}

/* The first losses, and how many more there are. */
static void list_losses(struct brief *b)
{
    const struct fv_problems *all = &b->v->model->problems;
    size_t losses = 0;

    for (size_t i = 0; i < all->count; i++)
        if (fv_problem_is_loss(all->items[i].kind) && ++losses <= LOSSES)
            fv_words_add(b->incomplete, sizeof(b->incomplete), "%s%s%s%.200s", losses > 1 ? "; " : "",
                         all->items[i].file ? all->items[i].file : "", all->items[i].file ? ": " : "",
                         all->items[i].text);
    if (losses > LOSSES)
        fv_words_add(b->incomplete, sizeof(b->incomplete), "; and %zu more", losses - LOSSES);
}

static void fill(struct brief *b)
{
    char lines[2 * TEXT_MOST], *rest = lines;

    fv_text_verdict_words(b->v, lines, sizeof(lines));
    for (const char *line; (line = strsep(&rest, "\n"));)
        fv_words_add(b->verdict, sizeof(b->verdict), "%s%s", *b->verdict ? "; " : "", line);
    fv_findings_rest(b->v, b->left, sizeof(b->left));
    list_losses(b);
    fv_tables_init(&b->tables, b->v);
    fv_relations_visit(fv_profile_relations, list_flag, b);
    fv_tables_release(&b->tables);
    drop_recorded(b);
}

int fv_view_brief(const struct fv_profile *v, const struct fv_brief_options *options, FILE *out)
{
    struct brief *b = fv_xcalloc(1, sizeof(*b));
    size_t shown = v->findings->count, bytes = 0;
    char *text;

    b->v = v;
    b->options = options;
    fill(b);
    while ((text = make(b, shown, &bytes)) && bytes > FV_BRIEF_BYTES && shown) {
        shown--;
        free(text);
    }
    bool good = text && fwrite(text, 1, bytes, out) == bytes && !fflush(out) && !ferror(out);
    free(text);
    free(b);
    return good ? 0 : -FV_EIO;
}
