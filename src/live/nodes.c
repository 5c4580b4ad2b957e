/* SPDX-License-Identifier: BSD-3-Clause */
/* See nodes.h. */
#include "live/nodes.h"
#include "base/base.h"
#include "live/follower.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MOST = 1 << 20, PIECE = 1 << 16, RECENT_S = 10, TOLD = 8 };

/* A recording that grows. */
struct node_file {
    char *name; /* in the directory */
    dev_t device;
    ino_t inode;
    int fd;     /* -1: there is no more to come */
    off_t at;   /* what is behind it was not read yet */
    char *text; /* that was read, and is no whole line */
    size_t used, room;
    bool is_begun;    /* its header was taken */
    bool is_skipping; /* to the next line's begin */
    uint32_t first;   /* series */
    size_t count;
    int64_t start_ns; /* of its times, since ours */
    char *host;
};

struct fv_nodes {
    struct fv_live *live;
    char *directory, *only; /* only: one file's name; NULL: all */
    struct node_file *files;
    size_t count, room, told;
    bool is_full;
    struct fv_follower follower;
    struct fv_jsonl line;
};

static void say(struct fv_nodes *n, const struct node_file *f, const char *what)
{
    char text[256];

    if (n->told++ < TOLD)
        fv_log("live: %s/%s: %s", n->directory, fv_words_clean(f->name, text, sizeof(text)), what);
}

static void leave(struct node_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    free(f->text);
    f->text = NULL;
    f->used = f->room = 0;
}

/* ---- lines ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* As jsonl.h has it, with the host. */
static void put_series(struct fv_jsonl *out, const char *host, const json_t *series)
{
    const char *source = json_string_value(json_object_get(series, "source"));
    double maximum = json_number_value(json_object_get(series, "maximum"));
    char label[512];

    snprintf(label, sizeof(label), "%s:%s", host, text_of(series, "label"));
    fv_jsonl_key_string(out, "{\"label\":", label);
    fv_jsonl_key_string(out, ",\"host\":", host);
    fv_jsonl_key_string(out, ",\"sensor\":", text_of(series, "sensor"));
    fv_jsonl_key_string(out, ",\"event\":", text_of(series, "event"));
    fv_jsonl_text(out, ",\"source\":");
    if (source)
        fv_jsonl_string(out, source);
    else
        fv_jsonl_text(out, "null");
    fv_jsonl_key_string(out, ",\"unit\":", text_of(series, "unit"));
    fv_jsonl_key_string(out, ",\"kind\":", text_of(series, "kind"));
    if (maximum > 0)
        fv_jsonl_key_real(out, ",\"maximum\":", maximum);
    fv_jsonl_text(out, "}");
}

/* NULL: it is good; else what is wrong. */
static const char *take_header(struct fv_nodes *n, struct node_file *f, const json_t *header)
{
    const json_t *series = json_object_get(header, "series"), *start = json_object_get(header, "start_realtime_ns");

    if (strcmp(text_of(header, "schema"), FV_RECORDING_SCHEMA))
        return "not a recording of this version of fvmpi record; it is left out";
    if (!json_is_integer(start) || !json_array_size(series))
        return "its first line is damaged; it is left out";
    n->line.used = 0;
    for (size_t i = 0; i < json_array_size(series); i++) {
        fv_jsonl_text(&n->line, i ? "," : "[");
        put_series(&n->line, text_of(header, "host"), json_array_get(series, i));
    }
    fv_jsonl_text(&n->line, "]");
    f->count = json_array_size(series);
    if (!(f->first = fv_live_add_series(n->live, &n->line, f->count)))
        return "too many events of other nodes; it is left out";
    f->start_ns = (int64_t)json_integer_value(start) - n->live->start_realtime_ns;
    f->host = strdup(text_of(header, "host"));
    f->is_begun = true;
    return NULL;
}

