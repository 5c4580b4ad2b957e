/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi keep: a copy of what a running job has recorded so far, while it goes on. A chunk of a ring may be filled again
 * while it is read: its header is looked at before and after, and if it has changed, the chunk is left out, as the
 * oldest ones always are in the end. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "base/base.h"
#include "base/experiment.h"
#include "base/process.h"
#include "base/shell.h"
#include "base/write_at.h"
#include "experiment/chunks.h"
#include "experiment/experiment.h"
#include "tool/new_file.h"
#include "tool/words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi keep [options] DIR\n"
    "Copies what a running job has recorded so far. The job goes on. DIR is its experiment directory; the copy is an\n"
    "experiment, too: DIR/keep-1, DIR/keep-2, ...\n"
    "\n"
    "      --last TIME   of a job with --trace-keep: events of about the last TIME, such as 500ms, 30s\n"
    "                    or 5m, in whole chunks\n"
    "  -o, --output DIR  write the copy to this directory, which must not exist\n"
    "  -q, --quiet       print only errors\n"
    "  -h, --help        print this help\n"
    "\n"
    "Exit status: 0 all rank files were copied, 1 some were not, 2 wrong usage.\n";

struct options {
    const char *output;
    double last_s; /* 0: all */
    bool quiet;
};

enum { OPT_LAST = 256 };

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi keep", what, why);
}

static bool parse_time(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 }, { "min", 60 }, { "h", 3600 } };
    char *end;

    *out = strtod(text, &end);
    for (unsigned i = 0; end != text && i < sizeof(units) / sizeof(*units); i++)
        if (!strcmp(end, units[i].unit)) {
            *out *= units[i].seconds;
            return isfinite(*out) && *out > 0;
        }
    return false;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_LAST: return parse_time(optarg, &o->last_s) ? FV_GO_ON : wrong(optarg, "--last takes a time, such as 30s");
    case 'o': o->output = optarg; return FV_GO_ON;
    case 'q': o->quiet = true; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return FV_UNKNOWN_OPTION;
}

/* ---- a rank file ---- */

struct copy {
    int from, to;
    const struct fv_reader *reader;
    uint64_t since_ticks; /* what ended before is left out; 0: nothing is */
    uint64_t events_end;  /* of the file when events were copied */
    char *buffer;
    size_t room;
    uint64_t bytes; /* copied */
};

static bool leave_out(struct copy *c, const struct fv_chunk_header *chunk, uint64_t offset)
{
    const struct fv_chunk_header free_one = { .magic = FV_CHUNK_FREE, .bytes = chunk->bytes, .inverse = ~chunk->bytes };

    return fv_write_at(c->to, &free_one, sizeof(free_one), offset);
}

static bool read_header(const struct copy *c, uint64_t offset, struct fv_chunk_header *out)
{
    return pread(c->from, out, sizeof(*out), (off_t)offset) == (ssize_t)sizeof(*out);
}

/* Its records are read after its header, so that all that this speaks of are there. */
static bool copy_chunk(struct copy *c, uint64_t offset)
{
    struct fv_chunk_header before, after;

    if (!read_header(c, offset, &before))
        return false;
    if (before.magic != FV_CHUNK_MAGIC || before.bytes < sizeof(before))
        return fv_chunk_is_free(&before) ? leave_out(c, &before, offset) : true;
    const size_t bytes = before.inverse ? sizeof(before) + before.used : before.bytes;
    if (bytes > before.bytes) /* it is being filled again */
        return leave_out(c, &before, offset);
    if (bytes > c->room) {
        c->buffer = fv_xrealloc(c->buffer, bytes, 1);
        c->room = bytes;
    }
    if (pread(c->from, c->buffer, bytes, (off_t)offset) < (ssize_t)sizeof(before) || !read_header(c, offset, &after))
        return false;
    if (after.magic != before.magic || after.check != before.check || after.used < before.used)
        return leave_out(c, &before, offset);
    memcpy(c->buffer, &before, sizeof(before));
    c->bytes += bytes;
    return fv_write_at(c->to, c->buffer, bytes, offset);
}

/* When its records end: where those of its thread's next chunk begin. `events`: of all threads, in order. */
static bool is_old(const struct copy *c, const struct fv_chunk *chunk, const struct fv_chunk **events, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        if (events[i] != chunk || events[i + 1]->thread != chunk->thread)
            continue;
        const uint64_t begin = fv_reader_events(c->reader, events[i + 1], NULL).begin;

        return begin && (int64_t)(begin - c->since_ticks) < 0;
    }
    return false;
}

