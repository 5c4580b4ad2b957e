/* SPDX-License-Identifier: BSD-3-Clause */
/* See whole_file.h. */
#include "tool/whole_file.h"
#include "tool/new_file.h"
#include "tool/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum target { NEW_FILE, OLD_FILE, STREAM, NOT_OURS };

/* A link that leads nowhere, or that another user put there, is a name to be taken. One of the user's own is
 * meant: /dev/stdout is such, and may lead to a regular file, whose place must not be taken. */
static enum target what_is(const char *path, mode_t *mode)
{
    struct stat own, leads_to;

    if (lstat(path, &own) || stat(path, &leads_to))
        return NEW_FILE;
    if (S_ISREG(own.st_mode)) {
        *mode = own.st_mode & 0777;
        return OLD_FILE;
    }
    if (own.st_uid == 0 || own.st_uid == geteuid())
        return STREAM;
    return S_ISREG(leads_to.st_mode) ? NEW_FILE : NOT_OURS;
}

static char *part_of(const char *path)
{
    const char *name = fv_base_name(path);
    size_t bytes = strlen(path) + 40;
    char *part = fv_xcalloc(bytes, 1);

    /* A name that has room for no more is shortened. */
    snprintf(part, bytes, "%.*s.%.200s.%ld.part", (int)(name - path), path, name, (long)getpid());
    return part;
}

/* Of the file that is being written. */
static char *volatile unfinished;

static void remove_unfinished(int signal)
{
    if (unfinished)
        unlink(unfinished);
    raise(signal); /* which now does what it does by default */
}

/* A signal that the caller ignores, or handles, is the caller's. */
static void guard(char *part)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    const struct sigaction action = { .sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND };
    struct sigaction now;

    unfinished = part;
    for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

static void free_names(struct fv_whole_file *f)
{
    unfinished = NULL;
    free(f->path);
    free(f->part);
}

/* The new file, open, in place of what was left under its name. */
static FILE *open_part(const char *part, enum target target, mode_t mode)
{
    int fd = fv_new_file(part, O_WRONLY, 0666);
    FILE *stream;

    if (fd < 0)
        return NULL;
    if (target == OLD_FILE && fchmod(fd, mode))
        errno = 0; /* then it has the user's usual mode */
    stream = fdopen(fd, "w");
    if (!stream) {
        unlink(part);
        close(fd);
    }
    return stream;
}

int fv_whole_file_open(struct fv_whole_file *f, const char *path)
{
    mode_t mode = 0;
    enum target target;

    *f = (struct fv_whole_file){ .stream = stdout };
    if (!strcmp(path, "-"))
        return 0;
    signal(SIGXFSZ, SIG_IGN); /* the limit of a file's size is an error like a full disk */
    target = what_is(path, &mode);
    if (target == NOT_OURS) {
        errno = EPERM;
        return -FV_EIO;
    }
    if (target == STREAM) {
        f->stream = fopen(path, "we");
        return f->stream ? 0 : -FV_EIO;
    }
    if (target == OLD_FILE && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return -FV_EIO;
    f->part = part_of(path);
    guard(f->part);
    f->stream = open_part(f->part, target, mode);
    if (!f->stream) {
        free_names(f);
        return -FV_EIO;
    }
    f->path = fv_xcalloc(strlen(path) + 1, 1);
    strcpy(f->path, path);
    return 0;
}

int fv_whole_file_close(struct fv_whole_file *f, int err)
{
    int why = errno;

    if (!err && (fflush(f->stream) || ferror(f->stream))) {
        why = errno;
        err = -FV_EIO;
    }
    if (f->stream != stdout && fclose(f->stream) && !err) {
        why = errno;
        err = -FV_EIO;
    }
    if (f->part && !err && rename(f->part, f->path)) {
        why = errno;
        err = -FV_EIO;
    }
    if (f->part && err)
        unlink(f->part);
    free_names(f);
    *f = (struct fv_whole_file){ 0 };
    errno = why;
    return err;
}
