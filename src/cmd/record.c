/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi record: what the machine counts meanwhile, into a file; controlled by a FIFO while it runs. One thread: it
 * waits for the next sample, for commands, for signals and for the end of the command, all by one ppoll(), outside of
 * which signals are blocked. */
#include "base/base.h"
#include "base/now.h"
#include "base/shell.h"
#include "base/options.h"
#include "base/process.h"
#include "cmd/arguments.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/recording.h"
#include "cmd/watching.h"
#include "sensors/control.h"
#include "tool/words.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi record [EVENT...] [options] [-- COMMAND...]\n"
    "Records what the kernel and the hardware of this machine count to a file: until it is interrupted, or while "
    "COMMAND\n"
    "runs. EVENT is as for `fvmpi stat`, which also prints the file: fvmpi stat --from FILE. No file is overwritten.\n"
    "\n"
    "  -o, --output FILE     JSON, one object per line (default: fvmpi-record-HOST-TIME.jsonl).\n"
    "                        If fvmpi is killed, at most one second is lost\n"
    "  -i, --interval S      seconds from sample to sample (1; at least 0.001)\n"
    "  -n, --count N         end after N samples\n"
    "      --per-source      record each source separately\n"
    "      --budget PERCENT  of a processor, for reading (1); expensive sensors are read in every second, fourth ... "
    "sample\n"
    "      --rotate SIZE     continue in FILE.0002, FILE.0003 ... when a file has this size, such as 64M\n"
    "      --keep N          keep only the last N of these files (default: all)\n"
    "      --control PATH    make a FIFO (in a directory: PATH/" FV_CONTROL_NAME ") that takes one command per line:\n"
    "                        label TEXT, pause, resume, interval S, rotate, record FILE (end this recording, and "
    "begin\n"
    "                        another one). `fvmpi label TEXT PATH` writes labels.\n"
    "                        COMMAND gets its name in FVMPI_CONTROL\n"
    "  -q, --quiet           do not say at the end what was recorded\n"
    "  -h, --help            print this help\n"
    "\n"
    "FVMPI_SENSORS_ROOT: directory that contains /proc and /sys.\n"
    "Exit status: that of COMMAND; else 0 ended or interrupted, 1 failed, 2 wrong usage.\n";

enum { WRONG_MOST = 8, LAST_LOADS = 64, NS_A_S = 1000000000 };

struct record {
    struct fv_operands operands;
    char **command; /* NULL: none */
    const char *output, *control_path;
    double interval_s, budget; /* a share */
    size_t count;              /* 0: without end */
    bool per_source, is_quiet;

    struct fv_watch watch;
    struct fv_recording file;
    struct fv_control control;
    struct fv_recording_end end; /* reason NULL: it goes on */
    double cpu_before_s;         /* as this recording began */
    size_t wrong;                /* commands */
    bool is_paused;
    int64_t interval_ns, next_ns, last_ns; /* when the next sample is due, and the last one was */
    pid_t child;                           /* 0: none, or it has ended */
    int status;
    sigset_t mask; /* while it waits */
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi record", what, why);
}

/* ---- samples ---- */

/* False: no sensor was due. */
static bool read_sensors(struct record *r, int64_t at_ns)
{
    bool any = fv_watch_sample(&r->watch, 1e-9 * (double)(at_ns - r->file.start_ns));

    if (any)
        r->last_ns = at_ns;
    return any;
}

/* Rates need a time before: this one tells nothing. */
static void begin(struct record *r)
{
    int64_t now = fv_now_ns();

    fv_watch_restart(&r->watch);
    read_sensors(r, now);
    r->next_ns = now + r->interval_ns;
}

static void sample(struct record *r, int64_t due_ns)
{
    int64_t now = fv_now_ns(), late = now - due_ns;

    if (!read_sensors(r, now))
        return;
    fv_recording_sample(&r->file, now, late, fv_now_ns() - now);
    r->end.samples++;
    r->end.late += late > r->interval_ns / 2;
}

static bool has_all(const struct record *r)
{
    return r->count && r->end.samples >= r->count;
}

/* What is missed is not made up for. */
static void sample_due(struct record *r)
{
    int64_t now;

    sample(r, r->next_ns);
    r->next_ns += r->interval_ns;
    if ((now = fv_now_ns()) > r->next_ns) {
        int64_t missed = (now - r->next_ns) / r->interval_ns + 1;

        r->next_ns += missed * r->interval_ns;
        r->end.missed += (size_t)missed;
    }
    if (has_all(r))
        r->end.reason = "count";
}

