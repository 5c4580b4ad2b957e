#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Records of the rank file are described by their headers alone: share/format.md is made of them, and what
src/trace/gen_records.py cannot read ends the build with one line that says where."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

SHARE, TRACE = os.path.join(harness.SOURCE, 'share'), os.path.join(harness.SOURCE, 'src', 'trace')
HEADERS = [name for name in sorted(glob.glob(os.path.join(TRACE, 'format*.h'))) if not name.endswith('_words.h')]
ROW = '    FV_CHUNK_MODULES = 1, '
# What is put in front of a line of format.h, or in place of it, and what is said.
WRONG = (
    (
        'field without comment',
        '    uint32_t main; ',
        '    uint32_t odd;\n',
        'fv_thread_record.odd has neither a comment nor a unit',
    ),
    (
        'array of unknown length',
        '    char text[]; ',
        '    uint64_t odd[]; /* odd */\n',
        'fv_label_record.odd: nothing says how many there are; begin its comment with [count FIELD]',
    ),
    (
        'count of no field',
        '    uint32_t main; ',
        '    uint64_t odd[4]; /* [count even] odd */\n',
        'fv_thread_record.odd: even is no unsigned field beside it',
    ),
    (
        'type that is not known',
        '    uint32_t main; ',
        '    float odd; /* odd */\n',
        'fv_thread_record.odd: fields of type float are not known',
    ),
    (
        'pointer',
        '    uint32_t main; ',
        '    char *odd; /* odd */\n',
        'struct fv_thread_record: cannot read: char *odd;',
    ),
    (
        'tag that is none',
        '    uint32_t main; ',
        '    uint32_t odd; /* [furlongs] odd */\n',
        'fv_thread_record.odd: [furlongs] is no tag',
    ),
    (
        'enumeration that is none',
        '    uint32_t main; ',
        '    uint32_t odd; /* [enum fv_odd] */\n',
        'no header of the format has enum fv_odd',
    ),
    (
        'row without record',
        ROW,
        '    FV_CHUNK_ODD = 7777, /* odd */\n',
        'FV_CHUNK_ODD: its comment does not begin with [record, process or thread, ...] and what it is',
    ),
    (
        'row without struct',
        ROW,
        '    FV_CHUNK_ODD = 7777, /* [fv_odd, thread] odd */\n',
        'FV_CHUNK_ODD: no header of the format has struct fv_odd',
    ),
    (
        'number that is taken',
        ROW,
        '    FV_CHUNK_ODD = 2, /* [fv_cell, thread] odd */\n',
        '= 2: another type has that number',
    ),
)


def generated(headers):
    out = harness.scratch('out')
    return harness.run([sys.executable, os.path.join(TRACE, 'gen_records.py'), out] + headers)


def main():
    tap = harness.Tap()
    with tap.test('share/format.md is up to date'):
        copy = os.path.join(harness.scratch('docs'), 'format.md')
        shutil.copy(os.path.join(SHARE, 'format.md'), copy)
        records = harness.run([harness.FVMPI, 'dump', '--records']).ended(0).out
        subprocess.run([sys.executable, os.path.join(SHARE, 'tables.py'), copy], input=records.encode(), check=True)
        with open(copy) as new, open(os.path.join(SHARE, 'format.md')) as old:
            check(new.read() == old.read(), 'share/format.md does not say what the tools say; ./dev docs')
    with tap.test('the size of each record is checked'):
        text = ''.join(open(name).read() for name in HEADERS)
        for record in re.findall(r'^    FV_CHUNK_\w+ = \d+, */\* \[(fv_\w+)', text, re.M):
            check(
                '_Static_assert(sizeof(struct {}) =='.format(record) in text, 'struct {} has no _Static_assert', record
            )
    generated(HEADERS).ended(0)
    texts = {}
    for name in HEADERS:
        with open(name) as f:
            texts[name] = f.read()
    for what, before, line, said in WRONG:
        with tap.test('refused in one line: ' + what):
            having = [name for name in HEADERS if texts[name].count('\n' + before) == 1]
            check(len(having) == 1, 'not one header has a line that begins with: {}', before)
            odd = os.path.join(harness.scratch('odd'), os.path.basename(having[0]))
            with open(odd, 'w') as f:
                f.write(texts[having[0]].replace('\n' + before, '\n' + line + before))
            run = generated([odd] + [name for name in HEADERS if name != having[0]])
            check(run.rc == 1 and run.err.startswith('gen_records.py: ') and said in run.err, '{}: {}', run.rc, run.err)
            equal('lines', run.err.count('\n'), 1)
    tap.done()


main()
