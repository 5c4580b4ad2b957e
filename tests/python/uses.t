#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The package python/fvmpi in use: calls of a trace by stretches; types, for a checker and as the stored runs have them; the
notebook of share/examples; scripts that it starts under fvmpi; pandas' frames."""
import ast
import contextlib
import glob
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import warnings
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal, refused

PACKAGE = os.path.join(harness.SOURCE, 'python')
STUB = os.path.join(PACKAGE, 'fvmpi', '_tables.pyi')
NOTEBOOK = os.path.join(harness.SOURCE, 'share', 'examples', 'run.ipynb')
sys.path.insert(0, PACKAGE)
import fvmpi
from fvmpi.__main__ import with_python, with_values

TYPES = {'int': int, 'float': (int, float), 'bool': bool, 'str': str}


def fvmpi_says(*words):
    return harness.run([harness.FVMPI, *words]).ended(0).out


def opened(path):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return fvmpi.open(path)


# ---- calls of a trace ----


def rows_of(calls):
    return [dict(call) for call in calls]


def calls(tap, runs):
    run = opened(runs['mpich'])
    if 'built without SQLite' in harness.run([harness.FVMPI, 'query', runs['mpich'], 'SELECT 1']).err:
        with tap.test('calls'):
            raise harness.Skip('no SQLite')
        return
    with tap.test('calls: all of the trace, by time, with columns that are described'):
        whole = run.calls()
        wanted = {site['function']: site['count'] for site in run.mpi_functions}
        found = {name: whole['function'].count(name) for name in wanted}
        equal('calls', found, wanted)
        begins = whole['begin_s']
        check(begins == sorted(begins) and len(set(whole['rank'])) > 1, '{}', begins[:5])
        described = json.loads(fvmpi_says('query', '--columns', 'trace_calls', '--json'))
        names = [row[described['columns'].index('name')] for row in described['rows']]
        equal('columns', list(whole.columns), [name for name in names if name != 'run'])
        check('wait_s: [s] ' in whole.__doc__ and whole.columns[2].unit == 's', '{}', whole.__doc__)
        check('MPI_' in whole._repr_html_(), 'notebook')
    with tap.test('calls: what has a part of a stretch; ranks, threads, a function'):
        everything = rows_of(whole)
        times = sorted(begins)
        begin, end = times[len(times) // 3], times[2 * len(times) // 3]
        name = max(wanted, key=wanted.get)
        for given, holds in (
            ((begin, end), lambda r: r['end_s'] >= begin and r['begin_s'] < end),
            ((begin, None), lambda r: r['end_s'] >= begin),
            ((None, end, 1), lambda r: r['begin_s'] < end and r['rank'] == 1),
            ((None, None, [0, 2]), lambda r: r['rank'] in (0, 2)),
            ((None, None, '1-2'), lambda r: r['rank'] in (1, 2)),
            ((None, None, '0,2-9'), lambda r: r['rank'] != 1),
            ((None, None, []), lambda r: False),
            ((None, None, None, 0, name), lambda r: r['thread'] == 0 and r['function'] == name),
            ((None, None, None, 7), lambda r: False),
            ((None, None, None, None, "no'thing"), lambda r: False),
        ):
            part, all_of = rows_of(run.calls(*given)), [row for row in everything if holds(row)]
            check(
                abs(len(part) - len(all_of)) <= 2 * (given[0] is not None), '{}: {} {}', given, len(part), len(all_of)
            )
            if given[0] is None and given[1] is None:  # JSON's 12 digits may round a bound
                equal(str(given), part, all_of)
    with tap.test('calls: errors'):
        for wrong in ('x', '1-', '0-3-5', ''):
            check('0-3,7' in str(refused(ValueError, lambda: run.calls(ranks=wrong))), '{}', wrong)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            equal('no trace', len(opened(runs['profile']).calls()), 0)
        check('--trace' in ' '.join(opened(runs['profile']).calls().notes), 'what records it')


# ---- types ----


def classes_of(stub):
    """{class: {attribute: type}}: of fields, and of what properties give."""
    found = {}
    for of in ast.parse(stub).body:
        if isinstance(of, ast.ClassDef):
            found[of.name] = {
                f.target.id
                if isinstance(f, ast.AnnAssign)
                else f.name: ast.unparse(f.annotation if isinstance(f, ast.AnnAssign) else f.returns)
                for f in of.body
            }
    return found


def is_of(value, kind):
    if kind.startswith('Optional['):
        return value is None or is_of(value, kind[len('Optional[') : -1])
    if kind.startswith('Literal['):
        return value in ast.literal_eval(kind[len('Literal') :])
    return isinstance(value, TYPES[kind]) and (kind == 'bool' or not isinstance(value, bool))


def stubs(tap, runs):
    with open(STUB) as f:
        classes = classes_of(f.read())
    with tap.test('the stub is what python/stubs.py writes now'):
        harness.run([os.path.join(PACKAGE, 'stubs.py'), harness.FVMPI, '--check']).ended(0)
    with tap.test('every table and column of a run has its type in the stub'):
        run = opened(runs['profile'])
        equal('tables', list(classes['Tables']), list(run.tables))
        hidden = [name for name in run.tables if hasattr(fvmpi.Run, name)]
        equal('a method hides the table', hidden, ['profile'] if 'profile' in run.tables else [])
        for name, kind in classes['Tables'].items():
            check(kind.startswith('Table[') and kind[6:-1] in classes, '{}: {}', name, kind)
            missing = set(run.tables[name].columns) - set(classes[kind[6:-1]])
            equal(name, {c for c in missing if c.isidentifier() and hasattr(run.tables[name][:1], c)}, set())
    values = 0
    with tap.test('values of all stored runs have these types'):
        for path in runs.values():
            run = opened(path)
            profile = {name: of.get('rows') if isinstance(of, dict) else of for name, of in run.profile.items()}
            for name, table in run.tables.items():
                if profile.get(name) == []:  # it has no values, and needs no command to say so
                    continue
                kinds = classes[classes['Tables'][name][6:-1]]
                for column in table.columns:
                    kind = kinds.get(column, 'Any')
                    wrong = [value for value in table[column] if kind != 'Any' and not is_of(value, kind)]
                    equal('{}.{}: {}'.format(name, column, kind), wrong[:3], [])
                    values += len(table)
        check(values > 10000, '{} values', values)


RIGHT = '''
import fvmpi
from typing import List, Optional

run = fvmpi.open('exp')
names: List[str] = [site.function for site in run.callsites]
waited: float = sum(rank.wait_s for rank in run.ranks)
peer: Optional[int] = run.calls(0, 1, ranks=[0])[0].late_rank
first: str = run.callsites.select(where='share>5%')[0].function
units: List[str] = [column.unit for column in run.ranks.columns]
'''
WRONG = '''
run.no_such_table
run.callsites[0].no_such_column
number: int = run.callsites[0].function
run.calls('now')
'''


def checker(tap):
    with tap.test('a type checker: the package, a right use, and a wrong one'):
        python = next((p for p in (sys.executable, '/usr/bin/python3') if has_mypy(p)), None)
        if not python:
            raise harness.Skip('no mypy')
        place = harness.scratch('types')
        shutil.copytree(os.path.join(PACKAGE, 'fvmpi'), place + '/fvmpi')
        mypy = [python, '-m', 'mypy', '--strict', '--python-version', '3.8', '--cache-dir', place + '/cache']
        said = subprocess.run([*mypy, '-p', 'fvmpi'], cwd=place, capture_output=True, text=True)
        equal('the package: ' + said.stdout, said.returncode, 0)
        for name, text, lines in (('right.py', RIGHT, []), ('wrong.py', RIGHT + WRONG, [12, 13, 14, 15])):
            with open(os.path.join(place, name), 'w') as f:
                f.write(text)
            said = subprocess.run([*mypy, name], cwd=place, capture_output=True, text=True).stdout
            equal(said, [int(line.split(':')[1]) for line in said.splitlines() if ': error:' in line], lines)


def has_mypy(python):
    return not subprocess.run([python, '-m', 'mypy', '--version'], capture_output=True).returncode


# ---- the notebook ----


def shown(value):
    html = getattr(value, '_repr_html_', None)
    return '' if value is None else html() if html else repr(value)


def executed(cells):
    """Each cell with what it prints and shows, as a notebook does."""
    names, said = {}, {}
    for cell in cells:
        code, out = ast.parse(''.join(cell['source'])), io.StringIO()
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(out):
            exec(compile(code, cell['id'], 'exec'), names)
            value = eval(compile(ast.Expression(last.value), cell['id'], 'eval'), names) if last else None
        said[cell['id']] = out.getvalue() + shown(value)
    return said


def notebook(tap, runs):
    with open(NOTEBOOK) as f:
        book = json.load(f)
    cells = [cell for cell in book['cells'] if cell['cell_type'] == 'code']
    with tap.test('the notebook is stored without what it printed'):
        equal('outputs', [c['id'] for c in cells if c['outputs'] or c['execution_count']], [])
        equal('names', len({cell['id'] for cell in book['cells']}), len(book['cells']))
    for name in ('mpich', 'profile', 'samples'):
        with tap.test('the notebook is executed: ' + name):
            with mock.patch.dict(os.environ, FVMPI_EXPERIMENT=runs[name], MPLBACKEND='Agg'):
                said = executed(cells)
            run = opened(runs[name])
            equal('silent', [c for c in said if not said[c] and c not in ('chart', 'tree', 'calls')], [])
            check('<b>' in said['open'], '{}', said['open'])
            for site in run.callsites:
                check(site.function in said['query'] or site.number > 5, '{}', said['query'])
            equal('calls', 'rank' in said['calls'], name != 'profile')
            equal('samples', 'main' in said['tree'], bool(run.call_tree))
    with tap.test('the notebook is executed by nbclient'):
        if not all(importlib.util.find_spec(module) for module in ('nbclient', 'nbformat', 'ipykernel')):
            raise harness.Skip('no nbclient and ipykernel')
        import nbclient
        import nbformat

        paths = {'PYTHONPATH': PACKAGE, 'FVMPI_EXPERIMENT': runs['mpich'], 'MPLBACKEND': 'Agg'}
        with mock.patch.dict(os.environ, paths):
            done = nbclient.NotebookClient(nbformat.read(NOTEBOOK, 4), timeout=harness.LIMIT).execute()
        check(any(cell.get('outputs') for cell in done['cells']), '{}', done)


# ---- scripts ----


def module(*words, **options):
    environment = {'PYTHONPATH': PACKAGE, 'FVMPI': harness.FVMPI, **options}
    return harness.run([sys.executable, '-m', 'fvmpi', *words], env=environment, cwd=options.get('cwd'))


def scripts(tap):
    place = harness.scratch('scripts')
    script = os.path.join(place, 'script.py')
    with open(script, 'w') as f:
        f.write('import sys\nprint(sys.argv[1:], sum(i * i for i in range(10 ** 6)))\nsys.exit(3)\n')
    with tap.test('python3 -m fvmpi: commands are handed over'):
        equal('version', module('--version').ended(0).out, fvmpi_says('--version'))
        said, own = module('report', '/nothing'), harness.run([harness.FVMPI, 'report', '/nothing'])
        equal('an error', (said.rc, said.err), (own.rc, own.err))
        said = module('report', FVMPI='/nothing/fvmpi')
        check(said.rc == 127 and 'no such command' in said.err, '{}: {}', said.rc, said.err)
    with tap.test('python3 -m fvmpi run: a script is run by this Python'):
        for i, words in enumerate(
            (['-o', '{}', script, 'a', '-b'], ['--output={}', '--sample', '--', script, 'a', '-b'])
        ):
            directory = os.path.join(place, 'exp{}'.format(i))
            run = module('run', *(word.format(directory) for word in words)).ended(3)
            check("['a', '-b'] 333332833333500000" in run.out, '{}', run.out)
            program = opened(directory).tables['run'][0].program
            check(os.path.realpath(sys.executable) == os.path.realpath(program), '{}', program)
    with tap.test('python3 -m fvmpi run: what is no script is as it was'):
        takes = with_values(harness.FVMPI)
        check({'-o', '--output', '--barrier', '--sample-budget'} <= takes, '{}', takes)
        equal('take none', {'--sample', '--trace', '--share', '--io', '--counters-shared'} & takes, set())
        for words in (['-o', script, 'ls'], ['mpiexec', script], ['-o'], ['nothing.py'], ['--', 'mpiexec'], []):
            equal('words', with_python(words, takes), words)
        equal('words', with_python(['--share', script], takes), ['--share', '--', sys.executable, script])


# ---- pandas ----


def python_with(module):
    """A Python that has a module, whose package is for the system's own."""
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and harness.run([python, '-c', 'import ' + module], cwd='/').rc == 0:
            return python
    raise harness.Skip('no ' + module)


def frames(runs):
    """In a Python with pandas: frames of all tables have their values; of calls, too."""
    for name in ('profile', 'samples'):
        for table in opened(runs[name]).tables.values():
            frame = table.to_pandas()
            equal(table.name, (list(frame.columns), len(frame)), (list(table.columns), len(table)))
            for column in table.columns:
                if all(type(value) is int for value in table[column]):
                    equal('{}.{}'.format(table.name, column), list(frame[column]), table[column])
    frame = opened(runs['mpich']).calls().to_pandas()
    counts = frame.groupby('function').size().to_dict()
    for site in opened(runs['mpich']).mpi_functions:
        equal(site.function, counts[site.function], site['count'])
    check(str(frame['late_rank'].dtype) == 'Int64' and frame.attrs['units']['wait_s'] == 's', '{}', frame.dtypes)


def pandas(tap, place):
    with tap.test('pandas: frames of all tables, and of calls'):
        environment = {'FVMPI_BUILD': harness.BUILD, 'FVMPI_SOURCE': harness.SOURCE}
        harness.run([python_with('pandas'), os.path.abspath(__file__), 'pandas', place], env=environment).ended(0)


def main():
    place = sys.argv[2] if sys.argv[1:2] == ['pandas'] else harness.scratch('runs')
    if sys.argv[1:2] != ['pandas']:
        for packed in glob.glob(os.path.join(HERE, '..', 'replay', '*.tar.xz')):
            with tarfile.open(packed) as tar:
                tar.extractall(place)
    runs = {name: os.path.join(place, name) for name in sorted(os.listdir(place))}
    os.environ.update({k: v for k, v in harness.environment().items() if k in ('FVMPI_LIBDIR', 'LC_ALL')})
    os.environ['FVMPI'] = harness.FVMPI
    if sys.argv[1:2] == ['pandas']:
        frames(runs)
        return
    tap = harness.Tap()
    stubs(tap, runs)
    checker(tap)
    scripts(tap)
    harness.needs_fvunify(tap)
    calls(tap, runs)
    notebook(tap, runs)
    pandas(tap, place)
    tap.done()


main()
