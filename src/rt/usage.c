/* See usage.h. */
#include "rt/usage.h"
#include "rt/thread.h"

#include <sys/resource.h>

static void read_usage(int who, struct fv_usage *out)
{
    struct rusage u;

    if (getrusage(who, &u))
        return;
    *out = (struct fv_usage){
        .user_ns = (uint64_t)u.ru_utime.tv_sec * 1000000000u + (uint64_t)u.ru_utime.tv_usec * 1000u,
        .system_ns = (uint64_t)u.ru_stime.tv_sec * 1000000000u + (uint64_t)u.ru_stime.tv_usec * 1000u,
        .faults = (uint64_t)u.ru_minflt + (uint64_t)u.ru_majflt,
        .switches = (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw,
    };
}

void fv_usage_read(struct fv_usage *out)
{
    read_usage(RUSAGE_SELF, out);
}

void fv_usage_read_thread(struct fv_usage *out)
{
    read_usage(RUSAGE_THREAD, out);
}

void fv_usage_update(void)
{
    struct fv_file_header *h = fv_rt.writer.header;

    read_usage(RUSAGE_SELF, &h->usage_last);
    __atomic_store_n(&h->usage_ticks, fv_ticks(), __ATOMIC_RELEASE);
}
