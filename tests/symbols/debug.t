#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Debug information of many forms, by gcc and clang: frames of places that are marked in the source, and of each
instruction of the program as llvm-symbolizer tells them."""
import os
import random
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(sys.path[0] + '/../harness')
import harness
from harness import Skip
from report import check, equal

FRAMES = os.path.join(harness.BUILD, 'tests', 'symbols', 'frames')
SOURCES = [os.path.join(HERE, name) for name in ('program.cpp', 'other.cpp')]
CHAINS = {  # what here() prints, and the places of its callers
    'innermost': [
        ['innermost', 'middle', 'step', None],
        ['innermost', 'middle', 'loop', None],
        ['innermost', 'once', None],
    ],
    'step alone': [['alone', None]],
    'lambda': [['lambda', None]],
    'other': [['other', None]],
}
FUNCTIONS = {
    'innermost': 'innermost',
    'middle': 'middle',
    'step': 'step',
    'alone': 'step',
    'lambda': 'with_lambda',
    'loop': 'other',
    'once': 'other',
    'other': 'other',
}


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **more)


def tool(command, **more):
    """Of the compiler and its friends: what it cannot do is skipped."""
    if not shutil.which(command[0]):
        raise Skip('no ' + command[0])
    ended = run(command, **more)
    if ended.returncode:
        raise Skip('{} cannot: {}'.format(' '.join(command[:3]), (ended.stderr.strip().splitlines() or ['?'])[-1]))
    return ended.stdout


def places():
    """Of each mark the file and the line."""
    found = {}
    for name in ('inlined.h', 'program.cpp', 'other.cpp'):
        with open(os.path.join(HERE, name)) as text:
            for number, line in enumerate(text, 1):
                mark = re.search(r'// PLACE (\w+)', line)
                if mark:
                    found[mark.group(1)] = (name, number)
    return found


def ours(path, addresses, **environment):
    """Of each address its frames, innermost first; and the notes."""
    more = {name: value for name, value in os.environ.items() if not name.startswith('FVMPI_')}
    ended = run([FRAMES, path], input='\n'.join('{:x}'.format(a) for a in addresses), env=dict(more, **environment))
    equal('exit status of frames', ended.returncode, 0)
    frames, notes = {}, []
    for line in ended.stdout.splitlines():
        if line.startswith('note\t'):
            notes.append(line[5:])
            continue
        address, function, file, number = line.split('\t')
        frames.setdefault(int(address, 16), []).append((function, os.path.basename(file), int(number)))
    return frames, notes


def oracle(path, addresses):
    """The same by llvm-symbolizer."""
    text = tool(
        ['llvm-symbolizer', '--obj=' + path, '--inlines', '--functions=linkage', '--demangle'],
        input='\n'.join('{:#x}'.format(a) for a in addresses),
    )
    frames = {}
    for address, block in zip(addresses, text.strip().split('\n\n')):
        lines = block.splitlines()
        for function, place in zip(lines[::2], lines[1::2]):
            file, number = place.rsplit(':', 2)[:2]
            frames.setdefault(address, []).append(
                (function.replace('??', '?'), os.path.basename(file).replace('??', '?'), int(number))
            )
    return frames


def instructions(path):
    """Addresses of the program's own functions."""
    text = tool(['objdump', '-d', '--no-show-raw-insn', path])
    own, found = False, []
    for line in text.splitlines():
        head = re.match(r'^[0-9a-f]+ <(.*)>:', line)
        if head:
            own = bool(re.search(r'Solver|middle|innermost|with_lambda|^_Z5otherPdi|^main$|^_Z4herePKc', head.group(1)))
        at = re.match(r'^ +([0-9a-f]+):', line)
        if at and own:
            found.append(int(at.group(1), 16))
    check(len(found) > 50, 'the program has {} instructions', len(found))
    return found


def short(function):
    """Without arguments, templates and scopes, which oracles say differently; of a lambda the function that it stands
    in."""
    return re.sub(r'\(.*|<.*>|\[.*\]', '', function).split('::')[-1].split(' ')[-1]


