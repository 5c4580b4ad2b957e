# SPDX-License-Identifier: BSD-3-Clause
# FV_CMOCKA: the unit tests' library. Without it `make check` says that it skips them.
AC_DEFUN([FV_CMOCKA], [
fv_saved_libs=$LIBS
LIBS="-lcmocka $LIBS"
AC_MSG_CHECKING([for cmocka])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>]], [[cmocka_set_message_output(CM_OUTPUT_TAP);]])],
    [fv_have_cmocka=yes], [fv_have_cmocka=no])
AC_MSG_RESULT([$fv_have_cmocka])
LIBS=$fv_saved_libs
AC_SUBST([CMOCKA_LIBS], [-lcmocka])
AM_CONDITIONAL([HAVE_CMOCKA], [test "$fv_have_cmocka" = yes])
AC_CHECK_PROGS([PROVE], [prove], [no])
])
