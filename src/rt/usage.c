/* SPDX-License-Identifier: BSD-3-Clause */
/* See usage.h. */
#include "rt/usage.h"
#include "rt/layers.h"
#include "rt/thread.h"

#include "base/process.h"
#include "base/thread_clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LATE_PART 8  /* of the age: by less a peak at 2^i is late */
#define AGE_PART  32 /* the peak of memory is looked at each time that the run is older by such a part */

/* A handler of this thread, or of another one, may be quicker: the peak does not shrink. */
static void raise_peak(struct fv_usage_process *process, const struct rusage *u)
{
    const uint64_t bytes = (uint64_t)u->ru_maxrss * 1024u;
    uint64_t peak = __atomic_load_n(&process->resident_peak, __ATOMIC_RELAXED);

    while (peak < bytes && !__atomic_compare_exchange_n(&process->resident_peak, &peak, bytes, false, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        ;
}

static void read_usage(int who, struct fv_usage *out, struct fv_usage_process *more)
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
    if (!more)
        return;
    raise_peak(more, &u);
    more->preempted = (uint64_t)u.ru_nivcsw;
}

void fv_usage_read(struct fv_usage *out, struct fv_usage_process *more)
{
    read_usage(RUSAGE_SELF, out, more);
}

void fv_usage_read_thread(struct fv_usage *out)
{
    read_usage(RUSAGE_THREAD, out, NULL);
}

/* Of a thread: how long it was ready to run and had no processor. */
static bool read_ready(const char *path, uint64_t *ns)
{
    char text[100], *second;

    if (fv_file_read(path, text, sizeof(text)) <= 0 || !(second = strchr(text, ' ')))
        return false;
    *ns = strtoull(second, NULL, 10);
    return true;
}

void fv_usage_read_ready(struct fv_usage_process *out)
{
    if (read_ready("/proc/self/schedstat", &out->ready_ns))
        out->ready_known = 1;
}

static uint64_t ended_ready_ns; /* of threads but the first whose ends were seen; atomic */

/* Of a piece of the directory of threads, as the kernel gives it. */
static uint64_t ready_of_tasks(const char *piece, size_t bytes)
{
    uint64_t sum = 0, ready;
    char path[300];

    for (size_t at = 0; at < bytes;) {
        const struct dirent64 *d = (const void *)(piece + at);

        at += d->d_reclen;
        snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", d->d_name);
        if (d->d_name[0] != '.' && atol(d->d_name) != (long)getpid() && read_ready(path, &ready))
            sum += ready;
    }
    return sum;
}

/* Not by opendir(), which allocates: _exit() may be called anywhere, by handlers on small stacks, too, and is no place
 * where a thread is cancelled. */
uint64_t fv_usage_others_ready(void)
{
    uint64_t sum = __atomic_load_n(&ended_ready_ns, __ATOMIC_RELAXED);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct dirent64) char piece[512];
    long bytes;

    while (fd >= 0 && (bytes = syscall(SYS_getdents64, fd, piece, sizeof(piece))) > 0)
        sum += ready_of_tasks(piece, (size_t)bytes);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return sum;
}

/* The eighth number of the line of all processors, proc(5). */
uint64_t fv_usage_stolen(void)
{
    static long ticks, processors; /* at the start: sysconf() reads files, on 8 KiB of stack */
    unsigned long long stolen = 0;
    char text[256], *at = text;

    if (!ticks) {
        processors = sysconf(_SC_NPROCESSORS_ONLN);
        ticks = sysconf(_SC_CLK_TCK);
    }
    if (fv_file_read("/proc/stat", text, sizeof(text)) <= 0 || ticks <= 0 || processors <= 0)
        return 0;
    for (int i = 0; at && i < 8; i++) /* "cpu  1 2 3 ..." */
        at = (at = strchr(at, ' ')) ? at + strspn(at, " ") : NULL;
    if (at)
        stolen = strtoull(at, NULL, 10);
    return (uint64_t)((double)stolen / (double)ticks / (double)processors * 1e9);
}

/* Of one group; of version 2 in microseconds, of version 1 in nanoseconds. */
static uint64_t throttled_of(int length, const char *directory)
{
    static const char *const keys[] = { "throttled_usec ", "throttled_time " };
    char path[600], text[512]; /* of some 400 */

    snprintf(path, sizeof(path), "%.*s/cpu.stat", length, directory);
    if (fv_file_read(path, text, sizeof(text)) <= 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(text, keys[i]);

        if (at)
            return strtoull(at + strlen(keys[i]), NULL, 10) * (i ? 1 : 1000);
    }
    return 0;
}

