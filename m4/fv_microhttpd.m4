# FV_MICROHTTPD: libmicrohttpd, by which `fvmpi live` serves its page; without it the command says what to install.
AC_DEFUN([FV_MICROHTTPD], [
AC_ARG_WITH([libmicrohttpd], [AS_HELP_STRING([--without-libmicrohttpd], [no fvmpi live])], [],
            [with_libmicrohttpd=check])
fv_have_microhttpd=no
AC_MSG_CHECKING([for libmicrohttpd])
MICROHTTPD_CFLAGS=
MICROHTTPD_LIBS=-lmicrohttpd
AS_IF([${PKG_CONFIG:-pkg-config} --exists libmicrohttpd 2>/dev/null],
      [MICROHTTPD_CFLAGS=`${PKG_CONFIG:-pkg-config} --cflags libmicrohttpd`
       MICROHTTPD_LIBS=`${PKG_CONFIG:-pkg-config} --libs libmicrohttpd`])
fv_saved_libs=$LIBS
fv_saved_cppflags=$CPPFLAGS
LIBS="$MICROHTTPD_LIBS $LIBS"
CPPFLAGS="$CPPFLAGS $MICROHTTPD_CFLAGS"
AS_IF([test "x$with_libmicrohttpd" != xno],
      [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <sys/types.h>
#include <microhttpd.h>
#if MHD_VERSION < 0x00096200
#error "older than 0.9.62"
#endif]], [[return MHD_is_feature_supported(MHD_FEATURE_EPOLL);]])], [fv_have_microhttpd=yes])])
AC_MSG_RESULT([$fv_have_microhttpd])
AS_IF([test "x$with_libmicrohttpd" = xyes && test "$fv_have_microhttpd" = no],
      [AC_MSG_ERROR([libmicrohttpd 0.9.62 or later is missing; install the package libmicrohttpd-dev])])
LIBS=$fv_saved_libs
CPPFLAGS=$fv_saved_cppflags
AS_IF([test "$fv_have_microhttpd" != yes], [MICROHTTPD_CFLAGS= MICROHTTPD_LIBS=])
AC_SUBST([MICROHTTPD_LIBS])
AC_SUBST([MICROHTTPD_CFLAGS])
AM_CONDITIONAL([HAVE_MICROHTTPD], [test "$fv_have_microhttpd" = yes])
])
