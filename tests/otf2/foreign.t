#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvunify and fvmpi report on archives that fvmpi did not write: foreign.tar.xz, of Score-P 8.4 and EZTrace 2.0. Beside each
there are figures that fvmpi did not compute (foreign.json): `scalasca`: waiting by Scalasca 2.5's scout, `threads`: what
that says of threads, by construct; of the archive's events
by python3-otf2: `parallel`: parallel regions, their number, elapsed seconds, seconds of threads until the last came to the end, and
of waiting for it, `works`: worksharing, parts and seconds, `acquired`: locks, and those waited for, by construct, `files`: functions for files, and of MPI, calls, bytes and seconds, `file_ranks`: read and written by rank, `events`: waiting after its definition, `functions`: calls and seconds of each function of MPI, `regions`: of others,
inclusive and exclusive, `sent`: messages and bytes to other ranks, one-sided ones too."""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE + '/../harness', HERE + '/../threads']
import harness
import threads
from report import check, close, equal, plainly
from viewed import events_of

FVUNIFY = os.path.join(harness.BUILD, 'fvunify')
DIGITS = 1e-4  # four digits; what clocks are wrong by, where a rank left before the last one came:
CLOCK_S = 2e-5
# Scalasca tells nothing of these operations, which the events have
UNSEEN = {'scorep-coll': ('wait_at_nxn', 'nxn_completion')}
# In a barrier where tasks run it sees no waiting; we do from a thread's last task on
WITH_TASKS = '!$omp implicit barrier @omp.c:21'


class Archives:
    def __init__(self):
        self.place = harness.scratch('archives')
        with open(os.path.join(HERE, 'foreign.json')) as f:
            self.figures = json.load(f)
        with tarfile.open(os.path.join(HERE, 'foreign.tar.xz')) as tar:
            tar.extractall(self.place)

    def anchor(self, name):
        return os.path.join(self.place, self.figures[name]['anchor'])


def analyse(anchor, *options, processes=(), status=0):
    out = harness.scratch('analysis')
    run = harness.run([*processes, FVUNIFY, anchor, '-o', out, *options]).ended(status)
    with open(os.path.join(out, 'analysis.json')) as f:
        run.data = json.load(f)
    return run


def waits(data):
    return {kind['kind']: kind['wait_s'] for kind in data['kinds']}


def digest(anchor):
    found = {}
    for place, _, names in os.walk(os.path.dirname(anchor)):
        for name in names:
            with open(os.path.join(place, name), 'rb') as f:
                found[os.path.join(place, name)] = hashlib.sha256(f.read()).hexdigest()
    return found


def near(what, found, wanted):
    check(abs(found - wanted) <= DIGITS * wanted + CLOCK_S, '{}: {}, wanted {}', what, found, wanted)


def constructs(data):
    """Seconds that threads waited, by construct of OpenMP, or function."""
    found = {}
    for wait in data['threads']['waits'] if data['threads'] else ():
        construct = wait['path'][0]['function']
        found[construct] = found.get(construct, 0) + wait['wait_s']
    return found


def known(name, figures, data):
    found = waits(data)
    equal('ranks', data['run']['ranks'], figures['ranks'] or 1)
    for source in ('scalasca', 'events'):
        for kind, wanted in figures[source].items():
            if source != 'scalasca' or kind not in UNSEEN.get(name, ()):
                near('{}, by {}'.format(kind, source), found.get(kind, 0), wanted)
    for construct, wanted in figures.get('threads', {}).items():
        near(construct, constructs(data).get(construct, 0), wanted)
    equal('constructs', sorted({*constructs(data)} - {WITH_TASKS}), sorted(figures.get('threads', {})))
    calls = {}
    for site in data['callsites']:
        if site['function']:
            count, seconds = calls.get(site['function'], (0, 0))
            calls[site['function']] = (count + site['count'], seconds + site['time_s'])
    equal('functions', sorted(calls), sorted(figures['functions']))
    for function, (count, seconds) in figures['functions'].items():
        equal(function, calls[function][0], count)
        near(function, calls[function][1], seconds)


def places(data, key):
    """Seconds by function of the program."""
    found = {}
    for row in data['samples']['procedures']:
        found[row['function']] = found.get(row['function'], 0) + row['total'][key]
    return found


def cut(archives, name, location, part):
    """A copy whose file of events ends early."""
    copy = os.path.join(harness.scratch('cut'), name)
    shutil.copytree(os.path.dirname(archives.anchor(name)), copy, ignore=shutil.ignore_patterns('*.fvmpi'))
    path = os.path.join(copy, 'traces', '{}.evt'.format(location))
    with open(path, 'r+b') as f:
        f.truncate(int(os.path.getsize(path) * part))
    return os.path.join(copy, 'traces.otf2')


def lines(tap, archives):
    with tap.test('the first line of a function, as the region has it, also in the tree of calls'):
        data = report_of(archives.anchor('scorep-overlap'))
        wanted = {'overlap': 29, 'state::reaction': 17, 'state::interior': 9, 'start_halo': 68, 'finish_halo': 74}
        found = {row['function']: row['line'] for row in data['instrumented']}
        equal('lines', found, wanted)
        for row in data['instrumented_paths']:
            first, *callers = row['path']
            place = (os.path.basename(first['file']), first['line'])
            equal('its own', place, ('overlap.f90', wanted[first['function']]))
            equal('of a call', [frame['line'] for frame in callers], [None] * len(callers))


def ends(tap, archives):
    with tap.test("what a tool does behind main() is none of the program's time"):
        anchor = archives.anchor('scorep-coll')
        for rank, rows in zip(report_of(anchor)['ranks'], events_of(anchor)):
            (main,) = (end - begin for begin, end, name, *_ in rows if name == 'main')
            close('rank {}'.format(rank['rank']), rank['app_time_s'], main * 1e-9, 1e-3)


def oddities(tap, archives):
    with tap.test('an archive that is cut short: what is there is taken, and it is said'):
        anchor = cut(archives, 'scorep-late', 2, 0.6)
        run = analyse(anchor, status=1)
        check('1 location that cannot be read to the end' in run.err, '{}', run.err)
        check(
            0 < waits(run.data)['late_sender'] < archives.figures['scorep-late']['scalasca']['late_sender'],
            '{}',
            run.data,
        )
    with tap.test('and every report says it, and not that the rank was killed'):
        for what in ('made', 'made before'):
            out = harness.run([harness.FVMPI, 'report', anchor]).ended(0).out
            check('the archive: 1 location that cannot be read to the end' in out, '{}: {}', what, out)
            check('3 finalized, 1 cut' in out and 'killed' not in out.lower(), '{}: {}', what, out)
    with tap.test('and an archive that is made of it'):
        out = harness.scratch('again')
        run = harness.run([FVUNIFY, anchor[: -len('.otf2')] + '.fvmpi', '-o', out]).ended(0)
        check('rank 2: not all of its events were there' in run.err and 'killed' not in run.err, '{}', run.err)
        with open(os.path.join(out, 'traces.def'), 'rb') as f:
            check(b'cut: not all events were there' in f.read(), 'the state')
    with tap.test('without the events of a rank'):
        anchor = cut(archives, 'scorep-late', 2, 0.6)
        os.unlink(os.path.join(os.path.dirname(anchor), 'traces', '3.evt'))
        check('1 location without a file of events' in analyse(anchor, status=1).err, 'said')
    with tap.test('what another tool does against the rules is counted and said'):
        err = analyse(archives.anchor('eztrace-late')).err
        check(re.search('[0-9]+ regions left but not entered, or never left', err), '{}', err)
        check('10 receive or collective operations never completed' in err, '{}', err)
    with tap.test('an archive in a container of SIONlib'):
        anchor = shutil.copy(archives.anchor('scorep-omp'), harness.scratch('sion'))
        with open(anchor, 'r+b') as f:
            f.seek(28)  # how it is stored: 1 is POSIX files
            f.write(b'\2')
        run = harness.run([FVUNIFY, anchor, '-o', harness.scratch('none')]).ended(1)
        check('SIONlib' in run.err and run.err.count('\n') == 1, '{}', run.err)
    with tap.test('no archive: one line'):
        path = os.path.join(harness.scratch(), 'random.otf2')
        with open(path, 'wb') as f:
            f.write(os.urandom(3000))
        for name in (path, path + '.missing.otf2'):
            run = harness.run([FVUNIFY, name, '-o', harness.scratch('none')]).ended(1)
            equal('lines of ' + name, run.err.count('\n'), 1)


def not_there(archives, name, location, make):
    """An archive of which the events of a location are replaced: what `make` puts there."""
    copy = os.path.join(harness.scratch('gone'), name)
    shutil.copytree(os.path.dirname(archives.anchor(name)), copy, ignore=shutil.ignore_patterns('*.fvmpi'))
    path = os.path.join(copy, 'traces', '{}.evt'.format(location))
    os.unlink(path)
    make(path)
    return os.path.join(copy, 'traces.otf2')


def without_events(tap, archives):
    with tap.test('events of a location that are an empty file, or none: it is said, and its rank is cut'):
        for make in (lambda path: open(path, 'w').close(), os.mkfifo):
            anchor = not_there(archives, 'scorep-late', 1, make)
            data = report_of(anchor)
            states = {row['rank']: row['state'] for row in data['ranks']}
            equal('rank 1', states, {0: 'finalized', 1: 'cut', 2: 'finalized', 3: 'finalized'})
            equal('complete', data['run']['complete'], False)
    with tap.test('a FIFO in place of its definitions'):
        path = anchor[: -len('.otf2')] + '.def'
        os.unlink(path)
        os.mkfifo(path)
        shutil.rmtree(anchor[: -len('.otf2')] + '.fvmpi')
        refused = harness.run([harness.FVMPI, 'report', anchor, '--json', '-'], limit=20).ended(1)
        check('not a regular file' in refused.err, '{}', refused.err)
        error = json.loads(refused.err.splitlines()[-1])['error']  # the note before it is of fvunify
        equal('for programs', (error['code'], error['status']), ('failed', 1))


def many_members(directory):
    """The group of three ranks says that it has 2^31 members."""
    path = os.path.join(directory, 'traces.def')
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    at = data.index(bytes([1, 3, 3, 0x78, 0x56, 0x34]))
    length = next(
        i for i in range(at - 1, at - 40, -1) if data[i] == at + 17 - i - 1
    )  # behind the members: type, paradigm, flags
    data[at : at + 2] = bytes([4, 0, 0, 0, 0x80])
    data[length] += 3
    with open(path, 'wb') as f:
        f.write(data)


# What, with which number, and what is to be said
EXTREMES = (
    ('group', 0, None),
    ('locations', 100000, '100000 locations without a file of events'),
    ('references', 0, '14 events of what is not defined'),
    ('cycle', 0, None),
    ('contexts', 300000, None),
    ('regions', 20000, None),
    ('times', 0, None),
    ('resolution', 0, None),
    ('resolution', 1, None),
    ('clocks', 0, None),
)


def limited():
    """Memory is bounded, whatever an archive says; sanitizers reserve more."""
    return () if os.environ.get('FVMPI_TEST_SANITIZER') else ('bash', '-c', 'ulimit -v 3000000; exec "$@"', '-')


def extremes(tap):
    for what, count, said in EXTREMES:
        with tap.test('to an extreme: {} {}'.format(what, count or '')):
            out = harness.scratch('extremes')
            harness.run([os.path.join(harness.BUILD, 'tests/otf2/extremes'), out, what, str(count)]).ended(0)
            run = analyse(os.path.join(out, 'traces.otf2'), processes=limited(), status=1 if said else 0)
            check(not said or said in run.err, '{}', run.err)
            check(said or ' left ' not in run.err, '{}', run.err)
    with tap.test('parameters of regions are said to be left out'):
        out = harness.scratch('extremes')
        harness.run([os.path.join(harness.BUILD, 'tests/otf2/extremes'), out, 'parameters']).ended(0)
        err = analyse(os.path.join(out, 'traces.otf2')).err
        check('6 parameters of a region; left out' in err, '{}', err)
    with tap.test('functions of MPI as Fortran names them; a function that only looks like one; a file with a colon'):
        out = harness.scratch('extremes')
        harness.run([os.path.join(harness.BUILD, 'tests/otf2/extremes'), out, 'names']).ended(0)
        data = report_of(os.path.join(out, 'traces.otf2'))
        equal('functions', sorted(f['function'] for f in data['mpi_functions']), ['MPI_Recv', 'MPI_Send'])
        equal('of the program', [(f['function'], f['calls']) for f in data['instrumented']], [('mpi_helper', 2)])
        equal('file', {s['path'][0]['file'] for s in data['callsites']}, {'C:/x/main.c'})
    with tap.test('to an extreme: a group that says it has 2^31 members'):
        out = harness.scratch('extremes')
        harness.run([os.path.join(harness.BUILD, 'tests/otf2/extremes'), out, 'group']).ended(0)
        many_members(out)
        run = harness.run([*limited(), FVUNIFY, os.path.join(out, 'traces.otf2')]).ended(1)
        check(run.err.count('\n') == 1 and 'the archive is damaged' in run.err, '{}', run.err)


# What threads do, and for what each waits how many ns: see together.c. Regions by number: 1 barrier, 2 implicit barrier,
# 3 critical section, 4 omp_set_lock, 5 pthread_mutex_lock, 6 pthread_join, 7 task, 8 pthread_cond_wait
TOGETHER = {
    'the last at a barrier': (
        '0 1 fork; 0 2 begin; 1 3 begin; 2 4 begin; 0 100 enter 1; 1 150 enter 1; 2 200 enter 1; 2 201 leave 1; 0 202 leave 1; '
        '1 203 leave 1; 0 300 end; 1 300 end; 2 300 end; 0 301 join',
        {(0, 'omp barrier'): 100, (1, 'omp barrier'): 50},
    ),
    'the last task at a barrier': (
        '0 1 fork; 0 2 begin; 1 3 begin; 0 100 enter 2; 0 110 enter 7; 1 120 enter 2; 0 160 leave 7; 0 160 task; 0 170 leave 2; '
        '1 171 leave 2; 0 300 end; 1 300 end; 0 301 join',
        {(1, 'omp implicit barrier'): 40},
    ),
    'a team again, before all have left': (
        '0 1 fork; 0 2 begin; 1 3 begin; 0 100 enter 2; 1 150 enter 2; 0 151 leave 2; 0 152 end; 0 153 join; 0 154 fork; '
        '0 155 begin; 0 200 enter 2; 1 210 leave 2; 1 220 end; 1 230 begin; 1 270 enter 2; 0 271 leave 2; 1 272 leave 2; '
        '0 300 end; 1 300 end; 0 301 join',
        {(0, 'omp implicit barrier'): 50 + 70},
    ),
    'a team in a team': (
        '0 1 fork; 0 2 begin; 1 3 begin; 1 10 fork; 1 11 begin 1; 2 12 begin 1; 2 50 enter 1; 0 60 enter 2; 1 80 enter 1; '
        '1 81 leave 1; 2 82 leave 1; 1 83 end 1; 2 84 end 1; 1 85 join; 1 100 enter 2; 0 101 leave 2; 1 102 leave 2; '
        '0 300 end; 1 300 end; 0 301 join',
        {(2, 'omp barrier'): 30, (0, 'omp implicit barrier'): 40},
    ),
    'who holds a lock': (
        '0 10 enter 3; 0 10 acquire; 0 50 release; 1 20 enter 3; 1 55 acquire; 1 60 release; 1 60 leave 3; 0 70 leave 3; '
        '0 80 acquire 1; 1 90 enter 5; 0 120 release 1; 1 121 acquire 1; 1 122 leave 5; 1 130 release 1; 0 200 enter 4; '
        '0 201 acquire 0 7; 0 202 leave 4; 0 203 release 0 7; 1 300 enter 4; 1 301 acquire 0 7; 1 302 release 0 7; 1 303 leave 4',
        {(1, 'omp critical'): 30, (1, 'pthread_mutex_lock'): 30},
    ),
    'who signals': (
        '0 10 acquire 1; 0 20 enter 8; 0 21 release 1; 1 60 acquire 1; 1 70 release 1; 0 71 acquire 1; 0 72 leave 8',
        {(0, 'pthread_cond_wait'): 50},
    ),
    'records of OTF2 1.1': (
        '0 10 old-acquire; 1 20 enter 3; 0 50 old-release; 1 55 old-acquire; 1 60 old-release; 1 70 leave 3',
        {(1, 'omp critical'): 30},
    ),
    'a thread that is joined': (
        '0 10 create 4; 3 15 start 4; 0 20 enter 6; 3 90 finish 4; 0 92 wait 4; 0 93 leave 6; 0 100 create 5; 4 101 start 5; '
        '4 110 finish 5; 0 120 enter 6; 0 121 wait 5; 0 122 leave 6',
        {(0, 'pthread_join'): 70},
    ),
}


KINDS = {
    'omp barrier': 'omp_barrier',
    'omp implicit barrier': 'omp_barrier',
    'omp critical': 'omp_lock',
    'pthread_mutex_lock': 'lock_contention',
    'pthread_cond_wait': 'condition',
    'pthread_join': 'thread_join',
}


def together(lines):
    """ns by thread and function."""
    out = harness.scratch('together')
    text = '\n'.join(sorted(lines.split('; '), key=lambda line: int(line.split()[1])))
    program = os.path.join(harness.BUILD, 'tests/otf2/together')
    subprocess.run([program, out], input=text.encode(), check=True, timeout=60)
    run = analyse(os.path.join(out, 'traces.otf2'))
    check(' left ' not in run.err, '{}', run.err)
    return run.data['threads']


def threads_together(tap):
    for what, (lines, wanted) in TOGETHER.items():
        with tap.test('threads: ' + what):
            found = together(lines)
            waits = {}
            for wait in found['waits']:
                waits[wait['function']] = waits.get(wait['function'], 0) + round(1e9 * wait['wait_s'])
            by_function, by_thread = {}, {}
            for (thread, function), ns in wanted.items():
                by_function[function] = by_function.get(function, 0) + ns
                by_thread[thread] = by_thread.get(thread, 0) + ns
            equal('by function', waits, by_function)
            equal(
                'kinds', {KINDS[wait['function']] for wait in found['waits']}, {wait['kind'] for wait in found['waits']}
            )
            rows = {row['thread']: round(1e9 * row['wait_s']) for row in found['ranks'][0]['threads']}
            equal('by thread', {thread: ns for thread, ns in rows.items() if ns}, by_thread)


def places_of_files(tap, archives):
    anchor = archives.anchor('scorep-late')
    with tap.test('by a link to the anchor file'):
        link = os.path.join(harness.scratch('link'), 'link.otf2')
        os.symlink(anchor, link)
        equal('kinds', analyse(link).data['kinds'], analyse(anchor).data['kinds'])
    with tap.test('where nothing can be written: one line'):
        run = harness.run([FVUNIFY, anchor, '-o', os.path.join(anchor, 'sub')]).ended(1)
        check(run.err.count('\n') == 1 and 'name a directory that can be written to with -o' in run.err, '{}', run.err)
    with tap.test('without the analysis'):
        out = harness.scratch('none')
        harness.run([FVUNIFY, '-q', anchor, '--no-analysis', '-o', out]).ended(0)
        equal('analysis', os.path.exists(os.path.join(out, 'analysis.json')), False)
        check('MPI_Send' in harness.run([harness.FVMPI, 'report', out]).ended(0).out, 'a report')
    with tap.test('two archives at once: refused'):
        check('an archive is read alone' in harness.run([FVUNIFY, anchor, anchor]).ended(2).err, 'said')

    with tap.test('what is not for an archive is refused'):
        for options in (['--compress'], ['--no-symbols'], ['--calling-contexts']):
            check(options[0] in harness.run([FVUNIFY, anchor, *options]).ended(2).err, '{}', options)
        check('an archive is read alone' in harness.run([FVUNIFY, harness.scratch(), anchor]).ended(2).err, 'said')
    with tap.test('a directory that is named as an archive is an experiment'):
        directory = os.path.join(harness.scratch(), 'run.otf2')
        os.mkdir(directory)
        err = harness.run([FVUNIFY, directory]).ended(1).err
        check('anchor' not in err and 'rank file' in err, '{}', err)
    with tap.test('who may not read the archive may not read its experiment'):
        copy = os.path.join(harness.scratch('private'), 'a')
        shutil.copytree(os.path.dirname(anchor), copy)
        for mode, readable in ((0o600, 0), (0o644, 0o044)):
            out = harness.scratch('private')
            os.chmod(os.path.join(copy, 'traces.otf2'), mode)
            harness.run(
                ['sh', '-c', 'umask 022; exec "$@"', '-', FVUNIFY, '-q', copy + '/traces.otf2', '-o', out]
            ).ended(0)
            for name in os.listdir(out):
                equal(name, os.stat(os.path.join(out, name)).st_mode & 0o077, readable)
    with tap.test('interrupted: at once, and nothing is made'):
        out = harness.scratch('long')
        harness.run([os.path.join(harness.BUILD, 'tests/otf2/extremes'), out, 'steps', '1500000']).ended(0)
        run = subprocess.Popen([FVUNIFY, out + '/traces.otf2'], stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 30
        while not reads_events(run.pid) and run.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        run.send_signal(signal.SIGINT)
        equal('said', run.communicate(timeout=60)[1].count('interrupted; there is no analysis'), 1)
        equal('status', run.returncode, 1)
        equal('made', os.path.exists(out + '/traces.fvmpi'), False)


def reads_events(pid):
    try:
        return any(os.readlink(f.path).endswith('.evt') for f in os.scandir('/proc/{}/fd'.format(pid)))
    except OSError:
        return False


def both(mpi, program, arguments):
    """An experiment's own analysis, and that of its archive."""
    run = mpi.profile(mpi.build(program), 4, arguments, ['--trace', '--sample=off', '-q']).ended(0)
    harness.run([FVUNIFY, '-q', run.directory]).ended(0)
    with open(os.path.join(run.directory, 'analysis.json')) as f:
        first = json.load(f)
    anchor = os.path.join(run.directory, 'traces.otf2')
    refused = harness.run([FVUNIFY, anchor, '-o', run.directory]).ended(1)
    check('holds another experiment' in refused.err, '{}', refused.err)
    return first, analyse(anchor).data


