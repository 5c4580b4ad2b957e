/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi run: finds out which flavour a command needs, sets the environment, starts the command. Inside a
 * launcher it becomes the command (same process, so launchers and debuggers see what they expect);
 * outside it waits, to say afterwards where the experiment is. The launcher itself gets the library
 * preloaded as well, where it lies idle: rewriting a launcher's command line would need to understand
 * every launcher's options. */
#include "base/experiment.h"
#include "base/now.h"
#include "base/program.h"
#include "base/shell.h"
#include "base/sigtrap.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/config.h"
#include "cmd/counters.h"
#include "cmd/events.h"
#include "cmd/filter.h"
#include "cmd/flavour.h"
#include "cmd/install.h"
#include "cmd/placement.h"
#include "cmd/run_passes.h"
#include "cmd/run_stacks.h"
#include "cmd/run_throughput.h"
#include "cmd/sigtrap.h"
#include "cmd/stage.h"
#include "cmd/new_experiments.h"
#include "cmd/stat_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

struct assignment {
    const char *name;
    char *value;
};

struct run {
    struct fv_config config;
    char **argv;                      /* the command */
    char **longer;                    /* the command with words added, if it needed some */
    const char *launcher;             /* its launcher's file; NULL: none */
    char program[PATH_MAX];           /* file of argv[0] */
    struct fv_flavour_result finding; /* what it needs */
    char *events, *counters;          /* --events and --counters, encoded */
    struct assignment *assignments;
    size_t count;
    bool has_rights; /* the program: it will not be recorded */
};

/* ---- what is started ---- */

static int find_command(struct run *run)
{
    if (fv_find_program(run->argv[0], run->program, sizeof(run->program))) {
        if (fv_is_launcher(run->argv[0]))
            run->launcher = run->program;
        return 0;
    }
    int error = errno;
    if (fv_is_launcher(run->argv[0]) && error == ENOENT)
        fv_log("%s: not found; install an MPI (Debian: openmpi-bin or mpich), or name the launcher's path",
               run->argv[0]);
    else
        fv_log("%s: %s; check the program's name%s", run->argv[0], error == ENOENT ? "not found" : "cannot be executed",
               strchr(run->argv[0], '/') || error != ENOENT ? "" : ", or give its path, such as ./app");
    return error == ENOENT ? FV_EXIT_NOT_FOUND : FV_EXIT_CANNOT_RUN;
}

/* A word of any length, for a shell. */
static void print_quoted(FILE *out, const char *text, bool first)
{
    const size_t bytes = 4 * strlen(text) + 32;
    size_t used = first ? 0 : 1;
    char *quoted = calloc(bytes, 1);

    if (quoted && fv_shell_add(quoted, bytes, &used, text))
        fputs(first ? quoted : quoted + 2, out); /* behind a space, and what would be the word before */
    free(quoted);
}

static void print_words(FILE *out, char *const *words)
{
    for (char *const *word = words; *word; word++) {
        print_quoted(out, *word, word == words);
        fputs(word[1] ? " " : "\n", out);
    }
}

/* What was seen, and what to type instead. */
static int say_cannot_tell(const struct run *run)
{
    fv_log("run: cannot tell which MPI this is: %s; say --mpi mpich, openmpi, abi or serial, as in:", run->finding.why);
    fprintf(stderr, "    fvmpi run --mpi %s -- ", getenv("PMI_RANK") ? "mpich" : "openmpi");
    print_words(stderr, run->argv);
    return FV_EXIT_USAGE;
}

/* --mpi. That a program is linked with another MPI is said here; the library then leaves it alone. */
static void overrule(struct fv_flavour_result *finding, enum fv_flavour forced)
{
    finding->is_overruled = finding->is_linked && finding->flavour != forced;
    if (finding->is_overruled && fv_first_rank())
        fv_log("run: --mpi %s, but %s; leave --mpi out, or say --mpi %s", fv_flavour_name(forced), finding->why,
               fv_flavour_name(finding->flavour));
    snprintf(finding->why, sizeof(finding->why), "--mpi %s", fv_flavour_name(forced));
    finding->flavour = forced;
}

