/* SPDX-License-Identifier: BSD-3-Clause */
/* See apply.h. */
#include "doctor/apply.h"
#include "doctor/files.h"
#include "sensors/sensors.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAVED_HEAD "fvmpi-doctor 1 "

/* ---- where ---- */

struct saved_place {
    char folder[PATH_MAX - 300], name[280];
    char whole[PATH_MAX];
};

static bool find_place(const struct fv_doctor *d, struct saved_place *p)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int bytes;

    if (!geteuid())
        bytes = snprintf(p->folder, sizeof(p->folder), "%s/run/fvmpi", fv_sensors_root());
    else if (state && *state == '/')
        bytes = snprintf(p->folder, sizeof(p->folder), "%s/fvmpi", state);
    else
        bytes = snprintf(p->folder, sizeof(p->folder), "%s/.local/state/fvmpi", home ? home : "");
    if (!geteuid())
        snprintf(p->name, sizeof(p->name), "doctor.saved");
    else
        snprintf(p->name, sizeof(p->name), "doctor-%.255s.saved", d->host && !strchr(d->host, '/') ? d->host : "");
    if (bytes < 0 || (size_t)bytes >= sizeof(p->folder)) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(p->whole, sizeof(p->whole), "%s/%s", p->folder, p->name);
    return true;
}

/* Each folder that is missing, for the owner alone. */
static void make_folders(const char *path)
{
    char part[PATH_MAX];

    for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", slash ? (int)(slash - path) : (int)strlen(path), path);
        mkdir(part, 0700);
        if (!slash)
            return;
    }
}

/* A folder of this user's, in which nobody else can put anything. -1: errno. */
static int open_folder(const struct saved_place *p, bool make)
{
    struct stat st;

    if (make)
        make_folders(p->folder);
    int fd = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022)) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

static const char *boot_of(struct fv_doctor *d)
{
    const char *boot = fv_doctor_value(d, "proc/sys/kernel/random/boot_id");

    return boot && *boot && strlen(boot) < 64 ? boot : "-";
}

/* False: errno. */
static bool write_all(int fd, const char *text, size_t length)
{
    ssize_t written = write(fd, text, length);

    if (written >= 0 && written != (ssize_t)length)
        errno = ENOSPC;
    return written == (ssize_t)length;
}

/* ---- to write a file of the kernel's ---- */

/* Masks have as many zeros in front as the machine has processors. */
static bool is_same(const char *path, const char *a, const char *b)
{
    struct fv_cpus x, y;

    return !strcmp(a, b) || (!strcmp(fv_base_name(path), "cpumask") && fv_cpus_from_mask(a, &x) &&
                             fv_cpus_from_mask(b, &y) && fv_cpus_same(&x, &y));
}

/* NULL, or why not. */
static const char *write_value(struct fv_doctor *d, const char *path, const char *value)
{
    int fd = fv_doctor_open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW);
    const char *why = fd >= 0 && write_all(fd, value, strlen(value)) ? NULL : strerror(errno);

    if (fd >= 0)
        close(fd);
    if (why)
        return why;
    const char *now = fv_doctor_value(d, "%s", path); /* some files take a value and keep another */
    return now && is_same(path, now, value) ? NULL
                                            : fv_arena_printf(&d->arena, "it is %.60s then", now ? now : "unreadable");
}

/* ---- apply ---- */

static bool is_wanted(const struct fv_doctor_result *r, bool named)
{
    return r->write_count && (named || r->state == FV_DOCTOR_BAD);
}

static void say_what(const struct fv_doctor *d, const struct fv_doctor_result *r, FILE *out)
{
    for (uint32_t i = 0; i < r->write_count; i++) {
        const struct fv_doctor_write *w = &d->writes[r->first_write + i];

        fprintf(out, "%s: would write /%s: %s -> %s\n", r->check->name, w->path, w->now, w->value);
    }
}

