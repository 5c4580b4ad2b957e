/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi doctor: what makes measurements vary on this machine, and what to do about it. */
#include "base/near.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/doctor_diff.h"
#include "cmd/doctor_page.h"
#include "cmd/doctor_text.h"
#include "cmd/events.h"
#include "cmd/launcher.h"
#include "cmd/output.h"
#include "doctor/apply.h"
#include "doctor/doctor_relations.h"
#include "doctor/measure/measure.h"
#include "doctor/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi doctor [CHECK...] [options]\n"
    "       mpiexec -n N fvmpi doctor [CHECK...] [options]\n"
    "       fvmpi doctor --measure[=only] [--seconds S] [--cpus LIST] [--html FILE] [options]\n"
    "       fvmpi doctor --diff BEFORE.json AFTER.json\n"
    "Says which settings of this machine make measurements vary, what each costs, and how to fix it: clocks, other "
    "tasks,\n"
    "interrupts, ticks, memory, limits. Nothing is changed without --apply.\n"
    "Under a launcher one process per node reports, and also checks the processor masks of the ranks beside it.\n"
    "CHECK: show only these checks, in full.\n"
    "\n"
    "  -p, --pid PID,...  check masks and memory of running processes (ranks of a job), in place of the machine\n"
    "      --apply        fix bad checks that are fixed by writing a file below /proc or /sys; also notes that CHECK "
    "names\n"
    "      --restore      write back what --apply saved\n"
    "      --dry-run      with --apply or --restore: say what would be written, and write nothing\n"
    "      --measure      measure noise and memory, too: fixed work, fixed time, gaps and their causes on each "
    "processor;\n"
    "                     latency and bandwidth. --measure=only leaves out the checks.\n"
    "                     SIGINT ends it, and what was measured is shown\n"
    "      --seconds S    measure for about S seconds (20)\n"
    "      --cpus LIST    measure these processors, such as 0-3,8 (default: all that it may use)\n"
    "      --events NAME,...\n"
    "                     count up to 4 events in each sample of fixed work, such as CYCLES,CACHE-MISSES\n"
    "      --html FILE    write what was measured as a page with plots, in place of the text; - is stdout\n"
    "      --json FILE    write everything as JSON, schema fvmpi-doctor-1; - is stdout.\n"
    "                     %h in the name stands for this host: mpiexec -n NODES fvmpi doctor --json doctor-%h.json\n"
    "      --diff         compare two files of --json: checks with another result, measured values that differ\n"
    "      --schema       print the JSON Schema of what --json writes\n"
    "      --top N        the N worst processes, and rows of what was measured (10)\n"
    "      --all          every check, process and row\n" FV_OUTPUT_USAGE "\n"
    "FVMPI_SENSORS_ROOT: directory that contains /proc, /sys and /boot.\n"
    "Exit status: 0 nothing is bad, 1 something is bad, could not be written, or was interrupted, 2 wrong usage.\n";

struct options {
    bool apply, restore, dry, measure, no_checks, diff;
    const char *json, *html;
    char own_json[FV_OUTPUT_PATH], own_html[FV_OUTPUT_PATH]; /* with the name of this host */
    double seconds;                                          /* 0: not asked for */
    const char *cpu_list;
    struct fv_cpus cpus;
    struct fv_measure_wish wish; /* its events */
    struct fv_text_options view;
    const struct fv_doctor_check **only;
    size_t only_count, only_room;
    int32_t *pids;
    size_t pid_count, pid_room;
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi doctor", what, why);
}

enum {
    OPT_APPLY = 256,
    OPT_RESTORE,
    OPT_DRY,
    OPT_JSON,
    OPT_SCHEMA,
    OPT_MEASURE,
    OPT_SECONDS,
    OPT_CPUS,
    OPT_EVENTS,
    OPT_HTML,
    OPT_DIFF
};

