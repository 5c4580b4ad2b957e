/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: the instances that are being measured, innermost last, and the watchpoint, which is on the
 * innermost one. An instance whose slot lies below the stack pointer has ended some other way (longjmp,
 * exceptions); it is popped at the next event, whatever that is. A thread has one stack here: what runs on
 * another (coroutines, signal stacks) is counted as a cost and not followed.
 *
 * While a watchpoint on data is armed, processors move long strings byte by byte (AMD's: memcpy() and memset() of some
 * KiB, and the kernel's copies and new pages, take up to 20 times as long). So those that last wait for their return by
 * a breakpoint where it goes to, in the watchpoint's place, which costs nothing. What a breakpoint does not tell is
 * that a function was left some other way, and called again from the same place before the next tick: both would be one
 * instance. So in a thread that was ever seen to leave one, watchpoints alone.
 *
 * Where the stack is not watched (AArch64, whose calls leave the return address in a register), all wait by a
 * breakpoint where they return to, and a further one at the function's entry tells that it is called again. When one is
 * found to have been left, those around it may have returned unseen meanwhile, and are given up, too. Inner calls of a
 * recursion return to the same place: their traps are ignored, up to TRAPS_MOST times. Then the instance is given up,
 * and its context is not measured any more. */
#include "sampler/sampler.h"

#define TRAPS_MOST 16 /* of one kind that are not its return, before an instance is given up */

/* ---- by what it waits for the return ---- */

static bool is_by_return(struct fv_sampler *s, const struct fv_live_instance *live)
{
    if (!s->watches)
        return live->ret != s->passing;
    const struct fv_known_function *k = &s->known[live->joined ? live->known : s->context[live->context].known];

    return live->lasts && !live->near && !s->leaves && !k->recursive && fv_may_wait_at(s, live->ret);
}

static void set_armed(struct fv_sampler *s, const struct fv_live_instance *live)
{
    s->armed = live ? live->slot : 0;
    s->thread->watched = live && !live->by_return ? live->slot : 0;
    s->thread->watched_value = live ? live->ret : 0;
}

static bool arm(struct fv_sampler *s, struct fv_live_instance *top, bool by_return)
{
    top->by_return = by_return && fv_perf_arm_return(&s->rw, top->ret);
    top->near |= by_return && !top->by_return;
    return top->by_return || (s->watches && fv_perf_arm(&s->rw, FV_TRAP_RW, 0, top->slot));
}

/* Is the innermost one called again? One that calls itself all the time is not asked. */
static void watch_entry(struct fv_sampler *s)
{
    const struct fv_live_instance *top = s->depth && !s->watches && !s->calibration ? &s->live[s->depth - 1] : NULL;
    uintptr_t entry = top && top->again < TRAPS_MOST && top->function != s->passing ? top->function : 0;

    if (entry == s->again_at)
        return;
    if (entry && s->again.fd >= 0 && fv_perf_arm(&s->again, FV_TRAP_AGAIN, 0, entry)) {
        s->again_at = entry;
    } else if (s->again_at) {
        fv_perf_disarm(&s->again);
        s->again_at = 0;
    }
}

/* The watchpoint belongs to the innermost. */
void fv_live_watch(struct fv_sampler *s)
{
    struct fv_live_instance *top = s->depth ? &s->live[s->depth - 1] : NULL;
    bool by_return = top && is_by_return(s, top);

    watch_entry(s);
    if (top && top->slot == s->armed && top->by_return == by_return)
        return;
    if (top && arm(s, top, by_return)) {
        set_armed(s, top);
    } else if (s->armed) {
        fv_perf_disarm(&s->rw);
        set_armed(s, NULL);
    }
}

void fv_live_abandon(struct fv_sampler *s)
{
    const struct fv_live_instance *top = &s->live[--s->depth];

    if (s->armed == top->slot) /* another may come to stand in the slot */
        s->armed = 1;
    if (s->calibration || top->joined)
        return;
    fv_context_record(s, top->context)->abandoned++;
    s->record->abandoned++;
    s->record->open--;
}

/* It and what it has become by jumps: traps do not tell its return from others. For good: there. */
static void give_up(struct fv_sampler *s, bool for_good)
{
    uintptr_t slot = s->live[s->depth - 1].slot;

    while (s->depth && s->live[s->depth - 1].slot == slot) {
        const struct fv_live_instance *top = &s->live[s->depth - 1];

        if (for_good && !s->watches && !top->joined)
            s->context[top->context].hides = true;
        fv_live_abandon(s);
    }
}

/* The innermost was left otherwise than by its return. */
static void was_left(struct fv_sampler *s)
{
    s->leaves |= !s->calibration;
    fv_live_abandon(s);
    while (!s->watches && s->depth)
        fv_live_abandon(s);
}

static bool on_own_stack(const struct fv_sampler *s, uintptr_t sp)
{
    return sp >= s->thread->stack_low && sp < s->thread->stack_end;
}

/* Instances whose frames are gone. */
void fv_live_pop_gone(struct fv_sampler *s, uintptr_t sp)
{
    while (s->depth && on_own_stack(s, sp) && s->live[s->depth - 1].slot < sp)
        was_left(s);
}

static void returned(struct fv_sampler *s, const struct fv_registers *r, struct fv_readings *end)
{
    const struct fv_live_instance *top = &s->live[s->depth - 1];

    if (s->calibration) {
        if (s->calibrated + 2 <= s->calibration_room) {
            s->calibration[s->calibrated++] = end->ticks - top->begin.ticks;
            s->calibration[s->calibrated++] = end->cpu_ns - top->begin.cpu_ns;
        }
        fv_pmu_learn(&s->pmu, &top->pmu);
        s->depth--;
        return;
    }
    if (top->joined) {
        s->depth--;
        fv_long_returned(s, top, r, end);
        return;
    }
    fv_long_learn(s, s->context[top->context].known, fv_context_add(s, top, end));
    s->record->returns++;
    s->record->open--;
    s->depth--;
}

/* ---- the return: a trap of the watchpoint ---- */

/* Is somebody there who was called since the instance's frame was left? The call wrote the same return
 * address. */
static bool called_anew(struct fv_sampler *s, const struct fv_live_instance *top, uintptr_t pc, uintptr_t sp)
{
    const struct fv_cfi_row *row;

    if (sp != top->slot)
        return false;
    row = fv_cfi_find(&s->cfi, pc);
    return row->begin == pc || row->begin != top->function;
}

__attribute__((no_sanitize("address"))) void fv_live_on_rw(struct fv_sampler *s, const struct fv_registers *r,
                                                           struct fv_readings *now)
{
    uintptr_t pc = r->r[FV_REG_PC], sp = r->r[FV_REG_SP], value;
    struct fv_live_instance *top = s->depth ? &s->live[s->depth - 1] : NULL;

    if (!top || top->slot != s->armed)
        return;
    uintptr_t slot = top->slot;
    if (pc == top->ret && sp == slot + FV_CALL_BYTES) {
        fv_readings_take(s, now);
        while (s->depth && s->live[s->depth - 1].slot == slot)
            s->live[s->depth - 1].ret == pc ? returned(s, r, now) : was_left(s);
        s->armed = 1;
    } else if (top->by_return) { /* a call of it within it, if it was not left */
        top->near = true;
        if (sp < slot && !s->watches && ++top->strays > TRAPS_MOST)
            give_up(s, !s->calibration);
    } else {
        fv_perf_disarm(&s->rw); /* to look at it ourselves */
        set_armed(s, NULL);
        value = sp <= slot ? *(const volatile uintptr_t *)slot : 0;
        bool is_left = sp > slot || value != top->ret || called_anew(s, top, pc, sp);
        if (!is_left && ++top->strays > TRAPS_MOST)
            give_up(s, false);
        while (is_left && s->depth && s->live[s->depth - 1].slot == slot)
            was_left(s);
    }
    fv_live_pop_gone(s, sp);
    fv_live_watch(s);
}

void fv_live_on_late(struct fv_sampler *s)
{
    struct fv_live_instance *top = s->depth ? &s->live[s->depth - 1] : NULL;

    if (!top || top->slot != s->armed || !top->by_return)
        return;
    top->near = true;
    if (!s->watches)
        give_up(s, false);
    fv_live_watch(s);
}

void fv_live_on_late_again(struct fv_sampler *s)
{
    if (s->depth)
        s->live[s->depth - 1].again = TRAPS_MOST;
    fv_live_watch(s);
}

bool fv_live_on_again(struct fv_sampler *s, const struct fv_registers *r)
{
    struct fv_live_instance *top = s->depth ? &s->live[s->depth - 1] : NULL;
    bool is_left = top && r->r[FV_REG_SP] == top->slot;

    if (is_left)
        was_left(s);
    else if (top)
        top->again++;
    fv_live_pop_gone(s, r->r[FV_REG_SP]);
    fv_live_watch(s);
    return is_left;
}

/* Of it, or of what it has become by a jump at its end. */
static bool is_frame_of(const struct fv_sampler *s, unsigned frame, const struct fv_live_instance *live)
{
    if (s->walk.slot[frame] == live->slot)
        return s->walk.ret[frame] == live->ret;
    return s->walk.function[frame] == live->function && s->walk.recursive[frame];
}

static bool is_on_stack(const struct fv_sampler *s, const struct fv_live_instance *live)
{
    for (unsigned i = 0; i < s->walk.count; i++)
        if (is_frame_of(s, i, live))
            return true;
    return s->walk.cut;
}

/* By returns alone: each of them, whatever is armed. One that is right behind its return is about to be told. */
static bool any_is_gone(const struct fv_sampler *s, uintptr_t pc, uintptr_t sp)
{
    for (unsigned i = 0; i < s->depth; i++)
        if (!(pc == s->live[i].ret && sp == s->live[i].slot + FV_CALL_BYTES) && !is_on_stack(s, &s->live[i]))
            return true;
    return false;
}

void fv_live_tick(struct fv_sampler *s, uintptr_t pc, uintptr_t sp)
{
    while (s->watches && s->depth && s->live[s->depth - 1].by_return && s->live[s->depth - 1].slot == s->armed &&
           !is_on_stack(s, &s->live[s->depth - 1]))
        was_left(s);
    if (!s->watches && any_is_gone(s, pc, sp))
        was_left(s);
    for (unsigned i = 0; i < s->depth; i++)
        s->live[i].lasts = true;
    if (s->depth && s->watches && FV_LINE(pc) == FV_LINE(s->live[s->depth - 1].ret))
        s->live[s->depth - 1].near = true;
}

/* ---- the entry: a trap of a breakpoint ---- */

static bool return_address(const struct fv_sampler *s, const struct fv_registers *entry, uintptr_t *out)
{
#if FV_RETURN_ON_STACK
    return fv_stack_range_read(&s->stack, entry->r[FV_REG_SP], out);
#else
    (void)s;
    *out = entry->r[FV_REG_LR];
    return true;
#endif
}

/* Left by longjmp(), and it is called again, or another one from elsewhere; what it became by a jump returns to the
 * same place. */
static bool was_in_its_place(const struct fv_live_instance *live, uintptr_t function, uintptr_t slot, uintptr_t ret)
{
    return live->slot == slot && (live->function == function || live->ret != ret);
}

struct fv_live_instance *fv_live_push(struct fv_sampler *s, uintptr_t function, uint32_t known,
                                      const struct fv_registers *entry)
{
    uintptr_t slot = entry->r[FV_REG_SP], ret;
    struct fv_live_instance *live;
    uint32_t node, context = 0;

    if (s->depth == FV_LIVE || !on_own_stack(s, slot)) {
        s->record->refused++;
        return NULL;
    }
    fv_walk(s, entry);
    if (!return_address(s, entry, &ret) || !fv_can_follow(s, ret)) {
        s->record->refused++;
        return NULL;
    }
    while (s->depth && was_in_its_place(&s->live[s->depth - 1], function, slot, ret))
        was_left(s);
    live = &s->live[s->depth];
    if (!s->calibration) {
        node = fv_walk_intern(s, 0);
        context = node ? fv_context_find(s, node, known) : FV_SAMPLE_CONTEXTS;
        if (context == FV_SAMPLE_CONTEXTS) {
            s->record->lost_contexts++;
            return NULL;
        }
        if (s->context[context].hides) {
            s->record->refused++;
            return NULL;
        }
        fv_context_record(s, context)->entries++;
        s->record->entries++;
        s->record->open++;
    }
    *live = (struct fv_live_instance){ .slot = slot, .ret = ret, .function = function, .context = context };
    s->depth++;
    return live;
}

static void begin(struct fv_sampler *s, const struct fv_x_slot *x, struct fv_live_instance *live, uint64_t now_ns)
{
    if (s->calibration)
        return;
    live->in_window = !x->skips && fv_window_holds(s, x, live->context, now_ns);
    live->lasts = fv_long_is_usual(&s->known[x->known]);
}

struct fv_live_instance *fv_live_on_x(struct fv_sampler *s, unsigned slot, const struct fv_registers *r,
                                      uint64_t now_ns)
{
    struct fv_x_slot *x = &s->x[slot];
    struct fv_live_instance *live;

    if (r->r[FV_REG_PC] != x->entry)
        return NULL;
    fv_live_pop_gone(s, r->r[FV_REG_SP]);
    if (x->look) {
        fv_look_entry(s, x, fv_since_armed(s, x, now_ns));
        fv_live_watch(s);
        return NULL;
    }
    if (x->gaps) {
        fv_gap_end(s, x, r, now_ns);
        fv_live_watch(s);
        return NULL;
    }
    fv_x_see_entry(s, x);
    if (x->skip) {
        x->skip--;
        s->record->skipped++;
        fv_live_watch(s);
        return NULL;
    }
    s->known[x->known].entered++;
    live = fv_live_push(s, x->entry, x->known, r);
    if (live)
        begin(s, x, live, now_ns);
    if (!live || s->calibration || !fv_gap_begin(s, x, live->context))
        fv_x_disarm(x);
    fv_live_watch(s);
    if (live && s->armed != live->slot) { /* no watchpoint to be had */
        fv_live_abandon(s);
        live = NULL;
    }
    return live;
}
