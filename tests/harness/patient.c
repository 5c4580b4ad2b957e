/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait look for messages all the time, on processors that other tests need. Preloaded, this lets them sleep
 * between two looks once they have looked for a while: by what Open MPI (mpi_yield_when_idle) and MPICH call between
 * them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 500, APART_NS = 20000, SLEEP_NS = 500000 };

/* One more look. What comes long after the one before begins anew. */
static void look(void)
{
    static __thread unsigned looks;
    static __thread int64_t last_ns;
    struct timespec now;
    int before = errno;

    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    looks = now_ns - last_ns < APART_NS ? looks + 1 : 0;
    last_ns = now_ns;
    if (looks < LOOKS)
        return;
    /* no function of the C library, which may be recorded */
    syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
    looks = LOOKS / 2;
    clock_gettime(CLOCK_MONOTONIC, &now);
    last_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    errno = before;
}

int sched_yield(void);

int sched_yield(void)
{
    look();
    return (int)syscall(SYS_sched_yield);
}

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);

    if (!next) /* of the library that called this one, which a plugin may have opened for itself */
        next = (unsigned (*)(void *))dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
    look();
    return next(worker);
}
