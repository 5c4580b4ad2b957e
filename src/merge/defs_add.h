/* SPDX-License-Identifier: BSD-3-Clause */
/* How single definitions are added; shared by defs.c, defs_file.c and defs_order.c. All find, or add. Strings
 * and arrays are copied. */
#ifndef FV_DEFS_ADD_H
#define FV_DEFS_ADD_H

#include "merge/defs.h"

uint32_t fv_defs_add_comm(struct fv_defs *d, const struct fv_def_comm *comm);
uint32_t fv_defs_add_file_name(struct fv_defs *d, const struct fv_def_file *file);
uint32_t fv_defs_add_handle(struct fv_defs *d, const struct fv_def_handle *handle);
void fv_defs_add_rank(struct fv_defs *d, const struct fv_def_rank *rank); /* always adds */

/* defs_paths.c: the call paths of a file. `used`: by the path's number, enum fv_def_node_flags of those that
 * are referred to; it gets longer marks. */
void fv_defs_add_paths(struct fv_defs *d, const struct fv_reader *reader, uint8_t *used, size_t used_count,
                       struct fv_def_map *map);

/* In which order the items of other definitions are added. NULL: as they are. */
struct fv_def_orders {
    uint32_t *functions, *modules, *nodes, *comms, *windows, *files, *handles, *groups, *ranks;
};
void fv_defs_merge_in_order(struct fv_defs *d, const struct fv_defs *from, const struct fv_def_orders *orders);

#endif
