/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding: much of the time is known to be waiting, and no other finding explains it. Where that is, and as far as sums
 * over a run show it, which pattern it has. Only a trace knows which rank waited for which. */
#include "profile/findings/findings.h"
#include "profile/hang/hang.h"
#include "profile/iterations/iterations.h"
#include "profile/places.h"
#include "profile/profile.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

#define MUCH        0.10 /* of the ranks' time: less is left to who looks at the table of waiting */
#define SITES       3    /* that are named, at most ... */
#define NAMED       0.1  /* ... each with this part of the waiting */
#define ALIKE       0.9  /* load balance */
#define ALL         0.5  /* of the mean: a rank that waits less does not wait as others do */
#define LINEAR      0.9  /* correlation of waiting with the number of the rank */
#define CHAIN_ENDS  4    /* ranks at each end of a chain that are named */
#define MOST_OF_RUN 0.5  /* that iterations take */
#define SPREAD      0.5  /* of the longest: what waiting must grow by */

/* Of other findings, each of which makes ranks wait for about what it costs. */
static double explained_s(const struct fv_findings *f)
{
    static const char *const others[] = { "startup", FV_FINDING_DISTURBED, "noise" };
    double sum = 0;

    for (size_t i = 0; i < f->count; i++) {
        bool counts = isfinite(f->items[i].lost_s);

        for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
            counts = counts && strcmp(f->items[i].def->name, others[k]);
        sum += (counts ? f->items[i].lost_s : 0) + f->items[i].charged_s;
    }
    return sum;
}

/* The call site with most waiting that is less than that of another one, `before`. FV_NONE. */
static uint32_t next_site(const struct fv_model *m, uint32_t before)
{
    uint32_t most = FV_NONE;

    for (uint32_t i = 0; i < m->site_count; i++) {
        double s = m->sites[i].wait_s;
        bool behind = before == FV_NONE || s < m->sites[before].wait_s || (s == m->sites[before].wait_s && i > before);

        if (behind && s > 0 && (most == FV_NONE || s > m->sites[most].wait_s))
            most = i;
    }
    return most;
}

/* "MPI_Recv in sweep() at pipe.c:30 (61.0 % of it)"; `of`: what wait_s is. */
static void say_sites(const struct fv_profile *v, struct fv_finding *finding, double wait_s, const char *of, char *out,
                      size_t bytes)
{
    const struct fv_model *m = v->model;
    uint32_t site = FV_NONE;
    char place[400], part[FV_WORD];

    out[0] = '\0';
    for (unsigned i = 0; i < SITES && (site = next_site(m, site)) != FV_NONE; i++) {
        if (i && m->sites[site].wait_s < NAMED * wait_s)
            return;
        if (!i)
            finding->site = site;
        fv_words_add(out, bytes, "%s%s in %s (%s%s)", i ? ", " : "", fv_place_function(m, site),
                     fv_place_inner(v, site, place, sizeof(place)),
                     fv_words_percent(m->sites[site].wait_s, wait_s, part), i ? "" : of);
    }
}

/* How waiting at a call site goes with the numbers of the ranks (Pearson's correlation); *first and *last: of the first
 * rank and the last. */
static double correlation(const struct fv_model *m, const struct fv_site *s, double *first, double *last)
{
    double n = (double)m->rank_count, sum = 0, squares = 0, with = 0, most = 0, least = INFINITY, found = 0;

    *first = *last = 0;
    for (uint32_t i = 0; i < s->ranks; i++) {
        const struct fv_site_rank *r = &m->site_ranks[s->first + i];

        sum += r->wait_s;
        squares += r->wait_s * r->wait_s;
        with += r->wait_s * (double)r->rank;
        most = fmax(most, r->wait_s);
        least = fmin(least, r->wait_s);
        found++;
        if (!r->rank)
            *first = r->wait_s;
        if (r->rank + 1 == m->rank_count)
            *last = r->wait_s;
    }
    least = found < n ? 0 : least;
    double of_ranks = (n * n - 1) / 12, variance = squares / n - sum / n * (sum / n),
           covariance = with / n - sum / n * (n - 1) / 2;
    return n > 2 && variance > 0 && most - least >= SPREAD * most ? covariance / sqrt(of_ranks * variance) : 0;
}

static bool is_of_messages(const struct fv_model *m, const struct fv_site *s)
{
    return m->functions[s->function].class == FV_CLASS_P2P || m->functions[s->function].class == FV_CLASS_COMPLETION;
}

static bool sends_to(const struct fv_model *m, size_t from, size_t to)
{
    for (size_t i = 0; i < m->edge_count; i++)
        if (m->edges[i].from == m->ranks[from].world_rank && m->edges[i].to == m->ranks[to].world_rank)
            return true;
    return false;
}

