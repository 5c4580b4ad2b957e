#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files that describe a release agree with the sources: version, licence, authors. Continuous integration names only official actions and images, and
commands that ./dev has."""
import glob
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

try:
    import yaml
except ImportError:
    yaml = None

SOURCE = harness.SOURCE
IMAGES = re.compile(r'(debian|ubuntu|almalinux):[\d.]+$')
# What the Citation File Format 1.2.0 requires, and what it knows of what is used here.
CITATION_NEEDS = {'cff-version', 'message', 'title', 'authors'}
CITATION_KNOWS = CITATION_NEEDS | {
    'abstract',
    'commit',
    'contact',
    'date-released',
    'doi',
    'identifiers',
    'keywords',
    'license',
    'license-url',
    'preferred-citation',
    'references',
    'repository',
    'repository-artifact',
    'repository-code',
    'type',
    'url',
    'version',
}


def read(name):
    with open(os.path.join(SOURCE, name), encoding='utf-8') as f:
        return f.read()


def parsed(name):
    if not yaml:
        raise harness.Skip('no python3-yaml')
    if not os.path.exists(os.path.join(SOURCE, name)):
        raise harness.Skip('not in a tarball')
    return yaml.safe_load(read(name))


def version():
    return re.search(r'#define FVMPI_VERSION +"(.*)"', read('src/fvmpi.h'))[1]


def values(tree, key):
    """All values of a key, however deep."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from values(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from values(value, key)


def citation():
    said = parsed('CITATION.cff')
    equal('missing', sorted(CITATION_NEEDS - set(said)), [])
    equal('unknown', sorted(set(said) - CITATION_KNOWS), [])
    equal('cff-version', said['cff-version'], '1.2.0')
    equal('version and licence', (said['version'], said['license']), (version(), 'BSD-3-Clause'))
    equal('type', said['type'], 'software')
    check(all(set(author) & {'name', 'family-names'} for author in said['authors']), '{}', said['authors'])
    check(all(isinstance(word, str) for word in said['keywords']), '{}', said['keywords'])


def codemeta():
    said = json.loads(read('codemeta.json'))
    equal('type', said['@type'], 'SoftwareSourceCode')
    equal('version', said['version'], version())
    check(said['license'].endswith('/BSD-3-Clause'), '{}', said['license'])
    for key in ('readme', 'softwareHelp', 'releaseNotes'):
        check(os.path.exists(os.path.join(SOURCE, said[key])), '{}: {} is not there', key, said[key])


def changes():
    equal('first version', re.search(r'^## \[([\d.]+)\] - ', read('CHANGES.md'), re.M)[1], version())


def workflow(name):
    """Official actions, known images, commands that ./dev has."""
    said = parsed(name)
    equal(
        'actions that are not official',
        [a for a in values(said, 'uses') if not re.match(r'actions/[a-z-]+@v\d+$', a)],
        [],
    )
    images = [
        i
        for key in ('image', 'IMAGE', 'container')
        for v in values(said, key)
        for i in (v if isinstance(v, list) else [v])
    ]
    check(images, 'no image')
    equal('images', [i for i in images if not IMAGES.match(i) and '$' not in i], [])
    commands = set(re.findall(r'\./dev ([a-z-]+)', read(name)))
    known = ' | '.join(re.findall(r'^    ([a-z0-9 |-]+)\) "cmd_\$command"', read('dev'), re.M)).split(' | ')
    check(commands, 'no ./dev')
    equal('commands that ./dev does not have', sorted(commands - set(known)), [])


def main():
    tap = harness.Tap()
    for name, judge in (('CITATION.cff', citation), ('codemeta.json', codemeta), ('CHANGES.md', changes)):
        with tap.test(name):
            judge()
    for name in ('.github/workflows/ci.yml', '.github/workflows/release.yml', '.gitlab-ci.yml'):
        with tap.test(name):
            workflow(name)
    for name in sorted(glob.glob(os.path.join(SOURCE, '.github/ISSUE_TEMPLATE/*.yml'))):
        with tap.test(os.path.relpath(name, SOURCE)):
            said = parsed(os.path.relpath(name, SOURCE))
            if not name.endswith('config.yml'):
                equal('missing', sorted({'name', 'description', 'body'} - set(said)), [])
                inputs = [part for part in said['body'] if part['type'] != 'markdown']
                equal('ids', len({part['id'] for part in inputs}), len(inputs))
                check(all(part['attributes'].get('label') for part in inputs), '{}', inputs)
    tap.done()


main()
