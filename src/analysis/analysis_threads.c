/* SPDX-License-Identifier: BSD-3-Clause */
/* See analysis_threads.h. */
#include "analysis/analysis_threads.h"
#include "merge/threads.h"

#include <stdlib.h>

#define LISTED 1000 /* rows of a list that could be long */

/* Of a thread, a rank, or all. */
struct waits {
    uint64_t count, ns, kind_count[FV_TW_COUNT], kind_ns[FV_TW_COUNT];
    uint64_t caused_ns; /* waiting of others for it */
    uint64_t mpi_ns;    /* waiting in MPI that its waiting for locks is charged with */
};

struct sums {
    struct waits all, *ranks, *lines;
};

struct writer {
    const struct fv_analysis *a;
    struct fv_json *json;
    struct fv_path *path;
};

static void add_tally(struct sums *s, const struct fv_tally *t)
{
    switch ((enum fv_tally_what)t->what) {
    case FV_TALLY_THREAD_LINE: {
        struct waits *w = &s->lines[t->rank];

        w->count += t->count;
        w->ns += t->ns;
        w->kind_count[t->kind] += t->count;
        w->kind_ns[t->kind] += t->ns;
        break;
    }
    case FV_TALLY_THREAD_CAUSE: s->lines[t->rank].caused_ns += t->ns; break;
    case FV_TALLY_DIRECT:
    case FV_TALLY_PROPAGATED: s->ranks[t->rank].mpi_ns += t->kind == FV_FOR_LOCKS ? t->ns : 0; break;
    default: break;
    }
}

static void add_waits(struct waits *to, const struct waits *from)
{
    to->count += from->count;
    to->ns += from->ns;
    to->mpi_ns += from->mpi_ns;
    for (unsigned i = 0; i < FV_TW_COUNT; i++) {
        to->kind_count[i] += from->kind_count[i];
        to->kind_ns[i] += from->kind_ns[i];
    }
}

static struct sums sum_up(const struct fv_analysis *a)
{
    uint32_t ranks = (uint32_t)a->merge->defs.rank_count;
    struct sums s = { .ranks = fv_xcalloc((size_t)ranks + 1, sizeof(*s.ranks)),
                      .lines = fv_xcalloc((size_t)a->steps.line_count + 1, sizeof(*s.lines)) };

    for (size_t i = 0; i < a->tallies.count; i++)
        add_tally(&s, &a->tallies.items[i]);
    for (uint32_t i = 0; i < a->steps.line_count; i++)
        add_waits(&s.ranks[a->steps.lines[i].rank], &s.lines[i]);
    for (uint32_t i = 0; i < ranks; i++)
        add_waits(&s.all, &s.ranks[i]);
    return s;
}

/* ---- pieces ---- */

static void put_seconds(struct writer *w, const char *key, uint64_t ns)
{
    fv_json_real(w->json, key, (double)ns / 1e9);
}

static void put_rank(struct writer *w, const char *key, uint32_t rank)
{
    fv_json_unsigned(w->json, key, w->a->merge->defs.ranks[rank].world_rank);
}

static void put_waits(struct writer *w, const struct waits *waits)
{
    fv_json_unsigned(w->json, "count", waits->count);
    put_seconds(w, "wait_s", waits->ns);
    fv_json_object(w->json, "kinds");
    for (unsigned i = 1; i < FV_TW_COUNT; i++)
        if (waits->kind_count[i])
            put_seconds(w, fv_thread_wait_names[i], waits->kind_ns[i]);
    fv_json_end(w->json);
}

