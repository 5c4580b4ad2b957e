# SPDX-License-Identifier: BSD-3-Clause
"""fvmpi's servers for a browser: one that runs, what it answers, and its page as a script of tests/page sees it."""
import json
import os
import shutil
import urllib.error
import urllib.request

import harness
from report import check, equal

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'page')
BROWSER = os.environ.get('CHROMIUM', '/usr/bin/chromium')


class Served:
    """A command that prints its address; skipped where it lacks a library."""

    def __init__(self, *words, env=None, cwd=None):
        self.process = harness.start([harness.FVMPI, *words], env=env, cwd=cwd)
        line = self.process.stdout.readline().decode().split()
        if not line:
            err = harness.finish(self.process).err
            if 'libmicrohttpd' in err or 'libotf2' in err:
                raise harness.Skip(err.strip())
            check(False, '{}', err)
        self.address = line[0]
        self.base, self.token = line[0].split('/?token=')

    def fetch(self, path, token=None, method='GET', data=None, headers=(), **values):
        """Its status, and the bytes of the answer."""
        values = {'token': self.token if token is None else token, **values}
        query = '&'.join('{}={}'.format(key, value) for key, value in values.items())
        request = urllib.request.Request(
            '{}{}?{}'.format(self.base, path, query), data=data, headers=dict(headers), method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


def seen_in_browser(tap, name, script, address, *words):
    """What the script finds in the page."""
    if not (shutil.which('node') and os.path.exists(BROWSER) and os.path.isdir(os.path.join(PAGE, 'node_modules'))):
        with tap.test(name + ': page'):
            raise harness.Skip('no node, no chromium, or nothing that drives it: ./dev deps installs them')
        return
    shots = os.path.join(harness.BUILD, 'page')
    os.makedirs(shots, exist_ok=True)
    run = harness.run(['node', os.path.join(PAGE, script), shots, address, *words], limit=900)  # each step has its own
    for line in run.out.splitlines():
        row = json.loads(line)
        with tap.test('{}: page: {}'.format(name, row['check'])):
            check(not row['wrong'], '{}', row['wrong'])
    with tap.test(name + ': page: to its end'):
        equal('exit status, {}'.format(run.err), run.rc, 0)
