#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What zsh and fish complete: commands, and the options and values that each command's --help names. For bash: completion.t.
. "$(dirname "$0")/../lib.sh"

export PATH=$build:$PATH HOME=$work
commands=$(fvmpi --help | sed -n 's/^  fvmpi \([a-z]*\) .*/\1/p' | sort)
options_of() { "$@" --help | sed -nE 's/^ {2,6}(-[a-zA-Z], )?(--[a-z0-9-]+).*/\2/p' | sort -u; }
mkdir folder
touch file

# The lines that are completed, and a shell's answers in the files answer-N.
lines=('fvmpi ' 'fvmpi run --barrier ' 'fvmpi run -o fo' 'fvmpi report --json fi' 'fvmpi report folder --color ' 'fvmpi run ./app fi' 'fvmpi report fo')
first=${#lines[@]}
for command in $commands; do lines+=("fvmpi $command --"); done
[ ! -x "$build/fvunify-serial" ] || lines+=("fvunify --")

answers() { # SHELL: of the lines of its output up to each line "=="
    rm -f answer-*
    awk '{ if ($0 == "==") n++; else print > ("answer-" n + 0) }' answers
    for i in "${!lines[@]}"; do touch "answer-$i"; done
}
judge() { # SHELL
    local i=$first command
    out=$(cat answer-0)
    check "$1: each command" test -z "$(comm -23 <(echo "$commands") <(sort -u answer-0))"
    out=$(sort -u answer-1)
    check "$1: choices" test "$out" = $'after\nbefore\noff'
    for what in '2 folder' '3 file' '5 file' '6 folder'; do
        out=$(cat "answer-${what% *}")
        check "$1: ${lines[${what% *}]}" grep -qE "^${what#* }/?$" "answer-${what% *}"
    done
    out=$(sort -u answer-4)
    check "$1: when" test "$out" = $'always\nauto\nnever'
    for command in $commands; do
        out=$(comm -3 <(options_of fvmpi "$command") <(grep '^--' "answer-$i" | sort -u))
        check "$1: options of fvmpi $command" test -z "$out" -a -s "answer-$i"
        i=$((i + 1))
    done
    [ -x "$build/fvunify-serial" ] || return 0
    out=$(comm -3 <(options_of fvunify) <(grep '^--' "answer-$i" | sort -u))
    check "$1: options of fvunify" test -z "$out" -a -s "answer-$i"
}

if command -v zsh > /dev/null; then
    printf '%s\n' "${lines[@]}" | timeout 200 zsh -f "$source/tests/run/completion.zsh" "$source/share/completions/zsh" "$work" > answers
    answers
    judge zsh
else
    skip 'zsh' 'zsh is not here'
fi
if command -v fish > /dev/null; then
    # shellcheck disable=SC2016
    printf '%s\n' "${lines[@]}" | timeout 200 fish --no-config -c 'source $argv[1]
        for line in (cat)
            complete -C "$line" | string replace -r "\t.*" ""
            echo ==
        end' "$source/share/completions/fish/fvmpi.fish" > answers
    answers
    judge fish
else
    skip 'fish' 'fish is not here'
fi
finish
