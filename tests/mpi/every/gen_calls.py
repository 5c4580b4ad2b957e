#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generates a program that calls every function of mpi-api.tbl once or twice, from calls.tbl (which
explains itself), in one binding of MPI.

    gen_calls.py BINDING HAVE OUT     BINDING: c mpif usempi f08; HAVE: a file that names the functions that
                                      this binding of this MPI has, one a line; OUT: the program
    gen_calls.py --names BINDING      the functions to look for

Prints `called N`, `skipped N` and `missing N`; `skip NAME: reason` for each one skipped. Status 1: the
tables are wrong, or a function that this MPI has is neither called nor skipped with a reason.

A block of the table becomes two procedures. The first takes every status and, in mpi_f08, every error
code; the second passes MPI_STATUS_IGNORE and, in mpi_f08, no ierror. Types of variables follow from the
parameters that they are passed for. What was not chosen: a row of defaults per kind of argument, from which
a call of any function could be made without a line here. Most calls only mean something between others.
Standard library only."""
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), 'mpi-wrappers'))
import gen

BINDINGS = ('c', 'mpif', 'usempi', 'f08')
LOGICALS = {'flag', 'commute', 'reorder', 'periods', 'remain_dims', 'weighted', 'high'}
# MPI-1 functions whose addresses are default INTEGERs in Fortran
OLD = {'MPI_' + n for n in 'Address Type_extent Type_lb Type_ub Type_hindexed Type_hvector Type_struct'.split()}
OLD_ATTRIBUTES = {'MPI_Attr_put', 'MPI_Attr_get', 'MPI_Keyval_create'}
NULL = {'Datatype': 'MPI_DATATYPE_NULL'}
NUMBERS = {
    'int': ('int', 'integer'),
    'logical': ('int', 'logical'),
    'keyval': ('int', 'integer'),
    'count': ('MPI_Count', 'integer(MPI_COUNT_KIND)'),
    'aint': ('MPI_Aint', 'integer(MPI_ADDRESS_KIND)'),
    'offset': ('MPI_Offset', 'integer(MPI_OFFSET_KIND)'),
}
CORES = {'int': 'int', 'MPI_Count': 'count', 'MPI_Aint': 'aint', 'MPI_Offset': 'offset'}
WORD = re.compile(r'"[^"]*"|\{[^}]*\}|\S+')
NAME = re.compile(r'\b[A-Za-z_]\w*')
GLOBALS = {'rank', 'peer'}
ELEMENTS = 8


class TableError(Exception):
    pass


# ---- the table


class Line:
    """One statement of a block: a call, or `set` or `raw`."""

    def __init__(self, words, number):
        self.number, self.rank, self.may_fail, self.until, self.only = number, None, False, None, None
        words = list(words)
        while True:
            if words[0] in ('@0', '@1'):
                self.rank = int(words.pop(0)[1])
            elif words[0] == '!':
                self.may_fail = bool(words.pop(0))
            elif words[0] == 'until':
                self.until, words = words[1], words[2:]
            elif words[0].endswith(':'):
                self.only = words.pop(0)[:-1].split(',')
            else:
                break
        self.name, self.words = words[0], words[1:]

    def is_for(self, binding):
        if not self.only:
            return True
        groups = {binding, 'f' if binding != 'c' else '', 'f77' if binding in ('mpif', 'usempi') else ''}
        return bool(groups & set(self.only))


class Block:
    def __init__(self, name, options, lines, large=False):
        self.name, self.options, self.lines, self.large = name, options, lines, large


class Table:
    def __init__(self, path):
        self.blocks, self.skips, self.around = [], {}, {}
        for number, text, body in rows(path):
            words = text.split()
            if words[0] == 'skip':
                names, _, reason = text[5:].partition(': ')
                self.skips.update({n: reason.strip() for n in names.split()})
            elif words[0] == 'around':
                self.around[words[1]] = body
            elif words[0] == 'coll':
                self.collective(words, text, number)
            elif words[0] == 'block':
                self.block(words, body)
            else:
                raise TableError('%d: block, coll, around or skip wanted' % number)

    def add(self, name, options, body):
        body = [(n, t) for n, t in body]
        for option in options:
            if option.startswith('on='):
                before = self.around[option[3:]]
                cut = [t for _, t in before].index('...')
                body = before[:cut] + body + before[cut + 1 :]
        lines = [Line(WORD.findall(t), n) for n, t in body]
        if any(b.name == name for b in self.blocks):
            name += '_%d' % len(self.blocks)
        self.blocks.append(Block(name, options, lines))

    def block(self, words, body):
        name, options = words[1], words[2:]
        if 'each' not in options:
            return self.add(name, options, body)
        at = options.index('each')
        for word in options[at + 1 :]:
            self.add(
                name + '_' + word,
                [o.replace('$', word) for o in options[:at]],
                [(n, t.replace('$', word)) for n, t in body],
            )

    def collective(self, words, text, number):
        """Blocking, non-blocking and persistent."""
        options = [w for w in words[1:] if w.startswith('on=')]
        words = WORD.findall(text)[1 + len(options) :]
        name, args = words[0], ' '.join(words[1:])
        posted = 'MPI_I' + name[0].lower() + name[1:]
        wait = [(number, 'MPI_Wait r s~')]
        self.add(name, options, [(number, 'MPI_%s %s' % (name, args))])
        self.add('I' + name, options, [(number, '%s %s r' % (posted, args))] + wait)
        self.add(
            name + '_init',
            options,
            [(number, 'MPI_%s_init %s INFO_NULL r' % (name, args)), (number, 'MPI_Start r')]
            + wait
            + [(number, 'MPI_Start r')]
            + wait
            + [(number, 'MPI_Request_free r')],
        )


def role_of(block):
    return next((o[4:] for o in block.options if o.startswith('run=')), None)


def rows(path):
    """(number, text, [(number, indented line)...])"""
    out = []
    with open(path, encoding='ascii') as f:
        for number, text in enumerate(f, 1):
            text = text.rstrip()
            if not text or text.lstrip().startswith('#'):
                continue
            if text[0] == ' ':
                out[-1][2].append((number, text.strip()))
            else:
                out.append((number, text, []))
    return out


# ---- types


class Type:
    """What a parameter is: what (buf, string, status, int, Comm, ...), is_array, is_out, by_reference in C."""

    def __init__(self, function, p):
        small = function[:-2] if function.endswith('_c') else function
        core = re.sub(r'const\b|\*|@.*', '', p.c_type).strip()
        self.is_array = '[' in p.c_type
        self.is_out = p.kind.endswith('_OUT') or p.kind == 'REQUESTS'
        self.by_reference = p.c_type.rstrip().endswith('*') and not self.is_array
        self.large = core in ('MPI_Count',)
        if p.kind in ('BUFFER', 'CBUFFER'):
            self.what, self.by_reference = 'buf', False
        elif p.kind == 'STATE':
            self.state(small, p.name)
        elif p.kind in ('STRING', 'STRING_OUT'):
            self.what, self.by_reference = 'string', False
        elif p.kind in ('STRINGS', 'STRINGSS', 'ARGC', 'ARGV', 'LEVEL') or p.kind.startswith('FUNCTION'):
            self.what, self.by_reference = ('int' if p.kind == 'LEVEL' else 'raw'), False
        elif p.kind in ('KEYVAL', 'KEYVAL_OUT'):
            self.what = 'keyval'
        elif core in CORES:
            self.what = 'logical' if p.name in LOGICALS else CORES[core]
            if small in OLD and self.what == 'aint':
                self.what = 'old'
        elif core == 'MPI_Status':
            self.what = 'status'
        else:
            self.what = core[4:]
        self.is_ranges = p.kind == 'RANGES'

    def state(self, function, name):
        self.by_reference = False
        if name in ('baseptr', 'buffer_addr'):
            self.what, self.by_reference = 'ptr', True
        else:
            self.what = 'old_attr' if function in OLD_ATTRIBUTES else 'attr'
            self.by_reference = self.is_out = function.endswith(('get_attr', 'Attr_get'))


# ---- emission


class Emitter:
    """What C and Fortran have in common: walks over blocks, infers variables."""

    def __init__(self, api, table, have, binding):
        self.functions = {f.name: f for f in api.functions}
        self.table, self.have, self.binding = table, have, binding
        self.called, self.out, self.procedures = [], [], []
        self.last, self.roles = [], collections.defaultdict(list)

    def blocks(self):
        for block in self.table.blocks:
            yield block
            has_large = not role_of(block) and any(
                self.functions.get(l.name) and self.functions[l.name].large for l in block.lines
            )
            if has_large and self.binding in ('c', 'f08'):
                yield Block(block.name + '_large', block.options, block.lines, True)

    def function(self, block, line):
        f = self.functions.get(line.name)
        if not f:
            raise TableError('%d: %s: not in mpi-api.tbl' % (line.number, line.name))
        return self.functions[line.name + '_c'] if block.large and f.large else f

    def calls_of(self, block):
        return [
            self.function(block, l).name for l in block.lines if l.name.startswith('MPI_') and l.is_for(self.binding)
        ]

    def wanted(self, block):
        only = [o[5:].split(',') for o in block.options if o.startswith('only=')]
        if only and not Line(['%s:' % ','.join(only[0]), 'x'], 0).is_for(self.binding):
            return False
        names = self.calls_of(block)
        return all(n in self.have for n in names) and (not block.large or any(n.endswith('_c') for n in names))

    def run(self):
        for block in self.blocks():
            if not self.wanted(block):
                continue
            once = {'once', 'first', 'last'} & set(block.options) or role_of(block)
            for n in (1,) if once else (1, 2):
                self.procedure(block, n)

    def number(self, name):
        if name not in self.called:
            self.called.append(name)
        return self.called.index(name)

    def parameters(self, block, line):
        f = self.function(block, line)
        params = [p for p in f.params if p.kind != 'ANY' and (self.binding == 'c' or p.kind not in ('ARGC', 'ARGV'))]
        if self.binding != 'c' and f.name == 'MPI_Info_create_env':
            params = params[2:]
        words = [w for w in line.words if f.is_large or not w.startswith('L:')]
        words = [w[2:] if w.startswith('L:') else w for w in words]
        if self.binding != 'c' and len(words) > len(params):
            words = words[len(words) - len(params) :]
        if len(words) != len(params):
            raise TableError('%d: %s takes %s' % (line.number, f.name, ' '.join(p.name for p in params)))
        return f, [(p, Type(f.name, p), w) for p, w in zip(params, words)]

    def variables(self, block):
        """{name: (what, is_array)} by the first parameter that each is passed for; quiet: not to be printed."""
        found, quiet = {}, set()
        for line in block.lines:
            if not line.name.startswith('MPI_') or not line.is_for(self.binding):
                continue
            for _, t, word in self.parameters(block, line)[1]:
                bare = word.rstrip('~!')
                if '~' in word:
                    quiet.add(bare)
                if bare[:1] in '"{`' or t.what == 'raw':
                    if bare[:1] != '{':
                        continue
                    inner = NAME.findall(bare)
                    found.update(
                        {n: (t.what, False) for n in inner if n.islower() and n not in GLOBALS and n not in found}
                    )
                    continue
                m = re.match(r'\*?([a-z]\w*)(\[|\+|$)', bare)
                if not m or m.group(1) in GLOBALS or not m.group(1).islower():
                    continue
                name = m.group(1)
                if bare.startswith('*'):
                    found.setdefault(name, ('ptr', False))
                else:
                    found.setdefault(name, (t.what, t.is_array or m.group(2) == '['))
        return found, quiet

    def procedure(self, block, n):
        name = 'b_%s_%d' % (block.name, n)
        kinds, quiet = self.variables(block)
        self.lists, self.second, body = [], n == 2, []
        for line in block.lines:
            if not line.is_for(self.binding):
                continue
            if line.name == 'raw':
                piece = [' '.join(line.words)]
            elif line.name == 'needs':
                piece = [self.unless % line.words[0]]
            elif line.name == 'set':
                piece = ['%s = %s%s' % (line.words[0], line.words[1], self.end)]
            else:
                piece = self.call(block, line, quiet)
            body += self.on_rank(line.rank, piece)
        self.define(name, kinds, body, [v for v in kinds if kinds[v][0] == 'buf' and v not in quiet])
        (
            self.roles[role_of(block)] if role_of(block) else self.last if 'last' in block.options else self.procedures
        ).append(name)

    def call_back(self, name):
        if name.isupper():
            return 'MPI_' + name
        return name + ('_c' if self.is_large and name in ('user_op', 'conversion_fn') else '')

    def status(self, word):
        return self.second and not word.endswith('!')


class C(Emitter):
    end, unless = ';', 'if (!%s) return;'

    def on_rank(self, rank, piece):
        return piece if rank is None else ['if (rank == %d) {' % rank] + piece + ['}']

    def expression(self, text):
        def one(m):
            word = m.group(0)
            return 'MPI_' + word if word.isupper() or word[:1].isupper() else word

        return NAME.sub(one, text)

    def argument(self, t, word):
        bare = word.rstrip('~!')
        if bare.startswith('`'):
            return bare.strip('`')
        if t.what == 'raw':
            return self.call_back(bare)
        if bare.startswith('"'):
            return bare
        if bare.startswith('*'):
            return bare[1:]
        if bare.startswith('{'):
            name = 'list%d' % len(self.lists)
            core = NUMBERS[t.what][0] if t.what in NUMBERS else 'MPI_Aint' if t.what == 'old' else 'MPI_' + t.what
            values = self.expression(bare[1:-1]).split(',')
            self.lists.append('%s %s[%s%d];' % (core, name, '1][' if t.is_ranges else '', len(values)))
            self.before += ['%s%s[%d] = %s;' % (name, '[0]' if t.is_ranges else '', i, v) for i, v in enumerate(values)]
            return name
        if t.what == 'status' and not bare.isupper():
            if self.status(word) and t.is_out:
                return 'MPI_STATUSES_IGNORE' if t.is_array else 'MPI_STATUS_IGNORE'
        text = self.expression(bare)
        if t.what in ('attr', 'old_attr') and not t.by_reference:
            return '(void *)(intptr_t)%s' % text
        if t.by_reference and not bare.isupper():
            return '&' + text
        return text

    def call(self, block, line, quiet):
        f, params = self.parameters(block, line)
        self.is_large, self.before = f.is_large, []
        args = [self.argument(t, w) for _, t, w in params]
        out = self.before + ['calls[%d]++;' % self.number(f.name), 'rc = %s(%s);' % (f.name, ', '.join(args))]
        if line.until:
            out = ['do {'] + out + ['} while (!%s);' % line.until]
        out.append('out_call("%s%s", rc);' % ('! ' if line.may_fail else '', f.name))
        for (p, t, w), a in zip(params, args):
            if t.is_out and '~' not in w and w[0] not in '`{"*' and not a.startswith('MPI_'):
                out += self.show(p.name, t, w.rstrip('~!'))
        return out + ['out_end();']

    def show(self, label, t, v):
        if t.what == 'status':
            return ['out_status("%s", %s, %s);' % (label, v if t.is_array else '&' + v, 4 if t.is_array else 1)]
        if t.what == 'string':
            return ['out_string("%s", %s);' % (label, v)]
        if t.what == 'ptr':
            return []
        if t.what == 'keyval':
            return ['out_int("%s", %s != MPI_KEYVAL_INVALID);' % (label, v)]
        if t.what in NUMBERS or t.what == 'old':
            return (
                ['for (int k = 0; k < %d; k++) out_int("%s", (long long)%s[k]);' % (ELEMENTS, label, v)]
                if t.is_array
                else ['out_int("%s", (long long)%s);' % (label, v)]
            )
        if t.what in ('attr', 'old_attr'):
            return ['out_int("%s", (long long)(intptr_t)%s);' % (label, v)]
        null = 'MPI_%s_NULL' % t.what.upper()
        if t.is_array:
            return ['for (int k = 0; k < 4; k++) out_int("%s", %s[k] != %s);' % (label, v, null)]
        return ['out_int("%s", %s != %s);' % (label, v, null)]

    def declare(self, name, what, is_array):
        if what == 'buf':
            return ['int %s[INTS];' % name, 'fill(%s, \'%s\');' % (name, name[0])]
        if what == 'string':
            return ['char %s[8192] = "";' % name]
        if what == 'ptr' or what in ('attr', 'old_attr'):
            return ['void *%s = NULL;' % name]
        if what == 'status':
            return [
                'MPI_Status %s%s;' % (name, '[4]' if is_array else ''),
                'memset(&%s, 17, sizeof %s);' % (name, name),
            ]
        if what in NUMBERS or what == 'old':
            core = NUMBERS[what][0] if what in NUMBERS else 'MPI_Aint'
            if is_array:
                return ['%s %s[%d] = { %s };' % (core, name, ELEMENTS, ', '.join(['-7'] * ELEMENTS))]
            return ['%s %s = -7;' % (core, name)]
        null = 'MPI_%s_NULL' % what.upper()
        return ['MPI_%s %s%s;' % (what, name, ' = ' + null if not is_array else '[4] = { %s }' % ', '.join([null] * 4))]

    def define(self, name, kinds, body, buffers):
        out = ['static void %s(void)' % name, '{', 'int rc;', 'out_block("%s");' % name[2:]]
        for v, (what, is_array) in kinds.items():
            out += self.declare(v, what, is_array)
        out += self.lists + body
        out += ['out_buffer("%s", %s);' % (v, v) for v in buffers] + ['(void)rc;', '}', '']
        self.out += out

    def text(self):
        names = [
            'const char *const names[] = { %s, NULL };' % ', '.join('"%s"' % n for n in self.called),
            'int calls[%d];' % (len(self.called) + 1),
        ]
        main = [
            'int main(int argc, char **argv)',
            '{',
            'role = argc > 1 ? argv[1] : "";',
            'about = argc > 2 ? argv[2] : "";',
            'find_role(argv[0]);',
        ]
        for role, procedures in [('', self.procedures + self.last)] + sorted(self.roles.items()):
            main += ['if (!strcmp(role, "%s")) {' % role] + ['%s();' % p for p in procedures] + ['}']
        main += ['out_close(calls, names);', 'return 0;', '}']
        with open(os.path.join(HERE, 'every.h'), encoding='ascii') as f:
            head = f.read()
        return head + '\n'.join(names + [''] + self.out + main) + '\n'


class Fortran(Emitter):
    end, unless = '', 'if (%s == 0) return'

    def on_rank(self, rank, piece):
        return piece if rank is None else ['if (rank == %d) then' % rank] + piece + ['end if']

    def expression(self, text):
        def one(m):
            word = m.group(0)
            if word in ('INT', 'CHAR'):
                return {'INT': 'MPI_INTEGER', 'CHAR': 'MPI_CHARACTER'}[word]
            return 'MPI_' + word if word.isupper() or word[:1].isupper() else word

        return NAME.sub(one, text)

    def value(self, t, text):
        """Of the parameter's kind."""
        text = self.expression(text)
        if t.what == 'logical':
            return {'0': '.false.', '1': '.true.'}.get(text) or '(%s) /= 0' % text
        if t.what in ('count', 'aint', 'offset', 'attr'):
            kind = {'count': 'COUNT', 'aint': 'ADDRESS', 'offset': 'OFFSET', 'attr': 'ADDRESS'}[t.what]
            return 'int(%s, MPI_%s_KIND)' % (text, kind)
        return text

    def argument(self, t, word):
        bare = word.rstrip('~!')
        if bare.startswith('`'):
            return bare.strip('`')
        if t.what == 'raw':
            return self.call_back(bare)
        if bare.startswith('"'):
            return "'%s'" % bare[1:-1]
        if bare.startswith('*'):
            self.before.append('call c_f_pointer(transfer(%s, c_null_ptr), memory, [16])' % bare[1:])
            return 'memory'
        if bare.startswith('{'):
            name = 'list%d' % len(self.lists)
            values = [self.value(t, v.strip()) for v in bare[1:-1].split(',')]
            of = self.type(t.what)
            self.lists.append(('%s, asynchronous :: %s(%s)' % (of, name, '3, 1' if t.is_ranges else len(values)), ''))
            self.before += [
                '%s(%d%s) = %s' % (name, i + 1, ', 1' if t.is_ranges else '', v) for i, v in enumerate(values)
            ]
            return name
        if t.what == 'status' and not bare.isupper() and self.status(word) and t.is_out:
            return 'MPI_STATUSES_IGNORE' if t.is_array else 'MPI_STATUS_IGNORE'
        if t.what == 'buf':
            m = re.match(r'(\w+)\+(\d+)$', bare)
            return '%s(%d)' % (m.group(1), int(m.group(2)) + 1) if m else self.expression(bare)
        m = re.match(r'(\w+)\[(\d+)\]$', bare)
        if m:
            return '%s(%d)' % (m.group(1), int(m.group(2)) + 1)
        if bare.islower() and bare not in GLOBALS and not bare.isdigit() and bare[0].isalpha() and '*' not in bare:
            return bare
        if t.by_reference or t.is_array:
            return self.expression(bare)
        return self.value(t, bare)

    def call(self, block, line, quiet):
        f, params = self.parameters(block, line)
        self.is_large, self.before = f.is_large, []
        args = [self.argument(t, w) for _, t, w in params]
        n = self.number(f.name) + 1
        shown = f.name[:-2] if f.is_large else f.name
        with_code = not (self.second and self.binding == 'f08')
        given = args + (['ierr'] if with_code and f.name != 'MPI_Pcontrol' else [])
        out = self.before + [
            'calls(%d) = calls(%d) + 1' % (n, n),
            'ierr = %d' % (-7 if with_code else 0),
            'call %s(%s)' % (shown, ', '.join(given)),
        ]
        if f.name == 'MPI_Pcontrol':
            out.append('ierr = 0')
        if line.until:
            kind = next(t.what for _, t, w in params if w.rstrip('~!') == line.until)
            out = (
                ['do'] + out + ['if (%s) exit' % (line.until if kind == 'logical' else line.until + ' /= 0'), 'end do']
            )
        out.append("call out_call('%s%s', ierr)" % ('! ' if line.may_fail else '', f.name))
        for (p, t, w), a in zip(params, args):
            if t.is_out and '~' not in w and w[0] not in '`{"*' and not a.startswith('MPI_'):
                out += self.show(p.name, t, a)
        return out + ['call out_end()']

    def show(self, label, t, v):
        if t.what == 'status':
            return (
                ['do k = 1, 4', "call out_status('%s', %s)" % (label, self.status_at(v)), 'end do']
                if t.is_array
                else ["call out_status('%s', %s)" % (label, v)]
            )
        if t.what == 'string':
            return ["call out_string('%s', %s)" % (label, v)]
        if t.what in ('ptr', 'Session'):
            return []
        if t.what == 'keyval':
            return ["call out_logical('%s', %s /= MPI_KEYVAL_INVALID)" % (label, v)]
        if t.what in NUMBERS or t.what in ('attr', 'old_attr', 'old'):
            item = v + '(k)' if t.is_array else v
            one = (
                "call out_logical('%s', %s)" % (label, item)
                if t.what == 'logical'
                else "call out_int('%s', int(%s, int64))" % (label, item)
            )
            return ['do k = 1, %d' % ELEMENTS, one, 'end do'] if t.is_array else [one]
        null = 'MPI_%s_NULL' % t.what.upper()
        if t.is_array:
            return ['do k = 1, 4', "call out_logical('%s', %s(k) /= %s)" % (label, v, null), 'end do']
        return ["call out_logical('%s', %s /= %s)" % (label, v, null)]

    def status_at(self, v):
        return v + '(k)' if self.binding == 'f08' else v + '(:, k)'

    def type(self, what):
        if what in NUMBERS:
            return NUMBERS[what][1]
        if what in ('old', 'old_attr'):
            return 'integer'
        if what == 'attr':
            return 'integer(MPI_ADDRESS_KIND)'
        if what == 'ptr':
            return 'type(c_ptr)' if self.binding == 'f08' else 'integer(MPI_ADDRESS_KIND)'
        if what == 'string':
            return 'character(len=8192)'
        return 'type(MPI_%s)' % what if self.binding == 'f08' else 'integer'

    def declare(self, name, what, is_array):
        """Declaration, first value."""
        if what == 'buf':
            return 'integer, asynchronous, target :: %s(INTS)' % name, "call fill(%s, '%s')" % (name, name[0])
        if what == 'status':
            of = 'type(MPI_Status)' if self.binding == 'f08' else 'integer'
            dims = ['4'] if is_array else []
            if self.binding != 'f08':
                dims = ['MPI_STATUS_SIZE'] + dims
            decl = '%s, asynchronous :: %s%s' % (of, name, '(%s)' % ', '.join(dims) if dims else '')
            if is_array:
                return decl, 'do k = 1, 4\ncall clear_status(%s)\nend do' % self.status_at(name)
            return decl, 'call clear_status(%s)' % name
        size = '' if not is_array else '(%d)' % (ELEMENTS if what in NUMBERS or what == 'old' else 4)
        decl = '%s, asynchronous :: %s%s' % (self.type(what), name, size)
        if what == 'logical':
            return decl, name + ' = .false.'
        if what == 'ptr':
            return decl, name + (' = c_null_ptr' if self.binding == 'f08' else ' = 0')
        if what == 'string':
            return decl, name + " = ' '"
        if what in NUMBERS or what in ('old', 'attr', 'old_attr'):
            return decl, name + ' = -7'
        if what == 'Session':  # MPICH 4.0's Fortran has no MPI_SESSION_NULL
            return decl, ''
        return decl, '%s = MPI_%s_NULL' % (name, what.upper())

    def define(self, name, kinds, body, buffers):
        pairs = [self.declare(v, *k) for v, k in kinds.items()] + self.lists
        out = ['subroutine %s()' % name, 'integer :: ierr, k', 'integer, pointer :: memory(:)']
        out += [d for d, _ in pairs] + ["call out_block('%s')" % name[2:]] + [i for _, i in pairs] + body
        out += ["call out_buffer('%s', %s)" % (v, v) for v in buffers] + ['end subroutine', '']
        self.out += out

    def text(self):
        with open(os.path.join(HERE, 'every.f90.in'), encoding='ascii') as f:
            head = f.read()
        use = {'mpif': "include 'mpif.h'", 'usempi': 'use mpi', 'f08': 'use mpi_f08'}[self.binding]
        parts = ['!f08:' if self.binding == 'f08' else '!f77:']
        parts += ['!%s:' % self.binding]
        parts += ['!session:'] * ('MPI_Session_create_errhandler' in self.called)
        parts += ['!large:'] * ('MPI_Op_create_c' in self.called)
        lines = [re.sub('^(%s)' % '|'.join(parts), '', l) for l in head.splitlines()]
        head = '\n'.join(l for l in lines if not re.match('!\\w+:', l)).replace(
            '@USE@', use if self.binding != 'mpif' else ''
        )
        head = head.replace('@INCLUDE@', use if self.binding == 'mpif' else '')
        head = re.sub(
            r'@(\w+)@', lambda m: self.type(m.group(1)) if m.group(1) != 'COUNT' else str(len(self.called)), head
        )
        table = (
            ['subroutine out_names(names)', 'character(len=40), intent(out) :: names(:)']
            + ["names(%d) = '%s'" % (i + 1, n) for i, n in enumerate(self.called)]
            + ['end subroutine', '']
        )
        main = [
            'end module',
            '',
            'program main',
            'use every',
            'implicit none',
            'call get_command_argument(1, role)',
            'call get_command_argument(2, about)',
            'call find_role()',
        ]
        for role, procedures in [('', self.procedures + self.last)] + sorted(self.roles.items()):
            main += ["if (role == '%s') then" % role] + ['call %s()' % p for p in procedures] + ['end if']
        main += ['call out_close()', 'end program']
        return head + '\n' + '\n'.join(table + self.out + main) + '\n'


