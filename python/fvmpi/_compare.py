# SPDX-License-Identifier: BSD-3-Clause
"""Several runs compared: `fvmpi diff` and `fvmpi scaling`; and for Thicket."""
import os
from typing import Any, Dict, Iterable, List, Union

from ._command import Path, as_path, ask_json
from ._run import Run, open
from ._table import needed

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


def to_thicket(runs: Side) -> Any:
    """Sampled runs as one thicket.Thicket: the call trees side by side, and of each run its program, number of ranks and
    time as metadata."""
    thicket = needed('thicket').Thicket
    made = []
    for one in [runs] if isinstance(runs, (str, os.PathLike, Run)) else runs:
        run = one if isinstance(one, Run) else open(one)
        frame, brief = run.to_hatchet(), run.brief()
        frame.metadata = {key: brief[key] for key in ('command', 'ranks', 'elapsed_s')}
        made.append(thicket.thicketize_graphframe(frame, run.paths[0]))
    if not made:
        raise ValueError('no experiment is given')
    return made[0] if len(made) == 1 else thicket.concat_thickets(made)


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
