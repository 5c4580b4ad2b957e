/* SPDX-License-Identifier: BSD-3-Clause */
/* See cfi.h. The rows of a table are run as DWARF 5, section 6.4 says, of the parts that compilers and the C
 * library's assembler code use; the encodings are those of the LSB, chapter 10.6. */
#include "rt/cfi.h"
#include "rt/loaded_objects.h"

#include <string.h>

/* What differs between processors. */
#if defined(__x86_64__)
#define KNOWN_PROCESSOR 1
#define RETURN_COLUMN   FV_REG_PC
#define ENTRY_CFA       8 /* above the stack pointer, at the first instruction of a function that is called */
static const uint8_t callee_saved[FV_SAVED] = { FV_REG_RBX, FV_REG_RBP, 12, 13, 14, 15 };

void fv_registers_take(struct fv_registers *r, const ucontext_t *context)
{
    static const uint8_t from[FV_REGS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                           REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

    for (unsigned i = 0; i < FV_REGS; i++)
        r->r[i] = (uintptr_t)context->uc_mcontext.gregs[from[i]];
}

/* A frame is above the one that it calls, by a return address at least. */
static bool is_outside(uintptr_t cfa, uintptr_t sp)
{
    return cfa > sp;
}
#elif defined(__aarch64__)
#define KNOWN_PROCESSOR 1
#define RETURN_COLUMN   FV_REG_LR
#define ENTRY_CFA       0
static const uint8_t callee_saved[FV_SAVED] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, FV_REG_LR };

void fv_registers_take(struct fv_registers *r, const ucontext_t *context)
{
    for (unsigned i = 0; i <= FV_REG_LR; i++)
        r->r[i] = context->uc_mcontext.regs[i];
    r->r[FV_REG_SP] = context->uc_mcontext.sp;
    r->r[FV_REG_PC] = context->uc_mcontext.pc;
}

/* One that has nothing on the stack, the innermost alone. */
static bool is_outside(uintptr_t cfa, uintptr_t sp)
{
    return cfa >= sp;
}

/* Return addresses may be signed (pointer authentication): xpaclri, which older processors take for a nop. That is done
 * to all, so that nobody has to keep account of DW_CFA_AARCH64_negate_ra_state: an address of the program's has nothing
 * to be taken off. */
static uintptr_t without_signature(uintptr_t address)
{
    register uintptr_t lr __asm__("x30") = address;

    __asm__("hint #7" : "+r"(lr));
    return lr;
}
#else
#define KNOWN_PROCESSOR 0
#endif

bool fv_cfi_available(void)
{
    return KNOWN_PROCESSOR;
}

#if KNOWN_PROCESSOR

/* ---- bytes of the tables ---- */

struct bytes {
    const uint8_t *at, *end;
    bool bad; /* read past the end, or something unknown */
};

static uint64_t get(struct bytes *b, unsigned size)
{
    uint64_t value = 0;

    if (b->bad || (size_t)(b->end - b->at) < size) {
        b->bad = true;
        return 0;
    }
    memcpy(&value, b->at, size);
    b->at += size;
    return value;
}

