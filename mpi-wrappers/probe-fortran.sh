#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Finds which Fortran procedures an MPI has, and writes their link names as HAVE_mpi_x_ 1 or 0.
#
#     probe-fortran.sh CC "LINK FLAGS" FORTRAN.LIST OUT.H
#
# The linker is asked for all names at once, and those that it misses are dropped: no Fortran compiler is
# needed. Without any Fortran library each name gets 1, because an entry point that nobody calls does no
# harm, and the library may come later. Prints a summary: of the functions that C has (mpi-have.h beside OUT.H).

set -u
[ $# -eq 4 ] || { echo "usage: $0 CC 'LINK FLAGS' FORTRAN.LIST OUT.H" >&2; exit 2; }
cc=$1 flags=$2 list=$3 out=$4 in_c=$(dirname "$4")/mpi-have.h # by probe.sh, before
LC_ALL=C; export LC_ALL # messages are read
tmp=$(mktemp -d "${TMPDIR:-/tmp}/fvmpi-probe.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

links() {
    { awk '{ print "extern char " $1 "; const void *at_" $1 " = &" $1 ";" }' "$tmp/left"
      echo 'int main(void) { return 0; }'; } > "$tmp/probe.c"
    $cc "$tmp/probe.c" -o "$tmp/probe" $flags > "$tmp/said" 2>&1
}

cp "$list" "$tmp/left"
rounds=0
found=no
while rounds=$((rounds + 1)); [ $rounds -le 20 ]; do
    if links; then found=yes; break; fi
    awk 'FILENAME ~ /said$/ {
             while (match($0, /mpix?_[a-z0-9_]+_/)) {
                 gone[substr($0, RSTART, RLENGTH)] = 1
                 $0 = substr($0, RSTART + RLENGTH)
             }
             next
         }
         !($1 in gone)' "$tmp/said" "$tmp/left" > "$tmp/kept"
    if cmp -s "$tmp/left" "$tmp/kept"; then break; fi
    mv "$tmp/kept" "$tmp/left"
done
if [ $found = no ] || ! grep -q '^mpi_init_$' "$tmp/left"; then
    cp "$list" "$tmp/left"
    found=no
fi
{
    echo '/* Written by probe-fortran.sh. */'
    awk 'FILENAME ~ /left$/ { have[$1] = 1; next } { print "#define HAVE_" $1 " " ($1 in have ? 1 : 0) }' \
        "$tmp/left" "$list"
} > "$tmp/header.h"
if ! cmp -s "$tmp/header.h" "$out"; then cp "$tmp/header.h" "$out"; fi
if [ $found = no ]; then
    echo "Fortran: no library found, all names are wrapped"
else
    sed -n 's/^#define HAVE_\(MPI_.*\) 1$/\1/p' "$in_c" 2>/dev/null | tr '[:upper:]' '[:lower:]' > "$tmp/in_c"
    # What MPI itself deprecated or removed stands at the end of the table, and mpi_f08 never had it.
    sed '1,/^# ---- Deprecated/d; s/ .*//; /^MPI_/!d' "$(dirname "$0")/mpi-api.tbl" | tr '[:upper:]' '[:lower:]' > "$tmp/gone"
    sort "$list" | awk 'FILENAME ~ /left$/ { have[$1] = 1; next }
         FILENAME ~ /in_c$/ { in_c[$1] = 1; next }
         FILENAME ~ /gone$/ { gone[$1] = 1; next }
         { name = $1; f08 = sub(/_f08(ts)?_(large_)?$/, "", name); sub(/_$/, "", name); sub(/_cptr$/, "", name)
           if (!((f08, name) in all) && name in in_c && !(f08 && name in gone)) order[f08, ++n[f08]] = name
           all[f08, name] = 1
           if ($1 in have) has[f08, name] = 1 }
         END {
             for (f08 = 0; f08 <= 1; f08++) {
                 m = 0
                 lacks = ""
                 for (i = 1; i <= n[f08]; i++)
                     if ((f08, order[f08, i]) in has) m++
                     else lacks = lacks " " order[f08, i]
                 binding = f08 ? "mpi_f08" : "mpif.h and use mpi"
                 printf "Fortran, %s: %d of %d functions\n", binding, m, n[f08]
                 if (lacks != "") printf "Fortran, %s, lacking:%s\n", binding, lacks
             }
         }' "$tmp/left" "$tmp/in_c" "$tmp/gone" -
fi
