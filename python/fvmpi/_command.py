# SPDX-License-Identifier: BSD-3-Clause
"""The command fvmpi: where it is, what it prints, and its errors."""
import json
import os
import shutil
import subprocess
from typing import Any, Iterable, List, NamedTuple, Tuple, Union

Path = Union[str, 'os.PathLike[str]']


class Error(Exception):
    """What fvmpi said when it could not do what it was asked. `status` is its exit status: 1 failed, 2 wrong usage;
    None: there is no such command. `notes` are the lines that it printed before."""

    def __init__(self, message: str, status: Union[int, None] = None, notes: Tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status, self.notes = status, notes


class Said(NamedTuple):
    """What a command printed: its output, and the lines of its messages."""

    out: str
    notes: Tuple[str, ...]


def found() -> str:
    """The path of the command."""
    wanted = os.environ.get('FVMPI') or 'fvmpi'
    path = shutil.which(wanted)
    if not path:
        raise Error('fvmpi: {}: no such command; add its directory to PATH, or set $FVMPI to its path'.format(wanted))
    return path


def as_path(path: Path) -> str:
    """A path that stays right in another directory, and that is no option."""
    return os.path.abspath(os.fspath(path))


def paths_of(paths: Union[Path, Iterable[Path]]) -> List[str]:
    """One path, or several."""
    if isinstance(paths, (str, os.PathLike)):
        return [as_path(paths)]
    listed = [as_path(path) for path in paths]
    if not listed:
        raise ValueError('no experiment is given')
    return listed


def ask(command: str, *words: str) -> Said:
    """What `fvmpi COMMAND WORDS` prints. Raises Error if it fails."""
    try:
        ended = subprocess.run(
            [found(), command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as why:
        raise Error('fvmpi: {}: {}'.format(why.filename, why.strerror)) from None
    notes = tuple(message(line) for line in ended.stderr.decode('utf-8', 'replace').splitlines() if line.strip())
    if ended.returncode:
        *before, last = notes or ['fvmpi: {}: ended with status {}'.format(command, ended.returncode)]
        raise Error(last, ended.returncode, tuple(before))
    return Said(ended.stdout.decode('utf-8', 'replace'), notes)


def message(line: str) -> str:
    """A line of the standard error as a person reads it: with --json, fvmpi may write {"error": {"message": ...}}, or
    {"note": ...}."""
    try:
        data = json.loads(line)
        return 'fvmpi: {}'.format(data['error']['message'] if 'error' in data else data['note'])
    except (ValueError, TypeError, KeyError):
        return line


def ask_json(command: str, *words: str) -> Any:
    """The same as `ask`, for a command that prints JSON."""
    return json.loads(ask(command, *words).out)
