/* SPDX-License-Identifier: BSD-3-Clause */
/* See keep.h. A copy is the rank file as it is now, in a directory of its own. The n-th call of fvmpi_keep() of each
 * rank goes to the same one, DIR/program-keep-N, so that ranks which call it together are kept together. Meanwhile no
 * chunk of the ring is filled again: other threads that need one wait.
 *
 * The times of that directory say when its copies were made: last access, from when on; last change, until when. */
#include "rt/keep.h"
#include "base/experiment.h"
#include "base/write_at.h"
#include "rt/labels.h"
#include "rt/remarks.h"
#include "rt/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST  16 /* calls that make a copy: a long run must not fill the disk */
#define PIECE (UINT32_C(1) << 16)

static unsigned kept;

/* The experiment's directory, and the file's name in it, which may begin with a folder. */
static void split(char directory[4096], const char **name)
{
    memcpy(directory, fv_rt.writer.path, sizeof(fv_rt.writer.path));
    char *base = directory + (fv_base_name(directory) - directory);
    if (base > directory)
        base[-1] = '\0';
    *name = base;
    char *folder = directory + (fv_base_name(directory) - directory);
    if (base > directory && folder > directory && fv_experiment_is_rank_folder(folder)) {
        base[-1] = '/';
        folder[-1] = '\0';
        *name = folder;
    }
}

static bool make_directory(const char *path)
{
    return !mkdir(path, fv_rt.options.share ? 0777 : 0700) || errno == EEXIST;
}

void fv_keep_directory(char directory[4096])
{
    const char *name;

    split(directory, &name);
}

/* Of a copy: its directory, and in it the file, which may be in a folder. */
struct copy_path {
    char top[4200], folder[4300], file[4400];
    struct timespec made[2]; /* times of `top`: see above */
};

static struct copy_path path_of(const char *copy)
{
    struct copy_path path;
    char directory[4096];
    const char *name;

    split(directory, &name);
    const char *slash = strchr(name, '/');
    snprintf(path.top, sizeof(path.top), "%s/%s", directory, copy);
    snprintf(path.folder, sizeof(path.folder), "%.4199s/%.*s", path.top, slash ? (int)(slash - name) : 0, name);
    snprintf(path.file, sizeof(path.file), "%.4199s/%s", path.top, name);
    return path;
}

/* Other ranks may have copied there just now: it begins when they did. */
static int make_copy(struct copy_path *path)
{
    struct timespec *const made = path->made;
    struct stat was;

    clock_gettime(CLOCK_REALTIME, &made[0]);
    if (!stat(path->top, &was) && was.st_mtim.tv_sec + 1 >= made[0].tv_sec)
        made[0] = was.st_atim;
    if (!make_directory(path->top) || !make_directory(path->folder))
        return -1;
    return open(path->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fv_rt.options.share ? 0666 : 0600);
}

/* The header comes last: of its process, which goes on, the copy does not know the end. */
static bool copy_bytes(int from, int to, char *piece, uint64_t end)
{
    struct fv_file_header *h = (struct fv_file_header *)(void *)piece;

    for (uint64_t at = FV_PAGE, next; at < end; at = next) {
        const size_t bytes = end - at < PIECE ? (size_t)(end - at) : PIECE;

        next = at + bytes;
        if (pread(from, piece, bytes, (off_t)at) != (ssize_t)bytes || !fv_write_at(to, piece, bytes, at))
            return false;
    }
    if (pread(from, piece, FV_PAGE, 0) != (ssize_t)FV_PAGE)
        return false;
    h->state = FV_STATE_CUT;
    h->file_bytes = end;
    return fv_write_at(to, piece, FV_PAGE, 0);
}

/* errno; 0: it is there. */
static int copy(const char *folder)
{
    struct copy_path path = path_of(folder);
    char *piece = fv_memory_new(PIECE);
    int from = open(fv_rt.writer.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), to = from < 0 ? -1 : make_copy(&path);
    const uint64_t held = fv_ring_hold(), end = __atomic_load_n(&fv_rt.writer.header->file_bytes, __ATOMIC_ACQUIRE);
    bool good = piece && to >= 0 && copy_bytes(from, to, piece, end);
    const int why = good ? 0 : errno ? errno : ENOMEM;

    fv_ring_let_go(held);
    if (!good && to >= 0)
        unlink(path.file);
    if (to >= 0)
        close(to);
    if (from >= 0)
        close(from);
    if (piece)
        fv_memory_free(piece, PIECE);
    clock_gettime(CLOCK_REALTIME, &path.made[1]);
    if (to >= 0)
        utimensat(AT_FDCWD, path.top, path.made, 0);
    return why;
}

bool fv_keep(const char *folder, const char *label)
{
    fv_label(label, strlen(label), FV_LABEL_PROGRAM);
    struct fv_scope scope = fv_scope_enter();
    const int error = copy(folder);

    if (error)
        fv_remark(true, "%s: no copy: %s", folder, strerror(error));
    fv_scope_leave(&scope);
    return !error;
}

void fv_keep_remove(const char *folder)
{
    struct fv_scope scope = fv_scope_enter();
    const struct copy_path path = path_of(folder);
    struct stat was;
    const bool known = !stat(path.top, &was);

    unlink(path.file);
    rmdir(path.folder);
    if (rmdir(path.top) && known) /* others' are in it */
        utimensat(AT_FDCWD, path.top, (struct timespec[]){ was.st_atim, was.st_mtim }, 0);
    fv_scope_leave(&scope);
}

FV_PUBLIC void fvmpi_keep_v1(const char *why)
{
    char folder[64], label[FV_LABEL_MOST];

    if (!fv_rt_here() || !fv_rt.options.trace_keep || !fv_rt.writer.header)
        return;
    const unsigned number = __atomic_add_fetch(&kept, 1, __ATOMIC_RELAXED);
    if (number > MOST) {
        fv_remark(number == MOST + 1 && fv_rt.world_rank == 0,
                  "fvmpi_keep(): only the first 16 calls of a process make a copy");
        return;
    }
    snprintf(folder, sizeof(folder), "program-keep-%u", number);
    snprintf(label, sizeof(label), "fvmpi_keep %u: %.1000s", number, why ? why : "");
    fv_keep(folder, label);
}