/* Its interpreter has its caller's rights, whatever the script's file says. */
static bool is_script(const char *path)
{
    char begin[2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is = fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) && !memcmp(begin, "#!", sizeof(begin));

    if (fd >= 0)
        close(fd);
    return is;
}

/* As the kernel decides it for AT_SECURE; mounted nosuid, and under no_new_privs, there are no such rights. */
static bool gives_rights(const char *path)
{
    struct statvfs mounted;
    struct stat st;
    char capabilities[64];

    if (stat(path, &st) || statvfs(path, &mounted) || mounted.f_flag & ST_NOSUID ||
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    return (st.st_mode & S_ISUID && st.st_uid != getuid()) ||
           ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid()) ||
           (getuid() && getxattr(path, "security.capability", capabilities, sizeof(capabilities)) > 0);
}

static void say_rights(struct run *run)
{
    const char *path = *run->finding.program_path ? run->finding.program_path : run->program;

    run->has_rights = gives_rights(path) && !is_script(path);
    if (run->has_rights && fv_first_rank())
        fv_log("%s: has more rights than you (setuid, setgid or capabilities) and is not recorded; run a copy without "
               "them",
               path);
}

static int choose_flavour(struct run *run)
{
    const char *forced = fv_config_get(&run->config, "--mpi");
    const char *name = run->launcher ? run->finding.program_path : run->argv[0];

    fv_flavour_find(run->argv, run->launcher, &run->finding);
    if (run->finding.is_static && (!run->launcher || !*forced)) {
        fv_log("%s: statically linked, so nothing can be preloaded; link it with -lfvmpi-mpich or -lfvmpi-openmpi "
               "before its MPI (share/doc/running.md), and run it without fvmpi run",
               *run->finding.program_path ? run->finding.program_path : name);
        return FV_EXIT_FAILED;
    }
    if (run->finding.is_foreign && (!run->launcher || !*forced)) {
        fv_log("%s: not an ELF program that fvmpi can read (32-bit, for another machine, or damaged); use a 64-bit "
               "program of this machine",
               name);
        return FV_EXIT_FAILED;
    }
    say_rights(run);
    if (*forced)
        overrule(&run->finding, fv_flavour_by_name(forced));
    return run->finding.flavour ? 0 : say_cannot_tell(run);
}

/* Programs of one MPI under the launcher of another start as so many programs of one rank each; those of the
 * standard ABI are of whatever MPI is there. */
static void check_launcher(const struct run *run)
{
    const char *why = "";
    enum fv_flavour of_launcher = run->launcher ? fv_launcher_flavour(run->launcher) : fv_environment_flavour(&why);

    if (of_launcher && of_launcher != run->finding.flavour && run->finding.flavour != FV_FLAVOUR_SERIAL &&
        run->finding.flavour != FV_FLAVOUR_ABI && !run->finding.is_overruled && fv_first_rank())
        fv_log("%s, but the launcher is %s's: the ranks may not find each other; use mpiexec.%s", run->finding.why,
               fv_flavour_name(of_launcher), fv_flavour_name(run->finding.flavour));
}

/* ---- the environment ---- */

static int assign(struct run *run, const char *name, char *value)
{
    struct assignment *more = value ? realloc(run->assignments, (run->count + 1) * sizeof(*more)) : NULL;

    if (!more) {
        free(value);
        return -FV_ENOMEM;
    }
    run->assignments = more;
    run->assignments[run->count++] = (struct assignment){ name, value };
    return 0;
}

/* Is a mode on, by its option? */
static bool is_on(const struct run *run, const char *flag)
{
    const struct fv_option *option = fv_option_by_flag(flag, strlen(flag));
    int mode = 0;

    return !option->parse(option, fv_config_get(&run->config, flag), &mode) && mode;
}

/* The library of the flavour, and those of src/front that were asked for, with colons between. Has said what is not
 * there. */
