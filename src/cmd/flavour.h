/* SPDX-License-Identifier: BSD-3-Clause */
/* Which flavour of the library a command needs: found in the ELF files, in the launcher's environment, or
 * in the launcher itself. */
#ifndef FV_FLAVOUR_H
#define FV_FLAVOUR_H

#include "cmd/launcher.h"

/* What was looked at, for the message when it was not enough. */
struct fv_flavour_result {
    enum fv_flavour flavour; /* NONE: cannot tell */
    bool is_linked;          /* ... from a library that a program of the command needs */
    bool is_overruled;       /* ... and --mpi names another MPI */
    bool is_static;          /* the program has no dynamic loader: nothing can be preloaded */
    bool is_foreign;         /* not for this kind of machine, as far as we read it: 32-bit, ... */
    int program;             /* index in argv of what the flavour was found in; 0: not in argv */
    char program_path[4096]; /* its file; "": none */
    char why[512];           /* "lmp needs libmpi.so.40" */
    bool has_asan;           /* AddressSanitizer, in a library of its own */
    const char *sanitizer;   /* by name; NULL: the program has none */
    bool is_tsan;            /* ThreadSanitizer */
};

/* Of a command line; `launcher` tells that argv[0] is one (a path, else NULL). */
void fv_flavour_find(char *const argv[], const char *launcher, struct fv_flavour_result *out);

/* MPI by the name of its library; *unknown: an MPI, but none of ours. */
enum fv_flavour fv_flavour_of_library(const char *name, bool *unknown);

#endif
