#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# fvmpi selftest: it passes here, says what is missing and what is broken, ends in time, and leaves nothing behind.
. "$(dirname "$0")/../lib.sh"

export TMPDIR=$work/tmp
mkdir tmp
is_clean() { [ -z "$(ls -A "$TMPDIR")" ]; }
title_of() { if [ "$1" = mpich ]; then echo MPICH; else echo 'Open MPI'; fi; }

# ---- all that is here ----
capture "$fvmpi" selftest --limit 220
check 'it passes, and counts' has "$rc:$(tail -n 1 <<< "$out")" '^0:[1-9][0-9]* ok, 0 not ok, [0-9]+ skipped$'
check 'without MPI' has "$out" '^ok - without MPI: the report names react\(\)$'
for mpi in $(mpis); do
    check "$mpi: the report names rank and function" has "$out" "^ok - $(title_of "$mpi"): the report names rank 1 and react\(\)$"
    if [ -x "$build/fvunify-serial" ]; then
        check "$mpi: so does the merged trace" has "$out" "^ok - $(title_of "$mpi"): the report of the merged trace names rank 1 and react\(\)$"
    else
        skip "$mpi: the merged trace" 'built without OTF2'
    fi
done
check 'nothing is left' is_clean

# ---- what is broken is red, with a true line ----
for mpi in $(mpis); do
    mkdir "libs-$mpi"
    ln -s "$build"/.libs/libfvmpi* "libs-$mpi/"
    rm "libs-$mpi/libfvmpi-$mpi.so"
    capture env FVMPI_LIBDIR="$work/libs-$mpi" "$fvmpi" selftest --mpi "$mpi" --limit 220
    check "$mpi: its library was removed" has "$rc:$out" "not ok - $(title_of "$mpi"): $work/libs-$mpi/libfvmpi-$mpi.so: it is not there; install .*libfvmpi-$mpi"
    check "$mpi: the exit status says so" test "$rc" -eq 1
done
mpi=$(mpis | tail -n 1)
if [ -n "$mpi" ]; then
    rm "libs-$mpi/libfvmpi-serial.so"
    : > "libs-$mpi/libfvmpi-serial.so"
    capture env FVMPI_LIBDIR="$work/libs-$mpi" "$fvmpi" selftest --mpi serial --limit 220
    check 'a library that cannot be loaded' has "$rc:$(tr '\n' ' ' <<< "$out")" '^1:.*not ok - without MPI: (fvmpi run records it|the report names react\(\)): '
else
    skip 'a library that cannot be loaded' 'no MPI is here'
fi
ln -s "$build/.libs" libs
capture env TMPDIR=tmp FVMPI_LIBDIR=libs "$fvmpi" selftest --mpi serial --limit 220
check 'directories of the environment that are relative' has "$rc:$(tail -n 1 <<< "$out")" '^0:3 ok, 0 not ok, 0 skipped$'
check 'nothing is left of those' is_clean

# ---- what is missing ----
mkdir empty
capture env PATH="$work/empty" "$fvmpi" selftest
check 'no compiler: nothing was tested, which is no success' has "$rc:$(tr '\n' ' ' <<< "$out")" '^1:skipped - MPICH: not tested: no compiler .*skipped - Open MPI: not tested: no compiler .*skipped - without MPI: not tested: no compiler \(cc\) .*0 ok, 0 not ok, 3 skipped'
capture env PATH="$work/empty" "$fvmpi" selftest --mpi serial
check 'no compiler for what is asked for' has "$rc:$out" '^1:not ok - without MPI: not tested: no compiler \(cc\) in PATH; its package is gcc'
mkdir none
ln -s "$(command -v cc)" none/mpicc
capture env PATH="$work/none:/nowhere" "$fvmpi" selftest --mpi mpich
check "an mpicc that is no MPI's" has "$rc:$out" '^1:not ok - MPICH: mpicc compiles a program: exit status [0-9]+'

# ---- time and signals ----
mkdir slow
printf '#!/bin/sh\nexec /bin/sleep 200\n' > slow/mpicc.mpich
chmod +x slow/mpicc.mpich
begin=$SECONDS
capture env PATH="$work/slow" "$fvmpi" selftest --mpi mpich --limit 1
check 'a step that hangs is ended' has "$rc:$out" '^1:not ok - MPICH: mpicc.mpich compiles a program: not done within the time limit'
check 'in time' test $((SECONDS - begin)) -lt 60
env PATH="$work/slow" "$fvmpi" selftest --mpi mpich --limit 220 > interrupted.out 2>&1 &
pid=$!
for ((i = 0; i < 500; i++)); do [ -z "$(ls "$TMPDIR"/*/mpich.log 2> /dev/null)" ] || break; sleep 0.02; done
kill -TERM $pid
wait $pid
rc=$? out=$(cat interrupted.out)
check 'a signal ends it' has "$rc:$out" '^143:not ok - MPICH: mpicc.mpich compiles a program: interrupted'
check 'and nothing is left' is_clean

# ---- usage ----
capture env PATH="$work/empty" "$fvmpi" selftest --keep
check '--keep names what it keeps' test -d "$(sed -n 's/^kept: //p' <<< "$out")"
capture "$fvmpi" selftest --mpi lam
check 'an MPI that it does not know' has "$rc:$err" '^2:fvmpi: selftest: lam: --mpi takes mpich, openmpi and serial'
capture "$fvmpi" selftest --limit 0
check 'no time' has "$rc:$err" '^2:fvmpi: selftest: 0: --limit takes seconds'
capture "$fvmpi" selftest ./app
check 'a program of the user' has "$rc:$err" '^2:fvmpi: selftest: ./app: it takes options only'
capture env PMI_RANK=0 "$fvmpi" selftest
check 'under a launcher' has "$rc:$err" '^2:fvmpi: selftest: this is a rank: start it without a launcher'
capture env TMPDIR=/nowhere "$fvmpi" selftest
check 'no place to write' has "$rc:$err" '^1:fvmpi: selftest: /nowhere: No such file or directory; name a directory'
finish
