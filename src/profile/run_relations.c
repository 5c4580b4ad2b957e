/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran, and how each rank ended: relations run, programs, ranks, problems. */
#include "profile/fatal.h"
#include "profile/build.h"
#include "profile/hang/hang.h"
#include "profile/iterations/iterations.h"
#include "profile/relations.h"

#include "tool/words.h"

#include <math.h>

/* ---- run ---- */

static const void *barriers_of(void *subject, const void *parent)
{
    const struct fv_model *m = fv_tables_model(subject);

    return m->barrier ? m : NULL;
}

static void get_barrier_where(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_tables_model(subject)->barrier == FV_BARRIER_BEFORE ? "before" : "after";
}

enum { BARRIER_COUNT, BARRIER_TIME };
static void get_barriers(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = row;
    uint64_t count = 0;
    double time_s = 0;

    for (size_t i = 0; i < m->site_count; i++) {
        count += m->sites[i].barriers;
        time_s += m->sites[i].barrier_s;
    }
    if (c->argument == BARRIER_COUNT)
        v->whole = count;
    else
        v->real = time_s;
}

static const char *const barrier_words[] = { "before", "after", NULL };
static const struct fv_column_def barrier_columns[] = {
    { "where", "where", "", "Whether the barriers stand before or after the collectives.",
      FV_GET(FV_TYPE_TEXT, get_barrier_where), .words = barrier_words },
    { "rank_count", "ranks", "", "Ranks that inserted barriers. 0: the ranks could not agree to do so.",
      FV_FIELD(struct fv_model, barrier_ranks) },
    { "count", "barriers", "", "Number of barriers, over all ranks.", FV_GET(FV_TYPE_WHOLE, get_barriers),
      .argument = BARRIER_COUNT },
    { "time_s", "time", "s", "Time in these barriers, over all ranks.", FV_GET(FV_TYPE_REAL, get_barriers),
      .argument = BARRIER_TIME },
};
static const struct fv_relation barriers = {
    .key = "barriers",
    .doc = "Barriers that fvmpi inserted (--barrier). They change the run. Null: the option was not set.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(barrier_columns),
    .base = barriers_of,
};

static const void *alignment_of(void *subject, const void *parent)
{
    const struct fv_model *m = fv_tables_model(subject);

    return m->alignment.linked ? m : NULL;
}

