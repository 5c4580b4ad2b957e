#!/usr/bin/env python3
"""What a program allocates (--memory): leaks of known size and place, the peak and who makes it, realloc() chains, aligned ones, frees by other threads, C++'s new,
Fortran's allocate, fork(), handlers, a killed run; alone and under both MPIs; and the program prints and returns what it does alone."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'mpi'))
import harness

KNOWN = os.path.join(HERE, 'known.c')


_count, _failed = 0, 0


def check(what, good):
    """A line of TAP."""
    global _count, _failed
    _count += 1
    _failed += not good
    print('%s %d - %s' % ('ok' if good else 'not ok', _count, what), flush=True)


def report_of(directory):
    return json.loads(command([harness.FVMPI, 'report', directory, '--json', '-']).stdout)


def command(words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, **more)


def record(name, words, option='--memory', launcher=()):
    """The report, and what the run printed and returned."""
    shutil.rmtree(name, ignore_errors=True)
    run = command([harness.FVMPI, 'run', '-q', *option.split(), '-o', name, '--', *launcher, *words])
    return report_of(name), (run.stdout, run.returncode)


def rows(value):
    return [dict(zip(value['columns'], row)) for row in value['rows']] if isinstance(value, dict) else value


def of(report, function):
    """Sums over the paths whose innermost frame is the function's, but for C++'s operator new."""
    found = {}
    for row in report['memory']:
        names = [f['function'] or '' for f in row['path']]
        while names and names[0].startswith('operator new'):
            names.pop(0)
        if names and names[0].split('(')[0] == function:
            for key in ('bytes', 'allocations', 'frees', 'freed_bytes', 'live_bytes', 'live_count', 'at_peak_bytes', 'peak_bytes', 'foreign_bytes', 'foreign_frees',
                        'live_error_bytes'):
                found[key] = found.get(key, 0) + row[key]
            found['kind'] = row['kind']
    return found


def are(found, **wanted):
    return {key: found.get(key) for key in wanted} == wanted or (print('#', found, wanted) and False)


def one_process():
    plain = {}
    for what in ('leak', 'peak', 'threads', 'realloc', 'aligned', 'fork', 'signal'):
        run = command(['./known', what])
        plain[what] = (run.stdout, run.returncode)
    for option in ('--memory', '--memory=exact'):
        got = {}
        for what in plain:
            got[what], ended = record('e', ['./known', what], option)
            check('%s, %s: it prints and returns what it does alone' % (option, what), ended == plain[what])
        check(option + ': what is leaked is live, where it was allocated', are(of(got['leak'], 'leaked'), bytes=819200, live_bytes=819200, live_count=100, kind='exact'))
        check(option + ': what is freed is not', are(of(got['leak'], 'passing'), bytes=819200, freed_bytes=819200, frees=100, live_bytes=0))
        check(option + ': who makes the peak', are(of(got['peak'], 'leaked'), at_peak_bytes=3 << 20, live_bytes=0) and
              are(of(got['peak'], 'passing'), at_peak_bytes=5 << 20, bytes=6 << 20))
        check(option + ': the peak is that of both, in the allocator\'s bytes', 8 << 20 <= rows(got['peak']['memory_ranks'])[0]['peak_bytes'] < (8 << 20) + (1 << 18))
        check(option + ': frees by another thread', are(of(got['threads'], 'made_for_others'), foreign_frees=100, foreign_bytes=1000000, live_bytes=0))
        check(option + ': a chain of realloc(), of which the last one fails', are(of(got['realloc'], 'resized'), allocations=20, bytes=1050000, freed_bytes=950000,
                                                                                  live_bytes=100000, live_count=1))
        check(option + ': the one that failed', rows(got['realloc']['memory_ranks'])[0]['failed_calls'] == 1)
        check(option + ': aligned allocations', are(of(got['aligned'], 'aligned'), bytes=5000 + 8192 + 6000 + 7000 + 8192 + 12000, allocations=6))
        check(option + ': of a child nothing is recorded', are(of(got['fork'], 'leaked'), bytes=20000, allocations=1))
        handled = of(got['signal'], 'passing')
        check(option + ': handlers between allocations', handled['bytes'] and handled['live_bytes'] == 0)
    _, ended = record('loader', ['./known', 'loader'])
    report = report_of('loader')
    check('in callbacks of dl_iterate_phdr() allocations are counted, in no call path: the unwinder may need the loader', ended[1] == 7 and not of(report, 'passing') and
          int(ended[0].split()[0]) <= rows(report['memory_ranks'])[0]['unseen'] < int(ended[0].split()[0]) + 100 and of(report, 'made_for_others')['allocations'] == 1000)
    for option in ('--memory', '--memory --threads'):
        _, ended = record('bounds', ['timeout', '30', './known', 'bounds'], option)
        check(option + ': a thread asks for its stack before it allocates', ended == ('1\ndone bounds\n', 7))
    pages, = rows(report['memory_ranks'])
    check('what is in memory, if the kernel tells', pages['resident_bytes'] is None or 0 <= pages['huge_bytes'] <= pages['resident_bytes'] > 0)
    check('text shows it', 'Live at the end' in command([harness.FVMPI, 'report', 'e']).stdout)
    dump = command([harness.FVMPI, 'dump', 'e/rank-000000.fvr'])
    check('fvmpi dump shows it', 'memory site' in dump.stdout and 'memory mode=2' in dump.stdout)


def small_ones():
    """Each sample stands for 512 KiB: five standard errors, of the run's own."""
    report, _ = record('small', ['./known', 'leak', '100', '200000'])
    found = of(report, 'leaked')
    check('an estimate says so', found.get('kind') == 'estimate')
    check('of small ones, the estimate is true to within 5 of its errors', found['live_error_bytes'] and abs(found['live_bytes'] - 2e7) < 5 * found['live_error_bytes'])
    check('sums are exact all the same', 0 <= rows(report['memory_ranks'])[0]['bytes'] - 4e7 < 1e5)
    report, _ = record('small', ['./known', 'leak', '100', '20000'], '--memory=exact')
    check('--memory=exact knows each', are(of(report, 'leaked'), live_bytes=2000000, live_count=20000, kind='exact'))


