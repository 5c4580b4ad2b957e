#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi run --sensors: one rank of a node reads the machine's sensors while the job runs. A program that drives
counters of a made tree of files knows what they must say: in all, by section, on both MPIs and without; thinned when
their room is used up, after a kill, beside all else that is recorded; and what this machine counts itself is at least
what the program did."""
import json
import os
import re
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
import otf2_print
from report import check, close, equal
from trees import tree

FILES = {
    'proc/vmstat': 'nr_free_pages 1000\npgfault 5000\npgmajfault 7\n',
    'sys/class/net/eth0/statistics/rx_bytes': '1000\n',
    'sys/class/net/eth1/statistics/rx_bytes': '5000\n',
    'sys/class/hwmon/hwmon0/temp1_input': '40000\n',
    'sys/class/hwmon/hwmon1/temp1_input': '50000\n',
}
SENSORS = 'net.rx_bytes,net.rx_bytes@eth1,vmstat.nr_free_pages,temperature.temp1_input'


class Kind:
    """A program with MPI or without."""

    def __init__(self, mpi):
        self.mpi = mpi
        if mpi:
            self.program = mpi.build(os.path.join(HERE, 'known.c'), '-pthread', '-ldl', output='sensors-known')
        else:
            self.program = os.path.join(harness.scratch(), 'known')
            harness.run(
                [
                    'cc',
                    '-g',
                    '-pthread',
                    '-DALONE',
                    '-I',
                    harness.INCLUDE,
                    os.path.join(HERE, 'known.c'),
                    '-o',
                    self.program,
                    '-ldl',
                ]
            ).ended(0)

    def __str__(self):
        return str(self.mpi or 'without MPI')

    def native(self, *words):
        return self.mpi.native(self.program, 2, list(words)) if self.mpi else harness.run([self.program, *words])

    def profile(self, words, options, root=None):
        env = {'FVMPI_SENSORS_ROOT': root} if root else {}
        if self.mpi:
            return self.mpi.profile(self.program, 2, list(words), options, env=env)
        directory = os.path.join(harness.scratch('exp'), 'e')
        return harness.run(
            [harness.FVMPI, 'run', '-o', directory, '--mpi', 'serial', *options, self.program, *words],
            env=env,
            directory=directory,
        )


def instances(kind):
    """Between its edges and what an instance adds lie two samples: its bounds are equal. Of the one that ends at once
    nobody knows."""
    file = 'sys/class/powercap/intel-rapl:0/energy_uj'
    root = tree({**FILES, file: '262143000000\n', file.replace('energy_uj', 'max_energy_range_uj'): '999999999999\n'})
    add = ['add', os.path.join(root, file)]
    words = ['wait', 'begin', 'long', 'wait', *add, '2000000', 'wait', 'end', 'long', 'wait']
    words += ['begin', 'long', 'wait', *add, '3000000', 'wait', 'end', 'long', 'wait']
    words += [
        'begin',
        'quiet',
        'wait',
        'end',
        'quiet',
        'wait',
        'begin',
        'short',
        *add,
        '1000000',
        'end',
        'short',
        'wait',
    ]
    options = ['--sensors', 'energy', '--sensors-hz', '50', '--section-instances', '4']
    report = kind.profile(words, options, root).ended(0).report()
    rows = [row for row in report.data['sensor_instances'] if row['rank'] == 0]
    found = {(row['section'], row['instance_number']): row for row in rows}
    late = found.pop(('short', 1), None)  # if it was preempted for as long as samples need, it is known, too
    check(not late or (late['reading_count'] and late['least_j'] <= 1 <= late['most_j']), '{}', late)
    for row in rows:
        check(row['most_j'] - row['least_j'] <= 0.25 * row['energy_j'] + 1e-9, '{}', row)
    equal('instances', sorted(found), [('long', 1), ('long', 2), ('quiet', 1)])
    for key, joules in ((('long', 1), 2), (('long', 2), 3), (('quiet', 1), 0)):
        row = found[key]
        for column in ('energy_j', 'least_j', 'most_j'):
            close('{} of {}'.format(column, key), row[column], joules, 1e-6)
        check(row['reading_count'] >= 2, '{}', row)
        equal('event', report.data['sensors'][row['sensor_id']]['event'], 'energy.energy_uj')


def events(report):
    return {row['event']: row for row in report.data['sensors']}


def driven(tap, kind):
    """What is added while a section is open is that section's, and all."""
    root = tree(FILES)
    eth0, eth1 = (os.path.join(root, 'sys/class/net', name, 'statistics/rx_bytes') for name in ('eth0', 'eth1'))
    words = [
        'wait',
        'begin',
        'quiet',
        'wait',
        'end',
        'quiet',
        'wait',
        'begin',
        'busy',
        'wait',
        'add',
        eth0,
        '3000',
        'wait',
        'add',
        eth1,
        '500',
        'wait',
        'end',
        'busy',
        'wait',
    ]
    with tap.test('{}: what was counted, in all and by section'.format(kind)):
        native = kind.native(*words).ended(0)
        run = kind.profile(words, ['--sensors', SENSORS, '--sensors-hz', '50'], root).ended(0)
        equal('output', run.out, native.out)
        report = run.report()
        found = events(report)
        equal(
            'events',
            list(found),
            ['net.rx_bytes', 'net.rx_bytes@eth1', 'vmstat.nr_free_pages', 'temperature.temp1_input'],
        )
        equal(
            'sentences',
            [row['about'] for row in list(found.values())[:3]],
            ['Bytes received.', 'Bytes received.', 'Free pages.'],
        )
        equal('totals', [row['total'] for row in found.values()], [3500, 500, None, None])
        equal(
            'gauges',
            [[found[name][key] for key in ('kind', 'mean', 'least', 'most', 'unit')] for name in list(found)[2:]],
            [['gauge', 1000, 1000, 1000, ''], ['gauge', 45, 45, 45, 'C']],
        )
        (node,) = report.data['sensor_nodes']
        span = node['end_s'] - node['begin_s']
        for row in found.values():
            points = [p for p in report.data['sensor_series'] if p['sensor_id'] == row['id']]
            close(
                '{}: mean'.format(row['event']),
                row['mean'],
                sum(p['mean'] * (p['end_s'] - p['begin_s']) for p in points) / span,
                1e-6 * (1 + abs(row['mean'])),
            )
            check(row['least'] <= row['mean'] <= row['most'], '{}', row)
            equal('in time', [p['begin_s'] for p in points[1:]], [p['end_s'] for p in points[:-1]])
        close('mean', found['net.rx_bytes']['mean'] * span, 3500, 1e-3)
        sections = {
            (row['section'], report.data['sensors'][row['sensor_id']]['event']): row
            for row in report.data['sensor_sections']
        }
        equal('in quiet', sections['quiet', 'net.rx_bytes']['mean'], 0)
        close('in busy', sections['busy', 'net.rx_bytes']['total'], 3500, 1e-3)
        for (_, event), row in sections.items():
            of_counter = report.data['sensors'][row['sensor_id']]['kind'] == 'counter'
            equal('in all, of {}'.format(event), row['total'] is not None, of_counter)
            if of_counter:
                close(
                    'in all, of {}'.format(event), row['total'], row['mean'] * row['seconds'], 1e-6 * (1 + row['total'])
                )
        close(
            'of one source',
            sections['busy', 'net.rx_bytes@eth1']['mean'] * sections['busy', 'net.rx_bytes@eth1']['seconds'],
            500,
            1e-3,
        )
    with tap.test('{}: energy of each instance that is long enough'.format(kind)):
        instances(kind)
    with tap.test('{}: one reader a node, whose thread is none of the program'.format(kind)):
        with_sensors = harness.dumped(run.directory, 'sensor_process')
        equal('files with sensors', len(with_sensors), 1)
        equal('samples', len(harness.dumped(run.directory, 'sensor_samples')), int(with_sensors[0]['samples']))
        equal(
            'threads',
            len(harness.dumped(run.directory, 'threads')),
            len(harness.dumped(kind.profile(words, ['-q']).ended(0).directory, 'threads')),
        )
        check(0 < node['cpu_s'] < span, 'CPU time of the reader: {}', node)
        text = harness.run([harness.FVMPI, 'report', run.directory, '--width', '120']).ended(0).out
        check(re.search(r'^Machine  ', text, re.M) and 'net.rx_bytes@eth1' in text, 'text: {}', text)


