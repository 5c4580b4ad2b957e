#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a build needs of the C library, by version: glibc 2.17, and else only what an older one has by another version or in another way, so that a
# build on an older system needs less. A new name is to be found at run time (dlsym, a system call), or gets its line here.
. "$(dirname "$0")/../lib.sh"

oldest=2.17
# NAMES: why they need no newer C library than that
known() {
    cat <<'LIST'
dladdr dladdr1 dlclose dlerror dlopen dlsym dlvsym                  of libdl before 2.34
pthread_[a-z_]+ sem_[a-z]+ __pthread_[a-z_]+                        of libpthread before 2.34
__libc_start_main                                                   another version before 2.34
stat lstat fstat fstatat stat64 lstat64 fstat64 fstatat64           made of __xstat() by the headers before 2.33
exp log log2 pow lgamma                                             of other versions before 2.29 and 2.23
glob                                                                of another version before 2.27
fcntl64                                                             a name of fcntl() since 2.28
__isoc23_(strto[a-z]+|[a-z]*scanf)                                  a name of strtol() and others since 2.38
LIST
}
names=$(known | sed 's/  .*//' | tr ' \n' '|')

# VERSION NAME of what is newer
newer() {
    objdump -T "$1" 2> /dev/null | awk '/\*UND\*/ { print $(NF-1), $NF }' | tr -d '()' | sed -n 's/^GLIBC_//p' | sort -u |
        awk -v oldest="$oldest" '{ split($1, v, "."); split(oldest, o, "."); if (v[1] > o[1] || (v[1] == o[1] && v[2] > o[2])) print }'
}

if ! command -v objdump > /dev/null; then
    skip 'symbols of the C library' 'no objdump'
    finish
fi
for file in "$build"/.libs/libfvmpi-*.so "$build"/fvmpi "$build"/fvunify-*; do
    [ -f "$file" ] && file -b "$file" 2> /dev/null | grep -q ELF || objdump -f "$file" > /dev/null 2>&1 || continue
    if [ -n "${SANITIZE_FLAGS:-}" ]; then
        skip "$(basename "$file")" 'a sanitizer adds its own'
        continue
    fi
    out=$(newer "$file" | awk -v names="^(${names%|})\$" '$2 !~ names')
    check "$(basename "$file") needs nothing newer than glibc $oldest" test -z "$out"
done
check 'something was looked at' test "$count" -ge 3
out=$(oldest=2.1; newer "$fvmpi")
check 'and newer names are found' has "$out" '^2\.[0-9.]+ [a-z]'
finish
