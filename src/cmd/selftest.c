/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi selftest: does this installation work here? It compiles a program whose problem is known with the compiler of
 * each MPI, profiles it by the commands that a user types, and looks whether the report names the problem. */
#include "cmd/selftest.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/flavour.h"
#include "cmd/install.h"
#include "cmd/launcher.h"
#include "tool/vec.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi selftest [options]\n"
    "Tests this installation. For MPICH, for Open MPI and without MPI it compiles a small program, profiles it on\n"
    "two ranks, and merges its trace. The report must name the slow rank and its function. Each step is a line:\n"
    "ok, not ok, or skipped and why. It takes seconds, needs no network, and leaves no files.\n"
    "\n"
    "  --mpi LIST        test these: mpich, openmpi, serial; what is missing for them is not ok (all that are here)\n"
    "  --limit SECONDS   stop after so long (60)\n"
    "  --keep            keep the directory with program, experiments and output, and name it\n"
    "  -h, --help        this text\n"
    "\n"
    "The compiler is mpicc.mpich, mpicc.openmpi or mpicc in PATH; the launcher mpiexec or mpirun, with the same\n"
    "endings. Exit status: 0 every step that could be tried is right, 1 a step is not, or nothing could be tried,\n"
    "2 wrong usage.\n";

#ifdef FV_BUILT_MPICH
#define HAS_MPICH true
#else
#define HAS_MPICH false
#endif
#ifdef FV_BUILT_OPENMPI
#define HAS_OPENMPI true
#else
#define HAS_OPENMPI false
#endif

struct subject {
    enum fv_flavour flavour;
    const char *title, *package; /* package: Debian's, with the compiler; NULL: any C compiler */
    bool is_built;               /* this fvmpi was built with a library for it */
};
static const struct subject subjects[] = {
    { FV_FLAVOUR_MPICH, "MPICH", "libmpich-dev", HAS_MPICH },
    { FV_FLAVOUR_OPENMPI, "Open MPI", "libopenmpi-dev", HAS_OPENMPI },
    { FV_FLAVOUR_SERIAL, "without MPI", "gcc", true },
};
enum { SUBJECTS = sizeof(subjects) / sizeof(*subjects) };

struct selftest {
    bool wanted[SUBJECTS], any_wanted, keep;
    double limit_s;
    struct fv_selftest_place place;
    char fvmpi[PATH_MAX], fvunify[PATH_MAX + 16];
    unsigned ok, not_ok, skipped;
};

/* One subject's way through the steps. */
struct trial {
    struct selftest *test;
    const struct subject *subject;
    bool must; /* what is missing is not ok */
    char compiler[PATH_MAX], launcher[PATH_MAX];
    char program[64], experiment[64]; /* names in the place */
};

/* ---- lines ---- */

static bool say_ok(struct trial *t, const char *what)
{
    t->test->ok++;
    printf("ok - %s: %s\n", t->subject->title, what);
    return true;
}

static bool say_not_ok(struct trial *t, const char *what, const char *why)
{
    t->test->not_ok++;
    printf("not ok - %s: %s: %s\n", t->subject->title, what, why);
    return false;
}

static bool say_skipped(struct trial *t, const char *what, const char *why)
{
    if (t->must)
        return say_not_ok(t, what, why);
    t->test->skipped++;
    printf("skipped - %s: %s: %s\n", t->subject->title, what, why);
    return false;
}

/* The last lines that a program wrote. */
static void show_log(const struct selftest *test, const char *log)
{
    enum { LINES = 10, LENGTH = 300 };
    char path[PATH_MAX + 64], lines[LINES][LENGTH];
    unsigned count = 0;

    snprintf(path, sizeof(path), "%s/%s", test->place.directory, log);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    while (fgets(lines[count % LINES], LENGTH, file))
        count++;
    for (unsigned i = count > LINES ? count - LINES : 0; i < count; i++)
        printf("    | %.*s\n", (int)strcspn(lines[i % LINES], "\n"), lines[i % LINES]);
    fclose(file);
}

