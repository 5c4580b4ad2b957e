/* SPDX-License-Identifier: BSD-3-Clause */
/* See unwind_table.h. .eh_frame_hdr as linkers write it: version 1, a table of (begin, entry of .eh_frame),
 * 32 bits each, relative to the section and sorted (Linux Standard Base, "DWARF Extensions"). */
#include "symbols/unwind_table.h"

#include <string.h>

#define HEAD       12   /* bytes before the table: version, three encodings, the address of .eh_frame, the count */
#define UDATA4     0x03 /* encodings: 32 bits unsigned, ... */
#define DATA_REL_4 0x3b /* ... 32 bits signed from the section's begin */

static int32_t number_at(const uint8_t *p)
{
    int32_t number;

    memcpy(&number, p, sizeof(number));
    return number;
}

/* An entry of .eh_frame: length, distance to its common part, begin relative to where that is written, size.
 * Begins are written in other ways, too; this one was meant if it says the same as the table. */
static uint64_t size_of(const struct fv_elf *o, uint64_t entry, uint64_t begin)
{
    const uint8_t *p = fv_elf_data(o, entry, 16);

    if (!p || entry + 8 + (uint64_t)(int64_t)number_at(p + 8) != begin)
        return 0;
    return (uint32_t)number_at(p + 12);
}

bool fv_unwind_table_find(const struct fv_elf *o, uint64_t address, uint64_t *begin, uint64_t *size)
{
    struct fv_elf_section table = fv_elf_section(o, ".eh_frame_hdr");
    const uint8_t *p = table.data;

    if (table.bytes < HEAD || p[0] != 1 || p[2] != UDATA4 || p[3] != DATA_REL_4)
        return false;
    size_t count = (uint32_t)number_at(p + 8);
    if (count > (table.bytes - HEAD) / 8)
        return false;
    size_t before =
        FV_COUNT_BEFORE(i, count, table.address + (uint64_t)(int64_t)number_at(p + HEAD + 8 * i) <= address);
    if (!before)
        return false;
    p += HEAD + 8 * (before - 1);
    *begin = table.address + (uint64_t)(int64_t)number_at(p);
    *size = size_of(o, table.address + (uint64_t)(int64_t)number_at(p + 4), *begin);
    return address - *begin < *size;
}
