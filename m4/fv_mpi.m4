# SPDX-License-Identifier: BSD-3-Clause
# FV_MPI(FLAVOUR, MACRO, DEBIAN-PACKAGE): finds an MPI by its compiler wrapper and sets
# FLAVOUR_{MPICC,CPPFLAGS,LIBS,FLIBS,VERSION} and the conditional HAVE_FLAVOUR. What a wrapper is called proves
# nothing; MACRO, defined by its mpi.h, does. Our libraries are compiled with $CC and the flags that the
# wrapper shows, so that all of one tree have the same compiler and options.
AC_DEFUN([FV_MPI], [
m4_pushdef([FV_UP], [m4_toupper([$1])])
AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=MPICC], [compiler wrapper of $1, or no (default: mpicc.$1, else mpicc)])],
    [], [with_$1=check])
FV_UP[]_MPICC=
FV_UP[]_WHY="not found; its package is $3"
AS_CASE(["$with_$1"],
    [no], [fv_candidates=; FV_UP[]_WHY="switched off by --without-$1"],
    [check|yes], [fv_candidates="mpicc.$1 mpicc"],
    [fv_candidates=$with_$1])
for fv_try in $fv_candidates; do
    AC_MSG_CHECKING([whether $fv_try is $1])
    fv_is=`FV_MPI_IDENTIFY([$fv_try], [$2])`
    AC_MSG_RESULT([$fv_is])
    AS_IF([test "$fv_is" = yes], [FV_UP[]_MPICC=$fv_try; break])
done
AS_IF([test -z "$FV_UP[]_MPICC"],
    [AS_CASE(["$with_$1"], [no|check], [],
        [AC_MSG_ERROR([--with-$1=$with_$1: not a compiler wrapper of $1; name its mpicc, or install the package $3])])])
AS_IF([test -n "$FV_UP[]_MPICC"], [FV_MPI_FLAGS([$1])])
AC_SUBST(FV_UP[_MPICC])
AC_SUBST(FV_UP[_CPPFLAGS])
AC_SUBST(FV_UP[_LIBS])
AM_CONDITIONAL([HAVE_]FV_UP, [test -n "$FV_UP[]_MPICC"])
m4_popdef([FV_UP])
])

# Prints yes or no.
AC_DEFUN([FV_MPI_IDENTIFY], [
cat > conftest.c <<_FV_END
#include <mpi.h>
#ifndef $2
#error another MPI
#endif
int main(void) { return MPI_Init(0, 0); }
_FV_END
if $1 conftest.c -o conftest.out >&AS_MESSAGE_LOG_FD 2>&1; then echo yes; else echo no; fi
rm -f conftest.c conftest.out
])

# The wrapper's words, sorted by the step that needs them; its compiler's own name is dropped.
AC_DEFUN([FV_MPI_FLAGS], [
m4_pushdef([FV_UP], [m4_toupper([$1])])
fv_show=`$FV_UP[]_MPICC -show 2>/dev/null || $FV_UP[]_MPICC -showme`
FV_UP[]_CPPFLAGS=
FV_UP[]_LIBS=
for fv_word in $fv_show; do
    AS_CASE(["$fv_word"],
        [-I*|-D*|-U*], [FV_UP[]_CPPFLAGS="$FV_UP[]_CPPFLAGS $fv_word"],
        [-L*|-l*|-Wl,*|*.so|*.a], [FV_UP[]_LIBS="$FV_UP[]_LIBS $fv_word"])
done
AS_CASE([$1],
    [mpich], [fv_words=MPICH_VERSION],
    [fv_words="OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION"])
{ echo '#include <mpi.h>'; echo "fv_version: $fv_words"; } > conftest.c
FV_UP[]_VERSION=`$FV_UP[]_MPICC -E -P conftest.c 2>/dev/null | $SED -n 's/^fv_version: *//p' | tr -d '"' | tr ' ' .`
rm -f conftest.c
# What Fortran programs link; empty: it has no Fortran.
fv_fort=`echo "$FV_UP[]_MPICC" | $SED 's/mpicc/mpifort/'`
FV_UP[]_FLIBS=
for fv_word in `$fv_fort -show 2>/dev/null || $fv_fort -showme 2>/dev/null`; do
    AS_CASE(["$fv_word"], [-L*|-l*|-Wl,*|*.so|*.a], [FV_UP[]_FLIBS="$FV_UP[]_FLIBS $fv_word"])
done
AC_SUBST(FV_UP[_FLIBS])
m4_popdef([FV_UP])
])

# FV_MPI_ABI: finds the header of MPI-5's standard ABI (find-abi.sh), which is all that libfvmpi-abi is compiled with: the program
# brings the library. Sets ABI_{MPICC,CPPFLAGS,VERSION} and HAVE_ABI.
AC_DEFUN([FV_MPI_ABI], [
AC_ARG_WITH([mpi-abi],
    [AS_HELP_STRING([--with-mpi-abi=DIR], [DIR/include has the mpi.h of MPI-5's standard ABI, or no (default: the one of mpicc_abi)])],
    [], [with_mpi_abi=check])
ABI_MPICC=
ABI_CPPFLAGS=
ABI_WHY="no header of MPI-5's standard ABI; name its directory by --with-mpi-abi=DIR"
AC_MSG_CHECKING([for the header of the standard ABI])
AS_CASE(["$with_mpi_abi"],
    [no], [ABI_WHY="switched off by --without-mpi-abi"],
    [check|yes], [ABI_CPPFLAGS=`sh "$srcdir/mpi-wrappers/find-abi.sh" "$CC" 2>&AS_MESSAGE_LOG_FD`],
    [ABI_CPPFLAGS=`sh "$srcdir/mpi-wrappers/find-abi.sh" "$CC" "$with_mpi_abi" 2>&AS_MESSAGE_LOG_FD`])
AC_MSG_RESULT([${ABI_CPPFLAGS:-no}])
AS_IF([test -n "$ABI_CPPFLAGS"], [
    ABI_CPPFLAGS="-DFV_STANDARD_ABI $ABI_CPPFLAGS"
    ABI_MPICC="$CC $ABI_CPPFLAGS"
    { echo '#include <mpi.h>'; echo 'fv_version: MPI_ABI_VERSION MPI_ABI_SUBVERSION'; } > conftest.c
    ABI_VERSION=`$ABI_MPICC -E -P conftest.c 2>/dev/null | $SED -n 's/^fv_version: *//p' | tr ' ' .`
    rm -f conftest.c
], [
    AS_CASE(["$with_mpi_abi"], [no|check], [],
        [AC_MSG_ERROR([--with-mpi-abi=$with_mpi_abi: no header of MPI-5's standard ABI there; name the directory whose include/mpi.h it is])])
])
AC_SUBST([ABI_MPICC])
AC_SUBST([ABI_CPPFLAGS])
AM_CONDITIONAL([HAVE_ABI], [test -n "$ABI_MPICC"])
])