def by_function(data):
    """Of each function and kind; but for those of which OTF2 has no record: who the neighbours of a topology are, and that
    a probe takes the message."""
    found = {}
    for site in data['callsites']:
        for kind, seconds in site['kinds'].items():
            if not re.match('MPI_(I?[Nn]eighbor|I?[Mm](probe|recv))', site['function'] or ''):
                found[site['function'], kind] = found.get((site['function'], kind), 0) + round(1e9 * seconds)
    return found


def asked(anchor, statement):
    done = harness.run([harness.FVMPI, 'query', anchor, '--json', statement]).ended(0)
    return json.loads(done.out)['rows']


def between(anchor):
    """Of each rank, how often a function followed another one, by what the report says of computing between them."""
    found = {}
    for rank, before, behind, count in asked(
        anchor,
        'SELECT r.rank, a.function, b.function, r.count FROM regions_by_rank r '
        'JOIN callsites a ON a.id = r.from_callsite_id JOIN callsites b ON b.id = r.callsite_id',
    ):
        found[rank, before, behind] = found.get((rank, before, behind), 0) + count
    return found


def followers(anchor):
    """The same by the calls one after the other."""
    found, last = {}, {}
    for rank, function in asked(
        anchor, "SELECT rank, function FROM trace_calls WHERE function LIKE 'MPI~_%' ESCAPE '~' ORDER BY rank, begin_s"
    ):
        if rank in last:
            found[rank, last[rank], function] = found.get((rank, last[rank], function), 0) + 1
        last[rank] = function
    return found


