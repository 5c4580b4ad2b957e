/* SPDX-License-Identifier: BSD-3-Clause */
/* See lines_reader.h: by libbfd; and demangled names, which are its as well: the only code that knows it. */
#define PACKAGE "fvmpi" /* bfd.h insists */
#include <bfd.h>

#include "symbols/lines_reader.h"
#include "tool/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* From libiberty's demangle.h, which not every distribution installs with bfd.h. */
enum { DEMANGLE_PARAMS = 1 << 0, DEMANGLE_ANSI = 1 << 1 };

#if defined(__SANITIZE_ADDRESS__)
/* libbfd does not free all it allocates; that must not hide what we do not. Weak: a fuzzer has a list of its own. */
const char *__lsan_default_suppressions(void);
__attribute__((weak)) const char *__lsan_default_suppressions(void)
{
    return "leak:libbfd";
}
#endif

struct object {
    bfd *bfd;
    asymbol **symbols;
    bool is_indexed;    /* it has tables of addresses, as DWARF 5 by clang and -gsplit-dwarf have */
    bool is_shared;     /* parts were moved to another file, by dwz, and */
    bool is_lost;       /* ... an address has no line */
    bool is_artificial; /* a place was found that -flto made up */
};

/* libbfd's complaints about other people's debug information are not the user's business. */
static void say_nothing(const char *format, va_list args)
{
    (void)format;
    (void)args;
}

static void *open_object(const char *path, const char *program)
{
    static bool ready;

    (void)program;
    if (!ready) {
        bfd_init();
        bfd_set_error_handler(say_nothing);
        ready = true;
    }
    bfd *b = bfd_openr(path, NULL);
    if (!b)
        return NULL;
    b->flags |= BFD_DECOMPRESS;
    if (!bfd_check_format(b, bfd_object)) {
        bfd_close(b);
        return NULL;
    }
    struct object *o = fv_xcalloc(1, sizeof(*o));
    o->bfd = b;
    o->symbols = fv_xcalloc(1, sizeof(*o->symbols)); /* none: names come from fv_elf */
    o->is_shared = bfd_get_section_by_name(b, ".gnu_debugaltlink");
    o->is_indexed = bfd_get_section_by_name(b, ".debug_addr");
    return o;
}

static asection *section_of(bfd *b, bfd_vma address)
{
    for (asection *s = b->sections; s; s = s->next)
        if (s->flags & SEC_ALLOC && address >= s->vma && address - s->vma < s->size)
            return s;
    return NULL;
}

/* -flto compiles in units that have no file. */
static void clean_place(struct object *o, struct fv_code_line *l)
{
    bool is_artificial = l->file && !strcmp(fv_base_name(l->file), "<artificial>");

    o->is_artificial |= is_artificial;
    if (is_artificial || (l->file && !*l->file))
        l->file = NULL;
    if (is_artificial)
        l->line = 0;
}

static size_t find(void *object, uint64_t address, struct fv_code_line *out, size_t room)
{
    struct object *o = object;
    asection *s = section_of(o->bfd, address);
    size_t count = 0;
    struct fv_code_line l = { 0 };

    if (!s || !bfd_find_nearest_line(o->bfd, s, o->symbols, address - s->vma, &l.file, &l.function, &l.line)) {
        o->is_lost |= o->is_shared;
        return 0;
    }
    o->is_lost |= o->is_shared && !l.file;
    do {
        clean_place(o, &l);
        if (count < room)
            out[count++] = l;
        l = (struct fv_code_line){ 0 };
    } while (count < room && bfd_find_inliner_info(o->bfd, &l.file, &l.function, &l.line));
    return count;
}

static bool unread(const void *object, char *out, size_t bytes)
{
    const struct object *o = object;

    if (o->is_indexed)
        snprintf(out, bytes,
                 "inlined functions may be missing: only libdw reads indexed addresses of DWARF 5 or -gsplit-dwarf; "
                 "build fvmpi with libdw-dev, or compile with -gdwarf-4 -gno-split-dwarf");
    else if (o->is_artificial)
        snprintf(out, bytes,
                 "some files and lines are missing: only libdw reads debug information of -flto; build fvmpi with "
                 "libdw-dev, or compile without -flto");
    else if (o->is_lost)
        snprintf(out, bytes,
                 "lines are missing: only libdw reads debug information that dwz moved to another file; build fvmpi "
                 "with libdw-dev");
    return o->is_indexed || o->is_artificial || o->is_lost;
}

static void close_object(void *object)
{
    struct object *o = object;

    free(o->symbols);
    bfd_close(o->bfd);
    free(o);
}

const struct fv_lines_reader fv_lines_bfd = { open_object, find, unread, close_object };

char *fv_lines_demangle(const char *name)
{
    return bfd_demangle(NULL, name, DEMANGLE_ANSI | DEMANGLE_PARAMS);
}
