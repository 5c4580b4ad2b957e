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
# The build has compiled a header alone that a source includes before all else, or such a header does.
compiled() {
    find "$build/src" -name '*.o' | sed 's|.*[/-]||; s|\.o$||' > "$work/objects"
    awk 'NR == FNR { built[$0] = 1; next }
        FNR == 1 { is_open = 1; name = FILENAME; sub(".*/", "", name); is_built = sub("[.]c$", "", name) && name in built }
        !is_open || !/^ *#/ || /^#(ifndef|define) FV_[A-Z_0-9]*_H$/ { next }
        { is_open = 0 }
        /^#include "/ { split($0, part, "\""); if (is_built) alone[part[2]] = 1; else first[FILENAME] = part[2] }
        END {
            do {
                more = 0
                for (header in alone) {
                    below = first["src/" header]
                    if (below && !(below in alone)) { alone[below] = 1; more = 1 }
                }
            } while (more)
            for (header in alone) print header
        }' "$work/objects" $(cd "$source" && find src -name '*.[ch]') # no name has a space
}
(cd "$source" && compiled) > "$work/compiled"
check 'the build has compiled headers alone' test "$(wc -l < "$work/compiled")" -gt 200
no_libdw=$(echo '#include <elfutils/libdw.h>' | cc -fsyntax-only -x c - 2>/dev/null || echo lines_dw.h) # a build may do without
for header in fvmpi.h $(cd "$source/src" && find . -mindepth 2 -name "*.h" ! -name "*-list.h" ! -name "*-next.h" ! -name "$no_libdw" | sed 's|^\./||' | # lists are rows of a macro
    grep -vxFf "$work/compiled"); do
    out=$(echo "#include \"$header\"" | cc -fsyntax-only -D_GNU_SOURCE -I"$build/src" -I"$source/src" -x c - 2>&1)
    check "$header stands alone" test -z "$out"
done
out=$(echo '#include "fvmpi.h"' | c++ -fsyntax-only -I"$source/src" -x c++ - 2>&1)
check 'fvmpi.h is C++ as well' test -z "$out"
names=$(cd "$source" && grep -rhoE '^ *(struct|union|enum) fv_\w+ \{' src mpi-wrappers otf2 --include='*.[ch]' | grep -oE 'fv_\w+' | sort)
check 'there are structs' test "$(wc -l <<< "$names")" -gt 500
check 'no two have one name' test -z "$(uniq -d <<< "$names")"
finish
