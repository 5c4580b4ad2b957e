/* New threads are recorded from their start routine on: in every flavour of the library, for the samples
 * (--sample) of threads that never call MPI, and for what threads wait for (--threads). Otherwise
 * pthread_create() is the next one's, as if we were not there.
 *
 * The thread's function becomes ours, which attaches the thread and jumps on (a tail call: the application's
 * function stands where it always stood, also when the thread is cancelled, exits by pthread_exit(), or
 * unwinds). Rejected: to wait for a thread's first call of something, since computing threads may call
 * nothing. Threads that MPI makes for itself, inside a call, stay its own.
 *
 * Not in an archive: a static program's C library defines the same name. Not under ThreadSanitizer, whose
 * run-time makes threads before it is ready for code that it has instrumented, and begins them below us. */
#include "base/lock.h"
#include "rt/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#if defined(PIC) && !defined(__SANITIZE_THREAD__)

typedef void *start_routine(void *);
typedef int create_function(pthread_t *, const pthread_attr_t *, start_routine *, void *);

/* What the new thread needs to know. Its creator's memory until it begins. */
struct start {
    start_routine *routine;
    void *arg;
    struct fv_thread_origin origin;
    struct start *next; /* of the free ones */
};

static struct fv_lock lock;
static struct start *unused; /* under lock */
static create_function *next_create;

static FV_COLD void find_next(void)
{
    void *function = dlsym(RTLD_NEXT, "pthread_create");

    memcpy(&next_create, &function, sizeof(function));
}

__attribute__((constructor)) static void find_next_early(void)
{
    if (!next_create)
        find_next();
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
    fv_lock(&lock);
    struct start *start = unused ? unused : carve_page();
    if (start)
        unused = start->next;
    fv_unlock(&lock);
    return start;
}

static void give_back(struct start *start)
{
    fv_lock(&lock);
    start->next = unused;
    unused = start;
    fv_unlock(&lock);
}

/* Must not be cancelled: locks are taken and files opened. Its frame is gone before the application's
 * function runs. */
static __attribute__((noinline)) void begin(struct fv_thread_origin origin)
{
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    struct fv_thread *t = fv_thread_attach();
    if (t) {
        fv_current = t;
        if (fv_thread_hooks())
            fv_thread_hooks()->begin(t, &origin);
    }
    if (!t && fv_thread_hooks())
        fv_thread_hooks()->mine();
    pthread_setcancelstate(state, &state);
}

static void *trampoline(void *arg)
{
    struct start *block = arg;
    start_routine *routine = block->routine;
    struct fv_thread_origin origin = block->origin;

    arg = block->arg;
    give_back(block);
    begin(origin);
    return routine(arg);
}

static bool is_wanted(void)
{
    bool in_mpi = fv_self && !fv_current;

    if (FV_UNLIKELY(__atomic_load_n(&fv_rt.state, __ATOMIC_ACQUIRE) == FV_RT_IDLE))
        return fv_thread_hooks() && fv_thread_hooks()->early();

    return fv_rt_on() && (fv_rt.options.sample || fv_rt.options.threads) && !in_mpi;
}

FV_PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, start_routine *routine,
                             void *arg)
{
    struct start *start = is_wanted() ? take() : NULL;

    if (FV_UNLIKELY(!next_create))
        find_next();
    if (!start)
        return next_create(thread, attributes, routine, arg);
    *start = (struct start){ .routine = routine, .arg = arg };
    if (fv_thread_hooks())
        fv_thread_hooks()->create(&start->origin, FV_CALL_SITE(), (uintptr_t)routine);
    struct fv_thread_origin origin = start->origin;
    int err = next_create(thread, attributes, trampoline, start);
    if (err) {
        give_back(start);
        if (fv_thread_hooks())
            fv_thread_hooks()->failed(&origin);
    } else if (fv_thread_hooks()) {
        fv_thread_hooks()->created(*thread, &origin);
    }
    return err;
}

#endif
