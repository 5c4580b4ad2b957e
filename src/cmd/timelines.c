/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/timelines.h"
#include "base/base.h"
#include "base/experiment.h"
#include "cmd/archives.h"
#include "experiment/experiment.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t hash_file(uint64_t hash, const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return hash;
    hash = fv_mix2(hash, fv_hash_text(path));
    return fv_mix2(fv_mix2(hash, (uint64_t)st.st_size),
                   (uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st.st_mtim.tv_nsec);
}

static uint64_t hash_trace(const struct fv_trace_timeline *r)
{
    struct fv_rank_files files;
    uint64_t hash = 1;

    if (fv_is_archive(r->trace))
        return hash_file(hash, r->trace);
    fv_rank_files_list(&files, r->trace);
    for (size_t i = 0; i < files.count; i++)
        hash = hash_file(hash, files.paths[i]);
    fv_rank_files_release(&files);
    return hash;
}

/* Beside the trace, or in the user's cache. */
static bool choose_place(struct fv_trace_timeline *r)
{
    char beside[PATH_MAX - 32];

    if (fv_is_archive(r->trace))
        fv_archive_place(r->trace, beside, sizeof(beside));
    else
        snprintf(beside, sizeof(beside), "%s", r->trace);
    snprintf(r->place, sizeof(r->place), "%s/.fvmpi-view", beside);
    if (!fv_archive_make_place(r->trace, r->place))
        return false;
    snprintf(r->file, sizeof(r->file), "%s/timeline", r->place);
    return true;
}

/* That this process may use. */
static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* What is missing in the trace is said. */
static void make(struct fv_trace_timeline *r)
{
    char source[24], processes[24], most[24];
    char *argv[] = { NULL,          "--timeline", r->file,           "--source", source,
                     "--processes", processes,    "--timeline-most", most,       "--output",
                     r->place,      "--",         (char *)r->trace,  NULL };

    snprintf(most, sizeof(most), "%llu", (unsigned long long)r->most_bytes);
    snprintf(processes, sizeof(processes), "%d", processors());
    snprintf(source, sizeof(source), "%llx", (unsigned long long)r->source);
    fv_archive_unify(r->trace, argv);
}

/* One that is there may have left out what there is room for now, or be larger. */
static bool fits(const struct fv_trace_timeline *t)
{
    const struct fv_timeline_header *h = t->timeline.header;
    static const struct fv_timeline_left_out nothing;

    return h->most_bytes == t->most_bytes ||
           (!memcmp(&h->left_out, &nothing, sizeof(nothing)) && (!t->most_bytes || h->file_bytes <= t->most_bytes));
}

/* Of a directory that holds an archive and no rank files, the archive. False: it has several, which was said. */
static bool find_trace(struct fv_trace_timeline *t, const char *trace)
{
    struct fv_rank_files files = { 0 };
    size_t rank_files, archives;
    struct stat st;

    t->trace = trace;
    if (stat(trace, &st) || !S_ISDIR(st.st_mode))
        return true;
    fv_rank_files_list(&files, trace);
    rank_files = files.count;
    fv_rank_files_release(&files);
    archives = rank_files ? 0 : fv_archive_in(trace, t->archive);
    if (archives == 1)
        t->trace = t->archive;
    else if (archives)
        fv_log("%s: it has %zu archives; name one, such as %s", trace, archives, t->archive);
    return archives <= 1;
}

bool fv_trace_timeline_open(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes)
{
    if (!find_trace(t, trace))
        return false;
    t->most_bytes = most_bytes;
    t->source = hash_trace(t);
    if (!choose_place(t))
        return false;
    if (fv_timeline_open(&t->timeline, t->file, t->source)) {
        if (fits(t))
            return true;
        fv_timeline_close(&t->timeline);
    }
    make(t);
    return fv_timeline_open(&t->timeline, t->file, t->source);
}

bool fv_trace_timeline_is_old(const struct fv_trace_timeline *t)
{
    return hash_trace(t) != t->source;
}

void fv_trace_timeline_close(struct fv_trace_timeline *t)
{
    fv_timeline_close(&t->timeline);
}

bool fv_trace_timeline_of(const char *trace, struct fv_timeline_file *out)
{
    struct fv_trace_timeline *t = fv_xcalloc(1, sizeof(*t));
    const bool good = fv_trace_timeline_open(t, trace, 0);

    if (good)
        *out = t->timeline;
    free(t);
    return good;
}
