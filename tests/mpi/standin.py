# SPDX-License-Identifier: BSD-3-Clause
"""MPIs that Debian does not have. Of MPICH's binary interface, Intel's and Cray's: its MPICH under their sonames. Copies of its
libraries, in which names are changed where they stand; of the first one, functions of MPI-4.0 are taken away too, which
Intel MPI had not before 2021. Of the standard ABI: a library that translates what it is called for into calls of MPICH.

    FVMPI_TEST_MPI=libmpi.so.12 tests/mpi/counts.t       any test, with such an MPI in MPICH's place"""
import os
import re
import shutil
import struct

import harness
import standard_abi

# soname, that of the Fortran library, functions that it has not
KNOWN = {
    'libmpi.so.12': (
        'libmpifort.so.12',
        rb'P?MPI_(?:\w+_c|Session_\w+|Psend_init|Precv_init|Pready\w*|Parrived|Isendrecv\w*)\0',
    ),
    'libmpi_cray.so.12': ('libmpifort_cray.so.12', None),
}
SPARE = rb'(?:P?MPIX|p?mpix)_\w{21,}\0'  # long names of extensions that nobody asks for
NEEDED, STRTAB, STRSZ, SONAME = 1, 5, 10, 14


class Elf:
    """What of a 64-bit little-endian ELF file the dynamic linker reads names from."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            self.bytes = bytearray(f.read())
        at, size, count = struct.unpack_from('<Q', self.bytes, 32)[0], *struct.unpack_from('<HH', self.bytes, 54)
        headers = [struct.unpack_from('<IIQQQQ', self.bytes, at + i * size) for i in range(count)]
        self.entries = []  # (tag, where its value stands, value)
        table = next(h[2] for h in headers if h[0] == 2)
        while not self.entries or self.entries[-1][0]:
            self.entries.append(
                (
                    struct.unpack_from('<q', self.bytes, table)[0],
                    table + 8,
                    struct.unpack_from('<Q', self.bytes, table + 8)[0],
                )
            )
            table += 16
        values = {tag: value for tag, _, value in self.entries}
        load = next(h for h in headers if h[0] == 1 and h[3] <= values[STRTAB] < h[3] + h[5])
        self.names, self.size = values[STRTAB] - load[3] + load[2], values[STRSZ]

    def rename(self, names):
        """Sonames and needed ones; a longer name takes the place of one that is to spare."""
        for tag, where, value in self.entries:
            if tag not in (NEEDED, SONAME):
                continue
            start = self.names + value
            old = bytes(self.bytes[start : self.bytes.index(0, start)]).decode()
            new = names.get(old, old).encode() + b'\0'
            if len(new) > len(old) + 1:
                start = self.names + re.search(SPARE, self.strings()).start()
                struct.pack_into('<Q', self.bytes, where, start - self.names)
            self.bytes[start : start + len(new)] = new

    def hide(self, pattern):
        """Symbols: nobody looks for the name that they have then."""
        for found in re.finditer(rb'(?<=\0)' + pattern, self.strings()):
            self.bytes[self.names + found.end() - 2] = ord('#')

    def strings(self):
        return bytes(self.bytes[self.names : self.names + self.size])

    def write(self, path):
        with open(path, 'wb') as f:
            f.write(self.bytes)


def library(cc, name):
    found = harness.run([cc, '-print-file-name=' + name]).out.strip()
    return os.path.realpath(found) if os.path.isabs(found) else None


class StandIn(harness.Mpi):
    def __init__(self, soname):
        super().__init__('mpich')
        self.soname, (self.fortran, self.lacks) = soname, KNOWN[soname]
        self.folder = os.path.join(harness.BUILD, 'tests', 'programs', soname)

    def __str__(self):
        return self.soname

    def missing(self):
        why = super().missing()
        if why:
            return why
        if not library(self.cc, 'libmpich.so.12') or not library(self.cc, 'libmpichfort.so.12'):
            return "only Debian's MPICH is made into {}".format(self.soname)
        self.make()
        return None

    def make(self):
        made = os.path.join(self.folder, self.fortran)
        names = {'libmpich.so.12': self.soname, 'libmpichfort.so.12': self.fortran}
        if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(__file__):
            shutil.rmtree(self.folder, ignore_errors=True)
            os.makedirs(self.folder)
            for old, new in names.items():
                elf = Elf(library(self.cc, old))
                elf.rename(names)
                if self.lacks:
                    elf.hide(self.lacks)
                elf.write(os.path.join(self.folder, new))
        self.cc, self.fc = (self.compiler(name) for name in (self.cc, self.fc))

    def compiler(self, name):
        """MPICH's wrapper with these libraries."""
        path = os.path.join(self.folder, name)
        words = harness.run([name, '-show']).ended(0).out.split() if shutil.which(name) else ['false']
        mine = {
            '-lmpich': os.path.join(self.folder, self.soname),
            '-lmpichfort': os.path.join(self.folder, self.fortran),
        }
        libraries = [mine[word] for word in words if word in mine]
        with open(path, 'w') as f:
            f.write(
                '#!/bin/sh\nexec {} "$@" {} -Wl,--allow-shlib-undefined,--disable-new-dtags,-rpath,{}\n'.format(
                    ' '.join(word for word in words if word not in mine), ' '.join(libraries), self.folder
                )
            )
        os.chmod(path, 0o755)
        return path


