/* SPDX-License-Identifier: BSD-3-Clause */
/* See diff_join.h. */
#include "diff/diff_join.h"

#include <stdlib.h>
#include <string.h>

/* ---- equal? ---- */

static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
    return fv_mix2(hash, fv_hash_bytes(text, length));
}

static bool has_line(const struct fv_diff_frame *f)
{
    return f->file && f->line;
}

static bool same_build(const struct fv_diff_frame *a, const struct fv_diff_frame *b)
{
    return a->build_id_bytes && a->build_id_bytes == b->build_id_bytes &&
           !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

/* An offset in another build says nothing, unless it is in a function of the same name. */
static bool same_offset(const struct fv_diff_frame *a, const struct fv_diff_frame *b)
{
    bool other_build = a->build_id_bytes && b->build_id_bytes && !same_build(a, b);

    return a->offset == b->offset && !strcmp(a->module, b->module) && (a->function || !other_build);
}

static bool same_frame(const struct fv_diff_frame *a, const struct fv_diff_frame *b)
{
    if (!fv_same_text(a->function, b->function) || has_line(a) != has_line(b))
        return false;
    return has_line(a) ? a->line == b->line && !strcmp(a->file, b->file) : same_offset(a, b);
}

static bool same_name(const struct fv_diff_frame *a, const struct fv_diff_frame *b)
{
    if (!a->function || !b->function)
        return false;
    size_t length = fv_function_length(a->function);

    return length == fv_function_length(b->function) && !memcmp(a->function, b->function, length);
}

static bool same_position(const struct fv_diff_path *a, const struct fv_diff_path *b)
{
    if (a->position_hash != b->position_hash || a->count != b->count || strcmp(a->function, b->function))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_frame(&a->frames[i], &b->frames[i]))
            return false;
    return true;
}

static bool same_names(const struct fv_diff_path *a, const struct fv_diff_path *b)
{
    if (a->names_hash != b->names_hash || a->count != b->count || strcmp(a->function, b->function))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct fv_diff_frame *x = &a->frames[i], *y = &b->frames[i];

        if (same_build(x, y) ? !same_frame(x, y) : !same_name(x, y))
            return false;
    }
    return true;
}

void fv_diff_path_seal(struct fv_diff_path *p)
{
    uint64_t position = hash_text(1, p->function, strlen(p->function)), names = position;

    for (size_t i = 0; i < p->count; i++) {
        const struct fv_diff_frame *f = &p->frames[i];
        const char *name = f->function ? f->function : f->module;

        position = hash_text(position, name, strlen(name));
        position = fv_mix2(position, has_line(f) ? f->line : f->offset);
        names = hash_text(names, name, f->function ? fv_function_length(name) : strlen(name));
    }
    p->position_hash = position;
    p->names_hash = names;
}

/* ---- the paths of a side ---- */

uint32_t fv_diff_paths_find(const struct fv_diff_paths *paths, const struct fv_diff_path *path)
{
    struct fv_index_probe p = fv_index_probe(&paths->index, path->position_hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (same_position(&paths->items[i], path))
            return i;
    return FV_NONE;
}

uint32_t fv_diff_paths_add(struct fv_diff_paths *paths, const struct fv_diff_path *path)
{
    FV_GROW(paths->items, paths->room, paths->count + 1);
    paths->items[paths->count] = *path;
    fv_index_add(&paths->index, path->position_hash, (uint32_t)paths->count);
    return (uint32_t)paths->count++;
}

void fv_diff_paths_release(struct fv_diff_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i].samples);
    free(paths->items);
    fv_index_release(&paths->index);
    *paths = (struct fv_diff_paths){ 0 };
}

/* ---- the join ---- */

struct left {
    const struct fv_diff_path *path;
    uint32_t item;
};

/* By names, and within these by the order of the source: outermost frame first, line or offset. */
static int by_names_and_position(const void *a, const void *b)
{
    const struct fv_diff_path *x = ((const struct left *)a)->path, *y = ((const struct left *)b)->path;

    if (x->names_hash != y->names_hash)
        return x->names_hash < y->names_hash ? -1 : 1;
    for (size_t i = 1; i <= x->count && i <= y->count; i++) {
        const struct fv_diff_frame *f = &x->frames[x->count - i], *g = &y->frames[y->count - i];
        uint64_t at = has_line(f) ? f->line : f->offset, other = has_line(g) ? g->line : g->offset;

        if (at != other)
            return at < other ? -1 : 1;
    }
    uint32_t i = ((const struct left *)a)->item, k = ((const struct left *)b)->item;

    return (i > k) - (i < k);
}

static size_t gather_left(const struct fv_diff_paths *paths, const bool *taken, struct left *out)
{
    size_t count = 0;

    for (uint32_t i = 0; i < paths->count; i++)
        if (!taken[i])
            out[count++] = (struct left){ &paths->items[i], i };
    if (count)
        qsort(out, count, sizeof(*out), by_names_and_position);
    return count;
}

/* Paths of the same names: each of a takes the first of b that no other has taken. */
static void pair_group(const struct left *a, size_t a_count, const struct left *b, size_t b_count, bool *b_taken,
                       struct fv_diff_partner *out)
{
    size_t first = 0;

    for (size_t i = 0; i < a_count; i++) {
        while (first < b_count && b_taken[b[first].item])
            first++;
        for (size_t k = first; k < b_count; k++)
            if (!b_taken[b[k].item] && same_names(a[i].path, b[k].path)) {
                out[a[i].item] = (struct fv_diff_partner){ b[k].item, true, a_count != b_count };
                b_taken[b[k].item] = true;
                break;
            }
    }
}

static size_t group_end(const struct left *paths, size_t begin, size_t count)
{
    size_t end = begin;

    while (end < count && paths[end].path->names_hash == paths[begin].path->names_hash)
        end++;
    return end;
}

static void pair_names(const struct left *a, size_t a_count, const struct left *b, size_t b_count, bool *b_taken,
                       struct fv_diff_partner *out)
{
    size_t i = 0, k = 0;

    while (i < a_count && k < b_count) {
        uint64_t x = a[i].path->names_hash, y = b[k].path->names_hash;
        size_t a_end = group_end(a, i, a_count), b_end = group_end(b, k, b_count);

        if (x == y)
            pair_group(a + i, a_end - i, b + k, b_end - k, b_taken, out);
        if (x <= y)
            i = a_end;
        if (y <= x)
            k = b_end;
    }
}

void fv_diff_paths_join(const struct fv_diff_paths *a, const struct fv_diff_paths *b, struct fv_diff_partner *out)
{
    bool *a_taken = fv_xcalloc(a->count + 1, sizeof(*a_taken)), *b_taken = fv_xcalloc(b->count + 1, sizeof(*b_taken));
    struct left *a_left = fv_xcalloc(a->count + 1, sizeof(*a_left)),
                *b_left = fv_xcalloc(b->count + 1, sizeof(*b_left));

    for (size_t i = 0; i < a->count; i++) {
        out[i] = (struct fv_diff_partner){ .item = fv_diff_paths_find(b, &a->items[i]) };
        a_taken[i] = out[i].item != FV_NONE;
        if (a_taken[i])
            b_taken[out[i].item] = true;
    }
    size_t a_count = gather_left(a, a_taken, a_left), b_count = gather_left(b, b_taken, b_left);
    pair_names(a_left, a_count, b_left, b_count, b_taken, out);
    free(a_left);
    free(b_left);
    free(a_taken);
    free(b_taken);
}
