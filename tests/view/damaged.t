#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fvmpi view keeps beside a trace, damaged in any way: bookmarks are read as far as they can be, the index is
made anew, and what stands in their place that is no file is left alone, with one line."""
import json
import os
import random
import shutil
import socket
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal
from viewed import Server, foreign

MOST = 500  # bookmarks
FILES = [  # name, bytes of the file, bookmarks that are read: JSON has control characters as \\x09
    ('nothing', b'', []),
    ('no tab', b'0-1\n0-2\n', []),
    ('no end of the line', b'0-1\tnote', [['0-1', 'note']]),
    ('an empty place', b'\tnote\n', [['', 'note']]),
    ('an empty note', b'0-1\t\n', [['0-1', '']]),
    ('two tabs', b'0-1\ta\tb\n', [['0-1', 'a\\x09b']]),
    ('zeros', b'\0' * 4096, []),
    ('what is behind a zero is not read', b'0-1\ta\n0-2\tb\0c\n0-3\td\n', [['0-1', 'a'], ['0-2', 'b']]),
    ('lines end as elsewhere', b'0-1\ta\r\n', [['0-1', 'a\\x0d']]),
    ('hostile', b'"><script>\t<b>&\\"\x1b[31m\n', [['"><script>', '<b>&\\"\\x1b[31m']]),
    ('too many', b''.join(b'%d-1\tn\n' % i for i in range(MOST + 7)), [['%d-1' % i, 'n'] for i in range(MOST)]),
    ('only tabs', b'\t' * 1000, [['', '\\x09' * 999]]),
]
UNREADABLE = [b'\xff\xfe\tx\n', b'0-1\t\xc3\n', b'0-1\t\xed\xa0\x80\xf8\n', os.urandom(3000), b'x' * 3 * 10**6]


def told(server):
    status, text = server.ask('bookmarks')
    equal('status', status, 200)
    return json.loads(text.decode())['bookmarks']  # strict: UTF-8


def change(server, path, text):
    return server.fetch(path, method='POST', data=text)


def files(tap, server, path):
    for name, data, wanted in FILES:
        with tap.test('bookmarks: ' + name):
            with open(path, 'wb') as f:
                f.write(data)
            equal('read', told(server), wanted)
            status, words = change(server, '/bookmark', b'9-9\tmine'.replace(b'\t', b'\n'))
            equal('kept', status, 503 if len(wanted) == MOST else 200)
            equal('lines of {}'.format(words), words.count(b'\n'), 0 if status == 503 else 1)
            equal('forgotten', change(server, '/forget', b'9-9\n')[0], 200)
            equal('read again', told(server), wanted)
    with tap.test('bookmarks: bytes that are no text'):
        choose = random.Random(3)
        good = b''.join(b'%d-%d\tnote %d\n' % (i, i + 1, i) for i in range(40))
        for _ in range(40):
            bad = bytearray(good)
            for _ in range(20):
                bad[choose.randrange(len(bad))] = choose.randrange(256)
            UNREADABLE.append(bytes(bad))
        for data in UNREADABLE:
            with open(path, 'wb') as f:
                f.write(data)
            check(len(told(server)) <= 61, 'more than there are')
            equal('kept', change(server, '/bookmark', b'9-9\nmine')[0], 200)
            check(['9-9', 'mine'] in told(server), 'not there')
    os.unlink(path)


def no_files(tap, server, path):
    """Nothing is written to what is no file, and nothing waits for it."""
    elsewhere = os.path.join(harness.scratch('elsewhere'), 'target')
    with open(elsewhere, 'w') as f:
        f.write('0-1\tof others\n')
    sock = socket.socket(socket.AF_UNIX)
    for name, make in (
        ('a directory', lambda: os.mkdir(path)),
        ('a FIFO', lambda: os.mkfifo(path)),
        ('a link', lambda: os.symlink(elsewhere, path)),
        ('a link to nothing', lambda: os.symlink(elsewhere + '.none', path)),
        ('a link to itself', lambda: os.symlink(path, path)),
        ('a device', lambda: os.symlink('/dev/zero', path)),
        ('a socket', lambda: sock.bind(path)),
    ):
        with tap.test('bookmarks: {} in place of the file'.format(name)):
            make()
            equal('read', told(server), [])
            status, words = change(server, '/bookmark', b'0-1\nmine')
            equal('kept {}'.format(words), status, 503)
            check(b'\n' not in words.strip() and words.strip(), '{}', words)
            equal('there', os.path.lexists(path), True)
            if os.path.isdir(path) and not os.path.islink(path):
                os.rmdir(path)
            else:
                os.unlink(path)
    with open(elsewhere) as f:
        equal('of others', f.read(), '0-1\tof others\n')
    check(not os.path.exists(elsewhere + '.none'), 'made through a link')


def index(tap, anchor, file):
    """A header that lies about any of its numbers is no reason to end, and one that is not whole is made anew."""
    with open(file, 'rb') as f:
        good = f.read()
    with tap.test('the index: any number of its header, 0 or huge'):
        for at in range(8, 8 + 8 * 34, 8):
            for value in (b'\xff' * 8, (2**40).to_bytes(8, 'little')):
                with open(file, 'r+b') as f:
                    f.write(good[:at] + value + good[at + 8 :])
                server = Server(anchor)
                for path in (
                    'about',
                    'sums',
                    'rows',
                    'messages',
                    'labels',
                    'series',
                    'critical',
                    'traffic',
                    'perfetto',
                ):
                    equal('{} {} {}'.format(at, value, path), server.ask(path, rows=4)[0], 200)
                equal('ended', server.stop().rc, 0)
    for name, make in (('a FIFO', os.mkfifo), ('a directory', os.mkdir)):
        with tap.test('the index: {} in its place: made anew, or one line'.format(name)):
            os.unlink(file)
            make(file)
            if make is os.mkfifo:
                server = Server(anchor)
                check(server.json('about')['slices'] > 0, 'no slices')
                equal('ended', server.stop().rc, 0)
            else:
                run = harness.run([harness.FVMPI, 'view', anchor]).ended(1)
                equal('lines of {}'.format(run.err), len(run.err.splitlines()), 1)
                os.rmdir(file)


def incomplete(tap, anchor):
    """A trace of which a part cannot be read says so, from its index too."""
    with tap.test('a trace without a location, and with half of one'):
        for name, damage in (
            ('missing', os.unlink),
            ('cut', lambda path: os.truncate(path, os.path.getsize(path) // 2)),
            ('whole', lambda path: None),
        ):
            copy = os.path.join(harness.scratch(name), 'a')
            shutil.copytree(os.path.dirname(anchor), copy)
            shutil.rmtree(os.path.join(copy, 'traces.fvmpi'), ignore_errors=True)
            damage(os.path.join(copy, 'traces', '2.evt'))
            for which in ('made', 'found'):
                server = Server(os.path.join(copy, 'traces.otf2'))
                is_damaged = server.json('about')['doubts']['is_damaged']
                equal('{}, its index {}'.format(name, which), is_damaged, name != 'whole')
                equal('stopped', server.stop().rc, 0)


def main():
    tap = harness.Tap()
    anchor = foreign(tap)['scorep-late']
    place = anchor[: -len('.otf2')] + '.fvmpi/.fvmpi-view'
    server = Server(anchor)
    files(tap, server, os.path.join(place, 'bookmarks'))
    no_files(tap, server, os.path.join(place, 'bookmarks'))
    equal('stopped', server.stop().rc, 0)
    incomplete(tap, anchor)
    index(tap, anchor, os.path.join(place, 'timeline'))
    shutil.rmtree(place)
    tap.done()


main()
