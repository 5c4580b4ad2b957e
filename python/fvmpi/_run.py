# SPDX-License-Identifier: BSD-3-Clause
"""A recorded run. Its attributes are made of what `fvmpi report --columns` lists, so that none is named here."""
import functools
import json
import types
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Union

from . import _html
from ._calls import Chosen, calls_of
from ._command import Path, ask, ask_json, paths_of
from ._table import Rows, Table, tables_of
from ._tables import Tables
from ._tree import Node, roots_of, to_hatchet

if TYPE_CHECKING:
    from ._tables import TraceCallsRow


class Run(Tables):
    """A recorded run, which `fvmpi.open` gives. Each table of `fvmpi report` is an attribute; `tables` has all by name.
    What was read is kept: open a run that still goes on again."""

    def __init__(self, paths: List[str], options: List[str]) -> None:
        self.paths = tuple(paths)
        self._options = options
        self.tables: Mapping[str, Table[Any]] = types.MappingProxyType(tables_of(paths, options))

    if not TYPE_CHECKING:  # Tables has them by name

        def __getattr__(self, name: str) -> Table[Any]:
            if name.startswith('_') or name == 'tables':
                raise AttributeError(name)
            try:
                return self.tables[name]
            except KeyError:
                raise AttributeError('a run has no table {}; dir(run) lists them'.format(name)) from None

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.tables})

    @functools.cached_property
    def profile(self) -> Dict[str, Any]:
        """The whole profile: the object that `fvmpi report --json` writes (share/fvmpi-profile-2.md)."""
        profile: Dict[str, Any] = ask_json('report', *self.paths, '--json', '-', *self._options)
        return profile

    @functools.cached_property
    def _brief(self) -> str:
        return ask('report', *self.paths, '--brief', '--json', '-', *self._options).out

    def brief(self) -> Dict[str, Any]:
        """The verdict, the findings, and what was not recorded, in at most 2 KB (fvmpi report --brief)."""
        brief: Dict[str, Any] = json.loads(self._brief)
        return brief

    def explain(self, finding_id: str) -> str:
        """The numbers behind a finding of the whole run, and how it was concluded (fvmpi explain)."""
        return ask('explain', '--color', 'never', '--', finding_id, *self.paths).out

    def query(self, sql: str) -> Dict[str, Any]:
        """Answers a question in SQL (fvmpi query): `columns`, `rows`, and `complete`, which is false over a limit."""
        answer: Dict[str, Any] = ask_json('query', '--json', *self._options, '--', *self.paths, sql)
        return answer

    def calls(
        self,
        begin: Union[float, None] = None,
        end: Union[float, None] = None,
        ranks: Chosen = None,
        threads: Chosen = None,
        function: Union[str, None] = None,
    ) -> 'Rows[TraceCallsRow]':
        """Calls of the trace that have a part between `begin` and `end`, in seconds from the run's begin, by time. Only that
        stretch is read (table trace_calls of fvmpi query).

        ranks     of these: a number, a list, or '0-3,7'; threads: the same
        function  of this function"""
        return calls_of(self.paths, (begin, end), (ranks, threads), function)

    def tree(self) -> List[Node]:
        """The roots of the call tree, with CPU time. Empty: nothing was sampled."""
        return roots_of(self.tables['call_tree'])

    def to_hatchet(self) -> Any:
        """The call tree as a hatchet.GraphFrame."""
        return to_hatchet(self.tree())

    def __repr__(self) -> str:
        return 'fvmpi.open({!r}): {}'.format(
            self.paths[0] if len(self.paths) == 1 else self.paths, self.brief()['verdict']
        )

    def _repr_html_(self) -> str:
        return _html.run(self.brief())


def open(paths: Union[Path, Iterable[Path]], read_ranks: Union[str, None] = None, symbols: bool = True) -> Run:
    """Opens a run: an experiment directory, an OTF2 archive, or a list of the directories in which one run is.

    read_ranks  read the files of these ranks alone, such as '0-63', which is fast (--read-ranks)
    symbols     False: leave call paths as module+offset, which is fast (--no-symbols)

    What fvmpi says of files that it cannot read whole is a warning."""
    options = ['--read-ranks=' + read_ranks] if read_ranks is not None else []
    run = Run(paths_of(paths), options if symbols else [*options, '--no-symbols'])
    for note in run.tables['run'].notes:
        warnings.warn(note, stacklevel=2)
    return run
