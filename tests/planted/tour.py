#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of share/doc/tour.md, and writes what their reports say into it and into README.md, and pictures of their pages: ./dev tour

    tour.py [--no-pictures]
    tour.py --examples FOLDER    the reports alone, as text and pages, for ./dev site

planted.t compares the findings of both documents with those of its own runs, without their numbers."""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), 'harness'))
import harness
from harness import FVMPI, SOURCE

TOUR, README = (os.path.join(SOURCE, name) for name in ('share/doc/tour.md', 'README.md'))
PICTURES = os.path.join(SOURCE, 'share/doc/pictures')
# Of each problem: options of its run, the finding that names it, and what its picture shows of the page: a subject, or the first screen.
PROBLEMS = {
    'imbalance': ((), 'load_imbalance', None),
    'moves': ((), 'unexplained_waiting', 'Ranks'),
    'faults': ((), 'load_imbalance', None),
    'snapshot': (('--io',), 'file_io', 'Files'),
    'chain': ((), 'small_messages', 'Communication'),
    'turns': ((), 'small_messages', 'Waiting and computing'),
    'leak': (('--memory',), 'growing_memory', 'Memory'),
}
SHOWN = 2  # findings of a report
TITLE = re.compile(r'^[A-Z][^:(]*(\([\d.,]+ %\))?: ')  # with seconds and percent
TRIES = 4
NUMBER = re.compile(r'\d[\d,.]*( ?(ns|us|ms|s|%|B|[KMGT]iB|times?)\b)?')


def experiment(name):
    return 'exp-' + name


def masked(text):
    """Words without numbers."""
    return NUMBER.sub('#', ' '.join(text.split()))


def clause(text):
    """The first of a finding: what is wrong, and where."""
    return re.split(r'; |, mostly |\. (?=[A-Z])', masked(text))[0]


def not_yet():
    """Problems of which share/doc/tour.md has no picture yet: what it shows of them was written by hand."""
    with open(TOUR, encoding='utf-8') as f:
        return re.findall(r'^<!-- picture (\w+): ', f.read(), re.M)


def texts(report):
    """Of the findings in lines of a report, without their titles and what to do next."""
    found = ('\n' + report).split('\n- ')[1:]
    return [TITLE.sub('', ' '.join(' '.join(x.split()).split(' -> ')[:1])) for x in found]


def shown_in_tour():
    """Of each problem: the findings that share/doc/tour.md shows."""
    with open(TOUR, encoding='utf-8') as f:
        text = f.read()
    out = {}
    for name in PROBLEMS:
        report = re.search(r'^    \$ fvmpi report {}\n((?:(?:    .*)?\n)*)'.format(experiment(name)), text, re.M)
        out[name] = texts(report[1].replace('\n    ', '\n')) if report else []
    return out


def shown_in_readme():
    """Of each problem: what README.md says is found, in its report or in its table."""
    with open(README, encoding='utf-8') as f:
        text = f.read()
    report = re.search(r'```\n(compute .*?)```', text, re.S)
    rows = re.findall(r'^\| (\w+)[^|]*\| ([^|]*) \|$', text, re.M)
    out = {name: said for name, said in rows if name in PROBLEMS}
    if report:
        out['imbalance'] = (texts(report[1]) + [''])[0]
    return out


def differences(said, in_tour, in_readme):
    """What is wrong with what the documents show, if these are the findings; None: nothing."""
    now = {clause(text) for text in said}
    for where, shown in (('share/doc/tour.md', in_tour), ('README.md', [in_readme])):
        if not now & {clause(text) for text in shown}:
            return '{} shows {}, the report says {}'.format(where, shown, said)
    return None


class Tour:
    def __init__(self, mpi):
        self.mpi, self.folder = mpi, harness.scratch('tour')
        os.symlink(os.path.join(SOURCE, 'tests'), os.path.join(self.folder, 'tests'))
        self.run([mpi.cc, '-O2', '-g', 'tests/planted/planted.c', '-o', 'planted'])

    def run(self, command):
        return harness.run(command, env={'LC_ALL': 'C.UTF-8'}, cwd=self.folder).ended(0)

    def report(self, name):
        """The lines that the report begins with."""
        out = (
            self.run([FVMPI, 'report', experiment(name), '--width', '100'])
            .out.split('\n\n  command ')[0]
            .rstrip()
            .split('\n')
        )
        starts = [i for i, line in enumerate(out) if line.startswith('- ')]
        if len(starts) > SHOWN:
            out = out[: starts[SHOWN]]
        return '\n'.join(out).replace(self.folder + '/', '')

    def findings(self, name):
        return harness.report_of(os.path.join(self.folder, experiment(name))).data['findings']

    def said(self, name):
        """The words of the finding that is wanted."""
        text = next(f['text'] for f in self.findings(name) if f['name'] == PROBLEMS[name][1])
        return text.replace(self.folder + '/', '')

    def record(self, name):
        """Is there a run whose report shows the finding that is wanted, and which the machine did not disturb?"""
        options, wanted, _ = PROBLEMS[name]
        for _ in range(TRIES):
            shutil.rmtree(os.path.join(self.folder, experiment(name)), ignore_errors=True)
            command = [FVMPI, 'run', '-q', '-o', experiment(name), *options, './planted', name]
            self.run(self.mpi.command(2, command))
            found = [finding['name'] for finding in self.findings(name)]
            if wanted in found[:SHOWN] and not {'no_processor', 'noise'} & set(found):
                return True
        return False


def write_tour(reports):
    with open(TOUR, encoding='utf-8') as f:
        text = f.read()
    for name, report in reports.items():
        said = ''.join('    {}\n'.format(line) if line else '\n' for line in report.split('\n'))
        text = re.sub(
            r'(^    \$ fvmpi report {}\n)(?:(?:    .*)?\n)*'.format(experiment(name)),
            lambda m: m[1] + said + '\n',
            text,
            flags=re.M,
        )
    with open(TOUR, 'w', encoding='utf-8') as f:
        f.write(text)


def write_readme(reports, said):
    """The report of the first problem, and a row for each problem."""
    with open(README, encoding='utf-8') as f:
        text = f.read()
    if 'imbalance' in reports:
        first = '```\n' + reports['imbalance'].replace(experiment('imbalance'), 'exp') + '\n```'
        text = re.sub(r'```\ncompute .*?```', lambda m: first, text, flags=re.S)
    for name, words in said.items():
        short = '. '.join('; '.join(words.split('; ')[:2]).split('. ')[:2])
        text = re.sub(r'^(\| {}\b[^|]*\| )[^|]*( \|)$'.format(name), lambda m: m[1] + short + m[2], text, flags=re.M)
    with open(README, 'w', encoding='utf-8') as f:
        f.write(text)


def picture(name):
    return os.path.join(PICTURES, 'tour-' + name + '.png')


def draw(tour, names):
    """Pictures of at most 256 colours, which makes them small."""
    for name in names:
        harness.run([FVMPI, 'report', experiment(name), '--html', name + '.html'], cwd=tour.folder).ended(0)
        out = os.path.join(tour.folder, name + '.png')
        command = ['node', os.path.join(SOURCE, 'tests/page/tour.mjs'), os.path.join(tour.folder, name + '.html'), out]
        harness.run(command + ([PROBLEMS[name][2]] if PROBLEMS[name][2] else [])).ended(0)
        subprocess.run(['pngquant', '--force', '--strip', '--speed', '1', '--output', picture(name), out], check=True)


def write_examples(tour, folder):
    """Of each problem its report, as text and as a page, if the machine is quiet enough to show it."""
    os.makedirs(folder, exist_ok=True)
    for name in PROBLEMS:
        if not tour.record(name) and PROBLEMS[name][1] not in [f['name'] for f in tour.findings(name)]:
            print('{}: no example: the machine disturbed all runs'.format(name))
            continue
        page, text = (os.path.join(folder, name + ending) for ending in ('.html', '.txt'))
        report = [FVMPI, 'report', experiment(name)]
        tour.run(report + ['--html', page])
        with open(text, 'w', encoding='utf-8') as f:
            said = tour.run(report + ['--width', '100']).out.replace(tour.folder + '/', '')
            f.write(re.sub(r'/\S*fvmpi-test-\S*', '...', said))  # a path that was cut


def show(names):
    """A picture that is drawn for the first time takes the place of its remark."""
    with open(TOUR, encoding='utf-8') as f:
        text = f.read()
    for name in names:
        text = re.sub('<!-- picture {}: (.*) -->'.format(name), '![\\1](pictures/tour-{}.png)'.format(name), text)
    with open(TOUR, 'w', encoding='utf-8') as f:
        f.write(text)


def main():
    mpi = next(iter(harness.an_mpi(harness.Tap(), quiet=True)), None)
    if not mpi:
        sys.exit('tour: no MPI: ./dev build says which are missing')
    tour, reports, said = Tour(mpi), {}, {}
    if sys.argv[1:2] == ['--examples']:
        write_examples(tour, os.path.abspath(sys.argv[2]))
        return
    quiet = {name: tour.record(name) for name in PROBLEMS}
    for name in (name for name in PROBLEMS if quiet[name]):
        reports[name], said[name] = tour.report(name), tour.said(name)
        print('{}: {}'.format(name, said[name]))
    write_tour(reports)
    write_readme(reports, said)
    if '--no-pictures' not in sys.argv[1:]:
        draw(tour, list(reports))
        show(reports)
    for name in (name for name in PROBLEMS if not quiet[name]):
        print('tour: {}: its text is kept: the machine disturbed all runs; try again when it is quiet'.format(name))
    sys.exit(not all(quiet.values()))


if __name__ == '__main__':
    main()
