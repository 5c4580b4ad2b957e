#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""share/sbom.py: a program that is linked with zlib, in a folder as `make install` makes it, is listed with the package of that library. What it writes
has what SPDX 2.3 requires, and refers to nothing that is not there."""
import hashlib
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

SBOM = os.path.join(harness.SOURCE, 'share', 'sbom.py')
NEEDED = {
    'document': {
        'spdxVersion',
        'dataLicense',
        'SPDXID',
        'name',
        'documentNamespace',
        'creationInfo',
        'packages',
        'files',
        'relationships',
    },
    'packages': {
        'name',
        'SPDXID',
        'downloadLocation',
        'versionInfo',
        'licenseConcluded',
        'licenseDeclared',
        'copyrightText',
    },
    'files': {'fileName', 'SPDXID', 'checksums', 'licenseConcluded', 'copyrightText'},
    'relationships': {'spdxElementId', 'relationshipType', 'relatedSpdxElement'},
}
KINDS = {'DESCRIBES', 'CONTAINS', 'DYNAMIC_LINK', 'STATIC_LINK', 'OPTIONAL_DEPENDENCY_OF'}


def installed():
    """What the build made, as it is installed: the tools and the libraries for applications."""
    root = harness.scratch('root')
    for folder, names in (('bin', ('fvmpi', 'fvunify-serial')), ('lib', ('libfvmpi-io.so', 'libfvmpi-memory.so'))):
        os.makedirs(os.path.join(root, 'usr', folder))
        for name in names:
            for path in (os.path.join(harness.LIBS, name), os.path.join(harness.BUILD, name)):
                if os.path.exists(path):
                    shutil.copy(os.path.realpath(path), os.path.join(root, 'usr', folder, name))
                    break
    return root


def written():
    out = os.path.join(harness.scratch(), 'sbom.json')
    command = [sys.executable, SBOM, '1.2.3', installed(), out]
    harness.run(command, env={'SOURCE_DATE_EPOCH': '1700000000'}).ended(0)
    with open(out, encoding='utf-8') as f:
        return json.load(f)


def complete(bill):
    equal('document', sorted(NEEDED['document'] - set(bill)), [])
    for kind in ('packages', 'files', 'relationships'):
        check(bill[kind], 'no {}', kind)
        for row in bill[kind]:
            equal('{}: {}'.format(kind, row), sorted(NEEDED[kind] - set(row)), [])
    equal(
        'version',
        (bill['spdxVersion'], bill['dataLicense'], bill['SPDXID']),
        ('SPDX-2.3', 'CC0-1.0', 'SPDXRef-DOCUMENT'),
    )
    equal('created', bill['creationInfo']['created'], '2023-11-14T22:13:20Z')


def refers(bill):
    rows = bill['packages'] + bill['files']
    names = [row['SPDXID'] for row in rows]
    equal('twice', sorted(n for n in set(names) if names.count(n) > 1), [])
    equal('no names of SPDX', [n for n in names if not re.fullmatch(r'SPDXRef-[A-Za-z0-9.-]+', n)], [])
    for row in bill['relationships']:
        check(row['relationshipType'] in KINDS, '{}', row)
        for key in ('spdxElementId', 'relatedSpdxElement'):
            check(row[key] in names or row[key] == 'SPDXRef-DOCUMENT', '{}: not there', row)


def verified(bill):
    """SPDX 2.3, 7.9: of the sorted checksums of all files."""
    sums = sorted(
        sum['checksumValue'] for file in bill['files'] for sum in file['checksums'] if sum['algorithm'] == 'SHA1'
    )
    (own,) = [row for row in bill['packages'] if row['name'] == 'fvmpi']
    wanted = hashlib.sha1(''.join(sums).encode()).hexdigest()
    equal('code', own['packageVerificationCode']['packageVerificationCodeValue'], wanted)
    contained = [row for row in bill['relationships'] if row['relationshipType'] == 'CONTAINS']
    equal('files', len(contained), len(bill['files']))


def licensed(bill):
    """By libbfd the command is under the GPL; libraries for applications are not."""
    of = {os.path.basename(row['fileName']): row for row in bill['files']}
    linked = harness.run(['readelf', '-d', os.path.join(harness.BUILD, 'fvmpi')]).out
    by_bfd = 'GPL-3.0-or-later' if re.search(r'NEEDED.*lib(bfd|opcodes)', linked) else 'BSD-3-Clause'
    equal('fvmpi', of['fvmpi']['licenseConcluded'], by_bfd)
    equal('libfvmpi-io.so', of['libfvmpi-io.so']['licenseConcluded'], 'BSD-3-Clause')


def packaged(bill):
    """By Debian's package of the C library, which each program needs."""
    if not shutil.which('dpkg-query') or harness.run(['dpkg-query', '-W', 'libc6']).rc:
        raise harness.Skip('no dpkg, or no libc6')
    version = harness.run(['dpkg-query', '-W', '-f', '${Version}', 'libc6']).ended(0).out
    (libc,) = [row for row in bill['packages'] if row['name'] == 'libc6']
    equal('version', libc['versionInfo'], version)
    links = [row for row in bill['relationships'] if row['relatedSpdxElement'] == libc['SPDXID']]
    check({row['relationshipType'] for row in links} == {'DYNAMIC_LINK'}, '{}', links)
    check('LGPL' in libc['licenseComments'] or 'not in a readable form' in libc['licenseComments'], '{}', libc)


def main():
    tap, bill = harness.Tap(), {}
    with tap.test('it is written'):
        bill = written()
    for name, judge in (
        ('it has what SPDX requires', complete),
        ('what it refers to is there', refers),
        ('the package is verified by its files', verified),
        ("licences of what is distributed", licensed),
        ('packages of libraries', packaged),
    ):
        with tap.test(name):
            judge(bill)
    with tap.test('a folder without programs is an error'):
        done = harness.run([sys.executable, SBOM, '1', harness.scratch(), 'x'])
        check(done.rc == 1 and 'no programs in it' in done.err, '{}', done.err)
    tap.done()


main()
