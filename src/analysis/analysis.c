/* SPDX-License-Identifier: BSD-3-Clause */
/* See analysis.h. */
#include "analysis/analysis.h"

#include "base/now.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECES_MAX          65536
#define BATCH_ITEMS         65536 /* about: what so many are matched with stays in the caches */
#define ITEM_EVENT_BYTES    10    /* events that tell one, in a rank file */
#define RANK_EVENT_BYTES    4096  /* of a rank that are worth going to it */
#define STEPS_PART(memory)  ((memory)*3 / 4)
#define WINDOW_PART(memory) ((memory) / 8) /* of the graph: the first process has all windows, beside its steps */
#define NAMED_RANKS         64             /* up to so many, causes are told for each waiting rank */

/* ---- collecting and matching ---- */

struct collecting {
    struct fv_analysis *a;
    const struct fv_analysis_options *options;
    struct fv_collect collect;
    struct fv_match *match;
    struct fv_rank_collect **ranks; /* by file of this process */
    void **records;                 /* of the source, likewise */
    struct fv_location_stats **locations;
    struct fv_rank_collect **of_rank; /* by index in fv_defs.ranks */
    struct fv_replay replay;
    bool cancels; /* the program cancels requests */
    struct fv_replay_stats stats;
    struct fv_bytes answers, others, *out; /* others: what came of other processes; out: by process */
};

static void look_ahead(struct collecting *c, size_t file)
{
    const struct fv_merge *m = c->a->merge;
    struct fv_sink ahead = fv_collect_look_ahead(c->ranks[file]);
    void *records = m->source->open(
        m,
        &(struct fv_source_rank){
            .replay = &c->replay, .file = file, .sink = &ahead, .locations = c->locations[file], .stats = &c->stats });
    m->source->until(records, UINT64_MAX);
    m->source->close(records);
}

/* All ranks' files are open at once: none keeps what it has read. */
static void forget(const struct fv_merge_file *f)
{
    if (f->reader)
        fv_reader_forget(f->reader, NULL);
}

static void open_ranks(struct collecting *c)
{
    struct fv_merge *m = c->a->merge;
    size_t count = m->file_count;

    c->replay =
        (struct fv_replay){ .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls, .views = c->a->rings.views };
    for (size_t i = 0; i < m->defs.function_count; i++)
        c->cancels = c->cancels || !strcmp(m->defs.functions[i].name, "MPI_Cancel");
    c->ranks = fv_xcalloc(count + 1, sizeof(*c->ranks));
    c->records = fv_xcalloc(count + 1, sizeof(*c->records));
    c->locations = fv_xcalloc(count + 1, sizeof(*c->locations));
    c->of_rank = fv_xcalloc(m->defs.rank_count + 1, sizeof(*c->of_rank));
    for (size_t i = 0; i < count; i++) {
        const struct fv_merge_file *f = &m->files[i];

        if (!m->defs.ranks[f->rank].traced)
            continue;
        c->ranks[i] = c->of_rank[f->rank] = fv_collect_rank(&c->collect, f);
        c->locations[i] = fv_xcalloc(m->defs.ranks[f->rank].thread_count + 1, sizeof(**c->locations));
        if (c->cancels)
            look_ahead(c, i);
        c->records[i] = m->source->open(m, &(struct fv_source_rank){ .replay = &c->replay,
                                                                     .file = i,
                                                                     .sink = fv_collect_sink(c->ranks[i]),
                                                                     .locations = c->locations[i],
                                                                     .stats = &c->stats });
        forget(f);
    }
}

static void close_ranks(struct collecting *c)
{
    for (size_t i = 0; i < c->a->merge->file_count; i++) {
        if (c->ranks[i])
            fv_collect_rank_release(c->ranks[i]);
        free(c->locations[i]);
    }
    free(c->ranks);
    free(c->records);
    free(c->locations);
    free(c->of_rank);
}