class Program:
    def __init__(self, folder, compiler, flags=(), name='program'):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.path = folder, os.path.join(folder, name)
        objects = []
        for source in SOURCES:
            objects.append(os.path.join(folder, os.path.basename(source) + '.o'))
            tool([compiler, '-O2', '-g'] + list(flags) + ['-c', source, '-o', objects[-1]], cwd=folder)
        tool([compiler, '-O2', '-g'] + list(flags) + objects + ['-o', self.path], cwd=folder)
        self.whole = self.path

    def sites(self):
        """(what here() said, its address), of a run."""
        text = tool([self.path])
        return sorted(
            {(line.rsplit(' ', 1)[0], int(line.rsplit(' ', 1)[1], 16) + self.base() - 1) for line in text.splitlines()}
        )

    def base(self):
        """Addresses of a program that is not loaded anywhere begin where its file says."""
        found = [
            line.split()[2]
            for line in run(['readelf', '-lW', self.whole]).stdout.splitlines()
            if line.split()[:1] == ['LOAD']
        ]
        return int(found[0], 16)


def known_places(program, **environment):
    """here()'s callers."""
    sites, marks = program.sites(), places()
    frames, notes = ours(program.path, [address for _, address in sites], **environment)
    left = {name: [list(chain) for chain in chains] for name, chains in CHAINS.items()}
    for name, address in sites:
        found = [(short(f[0]),) + f[1:] for f in frames[address]]
        wanted = [[(FUNCTIONS[mark],) + marks[mark] for mark in chain if mark] for chain in CHAINS[name]]
        check(found in wanted, '{} at {:#x}: {} is none of {}', name, address, found, wanted)
        left[name] = [
            chain for chain in left[name] if [(FUNCTIONS[mark],) + marks[mark] for mark in chain if mark] != found
        ]
    equal('chains that were not met', {name: chains for name, chains in left.items() if chains}, {})
    return notes


def as_the_oracle(program, wanted, **environment):
    """All instructions' frames, and those of `wanted`: the same code, with debug information that the oracle reads."""
    addresses = instructions(wanted.whole)
    equal('the code', instructions(program.whole), addresses)
    told, _ = ours(program.path, addresses, **environment)
    frames = oracle(wanted.whole, addresses)
    for address in addresses:
        equal(
            'frames at {:#x}'.format(address),
            [(short(f[0]),) + f[1:] for f in told[address]],
            [(short(f[0]),) + f[1:] for f in frames[address]],
        )


FORMS = {
    'DWARF 4': ['-gdwarf-4'],
    'DWARF 5': ['-gdwarf-5'],
    'compressed': ['-gdwarf-5', '-gz'],
    'position-dependent, functions in sections': ['-no-pie', '-fno-pie', '-ffunction-sections', '-Wl,--gc-sections'],
    '-flto': ['-flto'],
}


class Bench:
    """A compiler, and its programs."""

    def __init__(self, tap, compiler, name):
        self.tap, self.compiler, self.name, self.scratch = tap, compiler, name, harness.scratch('debug')

    def test(self, what):
        return self.tap.test('{}: {}'.format(self.name, what))

    def program(self, folder, *flags):
        return Program(os.path.join(self.scratch, folder), self.compiler, flags)


def forms(bench):
    for form, flags in FORMS.items():
        with bench.test(form):
            program = bench.program(re.sub(r'\W+', '-', form), *flags)
            equal('notes', known_places(program), [])
            as_the_oracle(program, program)


def split(bench):
    """-gsplit-dwarf: files of their own; these packed; neither."""
    for version in ('-gdwarf-5', '-gdwarf-4'):
        with bench.test('-gsplit-dwarf, ' + version):
            wanted = bench.program('plain' + version, version)
            program = bench.program('split' + version, version, '-gsplit-dwarf')
            equal('notes', known_places(program), [])
            as_the_oracle(program, wanted)
        with bench.test('-gsplit-dwarf, {}: packed'.format(version)):
            tool(['llvm-dwp', '-e', program.path, '-o', program.path + '.dwp'], cwd=program.folder)
            for name in os.listdir(program.folder):
                if name.endswith('.dwo'):
                    os.unlink(os.path.join(program.folder, name))
            equal('notes', known_places(program), [])
            as_the_oracle(program, wanted)
        with bench.test('-gsplit-dwarf, {}: gone'.format(version)):
            os.unlink(program.path + '.dwp')
            sites = [address for _, address in program.sites()]
            frames, notes = ours(program.path, sites)
            equal('lines that are not known', [f for f in frames.values() if not f[0][2]], [])
            check(len(notes) == 1 and 'of -gsplit-dwarf, such as' in notes[0], 'notes: {}', notes)


