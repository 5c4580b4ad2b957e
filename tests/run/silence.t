#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is lost without a word, and no word is wrong. share/doc/losses.md is a table of the ways in which something
can go unrecorded, with the words that the user gets. Each of its rows has a function here, which brings it about,
yields what came of it, and then tries the remedy, as far as it can from the words themselves: a command, an option or a
variable that they name. A row without a function fails, and so does a function without a row. `run`: stderr of the run;
the application's output and exit status are as ever."""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import unseen
from losses import FVUNIFY, WAYS, Result, Shared, changed, fill, flat, is_recorded, rank_file, serial, way, write
from report import check, equal

LOSSES = os.path.join(harness.SOURCE, 'share', 'doc', 'losses.md')
BURN = ' 1 0.3'  # seconds: enough for samples of the CPU clock, and of sensors


# ---- nothing is recorded ----


@way('the program did not call MPI_Init')
def uninitialised(p):
    result = p.record('uninitialised')
    yield result
    alone = p.record('', *result.word(r'fvmpi run (--mpi serial)').split(), app=serial())
    equal('files', os.path.exists(rank_file(alone.directory, 0)), True)


@way('the library of another MPI is preloaded')
def wrong_library(p):
    p.needs_mpich()
    result = p.preload('plain', p.needs_other().library)
    yield result
    named = result.word(r'preload (libfvmpi-\w+\.so) instead')
    is_recorded(p.preload('plain', os.path.join(harness.LIBS, named)))


@way('fvmpi was built without the program\'s MPI')
def no_library(p):
    p.needs_mpich()
    result = p.record('plain', env={'FVMPI_LIBDIR': '/nowhere'}, status=1)
    yield result
    is_recorded(p.record('plain', env={result.word(r'set (FVMPI_LIBDIR)'): harness.LIBS}))


@way('the program is linked statically')
def static(p):
    yield p.record('', app=serial('-static'), status=1)


@way('the directory cannot be made')
def below_a_file(p):
    file = os.path.join(harness.scratch('file'), 'f')
    open(file, 'w').close()
    result = p.record('plain', directory=file)
    yield result
    equal('the option', result.word(r'another with (-o) or'), '-o')
    is_recorded(p.record('plain'))


@way('the disk is full from the beginning')
def full_disk(p):
    with harness.Mounted('size=64k') as disk:
        fill(disk)
        result = p.record('plain', directory=os.path.join(disk, 'e'))
        yield result
        result.lacks('run', 'nothing was recorded')
    is_recorded(p.record('plain'))


@way('fvmpi is switched off')
def disabled(p):
    result = p.record('plain', env={'FVMPI_DISABLE': '1'})
    yield result
    equal('written', os.path.exists(result.directory), False)
    is_recorded(p.record('plain', env={result.word(r'(FVMPI_\w+) is set'): None}))


@way('recording is never switched on')
def off_at_start(p):
    result = p.record('calls 10', '--off-at-start')
    yield result
    equal('calls', result.calls(), 0)
    equal('the option to leave out', result.word(r'or leave (--[\w-]+) out'), '--off-at-start')
    is_recorded(p.record('calls 10'))


@way('the directory is removed during the run')
def removed(p):
    directory = os.path.join(harness.scratch('exp'), 'e')
    result = p.record('remove', directory=directory, env={'REMOVED': directory})
    yield result
    result.word(r'(record it again)')
    is_recorded(p.record('plain', directory=directory))


@way('no rank file is in the directory')
def no_files(p):
    yield Result(None, harness.scratch('empty'))


@way('a script takes LD_PRELOAD away')
def without_preload(p):
    result = p.launched([script('unset LD_PRELOAD\nexec {} plain'.format(p.app))])
    yield result
    command = '{}/{}'.format(os.path.dirname(harness.FVMPI), result.word(r'start it by: (fvmpi run) '))
    is_recorded(p.launched([script('unset LD_PRELOAD\nexec {} {} plain'.format(command, p.app))]))


@way('a program that opens another MPI than the library is for')
def opens_another(p):
    p.needs_mpich()
    other, program = p.needs_other(), script(unseen.OPENS, sys.executable)
    library = unseen.library_of(p.mpi)
    result = p.record(library, '--mpi', str(other), app=program, status=0)
    yield result
    is_recorded(p.record(library, *result.word(r'say fvmpi run (--mpi \w+)').split(), app=program, status=0))


