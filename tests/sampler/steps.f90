! Two kinds of step, one three times as long as the other.
program steps
    implicit none
    real(8) :: sum
    integer :: i

    sum = 0
    do i = 1, 3000
        call step(merge(30000, 10000, mod(i, 2) == 0), sum)
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
