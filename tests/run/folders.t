#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A job of more than a thousand ranks: its rank files are in folders, which all tools read.
. "$(dirname "$0")/../lib.sh"

[ -x "$build/tests/bench/trace_gen" ] || { skip 'folders of ranks' 'tests/bench/trace_gen is not built'; finish; exit; }
mkdir exp
"$build/tests/bench/trace_gen" exp 1100 4 || exit 1
check '1024 files a folder' [ "$(ls exp):$(ls exp/ranks-000000 | wc -l):$(ls exp/ranks-001024 | wc -l)" = "ranks-000000
ranks-001024:1024:76" ]
capture "$fvmpi" report exp --no-symbols
check 'report: all ranks, complete' has "$rc:$out" 'ranks +1100 on'
check '... complete' lacks "$out$err" 'no rank file'
capture "$fvmpi" dump exp
check 'dump: in the order of ranks' [ "$(grep -c '^file ' <<< "$out"):$(grep '^file ' <<< "$out" | tail -1 | cut -d' ' -f2)" = '1100:name="rank-001099.fvr"' ]
capture "$fvmpi" check exp
check 'check: it is an experiment' has "$rc:$err" '^1:fvmpi: exp: no archive in it; make one from its trace: fvunify exp'
capture "$fvmpi" report exp --no-symbols --csv exp
check 'report: no tables among rank files' has "$rc:$err" '^2:.*into the directory of a recorded run'
if [ -x "$build/fvunify-serial" ]; then
    capture "$build/fvunify" exp
    check 'fvunify: all ranks' has "$rc:$err" '^0:fvmpi: exp/traces.otf2: 1100 ranks, '
fi
rm exp/ranks-001024/rank-001050.fvr exp/ranks-000000/rank-000007.fvr
capture "$fvmpi" report exp --no-symbols --table problems
check 'files that are missing' has "$out" 'rank 7 has no rank file'
check '... in each folder' has "$out" 'rank 1050 has no rank file'
finish
