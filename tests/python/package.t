#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The package python/fvmpi, with the experiments that tests/replay stores: tables against JSON, what it asks of the
command, errors, notebooks, and its wheel. A stand-in for the command says what no stored run has."""
import ast
import contextlib
import glob
import html.parser
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import types
import warnings
import zipfile
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal, refused

PACKAGE = os.path.join(harness.SOURCE, 'python')
sys.path.insert(0, PACKAGE)
import fvmpi

OLDEST = (3, 8)  # Python
HOSTILE = '<script>alert(1)</script>"\'&'
# Answers as fvmpi does, with names that a program may have; and with errors as JSON.
STAND_IN = '''#!{python}
import json, sys
words = sys.argv[1:]
if words == ['report', '--columns', '--json', '-']:
    evil = {{'type': 'number', 'description': {hostile!r}, 'unit': 's'}}
    print(json.dumps({{'run': {{'description': 'What a run is.', 'columns': {{'evil': evil}}}},
        'another': {{'description': 'In two lines: here.', 'columns': {{}}}}}}))
elif '--brief' in words:
    finding = dict.fromkeys(('title', 'text', 'next', 'finding_id', 'evidence'), {hostile!r})
    finding.update(lost_s=1.0, lost_share=7.5)
    print(json.dumps({{'verdict': {hostile!r}, 'command': {hostile!r}, 'findings': [finding, {{**finding, 'lost_s': None,
        'lost_share': None}}], 'findings_left_out': 2, 'rest': {hostile!r}}}))
elif '--table' in words:
    print(json.dumps({{'note': 'report: ' + {hostile!r}}}), file=sys.stderr)
    print(json.dumps({{'columns': ['evil', {hostile!r}], 'rows': [[{hostile!r}, None], [True, 0.5]] * 15}}))
elif words[0] == 'query':
    print(json.dumps({{'note': 'query: slow'}}), file=sys.stderr)
    print(json.dumps({{'error': {{'code': 'statement', 'status': 2, 'message': 'query: wrong: ' + words[-1]}}}}), file=sys.stderr)
    sys.exit(2)
else:
    sys.exit(5)
'''


def fvmpi_says(*words):
    return harness.run([harness.FVMPI, *words]).ended(0).out


def experiments(place):
    """Directories by name."""
    for packed in glob.glob(os.path.join(HERE, '..', 'replay', '*.tar.xz')):
        with tarfile.open(packed) as tar:
            tar.extractall(place)
    return {name: os.path.join(place, name) for name in sorted(os.listdir(place))}


def opened(path, **options):
    """A run whose warnings are its own affair: some runs were killed."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return fvmpi.open(path, **options)


@contextlib.contextmanager
def command(path):
    before = os.environ.get('FVMPI')
    os.environ['FVMPI'] = path
    try:
        yield
    finally:
        os.environ.pop('FVMPI')
        if before is not None:
            os.environ['FVMPI'] = before


# ---- tables against JSON ----


def flat(data, prefix=''):
    """Values of an object, and of objects in it, by the names of a table's columns."""
    found = {}
    for key, value in data.items():
        if isinstance(value, dict):
            found.update(flat(value, prefix + key + '_'))
        elif not isinstance(value, list):
            found[prefix + key] = value
    return found


def rows_of(schema, data, found):
    """{table: rows} of the JSON of a profile, by its schema."""
    rows = found.setdefault(schema['table'], []) if data is not None and 'table' in schema else []
    if isinstance(data, list):
        rows += [flat(row) for row in data if isinstance(row, dict)]
        for row in data:
            rows_of(schema.get('items') or {}, row, found)
    elif isinstance(data, dict) and set(data) == {'columns', 'rows'}:
        rows += [dict(zip(data['columns'], row)) for row in data['rows']]
    elif isinstance(data, dict):
        rows += [flat(data)] if 'properties' in schema else [flat(row) for row in data.values()]
        for key, value in data.items():
            rows_of(schema.get('properties', {}).get(key) or schema.get('additionalProperties') or {}, value, found)
    return found


