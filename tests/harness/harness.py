# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs the programs of tests/mpi, with and without fvmpi, and prints TAP.

    for mpi in harness.mpis():
        with tap.test('%s: ring' % mpi):
            run = mpi.profile(mpi.build('ring.c'), ranks=4)
            run.report().callsite('MPI_Send', inside='ring').expect(count=1)

A test whose block ends is `ok`; one that raises is `not ok` with the reason as a diagnostic; Skip is
`ok # SKIP reason`. Every process has a time limit, after which what it started is killed: processes
are found by the scratch directory's mark in their environment, never by name.

FVMPI_BUILD names the build directory (default: build/ in the source tree): $FVMPI_BUILD/fvmpi and the
libraries in $FVMPI_BUILD/.libs. FVMPI_TEST_MPI (mpich or openmpi) restricts the run to one MPI; a soname stands for one of
standin.py.
"""
import atexit
import concurrent.futures
import contextlib
import hashlib
import itertools
import json
import marshal
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
from report import Mismatch, Report, equal, check, nulls, plainly

try:
    import fastjsonschema
except ImportError:
    fastjsonschema = None  # tests/lint/schema.t says that nothing was held against it

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join(SOURCE, 'tests', 'mpi')
INCLUDE = os.path.join(SOURCE, 'src')  # fvmpi.h
BUILD = os.path.abspath(os.environ.get('FVMPI_BUILD') or os.path.join(SOURCE, 'build'))
FVMPI = os.path.join(BUILD, 'fvmpi')
LIBS = os.path.join(BUILD, '.libs')
MARK, RUN = 'FVTEST_MARK', 'FVTEST_RUN'
LIMIT = 240  # seconds, against what hangs: a run takes one, or a minute where ranks that poll share a processor


class Skip(Exception):
    pass


REFUSED = re.compile(r'^fvmpi: --sample: .*(?:no samples are taken|function calls are not measured).*\n', re.M)


def needs_instances(run):
    """Skips where none can be sampled: no performance events, or debug registers that do nothing."""
    said = REFUSED.search(run.err)
    if said:
        raise Skip(said.group().strip())


def but_refusal(err):
    """What else was said."""
    return REFUSED.sub('', err)


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    @contextlib.contextmanager
    def test(self, name):
        try:
            yield
        except Skip as reason:
            self.line(True, '{} # SKIP {}'.format(name, reason))
        except Mismatch as why:
            self.line(False, name, str(why))
        except Exception:
            self.line(False, name, traceback.format_exc())
        else:
            self.line(True, name)

    def together(self, tests, jobs):
        """What mostly waits, some at a time: [(name, function, arguments...)]; the lines are in this order."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for name, future in [(name, pool.submit(*call)) for name, *call in tests]:
                with self.test(name):
                    future.result()

    def line(self, good, name, why=''):
        self.count += 1
        self.failed += not good
        print('{} {} - {}'.format('ok' if good else 'not ok', self.count, name))
        for text in why.splitlines() + (['experiments: ' + ' '.join(_experiments)] if _keep and not good else []):
            print('# ' + text)
        _experiments.clear()
        sys.stdout.flush()

    def done(self):
        print('1..{}'.format(self.count))
        sys.exit(1 if self.failed else 0)


_scratch = tempfile.mkdtemp(prefix='fvmpi-test-')
_numbers = itertools.count(1)
_keep = os.environ.get('FVMPI_TEST_KEEP')
_experiments = []  # that profile() made since the last line of a test


@atexit.register
def _clean():
    if _keep:
        sys.stderr.write('# kept: {}\n'.format(_scratch))
    else:
        shutil.rmtree(_scratch, ignore_errors=True)


def scratch(name='d'):
    path = os.path.join(_scratch, '{}{}'.format(name, next(_numbers)))
    os.mkdir(path)
    return path


