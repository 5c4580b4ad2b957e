#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the documents and man pages as a static site: ./dev site

    site.py FOLDER [EXAMPLES]

EXAMPLES is a folder of reports, NAME.html and NAME.txt, which become the site's.
Each page stands where its source stands, so that relative links hold: share/doc/io.md becomes share/doc/io.html. Markdown is turned into HTML
by cmark-gfm, man pages by mandoc. Names of documents and man pages in the text become links. No page but an example has a script; none needs a network."""
import html
import os
import posixpath
import re
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = 'share/site/'
GROUPS = (
    ('fvmpi', ('README.md', 'share/doc/tour.md', 'share/doc/tutorial.md', 'share/doc/index.md', 'share/man/index')),
    ('More', ('share/doc/others.md', 'share/doc/limits.md', 'share/doc/compatibility.md', 'CHANGES.md', 'SUPPORT.md')),
    ('Formats', ('share/fvmpi-profile-2.md', 'share/archive.md', 'share/analysis.md', 'share/format.md')),
    (
        'Developers',
        ('ARCHITECTURE.md', 'CONTRIBUTING.md', 'share/doc/decisions.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md'),
    ),
)
SHORT = {
    'share/doc/tour.md': 'Tour',
    'share/doc/tutorial.md': 'Tutorial',
    'README.md': 'Overview',
    'share/doc/index.md': 'Guides',
    'share/man/index': 'Man pages',
    'CHANGES.md': 'Changes',
}
TAG = re.compile(r'(<[^>]*>)')
NAMED = re.compile(r'(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.md\b|\b(?:fvmpi(?:-[a-z]+)?|fvunify|fvcc)\(1\)')
HREF = re.compile(r'<a href="(?![a-z]+:)([^"#]+)(#[^"]*)?">(.*?)</a>', re.S)
HEADING = re.compile(r'<h([1-4])([^>]*)>(.*?)</h\1>', re.S)

PAGE = '''<!doctype html>
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{top}site.css">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<nav aria-label="Site">{nav}</nav>
<main id="main" class="{kind}">
{body}
</main>
<footer>fvmpi {version}</footer>
</body>
</html>
'''


def read(name):
    with open(os.path.join(SOURCE, name), encoding='utf-8') as f:
        return f.read()


def output_of(command):
    return subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=True, encoding='utf-8').stdout


def listed(folder, ending):
    return sorted(
        posixpath.join(folder, n) for n in os.listdir(os.path.join(SOURCE, folder or '.')) if n.endswith(ending)
    )


def sources():
    """All documents, and the list of man pages, which has no source."""
    return (
        listed('', '.md')
        + listed('share', '.md')
        + listed('share/doc', '.md')
        + listed('share/man', '.1')
        + ['share/man/index']
    )


def address(name):
    if name == 'README.md':
        return 'index.html'
    return re.sub(r'\.md$', '', name) + '.html'


def plain(text):
    return html.unescape(TAG.sub('', text)).strip()


def slug(text):
    """The fragment that GitHub and GitLab give a heading."""
    return re.sub(r'[^\w\- ]', '', plain(text).lower()).replace(' ', '-')


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.examples = sorted(n[:-5] for n in os.listdir(folder) if n.endswith('.html')) if folder else []
        self.names = sources()
        self.version = re.search(r'#define FVMPI_VERSION +"(.*)"', read('src/fvmpi.h'))[1]
        self.bodies = {name: self.body(name) for name in self.names}

    def link(self, at, to):
        return posixpath.relpath(address(to), posixpath.dirname(address(at)) or '.')

    def meant(self, at, word):
        """The page that a word of a page names; None: none does."""
        if word.endswith('(1)'):
            name = 'share/man/' + word[:-3] + '.1'
            return name if name in self.names else None
        for folder in (posixpath.dirname(at), '', 'share/doc', 'share'):
            name = posixpath.normpath(posixpath.join(folder, word))
            if name in self.names:
                return name
        return None

    def linked(self, at, text):
        """Names of other pages become links, outside of links, headings and blocks of code."""
        out, within = [], 0
        for part in TAG.split(text):
            tag = re.match(r'<(/?)(a|pre|h1|h2|h3)\b', part)
            if tag:
                within += -1 if tag[1] else 1
            elif not part.startswith('<') and not within:
                part = NAMED.sub(lambda m: self.anchor(at, m[0]), part)
            out.append(part)
        return ''.join(out)

    def anchor(self, at, word):
        name = self.meant(at, word)
        return '<a href="{}">{}</a>'.format(self.link(at, name), word) if name and name != at else word

    def markdown(self, name):
        body = output_of(['cmark-gfm', '-e', 'table', '-e', 'autolink', name])
        body = HREF.sub(lambda m: self.anchored(name, *m.groups()), body)
        body = body.replace('<table>', '<div class="table"><table>').replace('</table>', '</table></div>')
        return body.replace('<!-- raw HTML omitted -->\n', '')

    def anchored(self, at, to, fragment, text):
        """A link of a document: to a page, or only its text if the site does not have the file."""
        name = posixpath.normpath(posixpath.join(posixpath.dirname(at), to))
        if name not in self.names:
            return text
        return '<a href="{}{}">{}</a>'.format(self.link(at, name), fragment or '', text)

    def man(self, name):
        """Its sections are below a heading of our own."""
        body = output_of(['mandoc', '-Thtml', '-Ofragment', name])
        body = re.sub(r'<table class="(?:head|foot)">.*?</table>', '', body, flags=re.S)
        body = re.sub(r'<(/?)h2\b', r'<\1h3', body)
        body = re.sub(r'<(/?)h1\b', r'<\1h2', body)
        body = re.sub(r'<a class="permalink" href="[^"]*">(.*?)</a>', r'\1', body, flags=re.S)
        body = re.sub(r'<b>([a-z-]+)</b>\(1\)', r'\1(1)', body)
        body = re.sub(r'(\s+\[FVMPI_[A-Z_]+\])</i>', r'</i>\1', body)  # mandoc drops the \fR before it
        body = re.sub(r'<i>([^<]*),\s+</i>(?=<b>--)', r'<i>\1</i>, ', body)
        return '<h1>{}(1)</h1>\n'.format(posixpath.basename(name)[:-2]) + body

    def list_of_man(self):
        rows = []
        for name in listed('share/man', '.1'):
            page = posixpath.basename(name)[:-2]
            what = re.search(r'^\.SH NAME\n.*?\\- (.*)$', read(name), re.M)[1]
            rows.append('<tr><td>{}(1)</td><td>{}</td></tr>'.format(page, html.escape(what.replace('\\-', '-'))))
        return '<h1>Man pages</h1>\n<div class="table"><table>\n{}\n</table></div>\n'.format('\n'.join(rows))

    def body(self, name):
        if name == 'share/man/index':
            text = self.list_of_man()
        else:
            text = self.man(name) if name.endswith('.1') else self.markdown(name)
        return self.with_ids(self.linked(name, text))

    def with_ids(self, body):
        taken = set(re.findall(r'\bid="([^"]*)"', body))

        def heading(match):
            if 'id=' in match[2]:
                return match[0]
            name = base = slug(match[3]) or 'section'
            number = 0
            while name in taken:
                number += 1
                name = '{}-{}'.format(base, number)
            taken.add(name)
            return '<h{0}{1} id="{2}">{3}</h{0}>'.format(match[1], match[2], name, match[3])

        return HEADING.sub(heading, body)

    def title(self, name):
        return SHORT.get(name) or plain(re.search(r'<h1[^>]*>(.*?)</h1>', self.bodies[name], re.S)[1])

    def nav(self, at):
        out = []
        for title, names in GROUPS:
            rows = ''.join(
                '<li><a href="{}"{}>{}</a></li>'.format(
                    self.link(at, n), ' aria-current="page"' if n == at else '', html.escape(self.title(n))
                )
                for n in names
                if n in self.names
            )
            out.append('<h2>{}</h2><ul>{}</ul>'.format(title, rows))
        if self.examples:
            row = '<li><a href="{0}.html">{1}</a> (<a href="{0}.txt">text</a>)</li>'
            top = '../' * address(at).count('/') + 'examples/'
            rows = ''.join(row.format(top + n, html.escape(n)) for n in self.examples)
            out.append('<h2>Examples of reports</h2><ul>{}</ul>'.format(rows))
        parts = re.findall(r'<h2[^>]* id="([^"]*)"[^>]*>(.*?)</h2>', self.bodies[at], re.S)
        if 2 < len(parts) < 40:
            rows = ''.join('<li><a href="#{}">{}</a></li>'.format(i, html.escape(plain(t))) for i, t in parts)
            out.append('<h2>On this page</h2><ul>{}</ul>'.format(rows))
        return ''.join(out)

    def page(self, name):
        title = self.title(name)
        return PAGE.format(
            title='fvmpi' if name == 'README.md' else html.escape(title) + ' - fvmpi',
            top='../' * address(name).count('/'),
            nav=self.nav(name),
            kind='man' if name.startswith('share/man/') else 'document',
            body=self.bodies[name],
            version=self.version,
        )

    def write(self, folder):
        for name in self.names:
            path = os.path.join(folder, address(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(self.page(name))
        shutil.copy(os.path.join(SOURCE, HERE, 'site.css'), folder)
        pictures = os.path.join(folder, 'share/doc/pictures')
        os.makedirs(pictures, exist_ok=True)
        for name in listed('share/doc/pictures', '.png'):
            shutil.copy(os.path.join(SOURCE, name), pictures)
        if self.examples:
            shutil.copytree(self.folder, os.path.join(folder, 'examples'))


def main(folder, examples=None):
    for command in ('cmark-gfm', 'mandoc'):
        if not shutil.which(command):
            sys.exit('site: {0}: not found; install the package {0}'.format(command))
    shutil.rmtree(folder, ignore_errors=True)
    Site(examples).write(folder)


main(*sys.argv[1:])