/* The hierarchy that counts: version 1's of processors where there is one, else version 2's. */
static const char *cpu_group(char *text, const char **root)
{
    static const char *const hierarchies[][2] = { { ":cpu,cpuacct:/", "/sys/fs/cgroup/cpu,cpuacct" },
                                                  { ":cpuacct,cpu:/", "/sys/fs/cgroup/cpu" },
                                                  { ":cpu:/", "/sys/fs/cgroup/cpu" },
                                                  { "0::/", "/sys/fs/cgroup" } };

    for (unsigned i = 0; i < sizeof(hierarchies) / sizeof(*hierarchies); i++) {
        char *at = strstr(text, hierarchies[i][0]);

        if (!at)
            continue;
        at += strlen(hierarchies[i][0]) - 1;
        at[strcspn(at, "\n")] = '\0';
        at += !at[1]; /* the root's is "/" */
        *root = hierarchies[i][1];
        return at;
    }
    return NULL;
}

static struct {
    char path[512]; /* "": it is not known */
    size_t root;    /* so much of it is the hierarchy's */
} group;

__attribute__((noinline)) static void find_group(void)
{
    char text[2048];
    const char *root, *name;

    if (fv_file_read("/proc/self/cgroup", text, sizeof(text)) <= 0 || !(name = cpu_group(text, &root)) ||
        (size_t)snprintf(group.path, sizeof(group.path), "%s%s", root, name) >= sizeof(group.path))
        group.path[0] = '\0';
    else
        group.root = strlen(root);
}

/* A quota may be any ancestor's. The group is that of the first call, at the start. */
uint64_t fv_usage_throttled(void)
{
    static bool was_called;
    uint64_t sum = 0;

    if (!was_called)
        find_group();
    was_called = true;
    size_t length = strlen(group.path);
    for (; length > group.root; length--)
        if (group.path[length] == '/' || !group.path[length])
            sum += throttled_of((int)length, group.path);
    return length ? sum + throttled_of((int)length, group.path) : 0;
}

