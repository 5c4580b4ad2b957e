/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: long calls of functions that mostly return soon. Few calls of a function are ever chosen to be
 * measured, so rare long ones are missed; but clock samples, which are of time, fall into them. So frames that a sample
 * finds, of functions that are not known to take long, are watched like instances until they return. That proves how
 * long a call took from the sample on, and each further sample that finds it is one of the same call.
 *
 * Rejected: frames at one place of the stack in several samples, which may be of several calls.
 *
 * How often a function that has such calls is called: after some ticks its entry is looked at for a while, and entries
 * are counted. After which ticks, and of which function, does not depend on what the thread does. */
#include "sampler/sampler.h"

#include <string.h>

#define FRAMES       8u /* innermost ones, of functions of which little is known */
#define JOINED_MOST  24u
#define ENOUGH       4u  /* instances, to know a function by: */
#define QUICK_OF     4u  /* most of them are shorter than that part of a tick's period */
#define TIMES_LONGER 8u  /* than the mean of those: a long call; and than ... */
#define TRAPS_LONGER 8u  /* ... a trap */
#define REFUTED_MANY 16u /* frames watched that returned soon; from then on one in ... */
#define REFUTED_OF   8u  /* ... so many is, which bounds what this costs in short functions */
/* that a call of a function of which little is known is followed for; then it is none that returns soon */
#define UNKNOWN_TICKS 256u
#define LOOK_SLOT     (FV_X_SLOTS - 1)
#define LOOK_EVERY    2u /* ticks, on average */
#define LOOK_MOST     4u /* entries: it was too long */

void fv_long_learn(struct fv_sampler *s, uint32_t known, uint64_t cpu_ns)
{
    struct fv_known_function *k = &s->known[known];

    k->measured++;
    if (cpu_ns < fv_tick_period(s) / QUICK_OF) {
        k->quick++;
        k->quick_ns += cpu_ns;
    }
}

/* What waits in MPI is not slow itself. */
static bool in_mpi(const struct fv_sampler *s)
{
    return s->thread->record->in_call.begin != 0;
}

static bool is_quick(const struct fv_known_function *k)
{
    return k->quick >= k->measured - k->measured / 4;
}

bool fv_long_is_usual(const struct fv_known_function *known)
{
    return known->measured >= ENOUGH && !is_quick(known);
}

/* Of those that have long calls every sample counts, whatever the budget is. */
static bool is_suspect(struct fv_sampler *s, const struct fv_known_function *k, unsigned frame, bool in_budget)
{
    if (k->measured < ENOUGH)
        return !k->given_up && frame < FRAMES && in_budget;
    return is_quick(k) &&
           (k->long_context || (in_budget && (k->refuted < REFUTED_MANY || fv_sampler_random(s) % REFUTED_OF == 0)));
}

/* A breakpoint waits for its next call, and would slow down this one meanwhile: see fv_x_settle(). */
static bool is_in_the_way(const struct fv_sampler *s, const struct fv_known_function *k)
{
    for (unsigned i = 0; i < FV_X_SLOTS && k->hot && !k->recursive; i++)
        if (s->x[i].entry == k->entry)
            return true;
    return false;
}

/* The index in s->live that one with that slot goes to. FV_LIVE: it cannot be followed, or is. */
static unsigned place_of(const struct fv_sampler *s, uint32_t known, uintptr_t slot)
{
    unsigned at = s->depth, joined = 0;

    for (unsigned i = 0; i < s->depth; i++) {
        joined += s->live[i].joined;
        if (s->live[i].joined && s->live[i].known == known)
            return FV_LIVE;
    }
    while (at && s->live[at - 1].slot < slot)
        at--;
    return s->depth < FV_LIVE && joined < JOINED_MOST ? at : FV_LIVE;
}

void fv_long_see(struct fv_sampler *s, unsigned frame, uint32_t known, const struct fv_readings *now,
                 uint64_t since_tick_ns, bool in_budget)
{
    uintptr_t slot = s->walk.slot[frame];
    struct fv_known_function *k = &s->known[known];
    unsigned at;

    k->hot |= FV_LINE(k->entry) == FV_LINE(s->walk.address[0] - 1);
    if (!s->watches && !frame && s->walk.address[0] - 1 == k->entry)
        return; /* not begun yet: it would look as if called again */
    if (in_mpi(s) || !slot || !(is_in_the_way(s, k) || is_suspect(s, k, frame, in_budget)) ||
        (at = place_of(s, known, slot)) == FV_LIVE || !fv_can_follow(s, s->walk.ret[frame]))
        return;
    memmove(&s->live[at + 1], &s->live[at], (s->depth - at) * sizeof(s->live[0]));
    s->depth++;
    s->live[at] = (struct fv_live_instance){ .slot = slot,
                                             .ret = s->walk.ret[frame],
                                             .function = s->known[known].entry,
                                             .begin = *now,
                                             .tool_ticks = s->tool_ticks,
                                             .tool_ns = s->tool_ns,
                                             .known = known,
                                             .ticks = 1,
                                             .before_ns = since_tick_ns,
                                             .joined = true };
    fv_readings_take_mpi(s, &s->live[at].begin);
}