def debug_file(program, at, *flags):
    """Moves the debug information to a file of its own, which the program names."""
    os.makedirs(os.path.dirname(at), exist_ok=True)
    shutil.copy(program.path, program.path + '.whole')
    program.whole = program.path + '.whole'
    tool(['objcopy', '--only-keep-debug'] + list(flags) + [program.path, at])
    tool(['objcopy', '--strip-all', '--add-gnu-debuglink=' + at, program.path])


def build_id(path):
    return re.search(r'Build ID: ([0-9a-f]+)', tool(['readelf', '-n', path])).group(1)


def beside(bench):
    """Where a debug file may be, by the name that the program has for it."""
    for what, folder, flags, more in (
        ('beside the program', '', [], []),
        ('in .debug', '.debug', ['--compress-debug-sections=zlib'], []),
        ('compressed by zstd', '', ['--compress-debug-sections=zstd'], ['-gdwarf-4']),
        ('known by its checksum', '', [], ['-Wl,--build-id=none']),
    ):
        with bench.test('a debug file ' + what):
            program = bench.program('beside' + re.sub(r'\W', '', what), *more)
            debug_file(program, os.path.join(program.folder, folder, 'program.debug'), *flags)
            equal('notes', known_places(program), [])
            as_the_oracle(program, program)


def far(bench):
    """In a directory of debug files."""
    with bench.test('a debug file in a directory of FVMPI_DEBUG_PATH, by its name'):
        program, root = bench.program('far'), os.path.join(bench.scratch, 'root')
        at = root + os.path.join(program.folder, 'program.debug')
        debug_file(program, at)
        equal('notes', known_places(program, FVMPI_DEBUG_PATH='/nowhere:' + root), [])
    with bench.test('and by its build-id'):
        own = build_id(program.path)
        by_id = os.path.join(root, '.build-id', own[:2], own[2:] + '.debug')
        os.makedirs(os.path.dirname(by_id))
        os.rename(at, by_id)
        equal('notes', known_places(program, FVMPI_DEBUG_PATH=root), [])


def shared(bench):
    """What two programs have in common is in a third file."""
    with bench.test('debug information that dwz moved'):
        program, another = bench.program('dwz1', '-gdwarf-4'), bench.program('dwz2', '-gdwarf-4')
        both = os.path.join(bench.scratch, 'dwz.both')
        tool(['dwz', '-m', both, '-M', both, program.path, another.path])
        equal('notes', known_places(program), [])


def not_its(bench):
    with bench.test('a debug file of another build is not taken'):
        for more in (['-Wl,--build-id=none'], []):
            program = bench.program('other' + str(len(more)), *more)
            debug_file(program, program.path + '.debug')
            another = bench.program('another' + str(len(more)), '-O1', *more)
            tool(['objcopy', '--only-keep-debug', another.path, program.path + '.debug'])
            frames, _ = ours(program.path, [address for _, address in program.sites()])
            equal('files', {f[1] for chain in frames.values() for f in chain}, {'?'})


def in_stubs(bench):
    with bench.test('jumps to shared libraries are not of _init, which has no size and stands before them'):
        path = bench.program('stubs').path
        found = {}
        for line in tool(['readelf', '-SW', path]).splitlines():
            of = re.match(r' *\[ *\d+\] (\.init|\.plt\S*|\.text) +PROGBITS +([0-9a-f]+)', line)
            if of:
                found[of.group(1)] = int(of.group(2), 16)
        frames, _ = ours(path, list(found.values()))
        by_section = {name: [of for of, *_ in frames[address]] for name, address in found.items()}
        check(any(name.startswith('.plt') for name in found), 'no stubs: {}', found)
        equal('.init', by_section['.init'], ['_init'])
        equal('others', [name for name, of in by_section.items() if '_init' in of], ['.init'])