/* A step that is a program. */
static bool run_step(struct trial *t, const char *what, const char *const argv[])
{
    char log[80], why[256];

    snprintf(log, sizeof(log), "%s.log", fv_flavour_name(t->subject->flavour));
    if (fv_selftest_start(&t->test->place, log, argv, why))
        return true;
    say_not_ok(t, what, why);
    show_log(t->test, log);
    return false;
}

/* ---- compiler, launcher, library ---- */

/* NAME.FLAVOUR, else NAME. */
static bool find_tool(const struct subject *subject, const char *name, char out[PATH_MAX])
{
    char own[64];

    snprintf(own, sizeof(own), "%s.%s", name, fv_flavour_name(subject->flavour));
    return fv_find_program(own, out, PATH_MAX) || fv_find_program(name, out, PATH_MAX);
}

static bool find_compiler(struct trial *t)
{
    const bool is_serial = t->subject->flavour == FV_FLAVOUR_SERIAL;
    char why[128];

    if (is_serial ? fv_find_program("cc", t->compiler, PATH_MAX) || fv_find_program("gcc", t->compiler, PATH_MAX)
                  : find_tool(t->subject, "mpicc", t->compiler))
        return true;
    snprintf(why, sizeof(why), "no compiler%s in PATH; its package is %s", is_serial ? " (cc)" : " (mpicc)",
             t->subject->package);
    return say_skipped(t, "not tested", why);
}

/* What is called mpiexec may be another MPI's. */
static bool find_launcher(struct trial *t)
{
    static const char *const names[] = { "mpiexec", "mpirun" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (find_tool(t->subject, names[i], t->launcher)) {
            enum fv_flavour flavour = fv_launcher_flavour(t->launcher);

            if (!flavour || flavour == t->subject->flavour)
                return true;
        }
    return say_skipped(t, "not tested", "no launcher of it (mpiexec, mpirun) in PATH");
}

static bool compile(struct trial *t)
{
    const bool is_serial = t->subject->flavour == FV_FLAVOUR_SERIAL;
    const char *argv[] = { t->compiler, "-O1", "-g", "-o", t->program, "program.c", is_serial ? "-DWITHOUT_MPI" : NULL,
                           NULL };
    char path[PATH_MAX + 80], what[PATH_MAX + 32];
    struct fv_flavour_result finding;

    snprintf(what, sizeof(what), "%s compiles a program", fv_base_name(t->compiler));
    if (!run_step(t, what, argv))
        return false;
    snprintf(path, sizeof(path), "%s/%s", t->test->place.directory, t->program);
    fv_flavour_find((char *const[]){ path, NULL }, NULL, &finding);
    if (!is_serial && finding.flavour != t->subject->flavour) /* mpicc, of which there may be one of many MPIs */
        return say_skipped(t, "not tested", "mpicc in PATH is another MPI's, and there is no other one");
    return say_ok(t, what);
}

static bool has_library(struct trial *t)
{
    char path[PATH_MAX], why[PATH_MAX + 128];

    if (!fv_install_library(t->subject->flavour, false, path, sizeof(path)))
        return true;
    if (!t->subject->is_built)
        return say_skipped(t, "not tested", "this fvmpi was built without a library for it");
    snprintf(why, sizeof(why), "it is not there; install fvmpi again, or its package libfvmpi-%s",
             fv_flavour_name(t->subject->flavour));
    return say_not_ok(t, path, why);
}

/* ---- run, report, trace ---- */

static bool was_printed(const struct trial *t)
{
    char path[PATH_MAX + 80], line[256], said[64];
    bool is = false;

    snprintf(said, sizeof(said), FV_SELFTEST_SAID "\n", t->subject->flavour == FV_FLAVOUR_SERIAL ? 1 : 2);
    snprintf(path, sizeof(path), "%s/%s.log", t->test->place.directory, fv_flavour_name(t->subject->flavour));
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        is = is || !strcmp(line, said);
    if (file)
        fclose(file);
    return is;
}

static bool record(struct trial *t)
{
    char program[80];
    const char *const with_mpi[] = { t->test->fvmpi, "run",       "-q", "--trace", "-o",    t->experiment,
                                     "--",           t->launcher, "-n", "2",       program, NULL },
                      *const serial[] = { t->test->fvmpi, "run", "-q", "-o", t->experiment, program, NULL };
    const bool is_serial = t->subject->flavour == FV_FLAVOUR_SERIAL;
    const char *what = is_serial ? "fvmpi run records it" : "fvmpi run records two ranks";

    snprintf(program, sizeof(program), "./%s", t->program);
    if (!run_step(t, what, is_serial ? serial : with_mpi))
        return false;
    if (was_printed(t))
        return say_ok(t, what);
    return say_not_ok(t, what, "the program did not print what it prints without fvmpi");
}

/* The report as JSON; NULL: a line says why not. */
static json_t *read_report(struct trial *t, const char *what)
{
    const char *const argv[] = { t->test->fvmpi, "report", t->experiment, "--json", "report.json", NULL };
    char path[PATH_MAX + 16];
    json_error_t error;

    if (!run_step(t, what, argv))
        return NULL;
    snprintf(path, sizeof(path), "%s/report.json", t->test->place.directory);
    json_t *report = json_load_file(path, 0, &error);
    if (!report)
        say_not_ok(t, what, error.text);
    return report;
}

static bool is_react(const json_t *name)
{
    return json_is_string(name) && !strcmp(json_string_value(name), "react");
}

/* A finding that names rank 1 and react(). */
static bool is_found(const json_t *report)
{
    json_t *finding;
    size_t i;

    json_array_foreach(json_object_get(report, "findings"), i,
                       finding) if (json_is_integer(json_object_get(finding, "rank")) &&
                                    json_integer_value(json_object_get(finding, "rank")) == 1 &&
                                    is_react(json_object_get(finding, "function"))) return true;
    return false;
}

/* react() has most of the samples. */
static bool is_sampled(const json_t *report)
{
    const json_t *costs = json_object_get(report, "costs");
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(costs, "procedures"), i,
                       row) if (is_react(json_object_get(row, "procedure"))) return 2 *
            json_number_value(json_object_get(json_object_get(row, "inclusive"), "ticks")) >
        json_number_value(json_object_get(json_object_get(costs, "all"), "ticks"));
    return false;
}

