/* SPDX-License-Identifier: BSD-3-Clause */
/* See files.h. */
#include "doctor/files.h"
#include "sensors/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { VALUE_MOST = 8192 }; /* a mask of 4096 processors is 1152 bytes long */

int fv_doctor_open(const char *path, int flags)
{
    char whole[PATH_MAX];
    int bytes = snprintf(whole, sizeof(whole), "%s/%s", fv_sensors_root(), path);
    struct stat st;

    if (bytes < 0 || (size_t)bytes >= sizeof(whole)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(whole, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

typedef ssize_t read_fn(void *from, char *to, size_t bytes);

static ssize_t read_file(void *from, char *to, size_t bytes)
{
    return read(*(int *)from, to, bytes);
}

static ssize_t read_packed(void *from, char *to, size_t bytes)
{
    return gzread(from, to, (unsigned)bytes);
}

/* False: not even the first bytes can be read. */
static bool read_all(struct fv_string *text, size_t most, read_fn *read_some, void *from)
{
    ssize_t got = 0;

    fv_string_clear(text);
    while (text->used < most) {
        size_t piece = most - text->used < 65536 ? most - text->used : 65536;

        FV_GROW(text->text, text->room, text->used + piece + 1);
        if ((got = read_some(from, text->text + text->used, piece)) <= 0)
            break;
        text->used += (size_t)got;
    }
    text->text[text->used] = '\0';
    return text->used || !got;
}

const char *fv_doctor_text(struct fv_doctor *d, size_t most, const char *path)
{
    int fd = fv_doctor_open(path, O_RDONLY);
    bool is_read = fd >= 0 && read_all(&d->text, most, read_file, &fd);
    int err = errno;

    if (fd >= 0)
        close(fd);
    errno = err;
    return is_read ? d->text.text : NULL;
}

const char *fv_doctor_value(struct fv_doctor *d, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, path);
    if (!text)
        return NULL;
    size_t length = strnlen(text, VALUE_MOST);
    length = strcspn(text, "\n") < length ? strcspn(text, "\n") : length;
    const char *open = memchr(text, '[', length),
               *close = open ? memchr(open, ']', length - (size_t)(open - text)) : NULL;
    if (close)
        return fv_arena_bytes(&d->arena, open + 1, (size_t)(close - open - 1));
    while (length && strchr(" \t\r", text[length - 1]))
        length--;
    return fv_arena_bytes(&d->arena, text, length);
}

bool fv_doctor_number(struct fv_doctor *d, const char *path, long long *out)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, path);
    char *end;

    errno = 0;
    *out = text ? strtoll(text, &end, 10) : 0;
    return text && end > text && !errno && (!*end || *end == '\n');
}

const char *const *fv_doctor_glob(struct fv_doctor *d, const char *pattern)
{
    enum { MOST = 65536 };
    struct fv_sensor_match *found = fv_xcalloc(MOST, sizeof(*found));
    size_t count = fv_sensor_glob(pattern, found, MOST), used = 0;
    const char **paths = fv_arena_take(&d->arena, (count + 1) * sizeof(*paths));
    char whole[PATH_MAX];

    for (size_t i = 0; i < count; i++) {
        int bytes = snprintf(whole, sizeof(whole), "%s/%s", fv_sensors_root(), found[i].path);

        if (bytes > 0 && (size_t)bytes < sizeof(whole) && !access(whole, F_OK))
            paths[used++] = fv_arena_string(&d->arena, found[i].path);
    }
    free(found);
    return paths;
}

/* ---- the kernel ---- */

/* Packed or not: zlib reads both. "": it cannot be read. */
static void read_config(struct fv_doctor *d)
{
    const char *release = fv_doctor_value(d, "proc/sys/kernel/osrelease");
    char path[300];
    int fd = fv_doctor_open("proc/config.gz", O_RDONLY);

    if (fd < 0 && release && !strchr(release, '/')) {
        snprintf(path, sizeof(path), "boot/config-%.256s", release);
        fd = fv_doctor_open(path, O_RDONLY);
    }
    d->config = "";
    gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    if (read_all(&d->text, FV_DOCTOR_TEXT, read_packed, file) && strstr(d->text.text, "\nCONFIG_"))
        d->config = fv_arena_string(&d->arena, d->text.text);
    gzclose(file);
}

const char *fv_doctor_config(struct fv_doctor *d, const char *option)
{
    char line[100];

    if (!d->config)
        read_config(d);
    if (!*d->config)
        return NULL;
    int bytes = snprintf(line, sizeof(line), "\n%s=", option);
    const char *at = strstr(d->config, line);
    return at ? fv_arena_bytes(&d->arena, at + bytes, strcspn(at + bytes, "\n")) : "";
}

const char *fv_doctor_parameter(struct fv_doctor *d, const char *name)
{
    const char *at = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/cmdline");
    size_t length = strlen(name);

    while (at && *at) {
        size_t word = strcspn(at, " \n");

        if (word >= length && !memcmp(at, name, length) && (word == length || at[length] == '='))
            return fv_arena_bytes(&d->arena, at + length + (word > length), word - length - (word > length));
        at += word + strspn(at + word, " \n");
    }
    return NULL;
}