def without_libdw(bench):
    """libbfd reads what it can, and no file is called <artificial>; of the rest one note says what to do, which
    works."""
    for what, flags, word in (
        ('DWARF 5', ['-gdwarf-5'], '-gdwarf-4' if bench.name == 'clang' else ''),
        ('-gsplit-dwarf', ['-gdwarf-5', '-gsplit-dwarf'], '-gno-split-dwarf'),
        ('-flto', ['-flto'], 'libdw-dev' if bench.name == 'gcc' else None),
    ):
        with bench.test('without libdw: ' + what):
            program = bench.program('bfd' + re.sub(r'\W', '', what), *flags)
            frames, notes = ours(program.path, instructions(program.path), FVMPI_WITHOUT='libdw')
            equal('files without a name', [f for chain in frames.values() for f in chain if f[1] == '<artificial>'], [])
            equal('notes', len(notes), 1 if word else len(notes) if word is None else 0)
            check(not word or 'libdw' in notes[0] and word in notes[0], 'the note: {}', notes)
    with bench.test('without libdw: what the note says helps'):
        program = bench.program('bfd-helped', '-gdwarf-4', '-gno-split-dwarf')
        equal('notes', known_places(program, FVMPI_WITHOUT='libdw'), [])


def sections(path):
    """Where debug information stands in a file."""
    text = tool(['readelf', '-SW', path])
    found = re.findall(r'\.(?:z?debug\w*|gnu_debuglink)(?:\.dwo)?\s+PROGBITS\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)', text)
    return [(int(offset, 16), int(size, 16)) for offset, size in found]


def damage(chance, content, parts):
    """Bytes of it are others, most often at the begin of a section."""
    content = bytearray(content)
    for _ in range(chance.choice((1, 2, 8, 40))):
        offset, size = chance.choice(parts)
        content[offset + chance.randrange(min(size, chance.choice((16, size))))] = chance.choice(
            (0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256))
        )
    return content


def damaged(bench, times):
    """No crash, no hang; nothing is promised of the frames."""
    chance = random.Random(20)
    for what, flags, end in (
        ('DWARF 5', ['-gdwarf-5'], ''),
        ('DWARF 4', ['-gdwarf-4'], ''),
        ('packed', ['-gdwarf-5', '-gsplit-dwarf'], '.dwp'),
    ):
        with bench.test('damaged debug information: ' + what):
            program = bench.program('damaged' + re.sub(r'\W', '', what), *flags)
            if end:
                tool(['llvm-dwp', '-e', program.path, '-o', program.path + end], cwd=program.folder)
            addresses = '\n'.join('{:x}'.format(a) for a in instructions(program.path)).encode()
            parts = [part for part in sections(program.path + end) if part[1]]
            with open(program.path + end, 'rb') as whole:
                content = whole.read()
            for number in range(times):
                with open(program.path + end, 'wb') as out:
                    out.write(damage(chance, content, parts))
                ended = subprocess.run(
                    [FRAMES, program.path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=addresses, timeout=60
                )
                equal('exit status of number {}'.format(number), ended.returncode, 0)


def main():
    tap = harness.Tap()
    has_libdw = 'libdw' in run(['ldd', FRAMES]).stdout
    for compiler, name in (('g++', 'gcc'), ('clang++', 'clang')):
        bench = Bench(tap, compiler, name)
        not_its(bench)
        in_stubs(bench)
        without_libdw(bench)
        if not has_libdw:
            with bench.test('forms that libbfd does not read'):
                raise Skip('built without libdw; install the package libdw-dev')
            continue
        forms(bench)
        split(bench)
        beside(bench)
        far(bench)
        shared(bench)
        damaged(bench, 1000 if os.environ.get('FVMPI_TEST_LONG') else 15)
    tap.done()


main()
