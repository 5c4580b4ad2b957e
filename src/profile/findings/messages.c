/* Finding: messages so small and so many that their latency is what they cost. */
#include "profile/findings/findings.h"
#include "profile/places.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

#define SMALL     11     /* bucket: up to 1 KiB */
#define MANY      1000.0 /* a second and rank, from there on */
#define MUCH      0.10   /* of the ranks' time */
#define NEARLY    0.9    /* of all messages: then all calls that move messages are theirs */

struct messages {
    uint64_t count, all; /* messages: small ones, and of any size */
    uint64_t bytes;
    double seconds; /* in calls that move small ones */
};

static void add_buckets(struct messages *s, const struct fv_func *f)
{
    for (unsigned i = 0; i < FV_SIZE_BUCKETS; i++) {
        s->all += f->sent[i].count;
        if (i > SMALL)
            continue;
        s->count += f->sent[i].count;
        s->bytes += f->sent[i].bytes;
        s->seconds += f->sent[i].seconds + f->received[i].seconds;
    }
}

static bool is_theirs(const struct fv_func *f)
{
    return f->class == FV_CLASS_P2P || f->class == FV_CLASS_COMPLETION;
}

static struct messages small_messages(const struct fv_model *m)
{
    struct messages s = { 0 };
    double all_s = 0;

    for (size_t i = 0; i < m->function_count; i++) {
        if (m->functions[i].class == FV_CLASS_P2P)
            add_buckets(&s, &m->functions[i]);
        if (is_theirs(&m->functions[i]))
            all_s += m->functions[i].time.sum;
    }
    if ((double)s.count >= NEARLY * (double)s.all)
        s.seconds = all_s; /* with those that only wait for them */
    return s;
}

/* The call site that takes most of it; FV_NONE. Sites are by time. */
static uint32_t main_site(const struct fv_model *m)
{
    for (uint32_t i = 0; i < m->site_count; i++)
        if (is_theirs(&m->functions[m->sites[i].function]))
            return i;
    return FV_NONE;
}

/* Ranks that come late make the others' messages wait, which is no latency. */
static double explained_s(const struct fv_findings *f)
{
    static const char *const late[] = { "late_rank", "blocked_rank", "load_imbalance" };
    double sum = 0;

    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < sizeof(late) / sizeof(*late); k++)
            if (!strcmp(f->items[i].def->name, late[k]))
                sum += f->items[i].lost_s;
    return sum;
}

void fv_find_small_messages(const struct fv_profile *v, struct fv_findings *f)
{
    const struct fv_model *m = v->model;
    const struct messages s = small_messages(m);
    double total_s = m->efficiency.total_s, lost_s = s.seconds - explained_s(f);
    struct fv_places places = { .view = v };
    char count[FV_WORD], size[FV_WORD], where[2400];
    uint32_t site = main_site(m);

    if (site == FV_NONE || !(lost_s >= MUCH * total_s) || (double)s.count < MANY * total_s)
        return;
    struct fv_finding *finding = fv_finding_add(f, lost_s, FV_EVIDENCE_ESTIMATE);
    fv_places_add(&places, site);
    fv_place_words(&places, site, FV_PLACE_MPI, where, sizeof(where));
    finding->site = site;
    fv_finding_say(f, finding, "%s messages of %s on average: their latency; most in %s", fv_words_count(s.count, count),
                   fv_words_bytes(s.bytes / s.count, size), where);
    fv_finding_next(f, finding, "send fewer and longer ones, or more at once; sizes: fvmpi report %s --table message_sizes",
                    m->directory);
    fv_places_release(&places);
}
