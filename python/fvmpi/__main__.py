# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m fvmpi COMMAND ...`: the command fvmpi, found as the package finds it. `python3 -m fvmpi run script.py` profiles
a script with this Python, where no launcher is involved."""
import os
import re
import subprocess
import sys
from typing import List, Set

from ._command import Error, found

NOT_FOUND = 127
OPTION = re.compile(r'  (?:(-\w), |    )(--[\w-]+) (?:[A-Z][A-Z/]*|\S*\|\S*)(?: |$)', re.M)


def with_values(command: str) -> Set[str]:
    """Options of `fvmpi run` that take the next word as their value, by its help."""
    out = subprocess.run([command, 'run', '--help'], stdout=subprocess.PIPE).stdout.decode()
    return {name for names in OPTION.findall(out) for name in names if name}


def with_python(words: List[str], takes_value: Set[str]) -> List[str]:
    """Words of `fvmpi run`; before the program, if it is a script, stands this Python."""
    at = 0
    while at < len(words) and words[at].startswith('-') and words[at] != '--':
        at += 2 if words[at] in takes_value else 1
    at += words[at : at + 1] == ['--']
    if (
        at < len(words)
        and words[at].endswith('.py')
        and os.path.isfile(words[at])
        and not os.access(words[at], os.X_OK)
    ):
        return [*words[:at], *([] if '--' in words[:at] else ['--']), sys.executable, *words[at:]]
    return words


def main() -> None:
    command, words = '', sys.argv[1:]
    try:
        command = found()
        if words[:1] == ['run']:
            words[1:] = with_python(words[1:], with_values(command))
        os.execv(command, [command, *words])
    except Error as why:
        print(why, file=sys.stderr)
    except OSError as why:
        print('fvmpi: {}: {}'.format(command, why.strerror), file=sys.stderr)
    sys.exit(NOT_FOUND)


if __name__ == '__main__':
    main()
