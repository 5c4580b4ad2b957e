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
from report import check, equal

LOSSES = os.path.join(harness.SOURCE, 'share', 'doc', 'losses.md')
FVUNIFY = os.path.join(harness.BUILD, 'fvunify')
BURN = ' 1 0.3'  # seconds: enough for samples of the CPU clock, and of sensors
WAYS = {}  # function by the first cell of its row


def way(name):
    def add(function):
        WAYS[name] = function
        return function

    return add


# ---- what was said ----


def flat(text):
    return ' '.join(text.split())


class Result:
    """A run, or a directory that was made of another one's, and all that is said of it."""

    def __init__(self, run, directory, status=7):
        self.run, self.directory, self.status = run, directory, status
        self.texts = {'run': flat(run.err)} if run else {}

    def text(self, where):
        if where not in self.texts:
            command = (
                [FVUNIFY, '-o', harness.scratch('out')] if where == 'fvunify' else [harness.FVMPI, 'report', '--all']
            )
            said = harness.run(command + [self.directory])
            self.texts[where] = flat(said.out + ' ' + said.err)
        return self.texts[where]

    def table(self, name):
        said = harness.run([harness.FVMPI, 'report', self.directory, '--no-symbols', '--table', name])
        self.texts['table'] = flat(said.err)
        return self

    def word(self, pattern):
        """Of what was said: a command, an option or a variable that it names."""
        for text in self.texts.values():
            found = re.search(pattern, text)
            if found:
                return found.group(1)
        raise harness.Mismatch('{} is not in {}'.format(pattern, self.texts))

    def lacks(self, where, pattern):
        check(not re.search(pattern, self.text(where)), '{} in: {}', pattern, self.text(where))

    def profile(self):
        return harness.profile_of(self.directory, '--no-symbols')

    def calls(self):
        return sum(f['count'] for f in self.profile()['mpi_functions'])

    def dropped(self, what):
        return sum(rank['dropped'][what] for rank in self.profile()['ranks'])


class Place:
    """The programs, and how they are run."""

    def __init__(self, mpi, other):
        self.mpi, self.other = mpi, other
        self.app = self.build('silence')

    def build(self, output, *flags):
        return self.mpi.build(
            '../run/silence.c', '-I' + os.path.join(harness.SOURCE, 'src'), *flags, '-ldl', output=output
        )

    def record(self, way, *options, **more):
        """A rank alone, under fvmpi run."""
        harness.not_of_a_sanitizer(options)
        directory = more.pop('directory', None) or os.path.join(harness.scratch('exp'), 'e')
        status, app = more.pop('status', 7), more.pop('app', self.app)
        run = harness.run(
            [*more.pop('before', []), harness.FVMPI, 'run', '-o', directory, *options, app, *way.split()], **more
        )
        return self.as_ever(Result(run, directory, status))

    def preload(self, way, library=None, **env):
        """By hand."""
        directory = os.path.join(harness.scratch('exp'), 'e')
        env.update(FVMPI_OUTPUT=directory, LD_PRELOAD=harness.in_front(library or self.mpi.library))
        return self.as_ever(Result(harness.run([self.app, *way.split()], env=env), directory))

    def ranks(self, command):
        """Of several programs."""
        return harness.run([self.mpi.exec, *self.mpi.options, *command])

    def as_ever(self, result):
        result.run.ended(result.status)
        wanted = 'done\n' * (2 if 'exec' in result.run.command else 1)
        equal('output', result.run.out, '' if result.status in (1, 2) else wanted)
        return result


def changed(directory, change):
    """A copy of a recorded run, of which `change` makes something else."""
    copy = os.path.join(harness.scratch('copy'), 'e')
    shutil.copytree(directory, copy, symlinks=True)
    change(copy)
    return Result(None, copy)


def rank_file(directory, rank=1):
    return os.path.join(directory, 'rank-{:06d}.fvr'.format(rank))


def write(path, offset, data):
    with open(path, 'r+b') as f:
        f.seek(offset)
        f.write(data)


def serial(*flags):
    """A program without MPI."""
    source = os.path.join(harness.scratch('serial'), 'serial.c')
    with open(source, 'w') as f:
        f.write('#include <stdio.h>\nint main(void) { puts("done"); return 7; }\n')
    if harness.run(['cc', *flags, source, '-o', source[:-2]]).rc:
        raise harness.Skip('cc {} does not work here'.format(' '.join(flags)))
    return source[:-2]


def is_recorded(result):
    check(result.calls() > 0, 'nothing is recorded in {}', result.directory)
    return result


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


@way('no rank file is in the directory')
def no_files(p):
    yield Result(None, harness.scratch('empty'))


# ---- some ranks or files are missing ----


@way('a rank that was started without fvmpi')
def partly(p):
    directory = os.path.join(harness.scratch('exp'), 'e')
    under = [harness.FVMPI, 'run', '-q', '--trace', '-o', directory, p.app, 'plain']
    yield Result(p.ranks(['-n', '1', *under, ':', '-n', '1', p.app, 'plain']), directory)
    equal('of two', Result(None, p.two()).profile()['run']['complete'], True)


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
    yield p.denied(p.record('no-perf', '--sample'))


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


@way('samples where perf events and timers are denied')
def no_clock(p):
    yield p.denied(p.record('no-clock'))


@way('--counters where perf events are denied')
def no_counters(p):
    yield p.denied(p.record('no-perf', '--counters', 'INSTRUCTIONS,CYCLES,CPU-MIGRATIONS'))


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


# ---- what they need ----


def fill(disk):
    try:
        with open(os.path.join(disk, 'full'), 'wb', buffering=0) as f:
            while True:
                f.write(bytes(4096))
    except OSError:
        pass


class Shared(Place):
    """Runs that several ways begin with are made once."""

    def __init__(self, mpi, other):
        super().__init__(mpi, other)
        self.runs = {}

    def two(self, number=0):
        """The directory of a run of two ranks, with a trace."""
        if number not in self.runs:
            directory = self.runs[number] = os.path.join(harness.scratch('exp'), 'e')
            self.ranks(['-n', '2', harness.FVMPI, 'run', '-q', '--trace', '-o', directory, self.app, 'calls', '100'])
        return self.runs[number]

    def needs_other(self):
        if not self.other:
            raise harness.Skip('only one MPI is here')
        return self.other

    def needs_mpich(self):
        if str(self.mpi) != 'mpich':
            raise harness.Skip('the words of the table are of a program with MPICH')

    def denied(self, result):
        if 'no filter' in result.run.out:
            raise harness.Skip('seccomp is not permitted here')
        return result


# ---- the table ----


def rows():
    """{first cell: [(where, words)]}"""
    found = {}
    with open(LOSSES) as f:
        for line in f:
            cells = [cell.strip() for cell in line.strip().strip('|').split(' | ')]
            if line.startswith('| ') and len(cells) == 3 and cells[0] not in ('what', '---'):
                found[cells[0]] = re.findall(r'(run|report|table|fvunify): `([^`]+)`', cells[1])
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
