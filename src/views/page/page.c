/* SPDX-License-Identifier: BSD-3-Clause */
/* The page: one HTML file that needs nothing else. Its skeleton, styles and scripts are share/page/, which embed.py
 * makes one text of; between its two halves stand the tables of a profile, a comparison or a study of scaling: JSON,
 * compressed (gzip), as base64 in pieces.
 *
 *     [ { "schema": ..., "function": of which the page is alone, or null, "words": [TEXT...], "limits": by name,
 *         "tables": [ { "name", "title", "group", "doc", "shown", "recorded_by", "rows": in the page, "exact_rows",
 *                       "all_rows",
 *                       "columns": [ { "key", "title", "unit", "doc", "type", "kind", "estimate" } ] } ] },
 *       [ [ [VALUE...] of each column ] of each table ],
 *       { "files": ..., "left_out": ... } (page_sources.h) ]
 *
 * There are two of these: what the first screen needs, and the rest; then, of a traced run, its timeline
 * (page_timeline.h). A table is the flat form of a relation, as in CSV. Texts are numbers of words, truths 0 or 1; a
 * value that is not known is null. "type": whole, real, truth, text, reals (a list). "kind": the column that says
 * whether a value is exact; "estimate": none of the column's is. */
#include "diff/diff_relations.h"
#include "profile/findings/findings.h"
#include "profile/relations.h"
#include "scaling/alone.h"
#include "scaling/speedup.h"
#include "scaling/scaling_relations.h"
#include "scaling/speedup_relations.h"
#include "tool/json_stream.h"
#include "tool/pop.h"
#include "views/of_function.h"
#include "views/page/page_html.h"
#include "views/page/page_sources.h"
#include "views/page/page_timeline.h"
#include "views/views.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- texts, each once ---- */

struct word {
    const char *name;
};
struct words {
    struct fv_arena arena;
    struct fv_index index;
    struct word *items;
    size_t count, room;
};

static size_t word_of(struct words *w, const char *text)
{
    return FV_INTERN_NAME(w->index, w->items, w->count, w->room, &w->arena, text);
}

/* ---- a table ---- */

/* The values of a column as they come: rows are read once, and columns are written one behind the other. */
struct column {
    char *text;
    size_t bytes;
    FILE *out;
    size_t *marks; /* bytes of the first MARK rows, of twice as many, ... */
    size_t mark_count, mark_room;
};
#define MARK  256
#define EXACT 10000 /* rows; reals of those behind are rounded */
struct table {
    const struct fv_relation *relation;
    const char *group; /* NULL: none */
    struct words *words;
    struct fv_page_sources *sources; /* NULL: none of this table */
    struct fv_flat flat;
    struct fv_of_function of;
    size_t file, line; /* columns that name a line of a source file */
    struct column *columns;
    size_t rows;
    size_t kept; /* rows that the page has room for, from the first on */
    void *subject;
};

/* As a page shows it. */
static double rounded(double value)
{
    const double scale = pow(10, 2 - floor(log10(fabs(value))));

    return isnormal(scale) ? round(value * scale) / scale : value;
}

static void put_real(FILE *out, double value)
{
    char word[FV_REAL];

    fprintf(out, "%.*s", (int)fv_words_real(value, word), word);
}

static void put_reals(FILE *out, const struct fv_value *v)
{
    const double *reals = v->items;

    fputc('[', out);
    for (size_t i = 0; i < v->count; i++) {
        if (i)
            fputc(',', out);
        if (isfinite(reals[i]))
            put_real(out, reals[i]);
        else
            fputs("null", out);
    }
    fputc(']', out);
}

static void put_value(struct words *words, FILE *out, const struct fv_value *v)
{
    struct fv_string text = { 0 };

    if (v->null || (v->type == FV_TYPE_TEXT && !v->text)) {
        fputs("null", out);
        return;
    }
    switch (v->type) {
    case FV_TYPE_WHOLE: fprintf(out, "%llu", (unsigned long long)v->whole); break;
    case FV_TYPE_NUMBER: fprintf(out, "%lld", (long long)v->number); break;
    case FV_TYPE_REAL: put_real(out, v->real); break;
    case FV_TYPE_TRUTH: fputs(v->truth ? "1" : "0", out); break;
    case FV_TYPE_REALS: put_reals(out, v); break;
    case FV_TYPE_TEXT: fprintf(out, "%zu", word_of(words, v->text)); break;
    default: fprintf(out, "%zu", word_of(words, fv_flat_text(v, &text))); break;
    }
    fv_string_release(&text);
}

