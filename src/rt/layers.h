/* SPDX-License-Identifier: BSD-3-Clause */
/* What is recorded beside MPI's calls: how the process ends, samples, sections, what threads wait for. Each is a layer,
 * a row of fv_layers (src/library.c), by which it is started, told of threads and forks, and stopped. So nothing here
 * calls what is built on it. All are told in the order of the rows; what a row leaves out is nothing to it. */
#ifndef FV_LAYERS_H
#define FV_LAYERS_H

struct fv_thread;

enum fv_moment {
    FV_AT_START,        /* recording begins, in a thread that is recorded from now on if there is room for it */
    FV_AT_THREAD_BEGIN, /* a thread begins to be recorded */
    FV_AT_THREAD_END,   /* it ends */
    FV_AT_CATCH_UP,     /* a rare path, no lock held: learn what a signal handler could not ask */
    FV_AT_FORGET,       /* what the thread recorded so far is forgotten: MPI_Pcontrol(2) */
    FV_AT_FINALIZE,     /* it enters MPI_Finalize */
    FV_AT_EXIT,         /* exit() */
    FV_AT_FORK,         /* in the child, which is not recorded */
    FV_MOMENTS
};

/* By the calling thread, `self`, which is NULL in a child, and where there is no room for it. */
struct fv_layer {
    void (*at[FV_MOMENTS])(struct fv_thread *self);
};
extern const struct fv_layer *const fv_layers[]; /* NULL ends them */

void fv_layers_tell(enum fv_moment moment, struct fv_thread *self);

#endif
