#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# fvmpi run with real MPIs: both ways to launch, status and output passed through, signals, where the
# experiment goes.
. "$(dirname "$0")/../lib.sh"

cat > app.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d of %d %s\n", sum, size, argc > 1 ? argv[1] : "");
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "wait"))
        for (int i = 0; i < 300; i++)
            usleep(100000);
    MPI_Finalize();
    return argc > 2 ? atoi(argv[2]) : 0;
}
END
cat > serial.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv) { return argc > 1 ? atoi(argv[1]) : 0; }
END

files() { ls "$1" 2> /dev/null | grep -c '^rank-.*\.fvr$'; }
small() { [ "$(du -k "$1/rank-000001.fvr" | cut -f 1)" -le 96 ]; }
wrote() { sed -n 's/^fvmpi: wrote \(.*\); read it with: .*/\1/p' <<< "$err"; }

try_mpi() {
    local mpi=$1 other launcher
    read -ra launcher <<< "$(launcher_of "$mpi")"

    capture "${launcher[@]}" -n 2 "$fvmpi" run -o "in-$mpi" -- "./app.$mpi" 'two words'
    check "$mpi: inside the launcher: output" has "$rc:$out" '^0:sum 2 of 2 two words'
    check "$mpi: inside the launcher: a file for each rank" test "$(files "in-$mpi")" -eq 2
    check "$mpi: inside the launcher: nothing on stderr" test -z "$err"
    check "$mpi: inside the launcher: a file of few calls takes 96 KiB of disk at most" small "in-$mpi"

    capture "$fvmpi" run -o "out-$mpi" -- "${launcher[@]}" -n 3 "./app.$mpi"
    check "$mpi: around the launcher: output" has "$rc:$out" '^0:sum 3 of 3'
    check "$mpi: around the launcher: a file for each rank" test "$(files "out-$mpi")" -eq 3
    check "$mpi: around the launcher: says where" has "$err" "fvmpi: wrote .*/out-$mpi; read it with: fvmpi report .*/out-$mpi"

    capture "$fvmpi" run -o "out-$mpi" -- "${launcher[@]}" -n 2 "./app.$mpi"
    check "$mpi: a directory that is taken: another name, said" has "$err" "out-$mpi: holds another experiment"
    check "$mpi: ... it is kept, and the new one is named" test "$(files "out-$mpi"):$(wrote)" = "3:$work/out-$mpi-2"

    capture "$fvmpi" run -- "${launcher[@]}" -n 2 "./app.$mpi"
    check "$mpi: the contract's name" has "$(wrote)" "/fvmpi-app\.$mpi-2p-[0-9]{8}T[0-9]{6}Z(-[0-9]+)?\$"
    capture "${launcher[@]}" -n 2 "$fvmpi" run "./app.$mpi"
    check "$mpi: the runtime names it alike" test "$(find . -maxdepth 1 -name "fvmpi-app.$mpi-2p-*Z*" | wc -l)" -eq 2

    capture "$fvmpi" run -q -o "quiet-$mpi" -- "${launcher[@]}" -n 1 "./app.$mpi"
    check "$mpi: --quiet says nothing" test "$rc:$err" = 0:
    capture "$fvmpi" run --disable -o "disabled-$mpi" -- "${launcher[@]}" -n 1 "./app.$mpi"
    check "$mpi: --disable writes nothing" test "$rc" -eq 0 -a ! -e "disabled-$mpi"

    capture "$fvmpi" run -q -o "status-$mpi" -- "${launcher[@]}" -n 1 "./app.$mpi" x 42
    check "$mpi: the launcher's status is ours" test "$rc" -eq 42
    capture "$fvmpi" run -o "alone-$mpi" "./app.$mpi" x 43
    check "$mpi: without a launcher: one rank" has "$rc:$out" '^43:sum 1 of 1'
    check "$mpi: without a launcher: says where" test "$(wrote)" = "$work/alone-$mpi"
    capture "$fvmpi" run -q -o "env-$mpi" -- "${launcher[@]}" -n 2 env A=1 "./app.$mpi"
    check "$mpi: found behind other programs" test "$rc:$(files "env-$mpi")" = 0:2
    capture env FVMPI_DEPHT=1 "$fvmpi" run -q -o "warn-$mpi" -- "${launcher[@]}" -n 3 "./app.$mpi"
    check "$mpi: a wrong variable: one line per job" test "$(grep -c 'FVMPI_DEPHT: no such variable' <<< "$err")" -eq 1

    capture "$fvmpi" run -o "serial-$mpi" -- "${launcher[@]}" -n 1 ./serial 5
    check "$mpi: a program that calls no MPI: nothing recorded, said" has "$rc:$err" 'nothing was recorded in .*/serial-'
    check "$mpi: ... and no directory is left" test ! -e "serial-$mpi"
    capture "$fvmpi" run -o /proc/fvmpi/exp -- "${launcher[@]}" -n 2 "./app.$mpi"
    check "$mpi: no place for the experiment: status and output are the program's" test "$rc:$out" = '0:sum 2 of 2 '
    check "$mpi: ... it is said" has "$err" '^fvmpi: /proc/fvmpi/exp: cannot make the experiment directory'
    check "$mpi: ... and the program is not blamed" lacks "$err" 'MPI_Init'
}

