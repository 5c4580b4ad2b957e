/* SPDX-License-Identifier: BSD-3-Clause */
/* -lfvmpi: one library for every MPI. It finds out which MPI the process has, opens the flavour for that one, which
 * lies beside it, and hands over to it: each function that any flavour exports is an entry point here (front-stubs.c,
 * made of what they export) that jumps to the flavour's. Where none fits, they jump to what the program would have
 * called without us.
 *
 * Rejected: one library of all flavours' wrappers (the runtime would be asked three times as much at build time, and
 * Open MPI's handles are addresses in its library); starting the program again with a flavour preloaded (an MPI program
 * is started by its launcher, once).
 *
 * What is behind us in the order of search is asked for us by the flavour, which has no place of its own there
 * (fv_linked_behind()). Linked behind the MPI's library, we are passed by: the flavour leads the calls to itself then
 * (slots.c). */
#include "resolve.h"

#include "base/experiment.h"
#include "base/linked_objects.h"
#include "base/mpi_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* As in next.c: whoever links a program with us needs an MPI as well. */
__asm__(".pushsection .fvmpi.needs\n.globl MPI_Wtime\n.reloc ., BFD_RELOC_NONE, MPI_Wtime\n.popsection\n");

struct fv_front_stub {
    void *target;
    const char *name;
    void *next;                 /* behind us, once it was asked for */
} __attribute__((aligned(32))); /* one stands behind the other, whatever alignment a compiler likes better */
extern struct fv_front_stub __start_fv_front[] __attribute__((visibility("hidden"))),
    __stop_fv_front[] __attribute__((visibility("hidden")));

enum state {
    NOT_YET, /* before our constructor, or as long as there is no MPI */
    OPENING,
    OPENED,
    PASSING, /* calls go to whom they would go to without us */
};
static enum state state;
static const struct link_map *flavour;
static void *(*real_dlsym)(void *handle, const char *name);

/* The next one behind us. */
static void *behind(const char *name)
{
    if (!real_dlsym)
        *(void **)&real_dlsym = fv_linked_next("dlsym");
    void *volatile found = real_dlsym ? real_dlsym(RTLD_NEXT, name) : NULL; /* not a jump: it asks who calls */

    return found;
}

FV_PUBLIC fv_linked_ask *fvmpi_front_v1(void);
FV_PUBLIC fv_linked_ask *fvmpi_front_v1(void)
{
    return __atomic_load_n(&state, __ATOMIC_RELAXED) == OPENING ? behind : NULL;
}

/* ---- which flavour ---- */

struct seen {
    enum fv_mpi_library mpi;
    const char *file;
    bool has_flavour; /* preloaded, or linked by its own name */
};

static const struct link_map *first_object(void)
{
    const struct link_map *o = fv_linked_object((const void *)(uintptr_t)fvmpi_front_v1);

    while (o && o->l_prev)
        o = o->l_prev;
    return o;
}

static bool is_flavour(const char *name)
{
    static const char *const names[] = { "libfvmpi-mpich", "libfvmpi-openmpi", "libfvmpi-abi", "libfvmpi-serial" };

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* The first one that is known; what stands behind the standard ABI's library is none of the program's. */
static struct seen look(void)
{
    struct seen seen = { FV_MPI_NONE, "", false };

    for (const struct link_map *o = first_object(); o; o = o->l_next) {
        const char *name = fv_base_name(o->l_name);
        enum fv_mpi_library mpi = fv_mpi_of_library(name);
        bool is_better =
            seen.mpi == FV_MPI_NONE || (seen.mpi == FV_MPI_UNKNOWN && mpi != FV_MPI_NONE) || mpi == FV_MPI_STANDARD;

        seen.has_flavour |= is_flavour(name);
        if (mpi != FV_MPI_NONE && is_better) {
            seen.mpi = mpi;
            seen.file = o->l_name;
        }
    }
    return seen;
}

static void pass(void)
{
    __atomic_store_n(&state, PASSING, __ATOMIC_RELEASE);
}

/* In the directory that we are in. */
static void *open_beside(const char *name)
{
    const struct link_map *own = fv_linked_object((const void *)(uintptr_t)fvmpi_front_v1);
    char path[PATH_MAX], *real = own ? realpath(own->l_name, NULL) : NULL, *slash = real ? strrchr(real, '/') : NULL;
    void *(*open)(const char *, int), *opened = NULL;

    *(void **)&open = fv_linked_next("dlopen");
    if (slash && open && snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - real), real, name) < (int)sizeof(path))
        opened = open(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened && fv_first_rank()) {
        const char *why = dlerror();

        fv_log("libfvmpi.so: %s; the program runs unrecorded. Install all libraries of fvmpi in one directory",
               why ? why : "its own directory is unknown");
    }
    free(real);
    return opened;
}

