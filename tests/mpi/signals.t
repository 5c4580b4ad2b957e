#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A signal that ends a rank is told: which, of what, where. The program sees its actions as without fvmpi, and ends
alike."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

RANKS = 2
# Without a core dump; what the last rank ends with goes to a file. (A launcher's own status is also of those that it
# ends.)
SHELL = [
    'sh',
    '-c',
    'ulimit -c 0; file=$1; shift; "$@"; status=$?; '
    '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != ' + str(RANKS - 1) + ' ] || echo $status > "$file"; exit $status',
    'sh',
]
# way, signal, address, function that it was in
ENDS = (
    ('segv', 'SIGSEGV', 16, 'segv'),
    ('divide', 'SIGFPE', None, 'divide'),
    ('abort', 'SIGABRT', None, 'aborts'),
    ('terminated', 'SIGTERM', None, 'terminated'),
    ('again', 'SIGSEGV', 16, 'segv'),
)
GOES_ON = ('recovers', 'child')


def lines(run):
    """What the program itself wrote: its launcher says more, with numbers of processes."""
    return [
        line
        for line in run.out.splitlines()
        if line.split()[:1] and line.split()[0] in ('action', 'own', 'given', 'child')
    ]


def status_in(path):
    with open(path) as f:
        return int(f.read())


def both(mpi, program, way, options=()):
    directory = os.path.join(harness.scratch('exp'), 'e')
    plain, mine = (os.path.join(harness.scratch(), 'status') for _ in range(2))
    native = harness.run(mpi.command(RANKS, SHELL + [plain, program, way]))
    run = harness.run(
        mpi.command(RANKS, SHELL + [mine] + mpi.profiled([program, way], directory, options)), directory=directory
    )
    equal('output', lines(run), lines(native))
    check(lines(native), 'nothing was said: {}', native.out)
    equal('exit status', status_in(mine), status_in(plain))
    check(way in GOES_ON or status_in(plain) > 128, 'no signal: {}', status_in(plain))
    return run


def ends(mpi, program, options, way, name, address, function):
    run = both(mpi, program, way, options)
    rank = run.report().rank(RANKS - 1)
    equal('state', rank['state'], 'killed')
    signal = rank['signal']
    check(signal, 'no signal: {}', rank)
    equal('signal', signal['name'], name)
    if address:
        equal('address', int(signal['address'], 16), address)
    names = [f['function'] for f in signal['path']]
    check(function in names and 'main' in names, 'path {}', names)
    first = harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out.split('\n\n')[0]
    if name != 'SIGTERM':
        check(first.startswith('Rank {} was ended by {}'.format(RANKS - 1, name)), 'first line: {}', first)
        check('{}() at signals.c:'.format(function) in ' '.join(first.split()), 'place: {}', first)
        check('The signal came in the program, not in fvmpi.' in first, 'whose it is: {}', first)
    else:
        check('ended by SIGTERM' in first, 'first line: {}', first)


def killed(mpi, program):
    """What nobody can note. The launcher's signal to the others is not what is said first."""
    run = both(mpi, program, 'killed')
    report = run.report()
    equal('signal', report.rank(RANKS - 1)['signal'], None)
    equal('state', report.rank(RANKS - 1)['state'], 'killed')
    if any(r['signal'] for r in report.data['ranks']):
        text = harness.run([harness.FVMPI, 'report', run.directory]).ended(0).out
        check(text.startswith('Rank {} was killed without a signal that '.format(RANKS - 1)), '{}', text[:300])


def goes_on(mpi, program, way):
    report = both(mpi, program, way).ended(0).report()
    equal('signals', [r['signal'] for r in report.data['ranks']], [None] * RANKS)
    equal('states', [r['state'] for r in report.data['ranks']], ['finalized'] * RANKS)


def main():
    tap = harness.Tap()
    harness.patiently()
    if os.environ.get('FVMPI_TEST_SANITIZER') or os.environ.get('SANITIZE_FLAGS'):
        with tap.test('signals'):
            raise harness.Skip('a sanitizer has handlers of its own')
        tap.done()
        return
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]  # all that is recorded
    for mpi in harness.mpis(tap):
        program = mpi.build('signals.c')
        tests = [
            ('{}: {} {}'.format(mpi, case[0], ' '.join(options)), ends, mpi, program, options, *case)
            for case in ENDS
            for options in ([], ['--trace', '--sample'])[: None if str(mpi) in each else 1]
        ]
        tests += [('{}: {}'.format(mpi, way), goes_on, mpi, program, way) for way in GOES_ON]
        tests += [('{}: killed'.format(mpi), killed, mpi, program)]
        tap.together(tests, 2)  # a launcher takes its time to end
    tap.done()


main()
