#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it delays signals, so that a library in an endless loop is not interrupted.
# fvmpi check on archives with known faults: the good one has none, each of the others shows its own, with the
# location, the time and the record.
. "$(dirname "$0")/../lib.sh"

capture "$fvmpi" check
check 'no archive: status 2' has "$rc:$err" '^2:fvmpi: check: no archive'
capture "$fvmpi" check --bad x
check 'unknown option: status 2' has "$rc:$err" '^2:fvmpi: check: --bad'
capture "$fvmpi" check --strikt x
check 'unknown option: suggestion' has "$rc:$err" '^2:fvmpi: check: --strikt: no such option \(did you mean --strict\?\)'
mkdir profiled
: > profiled/rank-000000.fvr
capture "$fvmpi" check profiled
check 'an experiment without an archive: how to make it' has "$rc:$err" '^1:fvmpi: profiled: no archive in it; .*: fvunify profiled$'
capture "$fvmpi" check --help
check '--help' has "$rc:$(tr '\n' ' ' <<< "$out")" '^0:.*--strict.*--json'
archives=$build/tests/otf2/archives
if [ ! -x "$archives" ]; then
    capture "$fvmpi" check missing.otf2
    check 'without OTF2 one line says how to get it' has "$rc:$err" '^1:fvmpi: .*libotf2-trace-dev'
    skip 'archives with faults' 'OTF2 was not found; install the package libotf2-trace-dev'
    finish
    exit
fi

# ---- what is no archive ----
capture "$fvmpi" check missing.otf2
check 'a missing file' test "$rc:$(wc -l <<< "$err"):$out" = '1:1:'
mkdir directory
capture "$fvmpi" check directory
check 'a directory: says what to name' has "$rc:$err" '^1:fvmpi: directory: a directory; name .*directory/traces.otf2'
head -c 3000 /dev/urandom > random.otf2
capture "$fvmpi" check random.otf2
check 'a damaged anchor file' test "$rc:$(wc -l <<< "$err"):$out" = '1:1:'
: > empty.otf2
capture "$fvmpi" check empty.otf2
check 'an empty anchor file' test "$rc:$(wc -l <<< "$err"):$out" = '1:1:'

"$archives" endless anchor-endless || exit 1
capture "$fvmpi" check endless/traces.otf2
check 'an anchor file on which the library hangs or fails' test "$rc:$(wc -l <<< "$err"):$out" = '1:1:'

# ---- the good one ----
"$archives" good good || exit 1
capture "$fvmpi" check --strict good/traces.otf2
check 'a good archive: nothing, even with --strict' has "$rc:$out" '^0:[^ ]*: 4 locations, [0-9]+ events, [0-9]+ definitions: 0 errors, 0 warnings$'
check 'nothing on stderr' test -z "$err"
capture "$fvmpi" check --strict good
check 'its directory will do' has "$rc:$out" '^0:good/traces.otf2: .* 0 errors, 0 warnings$'
capture "$fvmpi" check --json good.json good/traces.otf2
check '--json: text gives way' test "$rc:$out" = 0:
check '--json: no faults' has "$(tr -d ' \n' < good.json)" '"schema":"fvmpi-check-1".*"faults":\[\].*"locations":4,.*"errors":0,"warnings":0'

