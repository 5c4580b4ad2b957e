#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The documents know every option and variable of the table, and no other.
. "$(dirname "$0")/../lib.sh"

help=$("$fvmpi" run --help)
page=$(sed 's/\\fR//g; s/\\fP//g; s/\\-/-/g' "$source/share/man/fvmpi-run.1")
while read -r word; do
    check "fvmpi-run(1) describes $word" grep -qF -- "$word" <<< "$page"
done < <(grep -oE '(--[a-z][a-z-]+|FVMPI_[A-Z_]+)' <<< "$help" | sort -u)
unknown=$(grep -oE '(^|[^a-z-])--[a-z][a-z-]+|FVMPI_[A-Z]+(_[A-Z]+)*' <<< "$page" | grep -oE '(--|FVMPI_).*' | sort -u |
    while read -r word; do grep -qF -- "$word" <<< "$help" || echo "$word"; done)
out=$unknown
check 'fvmpi-run(1) describes nothing else' test -z "$unknown"
grep -oE '^\.BI --[a-z-]+ " ' <<< "$page" | cut -d ' ' -f 2 > page.values
out=$(while read -r option; do "$fvmpi" run "$option" 2>&1 | grep -q 'its value is missing' || echo "$option"; done < page.values)
check 'what fvmpi-run(1) shows with a value takes one in the next word' test -z "$out" -a -s page.values

# The other commands: the options that --help lists have an entry each in the page, and the reverse.
options_in() { grep -oE -- '--[a-z][a-z-]+' | sort -u; }
for command in gather report diff stacks stat doctor record label where live dump check selftest fvunify; do
    page=$source/share/man/fvmpi-$command.1
    tool=("$fvmpi" $command)
    if [ $command = fvunify ]; then
        page=$source/share/man/fvunify.1
        tool=("$build/fvunify-serial")
        [ -x "${tool[0]}" ] || { skip 'fvunify.1 and --help have the same options' 'built without OTF2'; continue; }
    fi
    "${tool[@]}" --help | grep -oE '^ +(-., )?--[a-z-]+' | options_in > help.options
    sed 's/\\-/-/g' "$page" | grep -A1 '^\.TP' | grep -E '^\.B[IR]? ' | options_in > page.options
    out=$(diff help.options page.options)
    check "$(basename "$page") and --help have the same options" test -z "$out" -a -s help.options
done
out=$(sed -n 's/^\.TH .* "fvmpi \([0-9.]*\)".*/\1/p' "$source"/share/man/*.1 | sort -u)
check 'the man pages are of this version' test "fvmpi $out" = "$("$fvmpi" --version)"
if command -v man > /dev/null; then
    for file in "$source"/share/man/*.1; do
        out=$(MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$file" 2>&1 > /dev/null)
        check "$(basename "$file") has no errors" test -z "$out"
    done
else
    skip 'man pages have no errors' 'man is not here; its package is man-db'
fi
finish
