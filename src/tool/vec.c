/* SPDX-License-Identifier: BSD-3-Clause */
/* See vec.h. */
#include "tool/vec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FV_COLD _Noreturn void out_of_memory(void)
{
    fv_log("out of memory; use a machine with more memory, or read fewer files at a time");
    exit(1);
}

void *fv_xcalloc(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

    if (!memory)
        out_of_memory();
    return memory;
}

void *fv_xrealloc(void *memory, size_t count, size_t bytes)
{
    size_t total;

    if (__builtin_mul_overflow(count ? count : 1, bytes ? bytes : 1, &total) || !(memory = realloc(memory, total)))
        out_of_memory();
    return memory;
}

void *fv_grow_more(void *array, size_t *room, size_t needed, size_t bytes)
{
    size_t more = *room ? *room * 2 : 16;
    *room = more < needed ? needed : more;
    return fv_xrealloc(array, *room, bytes);
}

size_t fv_fold(void *items, size_t count, size_t bytes, fv_compare_fn *compare, fv_add_fn *add)
{
    char *kept = items, *end;

    if (!count)
        return 0;
    end = kept + count * bytes;
    qsort(items, count, bytes, compare);
    for (const char *next = kept + bytes; next < end; next += bytes) {
        if (compare(kept, next))
            memmove(kept += bytes, next, bytes);
        else if (add)
            add(kept, next);
    }
    return (size_t)(kept - (char *)items) / bytes + 1;
}

static size_t piece_end(const void *const *items, size_t at, size_t count, fv_compare_fn *compare)
{
    while (at < count && ++at < count && compare(items[at - 1], items[at]) <= 0)
        continue;
    return at;
}

/* Each piece and the one behind it become one. Returns how many pieces there are then. */
static size_t merge_pieces(const void **to, const void *const *from, size_t count, fv_compare_fn *compare)
{
    size_t put = 0, pieces = 0;

    for (size_t at = 0, first, second, stop; at < count; at = stop, pieces++) {
        second = first = piece_end(from, at, count, compare);
        stop = piece_end(from, first, count, compare);
        while (at < first || second < stop) {
            bool is_first = second == stop || (at < first && compare(from[at], from[second]) <= 0);

            to[put++] = is_first ? from[at++] : from[second++];
        }
    }
    return pieces;
}

void fv_sort_pieces(const void **items, size_t count, fv_compare_fn *compare)
{
    const void **room, **from = items, **to;

    if (piece_end(items, 0, count, compare) == count)
        return;
    to = room = fv_xcalloc(count, sizeof(*room));
    for (size_t pieces = 2; pieces > 1;) {
        const void **merged = to;

        pieces = merge_pieces(to, from, count, compare);
        to = from;
        from = merged;
    }
    if (from != items)
        memcpy(items, from, count * sizeof(*items));
    free(room);
}

/* ---- strings ---- */

void fv_string_clear(struct fv_string *s)
{
    FV_GROW(s->text, s->room, 1);
    s->text[s->used = 0] = '\0';
}

void fv_string_add(struct fv_string *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    FV_GROW(s->text, s->room, s->used + (n > 0 ? (size_t)n : 0) + 1);
    va_start(args, format);
    s->text[s->used] = '\0';
    vsnprintf(s->text + s->used, s->room - s->used, format, args);
    va_end(args);
    s->used += n > 0 ? (size_t)n : 0;
}

void fv_string_release(struct fv_string *s)
{
    free(s->text);
    *s = (struct fv_string){ 0 };
}

/* ---- arena ---- */

struct fv_arena_block {
    struct fv_arena_block *next;
    uint64_t bytes[];
};

void *fv_arena_take(struct fv_arena *arena, size_t bytes)
{
    bytes = fv_round_up(bytes ? bytes : 1, 8);
    if (!arena->blocks || arena->room - arena->used < bytes) {
        size_t room = bytes > 32768 ? bytes : 65536;
        struct fv_arena_block *block = fv_xcalloc(1, sizeof(*block) + room);

        block->next = arena->blocks;
        arena->blocks = block;
        arena->room = room;
        arena->used = 0;
    }
    void *out = (char *)arena->blocks->bytes + arena->used;
    arena->used += bytes;
    return out;
}

char *fv_arena_bytes(struct fv_arena *arena, const char *text, size_t length)
{
    char *out = fv_arena_take(arena, length + 1);

    memcpy(out, text, length);
    return out;
}