# ---- one fault each: its name, what the line must say, before the fault's tag ----
one='location "name" \(1\)'
event="$one, time -?[0-9.]+ s, record"
thread='location "name" \(4294967296\), time [0-9.]+ s, record'
shown() { # by the archives of a table, a line each: FAULT SEVERITY TAG WHERE, an extended regular expression
    local fault severity tag where want
    while read -r fault severity tag where; do
        [ -n "$fault" ] || continue
        where=${where//ONE/$one} where=${where//EVENT/$event} where=${where//THREAD/$thread}
        if ! "$archives" "$fault" "$fault" 2> generator; then
            out=$(cat generator)
            check "$fault: written" false
            continue
        fi
        capture "$fvmpi" check "$fault/traces.otf2"
        want=1
        [ "$severity" = error ] || want=0
        check "$fault: $tag" has "$rc:$(grep -c . <<< "$err"):$(tr '\n' '~' <<< "$out")" \
            "^$want:[01]:(.*~)?[^ ]*: ($where[^~]*) \[$severity $tag\]~"
    done
}
shown <<'TABLE'
duplicate                error   duplicate-definition      definition String 1: String 1
node-string              error   undefined-reference       definition SystemTreeNode 0: name: String 99
node-parent              error   undefined-reference       definition SystemTreeNode 1: parent: SystemTreeNode 9
group-node               error   undefined-reference       definition LocationGroup 1: system tree parent
location-group-undefined error   undefined-reference       definition Location 1: location group: LocationGroup 9
region-string            error   undefined-reference       definition Region 1: description: String 99
world-location           error   undefined-reference       definition Group 0: member: Location 9
comm-group-undefined     error   undefined-reference       definition Comm 0: group: Group 99
comm-parent-undefined    error   undefined-reference       definition Comm 2: parent: Comm 99
window-comm              error   undefined-reference       definition RmaWin 0: communicator: Comm 99
metric-member            error   undefined-reference       definition MetricClass 0: member: MetricMember 9
context-region           error   undefined-reference       definition CallingContext 0: region: Region 99
context-source           error   undefined-reference       definition CallingContext 1: source code location
file-scope               error   undefined-reference       definition IoRegularFile 0: scope: SystemTreeNode 9
handle-file              error   undefined-reference       definition IoHandle 1: file: IoFile 9
io-paradigm              error   undefined-reference       definition IoHandle 1: I/O paradigm: IoParadigm 9
property-of              error   undefined-reference       definition LocationProperty: what it belongs to: Location 9
forward                  error   forward-reference         definition Region 2: name: String 7 is defined only later
clock-missing            error   clock-missing             there are no ClockProperties
clock-twice              error   clock-twice               definition ClockProperties
clock-range              error   clock-range               definition ClockProperties
clock-resolution         error   clock-resolution          definition ClockProperties
string-0                 warning empty-string              definition String 0
string-0-missing         error   undefined-reference       definition Region 0: description: String 0
node-cycle               error   cycle                     definition SystemTreeNode [01]
comm-cycle               error   cycle                     definition Comm [02]
context-cycle            error   cycle                     definition CallingContext [01]
paradigm-missing         warning paradigm-missing          definition Region 1: paradigm 4
unknown-value            warning unknown-value             definition Location 1: type 17
empty-location-group     warning empty-location-group      definition LocationGroup 3
group-index              error   group-member              definition Group 1: member 1 is index 3, but COMM_LOCATIONS has 3
member-twice             error   group-member              definition Group 1: members 0 and 1 are both 0
group-twice              error   group-twice               definition Group 20
group-self               error   group-self                definition Group 3
comm-group               error   comm-group                definition Comm 0: its group 1 is of type 1
inter-overlap            error   comm-group                definition Comm 3: index 0 is in both groups
comm-parent              warning comm-parent               definition Comm 21
metric-class             error   metric-class              definition MetricInstance 1
topology                 error   topology                  definition CartCoordinate: rank 2: coordinate 3
io-pre-created           warning io-pre-created            definition IoHandle 0
definition-count         error   definition-count          [0-9]+ global definitions, but the anchor file says 1
location-count-anchor    error   location-count            4 locations are defined, but the anchor file says 5
location-count           error   local-definitions-missing location "name" \(5\)
local-missing            error   local-definitions-missing ONE
mapping                  error   mapping                   ONE, definition MappingTable: local String 1 is mapped to 99
mapping-twice            error   duplicate-definition      ONE, definition MappingTable
definitions-unreadable   error   unreadable                the file of global definitions
unreadable               error   unreadable                ONE: an event cannot be read
events-missing           error   events-missing            ONE: its file of events is missing
event-count              error   event-count               ONE: it has [0-9]+ events, but its definition says 3
time-order               error   time-order                EVENT MpiCollectiveEnd: 170 ticks before
time-range               error   time-range                EVENT ProgramBegin: 980 ticks before the trace begins
after-end                error   time-range                EVENT MeasurementOnOff: 99000 ticks after the trace ends
location-type            error   location-type             EVENT ProgramBegin
attribute-type           error   attribute-type            EVENT MeasurementOnOff
attribute-undefined      error   undefined-reference       EVENT MeasurementOnOff: attribute: Attribute 9
attribute-value          error   undefined-reference       EVENT MeasurementOnOff: attribute's value: String 99
region-undefined         error   undefined-reference       EVENT Enter: region: Region 99
string-undefined         error   undefined-reference       EVENT ParameterString: string: String 99
parameter-undefined      error   undefined-reference       EVENT ParameterString: parameter: Parameter 9
parameter-type           error   parameter-type            EVENT ParameterInt
metric-undefined         error   undefined-reference       EVENT Metric: metric: Metric 9
metric-count             error   metric-values             EVENT Metric: 1 values, but its class has 2
metric-type              error   metric-values             EVENT Metric: value 1 has type 8
comm-undefined           error   undefined-reference       EVENT MpiIsend: communicator: Comm 99
group-undefined          error   undefined-reference       EVENT RmaGroupSync: group: Group 99
window-undefined         error   undefined-reference       EVENT RmaPut: window: RmaWin 9
handle-undefined         error   undefined-reference       EVENT IoSeek: handle: IoHandle 44
context-undefined        error   undefined-reference       THREAD CallingContextEnter: calling context: CallingContext 9
generator-undefined      error   undefined-reference       THREAD CallingContextSample: interrupt generator
contingent-undefined     error   undefined-reference       THREAD ThreadBegin: thread contingent: Comm 77
leave-unmatched          error   leave-unmatched           EVENT Leave: "MPI_Send" \(1\) is left but was not entered
leave-wrong              error   leave-wrong               EVENT Leave: "main" \(0\) is left while "MPI_Send"
region-open              error   region-open               EVENT Enter: "main" \(0\) is entered but never left
unwind-far               error   unwind-distance           THREAD CallingContextEnter: unwind distance 4, but calling context 1 has 2 nodes
unwind-other             error   unwind-distance           THREAD CallingContextSample: unwind distance 1 leads to calling context 2, in which the event before was not
unwind-entered           error   unwind-distance           THREAD CallingContextSample: unwind distance 1 leaves calling context 1, which is entered and not left
context-open             error   region-open               THREAD CallingContextEnter
mixed-enter              error   mixed-enter               EVENT CallingContextEnter
program-begin-only       error   program                   EVENT ProgramBegin
program-end-only         error   program                   EVENT ProgramEnd
program-late             error   program                   EVENT ProgramBegin
program-after            error   program                   EVENT Enter
program-region           warning program-region            location "name" \(0\), time [0-9.]+ s, record ProgramBegin: no region stands for "/bin/program"
program-name             warning program-region            location "name" \(0\), time [0-9.]+ s, record ProgramBegin
program-role             warning program-region            location "name" \(0\), time [0-9.]+ s, record ProgramBegin
program-arguments        warning program-region            EVENT ProgramBegin
buffer-flush             error   buffer-flush              EVENT BufferFlush
rank-range               error   rank-range                EVENT MpiIsend: receiver 7, but "world" has 3 ranks
inter-rank               error   message-not-sent          EVENT MpiRecv: "inter", rank 1 to rank 0
not-a-member             error   not-a-member              EVENT MpiSend
request-reused           error   request-reused            EVENT MpiIrecvRequest: request 100
complete-unknown         error   request-unknown           EVENT MpiIsendComplete: request 55
test-unknown             error   request-unknown           EVENT MpiRequestTest: request 77
nonblocking-unknown      error   request-unknown           EVENT NonBlockingCollectiveComplete: request 901
request-wrong            error   request-wrong             EVENT MpiIsendComplete: request 100
request-open             warning request-open              EVENT MpiIsend: request 101
request-off-before       warning request-open              EVENT MpiIsend: request 101
loose-unknown            error   request-unknown           THREAD MpiIrecv: request 800 was not started, on no thread
not-received             error   message-not-received      location "name" \(0\), time [0-9.]+ s, record MpiIsend: "world", rank 0 to rank 1, tag 5: 1 messages sent, 0
not-sent                 error   message-not-sent          EVENT MpiRecv: "world", rank 2 to rank 1, tag 33: 0 messages sent, 1
tag                      error   message-not-sent          EVENT MpiIrecv: "world", rank 0 to rank 1, tag 6
size                     error   message-size              location "name" \(0\), time [0-9.]+ s, record MpiIsend: "world", rank 0 to rank 1, tag 5: sizes differ: 64 bytes sent, 63
receive-before-send      warning receive-before-send       EVENT MpiRecv: "world", rank 0 to rank 1, tag 1
collective-twice         error   collective-pair           EVENT MpiCollectiveBegin
collective-end           error   collective-pair           EVENT MpiCollectiveEnd
collective-open          error   collective-open           EVENT MpiCollectiveBegin
root-none                error   collective-root           EVENT MpiCollectiveEnd: BCAST needs a root
root-self                error   collective-root           EVENT MpiCollectiveEnd: BCAST: roots SELF
root-of-barrier          error   collective-root           EVENT MpiCollectiveEnd: BARRIER has no root
root-range               error   rank-range                EVENT MpiCollectiveEnd: root 3, but "world" has 3 ranks
root-differs             error   collective-order          EVENT MpiCollectiveEnd: collective 2 on "world" is BCAST root 1 here, but BCAST root 0 on location 0
collective-order         error   collective-order          EVENT MpiCollectiveEnd: collective 2 on "world" is ALLREDUCE here, but BCAST root 0 on location 0
collective-count         error   collective-count          ONE, record MpiCollectiveEnd: 3 collectives on "world"
collective-none          error   collective-count          location "name" \(0\): collectives on "inter": only 2 of its 3 ranks have any
collective-missing       error   collective-order          location "name" \(2\), time [0-9.]+ s, record MpiCollectiveEnd: collective 1 on "sub"
comm-not-created         error   handle-lifetime           location "name" \(2\), time [0-9.]+ s, record MpiCollectiveEnd: communicator "sub"
comm-destroyed           error   handle-lifetime           location "name" \(2\), time [0-9.]+ s, record MpiSend: communicator "sub"
window-not-created       error   handle-lifetime           EVENT RmaRequestLock: window "window"
rma-collective-count     error   collective-order          EVENT RmaCollectiveEnd: collective 2 on "window"
rma-rank                 error   rank-range                EVENT RmaPut: remote 3
rma-reused               error   rma-reused                EVENT RmaGet: operation 2
rma-unknown              error   rma-unknown               EVENT RmaOpCompleteNonBlocking: operation 8
rma-open                 warning rma-open                  EVENT RmaGet: operation 2
rma-lock-not-acquired    error   rma-lock                  EVENT RmaReleaseLock: lock 0 at rank 2
rma-lock-held            warning rma-lock-held             EVENT RmaAcquireLock: lock 0 at rank 2 on window 0 is never released
join                     error   join-unmatched            EVENT ThreadJoin
fork-open                warning fork-open                 ONE
team                     error   thread-team               EVENT ThreadTeamEnd
thread-unmatched         error   thread-unmatched          THREAD ThreadBegin
thread-time              warning thread-time               location "name" \(0\), time [0-9.]+ s, record ThreadCreate
thread-open              warning thread-open               location "name" \(0\), time [0-9.]+ s, record ThreadCreate
lock-unmatched           error   lock-unmatched            EVENT ThreadReleaseLock: lock 1 with acquisition order 8
lock-held                warning lock-held                 EVENT ThreadAcquireLock
lock-order               error   lock-order                lock 1 of model 7: 4 acquisitions
lock-order-twice         error   lock-order                lock 1 of model 7: 4 acquisitions, but their orders go from 0 to 3, some twice
io-not-created           error   io-handle                 EVENT IoSeek: handle "name"
io-after-destroy         error   io-handle                 EVENT IoSeek: handle "name"
io-unknown               error   io-unknown                EVENT IoOperationComplete: operation 2
io-reused                error   io-reused                 EVENT IoOperationBegin: operation 7
io-open                  warning io-open                   EVENT IoOperationBegin: operation 7
io-lock                  error   io-lock                   EVENT IoAcquireLock
TABLE
"$archives" none-such none-such 2> generator
check 'the generator knows its faults by name' test $? -eq 1

# Every fault that is looked for has been seen above, but the one that only a newer library can write.
out=$(sed -n 's/^    \[FV_[A-Z_]*\] = { "\([a-z-]*\)".*/\1/p' "$source/otf2/check_fault.c" | while read -r tag; do
    case $tag in unknown-record) continue ;; esac
    grep -qE "^[a-z0-9+-]+ +(error|warning) +$tag " "$source/tests/otf2/check.t" || echo "$tag"
done)
check 'every fault has an archive' test -z "$out"

