/* SPDX-License-Identifier: BSD-3-Clause */
/* See parallel.h. */
#include "tool/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct parallel {
    size_t count;
    fv_parallel_work *work;
    void *context;
    _Atomic size_t next;
};

static void *take_items(void *of)
{
    struct parallel *p = of;

    for (size_t item; (item = atomic_fetch_add(&p->next, 1)) < p->count;)
        p->work(p->context, item);
    return NULL;
}

static size_t thread_count(size_t items)
{
    cpu_set_t set;
    size_t count = sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);

    count = count < FV_PARALLEL_MOST ? count : FV_PARALLEL_MOST;
    return count < items ? count : items;
}

void fv_parallel(size_t count, fv_parallel_work *work, void *context)
{
    struct parallel p = { .count = count, .work = work, .context = context };
    pthread_t threads[FV_PARALLEL_MOST];
    size_t others = 0;

    while (others + 1 < thread_count(count) && !pthread_create(&threads[others], NULL, take_items, &p))
        others++;
    take_items(&p);
    while (others)
        pthread_join(threads[--others], NULL);
}
