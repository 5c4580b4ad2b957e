/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals of the application beside ours: SIGTRAP and SIGPROF, as which the kernel signals samples, those that end the
 * process (fatal.c) or tell that the rank file has lost pages (bus.c), and one that asks threads where they are
 * (look.c). An application that set an action of its own
 * later would meet samples there, and the default action would kill it; and it may ask what its action is. So what it
 * asks for such a signal is kept here, answered from here, and done for its own signals. For every other signal, and
 * while we want none, the next one's function is called, as if we were not there: the C library's, or that of somebody
 * else who interposes it (a sanitizer, a Java run-time).
 *
 * SIG_IGN is really set: what is executed from here inherits it, and no sample comes. A handler for a signal that ends
 * the process by default is really set, too: then we do not see it. */
#include "rt/signals.h"
#include "base/lock.h"
#include "base/process.h"
#include "rt/layers.h"
#include "rt/next.h"
#include "rt/process.h"
#include "rt/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if FV_SAMPLER_SIGNALS

static struct fv_lock lock; /* held with all signals blocked */
static pid_t process;       /* that took some */
static struct shared {
    int signal;
    bool ours;               /* the handler is set, or what the application wants in its place */
    bool end_only;           /* the handler is for the action that the application had at first, and for SIG_DFL */
    void *first;             /* this action's function */
    void (*give_back)(void); /* borrowed: called before the application's own action is set */
    struct sigaction handler, application;
} shared[] = {
    { .signal = SIGTRAP }, { .signal = SIGPROF }, { .signal = SIGSEGV }, { .signal = SIGBUS },
    { .signal = SIGFPE },  { .signal = SIGILL },  { .signal = SIGABRT }, { .signal = SIGSYS },
    { .signal = SIGTERM }, { .signal = SIGXCPU }, { .signal = 0 }, /* a real-time signal: fv_signals_borrow_any() */
};
#define ANY (&shared[sizeof(shared) / sizeof(*shared) - 1])

FV_NO_TSAN static inline struct shared *shared_of(int signal)
{
    for (unsigned i = 0; i < sizeof(shared) / sizeof(*shared); i++)
        if (shared[i].signal == signal)
            return &shared[i];
    return NULL;
}

/* The child of a fork, or of a vfork, has a table of its own. */
FV_NO_TSAN static struct shared *virtual_of(int signal)
{
    struct shared *s = shared_of(signal);

    return FV_UNLIKELY(s && __atomic_load_n(&s->ours, __ATOMIC_RELAXED)) && process == getpid() ? s : NULL;
}

/* What the kernel is to do. */
static const struct sigaction *action_for(const struct shared *s, const struct sigaction *wish)
{
    bool is_end = wish->sa_handler == SIG_DFL || (void *)wish->sa_handler == s->first;

    return (s->end_only ? is_end : wish->sa_handler != SIG_IGN) ? &s->handler : wish;
}

static int take(struct shared *s, void (*function)(int, siginfo_t *, void *))
{
    int err;

    s->handler = (struct sigaction){ .sa_sigaction = function, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
    /* All of them: sigfillset() leaves out the one by which the C library cancels threads, at once where
     * they asked for that, in the middle of our records. */
    memset(&s->handler.sa_mask, 0xff, sizeof(s->handler.sa_mask));
    sigdelset(&s->handler.sa_mask, SIGBUS); /* of a store of ours: bus.c */
    err = __sigaction(s->signal, &s->handler, &s->application);
    s->first = (void *)s->application.sa_handler;
    process = getpid();
    __atomic_store_n(&s->ours, !err, __ATOMIC_RELEASE);
    return err;
}

int fv_signals_take(int signal, void (*function)(int, siginfo_t *, void *))
{
    struct shared *s = shared_of(signal);
    int err = 0;

    fv_lock(&lock);
    if (!s->ours)
        err = take(s, function);
    fv_unlock(&lock);
    return err;
}

int fv_signals_borrow(int signal, void (*function)(int, siginfo_t *, void *), void (*give_back)(void))
{
    int err = fv_signals_take(signal, function);

    if (!err)
        __atomic_store_n(&shared_of(signal)->give_back, give_back, __ATOMIC_RELEASE); /* the same by each thread */
    return err;
}

/* From the last one but four down: who wants some for himself begins at an end. */
int fv_signals_borrow_any(void (*function)(int, siginfo_t *, void *), void (*give_back)(void))
{
    struct sigaction now;

    for (int signal = SIGRTMAX - 4; !ANY->signal && signal > SIGRTMIN; signal--)
        if (!__sigaction(signal, NULL, &now) && now.sa_handler == SIG_DFL)
            __atomic_store_n(&ANY->signal, signal, __ATOMIC_RELEASE);
    return ANY->signal && !fv_signals_borrow(ANY->signal, function, give_back) ? ANY->signal : 0;
}

static void lock_all(sigset_t *mask)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, mask);
    fv_lock(&lock);
}

