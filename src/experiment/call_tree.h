/* SPDX-License-Identifier: BSD-3-Clause */
/* The call tree of a run: what each process numbers in its own way becomes one numbering. The profile adds
 * one rank file after the other; in the merge each process adds its files, and then the trees of others.
 *
 * Modules are the same where their build-ids and base names are (directories may differ by host, and a copy
 * under another name is another program), or their paths, where there is no build-id; the first path that was
 * told stays. A node is (parent, module, offset), all in the numbers of the run, so that one look-up gives
 * each node of a file its number, parents first. That is linear in the nodes of all files and independent of
 * how deep the paths are; comparing whole paths would be neither. */
#ifndef FV_CALL_TREE_H
#define FV_CALL_TREE_H

#include "tool/vec.h"
#include "trace/reader.h"

/* Whose code it is, by its name. */
enum fv_module_kind {
    FV_MODULE_OF_OTHERS,
    FV_MODULE_OF_FVMPI,
    FV_MODULE_OF_OPENMP, /* run-time library */
    FV_MODULE_OF_C,      /* library, loader */
};
/* An object file of the run. */
struct fv_module {
    const char *path, *name; /* name: base name of path */
    uint8_t build_id[32];
    uint32_t build_id_bytes;
    uint64_t key; /* experiment/keys.h */
    enum fv_module_kind kind;
};
/* The first of an array of modules are none. */
#define FV_MODEL_NO_MODULE    0u /* address in no known object */
#define FV_MODEL_CUT          1u /* outer frames were cut at the depth limit */
#define FV_MODEL_LOST         2u /* outer frames are in a damaged part of the file */
#define FV_MODEL_FIRST_MODULE 3u

/* A frame of a call tree; node 0 is outside of main. A parent has a smaller number than its children. */
struct fv_node {
    uint32_t parent, module;
    uint64_t offset; /* return address in the module. These three are its key, and: */
    uint64_t key;    /* of the path that ends here: experiment/keys.h */
    uint32_t flags;  /* the tree's owner's */
};

struct fv_call_tree {
    struct fv_arena arena;
    struct fv_module *modules;
    size_t module_count, module_room;
    struct fv_node *nodes;
    size_t node_count, node_room;
    struct fv_index module_index, node_index;
};
/* With the modules that are none, and the root. */
void fv_call_tree_init(struct fv_call_tree *tree);
void fv_call_tree_release(struct fv_call_tree *tree);

/* Find, or add. A build-id is at most as long as fv_module has room for. */
uint32_t fv_call_tree_module(struct fv_call_tree *tree, const uint8_t *build_id, uint32_t build_id_bytes,
                             const char *path);
uint32_t fv_call_tree_node(struct fv_call_tree *tree, uint32_t parent, uint32_t module, uint64_t offset);

/* ---- a rank file's numbers ---- */

/* What a file's own numbers are in the run. FV_NONE: nothing. */
struct fv_numbers {
    uint32_t *of; /* behind the last one there is nothing up to `room` */
    size_t count, room;
};
void fv_numbers_widen(struct fv_numbers *numbers, uint64_t id);
static inline void fv_numbers_set(struct fv_numbers *numbers, uint64_t id, uint32_t value)
{
    if (id >= numbers->room)
        fv_numbers_widen(numbers, id);
    if (id >= numbers->count)
        numbers->count = id + 1;
    numbers->of[id] = value;
}
static inline uint32_t fv_numbers_get(const struct fv_numbers *numbers, uint64_t id)
{
    return id < numbers->count ? numbers->of[id] : FV_NONE;
}
void fv_numbers_release(struct fv_numbers *numbers);

/* Ids count things of which each takes some bytes of the file: a larger one is damage. */
static inline bool fv_number_is_id(const struct fv_reader *reader, uint64_t id)
{
    return id > 0 && id <= fv_reader_bytes(reader) / 16;
}

/* All modules of a file. */
void fv_call_tree_add_modules(struct fv_call_tree *tree, const struct fv_reader *reader, struct fv_numbers *out);
/* The module of a frame, which may be none. */
uint32_t fv_numbers_module(const struct fv_numbers *modules, uint32_t id);
/* A call path of a file, which then has number `id` in `paths`. Callers have smaller numbers: where a file
 * says otherwise it is damaged, and the check is what keeps paths free of cycles. `below`: a node that it stands below
 * in place of its caller's; FV_NONE. Returns its node. */
uint32_t fv_call_tree_add_path(struct fv_call_tree *tree, const struct fv_numbers *modules, struct fv_numbers *paths,
                               uint64_t id, const struct fv_path_record *path, uint32_t below);

/* Where a file's modules were in memory; zeroed: not known yet. Points into the file, while it is awake. */
struct fv_loaded_modules {
    const struct fv_module_record **modules; /* by begin */
    size_t count, room;
    bool known;
};
/* A frame in an object that a thread met before the process knew it: by now it may. */
void fv_loaded_modules_place(struct fv_loaded_modules *loaded, const struct fv_reader *reader,
                             struct fv_path_record *path);
void fv_loaded_modules_release(struct fv_loaded_modules *loaded);

#endif