def generate(binding, have, out):
    api = gen.Api()
    table = Table(os.path.join(HERE, 'calls.tbl'))
    emitter = (C if binding == 'c' else Fortran)(api, table, have, binding)
    emitter.run()
    every = {f.name for f in api.functions}
    anywhere = set()
    for block in table.blocks:
        for large in (False, True):
            block = Block(block.name, block.options, block.lines, large)
            anywhere.update(emitter.function(block, l).name for l in block.lines if l.name.startswith('MPI_'))
    skips = {f: r for f, r in table.skips.items() if ':' not in f}
    for word, reason in table.skips.items():
        if word.startswith(tuple(b + ':' for b in BINDINGS + ('f', 'f77'))):
            who, name = word.split(':')
            if Line([who + ':', 'x'], 0).is_for(binding):
                skips[name] = reason
    left = sorted(
        (every - anywhere - set(skips)) | ({n for n in have if n in every} - set(emitter.called) - set(skips))
    )
    unknown = sorted({w.split(':')[-1] for w in table.skips} - every)
    with open(out, 'w', encoding='ascii') as f:
        f.write(emitter.text())
    for name in sorted(set(skips) & have - set(emitter.called)):
        print('skip %s: %s' % (name, skips[name]))
    print(
        'called %d\nskipped %d\nmissing %d'
        % (len(emitter.called), len(set(skips) & have - set(emitter.called)), len(every - have))
    )
    for name in left:
        sys.stderr.write('calls.tbl: %s is neither called nor skipped with a reason\n' % name)
    for name in unknown:
        sys.stderr.write('calls.tbl: skips %s, which is not in mpi-api.tbl\n' % name)
    return 1 if left or unknown else 0


def main():
    if sys.argv[1:2] == ['--names'] and len(sys.argv) == 3 and sys.argv[2] in BINDINGS:
        print('\n'.join(f.name for f in gen.Api().functions if sys.argv[2] in ('c', 'f08') or not f.is_large))
        return 0
    if len(sys.argv) != 4 or sys.argv[1] not in BINDINGS:
        sys.stderr.write(__doc__ + '\n')
        return 2
    try:
        with open(sys.argv[2], encoding='ascii') as f:
            have = set(f.read().split())
        return generate(sys.argv[1], have, sys.argv[3])
    except (TableError, gen.TableError) as e:
        sys.stderr.write('calls.tbl:%s\n' % e)
        return 1


if __name__ == '__main__':
    sys.exit(main())
