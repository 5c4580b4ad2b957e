#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""embed.py DIRECTORY PAGE.html FILE.h: a page's files as two C arrays, before and behind the run's data; of a page that
has no place for data, such as live.html, as one, and its policy as a string. Scripts and styles stand in the page
itself, and its content security policy names them by their hashes: nothing else of it is run, and nothing is
fetched. "<!-- library NAME -->" stands for a library of others, share/vendor/NAME, with its licence. The first line of a
script says in which pages it is. Their order means nothing: a script uses the others only
when all have run."""
import base64
import hashlib
import os
import re
import sys


def read(directory, name):
    with open(os.path.join(directory, name), encoding='utf-8') as f:
        return f.read()


def scripts(directory, page):
    """Of the page: '/* In page.html, live.html. */'."""
    for name in sorted(os.listdir(directory)):
        if name.endswith('.js'):
            text = read(directory, name)
            pages = re.match(r'/\* In (.*)\. \*/\n', text)
            if not pages:
                sys.exit('{}: its first line does not say in which pages it is, as /* In page.html. */'.format(name))
            if page in pages[1].split(', '):
                yield text


def put_libraries(directory, page):
    """The page with the libraries that it names, their styles and their scripts."""
    styles, scripts = [], []

    def put(match):
        name = match[1]
        folder = os.path.join(directory, '..', 'vendor', name)
        # A comment of HTML must not have two dashes.
        licence = read(folder, 'LICENSE').strip().replace('--', '- -')
        styles.append(read(folder, name + '.css'))
        scripts.append(read(folder, name + '.js'))
        return '<!-- {}:\n{}\n-->\n<style>{}</style>\n<script>{}</script>\n'.format(
            name, licence, styles[-1], scripts[-1]
        )

    return re.sub(r'<!-- library (\S+) -->\n', put, page), styles, scripts


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def array(name, text):
    data = text.encode()
    rows = [', '.join(map(str, data[i : i + 24])) for i in range(0, len(data), 24)]
    return 'static const unsigned char {0}[] = {{\n    {1}\n}};\nstatic const size_t {0}_bytes = sizeof({0});\n'.format(
        name, ',\n    '.join(rows)
    )


def main(directory, name, header):
    page = read(directory, name)
    style = '\n' + read(directory, 'page.css')
    script = '\n"use strict";\n' + ''.join(scripts(directory, name))
    page, styles, others = put_libraries(directory, page)
    page = page.replace('<!-- style -->', '<style>' + style + '</style>')
    page = page.replace('<!-- scripts -->', '<script>' + script + '</script>')
    page = page.replace('STYLE_HASH', ' '.join(map(digest, styles + [style])))
    page = page.replace('SCRIPT_HASH', ' '.join(map(digest, others + [script])))
    os.makedirs(os.path.dirname(header), exist_ok=True)
    if '<!-- data -->' in page:
        head, tail = page.split('<!-- data -->\n')
        arrays = array('fv_page_head', head) + '\n' + array('fv_page_tail', tail)
    else:
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
        stem = 'fv_' + name[: -len('.html')]
        arrays = (
            array(stem + '_page', page)
            + '\nstatic const char '
            + stem
            + '_policy[] = "'
            + policy
            + "; frame-ancestors 'none'\";\n"
        )
    with open(header, 'w', encoding='ascii') as f:
        f.write(
            '/* Made by embed.py of share/page. */\n/* SPDX-'
            'License-Identifier: BSD-3-Clause */\n#include <stddef.h>\n\n' + arrays
        )


main(*sys.argv[1:])
