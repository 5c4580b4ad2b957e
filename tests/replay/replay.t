#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Golden replay: rank files of real runs, captured once (NAME.tar.xz), go through the reader, the model, the views
and the merge, and every word that comes out is compared with what is stored in expected/NAME/.

    report.txt    fvmpi report, 100 columns        csv.txt       fvmpi report --csv, all tables
    report.json   fvmpi report --json              dump.txt      fvmpi dump, every record
    archive.txt   fvunify, fvmpi check and otf2-print of the archive (where OTF2 is, in the version that wrote it)

    stacks.txt    fvmpi stacks                     diff.txt      fvmpi diff with another experiment
    analysis.txt  fvunify, the report after it, analysis.json

The experiments: ring.c on three ranks, `mpich` and `openmpi` with a trace, `profile` without one, `killed`
where a rank kills itself; and of the tests' programs `threads`, `omp`, `sections`, `samples`, `states` (each wait
state of MPI) and `hang`, by whose names the sources can be found in capture. Host name, boot id, and the paths of
program and library are nobody's, so that no machine finds the symbols, the process or the clock of its own in them.

After a change that was meant: FVMPI_BUILD=... tests/replay/refresh, and the diff of expected/ is for a reviewer
to read. The rank files stay: what a released fvmpi wrote is read the same for good (capture says more)."""
import difflib
import importlib.util
import json
import os
import re
import shutil
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import Mismatch, check

REFRESH = os.environ.get('FVMPI_REPLAY') == 'refresh'
UNIFY = os.path.join(harness.BUILD, 'fvunify')
# Nothing of where and when the test runs may show.
SURROUNDINGS = {'TZ': 'ELSE-05:45', 'NO_COLOR': '1', 'COLUMNS': '60', 'LC_ALL': 'C', 'FVMPI_DEBUG_PATH': None}


def said(place, *command, rc=0):
    run = harness.run(list(command), env=SURROUNDINGS, cwd=place).ended(rc)
    return run.out + ''.join('stderr: {}\n'.format(line) for line in run.err.splitlines())


def stacks(place, name):
    return said(place, harness.FVMPI, 'stacks', name, '--width', '100')


def diff(place, name):
    out = said(place, harness.FVMPI, 'diff', name, OTHER[name], '--width', '100')
    return out + said(place, harness.FVMPI, 'diff', name, OTHER[name], '--json', '-')


def analysis(place, name):
    if not os.path.exists(UNIFY):
        raise harness.Skip('no fvunify')
    out = unified(place, name, name)
    out += text(place, name)
    with open(os.path.join(place, name, 'analysis.json')) as f:
        return out + re.sub(r'("analysis_s":)[0-9.e-]+', r'\1_', f.read())


def unified(place, name, where):
    return re.sub(r', in [0-9.]+ s$', ', in _ s', said(place, UNIFY, name, '-o', where), flags=re.M)


def text(place, name):
    return said(place, harness.FVMPI, 'report', name, '--width', '100')


def as_json(place, name):
    """Without empty tables, so that a new table changes no capture that has none of it."""
    out = said(place, harness.FVMPI, 'report', name, '--json', '-')
    harness.valid(out)
    return re.sub(r'^"\w+":(\[\]|\{\}),?\n', '', out, flags=re.M)


def as_csv(place, name):
    out = said(place, harness.FVMPI, 'report', name, '--csv', 'csv')
    for table in sorted(os.listdir(os.path.join(place, 'csv'))):
        with open(os.path.join(place, 'csv', table)) as f:
            lines = f.read().splitlines(True)
            out += '== {}\n{}'.format(table, ''.join(lines[:30] if table == 'timeline.csv' else lines))
    return out


def dump(place, name):
    return said(place, harness.FVMPI, 'dump', name)


def archive(place, name):
    """The first line is the version of otf2-print, whose layout is not ours."""
    if not os.path.exists(UNIFY) or not shutil.which('otf2-print'):
        raise harness.Skip('no fvunify, or no otf2-print')
    out = said(place, 'otf2-print', '--version')
    if not REFRESH and not expected(name, 'archive.txt').startswith(out):
        raise harness.Skip('another ' + out.strip())
    out += unified(place, name, 'otf2')
    out += said(place, harness.FVMPI, 'check', 'otf2/traces.otf2')
    return out + said(place, 'otf2-print', '-G', 'otf2/traces.otf2') + said(place, 'otf2-print', 'otf2/traces.otf2')


VIEWS = {
    'report.txt': text,
    'report.json': as_json,
    'csv.txt': as_csv,
    'dump.txt': dump,
    'archive.txt': archive,
    'stacks.txt': stacks,
    'diff.txt': diff,
    'analysis.txt': analysis,
}
OTHER = {'openmpi': 'profile', 'killed': 'mpich'}
# Not all of all, for the sake of the size.
EXPERIMENTS = {
    'openmpi': ('report.txt', 'report.json', 'dump.txt', 'archive.txt', 'diff.txt'),
    'mpich': ('report.txt', 'csv.txt'),
    'profile': ('report.txt',),
    'killed': ('report.txt', 'report.json', 'archive.txt', 'diff.txt'),
    'threads': ('report.txt', 'report.json', 'csv.txt', 'stacks.txt', 'analysis.txt'),
    'omp': ('report.txt', 'report.json', 'csv.txt', 'stacks.txt', 'analysis.txt'),
    'sections': ('report.txt', 'report.json', 'csv.txt', 'archive.txt'),
    'samples': ('report.txt', 'report.json', 'csv.txt'),
    'states': ('report.txt', 'analysis.txt'),
    'hang': ('report.txt', 'report.json'),
}


def expected(name, view):
    with open(os.path.join(HERE, 'expected', name, view)) as f:
        return f.read()


def compare(name, view, got):
    if REFRESH:
        os.makedirs(os.path.join(HERE, 'expected', name), exist_ok=True)
        with open(os.path.join(HERE, 'expected', name, view), 'w') as f:
            f.write(got)
        return
    want = expected(name, view)
    if got == want:
        return
    old, new = ((re.sub(r',(?=["{])', ',\n', t) if view.endswith('.json') else t).splitlines() for t in (want, got))
    lines = list(difflib.unified_diff(old, new, 'expected', 'printed', lineterm='', n=1))
    raise Mismatch(
        '{} of {} lines\n{}\nif that is meant: tests/replay/refresh'.format(
            sum(line[:1] in '+-' for line in lines[2:]), len(old), '\n'.join(line[:300] for line in lines[:40])
        )
    )


def unpack(name, place):
    with tarfile.open(os.path.join(HERE, name + '.tar.xz')) as files:
        files.extractall(place)


def missing_rank(tap):
    """Whom a rank waited for is not known where the other's file is not there: no figure of it is called exact."""
    for name in ('omp', 'states'):
        place = harness.scratch()
        unpack(name, place)
        os.remove(os.path.join(place, name, 'rank-000001.fvr'))
        for analysed in (False, True):
            with tap.test(
                '{} without a rank{}: no waiting is called exact'.format(name, ', analysed' if analysed else '')
            ):
                if analysed and (not os.path.exists(UNIFY) or name == 'omp'):
                    raise harness.Skip('no fvunify' if name != 'omp' else 'it has no trace')
                if analysed:
                    said(place, UNIFY, '-q', name, rc=1)
                headline = text(place, name).splitlines()[0]
                check('(exact' not in headline, '{}', headline)
                report = json.loads(as_json(place, name))
                kinds = {report['run']['rank_time']['wait_kind']} | {r['wait_kind'] for r in report['ranks']}
                check('exact' not in kinds, 'kinds {}', kinds)


