#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sentences in string literals of the sources: what users read in messages, --help and reports, measured as prose.py measures documents.

    strings.py FILE...    a line a sentence: file, line, words, text

Adjacent literals are one text; a macro between them, such as PRIu64, is a word of it. A text of four words or more is a sentence.
It ends with . ! or ?, or with the line that it prints."""
import os
import re
import sys

import prose

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|\\?\n|[^\S\n]+|\w+|.', re.S)
MACRO = re.compile(r'[A-Z_][A-Z_0-9a-z]*')
WORD = re.compile(r'[A-Za-z]')
WORDS_LEAST = 4
WORDS_MOST = 30
ESCAPES = {'n': '\n', 't': '\n', 'r': '\n', '"': '"', '\\': '\\', "'": "'", '?': '?', '\n': ''}
STYLE = re.compile(r'\x1b\[[0-9;]*[a-zA-Z]')
# People are "who", and a subject stands in front.
FORBIDDEN = re.compile(
    r'(?i:' + prose.FORBIDDEN.pattern + r')|\b(whoever|whomever|nobody)\b|^[Ww]ho\b|^Of [^,:.]*[,:] '
)
# A line goes on in the next one: in a paragraph, or behind the name of an option.
GOES_ON = re.compile(r'(?<=[^.:!?\n])\n(?: {10,})?(?=[a-z(])')
HEAD = re.compile(r'^ *(?:-\w, )?--?[a-zA-Z][^ ]*(?: [^ ]+)? {2,}')


# In scripts: comments, which are passed by, and literals; of a page, what is between tags.
SCRIPTS = {
    '.js': re.compile(r'//[^\n]*|/\*.*?\*/|(`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')', re.S),
    '.py': re.compile(r'#[^\n]*|(""".*?"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')', re.S),
    '.html': re.compile(r'<(?:script|style).*?</|(>[^<]+<)', re.S),
}


def unescape(literal):
    """What a literal prints."""

    def char(m):
        return '\x1b' if m[1] in ('033', 'x1b', 'e') else ESCAPES.get(m[1], ' ')

    return STYLE.sub('', re.sub(r'\\([0-7]{1,3}|x[0-9a-fA-F]+|.)', char, literal[1:-1], flags=re.S))


def texts(source):
    """(line, text): literals that the compiler joins are one text."""
    line, at, said, between = 1, 0, [], ''
    for token in TOKEN.findall(source):
        if token[0] == '"':
            if said and between:
                said.append(' ' + between + ' ' if len(between) > 1 else '')
            if not said:
                at = line
            said.append(unescape(token))
            between = ''
        elif said and not token.isspace() and not token.startswith(('//', '/*', '\\\n')):
            if between or not MACRO.fullmatch(token):
                yield at, ''.join(said)
                said, between = [], ''
            else:
                between = token
        line += token.count('\n')
    if said:
        yield at, ''.join(said)


def script_texts(source, literals):
    """(line, text) of a script's literals, each by itself: what stands in a template's ${...} is a word."""
    for m in literals.finditer(source):
        if m[1]:
            text = re.sub(r'\$\{[^}]*\}|<[^>]*>', '%s', m[1].strip('"') if m[1].startswith('"""') else m[1][1:-1])
            yield source.count('\n', 0, m.start()) + 1, re.sub(r'\n(?! *\n)(?! *\w+  )', ' ', text)


def sentences(source, literals=None):
    """(line, words, sentence) of the texts that are sentences. `literals`: of SCRIPTS; None: it is C."""
    source = re.sub(r'^[^\S\n]*#[^\S\n]*include.*$', '', source, flags=re.M)
    for line, text in script_texts(source, literals) if literals else texts(source):
        for printed in GOES_ON.sub(' ', text).split('\n'):
            for sentence in prose.END.split(HEAD.sub('', printed).strip()):
                sentence = ' '.join(sentence.split())
                words = [w for w in sentence.split() if WORD.search(w)]
                if sum(not w.startswith('%') for w in words) >= WORDS_LEAST:
                    yield line, len(words), sentence


def measure(name):
    """(words of each sentence, what is wrong)"""
    with open(name, encoding='utf-8') as f:
        said = list(sentences(f.read(), SCRIPTS.get(os.path.splitext(name)[1])))
    wrong = ['{}: "{}": {}'.format(n, FORBIDDEN.search(s)[0], s) for n, _, s in said if FORBIDDEN.search(s)]
    wrong += ['{}: {} words: {}'.format(n, words, s) for n, words, s in said if words > WORDS_MOST]
    return [words for _, words, _ in said], wrong


def main():
    for name in sys.argv[1:]:
        with open(name, encoding='utf-8') as f:
            for line, words, sentence in sentences(f.read(), SCRIPTS.get(os.path.splitext(name)[1])):
                print('{}:{}: {}: {}'.format(name, line, words, sentence))


if __name__ == '__main__':
    main()