char *fv_arena_string(struct fv_arena *arena, const char *text)
{
    return fv_arena_bytes(arena, text, strlen(text));
}

char *fv_arena_printf(struct fv_arena *arena, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *out = fv_arena_take(arena, n > 0 ? (size_t)n + 1 : 1);
    if (n > 0)
        vsnprintf(out, (size_t)n + 1, format, again);
    va_end(again);
    return out;
}

void fv_arena_release(struct fv_arena *arena)
{
    while (arena->blocks) {
        struct fv_arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
    arena->used = arena->room = 0;
}

/* ---- index ---- */

static void place(struct fv_index_slot *slots, uint32_t mask, uint32_t at, struct fv_index_slot slot)
{
    for (at &= mask; slots[at].item; at = (at + 1) & mask)
        continue;
    slots[at] = slot;
}

/* Only the upper half of a hash is kept; the place is mixed from it, as in fv_index_probe(). */
static uint32_t home(uint32_t stored)
{
    return (uint32_t)fv_mix(stored);
}

void fv_index_add(struct fv_index *index, uint64_t hash, uint32_t item)
{
    if (!index->slots || index->used * 2 >= index->mask) {
        struct fv_index bigger = { .mask = index->slots ? index->mask * 2 + 1 : 63, .used = index->used };

        bigger.slots = fv_xcalloc((size_t)bigger.mask + 1, sizeof(*bigger.slots));
        for (uint32_t i = 0; index->slots && i <= index->mask; i++)
            if (index->slots[i].item)
                place(bigger.slots, bigger.mask, home(index->slots[i].hash), index->slots[i]);
        free(index->slots);
        *index = bigger;
    }
    uint32_t stored = (uint32_t)(hash >> 32);
    place(index->slots, index->mask, home(stored), (struct fv_index_slot){ stored, item + 1 });
    index->used++;
}

void fv_index_release(struct fv_index *index)
{
    free(index->slots);
    *index = (struct fv_index){ 0 };
}

uint32_t fv_find_name(const struct fv_index *index, const void *items, size_t item_bytes, const char *name)
{
    struct fv_index_probe p = fv_index_probe(index, fv_hash_text(name));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE &&
           strcmp(*(const char *const *)((const char *)items + i * item_bytes), name))
        continue;
    return i;
}

uint32_t fv_add_name(struct fv_index *index, void *items, size_t item_bytes, size_t *count, struct fv_arena *arena,
                     const char *name)
{
    uint32_t i = (uint32_t)(*count)++;
    char *item = (char *)items + i * item_bytes;

    memset(item, 0, item_bytes);
    *(const char **)item = fv_arena_string(arena, name);
    fv_index_add(index, fv_hash_text(name), i);
    return i;
}

uint64_t fv_hash_bytes(const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return fv_mix(hash);
}

int fv_by_real(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double fv_quantile(const void *sorted, size_t bytes, size_t count, double part)
{
    double at = part * (double)(count - 1);
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    double x = *(const double *)(const void *)((const char *)sorted + low * bytes),
           y = *(const double *)(const void *)((const char *)sorted + high * bytes);

    return x + (at - (double)low) * (y - x);
}

/* Puts the values that are to stand before the k-th one before it: by halving around a value of three, with those that
 * are equal to it in the middle. */
static void put_in_place(double *v, size_t count, size_t k)
{
    for (size_t first = 0, end = count; end - first > 1;) {
        double a = v[first], b = v[first + (end - first) / 2], c = v[end - 1],
               pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t less = first, at = first, more = end;

        while (at < more) {
            double x = v[at];

            if (x < pivot) {
                v[at++] = v[less];
                v[less++] = x;
            } else if (x > pivot) {
                v[at] = v[--more];
                v[more] = x;
            } else {
                at++;
            }
        }
        if (k >= less && k < more)
            return;
        first = k < less ? first : more;
        end = k < less ? less : end;
    }
}

double fv_select(double *v, size_t count, double part)
{
    double place = (double)(count - 1) * part;
    size_t k = (size_t)place;

    put_in_place(v, count, k);
    double low = v[k], high = INFINITY;
    for (size_t i = k + 1; i < count; i++)
        high = fmin(high, v[i]);
    return k + 1 < count ? low + (place - (double)k) * (high - low) : low;
}
