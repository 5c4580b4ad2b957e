#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi view: what its server says of stretches of time, against the events of the archive as otf2-print tells them;
tiles against slices; the cache; who may ask; the page in a browser."""
import gzip
import json
import os
import pty
import random
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal
from served import seen_in_browser
from viewed import CLASSES, Server, Tiles, counted, events_of, foreign, generated, windows

LONG = os.environ.get('FVMPI_TEST_LONG') == '1'  # ./dev statistics


def add(sums, more):
    for name, numbers in more.items():
        sums[name] = tuple(a + b for a, b in zip(sums.get(name, (0, 0, 0)), numbers))


def told(server, names, **window):
    return {names[row[0]]: tuple(row[1:4]) for row in server.json('sums', **window)['regions']}


def ask_tiles(server, lines, **window):
    return server.fetch('/tiles', method='POST', data=lines.encode(), **window)


def tiles_of(server, lines, count, **window):
    tiles = Tiles(server, lines, count, **window)
    return tiles.regions, tiles.waits, tiles.parts


def pyramid(server, about, exact, begin, end, count):
    """Each tile's parts are those of the innermost regions, but for what a bin of the finest level may hide."""
    of = {name: of for name, of, *_ in about['regions']}
    lines = ';'.join(map(str, range(len(exact))))
    _, _, parts = tiles_of(server, lines, count, **{'from': begin, 'to': end})
    step = (end - begin) / count
    for row, regions in enumerate(exact):
        for tile in range(count):
            since, until = begin + tile * step, begin + (tile + 1) * step
            wanted = [0.0] * CLASSES
            for name, (_, _, own) in counted(regions, since, until).items():
                wanted[of[name]] += own / step * 255
            for k in range(CLASSES):
                found = parts[k * len(exact) * count + row * count + tile]
                check(
                    abs(found - wanted[k]) <= 2,
                    'row {} tile {} class {}: {}, wanted {}',
                    row,
                    tile,
                    k,
                    found,
                    wanted[k],
                )


def lines_of(tap, name, server, exact):
    last = len(exact) - 1
    with tap.test(name + ': lines are rows in any order, and several as one'):
        single = tiles_of(server, ';'.join(map(str, range(last + 1))), 16)
        turned = tiles_of(server, ';'.join(map(str, range(last, -1, -1))), 16)
        equal('last first', turned[0][:16], single[0][16 * last :])
        equal('first last', turned[1][16 * last :], single[1][:16])
        for lines, rows in (('0,{}'.format(last), (0, last)), ('0-{}'.format(last), range(last + 1))):
            _, _, parts = tiles_of(server, lines, 16)
            for k in range(CLASSES):
                for tile in range(16):
                    of = [single[2][(k * (last + 1) + row) * 16 + tile] for row in rows]
                    found = parts[k * 16 + tile]
                    check(abs(found - sum(of) / len(of)) <= 2, '{}: {} of {}', lines, found, of)
        for wrong in ('', 'x', '1-', '2-1', '0;', ',0', '0-{}'.format(last + 1), '99999999999999999999', '-1'):
            equal('lines ' + wrong, ask_tiles(server, wrong)[0], 400)
    with tap.test(name + ': what each row has of a stretch of time'):
        of = {row[0]: row[1] for row in server.json('about')['regions']}
        for begin, end in windows(server.json('about')['span_ns']):
            found = server.json('rows', **{'from': begin, 'to': end})['rows']
            for row, regions in enumerate(exact):
                wanted = [0] * CLASSES
                for region, (_, _, own) in counted(regions, begin, end).items():
                    wanted[of[region]] += own
                for k in range(CLASSES):
                    check(abs(found[row][k + 1] - wanted[k]) <= 1 + (end - begin) / 200, '{} {}', found[row], wanted)


def messages_of_calls(tap, name, server, exact):
    about = server.json('about')
    if not about['messages']:
        return
    names = [row[0] for row in about['regions']]

    def is_of(row, ns, wanted):
        return any(begin <= ns <= end for begin, end, region, *_ in exact[row] if region in wanted)

    with tap.test(name + ': messages that calls of some functions sent or received'):
        some = 0
        choose = random.Random(45)
        each = [[region] for region in range(len(names))] + [choose.sample(range(len(names)), 2) for _ in names]
        whole = [(0, about['span_ns'], regions) for regions in each]
        for begin, end, regions in whole + [(*window, choose.choice(each)) for window in windows(about['span_ns'])]:
            window = {'from': begin, 'to': end}
            all = server.json('messages', **window)['messages']
            wanted = {names[region] for region in regions}
            found = server.json('messages', region=','.join(map(str, regions)), **window)['messages']
            equal(str(wanted), found, [m for m in all if is_of(m[2], m[0], wanted) or is_of(m[3], m[1], wanted)])
            some += 0 < len(found) < len(all)
        check(some, 'none of a part of them')
        equal('none', server.json('messages', region='x')['messages'], [])


