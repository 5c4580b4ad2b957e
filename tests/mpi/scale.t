#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvunify at a size: programs that nobody here wrote on 4 ranks (with FVMPI_TEST_LONG HPCC, too), 16 ranks of a small one (with
FVMPI_TEST_LONG 64 and 256, of each MPI), merged by one process and by two into the same archive, which the strict checker,
python3-otf2 and ViTE read. What they find is what the report says. ViTE's picture stays in the build directory,
tests/programs/vite.png."""
import collections
import hashlib
import os
import re
import shutil
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from analysis_json import Analysis
from harness import Skip
from report import check, equal

UNIFY = os.path.join(harness.BUILD, 'fvunify')
LONG = os.environ.get('FVMPI_TEST_LONG')  # ./dev statistics
PER_RANK = 58  # calls of scale.c
PICTURE = os.path.join(harness.BUILD, 'tests', 'programs', 'vite.png')


def needs(binary, mpis, library):
    path = shutil.which(binary)
    if not path:
        raise Skip('no ' + binary)
    linked = harness.run(['ldd', path]).out
    for mpi in mpis:
        if library in linked and ('libmpich' in linked) == (str(mpi) == 'mpich'):
            return path, mpi
    raise Skip('the MPI of {} is not here'.format(binary))


def digest(directory):
    """Of all that otf2-print says."""
    archive = os.path.join(directory, 'traces.otf2')
    texts = [harness.run(['otf2-print'] + options + [archive]).ended(0).out for options in ([], ['-G'])]
    return hashlib.sha1(''.join(texts).encode()).hexdigest()


def merged(directory, mpi):
    """By one process and by two: the archive of one."""
    lone, pair = harness.scratch('one'), harness.scratch('two')
    said = harness.run([UNIFY, directory, '-o', lone]).ended(0).err
    harness.run(mpi.command(2, [UNIFY, directory, '-o', pair, '-q'])).ended(0)
    if shutil.which('otf2-print'):
        equal('the archive of two processes', digest(pair), digest(lone))
    strict = harness.run([harness.FVMPI, 'check', '--strict', os.path.join(lone, 'traces.otf2')])
    check(strict.rc == 0, 'fvmpi check --strict:\n{}{}', strict.out[-2000:], strict.err[-500:])
    return lone, int(re.search(r', (\d+) calls', said).group(1))


def calls_of(report):
    """Of each rank, by function."""
    counts = collections.defaultdict(collections.Counter)
    for site in report.sites:
        for rank, row in site.by_rank.items():
            counts[rank][site.function] += row['count']
    return counts


def read(directory, wanted):
    """As python3-otf2 sees it: calls nest, are those of the report, and no message is one-sided."""
    text = harness.otf2_events(directory)
    calls, open_calls, last = collections.defaultdict(collections.Counter), collections.defaultdict(list), {}
    messages = {'send': collections.Counter(), 'receive': collections.Counter()}
    for line in text.splitlines():
        what, time_ns, rank, thread, rest = line.split(' ', 4)
        rank, place = int(rank), (rank, thread)
        check(int(time_ns) >= last.get(place, 0), 'time goes back: {}', line)
        last[place] = int(time_ns)
        if what == 'enter':
            calls[rank][rest] += 1
            open_calls[place].append(rest)
        elif what == 'leave':
            check(open_calls[place][-1:] == [rest], 'leaves what was not entered: {}', line)
            open_calls[place].pop()
        elif what in messages:
            comm, _, tag, size = rest.split()
            messages[what][comm, tag] += 1
            messages[what][comm, 'bytes'] += int(size)
    equal('calls never left', [place for place, names in open_calls.items() if names], [])
    equal('calls', calls, wanted)
    equal('messages and bytes, by communicator and tag', messages['receive'], messages['send'])
    return sum(n for key, n in messages['send'].items() if key[1] != 'bytes')


def program(tap, mpis, binary, arguments=(), data=None):
    recorded = None
    with tap.test('{} on 4 ranks'.format(binary)):
        path, mpi = needs(binary, mpis, 'libmpi')
        cwd = harness.scratch('cwd')
        if data:
            shutil.copy(os.path.join(harness.PROGRAMS, data), cwd)
        run = mpi.profile(path, 4, arguments, ['--trace'], cwd=cwd).ended(0)
        directory, calls = merged(run.directory, mpi)
        wanted = calls_of(run.report())
        equal('calls', calls, sum(sum(counts.values()) for counts in wanted.values()))
        check(read(directory, wanted) > 1000, 'few messages')
        found = Analysis(directory)
        found.sums()
        equal('not matched', found.data['unmatched'], dict.fromkeys(found.data['unmatched'], 0))
        recorded = run.directory
    return recorded


def many(tap, mpi, ranks):
    with tap.test('{}: {} ranks'.format(mpi, ranks)):
        begin = time.time()
        run = mpi.profile(mpi.build('scale.c'), ranks, (), ['--trace'], limit=600).ended(0)
        ran = time.time()
        directory, calls = merged(run.directory, mpi)
        equal('calls', calls, PER_RANK * ranks)
        print(
            '# {} ranks: {:.1f} s to run, {:.1f} s to merge twice and check'.format(
                ranks, ran - begin, time.time() - ran
            )
        )
        equal('messages', read(directory, calls_of(run.report())), 20 * ranks)


def vite(tap, recorded):
    """Without samples, whose metric it draws with lines, too; of boxes: tests/otf2/viewers.t."""
    with tap.test('ViTE draws each message'):
        if not shutil.which('vite'):
            raise Skip('no vite; package vite')
        if not recorded:
            raise Skip('no trace of LAMMPS')
        where, archive = harness.scratch('vite'), harness.scratch('archive')
        harness.run([UNIFY, recorded, '-o', archive, '-q', '--no-samples', '--no-analysis']).ended(0)
        env = {'XDG_RUNTIME_DIR': where, 'HOME': where}
        os.chmod(where, 0o700)
        run = harness.run(
            ['vite', os.path.join(archive, 'traces.otf2'), '-e', os.path.join(where, 'trace.svg')],
            dict(env, QT_QPA_PLATFORM='offscreen'),
        ).ended(0)
        text = run.out + run.err
        check('0 errors and 0 warnings were found during parsing' in text, 'ViTE says:\n{}', text[-1500:])
        with open(os.path.join(where, 'trace.svg')) as f:
            drawn = len(re.findall('<line ', f.read()))
        if harness.otf2_python():
            equal('arrows', drawn, len(re.findall('^send ', harness.otf2_events(archive), re.M)))
        check(drawn > 1000, '{} arrows', drawn)
        picture(env, archive)


def picture(env, archive):
    """What a user sees; kept."""
    screen = ['xvfb-run', '-a', '-s', '-screen 0 1280x800x24']
    if not shutil.which('import') or not shutil.which('Xvfb') or not shutil.which('xvfb-run'):
        print('# no screenshot: no import or Xvfb; packages imagemagick and xvfb')
        return
    os.makedirs(os.path.dirname(PICTURE), exist_ok=True)
    script = 'vite "$1" & viewer=$!; sleep 3; import -window root "$2"; kill $viewer; wait $viewer; exit 0'
    harness.run(screen + ['sh', '-c', script, 'sh', os.path.join(archive, 'traces.otf2'), PICTURE], env).ended(0)
    with open(PICTURE, 'rb') as f:
        check(f.read(4) == b'\x89PNG', 'no picture')
    colours = harness.run(['identify', '-format', '%k', PICTURE]).ended(0).out
    check(int(colours) > 50, 'an empty window: {} colours', colours)
    print('# screenshot: ' + PICTURE)


def main():
    tap = harness.Tap()
    harness.patiently()
    if not os.path.exists(UNIFY + '-serial'):
        with tap.test('fvunify'):
            raise Skip('built without OTF2')
        tap.done()
    mpis = list(harness.mpis(tap))
    melt = program(tap, mpis, 'lmp', ['-in', os.path.join(harness.PROGRAMS, 'melt.in'), '-log', 'none'])
    if LONG:
        program(tap, mpis, 'hpcc', data='hpccinf.txt')
    for mpi in mpis if LONG else mpis[-1:]:  # Open MPI's ranks leave the processors to others
        for ranks in (64, 256) if LONG else (16,):
            many(tap, mpi, ranks)
    vite(tap, melt)
    tap.done()


main()
