#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi doctor --measure on this machine, whatever else runs on it: what is said fits together, and a task that is
pinned to a processor is seen there. The statistics are tested on made series (tests/unit/test_measure.c)."""
import html
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

BROWSER = os.environ.get('CHROMIUM', '/usr/bin/chromium')
CLASSES = ('preempted_share', 'tick_share', 'interrupt_share', 'steal_share', 'unexplained_share')
CPUS = sorted(os.sched_getaffinity(0))
HOG = 'import os, sys, time\nos.sched_setaffinity(0, {int(sys.argv[1])})\nend = time.monotonic() + 300\nwhile time.monotonic() < end and os.getppid() == int(sys.argv[2]): pass\n'


def measured(*options, rc=0, **more):
    run = harness.run([harness.FVMPI, 'doctor', '--measure=only', '--json', '-'] + list(options), **more).ended(rc)
    return harness.valid(run.out, 'doctor')


def cpus_of(text):
    return [cpu for part in text.split(',') for cpu in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)]


def rising(what, values):
    known = [v for v in values if v is not None]
    equal(what, known, sorted(known))


def in_order(row):
    """All samples are in the parts, one after the other."""
    parts = [dict(zip(row['trials']['columns'], r)) for r in row['trials']['rows']]
    check(0 < len(parts) <= 500, '{} parts', len(parts))
    equal('numbers', [p['first'] for p in parts], [sum(q['count'] for q in parts[:i]) for i in range(len(parts))])
    equal('samples', sum(p['count'] for p in parts), row['samples'])
    ends = min(p['least_s'] for p in parts), max(p['most_s'] for p in parts)
    check(ends == (row['min_s'], row['max_s']), '{}: {} to {}', ends, row['min_s'], row['max_s'])
    check(all(p['least_s'] <= p['mean_s'] * (1 + 1e-9) <= p['most_s'] * (1 + 2e-9) for p in parts), '{}', parts)


def of_noise(data):
    m = data['measurement']
    places = {(row['test'], row['phase'], row['cpu']) for row in data['noise']}
    equal('processors', cpus_of(m['cpus']), CPUS)
    equal(
        'alone',
        sorted(cpu for test, phase, cpu in places if (test, phase) == ('fixed work', 'alone')),
        cpus_of(m['alone']),
    )
    together = {cpu for test, phase, cpu in places if phase == 'together'}
    equal('together', together, set(CPUS) if len(CPUS) > 1 else set())
    equal('tests', {test for test, phase, cpu in places}, {'fixed work', 'fixed time'})
    equal('twice', len(places), len(data['noise']))
    for row in data['noise']:
        rising(row, [row[k] for k in ('min_s', 'p50_s', 'p90_s', 'p99_s', 'p999_s', 'max_s')])
        check(row['min_s'] <= row['mode_s'] * (1 + 1e-9) and row['mode_s'] <= row['max_s'] * (1 + 1e-9), '{}', row)
        check(
            abs(row['max_percent'] - 100 * (row['max_s'] / row['mode_s'] - 1)) <= 1e-6 * abs(row['max_percent']) + 1e-6,
            '{}',
            row,
        )
        check(
            row['test'] != 'fixed time' or abs(row['mode_s'] - m['quantum_s']) < 1e-12,
            'the most usual amount of work takes the fixed time: {}',
            row['mode_s'],
        )
        equal(
            'few samples', (row['p99_s'] is None, row['p999_s'] is None), (row['samples'] < 100, row['samples'] < 1000)
        )
        points = [dict(zip(row['curve']['columns'], r)) for r in row['curve']['rows']]
        rising('parts', [p['part'] for p in points])
        rising('curve', [p['above_share'] for p in points])
        in_order(row)
    check(
        all(row['min_s'] >= 0 for row in data['noise'])
        and m['threshold_s'] >= 3e-7
        and m['threshold_s'] >= 8.99 * m['turn_s'],
        '{}',
        m,
    )


def of_detours(data):
    equal(
        'places',
        [(r['phase'], r['cpu']) for r in data['detours']],
        [(r['phase'], r['cpu']) for r in data['noise'] if r['test'] == 'fixed work'],
    )
    for row in data['detours']:
        shares = [row[k] or 0 for k in CLASSES]
        gaps = [dict(zip(row['gaps']['columns'], r)) for r in row['gaps']['rows']]
        if not row['gap_count']:
            equal('no gaps', [row[k] for k in CLASSES], [None] * 5)
            continue
        check(abs(sum(shares) - 1) < 1e-9 and min(shares) >= 0, '{}', shares)
        check(
            row['lost_s'] <= row['watched_s'] + 1e-9
            and abs(row['lost_share'] - row['lost_s'] / row['watched_s']) < 1e-9,
            '{}',
            row,
        )
        rising('gaps', [row[k] for k in ('p50_s', 'p90_s', 'p99_s', 'max_s')])
        equal('kept', len(gaps), min(row['gap_count'], 2000))
        rising('in order', [g['begin_s'] for g in gaps])
        check(abs(max(g['length_s'] for g in gaps) - row['max_s']) < 1e-9, '{}', row['max_s'])
        if row['gap_count'] <= 2000:
            lost, delay = sum(g['length_s'] for g in gaps), sum(g['delay_s'] for g in gaps)
            check(abs(lost - row['lost_s']) < 1e-6, '{} {}', lost, row['lost_s'])
            check(abs(delay / lost - shares[0]) < 1e-6, '{} {}', delay / lost, row['preempted_share'])
        check(shares[0] * row['lost_s'] <= row['run_delay_s'] + 1e-6, '{}', row)
        check(shares[3] * row['lost_s'] <= row['stolen_s'] + 1e-6, '{}', row)
        check(not row['tick_share'] or row['ticks'], '{}', row)
        for period in row['periods']:
            check(
                0.25 <= period['strength'] <= 1 and period['period_s'] <= (row['watched_s'] + row['blind_s']) / 7.9,
                '{}',
                period,
            )


def of_memory(data):
    sets = [row['bytes'] for row in data['memory_latency']]
    rising('working sets', sets)
    equal('largest', data['measurement']['largest_bytes'], sets[-1] if sets else 0)
    for row in data['memory_latency']:
        rising(row, [row[k] for k in ('p50_s', 'p99_s', 'max_s')])
        check(row['p50_s'] > 0, '{}', row)
    before = 0
    for level in data['memory_levels']:
        check(
            before < level['from_bytes'] < level['to_bytes'] and {level['from_bytes'], level['to_bytes']} <= set(sets),
            '{}',
            level,
        )
        before = level['to_bytes']
        rising(level, [level[k] for k in ('p50_percent', 'p90_percent', 'p99_percent', 'max_percent')])
        middle = (level['from_bytes'] * level['to_bytes']) ** 0.5
        names = [c['level'] for c in data['caches'] if middle <= c['bytes']]
        equal('level', level['level'], names[0] if names else 'DRAM' if data['caches'] else None)
    rising('caches', [c['bytes'] for c in data['caches']])
    rising('pages', [row['pages'] for row in data['memory_tlb']])
    loops = [(row['kernel'], row['processors']) for row in data['memory_bandwidth']]
    wanted = [(k, n) for n in ([1, len(CPUS)] if len(CPUS) > 1 else [1]) for k in ('copy', 'triad')]
    left_out = data['measurement']['bandwidth_left_out']
    if left_out == 'time':  # what comes last: both loops, by one processor or by all
        check(len(loops) in range(0, len(wanted), 2), 'some is left out: {}', loops)
    else:
        equal('left out', left_out, None)
    equal('loops', loops, wanted[: len(loops)] if left_out else wanted)
    check(all(row['bytes_per_s'] > 1e6 for row in data['memory_bandwidth']), '{}', loops)


def dom_of(page):
    """What the page is when its scripts have run, which say nothing."""
    run = harness.run(
        [
            BROWSER,
            '--headless',
            '--no-sandbox',
            '--disable-gpu',
            '--disable-quic',
            '--no-first-run',
            '--disable-background-networking',
            '--enable-logging=stderr',
            '--user-data-dir=' + harness.scratch('browser'),
            '--dump-dom',
            'file://' + page,
        ]
    ).ended(0)
    equal('said', [line for line in run.err.splitlines() if 'CONSOLE' in line], [])
    return run.out


def of_branches(data):
    equal('patterns', [row['pattern'] for row in data['branches']], ['same', 'alternating', 'random'])
    for row in data['branches']:
        rising(row, [row[k] for k in ('p50_s', 'p99_s', 'max_s')])
        check(1e-11 < row['mode_s'] < 1e-6 and row['samples'] >= 11, '{}', row)
    same, _, random = (row['mode_s'] for row in data['branches'])
    check(random > 1.5 * same, 'random directions cost more: {}', data['branches'])
    cost = 2 * (data['branches'][2]['p50_s'] - data['branches'][0]['p50_s'])
    check(abs(data['measurement']['misprediction_s'] - cost) < 1e-12 and cost > 0, '{}', data['measurement'])


def of_ramps(data):
    """By the trials that are in the JSON."""
    for row in data['noise']:
        parts = [dict(zip(row['trials']['columns'], r)) for r in row['trials']['rows']]
        settled = sorted(p['least_s'] for p in parts[len(parts) // 2 :])
        bound = 1.02 * settled[len(settled) // 2]
        ramp = 0
        while ramp < len(parts) and parts[ramp]['least_s'] > bound:
            ramp += 1
        ramp = ramp if len(parts) >= 8 and 2 <= ramp <= len(parts) // 2 else 0
        equal('ramp', row['ramp_samples'], sum(p['count'] for p in parts[:ramp]))
        equal('known', row['ramp_percent'] is not None, ramp > 0)


def whole(tap):
    page = os.path.join(harness.scratch(), 'page.html')
    with tap.test('all of it is as --schema says'):
        data = measured('--seconds', '4', '--html', page)
        m = data['measurement']
        equal('asked for', (m['seconds'], m['interrupted'], data['checks']), (4, False, []))
        check(m['elapsed_s'] > 1 and (m['others_processors'] is None or m['others_processors'] >= 0), '{}', m)
    with tap.test('noise fits together'):
        of_noise(data)
    with tap.test('gaps and their causes add up'):
        of_detours(data)
    with tap.test('branches: what cannot be predicted costs more'):
        of_branches(data)
    with tap.test('ramp-up: as the trials say'):
        of_ramps(data)
    with tap.test('memory fits together'):
        of_memory(data)
    with tap.test('the page has what the JSON has'):
        with open(page) as f:
            text = f.read()
        inside = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        equal('measurement', inside['measurement'], m)
        equal('noise', inside['noise'], data['noise'])
        equal('fetched', re.findall(r'(?:src|href)="(?!data:)[^"]*"', text), [])
    with tap.test('the page draws it'):
        if not os.path.exists(BROWSER):
            raise harness.Skip('no {}'.format(BROWSER))
        dom = dom_of(page)
        drawn = re.findall(r'<section id="(\w+)"', dom)
        equal(
            'sections',
            drawn,
            ['noise', 'detours', 'branches', 'latency']
            + (['tlb'] if data['memory_tlb'] else [])
            + (['bandwidth'] if data['memory_bandwidth'] else []),
        )
        equal('pictures of gaps', dom.count('class="gaps"'), len(data['detours']))
        check(html.escape(data['machine']['host'] or 'this machine') in dom, 'host')
    of_two(tap, data)


def of_two(tap, data):
    """--diff: what was changed by hand is found, with its ratio, and nothing else."""
    folder = harness.scratch()
    files = [os.path.join(folder, name) for name in ('before.json', 'after.json')]
    other = json.loads(json.dumps(data))
    row, speed = other['noise'][0], other['memory_bandwidth']
    row['mode_s'] *= 2
    for of in speed[:1]:
        of['bytes_per_s'] /= 4
    data['checks'] = [{'check': 'governor', 'state': 'bad', 'found': 'powersave'}]
    other['checks'] = [{'check': 'governor', 'state': 'good', 'found': 'performance'}]
    for path, content in zip(files, (data, other)):
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(content, f)
    with tap.test('two measurements: what differs'):
        said = harness.run([harness.FVMPI, 'doctor', '--diff', *files, '--width', '160']).ended(0).out
        of = '{}, {}, cpu {}'.format(row['test'], row['phase'], row['cpu'])
        check(re.search(r'governor +bad: powersave +good: performance', said), '{}', said)
        check(re.search(r'noise +{} +mode_s .* 2\.00$'.format(of), said, re.M), '{}', said)
        ratios = re.findall(r' (\d+\.\d\d)$', said, re.M)
        equal('ratios, largest first', ratios, ['0.25', '2.00'] if speed else ['2.00'])
    with tap.test('two measurements: none differs'):
        said = harness.run([harness.FVMPI, 'doctor', '--diff', files[0], files[0]]).ended(0).out
        same = re.search(r'(\d+) of (\d+) measured values differ by less', said)
        check(same and same[1] == same[2] and int(same[1]) > 0 and 'no check has another result' in said, '{}', said)
    with tap.test('two measurements: bad files'):
        with open(files[1], 'w') as f:
            f.write('{"schema": "fvmpi-profile-2"}')
        for words, why in (
            (files, 'its schema is not fvmpi-doctor-1'),
            ([files[0], folder + '/none'], 'No such file'),
            (files[:1], 'two files'),
            (files + ['--measure'], 'looks at the machine'),
        ):
            run = harness.run([harness.FVMPI, 'doctor', '--diff', *words])
            check(run.rc in (1, 2) and why in run.err and len(run.err.splitlines()) == 1, '{}: {}', words, run.err)


def text(tap):
    with tap.test('the text says how, and what limits it; checks come before'):
        run = harness.run(
            [harness.FVMPI, 'doctor', 'aslr', '--measure', '--seconds', '1', '--width', '150', '--cpus', str(CPUS[0])]
        )
        check(
            run.rc in (0, 1)
            and re.search(
                r'aslr[^$]*\nMeasured\n[0-9.]+ s on processors {0}, one at a time on {0}; clock: '.format(CPUS[0]),
                run.out,
            ),
            '{} {}',
            run.out[:1500],
            run.err,
        )
        # on a machine that is slow, a second is not enough for bandwidth, which is said
        for word in (
            'Noise',
            'fixed work',
            'fixed time',
            'Detours',
            'unexplained',
            'Bandwidth|bandwidth was not measured',
        ):
            check(re.search(word, run.out), '{} is not in {}', word, run.out)
        check(
            ('hypervisor' in open('/proc/cpuinfo').read().split('flags', 1)[-1].split('\n')[0])
            == ('virtual machine: results of the guest' in run.out),
            '{}',
            run.out[:500],
        )
        check(re.search(r'other tasks? ran at the same time', run.out), '{}', run.out[:500])
        check('together' not in run.out, 'one processor is alone')


def counts_of(data, phase, event):
    """By processor, its counts in the parts of the samples of fixed work, in their order."""
    at = [of['event'] for of in data['noise_events'] if not of['refused']].index(event)
    return {
        row['cpu']: [dict(zip(row['trials']['columns'], r))['counts'][at] for r in row['trials']['rows']]
        for row in data['noise']
        if (row['test'], row['phase']) == ('fixed work', phase)
    }


def events(tap):
    """Of a processor whose events are a clock: CYCLES is 1 in each ns, CACHE-MISSES 4, of a group that is read at
    once."""
    page = os.path.join(harness.scratch(), 'events.html')
    with tap.test('events of each sample, of a processor that is known'):
        data = measured(
            '--seconds',
            '1',
            '--cpus',
            str(CPUS[0]),
            '--events',
            'CYCLES,CACHE-MISSES',
            '--html',
            page,
            env=harness.fake_pmu(FAKE_PMU_CLOCK='1'),
        )
        equal('events', data['noise_events'], [{'event': e, 'refused': None} for e in ('CYCLES', 'CACHE-MISSES')])
        cycles, misses = (counts_of(data, 'alone', e)[CPUS[0]] for e in ('CYCLES', 'CACHE-MISSES'))
        check(len(cycles) > 10, 'few parts: {}', len(cycles))
        check(all(abs(m - 4 * c) <= 1e-6 * m for c, m in zip(cycles, misses)), '{}', list(zip(cycles, misses))[:5])
        row = next(r for r in data['noise'] if r['test'] == 'fixed work')
        parts = [dict(zip(row['trials']['columns'], r)) for r in row['trials']['rows']]
        check(  # what is between two readings is the sample, and the readings
            all(c >= 0.99e9 * p['mean_s'] for c, p in zip(cycles, parts)), '{}', list(zip(cycles, parts))[:5]
        )
        of = {c['event']: c for c in data['noise_counts']}
        equal('rows', sorted(of), ['CACHE-MISSES', 'CYCLES'])
        check(abs(of['CACHE-MISSES']['mean'] - 4 * of['CYCLES']['mean']) < 1e-3 * of['CACHE-MISSES']['mean'], '{}', of)
        equal('samples', of['CYCLES']['samples'], row['samples'])
        equal(
            'none in fixed time', [r['trials']['rows'][0][-1] for r in data['noise'] if r['test'] == 'fixed time'], [[]]
        )
    with tap.test('events that share registers are not counted all the time, and said not to be known'):
        data = measured(
            '--seconds', '1', '--cpus', str(CPUS[0]), '--events', 'CYCLES', env=harness.fake_pmu(FAKE_PMU_RUNNING='50')
        )
        equal('known', (set(counts_of(data, 'alone', 'CYCLES')[CPUS[0]]), data['noise_counts']), ({None}, []))
    with tap.test('the text has events, and why one is not counted'):
        run = harness.run(
            [harness.FVMPI, 'doctor', '--measure=only', '--seconds', '1', '--cpus', str(CPUS[0]), '--width', '150']
            + ['--events', 'CYCLES,r7f'],
            env=harness.fake_pmu(FAKE_PMU_CLOCK='1'),
        ).ended(0)
        check(
            re.search(r'Events in fixed work.*\n.*with time\n +alone +{} +CYCLES '.format(CPUS[0]), run.out),
            '{}',
            run.out,
        )
    with tap.test('the page draws events below the samples'):
        if not os.path.exists(BROWSER):
            raise harness.Skip('no {}'.format(BROWSER))
        equal('pictures', dom_of(page).count('class="counts"'), 2)


def hog(tap):
    with tap.test('a pinned task is the cause on its processor'):
        cpu = CPUS[-1]
        other = subprocess.Popen([sys.executable, '-c', HOG, str(cpu), str(os.getpid())], env=harness.environment())
        try:
            row = next(r for r in measured('--seconds', '3', '--cpus', str(cpu))['detours'] if r['cpu'] == cpu)
        finally:
            other.kill()
            other.wait()
        if row['run_delay_s'] < 0.2 * row['watched_s']:
            raise harness.Skip(
                'the task did not run meanwhile: run delay {} s of {} s'.format(row['run_delay_s'], row['watched_s'])
            )
        equal('largest share', max(CLASSES, key=lambda k: row[k] or 0), 'preempted_share')
        check(
            row['switches'] > 0 and row['lost_share'] > 0.1,
            '{}',
            {k: v for k, v in row.items() if k not in ('gaps', 'periods')},
        )


def interrupted(tap):
    with tap.test('SIGINT ends it with what there is'):
        process = harness.start(
            [harness.FVMPI, 'doctor', '--measure=only', '--json', '-', '--seconds', '120', '--cpus', str(CPUS[0])]
        )
        time.sleep(1.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        run = harness.finish(process).ended(1)
        data = harness.valid(run.out, 'doctor')
        equal('interrupted', data['measurement']['interrupted'], True)
        check(time.monotonic() - began < 30 and data['measurement']['elapsed_s'] < 60, '{}', data['measurement'])
        check(data['noise'] and data['noise'][0]['samples'], 'what there is: {}', data['noise'])


def words(tap):
    with tap.test('wrong words have one line each, and status 2'):
        for arguments, said in (
            (['--measure=all'], '--measure takes nothing, or =only'),
            (['--seconds', '2'], 'it goes with --measure'),
            (['--cpus', '0'], 'it goes with --measure'),
            (['--html', 'x'], 'it goes with --measure'),
            (['--events', 'CYCLES'], 'it goes with --measure'),
            (['--measure', '--events', ''], 'takes names'),
            (['--measure', '--events', 'CYKLES'], 'did you mean CYCLES?'),
            (['--measure', '--events', 'r1,r2,r3,r4,r5'], 'at most 4'),
            (['--measure', '--seconds', '0.5'], 'a number from 1'),
            (['--measure', '--seconds', 'nan'], 'a number from 1'),
            (['--measure', '--seconds', '5x'], 'a number from 1'),
            (['--measure', '--cpus', 'x'], 'takes a list'),
            (['--measure', '--cpus', ''], 'takes a list'),
            (['--measure', '--cpus', '4095'], 'may use none'),
            (['--measure', '--apply'], 'goes with none'),
            (['--measure', '-p', '1'], 'goes with none'),
            (['--measure=only', 'smt'], 'takes no checks'),
            (['--measure', '--json', '-', '--html', '-'], 'stdout already takes'),
        ):
            run = harness.run([harness.FVMPI, 'doctor'] + arguments).ended(2)
            check(said in run.err and run.err.count('\n') == 1, '{}: {}', arguments, run.err)
    with tap.test('without --measure nothing of it is there'):
        run = harness.run([harness.FVMPI, 'doctor', 'aslr', '--json', '-'])
        data = harness.valid(run.out, 'doctor')
        equal(
            'nothing', (data['measurement'], data['noise'], data['detours'], data['memory_latency']), (None, [], [], [])
        )


def main():
    tap = harness.Tap()
    words(tap)
    whole(tap)
    text(tap)
    events(tap)
    hog(tap)
    interrupted(tap)
    tap.done()


main()
