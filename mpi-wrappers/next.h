/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands behind a wrapper: the function that the program would call without fvmpi. That is the MPI
 * library's, or that of a tool in another shared library, which then goes on as it is used to; from its PMPI_
 * calls we hear nothing. */
#ifndef FV_NEXT_H
#define FV_NEXT_H

#include "glue.h"
#include "next-list.h" /* fv_next_MPI_X for each function that the MPI has: PMPI_X till main and in static programs */

struct fv_mpi_entry {
    const char *name;
    void *next;     /* to fv_next_MPI_X */
    void *profiled; /* PMPI_X; NULL: no MPI was there when we were loaded, or it has no such function */
    void *own;      /* with FV_FIND_MPI: to the pointer by which we call PMPI_X */
};
extern const struct fv_mpi_entry fv_next_list[]; /* up to one whose name is NULL */

#if FV_FIND_MPI
#define FV_NEXT_ROW(name)                                    \
    {                                                        \
#name, &fv_next_##name, (void *)P##name, &fv_p##name \
    }
/* Makes them the functions of the MPI that the program has loaded by now; false: none. Till then, and where
 * that MPI has no such function, fv_next_MPI_X is one that looks for it again. */
bool fv_mpi_find(void);
/* The same without a word where there is none, by a function of that MPI; NULL: by any. */
bool fv_mpi_find_by(const void *function);
/* Says so, once; an error code. */
FV_COLD int fv_mpi_lacks(const char *name);
#else
#define FV_NEXT_ROW(name)                             \
    {                                                 \
#name, &fv_next_##name, (void *)P##name, NULL \
    }
static inline bool fv_mpi_find(void)
{
    return true;
}
static inline bool fv_mpi_find_by(const void *function)
{
    (void)function;
    return true;
}
#endif

/* An address in the MPI that was found. */
const void *fv_next_of_mpi(void);
/* A function of a library of fvmpi's. */
bool fv_next_is_ours(const void *function);

/* Each loaded object but the program itself, by its handle, until a visit returns true. */
void fv_each_object(bool (*visit)(void *object, void *arg), void *arg);

/* A symbol of a library that was loaded privately (RTLD_LOCAL: a plug-in, an extension module), and is not at
 * `own`. */
void *fv_find_private(const char *name, const void *own);

#endif
