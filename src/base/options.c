/* See options.h. */
#include "base/options.h"
#include "base/near.h"
#include "base/experiment.h"
#include "base/perf_events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FIELD(name) offsetof(struct fv_options, name)
#define DEPTH_MOST 1024 /* what the runtime can hold */
#define SAMPLE_RATE 100
#define SIZE_MOST (UINT64_C(1) << 40)
#define PATH_ROOM 4096

static char events_storage[FV_EVENTS_MOST * FV_PERF_EVENT_TEXT];
static char counters_storage[(FV_COUNTERS_MOST + 1) * FV_PERF_EVENT_TEXT];

/* ---- parsers ---- */

const char *fv_parse_size(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return "too large";
    if (p == text)
        return "not a size such as 4M, 512k or 1G";

    static const char units[] = "kmgt";
    const char *unit = *p ? strchr(units, *p | 0x20) : NULL;
    if (unit) {
        if (__builtin_mul_overflow(value, UINT64_C(1) << 10 * (unit - units + 1), &value))
            return "too large";
        p++;
        if (*p == 'i' && p[1] == 'B')
            p++;
    }
    if (*p == 'B')
        p++;
    if (*p)
        return "not a size such as 4M, 512k or 1G";
    *out = value;
    return NULL;
}

static const char *parse_size(const struct fv_option *option, const char *text, void *field);

/* The limit as one writes it in the option. */
static const char *out_of_range(const struct fv_option *option, const char *what, uint64_t limit)
{
    static char text[64];
    unsigned unit = 0;

    while (option->parse == parse_size && unit < 4 && limit && limit % 1024 == 0) {
        limit /= 1024;
        unit++;
    }
    snprintf(text, sizeof(text), "%s %llu%.*s)", what, (unsigned long long)limit, unit ? 1 : 0,
             &"?KMGT"[unit]);
    return text;
}

static const char *check_range(const struct fv_option *option, uint64_t value, void *field)
{
    if (value < option->least)
        return out_of_range(option, "too small (from", option->least);
    if (value > option->most)
        return out_of_range(option, "too large (up to", option->most);
    if (field)
        *(uint64_t *)field = value;
    return NULL;
}

static const char *parse_size(const struct fv_option *option, const char *text, void *field)
{
    uint64_t value;
    const char *why = fv_parse_size(text, &value);

    return why ? why : check_range(option, value, field);
}

static const char *parse_number(const struct fv_option *option, const char *text, void *field)
{
    uint64_t value;

    for (const char *p = text; *p; p++)
        if (*p < '0' || *p > '9')
            return "not a whole number";
    if (!*text)
        return "not a whole number";
    if (fv_parse_size(text, &value))
        return "too large";
    return check_range(option, value, field);
}

static const char *parse_flag(const struct fv_option *option, const char *text, void *field)
{
    static const char *const words[] = { "0", "no", "off", "false", "1", "yes", "on", "true" };

    (void)option;
    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(text, words[i]))
            continue;
        if (field)
            *(bool *)field = i >= 4;
        return NULL;
    }
    return "neither 1 nor 0";
}

/* The value is the place among the choices that the row's argument lists. */
static const char *parse_choice(const struct fv_option *option, const char *text, void *field)
{
    size_t length = strlen(text);
    int index = 0;

    for (const char *p = option->argument; *p; index++) {
        size_t n = strcspn(p, "|");
        if (n == length && !memcmp(p, text, n)) {
            if (field)
                *(int *)field = index;
            return NULL;
        }
        p += n + (p[n] == '|');
    }
    return "not one of the choices";
}

static const char *keep(const char *text, char *storage, size_t room, void *field)
{
    size_t length = strlen(text);

    if (length >= room)
        return "too long";
    if (field) {
        memcpy(storage, text, length + 1);
        *(const char **)field = storage;
    }
    return NULL;
}

