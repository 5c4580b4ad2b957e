#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What leaves a library: MPI's names, fvmpi's public functions, what annotations ask for (src/annotations), what instrumented functions call (src/functions), what is interposed (src/rt/interposed.tbl, src/threads/omp_next.h, src/front/io.tbl), what a run-time library of OpenMP looks for. What it needs: libc, its MPI, libunwind.
. "$(dirname "$0")/../lib.sh"

for library in "$build"/.libs/libfvmpi-*.so; do
    name=$(basename "$library")
    [ "$name" != libfvmpi-io.so ] || continue
    interposed=$(python3 "$source/src/rt/gen_interposed.py" --names rt | tr '\n' '|')_
    [[ $name != *-threads.so ]] || # and what --threads stands in front of
        interposed+=$(python3 "$source/src/rt/gen_interposed.py" --names threads | sed 's/^/|/' | tr -d '\n')$(
            sed -n 's/^    X(\([A-Za-z_0-9]*\)[,)].*/|\1/p' "$source"/src/threads/omp_next.h | tr -d '\n')"|ompt_start_tool"
    [[ $name == *serial* ]] || interposed+='|dlsym|dlvsym|dlopen' # mpi-wrappers/lookup.c
    [[ $name != libfvmpi-memory.so ]] || # of src/front
        interposed+='|malloc|calloc|realloc|free|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|dl_iterate_phdr|fvmpi_memory_v1'
    out=$(nm -D --defined-only "$library" | awk '{ print $NF }' |
        grep -vE '^(FVMPI_IN_FRONT$|MPIX?_[A-Za-z0-9_]+|mpix?_[a-z0-9_]+|fvmpi_(version|pause|resume|section_begin_v1|section_end_v1|label_v1|keep_v1)|kokkosp_[a-z_]+|__cyg_profile_func_(enter|exit)|InitializeInjectionNvtx2|__itt_api_init|'"$interposed"')(@@.*)?$' |
        grep -vE '^(cali_(begin|end)(_[a-z_]+)?|likwid_marker(Start|Stop)Region|_ZN4cali[A-Za-z0-9]+)@FVMPI_IN_FRONT$')
    if [ -n "${SANITIZE_FLAGS:-}" ]; then
        skip "$name: exports" 'a sanitizer adds its own'
        continue
    fi
    check "$name exports nothing else" test -z "$out"
    out=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libpthread|libdl|ld-linux-.*|libgcc_s|libunwind|libmpi|libmpich)\.so(\.[0-9]+)?$')
    check "$name needs nothing else" test -z "$out"
    out=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(libgcc_s\|libunwind\)\.so.*/\1/p' | head -n 1)
    check "$name: libgcc throws exceptions, not libunwind" test "$out" != libunwind
    case $name in *mpich*|*-abi*) # whose MPI is found at run time; MPI_Wtime is for the linker alone
        check "$name needs no MPI" lacks "$(readelf -d "$library")" 'NEEDED.*libmpi'
        out=$(nm -D --undefined-only "$library" | awk '$1 != "w" && $NF !~ /@|^_UL?x86_64_|^_UL?aarch64_|^unw_/ { print $NF }')
        check "$name refers to nothing of an MPI that has to be there" test "$out" = MPI_Wtime -a -z "$(readelf -rW "$library" | grep 'MPI_Wtime')" ;;
    esac
    out=$(readelf -dW "$library" | grep -E 'TEXTREL|RPATH|RUNPATH.*\.libs')
    check "$name has no text relocations and no path of the build" test -z "$out"
done
out=$(for archive in "$build"/.libs/libfv{base,merge,tool}.a; do nm --defined-only -g "$archive" 2>/dev/null; done | awk 'NF == 3 && $2 ~ /[TDBR]/ { print $3 }' | sort | uniq -d)
check 'nothing has the name of something else that the tools are linked of' test -z "$out"
out=$(echo 'int evil(void) { return 0; }' | cc -shared -fPIC -x c - -o evil.so && nm -D --defined-only evil.so | grep -c ' evil$')
check 'this test would see one more' test "$out" = 1
check 'libfvmpi-io.so exports the functions of io.tbl and its table' test "$(nm -D --defined-only "$build/.libs/libfvmpi-io.so" | awk '{ print $NF }' | sort)" = \
    "$({ python3 "$source/src/front/gen_io.py" --names; echo fvmpi_io_v1; } | sort)"
names_of() { for library; do nm -D --defined-only "$build/.libs/$library.so" | awk '{ print $NF }'; done | sort -u; }
flavours=$(cd "$build/.libs" && ls libfvmpi-{mpich,openmpi,abi,serial}.so 2> /dev/null | sed 's/\.so$//')
if [ -n "${SANITIZE_FLAGS:-}" ]; then
    skip 'libfvmpi.so exports what the libraries for one MPI export' 'a sanitizer adds its own'
else
    # shellcheck disable=SC2086
    check 'libfvmpi.so exports what the libraries for one MPI export, and what they ask it for' test \
        "$(names_of libfvmpi)" = "$({ names_of $flavours; echo fvmpi_front_v1; } | sort -u)"
    check 'libfvmpi.so needs the C library alone' lacks "$(readelf -d "$build/.libs/libfvmpi.so" | grep NEEDED)" 'lib(mpi|unwind)'
fi
if [ -n "${SANITIZE_FLAGS:-}" ]; then
    skip 'and needs the C library alone' 'a sanitizer adds its own'
else
    check 'and needs the C library alone' test "$(readelf -d "$build/.libs/libfvmpi-io.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" = libc.so.6
fi
finish
