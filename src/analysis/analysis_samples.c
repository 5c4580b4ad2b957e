/* SPDX-License-Identifier: BSD-3-Clause */
/* See analysis_samples.h. The tallies are of call paths; here they become those of procedures: self, of the program's
 * innermost one on the path (fv_path_own()), so that what it calls in libraries is its own; total, of that and of all
 * that called it, each once. */
#include "analysis/analysis_samples.h"

#include <stdlib.h>

#define LISTED  1000  /* procedures */
#define REGIONS 10000 /* a report takes them if they are all */
#define LINES   8     /* of a procedure */

struct name {
    const char *name;
};

struct procedure {
    uint32_t function, file; /* names; "" is not known */
};

/* Where a sample was taken. */
struct place {
    size_t first, count; /* procedures, the innermost first; 0: it was not looked at */
    uint32_t line;       /* of the innermost one */
};

struct sums {
    uint64_t count, cpu_ns, critical_ns;
    int64_t delay_ns; /* below 0: others took longer there */
};
struct row {
    uint32_t rank, site, function, file; /* its key */
    struct sums self, total;
    size_t first_line, lines; /* in order */
};
struct line {
    uint32_t row, line; /* its key */
    struct sums sums;
};
struct region {
    uint32_t rank, from, site, function, file; /* its key */
    struct sums sums;
};

struct writer {
    const struct fv_analysis *a;
    struct fv_json *json;
    struct fv_path *path;
    struct fv_arena arena;
    uint8_t *code;        /* by module: enum fv_code */
    struct place *places; /* by node */
    struct procedure *procedures;
    size_t procedure_count, procedure_room;
    struct name *names;
    size_t name_count, name_room;
    struct row *rows;
    size_t row_count, row_room;
    struct line *lines;
    size_t line_count, line_room;
    struct region *regions;
    size_t region_count, region_room;
    struct fv_index name_index, row_index, line_index, region_index;
};

/* ---- where a sample was taken ---- */

static uint8_t *code_of_modules(const struct fv_analysis *a)
{
    const struct fv_defs *d = &a->merge->defs;
    uint8_t *code = fv_contexts_code(d);

    for (uint32_t i = 0; i < a->sites.count; i++)
        fv_code_calls_mpi(code, d->tree.modules, d->tree.nodes[a->sites.items[i].node].module);
    return code;
}

static uint32_t name_of(struct writer *w, const char *name)
{
    return FV_INTERN_NAME(w->name_index, w->names, w->name_count, w->name_room, &w->arena, name ? name : "");
}

/* Once, in recursion too. */
static void add_procedure(struct writer *w, struct place *p, const struct fv_frame *f)
{
    char label[512];
    const char *name = f ? fv_frame_function_label(f, &w->a->merge->contexts.symbols, label, sizeof(label)) : NULL;
    struct procedure of = { name_of(w, name), name_of(w, f ? f->file : NULL) };

    for (size_t i = p->first; i < p->first + p->count; i++)
        if (w->procedures[i].function == of.function && w->procedures[i].file == of.file)
            return;
    FV_GROW(w->procedures, w->procedure_room, w->procedure_count + 1);
    w->procedures[w->procedure_count++] = of;
    p->count++;
}

static const struct place *place_of(struct writer *w, uint32_t node)
{
    struct place *p = &w->places[node];
    const struct fv_frame *frames;
    size_t i;

    if (p->count)
        return p;
    fv_path_of(w->path, &w->a->merge->contexts.symbols, node);
    frames = w->path->frames;
    i = fv_path_own(w->path, w->code);
    i = i < w->path->count ? i : 0;
    *p = (struct place){ .first = w->procedure_count, .line = w->path->count ? frames[i].line : 0 };
    for (; i < w->path->count; i++)
        add_procedure(w, p, &frames[i]);
    if (!p->count)
        add_procedure(w, p, NULL);
    return p;
}

/* ---- sums ---- */