/* The time since the last sample, unless it is so short that a rate would say nothing. */
static void sample_rest(struct record *r)
{
    int64_t now = fv_now_ns();

    if (!r->is_paused && !r->file.has_failed && !has_all(r) &&
        (now - r->last_ns >= r->interval_ns / 2 || !r->end.samples))
        sample(r, now);
}

static void pace(struct record *r)
{
    r->interval_ns = (int64_t)(r->interval_s * NS_A_S + 0.5);
    fv_watch_pace(&r->watch, r->interval_s, r->budget);
}

/* ---- the end of a recording ---- */

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Not ru_maxrss, which is at least that of who started us. */
static uint64_t peak_bytes(void)
{
    static const char key[] = "VmHWM:";
    char text[4096];
    const char *found = fv_file_read("/proc/self/status", text, sizeof(text)) > 0 ? strstr(text, key) : NULL;

    return found ? strtoull(found + strlen(key), NULL, 10) * 1024 : 0;
}

static void say_end(const struct record *r, double seconds)
{
    struct fv_recording_names there;

    if (r->is_quiet || r->file.has_failed)
        return;
    fv_recording_names(&r->file, &there);
    fv_log("record: %zu sample%s%s in %s%s%s, %zu late, %.2g %% of a processor; %s prints %s", r->end.samples,
           fv_words_s(r->end.samples), there.are_some_gone ? ", of which the last are" : "", there.first,
           *there.last ? " to " : "", there.last, r->end.late, 100 * r->end.cpu_s / fmax(seconds, 1e-3),
           FV_COMMAND("fvmpi", "stat", "--from", there.first), there.are_some_gone ? "what is left" : "them");
}

static void end_recording(struct record *r)
{
    int64_t now;

    sample_rest(r);
    now = fv_now_ns();
    r->end.cpu_s = cpu_s() - r->cpu_before_s;
    r->end.memory_bytes = peak_bytes();
    if (!r->file.has_failed)
        fv_recording_end(&r->file, now, &r->end);
    say_end(r, 1e-9 * (double)(now - r->file.start_ns));
}

/* With what both have in common. Where it cannot begin, the present one goes on. */
static void begin_another(struct record *r, const char *path)
{
    struct fv_recording next = { .watch = &r->watch,
                                 .command = r->command,
                                 .interval_s = r->interval_s,
                                 .rotate_bytes = r->file.rotate_bytes,
                                 .keep = r->file.keep,
                                 .fd = -1 };

    if (fv_recording_open(&next, path))
        return;
    r->end.reason = "record";
    end_recording(r);
    fv_recording_close(&r->file);
    r->file = next;
    r->end = (struct fv_recording_end){ .reason = NULL };
    r->cpu_before_s = cpu_s();
    r->is_paused = false;
    begin(r);
}

/* ---- control ---- */

static void say_wrong(struct record *r, const char *what, const char *why)
{
    char text[64];

    if (r->wrong++ < WRONG_MOST)
        fv_log("record: control: %s: %s%s", fv_words_clean(what, text, sizeof(text)), why,
               r->wrong == WRONG_MOST ? "; further ones are not reported" : "");
}

static void obey(struct record *r, const struct fv_control_command *command)
{
    int64_t now = fv_now_ns();

    if (command->is_cut && command->verb == FV_CONTROL_LABEL)
        say_wrong(r, command->text, "the label is cut; a line has at most 4096 bytes");
    switch (command->verb) {
    case FV_CONTROL_WRONG: say_wrong(r, command->text, command->why); break;
    case FV_CONTROL_LABEL: fv_recording_label(&r->file, now, command->text); break;
    case FV_CONTROL_ROTATE: fv_recording_rotate(&r->file); break;
    case FV_CONTROL_RECORD: begin_another(r, command->text); break;
    case FV_CONTROL_INTERVAL:
        r->interval_s = command->interval_s;
        pace(r);
        fv_recording_interval(&r->file, now, r->interval_s);
        r->next_ns = now + r->interval_ns;
        break;
    case FV_CONTROL_PAUSE:
    case FV_CONTROL_RESUME:
        if (r->is_paused == (command->verb == FV_CONTROL_PAUSE))
            break;
        r->is_paused = !r->is_paused;
        fv_recording_pause(&r->file, now, r->is_paused);
        if (!r->is_paused)
            begin(r);
        break;
    }
}

