#!/usr/bin/env bash
# Each command that ./dev knows is there: a function of the script, which calls none that is missing.
. "$(dirname "$0")/../lib.sh"

dev=$source/dev
defined=$(grep -oE '^[a-z_]+\(\)' "$dev" | tr -d '()')
commands=$(sed -n 's/^    \([a-z |]*\)) "cmd_\$command".*/\1/p' "$dev" | tr -d '|')
check 'there are commands' test "$(wc -w <<< "$commands")" -ge 10
for command in $commands; do
    check "dev $command" grep -qx "cmd_${command//-/_}" <<< "$defined"
done
called=$(grep -oE '(^|[;&|({] *)(deps|build|tests|browser_driver|part|summary|say|die|as_root)\b' "$dev" | grep -oE '[a-z_]+$' | sort -u)
for name in $called; do
    check "$name() is defined" grep -qx "$name" <<< "$defined"
done
finish
