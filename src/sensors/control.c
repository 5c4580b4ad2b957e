/* SPDX-License-Identifier: BSD-3-Clause */
/* See control.h. */
#include "sensors/control.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool fv_control_path(const char *path, char out[PATH_MAX])
{
    static const char name[] = "/" FV_CONTROL_NAME;
    size_t used = strlen(path);
    struct stat st;

    if (used + sizeof(name) > PATH_MAX)
        return false;
    memcpy(out, path, used + 1);
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        memcpy(out + used, name, sizeof(name));
    return true;
}

/* ---- lines ---- */

static bool take_seconds(const char *text, double *out)
{
    double value = 0, unit = 1;

    for (; *text >= '0' && *text <= '9'; text++)
        value = 10 * value + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            value += (unit /= 10) * (*text - '0');
    *out = value;
    return !*text && value >= FV_CONTROL_LEAST_S && value <= FV_CONTROL_MOST_S;
}

void fv_control_parse(char *line, struct fv_control_command *out)
{
    static const struct {
        const char *word;
        enum fv_control_verb verb;
        bool has_text;
    } verbs[] = {
        { "label", FV_CONTROL_LABEL, true },       { "pause", FV_CONTROL_PAUSE, false },
        { "resume", FV_CONTROL_RESUME, false },    { "rotate", FV_CONTROL_ROTATE, false },
        { "interval", FV_CONTROL_INTERVAL, true }, { "record", FV_CONTROL_RECORD, true },
    };
    size_t word = strcspn(line, " \t"), i = 0;
    char *text = line + word;

    *out = (struct fv_control_command){
        FV_CONTROL_WRONG, line, 0, false,
        "no such command; the commands are label TEXT, pause, resume, interval S, rotate, record FILE"
    };
    while (i < sizeof(verbs) / sizeof(*verbs) && (strlen(verbs[i].word) != word || memcmp(verbs[i].word, line, word)))
        i++;
    if (i == sizeof(verbs) / sizeof(*verbs))
        return;
    text += strspn(text, " \t");
    if (!*text == verbs[i].has_text)
        out->why = *text ? "this command takes nothing" : "its value is missing";
    else if (verbs[i].verb == FV_CONTROL_INTERVAL && !take_seconds(text, &out->interval_s))
        out->why = "interval takes seconds, from 0.001 to 86400";
    else
        *out = (struct fv_control_command){ verbs[i].verb, text, out->interval_s, false, NULL };
}

/* Blanks around it, and a carriage return behind it, are no part of a line. */
static bool take_line(struct fv_control *c, struct fv_control_command *out)
{
    size_t blanks;
    bool is_cut = c->is_cut;

    while (c->used && strchr(" \t\r", c->line[c->used - 1]))
        c->used--;
    c->line[c->used] = '\0';
    c->used = 0;
    c->is_cut = false;
    blanks = strspn(c->line, " \t\r");
    if (!c->line[blanks])
        return false;
    fv_control_parse(c->line + blanks, out);
    out->is_cut = is_cut;
    return true;
}

bool fv_control_next(struct fv_control *c, struct fv_control_command *out)
{
    while (c->at < c->end) {
        char next = c->read[c->at++];

        if (next == '\n') {
            if (take_line(c, out))
                return true;
        } else if (c->used < FV_CONTROL_LINE - 1) {
            c->line[c->used++] = next ? next : ' ';
        } else {
            c->is_cut = true;
        }
    }
    return false;
}

/* ---- the FIFO ---- */

bool fv_control_load(struct fv_control *c)
{
    ssize_t got = c->fd < 0 || c->at < c->end ? 0 : read(c->fd, c->read, sizeof(c->read));

    if (got <= 0)
        return false;
    c->at = 0;
    c->end = (size_t)got;
    return true;
}

static bool is_ours(const struct stat *st)
{
    return S_ISFIFO(st->st_mode) && st->st_uid == geteuid();
}

static bool is_left_behind(const char *path)
{
    struct stat st;
    int fd;

    if (lstat(path, &st) || !is_ours(&st))
        return false;
    if ((fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)) >= 0)
        close(fd);
    return fd < 0 && errno == ENXIO;
}

static int make(const char *path)
{
    if (!mkfifo(path, 0600))
        return 0;
    if (errno == EEXIST && is_left_behind(path) && !unlink(path))
        return mkfifo(path, 0600);
    errno = errno == ENXIO ? EEXIST : errno;
    return -1;
}

int fv_control_open(struct fv_control *c, const char *path)
{
    struct stat st;

    c->fd = -1;
    c->is_cut = false;
    c->used = c->at = c->end = 0;
    if (!fv_control_path(path, c->path)) {
        errno = ENAMETOOLONG;
        return -FV_EIO;
    }
    if (make(c->path))
        return -FV_EIO;
    c->fd = open(c->path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (c->fd >= 0 && !fstat(c->fd, &st) && is_ours(&st)) {
        c->device = st.st_dev;
        c->inode = st.st_ino;
        return 0;
    }
    if (c->fd >= 0) { /* somebody put another file there */
        close(c->fd);
        c->fd = -1;
        errno = EEXIST;
    }
    return -FV_EIO;
}

void fv_control_close(struct fv_control *c)
{
    struct stat st;

    if (c->fd < 0)
        return;
    if (!lstat(c->path, &st) && st.st_dev == c->device && st.st_ino == c->inode)
        unlink(c->path);
    close(c->fd);
    c->fd = -1;
}

int fv_control_send(const char *path, const char *line)
{
    size_t bytes = strlen(line);
    char whole[FV_CONTROL_LINE];
    int err = 0, fd, saved;
    struct stat st;

    if (bytes >= sizeof(whole) || strchr(line, '\n'))
        return -FV_EINVAL;
    memcpy(whole, line, bytes);
    whole[bytes++] = '\n';
    if ((fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)) < 0)
        return -FV_EIO;
    if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
        err = -FV_EFORMAT;
    else if (write(fd, whole, bytes) != (ssize_t)bytes)
        err = -FV_EIO;
    saved = errno;
    close(fd);
    errno = saved;
    return err;
}
