/* SPDX-License-Identifier: BSD-3-Clause */
/* Work of ours in a thread of the application that nothing may come in between of: signals wait (fv_signals_hold()),
 * the thread is not cancelled, because files are written and locks held, and errno stays. For rare paths. */
#ifndef FV_SCOPE_H
#define FV_SCOPE_H

#include "base/lock.h"

#include <errno.h>
#include <pthread.h>

struct fv_scope {
    uint64_t signals;
    int saved, cancel;
};

static inline struct fv_scope fv_scope_enter(void)
{
    struct fv_scope scope = { .saved = errno };

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &scope.cancel);
    scope.signals = fv_signals_hold();
    return scope;
}

static inline void fv_scope_leave(const struct fv_scope *scope)
{
    int was;

    fv_signals_go_on(scope->signals);
    pthread_setcancelstate(scope->cancel, &was);
    errno = scope->saved;
}

#endif
