! Procedures of a module, and one that is contained in another.
module grid
    implicit none
    integer, parameter :: n = 1000
    double precision :: values(n)
contains
    subroutine relax(times)
        integer, intent(in) :: times
        integer :: i
        do i = 1, times
            call sweep()
        end do
    contains
        subroutine sweep()
            values(2:n-1) = 0.5d0 * (values(1:n-2) + values(3:n))
        end subroutine
    end subroutine
end module

program modules
    use grid
    implicit none
    integer :: step
    values = 0
    values(1) = 1
    do step = 1, 7
        call relax(11)
    end do
    print '(f10.6)', values(2)
end program
