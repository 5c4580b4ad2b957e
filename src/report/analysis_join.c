/* The analysis of the trace joined with the profile. Both come from the same rank files, so that call sites
 * are equal if their functions, and the modules and offsets of their frames are. A path in analysis.json ends
 * at main; where no symbols were looked up the model's go on to the start-up code: the longest path that fits
 * from the inside is taken.
 *
 * Whether it is an analysis of these rank files is seen from what they have in common: on each rank, the
 * number of traced calls, and their time to a ten-thousandth. Times of files say nothing: copies change them.
 */
#include "report/build.h"
#include "report/symbols.h"
#include "report/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 0.5 /* of the MPI time in the trace: less says nothing about the run */

/* A frame of an analysed call site, seen from the inside; node 0 is what all begin with. */
struct step {
    uint32_t parent, module;
    uint64_t offset;
};
/* A call site, at the end of its steps. */
struct end {
    uint32_t step;
    const char *function;
};
/* Part of a call site on a rank. */
struct share {
    uint32_t end, rank; /* rank: in fv_model.ranks */
    uint64_t profiled;  /* calls that the profile has there */
    struct fv_analysed_part sum;
    double direct_s[FV_PLACES];
    bool joined;
};
struct join {
    struct fv_model *model;
    const struct fv_analysed *a;
    bool exact;       /* one clock, and nothing is missing */
    uint32_t *module; /* by the model's: the first one of that path */
    struct step *steps;
    struct end *ends;
    struct share *shares;
    size_t step_count, step_room, end_count, end_room, share_count, share_room;
    struct fv_index paths, names, step_index, end_index, share_index, ranks;
    uint32_t *end_of_analysed; /* by fv_analysed.sites */
    uint32_t *end_of_site;     /* by fv_model.sites; FV_NONE: not in the analysis */
};

static uint64_t hash_of(const char *text)
{
    return fv_hash_bytes(text, strlen(text));
}

/* ---- modules ---- */

/* As JSON has them. */
static const char *clean_path(const struct fv_module *module, bool base, char out[4096])
{
    return fv_words_clean(base ? module->name : module->path, out, 4096);
}

static uint32_t find_module(const struct join *j, const struct fv_index *index, const char *path, bool base)
{
    struct fv_index_probe p = fv_index_probe(index, hash_of(path));
    char clean[4096];
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE)
        if (!strcmp(clean_path(&j->model->modules[i], base, clean), path))
            break;
    return i;
}

/* Modules of no file are all the same, and those of one path. */
static void index_modules(struct join *j)
{
    const struct fv_model *m = j->model;
    char clean[4096];

    j->module = fv_xcalloc(m->module_count, sizeof(*j->module));
    for (uint32_t i = FV_MODEL_FIRST_MODULE; i < m->module_count; i++) {
        uint32_t first = find_module(j, &j->paths, clean_path(&m->modules[i], false, clean), false);

        j->module[i] = first == FV_NONE ? i : first;
        if (first != FV_NONE)
            continue;
        fv_index_add(&j->paths, hash_of(clean), i);
        fv_index_add(&j->names, hash_of(clean_path(&m->modules[i], true, clean)), i);
    }
}

/* Ranks may have loaded a module from different places, of which the analysis names one. */
static uint32_t module_of(const struct join *j, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    char clean[4096];
    uint32_t found;

    if (!path)
        return 0;
    found = find_module(j, &j->paths, fv_words_clean(path, clean, sizeof(clean)), false);
    if (found == FV_NONE)
        found =
            find_module(j, &j->names, fv_words_clean(slash ? slash + 1 : path, clean, sizeof(clean)), true);
    return found;
}

/* ---- call sites ---- */

static uint32_t find_step(const struct join *j, uint32_t parent, uint32_t module, uint64_t offset)
{
    struct fv_index_probe p = fv_index_probe(&j->step_index, fv_mix2(fv_mix2(parent, module), offset));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE)
        if (j->steps[i].parent == parent && j->steps[i].module == module && j->steps[i].offset == offset)
            break;
    return i;
}

static uint32_t find_end(const struct join *j, uint32_t step, const char *function)
{
    struct fv_index_probe p = fv_index_probe(&j->end_index, fv_mix2(step, hash_of(function)));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE)
        if (j->ends[i].step == step && !strcmp(j->ends[i].function, function))
            break;
    return i;
}

static uint32_t add_step(struct join *j, uint32_t parent, const struct fv_analysed_frame *f)
{
    uint32_t module = module_of(j, f->module), found = find_step(j, parent, module, f->offset);

    if (found != FV_NONE)
        return found;
    FV_GROW(j->steps, j->step_room, j->step_count + 1);
    j->steps[j->step_count] = (struct step){ parent, module, f->offset };
    fv_index_add(&j->step_index, fv_mix2(fv_mix2(parent, module), f->offset), (uint32_t)j->step_count);
    return (uint32_t)j->step_count++;
}