def reported(tap, archives):
    """By fvmpi report, of the archive itself: every number from the figures beside it."""
    for name, figures in sorted(archives.figures.items()):
        with tap.test('{}: a report of it'.format(name)):
            data = report_of(archives.anchor(name))
            functions = {f['function']: f for f in data['mpi_functions']}
            equal('functions', sorted(functions), sorted(figures['functions']))
            for function, (count, seconds) in figures['functions'].items():
                equal(function, functions[function]['count'], count)
                near(function, functions[function]['time']['sum_s'], seconds)
            equal('bytes', sum(p['bytes'] for p in data['matrix']), figures['sent'][1])
            equal('messages', sum(p['messages'] for p in data['matrix']), figures['sent'][0])
            regions = {f['function']: f for f in data['instrumented']}
            for region, (visits, inclusive, exclusive) in figures['regions'].items():
                equal(region, regions[region]['calls'], visits)
                near(region, regions[region]['time_s'], inclusive)
                near(region + ' itself', regions[region]['computing_s'], exclusive)
    with tap.test('between which calls ranks compute: as the calls of the trace follow each other'):
        for name in sorted(archives.figures):
            equal(name, between(archives.anchor(name)), followers(archives.anchor(name)))
    with tap.test('it names the function that makes others wait, and the next step'):
        text = harness.run([harness.FVMPI, 'report', archives.anchor('scorep-late'), '--width', '200']).ended(0).out
        text = ' '.join(text.split())
        check(
            'slow in culprit_p2p() in late.c (mostly nap())' in text and '--table late_procedures' in text,
            '{}',
            text[:1500],
        )
        brief = harness.run([harness.FVMPI, 'report', archives.anchor('scorep-late'), '--brief']).ended(0).out
        check('not in the archive: ' in brief and '(--' not in brief, 'options of a run that was: {}', brief)
        text = harness.run([harness.FVMPI, 'report', archives.anchor('scorep-overlap'), '--width', '200']).ended(0).out
        text = ' '.join(text.split())
        check('computed in state::reaction() in overlap.f90' in text, '{}', text[:1500])
    with tap.test('made once, and again when the archive is newer; two archives are compared'):
        anchor = archives.anchor('scorep-late')
        made = anchor[: -len('.otf2')] + '.fvmpi'
        before = os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns
        harness.run([harness.FVMPI, 'report', anchor]).ended(0)
        equal('made', os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns, before)
        os.utime(anchor)
        harness.run([harness.FVMPI, 'report', anchor]).ended(0)
        check(os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns > before, 'made again')
        os.utime(anchor, (1e9, 1e9))
        before = os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns
        harness.run([harness.FVMPI, 'report', anchor]).ended(0)
        check(os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns > before, 'an older one in its place')
        before = os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns
        harness.run([harness.FVMPI, 'report', anchor]).ended(0)
        equal('the same', os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns, before)
        events = anchor[: -len('.otf2')] + '/' + sorted(os.listdir(anchor[: -len('.otf2')]))[-1]
        os.utime(events)
        harness.run([harness.FVMPI, 'report', anchor]).ended(0)
        check(os.stat(os.path.join(made, 'analysis.json')).st_mtime_ns > before, 'events of another run, same anchor')
        out = harness.run([harness.FVMPI, 'diff', anchor, archives.anchor('scorep-unwind')]).ended(0).out
        check(re.search('elapsed .* s', out) and 'MPI_Send' in out, '{}', out)
    with tap.test('made again after it failed'):
        harness.run(['sh', '-c', 'ulimit -f 1; exec "$0" -q "$1"', FVUNIFY, anchor]).ended(1)
        harness.run([harness.FVMPI, 'report', anchor]).ended(0)
    with tap.test('by several at once'):
        shutil.rmtree(made)
        several = [
            subprocess.Popen(
                [harness.FVMPI, 'report', anchor], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            for _ in range(3)
        ]
        equal('said', [(run.communicate(timeout=60)[1], run.returncode) for run in several], [('', 0)] * 3)
    with tap.test('a recorded run of a program that is named archive stays'):
        out = harness.scratch('recorded')
        for name, text in (('run.json', '{"fvmpi": "1", "command": ["archive"]}'), ('rank-000000.fvr', 'x')):
            with open(os.path.join(out, name), 'w') as f:
                f.write(text)
        refused = harness.run([FVUNIFY, anchor, '-o', out]).ended(1)
        check('holds another experiment' in refused.err, '{}', refused.err)
        equal('files', sorted(os.listdir(out)), ['rank-000000.fvr', 'run.json'])
    with tap.test('beside an archive in a directory that is not ours: in the cache'):
        anchor, cache = archives.anchor('scorep-coll'), harness.scratch('cache')
        shutil.rmtree(anchor[: -len('.otf2')] + '.fvmpi', ignore_errors=True)
        with open(anchor[: -len('.otf2')] + '.fvmpi', 'w'):  # where a file is no directory can be
            pass
        harness.run([harness.FVMPI, 'report', anchor], env={'XDG_CACHE_HOME': cache}).ended(0)
        equal('made', len(os.listdir(os.path.join(cache, 'fvmpi'))), 1)


def of_threads(tap, archives):
    """The report's tables of threads."""
    for name, figures in sorted(archives.figures.items()):
        if 'parallel' not in figures:
            continue
        data = report_of(archives.anchor(name))
        with tap.test('{}: parallel regions'.format(name)):
            phases = {p['path'][0]['function']: p for p in data['phases']}
            equal('regions', sorted(phases), sorted(figures['parallel']))
            for region, (times, elapsed, threads, join) in figures['parallel'].items():
                phase = phases[region]
                equal(region, (phase['kind'], phase['instance_count']), ('omp', times))
                for key, wanted in (('elapsed_s', elapsed), ('thread_s', threads), ('join_s', join)):
                    near(region + ': ' + key, phase[key], wanted)
        with tap.test('{}: locks and barriers'.format(name)):
            found, counts = {}, {}
            for site in (s for lock in data['locks'] for s in lock['sites']):
                construct = site['path'][0]['function']
                found[construct] = found.get(construct, 0) + site['wait_s']
                count, contended = counts.get(construct, (0, 0))
                counts[construct] = [count + site['count'], contended + site['contended_count']]
            for construct, wanted in figures['threads'].items():
                near(construct, found[construct], wanted)
            equal('constructs', sorted({*found} - {WITH_TASKS}), sorted(figures['threads']))
            equal('locks', {c: counts[c] for c in figures['acquired']}, figures['acquired'])
            waits = analyse(archives.anchor(name), '-q').data['threads']['wait_s']
            check(abs(sum(found.values()) - waits) < 1e-6, 'all: {}, by the analysis {}', found, waits)
            check(abs(sum(p['wait_s'] for p in data['phases']) - waits) < 1e-6, 'in regions: {}', data['phases'])
        with tap.test('{}: worksharing'.format(name)):
            works = {w['path'][0]['function']: w for w in data['worksharing']}
            equal('constructs', sorted(works), sorted(figures['works']))
            for construct, (parts, seconds) in figures['works'].items():
                equal(construct, works[construct]['executed'], parts)
                near(construct, works[construct]['time_s'], seconds)


def waits_of(locks):
    """Seconds by what is waited for, how, and where; and operations that waited, of locks that are acquired."""
    found, counts = {}, {}
    for lock, site in ((lock, site) for lock in locks for site in lock['sites'] if site['wait_s']):
        key = lock['kind'], lock['name'], site['operation'], site['path'][0]['function']
        found[key] = found.get(key, 0) + site['wait_s']
        if lock['kind'] in ('mutex', 'rwlock', 'spin'):
            counts[key] = counts.get(key, 0) + site['contended_count'] + site['failed_count']
    return found, counts


def own_threads(tap):
    with tap.test('threads of our own archive: what they wait for, by its name, and where'):
        harness.not_of_a_sanitizer(['--threads'])
        run = threads.record([threads.build('known.c')], '--trace', '--threads=on', '--sample=off').ended(0)
        harness.run([FVUNIFY, '-q', run.directory]).ended(0)
        anchor = os.path.join(run.directory, 'traces.otf2')
        (one, times), (other, again) = (waits_of(report_of(path)['locks']) for path in (run.directory, anchor))
        check(len(one) > 10, '{}', one)  # known.c waits at a dozen places; at others by chance
        alike('waits', other, one)
        alike('times', again, times)
        names = lambda data: {(w['kind'], w['function'], w['lock_name']) for w in data['threads']['waits']}
        with open(os.path.join(run.directory, 'analysis.json')) as f:
            first = json.load(f)
        again = analyse(anchor, '-q').data
        equal('kinds', again['threads']['kinds'], first['threads']['kinds'])
        equal('analysis', sorted(names(again)), sorted(names(first)))


def report_of(path):
    return plainly(harness.valid(harness.run([harness.FVMPI, 'report', path, '--json', '-']).ended(0).out))


def as_recorded(mpi, tap):
    with tap.test('{}: a report of our own archive: what the rank files tell'.format(mpi)):
        run = mpi.profile(mpi.build('waitpaths.c'), 4, ['paths'], ['--trace', '--sample=off', '-q']).ended(0)
        harness.run([FVUNIFY, '-q', run.directory]).ended(0)
        one, other = report_of(run.directory), report_of(os.path.join(run.directory, 'traces.otf2'))
        for key in ('message_sizes', 'size_classes', 'matrix', 'communicators'):
            alike(key, other[key], one[key])
        times, others = one['run']['rank_time'], other['run']['rank_time']
        outside = times['compute_s'] + times['polled_s']
        alike('time outside of MPI', others['compute_s'] + others['polled_s'], outside)
        # without context switches, polling that was interrupted is computing
        check(others['polled_s'] <= times['polled_s'] + 1e-6, '{} of {}', others, times)
        if abs(others['polled_s'] - times['polled_s']) < 1e-6:
            alike('efficiency', other['efficiency'], one['efficiency'])
        sites = lambda data: sorted(
            (
                s['function'],
                [(f['function'], f['line']) for f in s['path']],
                s['count'],
                s['bytes_sent'],
                s['bytes_received'],
                s['time']['sum_s'],
                s['wait_s'],
            )
            for s in data['callsites']
        )
        alike('call sites', sites(other), sites(one))
    with tap.test('{}: grids of communicators, and what is known of the processes'.format(mpi)):
        run = mpi.profile(mpi.build('grid.c'), 3, [], ['--trace', '--sample=off', '-q']).ended(0)
        harness.run([FVUNIFY, '-q', run.directory]).ended(0)
        one, other = report_of(run.directory), report_of(os.path.join(run.directory, 'traces.otf2'))
        grids = lambda data: sorted(
            [(dimension['size'], dimension['periodic']) for dimension in comm['grid']]
            for comm in data['communicators']
            if comm['grid']
        )
        equal('grids', grids(one), [[(3, False)], [(3, True)]])
        equal('of the archive', grids(other), grids(one))
        equal('MPI', other['run']['mpi'], one['run']['mpi'])
        for key in ('pid', 'thread_level'):
            equal(key, [rank[key] for rank in other['ranks']], [rank[key] for rank in one['ranks']])


def alike(what, found, wanted):
    """But for 1 us: rank files have ticks, the archive nanoseconds, and each call is rounded."""
    if isinstance(wanted, float) and isinstance(found, (int, float)):
        check(abs(found - wanted) <= 1e-6 * max(1, abs(wanted)), '{}: {}, wanted {}', what, found, wanted)
    elif isinstance(wanted, dict):
        equal(what, sorted(found), sorted(wanted))
        for key, value in wanted.items():
            alike('{}.{}'.format(what, key), found[key], value)
    elif isinstance(wanted, (list, tuple)):
        equal(what + ', length', len(found), len(wanted))
        for i, value in enumerate(wanted):
            alike('{} {}'.format(what, i), found[i], value)
    else:
        equal(what, found, wanted)


def own(tap, mpi):
    with tap.test('{}: our own archive: what its rank files have'.format(mpi)):
        first, again = both(mpi, 'waitpaths.c', ['paths'])
        for key in ('kinds', 'efficiency', 'critical_path', 'unexplained_s', 'unmatched'):
            equal(key, again[key], first[key])
        for key in ('elapsed_s', 'ranks'):
            equal(key, again['run'][key], first['run'][key])
        drop = ('process', 'traced_calls')
        for one, other in zip(first['ranks'], again['ranks']):
            equal(
                'rank',
                {k: v for k, v in other.items() if k not in drop},
                {k: v for k, v in one.items() if k not in drop},
            )
    with tap.test('{}: also of all kinds of waiting'.format(mpi)):
        first, again = both(mpi, 'waitstates.c', ['waits', os.path.join(harness.scratch(), 'f')])
        equal('waits', by_function(again), by_function(first))


def main():
    tap = harness.Tap()
    harness.patiently()
    if not os.path.exists(FVUNIFY + '-serial'):
        with tap.test('archives of other tools'):
            raise harness.Skip('OTF2 was not found; install the package libotf2-trace-dev')
        tap.done()
    archives = Archives()
    for name, figures in sorted(archives.figures.items()):
        with tap.test('{}: waiting and calls as others counted them'.format(name)):
            anchor = archives.anchor(name)
            before = digest(anchor)
            known(name, figures, analyse(anchor, '-q').data)
            equal('files', digest(anchor), before)
    without_events(tap, archives)
    with tap.test('who is late: the function, from regions that others instrumented'):
        late = places(analyse(archives.anchor('scorep-late'), '-q').data, 'delay_s')
        inner = sorted((f for f in late if f not in ('main', 'nap')), key=late.get, reverse=True)  # others call nap()
        equal('order', inner[:2], ['culprit_p2p', 'culprit_coll'])
        check(abs(late['culprit_p2p'] + late['culprit_coll'] - late['nap']) < 0.002, '{}', late)
    with tap.test('threads: kinds, who waits, and for whom'):
        found = analyse(archives.anchor('scorep-omp'), '-q').data['threads']
        equal('kinds', [k['kind'] for k in found['kinds']], ['omp_lock', 'omp_barrier'])
        said = harness.run([harness.FVMPI, 'report', archives.anchor('scorep-omp')]).ended(0).out
        check(
            said.startswith('elapsed') and 'waiting (exact)' not in said and 'POP metrics' not in said,
            'MPI of a program without: {}',
            said,
        )
        rows = found['ranks'][0]['threads']
        check(
            rows[3]['caused_s'] == max(row['caused_s'] for row in rows), '{}', rows
        )  # its part of the loop is largest
        last = rows[0]['wait_s'] + rows[1]['wait_s'] + rows[2]['wait_s'] + rows[3]['wait_s']
        check(abs(last - sum(row['caused_s'] for row in rows)) < 1e-6, '{}', rows)
    with tap.test('messages that came before they were sent: clocks were not in step, and nothing is exact'):
        for name, early in (('scorep-unwind', 10), ('scorep-late', 0)):
            equal(name, analyse(archives.anchor(name), '-q').data['unmatched']['early'], early)
            text = harness.run([harness.FVMPI, 'report', archives.anchor(name), '--width', '200']).ended(0).out
            equal(name + ': exact', 'is waiting (exact)' in text, not early)
            said = '10 messages came before they were sent: clocks differ'
            equal(name + ': why', said in ' '.join(text.split()), bool(early))
    with tap.test('communication that does not move: no progress'):
        for name in ('scorep-overlap', 'scorep-metrics'):
            check(waits(analyse(archives.anchor(name), '-q').data)['no_progress'] > 0.3, '{}', name)
        said = report_of(archives.anchor('scorep-overlap'))
        evidence = [f['evidence'] for f in said['findings'] if f['name'] == 'no_progress']
        equal('also where the regions are instrumented', evidence, ['estimate'])
    with tap.test('beside the archive, unless said'):
        anchor = archives.anchor('scorep-late')
        harness.run([FVUNIFY, '-q', anchor]).ended(0)
        made = anchor[: -len('.otf2')] + '.fvmpi'
        equal(
            'files',
            sorted(os.listdir(made)),
            ['analysis.json'] + ['rank-00000%d.fvr' % i for i in range(4)] + ['run.json'],
        )
        harness.run([FVUNIFY, '-q', anchor]).ended(0)  # its own is made anew
        run = harness.run([FVUNIFY, '-q', anchor, '-o', os.path.dirname(archives.anchor('scorep-rma'))]).ended(0)
    oddities(tap, archives)
    lines(tap, archives)
    ends(tap, archives)
    reported(tap, archives)
    of_threads(tap, archives)
    own_threads(tap)
    extremes(tap)
    threads_together(tap)
    places_of_files(tap, archives)
    for mpi in harness.an_mpi(tap):
        with tap.test('{}: several processes say once what is wrong'.format(mpi)):
            run = harness.run([*mpi.command(2, []), FVUNIFY, '/none.otf2']).ended(1)
            equal('lines', run.err.count('/none.otf2'), 1)
        with tap.test('{}: the same from 2 and 3 processes'.format(mpi)):
            names = ('scorep-hybrid', 'eztrace-late', 'scorep-late', 'scorep-coll', 'scorep-rma')
            for name in names if harness.all_cases() else names[:2]:
                one = analyse(archives.anchor(name), '-q').data
                for count in (2, 3) if harness.all_cases() else (3,):
                    other = analyse(archives.anchor(name), '-q', processes=mpi.command(count, [])).data
                    one['merge'] = other['merge'] = None
                    equal('{} from {}'.format(name, count), other, one)
        own(tap, mpi)
        as_recorded(mpi, tap)
    tap.done()


main()