static int list_libraries(const struct run *run, char *out, size_t size)
{
    static const char *const fronts[] = { "--io", "--memory" };
    size_t used;

    if (fv_install_library(run->finding.flavour, is_on(run, "--threads"), out, size))
        return fv_install_say_missing(&run->finding, out, NULL);
    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
        if (!is_on(run, fronts[i]))
            continue;
        used = strlen(out);
        out[used++] = ':';
        if (fv_install_front(fronts[i] + 2, out + used, size - used))
            return fv_install_say_missing(&run->finding, out + used, fronts[i]);
    }
    return 0;
}

/* Ours first: a function that both define is ours, and it calls the next. */
static int assign_preload(struct run *run, const char *library)
{
    const char *before = getenv("LD_PRELOAD"), *sanitizer = fv_install_sanitizer();
    bool is_first = !before || !*before;
    char *value = NULL;

    if (!is_first && strstr(before, library)) /* fvmpi run under fvmpi run */
        value = strdup(before);
    else if (asprintf(&value, "%s%s%s%s%s", sanitizer ? sanitizer : "", sanitizer ? ":" : "", library,
                      is_first ? "" : ":", is_first ? "" : before) < 0)
        value = NULL;
    return assign(run, "LD_PRELOAD", value);
}

/* AddressSanitizer ends a program in which it is not the first library. It may as well come after us: its
 * functions are who ours call. Preloading it would put launchers and shells under it, too. */
static int assign_asan(struct run *run)
{
    static const char name[] = "ASAN_OPTIONS", order[] = "verify_asan_link_order=0";
    const char *before = getenv(name);
    char *value = NULL;

    if (!run->finding.has_asan)
        return 0;
    if (asprintf(&value, "%s%s%s", before ? before : "", before && *before ? ":" : "", order) < 0)
        value = NULL;
    return assign(run, name, value);
}

static int assign_options(struct run *run)
{
    int err = 0;

    for (size_t i = 0; !err && i < fv_option_count; i++) {
        const struct fv_option *option = &fv_option_table[i];
        bool is_output = option->letter == 'o';
        if (option->use == FV_USE_APPLICATION && *run->config.values[i] &&
            (run->config.origins[i] != FV_FROM_DEFAULT || is_output))
            err = assign(run, option->variable, strdup(run->config.values[i]));
    }
    return err;
}

/* Instances, not the clock alone? */
static bool is_sampling(const struct run *run)
{
    static const char flag[] = "--sample";
    const struct fv_option *option = fv_option_by_flag(flag, strlen(flag));
    uint64_t rate = 0;

    option->parse(option, fv_config_get(&run->config, flag), &rate);
    return rate > FV_SAMPLE_CLOCK;
}

/* What the runtime cannot find out: names of events that libpfm4 knows, and the event of calls. */
static int encode_events(struct run *run)
{
    const char *list = fv_config_get(&run->config, "--events");
    int err = *list ? fv_events_encode(list, &run->events) : 0;

    if (run->events) {
        fv_config_put(&run->config, "--events", run->events);
        if (!is_sampling(run)) /* events are those of sampled instances */
            fv_config_put(&run->config, "--sample", "1");
    }
    return err;
}

static int encode_counters(struct run *run)
{
    const char *list = fv_config_get(&run->config, "--counters");
    int err = *list ? fv_counters_encode(list, fv_config_is(&run->config, "--counters-shared"),
                                         fv_config_get(&run->config, "--counters-pass"), &run->counters)
                    : 0;

    if (run->counters)
        fv_config_put(&run->config, "--counters", run->counters);
    return err;
}

static int assign_calls(struct run *run)
{
    static const char name[] = "FVMPI_CALL_EVENT";
    const char *given = getenv(name);
    char *value = NULL;

    if (!is_sampling(run))
        return 0;
    value = given && *given ? strdup(given) : fv_events_calls();
    return value ? assign(run, name, value) : 0;
}

/* Tried here, because the library cannot: base/sigtrap.h. */
static int assign_sigtrap(struct run *run)
{
    char kernel[17];

    if (!is_sampling(run) || !fv_sigtrap_try())
        return 0;
    fv_sigtrap_kernel(kernel);
    return assign(run, FV_SIGTRAP_VARIABLE, strdup(kernel));
}