static void show_findings(const json_t *report)
{
    json_t *finding;
    size_t i;

    json_array_foreach(json_object_get(report, "findings"), i, finding)
        printf("    | %s\n", json_string_value(json_object_get(finding, "text")));
}

static bool reported(struct trial *t, const char *what)
{
    const bool is_serial = t->subject->flavour == FV_FLAVOUR_SERIAL;
    json_t *report = read_report(t, what);

    if (!report)
        return false;
    const bool is_right = is_serial ? is_sampled(report) : is_found(report);
    if (is_right) {
        say_ok(t, what);
    } else {
        say_not_ok(t, what, is_serial ? "it does not" : "it does not; its findings are:");
        show_findings(report);
    }
    json_decref(report);
    return is_right;
}

static bool merge(struct trial *t)
{
    const char *const unify[] = { t->test->fvunify, t->experiment, NULL }, *const check[] = { t->test->fvmpi, "check",
                                                                                              "--strict", t->experiment,
                                                                                              NULL };
    char serial[PATH_MAX + 32];

    snprintf(serial, sizeof(serial), "%s-serial", t->test->fvunify);
    if (access(serial, X_OK))
        return say_skipped(t, "the trace is not tested", "this fvmpi was built without OTF2");
    if (!run_step(t, "fvunify merges the trace", unify) || !say_ok(t, "fvunify merges the trace"))
        return false;
    return run_step(t, "fvmpi check finds no fault in the archive", check) &&
           say_ok(t, "fvmpi check finds no fault in the archive") &&
           reported(t, "the report of the merged trace names rank 1 and react()");
}

/* ---- all ---- */

