#!/usr/bin/env bash
# Folders depend one way: base <- trace <- {rt <- sampler, report <- merge <- analysis} <- cmd; the runtime never meets report or cmd. Each
# header stands alone.
. "$(dirname "$0")/../lib.sh"

allowed() { # FOLDER: what it may include
    case $1 in
        base) echo 'base' ;;
        trace) echo 'base trace' ;;
        rt) echo 'base trace rt fvmpi.h' ;;
        sampler) echo 'base trace rt sampler' ;;
        threads) echo 'base trace rt threads' ;;
        report) echo 'base trace report' ;;
        merge) echo 'base trace report merge' ;;
        analysis) echo 'base trace report merge analysis' ;;
        cmd) echo 'base trace report merge analysis cmd otf2 fvmpi.h' ;;
    esac
}
for folder in base trace rt sampler threads report merge analysis cmd; do
    [ -d "$source/src/$folder" ] || continue
    may=$(allowed "$folder")
    out=$(grep -HoE '^#include "[^"]+"' "$source/src/$folder"/*.[ch] | while IFS=: read -r file include; do
        name=${include#*\"} name=${name%\"}
        grep -qw -- "${name%%/*}" <<< "$may" || echo "$(basename "$file"): $name"
    done)
    check "src/$folder includes only $may" test -z "$out"
done
for header in "$source"/src/fvmpi.h "$source"/src/*/*.h; do
    out=$(echo "#include \"$header\"" | cc -fsyntax-only -D_GNU_SOURCE -I"$source/src" -x c - 2>&1)
    check "${header#"$source"/src/} stands alone" test -z "$out"
done
out=$(echo '#include "fvmpi.h"' | c++ -fsyntax-only -I"$source/src" -x c++ - 2>&1)
check 'fvmpi.h is C++ as well' test -z "$out"
finish
