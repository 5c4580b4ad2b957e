/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of the run rather than of the program: processors, start and end, names. */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/functions/instrumentation.h"
#include "profile/hang/hang.h"
#include "profile/machine/facts.h"
#include "profile/noise/noise.h"
#include "profile/profile.h"
#include "profile/threads/phases.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

#define DISTURBED 0.05 /* of the ranks' time */
#define STARTUP   0.25 /* of the ranks' time */
#define NAMELESS  0.5  /* of the time in MPI */
/* of the CPU time that a rank's processors have: else it is not its own threads that leave each other none */
#define BUSY        0.5
#define OWN         0.1   /* of the CPU time: what fvmpi itself may have before that is told ... */
#define OWN_LEAST_S 0.1   /* ... and so much of it */
#define QUICK_S     0.005 /* of a rank, without a processor: a turn of the kernel's scheduler, or about */

uint32_t fv_threads_at_least(const struct fv_model *m, const struct fv_rank *r)
{
    uint32_t threads = r->own_threads_s > DISTURBED * r->app_time_s ? 2 : 1;

    for (size_t i = 0; i < fv_model_phases(m)->count; i++)
        threads = fv_model_phases(m)->items[i].sums.threads_max > threads
                      ? fv_model_phases(m)->items[i].sums.threads_max
                      : threads;
    return threads;
}

static bool is_within(const uint64_t *mask, const uint64_t *of, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (mask[i] & ~of[i])
            return false;
    return true;
}

/* The ranks that may run on nothing but the processors of one, and what they had of them. */
struct company {
    size_t ranks;
    double cpu_s; /* NAN: not known */
};

static struct company company_of(const struct fv_model *m, const struct fv_rank *r)
{
    struct company c = { 0 };

    for (size_t i = 0; i < m->rank_count; i++)
        if (!strcmp(m->ranks[i].host, r->host) &&
            is_within(m->ranks[i].cpu_mask, r->cpu_mask, sizeof(r->cpu_mask) / sizeof(*r->cpu_mask))) {
            c.ranks++;
            c.cpu_s += m->ranks[i].cpu_s;
        }
    return c;
}

/* A rank that waits for a processor waits for what has it: these are others where ranks had less than half of what its
 * processors have. */
static bool are_others(const struct fv_rank *r, const struct company *c)
{
    return r->cpus && c->cpu_s < BUSY * (double)r->cpus * r->app_time_s;
}

bool fv_ranks_crowd(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];
    const struct company c = company_of(m, r);

    return r->cpus && c.ranks > r->cpus && !are_others(r, &c);
}

/* Processes of the rank's node that used CPU time meanwhile. */
static bool others_seen(const struct fv_model *m, const struct fv_rank *r)
{
    const struct fv_noise_view *n = fv_model_noise(m);

    for (size_t i = 0; i < n->other_count; i++)
        if (n->others[i].rank == FV_NONE && !strcmp(n->others[i].host, r->host))
            return true;
    return false;
}

/* "The ranks used only 2.44 s of the 14.0 s of CPU time that these processors have; `hog` used 9.38 s": what is
 * known. */
static void say_others(const struct fv_model *m, const struct fv_rank *r, const struct company *c, char *why,
                       size_t bytes)
{
    const struct fv_noise_rank *culprit = fv_noise_culprit(m, (uint32_t)(r - m->ranks), r->ready_s);
    char ranks[40] = "The ranks", had[FV_WORD], all[FV_WORD], by[FV_WORD];

    if (c->ranks == 1)
        snprintf(ranks, sizeof(ranks), "Rank %d", r->world_rank);
    snprintf(why, bytes, "%s used only %s of the %s of CPU time that %s", ranks, fv_words_seconds(c->cpu_s, had),
             fv_words_seconds((double)r->cpus * r->app_time_s, all),
             r->cpus > 1     ? "these processors have"
             : c->ranks == 1 ? "its processor has"
                             : "this processor has");
    if (culprit && fv_model_noise(m)->others[culprit->by].rank == FV_NONE)
        fv_words_add(why, bytes, "; `%.60s` used %s", fv_model_noise(m)->others[culprit->by].name,
                     fv_words_seconds(culprit->by_cpu_s, by));
    else
        fv_words_add(why, bytes, "%s",
                     others_seen(m, r) ? "; no process that fvmpi could see used most of the rest"
                                       : "; what ran there while they waited is not known");
}

