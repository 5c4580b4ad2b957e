/* SPDX-License-Identifier: BSD-3-Clause */
/* New threads are recorded from their start routine on: in every flavour of the library, for the samples
 * (--sample) and counters (--counters) of threads that never call MPI, for what they do while a section is open, and
 * for what threads wait for (--threads).
 * Otherwise pthread_create() is the next one's, as if we were not there.
 *
 * The thread's function becomes ours, which attaches the thread and jumps on (a tail call: the application's
 * function stands where it always stood, also when the thread is cancelled, exits by pthread_exit(), or
 * unwinds). Rejected: to wait for a thread's first call of something, since computing threads may call
 * nothing. Threads that MPI makes for itself, inside a call, stay its own.
 *
 * Not in an archive: a static program's C library defines the same name. Not under ThreadSanitizer, ours or the
 * program's, whose run-time makes threads before it is ready for code that it has instrumented, and begins them below
 * us. */
#include "threads/create.h"
#include "base/experiment.h"
#include "base/lock.h"
#include "rt/layers.h"
#include "rt/next.h"
#include "rt/remarks.h"
#include "rt/section_threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if FV_INTERPOSE_CREATE

typedef void *start_routine(void *);

static inline bool has_lives(void)
{
    return &fv_lives;
}

/* What the new thread needs to know. Its creator's memory until it begins. */
struct start {
    start_routine *routine;
    void *arg;
    struct fv_thread_origin origin;
    struct fv_thread *creator; /* NULL: not recorded */
    uint32_t creator_life;
    struct start *next; /* of the free ones */
};

static struct fv_lock lock;
static struct start *unused; /* under lock */

/* Another thread may have been at the list. */
static void in_forked_child(void)
{
    unused = NULL;
    lock.held = 0;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_forked_child);
}

/* Under lock. */
static struct start *carve_page(void)
{
    struct start *page = fv_memory_new(FV_PAGE);

    for (size_t i = 0; page && i < FV_PAGE / sizeof(*page); i++) {
        page[i].next = unused;
        unused = &page[i];
    }
    return unused;
}

static struct start *take(void)
{
    uint64_t signals = fv_lock_sigsave(&lock);
    struct start *start = unused ? unused : carve_page();
    if (start)
        unused = start->next;
    fv_unlock_sigrestore(&lock, signals);
    return start;
}

static void give_back(struct start *start)
{
    uint64_t signals = fv_lock_sigsave(&lock);
    start->next = unused;
    unused = start;
    fv_unlock_sigrestore(&lock, signals);
}

/* Must not be cancelled, nor interrupted by a handler that locks or posts: locks are taken and files opened.
 * Its frame is gone before the application's function runs. */
static __attribute__((noinline)) void begin(const struct start *start)
{
    struct fv_thread_origin origin = start->origin;
    struct fv_scope scope = fv_scope_enter();
    struct fv_thread *t = fv_thread_attach();
    if (t) {
        t->made_by_life = start->creator_life;
        __atomic_store_n(&t->made_by, start->creator, __ATOMIC_RELEASE);
        fv_current = t;
        if (has_lives())
            fv_lives.begin(t, &origin);
    }
    if (!t && has_lives())
        fv_lives.mine(&origin);
    fv_scope_leave(&scope);
    if (t && origin.phase && has_lives())
        fv_lives.enter(&origin);
}

static start_routine *begin_with(struct start *block, void **arg)
{
    struct start start = *block;

    *arg = start.arg;
    give_back(block);
    begin(&start);
    return start.routine;
}

static void *trampoline(void *arg)
{
    start_routine *routine = begin_with(arg, &arg);

    return routine(arg);
}

/* Of a program that has ThreadSanitizer's run-time library. */
extern void __tsan_init(void) __attribute__((weak));

