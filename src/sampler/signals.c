/* SIGTRAP of the application beside ours. The kernel signals samples as SIGTRAP; an application that set an
 * action of its own later would meet them there, and the default action would kill it. So what it asks for
 * SIGTRAP is kept here, answered from here, and used for its own traps; the kernel keeps our handler. Only
 * while something is sampled: otherwise, and for every other signal, the next one's function is called, as if
 * we were not there: the C library's, or that of somebody else who interposes it (a sanitizer, a Java
 * run-time).
 *
 * SIG_IGN is really set: what is executed from here inherits it, and no sample comes. */
#include "sampler/signals.h"
#include "base/lock.h"
#include "rt/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#if FV_SAMPLER_SIGNALS

/* The C library's own, by names that nobody interposes. */
extern int __sigaction(int signal, const struct sigaction *action, struct sigaction *old);
extern sighandler_t ssignal(int signal, sighandler_t handler);
extern sighandler_t sysv_signal(int signal, sighandler_t handler);

static struct fv_lock lock; /* held with all signals blocked */
static bool ours;           /* the handler is set, or SIG_IGN in its place */
static struct sigaction handler, application;

int fv_signals_take(void (*function)(int, siginfo_t *, void *))
{
    int err = 0;

    fv_lock(&lock);
    if (!ours) {
        handler =
            (struct sigaction){ .sa_sigaction = function, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
        /* All of them: sigfillset() leaves out the one by which the C library cancels threads, at once where
         * they asked for that, in the middle of our records. */
        memset(&handler.sa_mask, 0xff, sizeof(handler.sa_mask));
        err = __sigaction(SIGTRAP, &handler, &application);
        ours = !err;
    }
    fv_unlock(&lock);
    return err;
}

bool fv_signals_ignored(void)
{
    struct sigaction now;

    return !__sigaction(SIGTRAP, NULL, &now) && now.sa_handler == SIG_IGN;
}

void fv_signals_pass_on(int signal, siginfo_t *info, void *context)
{
    struct sigaction to = application;
    sigset_t mask = ((ucontext_t *)context)->uc_sigmask;

    if (to.sa_handler == SIG_IGN)
        return;
    if (to.sa_handler == SIG_DFL) {
        __sigaction(SIGTRAP, &to, NULL);
        raise(SIGTRAP); /* blocked till we return */
        return;
    }
    if (to.sa_flags & SA_RESETHAND)
        application.sa_handler = SIG_DFL;
    sigorset(&mask, &mask, &to.sa_mask);
    if (!(to.sa_flags & SA_NODEFER))
        sigaddset(&mask, SIGTRAP);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (to.sa_flags & SA_SIGINFO)
        to.sa_sigaction(signal, info, context);
    else
        to.sa_handler(signal);
}

/* ThreadSanitizer sets its handlers before it is ready for code that it has instrumented. */
#define NO_TSAN __attribute__((no_sanitize("thread")))

/* The child of a fork, or of a vfork, has a table of its own. */
NO_TSAN static bool is_virtual(int signal)
{
    return FV_UNLIKELY(signal == SIGTRAP && __atomic_load_n(&ours, __ATOMIC_RELAXED)) &&
           fv_rt.pid == getpid();
}

static int set_virtual(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction wish, was;
    sigset_t all, mask;
    int err = 0;

    if (action)
        wish = *action; /* may be a bad address, like `old` */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    fv_lock(&lock);
    was = application;
    if (action) {
        err = __sigaction(SIGTRAP, action->sa_handler == SIG_IGN ? action : &handler, NULL);
        application = err ? application : wish;
    }
    fv_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (old)
        *old = was;
    return err;
}

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *) = __sigaction;
static sighandler_t (*next_signal)(int, sighandler_t) = ssignal;
static sighandler_t (*next_sysv_signal)(int, sighandler_t) = sysv_signal;
static sighandler_t (*next_sigset)(int, sighandler_t); /* these two have no other name: see find_next() */
static int (*next_sigignore)(int);

/* Constructors of others may run before ours. */
__attribute__((constructor)) static void find_next(void)
{
    static const char *const names[] = { "sigaction", "signal", "__sysv_signal", "sigset", "sigignore" };
    void *const to[] = { &next_sigaction, &next_signal, &next_sysv_signal, &next_sigset, &next_sigignore };

    for (unsigned i = 0; i < sizeof(to) / sizeof(*to); i++) {
        void *found = dlsym(RTLD_NEXT, names[i]);

        if (found)
            memcpy(to[i], &found, sizeof(found));
    }
}

NO_TSAN FV_PUBLIC int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    return is_virtual(signal) ? set_virtual(action, old) : next_sigaction(signal, action, old);
}

NO_TSAN FV_PUBLIC sighandler_t signal(int signal, sighandler_t function)
{
    struct sigaction action = { .sa_handler = function, .sa_flags = SA_RESTART }, old;

    if (!is_virtual(signal) || function == SIG_ERR)
        return next_signal(signal, function);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, signal);
    return set_virtual(&action, &old) ? SIG_ERR : old.sa_handler;
}

/* System V's: SIGTRAP is not blocked afterwards, unless SIG_HOLD asks for just that. */
NO_TSAN FV_PUBLIC sighandler_t sigset(int signal, sighandler_t function)
{
    struct sigaction action = { .sa_handler = function }, old;
    sigset_t trap, mask;

    if (!next_sigset)
        find_next();
    if (!is_virtual(signal) || function == SIG_ERR)
        return next_sigset(signal, function);
    sigemptyset(&action.sa_mask);
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    if (set_virtual(function == SIG_HOLD ? NULL : &action, &old) ||
        pthread_sigmask(function == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &trap, &mask))
        return SIG_ERR;
    return sigismember(&mask, SIGTRAP) ? SIG_HOLD : old.sa_handler;
}

NO_TSAN FV_PUBLIC int sigignore(int signal)
{
    const struct sigaction action = { .sa_handler = SIG_IGN };

    if (!next_sigignore)
        find_next();
    return is_virtual(signal) ? set_virtual(&action, NULL) : next_sigignore(signal);
}

/* What signal() is in programs compiled as strict ISO C (-std=c99). */
NO_TSAN FV_PUBLIC sighandler_t __sysv_signal(int signal, sighandler_t function)
{
    struct sigaction action = { .sa_handler = function, .sa_flags = (int)SA_RESETHAND | SA_NODEFER }, old;

    if (!is_virtual(signal) || function == SIG_ERR)
        return next_sysv_signal(signal, function);
    sigemptyset(&action.sa_mask);
    return set_virtual(&action, &old) ? SIG_ERR : old.sa_handler;
}

#endif