/* Which functions a filter leaves out, which the library cannot find out. Has said what is wrong with the filter. */
static int find_left_out(struct run *run)
{
    const char *filter = fv_config_get(&run->config, "--functions-filter");
    char *list;
    int err =
        *filter ? fv_filter_encode(filter, *run->finding.program_path ? run->finding.program_path : run->program, &list)
                : 0;

    if (!*filter || err)
        return err;
    if (!is_on(run, "--functions"))
        fv_config_put(&run->config, "--functions", "1");
    err = assign(run, "FVMPI_FUNCTIONS_LEFT_OUT", list);
    return err ? err : assign(run, "FVMPI_FUNCTIONS_FILTER", strdup(filter)); /* what was asked for is recorded */
}

static bool is_alone(const struct run *run)
{
    return run->finding.flavour == FV_FLAVOUR_SERIAL && !run->launcher;
}

/* The contract's name can be given here only if the command line tells both of its parts; else the runtime finds it. A
 * program without MPI is called what it is called here: its shell, its /usr/bin/env, each of which becomes the next by
 * exec(), would each have another name. */
static int name_experiment(struct run *run)
{
    const char *program = run->finding.program_path;
    char name[512];
    struct timespec now;
    int ranks = run->launcher ? fv_launcher_ranks(run->argv) : 0;

    if (is_alone(run) && !fv_under_launcher()) {
        program = run->program;
        ranks = 1;
    }
    if (run->config.output || !ranks || !program[0])
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    if (fv_experiment_name_at(name, sizeof(name), program, ranks, now.tv_sec))
        return 0;
    size_t end = strlen(name);
    for (int number = 2; !access(name, F_OK) && number < 1000; number++)
        snprintf(name + end, sizeof(name) - end, "-%d", number);
    return fv_config_set_output(&run->config, name);
}

static char *join(const struct run *run, const char *first)
{
    char *list = strdup(first ? first : "");

    for (size_t i = 0; list && i < run->count; i++) {
        char *longer = NULL;
        if (asprintf(&longer, "%s%s%s=%s", list, *list ? ";" : "", run->assignments[i].name,
                     run->assignments[i].value) < 0)
            longer = NULL;
        free(list);
        list = longer;
    }
    return list;
}

/* Options of the launcher, behind its name. */
static int add_words(struct run *run, const char *const *added, size_t count)
{
    size_t words = 0;

    while (run->argv[words])
        words++;
    char **longer = calloc(words + count + 1, sizeof(*longer));
    if (!longer)
        return -FV_ENOMEM;
    longer[0] = run->argv[0];
    memcpy(longer + 1, added, count * sizeof(*added));
    memcpy(longer + 1 + count, run->argv + 1, (words - 1) * sizeof(*run->argv));
    free(run->longer);
    run->argv = run->longer = longer;
    return 0;
}

/* mpiexec -x A -x B ...: Open MPI takes its variables from -x or from the list below, never from both. */
static int add_x_options(struct run *run)
{
    const char **words = calloc(2 * run->count + 1, sizeof(*words));

    if (!words)
        return -FV_ENOMEM;
    for (size_t i = 0; i < run->count; i++) {
        words[2 * i] = "-x";
        words[2 * i + 1] = run->assignments[i].name;
    }
    int err = add_words(run, words, 2 * run->count);
    free(words);
    return err;
}

/* --pin. False: has said why not. */
static bool pin(struct run *run)
{
    const char *what = fv_config_get(&run->config, "--pin"), *words[FV_PIN_WORDS];
    int count;

    return !*what ||
           ((count = fv_pin_words(run->launcher, run->argv, what, words)) && !add_words(run, words, (size_t)count));
}

static bool is_aslr_off(const struct run *run)
{
    return !strcmp(fv_config_get(&run->config, "--aslr"), "off");
}

static bool is_openmpi_launcher(const struct run *run)
{
    enum fv_flavour flavour = run->finding.flavour;

    return run->launcher && (flavour == FV_FLAVOUR_OPENMPI ||
                             (flavour == FV_FLAVOUR_ABI && fv_launcher_flavour(run->launcher) == FV_FLAVOUR_OPENMPI));
}

