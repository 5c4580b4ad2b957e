#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where files cannot be written, or nothing is recorded: what is said is the reason, and what helps.
. "$(dirname "$0")/../lib.sh"

cat > app.c <<'END'
#include <stdio.h>
int main(void) { return puts("done") < 0; }
END
cc -o app app.c || exit 1
cat > limited.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
int main(int argc, char **argv)
{
    struct rlimit limit;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 100000;
    if (argc > 1)
        setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < (argc > 1 ? 50000 : 1); i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !rank && puts("done") < 0;
}
END

capture bash -c 'ulimit -f 1; exec "$@"' limited "$fvmpi" run -o none ./app
check 'a limit on file sizes: the program runs' [ "$rc:$out" = 0:done ]
check 'the message names the limit, and what helps' has "$err" 'cannot create: the limit on file sizes \(RLIMIT_FSIZE\) is reached; .*ulimit -f unlimited'

# Without /proc the kernel still says by which name fvmpi was started; of a started descriptor it says nothing.
without_proc() { capture unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }
by_descriptor() { without_proc python3 -c 'import os, sys; os.execve(os.open(sys.argv[1], 0), sys.argv[1:], os.environ)' "$@"; }
without_proc "$fvmpi" run --trace -o unmounted ./app
if [ "$sanitizer" ]; then
    skip '/proc is not mounted' 'AddressSanitizer reads it'
elif has "$err" '^(unshare|mount): ' || [ "$rc" = 127 ]; then
    skip '/proc is not mounted' 'needs unshare and mount'
else
    check '/proc is not mounted: the run is recorded' [ "$rc:$out" = 0:done -a -e unmounted/rank-000000.fvr ]
    without_proc "$(dirname "$fvmpi")/fvunify" unmounted
    check 'and fvunify finds its flavour' [ "$rc" = 0 -a -e unmounted/traces.otf2 ]
    by_descriptor "$fvmpi" run --dry-run ./app
    if has "$out" 'libfvmpi-serial'; then
        skip 'a started descriptor: the message says that' 'an fvmpi is installed where this one would be'
    else
        check 'a started descriptor: the message says that' has "$rc:$err" '^1:.*libfvmpi-serial.so: not found, because /proc is not mounted'
        FVMPI_LIBDIR=$build/.libs by_descriptor "$fvmpi" run -o unmounted-2 ./app
        check 'its remedy helps' [ "$rc:$out" = 0:done -a -e unmounted-2/rank-000000.fvr ]
        by_descriptor "$(dirname "$fvmpi")/fvunify" unmounted
        check 'fvunify says it as well' has "$rc:$err" '^1:fvmpi: fvunify: /proc is not mounted'
    fi
fi