/* Both sides of a message meet where its receiver's events are, others anywhere. */
static size_t home_of(const struct collecting *c, const struct fv_item *item)
{
    const struct fv_steps *steps = &c->a->steps;

    if (item->kind == FV_ITEM_COMPLETION) /* where its operation meets, so that it is answered after that */
        return (fv_mix(fv_item_completion_key(item->key)) >> 8) % (uint64_t)steps->processes;
    if (item->kind == FV_ITEM_GROUP || item->kind == FV_ITEM_LOCK)
        return (fv_mix(item->key) >> 8) % (uint64_t)steps->processes;
    return steps->lines[steps->first_line[c->a->groups.rank_of_world[item->member]]].process;
}

/* Those for this process stay where they are. Returns how many bytes of c->others are of processes before this one. */
static size_t send_items(struct collecting *c)
{
    const struct fv_transport *t = c->a->merge->transport;
    size_t own = 0;

    fv_bytes_clear_each(c->out, t->size);
    for (size_t i = 0; i < c->collect.count; i++) {
        const struct fv_item *item = &c->collect.items[i];
        size_t home = home_of(c, item);

        if (home != (size_t)t->rank)
            fv_bytes_put(&c->out[home], item, sizeof(*item));
        else if (own++ != i)
            c->collect.items[own - 1] = *item;
    }
    c->collect.count = own;
    c->others.count = 0;
    return fv_transport_exchange(t, c->out, &c->others);
}

static size_t send_answers(struct collecting *c)
{
    const struct fv_transport *t = c->a->merge->transport;
    struct fv_answer *answers = (struct fv_answer *)(void *)c->answers.data;
    size_t own = 0, count = c->answers.count / sizeof(*answers);

    fv_bytes_clear_each(c->out, t->size);
    for (size_t i = 0; i < count; i++) {
        uint32_t home = c->a->steps.lines[answers[i].line].process;

        if (home != (uint32_t)t->rank)
            fv_bytes_put(&c->out[home], &answers[i], sizeof(*answers));
        else if (own++ != i)
            answers[own - 1] = answers[i];
    }
    c->answers.count = own * sizeof(*answers);
    c->others.count = 0;
    return fv_transport_exchange(t, c->out, &c->others);
}

static void match(struct collecting *c, const void *items, size_t bytes)
{
    fv_match_items(c->match, items, bytes / sizeof(struct fv_item), &c->answers);
}

static void take_answers(struct collecting *c, const void *answers, size_t bytes)
{
    const struct fv_answer *a = answers;

    for (size_t i = 0; i < bytes / sizeof(*a); i++)
        fv_collect_answer(c->of_rank[c->a->steps.lines[a[i].line].rank], &a[i]);
}

/* In the order of the processes, so that it does not matter how many there are. */
static void take_all(struct collecting *c, void (*take)(struct collecting *c, const void *data, size_t bytes),
                     const void *own, size_t own_bytes, size_t before)
{
    take(c, c->others.data, before);
    take(c, own, own_bytes);
    if (c->others.count > before)
        take(c, c->others.data + before, c->others.count - before);
}

/* Collective: all that was told so far meets, and the answers come back. `last`: there will be no more. */
static void settle(struct collecting *c, bool last)
{
    const bool alone = c->a->merge->transport->size == 1;
    size_t before = alone ? 0 : send_items(c);

    c->answers.count = 0;
    take_all(c, match, c->collect.items, c->collect.count * sizeof(*c->collect.items), before);
    c->collect.count = 0;
    if (last)
        fv_match_end(c->match, &c->answers);
    before = alone ? 0 : send_answers(c);
    take_all(c, take_answers, c->answers.data, c->answers.count, before);
}

/* So many that what is told in one is about a batch, where calls are spread evenly. But each must be worth looking
 * at all ranks again; and a small part of the memory. */
static uint64_t pieces_of(const struct fv_merge *m, uint64_t memory)
{
    uint64_t bytes = BATCH_ITEMS / 4 * ITEM_EVENT_BYTES, ranks = m->file_count * RANK_EVENT_BYTES;

    bytes = bytes > ranks ? bytes : ranks;
    bytes = bytes < memory / 32 ? bytes : memory / 32 + 1;
    uint64_t pieces = m->event_bytes / bytes + 1;
    fv_transport_max(m->transport, &pieces, 1);
    return pieces < PIECES_MAX ? pieces : PIECES_MAX;
}

