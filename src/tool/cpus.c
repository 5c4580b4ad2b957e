/* SPDX-License-Identifier: BSD-3-Clause */
/* See cpus.h. */
#include "tool/cpus.h"

#include <ctype.h>
#include <stdlib.h>

/* A number from 0 that a set has room for. */
static bool take_number(const char **at, size_t *out)
{
    size_t value = 0;
    const char *begin = *at;

    for (; isdigit((unsigned char)**at) && value < FV_CPUS_MOST; (*at)++)
        value = 10 * value + (size_t)(**at - '0');
    *out = value;
    return *at > begin && value < FV_CPUS_MOST;
}

bool fv_cpus_from_list(const char *at, struct fv_cpus *out)
{
    *out = (struct fv_cpus){ 0 };
    if (!*at || !strcmp(at, "(null)"))
        return true;
    for (;; at++) {
        size_t first, last;

        if (!take_number(&at, &first))
            return false;
        last = first;
        if (*at == '-') {
            at++;
            if (!take_number(&at, &last) || last < first)
                return false;
        }
        for (; first <= last; first++)
            fv_cpus_set(out, first);
        if (*at != ',')
            return !*at;
    }
}

/* From the last digit on: commas stand anywhere. */
bool fv_cpus_from_mask(const char *text, struct fv_cpus *out)
{
    size_t bit = 0;

    *out = (struct fv_cpus){ 0 };
    for (size_t i = strlen(text); i--;) {
        if (text[i] == ',')
            continue;
        if (!isxdigit((unsigned char)text[i]))
            return false;
        uint64_t digit = strtoul((char[]){ text[i], '\0' }, NULL, 16);
        if (digit && bit >= FV_CPUS_MOST)
            return false;
        if (digit)
            out->bits[bit / 64] |= digit << bit % 64;
        bit += 4;
    }
    return bit > 0;
}

char *fv_cpus_list(const struct fv_cpus *cpus, struct fv_arena *arena)
{
    struct fv_string text = { 0 };

    fv_string_clear(&text);
    for (size_t first = 0; first < FV_CPUS_MOST; first++) {
        size_t last = first;

        if (!fv_cpus_has(cpus, first))
            continue;
        while (last + 1 < FV_CPUS_MOST && fv_cpus_has(cpus, last + 1))
            last++;
        fv_string_add(&text, last > first ? "%s%zu-%zu" : "%s%zu", *text.text ? "," : "", first, last);
        first = last;
    }
    char *out = fv_arena_string(arena, text.text);
    fv_string_release(&text);
    return out;
}

char *fv_cpus_mask(const struct fv_cpus *cpus, struct fv_arena *arena)
{
    struct fv_string text = { 0 };

    fv_string_clear(&text);
    for (size_t word = 2 * FV_CPUS_WORDS; word--;) {
        uint32_t bits = (uint32_t)(cpus->bits[word / 2] >> 32 * (word % 2));

        if (*text.text)
            fv_string_add(&text, ",%08x", bits);
        else if (bits || !word)
            fv_string_add(&text, "%x", bits);
    }
    char *out = fv_arena_string(arena, text.text);
    fv_string_release(&text);
    return out;
}

size_t fv_cpus_count(const struct fv_cpus *cpus)
{
    size_t count = 0;

    for (size_t i = 0; i < FV_CPUS_WORDS; i++)
        count += (size_t)__builtin_popcountll(cpus->bits[i]);
    return count;
}

size_t fv_cpus_first(const struct fv_cpus *cpus)
{
    for (size_t i = 0; i < FV_CPUS_WORDS; i++)
        if (cpus->bits[i])
            return 64 * i + (size_t)__builtin_ctzll(cpus->bits[i]);
    return FV_CPUS_MOST;
}

bool fv_cpus_within(const struct fv_cpus *a, const struct fv_cpus *b)
{
    for (size_t i = 0; i < FV_CPUS_WORDS; i++)
        if (a->bits[i] & ~b->bits[i])
            return false;
    return true;
}

bool fv_cpus_meet(const struct fv_cpus *a, const struct fv_cpus *b)
{
    for (size_t i = 0; i < FV_CPUS_WORDS; i++)
        if (a->bits[i] & b->bits[i])
            return true;
    return false;
}

bool fv_cpus_same(const struct fv_cpus *a, const struct fv_cpus *b)
{
    return !memcmp(a, b, sizeof(*a));
}

void fv_cpus_add(struct fv_cpus *to, const struct fv_cpus *from)
{
    for (size_t i = 0; i < FV_CPUS_WORDS; i++)
        to->bits[i] |= from->bits[i];
}

void fv_cpus_remove(struct fv_cpus *from, const struct fv_cpus *what)
{
    for (size_t i = 0; i < FV_CPUS_WORDS; i++)
        from->bits[i] &= ~what->bits[i];
}
