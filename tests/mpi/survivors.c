/* Fault tolerance: the last rank "fails"; the others make communicators of who is left, and use them. With
 * -DSTANDIN a library that stands before MPI's: MPICH 4.0 has these functions, and they abort. */
#include <mpi.h>
#include <stdio.h>

#ifdef STANDIN

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
    MPI_Group all, left;
    int failed, err;

    PMPI_Comm_group(comm, &all);
    PMPI_Group_size(all, &failed);
    failed--;
    PMPI_Group_excl(all, 1, &failed, &left);
    err = PMPI_Comm_create_group(comm, left, 77, newcomm);
    PMPI_Group_free(&all);
    PMPI_Group_free(&left);
    return err;
}

int PMPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    return PMPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, comm);
}

int PMPIX_Comm_revoke(MPI_Comm comm)
{
    return comm == MPI_COMM_NULL;
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm) __attribute__((alias("PMPIX_Comm_shrink")));
int MPIX_Comm_agree(MPI_Comm comm, int *flag) __attribute__((alias("PMPIX_Comm_agree")));
int MPIX_Comm_revoke(MPI_Comm comm) __attribute__((alias("PMPIX_Comm_revoke")));

#elif defined(MPIX_ERR_REVOKED)

int main(int argc, char **argv)
{
    int me, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2 && me < ranks - 1; i++) {
        int flag = 1 << me | 8, neighbour = (me + 1) % (ranks - 1), value = me;
        MPI_Comm left;

        MPIX_Comm_revoke(MPI_COMM_WORLD);
        if (MPIX_Comm_shrink(MPI_COMM_WORLD, &left) || MPIX_Comm_agree(left, &flag))
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, neighbour, i, neighbour, i, left, MPI_STATUS_IGNORE);
        MPI_Barrier(left);
        printf("%d\n", flag);
        MPI_Comm_free(&left);
    }
    MPI_Finalize();
    return 0;
}

#else

int main(void)
{
    puts("none");
    return 0;
}

#endif
