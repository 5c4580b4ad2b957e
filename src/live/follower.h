/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that looks at something again and again, until it is to end. */
#ifndef FV_FOLLOWER_H
#define FV_FOLLOWER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct fv_follower {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ending;
    bool is_ending;
};

/* False: there is no thread, and nothing to be stopped. */
bool fv_follower_start(struct fv_follower *follower, void *(*follow)(void *), void *context);
/* By the thread: waits until then, a time of fv_live_now_ns(). False: it is to end. */
bool fv_follower_wait(struct fv_follower *follower, int64_t due_ns);
/* Waits for its end. */
void fv_follower_stop(struct fv_follower *follower);

#endif
