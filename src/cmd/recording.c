/* SPDX-License-Identifier: BSD-3-Clause */
/* See recording.h. */
#include "cmd/recording.h"
#include "base/experiment.h"
#include "base/process.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { HELD_BYTES = 1 << 18 }; /* about as many at most */

/* ---- the file ---- */

static void file_name(const struct fv_recording *r, size_t number, char out[PATH_MAX + 24])
{
    if (number)
        snprintf(out, PATH_MAX + 24, "%s.%04zu", r->path, number + 1);
    else
        memcpy(out, r->path, strlen(r->path) + 1);
}

/* Of what could not be written whole, the last line is taken back, as far as that is possible: a reader knows torn
 * ones. */
static void take_back(struct fv_recording *r, size_t written)
{
    int saved = errno;

    while (written && r->lines.text[written - 1] != '\n')
        written--;
    r->bytes += written;
    if (ftruncate(r->fd, (off_t)r->bytes))
        errno = saved;
}

static void flush(struct fv_recording *r)
{
    char path[PATH_MAX + 24];
    size_t written = 0;
    ssize_t more = 1;

    if (r->has_failed)
        r->lines.used = 0;
    for (; written < r->lines.used && more > 0; written += more > 0 ? (size_t)more : 0) /* a second write() says why the
                                                                                         * first one was short */
        more = write(r->fd, r->lines.text + written, r->lines.used - written);
    if (written == r->lines.used) {
        r->bytes += written;
    } else {
        take_back(r, written);
        file_name(r, r->number, path);
        fv_log("record: %s: %s%s", path, strerror(errno), r->bytes ? "; it has what was recorded until now" : "");
        r->has_failed = true;
    }
    r->lines.used = 0;
    r->oldest_ns = 0;
}

/* A new file, of which nothing was there. -1: errno tells. */
static int make_file(struct fv_recording *r, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0666);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st)) {
        close(fd);
        return -1;
    }
    FV_GROW(r->files, r->file_room, r->file_count + 1);
    r->files[r->file_count++] = (struct fv_recording_file){ st.st_dev, st.st_ino };
    return fd;
}

static void put_command(struct fv_recording *r)
{
    fv_jsonl_text(&r->lines, ",\"command\":");
    for (size_t i = 0; r->command && r->command[i]; i++) {
        fv_jsonl_text(&r->lines, i ? "," : "[");
        fv_jsonl_string(&r->lines, r->command[i]);
    }
    fv_jsonl_text(&r->lines, r->command ? "]" : "null");
}

static void put_header(struct fv_recording *r)
{
    r->bytes = 0;
    r->samples = 0;
    fv_jsonl_text(&r->lines, "{\"schema\":\"" FV_RECORDING_SCHEMA "\",\"file\":");
    fv_jsonl_whole(&r->lines, r->number + 1);
    fv_jsonl_machine(&r->lines);
    fv_jsonl_text(&r->lines, ",\"start_realtime_ns\":");
    fv_jsonl_whole(&r->lines, (uint64_t)r->start_realtime_ns);
    fv_jsonl_text(&r->lines, ",\"start_monotonic_ns\":");
    fv_jsonl_whole(&r->lines, (uint64_t)r->start_ns);
    put_command(r);
    fv_jsonl_sensors(&r->lines, r->watch, r->interval_s);
    fv_jsonl_series(&r->lines, r->watch);
    fv_jsonl_text(&r->lines, "}\n");
    flush(r);
}

/* Is the file still ours? Then it may go. */
static void drop_oldest(const struct fv_recording *r)
{
    char path[PATH_MAX + 24];
    size_t number = r->number - r->keep;
    struct stat st;

    file_name(r, number, path);
    if (!lstat(path, &st) && st.st_dev == r->files[number].device && st.st_ino == r->files[number].inode)
        unlink(path);
}

void fv_recording_rotate(struct fv_recording *r)
{
    char path[PATH_MAX + 24];
    int fd;

    if (r->has_failed)
        return;
    file_name(r, r->number + 1, path);
    if ((fd = make_file(r, path)) < 0) {
        fv_log("record: %s: %s; what was recorded until now is in the previous file", path, strerror(errno));
        flush(r);
        r->has_failed = true;
        return;
    }
    fv_jsonl_key_string(&r->lines, "{\"continued\":", fv_base_name(path));
    fv_jsonl_text(&r->lines, "}\n");
    flush(r);
    close(r->fd);
    r->fd = fd;
    r->number++;
    if (!r->has_failed)
        put_header(r);
    if (r->has_failed)
        unlink(path); /* it is empty */
    if (r->keep && r->number >= r->keep)
        drop_oldest(r);
}

static void end_line(struct fv_recording *r, int64_t at_ns)
{
    fv_jsonl_text(&r->lines, "}\n");
    if (!r->oldest_ns)
        r->oldest_ns = at_ns;
    if (r->lines.used >= HELD_BYTES)
        flush(r);
    if (r->rotate_bytes && r->samples && r->bytes + r->lines.used >= r->rotate_bytes)
        fv_recording_rotate(r);
}