/* Events first: what they refer to was written before, and is copied behind them. In the second pass the file is looked
 * at anew, because it may have grown; what events have come in between is left out. */
static bool copy_chunks(struct copy *c, bool events)
{
    size_t count, in_order = 0;
    const struct fv_chunk *chunks = fv_reader_chunks(c->reader, &count);
    const struct fv_chunk **of_threads = NULL;
    bool good = true;

    if (events && c->since_ticks)
        of_threads = fv_thread_chunks(c->reader, FV_NONE, fv_chunk_has_events, &in_order);
    for (size_t i = 0; i < count && good; i++) {
        const bool has = fv_chunk_has_events(&chunks[i]);
        struct fv_chunk_header header;

        if (has && (events ? is_old(c, &chunks[i], of_threads, in_order) : chunks[i].offset >= c->events_end))
            good = read_header(c, chunks[i].offset, &header) && leave_out(c, &header, chunks[i].offset);
        else if (has == events)
            good = copy_chunk(c, chunks[i].offset);
    }
    free(of_threads);
    return good;
}

/* Of a file whose process goes on, what it did then is not known. */
static bool copy_header(const struct copy *c)
{
    char page[FV_PAGE];
    struct fv_file_header *h = (struct fv_file_header *)(void *)page;

    if (pread(c->from, page, sizeof(page), 0) != (ssize_t)sizeof(page))
        return false;
    if (h->state == FV_STATE_RUNNING && fv_process_runs((pid_t)h->pid, h->process_start))
        h->state = FV_STATE_CUT;
    h->file_bytes = fv_reader_bytes(c->reader) < h->file_bytes ? fv_reader_bytes(c->reader) : h->file_bytes;
    return fv_write_at(c->to, page, sizeof(page), 0);
}

static uint64_t ticks_before(const struct fv_file_header *h, double seconds)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    const double since_first = (double)now.tv_sec - (double)h->first.realtime_ns / 1e9 + (double)now.tv_nsec / 1e9,
                 hz = h->clock_kind == FV_CLOCK_MONOTONIC ? 1e9
                      : h->nominal_hz                     ? (double)h->nominal_hz
                                                          : fv_clock_hz_since(h);

    return h->first.ticks + (uint64_t)(int64_t)((since_first - seconds) * hz);
}

static bool copy_pass(struct copy *c, const char *from, bool events, double last_s, char *why, size_t why_bytes)
{
    struct fv_reader *reader = NULL;

    if (fv_reader_open(from, &reader, why, why_bytes))
        return false;
    c->reader = reader;
    if (last_s > 0)
        c->since_ticks = ticks_before(fv_reader_header(reader), last_s);
    if (events)
        c->events_end = fv_reader_bytes(reader);
    bool good =
        !ftruncate(c->to, (off_t)fv_reader_bytes(reader)) && copy_chunks(c, events) && (events || copy_header(c));
    fv_reader_free(reader);
    return good;
}

static bool copy_file(const char *from, const char *to, double last_s, uint64_t *bytes, char *why, size_t why_bytes)
{
    struct copy c = { .from = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .to = -1 };
    bool good = c.from >= 0 && (c.to = fv_new_file(to, O_RDWR, 0666)) >= 0 &&
                copy_pass(&c, from, true, last_s, why, why_bytes) && copy_pass(&c, from, false, 0, why, why_bytes);

    if (!good && !*why)
        snprintf(why, why_bytes, "%s", strerror(errno));
    *bytes += c.bytes;
    free(c.buffer);
    if (c.from >= 0)
        close(c.from);
    if (c.to >= 0 && close(c.to) && good) {
        good = false;
        snprintf(why, why_bytes, "%s", strerror(errno));
    }
    if (!good && c.to >= 0)
        unlink(to);
    return good;
}

/* ---- the experiment ---- */

