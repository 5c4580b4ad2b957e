#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The site that ./dev site writes has a page for each document and man page, all pictures, and no link that leads nowhere. It loads nothing of a network."""
import html.parser
import os
import posixpath
import re
import shutil
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

SOURCE = harness.SOURCE


class Links(html.parser.HTMLParser):
    """What a page links to, what it loads, which fragments it has, and its text outside of links."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.text, self.opened = [], [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.opened += tag in ('a', 'pre', 'h1', 'h2', 'h3')
        self.ids += [of['id']] if 'id' in of else []
        self.links += [of['href']] if tag == 'a' and 'href' in of else []
        self.loads += [of[key] for key in ('src', 'href') if key in of and tag != 'a']

    def handle_endtag(self, tag):
        self.opened -= tag in ('a', 'pre', 'h1', 'h2', 'h3')

    def handle_data(self, data):
        self.text += [] if self.opened else [data]


def parsed(folder):
    pages = {}
    for at, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.html') and 'examples' not in os.path.relpath(at, folder).split(os.sep):
                path = os.path.join(at, name)
                with open(path, encoding='utf-8') as f:
                    pages[os.path.relpath(path, folder)] = Links(f.read())
    return pages


def broken(folder, pages):
    for name, page in pages.items():
        for link in page.links + page.loads:
            address = urllib.parse.urlsplit(link)
            if address.scheme in ('https', 'http', 'data'):
                continue
            to = os.path.normpath(os.path.join(os.path.dirname(name), address.path)) if address.path else name
            if not os.path.isfile(os.path.join(folder, to)):
                yield '{}: {}: no such file'.format(name, link)
            elif address.fragment and to in pages and urllib.parse.unquote(address.fragment) not in pages[to].ids:
                yield '{}: {}: no such fragment'.format(name, link)


def documents():
    for folder, ending in (('', '.md'), ('share', '.md'), ('share/doc', '.md'), ('share/man', '.1')):
        for name in os.listdir(os.path.join(SOURCE, folder)):
            if name.endswith(ending):
                yield os.path.join(folder, name)


def judge(tap, folder):
    pages, sources = parsed(folder), list(documents())
    with tap.test('each document and man page has a page'):
        wanted = ['index.html' if n == 'README.md' else re.sub(r'\.md$', '', n) + '.html' for n in sources]
        check(len(wanted) > 50, '{} documents', len(wanted))
        equal('without a page', sorted(set(wanted) - set(pages)), [])
    with tap.test('no link leads nowhere'):
        check(sum(len(page.links) for page in pages.values()) > 1000, 'few links')
        equal('broken', list(broken(folder, pages)), [])
    with tap.test('all pages lead to the examples of reports'):
        for name, page in pages.items():
            to = sorted({posixpath.normpath(posixpath.join(posixpath.dirname(name), link)) for link in page.links})
            equal(name, [a for a in to if a.startswith('examples/')], ['examples/one.html', 'examples/one.txt'])
    with tap.test('nothing is loaded from elsewhere'):
        outside = [(n, a) for n, page in pages.items() for a in page.loads if re.match(r'(https?:)?//', a)]
        equal('loaded', outside, [])
    with tap.test('a page has one heading of the first level, and no id twice'):
        for name, page in pages.items():
            equal(name, sorted(i for i in set(page.ids) if page.ids.count(i) > 1), [])
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                equal(name, len(re.findall('<h1', f.read())), 1)
    with tap.test('of man pages only what stands for a word is emphasised'):
        for name in pages:
            if name.startswith('share/man/'):
                with open(os.path.join(folder, name), encoding='utf-8') as f:
                    equal(name, re.findall(r'<i>[^<]*(?:--[a-z]|\[FVMPI_)[^<]*</i>', f.read()), [])
    with tap.test('a guide that is named in the text is a link'):
        names = {os.path.basename(n) for n in sources if n.startswith('share/doc/')}
        for name, page in pages.items():
            own = os.path.basename(name).replace('.html', '.md')
            said = set(re.findall(r'(?<![\w/.-])(?:share/doc/)?([\w-]+\.md)\b', ' '.join(page.text)))
            equal(name, sorted((said & names) - {own}), [])


def main():
    tap = harness.Tap()
    folder = os.path.join(harness.scratch(), 'site')
    missing = [command for command in ('cmark-gfm', 'mandoc') if not shutil.which(command)]
    if missing:
        with tap.test('the site'):
            raise harness.Skip('not here: {}; ./dev site installs them'.format(' '.join(missing)))
    else:
        examples = os.path.join(harness.scratch(), 'examples')
        os.makedirs(examples, exist_ok=True)
        for name in 'one.html', 'one.txt':
            with open(os.path.join(examples, name), 'w') as f:
                f.write('a report')
        harness.run([sys.executable, os.path.join(SOURCE, 'share/site/site.py'), folder, examples]).ended(0)
        judge(tap, folder)
    tap.done()


main()
