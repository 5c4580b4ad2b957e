# SPDX-License-Identifier: BSD-3-Clause
# FV_DW: elfutils' libdw reads lines and inlined frames for the report, in more forms of debug information than libbfd does. It is linked
# with what libbfd is linked with: the tools.
AC_DEFUN([FV_DW], [
AC_REQUIRE([FV_PKG_CONFIG])
AC_ARG_WITH([libdw], [AS_HELP_STRING([--without-libdw], [read debug information by libbfd alone])], [], [with_libdw=check])
fv_have_dw=no
AC_MSG_CHECKING([for libdw])
fv_dw_cflags=`$PKG_CONFIG --cflags libdw 2>/dev/null`
fv_dw_libs=`$PKG_CONFIG --libs libdw 2>/dev/null`
test -n "$fv_dw_libs" || fv_dw_libs='-ldw -lelf'
fv_saved_libs=$LIBS
fv_saved_cppflags=$CPPFLAGS
LIBS="$fv_dw_libs $LIBS"
CPPFLAGS="$CPPFLAGS $fv_dw_cflags"
AS_IF([test "x$with_libdw" != xno],
      [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stddef.h>
#include <elfutils/libdw.h>
#include <gelf.h>]],
        [[return gelf_getshdr(NULL, NULL) == NULL || dwarf_get_units(NULL, NULL, NULL, NULL, NULL, NULL, NULL) + dwarf_cu_info(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);]])],
        [fv_have_dw=yes])])
LIBS=$fv_saved_libs
CPPFLAGS=$fv_saved_cppflags
AC_MSG_RESULT([$fv_have_dw])
AS_IF([test "x$with_libdw" = xyes && test "$fv_have_dw" = no],
      [AC_MSG_ERROR([libdw 0.171 or later is missing; install the package libdw-dev])])
AS_IF([test "$fv_have_dw" = yes], [
    BFD_LIBS="$BFD_LIBS $fv_dw_libs"
    AC_SUBST([DW_CPPFLAGS], [$fv_dw_cflags])
    AC_DEFINE([HAVE_LIBDW], [1], [libdw is there])])
AM_CONDITIONAL([HAVE_LIBDW], [test "$fv_have_dw" = yes])
])