static void unlock_all(const sigset_t *mask)
{
    fv_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

static uint64_t set_in(const char *status, const char *name)
{
    return strtoull(fv_file_value(status, name), NULL, 16);
}

/* Has a thread been sent one of ours that it has not taken yet? It need only be preempted meanwhile. One that is
 * pending because the application blocks it is the application's: while a thread does so, nothing is sent to it. The
 * calling thread blocks all now, and `blocked` otherwise. */
static bool some_on_their_way(int signal, const sigset_t *blocked)
{
    const uint64_t bit = (uint64_t)1 << (signal - 1);
    char path[64], status[2048];
    bool found = false;

    for (const struct fv_thread *t = fv_rt.threads; t; t = t->next_all) {
        snprintf(path, sizeof(path), "/proc/self/task/%u/status", t->record->tid);
        if (fv_file_read(path, status, sizeof(status)) <= 0)
            continue;
        bool blocks = t == fv_self ? sigismember(blocked, signal) > 0 : (set_in(status, "\nSigBlk:") & bit) != 0;
        bool pending = set_in(status, "\nSigPnd:") & bit;
        if (set_in(status, "\nShdPnd:") & bit || (pending && blocks))
            return false;
        found |= pending;
    }
    return found;
}

/* The lock is held. What is still on its way to a thread would reach the application's action: the kernel drops it as
 * soon as the signal is ignored. */
static int return_with(struct shared *s, const struct sigaction *action, const sigset_t *blocked)
{
    static const struct sigaction ignored = { .sa_handler = SIG_IGN };

    __atomic_load_n(&s->give_back, __ATOMIC_ACQUIRE)();
    if (some_on_their_way(s->signal, blocked))
        __sigaction(s->signal, &ignored, NULL);
    int err = __sigaction(s->signal, action, NULL);
    __atomic_store_n(&s->ours, false, __ATOMIC_RELEASE);
    return err;
}

void fv_signals_return(int signal)
{
    struct shared *s = virtual_of(signal);
    sigset_t mask;

    if (!s || !__atomic_load_n(&s->give_back, __ATOMIC_ACQUIRE))
        return;
    lock_all(&mask);
    return_with(s, &s->application, &mask);
    unlock_all(&mask);
}

/* The actions that MPI libraries have for errors (Open MPI's own, UCX's) print where they were, and end as the default
 * does. */
static bool ends(const struct sigaction *action)
{
    static const char *const libraries[] = { "libopen-pal.so", "libucs.so" };
    Dl_info info;

    if (action->sa_handler == SIG_DFL)
        return true;
    if (action->sa_handler == SIG_IGN || !dladdr((void *)action->sa_handler, &info))
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    for (unsigned i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (!strncmp(name, libraries[i], strlen(libraries[i])))
            return true;
    return false;
}

bool fv_signals_take_end(int signal, void (*function)(int, siginfo_t *, void *))
{
    struct shared *s = shared_of(signal);
    struct sigaction now;

    fv_lock(&lock);
    if (!s->ours && !__sigaction(signal, NULL, &now) && ends(&now)) {
        s->end_only = true;
        take(s, function);
    }
    fv_unlock(&lock);
    return s->ours;
}

bool fv_signals_ends(int signal)
{
    return ends(&shared_of(signal)->application);
}

/* In the child of a fork: the application's actions are set again, but for SIGTRAP. */
static void give_all_back(struct fv_thread *self)
{
    (void)self;
    for (struct shared *s = shared; s < shared + sizeof(shared) / sizeof(*shared); s++)
        if (s->signal != SIGTRAP && s->ours && !__sigaction(s->signal, &s->application, NULL))
            s->ours = false;
}
const struct fv_layer fv_signals_layer = { .at = { [FV_AT_FORK] = give_all_back } };

bool fv_signals_ignored(int signal)
{
    struct sigaction now;

    return !__sigaction(signal, NULL, &now) && now.sa_handler == SIG_IGN;
}

/* The kernel's own of an instruction comes again when that is executed again. */
static bool is_fault(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL);
}

void fv_signals_pass_on(int signal, siginfo_t *info, void *context)
{
    struct shared *s = shared_of(signal);
    struct sigaction to = s->application;
    sigset_t mask = ((ucontext_t *)context)->uc_sigmask;

    if (to.sa_handler == SIG_IGN)
        return;
    if (to.sa_handler == SIG_DFL) {
        __sigaction(signal, &to, NULL);
        if (!is_fault(signal, info)) /* blocked till we return */
            syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), signal, info);
        return;
    }
    if (to.sa_flags & SA_RESETHAND)
        s->application.sa_handler = SIG_DFL;
    sigorset(&mask, &mask, &to.sa_mask);
    if (!(to.sa_flags & SA_NODEFER))
        sigaddset(&mask, signal);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(uint64_t)); /* till we return: not by an interposer */
    if (to.sa_flags & SA_SIGINFO)
        to.sa_sigaction(signal, info, context);
    else
        to.sa_handler(signal);
}

