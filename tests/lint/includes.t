#!/usr/bin/env bash
# Folders depend one way, downwards:
#
#     the application:  {threads, annotations, functions, {io, memory} > front, monitor > sensors} > sampler > rt > trace > base
#     the tools:        cmd > {views > scaling > diff > profile, otf2 > analysis > merge} > symbols > experiment > tool > trace > base; cmd > doctor > {sensors, tool}; cmd > live > {sensors, profile}; {profile, cmd} > counters
#
# The runtime never meets the tools. Each header stands alone.
. "$(dirname "$0")/../lib.sh"

allowed() { # FOLDER: what it may include
    case $1 in
        base) echo 'base' ;;
        trace) echo 'base trace' ;;
        rt) echo 'base trace rt fvmpi.h' ;;
        sampler) echo 'base trace rt sampler' ;;
        threads) echo 'base trace rt threads' ;;
        annotations) echo 'base trace rt annotations' ;;
        functions) echo 'base trace rt functions' ;;
        front) echo 'base trace rt front' ;;
        io) echo 'base trace rt front io' ;;
        memory) echo 'base trace rt memory front' ;;
        monitor) echo 'base trace rt sensors monitor' ;;
        sensors) echo 'base sensors' ;;
        counters) echo 'counters' ;;
        doctor) echo 'base sensors tool doctor' ;;
        live) echo 'base trace sensors counters tool experiment symbols profile live' ;;
        tool) echo 'base trace tool' ;;
        experiment) echo 'base trace tool experiment' ;;
        symbols) echo 'base trace tool experiment symbols' ;;
        profile) echo 'base trace counters tool experiment symbols profile' ;;
        diff) echo 'base trace counters tool experiment symbols profile diff' ;;
        scaling) echo 'base trace counters tool experiment symbols profile diff scaling' ;;
        views) echo 'base trace counters tool experiment symbols profile diff scaling views' ;;
        merge) echo 'base trace tool experiment symbols merge' ;;
        analysis) echo 'base trace tool experiment symbols merge analysis' ;;
        otf2) echo 'base trace tool experiment symbols merge analysis otf2 fvmpi.h' ;;
        cmd) echo 'base trace sensors counters doctor live tool experiment symbols profile diff scaling views merge analysis cmd otf2 fvmpi.h' ;;
    esac
}
for folder in base trace rt sampler threads annotations functions front io memory monitor sensors counters doctor live tool experiment symbols profile diff scaling views merge analysis cmd; do
    [ -d "$source/src/$folder" ] || continue
    may=$(allowed "$folder")
    out=$(grep -rHoE '^#include "[^"]+"' --include='*.[ch]' "$source/src/$folder" | while IFS=: read -r file include; do
        name=${include#*\"} name=${name%\"}
        grep -qw -- "${name%%/*}" <<< "$may" || echo "$(basename "$file"): $name"
    done)
    check "src/$folder includes only $may" test -z "$out"
done
may=$(allowed otf2)
out=$(grep -HoE '^#include "[^"]+"' "$source"/otf2/*.[ch] | while IFS=: read -r file include; do
    name=${include#*\"} name=${name%\"}
    grep -qw -- "${name%%/*}" <<< "$may" || echo "$(basename "$file"): $name"
done)
check "otf2 includes only $may" test -z "$out"
no_libdw=$(echo '#include <elfutils/libdw.h>' | cc -fsyntax-only -x c - 2>/dev/null || echo lines_dw.h) # a build may do without
for header in "$source"/src/fvmpi.h $(find "$source/src" -mindepth 2 -name "*.h" ! -name "*-list.h" ! -name "*-next.h" ! -name "$no_libdw"); do # lists are rows of a macro
    out=$(echo "#include \"$header\"" | cc -fsyntax-only -D_GNU_SOURCE -I"$build/src" -I"$source/src" -x c - 2>&1)
    check "${header#"$source"/src/} stands alone" test -z "$out"
done
out=$(echo '#include "fvmpi.h"' | c++ -fsyntax-only -I"$source/src" -x c++ - 2>&1)
check 'fvmpi.h is C++ as well' test -z "$out"
finish
