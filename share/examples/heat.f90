! The example of the tutorial (share/doc/tutorial.md) in Fortran: heat spreads on a plate, part of which burns. Ranks have columns of it, and exchange
! those at their borders.
!
!     mpifort -g -O2 -cpp heat.f90 -o heat && mpiexec -n 2 ./heat
!
! It has three problems, which -DSTEP=1, 2 and 3 mend one by one. It prints the heat of the plate, which is the same in all of them.
#ifndef STEP
#define STEP 0
#endif
module plate
    use mpi
    implicit none
    integer, parameter :: columns = 96, height = 4096, fire = columns / 4, stages = 4, rounds = 160, every = 4, word = 6
    real(8), allocatable :: now(:, :), next(:, :)
    integer :: rank, ranks, first, mine, err ! the first column of this rank, and how many it has; 0 and mine + 1 are its neighbours'
contains
    ! What a column of the plate takes to compute, roughly: the last ones burn.
    real(8) function cost(i)
        integer, intent(in) :: i
        cost = merge(17d0, 1d0, i > columns - fire)
    end function

    ! The first column of a rank.
    integer function begin_of(of)
        integer, intent(in) :: of
#if STEP < 1
        begin_of = columns * of / ranks + 1 ! problem 1: as many columns for each, though some burn
#else
        real(8) :: all, before
        integer :: i
        all = 0
        do i = 1, columns
            all = all + cost(i)
        end do
        before = 0
        begin_of = columns + 1
        do i = 1, columns
            if (before + 0.5d0 * cost(i) >= all * of / ranks) then
                begin_of = i
                return
            end if
            before = before + cost(i)
        end do
#endif
    end function

    subroutine exchange_with(other, sent, received)
        integer, intent(in) :: other
        real(8), intent(in) :: sent(height)
        real(8), intent(out) :: received(height)
#if STEP < 2
        integer :: i
        do i = 1, height ! problem 2: a message for each cell
            call MPI_Sendrecv(sent(i), 1, MPI_DOUBLE_PRECISION, other, 0, received(i), 1, MPI_DOUBLE_PRECISION, other, 0, &
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
        end do
#else
        call MPI_Sendrecv(sent, height, MPI_DOUBLE_PRECISION, other, 0, received, height, MPI_DOUBLE_PRECISION, other, 0, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
#endif
    end subroutine

    subroutine exchange
        if (rank > 0) call exchange_with(rank - 1, now(:, 1), now(:, 0))
        if (rank < ranks - 1) call exchange_with(rank + 1, now(:, mine), now(:, mine + 1))
    end subroutine

    subroutine diffuse
        integer :: i, j
        do i = 1, mine
            do j = 2, height - 1
                next(j, i) = now(j, i) + 0.2d0 * (now(j, i - 1) + now(j, i + 1) + now(j - 1, i) + now(j + 1, i) - 4 * now(j, i))
            end do
        end do
    end subroutine

    subroutine react
        integer :: i, j, stage
        real(8) :: heat
        do i = 1, mine
            if (first + i - 1 > columns - fire) then
                do j = 2, height - 1
                    do stage = 1, stages
                        heat = abs(next(j, i))
                        next(j, i) = next(j, i) + 2d-4 * exp(-1 / (1 + heat)) * (1 + heat)**0.3d0 * (1 + sin(heat))
                    end do
                end do
            end if
        end do
    end subroutine

    ! Cells as words of a picture: whole numbers, brighter where it is dark. As it lies, columns become rows.
    subroutine draw(cells, count, text)
        integer, intent(in) :: count
        real(8), intent(in) :: cells(count)
        character, intent(out) :: text(word * count)
        integer :: i, digit, value
        do i = 1, count
            value = int(99999 * min((0.01d0 * abs(cells(i)))**0.45d0, 1d0))
            do digit = word - 1, 1, -1
                text((i - 1) * word + digit) = char(48 + mod(value, 10))
                value = value / 10
            end do
            text(i * word) = merge(new_line('a'), ' ', mod(i, height) == 0)
        end do
    end subroutine

    ! A picture of the plate.
    subroutine save_plate
        character(len=*), parameter :: name = 'plate.pgm'
        character(len=32) :: head
        character, allocatable :: text(:)
#if STEP < 3
        real(8), allocatable :: all(:, :) ! problem 3: rank 0 draws all of it
        integer :: counts(ranks), places(ranks), unit, i
#else
        integer :: out
        integer(MPI_OFFSET_KIND) :: place
#endif
        write (head, '(a, i0, a, i0, a)') 'P2 ', height, ' ', columns, ' 99999' // new_line('a')
#if STEP < 3
        do i = 1, ranks
            places(i) = (begin_of(i - 1) - 1) * height
            counts(i) = (begin_of(i) - begin_of(i - 1)) * height
        end do
        allocate (all(height, merge(columns, 1, rank == 0)))
        call MPI_Gatherv(now(1, 1), mine * height, MPI_DOUBLE_PRECISION, all, counts, places, MPI_DOUBLE_PRECISION, 0, &
                         MPI_COMM_WORLD, err)
        if (rank == 0) then
            allocate (text(word * height * columns))
            call draw(all, height * columns, text)
            open (newunit=unit, file=name, access='stream', form='unformatted', status='replace')
            write (unit) trim(head), text
            close (unit)
        end if
#else
        allocate (text(word * height * mine))
        call draw(now(:, 1:mine), height * mine, text)
        call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, out, err)
        place = 0
        if (rank == 0) call MPI_File_write_at(out, place, head, len_trim(head), MPI_CHARACTER, MPI_STATUS_IGNORE, err)
        place = len_trim(head) + int(first - 1, MPI_OFFSET_KIND) * height * word
        call MPI_File_write_at_all(out, place, text, word * height * mine, MPI_CHARACTER, MPI_STATUS_IGNORE, err)
        call MPI_File_close(out, err)
#endif
    end subroutine
end module

program heat
    use plate
    implicit none
    integer :: round
    real(8) :: own, all
    call MPI_Init(err)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
    first = begin_of(rank)
    mine = begin_of(rank + 1) - first
    allocate (now(height, 0:mine + 1), next(height, 0:mine + 1))
    now = 0
    next = 0
    now(height / 2, 1:mine) = 100
    do round = 0, rounds - 1
        call exchange
        call diffuse
        call react
        call swap
        if (mod(round, every) == every - 1) call save_plate
    end do
    own = sum(now(:, 1:mine))
    call MPI_Allreduce(own, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, err)
    if (rank == 0) print '(a, f0.3)', 'heat ', all
    call MPI_Finalize(err)
contains
    subroutine swap
        real(8), allocatable :: old(:, :)
        call move_alloc(now, old)
        call move_alloc(next, now)
        call move_alloc(old, next)
    end subroutine
end program
