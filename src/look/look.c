/* SPDX-License-Identifier: BSD-3-Clause */
/* See look.h. Which system call a thread is in the kernel tells those who may trace the process, and each thread of the
 * process itself. Others may learn where in the kernel it waits, which tells some calls. */
#include "look/look.h"
#include "base/numbers.h"
#include "base/process.h"
#include "look/system_calls.h"
#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t fv_look_number(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) << FV_LOOK_SHIFT;
}

bool fv_look_request_parse(const char *text, struct fv_look_request *out)
{
    unsigned long long number;

    if (sscanf(text, "%llx %u %u", &number, &out->looks, &out->between_ms) != 3 || !out->looks ||
        out->looks > FV_LOOK_MOST || !out->between_ms || out->between_ms > 60000)
        return false;
    out->number = number;
    return true;
}

#define PATIENCE 20 /* ms, for all threads of a process */

struct asking {
    pid_t pid;
    unsigned signal, asked, patience;
    bool is_foreign; /* signals are not allowed */
    uint64_t look;
    fv_look_fn *seen;
    void *context;
};

/* A file of a thread's in /proc; its length, or -1. */
static ssize_t read_of(const struct asking *a, uint32_t tid, const char *name, char *out, size_t bytes)
{
    char path[80];

    snprintf(path, sizeof(path), "/proc/%d/task/%u/%s", (int)a->pid, tid, name);
    return fv_file_read(path, out, bytes);
}

/* ---- its status ---- */

struct status {
    char state, name[16];
    uint64_t blocked, caught; /* bit n - 1: signal n */
};

static bool read_status(const struct asking *a, uint32_t tid, struct status *out)
{
    char text[4096];

    if (read_of(a, tid, "status", text, sizeof(text)) <= 0)
        return false;
    const char *name = fv_file_value(text, "Name:");
    snprintf(out->name, sizeof(out->name), "%.*s", (int)strcspn(name, "\n"), name);
    out->state = *fv_file_value(text, "\nState:");
    out->blocked = strtoull(fv_file_value(text, "\nSigBlk:"), NULL, 16);
    out->caught = strtoull(fv_file_value(text, "\nSigCgt:"), NULL, 16);
    return true;
}

/* ---- its system call ---- */

/* The end of a name stands for it. */
static void name_file(const struct asking *a, uint64_t fd, char out[FV_LOOK_FILE])
{
    char path[64], name[4096];

    snprintf(path, sizeof(path), "/proc/%d/fd/%llu", (int)a->pid, (unsigned long long)fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, path, name, sizeof(name) - 1);
    if (length <= 0)
        return;
    name[length] = '\0';
    snprintf(out, FV_LOOK_FILE, "%.*s", FV_LOOK_FILE - 1,
             length < FV_LOOK_FILE ? name : name + length - (FV_LOOK_FILE - 1));
}

/* Kernel functions in which those wait whose calls are begun anew. */
static bool waits_well(const struct asking *a, uint32_t tid)
{
    static const char *const functions[] = { "pipe_read",  "pipe_wait",        "anon_pipe_read", "anon_pipe_write",
                                             "pipe_write", "wait_for_partner", "do_wait" };
    char where[64];

    if (read_of(a, tid, "wchan", where, sizeof(where)) <= 0)
        return false;
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (!strcmp(where, functions[i]))
            return true;
    return false;
}

/* May it be interrupted? */
static enum fv_look_how read_call(const struct asking *a, uint32_t tid, struct fv_look *out)
{
    char text[256], *at = text;
    uint64_t argument[4] = { 0 };

    if (read_of(a, tid, "syscall", text, sizeof(text)) <= 0) {
        bool is_well = out->state == 'R' || waits_well(a, tid);

        out->system_call = out->state == 'R' ? FV_LOOK_NO_CALL : FV_LOOK_UNKNOWN_CALL;
        return is_well ? FV_LOOK_TAKEN : FV_LOOK_UNSEEN_CALL;
    }
    out->system_call = FV_LOOK_NO_CALL;
    if (text[0] < '0' || text[0] > '9') /* "running", or "-1": in none */
        return FV_LOOK_TAKEN;
    out->system_call = (int32_t)strtol(at, &at, 10);
    for (unsigned i = 0; i < 4; i++)
        argument[i] = strtoull(at, &at, 16);
    memcpy(out->argument, argument, sizeof(out->argument));
    if (fv_system_call_has_file(out->system_call))
        name_file(a, argument[0], out->file);
    return fv_system_call_restarts(out->system_call, argument, out->file) ? FV_LOOK_TAKEN : FV_LOOK_UNRESTARTABLE;
}

/* ---- the signal ---- */

static bool send(const struct asking *a, uint32_t tid)
{
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    info.si_signo = (int)a->signal;
    info.si_code = SI_QUEUE;
    info.si_pid = (pid_t)syscall(SYS_getpid);
    info.si_uid = (uid_t)syscall(SYS_getuid);
    info.si_value.sival_ptr = (void *)(uintptr_t)(FV_LOOK_MARK | a->look);
    return !syscall(SYS_rt_tgsigqueueinfo, a->pid, (pid_t)tid, (int)a->signal, &info);
}

static bool has(uint64_t signals, unsigned signal)
{
    return signal && signals >> (signal - 1) & 1;
}

/* Waits while it runs with the signal blocked, as in a handler, such as one of a clock sample. */
static bool read_when_open(struct asking *a, uint32_t tid, struct status *out)
{
    for (; read_status(a, tid, out); a->patience--) {
        if (!a->patience || out->state != 'R' || !has(out->blocked, a->signal))
            return true;
        syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return false;
}

static void ask(void *context, uint32_t tid)
{
    struct asking *a = context;
    struct fv_look look = { .look = a->look, .tid = tid, .thread = FV_NO_THREAD };
    struct status status;

    if (!read_when_open(a, tid, &status) || status.state == 'Z' || status.state == 'X' ||
        !strncmp(status.name, FV_LOOK_OWN, strlen(FV_LOOK_OWN)))
        return;
    look.state = (uint8_t)status.state;
    enum fv_look_how may = read_call(a, tid, &look);
    look.how = status.state == 'T' || status.state == 't' ? FV_LOOK_STOPPED
               : a->is_foreign                            ? FV_LOOK_FOREIGN
               : !has(status.caught, a->signal)           ? FV_LOOK_NO_SIGNAL
               : has(status.blocked, a->signal)           ? FV_LOOK_BLOCKED
                                                          : (uint8_t)may;
    if (look.how == FV_LOOK_TAKEN && !send(a, tid)) {
        if (errno == ESRCH)
            return;
        look.how = FV_LOOK_NO_SIGNAL;
    }
    a->asked += look.how == FV_LOOK_TAKEN;
    a->seen(a->context, &look);
}

unsigned fv_look_ask(pid_t pid, unsigned signal, uint64_t look, fv_look_fn *seen, void *context)
{
    struct asking a = { pid, signal, 0, PATIENCE, false, look, seen, context };
    char path[40];

    a.is_foreign = syscall(SYS_kill, pid, 0) && errno == EPERM;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    fv_numbers_in(path, ask, &a);
    return a.asked;
}
