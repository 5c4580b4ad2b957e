/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program says of signals, in threads whose clock ticks by SIGPROF (clock.c): while it blocks the signal there
 * are no ticks; its signal stack is what it has set; and the C library's own profiler gets SIGPROF. */
#include "rt/next.h"
#include "rt/signals.h"
#include "sampler/sampler.h"

#if FV_SAMPLER_SIGNALS && defined(PIC)

/* The clock stands still before the signal is blocked, and until it is no more. In a handler that was entered
 * with it blocked, the clock goes on: nobody tells when that returns. */
static int change_mask(struct fv_sampler *s, int (*next)(int, const sigset_t *, sigset_t *), int how,
                       const sigset_t *set, sigset_t *old)
{
    bool names = sigismember(set, SIGPROF) == 1, may_block = names && how != SIG_UNBLOCK;
    const bool rests = fv_clock_is_paused(s);
    sigset_t was;

    if (may_block)
        fv_clock_pause(s);
    int err = next(how, set, &was);
    if (err)
        next(SIG_BLOCK, NULL, &was); /* nothing has changed */
    bool blocked = sigismember(&was, SIGPROF) == 1, by_handler = blocked && !rests;
    if (!err)
        blocked = how == SIG_BLOCK ? blocked || names : how == SIG_UNBLOCK ? blocked && !names : names;
    if (!blocked || by_handler)
        fv_clock_resume(s);
    if (!err && old)
        *old = was;
    return err;
}

FV_NO_TSAN FV_PUBLIC int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    struct fv_sampler *s = fv_sampler_ticking();

    return FV_UNLIKELY(s && set) ? change_mask(s, FV_NEXT(pthread_sigmask), how, set, old)
                                 : FV_NEXT(pthread_sigmask)(how, set, old);
}

FV_NO_TSAN FV_PUBLIC int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    struct fv_sampler *s = fv_sampler_ticking();

    return FV_UNLIKELY(s && set) ? change_mask(s, FV_NEXT(sigprocmask), how, set, old)
                                 : FV_NEXT(sigprocmask)(how, set, old);
}

/* The program has no signal stack as long as it has set none: ours is not shown to it, and stands where it wants
 * none. */
FV_NO_TSAN FV_PUBLIC int sigaltstack(const stack_t *set, stack_t *old)
{
    struct fv_sampler *s = fv_sampler_ticking();
    stack_t wish, was;

    if (FV_LIKELY(!s))
        return FV_NEXT(sigaltstack)(set, old);
    if (set) {
        wish = *set;
        if (!(set->ss_flags & SS_DISABLE) && set->ss_size < fv_signal_stack_least())
            fv_clock_stop(s, FV_SAMPLER_SMALL_STACK);
        else if (set->ss_flags & SS_DISABLE && s->signal_stack)
            wish = fv_signal_stack(s);
    }
    int err = FV_NEXT(sigaltstack)(set ? &wish : NULL, &was);
    if (!err && old)
        *old = s->signal_stack && was.ss_sp == s->signal_stack ? (stack_t){ .ss_flags = SS_DISABLE } : was;
    return err;
}

/* The C library's own profiler (-pg) sets its action unseen. */
FV_PUBLIC void __monstartup(unsigned long low, unsigned long high)
{
    fv_signals_return(SIGPROF);
    FV_NEXT(__monstartup)(low, high);
}

FV_PUBLIC void moncontrol(int mode)
{
    fv_signals_return(SIGPROF);
    FV_NEXT(moncontrol)(mode);
}

FV_PUBLIC int profil(unsigned short *buffer, size_t bytes, size_t offset, unsigned scale)
{
    fv_signals_return(SIGPROF);
    return FV_NEXT(profil)(buffer, bytes, offset, scale);
}

#endif
