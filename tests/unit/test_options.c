/* The option table's parsers, the environment, and the names of experiments. */
#include "base/experiment.h"
#include "base/near.h"
#include "base/options.h"
#include "trace/format.h"
#include "unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = { { "0", 0 },
                 { "1", 1 },
                 { "4M", 4 << 20 },
                 { "512k", 512 << 10 },
                 { "1G", 1 << 30 },
                 { "2KiB", 2048 },
                 { "7B", 7 },
                 { "3mB", 3 << 20 },
                 { "1T", UINT64_C(1) << 40 },
                 { "18446744073709551615", UINT64_MAX },
                 { "16777215T", UINT64_C(16777215) << 40 } };
    static const char *const bad[] = { "",
                                       "k",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "4MM",
                                       "1kk",
                                       "1iB",
                                       "0x10",
                                       "1.5M",
                                       "1e3",
                                       "18446744073709551616",
                                       "16777216T",
                                       "99999999999999999999",
                                       "1Bk" };
    uint64_t bytes;

    (void)state;
    for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
        bytes = 42;
        assert_null(fv_parse_size(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        bytes = 42;
        assert_non_null(fv_parse_size(bad[i], &bytes));
        assert_int_equal(bytes, 42);
    }
}

static void clear(void)
{
    for (size_t i = 0; i < fv_option_count; i++)
        if (fv_option_table[i].variable)
            unsetenv(fv_option_table[i].variable);
}

static void defaults(void **state)
{
    struct fv_options o;

    (void)state;
    clear();
    fv_options_from_env(&o);
    assert_null(o.output);
    assert_int_equal(o.depth, 0);
    assert_int_equal(o.profile_max, 16 << 20);
    assert_int_equal(o.collectives_max, 2 << 20);
    assert_false(o.off_at_start || o.disable || o.quiet);
    assert_int_equal(o.barrier, FV_BARRIER_NONE);
    assert_int_equal(o.clock, 0);
}

static void environment(void **state)
{
    struct fv_options o;

    (void)state;
    clear();
    setenv("FVMPI_OUTPUT", "some where", 1);
    setenv("FVMPI_LOCAL", "/tmp", 1);
    setenv("FVMPI_DEPTH", "8", 1);
    setenv("FVMPI_PROFILE_MAX", "1M", 1);
    setenv("FVMPI_QUIET", "yes", 1);
    setenv("FVMPI_DISABLE", "0", 1);
    setenv("FVMPI_CLOCK", "monotonic", 1);
    setenv("FVMPI_OFF_AT_START", "", 1);
    setenv("FVMPI_BARRIER", "after", 1);
    setenv("FVMPI_BARRIER_WAIT", "30", 1);
    fv_options_from_env(&o);
    setenv("FVMPI_OUTPUT", "elsewhere", 1); /* applications change their environment */
    assert_string_equal(o.output, "some where");
    assert_string_equal(o.local, "/tmp");
    assert_int_equal(o.depth, 8);
    assert_int_equal(o.profile_max, 1 << 20);
    assert_true(o.quiet);
    assert_false(o.disable || o.off_at_start);
    assert_int_equal(o.clock, 2);
    assert_int_equal(o.barrier, FV_BARRIER_AFTER);
    assert_int_equal(o.barrier_wait, 30);
}

static void bad_values_give_defaults(void **state)
{
    struct fv_options o;

    (void)state;
    clear();
    setenv("FVMPI_DEPTH", "1025", 1);
    setenv("FVMPI_PROFILE_MAX", "1", 1);
    setenv("FVMPI_COLLECTIVES_MAX", "99999999999999999999", 1);
    setenv("FVMPI_QUIET", "maybe", 1);
    setenv("FVMPI_CLOCK", "ts", 1);
    fv_options_from_env(&o);
    assert_int_equal(o.depth, 0);
    assert_int_equal(o.profile_max, 16 << 20);
    assert_int_equal(o.collectives_max, 2 << 20);
    assert_false(o.quiet);
    assert_int_equal(o.clock, 0);
    clear();
}