def tables(tap, runs):
    schema = json.loads(fvmpi_says('report', '--schema'))
    for name, directory in runs.items():
        with tap.test('{}: each table is as in JSON'.format(name)):
            run, compared = opened(directory), 0
            equal('profile', run.profile, json.loads(fvmpi_says('report', directory, '--json', '-')))
            found = rows_of(schema, run.profile, {})
            check({'run', 'findings', 'callsites'} <= set(found), '{}', list(found))
            for table, rows in found.items():
                equal(table, len(run.tables[table]), len(rows))
                for ours, row in zip(run.tables[table], rows):
                    common = set(ours) & set(row)
                    equal(table, {key: ours[key] for key in common}, {key: row[key] for key in common})
                    compared += len(common)
            check(compared > 1000, '{} values', compared)


def attributes(tap, runs):
    run = opened(runs['profile'])
    listed = fvmpi_says('report', '--columns')
    with tap.test('every table is an attribute, with completion and documentation'):
        check(len(run.tables) > 100, '{}', len(run.tables))
        words = ' '.join(listed.split())
        for name, table in run.tables.items():
            check(name in dir(run) and getattr(run, name) is table, '{} is hidden', name)
            check(table.doc and '{} {}'.format(name, table.doc) in words, '{}: {}', name, table.doc)
        check('no table nothing' in str(refused(AttributeError, lambda: run.nothing)), 'nothing')
    with tap.test('every column has its unit and meaning'):
        for name in ('callsites', 'ranks', 'message_sizes', 'efficiency', 'counter_metric_threads'):
            table = getattr(run, name)
            said = ' '.join(fvmpi_says('report', '--table', name, '--columns').split())
            for column in table.columns:
                unit = '[{}] '.format(column.unit) if column.unit else ''
                check(column.doc and ' {} {}{}'.format(column, unit, column.doc) in said, '{}: {}', column, column.doc)
                check('{}: {}{}'.format(column, unit, column.doc) in table.__doc__, '{}', table.__doc__)
        equal('unit', {c: c.unit for c in run.callsites.columns}['time_sum_s'], 's')
    with tap.test('rows: by number, by column, as dictionaries'):
        sites, data = run.callsites, run.profile['callsites']
        equal(
            'length', (len(sites), len(list(sites)), bool(sites), bool(run.hang)), (len(data), len(data), True, False)
        )
        equal('attribute', [site.time_sum_s for site in sites], [site['time']['sum_s'] for site in data])
        equal('column', sites['function'], [site['function'] for site in data])
        equal('slice', [row.id for row in sites[-2:]], [data[-2]['id'], data[-1]['id']])
        equal('dictionary', tuple(dict(sites[0])), sites.columns)
        check('function' in dir(sites[0]) and "function='MPI_Init'" in repr(sites[0]), '{!r}', sites[0])
        check('function' in str(refused(AttributeError, lambda: sites[0].nothing)), 'names')
        check('{} rows'.format(len(data)) in repr(sites), '{!r}', sites)


def selected(tap, runs):
    run = opened(runs['profile'])
    cases = (
        (dict(where='count>3'), ['--where=count>3']),
        (
            dict(where=['count>=3', 'function~Co'], sort='-time_sum_s'),
            ['--where=count>=3', '--where=function~Co', '--sort=-time_sum_s'],
        ),
        (dict(columns=['function', 'count'], sort='count'), ['--columns=function,count', '--sort=count']),
        (dict(columns='count,function'), ['--columns=count,function']),
        (dict(function='MPI_Bcast'), ['--function=MPI_Bcast']),
    )
    with tap.test('select: what --table says with these options'):
        for given, options in cases:
            said = json.loads(fvmpi_says('report', runs['profile'], '--table', 'callsites', '--json', '-', *options))
            part = run.callsites.select(**given)
            equal(
                str(given), ([list(row.values()) for row in part], list(part.columns)), (said['rows'], said['columns'])
            )
            check(part, '{} selects nothing', given)
        equal('ranks', run.ranks.select(ranks='1-2')['rank'], [1, 2])
        equal('rank', run.ranks.select(ranks=0)['rank'], [0])
        equal('twice', run.ranks.select(where='rank>0').select(where='rank<2')['rank'], [1])
        check('no such column' in str(refused(fvmpi.Error, lambda: run.ranks.select(where='nothing=1'))), 'column')
    with tap.test('options of open: ranks that are read, and symbols'):
        part = opened(runs['profile'], read_ranks='0-1', symbols=False)
        equal('ranks', (part.ranks['rank'], len(part.profile['ranks'])), ([0, 1], 2))


