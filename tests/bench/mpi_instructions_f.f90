! The bodies in Fortran of mpi_instructions.c.
module bodies
  use mpi
  implicit none
  double precision :: one = 1, total
  integer :: inbox, outbox = 1
contains

  subroutine f_probe() bind(c)
    integer :: error
    logical :: flag

    call MPI_Iprobe(0, 9, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, error)
  end subroutine

  subroutine f_allreduce() bind(c)
    integer :: error

    call MPI_Allreduce(one, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_SELF, error)
  end subroutine

  subroutine f_irecv_send_wait() bind(c)
    integer :: error, request

    call MPI_Irecv(inbox, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, request, error)
    call MPI_Send(outbox, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end subroutine
end module
