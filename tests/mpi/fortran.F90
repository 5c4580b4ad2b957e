! Calls through the Fortran bindings: compiled with -DMPIF_H, -DUSE_MPI and -DUSE_F08. What must be in the
! report, at these lines and not at the binding's, for rank r of P (see counts.t):
!
! @ranks 2 4
! @ MPI_Irecv          calls::requests     count=3          received=3*40
! @ MPI_Isend          calls::requests     count=3          sent=3*40
! @ MPI_Waitall        calls::requests     count=3
! @ MPI_Irecv          calls::singly       count=5          received=5*20
! @ MPI_Send           calls::singly       count=5          sent=5*20
! @ MPI_Wait           calls::singly       count=1
! @ MPI_Test           calls::singly       count=*
! @ MPI_Waitany        calls::singly       count=1
! @ MPI_Waitsome       calls::singly       count=1
! @ MPI_Testall        calls::singly       count=*
! @ MPI_Get_count      calls::singly       count=1
! @ MPI_Send_init      calls::persistent   count=1
! @ MPI_Recv_init      calls::persistent   count=1
! @ MPI_Start          calls::persistent   count=2          received=2*12
! @ MPI_Startall       calls::persistent   count=2          sent=2*12
! @ MPI_Wait           calls::persistent   count=4
! @ MPI_Request_free   calls::persistent   count=2
! @ MPI_Sendrecv       calls::blocking     count=1          sent=16         received=16
! @ MPI_Send           calls::blocking     count=r==0       sent=8*(r==0)
! @ MPI_Recv           calls::blocking     count=r==1       received=8*(r==1)
! @ MPI_Send           calls::nobody       count=1
! @ MPI_Barrier        calls::collective   count=1
! @ MPI_Bcast          calls::collective   count=1          sent=40*(r==0)  received=40*(r>0)
! @ MPI_Allreduce      calls::collective   count=1          sent=8          received=8
! @ MPI_Reduce         calls::collective   count=1          sent=8          received=8*(r==0)
! @ MPI_Allgather      calls::collective   count=1          sent=4          received=4*P
! @ MPI_Gatherv        calls::collective   count=1          sent=4*(r+1)    received=4*sum(range(P+1))*(r==0)
! @ MPI_Alltoallv      calls::collective   count=1          sent=4*P        received=4*P
! @ MPI_Alltoallw      calls::collective   count=1          sent=4*P        received=4*P
! @ MPI_Iallreduce     calls::collective   count=1          sent=8          received=8
! @ MPI_Wait           calls::collective   count=1
! @ MPI_Comm_split     calls::communicators count=1
! @ MPI_Comm_set_name  calls::communicators count=1
! @ MPI_Allreduce      calls::communicators count=1         sent=4          received=4
! @ MPI_Comm_free      calls::communicators count=1
! @ MPI_Comm_dup       calls::absent count=1
! @ MPI_Comm_set_errhandler calls::absent count=1
! @ MPI_Send           calls::absent count=1 sites=2
! @ MPI_Comm_free      calls::absent count=1
! @ MPI_Pcontrol       calls::paused       count=1
! @ MPI_Init           MAIN__      count=1
! @ MPI_Comm_rank      MAIN__      count=1
! @ MPI_Comm_size      MAIN__      count=1
! @ MPI_Finalize       MAIN__      count=1

#if defined(USE_F08)
#define REQUEST type(MPI_Request)
#define STATUS type(MPI_Status)
#define COMM type(MPI_Comm)
#define TYPE_OF type(MPI_Datatype)
#define SOURCE_OF(s) s%MPI_SOURCE
#else
#define REQUEST integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define COMM integer
#define TYPE_OF integer
#define SOURCE_OF(s) s(MPI_SOURCE)
#endif

module calls
#if defined(USE_F08)
  use mpi_f08
  implicit none
#elif defined(USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
contains

subroutine check(ok, what)
  logical, intent(in) :: ok
  character(len=*), intent(in) :: what
  if (.not. ok) then
    print *, 'wrong: ', what
    error stop 1
  end if
end subroutine

! Sentinels instead of statuses.
subroutine requests(me, n)
  integer :: me, n, i, ierror, a(10), b(10)
  REQUEST :: req(2)
  do i = 1, 3
    a = me
    call MPI_Irecv(b, 10, MPI_INTEGER, modulo(me - 1, n), 7, MPI_COMM_WORLD, req(1), ierror)
    call MPI_Isend(a, 10, MPI_INTEGER, modulo(me + 1, n), 7, MPI_COMM_WORLD, req(2), ierror)
    call MPI_Waitall(2, req, MPI_STATUSES_IGNORE, ierror)
    call check(b(10) == modulo(me - 1, n), 'requests')
  end do
end subroutine

