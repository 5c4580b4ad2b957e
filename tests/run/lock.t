#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two fvunify in one directory: the second one says so before it does any work, and changes nothing.
. "$(dirname "$0")/../lib.sh"

[ -x "$build/fvunify-serial" ] || { skip 'two fvunify' 'built without OTF2'; finish; exit; }
[ -x "$build/tests/bench/trace_gen" ] || { skip 'two fvunify' 'tests/bench/trace_gen is not built'; finish; exit; }
command -v flock > /dev/null || { skip 'two fvunify' 'no flock; its package is util-linux'; finish; exit; }
mkdir exp out
"$build/tests/bench/trace_gen" exp 2 300 || exit 1
echo '{ "schema": "fvmpi-analysis-1" }' > out/analysis.json
exec 9< out
flock 9
capture "$build/fvunify-serial" exp -o out -v
check 'a directory where another fvunify works is refused' has "$rc:$err" '^1:.*fvmpi: out: another fvunify is running here'
check '... before the analysis' lacks "$err" 'analysis:'
check '... and nothing in it is changed' [ "$(ls -A out):$(cat out/analysis.json)" = 'analysis.json:{ "schema": "fvmpi-analysis-1" }' ]
exec 9<&-
capture "$build/fvunify-serial" exp -o out -q
check 'then it is merged' [ "$rc:$(ls -A out | tr '\n' ' ')" = '0:analysis.json traces traces.def traces.marker traces.otf2 ' ]
finish
