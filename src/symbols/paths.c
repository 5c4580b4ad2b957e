/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths for display, see symbols.h. */
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

static bool is_named(const struct fv_frame *f, const char *const *names)
{
    for (; f->function && *names; names++)
        if (!strncmp(f->function, *names, strlen(*names)))
            return true;
    return false;
}

static bool is_libc(const struct fv_frame *f, const struct fv_symbols *s)
{
    return s->modules[f->module].kind == FV_MODULE_OF_C;
}

/* The MPI library's Fortran binding, which calls its C functions: not the user's code. */
static bool is_binding(const struct fv_module *module)
{
    const char *name = module->name;

    return !strncmp(name, "libmpichfort", 12) || !strncmp(name, "libmpifort", 10) ||
           !strncmp(name, "libmpi_mpifh", 12) || !strncmp(name, "libmpi_usempi", 13);
}

bool fv_module_is_fvmpi(const struct fv_module *module)
{
    return module->kind == FV_MODULE_OF_FVMPI;
}

bool fv_module_is_of_program(const struct fv_module *m, const char *program)
{
    const char *name = fv_base_name(program);
    bool is_below = name > program + 1 && !strncmp(m->path, program, (size_t)(name - program));

    return (is_below || !strcmp(m->path, program)) && !fv_module_is_fvmpi(m);
}

bool fv_module_is_code_of_program(const struct fv_module *m)
{
    return fv_module_is_code(m) && !strstr(m->path, "/lib/python") && !strstr(m->path, "/lib64/python") &&
           strncmp(m->path, "Python ", 7) != 0 && strncmp(m->path, "<frozen ", 8) != 0;
}

/* What a distribution, a compiler or MPI brings: what is in there says little of a program. */
static bool is_brought(const struct fv_module *m)
{
    static const char *const folders[] = { "/usr/lib/", "/usr/lib64/", "/usr/lib32/", "/lib/", "/lib64/", NULL };
    static const char *const names[] = { "libm.so",     "libm-",       "libstdc++", "libc++",      "libgcc_s",
                                         "libgfortran", "libquadmath", "libflang",  "libifcore",   "libimf",
                                         "libsvml",     "libintlc",    "libmpi",    "libopen-pal", "libopen-rte",
                                         "libpmix",     "libuc",       NULL };
    bool is = m->kind != FV_MODULE_OF_OTHERS || *m->path != '/';

    for (size_t i = 0; folders[i] && !is; i++)
        is = !strncmp(m->path, folders[i], strlen(folders[i]));
    for (size_t i = 0; names[i] && !is; i++)
        is = !strncmp(m->name, names[i], strlen(names[i]));
    return is;
}

enum fv_code fv_code_of(const struct fv_module *module, bool is_of_program)
{
    return is_of_program ? FV_CODE_OF_PROGRAM : is_brought(module) ? FV_CODE_OTHER : FV_CODE_OF_LIBRARY;
}

void fv_code_calls_mpi(uint8_t *code, const struct fv_module *modules, uint32_t module)
{
    if (module >= FV_MODEL_FIRST_MODULE && code[module] == FV_CODE_OTHER && !fv_module_is_fvmpi(&modules[module]) &&
        !is_binding(&modules[module]))
        code[module] = FV_CODE_OF_LIBRARY;
}

static size_t innermost(const struct fv_path *p, const uint8_t *code, enum fv_code of)
{
    size_t i = 0;

    while (i < p->count && code[p->frames[i].module] != of)
        i++;
    return i;
}

/* A stub between functions of one module has no name, while what calls it has. */
static size_t without_stub(const struct fv_path *p, size_t at)
{
    bool is_stub = at + 1 < p->count && !p->frames[at].function && p->frames[at + 1].function &&
                   p->frames[at].module == p->frames[at + 1].module;

    return is_stub ? at + 1 : at;
}

size_t fv_path_own(const struct fv_path *p, const uint8_t *code)
{
    const size_t own = without_stub(p, innermost(p, code, FV_CODE_OF_PROGRAM)),
                 library = without_stub(p, innermost(p, code, FV_CODE_OF_LIBRARY));
    const char *name = own < p->count ? p->frames[own].function : NULL;

    return library < own && name && (!strcmp(name, "main") || !strcmp(name, "MAIN__")) ? library : own;
}

/* Drops the innermost frames that are the binding's, unless nothing would be left. */
static void trim_binding(struct fv_path *p, const struct fv_symbols *s)
{
    size_t skip = 0;

    while (skip < p->count && is_binding(&s->modules[p->frames[skip].module]))
        skip++;
    if (skip == p->count)
        return;
    p->count -= skip;
    memmove(p->frames, p->frames + skip, p->count * sizeof(*p->frames));
}

/* Cuts the frames outside of main. Where main has no name (stripped programs), it is the function that
 * the C library's start-up code called, which in turn is called by the program's _start. */
static void trim(struct fv_path *p, const struct fv_symbols *s)
{
    static const char *const start_up[] = { "__libc_start_", "clone", "__clone", "start_thread", "__libc_init", NULL };
    struct fv_frame *f = p->frames;
    size_t count = p->count;

    for (size_t i = count; i-- > 0;)
        if (f[i].function && !strcmp(f[i].function, "main") && !fv_module_is_code(&s->modules[f[i].module])) {
            p->count = i + 1;
            return;
        }
    bool started = count && f[count - 1].function && !strcmp(f[count - 1].function, "_start");
    if (started || (count > 2 && !f[count - 1].function && is_libc(&f[count - 2], s))) {
        count--;
        started = true;
    }
    while (count > 1 && (is_libc(&f[count - 1], s) || is_named(&f[count - 1], start_up)))
        count--;
    if (started && count && count + 1 < p->count && !f[count - 1].function &&
        f[count - 1].module >= FV_MODEL_FIRST_MODULE)
        f[count - 1].function = "main";
    if (count)
        p->count = count;
}

void fv_path_of(struct fv_path *p, const struct fv_symbols *s, uint32_t node)
{
    p->count = 0;
    for (; node; node = s->nodes[node].parent) {
        const struct fv_symbol *symbol = &s->of_node[node];

        FV_GROW(p->frames, p->room, p->count + symbol->count);
        memcpy(p->frames + p->count, s->frames + symbol->first, symbol->count * sizeof(*p->frames));
        p->count += symbol->count;
    }
    trim_binding(p, s);
    trim(p, s);
}

void fv_path_release(struct fv_path *p)
{
    free(p->frames);
    *p = (struct fv_path){ 0 };
}
