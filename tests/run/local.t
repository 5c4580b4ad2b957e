#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Rank files in a node-local directory: moved to the experiment when the job has ended, however it did; never lost, never
# over somebody's file, and through no link.
. "$(dirname "$0")/../lib.sh"

cat > app.c <<'END'
#ifdef MPI
#include <mpi.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank = 0;
#ifdef MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (!strcmp(what, "wait")) {
        printf("up %d\n", (int)getpid());
        fflush(stdout);
        for (int i = 0; i < 600; i++)
            usleep(100000);
    }
    if (!strcmp(what, "die") && rank == 1)
        raise(SIGSEGV);
#ifdef MPI
    MPI_Finalize();
#endif
    return atoi(what);
}
END
cc app.c -o app || exit 1
mkdir disk
disk=$work/disk

files() { find "$1" -name 'rank-*.fvr' 2> /dev/null | wc -l; }
notes() { find "$1" -name '.local-*' | wc -l; }
gathered() { [ "$(files "$1"):$(notes "$1"):$(ls -A disk)" = "$2:0:" ]; }
# A rank alone, as a launcher would start it; and one that ran without fvmpi run, so that its file is on the disk.
rank=(env PMI_RANK=0 "$fvmpi" run --mpi serial --local "$disk")
by_hand() { env FVMPI_LOCAL="$disk" FVMPI_OUTPUT="$work/$1" FVMPI_LIBDIR= LD_PRELOAD="${sanitizer:+$sanitizer:}$build/.libs/libfvmpi-serial.so" ./app; }
local_file() { ls disk/fvmpi-local-*/rank-000000.fvr; }
wait_for() { for _ in $(seq 200); do "$@" > /dev/null 2>&1 && return; sleep 0.1; done; return 1; }
start_rank() {
    rm -f up
    "${rank[@]}" -o "$1" ./app wait > up 2> /dev/null < /dev/null &
    pid=$!
    wait_for grep -q up up
    app=$(sed 's/up //' up)
}
ended() { ! kill -0 "$1"; }

capture "$fvmpi" run -o around --local "$disk" ./app 7
check 'around a program: its status' [ "$rc" = 7 ]
check '... its file is moved' gathered around 1
check '... which is said' has "$err" 'wrote .*/around; read it'
capture "${rank[@]}" -o alone ./app 7
check 'a rank: its status' [ "$rc" = 7 ]
check '... its file is moved' gathered alone 1
capture "$fvmpi" report alone
check '... and readable' has "$rc:$out" 'exited with status 7'
capture "${rank[@]}" -o alone ./app 0
check 'a second run: the next directory' gathered alone-2 1

# Signals reach the process group, and what waits for the rank outlives them.
for signal in TERM USR1 KILL; do
    start_rank "signal-$signal"
    check "$signal: while it runs the file is on the disk" [ "$(files disk):$(files "signal-$signal")" = 1:0 ]
    capture "$fvmpi" report "signal-$signal"
    check '... and the report reads it' has "$rc:$err:$(echo $out)" '^0::.* ranks 1 on .* INCOMPLETE running( |$)'
    capture "$fvmpi" where --looks 1 "signal-$signal"
    check '... and fvmpi where looks at it' [ "$rc:$err" = 0: ]
    check '... and tells' has "$out" 'Where everybody is'
    capture "$fvmpi" keep -o "keep-$signal" "signal-$signal"
    check '... and fvmpi keep copies it' [ "$rc:$(files "keep-$signal"):$(files disk)" = 0:1:1 ]
    capture "$fvmpi" report "keep-$signal"
    check '... and the copy is readable' [ "$rc:$err" = 0: ]
    ln -s "$disk/fvmpi-local-0-0" "signal-$signal/.local-elsewhere-0"
    capture "$fvmpi" where --looks 1 "signal-$signal"
    check '... beside ranks of another host, of which it tells' has "$rc:$err" "^0:.*ranks on elsewhere write to their nodes' own disks .--local.; to see them, run fvmpi where there"
    capture "$fvmpi" keep -q -o "some-$signal" "signal-$signal"
    check '... as keep does' has "$rc:$(files "some-$signal"):$err" "^1:1:.*ranks on elsewhere write to their nodes' own disks .--local.; to copy theirs, run fvmpi keep there"
    capture "$fvmpi" report "signal-$signal"
    check '... as the report does' has "$rc:$out" "rank files on 1 host are not gathered: elsewhere:$disk/fvmpi-local-0-0"
    rm "signal-$signal/.local-elsewhere-0"
    mkdir "both-$signal" && cp -P "signal-$signal"/.local-* "both-$signal/" && cp "$(local_file)" "both-$signal/"
    capture "$fvmpi" report "both-$signal"
    check '... and a file that is there, too, once' has "$rc:$err:$(echo $out)" '^0::.* ranks 1 on .* INCOMPLETE running( |$)'
    capture timeout 10 "$fvmpi" where --looks 1 "both-$signal"
    check '... also by where' has "$rc:$err:$(echo $out)" '^0::.*Where everybody is'
    mkfifo "both-$signal/rank-000001.fvr"
    capture timeout 10 "$fvmpi" where --looks 1 "both-$signal"
    check '... which no pipe holds up' has "$rc:$(echo $out)" '^0:.*Where everybody is'
    rm -r "both-$signal"
    capture "$fvmpi" gather "signal-$signal"
    check '... and it is not moved' has "$rc:$err" '^1:.*1 rank file is not moved: the process still runs'
    [ "$signal" = KILL ] || kill "-$signal" "$pid"
    kill "-$signal" "$app"
    wait "$pid" 2> /dev/null
    rc=$?
    check "$signal: the launcher sees that signal" [ "$rc" = $((128 + $(kill -l "$signal"))) ]
    check '... and the file is moved' gathered "signal-$signal" 1
