/* Launchers on a command line and in the environment; MPIs by their libraries' names. */
#include "cmd/flavour.h"
#include "unit.h"

#define RANKS(...) fv_launcher_ranks((char *[]){ __VA_ARGS__, NULL })

static void ranks(void **state)
{
    (void)state;
    assert_int_equal(RANKS("mpiexec", "-n", "4", "app"), 4);
    assert_int_equal(RANKS("/x/mpirun", "--oversubscribe", "-np", "12", "app"), 12);
    assert_int_equal(RANKS("mpirun", "-c", "3", "app"), 3);
    assert_int_equal(RANKS("srun", "--ntasks=5", "app"), 5);
    assert_int_equal(RANKS("srun", "-c", "3", "app"), 0); /* cpus of a task */
    assert_int_equal(RANKS("mpiexec", "app"), 0);
    assert_int_equal(RANKS("mpiexec", "-n"), 0);
    assert_int_equal(RANKS("mpiexec", "-n", "four", "app"), 0);
    assert_int_equal(RANKS("mpiexec", "-n", "-4", "app"), 0);
    assert_int_equal(RANKS("mpiexec", "-n", "99999999999999999999", "app"), 0);
    assert_int_equal(RANKS("mpiexec", "-n", "2", "a", ":", "-n", "2", "b"), 0);
    assert_int_equal(RANKS("mpiexec", "-n", "2", "app", "-n", "7"), 0); /* cannot tell whose that is */
}

static void launchers(void **state)
{
    (void)state;
    assert_true(fv_is_launcher("mpiexec"));
    assert_true(fv_is_launcher("/opt/x/mpirun"));
    assert_true(fv_is_launcher("mpiexec.hydra"));
    assert_true(fv_is_launcher("srun"));
    assert_false(fv_is_launcher("mpiexecutor"));
    assert_false(fv_is_launcher("./app"));
    assert_false(fv_is_launcher("mpiexec/app"));
    assert_int_equal(fv_launcher_flavour("/nowhere/mpiexec.hydra"), FV_FLAVOUR_MPICH);
    assert_int_equal(fv_launcher_flavour("/nowhere/mpirun.openmpi"), FV_FLAVOUR_OPENMPI);
    assert_int_equal(fv_launcher_flavour("/nowhere/mpiexec"), FV_FLAVOUR_NONE);
}

static void libraries(void **state)
{
    bool unknown = false;

    (void)state;
    assert_int_equal(fv_flavour_of_library("libmpi.so.40", &unknown), FV_FLAVOUR_OPENMPI);
    assert_int_equal(fv_flavour_of_library("libmpich.so.12", &unknown), FV_FLAVOUR_MPICH);
    assert_int_equal(fv_flavour_of_library("libmpi.so.12", &unknown), FV_FLAVOUR_MPICH);
    assert_int_equal(fv_flavour_of_library("libc.so.6", &unknown), FV_FLAVOUR_NONE);
    assert_false(unknown);
    assert_int_equal(fv_flavour_of_library("libmpi.so.20", &unknown), FV_FLAVOUR_NONE);
    assert_true(unknown);
    assert_int_equal(fv_flavour_of_library("libmpi_cray.so.12", &unknown), FV_FLAVOUR_MPICH);
    assert_int_equal(fv_flavour_of_library("libmpi_gnu_91.so.12", &unknown), FV_FLAVOUR_MPICH);
    assert_int_equal(fv_flavour_of_library("libmpi_nvidia.so.12", &unknown), FV_FLAVOUR_MPICH);
    assert_int_equal(fv_flavour_of_library("libmpi.so.12.1.8", &unknown), FV_FLAVOUR_MPICH);
    assert_false(unknown);
    assert_int_equal(fv_flavour_of_library("libmpi_ibm.so.3", &unknown), FV_FLAVOUR_NONE);
    assert_true(unknown);
    assert_int_equal(fv_flavour_of_library("libmpich_gnu_51.so.3", &unknown), FV_FLAVOUR_NONE);
    assert_true(unknown);
    assert_int_equal(fv_flavour_of_library("libmpi_abi.so.12", &unknown), FV_FLAVOUR_NONE); /* a draft's */
    assert_true(unknown);
    assert_int_equal(fv_flavour_of_library("libmpi_abi.so.0", &unknown), FV_FLAVOUR_ABI);
    assert_int_equal(fv_flavour_of_library("libmpi_abi.so.1", &unknown), FV_FLAVOUR_ABI);
    assert_int_equal(fv_flavour_of_library("libmpi_abi.so.1.0.0", &unknown), FV_FLAVOUR_ABI);
    assert_false(unknown);
    static const char *const parts[] = { "libmpi_mpifh.so.40", "libmpifort.so.12", "libmpichfort.so.12",
                                         "libmpi_cxx.so.40" };
    for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        assert_int_equal(fv_flavour_of_library(parts[i], &unknown), FV_FLAVOUR_NONE);
        assert_false(unknown);
    }
}

static void environment(void **state)
{
    const char *why = NULL;

    (void)state;
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMIX_RANK");
    unsetenv("PMI_RANK");
    unsetenv("SLURM_STEP_ID");
    unsetenv("HYDI_CONTROL_FD");
    assert_false(fv_under_launcher());
    setenv("SLURM_PROCID", "0", 1); /* a batch script */
    assert_false(fv_under_launcher());
    setenv("PMI_RANK", "0", 1);
    assert_true(fv_under_launcher());
    assert_int_equal(fv_environment_flavour(&why), FV_FLAVOUR_NONE);
    setenv("MPI_LOCALNRANKS", "2", 1);
    assert_int_equal(fv_environment_flavour(&why), FV_FLAVOUR_MPICH);
    assert_string_equal(why, "PMI_RANK");
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    assert_int_equal(fv_environment_flavour(&why), FV_FLAVOUR_OPENMPI);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ranks), cmocka_unit_test(launchers),
                                        cmocka_unit_test(libraries), cmocka_unit_test(environment) };

    return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
