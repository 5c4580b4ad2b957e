# SPDX-License-Identifier: BSD-3-Clause
# For TAP tests in bash:  . "$(dirname "$0")/../lib.sh"
#
#     capture COMMAND...       runs it; $out, $err and $rc say what came of it
#     check WHAT COMMAND...    ok if the command succeeds
#     has TEXT PATTERN         is the extended regular expression in it?
#     skip WHAT WHY
#     finish                   prints the plan
#
# $build is the build, $source the source tree, $work a scratch directory that goes away.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=${FVMPI_SOURCE:-$(dirname "$here")}
build=${FVMPI_BUILD:-$source/build}
fvmpi=$build/fvmpi
work=$(mktemp -d "${TMPDIR:-/tmp}/fvmpi-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
only=${FVMPI_TEST_MPI:-} each=${FVMPI_TEST_MPIS:-}
sanitizer=${FVMPI_TEST_SANITIZER:-} # its run-time library, which must be preloaded first
unset "${!FVMPI_@}"
export OMP_NUM_THREADS=1 FVMPI_WITHOUT=usr_lib_debug OMPI_MCA_orte_tmpdir_base=$work/.ompi # as harness.environment()
[ -x "$fvmpi" ] || { echo "Bail out! $fvmpi is not there; build first, or set FVMPI_BUILD"; exit 1; }
count=0 out='' err='' rc=0

capture() {
    timeout 240 "$@" > "$work/.out" 2> "$work/.err" < /dev/null
    rc=$?
    out=$(cat "$work/.out") err=$(cat "$work/.err")
}

result() { # STATUS WHAT
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        printf 'rc %s\nout %s\nerr %s\n' "$rc" "$out" "$err" | head -40 | sed 's/^/# /'
    fi
}
check() { local what=$1; shift; "$@"; result $? "$what"; }
skip() { count=$((count + 1)); echo "ok $count - $1 # SKIP $2"; }
has() { grep -qE -- "$2" <<< "$1"; }
lacks() { ! grep -qE -- "$2" <<< "$1"; }
finish() { echo "1..$count"; }

# The MPIs that were built, with their compilers and launchers.
mpis() {
    local mpi
    for mpi in ${only:-mpich openmpi}; do
        [ -f "$build/.libs/libfvmpi-$mpi.so" ] && command -v "mpiexec.$mpi" > /dev/null && echo "$mpi"
    done
}
# One of them, where what is tested depends on none; each, for ./dev mpis.
an_mpi() { if [ "$each" = all ]; then mpis; else mpis | tail -n 1; fi; }
mpicc_of() { if [ "$1" = mpich ]; then echo "${MPICH_MPICC:-mpicc.mpich}"; else echo "${OPENMPI_MPICC:-mpicc.openmpi}"; fi; }
# Words to start a launcher with: launcher=($(launcher_of openmpi))
launcher_of() {
    local words="mpiexec.$1"
    if [ "$1" = openmpi ]; then
        words="$words --oversubscribe"
        [ "$(id -u)" -ne 0 ] || words="$words --allow-run-as-root"
    fi
    echo "$words"
}
