#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sections that a program marks: counts, times and calls of programs with known answers, in C, C++ and Fortran, and that the
# same programs link and run without fvmpi.
. "$(dirname "$0")/../lib.sh"

here=$source/tests/sections
warnings='-Wall -Wextra -Werror -D_GNU_SOURCE'
examine() { FVMPI_BUILD=$build FVMPI_SOURCE=$source python3 "$here/sections.py" profile.json "$1" < told; }
record() { # OPTIONS... PROGRAM ARGS: its output into told, the report into profile.json
    rm -rf experiment
    timeout -s KILL 240 "$fvmpi" run -q -o experiment "$@" > told 2> .err
    rc=$?
    "$fvmpi" report experiment --json profile.json > .out 2>> .err
    out=$(cat .out) err=$(cat .err)
}
known() { # WHAT CHECK OPTIONS...
    local what=$1 which=$2 status tries
    shift 2
    for tries in 1 2 3; do # a busy machine may stop the program between its clock and ours: then only times are wrong
        record "$@"
        err=$(examine "$which" 2>&1)
        status=$?
        if [ $status -eq 0 ] || grep -qv '(2 % + 2 ms)' <<< "$err"; then break; fi
    done
    check "$what" test $status -eq 0
}

# ---- programs link and run without the library, and are measured with it, however they are built ----
cc=${CC:-gcc}
variants=("$cc -O2" "$cc -O0 -std=c99" "$cc -O2 -fno-pie -no-pie")
command -v clang > /dev/null && variants+=("clang -O2" "clang -O0 -fno-pie -no-pie")
for variant in "${variants[@]}"; do
    if ! capture $variant $warnings -I"$source/src" "$here/serial.c" -o serial -lpthread; then
        check "$variant: compiles" test "$rc" -eq 0
    fi
    capture ./serial overlap
    check "$variant: runs without fvmpi" test "$rc" -eq 0
    known "$variant: is measured" overlap ./serial overlap
done
# any standard since C90 and C++98, with what compilers warn of
printf '#include "fvmpi.h"\nint main(void)\n{\n    fvmpi_section_begin("a", 0, 0);\n    fvmpi_section_end("a", 0, 0);\n    return 0;\n}\n' > std.c
printf '#include "fvmpi.hpp"\nint main()\n{\n    fvmpi::section a("a");\n    return 0;\n}\n' > std.cpp
for std in c90 c99 c11; do
    rm -f std
    capture "$cc" "-std=$std" -pedantic -Wall -Wextra -Werror -I"$source/src" std.c -o std && capture ./std
    check "fvmpi.h: $std" test "$rc" -eq 0
done
for std in c++98 c++11 c++17; do
    rm -f std
    capture "${CXX:-g++}" "-std=$std" -pedantic -Wall -Wextra -Wold-style-cast -Werror -I"$source/src" std.cpp -o std &&
        capture ./std
    check "fvmpi.hpp: $std" test "$rc" -eq 0
done
printf '#include "fvmpi.h"\nint main(void)\n{\n    int i;\n    fvmpi_section_begin("one", 0, 0);\n    for (i = 0; i < 5; i++) {\n        fvmpi_section_begin("step", 0, 0);\n        fvmpi_section_end("step", 0, 0);\n    }\n    fvmpi_section_end("one", 0, 0);\n    return 0;\n}\n' > steps.c
capture "$cc" -I"$source/src" steps.c -o steps
printf '#include "fvmpi.h"\n#include <unistd.h>\nint main(void)\n{\n    int i;\n    for (i = 0; i < 20; i++) {\n        fvmpi_section_begin("step", 0, 0);\n        usleep(i < 3 ? 60000 : 100);\n        fvmpi_section_end("step", 0, 0);\n    }\n    return 0;\n}\n' > warm.c
capture "$cc" -I"$source/src" warm.c -o warm
known "warm-up: the first instances told apart" warm_up --mpi serial --section-instances 20 ./warm
known "--section-instances 3: the first three" first_ones --mpi serial --section-instances 3 ./steps
check 'the report shows them' has "$("$fvmpi" report experiment)" 'Instances of sections'
for level in -O0 -O1; do
    rm -f instrumented
    capture "${CXX:-g++}" -g "$level" -finstrument-functions -fopenmp -I"$source/src" "$here/instrumented.cpp" -o instrumented
    record --mpi serial --threads --functions --sample=off ./instrumented
    err=$(python3 - 2>&1 <<'end'
import json
text = open('profile.json').read()
data = json.loads(text)
found = sorted(f['function'] for f in data['instrumented']), sorted(p['path'][0]['function'] for p in data['phases'])
wanted = ['add()', 'by_calls()', 'by_object()', 'main'], ['by_calls()', 'by_object()']
assert found == wanted, found
assert 'fvmpi_section' not in text and 'fvmpi::' not in text
end
    )
    passed=$?
    if [ "$sanitizer" ]; then
        skip "$level -finstrument-functions" 'AddressSanitizer has functions of its own in between'
    else
        check "$level -finstrument-functions: what is fvmpi.h's is named by nothing" test $passed -eq 0
    fi
done
if capture "$cc" -static $warnings -w -I"$source/src" "$here/serial.c" -o static -lpthread && [ "$rc" -eq 0 ]; then
    capture ./static overlap
    check 'a static program runs' test "$rc" -eq 0
else
    skip 'a static program runs' 'no static C library'
fi

