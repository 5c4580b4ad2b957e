/* Programs that run one after the other as the same rank of one step of a job, as `srun sh -c './first;
 * ./second'` has it (the MPIs of Debian can't do it under mpiexec): each program has an experiment of its
 * own, in which all its ranks meet. Here each rank of each program is a child of this process, which stands
 * for the launcher. */
#include "rt_stub.h"
#include "unit.h"

#include <sys/stat.h>
#include <sys/wait.h>

enum { RANKS = 3, PROGRAMS = 4 };

/* A program that starts and ends as this rank: was it recorded? */
static bool records_as(int rank, int ranks)
{
    const struct fv_start_info info = { .world_rank = rank, .world_size = ranks, .mpi = "none", .thread_level = "" };
    char number[16];
    int status;
    pid_t pid = fork();

    if (!pid) {
        snprintf(number, sizeof(number), "%d", rank);
        setenv("PMI_RANK", number, 1);
        setenv("FVMPI_QUIET", "1", 1);
        fv_start(&info);
        fv_finalized();
        _exit(fv_started() ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return !status;
}

static void run_as(int rank, int ranks)
{
    assert_true(records_as(rank, ranks));
}

static bool is_there_in(const char *output, int number, const char *folder, int rank)
{
    char path[256], suffix[16] = "";
    struct stat st;

    if (number > 1)
        snprintf(suffix, sizeof(suffix), "-%d", number);
    snprintf(path, sizeof(path), "%s%s/%srank-%06d.fvr", output, suffix, folder, rank);
    return !stat(path, &st);
}

static bool is_there(const char *output, int number, int rank)
{
    return is_there_in(output, number, "", rank);
}

/* One after the other, all ranks of a program before the next. */
static void test_in_turn(void **state)
{
    char output[128];
    (void)state;

    snprintf(output, sizeof(output), "%s/turn", stub_directory);
    setenv("FVMPI_OUTPUT", output, 1);
    for (int program = 1; program <= PROGRAMS; program++) {
        for (int rank = 0; rank < RANKS; rank++)
            run_as(rank, RANKS);
        for (int rank = 0; rank < RANKS; rank++) {
            assert_true(is_there(output, program, rank));
            assert_false(is_there(output, program + 1, rank));
        }
    }
}

/* Each rank runs on to the next program while others are in the first; nobody waits for anybody. */
static void test_apart(void **state)
{
    char output[128];
    (void)state;

    snprintf(output, sizeof(output), "%s/apart/", stub_directory);
    setenv("FVMPI_OUTPUT", output, 1);
    output[strlen(output) - 1] = '\0';
    for (int rank = 0; rank < RANKS; rank++)
        for (int program = 1; program <= PROGRAMS; program++)
            run_as(rank, RANKS);
    for (int program = 1; program <= PROGRAMS; program++)
        for (int rank = 0; rank < RANKS; rank++)
            assert_true(is_there(output, program, rank));
    assert_false(is_there(output, PROGRAMS + 1, 0));
}

/* Another job has some of the names: they stay as they are. */
static void test_names_taken(void **state)
{
    char output[128], path[160];
    (void)state;

    snprintf(output, sizeof(output), "%s/taken", stub_directory);
    setenv("FVMPI_OUTPUT", output, 1);
    assert_int_equal(mkdir(output, 0777), 0);
    snprintf(path, sizeof(path), "%s/.job", output);
    assert_int_equal(symlink("0123456789abcdef", path), 0);
    for (int rank = 0; rank < RANKS; rank++)
        for (int program = 1; program <= 2; program++)
            run_as(rank, RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        assert_false(is_there(output, 1, rank));
        assert_true(is_there(output, 2, rank));
        assert_true(is_there(output, 3, rank));
    }
}

/* From 1024 ranks on there is a folder for each 1024; a link in the place of one is not followed. */
static void test_folders(void **state)
{
    char output[128], path[200];
    (void)state;

    snprintf(output, sizeof(output), "%s/large", stub_directory);
    setenv("FVMPI_OUTPUT", output, 1);
    run_as(1022, 1023);
    assert_true(is_there(output, 1, 1022));
    for (int program = 1; program <= 2; program++) {
        run_as(1023, 2000000);
        run_as(1024, 2000000);
        run_as(1999999, 2000000);
        assert_true(is_there_in(output, program, "ranks-000000/", 1023));
        assert_true(is_there_in(output, program, "ranks-001024/", 1024));
        assert_true(is_there_in(output, program, "ranks-1999872/", 1999999));
    }
    snprintf(path, sizeof(path), "%s/ranks-002048", output);
    assert_int_equal(symlink("ranks-001024", path), 0);
    assert_false(records_as(2048, 2000000));
}

int main(void)
{
    static const char *const others[] = { "FVMPI_BUILD", "FVMPI_SOURCE", "FVMPI_TEST_MPI", "FVMPI_TEST_SANITIZER" };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_names_taken),
        cmocka_unit_test(test_folders),
    };
    for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
        unsetenv(others[i]); /* each of the processes below would say that it does not know them */
    cmocka_set_message_output(CM_OUTPUT_TAP);
    stub_start();
    int failed = cmocka_run_group_tests_name("step", tests, NULL, NULL);
    stub_remove();
    return failed;
}
