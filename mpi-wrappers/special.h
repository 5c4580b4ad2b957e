/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end and control of the measurement, in the halves around the call that MPI executes: for the
 * wrappers of both languages (special.c, fortran.c). A Fortran binding may call the C function in turn:
 * the inner pair then does nothing. */
#ifndef FV_SPECIAL_H
#define FV_SPECIAL_H

#include "glue.h"

/* On the wrapper's stack between the halves. */
struct fv_special_call {
    struct fv_call call;
    struct fv_call_place site;
    struct fv_comm *world;
    uint64_t begin;
    unsigned function;
    bool on;     /* `call` is in progress */
    bool first;  /* the measurement starts when it returns */
    bool last;   /* ... or ends */
    bool nested; /* in another one */
};

/* MPI_Init, MPI_Init_thread. */
void fv_init_before(struct fv_special_call *life, unsigned function, struct fv_call_place site);
void fv_init_after(struct fv_special_call *life, int result);

void fv_finalize_before(struct fv_special_call *life, struct fv_call_place site);
void fv_finalize_after(struct fv_special_call *life, int result);

#if HAVE_MPI_Session_init && HAVE_MPI_Session_finalize
void fv_session_init_before(struct fv_special_call *life, struct fv_call_place site);
void fv_session_init_after(struct fv_special_call *life, int result, MPI_Session session);
void fv_session_finalize_before(struct fv_special_call *life, struct fv_call_place site);
void fv_session_finalize_after(struct fv_special_call *life, int result);
#endif

void fv_abort_before(struct fv_special_call *life, int code, struct fv_call_place site);
void fv_abort_after(struct fv_special_call *life, int result); /* it came back, which the standard allows for */

void fv_pcontrol_before(struct fv_special_call *life, struct fv_call_place site);
void fv_pcontrol_after(struct fv_special_call *life, int result, int level);

#endif
