! failed.c in short: two messages that are too long, and a collective call that fails on one of two ranks.
program failed
    implicit none
    include 'mpif.h'
    integer :: rank, ierror, request(1), statuses(MPI_STATUS_SIZE, 1), long(100), short(10), failures, one

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    failures = 0
    long = 0
    if (rank == 0) then
        call MPI_Send(long, 100, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ierror)
        call MPI_Send(long, 100, MPI_INTEGER, 1, 6, MPI_COMM_WORLD, ierror)
    else
        call MPI_Recv(short, 10, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        if (ierror /= MPI_SUCCESS) failures = failures + 1
        call MPI_Irecv(short, 10, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, request(1), ierror)
        call MPI_Wait(request(1), statuses(1, 1), ierror)
        if (ierror /= MPI_SUCCESS) failures = failures + 1
    end if
    call MPI_Bcast(long, merge(100, 10, rank == 0), MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    if (ierror /= MPI_SUCCESS) failures = failures + 1
    one = 1
    call MPI_Allreduce(one, short, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    print '(a,i0,a,i0,a)', 'rank ', rank, ': ', failures, ' failed'
    call MPI_Finalize(ierror)
end program
