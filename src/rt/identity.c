/* See identity.h. */
#include "rt/identity.h"
#include "base/experiment.h"
#include "base/process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void fv_program(char *out, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", out, bytes - 1);

    out[n > 0 ? n : 0] = '\0';
}

/* Appends and says whether it fitted. */
static int put(char *out, size_t bytes, size_t *used, const char *text, size_t length)
{
    if (*used + length >= bytes)
        return 0;
    memcpy(out + *used, text, length);
    *used += length;
    out[*used] = '\0';
    return 1;
}

static int put_quoted(char *out, size_t bytes, size_t *used, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    int ok = 1;

    if (*word && word[strspn(word, plain)] == '\0')
        return put(out, bytes, used, word, strlen(word));
    ok = put(out, bytes, used, "'", 1);
    for (; ok && *word; word++)
        ok = *word == '\'' ? put(out, bytes, used, "'\\''", 4) : put(out, bytes, used, word, 1);
    return ok && put(out, bytes, used, "'", 1);
}

void fv_command(char *out, size_t bytes)
{
    char words[4096];
    ssize_t got = fv_file_read("/proc/self/cmdline", words, sizeof(words));
    size_t n = got > 0 ? (size_t)got : 0, used = 0;
    int ok = 1;

    out[0] = '\0';
    for (char *p = words; ok && p < words + n; p += strlen(p) + 1) {
        if (p > words)
            ok = put(out, bytes - 3, &used, " ", 1);
        ok = ok && put_quoted(out, bytes - 3, &used, p);
    }
    if (!ok || n == sizeof(words) - 1)
        put(out, bytes, &used, "...", 3);
}

static void put_json(char *out, size_t bytes, size_t *used, const char *key, const char *value)
{
    char escape[8];

    put(out, bytes, used, "  \"", 3);
    put(out, bytes, used, key, strlen(key));
    put(out, bytes, used, "\": \"", 4);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;

        if (c == '"' || c == '\\')
            put(out, bytes, used, escape, (size_t)snprintf(escape, sizeof(escape), "\\%c", c));
        else if (c < 0x20)
            put(out, bytes, used, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", c));
        else
            put(out, bytes, used, value, 1);
    }
    put(out, bytes, used, "\",\n", 3);
}

size_t fv_run_json(const struct fv_file_header *h, char *out, size_t bytes)
{
    char start[32], ranks[48];
    size_t used = 0;

    fv_format_utc(start, sizeof(start), h->first.realtime_ns / 1000000000);
    put(out, bytes, &used, "{\n", 2);
    put_json(out, bytes, &used, "command", h->command);
    put_json(out, bytes, &used, "program", h->program);
    put_json(out, bytes, &used, "mpi", h->mpi);
    put_json(out, bytes, &used, "host", h->host);
    put_json(out, bytes, &used, "start", start);
    put_json(out, bytes, &used, "fvmpi", h->fvmpi);
    put(out, bytes, &used, ranks,
        (size_t)snprintf(ranks, sizeof(ranks), "  \"ranks\": %d\n}\n", h->world_size));
    return used;
}
