#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of package systems: their versions and dependencies are those of the project, configure knows their options,
their lists of files are what `make install` installs; Spack's goes through its phases, and its smoke test runs."""
import fnmatch
import glob
import os
import platform
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import spack_standin
from harness import BUILD, SOURCE
from report import check, equal

TRIPLET = platform.machine() + '-linux-gnu'
RECIPES = [
    'debian/rules',
    'packaging/Dockerfile',
    'packaging/fvmpi.def',
    'packaging/fvmpi.spec',
    'packaging/conda/meta.yaml',
    'packaging/easybuild/fvmpi.eb',
    'packaging/spack/package.py',
    'share/doc/install.md',
]
NOT_OURS = {'--no-install-recommends', '--without-recommends'}  # of docker, apptainer, rpmbuild, dh and conda
MACROS = {
    '_bindir': 'usr/bin',
    '_libdir': 'usr/lib/' + TRIPLET,
    '_includedir': 'usr/include',
    '_datadir': 'usr/share',
    '_mandir': 'usr/share/man',
    '_docdir': 'usr/share/doc',
    'name': 'fvmpi',
}


def read(name):
    with open(os.path.join(SOURCE, name), encoding='utf-8') as f:
        return f.read()


def version():
    return re.search(r'^#define FVMPI_VERSION +"(.*)"', read('src/fvmpi.h'), re.M)[1]


def variables(*names):
    """Of the build's Makefile."""
    ask = 'include Makefile\nask: ; @printf "%s\\n" ' + ' '.join('"$({})"'.format(name) for name in names) + '\n'
    done = subprocess.run(['make', '-s', '-C', BUILD, '-f', '-', 'ask'], input=ask, capture_output=True, text=True)
    return dict(zip(names, done.stdout.splitlines()))


def install(place):
    """Below usr/; files, with paths from there, libraries where Debian has them."""
    harness.run(
        [
            'make',
            '-s',
            '-C',
            BUILD,
            'install',
            'DESTDIR=' + place,
            'prefix=/usr',
            'libdir=/usr/lib',
            'zshcompletionsdir=/usr/share/zsh/vendor-completions',
            'bindingsdir=/usr/lib/python3/dist-packages/fvmpi',
        ]
    ).ended(0)
    return {
        re.sub('^usr/lib/(?!python3/)', 'usr/lib/' + TRIPLET + '/', os.path.relpath(os.path.join(at, name), place))
        for at, _, names in os.walk(place)
        for name in names
        if not name.startswith('libfvmpi-abi')  # of a header of the tests
    }


def matches(name, pattern):
    return fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, pattern.rstrip('/') + '/*')


def judge(files, packages, removed):
    """Each file is in one package or removed, and each pattern has a file."""
    files = {name for name in files if not any(matches(name, pattern) for pattern in removed)}
    owners = {
        name: [p for p, patterns in packages.items() if any(matches(name, q) for q in patterns)] for name in files
    }
    equal('in no package, or in two', {name: p for name, p in owners.items() if len(p) != 1}, {})
    unused = [q for patterns in packages.values() for q in patterns if not any(matches(name, q) for name in files)]
    equal('not installed', unused, [])


def debian(files):
    packages = {}
    for path in glob.glob(os.path.join(SOURCE, 'debian', '*.install')):
        packages[os.path.basename(path)[:-8]] = read(os.path.relpath(path, SOURCE)).split()
    removed = ' '.join(re.findall(r'^\trm -f (.*)', read('debian/rules'), re.M)).replace('debian/tmp/', '').split()
    named = re.findall(r'^Package: (.*)$', read('debian/control'), re.M)
    equal('packages', sorted(packages), sorted(named))
    judge(files, packages, [name.replace('$(DEB_HOST_MULTIARCH)', TRIPLET) for name in removed])


def commands():
    """Each document that installs Debian's packages installs all that those depend on."""
    named = re.findall(r'^Package: (.*)$', read('debian/control'), re.M)
    for name in ('README.md', 'share/doc/install.md', 'dev'):
        globs = re.findall(r'/([a-z0-9_*-]+\.deb)', read(name))
        taken = {p for p in named for g in globs if fnmatch.fnmatch(p + '_0_amd64.deb', g)}
        for package in re.split(r'\n\n', read('debian/control')):
            found = re.match(r'Package: (.*)', package)
            needs = re.findall(r'(lib[a-z0-9-]*|fvmpi)(?= \(>?= )', package) if found and found[1] in taken else []
            equal('{}: needs of {}'.format(name, found and found[1]), [p for p in needs if p not in taken], [])
        check(taken, 'no packages in {}', name)


