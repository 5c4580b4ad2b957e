/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of variables and functions by their own addresses, see symbols.h. Frames of call paths are
 * symbols.c's. */
#include "symbols/module_files.h"

#include <stdio.h>
#include <stdlib.h>

static int by_module(const void *a, const void *b)
{
    const struct fv_address *x = *(struct fv_address *const *)a, *y = *(struct fv_address *const *)b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static const struct fv_elf_symbol *find(const struct fv_elf *o, uint64_t address)
{
    const struct fv_elf_symbol *s = fv_elf_find(o, address);

    return s && s->size ? s : NULL; /* without a size it would hold all that is behind it */
}

/* With how far the address is behind the symbol's begin: of the member of a struct. */
static void name(struct fv_symbols *symbols, struct fv_address *a, const struct fv_module_files *files)
{
    const struct fv_elf_symbol *s = find(&files->debug, a->offset);

    if (!s)
        s = find(&files->object, a->offset);
    if (!s)
        return;
    a->name = fv_demangle(&symbols->arena, s->name, files->object.fortran || files->debug.fortran);
    if (a->offset != s->begin)
        a->name = fv_arena_printf(&symbols->arena, "%s+0x%llx", a->name, (unsigned long long)(a->offset - s->begin));
}

static void name_module(struct fv_symbols *symbols, struct fv_address **first, size_t count)
{
    struct fv_module_files files = { 0 };
    const struct fv_module *module = &symbols->modules[(*first)->module];
    const char *function = fv_module_is_code(module) ? fv_code_function(module) : NULL;

    for (size_t i = 0; function && i < count; i++)
        first[i]->name = fv_arena_string(&symbols->arena, function);
    if (function || (*first)->module < FV_MODEL_FIRST_MODULE || !fv_module_files_open(&files, module, NULL))
        return;
    for (size_t i = 0; i < count; i++)
        name(symbols, first[i], &files);
    if (files.debug.data)
        fv_elf_variables(&files.debug);
    if (files.object.data)
        fv_elf_variables(&files.object);
    for (size_t i = 0; i < count; i++)
        if (!first[i]->name)
            name(symbols, first[i], &files);
    fv_module_files_close(&files);
}

void fv_addresses_resolve(struct fv_symbols *symbols, struct fv_address *addresses, size_t count)
{
    struct fv_address **sorted = fv_xcalloc(count, sizeof(*sorted));
    size_t end;

    for (size_t i = 0; i < count; i++) {
        sorted[i] = &addresses[i];
        sorted[i]->name = NULL;
    }
    if (count)
        qsort(sorted, count, sizeof(*sorted), by_module);
    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end]->module == sorted[i]->module;)
            end++;
        name_module(symbols, sorted + i, end - i);
    }
    free(sorted);
}
