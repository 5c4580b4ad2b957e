#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Directories that somebody else prepared, and what stands under our names: no link is followed, nothing is waited
# for, nobody's file is overwritten, and the program runs as without.
. "$(dirname "$0")/../lib.sh"

cat > app.c <<'END'
#include <stdio.h>
int main(void) { return puts("done") < 0; }
END
cc -o app app.c || exit 1

echo precious > victim
untouched() { [ "$(cat victim)" = precious ]; }

mkdir own
ln -s ../victim own/run.json
capture timeout 60 "$fvmpi" run -o own ./app
check 'a link under the name of run.json: the program ran' [ "$rc:$out" = 0:done ]
check 'it is not followed' untouched
check 'it is kept, and that is said' has "$err" 'own/run.json: exists and is left unchanged'
check 'the run is recorded' [ -e own/rank-000000.fvr ]

mkdir fifo
mkfifo fifo/run.json
capture timeout 60 "$fvmpi" run -o fifo ./app
check 'a FIFO there: the program is not kept waiting' [ "$rc:$out" = 0:done ]

mkdir report
echo '{"mine": true}' > report/run.json
capture timeout 60 "$fvmpi" run -o report ./app
check "the user's own run.json stays" [ "$(cat report/run.json)" = '{"mine": true}' ]

ln -s own/rank-000000.fvr victim.fvr
before=$(cksum < own/rank-000000.fvr)
mkdir linked
ln -s ../own/rank-000000.fvr linked/rank-000000.fvr
capture timeout 60 "$fvmpi" run -o linked ./app
check 'a link under the name of a rank file is another run: the next directory' [ -e linked-2/rank-000000.fvr ]
check 'what it leads to is as it was' [ "$(cksum < own/rank-000000.fvr)" = "$before" ]

ln -s own via
mkdir -p real && ln -s real mine
capture timeout 60 "$fvmpi" run -o mine ./app
check "a link of the user's own to a directory is one" [ -e real/rank-000000.fvr ]

if [ "$(id -u)" = 0 ] && mkdir theirs && chown 12345 theirs && chmod 777 theirs; then
    ln -s "$work/victim" theirs/run.json
    capture timeout 60 "$fvmpi" run -o theirs ./app
    check "another user's directory: the program ran" [ "$rc:$out" = 0:done ]
    check 'it is refused' has "$err" 'theirs: belongs to another user.*choose another with -o or FVMPI_OUTPUT'
    check 'in one line' [ "$(grep -c 'belongs to another user' <<< "$err")" = 1 ]
    check 'nothing is written there' [ "$(ls -A theirs)" = run.json ]
    check 'nor where its links lead' untouched
    mkdir private && ln -s private led && chown -h 12345 led
    capture timeout 60 "$fvmpi" run -o led ./app
    check "another user's link to a directory of one's own: the program ran" [ "$rc:$out" = 0:done ]
    check 'it is refused, with a remedy' has "$err" 'led: belongs to another user.*choose another with -o or FVMPI_OUTPUT'
    check 'nothing is written where it leads' [ -z "$(ls -A private)" ]
else
    skip "another user's directory" 'only root can make one'
fi
finish
