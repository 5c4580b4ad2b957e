/* The ways in which a process ends by itself, and with what status: exit(), the return from main, quick_exit(), and
 * _exit(), which runs no handler and is therefore interposed. Not of a forked child, who has the handlers, too. */
#include "rt/layers.h"
#include "rt/next.h"
#include "rt/thread.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not every C library has it. */
extern int on_exit(void (*function)(int, void *), void *arg) __attribute__((weak));

static void note(int status)
{
    if (!fv_rt_here())
        return;
    fv_rt.writer.header->exit_status = status;
    __atomic_store_n(&fv_rt.writer.header->exit_seen, 1, __ATOMIC_RELEASE);
}

static void over(void)
{
    if (fv_rt_here())
        fv_exiting();
}

/* What exit() was given, or main returned. */
static void note_exit(int status, void *unused)
{
    (void)unused;
    note(status);
}

__attribute__((destructor)) static void at_exit(void)
{
    if (fv_rt_here())
        fv_layers_tell(FV_AT_EXIT, fv_self);
    over();
}

static void start(struct fv_thread *self)
{
    (void)self;
    uint64_t signals = fv_signals_hold();
    if (on_exit)
        on_exit(note_exit, NULL);
    at_quick_exit(over); /* behind the program's own */
    fv_signals_go_on(signals);
}
const struct fv_layer fv_exits_layer = { .at = { [FV_AT_START] = start } };

#ifdef PIC
static _Noreturn void leave_at_once(int status)
{
    note(status & 0xff);
    over();
    if (fv_next._exit)
        fv_next._exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

FV_PUBLIC _Noreturn void _exit(int status)
{
    leave_at_once(status);
}

FV_PUBLIC _Noreturn void _Exit(int status)
{
    leave_at_once(status);
}

FV_PUBLIC _Noreturn void quick_exit(int status)
{
    note(status & 0xff);
    FV_NEXT(quick_exit)(status);
    leave_at_once(status); /* it does not return */
}
#endif
