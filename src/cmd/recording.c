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

/* ---- lines ---- */

static void put(struct fv_recording *r, const char *text, size_t bytes)
{
    FV_GROW(r->text, r->room, r->used + bytes);
    memcpy(r->text + r->used, text, bytes);
    r->used += bytes;
}

static void put_text(struct fv_recording *r, const char *text)
{
    put(r, text, strlen(text));
}

static void put_whole(struct fv_recording *r, uint64_t value)
{
    char digits[FV_DIGITS];

    put(r, digits, fv_words_digits(value, digits));
}

static void put_string(struct fv_recording *r, const char *text)
{
    char next[FV_CLEAN];

    put(r, "\"", 1);
    for (size_t length; (length = fv_words_clean_next(&text, next)) > 0;)
        for (size_t i = 0; i < length; i++) {
            if (next[i] == '"' || next[i] == '\\')
                put(r, "\\", 1);
            put(r, next + i, 1);
        }
    put(r, "\"", 1);
}

/* value / 10^decimals, without zeros at its end. */
static void put_fixed(struct fv_recording *r, uint64_t value, unsigned decimals)
{
    char digits[FV_DIGITS], out[FV_DIGITS + 16];
    size_t length, whole, used = 0;

    for (; decimals && value % 10 == 0; decimals--)
        value /= 10;
    length = fv_words_digits(value, digits);
    whole = length > decimals ? length - decimals : 0;
    if (!whole)
        out[used++] = '0';
    memcpy(out + used, digits, whole);
    used += whole;
    if (decimals)
        out[used++] = '.';
    for (size_t i = length; i < decimals; i++)
        out[used++] = '0';
    memcpy(out + used, digits + whole, length - whole);
    put(r, out, used + length - whole);
}

/* Whole numbers exactly, others with 7 digits: most are zeros, and printf() would take longer than to read the sensors. */
static void put_real(struct fv_recording *r, double value)
{
    double size = fabs(value);
    unsigned decimals = 0;
    char text[40];

    if (!isfinite(value)) {
        put(r, "null", 4);
        return;
    }
    if (size >= 1e15 || (size < 1e-4 && size > 0)) {
        put(r, text, (size_t)snprintf(text, sizeof(text), "%.7g", value));
        return;
    }
    if (value < 0)
        put(r, "-", 1);
    if (size != floor(size))
        for (; size < 1e6 && decimals < 11; decimals++)
            size *= 10;
    put_fixed(r, (uint64_t)(size + 0.5), decimals);
}

static void put_seconds(struct fv_recording *r, int64_t ns)
{
    put_fixed(r, ns > 0 ? (uint64_t)ns : 0, 9);
}

static void put_time(struct fv_recording *r, int64_t at_ns)
{
    put_text(r, "\"time_s\":");
    put_seconds(r, at_ns - r->start_ns);
}

static void put_key_string(struct fv_recording *r, const char *key, const char *value)
{
    put_text(r, key);
    put_string(r, value);
}

/* ---- the file ---- */

static void file_name(const struct fv_recording *r, size_t number, char out[PATH_MAX + 24])
{
    if (number)
        snprintf(out, PATH_MAX + 24, "%s.%04zu", r->path, number + 1);
    else
        memcpy(out, r->path, strlen(r->path) + 1);
}