static void set_mark(struct column *c)
{
    FV_GROW(c->marks, c->mark_room, c->mark_count + 1);
    c->marks[c->mark_count++] = (size_t)ftello(c->out);
}

static bool take_row(void *context, const struct fv_flat_row *row)
{
    struct table *t = context;

    if (!fv_of_function_has(&t->of, t->subject, row))
        return true;
    for (size_t i = 0; i < t->flat.count; i++) {
        struct fv_value v = fv_flat_read(&t->flat.items[i], t->subject, row);

        if (t->rows >= EXACT && v.type == FV_TYPE_REAL)
            v.real = rounded(v.real);
        if (t->rows && t->rows % MARK == 0)
            set_mark(&t->columns[i]);
        if (t->rows)
            fputc(',', t->columns[i].out);
        put_value(t->words, t->columns[i].out, &v);
    }
    t->rows++;
    if (t->sources) {
        const struct fv_value file = fv_flat_read(&t->flat.items[t->file], t->subject, row),
                              line = fv_flat_read(&t->flat.items[t->line], t->subject, row);

        if (!file.null && !line.null && file.type == FV_TYPE_TEXT && line.type == FV_TYPE_WHOLE)
            fv_page_sources_add(t->sources, file.text, line.whole);
    }
    return true;
}

static const char *type_of(const struct fv_column_def *c)
{
    switch (c->type) {
    case FV_TYPE_WHOLE:
    case FV_TYPE_NUMBER: return "whole";
    case FV_TYPE_REAL: return "real";
    case FV_TYPE_TRUTH: return "truth";
    case FV_TYPE_REALS: return "reals";
    default: return "text";
    }
}

/* Tables that are compressed together. */
struct tables {
    const char *only, *but; /* names with blanks around each: these tables, or all but these; NULL: all */
    const char *function;   /* rows of it alone; NULL: all */
    struct words words;
    struct fv_page_sources sources;
    bool with_source;
    struct table *items;
    size_t count, room;
    void *subject;
    bool failed; /* no memory for a stream */
};

static bool is_among(const char *names, const char *name)
{
    char word[64];

    snprintf(word, sizeof(word), " %s ", name);
    return strstr(names, word);
}

static bool is_wanted(const struct tables *all, const char *name)
{
    return (!all->only || is_among(all->only, name)) && !(all->but && is_among(all->but, name));
}

#define OF_THE_RUN " run options problems " /* a page of one function has these, too */

/* Below which heading it stands. */
static const char *group_of(const struct fv_relation_place *place)
{
    for (size_t i = place->depth; i-- > 0;)
        if (place->chain[i]->group)
            return place->chain[i]->group;
    return fv_subject_group(place->chain[0]);
}

static bool take_table(void *context, const struct fv_relation_place *place)
{
    struct tables *all = context;
    struct table t = { .relation = place->chain[place->depth - 1],
                       .group = group_of(place),
                       .words = &all->words,
                       .subject = all->subject };

    if (!is_wanted(all, t.relation->name))
        return true;
    fv_flat_init(&t.flat, t.relation);
    fv_of_function_init(&t.of, &t.flat, is_among(OF_THE_RUN, t.relation->name) ? NULL : all->function);
    t.file = fv_flat_find(&t.flat, "file", strlen("file"));
    t.line = fv_flat_find(&t.flat, "line", strlen("line"));
    if (all->with_source && t.file != SIZE_MAX && t.line != SIZE_MAX)
        t.sources = &all->sources;
    t.columns = fv_xcalloc(t.flat.count + 1, sizeof(*t.columns));
    for (size_t i = 0; i < t.flat.count; i++)
        if (!(t.columns[i].out = open_memstream(&t.columns[i].text, &t.columns[i].bytes)))
            all->failed = true;
    if (!all->failed)
        fv_relation_each(place, all->subject, take_row, &t);
    for (size_t i = 0; i < t.flat.count; i++)
        if (t.columns[i].out && fclose(t.columns[i].out))
            all->failed = true;
    fv_of_function_release(&t.of);
    t.kept = t.rows;
    FV_GROW(all->items, all->room, all->count + 1);
    all->items[all->count++] = t;
    return !all->failed;
}

static void release(struct tables *all)
{
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->items[i].flat.count; k++) {
            free(all->items[i].columns[k].text);
            free(all->items[i].columns[k].marks);
        }
        free(all->items[i].columns);
        fv_flat_release(&all->items[i].flat);
    }
    free(all->items);
    fv_page_sources_release(&all->sources);
    free(all->words.items);
    fv_index_release(&all->words.index);
    fv_arena_release(&all->words.arena);
}

