! The module for Fortran, with a label: with number and level and without, a name with blanks at its end, and one that is too long; a pause.
program sections
  use fvmpi
  implicit none
  character(len=20) :: padded = "padded"
  character(len=100) :: longer = repeat("n", 100)
  integer :: i

  do i = 1, 4
    call fvmpi_section_begin("plain")
    call fvmpi_section_begin(padded, i)
    call fvmpi_section_end("padded", i)
    call fvmpi_section_end("plain")
    call fvmpi_section_begin("level", 0, 1)
    call fvmpi_section_end("level", 0, 1)
  end do
  call fvmpi_section_begin(longer, level=0, number=7)
  call fvmpi_section_end(longer, 7)
  call fvmpi_pause()
  call fvmpi_section_begin("paused")
  call fvmpi_section_end("paused")
  call fvmpi_resume()
  call fvmpi_section_begin("resumed")
  call fvmpi_section_end("resumed")
  call fvmpi_label("last  ")
  print '(a)', "done"
end program
