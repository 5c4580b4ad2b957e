/* SPDX-License-Identifier: BSD-3-Clause */
/* See unwind.h.
 *
 * libunwind takes thousands of instructions a frame, of which most look for the frame's table, or hold signals. What
 * a table says is nearly always one of two things that hold for a return address for good: the frame has a fixed size,
 * and saved the frame pointer at a fixed place, or not at all; or its frame pointer points to where it saved the
 * caller's. That we read by ourselves (cfi.h). What is more complicated is libunwind's. Frames of signal handlers and
 * those without a table make the walk begin anew, by libunwind alone. So do coroutines' stacks, of which nothing may be
 * read before the kernel has said that it is there.
 *
 * Rejected: libunwind's own quick walk, unw_backtrace(), which does not say where the frames are, and keeps a cache of
 * 40 KB for each thread. */
#define UNW_LOCAL_ONLY
#include "rt/unwind.h"
#include "rt/loaded_objects.h"
#include "rt/process.h"
#include "rt/return_address.h"

#include <fcntl.h>
#include <libunwind.h>
#include <string.h>
#include <unistd.h>

#ifdef PIC
/* libunwind also defines the functions that throw C++ exceptions. Where the program's own libraries come after ours, as
 * those that are opened by dlopen(), they would be taken: a thousand times slower, and blind to code that was
 * registered with libgcc. So libgcc's library stands before libunwind (UNWIND_LIBS), and this keeps a linker from
 * dropping it. */
extern int _Unwind_Backtrace(void);
__attribute__((used)) static int (*const libgcc)(void) = _Unwind_Backtrace;
#endif

#define OWN_STACK 4096 /* below us, where libunwind runs; mapped, since it runs there */

/* Where a callee saved a register of this frame; 0: in none of its slots. */
static inline uintptr_t saved_at(unw_cursor_t *cursor, int reg)
{
    unw_save_loc_t at;

    return !unw_get_save_loc(cursor, reg, &at) && at.type == UNW_SLT_MEMORY ? at.u.addr : 0;
}

static void read_frame(unw_cursor_t *cursor, struct fv_stack_frame *f)
{
    unw_word_t ip = 0, sp = 0, fp = 0;

    unw_get_reg(cursor, UNW_REG_IP, &ip);
    unw_get_reg(cursor, UNW_REG_SP, &sp);
    *f = (struct fv_stack_frame){ .address = ip, .sp = sp };
#if defined(__x86_64__)
    unw_get_reg(cursor, UNW_X86_64_RBP, &fp);
    f->slot = sp - sizeof(uintptr_t);
    f->saved_at = saved_at(cursor, UNW_X86_64_RBP);
#elif defined(__aarch64__)
    unw_get_reg(cursor, UNW_AARCH64_X29, &fp);
    f->slot = saved_at(cursor, UNW_AARCH64_X30);
    f->saved_at = saved_at(cursor, UNW_AARCH64_X29);
#endif
    f->frame_pointer = fp;
}

/* libunwind checks memory through a pipe of its own, whose descriptors it keeps: the application's next
 * open() would get other numbers, and if it closes descriptors that it does not own, libunwind writes into
 * whatever file got them next. So while we unwind, its reads come here: the thread's own stack is read as
 * it is, other memory (stacks of coroutines and signal handlers) through the kernel, which checks. The
 * application's own use of libunwind is passed on. */