/* Of what could not be written whole, the last line is taken back, as far as that is possible: a reader knows torn ones. */
static void take_back(struct fv_recording *r, size_t written)
{
    int saved = errno;

    while (written && r->text[written - 1] != '\n')
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
        r->used = 0;
    for (; written < r->used && more > 0; written += more > 0 ? (size_t)more : 0) /* a second write() says why the first one was short */
        more = write(r->fd, r->text + written, r->used - written);
    if (written == r->used) {
        r->bytes += written;
    } else {
        take_back(r, written);
        file_name(r, r->number, path);
        fv_log("record: %s: %s%s", path, strerror(errno), r->bytes ? "; what was recorded until now is in it" : "");
        r->has_failed = true;
    }
    r->used = 0;
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

static void put_series(struct fv_recording *r)
{
    put_text(r, ",\"series\":[");
    for (size_t i = 0; i < r->watch->count; i++) {
        const struct fv_watched *one = &r->watch->series[i];
        const struct fv_sensor *sensor = fv_watch_sensor(r->watch, i);
        const struct fv_sensor_event *event = fv_watch_event(r->watch, i);

        put_key_string(r, i ? ",{\"label\":" : "{\"label\":", one->label);
        put_key_string(r, ",\"sensor\":", sensor->kind->name);
        put_key_string(r, ",\"event\":", event->name);
        put_text(r, ",\"source\":");
        if (one->source == FV_WATCH_ALL)
            put_text(r, "null");
        else
            put_string(r, sensor->sources[one->source]);
        put_key_string(r, ",\"unit\":", event->unit);
        put_text(r, event->is_gauge ? ",\"kind\":\"gauge\"}" : ",\"kind\":\"counter\"}");
    }
    put_text(r, "]");
}

static void put_sensors(struct fv_recording *r)
{
    bool any = false;

    put_text(r, ",\"interval_s\":");
    put_real(r, r->interval_s);
    put_text(r, ",\"sensors\":[");
    for (size_t i = 0; i < r->watch->sensor_count; i++) {
        const struct fv_watched_sensor *one = &r->watch->sensors[i];

        if (!one->is_used)
            continue;
        put_key_string(r, any ? ",{\"name\":" : "{\"name\":", one->sensor.kind->name);
        put_text(r, ",\"every\":");
        put_whole(r, one->every);
        put_text(r, ",\"cost_s\":");
        put_real(r, one->sensor.cost_s);
        put_text(r, "}");
        any = true;
    }
    put_text(r, "]");
}

static void put_command(struct fv_recording *r)
{
    put_text(r, ",\"command\":");
    for (size_t i = 0; r->command && r->command[i]; i++) {
        put_text(r, i ? "," : "[");
        put_string(r, r->command[i]);
    }
    put_text(r, r->command ? "]" : "null");
}

static void put_machine(struct fv_recording *r)
{
    struct utsname name;
    uint8_t boot[16];
    char text[sizeof(name.sysname) + sizeof(name.release)];

    uname(&name);
    put_key_string(r, ",\"host\":", name.nodename);
    snprintf(text, sizeof(text), "%s %s", name.sysname, name.release);
    put_key_string(r, ",\"kernel\":", text);
    fv_boot_id(boot);
    for (size_t i = 0; i < sizeof(boot); i++)
        snprintf(text + 2 * i, 3, "%02x", boot[i]);
    put_key_string(r, ",\"boot_id\":", text);
}

static void put_header(struct fv_recording *r)
{
    r->bytes = 0;
    r->samples = 0;
    put_text(r, "{\"schema\":\"" FV_RECORDING_SCHEMA "\",\"file\":");
    put_whole(r, r->number + 1);
    put_machine(r);
    put_text(r, ",\"start_realtime_ns\":");
    put_whole(r, (uint64_t)r->start_realtime_ns);
    put_text(r, ",\"start_monotonic_ns\":");
    put_whole(r, (uint64_t)r->start_ns);
    put_command(r);
    put_sensors(r);
    put_series(r);
    put_text(r, "}\n");
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
        fv_log("record: %s: %s; what was recorded until now is in the file before it", path, strerror(errno));
        flush(r);
        r->has_failed = true;
        return;
    }
    put_key_string(r, "{\"continued\":", fv_base_name(path));
    put_text(r, "}\n");
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
    put_text(r, "}\n");
    if (!r->oldest_ns)
        r->oldest_ns = at_ns;
    if (r->used >= HELD_BYTES)
        flush(r);
    if (r->rotate_bytes && r->samples && r->bytes + r->used >= r->rotate_bytes)
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
        snprintf(r->path, sizeof(r->path), i > 1 ? "fvmpi-record-%s-%s-%d.jsonl" : "fvmpi-record-%s-%s.jsonl", name.nodename, time, i);
        fd = make_file(r, r->path);
    }
    return fd;
}

int fv_recording_open(struct fv_recording *r, const char *path)
{
    r->start_ns = now_ns(CLOCK_MONOTONIC);
    r->start_realtime_ns = now_ns(CLOCK_REALTIME);
    if ((r->fd = make_first(r, path)) < 0) {
        fv_log("record: %s: %s%s", r->path, strerror(errno), errno == EEXIST ? "; nothing is written over: name another file" : "");
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
    put_text(r, "{");
    put_time(r, at_ns);
    put_text(r, ",\"late_s\":");
    put_seconds(r, late_ns);
    put_text(r, ",\"cost_s\":");
    put_seconds(r, cost_ns);
    put_text(r, ",\"values\":[");
    for (size_t i = 0; i < r->watch->count; i++) {
        if (i)
            put(r, ",", 1);
        put_real(r, fv_watch_rate(r->watch, i));
    }
    put_text(r, "]");
    r->samples++;
    end_line(r, at_ns);
}

void fv_recording_label(struct fv_recording *r, int64_t at_ns, const char *text)
{
    put_key_string(r, "{\"label\":", text);
    put_text(r, ",");
    put_time(r, at_ns);
    end_line(r, at_ns);
}

void fv_recording_pause(struct fv_recording *r, int64_t at_ns, bool is_paused)
{
    put_text(r, is_paused ? "{\"paused\":true," : "{\"paused\":false,");
    put_time(r, at_ns);
    end_line(r, at_ns);
}

void fv_recording_interval(struct fv_recording *r, int64_t at_ns, double interval_s)
{
    r->interval_s = interval_s;
    put_text(r, "{");
    put_time(r, at_ns);
    put_sensors(r);
    end_line(r, at_ns);
}

void fv_recording_end(struct fv_recording *r, int64_t at_ns, const struct fv_recording_end *end)
{
    put_key_string(r, "{\"end\":", end->reason);
    put_text(r, ",");
    put_time(r, at_ns);
    put_text(r, ",\"samples\":");
    put_whole(r, end->samples);
    put_text(r, ",\"late\":");
    put_whole(r, end->late);
    put_text(r, ",\"missed\":");
    put_whole(r, end->missed);
    put_text(r, ",\"cpu_s\":");
    put_real(r, end->cpu_s);
    put_text(r, ",\"memory_bytes\":");
    put_whole(r, end->memory_bytes);
    put_text(r, "}\n");
    flush(r);
}

void fv_recording_close(struct fv_recording *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    free(r->text);
    free(r->files);
    r->text = NULL;
    r->files = NULL;
}
