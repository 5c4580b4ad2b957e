/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways in which a process ends by itself, and with what status: exit(), the return from main, quick_exit(), and
 * _exit(), which runs no handler and is therefore interposed; and exec(), after which it is another program. Not of a
 * forked child, who has the handlers, too. */
#include "rt/layers.h"
#include "rt/next.h"
#include "rt/thread.h"
#include "rt/turns.h"
#include "rt/unseen_mpi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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
    if (!fv_rt_here())
        return;
    fv_turns_end();
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
    fv_unseen_end(false, status & 0xff);
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

/* ---- exec() ---- */

/* The C library's, each by name: a program may have an execv() of its own that calls execl(). They return only where
 * they fail. */

/* `path`: NULL where it is not known. */
static bool tell(const char *path, char *const environment[])
{
    fv_unseen_exec(path, environment);
    return fv_rt_here() && fv_replacing();
}

static int failed(int result, bool was_told)
{
    int error = errno;

    if (was_told)
        fv_exec_failed();
    errno = error;
    return result;
}

static int become(const char *path, char *const arguments[])
{
    bool is_told = tell(path, environ);

    return failed(FV_NEXT(execv)(path, arguments), is_told);
}

static int become_found(const char *file, char *const arguments[])
{
    bool is_told = tell(strchr(file, '/') ? file : NULL, environ);

    return failed(FV_NEXT(execvp)(file, arguments), is_told);
}

static int become_with(const char *path, char *const arguments[], char *const environment[])
{
    bool is_told = tell(path, environment);

    return failed(FV_NEXT(execve)(path, arguments, environment), is_told);
}

FV_PUBLIC int execv(const char *path, char *const arguments[])
{
    return become(path, arguments);
}

FV_PUBLIC int execvp(const char *file, char *const arguments[])
{
    return become_found(file, arguments);
}

FV_PUBLIC int execve(const char *path, char *const arguments[], char *const environment[])
{
    return become_with(path, arguments, environment);
}

FV_PUBLIC int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    bool is_told = tell(strchr(file, '/') ? file : NULL, environment);

    return failed(FV_NEXT(execvpe)(file, arguments, environment), is_told);
}

FV_PUBLIC int fexecve(int descriptor, char *const arguments[], char *const environment[])
{
    bool is_told = tell(NULL, environment);

    return failed(FV_NEXT(fexecve)(descriptor, arguments, environment), is_told);
}
#if FV_HAVE_EXECVEAT

FV_PUBLIC int execveat(int folder, const char *path, char *const arguments[], char *const environment[], int flags)
{
    bool is_told = tell(NULL, environment);

    return failed(FV_NEXT(execveat)(folder, path, arguments, environment, flags), is_told);
}
#endif

enum form { BY_PATH, BY_NAME, WITH_ENVIRONMENT };

/* FIRST, ..., NULL, on the stack as in the C library: this may be a signal handler, or a child of vfork(). */
static int become_list(enum form form, const char *file, const char *first, va_list list)
{
    size_t count = 0;
    va_list again;

    va_copy(again, list);
    for (const char *argument = first; argument; argument = va_arg(again, const char *))
        count++;
    va_end(again);
    char *arguments[count + 1];
    arguments[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++)
        arguments[i] = va_arg(list, char *);
    if (form == WITH_ENVIRONMENT)
        return become_with(file, arguments, va_arg(list, char *const *));
    return form == BY_PATH ? become(file, arguments) : become_found(file, arguments);
}

FV_PUBLIC int execl(const char *path, const char *first, ...)
{
    va_list list;

    va_start(list, first);
    int result = become_list(BY_PATH, path, first, list);
    va_end(list);
    return result;
}

FV_PUBLIC int execlp(const char *file, const char *first, ...)
{
    va_list list;

    va_start(list, first);
    int result = become_list(BY_NAME, file, first, list);
    va_end(list);
    return result;
}

FV_PUBLIC int execle(const char *path, const char *first, ...)
{
    va_list list;

    va_start(list, first);
    int result = become_list(WITH_ENVIRONMENT, path, first, list);
    va_end(list);
    return result;
}
#endif
