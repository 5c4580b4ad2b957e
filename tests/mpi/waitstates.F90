! The main patterns of waitstates.c from Fortran, printed and judged the same way; compiled with -DMPIF_H and
! -DUSE_MPI. See there for the lines below.
!
! @ late_sender      waitstates::late_send      1      MPI_Recv      <- 0 MPI_Send
! @ late_sender      waitstates::late_isend     1      MPI_Wait      <- 0 MPI_Isend
! @ late_sender      waitstates::late_waitall   1      MPI_Waitall   <- 0 MPI_Isend
! @ late_receiver    waitstates::late_recv      0      MPI_Ssend     <- 1 MPI_Recv
! @ wait_at_nxn      waitstates::nxn_allreduce  0,1    MPI_Allreduce <- 2 MPI_Allreduce
! @ wait_at_nxn      waitstates::nxn_iallreduce 1,2    MPI_Wait      <- 0 MPI_Iallreduce
! @ wait_at_barrier  waitstates::late_barrier   0,2    MPI_Barrier   <- 1 MPI_Barrier
! @ late_broadcast   waitstates::late_bcast     0,2    MPI_Bcast     <- 1 MPI_Bcast
! @ early_reduce     waitstates::early_reduce   0      MPI_Reduce    <- 2 MPI_Reduce until 1
! @ late_reduce      waitstates::early_reduce   0      MPI_Reduce    <- 2 MPI_Reduce from 1

module waitstates
#if defined(USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer, parameter :: rounds = 3, i8 = selected_int_kind(18)
  integer :: me, ranks, this, ierror, a(4), b(4)
  double precision :: noted(2, rounds), began(rounds)
  integer(i8) :: queued = 0
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      use iso_c_binding
      integer(c_int), value :: microseconds
    end function
    integer(c_int64_t) function queued_ns() bind(c, name='queued_ns_')
      use iso_c_binding
    end function
  end interface
contains

! CLOCK_MONOTONIC, the same for all ranks.
double precision function now()
  integer(i8) :: count, rate
  call system_clock(count, rate)
  now = dble(count) / dble(rate)
end function

subroutine slow(times)
  integer :: times
  if (usleep(times * 40000) /= 0) error stop 1
end subroutine

! Where all ranks sleep for a moment none keeps another from its core.
subroutine together()
  double precision :: mine, latest
  call pmpi_barrier(MPI_COMM_WORLD, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  mine = now()
  if (this <= rounds) began(this) = mine
  call pmpi_allreduce(mine, latest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
  if (usleep(max(0, int((latest - now()) * 1d6) + 3000)) /= 0) error stop 1
end subroutine

subroutine enter()
  noted(1, this) = now()
end subroutine

subroutine leave()
  noted(2, this) = now()
end subroutine

subroutine tell(name)
  character(len=*) :: name
  double precision :: mine(4, rounds), all(4, rounds, 8)
  integer :: i, r
  mine(1:2, :) = noted
  mine(3, :) = began
  mine(4, :) = 1d-9 * dble(queued_ns() - queued)
  queued = queued_ns()
  noted = 0
  call pmpi_gather(mine, 4 * rounds, MPI_DOUBLE_PRECISION, all, 4 * rounds, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
  if (me /= 0) return
  do r = 1, ranks
    do i = 1, rounds
      if (all(1, i, r) > 0) print '(3a,2i3,2f18.7)', 'noted waitstates::', name, ' 0', i - 1, r - 1, all(1:2, i, r)
      print '(3a,2i3,2f18.7)', 'noted waitstates::', name, ' 2', i - 1, r - 1, all(3, i, r), all(3, i, r)
    end do
    print '(3a,i3,f18.7)', 'queued waitstates::', name, ' ', r - 1, all(4, 1, r)
  end do
end subroutine

subroutine late_send()
  do this = 1, rounds
    call together()
    if (me == 0) then
      call slow(1)
      call enter()
      call MPI_Send(a, 4, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
    else if (me == 1) then
      call enter()
      call MPI_Recv(b, 4, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call leave()
    end if
  end do
  call together()
  call tell('late_send')
end subroutine

subroutine late_isend()
  integer :: request
  do this = 1, rounds
    call together()
    if (me == 0) then
      call slow(1)
      call enter()
      call MPI_Isend(a, 4, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, request, ierror)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    else if (me == 1) then
      call MPI_Irecv(b, 4, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, request, ierror)
      call enter()
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call leave()
    end if
  end do
  call together()
  call tell('late_isend')
end subroutine

subroutine late_waitall()
  integer :: request(2)
  do this = 1, rounds
    call together()
    if (me > 1) cycle
    call MPI_Irecv(b, 4, MPI_INTEGER, 1 - me, 1, MPI_COMM_WORLD, request(1), ierror)
    if (me == 0) call slow(1)
    if (me == 0) call enter()
    call MPI_Isend(a, 4, MPI_INTEGER, 1 - me, 1, MPI_COMM_WORLD, request(2), ierror)
    if (me == 1) call enter()
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierror)
    if (me == 1) call leave()
  end do
  call together()
  call tell('late_waitall')
end subroutine

subroutine late_recv()
  do this = 1, rounds
    call together()
    if (me == 0) then
      call enter()
      call MPI_Ssend(a, 4, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
      call leave()
    else if (me == 1) then
      call slow(1)
      call enter()
      call MPI_Recv(b, 4, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end if
  end do
  call together()
  call tell('late_recv')
end subroutine

subroutine nxn_allreduce()
  do this = 1, rounds
    call together()
    if (me == 2) call slow(1)
    call enter()
    call MPI_Allreduce(a, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call leave()
  end do
  call together()
  call tell('nxn_allreduce')
end subroutine

! Rank 0 posts late; the others wait where they complete.
subroutine nxn_iallreduce()
  integer :: request
  do this = 1, rounds
    call together()
    if (me == 0) call slow(1)
    if (me == 0) call enter()
    call MPI_Iallreduce(a, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    if (me /= 0) call enter()
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call leave()
  end do
  call together()
  call tell('nxn_iallreduce')
end subroutine

subroutine late_barrier()
  do this = 1, rounds
    call together()
    if (me == 1) call slow(1)
    call enter()
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call leave()
  end do
  call together()
  call tell('late_barrier')
end subroutine

subroutine late_bcast()
  do this = 1, rounds
    call together()
    if (me == 1) call slow(1)
    call enter()
    call MPI_Bcast(a, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    call leave()
  end do
  call together()
  call tell('late_bcast')
end subroutine

! The root waits for the first of the others.
subroutine early_reduce()
  do this = 1, rounds
    call together()
    call slow(me)
    call enter()
    call MPI_Reduce(a, b, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    call leave()
  end do
  call together()
  call tell('early_reduce')
end subroutine
end module

program main
  use waitstates
  call MPI_Init(ierror)
  call pmpi_comm_rank(MPI_COMM_WORLD, me, ierror)
  call pmpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  a = 0
  noted = 0
  call late_send()
  call late_isend()
  call late_waitall()
  call late_recv()
  call nxn_allreduce()
  call nxn_iallreduce()
  call late_barrier()
  call late_bcast()
  call early_reduce()
  call MPI_Finalize(ierror)
end program
