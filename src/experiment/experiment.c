/* SPDX-License-Identifier: BSD-3-Clause */
/* See experiment.h. */
#include "experiment/experiment.h"
#include "base/shell.h"
#include "base/experiment.h"
#include "tool/parallel.h"
#include "tool/words.h"
#include "trace/container.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAME_RUN_NS (INT64_C(120) * 1000000000) /* ranks of one launch start within this time */

/* ---- problems ---- */

const char *fv_problem_kind_name(enum fv_problem_kind kind)
{
    static const char *const names[] = { FV_PROBLEM_KINDS(FV_LIST_WORD) };

    return names[kind];
}

bool fv_problem_is_loss(enum fv_problem_kind kind)
{
    return kind != FV_PROBLEM_NOTE && kind != FV_PROBLEM_LEFT_OUT;
}

void fv_problem_add(struct fv_problems *p, enum fv_problem_kind kind, const char *file, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    FV_GROW(p->items, p->room, p->count + 1);
    p->items[p->count++] =
        (struct fv_problem){ kind, file ? fv_arena_string(&p->arena, file) : NULL, fv_arena_string(&p->arena, text) };
}

void fv_problems_take(struct fv_problems *p, struct fv_problems *others)
{
    for (size_t i = 0; i < others->count; i++)
        fv_problem_add(p, others->items[i].kind, others->items[i].file, "%s", others->items[i].text);
    fv_problems_release(others);
}

void fv_problems_release(struct fv_problems *p)
{
    free(p->items);
    fv_arena_release(&p->arena);
    *p = (struct fv_problems){ 0 };
}

/* ---- files ---- */

static void add_reader(struct fv_experiment *e, const char *path, struct fv_reader *reader)
{
    FV_GROW(e->files, e->room, e->count + 1);
    char *copy = strcpy(fv_xcalloc(strlen(path) + 1, 1), path);
    e->files[e->count++] = (struct fv_experiment_file){
        .path = copy, .name = fv_base_name(copy), .directory = e->directories, .reader = reader
    };
}

void fv_experiment_add(struct fv_experiment *e, const char *name, struct fv_reader *reader)
{
    add_reader(e, name, reader);
}

struct opened {
    const char *path;
    struct fv_reader *reader;
    char why[256];
    int err;
};

/* Looks at all chunks of a file, which nothing else depends on. */
static void open_file(void *files, size_t i)
{
    struct opened *o = &((struct opened *)files)[i];

    o->err = fv_reader_open(o->path, &o->reader, o->why, sizeof(o->why));
    if (!o->err)
        fv_reader_rest(o->reader);
}

/* The first error. */
static int add_files(struct fv_experiment *e, struct opened *files, size_t count)
{
    int worst = 0;

    fv_parallel(count, open_file, files);
    for (size_t i = 0; i < count; i++) {
        if (files[i].err)
            fv_problem_add(&e->problems, FV_PROBLEM_UNREADABLE, fv_base_name(files[i].path), "%s", files[i].why);
        else
            add_reader(e, files[i].path, files[i].reader);
        worst = worst ? worst : files[i].err;
    }
    return worst;
}

static int add_file(struct fv_experiment *e, const char *path)
{
    struct opened file = { .path = path };

    return add_files(e, &file, 1);
}

void fv_experiment_as_private_as(const char *file)
{
    struct stat st;

    if (!stat(file, &st)) {
        const mode_t readable = st.st_mode & 0044, before = umask(0777);

        umask(before | (0077 & ~(readable | readable >> 1 | readable >> 2)));
    }
}

void fv_experiment_keep_private(const char *directory)
{
    struct fv_rank_files files;

    if (!fv_rank_files_list(&files, directory) && files.count)
        fv_experiment_as_private_as(files.paths[0]);
    fv_rank_files_release(&files);
}

/* Others' experiments cannot be read unless they allow it. */
static void say_forbidden(const char *path)
{
    fv_log("%s: Permission denied: an experiment is its owner's alone. The owner allows it by: %s; or records with "
           "fvmpi run --share",
           path, FV_COMMAND("chmod", "--recursive", "go+rX", path));
}

