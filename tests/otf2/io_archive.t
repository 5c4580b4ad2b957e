#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files in OTF2 archives: of Score-P's as python3-otf2 counts them (foreign.json), of archives that files.c writes, of our
own as their rank files have them, with what else is no function of the program; in the viewer."""
import json
import os
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, close, equal, plainly
from served import Served

FVUNIFY = os.path.join(harness.BUILD, 'fvunify')
IO = 'I/O'  # the class of the viewer


def report_of(path):
    return plainly(harness.valid(harness.run([harness.FVMPI, 'report', path, '--json', '-']).ended(0).out))


def time_of(row):
    return row['time_s'] + row['in_mpi_s']


# ---- another tool's ----


def foreign(tap):
    place = harness.scratch('archives')
    with open(os.path.join(HERE, 'foreign.json')) as f:
        figures = json.load(f)['scorep-io']
    with tarfile.open(os.path.join(HERE, 'foreign.tar.xz')) as tar:
        tar.extractall(place)
    anchor = os.path.join(place, figures['anchor'])
    data = report_of(anchor)
    with tap.test('Score-P: calls, bytes and times of functions and files'):
        found = {}
        for row in data['io']:
            of = found.setdefault('{} {}'.format(row['function'], row['io_file']), [0, 0, 0.0])
            of[0] += row['calls']
            of[1] += row['bytes']
            of[2] += time_of(row)
            equal('in MPI', row['in_mpi'], row['function'].startswith('MPI_'))
            caller = 'mpiio' if row['in_mpi'] else 'stdio' if 'text.' in row['io_file'] else 'posix'
            equal('called by', row['path'][0]['function'], caller)
            unknown = row['function'] == 'fsync'  # Score-P has the same events for one that fails
            equal(row['function'] + ' failed', row['failed'], None if unknown else 0)
        equal('rows', sorted(found), sorted(figures['files']))
        for key, (calls, size, seconds) in figures['files'].items():
            equal(key, found[key][:2], [calls, size])
            close(key, found[key][2], seconds, 1e-7)
    with tap.test('Score-P: files, ranks, and what functions of the program did themselves'):
        for f in data['io_files']:
            of = {key.split()[0]: row for key, row in figures['files'].items() if key.split()[1] == f['io_file']}
            read = [row for name, row in of.items() if 'read' in name]
            written = [row for name, row in of.items() if 'write' in name]
            for part, rows in (('reads', read), ('writes', written)):
                equal(part, (f[part]['calls'], f[part]['bytes']), tuple(sum(row[i] for row in rows) for i in (0, 1)))
            close('time', time_of(f), sum(row[2] for row in of.values()), 1e-7)
            equal('kind', (f['kind'], f['filesystem']), ('regular', None))
        equal('ranks', [[r['read_bytes'], r['written_bytes']] for r in data['io_ranks']], figures['file_ranks'])
        equal('the kernel', {r['system_reads'] for r in data['io_ranks']}, {None})
        equal('functions', sorted(f['function'] for f in data['instrumented']), sorted(figures['regions']))
    with tap.test('Score-P: where the file position is known'):
        rows = {(r['function'], os.path.basename(r['io_file'])): r for r in data['io']}
        of = rows['write', 'data.0']
        equal('write', (of['placed'], of['consecutive'], of['sizes']['10K']), (7, 7, 8))
        equal('read', [rows['read', 'data.1'][k] for k in ('placed', 'consecutive')], [3, 3])
        equal('of MPI', rows['MPI_File_write_at_all', 'shared.dat']['placed'], 0)
    with tap.test('Score-P: text and tables'):
        text = harness.run([harness.FVMPI, 'report', anchor, '--width', '160']).ended(0).out
        check('I/O by call path' in text and 'MPI_File_write_at_all' in text and '\nFiles' in text, '{}', text)
        table = harness.run([harness.FVMPI, 'report', anchor, '--table', 'io_files', '--width', '160']).ended(0).out
        check('shared.dat' in table and '12 KiB' in table, '{}', table)
    with tap.test('Score-P: each call is once in the viewer, as I/O'):
        rows = in_viewer(anchor)
        for name in ('write', 'read', 'fwrite', 'unlink', 'MPI_File_write_at_all'):
            calls = sum(row[0] for key, row in figures['files'].items() if key.split()[0] == name)
            equal(name, rows[name], (IO, calls))
        equal('posix', rows['posix'], ('function', 2))
    with tap.test('Score-P: an archive of its rank files has the same files'):
        again = harness.scratch('again')
        harness.run([FVUNIFY, '-q', anchor[: -len('.otf2')] + '.fvmpi', '-o', again]).ended(0)
        harness.run([harness.FVMPI, 'check', os.path.join(again, 'traces.otf2')]).ended(0)
        other = report_of(os.path.join(again, 'traces.otf2'))
        rows = lambda of: sorted(  # noqa: E731
            (r['function'], r['operation'], r['io_file'], r['calls'], r['bytes'])
            for r in of['io']
            if not r['in_mpi'] and r['operation'] != 'remove'  # which names no file in our own
        )
        equal('rows', rows(other), rows(data))


def in_viewer(anchor):
    """Class and calls by region."""
    server = Served('view', anchor)
    about = json.loads(server.fetch('/about')[1])
    found = {}
    for number, count, *_ in json.loads(server.fetch('/sums')[1])['regions']:
        name, of = about['regions'][number][:2]
        found[name] = (about['classes'][of]['name'], count)
    server.process.terminate()
    harness.finish(server.process)
    return found


# ---- made ones ----

COLUMNS = ('calls', 'failed', 'bytes', 'ns', 'consecutive', 'forward', 'placed', 'unsized', 'empty')
# What is done, and rows: function, operation, file, and of the columns those that are not 0. See files.c. Regions by number: 0 main,
# 1 open, 2 read, 3 write, 4 pread, 5 close, 6 lseek, 7 fopen, 8 H5Dwrite, 9 unlink, 10 fcntl, 11 MPI_File_iwrite, 12 MPI_Wait,
# 13 MPI_File_read; handles: 0 /d/a, 1 its stream, 2 /d/b, 3 /d/m of MPI, 4 STDIN_FILENO
MADE = {
    'where reads and writes begin': (
        '10 enter 1; 11 create 0; 12 leave 1; 20 enter 3; 21 write 0 10; 22 done 0 10; 23 leave 3; 30 enter 3; 31 write 0 10; '
        '32 done 0 10; 33 leave 3; 40 enter 6; 41 seek 0 100; 42 leave 6; 50 enter 3; 51 write 0 10; 52 done 0 5; 53 leave 3; '
        '60 enter 6; 61 seek 0 0; 62 leave 6; 70 enter 2; 71 read 0 10; 72 done 0 10; 73 leave 2; 80 enter 10; 81 same 0 2; '
        '82 leave 10; 90 enter 2; 91 read 2 10; 92 done 2 0; 93 leave 2; 100 enter 2; 101 read 2 10; 102 done 2 7; 103 leave 2; '
        '110 enter 4; 111 read 0 5 41; 112 done 0 5; 113 leave 4; 120 enter 5; 121 destroy 0; 122 leave 5',
        {
            ('open', 'open', '/d/a'): {'calls': 1, 'ns': 2},
            ('write', 'write', '/d/a'): {'calls': 3, 'bytes': 25, 'ns': 9, 'consecutive': 1, 'forward': 1, 'placed': 2},
            ('lseek', 'seek', '/d/a'): {'calls': 2, 'ns': 4},
            ('read', 'read', '/d/a'): {'calls': 1, 'bytes': 10, 'ns': 3},
            ('fcntl', 'duplicate', '/d/a'): {'calls': 1, 'ns': 2},
            ('read', 'read', '/d/b'): {'calls': 2, 'bytes': 7, 'ns': 6, 'consecutive': 1, 'placed': 1, 'empty': 1},
            ('pread', 'read', '/d/a'): {'calls': 1, 'bytes': 5, 'ns': 3, 'forward': 1, 'placed': 1},
            ('close', 'close', '/d/a'): {'calls': 1, 'ns': 2},
        },
    ),
    'what is appended': (
        '10 enter 1; 11 append 0; 12 leave 1; 20 enter 3; 21 write 0 10; 22 done 0 10; 23 leave 3; 30 enter 6; 31 seek 0 0; '
        '32 leave 6; 40 enter 3; 41 write 0 10; 42 done 0 10; 43 leave 3',
        {
            ('open', 'open', '/d/a'): {'calls': 1, 'ns': 2},
            ('write', 'write', '/d/a'): {'calls': 2, 'bytes': 20, 'ns': 6, 'consecutive': 1, 'placed': 1},
            ('lseek', 'seek', '/d/a'): {'calls': 1, 'ns': 2},
        },
    ),
    'what failed, and what is not said': (
        '10 enter 1; 12 leave 1; 20 enter 2; 21 read 0 10; 22 done 0 -1; 23 leave 2; 30 enter 3; 32 leave 3; 40 enter 9; 42 leave 9; '
        '50 enter 9; 51 delete 2; 52 leave 9; 60 enter 10; 62 leave 10; 70 enter 10; 71 lock 0; 72 leave 10; '
        '80 enter 2; 81 read 4 10; 82 done 4 3; 83 leave 2',
        {
            ('open', 'open', None): {'calls': 1, 'failed': 1, 'ns': 2},
            ('read', 'read', '/d/a'): {'calls': 1, 'failed': None, 'ns': 3, 'unsized': 1},
            ('write', 'write', None): {'calls': 1, 'failed': None, 'ns': 2, 'unsized': 1},
            ('unlink', 'remove', None): {'calls': 1, 'failed': None, 'ns': 2},
            ('unlink', 'remove', '/d/b'): {'calls': 1, 'ns': 2},
            ('fcntl', 'other', None): {'calls': 1, 'failed': None, 'ns': 2},
            ('fcntl', 'lock', '/d/a'): {'calls': 1, 'ns': 2},
            ('read', 'read', 'STDIN_FILENO'): {'calls': 1, 'bytes': 3, 'ns': 3},
        },
    ),
    'functions in functions': (
        # of fopen() the C library's own open() is part; what a library of other tools calls is counted by itself
        '10 enter 7; 11 enter 1; 12 create 0; 13 leave 1; 14 create 1; 15 leave 7; 20 enter 8; 25 enter 3; 26 write 0 9; 27 done 0 9; '
        '30 leave 3; 32 leave 8; 40 enter 8; 41 write 1 4; 42 enter 3; 43 write 0 4; 44 done 0 4; 45 leave 3; 46 done 1 4; 48 leave 8',
        {
            ('fopen', 'open', '/d/a'): {'calls': 1, 'ns': 5},
            ('H5Dwrite', 'other', None): {'calls': 1, 'failed': None, 'ns': 7},
            ('write', 'write', '/d/a'): {'calls': 1, 'bytes': 9, 'ns': 5},
            ('H5Dwrite', 'write', '/d/a'): {'calls': 1, 'bytes': 4, 'ns': 8},
        },
    ),
    'operations without a function': (
        '10 create 0; 20 enter 0; 21 write 0 8; 25 done 0 8; 30 read 0 8; 40 leave 0; 50 async 0 3; 55 done 0 3; 60 destroy 0; '
        '70 flush 0 -1; 80 cancel 0',
        {
            ('I/O (no region)', 'open', '/d/a'): {'calls': 1},
            ('I/O (no region)', 'write', '/d/a'): {'calls': 1, 'bytes': 8, 'ns': 4},
            ('I/O (no region)', 'async_read', '/d/a'): {'calls': 1, 'failed': None, 'ns': 10},
            ('I/O (no region)', 'async_write', '/d/a'): {'calls': 1, 'bytes': 3},
            ('I/O (no region)', 'close', '/d/a'): {'calls': 1},
            ('I/O (no region)', 'sync', '/d/a'): {'calls': 1, 'failed': None, 'ns': 10},
        },
    ),
    'in MPI: once, and what MPI itself calls in its place': (
        '10 enter 11; 11 async 3 100; 12 leave 11; 20 enter 12; 21 done 3 100; 22 enter 2; 23 read 0 1; 24 done 0 1; 25 leave 2; '
        '30 leave 12; 40 enter 13; 41 read 3 50; 42 enter 2; 43 read 2 64; 44 done 2 64; 46 leave 2; 47 done 3 50; 48 leave 13; '
        '50 enter 13; 51 read 3 50; 52 done 3 40; 53 leave 13',
        {
            ('MPI_File_iwrite', 'async_write', '/d/m'): {'calls': 1, 'bytes': 100, 'ns': 2},
            ('read', 'read', '/d/b'): {'calls': 1, 'bytes': 64, 'ns': 4},
            ('MPI_File_read', 'read', '/d/m'): {'calls': 1, 'bytes': 40, 'ns': 3},
        },
    ),
    'against the rules': (
        '10 enter 3; 11 write 77 5; 12 done 77 5; 13 leave 3; 20 done 0 5; 30 enter 2; 31 read 0 5; 40 enter 3; 50 leave 0; 60 leave 2; '
        '70 enter 3; 71 write 0 5; 72 done 0 5; 75 enter 0',
        {
            ('write', 'write', None): {'calls': 1, 'failed': None, 'ns': 3, 'unsized': 1},
            ('read', 'read', '/d/a'): {'calls': 1, 'failed': None, 'ns': 30, 'unsized': 1},
            ('write', 'write', '/d/a'): {'calls': 1, 'bytes': 5, 'ns': 5},
        },
    ),
}


def made(tap):
    for what, (lines, wanted) in MADE.items():
        with tap.test('made: ' + what):
            out = harness.scratch('made')
            program = os.path.join(harness.BUILD, 'tests/otf2/files')
            subprocess.run([program, out], input=lines.replace('; ', '\n').encode(), check=True, timeout=60)
            anchor = os.path.join(out, 'traces.otf2')
            harness.run([FVUNIFY, '-q', anchor]).ended(1 if 'rules' in what else 0)
            data = report_of(anchor)
            found = {}
            for row in data['io']:
                row['ns'] = round(1e9 * time_of(row))
                found[row['function'], row['operation'], row['io_file']] = {c: row[c] for c in COLUMNS if row[c] != 0}
            equal('rows', found, wanted)
            if 'begin' in what:
                files = {f['io_file']: f['filesystem'] for f in data['io_files']}
                equal('file systems', files, {'/d/a': 'nfs', '/d/b': None})


# ---- our own ----

# Not in an archive: where pread() and pwrite() began, single characters of a buffer, and what the kernel counts
SINGLE = ('getc', 'putc')
PLACED = ('consecutive', 'forward', 'placed')


def rows_of(data):
    found = {}
    for row in data['io']:
        key = (row['io_file'], row['function'], tuple((f['function'], f['line']) for f in row['path']))
        found[key] = row
    return found


def own(tap):
    place = harness.scratch('own')
    program, folder, directory = (os.path.join(place, name) for name in ('known', 'files', 'e'))
    os.mkdir(folder)
    if harness.SANITIZER:
        with tap.test('our own'):
            raise harness.Skip('functions of a sanitizer are on the paths')
        return
    with tap.test('our own: the tables of the rank files'):
        source = os.path.join(HERE, '../io/known.c')
        harness.run(['cc', '-O1', '-g', '-w', source, '-o', program, '-lpthread']).ended(0)
        options = ['--io', '--trace', '--sample=off', '-o', directory, '--mpi', 'serial']
        harness.run([harness.FVMPI, 'run', '-q', *options, program, folder], directory=directory).ended(0)
        harness.run([FVUNIFY, '-q', directory]).ended(0)
        data, again = report_of(directory), report_of(os.path.join(directory, 'traces.otf2'))
        one, other = rows_of(data), rows_of(again)
        equal('rows', sorted(other, key=str), sorted(one, key=str))
        for key, row in one.items():
            if key[1] in SINGLE:
                continue
            places = PLACED if key[1].startswith('p') or key[1] == 'read' else ()
            for column in row:
                if column == 'path':
                    continue
                if column in ('time_s', 'max_s', 'rank_max_s', 'share'):
                    close('{} {}'.format(key, column), other[key][column], row[column], 1e-6 * max(1, row['calls']))
                elif column not in places:
                    equal('{} {}'.format(key, column), other[key][column], row[column])
        kinds = lambda of: sorted((f['io_file'], f['kind'], f['filesystem']) for f in of['io_files'])  # noqa: E731
        equal('files', kinds(again), kinds(data))
    with tap.test('our own: no function of the program is what its calls of functions for files are'):
        equal('functions', again['instrumented'], [])


FUNCTIONS = """#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile double x;
__attribute__((noinline)) static void inner(void) { for (int i = 0; i < 200000; i++) x += i; void *volatile p = malloc(9); free(p); }
__attribute__((noinline)) static void outer(void) { for (int i = 0; i < 5; i++) inner(); x += 1; }
static void *thread(void *a) { usleep(300000); return a; }
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    outer();
    return pthread_join(other, NULL);
}
"""


def own_functions(tap):
    with tap.test('our own: functions under their own names; what the allocator and waits of threads are is none'):
        place = harness.scratch('functions')
        program, directory = os.path.join(place, 'program'), os.path.join(place, 'e')
        with open(program + '.c', 'w') as f:
            f.write(FUNCTIONS)
        harness.run(['cc', '-O1', '-g', '-finstrument-functions', program + '.c', '-o', program, '-lpthread']).ended(0)
        options = ['--functions', '--threads', '--memory=calls', '--trace', '--sample=off']
        harness.not_of_a_sanitizer(options)
        run = [harness.FVMPI, 'run', '-q', *options, '-o', directory, '--mpi', 'serial', program]
        harness.run(run, directory=directory).ended(0)
        harness.run([FVUNIFY, '-q', directory]).ended(0)
        anchor = os.path.join(directory, 'traces.otf2')
        calls = lambda of: {f['function']: f['calls'] for f in of['instrumented']}  # noqa: E731
        wanted = calls(report_of(directory))
        equal('recorded', wanted, {'main': 1, 'outer': 1, 'inner': 5, 'thread': 1})
        equal('read back', calls(report_of(anchor)), wanted)
        rows = in_viewer(anchor)
        equal('functions', {name for name, row in rows.items() if row[0] == 'function'}, set(wanted))
        check(rows['malloc'][0] == 'memory' and rows['malloc'][1] >= 5, '{}', rows)
        equal('waits', rows['pthread_join'], ('threads', 1))


def main():
    tap = harness.Tap()
    if not os.path.exists(FVUNIFY + '-serial'):
        with tap.test('files of archives'):
            raise harness.Skip('OTF2 was not found; install the package libotf2-trace-dev')
        tap.done()
    foreign(tap)
    made(tap)
    own(tap)
    own_functions(tap)
    tap.done()


main()
