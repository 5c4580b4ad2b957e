/* SPDX-License-Identifier: BSD-3-Clause */
/* See unify.h. */
#include "cmd/unify.h"
#include "base/shell.h"
#include "experiment/experiment.h"
#include "fvmpi.h"
#include "tool/words.h"
#include "trace/format_words.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void fv_unify_say_problems(struct fv_unify *r)
{
    const struct fv_problems *p = &r->merge.problems;

    for (size_t i = 0; i < p->count; i++) {
        bool missing = p->items[i].kind != FV_PROBLEM_NOTE;

        r->incomplete = r->incomplete || missing;
        if (missing || (r->options.verbose && !r->options.quiet))
            fv_log("%s: %s; %s", p->items[i].file ? p->items[i].file : r->options.directory, p->items[i].text,
                   missing ? "the rest is merged" : "it is merged all the same");
    }
    for (size_t i = 0; i < r->merge.contexts.problems.count && r->options.verbose && !r->options.quiet; i++)
        fv_log("%s", r->merge.contexts.problems.items[i].text);
}

/* Of the first rank file in a directory. */
static bool is_traced(const char *directory)
{
    struct fv_rank_files files;
    struct fv_reader *reader = NULL;
    char why[256];
    bool traced = false;

    fv_rank_files_list(&files, directory);
    for (size_t i = 0; i < files.count && !reader; i++)
        if (!fv_reader_open(files.paths[i], &reader, why, sizeof(why)))
            traced = fv_reader_header(reader)->traced;
    fv_reader_free(reader);
    fv_rank_files_release(&files);
    return traced;
}

/* A run that was to go to DIR, and found one there, went to DIR-2, and the next to DIR-3: the last of them
 * with events. */
static bool find_traced(const char *directory, char *out, size_t bytes)
{
    size_t length = strlen(directory);
    struct stat st;
    bool found = false;

    while (length > 1 && directory[length - 1] == '/')
        length--;
    for (unsigned i = 2; i < UINT_MAX; i++) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%.*s-%u", (int)length, directory, i) >= (int)sizeof(path) || stat(path, &st))
            break;
        if (is_traced(path) && snprintf(out, bytes, "%s", path) < (int)bytes)
            found = true;
    }
    return found;
}

bool fv_unify_has_traces(struct fv_unify *r)
{
    const struct fv_defs *d = &r->merge.defs;
    char other[PATH_MAX];
    bool first_process = r->merge.transport->rank == 0;
    uint32_t without = 0;

    for (size_t i = 0; i < d->rank_count; i++)
        without += !d->ranks[i].traced;
    if (first_process && without && without == d->rank_count && find_traced(r->options.directory, other, sizeof(other)))
        fv_log("%s: %u of %zu ranks have a profile and no events; %s beside it has events: %s", r->options.directory,
               without, d->rank_count, other, FV_COMMAND("fvunify", other));
    else if (first_process && without)
        fv_log("%s: %u of %zu ranks have a profile and no events; record with `fvmpi run --trace`%s",
               r->options.directory, without, d->rank_count, without == d->rank_count ? "" : ". The others are merged");
    r->incomplete = r->incomplete || without;
    return without < d->rank_count;
}

static struct missing {
    uint64_t calls, instances, samples, of_threads, of_files;
    bool disk, budget, by_clone; /* why: of some rank; by_clone: calls */
    uint32_t error;              /* of the disk */
} missing_of(const struct fv_unify *r)
{
    struct missing m = { 0 };

    for (size_t i = 0; i < r->merge.defs.rank_count; i++) {
        const struct fv_def_rank *rank = &r->merge.defs.ranks[i];
        bool any = rank->dropped || rank->dropped_instances || rank->dropped_samples || rank->dropped_of_threads ||
                   rank->dropped_of_files;

        m.disk |= any && rank->refused;
        m.error = any && rank->refused_error ? rank->refused_error : m.error;
        m.budget |= any && !rank->refused;
        m.by_clone |= rank->dropped && !rank->refused && !rank->stop_ticks;
        m.calls += r->merge.defs.ranks[i].dropped;
        m.instances += r->merge.defs.ranks[i].dropped_instances;
        m.samples += r->merge.defs.ranks[i].dropped_samples;
        m.of_threads += r->merge.defs.ranks[i].dropped_of_threads;
        m.of_files += r->merge.defs.ranks[i].dropped_of_files;
    }
    return m;
}

/* Why a trace ends early, and what to do. */
static const char *full_of(const struct missing *m, char out[300])
{
    snprintf(out, 300, "%s%s%s", m->budget || !m->disk ? "the trace's budget was used up; raise FVMPI_TRACE_MAX" : "",
             m->budget && m->disk ? "; or " : "", m->disk ? fv_refused_words(m->error) : "");
    return out;
}

static uint32_t count_unlisted(const struct fv_defs *d)
{
    uint32_t count = 0;

    for (size_t i = 0; i < d->comm_count; i++)
        count += !fv_def_comm_is_listed(&d->comms[i]);
    return count;
}

/* Returns how many are damaged. */
static uint64_t say_samples(const struct fv_unify *r, const struct missing *m, const char *where, const char *full)
{
    /* With --no-samples or --no-analysis one of both is 0; the analysis knows nothing of threads that make no calls. */
    const uint64_t damaged =
        r->samples.damaged > r->analysis.samples.damaged ? r->samples.damaged : r->analysis.samples.damaged;

    if (m->samples)
        fv_log("%s: %llu samples of the CPU clock are not in the trace: its file was in use just then, or %s", where,
               (unsigned long long)m->samples, full);
    if (damaged)
        fv_log("%s: %llu samples of the CPU clock are damaged or missing; they are left out", where,
               (unsigned long long)damaged);
    if (r->samples.behind)
        fv_log("%s: %llu samples of the CPU clock are later than the last sign of life of their rank: its file is "
               "damaged, or was read while it was written; they are left out",
               where, (unsigned long long)r->samples.behind);
    return damaged;
}

