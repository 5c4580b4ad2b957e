/* SPDX-License-Identifier: BSD-3-Clause */
/* See lookup.h. dlsym(), dlvsym() and dlopen() of ours stand in front of the C library's. What dlsym() answers for a
 * handle is our wrapper if the C library's answer is the very function that this wrapper calls. Any other answer is
 * left alone: PMPI_X, names that are not MPI's, another MPI's or another tool's functions.
 *
 * For RTLD_NEXT and RTLD_DEFAULT the C library asks who calls, by the return address, as it does for dlopen()
 * (DT_RUNPATH, $ORIGIN). So these calls must be jumps, and the entry points are assembly. dlopen() is a call from here
 * only where something has to be done behind it and its answer does not depend on the caller: a path, with
 * RTLD_DEEPBIND. Elsewhere that is done in the next call of dlsym() or dlopen(). The real functions are found by the
 * objects' tables: to ask dlsym() for dlsym() may lead to ourselves, and dlvsym() of a version that is not there leaves
 * an error.
 *
 * Rejected: calling the C library's from C code (what the sanitizers do for dlopen(); it breaks DT_RUNPATH), taking
 * RTLD_DEEPBIND away (other symbols change), writing our addresses into the MPI's table of symbols (what is loaded
 * together with the MPI has been bound by then; dladdr() and debuggers are misled), LD_AUDIT (a name space of its own,
 * all calls through PLTs). */
#include "lookup.h"
#include "next.h"

#include "base/experiment.h"
#include "base/linked_objects.h"
#include "rt/path.h"

#include <dlfcn.h>
#include <errno.h>

#ifdef PIC

void *(*fv_next_dlsym)(void *handle, const char *name);
void *(*fv_next_dlvsym)(void *handle, const char *name, const char *version);
void *(*fv_next_dlopen)(const char *file, int mode);
static uint32_t to_be_led; /* something was opened whose references have not been looked at */

FV_EARLY static void *none(void)
{
    return NULL;
}

FV_EARLY static void find(void *to, const char *name)
{
    void *found = fv_linked_next(name);

    if (!found)
        found = (void *)(uintptr_t)none;
    __atomic_store_n((void **)to, found, __ATOMIC_RELEASE);
}

FV_EARLY void fv_lookup_find(void)
{
    find(&fv_next_dlvsym, "dlvsym");
    find(&fv_next_dlopen, "dlopen");
    find(&fv_next_dlsym, "dlsym");
}

/* ---- what is MPI's ---- */

static const struct link_map *own_object(void)
{
    static const struct link_map *own;
    const struct link_map *known = __atomic_load_n(&own, __ATOMIC_RELAXED);

    if (!known) {
        known = fv_linked_object(&own);
        __atomic_store_n(&own, known, __ATOMIC_RELAXED);
    }
    return known;
}

static const struct fv_mpi_entry *row_of(const char *name)
{
    const struct fv_mpi_entry *row = fv_next_list;

    while (row->name && strcmp(row->name, name))
        row++;
    return row->name ? row : NULL;
}

FV_EARLY static bool is_mpi_name(const char *name)
{
    return (name[0] == 'M' && name[1] == 'P' && name[2] == 'I') || (name[0] == 'm' && name[1] == 'p' && name[2] == 'i');
}

/* Is it a library of our MPI, or one that goes by another name? */
static bool may_be_ours(const void *found)
{
    const struct link_map *object = fv_linked_object(found);
    enum fv_mpi_library mpi = object ? fv_mpi_of_library(fv_base_name(object->l_name)) : FV_MPI_NONE;

    return object && (mpi == FV_OUR_MPI || !fv_mpi_name(mpi));
}

static bool is_behind(const struct fv_mpi_entry *row, const char *name, const void *own, const void *found)
{
    (void)name, (void)own;
    if (row && *(void **)row->next == found)
        return true;
    if (!may_be_ours(found) || !fv_mpi_find_by(found))
        return false;
#ifndef FV_STANDARD_ABI /* whose Fortran library is on top of C's functions */
    if (!row)
        return fv_f_is_behind(name, own, found);
#endif
    return row && *(void **)row->next == found;
}

