/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: the execution breakpoints, which wait for a function's next call, or rest. */
#include "sampler/sampler.h"
#include "rt/signals.h"

#define PROMPT  4u /* calls in a row: it is called several times between ticks */
#define SKIP_OF 8u

/* The call that comes next after a tick is mostly one behind a long call: of a function that several places call by
 * turns, those behind short ones would hardly be measured. So entries are passed over, of functions that are called
 * often, every other time (the window needs the others: window.c). */
static uint32_t entries_to_skip(struct fv_sampler *s, const struct fv_known_function *k)
{
    bool skips = k->fast || (k->contexts > 1 && k->prompt >= PROMPT && fv_sampler_random(s) & 1);

    return skips ? (uint32_t)(fv_sampler_random(s) % SKIP_OF) : 0;
}

void fv_x_see_entry(struct fv_sampler *s, struct fv_x_slot *x)
{
    struct fv_known_function *k = &s->known[x->known];

    if (x->entries++)
        return;
    k->prompt = (uint8_t)(x->age ? 0 : k->prompt + (k->prompt < PROMPT));
}

void fv_x_wait(struct fv_sampler *s, struct fv_x_slot *x, uint32_t known)
{
    if (x->armed)
        fv_x_disarm(x);
    x->entry = s->known[known].entry;
    x->before = fv_cfi_find(&s->cfi, FV_LINE(x->entry) * 64)->begin;
    x->known = known;
    x->age = 0;
    x->gaps = 0;
    x->entries = 0;
    x->fresh = true;
    x->skip = entries_to_skip(s, &s->known[known]);
    x->skips = x->skip > 0;
}

/* Of a call that was joined it is its own entry that matters: it may last for long, and what it calls would never be
 * measured. */
static bool is_in_line_of(const struct fv_x_slot *x, const struct fv_live_instance *live)
{
    if (live->joined)
        return x->entry == live->function;
    return FV_LINE(x->entry) == FV_LINE(live->function) || x->before == live->function;
}

static bool rests(const struct fv_sampler *s, const struct fv_x_slot *x)
{
    for (unsigned i = 0; i < s->depth; i++)
        if (is_in_line_of(x, &s->live[i]) && !s->known[x->known].recursive)
            return true;
    return false;
}

void fv_x_settle(struct fv_sampler *s)
{
    for (unsigned i = 0; i < FV_X_SLOTS; i++) {
        struct fv_x_slot *x = &s->x[i];
        bool rest;

        if (!x->entry || (rest = x->entry == s->passing || rests(s, x)) != x->armed)
            continue;
        if (rest)
            fv_perf_disarm(&x->event);
        else if (!fv_perf_arm(&x->event, FV_TRAP_X, i, x->entry))
            x->entry = 0;
        x->armed = x->entry && !rest;
    }
}

/* ---- traps without a name ---- */

#define INT1       0xf1
#define LEAST_PAGE 4096
#define EFL_RF     0x10000 /* the breakpoint at that instruction is not met again */

bool fv_trap_by_place(const struct fv_sampler *s, const siginfo_t *info, ucontext_t *context,
                      struct fv_trap_source *out)
{
#if defined(__x86_64__)
    const uintptr_t pc = fv_signals_pc(context);
    struct fv_trap_source from = { .kind = pc == s->again_at ? FV_TRAP_AGAIN : FV_TRAP_RW, .any_generation = true };

    if (s->rw.fd < 0 || info->si_signo != SIGTRAP || info->si_code != TRAP_BRKPT || (uintptr_t)info->si_addr != pc)
        return false;
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        if (s->x[i].entry == pc)
            from = (struct fv_trap_source){ .kind = FV_TRAP_X, .slot = i, .any_generation = true };
    /* It is behind an instruction, unless a call led to the first one of a page. */
    if (from.kind == FV_TRAP_RW && pc % LEAST_PAGE && ((const uint8_t *)pc)[-1] == INT1)
        return false;
    *out = from;
    context->uc_mcontext.gregs[REG_EFL] |= EFL_RF;
    return true;
#else
    (void)s, (void)info, (void)context, (void)out;
    return false;
#endif
}
