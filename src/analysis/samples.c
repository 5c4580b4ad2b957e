/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples.h. A line's samples are in blocks of a line of their own, behind those of the steps. */
#include "analysis/samples.h"
#include "merge/sample_log.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct fv_sample) <= sizeof(struct fv_step), "a sample has the room of a step");

struct joining {
    struct fv_steps *steps;
    const struct fv_merge *merge;
    struct fv_tallies *out;
    struct fv_sample_stats *stats;
    const struct fv_merge_file *file;
    uint32_t rank; /* in fv_defs.ranks */
    /* The line, and where on it the samples have come to: */
    uint32_t line, step;
    uint32_t piece; /* of the clock's line */
};

static uint32_t line_of_samples(const struct fv_steps *steps, uint32_t line)
{
    return steps->line_count + 1 + line;
}

static const struct fv_sample *sample_at(const struct fv_steps *steps, uint32_t line, uint32_t number)
{
    return (const struct fv_sample *)(const void *)fv_step(steps, line_of_samples(steps, line), number);
}

/* ---- where a sample is ---- */

/* The first call that is not over by then. */
static void go_to(struct joining *j, uint64_t ns)
{
    uint32_t from = j->step;

    while (j->step < j->steps->lines[j->line].count && fv_step_end(j->steps, fv_step(j->steps, j->line, j->step)) <= ns)
        j->step = fv_call_behind(j->steps, j->line, j->step);
    fv_steps_visited(j->steps, j->step - from);
}

static void keep(struct joining *j, const struct fv_sample *sample)
{
    struct fv_step *room = fv_steps_add(j->steps, line_of_samples(j->steps, j->line));

    if (!room)
        return;
    memcpy(room, sample, sizeof(*sample));
    fv_step(j->steps, j->line, j->step)->flags |= FV_STEP_SAMPLED;
}

static void join(struct joining *j, uint64_t ns, uint32_t node, uint64_t cpu_ns)
{
    const struct fv_step_line *line = &j->steps->lines[j->line];
    struct fv_sample sample = { .ns = ns, .node = node, .cpu_ns = cpu_ns };
    uint32_t site = FV_NONE;

    go_to(j, sample.ns);
    sample.step = j->step;
    if (j->step < line->count) {
        const struct fv_step *s = fv_step(j->steps, j->line, j->step);

        if (s->begin <= sample.ns) {
            j->stats->elsewhere++;
            return;
        }
        site = fv_step_site(s);
        keep(j, &sample);
    }
    j->stats->count++;
    j->stats->cpu_ns += cpu_ns;
    fv_tallies_add(j->out, &(struct fv_tally){
                               .what = FV_TALLY_COMPUTED,
                               .site = site,
                               .rank = j->rank,
                               .kind = node,
                               .other_site = j->step ? fv_step_site(fv_step(j->steps, j->line, j->step - 1)) : FV_NONE,
                               .count = 1,
                               .ns = cpu_ns });
}

/* ---- the log ---- */

static uint64_t time_of(struct joining *j, uint64_t ticks)
{
    int64_t ns = fv_clock_ns(&j->merge->clocks.lines[j->merge->clocks.of_rank[j->rank]], ticks, &j->piece);

    return ns > 0 ? (uint64_t)ns : 0;
}

static void take_thread(struct joining *j, uint32_t thread)
{
    struct fv_logged_samples log;

    fv_logged_samples_open(&log, j->file->reader, &j->file->map, &j->merge->defs.ranks[j->rank], thread);
    for (struct fv_logged_sample r; fv_logged_samples_next(&log, &r);)
        if ((int64_t)(r.ticks - j->merge->defs.ranks[j->rank].last_ticks) > 0)
            j->stats->elsewhere++;
        else
            join(j, time_of(j, r.ticks), r.path, r.cpu_ns);
    j->stats->damaged += log.damaged;
    j->stats->elsewhere += log.behind;
    fv_logged_samples_close(&log);
}

/* ---- another source ---- */

static void take_sample(void *context, const struct fv_source_sample *sample)
{
    struct joining *j = (struct joining *)context + sample->slot;

    if (sample->is_behind)
        j->stats->elsewhere++;
    else if (j->steps->lines[j->line].count)
        join(j, sample->time_ns, sample->node, sample->cpu_ns);
}

static void take_rank(struct fv_steps *steps, const struct fv_merge *m, size_t file, struct fv_tallies *out,
                      struct fv_sample_stats *stats)
{
    uint32_t rank = m->files[file].rank, threads = m->defs.ranks[rank].thread_count;
    struct joining *j = fv_xcalloc((size_t)threads + 1, sizeof(*j));

