#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What bash completes: commands, options, and behind each option with a value. Which options take one, the program says.
. "$(dirname "$0")/../lib.sh"

PATH=$build:$PATH
. "$source/share/completions/bash/fvmpi"
# What it asks a program is asked once, for all that is completed here.
eval "asked$(declare -f _fvmpi_options)"
_fvmpi_options() {
    local file=$work/.options.${*//\//.}
    [ -f "$file" ] || asked_fvmpi_options "$@" > "$file"
    printf '%s\n' "$(< "$file")"
}
complete_behind() { # FUNCTION WORDS...: what it offers for the last one, which is empty or begun; sets $out
    local function=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "$function"
    printf -v out '%s\n' "${COMPREPLY[@]}"
    out=${out%$'\n'}
}
offers() { [[ $'\n'$out$'\n' == *$'\n'$1$'\n'* ]]; }

complete_behind _fvmpi fvmpi ''
check 'each command' test "$(grep -v '^--' <<< "$out" | LC_ALL=C sort)" = "$(fvmpi --help | sed -n 's/^  fvmpi \([a-z]*\) .*/\1/p' | LC_ALL=C sort)"
mkdir folder && touch file other
ln -s "$build"/fvunify-serial fvunify-here
# An option that is not there follows, so that nothing is done.
takes_value() { # PROGRAM [COMMAND] OPTION
    if [ "$2" = run ]; then "$@" 2>&1 > /dev/null | grep -q 'its value is missing'
    else ! "${@:1:$# - 1}" "${!#}=%" --no-such-option 2>&1 > /dev/null | grep -q 'it takes no value'; fi
}

# FUNCTION PREFIX...: behind an option with its value another option is completed, behind one without, too; and values by their kind
examine() {
    local function=$1 options option dead='' wrong='' values=0
    shift
    options=$("$@" --help | grep -oE '^ {2,6}(-[a-zA-Z], )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | sort -u)
    for option in $options; do
        if takes_value "$@" "$option"; then
            values=$((values + 1))
            complete_behind "$function" "$@" "$option" ''
            [[ $'\n'$out != *$'\n'-?* ]] || wrong="$wrong $option"
            complete_behind "$function" "$@" "$option" 1 --hel
        else
            complete_behind "$function" "$@" "$option" --hel
        fi
        offers --help || dead="$dead $option"
    done
    out=$dead
    check "$*: behind each of $(wc -w <<< "$options") options, $values with a value" test -z "$dead" -a -n "$options"
    out=$wrong
    check "$*: no option where a value is to be" test -z "$wrong"
}
for command in $(fvmpi --help | sed -n 's/^  fvmpi \([a-z]*\) .*/\1/p'); do
    examine _fvmpi fvmpi "$command"
done
if [ -x fvunify-here ]; then examine _fvunify ./fvunify-here; else skip 'fvunify' 'built without OTF2'; fi

complete_behind _fvmpi fvmpi run --barrier ''
check 'choices' test "$out" = $'off\nbefore\nafter'
complete_behind _fvmpi fvmpi run -o ''
check 'folders' test "$out" = folder
complete_behind _fvmpi fvmpi report --json o
check 'files' test "$out" = other
complete_behind _fvmpi fvmpi report folder --color ''
check 'when' test "$out" = $'auto\nalways\nnever'
complete_behind _fvmpi fvmpi run --depth 3 ./app fi
check "the program's arguments" test "$out" = file
complete_behind _fvmpi fvmpi run ./app --hel
check "the program's options" test -z "$out"
complete_behind _fvmpi fvmpi run --trace -- fvunify-s
check 'a program behind --' offers fvunify-serial
complete_behind _fvmpi fvmpi report fo
check 'an experiment' test "$out" = folder
finish