static void add_ends(struct join *j)
{
    FV_GROW(j->steps, j->step_room, 1);
    j->steps[j->step_count++] = (struct step){ FV_NONE, FV_NONE, 0 };
    j->end_of_analysed = fv_xcalloc(j->a->site_count, sizeof(*j->end_of_analysed));
    for (uint32_t i = 0; i < j->a->site_count; i++) {
        const struct fv_analysed_site *s = &j->a->sites[i];
        const char *function = s->function ? s->function : "";
        uint32_t step = 0;

        for (uint32_t k = 0; k < s->frames; k++)
            step = add_step(j, step, &j->a->frames[s->first_frame + k]);
        uint32_t end = find_end(j, step, function);
        if (end == FV_NONE) {
            FV_GROW(j->ends, j->end_room, j->end_count + 1);
            j->ends[end = (uint32_t)j->end_count++] = (struct end){ step, function };
            fv_index_add(&j->end_index, fv_mix2(step, hash_of(function)), end);
        }
        j->end_of_analysed[i] = end;
    }
}

/* Without the frames that fv_path_of() leaves out at the inner end. */
static uint32_t without_binding(const struct fv_model *m, uint32_t node)
{
    uint32_t inner = node;

    while (inner && fv_module_is_binding(&m->modules[m->nodes[inner].module]))
        inner = m->nodes[inner].parent;
    return inner ? inner : node;
}

static uint32_t end_of(const struct join *j, const struct fv_site *site)
{
    const struct fv_model *m = j->model;
    const char *function = m->functions[site->function].name;
    uint32_t step = 0, found = FV_NONE, end;

    if (!site->node)
        return find_end(j, 0, function);
    for (uint32_t node = without_binding(m, site->node); node; node = m->nodes[node].parent) {
        step = find_step(j, step, j->module[m->nodes[node].module], m->nodes[node].offset);
        if (step == FV_NONE)
            break;
        if ((end = find_end(j, step, function)) != FV_NONE)
            found = end;
    }
    return found;
}

/* ---- their parts on each rank ---- */

static uint32_t rank_of(const struct join *j, uint32_t world_rank)
{
    struct fv_index_probe p = fv_index_probe(&j->ranks, fv_mix(world_rank));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE)
        if (j->model->ranks[i].world_rank == (int)world_rank)
            break;
    return i;
}

static struct share *find_share(const struct join *j, uint32_t end, uint32_t rank)
{
    struct fv_index_probe p = fv_index_probe(&j->share_index, fv_mix2(end, rank));

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (j->shares[i].end == end && j->shares[i].rank == rank)
            return &j->shares[i];
    return NULL;
}

static struct share *share_of(struct join *j, uint32_t end, uint32_t rank)
{
    struct share *s = find_share(j, end, rank);

    if (s)
        return s;
    FV_GROW(j->shares, j->share_room, j->share_count + 1);
    fv_index_add(&j->share_index, fv_mix2(end, rank), (uint32_t)j->share_count);
    s = &j->shares[j->share_count++];
    *s = (struct share){ .end = end, .rank = rank };
    return s;
}

static void add_part(struct fv_analysed_part *to, const struct fv_analysed_part *from)
{
    to->count += from->count;
    to->time_s += from->time_s;
    to->wait_s += from->wait_s;
    to->before_s += from->before_s;
    to->caused_s += from->caused_s;
    for (unsigned k = 0; k < FV_PLACES; k++) {
        to->delay_s[k] += from->delay_s[k];
        to->critical_s[k] += from->critical_s[k];
    }
}

/* False: the analysis speaks of a rank that has no file here. */
static bool add_shares(struct join *j)
{
    const struct fv_analysed *a = j->a;

    for (uint32_t i = 0; i < j->model->rank_count; i++)
        fv_index_add(&j->ranks, fv_mix((uint32_t)j->model->ranks[i].world_rank), i);
    for (uint32_t i = 0; i < a->rank_count; i++)
        if (rank_of(j, a->ranks[i].rank) == FV_NONE)
            return false;
    for (uint32_t i = 0; i < a->site_count; i++)
        for (uint32_t k = 0; k < a->sites[i].parts; k++) {
            const struct fv_analysed_part *p = &a->parts[a->sites[i].first_part + k];
            uint32_t rank = rank_of(j, p->rank);

            if (rank == FV_NONE)
                return false;
            add_part(&share_of(j, j->end_of_analysed[i], rank)->sum, p);
        }
    for (size_t i = 0; i < a->delay_count; i++) {
        uint32_t rank = rank_of(j, a->delays[i].rank);

        if (rank == FV_NONE)
            return false;
        share_of(j, j->end_of_analysed[a->delays[i].site], rank)->direct_s[a->delays[i].where] +=
            a->delays[i].direct_s;
    }
    return true;
}

