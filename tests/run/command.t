#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# fvmpi and fvmpi run, as far as no MPI need be started: usage, refusals, what would be run.
. "$(dirname "$0")/../lib.sh"

# ---- fvmpi ----
capture "$fvmpi"
check 'no command: usage on stderr, status 2' test "$rc" -eq 2 -a -z "$out" -a -n "$err"
capture "$fvmpi" --version
check '--version' has "$rc:$out" '^0:fvmpi [0-9]+\.[0-9]+\.[0-9]+$'
capture "$fvmpi" --help
check '--help names the commands' has "$rc:$(tr '\n' ' ' <<< "$out")" '^0:.*run .*report .*dump '
capture "$fvmpi" reprot
check 'unknown command: suggestion, status 2' has "$rc:$err" '^2:fvmpi: reprot: no such command; did you mean `fvmpi report`\?'

# ---- usage of run ----
capture "$fvmpi" run
check 'run without a program' has "$rc:$err" '^2:fvmpi: run: no program given'
capture "$fvmpi" run --help
check 'run --help has options and variables' has "$(tr '\n' ' ' <<< "$out")" '--output DIR.*FVMPI_OUTPUT.*--depth N'
check 'run --help fits 100 columns' test "$(awk 'length > m { m = length } END { print m }' <<< "$out")" -le 100
capture "$fvmpi" run --ouptut x ls
check 'unknown option: suggestion' has "$rc:$err" '^2:fvmpi: run: --ouptut: .*did you mean --output\?'
capture "$fvmpi" run -np 4 ls
check '-np is the launcher'\''s' has "$rc:$err" '^2:.*mpiexec -np'
capture "$fvmpi" run --depth 1025 ls
check 'a value out of range' has "$rc:$err" '^2:fvmpi: run: --depth 1025: too large \(up to 1024\)'
for rate in 1.5 100000 fast OFF; do
    capture "$fvmpi" run --sample=$rate ls
    check "--sample=$rate" has "$rc:$err" "^2:fvmpi: run: --sample=$rate: (not a whole number|not a rate, clock, on or off|too large \(up to 5000\)); .fvmpi run --help. explains it"
done
capture "$fvmpi" run --trace-max 3 ls
check 'a size below the least: it is named' has "$rc:$err" '^2:fvmpi: run: --trace-max 3: too small \(from 64K\)'
capture "$fvmpi" run --trace-max 2T ls
check 'a size beyond the most' has "$rc:$err" '--trace-max 2T: too large \(up to 1T\)'
capture "$fvmpi" run --profile-max 4X ls
check 'a size that is none' has "$rc:$err" '^2:fvmpi: run: --profile-max 4X: not a size'
capture "$fvmpi" run -o
check 'a missing value' has "$rc:$err" '^2:.*--output: its value is missing'

# ---- programs that cannot be run ----
capture "$fvmpi" run ./missing
check 'a missing program' has "$rc:$err" '^127:fvmpi: ./missing: not found'
capture "$fvmpi" run missing-command
check 'a missing command' has "$rc:$err" '^127:fvmpi: missing-command: not found'
echo > plain
capture "$fvmpi" run ./plain
check 'a file that is not executable' has "$rc:$err" '^126:fvmpi: ./plain: cannot be executed'
mkdir directory
capture "$fvmpi" run ./directory
check 'a directory' has "$rc:$err" '^126:fvmpi: ./directory: cannot be executed'
capture env PATH=/nowhere "$fvmpi" run -- mpiexec -n 2 ./app
check 'a missing mpiexec' has "$rc:$err" '^127:fvmpi: mpiexec: not found; install an MPI'
echo 'int main(void) { return 7; }' > app.c
if cc -static app.c -o static 2> /dev/null; then
    capture "$fvmpi" run ./static
    check 'a static program' has "$rc:$err" '^1:fvmpi: ./static: statically linked.*-lfvmpi'
else
    skip 'a static program' 'no static libc'
fi
if cc -m32 -nostdlib -shared -x c /dev/null -o app32 2> /dev/null && chmod +x app32; then
    capture "$fvmpi" run ./app32
    check 'a 32-bit program' has "$rc:$err" '^1:fvmpi: ./app32: not an ELF program that fvmpi can read'
else
    printf '\177ELF\1\1\1%057d' 0 > app32 && chmod +x app32
    capture "$fvmpi" run ./app32
    check 'a 32-bit program' has "$rc:$err" '^1:fvmpi: ./app32: not an ELF program that fvmpi can read'
