# SPDX-License-Identifier: BSD-3-Clause
"""Judges of what is recorded of omp.c: a program that measures what its OpenMP threads wait. For libgomp and for runtimes with OMPT."""
import threads
from measured import Measured
from report import check, equal
from threads import total

ROUNDS = 3
OPTIONS = ['--threads=hold', '--clock=monotonic']


def near(truth, what, found, name=None, waits=1):
    """Within 5 %, and some for what each of the waits takes."""
    truth.near(what, found, name, slack=2e6 * waits)


def region(waits, name):
    """The regions that a function forked."""
    found = [r for r in waits.regions if r.names and r.names[0] == name]
    check(found, 'no region of {}', name)
    return found


def of(waits, name, **wanted):
    """Records of the objects that are named so or, of regions, called in a function that is."""
    ids = [i for i, o in waits.objects.items() if o.name and name in o.name]
    return [r for r in waits.records if r.object in ids and all(r[k] == v for k, v in wanted.items())]


def alone_waits_for_nobody(waits):
    """Of the case "alone" of omp_cases.c."""
    of_omp = [r for r in waits.records if r.kind == 'omp']
    equal('barriers', total([r for r in of_omp if r.operation == 'wait' and r.last], 'acquired') >= 100, True)
    check(total(of(waits, '.gomp_critical_user_by_one_alone'), 'acquired') > 200, 'criticals: {}', of_omp)
    equal('waits', [(r.contended, r.wait) for r in of_omp if r.contended or r.wait], [])


def whole(waits, truth, team):
    equal('damages', waits.damages, [])
    for r in waits.records + waits.regions:
        check(not [n for n in r.names if 'GOMP' in n or 'run_member' in n], 'a path of ours: {}', r.names)
    for t in waits.threads:
        equal(
            'thread {}'.format(t.thread),
            t.omp,
            total([r for r in waits.records if r.thread == t.thread and r.kind == 'omp'], 'wait'),
        )
        equal('losses', (t.overflow, t.holds_lost, t.missed, t.wait_begin), (0, 0, 0, 0))
    for r in waits.regions:
        mine = [t for t in waits.team if t.region == r.id]
        for key in ('time', 'wait', 'join', 'fork', 'tasks'):
            equal('{} of {}'.format(key, r.names), r[key], total(mine, key))
        equal('count of {}'.format(r.names), (r.threads, r.open, r.untimed, r.lost), (total(mine, 'count'), 0, 0, 0))
        check(
            r.longest <= r.elapsed and r.useful_longest <= r.longest and r.time + r.join <= r.threads * r.elapsed,
            'sums: {}',
            r,
        )


def imbalance(waits, truth, team):
    (r,) = region(waits, 'imbalanced')
    near(truth, 'join', r.join, 'imbalanced', waits=ROUNDS)
    equal('team', (r.count, r.threads, r.threads_min, r.threads_max, r.level), (ROUNDS, ROUNDS * team, team, team, 1))
    check(r.wait < 2e6, 'inside: {}', r)
    if team > 1:
        slow = [t for t in waits.team if t.region == r.id and t.number == team - 1]
        equal('who is last', total(slow, 'last'), truth['was_last'])
        check(total(slow, 'time') >= 60e6 * ROUNDS, 'its time: {}', slow)
    equal('as waits', total(of(waits, 'imbalanced'), 'wait'), r.join)


def barrier(waits, truth, team):
    near(truth, 'barrier', total(region(waits, 'uneven_barrier'), 'wait'), 'uneven_barrier', waits=ROUNDS * team)
    at = [s for s in waits.records if s.names[:1] == ['orphaned']]
    near(truth, 'its calls', total(at, 'wait'), 'uneven_barrier', waits=ROUNDS * team)
    equal('counts', (total(at, 'acquired'), total(at, 'last')), (ROUNDS * team, ROUNDS))
    near(truth, 'end of a loop', total(region(waits, 'uneven_loop'), 'wait'), 'uneven_loop', waits=team)


def turns(waits, truth, team):
    for name, held, records in (
        ('criticals', 'criticals_held', of(waits, '.gomp_critical_user_named')),
        ('locks', 'locks_held', waits.of('lock')),
    ):
        mine = [r for r in records if r.names[0] != 'uncontended']  # clang's regions have no names of their own
        near(truth, name, total(mine, 'wait'), waits=ROUNDS)
        near(truth, held, total(mine, 'hold'), waits=ROUNDS)
        equal('acquired', total(mine, 'acquired'), ROUNDS * team)
        check(team == 1 or total(mine, 'contended') > 0, 'contended: {}', mine)
    for records in (
        of(waits, '.gomp_critical_user_alone'),
        [r for r in waits.of('lock') if r.names[0] == 'uncontended'],
    ):
        equal('alone', total(records, 'acquired'), 1000)
        check(total(records, 'contended') < 100, 'waits for nobody: {}', records)


def tasks(waits, truth, team):
    (r,) = region(waits, 'tasks')
    check(
        r.join + r.wait <= 1.05 * truth['tasks'] + 2e6 * team,
        'waits: {:.3f} ms, at most {:.3f} ms',
        (r.join + r.wait) / 1e6,
        truth['tasks'] / 1e6,
    )
    # LLVM's team of one runs them at once
    check(total(waits.regions, 'tasks') == r.tasks and (team == 1 or r.tasks >= 5e6), 'tasks: {}', r)


def nested(waits, truth, team):
    outer = [r for r in region(waits, 'nested') if r.level == 1]
    inner = [r for r in waits.regions if r.level == 2]
    equal('outer', (total(outer, 'count'), total(outer, 'threads')), (1, 2))
    equal('inner', (total(inner, 'count'), total(inner, 'threads')), (2, 4))
    check(total(inner, 'join') >= 10e6, 'inner: {}', inner)
    check(total(outer, 'wait') >= total(inner, 'join') * 0.9, 'a fork in a team waits: {}', outer)
    equal(
        'if (0)', [(r.count, r.threads) for r in waits.regions if r.threads_max == 1 and r.names[0] == 'run'], [(1, 1)]
    )


def known(tap, who, make, team):
    def run():
        run = make().ended(0)
        equal('output', rest(run), ['nested 808', 'alone 1', 'done'])
        return run.out, threads.Waits(run.directory)

    measured = Measured(run)
    for name, judge in (
        ('the file is whole', whole),
        ('imbalance, waited for at the end of a region', imbalance),
        ('a barrier in a function', barrier),
        ('criticals and locks', turns),
        ('tasks are no waiting', tasks),
        ('teams in teams, a team of one', nested),
    ):
        with tap.test('{}: {}'.format(who, name)):
            measured.test(judge, team)


def rest(run):
    return [line for line in run.out.splitlines() if not line.startswith('truth')]
