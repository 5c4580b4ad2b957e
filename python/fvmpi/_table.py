# SPDX-License-Identifier: BSD-3-Clause
"""Tables of `fvmpi report`. Their names, columns and documentation are those of `fvmpi report --columns --json -`; rows are
read when they are first used, by `fvmpi report --table NAME --json -`."""
import functools
import json
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Sequence,
    Tuple,
    TypeVar,
    Union,
    overload,
)

from . import _html
from ._command import Error, ask, ask_json, found

Words = Union[str, Iterable[str], None]
R = TypeVar('R', bound=Mapping[str, Any])  # rows of a table: in the stub _tables.pyi, with its columns


class Column(str):
    """The name of a column, with its unit (empty: none) and its meaning."""

    unit: str
    doc: str

    def __new__(cls, name: str, unit: str = '', doc: str = '') -> 'Column':
        column = super().__new__(cls, name)
        column.unit, column.doc = unit, doc
        return column


class Row(Mapping[str, Any]):
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


class Answer(NamedTuple):
    """What was read of a table."""

    columns: Tuple[Column, ...]
    rows: List[List[Any]]
    notes: Tuple[str, ...]


class Doc:
    """The documentation of a table, for `table?` in notebooks."""

    def __init__(self, of_class: str) -> None:
        self.of_class = of_class

    def __get__(self, rows: Any, _owner: Any = None) -> str:
        return '\n'.join([rows.doc, '', *map(described, rows._described())]) if rows is not None else self.of_class


class Rows(Sequence[R]):
    """Rows by number, or `rows['count']`: all values of a column. They are read when they are first used, and kept."""

    __doc__ = Doc(__doc__)  # type: ignore[assignment]

    def __init__(
        self, name: str, doc: str, described: Callable[[], Sequence[Column]], read: Callable[[], Answer]
    ) -> None:
        self.name, self.doc = name, doc
        self._described, self._ask = described, read

    @functools.cached_property
    def _read(self) -> Answer:
        return self._ask()

    @functools.cached_property
    def _at(self) -> Dict[str, int]:
        return {str(name): i for i, name in enumerate(self.columns)}

    @property
    def columns(self) -> Tuple[Column, ...]:
        """Names of the columns, each with `unit` and `doc`."""
        return self._read.columns

    @property
    def notes(self) -> Tuple[str, ...]:
        """What fvmpi said when it read the table, such as the option that records it."""
        return self._read.notes

    def __len__(self) -> int:
        return len(self._read.rows)

    def _row(self, values: List[Any]) -> R:
        return Row(self._at, values)  # type: ignore[return-value]

    def __iter__(self) -> Iterator[R]:
        return map(self._row, self._read.rows)

    @overload
    def __getitem__(self, wanted: int) -> R:
        ...

    @overload
    def __getitem__(self, wanted: slice) -> List[R]:
        ...

    @overload
    def __getitem__(self, wanted: str) -> List[Any]:
        ...

    def __getitem__(self, wanted: Any) -> Any:
        if isinstance(wanted, slice):
            return [self._row(values) for values in self._read.rows[wanted]]
        if isinstance(wanted, str):
            return [values[self._at[wanted]] for values in self._read.rows]
        return self._row(self._read.rows[wanted])

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
        return needed('polars').DataFrame(self._read.rows, schema=names, orient='row', infer_schema_length=None)

    def __repr__(self) -> str:
        text = 'table {}: {} rows, {} columns. {}'.format(self.name, len(self), len(self.columns), self.doc)
        return '\n'.join([text, *self.notes])

    def _repr_html_(self) -> str:
        return _html.table(self)


class Table(Rows[R]):
    """A table of `fvmpi report`."""

    __doc__ = Doc(__doc__)  # type: ignore[assignment]

    def __init__(self, paths: Sequence[str], name: str, doc: str, options: Sequence[str]) -> None:
        super().__init__(name, doc, lambda: columns_of(found(), name), self._ask_report)
        self._paths, self._options = tuple(paths), tuple(options)

    def _ask_report(self) -> Answer:
        said = ask('report', *self._paths, '--table', self.name, '--json', '-', *self._options)
        data = json.loads(said.out)
        return Answer(with_docs(data['columns'], self._described()), data['rows'], said.notes)

    def select(
        self,
        where: Words = None,
        sort: Union[str, None] = None,
        columns: Words = None,
        ranks: Union[str, int, None] = None,
        threads: Union[str, int, None] = None,
        function: Union[str, None] = None,
    ) -> 'Table[R]':
        """A part of the table, which fvmpi chooses.

        where     a condition such as 'wait_s>0.1', or several, which must all be true (--where)
        sort      the column to sort by; '-wait_s': the largest first (--sort)
        columns   these columns, in this order: a list, or 'rank,wait_s' (--columns)
        ranks     rows of these ranks, such as '0-3,7' (--rank); also threads (--thread)
        function  rows of this function (--function)"""
        options = ['--where=' + condition for condition in ([where] if isinstance(where, str) else where or ())]
        if columns is not None:
            options.append('--columns=' + (columns if isinstance(columns, str) else ','.join(columns)))
        given = {'sort': sort, 'rank': ranks, 'thread': threads, 'function': function}
        options += ['--{}={}'.format(option, value) for option, value in given.items() if value is not None]
        chosen: Table[R] = Table(self._paths, self.name, self.doc, (*self._options, *options))
        chosen._read  # an error belongs to this call
        return chosen


def has_unknown_integers(values: Sequence[Any]) -> bool:
    """True: integers and None, which pandas would make inexact numbers of."""
    known = [value for value in values if value is not None]
    return 0 < len(known) < len(values) and all(type(value) is int for value in known)


def needed(module: str) -> Any:
    """A module that a user may have or not."""
    try:
        return __import__(module)
    except ImportError as why:
        package = {'hatchet': 'llnl-hatchet', 'thicket': 'llnl-thicket'}.get(module, module)
        raise ImportError('{} is not installed: {}; pip install {}'.format(module, why, package), name=module) from None


def described(column: Column) -> str:
    """`wait_s: [s] Time spent waiting.`"""
    return '{}: {}{}'.format(column, '[{}] '.format(column.unit) if column.unit else '', column.doc)


def with_docs(names: Iterable[str], known: Iterable[Column]) -> Tuple[Column, ...]:
    """Columns of these names."""
    columns = {str(column): column for column in known}
    return tuple(columns.get(name) or Column(name) for name in names)


@functools.lru_cache(maxsize=None)
def tables_known(command: str) -> Dict[str, Dict[str, Any]]:
    """What this command says of its tables: {name: {description, columns: {key: JSON Schema}}}."""
    tables: Dict[str, Dict[str, Any]] = ask_json('report', '--columns', '--json', '-')
    if not tables:
        raise Error('fvmpi: report --columns lists no tables')
    return tables


def columns_of(command: str, table: str) -> Tuple[Column, ...]:
    """The columns of a table."""
    said = {'exact': '', None: '', 'estimate': ' An estimate.'}
    return tuple(
        Column(
            key,
            of.get('unit', ''),
            of['description'] + said.get(of.get('exactness'), ' Exact or an estimate, {}.'.format(of.get('exactness'))),
        )
        for key, of in tables_known(command)[table]['columns'].items()
    )


def tables_of(paths: Sequence[str], options: Sequence[str]) -> Dict[str, Table[Any]]:
    """All tables of a run, none of which is read yet."""
    return {name: Table(paths, name, of['description'], options) for name, of in tables_known(found()).items()}
