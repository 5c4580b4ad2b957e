#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a software bill of materials of a build, as SPDX 2.3 in JSON: ./dev sbom, or make sbom

    sbom.py VERSION FOLDER FILE    FOLDER: an installation below a DESTDIR

It lists the programs and libraries that were installed, and the libraries that they name (DT_NEEDED). Of each of these it says the
package, its version, and the licences that the package's copyright file lists. That is known on Debian and its kin. Elsewhere
it names the library's file alone. What a program loads by dlopen() is listed by LOADED."""
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

# src/web/http.h, src/query/sqlite.h
LOADED = {'libmicrohttpd.so.12': 'fvmpi live', 'libsqlite3.so.0': 'fvmpi query'}
GPL_BY_BFD = 'GPL-3.0-or-later'  # programs that are linked with libbfd or libopcodes
# Of source packages with several licences: that of the libraries, as README.md says.
CONCLUDED = {'binutils': GPL_BY_BFD, 'elfutils': 'LGPL-3.0-or-later OR GPL-2.0-or-later'}
# Names in Debian's copyright files: those of SPDX, where they differ.
SPDX_NAMES = {
    'BSD-3-clause': 'BSD-3-Clause',
    'BSD-2-clause': 'BSD-2-Clause',
    'Expat': 'MIT',
    'zlib': 'Zlib',
    'Zlib': 'Zlib',
    'GPL-2': 'GPL-2.0-only',
    'GPL-2+': 'GPL-2.0-or-later',
    'GPL-3': 'GPL-3.0-only',
    'GPL-3+': 'GPL-3.0-or-later',
    'LGPL-2': 'LGPL-2.0-only',
    'LGPL-2+': 'LGPL-2.0-or-later',
    'LGPL-2.1': 'LGPL-2.1-only',
    'LGPL-2.1+': 'LGPL-2.1-or-later',
    'LGPL-3': 'LGPL-3.0-only',
    'LGPL-3+': 'LGPL-3.0-or-later',
}


def said(*command):
    """What a command printed; nothing if it failed, or is not here."""
    if not shutil.which(command[0]):
        return ''
    return subprocess.run(command, capture_output=True, text=True, errors='replace').stdout


def elf_files(folder):
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(at, name)
            if os.path.islink(path):
                continue
            with open(path, 'rb') as f:
                if f.read(4) == b'\x7fELF':
                    yield path


def needed(path):
    return re.findall(r'\(NEEDED\).*\[(.*)\]', said('readelf', '-d', path))


def resolved(path):
    """Where the dynamic linker finds what a file needs, by name."""
    lines = said('ldd', path)
    found = dict(re.findall(r'^\s*(\S+) => (/\S+)', lines, re.M))
    return {**{os.path.basename(p): p for p in re.findall(r'^\s*(/\S+) \(', lines, re.M)}, **found}


def cached(name):
    found = re.search(r'^\s*' + re.escape(name) + r' \(.*\) => (/\S+)', said('/sbin/ldconfig', '-p'), re.M)
    return found[1] if found else None


def package_of(path):
    """(package, version, source, licences) of Debian's package that has a file."""
    for name in dict.fromkeys(
        (
            path,
            os.path.realpath(path),
            path.replace('/lib/', '/usr/lib/', 1),
            os.path.realpath(path).replace('/usr', '', 1),
        )
    ):
        package = said('dpkg', '-S', name).split(':')[0]
        if package:
            fields = said('dpkg-query', '-W', '-f', '${Version}\n${source:Package}', package).split('\n')
            return (package, *fields, licences(package))
    return None


def licences(package):
    """Those that its copyright file lists, sorted; nothing if the file is in no form that a program can read."""
    path = os.path.join('/usr/share/doc', package, 'copyright')
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            text = f.read()
    except OSError:
        return []
    if 'packaging-manuals/copyright-format' not in text.split('\n\n')[0]:
        return []
    return sorted({line.strip() for line in re.findall(r'^License:[ \t]*(\S.*)$', text, re.M)})


def identifier(text):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', text)


def package(name, version, **more):
    return {
        'name': name,
        'SPDXID': identifier('Package-' + name),
        'versionInfo': version,
        'downloadLocation': 'NOASSERTION',
        'filesAnalyzed': False,
        'licenseConcluded': 'NOASSERTION',
        'licenseDeclared': 'NOASSERTION',
        'copyrightText': 'NOASSERTION',
        **more,
    }


def of_library(name, path):
    """The package of a library. Several licences of a whole package do not say which of them its library has, so nothing is concluded."""
    found = package_of(path) if path else None
    if not found:
        return package(name, 'NOASSERTION', comment='A library; which package it is of is not known here.')
    title, version, source, terms = found
    known = [SPDX_NAMES.get(term, term) for term in terms]
    single = known[0] if len(known) == 1 and known[0] in SPDX_NAMES.values() else 'NOASSERTION'
    return package(
        title,
        version,
        supplier='Organization: ' + distribution(),
        licenseConcluded=CONCLUDED.get(source, single),
        sourceInfo='source package ' + source,
        licenseComments='Licences that its copyright file lists: {}'.format(
            ', '.join(known) or 'not in a readable form'
        ),
        externalRefs=[
            {
                'referenceCategory': 'PACKAGE-MANAGER',
                'referenceType': 'purl',
                'referenceLocator': 'pkg:deb/{}/{}@{}'.format(
                    distribution(), title, version.replace(':', '%3A').replace('+', '%2B')
                ),
            }
        ],
    )