static void add(struct sums *s, const struct fv_tally *t)
{
    switch ((enum fv_tally_what)t->what) {
    case FV_TALLY_COMPUTED:
        s->count += t->count;
        s->cpu_ns += t->ns;
        break;
    case FV_TALLY_CRITICAL_AT: s->critical_ns += t->ns; break;
    case FV_TALLY_DELAY_AT: s->delay_ns += (int64_t)t->ns; break;
    default: break;
    }
}

static struct row *row_of(struct writer *w, const struct fv_tally *t, const struct procedure *p)
{
    return FV_INTERNED(w->row_index, w->rows, w->row_count, w->row_room,
                       (uint32_t[]){ t->rank, t->site, p->function, p->file });
}

static void add_tally(struct writer *w, const struct fv_tally *t)
{
    const struct place *place = place_of(w, t->kind);
    const struct procedure *p = &w->procedures[place->first];
    struct row *self = row_of(w, t, p);
    uint32_t row = (uint32_t)(self - w->rows);

    add(&self->self, t);
    for (size_t i = 0; i < place->count; i++)
        add(&row_of(w, t, p + i)->total, t);
    add(&FV_INTERNED(w->line_index, w->lines, w->line_count, w->line_room, (uint32_t[]){ row, place->line })->sums, t);
    if (t->what == FV_TALLY_COMPUTED)
        add(&FV_INTERNED(w->region_index, w->regions, w->region_count, w->region_room,
                         (uint32_t[]){ t->rank, t->other_site, t->site, p->function, p->file })
                 ->sums,
            t);
}

static bool is_ours(const struct fv_tally *t)
{
    return t->what == FV_TALLY_COMPUTED || t->what == FV_TALLY_CRITICAL_AT || t->what == FV_TALLY_DELAY_AT;
}

/* ---- order: what was lost by it, else how long it was ---- */

static int by_sums(const struct sums *x, const struct sums *y)
{
    int64_t p = x->delay_ns > 0 ? x->delay_ns : 0, q = y->delay_ns > 0 ? y->delay_ns : 0;

    if (p != q)
        return p > q ? -1 : 1;
    if (x->critical_ns != y->critical_ns)
        return x->critical_ns > y->critical_ns ? -1 : 1;
    return (x->cpu_ns < y->cpu_ns) - (x->cpu_ns > y->cpu_ns);
}