# ---- what else is asked of the command ----


def asked(tap, runs):
    run = opened(runs['profile'])
    with tap.test('brief, explain, compare, scaling'):
        brief = json.loads(fvmpi_says('report', runs['profile'], '--brief', '--json', '-'))
        equal('brief', run.brief(), brief)
        check(brief['verdict'] in repr(run), '{!r}', run)
        for finding in brief['findings']:
            said = fvmpi_says('explain', finding['finding_id'], runs['profile'])
            equal('explain', run.explain(finding['finding_id']), said)
        a, b = runs['profile'], runs['openmpi']
        equal('diff', fvmpi.compare(run, b), json.loads(fvmpi_says('diff', a, b, '--json', '-')))
        said = json.loads(fvmpi_says('diff', '--json', '-', a, b, '--', b, a))
        equal('several', fvmpi.compare([a, b], [opened(b), run]), said)
        said = json.loads(fvmpi_says('scaling', runs['omp'], runs['states'], '--strong', '--json', '-'))
        equal('scaling', fvmpi.scaling([runs['omp'], opened(runs['states'])], 'strong'), said)
    with tap.test('query: answers, or says why there are none'):
        statement = '-- all\nSELECT count(*) AS n FROM callsites'
        said = harness.run([harness.FVMPI, 'query', runs['profile'], 'SELECT 1'])
        if said.rc:  # built without SQLite
            equal('why', str(refused(fvmpi.Error, lambda: run.query(statement))), said.err.splitlines()[-1])
        else:
            equal('rows', run.query(statement)['rows'], [[len(run.callsites)]])
            few = opened(runs['profile'], read_ranks='0-1')
            equal('ranks', few.query('SELECT count(*) FROM ranks')['rows'], [[2]])
            check('syntax error' in str(refused(fvmpi.Error, lambda: run.query('SELEC'))), 'syntax')
    with tap.test('tree: nodes as table call_tree has them, and in the form of Hatchet'):
        for name in ('samples', 'profile'):
            sampled = opened(runs[name])
            roots = sampled.tree()
            nodes = [node for root in roots for _, node in root.walk()]
            equal('nodes', sorted(node.id for node in nodes), sampled.call_tree['id'])
            for node in nodes:
                equal('caller', node.parent_id, node.parent and node.parent.id)
            frames = literal_of(sampled)
            equal('roots', [frame['frame']['name'] for frame in frames], [root.name for root in roots])
            equal('seconds', sum(exclusive(f) for f in frames), sum(sampled.call_tree['exclusive_time_s']))
        check(nodes == [] and frames == [], 'nothing is sampled there')
        with mock.patch.dict(sys.modules, hatchet=None):
            equal('missing', refused(ImportError, sampled.to_hatchet).name, 'hatchet')
        sampled = opened(runs['samples']).tree()[0]
        check(
            'main' in str(sampled) and sampled.inclusive_time_s > 0 and 'inclusive_ticks' in dir(sampled), '{}', sampled
        )
    with tap.test('runs as one for Thicket'):
        of_thicket(opened(runs['samples']))


