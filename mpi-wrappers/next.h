/* What stands behind a wrapper: the function that the program would call without fvmpi. That is the MPI library's, or that of
 * a tool in another shared library, which then goes on as it is used to; from its PMPI_ calls we hear nothing. */
#ifndef FV_NEXT_H
#define FV_NEXT_H

#include "glue.h"
#include "next-list.h" /* fv_next_MPI_X for each function that the MPI has; till main, and in static programs, PMPI_X */

struct fv_next {
    const char *name;
    void *pointer; /* to fv_next_MPI_X */
};
extern const struct fv_next fv_next_list[]; /* up to one whose name is NULL */

#endif
