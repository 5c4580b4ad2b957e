#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The libraries of the page of fvmpi view are those that the lock file names, as their makers publish them; the page has their licences."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

FOLDER = os.path.join(harness.SOURCE, 'share', 'vendor')


def main():
    tap = harness.Tap()
    with tap.test('libraries are those of the lock file'):
        if not shutil.which('node') or not os.path.exists(os.path.join(FOLDER, 'node_modules')):
            raise harness.Skip('no node, or ./dev deps has not fetched them')
        done = harness.run(['node', os.path.join(FOLDER, 'vendor.mjs'), '--check'])
        equal('files that differ', done.out.split(), [])
        equal('exit', done.rc, 0)
    with tap.test('the page has their licences'):
        with open(os.path.join(harness.BUILD, 'src/viewer/view_html.h'), encoding='ascii') as f:
            rows = f.read().split('{\n', 1)[1].split('\n};', 1)[0]
        page = bytes(map(int, rows.replace('\n', '').split(',')))
        for name in ('dockview-core', 'uplot'):
            with open(os.path.join(FOLDER, name, 'LICENSE'), 'rb') as f:
                check(f.read().strip() in page, '{}: no licence', name)
    tap.done()


main()
