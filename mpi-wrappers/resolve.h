/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry points that jump to where another function is, which is found out when the first call comes. */
#ifndef FV_RESOLVE_H
#define FV_RESOLVE_H

#include "base/base.h"

/* FV_STUB(name, slot) is an entry point; `slot` a structure that begins with the target's address, NULL till it is
 * known. FV_RESOLVER(name, settle) is what stubs jump to then, with the slot's address in a register that holds no
 * argument. It keeps what may hold arguments (on x86-64 rax is the number of vector registers of a variadic call), and
 * calls settle(slot), which sets the target or returns what this call alone goes to. */
#if defined(__x86_64__)
#define FV_HAVE_STUBS 1
#define FV_STUB(name, slot, resolver)                                                                              \
    __asm__(".pushsection .text\n.p2align 4\n.globl " name "\n.type " name ", @function\n" name ":\n"              \
            "  .cfi_startproc\n  leaq " slot "(%rip), %r11\n  cmpq $0, (%r11)\n  je " resolver "\n  jmp *(%r11)\n" \
            "  .cfi_endproc\n.size " name ", . - " name "\n.popsection\n")
#define FV_RESOLVER(name, settle)                                                                                 \
    __asm__(".pushsection .text\n.p2align 4\n.globl " name "\n.hidden " name "\n.type " name ", @function\n" name \
            ":\n"                                                                                                 \
            "  push %rax\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n"           \
            "  sub $144, %rsp\n"                                                                                  \
            "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n"                        \
            "  movups %xmm3, 48(%rsp)\n  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"                      \
            "  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"                                               \
            "  mov %r11, %rdi\n  call " settle "\n  mov %rax, %r11\n"                                             \
            "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n"                        \
            "  movups 48(%rsp), %xmm3\n  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"                      \
            "  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"                                               \
            "  add $144, %rsp\n"                                                                                  \
            "  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  pop %rax\n"                  \
            "  jmp *%r11\n.size " name ", . - " name "\n.popsection\n")
#elif defined(__aarch64__)
#define FV_HAVE_STUBS 1
#define FV_STUB(name, slot, resolver)                                                                 \
    __asm__(".pushsection .text\n.p2align 4\n.globl " name "\n.type " name ", %function\n" name ":\n" \
            "  .cfi_startproc\n  hint #34\n  adrp x16, " slot "\n  add x16, x16, #:lo12:" slot "\n"   \
            "  ldr x17, [x16]\n  cbnz x17, 1f\n  b " resolver "\n1:  br x17\n"                        \
            "  .cfi_endproc\n.size " name ", . - " name "\n.popsection\n")
#define FV_RESOLVER(name, settle)                                                                                     \
    __asm__(".pushsection .text\n.p2align 4\n.globl " name "\n.hidden " name "\n.type " name ", %function\n" name     \
            ":\n"                                                                                                     \
            "  stp x29, x30, [sp, #-224]!\n  mov x29, sp\n"                                                           \
            "  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n  stp x6, x7, [sp, #64]\n"    \
            "  str x8, [sp, #80]\n"                                                                                   \
            "  stp q0, q1, [sp, #96]\n  stp q2, q3, [sp, #128]\n  stp q4, q5, [sp, #160]\n  stp q6, q7, [sp, #192]\n" \
            "  mov x0, x16\n  bl " settle "\n  mov x17, x0\n"                                                         \
            "  ldp q0, q1, [sp, #96]\n  ldp q2, q3, [sp, #128]\n  ldp q4, q5, [sp, #160]\n  ldp q6, q7, [sp, #192]\n" \
            "  ldr x8, [sp, #80]\n"                                                                                   \
            "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n  ldp x4, x5, [sp, #48]\n  ldp x6, x7, [sp, #64]\n"    \
            "  ldp x29, x30, [sp], #224\n  br x17\n.size " name ", . - " name "\n.popsection\n")
#endif

#endif
