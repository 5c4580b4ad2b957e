/* The ways in which a process ends by itself, and with what status: exit(), the return from main, quick_exit(), and
 * _exit(), which runs no handler and is therefore interposed. Not of a forked child, who has the handlers, too. */
#include "rt/runtime.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not every C library has it. */
extern int on_exit(void (*function)(int, void *), void *arg) __attribute__((weak));

static pid_t process; /* 0: nothing is recorded */
static struct fv_file_header *header;
static void (*when_over)(void);

static void note(int status)
{
    if (process != getpid())
        return;
    header->exit_status = status;
    __atomic_store_n(&header->exit_seen, 1, __ATOMIC_RELEASE);
}

static void over(void)
{
    if (process == getpid())
        when_over();
}

/* What exit() was given, or main returned. */
static void note_exit(int status, void *unused)
{
    (void)unused;
    note(status);
}

__attribute__((destructor)) static void at_exit(void)
{
    over();
}

void fv_exits_watch(struct fv_file_header *own, void (*function)(void))
{
    header = own;
    when_over = function;
    __atomic_store_n(&process, getpid(), __ATOMIC_RELEASE);
    if (on_exit)
        on_exit(note_exit, NULL);
    at_quick_exit(over); /* behind the program's own */
}

#ifdef PIC
static void (*next_exit)(int), (*next_quick_exit)(int);

__attribute__((constructor)) static void find_next(void)
{
    void *found = dlsym(RTLD_NEXT, "_exit");

    memcpy(&next_exit, &found, sizeof(found));
    found = dlsym(RTLD_NEXT, "quick_exit");
    memcpy(&next_quick_exit, &found, sizeof(found));
}

static _Noreturn void leave_at_once(int status)
{
    note(status & 0xff);
    over();
    if (next_exit)
        next_exit(status);
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
    if (!next_quick_exit)
        find_next();
    note(status & 0xff);
    next_quick_exit(status);
    leave_at_once(status); /* it does not return */
}
#endif