def same_overhead(tap):
    with tap.test('what fvmpi took is the same in the text and in JSON'):
        place = harness.scratch()
        unpack('samples', place)
        overhead = json.loads(as_json(place, 'samples'))['run']['overhead']
        told = re.search(
            r'overhead +([0-9.]+) ms over all ranks \(([0-9.]+) ms of it sampling, over all threads\), ([0-9.]+) %',
            ' '.join(text(place, 'samples').split()),
        )
        check(told, 'the text does not tell it')
        for word, value in zip(
            told.groups(), (overhead['time_s'] * 1e3, overhead['sampling_s'] * 1e3, overhead['share'] * 100)
        ):
            check(abs(float(word) - value) < 0.06 * 10 ** max(0, len(str(int(value))) - 1), '{} and {}', word, value)


def main():
    tap = harness.Tap()
    if not importlib.util.find_spec('_lzma'):
        print('1..0 # SKIP this python3 has no lzma, which unpacks the rank files')
        return
    for name, views in EXPERIMENTS.items():
        place = harness.scratch()
        for packed in {name, OTHER.get(name, name)}:
            unpack(packed, place)
        for view in views:
            with tap.test('{}: {}'.format(name, view)):
                got = VIEWS[view](place, name)
                check(place not in got, 'the directory of the test is in {}', view)
                compare(name, view, got)
    if not REFRESH:
        missing_rank(tap)
        same_overhead(tap)
    tap.done()


main()
