/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the compiler instrumented (-finstrument-functions), with --functions: they call
 * __cyg_profile_func_enter() and _exit() of the C library, which do nothing, and in front of which ours stand. Each
 * thread has a stack of what it is in, and a tree of who called whom (struct fv_function_calls), whose records are in
 * the rank file. */
#ifndef FV_FUNCTIONS_H
#define FV_FUNCTIONS_H

#include "rt/thread.h"

/* A place of the tree. */
struct fv_called_function {
    struct fv_function_calls *calls;   /* in the file */
    struct fv_called_function *parent; /* NULL: of what nobody called */
    struct fv_called_function *recent; /* that was called last by it */
    struct fv_called_function *after;  /* that its caller called next, when it last looked for that */
    const void *function, *site;       /* its begin, and the return address of the call */
    uint32_t path;                     /* of the call */
    uint32_t number, open;             /* its record, from 1; calls under way */
    bool is_counted;                   /* too short to be measured: see FV_CALLS_COUNTED */
};

/* Of a thread; it stays when that ends, for the next one that has its struct fv_thread. */
struct fv_functions {
    struct fv_function_losses *losses; /* in the file */
    struct fv_called_function root;    /* what nobody that is instrumented called is called by it */
    struct fv_map places;              /* struct fv_called_function by a hash of caller, function and site */
    struct fv_map shorts;              /* functions that are counted alone, or left out, by address */
    struct fv_called_function *block;  /* of places: */
    uint32_t in_block, count;
    struct fv_called_function **blocks;
    struct fv_tail tail;
    struct fv_function_calls nowhere; /* what is left out */
};

/* NULL: no room. */
struct fv_functions *fv_functions_new(struct fv_thread *thread);
/* `inlined`: into the caller. NULL: no room, which is counted. No signal handler may come in between. */
struct fv_called_function *fv_called_find(struct fv_thread *thread, struct fv_called_function *caller,
                                          const void *function, const void *site, bool inlined);
/* Now and then, of a function that was called often: is it so short that measuring it costs more than it does? Then it
 * is counted alone. */
void fv_called_judge(struct fv_functions *functions, const struct fv_called_function *called);
bool fv_called_is_short(const struct fv_functions *functions, const void *function);
/* No call is under way any more, as far as the records say. */
void fv_functions_close(struct fv_functions *functions);
/* Forgets what was measured; calls under way go on from here. */
void fv_functions_clear(struct fv_thread *thread);

#endif
