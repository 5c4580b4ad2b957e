! SPDX-License-Identifier: BSD-3-Clause
! fvmpi's sections, labels and pauses for Fortran. Only the compiler that wrote a module file reads it, so this source is installed.
! Compile it with the program's compiler (mpifort -c fvmpi.f90), of any MPI.
!
!     use fvmpi
!     call fvmpi_section_begin("solve")
!     ...
!     call fvmpi_section_end("solve")
!
! fvmpi.h says what a section is. `number` and `level` are default integers, 0 unless given. Trailing blanks of a name do not count.
! All may be called from any thread, and report no errors.
!
!     call fvmpi_pause()
!     ... ! nothing of this process is recorded
!     call fvmpi_resume()
!
! Without fvmpi in the process they do nothing, and no library is needed. A program that is linked with the static libfvmpi.a must export
! the library's functions (-rdynamic).
module fvmpi
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: fvmpi_section_begin, fvmpi_section_end, fvmpi_pause, fvmpi_resume, fvmpi_label, fvmpi_keep

  abstract interface
    subroutine section_function(name, number, level) bind(c)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: number, level
    end subroutine
    subroutine label_function(text) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
    subroutine switch_function() bind(c)
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
  procedure(label_function), pointer, save :: label => null(), keep => null()
  procedure(switch_function), pointer, save :: pause_ => null(), resume_ => null()

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

  ! Marks this moment. Trailing blanks of the text do not count.
  subroutine fvmpi_label(text)
    character(len=*), intent(in) :: text

    if (library == unknown) call find()
    if (library == present_) call label(trim(text) // c_null_char)
  end subroutine

  ! Copies what --trace-keep has kept so far. Trailing blanks of the reason do not count.
  subroutine fvmpi_keep(why)
    character(len=*), intent(in) :: why

    if (library == unknown) call find()
    if (library == present_ .and. associated(keep)) call keep(trim(why) // c_null_char)
  end subroutine

  subroutine fvmpi_pause()
    if (library == unknown) call find()
    if (library == present_) call pause_()
  end subroutine

  subroutine fvmpi_resume()
    if (library == unknown) call find()
    if (library == present_) call resume_()
  end subroutine

  subroutine find()
    type(c_funptr) :: found(5), found_keep

    found = [function_named("fvmpi_section_begin_v1"), function_named("fvmpi_section_end_v1"), &
             function_named("fvmpi_pause"), function_named("fvmpi_resume"), &
             function_named("fvmpi_label_v1")]
    if (c_associated(found(1)) .and. c_associated(found(2)) .and. c_associated(found(3)) .and. c_associated(found(4)) &
        .and. c_associated(found(5))) then
      call c_f_procpointer(found(1), section_begin)
      call c_f_procpointer(found(2), section_end)
      call c_f_procpointer(found(3), pause_)
      call c_f_procpointer(found(4), resume_)
      call c_f_procpointer(found(5), label)
      found_keep = function_named("fvmpi_keep_v1") ! older libraries have none
      if (c_associated(found_keep)) call c_f_procpointer(found_keep, keep)
      library = present_
    else
      library = absent
    end if
  end subroutine

  function function_named(name) result(address)
    character(len=*), intent(in) :: name
    type(c_funptr) :: address

    address = c_dlsym(c_null_ptr, name // c_null_char)
  end function

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