static bool replay_piece(struct collecting *c, uint64_t until)
{
    bool good = !(c->options->stop && *c->options->stop);

    for (size_t i = 0; i < c->a->merge->file_count && good; i++) {
        good = !c->records[i] || c->a->merge->source->until(c->records[i], until);
        forget(&c->a->merge->files[i]);
    }
    return good;
}

static bool replay_end(struct collecting *c)
{
    bool good = true;

    for (size_t i = 0; i < c->a->merge->file_count; i++) {
        if (!c->records[i])
            continue;
        good = c->a->merge->source->close(c->records[i]) && good;
        fv_collect_rest(c->ranks[i]);
        forget(&c->a->merge->files[i]);
    }
    return good;
}

static bool collect(struct collecting *c)
{
    const struct fv_merge *m = c->a->merge;
    const struct fv_transport *t = m->transport;
    uint64_t pieces = pieces_of(m, c->options->memory), length = (uint64_t)fv_clocks_length(&m->clocks, &m->defs);
    bool good = true;

    open_ranks(c);
    for (uint64_t i = 1; i <= pieces && good; i++) {
        uint64_t until = i == pieces ? UINT64_MAX : (uint64_t)((double)length / (double)pieces * (double)i);

        enum { FAILED, MANY, ANSWERS };
        uint64_t any[ANSWERS] = { [FAILED] = !replay_piece(c, until) };

        any[MANY] = c->collect.count > BATCH_ITEMS / 2;
        fv_transport_sum(t, any, ANSWERS); /* one round of messages for both */
        good = !any[FAILED];
        if (good && any[MANY])
            settle(c, false);
        if (c->options->progress)
            c->options->progress(c->options->progress_context, m->event_bytes / pieces);
    }
    good = !fv_transport_any(t, !replay_end(c) || !good);
    if (good)
        settle(c, true);
    struct fv_unmatched_counts u = fv_match_rest(c->match);
    u.unknown = c->collect.unknown;
    close_ranks(c);
    for (size_t i = 0; i < m->file_count && m->source->cut; i++)
        u.cut += m->source->cut(m, i);
    fv_transport_sum(t, (uint64_t *)&u, sizeof(u) / sizeof(uint64_t));
    c->a->unmatched = u;
    return good;
}

static bool collect_all(struct fv_analysis *a, const struct fv_analysis_options *options)
{
    struct collecting c = { .a = a,
                            .options = options,
                            .match = fv_match_new(a->merge->defs.world_size, a->merge->is_later_part) };

    fv_collect_init(&c.collect, a->merge, &a->sites, &a->groups, &a->steps, &a->tallies);
    c.collect.partial = a->rings.any;
    c.out = fv_xcalloc((size_t)a->merge->transport->size, sizeof(*c.out));
    bool good = collect(&c);
    fv_bytes_free_each(c.out, a->merge->transport->size);
    fv_collect_release(&c.collect);
    fv_match_free(c.match);
    free(c.answers.data);
    free(c.others.data);
    return good;
}

/* ---- the whole ---- */

/* A rank's thread that made most calls stands for it where a rank must be one thing. Known to all processes. */
static void find_main_lines(struct fv_analysis *a)
{
    const struct fv_defs *d = &a->merge->defs;
    uint64_t *calls = fv_xcalloc((size_t)a->steps.line_count + 1, sizeof(*calls));
    uint64_t *line = fv_xcalloc(d->rank_count + 1, sizeof(*line)); /* + 1; of the ranks of this process */

    for (size_t i = 0; i < a->tallies.count; i++)
        if (a->tallies.items[i].what == FV_TALLY_LINE_MPI)
            calls[a->tallies.items[i].rank] = a->tallies.items[i].count;
    for (uint32_t i = 0; i < d->rank_count; i++) {
        uint32_t first = a->steps.first_line[i], stop = a->steps.first_line[i + 1], most = first;

        for (uint32_t k = first; k < stop; k++)
            if (calls[k] > calls[most])
                most = k;
        line[i] = first < stop && fv_steps_are_own(&a->steps, first) ? most + 1 : 0;
    }
    fv_transport_sum(a->merge->transport, line, d->rank_count);
    a->main_line = fv_xcalloc(d->rank_count + 1, sizeof(*a->main_line));
    for (uint32_t i = 0; i < d->rank_count; i++)
        a->main_line[i] = line[i] ? (uint32_t)line[i] - 1 : FV_NONE;
    free(calls);
    free(line);
}