/* False: there are none. */
static bool take_commands(struct record *r)
{
    struct fv_control_command command;
    bool any = fv_control_load(&r->control);

    while (!r->file.has_failed && fv_control_next(&r->control, &command))
        obey(r, &command);
    return any;
}

/* What was written before the end is in the recording: a pipe's room, and no more, as others may go on writing. */
static void take_last_commands(struct record *r)
{
    for (int i = 0; i < LAST_LOADS && take_commands(r); i++)
        continue;
}

/* ---- waiting ---- */

static volatile sig_atomic_t is_over;

static void end(int signal_number)
{
    (void)signal_number;
    is_over = 1;
}

static void wake(int signal_number)
{
    (void)signal_number;
}

/* A handler is undone by exec, so that the command has what it would have: SIGXFSZ is told by write(). */
static void handle(int signal_number, void (*handler)(int))
{
    sigaction(signal_number, &(struct sigaction){ .sa_handler = handler }, NULL);
}

/* With a command, the signals that end us are handed on to it (child.h). From here on they come while we wait. Who
 * ignores SIGHUP (nohup) means it; SIGINT is ignored in the background of a script. */
static void take_signals(struct record *r)
{
    static const int signals[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP };
    struct sigaction hangup;
    sigset_t ours;

    sigaction(SIGHUP, NULL, &hangup);
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        sigaddset(&ours, signals[i]);
        if (!r->command && signals[i] != SIGCHLD && !(signals[i] == SIGHUP && hangup.sa_handler == SIG_IGN))
            handle(signals[i], end);
    }
    sigprocmask(SIG_BLOCK, &ours, &r->mask);
}

/* Until then at most; signals come here even where it is late already. True: there are commands. */
static bool wait_until(struct record *r, int64_t until_ns)
{
    struct pollfd poll = { r->control.fd, POLLIN, 0 };
    int64_t now = fv_now_ns(), ns = until_ns > now ? until_ns - now : 0;
    const struct timespec most = { ns / NS_A_S, ns % NS_A_S };

    return ppoll(&poll, 1, &most, &r->mask) > 0 && poll.revents;
}

static bool has_ended(struct record *r)
{
    if (r->child && fv_spawn_ended(r->child, false, &r->status, NULL)) {
        r->child = 0;
        r->end.reason = "command";
    } else if (is_over) {
        r->end.reason = "signal";
    } else if (r->file.has_failed) {
        r->end.reason = "failed";
    }
    return r->end.reason;
}

static void go_on(struct record *r)
{
    while (!has_ended(r)) {
        int64_t next = r->is_paused ? INT64_MAX : r->next_ns;

        fv_recording_flush(&r->file, next);
        if (wait_until(r, next))
            take_commands(r);
        if (!r->is_paused && fv_now_ns() >= r->next_ns)
            sample_due(r);
    }
}

/* ---- begin and end ---- */

static void finish(struct record *r)
{
    const char *reason = r->end.reason;

    take_last_commands(r); /* which may begin another recording */
    r->end.reason = reason;
    fv_control_close(&r->control); /* nobody reads it any more */
    end_recording(r);
}

/* The exit status. The first sample is before the command begins. */
static int record(struct record *r)
{
    r->cpu_before_s = cpu_s();
    begin(r);
    if (r->command && (r->child = fv_spawn_begin(r->command, NULL)) < 0) {
        r->child = 0;
        r->status = FV_EXIT_CANNOT_RUN;
        r->end.reason = "command";
    }
    take_signals(r);
    go_on(r);
    finish(r);
    sigprocmask(SIG_SETMASK, &r->mask, NULL);
    if (r->child)
        fv_spawn_ended(r->child, true, &r->status, NULL);
    return r->command ? r->status : r->file.has_failed ? FV_EXIT_FAILED : FV_EXIT_OK;
}