def placed(tap, kind):
    """The reader's thread is where no rank is pinned; ranks bind themselves while it reads already."""
    allowed = sorted(os.sched_getaffinity(0))
    with tap.test('{}: the reader is on a processor that no rank is pinned to'.format(kind)):
        wanted = ['--sensors', 'vmstat.pgfault', '--sensors-hz', '50', '-q']
        (node,) = kind.profile(['wait'], wanted).ended(0).report().data['sensor_nodes']
        check(
            node['place'] in ('anywhere', 'free_core', 'free_processor', 'none_free') and node['processors'], '{}', node
        )
        taken = set(allowed[:2] if kind.mpi else allowed[:1])
        (node,) = kind.profile(['pin'] + 20 * ['wait'], wanted).ended(0).report().data['sensor_nodes']
        found = {
            cpu
            for part in node['processors'].split(',')
            for cpu in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)
        }
        if taken == set(allowed):
            equal('all are taken', (node['place'], found), ('none_free', set(allowed)))
        else:
            check(node['place'] in ('free_core', 'free_processor'), '{}', node)
            check(found and found <= set(allowed) - taken, '{} beside {} of {}', found, taken, allowed)


def archived(tap, kind):
    """In the archive the values are metrics of a location of the node."""
    root = tree(FILES)
    eth0 = os.path.join(root, 'sys/class/net/eth0/statistics/rx_bytes')
    with tap.test('{}: in the archive'.format(kind)):
        run = kind.profile(
            ['wait', 'add', eth0, '3000', 'wait'], ['-q', '--trace', '--sensors', SENSORS, '--sensors-hz', '50'], root
        ).ended(0)
        path = otf2_print.merge(run.directory)
        definitions = harness.run(['otf2-print', '-G', path]).ended(0).out
        ((location, host),) = re.findall(
            r'^LOCATION +(\d+) +Name: "Sensors of ([^"]*)" <\d+>, Type: METRIC', definitions, re.M
        )
        equal('host', host, events_host(run))
        members = re.findall(
            r'^METRIC_MEMBER +\d+ +Name: "([^"]*)" .*Mode: (\w+), Value Type: DOUBLE.*Unit: "([^"]*)"',
            definitions,
            re.M,
        )
        equal(
            'members',
            members,
            [
                ('net.rx_bytes', 'ACCUMULATED_START', 'bytes'),
                ('net.rx_bytes@eth1', 'ACCUMULATED_START', 'bytes'),
                ('vmstat.nr_free_pages', 'ABSOLUTE_POINT', '#'),
                ('temperature.temp1_input', 'ABSOLUTE_POINT', 'C'),
            ],
        )
        found = re.findall(
            r'^METRIC +{} +(\d+) +Metric: \d+, 1 Value: \("([^"]*)" <\d+>; DOUBLE; ([^)]*)\)'.format(location),
            harness.run(['otf2-print', path]).ended(0).out,
            re.M,
        )
        values = [
            [name, float(value)]
            for sample in harness.dumped(run.directory, 'sensor_samples')
            for (name, _, _), value in zip(members, sample['values'].split(','))
            if value.strip('-') != 'nan'
        ]
        equal('values', [[name, float(value)] for _, name, value in found], values)
        equal('in all', [value for name, value in values if name == 'net.rx_bytes'][-1], 3000)
        check([int(time) for time, _, _ in found] == sorted(int(time) for time, _, _ in found), 'times go backwards')
        several = otf2_print.merge(run.directory, processes=[kind.mpi.exec] + kind.mpi.options + ['-n', '2'])
        equal(
            'the same of two processes',
            harness.run(['otf2-print', several]).ended(0).out.split('\n')[8:],
            harness.run(['otf2-print', path]).ended(0).out.split('\n')[8:],
        )