void fv_experiment_say_unreadable(const char *path)
{
    if (errno == EACCES)
        say_forbidden(path);
    else
        fv_log("%s: %s; give the experiment directory that fvmpi wrote", path, strerror(errno));
}

static bool has_file(const char *path, const char *file)
{
    char *name = fv_xcalloc(strlen(path) + strlen(file) + 2, 1);
    struct stat st;
    bool found;

    strcat(strcat(strcpy(name, path), "/"), file);
    found = !stat(name, &st);
    free(name);
    return found;
}

static bool has_rank_files(const char *path)
{
    struct fv_rank_files files;
    bool found = !fv_rank_files_list(&files, path) && files.count;

    fv_rank_files_release(&files);
    return found;
}

/* Of a directory that `fvmpi run --stacks -o` made, or --passes: how many experiments are in it; *out: the first by
 * name, to be freed. */
static size_t experiments_in(const char *path, char **out)
{
    DIR *dir = opendir(path);
    size_t count = 0;

    *out = NULL;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        char *name = fv_xcalloc(strlen(path) + strlen(d->d_name) + 2, 1);
        const bool is_one = *d->d_name != '.' && sprintf(name, "%s/%s", path, d->d_name) > 0 && has_rank_files(name);

        count += is_one;
        if (is_one && (!*out || strcmp(name, *out) < 0)) {
            char *before = *out;

            *out = name;
            name = before;
        }
        free(name);
    }
    if (dir)
        closedir(dir);
    return count;
}

/* What `fvunify -o` writes is no experiment. */
static void say_empty(const char *path)
{
    bool analysis = has_file(path, "analysis.json");
    char *elsewhere = fv_experiment_elsewhere(path, false), *one;
    const size_t inside = experiments_in(path, &one);

    if (elsewhere)
        fv_log("%s: %s", path, elsewhere);
    else if (inside)
        fv_log("%s: it has %zu experiment%s inside; name %s%s", path, inside, inside == 1 ? "" : "s", one,
               inside == 1 ? "" : ", or several of them");
    else if (analysis || has_file(path, "traces.otf2"))
        fv_log("%s: no rank files (*.fvr) in it, only what fvunify wrote; report the experiment directory%s", path,
               analysis ? ", with a copy of this analysis.json in it" : "");
    else
        fv_log("%s: no rank files (*.fvr) in it; give the experiment directory that fvmpi wrote", path);
    free(one);
    free(elsewhere);
}

static const struct fv_file_header *header(const struct fv_experiment *e, size_t i)
{
    return fv_reader_header(e->files[i].reader);
}

/* Files of processes that run are where they must be. */
static void note_elsewhere(struct fv_experiment *e, const char *path)
{
    bool runs = false;

    if (e->elsewhere || !(e->elsewhere = fv_experiment_elsewhere(path, false)))
        return;
    for (size_t i = 0; i < e->count && !runs; i++)
        runs = fv_experiment_is_alive(header(e, i));
    if (runs) {
        free(e->elsewhere);
        e->elsewhere = fv_experiment_elsewhere(path, true);
    }
}

/* By its name, rank-000012.fvr; other names say nothing. */
static bool is_wanted(struct fv_experiment *e, const char *path)
{
    const char *name = fv_base_name(path);
    char *end;
    long rank = strncmp(name, "rank-", 5) ? -1 : strtol(name + 5, &end, 10);

    if (!e->wanted || rank < 0 || end == name + 5 || fv_spans_have(e->wanted, rank))
        return true;
    e->passed_by++;
    return false;
}