def of_thicket(run):
    """A stand-in with the two functions that are called: of each run a frame with its metadata and name, then all."""
    made = lambda frame, name: {name: frame.metadata}
    put = lambda all_of: {name: of for one in all_of for name, of in one.items()}
    thicket = types.SimpleNamespace(thicketize_graphframe=staticmethod(made).__func__, concat_thickets=put)
    graph = types.SimpleNamespace(from_literal=lambda of: types.SimpleNamespace(literal=of))
    stand_ins = {'hatchet': types.SimpleNamespace(GraphFrame=graph), 'thicket': types.SimpleNamespace(Thicket=thicket)}
    with mock.patch.dict(sys.modules, stand_ins):
        (path,) = run.paths
        brief = run.brief()
        equal('one', fvmpi.to_thicket(run), {path: {key: brief[key] for key in ('command', 'ranks', 'elapsed_s')}})
        link = os.path.join(harness.scratch(), 'link')
        os.symlink(path, link)
        equal('two', sorted(fvmpi.to_thicket([path, link])), sorted([path, link]))
        refused(ValueError, lambda: fvmpi.to_thicket([]))
    with mock.patch.dict(sys.modules, thicket=None):
        equal('missing', refused(ImportError, lambda: fvmpi.to_thicket([run])).name, 'thicket')


def literal_of(run):
    """What its hatchet.GraphFrame is made of."""
    graph = types.SimpleNamespace(from_literal=lambda frames: frames)
    with mock.patch.dict(sys.modules, hatchet=types.SimpleNamespace(GraphFrame=graph)):
        return run.to_hatchet()


def exclusive(frame):
    check(frame['metrics']['time (inc)'] >= frame['metrics']['time'], '{}', frame)
    return frame['metrics']['time'] + sum(exclusive(child) for child in frame['children'])


class Frame:
    """A stand-in for those of pandas and polars: what it is made of."""

    def __init__(self, data, **options):
        self.data, self.options = data, options


def frames(tap, runs):
    table = opened(runs['profile']).callsites
    with tap.test('frames: what is given to pandas and polars, or that they are missing'):
        array = lambda values, dtype: (dtype, values)
        with mock.patch.dict(sys.modules, pandas=types.SimpleNamespace(DataFrame=Frame, array=array)):
            frame, tree = table.to_pandas(), opened(runs['samples']).call_tree.to_pandas()
        equal('data', frame.data, {name: table[name] for name in table.columns})
        equal('integers that may be unknown', tree.data['parent_id'], ('Int64', [None, 0, 1]))
        equal('units', frame.attrs['units']['time_sum_s'], 's')
        with mock.patch.dict(sys.modules, polars=types.SimpleNamespace(DataFrame=Frame)):
            frame = table.to_polars()
        equal('rows', frame.data, [list(row.values()) for row in table])
        equal('columns', frame.options['schema'], list(table.columns))
        for module, make in (('pandas', table.to_pandas), ('polars', table.to_polars)):
            with mock.patch.dict(sys.modules, {module: None}):
                why = refused(ImportError, make)
            check('pip install ' + module in str(why) and why.name == module, '{}', why)
    for module, make in (('pandas', fvmpi.Table.to_pandas), ('polars', fvmpi.Table.to_polars)):
        with tap.test(module + ': frames are as the tables'):
            if not importlib.util.find_spec(module):
                raise harness.Skip('no ' + module)
            for name in ('callsites', 'ranks', 'efficiency', 'hang'):
                frame, of = make(opened(runs['profile']).tables[name]), opened(runs['profile']).tables[name]
                equal('columns and rows', (list(frame.columns), len(frame)), (list(of.columns), len(of)))
            equal('values', list(make(table)['count']), table['count'])


# ---- what goes wrong, and notebooks ----


