# SPDX-License-Identifier: BSD-3-Clause
# FV_PYTHON: Python 3 makes the generated files. A tarball has them; a git checkout does not.
AC_DEFUN([FV_PYTHON], [
AC_PATH_PROGS([PYTHON], [python3 python], [no])
AS_IF([test "x$PYTHON" != xno && ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null],
      [PYTHON=no])
AS_IF([test "x$PYTHON" = xno && test ! -f "$srcdir/mpi-wrappers/probe.list"],
      [AC_MSG_ERROR([a git checkout needs Python 3.6 or newer to generate the MPI wrappers; install the package python3, or build from a release tarball])])
])
