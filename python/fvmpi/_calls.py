# SPDX-License-Identifier: BSD-3-Clause
"""Single calls of a trace, by `fvmpi query`, which reads a stretch of time without the rest."""
import functools
import json
import re
from typing import Any, Dict, Iterable, List, Sequence, Tuple, Union

from ._command import ask, ask_json, found
from ._table import Answer, Column, Rows, with_docs

Chosen = Union[int, str, Iterable[int], None]
Stretch = Tuple[Union[float, None], Union[float, None]]

SPAN = re.compile(r'(\d+)(?:-(\d+))?$')
TABLE = 'trace_calls'
DOC = 'Calls of a trace one by one, by time.'


@functools.lru_cache(maxsize=None)
def columns_known(command: str) -> Tuple[Column, ...]:
    """All but the name of the run."""
    said: Dict[str, Any] = ask_json('query', '--columns', TABLE, '--json')
    rows = [dict(zip(said['columns'], values)) for values in said['rows']]
    return tuple(Column(row['name'], row['unit'] or '', row['doc']) for row in rows if row['name'] != 'run')


def spans(chosen: Chosen) -> List[Tuple[int, int]]:
    """First and last of each part of '0-3,7', of a number, or of a list."""
    if isinstance(chosen, int):
        return [(chosen, chosen)]
    if not isinstance(chosen, str):
        return [(int(number), int(number)) for number in chosen or ()]
    parts = [SPAN.match(part) for part in chosen.split(',')]
    if not all(parts):
        raise ValueError("wanted a number, a list, or such as '0-3,7', not {!r}".format(chosen))
    return [(int(part[1]), int(part[2] or part[1])) for part in parts if part]


def one_of(column: str, chosen: Chosen) -> List[str]:
    """Conditions of SQL. The first one bounds what is read."""
    if chosen is None:
        return []
    wanted = spans(chosen)
    if not wanted:
        return ['0']
    parts = ['{} BETWEEN {} AND {}'.format(column, first, last) for first, last in wanted]
    bound = '{} BETWEEN {} AND {}'.format(column, min(first for first, _ in wanted), max(last for _, last in wanted))
    return [bound] if len(parts) == 1 else [bound, '({})'.format(' OR '.join(parts))]


def statement(names: Iterable[str], stretch: Stretch, chosen: Tuple[Chosen, Chosen], function: Union[str, None]) -> str:
    begin, end = stretch
    where = [] if begin is None else ['end_s >= {!r}'.format(float(begin))]
    where += [] if end is None else ['begin_s < {!r}'.format(float(end))]
    where += one_of('rank', chosen[0]) + one_of('thread', chosen[1])
    where += [] if function is None else ["function = '{}'".format(function.replace("'", "''"))]
    return 'SELECT {} FROM {}{} ORDER BY begin_s, rank, thread, depth'.format(
        ', '.join('"{}"'.format(name) for name in names), TABLE, ' WHERE ' + ' AND '.join(where) if where else ''
    )


def calls_of(
    paths: Sequence[str], stretch: Stretch, chosen: Tuple[Chosen, Chosen], function: Union[str, None]
) -> Rows[Any]:
    """Calls that have a part of a stretch. Errors belong to this call."""
    if len(paths) > 1:
        raise ValueError('a run in several directories has no calls one by one')
    known = columns_known(found())
    said = ask('query', '--json', '--timeout=0', '--', *paths, statement(known, stretch, chosen, function))
    data = json.loads(said.out)
    answer = Answer(with_docs(data['columns'], known), data['rows'], said.notes)
    return Rows(TABLE, DOC, lambda: known, lambda: answer)
