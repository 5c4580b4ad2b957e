#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi view of a trace that is still written: what is new is shown when that is asked for; fvmpi live opens it."""
import contextlib
import json
import os
import shutil
import signal
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal
from served import Served, seen_in_browser
from viewed import PATIENCE_S, Server, generated


def until(what, does, pause_s=0.2):
    """Its first answer that is not None or False."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = does()
        if found:
            return found
        time.sleep(pause_s)
    check(False, '{}: not within {} s', what, PATIENCE_S)


def cut(whole, place):
    """The experiment as it was when the half of it was written."""
    shutil.copytree(whole, place)
    for name in os.listdir(place):
        path = os.path.join(place, name)
        if name.endswith('.fvr'):
            os.truncate(path, os.path.getsize(path) // 2 // 4096 * 4096)


def grow(whole, place):
    for name in os.listdir(whole):
        if name.endswith('.fvr'):
            shutil.copy(os.path.join(whole, name), os.path.join(place, name))


def calls(server):
    return server.json('about')['slices']


def grows(tap, whole):
    place = os.path.join(harness.scratch('growing'), 'exp')
    cut(whole, place)
    server = Server(place)
    with tap.test('more was written: that is said, and shown when it is asked for'):
        before = calls(server)
        equal('at first', server.json('more')['number'], 0)
        grow(whole, place)
        until('more', lambda: server.json('more')['more'])
        equal('not yet', calls(server), before)
        equal('asked', server.fetch('/renew', method='POST', data=b'')[0], 200)
        until('renewed', lambda: server.json('more')['number'] == 1)
        equal('no more', server.json('more')['more'], False)
        alone = Server(whole)
        equal('as if opened anew', calls(server), calls(alone))
        check(calls(server) > before, '{} calls before', before)
        equal('sums', server.json('sums'), alone.json('sums'))
        alone.stop()
    equal('stopped', server.stop().rc, 0)
    cut(whole, place + '2')
    server = Server(place + '2')
    time.sleep(0.1)
    grow(whole, place + '2')
    until('more', lambda: server.json('more')['more'])
    seen_in_browser(tap, 'a trace that grows', 'view_growing.mjs', server.address)
    server.stop()


LONG = 1500000  # calls of a rank: so many that a first part is shown before the whole is there


def held(trace):
    """A server that shows its first part, and the process that makes the whole, stopped."""
    for _ in range(5):
        server = Server(trace)
        with open('/proc/{0}/task/{0}/children'.format(server.process.pid)) as children:
            makers = children.read().split()
        try:
            os.kill(int(makers[0]), signal.SIGSTOP)
            if server.json('about')['slices'] < LONG:
                return server, makers[0]
        except (IndexError, ProcessLookupError):
            pass
        server.stop()  # the machine is so slow that the whole was there before
        shutil.rmtree(os.path.join(trace, '.fvmpi-view'))
    check(False, 'it was whole at once')


def begins(tap):
    long = generated(2, LONG)
    server, maker = held(long)
    seen_in_browser(tap, 'a large trace', 'view_part.mjs', server.address, maker)
    with contextlib.suppress(ProcessLookupError):  # where there is a browser, its script has done it
        os.kill(int(maker), signal.SIGCONT)
    with tap.test('a large trace: its first part is shown while the whole is made'):
        server.whole()
        equal('then', server.json('more'), {'more': False, 'number': 1, 'percent': None, 'failed': False})
        part, whole = (server.json('about', number=number) for number in (0, 1))
        equal('all calls', whole['slices'], 2 * LONG)
        check(0 < part['slices'] < LONG, '{} calls in the first part', part['slices'])
        equal('where none is asked for, the last', server.json('about')['number'], 1)
    with tap.test('a large trace: what is in the first part is as in the whole'):
        to = whole['span_ns'] * part['slices'] // whole['slices'] // 2  # calls are spread evenly
        sums = [server.json('sums', number=number, **{'from': 0, 'to': to}) for number in (0, 1)]
        equal('of functions', *sums)
        check(sum(row[1] for row in sums[0]['regions']) > part['slices'] // 4, '{}', sums[0])
    equal('stopped', server.stop().rc, 0)
    with tap.test('a large trace: that is kept, and opened at once'):
        server = Server(long)
        equal('no first part', server.json('more'), {'more': False, 'number': 0, 'percent': None, 'failed': False})
        equal('all calls', server.json('about')['slices'], 2 * LONG)
        server.stop()
        equal('kept', os.listdir(os.path.join(long, '.fvmpi-view')), ['timeline'])
    with tap.test('a large trace: who ends while it is made leaves nothing'):
        shutil.rmtree(os.path.join(long, '.fvmpi-view'))
        server, maker = held(long)
        server.process.terminate()
        os.kill(int(maker), signal.SIGCONT)
        equal('stopped', harness.finish(server.process).rc, 0)
        equal('left', os.listdir(os.path.join(long, '.fvmpi-view')), [])
    with tap.test('a large trace: that the whole cannot be made is said, and forgotten when it can'):
        server, maker = held(long)
        os.kill(int(maker), signal.SIGKILL)
        answer = until('failed', lambda: server.json('more')['failed'] and server.json('more'))
        equal('the first part stays', (answer['number'], server.json('about')['number']), (0, 0))
        os.utime(os.path.join(long, 'rank-000001.fvr'))
        equal('asked', server.fetch('/renew', method='POST', data=b'')[0], 200)
        until('renewed', lambda: server.json('more')['number'] == 1)
        equal('then', server.json('more')['failed'], False)
        equal('all calls', server.json('about')['slices'], 2 * LONG)
    with tap.test('a large trace: what was shown stays until the new one is made'):
        os.utime(os.path.join(long, 'rank-000001.fvr'))
        equal('asked', server.fetch('/renew', method='POST', data=b'')[0], 200)
        until('renewed', lambda: server.json('more')['number'] == 2)
        equal('all calls', [server.json('about', number=number)['slices'] for number in (1, 2)], [2 * LONG] * 2)
        ended = server.stop()
        equal('stopped', ended.rc, 0)
        check('signal 9' in ended.err, '{}', ended.err)
    with tap.test('a large trace: twice'):
        shutil.rmtree(os.path.join(long, '.fvmpi-view'))
        server = Server(long, long)
        server.whole()
        equal('all calls', [server.json('about', trace=trace)['slices'] for trace in (0, 1)], [2 * LONG] * 2)
        equal('stopped', server.stop().rc, 0)
    with tap.test('a large trace: who ends before there is a first part makes nothing'):
        shutil.rmtree(os.path.join(long, '.fvmpi-view'))
        process = harness.start([harness.FVMPI, 'view', long])
        children = '/proc/{0}/task/{0}/children'.format(process.pid)
        until('fvunify', lambda: open(children).read(), pause_s=0.001)
        process.terminate()
        ended = harness.finish(process)
        equal('ended', (ended.rc, ended.out), (0, ''))
        equal('left', os.listdir(os.path.join(long, '.fvmpi-view')), [])


def live(tap, whole):
    server = Served('live', whole, '--interval', '1')
    state = lambda: json.loads(server.fetch('/timeline')[1])  # noqa: E731
    ask = lambda: json.loads(server.fetch('/view', method='POST', data=b'')[1])  # noqa: E731
    with tap.test('fvmpi live: the timeline of the job'):
        equal('at first', state(), {'job': True, 'state': 'none', 'address': None})
        equal('asked', ask()['state'], 'starts')
        address = until('address', lambda: state()['address'])
        base, token = address.split('/?token=')
        about = json.load(urllib.request.urlopen('{}/about?token={}'.format(base, token), timeout=30))
        equal('of the job', about['title'], whole)
        equal('asked again', ask()['address'], address)
    other = Served('live', whole + '/', '--interval', '1')
    seen_in_browser(tap, 'fvmpi live', 'live_timeline.mjs', other.address)
    other.process.terminate()
    harness.finish(other.process)
    with tap.test('fvmpi live: it ends with fvmpi live'):
        server.process.terminate()
        equal('ended', harness.finish(server.process).rc, 0)
        try:
            urllib.request.urlopen('{}/about?token={}'.format(base, token), timeout=5)
            check(False, 'it still serves')
        except OSError:
            pass
    with tap.test('fvmpi live: without a job, or without a trace'):
        server = Served('live', '--interval', '1')
        equal('no job', ask()['job'], False)
        server.process.terminate()
        harness.finish(server.process)
        empty = harness.scratch('empty')
        server = Served('live', empty + '/', '--interval', '1')
        ask()
        until('ended', lambda: json.loads(server.fetch('/timeline')[1])['state'] == 'ended')
        server.process.terminate()
        harness.finish(server.process)


def main():
    tap = harness.Tap()
    if not os.path.exists(os.path.join(harness.BUILD, 'fvunify-serial')):
        with tap.test('traces in a browser'):
            raise harness.Skip('OTF2 was not found; install the package libotf2-trace-dev')
        tap.done()
    whole = generated(2, 200000)
    begins(tap)
    grows(tap, whole)
    live(tap, whole)
    tap.done()


main()
