/* SPDX-License-Identifier: BSD-3-Clause */
/* See secret.h. Rejected: -p, which is a password for some programs (mysql -pWORD), and a port, a number of processes
 * or a precision for most. */
#include "base/secret.h"

#include <string.h>
#include <strings.h>

/* ---- names ---- */

enum place {
    ANYWHERE, /* in a name, whatever the value */
    END,      /* of a part: accesstoken, not tokenizer */
    PART,     /* of a name: api_key, not keyframes */
};

static const struct {
    const char *text;
    enum place place;
} names[] = {
    { "password", ANYWHERE },
    { "passwd", ANYWHERE },
    { "passphrase", ANYWHERE },
    { "secret", ANYWHERE },
    { "credential", ANYWHERE },
    { "authorization", ANYWHERE },
    { "apikey", END },
    { "accesskey", END },
    { "privatekey", END },
    { "token", END },
    { "key", PART },
    { "pass", PART },
    { "pwd", PART },
    { "auth", PART },
    { "cookie", PART },
    { "cred", PART },
};

static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* A part begins behind what is no letter, and at a capital: apiKey. */
static bool begins_part(const char *name, size_t at)
{
    return !at || !is_letter(name[at - 1]) || (name[at] < 'a' && name[at - 1] >= 'a');
}

/* Also of several: tokens. */
static bool ends_part(const char *name, size_t length, size_t at)
{
    at += at < length && (name[at] | 0x20) == 's';
    return at == length || !is_letter(name[at]) || (name[at] < 'a' && name[at - 1] >= 'a');
}

enum secrecy { OPEN, UNLESS_NUMBER, SECRET };

/* --max-tokens 512 is a number of tokens. */
static enum secrecy secrecy_of(const char *name, size_t length)
{
    enum secrecy most = OPEN;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (size_t at = 0, n = strlen(names[i].text); at + n <= length; at++) {
            if (strncasecmp(name + at, names[i].text, n) != 0)
                continue;
            if (names[i].place == ANYWHERE)
                return SECRET;
            if (ends_part(name, length, at + n) && (names[i].place == END || begins_part(name, at)))
                most = UNLESS_NUMBER;
        }
    return most;
}

bool fv_secret_name(const char *name, size_t length)
{
    return secrecy_of(name, length) != OPEN;
}

/* ---- words ---- */

struct copy {
    char *out;
    size_t bytes, used;
};

static void put(struct copy *c, const char *text, size_t length)
{
    length = length < c->bytes - 1 - c->used ? length : c->bytes - 1 - c->used;
    memcpy(c->out + c->used, text, length);
    c->used += length;
    c->out[c->used] = '\0';
}

static void put_mark(struct copy *c)
{
    put(c, FV_SECRET_MARK, sizeof(FV_SECRET_MARK) - 1);
}

static size_t name_at(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
}

/* A part of a word's own: an address's query, a command of a shell in quotes. */
static size_t value_at(const char *text, bool is_whole)
{
    return is_whole ? strlen(text) : strcspn(text, " &;,\"'");
}

static bool is_number(const char *text, size_t length)
{
    return length && strspn(text, "0123456789") >= length;
}

/* Of "name": VALUE, name=VALUE, and in a command in quotes --name VALUE: where the value begins; NULL: none follows. */
static const char *value_of(const char *word, const char *name, const char *end)
{
    const char *at = end + strspn(end, "\"'");
    const bool is_quoted = name > word && strchr("\"' {,", name[-1]);

    if (*at == ':' && (name == word || is_quoted) && at[1] != '/')
        return at + 1 + strspn(at + 1, " \"'");
    if (*at == '=')
        return at + 1 + (name == word ? 0 : strspn(at + 1, " \"'"));
    return *at == ' ' && *name == '-' && at[1] && at[1] != '-' ? at + 1 : NULL;
}

/* Of scheme://user:password@host the password's first byte, from "://" on; NULL: there is none. */
static const char *password_at(const char *text, size_t *length)
{
    const char *user = text + 3, *end = user + strcspn(user, "/?# \"'"),
               *colon = memchr(user, ':', (size_t)(end - user)), *at = NULL;

    for (const char *p = colon; p && p < end; p++)
        at = *p == '@' ? p : at;
    if (!colon || !at)
        return NULL;
    *length = (size_t)(at - colon - 1);
    return colon + 1;
}

/* Takes a name and the value behind it; where to go on. */
static const char *take_name(struct copy *c, const char *word, const char *name, size_t length, int *awaited)
{
    const enum secrecy secrecy = secrecy_of(name, length);
    const char *value = secrecy ? value_of(word, name, name + length) : NULL;
    const size_t bytes = value ? value_at(value, name == word) : 0;

    if (!value || !bytes || (secrecy == UNLESS_NUMBER && is_number(value, bytes))) {
        put(c, name, length);
        if (name == word && *name == '-' && !name[length])
            *awaited = (int)secrecy;
        return name + length;
    }
    put(c, name, (size_t)(value - name));
    put_mark(c);
    return value + bytes;
}

char *fv_secret_word(const char *word, int *awaited, char *out, size_t bytes)
{
    struct copy c = { out, bytes, 0 };
    const bool is_value = *awaited && *word && *word != '-' && (*awaited == SECRET || !is_number(word, strlen(word)));
    size_t length;

    out[0] = '\0';
    *awaited = OPEN;
    if (is_value)
        put_mark(&c);
    for (const char *at = word, *password; *at && !is_value;) {
        if ((length = name_at(at))) {
            at = take_name(&c, word, at, length, awaited);
        } else if (!strncmp(at, "://", 3) && (password = password_at(at, &length))) {
            put(&c, at, (size_t)(password - at));
            put_mark(&c);
            at = password + length;
        } else {
            put(&c, at++, 1);
        }
    }
    return out;
}
