#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each source names its licence, and so does what is generated of it. `reuse lint` finds nothing missing."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import licences
from report import check, equal

GENERATED = re.compile(r'.*(Generated|Made) by ')


def generated():
    """Sources that the build made of others: in its tree, or, of a tarball, in the source tree."""
    for top in {harness.BUILD, harness.SOURCE}:
        for folder in ('src', 'mpi-wrappers'):
            for at, _, names in os.walk(os.path.join(top, folder)):
                for name in names:
                    if name.endswith(('.c', '.h')):
                        path = os.path.join(at, name)
                        with open(path, encoding='utf-8') as f:
                            lines = [f.readline(), f.readline()]
                        if GENERATED.match(lines[0]):
                            yield path, lines


def main():
    tap = harness.Tap()
    is_checkout = os.path.exists(os.path.join(licences.ROOT, '.git'))
    with tap.test('each source names its licence; ./dev licences adds the line'):
        if not is_checkout:
            raise harness.Skip('no checkout of git')
        carriers = licences.carriers()
        check(len(carriers) > 1000, '{} sources', len(carriers))
        equal('without the line', [name for name, line in carriers if not licences.has(name, line)], [])
    with tap.test('what is generated names it, too'):
        found = list(generated())
        check(len(found) > 10, '{} files', len(found))
        equal('without the line', [p for p, lines in found if lines[1].strip() != '/* {} */'.format(licences.LINE)], [])
    with tap.test('the text of the licence is that of LICENSE'):
        equal('text', licences.text_of('LICENSES/BSD-3-Clause.txt'), licences.text_of('LICENSE'))
    with tap.test('reuse lint'):
        if not is_checkout or not shutil.which('reuse'):
            raise harness.Skip('no reuse, or no checkout of git')
        done = harness.run(['reuse', 'lint'], cwd=licences.ROOT)
        check(done.rc == 0, '{}', done.out[-2000:])
    tap.done()


main()
