! Two kinds of step, one three times as long as the other, for a second of CPU time.
program steps
    implicit none
    real(8) :: sum, now
    integer :: i

    sum = 0
    now = 0
    i = 0
    do while (now < 1)
        i = i + 1
        call step(merge(30000, 10000, mod(i, 2) == 0), sum)
        call cpu_time(now)
    end do
    print '(a, l2)', 'finite', sum < huge(sum)
contains
    subroutine step(n, sum)
        integer, intent(in) :: n
        real(8), intent(inout) :: sum
        integer :: k

        do k = 1, n
            sum = sum * 0.999d0 + 1d0 / k
        end do
    end subroutine step
end program steps