/* -FV_ENOENT: there are no rank files, which was not said. */
static int add_directory(struct fv_experiment *e, const char *path)
{
    struct fv_rank_files files;
    int err = fv_rank_files_list_here(&files, path);
    struct opened *wanted = fv_xcalloc(files.count + 1, sizeof(*wanted));
    size_t count = 0;

    if (err)
        fv_experiment_say_unreadable(path);
    for (size_t i = 0; i < files.count; i++)
        if (is_wanted(e, files.paths[i]))
            wanted[count++].path = files.paths[i];
    const int worst = add_files(e, wanted, count);
    free(wanted);
    if (files.count && worst && !e->count && access(files.paths[0], R_OK))
        say_forbidden(path);
    e->backups += files.backups;
    note_elsewhere(e, path);
    bool none = !files.count;
    fv_rank_files_release(&files);
    return err ? err : none || (e->passed_by && !e->count && !worst) ? -FV_ENOENT : e->count ? 0 : worst;
}

/* Another file of an experiment, such as its archive. */
static bool said_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char *directory = fv_xcalloc(length + 2, 1);

    memcpy(directory, slash ? path : ".", slash ? length + !length : 1);
    bool said = !fv_experiment_is_rank_file(path) && has_rank_files(directory);
    if (said)
        fv_log("%s: not a rank file; give the experiment directory: %s", path, directory);
    free(directory);
    return said;
}

static int by_rank(const void *a, const void *b)
{
    const struct fv_experiment_file *x = a, *y = b;
    int p = fv_reader_header(x->reader)->world_rank, q = fv_reader_header(y->reader)->world_rank;

    return p != q ? (p > q) - (p < q) : strcmp(x->path, y->path);
}

/* A rank in two of the directories that were named: they are of several runs, or one is a copy. */
static bool said_twice(struct fv_experiment *e)
{
    qsort(e->files, e->count, sizeof(*e->files), by_rank);
    for (size_t i = 1; i < e->count; i++)
        if (header(e, i)->world_rank == header(e, i - 1)->world_rank &&
            e->files[i].directory != e->files[i - 1].directory) {
            fv_log("%s and %s are both of rank %d; name directories of one run, each once", e->files[i - 1].path,
                   e->files[i].path, header(e, i)->world_rank);
            return true;
        }
    return false;
}

static char *join(char *const *paths, size_t count)
{
    struct fv_arena arena = { 0 };
    const char *text = paths[0];

    for (size_t i = 1; i < count; i++)
        text = fv_arena_printf(&arena, "%s %s", text, paths[i]);
    char *joined = strcpy(fv_xcalloc(strlen(text) + 1, 1), text);
    fv_arena_release(&arena);
    return joined;
}

static char *join_quoted(char *const *paths, size_t count)
{
    size_t bytes = 1, used = 0;

    for (size_t i = 0; i < count; i++)
        bytes += 4 * strlen(paths[i]) + 16;
    char *joined = fv_xcalloc(bytes, 1);
    for (size_t i = 0; i < count; i++)
        fv_shell_add(joined, bytes, &used, paths[i]);
    return joined;
}

static int add_path(struct fv_experiment *e, const char *path, bool *said)
{
    struct stat st;
    int err;

    if (stat(path, &st) ? errno != ENOTDIR : S_ISDIR(st.st_mode) || fv_experiment_is_container(path))
        return add_directory(e, path);
    err = add_file(e, path);
    *said = err && said_directory(path);
    return err;
}

static int add_paths(struct fv_experiment *e, char *const *paths, size_t count)
{
    bool said = false;
    int err = 0;

    /* one of several may be empty: its files may not have been gathered */
    for (; !err && e->directories < count; e->directories++)
        if ((err = add_path(e, paths[e->directories], &said)) == -FV_ENOENT && count > 1)
            err = 0;
    if (!err && !e->count && !e->problems.count)
        err = -FV_ENOENT;
    if (err == -FV_ENOENT && e->passed_by) {
        fv_log("%s: none of its %zu rank files is of ranks %s; without --read-ranks all are read", paths[0],
               e->passed_by, e->wanted->text);
        return err;
    }
    for (size_t i = 0; err == -FV_ENOENT && i < count; i++)
        say_empty(paths[i]);
    for (size_t i = 0; err && !said && i < e->problems.count; i++)
        fv_log("%s: %s; nothing of it can be shown", e->problems.items[i].file, e->problems.items[i].text);
    return err;
}

