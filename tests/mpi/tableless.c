/* Calls of MPI by callers that have no unwind tables: code made at run time, and assembler. Some keep a frame pointer; some have in its register an
 * address of the stack, behind which lies this or that, or anything else. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 2000
static int numbers[64];

typedef void function(void);

static __attribute__((noinline)) void call_mpi(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    __asm__ volatile("");
}

#if defined(__x86_64__)
/* Calls `f` with its third argument in the frame register. */
extern void by_assembler(function *f, uintptr_t unused, uintptr_t value);
__asm__(".text\n.globl by_assembler\n.type by_assembler, @function\nby_assembler:\n push %rbp\n mov %rdx, %rbp\n call *%rdi\n pop %rbp\n ret\n"
        ".size by_assembler, . - by_assembler\n");

static void *make(const void *code, size_t bytes)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(page, 4096, PROT_NONE); /* nothing can be read in front of it */
    page += 4096;

    memcpy(page, code, bytes);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    return page;
}

typedef void caller(function *f, uintptr_t unused, uintptr_t value);

/* push rbp; mov rbp, rdx; call rdi; pop rbp; ret */
static const unsigned char general[] = { 0x55, 0x48, 0x89, 0xd5, 0xff, 0xd7, 0x5d, 0xc3 };
/* push rbp; mov rbp, rsp; sub rsp, 64; call rdi; leave; ret */
static const unsigned char framed[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0xff, 0xd7, 0xc9, 0xc3 };

/* Two words that look like a frame, whose return address is another one each time. */
static __attribute__((noinline)) void with_stack_address(caller *by, int kind)
{
    char room[256];

    for (int i = 0; i < ROUNDS; i++) {
        uintptr_t words[8] = { 0 };
        const uintptr_t values[] = { (uintptr_t)i, (uintptr_t)room + (unsigned)i % 200, (uintptr_t)&call_mpi + (unsigned)i % 16, (uintptr_t)&numbers[i % 64], 0x7fff00000000 + (unsigned)i * 4096u };

        words[2 * (i % 3)] = (uintptr_t)&words[6];
        words[2 * (i % 3) + 1] = values[kind];
        by(call_mpi, 0, (uintptr_t)&words[2 * (i % 3)]);
    }
}

static __attribute__((noinline)) void with_numbers(caller *by)
{
    for (int i = 0; i < ROUNDS; i++)
        by(call_mpi, 0, (uintptr_t)i * 0x9e3779b97f4a7c15);
}

static __attribute__((noinline)) void with_frames(caller *by)
{
    for (int i = 0; i < ROUNDS; i++)
        by(call_mpi, 0, 0);
}

#else
int main(void)
{
    return 77;
}
#endif
#if defined(__x86_64__)
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    caller *jit = (caller *)make(general, sizeof(general)), *with_frame = (caller *)make(framed, sizeof(framed));
    for (int kind = 0; kind < 5; kind++) {
        with_stack_address(jit, kind);
        with_stack_address(by_assembler, kind);
    }
    with_numbers(jit);
    with_numbers(by_assembler);
    with_frames(with_frame);
    MPI_Finalize();
    return 0;
}
#endif