def languages():
    with open('new.cpp', 'w') as f:
        f.write('#include <vector>\n__attribute__((noinline)) std::vector<char> *grown(int n) { return new std::vector<char>(n); }\nint main() { grown(50000); return 0; }\n')
    with open('allocate.f90', 'w') as f:
        f.write('subroutine allocates(a)\n  real(8), pointer :: a(:)\n  allocate(a(10000))\nend subroutine\nprogram p\n  interface\n    subroutine allocates(a)\n'
                '      real(8), pointer :: a(:)\n    end subroutine\n  end interface\n  real(8), pointer :: a(:)\n  call allocates(a)\n  a(1) = 1\n  print *, a(1)\nend program\n')
    for compiler, source, function, wanted in (('g++', 'new.cpp', 'grown', 50024), ('gfortran', 'allocate.f90', 'allocates', 80000)):
        if not shutil.which(compiler):
            check(source + ' # SKIP no ' + compiler, True)
            continue
        built = command([compiler, '-O0', '-g', '-o', 'a.out', source])
        report, _ = record('language', ['./a.out'])
        total = sum(r['live_bytes'] for r in report['memory'] if any((f['function'] or '').split('(')[0] == function for f in r['path']) and r['kind'] == 'exact')
        check('%s: what %s() allocates' % (source, function), built.returncode == 0 and total in (wanted, wanted - 24))