for mpi in $(mpis | tail -1); do
    "$(mpicc_of "$mpi")" -o limited limited.c || exit 1
    read -ra launcher <<< "$(launcher_of "$mpi")"
    capture "${launcher[@]}" -n 2 "$fvmpi" run --trace -o limit ./limited limited
    check "$mpi: a limit on file sizes in the middle of a run" [ "$rc:$out" = 0:done ]
    report=$("$fvmpi" report limit --width 1000)
    check "$mpi: the report names it" has "$report" 'pieces of rank files could not be had .*limit on file sizes was reached; use ulimit -f unlimited'
    check "$mpi: and no budget" lacks "$report" 'budget|FVMPI_[A-Z]*_MAX'

    for _ in 1 2 3; do
        capture "${launcher[@]}" -n 1 "$fvmpi" run -o again ./limited
    done
    check "$mpi: the same -o again: the new name, and its report" has "$err" 'again: holds another experiment, which is kept; this one is .*/again-3; read it with: fvmpi report .*/again-3$'
    capture "$fvmpi" report again
    check "$mpi: the report of the first says which are newer" has "$err" 'again: 2 newer runs are beside it: again-2, again-3; fvmpi report again-3$'
    capture "$fvmpi" report again-3
    check "$mpi: of the last there are none" [ -z "$err" ]
    capture "$fvmpi" report again --table ranks --where 'compute >= 0' --sort -compute --columns rank,compute --csv -
    check "$mpi: columns by their titles" has "$rc:$out" '^0:rank,compute_s'
    capture "$fvmpi" report again --table ranks --where 'no such title>0'
    check "$mpi: a title that is none" has "$rc:$err" '^[12]:.*no such title: the table has no such column'

    capture "${launcher[@]}" -n 2 "$fvmpi" run ./app
    check "$mpi: a program without MPI under a launcher: one line says that nothing was recorded" [ "$(grep -c 'app: nothing was recorded: fvmpi saw no call of MPI_Init' <<< "$err")" = 1 ]
    capture "${launcher[@]}" -n 1 "$fvmpi" run sh -c './app; ./limited'
    check "$mpi: not of what a rank's script starts" lacks "$err" 'MPI_Init'
    capture "${launcher[@]}" -n 1 "$fvmpi" run -q ./app
    check "$mpi: -q says so, too" has "$err" 'app: nothing was recorded: fvmpi saw no call of MPI_Init'
    capture "$fvmpi" run -q -o none -- "${launcher[@]}" -n 1 ./app
    check "$mpi: also where it starts the launcher" has "$err" 'nothing was recorded in .*/none: fvmpi saw no call of MPI_Init'
    capture "$fvmpi" run -q -o again -- "${launcher[@]}" -n 1 ./app
    check "$mpi: also where an earlier run is in the directory" has "$err" 'nothing was recorded in .*/again: fvmpi saw no call of MPI_Init'
    capture "${launcher[@]}" -n 1 "$fvmpi" run --mpi serial -o serial ./app
    check "$mpi: its remedy helps" [ -e serial/rank-000000.fvr ]

    ln -s /tmp/nowhere-1 again/.local-nodea-1 && ln -s /tmp/nowhere-2 again/.local-nodeb-2 && ln -s /tmp/nowhere-3 again/.local-nodeb-3
    capture "$fvmpi" report again
    check "$mpi: files left on several nodes: one command gathers them" has "$out$err" 'run: mpiexec -n 2 -host nodea,nodeb fvmpi gather again'
    capture env SLURM_JOB_ID=1 "$fvmpi" report again
    check "$mpi: by Slurm's launcher in its job" has "$out$err" 'run: srun --ntasks-per-node=1 --nodelist nodea,nodeb fvmpi gather again'
    ln -s /tmp/nowhere-4 "again/.local-\$(touch pwned)-4"
    capture "$fvmpi" report again --width 1000
    check "$mpi: a host's name runs nothing" has "$out" "mpiexec -n 3 -host '\\$\\(touch pwned\\),nodea,nodeb' fvmpi gather again"

    mkdir back fuse
    if [ -r /dev/fuse ] && command -v bindfs > /dev/null && bindfs -o direct_io back fuse 2> bindfs.err; then
        capture "$fvmpi" run -o fuse/exp -- "${launcher[@]}" -n 2 ./limited
        check "$mpi: a file system that cannot map shared files: it is recorded, and the files moved" [ "$rc:$(find back/exp -name '*.fvr' | wc -l)" = 0:2 ]
        check "$mpi: which is said" has "$err" 'fuse/exp: its file system cannot map shared files .*rank files go to /tmp'
        capture "${launcher[@]}" -n 1 "$fvmpi" run -o fuse/under ./limited
        command=$(sed -n 's/.*else run: \(fvmpi gather [^ ]*\).*/\1/p' <<< "$err")
        PATH=$(dirname "$fvmpi"):$PATH sh -c "$command" > /dev/null 2>&1
        check "$mpi: under a launcher the command that is said moves them" [ -e back/under/rank-000000.fvr ]
        umount fuse
    else
        skip "$mpi: a file system that cannot map shared files" 'needs bindfs and /dev/fuse'
    fi
done
finish