void *fv_lookup_wrapper(const char *name, const void *found)
{
    void *own = is_mpi_name(name) && own_object() ? fv_linked_function(own_object(), name) : NULL;

    return own && own != found && is_behind(row_of(name), name, own, found) ? own : NULL;
}

/* ---- dlsym(), dlvsym() ---- */

/* dlerror() is the application's: after a success there is nothing in it. */
static FV_COLD void *answer(const char *name, void *found)
{
    int saved = errno;
    void *own = fv_lookup_wrapper(name, found);

    dlerror();
    errno = saved;
    return own ? own : found;
}

/* In a library, which may stand where another one was closed. */
FV_EARLY static void *found_in(void *found, const char *name)
{
    if (found)
        fv_path_notice();
    return found && is_mpi_name(name) ? answer(name, found) : found;
}

/* Before the application's own call, which makes anew what dlerror() says. */
static FV_COLD void lead_now(void)
{
    int saved = errno;

    if (__atomic_exchange_n(&to_be_led, 0, __ATOMIC_ACQ_REL))
        fv_slots_lead_here();
    errno = saved;
}

__attribute__((used)) FV_EARLY static void *of_handle(void *handle, const char *name) __asm__("fv_lookup_of_handle");
FV_EARLY static void *of_handle(void *handle, const char *name)
{
    if (FV_UNLIKELY(!fv_next_dlsym))
        fv_lookup_find();
    if (FV_UNLIKELY(__atomic_load_n(&to_be_led, __ATOMIC_RELAXED)))
        lead_now();
    return found_in(fv_next_dlsym(handle, name), name);
}

__attribute__((used)) FV_EARLY static void *
versioned_of_handle(void *handle, const char *name, const char *version) __asm__("fv_lookup_versioned_of_handle");
FV_EARLY static void *versioned_of_handle(void *handle, const char *name, const char *version)
{
    if (FV_UNLIKELY(!fv_next_dlvsym))
        fv_lookup_find();
    if (FV_UNLIKELY(__atomic_load_n(&to_be_led, __ATOMIC_RELAXED)))
        lead_now();
    return found_in(fv_next_dlvsym(handle, name, version), name);
}

/* ---- dlopen() ---- */

/* Does what is found not depend on who calls? Else it is looked at later. */
__attribute__((used)) static bool may_call(const char *file) __asm__("fv_lookup_may_call");
static bool may_call(const char *file)
{
    if (!file)
        return false;
    lead_now();
    if (strchr(file, '/') && !strchr(file, '$'))
        return true;
    __atomic_store_n(&to_be_led, 1, __ATOMIC_RELEASE);
    return false;
}

__attribute__((used)) static void *open_and_lead(const char *file, int mode) __asm__("fv_lookup_open_and_lead");
static void *open_and_lead(const char *file, int mode)
{
    struct fv_loaded_before before = fv_loaded_before();
    void *object = fv_next_dlopen(file, mode);
    int saved = errno;

    if (object) {
        fv_slots_lead_new(before);
        dlerror();
    }
    errno = saved;
    return object;
}

/* Each jumps to the next one, which is found first if it is not known, or to ours: where the handle is neither
 * RTLD_DEFAULT (0) nor RTLD_NEXT (-1); where RTLD_DEEPBIND (8) is asked for, or all that is opened has to be looked
 * at. */
#if defined(__x86_64__)
#define JUMP_TO_NEXT(name)                                                                   \
    "8:  movq fv_next_" name "(%rip), %r11\n  testq %r11, %r11\n  je 9f\n  jmp *%r11\n"      \
    "9:  pushq %rdi\n  .cfi_adjust_cfa_offset 8\n  pushq %rsi\n  .cfi_adjust_cfa_offset 8\n" \
    "  pushq %rdx\n  .cfi_adjust_cfa_offset 8\n  call fv_lookup_find\n"                      \
    "  popq %rdx\n  .cfi_adjust_cfa_offset -8\n  popq %rsi\n  .cfi_adjust_cfa_offset -8\n"   \
    "  popq %rdi\n  .cfi_adjust_cfa_offset -8\n  jmp 8b\n"