static unsigned edits(const char *name, const char *word)
{
    struct fv_near near = { word, strlen(word), NULL, 0 };

    fv_near_try(&near, name, name);
    assert_ptr_equal(near.item, name);
    return near.edits;
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(edits("", "abc"), 3);
    assert_int_equal(edits("abc", "abc"), 0);
    assert_int_equal(edits("kitten", "sitting"), 3);
    assert_int_equal(edits("FVMPI_DEPHT", "FVMPI_DEPTH"), 2);
    assert_string_equal(fv_option_near_variable("FVMPI_DEPHT", 11)->variable, "FVMPI_DEPTH");
    assert_string_equal(fv_option_near_variable("FVMPI_TRACEE", 12)->variable, "FVMPI_TRACE");
    assert_string_equal(fv_option_near_flag("--ouptut", 8)->flag, "--output");
    assert_null(fv_option_near_flag("--xyzzyxyzzy", 12));
    assert_null(fv_option_near_variable("FVMPI_", 6));
}

static void defaults_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < fv_option_count; i++) {
        const struct fv_option *o = &fv_option_table[i];
        assert_true(o->flag || o->variable);
        if (*o->value)
            assert_null(o->parse(o, o->value, NULL));
        for (size_t k = 0; k < i; k++)
            assert_true(!o->flag || !fv_option_table[k].flag || strcmp(o->flag, fv_option_table[k].flag));
    }
}

/* The calendar, against the C library's. */
static void names(void **state)
{
    static const int64_t times[] = { 0,          951782399,  951782400,  951868800,  1078012800,  1709164800,
                                     1735689599, 2147483647, 4107542399, 4107542400, 253402300799 };
    char name[256], wanted[256];

    (void)state;
    for (unsigned i = 0; i < sizeof(times) / sizeof(*times); i++) {
        time_t t = (time_t)times[i];
        struct tm tm;
        gmtime_r(&t, &tm);
        strftime(wanted, sizeof(wanted), "fvmpi-app-4p-%Y%m%dT%H%M%SZ", &tm);
        assert_int_equal(fv_experiment_name_at(name, sizeof(name), "/usr/bin/app", 4, times[i]), 0);
        assert_string_equal(name, wanted);
    }
    assert_int_equal(fv_experiment_name_at(name, sizeof(name), "./a b/\xc3\xa4 $x", 1, 0), 0);
    assert_string_equal(name, "fvmpi-____x-1p-19700101T000000Z");
    assert_that(fv_experiment_name_at(name, 10, "app", 1, 0), <, 0);
}

static int claim_of(char out[FV_EXPERIMENT_MAX], const char *wanted)
{
    int fd = fv_experiment_claim(out, FV_EXPERIMENT_MAX, wanted, "app", 1, false);

    return fd < 0 ? fd : close(fd);
}

static void claims(void **state)
{
    char root[] = "/tmp/fvmpi-test-XXXXXX", wanted[128], first[FV_EXPERIMENT_MAX], again[FV_EXPERIMENT_MAX];
    int status;

    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(wanted, sizeof(wanted), "%s/exp/", root);
    assert_int_equal(claim_of(first, wanted), 0);
    assert_int_equal(claim_of(again, wanted), 0);
    assert_string_equal(first, again); /* the same process, the same job */
    wanted[strlen(wanted) - 1] = '\0';
    assert_string_equal(first, wanted);
    if (fork() == 0) { /* another one */
        char other[FV_EXPERIMENT_MAX];
        int err = claim_of(other, wanted);
        _exit(err || strcmp(other + strlen(wanted), "-2") || rmdir(other) == 0);
    }
    wait(&status);
    assert_int_equal(status, 0);
    snprintf(wanted, sizeof(wanted), "%s/not/there/yet", root);
    assert_int_equal(claim_of(first, wanted), 0);
    assert_int_equal(claim_of(first, "/dev/null/exp"), -FV_EIO);
    snprintf(wanted, sizeof(wanted), "rm -r %s", root);
    assert_int_equal(system(wanted), 0);
}