WITHOUT = [
    'usr_lib_debug'
]  # debug information of the C library, where that is installed, takes most of a report's time


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('FVMPI_', 'OMPI_', 'PMIX_', 'PMI_', 'LD_PRELOAD'))}
    env.update(
        {
            MARK: _scratch,
            'FVMPI_LIBDIR': LIBS,
            'LC_ALL': 'C',
            'PATH': os.environ.get('PATH', '/usr/bin:/bin'),
            # what Open MPI takes within a host, without a look at what else there is
            'TMPDIR': '/tmp',
            'OMPI_MCA_pml': 'ob1',
            # one that no other job makes at the same time, or removes when it ends
            'OMPI_MCA_orte_tmpdir_base': scratch('s'),
        }
    )
    # it runs signal handlers when it likes, after what they interrupt has ended
    if 'libtsan' in (os.environ.get('FVMPI_TEST_SANITIZER') or ''):
        env['FVMPI_SAMPLE'] = 'off'
    env['FVMPI_WITHOUT'] = ','.join(filter(None, WITHOUT + [os.environ.get('FVMPI_TEST_WITHOUT')]))
    env.update(_patience)
    env.update(extra or {})
    return {k: v for k, v in env.items() if v is not None}


def marked(number=None):
    """Processes that carry our mark: launchers, daemons, ranks and what they started; number: of one run."""
    wanted = {(MARK + '=' + _scratch).encode()} | ({'{}={}'.format(RUN, number).encode()} if number else set())
    found = []
    for entry in os.listdir('/proc'):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open('/proc/' + entry + '/environ', 'rb') as f:
                if wanted <= set(f.read().split(b'\0')):
                    found.append(int(entry))
        except OSError:
            pass
    return found


def is_dead(pid):
    try:
        with open('/proc/{}/stat'.format(pid)) as f:
            return f.read().rsplit(')', 1)[1].split()[0] in 'ZX'
    except OSError:
        return True


def kill_all(number=None):
    """Of all runs, or of one. At once: what is stopped does not notice that the others end, and ends in another way
    because of that. Then waits for their end: of ranks that still run, a report says that others have died."""
    found, until = marked(number), time.monotonic() + 20
    for sig in (signal.SIGSTOP, signal.SIGKILL):
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, sig)
    while time.monotonic() < until and not all(map(is_dead, found)):
        time.sleep(0.01)


class Run:
    """A finished run: rc (negative: by that signal), out, err, late (it ran into the time limit)."""

    def __init__(self, command, rc, out, err, late, directory=None):
        self.command, self.rc, self.out, self.err, self.late, self.directory = command, rc, out, err, late, directory
        self._report = None

    def ended(self, rc=0):
        check(not self.late, 'still running after the time limit: {}\n{}', ' '.join(self.command), self.err[-2000:])
        check(
            self.rc == rc,
            'exit status {} instead of {}: {}\n{}\n{}',
            self.rc,
            rc,
            ' '.join(self.command),
            self.out[-1000:],
            self.err[-2000:],
        )
        return self

    def report(self, *options):
        if self._report is None:
            self._report = report_of(self.directory, *options)
        return self._report


def start(command, env=None, cwd=None):
    number = str(next(_numbers))
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({**(env or {}), RUN: number}),
        cwd=cwd or scratch('cwd'),
        start_new_session=True,
    )
    process.number = number
    return process


def finish(process, limit=LIMIT, directory=None):
    late = False
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        late = True
        kill_all(process.number)
        out, err = process.communicate()
    return Run(
        process.args,
        process.returncode,
        out.decode('utf-8', 'replace'),
        err.decode('utf-8', 'replace'),
        late,
        directory,
    )


def run(command, env=None, cwd=None, limit=LIMIT, directory=None):
    return finish(start(command, env, cwd), limit, directory)


_schemas = {}


def as_draft_7(schema):
    """In words that fastjsonschema knows. It is several times as fast as jsonschema, by which schema.t judges the
    schemas themselves."""
    if isinstance(schema, list):
        return [as_draft_7(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: as_draft_7(part) for key, part in schema.items()}
    if 'prefixItems' in made:
        made['additionalItems'] = made.pop('items', True)
        made['items'] = made.pop('prefixItems')
    if '$schema' in made:
        made['$schema'] = 'http://json-schema.org/draft-07/schema#'
    return made


def judge_of(schema):
    """What judges JSON by a schema. To write it takes most of a second, so that it is kept in the build, compiled, for
    all tests."""
    name = hashlib.sha256((sys.version + fastjsonschema.VERSION + schema).encode()).hexdigest()[:16]
    file = os.path.join(BUILD, 'tests', 'schema-' + name)
    try:
        with open(file, 'rb') as f:
            code = marshal.load(f)
    except (OSError, EOFError, ValueError, TypeError):
        code = compile(fastjsonschema.compile_to_code(as_draft_7(json.loads(schema))), file, 'exec')
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(file), delete=False) as f:
            marshal.dump(code, f)
        os.replace(f.name, file)
    found = {}
    exec(code, found)
    return found['validate']


