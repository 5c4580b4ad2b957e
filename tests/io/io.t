#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
# Not under AddressSanitizer: its functions stand between the program and those for files.
"""Files (--io): known calls and bytes by file, function and call path, of POSIX, stdio, C++ and Fortran, threads,
children; MPI's own reads and writes apart; whose I/O others wait for; the archive; and the program writes what it
writes alone."""
import os
import re
import sqlite3
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from report import check, close, equal

# By file, function and caller: calls, failed, bytes, consecutive, forward, placed.
KNOWN = {
    ('posix', 'open', 'write_posix'): (1, 0, 0, 0, 0, 0),
    ('posix', 'write', 'write_posix'): (100, 0, 1000, 99, 0, 99),
    ('posix', 'pwrite', 'write_posix'): (5, 0, 15, 0, 4, 5),  # the first one goes back to 0
    ('posix', 'fsync', 'write_posix'): (1, 0, 0, 0, 0, 0),
    ('posix', 'close', 'write_posix'): (1, 0, 0, 0, 0, 0),
    ('posix', 'open', 'read_posix'): (1, 0, 0, 0, 0, 0),
    ('posix', 'fstat', 'read_posix'): (1, 0, 0, 0, 0, 0),
    ('posix', 'pread', 'read_posix'): (14, 0, 70, 0, 9, 13),
    # back to 0 twice: once after pread(), once by a descriptor that is its double; one finds nothing
    ('posix', 'read', 'read_posix'): (13, 0, 1100, 10, 0, 12),
    ('posix', 'lseek', 'read_posix'): (1, 0, 0, 0, 0, 0),
    ('posix', 'dup', 'read_posix'): (1, 0, 0, 0, 0, 0),
    ('posix', 'close', 'read_posix'): (2, 0, 0, 0, 0, 0),
    (None, 'open', 'read_posix'): (1, 1, 0, 0, 0, 0),
    ('stdio', 'fopen', 'write_stdio'): (1, 0, 0, 0, 0, 0),
    ('stdio', 'fprintf', 'write_stdio'): (50, 0, 250, 49, 0, 49),
    ('stdio', 'putc', 'write_stdio'): (10000, 0, 10000, 10000, 0, 10000),
    ('stdio', 'fwrite', 'write_stdio'): (1, 0, 3, 1, 0, 1),
    ('stdio', 'fputs', 'write_stdio'): (1, 0, 3, 1, 0, 1),
    ('stdio', 'fflush', 'write_stdio'): (1, 0, 0, 0, 0, 0),
    ('stdio', 'fclose', 'write_stdio'): (1, 0, 0, 0, 0, 0),
    ('stdio', 'fopen', 'read_stdio'): (1, 0, 0, 0, 0, 0),
    ('stdio', 'fgets', 'read_stdio'): (40, 0, 200, 39, 0, 39),
    ('stdio', 'fscanf', 'read_stdio'): (10, 0, 50, 10, 0, 10),
    ('stdio', 'getc', 'read_stdio'): (10001, 0, 10000, 10000, 0, 10000),
    ('stdio', 'fread', 'read_stdio'): (1, 0, 6, 1, 0, 1),
    ('stdio', 'fclose', 'read_stdio'): (1, 0, 0, 0, 0, 0),
    ('thread', 'open', 'in_thread'): (1, 0, 0, 0, 0, 0),
    ('thread', 'write', 'in_thread'): (20, 0, 200, 19, 0, 19),
    ('thread', 'close', 'in_thread'): (1, 0, 0, 0, 0, 0),
    ('locked', 'fopen', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    ('locked', 'fputs', 'names_and_locks'): (1, 0, 6, 0, 0, 0),
    ('locked', 'fflush', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    ('locked', 'flockfile', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    ('locked', 'ftrylockfile', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    ('locked', 'ftrylockfile', 'tries'): (1, 1, 0, 0, 0, 0),
    ('locked', 'funlockfile', 'names_and_locks'): (2, 0, 0, 0, 0, 0),
    ('locked', 'fsetpos', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    ('locked', 'lockf', 'names_and_locks'): (2, 0, 0, 0, 0, 0),
    ('locked', 'flock', 'names_and_locks'): (2, 0, 0, 0, 0, 0),
    ('locked', 'fclose', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    (None, 'truncate', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    (None, 'rename', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    (None, 'unlink', 'names_and_locks'): (3, 1, 0, 0, 0, 0),
    (None, 'remove', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    (None, 'unlinkat', 'names_and_locks'): (1, 0, 0, 0, 0, 0),
    ('gone', 'open', 'names_and_locks'): (3, 0, 0, 0, 0, 0),
    ('gone', 'close', 'names_and_locks'): (3, 0, 0, 0, 0, 0),
    ('posix', 'open', 'main'): (1, 0, 0, 0, 0, 0),
    ('posix', 'mmap', 'main'): (1, 0, 1000, 0, 0, 0),
    ('posix', 'close', 'main'): (1, 0, 0, 0, 0, 0),
}

COLUMNS = ('calls', 'failed', 'bytes', 'consecutive', 'forward', 'placed', 'empty', 'unsized', 'untimed')


def recorded(program, *arguments, options=(), rc=0, env=None):
    directory = os.path.join(harness.scratch('exp'), 'e')
    return harness.run(
        [harness.FVMPI, 'run', '-q', '--io', *options, '-o', directory, '--mpi', 'serial', program, *arguments],
        directory=directory,
        env=env,
    ).ended(rc)


def compiled(place, name, text, *flags):
    program = os.path.join(place, name)
    with open(program + '.c', 'w') as f:
        f.write(text)
    harness.run(['cc', '-O1', '-g', '-w', *flags, program + '.c', '-o', program]).ended(0)
    return program


def calls_of(report, folder):
    """Of the files in the folder, and of those without one."""
    found = {}
    for r in report['io']:
        if r['io_file'] is None or os.path.dirname(r['io_file']) == os.path.realpath(folder):
            key = (
                r['io_file'] and os.path.basename(r['io_file']),
                r['function'],
                r['path'][0]['function'] if r['path'] else None,
            )
            of = found.setdefault(key, dict.fromkeys(COLUMNS, 0))  # of several lines
            for column in COLUMNS:
                of[column] += r[column]
    return found


def sums_hold(report, ranks):
    """Files have what their calls have, and so have the ranks."""
    for f in report['io_files']:
        of = [r for r in report['io'] if r['io_file'] == f['io_file']]
        close('time of {}'.format(f['io_file']), f['time_s'], sum(r['time_s'] for r in of), 1e-9)
        close('... in MPI', f['in_mpi_s'], sum(r['in_mpi_s'] for r in of), 1e-9)
        equal('calls', f['reads']['calls'] + f['writes']['calls'] + f['other_calls'], sum(r['calls'] for r in of))
        equal('read', f['reads']['bytes'], sum(r['bytes'] for r in of if r['operation'] in ('read', 'async_read')))
        equal(
            'written', f['writes']['bytes'], sum(r['bytes'] for r in of if r['operation'] in ('write', 'async_write'))
        )
        check(
            f['rank_count'] <= ranks and f['rank_min_s'] <= f['rank_max_s'] <= f['time_s'] + f['in_mpi_s'] + 1e-9,
            '{}',
            f,
        )
    for r in report['io']:
        check(
            r['max_s'] <= r['time_s'] + r['in_mpi_s'] + 1e-9
            and r['consecutive'] + r['forward'] <= r['placed'] <= r['calls'] >= r['failed'],
            '{}',
            r,
        )
        equal(
            'sizes',
            sum(r['sizes'].values()),
            r['calls'] - r['failed'] - r['empty'] - r['unsized'] if r['operation'] in ('read', 'write') else 0,
        )
    close('ranks', sum(r['time_s'] for r in report['io_ranks']), sum(r['time_s'] for r in report['io']), 1e-9)


def alone(tap, place):
    program = os.path.join(place, 'known')
    harness.run(['cc', '-O1', '-g', '-pthread', os.path.join(HERE, 'known.c'), '-o', program]).ended(0)
    folders = [harness.scratch('files') for _ in range(2)]
    plain = harness.run([program, folders[0]]).ended(0)
    with tap.test('known calls'):
        run = recorded(program, folders[1])
        equal('output', run.out, plain.out)
        for name in sorted(os.listdir(folders[0])):
            with open(os.path.join(folders[0], name), 'rb') as a, open(os.path.join(folders[1], name), 'rb') as b:
                check(a.read() == b.read(), '{} differs', name)
        report = run.report().data
        found = calls_of(report, folders[1])
        equal('calls', {k: tuple(r[c] for c in COLUMNS[:6]) for k, r in found.items()}, KNOWN)
        equal(
            'empty reads',
            (found['posix', 'read', 'read_posix']['empty'], found['stdio', 'getc', 'read_stdio']['empty']),
            (1, 1),
        )
        equal('unsized', found['stdio', 'fscanf', 'read_stdio']['unsized'], 0)
        check(
            0 < found['stdio', 'putc', 'write_stdio']['untimed'] < 10000,
            'some asked the system, most did not: {}',
            found['stdio', 'putc', 'write_stdio'],
        )
        sums_hold(report, 1)
        files = {os.path.basename(f['io_file']): f for f in report['io_files']}
        equal(
            'opens', {n: files[n]['opens'] for n in ('posix', 'stdio', 'thread')}, {'posix': 3, 'stdio': 2, 'thread': 1}
        )
        check('child' not in files and files['posix']['kind'] == 'regular', '{}', files)
        (out,) = [r for r in report['io'] if r['function'] == 'puts']
        equal('standard output', (out['calls'], out['bytes'], out['path'][0]['function']), (1, len('done\n'), 'main'))
    with tap.test('text, dump and tables show it'):
        text = harness.run([harness.FVMPI, 'report', '--width', '200', '--all', run.directory]).ended(0).out
        check(
            re.search(r'^Files ', text, re.M)
            and re.search(r'fprintf +\S+/stdio .* write_stdio\(\) at known.c:\d+', text),
            '{}',
            text,
        )
        check('io thread=' in harness.run([harness.FVMPI, 'dump', run.directory]).ended(0).out, 'dump')
        check(
            {r['called_by'].split('()')[0] for r in report['io'] if r['called_by']}
            <= {f['function'] for r in report['io'] for f in r['path']},
            'a function of the path',
        )
        check(
            harness.run([harness.FVMPI, 'report', '--table', 'io_files', run.directory]).ended(0).out.count('/posix')
            == 1,
            'table',
        )
    with tap.test('switched off'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        report = (
            harness.run(
                [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', program, folders[1]],
                directory=directory,
            )
            .ended(0)
            .report()
            .data
        )
        equal('nothing', (report['io'], report['io_files'], report['io_ranks']), ([], [], []))
    with tap.test('a library that is not loaded is told of'):
        library = harness.in_front(os.path.join(harness.BUILD, '.libs', 'libfvmpi-serial.so'))
        directory = os.path.join(harness.scratch('exp'), 'e')
        run = harness.run(
            [program, folders[1]],
            env={'LD_PRELOAD': library, 'FVMPI_IO': '1', 'FVMPI_OUTPUT': directory, 'FVMPI_QUIET': '1'},
            directory=directory,
        ).ended(0)
        equal(
            'said',
            [line for line in run.err.splitlines() if 'libfvmpi-io.so' in line],
            [
                'fvmpi: FVMPI_IO: libfvmpi-io.so is not loaded, so files are not recorded; preload it, too (fvmpi run --io does)'
            ],
        )


FLUSH = '18446744073709551615'  # bytes that nobody knows


def traced(tap, place):
    """The archive has what the profile has, but characters of a buffer, which are not timed."""
    program = os.path.join(place, 'known')
    with tap.test('in the archive'):
        folder = harness.scratch('files')
        run = recorded(program, folder, options=['--trace', '--sample=off'])
        events = otf2_print.events(otf2_print.merge(run.directory))
        wanted, found, open_ = {}, {}, {}
        for r in run.report().data['io']:
            if r['calls'] > r['untimed']:
                of = wanted.setdefault((r['function'], r['path'][0]['function']), [0, 0])
                of[0] += r['calls'] - r['untimed']
                of[1] += r['bytes'] - r['untimed'] if r['operation'] in ('read', 'write') else 0
        for e in events:
            if e.kind == 'ENTER':
                inner = found.setdefault((e.region.strip('"'), e.call_path.split('@')[0]), [0, 0])
                inner[0] += 1
            elif e.kind == 'IO_OPERATION_COMPLETE' and e['bytes result'] != FLUSH:
                inner[1] += int(e['bytes result'])
        equal('calls and bytes', found, wanted)
        for e in events:  # each handle is open when it is used
            if e.kind == 'IO_CREATE_HANDLE':
                check(open_.get(e['handle id']) != 'open', 'twice open: {}', e)
                open_[e['handle id']] = 'open'
            elif e.kind == 'IO_DESTROY_HANDLE':
                equal('{}'.format(e), open_[e['handle id']], 'open')
                open_[e['handle id']] = 'closed'
            elif e.kind.startswith('IO_'):
                check(
                    open_.get(e['handle id']) == 'open'
                    or (
                        e['handle id'] not in open_
                        and os.path.basename(e.handle.strip('"')) not in ('posix', 'stdio', 'thread', 'locked', 'gone')
                    ),
                    '{}',
                    e,
                )
        equal('closed', [h for h in open_ if open_[h] != 'closed'], [])
        opened = [
            (e.handle.strip('"').split(']')[0][1:], os.path.basename(e.handle.strip('"')), e['access mode'])
            for e in events
            if e.kind == 'IO_CREATE_HANDLE'
        ]
        equal(
            'opened',
            sorted(opened),
            sorted(
                [
                    ('POSIX I/O', 'posix', 'READ_WRITE'),
                    ('POSIX I/O', 'posix', 'READ_ONLY'),
                    ('POSIX I/O', 'posix', 'READ_ONLY'),
                    ('ISO C I/O', 'stdio', 'WRITE_ONLY'),
                    ('ISO C I/O', 'stdio', 'READ_ONLY'),
                    ('POSIX I/O', 'thread', 'WRITE_ONLY'),
                    ('ISO C I/O', 'locked', 'READ_WRITE'),
                    ('POSIX I/O', 'locked', 'READ_WRITE'),
                ]
                + 3 * [('POSIX I/O', 'gone', 'WRITE_ONLY')]
            ),
        )
        equal('flushed', len([e for e in events if e.kind == 'IO_OPERATION_BEGIN' and e.mode == 'FLUSH']), 3)
        equal(
            'sought',
            [(e.kind, os.path.basename(e.handle.strip('"'))) for e in events if e.kind == 'IO_SEEK'],
            [('IO_SEEK', 'posix'), ('IO_SEEK', 'locked')],
        )


SCANS = r"""#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
char *gets(char *);
static int list(FILE *f, const char *format, ...) {
    va_list arguments;
    int result;
    va_start(arguments, format);
    result = f ? vfscanf(f, format, arguments) : vscanf(format, arguments);
    va_end(arguments);
    return result;
}
static int given(int by_pipe, const char *name) {
    const char text[] = "3 4\nline\nlast";
    int ends[2];
    FILE *f;
    if (by_pipe)
        return pipe(ends) || write(ends[1], text, sizeof(text) - 1) < 0 || dup2(ends[0], 0) || close(ends[1]);
    return !(f = fopen(name, "w")) || fputs(text, f) < 0 || fclose(f) || !freopen(name, "r", stdin);
}
int main(int argc, char **argv) {
    char text[7000];
    int a, b;
    FILE *f = fopen(argv[1], "w+");
    setvbuf(f, NULL, _IOFBF, 512);
    fprintf(f, "%06000d 17 18\nnone\n", 7);
    rewind(f);
    if (fscanf(f, "%6500s", text) != 1) return 1;
    if (fscanf(f, "%d %n", &a, &b) != 1 || a != 17) return 2;
    if (list(f, "%d\n", &a) != 1 || a != 18) return 3;
    if (fscanf(f, "%d", &a) != 0) return 4;
    if (given(argc == 2, argv[argc - 1]) || scanf("%d", &a) != 1 || list(NULL, "%d\n", &b) != 1) return 5;
    if (!gets(text) || !gets(text) || gets(text)) return 6;
    printf("%d %d %s\n", a, b, text);
    return 0;
}
"""
SCANNED = {'fscanf': (3, 6000 + 4, 1), 'vfscanf': (1, 3, 0), 'scanf': (1, 1, 0), 'vscanf': (1, 3, 0), 'gets': (3, 9, 1)}


def scans(tap, place):
    with tap.test('what scans read, by their old and new names, and gets()'):
        for flags, prefix in (('-std=gnu89 -D_GNU_SOURCE', '^'), ('-std=gnu11', '^__isoc(99|23)_')):
            program, folder = compiled(place, 'scans', SCANS, *flags.split()), harness.scratch('files')
            for names in (['a', 'given'], ['a']):  # stdin is a file, or a pipe
                run = recorded(program, *[os.path.join(folder, name) for name in names])
                equal('output', run.out, '3 4 last\n')
                found = {}
                for r in run.report().data['io']:
                    of = found.setdefault(re.sub(prefix, '', r['function']), [0, 0, 0, 0])
                    for i, column in enumerate(('calls', 'bytes', 'empty', 'unsized')):
                        of[i] += r[column]
                for name, (calls, size, empty) in SCANNED.items():
                    unknown = calls if len(names) == 1 and name in ('scanf', 'vscanf') else 0
                    equal(
                        '{} of {}'.format(name, flags),
                        tuple(found[name]),
                        (calls, 0 if unknown else size, empty, unknown),
                    )


def killed(tap, place):
    program = os.path.join(place, 'waits')
    with open(program + '.c', 'w') as f:
        f.write(
            '#include <unistd.h>\nint main(void) { char c; write(1, "reads\\n", 6); return read(0, &c, 1) != 1; }\n'
        )
    harness.run(['cc', '-g', '-w', program + '.c', '-o', program]).ended(0)
    with tap.test('a killed run has what was written'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        process = harness.start(
            [harness.FVMPI, 'run', '-q', '--io', '--trace', '--sample=off', '-o', directory, '--mpi', 'serial', program]
        )
        check(b'reads' in process.stdout.readline(), 'its output')
        harness.wait_until(
            lambda: 'io thread=' in harness.run([harness.FVMPI, 'dump', directory]).out, what='the write'
        )
        harness.kill_all()
        harness.finish(process)
        report = harness.profile_of(directory)
        equal('writes', [(r['calls'], r['bytes']) for r in report['io'] if r['function'] == 'write'], [(1, 6)])
    with tap.test('and its archive the call that it was in'):
        events = otf2_print.events(otf2_print.merge(directory))
        equal(
            'regions',
            [(e.kind, e.region.strip('"')) for e in events if e.kind in ('ENTER', 'LEAVE')],
            [('ENTER', 'write'), ('LEAVE', 'write'), ('ENTER', 'read'), ('LEAVE', 'read')],
        )


JUMPS = """#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
static sigjmp_buf back;
static void jump(int s) { (void)s; siglongjmp(back, 1); }
static char c;
static __attribute__((noinline)) int deeper(int fd) {
    volatile char room[8192];
    for (int i = 0; i < (int)sizeof(room); i++) room[i] = 1;
    return readv(fd, &(struct iovec){ &c, 1 }, room[c]) == 1;
}
int main(void) {
    volatile int jumps = 0;
    int fd = open("/dev/zero", O_RDONLY);
    struct itimerval every = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
    signal(SIGALRM, jump);
    sigsetjmp(back, 1);
    setitimer(ITIMER_REAL, &never, 0);
    if (jumps && !deeper(fd)) return 3;
    if (jumps++ < 100) {
        setitimer(ITIMER_REAL, &every, 0);
        for (;;) if (read(fd, &c, 1) != 1) return 1;
    }
    for (int i = 0; i < 1000; i++) if (pread(fd, &c, 1, 0) != 1) return 2;
    return 0;
}
"""


def jumps(tap, place):
    with tap.test('handlers that jump out of a hook leave nothing behind'):
        report = recorded(compiled(place, 'jumps', JUMPS)).report().data
        calls = {r['function']: r['calls'] for r in report['io'] if r['io_file'] == '/dev/zero'}
        equal('calls behind', calls.get('pread'), 1000)
        equal('calls from further below', calls.get('readv'), 100)
        check(calls.get('read', 0) > 0, '{}', calls)


CLOSED_BY_OTHERS = """#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *opens(void *name)
{
    for (int i = 0; i < 2000; i++) {
        int fd = open(name, O_RDONLY);
        if (fd < 0 || close(fd)) return name;
    }
    return 0;
}
int main(int argc, char **argv)
{
    int a = open(argv[1], O_WRONLY | O_CREAT, 0600), b = open(argv[2], O_WRONLY | O_CREAT, 0600), c = open(argv[3], O_WRONLY | O_CREAT, 0600);
    pthread_t thread[2];
    void *failed[2];
    if (write(a, "a", 1) + write(b, "b", 1) + write(c, "c", 1) != 3) return 1;
    if (dup2(a, b) != b || write(b, "a", 1) != 1) return 2; /* the second is closed here */
    if (close_range(c, c, 0)) return 3;
    closefrom(a);
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], 0, opens, argv[1]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], &failed[i]);
    return failed[0] || failed[1] ? 4 : 0;
}
"""


def closed_by_others(tap, place):
    with tap.test(
        'what dup2(), close_range() and closefrom() close is closed in the archive, and an open file is one thread\'s'
    ):
        program, folder = compiled(place, 'closed', CLOSED_BY_OTHERS, '-O0', '-pthread'), harness.scratch('files')
        run = recorded(
            program, *[os.path.join(folder, name) for name in ('a', 'b', 'c')], options=['--trace', '--sample=off']
        )
        events = [e for e in otf2_print.events(otf2_print.merge(run.directory)) if 'HANDLE' in e.kind]
        changes = {}
        for e in sorted(events, key=lambda e: e.time):
            changes.setdefault(e['handle id'], []).append(e.kind)
        for handle, kinds in changes.items():
            equal('handle {}'.format(handle), kinds, ['IO_CREATE_HANDLE', 'IO_DESTROY_HANDLE'] * (len(kinds) // 2))
        equal('opened', sum(map(len, changes.values())), 2 * (3 + 2 * 2000))


BY_A_CHILD = """#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
static void writes(int file, int count) { while (count--) if (write(file, "x", 1) != 1) _exit(9); }
int main(void) {
    int file = open("/dev/null", O_WRONLY), status;
    writes(file, 10);
    if (!vfork()) {
        writes(file, 20000);
        execl("/bin/true", "true", (char *)0);
        _exit(8);
    }
    if (wait(&status) < 0 || status) return 1;
    writes(file, 30000);
    return 0;
}
"""


def by_a_child(tap, place):
    with tap.test('what a child of vfork() does, which has our memory, ends no trace'):
        run = recorded(compiled(place, 'by_a_child', BY_A_CHILD, '-O0'), options=['--trace', '--sample=off'])
        written = [
            e for e in otf2_print.events(otf2_print.merge(run.directory)) if e.kind == 'ENTER' and e.region == '"write"'
        ]
        check(len(written) >= 30010, '{} writes are in the trace', len(written))


PIPED = """#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    char line[100];
    FILE *pipe = popen("echo text", "r");
    int of_pipe = pipe ? fileno(pipe) : -1;
    if (!pipe || !fgets(line, sizeof(line), pipe) || pclose(pipe)) return 1;
    int memory = memfd_create("piped", 0);
    if (memory != of_pipe) return 77;
    for (int i = 0; i < 100; i++)
        if (write(memory, line, 5) != 5) return 2;
    return 0;
}
"""


def piped(tap, place):
    with tap.test('a descriptor that pclose() closed, and others made again, is the other file'):
        files = {f['io_file']: f for f in recorded(compiled(place, 'piped', PIPED)).report().data['io_files']}
        (of_memory,) = [f for name, f in files.items() if name and 'piped' in name]
        equal('writes', (of_memory['writes']['calls'], of_memory['writes']['bytes']), (100, 500))


SLOW = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void keep(int fd) { for (int i = 0; i < 200; i++) { (void)!write(fd, "0123456789", 10); fsync(fd); } }
int main(void) { int fd = open("kept", O_CREAT | O_WRONLY, 0600); keep(fd); return close(fd); }
"""


def slow(tap, place):
    with tap.test('a program whose files take its time: the finding names function, file and caller'):
        directory = os.path.join(harness.scratch('exp'), 'e')
        report = (
            harness.run(
                [harness.FVMPI, 'run', '-q', '--io', '-o', directory, compiled(place, 'slow', SLOW)],
                cwd=harness.scratch('files'),
                directory=directory,
            )
            .ended(0)
            .report()
            .data
        )
        (rank,) = report['io_ranks']
        found = [f for f in report['findings'] if f['name'] == 'file_io']
        if rank['time_s'] < 0.03 * report['ranks'][0]['app_time_s']:
            raise harness.Skip('files cost nothing here')
        equal('findings', len(found), 1)
        close('lost', found[0]['lost_s'], min(rank['time_s'], report['ranks'][0]['app_time_s']), 1e-9)
        equal('by', (found[0]['function'], found[0]['rank']), ('keep', 0))
        check(
            re.search(
                r'(fsync|write)\(\) of \S*/kept: \S+ \w+ in 200 calls, called by keep\(\) at slow.c:5', found[0]['text']
            ),
            '{}',
            found[0],
        )


def languages(tap, place):
    with tap.test('Fortran and C++'):
        for compiler, name, text, want in (
            (
                'gfortran',
                'w.f90',
                "program w\ninteger :: i\nopen(10, file='fortran', form='formatted')\ndo i = 1, 100\nwrite(10, '(i9)') i\nend do\nclose(10)\nend program\n",
                1000,
            ),
            (
                'g++',
                'w.cpp',
                '#include <fstream>\nint main() { std::ofstream f("cpp"); for (int i = 0; i < 100; i++) f << "123456789\\n"; }\n',
                1000,
            ),
        ):
            folder = harness.scratch('files')
            source, program = os.path.join(place, name), os.path.join(place, name + '.out')
            with open(source, 'w') as f:
                f.write(text)
            harness.run([compiler, '-g', source, '-o', program]).ended(0)
            directory = os.path.join(harness.scratch('exp'), 'e')
            run = harness.run(
                [harness.FVMPI, 'run', '-q', '--io', '-o', directory, '--mpi', 'serial', program],
                cwd=folder,
                directory=directory,
            ).ended(0)
            (file,) = [f for f in run.report().data['io_files'] if os.path.basename(f['io_file']) in ('fortran', 'cpp')]
            equal('{}: bytes'.format(compiler), file['writes']['bytes'], want)
            check(0 < file['writes']['calls'] < 100, 'they are buffered: {}', file)


def a_library(tap, place):
    with tap.test('a program that is a library, and a main() of unknown line: who called is the library\'s function'):
        sources = {
            'notes.c': '#include <stdio.h>\nvoid notes(void) { FILE *f = fopen("/dev/null", "w"); fputs("x", f); fclose(f); }\n',
            'driver.c': 'void notes(void);\nint main(void) { notes(); }\n',
        }
        for name, text in sources.items():
            with open(os.path.join(place, name), 'w') as f:
                f.write(text)
        library = os.path.join(harness.scratch('lib'), 'libnotes.so')
        for flags, wanted in (([], 'notes()'), (['-g'], 'main() at driver.c:2')):
            program = os.path.join(place, 'driver')
            harness.run(['cc', '-shared', '-fPIC', os.path.join(place, 'notes.c'), '-o', library]).ended(0)
            harness.run(['cc', *flags, os.path.join(place, 'driver.c'), library, '-o', program]).ended(0)
            equal(
                'called by',
                {
                    r['called_by'].split(' at libnotes')[0]
                    for r in recorded(program).report().data['io']
                    if r['io_file'] == '/dev/null'
                },
                {wanted},
            )


def real(tap, place):
    with tap.test('sqlite in Python'):
        script = (
            "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute('create table t (x)')\n"
            "c.executemany('insert into t values (?)', [(i,) for i in range(1000)])\nc.commit()\nprint(c.execute('select sum(x) from t').fetchone())\n"
        )
        out = []
        for options in (None, ()):
            base = os.path.join(harness.scratch('files'), 'base.db')
            if options is None:
                out.append(harness.run(['/usr/bin/python3', '-c', script, base]).ended(0).out)
                continue
            run = recorded('/usr/bin/python3', '-c', script, base)
            out.append(run.out)
        equal('output', out[1], out[0])
        report = run.report().data
        (file,) = [f for f in report['io_files'] if f['io_file'] == os.path.realpath(base)]
        check(file['writes']['bytes'] >= os.path.getsize(base) and file['syncs'], '{}', file)
        equal('rows', sqlite3.connect(base).execute('select count(*) from t').fetchone(), (1000,))
        sums_hold(report, 1)


def with_mpi(tap, mpi):
    program = mpi.build(os.path.join(HERE, 'rank0.c'), '-O1', '-g', output='rank0')
    for options in ([], ['--trace', '--sample=off']):
        with tap.test('{}: whose I/O others wait for {}'.format(mpi, ' '.join(options)).strip()):
            folder = harness.scratch('files')
            run = mpi.profile(program, 2, [os.path.join(folder, 'snapshot')], ['--io'] + options).ended(0)
            if options:
                harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
                check(
                    '0 errors, 0 warning'
                    in harness.run([harness.FVMPI, 'check', os.path.join(run.directory, 'traces.otf2')]).ended(0).out,
                    'its archive',
                )
            report = run.report().data
            sums_hold(report, 2)
            written_s = float(run.out.split()[0])
            of = [r for r in report['io'] if r['io_file'] == os.path.join(os.path.realpath(folder), 'snapshot')]
            check(
                all(r['path'][0]['function'] == 'snapshot' and r['max_rank'] == 0 and r['rank_count'] == 1 for r in of),
                '{}',
                of,
            )
            taken_s = sum(r['time_s'] for r in of)
            check(0.5 * written_s < taken_s <= written_s, 'snapshot() took {} s, its calls {} s', written_s, taken_s)
            told = [f for f in report['findings'] if 'functions for files' in f['text']]
            check(
                told and told[0]['rank'] == 0 and 'snapshot' in told[0]['text'] and 'rank0.c' in told[0]['text'],
                '{}',
                report['findings'],
            )
            shared = [
                r
                for r in report['io']
                if r['io_file'] and r['io_file'].endswith('snapshot.shared') and r['operation'] == 'write'
            ]
            if not shared:
                raise harness.Skip('its MPI-IO writes by no function that is seen')
            equal('bytes by MPI-IO', sum(r['bytes'] for r in shared), 200)
            check(
                all(
                    r['in_mpi'] and r['time_s'] == 0 and r['in_mpi_s'] > 0 and r['path'][0]['function'] == 'main'
                    for r in shared
                ),
                '{}',
                shared,
            )
            file = [f for f in report['io_files'] if f['io_file'].endswith('snapshot.shared')][0]
            check(0 < file['rank_min_s'] <= file['rank_max_s'] and file['rank_count'] == 2, 'of each rank: {}', file)


UNROLLED = """#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int fd = open(argv[1], O_CREAT | O_WRONLY, 0600);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        if (write(fd, "text", 4) != 4) return 1;
    return 0;
}
"""


def look_alikes(tap):
    with tap.test('calls that a compiler made of one call in a loop are one row'):
        place = harness.scratch('unrolled')
        program = compiled(place, 'unrolled', UNROLLED, '-O2', '-g')
        rows = [
            r for r in recorded(program, os.path.join(place, 'file')).report().data['io'] if r['function'] == 'write'
        ]
        equal(
            'rows',
            [(r['calls'], r['bytes'], r['consecutive'], r['rank_count'], r['max_rank']) for r in rows],
            [(4, 16, 3, 1, 0)],
        )


def no_memory(tap, mpi):
    """What cannot be counted is not in the trace, and both are said."""
    with tap.test('{}: memory ends before files are used'.format(mpi)):
        if harness.SANITIZER:
            raise harness.Skip('a sanitizer needs memory itself')
        program = mpi.build(os.path.join(HERE, 'limited.c'))
        run = mpi.profile(program, 1, options=['--io', '--trace']).ended(0)
        said = harness.run([os.path.join(harness.BUILD, 'fvunify'), run.directory]).err
        check('12 file operations are not in the trace: there was no memory' in said, 'fvunify: {}', said)
        check('damaged' not in said, 'fvunify: {}', said)
        text = ' '.join(harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out.split())
        check('12 calls of functions for files counted without file and call path' in text, 'report: {}', text)


def main():
    tap = harness.Tap()
    place = harness.scratch('bin')
    alone(tap, place)
    look_alikes(tap)
    scans(tap, place)
    traced(tap, place)
    killed(tap, place)
    jumps(tap, place)
    closed_by_others(tap, place)
    piped(tap, place)
    by_a_child(tap, place)
    languages(tap, place)
    a_library(tap, place)
    slow(tap, place)
    real(tap, place)
    for mpi in harness.an_mpi(tap):
        with_mpi(tap, mpi)
        no_memory(tap, mpi)
    tap.done()


main()