done
mkdir others && ln -s "$disk/fvmpi-local-0-0" others/.local-elsewhere-0
capture "$fvmpi" where others
check 'where: a job on other hosts alone: one line' [ "$rc:$err" = "1:fvmpi: others: ranks on elsewhere write to their nodes' own disks (--local); to see them, run fvmpi where there" ]
capture "$fvmpi" keep others
check '... keep, too' [ "$rc:$err" = "1:fvmpi: keep: others: ranks on elsewhere write to their nodes' own disks (--local); to copy theirs, run fvmpi keep there" ]
start_rank killed
kill -KILL "$pid"
{ wait "$pid"; } 2> /dev/null
check 'who waits for a rank is killed: the rank is, too' wait_for ended "$app"
capture "$fvmpi" gather killed
check '... and gather moves its file' has "$rc:$err" '^0:fvmpi: killed: 1 rank file moved'
check '... whole' gathered killed 1
capture "$fvmpi" report killed
check '... and it is readable' has "$rc:$out" 'killed'
capture "$fvmpi" gather killed
check 'again: nothing to do' has "$rc:$err" '^0:fvmpi: killed: 0 rank files moved'

by_hand hand
check 'without fvmpi run: the file stays on the disk' [ "$(files hand):$(notes hand):$(files disk)" = 0:1:1 ]
capture "$fvmpi" gather -q "$disk"
check '... gather of the local directory says nothing' [ "$rc:$err" = 0: ]
check '... and moves it' gathered hand 1

by_hand moved
mv moved elsewhere
capture "$fvmpi" gather "$disk"
check 'an experiment that is not where it was' has "$rc:$err" '^1:.*moved: 1 rank file is not moved there: rank-000000.fvr: No such file'
capture "$fvmpi" gather elsewhere
check '... is named' gathered elsewhere 1

echo precious > victim
untouched() { [ "$(cat victim)" = precious ]; }
by_hand taken
ln -s ../victim taken/rank-000000.fvr
capture "$fvmpi" gather taken
check 'a name that is taken, by a link' has "$rc:$err" '^1:.*taken: 1 rank file is not moved there: rank-000000.fvr: another file has that name; it stays in .*fvmpi-local-'
check '... which stays' [ -L taken/rank-000000.fvr ]
check '... and is not followed' untouched
check '... and no part is left' [ ! -e taken/rank-000000.fvr.part ]
rm taken/rank-000000.fvr && cp "$(local_file)" taken/
capture "$fvmpi" gather taken
check 'the same file, moved by somebody who was stopped' gathered taken 1

by_hand lost
cp "$(local_file)" kept.fvr
rm -r disk/fvmpi-local-*
capture "$fvmpi" gather lost
check 'a host whose disk was emptied: its files are lost, which gather says' has "$rc:$err" "^0:.*lost: $disk/fvmpi-local-.* is gone; rank files in it are lost"
check '... and its note stays' [ "$(notes lost)" = 1 ]
capture "$fvmpi" report lost
check '... so that reports name the host' has "$err" 'rank files on 1 host are not gathered'
cp kept.fvr lost/rank-000000.fvr
capture "$fvmpi" gather lost
check '... until all ranks have their file' gathered lost 1

by_hand part
ln -s ../victim part/rank-000000.fvr.part
capture "$fvmpi" gather part
check "a link under the part's name" has "$rc:$err" '^1:.*not moved'
check '... is not followed' untouched
rm part/rank-000000.fvr.part && echo half > part/rank-000000.fvr.part
capture "$fvmpi" gather part
check 'what an interrupted copy left is replaced' gathered part 1

by_hand full
before=$(cksum < "$(local_file)")
capture bash -c 'ulimit -f 10; exec "$@"' limited "$fvmpi" gather full
check 'no room' has "$rc:$err" '^1:fvmpi: .*full: 1 rank file is not moved there: rank-000000.fvr: File too large; it stays in .*then: fvmpi gather '
check '... one line for it' [ "$(grep -c 'not moved' <<< "$err")" = 1 ]
check '... the local file is kept, and no part of a copy' [ "$(files full):$(cksum < "$(local_file)"):$(find full -name '*.part')" = "0:$before:" ]
capture "$fvmpi" gather full
check '... until there is room' gathered full 1