/* Did a rank start what had the processor? */
static bool is_own(const struct fv_model *m, const struct fv_rank *r)
{
    return fv_noise_is_own(m, (uint32_t)(r - m->ranks), r->ready_s);
}

static unsigned processors_of(const struct fv_model *m, const char *host)
{
    for (size_t i = 0; i < fv_model_facts(m)->host_count; i++)
        if (!strcmp(fv_model_facts(m)->hosts[i].host, host))
            return fv_model_facts(m)->hosts[i].processors;
    return 0;
}

/* What had the processors of that rank; returns what to do. */
static const char *say_who(const struct fv_model *m, const struct fv_rank *r, char *why, size_t bytes)
{
    const struct company c = company_of(m, r);
    uint32_t threads = fv_threads_at_least(m, r);
    unsigned all = processors_of(m, r->host);

    if (are_others(r, &c)) {
        say_others(m, r, &c, why, bytes);
        return is_own(m, r) ? FV_NEXT_OWN : "use an idle machine, or give the ranks processors of their own";
    }
    if (r->cpus && c.ranks > r->cpus && r->cpus < all) {
        snprintf(why, bytes, "%zu ranks are bound to %u processor%s of %.200s, which has %u", c.ranks, r->cpus,
                 fv_words_s(r->cpus), r->host, all);
        return "do not bind the ranks to the same processors (mpiexec: --bind-to none under Open MPI, -bind-to none "
               "under MPICH; or the program binds its ranks itself)";
    }
    if (r->cpus && c.ranks > r->cpus) {
        snprintf(why, bytes, "%zu ranks share the %u processor%s of %.200s", c.ranks, r->cpus, fv_words_s(r->cpus),
                 r->host);
        return "run fewer ranks on a host";
    }
    if (r->cpus && threads > r->cpus && r->cpu_s > BUSY * (double)r->cpus * r->app_time_s) {
        snprintf(why, bytes, "%u threads of a rank have %u processor%s", threads, r->cpus, fv_words_s(r->cpus));
        return "give each rank more processors (mpiexec: --bind-to none under Open MPI, -bind-to none under MPICH), or "
               "run fewer threads";
    }
    snprintf(why, bytes, "Their processors ran other processes, or other threads of the ranks");
    return is_own(m, r) ? FV_NEXT_OWN : "use an idle machine, or bind the ranks to processors";
}

/* Ranks of a host are in one group, most often: what was kept from all its tasks is shared among them. */
double fv_throttled_s(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];
    size_t together = 0;

    for (size_t k = 0; k < m->rank_count; k++)
        together += m->ranks[k].throttled_s > 0 && !strcmp(m->ranks[k].host, r->host);
    return together ? r->throttled_s / (double)together : 0;
}

static bool is_throttled(const struct fv_model *m, double without_s)
{
    double sum = 0;
    bool any = false;

    for (size_t i = 0; i < m->rank_count; i++)
        any = any || m->ranks[i].throttled_s > 0;
    for (uint32_t i = 0; any && i < m->rank_count; i++)
        sum += fv_throttled_s(m, i);
    return sum > 0.5 * without_s;
}

static const char *say_throttled(char *why, size_t bytes)
{
    snprintf(why, bytes, "The quota of processor time of their control group (cpu.max) was used up");
    return "raise the quota, or run only as many ranks and threads as it has processors for";
}

static const char *say_stolen(char *why, size_t bytes)
{
    snprintf(why, bytes, "The hypervisor gave the processors of this virtual machine to others");
    return "use a machine that others do not share";
}

/* Of a rank's time: other threads had no processor for a part of the time that they wanted one, which is that of so
 * many side by side at least as need it. */
static double others_without_s(const struct fv_rank *r)
{
    double busy_s = r->others_cpu_s + r->others_ready_s;

    return busy_s > 0 ? r->others_ready_s / busy_s * fmin(busy_s, r->app_time_s) : 0;
}

/* So long its main thread was runnable; of a rank that has not ended until that was last read, which is at its last
 * call: since then it may sleep. NAN: not known. */
static double without_s(const struct fv_rank *r, enum fv_evidence *evidence)
{
    double s = r->ready_s;

    if (isfinite(s))
        return s;
    s = r->ready_least_s;
    if (fv_off_is_known(&r->off) && !(s > r->off.preempted_s)) /* in computing alone */
        s = r->off.preempted_s;
    *evidence = FV_EVIDENCE_ESTIMATE;
    return s;
}

