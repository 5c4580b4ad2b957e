/* See next.h. And who stands in front of us: a program, or a library before ours, that defines MPI_X itself. Calls by
 * that name do not come here, so it is told, at the start and by the report. */
#include "next.h"

#include "base/experiment.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef PIC
/* Of this library, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

static bool is_own(const void *address)
{
    return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/* The object's name; NULL: it is another copy of fvmpi, of a program that is linked with one flavour, under another one. */
static const char *foreign_object(const void *address)
{
    Dl_info info;

    if (!dladdr(address, &info))
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    return strncmp(slash ? slash + 1 : info.dli_fname, "libfvmpi", strlen("libfvmpi")) ? info.dli_fname : NULL;
}

/* Is it the MPI library's own, whose two names are one function? A program may have its own PMPI_X behind ours. */
static bool is_of_mpi(const void *next, const char *name)
{
    char profiled[64];

    snprintf(profiled, sizeof(profiled), "P%s", name);
    return next == dlsym(RTLD_NEXT, profiled);
}

static void settle(const struct fv_next *f)
{
    const char *object;
    void *first = dlsym(RTLD_DEFAULT, f->name), *next = dlsym(RTLD_NEXT, f->name), *profiled;

    memcpy(&profiled, f->pointer, sizeof(profiled));
    if (first && first != next && !is_own(first) && (object = foreign_object(first)))
        fv_shadow_add(object, f->name);
    if (next && next != profiled && !is_of_mpi(next, f->name) && foreign_object(next))
        memcpy(f->pointer, &next, sizeof(next));
}

__attribute__((constructor)) static void settle_all(void)
{
    int saved = errno;

    for (const struct fv_next *f = fv_next_list; f->name; f++)
        settle(f);
    fv_shadow_tell();
    errno = saved;
}
#endif