static int open_control(struct record *r)
{
    char whole[PATH_MAX];

    if (fv_control_open(&r->control, r->control_path)) {
        fv_log("record: %s: %s%s", r->control.path, strerror(errno),
               errno == EEXIST ? "; it is not overwritten: name another one, or remove it" : "");
        return FV_EXIT_FAILED;
    }
    if (realpath(r->control.path, whole))
        setenv("FVMPI_CONTROL", whole, 1);
    return FV_GO_ON;
}

static int record_with_files(struct record *r)
{
    int status = r->control_path ? open_control(r) : FV_GO_ON;

    handle(SIGXFSZ, wake);
    handle(SIGCHLD, wake);
    if (status == FV_GO_ON) {
        r->file = (struct fv_recording){ .watch = &r->watch,
                                         .command = r->command,
                                         .interval_s = r->interval_s,
                                         .rotate_bytes = r->file.rotate_bytes,
                                         .keep = r->file.keep,
                                         .fd = -1 };
        status = fv_recording_open(&r->file, r->output) ? FV_EXIT_FAILED : record(r);
        fv_recording_close(&r->file);
    }
    fv_control_close(&r->control);
    return status;
}

/* ---- the command ---- */

enum { OPT_PER_SOURCE = 256, OPT_BUDGET, OPT_ROTATE, OPT_KEEP, OPT_CONTROL };

static int take_budget(struct record *r, const char *text)
{
    char *behind;

    r->budget = strtod(text, &behind) / 100;
    return behind == text || *behind || !(r->budget >= 1e-6 && r->budget <= 1)
               ? wrong(text, "--budget takes a percentage of a processor, up to 100")
               : FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct record *r = options;

    switch (option) {
    case 'o': r->output = optarg; return FV_GO_ON;
    case 'i': return fv_watching_interval(optarg, &r->interval_s) ? FV_GO_ON : wrong(optarg, FV_WATCHING_INTERVAL);
    case 'n': return fv_output_number(optarg, 1, &r->count) ? FV_GO_ON : wrong(optarg, "--count takes a number from 1");
    case OPT_PER_SOURCE: r->per_source = true; return FV_GO_ON;
    case OPT_BUDGET: return take_budget(r, optarg);
    case OPT_ROTATE:
        return fv_parse_size(optarg, &r->file.rotate_bytes) || r->file.rotate_bytes < 4096
                   ? wrong(optarg, "--rotate takes a size from 4k, such as 64M")
                   : FV_GO_ON;
    case OPT_KEEP:
        return fv_output_number(optarg, 1, &r->file.keep) ? FV_GO_ON : wrong(optarg, "--keep takes a number from 1");
    case OPT_CONTROL: r->control_path = optarg; return FV_GO_ON;
    case 'q': r->is_quiet = true; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    default: return FV_UNKNOWN_OPTION;
    }
}

/* What stands behind the first `--` is the command. The rest is ours. */
static int split_command(int argc, char **argv, char ***command)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--")) {
            *command = argv + i + 1;
            return i;
        }
    return argc;
}

int fv_cmd_record(int argc, char **argv)
{
    static const struct option table[] = {
        { "output", required_argument, NULL, 'o' },
        { "interval", required_argument, NULL, 'i' },
        { "count", required_argument, NULL, 'n' },
        { "per-source", no_argument, NULL, OPT_PER_SOURCE },
        { "budget", required_argument, NULL, OPT_BUDGET },
        { "rotate", required_argument, NULL, OPT_ROTATE },
        { "keep", required_argument, NULL, OPT_KEEP },
        { "control", required_argument, NULL, OPT_CONTROL },
        { "quiet", no_argument, NULL, 'q' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "o:i:n:qh", table, take_option, wrong, NULL, false };
    struct record r = { .interval_s = 1, .budget = 0.01, .control.fd = -1 };
    int status;

    argc = split_command(argc, argv, &r.command);
    if ((status = fv_arguments_take(&arguments, argc, argv, &r, &r.operands)) != FV_GO_ON)
        return status;
    if (r.command && !*r.command)
        return wrong("--", "the command is missing");
    if (r.file.keep && !r.file.rotate_bytes)
        return wrong("--keep", "it needs --rotate");
    r.operands = (struct fv_operands){ argv + optind, (size_t)(argc - optind) };
    status = fv_watching_choose(&r.watch, &r.operands, r.per_source, "fvmpi record");
    pace(&r);
    if (status == FV_GO_ON)
        status = record_with_files(&r);
    fv_watch_close(&r.watch);
    return status;
}