static int set_virtual(struct shared *s, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction wish, was;
    sigset_t mask;
    int err = 0;

    if (action)
        wish = *action; /* may be a bad address, like `old` */
    lock_all(&mask);
    was = s->application;
    if (action && s->give_back && wish.sa_handler != SIG_DFL) {
        err = return_with(s, &wish, &mask);
    } else if (action) {
        err = __sigaction(s->signal, action_for(s, action), NULL);
        s->application = err ? s->application : wish;
    }
    unlock_all(&mask);
    if (old)
        *old = was;
    return err;
}

FV_NO_TSAN FV_PUBLIC int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct shared *s = virtual_of(signal);

    return s ? set_virtual(s, action, old) : fv_next.sigaction(signal, action, old);
}

FV_NO_TSAN FV_PUBLIC sighandler_t signal(int signal, sighandler_t function)
{
    struct sigaction action = { .sa_handler = function, .sa_flags = SA_RESTART }, old;
    struct shared *s = virtual_of(signal);

    if (!s || function == SIG_ERR)
        return fv_next.signal(signal, function);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, signal);
    return set_virtual(s, &action, &old) ? SIG_ERR : old.sa_handler;
}

/* System V's: the signal is not blocked afterwards, unless SIG_HOLD asks for just that. */
FV_NO_TSAN FV_PUBLIC sighandler_t sigset(int signal, sighandler_t function)
{
    struct sigaction action = { .sa_handler = function }, old;
    struct shared *s = virtual_of(signal);
    sigset_t this_one, mask;

    if (!s || function == SIG_ERR)
        return FV_NEXT(sigset)(signal, function);
    sigemptyset(&action.sa_mask);
    sigemptyset(&this_one);
    sigaddset(&this_one, signal);
    if (set_virtual(s, function == SIG_HOLD ? NULL : &action, &old) ||
        pthread_sigmask(function == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &this_one, &mask))
        return SIG_ERR;
    return sigismember(&mask, signal) ? SIG_HOLD : old.sa_handler;
}

FV_NO_TSAN FV_PUBLIC int sigignore(int signal)
{
    const struct sigaction action = { .sa_handler = SIG_IGN };
    struct shared *s = virtual_of(signal);

    return s ? set_virtual(s, &action, NULL) : FV_NEXT(sigignore)(signal);
}

/* What signal() is in programs compiled as strict ISO C (-std=c99). */
FV_NO_TSAN FV_PUBLIC sighandler_t __sysv_signal(int signal, sighandler_t function)
{
    struct sigaction action = { .sa_handler = function, .sa_flags = (int)SA_RESETHAND | SA_NODEFER }, old;
    struct shared *s = virtual_of(signal);

    if (!s || function == SIG_ERR)
        return fv_next.__sysv_signal(signal, function);
    sigemptyset(&action.sa_mask);
    return set_virtual(s, &action, &old) ? SIG_ERR : old.sa_handler;
}

#else
#include "rt/layers.h"

const struct fv_layer fv_signals_layer = { 0 };
#endif
