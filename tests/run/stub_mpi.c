/* An MPI of MPICH's binary interface that never sends anything: a rank is what STUB_RANK and STUB_SIZE say.
 * For launchers that stand in for others. With -DPROGRAM the program: MPI_Init, a barrier, MPI_Finalize. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#ifdef PROGRAM
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
#else
static int initialized, finalized;

static int number(const char *variable)
{
    return atoi(getenv(variable));
}

#define MPI(name, parameters, body)                                                                          \
    int P##name parameters                                                                                   \
    {                                                                                                        \
        body;                                                                                                \
        return MPI_SUCCESS;                                                                                  \
    }                                                                                                        \
    int name parameters __attribute__((alias("P" #name)));

MPI(MPI_Init, (int *argc, char ***argv), (void)argc; (void)argv; initialized = 1)
MPI(MPI_Initialized, (int *flag), *flag = initialized)
MPI(MPI_Finalized, (int *flag), *flag = finalized)
MPI(MPI_Finalize, (void), finalized = 1)
MPI(MPI_Query_thread, (int *provided), *provided = MPI_THREAD_SINGLE)
MPI(MPI_Get_library_version, (char *text, int *length), strcpy(text, "stub"); *length = 4)
MPI(MPI_Comm_rank, (MPI_Comm comm, int *rank), *rank = comm == MPI_COMM_SELF ? 0 : number("STUB_RANK"))
MPI(MPI_Comm_size, (MPI_Comm comm, int *size), *size = comm == MPI_COMM_SELF ? 1 : number("STUB_SIZE"))
MPI(MPI_Comm_test_inter, (MPI_Comm comm, int *flag), (void)comm; *flag = 0)
MPI(MPI_Comm_get_name, (MPI_Comm comm, char *name, int *length), (void)comm; *name = 0; *length = 0)
MPI(MPI_Comm_group, (MPI_Comm comm, MPI_Group *group), *group = comm == MPI_COMM_SELF ? 1 : 2)
MPI(MPI_Group_free, (MPI_Group * group), *group = MPI_GROUP_NULL)
MPI(MPI_Group_translate_ranks, (MPI_Group from, int n, const int ranks[], MPI_Group to, int out[]), (void)to;
    for (int i = 0; i < n; i++) out[i] = from == 1 ? number("STUB_RANK") : ranks[i])
MPI(MPI_Barrier, (MPI_Comm comm), (void)comm)
#endif
