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

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED      0.1 /* of the most that one rank is charged: from there on a rank is named */
#define MOST       3   /* findings of both kinds */
#define ITS_REASON 0.5 /* of the cost: what a region that is named must explain */

/* What ranks are charged at the same place. */
#define NEARLY_ALL 0.9 /* of the waiting that a place is charged with, for one rank to stand for it */

struct group {
    uint32_t site;
    enum fv_place where;
    double cost_s, most_s;
    double direct_s, withheld_s;
    bool is_estimate; /* a part of it is */
    uint32_t most;    /* the rank that is charged most, in fv_model.ranks */
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

/* "rank 1", "ranks 4-7": those that are charged for much of it. Are there several? */
static bool say_ranks(const struct fv_model *m, const struct group *g, char out[220])
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
    return count > 1;
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

    for (size_t i = 0; i < c->late_count && g->where == FV_PLACE_COMPUTING && !c->late_by_regions; i++) {
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

/* ---- by regions of an archive ---- */

struct regions {
    const struct fv_late_procedure *outer, *inner; /* inner: of the outer one's, all but a fifth; may be the same */
    double outer_s, inner_s;
};
#define MOSTLY 0.8

/* Where an archive has no samples, they are the program's functions that another tool instrumented: those that most of
 * it was, with what they call. Not main(), in which all else is. outer NULL: none. */
static struct regions regions_that_took(const struct fv_model *m, const struct group *g)
{
    const struct fv_causes *c = &m->causes;
    struct regions r = { 0 };

    for (unsigned pass = 0; pass < 2 && g->where == FV_PLACE_COMPUTING && c->late_by_regions; pass++)
        for (size_t i = 0; i < c->late_count; i++) {
            const struct fv_late_procedure *p = &c->late[i];

            if (p->rank != g->most || p->site != g->site || !p->function || fv_excess_is_main(p->function))
                continue;
            double of_it = sums_of(c, p).delay_s;
            if (!pass && of_it >= ITS_REASON * g->most_s && of_it > r.outer_s)
                r = (struct regions){ p, p, of_it, of_it };
            if (pass && of_it >= MOSTLY * r.outer_s && of_it < r.inner_s) {
                r.inner = p;
                r.inner_s = of_it;
            }
        }
    return r;
}

/* "in f() at a.c (mostly g()), for 2 s of that (instrumented)" */
static bool say_region(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                       const struct group *g, char *how, size_t bytes)
{
    const struct regions r = regions_that_took(v->model, g);
    const struct fv_late_procedure *p = r.outer;
    char seconds[FV_WORD], inner[300] = "";

    if (!p)
        return false;
    if (r.inner != p)
        snprintf(inner, sizeof(inner), " (mostly %s%s)", r.inner->function, fv_words_brackets(r.inner->function));
    finding->function = p->function;
    finding->file = p->file;
    snprintf(how, bytes, "in %s%s%s%s%s, for %s of that (instrumented)", p->function, fv_words_brackets(p->function),
             p->file ? " in " : "", p->file ? fv_base_name(p->file) : "", inner,
             fv_words_seconds(fmin(r.outer_s, g->cost_s), seconds));
    fv_finding_next(f, finding, "functions that made others wait: %s",
                    FV_FINDING_COMMAND(v->model, "report", "--table", "late_procedures"));
    return true;
}

/* Was it preempted for most of what it was late? In computing by the kernel's context switches, in MPI by its run
 * delay: of a disturbed run. Seconds; 0: no. */
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

/* ", by other ranks"; "": which process it was, or whether it was one of the rank's own threads, is not known. */
static const char *say_who(const struct fv_model *m, uint32_t rank, double had_s, char out[140])
{
    const struct fv_noise_rank *culprit = fv_noise_culprit(m, rank, had_s);
    const struct fv_noise_other *by = culprit ? &fv_model_noise(m)->others[culprit->by] : NULL;

    out[0] = '\0';
    if (fv_ranks_crowd(m, rank))
        snprintf(out, 140, ", by other ranks");
    else if (by && by->rank != FV_NONE)
        snprintf(out, 140, ", most likely by rank %d", m->ranks[by->rank].world_rank);
    else if (by)
        snprintf(out, 140, ", most likely by `%.60s`", by->name);
    return out;
}

static void say_preempted(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                          const char *ranks, const char *where, double had_s)
{
    char had[FV_WORD], who[140], rank[40], name[400];

    finding->by_machine = true;
    snprintf(rank, sizeof(rank), "rank %d", v->model->ranks[finding->rank].world_rank);
    const bool is_one = !strcmp(rank, ranks);
    fv_finding_say(f, finding, "%s%s because %s was preempted for %s%s. This was %s",
                   is_one ? rank : "ranks waited, most of it", is_one ? " made others wait" : "", is_one ? "it" : rank,
                   fv_words_seconds(had_s, had), say_who(v->model, finding->rank, had_s, who), where);
    struct fv_excess slow = fv_excess_of(v, finding->rank);
    if (slow.procedure)
        fv_finding_next(f, finding,
                        "it also computes longer than others, in %s (sampled), which is a part of this; fvmpi doctor "
                        "shows what else disturbs the run",
                        fv_procedure_words(slow.procedure, name, sizeof(name)));
    else
        fv_finding_next(f, finding, "this is no fault of the program; fvmpi doctor shows what else disturbs the run");
}

/* Is it of one rank alone, in computing? Then noise speaks of the same preemption. */
static bool is_of_noise(const struct group *g, double had_s)
{
    return had_s > 0 && g->where == FV_PLACE_COMPUTING && g->most_s >= NEARLY_ALL * g->cost_s;
}

/* The finding of noise is of the same preemption: it says as well what the trace puts down to that, and this is no
 * finding of its own. */
static bool is_said_by_noise(const struct fv_findings *f, const struct group *g, double had_s)
{
    for (size_t i = 0; i < f->count && is_of_noise(g, had_s); i++)
        if (f->items[i].charged_s > 0 && f->items[i].rank == g->most)
            return true;
    return false;
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
    char name[400], mine[FV_WORD], others[FV_OTHERS_WORDS], kernel[FV_KERNEL_WORDS];
    struct fv_excess by_samples = { 0 };
    double delay_s = 0;

    if (g->where == FV_PLACE_COMPUTING && v->model->rank_count > 1 &&
        fv_kernel_words(v, g->most, g->most_s / (v->model->rank_count - 1), kernel)) {
        snprintf(how, bytes, "in the kernel, where rank %d spends %s", v->model->ranks[g->most].world_rank, kernel);
        fv_kernel_next(f, finding, v->model);
        return true;
    }
    by_samples.procedure = procedure_of(v, g, false, &delay_s);
    if (by_samples.procedure) {
        fv_excess_place(v, f, finding, &by_samples);
        snprintf(how, bytes, "in %s, for %s of that (sampled)",
                 fv_procedure_words(by_samples.procedure, name, sizeof(name)), fv_words_seconds(delay_s, mine));
        return true;
    }
    if (say_region(v, f, finding, g, how, bytes))
        return true;
    if (g->where == FV_PLACE_COMPUTING)
        by_samples = fv_excess_of(v, g->most);
    if (!by_samples.procedure || !may_be_before(&v->model->causes, g, by_samples.procedure))
        return false;
    fv_excess_place(v, f, finding, &by_samples);
    snprintf(how, bytes, "in %s, where rank %d spends %s of CPU time, %s (sampled)",
             fv_procedure_words(by_samples.procedure, name, sizeof(name)), v->model->ranks[g->most].world_rank,
             fv_words_seconds(by_samples.rank_s, mine), fv_excess_others(v->model, by_samples.others_s, others));
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
    snprintf(how, bytes, "in %s for %s of %s (sampled)", fv_procedure_words(by_samples.procedure, name, sizeof(name)),
             fv_words_seconds(of_it_s, mine), fv_words_seconds(sampled_before(&v->model->causes, g), all));
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
        { "MPICH", ", or set MPICH_ASYNC_PROGRESS=1 (a thread then makes progress, and needs a processor)" },
        { "CRAY", ", or set MPICH_ASYNC_PROGRESS=1 (a thread then makes progress, and needs a processor)" },
    };

    for (size_t i = 0; m->mpi && i < sizeof(remedies) / sizeof(*remedies); i++)
        if (strstr(m->mpi, remedies[i].mpi))
            return remedies[i].remedy;
    return "";
}

/* What functions for files took of the delay. */
static bool is_io(const struct fv_profile *v, const struct group *g, char words[FV_IO_WORDS])
{
    uint32_t others = v->model->rank_count - 1;

    return g->where == FV_PLACE_COMPUTING &&
           fv_io_words(v, region_of(v->model, g), g->most, others ? ITS_REASON * g->most_s / others : 0, words);
}

/* For so long it was preempted, and that is what is said of it; 0: it has another reason. */
static double disturbed_for(const struct fv_profile *v, const struct fv_findings *f, const struct group *g)
{
    char blocked[FV_IO_WORDS];
    const enum fv_doing doing = is_withheld(g) ? FV_NOT_KNOWN : doing_of(v, g);

    if (doing == FV_IS_BLOCKED || doing == FV_AWAITS_OWN || (!is_withheld(g) && is_io(v, g, blocked)))
        return 0;
    return preempted_for(v, f, g);
}

static void add_withheld(const struct fv_profile *v, struct fv_findings *f, const struct group *g, double had_s,
                         const struct fv_places *places)
{
    const struct fv_model *m = v->model;
    char ranks[220], where[2500], how[900], name[300];
    struct fv_finding *finding = fv_finding_add(f, g->cost_s, FV_EVIDENCE_ESTIMATE);
    finding->rank = g->most;
    finding->site = g->site;
    say_ranks(m, g, ranks);
    say_where(places, g, where, sizeof(where));
    if (had_s > 0) {
        say_preempted(v, f, finding, ranks, where, had_s);
        return;
    }
    bool known = say_function(v, f, finding, g, how, sizeof(how)) || say_most(v, f, finding, g, how, sizeof(how));
    const char *lines = finding->next;
    fv_finding_say(f, finding,
                   "others waited for %s to be in MPI calls. The messages were posted, but MPI moves them only during "
                   "such calls. Between them, rank %d computed%s%s. This was %s",
                   ranks, m->ranks[g->most].world_rank, known ? " " : "", known ? how : "", where);
    fv_words_short(finding->function ? finding->function : "the computation", name, sizeof(name));
    fv_finding_next(f, finding,
                    "balance it, or call MPI_Test in %s often, or send messages below the eager limit%s%s%s", name,
                    progress_remedy(m), *lines ? "; " : "", lines);
}

/* Is there a measured function that must have half of the delay in what the rank computed before that call? */
static bool is_by_calls(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                        const struct group *g, char calls[FV_EXCESS_WORDS])
{
    const struct fv_model *m = v->model;
    double rest_s = fv_outside_s(m, g->most);

    if (g->where != FV_PLACE_COMPUTING || m->rank_count < 2)
        return false;
    for (size_t i = 0; i < m->region_rank_count; i++)
        if (m->region_ranks[i].rank == g->most && m->region_ranks[i].site == g->site)
            rest_s -= m->region_ranks[i].main_s;
    return fv_excess_by_calls(v, f, finding, g->most, ITS_REASON * g->most_s / (m->rank_count - 1), fmax(rest_s, 0),
                              calls);
}

/* The rank computes, as far as is known: where? `slow`: "rank 1 made others wait. It was slow" */
static void say_slow(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                     const struct group *g, const char *slow, const char *where)
{
    const struct fv_model *m = v->model;
    char how[900], calls[FV_EXCESS_WORDS];

    if (say_function(v, f, finding, g, how, sizeof(how))) {
        fv_finding_say(f, finding, "%s %s. This was %s", slow, how, where);
        return;
    }
    if (is_by_calls(v, f, finding, g, calls)) {
        fv_finding_say(f, finding, "%s %s. Rank %d %s", slow, where, m->ranks[g->most].world_rank, calls);
        return;
    }
    if (say_most(v, f, finding, g, how, sizeof(how))) {
        fv_finding_say(f, finding, "%s %s. There rank %d computes %s", slow, where, m->ranks[g->most].world_rank, how);
        return;
    }
    fv_finding_say(f, finding, "%s %s", slow, where);
    if (fv_model_costs(m)->ticks)
        fv_finding_next(f, finding, "all places that ranks waited for: %s",
                        FV_FINDING_COMMAND(m, "report", "--table", "culprits"));
    else
        fv_finding_next(f, finding, "%s",
                        *m->mpi ? "fvmpi run --trace --sample names the function"
                                : "let the tool that wrote the archive instrument the program's functions");
}

static void add_late(const struct fv_profile *v, struct fv_findings *f, const struct group *g, double had_s,
                     const struct fv_places *places)
{
    const struct fv_model *m = v->model;
    const enum fv_doing doing = doing_of(v, g);
    const bool is_off = doing == FV_IS_BLOCKED || doing == FV_AWAITS_OWN;
    char ranks[220], where[2500], blocked[FV_IO_WORDS], slow[300], calls[FV_EXCESS_WORDS];
    const bool for_files = is_io(v, g, blocked);
    struct fv_finding *finding =
        fv_finding_add(f, g->cost_s, g->is_estimate ? FV_EVIDENCE_ESTIMATE : FV_EVIDENCE_EXACT);
    finding->rank = g->most;
    finding->site = g->site;
    bool several = say_ranks(m, g, ranks);
    say_where(places, g, where, sizeof(where));
    snprintf(slow, sizeof(slow), "%s made others wait. %s slow", ranks, several ? "They were" : "It was");
    if (had_s > 0) {
        say_preempted(v, f, finding, ranks, where, had_s);
    } else if (for_files) {
        fv_finding_say(f, finding, "%s %s. There rank %d %s", slow, where, m->ranks[g->most].world_rank, blocked);
        fv_finding_next(f, finding, "%s", fv_io_next(m, region_of(m, g)));
    } else if (is_off) {
        const bool by_calls = is_by_calls(v, f, finding, g, calls);
        fv_finding_say(f, finding, "%s %s. There rank %d %s%s%s", slow, where, m->ranks[g->most].world_rank,
                       fv_blocked_words(m, g->most, region_of(m, g), blocked), by_calls ? ". It " : "",
                       by_calls ? calls : "");
        fv_finding_next(f, finding,
                        doing != FV_IS_BLOCKED               ? FV_NEXT_AWAITS
                        : fv_region_asks(m, region_of(m, g)) ? FV_NEXT_ASKS
                                                             : FV_NEXT_BLOCKED);
    } else {
        say_slow(v, f, finding, g, slow, where);
    }
}

struct groups {
    struct group *items; /* those that cost most, most first */
    size_t count;
};

static struct groups groups_of(const struct fv_model *m)
{
    const struct fv_causes *c = &m->causes;
    struct groups groups = { .items = NULL };