static const struct fv_column_def alignment_columns[] = {
    { "error_s", "error", "s", "Largest error that a clock may still have, relative to the first clock of its group.",
      FV_FIELD(struct fv_model, alignment.error_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "drift", "drift", "", "True: clocks ran at different rates, so one offset for the whole run was not enough.",
      FV_FIELD(struct fv_model, alignment.drift) },
    { "contradiction_s", "contradiction", "s",
      "How much earlier than possible a call still ends after the correction. It is part of error_s. Above 0: the "
      "bounds contradict each other.",
      FV_FIELD(struct fv_model, alignment.contradiction_s) },
    { "clock_count", "clocks", "", "Clocks that a collective call connects with another clock.",
      FV_FIELD(struct fv_model, alignment.linked) },
    { "group_count", "groups", "", "Groups of connected clocks. Clocks of different groups cannot be compared.",
      FV_FIELD(struct fv_model, alignment.groups) },
    { "doubt.count", "in doubt", "",
      "Waits for ranks with another clock that are shorter than the error of the clocks. They count as 0.",
      FV_FIELD(struct fv_model, waits_in_doubt) },
    { "doubt.wait_s", "in doubt", "s", "Sum of these waits.", FV_FIELD(struct fv_model, wait_in_doubt_s),
      .flags = FV_ESTIMATE },
};
static const struct fv_relation alignment = {
    .name = "clock_alignment",
    .key = "alignment",
    .title = "Clock alignment",
    .doc = "How the clocks of several hosts were aligned, from the bounds that collective calls give. Null: there is "
           "one clock, or no call connects them.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(alignment_columns),
    .base = alignment_of,
};

static void get_iterations_unknown(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_model_iterations(fv_tables_model(subject))->left;
}

static void get_not_judged(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_findings *f = t->profile->findings;

    t->text[0] = '\0';
    if (t->model->shown_ranks || t->model->shown_threads)
        fv_words_add(t->text, sizeof(t->text), "the whole run, of which findings are: report it without %s",
                     t->model->shown_ranks ? "--rank" : "--thread");
    for (size_t i = 0; i < f->left_count; i++)
        fv_words_add(t->text, sizeof(t->text), "%s%s", i ? "; and " : "", f->left[i]);
    v->text = t->text;
    v->null = !*t->text;
}

static void get_end(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_end_words(t->profile, t->text, sizeof(t->text));
    v->null = !*v->text;
}

static void get_start(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_words_time(fv_tables_model(subject)->origin_ns, ((struct fv_tables *)subject)->text);
    v->null = !fv_model_knows_start(fv_tables_model(subject));
}

/* Times of ranks that are added up; a member with those of struct fv_efficiency. */
#define RANK_TIME_COLUMNS(S, m)                                                                                    \
    { "rank_time.total_s", "time", "s",                                                                            \
      "Time from entering MPI_Init to leaving MPI_Finalize without pauses, summed over ranks.",                    \
      FV_FIELD(S, m total_s) },                                                                                    \
        { "rank_time.compute_s", "compute", "s", "The part of rank_time.total_s outside of MPI, without polling.", \
          FV_FIELD(S, m compute_s) },                                                                              \
        { "rank_time.polled_s", "polling", "s",                                                                    \
          "The part of rank_time.total_s between calls that only ask whether something has come, with nothing "    \
          "between them.",                                                                                         \
          FV_FIELD(S, m polled_s) },                                                                               \
        { "rank_time.asked_s", "asking", "s", "The part of rank_time.mpi_s in those calls: ranks waited.",         \
          FV_FIELD(S, m asked_s) },                                                                                \
        { "rank_time.mpi_s", "MPI", "s", "The part of rank_time.total_s in MPI.", FV_FIELD(S, m mpi_s) },          \
        { "rank_time.wait_s",                                                                                      \
          "wait",                                                                                                  \
          "s",                                                                                                     \
          "Time that ranks waited for other ranks in MPI, over all threads.",                                      \
          FV_GET(FV_TYPE_REAL, fv_get_wait),                                                                       \
          .flags = FV_NULLABLE | FV_AS_KIND,                                                                       \
          .offset = offsetof(S, m wait_s),                                                                         \
          .argument = FV_PLACE_OF(S, m wait_kind) },                                                               \
    {                                                                                                              \
        "rank_time.wait_kind", "kind", "", "Whether wait_s is exact or an estimate. Null: wait_s is not known.",   \
            FV_GET(FV_TYPE_TEXT, fv_get_wait_kind), .flags = FV_NULLABLE, .argument = FV_PLACE_OF(S, m wait_kind), \
                                                    .words = fv_wait_kind_words                                    \
    }

static const struct fv_column_def run_columns[] = {
    { "command", "command", "", "Command line of the first rank.", FV_FIELD(struct fv_model, command) },
    { "program", "program", "", "Path of the first rank's executable.", FV_FIELD(struct fv_model, program) },
    { "directory", "directory", "",
      "The experiment directory as given to the command; several are separated by spaces.",
      FV_FIELD(struct fv_model, directory) },
    { "mpi", "MPI", "", "Name and version of the MPI library. Empty: no MPI.", FV_FIELD(struct fv_model, mpi) },
    { "fvmpi", "fvmpi", "", "Version of fvmpi that recorded the run.", FV_FIELD(struct fv_model, fvmpi) },
    { "rank_count", "ranks", "", "Size of MPI_COMM_WORLD.", FV_FIELD(struct fv_model, world_size) },
    { "reported_count", "reported", "", "Ranks that are reported: they have a rank file, and were chosen.",
      FV_FIELD(struct fv_model, rank_count) },
    { "choice.read_ranks", "read ranks", "",
      "The ranks whose files were read (--read-ranks), such as 0-63,1024. Null: all.",
      FV_FIELD(struct fv_model, read_ranks), .flags = FV_NULLABLE },
    { "choice.shown_ranks", "shown ranks", "", "The ranks that are reported (--rank). Null: all that were read.",
      FV_FIELD(struct fv_model, shown_ranks), .flags = FV_NULLABLE },
    { "choice.shown_threads", "shown threads", "", "The threads that are reported (--thread). Null: all.",
      FV_FIELD(struct fv_model, shown_threads), .flags = FV_NULLABLE },
    { "complete", "complete", "", "True: every rank has a complete file and finalized, and nothing was dropped.",
      FV_FIELD(struct fv_model, complete) },
    { "ended", "ended", "",
      "How a run ended that did not end well, or that it still runs: the first lines of the text report. Null: there "
      "is nothing to report.",
      FV_GET(FV_TYPE_TEXT, get_end), .flags = FV_NULLABLE },
    { "not_judged", "not judged", "", "What the findings could not judge, and why. Null: everything was judged.",
      FV_GET(FV_TYPE_TEXT, get_not_judged), .flags = FV_NULLABLE },
    { "not_recorded", "not recorded", "",
      "What the program did that fvmpi does not record, such as work in child processes after fork(). Null: nothing.",
      FV_FIELD(struct fv_model, not_recorded), .flags = FV_NULLABLE },
    { "iterations_unknown", "iterations", "",
      "Why no iterations are known, though there may be some. Null: they are, or the program repeats nothing.",
      FV_GET(FV_TYPE_TEXT, get_iterations_unknown), .flags = FV_NULLABLE },
    { "start", "start", "",
      "When the first rank began, in UTC, such as 2026-11-21T05:00:00Z. All other points in time are relative to it. "
      "Null: "
      "an archive of another tool does not say.",
      FV_GET(FV_TYPE_TEXT, get_start), .flags = FV_NULLABLE },
    { "elapsed_s", "elapsed", "s", "Time from the first begin to the last end of a rank.",
      FV_FIELD(struct fv_model, elapsed_s) },
    { "clock_count", "clocks", "", "Number of different clocks: ranks of one host usually share one.",
      FV_FIELD(struct fv_model, clock_count) },
    { "alignment", "alignment", "", "", FV_NEST(alignment) },
    { "barriers", "barriers", "", "", FV_NEST(barriers) },
    RANK_TIME_COLUMNS(struct fv_model, efficiency.),
    { "overhead.time_s", "overhead", "s",
      "fvmpi's own time, over all ranks and threads: start, calls (number times calibrated cost), call paths and "
      "sampling. If clock samples in fvmpi show more, their time is used. Null: an archive does not say.",
      FV_FIELD(struct fv_model, overhead.time_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "overhead.sampling_s", "sampling", "s", "The part of the overhead that is sampling.",
      FV_FIELD(struct fv_model, overhead.sampling_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "overhead.once_s", "start and end", "s",
      "The part of the overhead that is starting and ending, by the clock: waiting for a processor is included.",
      FV_FIELD(struct fv_model, overhead.once_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "overhead.share", "share", "share", "The overhead as a share of the ranks' time.",
      FV_FIELD(struct fv_model, overhead.share), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "overhead.memory_bytes", "memory", "bytes", "Memory that fvmpi uses in the application, over all ranks.",
      FV_FIELD(struct fv_model, overhead.memory_bytes), .flags = FV_UNLESS_0 },
    { "overhead.rank_memory_bytes", "memory of a rank", "bytes", "Memory that fvmpi uses in the rank with the most.",
      FV_FIELD(struct fv_model, overhead.rank_memory_bytes), .flags = FV_UNLESS_0 },
    { "overhead.file_bytes", "files", "bytes", "Total size of the rank files.",
      FV_FIELD(struct fv_model, overhead.file_bytes) },
};
static const struct fv_relation run_relation = {
    .name = "run",
    .key = "run",
    .title = "Run",
    .doc = "The run as a whole.",
    .shape = FV_ONE,
    FV_COLUMNS(run_columns),
    .base = fv_tables_base,
};

/* ---- programs ---- */

static void get_program_runs(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_program *p = row;

    v->items = p->runs;
    v->count = p->run_count;
}

static const struct fv_column_def program_columns[] = {
    { "program", "program", "", "Path of the executable, as the first rank that runs it has it.",
      FV_FIELD(struct fv_program, path) },
    { "command", "command", "", "Command line of that rank.", FV_FIELD(struct fv_program, command) },
    { "command_count", "commands", "", "Number of different command lines of its ranks.",
      FV_FIELD(struct fv_program, commands) },
    { "rank_count", "ranks", "", "Number of ranks that run it.", FV_FIELD(struct fv_program, ranks) },
    { "rank_runs", "ranks", "", "These ranks.", FV_GET(FV_TYPE_RUNS, get_program_runs) },
    RANK_TIME_COLUMNS(struct fv_program, ),
};
static const struct fv_relation programs_relation = {
    .name = "programs",
    .key = "programs",
    .title = "Programs",
    .group = "Ranks",
    .doc = "The executables of the launch, by their first rank. Ranks run the same program if name and build-id of "
           "their executables are equal. If a build-id is not known, the paths must be equal.",
    FV_COLUMNS(program_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, programs, program_count),
};

/* ---- options ---- */

static const struct fv_column_def option_columns[] = {
    { "option", "option", "", "The option of `fvmpi run`. Null: this version has no such option.",
      FV_FIELD(struct fv_option_view, flag), .flags = FV_NULLABLE },
    { "variable", "variable", "", "The environment variable of the option.",
      FV_FIELD(struct fv_option_view, variable) },
    { "value", "value", "", "The value that was set. For a switch, 1 is on.", FV_FIELD(struct fv_option_view, value) },
    { "rank_count", "ranks", "", "Ranks with this setting.", FV_FIELD(struct fv_option_view, ranks) },
};
static const struct fv_relation options_relation = {
    .name = "options",
    .key = "options",
    .title = "Options",
    .doc = "Options of the recording that differ from their defaults, without the directory.",
    FV_COLUMNS(option_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, options, option_count),
};

/* ---- ranks ---- */

/* The call that a rank or a thread is in; its parent is a struct fv_in_call_view. */
static const void *call_of(void *subject, const void *parent)
{
    const struct fv_in_call_view *in = parent;

    return in->active ? in : NULL;
}

static void get_in_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_in_call_view *in = row;

    v->text = fv_tables_model(subject)->functions[in->function].name;
}

static void get_peer(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_in_call_view *in = row;
    bool tag = c->argument;

    v->number = tag ? in->tag : in->peer;
    v->null = in->peer == FV_NO_PEER || (tag ? in->tag < 0 : in->peer == FV_ANY_PEER);
}

#define CALL_COLUMNS(what)                                                                                            \
    { "function", "function", "", "The MPI function.", FV_GET(FV_TYPE_TEXT, get_in_function) },                       \
        { "path", "path", "", "", FV_NEST_IN(fv_path_relation, struct fv_in_call_view, node) },                       \
    {                                                                                                                 \
        "for_s", "duration", "s", what, FV_FIELD(struct fv_in_call_view, seconds), .flags = FV_NULLABLE | FV_ESTIMATE \
    }
#define SO_FAR \
    "Time in the call so far. For a killed rank: until the latest sign of life of any rank, so it is a lower bound."
static const struct fv_column_def in_call_columns[] = {
    CALL_COLUMNS(SO_FAR),
    { "peer", "peer", "", "The other rank, numbered in the call's communicator. Null: none, or any.",
      FV_GET(FV_TYPE_NUMBER, get_peer), .flags = FV_NULLABLE },
    { "tag", "tag", "", "The message tag. Null: none, or any.", FV_GET(FV_TYPE_NUMBER, get_peer), .flags = FV_NULLABLE,
      .argument = 1 },
};
static const struct fv_relation in_call = {
    .key = "in_call",
    .doc = "The MPI call that the thread is in. Null: none.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(in_call_columns),
    .base = call_of,
};

static const void *last_call_of(void *subject, const void *parent)
{
    const struct fv_rank *r = parent;

    return r->state != FV_RANK_FINALIZED && !r->in_call.active && r->in_call.function != FV_NONE ? &r->in_call : NULL;
}

static const void *trace_of(void *subject, const void *parent)
{
    return ((const struct fv_rank *)parent)->traced ? parent : NULL;
}

static const struct fv_column_def last_call_columns[] = { CALL_COLUMNS(
    "Time since the call returned. For a killed rank it is a lower bound.") };
static const struct fv_relation last_call = {
    .key = "last_call",
    .doc = "The last MPI call of a rank that is outside of MPI and has not finalized. Otherwise null.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(last_call_columns),
    .base = last_call_of,
};

static const struct fv_column_def trace_columns[] = {
    { "count", "calls", "", "MPI calls in the trace.", FV_FIELD(struct fv_rank, trace_calls) },
    { "bytes", "bytes", "bytes", "Size of the trace.", FV_FIELD(struct fv_rank, trace_bytes) },
    { "from_s", "from", "s",
      "When what --trace-keep has kept of the trace begins. Null: it is whole from the begin on.",
      FV_FIELD(struct fv_rank, trace_from_s), .flags = FV_NULLABLE },
    { "stop_s", "stop", "s", "When the trace ended because its size limit was reached. Null: it did not.",
      FV_FIELD(struct fv_rank, trace_stop_s), .flags = FV_NULLABLE },
};
static const struct fv_relation trace = {
    .key = "trace",
    .doc = "The rank's trace. Null: no trace was recorded.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(trace_columns),
    .base = trace_of,
};

static const struct fv_column_def thread_columns[] = {
    { "thread", "thread", "", "Number of the thread in its process; 0 is the first.",
      FV_FIELD(struct fv_thread_view, id), .flags = FV_IS_THREAD },
    { "tid", "tid", "id", "The kernel's thread id. Null: an archive does not say.",
      FV_FIELD(struct fv_thread_view, tid), .flags = FV_UNLESS_0 },
    { "main", "main", "", "True: the first thread of the process.", FV_FIELD(struct fv_thread_view, main) },
    { "used_count", "used", "", "Threads that had this number, one after the other.",
      FV_FIELD(struct fv_thread_view, used) },
    { "count", "calls", "", "MPI calls.", FV_FIELD(struct fv_thread_view, calls) },
    { "elapsed_s", "elapsed", "s",
      "Lifetime of the thread: from its begin, or from the begin of recording, to its end or its rank's. Null: several "
      "threads had this number.",
      FV_FIELD(struct fv_thread_view, elapsed_s), .flags = FV_NULLABLE },
    { "user_s", "user", "s",
      "CPU time in user mode, until the end of the thread or of the process. Null: the process was killed.",
      FV_FIELD(struct fv_thread_view, user_s), .flags = FV_NULLABLE },
    { "system_s", "system", "s",
      "CPU time in the kernel, until the end of the thread or of the process. Null: the process was killed.",
      FV_FIELD(struct fv_thread_view, system_s), .flags = FV_NULLABLE },
    { "mpi_time_s", "MPI", "s", "Time in MPI calls of the thread.", FV_FIELD(struct fv_thread_view, mpi_time_s) },
    { "overhead_s", "overhead", "s", "fvmpi's own time in the thread.", FV_FIELD(struct fv_thread_view, tool_s),
      .flags = FV_NULLABLE | FV_ESTIMATE },
    { "in_call", "in call", "", "", FV_NEST_IN(in_call, struct fv_thread_view, in_call) },
};
static const struct fv_column_def rank_outer[] = {
    { "rank", "rank", "", "Its number in MPI_COMM_WORLD.", FV_FIELD(struct fv_rank, world_rank), .flags = FV_IS_RANK },
};
static const struct fv_relation threads = {
    .name = "threads",
    .key = "threads",
    .title = "Threads",
    .doc = "Recorded threads: those that called MPI; with --threads or --sample all threads.",
    .shown = "rank thread tid/3 elapsed_s user_s system_s mpi_time_s count/4 used_count/2",
    FV_COLUMNS(thread_columns),
    FV_OUTER(rank_outer),
    .base = fv_tables_base,
    FV_SLICE(struct fv_model, threads, struct fv_rank, first_thread, threads),
};

static void get_state(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_rank_state_name(((const struct fv_rank *)row)->state);
}

static void get_rank_wait_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_name(fv_wait_kind_of_all(((const struct fv_rank *)row)->wait_kinds));
}

static void get_dropped(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = ((const struct fv_rank *)row)->dropped[c->argument];
}

static void get_exit_status(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_rank *r = row;

    v->number = c->argument ? r->exit_code : r->exit_status;
    v->null = c->argument ? !r->aborted : !r->exit_seen;
}

static void get_signal(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_signal_view *signal = &((const struct fv_rank *)row)->signal;

    v->text = fv_signal_name(signal->number, ((struct fv_tables *)subject)->text);
    v->null = !signal->number;
}

static const void *signal_of(void *subject, const void *parent)
{
    const struct fv_rank *r = parent;

    return r->signal.number ? &r->signal : NULL;
}

static void get_signal_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_signal_name(((const struct fv_signal_view *)row)->number, ((struct fv_tables *)subject)->text);
}

static void get_signal_address(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_signal_view *signal = row;

    v->whole = signal->address;
    v->null = !signal->is_fault;
}

static void get_sender(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->number = ((const struct fv_signal_view *)row)->sender;
    v->null = !v->number;
}

static const struct fv_column_def signal_columns[] = {
    { "name", "signal", "", "Name of the signal.", FV_GET(FV_TYPE_TEXT, get_signal_name) },
    { "number", "number", "", "Signal number on that machine.", FV_FIELD(struct fv_signal_view, number) },
    { "address", "address", "", "For a memory fault, the address that was accessed. Null: the signal was sent.",
      FV_GET(FV_TYPE_HEX, get_signal_address), .flags = FV_NULLABLE },
    { "sender_pid", "sender", "id", "Process that sent the signal. Null: the kernel.",
      FV_GET(FV_TYPE_NUMBER, get_sender), .flags = FV_NULLABLE },
    { "at_s", "at", "s", "When.", FV_FIELD(struct fv_signal_view, at_s) },
    { "path", "path", "", "", FV_NEST_IN(fv_path_relation, struct fv_signal_view, node) },
};
static const struct fv_relation ended_by = {
    .key = "signal",
    .doc = "The signal that ended the rank. Null: none, or none was seen. SIGKILL, a signal that the program handles "
           "and a stack overflow cannot be seen.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(signal_columns),
    .base = signal_of,
};

static void get_in_call(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_in_call_view *in = &((const struct fv_rank *)row)->in_call;

    v->null = !in->active;
    if (in->active && c->type == FV_TYPE_REAL)
        v->real = in->seconds;
    else if (in->active)
        v->text = fv_tables_model(subject)->functions[in->function].name;
}

/* Parts of the rank's time. */
enum { PART_COMPUTE, PART_POLLED, PART_MPI, PART_WAIT };
static void get_rank_part(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_rank *r = row;
    double part = c->argument == PART_COMPUTE  ? fmax(fv_rank_compute_s(r), 0)
                  : c->argument == PART_POLLED ? r->polled_s
                  : c->argument == PART_MPI    ? r->mpi_time_s
                                               : r->wait_share * r->mpi_time_s;

    v->real = r->app_time_s > 0 ? part / r->app_time_s : NAN;
}

static bool any_polls(void *subject, const void *row, const struct fv_column_def *c)
{
    return fv_tables_model(subject)->efficiency.polled_s > 0;
}

/* Of a process whose threads were watched. */
static bool has_locks(void *subject, const void *row, const struct fv_column_def *c)
{
    const struct fv_model *m = fv_tables_model(subject);

    return fv_model_locks(m)->recorded && fv_model_locks(m)->ranks[(const struct fv_rank *)row - m->ranks].recorded;
}

static void get_thread_wait(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);
    const struct fv_rank *r = row;

    v->real = r->app_time_s > 0 ? fv_model_locks(m)->ranks[r - m->ranks].main_s / r->app_time_s : NAN;
}

