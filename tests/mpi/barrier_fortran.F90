! The last rank comes late to collectives of both Fortran bindings, and calls one with a bad argument first.
! Prints the sums, and on stderr how
! much later than rank 0 it came, how long rank 0 was in the call, and what it lost meanwhile (lost.h).
module late_f08
  use iso_fortran_env, only : int64
  use iso_c_binding, only : c_int64_t
  use mpi_f08
  implicit none
  interface
    integer(c_int64_t) function lost_ns() bind(c, name='lost_ns_')
      import c_int64_t
    end function
  end interface
  integer(c_int64_t) :: lost
contains
  ! A clock that all ranks of a node share, as MPI_Wtime() need not be: that of Open MPI counts from a rank's MPI_Init().
  double precision function now()
    integer(int64) :: count, rate

    call system_clock(count, rate)
    now = dble(count) / rate
  end function

  subroutine allreduction(me, ranks)
    integer, intent(in) :: me, ranks
    integer :: sum(2)
    double precision :: began

    call PMPI_Barrier(MPI_COMM_WORLD)
    call nap(me == ranks - 1, began)
    call MPI_Allreduce([me, 1], sum, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call tell('allreduction', me, ranks, began)
    if (me == 0) print '(a,2i4)', 'f08', sum
  end subroutine

  subroutine nap(late, began)
    logical, intent(in) :: late
    double precision, intent(out) :: began
    double precision :: begin

    lost = lost_ns()
    begin = now()
    began = begin
    do while (late .and. began - begin < 0.06d0)
      began = now()
    end do
  end subroutine

  subroutine tell(what, me, ranks, began)
    character(*), intent(in) :: what
    integer, intent(in) :: me, ranks
    double precision, intent(in) :: began
    double precision :: took, late

    took = now() - began
    lost = lost_ns() - lost
    if (me == ranks - 1) call PMPI_Send(began, 1, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD)
    if (me /= 0) return
    call PMPI_Recv(late, 1, MPI_DOUBLE_PRECISION, ranks - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    write (0, '(a,3f10.6)') 'late '//what, late - began, took, dble(lost) * 1d-9
  end subroutine
end module

subroutine broadcast(me, ranks)
  use late_f08, only : nap, tell
  implicit none
  include 'mpif.h'
  integer, intent(in) :: me, ranks
  integer :: value, code, class
  double precision :: began

  value = me
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
  call PMPI_Barrier(MPI_COMM_WORLD, code)
  call nap(me == ranks - 1, began)
  if (me == ranks - 1) then
    call MPI_Bcast(value, -1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    call MPI_Error_class(code, class, code)
    if (class /= MPI_ERR_COUNT) call MPI_Abort(MPI_COMM_WORLD, 99, code)
  end if
  call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
  call tell('broadcast', me, ranks, began)
  if (me == ranks - 1) print '(a,i4)', 'mpif', value
end subroutine

program barrier_fortran
  use mpi_f08
  use late_f08
  implicit none
  integer :: me, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call allreduction(me, ranks)
  call broadcast(me, ranks)
  call MPI_Finalize()
end program
