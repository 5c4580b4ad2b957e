# SPDX-License-Identifier: BSD-3-Clause
# FV_SQLITE: SQLite, which answers `fvmpi query` and writes `fvmpi report --sqlite`; without it these say what to install. Its header is needed
# only: it is loaded when it is used (src/query/sqlite.h).
AC_DEFUN([FV_SQLITE], [
AC_REQUIRE([FV_PKG_CONFIG])
AC_ARG_WITH([sqlite], [AS_HELP_STRING([--without-sqlite], [no fvmpi query, no report --sqlite])], [], [with_sqlite=check])
fv_have_sqlite=no
fv_sqlite_cflags=`$PKG_CONFIG --cflags sqlite3 2>/dev/null`
fv_saved_cppflags=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $fv_sqlite_cflags"
AC_MSG_CHECKING([for SQLite])
AS_IF([test "x$with_sqlite" != xno],
      [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <sqlite3.h>
#if SQLITE_VERSION_NUMBER < 3022000
#error "older than 3.22"
#endif]], [[return SQLITE_OK;]])], [fv_have_sqlite=yes])])
AC_MSG_RESULT([$fv_have_sqlite])
AS_IF([test "x$with_sqlite" = xyes && test "$fv_have_sqlite" = no],
      [AC_MSG_ERROR([SQLite 3.22 or later is missing; install the package libsqlite3-dev])])
CPPFLAGS=$fv_saved_cppflags
AS_IF([test "$fv_have_sqlite" = yes], [AC_SUBST([SQLITE_CPPFLAGS], ["$fv_sqlite_cflags -DFV_SQLITE=1"])],
      [AC_SUBST([SQLITE_CPPFLAGS], [-DFV_SQLITE=0])])
])