    if (c->source != FV_CAUSES_TRACE || !c->culprit_count)
        return groups;
    groups.items = fv_xcalloc(c->culprit_count, sizeof(*groups.items));
    for (size_t i = 0; i < c->culprit_count; i++) {
        struct group *g = group_of(groups.items, &groups.count, &c->culprits[i]);

        g->cost_s += c->culprits[i].cost_s;
        g->direct_s += c->culprits[i].direct_s;
        g->withheld_s += c->culprits[i].withheld_s;
        g->is_estimate |= !fv_culprit_is_exact(c, &c->culprits[i]);
        if (c->culprits[i].cost_s <= g->most_s)
            continue;
        g->most_s = c->culprits[i].cost_s;
        g->most = c->culprits[i].rank;
    }
    qsort(groups.items, groups.count, sizeof(*groups.items), by_cost);
    groups.count = groups.count < MOST ? groups.count : MOST;
    return groups;
}

double fv_late_by_preemption_s(const struct fv_profile *v, const struct fv_findings *f, uint32_t rank)
{
    struct groups groups = groups_of(v->model);
    double sum = 0;

    for (size_t i = 0; i < groups.count; i++) {
        const struct group *g = &groups.items[i];

        if (g->most == rank && fv_finding_worth(v, g->cost_s) && is_of_noise(g, disturbed_for(v, f, g)))
            sum += g->cost_s;
    }
    free(groups.items);
    return sum;
}

/* One of the two kinds. */
static void find_ranks(const struct fv_profile *v, struct fv_findings *f, bool withheld)
{
    struct fv_places places = { .view = v };
    struct groups groups = groups_of(v->model);

    for (size_t i = 0; i < groups.count; i++)
        fv_places_add(&places, groups.items[i].site);
    for (size_t i = 0; i < groups.count; i++) {
        const struct group *g = &groups.items[i];

        if (is_withheld(g) != withheld || !fv_finding_worth(v, g->cost_s))
            continue;
        const double had_s = disturbed_for(v, f, g);
        if (!is_said_by_noise(f, g, had_s))
            (withheld ? add_withheld : add_late)(v, f, g, had_s, &places);
    }
    fv_places_release(&places);
    free(groups.items);
}

FV_FINDING(late_ranks)
{
    find_ranks(v, f, false);
}

FV_FINDING(withheld_progress)
{
    find_ranks(v, f, true);
}
