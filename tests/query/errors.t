#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""With --json, what goes to stderr is JSON, too: notes, and the error that ends the command, with a code."""
import json
import os
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal

# Exit status, code, command; words of the message.
ERRORS = (
    (1, 'io', 'report nowhere --json -', 'nowhere: No such file'),
    (2, 'usage', 'report --json', 'its value is missing'),
    (2, 'usage', 'report run --json=- --nothing', 'no such option'),
    (2, 'usage', 'report run --json - --table nothing', 'no such table'),
    (1, 'io', 'report run --json nowhere/x', 'choose another place'),
    (1, 'format', 'report odd"\\name --json -', 'not a rank file'),
    (1, 'not_found', 'report run --json - --function nothing', 'nothing was recorded'),
    (1, 'io', 'diff run nowhere --json -', 'nowhere: No such file'),
    (2, 'usage', 'scaling run --json -', 'at least two'),
    (2, 'usage', 'stacks run --json -', 'it needs runs'),
    (2, 'usage', 'doctor nosuch --json -', 'no such check'),
)
SQL = (
    (2, 'statement', 'SELEC 1', 'syntax error'),
    (2, 'statement', 'SELECT 1; SELECT 2', 'more than one'),
    (2, 'denied', "ATTACH 'x' AS x", 'only SELECT'),
    (
        1,
        'timeout',
        'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t',
        '--timeout',
    ),
    (1, 'timeout', "SELECT hex(zeroblob(7000000)) LIKE '%" + '0' * 450 + "1'", '--timeout'),
    (1, 'limit', 'SELECT zeroblob(100000000)', 'too big'),
)


def failed(place, command, status, code, words):
    run = harness.run([harness.FVMPI, *command], cwd=place).ended(status)
    lines = [json.loads(line) for line in run.err.splitlines()]
    error = lines[-1]['error']
    equal('keys', sorted(error), ['code', 'message', 'status'])
    equal(' '.join(command), (error['code'], error['status']), (code, status))
    check(words in error['message'], '{}: {}', command, error)
    check(all(set(line) == {'note'} for line in lines[:-1]), 'notes: {}', lines)


def main():
    tap = harness.Tap()
    place = harness.scratch()
    with tarfile.open(os.path.join(HERE, '..', 'replay', 'profile.tar.xz')) as files:
        files.extractall(place)
    os.rename(os.path.join(place, 'profile'), os.path.join(place, 'run'))
    with open(os.path.join(place, 'odd"\\name'), 'w') as f:
        f.write('something else\n' * 1000)
    with tap.test('an error is an object with a code'):
        for status, code, command, words in ERRORS:
            failed(place, command.split(), status, code, words)
    with tap.test('errors of SQL'):
        if 'built without SQLite' in harness.run([harness.FVMPI, 'query', 'run', 'SELECT 1'], cwd=place).err:
            raise harness.Skip('no SQLite')
        for status, code, statement, words in SQL:
            failed(place, ['query', 'run', statement, '--json', '--timeout', '0.3'], status, code, words)
    with tap.test('what is no error is a note'):
        os.remove(os.path.join(place, 'run', 'rank-000001.fvr'))
        run = harness.run([harness.FVMPI, 'report', 'run', '--json', '-', '--table', 'ranks'], cwd=place).ended(0)
        notes = [json.loads(line) for line in run.err.splitlines()]
        check(len(notes) == 1 and 'rank 1 has no rank file' in notes[0]['note'], '{}', run.err)
        json.loads(run.out)
    with tap.test('an answer that is no is no error'):
        run = harness.run([harness.FVMPI, 'doctor', '--json', '-'], cwd=place)
        check('"error"' not in run.err and run.rc in (0, 1), '{}', run.err)
    with tap.test('without --json, errors are lines of text'):
        run = harness.run([harness.FVMPI, 'report', 'nowhere'], cwd=place).ended(1)
        check(run.err.startswith('fvmpi: nowhere: No such file'), '{}', run.err)
        run = harness.run([harness.FVMPI, 'report', '--', '--json'], cwd=place).ended(1)
        check(run.err.startswith('fvmpi: --json: '), '{}', run.err)
    tap.done()


main()
