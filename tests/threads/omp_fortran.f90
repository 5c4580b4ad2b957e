! Fortran's names of locks, and what gfortran makes of regions. Prints "truth NAME NS LESS" (measured.py).
program omp_fortran
    use omp_lib
    use iso_c_binding
    implicit none
    interface
        integer(c_int64_t) function lost_ns() bind(c, name='lost_ns_')
            import c_int64_t
        end function
    end interface
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer :: i, total
    integer(c_int64_t) :: lost
    real(8) :: waited, before

    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    total = 0
    waited = 0
    lost = 0
    !$omp parallel num_threads(3) reduction(+: waited, lost) private(before)
    lost = lost - lost_ns()
    before = omp_get_wtime()
    call omp_set_lock(lock)
    waited = waited + omp_get_wtime() - before
    lost = lost + lost_ns()
    call hold(0.02d0)
    total = total + 1
    call omp_unset_lock(lock)
    !$omp end parallel
    write (*, '(a,i0,1x,i0)') 'truth lock ', int(waited * 1d9, 8), lost
    !$omp parallel do num_threads(3) schedule(dynamic)
    do i = 1, 9
        call omp_set_nest_lock(nest)
        if (omp_test_nest_lock(nest) == 2) then
            !$omp critical (tally)
            total = total + i
            !$omp end critical (tally)
            call omp_unset_nest_lock(nest)
        end if
        call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel do
    if (omp_test_lock(lock)) call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
    write (*, '(a,i0)') 'total ', total
contains
    subroutine hold(seconds) ! without a processor
        use iso_c_binding
        real(8), intent(in) :: seconds
        real(8) :: until
        integer :: ignored
        interface
            integer(c_int) function usleep(microseconds) bind(c)
                import c_int
                integer(c_int), value :: microseconds
            end function
        end interface
        until = omp_get_wtime() + seconds
        do while (omp_get_wtime() < until)
            ignored = usleep(int((until - omp_get_wtime()) * 1d6, c_int))
        end do
    end subroutine
end program