/* ---- is it of these rank files? ---- */

/* A call that a rank is in may count in the trace before it does in the profile. */
static bool same_rank(const struct fv_rank *r, const struct fv_analysed_part *traced, double profiled_s)
{
    uint64_t most = r->trace_calls > traced->count ? r->trace_calls : traced->count,
             least = r->trace_calls + traced->count - most;
    bool whole = r->state == FV_RANK_FINALIZED && !r->dropped[FV_DROP_EVENTS];

    return most - least <= (whole ? 0 : r->threads) &&
           (!whole || fabs(traced->time_s - profiled_s) <= 1e-4 * profiled_s + 1e-5);
}

/* Where part of a file is lost, its numbers cannot agree. */
static bool is_damaged(const struct fv_model *m, const struct fv_rank *r)
{
    for (size_t i = 0; i < m->problems.count; i++)
        if (m->problems.items[i].kind == FV_PROBLEM_DAMAGED && m->problems.items[i].file &&
            !strcmp(m->problems.items[i].file, r->file))
            return true;
    return false;
}

/* What the ranks' traces hold of their MPI time, in *coverage. */
static bool same_run(const struct join *j, double *coverage)
{
    const struct fv_model *m = j->model;
    struct fv_analysed_part *traced = fv_xcalloc(m->rank_count, sizeof(*traced));
    double *profiled_s = fv_xcalloc(m->rank_count, sizeof(*profiled_s));
    bool same = j->a->world_size == (uint32_t)m->world_size;
    double traced_s = 0, all_s = 0;

    for (size_t i = 0; i < j->share_count; i++)
        add_part(&traced[j->shares[i].rank], &j->shares[i].sum);
    for (size_t i = 0; i < m->site_rank_count; i++)
        profiled_s[m->site_ranks[i].rank] += m->site_ranks[i].time.sum;
    for (size_t i = 0; same && i < m->rank_count; i++)
        if (m->ranks[i].traced && !is_damaged(m, &m->ranks[i]))
            same = same_rank(&m->ranks[i], &traced[i], j->a->one_clock ? profiled_s[i] : traced[i].time_s);
    for (size_t i = 0; i < m->rank_count; i++) {
        traced_s += traced[i].time_s;
        all_s += profiled_s[i];
    }
    *coverage = all_s > 0 ? fmin(traced_s / all_s, 1) : 1; /* a program without MPI */
    free(traced);
    free(profiled_s);
    return same;
}

/* ---- what it says ---- */

static void match_sites(struct join *j)
{
    struct fv_model *m = j->model;

    j->end_of_site = fv_xcalloc(m->site_count, sizeof(*j->end_of_site));
    for (size_t i = 0; i < m->site_count; i++)
        j->end_of_site[i] = end_of(j, &m->sites[i]);
    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *s = &m->site_ranks[i];
        struct share *share = find_share(j, j->end_of_site[s->site], s->rank);

        if (share)
            share->profiled += s->time.calls;
    }
}

/* Waiting in barriers that fvmpi inserted was measured by the rank itself. Of a trace that ended early, the
 * calls behind its end are taken to have waited as long, but for those that the wait log knows. */
static void set_wait(const struct join *j, struct fv_site_rank *s, const struct share *share, double part)
{
    bool whole = share->sum.count >= share->profiled;

    if (s->barriers || !share->sum.count || (!whole && s->wait_kind == FV_WAIT_EXACT))
        return;
    s->wait_s = share->sum.wait_s * part;
    if (!whole)
        s->wait_s *= (double)share->profiled / (double)share->sum.count;
    s->wait_s = fmin(s->wait_s, s->time.sum);
    s->wait_kind = whole && j->exact ? FV_WAIT_EXACT : FV_WAIT_ESTIMATE;
}

static void take_site_rank(const struct join *j, struct fv_site_rank *s)
{
    struct share *share = find_share(j, j->end_of_site[s->site], s->rank);

    s->blame = (struct fv_blame){ 0 };
    if (!share || !share->profiled || !s->time.calls)
        return;
    double part = (double)s->time.calls / (double)share->profiled; /* 1, unless two paths read the same */
    share->joined = true;
    set_wait(j, s, share, part);
    s->blame.caused_s = share->sum.caused_s * part;
    s->blame.before_s = share->sum.before_s * part;
    for (unsigned k = 0; k < FV_PLACES; k++) {
        s->blame.delay_s[k] = share->sum.delay_s[k] * part;
        s->blame.direct_s[k] = share->direct_s[k] * part;
        s->blame.critical_s[k] = share->sum.critical_s[k] * part;
    }
}