void fv_long_tick(struct fv_sampler *s)
{
    for (unsigned i = s->depth; i-- > 0;) {
        struct fv_live_instance *live = &s->live[i];
        struct fv_known_function *k = &s->known[live->known];

        if (!live->joined)
            continue;
        live->ticks += !in_mpi(s);
        if (live->ticks < UNKNOWN_TICKS || k->measured >= ENOUGH || is_in_the_way(s, k))
            continue;
        k->given_up = true;
        if (s->armed == live->slot)
            s->armed = 1;
        memmove(live, live + 1, (--s->depth - i) * sizeof(*live));
    }
}

static bool is_long(const struct fv_sampler *s, const struct fv_known_function *k, uint64_t ns)
{
    uint64_t least =
        k->measured < ENOUGH ? fv_tick_period(s) / QUICK_OF : k->quick_ns / (k->quick ? k->quick : 1) * TIMES_LONGER;

    return (k->measured < ENOUGH || is_quick(k)) && ns >= least && ns >= TRAPS_LONGER * fv_sampler_calibration.trap_ns;
}

/* How long it was, on average: it began at some time between two samples. One that a single sample found may be shorter
 * than the time between these, and stands for others that none found. */
static uint64_t estimate(const struct fv_live_instance *live, uint64_t ns)
{
    if (live->ticks > 1)
        return ns + live->before_ns / 2;
    return ns > live->before_ns ? ns : live->before_ns;
}

void fv_long_returned(struct fv_sampler *s, const struct fv_live_instance *live, const struct fv_registers *r,
                      const struct fv_readings *end)
{
    struct fv_known_function *k = &s->known[live->known];
    uint64_t ns = fv_live_computing_ns(s, live, end);
    uint32_t node, context = FV_SAMPLE_CONTEXTS;
    struct fv_long_calls *record;

    if (!is_long(s, k, ns)) {
        k->refuted++;
        return;
    }
    fv_walk(s, r);
    if ((node = fv_walk_intern_returned(s, live->function)))
        context = fv_context_find(s, node, live->known);
    if (context == FV_SAMPLE_CONTEXTS) {
        s->record->lost_contexts++;
        return;
    }
    record = fv_context_long(s, context);
    record->count++;
    record->ticks += live->ticks;
    record->ns += ns;
    record->all_ns += estimate(live, ns);
    if (k->long_context || s->long_count == FV_LONG_KNOWN)
        return;
    k->long_context = context + 1;
    k->look_ns = fv_tick_period(s) / 8 * 3; /* ticks are half a period apart at least */
    s->long_known[s->long_count++] = (uint16_t)live->known;
}

/* ---- how often it is called ---- */

/* FV_KNOWN: none. It may be known by now to take long mostly. */
static uint32_t choose_long(struct fv_sampler *s)
{
    uint32_t at = s->long_count ? (uint32_t)(fv_sampler_random(s) % s->long_count) : 0;
    const struct fv_known_function *k = &s->known[s->long_known[at]];

    if (s->long_count && k->measured >= ENOUGH && !is_quick(k))
        s->long_known[at] = s->long_known[--s->long_count];
    return at < s->long_count ? s->long_known[at] : FV_KNOWN;
}

void fv_look_begin(struct fv_sampler *s, uint64_t cpu_ns)
{
    struct fv_x_slot *x = &s->x[LOOK_SLOT];
    struct fv_long_calls *record;
    uint32_t known;

    if (x->look)
        fv_x_disarm(x);
    if (x->event.fd < 0 || fv_step_is_missing(s) || fv_sampler_random(s) % LOOK_EVERY ||
        (known = choose_long(s)) == FV_KNOWN)
        return;
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        if (s->x[i].entry == s->known[known].entry)
            fv_x_disarm(&s->x[i]);
    fv_x_wait(s, x, known);
    x->skip = 0;
    x->look = true;
    record = fv_context_long(s, s->known[known].long_context - 1);
    record->look_ns += s->known[known].look_ns;
    record->cpu_ns = fv_minus(cpu_ns - s->budget_cpu_ns, s->tool_ns - s->budget_tool_ns);
}

void fv_look_entry(struct fv_sampler *s, struct fv_x_slot *x, uint64_t since_ns)
{
    struct fv_known_function *k = &s->known[x->known];
    struct fv_long_calls *record = fv_context_long(s, k->long_context - 1);

    if (since_ns > k->look_ns) {
        fv_x_disarm(x);
        return;
    }
    record->look_entries++;
    if (++x->entries < LOOK_MOST)
        return;
    k->look_ns /= 2; /* anew: those cut short would count for too little */
    record->look_entries = record->look_ns = 0;
    fv_x_disarm(x);
}
