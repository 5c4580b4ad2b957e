/* SPDX-License-Identifier: BSD-3-Clause */
/* See identity.h. */
#include "rt/identity.h"
#include "base/experiment.h"
#include "base/linked_objects.h"
#include "base/process.h"
#include "base/secret.h"
#include "base/shell.h"
#include "rt/maps.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct program {
    uintptr_t address; /* in it */
    char *path;
    size_t bytes;
};

static bool is_program(char *line, void *arg)
{
    const struct program *p = arg;
    char *rest, *path;

    if (!fv_maps_has(line, p->address, &rest) || !(path = strchr(rest, '/')))
        return false;
    snprintf(p->path, p->bytes, "%s", path);
    return true;
}

/* Where the loader was started, with the program as its argument, /proc/self/exe is the loader. */
void fv_program(char *out, size_t bytes)
{
    const struct link_map *o = getauxval(AT_BASE) ? NULL : fv_linked_object((const void *)(uintptr_t)fv_program);
    struct program program = { .path = out, .bytes = bytes };

    while (o && o->l_prev)
        o = o->l_prev;
    program.address = o ? (uintptr_t)o->l_ld : 0;
    if (o && fv_maps_find(is_program, &program))
        return;
    ssize_t n = readlink("/proc/self/exe", out, bytes - 1);
    out[n > 0 ? n : 0] = '\0';
}

/* What does not fit is left out. */
static void put(char *out, size_t bytes, size_t *used, const char *text, size_t length)
{
    if (*used + length >= bytes)
        return;
    memcpy(out + *used, text, length);
    *used += length;
    out[*used] = '\0';
}

/* What others should not see is blanked, also what of it was cut off. */
void fv_command(char *out, size_t bytes)
{
    char words[4096], open[sizeof(words)];
    ssize_t got = fv_file_read("/proc/self/cmdline", words, sizeof(words));
    size_t n = got > 0 ? (size_t)got : 0, used = 0;
    bool ok = true;
    int awaited = 0;

    out[0] = '\0';
    for (char *p = words; ok && p < words + n; p += strlen(p) + 1)
        ok = fv_shell_add(out, bytes - 4, &used, fv_secret_word(p, &awaited, open, sizeof(open)));
    if (!ok || n == sizeof(words) - 1)
        put(out, bytes, &used, used ? " ..." : "...", used ? 4 : 3);
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
    put(out, bytes, &used, ranks, (size_t)snprintf(ranks, sizeof(ranks), "  \"ranks\": %d\n}\n", h->world_size));
    return used;
}