# ---- an archive that says that it does not hold everything ----
# Of what has no other side it is no longer known whether it is wrong: a warning of one kind.
lenient() {
    cat <<TABLE
not-sent+$1              warning message-unrecorded        EVENT MpiRecv: "world", rank 2 to rank 1, tag 33: 0 messages sent, 1
not-received+$1          warning message-unrecorded        location "name" \(0\), time [0-9.]+ s, record MpiIsend: "world", rank 0 to rank 1, tag 5: 1 messages sent, 0
tag+$1                   warning message-unrecorded        EVENT MpiIrecv: "world", rank 0 to rank 1, tag 6: 0 messages sent, 1
collective-count+$1      warning message-unrecorded        ONE, record MpiCollectiveEnd: 3 collectives on "world"
collective-none+$1       warning message-unrecorded        location "name" \(0\): collectives on "inter": only 2 of its 3 ranks have any
TABLE
}
# What both sides have must fit, and so must what one location does alone.
strict() {
    cat <<TABLE
size+$1                  error   message-size              location "name" \(0\), time [0-9.]+ s, record MpiIsend: "world", rank 0 to rank 1, tag 5: sizes differ
receive-before-send+$1   warning receive-before-send       EVENT MpiRecv: "world", rank 0 to rank 1, tag 1
rank-range+$1            error   rank-range                EVENT MpiIsend: receiver 7
complete-unknown+$1      error   request-unknown           EVENT MpiIsendComplete: request 55
request-open+$1          warning request-open              EVENT MpiIsend: request 101
rma-open+$1              warning rma-open                  EVENT RmaGet: operation 2
collective-open+$1       error   collective-open           EVENT MpiCollectiveBegin
root-range+$1            error   rank-range                EVENT MpiCollectiveEnd: root 3
comm-not-created+$1      error   handle-lifetime           location "name" \(2\), time [0-9.]+ s, record MpiCollectiveEnd: communicator "sub"
TABLE
}
nothing() { # FAULT+PART: no fault at all
    "$archives" "$1" "$1" || exit 1
    capture "$fvmpi" check --strict "$1/traces.otf2"
    check "$1: nothing, even with --strict" has "$rc:$out" '^0:[^ ]*: [45] locations, [^:]*: 0 errors, 0 warnings$'
}
for part in off empty incomplete; do
    nothing good+$part
    shown < <(lenient $part; strict $part)
