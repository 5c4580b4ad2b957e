/* SPDX-License-Identifier: BSD-3-Clause */
/* See perf_fd.h. */
#include "base/perf_fd.h"
#include "base/older.h"
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* A thread takes half a dozen: with many threads the application would run out of them. */
static bool is_for_application(long fd)
{
    struct rlimit limit;

    return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd >= limit.rlim_cur / 2;
}

bool fv_perf_open(struct fv_event_fd *event, struct perf_event_attr *attr, int group)
{
    long fd = syscall(SYS_perf_event_open, attr, 0, -1, group, (unsigned long)PERF_FLAG_FD_CLOEXEC);
    int high = fd < 0 ? -1 : fcntl((int)fd, F_DUPFD_CLOEXEC, 48); /* low ones are the application's */

    if (high >= 0) {
        close((int)fd);
        fd = high;
    }
    if (fd >= 0 && is_for_application(fd)) {
        close((int)fd);
        fd = -1;
        errno = EMFILE;
    }
    event->fd = (int)fd;
    return fd >= 0 && !ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id);
}

bool fv_perf_is_ours(const struct fv_event_fd *event)
{
    uint64_t id;

    return event->fd >= 0 && !ioctl(event->fd, PERF_EVENT_IOC_ID, &id) && id == event->id;
}

/* Two threads may close it: the second could close what the program has opened by its number since. */
void fv_perf_close(struct fv_event_fd *event)
{
    struct fv_event_fd mine = { .fd = __atomic_exchange_n(&event->fd, -1, __ATOMIC_ACQ_REL), .id = event->id };

    if (fv_perf_is_ours(&mine))
        close(mine.fd);
}

/* By system call: read() is a place where threads are cancelled. */
bool fv_perf_read(const struct fv_event_fd *event, void *counts, size_t bytes)
{
    return fv_perf_is_ours(event) && syscall(SYS_read, event->fd, counts, bytes) == (long)bytes;
}

void fv_perf_enable(const struct fv_event_fd *event)
{
    if (fv_perf_is_ours(event))
        ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* ---- counters ---- */

bool fv_perf_open_counter(struct fv_event_fd *event, const struct fv_perf_event *what, int group)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = what->type,
        .config = what->config,
        .config1 = what->config1,
        .config2 = what->config2,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .disabled = group < 0,
        .exclude_user = (what->flags & FV_PERF_NO_USER) != 0,
        .exclude_kernel = (what->flags & FV_PERF_NO_KERNEL) != 0,
        .exclude_hv = 1,
    };

    return fv_perf_open(event, &attr, group);
}

/* Where it fails for another reason than permission, errno is of the last try. */
static bool open_as_permitted(struct fv_event_fd *event, struct fv_perf_event *what, int group)
{
    bool in_user_mode = fv_perf_event_in_user_mode(what), kernel = !(what->flags & FV_PERF_NO_KERNEL);

    errno = EACCES;
    if ((kernel || in_user_mode) && fv_perf_open_counter(event, what, group))
        return true;
    if (!kernel || (errno != EACCES && errno != EPERM) || what->flags & FV_PERF_NO_USER)
        return false;
    fv_perf_close(event);
    what->flags |= FV_PERF_NO_KERNEL;
    return in_user_mode && fv_perf_open_counter(event, what, group);
}

/* What fv_perf_event_refusal() tells apart: without the kernel there is nothing of it to count, or nothing may be
 * counted. */
static uint32_t no_permission(const struct fv_perf_event *what)
{
    return fv_perf_event_in_user_mode(what) ? EPERM : EACCES;
}

uint32_t fv_perf_try_counter(struct fv_event_fd *event, struct fv_perf_event *what, int group)
{
    struct fv_event_fd alone;

    event->fd = -1;
    if (open_as_permitted(event, what, group))
        return 0;
    uint32_t refusal = errno == EACCES || errno == EPERM ? no_permission(what) : errno ? (uint32_t)errno : EIO;

    fv_perf_close(event);
    if (group < 0 || refusal != EINVAL)
        return refusal;
    bool is_possible = fv_perf_open_counter(&alone, what, -1);
    fv_perf_close(&alone);
    return is_possible ? FV_PERF_NO_REGISTER : refusal;
}

/* In the group of *leader, -1: none yet; the first that can be had leads it. */
static void try_in_group(struct fv_perf_trial *t, int *leader)
{
    t->refusal = fv_perf_try_counter(&t->opened, t->event, *leader);
    if (!t->refusal && *leader < 0)
        *leader = t->opened.fd;
}

void fv_perf_try_all(struct fv_perf_trial *trials, size_t count, bool in_turns)
{
    uint32_t group = 0;
    int leader = -1;

    for (size_t i = 0; i < count; i++) {
        struct fv_perf_trial *t = &trials[i];

        t->opened.fd = -1;
        if (t->refusal || fv_perf_event_account(t->event))
            continue;
        try_in_group(t, &leader);
        if (t->refusal == FV_PERF_NO_REGISTER && in_turns) {
            group++;
            leader = -1;
            try_in_group(t, &leader);
        }
        t->group = group;
    }
    for (size_t i = 0; i < count; i++)
        fv_perf_close(&trials[i].opened);
}

/* ---- in user mode ---- */

#if defined(__x86_64__)

uint64_t fv_perf_register(uint32_t index)
{
    uint32_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}

#else

uint64_t fv_perf_register(uint32_t index)
{
    (void)index;
    return 0;
}

#endif

const volatile struct perf_event_mmap_page *fv_perf_map(const struct fv_event_fd *event)
{
#if defined(__x86_64__)
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    const struct perf_event_mmap_page *page =
        fv_perf_is_ours(event) ? fv_map_pages(bytes, MAP_SHARED, event->fd, 0) : MAP_FAILED;

    if (page == MAP_FAILED)
        return NULL;
    if (page->cap_user_rdpmc)
        return page;
    fv_perf_unmap(page);
#else
    (void)event;
#endif
    return NULL;
}

void fv_perf_unmap(const volatile struct perf_event_mmap_page *page)
{
    if (page)
        fv_unmap_pages((void *)(uintptr_t)page, (size_t)sysconf(_SC_PAGESIZE));
}

/* The kernel changes `lock` before and after it changes the rest, on this processor alone: a compiler's fence does. */
bool fv_perf_page_read(const volatile struct perf_event_mmap_page *page, uint64_t (*counter)(uint32_t),
                       struct fv_perf_count *out)
{
    uint32_t sequence, index;

    do {
        sequence = page->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        index = page->cap_user_rdpmc ? page->index : 0;
        out->value = (uint64_t)page->offset;
        out->enabled = page->time_enabled;
        out->running = page->time_running;
        if (index) {
            unsigned unused = 64u - page->pmc_width; /* of its bits */

            out->value += (uint64_t)((int64_t)(counter(index - 1) << unused) >> unused);
        }
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (page->lock != sequence);
    return index;
}
