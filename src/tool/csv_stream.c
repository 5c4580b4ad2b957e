/* SPDX-License-Identifier: BSD-3-Clause */
/* See csv_stream.h. */
#include "tool/csv_stream.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void comma(struct fv_csv *c)
{
    if (c->any)
        putc_unlocked(',', c->out);
    c->any = true;
}

static void put_clean(struct fv_csv *c, const char *text)
{
    char next[FV_CLEAN];

    while (*text) {
        const char *p = text;

        while (*p >= 0x20 && *p < 0x7f && *p != '"')
            p++;
        fwrite_unlocked(text, 1, (size_t)(p - text), c->out);
        if (*p == '"')
            fwrite_unlocked("\"", 1, 1, c->out);
        if (*p)
            fwrite_unlocked(next, 1, fv_words_clean_next(&p, next), c->out);
        text = p;
    }
}

/* A name of the program's must not become a formula where the table is opened in a spreadsheet. */
bool fv_csv_is_formula(const char *text)
{
    char *end;

    if (!*text || !strchr("=+-@", *text) || !text[1])
        return false;
    strtod(text, &end);
    return *end;
}

void fv_csv_text(struct fv_csv *c, const char *value)
{
    const char *text = value ? value : "";
    bool quoted = text[0] == ' ' || text[strcspn(text, ",\"")]; /* clean text has no ends of lines */

    comma(c);
    if (quoted)
        putc_unlocked('"', c->out);
    if (fv_csv_is_formula(text))
        putc_unlocked('\'', c->out);
    put_clean(c, text);
    if (quoted)
        putc_unlocked('"', c->out);
}

void fv_csv_real(struct fv_csv *c, double value)
{
    char word[FV_REAL];

    comma(c);
    if (isfinite(value))
        fwrite_unlocked(word, 1, fv_words_real(value, word), c->out);
}

void fv_csv_whole(struct fv_csv *c, uint64_t value)
{
    char word[FV_DIGITS];

    comma(c);
    fwrite_unlocked(word, 1, fv_words_digits(value, word), c->out);
}

void fv_csv_number(struct fv_csv *c, int64_t value)
{
    char word[1 + FV_DIGITS] = "-";

    comma(c);
    fwrite_unlocked(word + (value >= 0), 1,
                    (value < 0) + fv_words_digits(value < 0 ? -(uint64_t)value : (uint64_t)value, word + 1), c->out);
}

void fv_csv_line(struct fv_csv *c)
{
    fwrite_unlocked("\r\n", 1, 2, c->out);
    c->any = false;
}
