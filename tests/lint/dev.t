#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
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
out=$(cd "$source" && find tests -name '*.t' -not -path '*/node_modules/*' -not -path 'tests/*/*.t' -o -path 'tests/*/*/*.t' -not -path '*/node_modules/*')
check 'each test is where make finds it, tests/*/*.t' test -z "$out"
out=$(cd "$source" && find tests -name '*.t' -not -path '*/node_modules/*' ! -perm -1)
check 'each test can be run' test -z "$out"
[ -z "$out" ] || sed 's/^/# /' <<< "$out"

# A log has no line that is written over.
eval "$(sed -n '/^progress() {/,/^}/p' "$dev")"
{ printf '  CC       a%s.o\n' {1..30}; echo 'a warning'; printf '  CC       b%s.o\n' {1..30}; } | progress building 2> progress.log
out=$(cat progress.log)
check 'what is built is counted in one line of a log, behind the messages' test "$out" = $'a warning\nbuilding: 60 files'

# A script that fails beside others and passes by itself is flaky; three of them fail. One that says so is skipped under a sanitizer.
mkdir tests
for name in a b c; do
    printf '#!/bin/sh\n# Not under ThreadSanitizer: it slows.\necho 1..1\n[ -e "%s" ] && echo ok 1 || { echo not ok 1; echo "# found 2"; : > "%s"; exit 1; }\n' \
        "$work/$name" "$work/$name" > "tests/$name.t"
done
printf '#!/bin/sh\necho 1..1\necho ok 1\n' > tests/good.t
chmod +x tests/*.t
eval "$(sed -n '/^summary() {/,/^}/p' "$dev")"
tests() { # NAMES...: as ./dev check runs and judges them
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$build" check-local TESTS_TOGETHER="$(printf "$work/tests/%s.t " "$@")" TESTS_ALONE= TESTS= "check_log=$work/together.log" SANITIZE_FLAGS=
    echo "status $?"
}
out=$(tests good 2>&1)
check 'nothing is flaky' eval 'lacks "$out" "flaky" && has "$out" "^status 0$"'
out=$(tests good a b 2>&1)
either="($work/tests/a.t $work/tests/b.t|$work/tests/b.t $work/tests/a.t)" # the slower one is first
check 'two flaky tests are named, and pass' eval 'has "$out" "^== flaky: $either$" && has "$out" "^status 0$"'
summed=$(summary <(echo "$out") 0)
check 'so says the summary, with why' eval 'has "$summed" "^3 passed, 0 failed" && has "$summed" "^flaky, .*: $either$" && [ "$(grep -c "^  # found 2$" <<< "$summed")" = 2 ]'
rm -f a b
out=$(tests good a b c 2>&1)
check 'three flaky tests fail' eval 'has "$out" "^== 3 flaky" && has "$out" "^status [1-9]"'
skipped=$(SANITIZE_FLAGS=-fsanitize=thread "$source/tests/limit" tests/a.t; SANITIZE_FLAGS=-fsanitize=address "$source/tests/limit" tests/a.t)
check 'a test is skipped under the sanitizer that it names' eval 'has "$skipped" "SKIP Not under ThreadSanitizer: it slows" && [ "$(grep -c SKIP <<< "$skipped")" = 1 ]'
out=$(cd "$source" && grep -nE '^(#|/\*) *[Nn]ot under' tests/*/*.t tests/unit/*.c | grep -vE ':(#|/\*) Not under (Address|Thread)Sanitizer: [a-z]')
check 'the mark of a test names a sanitizer and why' test -z "$out"
[ -z "$out" ] || sed 's/^/# /' <<< "$out"
# What a distribution does not have is named, and the rest is installed.
mkdir bin
printf '#!/bin/sh\necho "$@" >> "%s/installed"\n' "$work" > bin/apt-get
printf '#!/bin/sh\ncase "$2" in here) echo "  Candidate: 1.0" ;; *) echo "  Candidate: (none)" ;; esac\nseq 100000\n' > bin/apt-cache # and much more
printf '#!/bin/sh\nexit 1\n' > bin/dpkg-query
chmod +x bin/*
out=$(
    eval "$(sed -n -e '/^set /p' -e '/^deps() {/,/^}/p' -e '/^say() /p' "$dev")"
    id() { echo 0; }
    wanted() { printf 'here\nelsewhere\n'; }
    PATH=$work/bin:$PATH DEV_DEPS= deps wanted 2>&1
)
check 'a package that the distribution does not have is named' has "$out" 'no package elsewhere:'
check 'the others are installed' eval 'grep -q "install .* here$" installed && ! grep -q elsewhere installed'

# make dist copies such a folder from the build as well.
out=$(cd "$source" && for folder in tests/*/; do ! grep -qwE "EXTRA_DIST.* ${folder%/}( .*|$)" tests/local.am || [ ! -d "$build/$folder" ] || echo "$build/$folder: remove it"; done)
if [ "$(cd "$build" && pwd)" = "$(cd "$source" && pwd)" ]; then
    skip 'nothing that was built is in the tarball' 'it was built in the source tree'
else
    check 'nothing that was built is in the tarball' test -z "$out"
    [ -z "$out" ] || sed 's/^/# /' <<< "$out"
fi
finish
