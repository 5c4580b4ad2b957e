/* SPDX-License-Identifier: BSD-3-Clause */
/* See next.h. */
#include "rt/next.h"
#include "base/linked_objects.h"

#include <dlfcn.h>
#include <string.h>

struct fv_next fv_next = {
#define FV_NEXT_FUNCTION(set, name, version, until) .name = until,
#include "rt/next-list.h"
#undef FV_NEXT_FUNCTION
};

static const struct {
    const char *name, *version;
    size_t place;
    enum fv_next_set set;
} rows[] = {
#define FV_NEXT_FUNCTION(set, name, version, until) \
    { #name, version, offsetof(struct fv_next, name), FV_NEXT_SET_##set },
#include "rt/next-list.h"
#undef FV_NEXT_FUNCTION
};

FV_NO_TSAN void fv_next_find_one(enum fv_next_function function)
{
    const char *name = rows[function].name, *version = rows[function].version;
    void *found = NULL;

#if defined(__GLIBC__) && defined(__x86_64__)
    if (version)
        found = dlvsym(RTLD_NEXT, name, version);
#else
    (void)version;
#endif
    if (!found)
        found = fv_linked_behind(name);
    if (found)
        memcpy((char *)&fv_next + rows[function].place, &found, sizeof(found));
}

void fv_next_find(enum fv_next_set set)
{
    for (unsigned i = 0; i < FV_NEXT_FUNCTIONS; i++)
        if (rows[i].set == set)
            fv_next_find_one((enum fv_next_function)i);
}

/* Constructors of others may run before ours. */
__attribute__((constructor)) static void find_early(void)
{
    fv_next_find(FV_NEXT_SET_rt);
}
