# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for Spack: what packaging/spack/package.py uses of `spack.package`, and a run through its phases.

Directives note what they say; `Spec` answers as a concrete spec does; which() starts programs, as Spack's Executable."""
import os
import shutil
import subprocess
import sys
import types

DIRECTIVES = (
    'conflicts',
    'depends_on',
    'license',
    'maintainers',
    'patch',
    'provides',
    'requires',
    'variant',
    'version',
)
said = []  # (directive, positional, named)


class InstallError(Exception):
    pass


class Prefix(str):
    """prefix.bin.fvmpi is PREFIX/bin/fvmpi."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Prefix(os.path.join(self, name))


class Spec:
    def __init__(self, name, prefix, variants=(), dependencies=(), mpicc=None):
        self.name, self.prefix, self.variants = name, Prefix(prefix), set(variants)
        self.dependencies, self.mpicc = dict(dependencies), mpicc

    def satisfies(self, what):
        return all(word in self.variants for word in what.split())

    def __contains__(self, what):
        return self.satisfies(what)

    def __getitem__(self, name):
        return self.dependencies[name]


class AutotoolsPackage:
    def __init__(self, spec):
        self.spec, self.prefix = spec, spec.prefix

    def configure_args(self):
        return []

    def phases(self):
        """The commands of the phases, as Spack types them."""
        return [
            ['./configure', '--prefix=' + self.prefix] + self.configure_args(),
            ['make', '-j2'],
            ['make', 'install'],
        ]


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments):
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=400)
        self.output = done.stdout + done.stderr
        if done.returncode:
            raise InstallError('{} {}: exit status {}\n{}'.format(self.path, arguments, done.returncode, self.output))


def which(name):
    path = shutil.which(name)
    return path and Executable(path)


AUTOTOOLS = 'spack_repo.builtin.build_systems.autotools'


def load(path, of_1_0=False):
    """The package's class, of its file; since Spack 1.0 build systems have a place of their own."""
    modules = {'spack': types.ModuleType('spack'), 'spack.package': types.ModuleType('spack.package')}
    if of_1_0:
        parts = AUTOTOOLS.split('.')
        modules.update({name: types.ModuleType(name) for name in ('.'.join(parts[: i + 1]) for i in range(len(parts)))})
    for name in DIRECTIVES:
        setattr(modules['spack.package'], name, lambda *args, _name=name, **named: said.append((_name, args, named)))
    for name in ('InstallError', 'Executable', 'which'):
        setattr(modules['spack.package'], name, globals()[name])
    modules[AUTOTOOLS if of_1_0 else 'spack.package'].AutotoolsPackage = AutotoolsPackage
    for name in [name for name in sys.modules if name.split('.')[0] == 'spack_repo']:
        del sys.modules[name]
    sys.modules.update(modules)
    names = {}
    with open(path, encoding='utf-8') as f:
        exec(compile(f.read(), path, 'exec'), names)
    return next(
        value for value in names.values() if isinstance(value, type) and value.__mro__[1:2] == (AutotoolsPackage,)
    )