/* The first value stays: it is nearest to 2^i. One that comes too late for that is none. */
static void mark_peak(struct fv_file_header *h, uint64_t now, uint64_t bytes)
{
    const uint64_t age = now > h->begin_ticks ? now - h->begin_ticks : 0;
    const int log2 = age ? 63 - __builtin_clzll(age) : 0;
    uint64_t none = 0;

    if (age && (age ^ UINT64_C(1) << log2) < age / LATE_PART)
        __atomic_compare_exchange_n(&h->resident_peak_at[log2], &none, bytes, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

void fv_usage_update(void)
{
    struct fv_file_header *h = fv_rt.writer.header;
    uint64_t now = fv_ticks();

    read_usage(RUSAGE_SELF, &h->usage_last, &h->process_last);
    mark_peak(h, now, h->process_last.resident_peak);
    __atomic_store_n(&h->usage_ticks, now, __ATOMIC_RELEASE);
}

void fv_usage_watch_memory(uint64_t now)
{
    static uint64_t looked; /* [ticks] */
    struct fv_file_header *h = fv_rt.writer.header;
    struct rusage u;

    if (now <= h->begin_ticks ||
        FV_LIKELY(now - __atomic_load_n(&looked, __ATOMIC_RELAXED) < (now - h->begin_ticks) / AGE_PART) ||
        __atomic_load_n(&h->state, __ATOMIC_RELAXED) != FV_STATE_RUNNING || getrusage(RUSAGE_SELF, &u))
        return; /* what comes behind MPI_Finalize is not of the run */
    __atomic_store_n(&looked, now, __ATOMIC_RELAXED);
    raise_peak(&h->process_last, &u);
    mark_peak(h, now, h->process_last.resident_peak);
}

/* ---- of a thread, for its record, and for others ---- */

static void change_usage(struct fv_thread *t, struct fv_usage begun, struct fv_usage ended)
{
    __atomic_store_n(&t->usage_turn, t->usage_turn + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    t->usage = begun;
    t->ended = ended;
    __atomic_store_n(&t->usage_turn, t->usage_turn + 1, __ATOMIC_RELEASE);
}

/* At once, where getrusage() tells it up to the kernel's last tick: what is missing is in user mode most likely. */
static void read_now(struct fv_usage *out)
{
    struct timespec now;

    fv_usage_read_thread(out);
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
        return;
    uint64_t cpu_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (cpu_ns > out->user_ns + out->system_ns)
        out->user_ns = cpu_ns - out->system_ns;
}

static void put_usage(const struct fv_thread *t, uint64_t user_ns, uint64_t system_ns)
{
    t->record->user_ns = user_ns;
    t->record->system_ns = system_ns;
    t->record->usage_of = t->record->threads;
}

static void thread_begins(struct fv_thread *t)
{
    struct fv_usage now = t->usage;

    read_now(&now);
    change_usage(t, now, t->ended);
}

/* With those that had its place before. The kernel may find that more of it was in the other mode. */
static struct fv_usage usage_until(const struct fv_thread *t, const struct fv_usage *now)
{
    struct fv_usage sum = t->ended;
    uint64_t cpu_ns = fv_minus(now->user_ns + now->system_ns, t->usage.user_ns + t->usage.system_ns),
             user_ns = fv_minus(now->user_ns, t->usage.user_ns);

    user_ns = user_ns < cpu_ns ? user_ns : cpu_ns;
    sum.user_ns += user_ns;
    sum.system_ns += cpu_ns - user_ns;
    return sum;
}

static void thread_ends(struct fv_thread *t)
{
    struct fv_usage now = { 0 };

    if (!t)
        return;
    read_now(&now);
    now = usage_until(t, &now);
    put_usage(t, now.user_ns, now.system_ns);
}

static void thread_is_gone(struct fv_thread *t)
{
    uint64_t ready;
    struct fv_usage now = t->usage;

    read_now(&now);
    change_usage(t, now, usage_until(t, &now));
    put_usage(t, t->ended.user_ns, t->ended.system_ns);
    if (t->record->tid != (uint32_t)getpid() && read_ready("/proc/thread-self/schedstat", &ready))
        __atomic_fetch_add(&ended_ready_ns, ready, __ATOMIC_RELAXED);
}

static void forget_thread(struct fv_thread *t)
{
    struct fv_usage now = t->usage;

    read_now(&now);
    change_usage(t, now, (struct fv_usage){ 0 });
    t->record->user_ns = t->record->system_ns = 0;
}

static bool read_clock(uint32_t tid, enum fv_thread_time which, uint64_t *ns)
{
    struct timespec now;

    if (clock_gettime(fv_thread_clock(tid, which), &now))
        return false;
    *ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return true;
}

void fv_usage_read_other(const struct fv_thread *t, struct fv_usage_other *out)
{
    for (unsigned tries = 0; tries < 4; tries++) {
        uint32_t turn = __atomic_load_n(&t->usage_turn, __ATOMIC_ACQUIRE);
        struct fv_usage begun = t->usage, ended = t->ended;
        uint64_t cpu_ns = 0, user_ns = 0, ticked_ns = 0;
        uint64_t ended_ns = ended.user_ns + ended.system_ns, begun_ns = begun.user_ns + begun.system_ns;
        uint32_t tid = t->record->tid;
        bool lives = !__atomic_load_n(&t->record->end, __ATOMIC_RELAXED) && read_clock(tid, FV_THREAD_CPU, &cpu_ns) &&
                     read_clock(tid, FV_THREAD_USER, &user_ns) && read_clock(tid, FV_THREAD_TICKED, &ticked_ns);

        *out = (struct fv_usage_other){ ended_ns, ended.user_ns, ended_ns };
        if (lives) {
            out->cpu_ns += fv_minus(cpu_ns, begun_ns);
            out->user_ns += fv_minus(user_ns, begun.user_ns);
            out->ticked_ns += fv_minus(ticked_ns, begun_ns);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(turn & 1) && turn == __atomic_load_n(&t->usage_turn, __ATOMIC_RELAXED))
            return;
    }
}

/* A pool's threads live until the process ends, and do not tell any more. */
void fv_usage_update_others(const struct fv_thread *self)
{
    int saved = errno;

    for (const struct fv_thread *t = __atomic_load_n(&fv_rt.threads, __ATOMIC_ACQUIRE); t; t = t->next_all) {
        struct fv_usage_other now;

        if (t == self || __atomic_load_n(&t->record->end, __ATOMIC_RELAXED))
            continue;
        fv_usage_read_other(t, &now);
        uint64_t user_ns = now.user_ns < now.ticked_ns
                               ? (uint64_t)((double)now.cpu_ns * (double)now.user_ns / (double)now.ticked_ns)
                               : now.cpu_ns;
        put_usage(t, user_ns, fv_minus(now.cpu_ns, user_ns));
    }
    errno = saved;
}

const struct fv_layer fv_usage_layer = { .at = { [FV_AT_THREAD_BEGIN] = thread_begins,
                                                 [FV_AT_THREAD_END] = thread_is_gone,
                                                 [FV_AT_FORGET] = forget_thread,
                                                 [FV_AT_FINALIZE] = thread_ends,
                                                 [FV_AT_EXIT] = thread_ends } };
