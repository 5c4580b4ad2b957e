/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions and variables as their authors wrote them. */
#include "symbols/module_files.h"
#include "symbols/lines.h"

#include <stdlib.h>
#include <string.h>

static const char *demangle_fortran(struct fv_arena *arena, const char *name)
{
    const char *mod = !strncmp(name, "__", 2) && name[2] != '_' ? strstr(name + 2, "_MOD_") : NULL;

    if (mod)
        return fv_arena_printf(arena, "%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
    return NULL;
}

static bool is_plain_fortran(const char *name, size_t length)
{
    if (length < 2 || name[length - 1] != '_' || name[length - 2] == '_' || name[0] == '_')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') || name[i] == '_'))
            return false;
    return true;
}

/* Of ".0" at the end of a procedure within another one (Fortran's `contains`, GNU C), and of a static variable in one;
 * 0: there is none. */
static size_t number_length(const char *name, size_t length)
{
    size_t digits = 0;

    while (digits < length && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9')
        digits++;
    if (!digits || digits + 1 >= length || name[length - digits - 1] != '.' ||
        memchr(name, '.', length - digits - 1)) /* main._omp_fn.0 */
        return 0;
    return digits + 1;
}

size_t fv_function_length(const char *name)
{
    static const char *const copies[] = { ".isra.", ".part.", ".constprop.", ".cold", ".lto_priv.", ".llvm.", "@" };
    size_t length = strlen(name);

    for (unsigned i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
        const char *at = strstr(name, copies[i]);

        if (at && at > name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length - number_length(name, length);
}

const char *fv_demangle(struct fv_arena *arena, const char *name, bool fortran)
{
    size_t length = fv_function_length(name);
    char *plain = fv_arena_bytes(arena, name, length);
    const char *out = demangle_fortran(arena, plain);

    if (out)
        return out;
    if (fortran && is_plain_fortran(plain, length)) {
        plain[length - 1] = '\0';
        return plain;
    }
    char *demangled = plain[0] == '_' ? fv_lines_demangle(plain) : NULL;
    if (!demangled)
        return plain;
    out = fv_arena_string(arena, demangled);
    free(demangled);
    return out;
}
