/* The ways in which a process ends by itself, and with what status: exit(), the return from main, quick_exit(), and
 * _exit(), which runs no handler and is therefore interposed; and exec(), after which it is another program. Not of a forked child, who has
 * the handlers, too. */
#include "rt/layers.h"
#include "rt/next.h"
#include "rt/thread.h"

#include <errno.h>
#include <stdarg.h>
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

/* ---- exec() ---- */

/* They return only where they fail. */
static int failed(int result, bool was_told)
{
    int error = errno;

    if (was_told)
        fv_exec_failed();
    errno = error;
    return result;
}

static bool tell(void)
{
    return fv_rt_here() && fv_replacing();
}

FV_PUBLIC int execve(const char *path, char *const arguments[], char *const environment[])
{
    bool is_told = tell();

    return failed(FV_NEXT(execve)(path, arguments, environment), is_told);
}

FV_PUBLIC int execv(const char *path, char *const arguments[])
{
    bool is_told = tell();

    return failed(FV_NEXT(execv)(path, arguments), is_told);
}

FV_PUBLIC int execvp(const char *file, char *const arguments[])
{
    bool is_told = tell();

    return failed(FV_NEXT(execvp)(file, arguments), is_told);
}

FV_PUBLIC int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    bool is_told = tell();

    return failed(FV_NEXT(execvpe)(file, arguments, environment), is_told);
}

FV_PUBLIC int fexecve(int descriptor, char *const arguments[], char *const environment[])
{
    bool is_told = tell();

    return failed(FV_NEXT(fexecve)(descriptor, arguments, environment), is_told);
}
#if FV_HAVE_EXECVEAT

FV_PUBLIC int execveat(int folder, const char *path, char *const arguments[], char *const environment[], int flags)
{
    bool is_told = tell();

    return failed(FV_NEXT(execveat)(folder, path, arguments, environment, flags), is_told);
}
#endif

/* Those that take a list: FIRST, ..., NULL becomes `arguments`, on the stack as in the C library, as this may be a signal handler, or a child
 * of vfork(). `list` is behind the NULL afterwards. */
static size_t count_of(const char *first, va_list list)
{
    size_t count = 0;

    for (const char *argument = first; argument; count++)
        argument = va_arg(list, const char *);
    return count;
}

static void take(const char *first, size_t count, va_list list, char **arguments)
{
    for (size_t i = 0; i <= count; i++)
        arguments[i] = i ? va_arg(list, char *) : (char *)(uintptr_t)first;
}

#define ARGUMENTS(first)                   \
    va_list list;                          \
    va_start(list, first);                 \
    size_t count = count_of(first, list);  \
    va_end(list);                          \
    char *arguments[count + 1];            \
    va_start(list, first);                 \
    take(first, count, list, arguments)

FV_PUBLIC int execl(const char *path, const char *first, ...)
{
    ARGUMENTS(first);
    va_end(list);
    return execv(path, arguments);
}

FV_PUBLIC int execlp(const char *file, const char *first, ...)
{
    ARGUMENTS(first);
    va_end(list);
    return execvp(file, arguments);
}

FV_PUBLIC int execle(const char *path, const char *first, ...)
{
    ARGUMENTS(first);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}
#endif