FV_FINDING(no_processor)
{
    const struct fv_model *m = v->model;
    double sum = 0, stolen_s = 0, most_s = -1, total = m->efficiency.total_s;
    enum fv_evidence evidence = FV_EVIDENCE_EXACT;
    char each[FV_WORD], part[FV_WORD], why[400];
    uint32_t most = FV_NONE;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];
        double unseen = r->paused_s + r->forgotten_s, s = without_s(r, &evidence);

        if (!isfinite(s))
            continue;
        if (others_without_s(r) > s) {
            s = others_without_s(r);
            evidence = FV_EVIDENCE_ESTIMATE;
        }
        if (r->stolen_s > 0) {
            s += fmin(r->stolen_s, r->app_time_s);
            stolen_s += fmin(r->stolen_s, r->app_time_s);
            evidence = FV_EVIDENCE_ESTIMATE;
        }
        if (unseen > 0) { /* the kernel counted then, too */
            s *= r->app_time_s / (r->app_time_s + unseen);
            evidence = FV_EVIDENCE_ESTIMATE;
        }
        sum += s;
        if (s > most_s) {
            most_s = s;
            most = i;
        }
    }
    if (!(total > 0) || !(sum > DISTURBED * total) || !(most_s > QUICK_S))
        return;
    struct fv_finding *finding = fv_finding_add(f, sum, evidence);
    const char *next = stolen_s > 0.5 * sum   ? say_stolen(why, sizeof(why))
                       : is_throttled(m, sum) ? say_throttled(why, sizeof(why))
                                              : say_who(m, &m->ranks[most], why, sizeof(why));
    finding->rank = most;
    fv_finding_say(f, finding,
                   "ranks%s were runnable but had no processor for %s of their time (rank %d longest: %s). %s. All "
                   "times include this",
                   others_without_s(&m->ranks[most]) > m->ranks[most].ready_s ? ", or threads of theirs," : "",
                   fv_words_percent(sum, total, part), m->ranks[most].world_rank, fv_words_seconds(most_s, each), why);
    fv_finding_next(f, finding, "%s", next);
}

/* Of functions whose calls are so short that measuring one takes a tenth of its own time or more, the one that is
 * called most often, if its calls take a tenth of what fvmpi took by that; NULL: there is none. What measuring takes is
 * that of a loop that does nothing else: it is more among other code. */
#define OF_A_CALL 0.1
static const struct fv_instrumented_function *most_called(const struct fv_instrumentation *of, double own_s)
{
    const struct fv_instrumented_function *most = NULL;

    for (size_t i = 0; i < of->function_count; i++) {
        const struct fv_calls_sum *s = &of->functions[i].sum;

        if (of->call_s * (double)(s->calls - s->counted) >= OF_A_CALL * s->self_s &&
            of->call_s * (double)s->calls >= OF_A_CALL * own_s && (!most || s->calls > most->sum.calls))
            most = &of->functions[i];
    }
    return most;
}

static void say_most_called(const struct fv_profile *v, struct fv_finding *finding,
                            const struct fv_instrumented_function *most, char *out, size_t bytes)
{
    char calls[FV_WORD], name[300];
    struct fv_path path = { 0 };

    fv_path_of(&path, v->symbols, most->node);
    fv_frame_brief(path.count ? &path.frames[0] : NULL, v->symbols, name, sizeof(name));
    finding->function = path.count ? path.frames[0].function : NULL;
    fv_path_release(&path);
    fv_words_add(out, bytes, ". Very short functions are instrumented; %s is called most often, %s times", name,
                 fv_words_count(most->sum.calls, calls));
}

/* CPU time is compared with CPU time: of a run that had no processors for most of its time either is a small part of
 * it. By samples it must be more than chance makes of so many, and is compared with all CPU time: the kernel's has no
 * samples. Else it is what fvmpi measures of itself, without what starting and ending took. False: it is little. */
static bool is_costly(const struct fv_profile *v, double *own_s, double *all_s)
{
    const struct fv_model *m = v->model;

    *all_s = 0;
    for (size_t i = 0; i < m->rank_count; i++)
        *all_s += m->ranks[i].cpu_s;
    if (fv_samples_are_ours(v)) {
        const double sampled_s = fmax(*all_s, (double)v->costs->all.ticks * v->costs->tick_s);

        if (fv_costs_own_least_s(v->costs) >= FV_FINDING_WORTH * sampled_s) {
            *own_s = (double)v->costs->fvmpi_ticks * v->costs->tick_s;
            *all_s = sampled_s;
            return true;
        }
    }
    *own_s = m->overhead.time_s - m->overhead.once_s;
    return *own_s > OWN_LEAST_S && *own_s > OWN * *all_s;
}

