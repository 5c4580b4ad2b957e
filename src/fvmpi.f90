! fvmpi's sections for Fortran. A module file is read by the compiler that wrote it only, so this source is what is
! installed: compile it with the compiler of the program (mpifort -c fvmpi.f90), whichever MPI that is of.
!
!     use fvmpi
!     call fvmpi_section_begin("solve")
!     ...
!     call fvmpi_section_end("solve")
!
! See fvmpi.h for what a section is. `number` and `level` are 0 unless given. Blanks at a name's end do not count. Without
! fvmpi in the process both do nothing; no library is needed. (A program that is linked with the static libfvmpi.a must export
! the library's functions: -rdynamic.)
module fvmpi
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: fvmpi_section_begin, fvmpi_section_end

  abstract interface
    subroutine section_function(name, number, level) bind(c)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: number, level
    end subroutine
  end interface

  interface
    function c_dlsym(handle, name) bind(c, name="dlsym") result(address)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function
  end interface

  ! The first call finds out whether fvmpi is there. Threads that do so at the same time find the same.
  integer, parameter :: unknown = 0, present_ = 1, absent = 2
  integer, volatile, save :: library = unknown
  procedure(section_function), pointer, save :: section_begin => null(), section_end => null()

contains

  subroutine fvmpi_section_begin(name, number, level)
    character(len=*), intent(in) :: name
    integer, intent(in), optional :: number, level

    if (library == absent) return
    if (library == unknown) call find()
    if (library == present_) call forward(section_begin, name, number, level)
  end subroutine

  subroutine fvmpi_section_end(name, number, level)
    character(len=*), intent(in) :: name
    integer, intent(in), optional :: number, level

    if (library == absent) return
    if (library == unknown) call find()
    if (library == present_) call forward(section_end, name, number, level)
  end subroutine

  subroutine find()
    type(c_funptr) :: found_begin, found_end

    found_begin = c_dlsym(c_null_ptr, "fvmpi_section_begin_v1" // c_null_char)
    found_end = c_dlsym(c_null_ptr, "fvmpi_section_end_v1" // c_null_char)
    if (c_associated(found_begin) .and. c_associated(found_end)) then
      call c_f_procpointer(found_begin, section_begin)
      call c_f_procpointer(found_end, section_end)
      library = present_
    else
      library = absent
    end if
  end subroutine

  subroutine forward(function, name, number, level)
    procedure(section_function), pointer, intent(in) :: function
    character(len=*), intent(in) :: name
    integer, intent(in), optional :: number, level
    character(kind=c_char) :: copy(64)
    integer(c_int) :: c_number, c_level
    integer :: i, length

    length = min(len_trim(name), size(copy) - 1)
    do i = 1, length
      copy(i) = name(i:i)
    end do
    copy(length + 1) = c_null_char
    c_number = 0
    c_level = 0
    if (present(number)) c_number = int(number, c_int)
    if (present(level)) c_level = int(level, c_int)
    call function(copy, c_number, c_level)
  end subroutine

end module
