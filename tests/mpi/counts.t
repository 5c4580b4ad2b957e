#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts and bytes of every kind of call: runs each program below on the numbers of ranks that its first
comment names and checks the report against the `@` lines there. Values are Python expressions of r, the
rank, and P, the number of ranks, without blanks.

    @ranks 2 4                        run it on that many
    @arguments ...                    {scratch} is a directory
    @needs FUNCTION                   skipped where the MPI has it not
    @let NAME = EXPRESSION
    @ FUNCTION CALLER [count=1] [sent=0] [received=0] [sites=1]     count=* : at least one on some rank
                      [matrix=...]    bytes in the communication matrix, where that is not what was sent

Every call site of the report must be named by a line, and every line by a call site. fortran.F90 is run
with each of the three bindings. Words on the command line: these programs alone.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import Mismatch, check, equal

PROGRAMS = 'p2p.c requests.c restarted.c collectives.c persistent.c nonblocking.c inter.c grid.c window.c file.c owners.c'.split()
MATRIX = (
    'MPI_Send MPI_Isend MPI_Ssend MPI_Bsend MPI_Rsend MPI_Issend MPI_Ibsend MPI_Irsend MPI_Sendrecv '
    'MPI_Sendrecv_replace MPI_Start MPI_Startall MPI_Put MPI_Accumulate MPI_Get_accumulate '
    'MPI_Fetch_and_op MPI_Compare_and_swap'
).split()


class Plan:
    def __init__(self, name):
        self.ranks, self.arguments, self.needs, self.names, self.rows = [], [], [], [], []
        for text in harness.sources(name)[name]:
            words = text.strip().lstrip('*!').split()
            if text.strip() in ('*/', ''):
                break
            if words[:1] == ['@ranks']:
                self.ranks = [int(w) for w in words[1:]]
            elif words[:1] == ['@arguments']:
                self.arguments = words[1:]
            elif words[:1] == ['@needs']:
                self.needs = words[1:]
            elif words[:1] == ['@let']:
                self.names.append((words[1], ' '.join(words[3:])))
            elif words[:1] == ['@']:
                row = {'count': '1', 'sent': '0', 'received': '0', 'sites': '1'}
                more = dict(w.split('=', 1) for w in words[3:])
                assert set(more) <= set(row) | {'matrix'}, text
                row.update(more)
                row.setdefault('matrix', row['sent'] if words[1] in MATRIX else '0')
                self.rows.append((words[1], words[2], row))
        assert self.ranks and self.rows, name

    def values(self, expression, ranks):
        values = []
        for r in range(ranks):
            scope = {'r': r, 'P': ranks, 'sum': sum, 'range': range}
            for name, text in self.names:
                scope[name] = eval(text, scope)
            values.append(int(eval(expression, scope)))
        return values


def verify(plan, report, ranks, source):
    wrong, seen, out = [], set(), [0] * ranks

    def attempt(function, *args, **more):
        try:
            return function(*args, **more)
        except Mismatch as why:
            wrong.append(str(why))

    attempt(report.sane, ranks)
    for function, inside, row in plan.rows:
        sites = report.callsites(function, inside)
        seen.update(map(id, sites))
        out = [a + b for a, b in zip(out, plan.values(row['matrix'], ranks))]
        wanted = None if row['count'] == '*' else plan.values(row['count'], ranks)
        if wanted is not None and sum(wanted) == 0:
            attempt(equal, '{} inside {}: call sites'.format(function, inside), len(sites), 0)
            continue
        if len(sites) != int(row['sites']):
            wrong.append('{} inside {}: {} call sites instead of {}'.format(function, inside, len(sites), row['sites']))
        for site in sites:
            if wanted is not None:
                attempt(site.expect, count=wanted)
            attempt(site.expect, sent=plan.values(row['sent'], ranks), received=plan.values(row['received'], ranks))
            attempt(site.lines, source)
            attempt(equal, '{}: path'.format(site), len(site.path) in (1, 2, 3), True)
    wrong += ['a call site that should not be there: {}'.format(s) for s in report.sites if id(s) not in seen]
    row_sums = [0] * ranks
    for (source_rank, _), (_, volume) in report.matrix().items():
        row_sums[source_rank] += volume
    attempt(equal, 'bytes in the rows of the matrix', row_sums, out)
    if wrong:
        raise Mismatch('\n'.join(wrong))


def has(mpi, functions):
    with open(os.path.join(harness.BUILD, 'mpi-wrappers', mpi.name, 'mpi-have.h')) as f:
        text = f.read()
    return all('HAVE_{} 1\n'.format(name) in text for name in functions)


# sizes.c sends i + 1 messages of the i-th size; so what must the histograms hold?
SIZES = (0, 1, 2, 3, 4, 7, 8, 1023, 1024, 65535, 65536, 100000)


def buckets():
    wanted = {}
    for i, size in enumerate(SIZES):
        bucket = size.bit_length()
        count, volume = wanted.get(bucket, (0, 0))
        wanted[bucket] = (count + i + 1, volume + (i + 1) * size)
    return sorted((1 << (b - 1) if b else 0, (1 << b) - 1 if b else 0, n, volume) for b, (n, volume) in wanted.items())