void fv_unify_say_missing(struct fv_unify *r)
{
    const uint32_t unlisted = count_unlisted(&r->merge.defs);
    const struct fv_instance_stats *i = &r->instances;
    const struct missing m = missing_of(r);
    const char *where = r->options.output ? r->options.output : r->options.directory;
    char why[300];
    const char *full = full_of(&m, why);

    if (m.calls)
        fv_log("%s: %llu calls are not in the trace: %s", where, (unsigned long long)m.calls,
               m.by_clone ? FV_WORDS_BY_CLONE : full);
    if (m.instances)
        fv_log("%s: %llu measured instances of functions are not in the trace: its file was in use just then, or %s",
               where, (unsigned long long)m.instances, full);
    const uint64_t damaged_samples = say_samples(r, &m, where, full);
    if (m.of_threads)
        fv_log("%s: %llu events of threads are not in the trace: a thread held more than 64 locks at once, "
               "or %s",
               where, (unsigned long long)m.of_threads, full);
    if (m.of_files)
        fv_log("%s: %llu calls of functions for files are not in the trace: %s", where, (unsigned long long)m.of_files,
               full);
    if (r->stats.lost)
        fv_log("%s: %llu calls are not in the trace: their file is damaged, or they are of signal handlers that "
               "interrupted the writing of another one, or it could not grow; what ranks did meanwhile is unknown",
               where, (unsigned long long)r->stats.lost);
    if (r->stats.damaged)
        fv_log("%s: %llu damaged chunks were cut short", where, (unsigned long long)r->stats.damaged);
    if (i->damaged + i->no_context)
        fv_log("%s: %llu measured instances of functions are damaged or missing, %llu are of functions that the "
               "damaged file does not name; they are left out",
               where, (unsigned long long)i->damaged, (unsigned long long)i->no_context);
    if (r->unknown_sections)
        fv_log("%s: %llu times sections began or ended that the damaged file does not name; they are left out", where,
               (unsigned long long)r->unknown_sections);
    if (unlisted)
        fv_log("%s: the members of %u communicator%s are not known: no rank file is there that lists them; "
               "messages and collective calls on %s are left out",
               where, unlisted, unlisted == 1 ? "" : "s", unlisted == 1 ? "it" : "them");
    r->incomplete = r->incomplete || m.calls || m.instances || m.samples || m.of_threads || m.of_files ||
                    damaged_samples || r->samples.behind || r->stats.lost || r->stats.damaged || i->damaged ||
                    i->no_context || r->unknown_sections || unlisted;
}

static void say_instances(const struct fv_unify *r, const char *where)
{
    const struct fv_instance_stats *s = &r->instances;

    if (s->off)
        fv_log("%s: %llu measured instances of functions began while recording was off, and are left out", where,
               (unsigned long long)s->off);
    if (s->crossed)
        fv_log("%s: %llu measured instances of functions overlap others of their thread, and are left out", where,
               (unsigned long long)s->crossed);
    if (s->cut)
        fv_log("%s: %llu measured instances of functions began or ended in a call of MPI; that part is cut off", where,
               (unsigned long long)s->cut);
    if (s->told)
        fv_log("%s/traces.otf2: %llu measured instance%s of functions", where, (unsigned long long)s->told,
               fv_words_s(s->told));
}

void fv_unify_say_result(const struct fv_unify *r, double seconds)
{
    const struct fv_replay_stats *s = &r->stats;
    const struct fv_defs *d = &r->merge.defs;
    const char *where = r->options.output ? r->options.output : r->options.directory;

    for (size_t i = 0; i < d->rank_count; i++)
        if (!fv_state_is_end(d->ranks[i].state))
            fv_log("rank %u: %s; its trace ends with the last call", d->ranks[i].world_rank,
                   d->ranks[i].state == FV_STATE_ABORTED ? "called MPI_Abort"
                   : d->ranks[i].runs                    ? "still runs"
                                                         : "was killed");
    if (s->no_comm && r->options.verbose)
        fv_log("%s: %llu messages and collective calls on communicators that are not described", where,
               (unsigned long long)s->no_comm);
    if (s->no_op && r->options.verbose)
        fv_log("%s: %llu starts of persistent collectives are calls without a record of the operation", where,
               (unsigned long long)s->no_op);
    if (r->options.verbose)
        fv_log("%s: %llu completions without a beginning in the trace, %llu requests under way at the end, "
               "%llu open calls",
               where, (unsigned long long)s->no_begin, (unsigned long long)s->unfinished,
               (unsigned long long)s->open_calls);
    say_instances(r, where);
    if (r->samples.told)
        fv_log("%s/traces.otf2: %llu sample%s of the CPU clock%s", where, (unsigned long long)r->samples.told,
               fv_words_s(r->samples.told),
               r->merge.calling ? "; regions are entered and left as calling contexts" : "");
    if (r->samples.off)
        fv_log("%s: %llu samples of the CPU clock were taken while calls were not recorded, in a pause or after the "
               "trace was full; they are left out",
               where, (unsigned long long)r->samples.off);
    if (!s->calls && !r->incomplete)
        fv_log("%s: no call is in the trace, because recording was off, or MPI's calls are left out; which of them "
               "says: %s",
               where, FV_COMMAND("fvmpi", "report", r->options.directory));
    fv_log("%s/traces.otf2: %zu rank%s, %llu calls, %llu events, in %.1f s", where, d->rank_count,
           d->rank_count == 1 ? "" : "s", (unsigned long long)s->calls, (unsigned long long)s->records, seconds);
}