static void get_caused(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);

    v->real = fv_rank_caused_s(m, row);
    if (c->argument)
        v->real = m->causes.wait_s > 0 ? v->real / m->causes.wait_s : NAN;
    /* the row's wait_kind is of what the rank itself waited */
    v->estimate =
        !m->causes.exact && (!fv_causes_by_withheld(&m->causes) || ((const struct fv_rank *)row)->withheld_s > 0);
}

/* Collectives that are not in the wait log are counted all the same. */
static void get_lost(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    for (unsigned i = 0; i < FV_DROP_COUNT; i++)
        v->whole += i == FV_DROP_COLLECTIVES ? 0 : ((const struct fv_rank *)row)->dropped[i];
}

static void get_program(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_tables_model(subject)->programs[((const struct fv_rank *)row)->program].label;
}

/* Of all classes of functions. */
static void get_mpi_shares(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_timeline *line = &t->model->timeline;
    size_t rank = (size_t)((const struct fv_rank *)row - t->model->ranks);

    FV_GROW(t->reals, t->reals_room, line->bins + 1);
    for (uint32_t i = 0; i < line->bins; i++) {
        t->reals[i] = 0;
        for (unsigned k = 0; k < FV_CLASS_COUNT; k++)
            t->reals[i] += (double)line->share[(rank * FV_CLASS_COUNT + k) * line->bins + i];
        t->reals[i] = round(t->reals[i] * 1e4) / 1e4;
    }
    v->items = t->reals;
    v->count = line->bins;
}