done
# A location without events, or a property of the archive, takes nothing from the order of the collectives that others
# have; where some are missing in the middle, the order is not compared.
for part in empty incomplete; do
    shown <<TABLE
collective-order+$part   error   collective-order          EVENT MpiCollectiveEnd: collective 2 on "world" is ALLREDUCE here
root-differs+$part       error   collective-order          EVENT MpiCollectiveEnd: collective 2 on "world" is BCAST root 1 here
collective-missing+$part error   collective-order          location "name" \(2\), time [0-9.]+ s, record MpiCollectiveEnd: collective 1 on "sub"
rma-collective-count+$part error collective-order          EVENT RmaCollectiveEnd: collective 2 on "window"
TABLE
done
shown <<'TABLE'
collective-missing+off   warning message-unrecorded        location "name" \(2\), time [0-9.]+ s, record MpiCollectiveEnd: 1 collectives on "sub"
rma-collective-count+off warning message-unrecorded        EVENT RmaCollectiveEnd: 3 collectives on "window"
TABLE
nothing detached
nothing message-cut  # it says that it failed
nothing comm-pending # what was under way when a communicator was freed may end
nothing collective-order+off
nothing root-differs+off

# ---- what ended unseen while recording was off is no fault ----
for what in request-off request-off-thread lock-off; do
    "$archives" $what $what || exit 1
    capture "$fvmpi" check --strict $what/traces.otf2
    check "$what: nothing, even with --strict" has "$rc:$out" '^0:[^ ]*: 4 locations, [^:]*: 0 errors, 0 warnings$'
