#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Folders depend one way, downwards: each includes what src/layers.txt lets it include. Each header stands alone. A name
# of a struct has one meaning.
. "$(dirname "$0")/../lib.sh"

PYTHONDONTWRITEBYTECODE=1 python3 "$here/lint/layers.py" > "$work/layers"
check 'there are layers' test "$(wc -l < "$work/layers")" -gt 20
check 'each folder has its layer' test "$(cd "$source" && printf '%s\n' src/*/ | sed 's|src/\(.*\)/|\1|' | cat - <(echo otf2) | LC_ALL=C sort)" = \
    "$(cut -d : -f 1 "$work/layers" | LC_ALL=C sort)"
while IFS=: read -r folder may; do
    [ "$folder" = otf2 ] && where=$source/otf2 || where=$source/src/$folder
    out=$(grep -rHoE '^#include "[^"]+"' --include='*.[ch]' "$where" | while IFS=: read -r file include; do
        name=${include#*\"} name=${name%\"}
        [[ " $may " = *" ${name%%/*} "* ]] || echo "$(basename "$file"): $name"
    done)
    check "$folder includes only$may" test -z "$out"
done < "$work/layers"
no_libdw=$(echo '#include <elfutils/libdw.h>' | cc -fsyntax-only -x c - 2>/dev/null || echo lines_dw.h) # a build may do without
for header in "$source"/src/fvmpi.h $(find "$source/src" -mindepth 2 -name "*.h" ! -name "*-list.h" ! -name "*-next.h" ! -name "$no_libdw"); do # lists are rows of a macro
    out=$(echo "#include \"$header\"" | cc -fsyntax-only -D_GNU_SOURCE -I"$build/src" -I"$source/src" -x c - 2>&1)
    check "${header#"$source"/src/} stands alone" test -z "$out"
done
out=$(echo '#include "fvmpi.h"' | c++ -fsyntax-only -I"$source/src" -x c++ - 2>&1)
check 'fvmpi.h is C++ as well' test -z "$out"
names=$(cd "$source" && grep -rhoE '^(struct|union|enum) fv_\w+ \{' src mpi-wrappers otf2 --include='*.[ch]' | sort)
check 'there are structs' test "$(wc -l <<< "$names")" -gt 500
check 'no two have one name' test -z "$(uniq -d <<< "$names")"
finish
