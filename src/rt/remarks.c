/* SPDX-License-Identifier: BSD-3-Clause */
/* See remarks.h. The first few are kept: whatever goes wrong does so for the same few reasons. */
#include "rt/remarks.h"
#include "base/scope.h"
#include "rt/process.h"
#include "rt/rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define REMARKS ((FV_PAGE - sizeof(struct fv_chunk_header)) / sizeof(struct fv_remark_record)) /* a page of them */
#define WORK    0.05 /* of the process's own CPU time, ... */
#define WORK_S  0.1  /* ... and so much of it: what children use before the report mentions them */

static struct fv_remark_record remarks[REMARKS];
static unsigned count, written;
static struct fv_lock lock;
static struct fv_chunk_header *chunk;

static bool is_known(const struct fv_remark_record *remark)
{
    for (unsigned i = 0; i < count; i++)
        if (!memcmp(&remarks[i], remark, sizeof(*remark)))
            return true;
    return false;
}

/* With the lock. A forked child has no file. */
static void write_all(void)
{
    if (!fv_rt.writer.header)
        return;
    if (written < count && !chunk)
        chunk = fv_writer_try_chunk(&fv_rt.writer, FV_CHUNK_REMARKS, FV_NO_THREAD, 0, sizeof(remarks));
    for (; chunk && written < count; written++) {
        memcpy(fv_chunk_next(chunk), &remarks[written], sizeof(remarks[written]));
        fv_chunk_commit(chunk, sizeof(remarks[written]));
    }
}

/* NULL: what there is already. */
static void keep(const struct fv_remark_record *remark)
{
    struct fv_scope scope = fv_scope_enter();

    if (fv_try_lock(&lock)) {
        if (remark && count < REMARKS && !is_known(remark))
            remarks[count++] = *remark;
        write_all();
        fv_unlock(&lock);
    }
    fv_scope_leave(&scope);
}

void fv_remark_forks(void)
{
    keep(&(struct fv_remark_record){ .text = "it made child processes by fork(), which are not recorded",
                                     .kind = FV_REMARK_FORKS });
}

static double cpu_s(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

void fv_remark_children(void)
{
    struct rusage of_children, own;

    if (getrusage(RUSAGE_CHILDREN, &of_children) || of_children.ru_minflt + of_children.ru_majflt == 0)
        return;
    if (!getrusage(RUSAGE_SELF, &own) && cpu_s(&of_children) > WORK_S && cpu_s(&of_children) > WORK * cpu_s(&own))
        keep(&(struct fv_remark_record){
            .text = "it waited for child processes, which are not recorded unless they call MPI",
            .kind = FV_REMARK_WORKERS });
    else
        keep(&(struct fv_remark_record){ .text = "it waited for child processes", .kind = FV_REMARK_CHILDREN });
}

void fv_remark(bool aloud, const char *format, ...)
{
    struct fv_remark_record remark = { .text = "" };
    va_list args;

    va_start(args, format);
    int n = vsnprintf(remark.text, sizeof(remark.text), format, args);
    va_end(args);
    if (aloud && n > 0)
        fv_log("%s", remark.text);
    keep(&remark);
}

void fv_remarks_write(void)
{
    keep(NULL);
}