/* A new directory for the copy. */
static bool make_output(const char *directory, const struct options *o, char out[PATH_MAX])
{
    if (o->output) {
        bool fits = (size_t)snprintf(out, PATH_MAX, "%s", o->output) < PATH_MAX;

        if (!fits)
            errno = ENAMETOOLONG;
        return fits && !mkdir(out, 0777);
    }
    for (unsigned i = 1; i < 100000; i++) {
        if ((size_t)snprintf(out, PATH_MAX, "%s/keep-%u", directory, i) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (!mkdir(out, 0777))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* The same name below the copy's directory: a rank file of a large job is in a folder. */
static bool place_of(const char *file, const char *directory, const char *output, char out[PATH_MAX])
{
    const size_t length = strlen(directory);
    const char *name =
        strncmp(file, directory, length) != 0 || file[length] != '/' ? fv_base_name(file) : file + length;

    while (*name == '/')
        name++;
    if ((size_t)snprintf(out, PATH_MAX, "%s/%s", output, name) >= PATH_MAX)
        return false;
    char *slash = strrchr(out, '/');
    *slash = '\0';
    bool good = !mkdir(out, 0777) || errno == EEXIST;
    *slash = '/';
    return good;
}

static void copy_run_json(const char *directory, const char *output)
{
    char from[PATH_MAX], to[PATH_MAX], text[16384];

    if ((size_t)snprintf(from, sizeof(from), "%s/run.json", directory) >= sizeof(from) ||
        (size_t)snprintf(to, sizeof(to), "%s/run.json", output) >= sizeof(to))
        return;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out;
    ssize_t n = in >= 0 ? read(in, text, sizeof(text)) : -1;
    if (in >= 0)
        close(in);
    if (n <= 0 || (out = fv_new_file(to, O_WRONLY, 0666)) < 0)
        return;
    if (!fv_write_at(out, text, (size_t)n, 0))
        unlink(to);
    close(out);
}

static size_t copy_files(const struct fv_rank_files *files, const char *directory, const char *output,
                         const struct options *o, uint64_t *bytes)
{
    size_t copied = 0;

    for (size_t i = 0; i < files->count; i++) {
        char to[PATH_MAX], why[256] = "";

        if (place_of(files->paths[i], directory, output, to) &&
            copy_file(files->paths[i], to, o->last_s, bytes, why, sizeof(why)))
            copied++;
        else
            fv_log("keep: %s: %s; it is not in the copy", files->paths[i], *why ? why : strerror(errno));
    }
    return copied;
}

/* Does the job have a ring? By its first file. */
static bool has_ring(const struct fv_rank_files *files)
{
    struct fv_reader *reader = NULL;
    char why[256];
    bool has = files->count && !fv_reader_open(files->paths[0], &reader, why, sizeof(why)) &&
               fv_reader_header(reader)->trace_keep;

    fv_reader_free(reader);
    return has;
}

/* Of a job with --local. */
static bool say_elsewhere(const char *directory)
{
    struct fv_experiment_places places;

    fv_experiment_places(&places, directory);
    const bool any = places.elsewhere[0];
    if (any)
        fv_log("keep: %s: ranks on %s write to their nodes' own disks (--local); to copy theirs, run fvmpi keep there",
               directory, places.elsewhere);
    fv_experiment_places_release(&places);
    return any;
}

static int keep(const char *directory, const struct options *o)
{
    struct fv_rank_files files;
    char output[PATH_MAX], words[FV_WORD];
    uint64_t bytes = 0;
    size_t copied = 0;
    int err = fv_rank_files_list_here(&files, directory);

    if (err) {
        fv_experiment_say_unreadable(directory);
    } else if (!files.count) {
        if (!say_elsewhere(directory))
            fv_log("keep: %s: no rank files (*.fvr) in it; give the experiment directory of a running job", directory);
    } else if (o->last_s > 0 && !has_ring(&files)) {
        fv_log("keep: %s: --last is for jobs with --trace-keep; leave it out to copy all", directory);
    } else {
        fv_experiment_as_private_as(files.paths[0]);
        if (!make_output(directory, o, output)) {
            fv_log("keep: %s: %s; name another directory with -o", o->output ? o->output : directory, strerror(errno));
        } else {
            copied = copy_files(&files, directory, output, o, &bytes);
            copy_run_json(directory, output);
            if (!o->quiet)
                fv_log("%s: %zu rank file%s, %s. Read it with: %s", output, copied, fv_words_s(copied),
                       fv_words_bytes(bytes, words), FV_COMMAND("fvmpi", "report", output));
        }
    }
    bool good = copied && copied == files.count && !say_elsewhere(directory);
    fv_rank_files_release(&files);
    return good ? FV_EXIT_OK : FV_EXIT_FAILED;
}

int fv_cmd_keep(int argc, char **argv)
{
    static const struct option table[] = {
        { "last", required_argument, NULL, OPT_LAST },
        { "output", required_argument, NULL, 'o' },
        { "quiet", no_argument, NULL, 'q' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "o:qh", table, take_option, wrong, "experiment directory", true };
    struct options options = { 0 };
    struct fv_operands operands;
    int status = fv_arguments_take(&arguments, argc, argv, &options, &operands);

    return status == FV_GO_ON ? keep(operands.items[0], &options) : status;
}