/* " along 0 -> 1 -> 2 -> 3": each rank sends to the next one, or to the one before it. "": some do not. */
static const char *chain_of(const struct fv_model *m, bool upwards, char out[200])
{
    const size_t n = m->rank_count;

    out[0] = '\0';
    for (size_t i = 0; i + 1 < n; i++)
        if (!sends_to(m, upwards ? i : i + 1, upwards ? i + 1 : i))
            return out;
    for (size_t i = 0; i < n; i++)
        if (i < CHAIN_ENDS || i + CHAIN_ENDS >= n)
            fv_words_add(out, 200, "%s%d", i ? " -> " : " along ", m->ranks[upwards ? i : n - 1 - i].world_rank);
        else if (i == CHAIN_ENDS)
            fv_words_add(out, 200, " -> ...");
    return out;
}

/* ", 9.00 ms in each of 60 iterations on average", of what the rank that waits longest waits. "": none are known. */
static const char *each_iteration(const struct fv_model *m, double wait_s, char out[200])
{
    const struct fv_iterations *it = fv_model_iterations(m);
    char mean[FV_WORD], count[FV_WORD];

    out[0] = '\0';
    if (it->count && it->units[0].times.mean_s * (double)it->units[0].count > MOST_OF_RUN * m->elapsed_s)
        snprintf(out, 200, ", %s in each of %s iterations on average",
                 fv_words_seconds(wait_s / (double)it->units[0].count, mean),
                 fv_words_count(it->units[0].count, count));
    return out;
}

/* ". In MPI_Recv in sweep() at pipe.c:30, waiting grows along 0 -> 1 -> 2 from rank 0 (0 s) to rank 2 (2.10 s, 9.00 ms
 * in each of 200 iterations on average): each rank waits for the one before it, as in a pipeline": of messages. False:
 * it does not. */
static bool say_pipeline(const struct fv_profile *v, double wait_s, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    uint32_t site = FV_NONE;
    double first = 0, last = 0, r = 0;
    char least[FV_WORD], most[FV_WORD], place[400], chain[200], each[200];

    for (unsigned i = 0; i < SITES && (site = next_site(m, site)) != FV_NONE && m->sites[site].wait_s >= NAMED * wait_s;
         i++)
        if (is_of_messages(m, &m->sites[site]) && fabs(r = correlation(m, &m->sites[site], &first, &last)) >= LINEAR)
            break;
    if (site == FV_NONE || fabs(r) < LINEAR)
        return false;
    size_t from = r > 0 ? 0 : m->rank_count - 1, to = m->rank_count - 1 - from;
    fv_words_add(out, bytes,
                 ". In %s in %s, waiting grows%s from rank %d (%s) to rank %d (%s%s): each rank waits for the one %s "
                 "it, as in a pipeline",
                 fv_place_function(m, site), fv_place_inner(v, site, place, sizeof(place)), chain_of(m, r > 0, chain),
                 m->ranks[from].world_rank, fv_words_seconds(r > 0 ? first : last, least), m->ranks[to].world_rank,
                 fv_words_seconds(r > 0 ? last : first, most), each_iteration(m, r > 0 ? last : first, each),
                 r > 0 ? "before" : "after");
    return true;
}

/* Equal sums, and all wait. */
static bool say_moving(const struct fv_model *m, char *out, size_t bytes)
{
    double sum = 0, least = INFINITY;
    char balance[FV_WORD];

    for (size_t i = 0; i < m->rank_count; i++) {
        sum += m->ranks[i].wait_time_s;
        least = fmin(least, m->ranks[i].wait_time_s);
    }
    if (!(m->efficiency.load_balance >= ALIKE) || least < ALL * sum / (double)m->rank_count)
        return false;
    fv_words_add(
        out, bytes,
        ". Over the run the ranks compute alike (load balance %s), and all of them wait: the slow rank changes, "
        "or ranks take turns",
        fv_words_percent(m->efficiency.load_balance, 1, balance));
    return true;
}

static void say_most(const struct fv_model *m, struct fv_finding *finding, char *out, size_t bytes)
{
    uint32_t most = 0;
    char waited[FV_WORD];

    for (uint32_t i = 1; i < m->rank_count; i++)
        most = m->ranks[i].wait_time_s > m->ranks[most].wait_time_s ? i : most;
    finding->rank = most;
    fv_words_add(out, bytes, ". Rank %d waits longest: %s", m->ranks[most].world_rank,
                 fv_words_seconds(m->ranks[most].wait_time_s, waited));
}