static const char *parse_output(const struct fv_option *option, const char *text, void *field)
{
    static char storage[PATH_ROOM];

    (void)option;
    return *text ? keep(text, storage, sizeof(storage), field) : "empty";
}

/* Ranks may be in directories of their own, and it is looked for from elsewhere. */
static const char *parse_local(const struct fv_option *option, const char *text, void *field)
{
    static char storage[PATH_ROOM];

    (void)option;
    return *text == '/' ? keep(text, storage, sizeof(storage), field) : "not an absolute path, such as /tmp";
}

/* A rate, or on (1), clock, and off. */
static const char *parse_rate(const struct fv_option *option, const char *text, void *field)
{
    bool on;

    if (!strcmp(text, "clock")) {
        if (field)
            *(uint64_t *)field = FV_SAMPLE_CLOCK;
        return NULL;
    }
    if (*text >= '0' && *text <= '9' && strcmp(text, "0") && strcmp(text, "1"))
        return parse_number(option, text, field);
    if (parse_flag(option, text, &on))
        return "not a rate, clock, on or off";
    if (field)
        *(uint64_t *)field = on ? SAMPLE_RATE : 0;
    return NULL;
}

/* On (1), off, or what to record besides: hold, owner, or both with a comma between. */
static const char *parse_threads(const struct fv_option *option, const char *text, void *field)
{
    int mode = FV_THREADS_ON;
    bool on = true;

    if (!parse_flag(option, text, &on)) {
        mode = on ? FV_THREADS_ON : 0;
        text = "";
    }
    while (*text) {
        size_t n = strcspn(text, ",");
        if (n == 4 && !memcmp(text, "hold", n))
            mode |= FV_THREADS_HOLD;
        else if (n == 5 && !memcmp(text, "owner", n))
            mode |= FV_THREADS_OWNER;
        else
            return "not hold, owner, or hold,owner";
        text += n + (text[n] == ',');
    }
    if (field)
        *(int *)field = mode;
    return NULL;
}

/* Whether there are such events is for others to say: libpfm4 knows more of them. */
static const char *parse_events(const struct fv_option *option, const char *text, void *field)
{
    char names[FV_EVENTS_MOST][FV_PERF_EVENT_NAME];
    struct fv_perf_event event;
    const char *list = text, *word;
    unsigned count = 0;
    size_t length;

    (void)option;
    while (fv_perf_event_word(&list, &word, &length)) {
        if (fv_perf_event_parse(word, length, &event) == -FV_EINVAL)
            return "not names with commas between, as in INSTRUCTIONS,PAGE-FAULTS";
        if (++count > FV_EVENTS_MOST)
            return "more than 4 events; name fewer, and run again for the others";
        for (unsigned i = 0; i + 1 < count; i++)
            if (!strcasecmp(names[i], event.name))
                return "one event twice; name each once";
        strcpy(names[count - 1], event.name);
    }
    return keep(text, events_storage, sizeof(events_storage), field);
}

/* Likewise; a group of them is a word, too, and what the processor is called. */
static const char *parse_counters(const struct fv_option *option, const char *text, void *field)
{
    struct fv_perf_event event;
    const char *list = text, *word;
    unsigned count = 0;
    size_t length;

    (void)option;
    while (fv_perf_event_word(&list, &word, &length)) {
        bool is_processor = word == text && length > 1 && length < 16 && *word == '@';

        if (!is_processor && fv_perf_event_parse(word, length, &event) == -FV_EINVAL)
            return "not a group or names with commas between, as in statistics,PAGE-FAULTS; --counters help lists them";
        count += !is_processor;
    }
    if (count > FV_COUNTERS_MOST)
        return "more than 16 events; name fewer, and run again for the others";
    return keep(text, counters_storage, sizeof(counters_storage), field);
}