void fv_recording_flush(struct fv_recording *r, int64_t next_ns)
{
    if (r->oldest_ns && next_ns - r->oldest_ns > (int64_t)FV_RECORDING_HELD_S * 1000000000)
        flush(r);
}

/* ---- what is recorded ---- */

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* In one second more than one may begin. */
static int make_first(struct fv_recording *r, const char *path)
{
    struct utsname name;
    char time[32];
    int fd = -1;

    if (path) {
        if ((size_t)snprintf(r->path, sizeof(r->path), "%s", path) < sizeof(r->path))
            return make_file(r, r->path);
        errno = ENAMETOOLONG;
        return -1;
    }
    fv_format_utc(time, sizeof(time), r->start_realtime_ns / 1000000000);
    uname(&name);
    for (int i = 1; i < 100 && fd < 0 && (i == 1 || errno == EEXIST); i++) {
        snprintf(r->path, sizeof(r->path), i > 1 ? "fvmpi-record-%s-%s-%d.jsonl" : "fvmpi-record-%s-%s.jsonl",
                 name.nodename, time, i);
        fd = make_file(r, r->path);
    }
    return fd;
}

int fv_recording_open(struct fv_recording *r, const char *path)
{
    r->start_ns = now_ns(CLOCK_MONOTONIC);
    r->start_realtime_ns = now_ns(CLOCK_REALTIME);
    if ((r->fd = make_first(r, path)) < 0) {
        fv_log("record: %s: %s%s", r->path, strerror(errno),
               errno == EEXIST ? "; no file is overwritten: name another one" : "");
        return -FV_EIO;
    }
    put_header(r);
    if (!r->has_failed)
        return 0;
    unlink(r->path);
    fv_recording_close(r);
    return -FV_EIO;
}

void fv_recording_sample(struct fv_recording *r, int64_t at_ns, int64_t late_ns, int64_t cost_ns)
{
    fv_jsonl_sample(&r->lines, r->watch, at_ns - r->start_ns, late_ns, cost_ns);
    r->samples++;
    end_line(r, at_ns);
}

void fv_recording_label(struct fv_recording *r, int64_t at_ns, const char *text)
{
    fv_jsonl_key_string(&r->lines, "{\"label\":", text);
    fv_jsonl_text(&r->lines, ",");
    fv_jsonl_time(&r->lines, at_ns - r->start_ns);
    end_line(r, at_ns);
}

void fv_recording_pause(struct fv_recording *r, int64_t at_ns, bool is_paused)
{
    fv_jsonl_text(&r->lines, is_paused ? "{\"paused\":true," : "{\"paused\":false,");
    fv_jsonl_time(&r->lines, at_ns - r->start_ns);
    end_line(r, at_ns);
}

void fv_recording_interval(struct fv_recording *r, int64_t at_ns, double interval_s)
{
    r->interval_s = interval_s;
    fv_jsonl_text(&r->lines, "{");
    fv_jsonl_time(&r->lines, at_ns - r->start_ns);
    fv_jsonl_sensors(&r->lines, r->watch, r->interval_s);
    end_line(r, at_ns);
}

void fv_recording_names(const struct fv_recording *r, struct fv_recording_names *out)
{
    size_t first = r->keep && r->number >= r->keep ? r->number - r->keep + 1 : 0;

    *out = (struct fv_recording_names){ .are_some_gone = first > 0 };
    file_name(r, first, out->first);
    if (first < r->number)
        file_name(r, r->number, out->last);
}

void fv_recording_end(struct fv_recording *r, int64_t at_ns, const struct fv_recording_end *end)
{
    fv_jsonl_key_string(&r->lines, "{\"end\":", end->reason);
    fv_jsonl_text(&r->lines, ",");
    fv_jsonl_time(&r->lines, at_ns - r->start_ns);
    fv_jsonl_text(&r->lines, ",\"samples\":");
    fv_jsonl_whole(&r->lines, end->samples);
    fv_jsonl_text(&r->lines, ",\"late\":");
    fv_jsonl_whole(&r->lines, end->late);
    fv_jsonl_text(&r->lines, ",\"missed\":");
    fv_jsonl_whole(&r->lines, end->missed);
    fv_jsonl_text(&r->lines, ",\"cpu_s\":");
    fv_jsonl_real(&r->lines, end->cpu_s);
    fv_jsonl_text(&r->lines, ",\"memory_bytes\":");
    fv_jsonl_whole(&r->lines, end->memory_bytes);
    fv_jsonl_text(&r->lines, "}\n");
    flush(r);
}

void fv_recording_close(struct fv_recording *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    fv_jsonl_release(&r->lines);
    free(r->files);
    r->files = NULL;
}
