/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of a trace: ranks that were slow and so made others wait, as fvunify's analysis puts it down to them: late,
 * or without progress for what they had posted. */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/findings/kernel.h"
#include "profile/noise/noise.h"
#include "profile/places.h"
#include "profile/profile.h"
#include "profile/samples/costs.h"
#include "tool/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED      0.1 /* of the most that one rank is charged: from there on a rank is named */
#define MOST       3   /* findings of both kinds */
#define ITS_REASON 0.5 /* of the cost: what a region that is named must explain */

/* What ranks are charged at the same place. */
struct group {
    uint32_t site;
    enum fv_place where;
    double cost_s, most_s;
    double direct_s, withheld_s;
    uint32_t most; /* the rank that is charged most, in fv_model.ranks */
};

/* Did others wait, most of it, for messages that only its next call moved? */
static bool is_withheld(const struct group *g)
{
    return g->where == FV_PLACE_COMPUTING && g->withheld_s > 0 && g->withheld_s >= ITS_REASON * g->direct_s;
}

static struct group *group_of(struct group *groups, size_t *count, const struct fv_culprit *c)
{
    for (size_t i = 0; i < *count; i++)
        if (groups[i].site == c->site && groups[i].where == c->where)
            return &groups[i];
    groups[*count] = (struct group){ .site = c->site, .where = c->where };
    return &groups[(*count)++];
}

static int by_cost(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (x->cost_s != y->cost_s)
        return x->cost_s > y->cost_s ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (int)x->where - (int)y->where;
}

/* "rank 1", "ranks 4-7": those that are charged for much of it. */
static void say_ranks(const struct fv_model *m, const struct group *g, char out[220])
{
    struct fv_rank_list list = FV_RANK_LIST_INIT;
    bool *named = fv_xcalloc(m->rank_count, sizeof(*named));
    uint32_t count = 0;

    for (size_t i = 0; i < m->causes.culprit_count; i++) {
        const struct fv_culprit *c = &m->causes.culprits[i];

        if (c->site == g->site && c->where == g->where && c->cost_s >= NAMED * g->most_s)
            named[c->rank] = true;
    }
    for (size_t i = 0; i < m->rank_count; i++) {
        if (!named[i])
            continue;
        fv_rank_list_add(&list, m->ranks[i].world_rank);
        count++;
    }
    snprintf(out, 220, "rank%s %s", fv_words_s(count), fv_rank_list_text(&list));
    free(named);
}

/* Between which calls the rank that is charged most computes that much longer than others; NULL: between no two. */
static const struct fv_region *region_of(const struct fv_model *m, const struct group *g)
{
    double least = ITS_REASON * g->most_s / m->rank_count; /* all others wait for what it is longer */

    return g->where == FV_PLACE_COMPUTING && g->site != FV_NONE ? fv_excess_region(m, g->most, g->site, least) : NULL;
}

/* "in solve() at cg.c:212 <- main() at cg.c:9, before MPI_Allreduce (#3)", "from init() at cg.c:15 to solve() at
 * cg.c:212" */
static void say_where(const struct fv_places *places, const struct group *g, char *out, size_t bytes)
{
    const struct fv_region *region = region_of(places->view->model, g);
    char words[2400];

    if (region)
        fv_place_region(places->view, region->from, region->site, out, bytes);
    else
        snprintf(out, bytes, "%s%s", g->site == FV_NONE ? "" : "in ",
                 fv_place_words(places, g->site, g->where, words, sizeof(words)));
}

/* All others wait for what the rank is longer outside of MPI. */
static enum fv_doing doing_of(const struct fv_profile *v, const struct group *g)
{
    uint32_t others = v->model->rank_count - 1;
    enum fv_doing doing =
        g->where == FV_PLACE_COMPUTING && others ? fv_excess_doing(v, g->most, g->most_s / others) : FV_NOT_KNOWN;
    const struct fv_region *region = region_of(v->model, g);

    /* The rank may be blocked elsewhere. */
    if (doing == FV_IS_BLOCKED && region && region->max_rank == g->most && fv_off_is_known(&region->off) &&
        region->off.blocked_s < ITS_REASON * g->most_s / others)
        return region->off.preempted_s > region->off.blocked_s ? FV_IS_DISTURBED : FV_NOT_KNOWN;
    return doing;
}

/* ---- by samples of the trace ---- */

static bool is_same(const struct fv_late_procedure *a, const struct fv_late_procedure *b)
{
    return a->site == b->site && a->function && b->function && !strcmp(a->function, b->function) &&
           fv_same_text(a->file ? a->file : "", b->file ? b->file : "");
}

/* Over call sites that look the same: by what it was late, and its CPU time, on its rank; and the CPU time of all
 * ranks. */
struct sums {
    double delay_s, cpu_s, all_cpu_s;
};

