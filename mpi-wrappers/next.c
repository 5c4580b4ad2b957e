/* SPDX-License-Identifier: BSD-3-Clause */
/* See next.h. And who stands in front of us: a program, or a library before ours, that defines MPI_X itself.
 * Calls by that name come here only if they are handed on; what does not is told (rt/shadow.c). Names are looked up
 * before main if the MPI is there by then, else in the first call: an extension module may bring it. */
#include "next.h"

#include "lookup.h"

#include "base/experiment.h"
#include "base/linked_objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PIC
/* Of this library, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

static bool is_own(const void *address)
{
    return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/* The object's name; NULL: it is another copy of fvmpi, of a program that is linked with one flavour, under
 * another one. */
static const char *foreign_object(const void *address)
{
    Dl_info info;

    if (!dladdr(address, &info))
        return NULL;
    return strncmp(fv_base_name(info.dli_fname), "libfvmpi", strlen("libfvmpi")) ? info.dli_fname : NULL;
}

bool fv_next_is_ours(const void *function)
{
    return is_own(function) || !foreign_object(function);
}

/* Is it the MPI library's own, whose two names are one function? A program may have its own PMPI_X behind
 * ours. */
static bool is_of_mpi(const void *next, const char *profiled_name)
{
    return next == fv_linked_behind(profiled_name);
}

/* `mpi`: where PMPI_X is found that was not there when we were loaded. */
static void settle(const struct fv_mpi_entry *f, void *mpi)
{
    char profiled_name[64];

    snprintf(profiled_name, sizeof(profiled_name), "P%s", f->name);
    void *profiled = f->profiled ? f->profiled : dlsym(mpi, profiled_name), *next = fv_linked_behind(f->name);

    if (!next || next == profiled || is_of_mpi(next, profiled_name) || !foreign_object(next))
        next = profiled;
    if (profiled && f->own)
        __atomic_store_n((void **)f->own, profiled, __ATOMIC_RELAXED);
    if (next)
        __atomic_store_n((void **)f->next, next, __ATOMIC_RELAXED);
}

static void settle_all(void *mpi)
{
    for (const struct fv_mpi_entry *f = fv_next_list; f->name; f++)
        settle(f, mpi);
}

static void find_shadows(void)
{
    const char *object;
    char profiled_name[64];

    for (const struct fv_mpi_entry *f = fv_next_list; f->name; f++) {
        void *first = dlsym(RTLD_DEFAULT, f->name);

        if (!first || is_own(first) || first == *(void **)f->next || first == fv_linked_behind(f->name) ||
            !(object = foreign_object(first)))
            continue;
        if (fv_linked_function(fv_linked_object(first), f->name) != first) /* a program that is not position-independent
                                                                            * points to a way to it */
            continue;
        snprintf(profiled_name, sizeof(profiled_name), "P%s", f->name);
        fv_shadow_add(object, first, f->name, fv_linked_needs(fv_linked_object(first), profiled_name));
    }
}

#if FV_FIND_MPI
/* Whoever links a program with us needs an MPI as well: a linker that drops libraries which nobody needs
 * (--as-needed) sees this name, of a function that we have no use for. The dynamic linker does not: nothing
 * in memory refers to it. */
__asm__(".pushsection .fvmpi.needs\n.globl MPI_Wtime\n.reloc ., BFD_RELOC_NONE, MPI_Wtime\n.popsection\n");

#ifdef MPICH_NUMVERSION
#undef MPI_File_f2c
#pragma weak MPI_File_f2c
__typeof__(MPI_File_f2c) *fv_file_f2c;

static void find_file_f2c(void *mpi)
{
    fv_file_f2c = MPI_File_f2c;
    if (!fv_file_f2c)
        *(void **)&fv_file_f2c = dlsym(mpi, "MPI_File_f2c");
}
#else
static void find_file_f2c(void *mpi)
{
    (void)mpi;
}
#endif

static bool found;