def computing(tap, name, server, exact):
    """What is known of no region between the first and the last call of a main thread; before and after it nothing."""
    span, count = server.json('about')['span_ns'], 16
    with tap.test(name + ': computing of which nothing is known'):
        for begin, end in windows(span):
            lines = ';'.join(map(str, range(len(exact))))
            found = Tiles(server, lines, count, **{'from': begin, 'to': end}).computing
            step = (end - begin) / count
            for row, calls in enumerate(exact):
                first, last = min(call[0] for call in calls), max(call[1] for call in calls)
                for tile in range(count):
                    since, until = begin + tile * step, begin + (tile + 1) * step
                    known = sum(own for _, _, own in counted(calls, since, until).values())
                    wanted = max(min(until, last) - max(since, first) - known, 0) / step * 255
                    part = found[row * count + tile]
                    check(abs(part - wanted) <= 2, 'row {} tile {}: {}, wanted {}', row, tile, part, wanted)


def archive(tap, name, anchor):
    server = Server(anchor)
    about = server.json('about')
    names = [row[0] for row in about['regions']]
    exact = events_of(anchor)
    with tap.test(name + ': calls and times of any stretch of time, as otf2-print has them'):
        equal('rows', len(about['rows']), len(exact))
        for begin, end in windows(about['span_ns']):
            wanted = {}
            for regions in exact:
                add(wanted, counted(regions, begin, end))
            equal('{} to {}'.format(begin, end), told(server, names, **{'from': begin, 'to': end}), wanted)
        both = {}
        for row in (0, len(exact) - 1):
            add(both, counted(exact[row], 0, about['span_ns']))
        equal('two rows', told(server, names, only='0,{}'.format(len(exact) - 1)), both)
        for wrong in ('', 'x', '3-1', '999999', ','):
            equal('only ' + wrong, told(server, names, only=wrong), {})
        first = told(server, names, first=1, rows=1)
        equal('one row', first, counted(exact[1], 0, about['span_ns']))
    with tap.test(name + ': slices of a stretch of time'):
        for begin, end in windows(about['span_ns']):
            found = server.json('slices', row=0, **{'from': begin, 'to': end})
            wanted = [(b, e - b, n, d) for b, e, n, d, _ in exact[0] if b < end and e > begin]
            equal('slices', sorted((s[0], s[1], names[s[3]], s[4]) for s in found['slices']), sorted(wanted))
    with tap.test(name + ': tiles'):
        for begin, end in windows(about['span_ns']):
            pyramid(server, about, exact, begin, end, 16)
        regions, _, _ = tiles_of(server, '0-{}'.format(len(exact) - 1), 1)
        check(regions[0] < len(names), '{}', regions[0])
    with tap.test(name + ': a window for Perfetto is what report writes of that stretch'):
        begin, end = (about['span_ns'] * part // 8 for part in (2, 3))
        out = os.path.join(harness.scratch('perfetto'), 'part')
        stretch = ['--from', '{:.9f}'.format(begin / 1e9), '--to', '{:.9f}'.format(end / 1e9)]
        harness.run([harness.FVMPI, 'report', anchor, '--perfetto', out, *stretch]).ended(0)
        status, data = server.ask('perfetto', **{'from': begin, 'to': end})
        with open(out, 'rb') as f:
            equal('file', (status, gzip.decompress(data)), (200, gzip.decompress(f.read())))
        check(len(data) < len(server.ask('perfetto')[1]), 'all of it')
    lines_of(tap, name, server, exact)
    messages_of_calls(tap, name, server, exact)
    computing(tap, name, server, exact)
    equal('stopped', server.stop().rc, 0)


def cached(tap, anchor):
    place = anchor[: -len('.otf2')] + '.fvmpi/.fvmpi-view'
    file = os.path.join(place, 'timeline')
    made = lambda: os.stat(file).st_mtime_ns  # noqa: E731
    with tap.test('made once; again when the trace, or the file itself, is another'):
        Server(anchor).stop()
        before = made()
        Server(anchor).stop()
        equal('made', made(), before)
        os.utime(anchor)
        Server(anchor).stop()
        check(made() != before, 'a changed archive')
        for damage in (lambda f: f.truncate(100), lambda f: f.write(b'x' * 200), lambda f: f.truncate(0)):
            before = made()
            with open(file, 'r+b') as f:
                damage(f)
            server = Server(anchor)
            check(server.json('about')['slices'] > 0, 'slices')
            server.stop()
            check(made() != before, 'a damaged file')
    with tap.test('any damage of the file: no crash'):
        with open(file, 'rb') as f:
            good = f.read()
        choose = random.Random(1)
        for _ in range(30):
            bad = bytearray(good)
            for _ in range(8):
                bad[choose.randrange(100, len(bad))] = choose.randrange(256)
            with open(file, 'r+b') as f:
                f.write(bad)
            server = Server(anchor)
            rows = len(json.loads(server.ask('about')[1])['rows'])
            for path in ('sums', 'rows', 'messages', 'path', 'perfetto', 'collectives', 'files', 'profiles'):
                equal(path, server.ask(path, context=1, rows=min(rows, 16), count=64)[0], 200)
            equal('slices', server.ask('slices', row=0)[0], 200)
            equal('tiles', ask_tiles(server, '0')[0], 200)
            equal('ended', server.stop().rc, 0)
    shutil.rmtree(place)
    with tap.test('where nothing can be written: in the cache'):
        cache = harness.scratch('cache')
        with open(place, 'w'):  # where a file is no directory can be
            pass
        Server(anchor, env={'XDG_CACHE_HOME': cache}).stop()
        equal('made', len(os.listdir(os.path.join(cache, 'fvmpi'))), 1)
        os.unlink(place)


def refused(tap, anchor):
    server = Server(anchor)
    with tap.test('who has no token, or asks for nonsense'):
        equal('without a token', server.ask('about', token='0' * 32)[0], 403)
        equal('no such thing', server.ask('passwd')[0], 404)
        for values in (
            {'from': 'x', 'to': 'y'},
            {'from': '1e300', 'to': '-5'},
            {'first': '-1', 'rows': '1e9'},
            {'from': 'nan', 'to': 'inf'},
            {'merge': '0', 'count': '0'},
        ):
            for path in ('rows', 'sums', 'slices', 'messages', 'perfetto', 'collectives', 'files', 'profiles'):
                equal('{} {}'.format(path, values), server.ask(path, **values)[0], 200)
            equal('tiles {}'.format(values), ask_tiles(server, '0', **values)[0], 200)
        for bytes in (10**5, 2 * 10**6):  # the answer to too much is none
            try:
                equal('a long body', ask_tiles(server, 'x' * bytes)[0], 400)
            except (ConnectionError, OSError):
                check(bytes > 2**20, 'not taken: {} bytes', bytes)
    server.stop()
    with tap.test('wrong usage: one line'):
        for words, status in ((['/none.otf2'], 1), (['/none'], 1), ([anchor, '--port', '0'], 2)):
            run = harness.run([harness.FVMPI, 'view', *words]).ended(status)
            equal('lines of {}'.format(words), len(run.err.splitlines()) if status == 1 else 1, 1)


def of_directory(tap, anchor):
    with tap.test('a directory that holds an archive, or several'):
        server = Server(os.path.dirname(anchor))
        equal('shown', server.json('about')['title'], anchor)
        server.stop()
        place = harness.scratch('several')
        for name in ('one.otf2', 'two.otf2'):
            shutil.copy(anchor, os.path.join(place, name))
        run = harness.run([harness.FVMPI, 'view', place]).ended(1)
        equal('lines', len(run.err.splitlines()), 1)
        check('2 archives' in run.err and place in run.err.split('such as ')[-1], '{}', run.err)


def sampled(tap, mpi):
    """Computing outside of all regions is the function that samples found there, an estimate."""
    with tap.test('{}: computing is never blank: samples say what it was'.format(mpi)):
        run = mpi.profile(mpi.build('../planted/planted.c'), 2, ['imbalance'], ['--trace', '-q']).ended(0)
        server = Server(run.directory)
        about = server.json('about')
        check(about['samples'] > 0, 'no samples')
        names = [row[0] for row in about['regions']]
        rows = server.json('sums')['regions']
        found = {names[row[0]]: row[3] for row in rows if row[6]}
        computing_ns = harness.profile_of(run.directory)['sampling']['computing_s'] * 1e9
        check(sum(found.values()) > 0.5 * computing_ns, '{} of {} ns', found, computing_ns)
    seen_in_browser(tap, '{}: samples'.format(mpi), 'view_callers.mjs', server.address)
    server.stop()


def idle(tap):
    """A thread that waits between two samples computed no longer than it had a processor."""
    with tap.test('samples of a thread that is mostly idle'):
        program, directory = os.path.join(harness.scratch('idle'), 'idle'), os.path.join(harness.scratch('exp'), 'e')
        harness.run(['gcc', '-g', '-O1', '-pthread', os.path.join(HERE, 'idle.c'), '-o', program]).ended(0)
        options = ['--trace', '--mpi', 'serial', '-q', '-o', directory] + ([] if harness.SANITIZER else ['--threads'])
        harness.run([harness.FVMPI, 'run', *options, program], directory=directory).ended(0)
        server = Server(directory)
        names = [row[0] for row in server.json('about')['regions']]
        found = {names[row[0]]: row[3] for row in server.json('sums')['regions'] if row[6]}
        rows = server.json('about')['rows']
        tiles = [ask_tiles(server, str(row), count=64)[1] for row in range(len(rows))]
        equal('critical path of one process', server.json('critical')['stretches'], [])
        server.stop()
        equal('idle workers compute', [row for row, of in enumerate(rows) if of[1] and any(tiles[row][-64:])], [])
        full = [sum(tiles[0][6 * 64 + tile :: 64]) for tile in range(64)]  # what is known, and computing
        check(sum(of > 250 for of in full) > 48, 'the main thread: {}', full)
        cpu_ns = harness.profile_of(directory)['sampling']['cpu_s'] * 1e9
        # of each thread one may be on its way, and they are not exactly as long as they should
        check(0.5 * cpu_ns < sum(found.values()) < 1.2 * cpu_ns + 2e7, '{} of {} ns', found, cpu_ns)
        check('compute' in found, 'not the function that calls clock_gettime(): {}', found)


def recorded(tap, mpi):
    with tap.test('{}: rank files and their archive show the same calls'.format(mpi)):
        run = mpi.profile(mpi.build('waitpaths.c'), 4, ['paths'], ['--trace', '--sample=off', '-q']).ended(0)
        harness.run([os.path.join(harness.BUILD, 'fvunify'), '-q', run.directory]).ended(0)
        tables = []
        for trace in (run.directory, os.path.join(run.directory, 'traces.otf2')):
            server = Server(trace)
            about = server.json('about')
            names = [row[0] for row in about['regions']]
            rows = server.json('sums')['regions']
            tables.append({names[row[0]]: (row[1], round(row[5] / 1000)) for row in rows})
            tables.append(sorted((m[2], m[3], m[4]) for m in server.json('messages')['messages']))
            server.stop()
        check(tables[1], 'no messages')
        equal('calls and waiting', tables[2], tables[0])
        equal('messages', tables[3], tables[1])


def on_desktop(anchor, *options, **changes):
    """The address that is printed on a terminal; what xdg-open was given, and who may read that; and what is left."""
    place, runtime = harness.scratch('desktop'), harness.scratch('runtime')
    opened = os.path.join(place, 'opened')
    with open(os.path.join(place, 'xdg-open'), 'w') as f:
        f.write('#!/bin/sh\nstat -c %a "$1" > {0}.new; cat "$1" >> {0}.new; mv {0}.new {0}\n'.format(opened))
    os.chmod(f.name, 0o755)
    os.chmod(runtime, 0o700)
    env = {'DISPLAY': ':9', 'XDG_RUNTIME_DIR': runtime, 'PATH': place + ':' + os.environ['PATH'], **changes}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [harness.FVMPI, 'view', anchor, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if 'PIPE' in changes else theirs,
        env=harness.environment(env),
    )
    os.close(theirs)
    terminal = os.fdopen(ours, 'rb', buffering=0)  # it is hung up when this is closed
    address = (process.stdout or terminal).readline().split()[0].decode()
    seen = None
    for _ in range(80 if not options and not changes else 1):
        if os.path.exists(opened):
            with open(opened) as f:
                seen = f.read()
            break
        time.sleep(0.25)
    process.terminate()
    equal('end', process.wait(timeout=60), 0)
    terminal.close()
    return address, seen, os.listdir(runtime)


def opened(tap, anchor):
    with tap.test('the browser is opened on a desktop, by a file that this user alone reads'):
        address, seen, left = on_desktop(anchor)
        mode, page = seen.split('\n', 1)
        equal('mode', mode, '600')
        check('url=' + address + '"' in page, '{}: {}', address, page)
        equal('left', left, [])
    with tap.test('no browser: if none is wanted, nobody sees it, or others could read the address'):
        for options, changes in (
            (['--no-browser'], {}),
            ([], {'DISPLAY': ''}),
            ([], {'PIPE': '1'}),
            ([], {'XDG_RUNTIME_DIR': '/tmp'}),
        ):
            _, seen, left = on_desktop(anchor, *options, **changes)
            equal('{} {}'.format(options, changes), (seen, left), (None, []))


def in_browser(tap, anchor):
    server = Server(anchor)
    seen_in_browser(tap, 'scorep-late', 'view.mjs', server.address)
    seen_in_browser(tap, 'scorep-late', 'view_stacks.mjs', server.address, 'late')
    server.stop()


def large(tap):
    """A trace of a million calls."""
    ranks = 16
    made = generated(ranks, 60000, 0, 20, 1)
    server = Server(made)
    with tap.test('a large trace: its calls'):
        equal('calls', server.json('about')['slices'], ranks * 66000)
    with tap.test('a large trace: the index has less than 7 bytes a call, with its messages and bins'):
        bytes = os.path.getsize(os.path.join(made, '.fvmpi-view', 'timeline'))
        check(bytes < 7 * ranks * 66000, '{} bytes', bytes)
    with tap.test('a large trace: messages of a stretch of time are those of all that are on their way then'):
        about = server.json('about')
        span, seen = about['span_ns'], {}
        step = span // 16
        for begin in range(0, span, span // 400):  # few enough to be told
            told = server.json('messages', **{'from': begin, 'to': begin + span // 400})
            equal('left out', told['left_out'], 0)
            seen.update((tuple(m), None) for m in told['messages'])
        equal('messages', len(seen), about['messages'])
        for begin in [*range(0, span, step), span - span // 5000]:
            end = begin + span // 5000
            wanted = sorted(m for m in seen if m[0] < end and m[1] >= begin)
            found = server.json('messages', **{'from': begin, 'to': end})['messages']
            equal('{} to {}'.format(begin, end), sorted(map(tuple, found)), wanted)
    with tap.test('a large trace: too many messages are counted, and not told'):
        for begin, end in windows(about['span_ns']):
            found = server.json('messages', **{'from': begin, 'to': end})
            wanted = len(found['messages']) + found['left_out']
            for most in (0, 10, wanted - 1, wanted, 10**7):
                few = server.json('messages', most=most, **{'from': begin, 'to': end})
                equal('of {}, {}'.format(wanted, most), len(few['messages']) + few['left_out'], wanted)
                check(most >= wanted or not few['messages'], 'of {}, {}', wanted, most)
    seen_in_browser(tap, 'many messages', 'view_crowd.mjs', server.address)
    server.stop()


def larger(tap):
    """One of four million: what a frame costs."""
    server = Server(generated(64, 60000, 0, 20, 1))
    server.whole()
    seen_in_browser(tap, 'larger trace', 'view_frames.mjs', server.address)
    seen_in_browser(tap, 'larger trace', 'view_stacks.mjs', server.address, 'large')
    seen_in_browser(tap, 'larger trace', 'view_statistics.mjs', server.address, 'large')
    server.stop()


def main():
    tap = harness.Tap()
    harness.patiently()
    archives = foreign(tap)
    for name, anchor in archives.items():
        archive(tap, name, anchor)
    cached(tap, archives['scorep-late'])
    refused(tap, archives['scorep-late'])
    of_directory(tap, archives['scorep-late'])
    idle(tap)
    for mpi in harness.an_mpi(tap):
        recorded(tap, mpi)
        sampled(tap, mpi)
    opened(tap, archives['scorep-late'])
    in_browser(tap, archives['scorep-late'])
    large(tap)
    if LONG:
        larger(tap)
    tap.done()


main()
