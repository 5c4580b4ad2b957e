/* SPDX-License-Identifier: BSD-3-Clause */
/* See machine_code.h. libopcodes prints; what an instruction does is read from its mnemonic, and a branch's
 * target from the address that it wants to have printed. */
#include "symbols/machine_code.h"

#if defined(HAVE_OPCODES) && defined(__x86_64__)
#define PACKAGE "fvmpi" /* bfd.h insists */
#include <bfd.h>
#include <dis-asm.h>

#include "tool/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printed {
    char text[160];
    size_t used;
    uint64_t target;
    bool any;
};

static void FV_PRINTF(2, 0) append(struct printed *p, const char *format, va_list args)
{
    if (p->used < sizeof(p->text)) {
        int n = vsnprintf(p->text + p->used, sizeof(p->text) - p->used, format, args);

        p->used += n > 0 ? (size_t)n : 0;
    }
}

static int FV_PRINTF(2, 3) print(void *stream, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    append(stream, format, args);
    va_end(args);
    return 0;
}

#ifdef HAVE_OPCODES_STYLED
static int FV_PRINTF(3, 4) print_styled(void *stream, enum disassembler_style style, const char *format, ...)
{
    va_list args;

    (void)style;
    va_start(args, format);
    append(stream, format, args);
    va_end(args);
    return 0;
}
#endif

static void print_address(bfd_vma address, struct disassemble_info *info)
{
    struct printed *p = info->stream;

    p->target = address;
    p->any = true;
}

static void complain(int status, bfd_vma address, struct disassemble_info *info)
{
    (void)status;
    (void)address;
    (void)info;
}

static bool is_word(const char *word, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && !strncmp(word, *words, length))
            return true;
    return false;
}

/* SSE, AVX and AVX-512. Moves, logic and shuffles are not asked for: compilers use them for single numbers as well. */
static bool is_packed(const char *word)
{
    static const char *const floating[] = { "add",  "sub", "mul",   "div",   "sqrt",  "min",    "max",   "hadd",
                                            "hsub", "rcp", "rsqrt", "fmadd", "fmsub", "fnmadd", "fnmsub" };
    static const char *const whole[] = {
        "padd", "psub", "pmul", "pmadd", "pmin", "pmax", "pabs", "pavg", "psad", "pdp"
    };
    size_t length = strcspn(word, " ,");

    if (word[0] == 'v') {
        word++;
        length--;
    }
    for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
        if (!strncmp(word, whole[i], strlen(whole[i])))
            return true;
    if (length < 2 || word[length - 2] != 'p' || !strchr("sdh", word[length - 1]))
        return false;
    for (size_t i = 0; i < sizeof(floating) / sizeof(*floating); i++)
        if (!strncmp(word, floating[i], strlen(floating[i])))
            return true;
    return false;
}

static enum fv_flow flow_of(const struct printed *p)
{
    static const char *const prefixes[] = { "bnd", "notrack", "rep", "repz", "repnz", "cs", "ds", "data16", NULL };
    static const char *const ends[] = { "ret", "retq", "retw", "iret", "iretq", "hlt", "ud2", "ud1", NULL };
    static const char *const jumps[] = { "jmp", "jmpq", "ljmp", NULL };
    static const char *const loops[] = { "loop", "loope", "loopne", "xbegin", NULL };
    const char *word = p->text;
    size_t length = strcspn(word, " ,");

    while (is_word(word, length, prefixes) && word[length]) {
        word += length + strspn(word + length, " ");
        length = strcspn(word, " ,");
    }
    if (!strncmp(word, "nop", 3) || !strncmp(word, "xchg   %ax,%ax", 14))
        return FV_FLOW_NOTHING;
    if (is_word(word, length, ends))
        return FV_FLOW_END;
    if (is_word(word, length, jumps))
        return p->any && !strchr(word, '*') ? FV_FLOW_JUMP : FV_FLOW_TABLE;
    if (word[0] == 'j' || is_word(word, length, loops))
        return p->any ? FV_FLOW_BRANCH : FV_FLOW_ON;
    return FV_FLOW_ON;
}

bool fv_machine_code_available(void)
{
    return true;
}

size_t fv_machine_code_decode(const uint8_t *code, uint64_t address, size_t bytes, struct fv_instruction **out)
{
    disassembler_ftype decode = disassembler(bfd_arch_i386, 0, bfd_mach_x86_64, NULL);
    struct fv_instruction *list = NULL;
    struct disassemble_info info;
    struct printed printed;
    size_t count = 0, room = 0;

#ifdef HAVE_OPCODES_STYLED
    init_disassemble_info(&info, &printed, print, print_styled);
#else
    init_disassemble_info(&info, &printed, print);
#endif
    info.arch = bfd_arch_i386;
    info.mach = bfd_mach_x86_64;
    info.endian = info.endian_code = BFD_ENDIAN_LITTLE;
    info.buffer = (bfd_byte *)(uintptr_t)code;
    info.buffer_vma = address;
    info.buffer_length = bytes;
    info.print_address_func = print_address;
    info.memory_error_func = complain;
    disassemble_init_for_target(&info);
    for (size_t at = 0; decode && at < bytes;) {
        int n;

        printed = (struct printed){ .used = 0 };
        n = decode(address + at, &info);
        if (n <= 0 || strstr(printed.text, "(bad)"))
            break;
        FV_GROW(list, room, count + 1);
        list[count++] = (struct fv_instruction){ .address = address + at,
                                                 .target = printed.target,
                                                 .bytes = (uint32_t)n,
                                                 .flow = flow_of(&printed),
                                                 .packed = is_packed(printed.text) };
        at += (size_t)n;
    }
    *out = list;
    return count;
}
#else
bool fv_machine_code_available(void)
{
    return false;
}

size_t fv_machine_code_decode(const uint8_t *code, uint64_t address, size_t bytes, struct fv_instruction **out)
{
    (void)code;
    (void)address;
    (void)bytes;
    *out = NULL;
    return 0;
}
#endif
