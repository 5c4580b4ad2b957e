# SPDX-License-Identifier: BSD-3-Clause
# FV_ZLIB: pages of reports hold their data compressed.
AC_DEFUN([FV_ZLIB], [
fv_saved_libs=$LIBS
LIBS="-lz $LIBS"
AC_MSG_CHECKING([for zlib])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <zlib.h>]], [[return zlibVersion() == 0;]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([zlib is missing; install the package zlib1g-dev])])
LIBS=$fv_saved_libs
AC_SUBST([ZLIB_LIBS], [-lz])
])