static void take_sample(struct fv_nodes *n, const struct node_file *f, const json_t *values, int64_t since_ns)
{
    if (json_array_size(values) != f->count)
        return;
    n->line.used = 0;
    for (size_t i = 0; i < f->count; i++) {
        const json_t *value = json_array_get(values, i);

        fv_jsonl_text(&n->line, i ? "," : "[");
        fv_jsonl_real(&n->line, json_is_number(value) ? json_number_value(value) : NAN);
    }
    fv_jsonl_text(&n->line, "]");
    fv_live_add_sample(n->live, since_ns, f->first, &n->line, f->count);
}

/* What was before our time is left out. */
static void take_object(struct fv_nodes *n, struct node_file *f, const json_t *line)
{
    const json_t *values = json_object_get(line, "values"), *time = json_object_get(line, "time_s");
    double time_s = json_is_number(time) ? json_number_value(time) : NAN;
    char text[4200];

    if (json_object_get(line, "end") || json_object_get(line, "continued"))
        leave(f);
    if (!(fabs(time_s) < 1e9))
        return;
    int64_t since_ns = f->start_ns + (int64_t)(1e9 * time_s);

    if (since_ns < 0)
        return;
    if (values) {
        take_sample(n, f, values, since_ns);
    } else if (*text_of(line, "label")) {
        snprintf(text, sizeof(text), "%s: %s", f->host, text_of(line, "label"));
        fv_live_label(n->live, text);
    }
}

static void take_line(struct fv_nodes *n, struct node_file *f, const char *text, size_t bytes)
{
    json_t *line = json_loadb(text, bytes, 0, NULL);
    const char *wrong = NULL;

    if (f->is_begun && json_is_object(line))
        take_object(n, f, line);
    else if (!f->is_begun)
        wrong = take_header(n, f, line);
    json_decref(line);
    if (wrong) {
        say(n, f, wrong);
        leave(f);
    }
}

/* ---- files ---- */

/* Of a long file the end alone: what was before is seen by `fvmpi stat --from`. */
static void skip(struct node_file *f)
{
    struct stat st;

    if (fstat(f->fd, &st) || st.st_size - f->at <= FV_NODES_BACK)
        return;
    f->at = st.st_size - FV_NODES_BACK;
    f->used = 0;
    f->is_skipping = true;
}

static void take_text(struct fv_nodes *n, struct node_file *f)
{
    char *text = f->text, *end;

    while (f->fd >= 0 && (end = memchr(text, '\n', f->used - (size_t)(text - f->text)))) {
        bool is_first = !f->is_begun;

        if (!f->is_skipping)
            take_line(n, f, text, (size_t)(end - text));
        f->is_skipping = false;
        text = end + 1;
        if (is_first && f->fd >= 0) {
            off_t behind = f->at - (off_t)(f->used - (size_t)(text - f->text));

            f->at = behind;
            f->used = 0;
            skip(f);
            return;
        }
    }
    if (f->fd < 0)
        return;
    f->used -= (size_t)(text - f->text);
    memmove(f->text, text, f->used);
    if (f->used > LINE_MOST) {
        say(n, f, "a line is too long; it is left out");
        leave(f);
    }
}

static void read_file(struct fv_nodes *n, struct node_file *f)
{
    ssize_t bytes = 1;

    while (f->fd >= 0 && bytes > 0) {
        FV_GROW(f->text, f->room, f->used + PIECE);
        if ((bytes = pread(f->fd, f->text + f->used, PIECE, f->at)) <= 0)
            continue;
        f->at += bytes;
        f->used += (size_t)bytes;
        take_text(n, f);
    }
}

/* "x.jsonl", "x.jsonl.0002". */
static bool is_recording(const char *name)
{
    const char *found = strstr(name, ".jsonl"), *behind = found ? found + strlen(".jsonl") : NULL;

    return *name != '.' && found &&
           (!*behind || (*behind == '.' && strspn(behind + 1, "0123456789") == strlen(behind + 1)));
}