/* ---- less of them ---- */

/* Of its rows that are kept. */
static size_t column_bytes(const struct column *c, const struct table *t)
{
    return t->kept == t->rows ? c->bytes : t->kept / MARK ? c->marks[t->kept / MARK - 1] : 0;
}

static size_t table_bytes(const struct table *t)
{
    size_t bytes = 0;

    for (size_t i = 0; i < t->flat.count; i++)
        bytes += column_bytes(&t->columns[i], t);
    return bytes;
}

/* Half of the rows of the largest table go, those at its end, until the tables take no more than so many bytes. */
static void cut_to(struct tables *all, size_t most)
{
    size_t bytes = 0;

    for (size_t i = 0; i < all->count; i++)
        bytes += table_bytes(&all->items[i]);
    while (bytes > most) {
        struct table *largest = NULL;

        for (size_t i = 0; i < all->count; i++)
            if (all->items[i].kept > MARK && (!largest || table_bytes(&all->items[i]) > table_bytes(largest)))
                largest = &all->items[i];
        if (!largest)
            return;
        bytes -= table_bytes(largest);
        largest->kept = (largest->kept / 2 + MARK - 1) / MARK * MARK;
        bytes += table_bytes(largest);
    }
}

/* ---- the tables as JSON ---- */

static void describe_column(struct fv_json *j, const struct fv_flat_column *c)
{
    fv_json_object(j, NULL);
    fv_json_string(j, "key", c->key);
    fv_json_string(j, "title", c->column->title);
    fv_json_string(j, "unit", c->column->unit ? c->column->unit : "");
    fv_json_string(j, "doc", c->column->doc);
    fv_json_string(j, "type", type_of(c->column));
    fv_json_bool(j, "estimate", c->column->flags & FV_ESTIMATE);
    if (c->kind) {
        char kind[FV_KEY_BYTES];

        fv_json_string(j, "kind", fv_column_flat_key(c->kind, kind));
    }
    fv_json_end(j);
}

static void describe(struct fv_json *j, const struct table *t)
{
    const struct fv_relation *r = t->relation;

    fv_json_object(j, NULL);
    fv_json_string(j, "name", r->name);
    fv_json_string(j, "title", r->title);
    fv_json_string(j, "group", t->group);
    fv_json_string(j, "doc", r->doc);
    fv_json_string(j, "shown", r->shown);
    fv_json_string(j, "recorded_by", r->recorded_by);
    fv_json_unsigned(j, "rows", t->kept);
    fv_json_unsigned(j, "exact_rows", EXACT);
    fv_json_unsigned(j, "all_rows", t->rows);
    fv_json_array(j, "columns");
    for (size_t i = 0; i < t->flat.count; i++)
        describe_column(j, &t->flat.items[i]);
    fv_json_end(j);
    fv_json_end(j);
}

static bool put_description(const struct tables *all, const char *schema, const char *function, FILE *out)
{
    struct fv_json json = { .out = out };

    fv_json_object(&json, NULL);
    fv_json_string(&json, "schema", schema);
    fv_json_string(&json, "function", function);
    fv_json_object(&json, "limits");
    fv_json_real(&json, "good", FV_POP_GOOD);
    fv_json_string(&json, "worth", FV_FINDING_WORTH_WORDS);
    fv_json_string(&json, "off_cpu", FV_OFF_CPU_WORDS);
    fv_json_string(&json, "t1_spread", FV_T1_SPREAD_WORDS);
    fv_json_end(&json);
    fv_json_array(&json, "words");
    for (size_t i = 0; i < all->words.count; i++)
        fv_json_string(&json, NULL, all->words.items[i].name);
    fv_json_end(&json);
    fv_json_array(&json, "tables");
    for (size_t i = 0; i < all->count; i++)
        describe(&json, &all->items[i]);
    fv_json_end(&json);
    fv_json_end(&json);
    return !json.failed;
}

static void put_values(const struct tables *all, FILE *out)
{
    fputc('[', out);
    for (size_t i = 0; i < all->count; i++) {
        const struct table *t = &all->items[i];

        fputs(i ? ",[" : "[", out);
        for (size_t k = 0; k < t->flat.count; k++) {
            fputs(k ? ",[" : "[", out);
            fwrite(t->columns[k].text, 1, column_bytes(&t->columns[k], t), out);
            fputc(']', out);
        }
        fputc(']', out);
    }
    fputc(']', out);
}