static void say_next(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding)
{
    const struct fv_model *m = v->model;

    if (m->causes.source == FV_CAUSES_TRACE)
        fv_finding_next(f, finding, "ranks that others wait for: %s",
                        FV_FINDING_COMMAND(m, "report", "--table", "culprits"));
    else if (m->ranks[0].traced)
        fv_finding_next(f, finding, "the trace shows which rank waits for which: %s",
                        FV_COMMAND("fvunify", m->directory));
    else
        fv_finding_next(f, finding, "a trace shows which rank waits for which: fvmpi run --trace, then fvunify");
}

/* Without a trace: who waits in each call alike has no fast one, and the estimate takes that for the transfer. */
static void leave_long(const struct fv_profile *v, struct fv_findings *f)
{
    const struct fv_model *m = v->model;
    const struct fv_func *most = NULL;
    char took[FV_WORD], fastest[FV_WORD];

    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i].long_s > (most ? most->long_s : 0))
            most = &m->functions[i];
    if (!most || !fv_finding_worth(v, m->efficiency.long_s))
        return;
    fv_findings_leave(f, "how much of %s (%s) is waiting: no such call took less than %s; %s shows it", most->name,
                      fv_words_seconds(most->long_s, took), fv_words_seconds(most->fastest_s, fastest),
                      m->ranks[0].traced ? FV_COMMAND("fvunify", m->directory) : "fvmpi run --trace, then fvunify,");
}

static void leave_files(const struct fv_profile *v, struct fv_findings *f)
{
    const struct fv_model *m = v->model;
    const struct fv_func *most = NULL;
    char took[FV_WORD];

    for (size_t i = 0; i < m->function_count; i++)
        if (fv_func_shares_file(&m->functions[i]) && (!most || m->functions[i].stat.sum_s > most->stat.sum_s))
            most = &m->functions[i];
    if (most && fv_finding_worth(v, m->efficiency.files_s))
        fv_findings_leave(f, "how much of %s (%s) is waiting for other ranks; %s shows it", most->name,
                          fv_words_seconds(most->stat.sum_s, took),
                          m->ranks[0].traced ? FV_COMMAND("fvunify", m->directory)
                                             : "fvmpi run --trace, then fvunify,");
}

static void leave_elsewhere(const struct fv_profile *v, struct fv_findings *f)
{
    char spent[FV_WORD];

    if (fv_finding_worth(v, v->model->efficiency.elsewhere_s))
        fv_findings_leave(
            f,
            "waiting for processes of another MPI_COMM_WORLD, in calls that took %s: the trace has nothing "
            "of them",
            fv_words_seconds(v->model->efficiency.elsewhere_s, spent));
}

FV_FINDING(waiting)
{
    const struct fv_model *m = v->model;
    const struct fv_finding *disturbed = fv_findings_named(f, FV_FINDING_DISTURBED);
    double wait_s = m->efficiency.wait_s, total_s = m->efficiency.total_s, left_s = wait_s - explained_s(f);
    char text[3000], part[FV_WORD], sites[1500];

    if (m->rank_count > 1 && !fv_model_hang(m)) {
        leave_long(v, f);
        leave_files(v, f);
    }
    leave_elsewhere(v, f);
    if (m->rank_count < 2 || fv_model_hang(m) || m->efficiency.wait_kind == FV_WAIT_UNKNOWN ||
        !fv_finding_worth(v, left_s))
        return;
    if (disturbed && left_s - disturbed->lost_s < MUCH * total_s) {
        fv_findings_leave(f, "what ranks wait for (%s of their time): they had no processor for as long",
                          fv_words_percent(left_s, total_s, part));
        return;
    }
    if (left_s < MUCH * total_s) {
        fv_findings_leave(f, "what ranks wait for (%s of their time): %s", fv_words_percent(left_s, total_s, part),
                          m->causes.source == FV_CAUSES_TRACE ? "section Waiting has more"
                                                              : "fvmpi run --trace, then fvunify, shows it");
        return;
    }
    struct fv_finding *finding =
        fv_finding_add(f, left_s, m->efficiency.wait_kind == FV_WAIT_EXACT ? FV_EVIDENCE_EXACT : FV_EVIDENCE_ESTIMATE);
    /* Which of it other findings explain is not known by call site. */
    say_sites(v, finding, wait_s, left_s < wait_s ? " of all waiting" : " of it", sites, sizeof(sites));
    snprintf(text, sizeof(text), "ranks wait in MPI, longest in %s. %s", sites,
             m->causes.source == FV_CAUSES_TRACE ? "No single place is the cause"
                                                 : "A profile does not show for which rank");
    if (!say_pipeline(v, wait_s, text, sizeof(text)) && !say_moving(m, text, sizeof(text)))
        say_most(m, finding, text, sizeof(text));
    fv_finding_say(f, finding, "%s", text);
    say_next(v, f, finding);
}
