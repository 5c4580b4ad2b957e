/* Names of variables and functions by their own addresses. Frames of call paths are symbols.c's. */
#include "report/symbols.h"

#include <stdio.h>
#include <stdlib.h>

static int by_module(const void *a, const void *b)
{
    const struct fv_address *x = *(struct fv_address *const *)a, *y = *(struct fv_address *const *)b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static const struct fv_object_symbol *find(const struct fv_object *o, uint64_t address)
{
    const struct fv_object_symbol *s = fv_object_find(o, address);

    return s && s->size ? s : NULL; /* without a size it would hold all that is behind it */
}

/* With how far the address is behind the symbol's begin: of the member of a struct. */
static void name(struct fv_model *m, struct fv_address *a, const struct fv_module_files *files)
{
    const struct fv_object_symbol *s = find(&files->debug, a->offset);

    if (!s)
        s = find(&files->object, a->offset);
    if (!s)
        return;
    a->name = fv_demangle(&m->arena, s->name, files->object.fortran || files->debug.fortran);
    if (a->offset != s->begin)
        a->name =
            fv_arena_printf(&m->arena, "%s+0x%llx", a->name, (unsigned long long)(a->offset - s->begin));
}

static void name_module(struct fv_model *m, struct fv_address **first, size_t count)
{
    struct fv_module_files files = { 0 };

    if ((*first)->module < FV_MODEL_FIRST_MODULE ||
        !fv_module_files_open(&files, &m->modules[(*first)->module], NULL))
        return;
    for (size_t i = 0; i < count; i++)
        name(m, first[i], &files);
    if (files.debug.data)
        fv_object_variables(&files.debug);
    if (files.object.data)
        fv_object_variables(&files.object);
    for (size_t i = 0; i < count; i++)
        if (!first[i]->name)
            name(m, first[i], &files);
    fv_module_files_close(&files);
}

void fv_addresses_resolve(struct fv_model *m)
{
    struct fv_address **sorted = fv_xcalloc(m->address_count, sizeof(*sorted));
    size_t end;

    for (size_t i = 0; i < m->address_count; i++) {
        sorted[i] = &m->addresses[i];
        sorted[i]->name = NULL;
    }
    if (m->address_count)
        qsort(sorted, m->address_count, sizeof(*sorted), by_module);
    for (size_t i = 0; i < m->address_count; i = end) {
        for (end = i + 1; end < m->address_count && sorted[end]->module == sorted[i]->module;)
            end++;
        name_module(m, sorted + i, end - i);
    }
    free(sorted);
}

const char *fv_address_label(const struct fv_address *a, const struct fv_model *m, char *buffer, size_t bytes)
{
    if (a->name)
        return a->name;
    snprintf(buffer, bytes, "%s%s0x%llx", m->modules[a->module].name,
             a->module < FV_MODEL_FIRST_MODULE ? "" : "+", (unsigned long long)a->offset);
    return buffer;
}
