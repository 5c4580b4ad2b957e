#!/usr/bin/env bash
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