static int print_schema(void)
{
    if (!fv_json_schema(FV_DOCTOR_SCHEMA, "What fvmpi doctor --json FILE writes", fv_doctor_relations, stdout))
        return FV_EXIT_OK;
    fv_log("stdout: %s; the schema is cut", strerror(errno));
    return FV_EXIT_FAILED;
}

static int take_pids(struct options *o, const char *text)
{
    for (const char *at = text;; at++) {
        char *end;
        long pid = strtol(at, &end, 10);

        if (end == at || pid < 1 || pid > INT32_MAX || (*end && *end != ','))
            return wrong(text, "--pid takes process numbers, separated by commas");
        FV_GROW(o->pids, o->pid_room, o->pid_count + 1);
        o->pids[o->pid_count++] = (int32_t)pid;
        at = end;
        if (!*at)
            return FV_GO_ON;
    }
}

static int take_seconds(struct options *o, const char *text)
{
    char *end;

    o->seconds = strtod(text, &end);
    if (*end || end == text || !(o->seconds >= FV_MEASURE_SECONDS_LEAST && o->seconds <= FV_MEASURE_SECONDS_MOST))
        return wrong(text, "--seconds takes a number from 1 to 86400");
    return FV_GO_ON;
}

static int take_cpus(struct options *o, const char *text)
{
    o->cpu_list = text;
    if (!fv_cpus_from_list(text, &o->cpus) || !fv_cpus_count(&o->cpus))
        return wrong(text, "--cpus takes a list of processors, such as 0-3,8");
    return FV_GO_ON;
}

/* Names of the kernel's, or of libpfm4's. */
static int take_events(struct options *o, const char *text)
{
    const char *list = text, *word;
    size_t length;

    if (!*text)
        return wrong("--events", "it takes names, such as CYCLES,CACHE-MISSES");
    o->wish.event_count = 0;
    while (fv_perf_event_word(&list, &word, &length)) {
        struct fv_perf_event event;
        int err = fv_perf_event_parse(word, length, &event);
        const char *why = err == -FV_EINVAL ? "not a name" : err ? fv_event_encode(&event, false) : NULL;

        if (why)
            return fv_event_say_unknown("doctor: --events", &event, why) ? FV_EXIT_USAGE : FV_GO_ON;
        if (o->wish.event_count == FV_MEASURE_EVENTS)
            return wrong(text, "--events takes at most 4 events; measure the others in another run");
        o->wish.events[o->wish.event_count++].what = event;
    }
    return FV_GO_ON;
}

static int take_measure(struct options *o, const char *text)
{
    o->measure = true;
    o->no_checks = text;
    return !text || !strcmp(text, "only") ? FV_GO_ON : wrong(text, "--measure takes nothing, or =only");
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case 'p': return take_pids(o, optarg);
    case OPT_APPLY: o->apply = true; return FV_GO_ON;
    case OPT_RESTORE: o->restore = true; return FV_GO_ON;
    case OPT_DRY: o->dry = true; return FV_GO_ON;
    case OPT_DIFF: o->diff = true; return FV_GO_ON;
    case OPT_JSON: o->json = fv_output_of_host(optarg, o->own_json); return FV_GO_ON;
    case OPT_SCHEMA: return print_schema();
    case OPT_MEASURE: return take_measure(o, optarg);
    case OPT_SECONDS: return take_seconds(o, optarg);
    case OPT_CPUS: return take_cpus(o, optarg);
    case OPT_EVENTS: return take_events(o, optarg);
    case OPT_HTML: o->html = fv_output_of_host(optarg, o->own_html); return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return fv_output_option(option, &o->view, wrong);
}

static int take_check(struct options *o, const char *name)
{
    const struct fv_doctor_check *check = fv_doctor_check_of(name);
    struct fv_near near = { name, strlen(name), NULL, 0 };

    if (!check) {
        for (const struct fv_doctor_check *c = fv_doctor_checks; c->name; c++)
            fv_near_try(&near, c->name, c->name);
        const char *meant = fv_near_item(&near, 0);
        fv_log("doctor: %s: no such check%s%s; fvmpi doctor --all shows them", name, meant ? ", did you mean " : "",
               meant ? meant : "");
        return FV_EXIT_USAGE;
    }
    FV_GROW(o->only, o->only_room, o->only_count + 1);
    o->only[o->only_count++] = check;
    return FV_GO_ON;
}

