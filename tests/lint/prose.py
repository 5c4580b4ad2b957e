#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of documents: how long they are, and words that share/doc/style.md rules out.

    prose.py FILE...    a line a file: its words, its sentences, their mean, 90th percentile and most of words, share of those above 25; then what is wrong

A sentence ends with . ! or ?, with a cell of a table, an item of a list, or a blank line. Code, headings and lists of options are left out."""
import re
import sys

LONG = 25  # words
MEAN_MOST = 15
LONG_MOST = 0.1  # of the sentences of a document
FORBIDDEN = re.compile(  # "pieces of rank files could not be had" is what scripts look for
    r'\b(told|meanwhile|dear|likewise|for want of|of before|(?<!rank file )(?<!rank files )(can|could|to) (not )?be had)\b',
    re.I,
)
BLOCK = re.compile(r'\n\s*\n|\n(?=[-*|#] )|\n(?=\|)|\n(?= *\d+\. )|\n(?= +[-*] )')
END = re.compile(r'(?<=[.!?])["\')*`]*\s+')


def plain(text):
    """Without code, pictures, and what `links` lead to; a man page without its macros."""
    text = re.sub(r'^```.*?^```', '\n', text, flags=re.S | re.M)
    text = re.sub(r'^(?: {4}|\t).*$', '\n', text, flags=re.M)
    if text.startswith('.') or '\n.TH ' in text:
        text = re.sub(r'^\.\\".*$', '', text, flags=re.M)
        text = re.sub(r'^\.(?:nf|EX)$.*?^\.(?:fi|EE)$', '\n', text, flags=re.S | re.M)
        text = re.sub(r'^\.(?:TP|PP|SH|SS|IP|TH|RS|RE|so|ad|hy|nh|br|TS|TE).*$', '\n', text, flags=re.M)
        text = re.sub(r'^\.(?:BR?|IR?|RB|RI|BI|IB) ', '', text, flags=re.M).replace('\\-', '-').replace('\\&', '')
    text = re.sub(r'`[^`\n]*`', 'code', text)
    return re.sub(r'!?\[([^]]*)\]\([^)]*\)', r'\1', text)


def sentences(text):
    for block in BLOCK.split(plain(text)):
        block = ' '.join(block.split())
        if not block or block.startswith('#'):
            continue
        for cell in block.strip('|').split('|') if block.startswith('|') else [block]:
            for sentence in END.split(cell.strip()):
                if len(sentence.split()) > 2:
                    yield sentence


def measure(name):
    """(words of each sentence, sorted; share of long ones; what is wrong)"""
    with open(name) as f:
        said = list(sentences(f.read()))
    words = sorted(len(s.split()) for s in said) or [0]
    mean, part = sum(words) / len(words), sum(n > LONG for n in words) / len(words)
    wrong = ['"{}": {}'.format(FORBIDDEN.search(s)[0], s) for s in said if FORBIDDEN.search(s)]
    if mean > MEAN_MOST:
        wrong.append('{:.1f} words a sentence, at most {}'.format(mean, MEAN_MOST))
    if part > LONG_MOST:
        wrong.append('{:.0%} of the sentences have more than {} words'.format(part, LONG))
        wrong += ['{} words: {}'.format(len(s.split()), s) for s in said if len(s.split()) > LONG]
    return words, part, wrong


def main():
    for name in sys.argv[1:]:
        words, part, wrong = measure(name)
        with open(name) as f:
            print(
                '{:36} {:6} words, {:5} sentences, mean {:4.1f}, p90 {:3}, most {:3}, above 25: {:3.0%}'.format(
                    name,
                    len(f.read().split()),
                    len(words),
                    sum(words) / len(words),
                    words[int(0.9 * len(words))],
                    words[-1],
                    part,
                )
            )
        print(''.join('    {}\n'.format(w) for w in wrong), end='')


if __name__ == '__main__':
    main()
