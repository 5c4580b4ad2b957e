/* SPDX-License-Identifier: BSD-3-Clause */
/* A store to a mapped file is SIGBUS where the file has lost the page: somebody made it shorter, or its file
 * system, which said that the room was there, has none when the page is written (those that copy on write, or
 * are on another host). The application must not die of that: memory takes the page's place, and recording
 * ends. Any other SIGBUS is the application's, whose action for it is kept in signals.c, or the MPI
 * library's, which often has one. A thread that blocks SIGBUS dies by a fault, as it would of one of its own.
 */
#include "base/lock.h"
#include "rt/fatal.h"
#include "rt/layers.h"
#include "rt/process.h"
#include "rt/signals.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#if FV_SAMPLER_SIGNALS && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* What says that the page is lost may read others of that file, which are lost as well: their SIGBUS comes in between.
 * By the kernel: the functions that change masks have ours in front, which read such pages. */
static void let_in(int how)
{
    const uint64_t bus = UINT64_C(1) << (SIGBUS - 1);

    syscall(SYS_rt_sigprocmask, how, &bus, NULL, sizeof(bus));
}

static bool is_lost(const siginfo_t *info)
{
    if (info->si_code != BUS_ADRERR)
        return false;
    let_in(SIG_UNBLOCK);
    const bool lost = fv_writer_lost(&fv_rt.writer, info->si_addr);
    let_in(SIG_BLOCK);
    return lost;
}

static void on_bus(int signal, siginfo_t *info, void *context)
{
    int saved = errno;

    if (is_lost(info)) {
        errno = saved;
        return;
    }
    if (info->si_code > 0 && fv_signals_ends(SIGBUS)) /* one that was sent may find a lock of ours held */
        fv_fatal_tell(signal, info, context);
    errno = saved;
    fv_signals_pass_on(signal, info, context);
}

static void start(struct fv_thread *self)
{
    (void)self;
    if (!fv_signals_take(SIGBUS, on_bus))
        fv_signals_held &= ~(UINT64_C(1) << (SIGBUS - 1));
}
const struct fv_layer fv_bus_layer = { .at = { [FV_AT_START] = start } };
#else
const struct fv_layer fv_bus_layer = { 0 };
#endif