@way('a program that calls PMPI_ functions itself')
def profiling_names(p):
    program = script(unseen.OPENS.replace('.MPI_', '.PMPI_'), sys.executable)
    yield p.record(unseen.library_of(p.mpi), '--mpi', str(p.mpi), app=program, status=0)


@way('MPI in a name space of its own')
def name_space(p):
    program = p.mpi.build('lookup.c', '-fno-optimize-sibling-calls', '-Wl,--as-needed', '-ldl', output='lookup')
    library = unseen.library_of(p.mpi)
    if harness.run([program, library, 'space']).rc:
        raise harness.Skip('dlmopen() of it does not work without fvmpi')
    yield p.record('{} space'.format(library), '--mpi', str(p.mpi), app=program, status=0, out=None)


@way('a static MPI in a program that is not static')
def static_within(p):
    p.needs_mpich()
    yield p.launched([unseen.static_within(p.mpi)])


@way('a program with more rights than its caller')
def more_rights(p):
    p.needs_mpich()  # Open MPI starts a daemon, which it does not with other rights
    if os.getuid() or harness.SANITIZER:
        raise harness.Skip('needs root, and no sanitizer')
    app = shutil.copy(p.app, os.path.join(harness.scratch('app'), 'app'))
    os.chown(app, 65534, -1)
    os.chmod(app, 0o4755)
    result = p.record('plain', app=app)
    yield result
    result.word(r'run a (copy) without them')
    copy = shutil.copyfile(app, app + '-copy')
    os.chmod(copy, 0o755)
    is_recorded(p.record('plain', app=copy))


@way('a limit on file sizes from the beginning')
def small_files(p):
    app = serial()  # libraries of MPI make files that are larger
    result = p.record('', '--mpi', 'serial', app=app, before=['sh', '-c', 'ulimit -f 1; exec "$@"', 'sh'])
    yield result
    equal('the limit', result.word(r'ulimit (-f) unlimited'), '-f')
    p.record('', '--mpi', 'serial', app=app).lacks('run', 'RLIMIT_FSIZE')


# ---- some ranks or files are missing ----


@way('a rank that was started without fvmpi')
def partly(p):
    directory = os.path.join(harness.scratch('exp'), 'e')
    under = [harness.FVMPI, 'run', '-q', '--trace', '-o', directory, p.app, 'plain']
    yield Result(p.ranks(['-n', '1', *under, ':', '-n', '1', p.app, 'plain']), directory)
    of_two = Result(None, p.two()).profile()
    check(of_two['run']['complete'], 'of two: {}', [of_two['problems'], [r['state'] for r in of_two['ranks']]])


@way('a launcher of another MPI: each rank is alone')
def crossed(p):
    p.needs_mpich()
    other, directory = p.needs_other(), os.path.join(harness.scratch('exp'), 'e')
    result = Result(
        harness.run(
            [other.exec, *other.options, '-n', '1', harness.FVMPI, 'run', '-q', '-o', directory, p.app, 'plain']
        ),
        directory,
    )
    yield result
    equal('launcher', result.word(r'use (mpiexec\.\w+)'), os.path.basename(p.mpi.exec))


@way('a directory that holds another run')
def taken(p):
    first = p.record('calls 10')
    result = p.record('plain', directory=first.directory)
    yield result
    equal('calls', [Result(None, d).calls() for d in (first.directory, result.word(r'this one is ([^\s;]+)'))], [13, 3])


@way('a file of another run')
def foreign(p):
    result = changed(p.two(), lambda e: shutil.copy(rank_file(p.two(1)), rank_file(e)))
    yield result
    named = os.path.join(result.directory, result.word(r'(rank-\d+\.fvr): of another run'))
    is_recorded(Result(None, named))


@way('a copy of a rank file')
def copied(p):
    result = changed(p.two(), lambda e: shutil.copy(rank_file(e), os.path.join(e, 'again.fvr')))
    yield result
    equal('calls', result.calls(), Result(None, p.two()).calls())


@way('a file that is no rank file')
def no_rank_file(p):
    yield changed(p.two(), lambda e: write(rank_file(e), 0, b'#!/bin/sh'))


@way('an empty file')
def empty(p):
    yield changed(p.two(), lambda e: os.truncate(rank_file(e), 0))


@way('a file that was cut')
def cut(p):
    yield changed(p.two(), lambda e: os.truncate(rank_file(e), 20000))
    Result(None, p.two()).lacks('report', 'truncated')


