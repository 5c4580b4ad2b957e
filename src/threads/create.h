/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of threads that are made: to lives.c, in the libraries that have it. */
#ifndef FV_CREATE_H
#define FV_CREATE_H

#include "rt/rt.h"
#include "rt/thread.h"

/* Where a thread comes from, as its creator saw it. */
struct fv_thread_origin {
    uint64_t created;  /* ticks; 0: not asked for */
    uint32_t creator;  /* fv_thread_record.id; FV_NO_THREAD: unknown */
    uint32_t path;     /* of the call */
    uintptr_t routine; /* where the thread begins */
    uint64_t sequence; /* of its creation in the trace, from 1; 0: it is not in there */
    uint32_t phase;    /* in which one thread at a time is measured (solo.h); 0: none */
    int seat;          /* in it */
};

struct fv_lives {
    bool (*early)(void); /* before recording: is the thread that is being made the application's? */
    void (*mine)(const struct fv_thread_origin *origin); /* then, and where it is not recorded, by the new thread */
    void (*create)(struct fv_thread_origin *origin, struct fv_call_place site, uintptr_t routine);
    void (*created)(pthread_t thread, const struct fv_thread_origin *origin);
    void (*failed)(const struct fv_thread_origin *origin);                          /* instead of created */
    void (*begin)(struct fv_thread *thread, const struct fv_thread_origin *origin); /* by the new thread */
    void (*enter)(const struct fv_thread_origin *origin); /* likewise, when signals come and nothing of ours is under
                                                           * way */
};
/* Its address is NULL where the library has none. */
extern const struct fv_lives fv_lives __attribute__((weak, visibility("hidden")));

#endif
