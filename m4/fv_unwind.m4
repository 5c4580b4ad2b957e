# SPDX-License-Identifier: BSD-3-Clause
# FV_UNWIND: libunwind, the only thing besides libc, libgcc_s and MPI that the libraries depend on.
AC_DEFUN([FV_UNWIND], [
fv_saved_libs=$LIBS
LIBS="-lunwind $LIBS"
AC_MSG_CHECKING([for libunwind])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define UNW_LOCAL_ONLY
#include <libunwind.h>]], [[unw_context_t c; unw_cursor_t u; unw_getcontext(&c); return unw_init_local(&u, &c);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([libunwind is missing; install the package libunwind-dev])])
LIBS=$fv_saved_libs
# libgcc's first: both define the functions that throw C++ exceptions (src/rt/path.c)
LIBS="-lgcc_s $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[int _Unwind_Backtrace();]], [[return _Unwind_Backtrace();]])],
    [fv_throws=-lgcc_s],
    [fv_throws=])
LIBS=$fv_saved_libs
AC_SUBST([UNWIND_LIBS], ["$fv_throws -lunwind"])
])