#define RANK_PART(k, t, which, f, d)                                                                 \
    {                                                                                                \
        k, t, "share", d, FV_GET(FV_TYPE_REAL, get_rank_part), .flags = FV_FLAT | FV_NULLABLE | (f), \
                                                               .argument = (which)                   \
    }
#define DROPPED(name, which, what)                                                             \
    {                                                                                          \
        "dropped." name, name, "", what, FV_GET(FV_TYPE_WHOLE, get_dropped), .argument = which \
    }
static bool has_usage(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_rank *)row)->resident_peak;
}

static const char *const state_words[] = { FV_RANK_STATES(FV_LIST_WORD) NULL };
static const struct fv_column_def rank_columns[] = {
    { "rank", "rank", "", "Its number in MPI_COMM_WORLD.", FV_FIELD(struct fv_rank, world_rank), .flags = FV_IS_RANK },
    { "host", "host", "", "Name of its host.", FV_FIELD(struct fv_rank, host) },
    { "pid", "pid", "id", "Process id. Null: an archive of another tool does not say.", FV_FIELD(struct fv_rank, pid),
      .flags = FV_UNLESS_0 },
    { "state", "state", "",
      "finalized: it called MPI_Finalize. exited: exit() without MPI_Finalize. replaced: it became another program by "
      "exec(), which is not in this file. killed: it ended in another way, or after MPI_Abort. cut: of an archive that "
      "does not have all of its events; how it ended is not known. running: it still runs on this host.",
      FV_GET(FV_TYPE_TEXT, get_state), .words = state_words },
    { "app_time_s", "time", "s",
      "Time from entering MPI_Init to leaving MPI_Finalize, or to the latest sign of life. Pauses are left out.",
      FV_FIELD(struct fv_rank, app_time_s) },
    { "mpi_time_s", "MPI", "s", "Time in MPI of the main thread. Table `threads` has the other threads.",
      FV_FIELD(struct fv_rank, mpi_time_s) },
    { "polled_s", "polling", "s",
      "Time between calls that only ask whether something has come, with nothing done between: the rank waits.",
      FV_FIELD(struct fv_rank, polled_s), .flags = FV_ESTIMATE },
    { "asked_s", "asking", "s",
      "Time in those calls, a part of mpi_time_s: the rank waits. The time that its bytes may take, at 1 GB/s, is not "
      "included.",
      FV_FIELD(struct fv_rank, asked_s), .flags = FV_ESTIMATE },
    { "wait_s", "wait", "s", "Time spent waiting for other ranks, over all call sites and threads.",
      FV_FIELD(struct fv_rank, wait_time_s), .flags = FV_AS_KIND },
    { "wait_kind", "kind", "",
      "Whether wait_s is exact or an estimate. Null: part of the waiting is not known; wait_s is the known part.",
      FV_GET(FV_TYPE_TEXT, get_rank_wait_kind), .flags = FV_NULLABLE, .words = fv_wait_kind_words },
    RANK_PART("compute_share", "compute", PART_COMPUTE, 0, "Share of app_time_s outside of MPI, without polling."),
    { "polled_share", "polling", "share", "polled_s as a share of app_time_s. Null: no rank polls.",
      FV_GET(FV_TYPE_REAL, get_rank_part), .flags = FV_FLAT | FV_NULLABLE | FV_BLANK, .argument = PART_POLLED,
      .known = any_polls },
    { "thread_wait_share", "for threads", "share",
      "Share of app_time_s in which the main thread waited for other threads outside of MPI; part of compute_share. "
      "Null without --threads.",
      FV_GET(FV_TYPE_REAL, get_thread_wait), .flags = FV_NULLABLE | FV_BLANK, .known = has_locks },
    RANK_PART("mpi_share", "MPI", PART_MPI, 0, "Share of app_time_s in MPI."),
    RANK_PART("wait_share", "waiting", PART_WAIT, FV_AS_KIND,
              "Share of app_time_s spent waiting in MPI. It assumes that the main thread waits as much in its calls as "
              "all threads do."),
    { "mpi_shares", "MPI over time", "share", "Share of MPI in each bin of the timeline.",
      FV_GET(FV_TYPE_REALS, get_mpi_shares), .flags = FV_FLAT },
    { "others_waited_s", "others waited", "s",
      "Time that other ranks waited for this one: caused_s of waiting_by_rank. It is as exact as that table.",
      FV_GET(FV_TYPE_REAL, get_caused), .flags = FV_FLAT | FV_NULLABLE | FV_BLANK },
    { "others_waited_share", "of waiting", "share", "others_waited_s as a share of all waiting.",
      FV_GET(FV_TYPE_REAL, get_caused), .flags = FV_FLAT | FV_NULLABLE | FV_BLANK, .argument = 1 },
    { "cpu_s", "CPU", "s", "CPU time of the process. Null: not known until its end.", FV_FIELD(struct fv_rank, cpu_s),
      .flags = FV_NULLABLE },
    { "user_s", "user", "s", "The part of cpu_s in user mode.", FV_FIELD(struct fv_rank, user_s),
      .flags = FV_NULLABLE },
    { "system_s", "system", "s", "The part of cpu_s in the kernel.", FV_FIELD(struct fv_rank, system_s),
      .flags = FV_NULLABLE },
    { "ready_s", "no processor", "s",
      "Time that the main thread was runnable but had no processor, in MPI and outside. Null: not known.",
      FV_FIELD(struct fv_rank, ready_s), .flags = FV_NULLABLE },
    { "stolen_s", "stolen", "s",
      "Time that a hypervisor took from a processor of the host during the run (/proc/stat), mean of all its "
      "processors. CPU times include it. 0: none, or not known.",
      FV_FIELD(struct fv_rank, stolen_s), .flags = FV_ESTIMATE },
    { "throttled_s", "throttled", "s",
      "Time that CPU quotas of the rank's control groups (cpu.max) stopped all their tasks together during the run. "
      "The rank's part is also in ready_s. Null: none, or not known.",
      FV_FIELD(struct fv_rank, throttled_s), .flags = FV_UNLESS_0 },
    { "preempted", "preempted", "", "How often the kernel preempted the process. Null: not known.",
      FV_FIELD(struct fv_rank, preempted), .flags = FV_NULLABLE, .known = has_usage },
    { "resident_peak", "memory", "bytes", "Peak resident memory of the process. Null: not known.",
      FV_FIELD(struct fv_rank, resident_peak), .flags = FV_UNLESS_0 },
    { "resident_first", "at begin", "bytes", "Peak resident memory when recording began. Null: not known.",
      FV_FIELD(struct fv_rank, resident_first), .flags = FV_UNLESS_0 },
    { "resident_half", "midway", "bytes", "Peak resident memory at resident_half_s. Null: the run was too short.",
      FV_FIELD(struct fv_rank, resident_half), .flags = FV_UNLESS_0 },
    { "resident_half_s", "midway at", "s",
      "Time of the middle value of resident memory: the last power of two of clock ticks within the run.",
      FV_FIELD(struct fv_rank, half_s), .flags = FV_UNLESS_0 },
    { "in_call", "in call", "", "", FV_NEST_IN(in_call, struct fv_rank, in_call) },
    { "in_call", "in call", "", "The MPI function that the rank is in.", FV_GET(FV_TYPE_TEXT, get_in_call),
      .flags = FV_FLAT | FV_NULLABLE },
    { "in_call_s", "for", "s", SO_FAR, FV_GET(FV_TYPE_REAL, get_in_call),
      .flags = FV_FLAT | FV_NULLABLE | FV_ESTIMATE },
    { "last_call", "last call", "", "", FV_NEST(last_call) },
    { "lost_count", "dropped", "", "Number of items that were dropped, without entry times of collectives.",
      FV_GET(FV_TYPE_WHOLE, get_lost), .flags = FV_FLAT | FV_BLANK },
    DROPPED("cells", FV_DROP_CELLS, "Calls recorded without detail, because --profile-max was reached."),
    DROPPED("paths", FV_DROP_PATHS, "Calls without their call path."),
    DROPPED("collectives", FV_DROP_COLLECTIVES, "Collective calls whose entry times were not kept."),
    DROPPED("peers", FV_DROP_PEERS, "Messages that are missing in the matrix."),
    DROPPED("comms", FV_DROP_COMMS, "Communicators, windows and files without a description."),
    DROPPED("calls", FV_DROP_CALLS, "Calls that are not counted anywhere."),
    DROPPED("disk", FV_DROP_DISK, "How often a file could not be enlarged."),
    DROPPED("requests", FV_DROP_REQUESTS, "Requests that were not followed to their end."),
    DROPPED("events", FV_DROP_EVENTS, "Calls that are counted but not in the trace."),
    DROPPED("marks", FV_DROP_MARKS, "Labels that were dropped because there was no room."),
    { "trace", "trace", "", "", FV_NEST(trace) },
    { "aborted", "aborted", "", "True: the rank called MPI_Abort.", FV_FIELD(struct fv_rank, aborted) },
    { "exit_code", "abort code", "", "The error code of MPI_Abort. Null: MPI_Abort was not called.",
      FV_GET(FV_TYPE_NUMBER, get_exit_status), .flags = FV_NULLABLE, .argument = 1 },
    { "exit_status", "exit status", "",
      "The exit status that exit() or main() gave. Null: not seen (_exit(), a signal, or the rank still runs).",
      FV_GET(FV_TYPE_NUMBER, get_exit_status), .flags = FV_NULLABLE },
    { "signal", "signal", "", "", FV_NEST(ended_by) },
    { "signal", "signal", "", "Name of the signal that ended it.", FV_GET(FV_TYPE_TEXT, get_signal),
      .flags = FV_FLAT | FV_NULLABLE },
    { "delay_s", "delay", "s",
      "Time that other ranks waited for this one in collectives, from the entry time of each rank. Table `waiting` "
      "covers all MPI calls.",
      FV_FIELD(struct fv_rank, delay_s), .flags = FV_ESTIMATE },
    { "paused_s", "paused", "s", "Time that recording was paused.", FV_FIELD(struct fv_rank, paused_s) },
    { "recording_wait_s", "recording waited", "s",
      "Time that calls of the main thread were delayed while recording waited for pages of the rank file. Times of the "
      "program do not include it.",
      FV_FIELD(struct fv_rank, waited_s) },
    { "forgotten_s", "discarded", "s",
      "Time before the measured interval whose profile was discarded by MPI_Pcontrol(2).",
      FV_FIELD(struct fv_rank, forgotten_s) },
    { "init_s", "init", "s", "Time in MPI_Init.", FV_FIELD(struct fv_rank, init_s) },
    { "finalize_s", "finalize", "s", "Time in MPI_Finalize.", FV_FIELD(struct fv_rank, finalize_s) },
    { "begin_s", "begin", "s", "When the rank began.", FV_FIELD(struct fv_rank, begin_s) },
    { "end_s", "end", "s", "When the rank ended, or its latest sign of life.", FV_FIELD(struct fv_rank, end_s) },
    { "overhead_s", "overhead", "s", "fvmpi's own time in the rank. Null: an archive does not say.",
      FV_FIELD(struct fv_rank, tool_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "memory_bytes", "memory", "bytes", "fvmpi's memory in the process. Null: an archive does not say.",
      FV_FIELD(struct fv_rank, memory_bytes), .flags = FV_UNLESS_0 },
    { "file_bytes", "file", "bytes", "Size of the rank file.", FV_FIELD(struct fv_rank, file_bytes) },
    { "file", "file", "", "Name of the rank file.", FV_FIELD(struct fv_rank, file) },
    { "thread_level", "thread level", "", "The thread support that MPI provides.",
      FV_FIELD(struct fv_rank, thread_level), .flags = FV_NULLABLE },
    { "program_id", "program", "id", "Index in programs, from 0.", FV_FIELD(struct fv_rank, program) },
    { "program", "program", "", "Name of the program; the path if two programs have the same name.",
      FV_GET(FV_TYPE_TEXT, get_program), .flags = FV_FLAT },
    { "thread_count", "threads", "", "Number of recorded threads.", FV_FIELD(struct fv_rank, threads),
      .flags = FV_FLAT },
    { "threads", "threads", "", "", FV_NEST(threads) },
};
const struct fv_relation fv_ranks_relation = {
    .of_ranks = true,
    .name = "ranks",
    .key = "ranks",
    .title = "Ranks",
    .group = "Ranks",
    .doc = "The ranks that have a rank file, by rank.",
    .shown = "rank host/1 program/3 app_time_s user_s/3 system_s/3 compute_share thread_wait_share/4 polled_share/4 "
             "mpi_share "
             "wait_share/4 others_waited_s/3 "
             "lost_count/6 "
             "thread_count/2 state/5 in_call/5 mpi_shares/2",
    .share = "others_waited_share",
    FV_COLUMNS(rank_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, ranks, rank_count),
};
_Static_assert(FV_DROP_COUNT == 10, "each reason of a loss has its column");

/* ---- problems ---- */

static void get_problem_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_problem_kind_name(((const struct fv_problem *)row)->kind);
}

