! Touches pages in a section, and prints how many faults getrusage() says that were.
program known
    use mpi
    use fvmpi
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        integer(c_int) function getrusage(who, usage) bind(c)
            import :: c_int, c_long
            integer(c_int), value :: who
            integer(c_long) :: usage(18)
        end function
    end interface
    integer(c_int), parameter :: thread = 1
    integer(c_long) :: before(18), after(18)
    real(c_double), allocatable :: values(:)
    integer :: rank, error
    integer(c_int) :: ignored

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call fvmpi_section_begin("touch")
    ignored = getrusage(thread, before)
    allocate(values(4000000))
    values = rank
    ignored = getrusage(thread, after)
    call fvmpi_section_end("touch")
    print '(a, i0, a, i0)', 'faults ', rank, ' ', after(9) + after(10) - before(9) - before(10)
    if (values(17) < 0) print *, values(17)
    call MPI_Finalize(error)
end program
