#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Programs whose loops are known: their iterations are found by their collective calls, and by a trace, with what is
planted in them: a call in every 50th, a slowest rank that changes, a pipeline, growth, rounds in rounds, two loops one
after the other. Of a steady loop nothing is said but that it is one, of a program without a loop nothing at all."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from analysis_json import Analysis
from findings import found, is_disturbed
from report import check, close, equal, plain

OF_ITERATIONS = ('slow_iterations', 'growing_iterations', 'moving_imbalance')


def line_of(text):
    with open(os.path.join(HERE, 'iterations.c')) as f:
        return next(number for number, line in enumerate(f, 1) if text in line)


class Looked:
    """A run of one of the loops, and its report."""

    def __init__(self, mpi, program, problem, ranks=2, options=('--sample=off',)):
        self.run = mpi.profile(program, ranks, [problem], list(options)).ended(0)
        self.data = harness.report_of(self.run.directory).data
        self.units = self.data['iterations']
        self.findings = [f for f in found(self.run) if f['name'] in OF_ITERATIONS]

    def numbers(self):
        return self.data['iterations_by_number']

    def one(self, count):
        """The only unit."""
        equal('iterations', [(u['count'], u['inside']) for u in self.units], [(count, None)])
        return self.units[0]

    def calm(self, most_s):
        """The machine let the program do what is planted: its median iteration is not much longer."""
        return self.units[0]['p50_s'] <= most_s and not is_disturbed(self.run, 0)

    def finding(self, name):
        """The only one."""
        equal('findings', [f['name'] for f in self.findings], [name])
        return self.findings[0]