# ---- known answers, without MPI ----
capture "$cc" -O2 $warnings -I"$source/src" "$here/serial.c" -o serial -lpthread
known 'nested sections: counts, times' nested ./serial nested
known 'overlapping sections' overlap ./serial overlap
known 'names are copied, compared by content, cut; recursion is measured once' names ./serial names
known 'threads: sums, open at their end, ended by another' threads ./serial threads
known 'unbalanced use, fork, too deep' unbalanced ./serial unbalanced
has "$("$fvmpi" report experiment)" 'section never begun: 2 times ended without a begin'
check 'the report tells' test $? -eq 0
known 'more sections than there is room for' many ./serial many
known 'levels' level --section-level 1 ./serial levels
known 'CPU time, faults, switches' cpu ./serial cpu
known 'without CPU time' no_cpu --section-cpu=0 ./serial cpu
known 'with --sample: CPU time by samples' sampled --sample=1000 ./serial cpu
known 'pauses are left out' paused ./serial paused
known 'a killed program' killed ./serial killed
known 'signal handlers' interrupted ./serial interrupted
known 'signal handlers that jump out of them' jumps ./serial jumps
known 'clock samples by section, procedure and call path' hot --sample=2000 ./serial hot
has "$("$fvmpi" report experiment)" 'CPU time of sections'
check 'the text report has them' test $? -eq 0
known 'constructors and destructors' early ./serial early
known 'names that are no text, thousands of names' odd ./serial odd
known 'the clock of the C library' nested --clock monotonic ./serial nested
capture "$cc" -O2 -rdynamic $warnings -I"$source/src" "$here/fed.c" -o fed
known 'percentiles of instances that take what the program says' percentiles --clock monotonic ./fed
check 'CSV has percentiles by rank' grep -q 'instance_p50_s,instance_p90_s,instance_p99_s' <("$fvmpi" report experiment --table sections_by_rank --csv -)
has "$("$fvmpi" dump experiment)" 'section_octaves thread=0 index=[0-9]* of=1 octave=16 count=[0-9,]*,33'
check 'fvmpi dump has the histogram' test $? -eq 0
record ./serial nested
has "$("$fvmpi" report experiment)" 'outer +1 +3 '
check 'the text report has a table of sections' test $? -eq 0
"$fvmpi" report experiment --csv csv > /dev/null 2>&1
check 'CSV' grep -q '^[0-9]*,outer,1,0,3,1,' csv/sections_by_rank.csv
has "$("$fvmpi" dump experiment)" 'sections id=1 name="outer" number=1 level=0 flags=0'
check 'fvmpi dump' test $? -eq 0

# ---- C++ and Fortran ----
if capture "${CXX:-g++}" -O2 -Wall -Wextra -Werror -I"$source/src" "$here/raii.cpp" -o raii && [ "$rc" -eq 0 ]; then
    capture ./raii
    check 'C++: runs without fvmpi' test "$rc:$out" = '0:caught 3'
    known 'C++: sections end with their scope, by exceptions as well' raii ./raii
else
    check 'C++: compiles' test "$rc" -eq 0
fi
if "$cc" -O2 -rdynamic $warnings -DFVMPI_NO_SECTIONS -I"$source/src" "$here/serial.c" -o nothing && "${CXX:-g++}" -O2 -DFVMPI_NO_SECTIONS -I"$source/src" "$here/raii.cpp" -o nothing++; then
    check 'with FVMPI_NO_SECTIONS nothing of them is left' test -z "$(nm nothing nothing++ | grep -i fvmpi)"
else
    check 'with FVMPI_NO_SECTIONS: compiles' false
fi
fortran() { # WHAT COMPILER [OPTIONS]
    local what=$1
    shift
    capture "$@" -Wall -Wextra -Werror "$source/src/fvmpi.f90" "$here/module.f90" -o module
    [ "$rc" -eq 0 ] || { check "$what: compiles" test "$rc" -eq 0; return; }
    capture ./module
    check "$what: runs without fvmpi" test "$rc:$out" = '0:done'
    known "$what: is measured" module ./module
}
if command -v gfortran > /dev/null; then
    fortran 'Fortran' gfortran -O2
    fortran 'Fortran, -O0, not position-independent' gfortran -O0 -fno-pie -no-pie
else
    skip 'Fortran' 'no gfortran'
fi

# ---- with MPI ----
for mpi in $(an_mpi); do
    launcher=($(launcher_of "$mpi"))
    capture "$(mpicc_of "$mpi")" -g -O1 -D_GNU_SOURCE -I"$source/src" "$here/exchange.c" -o "exchange-$mpi"
    check "$mpi: compiles" test "$rc" -eq 0
    capture "${launcher[@]}" -n 2 "./exchange-$mpi"
    check "$mpi: runs without fvmpi" test "$rc" -eq 0
    known "$mpi: calls, message lengths, waiting, call paths" exchange "${launcher[@]}" -n 2 "./exchange-$mpi"
    known "$mpi: the same with a trace, and instances by themselves" apart --trace --section-instances 1 "${launcher[@]}" -n 2 "./exchange-$mpi"
    "$build/fvunify-serial" experiment > .out 2>&1 && "$fvmpi" report experiment --json profile.json > .out
    err=$(examine exchange 2>&1)
    check "$mpi: the same with the trace's analysis" test $? -eq 0
    known "$mpi: the whole program is a section" whole "${launcher[@]}" -n 2 "./exchange-$mpi" none
done
known "serial: the whole program is a section" whole sleep 0.1
finish
