/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reader by libdw is made of (lines_dw.c), and units of -gsplit-dwarf that were packed into one
 * file, PROGRAM.dwp, which libdw reads by itself since 0.191 only (lines_dwp.c). */
#ifndef FV_LINES_DW_H
#define FV_LINES_DW_H

#include "tool/vec.h"

#include <elfutils/libdw.h>

struct fv_dw_range {
    uint64_t low, high; /* high: behind it */
    uint32_t owner;
};
struct fv_dw_ranges {
    struct fv_dw_range *items;
    size_t count, room;
    uint32_t owner; /* of what is added */
};
static inline void fv_dw_range_add(struct fv_dw_ranges *r, uint64_t low, uint64_t high)
{
    if (low >= high)
        return;
    FV_GROW(r->items, r->room, r->count + 1);
    r->items[r->count++] = (struct fv_dw_range){ low, high, r->owner };
}

struct fv_dwp;      /* a package */
struct fv_dwp_unit; /* a unit of it, as an object of its own */

/* NULL: there is none beside the file, or the program, or it is not readable. */
struct fv_dwp *fv_dwp_open(const char *path, const char *program);
void fv_dwp_close(struct fv_dwp *package);
/* The unit of a skeleton, by its number; NULL: it is not there. *tree is its entry. The package must stay. */
struct fv_dwp_unit *fv_dwp_unit(struct fv_dwp *package, Dwarf *program, Dwarf_Die *skeleton, uint64_t id,
                                Dwarf_Die *tree);
void fv_dwp_unit_close(struct fv_dwp_unit *unit);
/* Of one of its entries: addresses are in tables of the program, which libdw does not look at for it. */
void fv_dwp_ranges(struct fv_dwp_unit *unit, Dwarf_Die *die, struct fv_dw_ranges *out);

#endif