def errors(tap, runs):
    run = opened(runs['profile'])
    with tap.test("errors have fvmpi's line and status"):
        for words, call in (
            (['explain', 'none', runs['profile']], lambda: run.explain('none')),
            (['explain', '--', '--help', runs['profile']], lambda: run.explain('--help')),
            (['report', '/nothing'], lambda: fvmpi.open('/nothing')),
            (['diff', runs['profile'], '/nothing'], lambda: fvmpi.compare(run, '/nothing')),
        ):
            said, why = harness.run([harness.FVMPI, *words]), refused(fvmpi.Error, call)
            equal(str(words), (str(why), why.status), (said.err.splitlines()[-1], said.rc))
    with tap.test('a path that looks like an option; another directory'):
        place = harness.scratch('paths')
        shutil.copytree(runs['profile'], os.path.join(place, '--help'), symlinks=True)
        before = os.getcwd()
        os.chdir(place)
        try:
            there = opened('--help')
        finally:
            os.chdir(before)
        equal('rows', len(there.callsites), len(run.callsites))
    with tap.test('no command, or one that cannot be started'):
        with command('/nothing/fvmpi'):
            check('/nothing/fvmpi: no such command' in str(refused(fvmpi.Error, lambda: fvmpi.open('x'))), 'missing')
        broken = os.path.join(harness.scratch('broken'), 'fvmpi')
        with open(broken, 'w') as f:
            f.write('#!/nothing/at/all\n')
        os.chmod(broken, 0o755)
        with command(broken):
            check('No such file' in str(refused(fvmpi.Error, lambda: fvmpi.open('x'))), 'broken')
    with tap.test('arguments that are wrong'):
        for call in (
            lambda: fvmpi.open([]),
            lambda: fvmpi.scaling([], 'strong'),
            lambda: fvmpi.scaling([run], 'other'),
            lambda: fvmpi.compare(fvmpi.Run(['a', 'b'], []), run),
        ):
            refused(ValueError, call)
    with tap.test('what fvmpi says of a damaged run is a warning'):
        torn = shutil.copytree(runs['profile'], os.path.join(harness.scratch('torn'), 'torn'), symlinks=True)
        with open(os.path.join(torn, 'rank-000001.fvr'), 'r+b') as f:
            f.truncate(10)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            notes = fvmpi.open(torn).run.notes
        equal('warnings', [str(w.message) for w in caught], list(notes))
        check(any('rank-000001' in note for note in notes), '{}', notes)


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text = [], [], ''
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag != 'br':
            self.open.append(tag)

    def handle_endtag(self, tag):
        equal('closed', tag, self.open.pop())

    def handle_data(self, data):
        self.text += data


ALLOWED = {'p', 'b', 'i', 'br', 'span', 'table', 'thead', 'tbody', 'tr', 'th', 'td'}


def shown(text):
    """The elements of HTML that has none but ours."""
    found = Elements(text)
    equal('left open', found.open, [])
    equal('elements', {tag for tag, _ in found.found} - ALLOWED, set())
    equal('attributes', {name for _, attributes in found.found for name in attributes} - {'style', 'title'}, set())
    return found


def notebooks(tap, runs):
    with tap.test('notebooks: the verdict, findings with bars, and tables'):
        run = opened(runs['profile'])
        found = shown(run._repr_html_())
        for finding in run.brief()['findings']:
            check(finding['title'] in found.text and finding['text'] in found.text, '{}', found.text)
        estimated = opened(runs['states'])
        for finding in estimated.brief()['findings']:
            is_estimate = finding['evidence'] == 'estimate'
            equal(
                finding['title'],
                '~{:.3g} s'.format(finding['lost_s']) in shown(estimated._repr_html_()).text,
                is_estimate,
            )
        bars = [a['style'] for tag, a in found.found if tag == 'span']
        equal('bars', len(bars), len(run.brief()['findings']))
        found = shown(run.callsites._repr_html_())
        equal('columns', len([1 for tag, _ in found.found if tag == 'th']), len(run.callsites.columns))
        check('MPI_Allreduce' in found.text, '{}', found.text)
        check('fvmpi run --sample' in shown(run.region_procedures._repr_html_()).text, 'no note')


