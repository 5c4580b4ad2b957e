/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: a tick of the CPU clock. It counts the call path, and chooses functions whose next entry is
 * waited for. */
#include "sampler/sampler.h"
#include "rt/usage.h"

#include <sys/wait.h>

/* A function to wait for: half of the time one by how often it was on the stack, since the beginning, else
 * any. Not by what was on the stack of late: a function's longer calls would be favoured where many of them
 * come in a row. Those that are never entered again, like main, get few chances, once they had enough: one with a call
 * every two ticks is missed by half of them. */
#define CHANCES_FIRST 16
static uint32_t choose(struct fv_sampler *s)
{
    for (unsigned tries = 0; s->known_count && tries < 8; tries++) {
        uint64_t random = fv_sampler_random(s);
        uint64_t count = s->frames_seen < FV_SEEN ? s->frames_seen : FV_SEEN;
        uint32_t known = random & 1 && count ? s->seen[(random >> 8) % count] : (random >> 8) % s->known_count;
        const struct fv_known_function *k = &s->known[known];
        /* a fast one costs several traps, and tells little */
        bool armed = (k->armed >= CHANCES_FIRST && k->entered * 16 < k->armed && (random >> 1 & 15)) ||
                     (k->fast && random >> 5 & 3);

        for (unsigned i = 0; i < FV_X_SLOTS; i++)
            armed |= s->x[i].entry == k->entry;
        if (!armed)
            return known;
    }
    return FV_KNOWN;
}

static void arm_some(struct fv_sampler *s)
{
    for (unsigned i = 0; i < FV_X_SLOTS; i++) {
        struct fv_x_slot *x = &s->x[i];
        uint32_t known;

        if (x->event.fd < 0 || x->look || (x->entry && fv_sampler_random(s) % (1 + ++x->age)))
            continue;
        if ((known = choose(s)) == FV_KNOWN)
            continue;
        s->known[known].armed++;
        fv_x_wait(s, x, known);
    }
}

static void remember_functions(struct fv_sampler *s, const struct fv_readings *now, uint64_t since_tick_ns,
                               bool in_budget)
{
    for (unsigned i = 0; i < s->walk.count; i++) {
        uint32_t known = s->walk.function[i] ? fv_known_find(s, s->walk.function[i]) : FV_KNOWN;

        if (known == FV_KNOWN)
            continue;
        s->known[known].recursive |= s->walk.recursive[i] || s->known[known].seen_at == s->record->ticks;
        s->known[known].seen_at = s->record->ticks;
        uint64_t place = s->frames_seen < FV_SEEN ? s->frames_seen : fv_sampler_random(s) % (s->frames_seen + 1);
        s->frames_seen++;
        if (place < FV_SEEN)
            s->seen[place] = (uint16_t)known;
        fv_long_see(s, i, known, now, since_tick_ns, in_budget);
    }
}

static void set_period(struct fv_sampler *s)
{
    if (s->record->mode == FV_SAMPLER_CLOCK && !s->record->by_event) {
        fv_clock_on_tick(s);
        return;
    }
    uint64_t mean = fv_tick_period(s);
    uint64_t period = mean / 2 + fv_sampler_random(s) % (mean + 1); /* so as to fall into no step with a loop */

    if (s->timer.open)
        fv_timer_set(&s->timer, period, period);
    else
        fv_perf_set_period(&s->tick, period);
}

/* May instances cost more? What ticks cost is known from the rate; what instances do depends on the program,
 * and on what a trap costs on this machine. */
#define BUDGET_SLACK 1000000000u /* that of so many ns comes first: a beginning meets everything for the first time */
static bool is_within_budget(const struct fv_sampler *s, uint64_t cpu_ns)
{
    return s->tool_ns - s->budget_tool_ns <=
           (BUDGET_SLACK + cpu_ns - s->budget_cpu_ns) / 100 * fv_rt.options.sample_budget;
}

/* CPU time since the tick before, but for our own. */
static uint64_t cpu_since_tick(struct fv_sampler *s, uint64_t cpu_ns)
{
    uint64_t before = s->tick_cpu_ns;

    s->tick_cpu_ns = cpu_ns - s->tool_ns; /* of a thread that took over the struct of another it is below 0 */
    return (int64_t)(s->tick_cpu_ns - before) > 0 ? s->tick_cpu_ns - before : 0;
}

/* ---- progress ---- */

#define ASK_NS    50000       /* of CPU time for each time that it asks: a thread computes meanwhile */
#define WINDOW_NS 1000000000u /* of CPU time of the process */
/* a part of it so large, or larger, is of threads that compute, not that wake at times */
#define OTHERS_SHARE 8

static uint64_t vain_ns; /* CPU time of all threads up to ticks that found no progress of theirs */