static int open_wanted(struct fv_experiment *out, char *const *paths, size_t count, const struct fv_spans *ranks)
{
    struct fv_experiment e = { .wanted = ranks && ranks->text ? ranks : NULL,
                               .path = join(paths, count),
                               .operands = join_quoted(paths, count),
                               .first = strcpy(fv_xcalloc(strlen(paths[0]) + 1, 1), paths[0]) };
    int err = add_paths(&e, paths, count);

    if (!err)
        *out = e;
    else
        fv_experiment_release(&e);
    return err;
}

int fv_experiment_open_all(struct fv_experiment *out, char *const *paths, size_t count)
{
    return open_wanted(out, paths, count, NULL);
}

int fv_experiment_open(struct fv_experiment *out, char *const *paths, size_t count)
{
    return fv_experiment_open_ranks(out, paths, count, NULL);
}

int fv_experiment_open_ranks(struct fv_experiment *out, char *const *paths, size_t count, const struct fv_spans *ranks)
{
    int err = open_wanted(out, paths, count, ranks);

    if (!err && count > 1 && said_twice(out)) {
        fv_experiment_release(out);
        return -FV_EINVAL;
    }
    if (!err)
        fv_experiment_choose(out);
    return err;
}

void fv_experiment_release(struct fv_experiment *e)
{
    for (size_t i = 0; i < e->count; i++) {
        fv_reader_free(e->files[i].reader);
        free(e->files[i].path);
    }
    free(e->files);
    free(e->path);
    free(e->operands);
    free(e->first);
    free(e->elsewhere);
    fv_problems_release(&e->problems);
    *e = (struct fv_experiment){ 0 };
}

/* ---- which run ---- */

/* Files may be left from an earlier run with more ranks, or be of a program that this one spawned. */
static bool same_run(const struct fv_file_header *a, const struct fv_file_header *b)
{
    int64_t apart = (int64_t)((uint64_t)a->first.realtime_ns - (uint64_t)b->first.realtime_ns);

    if (a->job && a->job == b->job)
        return true;
    if (a->job && b->job && !memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)))
        return false; /* on one host, the ranks of a job know it by the same key */
    return a->world_size == b->world_size && apart <= SAME_RUN_NS && apart >= -SAME_RUN_NS;
}

static int by_rank_newest_first(const void *a, const void *b)
{
    const struct fv_file_header *x = fv_reader_header(((const struct fv_experiment_file *)a)->reader);
    const struct fv_file_header *y = fv_reader_header(((const struct fv_experiment_file *)b)->reader);

    if (x->world_rank != y->world_rank)
        return x->world_rank < y->world_rank ? -1 : 1;
    if (x->first.realtime_ns != y->first.realtime_ns)
        return x->first.realtime_ns > y->first.realtime_ns ? -1 : 1;
    return strcmp(((const struct fv_experiment_file *)a)->name, ((const struct fv_experiment_file *)b)->name);
}

static void leave_out(struct fv_experiment *e, size_t i, const char *why)
{
    const struct fv_file_header *h = header(e, i);

    fv_problem_add(&e->problems, FV_PROBLEM_LEFT_OUT, e->files[i].name, "%s (rank %d of %d, process %u)", why,
                   h->world_rank, h->world_size, h->pid);
    fv_reader_free(e->files[i].reader);
    free(e->files[i].path);
    e->files[i].path = NULL;
}

/* A second file of the rank that was kept: of an earlier process, or a copy. */
static void leave_out_second(struct fv_experiment *e, size_t i, size_t kept)
{
    bool is_copy = header(e, i)->first.realtime_ns == header(e, kept)->first.realtime_ns;
    char why[PATH_MAX];

    snprintf(why, sizeof(why), is_copy ? "the same as %s, left out" : "%s is newer and of the same rank: left out",
             e->files[kept].name);
    leave_out(e, i, why);
}