/* Options that say nothing together. */
static int check_options(const struct options *o)
{
    if (o->apply && o->restore)
        return wrong("--apply and --restore", "one or the other");
    if (o->dry && !o->apply && !o->restore)
        return wrong("--dry-run", "it goes with --apply or --restore");
    if (o->restore && (o->only_count || o->pid_count))
        return wrong("--restore", "it writes back all that was saved, and takes no checks or processes");
    if (o->json && (o->apply || o->restore))
        return wrong("--json", "it goes with neither --apply nor --restore");
    if (o->measure && (o->apply || o->restore || o->pid_count))
        return wrong("--measure", "it goes with none of --apply, --restore and --pid");
    if (o->no_checks && o->only_count)
        return wrong("--measure=only", "it takes no checks");
    const char *of_measure = o->seconds > 0        ? "--seconds"
                             : o->cpu_list         ? "--cpus"
                             : o->wish.event_count ? "--events"
                             : o->html             ? "--html"
                                                   : NULL;
    if (!o->measure && of_measure)
        return wrong(of_measure, "it goes with --measure");
    const struct fv_output_file files[] = { { "--json", o->json }, { "--html", o->html } };
    return fv_output_check(files, 2, NULL, wrong);
}

/* --diff: of two files, and nothing else is done. The exit status. */
static int compare(const struct options *o, int count, char **files)
{
    if (o->apply || o->restore || o->measure || o->json || o->html || o->pid_count)
        return wrong("--diff", "it compares two files, and goes with no option that looks at the machine");
    if (count != 2)
        return wrong("--diff", "it takes two files of --json");
    int err = fv_doctor_diff((const char *const[]){ files[0], files[1] }, &o->view, stdout);
    if (err == -FV_EIO)
        fv_log("stdout: %s; the comparison is cut", strerror(errno));
    return err ? FV_EXIT_FAILED : FV_EXIT_OK;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "pid", required_argument, NULL, 'p' },
        { "apply", no_argument, NULL, OPT_APPLY },
        { "restore", no_argument, NULL, OPT_RESTORE },
        { "dry-run", no_argument, NULL, OPT_DRY },
        { "diff", no_argument, NULL, OPT_DIFF },
        { "json", required_argument, NULL, OPT_JSON },
        { "schema", no_argument, NULL, OPT_SCHEMA },
        { "measure", optional_argument, NULL, OPT_MEASURE },
        { "seconds", required_argument, NULL, OPT_SECONDS },
        { "cpus", required_argument, NULL, OPT_CPUS },
        { "events", required_argument, NULL, OPT_EVENTS },
        { "html", required_argument, NULL, OPT_HTML },
        FV_OUTPUT_OPTIONS,
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "p:h", table, take_option, wrong, NULL, false };
    int status = fv_arguments_take(&arguments, argc, argv, o, NULL);

    if (status == FV_GO_ON && o->diff)
        return compare(o, argc - optind, argv + optind);
    for (int i = optind; status == FV_GO_ON && i < argc; i++)
        status = take_check(o, argv[i]);
    return status == FV_GO_ON ? check_options(o) : status;
}

/* ---- looking ---- */