/* "2/3" */
static const char *parse_pass(const struct fv_option *option, const char *text, void *field)
{
    static char storage[16];
    char *end;
    unsigned long pass = strtoul(text, &end, 10), passes = *end == '/' ? strtoul(end + 1, &end, 10) : 0;

    (void)option;
    if (*end || !pass || pass > passes || passes > 64)
        return "not a pass of several, such as 2/3";
    return keep(text, storage, sizeof(storage), field);
}

/* Whether there are such sensors the machine says on which they are read. */
static const char *parse_sensors(const struct fv_option *option, const char *text, void *field)
{
    static char storage[PATH_ROOM];

    (void)option;
    return *text ? keep(text, storage, sizeof(storage), field) : "empty; `fvmpi stat --list` lists what there is";
}

/* On (1), off, or all: short ones, too. */
static const char *parse_functions(const struct fv_option *option, const char *text, void *field)
{
    bool all = !strcmp(text, "all"), on = all;

    if (!all && parse_flag(option, text, &on))
        return "neither on, off nor all";
    if (field)
        *(int *)field = all ? FV_FUNCTIONS_ALL : on ? FV_FUNCTIONS_ON : 0;
    return NULL;
}

/* On (1), off, or exact: each allocation. The values are enum fv_memory_mode's. */
static const char *parse_memory(const struct fv_option *option, const char *text, void *field)
{
    bool exact = !strcmp(text, "exact"), on = exact;

    if (!exact && parse_flag(option, text, &on))
        return "neither on, off nor exact";
    if (field)
        *(int *)field = exact ? 2 : on;
    return NULL;
}

/* On, off, or numbers with commas between. */
static const char *parse_numbers(const struct fv_option *option, const char *text, void *field)
{
    bool on = true;

    if (parse_flag(option, text, &on) && (!*text || strspn(text, "0123456789,") != strlen(text)))
        return "not numbers with commas between, on or off";
    if (field)
        *(bool *)field = on;
    return NULL;
}

static const char *parse_solo(const struct fv_option *option, const char *text, void *field)
{
    bool is_curve = !strcmp(text, "curve"), on = is_curve;

    if (!is_curve && parse_flag(option, text, &on))
        return "neither on, off nor curve";
    if (field)
        *(bool *)field = on;
    return NULL;
}

static const char *parse_any(const struct fv_option *option, const char *text, void *field)
{
    (void)option;
    (void)text;
    (void)field;
    return NULL;
}

/* ---- the table ---- */

