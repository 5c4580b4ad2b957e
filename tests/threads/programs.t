#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Not under ThreadSanitizer: it stands between packaged programs and their locks.
"""Programs as a distribution packages them (stripped, position-independent, not made for us): the same results with
fvmpi and without, and a report of what their threads really do. pbzip2 has a queue with one producer, par2 uses OpenMP,
gearmand is a C++ server with threads for its connections."""
import contextlib
import hashlib
import os
import random
import shutil
import signal
import socket
import struct
import sys
import threading

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import threads
import harness
from report import check, equal, problems

WAYS = (
    ('plain', []),
    ('--threads', ['--threads=hold,owner']),
    ('--sample', ['--sample']),
    ('both and --trace', ['--threads', '--sample', '--trace']),
)
BLOCK = 100000  # of pbzip2 -b1
BLOCKS = 24
CLIENTS, JOBS = 4, 50


def needs(name):
    """Where Debian puts a program: servers are not in everybody's PATH."""
    path = shutil.which(name, path=os.environ.get('PATH', '') + ':/usr/sbin')
    if not path:
        raise harness.Skip('no ' + name)
    return path


def data():
    """A file of words that pbzip2 cuts into BLOCKS blocks."""
    path = os.path.join(harness.scratch('data'), 'words')
    chance = random.Random(1)
    words = [bytes(chance.choices(b'abcdefghij', k=chance.randint(2, 9))) for _ in range(3000)]
    text = b' '.join(chance.choices(words, k=BLOCKS * BLOCK // 4))[: BLOCKS * BLOCK - 1]
    with open(path, 'wb') as f:
        f.write(text)
    return path


def started(command, options):
    """The command under fvmpi, or plain where there are no options; and where its experiment will be."""
    if not options:
        return list(command), None
    directory = os.path.join(harness.scratch('exp'), 'e')
    return [harness.FVMPI, 'run', '-q', '-o', directory, '--mpi', 'serial'] + options + list(command), directory


def profile(directory):
    """The report; the text of all views has to come, too."""
    harness.run([harness.FVMPI, 'report', directory, '--all']).ended(0)
    return harness.profile_of(directory)


def sums(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), 'rb') as f:
            found[name] = hashlib.md5(f.read()).hexdigest()
    return found


def nothing_lost(found):
    equal('problems', problems(found), [])
    for what, number in found['thread_waiting']['lost'].items():
        equal(what, number, 0)


def unchanged(tap, name, once, known):
    """once(options) gives what the program did, and its experiment; known() looks at the report of its threads."""
    with tap.test('{}: is installed'.format(name)):
        program = needs(name)
        plain = once(program, [])[0]
        for way, options in WAYS[1:]:
            with tap.test('{}: the same results with {}'.format(name, way)):
                result, directory = once(program, options)
                equal('results', result, plain)
            with tap.test('{}: the report with {}'.format(name, way)):
                found = profile(directory)
                if '--sample' in options:
                    check(found['sampling'], 'not sampled')
                if any(o.startswith('--threads') for o in options):
                    nothing_lost(found)
                    known(found)


def roles(lock, role):
    """{(file, its function or address): count} of a lock's sites."""
    found = {}
    for s in lock['sites']:
        if s['role'] == role:
            where = (s['path'][0]['module'], s['path'][0]['offset'])
            found[where] = found.get(where, 0) + s['count']
    return found


def at_work(found, kind, threads_of_phase, instances):
    """There is one phase of so many threads. Under AddressSanitizer, all threads begin in it."""
    if os.environ.get('SANITIZE_FLAGS'):
        return
    phases = [p for p in found['phases'] if (p['team']['min'], p['team']['max']) == (threads_of_phase,) * 2]
    equal(
        'phases of {} threads'.format(threads_of_phase),
        [(p['kind'], p['instance_count']) for p in phases],
        [(kind, instances)],
    )
    for p in phases:
        check(p['thread_s'] <= 1.001 * threads_of_phase * p['elapsed_s'], 'time of threads: {}', p)


def compressed(file):
    def once(program, options):
        command, directory = started([program, '-p4', '-b1', '-k', '-f', '-q', file], options)
        done = harness.run(command).ended(0)
        with open(file + '.bz2', 'rb') as f:
            return (hashlib.md5(f.read()).hexdigest(), done.out, harness.but_refusal(done.err)), directory

    return once


def queue(found):
    """One producer signals each block; what is waited for is in pbzip2 itself."""
    filled = [k for k in found['locks'] if k['kind'] == 'cond' and BLOCKS in roles(k, 'holds').values()]
    check(filled, 'no condition is signalled for each block: {}', [roles(k, 'holds') for k in found['locks']])
    waits = sum(k['wait_s'] for k in found['locks'] if k['kind'] == 'cond')
    check(0 < waits < found['thread_waiting']['thread_s'], 'waited {} s at conditions', waits)
    mutexes = [k for k in found['locks'] if k['kind'] == 'mutex' and k['count'] >= 2 * BLOCKS]
    check(mutexes, 'no mutex of the queue: {}', [(k['kind'], k['count']) for k in found['locks']])
    for k in filled + mutexes:
        equal('file of ' + k['name'], {os.path.basename(module) for module, _ in roles(k, 'waits')} - {'pbzip2'}, set())
    at_work(found, 'threads', 4, 1)


def parity(file):
    def once(program, options):
        folder = harness.scratch('par2')
        command, directory = started(
            [
                program,
                'create',
                '-t4',
                '-s{}'.format(BLOCK),
                '-c8',
                '-q',
                '-q',
                '-B',
                os.path.dirname(file),
                os.path.join(folder, 'p.par2'),
                file,
            ],
            options,
        )
        done = harness.run(command).ended(0)
        return (sums(folder), done.out, harness.but_refusal(done.err)), directory

    return once


def teams(found):
    """par2 computes eight parity blocks of one block after the other, each with a team."""
    at_work(found, 'omp', 4, BLOCKS)
    barriers = [k['count'] for k in found['locks'] if k['kind'] == 'omp']
    check(4 * BLOCKS in barriers, 'no barrier of four threads that ends each: {}', barriers)


class Link:
    """One connection to gearmand: packets of a kind and arguments."""

    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # DONE and GRAB are two packets
        self.file = self.socket.makefile('rb')

    def send(self, kind, *arguments):
        body = b'\0'.join(arguments)
        self.socket.sendall(struct.pack('>4sII', b'\0REQ', kind, len(body)) + body)

    def receive(self):
        head = self.file.read(12)
        if len(head) < 12:
            return None, []
        _, kind, size = struct.unpack('>4sII', head)
        return kind, self.file.read(size).split(b'\0')

    def close(self):
        self.file.close()
        self.socket.close()


CAN_DO, PRE_SLEEP, SUBMIT, CREATED, GRAB, NO_JOB, ASSIGN, DONE = 1, 4, 7, 8, 9, 10, 11, 13


def work(link):
    """Reverses what clients send, until the connection is closed."""
    link.send(CAN_DO, b'reverse')
    with contextlib.suppress(OSError, ValueError):
        while True:
            link.send(GRAB)
            kind, arguments = link.receive()
            while kind == NO_JOB:
                link.send(PRE_SLEEP)
                link.receive()
                link.send(GRAB)
                kind, arguments = link.receive()
            if kind != ASSIGN:
                return
            link.send(DONE, arguments[0], arguments[2][::-1])


def ask(port, name, answers):
    link = Link(port)
    for i in range(JOBS):
        link.send(SUBMIT, b'reverse', b'', '{} {}'.format(name, i).encode())
        kind, arguments = link.receive()
        if kind == CREATED:
            kind, arguments = link.receive()
        answers[name].append((kind, arguments[-1]))
    link.close()


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def answering(port, process):
    check(process.poll() is None, 'gearmand ended with {}', process.returncode)
    try:
        socket.create_connection(('127.0.0.1', port), timeout=1).close()
        return True
    except OSError:
        return False


def talk(port):
    """Workers and clients at once; what the clients were answered."""
    links = [Link(port) for _ in range(2)]
    workers = [threading.Thread(target=work, args=(link,), daemon=True) for link in links]
    answers = {'client {}'.format(n): [] for n in range(CLIENTS)}
    clients = [threading.Thread(target=ask, args=(port, name, answers), daemon=True) for name in answers]
    for t in workers + clients:
        t.start()
    for t in clients:
        t.join(30)
    for link in links:
        link.socket.shutdown(socket.SHUT_RDWR)
    for t in workers:
        t.join(10)
    for link in links:
        link.close()
    return answers


def served(program, options):
    port = free_port()
    command, directory = started(
        [
            program,
            '-t',
            '4',
            '-L',
            '127.0.0.1',
            '-p',
            str(port),
            '-l',
            'none',
            '-P',
            os.path.join(harness.scratch('pid'), 'pid'),
        ],
        options,
    )
    process = harness.start(command)
    try:
        harness.wait_until(lambda: answering(port, process), what='an answer of gearmand')
        answers = talk(port)
    finally:
        process.send_signal(signal.SIGTERM)
        done = harness.finish(process)
    check(not done.late, 'gearmand does not stop')
    for name, got in answers.items():
        equal(name, got, [(DONE, '{} {}'.format(name, i).encode()[::-1]) for i in range(JOBS)])
    return (done.rc, done.out, harness.but_refusal(done.err)), directory


def server(found):
    """Four threads for connections, and one that has the queue; each job passes its locks twice at least."""
    locks = [k for k in found['locks'] if k['kind'] == 'mutex']
    passed = sum(k['count'] for k in locks)
    check(passed >= 2 * CLIENTS * JOBS, 'locks were acquired {} times', passed)
    check(any(k['thread_count'] > 1 for k in locks), 'no lock is shared')
    at_work(found, 'threads', 4, 1)


def main():
    tap = harness.Tap()
    file = data()
    unchanged(tap, 'pbzip2', compressed(file), queue)
    unchanged(tap, 'par2', parity(file), teams)
    unchanged(tap, 'gearmand', served, server)
    with tap.test('a program with an allocator of its own'):
        if os.environ.get('SANITIZE_FLAGS'):
            raise harness.Skip('a sanitizer is the allocator')
        program = threads.build('own_malloc.c', '-fno-builtin')
        for way, options in WAYS:
            done = harness.run(started([program], options)[0]).ended(0)
            equal(way, (done.out, harness.but_refusal(done.err)), ('allocated\n', ''))
    tap.done()


if __name__ == '__main__':
    main()
