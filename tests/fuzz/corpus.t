#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The inputs that the fuzzers start from, among them all that once did harm, through the fuzzers' own functions but
# without libFuzzer, which only clang has. Each in tests/fuzz/NAME.tar.xz; with ./dev asan this is the sanitizers' test.
. "$(dirname "$0")/../lib.sh"

for name in archive definitions merge reader timeline; do
    if [ ! -x "$build/tests/fuzz/replay_$name" ]; then
        skip "$name: inputs" "OTF2 was not found; install the package libotf2-trace-dev"
        continue
    fi
    mkdir "$name"
    if ! "${PYTHON:-python3}" -m tarfile -e "$here/fuzz/$name.tar.xz" "$name" 2> tar.err; then
        skip "$name: inputs" "this python3 cannot unpack them: $(tail -1 tar.err)"
        continue
    fi
    inputs=("$name"/*)
    capture "$build/tests/fuzz/replay_$name" "${inputs[@]}"
    check "$name: ${#inputs[@]} inputs (the last line of out: where it ended)" \
        test "$rc:$(tail -1 <<< "$out")" = "0:${inputs[-1]}"
done
finish
