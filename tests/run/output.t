#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Result files that cannot be written to their end: what was there before stays, and nothing else is left behind.
. "$(dirname "$0")/../lib.sh"

mkdir runs results && tar -C runs -xJf "$source/tests/replay/profile.tar.xz" || exit 1
run=$(dirname "$(find runs -name 'rank-000000.fvr' | head -1)")

capture "$fvmpi" report "$run" --no-symbols --json results/a.json --csv results/csv
check 'a report in files' [ "$rc" = 0 ]
cp results/a.json before.json
cp results/csv/callsites.csv before.csv
there=$(find results | sort)
check 'no part of one is left' lacks "$there" 'part$'

for option in '--json results/a.json' '--csv results/csv' '--json results/new.json'; do
    # shellcheck disable=SC2086
    capture bash -c 'ulimit -f 1; exec "$@"' limited "$fvmpi" report "$run" --no-symbols $option
    check "$option: too large a file is an error" [ "$rc" = 1 ]
    check "$option: which is said" has "$err" '("message":"|fvmpi: ).*: File too large; choose another'
    check "$option: what was there stays" cmp before.json results/a.json
    check "$option: in tables, too" cmp before.csv results/csv/callsites.csv
    check "$option: nothing is left behind" [ "$(find results | sort)" = "$there" ]
done

echo nonsense > broken.otf2
capture "$fvmpi" check broken.otf2 --json results/a.json
check 'an archive that cannot be read is an error' [ "$rc" = 1 ]
check 'which is said once' [ "$(wc -l < "$work/.err")" = 1 ]
check 'the result of before stays' cmp before.json results/a.json
check 'and nothing is left behind' [ "$(find results | sort)" = "$there" ]
capture "$fvmpi" check broken.otf2 --json -
check 'on stdout nothing is half-written' [ "$rc:$out" = '1:' ]

ln -s /proc/self/fd/1 results/stdout # as /dev/stdout is
capture "$fvmpi" report "$run" --no-symbols --json results/stdout
check 'a link to stdout is written to' [ "$out" = "$(cat before.json)" ]
check 'and stays what it was' [ -L results/stdout ]
finish