def documents(place):
    """A document that is named by another one, and is installed, is where that says."""
    folder = os.path.join(place, 'usr', 'share', 'doc', 'fvmpi')
    found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    names, wrong, right = {os.path.basename(path) for path in found}, [], 0
    for path in found:
        if not path.endswith('.md'):
            continue
        with open(path, encoding='utf-8') as text:
            named = set(re.findall(r'[\w./-]*/[\w-]+\.(?:md|png)\b', text.read()))
        for name in named:
            if os.path.exists(os.path.join(os.path.dirname(path), name)):
                right += 1
            elif os.path.basename(name) in names and '://' not in name:
                wrong.append((os.path.relpath(path, folder), name))
    equal('not there', wrong, [])
    check(right > 30, '{} documents are named', right)


def expand(text):
    for name, value in MACROS.items():
        text = text.replace('%{' + name + '}', value)
    return text


def rpm(files):
    text, packages = expand(read('packaging/fvmpi.spec')), {}
    for name, block in re.findall(r'^%files *(.*)\n((?:.+\n)*)', text, re.M):
        lines = [line for line in block.splitlines() if not line.startswith('%license')]
        packages[name or 'fvmpi'] = [re.sub(r'(\.[1-9])\*$', r'\1', line) for line in lines]
    equal('packages', sorted(packages), sorted(['fvmpi'] + re.findall(r'^%package (.*)$', text, re.M)))
    removed = ' '.join(re.findall(r'^rm -f (.*)', text, re.M)).replace('%{buildroot}', '').split()
    files = {name.replace('vendor-completions', 'site-functions') for name in files}
    files = {name.replace('lib/python3/dist-packages', 'share/fvmpi/python') for name in files}
    files |= set(re.findall(r"^echo '\.so .*' > %\{buildroot\}(\S+)", text, re.M))
    judge(files, packages, removed)


def options():
    known = harness.run([os.path.join(SOURCE, 'configure'), '--help']).ended(0).out
    for name in RECIPES:
        text = read(name)
        used = set(re.findall(r'--with(?:out)?-[a-z-]*[a-z]', text)) - NOT_OURS
        for option in used:
            bare = re.sub('^--with(out)?-', '', option)
            check(re.search('--with(out)?-' + bare + r'\b', known), '{}: configure does not know {}', name, option)


def easybuild():
    found = {}
    exec(read('packaging/easybuild/fvmpi.eb'), {'SHLIB_EXT': 'so'}, found)
    wanted = {'easyblock', 'name', 'version', 'homepage', 'description', 'toolchain', 'sources', 'moduleclass'}
    equal('missing', wanted - set(found), set())
    equal('version', found['version'], version())
    check(all(len(d) >= 2 and all(isinstance(x, str) for x in d) for d in found['dependencies']), 'dependencies')


def conda():
    try:
        import jinja2
        import yaml
    except ImportError:
        raise harness.Skip('no jinja2 and yaml for Python')
    for mpi in ('mpich', 'openmpi'):
        text = jinja2.Template(read('packaging/conda/meta.yaml')).render(
            mpi=mpi, compiler=lambda language: 'gcc_linux-64', PKG_HASH='0'
        )
        meta = yaml.safe_load(text)
        equal('version', str(meta['package']['version']), version())
        check('--with-{}=mpicc'.format(mpi) in meta['build']['script'][0], '{}', meta['build'])
        check(mpi in meta['requirements']['host'], '{}', meta['requirements'])


def spack_of(mpi, prefix):
    """The package, as Spack makes it concrete for an MPI, or without one."""
    package = spack_standin.load(os.path.join(SOURCE, 'packaging', 'spack', 'package.py'))
    if not mpi:
        return package(spack_standin.Spec('fvmpi', prefix, ['~mpi']))
    mpicc = shutil.which(mpi.cc)
    of_mpi = spack_standin.Spec(mpi.name, os.path.dirname(os.path.dirname(mpicc)), mpicc=mpicc)
    return package(spack_standin.Spec('fvmpi', prefix, ['+mpi'], {'mpi': of_mpi}))


def phases(mpi):
    prefix = harness.scratch('spack')
    configure, build, installed = spack_of(mpi, prefix).phases()
    others = {'mpich', 'openmpi'} - {mpi and mpi.name}
    check(all('--without-' + other in configure for other in others), '{}', configure)
    check(not mpi or '--with-{}={}'.format(mpi, shutil.which(mpi.cc)) in configure, '{}', configure)
    if os.environ.get('FVMPI_TEST_LONG') != '1':
        return
    configure[0] = os.path.join(SOURCE, 'configure')
    at = harness.scratch('spack-build')
    for command in (configure, build, installed):
        harness.run(command, cwd=at, limit=900).ended(0)
    spack_of(mpi, prefix).test_selftest()


