# SPDX-License-Identifier: BSD-3-Clause
# FV_JANSSON: the tools read and write JSON with it.
AC_DEFUN([FV_JANSSON], [
fv_saved_libs=$LIBS
LIBS="-ljansson $LIBS"
AC_MSG_CHECKING([for jansson])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <jansson.h>]], [[json_t *j = json_object(); json_decref(j);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([jansson is missing; install the package libjansson-dev])])
LIBS=$fv_saved_libs
AC_SUBST([JANSSON_LIBS], [-ljansson])
])