@way('a damaged file')
def damaged(p):
    yield changed(p.two(), lambda e: write(rank_file(e), 4096, b'\xff' * 20000))


@way('a file of another version of fvmpi')
def another_version(p):
    yield changed(p.two(), lambda e: write(rank_file(e), 8, b'\x09'))


@way('the node\'s own directory cannot be used')
def no_local(p):
    file = os.path.join(harness.scratch('file'), 'f')
    open(file, 'w').close()
    result = p.record('plain', '--local', file)
    yield result
    is_recorded(result)
    there = harness.scratch('local')
    again = is_recorded(p.record('plain', result.word(r'another with (--local)'), there))
    again.lacks('run', 'cannot be written')


@way('the disk of the experiment is full when `--local` files are moved')
def not_moved(p):
    with harness.Mounted('size=64k') as disk:
        there = harness.scratch('local')
        result = p.record('paths 3000', '--local', there, directory=os.path.join(disk, 'e'))
        yield result
        subprocess.run(['mount', '-o', 'remount,size=4m', disk], check=True)
        harness.run([harness.FVMPI, *result.word(r'then: fvmpi (gather \S+)').split()]).ended(0)
        equal('calls', result.calls(), 3003)


@way('a file system that cannot map shared files')
def unmapped(p):
    if not os.access('/dev/fuse', os.R_OK) or not shutil.which('bindfs'):
        raise harness.Skip('needs bindfs and /dev/fuse')
    back, front = harness.scratch('back'), harness.scratch('front')
    if harness.run(['bindfs', '-o', 'direct_io', back, front]).rc:
        raise harness.Skip('bindfs does not work here')
    try:
        result = p.record('plain', directory=os.path.join(front, 'e'))
        yield result
        is_recorded(Result(None, os.path.join(back, 'e')))
    finally:
        subprocess.run(['umount', front], check=True)


@way('a host whose own directory was emptied')
def emptied(p):
    there = harness.scratch('local')
    result = p.preload('plain', FVMPI_LOCAL=there)
    for name in os.listdir(there):
        shutil.rmtree(os.path.join(there, name))
    yield result
    equal('the note stays', 'rank files on 1 host' in Result(None, result.directory).text('report'), True)


@way('hosts whose clocks nothing connects')
def clocks(p):
    def restart(e):
        with open('/proc/sys/kernel/random/boot_id') as f:
            boot = bytes.fromhex(f.read().strip().replace('-', ''))
        with open(rank_file(e), 'rb') as f:
            at = f.read(4096).index(boot)
        write(rank_file(e), at, bytes(255 - byte for byte in boot))

    yield changed(p.two(), restart)


# ---- the run ended early ----


@way('a rank was killed')
def killed(p):
    result = p.record('kill', status=137)
    yield result
    equal('calls', result.calls(), 2)


@way('a rank called MPI_Abort')
def aborted(p):
    yield p.record('abort')


@way('a rank exited without MPI_Finalize')
def exited(p):
    yield p.record('unfinished')


@way('a rank became another program')
def replaced(p):
    yield p.record('exec')


# ---- calls without detail ----


@way('statistics past their budget')
def statistics(p):
    result = p.record('paths 2000', env={'FVMPI_PROFILE_MAX': '64K'})
    yield result
    equal(
        'dropped',
        p.record('paths 2000', env={result.word(r'\(raise (FVMPI_PROFILE_MAX)\)'): '64M'}).dropped('cells'),
        0,
    )


@way('too many call paths')
def call_paths(p):
    if not harness.all_cases():
        raise harness.Skip('24,000 call paths; ./dev mpis makes them')
    result = p.record('paths 24000', '--sample=off')
    yield result
    check(result.dropped('paths') > 0, 'none')
    again = p.record('paths 24000', '--sample=off', *result.word(r'as by (--depth \d+)').split())
    equal('dropped', again.dropped('paths'), 0)


@way('too many communicators')
def communicators(p):
    if not os.environ.get('FVMPI_TEST_LONG'):
        raise harness.Skip('40,000 communicators; FVMPI_TEST_LONG=1 makes them')
    result = p.record('comms 40000')
    yield result
    check(result.dropped('comms') > 0, 'none')


@way('a full log of collective calls')
def collectives(p):
    result = p.record('collectives 2000', env={'FVMPI_COLLECTIVES_MAX': '4K'})
    yield result
    equal(
        'dropped',
        p.record('collectives 2000', env={result.word(r'\(raise (FVMPI_COLLECTIVES_MAX)\)'): '1M'}).dropped(
            'collectives'
        ),
        0,
    )


