# SPDX-License-Identifier: BSD-3-Clause
"""How something is brought about that is not recorded, and what was said of it: for silence.t and its ways."""
import os
import re
import shutil

import harness
from report import check, equal

FVUNIFY = os.path.join(harness.BUILD, 'fvunify')
WAYS = {}  # function by the first cell of its row


def way(name):
    def add(function):
        WAYS[name] = function
        return function

    return add


# ---- what was said ----


def flat(text):
    return ' '.join(text.split())


class Result:
    """A run, or a directory that was made of another one's, and all that is said of it."""

    def __init__(self, run, directory, status=7, out='done\n'):
        self.run, self.directory, self.status, self.out = run, directory, status, out
        self.texts = {'run': flat(run.err)} if run else {}

    def text(self, where):
        if where not in self.texts:
            said = harness.run(
                {
                    'fvunify': [FVUNIFY, '-o', harness.scratch('out')],
                    'report': [harness.FVMPI, 'report', '--all'],
                    'gather': [harness.FVMPI, 'gather'],
                }[where]
                + [self.directory]
            )
            self.texts[where] = flat(said.out + ' ' + said.err)
        return self.texts[where]

    def table(self, name):
        said = harness.run([harness.FVMPI, 'report', self.directory, '--no-symbols', '--table', name])
        self.texts['table'] = flat(said.err)
        return self

    def word(self, pattern):
        """Of what was said: a command, an option or a variable that it names."""
        for text in self.texts.values():
            found = re.search(pattern, text)
            if found:
                return found.group(1)
        raise harness.Mismatch('{} is not in {}'.format(pattern, self.texts))

    def lacks(self, where, pattern):
        check(not re.search(pattern, self.text(where)), '{} in: {}', pattern, self.text(where))

    def profile(self):
        return harness.profile_of(self.directory, '--no-symbols')

    def calls(self):
        return sum(f['count'] for f in self.profile()['mpi_functions'])

    def dropped(self, what):
        return sum(rank['dropped'][what] for rank in self.profile()['ranks'])


class Place:
    """The programs, and how they are run."""

    def __init__(self, mpi, other):
        self.mpi, self.other = mpi, other
        self.app = self.build('silence')

    def build(self, output, *flags):
        return self.mpi.build('../run/silence.c', *flags, '-ldl', output=output)

    def record(self, way, *options, **more):
        """A rank alone, under fvmpi run."""
        harness.not_of_a_sanitizer(options)
        directory = more.pop('directory', None) or os.path.join(harness.scratch('exp'), 'e')
        status, app, out = more.pop('status', 7), more.pop('app', self.app), more.pop('out', 'done\n')
        run = harness.run(
            [*more.pop('before', []), harness.FVMPI, 'run', '-o', directory, *options, app, *way.split()], **more
        )
        return self.as_ever(Result(run, directory, status, out))

    def preload(self, way, library=None, **env):
        """By hand."""
        directory = os.path.join(harness.scratch('exp'), 'e')
        env.update(FVMPI_OUTPUT=directory, LD_PRELOAD=harness.in_front(library or self.mpi.library))
        return self.as_ever(Result(harness.run([self.app, *way.split()], env=env), directory))

    def launched(self, command):
        """By a launcher, which fvmpi run is not around."""
        directory = os.path.join(harness.scratch('exp'), 'e')
        return Result(
            self.ranks(['-n', '1', *self.mpi.profiled(command, directory, ['--mpi', str(self.mpi)])]), directory
        )

    def ranks(self, command):
        """Of several programs."""
        return harness.run([self.mpi.exec, *self.mpi.options, *command])

    def as_ever(self, result):
        result.run.ended(result.status)
        if result.out is not None:
            wanted = result.out * (2 if 'exec' in result.run.command else 1)
            equal('output', result.run.out, '' if result.status in (1, 2) else wanted)
        return result


def changed(directory, change):
    """A copy of a recorded run, of which `change` makes something else."""
    copy = os.path.join(harness.scratch('copy'), 'e')
    shutil.copytree(directory, copy, symlinks=True)
    change(copy)
    return Result(None, copy)


def rank_file(directory, rank=1):
    return os.path.join(directory, 'rank-{:06d}.fvr'.format(rank))


def write(path, offset, data):
    with open(path, 'r+b') as f:
        f.seek(offset)
        f.write(data)


def serial(*flags):
    """A program without MPI."""
    source = os.path.join(harness.scratch('serial'), 'serial.c')
    with open(source, 'w') as f:
        f.write('#include <stdio.h>\nint main(void) { puts("done"); return 7; }\n')
    if harness.run(['cc', *flags, source, '-o', source[:-2]]).rc:
        raise harness.Skip('cc {} does not work here'.format(' '.join(flags)))
    return source[:-2]


def is_recorded(result):
    check(result.calls() > 0, 'nothing is recorded in {}', result.directory)
    return result


def fill(disk):
    try:
        with open(os.path.join(disk, 'full'), 'wb', buffering=0) as f:
            while True:
                f.write(bytes(4096))
    except OSError:
        pass


class Shared(Place):
    """Runs that several ways begin with are made once."""

    def __init__(self, mpi, other):
        super().__init__(mpi, other)
        self.runs = {}

    def two(self, number=0):
        """The directory of a run of two ranks, with a trace."""
        if number not in self.runs:
            directory = self.runs[number] = os.path.join(harness.scratch('exp'), 'e')
            self.ranks(['-n', '2', harness.FVMPI, 'run', '-q', '--trace', '-o', directory, self.app, 'calls', '100'])
        return self.runs[number]

    def needs_other(self):
        if not self.other:
            raise harness.Skip('only one MPI is here')
        return self.other

    def needs_mpich(self):
        if str(self.mpi) != 'mpich':
            raise harness.Skip('the words of the table are of a program with MPICH')

    def denied(self, result):
        if 'no filter' in result.run.out:
            raise harness.Skip('seccomp is not permitted here')
        return result