static void open_for(enum fv_mpi_library mpi)
{
    char name[64];

    snprintf(name, sizeof(name), "libfvmpi-%s.so", fv_mpi_flavour(mpi));
    __atomic_store_n(&state, OPENING, __ATOMIC_RELEASE);
    flavour = open_beside(name);
    __atomic_store_n(&state, flavour ? OPENED : PASSING, __ATOMIC_RELEASE);
}

static void find(void)
{
    struct seen seen = look();

    if (seen.has_flavour) {
        pass();
    } else if (fv_mpi_flavour(seen.mpi)) {
        open_for(seen.mpi);
    } else if (seen.mpi == FV_MPI_UNKNOWN) {
        if (fv_first_rank())
            fv_log("libfvmpi.so: the program uses an MPI that fvmpi does not know (%s); it runs unrecorded", seen.file);
        pass();
    }
}

/* ---- where stubs lead ---- */

static void *lacks(const char *name)
{
    fv_log("%s: no library of this program defines it; link the program with its MPI", name);
    _exit(127); /* as the dynamic linker ends a program that calls what is not there */
}

static bool is_mpi(const struct fv_front_stub *stub)
{
    return (stub->name[0] | 0x20) == 'm' && (stub->name[1] | 0x20) == 'p' && (stub->name[2] | 0x20) == 'i';
}

/* What this call goes to; from now on all, unless the flavour may still come. NULL: nobody has it. */
static void *lead(struct fv_front_stub *stub)
{
    enum state now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    void *target = now == OPENED ? fv_linked_function(flavour, stub->name) : NULL;

    if (!target && !stub->next)
        __atomic_store_n(&stub->next, behind(stub->name), __ATOMIC_RELAXED);
    if (!target)
        target = stub->next;
    if (target && now >= OPENED)
        __atomic_store_n(&stub->target, target, __ATOMIC_RELEASE);
    return target;
}

/* Till main some library may call us whose constructor runs before ours, or whose MPI comes later. */
__attribute__((used)) static void *settle(struct fv_front_stub *stub) __asm__("fv_front_settle");
static void *settle(struct fv_front_stub *stub)
{
    int saved = errno;

    if (is_mpi(stub) && __atomic_load_n(&state, __ATOMIC_ACQUIRE) == NOT_YET)
        find();
    void *target = lead(stub);
    errno = saved;
    return target ? target : lacks(stub->name);
}

/* The C library's functions now: they may be called first in a signal handler, where nothing can be looked up.
 * A library whose constructor runs before this one may have called MPI, as Open MPI's for C++ does. */
__attribute__((constructor)) static void find_before_main(void)
{
    int saved = errno;

    if (state == NOT_YET)
        find();
    for (struct fv_front_stub *stub = __start_fv_front; stub < __stop_fv_front; stub++)
        if (!is_mpi(stub))
            lead(stub);
    errno = saved;
}

FV_RESOLVER("fv_front_resolve", "fv_front_settle");

#define FV_FRONT_SLOT(symbol)                                                                        \
    __attribute__((used, section("fv_front"))) static struct fv_front_stub slot_of_##symbol __asm__( \
        "fv_front_slot_" #symbol) = { NULL, #symbol, NULL };
#define FV_FRONT(symbol)  \
    FV_FRONT_SLOT(symbol) \
    FV_STUB(#symbol, "fv_front_slot_" #symbol, "fv_front_resolve");
/* In the version that a linker passes over (src/rt/exports.map). */
#define FV_FRONT_HIDDEN(symbol)                                                    \
    FV_FRONT_SLOT(symbol)                                                          \
    FV_STUB("fv_in_front_" #symbol, "fv_front_slot_" #symbol, "fv_front_resolve"); \
    __asm__(".symver fv_in_front_" #symbol "," #symbol "@FVMPI_IN_FRONT");
#include "front-stubs.h"
