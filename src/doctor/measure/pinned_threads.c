/* SPDX-License-Identifier: BSD-3-Clause */
/* Pinned threads; see noise.h. They begin together and leave signals to the thread that waits for them. */
#include "doctor/measure/noise.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct start {
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    size_t here, wanted;
    fv_pinned_thread_fn *function;
};
struct thread {
    struct fv_pinned_thread *item;
    struct start *start;
    pthread_t id;
    bool is_there;
};

static bool pin(unsigned cpu)
{
    cpu_set_t *set = CPU_ALLOC(FV_CPUS_MOST);
    size_t bytes = CPU_ALLOC_SIZE(FV_CPUS_MOST);

    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    bool is = !sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
    return is;
}

static void *body(void *data)
{
    struct thread *t = data;
    bool is_pinned = pin(t->item->cpu);

    pthread_mutex_lock(&t->start->mutex);
    t->start->here++;
    pthread_cond_broadcast(&t->start->all_here);
    while (t->start->here < t->start->wanted)
        pthread_cond_wait(&t->start->all_here, &t->start->mutex);
    pthread_mutex_unlock(&t->start->mutex);
    if (is_pinned) {
        t->item->ran = true;
        t->start->function(t->item);
    }
    return NULL;
}

void fv_run_pinned_threads(struct fv_pinned_thread *items, size_t count, fv_pinned_thread_fn *function)
{
    struct start start = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, count, function };
    struct thread *threads = fv_xcalloc(count + 1, sizeof(*threads));
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (size_t i = 0; i < count; i++) {
        threads[i] = (struct thread){ .item = &items[i], .start = &start };
        threads[i].is_there = !pthread_create(&threads[i].id, NULL, body, &threads[i]);
        if (!threads[i].is_there) { /* the others do not wait for it */
            pthread_mutex_lock(&start.mutex);
            start.wanted--;
            pthread_cond_broadcast(&start.all_here);
            pthread_mutex_unlock(&start.mutex);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < count; i++)
        if (threads[i].is_there)
            pthread_join(threads[i].id, NULL);
    free(threads);
}
