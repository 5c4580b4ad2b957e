# SPDX-License-Identifier: BSD-3-Clause
# FV_PROBE(FLAVOUR): which functions of mpi-api.tbl this MPI has, in C and Fortran, for the summary. The
# Makefile repeats it when the table changes.
AC_DEFUN([FV_PROBE], [
m4_pushdef([FV_UP], [m4_toupper([$1])])
AS_IF([test -n "$FV_UP[]_MPICC"], [
    FV_PROBE_LIST
    AC_MSG_CHECKING([for the MPI functions of $1])
    AS_MKDIR_P([mpi-wrappers/$1])
    AS_IF([sh "$srcdir/mpi-wrappers/probe.sh" "$FV_UP[]_MPICC" "$fv_probe_list/probe.list" \
               mpi-wrappers/$1/mpi-have.h > mpi-wrappers/$1/probe.stamp &&
           { test $1 = abi ||
             sh "$srcdir/mpi-wrappers/probe-fortran.sh" "$CC" "$FV_UP[]_FLIBS" "$fv_probe_list/fortran.list" \
                 mpi-wrappers/$1/mpi-have-fortran.h >> mpi-wrappers/$1/probe.stamp; }],
        [FV_UP[]_COUNT=`$SED -n 's/^wrapped: //p' mpi-wrappers/$1/probe.stamp`
         FV_UP[]_UNKNOWN=`$GREP -c '^unknown: ' mpi-wrappers/$1/probe.stamp`
         FV_UP[]_FORTRAN=`$SED -n '/lacking:/d; s/^Fortran[[,:]] *//p' mpi-wrappers/$1/probe.stamp | tr '\n' ';' | $SED 's/;$//; s/;/; /g'`
         FV_UP[]_LACKS=`$SED -n 's/^Fortran, *\(.*lacking:.*\)/\1/p' mpi-wrappers/$1/probe.stamp`
         AC_MSG_RESULT([$FV_UP[]_COUNT wrapped, $FV_UP[]_UNKNOWN unknown])],
        [rm -f mpi-wrappers/$1/probe.stamp
         AC_MSG_ERROR([$FV_UP[]_MPICC does not work; see mpi-wrappers/$1/mpi-have.h.log, or use --without-$1])])
])
m4_popdef([FV_UP])
])

# A tarball ships the lists; a checkout makes them, as the Makefile would.
AC_DEFUN([FV_PROBE_LIST], [
fv_probe_list=$srcdir/mpi-wrappers
AS_IF([test ! -f "$fv_probe_list/fortran.list"], [
    fv_probe_list=mpi-wrappers
    AS_MKDIR_P([mpi-wrappers])
    AS_IF(["$PYTHON" "$srcdir/mpi-wrappers/gen.py" mpi-wrappers &&
           "$PYTHON" "$srcdir/mpi-wrappers/gen_fortran.py" mpi-wrappers], [],
          [AC_MSG_ERROR([mpi-wrappers/gen.py failed])])
])
])
