# SPDX-License-Identifier: BSD-3-Clause
"""MPI-5.0's standard ABI where no MPI has it (chapter 20 and annex A.1.1 of the standard): its header, with the functions of
mpi-api.tbl, and a libmpi_abi.so that stands before MPICH and translates.

    standard_abi.py header DIR           writes DIR/include/mpi.h, for configure --with-mpi-abi=DIR
    standard_abi.py library HAVE.H       prints the C text of the library; HAVE.H says what MPICH has (probe.sh)
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'mpi-wrappers'))
import gen

# ---- the standard's numbers

HANDLES = {
    'Op': '20:OP_NULL 21:SUM 22:MIN 23:MAX 24:PROD 28:BAND 29:BOR 2a:BXOR 30:LAND 31:LOR 32:LXOR 38:MINLOC 39:MAXLOC 3c:REPLACE 3d:NO_OP',
    'Comm': '100:COMM_NULL 101:COMM_WORLD 102:COMM_SELF',
    'Group': '108:GROUP_NULL 109:GROUP_EMPTY',
    'Win': '110:WIN_NULL',
    'File': '118:FILE_NULL',
    'Session': '120:SESSION_NULL',
    'Message': '128:MESSAGE_NULL 129:MESSAGE_NO_PROC',
    'Info': '130:INFO_NULL 131:INFO_ENV',
    'Errhandler': '140:ERRHANDLER_NULL 141:ERRORS_ARE_FATAL 142:ERRORS_RETURN 143:ERRORS_ABORT',
    'Request': '180:REQUEST_NULL',
    'Datatype': '200:DATATYPE_NULL 201:AINT 202:COUNT 203:OFFSET 207:PACKED 208:SHORT 209:INT 20a:LONG 20b:LONG_LONG 20c:UNSIGNED_SHORT '
    '20d:UNSIGNED 20e:UNSIGNED_LONG 20f:UNSIGNED_LONG_LONG 210:FLOAT 212:C_FLOAT_COMPLEX 213:CXX_FLOAT_COMPLEX 214:DOUBLE '
    '216:C_DOUBLE_COMPLEX 217:CXX_DOUBLE_COMPLEX 218:LOGICAL 219:INTEGER 21a:REAL 21b:COMPLEX 21c:DOUBLE_PRECISION '
    '21d:DOUBLE_COMPLEX 21e:CHARACTER 220:LONG_DOUBLE 224:C_LONG_DOUBLE_COMPLEX 225:CXX_LONG_DOUBLE_COMPLEX 228:FLOAT_INT '
    '229:DOUBLE_INT 22a:LONG_INT 22b:2INT 22c:SHORT_INT 22d:LONG_DOUBLE_INT 230:2REAL 231:2DOUBLE_PRECISION 232:2INTEGER '
    '238:C_BOOL 239:CXX_BOOL 23c:WCHAR 240:INT8_T 241:UINT8_T 243:CHAR 244:SIGNED_CHAR 245:UNSIGNED_CHAR 247:BYTE '
    '248:INT16_T 249:UINT16_T 250:INT32_T 251:UINT32_T 258:INT64_T 259:UINT64_T',
}
CLASSES = (
    'BUFFER COUNT TYPE TAG COMM RANK REQUEST ROOT GROUP OP TOPOLOGY DIMS ARG UNKNOWN TRUNCATE OTHER INTERN PENDING IN_STATUS ACCESS '
    'AMODE ASSERT BAD_FILE BASE CONVERSION DISP DUP_DATAREP FILE_EXISTS FILE_IN_USE FILE INFO_KEY INFO_NOKEY INFO_VALUE INFO IO KEYVAL '
    'LOCKTYPE NAME NO_MEM NOT_SAME NO_SPACE NO_SUCH_FILE PORT QUOTA READ_ONLY RMA_ATTACH RMA_CONFLICT RMA_RANGE RMA_SHARED RMA_SYNC '
    'SERVICE SIZE SPAWN UNSUPPORTED_DATAREP UNSUPPORTED_OPERATION WIN RMA_FLAVOR PROC_ABORTED VALUE_TOO_LARGE SESSION ERRHANDLER ABI'
).split()
# Of each group the numbers are one's own: what an MPI calls otherwise is translated within its group.
NUMBERS = {
    'rank': 'ANY_SOURCE=-1 PROC_NULL=-3 ROOT=-4',
    'tag': 'ANY_TAG=-2',
    'undefined': 'UNDEFINED=-32766',
    'thread': 'THREAD_SINGLE=0 THREAD_FUNNELED=1024 THREAD_SERIALIZED=2048 THREAD_MULTIPLE=4096',
    'order': 'ORDER_C=12 ORDER_FORTRAN=15',
    'distribute': 'DISTRIBUTE_NONE=16 DISTRIBUTE_BLOCK=17 DISTRIBUTE_CYCLIC=18 DISTRIBUTE_DFLT_DARG=19',
    'combiner': 'COMBINER_NAMED=101 COMBINER_DUP=102 COMBINER_CONTIGUOUS=103 COMBINER_VECTOR=104 COMBINER_HVECTOR=105 COMBINER_INDEXED=106 '
    'COMBINER_HINDEXED=107 COMBINER_INDEXED_BLOCK=108 COMBINER_HINDEXED_BLOCK=109 COMBINER_STRUCT=110 COMBINER_SUBARRAY=111 '
    'COMBINER_DARRAY=112 COMBINER_F90_INTEGER=113 COMBINER_F90_REAL=114 COMBINER_F90_COMPLEX=115 COMBINER_RESIZED=116',
    'typeclass': 'TYPECLASS_INTEGER=192 TYPECLASS_REAL=193 TYPECLASS_COMPLEX=194',
    'compared': 'IDENT=201 CONGRUENT=202 SIMILAR=203 UNEQUAL=204',
    'topology': 'CART=211 GRAPH=212 DIST_GRAPH=213',
    'split': 'COMM_TYPE_SHARED=221 COMM_TYPE_HW_UNGUIDED=222 COMM_TYPE_HW_GUIDED=223',
    'lock': 'LOCK_EXCLUSIVE=301 LOCK_SHARED=302',
    'seek': 'SEEK_SET=401 SEEK_CUR=402 SEEK_END=403',
    'keyval': 'KEYVAL_INVALID=0 TAG_UB=501 IO=502 HOST=503 WTIME_IS_GLOBAL=504 UNIVERSE_SIZE=505 APPNUM=506 LASTUSEDCODE=507 WIN_BASE=601 '
    'WIN_DISP_UNIT=602 WIN_SIZE=603 WIN_CREATE_FLAVOR=604 WIN_MODEL=605',
    'class': ' '.join('ERR_{}={}'.format(name, i + 1) for i, name in enumerate(CLASSES))
    + ' SUCCESS=0 ERR_LASTCODE=16383',
    'amode': 'MODE_APPEND=1 MODE_CREATE=2 MODE_DELETE_ON_CLOSE=4 MODE_EXCL=8 MODE_RDONLY=16 MODE_RDWR=32 MODE_SEQUENTIAL=64 MODE_UNIQUE_OPEN=128 '
    'MODE_WRONLY=256',
    'assertion': 'MODE_NOCHECK=1024 MODE_NOPRECEDE=2048 MODE_NOPUT=4096 MODE_NOSTORE=8192 MODE_NOSUCCEED=16384',
    'other': 'WIN_FLAVOR_CREATE=311 WIN_FLAVOR_ALLOCATE=312 WIN_FLAVOR_DYNAMIC=313 WIN_FLAVOR_SHARED=314 WIN_UNIFIED=321 WIN_SEPARATE=322 '
    'MAX_DATAREP_STRING=128 MAX_ERROR_STRING=512 MAX_INFO_KEY=256 MAX_INFO_VAL=1024 MAX_LIBRARY_VERSION_STRING=8192 '
    'MAX_OBJECT_NAME=128 MAX_PORT_NAME=1024 MAX_PROCESSOR_NAME=256 MAX_STRINGTAG_LEN=1024 MAX_PSET_NAME_LEN=1024 BSEND_OVERHEAD=512',
}
MASKS = ('amode', 'assertion')
ADDRESSES = {
    'BOTTOM': 'void *:0',
    'IN_PLACE': 'void *:1',
    'BUFFER_AUTOMATIC': 'void *:2',
    'ARGV_NULL': 'char **:0',
    'ARGVS_NULL': 'char ***:0',
    'ERRCODES_IGNORE': 'int *:0',
    'STATUS_IGNORE': 'MPI_Status *:0',
    'STATUSES_IGNORE': 'MPI_Status *:0',
    'UNWEIGHTED': 'int *:10',
    'WEIGHTS_EMPTY': 'int *:11',
}
ALIASES = {'C_COMPLEX': 'C_FLOAT_COMPLEX', 'LONG_LONG_INT': 'LONG_LONG'}
STATUS = 'struct {\n    int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];\n}'
ATTRIBUTE = (
    'typedef int (MPI_{0}copy_attr_function)(MPI_{1}, int, void *, void *, void *, int *);\n'
    'typedef int (MPI_{0}delete_attr_function)(MPI_{1}, int, void *, void *);\n'
)
CALL_BACKS = (
    '''typedef void (MPI_User_function)(void *, void *, int *, MPI_Datatype *);
typedef void (MPI_User_function_c)(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int (MPI_Grequest_query_function)(void *, MPI_Status *);
typedef int (MPI_Grequest_free_function)(void *);
typedef int (MPI_Grequest_cancel_function)(void *, int);
typedef int (MPI_Copy_function)(MPI_Comm, int, void *, void *, void *, int *);
typedef int (MPI_Delete_function)(MPI_Comm, int, void *, void *);
typedef int (MPI_Datarep_extent_function)(MPI_Datatype, MPI_Aint *, void *);
typedef int (MPI_Datarep_conversion_function)(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
typedef int (MPI_Datarep_conversion_function_c)(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
'''
    + ''.join(
        ATTRIBUTE.format(kind + '_', handle)
        for kind, handle in (('Comm', 'Comm'), ('Type', 'Datatype'), ('Win', 'Win'))
    )
    + ''.join(
        'typedef void (MPI_{0}_errhandler_function)(MPI_{0} *, int *, ...);\n'.format(kind)
        for kind in ('Comm', 'File', 'Win', 'Session')
    )
)
# Of attributes: copy nothing, copy the value, do nothing on deletion.
NO_FUNCTIONS = {'COMM': 'Comm_', 'TYPE': 'Type_', 'WIN': 'Win_'}
# Removed by MPI-3.0; deprecated ones are there.
REMOVED = 'Address Type_extent Type_lb Type_ub Type_hindexed Type_hvector Type_struct Errhandler_create Errhandler_get Errhandler_set'.split()


def handles(kind):
    return [(int(number, 16), name) for number, name in (pair.split(':') for pair in HANDLES[kind].split())]


def numbers(group):
    return [(name, int(number)) for name, number in (pair.split('=') for pair in NUMBERS[group].split())]


def functions():
    return [f for f in gen.Api().functions if f.name.startswith('MPI_') and f.name[4:] not in REMOVED]


def header():
    out = [
        '#ifndef MPI_H\n#define MPI_H\n#include <stdint.h>\n#ifdef __cplusplus\nextern "C" {\n#endif\n',
        '#define MPI_VERSION 5\n#define MPI_SUBVERSION 0\n#define MPI_ABI_VERSION 1\n#define MPI_ABI_SUBVERSION 0\n',
        'typedef intptr_t MPI_Aint;\ntypedef int64_t MPI_Offset;\ntypedef int64_t MPI_Count;\ntypedef {} MPI_Status;'.format(
            STATUS
        ),
    ]
    for kind in HANDLES:
        out.append('typedef struct MPI_ABI_{0} *MPI_{0};'.format(kind))
        out += ['#define MPI_{} ((MPI_{}){:#x})'.format(name, kind, number) for number, name in handles(kind)]
    out += ['#define MPI_{} MPI_{}'.format(*pair) for pair in ALIASES.items()]
    out += [
        'enum {{ {} }};'.format(', '.join('MPI_{} = {}'.format(*pair) for pair in numbers(group)))
        for group in NUMBERS
        if group != 'other'
    ]
    out += ['#define MPI_{} {}'.format(*pair) for pair in numbers('other')]
    out += ['#define MPI_{} (({}){})'.format(name, *value.split(':')) for name, value in ADDRESSES.items()]
    out += ['#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)', CALL_BACKS]
    for name, kind in NO_FUNCTIONS.items():
        out += [
            '#define MPI_{}_{}_FN ((MPI_{}{}_attr_function *){})'.format(name, what, kind, way, value)
            for what, way, value in (('NULL_COPY', 'copy', 0), ('DUP', 'copy', 1), ('NULL_DELETE', 'delete', 0))
        ]
    for prefix in 'MPI_', 'PMPI_':
        out += [gen.head(f, prefix + f.name[4:]) + ';' for f in functions()]
        out += ['double {0}Wtime(void);\ndouble {0}Wtick(void);'.format(prefix)]
        out += ['MPI_Aint {}Aint_{}(MPI_Aint, MPI_Aint);'.format(prefix, what) for what in ('add', 'diff')]
        for kind in HANDLES:
            short = kind.replace('Datatype', 'Type')
            out += [
                'int {}{}_toint(MPI_{});'.format(prefix, short, kind),
                'MPI_{2} {0}{1}_fromint(int);'.format(prefix, short, kind),
            ]
    out += ['#ifdef __cplusplus\n}\n#endif\n#endif\n']
    return '\n'.join(out)


def write_header(directory):
    include = os.path.join(directory, 'include')
    os.makedirs(include, exist_ok=True)
    gen.write(include, 'mpi.h', header())


# ---- a library that translates

PRELUDE = r"""/* libmpi_abi.so before MPICH, written by standard_abi.py. Its functions have the names of those that MPICH's header declares, with
 * other types: in C they are called abi_X. Handles that MPICH makes are its own numbers, which are beyond the standard's; MPICH's libraries
 * see no name but their own (RTLD_DEEPBIND), or their calls of PMPI_X would come here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef uint64_t handle;
typedef STATUS status;
struct pair {
    int64_t abi, mpich;
};

static int64_t in(const struct pair *p, int64_t abi)
{
    for (; p->abi != INT64_MIN; p++)
        if (p->abi == abi)
            return p->mpich;
    return abi;
}

static int64_t out(const struct pair *p, int64_t mpich)
{
    for (; p->abi != INT64_MIN; p++)
        if (p->mpich == mpich)
            return p->abi;
    return mpich;
}

static int mask(const struct pair *p, int abi)
{
    int mpich = 0;

    for (; p->abi != INT64_MIN; p++)
        if (abi & p->abi)
            mpich |= (int)p->mpich;
    return mpich;
}

"""
BUFFERS = """static const void *buffer_in(const void *abi)
{
    return abi == (void *)1 ? MPI_IN_PLACE : abi;
}

static const int *weights_in(const int *abi)
{
    const char *name = abi == (int *)10 ? "MPI_UNWEIGHTED" : abi == (int *)11 ? "MPI_WEIGHTS_EMPTY" : NULL;

    return name ? *(int **)dlsym(mpich, name) : abi;
}

static int code_out(int rc)
{
    int class = MPI_ERR_OTHER;

    if (rc != MPI_SUCCESS)
        mpich_MPI_Error_class(rc, &class);
    return rc == MPI_SUCCESS ? rc : class_out(class);
}

static void status_in(const status *from, MPI_Status *to)
{
    to->count_lo = from->MPI_internal[0];
    to->count_hi_and_cancelled = from->MPI_internal[1];
    to->MPI_SOURCE = rank_in(from->MPI_SOURCE);
    to->MPI_TAG = tag_in(from->MPI_TAG);
}

static void status_out(const MPI_Status *from, status *to)
{
    to->MPI_internal[0] = from->count_lo;
    to->MPI_internal[1] = from->count_hi_and_cancelled;
    to->MPI_SOURCE = rank_out(from->MPI_SOURCE);
    to->MPI_TAG = tag_out(from->MPI_TAG);
}

static int members(MPI_Comm comm)
{
    int n = 0, inter = 0;

    mpich_MPI_Comm_test_inter(comm, &inter);
    if (inter)
        mpich_MPI_Comm_remote_size(comm, &n);
    else
        mpich_MPI_Comm_size(comm, &n);
    return n;
}

"""
# What MPICH 4.0 has not, and functions that take none of an MPI's types.
OWN = """EXPORT(int, Abi_get_version, (int *major, int *minor))
{
    *major = 1;
    *minor = 0;
    return 0;
}
EXPORT(int, Abi_get_info, (handle *info))
{
    MPI_Info made = MPI_INFO_NULL;
    int rc = mpich_MPI_Info_create(&made);

    *info = Info_out(made);
    return code_out(rc);
}
EXPORT(int, Abi_get_fortran_info, (handle *info))
{
    *info = Info_out(MPI_INFO_NULL);
    return 0;
}
EXPORT(int, Abi_set_fortran_info, (handle info))
{
    (void)info;
    return class_out(MPI_ERR_OTHER);
}
EXPORT(int, Abi_get_fortran_booleans, (int size, void *yes, void *no, int *is_set))
{
    (void)size, (void)yes, (void)no;
    return *is_set = 0;
}
EXPORT(int, Abi_set_fortran_booleans, (int size, void *yes, void *no))
{
    (void)size, (void)yes, (void)no;
    return class_out(MPI_ERR_OTHER);
}
EXPORT(int, Status_get_source, (const status *status, int *source))
{
    *source = status->MPI_SOURCE;
    return 0;
}
EXPORT(double, Wtime, (void))
{
    return ((double (*)(void))dlsym(mpich, "PMPI_Wtime"))();
}
"""
# Parameters whose numbers are another group's than their kind says, or have one at all.
GROUPS = {
    'lock_type': 'lock',
    'typeclass': 'typeclass',
    'order': 'order',
    'split_type': 'split',
    'amode': 'amode',
    'assert': 'assertion',
    'whence': 'seek',
    'required': 'thread',
    'provided': 'thread',
    'combiner': 'combiner',
    'keyval': 'keyval',
    'comm_keyval': 'keyval',
    'win_keyval': 'keyval',
    'rank_source': 'rank',
    'rank_dest': 'rank',
}
OF_FUNCTION = {
    ('MPI_Error_class', 'errorclass'): 'class',
    ('MPI_Comm_compare', 'result'): 'compared',
    ('MPI_Group_compare', 'result'): 'compared',
    ('MPI_Topo_test', 'status'): 'topology',
    ('MPI_File_get_amode', 'amode'): None,
}
KIND_GROUPS = {'RANK': 'rank', 'ROOT': 'rank', 'TAG': 'tag'}
ARRAYS = {'REQUESTS': 'Request', 'CREQUESTS': 'Request', 'DATATYPES': 'Datatype', 'STATUSES_OUT': None}


def tables():
    """What is called what, both ways: of handles, and of numbers."""
    out = []

    def table(name, rows):
        out.append('static const struct pair %s_pairs[] = {' % name)
        out.extend(
            (
                '#ifdef MPI_{1}\n    {{ {0}, (int64_t)(MPI_{1}) }},\n#endif'
                if name in HANDLES or name == 'class'
                else '    {{ {0}, MPI_{1} }},'
            ).format(*row)
            for row in rows
        )
        out.append('    { INT64_MIN, 0 },\n};')

    for kind in HANDLES:
        table(kind, handles(kind))
        mpich = '(handle)(uintptr_t)mpich' if kind == 'File' else '(handle)(uint32_t)mpich'
        out.append(
            'static inline MPI_%s %s_in(handle abi)\n{\n    return (MPI_%s)in(%s_pairs, (int64_t)abi);\n}'
            % (kind, kind, kind, kind)
        )
        out.append(
            'static inline handle %s_out(MPI_%s mpich)\n{\n    int64_t abi = out(%s_pairs, (int64_t)mpich);\n'
            '    return abi == (int64_t)mpich ? %s : (handle)abi;\n}' % (kind, kind, kind, mpich)
        )
    for group in NUMBERS:
        if group in ('other', 'undefined', 'distribute'):
            continue
        table(group, [(number, name) for name, number in numbers(group)])
        way = 'mask' if group in MASKS else '(int)in'
        out.append('static inline int %s_in(int abi)\n{\n    return %s(%s_pairs, abi);\n}' % (group, way, group))
        out.append('static inline int %s_out(int mpich)\n{\n    return (int)out(%s_pairs, mpich);\n}' % (group, group))
    return '\n'.join(out)


def group_of(f, p):
    if (f.name, p.name) in OF_FUNCTION:
        return OF_FUNCTION[f.name, p.name]
    return KIND_GROUPS.get(p.kind) or (GROUPS.get(p.name) if p.kind in ('INT', 'INT_OUT', 'KEYVAL') else None)


def length(f, p):
    if p.kind == 'DATATYPES' and f.has('comm'):
        return 'members(Comm_in(comm))'
    return 'incount' if f.has('incount') else 'count'


class Translation:
    """Of one parameter: how it is declared, what stands before the call, what is passed, what stands behind it."""

    def __init__(self, f, p):
        self.declared, self.before, self.passed, self.after = p.declaration(), [], p.name, []
        handle = re.sub(r'S?_OUT$', '', p.kind).capitalize()
        group, name = group_of(f, p), p.name
        if p.kind in ARRAYS:
            self.array(ARRAYS[p.kind], p, length(f, p))
        elif p.kind == 'STATUS':
            self.declared, self.passed = 'const status *' + name, '&c_' + name
            self.before = ['MPI_Status c_{0};'.format(name), 'status_in({0}, &c_{0});'.format(name)]
        elif p.kind == 'STATUS_OUT':
            self.declared, self.passed = 'status *' + name, '{0} ? &c_{0} : MPI_STATUS_IGNORE'.format(name)
            self.before = ['MPI_Status c_{0};'.format(name), 'if ({0})\n        status_in({0}, &c_{0});'.format(name)]
            self.after = ['if ({0})\n        status_out(&c_{0}, {0});'.format(name)]
        elif handle in HANDLES and p.kind.endswith('_OUT'):
            self.declared, self.passed = 'handle *' + name, '&c_' + name
            self.before = ['MPI_{1} c_{0} = {1}_in(*{0});'.format(name, handle)]
            self.after = ['*{0} = {1}_out(c_{0});'.format(name, handle)]
        elif handle in HANDLES:
            self.declared, self.passed = 'handle ' + name, '{}_in({})'.format(handle, name)
        elif group and p.kind.endswith('_OUT'):
            self.after = ['*{0} = {1}_out(*{0});'.format(name, group)]
        elif group:
            self.passed = '{}_in({})'.format(group, name)
        elif p.kind in ('BUFFER', 'CBUFFER'):
            self.passed = '(void *)(uintptr_t)buffer_in({})'.format(name)
        elif 'weights' in name and p.kind == 'INTS':
            self.passed = 'weights_in({})'.format(name)

    def array(self, handle, p, n):
        """Not freed: what has begun may still read it."""
        name, of = p.name, handle or 'Status'
        const = 'const ' if p.kind in ('CREQUESTS', 'DATATYPES') else ''
        self.declared = '{}{} *{}'.format(const, 'handle' if handle else 'status', name)
        self.passed = 'c_' + name if handle else '{0} ? c_{0} : MPI_STATUSES_IGNORE'.format(name)
        each = ('c_{0}[i] = {1}_in({0}[i])' if handle else 'status_in(&{0}[i], &c_{0}[i])').format(name, handle)
        back = ('{0}[i] = {1}_out(c_{0}[i])' if handle else 'status_out(&c_{0}[i], &{0}[i])').format(name, handle)
        loop = 'for (int i = 0; {0} && i < {1}; i++)\n        {2};'
        self.before = [
            'MPI_{0} *c_{1} = malloc(((size_t){2} + 1) * sizeof(*c_{1}));'.format(of, name, n),
            loop.format(name, n, each),
        ]
        if not const:
            self.after = [loop.format(name, n, back)]
        if not handle:
            self.after.append(
                loop.format('rc && ' + name, n, '{0}[i].MPI_ERROR = code_out(c_{0}[i].MPI_ERROR)'.format(name))
            )


def translated(f):
    parts = [Translation(f, p) for p in f.params]
    lines = [line for part in parts for line in part.before]
    lines.append('int rc = mpich_{}({});'.format(f.name, ', '.join(part.passed for part in parts)))
    lines += [line for part in parts for line in part.after]
    return 'EXPORT(int, {}, ({}))\n{{\n    {}\n    return code_out(rc);\n}}\n'.format(
        f.name[4:], ', '.join(part.declared for part in parts) or 'void', '\n    '.join(lines)
    )


def can_translate(f):
    """Not what calls back, nor what has arrays whose length a topology knows."""
    kinds = {p.kind for p in f.params}
    return (
        not any(kind.startswith('FUNCTION') for kind in kinds)
        and not kinds & {'ANY', 'INFOS', 'DATATYPES_OUT'}
        and not ('DATATYPES' in kinds and 'Neighbor' in f.name)
    )


def library(have):
    with open(have) as text:
        there = set(re.findall(r'#define HAVE_(\w+) 1', text.read()))
    wanted = [f for f in functions() if f.name in there and can_translate(f)]
    out = [
        PRELUDE.replace('STATUS', STATUS, 1),
        '#define EXPORT(type, name, types) \\\n    type abi_##name types __asm__("PMPI_" #name); \\\n'
        '    __typeof__(abi_##name) weak_##name __asm__("MPI_" #name) __attribute__((weak, alias("PMPI_" #name))); \\\n'
        '    type abi_##name types\n\nstatic void *mpich;',
    ]
    out += ['static __typeof__({0}) *mpich_{0};'.format(f.name) for f in wanted]
    out += [
        '__attribute__((constructor)) static void find(void)\n{\n    mpich = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);\n'
        '    if (!mpich) {\n        fprintf(stderr, "%s\\n", dlerror());\n        exit(1);\n    }'
    ]
    # where the program has a copy of the variable, these libraries see libc's
    out += ['    char ***theirs = dlsym(mpich, "environ");\n    *theirs = environ;']
    out += ['    *(void **)&mpich_{0} = dlsym(mpich, "P{0}");'.format(f.name) for f in wanted]
    out += ['}', tables(), BUFFERS, OWN] + [translated(f) for f in wanted]
    return '\n'.join(out)


if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[1] not in ('header', 'library'):
        sys.exit(__doc__)
    if sys.argv[1] == 'header':
        write_header(sys.argv[2])
    else:
        sys.stdout.write(library(sys.argv[2]))
