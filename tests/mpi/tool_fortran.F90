! What tool.c does, in Fortran: whether a tool in C sees it, is the MPI's affair; with fvmpi it sees as much.
program tool_fortran
  implicit none
  include 'mpif.h'
  integer :: i, one, total, error

  one = 1
  call MPI_Init(error)
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  do i = 1, 5
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