static const char *const problem_words[] = { FV_PROBLEM_KINDS(FV_LIST_WORD) NULL };
const struct fv_column_def fv_problem_columns[FV_PROBLEM_COLUMNS] = {
    { "kind", "kind", "",
      "unreadable; left_out: a file of another run; missing: a rank without a file; damaged; dropped; note. All but "
      "left_out and note make the report incomplete.",
      FV_GET(FV_TYPE_TEXT, get_problem_kind), .words = problem_words },
    { "file", "file", "", "The file concerned. Null: the whole run.", FV_FIELD(struct fv_problem, file),
      .flags = FV_NULLABLE },
    { "text", "text", "", "The problem in words.", FV_FIELD(struct fv_problem, text) },
};
static const struct fv_relation problems_relation = {
    .name = "problems",
    .key = "problems",
    .title = "Problems",
    .doc = "Problems of the input that the reader of the report must know.",
    FV_COLUMNS(fv_problem_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, problems.items, problems.count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_clocks, fv_track_threads, fv_track_programs, fv_track_options, fv_track_shadows,
    fv_track_remarks, fv_track_interpreters;
extern const struct fv_relation fv_findings_relation, fv_hang_relation;

const struct fv_subject fv_run_subject = {
    .tracks = { &fv_track_clocks, &fv_track_threads, &fv_track_programs, &fv_track_options, &fv_track_shadows,
                &fv_track_remarks, &fv_track_interpreters },
    .relations = { &run_relation, &fv_findings_relation, &programs_relation, &options_relation },
};

const struct fv_subject fv_unfinished_subject = {
    .group = "Hangs and problems",
    .relations = { &fv_hang_relation, &problems_relation },
    .complete = fv_hang_build,
    .release = fv_hang_release,
};
