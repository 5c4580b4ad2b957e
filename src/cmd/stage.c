/* SPDX-License-Identifier: BSD-3-Clause */
/* See stage.h. */
#include "cmd/stage.h"
#include "base/shell.h"
#include "base/experiment.h"
#include "base/local.h"
#include "base/older.h"
#include "base/write_at.h"
#include "experiment/experiment.h"
#include "trace/container.h"
#include "trace/format.h"
#include "trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct stage {
    const struct fv_stage_wish *wish;
    int local, folder; /* descriptors; folder -1: the experiment cannot be opened, ... */
    int error;         /* ... because of this; or of the first file that could not be moved */
    size_t moved, running, failed;
    char name[NAME_MAX + 1]; /* of that file */
};

/* ---- one file ---- */

static bool copy(int from, int to)
{
    static char buffer[1 << 20];
    struct stat first, second;
    uint64_t at = 0;

    for (ssize_t n; (n = pread(from, buffer, sizeof(buffer), (off_t)at)) != 0; at += n > 0 ? (uint64_t)n : 0)
        if (n > 0 ? !fv_write_at(to, buffer, (size_t)n, at) : errno != EINTR)
            return false;
    if (fsync(to) || fstat(from, &first) || fstat(to, &second))
        return false;
    errno = EIO;
    return first.st_size == second.st_size;
}

/* What a copy that was interrupted left behind. */
static void remove_part(int folder, const char *part)
{
    struct stat st;

    if (!fstatat(folder, part, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        unlinkat(folder, part, 0);
}

static int write_part(int from, int folder, const char *part)
{
    struct stat st;

    remove_part(folder, part);
    const mode_t mode = fstat(from, &st) ? 0600 : st.st_mode & 0666;
    int to = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (to < 0)
        return -1;
    int err = copy(from, to) ? 0 : -1, why = errno;
    if (close(to) && !err) { /* network file systems tell there what they could not write */
        err = -1;
        why = errno;
    }
    if (err)
        unlinkat(folder, part, 0);
    errno = why;
    return err;
}

/* renameat2() as the kernel has it: older C libraries do not know it. */
static int rename_to_free(int folder, const char *part, const char *name)
{
    return (int)syscall(SYS_renameat2, folder, part, folder, name, 1u); /* RENAME_NOREPLACE */
}

/* A name that is taken stays who has it, on file systems without such a rename, too. */
static int give_name(int folder, const char *part, const char *name)
{
    struct stat st;

    if (!rename_to_free(folder, part, name))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (!linkat(folder, part, folder, name, 0)) {
        unlinkat(folder, part, 0);
        return 0;
    }
    if (errno == EEXIST || !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW)) {
        errno = EEXIST;
        return -1;
    }
    return renameat(folder, part, folder, name);
}

/* Is the file of that name the same, moved by somebody who was stopped before he removed the local one? */
static bool is_there(int from, int folder, const char *name)
{
    int to = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat ours, theirs;
    bool same = to >= 0 && !fstat(from, &ours) && !fstat(to, &theirs) && S_ISREG(theirs.st_mode) &&
                theirs.st_uid == geteuid() && theirs.st_size == ours.st_size &&
                fv_same_bytes(from, to, 0, (uint64_t)ours.st_size);

    if (to >= 0)
        close(to);
    return same;
}

static int copy_file(int from, int folder, const char *name)
{
    char part[NAME_MAX + 8];

    if (!is_there(from, folder, name)) {
        snprintf(part, sizeof(part), "%s.part", name);
        if (write_part(from, folder, part))
            return -1;
        if (give_name(folder, part, name)) {
            int why = errno;

            unlinkat(folder, part, 0);
            errno = why;
            return -1;
        }
        fsync(folder);
    }
    return 0;
}

/* To the folder of its rank. */
static int copy_to_folder(int from, int experiment, const struct fv_file_header *h, const char *name)
{
    int folder = fv_experiment_rank_folder(experiment, h->world_rank, h->world_size);
    int err = folder < 0 ? -1 : copy_file(from, folder, name), why = errno;

    if (folder >= 0)
        close(folder);
    errno = why;
    return err;
}

static int move_file(const struct stage *s, int from, const struct fv_file_header *h, const char *name)
{
    char container[FV_CONTAINER_NAME_MAX];
    struct stat st;

    fv_container_name(container);
    bool is_container = s->wish->container || !fstatat(s->folder, container, &st, AT_SYMLINK_NOFOLLOW);
    int err =
        is_container ? fv_container_append(s->folder, container, from, name) : copy_to_folder(from, s->folder, h, name);
    return err ? err : unlinkat(s->local, name, 0);
}

/* ---- which files ---- */

enum verdict { MOVE, RUNS, LEAVE };

/* The lock is kept until the file is closed: two who move it would be in each other's way. The process may have closed
 * all its descriptors, and with them its lock. */
static enum verdict judge(int fd, const struct fv_stage_wish *wish, struct fv_file_header *h)
{
    uint8_t boot[16];
    struct stat st;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || pread(fd, h, sizeof(*h), 0) != (ssize_t)sizeof(*h) ||
        memcmp(h->magic, FV_FILE_MAGIC, sizeof(h->magic)))
        return LEAVE;
    bool is_here = fv_boot_id(boot) && !memcmp(boot, h->boot_id, sizeof(boot));
    if (wish->since_ns && (!is_here || h->first.monotonic_ns < wish->since_ns))
        return LEAVE;
    if (is_here && fv_process_runs((pid_t)h->pid, h->process_start))
        return RUNS;
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return RUNS;
    return fstat(fd, &st) || !st.st_nlink ? LEAVE : MOVE; /* moved by another meanwhile */
}