/* Of processes that are named, or of the ranks of this node. FV_GO_ON, or the exit status. */
static int find_processes(struct fv_doctor *d, struct options *o)
{
    bool has_checks = o->only_count;

    for (size_t i = 0; i < o->pid_count; i++)
        if (!fv_doctor_add_process(d, o->pids[i])) {
            fv_log("doctor: --pid %d: there is no such process, or it is hidden", o->pids[i]);
            return FV_EXIT_FAILED;
        }
    if (!o->pid_count && fv_under_launcher() && !fv_doctor_gather_ranks(d))
        return FV_EXIT_OK;
    for (const struct fv_doctor_check *c = fv_doctor_checks; o->pid_count && !has_checks && c->name; c++)
        if (c->of_processes)
            take_check(o, c->name);
    for (size_t i = 0; i < o->only_count; i++)
        if (o->only[i]->of_processes && !d->process_count)
            return wrong(o->only[i]->name, "of which processes? --pid names them, or start it under the launcher");
    return FV_GO_ON;
}

/* ---- measuring ---- */

static void stop(int signal)
{
    (void)signal;
    fv_measure_stop = 1;
}

/* FV_GO_ON, or the exit status. */
static int measure(struct fv_doctor *d, const struct options *o, struct fv_measurement *measured)
{
    /* a second one does what it always does */
    const struct sigaction once = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };
    struct sigaction before[2];
    double seconds = o->seconds > 0 ? o->seconds : FV_MEASURE_SECONDS;

    if (isatty(STDERR_FILENO))
        fv_log("doctor: measuring for about %.0f s; Ctrl-C ends it and shows what was measured", seconds);
    sigaction(SIGINT, &once, &before[0]);
    sigaction(SIGTERM, &once, &before[1]);
    struct fv_measure_wish wish = o->wish;
    wish.seconds = seconds;
    wish.only = o->cpu_list ? &o->cpus : NULL;
    int err = fv_measure(d, &wish, measured);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    return err ? wrong(o->cpu_list ? o->cpu_list : "--measure", "this process may use none of these processors")
               : FV_GO_ON;
}

/* ---- showing ---- */

static int show(struct fv_doctor *d, const struct options *o)
{
    int err = FV_OUTPUT_WRITE(o->html, "--html", fv_doctor_page, d);

    if (o->json) {
        int json_err = FV_OUTPUT_WRITE(o->json, "--json", fv_doctor_json, d);

        err = err ? err : json_err;
    } else if (!fv_same_text(o->html, "-") &&
               fv_doctor_print(d, o->only_count || o->view.top == SIZE_MAX, &o->view, stdout)) {
        fv_log("stdout: %s; what was found is cut", strerror(errno));
        err = -FV_EIO;
    }
    return err ? fv_exit_status(err) : fv_exit_answer(!fv_doctor_count(d, FV_DOCTOR_BAD) && !fv_measure_stop);
}

static int measure_and_show(struct fv_doctor *d, const struct options *o)
{
    struct fv_measurement measured;
    int status = measure(d, o, &measured);

    if (status != FV_GO_ON)
        return status;
    status = show(d, o);
    fv_measurement_release(&measured);
    return status;
}

static int run(struct fv_doctor *d, struct options *o)
{
    int status = o->restore ? FV_GO_ON : find_processes(d, o);

    if (status != FV_GO_ON)
        return status;
    if (o->restore)
        return fv_doctor_restore(d, o->dry, stdout) ? FV_EXIT_OK : FV_EXIT_FAILED;
    if (!o->no_checks)
        fv_doctor_look(d, o->only, o->only_count);
    if (o->measure)
        return measure_and_show(d, o);
    if (o->apply)
        return fv_doctor_apply(d, o->only_count, o->dry, stdout) ? FV_EXIT_OK : FV_EXIT_FAILED;
    return show(d, o);
}

int fv_cmd_doctor(int argc, char **argv)
{
    struct options options = { .view = fv_output_defaults(stdout) };
    struct fv_doctor doctor;
    int status = parse(argc, argv, &options);

    if (status == FV_GO_ON) {
        setvbuf(stdout, NULL, _IOFBF, 1 << 20); /* what nodes of a job say does not mix */
        fv_doctor_init(&doctor);
        status = run(&doctor, &options);
        fv_doctor_release(&doctor);
    }
    free(options.only);
    free(options.pids);
    return status;
}
