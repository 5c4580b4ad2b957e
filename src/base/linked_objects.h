/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that loaded objects define, read from their memory. dlsym() is not asked, because libraries of ours stand in
 * front of it, and because it keeps an error for dlerror(), which is the application's. Any thread, before any
 * constructor. */
#ifndef FV_LINKED_OBJECTS_H
#define FV_LINKED_OBJECTS_H

#include "base/base.h"

#include <link.h>

/* Code that runs before a sanitizer has started is not instrumented. */
#define FV_EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

/* A part of an object's dynamic section, at its address; NULL: there is none. */
FV_EARLY const void *fv_linked_part(const struct link_map *object, int64_t tag);

/* A number there; 0: there is none. */
FV_EARLY uint64_t fv_linked_number(const struct link_map *object, int64_t tag);

/* The function that an object defines, in whatever version. NULL: none, or it is chosen at run time (an indirect
 * function). */
FV_EARLY void *fv_linked_function(const struct link_map *object, const char *name);

/* Does an object refer to a function of that name, of another one? */
bool fv_linked_needs(const struct link_map *object, const char *name);

/* The object that holds an address; NULL: none does. */
FV_EARLY const struct link_map *fv_linked_object(const void *address);

/* What stands behind this library in the order of search: the next library's function of that name, at last the C
 * library's. */
FV_EARLY void *fv_linked_next(const char *name);

/* dlsym(RTLD_NEXT, name) of this library. If libfvmpi.so has opened it (mpi-wrappers/front.c), what stands behind that
 * one, which has its place in the order of search. */
FV_NO_TSAN void *fv_linked_behind(const char *name);

/* libfvmpi.so's, by that name: what to ask, while it opens a library; else NULL. */
#define FV_LINKED_FRONT "fvmpi_front_v1"
typedef void *fv_linked_ask(const char *name);
typedef fv_linked_ask *fv_linked_front(void);

#endif
