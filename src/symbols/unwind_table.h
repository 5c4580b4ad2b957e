/* SPDX-License-Identifier: BSD-3-Clause */
/* Where functions without a symbol begin and end, by the table that exceptions need: it stays in stripped
 * objects. */
#ifndef FV_UNWIND_TABLE_H
#define FV_UNWIND_TABLE_H

#include "symbols/elf_file.h"

/* The function, or the part of one that stands elsewhere, that holds the address. */
bool fv_unwind_table_find(const struct fv_elf *object, uint64_t address, uint64_t *begin, uint64_t *size);

#endif