/* What is behind the last call, or in a call that did not end. */
static void take_elsewhere(struct join *j)
{
    struct fv_causes *c = &j->model->causes;

    for (size_t i = 0; i < j->share_count; i++)
        for (unsigned k = 0; !j->shares[i].joined && k < FV_PLACES; k++) {
            if (j->shares[i].sum.delay_s[k] <= 0)
                continue;
            FV_GROW(c->elsewhere, c->elsewhere_room, c->elsewhere_count + 1);
            c->elsewhere[c->elsewhere_count++] =
                (struct fv_culprit){ j->shares[i].rank, FV_NONE, k, j->shares[i].sum.delay_s[k],
                                     j->shares[i].direct_s[k] };
        }
}

static bool is_completion(const char *kind)
{
    size_t length = strlen(kind);

    return length >= 11 && !strcmp(kind + length - 11, "_completion");
}

static void take_totals(struct join *j)
{
    const struct fv_analysed *a = j->a;
    struct fv_model *m = j->model;
    struct fv_causes *c = &m->causes;

    c->source = FV_CAUSES_TRACE;
    c->exact = j->exact;
    c->unmatched = a->unmatched;
    c->wait_s = 0;
    c->unexplained_s = a->unexplained_s;
    c->critical_path_s = a->critical_path_s;
    c->lock_wait_s = a->lock_wait_s;
    c->switches = a->switches;
    c->kind_count = a->kind_count;
    FV_GROW(c->kinds, c->kind_room, c->kind_count);
    for (size_t i = 0; i < a->kind_count; i++) {
        const struct fv_analysed_kind *kind = &a->kinds[i];

        c->kinds[i] = (struct fv_wait_sum){ fv_arena_string(&m->arena, kind->kind), is_completion(kind->kind),
                                            kind->count, kind->wait_s };
    }
    for (size_t i = 0; i < j->share_count; i++)
        c->wait_s += j->shares[i].sum.wait_s;
    for (size_t i = 0; i < a->rank_count; i++) {
        struct fv_rank *r = &m->ranks[rank_of(j, a->ranks[i].rank)];

        r->caused_s = a->ranks[i].caused_s;
        r->charged_s = a->ranks[i].delay_s;
        r->critical_s = a->ranks[i].critical_s;
    }
    if (c->coverage < FV_CAUSES_WHOLE)
        return;
    m->efficiency.serialization = a->serialization;
    m->efficiency.transfer = a->transfer;
}

static void take_over(struct join *j)
{
    struct fv_model *m = j->model;

    match_sites(j);
    for (size_t i = 0; i < m->site_rank_count; i++)
        take_site_rank(j, &m->site_ranks[i]);
    take_elsewhere(j);
    take_totals(j);
}

void fv_build_analysed(struct fv_build *b, const struct fv_analysed *a)
{
    struct fv_model *m = b->model;
    struct join j = { .model = m, .a = a };
    double coverage = 1;

    m->efficiency.serialization = m->efficiency.transfer = NAN;
    for (size_t i = 0; i < m->rank_count; i++)
        m->ranks[i].caused_s = m->ranks[i].charged_s = m->ranks[i].critical_s = NAN;
    if (!a)
        return;
    j.exact =
        a->one_clock && !a->unmatched && a->rank_count >= a->world_size && m->rank_count >= a->world_size;
    index_modules(&j);
    add_ends(&j);
    if (add_shares(&j) && same_run(&j, &coverage) && coverage >= ENOUGH) {
        m->causes.coverage = coverage;
        take_over(&j);
    } else if (coverage < ENOUGH) {
        m->causes.left_out = true;
        fv_problem_add(
            &m->problems, FV_PROBLEM_NOTE, "analysis.json",
            "the trace holds %.0f %% of the MPI time only; its analysis is left out (raise FVMPI_TRACE_MAX)",
            100 * coverage);
    } else
        fv_problem_add(
            &m->problems, FV_PROBLEM_NOTE, "analysis.json",
            "it is not of these rank files, or older than they are; it is left out: run fvunify again");
    free(j.module);
    free(j.steps);
    free(j.ends);
    free(j.shares);
    free(j.end_of_analysed);
    free(j.end_of_site);
    fv_index_release(&j.paths);
    fv_index_release(&j.names);
    fv_index_release(&j.step_index);
    fv_index_release(&j.end_index);
    fv_index_release(&j.share_index);
    fv_index_release(&j.ranks);
}