/* CPU time since the tick before. A thread may have taken over the struct of another. */
static uint64_t cpu_seen(struct fv_sampler *s, const struct fv_readings *now)
{
    const uint64_t before_ns = s->progress.cpu_ns;

    s->progress.cpu_ns = now->cpu_ns;
    return (int64_t)(now->cpu_ns - before_ns) > 0 ? now->cpu_ns - before_ns : 0;
}

/* It asked nothing, or seldom. A sample within a call tells nothing: what asks there is counted as in vain before it
 * is as a call. */
static bool computes(struct fv_sampler *s, uint64_t asked, uint64_t cpu_ns)
{
    const bool outside = !s->thread->record->in_call.begin, was_outside = s->progress.outside;

    s->progress.outside = outside;
    return outside && (!asked || (was_outside && cpu_ns / asked >= ASK_NS));
}

/* Threads may compute that have no clock samples, while this one asks whether they are ready. Others may ask, too:
 * that is no progress. */
static bool others_compute(struct fv_progress *p)
{
    const uint64_t begin_ns = p->all_ns, other_begin_ns = p->other_ns;
    struct timespec all;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all))
        return false;
    const uint64_t all_ns = (uint64_t)all.tv_sec * 1000000000u + (uint64_t)all.tv_nsec;
    if (begin_ns && all_ns - begin_ns < WINDOW_NS)
        return false;
    p->all_ns = all_ns;
    p->other_ns = all_ns - __atomic_load_n(&vain_ns, __ATOMIC_RELAXED);
    return begin_ns && (int64_t)(p->other_ns - other_begin_ns) >= (int64_t)(all_ns - begin_ns) / OTHERS_SHARE;
}

/* That lives: of those that have ended, none can go on. */
static bool has_child(void)
{
    siginfo_t info;

    return !syscall(SYS_waitid, P_ALL, 0, &info, WCONTINUED | WNOHANG | WNOWAIT, NULL);
}

static void note_progress(struct fv_sampler *s, const struct fv_readings *now)
{
    struct fv_progress *p = &s->progress;
    const struct fv_thread *t = s->thread;
    const uint64_t useful = t->asked.forgotten + t->record->calls - t->asked.in_vain;
    const uint64_t asked = t->asked.in_vain - p->in_vain, cpu_ns = cpu_seen(s, now);
    const bool came = (int64_t)(useful - p->useful) > 0; /* in a call that asks they may be one too few */
    const bool goes_on = computes(s, asked, cpu_ns) || came;

    p->in_vain = t->asked.in_vain;
    p->useful = came ? useful : p->useful;
    if (goes_on)
        p->all_ns = 0;
    else
        __atomic_fetch_add(&vain_ns, cpu_ns, __ATOMIC_RELAXED);
    if (goes_on || others_compute(p))
        __atomic_store_n(&fv_rt.writer.header->progress_ticks, now->ticks, __ATOMIC_RELAXED);
    else if (has_child())
        __atomic_store_n(&fv_rt.writer.header->child_ticks, now->ticks, __ATOMIC_RELAXED);
}

void fv_tick(struct fv_sampler *s, const struct fv_registers *r, const struct fv_readings *now)
{
    uint64_t cpu_ns = cpu_since_tick(s, now->cpu_ns);
    uint32_t node;

    if (s->rehearses) {
        fv_walk(s, r);
        fv_walk_intern_sample(s);
        return;
    }
    set_period(s);
    if (fv_rt_paused())
        return;
    fv_is_alive(now->ticks);
    note_progress(s, now);
    fv_usage_watch_memory(now->ticks);
    s->record->ticks++;
    s->thread->record->samples++; /* sections take differences of it */
    fv_readings_see_processor(s);
    fv_wall_measure(s);
    fv_live_pop_gone(s, r->r[FV_REG_SP]);
    fv_walk(s, r);
    s->record->cut += s->walk.cut;
    if ((node = fv_walk_intern_sample(s))) {
        fv_cost_add(s, node, s->thread->record->in_call.begin != 0);
        fv_sample_log_add(s, node, now->ticks, cpu_ns);
    } else {
        s->record->lost_paths++;
    }
    if (s->record->mode == FV_SAMPLER_CALLS)
        fv_calls_tick(s);
    if (s->record->mode == FV_SAMPLER_BREAKPOINTS) {
        bool in_budget = is_within_budget(s, now->cpu_ns);

        fv_long_tick(s);
        s->record->held_back += !in_budget;
        if (in_budget) {
            fv_look_begin(s, now->cpu_ns);
            arm_some(s);
        }
        remember_functions(s, now, cpu_ns, in_budget); /* after the choice, which must not depend on where the thread is
                                                        * now */
    }
    fv_live_tick(s, r->r[FV_REG_PC], r->r[FV_REG_SP]);
    fv_live_watch(s);
}
