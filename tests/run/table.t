#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi report --table: what is asked for is what is printed, in each form, and what cannot be is refused in one line.
The experiment is one of tests/replay."""
import collections
import csv
import importlib.util
import io
import json
import os
import re
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal


UNIFY = os.path.join(harness.BUILD, 'fvunify')


def unpacked(name):
    place = harness.scratch()
    with tarfile.open(os.path.join(os.path.dirname(HERE), 'replay', name + '.tar.xz')) as packed:
        packed.extractall(place)
    return os.path.join(place, name)


def asked(experiment, table, *options, status=0):
    return harness.run([harness.FVMPI, 'report', experiment, '--table', table] + list(options)).ended(status)


def csv_of(experiment):
    place = harness.scratch()
    harness.run([harness.FVMPI, 'report', experiment, '--csv', place]).ended(0)
    return place


def rows(experiment, table, *options):
    return list(csv.DictReader(io.StringIO(asked(experiment, table, '--csv', '-', *options).out)))


def refused(experiment, table, *options):
    done = asked(experiment, table, *options, status=2)
    equal('lines of {}'.format(options), (done.out, len(done.err.splitlines())), ('', 1))
    return done.err


def main():
    tap = harness.Tap()
    if not importlib.util.find_spec('_lzma'):
        print('1..0 # SKIP this python3 has no lzma, which unpacks the rank files')
        return
    ring, sections = unpacked('openmpi'), unpacked('sections')
    names = [
        line.split()[0]
        for line in harness.run([harness.FVMPI, 'report', '--columns']).ended(0).out.splitlines()
        if line.startswith('  ') and line[2] != ' '
    ]
    with tap.test('CSV, JSON and text have the same rows, of all tables'):
        for name in names:
            of_csv = list(csv.reader(io.StringIO(asked(sections, name, '--csv', '-').out)))
            of_json = json.loads(asked(sections, name, '--json', '-').out, parse_float=str)
            equal('columns of ' + name, of_json['columns'], of_csv[0])
            equal('rows of ' + name, len(of_json['rows']), len(of_csv) - 1)
            for row, fields in zip(of_json['rows'], of_csv[1:]):
                numbers = [
                    i for i, value in enumerate(row) if isinstance(value, (str, int)) and not isinstance(value, bool)
                ]
                check(
                    [str(row[i]) for i in numbers] == [fields[i] for i in numbers]
                    or not all(str(row[i]).isascii() for i in numbers),
                    '{}: {} is {} in CSV',
                    name,
                    row,
                    fields,
                )
            for width in ('40', '3000'):
                check(asked(sections, name, '--width', width).out.startswith('\n' + name), 'text of {}', name)
    with tap.test('the timeline of JSON and of CSV is the same'):
        place = harness.scratch()
        harness.run([harness.FVMPI, 'report', ring, '--json', place + '/json', '--csv', place]).ended(0)
        with open(place + '/json') as file, open(place + '/timeline.csv') as table:
            line = json.load(file)['timeline']['per_rank']
            pairs = list(
                zip((float(r['share']) for r in csv.DictReader(table)), (s for row in line['rows'] for s in row[-1]))
            )
            equal('shares that differ', [p for p in pairs if p[0] != p[1]][:5], [])
            check(len(pairs) > 1000, '{} shares', len(pairs))
    with tap.test('ranks add up to the whole'):
        whole = {r['id']: r for r in rows(ring, 'callsites')}
        for key in ('count', 'bytes_sent', 'bytes_received'):
            sums = dict.fromkeys(whole, 0)
            for r in rows(ring, 'callsites_by_rank'):
                sums[r['callsite_id']] += int(r[key])
            equal(key, sums, {i: int(r[key]) for i, r in whole.items()})
    with tap.test('sizes of the messages of a call site and rank: means, where a file has no exact ones'):
        for table in ('callsites', 'callsites_by_rank'):
            sizes = collections.defaultdict(set)
            for r in rows(ring, table):
                sizes[r['function']].add((r['message_min_bytes'], r['message_mean_bytes'], r['message_max_bytes']))
            equal('400 and 800 bytes', sizes['MPI_Isend'], {('', '600.0', '')})
            equal('64 bytes', sizes['MPI_Send'], {('', '64.0', '')})
            equal('none', sizes['MPI_Barrier'], {('', '', '')})
    with tap.test('conditions, order, ranks'):
        counts = [
            int(r['count'])
            for r in rows(ring, 'callsites', '--sort', '-count', '--where', 'count > 3', '--columns', 'count')
        ]
        check(counts and min(counts) > 3 and counts == sorted(counts, reverse=True), '{}', counts)
        equal('the first', len(rows(ring, 'callsites', '--top', '2')), 2)
        for options in ([], ['--sort', '-count'], ['--where', 'number!=1']):
            count = len(rows(ring, 'callsites', *options))
            said = asked(ring, 'callsites', '--top', '2', *options).out.splitlines()[1]
            check('2 rows of {},'.format(count) in said and count > 2, '{}: {}', options, said)
            check(
                '{} rows,'.format(count) in asked(ring, 'callsites', '--top', str(count), *options).out, '{}', options
            )
        equal('==', [r['number'] for r in rows(ring, 'callsites', '--where', 'number==2')], ['2'])
        equal('ranks', sorted({r['rank'] for r in rows(ring, 'callsites_by_rank', '--rank', '0,2')}), ['0', '2'])
        equal(
            'contains',
            {r['function'] for r in rows(ring, 'callsites', '--where', 'function~Allreduce')},
            {'MPI_Allreduce'},
        )
    with tap.test('what cannot be is refused'):
        for options in (
            ['--where', 'number=<2'],
            ['--where', 'rank>1'],
            ['--where', 'number'],
            ['--columns', 'number,nothing'],
            ['--columns', ','.join(['number'] * 99)],
            ['--sort', 'nothing'],
            ['--rank', '0'],
            ['--thread', '1'],
        ):
            refused(ring, 'callsites', *options)
        refused(ring, 'callsites_by_rank', '--rank', '2-1')
        refused(ring, 'nothing')
        check(', did you mean callsites; ' in refused(ring, 'callsite'), 'the nearest table')
        equal('--csv -', harness.run([harness.FVMPI, 'report', ring, '--csv', '-']).rc, 2)
        check(not os.path.exists('-'), 'a directory of the name -')
    with tap.test('conditions: without a value, truths, shares'):
        every = rows(ring, 'callsites')
        for column in ('wait_s', 'file', 'function', 'count'):
            unknown, known = (rows(ring, 'callsites', '--where', column + op) for op in ('=', '!='))
            equal(column + '=', unknown, [r for r in every if r[column] == ''])
            equal(column + '!=', known, [r for r in every if r[column] != ''])
            for op in ('<', '<=', '>', '>=', '~'):
                check('a value is missing' in refused(ring, 'callsites', '--where', column + op), '{}', column + op)
        for words, truth in ((('true', 'yes', '1'), 'true'), (('false', 'no', '0'), 'false')):
            for word in words:
                equal(
                    'freed=' + word,
                    {r['freed'] for r in rows(ring, 'communicators', '--where', 'freed=' + word)} - {truth},
                    set(),
                )
        equal('freed', *(len(rows(ring, 'communicators', '--where', where)) for where in ('freed=no', 'freed!=yes')))
        for where in ('freed=maybe', 'freed>true', 'freed~t'):
            check('true, false, yes, no, 1 or 0' in refused(ring, 'communicators', '--where', where), '{}', where)
        percent = rows(ring, 'callsites', '--where', 'share>5%')
        check(0 < len(percent) < len(every), '{}', percent)
        equal('share', percent, rows(ring, 'callsites', '--where', 'share > 0.05'))
        for where in ('share>5', 'share<101%', 'share>-1', 'share>much'):
            check('from 0% to 100%' in refused(ring, 'callsites', '--where', where), '{}', where)
        for where in ('rank_count<nan', 'count>inf', 'time_sum_s>1ms'):
            check('takes a number' in refused(ring, 'callsites', '--where', where), '{}', where)
        check('exact or estimate;' in refused(ring, 'callsites', '--where', 'wait_kind=known'), 'wait_kind')
    with tap.test('--rank and --thread: the table that has them is named'):
        for table, option, other in (
            ('callsites', '--rank', 'callsites_by_rank'),
            ('locks', '--thread', 'locks_by_thread'),
            ('sections', '--thread', 'section_threads'),
            ('sampled_functions', '--thread', 'sampled_by_thread'),
            ('locks', '--rank', 'locks_by_rank'),
        ):
            check('; table {} has one;'.format(other) in refused(ring, table, option, '0'), '{}', table)
        check('has one' not in refused(ring, 'efficiency', '--rank', '0'), 'efficiency')
    with tap.test('questions are looked at before the experiment is'):
        for options in (['--where', 'number=<2'], ['--columns', 'nothing'], ['--sort', 'nothing'], ['--rank', '0']):
            check('/nonexistent' not in refused('/nonexistent', 'callsites', *options), '{}', options)
    with tap.test('ranks that are not there, tables of which nothing was recorded'):
        equal('said nothing', asked(ring, 'callsites_by_rank', '--rank', '0-9').err, '')
        for options, words in (
            (['ranks', '--rank', '0,9'], 'no row of rank 9;'),
            (['threads', '--thread', '7-8'], 'threads 7-8;'),
            (['sampled_functions'], 'fvmpi run --sample'),
            (['cpu_lines', '--csv', '-'], 'fvmpi run --sample'),
            (['locks_by_rank'], 'fvmpi run --threads'),
            (['phases'], 'fvmpi run --threads'),
        ):
            said = asked(ring, *options).err
            check(words in said and len(said.splitlines()) == 1, '{}: {}', options, said)
    with tap.test('what is missing of the experiment is said'):
        part = unpacked('openmpi')
        os.unlink(os.path.join(part, 'rank-000002.fvr'))
        done = asked(part, 'callsites', '--csv', '-')
        check(len(done.err.splitlines()) == 1 and '--table problems' in done.err and done.out, '{}', done.err)
        check('no row of rank 2;' in asked(part, 'ranks', '--rank', '2').err, 'rank 2')
    with tap.test('empty columns that were asked for are shown'):
        done = asked(ring, 'callsites', '--columns', 'number,file,count', '--where', 'function=MPI_Barrier')
        check('file' in done.out, '{}', done.out)
    with tap.test('--columns: each table that is named'):
        one, other = (
            harness.run([harness.FVMPI, 'report', '--table', name, '--columns']).ended(0).out
            for name in ('ranks', 'matrix')
        )
        equal(
            'both',
            harness.run([harness.FVMPI, 'report', '--table', 'ranks', '--table=matrix', '--columns']).ended(0).out,
            one + '\n' + other,
        )
    with tap.test('exports of samples where there are none: an error, and what stood there stays'):
        place = harness.scratch()
        for option in ('--folded', '--speedscope'):
            with open(place + '/samples', 'w') as old:
                old.write('old')
            for path in ('-', place + '/samples'):
                done = harness.run([harness.FVMPI, 'report', ring, option, path]).ended(1)
                check(
                    not done.out
                    and option in done.err
                    and 'fvmpi run --sample' in done.err
                    and len(done.err.splitlines()) == 1,
                    '{}',
                    done.err,
                )
            with open(place + '/samples') as old:
                equal(option, old.read(), 'old')
    with tap.test('of an option that is given twice the last one counts'):
        equal('columns', list(rows(ring, 'callsites', '--columns', 'id', '--columns', 'number')[0]), ['number'])
        check(
            'given twice' in ' '.join(harness.run([harness.FVMPI, 'report', '--help']).ended(0).out.split()), '--help'
        )
    with tap.test('--csv: what an earlier report left goes, what others left stays'):
        place = harness.scratch()
        harness.run([harness.FVMPI, 'report', unpacked('threads'), '--csv', place]).ended(0)
        gone = sorted(set(os.listdir(place)) - set(os.listdir(csv_of(ring))))
        check('locks.csv' in gone, '{}', gone)
        for name in ('mine.csv', 'phases.csv'):
            with open(os.path.join(place, name), 'w') as mine:
                mine.write('a,b\n1,2\n')
        said = harness.run([harness.FVMPI, 'report', ring, '--csv', place]).ended(0).err
        equal('files', sorted(os.listdir(place)), sorted(os.listdir(csv_of(ring)) + ['mine.csv', 'phases.csv']))
        check('phases.csv' in said and len(said.splitlines()) == 1, '{}', said)
    with tap.test('--json-ranks none: nothing of a single rank, but whom a finding is about'):
        hang = unpacked('hang')
        ranks = re.compile(r'^(rank|thread|from|to)$')

        def named(value, where=''):
            if isinstance(value, dict):
                columns = (
                    [c for c in value.get('columns', []) if ranks.search(c)]
                    if 'rows' in value and value['rows']
                    else []
                )
                for key, of in value.items():
                    yield from (
                        [where + key] if of is not None and (ranks.search(key) or key == 'rank_list') else []
                    ) + list(named(of, where + key + '.'))
                yield from [where + c for c in columns]
            for of in value if isinstance(value, list) else []:
                yield from named(of, where)

        for of in (ring, sections, hang, unpacked('samples'), unpacked('threads')):
            all_of, none = (
                harness.valid(
                    harness.run([harness.FVMPI, 'report', of, '--json', '-', '--json-ranks', which]).ended(0).out
                )
                for which in ('all', 'none')
            )
            found = {w for w in named(none) if not w.endswith(('worst.rank', 'findings.rank'))}
            check(named(all_of) and not found, '{}: {}', of, sorted(found))
    with tap.test('--threshold: rows from a share of the time on; the others are counted'):
        text = harness.run([harness.FVMPI, 'report', ring, '--threshold', '1', '--width', '3000']).ended(0).out
        for title, begin, table, noun in (
            ('MPI functions', r'  MPI_', 'mpi_functions', 'function'),
            ('Call sites', r' +[0-9]+  MPI_', 'callsites', 'call site'),
        ):
            part = text[text.index('\n' + title) :].split('\n\n' if title == 'MPI functions' else '\nMessage')[0]
            shares = [float(r['time_sum_s']) for r in rows(ring, table)]
            total = sum(float(r['time_sum_s']) / float(r['share']) for r in rows(ring, 'callsites', '--top', '1'))
            shown = sum(s >= 0.01 * total for s in shares)
            equal(title, sum(bool(re.match(begin, line)) for line in part.splitlines()), shown)
            left = len(shares) - shown
            check(
                0 < shown and left > 1 and '... {} more {}s'.format(left, noun) in part and '--threshold shows' in part,
                '{}',
                part,
            )
        for options in (
            ['--threshold', 'x'],
            ['--threshold', '101'],
            ['--threshold', '1', '--table', 'callsites'],
            ['--threshold', '1', '--json', '/dev/null'],
        ):
            check('--threshold' in harness.run([harness.FVMPI, 'report', ring] + options).ended(2).err, '{}', options)
    with tap.test('call sites: five, and none below 1 %, unless more is asked for'):
        shares = [float(r['share']) for r in rows(ring, 'callsites')]
        check(sum(s >= 0.01 for s in shares) < 5 and len(shares) > 8, '{}', shares)
        for options, wanted in (([], sum(s >= 0.01 for s in shares)), (['--top', '7'], 7), (['--all'], len(shares))):
            text = harness.run([harness.FVMPI, 'report', ring] + options).ended(0).out
            found = re.findall(r'^ +[0-9]+  MPI_', text[text.index('\nCall sites') :], re.M)
            equal('call sites with {}'.format(options), len(found), wanted)
        text = harness.run([harness.FVMPI, 'report', ring, '--width', '200']).ended(0).out
        times = {
            int(r['rank']): float(r['time_sum_s']) for r in rows(ring, 'callsites_by_rank') if r['callsite_id'] == '0'
        }
        low, high = min(times, key=times.get), max(times, key=times.get)
        check(
            re.search(r'^      a rank .* \(rank {}\) to .* \(rank {}\), cov'.format(low, high), text, re.M),
            '{}: {}',
            times,
            text,
        )
    with tap.test('fvmpi diff has the rows of every table, and a run has no change against itself'):
        for name, ranks, table, seconds in (
            ('sections', 2, 'sections', 'elapsed_sum_s'),
            ('threads', 2, 'locks', 'wait_s'),
            ('samples', 1, 'cpu_procedures', 'exclusive_time_s'),
            ('openmpi', 3, 'findings', 'lost_s'),
        ):
            of = unpacked(name)
            done = harness.run([harness.FVMPI, 'diff', of, of, '--json', '-']).ended(0)
            entries = [e for e in harness.valid(done.out, 'diff')['entries'] if e['table'] == table]
            check(entries and {e['joined'] for e in entries} == {'position'}, '{}: {}', table, entries)
            equal('changes of ' + table, [c for e in entries for c in e['changes'] if c['change']], [])
            wanted = sum(float(r[seconds] or 0) for r in rows(of, table) if r.get('whole') != 'true') / ranks
            close('seconds of ' + table, sum(e['changes'][0]['a'] or 0 for e in entries), wanted, 1e-6 * wanted)
    with tap.test('--glossary: the words of the report, and the same on a page of the manual'):
        said = harness.run([harness.FVMPI, 'report', '--width', '9999', '--glossary']).ended(0).out
        words = re.findall(r'^  ([^:]+): (.+)$', said, re.M)
        with open(os.path.join(harness.SOURCE, 'share', 'doc', 'glossary.md')) as f:
            equal('the page (./dev docs writes it)', re.findall(r'^- \*\*([^:]+)\*\*: (.+)$', f.read(), re.M), words)
        check(len(words) > 40 and len({w for w, _ in words}) == len(words), '{}', words)
        check(
            max(
                len(line)
                for line in harness.run([harness.FVMPI, 'report', '--width', '70', '--glossary'])
                .ended(0)
                .out.splitlines()
            )
            <= 70,
            'too wide',
        )
    with tap.test('--threshold: every table whose rows have a share'):
        for name, percent, title, table, share, noun, is_row in (
            ('samples', 50, 'Functions', 'sampled_functions', 'time_share', 'function', None),
            ('threads', 5, 'Locks and barriers', 'locks', 'wait_share', 'row', None),
            ('threads', 5, 'Thread phases', 'phases', 'time_share', 'phase', lambda r: int(r['team_max']) > 1),
            ('openmpi', 10, 'Ranks', 'ranks', 'others_waited_share', 'rank', None),
            ('openmpi', 34, 'Heaviest peers', 'matrix', 'share', 'pair', None),
            ('openmpi', 2.65, 'Communicators', 'communicators', 'share', 'communicator', lambda r: int(r['count'])),
            ('sections', 15, 'Sections', 'sections', 'elapsed_share', 'section', None),
        ):
            of = unpacked(name)
            shares = [r[share] for r in rows(of, table) if not is_row or is_row(r)]
            left = sum(s != '' and float(s) < percent / 100 for s in shares)
            text = (
                harness.run([harness.FVMPI, 'report', of, '--threshold', str(percent), '--width', '3000']).ended(0).out
            )
            part = re.search(r'^{}\b.*?\n\n'.format(title), text + '\n\n', re.M | re.S)[0]
            check(0 < left < len(shares), '{}: {} of {}', table, left, len(shares))
            check('... {} more {}'.format(left, noun) in part and 'a smaller --threshold shows' in part, '{}', part)
        killed = harness.run([harness.FVMPI, 'report', unpacked('killed'), '--threshold', '100']).ended(0).out
        equal(
            'ranks of a killed run',
            len(re.findall(r'^ +[0-9]+ .*(?:killed|finalized|exited)', killed[killed.index('\nRanks  ') :], re.M)),
            3,
        )
    with tap.test('--threshold: no table is the longer for it, and what it leaves out is counted'):
        analysed = unpacked('states')
        whole = os.path.exists(UNIFY) and harness.run([UNIFY, analysed]).ended(0)
        for of, titles in (
            (analysed, ['Waiting', 'MPI functions', 'Call sites', 'Heaviest peers', 'Communicators', 'Ranks']),
            (unpacked('sections'), ['Waiting in collectives', 'Sections', 'MPI functions', 'Call sites', 'Ranks']),
            (unpacked('threads'), ['Locks and barriers', 'Thread phases']),
            (unpacked('samples'), ['Functions', 'CPU time']),
        ):
            usual, high = (
                harness.run([harness.FVMPI, 'report', of, '--width', '100'] + options).ended(0).out
                for options in ([], ['--threshold', '99'])
            )
            for title in titles:
                parts = [re.search(r'^{}(  .*)?\n(.+\n|\n +.*\n)*'.format(title), text, re.M) for text in (usual, high)]
                check(parts[0] and parts[1], '{}: {}', of, title)
                lines = [part[0].count('\n') for part in parts]
                check(
                    lines[1] <= lines[0]
                    and re.search(r'^  \.\.\. .*[0-9].* a smaller --threshold shows', parts[1][0], re.M),
                    '{}: {} lines, not {}: {}',
                    title,
                    lines[1],
                    lines[0],
                    parts[1][0],
                )
            check(high.count('\n') < usual.count('\n'), '{}: {}', of, high)
        if whole:
            part = harness.run([harness.FVMPI, 'report', analysed, '--threshold', '20', '--width', '3000']).ended(0).out
            part = re.search(r'^Waiting  .*?\n\n', part, re.M | re.S)[0]
            for table, noun, share in (
                ('culprits', 'culprit', 'share'),
                ('wait_kinds', 'kind', 'share'),
                ('regions', 'region', 'share'),
            ):
                left = sum(r[share] == '' or float(r[share]) < 0.2 for r in rows(analysed, table))
                check(
                    left > 2 and re.search('{}( more)? {}s'.format(left, noun), part), '{} of {}: {}', left, table, part
                )
    with tap.test('--threshold: the call tree, and the sites of locks'):
        for percent in (0.2, 2, 60):
            text = harness.run([harness.FVMPI, 'report', unpacked('samples'), '--threshold', str(percent)]).ended(0).out
            tree = text[text.index('Call tree  branches of {} %'.format(percent)) :].split('\n\n')[0].splitlines()[2:]
            shares = [float(line.split()[0]) for line in tree]
            check(shares and min(shares) >= percent, '{}: {}', percent, tree)
        text = harness.run([harness.FVMPI, 'report', unpacked('threads'), '--threshold', '5']).ended(0).out
        check(text.count('\n      waits  ') == 3, '{}', text)
    with tap.test('errors name the option and the place'):
        place = harness.scratch()
        check('--csv' in asked(ring, 'ranks', '--csv', place, status=1).err, '--csv')
        check('--schema' in harness.run([harness.FVMPI, 'report', ring, '--schema']).ended(2).err, '--schema')
        check('alone' in harness.run([harness.FVMPI, 'report', ring, '--schema']).err, '--schema')
        full = harness.run(['sh', '-c', 'exec "$0" report "$1" --json - > /dev/full', harness.FVMPI, ring]).ended(1)
        check('"message":"stdout: ' in full.err and '--json' in full.err, '{}', full.err)
    tap.done()


main()