static void put_threads(struct writer *w, const struct sums *s, uint32_t rank)
{
    uint32_t first = w->a->steps.first_line[rank];

    fv_json_array(w->json, "threads");
    for (uint32_t line = first; line < w->a->steps.first_line[rank + 1]; line++) {
        const struct waits *of = &s->lines[line];

        if (!of->count && !of->caused_ns)
            continue;
        fv_json_object(w->json, NULL);
        fv_json_unsigned(w->json, "thread", line - first);
        put_waits(w, of);
        put_seconds(w, "caused_s", of->caused_ns);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
}

static void put_ranks(struct writer *w, const struct sums *s)
{
    fv_json_array(w->json, "ranks");
    for (uint32_t i = 0; i < w->a->merge->defs.rank_count; i++) {
        if (!w->a->merge->defs.ranks[i].thread_objects)
            continue;
        fv_json_object(w->json, NULL);
        put_rank(w, "rank", i);
        put_waits(w, &s->ranks[i]);
        put_seconds(w, "mpi_wait_s", s->ranks[i].mpi_ns);
        put_threads(w, s, i);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
}

/* ---- lists, largest first ---- */

static int by_ns(const void *a, const void *b)
{
    const struct fv_tally *x = *(const struct fv_tally *const *)a, *y = *(const struct fv_tally *const *)b;

    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x > y) - (x < y); /* the order of keys */
}

static void put_wait(struct writer *w, const struct fv_tally *t)
{
    const struct fv_lock_names *names = &w->a->merge->locks;

    fv_json_string(w->json, "kind", fv_thread_wait_names[t->kind & 255]);
    fv_json_string(w->json, "function", w->a->merge->defs.functions[t->kind >> 8].name);
    fv_json_unsigned(w->json, "lock", t->other_site);
    fv_json_string(w->json, "lock_name", t->other_site < names->count ? names->items[t->other_site].name : NULL);
    put_rank(w, "rank", t->rank);
    fv_json_path(w->json, &w->a->merge->contexts.symbols, w->path, t->site);
}

static void put_mpi_wait(struct writer *w, const struct fv_tally *t)
{
    put_rank(w, "rank", t->rank);
    put_rank(w, "cause_rank", t->other_rank);
}

static void put_list(struct writer *w, enum fv_tally_what what, const char *key, const char *left_out,
                     void (*put)(struct writer *w, const struct fv_tally *t))
{
    const struct fv_tallies *all = &w->a->tallies;
    const struct fv_tally **order = fv_xcalloc(all->count + 1, sizeof(*order));
    size_t count = 0;
    struct fv_tally rest = { 0 };

    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].what == (uint32_t)what)
            order[count++] = &all->items[i];
    qsort(order, count, sizeof(*order), by_ns);
    fv_json_array(w->json, key);
    for (size_t i = 0; i < count && i < LISTED; i++) {
        fv_json_object(w->json, NULL);
        put(w, order[i]);
        fv_json_unsigned(w->json, "count", order[i]->count);
        put_seconds(w, "wait_s", order[i]->ns);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
    for (size_t i = LISTED; i < count; i++) {
        rest.count += order[i]->count;
        rest.ns += order[i]->ns;
    }
    fv_json_object(w->json, left_out);
    fv_json_unsigned(w->json, "count", rest.count);
    put_seconds(w, "wait_s", rest.ns);
    fv_json_end(w->json);
    free(order);
}

/* ---- all of it ---- */

void fv_analysis_put_threads(const struct fv_analysis *a, struct fv_json *json, struct fv_path *path)
{
    struct writer w = { a, json, path };

    if (!fv_defs_has_threads(&a->merge->defs)) {
        fv_json_null(json, "threads");
        return;
    }
    struct sums s = sum_up(a);
    fv_json_object(json, "threads");
    fv_json_unsigned(json, "count", s.all.count);
    put_seconds(&w, "wait_s", s.all.ns);
    put_seconds(&w, "mpi_wait_s", s.all.mpi_ns);
    fv_json_array(json, "kinds");
    for (unsigned i = 1; i < FV_TW_COUNT; i++) {
        if (!s.all.kind_count[i])
            continue;
        fv_json_object(json, NULL);
        fv_json_string(json, "kind", fv_thread_wait_names[i]);
        fv_json_unsigned(json, "count", s.all.kind_count[i]);
        put_seconds(&w, "wait_s", s.all.kind_ns[i]);
        fv_json_end(json);
    }
    fv_json_end(json);
    put_ranks(&w, &s);
    put_list(&w, FV_TALLY_THREAD_SITE, "waits", "waits_left_out", put_wait);
    put_list(&w, FV_TALLY_FOR_LOCKS, "mpi_waits", "mpi_waits_left_out", put_mpi_wait);
    fv_json_end(json);
    free(s.ranks);
    free(s.lines);
}
