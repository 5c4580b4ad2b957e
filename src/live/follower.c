/* SPDX-License-Identifier: BSD-3-Clause */
/* See follower.h. */
#include "live/follower.h"
#include "live/live.h"

#include <time.h>

static void release(struct fv_follower *f)
{
    pthread_cond_destroy(&f->ending);
    pthread_mutex_destroy(&f->lock);
}

bool fv_follower_start(struct fv_follower *f, void *(*follow)(void *), void *context)
{
    pthread_condattr_t monotonic;

    f->is_ending = false;
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&f->ending, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!pthread_create(&f->thread, NULL, follow, context))
        return true;
    release(f);
    return false;
}

bool fv_follower_wait(struct fv_follower *f, int64_t due_ns)
{
    const struct timespec due = { due_ns / 1000000000, due_ns % 1000000000 };
    bool goes_on;

    pthread_mutex_lock(&f->lock);
    while (!f->is_ending && fv_live_now_ns() < due_ns)
        pthread_cond_timedwait(&f->ending, &f->lock, &due);
    goes_on = !f->is_ending;
    pthread_mutex_unlock(&f->lock);
    return goes_on;
}

void fv_follower_stop(struct fv_follower *f)
{
    pthread_mutex_lock(&f->lock);
    f->is_ending = true;
    pthread_cond_signal(&f->ending);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    release(f);
}
