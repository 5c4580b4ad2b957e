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
        fv_log("%s: %u of %zu rank%s: only a profile, no events; %s beside it has events: %s", r->options.directory,
               without, d->rank_count, fv_words_s(d->rank_count), other, FV_COMMAND("fvunify", other));
    else if (first_process && without)
        fv_log("%s: %u of %zu rank%s: only a profile, no events; record with `fvmpi run --trace`%s",
               r->options.directory, without, d->rank_count, fv_words_s(d->rank_count),
               without == d->rank_count ? "" : ". The others are merged");
    r->incomplete = r->incomplete || without;
    return without < d->rank_count;
}

bool fv_unify_may_read(const struct fv_unify *r)
{
    for (size_t i = 0; i < r->merge.file_count; i++) {
        const struct fv_merge_file *f = &r->merge.files[i];

        if (!fv_reader_header(f->reader)->trace_keep || !r->merge.defs.ranks[f->rank].runs)
            continue;
        fv_log("%s: still runs, and fills its trace again and again; copy it, and merge the copy: %s", f->name,
               FV_COMMAND("fvmpi", "keep", r->options.directory));
        return false;
    }
    return true;
}

static struct missing {
    uint64_t calls, instances, samples, of_threads, of_files, of_memory;
    uint32_t lacking, by_clone; /* ranks without some calls; of these, by a child's */
    bool disk, budget;          /* why: of some rank */
    uint32_t error;             /* of the disk */
} missing_of(const struct fv_unify *r)
{
    struct missing m = { 0 };

    for (size_t i = 0; i < r->merge.defs.rank_count; i++) {
        const struct fv_def_rank *rank = &r->merge.defs.ranks[i];
        bool is_by_clone = fv_is_by_clone(rank->dropped, rank->refused, rank->stop_ticks != 0);
        bool any = (rank->dropped && !is_by_clone) || rank->dropped_instances || rank->dropped_samples ||
                   rank->dropped_of_threads || rank->dropped_of_files || rank->dropped_of_memory;

        m.disk |= any && rank->refused;
        m.error = any && rank->refused_error ? rank->refused_error : m.error;
        m.budget |= any && !rank->refused;
        m.lacking += rank->dropped != 0;
        m.by_clone += is_by_clone;
        m.calls += rank->dropped;
        m.instances += rank->dropped_instances;
        m.samples += rank->dropped_samples;
        m.of_threads += rank->dropped_of_threads;
        m.of_files += rank->dropped_of_files;
        m.of_memory += rank->dropped_of_memory;
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

/* "1 call is", "2 calls are". */
#define ARE 80
static char *are(uint64_t count, const char *noun, const char *of, char out[ARE])
{
    snprintf(out, ARE, "%llu %s%s%s %s", (unsigned long long)count, noun, fv_words_s(count), of,
             count == 1 ? "is" : "are");
    return out;
}

/* Returns how many are damaged. */
static uint64_t say_samples(const struct fv_unify *r, const struct missing *m, const char *where, const char *full)
{
    /* With --no-samples or --no-analysis one of both is 0; the analysis knows nothing of threads that make no calls. */
    const uint64_t damaged =
        r->samples.damaged > r->analysis.samples.damaged ? r->samples.damaged : r->analysis.samples.damaged;
    static const char of[] = " of the CPU clock";
    char n[ARE];

    if (m->samples)
        fv_log("%s: %s not in the trace: the file was in use at that moment, or %s", where,
               are(m->samples, "sample", of, n), full);
    if (damaged)
        fv_log("%s: %s damaged or missing, and left out", where, are(damaged, "sample", of, n));
    if (r->samples.behind)
        fv_log("%s: %s left out, being later than the rank's last sign of life: its file is damaged, or was read while "
               "it was written",
               where, are(r->samples.behind, "sample", of, n));
    return damaged;
}

static void say_damaged(const struct fv_unify *r, const char *where)
{
    const struct fv_instance_stats *i = &r->instances;
    char n[ARE];

    if (r->stats.lost)
        fv_log("%s: %s not in the trace: the file is damaged or could not grow, or a signal handler called MPI while "
               "another call was written. What ranks did then is unknown",
               where, are(r->stats.lost, "call", "", n));
    if (r->stats.damaged)
        fv_log("%s: %s damaged; their first records are merged", where, are(r->stats.damaged, "chunk", "", n));
    if (i->damaged + i->no_context)
        fv_log("%s: %s left out: %llu damaged or missing, %llu of functions that the damaged file does not name", where,
               are(i->damaged + i->no_context, "measured call", "", n), (unsigned long long)i->damaged,
               (unsigned long long)i->no_context);
    if (r->unknown_sections)
        fv_log("%s: %s left out: the damaged file does not name the section", where,
               are(r->unknown_sections, "begin or end", " of a section", n));
}

/* Of a rank whose trace did not end early it was a child; of several ranks it may be both. */
static void say_calls(const struct missing *m, const char *where, const char *full)
{
    const bool all = m->by_clone == m->lacking;
    char n[ARE];

    fv_log("%s: %s not in the trace: %s%s%s", where, are(m->calls, "call", "", n), all ? "" : full,
           !all && m->by_clone ? "; or " : "", m->by_clone ? FV_WORDS_BY_CLONE : "");
}

void fv_unify_say_missing(struct fv_unify *r)
{
    const uint32_t unlisted = count_unlisted(&r->merge.defs);
    const struct fv_instance_stats *i = &r->instances;
    const struct missing m = missing_of(r);
    const char *where = r->options.output ? r->options.output : r->options.directory;
    char why[300], n[ARE];
    const char *full = full_of(&m, why);

    if (m.calls)
        say_calls(&m, where, full);
    if (m.instances)
        fv_log("%s: %s not in the trace: the file was in use at that moment, or %s", where,
               are(m.instances, "measured call", "", n), full);
    const uint64_t damaged_samples = say_samples(r, &m, where, full);
    if (m.of_threads)
        fv_log("%s: %s not in the trace: a thread held more than 64 locks at once, or %s", where,
               are(m.of_threads, "event", " of threads", n), full);
    if (m.of_files)
        fv_log("%s: %s not in the trace: there was no memory to count them, or %s", where,
               are(m.of_files, "file operation", "", n), full);
    if (m.of_memory)
        fv_log("%s: %s not in the trace: %s", where, are(m.of_memory, "call", " of the allocator", n), full);
    say_damaged(r, where);
    if (unlisted)
        fv_log("%s: the members of %u communicator%s are not known: no rank file is there that lists them; "
               "messages and collective calls on %s are left out",
               where, unlisted, fv_words_s(unlisted), unlisted == 1 ? "it" : "them");
    r->incomplete = r->incomplete || m.calls || m.instances || m.samples || m.of_threads || m.of_files || m.of_memory ||
                    damaged_samples || r->samples.behind || r->stats.lost || r->stats.damaged || i->damaged ||
                    i->no_context || r->unknown_sections || unlisted;
}

static void say_instances(const struct fv_unify *r, const char *where)
{
    const struct fv_instance_stats *s = &r->instances;
    static const char noun[] = "measured call";
    char n[ARE];

    if (s->off)
        fv_log("%s: %s left out: recording was off at the begin", where, are(s->off, noun, "", n));
    if (s->crossed)
        fv_log("%s: %s left out: another one of the thread overlaps", where, are(s->crossed, noun, "", n));
    if (s->cut)
        fv_log("%s: %s cut at an MPI call, in which the begin or the end was", where, are(s->cut, noun, "", n));
    if (s->told)
        fv_log("%s/traces.otf2: %llu measured call%s", where, (unsigned long long)s->told, fv_words_s(s->told));
}

static void say_details(const struct fv_replay_stats *s, const char *where)
{
    if (s->no_comm)
        fv_log("%s: %llu message%s and collective calls on communicators that are not described", where,
               (unsigned long long)s->no_comm, fv_words_s(s->no_comm));
    if (s->no_op)
        fv_log("%s: %llu start%s of persistent collectives without a record of the operation, written as calls only",
               where, (unsigned long long)s->no_op, fv_words_s(s->no_op));
    fv_log(
        "%s: %llu completion%s without a start in the trace, %llu request%s in progress at the end, %llu open call%s",
        where, (unsigned long long)s->no_begin, fv_words_s(s->no_begin), (unsigned long long)s->unfinished,
        fv_words_s(s->unfinished), (unsigned long long)s->open_calls, fv_words_s(s->open_calls));
}

/* What is kept of traces that are rings. */
static void say_rings(const struct fv_unify *r, const char *where)
{
    const struct fv_rings *kept = &r->merge.rings;
    const int64_t length = fv_clocks_length(&r->merge.clocks, &r->merge.defs);
    char n[ARE];

    if (!kept->any)
        return;
    fv_log("%s: --trace-keep has kept the last %.6f s of all ranks, from %.6f s on%s", where,
           (double)(length - (int64_t)kept->from_ns) / 1e9, (double)kept->from_ns / 1e9,
           r->analysed ? "; only these are analysed" : "");
    if (r->stats.left_out == 1)
        fv_log("%s: 1 send or receive is left out: the other end is not kept", where);
    else if (r->stats.left_out)
        fv_log("%s: %s left out: the other end is not kept", where, are(r->stats.left_out, "sends or receive", "", n));
}

static bool any_has_mpi(const struct fv_defs *d)
{
    for (size_t i = 0; i < d->rank_count; i++)
        if (strcmp(d->ranks[i].mpi, "none"))
            return true;
    return false;
}

/* Each program's begin and end are in any trace. */
static void say_empty(const struct fv_unify *r, const char *where)
{
    const struct fv_defs *d = &r->merge.defs;

    if (r->stats.calls || r->incomplete)
        return;
    if (any_has_mpi(d))
        fv_log("%s: no MPI call is in the trace: recording was off, or MPI calls are left out; see: %s", where,
               FV_COMMAND("fvmpi", "report", r->options.directory));
    else if (r->stats.records <= 2 * d->rank_count && !r->samples.told)
        fv_log("%s: nothing is in the trace: of a program without MPI it has sections, and what --io, --threads, "
               "--functions, --sample and --memory=calls record",
               where);
}

void fv_unify_say_result(const struct fv_unify *r, double seconds)
{
    const struct fv_replay_stats *s = &r->stats;
    const struct fv_defs *d = &r->merge.defs;
    const char *where = r->options.output ? r->options.output : r->options.directory;
    char n[ARE];

    for (size_t i = 0; i < d->rank_count; i++)
        if (!fv_state_is_end(d->ranks[i].state))
            fv_log("rank %u: %s; its trace ends with the last call", d->ranks[i].world_rank,
                   d->ranks[i].state == FV_STATE_ABORTED ? "called MPI_Abort"
                   : d->ranks[i].state == FV_STATE_CUT   ? "not all of its events were there"
                   : d->ranks[i].runs                    ? "still runs"
                                                         : "was killed");
    if (r->options.verbose)
        say_details(s, where);
    say_rings(r, where);
    say_instances(r, where);
    if (r->samples.told)
        fv_log("%s/traces.otf2: %llu sample%s of the CPU clock%s", where, (unsigned long long)r->samples.told,
               fv_words_s(r->samples.told), r->merge.calling ? "; regions are written as calling contexts" : "");
    if (r->samples.off)
        fv_log("%s: %s left out: taken while calls were not recorded, in a pause or after the trace was full", where,
               are(r->samples.off, "sample", " of the CPU clock", n));
    say_empty(r, where);
    fv_log("%s/traces.otf2: %zu rank%s, %llu call%s, %llu event%s, in %.1f s", where, d->rank_count,
           fv_words_s(d->rank_count), (unsigned long long)s->calls, fv_words_s(s->calls),
           (unsigned long long)s->records, fv_words_s(s->records), seconds);
}

/* The kinds of waiting, the longest first. */
static void say_kinds(const uint64_t *ns)
{
    bool done[FV_WS_COUNT] = { false };

    for (unsigned i = 1; i < FV_WS_COUNT; i++) {
        unsigned most = 0;

        for (unsigned k = 1; k < FV_WS_COUNT; k++)
            if (!done[k] && ns[k] && (!most || ns[k] > ns[most]))
                most = k;
        if (!most)
            return;
        done[most] = true;
        fv_log("  %-24s %10.6f s", fv_wait_state_names[most], (double)ns[most] / 1e9);
    }
}

void fv_unify_say_analysis(const struct fv_unify *r, double seconds)
{
    const char *where = r->options.output ? r->options.output : r->options.directory;
    uint64_t ns[FV_WS_COUNT] = { 0 }, wait = 0, in_mpi = 0, calls = 0;

    for (size_t i = 0; i < r->analysis.tallies.count; i++) {
        const struct fv_tally *t = &r->analysis.tallies.items[i];

        if (t->what == FV_TALLY_CALLS) {
            in_mpi += t->ns;
            calls += t->count;
        } else if (t->what == FV_TALLY_WAIT) {
            ns[t->kind] += t->ns;
            wait += fv_is_completion(t->kind) ? 0 : t->ns;
        }
    }
    fv_log("%s/analysis.json: %zu rank%s, %llu call%s of MPI take %.6f s, of which %.6f s is waiting; in %.1f s", where,
           r->merge.defs.rank_count, fv_words_s(r->merge.defs.rank_count), (unsigned long long)calls, fv_words_s(calls),
           (double)in_mpi / 1e9, (double)wait / 1e9, seconds);
    say_kinds(ns);
}
