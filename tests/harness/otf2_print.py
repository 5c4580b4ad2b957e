# SPDX-License-Identifier: BSD-3-Clause
"""An archive's events as otf2-print tells them."""
import os
import re
import shutil

import harness
from report import check, equal


class Event(dict):
    """Its fields by their names in lower case, quoted where they are texts, with the number of what they refer to as
    "... id"; attributes by theirs, without "fvmpi::"."""

    __getattr__ = dict.__getitem__


def merge(directory, *options, warnings=0, processes=None):
    """Merges the experiment elsewhere and approves the archive, whose path it returns. warnings=None: any number of
    them."""
    out = os.path.join(harness.scratch('otf2'), 'a')
    if not shutil.which('otf2-print'):
        raise harness.Skip('no otf2-print (package otf2-tools)')
    harness.run(
        (processes or []) + [os.path.join(harness.BUILD, 'fvunify'), '-q', *options, directory, '-o', out]
    ).ended(0)
    path = os.path.join(out, 'traces.otf2')
    said = harness.run([harness.FVMPI, 'check', path]).ended(0).out
    check('0 errors, ' + ('' if warnings is None else '{} warning'.format(warnings)) in said, 'fvmpi check: {}', said)
    return path


def pairs(text):
    """What was entered was left, and what was posted ended."""

    def count(event):
        return len(re.findall('^' + event + ' ', text, re.M))

    equal('enter and leave', count('ENTER'), count('LEAVE'))
    check(
        count('MPI_IRECV') + count('MPI_REQUEST_CANCELLED') >= count('MPI_IRECV_REQUEST'),
        'receives that were posted and never ended',
    )


HEAD = re.compile(r'([A-Z_]+) +(\d+) +(\d+)  (.*)')
FIELD = re.compile(r'([A-Z][A-Za-z ]*): ("[^"]*"|\d+|[A-Z_]+)(?: <(\d+)>)?')
ATTRIBUTE = re.compile(r'\("(?:fvmpi::)?(\w+)" <\d+>; \w+; ([^)]*)\)')
NUMBER = re.compile(r'<(\d+)>$')


def read(events, line):
    head = HEAD.match(line)
    if head:
        kind, location, time, rest = head.groups()
        event = Event(kind=kind, location=int(location), time=int(time))
        for key, value, number in FIELD.findall(rest):
            key = key.lower()
            event[key] = value
            if number:
                event[key + ' id'] = int(number)
        events.append(event)
    elif 'ADDITIONAL ATTRIBUTES' in line:
        for name, value in ATTRIBUTE.findall(line):
            number = NUMBER.search(value)
            events[-1][name] = (
                int(number.group(1)) if name == 'cause' else value.split('"')[1] if '"' in value else int(value)
            )


def events(path):
    found = []
    for line in harness.run(['otf2-print', path]).ended(0).out.splitlines():
        read(found, line)
    return found
