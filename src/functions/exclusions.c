/* SPDX-License-Identifier: BSD-3-Clause */
/* See exclusions.h. */
#define _GNU_SOURCE
#include "functions/exclusions.h"
#include "rt/process.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { OBJECTS = 64 };

static struct {
    const char *name; /* in the environment's copy */
    size_t length;
    const uint64_t *offsets; /* ascending */
    size_t count;
} objects[OBJECTS];
static size_t object_count;
static const void **others; /* functions of other objects, by address */
static size_t other_count;

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool fv_exclusions_number(const char **at, uint64_t *out)
{
    uint64_t value = 0;
    int d;

    for (unsigned shift = 0; shift < 64 && (d = digit(**at)) >= 0; shift += 5) {
        ++*at;
        value |= (uint64_t)(d & 31) << shift;
        if (!(d & 32)) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* Of what stands behind NAME=; what is no number ends it. */
static void read_object(const char *at, uint64_t **room)
{
    uint64_t offset = 0, distance;
    uint64_t *first = *room;

    while (fv_exclusions_number(&at, &distance))
        *(*room)++ = offset += distance;
    objects[object_count].offsets = first;
    objects[object_count].count = (size_t)(*room - first);
}

/* Several functions of an object may be one, under a name of which no symbol is found by address. */
static void take_other(char *name, size_t length)
{
    char behind = name[length];

    name[length] = '\0';
    others[other_count] = dlsym(RTLD_DEFAULT, name);
    other_count += others[other_count] != NULL;
    name[length] = behind;
}

void fv_exclusions_init(void)
{
    const char *list = fv_env("FVMPI_FUNCTIONS_LEFT_OUT");
    size_t bytes = list ? strlen(list) : 0;
    /* A digit is a number at most. */
    uint64_t *room = bytes ? fv_memory_new((bytes + 1) * (sizeof(*room) + sizeof(*others)) + bytes + 1) : NULL;

    if (!room)
        return;
    others = (const void **)(room + bytes + 1);
    char *copy = (char *)(others + bytes + 1);
    memcpy(copy, list, bytes + 1);
    for (char *at = copy; *at && object_count < OBJECTS;) {
        size_t length = strcspn(at, "=,");

        if (*at == '+') {
            take_other(at + 1, length - 1);
        } else if (at[length] == '=') {
            objects[object_count].name = at;
            objects[object_count].length = length;
            at += length + 1;
            read_object(at, &room);
            object_count++;
        }
        at += strcspn(at, ",");
        at += *at == ',';
    }
}

static bool has(size_t object, uint64_t offset)
{
    const uint64_t *offsets = objects[object].offsets;
    size_t low = 0, high = objects[object].count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (offsets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < objects[object].count && offsets[low] == offset;
}

/* Of an object: as the list has it. */
static const char *name_of(const Dl_info *object)
{
    Dl_info program;

    if (dladdr((const void *)getauxval(AT_ENTRY), &program) && program.dli_fbase == object->dli_fbase)
        return ".";
    return object->dli_fname ? fv_base_name(object->dli_fname) : "";
}

bool fv_exclusions_have(const void *function, uint64_t offset)
{
    Dl_info info;

    for (size_t i = 0; i < other_count; i++)
        if (others[i] == function)
            return true;
    if (!object_count || !dladdr(function, &info))
        return false;
    const char *name = name_of(&info);
    for (size_t i = 0; i < object_count; i++)
        if (strlen(name) == objects[i].length && !memcmp(name, objects[i].name, objects[i].length) && has(i, offset))
            return true;
    return false;
}
