# SPDX-License-Identifier: BSD-3-Clause
# FV_OTF2: the library that writes and reads OTF2 archives; without it `fvmpi check` says that it is missing.
# otf2-config, where there is one, knows an installation in a place of its own. That of this machine knows none for another processor.
AC_DEFUN([FV_OTF2], [
AC_ARG_WITH([otf2], [AS_HELP_STRING([--without-otf2], [do not check OTF2 archives])], [], [with_otf2=check])
AS_IF([test "$cross_compiling" != yes], [AC_PATH_PROG([OTF2_CONFIG], [otf2-config])])
OTF2_CPPFLAGS=
OTF2_LIBS=-lotf2
AS_IF([test -n "$OTF2_CONFIG"],
      [OTF2_CPPFLAGS=`$OTF2_CONFIG --cppflags 2>/dev/null || $OTF2_CONFIG --cflags 2>/dev/null`
       OTF2_LIBS="`$OTF2_CONFIG --ldflags 2>/dev/null` `$OTF2_CONFIG --libs 2>/dev/null`"])
fv_saved_libs=$LIBS
fv_saved_cppflags=$CPPFLAGS
LIBS="$OTF2_LIBS $LIBS"
CPPFLAGS="$OTF2_CPPFLAGS $CPPFLAGS"
fv_have_otf2=no
AC_MSG_CHECKING([for OTF2 3.0 or later])
AS_IF([test "x$with_otf2" != xno],
      [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <otf2/otf2.h>
#if OTF2_VERSION_MAJOR < 3
#error too old
#endif]], [[OTF2_Reader *r = OTF2_Reader_Open(""); OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(0, 0);
return r != 0;]])], [fv_have_otf2=yes])])
AC_MSG_RESULT([$fv_have_otf2])
LIBS=$fv_saved_libs
CPPFLAGS=$fv_saved_cppflags
AS_IF([test "$fv_have_otf2" != yes], [OTF2_LIBS=; OTF2_CPPFLAGS=])
AS_IF([test "x$with_otf2" = xyes && test "$fv_have_otf2" != yes],
      [AC_MSG_ERROR([--with-otf2: OTF2 is missing or older than 3.0; install the package libotf2-trace-dev])])
AC_SUBST([OTF2_CPPFLAGS])
AC_SUBST([OTF2_LIBS])
AM_CONDITIONAL([HAVE_OTF2], [test "$fv_have_otf2" = yes])
])