static bool is_wanted(const struct fv_nodes *n, const char *name)
{
    size_t length = n->only ? strlen(n->only) : 0;

    if (!n->only)
        return is_recording(name);
    return !strncmp(name, n->only, length) &&
           (!name[length] || (name[length] == '.' && name[length + 1] &&
                              strspn(name + length + 1, "0123456789") == strlen(name + length + 1)));
}

/* A number of one that has ended may be another file's by now. */
static bool is_known(const struct fv_nodes *n, const char *name, const struct stat *st)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct node_file *f = &n->files[i];

        if (f->inode == st->st_ino && f->device == st->st_dev &&
            (f->fd >= 0 || (!strcmp(f->name, name) && st->st_size >= f->at)))
            return true;
    }
    return false;
}

static size_t count_open(const struct fv_nodes *n)
{
    size_t open = 0;

    for (size_t i = 0; i < n->count; i++)
        open += n->files[i].fd >= 0;
    return open;
}

static void open_file(struct fv_nodes *n, int directory, const char *name)
{
    struct stat st;
    int fd;

    if (fstatat(directory, name, &st, 0) || !S_ISREG(st.st_mode) || is_known(n, name, &st) ||
        (int64_t)st.st_mtim.tv_sec < n->live->start_realtime_ns / 1000000000 - RECENT_S)
        return;
    if (count_open(n) == FV_NODES_OPEN || n->count == FV_NODES_FILES) {
        if (!n->is_full)
            fv_log("live: %s: more than %d recordings at a time; the others are left out", n->directory, FV_NODES_OPEN);
        n->is_full = true;
        return;
    }
    if ((fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
        return; /* next time */
    FV_GROW(n->files, n->room, n->count + 1);
    n->files[n->count++] =
        (struct node_file){ .name = strdup(name), .device = st.st_dev, .inode = st.st_ino, .fd = fd };
}

static void look(struct fv_nodes *n)
{
    DIR *directory = opendir(n->directory);
    const struct dirent *entry;

    while (directory && (entry = readdir(directory)))
        if (is_wanted(n, entry->d_name))
            open_file(n, dirfd(directory), entry->d_name);
    if (directory)
        closedir(directory);
    for (size_t i = 0; i < n->count; i++)
        read_file(n, &n->files[i]);
}

static void *follow(void *nodes)
{
    struct fv_nodes *n = nodes;

    do
        look(n);
    while (fv_follower_wait(&n->follower, fv_live_now_ns() + FV_NODES_PERIOD_NS));
    return NULL;
}

/* ---- begin and end ---- */

static void release(struct fv_nodes *n)
{
    for (size_t i = 0; i < n->count; i++) {
        leave(&n->files[i]);
        free(n->files[i].name);
        free(n->files[i].host);
    }
    free(n->files);
    free(n->directory);
    free(n->only);
    fv_jsonl_release(&n->line);
    free(n);
}

/* False: it is not there. */
static bool set_path(struct fv_nodes *n, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;

    if (stat(path, &st)) {
        fv_log("live: --nodes %s: %s", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        n->directory = strdup(path);
        return true;
    }
    n->only = strdup(slash ? slash + 1 : path);
    n->directory = strdup(slash ? path : ".");
    if (slash)
        n->directory[slash > path ? slash - path : 1] = '\0';
    return true;
}

struct fv_nodes *fv_nodes_start(struct fv_live *live, const char *path)
{
    struct fv_nodes *n = fv_xcalloc(1, sizeof(*n));

    n->live = live;
    if (!set_path(n, path)) {
        release(n);
        return NULL;
    }
    if (!fv_follower_start(&n->follower, follow, n)) {
        fv_log("live: no thread to follow %s", path);
        release(n);
        return NULL;
    }
    return n;
}

void fv_nodes_stop(struct fv_nodes *n)
{
    if (!n)
        return;
    fv_follower_stop(&n->follower);
    release(n);
}
