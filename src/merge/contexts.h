/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths as an archive tells them: a tree of functions with their source lines, from the addresses that
 * the rank files hold. Made once, by the first process, in an order that follows from the definitions. */
#ifndef FV_CONTEXTS_H
#define FV_CONTEXTS_H

#include "merge/defs.h"
#include "symbols/symbols.h"

/* A function of the program. */
struct fv_user_function {
    const char *name, *file; /* file: NULL not known */
};
struct fv_calling_context {
    uint32_t parent; /* FV_NONE: outermost. These three are its key */
    uint32_t function;
    uint32_t line;
    const char *file; /* of the call; NULL: not known */
    bool is_own;      /* time on a path that has it innermost is put down to it: fv_path_own() */
};

struct fv_contexts {
    struct fv_arena arena;
    struct fv_user_function *functions;
    size_t function_count, function_room;
    struct fv_calling_context *items;
    size_t count, room;
    uint32_t *of_node;          /* by fv_defs.nodes; FV_NONE: no call path */
    uint32_t *function_of_node; /* of an entry; FV_NONE: it is none */
    size_t node_count;
    struct fv_index index, function_index;
    struct fv_symbols symbols;   /* of the definitions' nodes, */
    struct fv_problems problems; /* ... and notes on modules that could not be looked at */
};

/* By module: whose code it is (enum fv_code), but for what calls MPI. The caller's to free. */
uint8_t *fv_contexts_code(const struct fv_defs *defs);

/* of_archive: its functions have no modules; whose source files are known, and no
 * distribution's, are the program's own.
 * Without `look_up`, frames are module+offset. Samples have call paths only if it is said. The definitions must stay as
 * they are. */
void fv_contexts_init(struct fv_contexts *contexts, const struct fv_defs *defs, bool look_up, bool samples,
                      bool of_archive);
void fv_contexts_release(struct fv_contexts *contexts);

#endif
