#!/usr/bin/env python3
"""fvmpi report --html: pages of runs of before (tests/replay) and of one with hostile names, in a browser without a screen (drive.mjs). The first
screen says what the report's JSON says, the tables have the values of its CSV, heads sort, searches search, and what is selected in one table is in all; nothing is
asked of a network, nothing is said to be wrong, and axe-core finds nothing against it, light, dark or narrow. Screenshots stay in the build's folder page/."""
import json
import os
import shutil
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'mpi'))
import harness
from report import check, equal

BROWSER = os.environ.get('CHROMIUM', '/usr/bin/chromium')
REPLAY = os.path.join(os.path.dirname(HERE), 'replay')
PAGES = ('hang', 'killed', 'openmpi', 'samples', 'threads')
WHOLE = ('threads', 'samples')  # of which all tables and pictures are looked at
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


def main():
    tap = harness.Tap()
    if not (shutil.which('node') and os.path.exists(BROWSER) and os.path.isdir(os.path.join(HERE, 'node_modules'))):
        with tap.test('pages'):
            raise harness.Skip('no node, no chromium, or nothing that drives it: ./dev deps installs them')
        return tap.done()
    folder, pages = harness.scratch('page'), []
    for name in experiments(folder) + [hostile(folder)]:
        directory = os.path.join(folder, name)
        page = {'name': name, 'html': name + '.html', 'json': name + '.json', 'csv': name + '.csv' if name in WHOLE else None}
        command = [harness.FVMPI, 'report', directory, '--html', page['html'], '--json', page['json']]
        harness.run(command + (['--csv', page['csv']] if page['csv'] else []), cwd=folder).ended(0)
        pages.append(page)
    with open(os.path.join(folder, 'pages.json'), 'w') as f:
        json.dump(pages, f)
    run = harness.run(['node', os.path.join(HERE, 'drive.mjs'), folder], limit=180)
    seen = [json.loads(line) for line in run.out.splitlines()]
    for row in seen:
        with tap.test('{}: {}'.format(row['page'], row['check'])):
            check(not row['wrong'], '{}', row['wrong'])
    with tap.test('all pages were looked at'):
        equal('exit status, {}'.format(run.err), run.rc, 0)
        equal('pages', [row['page'] for row in seen if row['check'] == 'nothing wrong'], [page['name'] for page in pages])
    shots = os.path.join(harness.BUILD, 'page')
    os.makedirs(shots, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith('.png'):
            shutil.copy(os.path.join(folder, name), shots)
    tap.done()


main()