static bool is_wanted(void)
{
    if (FV_UNLIKELY(&__tsan_init != NULL))
        return false;
    bool in_mpi = fv_self && !fv_is_between();

    __atomic_store_n(&fv_threads_made, true, __ATOMIC_RELAXED);
    if (FV_UNLIKELY(fv_rt_early()))
        return has_lives() && fv_lives.early();

    return fv_rt_on() &&
           (fv_rt.options.sample > FV_SAMPLE_CLOCK || fv_rt.options.threads || fv_rt.options.io ||
            fv_rt.options.counters || __atomic_load_n(&fv_section_spans, __ATOMIC_RELAXED)) &&
           !in_mpi;
}

static struct fv_thread_origin prepare(struct start *start, start_routine *routine, void *arg,
                                       struct fv_call_place site)
{
    *start = (struct start){
        .routine = routine, .arg = arg, .creator = fv_self, .creator_life = fv_self ? fv_self->lives : 0
    };
    if (has_lives())
        fv_lives.create(&start->origin, site, (uintptr_t)routine);
    return start->origin;
}

/* The new thread may have ended by now, and have freed what it is known by: the kernel reads, and checks. */
static void made(const pthread_t *thread, const struct fv_thread_origin *origin)
{
    pthread_t name;
    struct iovec to = { &name, sizeof(name) }, from = { (void *)(uintptr_t)thread, sizeof(name) };
    int saved = errno;

    if (!origin->created)
        return;
    if (syscall(SYS_process_vm_readv, fv_rt.pid, &to, 1, &from, 1, 0) == (long)sizeof(name))
        fv_lives.created(name, origin);
    errno = saved;
}

static void not_made(struct start *start, const struct fv_thread_origin *origin)
{
    give_back(start);
    if (has_lives())
        fv_lives.failed(origin);
}

FV_PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, start_routine *routine, void *arg)
{
    struct start *start = is_wanted() ? take() : NULL;

    if (!start)
        return FV_NEXT(pthread_create)(thread, attributes, routine, arg);
    struct fv_thread_origin origin = prepare(start, routine, arg, FV_CALL_SITE());
    int err = FV_NEXT(pthread_create)(thread, attributes, trampoline, start);
    if (!err)
        made(thread, &origin);
    else
        not_made(start, &origin);
    return err;
}

/* C11's, which calls the C library's own pthread_create(). */
#if FV_HAVE_C11
static int c11_trampoline(void *arg)
{
    thrd_start_t routine = (thrd_start_t)(void (*)(void))begin_with(arg, &arg);

    return routine(arg);
}

FV_PUBLIC int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    struct start *start = is_wanted() ? take() : NULL;

    if (!start)
        return FV_NEXT(thrd_create)(thread, routine, arg);
    struct fv_thread_origin origin = prepare(start, (start_routine *)(void (*)(void))routine, arg, FV_CALL_SITE());
    int err = FV_NEXT(thrd_create)(thread, c11_trampoline, start);
    if (err == thrd_success)
        made(thread, &origin);
    else
        not_made(start, &origin);
    return err;
}
#endif

#endif

/* What --threads needs is in a library of its own, so that it costs nothing where it is not wanted. */
static void tell_no_threads(struct fv_thread *self)
{
    static const char unknown[] = "libfvmpi-*.so"; /* of a static program */
    Dl_info info;
    (void)self;

    if (!fv_rt.options.threads)
        return;
    const char *name = dladdr(unknown, &info) ? fv_base_name(info.dli_fname) : unknown;
    if (strncmp(name, "libfvmpi-", strlen("libfvmpi-")))
        name = unknown;
    int n = (int)strcspn(name, ".");
    fv_remark(fv_first_rank(),
              "FVMPI_THREADS: this library does not record locks; preload %.*s-threads.so (fvmpi run --threads does), "
              "or link with -l%.*s-threads",
              n, name, n - (int)strlen("lib"), name + strlen("lib"));
}
/* Where lives.c is not. */
const struct fv_layer fv_threads_layer __attribute__((weak)) = { .at = { [FV_AT_START] = tell_no_threads } };