def valid(text, command='report'):
    """JSON that fvmpi COMMAND --json printed, held against what fvmpi COMMAND --schema promises."""
    try:
        data = json.loads(text)
    except ValueError as why:
        raise Mismatch('no JSON: {}\n{}'.format(why, text[:500]))
    if command not in _schemas:
        promised = run([FVMPI, command, '--schema']).ended(0).out
        _schemas[command] = json.loads(promised), fastjsonschema and judge_of(promised)
    schema, judge = _schemas[command]
    equal('null where --schema does not allow it', nulls(schema, data)[:10], [])
    if judge:
        try:
            judge(data)
        except fastjsonschema.JsonSchemaException as fault:
            raise Mismatch('not as --schema says: {}'.format(fault.message[:500]))
    return data


def needs_fvunify(tap):
    """Ends the test where there is none."""
    if os.path.exists(os.path.join(BUILD, 'fvunify-serial')):
        return
    with tap.test('fvunify'):
        raise Skip('built without OTF2')
    tap.done()


FIELD = re.compile(r'([\w.\[\]]+)=("(?:[^"\\]|\\.)*"|\S*)')
_keys = set()  # that FIELD has


def fields_of(text):
    """FIELD's keys and values. Where nothing is quoted, as in most lines, words are found faster than by FIELD."""
    if '"' not in text:
        found = dict(word.split('=', 1) for word in text.split() if '=' in word)
        if found.keys() <= _keys:
            return found
    found = {key: value.strip('"') for key, value in FIELD.findall(' ' + text)}
    _keys.update(found)
    return found


def dump(path, *types):
    """The lines of `fvmpi dump`, all or of these types: their type, and their fields, as text and by name."""
    lines = (line.partition(' ') for line in run([FVMPI, 'dump', path]).ended(0).out.splitlines())
    return [(of, fields_of(rest)) for of, _, rest in lines if not types or of in types]


def dumped(path, *types):
    """The fields of the lines of these types."""
    return [fields for _, fields in dump(path, *types)]


def profile_of(directory, *options):
    """What `fvmpi report --json` says, with rows as dictionaries."""
    return plainly(valid(run([FVMPI, 'report', directory, '--json', '-'] + list(options)).ended(0).out))


def report_of(directory, *options):
    return Report(profile_of(directory, *options))


SANITIZER = os.environ.get('FVMPI_TEST_SANITIZER')


# What a test may have recorded beside its subject: a sanitizer has the functions for files and the allocator for
# itself.
FRONTS = [] if SANITIZER else ['--io', '--memory']


def fake_pmu(**environment):
    """Environment of programs that are to have the processor of tests/counters/fake_pmu.c, which says what else may be
    set."""
    library = os.path.join(scratch('pmu'), 'fake_pmu.so')
    run(
        [
            'cc',
            '-O1',
            '-shared',
            '-fPIC',
            os.path.join(SOURCE, 'tests', 'counters', 'fake_pmu.c'),
            '-o',
            library,
            '-pthread',
            '-ldl',
        ]
    ).ended(0)
    return dict(environment, LD_PRELOAD=in_front(library))


def in_front(*libraries):
    """What LD_PRELOAD holds: a sanitizer's run-time library must come first."""
    return ':'.join(filter(None, (SANITIZER,) + libraries))


_patience = {}  # of the environment


def patiently():
    """From here on ranks that wait leave the processors to other tests (patient.c). Not where it is measured what they do
    meanwhile."""
    source, library = os.path.join(SOURCE, 'tests', 'harness', 'patient.c'), os.path.join(BUILD, 'tests', 'patient.so')
    if SANITIZER:
        return
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        made = os.path.join(scratch('patient'), 'patient.so')
        run(['cc', '-O1', '-Wall', '-shared', '-fPIC', source, '-o', made, '-ldl']).ended(0)
        shutil.copy(made, '{}.{}'.format(library, os.getpid()))
        os.rename('{}.{}'.format(library, os.getpid()), library)
    _patience.update({'LD_PRELOAD': library, 'OMPI_MCA_mpi_yield_when_idle': '1'})


