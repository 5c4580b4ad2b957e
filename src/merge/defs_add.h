/* How single definitions are added; shared by defs.c, defs_file.c and defs_order.c. All find, or add. Strings
 * and arrays are copied. */
#ifndef FV_DEFS_ADD_H
#define FV_DEFS_ADD_H

#include "merge/defs.h"

uint32_t fv_defs_add_module(struct fv_defs *d, const struct fv_module *module);
/* is_end: calls were made there; else it is only on the way to such. */
uint32_t fv_defs_add_node(struct fv_defs *d, uint32_t parent, uint32_t module, uint64_t offset,
                          uint32_t is_end);
uint32_t fv_defs_add_comm(struct fv_defs *d, const struct fv_def_comm *comm);
uint32_t fv_defs_add_file_name(struct fv_defs *d, const struct fv_def_file *file);
uint32_t fv_defs_add_handle(struct fv_defs *d, const struct fv_def_handle *handle);
void fv_defs_add_rank(struct fv_defs *d, const struct fv_def_rank *rank); /* always adds */

/* In which order the items of other definitions are added. NULL: as they are. */
struct fv_def_orders {
    uint32_t *functions, *modules, *nodes, *comms, *windows, *files, *handles, *groups, *ranks;
};
void fv_defs_merge_in_order(struct fv_defs *d, const struct fv_defs *from,
                            const struct fv_def_orders *orders);

#endif