static void follow_graph(struct fv_analysis *a, uint64_t memory, bool only_path)
{
    find_main_lines(a);
    a->graph = (struct fv_graph){ .steps = &a->steps,
                                  .only_path = only_path,
                                  .groups = &a->groups,
                                  .transport = a->merge->transport,
                                  .memory = memory,
                                  .site_count = a->sites.count,
                                  .main_line = a->main_line,
                                  .rank_count = (uint32_t)a->merge->defs.rank_count,
                                  .out = &a->tallies };
    fv_graph_backwards(&a->graph);
    if (!only_path)
        fv_graph_ideal(&a->graph);
}

static bool has_few_sites(const struct fv_analysis *a)
{
    if (a->sites.count < FV_STEP_NO_SITE)
        return true;
    if (!a->merge->transport->rank)
        fv_log("%u call sites are too many for the analysis; run fvunify with --no-analysis", a->sites.count);
    return false;
}

static void collect_samples(struct fv_analysis *a)
{
    fv_samples_collect(&a->steps, a->merge, &a->tallies, &a->samples);
    fv_transport_sum(a->merge->transport, (uint64_t *)&a->samples, sizeof(a->samples) / sizeof(uint64_t));
}

static void gather_sums(struct fv_analysis *a)
{
    const struct fv_transport *t = a->merge->transport;

    fv_samples_thin(&a->tallies, (uint32_t)a->merge->defs.rank_count);
    fv_tallies_gather(&a->tallies, t);
    if (!t->rank)
        fv_tallies_sort(&a->tallies);
}

bool fv_analyse(struct fv_analysis *a, struct fv_merge *m, const struct fv_analysis_options *options)
{
    double begin = fv_now_s();

    *a = (struct fv_analysis){ .merge = m };
    fv_sites_collect(&a->sites, m);
    fv_groups_init(&a->groups, &m->defs);
    fv_steps_init(&a->steps, m);
    fv_rings_find(&a->rings, m, true);
    if (!options->for_timeline)
        a->over_time = fv_over_time((uint64_t)fv_clocks_length(&m->clocks, &m->defs), (uint32_t)m->defs.rank_count);
    for (size_t i = 0; a->rings.any && i < m->defs.rank_count; i++)
        m->rings.views[i].judged_ns = a->rings.from_ns;
    bool good = has_few_sites(a) &&
                fv_steps_create(&a->steps, m->transport, options->directory, STEPS_PART(options->memory)) &&
                collect_all(a, options);
    a->collect_s = fv_now_s() - begin;
    if (good) {
        a->spill_bytes = a->steps.spill.allocated;
        fv_transport_sum(m->transport, &a->spill_bytes, 1);
        fv_progress(&a->steps, &m->defs, m->transport);
        fv_waits(&a->steps, &a->sites, m->defs.world_size <= NAMED_RANKS, &a->tallies, &a->over_time);
        fv_over_time_gather(&a->over_time, m->transport);
        if (!options->for_timeline)
            collect_samples(a);
        good =
            !fv_transport_any(m->transport, a->steps.failed); /* answers, and the order of waits, may need room, too */
    }
    if (good) {
        fv_steps_gather(&a->steps, m->transport);
        a->waits_s = fv_now_s() - begin - a->collect_s;
        follow_graph(a, WINDOW_PART(options->memory), options->for_timeline);
        if (!options->for_timeline)
            gather_sums(a);
    }
    a->seconds = fv_now_s() - begin;
    a->graph_s = a->seconds - a->collect_s - a->waits_s;
    return good;
}

void fv_analysis_release(struct fv_analysis *a)
{
    fv_sites_release(&a->sites);
    fv_groups_release(&a->groups);
    fv_steps_release(&a->steps);
    fv_tallies_release(&a->tallies);
    fv_rings_release(&a->rings);
    fv_over_time_release(&a->over_time);
    free(a->main_line);
    free(a->graph.path);
}
