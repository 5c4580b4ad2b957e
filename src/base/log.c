/* The one way to say something. A line goes out in a single write(2), so that the lines of many ranks do
 * not mix; stdio would share a lock and a buffer with the application. */
#include "base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
        used += (size_t)n < sizeof(line) - used - 1 ? (size_t)n : sizeof(line) - used - 2;
    line[used++] = '\n';
    while (write(STDERR_FILENO, line, used) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

const char *fv_strerror(int error)
{
    switch (error < 0 ? -error : error) {
    case 0: return "no error";
    case FV_EIO: return strerror(errno);
    case FV_EFORMAT: return "not an fvmpi rank file, or damaged beyond use";
    case FV_EVERSION: return "written by a newer version of fvmpi";
    case FV_ENOMEM: return "out of memory, or over a budget";
    case FV_ENOENT: return "no such thing";
    case FV_EINVAL: return "invalid argument";
    }
    return "unknown error";
}
