#!/usr/bin/env bash
# Each command that ./dev knows is there: a function of the script, and what they call; and all tests are run.
. "$(dirname "$0")/../lib.sh"

dev=$source/dev
defined=$(grep -oE '^[a-z0-9_]+\(\)' "$dev" | tr -d '()')
commands=$(sed -n 's/^    \([a-z0-9 |]*\)) "cmd_\$command".*/\1/p' "$dev" | tr -d '|')
check 'there are commands' test "$(wc -w <<< "$commands")" -ge 10
for command in $commands check-long; do
    check "dev $command" grep -qx "cmd_${command//-/_}" <<< "$defined"
done
for name in deps build tests browser_driver part summary say die as_root progress; do
    called=$(grep -vE "^$name\(\)" "$dev" | grep -cE "(^|[^a-z_\$/.-])$name( |\)|;|\$)")
    check "$name() is called, and defined" test "$called" -ge 1 -a "$(grep -cE "^$name\(\)" "$dev")" = 1
done
listed=$(cat "$source"/tests/local.am)
out=$(cd "$source" && find tests -name '*.t' -not -path '*/node_modules/*' | while read -r test; do grep -qF "$test" <<< "$listed" || echo "$test"; done)
check 'each test is in tests/local.am, so that it is run' test -z "$out"
out=$(cd "$source" && find tests -name '*.t' -not -path '*/node_modules/*' ! -perm -1)
check 'each test can be run' test -z "$out"
[ -z "$out" ] || sed 's/^/# /' <<< "$out"
# By name, or by a folder that EXTRA_DIST names.
out=$(cd "$source" && words=$(cat Makefile.am ./*/local.am | grep -oE '[A-Za-z0-9_./+-]+' | sort -u) &&
    find tests -type f -not -path '*/node_modules/*' -not -path '*/__pycache__/*' | sort | while read -r file; do
        above=$file
        while [ "$above" != tests ] && ! grep -qxF "$above" <<< "$words"; do above=${above%/*}; done
        [ "$above" != tests ] || echo "$file"
    done)
check 'each file of the tests is in the tarball' test -z "$out"
[ -z "$out" ] || sed 's/^/# /' <<< "$out"
# make dist copies such a folder from the build as well.
out=$(cd "$source" && for folder in tests/*/; do ! grep -qwE "EXTRA_DIST.* ${folder%/}( .*|$)" tests/local.am || [ ! -d "$build/$folder" ] || echo "$build/$folder: remove it"; done)
if [ "$(cd "$build" && pwd)" = "$(cd "$source" && pwd)" ]; then
    skip 'nothing that was built is in the tarball' 'it was built in the source tree'
else
    check 'nothing that was built is in the tarball' test -z "$out"
    [ -z "$out" ] || sed 's/^/# /' <<< "$out"
fi
finish
