/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc tells: processes of this host and its boot. No malloc, no stdio streams; errno may change. Where
 * /proc is hidden (hidepid, or another process namespace) only processes of the same user, or none, are seen.
 */
#ifndef FV_PROCESS_H
#define FV_PROCESS_H

#include "base/base.h"

#include <sys/types.h>

struct fv_process {
    pid_t pid, parent; /* parent 0: none that can be seen from here */
    char state;        /* R, S, Z, ... as in proc(5) */
    uint64_t start;    /* in the kernel's ticks (sysconf(_SC_CLK_TCK)) since boot */
    char name[32];     /* as the kernel keeps it: 15 characters */
};

/* false: there is none, or it is hidden. */
bool fv_process_read(pid_t pid, struct fv_process *out);

/* Does the process that got this number at that time still run? Numbers are used again. */
bool fv_process_runs(pid_t pid, uint64_t start);

/* The service of systemd that a process is of, by its /proc/PID/cgroup: "0::/system.slice/cron.service" is of "cron".
 * The name's length, and where it stands in the text; 0: it is of none. The innermost service counts. */
size_t fv_service_name(const char *cgroup, const char **name);

/* Of this boot of this host's kernel; false, and zeros: unknown. */
bool fv_boot_id(uint8_t out[16]);

/* A small file, cut to size - 1 bytes, with a NUL behind; its length, or -1. No place where a thread is cancelled. */
ssize_t fv_file_read(const char *path, char *out, size_t size);
/* In such a file's text, what stands behind "\nName:", without blanks before it; "": it has no such line. */
const char *fv_file_value(const char *text, const char *name);

#endif