const struct fv_option fv_option_table[] = {
    { "FVMPI_OUTPUT", "--output", 'o', "DIR", "",
      "write the experiment to DIR (default: fvmpi-PROGRAM-RANKSp-TIME in the current directory)",
      FV_USE_APPLICATION, parse_output, FIELD(output), 0, 0 },
    { "FVMPI_LOCAL", "--local", 0, "DIR", "",
      "write rank files to DIR, a directory of each node's own, while the job runs; `fvmpi run` moves them to the experiment "
      "afterwards, or `fvmpi gather`",
      FV_USE_APPLICATION, parse_local, FIELD(local), 0, 0 },
    { "FVMPI_SHARE", "--share", 0, NULL, "0",
      "let others read the experiment, as the umask says; without it, directory and files are their owner's alone", FV_USE_APPLICATION, parse_flag, FIELD(share), 0, 0 },
    { "FVMPI_DEPTH", "--depth", 0, "N", "0",
      "keep the N innermost frames of each call path, up to 1024; 0 keeps all of them", FV_USE_APPLICATION,
      parse_number, FIELD(depth), 0, DEPTH_MOST },
    { "FVMPI_PROFILE_MAX", "--profile-max", 0, "SIZE", "4M",
      "statistics per process, at most; calls beyond it are counted without their call path",
      FV_USE_APPLICATION, parse_size, FIELD(profile_max), 65536, SIZE_MOST },
    { "FVMPI_COLLECTIVES_MAX", "--collectives-max", 0, "SIZE", "2M",
      "log per thread from which waiting in collectives is computed; thinned when it is full",
      FV_USE_APPLICATION, parse_size, FIELD(collectives_max), 4096, SIZE_MOST },
    { "FVMPI_TRACE", "--trace", 't', NULL, "0",
      "record each MPI call with its time, for `fvunify`, which makes an OTF2 archive", FV_USE_APPLICATION,
      parse_flag, FIELD(trace), 0, 0 },
    { "FVMPI_TRACE_MAX", "--trace-max", 0, "SIZE", "1G",
      "trace per process, at most; then the trace ends and the profile goes on", FV_USE_APPLICATION,
      parse_size, FIELD(trace_max), 65536, SIZE_MOST },
    { "FVMPI_TRACE_ZSTD", "--trace-zstd", 0, "LEVEL", "0",
      "compress the trace, piece by piece, by libzstd: 1 (fast) to 19; 0 does not", FV_USE_APPLICATION,
      parse_number, FIELD(trace_zstd), 0, 19 },
    { "FVMPI_BARRIER", "--barrier", 0, "off|before|after", "off",
      "insert a barrier before (after) each blocking collective: imbalance and transfer apart, a perturbed "
      "run",
      FV_USE_APPLICATION, parse_choice, FIELD(barrier), 0, 0 },
    { "FVMPI_BARRIER_WAIT", "--barrier-wait", 0, "SECONDS", "10",
      "with --barrier: how long MPI_Init waits for all ranks to agree to it", FV_USE_APPLICATION,
      parse_number, FIELD(barrier_wait), 0, 3600 },
    { "FVMPI_SAMPLE", "--sample", 0, NULL, "clock",
      "sample whole calls of functions as well as CPU time, of all threads, 100 times a second; --sample=RATE as often as that; "
      "clock: only where CPU time goes, of threads that call MPI, at 0.5 % of it at most; off: nothing",
      FV_USE_APPLICATION, parse_rate, FIELD(sample), 2, 5000 },
    { "FVMPI_SAMPLE_BUDGET", "--sample-budget", 0, "PERCENT", "5",
      "sampled instances may take so much of a thread's CPU time; then samples only count where it goes",
      FV_USE_APPLICATION, parse_number, FIELD(sample_budget), 1, 100 },
    { "FVMPI_EVENTS", "--events", 0, "LIST", "",
      "count up to 4 performance events inside the sampled instances, by libpfm4's names with commas "
      "between; "
      "turns --sample on",
      FV_USE_APPLICATION, parse_events, FIELD(events), 0, 0 },
    { "FVMPI_COUNTERS", "--counters", 0, "LIST", "",
      "count events over each whole thread and in sections: groups (statistics, cache, tlb, memory, simd, stalls, frontend, backend, ports, speculation, branches, software) or libpfm4's names, with commas "
      "between; help lists groups, their events here, and what cannot be had",
      FV_USE_APPLICATION, parse_counters, FIELD(counters), 0, 0 },
    { "FVMPI_COUNTERS_SHARED", "--counters-shared", 0, NULL, "0",
      "more events than the processor has registers take turns; their counts are then scaled by time, which is an estimate", FV_USE_APPLICATION, parse_flag,
      FIELD(counters_shared), 0, 0 },
    { "FVMPI_COUNTERS_PASS", "--counters-pass", 0, "I/N", "",
      "count the I-th of N parts of the list, instructions, cycles and software's events in each: for N runs, whose counters fvmpi report DIR DIR ... joins", FV_USE_APPLICATION,
      parse_pass, FIELD(counters_pass), 0, 0 },
    { NULL, "--passes", 0, NULL, "0",
      "run the command as often as the processor's registers need for all of --counters, each run into a directory of its own: DIR-1, DIR-2 ... of -o DIR", FV_USE_RUN, parse_flag, FV_NO_FIELD, 0, 0 },
    { "FVMPI_COUNTERS_MPI", "--counters-mpi", 0, NULL, "1",
      "tell apart what is counted in MPI calls; --counters-mpi=0 makes calls cheaper", FV_USE_APPLICATION, parse_flag, FIELD(counters_mpi), 0, 0 },
    { "FVMPI_THREADS", "--threads", 0, NULL, "0",
      "record locks, barriers and other waiting of threads; --threads=hold,owner also how long locks are "
      "held, "
      "and by whom",
      FV_USE_APPLICATION, parse_threads, FIELD(threads), 0, 0 },
    { "FVMPI_MPI_CALLS", "--mpi-calls", 0, "0|1", "1",
      "0 leaves MPI's own calls out: for functions, threads, sections or samples alone; time in MPI then counts as computing", FV_USE_APPLICATION,
      parse_flag, FIELD(mpi_calls), 0, 0 },
    { "FVMPI_FUNCTIONS", "--functions", 0, NULL, "0",
      "record calls of the functions that the compiler instrumented (-finstrument-functions): how often, how long, by call path; those "
      "called 100,000 times and shorter than 1 us are counted from then on, --functions=all measures them on", FV_USE_APPLICATION, parse_functions, FIELD(functions), 0, 0 },
    { "FVMPI_FUNCTIONS_FILTER", "--functions-filter", 0, "FILE", "",
      "leave out the functions that a filter file, as Score-P's, says; turns --functions on", FV_USE_RUN, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_IO", "--io", 0, NULL, "0", "record what the program does to files: calls, bytes, time, by file and call path", FV_USE_APPLICATION,
      parse_flag, FIELD(io), 0, 0 },
    { "FVMPI_MEMORY", "--memory", 0, NULL, "0",
      "record what the program allocates, by call path: allocations of 4 KiB and more each, others by samples; --memory=exact: each one", FV_USE_APPLICATION,
      parse_memory, FIELD(memory), 0, 0 },
    { "FVMPI_SENSORS", "--sensors", 0, "LIST", "",
      "read sensors of the machine meanwhile, by one thread on each node: names as `fvmpi stat` takes them, with commas between; default: what most want",
      FV_USE_APPLICATION, parse_sensors, FIELD(sensors), 0, 0 },
    { "FVMPI_SENSORS_HZ", "--sensors-hz", 0, "N", "10", "read them N times a second; sensors that change slowly, or are dear, less often", FV_USE_APPLICATION,
      parse_number, FIELD(sensors_hz), 1, 1000 },
    { "FVMPI_SECTION_LEVEL", "--section-level", 0, "N", "0",
      "measure sections that the program marks (fvmpi.h) whose level is N or lower", FV_USE_APPLICATION,
      parse_number, FIELD(section_level), 0, INT32_MAX },
    { "FVMPI_SECTION_CPU", "--section-cpu", 0, NULL, "1",
      "CPU time, page faults and context switches of sections; --section-cpu=0 makes begin and end cheaper",
      FV_USE_APPLICATION, parse_flag, FIELD(section_cpu), 0, 0 },
    { "FVMPI_ANNOTATIONS", "--annotations", 0, "on|off", "on",
      "regions that the program marks for Kokkos' tools, NVTX or ITT become sections, where no other tool is named by their variables", FV_USE_APPLICATION,
      parse_choice, FIELD(annotations), 0, 0 },
    { "FVMPI_OFF_AT_START", "--off-at-start", 0, NULL, "0",
      "record nothing until MPI_Pcontrol(1) or fvmpi_resume()", FV_USE_APPLICATION, parse_flag,
      FIELD(off_at_start), 0, 0 },
    { "FVMPI_CLOCK", "--clock", 0, "auto|tsc|monotonic", "auto",
      "the clock; auto takes the processor's counter where the kernel trusts it", FV_USE_APPLICATION,
      parse_choice, FIELD(clock), 0, 0 },
    { "FVMPI_DISABLE", "--disable", 0, NULL, "0", "load the library, record nothing, write nothing",
      FV_USE_APPLICATION, parse_flag, FIELD(disable), 0, 0 },
    { "FVMPI_QUIET", "--quiet", 'q', NULL, "0", "print nothing but warnings and errors", FV_USE_APPLICATION,
      parse_flag, FIELD(quiet), 0, 0 },
    { "FVMPI_MPI", "--mpi", 0, "mpich|openmpi|abi|serial", "",
      "use this flavour of the library (default: the one that the program is linked with)", FV_USE_RUN,
      parse_choice, FV_NO_FIELD, 0, 0 },
    { NULL, "--pin", 0, "cores|sockets|numa|threads", "",
      "bind each rank, by the launcher's own option: of Open MPI, MPICH's Hydra, and Slurm (default: as the launcher does)", FV_USE_RUN,
      parse_choice, FV_NO_FIELD, 0, 0 },
    { NULL, "--aslr", 0, "on|off", "on",
      "off: load the program and its libraries at the same addresses each time; through mpiexec the ranks of this node have it, other nodes' only if "
      "each rank is started by `fvmpi run --aslr off`", FV_USE_RUN,
      parse_choice, FV_NO_FIELD, 0, 0 },
    { NULL, "--stacks", 0, NULL, "0",
      "run the program several times, with 1, 2, 4 ... threads (OMP_NUM_THREADS, and {N} in its arguments), and say what takes its speedup; --stacks=2,3: with 1, 2 and 3",
      FV_USE_RUN, parse_numbers, FV_NO_FIELD, 0, 0 },
    { NULL, "--solo", 0, NULL, "0",
      "with --stacks, which it turns on: run it, too, with one thread at a time while the others are parked, with all of the shared cache and its N-th part, to tell cache from memory; "
      "--solo=curve: with more parts", FV_USE_RUN, parse_solo, FV_NO_FIELD, 0, 0 },
    { NULL, "--throughput", 0, NULL, "0",
      "run 1, 2, 4 ... copies of the program at once ({N}: how many, {I}: which one), or, through a launcher, its ranks, together and one at a time, and say what sharing the node's "
      "caches and memory costs; --throughput=2,3: so many", FV_USE_RUN, parse_numbers, FV_NO_FIELD, 0, 0 },
    { NULL, "--repeats", 0, "N", "1", "with --stacks, --solo and --throughput: each run so many times, in turn; the shortest counts", FV_USE_RUN, parse_number, FV_NO_FIELD, 1, 100 },
    { NULL, "--dry-run", 0, NULL, "0", "print the environment and the command, do nothing", FV_USE_RUN,
      parse_flag, FV_NO_FIELD, 0, 0 },
    { NULL, "--print-config", 0, NULL, "0", "print each option, its value and where it comes from",
      FV_USE_RUN, parse_flag, FV_NO_FIELD, 0, 0 },
    { NULL, "--help", 'h', NULL, "0", "print this help", FV_USE_RUN, parse_flag, FV_NO_FIELD, 0, 0 },
    { "FVMPI_LIBDIR", NULL, 0, "DIR", "", "where the libfvmpi-*.so are (default: as installed)",
      FV_USE_VARIABLE, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_PROCESS", NULL, 0, "PID", "",
      "the only process that the serial flavour records; set by `fvmpi run`", FV_USE_VARIABLE, parse_any,
      FV_NO_FIELD, 0, 0 },
    { "FVMPI_WATCH", NULL, 0, "PID/COUNT", "",
      "the process that says at its end if nothing was recorded, and how many experiments there were before; set by `fvmpi run`", FV_USE_VARIABLE, parse_any,
      FV_NO_FIELD, 0, 0 },
    { "FVMPI_CALL_EVENT", NULL, 0, "EVENT", "",
      "a precise event of calls, encoded, that samples entries of functions; set by `fvmpi run` where the "
      "processor has one",
      FV_USE_VARIABLE, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_SIGTRAP", NULL, 0, "KERNEL", "",
      "the kernel on which samples may signal as SIGTRAP by themselves; set by `fvmpi run`, which tries it", FV_USE_VARIABLE, parse_any,
      FV_NO_FIELD, 0, 0 },
    { "FVMPI_FUNCTIONS_LEFT_OUT", NULL, 0, "LIST", "",
      "functions that are left out, encoded; set by `fvmpi run --functions-filter`", FV_USE_VARIABLE, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_LEFT_OUT", NULL, 0, "OPTIONS", "",
      "options that were asked for and do not go with a sanitizer that the program is built with; set by `fvmpi run`", FV_USE_VARIABLE, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_SOLO", NULL, 0, "FILE", "",
      "by which `fvmpi run --stacks --solo`, and `--throughput`, measure threads and ranks one at a time; set by it", FV_USE_VARIABLE, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_COPY", NULL, 0, "K/N/JOB", "",
      "which of how many copies of a program without MPI this is; set by `fvmpi run --throughput`", FV_USE_VARIABLE, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_SENSORS_ROOT", NULL, 0, "DIR", "", "below which /proc and /sys are, for sensors: a tree that was copied from another machine", FV_USE_VARIABLE, parse_any,
      FV_NO_FIELD, 0, 0 },
    { "FVMPI_WITHOUT", NULL, 0, "NAMES", "",
      "what the system has and is not to be used, NAME,NAME...: find_object, sigtrap, breakpoints, watchpoints, wipe, libdw; for tests and to look into troubles",
      FV_USE_VARIABLE, parse_any, FV_NO_FIELD, 0, 0 },
    { "FVMPI_DEBUG_PATH", NULL, 0, "DIRS", "",
      "directories with debug files, DIR:DIR..., for `fvmpi report`", FV_USE_VARIABLE, parse_any,
      FV_NO_FIELD, 0, 0 },
};
const size_t fv_option_count = sizeof(fv_option_table) / sizeof(*fv_option_table);

