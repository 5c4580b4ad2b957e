/* See sampler.h: the instances that are being measured, innermost last, and the watchpoint, which is on the
 * innermost one. An instance whose slot lies below the stack pointer has ended some other way (longjmp,
 * exceptions); it is popped at the next event, whatever that is. A thread has one stack here: what runs on
 * another (coroutines, signal stacks) is counted as a cost and not followed. */
#include "sampler/sampler.h"

#define READS_MOST 16 /* of a watched slot, before its instance is given up */

/* The watchpoint belongs to the innermost. */
void fv_live_watch(struct fv_sampler *s)
{
    const struct fv_live *top = s->depth ? &s->live[s->depth - 1] : NULL;

    if (top && top->slot == s->thread->watched)
        return;
    if (top && fv_perf_arm(&s->rw, FV_TRAP_RW, 0, top->slot)) {
        s->thread->watched = top->slot;
        s->thread->watched_value = top->ret;
    } else if (s->thread->watched) {
        fv_perf_disarm(&s->rw);
        s->thread->watched = 0;
    }
}

void fv_live_abandon(struct fv_sampler *s)
{
    const struct fv_live *top = &s->live[--s->depth];

    if (s->thread->watched == top->slot) /* another may come to stand in the slot */
        s->thread->watched = 1;
    if (s->calibration || top->joined)
        return;
    fv_context_record(s, top->context)->abandoned++;
    s->record->abandoned++;
    s->record->open--;
}

static bool on_own_stack(const struct fv_sampler *s, uintptr_t sp)
{
    return sp >= s->thread->stack_low && sp < s->thread->stack_end;
}

/* Instances whose frames are gone. */
void fv_live_pop_gone(struct fv_sampler *s, uintptr_t sp)
{
    while (s->depth && on_own_stack(s, sp) && s->live[s->depth - 1].slot < sp)
        fv_live_abandon(s);
}

static void returned(struct fv_sampler *s, const struct fv_registers *r, struct fv_readings *end)
{
    const struct fv_live *top = &s->live[s->depth - 1];

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
static bool called_anew(struct fv_sampler *s, const struct fv_live *top, uintptr_t pc, uintptr_t sp)
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
    struct fv_live *top = s->depth ? &s->live[s->depth - 1] : NULL;

    if (!top || top->slot != s->thread->watched)
        return;
    uintptr_t slot = top->slot;
    if (pc == top->ret && sp == slot + sizeof(uintptr_t)) {
        fv_readings_take(s, now);
        while (s->depth && s->live[s->depth - 1].slot == slot)
            returned(s, r, now);
        s->thread->watched = 1; /* armed, for nobody */
    } else {
        fv_perf_disarm(&s->rw); /* to look at it ourselves */
        s->thread->watched = 0;
        value = sp <= slot ? *(const volatile uintptr_t *)slot : 0;
        if (sp > slot || value != top->ret || called_anew(s, top, pc, sp) || ++top->reads > READS_MOST)
            while (s->depth && s->live[s->depth - 1].slot == slot)
                fv_live_abandon(s);
    }
    fv_live_pop_gone(s, sp);
    fv_live_watch(s);
}

/* ---- the entry: a trap of a breakpoint ---- */

struct fv_live *fv_live_push(struct fv_sampler *s, uintptr_t function, uint32_t known,
                             const struct fv_registers *entry)
{
    uintptr_t slot = entry->r[FV_REG_SP], ret;
    struct fv_live *live;
    uint32_t node, context = 0;

    if (s->depth == FV_LIVE || !on_own_stack(s, slot)) {
        s->record->refused++;
        return NULL;
    }
    fv_walk(s, entry);
    if (!fv_stack_read(&s->stack, slot, &ret)) {
        s->record->refused++;
        return NULL;
    }
    /* The same function in the same slot: the other one was left by longjmp(), and called again. */
    while (s->depth && s->live[s->depth - 1].slot == slot && s->live[s->depth - 1].function == function)
        fv_live_abandon(s);
    live = &s->live[s->depth];
    if (!s->calibration) {
        node = fv_walk_intern(s, 0);
        context = node ? fv_context_find(s, node, known) : FV_SAMPLE_CONTEXTS;
        if (context == FV_SAMPLE_CONTEXTS) {
            s->record->lost_contexts++;
            return NULL;
        }
        fv_context_record(s, context)->entries++;
        s->record->entries++;
        s->record->open++;
    }
    *live = (struct fv_live){ .slot = slot, .ret = ret, .function = function, .context = context };
    s->depth++;
    return live;
}

struct fv_live *fv_live_on_x(struct fv_sampler *s, unsigned slot, const struct fv_registers *r,
                             uint64_t now_ns)
{
    struct fv_x_slot *x = &s->x[slot];
    struct fv_live *live;

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
        live->in_window = !s->calibration && !x->skips && fv_window_holds(s, x, live->context, now_ns);
    if (!live || s->calibration || !fv_gap_begin(s, x, live->context))
        fv_x_disarm(x);
    fv_live_watch(s);
    if (live && s->thread->watched != live->slot) { /* no watchpoint to be had */
        fv_live_abandon(s);
        live = NULL;
    }
    return live;
}