/* ---- compressed, as base64 ---- */

#define PIECE (UINT32_C(6) << 20) /* bytes before base64: browsers limit what a data: address may hold */

static void put_base64(FILE *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        unsigned b =
            (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);

        fputc(digits[b >> 18], out);
        fputc(digits[b >> 12 & 63], out);
        fputc(left > 1 ? digits[b >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[b & 63] : '=', out);
    }
}

/* Scripts of a type that browsers do not run; the page's own finds them by their class. False: no memory. */
static bool put_compressed(FILE *out, const char *class, char *text, size_t bytes)
{
    z_stream z = { .next_in = (unsigned char *)text };
    unsigned char *piece = fv_xcalloc(PIECE, 1);
    size_t left = bytes;
    int status = deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); /* 16: gzip */

    for (bool more = status == Z_OK; more;) {
        z.next_out = piece;
        z.avail_out = PIECE;
        do {
            z.avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
            size_t before = z.avail_in;
            status = deflate(&z, before == left ? Z_FINISH : Z_NO_FLUSH);
            left -= before - z.avail_in;
        } while (status == Z_OK && z.avail_out);
        fprintf(out, "<script type=\"application/octet-stream\" class=\"%s\">", class);
        put_base64(out, piece, PIECE - z.avail_out);
        fputs("</script>\n", out);
        more = status == Z_OK;
    }
    deflateEnd(&z);
    free(piece);
    return status == Z_STREAM_END;
}

/* ---- the page ---- */

static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        default: fputc(*text, out);
        }
}

#define CUTS 6 /* tries to meet the limit of the page's bytes */

/* A part of the page. */
struct block {
    char *text;
    size_t bytes, raw; /* raw: before it was compressed */
};

/* What a page is made of. */
struct page {
    const char *schema;
    const char *first; /* tables of the first screen, which is drawn before the others are read; with blanks around
                        * each */
    const struct fv_relation *const *relations;
    void *subject;                                                                 /* of them */
    int (*text)(const void *of, const struct fv_text_options *options, FILE *out); /* for who reads without scripts */
    const void *of;
    const struct fv_page_options *options;
    const struct fv_profile *traced; /* whose calls, messages and samples are drawn over time; NULL: none */
    int64_t run_began_s;             /* source files that changed since are not what ran */
};

static int put_text(const struct page *page, FILE *out)
{
    const struct fv_text_options plain = { .width = 110, .top = 10, .brief = true };
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    int err = stream ? page->text(page->of, &plain, stream) : -FV_EIO;

    if (stream && fclose(stream))
        err = -FV_EIO;
    if (!err)
        put_escaped(out, text);
    free(text);
    return err;
}

static bool put_json(const struct tables *all, const struct page *page, FILE *out)
{
    fputc('[', out);
    bool written = put_description(all, page->schema, page->options->function, out);
    fputc(',', out);
    put_values(all, out);
    fputc(',', out);
    written &= fv_page_sources_put(&all->sources, &page->options->place, page->run_began_s, out);
    fputc(']', out);
    return written;
}

/* Tables as the page's scripts read them, or the timeline (NULL), compressed. */
static int squeeze(const struct tables *all, const struct page *page, const char *class, struct block *block)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, &block->raw), *out = NULL;
    bool written = stream && (all ? !all->failed && put_json(all, page, stream)
                                  : fv_page_timeline_put(page->traced, page->options->waits, stream));

    free(block->text);
    *block = (struct block){ .raw = block->raw };
    written &= stream && !fclose(stream);
    written =
        written && (out = open_memstream(&block->text, &block->bytes)) && put_compressed(out, class, text, block->raw);
    written &= out && !fclose(out);
    free(text);
    return written ? 0 : -FV_EIO;
}

/* Tables lose rows at their ends until the block takes no more than so many bytes. */
static int squeeze_to(struct tables *all, const struct page *page, const char *class, size_t most, struct block *block)
{
    int err = squeeze(all, page, class, block);

    for (unsigned tries = 0; !err && block->bytes > most && tries < CUTS; tries++) {
        cut_to(all, (size_t)((double)block->raw * (double)most / (double)block->bytes * 0.95));
        err = squeeze(all, page, class, block);
    }
    return err;
}

static bool has_timeline(const struct fv_trace_excerpt *t)
{
    return t->call_count || t->sample_count || t->span_count;
}