/* ---- finding rows ---- */

static bool is_word(const char *name, const char *word, size_t length)
{
    return name && strlen(name) == length && !memcmp(name, word, length);
}

const struct fv_option *fv_option_by_flag(const char *flag, size_t length)
{
    for (size_t i = 0; i < fv_option_count; i++)
        if (is_word(fv_option_table[i].flag, flag, length))
            return &fv_option_table[i];
    return NULL;
}

const struct fv_option *fv_option_by_letter(char letter)
{
    for (size_t i = 0; i < fv_option_count; i++)
        if (letter && fv_option_table[i].letter == letter)
            return &fv_option_table[i];
    return NULL;
}

const struct fv_option *fv_option_by_variable(const char *name, size_t length)
{
    for (size_t i = 0; i < fv_option_count; i++)
        if (is_word(fv_option_table[i].variable, name, length))
            return &fv_option_table[i];
    return NULL;
}

static const struct fv_option *nearest(bool variables, const char *word, size_t length)
{
    struct fv_near near = { word, length, NULL, 0 };

    for (size_t i = 0; i < fv_option_count; i++) {
        const char *name = variables ? fv_option_table[i].variable : fv_option_table[i].flag;
        if (name)
            fv_near_try(&near, name, &fv_option_table[i]);
    }
    return fv_near_item(&near, variables ? strlen("FVMPI_") : strlen("--"));
}