done

# ---- options ----
capture "$fvmpi" check --strict request-open/traces.otf2
check '--strict: a warning counts' test "$rc" -eq 1
capture "$fvmpi" check location-type/traces.otf2
check 'ten of a kind, and how many more' has "$(grep -c 'error location-type\]' <<< "$out"):$(tail -2 <<< "$out" | head -1)" \
    '^11:.*: [0-9]+ more of this kind; --all shows them \[error location-type\]$'
capture "$fvmpi" check --all location-type/traces.otf2
check '--all' test "$(grep -c 'error location-type\]' <<< "$out")" -gt 20
capture "$fvmpi" check --json - rank-range/traces.otf2
check '--json: the fault' has "$rc:$(tr -d ' \n' <<< "$out")" \
    '^1:.*"fault":"rank-range","severity":"error","location":"name","location_id":1,"time_ticks":1050,"time_s":[0-9.e-]+,"record":"MpiIsend"'
capture "$fvmpi" check --json directory/missing/x.json good/traces.otf2
check '--json to nowhere: status 1, and why' has "$rc:$err" '^1:{"error":{"code":"io","status":1,"message":"directory/missing/x.json: .*choose another place'

# ---- archives of others ----
cat > other.py <<'PYTHON'
import otf2
from otf2.enums import LocationType, Type
with otf2.writer.open("python", timer_resolution=1000) as trace:
    node = trace.definitions.system_tree_node("node", "machine")
    group = trace.definitions.location_group("process", system_tree_parent=node)
    region = trace.definitions.region("work")
    for name in ("a", "b"):
        writer = trace.event_writer(name, group=group)
        for t in range(0, 100, 10):
            writer.enter(t, region)
            writer.leave(t + 5, region)
