# SPDX-License-Identifier: BSD-3-Clause
"""Several runs compared: `fvmpi diff` and `fvmpi scaling`."""
from typing import Any, Dict, Iterable, List, Union

from ._command import Path, as_path, ask_json
from ._run import Run

One = Union[Path, Run]
Side = Union[One, Iterable[One]]


def compare(a: Side, b: Side) -> Dict[str, Any]:
    """What changed from run `a` to run `b`: the object that `fvmpi diff --json` writes (share/fvmpi-diff-2.md). Each side is
    a run, its directory, or a list of them: runs of one program, whose differences say what is noise."""
    answer: Dict[str, Any] = ask_json('diff', '--json', '-', *directories(a), '--', *directories(b))
    return answer


def scaling(runs: Iterable[One], kind: Union[str, None] = None) -> Dict[str, Any]:
    """How a program scales, by runs of several sizes: the object that `fvmpi scaling --json` writes
    (share/fvmpi-scaling-1.md). `kind` is 'strong' or 'weak'; without it, fvmpi judges by the runs."""
    if kind not in (None, 'strong', 'weak'):
        raise ValueError("kind is 'strong', 'weak' or None, not {!r}".format(kind))
    answer: Dict[str, Any] = ask_json('scaling', '--json', '-', *(['--' + kind] if kind else []), *directories(runs))
    return answer


def directories(side: Side) -> List[str]:
    """One for each run."""
    if isinstance(side, Run):
        if len(side.paths) > 1:
            raise ValueError('a run in several directories cannot be compared')
        return list(side.paths)
    if isinstance(side, str) or hasattr(side, '__fspath__'):
        return [as_path(side)]  # type: ignore[arg-type]
    found = [path for run in side for path in directories(run)]
    if not found:
        raise ValueError('no experiment is given')
    return found
