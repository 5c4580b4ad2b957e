#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes python/fvmpi/_tables.pyi: each table of a run with its columns and their types, as `fvmpi report --columns --json -`
and `fvmpi query --columns trace_calls --json` say.

    python/stubs.py FVMPI            writes, by this command
    python/stubs.py FVMPI --check    exit status 1 if it would write anything else"""
import collections.abc
import json
import keyword
import os
import subprocess
import sys
import textwrap

PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fvmpi', '_tables.pyi')
HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
# Written by python/stubs.py: ./dev docs.
from typing import Any, Iterator, Literal, Mapping, Optional

from ._table import Table

class KnownRow(Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

'''
TYPES = {'integer': 'int', 'number': 'float', 'boolean': 'bool', 'string': 'str'}
SQL_TYPES = {'INTEGER': 'integer', 'REAL': 'number', 'TEXT': 'string'}


def asked(command, *words):
    return json.loads(subprocess.run([command, *words], stdout=subprocess.PIPE, check=True).stdout)


def tables(command):
    """{name: {description, columns: {key: JSON Schema}}}; the calls of a trace last."""
    found = asked(command, 'report', '--columns', '--json', '-')
    trace = asked(command, 'query', '--columns', 'trace_calls', '--json')
    columns = {}
    for values in trace['rows']:
        row = dict(zip(trace['columns'], values))
        kind = SQL_TYPES[row['type']]
        if row['name'] != 'run':
            columns[row['name']] = {'type': [kind, 'null'] if row['may_be_null'] else kind}
    return found, columns


def kind_of(schema):
    kinds = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
    words = [word for word in schema.get('enum', ()) if word is not None]
    kind = 'Literal[{}]'.format(', '.join(map(repr, words))) if words else TYPES[kinds[0]]
    return 'Optional[{}]'.format(kind) if 'null' in kinds else kind


def row_name(table):
    return ''.join(word.capitalize() for word in table.split('_')) + 'Row'


def is_attribute(name):
    """row.NAME is its value: it is no word of Python, nor what every mapping has."""
    return not keyword.iskeyword(name) and not hasattr(collections.abc.Mapping, name)


def row_lines(table, columns):
    yield 'class {}(KnownRow):'.format(row_name(table))
    for name, schema in columns.items():
        if is_attribute(name):
            yield '    {}: {}'.format(name, kind_of(schema))
    yield ''


def table_lines(table, doc):
    yield '    @property'
    yield '    def {}(self) -> Table[{}]:'.format(table, row_name(table))
    yield from textwrap.wrap('"""{}"""'.format(doc.replace('\\', '\\\\').replace('"', "'")), 112, initial_indent=' ' * 8,
                             subsequent_indent=' ' * 8)  # fmt: skip


def written(command):
    found, calls = tables(command)
    lines = [line for name, of in found.items() for line in row_lines(name, of['columns'])]
    lines += [*row_lines('trace_calls', calls), 'class Tables:']
    lines += [line for name, of in found.items() for line in table_lines(name, of['description'])]
    return HEAD + '\n'.join(lines) + '\n'


def main():
    new = written(sys.argv[1])
    if sys.argv[2:] == ['--check']:
        with open(PLACE, encoding='utf-8') as f:
            sys.exit('python/fvmpi/_tables.pyi differs; run ./dev docs' if f.read() != new else 0)
    with open(PLACE, 'w', encoding='utf-8') as f:
        f.write(new)


if __name__ == '__main__':
    main()