static struct sums sums_of(const struct fv_causes *c, const struct fv_late_procedure *p)
{
    struct sums sums = { 0 };

    for (size_t i = 0; i < c->late_count; i++) {
        if (!is_same(&c->late[i], p))
            continue;
        sums.all_cpu_s += c->late[i].cpu_s;
        sums.delay_s += c->late[i].rank == p->rank ? c->late[i].delay_s : 0;
        sums.cpu_s += c->late[i].rank == p->rank ? c->late[i].cpu_s : 0;
    }
    return sums;
}

/* CPU time of the rank before that call: that of main(), or of what has most of it. */
static double sampled_before(const struct fv_causes *c, const struct group *g)
{
    double most = 0;

    for (size_t i = 0; i < c->late_count; i++)
        if (c->late[i].rank == g->most && c->late[i].site == g->site && c->late[i].function && c->late[i].cpu_s > most)
            most = c->late[i].cpu_s;
    return most;
}

/* The procedure that most of it was, as in fv_excess_of(): what is the same on other ranks counts less, and the
 * program's own goes before a library's. By the delay that it made, or by its part of what the rank computed before
 * that call. NULL: none, or it took no CPU time. *of_it_s: the delay, or the CPU time. */
static const struct fv_cost_procedure *procedure_of(const struct fv_profile *v, const struct group *g, bool by_cpu,
                                                    double *of_it_s)
{
    const struct fv_causes *c = &v->model->causes;
    const struct fv_cost_procedure *found = NULL;
    double best = 0, least_s = ITS_REASON * (by_cpu ? sampled_before(c, g) : g->most_s);
    bool is_own = false;

    for (size_t i = 0; i < c->late_count && g->where == FV_PLACE_COMPUTING; i++) {
        const struct fv_late_procedure *p = &c->late[i];

        if (p->rank != g->most || p->site != g->site || !p->function)
            continue;
        struct sums sums = sums_of(c, p);
        double of_it = by_cpu ? sums.cpu_s : sums.delay_s,
               value = sums.all_cpu_s > 0 ? of_it * of_it / sums.all_cpu_s : 0;
        const struct fv_cost_procedure *of = fv_cost_procedure_named(v->costs, p->function, p->file);

        if (of_it <= 0 || of_it < least_s || !of || !strcmp(of->name, "[fvmpi]") || fv_excess_is_interpreter(of))
            continue;
        if (fv_excess_is_of_program(of) == is_own ? value <= best : is_own)
            continue;
        best = value;
        is_own = fv_excess_is_of_program(of);
        *of_it_s = of_it;
        found = of;
    }
    return found;
}

/* Did others have its processor for most of what it was late? In computing by the kernel's context switches, in MPI by
 * its run delay: of a disturbed run. Seconds; 0: no. */
static double preempted_for(const struct fv_profile *v, const struct fv_findings *f, const struct group *g)
{
    const struct fv_model *m = v->model;
    const struct fv_region *region = region_of(m, g);
    const struct fv_rank *r = &m->ranks[g->most];
    double had_s = r->off.preempted_s;

    if (m->rank_count < 2 || (g->where != FV_PLACE_COMPUTING && !fv_findings_named(f, FV_FINDING_DISTURBED)))
        return 0;
    if (g->where != FV_PLACE_COMPUTING)
        had_s = r->ready_s - r->off.preempted_s;
    else if (region && region->max_rank == g->most && fv_off_is_known(&region->off))
        had_s = region->off.preempted_s;
    return had_s > ITS_REASON * g->most_s / (double)(m->rank_count - 1) ? had_s : 0;
}

static void say_preempted(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                          const char *ranks, const char *where, double had_s)
{
    const struct fv_model *m = v->model;
    const struct fv_noise_rank *noise = fv_model_noise(m)->rank_count ? &fv_model_noise(m)->ranks[finding->rank] : NULL;
    char had[FV_WORD], who[100] = "other programs";

    finding->by_machine = true;
    if (fv_ranks_crowd(m, finding->rank))
        snprintf(who, sizeof(who), "other ranks");
    else if (noise && noise->by != FV_NONE)
        snprintf(who, sizeof(who), "most likely `%.60s`", fv_model_noise(m)->others[noise->by].name);
    fv_finding_say(f, finding, "%s made others wait, by preemption: %s had the processor of rank %d for %s; %s", ranks,
                   who, m->ranks[finding->rank].world_rank, fv_words_seconds(had_s, had), where);
    fv_finding_next(f, finding, "no fault of the program; what else disturbs: fvmpi doctor");
}

/* May the function, in which the rank computes longer in the whole run, do so before that call? Where the trace has
 * samples, they say. */
