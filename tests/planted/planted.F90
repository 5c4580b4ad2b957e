! As planted.c's imbalance: rank 1 has more to do in react().
module chemistry
  use iso_fortran_env, only: real64, int64
  implicit none
  real(real64) :: field(1000) = 1
contains
  ! So much CPU time, whatever the machine.
  subroutine compute(seconds)
    real(real64), intent(in) :: seconds
    real(real64) :: since, now
    call cpu_time(since)
    do
      field = field * 1.0000001_real64 + 1e-9_real64
      field = sqrt(field * field + 1e-9_real64)
      call cpu_time(now)
      if (now - since >= seconds) exit
    end do
  end subroutine

  subroutine diffuse()
    call compute(0.004_real64)
    field(1) = field(1) + 1
  end subroutine

  subroutine react(seconds)
    real(real64), intent(in) :: seconds
    call compute(seconds)
    field(2) = field(2) + 1
  end subroutine
end module

program planted
  use mpi
  use chemistry
  implicit none
  integer, parameter :: steps = 60
  integer :: rank, ranks, step, ierror
  integer(int64) :: begin, before, after, rate
  real(real64) :: in_mpi, mine(2), total, most, all(2), norm
  character(10) :: sound

  call get_command_argument(1, sound)
  call system_clock(begin, rate)
  call MPI_Init(ierror)
  call system_clock(after)
  in_mpi = real(after - begin, real64) / rate
  call PMPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call PMPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  do step = 1, steps
    call diffuse()
    call react(merge(0.012_real64, 0.002_real64, rank == 1 .and. sound == ''))
    call system_clock(before)
    call MPI_Allreduce(field(3), norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call system_clock(after)
    in_mpi = in_mpi + real(after - before, real64) / rate
  end do
  mine = [real(after - begin, real64) / rate - in_mpi, real(after - begin, real64) / rate]
  call PMPI_Allreduce(mine, all, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  call PMPI_Allreduce(mine(1), most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
  total = all(2)
  if (rank == 0) print '(a, 3(a, f0.6))', 'truth', ' lost_s ', most * ranks - all(1), ' total_s ', total, ' mpi_s ', total - all(1)
  call MPI_Finalize(ierror)
end program