def stand_in(tap):
    path = os.path.join(harness.scratch('stand-in'), 'fvmpi')
    with open(path, 'w') as f:
        f.write(STAND_IN.format(python=sys.executable, hostile=HOSTILE))
    os.chmod(path, 0o755)
    with command(path):
        run = opened('.')
        with tap.test('notebooks: names that a program chose are text'):
            found = shown(run._repr_html_())
            equal('shown', found.text.count(HOSTILE), 9)  # verdict, command, rest; title, text, next of two findings
            equal('bars', [a['style'].split('width:')[1] for tag, a in found.found if tag == 'span'], ['160px'])
            found = shown(run.tables['run']._repr_html_())
            equal('shown', found.text.count(HOSTILE), 1 + 10 + 1)  # a column, values, a note
            check('first 20 of 30 rows' in found.text, '{}', found.text)
            check(HOSTILE in [a.get('title') for _, a in found.found], 'meaning')
        with tap.test('tables are those of the command'):
            equal('tables', list(run.tables), ['run', 'another'])
            equal('doc', run.another.doc, 'In two lines: here.')
            equal('column', (run.tables['run'].columns[0].unit, run.tables['run'].columns[0].doc), ('s', HOSTILE))
        with tap.test('errors as JSON; a command that says nothing'):
            why = refused(fvmpi.Error, lambda: run.query('SELECT'))
            equal(
                'error', (str(why), why.status, why.notes), ('fvmpi: query: wrong: SELECT', 2, ('fvmpi: query: slow',))
            )
            why = refused(fvmpi.Error, lambda: run.explain('x'))
            equal('silent', (str(why), why.status), ('fvmpi: explain: ended with status 5', 5))


# ---- the package ----


def builder():
    """A Python that builds wheels without a network."""
    for python in dict.fromkeys((sys.executable, shutil.which('python3', path='/usr/bin:/bin'))):
        if not python or subprocess.run([python, '-m', 'pip', '--version'], capture_output=True).returncode:
            continue
        code = 'import setuptools\nif int(setuptools.__version__.split(".")[0]) < 71: import wheel'
        if not subprocess.run([python, '-c', code], capture_output=True).returncode:
            return python
    raise harness.Skip('no Python with pip, setuptools and wheel')


def wheel(tap, runs):
    sources = glob.glob(os.path.join(PACKAGE, 'fvmpi', '*.py'))
    with tap.test('sources are Python {}.{}'.format(*OLDEST)):
        for name in [*sources, os.path.join(PACKAGE, 'fvmpi', '_tables.pyi')]:
            with open(name) as f:
                ast.parse(f.read(), name, feature_version=OLDEST)
    with tap.test('a wheel is built, installed and used without a network'):
        python, place = builder(), harness.scratch('wheel')
        shutil.copytree(PACKAGE, place + '/python')
        pip = [python, '-m', 'pip', '--disable-pip-version-check', '-q']
        harness.run(
            [*pip, 'wheel', '--no-deps', '--no-build-isolation', '--no-index', '-w', place, place + '/python']
        ).ended(0)
        (built,) = glob.glob(place + '/*.whl')
        version = fvmpi_says('--version').split()[1]
        equal('name', os.path.basename(built), 'fvmpi-{}-py3-none-any.whl'.format(version))
        packed = {os.path.basename(n) for n in zipfile.ZipFile(built).namelist() if n.startswith('fvmpi/')}
        equal('files', packed, {os.path.basename(n) for n in sources} | {'py.typed', '_tables.pyi'})
        harness.run([*pip, 'install', '--no-deps', '--no-index', '--target', place + '/there', built]).ended(0)
        code = 'import fvmpi, sys; print(fvmpi.__version__, len(fvmpi.open(sys.argv[1]).callsites), fvmpi.__file__)'
        used = harness.run(
            [python, '-c', code, runs['profile']], env={'PYTHONPATH': place + '/there', 'FVMPI': harness.FVMPI}
        )
        equal(
            'used',
            used.ended(0).out.split(),
            [version, str(len(opened(runs['profile']).callsites)), place + '/there/fvmpi/__init__.py'],
        )


def main():
    tap = harness.Tap()
    runs = experiments(harness.scratch('runs'))
    os.environ.update({k: v for k, v in harness.environment().items() if k in ('FVMPI_LIBDIR', 'LC_ALL')})
    with command(harness.FVMPI):
        tables(tap, runs)
        attributes(tap, runs)
        selected(tap, runs)
        asked(tap, runs)
        frames(tap, runs)
        errors(tap, runs)
        notebooks(tap, runs)
        stand_in(tap)
        wheel(tap, runs)
    tap.done()


main()