static bool may_be_before(const struct fv_causes *c, const struct group *g, const struct fv_cost_procedure *procedure)
{
    for (size_t i = 0; i < c->late_count; i++)
        if (c->late[i].rank == g->most && c->late[i].site == g->site && c->late[i].function &&
            !strcmp(c->late[i].function, procedure->name))
            return true;
    return !c->late_count;
}

/* What is known of the function that made the rank slow; the best first. False: nothing. `how`: "in f() at a.c:3, where
 * ..." */
static bool say_function(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                         const struct group *g, char *how, size_t bytes)
{
    char name[400], mine[FV_WORD], others[FV_WORD], kernel[FV_KERNEL_WORDS];
    struct fv_excess by_samples = { 0 };
    double delay_s = 0;

    if (g->where == FV_PLACE_COMPUTING && v->model->rank_count > 1 &&
        fv_kernel_words(v, g->most, g->most_s / (v->model->rank_count - 1), kernel)) {
        snprintf(how, bytes, "in the kernel, where rank %d takes %s", v->model->ranks[g->most].world_rank, kernel);
        fv_finding_next(f, finding, FV_NEXT_KERNEL);
        return true;
    }
    by_samples.procedure = procedure_of(v, g, false, &delay_s);
    if (by_samples.procedure) {
        fv_excess_place(v, f, finding, &by_samples);
        snprintf(how, bytes, "in %s, %s of it (by samples)",
                 fv_procedure_words(by_samples.procedure, name, sizeof(name)), fv_words_seconds(delay_s, mine));
        return true;
    }
    if (g->where == FV_PLACE_COMPUTING)
        by_samples = fv_excess_of(v, g->most);
    if (!by_samples.procedure || !may_be_before(&v->model->causes, g, by_samples.procedure))
        return false;
    fv_excess_place(v, f, finding, &by_samples);
    snprintf(how, bytes, "in %s, where rank %d takes %s of CPU time, else %s (by samples)",
             fv_procedure_words(by_samples.procedure, name, sizeof(name)), v->model->ranks[g->most].world_rank,
             fv_words_seconds(by_samples.rank_s, mine), fv_words_seconds(by_samples.others_s, others));
    return true;
}

/* Else what it computed most in that time. */
static bool say_most(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                     const struct group *g, char *how, size_t bytes)
{
    char name[400], mine[FV_WORD], all[FV_WORD];
    struct fv_excess by_samples = { 0 };
    double of_it_s = 0;

    by_samples.procedure = procedure_of(v, g, true, &of_it_s);
    if (!by_samples.procedure)
        return false;
    fv_excess_place(v, f, finding, &by_samples);
    snprintf(how, bytes, "in %s for %s of %s (by samples)",
             fv_procedure_words(by_samples.procedure, name, sizeof(name)), fv_words_seconds(of_it_s, mine),
             fv_words_seconds(sampled_before(&v->model->causes, g), all));
    return true;
}

/* What lets MPI move messages while a rank computes. */
static const char *progress_remedy(const struct fv_model *m)
{
    static const struct {
        const char *mpi, *remedy;
    } remedies[] = {
        { "Open MPI", "" },
        { "Intel", ", or set I_MPI_ASYNC_PROGRESS=1" },
        { "MVAPICH", ", or set MV2_ASYNC_PROGRESS=1" },
        { "MPICH", ", or set MPICH_ASYNC_PROGRESS=1: a thread then makes progress, and needs a processor" },
        { "CRAY", ", or set MPICH_ASYNC_PROGRESS=1: a thread then makes progress, and needs a processor" },
    };

    for (size_t i = 0; m->mpi && i < sizeof(remedies) / sizeof(*remedies); i++)
        if (strstr(m->mpi, remedies[i].mpi))
            return remedies[i].remedy;
    return "";
}

static void add_withheld(const struct fv_profile *v, struct fv_findings *f, const struct group *g,
                         const struct fv_places *places)
{
    const struct fv_model *m = v->model;
    char ranks[220], where[2500], how[900], name[300];
    struct fv_finding *finding = fv_finding_add(f, g->cost_s, FV_EVIDENCE_ESTIMATE);

    finding->rank = g->most;
    finding->site = g->site;
    say_ranks(m, g, ranks);
    say_where(places, g, where, sizeof(where));
    double had_s = preempted_for(v, f, g);
    if (had_s > 0) {
        say_preempted(v, f, finding, ranks, where, had_s);
        return;
    }
    bool known = say_function(v, f, finding, g, how, sizeof(how)) || say_most(v, f, finding, g, how, sizeof(how));
    const char *lines = finding->next;
    fv_finding_say(f, finding,
                   "others waited for %s, which had posted its messages, to come back to MPI: it computed%s%s; %s",
                   ranks, known ? " " : "", known ? how : "", where);
    fv_words_short(finding->function ? finding->function : "the computation", name, sizeof(name));
    fv_finding_next(f, finding, "balance it; or call MPI_Test in %s now and then%s%s%s", name, progress_remedy(m),
                    lines ? "; " : "", lines ? lines : "");
}

