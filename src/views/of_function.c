/* SPDX-License-Identifier: BSD-3-Clause */
/* See of_function.h. */
#include "views/of_function.h"
#include "tool/words.h"

#include <stdlib.h>
#include <string.h>

static size_t own_column(const struct fv_flat *flat, const char *key)
{
    size_t column = fv_flat_find(flat, key, strlen(key));

    return column != SIZE_MAX && flat->items[column].outer ? SIZE_MAX : column;
}

void fv_of_function_init(struct fv_of_function *of, const struct fv_flat *flat, const char *name)
{
    static const char *const keys[] = { "function", "procedure", "name", "called_by", "path" };

    *of = (struct fv_of_function){ .name = name, .flat = flat, .id = SIZE_MAX, .parent = SIZE_MAX };
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        size_t column = fv_flat_find(flat, keys[i], strlen(keys[i]));

        if (column != SIZE_MAX && flat->items[column].column->type == FV_TYPE_TEXT)
            of->columns[of->count++] = column;
    }
    of->id = own_column(flat, "id");
    of->parent = own_column(flat, "parent_id");
}

/* "solve(int)", "ns::solve" and "solve() at a.c:12" are all solve(). */
static bool is_named(const char *text, size_t bytes, const char *name)
{
    char whole[512], brief[512];

    if (bytes >= sizeof(whole))
        return false;
    memcpy(whole, text, bytes);
    whole[bytes] = '\0';
    if (!strcmp(whole, name))
        return true;
    if (strstr(whole, " at "))
        *strstr(whole, " at ") = '\0';
    fv_words_short(whole, brief, sizeof(brief));
    size_t length = strlen(brief), own = strlen(name);
    return length >= own && !strcmp(brief + length - own, name) &&
           (length == own || (length > own + 1 && brief[length - own - 1] == ':'));
}

/* Of any frame of a path, "inner < outer". */
static bool names_it(const struct fv_of_function *of, void *subject, const struct fv_flat_row *row)
{
    bool found = false;

    for (size_t i = 0; i < of->count && !found; i++) {
        struct fv_value v = fv_flat_read(&of->flat->items[of->columns[i]], subject, row);

        for (const char *p = v.null ? NULL : v.text; p && !found;) {
            const char *next = strstr(p, " < ");

            found = is_named(p, next ? (size_t)(next - p) : strlen(p), of->name);
            p = next ? next + 3 : NULL;
        }
    }
    return found;
}

/* False: it is no number, or not known. */
static bool read_id(const struct fv_of_function *of, size_t column, void *subject, const struct fv_flat_row *row,
                    uint64_t *id)
{
    const struct fv_value v =
        column == SIZE_MAX ? (struct fv_value){ .null = true } : fv_flat_read(&of->flat->items[column], subject, row);

    *id = v.null ? 0 : v.type == FV_TYPE_NUMBER ? (uint64_t)v.number : v.whole;
    return !v.null && (v.type == FV_TYPE_WHOLE || v.type == FV_TYPE_NUMBER);
}

static bool is_below(const struct fv_of_function *of, void *subject, const struct fv_flat_row *row)
{
    uint64_t parent;

    if (!of->wanted_count || !read_id(of, of->parent, subject, row, &parent))
        return false;
    for (size_t i = of->wanted_count; i > 0; i--)
        if (of->wanted[i - 1] == parent)
            return true;
    return false;
}

bool fv_of_function_has(struct fv_of_function *of, void *subject, const struct fv_flat_row *row)
{
    uint64_t id;

    if (!of->name)
        return true;
    if (!names_it(of, subject, row) && !is_below(of, subject, row))
        return false;
    if (of->parent != SIZE_MAX && read_id(of, of->id, subject, row, &id)) {
        FV_GROW(of->wanted, of->wanted_room, of->wanted_count + 1);
        of->wanted[of->wanted_count++] = id;
    }
    return true;
}

void fv_of_function_release(struct fv_of_function *of)
{
    free(of->wanted);
    *of = (struct fv_of_function){ 0 };
}
