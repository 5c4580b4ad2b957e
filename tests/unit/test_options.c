/* The option table's parsers, the environment, and the names of experiments. */
#include "base/experiment.h"
#include "base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = { { "0", 0 }, { "1", 1 }, { "4M", 4 << 20 }, { "512k", 512 << 10 }, { "1G", 1 << 30 },
                 { "2KiB", 2048 }, { "7B", 7 }, { "3mB", 3 << 20 }, { "1T", UINT64_C(1) << 40 },
                 { "18446744073709551615", UINT64_MAX }, { "16777215T", UINT64_C(16777215) << 40 } };
    static const char *const bad[] = { "", "k", "-1", "+1", " 1", "1 ", "4MM", "1kk", "1iB", "0x10", "1.5M", "1e3",
                                       "18446744073709551616", "16777216T", "99999999999999999999", "1Bk" };
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
    assert_int_equal(o.profile_max, 4 << 20);
    assert_int_equal(o.collectives_max, 2 << 20);
    assert_false(o.off_at_start || o.disable || o.quiet);
    assert_int_equal(o.clock, 0);
}

static void environment(void **state)
{
    struct fv_options o;

    (void)state;
    clear();
    setenv("FVMPI_OUTPUT", "some where", 1);
    setenv("FVMPI_DEPTH", "8", 1);
    setenv("FVMPI_PROFILE_MAX", "1M", 1);
    setenv("FVMPI_QUIET", "yes", 1);
    setenv("FVMPI_DISABLE", "0", 1);
    setenv("FVMPI_CLOCK", "monotonic", 1);
    setenv("FVMPI_OFF_AT_START", "", 1);
    fv_options_from_env(&o);
    setenv("FVMPI_OUTPUT", "elsewhere", 1); /* applications change their environment */
    assert_string_equal(o.output, "some where");
    assert_int_equal(o.depth, 8);
    assert_int_equal(o.profile_max, 1 << 20);
    assert_true(o.quiet);
    assert_false(o.disable || o.off_at_start);
    assert_int_equal(o.clock, 2);
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
    assert_int_equal(o.profile_max, 4 << 20);
    assert_int_equal(o.collectives_max, 2 << 20);
    assert_false(o.quiet);
    assert_int_equal(o.clock, 0);
    clear();
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(fv_edit_distance("", 0, "abc", 3), 3);
    assert_int_equal(fv_edit_distance("abc", 3, "abc", 3), 0);
    assert_int_equal(fv_edit_distance("kitten", 6, "sitting", 7), 3);
    assert_int_equal(fv_edit_distance("FVMPI_DEPHT", 11, "FVMPI_DEPTH", 11), 2);
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
    static const int64_t times[] = { 0, 951782399, 951782400, 951868800, 1078012800, 1709164800, 1735689599,
                                     2147483647, 4107542399, 4107542400, 253402300799 };
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
    assert_true(fv_experiment_name_at(name, 10, "app", 1, 0) < 0);
}

static void claims(void **state)
{
    char root[] = "/tmp/fvmpi-test-XXXXXX", wanted[128], first[FV_EXPERIMENT_MAX], again[FV_EXPERIMENT_MAX];
    int status;

    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(wanted, sizeof(wanted), "%s/exp/", root);
    assert_int_equal(fv_experiment_claim(first, sizeof(first), wanted, "app", 1), 0);
    assert_int_equal(fv_experiment_claim(again, sizeof(again), wanted, "app", 1), 0);
    assert_string_equal(first, again); /* the same process, the same job */
    wanted[strlen(wanted) - 1] = '\0';
    assert_string_equal(first, wanted);
    if (fork() == 0) { /* another one */
        char other[FV_EXPERIMENT_MAX];
        int err = fv_experiment_claim(other, sizeof(other), wanted, "app", 1);
        _exit(err || strcmp(other + strlen(wanted), "-2") || rmdir(other) == 0);
    }
    wait(&status);
    assert_int_equal(status, 0);
    snprintf(wanted, sizeof(wanted), "%s/not/there/yet", root);
    assert_int_equal(fv_experiment_claim(first, sizeof(first), wanted, "app", 1), 0);
    assert_int_equal(fv_experiment_claim(first, sizeof(first), "/dev/null/exp", "app", 1), -FV_EIO);
    snprintf(wanted, sizeof(wanted), "rm -r %s", root);
    assert_int_equal(system(wanted), 0);
}

static void jobs(void **state)
{
    static const char *const launchers[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PMIX_NAMESPACE",
                                             "HYDI_CONTROL_FD", "SLURM_PROCID", "MPI_LOCALNRANKS" };
    uint64_t one, other;

    (void)state;
    for (unsigned i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
        unsetenv(launchers[i]);
    assert_int_equal(fv_experiment_job(), fv_experiment_job());
    assert_true(fv_experiment_job() != 0);
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
        cmocka_unit_test(sizes),      cmocka_unit_test(defaults),       cmocka_unit_test(environment),
        cmocka_unit_test(bad_values_give_defaults), cmocka_unit_test(distances),
        cmocka_unit_test(defaults_parse), cmocka_unit_test(names), cmocka_unit_test(claims),
        cmocka_unit_test(jobs), /* last: it plays a launcher */
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