/* Ranks on other hosts: Hydra and Slurm take the environment along, Open MPI must be told. */
static int export_to_hosts(struct run *run)
{
    static const char list[] = "OMPI_MCA_mca_base_env_list";
    const char *before = getenv(list);

    if (!is_openmpi_launcher(run))
        return 0;
    for (int i = 1; run->argv[i]; i++)
        if (!strcmp(run->argv[i], "-x"))
            return add_x_options(run);
    for (size_t i = 0; i < run->count; i++)
        if (strchr(run->assignments[i].value, ';')) /* the list cannot hold it; this host does without */
            return 0;
    return assign(run, list, join(run, before && *before ? before : NULL));
}

/* Sanitizers have an allocator of their own, and ThreadSanitizer the functions of threads: who stands in front of these
 * before they are ready ends the program. */
static int leave_out(struct run *run)
{
    const char *sanitizer = fv_install_sanitizer() ? NULL /* ours, too */ : run->finding.sanitizer,
               *flags[] = { "--memory", "--threads" };
    char list[80] = "";

    for (size_t i = 0; i < (sanitizer ? run->finding.is_tsan ? 2 : 1 : 0); i++) {
        if (!is_on(run, flags[i]))
            continue;
        fv_config_put(&run->config, flags[i], "off");
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "", flags[i]);
    }
    if (!*list)
        return 0;
    fv_log("%s: left out, because the program is built with %s, which replaces the same functions; build it without "
           "-fsanitize to record them",
           list, sanitizer);
    snprintf(list + strlen(list), sizeof(list) - strlen(list), " (%s)", sanitizer);
    return assign(run, "FVMPI_LEFT_OUT", strdup(list));
}

static int prepare(struct run *run)
{
    char library[4 * (PATH_MAX + 64)];

    if (leave_out(run))
        return -FV_ENOMEM;
    if (!strcmp(fv_config_get(&run->config, "--memory"), "calls"))
        fv_config_put(&run->config, "--trace", "1");
    if (list_libraries(run, library, sizeof(library)))
        return -FV_ENOENT;
    int err = fv_config_resolve(&run->config);
    if (!err)
        err = name_experiment(run);
    if (!err)
        err = assign_preload(run, library);
    if (!err)
        err = assign_asan(run);
    if (!err)
        err = assign_options(run);
    if (!err)
        err = assign_calls(run);
    if (!err)
        err = assign_sigtrap(run);
    if (!err)
        err = export_to_hosts(run);
    if (err)
        fv_log("run: %s", fv_strerror(err));
    return err;
}

/* ---- starting ---- */

static void print_command(const struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        printf("%s=", run->assignments[i].name);
        print_quoted(stdout, run->assignments[i].value, false);
        putchar(' ');
    }
    if (is_aslr_off(run))
        fputs("setarch -R ", stdout);
    print_words(stdout, run->argv);
}

/* The serial flavour records this process and not the helpers it starts. */
static void name_process(void)
{
    char pid[24];

    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    setenv("FVMPI_PROCESS", pid, 1);
}

/* The library says at this process's end if nothing was recorded, for all ranks. */
static void watch_process(void)
{
    char text[48];

    if (!fv_first_rank())
        return;
    snprintf(text, sizeof(text), "%ld/%u", (long)getpid(), fv_experiment_count(getenv("FVMPI_OUTPUT")));
    setenv("FVMPI_WATCH", text, 1);
}

/* ---- node-local directories ---- */

static bool is_local(const struct run *run)
{
    return *fv_config_get(&run->config, "--local") && !fv_config_is(&run->config, "--disable");
}

static struct fv_stage_counts gather(const struct run *run, int64_t since_ns)
{
    const struct fv_stage_wish wish = { .since_ns = since_ns,
                                        .for_node = true,
                                        .container = fv_config_is(&run->config, "--container") };
    struct fv_stage_counts staged = { 0 };

    fv_stage_all(fv_config_get(&run->config, "--local"), &wish, &staged);
    return staged;
}