# Linked with -lfvmpi-*: recorded without fvmpi run, and only once under it.
try_relinked() {
    local mpi=$1 launcher
    read -ra launcher <<< "$(launcher_of "$mpi")"
    # shellcheck disable=SC2086
    $(mpicc_of "$mpi") ${SANITIZE_FLAGS:-} -I"$source/src" linked.c -L"$build/.libs" "-lfvmpi-$mpi" -Wl,-rpath,"$build/.libs" -o "linked.$mpi"
    capture "${launcher[@]}" -n 2 env FVMPI_OUTPUT=linked "./linked.$mpi"
    check "$mpi: relinked: recorded" test "$rc:$(files linked)" = 0:2
    check "$mpi: relinked: fvmpi.h and the library are of one version" has "$out" '^version ([0-9.]+) \1$'
    capture "${launcher[@]}" -n 2 "$fvmpi" run -o linked-twice "./linked.$mpi"
    check "$mpi: relinked and under fvmpi run: one file for each rank" test "$rc:$(files linked-twice)" = 0:2
    rm -rf linked linked-twice
}
cat > linked.c <<'END'
#include <fvmpi.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fvmpi_pause();
    fvmpi_resume();
    printf("version %s %s\n", FVMPI_VERSION, fvmpi_version());
    MPI_Finalize();
    return 0;
}
END

# A signal to fvmpi run reaches the launcher, which ends the job; what was recorded is there.
try_signal() {
    local mpi=$1 launcher pid
    read -ra launcher <<< "$(launcher_of "$mpi")"
    "$fvmpi" run -o "signal-$mpi" -- "${launcher[@]}" -n 2 "./app.$mpi" wait > signal.out 2> signal.err < /dev/null &
    pid=$!
    for _ in $(seq 100); do grep -q sum signal.out && break; sleep 0.1; done
    kill -TERM "$pid"
    SECONDS=0
    wait "$pid"
    rc=$? out=$(cat signal.out) err=$(cat signal.err) # the status is the launcher's: Hydra says 0
    check "$mpi: SIGTERM ends the job" test "$SECONDS" -lt 15
    check "$mpi: ... and the experiment is there" test "$(files "signal-$mpi"):$(wrote)" = "2:$work/signal-$mpi"
}

