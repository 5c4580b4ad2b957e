# SPDX-License-Identifier: BSD-3-Clause
# FV_MICROHTTPD: libmicrohttpd, by which `fvmpi live` serves its page; without it the command says what to install. Its header is needed only: it is
# loaded when it is used (src/live/http.h).
AC_DEFUN([FV_MICROHTTPD], [
AC_REQUIRE([FV_PKG_CONFIG])
AC_ARG_WITH([libmicrohttpd], [AS_HELP_STRING([--without-libmicrohttpd], [no fvmpi live])], [],
            [with_libmicrohttpd=check])
fv_have_microhttpd=no
fv_microhttpd_cflags=`$PKG_CONFIG --cflags libmicrohttpd 2>/dev/null`
fv_saved_cppflags=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $fv_microhttpd_cflags"
AC_MSG_CHECKING([for libmicrohttpd])
AS_IF([test "x$with_libmicrohttpd" != xno],
      [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <sys/types.h>
#include <microhttpd.h>
#if MHD_VERSION < 0x00097100
#error "older than 0.9.71"
#endif]], [[return MHD_NO;]])], [fv_have_microhttpd=yes])])
AC_MSG_RESULT([$fv_have_microhttpd])
AS_IF([test "x$with_libmicrohttpd" = xyes && test "$fv_have_microhttpd" = no],
      [AC_MSG_ERROR([libmicrohttpd 0.9.71 or later is missing; install the package libmicrohttpd-dev])])
CPPFLAGS=$fv_saved_cppflags
AS_IF([test "$fv_have_microhttpd" = yes], [AC_SUBST([MICROHTTPD_CPPFLAGS], ["$fv_microhttpd_cflags -DFV_MICROHTTPD=1"])],
      [AC_SUBST([MICROHTTPD_CPPFLAGS], [-DFV_MICROHTTPD=0])])
])
