#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured, and finds races in libgomp.
# Not under AddressSanitizer: it replaces functions of threads, and MPICH's libraries call them before it has started.
"""Locks that come and go: a million of them take the room of those that exist together, and every operation is counted.
More than have a record of their own: what they cost stays near what the first ones cost."""
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from report import check, equal
from threads import total

SHORT, MANY, LIVE, PART, PAIRS = 1000000, 200000, 1000, 20000, 8
APART = 16  # src/threads/objects.c
MODES = (['--threads'], ['--threads=hold,owner'])


def waits_of(program, what, options):
    run = threads.record([program, what], '--clock=monotonic', *options).ended(0)
    equal('warnings', run.err, '')
    waits = threads.Waits(run.directory)
    equal('damages', waits.damages, [])
    return run, waits


def losses(waits):
    return total(waits.threads, 'overflow'), total(waits.threads, 'missed')


def used(waits):
    """Records of the function that all locks are used by."""
    return [r for r in waits.records if 'use' in r.names[:1]]


def objects(waits):
    """The objects that have them, how many locks these were, and how many of them have ended."""
    found = [waits.objects[i] for i in sorted({r.object for r in used(waits)})]
    return len(found), len(found) + total(found, 'more'), len([o for o in found if o.retired])


def main():
    tap = harness.Tap()
    program = threads.build('brief.c')
    for options in MODES if harness.all_cases() else MODES[-1:]:
        with tap.test('a million locks, one after the other ' + ' '.join(options)):
            run, waits = waits_of(program, 'one by one', options)
            equal('objects', objects(waits), (APART + 1, SHORT, APART + 1))
            equal('acquired', total(used(waits), 'acquired'), SHORT)
            equal('lost', losses(waits), (0, 0))
            check(len(used(waits)) <= APART + 2, '{} records', len(used(waits)))
            (entry,) = [k for k in harness.profile_of(run.directory)['locks'] if k['count'] == SHORT]
            equal('report', entry['object_count'], SHORT)
        with tap.test('a thousand at a time ' + ' '.join(options)):
            run, waits = waits_of(program, 'crowd', options)
            equal('objects', objects(waits), (LIVE + APART, SHORT, APART))
            equal('acquired', total(used(waits), 'acquired'), SHORT)
            equal('lost', losses(waits), (0, 0))
            check(len(used(waits)) <= 2 * LIVE + APART, '{} records', len(used(waits)))
        with tap.test('what differs is not one ' + ' '.join(options)):
            run, waits = waits_of(program, 'others too', options)
            equal('objects', objects(waits), (2 * APART + 2, 400, 2 * APART + 2))
            heap, variable = ([o for o in waits.objects.values() if o.name == name] for name in (None, 'variable'))
            for name, found, each in (('heap', heap, 2), ('variable', variable, 1)):
                ids = [o.id for o in found]
                mine = [r for r in used(waits) if r.object in ids]
                equal(
                    name, (len(set(ids) & {r.object for r in mine}), total(mine, 'acquired')), (APART + 1, 200 * each)
                )
            equal('lost', losses(waits), (0, 0))
    with tap.test('more than have a record'):
        run, waits = waits_of(program, 'all at once', ['--threads', '--profile-max', '64M'])
        rest = total([r for r in waits.records if not r.object and r.kind == 'mutex'], 'acquired')
        equal('acquired', total(used(waits), 'acquired') + rest, MANY + 2 * PAIRS * PART)
        equal('of those without a record', (rest, losses(waits)[0]), (MANY - 65536 + PAIRS * PART,) * 2)
        first, last = (int(n) for n in re.findall(r'\d+', run.out))
        check(last < 16 * first, 'the last locks take {} ns, the first {}', last, first)
    tap.done()


if __name__ == '__main__':
    main()
