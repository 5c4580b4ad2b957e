# SPDX-License-Identifier: BSD-3-Clause
# FV_ZSTD: the tools read compressed traces with it. (The library asks for it at run time.)
AC_DEFUN([FV_ZSTD], [
fv_saved_libs=$LIBS
LIBS="-lzstd $LIBS"
AC_MSG_CHECKING([for zstd])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <zstd.h>]], [[return (int)ZSTD_versionNumber();]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([zstd is missing; install the package libzstd-dev])])
LIBS=$fv_saved_libs
AC_SUBST([ZSTD_LIBS], [-lzstd])
])
