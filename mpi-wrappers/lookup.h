/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that find MPI by themselves: by dlopen() and dlsym() (interpreters, languages whose MPI is a library of
 * their own), or that load code which searches its own libraries first (RTLD_DEEPBIND), and so passes our wrappers
 * by. */
#ifndef FV_LOOKUP_H
#define FV_LOOKUP_H

#include "glue.h"

#include <dlfcn.h>

#ifdef PIC
/* The next ones, behind ours: another tool's, or the C library's. Set by fv_lookup_find(). */
extern void *(*fv_next_dlsym)(void *handle, const char *name) __attribute__((visibility("hidden")));
extern void *(*fv_next_dlvsym)(void *handle, const char *name, const char *version)
    __attribute__((visibility("hidden")));
extern void *(*fv_next_dlopen)(const char *file, int mode) __attribute__((visibility("hidden")));
void fv_lookup_find(void);

/* Like dlsym(), of a handle, and never answers with a wrapper. */
static inline void *fv_lookup_plain(void *handle, const char *name)
{
    if (FV_UNLIKELY(!fv_next_dlsym))
        fv_lookup_find();
    return fv_next_dlsym(handle, name);
}

/* Of a library that is loaded. */
static inline void *fv_lookup_open(const char *file)
{
    if (FV_UNLIKELY(!fv_next_dlopen))
        fv_lookup_find();
    return fv_next_dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
}

/* Our wrapper, if `found`, which some way of looking up gives for `name`, is the function that this wrapper calls.
 * NULL: it is something else. */
void *fv_lookup_wrapper(const char *name, const void *found);

/* The same of a Fortran procedure of that name, whose wrapper is `own` (fortran-link.c). */
bool fv_f_is_behind(const char *name, const void *own, const void *found);

/* slots.c: references of loaded objects to functions of MPI that do not lead to ours, from now on do. A library that
 * was linked behind the MPI's is late: what refers to MPI has to be led here, what comes by dlopen() as well. */
void fv_slots_lead_here(void);
/* The same of those that have been loaded since. */
struct fv_loaded_before {
    const void *last;
    unsigned long long removals; /* a new object may be where an old one was */
};
struct fv_loaded_before fv_loaded_before(void);
void fv_slots_lead_new(struct fv_loaded_before before);
extern uint32_t fv_slots_late __attribute__((visibility("hidden")));
#else
#define fv_lookup_plain      dlsym
#define fv_lookup_open(file) dlopen((file), RTLD_LAZY | RTLD_NOLOAD)
#endif

#endif