/* When the launcher has ended; of ranks that it had to kill, some may not be gone yet. */
static void gather_all(const struct run *run, int64_t since_ns)
{
    enum { TRIES = 20 };

    for (int i = 0; gather(run, since_ns).running && i < TRIES; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* The process between a rank and its launcher. */
static int be_rank(const struct run *run, void (*before)(void))
{
    int64_t begin_ns = fv_now_ns();
    int signal_number, status = fv_spawn_rank(run->argv, before, &signal_number);

    gather(run, begin_ns);
    if (signal_number)
        fv_end_by(signal_number);
    return status;
}

/* What the library leaves alone: src/annotations. Which of Kokkos' two a program asks depends on its version: from 3.7
 * on the first. */
static void say_other_tools(const struct run *run)
{
    static const char *const variables[] = { "KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY", "NVTX_INJECTION64_PATH",
                                             "INTEL_LIBITTNOTIFY64" };

    if (fv_config_is(&run->config, "--quiet") || !strcmp(fv_config_get(&run->config, "--annotations"), "off") ||
        !fv_first_rank())
        return;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);

        if (value && *value && strncmp(fv_base_name(value), "libfvmpi", 8) != 0)
            fv_log("%s selects another tool (%s); it, not fvmpi, will receive the annotated regions", variables[i],
                   value);
    }
}

/* Why nothing may have been recorded, as far as the files of the command tell, and how it ended. */
static const char *why_nothing(const struct run *run, int status, int signal_number, char *out, size_t size)
{
    char path[PATH_MAX], ended[300] = "";

    for (char **word = run->argv; *word; word++) {
        if (!fv_find_program(*word, path, sizeof(path)) || fv_is_launcher(*word) || run->finding.is_linked ||
            !fv_program_has_mpi(path))
            continue;
        snprintf(out, size, "%s " FV_SAYS_HAS_MPI, path);
        return out;
    }
    if (signal_number)
        snprintf(ended, sizeof(ended), " that returned before %.200s was ended by signal %d (%s)",
                 fv_base_name(run->argv[0]), signal_number, strsignal(signal_number));
    else if (status)
        snprintf(ended, sizeof(ended), " that returned before %.200s ended with exit status %d",
                 fv_base_name(run->argv[0]), status);
    snprintf(out, size,
             "fvmpi saw no call of MPI_Init%s. %sIf a script drops LD_PRELOAD, start the program by fvmpi run there. "
             "For a program without MPI, use fvmpi run --mpi serial, without a launcher",
             ended, status || signal_number ? "If an error is printed above, correct that first. " : "");
    return out;
}

/* Who switches it off in a script forgets it there. */
static void say_disabled(const struct run *run)
{
    const struct fv_option *option = fv_option_by_flag("--disable", strlen("--disable"));

    if (fv_config_is(&run->config, "--disable") &&
        run->config.origins[option - fv_option_table] == FV_FROM_ENVIRONMENT && fv_first_rank())
        fv_log("FVMPI_DISABLE is set: nothing is recorded; unset it");
}

static int start(struct run *run)
{
    bool is_serial = is_alone(run);
    struct fv_new_experiments written = { .names = NULL };
    char why[PATH_MAX + 512];

    for (size_t i = 0; i < run->count; i++)
        setenv(run->assignments[i].name, run->assignments[i].value, 1);
    unsetenv("FVMPI_PROCESS");
    unsetenv("FVMPI_WATCH");
    say_other_tools(run);
    say_disabled(run);
    if (is_serial && !fv_config_is(&run->config, "--quiet") && !*fv_config_get(&run->config, "--mpi"))
        fv_log("%s: no MPI and no launcher found: recorded as a single process. If it starts an MPI program, name the "
               "MPI: --mpi mpich, openmpi or abi",
               run->argv[0]);
    if (fv_under_launcher() && !run->launcher) {
        if (is_local(run))
            return be_rank(run, is_serial ? name_process : watch_process);
        if (is_serial)
            name_process();
        else
            watch_process();
        return fv_exec(run->argv);
    }
    fv_new_experiments_init(&written, run->config.output);
    int64_t begin_ns = fv_now_ns();
    int signal_number = 0, status = fv_spawn(run->argv, is_serial ? name_process : NULL, &signal_number);
    if (is_local(run))
        gather_all(run, begin_ns);
    if (!fv_config_is(&run->config, "--disable") && !run->has_rights)
        fv_new_experiments_report(&written, why_nothing(run, status, signal_number, why, sizeof(why)),
                                  fv_config_is(&run->config, "--quiet"));
    fv_new_experiments_release(&written);
    return status;
}

