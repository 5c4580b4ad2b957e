/* SPDX-License-Identifier: BSD-3-Clause */
/* fvunify: merges the traces of an experiment into one OTF2 archive. Built once for each MPI and once
 * without; src/cmd/unify.c starts the one that fits. */
#include "cmd/archives.h"
#include "base/now.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/processes.h"
#include "cmd/unify.h"
#include "tool/words.h"
#include "experiment/experiment.h"
#include "fvmpi.h"
#include "merge/correct.h"
#include "merge/labels.h"
#include "merge/memory.h"
#include "merge/sensors.h"
#include "merge/weave_samples.h"
#include "merge/weave_sections.h"
#include "otf2/archive.h"
#include "otf2/import.h"
#include "timeline/timeline_read.h"
#include "timeline/timeline_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: mpiexec -n M fvunify DIR... [options]\n"
    "       fvunify DIR... [options]\n"
    "       fvunify ARCHIVE.otf2 [options]\n"
    "Merges the traces of a run of `fvmpi run --trace` into an OTF2 archive, DIR/traces.otf2, which Vampir, ViTE, "
    "Scalasca\n"
    "and other tools open. M may be any number; the archive is the same. If the rank files of the run are in several\n"
    "directories, the archive is written to the first one.\n"
    "An archive of any tool becomes an experiment, with an analysis of its waiting: ARCHIVE.fvmpi, or the directory of "
    "-o.\n"
    "\n"
    "  -o, --output DIR  write traces.otf2, traces/ and analysis.json there\n"
    "      --from S, --to S  with ARCHIVE.otf2 and -o: this part of the run, in seconds from its begin\n"
    "      --memory N  memory that each process may use for buffers, in bytes, or with K, M or G (256M)\n"
    "      --no-correct  leave times as the clocks gave them, even if a message arrives before it is sent\n"
    "      --no-symbols  show call paths as module+offset\n"
    "      --no-samples  leave out samples of the CPU clock\n"
    "      --calling-contexts  write regions and samples as calling contexts, which Vampir shows\n"
    "      --no-analysis  do not look for waiting and its causes (DIR/analysis.json)\n"
    "      --compress  compress the archive, if the OTF2 library can\n"
    "      --timeline FILE  write what `fvmpi view` shows to FILE, in place of an archive\n"
    "      --keep      keep the unfinished archive if the merge fails\n"
    "  -q, --quiet     print only errors and what is missing\n"
    "  -v, --verbose   say what is done\n"
    "  -h, --help      print this help\n"
    "      --version   print the version\n"
    "\n"
    "Exit status: 0 all merged, 1 failed, or something is missing (stderr names it), 2 wrong usage.\n";

/* ---- options ---- */

static bool first_process; /* says what concerns all */

static int wrong(const char *what, const char *why)
{
    return first_process ? fv_arguments_wrong("fvunify", what, why) : FV_EXIT_USAGE;
}

static bool parse_size(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' || *end == 'k'   ? 10
                     : *end == 'M' || *end == 'm' ? 20
                     : *end == 'G' || *end == 'g' ? 30
                                                  : 0;
    if (errno || end == text || *text == '-' || (shift ? end[1] : end[0]) || value > UINT64_MAX >> shift)
        return false;
    *out = value << shift;
    return *out >= 1 << 20;
}

enum {
    OPT_MEMORY = 256,
    OPT_FROM,
    OPT_TO,
    OPT_PART_OF,
    OPT_NO_CORRECT,
    OPT_NO_SYMBOLS,
    OPT_NO_SAMPLES,
    OPT_CONTEXTS,
    OPT_NO_ANALYSIS,
    OPT_COMPRESS,
    OPT_KEEP,
    OPT_TIMELINE,
    OPT_SOURCE,
    OPT_TIMELINE_MOST,
    OPT_HEAD,
    OPT_PROGRESS,
    OPT_PROCESSES,
    OPT_VERSION
};

