/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding: messages so small and so many that their latency is what they cost. */
#include "profile/findings/findings.h"
#include "profile/places.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

#define SMALL 11     /* bucket: up to 1 KiB */
#define MANY  1000.0 /* a second and rank, from there on */
#define MUCH  0.10   /* of the ranks' time */
#define FEW   0.01   /* of the messages: calls behind each other that are fewer are not where the time is */
/* seconds: between calls that follow each other nothing is computed, and fvmpi itself takes a part of it */
#define BRIEF  1e-6
#define NEARLY 0.9 /* of the time that moves messages: else small ones may wait behind large ones */

struct messages {
    uint64_t count, bytes; /* small ones */
    double seconds;        /* in calls that move or wait for them; 0: in those that move others, too */
};

static double seconds_in(const struct fv_func *f, unsigned buckets)
{
    double sum = 0;

    for (unsigned i = 0; i < buckets; i++)
        sum += f->sent[i].seconds + f->received[i].seconds;
    return sum;
}

static struct messages small_messages(const struct fv_model *m)
{
    double all_s = 0, waits_s = 0;
    struct messages s = { 0 };

    for (size_t i = 0; i < m->function_count; i++) {
        const struct fv_func *f = &m->functions[i];

        waits_s += f->class == FV_CLASS_COMPLETION ? f->stat.sum_s : 0;
        if (f->class != FV_CLASS_P2P)
            continue;
        all_s += seconds_in(f, FV_SIZE_BUCKETS);
        s.seconds += seconds_in(f, SMALL + 1);
        for (unsigned k = 0; k <= SMALL; k++) {
            s.count += f->sent[k].count;
            s.bytes += f->sent[k].bytes;
        }
    }
    s.seconds = s.seconds >= NEARLY * all_s ? s.seconds + waits_s : 0; /* and what only waits is theirs, too */
    return s;
}

static bool is_of_messages(const struct fv_model *m, const struct fv_site *s)
{
    uint8_t class = m->functions[s->function].class;

    return class == FV_CLASS_P2P || class == FV_CLASS_COMPLETION;
}

/* The call site of such messages that takes most time; FV_NONE. Sites are by time. */
static uint32_t main_site(const struct fv_model *m)
{
    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct fv_site *s = &m->sites[i];
        bool is_small = s->stat.bytes_sent + s->stat.bytes_received <= s->stat.calls * fv_size_bucket_high(SMALL);

        if (is_of_messages(m, s) && is_small)
            return i;
    }
    return FV_NONE;
}

/* Ranks that come late make the others' messages wait, which is no latency. By the trace, also those of noise. */
static double explained_s(const struct fv_findings *f)
{
    static const char *const late[] = { "late_rank", FV_NO_PROGRESS, "blocked_rank", "load_imbalance" };
    double sum = 0;

    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < sizeof(late) / sizeof(*late); k++)
            if (!strcmp(f->items[i].def->name, late[k]))
                sum += f->items[i].lost_s;
    for (size_t i = 0; i < f->count; i++)
        sum += f->items[i].charged_s;
    return sum;
}

/* What ranks compute between calls that move most of so many messages. */
static double computed_between(const struct fv_model *m, uint64_t messages)
{
    double sum = 0;

    for (size_t i = 0; i < m->region_rank_count; i++) {
        const struct fv_region_rank *r = &m->region_ranks[i];

        if (is_of_messages(m, &m->sites[r->site]) &&
            (double)r->count * (double)m->rank_count >= FEW * (double)messages && r->seconds > BRIEF * (double)r->count)
            sum += r->seconds;
    }
    return sum;
}

/* Where ranks take turns, one waits while another computes. What the others compute between these messages, each waits
 * for at most: is there much besides? Where there is an analysis of the trace, its late ranks tell. */
static bool is_latency(const struct fv_model *m, uint64_t messages, double lost_s)
{
    double for_others_s = (double)(m->rank_count - 1) * computed_between(m, messages);

    return m->causes.source == FV_CAUSES_TRACE || lost_s - for_others_s >= MUCH * m->efficiency.total_s;
}

/* A rank that waits for a processor makes the rank wait that is to get its messages. */
static double without_processor_s(const struct fv_findings *f)
{
    const struct fv_finding *disturbed = fv_findings_named(f, FV_FINDING_DISTURBED);

    return disturbed ? 2 * disturbed->lost_s : 0;
}

FV_FINDING(small_messages)
{
    const struct fv_model *m = v->model;
    const struct messages s = small_messages(m);
    double total_s = m->efficiency.total_s, lost_s = s.seconds - explained_s(f);
    struct fv_places places = { .view = v };
    char count[FV_WORD], size[FV_WORD], where[2400];
    uint32_t site = main_site(m);

    if (site == FV_NONE || !s.count || !(total_s > 0) || !(lost_s >= MUCH * total_s) ||
        (double)s.count < MANY * total_s)
        return;
    lost_s -= without_processor_s(f);
    if (lost_s < MUCH * total_s) {
        fv_findings_leave(f, "what %s messages of %s on average cost: ranks had no processor for as long",
                          fv_words_count(s.count, count), fv_words_bytes(s.bytes / s.count, size));
        return;
    }
    struct fv_finding *finding = fv_finding_add(f, lost_s, FV_EVIDENCE_ESTIMATE);
    fv_places_add(&places, site);
    fv_place_words(&places, site, FV_PLACE_MPI, where, sizeof(where));
    finding->site = site;
    bool latency = is_latency(m, s.count, lost_s);
    fv_finding_say(f, finding, "%s messages of %s on average: their cost is latency%s. The largest part is in %s",
                   fv_words_count(s.count, count), fv_words_bytes(s.bytes / s.count, size),
                   latency ? ", not bandwidth" : ", or the ranks take turns", where);
    if (latency)
        fv_finding_next(f, finding, "send fewer and longer messages, or several at once; sizes: %s",
                        FV_FINDING_COMMAND(m, "report", "--table", "message_sizes"));
    else
        fv_finding_next(f, finding, "a trace shows which of the two: fvmpi run --trace, then fvunify");
    fv_places_release(&places);
}
