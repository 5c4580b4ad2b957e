# SPDX-License-Identifier: BSD-3-Clause
# FV_PFM: libpfm4, by which `fvmpi run --events` knows the names of the processor's own events; without it, only the kernel's
# generic ones.
AC_DEFUN([FV_PFM], [
AC_ARG_WITH([libpfm4], [AS_HELP_STRING([--without-libpfm4], [know the generic performance events only])], [],
            [with_libpfm4=check])
fv_saved_libs=$LIBS
LIBS="-lpfm $LIBS"
fv_have_pfm=no
AC_MSG_CHECKING([for libpfm4])
AS_IF([test "x$with_libpfm4" != xno],
      [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>]], [[return pfm_initialize() + PFM_OS_PERF_EVENT_EXT;]])], [fv_have_pfm=yes])])
AC_MSG_RESULT([$fv_have_pfm])
AS_IF([test "x$with_libpfm4" = xyes && test "$fv_have_pfm" = no],
      [AC_MSG_ERROR([libpfm4 is missing; install the package libpfm4-dev])])
LIBS=$fv_saved_libs
AS_IF([test "$fv_have_pfm" = yes], [AC_SUBST([PFM_LIBS], [-lpfm]) AC_SUBST([PFM_CPPFLAGS], [-DFV_LIBPFM=1])],
      [AC_SUBST([PFM_LIBS], []) AC_SUBST([PFM_CPPFLAGS], [-DFV_LIBPFM=0])])
])
