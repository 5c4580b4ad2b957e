/* A processor's counters that count what the program says (fake_count()), in front of the C library: perf_event_open(2) of events of hardware, caches and raw codes, and read() and ioctl() of
 * their descriptors. Four events fit into a group. FAKE_PMU_RUNNING=N: groups are counted N % of the time, and so are their counts.
 * FAKE_PMU_CLOCK: they count by themselves, event N (of its code) N + 1 in each ns.
 * FAKE_PMU_PARANOID: nothing of that; events are as an unprivileged user has them at kernel.perf_event_paranoid = 2, in user mode only. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

enum { EVENTS = 4096, REGISTERS = 4, KINDS = 64 };

static __thread uint64_t counted[KINDS];
static struct event {
    ino_t inode;
    unsigned leader; /* index */
    unsigned kind;
    const uint64_t *counts; /* of its thread */
} events[EVENTS];
static unsigned event_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_count(unsigned config, unsigned long number)
{
    counted[config % KINDS] += number;
}

static long (*system_call)(long, ...);
static int (*control)(int, unsigned long, ...);
static int is_paranoid;

/* Before anybody else's, and before threads. */
__attribute__((constructor)) static void begin(void)
{
    system_call = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    control = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    is_paranoid = getenv("FAKE_PMU_PARANOID") != NULL;
}

static int find(int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st))
        return -1;
    for (unsigned i = __atomic_load_n(&event_count, __ATOMIC_ACQUIRE); i--;)
        if (events[i].inode == st.st_ino)
            return (int)i;
    return -1;
}

static long open_event(const struct perf_event_attr *attr, int group)
{
    int leader = find(group), fd;
    unsigned members = 0;
    struct stat st;

    for (unsigned i = 0; leader >= 0 && i < event_count; i++)
        members += events[i].leader == (unsigned)leader;
    if (members >= REGISTERS) {
        errno = EINVAL;
        return -1;
    }
    fd = (int)system_call(SYS_memfd_create, (long)"fake", MFD_CLOEXEC, 0, 0, 0, 0);
    if (fd < 0 || system_call(SYS_ftruncate, fd, 4096, 0, 0, 0, 0) || fstat(fd, &st))
        return -1;
    pthread_mutex_lock(&lock);
    events[event_count] = (struct event){ st.st_ino, leader < 0 ? event_count : (unsigned)leader, (unsigned)(attr->config % KINDS), counted };
    __atomic_store_n(&event_count, event_count + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return fd;
}

static long read_group(int leader, uint64_t *out, size_t bytes)
{
    const char *text = getenv("FAKE_PMU_RUNNING");
    uint64_t percent = text ? strtoull(text, NULL, 10) : 100, at = 3, ns;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    out[1] = ns / 100 * 100;
    out[2] = out[1] / 100 * percent;
    for (unsigned i = 0; i < event_count && at < bytes / 8; i++)
        if (events[i].leader == (unsigned)leader)
            out[at++] = (getenv("FAKE_PMU_CLOCK") ? (events[i].kind + 1) * ns : events[i].counts[events[i].kind]) * percent / 100;
    out[0] = at - 3;
    return (long)bytes;
}

long syscall(long n, ...)
{
    long a[6];
    va_list list;

    va_start(list, n);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (!system_call)
        begin();
    if (n == SYS_perf_event_open) {
        const struct perf_event_attr *attr = (const void *)a[0];

        if (is_paranoid && !attr->exclude_kernel) {
            errno = EACCES;
            return -1;
        }
        if (is_paranoid)
            return system_call(n, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW)
            return open_event(attr, (int)a[3]);
    }
    if (n == SYS_read && find((int)a[0]) >= 0)
        return read_group(find((int)a[0]), (uint64_t *)a[1], (size_t)a[2]);
    return system_call(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    void *argument;
    int event = request == PERF_EVENT_IOC_ID || request == PERF_EVENT_IOC_ENABLE ? find(fd) : -1;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    if (event >= 0 && request == PERF_EVENT_IOC_ID)
        *(uint64_t *)argument = events[event].inode;
    if (!control)
        begin();
    return event >= 0 ? 0 : control(fd, request, argument);
}
