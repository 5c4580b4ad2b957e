# SPDX-License-Identifier: BSD-3-Clause
# FV_BFD: libbfd finds functions, files and lines for the report. Distributions differ in what must be
# linked with it: shared it brings all along, static it needs its friends.
AC_DEFUN([FV_BFD], [
fv_saved_libs=$LIBS
BFD_LIBS=
AC_MSG_CHECKING([for libbfd])
for fv_try in "-lbfd -liberty" "-lbfd -liberty -lz" "-lbfd -liberty -lz -ldl" "-lbfd -liberty -lsframe -lz" \
              "-lbfd -liberty -lsframe -lz -lzstd" "-lbfd -liberty -lz -lzstd" "-lbfd"; do
    LIBS="$fv_try $fv_saved_libs"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#ifndef PACKAGE
#define PACKAGE 1
#endif
#include <stddef.h>
#include <bfd.h>]],
        [[bfd *b = bfd_openr("", NULL); return b && bfd_demangle(b, "", 0) != NULL;]])],
        [BFD_LIBS=$fv_try; break])
done
LIBS=$fv_saved_libs
AS_IF([test -n "$BFD_LIBS"], [AC_MSG_RESULT([$BFD_LIBS])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([libbfd is missing; install the packages binutils-dev and libiberty-dev])])
AC_SUBST([BFD_LIBS])
])