static int lines_in_order(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = x->row != y->row ? (x->row < y->row ? -1 : 1) : by_sums(&x->sums, &y->sums);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Rows were made in the order of the tallies' keys, which their own is not. */
static int by_key(const uint32_t *x, const uint32_t *y, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int rows_in_order(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = by_sums(&x->total, &y->total);

    order = order ? order : by_sums(&x->self, &y->self);
    return order ? order : by_key(&x->rank, &y->rank, 4);
}

static int regions_in_order(const void *a, const void *b)
{
    const struct region *x = a, *y = b;

    if (x->sums.cpu_ns != y->sums.cpu_ns)
        return x->sums.cpu_ns > y->sums.cpu_ns ? -1 : 1;
    return by_key(&x->rank, &y->rank, 5);
}

static void put_in_order(struct writer *w)
{
    if (!w->line_count)
        return;
    qsort(w->lines, w->line_count, sizeof(*w->lines), lines_in_order);
    for (size_t i = 0; i < w->line_count; i++) {
        struct row *r = &w->rows[w->lines[i].row];

        r->first_line = r->lines++ ? r->first_line : i;
    }
    qsort(w->rows, w->row_count, sizeof(*w->rows), rows_in_order);
    if (w->region_count)
        qsort(w->regions, w->region_count, sizeof(*w->regions), regions_in_order);
}

/* ---- JSON ---- */

static void put_seconds(struct writer *w, const char *key, uint64_t ns)
{
    fv_json_real(w->json, key, (double)ns / 1e9);
}

static void put_name(struct writer *w, const char *key, uint32_t name)
{
    fv_json_string(w->json, key, *w->names[name].name ? w->names[name].name : NULL);
}

static void put_site(struct writer *w, const char *key, uint32_t site)
{
    fv_json_unsigned(w->json, key, site == FV_NONE ? 0 : (uint64_t)site + 1);
}

static void put_sums(struct writer *w, const struct sums *s)
{
    fv_json_unsigned(w->json, "count", s->count);
    put_seconds(w, "cpu_s", s->cpu_ns);
    put_seconds(w, "delay_s", s->delay_ns > 0 ? (uint64_t)s->delay_ns : 0);
    put_seconds(w, "critical_s", s->critical_ns);
}

static void put_row(struct writer *w, const struct row *r)
{
    fv_json_object(w->json, NULL);
    fv_json_unsigned(w->json, "rank", w->a->merge->defs.ranks[r->rank].world_rank);
    put_site(w, "callsite", r->site);
    put_name(w, "function", r->function);
    put_name(w, "file", r->file);
    put_sums(w, &r->self);
    fv_json_object(w->json, "total");
    put_sums(w, &r->total);
    fv_json_end(w->json);
    fv_json_array(w->json, "lines");
    for (size_t i = 0; i < r->lines && i < LINES; i++) {
        const struct line *line = &w->lines[r->first_line + i];

        fv_json_object(w->json, NULL);
        if (line->line)
            fv_json_unsigned(w->json, "line", line->line);
        else
            fv_json_null(w->json, "line");
        put_sums(w, &line->sums);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
    fv_json_end(w->json);
}

static void put_region(struct writer *w, const struct region *r)
{
    fv_json_object(w->json, NULL);
    fv_json_unsigned(w->json, "rank", w->a->merge->defs.ranks[r->rank].world_rank);
    put_site(w, "from_callsite", r->from);
    put_site(w, "callsite", r->site);
    put_name(w, "function", r->function);
    put_name(w, "file", r->file);
    fv_json_unsigned(w->json, "count", r->sums.count);
    put_seconds(w, "cpu_s", r->sums.cpu_ns);
    fv_json_end(w->json);
}

static void put_all(struct writer *w)
{
    const struct fv_sample_stats *s = &w->a->samples;

    fv_json_object(w->json, "samples");
    fv_json_unsigned(w->json, "count", s->count);
    put_seconds(w, "cpu_s", s->cpu_ns);
    fv_json_unsigned(w->json, "elsewhere", s->elsewhere);
    fv_json_unsigned(w->json, "lost", s->lost);
    fv_json_unsigned(w->json, "damaged", s->damaged);
    fv_json_bool(w->json, "by_regions", s->by_regions);
    fv_json_array(w->json, "procedures");
    for (size_t i = 0; i < w->row_count && i < LISTED; i++)
        put_row(w, &w->rows[i]);
    fv_json_end(w->json);
    fv_json_array(w->json, "regions");
    for (size_t i = 0; i < w->region_count && i < REGIONS; i++)
        put_region(w, &w->regions[i]);
    fv_json_end(w->json);
    fv_json_end(w->json);
}

static void release(struct writer *w)
{
    free(w->code);
    free(w->places);
    free(w->procedures);
    free(w->names);
    free(w->rows);
    free(w->lines);
    free(w->regions);
    fv_index_release(&w->name_index);
    fv_index_release(&w->row_index);
    fv_index_release(&w->line_index);
    fv_index_release(&w->region_index);
    fv_arena_release(&w->arena);
}

void fv_analysis_put_samples(const struct fv_analysis *a, struct fv_json *json, struct fv_path *path)
{
    struct writer w = { .a = a, .json = json, .path = path };

    if (!(a->samples.count | a->samples.elsewhere | a->samples.lost | a->samples.damaged)) {
        fv_json_null(json, "samples");
        return;
    }
    w.code = code_of_modules(a);
    w.places = fv_xcalloc(a->merge->defs.tree.node_count + 1, sizeof(*w.places));
    for (size_t i = 0; i < a->tallies.count; i++)
        if (is_ours(&a->tallies.items[i]))
            add_tally(&w, &a->tallies.items[i]);
    put_in_order(&w);
    put_all(&w);
    release(&w);
}