def found(report, direction, function):
    rows = report.histogram(direction)[function]
    # the time of a call that sends and receives is shown once, with what it sent
    for row in rows if direction == 'sent' or function == 'MPI_Recv' else []:
        check(row['time_s'] > 0, '{} {}: no time in {}', function, direction, row)
    return sorted((row['low_bytes'], row['high_bytes'], row['count'], row['bytes']) for row in rows)


def exact_classes():
    """Each class of sizes with the smallest and the largest size in it."""
    low = lambda size: 1 << (size.bit_length() - 1) if size else 0
    return [
        (b, 2 * b or 1, min(s), max(s), n, volume)
        for b, _, n, volume in buckets()
        for s in [[size for size in SIZES if low(size) == b]]
    ]


def classes(report, function, way):
    return [
        (
            of['low_bytes'],
            of['below_bytes'],
            of['smallest_bytes'],
            of['largest_bytes'],
            of[way + '_count'],
            of['bytes_' + way],
        )
        for of in report.callsite(function).data['site_sizes']
    ]


def histograms(report):
    report.sane(2)
    wanted = buckets()
    equal('MPI_Send, sent', found(report, 'sent', 'MPI_Send'), wanted)
    equal('MPI_Isend, sent', found(report, 'sent', 'MPI_Isend'), wanted)
    equal('MPI_Recv, received', found(report, 'received', 'MPI_Recv'), wanted)
    equal('MPI_Send, received', found(report, 'received', 'MPI_Send'), [])
    equal('MPI_Recv, sent', found(report, 'sent', 'MPI_Recv'), [])
    for direction in ('sent', 'received'):
        equal('MPI_Allreduce, ' + direction, found(report, direction, 'MPI_Allreduce'), [(512, 1023, 10, 10000)])
    equal('MPI_Irecv, received', found(report, 'received', 'MPI_Irecv'), wanted)
    empty = report.data['message_sizes'][0]
    equal(
        'messages of 0 bytes',
        (empty['low_bytes'], empty['below_bytes'], empty['sent_count'], empty['received_count'], empty['bytes_sent']),
        (0, 1, 2, 2, 0),
    )
    for site, bounds in (('MPI_Send', (0, 100000)), ('MPI_Irecv', (0, 100000)), ('MPI_Allreduce', (1000, 1000))):
        data = report.callsite(site).data
        equal('sizes of ' + site, (data['message_min_bytes'], data['message_max_bytes']), bounds)
        for of in [data] + data['per_rank']:
            volume = of['bytes_sent'] + of['bytes_received']
            mean = volume / of['message_count'] if of['message_count'] else None
            check(
                mean == of['message_mean_bytes'] or abs(mean - of['message_mean_bytes']) < 1e-6 * mean, 'mean: {}', of
            )
    equal('classes of MPI_Send', classes(report, 'MPI_Send', 'sent'), exact_classes())
    equal('classes of MPI_Irecv', classes(report, 'MPI_Irecv', 'received'), exact_classes())
    equal('classes of MPI_Allreduce', classes(report, 'MPI_Allreduce', 'sent'), [(512, 1024, 1000, 1000, 10, 10000)])
    whole = report.data['sections'][0]
    below = 2 * sum(i + 1 for i, size in enumerate(SIZES) if size < 4096)
    equal(
        'messages below 4 KiB',
        (whole['sent_below_4k']['sum'], whole['received_below_4k']['sum']),
        (below + 10, below + 10),
    )


BINDINGS = 'MPIF_H', 'USE_MPI', 'USE_F08'


def fortran(tap, mpi):
    plan = Plan('fortran.F90')
    for binding in BINDINGS:
        for ranks in harness.few(mpi, plan.ranks):
            with tap.test('{}: fortran.F90, {}, on {} ranks'.format(mpi, binding, ranks)):
                if not shutil.which(mpi.fc):
                    raise harness.Skip('no ' + mpi.fc)
                program = mpi.build('fortran.F90', '-D' + binding, output='fortran_' + binding.lower())
                run = mpi.profile(program, ranks).ended(0)
                # gfortran gives some calls with an explicit interface the line of their subroutine
                verify(plan, run.report(), ranks, harness.sources('fortran.F90') if binding == 'MPIF_H' else [])


def main():
    tap = harness.Tap()
    harness.patiently()
    for mpi in harness.mpis(tap):
        with tap.test('{}: sizes.c, size histograms'.format(mpi)):
            histograms(mpi.profile(mpi.build('sizes.c'), 2).ended(0).report())
        for name in sys.argv[1:] or PROGRAMS:
            plan = Plan(name)
            for ranks in harness.few(mpi, plan.ranks):
                with tap.test('{}: {} on {} ranks, {} call sites'.format(mpi, name, ranks, len(plan.rows))):
                    if not has(mpi, plan.needs):
                        raise harness.Skip('no ' + ' '.join(plan.needs))
                    scratch = harness.scratch('data')
                    arguments = [a.format(scratch=scratch) for a in plan.arguments]
                    run = mpi.profile(mpi.build(name), ranks, arguments).ended(0)
                    verify(plan, run.report(), ranks, harness.sources(name, 'known.h'))
        fortran(tap, mpi)
    tap.done()


main()
