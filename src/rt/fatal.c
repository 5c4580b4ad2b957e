/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal that ends the process is told: which, where, and the call path there. Only while the application's action
 * for it is the default (signals.c): then ours is called first, writes into the rank file, and does what the default
 * does, so that the core dump is of the same instruction and the parent sees the same status.
 *
 * No lock of ours is held by the thread that is here, because signals wait while one is. */
#include "rt/fatal.h"
#include "rt/layers.h"
#include "rt/thread.h"
#include "rt/signals.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#if FV_SAMPLER_SIGNALS
static void tell(int signal, const siginfo_t *info, const ucontext_t *context)
{
    struct fv_file_header *h = fv_rt.writer.header;
    uintptr_t pc = fv_signals_pc(context);

    fv_clock_point(&h->last);
    h->fatal.ticks = fv_ticks();
    h->fatal.code = info->si_code;
    h->fatal.address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
    h->fatal.sender = info->si_code <= 0 ? (uint32_t)info->si_pid : 0;
    h->fatal.tid = (uint32_t)syscall(SYS_gettid);
    __atomic_store_n(&h->fatal.signal, (uint32_t)signal, __ATOMIC_RELEASE);
    __atomic_store_n(&h->fatal.path, fv_path_interrupted(fv_self, pc), __ATOMIC_RELEASE);
}

void fv_fatal_tell(int signal, const siginfo_t *info, void *context)
{
    static uint32_t told;
    int saved = errno;

    if (fv_rt_here() && !__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
        tell(signal, info, context);
    errno = saved;
}

static void at_signal(int signal, siginfo_t *info, void *context)
{
    fv_fatal_tell(signal, info, context);
    fv_signals_pass_on(signal, info, context);
}

static void start(struct fv_thread *self)
{
    /* SIGBUS is taken by bus.c */
    static const int signals[] = { SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTERM, SIGXCPU };

    (void)self;
    uint64_t held = fv_signals_hold();
    for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        fv_signals_take_end(signals[i], at_signal);
    fv_signals_go_on(held);
}
const struct fv_layer fv_fatal_layer = { .at = { [FV_AT_START] = start } };
#else
const struct fv_layer fv_fatal_layer = { 0 };
#endif
