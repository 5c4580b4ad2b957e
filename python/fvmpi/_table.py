# SPDX-License-Identifier: BSD-3-Clause
"""Tables of `fvmpi report`. Their names, columns and documentation are those of `fvmpi report --columns`; rows are read when
they are first used, by `fvmpi report --table NAME --json -`."""
import functools
import json
import re
from collections.abc import Mapping
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple, Union

from . import _html
from ._command import Error, ask, found

Words = Union[str, Iterable[str], None]

ENTRY = re.compile(r'  (\S+)(?: +(.*))?$')
UNIT = re.compile(r'\[([^\]]+)\] ')


class Column(str):
    """The name of a column, with its unit (empty: none) and its meaning."""

    unit: str
    doc: str

    def __new__(cls, name: str, doc: str = '') -> 'Column':
        column = super().__new__(cls, name)
        unit = UNIT.match(doc)
        column.unit = unit.group(1) if unit else ''
        column.doc = doc[unit.end() :] if unit else doc
        return column


class Row(Mapping):
    """A row: `row.count`, `row['count']` and `dict(row)` are its values."""

    __slots__ = ('_at', '_values')

    def __init__(self, at: Dict[str, int], values: Sequence[Any]) -> None:
        self._at, self._values = at, values

    def __getitem__(self, name: str) -> Any:
        return self._values[self._at[name]]

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_') or name not in self._at:
            raise AttributeError('there is no column {}; there are {}'.format(name, ', '.join(self._at)))
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def __dir__(self) -> List[str]:
        return sorted([*super().__dir__(), *self._at])

    def __repr__(self) -> str:
        return 'Row({})'.format(', '.join('{}={!r}'.format(*item) for item in self.items()))


class Doc:
    """The documentation of a table, for `table?` in notebooks: it asks the command, which would be slow for all tables."""

    def __init__(self, of_class: str) -> None:
        self.of_class = of_class

    def __get__(self, table: Any, _owner: Any = None) -> str:
        if table is None:
            return self.of_class
        docs = column_docs(found(), table.name).items()
        return '\n'.join([table.doc, '', *('{}: {}'.format(name, doc) for name, doc in docs)])


class Table(Sequence):
    __doc__ = Doc('A table of a run. It has a length, rows by number, and all values of a column by its name.')  # type: ignore

    def __init__(self, paths: Sequence[str], name: str, doc: str, options: Sequence[str] = ()) -> None:
        self.name, self.doc = name, doc
        self._paths, self._options = tuple(paths), tuple(options)

    @functools.cached_property
    def _read(self) -> Tuple[Tuple[Column, ...], List[List[Any]], Tuple[str, ...]]:
        said = ask('report', *self._paths, '--table', self.name, '--json', '-', *self._options)
        data = json.loads(said.out)
        docs = column_docs(found(), self.name)
        return tuple(Column(name, docs.get(name, '')) for name in data['columns']), data['rows'], said.notes

    @functools.cached_property
    def _at(self) -> Dict[str, int]:
        return {str(name): i for i, name in enumerate(self.columns)}

    @property
    def columns(self) -> Tuple[Column, ...]:
        """Names of the columns, each with `unit` and `doc`."""
        return self._read[0]

    @property
    def notes(self) -> Tuple[str, ...]:
        """What fvmpi said when it read the table, such as the option that records it."""
        return self._read[2]

    def __len__(self) -> int:
        return len(self._read[1])

    def __iter__(self) -> Iterator[Row]:
        return (Row(self._at, values) for values in self._read[1])

    def __getitem__(self, wanted: Any) -> Any:
        if isinstance(wanted, slice):
            return [Row(self._at, values) for values in self._read[1][wanted]]
        if isinstance(wanted, str):
            return [values[self._at[wanted]] for values in self._read[1]]
        return Row(self._at, self._read[1][wanted])

    def select(
        self,
        where: Words = None,
        sort: Union[str, None] = None,
        columns: Words = None,
        ranks: Union[str, int, None] = None,
        threads: Union[str, int, None] = None,
        function: Union[str, None] = None,
    ) -> 'Table':
        """A part of the table, which fvmpi chooses.

        where     a condition such as 'wait_s>0.1', or several, which must all be true (--where)
        sort      the column to sort by; '-wait_s': the largest first (--sort)
        columns   these columns, in this order: a list, or 'rank,wait_s' (--columns)
        ranks     rows of these ranks, such as '0-3,7' (--rank); threads likewise (--thread)
        function  rows of this function (--function)"""
        options = ['--where=' + condition for condition in ([where] if isinstance(where, str) else where or ())]
        if columns is not None:
            options.append('--columns=' + (columns if isinstance(columns, str) else ','.join(columns)))
        given = {'sort': sort, 'rank': ranks, 'thread': threads, 'function': function}
        options += ['--{}={}'.format(option, value) for option, value in given.items() if value is not None]
        chosen = Table(self._paths, self.name, self.doc, (*self._options, *options))
        chosen._read  # an error belongs to this call
        return chosen

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Integers that may be unknown are pandas' Int64. `attrs` has units and meanings."""
        pandas = needed('pandas')
        series = {str(name): self[name] for name in self.columns}
        frame = pandas.DataFrame(
            {
                name: pandas.array(values, dtype='Int64') if has_unknown_integers(values) else values
                for name, values in series.items()
            },
            columns=list(series),
        )
        frame.attrs = {
            'table': self.name,
            'units': {str(column): column.unit for column in self.columns if column.unit},
            'meanings': {str(column): column.doc for column in self.columns},
        }
        return frame

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        names = [str(name) for name in self.columns]
        return needed('polars').DataFrame(self._read[1], schema=names, orient='row', infer_schema_length=None)

    def __repr__(self) -> str:
        text = 'table {}: {} rows, {} columns. {}'.format(self.name, len(self), len(self.columns), self.doc)
        return '\n'.join([text, *self.notes])

    def _repr_html_(self) -> str:
        return _html.table(self)


def has_unknown_integers(values: Sequence[Any]) -> bool:
    """True: integers and None, which pandas would make inexact numbers of."""
    known = [value for value in values if value is not None]
    return 0 < len(known) < len(values) and all(type(value) is int for value in known)


def needed(module: str) -> Any:
    """A module that a user may have or not."""
    try:
        return __import__(module)
    except ImportError as why:
        raise ImportError('{0} is not installed: {1}; pip install {0}'.format(module, why), name=module) from None


def entries(lines: Iterable[str]) -> Dict[str, str]:
    """Names and meanings. A name is indented by two columns, its meaning further, in one or several lines."""
    meanings: Dict[str, List[str]] = {}
    for line in lines:
        entry = ENTRY.match(line)
        if entry:
            meaning = meanings.setdefault(entry.group(1), [entry.group(2) or ''])
        elif meanings and line.startswith('   '):
            meaning.append(line.strip())
    return {name: ' '.join(filter(None, meaning)) for name, meaning in meanings.items()}


@functools.lru_cache(maxsize=None)
def table_docs(command: str) -> Dict[str, str]:
    """What each table of this command is."""
    return entries(ask('report', '--columns').out.splitlines())


@functools.lru_cache(maxsize=None)
def column_docs(command: str, table: str) -> Dict[str, str]:
    """What each column of a table is."""
    return entries(ask('report', '--table', table, '--columns').out.splitlines())


def tables_of(paths: Sequence[str], options: Sequence[str]) -> Dict[str, Table]:
    """All tables of a run, none of which is read yet."""
    tables = {name: Table(paths, name, doc, options) for name, doc in table_docs(found()).items()}
    if not tables:
        raise Error('fvmpi: report --columns lists no tables')
    return tables