def events_host(run):
    return run.report().data['sensors'][0]['host']


def labelled(tap, kind):
    """By the program, and from outside while it runs."""
    with tap.test('{}: labels'.format(kind)):
        directory, go_on = os.path.join(harness.scratch('exp'), 'e'), os.path.join(harness.scratch('go'), 'on')
        command = [
            kind.program,
            'label',
            'first "of" the program',
            'wait',
            'until',
            go_on,
            'label',
            'l\u00e4st',
            'wait',
        ]
        options = ['-q', '--trace', '--sensors', SENSORS, '--sensors-hz', '50']
        process = harness.start(
            kind.mpi.command(2, kind.mpi.profiled(command, directory, options))
            if kind.mpi
            else [harness.FVMPI, 'run', '-o', directory, '--mpi', 'serial', *options, *command],
            env={'FVMPI_SENSORS_ROOT': tree(FILES)},
        )
        limit = time.monotonic() + 60
        while not os.path.exists(os.path.join(directory, '.control')) and time.monotonic() < limit:
            time.sleep(0.01)
        harness.run([harness.FVMPI, 'label', 'from outside', directory]).ended(0)
        with open(go_on, 'w'):
            pass
        run = harness.finish(process, directory=directory).ended(0)
        labels = run.report().data['labels']
        equal(
            'of the program',
            [(row['text'], row['rank']) for row in labels if row['origin'] == 'program'],
            [('first "of" the program', 0), ('l\u00e4st', 0)],
        )
        equal('from outside', [row['text'] for row in labels if row['origin'] == 'outside'], ['from outside'])
        equal('in time', [row['at_s'] for row in labels], sorted(row['at_s'] for row in labels))
        equal('the FIFO is gone', os.path.exists(os.path.join(directory, '.control')), False)
        check(
            'from outside' in harness.run([harness.FVMPI, 'report', directory, '--width', '120']).ended(0).out,
            'not in the text',
        )
        told = harness.run([harness.FVMPI, 'label', 'too late', directory])
        check(told.rc == 1 and told.err.count('\n') == 1, 'nobody reads it: {}', told.err)
        if kind.mpi:
            out = (
                harness.run([os.path.join(harness.BUILD, 'tests/otf2/markers'), otf2_print.merge(directory)])
                .ended(0)
                .out
            )
            equal('markers', [line.split(' ', 2)[2] for line in out.splitlines()], [row['text'] for row in labels])


