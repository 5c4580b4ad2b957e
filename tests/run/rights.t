#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Not under AddressSanitizer: it must come first, and a set-user-ID program preloads nothing.
# A program that was linked with the library and has rights that its caller has not (setuid, setgid) obeys none of its caller's variables: it records nothing, and says so.
. "$(dirname "$0")/../lib.sh"

mpi=$(mpis | tail -1)
cat > app.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("done %s\n", getenv("KOKKOS_TOOLS_LIBS") ? "changed" : "as it was");
    MPI_Finalize();
    return 0;
}
END

# It says what happened where the rights are had; a mount without them, as of some containers, has none.
if [ -z "$mpi" ]; then
    skip 'a setuid program' 'no MPI'
elif [ "$(id -u)" != 0 ] || ! command -v setpriv > /dev/null; then
    skip 'a setuid program' 'needs root and setpriv'
elif findmnt -no OPTIONS -T "$work" | grep -qw nosuid; then
    skip 'a setuid program' 'mounted nosuid'
else
    library=$build/.libs
    "$(mpicc_of "$mpi")" -o app app.c -L"$library" -Wl,-rpath,"$library" -lfvmpi-"$mpi" || exit 1
    chmod 755 "$work"
    mkdir -m 777 open
    user=(setpriv --reuid 65534 --regid 65534 --clear-groups env -u OMPI_MCA_orte_tmpdir_base HOME="$work/open" FVMPI_OUTPUT="$work/open/exp")
    capture "${user[@]}" ./app
    check "$mpi: without more rights it is recorded" [ -e open/exp/rank-000000.fvr ]
    rm -rf open/exp
    user+=(FVMPI_MEMORY=1 FVMPI_LOCAL="$work/open" FVMPI_SENSORS_ROOT="$work/open")
    for mode in 4755 2755; do
        chmod "$mode" app
        capture "${user[@]}" ./app
        check "$mpi: mode $mode: the program runs, and its environment is as it was" [ "$rc:$out" = '0:done as it was' ]
        check "$mpi: mode $mode: nothing is written where its caller says" [ -z "$(ls -A open)" ]
        check "$mpi: mode $mode: one line says so" [ "$(grep -c 'this program has more rights than its caller .*nothing is recorded' <<< "$err")" = 1 ]
        check "$mpi: mode $mode: and there is no other of fvmpi" [ "$(grep -c '^fvmpi:' <<< "$err")" = 1 ]
        capture "${user[@]}" "$fvmpi" run ./app
        check "$mpi: mode $mode: fvmpi run says that it will not be recorded" has "$err" 'app: has more rights than you .*is not recorded; run a copy without them'
        check "$mpi: mode $mode: and it is not" [ "$rc:$out:$(ls -A open)" = '0:done as it was:' ]
    done
    cp app copy && chmod 755 copy
    unset 'user[-3]' 'user[-2]' 'user[-1]'
    capture "${user[@]}" "$fvmpi" run -q ./copy
    check "$mpi: the remedy: a copy without them is recorded" [ -e open/exp/rank-000000.fvr ]
    printf '#!/bin/sh\nexec ./copy\n' > script && chmod 4755 script
    capture "${user[@]}" "$fvmpi" run --mpi "$mpi" ./script
    check "$mpi: a script has none by its mode" lacks "$err" 'has more rights than you'
fi
finish