/* LEB128: seven bits a byte, lowest first; bit 6 of the last one is the sign of a signed number. */
static uint64_t get_leb(struct bytes *b, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;

    do {
        byte = get(b, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static uint64_t get_uleb(struct bytes *b)
{
    return get_leb(b, false);
}

static int64_t get_sleb(struct bytes *b)
{
    return (int64_t)get_leb(b, true);
}

static void skip(struct bytes *b, uint64_t count)
{
    if (b->bad || (uint64_t)(b->end - b->at) < count)
        b->bad = true;
    else
        b->at += count;
}

/* A pointer in one of the encodings DW_EH_PE_*: absolute or relative to where it stands. */
static uintptr_t get_encoded(struct bytes *b, uint8_t encoding, bool relative)
{
    uintptr_t here = (uintptr_t)b->at, value;

    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: value = get(b, 8); break;
    case 0x02: value = get(b, 2); break;
    case 0x03: value = get(b, 4); break;
    case 0x0a: value = (uintptr_t)(int16_t)get(b, 2); break;
    case 0x0b: value = (uintptr_t)(intptr_t)(int32_t)get(b, 4); break;
    default: b->bad = true; return 0;
    }
    if (relative && (encoding & 0x70) == 0x10)
        value += here;
    else if (relative && encoding & 0x70)
        b->bad = true;
    return value;
}

/* ---- the entry of an address ---- */

struct entry {
    uintptr_t begin, end;
    struct bytes common, own; /* programs: of the CIE, of the FDE */
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding; /* of addresses */
    bool signal_frame;
};

static struct bytes block(const uint8_t *at)
{
    uint32_t length;

    memcpy(&length, at, sizeof(length));
    if (length == UINT32_MAX) /* of more than 4 GiB */
        return (struct bytes){ .bad = true };
    return (struct bytes){ .at = at + sizeof(length), .end = at + sizeof(length) + length };
}

static bool read_common(const uint8_t *at, struct entry *e, bool *augmented)
{
    struct bytes b = block(at);
    uint64_t id = get(&b, 4), version = get(&b, 1);
    const char *augmentation = (const char *)b.at;

    if (b.bad || id || (version != 1 && version != 3))
        return false;
    while (get(&b, 1) && !b.bad)
        ;
    e->code_align = get_uleb(&b);
    e->data_align = get_sleb(&b);
    uint64_t return_register = version == 1 ? get(&b, 1) : get_uleb(&b);
    if (b.bad || return_register != RETURN_COLUMN)
        return false;
    e->encoding = 0;
    *augmented = *augmentation == 'z';
    if (*augmentation && !*augmented)
        return false;
    if (*augmented) {
        uint64_t bytes = get_uleb(&b);
        struct bytes data = b;

        skip(&b, bytes);
        while (*++augmentation) {
            uint8_t encoding;
            switch (*augmentation) {
            case 'R': e->encoding = (uint8_t)get(&data, 1); break;
            case 'L': get(&data, 1); break;
            case 'P':
                encoding = (uint8_t)get(&data, 1);
                get_encoded(&data, encoding, false);
                break;
            case 'S': e->signal_frame = true; break;
            case 'B': break;
            default: return false;
            }
        }
        b.bad |= data.bad;
    }
    e->common = b;
    return !b.bad;
}

static bool read_entry(const uint8_t *at, uintptr_t pc, struct entry *e)
{
    struct bytes b = block(at);
    const uint8_t *cie = b.at;
    uint32_t back = (uint32_t)get(&b, 4);
    bool augmented = false;

    *e = (struct entry){ 0 };
    if (b.bad || !back || !read_common(cie - back, e, &augmented))
        return false;
    e->begin = get_encoded(&b, e->encoding, true);
    e->end = e->begin + get_encoded(&b, e->encoding, false);
    if (augmented)
        skip(&b, get_uleb(&b));
    e->own = b;
    return !b.bad && pc >= e->begin && pc < e->end;
}

/* .eh_frame_hdr: a table of (first address, entry), sorted; both relative to the header. */
struct pair {
    int32_t address, entry;
};

static bool find_entry(uintptr_t pc, struct entry *e, const void **object)
{
    struct fv_loaded_object found;

    if (!fv_loaded_find(pc, &found) || !found.unwind)
        return false;
    const uint8_t *header = found.unwind;
    uint32_t count;

    *object = found.object;
    /* version 1; a 4-byte pointer to .eh_frame; a 4-byte count; the table as linkers make it */
    if (header[0] != 1 || (header[1] & 0x0f) % 8 != 3 || header[2] != 0x03 || header[3] != 0x3b)
        return false;
    memcpy(&count, header + 8, sizeof(count));
    const struct pair *table = (const void *)(header + 12);
    intptr_t wanted = (intptr_t)(pc - (uintptr_t)header);
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table[middle].address <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low && read_entry(header + table[low - 1].entry, pc, e);
}

/* ---- the row of an address ---- */

enum rule_kind { SAME, UNDEFINED, AT_OFFSET, IS_OFFSET, AT_EXPRESSION, IS_EXPRESSION, UNKNOWN };
struct rule {
    uint8_t kind; /* enum rule_kind */
    int64_t offset;
    struct bytes expression;
};
struct row {
    struct rule reg[FV_REGS];
    bool cfa_is_expression;
    uint64_t cfa_register;
    int64_t cfa_offset;
    struct bytes cfa_expression;
};
#define REMEMBERED 4
struct machine {
    struct row row, initial, remembered[REMEMBERED];
    unsigned depth;
    uintptr_t location, before; /* behind run(): the row holds from `before` up to `location` */
};
_Static_assert(sizeof(struct machine) <= sizeof(struct fv_cfi_scratch), "room");

static struct bytes get_block(struct bytes *b)
{
    uint64_t length = get_uleb(b);
    struct bytes found = { .at = b->at };

    skip(b, length);
    found.end = b->at;
    return found;
}

static void set_rule(struct machine *m, uint64_t reg, enum rule_kind kind, int64_t offset)
{
    if (reg < FV_REGS)
        m->row.reg[reg] = (struct rule){ .kind = (uint8_t)kind, .offset = offset };
}

static void set_expression(struct machine *m, uint64_t reg, enum rule_kind kind, struct bytes expression)
{
    if (reg < FV_REGS)
        m->row.reg[reg] = (struct rule){ .kind = (uint8_t)kind, .expression = expression };
}

static void restore(struct machine *m, uint64_t reg)
{
    if (reg < FV_REGS)
        m->row.reg[reg] = m->initial.reg[reg];
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    m->row.cfa_is_expression = false;
    m->row.cfa_register = reg;
    m->row.cfa_offset = offset;
}

/* The rare ones. */
static void do_extended(struct machine *m, const struct entry *e, struct bytes *b, unsigned op)
{
    uint64_t reg;

    switch (op) {
    case 0x05:
        reg = get_uleb(b);
        set_rule(m, reg, AT_OFFSET, (int64_t)get_uleb(b) * e->data_align);
        break;
    case 0x06: restore(m, get_uleb(b)); break;
    case 0x07: set_rule(m, get_uleb(b), UNDEFINED, 0); break;
    case 0x08: set_rule(m, get_uleb(b), SAME, 0); break;
    case 0x09:
        reg = get_uleb(b);
        get_uleb(b);
        set_rule(m, reg, UNKNOWN, 0);
        break;
    case 0x10:
        reg = get_uleb(b);
        set_expression(m, reg, AT_EXPRESSION, get_block(b));
        break;
    case 0x11:
        reg = get_uleb(b);
        set_rule(m, reg, AT_OFFSET, get_sleb(b) * e->data_align);
        break;
    case 0x12:
        reg = get_uleb(b);
        set_cfa(m, reg, get_sleb(b) * e->data_align);
        break;
    case 0x13: m->row.cfa_offset = get_sleb(b) * e->data_align; break;
    case 0x14:
        reg = get_uleb(b);
        set_rule(m, reg, IS_OFFSET, (int64_t)get_uleb(b) * e->data_align);
        break;
    case 0x15:
        reg = get_uleb(b);
        set_rule(m, reg, IS_OFFSET, get_sleb(b) * e->data_align);
        break;
    case 0x16:
        reg = get_uleb(b);
        set_expression(m, reg, IS_EXPRESSION, get_block(b));
        break;
    case 0x2d: break;              /* DW_CFA_AARCH64_negate_ra_state */
    case 0x2e: get_uleb(b); break; /* bytes of arguments: nothing to us */
    default: b->bad = true;
    }
}

static void do_one(struct machine *m, const struct entry *e, struct bytes *b)
{
    unsigned op = (unsigned)get(b, 1);
    uint64_t reg;

    switch (op & 0xc0) {
    case 0x40: m->location += (op & 0x3f) * e->code_align; return;
    case 0x80: set_rule(m, op & 0x3f, AT_OFFSET, (int64_t)get_uleb(b) * e->data_align); return;
    case 0xc0: restore(m, op & 0x3f); return;
    }
    switch (op) {
    case 0x00: break;
    case 0x01: m->location = get_encoded(b, e->encoding, true); break;
    case 0x02: m->location += get(b, 1) * e->code_align; break;
    case 0x03: m->location += get(b, 2) * e->code_align; break;
    case 0x04: m->location += get(b, 4) * e->code_align; break;
    case 0x0a:
        if (m->depth == REMEMBERED)
            b->bad = true;
        else
            m->remembered[m->depth++] = m->row;
        break;
    case 0x0b:
        if (!m->depth)
            b->bad = true;
        else
            m->row = m->remembered[--m->depth];
        break;
    case 0x0c:
        reg = get_uleb(b);
        set_cfa(m, reg, (int64_t)get_uleb(b));
        break;
    case 0x0d: m->row.cfa_register = get_uleb(b); break;
    case 0x0e: m->row.cfa_offset = (int64_t)get_uleb(b); break;
    case 0x0f:
        m->row.cfa_is_expression = true;
        m->row.cfa_expression = get_block(b);
        break;
    default: do_extended(m, e, b, op);
    }
}

static bool run(struct machine *m, const struct entry *e, uintptr_t pc)
{
    struct bytes b = e->common;

    memset(&m->row, 0, sizeof(m->row));
    m->depth = 0;
    m->location = m->before = e->begin;
    while (!b.bad && b.at < b.end)
        do_one(m, e, &b);
    if (b.bad)
        return false;
    m->initial = m->row;
    for (b = e->own; !b.bad && b.at < b.end && m->location <= pc;) {
        m->before = m->location;
        do_one(m, e, &b);
    }
    if (m->location <= pc) { /* the last one */
        m->before = m->location;
        m->location = e->end;
    }
    return !b.bad;
}

/* Of the caller: on the stack, right below the CFA; or where the link register is, or was saved, like any other. */
static bool is_usual_return(const struct rule *rule)
{
#if FV_RETURN_ON_STACK
    return rule->kind == AT_OFFSET && rule->offset == -ENTRY_CFA;
#else
    return rule->kind == AT_OFFSET || rule->kind == SAME;
#endif
}

/* The program counter of the caller, when its other registers are known. What the link register held is no address to
 * return to any more: a frame that has not saved it ends the walk. */
static void return_to_caller(struct fv_registers *r)
{
#if !FV_RETURN_ON_STACK
    r->r[FV_REG_PC] = without_signature(r->r[FV_REG_LR]);
    r->r[FV_REG_LR] = 0;
#else
    (void)r;
#endif
}

/* Can the row be kept as offsets? */
static bool simplify(const struct row *row, struct fv_cfi_row *out)
{
    if (row->cfa_is_expression || row->cfa_register >= FV_REG_PC || !is_usual_return(&row->reg[RETURN_COLUMN]) ||
        row->cfa_offset != (int32_t)row->cfa_offset || row->reg[FV_REG_SP].kind != SAME)
        return false;
    for (unsigned i = 0; i < FV_SAVED; i++) {
        const struct rule *rule = &row->reg[callee_saved[i]];

        if (rule->kind == AT_OFFSET && rule->offset == (int16_t)rule->offset)
            out->saved[i] = (int16_t)rule->offset;
        else if (rule->kind != SAME && rule->kind != UNDEFINED)
            return false;
    }
    out->cfa_register = (uint8_t)row->cfa_register;
    out->cfa_offset = (int32_t)row->cfa_offset;
    return true;
}

static void fill(struct machine *m, struct fv_cfi_row *out, uintptr_t pc)
{
    struct entry e;

    *out = (struct fv_cfi_row){ .pc = pc };
    if (!find_entry(pc, &e, &out->object))
        return;
    if (e.signal_frame)
        return; /* of the kernel's making: the walk ends */
    out->begin = e.begin;
    out->plain_entry = run(m, &e, e.begin) && !m->row.cfa_is_expression && m->row.cfa_register == FV_REG_SP &&
                       m->row.cfa_offset == ENTRY_CFA;
    if (!run(m, &e, pc) || m->row.reg[RETURN_COLUMN].kind == UNDEFINED)
        return;
    out->kind = simplify(&m->row, out) ? FV_CFI_SIMPLE : FV_CFI_COMPLEX;
}

bool fv_cfi_row_of(struct fv_cfi_scratch *scratch, uintptr_t pc, struct fv_cfi_row *out, struct fv_cfi_range *same)
{
    struct machine *m = (struct machine *)scratch;
    struct entry e;

    *out = (struct fv_cfi_row){ .pc = pc };
    if (!find_entry(pc, &e, &out->object) || e.signal_frame || !run(m, &e, pc))
        return false;
    *same = (struct fv_cfi_range){ m->before, m->location };
    if (m->row.reg[RETURN_COLUMN].kind == UNDEFINED)
        return true;
    out->kind = FV_CFI_SIMPLE;
    return simplify(&m->row, out);
}

#define FRAME_POINTER (FV_RETURN_ON_STACK ? 6 : 29)

/* "The word so far above the frame pointer." */
static bool is_pointed_to(struct bytes b, intptr_t *slot)
{
    const bool begins = get(&b, 1) == 0x70 + FRAME_POINTER;

    *slot = begins ? (intptr_t)get_sleb(&b) : 0;
    return begins && get(&b, 1) == 0x06 && !b.bad && b.at == b.end;
}

enum fv_cfi_link fv_cfi_link_of(struct fv_cfi_scratch *scratch, uintptr_t pc, intptr_t *slot)
{
    struct machine *m = (struct machine *)scratch;
    struct entry e;
    const void *object;

    if (!find_entry(pc, &e, &object) || !run(m, &e, pc))
        return FV_CFI_NO_TABLE;
    if (m->row.cfa_is_expression)
        return is_pointed_to(m->row.cfa_expression, slot) ? FV_CFI_BY_SLOT : FV_CFI_BY_OTHER;
    return m->row.cfa_register == FV_REG_SP       ? FV_CFI_BY_STACK
           : m->row.cfa_register == FRAME_POINTER ? FV_CFI_BY_POINTER
                                                  : FV_CFI_BY_OTHER;
}

const struct fv_cfi_row *fv_cfi_find(struct fv_cfi_cache *cache, uintptr_t pc)
{
    struct fv_cfi_row *row = &cache->row[fv_mix(pc) % FV_CFI_CACHE];
    uint32_t generation = fv_loaded_generation(); /* first: what is filled in may be of a later one */

    if (row->pc != pc || row->generation != generation) {
        fill((struct machine *)&cache->scratch, row, pc);
        row->generation = generation;
    }
    return row;
}

/* ---- a step ---- */

static bool is_constant(struct bytes *b, unsigned op, uintptr_t *out)
{
    switch (op) {
    case 0x08: *out = get(b, 1); break;
    case 0x09: *out = (uintptr_t)(int8_t)get(b, 1); break;
    case 0x0a: *out = get(b, 2); break;
    case 0x0b: *out = (uintptr_t)(int16_t)get(b, 2); break;
    case 0x10: *out = get_uleb(b); break;
    case 0x11: *out = (uintptr_t)get_sleb(b); break;
    default: *out = op - 0x30; return op >= 0x30 && op <= 0x4f;
    }
    return true;
}

/* Of two numbers. */
static bool compute(unsigned op, uintptr_t *x, uintptr_t y)
{
    switch (op) {
    case 0x1a: *x &= y; break;
    case 0x1c: *x -= y; break;
    case 0x1e: *x *= y; break;
    case 0x21: *x |= y; break;
    case 0x22: *x += y; break;
    case 0x24: *x = y < 64 ? *x << y : 0; break;
    case 0x25: *x = y < 64 ? *x >> y : 0; break;
    case 0x29: *x = *x == y; break;
    case 0x2a: *x = (intptr_t)*x >= (intptr_t)y; break;
    case 0x2b: *x = (intptr_t)*x > (intptr_t)y; break;
    case 0x2c: *x = (intptr_t)*x <= (intptr_t)y; break;
    case 0x2d: *x = (intptr_t)*x < (intptr_t)y; break;
    case 0x2e: *x = *x != y; break;
    default: return false;
    }
    return true;
}

/* What expressions of frames need: registers, small numbers, memory of the stack. */
static bool evaluate(struct bytes b, const struct fv_stack_range *stack, const struct fv_registers *r, bool with_cfa,
                     uintptr_t cfa, uintptr_t *out)
{
    uintptr_t s[16] = { 0 };
    unsigned n = 0;

    if (with_cfa)
        s[n++] = cfa;
    while (!b.bad && b.at < b.end) {
        unsigned op = (unsigned)get(&b, 1);
        bool binary =
            op == 0x1a || op == 0x1c || op == 0x1e || (op >= 0x21 && op <= 0x25) || (op >= 0x29 && op <= 0x2e);

        if (n + 1 >= 16 || (binary && n < 2))
            return false;
        if (is_constant(&b, op, &s[n])) {
            n++;
        } else if (op >= 0x70 && op < 0x90 && op - 0x70 < FV_REGS) {
            s[n++] = r->r[op - 0x70] + (uintptr_t)get_sleb(&b);
        } else if (binary) {
            n--;
            if (!compute(op, &s[n - 1], s[n]))
                return false;
        } else {
            switch (op) {
            case 0x06:
                if (!n || !fv_stack_range_read(stack, s[n - 1], &s[n - 1]))
                    return false;
                break;
            case 0x12:
                if (!n)
                    return false;
                s[n] = s[n - 1];
                n++;
                break;
            case 0x23:
                if (!n)
                    return false;
                s[n - 1] += get_uleb(&b);
                break;
            default: return false;
            }
        }
    }
    if (b.bad || !n)
        return false;
    *out = s[n - 1];
    return true;
}

static bool apply(const struct rule *rule, uintptr_t cfa, const struct fv_stack_range *stack,
                  const struct fv_registers *r, uintptr_t *value)
{
    uintptr_t at;

    switch (rule->kind) {
    case SAME:
    case UNDEFINED: return true;
    case AT_OFFSET: return fv_stack_range_read(stack, cfa + (uintptr_t)rule->offset, value);
    case IS_OFFSET: *value = cfa + (uintptr_t)rule->offset; return true;
    case AT_EXPRESSION:
        return evaluate(rule->expression, stack, r, true, cfa, &at) && fv_stack_range_read(stack, at, value);
    case IS_EXPRESSION: return evaluate(rule->expression, stack, r, true, cfa, value);
    }
    return false;
}

static bool step_complex(struct machine *m, uintptr_t pc, const struct fv_stack_range *stack, struct fv_registers *r)
{
    struct fv_registers next = *r;
    struct entry e;
    const void *object;
    uintptr_t cfa;

    if (!find_entry(pc, &e, &object) || !run(m, &e, pc))
        return false;
    if (m->row.cfa_is_expression) {
        if (!evaluate(m->row.cfa_expression, stack, r, false, 0, &cfa))
            return false;
    } else if (m->row.cfa_register < FV_REG_PC) {
        cfa = r->r[m->row.cfa_register] + (uintptr_t)m->row.cfa_offset;
    } else {
        return false;
    }
    for (unsigned i = 0; i < FV_REGS; i++)
        if (!apply(&m->row.reg[i], cfa, stack, r, &next.r[i]))
            return false;
    if (m->row.reg[FV_REG_SP].kind == SAME)
        next.r[FV_REG_SP] = cfa;
    return_to_caller(&next);
    *r = next;
    return true;
}

bool fv_cfi_step(struct fv_cfi_cache *cache, const struct fv_cfi_row *row, uintptr_t pc,
                 const struct fv_stack_range *stack, struct fv_registers *r)
{
    uintptr_t before = r->r[FV_REG_SP];

    if (row->kind == FV_CFI_END)
        return false;
    if (row->kind == FV_CFI_COMPLEX)
        return step_complex((struct machine *)&cache->scratch, pc, stack, r) && is_outside(r->r[FV_REG_SP], before) &&
               r->r[FV_REG_PC];
    uintptr_t cfa = r->r[row->cfa_register] + (uintptr_t)(intptr_t)row->cfa_offset;
    if (!is_outside(cfa, before) ||
        (FV_RETURN_ON_STACK && !fv_stack_range_read(stack, cfa - ENTRY_CFA, &r->r[FV_REG_PC])))
        return false;
    for (unsigned i = 0; i < FV_SAVED; i++)
        if (row->saved[i] &&
            !fv_stack_range_read(stack, cfa + (uintptr_t)(intptr_t)row->saved[i], &r->r[callee_saved[i]]))
            return false;
    r->r[FV_REG_SP] = cfa;
    return_to_caller(r);
    return r->r[FV_REG_PC] != 0;
}

#else

void fv_registers_take(struct fv_registers *r, const ucontext_t *context)
{
    (void)context;
    memset(r, 0, sizeof(*r));
}

bool fv_cfi_row_of(struct fv_cfi_scratch *scratch, uintptr_t pc, struct fv_cfi_row *out, struct fv_cfi_range *same)
{
    (void)scratch, (void)pc, (void)out, (void)same;
    return false;
}

enum fv_cfi_link fv_cfi_link_of(struct fv_cfi_scratch *scratch, uintptr_t pc, intptr_t *slot)
{
    (void)scratch, (void)pc, (void)slot;
    return FV_CFI_NO_TABLE;
}

const struct fv_cfi_row *fv_cfi_find(struct fv_cfi_cache *cache, uintptr_t pc)
{
    (void)pc;
    return &cache->row[0];
}

bool fv_cfi_step(struct fv_cfi_cache *cache, const struct fv_cfi_row *row, uintptr_t pc,
                 const struct fv_stack_range *stack, struct fv_registers *r)
{
    (void)cache, (void)row, (void)pc, (void)stack, (void)r;
    return false;
}

#endif