static void processes(void **state)
{
    struct fv_process me, child;
    uint8_t boot[16], again[16];

    (void)state;
    assert_true(fv_process_read(getpid(), &me));
    assert_int_equal(me.parent, getppid());
    assert_true(fv_process_runs(me.pid, me.start));
    assert_false(fv_process_runs(me.pid, me.start + 1)); /* another one, with the same number */
    assert_true(strstr(me.name, "test_options") != NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(fv_process_read(pid, &child) && child.state == 'Z' && child.parent == me.pid);
    assert_false(fv_process_runs(pid, child.start));
    waitpid(pid, NULL, 0);
    assert_false(fv_process_read(pid, &child));
    assert_true(fv_boot_id(boot) && fv_boot_id(again));
    assert_memory_equal(boot, again, 16);
}

/* A process table: {pid, parent, start, name}; what is not in it is hidden. */
static const struct fv_process *table;

static bool read_table(pid_t pid, struct fv_process *out)
{
    for (const struct fv_process *p = table; p->pid; p++)
        if (p->pid == pid) {
            *out = *p;
            return true;
        }
    return false;
}

static struct fv_launcher above(const struct fv_process *processes)
{
    struct fv_launcher found;

    table = processes;
    fv_launcher_above(processes, read_table, &found);
    return found;
}

#define PROCESS(pid, parent, start, name) \
    {                                     \
        pid, parent, 'S', start, name     \
    }

static void launchers(void **state)
{
    static const struct fv_process through_shell[] = {
        PROCESS(50, 40, 500, "app"),          PROCESS(40, 30, 400, "sh"), PROCESS(30, 20, 300, "hydra_pmi_proxy"),
        PROCESS(20, 1, 200, "mpiexec.mpich"), PROCESS(1, 0, 1, "init"),   { 0 },
    };
    static const struct fv_process strange[] = {
        PROCESS(50, 40, 500, "app"),
        PROCESS(40, 1, 400, "starter"),
        PROCESS(1, 0, 1, "init"),
        { 0 },
    };
    static const struct fv_process waited_for[] = {
        PROCESS(60, 50, 600, "app"),
        PROCESS(50, 40, 500, "fvmpi"),
        PROCESS(40, 1, 400, "starter"),
        PROCESS(1, 0, 1, "init"),
        { 0 },
    };
    static const struct fv_process hidden[] = { PROCESS(50, 40, 500, "app"), { 0 } };
    static const struct fv_process hidden_above[] = { PROCESS(50, 40, 500, "app"), PROCESS(40, 30, 400, "sh"), { 0 } };
    static const struct fv_process contained[] = { PROCESS(1, 0, 500, "app"), { 0 } };
    struct fv_launcher l;

    (void)state;
    l = above(through_shell);
    assert_true(l.is_known && l.process.pid == 30 && l.process.start == 300);
    l = above(strange); /* the parent, for want of anything better */
    assert_true(!l.is_known && l.process.pid == 40 && l.process.start == 400);
    l = above(waited_for); /* fvmpi run is this rank's alone */
    assert_true(!l.is_known && l.process.pid == 40 && l.process.start == 400);
    l = above(hidden); /* its number is known all the same, and equal on all ranks */
    assert_true(!l.is_known && l.process.pid == 40 && l.process.start == 0);
    l = above(hidden_above);
    assert_true(!l.is_known && l.process.pid == 40 && l.process.start == 400);
    l = above(contained); /* in a namespace of its own there is nobody above */
    assert_true(!l.is_known && l.process.pid == 1 && l.process.start == 500);
}

static void play_rank(uint64_t *job, char name[256])
{
    *job = fv_experiment_job();
    assert_int_equal(fv_experiment_name(name, 256, "app", 2), 0);
}

/* This test's parent is no launcher by its name, so that the environment is asked, as where it is hidden:
 * both ranks, each below a shell of its own, find the same. */
static void environment_tells_the_job(void **state)
{
    static const char *const variables[][2] = {
        { "PMIX_NAMESPACE", "prterun-host-17@1" },
        { "SLURM_STEP_ID", "3" },
        { "FLUX_JOB_ID", "f4Kx" },
        { "PALS_APID", "c0ffee" },
    };
    struct {
        uint64_t job;
        char name[256];
    } mine, *childs;
    int status;

    (void)state;
    childs = mmap(NULL, sizeof(*childs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(childs != MAP_FAILED);
    setenv("PMI_RANK", "0", 1);
    setenv("SLURM_JOB_ID", "17", 1);
    for (unsigned i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        setenv(variables[i][0], variables[i][1], 1);
        play_rank(&mine.job, mine.name);
        if (fork() == 0) {
            play_rank(&childs->job, childs->name);
            _exit(0);
        }
        wait(&status);
        assert_int_equal(status, 0);
        assert_true(mine.job && mine.job == childs->job);
        assert_string_equal(mine.name, childs->name);
        assert_non_null(strstr(mine.name, "fvmpi-app-2p-job"));
        unsetenv(variables[i][0]);
    }
    unsetenv("SLURM_JOB_ID");
    unsetenv("PMI_RANK");
    munmap(childs, sizeof(*childs));
}

/* Where the application goes later does not matter. */
static void directories(void **state)
{
    char root[] = "/tmp/fvmpi-test-XXXXXX", start[FV_EXPERIMENT_MAX], found[FV_EXPERIMENT_MAX],
         wanted[FV_EXPERIMENT_MAX + 64];
    char name[64];

    (void)state;
    assert_non_null(getcwd(start, sizeof(start)));
    assert_non_null(mkdtemp(root));
    assert_int_equal(chdir(root), 0);
    snprintf(name, sizeof(name), "fvmpi-test-%ld", (long)getpid());
    assert_int_equal(claim_of(found, name), 0);
    assert_int_equal(chdir(start), 0);
    assert_int_equal(rmdir(root), 0);
    snprintf(wanted, sizeof(wanted), "%s/%s", start, name);
    assert_string_equal(found, wanted);
    snprintf(wanted, sizeof(wanted), "%s/.job", found);
    unlink(wanted);
    assert_int_equal(rmdir(found), 0);
}

static void jobs(void **state)
{
    static const char *const launchers[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",       "PMIX_NAMESPACE",
                                             "HYDI_CONTROL_FD",      "SLURM_PROCID", "MPI_LOCALNRANKS" };
    uint64_t one, other;

    (void)state;
    for (unsigned i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
        unsetenv(launchers[i]);
    assert_int_equal(fv_experiment_job(), fv_experiment_job());
    assert_that(fv_experiment_job(), !=, 0);
    setenv("SLURM_PROCID", "1", 1); /* two nodes */
    setenv("SLURM_NNODES", "2", 1);
    assert_int_equal(fv_experiment_job(), 0);
    setenv("SLURM_JOB_ID", "17", 1);
    setenv("SLURM_STEP_ID", "0", 1);
    one = fv_experiment_job();
    setenv("SLURM_STEP_ID", "1", 1);
    other = fv_experiment_job();
    assert_true(one && other && one != other);
    char name[256];
    assert_int_equal(fv_experiment_name(name, sizeof(name), "app", 2), 0);
    assert_string_equal(name, "fvmpi-app-2p-job17.1");
    assert_false(fv_first_rank());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),       cmocka_unit_test(defaults),
        cmocka_unit_test(environment), cmocka_unit_test(bad_values_give_defaults),
        cmocka_unit_test(distances),   cmocka_unit_test(defaults_parse),
        cmocka_unit_test(names),       cmocka_unit_test(claims),
        cmocka_unit_test(processes),   cmocka_unit_test(launchers),
        cmocka_unit_test(directories), cmocka_unit_test(environment_tells_the_job),
        cmocka_unit_test(jobs), /* last: it plays a launcher */
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