def thinned(tap, kind):
    """3,000 values a sample and 1,000 samples a second are more than there is room for."""
    files = dict(
        FILES,
        **{
            path: ''.join('pg{:04d} {}\n'.format(i, i) for i in range(1000))
            for path in (
                'proc/vmstat',
                'proc/meminfo',
                'sys/devices/system/node/node0/numastat',
                'sys/fs/cgroup/memory.stat',
            )
        },
    )
    root = tree(files)
    eth0 = os.path.join(root, 'sys/class/net/eth0/statistics/rx_bytes')
    words = ['wait'] + ['add', eth0, '7', 'wait', 'wait', 'wait'] * 100
    with tap.test('{}: thinned, nothing of what was counted is lost'.format(kind)):
        run = kind.profile(
            words, ['-q', '--sensors', 'vmstat,meminfo,numastat,net.rx_bytes@eth0', '--sensors-hz', '1000'], root
        ).ended(0)
        report = run.report()
        (node,) = report.data['sensor_nodes']
        kept = len(harness.dumped(run.directory, 'sensor_samples'))
        check(node['thinned'] > 0, 'too few samples to be thinned: {}', node)
        close('kept', kept, node['samples'] >> node['thinned'], 2)
        equal('in all', events(report)['net.rx_bytes@eth0']['total'], 700)
        times = [int(s['ticks']) for s in harness.dumped(run.directory, 'sensor_samples')]
        equal('in time', times, sorted(times))


