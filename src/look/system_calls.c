/* SPDX-License-Identifier: BSD-3-Clause */
/* See system_calls.h. After signal(7), and the kernel where that says less: a futex with a time limit ends with EINTR.
 * Sockets may have a time limit, of which nothing outside of the process knows. Of ioctl() each driver decides. */
#include "look/system_calls.h"

#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum kind {
    ENDS,     /* with EINTR */
    RESTARTS, /* or is not interrupted */
    OF_FILE,  /* restarts, unless it is of a socket */
    OF_FUTEX,
};

static const struct row {
    uint16_t number;
    uint8_t kind; /* enum kind */
    bool has_file;
    const char *name;
} rows[] = {
#define ROW(name, kind, has_file)         \
    {                                     \
        SYS_##name, kind, has_file, #name \
    }
    ROW(read, OF_FILE, true),
    ROW(write, OF_FILE, true),
    ROW(readv, OF_FILE, true),
    ROW(writev, OF_FILE, true),
    ROW(pread64, OF_FILE, true),
    ROW(pwrite64, OF_FILE, true),
    ROW(preadv, OF_FILE, true),
    ROW(pwritev, OF_FILE, true),
    ROW(openat, RESTARTS, false),
    ROW(close, RESTARTS, true),
    ROW(fsync, RESTARTS, true),
    ROW(fdatasync, RESTARTS, true),
    ROW(flock, RESTARTS, true),
    ROW(fcntl, RESTARTS, true),
    ROW(getdents64, RESTARTS, true),
    ROW(lseek, RESTARTS, true),
    ROW(fstat, RESTARTS, true),
    ROW(ftruncate, RESTARTS, true),
    ROW(wait4, RESTARTS, false),
    ROW(waitid, RESTARTS, false),
    ROW(futex, OF_FUTEX, false),
    ROW(sched_yield, RESTARTS, false),
    ROW(mmap, RESTARTS, false),
    ROW(munmap, RESTARTS, false),
    ROW(mprotect, RESTARTS, false),
    ROW(madvise, RESTARTS, false),
    ROW(brk, RESTARTS, false),
    ROW(process_vm_readv, RESTARTS, false),
    ROW(process_vm_writev, RESTARTS, false),
    ROW(ioctl, ENDS, true),
    ROW(fallocate, ENDS, true),
    ROW(accept, ENDS, true),
    ROW(accept4, ENDS, true),
    ROW(connect, ENDS, true),
    ROW(recvfrom, ENDS, true),
    ROW(recvmsg, ENDS, true),
    ROW(sendto, ENDS, true),
    ROW(sendmsg, ENDS, true),
    ROW(ppoll, ENDS, false),
    ROW(pselect6, ENDS, false),
    ROW(epoll_pwait, ENDS, true),
    ROW(nanosleep, ENDS, false),
    ROW(clock_nanosleep, ENDS, false),
    ROW(rt_sigsuspend, ENDS, false),
    ROW(rt_sigtimedwait, ENDS, false),
    ROW(semop, ENDS, false),
    ROW(semtimedop, ENDS, false),
    ROW(msgrcv, ENDS, false),
    ROW(msgsnd, ENDS, false),
    ROW(io_getevents, ENDS, false),
    ROW(restart_syscall, ENDS, false),
#ifdef SYS_io_uring_enter
    ROW(io_uring_enter, ENDS, true),
#endif
#ifdef SYS_poll /* not on AArch64 */
    ROW(open, RESTARTS, false),
    ROW(stat, RESTARTS, false),
    ROW(lstat, RESTARTS, false),
    ROW(poll, ENDS, false),
    ROW(select, ENDS, false),
    ROW(epoll_wait, ENDS, true),
    ROW(pause, ENDS, false),
#endif
};

static const struct row *row_of(int32_t call)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].number == call)
            return &rows[i];
    return NULL;
}

const char *fv_system_call_name(int32_t call, char buffer[32])
{
    const struct row *row = row_of(call);

    if (row)
        return row->name;
    snprintf(buffer, 32, "system call %d", (int)call);
    return buffer;
}

bool fv_system_call_has_file(int32_t call)
{
    const struct row *row = row_of(call);

    return row && row->has_file;
}

/* Where there is no time limit, and of locks that inherit priorities. */
static bool futex_restarts(const uint64_t argument[4])
{
    switch (argument[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: return !argument[3];
    case FUTEX_WAIT_REQUEUE_PI: return false;
    default: return true;
    }
}

bool fv_system_call_restarts(int32_t call, const uint64_t argument[4], const char *file)
{
    const struct row *row = row_of(call);

    if (!row || row->kind == ENDS)
        return false;
    if (row->kind == OF_FILE)
        return strncmp(file, "socket:", strlen("socket:")) != 0;
    return row->kind != OF_FUTEX || futex_restarts(argument);
}