static FV_TLS struct {
    bool on;
    struct fv_stack_range stack;
} unwinding;
static int (*libunwind_access)(unw_addr_space_t, unw_word_t, unw_word_t *, int, void *);

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *arg)
{
    uintptr_t word;

    if (!unwinding.on)
        return libunwind_access(space, address, value, write, arg);
    if (write)
        return -UNW_EINVAL;
    if (fv_stack_range_read(&unwinding.stack, address, &word)) {
        *value = word;
        return 0;
    }
    return fv_memory_peek(address, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

/* The first use of libunwind opens its pipe, even so: the low descriptors are taken meanwhile. */
void fv_unwind_init(void)
{
    int filler[48];
    unsigned fillers = 0;

    while (fillers < 48 && (filler[fillers] = fcntl(fv_rt.writer.fd, F_DUPFD_CLOEXEC, 0)) >= 0 && filler[fillers] < 48)
        fillers++;
    if (fillers < 48 && filler[fillers] >= 48)
        close(filler[fillers]);
    unw_accessors_t *accessors = unw_get_accessors(unw_local_addr_space);

    while (fillers > 0)
        close(filler[--fillers]);
    libunwind_access = accessors->access_mem;
    accessors->access_mem = access_memory;
}

/* Of a frame that has no table libunwind says that it is a byte long. It searches the loader's list for that, with a
 * lock and signals held: addresses that have a table are remembered, by any thread. */
static bool has_table(unw_cursor_t *cursor, uintptr_t address)
{
    static uintptr_t with_table[512][2]; /* two that share a place do not drive each other out */
    uintptr_t *known = with_table[fv_mix(address) % (sizeof(with_table) / sizeof(*with_table))];
    unw_proc_info_t info;

    if (__atomic_load_n(&known[0], __ATOMIC_RELAXED) == address ||
        __atomic_load_n(&known[1], __ATOMIC_RELAXED) == address)
        return true;
    if (unw_get_proc_info(cursor, &info) || info.end_ip <= info.start_ip + 1)
        return false;
    __atomic_store_n(&known[1], __atomic_load_n(&known[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&known[0], address, __ATOMIC_RELAXED);
    return true;
}

/* Of a frame that was found by the frame pointer libunwind knows address and registers, but on x86-64 not the stack
 * pointer. It begins anew from what is known; registers then stand in `context`. */
static void know_stack(unw_cursor_t *cursor, unw_context_t *context, uintptr_t sp)
{
#if defined(__x86_64__)
    static const struct {
        int from, to;
    } kept[] = { { UNW_REG_IP, REG_RIP },     { UNW_X86_64_RBX, REG_RBX }, { UNW_X86_64_RBP, REG_RBP },
                 { UNW_X86_64_R12, REG_R12 }, { UNW_X86_64_R13, REG_R13 }, { UNW_X86_64_R14, REG_R14 },
                 { UNW_X86_64_R15, REG_R15 } };
    unw_word_t value[sizeof(kept) / sizeof(*kept)] = { 0 };

    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        unw_get_reg(cursor, kept[i].from, &value[i]);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        context->uc_mcontext.gregs[kept[i].to] = (greg_t)value[i];
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    unw_init_local(cursor, context);
#else
    (void)cursor, (void)context, (void)sp;
#endif
}

/* Was it, or may it have been found by the frame pointer? */
static bool is_by_pointer(const struct fv_stack_frame *from, const struct fv_stack_frame *to)
{
    const uintptr_t at = from->frame_pointer + sizeof(at);
    unw_word_t found = 0;

    return at >= from->sp && !access_memory(unw_local_addr_space, at, &found, 0, NULL) && to->address == found;
}

/* ---- frames that were met before ---- */

#if defined(__x86_64__)
#define RULES 1024

enum kind { NO_RULE, END, FIXED, BY_POINTER };

/* What follows the frame of a return address. */
struct rule {
    enum kind kind;
    uintptr_t size;  /* FIXED: from its stack pointer at the call to the caller's */
    uintptr_t saved; /* FIXED: the caller's frame pointer is so far below that; 0: it is in its register */
};

#define WORD_MOST ((UINT64_C(1) << 30) - 1) /* of eight bytes */

/* No lock: of two words that do not belong together the sum is no address. What was closed by dlclose() takes its rules
 * along. */
static struct {
    uint64_t sum, rule;
} rules[RULES];

static uint64_t key_of(uintptr_t address, uint64_t removals)
{
    return address ^ removals * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t packed(struct rule rule)
{
    return (uint64_t)rule.kind | rule.size / 8 << 2 | rule.saved / 8 << 32;
}

static struct rule unpacked(uint64_t r)
{
    return (struct rule){ (enum kind)(r & 3), (r >> 2 & WORD_MOST) * 8, (r >> 32 & WORD_MOST) * 8 };
}

static inline __attribute__((always_inline)) struct rule recall(uintptr_t address, uint64_t removals)
{
    const size_t at = fv_mix(address) % RULES;
    const uint64_t r = __atomic_load_n(&rules[at].rule, __ATOMIC_RELAXED),
                   sum = __atomic_load_n(&rules[at].sum, __ATOMIC_RELAXED);

    return (sum ^ r) == key_of(address, removals) ? unpacked(r) : (struct rule){ .kind = NO_RULE };
}

static void remember(uintptr_t address, uint64_t removals, struct rule rule)
{
    const size_t at = fv_mix(address) % RULES;
    const uint64_t r = packed(rule);

    __atomic_store_n(&rules[at].rule, r, __ATOMIC_RELAXED);
    __atomic_store_n(&rules[at].sum, key_of(address, removals) ^ r, __ATOMIC_RELAXED);
}

/* Of a function most calls stand where its table says the same: the newest such ranges, in the same way. */
#define RANGES 8
static struct {
    uint64_t first, end, rule, sum;
} ranges[RANGES];

static uint64_t sum_of_range(uint64_t first, uint64_t end, uint64_t rule, uint64_t removals)
{
    return key_of(first, removals) ^ end * UINT64_C(0xd6e8feb86659fd93) ^ rule;
}

static struct rule recall_range(uintptr_t pc, uint64_t removals)
{
    for (unsigned i = 0; i < RANGES; i++) {
        const uint64_t first = __atomic_load_n(&ranges[i].first, __ATOMIC_RELAXED),
                       end = __atomic_load_n(&ranges[i].end, __ATOMIC_RELAXED);

        if (pc - first >= end - first)
            continue;
        const uint64_t r = __atomic_load_n(&ranges[i].rule, __ATOMIC_RELAXED);
        if (__atomic_load_n(&ranges[i].sum, __ATOMIC_RELAXED) == sum_of_range(first, end, r, removals))
            return unpacked(r);
    }
    return (struct rule){ .kind = NO_RULE };
}

static void remember_range(struct fv_cfi_range range, uint64_t removals, struct rule rule)
{
    static unsigned next;
    const unsigned i = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % RANGES;
    const uint64_t r = packed(rule);

    __atomic_store_n(&ranges[i].first, range.first, __ATOMIC_RELAXED);
    __atomic_store_n(&ranges[i].end, range.end, __ATOMIC_RELAXED);
    __atomic_store_n(&ranges[i].rule, r, __ATOMIC_RELAXED);
    __atomic_store_n(&ranges[i].sum, sum_of_range(range.first, range.end, r, removals), __ATOMIC_RELAXED);
}

static bool is_word(uintptr_t bytes)
{
    return bytes % 8 == 0 && bytes / 8 <= WORD_MOST;
}

static bool read_word(uintptr_t at, uintptr_t *out)
{
    return fv_stack_range_read(&unwinding.stack, at, out);
}

/* False: it does not go that way. */
static bool follow(struct rule rule, const struct fv_stack_frame *from, struct fv_stack_frame *to)
{
    const bool fixed = rule.kind == FIXED;
    const uintptr_t pointer = from->frame_pointer, sp = fixed ? from->sp + rule.size : pointer + 2 * sizeof(pointer);
    const bool is_saved = !fixed || rule.saved;

    if (!fixed && pointer < from->sp)
        return false;
    *to = (struct fv_stack_frame){
        .sp = sp, .slot = sp - sizeof(sp), .frame_pointer = pointer, .saved_at = from->saved_at
    };
    if (is_saved)
        to->saved_at = fixed ? sp - rule.saved : pointer;
    return read_word(to->slot, &to->address) && (!is_saved || read_word(to->saved_at, &to->frame_pointer));
}

static struct rule rule_of_row(const struct fv_cfi_row *row)
{
    static const struct rule none = { .kind = NO_RULE };
    const uintptr_t word = sizeof(uintptr_t);

    if (row->kind == FV_CFI_END)
        return (struct rule){ .kind = END };
    const uintptr_t size = (uintptr_t)row->cfa_offset, saved = (uintptr_t)-row->saved[FV_SAVED_RBP];

    if (row->cfa_register == FV_REG_RBP)
        return (struct rule){ .kind = size == 2 * word && saved == 2 * word ? BY_POINTER : NO_RULE };
    if (row->cfa_register != FV_REG_SP || !is_word(size) || !is_word(saved) || size < word)
        return none;
    return !saved || (saved > word && saved <= size) ? (struct rule){ FIXED, size, saved } : none;
}

/* What the frame's table says. An older C library tells of new objects only when it is asked. */
static struct rule rule_of_table(struct fv_cfi_scratch *scratch, uintptr_t address, uint64_t removals)
{
    struct rule rule = recall_range(address - 1, removals);
    struct fv_cfi_range same;
    struct fv_cfi_row row;

    if (rule.kind != NO_RULE)
        return rule;
    if (!fv_cfi_row_of(scratch, address - 1, &row, &same)) {
        const uint32_t known = fv_loaded_generation();

        fv_loaded_refresh();
        if (fv_loaded_generation() == known || !fv_cfi_row_of(scratch, address - 1, &row, &same))
            return rule;
    }
    rule = rule_of_row(&row);
    if (rule.kind != NO_RULE)
        remember_range(same, removals, rule);
    return rule;
}

/* Of a frame that was met before it is known. */
static bool returns_to(uintptr_t address, uint64_t removals)
{
    return recall(address, removals).kind != NO_RULE || fv_is_return_address(address);
}

/* As step(); below 0: it is not known. */
static int step_again(struct fv_stack_walk *walk, uint64_t removals)
{
    struct fv_stack_frame *from = &walk->frame[walk->count - 1], *to = &walk->frame[walk->count];
    const struct rule known = recall(from->address, removals);
    const bool is_new = known.kind == NO_RULE;
    const struct rule rule = is_new ? rule_of_table(&walk->scratch, from->address, removals) : known;

    if (rule.kind == NO_RULE)
        return -1;
    if (rule.kind != END && (!follow(rule, from, to) || (is_new && !returns_to(to->address, removals))))
        return -1;
    if (is_new)
        remember(from->address, removals, rule);
    from->is_fixed = rule.kind == FIXED;
    return rule.kind != END;
}

/* False: libunwind is to walk by itself. */
static bool walk_again(struct fv_stack_walk *walk, struct fv_call_place site, unsigned limit, uint64_t removals)
{
    const uintptr_t slot = (uintptr_t)&site.frame[1], saved_at = (uintptr_t)site.frame;
    struct fv_stack_frame *first = &walk->frame[0];
    int more = 1;

    *first = (struct fv_stack_frame){ .slot = slot, .sp = slot + sizeof(slot), .saved_at = saved_at };
    if (!read_word(slot, &first->address) || first->address != (uintptr_t)site.return_address ||
        !read_word(saved_at, &first->frame_pointer))
        return false;
    while (more > 0 && walk->count < limit) {
        if (!walk->frame[walk->count].address)
            return true;
        walk->count++;
        if ((more = step_again(walk, removals)) < 0)
            return false;
    }
    walk->truncated = more > 0;
    if (!more)
        walk->frame[walk->count] = (struct fv_stack_frame){ .sp = UINTPTR_MAX };
    return true;
}
#else
static bool walk_again(struct fv_stack_walk *walk, struct fv_call_place site, unsigned limit, uint64_t removals)
{
    return (void)walk, (void)site, (void)limit, (void)removals, false;
}
#endif

/* ---- all others ---- */

/* To the next frame outwards, which is read. 0: there is none, or the frame has no table and its frame pointer leads to
 * no return address. */
static int step(struct fv_stack_walk *walk, unw_cursor_t *cursor, unw_context_t *context)
{
    const struct fv_stack_frame *from = &walk->frame[walk->count - 1];
    struct fv_stack_frame *to = &walk->frame[walk->count];
    const uintptr_t at = from->frame_pointer + sizeof(at);

    walk->before = *cursor;
    int more = unw_step(cursor);
    if (more <= 0)
        return more;
    read_frame(cursor, to);
    if (to->saved_at - (uintptr_t)context < sizeof(*context))
        to->saved_at = walk->guessed_at;
    if (!is_by_pointer(from, to) || has_table(&walk->before, from->address))
        return more;
    if (!fv_is_return_address(to->address))
        return 0;
    to->slot = at;
    to->sp = at + sizeof(at);
    to->saved_at = walk->guessed_at = from->frame_pointer;
    know_stack(cursor, context, to->sp);
    return more;
}

static void walk_all(struct fv_stack_walk *walk, struct fv_call_place site, unsigned limit)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t ip = 0;
    int more;

    unw_getcontext(&context);
    if (unw_init_local(&cursor, &context))
        return;
    while ((more = unw_step(&cursor)) > 0) {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip == (uintptr_t)site.return_address)
            break;
    }
    if (more > 0)
        read_frame(&cursor, &walk->frame[0]);
    while (more > 0 && walk->count < limit) {
        if (!walk->frame[walk->count].address)
            return;
        walk->count++;
        if (unw_is_signal_frame(&cursor) > 0)
            walk->cachable = false;
        more = step(walk, &cursor, &context);
    }
    walk->truncated = more > 0;
    if (more <= 0)
        walk->frame[walk->count] = (struct fv_stack_frame){ .sp = UINTPTR_MAX };
}

static void clear(struct fv_stack_walk *walk)
{
    walk->count = 0;
    walk->truncated = false;
    walk->cachable = true;
}

void fv_unwind(struct fv_stack_walk *walk, struct fv_call_place site, unsigned limit,
               const struct fv_stack_range *stack, uint64_t removals)
{
    const typeof(unwinding) before = unwinding;

    unwinding.on = true;
    unwinding.stack = *stack;
    unwinding.stack.low = stack->high ? (uintptr_t)__builtin_frame_address(0) - OWN_STACK : 0;
    clear(walk);
    if (removals == FV_UNWIND_ANEW || !walk_again(walk, site, limit, removals)) {
        clear(walk);
        walk_all(walk, site, limit);
    }
    unwinding = before;
}
