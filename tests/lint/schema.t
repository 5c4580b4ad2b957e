#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The schema of the JSON: one key has one type wherever it stands, each column says what it is, the documents of share/
hold what the tools say, and --columns lists each table."""
import collections
import importlib.util
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

SHARE = os.path.join(harness.SOURCE, 'share')


def fvmpi(*arguments):
    return harness.run([harness.FVMPI] + list(arguments)).ended(0).out


def kind(schema):
    """The type in words; null does not count."""
    if '$ref' in schema:
        return 'summary'
    of = schema.get('type')
    of = next(k for k in of if k != 'null') if isinstance(of, list) else of
    if of == 'array':
        return 'list of ' + kind(schema['items']) if isinstance(schema.get('items'), dict) else 'row'
    if of != 'object':
        return of
    if isinstance(schema.get('additionalProperties'), dict):
        return 'map of ' + kind(schema['additionalProperties'])
    if 'rows' in schema['properties']:
        return 'rows'
    return 'object of ' + ' '.join(sorted(schema['properties']))


def keys(schema, where, found):
    """found[key][type]: places"""
    if 'rows' in schema.get('properties', {}):
        rows = schema['properties']['rows']['items']['prefixItems']
        for key, of in zip(schema['properties']['columns']['const'], rows):
            found[key][kind(of)].append('{}.{}'.format(where, key))
            check(of.get('description'), '{}.{}: no description', where, key)
        return
    for key, of in schema.get('properties', {}).items():
        found[key][kind(of)].append('{}.{}'.format(where, key))
        check(
            of.get('description') or '$ref' in of or 'const' in of or 'properties' in of,
            '{}.{}: no description',
            where,
            key,
        )
        keys(of, '{}.{}'.format(where, key), found)
    for inside in ('items', 'additionalProperties'):
        if isinstance(schema.get(inside), dict):
            keys(schema[inside], where + '[]', found)


def one_type(schema):
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    keys(schema, '', found)
    several = {key: {k: places[0] for k, places in types.items()} for key, types in found.items() if len(types) > 1}
    equal('keys of several types', {k: sorted(v.values()) for k, v in several.items()}, {})
    check(len(found) > 100, 'only {} keys', len(found))


def document(command, name):
    copy = os.path.join(harness.scratch('docs'), name)
    shutil.copy(os.path.join(SHARE, name), copy)
    subprocess.run(
        [sys.executable, os.path.join(SHARE, 'tables.py'), copy], input=fvmpi(command, '--schema').encode(), check=True
    )
    with open(copy) as new, open(os.path.join(SHARE, name)) as old:
        check(new.read() == old.read(), 'share/{} does not say what the tools say; ./dev docs', name)


def rows(schema, where):
    """(place, {flat key: schema}) of each relation inside."""
    for key, of in schema.get('properties', {}).items():
        if of.get('type') == 'object' and 'table' not in of and 'description' not in of:
            continue  # a group, which is part of the row
        yield from rows(of, '{}.{}'.format(where, key))
    for inside in ('items', 'additionalProperties'):
        if isinstance(schema.get(inside), dict):
            yield from rows(schema[inside], where + '[]')
    if 'rows' in schema.get('properties', {}):
        yield where, dict(
            zip(schema['properties']['columns']['const'], schema['properties']['rows']['items']['prefixItems'])
        )
    elif 'properties' in schema:
        row = dict(schema['properties'])
        for key, of in schema['properties'].items():
            if of.get('type') == 'object' and 'description' not in of:
                row.update(('{}_{}'.format(key, inner), value) for inner, value in of['properties'].items())
        yield where, row


def exactness(schema):
    """Who says that wait_kind tells has it; what is modelled or sampled is an estimate."""
    alone, said = [], {}
    for where, row in rows(schema, ''):
        said.update(('{}.{}'.format(where, key), of.get('exactness')) for key, of in row.items())
        if any(of.get('exactness') == 'as wait_kind says' for of in row.values()) and not any(
            k.endswith('wait_kind') for k in row
        ):
            alone.append(where)
    equal('rows without wait_kind', alone, [])
    for key in (
        '.efficiency.serialization',
        '.efficiency.transfer',
        '.functions[].metrics[].cov',
        '.functions[].metrics[].mean',
        '.functions[].metrics[].bias',
        '.functions[].metrics[].window_mean',
        '.functions[].metrics[].window_cov',
        '.functions[].metrics[].per_thread.mean',
        '.functions[].instances.time_s',
        '.functions[].instances.cpu_s',
        '.ranks[].in_call.for_s',
    ):
        equal(key, said.get(key), 'estimate')
    for key in (
        '.waiting.critical_path.length_s',
        '.waiting.per_rank.critical_s',
        '.waiting.culprits[].cost_s',
        '.waiting.regions[].critical_mpi_s',
    ):
        equal(key, said.get(key), 'as wait_kind says')
    equal('times of computing', said.get('.waiting.regions[].mean_s'), 'exact')


def one_name(flat):
    """What the same name begins is called alike in all tables of CPU time."""
    equal(
        'names of exclusive CPU time',
        {c for t in flat.values() for c in t if c.startswith('exclusive_') and c.endswith('_s')},
        {'exclusive_time_s', 'exclusive_error_s'},
    )


def tables(schema, out):
    if 'table' in schema:
        out.add(schema['table'])
    for of in schema.get('properties', {}).values():
        tables(of, out)
    for inside in ('items', 'additionalProperties'):
        if isinstance(schema.get(inside), dict):
            tables(schema[inside], out)
    return out


def listed(schema):
    columns = {}
    names = [
        line.split()[0]
        for line in fvmpi('report', '--columns').splitlines()
        if line.startswith('  ') and line[2] != ' '
    ]
    equal('listed twice', sorted(n for n in names if names.count(n) > 1), [])
    equal('not listed', sorted(tables(schema, set()) - set(names)), [])
    for name in names:
        said = fvmpi('report', '--table', name, '--columns')
        check(said.startswith(name + ': ') and '\n  ' in said, '{}: {}', name, said)
        columns[name] = [line.split()[0] for line in said.splitlines() if line.startswith('  ') and line[2] != ' ']
    one_name(columns)


def main():
    tap = harness.Tap()
    schema = json.loads(fvmpi('report', '--schema'))
    with tap.test('it is a schema'):
        if not importlib.util.find_spec('jsonschema'):
            raise harness.Skip('no jsonschema for python3: the JSON of all tests was held against nothing')
        import jsonschema

        jsonschema.Draft202012Validator.check_schema(schema)
    with tap.test('one key has one type, and each column says what it is'):
        one_type(schema)
    with tap.test('each column says how well it is known'):
        exactness(schema)
    with tap.test('share/fvmpi-profile-2.md is up to date'):
        document('report', 'fvmpi-profile-2.md')
        document('diff', 'fvmpi-diff-2.md')
        document('scaling', 'fvmpi-scaling-1.md')
        document('doctor', 'fvmpi-doctor-1.md')
        document('stacks', 'fvmpi-stacks-1.md')
        document('where', 'fvmpi-where-1.md')
    with tap.test('report --columns lists each table and its columns'):
        listed(schema)
    tap.done()


main()
