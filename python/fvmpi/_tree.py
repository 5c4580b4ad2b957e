# SPDX-License-Identifier: BSD-3-Clause
"""The call tree of a sampled run as nodes, and in the form that Hatchet reads."""
from typing import Any, Dict, Iterable, Iterator, List, Tuple

from ._table import Row, needed


class Node:
    """A procedure with its callers: `name`, `children`, `parent` (None: a root), and the columns of table call_tree."""

    def __init__(self, row: Row, parent: Any = None) -> None:
        self.row, self.parent = row, parent
        self.name: str = row['procedure']
        self.children: List['Node'] = []
        if parent:
            parent.children.append(self)

    def __getattr__(self, column: str) -> Any:
        if column.startswith('_') or column == 'row':
            raise AttributeError(column)
        return getattr(self.row, column)

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.row})

    def walk(self, depth: int = 0) -> Iterator[Tuple[int, 'Node']]:
        """This node and all below, each with its depth, callers first."""
        waiting = [(depth, self)]
        while waiting:
            at, node = waiting.pop()
            yield at, node
            waiting += [(at + 1, child) for child in reversed(node.children)]

    def __repr__(self) -> str:
        return '<{}: {:.3g} s, {} callees>'.format(self.name, self.inclusive_time_s, len(self.children))

    def __str__(self) -> str:
        return '\n'.join(
            '{:9.3f} s  {}{}'.format(node.inclusive_time_s, '  ' * depth, node.name) for depth, node in self.walk()
        )


def roots_of(rows: Iterable[Row]) -> List[Node]:
    """Nodes without a caller. A caller's row comes before those of its callees."""
    nodes: Dict[int, Node] = {}
    for row in rows:
        nodes[row['id']] = Node(row, None if row['parent_id'] is None else nodes[row['parent_id']])
    return [node for node in nodes.values() if not node.parent]


def literal(roots: Iterable[Node]) -> List[Dict[str, Any]]:
    """Hatchet's literal of a graph. `time` is without callees, `time (inc)` with them."""
    made: Dict[Any, Dict[str, Any]] = {}
    top: List[Dict[str, Any]] = []
    for root in roots:
        for _, node in root.walk():
            own = {
                'frame': {'name': node.name, 'type': 'function'},
                'metrics': {
                    'time': node.exclusive_time_s,
                    'time (inc)': node.inclusive_time_s,
                    'samples': node.exclusive_ticks,
                    'samples (inc)': node.inclusive_ticks,
                },
                'children': [],
            }
            made[node] = own
            (made[node.parent]['children'] if node.parent else top).append(own)
    return top


def to_hatchet(roots: Iterable[Node]) -> Any:
    """A hatchet.GraphFrame."""
    return needed('hatchet').GraphFrame.from_literal(literal(roots))
