#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What is recorded of others' texts: commands that are printed do, pasted into a shell, what they say, whatever the names of directories and source files are; no control character
# of them reaches a terminal; experiments are their owner's alone, and secrets among the arguments are not in them.
. "$(dirname "$0")/../lib.sh"

mpi=$(mpis | tail -1)
nasty=$'red\033[31m $(touch pwned) `touch pwned` it\'s "q" \\\ntwo'
cat > app.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
__attribute__((noinline)) static double work(double s) { volatile double x = 1; for (double end = cpu() + s; cpu() < end;) for (int i = 0; i < 2000; i++) x = x * 1.0001 + 1; return x; }
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 15; i++) {
        work(rank ? 0.001 : 0.05);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!rank)
        for (int i = 1; i < argc; i++)
            printf("%s\n", argv[i]);
    MPI_Finalize();
    return 0;
}
END

# It is UTF-8, and there is no control character but ends of lines and, in pages, tabs.
no_control() { python3 -c 'import sys; sys.exit(any(ord(c) < 32 and c not in "\n\t" or 127 <= ord(c) < 160 for name in sys.argv[1:] for c in open(name, encoding="utf-8", newline="").read()))' "$@"; }

if [ -n "$mpi" ]; then
    mkdir "$nasty" && mv app.c "$nasty/$nasty.c"
    "$(mpicc_of "$mpi")" -g -O1 -o "app $nasty" "$nasty/$nasty.c" || exit 1
    read -ra launcher <<< "$(launcher_of "$mpi")"
    secrets=(--password=hunter2 --token s3cr3t https://me:p4ss@host/x '-H' 'Authorization: Bearer b34r3r' --n 3)
    # shellcheck disable=SC2031
    umask 022
    capture "${launcher[@]}" -n 2 "$fvmpi" run -o "$nasty/exp $nasty" "./app $nasty" "${secrets[@]}"
    check "$mpi: the program gets its arguments as they were" [ "$out" = "$(printf '%s\n' "${secrets[@]}")" ]
    exp=$nasty/exp\ $nasty
    modes=$(find "$exp" -type l -prune -o -printf '%m %P\n' | grep -vE '^[0-7]00 ')
    check "$mpi: the experiment is its owner's alone" [ -z "$modes" ]
    check "$mpi: what is secret is in none of its files" bash -c '! grep -rqE "hunter2|s3cr3t|p4ss|b34r3r" "$1"' _ "$exp"
    check "$mpi: run.json has the rest" grep -q -- '--password=<blanked>.*--token.*<blanked>.*https://me:<blanked>@host/x.*Authorization: <blanked>.*--n 3' "$exp/run.json"
    "$fvmpi" report "$exp" --json run.json --html run.html
    capture "$fvmpi" report "$exp" --all
    check "$mpi: the report says that arguments are blanked" has "$out" 'arguments that look secret are blanked'
    check "$mpi: no control character in the report" no_control .out .err run.json run.html

    PATH=$(dirname "$fvmpi"):$PATH
    python3 - > commands << 'END'
import json
for finding in json.load(open('run.json'))['findings']:
    if 'fvmpi report' in (finding['next'] or ''):
        print(finding['next'][finding['next'].index('fvmpi report'):])
END
    { LC_ALL=C grep -o 'fvmpi report .*' .err; cat commands; } > all
    check "$mpi: a finding has a command with a source file" grep -q -- '--source .*printf' all
    while IFS= read -r command; do
        capture sh -c "$command"
        check "$mpi: pasted, it works: ${command//[^a-z -]/}" [ "$rc" = 0 ]
        [[ $command != *--source* ]] || check "$mpi: it shows the lines of the file" has "$out" 'static double work'
    done < all
    capture "${launcher[@]}" -n 1 "$fvmpi" run -o "$nasty/exp $nasty" -q "./app $nasty"
    capture "$fvmpi" run -- "${launcher[@]}" -n 1 "./app $nasty"
    check "$mpi: no control character in what run says" no_control .err
    command=$(LC_ALL=C grep -o 'fvmpi report .*' .err | tail -1)
    capture sh -c "$command"
    check "$mpi: its command, pasted, works" [ "$rc" = 0 ]
    capture "$fvmpi" run --dry-run --mpi "$mpi" -- "./app $nasty" a=b
    check "$mpi: a dry run's words are as safe" no_control .out
    capture "$fvmpi" report "$nasty/none $nasty"
    check "$mpi: so is a message with a name in it" no_control .err
    check "$mpi: nothing in a name was run" [ ! -e pwned ]

    capture "${launcher[@]}" -n 1 "$fvmpi" run --share -o shared "./app $nasty"
    check "$mpi: --share: the umask says who reads it" [ "$(stat -c %a shared shared/rank-000000.fvr shared/run.json | paste -sd ' ')" = '755 644 644' ]
    if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
        "${launcher[@]}" -n 1 "$fvmpi" run -q --trace -o mine "./app $nasty"
        chmod 755 "$work"
        colleague=(setpriv --reuid 65534 --regid 65534 --clear-groups)
        capture "${colleague[@]}" "$fvmpi" report mine
        check "$mpi: another user's report says why not, and what helps" has "$err" 'mine: Permission denied: an experiment is its owner.s alone\. The owner allows it by: chmod --recursive go\+rX mine'
        remedy=$(sed -n 's/.*allows it by: \([^;]*\);.*/\1/p' <<< "$err")
        if [ -x "$(dirname "$fvmpi")/fvunify" ]; then
            umask 022
            capture fvunify mine
            check "$mpi: an archive is as private as its run" [ -z "$(find mine -type l -prune -o -name '*.*' -printf '%m %P\n' | grep -vE '^[0-7]00 ')" ]
        fi
        sh -c "$remedy"
        capture "${colleague[@]}" "$fvmpi" report mine
        check "$mpi: the remedy helps" [ "$rc" = 0 ]
    else
        skip "another user's report" 'needs root and setpriv'
    fi
else
    skip 'commands that are printed' 'no MPI'
fi

# Each option, in one run: none is left out, of the environment or of what is recorded.
printf '#include <stdio.h>\nint main(void) { return puts("done") < 0; }\n' > plain.c && cc -o plain plain.c
printf 'SCOREP_REGION_NAMES_BEGIN EXCLUDE foo\nSCOREP_REGION_NAMES_END\n' > filter
options=(--depth 10 --profile-max 1M --collectives-max 1M --trace --trace-max 10M --trace-zstd 1 --barrier before --barrier-wait 5 --sample=50 --sample-budget 10
    --events PAGE-FAULTS --counters software --counters-shared --counters-pass 1/1 --counters-mpi=0 --threads=hold --mpi-calls 0 --functions=all --functions-filter filter
    --io --memory --sensors default --sensors-hz 5 --section-level 3 --section-cpu=0 --annotations off --off-at-start --clock monotonic --quiet --share --local /tmp
    --container --hang-after 100s --section-instances 5 --trace-keep 1M --keep-slow step:3 --trace-iterations step:2)
if [ "$sanitizer" ]; then
    skip 'with every option there is' 'AddressSanitizer has the allocator'
    finish
    exit
fi
wanted=$(printf '%s\n' "${options[@]}" | grep -o '^--[a-z-]*' | sort)
check 'these are more than 33' [ "$(wc -w <<< "$wanted")" -gt 33 ]
capture "$fvmpi" run "${options[@]}" -o all-options ./plain
check 'with every option there is, the program runs' [ "$rc:$out" = 0:done ]
recorded=$("$fvmpi" report all-options --table options --csv - | sed -n "s/^'\(--[a-z-]*\),.*/\1/p" | sort)
check 'and all of them are recorded' [ "$recorded" = "$wanted" ]
finish
