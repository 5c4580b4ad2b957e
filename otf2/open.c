/* SPDX-License-Identifier: BSD-3-Clause */
/* See open.h. */
#include "otf2/open.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static struct {
    char *words;
    size_t bytes;
} caught;

static OTF2_ErrorCode on_error(void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
                               const char *format, va_list list)
{
    char words[400];

    (void)data, (void)file, (void)line, (void)function;
    vsnprintf(words, sizeof(words), format ? format : "", list);
    if (!*caught.words) /* the first one is the cause */
        snprintf(caught.words, caught.bytes, "%s%s%s", OTF2_Error_GetDescription(code), *words ? ": " : "", words);
    return code;
}

void fv_otf2_catch(char *words, size_t bytes)
{
    caught.words = words;
    caught.bytes = bytes;
    OTF2_Error_RegisterCallback(words ? on_error : NULL, NULL);
}

enum { OPEN_SECONDS = 10 };
static const char *opening;

static void on_alarm(int number)
{
    (void)number;
    fv_log("%s: the OTF2 library did not read this anchor file within %d s: it is damaged, or its file system hangs; "
           "write the archive again",
           opening, OPEN_SECONDS);
    _exit(1);
}

static OTF2_Reader *open_reader(const char *path)
{
    const struct itimerval seconds = { .it_value.tv_sec = OPEN_SECONDS };
    struct sigaction action = { .sa_handler = on_alarm }, before;
    struct itimerval timer;
    OTF2_Reader *reader;

    opening = path;
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &seconds, &timer);
    reader = OTF2_Reader_Open(path);
    setitimer(ITIMER_REAL, &timer, NULL);
    sigaction(SIGALRM, &before, NULL);
    return reader;
}

/* The library would wait for ever in a FIFO. */
static bool are_regular(const char *path)
{
    const char *const kinds[] = { ".otf2", ".def" };
    const int base = (int)strlen(path) - (int)strlen(".otf2");
    char name[PATH_MAX];
    struct stat status;

    for (unsigned i = 0; i < 2 && base > 0; i++) {
        snprintf(name, sizeof(name), "%.*s%s", base, path, kinds[i]);
        if (!stat(name, &status) && !S_ISREG(status.st_mode)) {
            fv_log("%s: not a regular file", name);
            return false;
        }
    }
    return true;
}

OTF2_Reader *fv_otf2_open(const char *path, char *words)
{
    struct stat status;

    if (stat(path, &status)) {
        fv_log("%s: %s; name the anchor file of an OTF2 archive, such as traces.otf2", path, strerror(errno));
        return NULL;
    }
    if (S_ISDIR(status.st_mode)) {
        fv_log("%s: a directory; name the archive's anchor file in it, such as %s/traces.otf2", path, path);
        return NULL;
    }
    if (!are_regular(path))
        return NULL;
    OTF2_Reader *reader = open_reader(path);
    if (!reader && strstr(words, "requested file substrate")) {
        fv_log("%s: the archive is in a container of SIONlib, which this OTF2 library cannot read; let the tool that "
               "writes it use POSIX files",
               path);
        return NULL;
    }
    if (!reader) {
        fv_log("%s: no anchor file of an OTF2 archive, or damaged (%s); name the file that ends in .otf2", path,
               *words ? words : "the library says no more");
        return NULL;
    }
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    *words = '\0';
    return reader;
}
