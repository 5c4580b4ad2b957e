#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The library compiles with older headers: those of the kernel from Linux 3.11 on, and glibc 2.17's system calls and macros. They are made here of the system's, without what is newer: struct members, constants and
# macros of <linux/perf_event.h>, and names of system calls. Functions that are newer glibc.t finds.
. "$(dirname "$0")/../lib.sh"

cc=${CC:-cc}
system=$("$cc" -E -x c - <<< '#include <linux/perf_event.h>' 2> /dev/null | sed -n 's/^# 1 "\(.*linux\/perf_event.h\)".*/\1/p' | head -1)
if [ "$(uname -m)" != x86_64 ] || [ -z "$system" ]; then
    skip 'older headers' 'they are made of those of x86_64'
    finish
    exit
fi

# VERSION NAMES: what came after it
newer() {
    cat <<'LIST'
5.12 PERF_ATTR_SIZE_VER[789] sigtrap remove_on_exec inherit_thread sig_data config3
4.16 PERF_RECORD_MISC_SWITCH_OUT_PREEMPT PERF_EVENT_IOC_MODIFY_ATTRIBUTES PERF_ATTR_SIZE_VER6 namespaces ksymbol bpf_event cgroup aux_output aux_sample_size
3.14 PERF_RECORD_SWITCH context_switch use_clockid clockid write_backward PERF_SAMPLE_REGS_INTR sample_regs_intr PERF_ATTR_SIZE_VER[45] PERF_FLAG_FD_CLOEXEC
3.11 PERF_EVENT_IOC_ID PERF_COUNT_SW_DUMMY
LIST
}

# Of lines that say more than that they are: a bit, a member, an enumerator, a macro.
reduce() { # OLDEST
    local version names name script=
    while read -r version names; do
        [ "$(printf '%s\n%s\n' "$1" "$version" | sort -V | head -1)" = "$1" ] || continue
        for name in $names; do
            script="$script; /^[[:space:]]*\\(__[us][0-9]*[[:space:]]*\\)\\?${name}[[:space:]]*[:;=]/d; /^#define $name\\>/d"
        done
    done < <(newer)
    sed "${script#; }" "$system"
}

# The macros behind system calls that glibc 2.17 has no names of: those after finit_module(2).
"$cc" -E -dM -x c - <<< '#include <asm/unistd.h>' | awk '$2 ~ /^__NR_/ && $3 > 313 { sub("__NR_", "SYS_", $2); print "#undef " $2 }' > names
{
    printf '#include <%s>\n' features.h sys/syscall.h sys/auxv.h unistd.h fcntl.h sys/mman.h
    cat names
    printf '#undef %s\n' __GLIBC_PREREQ AT_MINSIGSTKSZ CLOSE_RANGE_CLOEXEC MAP_FIXED_NOREPLACE MFD_CLOEXEC
    echo '#define __GLIBC_PREREQ(major, minor) ((2 << 16) + 17 >= ((major) << 16) + (minor))'
} > old_glibc.h

compile() { # DIRECTORY FILES...
    local of=$1
    shift
    printf '%s\n' "$@" | xargs -P 2 -n 6 "$cc" -fsyntax-only -std=gnu11 -D_GNU_SOURCE -DPACKAGE_VERSION='""' -Werror=implicit-function-declaration -isystem "$of" -include old_glibc.h -I "$source/src" -I "$build/src" 2>&1
}

cd "$work" || exit 1
# What names something that older headers lack; and headers that do, for all who include them.
perf=$(grep -rlE 'linux/perf_event.h|base/older.h' "$source/src" --include='*.c')
names_it="SYS_[a-z]|$(sed -n 's/^#undef \([A-Z_]*\)$/\1/p' old_glibc.h | grep -v '^SYS_' | paste -sd '|')"
all=$(grep -lE "$names_it" "$source"/src/{rt,sampler,base,monitor,counters}/*.c)
grep -lE "$names_it|linux/perf_event.h" "$source"/src/{rt,sampler,base,monitor,counters}/*.h | sed 's/.*/#include "&"/' > headers.c
check 'there is something to compile' test "$(wc -w <<< "$perf")" -ge 8 -a "$(wc -w <<< "$all")" -ge 15 -a "$(wc -l < headers.c)" -ge 3
check 'and there are newer system calls' test "$(wc -l < names)" -ge 20
for version in 5.12 3.11; do
    mkdir -p "$version/linux"
    reduce "$version" > "$version/linux/perf_event.h"
    check "headers of before Linux $version lack something" test "$(diff "$system" "$version/linux/perf_event.h" | grep -c '^<')" -ge 3
done
# shellcheck disable=SC2086
out=$(compile 5.12 $perf)
check 'perf events with headers of Linux 5.12' test -z "$out"
# shellcheck disable=SC2046,SC2086
out=$(compile 3.11 $(printf '%s\n' $perf $all headers.c | sort -u))
check 'the library with headers of Linux 3.11, and of glibc 2.17' test -z "$out"
echo 'int main(void) { return (int)SYS_memfd_create; }' > new.c
check 'and what is newer is missed' lacks "x$("$cc" -fsyntax-only -D_GNU_SOURCE -include old_glibc.h new.c 2>&1)" '^x$'
finish