static int run_command(struct run *run)
{
    int status = find_command(run);

    if (!status)
        status = choose_flavour(run);
    if (status)
        return status;
    check_launcher(run);
    if (encode_events(run) || encode_counters(run) || find_left_out(run) || !pin(run) ||
        (is_aslr_off(run) && !fv_aslr_off(run->launcher)))
        return FV_EXIT_USAGE;
    if (prepare(run))
        return FV_EXIT_FAILED;
    if (!fv_config_is(&run->config, "--dry-run"))
        return start(run);
    fv_options_check_env();
    print_command(run);
    return FV_EXIT_OK;
}

/* ---- the command ---- */

static void print_help(void)
{
    puts("usage: mpiexec -n 4 fvmpi run [options] [--] ./app args    each rank under fvmpi\n"
         "       fvmpi run [options] -- mpiexec -n 4 ./app args    fvmpi starts the launcher; works with any\n"
         "\n"
         "Starts an MPI program and records where its time goes. The program is not changed.\nWhich MPI it uses is "
         "read from its file.\n");
    fv_config_help();
    puts("\nExit status: the command's; 1 failed, 2 wrong usage, 126 not executable, 127 not found.");
}

/* Within a copy of a program (fvmpi run --throughput): what that runs is none. */
static void leave_copy(void)
{
    if (getenv("FVMPI_PROCESS"))
        unsetenv("FVMPI_COPY");
}

int fv_cmd_run(int argc, char **argv)
{
    struct run run = { .argv = NULL };
    int status = FV_EXIT_OK, rest = 0;

    leave_copy();
    if (fv_config_init(&run.config)) {
        status = FV_EXIT_FAILED;
    } else if (fv_config_parse(&run.config, argc, argv, &rest)) {
        status = FV_EXIT_USAGE;
    } else if (fv_config_is(&run.config, "--help")) {
        print_help();
    } else if (fv_config_is(&run.config, "--print-config")) {
        fv_options_check_env();
        fv_config_print(&run.config);
    } else if (!strcmp(fv_config_get(&run.config, "--counters"), "help")) {
        fv_counters_help();
    } else if (!strcmp(fv_config_get(&run.config, "--sensors"), "help")) {
        fv_stat_list();
    } else if (rest >= argc) {
        fv_log("run: no program given; as in: mpiexec -n 4 fvmpi run ./app");
        status = FV_EXIT_USAGE;
    } else if (fv_config_is(&run.config, "--container") && !*fv_config_get(&run.config, "--local")) {
        fv_log(
            "run: --container: it needs --local DIR, as in --local /tmp: files are put together when ranks have ended");
        status = FV_EXIT_USAGE;
    } else if (fv_config_is(&run.config, "--throughput") && !fv_run_throughput_may(&run.config)) {
        status = FV_EXIT_USAGE;
    } else if (fv_config_is(&run.config, "--throughput") && !fv_config_is(&run.config, "--dry-run") &&
               !fv_config_is(&run.config, "--disable")) {
        status = fv_run_throughput(&run.config, argc, argv, rest);
    } else if (fv_config_is(&run.config, "--stacks") || fv_config_is(&run.config, "--solo")) {
        status = fv_run_stacks(&run.config, argc, argv, rest);
    } else if (fv_config_is(&run.config, "--passes")) {
        status = fv_run_passes(&run.config, argc, argv, rest);
    } else {
        run.argv = argv + rest;
        status = run_command(&run);
    }
    for (size_t i = 0; i < run.count; i++)
        free(run.assignments[i].value);
    free(run.assignments);
    free(run.longer);
    free(run.events);
    free(run.counters);
    fv_config_release(&run.config);
    return status;
}