/* Whole and on its way to the disk before anything is changed. */
static bool save(struct fv_doctor *d, const struct saved_place *p, bool named)
{
    struct fv_string text = { 0 };
    int folder = open_folder(p, true), fd;

    fv_string_add(&text, SAVED_HEAD "%s\n", boot_of(d));
    for (size_t i = 0; i < d->result_count; i++)
        for (uint32_t k = 0; is_wanted(&d->results[i], named) && k < d->results[i].write_count; k++) {
            const struct fv_doctor_write *w = &d->writes[d->results[i].first_write + k];

            fv_string_add(&text, "%s\t%s\t%s\n", w->path, w->value, w->now);
        }
    fd = folder < 0 ? -1 : openat(folder, p->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_saved = fd >= 0 && write_all(fd, text.text, text.used) && !fsync(fd);
    if (!is_saved && errno == EEXIST)
        fv_log("doctor: %s: has values saved by an earlier --apply; run fvmpi doctor --restore first", p->whole);
    else if (!is_saved)
        fv_log("doctor: %s: %s; nothing was changed, because the present values could not be saved", p->whole,
               strerror(errno));
    if (!is_saved && fd >= 0)
        unlinkat(folder, p->name, 0);
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    fv_string_release(&text);
    return is_saved;
}

static bool write_result(struct fv_doctor *d, const struct fv_doctor_result *r, FILE *out)
{
    uint32_t done = 0;

    for (uint32_t i = 0; i < r->write_count; i++) {
        const struct fv_doctor_write *w = &d->writes[r->first_write + i];
        const char *why = write_value(d, w->path, w->value);

        done += !why;
        if (why)
            fv_log("doctor: %s: %s/%s: %s does not become %s: %s", r->check->name, fv_sensors_root(), w->path, w->now,
                   w->value, why);
    }
    fprintf(out, "%s: %u of %u files written\n", r->check->name, done, r->write_count);
    return done == r->write_count;
}

bool fv_doctor_apply(struct fv_doctor *d, bool named, bool dry, FILE *out)
{
    struct saved_place place;
    bool is_good = true, has_any = false;

    for (size_t i = 0; i < d->result_count; i++) {
        const struct fv_doctor_result *r = &d->results[i];

        has_any = has_any || is_wanted(r, named);
        if (is_wanted(r, named) && dry)
            say_what(d, r, out);
        else if (named && !r->write_count && r->state != FV_DOCTOR_GOOD) {
            fv_log("doctor: %s: no file to write: %s", r->check->name, r->fix ? r->fix : r->found);
            is_good = false;
        }
    }
    if (!has_any)
        fputs("nothing to write\n", out);
    if (!has_any || dry)
        return is_good;
    if (!find_place(d, &place)) {
        fv_log("doctor: no directory to save the present values: %s; nothing was changed", strerror(errno));
        return false;
    }
    if (!save(d, &place, named))
        return false;
    fprintf(out, "saved the old values: %s\n", place.whole);
    for (size_t i = 0; i < d->result_count; i++)
        if (is_wanted(&d->results[i], named))
            is_good = write_result(d, &d->results[i], out) && is_good;
    fputs("fvmpi doctor --restore writes them back\n", out);
    return is_good;
}

/* ---- restore ---- */

/* The file is ours, and nobody else could write to it. -1: errno. */
static int open_saved(const struct saved_place *p, int *folder)
{
    struct stat st;
    int fd = -1;

    *folder = open_folder(p, false);
    if (*folder >= 0)
        fd = openat(*folder, p->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 &&
        (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077 || st.st_nlink != 1)) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

static bool read_saved(int fd, struct fv_string *text)
{
    char piece[65536];
    ssize_t got;

    fv_string_clear(text);
    while (text->used < FV_DOCTOR_LONG_TEXT && (got = read(fd, piece, sizeof(piece))) > 0)
        fv_string_add(text, "%.*s", (int)got, piece);
    return text->used;
}

/* Its three parts; false: it is damaged, or leads elsewhere. */
static bool take_line(char *line, struct fv_doctor_write *out)
{
    char *rest;

    out->path = strtok_r(line, "\t", &rest);
    out->value = strtok_r(NULL, "\t", &rest);
    out->now = strtok_r(NULL, "\t", &rest);
    return out->now && !strtok_r(NULL, "\t", &rest) && !strstr(out->path, "..") &&
           (!strncmp(out->path, "proc/", 5) || !strncmp(out->path, "sys/", 4));
}

static bool restore_line(struct fv_doctor *d, char *line, bool dry, FILE *out)
{
    struct fv_doctor_write w;

    if (!take_line(line, &w)) {
        fv_log("doctor: a saved line is damaged");
        return false;
    }
    const char *now = fv_doctor_value(d, "%s", w.path);
    if (now && !strcmp(now, w.now))
        return true; /* it was never written, or was put back */
    fprintf(out, "%s/%s: %s -> %s\n", dry ? "would write " : "", w.path, now ? now : "unreadable", w.now);
    const char *why = dry ? NULL : write_value(d, w.path, w.now);
    if (why)
        fv_log("doctor: %s/%s: cannot be restored to %s: %s", fv_sensors_root(), w.path, w.now, why);
    return !why;
}

/* The last line first. False: some could not be put back. */
static bool restore_lines(struct fv_doctor *d, struct fv_string *text, bool dry, FILE *out)
{
    bool is_good = true;

    while (text->used && text->text[text->used - 1] == '\n')
        text->text[--text->used] = '\0';
    for (char *end; (end = strrchr(text->text, '\n')); *end = '\0')
        is_good = restore_line(d, end + 1, dry, out) && is_good;
    return is_good;
}

/* Is it of this boot? Else it has been said. */
static bool is_of_now(struct fv_doctor *d, const struct fv_string *text, const char *whole)
{
    const char *boot = boot_of(d);
    size_t head = strlen(SAVED_HEAD), length = strlen(boot);

    if (strncmp(text->text, SAVED_HEAD, head)) {
        fv_log("doctor: %s: not a file of --apply; remove it", whole);
        return false;
    }
    if (!strncmp(text->text + head, boot, length) && text->text[head + length] == '\n')
        return true;
    fv_log("doctor: %s: from before the last boot, which reset all settings; remove it", whole);
    return false;
}

bool fv_doctor_restore(struct fv_doctor *d, bool dry, FILE *out)
{
    struct saved_place place = { .whole = "" };
    struct fv_string text = { 0 };
    int folder = -1, fd = find_place(d, &place) ? open_saved(&place, &folder) : -1;
    bool is_good = false;

    if (fd < 0 && errno == ENOENT)
        fv_log("doctor: %s: nothing is saved; there was no --apply, or it was restored", place.whole);
    else if (fd < 0)
        fv_log("doctor: %s: %s; it must be a file of yours alone", place.whole, strerror(errno));
    else if (!read_saved(fd, &text))
        fv_log("doctor: %s: cannot be read", place.whole);
    else if (is_of_now(d, &text, place.whole))
        is_good = restore_lines(d, &text, dry, out);
    if (is_good && !dry && unlinkat(folder, place.name, 0)) {
        fv_log("doctor: %s: %s", place.whole, strerror(errno));
        is_good = false;
    }
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    fv_string_release(&text);
    return is_good;
}
