! The procedures of newer.c in Fortran: rank 0 receives a message of 40 and one of 80 bytes in each of three ways, frees the requests.
program newer
  implicit none
  include 'mpif.h'
  integer :: ierror, me, way, i, requests(2), statuses(MPI_STATUS_SIZE, 2), indices(2), n, index, data(20, 2)
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  do way = 1, 3
     do i = 1, 2
        if (me == 1) call MPI_Send(data(1, i), 10 * i, MPI_INTEGER, 0, i, MPI_COMM_WORLD, ierror)
        if (me == 0) call MPI_Irecv(data(1, i), 10 * i, MPI_INTEGER, 1, i, MPI_COMM_WORLD, requests(i), ierror)
     end do
     if (me == 0) call receive()
     call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call MPI_Finalize(ierror)
contains
  subroutine receive()
    flag = .false.
    n = 0
    if (way == 1) then
       do while (.not. flag)
          call MPI_Request_get_status_all(2, requests, flag, statuses, ierror)
       end do
    else if (way == 2) then
       do i = 1, 2
          flag = .false.
          do while (.not. flag)
             call MPI_Request_get_status_any(1, requests(i), index, flag, MPI_STATUS_IGNORE, ierror)
          end do
          if (index /= 1) stop 1
       end do
    else
       do while (n < 2)
          call MPI_Request_get_status_some(2, requests, n, indices, statuses, ierror)
       end do
       if (indices(1) /= 1 .or. indices(2) /= 2) stop 1
    end if
    do i = 1, 2
       call MPI_Request_free(requests(i), ierror)
    end do
  end subroutine receive
end program newer
