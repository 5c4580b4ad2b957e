#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi report --html: pages of runs of before (tests/replay) and of one with hostile names, in a browser without a
screen (drive.mjs). The first screen says what the report's JSON says, the tables have the values of its CSV, heads
sort, searches search, and what is selected in one table is in all; nothing is asked of a network, nothing is said to be
wrong, and axe-core finds nothing against it, light, dark or narrow. Pages of several runs say what their JSON says.
Screenshots stay in the build's folder page/."""
import base64
import json
import os
import re
import shutil
import sys
import tarfile
import xml.etree.ElementTree
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

BROWSER = os.environ.get('CHROMIUM', '/usr/bin/chromium')
REPLAY = os.path.join(os.path.dirname(HERE), 'replay')
PAGES = ('hang', 'killed', 'openmpi', 'samples', 'threads')
WHOLE = ('threads', 'samples')  # of which all tables and pictures are looked at
LONG = os.environ.get('FVMPI_TEST_LONG')  # ./dev statistics
HOSTILE = '<img src=x onerror=alert(1)></script><script>alert(2)</script>\u00e4\u2028" & \''


def experiments(folder):
    for name in PAGES:
        with tarfile.open(os.path.join(REPLAY, name + '.tar.xz')) as archive:
            archive.extractall(folder, filter='data') if hasattr(tarfile, 'data_filter') else archive.extractall(folder)
    return list(PAGES)