def not_of_a_sanitizer(options):
    if 'libasan' in (SANITIZER or '') and any(re.match('--(memory|threads)', str(option)) for option in options):
        raise Skip('AddressSanitizer has the allocator and the functions of threads')


class Mpi:
    def __init__(self, name):
        self.name = name
        self.cc, self.cxx, self.fc = 'mpicc.' + name, 'mpicxx.' + name, 'mpifort.' + name
        self.exec = 'mpiexec.' + name
        self.library = os.path.join(LIBS, 'libfvmpi-' + name + '.so')
        self.preload = in_front(self.library)  # when it is set by hand
        self.folder = os.path.join(BUILD, 'tests', 'programs', name)
        self.options = ['--allow-run-as-root', '--oversubscribe', '--bind-to', 'none'] if name == 'openmpi' else []

    def __str__(self):
        return self.name

    def missing(self):
        tools = [t for t in (self.cc, self.exec) if not shutil.which(t)]
        if tools:
            return 'no ' + tools[0]
        return None if os.path.exists(self.library) else 'no ' + self.library

    def build(self, source, *flags, **more):
        """Compiles unless that was done since the source changed. output=: another file name."""
        output = more.get('output') or os.path.splitext(os.path.basename(source))[0]
        os.makedirs(self.folder, exist_ok=True)
        path, text = os.path.join(self.folder, output), os.path.join(PROGRAMS, source)
        if source.endswith(('.F90', '.f90')):  # legacy: choice buffers without an interface
            modules = os.path.join(self.folder, output + '.mod')
            os.makedirs(modules, exist_ok=True)
            command = [self.fc, '-O0', '-g', '-std=legacy', '-ffree-line-length-none', '-J', modules, text]
        else:
            compiler = self.cxx if source.endswith('.cpp') else self.cc
            command = [compiler, '-O2', '-g', '-Wall', '-Wextra', '-Wno-stringop-overflow']
            command += ['-I', PROGRAMS, '-I', INCLUDE, text]
        command += list(flags)
        if any('libfvmpi' in flag for flag in flags):  # a sanitized library wants its run-time first
            command += os.environ.get('SANITIZE_FLAGS', '').split()
        newest = max(
            os.path.getmtime(f) for f in (text, os.path.join(PROGRAMS, 'known.h'), os.path.join(PROGRAMS, 'lost.h'))
        )
        note = path + '.cmd'
        if os.path.exists(path) and os.path.getmtime(path) > newest and os.path.exists(note):
            with open(note) as f:
                if f.read() == ' '.join(command):
                    return path
        made = '{}.{}.{}'.format(path, os.getpid(), threading.get_ident())  # others, which run it, may make it as well
        run(command + ['-o', made]).ended(0)
        os.replace(made, path)
        with open(note, 'w') as f:
            f.write(' '.join(command))
        return path

    def command(self, ranks, command):
        return [self.exec] + self.options + ['-n', str(ranks)] + list(command)

    def native(self, program, ranks, arguments=(), **more):
        return run(self.command(ranks, [program] + list(arguments)), **more)

    def profiled(self, command, directory, options=()):
        not_of_a_sanitizer(options)
        return [FVMPI, 'run', '-o', directory] + list(options) + list(command)

    def profile(self, program, ranks, arguments=(), options=(), directory=None, **more):
        directory = directory or os.path.join(scratch('exp'), 'e')
        _experiments.append(directory)
        return run(
            self.command(ranks, self.profiled([program] + list(arguments), directory, options)),
            directory=directory,
            **more,
        )


def mpis(tap, quiet=False):
    """The MPIs to test; one that is not there is a SKIP, once."""
    wanted = os.environ.get('FVMPI_TEST_MPI')
    if not os.path.exists(FVMPI):
        print('Bail out! {} is not there: build first, or set FVMPI_BUILD'.format(FVMPI))
        sys.exit(1)
    every = [Mpi('mpich'), Mpi('openmpi')]
    if wanted and '.so' in wanted:
        import standin

        every = [standin.named(wanted)]
    for mpi in every:
        if wanted and str(mpi) != wanted:
            continue
        why = mpi.missing()
        if why is None:
            yield mpi
        elif not quiet:
            with tap.test(str(mpi)):
                raise Skip(why)