const struct fv_option *fv_option_near_flag(const char *word, size_t length)
{
    return nearest(false, word, length);
}

const struct fv_option *fv_option_near_variable(const char *word, size_t length)
{
    return nearest(true, word, length);
}

/* ---- the environment ---- */

static char first_complaint[400];

static FV_PRINTF(1, 2) void complain(const char *format, ...)
{
    char text[sizeof(first_complaint)];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fv_log("%s", text);
    if (!*first_complaint)
        strcpy(first_complaint, text);
}

const char *fv_options_complaint(void)
{
    return *first_complaint ? first_complaint : NULL;
}

/* Modules, packagers and scripts tell by such a name where fvmpi is. */
static bool is_place(const char *name, size_t length)
{
    static const char *const places[] = { "PREFIX", "ROOT", "HOME", "DIR", "BASE", "PATH", "BIN", "BINDIR", "BUILD", "LIB", "INC", "INCLUDE", "SOURCE", "SRC", "VERSION" };
    const size_t stem = strlen("FVMPI_");

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        if (is_word(places[i], name + stem, length - stem))
            return true;
    return false;
}

static void report_unknown(const char *name, size_t length)
{
    if (is_place(name, length))
        return;
    const struct fv_option *option = fv_option_by_variable(name, length);
    const struct fv_option *near = option ? NULL : fv_option_near_variable(name, length);
    int shown = length > 200 ? 200 : (int)length;

    if (near)
        complain("%.*s: no such variable; did you mean %s?", shown, name, near->variable);
    else if (!option)
        complain("%.*s: no such variable; `fvmpi run --help` lists them", shown, name);
}