@way('the disk is full during the run')
def filling(p):
    with harness.Mounted('size=160k') as disk:
        result = p.record('paths 3000', directory=os.path.join(disk, 'e'))
        yield result
        check(result.dropped('disk') > 0, 'it was not full')
    equal('dropped', p.record('paths 3000').dropped('disk'), 0)


@way('calls that are left by longjmp()')
def jump(p):
    result = p.record('jump 5')
    yield result
    equal('dropped', result.dropped('calls'), 5)


@way('MPI functions that the program defines itself')
def shadow(p):
    yield p.record('collectives 5', app=p.build('silence_shadow', '-DSHADOW'))


@way('MPI\'s own calls are left out')
def calls_left_out(p):
    result = p.record('calls 10', '--mpi-calls', '0')
    yield result
    equal('calls', p.record('calls 10', result.word(r'\((--mpi-calls) 0\)'), '1').calls(), 13)


@way('recording was paused')
def paused(p):
    yield p.record('paused')


@way('labels past their room')
def labels(p):
    result = p.record('labels 400')
    yield result
    check(0 < result.dropped('marks') < 400, 'dropped: {}', result.dropped('marks'))


@way('sections that are open too deep')
def deep(p):
    yield p.record('sections 70')


@way('sections that are not begun or not ended')
def unended(p):
    yield p.record('sections 2')


@way('too many sections')
def many_sections(p):
    yield p.record('many-sections 3000')


@way('no debug information')
def no_lines(p):
    yield p.record('calls 5', app=p.build('silence_g0', '-g0'))
    p.record('calls 5').lacks('report', 'has no debug information')


@way('the program\'s file is gone, or another one')
def gone(p):
    app = shutil.copy(p.app, os.path.join(harness.scratch('app'), 'app'))
    result = p.record('calls 5', app=app)
    os.remove(app)
    yield result
    shutil.copy(p.app, app)
    Result(None, result.directory).lacks('report', 'missing or not readable')


# ---- the trace ----


@way('a trace past its budget')
def trace(p):
    result = p.record('calls 30000', '--trace', env={'FVMPI_TRACE_MAX': '64K'})
    yield result
    check(
        1000 < result.dropped('events') < 29000,
        'a small budget holds something: {} are missing',
        result.dropped('events'),
    )
    equal(
        'dropped',
        p.record('calls 30000', '--trace', env={result.word(r'raise (FVMPI_TRACE_MAX)'): '64M'}).dropped('events'),
        0,
    )


@way('a trace on a full disk')
def trace_on_a_full_disk(p):
    with harness.Mounted('size=160k') as disk:
        result = p.record('calls 60000', '--trace', directory=os.path.join(disk, 'e'))
        yield result
        result.lacks('fvunify', 'raise FVMPI_TRACE_MAX')
    equal('dropped', p.record('calls 60000', '--trace').dropped('events'), 0)


@way('a trace at the limit on file sizes')
def trace_at_the_limit(p):
    result = p.record('small-files 60000', '--trace')
    yield result
    result.lacks('fvunify', 'disk was full|raise FVMPI_TRACE_MAX')
    equal('the limit', result.word(r'; use ulimit (-f) unlimited'), '-f')
    equal('dropped', p.record('calls 60000', '--trace').dropped('events'), 0)


@way('a trace without calls')
def no_calls(p):
    result = p.record('calls 10', '--trace', '--off-at-start')
    yield result
    command = result.word(r'see: (fvmpi report \S+)').split()
    check(
        'recording was off from the start' in flat(harness.run([harness.FVMPI, *command[1:]]).out),
        'the report does not say it',
    )


@way('... of a program without MPI')
def nothing_traced(p):
    result = p.record('', '--mpi', 'serial', '--trace', '--sample=off', app=serial())
    yield result
    again = p.record('', '--mpi', 'serial', '--trace', result.word(r'what (--io)'), app=serial())
    check('nothing is in the trace' not in again.text('fvunify'), 'nor with --io')


@way('an analysis that is not of these files')
def stale(p):
    def merge(e):
        harness.run([FVUNIFY, '-q', p.two(1)]).ended(0)
        shutil.copy(os.path.join(p.two(1), 'analysis.json'), e)

    result = changed(p.two(), merge)
    yield result
    harness.run([FVUNIFY if result.word(r'run (fvunify) again') else '', '-q', result.directory]).ended(0)
    Result(None, result.directory).lacks('report', 'is left out')


