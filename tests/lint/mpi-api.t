#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No MPI function of an installed mpi.h is left out without a reason, and none is declared otherwise than
# mpi-api.tbl says. Two witnesses: probe.sh, which compiles and links (signatures), and clang's syntax
# tree, where clang is installed (names), because probe.sh finds unknown names by their spelling alone.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tables=$root/mpi-wrappers
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
python=${PYTHON:-python3}
tests=0

report() { # STATUS WHAT [FILE with the details]
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then echo "ok $tests - $2"; return; fi
    echo "not ok $tests - $2"
    [ $# -lt 3 ] || sed 's/^/# /' "$3"
}
skip() { tests=$((tests + 1)); echo "ok $tests - $1 # SKIP $2"; }

names_by_clang() { # the header's own functions, also those of headers it includes
    # -show is MPICH's word, --showme:compile Open MPI's.
    flags=$($1 --showme:compile 2> /dev/null || $1 -show | tr ' ' '\n' | grep '^-[ID]' | tr '\n' ' ')
    # shellcheck disable=SC2086
    echo '#include <mpi.h>' | clang $flags -x c -Xclang -ast-dump -fsyntax-only -fno-color-diagnostics - |
        sed -nE "s/.*FunctionDecl .* (MPIX?_[A-Za-z0-9_]+) '.*/\1/p" | sort -u
}

if ! command -v "$python" > /dev/null; then
    echo "1..0 # SKIP no $python to read the tables"
    exit 0
fi
"$python" "$tables/gen.py" "$tmp" > "$tmp/said" 2>&1
report $? 'the tables are read' "$tmp/said"
echo 'MPI_Send MPI_Wtime MPIX_Anything' | "$python" "$tables/gen.py" --check > "$tmp/said"
report $? 'rows and reasons are found' "$tmp/said"
echo 'MPI_Send MPI_Bogus' | "$python" "$tables/gen.py" --check > "$tmp/said"
[ "$(cat "$tmp/said")" = MPI_Bogus ]
report $? 'a function without row or reason is found out' "$tmp/said"

for mpicc in mpicc.mpich mpicc.openmpi; do
    if ! command -v $mpicc > /dev/null; then
        skip "$mpicc: every function has a row or a reason" "$mpicc is not installed"
        skip "$mpicc: clang agrees" "$mpicc is not installed"
        continue
    fi
    sh "$tables/probe.sh" $mpicc "$tmp/probe.list" "$tmp/have.h" > "$tmp/said" 2>&1 &&
        ! grep -E '^(unknown|differs):' "$tmp/said" > "$tmp/bad"
    report $? "$mpicc: every function has a row or a reason, and the table's signature" "$tmp/said"
    if ! command -v clang > /dev/null; then
        skip "$mpicc: clang agrees" 'clang is not installed'
        continue
    fi
    names_by_clang $mpicc > "$tmp/names"
    [ "$(wc -l < "$tmp/names")" -gt 300 ] && "$python" "$tables/gen.py" --check < "$tmp/names" > "$tmp/said"
    report $? "$mpicc: clang agrees on $(wc -l < "$tmp/names") names" "$tmp/said"
done
echo "1..$tests"
