/* What the C and the Fortran programs need of C. PMPI alone: nothing here is counted. */
#include <mpi.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int every_socket(void), every_has_ports(void), every_has_atomicity(void), every_keeps_error(void);
int every_class(int code), every_start(void);

/* The rank. Not by Fortran's PMPI_: MPICH's calls the C function MPI_, which is counted. */
int every_start(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return rank;
}

/* Open MPI 4.1's MPI_File_set_atomicity fails at random: it broadcasts 8 bytes of an int. */
int every_has_atomicity(void)
{
#ifdef OPEN_MPI
    return 0;
#else
    return 1;
#endif
}

/* MPI_ERROR of a single status is undefined, and Open MPI's Fortran binding fills in what stood on its stack. */
int every_keeps_error(void) { return every_has_atomicity(); }

/* An error code of MPICH counts the errors: of two runs' codes only the classes can be compared. */
int every_class(int code)
{
    int class = 0;

    PMPI_Error_class(code, &class);
    return class;
}

/* Some MPIs cannot open ports over some transports; what came of it must not be closed then. */
int every_has_ports(void)
{
    char port[MPI_MAX_PORT_NAME];

    return PMPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS && PMPI_Close_port(port) == MPI_SUCCESS;
}

/* For MPI_Comm_join: rank 0 listens in the working directory. */
int every_socket(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "every.socket" };
    int rank, fd = socket(AF_UNIX, SOCK_STREAM, 0), end;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        PMPI_Barrier(MPI_COMM_WORLD);
        return connect(fd, (struct sockaddr *)&address, sizeof address) ? -1 : fd;
    }
    unlink(address.sun_path);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 1))
        perror("every.socket");
    PMPI_Barrier(MPI_COMM_WORLD);
    end = accept(fd, NULL, NULL);
    close(fd);
    return end;
}
