/* SPDX-License-Identifier: BSD-3-Clause */
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

#define FIELD(name)     offsetof(struct fv_options, name)
#define DEPTH_MOST      1024 /* what the runtime can hold */
#define SAMPLE_RATE     100
#define SIZE_MOST       (UINT64_C(1) << 40)
#define ITERATIONS_KEEP (UINT64_C(16) << 20) /* of --trace-iterations, where --trace-keep is not given */
#define PATH_ROOM       4096

static char events_storage[FV_EVENTS_MOST * FV_PERF_EVENT_TEXT];
static char counters_storage[(FV_COUNTERS_MOST + 1) * FV_PERF_EVENT_TEXT];

/* ---- parsers ---- */

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
    snprintf(text, sizeof(text), "%s %llu%.*s)", what, (unsigned long long)limit, unit ? 1 : 0, &"?KMGT"[unit]);
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

/* A size, or 0: none. */
static const char *parse_keep(const struct fv_option *option, const char *text, void *field)
{
    if (strcmp(text, "0"))
        return parse_size(option, text, field);
    if (field)
        *(uint64_t *)field = 0;
    return NULL;
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

/* Seconds, or with a unit. */
static const char *parse_time(const struct fv_option *option, const char *text, void *field)
{
    static const struct {
        char unit;
        unsigned seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };
    char digits[16];
    size_t length = strspn(text, "0123456789");
    unsigned seconds = text[length] ? 0 : 1;

    for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (text[length] == units[i].unit && !text[length + 1])
            seconds = units[i].seconds;
    if (!length || length > 9 || !seconds)
        return "not a time, such as 60s, 10m or 1h";
    snprintf(digits, sizeof(digits), "%llu", strtoull(text, NULL, 10) * seconds);
    return parse_number(option, digits, field);
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
            return "not names separated by commas, as in INSTRUCTIONS,PAGE-FAULTS";
        if (++count > FV_EVENTS_MOST)
            return "more than 4 events; name fewer, and run again for the others";
        for (unsigned i = 0; i + 1 < count; i++)
            if (!strcasecmp(names[i], event.name))
                return "an event is named twice; name each once";
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
            return "not groups and names separated by commas, as in statistics,PAGE-FAULTS; --counters help lists them";
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
        return "not a pass, such as 2/3";
    return keep(text, storage, sizeof(storage), field);
}

/* Whether there are such sensors the machine says on which they are read. */
static const char *parse_sensors(const struct fv_option *option, const char *text, void *field)
{
    static char storage[PATH_ROOM];

    (void)option;
    return *text ? keep(text, storage, sizeof(storage), field) : "empty; `fvmpi stat --list` lists what there is";
}

/* A section's name, and behind a colon a number: from `least`, excluded, to `most`. */
static bool parse_section_number(const struct fv_option *option, const char *text, void *field)
{
    struct fv_section_number value;

    if (!fv_parse_section_number(text, &value))
        return false;
    if (value.number > 0 && (value.number <= (double)option->least || value.number > (double)option->most))
        return false;
    if (field)
        *(struct fv_section_number *)field = value;
    return true;
}

static const char *parse_slow(const struct fv_option *option, const char *text, void *field)
{
    return parse_section_number(option, text, field)
               ? NULL
               : "not a section's name, or a name and a factor above 1, such as step:3";
}

static const char *parse_iterations(const struct fv_option *option, const char *text, void *field)
{
    return parse_section_number(option, text, field) && !strchr(text, '.')
               ? NULL
               : "not a section's name, or a name and a number from 1 to 16, such as step:4";
}

/* On (1), off, or all: short ones, too. */
static const char *parse_functions(const struct fv_option *option, const char *text, void *field)
{
    bool all = !strcmp(text, "all"), on = all;

    if (!all && parse_flag(option, text, &on))
        return "not on, off or all";
    if (field)
        *(int *)field = all ? FV_FUNCTIONS_ALL : on ? FV_FUNCTIONS_ON : 0;
    return NULL;
}

/* On (1), off, exact: each allocation, or calls: in the trace, too. */
static const char *parse_memory(const struct fv_option *option, const char *text, void *field)
{
    bool exact = !strcmp(text, "exact"), calls = !strcmp(text, "calls"), on = exact || calls;

    if (!on && parse_flag(option, text, &on))
        return "not on, off, exact or calls";
    if (field)
        *(int *)field = calls   ? FV_MEMORY_CHOICE_CALLS
                        : exact ? FV_MEMORY_CHOICE_EXACT
                        : on    ? FV_MEMORY_CHOICE_ON
                                : FV_MEMORY_CHOICE_OFF;
    return NULL;
}

/* On, off, or numbers with commas between. */
static const char *parse_numbers(const struct fv_option *option, const char *text, void *field)
{
    bool on = true;

    if (parse_flag(option, text, &on) && (!*text || strspn(text, "0123456789,") != strlen(text)))
        return "not on, off, or numbers separated by commas";
    if (field)
        *(bool *)field = on;
    return NULL;
}

static const char *parse_solo(const struct fv_option *option, const char *text, void *field)
{
    bool is_curve = !strcmp(text, "curve"), on = is_curve;

    if (!is_curve && parse_flag(option, text, &on))
        return "not on, off or curve";
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

#define OR_WORD(name, word) "|" word
#define CHOICES(choices)    &choices(OR_WORD)[1] /* "off|before|after" */

/* A row is to be seen as one. */
/* clang-format off */
const struct fv_option fv_option_table[] = {
    { .variable = "FVMPI_OUTPUT", .flag = "--output", .letter = 'o', .argument = "DIR", .value = "",
      .help = "write the experiment to DIR (default: fvmpi-PROGRAM-RANKSp-TIME in the current directory)",
      .parse = parse_output, .offset = FIELD(output) },
    { .variable = "FVMPI_LOCAL", .flag = "--local", .argument = "DIR", .value = "",
      .help = "write rank files to DIR, a local directory of each node, while the job runs. `fvmpi run` or `fvmpi "
              "gather` moves them to the experiment afterwards",
      .parse = parse_local, .offset = FIELD(local) },
    { .variable = "FVMPI_CONTAINER", .flag = "--container", .value = "0",
      .help = "with --local: put the rank files of each node into one file of the experiment. For many ranks",
      .parse = parse_flag, .offset = FIELD(container) },
    { .variable = "FVMPI_SHARE", .flag = "--share", .value = "0",
      .help = "let others read the experiment, as the umask permits. Without it, only the owner can",
      .parse = parse_flag, .offset = FIELD(share) },
    { .variable = "FVMPI_DEPTH", .flag = "--depth", .argument = "N", .value = "0",
      .help = "keep the N innermost frames of each call path, up to 1024, and with --functions the N outermost calls; "
              "0 keeps all of them",
      .parse = parse_number, .offset = FIELD(depth), .most = DEPTH_MOST },
    { .variable = "FVMPI_PROFILE_MAX", .flag = "--profile-max", .argument = "SIZE", .value = "16M",
      .help = "largest size of the statistics per process. Further calls are counted without their call path",
      .parse = parse_size, .offset = FIELD(profile_max), .least = 65536, .most = SIZE_MOST },
    { .variable = "FVMPI_COLLECTIVES_MAX", .flag = "--collectives-max", .argument = "SIZE", .value = "2M",
      .help = "largest size of the log per thread from which waiting in collectives is computed. When it is full, "
              "every second call behind its first quarter is dropped",
      .parse = parse_size, .offset = FIELD(collectives_max), .least = 4096, .most = SIZE_MOST },
    { .variable = "FVMPI_TRACE", .flag = "--trace", .letter = 't', .value = "0",
      .help = "record each MPI call with its time. `fvunify` makes an OTF2 archive of it",
      .parse = parse_flag, .offset = FIELD(trace) },
    { .variable = "FVMPI_TRACE_MAX", .flag = "--trace-max", .argument = "SIZE", .value = "1G",
      .help = "largest size of the trace per process. At that size the trace ends and the profile continues",
      .parse = parse_size, .offset = FIELD(trace_max), .least = 65536, .most = SIZE_MOST },
    { .variable = "FVMPI_TRACE_KEEP", .flag = "--trace-keep", .argument = "SIZE", .value = "0",
      .help = "keep the newest SIZE (from 64K) of the trace per process, in place of its begin. Turns --trace on",
      .parse = parse_keep, .offset = FIELD(trace_keep), .least = 65536, .most = SIZE_MOST },
    { .variable = "FVMPI_KEEP_SLOW", .flag = "--keep-slow", .argument = "SECTION", .value = "",
      .help = "with --trace-keep: copy all that is kept when the section took 3 times its median; SECTION:K: K times. "
              "The 16 longest stay",
      .parse = parse_slow, .offset = FIELD(keep_slow), .least = 1, .most = SIZE_MOST },
    { .variable = "FVMPI_TRACE_ITERATIONS", .flag = "--trace-iterations", .argument = "SECTION", .value = "",
      .help = "trace instances 4, 16, 64, 256 of a section and the 16 longest of those that took 3 times its median; "
              "each copy has all that is kept. SECTION:N: N of the first kind",
      .parse = parse_iterations, .offset = FIELD(trace_iterations), .most = 16 },
    { .variable = "FVMPI_TRACE_ZSTD", .flag = "--trace-zstd", .argument = "LEVEL", .value = "0",
      .help = "compress the trace by libzstd while the program runs: 1 (fast) to 19; 0: not",
      .parse = parse_number, .offset = FIELD(trace_zstd), .most = 19 },
    { .variable = "FVMPI_BARRIER", .flag = "--barrier", .argument = CHOICES(FV_BARRIER_CHOICES), .value = "off",
      .help = "insert a barrier before (or after) each blocking collective, which separates imbalance from transfer. "
              "This changes the run",
      .parse = parse_choice, .offset = FIELD(barrier) },
    { .variable = "FVMPI_BARRIER_WAIT", .flag = "--barrier-wait", .argument = "SECONDS", .value = "10",
      .help = "with --barrier: how long MPI_Init waits for all ranks to agree",
      .parse = parse_number, .offset = FIELD(barrier_wait), .most = 3600 },
    { .variable = "FVMPI_SAMPLE", .flag = "--sample", .value = "clock",
      .help = "sample all threads 100 (or RATE) times per second of CPU time, and measure whole function calls. "
              "clock: only sample where CPU time goes, in threads that call MPI; it costs at most 0.5 %. off: no "
              "samples",
      .parse = parse_rate, .offset = FIELD(sample), .least = 2, .most = 5000 },
    { .variable = "FVMPI_SAMPLE_BUDGET", .flag = "--sample-budget", .argument = "PERCENT", .value = "5",
      .help = "largest part of a thread's CPU time that measured calls may take. Above it, samples only count where "
              "CPU time goes",
      .parse = parse_number, .offset = FIELD(sample_budget), .least = 1, .most = 100 },
    { .variable = "FVMPI_EVENTS", .flag = "--events", .argument = "LIST", .value = "",
      .help = "count up to 4 performance events inside the measured calls. LIST has libpfm4's names, separated by "
              "commas. Turns --sample on",
      .parse = parse_events, .offset = FIELD(events) },
    { .variable = "FVMPI_COUNTERS", .flag = "--counters", .argument = "LIST", .value = "",
      .help = "count events over each whole thread and in sections. LIST has groups, such as statistics, cache or "
              "stalls, and libpfm4's names, separated by commas. --counters help lists all groups, their events on "
              "this machine, and what is unavailable",
      .parse = parse_counters, .offset = FIELD(counters) },
    { .variable = "FVMPI_COUNTERS_SHARED", .flag = "--counters-shared", .value = "0",
      .help = "let more events than the processor has registers take turns. Counts are then scaled by time, and are "
              "estimates",
      .parse = parse_flag, .offset = FIELD(counters_shared) },
    { .variable = "FVMPI_COUNTERS_PASS", .flag = "--counters-pass", .argument = "I/N", .value = "",
      .help = "count part I of N of the --counters list. Instructions, cycles and software events are in every part. "
              "`fvmpi report DIR DIR...` combines the N runs",
      .parse = parse_pass, .offset = FIELD(counters_pass) },
    { .flag = "--passes", .value = "0",
      .help = "run the command as often as the processor's registers need for all of --counters, each time into its "
              "own directory: DIR-1, DIR-2 ... of -o DIR",
      .use = FV_USE_RUN, .parse = parse_flag, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_COUNTERS_MPI", .flag = "--counters-mpi", .value = "1",
      .help = "separate what is counted in MPI calls. --counters-mpi=0 makes calls cheaper",
      .parse = parse_flag, .offset = FIELD(counters_mpi) },
    { .variable = "FVMPI_THREADS", .flag = "--threads", .value = "0",
      .help = "record locks, barriers and other waiting of threads. --threads=hold,owner also records how long locks "
              "are held, and by which calls",
      .parse = parse_threads, .offset = FIELD(threads) },
    { .variable = "FVMPI_MPI_CALLS", .flag = "--mpi-calls", .argument = "0|1", .value = "1",
      .help = "0 leaves MPI calls out, to record only functions, threads, sections or samples. Time in MPI then "
              "counts as computing",
      .parse = parse_flag, .offset = FIELD(mpi_calls) },
    { .variable = "FVMPI_FUNCTIONS", .flag = "--functions", .value = "0",
      .help = "record calls of functions that the compiler instrumented (-finstrument-functions): count and time, by "
              "call path. After 100,000 calls, functions shorter than 1 us are only counted; --functions=all "
              "continues to measure them",
      .parse = parse_functions, .offset = FIELD(functions) },
    { .variable = "FVMPI_FUNCTIONS_FILTER", .flag = "--functions-filter", .argument = "FILE", .value = "",
      .help = "leave out functions by a filter file in Score-P's format. Turns --functions on",
      .use = FV_USE_RUN, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_IO", .flag = "--io", .value = "0",
      .help = "record file operations: calls, bytes and time, by file and call path",
      .parse = parse_flag, .offset = FIELD(io) },
    { .variable = "FVMPI_MEMORY", .flag = "--memory", .value = "0",
      .help = "record what the program allocates, by call path: each allocation of at least 4 KiB, smaller ones by "
              "samples. --memory=exact records all. --memory=calls also puts each call into the trace, and turns "
              "--trace on",
      .parse = parse_memory, .offset = FIELD(memory) },
    { .variable = "FVMPI_SENSORS", .flag = "--sensors", .argument = "LIST", .value = "",
      .help = "read sensors of the machine while the job runs, by one thread on each node. LIST has names as for "
              "`fvmpi stat`, separated by commas. `default` means the usual ones, `help` lists all",
      .parse = parse_sensors, .offset = FIELD(sensors) },
    { .variable = "FVMPI_SENSORS_HZ", .flag = "--sensors-hz", .argument = "N", .value = "10",
      .help = "sampling rate in Hz. Slow-changing or expensive sensors are read less often",
      .parse = parse_number, .offset = FIELD(sensors_hz), .least = 1, .most = 1000 },
    { .variable = "FVMPI_HANG_AFTER", .flag = "--hang-after", .argument = "TIME", .value = "0",
      .help = "once no rank has ended a call of MPI for so long (60s, 10m), record where all threads are, as "
              "`fvmpi where` shows it. One thread on each rank watches",
      .parse = parse_time, .offset = FIELD(hang_after), .most = 86400 },
    { .variable = "FVMPI_SECTION_LEVEL", .flag = "--section-level", .argument = "N", .value = "0",
      .help = "measure sections that the program marks (fvmpi.h) whose level is N or lower",
      .parse = parse_number, .offset = FIELD(section_level), .most = INT32_MAX },
    { .variable = "FVMPI_SECTION_INSTANCES", .flag = "--section-instances", .argument = "N", .value = "0",
      .help = "also record the first N instances of each section on each thread one by one: time, MPI time, calls and "
              "bytes",
      .parse = parse_number, .offset = FIELD(section_instances), .most = UINT32_MAX },
    { .variable = "FVMPI_SECTION_CPU", .flag = "--section-cpu", .value = "1",
      .help = "measure CPU time, page faults and context switches of sections. --section-cpu=0 makes begin and end "
              "cheaper",
      .parse = parse_flag, .offset = FIELD(section_cpu) },
    { .variable = "FVMPI_ANNOTATIONS", .flag = "--annotations", .argument = CHOICES(FV_ON_OFF_CHOICES), .value = "on",
      .help = "record regions that the program marks for Kokkos, NVTX, ITT, Caliper or LIKWID as sections, unless "
              "another tool is set for them",
      .parse = parse_choice, .offset = FIELD(annotations) },
    { .variable = "FVMPI_OFF_AT_START", .flag = "--off-at-start", .value = "0",
      .help = "record nothing until MPI_Pcontrol(1) or fvmpi_resume()",
      .parse = parse_flag, .offset = FIELD(off_at_start) },
    { .variable = "FVMPI_CLOCK", .flag = "--clock", .argument = CHOICES(FV_CLOCK_CHOICES), .value = "auto",
      .help = "the clock. auto takes the processor's counter if the kernel trusts it",
      .parse = parse_choice, .offset = FIELD(clock) },
    { .variable = "FVMPI_DISABLE", .flag = "--disable", .value = "0",
      .help = "load the library, but record and write nothing",
      .parse = parse_flag, .offset = FIELD(disable) },
    { .variable = "FVMPI_QUIET", .flag = "--quiet", .letter = 'q', .value = "0",
      .help = "print only warnings and errors",
      .parse = parse_flag, .offset = FIELD(quiet) },
    { .variable = "FVMPI_MPI", .flag = "--mpi", .argument = CHOICES(FV_FLAVOUR_CHOICES), .value = "",
      .help = "use this flavour of the library (default: the one that the program is linked with)",
      .use = FV_USE_RUN, .parse = parse_choice, .offset = FV_NO_FIELD },
    { .flag = "--pin", .argument = CHOICES(FV_PIN_CHOICES), .value = "",
      .help = "bind each rank by an option of the launcher: Open MPI, MPICH's Hydra, or Slurm (default: as the "
              "launcher does)",
      .use = FV_USE_RUN, .parse = parse_choice, .offset = FV_NO_FIELD },
    { .flag = "--aslr", .argument = CHOICES(FV_ON_OFF_CHOICES), .value = "on",
      .help = "off: load the program and its libraries at the same addresses in each run. mpiexec passes this to the "
              "ranks of its own node only. Elsewhere start each rank by `fvmpi run --aslr off`",
      .use = FV_USE_RUN, .parse = parse_choice, .offset = FV_NO_FIELD },
    { .flag = "--stacks", .value = "0",
      .help = "run the program with 1, 2, 4 ... threads (OMP_NUM_THREADS, and {N} in its arguments), and say what "
              "limits its speedup. --stacks=2,3: with 1, 2 and 3 threads",
      .use = FV_USE_RUN, .parse = parse_numbers, .offset = FV_NO_FIELD },
    { .flag = "--solo", .value = "0",
      .help = "also run one thread at a time while the others are parked, with all of the shared cache and with 1/N "
              "of it. This separates cache from memory. --solo=curve uses more parts. Turns --stacks on",
      .use = FV_USE_RUN, .parse = parse_solo, .offset = FV_NO_FIELD },
    { .flag = "--throughput", .value = "0",
      .help = "run 1, 2, 4 ... copies of the program at once ({N}: how many, {I}: which one), or its ranks under a "
              "launcher. Run them together and one at a time, and say what sharing caches and memory costs. "
              "--throughput=2,3: 2 and 3 copies",
      .use = FV_USE_RUN, .parse = parse_numbers, .offset = FV_NO_FIELD },
    { .flag = "--repeats", .argument = "N", .value = "1",
      .help = "with --stacks, --solo and --throughput: make each run N times, in turn; the shortest counts",
      .use = FV_USE_RUN, .parse = parse_number, .offset = FV_NO_FIELD, .least = 1, .most = 100 },
    { .flag = "--dry-run", .value = "0",
      .help = "print the environment and the command, and run nothing",
      .use = FV_USE_RUN, .parse = parse_flag, .offset = FV_NO_FIELD },
    { .flag = "--print-config", .value = "0",
      .help = "print each option, its value and where it comes from",
      .use = FV_USE_RUN, .parse = parse_flag, .offset = FV_NO_FIELD },
    { .flag = "--help", .letter = 'h', .value = "0",
      .help = "print this help",
      .use = FV_USE_RUN, .parse = parse_flag, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_LIBDIR", .argument = "DIR", .value = "",
      .help = "directory of the libfvmpi-*.so (default: as installed)",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_PROCESS", .argument = "PID", .value = "",
      .help = "the only process that the serial flavour records; set by `fvmpi run`",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_WATCH", .argument = "PID/COUNT", .value = "",
      .help = "the process that says at its end if nothing was recorded, and the number of earlier experiments; set "
              "by `fvmpi run`",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_CALL_EVENT", .argument = "EVENT", .value = "",
      .help = "a precise event of calls, encoded, which samples function entries; set by `fvmpi run` if the processor "
              "has one",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_SIGTRAP", .argument = "KERNEL", .value = "",
      .help = "the kernel on which samples may send SIGTRAP directly; set by `fvmpi run` after a test",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_FUNCTIONS_LEFT_OUT", .argument = "LIST", .value = "",
      .help = "functions that are left out, encoded; set by `fvmpi run --functions-filter`",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_LEFT_OUT", .argument = "OPTIONS", .value = "",
      .help = "options that were left out because the program is built with a sanitizer; set by `fvmpi run`",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_SOLO", .argument = "FILE", .value = "",
      .help = "the file that --solo and --throughput use to communicate with the library; set by `fvmpi run`",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_COPY", .argument = "K/N/JOB", .value = "",
      .help = "number of this copy of a program without MPI, and of all copies; set by `fvmpi run --throughput`",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_SENSORS_ROOT", .argument = "DIR", .value = "",
      .help = "directory that contains /proc and /sys for sensors: a copy from another machine",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_WITHOUT", .argument = "NAMES", .value = "",
      .help = "features of the system that are not used: find_object, sigtrap, clock_event, breakpoints, watchpoints, "
              "wipe, libdw, usr_lib_debug. For tests and troubleshooting",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
    { .variable = "FVMPI_DEBUG_PATH", .argument = "DIRS", .value = "",
      .help = "directories with debug files, DIR:DIR..., for `fvmpi report`",
      .use = FV_USE_VARIABLE, .parse = parse_any, .offset = FV_NO_FIELD },
};
/* clang-format on */
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
    static const char *const places[] = { "PREFIX", "ROOT", "HOME", "DIR",     "BASE",   "PATH", "BIN",    "BINDIR",
                                          "BUILD",  "LIB",  "INC",  "INCLUDE", "SOURCE", "SRC",  "VERSION" };
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
        complain("%s=%.200s: %s%s%s; taking %s", option->variable, text, why, option->parse == parse_choice ? ": " : "",
                 option->parse == parse_choice ? option->argument : "", *option->value ? option->value : "the default");
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
    if (out->trace_iterations.section[0] && !out->trace_keep)
        out->trace_keep = ITERATIONS_KEEP;
    out->trace = out->trace || out->trace_keep;
    if (fv_has_more_rights()) {
        out->disable = true;
        if (report && fv_first_on_node("rights", "/"))
            fv_log("this program has more rights than its caller (setuid, setgid or capabilities): nothing is "
                   "recorded; run a copy without them" FV_FOR_NODE);
        return;
    }
    if (report && out->events && out->sample <= FV_SAMPLE_CLOCK)
        complain("FVMPI_EVENTS: events are counted in measured calls only; set FVMPI_SAMPLE=1, too");
    if (report && out->memory == FV_MEMORY_CHOICE_CALLS && !out->trace)
        complain("FVMPI_MEMORY=calls: calls are in a trace only; set FVMPI_TRACE=1, too");
    if (report && out->keep_slow.section[0] && !out->trace_keep)
        complain("FVMPI_KEEP_SLOW: there is nothing to copy; set FVMPI_TRACE_KEEP=64M, too");
    if (report && out->keep_slow.section[0] && out->trace_iterations.section[0] &&
        strcmp(out->keep_slow.section, out->trace_iterations.section) != 0)
        complain("FVMPI_KEEP_SLOW: not this section, but that of FVMPI_TRACE_ITERATIONS is looked at");
    if (report && fv_env("FVMPI_FUNCTIONS_FILTER") && !fv_env("FVMPI_FUNCTIONS_LEFT_OUT"))
        complain("FVMPI_FUNCTIONS_FILTER: only fvmpi run reads filter files; use fvmpi run --functions-filter FILE");
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