static int take_option(void *options, int option)
{
    struct fv_unify_options *o = options;

    switch (option) {
    case 'o': o->output = optarg; return FV_GO_ON;
    case OPT_FROM: return fv_arguments_time(&o->part.from_s, optarg, wrong);
    case OPT_TO: return fv_arguments_time(&o->part.to_s, optarg, wrong);
    case OPT_PART_OF: o->part_of = optarg; return FV_GO_ON;
    case 'q': o->quiet = true; return FV_GO_ON;
    case 'v': o->verbose = true; return FV_GO_ON;
    case OPT_NO_CORRECT: o->correct = false; return FV_GO_ON;
    case OPT_NO_SYMBOLS: o->symbols = false; return FV_GO_ON;
    case OPT_NO_SAMPLES: o->samples = FV_SAMPLES_NONE; return FV_GO_ON;
    case OPT_CONTEXTS: o->samples = FV_SAMPLES_CONTEXTS; return FV_GO_ON;
    case OPT_NO_ANALYSIS: o->analysis = false; return FV_GO_ON;
    case OPT_COMPRESS: o->compress = true; return FV_GO_ON;
    case OPT_KEEP: o->keep = true; return FV_GO_ON;
    case OPT_TIMELINE: o->timeline = optarg; return FV_GO_ON;
    case OPT_PROCESSES: return FV_GO_ON; /* processes_serial.c */
    case OPT_TIMELINE_MOST: o->timeline_most = strtoull(optarg, NULL, 10); return FV_GO_ON;
    case OPT_HEAD: o->head = strtoull(optarg, NULL, 10); return FV_GO_ON;
    case OPT_PROGRESS: o->progress = atoi(optarg); return FV_GO_ON;
    case OPT_SOURCE: o->source = strtoull(optarg, NULL, 16); return FV_GO_ON;
    case OPT_MEMORY:
        return parse_size(optarg, &o->memory) ? FV_GO_ON : wrong(optarg, "--memory takes a size from 1M, like 256M");
    case 'h':
        if (first_process)
            fputs(usage, stdout);
        return FV_EXIT_OK;
    case OPT_VERSION:
        if (first_process)
            puts("fvunify " FVMPI_VERSION);
        return FV_EXIT_OK;
    }
    return FV_UNKNOWN_OPTION;
}

/* Options of an archive that is made mean nothing for one that is read. */
static const char *made_only(const struct fv_unify_options *o)
{
    return !o->correct                         ? "--no-correct"
           : !o->symbols                       ? "--no-symbols"
           : o->samples == FV_SAMPLES_NONE     ? "--no-samples"
           : o->samples == FV_SAMPLES_CONTEXTS ? "--calling-contexts"
           : o->compress                       ? "--compress"
           : o->keep                           ? "--keep"
                                               : NULL;
}

static int check_archive(struct fv_unify_options *o)
{
    static char directory[PATH_MAX + 32];

    if (o->directories.count > 1)
        return wrong(o->directories.items[1], "an archive is read alone");
    if (made_only(o))
        return wrong(made_only(o), "it is for rank files; an archive is read, and not written again");
    if (!fv_part_is_all(&o->part) && !o->output)
        return wrong("--from and --to", "a part of a run takes -o DIR, where it becomes an experiment of its own");
    fv_archive_place(o->directories.items[0], directory, sizeof(directory));
    o->directory = directory;
    return FV_GO_ON;
}

/* A single rank file has no directory for the archive. */
static int check_place(struct fv_unify_options *o)
{
    struct stat st;

    for (size_t i = 0; i < o->directories.count; i++)
        if (fv_import_is_anchor(o->directories.items[i]))
            return check_archive(o);
    if (!fv_part_is_all(&o->part))
        return wrong("--from and --to", "they are for an archive; fvmpi report takes them with an experiment");
    if (o->output || stat(o->directory, &st) || S_ISDIR(st.st_mode))
        return FV_GO_ON;
    return wrong(o->directory, "a file; give its directory, or name one for the archive with -o");
}