static void fail(struct stage *s, const char *name, int error)
{
    if (!s->failed++) {
        snprintf(s->name, sizeof(s->name), "%s", name);
        s->error = error;
    }
}

static void visit_file(struct stage *s, const char *name)
{
    int fd = openat(s->local, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct fv_file_header header;
    enum verdict verdict = fd < 0 ? LEAVE : judge(fd, s->wish, &header);

    if (fd < 0 && errno != ENOENT)
        fail(s, name, errno);
    else if (verdict == RUNS)
        s->running++;
    else if (verdict == MOVE && s->folder < 0)
        fail(s, name, s->error);
    else if (verdict == MOVE && move_file(s, fd, &header, name))
        fail(s, name, errno);
    else
        s->moved += verdict == MOVE;
    if (fd >= 0)
        close(fd);
}

static bool is_rank_file(const char *name)
{
    size_t n = strlen(name);

    return !strncmp(name, "rank-", 5) && n > 4 && !strcmp(name + n - 4, ".fvr");
}

/* How many there are, after a visit of each, if a function is given. */
static size_t each_file(struct stage *s, void (*visit)(struct stage *s, const char *name))
{
    int fd = openat(s->local, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    size_t count = 0;

    for (struct dirent *d; dir && (d = readdir(dir));)
        if (is_rank_file(d->d_name)) {
            if (visit)
                visit(s, d->d_name);
            count++;
        }
    if (dir)
        closedir(dir);
    return count;
}

/* A rank that comes meanwhile makes its file first, and then says again of which experiment it is. */
static void remove_local(const struct stage *s, const char *local, const char *experiment)
{
    char note[FV_LOCAL_HOST_MAX + 64];

    flock(s->local, LOCK_EX); /* against those who read of which experiment it is */
    unlinkat(s->local, FV_LOCAL_EXPERIMENT, 0);
    bool gone = !rmdir(local);
    if (!gone)
        fv_local_keep(s->local, experiment);
    flock(s->local, LOCK_UN);
    fv_local_note_name(note, sizeof(note), local);
    if (gone && s->folder >= 0)
        unlinkat(s->folder, note, 0);
}

static void say(const struct stage *s, const char *local, const char *experiment)
{
    bool is_taken = s->error == EEXIST;

    if (!s->failed || (s->wish->for_node && !fv_first_on_node("gather", experiment)))
        return;
    fv_log("%s: %zu rank file%s not moved there: %s: %s; %s in %s. %s: %s%s", experiment, s->failed,
           s->failed == 1 ? " is" : "s are", s->name, is_taken ? "another file has that name" : strerror(s->error),
           s->failed == 1 ? "it stays" : "they stay", local,
           is_taken ? "Move the other one away, then" : "Fix that, then", FV_COMMAND("fvmpi", "gather", local),
           s->wish->for_node ? FV_FOR_NODE : "");
}

/* The experiment's path; its length, 0: the directory was removed, negative: it does not say. */
static ssize_t read_experiment(int local, char *out, size_t size)
{
    struct stat st;

    flock(local, LOCK_SH);
    ssize_t n = readlinkat(local, FV_LOCAL_EXPERIMENT, out, size - 1);
    if (n < 0 && !fstat(local, &st) && !st.st_nlink)
        n = 0;
    flock(local, LOCK_UN);
    out[n > 0 ? n : 0] = '\0';
    return n;
}

bool fv_stage(const char *local, const char *experiment, const struct fv_stage_wish *wish,
              struct fv_stage_counts *staged)
{
    struct stage s = { .wish = wish, .local = fv_local_open_own(local) };
    char text[PATH_MAX];

    if (s.local < 0 && errno == ENOENT) /* all was gathered meanwhile */
        return true;
    ssize_t n = s.local < 0 ? -1 : read_experiment(s.local, text, sizeof(text));
    if (n < 0)
        fv_log("%s: %s; nothing is gathered from there", local,
               s.local >= 0     ? "does not name its experiment"
               : errno == EPERM ? "another user owns it or can write to it"
                                : strerror(errno));
    if (n > 0) {
        experiment = experiment ? experiment : text;
        s.folder = fv_experiment_folder(experiment);
        s.error = errno;
        signal(SIGXFSZ, SIG_IGN); /* the limit on the size of files is an error like a full disk */
        each_file(&s, visit_file);
        if (!each_file(&s, NULL)) /* counted anew: of several who move files the last one sees none */
            remove_local(&s, local, text);
        say(&s, local, experiment);
        staged->moved += s.moved;
        staged->running += s.running;
        staged->failed += s.failed;
        if (s.folder >= 0)
            close(s.folder);
    }
    if (s.local >= 0)
        close(s.local);
    return n >= 0 && !s.failed;
}

bool fv_stage_all(const char *local, const struct fv_stage_wish *wish, struct fv_stage_counts *staged)
{
    char prefix[64], path[PATH_MAX];
    DIR *dir = opendir(local);
    bool good = true;

    snprintf(prefix, sizeof(prefix), FV_LOCAL_PREFIX "%u-", (unsigned)geteuid());
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (!strncmp(d->d_name, prefix, strlen(prefix)) &&
            snprintf(path, sizeof(path), "%s/%s", local, d->d_name) < (int)sizeof(path))
            good = fv_stage(path, NULL, wish, staged) && good;
    if (dir)
        closedir(dir);
    return good;
}

/* ---- notes ---- */

struct noted {
    const char *experiment;
    const struct fv_stage_wish *wish;
    struct fv_stage_counts *staged;
    bool good;
};

/* Of a directory that is not there any more. */
static void remove_note(const char *experiment, const char *note)
{
    int folder = fv_experiment_folder(experiment);

    if (folder >= 0) {
        unlinkat(folder, note, 0);
        close(folder);
    }
}

/* Else the note tells whose files are lost: of a node that failed and came back, nothing else does. */
static bool has_all_ranks(const char *experiment)
{
    struct fv_rank_files files;
    struct fv_reader *reader = NULL;
    char why[256];
    bool all = false;

    if (fv_rank_files_list(&files, experiment))
        return false;
    for (size_t i = 0; i < files.count && !reader; i++)
        if (fv_reader_open(files.paths[i], &reader, why, sizeof(why)))
            reader = NULL;
    if (reader)
        all = files.count >= (size_t)fv_reader_header(reader)->world_size;
    fv_reader_free(reader);
    fv_rank_files_release(&files);
    return all;
}

static void stage_if_here(const char *host, const char *directory, void *arg)
{
    struct noted *n = arg;
    char note[FV_LOCAL_HOST_MAX + 64], ours[FV_LOCAL_HOST_MAX + 1];
    struct stat st;

    fv_local_note_name(note, sizeof(note), directory);
    if (!fv_local_note_host(note, ours) || strcmp(host, ours) ||
        strncmp(fv_base_name(directory), FV_LOCAL_PREFIX, strlen(FV_LOCAL_PREFIX)))
        return;
    if (lstat(directory, &st) && errno == ENOENT && has_all_ranks(n->experiment))
        remove_note(n->experiment, note);
    else if (lstat(directory, &st) && errno == ENOENT)
        fv_log("%s: %s of %s is gone; rank files in it are lost unless you moved them, and reports say so",
               n->experiment, directory, host);
    n->good = fv_stage(directory, n->experiment, n->wish, n->staged) && n->good;
}

bool fv_stage_noted(const char *experiment, const struct fv_stage_wish *wish, struct fv_stage_counts *staged)
{
    struct noted noted = { experiment, wish, staged, true };

    fv_experiment_notes(experiment, stage_if_here, &noted);
    return noted.good;
}