    for (uint32_t i = 0; i < threads; i++)
        j[i] = (struct joining){
            .steps = steps, .merge = m, .out = out, .stats = stats, .rank = rank, .line = steps->first_line[rank] + i
        };
    if (!m->source->samples(m, file, take_sample, j))
        stats->by_regions++;
    free(j);
}

/* Threads that make no calls are in no region. */
void fv_samples_collect(struct fv_steps *steps, const struct fv_merge *m, struct fv_tallies *out,
                        struct fv_sample_stats *stats)
{
    for (size_t i = 0; i < m->file_count; i++) {
        const struct fv_merge_file *f = &m->files[i];
        const struct fv_def_rank *rank = &m->defs.ranks[f->rank];

        if (m->source->samples) {
            take_rank(steps, m, i, out, stats);
            continue;
        }
        stats->lost += rank->dropped_samples;
        for (uint32_t slot = 0; slot < rank->thread_count; slot++) {
            struct joining j = { .steps = steps, .merge = m, .out = out, .stats = stats, .file = f, .rank = f->rank };

            j.line = steps->first_line[f->rank] + slot;
            if (steps->lines[j.line].count)
                take_thread(&j, rank->threads[slot]);
        }
    }
}

/* ---- no more than so many ---- */

#define MOST  (1u << 20) /* of a kind, over all ranks */
#define LEAST 64         /* of a rank */

static bool is_of_samples(const struct fv_tally *t)
{
    return t->what == FV_TALLY_COMPUTED || t->what == FV_TALLY_CRITICAL_AT || t->what == FV_TALLY_DELAY_AT;
}

/* By kind and rank, the largest first. */
static int by_size(const void *a, const void *b)
{
    const struct fv_tally *x = *(const struct fv_tally *const *)a, *y = *(const struct fv_tally *const *)b;
    uint64_t p = (uint64_t)llabs((int64_t)x->ns), q = (uint64_t)llabs((int64_t)y->ns);
    const uint32_t key[2][5] = { { x->what, x->rank, x->site, x->kind, x->other_site },
                                 { y->what, y->rank, y->site, y->kind, y->other_site } };

    for (unsigned i = 0; i < 5; i++) {
        if (i == 2 && p != q)
            return p > q ? -1 : 1;
        if (key[0][i] != key[1][i])
            return key[0][i] < key[1][i] ? -1 : 1;
    }
    return 0;
}

void fv_samples_thin(struct fv_tallies *tallies, uint32_t ranks)
{
    const size_t most = ranks && MOST / ranks > LEAST ? MOST / ranks : LEAST;
    const struct fv_tally **order = fv_xcalloc(tallies->count + 1, sizeof(*order)), *of = NULL;
    struct fv_tallies thin = { 0 };
    size_t count = 0, place = 0;

    for (size_t i = 0; i < tallies->count; i++)
        if (is_of_samples(&tallies->items[i]))
            order[count++] = &tallies->items[i];
        else
            fv_tallies_add(&thin, &tallies->items[i]);
    qsort(order, count, sizeof(*order), by_size);
    for (size_t i = 0; i < count; i++) {
        struct fv_tally t = *order[i];

        place = of && of->what == t.what && of->rank == t.rank ? place + 1 : 0;
        of = order[i];
        t.kind = place < most ? t.kind : 0;
        fv_tallies_add(&thin, &t);
    }
    free(order);
    fv_tallies_release(tallies);
    *tallies = thin;
}

/* ---- to be met along the steps ---- */

struct fv_sample_cursor fv_samples_before(const struct fv_steps *steps, uint32_t line, uint32_t step)
{
    uint32_t low = 0, high = steps->lines[line_of_samples(steps, line)].count;

    if (!(fv_step(steps, line, step)->flags & FV_STEP_SAMPLED))
        low = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sample_at(steps, line, middle)->step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct fv_sample_cursor){ steps, line, step, low };
}

const struct fv_sample *fv_sample_next(struct fv_sample_cursor *c)
{
    if (c->next >= c->steps->lines[line_of_samples(c->steps, c->line)].count)
        return NULL;
    const struct fv_sample *s = sample_at(c->steps, c->line, c->next);
    if (s->step != c->step)
        return NULL;
    fv_steps_visited(c->steps, 1);
    c->next++;
    return s;
}
