/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: which instances were chosen without bias.
 *
 * Of the entries of a function the one is measured that comes next after a tick. The longer the time since
 * the entry before, its gap, the likelier a tick falls into it: entries after long calls are favoured. A tick
 * within W before the entry is equally likely for all entries whose gaps are not shorter than W. So W is the
 * 5th percentile of the gaps before the entries in a context, as far as they are known, and till then of the
 * durations there, which are not longer than the gaps as long as the function does not call itself.
 *
 * Gaps are seen by leaving the breakpoint where it is after an instance's entry: up to the next entry in the
 * same context, or a few in others. All times are CPU time, because that is what ticks measure.
 *
 * The first gaps are often of one phase of the program, and so W may turn out to have been too long. An entry
 * is then less likely to be chosen than entries before were; to be alike, those chosen by the longer W count
 * in part, as if so many of them had not been chosen. W becomes longer again only when it is much too short:
 * entries of before count for less than those of now then, and each time that it shrinks again some are lost.
 */
#include "sampler/sampler.h"

#define WINDOW_FROM 16u /* instances */
#define GAPS_FEW    20u /* are enough for a first percentile */
#define GAP_CHAIN   4u  /* entries that one look for gaps takes at most */
/* Of the instances of a context that knows a few gaps, or has room for no more, one in so many goes on to
 * another. */
#define GAP_EVERY_FEW 4u
#define GAP_EVERY     16u
#define GROWTH        2u /* W becomes longer when it would by this factor */

uint64_t fv_since_armed(const struct fv_sampler *s, const struct fv_x_slot *x, uint64_t now_ns)
{
    uint64_t tool = s->tool_ns - x->armed_tool_ns + fv_sampler_calibration.trap_ns;

    return fv_minus(now_ns - x->armed_cpu_ns, tool);
}

bool fv_window_holds(const struct fv_sampler *s, const struct fv_x_slot *x, uint32_t context, uint64_t now_ns)
{
    uint64_t window = s->context[context].window_ns;

    return window >= fv_sampler_calibration.trap_ns && fv_since_armed(s, x, now_ns) <= window;
}

/* ---- gaps ---- */

bool fv_gap_begin(struct fv_sampler *s, struct fv_x_slot *x, uint32_t context)
{
    uint32_t known = s->context[context].gap_count;
    uint32_t every = known < GAPS_FEW ? 1 : known < FV_GAPS ? GAP_EVERY_FEW : GAP_EVERY;

    if (fv_sampler_random(s) % every || fv_step_is_missing(s))
        return false;
    x->gaps = GAP_CHAIN;
    x->gap_context = context;
    x->age = 0;
    x->fresh = true;
    return true;
}

static void add_gap(struct fv_sampler *s, struct fv_sampler_context *c, uint64_t gap_ns)
{
    uint64_t place = c->gap_count < FV_GAPS ? c->gap_count : fv_sampler_random(s) % (c->gap_count + 1u);

    c->gap_count++;
    if (place < FV_GAPS)
        c->gap_ns[place] = gap_ns;
    if (gap_ns < c->window_ns)
        c->refresh_at = 0;
}

void fv_gap_end(struct fv_sampler *s, struct fv_x_slot *x, const struct fv_registers *entry, uint64_t now_ns)
{
    uint32_t node, context = FV_SAMPLE_CONTEXTS;

    fv_walk(s, entry);
    if ((node = fv_walk_intern(s, 0)))
        context = fv_context_known(s, node);
    if (context < FV_SAMPLE_CONTEXTS)
        add_gap(s, &s->context[context], fv_since_armed(s, x, now_ns));
    if (context == x->gap_context || !--x->gaps)
        fv_x_disarm(x);
    else
        x->fresh = true;
}

/* ---- the window ---- */

/* The value of that rank, 0 the least. */
static uint64_t ranked(uint64_t *least, unsigned rank, const void *values, size_t stride, unsigned count)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t value = *(const uint64_t *)((const char *)values + i * stride);
        unsigned at = kept <= rank ? kept++ : rank + 1;

        if (at > rank && value >= least[rank])
            continue;
        for (at = at > rank ? rank : at; at > 0 && least[at - 1] > value; at--)
            least[at] = least[at - 1];
        least[at] = value;
    }
    return least[rank];
}

/* Of those that were chosen by a longer window, so many are left: the part that would have been by this one. */
static void thin(struct fv_moments *m, unsigned count, uint64_t chosen, uint64_t left)
{
    for (unsigned i = 0; i < count; i++) {
        m[i].m2 *= chosen > 1 && left > 1 ? (double)(left - 1) / (double)(chosen - 1) : 0;
        m[i].mean = left ? m[i].mean : 0;
    }
}

static uint64_t part_of(uint64_t chosen, double part)
{
    return (uint64_t)((double)chosen * part + 0.5);
}

static void thin_all(struct fv_sampler *s, uint32_t context, double part)
{
    struct fv_instances *r = fv_context_record(s, context);
    struct fv_event_counts *events = fv_context_events(s, context);
    uint64_t left = part_of(r->window, part);

    thin(r->in_window, FV_METRIC_EVENT_0, r->window, left);
    thin(&fv_context_computing(s, context)->in_window, 1, r->window, left);
    r->window = left;
    if (events) {
        left = part_of(events->in_window, part);
        thin(r->in_window + FV_METRIC_EVENT_0, FV_METRIC_EVENTS, events->in_window, left);
        events->in_window = left;
    }
}

static void set_window(struct fv_sampler *s, uint32_t context, uint64_t window_ns)
{
    struct fv_sampler_context *c = &s->context[context];
    double part = c->window_ns ? (double)window_ns / (double)c->window_ns : 1;

    if (part < 1 && s->record->mode == FV_SAMPLER_BREAKPOINTS) /* else they were not chosen by a window */
        thin_all(s, context, part);
    else if (part > 1 && part < GROWTH)
        return;
    c->window_ns = window_ns;
}

void fv_window_refresh(struct fv_sampler *s, uint32_t context)
{
    struct fv_sampler_context *c = &s->context[context];
    struct fv_instances *r = fv_context_record(s, context);
    unsigned count = r->returns < FV_RESERVOIR ? (unsigned)r->returns : FV_RESERVOIR;
    unsigned gaps = c->gap_count < FV_GAPS ? c->gap_count : FV_GAPS;
    uint64_t least[FV_RESERVOIR / 20 + 1], window_ns;

    if (r->returns < WINDOW_FROM || r->returns < c->refresh_at)
        return;
    c->refresh_at = r->returns + r->returns / 4;
    window_ns = ranked(least, count / 20, &r->reservoir[0].cpu_ns, sizeof(r->reservoir[0]), count);
    if (window_ns < fv_sampler_calibration.trap_ns)
        r->flags |= FV_INSTANCES_FAST;
    if (gaps >= GAPS_FEW)
        window_ns = ranked(least, gaps / 20, c->gap_ns, sizeof(c->gap_ns[0]), gaps);
    set_window(s, context, window_ns);
    s->known[c->known].fast = c->window_ns < fv_sampler_calibration.trap_ns;
}