static void report_unknown_all(void)
{
    for (char **entry = environ; entry && *entry; entry++)
        if (!strncmp(*entry, "FVMPI_", strlen("FVMPI_")))
            report_unknown(*entry, strcspn(*entry, "="));
}

bool fv_option_is_on(const char *variable)
{
    const struct fv_option *option = fv_option_by_variable(variable, strlen(variable));
    const char *text = fv_env(variable);
    bool on = true;

    return text && *text && option && !option->parse(option, text, NULL) && (parse_flag(option, text, &on) || on);
}

static void read_variable(const struct fv_option *option, struct fv_options *out, bool report)
{
    const char *text = fv_env(option->variable);
    void *field = out && option->offset != FV_NO_FIELD ? (char *)out + option->offset : NULL;

    if (!text || !*text) /* empty counts as unset: shells cannot unset for one command */
        return;
    const char *why = option->parse(option, text, field);
    if (why && report)
        complain("%s=%.200s: %s%s%s; taking %s", option->variable, text, why,
                 option->parse == parse_choice ? ": " : "",
                 option->parse == parse_choice ? option->argument : "",
                 *option->value ? option->value : "the default");
}

void fv_options_from_env(struct fv_options *out)
{
    static bool reported;
    bool report = !reported && fv_first_rank();

    reported = true;
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < fv_option_count; i++) {
        const struct fv_option *option = &fv_option_table[i];
        if (option->use != FV_USE_APPLICATION)
            continue;
        if (*option->value)
            option->parse(option, option->value, (char *)out + option->offset);
        read_variable(option, out, report);
    }
    if (fv_has_more_rights()) {
        out->disable = true;
        if (report && fv_first_on_node("rights", "/"))
            fv_log("this program has rights that its caller has not (setuid, setgid or capabilities): nothing is recorded. To record it, run a copy without them" FV_FOR_NODE);
        return;
    }
    if (report && out->events && out->sample <= FV_SAMPLE_CLOCK)
        complain("FVMPI_EVENTS: counted in sampled instances only; set FVMPI_SAMPLE=1 as well");
    if (report && fv_env("FVMPI_FUNCTIONS_FILTER") && !fv_env("FVMPI_FUNCTIONS_LEFT_OUT"))
        complain("FVMPI_FUNCTIONS_FILTER: the library alone leaves no functions out; say fvmpi run --functions-filter FILE");
    if (report)
        report_unknown_all();
}

const char *fv_option_in_effect(const struct fv_option *option)
{
    const char *text = option->variable ? fv_env(option->variable) : NULL;

    if (!text || !*text || !strcmp(text, option->value) || option->parse(option, text, NULL))
        return NULL;
    return text;
}

void fv_options_check_env(void)
{
    for (size_t i = 0; i < fv_option_count; i++)
        if (fv_option_table[i].variable)
            read_variable(&fv_option_table[i], NULL, true);
    report_unknown_all();
}
