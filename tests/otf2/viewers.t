#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: programs that read archives are not instrumented.
# Not under AddressSanitizer: programs that read archives are not instrumented.
"""Archives in free viewers: ViTE draws the regions, with samples of the CPU clock as without; otf2-print warns of
nothing, whatever was recorded."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from harness import Skip
from report import check, equal

FORMS = {'by default': [], 'without samples': ['--no-samples'], 'with calling contexts': ['--calling-contexts']}
PIXELS = 640  # that ViTE gives to the time line


def record(mpi, options, arguments=()):
    program = os.path.join(harness.scratch('program'), 'viewers')
    harness.run(
        [
            mpi.cc,
            '-O1',
            '-g',
            '-D_GNU_SOURCE',
            '-I',
            harness.INCLUDE,
            os.path.join(HERE, 'viewers.c'),
            '-o',
            program,
            '-lpthread',
        ]
    ).ended(0)
    return mpi.profile(program, 2, arguments, options=['--trace', '-q'] + options).ended(0).directory


def compressed(tap, directory):
    with tap.test('--compress: smaller and the same, or the OTF2 library cannot, and it is said'):
        archives, sizes = [], []
        for options in ([], ['--compress']):
            out = os.path.join(harness.scratch('otf2'), 'a')
            run = harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', *options, directory, '-o', out]).ended(0)
            archives.append(otf2_print.events(os.path.join(out, 'traces.otf2')))
            folder = os.path.join(out, 'traces')
            sizes.append(sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)))
        check(archives[0] and archives[0] == archives[1], 'other events')
        config = shutil.which('otf2-config')
        if not config:
            raise Skip('no otf2-config')
        can = 'zlib' in harness.run([config, '--features', 'compressions']).out.lower()
        equal('said', run.err.count('fvmpi: --compress: OTF2'), 0 if can else 1)
        check(sizes[1] < sizes[0] if can else sizes[1] == sizes[0], '{} bytes', sizes)


def boxes(archive):
    """That ViTE draws in its time line."""
    where = harness.scratch('vite')
    os.chmod(where, 0o700)
    picture = os.path.join(where, 'trace.svg')
    run = harness.run(
        ['vite', archive, '-e', picture], {'QT_QPA_PLATFORM': 'offscreen', 'XDG_RUNTIME_DIR': where, 'HOME': where}
    ).ended(0)
    check(
        '0 errors and 0 warnings were found during parsing' in run.out + run.err,
        'ViTE says:\n{}',
        (run.out + run.err)[-1500:],
    )
    with open(picture) as f:
        return sum(group.count('<rect ') for group in re.findall('<g clip-path[^>]*>(.*?)</g>', f.read(), re.S))


def regions(archive):
    """How long each was; none is in another."""
    lengths, entered, times = [], {}, []
    for e in otf2_print.events(archive):
        times.append(e.time)
        if e.kind == 'ENTER':
            check(e.location not in entered, 'a region in a region')
            entered[e.location] = e.time
        elif e.kind == 'LEAVE':
            lengths.append(e.time - entered.pop(e.location))
    return lengths, max(times) - min(times)


def drawn(tap, directory):
    with tap.test('ViTE draws each region that is wide enough, with samples as without'):
        if not shutil.which('vite'):
            raise Skip('no vite; package vite')
        paths = {form: otf2_print.merge(directory, *FORMS[form]) for form in FORMS}
        lengths, whole = regions(paths['by default'])
        wide = [length for length in lengths if length * PIXELS > 2 * whole]
        check(len(wide) >= 6 + 2, 'few regions: {}', lengths)
        said = {form: boxes(path) for form, path in paths.items()}
        print('# {} regions, {} of 2 pixels and more; boxes {}'.format(len(lengths), len(wide), said))
        check(len(wide) <= said['by default'] <= len(lengths), '{} boxes', said)
        equal('boxes without samples', said['without samples'], said['by default'])
        events = [e.kind for e in otf2_print.events(paths['by default'])]
        check(
            events.count('METRIC') > 5 and 'CALLING_CONTEXT_SAMPLE' not in events, 'samples: {}', events.count('METRIC')
        )


def warned_of_nothing(archive):
    for options in ([], ['-G']):
        run = harness.run(['otf2-print'] + options + [archive]).ended(0)
        equal('otf2-print says', re.findall('.*warning.*', run.err), [])


def printed(tap, mpi, directory):
    kinds = {
        'calls': lambda: directory,
        'threads, files, memory, sensors, counters, sections': lambda: record(
            mpi, ['--threads', '--io', '--memory=calls', '--sensors', 'default', '--counters', 'software'], ['all']
        ),
        'calls without samples': lambda: record(mpi, ['--sample=off']),
    }
    for kind, make in kinds.items():
        with tap.test('otf2-print warns of nothing: ' + kind):
            recorded = make()
            for options in FORMS.values():
                warned_of_nothing(otf2_print.merge(recorded, *options, warnings=None))
    generator = os.path.join(harness.BUILD, 'tests/bench/trace_gen')
    with tap.test('otf2-print warns of nothing: no call paths'):
        made = harness.scratch('made')
        harness.run([generator, made, '2', '100']).ended(0)
        warned_of_nothing(otf2_print.merge(made))


def main():
    tap = harness.Tap()
    harness.patiently()
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')):
        with tap.test('viewers'):
            raise Skip('built without OTF2')
        tap.done()
    for mpi in harness.an_mpi(tap):
        directory = record(mpi, [])
        drawn(tap, directory)
        printed(tap, mpi, directory)
        compressed(tap, directory)
    tap.done()


if __name__ == '__main__':
    main()
