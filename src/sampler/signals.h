/* SIGTRAP, shared with the application: see signals.c. */
#ifndef FV_SIGNALS_H
#define FV_SIGNALS_H

#include "base/base.h"

#include <signal.h>
#include <ucontext.h>

/* Where sampling is possible at all. */
#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#define FV_SAMPLER_SIGNALS 1
#else
#define FV_SAMPLER_SIGNALS 0
#endif

/* Sets the handler of SIGTRAP, for good. Not 0: errno tells. */
int fv_signals_take(void (*function)(int, siginfo_t *, void *));
/* Does the process ignore SIGTRAP? */
bool fv_signals_ignored(void);
/* Is anything sampled here? Is a SIGTRAP a sample, or a trap, of ours? (sampler.c) */
bool fv_sampler_samples(void);
bool fv_sampler_sent(const siginfo_t *info);
/* A SIGTRAP that is the application's, from the handler. */
void fv_signals_pass_on(int signal, siginfo_t *info, void *context);

#endif