def lives(tap, kind):
    root = tree(FILES)
    with tap.test('{}: setuid() and fork() as without'.format(kind)):
        words = ['wait', 'setuid', 'fork', 'wait']
        run = kind.profile(words, ['-q', '--sensors', SENSORS], root).ended(0)
        equal('output', run.out, kind.native(*words).ended(0).out)
        equal('rank files', len([n for n in os.listdir(run.directory) if n.endswith('.fvr')]), 2 if kind.mpi else 1)
    if not kind.mpi:  # which needs its descriptors
        with tap.test('{}: descriptors are numbered as without, and may all be closed'.format(kind)):
            words = [
                'wait',
                'descriptors',
                'wait',
                'add',
                os.path.join(root, 'sys/class/net/eth1/statistics/rx_bytes'),
                '13',
                'wait',
            ]
            run = kind.profile(words, ['-q', '--sensors', SENSORS, '--sensors-hz', '50'], root).ended(0)
            equal('output', run.out, kind.native(*words).ended(0).out)
            equal('total', events(run.report())['net.rx_bytes@eth1']['total'], 13)
        with tap.test('{}: main() is left by pthread_exit()'.format(kind)):
            for word, wanted in (('leave', 'left\n'), ('alone', 'alone\n')):
                run = kind.profile(['wait', word], ['-q', '--sensors', SENSORS], root).ended(0)
                equal('output', run.out, kind.native('wait', word).ended(0).out)
                equal('its last thread has written', run.out, wanted)
                equal('events', len(run.report().data['sensors']), 4)
    else:
        with tap.test('{}: main() is left by pthread_exit() while another thread is in MPI'.format(kind)):
            run = kind.profile(['elsewhere'], ['-q', '--sensors', SENSORS], root).ended(0)
            native = kind.native('elsewhere').ended(0)  # the launcher mixes what its ranks write
            equal('output', sorted(run.out), sorted(native.out))
            equal('events', len(run.report().data['sensors']), 4)
    with tap.test('{}: after SIGKILL'.format(kind)):
        run = kind.profile(
            ['wait', 'add', os.path.join(root, 'sys/class/net/eth0/statistics/rx_bytes'), '11', 'wait', 'kill'],
            ['-q', '--sensors', SENSORS, '--sensors-hz', '100'],
            root,
        )
        check(run.rc != 0, 'it was killed')
        report = harness.report_of(run.directory)
        equal('complete', report.data['run']['complete'], False)
        equal('total', events(report)['net.rx_bytes']['total'], 11)
    with tap.test('{}: beside all else'.format(kind)):
        words = ['wait', 'pages', '100', 'wait']
        run = kind.profile(
            words, ['-q', '--sensors', SENSORS, *harness.FRONTS, '--threads', '--sample', '--trace'], root
        ).ended(0)
        report = run.report()
        equal('output', run.out, kind.native(*words).ended(0).out)
        check(root not in json.dumps(report.data.get('io_files')), 'files of the tree: {}', report.data.get('io_files'))
        equal('events', len(report.data['sensors']), 4)


def here(tap, kind):
    """At least what the program did."""
    with tap.test('{}: on this machine'.format(kind)):
        if not os.path.exists('/sys/class/net/lo/statistics/rx_bytes'):
            tap.skip('no loopback interface in /sys')
        words = ['wait', 'pages', '5000', 'loopback', '300000', 'wait']
        run = kind.profile(
            words, ['-q', '--sensors', 'vmstat.pgfault,net.rx_bytes@lo,cpu.user,default', '--sensors-hz', '100']
        ).ended(0)
        found = events(run.report())
        check(found['vmstat.pgfault']['total'] >= 5000, '5,000 pages were touched: {}', found['vmstat.pgfault'])
        check(found['net.rx_bytes@lo']['total'] >= 300000, '300,000 bytes were sent: {}', found['net.rx_bytes@lo'])


def words(tap, kind):
    with tap.test('{}: names that are wrong are told once, and the others read'.format(kind)):
        root = tree(FILES)
        run = kind.profile(
            ['wait'], ['-q', '--sensors', 'vmstatt,net.rx_byte,infiniband,net.rx_bytes@eth7,vmstat.pgfault'], root
        ).ended(0)
        said = sorted(line for line in run.err.splitlines() if '--sensors' in line)
        equal(
            'said',
            said,
            sorted(
                [
                    'fvmpi: --sensors: vmstatt: no such sensor, did you mean vmstat; fvmpi stat --list lists them',
                    'fvmpi: --sensors: net.rx_byte: net has no such event, did you mean rx_bytes; fvmpi stat --list lists them',
                    'fvmpi: --sensors: infiniband: not on this machine: there is no {}/sys/class/infiniband/*/ports/*/counters'.format(
                        root
                    ),
                    'fvmpi: --sensors: net.rx_bytes@eth7: net has no such source; it has eth0, eth1',
                ]
            ),
        )
        equal('events', list(events(run.report())), ['vmstat.pgfault'])
        equal('not found', run.report().data['sensor_nodes'][0]['not_found'], 4)
        run = kind.profile(['wait'], ['-q', '--sensors', 'nothing'], root).ended(0)
        equal('none', run.report().data['sensors'], [])


def main():
    tap = harness.Tap()
    harness.patiently()
    for kind in [Kind(mpi) for mpi in harness.an_mpi(tap)] + [Kind(None)]:
        driven(tap, kind)
        placed(tap, kind)
        if kind.mpi:
            archived(tap, kind)
        labelled(tap, kind)
        lives(tap, kind)
        words(tap, kind)
    thinned(tap, Kind(None))
    here(tap, Kind(None))
    tap.done()


main()
