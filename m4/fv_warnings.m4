# SPDX-License-Identifier: BSD-3-Clause
# FV_WARNINGS: the warnings that the code is free of; --enable-werror keeps it so.
AC_DEFUN([FV_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors])], [], [enable_werror=no])
WARN_CFLAGS=
for fv_flag in -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith; do
    fv_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $fv_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [WARN_CFLAGS="$WARN_CFLAGS $fv_flag"])
    CFLAGS=$fv_saved_cflags
done
AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])
])