fi
head -c 100 "$fvmpi" > cut && chmod +x cut
capture "$fvmpi" run ./cut
check 'a truncated program' has "$rc:$err" '^1:fvmpi: ./cut: not an ELF program that fvmpi can read'
capture env FVMPI_LIBDIR=/nowhere "$fvmpi" run --mpi mpich ls
check 'a library that is not there' has "$rc:$err" '^1:fvmpi: /nowhere/libfvmpi-mpich.so: not there'

# ---- configuration ----
capture env FVMPI_DEPTH=8 FVMPI_QUIET= "$fvmpi" run --clock=tsc -qo exp --print-config
check '--print-config: from the environment' has "$out" '^--depth +FVMPI_DEPTH +environment +8$'
check '--print-config: from the command line' has "$out" '^--clock +FVMPI_CLOCK +command line +tsc$'
check '--print-config: joined short options' has "$out" '^--output +FVMPI_OUTPUT +command line +exp$'
check '--print-config: defaults' has "$out" '^--profile-max +FVMPI_PROFILE_MAX +default +16M$'
capture env FVMPI_DEPHT=8 FVMPI_CLOCK=sundial "$fvmpi" run --print-config
check 'an unknown variable: suggestion' has "$err" 'fvmpi: FVMPI_DEPHT: no such variable; did you mean FVMPI_DEPTH\?'
check 'a bad value: the default is taken' has "$err" 'fvmpi: FVMPI_CLOCK=sundial: not one of the choices'
check '... and shown' has "$out" '^--clock +FVMPI_CLOCK +default +auto$'
silent=
for place in PREFIX ROOT HOME DIR BASE PATH BIN LIB INCLUDE VERSION; do
    silent+=" FVMPI_$place=/opt/fvmpi"
done
capture env $silent "$fvmpi" run --print-config
check 'variables that tell where fvmpi is installed are no options' test "$rc:$err" = 0:
capture env FVMPI_X=1 FVMPI_INPUT_DECK=deck FVMPI_TEST_CASES=4 "$fvmpi" run --print-config
check 'nor are variables of the user that resemble no option' test "$rc:$err" = 0:

# ---- what would be run ----
ln -s "$(type -P true)" 'a program'
capture "$fvmpi" run --dry-run --mpi serial -o ex -- './a program' "it's" ''
check '--dry-run: the library' has "$rc:$out" '^0:LD_PRELOAD=[^ ]*/libfvmpi-serial.so '
check '--dry-run: the output, absolute' has "$out" " FVMPI_OUTPUT=$work/ex "
check '--dry-run: quoted' has "$out" " './a program' 'it'\\\\''s' ''\$"
check '--dry-run does nothing' test ! -e ex
capture env LD_PRELOAD=/lib/other.so "$fvmpi" run --dry-run --mpi serial ls
check 'a preload that is there stays' has "$out" 'LD_PRELOAD=([^: ]*san.so[^: ]*:)?[^: ]*/libfvmpi-serial.so:/lib/other.so '
if [ "$sanitizer" ]; then
    skip 'a program with AddressSanitizer' 'fvmpi itself has it'
elif echo 'int main(void) { return 3; }' | cc -fsanitize=address -x c - -o checked 2> .log; then
    capture env ASAN_OPTIONS=detect_leaks=0 "$fvmpi" run -q -o asan --mpi serial ./checked
    check 'a program with AddressSanitizer' has "$rc:$out$err" '^3:$'
    capture env ASAN_OPTIONS=detect_leaks=0 "$fvmpi" run --dry-run ./checked
    capture env ASAN_OPTIONS=detect_leaks=0 "$fvmpi" run -q --memory -o asan-memory --mpi serial ./checked
    check '... whose allocator is its own: without --memory' has "$rc:$out$err" '^3:fvmpi: --memory: left out, because the program is built with AddressSanitizer,.*record them$'
    capture "$fvmpi" report asan-memory
    check '... which the report says' has "$out" 'not recorded, since the program is built with a sanitizer: --memory \(AddressSanitizer\)'
    capture env ASAN_OPTIONS=detect_leaks=0 "$fvmpi" run --dry-run ./checked
    check '... which is told to come second' has "$out" ' ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 '
else
    skip 'a program with AddressSanitizer' "the compiler does not make one"
