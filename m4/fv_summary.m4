# SPDX-License-Identifier: BSD-3-Clause
# FV_SUMMARY: what was found and what will not be built, and why.
AC_DEFUN([FV_SUMMARY], [
fv_line() { printf '  %-22s %s\n' "$[]1" "$[]2"; }
# The procedures that each binding lacks, folded.
fv_fortran() {
    fv_line "  Fortran" "$[]1"
    test -z "$[]2" || echo "$[]2" | fold -s -w 90 | $SED 's/^/                             /'
}
# fv_lost NAME WITH OPTION PACKAGE WHAT
fv_lost() {
    AS_IF([test "x$[]2" = xno], [fv_line "$[]1" "$[]5: switched off by --without-$[]3"],
          [fv_line "$[]1" "$[]5: the library is missing; its package is $[]4"])
}
echo
echo "fvmpi $PACKAGE_VERSION"
AS_IF([test -n "$MPICH_MPICC"],
    [fv_line "MPICH" "$MPICH_VERSION by $MPICH_MPICC: $MPICH_COUNT functions wrapped, $MPICH_UNKNOWN unknown"
     fv_fortran "$MPICH_FORTRAN" "$MPICH_LACKS"],
    [fv_line "MPICH" "libfvmpi-mpich is not built: $MPICH_WHY"])
AS_IF([test -n "$OPENMPI_MPICC"],
    [fv_line "Open MPI" "$OPENMPI_VERSION by $OPENMPI_MPICC: $OPENMPI_COUNT functions wrapped, $OPENMPI_UNKNOWN unknown"
     fv_fortran "$OPENMPI_FORTRAN" "$OPENMPI_LACKS"],
    [fv_line "Open MPI" "libfvmpi-openmpi is not built: $OPENMPI_WHY"])
AS_IF([test -n "$ABI_MPICC"],
    [fv_line "MPI's standard ABI" "$ABI_VERSION by $ABI_MPICC: $ABI_COUNT functions wrapped, $ABI_UNKNOWN unknown"],
    [fv_line "MPI's standard ABI" "libfvmpi-abi is not built: $ABI_WHY"])
fv_line "libbfd" "$BFD_LIBS"
AS_IF([test "$fv_have_dw" = yes], [fv_line "libdw" "$fv_dw_libs"],
      [fv_lost "libdw" "$with_libdw" libdw libdw-dev "some debug information is not read (DWARF 5 of clang, -gsplit-dwarf, -flto)"])
AS_IF([test "$fv_have_otf2" = yes], [fv_line "OTF2" "$OTF2_LIBS"],
      [fv_lost "OTF2" "$with_otf2" otf2 libotf2-trace-dev "fvmpi check is not built"])
AS_IF([test "$fv_have_pfm" = yes], [fv_line "libpfm4" "$PFM_LIBS"],
      [fv_lost "libpfm4" "$with_libpfm4" libpfm4 libpfm4-dev "--events knows the generic names only"])
AS_IF([test "$fv_have_microhttpd" = yes], [fv_line "libmicrohttpd" "found, for fvmpi live"],
      [fv_lost "libmicrohttpd" "$with_libmicrohttpd" libmicrohttpd libmicrohttpd-dev "fvmpi live cannot serve"])
AS_IF([test "$fv_have_sqlite" = yes], [fv_line "SQLite" "found, for fvmpi query"],
      [fv_lost "SQLite" "$with_sqlite" sqlite libsqlite3-dev "no fvmpi query, no report --sqlite"])
AS_IF([test "$fv_have_cmocka" != yes], [fv_line "unit tests" "not built: cmocka is missing; its package is libcmocka-dev"])
AS_IF([test "x$PROVE" = xno], [fv_line "make check" "cannot run: prove is missing; its package is perl"])
AS_IF([test "x$PYTHON" = xno], [fv_line "Python" "not found: generated files are used as shipped, some tests are skipped"])
AS_IF([test -n "$SANITIZE_FLAGS"], [fv_line "sanitizers" "$SANITIZE_FLAGS"])
fv_line "install to" "$prefix"
echo
])