# All files of a host in one.
capture "$fvmpi" run -o together --local "$disk" --container ./app 7
check 'in a container: its status' [ "$rc" = 7 ]
check '... and one file' [ "$(ls together):$(notes together):$(ls -A disk)" = "$(ls together/ranks-*.fvc | sed 's,.*/,,')
run.json:0:" ]
capture "$fvmpi" report together
check '... which reports read' has "$rc:$out" 'exited with status 7'
capture "$fvmpi" dump "$(ls together/ranks-*.fvc)/rank-000000.fvr"
check '... or a file in it' has "$rc:$out" '^0:file name="rank-000000.fvr"'
by_hand other
mkdir later && mv other/run.json later && rm -r other && ln -s "$work/later" other
capture "$fvmpi" gather --container "$disk"
check 'gather, too' [ "$rc:$(ls later | grep -c 'ranks-.*\.fvc'):$(ls -A disk)" = 0:1: ]
capture "$fvmpi" run -o none --container ./app
check 'a container without --local' has "$rc:$err" '^2:fvmpi: run: --container: it needs --local DIR'

mkdir real
ln -s "$work/full" real/.experiment
cp full/*.fvr real/
ln -s "$work/real" disk/fvmpi-local-"$(id -u)"-0
capture "$fvmpi" gather "$disk"
check 'a link in the place of a local directory is not followed' has "$rc:$err" '^1:.*nothing is gathered from there'
check '... and what it leads to is kept' [ "$(files real)" = 1 ]
rm disk/*

if [ "$(id -u)" = 0 ]; then
    by_hand theirs
    chown -R 12345 disk/*
    capture "$fvmpi" gather theirs
    check "another user's local directory" has "$rc:$err" '^1:.*another user owns it or can write to it; nothing is gathered from there'
    rm -rf "${disk:?}"/*
else
    skip "another user's local directory" 'only root can make one'
fi

mkdir log
echo > log/file
capture "$fvmpi" run -o straight --local "$work/log/file" ./app 3
check 'a local directory that cannot be made: recorded all the same' [ "$rc:$(files straight)" = 3:1 ]
check '... which is said' has "$err" 'log/file: cannot be written to: Not a directory; rank files go to .*/straight'
capture "$fvmpi" run --local disk ./app
check 'a relative path' has "$rc:$err" '^2:fvmpi: run: --local disk: not an absolute path'
capture "$fvmpi" gather
check 'gather of nothing' has "$rc:$err" '^2:fvmpi: gather: no experiment directory'
capture "$fvmpi" gather app
check 'gather of a file' has "$rc:$err" '^1:fvmpi: gather: app: Not a directory'

try_mpi() {
    local mpi=$1 launcher plain
    read -ra launcher <<< "$(launcher_of "$mpi")"
    $(mpicc_of "$mpi") -DMPI app.c -o "app.$mpi" || exit 1

    capture "${launcher[@]}" -n 2 "$fvmpi" run -o "in-$mpi" --local "$disk" "./app.$mpi"
    check "$mpi: inside the launcher" [ "$rc:$err" = 0: ]
    check "$mpi: ... all files are moved" gathered "in-$mpi" 2
    capture "$fvmpi" run -o "out-$mpi" --local "$disk" -- "${launcher[@]}" -n 2 "./app.$mpi"
    check "$mpi: around the launcher" has "$rc:$(tail -1 <<< "$err")" '^0:.*wrote'
    check "$mpi: ... all files are moved" gathered "out-$mpi" 2
    capture "$fvmpi" run -q --local "$disk" -- "${launcher[@]}" -n 2 "./app.$mpi"
    check "$mpi: ... under the name that was made up" gathered "$(echo fvmpi-app."$mpi"-2p-*)" 2

    capture "$fvmpi" run -o "all-$mpi" --trace --local "$disk" --container -- "${launcher[@]}" -n 4 "./app.$mpi"
    check "$mpi: in a container: all files are in it" [ "$(files "all-$mpi"):$(ls -A disk):$("$fvmpi" report "all-$mpi" --json - | grep -c '"reported_count": *4')" = 0::1 ]
    if [ -x "$build/fvunify-serial" ]; then
        capture "$build/fvunify-serial" "all-$mpi"
        check "$mpi: ... and fvunify reads it" has "$err" ': 4 ranks, '
    fi
    capture "${launcher[@]}" -n 2 "$fvmpi" run -q -o "plain-$mpi" "./app.$mpi" die
    plain=$rc
    capture "${launcher[@]}" -n 2 "$fvmpi" run -q -o "die-$mpi" --local "$disk" "./app.$mpi" die
    check "$mpi: a rank crashes: the launcher's status is the same" [ "$rc" = "$plain" ]
    capture "$fvmpi" gather "die-$mpi"
    check "$mpi: ... all files are moved, by gather where the launcher killed what would" gathered "die-$mpi" 2
    capture "$fvmpi" run -q -o "died-$mpi" --local "$disk" -- "${launcher[@]}" -n 2 "./app.$mpi" die
    check "$mpi: ... around the launcher at once" gathered "died-$mpi" 2
}
for mpi in $(an_mpi); do
    try_mpi "$mpi"
done
[ -n "$(mpis)" ] || skip 'ranks of MPI programs' 'no MPI was built, or its launcher is missing'
finish
