#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Commands that are printed for somebody to paste are written by base/shell.h and by nothing else: no format has a command with a %s in it, which would be neither quoted nor escaped.
# --mpi is followed by a name of ours. What is loaded into the application reads variables by fv_env(): none of a setuid program, and none by a shell's own getenv().
. "$(dirname "$0")/../lib.sh"

out=$(grep -rnE '"[^"]*\b(fvmpi [a-z]+|fvunify)( --?[a-z-]+)* "?%' "$source"/{src,otf2,mpi-wrappers} --include='*.[ch]' | grep -v 'run --mpi %s')
check 'commands that are printed are quoted by base/shell.h' test -z "$out"
out=$(cd "$source" && grep -rnE '\b(secure_)?getenv *\(' mpi-wrappers src/{annotations,base,counters,front,functions,io,look,memory,rt,sampler,sensors,threads} --include='*.[ch]' |
    grep -vE ':( \*|/\*)')
check "the application's side has no getenv()" test -z "$out"
finish