cc serial.c -o serial
cat > die.c <<'END'
#include <signal.h>
int main(void) { return raise(SIGKILL); }
END
cc die.c -o die
capture "$fvmpi" run -o exp-serial ./serial 9
check 'serial: status' test "$rc" -eq 9
check 'serial: one file' test "$(files exp-serial)" -eq 1
cp -a exp-serial exp-kept
for file in rank-000000.fvr run.json .job; do
    capture "$fvmpi" report exp-serial --json "exp-serial/$file"
    check "report --json onto $file: refused" has "$rc:$err" "^2:.*\"message\":\"report: exp-serial/$file: .*overwrite a file of a recorded run"
done
capture "$fvmpi" report exp-serial --csv exp-serial/rank-000000.fvr
check 'report --csv onto a rank file: refused' has "$rc:$err" '^1:fvmpi: exp-serial/rank-000000.fvr.*: Not a directory'
capture "$fvmpi" report exp-serial --csv exp-serial
check 'report --csv among the rank files: refused' has "$rc:$err" '^2:fvmpi: report: exp-serial: .*into the directory of a recorded run'
capture "$fvmpi" report exp-serial/run.json
check 'report of another file in it: names the directory' test "$rc:$err" = \
    '1:fvmpi: exp-serial/run.json: not a rank file; give the experiment directory: exp-serial'
for command in report diff; do
    capture "$fvmpi" $command exp-serial --xyzzy exp-serial
    check "$command: an unknown option" has "$rc:$err" "^2:fvmpi: $command: --xyzzy: no such option; see"
    capture "$fvmpi" $command exp-serial --jsno=x exp-serial
    check "$command: a misspelt option" has "$rc:$err" "^2:fvmpi: $command: --jsno=x: no such option \(did you mean --json\?\)"
    capture "$fvmpi" $command exp-serial --json
    check "$command: a missing value is no misspelling" has "$rc:$err" "^2:.*\"message\":\"$command: --json: .*its value is missing"
done
check '... and all of it is as it was' diff -r --no-dereference exp-kept exp-serial
capture "$fvmpi" report exp-serial --json exp-serial/profile.json
check 'report --json beside the rank files' test "$rc" -eq 0 -a -s exp-serial/profile.json
capture "$fvmpi" run -q -o exp-shell -- sh -c './serial 1; ./serial 2; exit 3'
check 'serial: helpers are not recorded' test "$rc:$(files exp-shell)" = 3:1
capture "$fvmpi" run -q -o exp-bash -- bash -c './serial 1; bash -c "./serial 2"; exit 3'
check '... of bash, which has a getenv() of its own' test "$rc:$(files exp-bash):$(grep -c 'recording to' <<< "$err")" = 3:1:0
capture "$fvmpi" run -q -o exp-die ./die
check 'death by a signal: 128 and its number' test "$rc" -eq 137

found=$(mpis)
for mpi in $found; do
    $(mpicc_of "$mpi") app.c -o "app.$mpi" || exit 1
done
for mpi in $found; do
    try_mpi "$mpi"
    [[ " $(an_mpi | xargs) " != *" $mpi "* ]] || try_relinked "$mpi"
    try_signal "$mpi"
done
if [ "$(wc -w <<< "$found")" -eq 2 ]; then
    read -ra launcher <<< "$(launcher_of mpich)"
    capture "${launcher[@]}" -n 2 "$fvmpi" run -q -o crossed ./app.openmpi
    check 'the launcher of another MPI: said once' test "$(grep -c 'but the launcher is mpich' <<< "$err")" -eq 1
    check '... and the program runs as it would' has "$rc:$out" '^0:sum 1 of 1'
    read -ra launcher <<< "$(launcher_of openmpi)"
    capture "$fvmpi" run -q -o x-option -- "${launcher[@]}" -x HOME -n 2 ./app.openmpi
    check 'Open MPI'\''s -x stays possible' test "$rc:$(files x-option)" = 0:2
else
    skip 'the launcher of another MPI' "only one MPI was built: $found"
fi
[ -n "$found" ] || skip 'launching MPI programs' 'no MPI was built, or its launcher is missing'
finish