fi
printf '#include <pthread.h>\nstatic void *run(void *p) { return p; }\nint main(void) { pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0); return 3; }\n' > raced.c
for compiler in gcc clang; do
    if [ "$sanitizer" ]; then
        skip "$compiler: a program with ThreadSanitizer" 'fvmpi itself has another sanitizer'
    elif "$compiler" -fsanitize=thread -pthread raced.c -o raced 2> .log && capture ./raced && [ "$rc" -eq 3 ]; then
        capture "$fvmpi" run -q --memory --threads -o tsan --mpi serial ./raced
        check "$compiler: a program with ThreadSanitizer: without --memory, --threads" has "$rc:$out$err" '^3:fvmpi: --memory, --threads: left out, because the program is built with ThreadSanitizer,.*record them$'
        capture "$fvmpi" run -q --io --sample --counters software -o tsan-others --mpi serial ./raced
        check '... and as it is with other options' has "$rc:$out$err" '^3:$'
    else
        skip "$compiler: a program with ThreadSanitizer: without --memory, --threads" "the compiler does not make one that runs here"
    fi
done
capture "$fvmpi" run --dry-run ls
check 'a program without MPI: serial' has "$out" '/libfvmpi-serial.so '
run_fvmpi() { out=$("$fvmpi" run --dry-run "$@" true 2> /dev/null); }