static int parse(int argc, char **argv, struct fv_unify_options *o)
{
    static const struct option table[] = {
        { "output", required_argument, NULL, 'o' },
        { "from", required_argument, NULL, OPT_FROM },
        { "to", required_argument, NULL, OPT_TO },
        { "part-of", required_argument, NULL, OPT_PART_OF }, /* by fvmpi report: what it was asked for */
        { "memory", required_argument, NULL, OPT_MEMORY },
        { "no-correct", no_argument, NULL, OPT_NO_CORRECT },
        { "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
        { "no-samples", no_argument, NULL, OPT_NO_SAMPLES },
        { "calling-contexts", no_argument, NULL, OPT_CONTEXTS },
        { "compress", no_argument, NULL, OPT_COMPRESS },
        { "no-analysis", no_argument, NULL, OPT_NO_ANALYSIS },
        { "keep", no_argument, NULL, OPT_KEEP },
        { "timeline", required_argument, NULL, OPT_TIMELINE },
        { "source", required_argument, NULL, OPT_SOURCE },
        { "timeline-most", required_argument, NULL, OPT_TIMELINE_MOST },
        { "head", required_argument, NULL, OPT_HEAD },
        { "progress", required_argument, NULL, OPT_PROGRESS },
        { "processes", required_argument, NULL, OPT_PROCESSES },
        { "quiet", no_argument, NULL, 'q' },
        { "verbose", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { 0 },
    };
    static const struct fv_arguments arguments = { "o:qvh", table, take_option, wrong, "experiment directory", false };

    *o = (struct fv_unify_options){
        .memory = UINT64_C(256) << 20, .correct = true, .symbols = true, .samples = FV_SAMPLES_METRIC, .analysis = true
    };
    int status = fv_arguments_take(&arguments, argc, argv, o, &o->directories);
    if (status < 0)
        status = fv_arguments_part(&o->part, wrong);
    if (status >= 0)
        return status;
    o->directory = o->directories.items[0];
    return check_place(o);
}

/* ---- progress ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    if (!interrupted)
        fv_processes_interrupt();
    interrupted = 1;
}

static void tell_progress(struct fv_unify_progress *p)
{
    const uint64_t percent = p->all && p->done < p->all ? p->done * 100 / p->all : 100;

    if (percent > p->percent && write(p->to, &(uint8_t){ (uint8_t)percent }, 1) == 1)
        p->percent = (uint8_t)percent;
}

static void progress_begin(struct fv_unify *r, uint64_t passes, double begin_s)
{
    r->progress = (struct fv_unify_progress){ .on = first_process && !r->options.quiet && isatty(STDERR_FILENO),
                                              .to = first_process ? r->options.progress : 0,
                                              .all = r->merge.event_bytes * passes,
                                              .begin_s = begin_s };
}

/* Of this process's share, which stands for all. */
static void progress_add(void *context, uint64_t bytes)
{
    struct fv_unify_progress *p = context;
    static const char full[] = "##################################################";

    p->done += bytes;
    if (p->to)
        tell_progress(p);
    double now = p->on ? fv_now_s() : 0;
    if (!p->on || now - p->begin_s < 0.5 || now - p->last_s < 0.1)
        return;
    p->last_s = now;
    p->shown = true;
    int part = p->all ? (int)(p->done * 50 / p->all) : 0;
    part = part > 50 ? 50 : part;
    fprintf(stderr, "\r\033[Kfvmpi: merging [%.*s%*s] %3d %%", part, full, 50 - part, "", part * 2);
    fflush(stderr);
}

static void progress_end(struct fv_unify_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

/* ---- the merge ---- */

static bool said_interrupted(struct fv_unify *r)
{
    static bool said;

    if (interrupted && r->merge.transport->rank == 0 && !said)
        fv_log("%s: interrupted; %s", r->options.directories.items[0],
               r->options.timeline       ? "nothing was made that could be viewed"
               : r->merge.source_context ? "there is no analysis"
                                         : "no archive was made");
    said = interrupted;
    return interrupted;
}

#define EVENT_GROWS 4 /* about: bytes of an event in the archive for one in a rank file */

/* No more than the events of the largest rank file may need: OTF2 clears all of a buffer for each location.
 * The same in all processes, because the archive says it. */
static uint64_t buffer_bytes(const struct fv_unify *r)
{
    uint64_t most = r->merge.largest_bytes;
    uint32_t threads = 1;

    fv_transport_max(r->merge.transport, &most, 1);
    for (size_t i = 0; i < r->merge.defs.rank_count; i++)
        if (r->merge.defs.ranks[i].thread_count > threads)
            threads = r->merge.defs.ranks[i].thread_count;
    uint64_t bytes = r->options.memory / 2 / threads;
    bytes = bytes / EVENT_GROWS < most ? bytes : most * EVENT_GROWS;
    return bytes > 4 << 20 ? 4 << 20 : bytes;
}

/* A group or communicator has no more. */
static uint64_t most_members(const struct fv_defs *d)
{
    uint64_t most = d->world_size;

    for (size_t i = 0; i < d->rank_count; i++)
        most += d->ranks[i].thread_count;
    for (size_t i = 0; i < d->comm_count; i++) {
        uint64_t size = (uint64_t)d->comms[i].size + d->comms[i].remote_size;

        most = size > most ? size : most;
    }
    return most;
}

/* They stay where they are until the next ones. */
static struct fv_location_stats *new_locations(struct fv_unify *r, uint32_t count)
{
    r->locations = fv_xrealloc(r->locations, r->location_count + count, sizeof(*r->locations));
    r->location_count += count;
    return memset(r->locations + r->location_count - count, 0, count * sizeof(*r->locations));
}

/* All ranks without a file are one location without events. */
static bool add_absent(struct fv_unify *r, struct fv_sink *sink)
{
    uint32_t rank = fv_defs_first_absent(&r->merge.defs);

    if (!first_process || rank == FV_NONE)
        return true;
    *new_locations(r, 1) = (struct fv_location_stats){ .location = rank };
    return sink->open(sink, 0, rank) && sink->close(sink, 0);
}

/* Behind a rank's threads: what its node counted, and what it allocated. */
static bool add_metrics(struct fv_unify *r, const struct fv_merge_file *file, struct fv_sink *sink)
{
    const struct fv_merge *m = &r->merge;
    bool good = true;

    if (fv_sensors_of_host(&m->defs, file->rank))
        good = fv_sensors_replay(&m->defs, &m->clocks, file->rank, file->reader, sink, new_locations(r, 1));
    if (good && m->defs.ranks[file->rank].has_memory)
        good = fv_memory_replay(&m->defs, &m->clocks, file->rank, file->reader, sink, new_locations(r, 1));
    fv_reader_forget(file->reader, NULL);
    return good;
}

/* `metrics`: of processes and nodes, locations of their own. */
static bool replay_all(struct fv_unify *r, struct fv_sink *end, struct fv_sink *metrics)
{
    struct fv_merge *m = &r->merge;
    const struct fv_replay replay = { .defs = &m->defs,
                                      .clocks = &m->clocks,
                                      .calls = m->calls,
                                      .views = m->rings.views,
                                      .progress = progress_add,
                                      .progress_context = &r->progress };
    struct fv_sink *sink = end;
    struct fv_annotate annotate;
    struct fv_weave_samples samples;
    struct fv_weave_sections sections;
    struct fv_weave weave;
    bool good = true;

    fv_weave_samples_init(&samples, &m->defs, &m->clocks, sink);
    if (m->has_samples)
        sink = &samples.sink;
    fv_weave_sections_init(&sections, &m->defs, &m->clocks, sink);
    if (fv_defs_has_sections(&m->defs))
        sink = &sections.sink;
    fv_weave_init(&weave, &m->defs, &m->clocks, sink);
    if (fv_defs_has_instances(&m->defs))
        sink = &weave.sink;
    fv_annotate_init(&annotate, &r->analysis, sink);
    if (r->analysed)
        sink = &annotate.sink;
    for (size_t i = 0; i < m->file_count && good && !interrupted; i++) {
        const struct fv_merge_file *f = &m->files[i];
        struct fv_location_stats *locations = new_locations(r, m->defs.ranks[f->rank].thread_count);

        if (f->reader) { /* of an archive that is read, its records have all of it */
            fv_weave_rank(&weave, f->rank, f->reader, &f->map, locations);
            fv_weave_samples_rank(&samples, f->rank, f->reader, &f->map, locations);
            fv_weave_sections_rank(&sections, f->rank, f->reader, &f->map, locations);
        }
        void *records = m->source->open(m, &(struct fv_source_rank){ &replay, i, sink, locations, &r->stats });
        good = m->source->until(records, UINT64_MAX);
        good = m->source->close(records) && good;
        good = good && (!f->reader || add_metrics(r, f, metrics));
    }
    fv_annotate_release(&annotate);
    fv_weave_release(&weave);
    fv_weave_sections_release(&sections);
    fv_weave_samples_release(&samples);
    r->samples = samples.counts;
    r->instances = weave.stats;
    r->unknown_sections = sections.unknown;
    progress_end(&r->progress);
    return good && !interrupted && (!r->archive || add_absent(r, end));
}

static int by_location(const void *a, const void *b)
{
    const struct fv_location_stats *x = a, *y = b;
    uint64_t p = x->location << 32 | x->location >> 32, q = y->location << 32 | y->location >> 32;

    return (p > q) - (p < q); /* rank, then thread */
}

/* All locations come to the first process. */
static struct fv_location_stats *gather(struct fv_unify *r, size_t *count)
{
    const struct fv_transport *t = r->merge.transport;
    struct fv_bytes bytes = { 0 };

    fv_bytes_put(&bytes, r->locations, r->location_count * sizeof(*r->locations));
    if (t->rank)
        fv_transport_put(t, 0, &bytes);
    for (int i = 1; !t->rank && i < t->size; i++)
        fv_transport_get(t, i, &bytes);
    *count = bytes.count / sizeof(*r->locations);
    if (!t->rank)
        qsort(bytes.data, *count, sizeof(*r->locations), by_location);
    return (struct fv_location_stats *)(void *)bytes.data;
}

/* By the first process. */
static bool write_labels(struct fv_unify *r)
{
    const struct fv_defs *d = &r->merge.defs;
    size_t count;
    struct fv_label *labels = fv_labels_of_all(d, &r->merge.clocks, &count);
    bool good = true;

    for (size_t i = 0; i < count && good; i++)
        good = fv_archive_label(r->archive, labels[i].time_ns, fv_location(&d->ranks[labels[i].rank], 0),
                                labels[i].text, labels[i].length);
    free(labels);
    return good;
}

static bool define(struct fv_unify *r)
{
    size_t count;
    struct fv_location_stats *all = gather(r, &count);
    struct fv_archive_location *locations = fv_xcalloc(count + 1, sizeof(*locations));
    struct fv_archive_times times = { .first_ns = UINT64_MAX, .origin_ns = r->merge.clocks.origin_ns };
    uint64_t *own = fv_xcalloc(r->location_count + 1, sizeof(*own));

    for (size_t i = 0; i < r->location_count; i++)
        own[i] = r->locations[i].location;
    for (size_t i = 0; i < count; i++) {
        locations[i] = (struct fv_archive_location){ all[i].location, all[i].records, (uint32_t)all[i].location,
                                                     all[i].gaps, all[i].given_up };
        if (!all[i].records)
            continue;
        times.first_ns = all[i].first_ns < times.first_ns ? all[i].first_ns : times.first_ns;
        times.last_ns = all[i].last_ns > times.last_ns ? all[i].last_ns : times.last_ns;
    }
    if (times.first_ns == UINT64_MAX)
        times.first_ns = 0;
    bool good = fv_archive_definitions(r->archive, own, r->location_count, first_process ? locations : NULL, count,
                                       &times, &r->merge.contexts);
    good = good && (!first_process || write_labels(r));
    free(all);
    free(locations);
    free(own);
    return good;
}

static const char *output_of(const struct fv_unify *r)
{
    return r->options.output ? r->options.output : r->options.directory;
}

/* Who makes the same timeline is waited for; a head may be made beside it. False: another one has the directory. */
static bool lock_output(const struct fv_unify *r)
{
    const struct timespec pause = { .tv_nsec = 50000000 };

    if (r->output < 0 || r->options.head)
        return true;
    while (flock(r->output, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        if (!r->options.timeline || interrupted)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* The directory that is written to is the first process's from here to its end: no other fvunify writes
 * there. */
static bool take_output(struct fv_unify *r)
{
    const char *directory = output_of(r);
    bool good = true;

    if (first_process) {
        good = !mkdir(directory, 0777) || errno == EEXIST;
        if (!good)
            fv_log("%s: %s; name a directory that can be written to with -o", directory, strerror(errno));
        r->output = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (!lock_output(r)) {
            if (!interrupted)
                fv_log("%s: another fvunify is running here; wait until it ends, or name another directory with -o",
                       directory);
            good = false;
        }
    }
    return !fv_transport_any(r->merge.transport, !good);
}

/* Did another one make the timeline meanwhile? */
static bool is_made(const struct fv_unify *r)
{
    struct fv_timeline_file made;
    bool is_there = false;

    if (first_process && r->options.timeline && fv_timeline_open(&made, r->options.timeline, r->options.source)) {
        is_there = made.header->most_bytes == r->options.timeline_most;
        fv_timeline_close(&made);
    }
    return fv_transport_any(r->merge.transport, is_there);
}

static bool correct(struct fv_unify *r)
{
    struct fv_correction c;

    if (!r->options.correct || r->merge.clocks.line_count < 2)
        return true;
    if (!fv_correct(&r->merge, output_of(r), r->options.memory / 2, &c))
        return false;
    r->clock_error_ns = c.largest_ns;
    if (!first_process || r->options.quiet)
        return true;
    if (c.early)
        fv_log("%s: %llu of %llu messages and collective calls between hosts ended before they began; clocks were "
               "corrected by up to %.3f us",
               r->options.directory, (unsigned long long)c.early, (unsigned long long)c.checked,
               (double)c.largest_ns / 1e3);
    if (c.left)
        fv_log("%s: %llu still do: the clocks of the hosts drift too much", r->options.directory,
               (unsigned long long)c.left);
    if (r->options.verbose)
        fv_log("%s: %u clock%s; %llu message%s could not be compared; %llu round%s", r->options.directory,
               r->merge.clocks.line_count, fv_words_s(r->merge.clocks.line_count), (unsigned long long)c.skipped,
               fv_words_s(c.skipped), (unsigned long long)c.rounds, fv_words_s(c.rounds));
    return true;
}

/* The archive is made also where this fails. */
static bool analyse(struct fv_unify *r)
{
    const struct fv_analysis_options options = { .directory = output_of(r),
                                                 .memory = r->options.memory / 2,
                                                 .progress = progress_add,
                                                 .progress_context = &r->progress,
                                                 .stop = &interrupted,
                                                 .for_timeline = r->options.timeline != NULL };
    if (!r->options.analysis)
        return true;
    r->analysed = !fv_transport_any(r->merge.transport, !fv_analyse(&r->analysis, &r->merge, &options));
    if (r->options.verbose && first_process && !r->options.quiet)
        fv_log("%s: analysis: %.2f s to match, %.2f s for the waits, %.2f s to follow their causes; %llu "
               "bytes of steps",
               r->options.directory, r->analysis.collect_s, r->analysis.waits_s, r->analysis.graph_s,
               (unsigned long long)r->analysis.spill_bytes);
    return r->analysed;
}

/* After the definitions are known to all. */
static bool write_archive(struct fv_unify *r)
{
    const struct fv_transport *t = r->merge.transport;

    r->archive = fv_archive_open(output_of(r), t, buffer_bytes(r), most_members(&r->merge.defs), r->options.compress);
    if (!r->archive)
        return false;
    const struct fv_archive_names names = { &r->merge.defs,           &r->merge.locks,
                                            r->merge.context_of_node, r->merge.function_of_node,
                                            r->merge.has_samples,     r->merge.calling,
                                            r->merge.calling_count };
    bool good = fv_archive_begin_events(r->archive, &names);
    good = good && replay_all(r, fv_archive_sink(r->archive), fv_archive_sink(r->archive));
    good = fv_archive_end_events(r->archive) && good;
    good = !fv_transport_any(t, !good) && define(r);
    good = !fv_transport_any(t, said_interrupted(r) || !good);
    return fv_archive_close(r->archive, good, r->options.keep) && good;
}

/* ---- a timeline ---- */

static bool write_timeline(struct fv_unify *r)
{
    struct fv_timeline_writer *w = fv_timeline_create(r->options.timeline, &r->merge, r->options.timeline_most);

    if (!w)
        return false;
    const struct fv_import_series series = { fv_timeline_name_series, w };

    if (r->merge.source_context)
        fv_import_take_series(&r->merge, &series);
    if (r->merge.source_context)
        fv_import_streams(&r->merge, fv_timeline_name_row, w);
    if (r->merge.source_context)
        fv_import_markers(&r->merge, fv_timeline_add_label, w);
    bool good = replay_all(r, fv_timeline_sink(w), fv_timeline_metrics(w));
    fv_unify_add_critical(r, w);
    fv_unify_add_doubts(r, w);
    good = !fv_transport_any(r->merge.transport, said_interrupted(r) || !good);
    return fv_timeline_finish(w, good, r->options.source) && good;
}

/* ---- the merge ---- */

/* Beside the new archive there is its own analysis, or none. */
static void end_analysis(struct fv_unify *r)
{
    if (r->analysed && fv_analysis_write(&r->analysis, output_of(r), r->clock_error_ns))
        return;
    r->incomplete = r->incomplete || r->analysed;
    fv_analysis_forget(output_of(r));
}

static bool make_all(struct fv_unify *r)
{
    r->incomplete = !correct(r) || r->incomplete;
    r->incomplete = !analyse(r) || r->incomplete;
    return !fv_transport_any(r->merge.transport, said_interrupted(r)) &&
           (r->options.timeline ? write_timeline(r) : write_archive(r));
}

static int merge(struct fv_unify *r, const struct fv_transport *t)
{
    double begin = fv_now_s();
    bool good = fv_merge_open(&r->merge, t, r->options.directories.items, r->options.directories.count);

    fv_experiment_keep_private(r->options.directories.items[0]);
    good =
        good && (!r->options.head || fv_merge_take_head(&r->merge, r->options.head / (r->merge.defs.world_size + 1)));
    if (good) {
        good = fv_merge_unify(&r->merge, r->options.symbols, r->options.samples);
        progress_begin(r, 1 + r->options.analysis, begin);
        fv_unify_say_problems(r);
        good = !fv_transport_any(t, good && !fv_unify_may_read(r)) && good;
        good = good && fv_unify_has_traces(r) && take_output(r);
        const bool is_done = good && is_made(r);
        good = good && (is_done || make_all(r));
        if (good && first_process && !r->options.timeline)
            end_analysis(r);
        fv_transport_sum(t, (uint64_t *)&r->stats, sizeof(r->stats) / sizeof(uint64_t));
        fv_transport_sum(t, (uint64_t *)&r->instances, sizeof(r->instances) / sizeof(uint64_t));
        fv_transport_sum(t, (uint64_t *)&r->samples, sizeof(r->samples) / sizeof(uint64_t));
        fv_transport_sum(t, &r->unknown_sections, 1);
        if (good && first_process)
            fv_unify_say_missing(r);
        r->incomplete = fv_transport_any(t, r->incomplete);
        if (good && first_process && !r->options.quiet && !r->options.timeline)
            fv_unify_say_result(r, fv_now_s() - begin);
    }
    if (r->output >= 0)
        close(r->output);
    free(r->locations);
    if (r->options.analysis)
        fv_analysis_release(&r->analysis);
    fv_merge_close(&r->merge);
    return good && !r->incomplete ? FV_EXIT_OK : FV_EXIT_FAILED;
}

/* ---- an archive of any tool ---- */

#define PASSES 3 /* that progress is shown of: the survey, the transcript, the analysis's first */

static bool merge_events(struct fv_unify *r, const struct fv_transport *t)
{
    const char *anchor = r->options.directories.items[0];

    progress_begin(r, PASSES, fv_now_s());
    bool good = fv_merge_unify(&r->merge, r->options.timeline != NULL, FV_SAMPLES_NONE);
    good = good && take_output(r);
    if (good && is_made(r)) {
        progress_end(&r->progress);
        return true;
    }
    if (!r->options.timeline) {
        good = good && !fv_transport_any(t, first_process && !fv_unify_archive_begin(anchor, output_of(r)));
        good = good && !fv_transport_any(t, !fv_import_transcribe(&r->merge, output_of(r)));
    }
    good = good && (analyse(r) || !r->options.analysis) && !fv_transport_any(t, said_interrupted(r));
    if (r->options.timeline)
        good = good && write_timeline(r);
    progress_end(&r->progress);
    return !fv_transport_any(t, said_interrupted(r) || !good);
}

static int merge_archive(struct fv_unify *r, const struct fv_transport *t)
{
    const struct fv_import_watch watch = { progress_add, &r->progress, &interrupted };
    const double begin = fv_now_s();

    fv_experiment_as_private_as(r->options.directories.items[0]);
    const struct fv_part *asked = &r->options.part;
    const struct fv_import_part part = { (uint64_t)llrint(asked->from_s * 1e9),
                                         asked->to_s > 0 ? (uint64_t)llrint(asked->to_s * 1e9) : UINT64_MAX,
                                         r->options.part_of };
    bool good = fv_import_open(&r->merge, t, r->options.directories.items[0], &watch);

    if (good && !fv_part_is_all(asked))
        fv_import_take_part(&r->merge, &part);
    if (good && r->options.head)
        fv_import_take_head(&r->merge, r->options.head);
    good = good && merge_events(r, t);

    if (good && !r->options.timeline) {
        r->incomplete = !fv_import_say(&r->merge);
        if (first_process)
            end_analysis(r);
        if (first_process && r->analysed && !r->options.quiet)
            fv_unify_say_analysis(r, fv_now_s() - begin);
    }
    if (r->output >= 0)
        close(r->output);
    free(r->locations);
    if (r->options.analysis)
        fv_analysis_release(&r->analysis);
    fv_import_close(&r->merge);
    fv_merge_close(&r->merge);
    return good && !r->incomplete ? FV_EXIT_OK : FV_EXIT_FAILED;
}

/* What is opened later is none of them, where they were closed. */
static void keep_standard_streams(void)
{
    while (fcntl(STDERR_FILENO, F_GETFD) < 0 && open("/dev/null", O_RDWR) >= 0)
        continue;
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    const struct fv_transport *t = fv_processes_start(&argc, &argv);
    struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
    struct fv_unify run = { .output = -1 };

    fv_errors_begin_started();
    if (!t)
        return fv_errors_end(FV_EXIT_FAILED);
    first_process = t->rank == 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* who wanted to know the progress may be gone */
    signal(SIGXFSZ, SIG_IGN); /* the limit on the size of files is an error like a full disk */
    int status = parse(argc, argv, &run.options);
    if (status < 0 && run.options.head && !freopen("/dev/null", "w", stderr)) /* the whole is made next, and says it */
        status = FV_EXIT_FAILED;
    if (status < 0)
        status = fv_import_is_anchor(run.options.directories.items[0]) ? merge_archive(&run, t) : merge(&run, t);
    fv_processes_stop();
    return fv_errors_end(status);
}