static int put_blocks(const struct page *page, FILE *out)
{
    const struct fv_page_options *options = page->options;
    struct tables first = { .subject = page->subject, .only = page->first, .function = options->function }, rest = {
        .subject = page->subject, .but = page->first, .function = options->function, .with_source = !options->no_source
    };
    struct block a = { 0 }, b = { 0 }, timeline = { 0 };
    size_t most = options->max_bytes ? options->max_bytes : FV_PAGE_BYTES,
           own = fv_page_head_bytes + fv_page_tail_bytes;

    fv_relations_visit(page->relations, take_table, &first);
    fv_relations_visit(page->relations, take_table, &rest);
    int err = squeeze(&first, page, "first data", &a);
    if (!err && page->traced && has_timeline(&page->traced->model->excerpt))
        err = squeeze(NULL, page, "timeline", &timeline);
    own += a.bytes + timeline.bytes;
    if (!err)
        err = squeeze_to(&rest, page, "data", most > own ? most - own : 0, &b);
    if (!err) {
        fwrite(a.text, 1, a.bytes, out);
        fwrite(b.text, 1, b.bytes, out);
        if (timeline.bytes) /* there is no text where there is no trace */
            fwrite(timeline.text, 1, timeline.bytes, out);
    }
    release(&first);
    release(&rest);
    free(a.text);
    free(b.text);
    free(timeline.text);
    return err;
}

static int put_page(const struct page *page, FILE *out)
{
    fwrite(fv_page_head, 1, fv_page_head_bytes, out);
    fputs("<pre id=\"first\">", out);
    int err = put_text(page, out);
    fputs("</pre>\n", out);
    if (!err)
        err = put_blocks(page, out);
    if (!err)
        fwrite(fv_page_tail, 1, fv_page_tail_bytes, out);
    return err || ferror(out) ? -FV_EIO : 0;
}

static int profile_text(const void *of, const struct fv_text_options *options, FILE *out)
{
    return fv_view_first(of, options, out);
}

struct of_function {
    const struct fv_profile *view;
    const char *function;
};

static int function_text(const void *of, const struct fv_text_options *options, FILE *out)
{
    const struct of_function *f = of;

    fprintf(out, "This page is of %s alone.\n\n", f->function);
    return fv_view_function(f->view, f->function, options, false, out);
}

int fv_view_page(const struct fv_profile *view, const struct fv_page_options *options, FILE *out)
{
    struct fv_tables subject;

    fv_tables_init(&subject, view);
    struct of_function of = { view, options->function };
    struct page page = { FV_PROFILE_SCHEMA,
                         " run options findings efficiency ranks problems ",
                         fv_profile_relations,
                         &subject,
                         profile_text,
                         view,
                         options,
                         view,
                         view->model->origin_ns / 1000000000 };

    if (options->function) {
        page.text = function_text;
        page.of = &of;
        page.traced = NULL;
    }
    int err = put_page(&page, out);

    fv_tables_release(&subject);
    return err;
}

static const struct fv_page_options without_source = { .no_source = true };

static int diff_text(const void *of, const struct fv_text_options *options, FILE *out)
{
    return fv_diff_text(of, options, out);
}

int fv_diff_page(const struct fv_diff *diff, FILE *out)
{
    struct fv_diff_tables subject = { .diff = diff };
    int err = put_page(&(struct page){ FV_DIFF_SCHEMA,
                                       " comparison problems runs_a runs_b run_changes entries mpi_functions ",
                                       fv_diff_relations, &subject, diff_text, diff, &without_source, NULL, 0 },
                       out);

    fv_diff_tables_release(&subject);
    return err;
}

static int scaling_text(const void *of, const struct fv_text_options *options, FILE *out)
{
    return fv_scaling_text(of, options, out);
}

int fv_scaling_page(const struct fv_scaling *scaling, FILE *out)
{
    struct fv_scaling_tables subject = { .scaling = scaling };

    return put_page(&(struct page){ FV_SCALING_SCHEMA, " scaling points runs parts problems ", fv_scaling_relations,
                                    &subject, scaling_text, scaling, &without_source, NULL, 0 },
                    out);
}

static int speedup_text(const void *of, const struct fv_text_options *options, FILE *out)
{
    return fv_speedup_text(of, options, out);
}

int fv_speedup_page(const struct fv_speedup *speedup, FILE *out)
{
    struct fv_speedup_tables subject = { .speedup = speedup };

    return put_page(&(struct page){ FV_STACKS_SCHEMA,
                                    " speedups stacks curves throughputs shares throughput_curve runs ",
                                    fv_speedup_relations, &subject, speedup_text, speedup, &without_source, NULL, 0 },
                    out);
}
