#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Commands that are printed for somebody to paste are written by base/shell.h and by nothing else: no format has a command with a %s in it, which would be neither quoted nor escaped.
# --mpi is followed by a name of ours.
. "$(dirname "$0")/../lib.sh"

out=$(grep -rnE '"[^"]*\b(fvmpi [a-z]+|fvunify)( --?[a-z-]+)* "?%' "$source"/{src,otf2,mpi-wrappers} --include='*.[ch]' | grep -v 'run --mpi %s')
check 'commands that are printed are quoted by base/shell.h' test -z "$out"
finish