def each_is_wanted():
    """Each MPI that may be tested is to be, also where one would do."""
    return os.environ.get('FVMPI_TEST_MPIS') == 'all' or os.environ.get('FVMPI_TEST_MPI')


def all_cases():
    """Also what one case of its kind stands for in ./dev check: ./dev mpis and ./dev statistics."""
    return os.environ.get('FVMPI_TEST_MPIS') == 'all' or os.environ.get('FVMPI_TEST_LONG') == '1'


def an_mpi(tap, quiet=False, first='openmpi'):
    """One MPI, where what is tested depends on none; with FVMPI_TEST_MPIS=all (./dev mpis) each of them, as by mpis().
    Ranks of Open MPI leave the processors to others while they wait."""
    if each_is_wanted():
        yield from mpis(tap, quiet)
        return
    for mpi in sorted((Mpi('mpich'), Mpi('openmpi')), key=lambda mpi: str(mpi) != first):
        if mpi.missing() is None:
            yield mpi
            return
    yield from mpis(tap, quiet)  # why there is none


def few(mpi, ranks):
    """Of several numbers of ranks to test by, those that this MPI is for: the largest for Open MPI; a small one for MPICH
    and its kin, whose ranks poll while others have the processor. All of them for ./dev mpis, and where one MPI is
    wanted."""
    if each_is_wanted() and '.so' not in str(mpi):
        return list(ranks)
    if str(mpi) == 'openmpi':
        return [max(ranks)]
    return [n for n in ranks if n <= 2] or [min(ranks)]


def otf2_python():
    """A Python with python3-otf2, whose package is for the system's own; None."""
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and run([python, '-c', 'import otf2'], cwd='/').rc == 0:
            return python
    return None


def otf2_events(directory):
    """What otf2_events.py prints of the archive there."""
    python = otf2_python()
    if not python:
        raise Skip('merged and checked; no python3-otf2 to read it with')
    return (
        run(
            [
                python,
                os.path.join(SOURCE, 'tests', 'harness', 'otf2_events.py'),
                os.path.join(directory, 'traces.otf2'),
            ],
            cwd='/',
        )
        .ended(0)
        .out
    )


def otf2_operations(anchor):
    """Collective operations and files of an archive, as otf2_operations.py has them."""
    python = otf2_python()
    if not python:
        raise Skip('no python3-otf2 to read it with')
    script = os.path.join(SOURCE, 'tests', 'harness', 'otf2_operations.py')
    return json.loads(run([python, script, anchor], cwd='/').ended(0).out)


def sources(*names):
    found = {}
    for name in names:
        with open(os.path.join(PROGRAMS, name)) as f:
            found[name] = f.read().splitlines()
    return found


def wait_until(condition, limit=LIMIT, what='it', pause=0.01):
    end = time.time() + limit
    while time.time() < end:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    raise Mismatch('{} did not happen within {} s'.format(what, limit))


class Mounted:
    """A small disk, or one with other options of tmpfs."""

    def __init__(self, options):
        self.options = options

    def __enter__(self):
        self.path = scratch('mnt')
        done = subprocess.run(
            ['mount', '-t', 'tmpfs', '-o', self.options, 'fvmpi-test', self.path],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode:
            raise Skip('cannot mount a tmpfs: ' + done.stdout.decode('utf-8', 'replace').strip().replace('\n', ' '))
        return self.path

    def __exit__(self, *_):
        subprocess.run(['umount', '-l', self.path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def packaged(binary, mpis):
    """A program that nobody here wrote, and the MPI of these that it is linked with."""
    path = shutil.which(binary)
    if not path:
        raise Skip('no ' + binary)
    linked = run(['ldd', path]).out
    for mpi in mpis:
        if 'libmpi' in linked and ('libmpich' in linked) == (str(mpi) == 'mpich'):
            return path, mpi
    raise Skip('the MPI of {} is not here'.format(binary))
