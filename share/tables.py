#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of a document in share/ from the JSON Schema that fvmpi prints:

    fvmpi report --schema | share/tables.py share/fvmpi-profile-2.md

What is no JSON is taken as it is (fvmpi dump --records | share/tables.py share/format.md).
What stands in the document up to the line GENERATED is kept."""
import json
import sys

GENERATED = '<!-- From here on: written by ./dev docs -->'


def plain(schema):
    """Its type without null, and whether null may be there."""
    kind = schema.get('type')
    if isinstance(kind, list):
        return next(k for k in kind if k != 'null'), True
    return kind, False


def is_rows(schema):
    return 'rows' in schema.get('properties', {})


def row_of(schema):
    """The object that a relation has a row of; None: it is not one."""
    kind, _ = plain(schema)
    if is_rows(schema):
        columns = schema['properties']['columns']['const']
        return dict(zip(columns, schema['properties']['rows']['items']['prefixItems']))
    if kind == 'array':
        return schema['items'].get('properties')
    if isinstance(schema.get('additionalProperties'), dict):
        return schema['additionalProperties'].get('properties')
    return schema.get('properties') if kind == 'object' else None


def shape(schema):
    kind, null = plain(schema)
    words = (
        'columns and rows'
        if is_rows(schema)
        else 'list of objects'
        if kind == 'array'
        else 'object by name'
        if isinstance(schema.get('additionalProperties'), dict)
        else 'object'
    )
    return words + (' or null' if null else '')


def value(schema):
    kind, null = plain(schema)
    if kind == 'array':
        kind = (
            'list of [first, stride, count]'
            if schema['items'].get('type') == 'array'
            else 'list of {}s'.format(schema['items']['type'])
        )
    words = ', '.join([kind] + ([schema['unit']] if schema.get('unit') not in (None, 'id') else []))
    return words + (' or null' if null else '')


def lines(name, schema, depth, out):
    table = ', table `{}`'.format(schema['table']) if 'table' in schema else ''
    out += [
        '',
        '{} {}'.format('#' * depth, name),
        '',
        '{}{}. {}'.format(shape(schema).capitalize(), table, schema['description']),
        '',
        '| key | value | what |',
        '|---|---|---|',
    ]
    nested = []

    def keys(properties, prefix):
        for key, of in properties.items():
            if '$ref' in of:
                continue
            if 'description' in of and row_of(of) is not None:
                nested.append((key, of))
                out.append('| `{}{}` | {} | below |'.format(prefix, key, shape(of)))
            elif plain(of)[0] == 'object':
                keys(of['properties'], prefix + key + '.')
            else:
                estimate = {
                    'estimate': ' An estimate.',
                    'as wait_kind says': ' Exact or an estimate, as `wait_kind` says.',
                }
                words = of.get('description', '') + estimate.get(of.get('exactness'), '')
                if 'enum' in of:
                    words += ' One of {}.'.format(', '.join('`{}`'.format(w) for w in of['enum'] if w is not None))
                out.append('| `{}{}` | {} | {} |'.format(prefix, key, value(of), words.replace('|', '\\|')))

    keys(row_of(schema), '')
    for key, of in nested:
        if key not in ('path',):
            lines('{}.{}'.format(name, key), of, min(depth + 1, 4), out)


def main():
    with open(sys.argv[1]) as f:
        kept = f.read().split(GENERATED)[0]
    out = [GENERATED]
    text = sys.stdin.read()
    if not text.startswith('{'):
        with open(sys.argv[1], 'w') as f:
            f.write(kept + GENERATED + '\n\n' + text)
        return
    schema = json.loads(text)
    path = schema['properties'].get('callsites', {}).get('items', {}).get('properties', {}).get('path')
    if path:
        lines('path', path, 2, out)
    for key, of in schema['properties'].items():
        if key != 'schema' and '$ref' not in of:
            lines(key, of, 2, out)
    with open(sys.argv[1], 'w') as f:
        f.write(kept + '\n'.join(out) + '\n')


main()