static void add_late(const struct fv_profile *v, struct fv_findings *f, const struct group *g,
                     const struct fv_places *places)
{
    const struct fv_model *m = v->model;
    const enum fv_doing doing = doing_of(v, g);
    char ranks[220], where[2500], how[900], blocked[FV_IO_WORDS], calls[FV_EXCESS_WORDS];
    struct fv_finding *finding =
        fv_finding_add(f, g->cost_s, m->causes.exact ? FV_EVIDENCE_EXACT : FV_EVIDENCE_ESTIMATE);

    finding->rank = g->most;
    finding->site = g->site;
    say_ranks(m, g, ranks);
    say_where(places, g, where, sizeof(where));
    if (g->where == FV_PLACE_COMPUTING &&
        fv_io_words(v, region_of(m, g), g->most, m->rank_count > 1 ? ITS_REASON * g->most_s / (m->rank_count - 1) : 0,
                    blocked)) {
        fv_finding_say(f, finding, "%s made others wait, slow %s; there rank %d %s", ranks, where,
                       m->ranks[g->most].world_rank, blocked);
        fv_finding_next(f, finding, "%s", fv_io_next(region_of(m, g)));
        return;
    }
    double had_s = doing == FV_IS_BLOCKED || doing == FV_AWAITS_OWN ? 0 : preempted_for(v, f, g);
    if (had_s > 0) {
        say_preempted(v, f, finding, ranks, where, had_s);
        return;
    }
    if (doing == FV_IS_BLOCKED || doing == FV_AWAITS_OWN) {
        fv_finding_say(f, finding, "%s made others wait, slow %s; there rank %d %s%s", ranks, where,
                       m->ranks[g->most].world_rank, fv_blocked_words(m, g->most, region_of(m, g), blocked),
                       doing == FV_IS_BLOCKED ? fv_or_stopped(m, g->most, region_of(m, g)) : "");
        fv_finding_next(f, finding, doing == FV_IS_BLOCKED ? FV_NEXT_BLOCKED : FV_NEXT_AWAITS);
        return;
    }
    if (say_function(v, f, finding, g, how, sizeof(how))) {
        fv_finding_say(f, finding, "%s made others wait, slow %s; %s", ranks, how, where);
        return;
    }
    if (g->where == FV_PLACE_COMPUTING && fv_excess_by_calls(v, f, finding, g->most, calls)) {
        fv_finding_say(f, finding, "%s made others wait, slow %s; %s", ranks, where, calls);
        return;
    }
    if (say_most(v, f, finding, g, how, sizeof(how))) {
        fv_finding_say(f, finding, "%s made others wait, slow %s; there rank %d computes %s", ranks, where,
                       m->ranks[g->most].world_rank, how);
        return;
    }
    fv_finding_say(f, finding, "%s made others wait, slow %s", ranks, where);
    fv_finding_next(f, finding, "%s",
                    fv_model_costs(m)->ticks ? FV_FINDING_COMMAND(m, "report", "--table", "culprits")
                                             : "fvmpi run --trace --sample names the function");
}

/* One of the two kinds. */
static void find_ranks(const struct fv_profile *v, struct fv_findings *f, bool withheld)
{
    const struct fv_causes *c = &v->model->causes;
    struct fv_places places = { .view = v };
    struct group *groups;
    size_t count = 0;

    if (c->source != FV_CAUSES_TRACE || !c->culprit_count)
        return;
    groups = fv_xcalloc(c->culprit_count, sizeof(*groups));
    for (size_t i = 0; i < c->culprit_count; i++) {
        struct group *g = group_of(groups, &count, &c->culprits[i]);

        g->cost_s += c->culprits[i].cost_s;
        g->direct_s += c->culprits[i].direct_s;
        g->withheld_s += c->culprits[i].withheld_s;
        if (c->culprits[i].cost_s <= g->most_s)
            continue;
        g->most_s = c->culprits[i].cost_s;
        g->most = c->culprits[i].rank;
    }
    qsort(groups, count, sizeof(*groups), by_cost);
    if (count > MOST)
        count = MOST;
    for (size_t i = 0; i < count; i++)
        fv_places_add(&places, groups[i].site);
    for (size_t i = 0; i < count; i++)
        if (is_withheld(&groups[i]) == withheld && fv_finding_worth(v, groups[i].cost_s))
            (withheld ? add_withheld : add_late)(v, f, &groups[i], &places);
    fv_places_release(&places);
    free(groups);
}

FV_FINDING(late_ranks)
{
    find_ranks(v, f, false);
}

FV_FINDING(withheld_progress)
{
    find_ranks(v, f, true);
}