def other_allocators():
    """One that the program is linked with, by its file: forwarded to, with the same counts."""
    for name in ('libjemalloc.so.2', 'libtcmalloc_minimal.so.4'):
        built = command(['cc', '-O1', '-g', '-pthread', '-o', 'other', KNOWN, '-Wl,--no-as-needed', '-l:' + name])
        if built.returncode:
            check(name + ' # SKIP it is not there', True)
            continue
        plain = command(['./other', 'leak'])
        for option in ('--memory', '--memory=exact'):
            report, ended = record('other-allocator', ['./other', 'leak'], option)
            check('%s, %s: the program does what it does alone' % (name, option), ended == (plain.stdout, plain.returncode))
            check('%s, %s: what is leaked' % (name, option), are(of(report, 'leaked'), bytes=819200, live_bytes=819200, live_count=100))
            check('%s, %s: it is named' % (name, option), name in rows(report['memory_ranks'])[0]['allocator'])


def killed():
    """Whatever was counted is in the file, at whatever moment."""
    for i in range(4):
        shutil.rmtree('killed', ignore_errors=True)
        env = dict(os.environ, LD_PRELOAD=':'.join(os.path.join(harness.BUILD, '.libs', 'libfvmpi-%s.so' % name) for name in ('serial', 'memory')), FVMPI_MEMORY='1',
                   FVMPI_OUTPUT='killed', FVMPI_QUIET='1')
        with subprocess.Popen(['./known', 'churn'], env=env) as p:
            deadline = time.time() + 30
            while not os.path.exists('killed/rank-000000.fvr') and time.time() < deadline:
                time.sleep(0.01)
            time.sleep(0.2 + 0.2 * random.random())
            p.send_signal(signal.SIGKILL)
        report = report_of('killed')
        found = of(report, 'passing')
        # at most 64 objects of up to 16 KiB are live, and one that was just being counted
        check('killed run %d: what it had' % i, found['allocations'] > 64 and found['live_count'] - 5 * found['live_error_bytes'] / 512 <= 65)


def unloaded():
    env = dict(os.environ, LD_PRELOAD=os.path.join(harness.BUILD, '.libs', 'libfvmpi-serial.so'), FVMPI_MEMORY='1', FVMPI_OUTPUT='unloaded')
    check('without the library of it one line says what to preload', 'libfvmpi-memory.so is not loaded' in command(['./known', 'peak'], env=env).stderr)


def with_mpi():
    for mpi, compiler in (('mpich', 'mpicc.mpich'), ('openmpi', 'mpicc.openmpi')):
        if not shutil.which(compiler) or not os.path.exists(os.path.join(harness.BUILD, '.libs', 'libfvmpi-%s.so' % mpi)):
            check('%s # SKIP it is not there' % mpi, True)
            continue
        launcher = ['mpiexec.' + mpi] + (['--oversubscribe'] + ['--allow-run-as-root'] * (os.getuid() == 0) if mpi == 'openmpi' else []) + ['-n', '2']
        command([compiler, '-O1', '-g', '-pthread', '-DWITH_MPI', '-o', 'known-mpi', KNOWN])
        report, _ = record('mpi', ['./known-mpi', 'leak'], launcher=launcher)
        check(mpi + ': leaks of both ranks', are(of(report, 'leaked'), live_bytes=2 * 819200, live_count=200))
        check(mpi + ': a row a rank', [r['rank'] for r in rows(report['memory_ranks'])] == [0, 1])


def main():
    work = tempfile.mkdtemp(prefix='fvmpi-memory.')
    os.chdir(work)
    for name in [n for n in os.environ if n.startswith('FVMPI_')]:
        del os.environ[name]
    command(['cc', '-O1', '-g', '-pthread', '-o', 'known', KNOWN])
    one_process()
    small_ones()
    languages()
    other_allocators()
    killed()
    unloaded()
    with_mpi()
    os.chdir('/')
    shutil.rmtree(work, ignore_errors=True)
    print('1..%d' % _count)
    sys.exit(_failed > 0)


main()
