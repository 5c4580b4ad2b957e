#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the flags with which CC finds the mpi.h of the standard ABI (MPI-5.0, chapter 20). Status 1: there is none; what CC
# said goes to stderr.
#
#     find-abi.sh CC        the one that mpicc_abi includes
#     find-abi.sh CC DIR    of an installation, or of a directory with include/mpi.h alone
#
# MPICH's mpi.h is it if MPI_ABI is defined, Open MPI has it in a directory of its own. MPI_ABI_VERSION proves nothing: MPIs may
# define it in their own mpi.h, too, and drafts had other numbers.

set -u
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: $0 CC [DIR]" >&2; exit 2; }
cc=$1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/fvmpi-abi.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cat > "$tmp/abi.c" <<'END'
#include <mpi.h>
#if MPI_ABI_VERSION != 1
#error another ABI
#endif
_Static_assert(sizeof(MPI_Status) == 32 && MPI_ANY_SOURCE == -1 && MPI_PROC_NULL == -3 && MPI_THREAD_MULTIPLE == 4096, "");
END

# With these flags?
try() {
    $cc "$@" -c "$tmp/abi.c" -o "$tmp/abi.o" >&2 || return
    echo "$*"
    exit 0
}

if [ $# -eq 2 ]; then
    for include in "$2/include/standard_abi" "$2/include" "$2"; do
        [ ! -f "$include/mpi.h" ] || try -DMPI_ABI "-I$include"
    done
elif command -v mpicc_abi > /dev/null; then
    flags=-DMPI_ABI
    for word in $(mpicc_abi -show 2> /dev/null || mpicc_abi -showme); do
        case $word in -[IDU]*) flags="$flags $word" ;; esac
    done
    # shellcheck disable=SC2086
    try $flags
fi
exit 1