# ---- what an option asks for ----


@way('an option\'s variable that is misspelt')
def misspelt(p):
    result = p.record('plain', env={'FVMPI_DEPHT': '3'})
    yield result
    again = p.record('plain', env={result.word(r'did you mean (\w+)\?'): '3'})
    again.lacks('run', 'no such variable')
    equal('options', [o['value'] for o in again.profile()['options']], ['3'])


@way('an option with a bad value')
def bad_value(p):
    result = p.preload('plain', FVMPI_LOCAL='tmp')
    yield result
    p.preload('plain', FVMPI_LOCAL=result.word(r'such as (/\w+)')).lacks('run', 'absolute')


def by_its_variable(p, option, key):
    result = p.preload('plain', **{'FVMPI_' + option.upper(): '1'})
    yield result
    again = p.record('plain', result.word(r'\(fvmpi run (--\w+) does\)'))
    check(again.profile()[key], 'table {} is empty', key)


@way('--io by its variable alone')
def io(p):
    yield from by_its_variable(p, 'io', 'io')


@way('--memory by its variable alone')
def memory(p):
    yield from by_its_variable(p, 'memory', 'memory')


@way('--threads by its variable alone')
def threads(p):
    yield from by_its_variable(p, 'threads', 'locks')


@way('--functions of a program that is not instrumented')
def functions(p):
    result = p.record('calls 5', '--functions')
    yield result
    app = p.build('silence_functions', result.word(r'with (-finstrument-functions)'))
    check(p.record('calls 5', '--functions', app=app).profile()['instrumented'], 'none was called')


@way('a filter of functions by its variable alone')
def functions_filter(p):
    result = p.preload('plain', FVMPI_FUNCTIONS_FILTER='f')
    yield result
    check(
        result.word(r'fvmpi run (--functions-filter) FILE') in harness.run([harness.FVMPI, 'run', '--help']).out,
        'no such option',
    )


@way('--events without samples of instances')
def events(p):
    result = p.preload('plain', FVMPI_EVENTS='PAGE-FAULTS')
    yield result
    name, value = result.word(r'set (\w+=\d), too').split('=')
    p.preload('plain', FVMPI_EVENTS='PAGE-FAULTS', **{name: value}).lacks('run', 'as well')


def samples(result):
    return (result.profile()['costs'] or {'all': {'ticks': 0}})['all']['ticks']


@way('--sample of a program that blocks SIGTRAP')
def sigtrap(p):
    result = p.record('trap', '--sample')
    yield result
    check(samples(p.record('trap' + BURN, result.word(r'(--sample=clock)'))) > 0, 'no samples')


@way('--sample where perf events are denied')
def no_perf(p):
    result = p.denied(p.record('no-perf', '--sample'))
    yield result
    result.word(r'not permitted here \(a container, or (kernel.perf_event_paranoid) above 2\)')


@way('--sample with too few descriptors')
def descriptors(p):
    result = p.record('plain', '--sample', before=['sh', '-c', 'ulimit -n 60; exec "$@"', 'sh'])
    yield result
    equal('the limit', result.word(r'raise the limit \(ulimit (-n)\)'), '-n')
    p.record('plain', '--sample').lacks('run', 'file descriptor')


@way('samples of a program that uses SIGPROF')
def sigprof(p):
    result = p.record('prof')
    yield result
    check(samples(p.record('prof' + BURN, result.word(r'fvmpi run (--sample) takes'))) > 0, 'no samples')


@way('samples of a thread that blocks signals, or never calls MPI')
def blocked_signals(p):
    result = p.record('blocked 5')
    yield result
    equal('the option', result.word(r'without (--sample), threads'), '--sample')
    p.record('plain 1 0.8').lacks('report', 'samples stand for')


@way('samples where perf events and timers are denied')
def no_clock(p):
    yield p.denied(p.record('no-clock'))


@way('--counters where perf events are denied')
def no_counters(p):
    result = p.denied(p.record('no-perf', '--counters', 'INSTRUCTIONS,CYCLES,CPU-MIGRATIONS'))
    yield result
    result.word(r'not counted: INSTRUCTIONS, CYCLES: (not permitted) here')


