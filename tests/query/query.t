#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi query and report --sqlite: every table by SQL is what JSON and CSV have of it, over the schema and all captured
experiments (tests/replay); statements that would do harm, or never end; several runs; joins; stretches of a trace."""
import csv
import json
import math
import os
import shlex
import shutil
import sqlite3
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
import otf2_print
from report import check, equal
from viewed import foreign

REPLAY = os.path.join(HERE, '..', 'replay')
CAPTURED = sorted(f[: -len('.tar.xz')] for f in os.listdir(REPLAY) if f.endswith('.tar.xz'))
ADDED = ('run', 'row', 'parent')


def said(place, *command, rc=0):
    return harness.run([harness.FVMPI, *command], cwd=place, env={'NO_COLOR': '1', 'COLUMNS': '200'}).ended(rc)


def ask(place, runs, statement, *options):
    out = json.loads(said(place, 'query', *runs, statement, '--json', *options).out)
    equal('complete', out['complete'], True)
    return [tuple(row) for row in out['rows']]


# ---- what JSON has ----


class Tables:
    """The tables of a document by its schema: {name: ([(row, parent, {column: value})])}."""

    def __init__(self, schema, document, names):
        self.rows, self.parents, self.names = {}, {}, names
        for key, of in schema['properties'].items():
            if '$ref' not in of and key != 'schema':
                self.add(of, document[key], of.get('table', key), None, 0)

    def name(self, of, derived):
        whole = derived + '_whole'
        return of.get('table') or (whole if whole in self.names else derived)

    def add(self, of, data, name, parent, number):
        name = self.name(of, name)
        self.parents[name] = parent
        rows = self.rows.setdefault(name, [])
        inner = of.get('items') or of.get('additionalProperties') or of
        if data is None:
            items = []
        elif set(of.get('properties', ())) == {'columns', 'rows'}:
            rows += [(len(rows) + i + 1, number, dict(zip(data['columns'], r))) for i, r in enumerate(data['rows'])]
            return
        elif isinstance(data, list):
            items = [(None, item) for item in data]
        elif isinstance(of.get('additionalProperties'), dict):
            items = list(data.items())
        else:
            items = [(None, data)]
        if not items:
            self.walk(inner, None, name, 0, '', {})
        for key, item in items:
            row = {} if key is None else {'': key}
            rows.append((len(rows) + 1, number, row))
            self.walk(inner, item, name, len(rows), '', row)

    def walk(self, of, item, name, number, prefix, row):
        for key, inner in of.get('properties', {}).items():
            value = None if item is None else item[key]
            if '$ref' in inner:
                continue
            is_object = (
                'object' in inner.get('type', ())
                or isinstance(inner.get('items'), dict)
                and (inner['items'].get('type') == 'object')
            )
            if is_object and 'description' not in inner:
                self.walk(inner, value, name, number, prefix + key + '_', row)
            elif is_object:
                self.add(inner, value, '{}_{}{}'.format(name, prefix, key), name, number)
            else:
                row[prefix + key] = value


def same(found, wanted):
    if isinstance(wanted, bool):
        return found == int(wanted)
    if isinstance(wanted, list):
        found = json.loads(found) if isinstance(found, str) else found
        return len(found) == len(wanted) and all(same(f, w) for f, w in zip(found, wanted))
    if isinstance(wanted, float) or isinstance(found, float):
        return found is not None and wanted is not None and math.isclose(found, wanted, rel_tol=1e-11, abs_tol=1e-15)
    return found == wanted


def compare(name, columns, rows, tables):
    """Rows of SQL with those of the document."""
    wanted = tables.rows[name]
    equal(name + ': rows', len(rows), len(wanted))
    for found, (number, parent, row) in zip(rows, wanted):
        of = dict(zip(columns, found))
        if tables.parents[name]:
            equal(name + '.parent', of['parent'], parent)
        if 'row' in of:
            equal(name + '.row', of['row'], number)
        for key, value in row.items():
            if key == '':
                check(value in found, '{}: {} is not in {}', name, value, found)
            else:
                check(key in of, '{}: there is no {}', name, key)
                check(same(of[key], value), '{}.{}: {!r}, wanted {!r}', name, key, of[key], value)


def compare_csv(place, directory, database):
    """What flat forms alone have: other columns, and tables."""
    for file in sorted(os.listdir(os.path.join(place, directory))):
        name = file[: -len('.csv')]
        with open(os.path.join(place, directory, file), newline='') as f:
            wanted = list(csv.DictReader(f))
        rows = database.execute('SELECT * FROM "{}"'.format(name))
        columns = [c[0] for c in rows.description]
        rows = rows.fetchall()
        equal(name + ': rows of CSV', len(rows), len(wanted))
        for found, row in zip(rows, wanted):
            for key, value in dict(zip(columns, found)).items():
                if key in ADDED or (isinstance(value, str) and value.startswith('[')):
                    continue
                check(key in row, '{}: CSV has no {}', name, key)
                is_number = isinstance(value, (int, float)) and row[key] not in ('true', 'false')
                if is_number:
                    check(same(float(row[key]), float(value)), '{}.{}: {!r}, wanted {!r}', name, key, value, row[key])
                elif isinstance(value, int):
                    equal('{}.{}'.format(name, key), value, int(row[key] == 'true'))
                else:
                    text = row[key][1:] if row[key][:1] == "'" else row[key]
                    equal('{}.{}'.format(name, key), value or '', text)


def every_table(tap, place, name, schema):
    with tap.test(name + ': every table of the database is what JSON and CSV have'):
        said(place, 'report', name, '--sqlite', name + '.db', '--csv', name + '-csv')
        database = sqlite3.connect(os.path.join(place, name + '.db'))
        names = {row[0] for row in database.execute("SELECT name FROM about_tables WHERE origin = 'profile'")}
        document = json.loads(said(place, 'report', name, '--json', '-', '--json-ranks', 'all').out)
        tables = Tables(schema, document, names)
        equal('check', database.execute('PRAGMA integrity_check').fetchone(), ('ok',))
        for table in tables.rows:
            rows = database.execute('SELECT * FROM "{}"'.format(table))
            compare(table, [c[0] for c in rows.description], rows.fetchall(), tables)
        compare_csv(place, name + '-csv', database)
        database.close()
    return tables


def every_virtual_table(tap, place, name, tables):
    with tap.test(name + ': every virtual table is what JSON has'):
        for table in tables.rows:
            out = json.loads(said(place, 'query', name, 'SELECT * FROM "{}"'.format(table), '--json').out)
            compare(table, out['columns'], out['rows'], tables)


def documented(tap, place):
    with tap.test('the database describes its tables and columns; views answer; types are declared'):
        database = sqlite3.connect(os.path.join(place, 'samples.db'))
        there = {r[0] for r in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        equal('tables', {r[0] for r in database.execute('SELECT name FROM about_tables')}, there)
        for table in there:
            info = database.execute('PRAGMA table_info("{}")'.format(table)).fetchall()
            told = database.execute('SELECT name, type FROM about_columns WHERE of_table = ?', (table,)).fetchall()
            equal(table, [(i[1], i[2]) for i in info], told)
        for table, what in (('about_tables', 'doc'), ('about_columns', 'doc'), ('about_views', 'question')):
            blank = database.execute("SELECT count(*) FROM {} WHERE coalesce({}, '') = ''".format(table, what))
            equal(table + ' without words', blank.fetchone(), (0,))
        for view, statement in database.execute('SELECT name, sql FROM about_views').fetchall():
            equal(view, database.execute('SELECT * FROM ' + view).fetchall(), database.execute(statement).fetchall())
            equal(
                view,
                len(ask(place, ['samples'], 'SELECT * FROM ' + view)),
                database.execute('SELECT count(*) FROM ' + view).fetchone()[0],
            )
        indices = database.execute("SELECT count(*) FROM sqlite_master WHERE type = 'index'").fetchone()
        check(indices[0] > 0, 'no index')
        database.close()


# ---- statements ----

DENIED = (
    "ATTACH 'x.db' AS x", 'PRAGMA table_list', 'SELECT * FROM pragma_table_list', 'SELECT * FROM sqlite_dbpage', 'PRAGMA writable_schema = 1', 'DETACH main', 'VACUUM',
    "VACUUM INTO 'x.db'", 'CREATE TABLE x (a)', 'CREATE TEMP TABLE x (a)', 'DROP VIEW longest_calls',
    'INSERT INTO ranks (rank) VALUES (1)', 'UPDATE ranks SET rank = 1', 'DELETE FROM ranks', 'BEGIN', 'ANALYZE', 'REINDEX',
    'CREATE VIRTUAL TABLE x USING ranks', "SELECT load_extension('x')", "SELECT writefile('x.db', 'y')",
    'EXPLAIN DELETE FROM ranks', 'SELECT 1; DROP VIEW longest_calls', '', '-- nothing', 'SELECT * FROM nothing',
    'SELECT nothing FROM ranks', 'SELEC 1', 'SELECT ' + '(' * 5000 + '1' + ')' * 5000,
    'SELECT 1' + ' UNION SELECT 1' * 200,
)  # fmt: skip
ENDLESS = (
    'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t',
    'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT * FROM t ORDER BY x',
    'SELECT count(*) FROM about_columns a, about_columns b, about_columns c, about_columns d',
    "SELECT hex(zeroblob(7000000)) LIKE '%" + '0' * 450 + "1'",  # one function
)


def harm(tap, place):
    with tap.test('what is no SELECT is refused, and changes nothing'):
        before = sorted(os.listdir(place))
        for statement in DENIED:
            run = said(place, 'query', 'mpich', statement, rc=2)
            equal(statement[:60] + ': lines', len(run.err.splitlines()), 1)
            equal('out', run.out, '')
        equal('files', sorted(os.listdir(place)), before)
    with tap.test('a statement that does not end ends at --timeout'):
        for statement in ENDLESS:
            run = harness.run(
                [harness.FVMPI, 'query', 'mpich', statement, '--json', '--timeout', '0.5'], cwd=place, limit=60
            )
            check('--timeout' in run.err and run.rc == 1, '{}: {} {}', statement[:60], run.rc, run.err)
    with tap.test('an endless answer of text ends with its rows'):
        run = said(place, 'query', 'mpich', ENDLESS[0].replace('count(*)', 'x'), '--top', '3')
        equal('lines', [line.strip() for line in run.out.splitlines()][1:4], ['1', '2', '3'])


def usage(tap, place):
    with tap.test('wrong usage'):
        for options in (
            ['mpich'], [], ['mpich', 'mpich', 'SELECT 1'], ['--tables', 'mpich'], ['--columns', 'nothing'],
            ['mpich', 'SELECT 1', '--timeout', 'x'], ['mpich', 'SELECT 1', '--timeout', '-1'],
        ):  # fmt: skip
            said(place, 'query', *options, rc=2)
        said(place, 'query', 'nowhere', 'SELECT 1', rc=1)
        said(place, 'report', 'mpich', '--sqlite', '-', rc=2)
        said(place, 'report', 'mpich', '--sqlite', 'mpich/rank-000000.fvr', rc=2)
        said(place, 'report', 'mpich', '--sqlite', '/dev/null', rc=1)
        said(place, 'report', 'mpich', '--sqlite', 'nowhere/x.db', rc=1)
        equal('left', [f for f in os.listdir(place) if f.endswith('.part')], [])
    with tap.test('tables, columns, examples'):
        tables = said(place, 'query', '--tables').out
        columns = said(place, 'query', '--columns', 'callsites').out
        check(' callsites ' in tables and ' trace_calls ' in tables and ' wait_s ' in columns, '{}', columns)
        for option, table in (('--tables', 'about_tables'), ('--examples', 'about_views')):
            listed = json.loads(said(place, 'query', option, '--json').out)
            equal(option, [tuple(row) for row in listed['rows']], ask(place, ['mpich'], 'SELECT * FROM ' + table))
        listed = json.loads(said(place, 'query', '--columns', 'trace_calls', '--json').out)
        described = ask(place, ['mpich'], "SELECT * FROM about_columns WHERE of_table = 'trace_calls'")
        equal('columns', [tuple(row) for row in listed['rows']], described)
        rows = said(place, 'query', '--columns', 'trace_calls', '--csv').out.splitlines()
        equal('CSV', (rows[0].split(',')[:2], len(rows)), (['of_table', 'name'], len(described) + 1))
        examples = said(place, 'query', '--examples').out
        for statement in examples.split(';\n'):
            if statement.strip():
                ask(place, ['samples'], statement[statement.index('\nSELECT') :])
        text = said(place, 'query', 'mpich', 'SELECT rank, wait_s, NULL AS none FROM ranks').out.splitlines()
        equal('text', (text[0].split(), len(text)), (['rank', 'wait_s', 'none'], 4))
        rows = said(place, 'query', 'mpich', 'SELECT rank, host FROM ranks', '--csv').out.splitlines()
        equal('CSV', (rows[0], len(rows)), ('rank,host', 4))


def guide(tap, place):
    with tap.test('what the guide shows works'):
        for name, target in (('exp', 'mpich'), ('other', 'openmpi')):
            os.symlink(target, os.path.join(place, name))
        with open(os.path.join(harness.SOURCE, 'share/doc/query.md')) as f:
            commands = [line.strip() for line in f if line.startswith('    fvmpi ')]
        check(len(commands) > 5, '{}', commands)
        for command in commands:
            run = said(place, *shlex.split(command)[1:])
            equal(command + ': stderr', run.err, '')
            check(run.out or '--sqlite' in command, '{}: nothing', command)
        equal('lists', ask(place, ['exp'], 'SELECT value FROM programs, json_each(rank_runs)'), [('[0,1,3]',)])


def several(tap, place):
    with tap.test('two experiments at once'):
        both = ask(place, ['mpich', 'openmpi'], 'SELECT * FROM ranks')
        of = {run: ask(place, [run], 'SELECT * FROM ranks') for run in ('mpich', 'openmpi')}
        drop = lambda rows: [row[:1] + row[2:] for row in rows]  # noqa: E731  without `row`
        equal('rows', drop(both), drop(of['mpich'] + of['openmpi']))
        equal('numbers', len({row[1] for row in both}), len(both))
        for run in of:
            equal(
                run,
                drop(ask(place, ['mpich', 'openmpi'], "SELECT * FROM ranks WHERE run = '{}'".format(run))),
                drop(of[run]),
            )
        equal('none', ask(place, ['mpich', 'openmpi'], "SELECT * FROM ranks WHERE run = 'x' OR run IS NULL"), [])
    with tap.test('joins give the same by a lookup as without one'):
        join = (
            'SELECT s.run, s.number, b.rank, b.count, (SELECT count(*) FROM callsites_path p WHERE p.parent = s.row) '
            'FROM callsites_by_rank b JOIN callsites s ON {} ORDER BY 1, 2, 3'
        )
        found = ask(place, ['mpich', 'openmpi'], join.format('s.row = b.parent'))
        check(len(found) > 50, '{}', found)
        equal('by row', found, ask(place, ['mpich', 'openmpi'], join.format('+s.row = +b.parent')))
        equal('by key', found, ask(place, ['mpich', 'openmpi'], join.format('s.id = b.callsite_id AND s.run = b.run')))
        database = sqlite3.connect(os.path.join(place, 'mpich.db'))
        for where in ("rank = '1'", 'rank = 1.0', 'rank IN (1, 7)', "function = 'MPI_SEND' COLLATE NOCASE",
                      "function = 'MPI_Send'", 'rank = NULL', 'time_sum_s = rank', "host = 1"):  # fmt: skip
            table = 'ranks' if 'host' in where else 'callsites_by_rank'
            counted = 'SELECT count(*) FROM about_views JOIN {} ON {}'.format(table, where)
            equal(where, ask(place, ['mpich'], counted), database.execute(counted).fetchall())
        database.close()


# ---- traces ----


def stretches(tap, place, name):
    whole = {
        table: ask(place, [name], 'SELECT * FROM ' + table)
        for table in ('trace_calls', 'trace_waits', 'trace_messages', 'trace_samples', 'trace_values', 'trace_labels',
                      'trace_critical_path', 'trace_collectives')
    }  # fmt: skip
    columns = {}
    for table, column in ask(place, [name], 'SELECT of_table, name FROM about_columns'):
        columns.setdefault(table, []).append(column)
    with tap.test(name + ': calls of the trace are those of the profile'):
        wanted = ask(place, [name], 'SELECT function, sum(count) FROM callsites GROUP BY 1 ORDER BY 1')
        found = ask(place, [name], "SELECT function, count(*) FROM trace_calls WHERE function LIKE 'MPI_%' "
                                   'GROUP BY 1 ORDER BY 1')  # fmt: skip
        equal('calls', found, wanted)
        sent = ask(place, [name], 'SELECT "from", "to", messages, bytes FROM matrix ORDER BY 1, 2')
        told = ask(place, [name], 'SELECT from_rank, to_rank, count(*), sum(bytes) FROM trace_messages '
                                  'GROUP BY 1, 2 ORDER BY 1, 2')  # fmt: skip
        if name != 'states':  # whose matrix has one-sided transfers
            equal('messages', told, sent)
    with tap.test(name + ': stretches of the trace are the whole, filtered'):
        for table, time in (('trace_calls', 'begin_s'), ('trace_waits', 'begin_s'), ('trace_messages', 'sent_s'),
                            ('trace_samples', 'begin_s'), ('trace_values', 'time_s'), ('trace_labels', 'time_s'),
                            ('trace_critical_path', 'begin_s'), ('trace_collectives', 'begin_s')):  # fmt: skip
            at = columns[table].index(time)
            times = sorted(row[at] for row in whole[table])
            if not times:
                continue
            for first, last in ((0, 1), (0.25, 0.5), (0.5, 0.5), (0.9, 1)):
                begin, end = times[int(first * (len(times) - 1))], times[int(last * (len(times) - 1))]
                where = '{} BETWEEN {!r} AND {!r}'.format(time, begin, end)
                # JSON has 12 digits
                wanted = [row for row in whole[table] if begin <= row[at] <= end]
                found = ask(place, [name], 'SELECT * FROM {} WHERE round({}, 11) BETWEEN {!r} AND {!r} AND '
                            '{} BETWEEN {!r} AND {!r}'.format(table, time, round(begin, 11), round(end, 11), time,
                                                              begin - 1e-9, end + 1e-9))  # fmt: skip
                equal('{} {}'.format(table, where), sorted(found, key=str), sorted(wanted, key=str))
    with tap.test(name + ': lengths, ranks and ends choose, too'):
        at = {c: i for i, c in enumerate(columns['trace_calls'])}
        longest = sorted(row[at['duration_s']] for row in whole['trace_calls'])[-5]
        for where, holds in (
            ('rank = 1', lambda r: r[at['rank']] == 1),
            ('rank > 0 AND thread = 0', lambda r: r[at['rank']] > 0 and r[at['thread']] == 0),
            ('duration_s > {!r}'.format(longest - 1e-9), lambda r: r[at['duration_s']] > longest - 1e-9),
            ('end_s < 0.3', lambda r: r[at['end_s']] < 0.3),
            ('end_s >= 0.3', lambda r: r[at['end_s']] >= 0.3),
            ("begin_s < 'x'", lambda r: True),
            ('begin_s < NULL', lambda r: False),
            ("begin_s > 0.1 AND run = '{}'".format(name), lambda r: r[at['begin_s']] > 0.1),
        ):  # fmt: skip
            equal(
                where,
                sorted(ask(place, [name], 'SELECT * FROM trace_calls WHERE ' + where), key=str),
                sorted((r for r in whole['trace_calls'] if holds(r)), key=str),
            )
        for table in ('trace_calls', 'trace_collectives', 'trace_io'):
            plan = ask(place, [name], 'EXPLAIN QUERY PLAN SELECT * FROM {} WHERE begin_s BETWEEN 1 AND 2'.format(table))
            check('A>A<' in plan[0][3], 'no index: {}', plan)


def chosen_part(place):
    """A database of a stretch of the trace, and of two ranks."""
    begin, end = (ask(place, ['mpich'], 'SELECT max(end_s) * {} FROM trace_calls'.format(f))[0][0] for f in (0.3, 0.6))
    said(place, 'report', 'mpich', '--sqlite', 'part.db', '--from', repr(begin), '--to', repr(end), '--rank', '0,2')
    database = sqlite3.connect(os.path.join(place, 'part.db'))
    of = '(end_s > {0} AND begin_s < {1})'.format(begin, end)
    for table, where in (
        ('trace_calls', of + ' AND rank IN (0, 2)'),
        ('trace_waits', of + ' AND rank IN (0, 2)'),
        (
            'trace_messages',
            'received_s > {} AND sent_s < {} AND (from_rank IN (0, 2) OR to_rank IN (0, 2))'.format(begin, end),
        ),
        ('trace_critical_path', of + ' AND rank IN (0, 2)'),
        ('trace_collectives', of),
    ):
        counted = 'SELECT count(*) FROM ' + table
        (found,), ((wanted,),) = database.execute(counted).fetchone(), ask(
            place, ['mpich'], counted + ' WHERE ' + where
        )
        equal(table, found, wanted)
        check(found or 'calls' not in table, 'none')
    equal('ranks', database.execute('SELECT rank FROM ranks').fetchall(), [(0,), (2,)])
    database.close()


def traces(tap, place):
    harness.needs_fvunify(tap)
    for name in ('mpich', 'states'):
        stretches(tap, place, name)
    with tap.test('a database has the trace; a run without one has no rows, and says why'):
        database = sqlite3.connect(os.path.join(place, 'mpich.db'))
        for table in ('trace_calls', 'trace_messages', 'trace_waits'):
            equal(
                table,
                database.execute('SELECT count(*) FROM ' + table).fetchone()[0],
                ask(place, ['mpich'], 'SELECT count(*) FROM ' + table)[0][0],
            )
        database.close()
        chosen_part(place)
        run = said(place, 'query', 'profile', 'SELECT count(*) FROM trace_calls', '--csv')
        equal('rows', run.out.split(), ['count(*)', '0'])
        check('has no trace' in run.err, '{}', run.err)
    with tap.test('a trace that cannot be indexed has no answer'):
        full = os.path.join(place, 'full')
        shutil.copytree(os.path.join(place, 'mpich'), full, symlinks=True, ignore=shutil.ignore_patterns('.fvmpi-view'))
        for name in (full + '/.fvmpi-view', place + '/no-cache'):
            with open(name, 'w'):
                pass
        os.environ['XDG_CACHE_HOME'] = place + '/no-cache'
        for command in (
            ['query', 'full', 'SELECT count(*) FROM trace_calls', '--json'],
            ['report', 'full', '--sqlite', 'full.db'],
        ):
            run = said(place, *command, rc=1)
            equal('out', run.out, '')
            check('the trace of full cannot be read' in run.err, '{}', run.err)
        check(not os.path.exists(place + '/full.db'), 'a database of it')
        del os.environ['XDG_CACHE_HOME']
    with tap.test('an archive is asked as its rank files are'):
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', 'mpich', '-o', 'archive'], cwd=place).ended(0)
        for statement in ('SELECT function, sum(count) FROM callsites GROUP BY 1 ORDER BY 1',
                          'SELECT function, count(*) FROM trace_calls GROUP BY 1 ORDER BY 1',
                          'SELECT count(*), sum(bytes) FROM trace_messages'):  # fmt: skip
            equal(statement, ask(place, ['archive/traces.otf2'], statement), ask(place, ['mpich'], statement))


# ---- collective operations, and files ----


def ns(seconds):
    return None if seconds is None else round(seconds * 1e9)


def wanted_operations(calls):
    """[begin, end, function, members, calls, complete, spread, sent, received] of each, by begin, and who was last."""
    operations = {}
    for i, (row, begin, end, region, comm, number, *_) in enumerate(calls):
        operations.setdefault((comm, number) if number else i, []).append(calls[i])
    wanted = []
    for all in operations.values():
        begins, number, members = [c[1] for c in all], all[0][5], all[0][6]
        complete = int(len(all) == members) if number else None
        spread = max(begins) - min(begins) if complete else None
        of = [min(begins), max(c[2] for c in all), min(all)[3], members, len(all), complete, spread]
        last = [c[0] for c in all if c[1] == max(begins)] if complete else [None]
        wanted.append(([*of, sum(c[7] for c in all), sum(c[8] for c in all)], last))
    return sorted(wanted, key=str)


def operations(tap, place, name, run, anchor):
    with tap.test(name + ': collective operations are those of the events'):
        wanted = wanted_operations(harness.otf2_operations(os.path.join(place, anchor))['collectives'])
        told = ask(place, [run], 'SELECT begin_s, end_s, function, members, calls, complete, spread_s, bytes_sent, '
                                 'bytes_received, last_rank, duration_s FROM trace_collectives')  # fmt: skip
        equal('in order', [row[0] for row in told], sorted(row[0] for row in told))
        found = [[ns(r[0]), ns(r[1]), *r[2:6], ns(r[6]), *r[7:9]] for r in told]
        for row, (begin, end, *_) in zip(told, found):
            equal('duration', ns(row[10]), end - begin)
        found = sorted(zip(found, (row[9] for row in told)), key=str)
        equal('operations', [row for row, _ in found], [row for row, _ in wanted])
        for (row, last), (_, lasts) in zip(found, wanted):
            check(last in lasts, '{}: last {}, wanted {}', row, last, lasts)
        check(len(found) > 4 and any(row[5] for row, _ in found), '{}', found)


def calls_of_operations(tap, place, name, run):
    """By what the calls say of themselves."""
    with tap.test(name + ': the calls of an operation have its communicator and number, and its waiting'):
        of = {}
        for comm, instance, begin, end, wait in ask(place, [run], 'SELECT comm, instance, begin_s, end_s, wait_s FROM '
                                                    'trace_calls WHERE instance IS NOT NULL'):  # fmt: skip
            of.setdefault((comm, instance), []).append((ns(begin), ns(end), ns(wait)))
        told = ask(place, [run], 'SELECT comm, instance, begin_s, end_s, wait_s, calls, function FROM trace_collectives '
                                 'WHERE instance IS NOT NULL')  # fmt: skip
        equal('numbers', sorted(of), sorted(row[:2] for row in told))
        for comm, instance, begin, end, wait, calls, function in told:
            if function.startswith('MPI_I'):  # the calls that complete it, maybe with others
                continue
            all = of[comm, instance]
            wanted = [min(c[0] for c in all), max(c[1] for c in all), sum(c[2] for c in all), len(all)]
            equal('{} {}'.format(function, instance), [ns(begin), ns(end), ns(wait), calls], wanted)
        return [row[2] for row in told]


def roots_and_names(tap, place, run, anchor):
    with tap.test(run + ': roots of calls and names of communicators are those of the events'):
        if not shutil.which('otf2-print'):
            raise harness.Skip('no otf2-print (package otf2-tools)')
        open_in, roots, names = {}, [], {}
        for event in otf2_print.events(os.path.join(place, anchor)):
            if event.kind == 'MPI_COLLECTIVE_END' and event.operation != 'DESTROY_HANDLE':
                open_in[event.location] = None if event.root == 'NONE' else int(event.root)
            elif event.kind == 'LEAVE' and event.location in open_in:
                roots.append((event.location, event.region[1:-1], open_in.pop(event.location)))
            elif event.kind in ('MPI_SEND', 'MPI_ISEND'):
                name = event.communicator[1:-1]
                names[name] = names.get(name, 0) + 1
        told = ask(place, [run], "SELECT rank, function, root_rank FROM trace_calls WHERE instance IS NOT NULL AND "
                                 "function NOT LIKE 'MPI_Wait%'")  # fmt: skip
        equal('roots', sorted(told, key=str), sorted(roots, key=str))
        equal('some', {root for *_, root in told}, {None, 0, 1})
        told = ask(place, [run], 'SELECT comm_name, count(*) FROM trace_messages GROUP BY 1')
        equal('names', dict(told), names)
        told = ask(place, [run], "SELECT DISTINCT comm_name FROM trace_collectives WHERE function = 'MPI_Bcast'")
        equal('of an operation', told, [('same as world',)])


def many_operations(tap, place):
    """Of more blocks of the index than one, in which operations go on."""
    generate = os.path.join(harness.BUILD, 'tests/bench/trace_gen')
    if not os.path.exists(generate):
        with tap.test('many collective operations'):
            raise harness.Skip('no trace_gen; make check-programs')
        return
    harness.run([generate, 'many', '3', '100000', '0', '0', '1'], cwd=place).ended(0)
    begins = calls_of_operations(tap, place, 'many', 'many')
    with tap.test('many: a stretch has the operations that begin, or end, in it'):
        check(len(begins) > 900, '{}', len(begins))
        whole = ask(place, ['many'], 'SELECT begin_s, end_s, instance, calls, spread_s FROM trace_collectives')
        for least, most in ((0, 5), (340, 350), (500, 900), (990, 999)):
            least, most = whole[least][0], whole[most][0]
            for where, holds in (
                ('begin_s BETWEEN {0!r} - 1e-10 AND {1!r} + 1e-10', lambda r: least <= r[0] <= most),
                ('begin_s < {1!r} - 1e-10 AND end_s > {0!r}', lambda r: r[0] < most and r[1] > least),
            ):
                where = where.format(least, most)
                statement = 'SELECT begin_s, end_s, instance, calls, spread_s FROM trace_collectives WHERE ' + where
                equal(where, ask(place, ['many'], statement), [row for row in whole if holds(row)])
        for at in (340, 341, 682, 683):  # blocks end, at 1,024 calls, within two of these
            begin, spread = whole[at][0], whole[at][4]
            check(spread > 1e-7, '{}', whole[at])
            where = 'begin_s > {0!r} + 5e-8 AND begin_s < {0!r} + 2.5e-4'.format(begin)
            found = ask(place, ['many'], 'SELECT instance, calls FROM trace_collectives WHERE ' + where)
            equal(where, found, [(row[2], 3) for row in whole if begin < row[0] < begin + 2.5e-4])
            check(len(found) == 2, '{}', found)


INTERFACES = {'MPI I/O': 'MPI', 'MPI-IO': 'MPI', 'POSIX I/O': 'POSIX', 'ISO C I/O': 'stdio'}


def files(tap, place, name, anchor):
    with tap.test(name + ': operations on files are those of the events'):
        wanted = [
            (row, begin, end, end - begin, file, INTERFACES[interface], kind, size)
            for row, begin, end, file, interface, kind, size in harness.otf2_operations(anchor)['io']
        ]
        statement = 'SELECT rank, begin_s, end_s, duration_s, file, interface, kind, bytes FROM trace_io'
        told = ask(place, [anchor], statement)
        equal('in order', [row[1] for row in told], sorted(row[1] for row in told))
        found = [(rank, ns(begin), ns(end), ns(length), *more) for rank, begin, end, length, *more in told]
        equal('operations', sorted(found, key=str), sorted(wanted, key=str))
        check(len(found) > 10 and len({row[6] for row in found}) > 2, '{}', found)
        equal('no thread', ask(place, [anchor], 'SELECT count(*) FROM trace_io WHERE thread'), [(0,)])
        middle = told[len(told) // 2][1]
        for where, holds in (
            ('begin_s >= {!r} - 1e-10', lambda r: r[1] >= middle),
            ('end_s < {!r} - 1e-10', lambda r: r[2] < middle),
            ('end_s >= {!r} - 1e-10', lambda r: r[2] >= middle),
        ):
            where = where.format(middle)
            equal(where, ask(place, [anchor], statement + ' WHERE ' + where), [row for row in told if holds(row)])
    with tap.test(name + ': calls say for which file they are'):
        told = dict(ask(place, [anchor], 'SELECT file, count(*) FROM trace_calls WHERE file IS NOT NULL GROUP BY 1'))
        equal('files', sorted(told), sorted({row[4] for row in wanted}))
        other = 'SELECT count(*) FROM trace_calls WHERE file IS NULL'
        check(ask(place, [anchor], other)[0][0] > 0, 'every call is for a file')


def together(tap, place):
    archives = foreign(tap)
    of = os.path.dirname(os.path.dirname(archives['scorep-coll']))
    for run in ('mpich', 'archive/traces.otf2'):
        operations(tap, place, run, run, 'archive/traces.otf2')
        calls_of_operations(tap, place, run, run)
        roots_and_names(tap, place, run, 'archive/traces.otf2')
    for name in ('scorep-late', 'scorep-coll'):
        operations(tap, place, name, archives[name], archives[name])
        calls_of_operations(tap, place, name, archives[name])
    many_operations(tap, place)
    files(tap, place, 'scorep-io', os.path.join(of, 'scorep-io', 'traces.otf2'))
    with tap.test('what cannot be put together has neither spread nor a last rank'):
        late = os.path.join(of, 'eztrace-late', 'eztrace_log.otf2')
        told = ask(place, [late], 'SELECT complete, spread_s, last_rank, calls FROM trace_collectives')
        check(told, 'none')
        for complete, spread, last, calls in told:
            equal('{} {}'.format(complete, calls), (spread is None, last is None), (not complete, not complete))


def unpack(place):
    for name in CAPTURED:
        with tarfile.open(os.path.join(REPLAY, name + '.tar.xz')) as files:
            files.extractall(place)


def main():
    tap = harness.Tap()
    place = harness.scratch()
    unpack(place)
    if 'built without SQLite' in harness.run([harness.FVMPI, 'query', 'mpich', 'SELECT 1'], cwd=place).err:
        with tap.test('SQL'):
            raise harness.Skip('no SQLite')
        tap.done()
    schema = json.loads(said(place, 'report', '--schema').out)
    for name in CAPTURED:
        tables = every_table(tap, place, name, schema)
        if name in ('samples', 'sections'):
            every_virtual_table(tap, place, name, tables)
    documented(tap, place)
    harm(tap, place)
    usage(tap, place)
    several(tap, place)
    guide(tap, place)
    traces(tap, place)
    together(tap, place)
    tap.done()


main()
