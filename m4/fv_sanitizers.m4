# SPDX-License-Identifier: BSD-3-Clause
# FV_SANITIZERS: builds that find our mistakes. They slow everything down; not for users.
AC_DEFUN([FV_SANITIZERS], [
SANITIZE_FLAGS=
AC_ARG_ENABLE([asan], [AS_HELP_STRING([--enable-asan], [build with AddressSanitizer])], [], [enable_asan=no])
AC_ARG_ENABLE([ubsan], [AS_HELP_STRING([--enable-ubsan], [build with UndefinedBehaviorSanitizer])], [], [enable_ubsan=no])
AC_ARG_ENABLE([tsan], [AS_HELP_STRING([--enable-tsan], [build with ThreadSanitizer])], [], [enable_tsan=no])
AS_IF([test "x$enable_asan" = xyes], [SANITIZE_FLAGS="$SANITIZE_FLAGS -fsanitize=address"])
AS_IF([test "x$enable_ubsan" = xyes],
      [SANITIZE_FLAGS="$SANITIZE_FLAGS -fsanitize=undefined -fno-sanitize-recover=undefined"])
AS_IF([test "x$enable_tsan" = xyes], [SANITIZE_FLAGS="$SANITIZE_FLAGS -fsanitize=thread"])
AS_IF([test "x$enable_asan$enable_tsan" = xyesyes],
      [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
AC_SUBST([SANITIZE_FLAGS])
])