FV_FINDING(own_cost)
{
    bool is_filtered = fv_model_option(v->model, "FVMPI_FUNCTIONS_FILTER");
    char part[FV_WORD], why[700] = "";
    double own_s, all_s;

    if (!is_costly(v, &own_s, &all_s))
        return;
    const struct fv_instrumented_function *most = most_called(fv_model_instrumentation(v->model), own_s);
    struct fv_finding *finding =
        fv_finding_add(f, own_s, fv_samples_are_ours(v) ? FV_EVIDENCE_SAMPLES : FV_EVIDENCE_ESTIMATE);
    if (most)
        say_most_called(v, finding, most, why, sizeof(why));
    if (is_filtered)
        fv_words_add(why, sizeof(why), ". Functions that the filter leaves out also cost time at each call");
    fv_finding_say(f, finding, "fvmpi itself takes %s of the CPU time, and all times include this%s",
                   fv_words_percent(own_s, all_s, part), why);
    if (most)
        fv_finding_next(
            f, finding,
            "compile short functions without it: fvcc --fv:exclude, or -finstrument-functions-exclude-function-list; "
            "calls of each: %s",
            FV_FINDING_COMMAND(v->model, "report", "--table", "instrumented"));
    else if (is_filtered)
        fv_finding_next(f, finding,
                        "compile what the filter leaves out without -finstrument-functions: fvcc --fv:exclude, or "
                        "-finstrument-functions-exclude-function-list");
    else
        fv_finding_next(f, finding, "record less: fvmpi run --help lists what is recorded, with its options");
}

FV_FINDING(startup)
{
    const struct fv_model *m = v->model;
    char part[FV_WORD], text[1500];
    double sum = 0;

    for (size_t i = 0; i < m->rank_count; i++) /* whose time leaves out what recording waited */
        sum += fmin(m->ranks[i].init_s + m->ranks[i].finalize_s, m->ranks[i].app_time_s);
    for (size_t i = 0; i < m->function_count; i++)
        if (!strcmp(m->functions[i].name, "MPI_Finalize"))
            sum -= m->functions[i].wait_s; /* for a rank that comes late, as in any other collective call */
    if (fv_hang_headline(m, text, sizeof(text))[0] || !(sum > STARTUP * m->efficiency.total_s))
        return;
    struct fv_finding *finding = fv_finding_add(f, sum, FV_EVIDENCE_EXACT);
    fv_finding_say(f, finding, "MPI_Init and MPI_Finalize take %s of the time",
                   fv_words_percent(sum, m->efficiency.total_s, part));
    fv_finding_next(f, finding, "measure a longer run, of which they are a small part");
}

/* There is a remark about the file already: that it is not there, or is another one. */
static bool is_a_problem(const struct fv_profile *v, const char *module)
{
    const struct fv_problems *p = &v->model->problems;

    for (size_t i = v->recorded_problems; i < p->count; i++)
        if (!strncmp(p->items[i].text, module, strlen(module)) && p->items[i].text[strlen(module)] == ':')
            return true;
    return false;
}

/* Of the program: what a damaged file does not tell has no module. */
static bool is_module(uint32_t module)
{
    return module >= FV_MODEL_FIRST_MODULE && module != FV_NONE;
}

FV_FINDING(no_symbols)
{
    const struct fv_model *m = v->model;
    double all = 0, nameless = 0;
    const char *module = NULL;

    for (size_t i = 0; v->symbols->looked_up && i < m->site_count; i++) {
        struct fv_path path = { 0 };

        all += m->sites[i].stat.sum_s;
        fv_path_of(&path, v->symbols, m->sites[i].node);
        if (path.count && !path.frames[0].function && is_module(path.frames[0].module)) {
            nameless += m->sites[i].stat.sum_s;
            module = module ? module : v->symbols->modules[path.frames[0].module].path;
        }
        fv_path_release(&path);
    }
    if (!module || nameless <= NAMELESS * all || is_a_problem(v, module))
        return;
    struct fv_finding *finding = fv_finding_add(f, NAN, FV_EVIDENCE_EXACT);
    fv_finding_say(f, finding, "most call sites have no function names: %s has no symbols", module);
    fv_finding_next(f, finding, "compile with -g and do not strip it, or install its debug symbols");
}
