#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Finds which functions of mpi-api.tbl an MPI has, and writes them as HAVE_MPI_X 1 or 0. 2: it has not, but knows the
# types: others of its binary interface may have it. Of the standard ABI (-DFV_STANDARD_ABI in MPICC) there is a header alone.
#
#     probe.sh MPICC PROBE.LIST OUT.H [CFLAGS...]
#
# POSIX sh and awk alone: it runs on the user's machine, from a tarball without Python. A configure check
# for each function would take minutes, so one file takes the address of all PMPI_ functions (which makes
# both the compiler and the linker look) and declares each again as the table has it (which makes the
# compiler compare). What an error message points at is dropped, until file and link are clean; if no
# message can be read, each function is tried alone.
#
# Prints a summary. Status 1: not a usable MPI; the compiler's words are in OUT.H.log.

set -u
[ $# -ge 3 ] || { echo "usage: $0 MPICC PROBE.LIST OUT.H [CFLAGS...]" >&2; exit 2; }
mpicc=$1 list=$2 out=$3
shift 3
LC_ALL=C; export LC_ALL # messages are read
tmp=$(mktemp -d "${TMPDIR:-/tmp}/fvmpi-probe.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
: > "$tmp/log"

cp "$(dirname "$0")/mpi-header.h" "$tmp" || exit 1

# probe.c of the functions in $tmp/left: row N of it is line N + 1.
write_probe() {
    {
        echo '#include "mpi-header.h"'
        awk -F '\t' '{ print "void *fvmpi_have_" $1 " = (void *)&P" $1 "; extern " $2 }' "$tmp/left"
        echo 'int main(void) { return 0; }'
    } > "$tmp/probe.c"
}

# Extra words are CFLAGS; $mpicc may hold a command with options.
compile() { $mpicc "$@" -Werror=implicit-function-declaration -c "$tmp/probe.c" -o "$tmp/probe.o" > "$tmp/said" 2>&1; }
link() { defines FV_STANDARD_ABI "$@" || $mpicc "$@" "$tmp/probe.o" -o "$tmp/probe" > "$tmp/said" 2>&1; }
# Is that macro defined?
defines() {
    name=$1
    shift
    echo '#include <mpi.h>' > "$tmp/macros.c"
    $mpicc "$@" -dM -E "$tmp/macros.c" 2> /dev/null | grep -q " $name "
}

# Drops the rows that $tmp/said names: by line of probe.c, or by an undefined PMPI_ symbol. False: none.
drop() {
    awk -v how="$1" '
        FILENAME ~ /said$/ {
            if (how == "line" && match($0, /probe\.c[:(][0-9]+/)) {
                at = substr($0, RSTART + 8, RLENGTH - 8) - 1
                if ($0 ~ /error/ || $0 !~ /warning|note/) bad[at] = 1
            }
            if (how == "symbol") {
                text = $0
                while (match(text, /PMPI_[A-Za-z0-9_]+/)) {
                    gone[substr(text, RSTART + 1, RLENGTH - 1)] = 1
                    text = substr(text, RSTART + RLENGTH)
                }
            }
            next
        }
        { split($0, field, "\t"); if (!(FNR in bad) && !(field[1] in gone)) print }
    ' "$tmp/said" "$tmp/left" > "$tmp/kept"
    if cmp -s "$tmp/left" "$tmp/kept"; then return 1; fi
    mv "$tmp/kept" "$tmp/left"
}

each_alone() {
    cp "$tmp/left" "$tmp/all"
    : > "$tmp/found"
    while IFS= read -r row; do
        printf '%s\n' "$row" > "$tmp/left"
        write_probe
        if compile "$@" && link "$@"; then printf '%s\n' "$row" >> "$tmp/found"; fi
    done < "$tmp/all"
    cp "$tmp/found" "$tmp/left"
}

find_functions() {
    rounds=0
    while rounds=$((rounds + 1)); write_probe; [ $rounds -le 40 ]; do
        if ! compile "$@"; then how=line
        elif ! link "$@"; then how=symbol
        else return 0
        fi
        cat "$tmp/said" >> "$tmp/log"
        drop $how || break
    done
    each_alone "$@"
}

# Of the rows that were not found those whose declaration compiles, into $tmp/elsewhere.
find_elsewhere() {
    cp "$tmp/left" "$tmp/found"
    : > "$tmp/elsewhere"
    defines MPICH_NUMVERSION "$@" || defines FV_STANDARD_ABI "$@" || return 0
    awk 'FILENAME ~ /found$/ { found[$0] = 1; next } !($0 in found)' "$tmp/found" "$tmp/rows" > "$tmp/left"
    rounds=0
    while rounds=$((rounds + 1)); [ $rounds -le 20 ]; do
        { echo '#include "mpi-header.h"'
          awk -F '\t' '{ print "extern " $2 }' "$tmp/left"; } > "$tmp/probe.c"
        if compile "$@"; then mv "$tmp/left" "$tmp/elsewhere"; break; fi
        drop line || break
    done
    mv "$tmp/found" "$tmp/left"
}

grep -v '^skip' "$list" > "$tmp/left" || exit 1
cp "$tmp/left" "$tmp/rows"
echo '#include "mpi-header.h"' > "$tmp/header.c"
if ! $mpicc "$@" -E "$tmp/header.c" > "$tmp/header.i" 2> "$tmp/log"; then
    cp "$tmp/log" "$out.log"
    echo "probe.sh: $mpicc: cannot compile a file that includes mpi.h; see $out.log" >&2
    exit 1
fi
find_functions "$@"
find_elsewhere "$@"

# What the header declares: a name with a parenthesis behind it. Functions in macros are the macros' affair.
tr -d '\n' < "$tmp/header.i" | tr ';{}' '\n\n\n' | grep -v typedef | grep -oE '(^|[^A-Za-z0-9_])MPIX?_[A-Za-z0-9_]+[[:space:]]*\(' |
    grep -oE 'MPIX?_[A-Za-z0-9_]+' | sort -u > "$tmp/declared"

awk -F '\t' -v out="$out.new" '
    FILENAME ~ /declared$/ { declared[$1] = 1; next }
    FILENAME ~ /left$/ { have[$1] = 1; next }
    FILENAME ~ /elsewhere$/ { elsewhere[$1] = 1; next }
    $1 == "skip" { # a shell pattern with * alone
        pattern = $2
        gsub(/\*/, ".*", pattern)
        skip[++skips] = "^" pattern "$"
        next
    }
    {
        row[$1] = 1
        if ($1 in have) n++
        else if ($1 in declared) print "differs: " $1
        print "#define HAVE_" $1 " " ($1 in have ? 1 : $1 in elsewhere ? 2 : 0) > out
    }
    END {
        for (name in declared) {
            if (name in row) continue
            reason = 0
            for (i = 1; i <= skips; i++) if (name ~ skip[i]) reason = 1
            if (reason) left_out++
            else { unknown++; print "unknown: " name }
        }
        printf "wrapped: %d\nskipped: %d\n", n, left_out
        exit !("MPI_Init" in have)
    }
' "$tmp/declared" "$tmp/left" "$tmp/elsewhere" "$list" > "$tmp/summary"
status=$?
if [ $status -ne 0 ]; then
    cp "$tmp/log" "$out.log"
    echo "probe.sh: $mpicc: MPI_Init does not link; see $out.log" >&2
    exit 1
fi
{ echo '/* Written by probe.sh. */'; cat "$out.new"; } > "$tmp/header.h"
rm -f "$out.new"
if ! cmp -s "$tmp/header.h" "$out"; then cp "$tmp/header.h" "$out"; fi
sort "$tmp/summary"
