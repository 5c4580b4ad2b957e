/* What ran, and how each rank ended: relations run, programs, ranks, problems. */
#include "profile/fatal.h"
#include "profile/build.h"
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
    { "where", "where", "", "Before or after the collectives.", FV_GET(FV_TYPE_TEXT, get_barrier_where),
      .words = barrier_words },
    { "rank_count", "ranks", "", "Ranks that inserted barriers; 0: the ranks did not agree to.",
      FV_FIELD(struct fv_model, barrier_ranks) },
    { "count", "barriers", "", "Barriers, over all ranks.", FV_GET(FV_TYPE_WHOLE, get_barriers),
      .argument = BARRIER_COUNT },
    { "time_s", "time", "s", "Time in them, over all ranks.", FV_GET(FV_TYPE_REAL, get_barriers),
      .argument = BARRIER_TIME },
};
static const struct fv_relation barriers = {
    .key = "barriers",
    .doc = "Barriers that fvmpi inserted (--barrier), which change the run; null: none were asked for.",
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
    { "error_s", "error", "s",
      "By so much a clock may still be wrong against the first one of its group, the largest of them.",
      FV_FIELD(struct fv_model, alignment.error_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "drift", "drift", "", "Did clocks run at different rates, so that one offset for the run was not enough?",
      FV_FIELD(struct fv_model, alignment.drift) },
    { "contradiction_s", "contradiction", "s",
      "By so much a call still ends before it could; part of error_s. More than 0: the bounds contradict "
      "each other.",
      FV_FIELD(struct fv_model, alignment.contradiction_s) },
    { "clock_count", "clocks", "", "Clocks that some operation connects with another one.",
      FV_FIELD(struct fv_model, alignment.linked) },
    { "group_count", "groups", "", "Groups of connected clocks; between groups nothing is known.",
      FV_FIELD(struct fv_model, alignment.groups) },
    { "doubt.count", "in doubt", "",
      "Waits for ranks of other clocks that are shorter than the clocks' error, which count as 0.",
      FV_FIELD(struct fv_model, waits_in_doubt) },
    { "doubt.wait_s", "in doubt", "s", "The sum of these waits.", FV_FIELD(struct fv_model, wait_in_doubt_s),
      .flags = FV_ESTIMATE },
};
static const struct fv_relation alignment = {
    .name = "clock_alignment",
    .key = "alignment",
    .title = "Clock alignment",
    .doc = "How clocks of several hosts were aligned, by the bounds that collective calls give; null: there "
           "is one clock, "
           "or no call connects them.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(alignment_columns),
    .base = alignment_of,
};

static void get_not_judged(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_findings *f = t->profile->findings;

    t->text[0] = '\0';
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
}

/* Times of ranks that are added up; a member with those of struct fv_efficiency. */
#define RANK_TIME_COLUMNS(S, m)                                                                                    \
    { "rank_time.total_s", "time", "s",                                                                            \
      "From entering MPI_Init to leaving MPI_Finalize, less pauses, summed over "                                  \
      "ranks.",                                                                                                    \
      FV_FIELD(S, m total_s) },                                                                                    \
        { "rank_time.compute_s", "compute", "s", "The part of it outside of MPI.", FV_FIELD(S, m compute_s) },     \
        { "rank_time.mpi_s", "MPI", "s", "The part of it in MPI.", FV_FIELD(S, m mpi_s) },                         \
        { "rank_time.wait_s",                                                                                      \
          "wait",                                                                                                  \
          "s",                                                                                                     \
          "The part of it spent waiting for other ranks, of all threads.",                                         \
          FV_GET(FV_TYPE_REAL, fv_get_wait),                                                                       \
          .flags = FV_NULLABLE | FV_AS_KIND,                                                                       \
          .offset = offsetof(S, m wait_s),                                                                         \
          .argument = FV_PLACE_OF(S, m wait_kind) },                                                               \
    {                                                                                                              \
        "rank_time.wait_kind", "kind", "", "How well wait_s is known; null: it is not.",                           \
            FV_GET(FV_TYPE_TEXT, fv_get_wait_kind), .flags = FV_NULLABLE, .argument = FV_PLACE_OF(S, m wait_kind), \
                                                    .words = fv_wait_kind_words                                    \
    }

static const struct fv_column_def run_columns[] = {
    { "command", "command", "", "The command line, of the first rank.", FV_FIELD(struct fv_model, command) },
    { "program", "program", "", "Path of its executable.", FV_FIELD(struct fv_model, program) },
    { "directory", "directory", "",
      "The experiment, as it was named to the report; several directories have spaces between.",
      FV_FIELD(struct fv_model, directory) },
    { "mpi", "MPI", "", "The MPI library's name and version; empty without MPI.", FV_FIELD(struct fv_model, mpi) },
    { "fvmpi", "fvmpi", "", "Version of fvmpi that recorded.", FV_FIELD(struct fv_model, fvmpi) },
    { "rank_count", "ranks", "", "Size of MPI_COMM_WORLD.", FV_FIELD(struct fv_model, world_size) },
    { "reported_count", "reported", "", "Ranks that have a rank file.", FV_FIELD(struct fv_model, rank_count) },
    { "complete", "complete", "", "Every rank has a whole file and finalized, and nothing was dropped.",
      FV_FIELD(struct fv_model, complete) },
    { "ended", "ended", "",
      "Of a run that did not end well, or still runs, the first lines of the text report; null: nothing is to be said.",
      FV_GET(FV_TYPE_TEXT, get_end), .flags = FV_NULLABLE },
    { "not_judged", "not judged", "",
      "What the findings say nothing of because it could not be judged, and why; null: all was judged.",
      FV_GET(FV_TYPE_TEXT, get_not_judged), .flags = FV_NULLABLE },
    { "not_recorded", "not recorded", "",
      "What the program did that fvmpi records of no program, as work of child processes by fork(); null: nothing.",
      FV_FIELD(struct fv_model, not_recorded), .flags = FV_NULLABLE },
    { "start", "start", "",
      "When the first rank began, UTC, as 2026-11-21T05:00:00Z. Other points in time count from it.",
      FV_GET(FV_TYPE_TEXT, get_start) },
    { "elapsed_s", "elapsed", "s", "From the first begin to the last end.", FV_FIELD(struct fv_model, elapsed_s) },
    { "clock_count", "clocks", "", "Groups of ranks that read the same clock.",
      FV_FIELD(struct fv_model, clock_count) },
    { "alignment", "alignment", "", "", FV_NEST(alignment) },
    { "barriers", "barriers", "", "", FV_NEST(barriers) },
    RANK_TIME_COLUMNS(struct fv_model, efficiency.),
    { "overhead.time_s", "overhead", "s",
      "fvmpi's own time, over all ranks and threads: calls times their calibrated cost, start, call paths, "
      "sampling; where clock samples in fvmpi itself tell of more, the time that they stand for.",
      FV_FIELD(struct fv_model, overhead.time_s), .flags = FV_ESTIMATE },
    { "overhead.sampling_s", "sampling", "s", "The part of it that is sampling.",
      FV_FIELD(struct fv_model, overhead.sampling_s), .flags = FV_ESTIMATE },
    { "overhead.share", "share", "share", "The whole, of the ranks' time.", FV_FIELD(struct fv_model, overhead.share),
      .flags = FV_NULLABLE | FV_ESTIMATE },
    { "overhead.memory_bytes", "memory", "bytes", "fvmpi's memory in the application, over all ranks.",
      FV_FIELD(struct fv_model, overhead.memory_bytes) },
    { "overhead.rank_memory_bytes", "memory of a rank", "bytes", "The same, of the rank that has most.",
      FV_FIELD(struct fv_model, overhead.rank_memory_bytes) },
    { "overhead.file_bytes", "files", "bytes", "Size of the rank files.",
      FV_FIELD(struct fv_model, overhead.file_bytes) },
};
static const struct fv_relation run_relation = {
    .name = "run",
    .key = "run",
    .title = "Run",
    .doc = "What ran.",
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
    { "program", "program", "", "Path of the executable, of the first rank that runs it.",
      FV_FIELD(struct fv_program, path) },
    { "command", "command", "", "The command line of that rank.", FV_FIELD(struct fv_program, command) },
    { "command_count", "commands", "", "How many different command lines its ranks have.",
      FV_FIELD(struct fv_program, commands) },
    { "rank_count", "ranks", "", "How many ranks run it.", FV_FIELD(struct fv_program, ranks) },
    { "rank_runs", "ranks", "", "Which ranks.", FV_GET(FV_TYPE_RUNS, get_program_runs) },
    RANK_TIME_COLUMNS(struct fv_program, ),
};
static const struct fv_relation programs_relation = {
    .name = "programs",
    .key = "programs",
    .title = "Programs",
    .doc = "The executables of the launch, by their first rank. Ranks run the same program if their "
           "executables have the same name "
           "and build-id, or the same path where a build-id is not known.",
    FV_COLUMNS(program_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, programs, program_count),
};

/* ---- options ---- */

static const struct fv_column_def option_columns[] = {
    { "option", "option", "", "The option of `fvmpi run`; null: this version has none of that name.",
      FV_FIELD(struct fv_option_view, flag), .flags = FV_NULLABLE },
    { "variable", "variable", "", "The environment variable that sets it.", FV_FIELD(struct fv_option_view, variable) },
    { "value", "value", "", "As it was set; of a switch, 1 is on.", FV_FIELD(struct fv_option_view, value) },
    { "rank_count", "ranks", "", "Ranks that had it so.", FV_FIELD(struct fv_option_view, ranks) },
};
static const struct fv_relation options_relation = {
    .name = "options",
    .key = "options",
    .title = "Options",
    .doc = "Options of the recording that were not at their defaults, but for the directory. Empty in "
           "experiments of versions that "
           "did not store them.",
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

#define CALL_COLUMNS(what)                                                                                       \
    { "function", "function", "", "The MPI function.", FV_GET(FV_TYPE_TEXT, get_in_function) },                  \
        { "path", "path", "", "", FV_NEST_IN(fv_path_relation, struct fv_in_call_view, node) },                  \
    {                                                                                                            \
        "for_s", "for", "s", what, FV_FIELD(struct fv_in_call_view, seconds), .flags = FV_NULLABLE | FV_ESTIMATE \
    }
#define SO_FAR                                                                                             \
    "Time in it so far: until now if the rank runs; of one that was killed until the latest sign of life " \
    "of "                                                                                                  \
    "any rank, so at least that long."
static const struct fv_column_def in_call_columns[] = {
    CALL_COLUMNS(SO_FAR),
    { "peer", "peer", "", "The other rank, in the call's communicator; null: none, or any.",
      FV_GET(FV_TYPE_NUMBER, get_peer), .flags = FV_NULLABLE },
    { "tag", "tag", "", "The message's tag; null: none, or any.", FV_GET(FV_TYPE_NUMBER, get_peer),
      .flags = FV_NULLABLE, .argument = 1 },
};
static const struct fv_relation in_call = {
    .key = "in_call",
    .doc = "The MPI call that it is in; null: none.",
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

static const struct fv_column_def last_call_columns[] = { CALL_COLUMNS("Time since it returned, likewise.") };
static const struct fv_relation last_call = {
    .key = "last_call",
    .doc = "Of a rank outside of MPI that has not finalized, the MPI call it was in last; else null.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(last_call_columns),
    .base = last_call_of,
};

static const struct fv_column_def trace_columns[] = {
    { "count", "calls", "", "MPI calls in it.", FV_FIELD(struct fv_rank, trace_calls) },
    { "bytes", "bytes", "bytes", "Its size.", FV_FIELD(struct fv_rank, trace_bytes) },
    { "stop_s", "stop", "s", "When it ended because its budget was used up; null: it did not.",
      FV_FIELD(struct fv_rank, trace_stop_s), .flags = FV_NULLABLE },
};
static const struct fv_relation trace = {
    .key = "trace",
    .doc = "The rank's trace; null: none was recorded.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(trace_columns),
    .base = trace_of,
};

static const struct fv_column_def thread_columns[] = {
    { "thread", "thread", "", "Its number in the process; 0 is the first.", FV_FIELD(struct fv_thread_view, id),
      .flags = FV_IS_THREAD },
    { "tid", "tid", "id", "The kernel's number.", FV_FIELD(struct fv_thread_view, tid) },
    { "main", "main", "", "Is it the process's first thread?", FV_FIELD(struct fv_thread_view, main) },
    { "used_count", "used", "", "Threads that had this number one after the other.",
      FV_FIELD(struct fv_thread_view, used) },
    { "count", "calls", "", "MPI calls.", FV_FIELD(struct fv_thread_view, calls) },
    { "elapsed_s", "elapsed", "s",
      "From its begin, or when it was recorded first, to its end or its rank's; null: several had the number.",
      FV_FIELD(struct fv_thread_view, elapsed_s), .flags = FV_NULLABLE },
    { "user_s", "user", "s", "CPU time in user mode, up to its end or MPI_Finalize; null: not known to its end.",
      FV_FIELD(struct fv_thread_view, user_s), .flags = FV_NULLABLE },
    { "system_s", "system", "s", "CPU time in the kernel, likewise.", FV_FIELD(struct fv_thread_view, system_s),
      .flags = FV_NULLABLE },
    { "mpi_time_s", "MPI", "s", "Time in MPI.", FV_FIELD(struct fv_thread_view, mpi_time_s) },
    { "overhead_s", "overhead", "s", "fvmpi's own time.", FV_FIELD(struct fv_thread_view, tool_s),
      .flags = FV_ESTIMATE },
    { "in_call", "in call", "", "", FV_NEST_IN(in_call, struct fv_thread_view, in_call) },
};
static const struct fv_column_def rank_outer[] = {
    { "rank", "rank", "", "Its number in MPI_COMM_WORLD.", FV_FIELD(struct fv_rank, world_rank), .flags = FV_IS_RANK },
};
static const struct fv_relation threads = {
    .name = "threads",
    .key = "threads",
    .title = "Threads",
    .doc = "Threads that were recorded: those that called MPI, and with --threads or --sample all.",
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
    { "name", "signal", "", "Its name.", FV_GET(FV_TYPE_TEXT, get_signal_name) },
    { "number", "number", "", "Its number on that machine.", FV_FIELD(struct fv_signal_view, number) },
    { "address", "address", "", "Of a fault, what was touched; null: it was sent.",
      FV_GET(FV_TYPE_HEX, get_signal_address), .flags = FV_NULLABLE },
    { "sender_pid", "sender", "id", "The process that sent it; null: the kernel.", FV_GET(FV_TYPE_NUMBER, get_sender),
      .flags = FV_NULLABLE },
    { "at_s", "at", "s", "When.", FV_FIELD(struct fv_signal_view, at_s) },
    { "path", "path", "", "", FV_NEST_IN(fv_path_relation, struct fv_signal_view, node) },
};
static const struct fv_relation ended_by = {
    .key = "signal",
    .doc = "The signal that ended it; null: none, or none was seen: SIGKILL, one that the program handles, a "
           "stack that was full.",
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
enum { PART_COMPUTE, PART_MPI, PART_WAIT };
static void get_rank_part(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_rank *r = row;
    double part = c->argument == PART_COMPUTE ? fmax(r->app_time_s - r->mpi_time_s, 0)
                  : c->argument == PART_MPI   ? r->mpi_time_s
                                              : r->wait_share * r->mpi_time_s;

    v->real = r->app_time_s > 0 ? part / r->app_time_s : NAN;
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
    { "pid", "pid", "id", "The process.", FV_FIELD(struct fv_rank, pid) },
    { "state", "state", "",
      "finalized; exited: exit() without MPI_Finalize; replaced: became another program, by exec(), which is not in "
      "this file; "
      "killed: gone without any of these, or after MPI_Abort; "
      "running: still runs on this host.",
      FV_GET(FV_TYPE_TEXT, get_state), .words = state_words },
    { "app_time_s", "time", "s",
      "From entering MPI_Init to leaving MPI_Finalize or to the latest sign of life, less pauses.",
      FV_FIELD(struct fv_rank, app_time_s) },
    { "mpi_time_s", "MPI", "s", "In MPI, of the main thread; see threads for the others.",
      FV_FIELD(struct fv_rank, mpi_time_s) },
    { "wait_s", "wait", "s", "Waiting for other ranks, summed over its call sites and threads.",
      FV_FIELD(struct fv_rank, wait_time_s), .flags = FV_AS_KIND },
    { "wait_kind", "kind", "", "How well wait_s is known; null: it is not, and wait_s is what is known of it.",
      FV_GET(FV_TYPE_TEXT, get_rank_wait_kind), .flags = FV_NULLABLE, .words = fv_wait_kind_words },
    RANK_PART("compute_share", "compute", PART_COMPUTE, 0, "Part of app_time_s outside of MPI."),
    { "thread_wait_share", "for threads", "share",
      "The part of compute_share in which the main thread waited for other threads; null without --threads.",
      FV_GET(FV_TYPE_REAL, get_thread_wait), .flags = FV_NULLABLE | FV_BLANK, .known = has_locks },
    RANK_PART("mpi_share", "MPI", PART_MPI, 0, "Part of it in MPI."),
    RANK_PART("wait_share", "waiting", PART_WAIT, FV_AS_KIND,
              "Part of it spent waiting in MPI, if the main thread waits in its calls as all threads do in "
              "theirs."),
    { "mpi_shares", "MPI over time", "share", "Part of each bin of the timeline in MPI.",
      FV_GET(FV_TYPE_REALS, get_mpi_shares), .flags = FV_FLAT },
    { "others_waited_s", "others waited", "s", "As caused_s of waiting_by_rank, and as exact as that is.",
      FV_GET(FV_TYPE_REAL, get_caused), .flags = FV_FLAT | FV_NULLABLE | FV_BLANK },
    { "others_waited_share", "of waiting", "share", "The same, of all waiting.", FV_GET(FV_TYPE_REAL, get_caused),
      .flags = FV_FLAT | FV_NULLABLE | FV_BLANK, .argument = 1 },
    { "cpu_s", "CPU", "s", "CPU time of the process; null: not known to its end.", FV_FIELD(struct fv_rank, cpu_s),
      .flags = FV_NULLABLE },
    { "user_s", "user", "s", "The part of it in user mode.", FV_FIELD(struct fv_rank, user_s), .flags = FV_NULLABLE },
    { "system_s", "system", "s", "The part of it in the kernel.", FV_FIELD(struct fv_rank, system_s),
      .flags = FV_NULLABLE },
    { "ready_s", "no processor", "s",
      "Its main thread was ready to run and had no processor, in MPI and outside; null: not known.",
      FV_FIELD(struct fv_rank, ready_s), .flags = FV_NULLABLE },
    { "stolen_s", "stolen", "s",
      "What a hypervisor took of a processor of the rank's host during the run, the mean of all its processors "
      "(/proc/stat). It is part of CPU times. 0: "
      "none, or not known.",
      FV_FIELD(struct fv_rank, stolen_s), .flags = FV_ESTIMATE },
    { "throttled_s", "throttled", "s",
      "What the quotas of processor time of its control groups (cpu.max) kept all tasks in them, together, from "
      "running during the run. Its part of it is in ready_s, too. Null: nothing, or not known.",
      FV_FIELD(struct fv_rank, throttled_s), .flags = FV_UNLESS_0 },
    { "preempted", "preempted", "", "Times that the kernel took a processor from the process; null: not known.",
      FV_FIELD(struct fv_rank, preempted), .flags = FV_NULLABLE, .known = has_usage },
    { "resident_peak", "memory", "bytes", "Most memory of the process that was resident; null: not known.",
      FV_FIELD(struct fv_rank, resident_peak), .flags = FV_UNLESS_0 },
    { "resident_first", "at first", "bytes", "The same, when the recording began.",
      FV_FIELD(struct fv_rank, resident_first), .flags = FV_UNLESS_0 },
    { "resident_half", "at half", "bytes", "The same, when the run was resident_half_s old; null: it was too short.",
      FV_FIELD(struct fv_rank, resident_half), .flags = FV_UNLESS_0 },
    { "resident_half_s", "half", "s", "A power of two of the clock's ticks: the last one in the run.",
      FV_FIELD(struct fv_rank, half_s), .flags = FV_UNLESS_0 },
    { "in_call", "in call", "", "", FV_NEST_IN(in_call, struct fv_rank, in_call) },
    { "in_call", "in", "", "The MPI function that it is in.", FV_GET(FV_TYPE_TEXT, get_in_call),
      .flags = FV_FLAT | FV_NULLABLE },
    { "in_call_s", "for", "s", SO_FAR, FV_GET(FV_TYPE_REAL, get_in_call),
      .flags = FV_FLAT | FV_NULLABLE | FV_ESTIMATE },
    { "last_call", "last call", "", "", FV_NEST(last_call) },
    { "lost_count", "dropped", "", "Sum of what was dropped, without collectives.", FV_GET(FV_TYPE_WHOLE, get_lost),
      .flags = FV_FLAT | FV_BLANK },
    DROPPED("cells", FV_DROP_CELLS, "Calls of which detail was dropped, because --profile-max was used up."),
    DROPPED("paths", FV_DROP_PATHS, "Calls without their call path."),
    DROPPED("collectives", FV_DROP_COLLECTIVES, "Collective calls whose times of entry were not kept."),
    DROPPED("peers", FV_DROP_PEERS, "Messages that are not in the matrix."),
    DROPPED("comms", FV_DROP_COMMS, "Communicators, windows and files that are not described."),
    DROPPED("calls", FV_DROP_CALLS, "Calls that are nowhere counted."),
    DROPPED("disk", FV_DROP_DISK, "Times that a file could not be made larger."),
    DROPPED("requests", FV_DROP_REQUESTS, "Requests that were not followed."),
    DROPPED("events", FV_DROP_EVENTS, "Calls that are counted but not in the trace."),
    DROPPED("marks", FV_DROP_MARKS, "Labels that there was no room for."),
    { "trace", "trace", "", "", FV_NEST(trace) },
    { "aborted", "aborted", "", "Did it call MPI_Abort?", FV_FIELD(struct fv_rank, aborted) },
    { "exit_code", "abort code", "", "What it gave MPI_Abort; null: it did not.",
      FV_GET(FV_TYPE_NUMBER, get_exit_status), .flags = FV_NULLABLE, .argument = 1 },
    { "exit_status", "exit status", "",
      "What exit() was given or main returned; null: not seen (_exit(), a signal, still running).",
      FV_GET(FV_TYPE_NUMBER, get_exit_status), .flags = FV_NULLABLE },
    { "signal", "signal", "", "", FV_NEST(ended_by) },
    { "signal", "signal", "", "Name of the signal that ended it.", FV_GET(FV_TYPE_TEXT, get_signal),
      .flags = FV_FLAT | FV_NULLABLE },
    { "delay_s", "delay", "s",
      "How long other ranks waited for this one in collectives, by when each entered; of everything, see waiting.",
      FV_FIELD(struct fv_rank, delay_s), .flags = FV_ESTIMATE },
    { "paused_s", "paused", "s", "Time that recording was paused.", FV_FIELD(struct fv_rank, paused_s) },
    { "recording_wait_s", "recording waited", "s",
      "What recording the main thread's calls waited for pages of the rank file: in no time of the program.",
      FV_FIELD(struct fv_rank, waited_s) },
    { "forgotten_s", "forgotten", "s", "Time before the measured interval whose profile MPI_Pcontrol(2) made forget.",
      FV_FIELD(struct fv_rank, forgotten_s) },
    { "init_s", "init", "s", "In MPI_Init.", FV_FIELD(struct fv_rank, init_s) },
    { "finalize_s", "finalize", "s", "In MPI_Finalize.", FV_FIELD(struct fv_rank, finalize_s) },
    { "begin_s", "begin", "s", "When it began.", FV_FIELD(struct fv_rank, begin_s) },
    { "end_s", "end", "s", "When it ended, or its latest sign of life.", FV_FIELD(struct fv_rank, end_s) },
    { "overhead_s", "overhead", "s", "fvmpi's own time.", FV_FIELD(struct fv_rank, tool_s), .flags = FV_ESTIMATE },
    { "memory_bytes", "memory", "bytes", "fvmpi's memory in the process.", FV_FIELD(struct fv_rank, memory_bytes) },
    { "file_bytes", "file", "bytes", "Size of its rank file.", FV_FIELD(struct fv_rank, file_bytes) },
    { "file", "file", "", "Name of its rank file.", FV_FIELD(struct fv_rank, file) },
    { "thread_level", "thread level", "", "What MPI provides for threads.", FV_FIELD(struct fv_rank, thread_level),
      .flags = FV_NULLABLE },
    { "program_id", "program", "id", "Index in programs, from 0.", FV_FIELD(struct fv_rank, program) },
    { "program", "program", "", "Its name; the path where two have the same name.", FV_GET(FV_TYPE_TEXT, get_program),
      .flags = FV_FLAT },
    { "thread_count", "threads", "", "Threads that were recorded.", FV_FIELD(struct fv_rank, threads),
      .flags = FV_FLAT },
    { "threads", "threads", "", "", FV_NEST(threads) },
};
const struct fv_relation fv_ranks_relation = {
    .of_ranks = true,
    .name = "ranks",
    .key = "ranks",
    .title = "Ranks",
    .doc = "The ranks that have a rank file, by rank.",
    .shown = "rank host/1 program/3 app_time_s user_s/3 system_s/3 compute_share thread_wait_share/4 mpi_share "
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
      "unreadable; left_out: a file of another run; missing: a rank without a file; damaged; dropped; note. "
      "All "
      "but left_out and note make the report incomplete.",
      FV_GET(FV_TYPE_TEXT, get_problem_kind), .words = problem_words },
    { "file", "file", "", "The file that it is about; null: the whole run.", FV_FIELD(struct fv_problem, file),
      .flags = FV_NULLABLE },
    { "text", "text", "", "In words.", FV_FIELD(struct fv_problem, text) },
};
static const struct fv_relation problems_relation = {
    .name = "problems",
    .key = "problems",
    .title = "Problems",
    .doc = "What the reader of the report must know of its input.",
    FV_COLUMNS(fv_problem_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, problems.items, problems.count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_clocks, fv_track_threads, fv_track_programs, fv_track_options, fv_track_shadows,
    fv_track_remarks, fv_track_interpreters;
extern const struct fv_relation fv_findings_relation, fv_hang_relation;

const struct fv_subject fv_run_subject = {
    .name = "run",
    .tracks = { &fv_track_clocks, &fv_track_threads, &fv_track_programs, &fv_track_options, &fv_track_shadows,
                &fv_track_remarks, &fv_track_interpreters },
    .relations = { &run_relation, &fv_findings_relation, &programs_relation, &options_relation },
};

const struct fv_subject fv_unfinished_subject = {
    .name = "unfinished",
    .relations = { &fv_hang_relation, &problems_relation },
};
