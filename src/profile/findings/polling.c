/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding: ranks that ask again and again whether something has come, and do nothing else meanwhile: they wait. What is
 * between such calls is no computing (struct fv_rank, polled_s). */
#include "profile/findings/findings.h"
#include "profile/places.h"
#include "tool/words.h"

/* The rank that polls longest, and where most of it is. */
struct polling {
    double seconds;      /* of all ranks */
    double rank_s;       /* of this one: */
    uint32_t rank, site; /* FV_NONE: none polls */
    uint64_t calls;
    bool elsewhere; /* not all of it is at that site */
};

static double polls_s(const struct fv_rank *r)
{
    return r->polled_s + r->asked_s;
}

static struct polling find(const struct fv_model *m)
{
    struct polling p = { .site = FV_NONE };
    double most_s = -1;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        p.seconds += polls_s(&m->ranks[i]);
        if (polls_s(&m->ranks[i]) > p.rank_s) {
            p.rank = i;
            p.rank_s = polls_s(&m->ranks[i]);
        }
    }
    for (size_t i = 0; i < m->region_rank_count; i++) {
        const struct fv_region_rank *part = &m->region_ranks[i];
        double s = part->main_s + fv_region_call_s(m, part);

        if (part->rank != p.rank || !part->main_count || !part->polls)
            continue;
        p.elsewhere |= p.site != FV_NONE && p.site != part->site;
        p.calls += part->main_count;
        if (s > most_s) {
            most_s = s;
            p.site = part->site;
        }
    }
    return p;
}

FV_FINDING(polling)
{
    const struct fv_model *m = v->model;
    const struct polling p = find(m);
    struct fv_places places = { .view = v };
    char where[2400], most[FV_WORD], outside[FV_WORD], calls[FV_WORD];

    if (p.site == FV_NONE || !(p.seconds >= FV_FINDING_WORTH * m->efficiency.total_s))
        return;
    struct fv_finding *finding = fv_finding_add(f, p.seconds, FV_EVIDENCE_ESTIMATE);
    fv_places_add(&places, p.site);
    fv_place_words(&places, p.site, FV_PLACE_MPI, where, sizeof(where));
    finding->site = p.site;
    finding->rank = p.rank;
    fv_finding_say(f, finding,
                   "rank %d asks %s times whether something has come, and does nothing between: it waits for %s%s in "
                   "%s. %s of it are outside of MPI",
                   m->ranks[p.rank].world_rank, fv_words_count(p.calls, calls), fv_words_seconds(p.rank_s, most),
                   p.elsewhere ? ", mostly" : "", where, fv_words_seconds(m->ranks[p.rank].polled_s, outside));
    fv_finding_next(f, finding,
                    "to see for which rank it waits, trace the program with MPI_Wait in that place; or let it "
                    "compute between these calls");
    fv_places_release(&places);
}
