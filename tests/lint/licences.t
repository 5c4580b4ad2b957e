#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each source names its licence, and so does what is generated of it. `reuse lint` finds nothing missing."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
import licences
from report import check, equal

ASK = 'include Makefile\nask: ; @printf "%s\\n" $(tables) $(generated_by_table) $(pages)\n'


def generated():
    """Sources that make has made of others, and their first lines: in the build tree or, of a tarball, in the source tree."""
    out = subprocess.run(
        ['make', '-s', '-C', harness.BUILD, '-f', '-', 'ask'], input=ASK, capture_output=True, text=True, check=True
    ).stdout
    for name in out.split():
        paths = [os.path.join(top, name) for top in (harness.BUILD, harness.SOURCE)]
        path = next((p for p in paths if os.path.exists(p)), None)
        if path and name.endswith(('.c', '.h')):
            with open(path, encoding='utf-8') as f:
                yield name, [f.readline(), f.readline()]


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
