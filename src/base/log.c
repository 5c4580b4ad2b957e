/* SPDX-License-Identifier: BSD-3-Clause */
/* The one way to say something. A line goes out in a single write(2), so that the lines of many ranks do
 * not mix; stdio would share a lock and a buffer with the application. */
#include "base/base.h"
#include "base/clean.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What descriptor 2 was when we were loaded. An application that starts without stderr gets 2 for its
 * first file, which must not find our lines in it. */
static struct {
    bool known;
    dev_t device;
    ino_t inode;
} stderr_was;

__attribute__((constructor(101))) static void remember_stderr(void)
{
    struct stat st;

    stderr_was.known = !fstat(STDERR_FILENO, &st);
    if (stderr_was.known) {
        stderr_was.device = st.st_dev;
        stderr_was.inode = st.st_ino;
    }
}

static bool is_stderr(void)
{
    struct stat st;

    return stderr_was.known && !fstat(STDERR_FILENO, &st) && st.st_dev == stderr_was.device &&
           st.st_ino == stderr_was.inode;
}

/* Names of files and the like may hold whatever: a terminal gets none of their control characters. */
static FV_COLD size_t clean_line(char *line, size_t room)
{
    char clean[1024];

    fv_words_clean(line, clean, room < sizeof(clean) ? room : sizeof(clean));
    const size_t length = strlen(clean);
    memcpy(line, clean, length);
    return length;
}

/* A reader of stderr that is gone must not kill the application: SIGPIPE is held back while we write, and
 * taken away if it was our write that raised it. */
static void write_line(const char *line, size_t bytes)
{
    sigset_t pipe, before, pending;
    ssize_t n;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    while ((n = write(STDERR_FILENO, line, bytes)) < 0 && errno == EINTR)
        continue;
    if (n < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe, NULL, &(struct timespec){ 0 });
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void (*fv_log_taker)(const char *line);
const char *fv_log_code;

void fv_log(const char *format, ...)
{
    static const char prefix[] = "fvmpi: ";
    char line[1024];
    int saved = errno;
    size_t used = sizeof(prefix) - 1;
    va_list args;

    memcpy(line, prefix, used);
    va_start(args, format);
    int n = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
    va_end(args);
    if (n > 0)
        used += clean_line(line + used, sizeof(line) - used - 1);
    line[used] = '\0';
    if (fv_log_taker)
        fv_log_taker(line + sizeof(prefix) - 1);
    line[used++] = '\n';
    if (!fv_log_taker && is_stderr())
        write_line(line, used);
    errno = saved;
}

const char *fv_strerror(int error)
{
    switch (error < 0 ? -error : error) {
    case 0: return "no error";
    case FV_EIO: return strerror(errno);
    case FV_EFORMAT: return "not a rank file of fvmpi, or damaged beyond use";
    case FV_EVERSION: return "recorded by another version of fvmpi";
    case FV_ENOMEM: return "out of memory, or over a budget";
    case FV_ENOENT: return "no such thing";
    case FV_EINVAL: return "invalid argument";
    }
    return "unknown error";
}