def hostile(folder):
    directory = os.path.join(folder, 'hostile')
    program = os.path.join(harness.scratch(), '<b>x&')
    shutil.copy('/bin/echo', program)
    harness.run([harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial', program, HOSTILE]).ended(0)
    return 'hostile'


def instrumented(folder):
    """A flame graph of functions that the compiler instrumented, and sensors of the machine meanwhile."""
    program, directory = os.path.join(harness.scratch(), 'known'), os.path.join(folder, 'functions')
    harness.run(
        [
            'cc',
            '-O2',
            '-g',
            '-finstrument-functions',
            '-pthread',
            '-DALONE',
            os.path.join(os.path.dirname(HERE), 'functions', 'known.c'),
            '-o',
            program,
        ]
    ).ended(0)
    for _ in range(3):  # beside other tests a short run may have had no second sample
        shutil.rmtree(directory, ignore_errors=True)
        harness.run(
            [
                harness.FVMPI,
                'run',
                '-q',
                '--functions',
                '--sensors',
                'default',
                '--sensors-hz',
                '100',
                '-o',
                directory,
                '--mpi',
                'serial',
                program,
            ],
            directory=directory,
        ).ended(0)
        if sum(row['intervals'] > 0 for row in harness.report_of(directory).data['sensors']) > 1:
            break
    return write(folder, ['report', directory], page_of('functions', csv=True, calls=True, sensors=True))


def page_of(name, csv=False, **more):
    """What drive.mjs looks at: with csv, all tables are compared with those."""
    return dict(
        {'name': name, 'html': name + '.html', 'json': name + '.json', 'csv': name + '.csv' if csv else None}, **more
    )


def write(folder, command, page):
    files = ['--html', page['html'], '--json', page['json']] + (['--csv', page['csv']] if page['csv'] else [])
    harness.run([harness.FVMPI] + command + files, cwd=folder).ended(0)
    return page


def several(folder, mpi):
    """One program on one rank and on two: a study, two sides, and the lines of its source file."""
    program = mpi.build('scaling.c', '-g')
    runs = [mpi.profile(program, ranks, ['20', '20', '0']).ended(0).directory for ranks in (1, 2)]
    return [
        write(folder, ['scaling', '--strong'] + runs, page_of('study', csv=True)),
        write(folder, ['diff'] + runs, page_of('sides', csv=True)),
        write(folder, ['report', runs[1]], page_of('source', lines=True)),
    ], runs[1]


def threaded(folder):
    """A program on one thread and on two, also one at a time, with parts of the cache by a resctrl that is made of
    files; and copies of it."""
    program, root, runs = (
        os.path.join(harness.scratch(), 'speedup'),
        harness.scratch('resctrl'),
        os.path.join(harness.scratch('stacks'), 'runs'),
    )
    harness.run(
        ['cc', '-O1', '-g', '-fopenmp', os.path.join(os.path.dirname(HERE), 'threads', 'speedup.c'), '-o', program]
    ).ended(0)
    os.makedirs(root + '/sys/fs/resctrl')
    with open(root + '/sys/fs/resctrl/schemata', 'w') as f:
        f.write('L3:0=ffff\n')
    harness.run(
        [harness.FVMPI, 'run', '-q', '--solo=curve', '--stacks=2', '--mpi', 'serial', '-o', runs, program],
        env={'FVMPI_SENSORS_ROOT': root},
        limit=120,
    ).ended(0)
    copies = runs + '-copies'
    harness.run(
        [harness.FVMPI, 'run', '-q', '--throughput=2,3', '-o', copies, program],
        env={'FVMPI_SENSORS_ROOT': root, 'OMP_NUM_THREADS': '1'},
        limit=120,
    ).ended(0)
    return [
        write(
            folder,
            ['stacks'] + [os.path.join(of, name) for name in sorted(os.listdir(of))],
            page_of(name_of_page, csv=True),
        )
        for of, name_of_page in ((runs, 'stacks'), (copies, 'copies'))
    ]


def traced(folder, mpi):
    """Of a small program each call and each message (58 and 20 of each rank) stands in the timeline."""
    run = mpi.profile(mpi.build('scale.c'), 4, [], ['--trace']).ended(0)
    return write(folder, ['report', run.directory], page_of('traced', trace={'calls': 58, 'messages': 20}))


def many(folder, mpi):
    """Calls that the page has no room for."""
    source = os.path.join(HERE, 'many.c')
    run = mpi.profile(mpi.build(source, output='many'), 2, [], ['--trace']).ended(0)
    return write(folder, ['report', run.directory, '--html-max', '1M'], page_of('many', many=True))


def layered(folder, mpi):
    """Of each rank all that layers.c does stands in a lane of its own."""
    source, files = os.path.join(HERE, 'layers.c'), harness.scratch('files')
    program = mpi.build(source, '-g', '-fopenmp', '-finstrument-functions', output='layers')
    outputs = [os.path.join(files, str(rank)) for rank in range(2)]
    options = ['--trace', '--functions', '--threads', '--io', '--memory=calls']
    run = mpi.profile(program, 2, outputs, options).ended(0)
    return write(folder, ['report', run.directory], page_of('layers', layers={'files': outputs, 'steps': 5}))


def sampled(folder, mpi):
    """Rank 1 is longer in react(): its samples stand below its calls, and rank 0's calls wait for it."""
    planted = os.path.join(os.path.dirname(HERE), 'planted', 'planted.c')
    run = mpi.profile(mpi.build(planted, '-O2', '-g'), 2, ['imbalance'], ['--trace']).ended(0)
    unify, wait_s = os.path.join(harness.BUILD, 'fvunify'), None
    if os.path.exists(unify):  # without OTF2 there is none
        harness.run([unify, run.directory]).ended(0)
        wait_s = next(rank['wait_s'] for rank in harness.report_of(run.directory).data['ranks'] if rank['rank'] == 0)
    return write(
        folder,
        ['report', run.directory],
        page_of('sampled', samples={'own': 'compute', 'through': 'react', 'wait_s': wait_s}),
    ), of_function(folder, run.directory)


def repeated(folder, mpi):
    """A loop whose every 50th iteration is longer, and one that is not known."""
    source = os.path.join(os.path.dirname(HERE), 'planted', 'iterations.c')
    program = mpi.build(source, '-O2', '-g', output='page_iterations')
    run = mpi.profile(program, 2, ['every'], ['--trace']).ended(0)
    messages = mpi.profile(program, 2, ['naps']).ended(0)
    return (
        write(folder, ['report', run.directory], page_of('iterations', csv=True, iterations=True)),
        write(folder, ['report', messages.directory], page_of('messages', unknown=True)),
    )


def looked_at(folder, mpi):
    """A run that hangs, that somebody looked at, and that was killed: the tree is the text's."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    process = harness.start(
        mpi.command(2, mpi.profiled([mpi.build('where.c'), 'order'], directory)),
        env={'LD_PRELOAD': harness.SANITIZER},  # not patient: who sleeps is not interrupted
    )

    def has_come():
        run = harness.run([harness.FVMPI, 'where', directory, '--interval', '0.05', '--json', '-'])
        answer = json.loads(run.out) if run.rc == 0 else None
        return answer and answer['hang']['mismatches'] and answer['looks']['places'][0]['function'].startswith('MPI_')

    try:
        harness.wait_until(has_come, what='the hang', pause=0.3, limit=60)
    finally:
        harness.kill_all(process.number)
        harness.finish(process, 60)
    text = harness.run([harness.FVMPI, 'report', directory, '--width', '900', '--all']).ended(0).out
    branches = text[text.index('Where everybody is') :].split('\n\n')[1].split('\n')[1:]
    return write(folder, ['report', directory], page_of('where', csv=True, where=[line[2:] for line in branches]))


def of_function(folder, directory):
    """The page of one function, beside what the same command writes as JSON."""
    page = page_of('function', function='react')
    return write(folder, ['report', directory, '--function', 'react'], page)


def programs(tap, folder):
    """Pages of programs that nobody here wrote, and of ranks with threads: traced, with all that samples tell."""
    mpis, pages = list(harness.mpis(tap, quiet=True)), []
    for binary, ranks, arguments in (
        ('lmp', 4, ['-in', os.path.join(harness.PROGRAMS, 'melt.in'), '-log', 'none']),
        ('hpcc', 2, []),
    ):
        with tap.test('a run of ' + binary):
            program, mpi = harness.packaged(binary, mpis)
            cwd = harness.scratch('cwd')
            shutil.copy(os.path.join(harness.PROGRAMS, 'hpccinf.txt'), cwd)
            run = mpi.profile(program, ranks, arguments, ['--trace', '--sample'], cwd=cwd).ended(0)
            pages.append(write(folder, ['report', run.directory], page_of(binary, csv=True)))
    hybrid = os.path.join(os.path.dirname(HERE), 'planted', 'hybrid.c')
    run = (
        mpis[0]
        .profile(
            mpis[0].build(hybrid, '-O2', '-g', '-fopenmp', output='planted_hybrid'),
            2,
            [],
            ['--trace', '--sample', '--threads'],
        )
        .ended(0)
    )
    pages.append(write(folder, ['report', run.directory], page_of('hybrid', csv=True)))
    team = os.path.join(os.path.dirname(HERE), 'planted', 'omp.c')
    run = (
        mpis[0]
        .profile(
            mpis[0].build(team, '-O2', '-g', '-fopenmp', output='planted_omp'),
            1,
            [],
            ['--trace', '--sample=400'],
            env={'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'active', 'GOMP_SPINCOUNT': 'infinite'},
        )
        .ended(0)
    )  # a worker that waits is met by samples
    return pages + [write(folder, ['report', run.directory], page_of('team', threads=True))]


def texts_of(file):
    with open(file) as f:
        pieces = re.findall(r'class="data">([^<]*)<', f.read())
    return zlib.decompress(b''.join(map(base64.b64decode, pieces)), 31).decode()


def without_source(folder, directory):
    """The lines are in no page that is to be without them."""
    file, line = os.path.join(folder, 'without.html'), 'sleep_ms(atof(argv[2]))'
    harness.run([harness.FVMPI, 'report', directory, '--html', file, '--no-source']).ended(0)
    equal(
        'with and without',
        (line in texts_of(os.path.join(folder, 'source.html')), line in texts_of(file)),
        (True, False),
    )
    done = harness.run([harness.FVMPI, 'report', directory, '--no-source']).ended(2)
    check('it goes with --html' in done.err, '{}', done.err)


def other_files(folder, mpi):
    """Debug information may name any file; what is no source file by its name is not given away."""
    source, program = os.path.join(folder, 'other.c'), os.path.join(folder, 'other')
    with open(source, 'w') as f:
        f.write(
            '#include <mpi.h>\nint main(int argc, char **argv) {\n#line 1 "/etc/passwd"\n    MPI_Init(&argc, &argv);\n    MPI_Finalize();\n    return 0;\n}\n'
        )
    harness.run([mpi.cc, '-g', source, '-o', program]).ended(0)
    directory, page = mpi.profile(program, 1).ended(0).directory, os.path.join(folder, 'other.html')
    harness.run([harness.FVMPI, 'report', directory, '--html', page]).ended(0)
    with open('/etc/passwd') as f:
        check(f.readline().strip() not in texts_of(page), '/etc/passwd stands in the page')
    check('"name":"/etc/passwd","why":"it is no source file by its name"' in texts_of(page), 'it is not told')


def badge(directory):
    """It is XML, and says what the report's JSON says."""
    svg = harness.run([harness.FVMPI, 'report', directory, '--badge', '-']).ended(0).out
    parallel = harness.report_of(directory).data['efficiency']['parallel']
    texts = [of.text for of in xml.etree.ElementTree.fromstring(svg).iter('{http://www.w3.org/2000/svg}text')]
    equal('badge', texts, ['parallel efficiency', '{:.1f} %'.format(100 * parallel)])


def made(folder, name, ranks, paths, *options):
    """A page of made rank files: so many ranks, each with so many call paths."""
    directory = os.path.join(folder, name)
    harness.run(
        [os.path.join(harness.BUILD, 'tests', 'bench', 'report_bench'), str(ranks), str(paths), directory]
    ).ended(0)
    page = write(folder, ['report', directory, '--no-symbols'] + list(options), page_of(name, large=True))
    shutil.rmtree(directory)
    return page


def within(tap, folder, page, most):
    with tap.test('{}: no larger than it may be'.format(page['name'])):
        size = os.path.getsize(os.path.join(folder, page['html']))
        check(size <= most, '{} bytes of {}', size, most)


def main():
    tap = harness.Tap()
    harness.patiently()
    if not (shutil.which('node') and os.path.exists(BROWSER) and os.path.isdir(os.path.join(HERE, 'node_modules'))):
        with tap.test('pages'):
            raise harness.Skip('no node, no chromium, or nothing that drives it: ./dev deps installs them')
        return tap.done()
    folder, pages = harness.scratch('page'), []
    for name in experiments(folder) + [hostile(folder)]:
        pages.append(
            write(folder, ['report', os.path.join(folder, name)], page_of(name, csv=name in WHOLE, whole=name in WHOLE))
        )
    mpi = next(harness.mpis(tap, quiet=True))
    more, directory = several(folder, mpi)
    pages += more + [
        *threaded(folder),
        traced(folder, mpi),
        many(folder, mpi),
        *sampled(folder, mpi),
        instrumented(folder),
        *repeated(folder, mpi),
        looked_at(folder, mpi),
    ]
    with tap.test('a run with all layers'):
        pages.append(layered(folder, mpi))
    if LONG:
        pages += programs(tap, folder)
    with tap.test('without source lines'):
        without_source(folder, directory)
    with tap.test('files that are no source files'):
        other_files(folder, mpi)
    with tap.test('a badge'):
        badge(directory)
    large = [(made(folder, 'cut', 64, 1500, '--html-max', '1M'), 1 << 20), (made(folder, 'wide', 1024, 6), 20 << 20)]
    if LONG:
        large += [(made(folder, 'paths', 64, 10000), 20 << 20), (made(folder, 'ranks', 4096, 10), 20 << 20)]
    for page, most in large:
        within(tap, folder, page, most)
        pages.append(page)
    with open(os.path.join(folder, 'pages.json'), 'w') as f:
        json.dump(pages, f)
    run = harness.run(['node', os.path.join(HERE, 'drive.mjs'), folder], limit=900)  # each step has a limit of its own
    seen = [json.loads(line) for line in run.out.splitlines()]
    for row in seen:
        with tap.test('{}: {}'.format(row['page'], row['check'])):
            check(not row['wrong'], '{}', row['wrong'])
    with tap.test('all pages were looked at'):
        equal('exit status, {}'.format(run.err), run.rc, 0)
        equal(
            'pages', [row['page'] for row in seen if row['check'] == 'nothing wrong'], [page['name'] for page in pages]
        )
    shots = os.path.join(harness.BUILD, 'page')
    os.makedirs(shots, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith('.png'):
            shutil.copy(os.path.join(folder, name), shots)
    tap.done()


main()