def vendored():
    """Libraries that stand in the page of fvmpi view: share/vendor/package.json says which."""
    with open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), 'vendor', 'package.json'), encoding='utf-8'
    ) as f:
        for name, version in sorted(json.load(f)['dependencies'].items()):
            yield package(
                name,
                version,
                licenseConcluded='MIT',
                comment='Stands in the page of fvmpi view.',
                externalRefs=[
                    {
                        'referenceCategory': 'PACKAGE-MANAGER',
                        'referenceType': 'purl',
                        'referenceLocator': 'pkg:npm/{}@{}'.format(name, version),
                    }
                ],
            )


def distribution():
    """Its name, as purls have it."""
    try:
        with open('/etc/os-release', encoding='utf-8') as f:
            return re.search(r'^ID="?([a-z0-9._-]+)', f.read(), re.M)[1]
    except (OSError, TypeError):
        return 'debian'


def file_of(path, folder, names):
    with open(path, 'rb') as f:
        data = f.read()
    is_gpl = any(re.match(r'lib(bfd|opcodes)', name) for name in names)
    return {
        'fileName': './' + os.path.relpath(path, folder),
        'SPDXID': identifier('File-' + os.path.relpath(path, folder)),
        'checksums': [
            {'algorithm': kind, 'checksumValue': hashlib.new(kind.lower(), data).hexdigest()}
            for kind in ('SHA1', 'SHA256')
        ],
        'fileTypes': ['BINARY'],
        'licenseConcluded': GPL_BY_BFD if is_gpl else 'BSD-3-Clause',
        'licenseInfoInFiles': ['BSD-3-Clause'],
        'copyrightText': 'Copyright (c) 2026, The fvmpi authors',
        **({'comment': "Its own code is BSD-3-Clause. It is linked with binutils' libraries."} if is_gpl else {}),
    }


def relation(what, kind, other):
    return {'spdxElementId': what, 'relationshipType': kind, 'relatedSpdxElement': other}


class Bill:
    def __init__(self, version, folder):
        self.folder = folder
        self.own = package('fvmpi', version, licenseConcluded='BSD-3-Clause', licenseDeclared='BSD-3-Clause')
        self.own.update(
            copyrightText='Copyright (c) 2026, The fvmpi authors', supplier='Organization: The fvmpi developers'
        )
        self.files, self.packages, self.relations = (
            [],
            {},
            [relation('SPDXRef-DOCUMENT', 'DESCRIBES', self.own['SPDXID'])],
        )
        paths = list(elf_files(folder))
        ours = {os.path.basename(path) for path in paths}
        self.ours = ours | {re.sub(r'(\.so\.\d+).*', r'\1', name) for name in ours}
        for path in paths:
            self.add(path)

    def add(self, path):
        names, where = needed(path), resolved(path)
        file = file_of(path, self.folder, names)
        self.files.append(file)
        self.relations.append(relation(self.own['SPDXID'], 'CONTAINS', file['SPDXID']))
        for name in names:
            if name not in self.ours:
                self.linked(file, of_library(name, where.get(name)), 'DYNAMIC_LINK')
        if os.path.basename(path) == 'fvmpi':
            for library in vendored():
                self.linked(file, library, 'STATIC_LINK')
            for name in LOADED:
                if cached(name):
                    self.linked(file, of_library(name, cached(name)), 'OPTIONAL_DEPENDENCY_OF')

    def linked(self, file, library, kind):
        self.packages[library['SPDXID']] = library
        pair = (library['SPDXID'], file['SPDXID']) if kind.endswith('_OF') else (file['SPDXID'], library['SPDXID'])
        new = relation(pair[0], kind, pair[1])
        if new not in self.relations:
            self.relations.append(new)

    def describe(self):
        """The package of all files: under the GPL as far as one is."""
        sums = sorted(f['checksums'][0]['checksumValue'] for f in self.files)
        terms = sorted({f['licenseConcluded'] for f in self.files})
        self.own.update(
            filesAnalyzed=True,
            packageVerificationCode={'packageVerificationCodeValue': hashlib.sha1(''.join(sums).encode()).hexdigest()},
            licenseInfoFromFiles=['BSD-3-Clause'],
            licenseConcluded=' AND '.join(terms),
        )

    def document(self, version):
        seconds = int(os.environ.get('SOURCE_DATE_EPOCH') or datetime.datetime.now().timestamp())
        digest = hashlib.sha256(''.join(f['checksums'][1]['checksumValue'] for f in self.files).encode()).hexdigest()
        return {
            'spdxVersion': 'SPDX-2.3',
            'dataLicense': 'CC0-1.0',
            'SPDXID': 'SPDXRef-DOCUMENT',
            'name': 'fvmpi-' + version,
            'documentNamespace': 'https://spdx.org/spdxdocs/fvmpi-{}-{}'.format(version, digest[:32]),
            'creationInfo': {
                'created': datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(
                    '%Y-%m-%dT%H:%M:%SZ'
                ),
                'creators': ['Tool: fvmpi-sbom-' + version, 'Organization: The fvmpi developers'],
            },
            'packages': [self.own] + [self.packages[key] for key in sorted(self.packages)],
            'files': self.files,
            'relationships': self.relations,
        }


def main(version, folder, out):
    bill = Bill(version, folder)
    if bill.files:
        bill.describe()
    else:
        sys.exit('sbom: {}: no programs in it; give the folder of make install DESTDIR='.format(folder))
    with open(out, 'w', encoding='utf-8') as f:
        json.dump(bill.document(version), f, indent=2)
        f.write('\n')


main(*sys.argv[1:])
