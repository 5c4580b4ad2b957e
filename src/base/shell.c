/* SPDX-License-Identifier: BSD-3-Clause */
/* See shell.h. */
#include "base/shell.h"
#include "base/clean.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

struct text {
    char *out;
    size_t bytes, used;
    bool ok;
};

static void put(struct text *t, const char *text, size_t length)
{
    t->ok = t->ok && t->used + length < t->bytes;
    if (!t->ok)
        return;
    memcpy(t->out + t->used, text, length);
    t->used += length;
    t->out[t->used] = '\0';
}

/* The first word must not be an assignment, and zsh expands =NAME. */
static bool is_plain(const char *word, bool first)
{
    static const char plain[] = LETTERS "_-+=./:,@%";

    return *word && *word != '=' && word[strspn(word, plain)] == '\0' && !(first && strchr(word, '='));
}

static bool is_clean(const char *word)
{
    char next[FV_CLEAN];

    for (const char *at = word, *was = at; fv_words_clean_next(&at, next); was = at)
        if (memcmp(next, was, (size_t)(at - was)) != 0)
            return false;
    return true;
}

static void put_quoted(struct text *t, const char *word)
{
    put(t, "'", 1);
    for (; *word; word++)
        put(t, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    put(t, "'", 1);
}

/* "$(printf '\033[1m')": $'...' is not known to all shells. Letters stay, so that the name can be read; a '-' that is
 * the first would be an option. */
static void put_printf(struct text *t, const char *word)
{
    char next[FV_CLEAN];

    put(t, "\"$(printf '", 11);
    for (const char *at = word, *was = at; fv_words_clean_next(&at, next); was = at) {
        const size_t length = (size_t)(at - was);
        const bool stays = !memcmp(next, was, length) &&
                           (length > 1 || strchr(LETTERS "_+=./:,@ ", *was) || (*was == '-' && was > word));

        for (const char *p = was; p < at; p++) {
            const unsigned char c = (unsigned char)*p;

            put(t,
                stays
                    ? p
                    : (const char[]){ '\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)), (char)('0' + (c & 7)) },
                stays ? 1 : 4);
        }
    }
    put(t, "')\"", 3);
}

bool fv_shell_add(char *out, size_t bytes, size_t *used, const char *word)
{
    struct text t = { out, bytes, *used, true };

    if (*used)
        put(&t, " ", 1);
    if (is_plain(word, !*used))
        put(&t, word, strlen(word));
    else if (is_clean(word))
        put_quoted(&t, word);
    else
        put_printf(&t, word);
    if (t.ok)
        *used = t.used;
    else if (*used < bytes)
        out[*used] = '\0';
    return t.ok;
}

char *fv_shell_command(char *out, size_t bytes, const char *const *words)
{
    const size_t room = bytes - 4; /* for " ..." */
    size_t used = 0;

    out[0] = '\0';
    for (; *words; words++) {
        const bool is_path = **words == '-' && (*words)[1] != '-' && used;
        char path[FV_SHELL_COMMAND] = "./";
        const char *word = is_path && strlen(*words) < sizeof(path) - 2 ? strcat(path, *words) : *words;

        if (fv_shell_add(out, room, &used, word))
            continue;
        memcpy(out + used, " ...", 5);
        break;
    }
    return out;
}