PYTHON
for python in "${PYTHON:-python3}" /usr/bin/python3; do # Debian's package is for Debian's Python
    "$python" -c 'import otf2' 2> /dev/null && break
    python=
done
if [ -z "$python" ]; then
    skip "an archive of OTF2's own Python writer" 'the package python3-otf2 is missing'
elif capture "$python" other.py && [ "$rc" -eq 0 ]; then
    capture "$fvmpi" check python/traces.otf2
    check "an archive of OTF2's own Python writer has no errors" has "$rc:$out" '^0:.*2 locations, 40 events'
else
    check "OTF2's own Python writer writes" false
fi

# Damaged at random, whatever is said: no crash, and no endless reading.
bad=0
for i in $(seq 1 25); do
    rm -rf damaged && cp -r good damaged
    file=$(ls damaged/traces/*.evt damaged/traces/*.def damaged/traces.def damaged/traces.otf2 | sed -n "$((i % 10 + 1))p")
    size=$(stat -c %s "$file")
    printf "\\x$(printf %02x $((i * 37 % 256)))" | dd of="$file" bs=1 seek=$((i * 7919 % size)) conv=notrunc 2> /dev/null
    timeout 20 "$fvmpi" check damaged/traces.otf2 > /dev/null 2> damage.err
    [ $? -le 1 ] || { bad=$((bad + 1)); echo "# $i: $file: $(head -1 damage.err)"; }
done
check 'archives damaged at random' test "$bad" -eq 0

# Two bytes of zero in the last chunk of a file send the library (3.0.2) back to the beginning of that chunk, for ever.
generator=$build/tests/bench/trace_gen
if [ -x "$generator" ] && [ -x "$build/fvunify-serial" ]; then
    mkdir long
    "$generator" long 2 20000 0 && "$build/fvunify-serial" -q --memory 1M --no-analysis --no-symbols long || exit 1
    capture "$fvmpi" check --strict long/traces.otf2
    check 'a file of several chunks: nothing' has "$rc:$out" '^0:.* 0 errors, 0 warnings$'
    file=long/traces/0.evt size=$(stat -c %s long/traces/0.evt) bad=0
    cp $file whole
    for i in $(seq 1 30); do
        printf '\0\0' | dd of=$file bs=1 seek=$((size - i * 1999)) conv=notrunc 2> /dev/null
        timeout 20 "$fvmpi" check long/traces.otf2 > said 2>&1
        [ $? -le 1 ] || { bad=$((bad + 1)); echo "# $i: $(head -1 said)"; }
        cp whole $file
    done
    check 'two bytes of zero in a last chunk: the check ends' test "$bad" -eq 0
else
    skip 'two bytes of zero in a last chunk: the check ends' 'no trace_gen or fvunify'
fi
finish
