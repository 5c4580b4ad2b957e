/* SPDX-License-Identifier: BSD-3-Clause */
/* See step.h. */
#include "sampler/step.h"
#include "sampler/sampler.h"

/* The field of so many bits, from bit `low` on, with its sign; instructions are of 4 bytes. */
static uintptr_t offset_in(uint32_t instruction, unsigned low, unsigned bits)
{
    int64_t field = (int64_t)((uint64_t)instruction << (64 - low - bits)) >> (64 - bits);

    return (uintptr_t)(field * 4);
}

static uint64_t value_of(const uintptr_t x[31], unsigned number)
{
    return number < 31 ? x[number] : 0;
}

/* cbz, cbnz: a register of 32 or 64 bits; tbz, tbnz: a bit of it. */
static uintptr_t after_test(uint32_t instruction, uintptr_t pc, const uintptr_t x[31])
{
    bool of_bit = instruction >> 25 & 1, if_set = instruction >> 24 & 1, wide = instruction >> 31;
    uint64_t value = value_of(x, instruction & 31);
    uint64_t tested = of_bit ? value >> ((instruction >> 19 & 31) + 32 * wide) & 1 : wide ? value : (uint32_t)value;
    uintptr_t offset = of_bit ? offset_in(instruction, 5, 14) : offset_in(instruction, 5, 19);

    return pc + ((tested != 0) == if_set ? offset : 4);
}

uintptr_t fv_step_next(uint32_t instruction, uintptr_t pc, const uintptr_t x[31])
{
    if ((instruction & 0x7c000000) == 0x14000000) /* b, bl */
        return pc + offset_in(instruction, 0, 26);
    if ((instruction & 0x7c000000) == 0x34000000) /* cbz, cbnz, tbz, tbnz */
        return after_test(instruction, pc, x);
    if ((instruction & 0xff9ffc1f) == 0xd61f0000) /* br, blr, ret */
        return value_of(x, instruction >> 5 & 31);
    if ((instruction & 0xff000000) == 0x54000000 || /* by flags */
        (instruction & 0x7e000000) == 0x74000000 || /* by a comparison, of Armv9.6 */
        (instruction & 0xfe000000) == 0xd6000000)   /* to a signed address */
        return 0;
    return pc + 4;
}

bool fv_step_is_missing(const struct fv_sampler *s)
{
    return FV_STEPS && s->step.fd < 0;
}

/* Is there a breakpoint, or one that rests? */
static bool stands_at(const struct fv_sampler *s, uintptr_t pc)
{
    const struct fv_live_instance *top = s->depth ? &s->live[s->depth - 1] : NULL;

    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        if (s->x[i].entry == pc)
            return true;
    return top && (top->ret == pc || top->function == pc);
}

/* A tick that comes before the instruction is executed meets none: the trap is still to come. */
void fv_step_begin(struct fv_sampler *s, const struct fv_trap_source *from, uintptr_t pc)
{
    if (!FV_STEPS)
        return;
    if (from->kind != FV_TRAP_TICK && stands_at(s, pc))
        s->passing = pc;
    else if (s->passing != pc)
        s->passing = 0;
}

void fv_step_end(struct fv_sampler *s, const struct fv_registers *r)
{
    uintptr_t pc = r->r[FV_REG_PC], next;

    if (!FV_STEPS || s->step.fd < 0)
        return;
    next = s->passing && !s->calibration && stands_at(s, pc) ? fv_step_next(*(const uint32_t *)pc, pc, r->r) : 0;
    if (next && fv_perf_arm(&s->step, FV_TRAP_STEP, 0, next)) {
        s->step_at = next;
    } else if (next || s->step_at) {
        fv_perf_disarm(&s->step);
        s->step_at = 0;
    }
}