class StandardAbi(harness.Mpi):
    """... which is C alone."""

    soname, lacks = 'libmpi_abi.so.1', None

    def __init__(self):
        super().__init__('mpich')
        self.folder = os.path.join(harness.BUILD, 'tests', 'programs', self.soname)
        self.library = os.path.join(harness.LIBS, 'libfvmpi-abi.so')
        self.preload = harness.in_front(self.library)
        self.mpicc, self.cc, self.fc = self.cc, os.path.join(self.folder, 'mpicc_abi'), 'mpifort_abi'
        self.path = os.path.join(self.folder, self.soname)

    def __str__(self):
        return self.soname

    def missing(self):
        if harness.SANITIZER:
            return 'a sanitizer does not live with RTLD_DEEPBIND'
        if not shutil.which(self.mpicc):
            return 'no ' + self.mpicc
        have = os.path.join(harness.BUILD, 'mpi-wrappers', 'mpich', 'mpi-have.h')
        for path in self.library, have, library(self.mpicc, 'libmpich.so.12'):
            if not path or not os.path.exists(path):
                return 'no ' + (path or 'libmpich.so.12')
        self.make(have)
        return super().missing()

    def make(self, have):
        standard_abi.write_header(self.folder)
        source = os.path.join(self.folder, 'translated.c')
        standard_abi.gen.write(self.folder, 'translated.c', standard_abi.library(have))
        if not os.path.exists(self.path) or os.path.getmtime(self.path) < os.path.getmtime(source):
            includes = [
                word for word in harness.run([self.mpicc, '-show']).ended(0).out.split() if word.startswith('-I')
            ]
            harness.run(
                [
                    'cc',
                    '-O1',
                    '-w',
                    '-shared',
                    '-fPIC',
                    '-Wl,-z,defs,-soname,' + self.soname,
                    *includes,
                    source,
                    '-o',
                    self.path,
                ]
            ).ended(0)
        with open(self.cc, 'w') as f:
            f.write(
                '#!/bin/sh\nexec cc -I{0}/include "$@" {1} -Wl,--disable-new-dtags,-rpath,{0}\n'.format(
                    self.folder, self.path
                )
            )
        os.chmod(self.cc, 0o755)


def named(soname):
    return StandardAbi() if soname == StandardAbi.soname else StandIn(soname)


def every():
    return [named(soname) for soname in (*KNOWN, StandardAbi.soname)]