#define LANDING                "  .byte 0xf3, 0x0f, 0x1e, 0xfa\n" /* endbr64 */
#define UNLESS_OF_HANDLE(ours) "  leaq 1(%rdi), %r11\n  cmpq $1, %r11\n  ja " ours "\n"
#define UNLESS_TO_LOOK_AT                                                                      \
    "  testb $8, %sil\n  jne 7f\n  cmpl $0, fv_slots_late(%rip)\n  je 8f\n"                    \
    "7:  pushq %rdi\n  .cfi_adjust_cfa_offset 8\n  pushq %rsi\n  .cfi_adjust_cfa_offset 8\n"   \
    "  subq $8, %rsp\n  .cfi_adjust_cfa_offset 8\n  call fv_lookup_may_call\n"                 \
    "  addq $8, %rsp\n  .cfi_adjust_cfa_offset -8\n  popq %rsi\n  .cfi_adjust_cfa_offset -8\n" \
    "  popq %rdi\n  .cfi_adjust_cfa_offset -8\n  testb %al, %al\n  je 8f\n"                    \
    "  cmpq $0, fv_next_dlopen(%rip)\n  jne fv_lookup_open_and_lead\n"
#elif defined(__aarch64__)
#define JUMP_TO_NEXT(name)                                                                                         \
    "8:  adrp x16, fv_next_" name "\n  ldr x16, [x16, #:lo12:fv_next_" name "]\n  cbz x16, 9f\n  br x16\n"         \
    "9:  stp x29, x30, [sp, #-48]!\n  .cfi_adjust_cfa_offset 48\n  .cfi_offset x29, -48\n  .cfi_offset x30, -40\n" \
    "  stp x0, x1, [sp, #16]\n  str x2, [sp, #32]\n  bl fv_lookup_find\n"                                          \
    "  ldr x2, [sp, #32]\n  ldp x0, x1, [sp, #16]\n  ldp x29, x30, [sp], #48\n  .cfi_adjust_cfa_offset -48\n"      \
    "  .cfi_restore x29\n  .cfi_restore x30\n  b 8b\n"
#define LANDING                "  hint #34\n" /* bti c */
#define UNLESS_OF_HANDLE(ours) "  add x16, x0, #1\n  cmp x16, #1\n  b.ls 8f\n  b " ours "\n"
#define UNLESS_TO_LOOK_AT                                                                                          \
    "  tbnz w1, #3, 7f\n  adrp x16, fv_slots_late\n  ldr w16, [x16, #:lo12:fv_slots_late]\n  cbz w16, 8f\n"        \
    "7:  stp x29, x30, [sp, #-32]!\n  .cfi_adjust_cfa_offset 32\n  .cfi_offset x29, -32\n  .cfi_offset x30, -24\n" \
    "  stp x0, x1, [sp, #16]\n  bl fv_lookup_may_call\n  mov w16, w0\n"                                            \
    "  ldp x0, x1, [sp, #16]\n  ldp x29, x30, [sp], #32\n  .cfi_adjust_cfa_offset -32\n"                           \
    "  .cfi_restore x29\n  .cfi_restore x30\n  tbz w16, #0, 8f\n"                                                  \
    "  adrp x16, fv_next_dlopen\n  ldr x16, [x16, #:lo12:fv_next_dlopen]\n  cbz x16, 9f\n  b "                     \
    "fv_lookup_open_and_lead\n"
#endif

#ifdef JUMP_TO_NEXT
#define STANDS_IN_FRONT(name, unless)                                                                          \
    __asm__(".pushsection .text\n.p2align 4\n.globl " name "\n.type " name ", @function\n" name ":\n"          \
            "  .cfi_startproc\n" LANDING unless JUMP_TO_NEXT(name) "  .cfi_endproc\n.size " name ", . - " name \
                                                                   "\n.popsection\n")
STANDS_IN_FRONT("dlsym", UNLESS_OF_HANDLE("fv_lookup_of_handle"));
STANDS_IN_FRONT("dlvsym", UNLESS_OF_HANDLE("fv_lookup_versioned_of_handle"));
STANDS_IN_FRONT("dlopen", UNLESS_TO_LOOK_AT);
#endif
#endif