static bool is_usable(const void *init, bool says)
{
    static bool told;
    Dl_info info;
    enum fv_mpi_library mpi = dladdr(init, &info) ? fv_mpi_of_library(fv_base_name(info.dli_fname)) : FV_MPI_NONE;

    if (mpi == FV_OUR_MPI || !fv_mpi_name(mpi))
        return true;
    if (says && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        fv_log("libfvmpi-%s.so: the program loaded %s (%s), so its MPI calls fail; preload libfvmpi-%s.so instead, or "
               "say fvmpi run --mpi %s",
               fv_mpi_flavour(FV_OUR_MPI), fv_mpi_name(mpi), info.dli_fname, fv_mpi_flavour(mpi), fv_mpi_flavour(mpi));
    return false;
}

/* Of a library that was loaded privately, which from now on stays. */
static void *open_private(void)
{
    const void *init = fv_find_private("PMPI_Init", NULL);
    Dl_info info;

    return init && dladdr(init, &info) ? fv_lookup_open(info.dli_fname) : NULL;
}

/* `mpi`: where names are looked up. Threads may do so at a time: all write the same. */
static void find_all(void *mpi)
{
    settle_all(mpi);
    find_file_f2c(mpi);
    __atomic_store_n(&found, true, __ATOMIC_RELEASE);
}

static bool find_now(bool says)
{
    const void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
    void *mpi = init ? RTLD_DEFAULT : open_private();

    if (!init && (!mpi || !(init = dlsym(mpi, "PMPI_Init"))))
        return false;
    if (!is_usable(init, says))
        return false;
    find_all(mpi);
    return true;
}

static bool is_found(void)
{
    return FV_LIKELY(__atomic_load_n(&found, __ATOMIC_ACQUIRE));
}

bool fv_mpi_find(void)
{
    if (is_found())
        return true;
    int saved = errno;
    bool ok = find_now(true);
    errno = saved;
    return ok;
}

bool fv_mpi_find_by(const void *function)
{
    const struct link_map *object = is_found() || !function ? NULL : fv_linked_object(function);
    void *mpi = object ? fv_lookup_open(object->l_name) : NULL;
    const void *init = mpi ? dlsym(mpi, "PMPI_Init") : NULL;

    if (is_found())
        return true;
    if (!function)
        return find_now(false);
    if (!init || !is_usable(init, false)) {
        if (mpi)
            dlclose(mpi);
        return false;
    }
    find_all(mpi);
    return true;
}

int fv_mpi_lacks(const char *name)
{
    static bool told;

    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        fv_log("%s: the program's MPI does not have it; such calls fail", name);
    return MPI_ERR_OTHER;
}

static bool settle_first(void)
{
    /* the one or the other: of a static program no name can be looked up */
    if (!fv_next_list[0].profiled && !dlsym(RTLD_DEFAULT, "PMPI_Init"))
        return false;
    find_all(RTLD_DEFAULT);
    return true;
}
#else
static bool settle_first(void)
{
    settle_all(RTLD_DEFAULT);
    return true;
}
#endif

static const struct fv_mpi_entry *row_of_init(void)
{
    const struct fv_mpi_entry *row = fv_next_list;

    while (row->name && strcmp(row->name, "MPI_Init"))
        row++;
    return row;
}

const void *fv_next_of_mpi(void)
{
    const struct fv_mpi_entry *row = row_of_init();

    return row->own ? *(void **)row->own : row->profiled;
}

/* Linked behind the MPI's library, which thus has the program's calls? Not where it came with a plug-in. */
static void lead_if_late(void)
{
    const void *init = *(void **)row_of_init()->next, *for_all = dlsym(RTLD_DEFAULT, "fvmpi_version");

    if (init && dlsym(RTLD_DEFAULT, "MPI_Init") == init && for_all && fv_next_is_ours(for_all)) {
        fv_slots_late = 1;
        fv_slots_lead_here();
    }
}

__attribute__((constructor)) static void settle_before_main(void)
{
    int saved = errno;

    if (settle_first()) {
        lead_if_late();
        find_shadows();
    }
    errno = saved;
}
#endif

/* ---- libraries that were loaded privately ---- */

struct names {
    char *text; /* one after the other */
    size_t used;
};

static int gather_name(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct names *names = arg;
    size_t n = strlen(info->dlpi_name) + 1;
    char *longer = n > 1 ? realloc(names->text, names->used + n) : NULL;
    (void)size;

    if (longer) {
        memcpy(longer + names->used, info->dlpi_name, n);
        names->text = longer;
        names->used += n;
    }
    return 0;
}

/* Names first: inside dl_iterate_phdr() a lock is held that dlopen() takes after its own. */
void fv_each_object(bool (*visit)(void *object, void *arg), void *arg)
{
    struct names names = { NULL, 0 };
    bool over = false;
    void *object;

    dl_iterate_phdr(gather_name, &names);
    for (size_t at = 0; at < names.used && !over; at += strlen(names.text + at) + 1) {
        if (!(object = fv_lookup_open(names.text + at)))
            continue;
        over = visit(object, arg);
        dlclose(object);
    }
    free(names.text);
}

struct wanted {
    const char *name;
    const void *own;
    void *found;
};

static bool has(void *object, void *arg)
{
    struct wanted *wanted = arg;
    void *found = fv_lookup_plain(object, wanted->name);

    wanted->found = found == wanted->own ? NULL : found;
    return wanted->found != NULL;
}

void *fv_find_private(const char *name, const void *own)
{
    struct wanted wanted = { name, own, NULL };

    fv_each_object(has, &wanted);
    return wanted.found;
}
