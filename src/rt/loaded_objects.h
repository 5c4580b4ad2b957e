/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded objects by address, for signal handlers: which one an address is in, and where its table for unwinding is.
 *
 * The C library is asked, where it has _dl_find_object() (glibc 2.35): lock-free, and never out of date. That function
 * is looked up by dlsym(), in place of a reference decided by configure: a library that was built on a newer system
 * also runs on an older one, which would refuse it for that version, and one that was built on an older system has the
 * better way on a newer.
 *
 * Else a table of our own says it, of dl_iterate_phdr(), which locks: it is read outside of handlers, by
 * fv_loaded_refresh(), when objects may have come or gone (the rare paths of threads that look whether the loader's
 * counters have moved). An object that came since the last time is not known; one that went is found out, because what
 * its table began with is not there any more. */
#ifndef FV_LOADED_OBJECTS_H
#define FV_LOADED_OBJECTS_H

#include "base/base.h"

struct link_map;

struct fv_loaded_object {
    const void *object;            /* one for each object: where it begins */
    const uint8_t *unwind;         /* its .eh_frame_hdr; NULL: it has none */
    const struct link_map *loader; /* what the loader says of it; NULL: it was not asked */
};

/* Reads the table for the first time, where one is needed. Not from a handler; more than once does no harm. */
void fv_loaded_start(void);
/* False: none, or not known yet. Takes no lock; any thread, any time. errno may change. */
bool fv_loaded_find(uintptr_t address, struct fv_loaded_object *out);
/* By the C library alone: no table has to be read before. False: it cannot tell so. */
bool fv_loaded_ask(uintptr_t address, struct fv_loaded_object *out);
/* What changes in the answers; 0: they never do. */
uint32_t fv_loaded_generation(void);
/* Reads the table anew, if objects came or went. Not from a handler, nor under a lock of ours. */
void fv_loaded_refresh(void);

#endif