@way('--counters of the kernel\'s where perf events are denied')
def no_kernel_counters(p):
    yield p.denied(p.record('no-perf', '--counters', 'INSTRUCTIONS,CYCLES,CPU-MIGRATIONS'))


@way('--sensors that there are not')
def sensors(p):
    result = p.record('plain', '--sensors', 'nosuch')
    yield result
    listed = harness.run([harness.FVMPI, *result.word(r'fvmpi (stat --list) lists').split()]).ended(0).out
    check(p.record('plain' + BURN, '--sensors', listed.split(':')[0]).profile()['sensors'], 'nothing was read')


@way('--sensors that are denied')
def no_sensors(p):
    if not os.path.exists('/sys/bus/event_source/devices/software'):
        raise harness.Skip('no perf events here')
    yield p.denied(p.record('no-perf', '--sensors', 'perf'))


@way('a table of what was not recorded')
def no_option(p):
    result = Result(None, p.two()).table('memory')
    yield result
    check(p.record('plain', result.word(r'recorded by fvmpi run (--\w+)')).profile()['memory'], 'no memory')


@way('a table of what the program did not do')
def nothing_done(p):
    yield p.record('calls 5', '--threads').table('worksharing')


@way('threads past their room')
def many_threads(p):
    yield p.record('threads 18000', '--threads')


@way('locks that are held together')
def many_locks(p):
    yield p.record('locks 100', '--threads=hold')


@way('a malloc() within the program')
def own_malloc(p):
    yield p.record('calls 5', '--memory', app=p.build('silence_malloc', '-DMALLOC'))


@way('children by fork()')
def fork(p):
    result = p.record('fork')
    yield result
    check('fork()' in result.profile()['run']['not_recorded'], 'run.not_recorded does not say it')
    equal('problems', [of['text'] for of in result.profile()['problems'] if 'fork' in of['text']], [])


@way('children that compute, made past fork()')
def children(p):
    result = p.record('children 1')
    yield result
    check('unless they call MPI' in result.profile()['run']['not_recorded'], 'run.not_recorded does not say it')
    equal('of those that hardly compute', p.record('children 0').profile()['run']['not_recorded'], None)


@way('--memory or --threads beside a sanitizer')
def sanitized(p):
    result = p.record('', '--memory', app=serial('-fsanitize=address'), env={'ASAN_OPTIONS': 'detect_leaks=0'})
    yield result
    result.word(r'build it (without)')
    p.record('', '--memory', app=serial()).lacks('report', 'sanitizer')


# ---- the table ----


def script(text, interpreter='/bin/sh'):
    path = os.path.join(harness.scratch('script'), 'script')
    with open(path, 'w') as f:
        f.write('#!{}\n{}\n'.format(interpreter, text))
    os.chmod(path, 0o755)
    return path


def rows():
    """{first cell: [(where, words)]}"""
    found = {}
    with open(LOSSES) as f:
        for line in f:
            cells = [cell.strip() for cell in line.strip().strip('|').split(' | ')]
            if line.startswith('| ') and len(cells) == 3 and cells[0] not in ('what', '---'):
                found[cells[0]] = [
                    (where, words)
                    for places, words in re.findall(r'([a-z]+(?:, [a-z]+)*): `([^`]+)`', cells[1])
                    for where in places.split(', ')
                ]
    return found


def pattern_of(words):
    """N: a number; NAME, FILE, DIR: whatever is there."""
    return re.sub(r'\b(NAME|FILE|DIR)\b', r'\\S+', re.sub(r'\bN\b', r'[\\d.,]+', re.escape(words)))


def judge(place, words, bring):
    steps = bring(place)
    result = next(steps)
    for where, text in words:
        check(
            re.search(pattern_of(text), result.text(where)),
            '{}: {!r} is not in: {}',
            where,
            text,
            result.text(where)[:3000],
        )
    check(words, 'no words')
    for _ in steps:
        pass


def main():
    tap = harness.Tap()
    harness.patiently()
    table = rows()
    with tap.test('each row has its function, and each function its row'):
        equal('without the other', sorted(set(table) ^ set(WAYS)), [])
    for mpi in harness.an_mpi(tap, first='mpich'):
        others = [m for m in harness.mpis(tap, quiet=True) if str(m) != str(mpi)]
        place = Shared(mpi, others[0] if others else None)
        place.two()
        place.two(1)
        tap.together(
            [('{}: {}'.format(mpi, name), judge, place, table[name], WAYS[name]) for name in table if name in WAYS], 2
        )
    tap.done()


main()