# ---- where it runs ----
for name in mpiexec.hydra mpirun.openmpi srun mpiexec.other; do printf '#!/bin/sh\n' > "$name"; chmod +x "$name"; done
pinned() { capture "$fvmpi" run --dry-run --mpi serial --pin "$@"; out=${out##*\.so }; }
pinned cores -- ./mpirun.openmpi -n 2 true
check '--pin under Open MPI' has "$rc:$out" '^0:(.* )?\./mpirun.openmpi --bind-to core -n 2 true$'
pinned sockets -- ./mpiexec.hydra -n 2 true
check '... under MPICH' has "$rc:$out" '^0:(.* )?\./mpiexec.hydra -bind-to socket -n 2 true$'
pinned numa -- ./srun -n 2 true
check '... under Slurm' has "$rc:$out" '^0:(.* )?\./srun --cpu-bind=ldoms -n 2 true$'
pinned cores -- ./mpiexec.other -n 2 true
check '... under a launcher that is not known: nothing is started' has "$rc:$out:$err" '^2::fvmpi: run: --pin cores: fvmpi does not know how this launcher binds ranks; '
pinned cores true
check '... without one' has "$rc:$err" '^2:fvmpi: run: --pin cores: fvmpi starts no launcher here, '
pinned cores -- ./mpirun.openmpi --bind-to socket -n 2 true
check '... where the command says it already' has "$rc:$err" '^2:fvmpi: run: --pin cores: --bind-to already binds ranks; '
pinned threads -- ./srun --cpu-bind=cores -n 2 true
check '... in one word' has "$rc:$err" '^2:fvmpi: run: --pin threads: --cpu-bind=cores already binds ranks'
capture env SLURM_CPU_BIND=none "$fvmpi" run --dry-run --mpi serial --pin threads -- ./srun -n 2 true
check '... where a variable says it' has "$rc:$err" '^2:fvmpi: run: --pin threads: SLURM_CPU_BIND already binds ranks'
capture "$fvmpi" run -q -o aslr --aslr off -- cat /proc/self/personality
check '--aslr off: not randomised' test $((0x$out & 0x40000)) -ne 0
capture "$fvmpi" run -q -o aslr2 -- cat /proc/self/personality
check '... unless it is asked for' test $((0x$out & 0x40000)) -eq 0
capture "$fvmpi" run --dry-run --aslr off --mpi serial true
check '... and --dry-run says it' has "$out" ' setarch -R true$'
capture "$fvmpi" run --dry-run --aslr off --mpi serial -- ./srun -n 2 true
check '... not where ranks do not inherit it' has "$rc:$err" '^2:fvmpi: run: --aslr off: ranks of srun do not inherit it from here; '
for mpi in openmpi mpich; do
    type -P mpiexec.$mpi > /dev/null || { skip "... through mpiexec.$mpi" "it is not here"; continue; }
    [ $mpi = openmpi ] && options='--allow-run-as-root --oversubscribe' || options=
    capture "$fvmpi" run -q -o aslr.$mpi --aslr off --mpi serial -- mpiexec.$mpi $options -n 2 cat /proc/self/personality
    check "... through mpiexec.$mpi to each rank" has "$(sort -u <<< "$out" | tr '\n' ' ')" '^00040000 $'
done

run_fvmpi --threads
check '--threads: a library of its own' has "$out" '/libfvmpi-serial-threads.so .*FVMPI_THREADS=1 '
run_fvmpi --threads=hold,owner
check '--threads=hold,owner' has "$out" '/libfvmpi-serial-threads.so .*FVMPI_THREADS=hold,owner '
run_fvmpi --threads=0
check '--threads=0' has "$out" '/libfvmpi-serial.so '
check '--threads=some' has "$("$fvmpi" run --threads=some true 2>&1)" 'not hold, owner, or hold,owner'
capture env PMI_RANK=0 "$fvmpi" run --dry-run -- sh x.sh
check 'no MPI, but a launcher: says what it saw' has "$rc:$err" '^2:fvmpi: run: cannot tell which MPI this is: sh needs no MPI library'
check '... and the exact command' has "$err" '^    fvmpi run --mpi mpich -- sh x.sh$'

# ---- what was asked for is in the file ----
capture env FVMPI_CLOCK=sundial FVMPI_DEPTH=0 "$fvmpi" run -q -o asked --mpi serial --trace --sample-budget 7 true
capture "$fvmpi" report asked --table options --columns option,variable,value,rank_count --csv -
check 'options: those that are in effect and not at their defaults' test "$rc:${out//$'\r'/}" = "0:option,variable,value,rank_count
'--quiet,FVMPI_QUIET,1,1
'--sample-budget,FVMPI_SAMPLE_BUDGET,7,1
'--trace,FVMPI_TRACE,1,1"
capture "$fvmpi" report asked
check 'options: in the report' has "$out" '^ +options +--quiet --sample-budget=7 --trace$'

# ---- bad input: one line that says what to do; status 2 if the command was wrong, 1 if its input was ----
mkdir inputs && cd inputs || exit 1
# ---- how a program ends that does not return from main ----
cat > ends.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    switch (argc > 1 ? *argv[1] : 0) {
    case '_': _exit(3);
    case 'E': _Exit(4);
    case 'q': quick_exit(5);
    case 'c': /* a child's end is not its parent's */
        if (!vfork())
            _exit(6);
        if (!fork())
            _exit(7);
        while (wait(NULL) > 0) {}
        return 8;
    }
    return 9;
}
C
cc ends.c -o ends
ends() { # WHAT STATUS COMMAND...
    local what=$1 wanted=$2
    shift 2
    rm -rf ends.d
    capture "$fvmpi" run -q -o ends.d --mpi serial "$@"
    local status=$rc
    capture "$fvmpi" report ends.d --table ranks --columns state,exit_status --csv -
    check "$what" test "$status:${out//$'\r'/}" = "$wanted:state,exit_status
exited,$wanted"
}
ends '_exit()' 3 ./ends _
ends '_Exit()' 4 ./ends E
ends 'quick_exit()' 5 ./ends q
ends '_exit() of children' 8 ./ends children
ends 'a shell' 3 /bin/sh -c 'exit 3'

# ---- C++ in a library that a C program opens: whose functions throw (libunwind, which ours needs, has some, too) ----
cat > throws.cpp <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unwind.h>
extern "C" int throws()
{
    Dl_info by;
    try {
        throw 1;
    } catch (int) {
        puts(dladdr((void *)_Unwind_RaiseException, &by) ? by.dli_fname : "?");
    }
    return 0;
}
C
cat > opens.c <<'C'
#include <dlfcn.h>
int main(void)
{
    void *library = dlopen("./throws.so", RTLD_NOW);
    int (*throws)(void) = library ? (int (*)(void))dlsym(library, "throws") : 0;
    return throws ? throws() : 1;
}
C
if [ "$sanitizer" ]; then
    skip 'C++ exceptions in a library that is opened' 'AddressSanitizer throws them'
elif c++ -shared -fPIC throws.cpp -o throws.so 2> /dev/null && cc opens.c -o opens -ldl; then
    wanted=$(./opens)
    capture "$fvmpi" run -q -o opens.d --mpi serial ./opens
    check 'C++ exceptions are thrown by what throws them without fvmpi' test "$rc:$out" = "0:$wanted"
else
    skip 'C++ exceptions in a library that is opened' 'no C++ compiler'
fi

capture "$fvmpi" run -q -o good --mpi serial true
check 'a run to take from' test "$rc" -eq 0 -a -s good/rank-000000.fvr
mkdir nothing empty cut version locked
: > empty/rank-000000.fvr
head -c 3000 good/rank-000000.fvr > cut/rank-000000.fvr
{ head -c 8 good/rank-000000.fvr; printf '\143'; tail -c +10 good/rank-000000.fvr; } > version/rank-000000.fvr
cp good/rank-000000.fvr locked && chmod 0 locked/rank-000000.fvr

# refused STATUS PATTERN WHAT COMMAND...: nothing on stdout, and one line
refused() {
    local status=$1 pattern=$2 what=$3
    shift 3
    capture "$@"
    check "$what" has "$rc:$(wc -l <<< "$err"):$out$err" "^$status:1:fvmpi: $pattern"
}
bad_input() { # NAME COMMAND...: it takes an experiment directory as its last argument
    local name=$1
    shift
    refused 1 'missing: No such file or directory; give the experiment directory' "$name: what is not there" "$@" missing
    refused 1 'nothing: no rank files \(\*\.fvr\) in it; give the experiment directory' "$name: an empty directory" "$@" nothing
    refused 1 '(.*: )?rank-000000.fvr: truncated: 0 bytes' "$name: an empty file" "$@" empty
    refused 1 '(.*: )?rank-000000.fvr: truncated: 3000 bytes' "$name: a cut file" "$@" cut
    refused 1 '(.*: )?rank-000000.fvr: recorded by another version of fvmpi .*file version 99; this one reads' "$name: another version" "$@" version
    if [ "$(id -u)" -eq 0 ]; then
        skip "$name: no permission" 'root may read everything'
    else
        refused 1 '(.*: )?rank-000000.fvr: Permission denied' "$name: no permission" "$@" locked
    fi
}
for command in report stacks dump; do
    bad_input $command "$fvmpi" $command
    refused 2 "$command: no experiment directory: one is needed; see fvmpi $command --help" "$command: no argument" "$fvmpi" $command
    refused 2 "$command: --bogus: no such option; see" "$command: an unknown option" "$fvmpi" $command --bogus good
    refused 2 "$command: --help=no: it takes no value; see" "$command: a value too much" "$fvmpi" $command --help=no
done
mkdir holder && cp -r good holder/two && cp -r good holder/one
refused 1 'holder: it has 2 experiments inside; name holder/one, or several of them' 'report of a directory of experiments' \
    "$fvmpi" report holder
bad_input diff "$fvmpi" diff good
refused 2 'diff: no experiment: two experiments are needed; see fvmpi diff --help' 'diff: no argument' "$fvmpi" diff
refused 2 'report: --top: its value is missing; see' 'report: a value too few' "$fvmpi" report good --top
for option in '--top 0' '--width 3' '--color red'; do
    for command in report stacks diff; do
        refused 2 "$command: ${option#* }: ${option% *} takes .*; see fvmpi $command --help" "$command $option" \
            "$fvmpi" $command good $option
    done
done
refused 2 'check: no archive: one is needed' 'check: no argument' "$fvmpi" check
refused 1 'missing: No such file or directory; name the anchor file' 'check: what is not there' "$fvmpi" check missing
refused 1 'nothing: a directory; name the archive' 'check: an empty directory' "$fvmpi" check nothing
refused 1 'good: no archive in it; make one from its trace: fvunify good' 'check: an experiment' "$fvmpi" check good
refused 1 'good/run.json: no anchor file of an OTF2 archive' 'check: another file' "$fvmpi" check good/run.json
if [ -x "$build/fvunify-serial" ]; then
    bad_input fvunify "$build/fvunify"
    refused 2 'fvunify: no experiment directory: one is needed; see fvunify --help' 'fvunify: no argument' "$build/fvunify"
    refused 2 'fvunify: good/rank-000000.fvr: a file; give its directory' 'fvunify: a file' "$build/fvunify" good/rank-000000.fvr
    refused 2 'fvunify: 3: --memory takes a size from 1M' 'fvunify: too little memory' "$build/fvunify" --memory 3 good
    mkdir elsewhere && : > elsewhere/traces.otf2
    refused 1 'elsewhere: .*only what fvunify wrote; report the experiment directory$' 'report of an archive alone' \
        "$fvmpi" report elsewhere
    : > elsewhere/analysis.json
    refused 1 'elsewhere: .*only what fvunify wrote; .* with a copy of this analysis.json in it' '... with its analysis' \
        "$fvmpi" report elsewhere
else
    skip 'fvunify: bad input' 'built without OTF2'
fi
finish