static void say_damage(struct fv_experiment *e)
{
    for (size_t i = 0; i < e->count; i++) {
        size_t kept;
        uint64_t total;
        const struct fv_damage *d = fv_reader_damage(e->files[i].reader, &kept, &total);

        for (size_t k = 0; k < kept && k < 3; k++)
            fv_problem_add(&e->problems, FV_PROBLEM_DAMAGED, e->files[i].name, "at byte %llu: %s",
                           (unsigned long long)d[k].offset, d[k].why);
        if (total > 3)
            fv_problem_add(&e->problems, FV_PROBLEM_DAMAGED, e->files[i].name,
                           "and %llu more damaged place%s; fvmpi dump lists them", (unsigned long long)(total - 3),
                           fv_words_s(total - 3));
    }
}

/* A gap between ranks with files, of `first` to `last`: no rank of it that was not wanted is missing. */
static unsigned say_gap(struct fv_experiment *e, int64_t first, int64_t last, const char *file, bool quietly)
{
    unsigned gaps = 0;

    for (int64_t rank = first; rank <= last; rank++) {
        int64_t begin = rank;

        if (e->wanted && !fv_spans_have(e->wanted, rank))
            continue;
        while (e->wanted && rank < last && fv_spans_have(e->wanted, rank + 1))
            rank++;
        rank = e->wanted ? rank : last;
        gaps++;
        if (quietly)
            continue;
        if (begin == rank)
            fv_problem_add(&e->problems, FV_PROBLEM_MISSING, NULL, "rank %lld has no %s", (long long)rank, file);
        else
            fv_problem_add(&e->problems, FV_PROBLEM_MISSING, NULL, "ranks %lld to %lld have no %s", (long long)begin,
                           (long long)rank, file);
    }
    return gaps;
}

/* Files that cannot be read may be theirs. */
static void say_missing(struct fv_experiment *e)
{
    int64_t next = 0, size = header(e, 0)->world_size;
    const char *file = "rank file";
    unsigned said = 0;

    for (size_t i = 0; i < e->problems.count; i++)
        if (e->problems.items[i].kind == FV_PROBLEM_UNREADABLE)
            file = "rank file that can be read";
    for (size_t i = 0; i <= e->count; i++) {
        int64_t rank = i < e->count ? header(e, i)->world_rank : size;

        if (rank > next && next < size)
            said += say_gap(e, next, rank - 1, file, said >= 64);
        next = rank + 1;
    }
    if (said > 64)
        fv_problem_add(&e->problems, FV_PROBLEM_MISSING, NULL, "and %u more gap%s between ranks", said - 64,
                       fv_words_s(said - 64));
}

void fv_experiment_choose(struct fv_experiment *e)
{
    size_t kept = 0, newest = 0;

    if (!e->count)
        return;
    for (size_t i = 1; i < e->count; i++)
        if (header(e, i)->first.realtime_ns > header(e, newest)->first.realtime_ns)
            newest = i;
    struct fv_file_header chosen = *header(e, newest);
    for (size_t i = 0; i < e->count; i++) {
        if (same_run(header(e, i), &chosen))
            e->files[kept++] = e->files[i];
        else
            leave_out(e, i, "of another run, left out; fvmpi report reads it by its name");
    }
    e->count = kept;
    qsort(e->files, e->count, sizeof(*e->files), by_rank_newest_first);
    kept = 1;
    for (size_t i = 1; i < e->count; i++) {
        if (header(e, i)->world_rank != header(e, kept - 1)->world_rank)
            e->files[kept++] = e->files[i];
        else
            leave_out_second(e, i, kept - 1);
    }
    e->count = kept;
    say_missing(e);
    if (e->elsewhere)
        fv_problem_add(&e->problems,
                       !e->wanted && e->count < (size_t)header(e, 0)->world_size ? FV_PROBLEM_MISSING : FV_PROBLEM_NOTE,
                       NULL, "%s", e->elsewhere);
    say_damage(e);
    if (e->backups)
        fv_problem_add(&e->problems, FV_PROBLEM_NOTE, NULL,
                       "the process ran %zu other program%s before it became this one by exec(): fvmpi report reads "
                       "*.fvr.N by name",
                       e->backups, e->backups == 1 ? "" : "s");
}