! One request by each completion call; messages are shorter than the buffers.
subroutine singly(me, n)
  integer :: me, n, i, ierror, a(5), b(9, 5), indices(1), outcount, index, got
  REQUEST :: req(5)
  STATUS :: st
  logical :: flag
  a = me
  do i = 1, 5
    call MPI_Irecv(b(1, i), 9, MPI_INTEGER, modulo(me - 1, n), i, MPI_COMM_WORLD, req(i), ierror)
  end do
  do i = 1, 5
    call MPI_Send(a, 5, MPI_INTEGER, modulo(me + 1, n), i, MPI_COMM_WORLD, ierror)
  end do
  call MPI_Wait(req(1), st, ierror)
  call check(SOURCE_OF(st) == modulo(me - 1, n), 'source')
  call MPI_Get_count(st, MPI_INTEGER, got, ierror)
  call check(got == 5, 'count')
  flag = .false.
  do while (.not. flag)
    call MPI_Test(req(2), flag, MPI_STATUS_IGNORE, ierror)
  end do
  call MPI_Waitany(1, req(3:3), index, MPI_STATUS_IGNORE, ierror)
  call MPI_Waitsome(1, req(4:4), outcount, indices, MPI_STATUSES_IGNORE, ierror)
  call check(outcount == 1, 'outcount')
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(1, req(5:5), flag, MPI_STATUSES_IGNORE, ierror)
  end do
  call check(all(req == MPI_REQUEST_NULL), 'requests')
end subroutine

subroutine persistent(me, n)
  integer :: me, n, i, k, ierror, a(3), b(8)
  REQUEST :: req(2)
  a = me
  call MPI_Recv_init(b, 8, MPI_INTEGER, modulo(me - 1, n), 9, MPI_COMM_WORLD, req(1), ierror)
  call MPI_Send_init(a, 3, MPI_INTEGER, modulo(me + 1, n), 9, MPI_COMM_WORLD, req(2), ierror)
  do i = 1, 2
    call MPI_Start(req(1), ierror)
    call MPI_Startall(1, req(2:2), ierror)
    do k = 1, 2
      call MPI_Wait(req(k), MPI_STATUS_IGNORE, ierror)
    end do
  end do
  do i = 1, 2
    call MPI_Request_free(req(i), ierror)
  end do
end subroutine

subroutine blocking(me, n)
  integer :: me, n, ierror, a(4), b(4)
  STATUS :: st
  a = me
  call MPI_Sendrecv(a, 4, MPI_INTEGER, modulo(me + 1, n), 1, b, 4, MPI_INTEGER, modulo(me - 1, n), 1, MPI_COMM_WORLD, st, ierror)
  call check(SOURCE_OF(st) == modulo(me - 1, n), 'sendrecv')
  if (me == 0) call MPI_Send(a, 1, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, ierror)
  if (me == 1) call MPI_Recv(b, 2, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
end subroutine

subroutine nobody()
  integer :: ierror, a(4)
  a = 0
  call MPI_Send(a, 4, MPI_INTEGER, MPI_PROC_NULL, 2, MPI_COMM_WORLD, ierror)
end subroutine

subroutine collective(me, n)
  integer :: me, n, i, ierror, a(10), s(2), all_of(16), mine(16), counts(16), places(16), room(200)
  TYPE_OF :: types(16)
  REQUEST :: req
  a = me
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Bcast(a, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call check(all(a == 0), 'bcast')
  s = 1
  call MPI_Allreduce(MPI_IN_PLACE, s, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(s(2) == n, 'allreduce')
  call MPI_Reduce(s, a, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  all_of = 0
  all_of(me + 1) = me
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all_of(n) == n - 1, 'allgather')
  do i = 1, 16
    counts(i) = i
    places(i) = i * (i - 1) / 2
    mine(i) = me
    types(i) = MPI_INTEGER
  end do
  call MPI_Gatherv(mine, me + 1, MPI_INTEGER, room, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  do i = 1, 16
    counts(i) = 1
    places(i) = i - 1
  end do
  call MPI_Alltoallv(mine, counts, places, MPI_INTEGER, all_of, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  places = 4 * places
  call MPI_Alltoallw(mine, counts, places, types, all_of, counts, places, types, MPI_COMM_WORLD, ierror)
  call check(all_of(n) == n - 1, 'alltoallw')
  call MPI_Iallreduce(MPI_IN_PLACE, s, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, req, ierror)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierror)
end subroutine

subroutine communicators(me)
  integer :: me, ierror, s(1)
  COMM :: half
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(me, 2), me, half, ierror)
  call MPI_Comm_set_name(half, 'half of it', ierror)
  call MPI_Allreduce([me], s, 1, MPI_INTEGER, MPI_SUM, half, ierror)
  call MPI_Comm_free(half, ierror)
  call check(half == MPI_COMM_NULL, 'free')
end subroutine

! In mpi_f08 ierror may be left out; where errors return, nothing is known of the call but that.
subroutine absent()
  COMM :: dup
  integer :: b(4)
#ifdef USE_F08
#define IERROR
#else
  integer :: ierror
#define IERROR , ierror
#endif
  b = 1
  call MPI_Comm_dup(MPI_COMM_WORLD, dup IERROR)
  call MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN IERROR)
  call MPI_Send(b, 1, MPI_DATATYPE_NULL, 0, 0, dup IERROR)
  call MPI_Send(b, 1, MPI_INTEGER, 99, 0, dup IERROR)
  call MPI_Comm_free(dup IERROR)
end subroutine

! Nothing between the two is counted; of the calls themselves, the second.
subroutine paused()
  integer :: ierror
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Pcontrol(1)
end subroutine

end module

program fortran ! main calls MAIN__
  use calls ! main calls MAIN__
  implicit none
  integer :: me, n, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call requests(me, n)
  call singly(me, n)
  call persistent(me, n)
  call blocking(me, n)
  call nobody()
  call collective(me, n)
  call communicators(me)
  call absent()
  call paused()
  call MPI_Finalize(ierror)
end program ! main calls MAIN__