def every(mpi, program, problem, options):
    looked = Looked(mpi, program, problem, options=options)
    unit = looked.one(400)
    traced = '--trace' in options
    equal('source', unit['source'], 'trace' if traced else 'collectives')
    equal('ranks', unit['rank_count'], 2)
    equal('what is known', [unit[key] is not None for key in ('computing_s', 'mpi_s')], [traced] * 2)
    check(unit['longest_s'] >= 0.009 and unit['p50_s'] >= 0.001, '{}', unit)
    numbers = looked.numbers()
    equal('rows', [row['number'] for row in numbers], list(range(400)))
    close('their sum', sum(row['duration_s'] for row in numbers), unit['mean_s'] * 400, 1e-6)
    check(
        all(row['duration_s'] >= 0.009 for row in numbers[49:399:50]), 'the save is in others: {}', numbers[49:399:50]
    )
    in_phase = [row['duration_s'] for row in numbers[49::50]]
    others = sorted(row['duration_s'] for row in numbers if row['number'] % 50 != 49)
    usual = others[len(others) // 2]
    if not looked.calm(0.0015) or others[-4] > 3 * usual:  # long ones that nobody planted
        return
    equal('period', (unit['period'], unit['period_first']), (50, 49))
    check(unit['period_factor'] > 4, '{}', unit)
    finding = looked.finding('slow_iterations')
    equal('rank: that saves', finding['rank'], 0)
    line = line_of('end of save')
    text = 'every 50th of 400 iterations takes [0-9.]+ times as long: save\\(\\) at iterations.c:{}'.format(line)
    check(re.match(text, finding['text']), '{}', finding)
    equal('place', (plain(finding['function']), finding['line']), ('save', line))
    close('seconds', finding['lost_s'], 2 * sum(in_phase) - 2 * 8 * usual, 1e-4)


def naps(mpi, program):
    """Samples of who waits in MPI say nothing of what computes longer."""
    looked = Looked(mpi, program, 'naps', options=('--sample', '--trace'))
    looked.one(400)
    for finding in looked.findings:
        check('computes longer' not in finding['text'], '{}', finding)
    if looked.calm(0.002) and looked.units[0]['period'] == 50 and looked.findings:
        finding = looked.finding('slow_iterations')
        check('the time before MPI_Sendrecv in ' in finding['text'], '{}', finding)
        equal('rank', finding['rank'], 0)
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', looked.run.directory]).ended(0)
    data = harness.report_of(looked.run.directory).data
    (loop,) = [s for s in data['callsites'] if s['function'] == 'MPI_Sendrecv']
    check(loop['wait_s'] >= 0.15, 'rank 1 waits for 8 naps of 30 ms: {}', loop)
    (unit,) = data['iterations']
    close('waiting of an iteration', unit['wait_s'] * 400 * 2, loop['wait_s'], 1e-4)
    bin_s = Analysis(looked.run.directory).data['waiting_over_time']['bin_s']
    waiting_of_each(data['iterations_by_number'], bin_s, loop['wait_s'])


def waiting_of_each(rows, bin_s, all_s):
    """From the analysis's bins: of an iteration that is shorter than four of them it is not known."""
    for row in rows:
        equal('known: {}'.format(row), row['wait_s'] is None, row['duration_s'] < 4 * bin_s)
    known = [row for row in rows if row['wait_s'] is not None]
    check(all(row['wait_s'] <= row['duration_s'] for row in known), '{}', rows)
    check(2 * sum(row['wait_s'] for row in known) <= all_s * 1.001, '{}, of {} s', known, all_s)
    check(all(row['wait_s'] >= 0.01 for row in rows[49::50]), 'of the naps: {}', rows[49::50])


def oftener(mpi, program):
    looked = Looked(mpi, program, 'oftener', options=('--sample=off', '--trace'))
    unit = looked.one(300)
    for finding in looked.findings:
        check('calls' not in finding['text'] and 'computes longer' not in finding['text'], '{}', finding)
    if looked.calm(0.002) and unit['period'] == 20:
        text = r'every 20th of .*: MPI_Sendrecv in halo\(\) at iterations.c:[0-9]+ is called 12 times, in others 1$'
        check(re.match(text, looked.finding('slow_iterations')['text']), '{}', looked.findings)


def irregular(mpi, program):
    """Where the noise leaves saves among the long iterations, they are told of, however much it is."""
    looked = Looked(mpi, program, 'irregular')
    unit = looked.one(400)
    saves, at = [], 30
    while at < 400:
        saves.append(at)
        at += 27 + at * 5 % 7
    times = [row['duration_s'] for row in looked.numbers()]
    others = sorted(t for number, t in enumerate(times) if number not in saves)
    if unit['outliers'] > 3 * len(saves) or others[-len(others) // 8] > 0.003 or not looked.calm(0.0015):
        return
    finding = looked.finding('slow_iterations')
    text = '{} of 400 iterations take [0-9.]+ times as long: save\\(\\) at iterations.c:[0-9]+, which no other'
    check(re.match(text.format(len(saves)), finding['text']), '{}', finding)
    close('seconds', finding['lost_s'], 2 * len(saves) * 0.008, 2 * len(saves) * 0.004)


def steps(mpi, program):
    looked = Looked(mpi, program, 'steps')
    looked.one(200)
    times = [row['duration_s'] for row in looked.numbers()]
    fast = [sorted(times[i : i + 50])[10] for i in range(0, 200, 50)]
    steady = max(abs(fast[0] - fast[1]), abs(fast[2] - fast[3])) < 0.001
    if not steady or sorted(times[:100])[80] > 0.006 or sorted(times[100:])[80] > 0.018 or not looked.calm(0.015):
        return
    finding = looked.finding('growing_iterations')
    text = 'from number (99|100|101) on, (99|100|101) iterations take [23][0-9.]* times as long: '
    check(re.match(text, finding['text']), '{}', finding)


def sections(mpi, program):
    looked = Looked(mpi, program, 'sections', options=('--sample=off', '--section-instances=300'))
    equal('units of calls', looked.units, [])
    step, numbered = (
        next(s for s in looked.data['section_iterations'] if s['section'] == n) for n in ('step', 'round')
    )
    equal('step', [step[key] for key in ('count', 'rank_count', 'is_part')], [300, 2, True])
    equal('round', [numbered[key] for key in ('count', 'rank_count', 'is_part')], [100, 2, False])
    mine = [i for i in looked.data['section_instances'] if i['section'] == 'step' and i['rank'] == 0]
    equal('instances', len(mine), 300)
    check(step['longest_s'] >= 0.017 and step['mpi_s'] == 0 and step['computing_s'] >= 0.001, '{}', step)
    if step['p50_s'] > 0.0015 or numbered['p95_s'] > 0.008 or is_disturbed(looked.run, 0):
        return
    equal('period', [step[key] for key in ('period', 'period_first')], [50, 49])
    check(numbered['growth'] > 1, '{}', numbered)
    text = {f['name']: f for f in looked.findings if 'section "lap"' not in f['text']}
    laps = [f['text'] for f in looked.findings if 'section "lap"' in f['text']]
    check(len(laps) == 1 and re.match(r'from number (29|30|31) on, (29|30|31) instances', laps[0]), 'laps: {}', laps)
    check(
        re.match(
            r'every 50th of the first 300 instances of section "step" takes 1[0-9] times as long$',
            text['slow_iterations']['text'],
        ),
        '{}',
        text['slow_iterations'],
    )
    check(
        re.match(
            r'from number (49|50|51) on, (49|50|51) instances of section "round" take [23](\.\d)? times as long$',
            text['growing_iterations']['text'],
        ),
        '{}',
        text['growing_iterations'],
    )
    check('--table section_instances' in text['slow_iterations']['next'], '{}', text['slow_iterations'])


def rounds(mpi, program):
    looked = Looked(mpi, program, 'rounds')
    units = [(u['count'], plain(u['function']), u['inside']) for u in looked.units]
    equal('units', units, [(60, 'rounds', None), (240, 'norm', 0)])
    equal('units with numbers', {row['unit_id'] for row in looked.numbers()}, {1})


def moves(mpi, program):
    looked = Looked(mpi, program, 'moves')
    unit = looked.one(192)
    if not looked.calm(0.005):
        return
    close('moves', unit['moves_every'], 12, 3)
    finding = looked.finding('moving_imbalance')
    check(
        re.match('the slowest rank changes every ~1[0-5] of 192 iterations, among 2 ranks', finding['text']),
        '{}',
        finding,
    )
    close('seconds', finding['lost_s'], 192 * 0.003, 0.3 * 192 * 0.003)


def pipeline(mpi, program):
    looked = Looked(mpi, program, 'pipeline', ranks=4)
    looked.one(60)
    if not looked.calm(0.014):
        return
    texts = [f['text'] for f in found(looked.run) if f['name'] == 'unexplained_waiting']
    check(any('along 0 -> 1 -> 2 -> 3' in text and ' in each of 60 iterations' in text for text in texts), '{}', texts)


def grows(mpi, program):
    looked = Looked(mpi, program, 'grows')
    unit = looked.one(150)
    if not looked.calm(0.0045):
        return
    check(2 < unit['growth'] + 1 < 6, '{}', unit)
    finding = looked.finding('growing_iterations')
    check('150 iterations grow from ' in finding['text'], '{}', finding)
    check('the time before MPI_Allreduce in norm()' in finding['text'], '{}', finding)


def nest(mpi, program, options, loop):
    looked = Looked(mpi, program, 'nest', options=options)
    rounds = sum(6 + step * 7 % 11 for step in range(40))
    outer = [u for u in looked.units if u['inside'] is None]
    inner = [u for u in looked.units if u['inside'] is not None]
    equal('outer', [(u['count'], plain(u['function'])) for u in outer], [(40, 'nest')])
    if not looked.calm(0.006):  # 11 rounds of 0.3 ms
        return
    equal('inner', [(u['count'], u['inside'], plain(u['function'])) for u in inner], [(rounds, 0, loop)])


def phases(mpi, program, options):
    looked = Looked(mpi, program, 'phases', options=options)
    equal('units', [(u['count'], u['inside']) for u in looked.units], [(200, None), (100, None)])
    check(looked.units[0]['end_s'] <= looked.units[1]['begin_s'], '{}', looked.units)
    if '--trace' in options:
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', looked.run.directory]).ended(0)
        for unit in harness.report_of(looked.run.directory).data['iterations']:
            check(0 < unit['wait_s'] <= unit['mpi_s'] * (1 + 1e-6), '{}', unit)


def steady(mpi, program, options):
    looked = Looked(mpi, program, 'steady', options=options)
    unit = looked.one(300)
    equal('findings', looked.findings, [])
    equal('period', unit['period'], None)


def stages(mpi, program, options):
    looked = Looked(mpi, program, 'stages', options=options)
    looked.one(100)
    equal('findings', looked.findings, [])


def first_part(mpi, program):
    """The log of collective calls is full long before the end: iterations of its first calls are known."""
    looked = Looked(mpi, program, 'steady', options=('--sample=off', '--collectives-max=8K'))
    equal('units', len(looked.units), 1)
    unit = looked.units[0]
    check(20 <= unit['count'] < 100, '{}', unit)
    equal('waiting', (unit['rank_count'], unit['wait_s']), (2, None))
    text = harness.run([harness.FVMPI, 'report', looked.run.directory]).ended(0).out
    said = re.search('of the first ([0-9]+) collective calls of a rank', text)
    check(said and unit['count'] <= int(said.group(1)) <= unit['count'] + 2, '{} {}', said, unit['count'])


def visits(mpi, program):
    unit = Looked(mpi, program, 'visits', options=('--sample=off', '--trace')).one(200)
    equal('loop', (plain(unit['function']), unit['rank_count']), ('visits', 2))


def none(mpi, program):
    looked = Looked(mpi, program, 'none')
    equal('units', (looked.units, looked.numbers(), looked.findings), ([], [], []))


def not_looked_for(mpi, program):
    """A loop of messages alone, without a trace: that is said. Not of what has no messages, or was found."""
    for problem, said in ('naps', True), ('steady', False), ('local', False):
        run = mpi.profile(program, 2, [problem], ['--sample=off']).ended(0)
        text = ' '.join(harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out.split())
        why = 'none found by blocking collective calls; fvmpi run --trace records all, and may find some'
        equal(problem, '- ' + why in text, said)
        equal(problem, harness.report_of(run.directory).data['run']['iterations_unknown'], why if said else None)


def apart(mpi, program):
    """Two pairs drift apart, and the last rank waits all the time in one call: waiting of each iteration is of its own
    ranks, when these are there."""
    looked = Looked(mpi, program, 'apart', ranks=5, options=('--sample=off', '--trace'))
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', looked.run.directory]).ended(0)
    data = harness.report_of(looked.run.directory).data
    (unit,), rows = data['iterations'], data['iterations_by_number']
    equal('ranks', unit['rank_count'], 4)
    known = [row for row in rows if row['wait_s'] is not None]
    check(all(row['wait_s'] <= row['mpi_s'] * (1 + 1e-6) + 1e-9 for row in known), '{}', rows)
    check(unit['wait_s'] is None or unit['wait_s'] <= unit['mpi_s'] * (1 + 1e-6), '{}', unit)
    check(
        not known or 0.9 * rows[50]['mpi_s'] <= rows[50]['wait_s'] <= rows[50]['mpi_s'] + 1e-4,
        'rank 1 is late: {}',
        rows[50],
    )
    text = harness.run([harness.FVMPI, 'report', looked.run.directory]).ended(0).out
    check('of 4 of 5 ranks: the others do not make the same calls as often' in text, '{}', text)


def unrolled(mpi, program, options):
    looked = Looked(mpi, program, 'unrolled', options=options)
    unit = looked.one(200)
    check(looked.numbers()[150]['duration_s'] > 0.04, '{}', looked.numbers()[150])
    check(unit['longest_number'] == 150 or not looked.calm(0.0015), '{}', unit)


def macro(mpi, program, options):
    looked = Looked(mpi, program, 'macro', options=options)
    unit = looked.one(200)
    equal('every', unit['period'], None)


def main():
    tap = harness.Tap()
    for mpi in harness.an_mpi(tap):
        program = mpi.build(os.path.join(HERE, 'iterations.c'), '-O2', '-g')
        plainly, traced = ('--sample=off',), ('--sample=off', '--trace')
        for name, test, arguments in (
            ('every 50th is longer', every, ('every', plainly)),
            ('every 50th is longer, by a trace', every, ('every', traced)),
            ('every 50th is longer, messages alone, by a trace', every, ('messages', traced)),
            ('who waits does not compute longer', naps, ()),
            ('some call it more often', oftener, ()),
            ('some at no fixed distance are longer', irregular, ()),
            ('from one on they are longer', steps, ()),
            ('sections of the user', sections, ()),
            ('fixed rounds in rounds', rounds, ()),
            ('the slowest rank changes', moves, ()),
            ('a pipeline', pipeline, ()),
            ('growth', grows, ()),
            ('rounds in rounds', nest, (plainly, 'norm')),
            ('rounds in rounds, by a trace', nest, (traced, 'solve')),
            ('two loops', phases, (plainly,)),
            ('two loops, by a trace', phases, (traced,)),
            ('a steady loop', steady, (plainly,)),
            ('a steady loop, by a trace', steady, (traced,)),
            ('three calls of one place in each', stages, (plainly,)),
            ('a log that is full', first_part, ()),
            ('loops of calls in a loop', visits, ()),
            ('no loop', none, ()),
            ('messages alone, without a trace', not_looked_for, ()),
            ('pairs that drift apart', apart, ()),
            ('a loop that was unrolled', unrolled, (plainly,)),
            ('a loop that was unrolled, by a trace', unrolled, (traced,)),
            ('two calls on one line', macro, (plainly,)),
        ):
            with tap.test('{}: {}'.format(mpi, name)):
                test(mpi, program, *arguments)
    tap.done()


main()
