/* SPDX-License-Identifier: BSD-3-Clause */
/* See record_text.h. */
#include "trace/record_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void fv_text_quoted(const char *text, uint64_t bytes)
{
    putchar('"');
    for (uint64_t i = 0; i < bytes && text[i]; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void put(const char *text)
{
    fputs_unlocked(text, stdout);
}

/* A dump is mostly numbers: printf() takes longer for one than all else together. */
static void print_number(uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    fwrite_unlocked(digits + at, 1, sizeof(digits) - at, stdout);
}

static int64_t number_at(const struct fv_member *m, const uint8_t *at)
{
    switch (m->element) {
    case 1: return *at;
    case 2: return *(const uint16_t *)(const void *)at;
    case 4:
        return m->kind == FV_MEMBER_SIGNED ? (int64_t) * (const int32_t *)(const void *)at
                                           : (int64_t) * (const uint32_t *)(const void *)at;
    default: return *(const int64_t *)(const void *)at;
    }
}

/* a+b+0x40 */
static void print_flags(const struct fv_enum *of, uint64_t value)
{
    const char *plus = "";

    for (unsigned i = 0; i < of->count; i++)
        if (value & of->list[i].value) {
            printf("%s%s", plus, of->list[i].word);
            value &= ~of->list[i].value;
            plus = "+";
        }
    if (value || !*plus)
        printf("%s%#" PRIx64, plus, value);
}

static void print_value(const struct fv_member *m, const uint8_t *at)
{
    if (m->kind == FV_MEMBER_DOUBLE) {
        printf("%.17g", *(const double *)(const void *)at);
        return;
    }
    const int64_t value = number_at(m, at);
    const uint64_t bits = m->bits ? (uint64_t)value & ((UINT64_C(1) << m->bits) - 1) : (uint64_t)value;

    if (m->bits)
        printf("%" PRIu64 ":", (uint64_t)value >> m->bits);
    if (m->words && m->words->flags) {
        print_flags(m->words, bits);
    } else if (m->words && *fv_enum_word(m->words, bits) != '?') {
        put(fv_enum_word(m->words, bits));
    } else if (m->hex) {
        printf(m->element == 1 ? "%02" PRIx64 : "%#" PRIx64, (uint64_t)value);
    } else {
        put(m->kind == FV_MEMBER_SIGNED && value < 0 ? "-" : "");
        print_number(m->kind == FV_MEMBER_SIGNED && value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    }
}

/* A structure in an array: its values, if they are numbers alone. */
static bool is_flat(const struct fv_layout *layout)
{
    for (unsigned i = 0; i < layout->members; i++)
        if (layout->member[i].of || layout->member[i].count)
            return false;
    return true;
}

static void print_element(const struct fv_member *m, const uint8_t *at)
{
    if (!m->of) {
        print_value(m, at);
        return;
    }
    for (unsigned i = 0; i < m->of->members; i++) {
        put(i ? "," : "");
        print_value(&m->of->member[i], at + m->of->member[i].offset);
    }
}

static bool is_zero(const uint8_t *at, uint64_t bytes)
{
    return !bytes || (!*at && !memcmp(at, at + 1, bytes - 1));
}

/* Without zeros at its end, but for what is counted. */
static void print_list(const struct fv_member *m, const uint8_t *at, uint64_t count, const char *between)
{
    while (!m->elements && count > 1 && is_zero(at + (count - 1) * m->element, m->element))
        count--;
    for (uint64_t i = 0; i < count; i++) {
        put(i ? between : "");
        print_element(m, at + i * m->element);
    }
}

static void print_array(const struct fv_member *m, const uint8_t *at, uint64_t count)
{
    const char *comma = "";

    if (m->by) {
        for (uint64_t i = 0; i < count; i++)
            if (!is_zero(at + i * m->element, m->element)) {
                printf("%s%s:", comma, fv_enum_word(m->by, i));
                print_element(m, at + i * m->element);
                comma = ",";
            }
        if (!*comma)
            put("-");
        return;
    }
    for (; m->row && count > m->row && is_zero(at + (count - m->row) * m->element, (uint64_t)m->row * m->element);)
        count -= m->row;
    for (uint64_t i = 0; m->row && i < count; i += m->row) {
        put(i ? ";" : "");
        print_list(m, at + i * m->element, m->row, ",");
    }
    if (!m->row)
        print_list(m, at, count, m->of ? ";" : m->hex && m->element == 1 ? "" : ",");
    if (!count)
        put("-");
}

static void print_member(const char *prefix, const struct fv_member *m, const uint8_t *record, uint64_t bytes)
{
    const uint64_t count = m->elements ? fv_elements(m->elements, record, bytes) : m->count;
    const bool is_array = m->count || m->elements;
    char name[128];

    for (uint64_t i = 0; m->of && (!is_array || !is_flat(m->of)) && i < (is_array ? count : 1); i++) {
        snprintf(name, sizeof(name), is_array ? "%s%s[%" PRIu64 "]." : "%s%s.", prefix, m->name, i);
        fv_text_members(name, m->of, record + m->offset + i * m->element, m->element);
    }
    if (m->of && (!is_array || !is_flat(m->of)))
        return;
    put(" ");
    put(prefix);
    put(m->name);
    put("=");
    if (m->kind == FV_MEMBER_TEXT)
        fv_text_quoted((const char *)record + m->offset, count);
    else if (is_array)
        print_array(m, record + m->offset, count);
    else
        print_value(m, record + m->offset);
}

void fv_text_members(const char *prefix, const struct fv_layout *layout, const void *record, uint64_t bytes)
{
    for (unsigned i = 0; i < layout->members; i++)
        print_member(prefix, &layout->member[i], record, bytes);
}
