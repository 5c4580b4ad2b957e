/* See sampler.h: which instances were chosen without bias.
 *
 * Of the entries of a function the one is measured that comes next after a tick. The longer the time since
 * the entry before, its gap, the likelier a tick falls into it: entries after long calls are favoured. A tick
 * within W before the entry is equally likely for all entries whose gaps are not shorter than W. So W is the
 * 5th percentile of the gaps before the entries in a context, as far as they are known, and till then of the
 * durations there, which are not longer than the gaps as long as the function does not call itself.
 *
 * Gaps are seen by leaving the breakpoint where it is after an instance's entry: up to the next entry in the
 * same context, or a few in others. All times are CPU time, because that is what ticks measure. */
#include "sampler/sampler.h"

#define WINDOW_FROM 16u /* instances */
#define GAP_CHAIN   4u  /* entries that one look for gaps takes at most */
#define GAP_EVERY   16u /* of the instances of a context that knows enough gaps, one goes on to another */

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Since the slot was armed, less what the sampler took itself. */
static uint64_t since_armed(const struct fv_sampler *s, const struct fv_x_slot *x, uint64_t now_ns)
{
    uint64_t tool = s->tool_ns - x->armed_tool_ns + fv_sampler_calibration.trap_ns;

    return minus(now_ns - x->armed_cpu_ns, tool);
}

bool fv_window_holds(const struct fv_sampler *s, const struct fv_x_slot *x, uint32_t context, uint64_t now_ns)
{
    uint64_t window = s->context[context].window_ns;

    return window >= fv_sampler_calibration.trap_ns && since_armed(s, x, now_ns) <= window;
}

/* ---- gaps ---- */

bool fv_gap_begin(struct fv_sampler *s, struct fv_x_slot *x, uint32_t context)
{
    if (s->context[context].gap_count >= FV_GAPS && fv_sampler_random(s) % GAP_EVERY)
        return false;
    x->gaps = GAP_CHAIN;
    x->gap_context = context;
    x->age = 0;
    x->fresh = true;
    return true;
}

static void add_gap(struct fv_sampler *s, struct fv_context *c, uint64_t gap_ns)
{
    uint64_t place = c->gap_count < FV_GAPS ? c->gap_count : fv_sampler_random(s) % (c->gap_count + 1u);

    c->gap_count++;
    if (place < FV_GAPS)
        c->gap_ns[place] = gap_ns;
}

void fv_gap_end(struct fv_sampler *s, struct fv_x_slot *x, const struct fv_registers *entry, uint64_t now_ns)
{
    uint32_t node, context = FV_SAMPLE_CONTEXTS;

    fv_walk(s, entry);
    if ((node = fv_walk_intern(s, 0)))
        context = fv_context_known(s, node);
    if (context < FV_SAMPLE_CONTEXTS)
        add_gap(s, &s->context[context], since_armed(s, x, now_ns));
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

void fv_window_refresh(struct fv_sampler *s, struct fv_context *c, struct fv_instances *r)
{
    unsigned count = r->returns < FV_RESERVOIR ? (unsigned)r->returns : FV_RESERVOIR;
    uint64_t least[FV_RESERVOIR / 20 + 1];

    if (r->returns < WINDOW_FROM || r->returns < c->refresh_at)
        return;
    c->refresh_at = r->returns + r->returns / 4;
    c->window_ns = ranked(least, count / 20, &r->reservoir[0].cpu_ns, sizeof(r->reservoir[0]), count);
    if (c->window_ns < fv_sampler_calibration.trap_ns)
        r->flags |= FV_INSTANCES_FAST;
    if (c->gap_count >= FV_GAPS)
        c->window_ns = ranked(least, FV_GAPS / 20, c->gap_ns, sizeof(c->gap_ns[0]), FV_GAPS);
    s->known[c->known].fast = c->window_ns < fv_sampler_calibration.trap_ns;
}