static void try(struct selftest *test, const struct subject *subject)
{
    struct trial t = { .test = test, .subject = subject, .must = test->any_wanted };
    const bool is_serial = subject->flavour == FV_FLAVOUR_SERIAL;

    snprintf(t.program, sizeof(t.program), "program-%s", fv_flavour_name(subject->flavour));
    snprintf(t.experiment, sizeof(t.experiment), "experiment-%s", fv_flavour_name(subject->flavour));
    if (!find_compiler(&t) || !compile(&t) || (!is_serial && !find_launcher(&t)) || !has_library(&t) || !record(&t))
        return;
    if (is_serial)
        reported(&t, "the report names react()");
    else if (reported(&t, "the report names rank 1 and react()"))
        merge(&t);
}

static int write_program(const struct selftest *test)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof(path), "%s/program.c", test->place.directory);
    FILE *file = fopen(path, "w");
    if (file)
        fputs(fv_selftest_program, file);
    if (file && !fclose(file))
        return 0;
    fv_log("selftest: %s: %s; name another directory: TMPDIR=DIR fvmpi selftest", path, strerror(errno));
    return -FV_EIO;
}

static bool find_commands(struct selftest *test)
{
    if (fv_install_beside("fvmpi", test->fvmpi, sizeof(test->fvmpi)) &&
        fv_install_beside("fvunify", test->fvunify, sizeof(test->fvunify)))
        return true;
    fv_log("selftest: /proc is not mounted, by which it finds its own files; mount it: mount -t proc proc /proc");
    return false;
}

static int run_tests(struct selftest *test)
{
    if (!find_commands(test) || !fv_selftest_open(&test->place, test->limit_s))
        return FV_EXIT_FAILED;
    const int err = write_program(test);
    for (size_t i = 0; i < SUBJECTS && !err && !fv_selftest_is_interrupted(); i++)
        if (!test->any_wanted || test->wanted[i])
            try(test, &subjects[i]);
    if (!err)
        printf("%u ok, %u not ok, %u skipped\n", test->ok, test->not_ok, test->skipped);
    if (test->keep)
        printf("kept: %s\n", test->place.directory);
    fv_selftest_close(&test->place, test->keep);
    return err || test->not_ok || !test->ok ? FV_EXIT_FAILED : FV_EXIT_OK;
}

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi selftest", what, why);
}

static int take_list(struct selftest *test, const char *list)
{
    for (const char *word = list; *word || word == list;) {
        const size_t length = strcspn(word, ",");
        bool is_known = false;

        for (size_t i = 0; i < SUBJECTS; i++) {
            const char *name = fv_flavour_name(subjects[i].flavour);

            if (strlen(name) == length && !strncmp(name, word, length))
                test->wanted[i] = test->any_wanted = is_known = true;
        }
        if (!is_known)
            return wrong(list, "--mpi takes mpich, openmpi and serial, with commas between them");
        word += length + (word[length] == ',');
    }
    return FV_GO_ON;
}

static int take_limit(struct selftest *test, const char *text)
{
    char *end;

    test->limit_s = strtod(text, &end);
    if (*end || end == text || !(test->limit_s >= 1 && test->limit_s <= 3600))
        return wrong(text, "--limit takes seconds, from 1 to 3600");
    return FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct selftest *test = options;

    switch (option) {
    case 'm': return take_list(test, optarg);
    case 'l': return take_limit(test, optarg);
    case 'k': test->keep = true; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return FV_UNKNOWN_OPTION;
}

int fv_cmd_selftest(int argc, char **argv)
{
    static const struct option table[] = {
        { "mpi", required_argument, NULL, 'm' },
        { "limit", required_argument, NULL, 'l' },
        { "keep", no_argument, NULL, 'k' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, NULL, false };
    struct selftest test = { .limit_s = 60 };
    int status = fv_arguments_take(&arguments, argc, argv, &test, NULL);

    if (status != FV_GO_ON)
        return status;
    if (optind < argc)
        return wrong(argv[optind], "it takes options only");
    if (fv_under_launcher())
        return wrong("this is a rank", "start it without a launcher; it starts two ranks of its own");
    return run_tests(&test);
}
