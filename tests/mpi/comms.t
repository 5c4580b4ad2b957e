#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it slows what is measured.
"""Communicators: whatever way one was made, messages are counted between world ranks, collectives are
compared among its members, and it is described with its name and size."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, close, equal


def raced(mpi):
    """Whoever frees one may come to tell of it after another thread got its handle."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = mpi.profile(mpi.build('racing_comms.c', '-pthread'), 2, (), ['--trace'], directory).ended(0)
    if 'serial' in run.out:
        raise harness.Skip('MPI has not MPI_THREAD_MULTIPLE')
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    archive = os.path.join(directory, 'traces.otf2')
    check(' 0 errors' in harness.run([harness.FVMPI, 'check', archive]).out, 'fvmpi check: {}', archive)
    events = harness.run(['otf2-print', archive]).ended(0).out
    for kind in ('COMM_CREATE ', 'COMM_DESTROY '):
        equal(kind, events.count('\n' + kind), 2 * 400)


def archived(mpi, ranks):
    """The archive calls MPI_COMM_WORLD by that name, and both know where a communicator comes from."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    run = mpi.profile(mpi.build('comms.c'), ranks, (), ['--trace'], directory).ended(0)
    comms = run.report().data['communicators']
    names = {c['uid']: c['name'] for c in comms}
    equal(
        'parents in the profile',
        [names.get(c['parent_uid']) for c in comms if c['name'] in ('own', 'copy')],
        ['reversed'] + ranks * ['MPI_COMM_SELF'],
    )
    harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', directory]).ended(0)
    archive = os.path.join(directory, 'traces.otf2')
    check(' 0 errors' in harness.run([harness.FVMPI, 'check', archive]).out, 'fvmpi check: {}', archive)
    found = re.findall(
        r'^COMM .*?Name: "([^"]*)".*?Parent: (?:"([^"]*)"|UNDEFINED)',
        harness.run(['otf2-print', '-G', archive]).ended(0).out,
        re.M,
    )
    equal(
        'parents in the archive',
        sorted(f for f in found if f[0] in ('own', 'copy', 'grid')),
        [('copy', 'reversed'), ('grid', 'MPI_COMM_WORLD')] + ranks * [('own', 'MPI_COMM_SELF')],
    )


def handed_on(mpi):
    """A window and a file whose handle another thread has got by the time MPI_Win_free and MPI_File_close return."""
    directory = os.path.join(harness.scratch('exp'), 'e')
    program = mpi.build('handed_on.c', '-pthread', '-rdynamic')
    standin = mpi.build('handed_on.c', '-DSTANDIN', '-shared', '-fPIC', '-ldl', output='handed_on.so')
    run = mpi.profile(
        program,
        1,
        [os.path.join(harness.scratch('file'), 'f')],
        ['--trace'],
        directory,
        env={'LD_PRELOAD': harness.in_front(standin)},
    ).ended(0)
    if 'serial' in run.out:
        raise harness.Skip('MPI has not MPI_THREAD_MULTIPLE')
    same = [word == 'same' for word in run.out.split()]
    if not any(same):
        raise harness.Skip('MPI gave other handles')
    text = harness.run([harness.FVMPI, 'dump', directory]).ended(0).out
    for kind in ['win new', 'win gone'] * same[0] + ['file new', 'file gone'] * same[1]:
        field = kind.split()[0].replace('win', 'window')
        found = re.findall('kind="{}".* {}=([0-9]+)'.format(kind, field), text)
        equal(kind, sorted(found), ['1', '2'])


def whole(runs):
    return [first + i * stride for first, stride, count in runs for i in range(count)]


def comms_of(directory):
    return {c['name']: c for c in harness.report_of(directory).data['communicators']}


def listers(directory, name):
    """Of the ranks that a communicator is known to, those whose file has its members."""
    text = harness.run([harness.FVMPI, 'dump', directory]).ended(0).out
    found = {}
    for part in text.split('file name="rank-')[1:]:
        found[int(part[:6])] = [
            runs != '-' for runs in re.findall(r'^comms .*name="{}" run=(\S+)'.format(name), part, re.M)
        ]
    return [rank for rank, lists in found.items() if any(lists)]


def lose(directory, ranks):
    for rank in ranks:
        os.remove(os.path.join(directory, 'rank-{:06d}.fvr'.format(rank)))


def scattered(tap, mpi):
    """Members in no order are listed by some of the ranks, and known as long as one of their files is there."""
    ranks, directory = 24, os.path.join(harness.scratch('exp'), 'e')
    unify = [os.path.join(harness.BUILD, 'fvunify'), '-q', directory]
    with tap.test('{}: scattered members are listed by some ranks'.format(mpi)):
        run = mpi.profile(mpi.build('scattered.c'), ranks, (), ['--trace'], directory).ended(0)
        members, comms = [int(w) for w in run.out.split()], comms_of(directory)
        equal('members', [whole(comms[name]['members']) for name in ('scattered', 'copy')], [members] * 2)
        equal(
            'of both groups',
            sorted((whole(comms['halves']['members']), whole(comms['halves']['remote_members']))),
            sorted((members[0::2], members[1::2])),
        )
        some = listers(directory, 'scattered')
        check(3 <= len(some) <= 9, 'listed by {}', some)
        matrix = harness.report_of(directory).matrix()
        equal(
            'messages',
            [matrix.get(pair) for pair in zip(members, members[1:])],
            [(4, 16) if i % 2 == 0 else (3, 12) for i in range(ranks - 1)],
        )
    with tap.test('{}: they are known without the first of these'.format(mpi)):
        lose(directory, some[:1])
        equal('members', whole(comms_of(directory)['scattered']['members']), members)
        equal('what fvunify says', harness.run(unify).err.count('members of'), 0)
    with tap.test('{}: and are said to be unknown without all of them'.format(mpi)):
        lose(directory, some[1:])
        found = comms_of(directory)['scattered']
        equal('what is known', [found[k] for k in ('members', 'remote_members', 'size')], [None, None, ranks])
        said = 'the members of 2 communicators are not known: no rank file is there that lists them'
        check(said in harness.run([harness.FVMPI, 'report', directory]).ended(0).out, 'the report does not say so')
        merged = harness.run(unify).ended(1)
        check(said + '; messages and collective calls on them are left out' in merged.err, 'fvunify: {}', merged.err)
        archive = harness.run([harness.FVMPI, 'check', os.path.join(directory, 'traces.otf2')])
        check(' 0 errors' in archive.out, 'fvmpi check: {}', archive.out)


def memory(tap, mpi):
    with tap.test('{}: 400,000 communicators take no more memory than 100,000'.format(mpi)):
        if harness.SANITIZER:
            raise harness.Skip('a sanitizer keeps what is freed')
        program = mpi.build('cycles.c')
        plain, found = (
            [int(w) for w in r.ended(0).out.split() if w != 'KiB']
            for r in (mpi.native(program, 1), mpi.profile(program, 1))
        )
        check(found[1] - found[0] <= plain[1] - plain[0] + 1024, 'KiB: {}, without fvmpi {}', found, plain)


def main():
    tap = harness.Tap()
    harness.patiently()
    # of what is fvmpi's own, and with which ranks wait less
    each = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True)]
    brief = [str(mpi) for mpi in harness.an_mpi(tap, quiet=True, first='mpich')]
    for mpi in harness.mpis(tap):
        with tap.test('{}: handles that are handed on'.format(mpi)):
            handed_on(mpi)
        for ranks in harness.few(mpi, (2, 3, 4)):
            with tap.test('{}: matrix in world ranks on {}'.format(mpi, ranks)):
                run = mpi.profile(mpi.build('comms.c'), ranks).ended(0)
                report = run.report()
                rows = [[int(w) for w in line.split()[1:]] for line in run.out.splitlines() if line.startswith('truth')]
                check(rows, 'no truth in {}', run.out)
                report.traffic({(a, b): (n, volume) for a, b, n, volume in rows})
            with tap.test('{}: communicators on {}'.format(mpi, ranks)):
                report.sane(ranks)
                wanted = {
                    'everyone': ranks,
                    'reversed': ranks,
                    'copy': ranks,
                    'grid': ranks,
                    'few': 2,
                    'even': (ranks + 1) // 2,
                    'odd': ranks // 2,
                }
                found = {c['name']: c['size'] for c in report.data['communicators'] if c['name'] in wanted}
                equal('sizes by name', found, wanted)
                names = [c['name'] for c in report.data['communicators']]
                equal('named once', [n for n in list(wanted) + ['bridge'] if names.count(n) != 1], [])
        if str(mpi) in each:
            scattered(tap, mpi)
            with tap.test('{}: names and parents'.format(mpi)):
                archived(mpi, 2)
            memory(tap, mpi)
        if str(mpi) not in brief:
            continue
        with tap.test('{}: a thousand communicators'.format(mpi)):
            run = mpi.profile(mpi.build('many_comms.c'), 2).ended(0)
            report = run.report()
            report.sane(2)
            for function in ('MPI_Comm_dup', 'MPI_Barrier', 'MPI_Comm_free'):
                report.callsite(function, inside='loop').expect(count=1000)
            report.callsite('MPI_Send', inside='loop').expect(count=[1000, 0], sent=[4000, 0])
            report.callsite('MPI_Allreduce', inside='crowd').expect(count=100, sent=800, received=800)
            report.traffic({(0, 1): (1000, 4000)})
        with tap.test('{}: made by threads that race'.format(mpi)):
            raced(mpi)
        with tap.test('{}: waiting in the right one of a thousand communicators'.format(mpi)):
            site = report.callsite('MPI_Barrier', inside='loop')
            equal('wait_kind', site.data['wait_kind'], 'exact')
            truth = [float(w) for w in run.out.split()[1:]]
            check(truth[0] > 4 * 0.05 * 0.9, 'rank 0 should have waited: {}', truth)
            for rank in (0, 1):
                site.wait(rank, truth[rank], within=0.02 + 0.05 * truth[rank])
    tap.done()


main()
