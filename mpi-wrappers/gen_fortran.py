#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generates the Fortran wrappers from the same table as the C ones (gen.py).

    gen_fortran.py OUTDIR      writes fortran-wrappers.c and fortran.list into OUTDIR

    fortran-wrappers.c   an entry point for each link name that a Fortran binding gives to a function,
                         each under #if HAVE_<link name>; needs mpi-have-fortran.h of the flavour. Those of functions
                         that only another MPI of the binary interface has are all there
    fortran.list         these link names, from which probe-fortran.sh finds what an MPI has

A function has up to three bindings, all by reference, with `ierror` last and the lengths of CHARACTER
arguments behind it:

    mpi_send_             mpif.h and `use mpi`, and its other spellings (FV_F_SPELLINGS)
    mpi_send_f08_         `use mpi_f08`, choice buffers as addresses
    mpi_send_f08ts_       `use mpi_f08`, choice buffers as descriptors (TS 29113)
    mpi_send_f08ts_large_ the same for the large-count interface, which C calls MPI_Send_c

A wrapper forwards what it was given and calls the fv_done_ function of the table's rule with the same
names as in C, which it declares as converted copies. Standard library only."""

import re
import sys

from gen import (
    Api,
    BARRIER_COUNT,
    TableError,
    WARNING,
    argument,
    barrier_begin,
    barrier_end,
    has_barriers,
    known_before,
    peer,
    wrapped_list,
    write,
)

BUFFERS = {'BUFFER', 'CBUFFER'}
# MPICH 4.0 calls C with an argument too few here: what a register happens to hold decides, and a wrapper
# would change that.
FRAGILE = {'mpi_info_create_env_f08_'}


class Dummy:
    """A parameter as Fortran passes it."""

    def __init__(self, parameter):
        self.name = parameter.name
        self.kind = parameter.kind
        self.c_type = parameter.c_type
        self.base = re.match(r'(?:const )?(\w+)', parameter.c_type).group(1)
        self.is_array = '[' in parameter.c_type
        self.is_pointer = '*' in parameter.c_type
        self.is_text = self.base == 'char'

    def type(self):
        if self.base == 'void' or self.kind.startswith('FUNCTION'):
            return 'void *'
        if self.base in ('char', 'MPI_Aint', 'MPI_Count', 'MPI_Offset'):
            return self.base + ' *'
        return 'MPI_Fint *'

    def argument(self):
        return 'f_' + self.name

    def as_c(self, described):
        """Declares the C parameter of the same name from what Fortran passed."""
        name, arg = self.name, self.argument()
        if self.kind in BUFFERS:
            return 'const void *%s = %s(%s);' % (name, 'fv_f_described' if described else 'fv_f_buffer', arg)
        if self.kind == 'STRING':
            return 'char %s_text[FV_F_TEXT];\n        const char *%s = fv_f_text(%s_text, %s, l_%s);' % (
                name,
                name,
                name,
                arg,
                name,
            )
        if (self.is_array or self.is_pointer) and self.base in ('int', 'MPI_Count'):
            return 'const %s *%s = %s;' % (self.base, name, arg)
        if self.is_array and self.base == 'MPI_Datatype':
            return 'const MPI_Fint *%s = %s;' % (name, arg)
        if self.base in ('int', 'MPI_Count', 'MPI_Offset'):
            return '%s %s = *%s;' % (self.base, name, arg)
        if re.match(r'MPI_(Comm|Datatype|File|Group|Message|Op|Request|Win)$', self.base) and not self.is_array:
            value = '%s_f2c(*%s)' % (self.base.replace('Datatype', 'Type'), arg)
            if self.is_pointer:
                return '%s %s_made = %s, *%s = &%s_made;' % (self.base, name, value, name, name)
            return '%s %s = %s;' % (self.base, name, value)
        raise TableError('%s (%s): no rule to convert it from Fortran' % (name, self.kind))


class Entry:
    """One link name of a function."""

    def __init__(self, function, link_name, described=False, spellings=False):
        self.f = function
        self.link_name = link_name
        self.described = described
        self.spellings = spellings
        params = [p for p in function.params if p.kind not in ('ANY', 'ARGC', 'ARGV')]
        if function.has('argc'):
            params = [p for p in params if p.name not in ('argc', 'argv')]
        self.dummies = [Dummy(p) for p in params]

    def parameters(self):
        """(type, name) of all that is passed."""
        out = [(d.type(), d.argument()) for d in self.dummies] + [('MPI_Fint *', 'f_ierror')]
        return out + [('size_t ', 'l_' + d.name) for d in self.dummies if d.is_text]

    def used(self, text):
        words = set(re.findall(r'\w+', text))
        return [d for d in self.dummies if d.name in words]


def entries(f):
    low = f.name.lower()
    if f.is_large:
        low = low[:-2]
        return [Entry(f, low + '_f08_large_'), Entry(f, low + '_f08ts_large_', described=True)]
    out = [Entry(f, low + '_', spellings=True)]
    if low.startswith('mpix_'):  # what of them the module mpi_f08 has, differs
        return out
    out.append(Entry(f, low + '_f08_'))
    if any(p.kind in BUFFERS for p in f.params):
        out.append(Entry(f, low + '_f08ts_', described=True))
    if f.cptr:
        out.append(Entry(f, low + '_cptr_', spellings=True))
    return out


def converted(entry, text, indent=8):
    return ''.join('%s%s\n' % (' ' * indent, d.as_c(entry.described)) for d in entry.used(text))


def regular_body(entry, rules):
    f = entry.f
    rule = rules[f.after] if f.after else ['plainly']
    owned = [w[4:-1] for w in rule if w.startswith('own(')]
    taken = [w[4:-1] for w in rule if w.startswith('was(')]
    known = [w[6:-1] for w in rule if w.startswith('known(')]
    passed = ['seen' if name[2:] in owned else name for _, name in entry.parameters()]
    done = []
    for word in rule[1:]:
        text = argument(word, f)
        if text == 'seen':
            text = 'fv_f_status(seen, &own)'
        done.append(re.sub(r'^FV_TYPES', 'FV_F_TYPES', text))
    out = ['    struct fv_call call;', '    bool on = fv_call_enter(&call, FV_FN_%s, FV_CALL_SITE());' % f.name]
    for x in taken:
        base = next(d.base for d in entry.dummies if d.name == x)
        out.append('    uint64_t was = on ? fv_handle(%s_f2c(*f_%s)) : 0;' % (base, x))
    for x in known:
        base = next(d.base for d in entry.dummies if d.name == x)
        out.append('    ' + known_before(f, x, 'fv_handle(%s_f2c(*f_%s))' % (base, x)))
    if owned:
        out.append('    MPI_Status own = { 0 };')
        out.append('    MPI_Fint *seen = fv_f_status_seen(on, f_%s, &own);' % owned[0])
    call = wrapped_list('    fv_f_real_%s()(' % entry.link_name, passed, ');', 8)
    out.append('\n' + peer(f, '*f_%s', 'MPI_Comm_f2c(*f_%s)') + barrier_begin(f, 'MPI_Comm_f2c(*f_%s)') + call)
    if has_barriers(f):
        out.append(barrier_end(f, 'fv_f_result(f_ierror)'))
    out.append('    if (on && fv_call_end(&call)) {\n        int rc = fv_f_result(f_ierror);')
    out.append(
        converted(entry, ' '.join(done))
        + wrapped_list('        fv_done_%s(' % rule[0], ['&call', 'rc'] + done, ');', 12)
    )
    if has_barriers(f):
        out.append(BARRIER_COUNT)
    out.append('    }')
    return present(entry) + '\n'.join(out)


def present(entry):
    """Where the caller may leave out ierror, which is how the call went, we ask for it all the same. Not of
    MPI_Pcontrol, which has none in the standard."""
    if entry.spellings or entry.f.name == 'MPI_Pcontrol':
        return ''
    return '    MPI_Fint own_ierror = MPI_SUCCESS;\n\n    if (!f_ierror)\n        f_ierror = &own_ierror;\n'


def special_body(entry):
    """The halves are in fortran.c, the same for all bindings: no buffers."""
    passed = ['FV_CALL_SITE()', '(fv_f_function *)fv_f_real_%s()' % entry.link_name]
    passed += [name for _, name in entry.parameters()]
    return (
        present(entry)
        + wrapped_list('    fv_f_%s(' % entry.f.name, passed, ');', 8)
        + '\n    __asm__ volatile(""); /* no jump instead of the call: the site is this frame */'
    )


def wrapper(entry, rules):
    types = ', '.join(t.strip() for t, _ in entry.parameters())
    declarations = [t + n for t, n in entry.parameters()]
    name = entry.link_name
    profiled = 'FV_F_PROFILED(%s)' % name if entry.spellings else 'FV_F_PROFILED08(%s)' % re.sub('^mpi_', '', name)
    spellings = 'FV_F_SPELLINGS(%s, %s, (%s))\n' % (name[:-1], name[:-1].upper(), types) if entry.spellings else ''
    body = special_body(entry) if entry.f.special else regular_body(entry, rules)
    have = 'HAVE_{} || FV_ELSEWHERE({})'.format(entry.link_name, entry.f.name)
    if entry.f.special and entry.f.name.startswith('MPI_Session'):
        have = '({}) && HAVE_MPI_Session_init'.format(have)
    return (
        '#if %s\nFV_F_REAL(%s, %s, (%s))\n' % (have, name, profiled, types)
        + wrapped_list('FV_PUBLIC void %s(' % entry.link_name, declarations, ')', 4)
        + '\n{\n'
        + body
        + '\n}\n'
        + spellings
        + '#endif\n'
    )


def main():
    if len(sys.argv) != 2:
        sys.stderr.write(__doc__ + '\n')
        return 2
    try:
        api = Api()
        all_entries = [e for f in api.functions for e in entries(f) if e.link_name not in FRAGILE]
        bodies = '\n'.join(wrapper(e, api.rules) for e in all_entries)
    except TableError as e:
        sys.stderr.write('gen_fortran.py: %s\n' % e)
        return 1
    write(
        sys.argv[1],
        'fortran-wrappers.c',
        WARNING + '#include "fortran.h"\n\n#include "done.h"\n#include "functions.h"\n\n' + bodies,
    )
    write(sys.argv[1], 'fortran.list', ''.join(e.link_name + '\n' for e in all_entries))
    return 0


if __name__ == '__main__':
    sys.exit(main())
