# SPDX-License-Identifier: BSD-3-Clause
# FV_PKG_CONFIG: what knows where libraries are. For another processor that is what has its name, or what the environment says: this machine's
# would add this machine's headers.
AC_DEFUN([FV_PKG_CONFIG], [
AC_ARG_VAR([PKG_CONFIG], [the pkg-config that knows the libraries to link with])
AS_IF([test -n "$PKG_CONFIG"], [],
      [test "$cross_compiling" = yes && test -z "$PKG_CONFIG_LIBDIR$PKG_CONFIG_SYSROOT_DIR"], [PKG_CONFIG=$host_alias-pkg-config],
      [PKG_CONFIG=pkg-config])
])
