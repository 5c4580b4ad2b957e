/* SPDX-License-Identifier: BSD-3-Clause */
/* See return_address.h. Code is read through the kernel, because nothing may be there. */
#include "rt/return_address.h"
#include "rt/loaded_objects.h"
#include "rt/maps.h"
#include "rt/process.h"

#include <string.h>

#if defined(__x86_64__)
enum { BEFORE = 7 }; /* bytes of the longest call, without prefixes */

/* FF /2, of `bytes` bytes: call by a register, or by memory. */
static bool is_indirect(const uint8_t *call, unsigned bytes)
{
    unsigned mod = call[1] >> 6, rm = call[1] & 7;
    unsigned length = 2 + (mod != 3 && rm == 4) + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);

    if (call[0] != 0xff || (call[1] >> 3 & 7) != 2)
        return false;
    if (mod == 0 && rm == 4 && (call[2] & 7) == 5) /* an index without a base */
        length += 4;
    return length == bytes;
}

static bool is_behind_call(const uint8_t code[BEFORE])
{
    if (code[BEFORE - 5] == 0xe8)
        return true;
    for (unsigned bytes = 2; bytes <= BEFORE; bytes++)
        if (is_indirect(code + BEFORE - bytes, bytes))
            return true;
    return false;
}
#else
enum { BEFORE = 4 };

/* BL, BLR, BLRAA and its kin. */
static bool is_behind_call(const uint8_t code[BEFORE])
{
    uint32_t word;

    memcpy(&word, code, sizeof(word));
    return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000;
}
#endif

static bool is_code_at(char *line, void *address)
{
    char *rest;

    return fv_maps_has(line, *(uintptr_t *)address, &rest) && strlen(rest) > 4 && rest[3] == 'x';
}

/* At the begin of a page there may be nothing in front of it. */
static bool read_before(uintptr_t address, uint8_t code[BEFORE])
{
    size_t here = address % FV_PAGE;

    return fv_memory_peek(address - BEFORE, code, BEFORE) ||
           (here && here < BEFORE && fv_memory_peek(address - here, code + BEFORE - here, here));
}

bool fv_is_return_address(uintptr_t address)
{
    struct fv_loaded_object object;
    uint8_t code[BEFORE] = { 0 };

    if (address < FV_PAGE || !read_before(address, code) || !is_behind_call(code))
        return false;
    return fv_loaded_find(address, &object) || fv_maps_find(is_code_at, &address);
}