def unknown_mpi():
    package = spack_standin.load(os.path.join(SOURCE, 'packaging', 'spack', 'package.py'), of_1_0=True)
    other = spack_standin.Spec('fujitsu-mpi', '/usr', mpicc='/usr/bin/mpicc')
    try:
        package(spack_standin.Spec('fvmpi', '/usr', ['+mpi'], {'mpi': other})).configure_args()
    except spack_standin.InstallError as why:
        equal('why', str(why), 'fvmpi has no library for fujitsu-mpi')
        return
    raise harness.Mismatch('configured for an MPI that fvmpi has no library for')


def smoke(mpi, place):
    """The smoke test, in what was installed."""
    kept = dict(os.environ)
    os.environ['FVMPI_LIBDIR'] = os.path.join(place, 'usr', 'lib')
    try:
        spack_of(mpi, os.path.join(place, 'usr')).test_selftest()
    finally:
        os.environ.clear()
        os.environ.update(kept)


def module():
    """Its values, by what Tcl's `set` and `$` mean, are the directories of the installation."""
    with open(os.path.join(BUILD, 'share', 'fvmpi.module')) as f:
        text = f.read()
    check(text.startswith('#%Module1.0\n') and '@' not in text, '{}', text)
    values, paths = {}, {}

    def fill(word):
        return re.sub(r'\$\{?(\w+)\}?', lambda at: values[at[1]], word)

    for line in text.splitlines():
        words = line.split()
        if words[:1] == ['set']:
            values[words[1]] = fill(words[2])
        elif words[:1] == ['prepend-path']:
            paths[words[1]] = fill(words[2])
    wanted = variables('bindir', 'libdir', 'includedir', 'pkgconfigdir', 'pkgdatadir')
    equal('PATH', paths['PATH'], wanted['bindir'])
    equal('LD_LIBRARY_PATH', paths['LD_LIBRARY_PATH'], wanted['libdir'])
    equal('CPATH', paths['CPATH'], wanted['includedir'])
    equal('PKG_CONFIG_PATH', paths['PKG_CONFIG_PATH'], wanted['pkgconfigdir'])
    equal('PYTHONPATH', paths['PYTHONPATH'], wanted['pkgdatadir'] + '/python')


def update():
    harness.run([os.path.join(SOURCE, 'packaging', 'update'), '--check']).ended(0)
    copy = harness.scratch('copy')
    for name in ('debian', 'packaging', 'python'):
        shutil.copytree(os.path.join(SOURCE, name), os.path.join(copy, name))
    os.mkdir(os.path.join(copy, 'src'))
    with open(os.path.join(copy, 'src', 'fvmpi.h'), 'w') as f:
        f.write('#define FVMPI_VERSION "9.8.7"\n')
    with open(os.path.join(copy, 'dev'), 'w') as f:
        f.write(read('dev'))
    said = harness.run([os.path.join(copy, 'packaging', 'update'), '--check']).ended(1).out
    check(
        all(
            name in said for name in ('fvmpi.spec', 'package.py', 'meta.yaml', 'fvmpi.eb', 'Dockerfile', '_version.py')
        ),
        '{}',
        said,
    )
    with open(os.path.join(copy, 'dev'), 'w') as f:
        f.write(read('dev').replace('\nlibzstd-dev\n', '\nliblz4-dev\n', 1))
    run = harness.run([os.path.join(copy, 'packaging', 'update'), '--check']).ended(1)
    check('liblz4-dev' in run.err, '{}', run.err)


def main():
    tap = harness.Tap()
    mpis = list(harness.mpis(tap))
    place = harness.scratch('installed')
    files = set()
    with tap.test('make install'):
        files = install(place)
    with tap.test('installed documents name each other as they are installed'):
        documents(place)
    for name, look in (('debian', debian), ('fvmpi.spec', rpm)):
        with tap.test('{}: each installed file is in one package'.format(name)):
            if len(mpis) < 2:
                raise harness.Skip('not built for both MPIs')
            look(files)
    with tap.test('documents install what packages depend on'):
        commands()
    with tap.test('versions and dependencies are those of the project'):
        update()
    with tap.test('configure knows the options'):
        options()
    with tap.test('EasyBuild'):
        easybuild()
    with tap.test('conda'):
        conda()
    with tap.test('the module file'):
        module()
    for mpi in mpis + [None]:
        with tap.test('Spack, {}: phases'.format(mpi or 'without MPI')):
            phases(mpi)
    with tap.test('Spack: an unknown MPI'):
        unknown_mpi()
    for mpi in mpis[-1:]:
        with tap.test('Spack, {}: the smoke test'.format(mpi)):
            smoke(mpi, place)
    tap.done()


main()
