/* SPDX-License-Identifier: BSD-3-Clause */
/* See forks.h. All paths of a file are kept, as frames with the tree's modules, where it has an OpenMP run-time
 * library: a fork may be found anywhere, also below another worker (nested teams). */
#include "symbols/forks.h"
#include "symbols/module_files.h"
#include "symbols/unwind_table.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 1024 /* of a path: no recorder goes deeper */
#define LEVEL_MAX 32

struct frame {
    uint32_t parent, module; /* parent: a smaller id; 0: none */
    uint64_t offset;
    uint32_t depth;
};
struct paths {
    uint32_t thread;
    struct frame *frames; /* by id - 1 */
    size_t count, room;
};
/* A function that the run-time library called in a thread whose stack does not begin there. */
struct fork {
    uint64_t module, paths, begin; /* paths: index in fv_forks.paths */
    uint64_t runtime;              /* id of the library's innermost frame. These are its key, and: */
    uint64_t caller;               /* of the frame around the library */
};
/* Where the workers of a function go. */
struct graft {
    uint64_t module, begin; /* its key */
    uint32_t node;
};
struct fv_forks {
    struct fv_call_tree *tree;
    struct elf {
        uint32_t module;
        bool usable;
        struct fv_elf file;
    } * elves;
    size_t elf_count, elf_room;
    struct fv_index by_module;
    /* of the present file */
    struct paths *paths;
    size_t path_count, path_room;
    struct fv_index by_thread;
    struct fork *forks;
    size_t fork_count, fork_room;
    struct graft *grafts;
    size_t graft_count, graft_room;
    struct fv_index by_function, by_fork;
    unsigned level; /* teams within teams that are being looked for */
};

struct fv_forks *fv_forks_new(struct fv_call_tree *tree)
{
    struct fv_forks *f = fv_xcalloc(1, sizeof(*f));

    f->tree = tree;
    return f;
}

static void forget_file(struct fv_forks *f)
{
    for (size_t i = 0; i < f->path_count; i++)
        free(f->paths[i].frames);
    f->path_count = f->fork_count = f->graft_count = 0;
    fv_index_release(&f->by_thread);
    fv_index_release(&f->by_function);
    fv_index_release(&f->by_fork);
}

void fv_forks_free(struct fv_forks *f)
{
    if (!f)
        return;
    forget_file(f);
    for (size_t i = 0; i < f->elf_count; i++)
        if (f->elves[i].usable)
            fv_elf_close(&f->elves[i].file);
    fv_index_release(&f->by_module);
    free(f->elves);
    free(f->paths);
    free(f->forks);
    free(f->grafts);
    free(f);
}

/* ---- where functions begin ---- */

static const struct elf *elf_of(struct fv_forks *f, uint32_t module)
{
    size_t before = f->elf_count;
    struct elf *e = FV_INTERNED(f->by_module, f->elves, f->elf_count, f->elf_room, module);

    if (f->elf_count > before)
        e->usable = fv_module_object_open(&e->file, &f->tree->modules[module]);
    return e;
}

/* False: not known. */
static bool find_begin(struct fv_forks *f, const struct frame *frame, uint64_t *begin)
{
    const struct elf *e = frame->module < FV_MODEL_FIRST_MODULE ? NULL : elf_of(f, frame->module);
    uint64_t size;

    return e && e->usable && frame->offset && fv_unwind_table_find(&e->file, frame->offset - 1, begin, &size);
}

/* ---- frames ---- */

static const struct frame *frame_of(const struct paths *p, uint64_t id)
{
    return &p->frames[id - 1];
}

static enum fv_module_kind kind_of(const struct fv_forks *f, const struct paths *p, uint64_t id)
{
    return id ? f->tree->modules[frame_of(p, id)->module].kind : FV_MODULE_OF_C;
}

/* The frame around those of these two kinds; 0: none. */
static uint64_t around(const struct fv_forks *f, const struct paths *p, uint64_t id, enum fv_module_kind kind)
{
    while (id && (kind_of(f, p, id) == kind || kind_of(f, p, id) == FV_MODULE_OF_FVMPI))
        id = frame_of(p, id)->parent;
    return id;
}

enum member { NO_MEMBER, WORKER, FORK };

/* Did the run-time library call the function of this frame, and in which thread? */
static enum member member_of(const struct fv_forks *f, const struct paths *p, uint64_t id, struct fork *out)
{
    enum fv_module_kind kind = kind_of(f, p, id);

    if (kind == FV_MODULE_OF_OPENMP || kind == FV_MODULE_OF_FVMPI)
        return NO_MEMBER;
    out->runtime = around(f, p, frame_of(p, id)->parent, FV_MODULE_OF_FVMPI);
    if (kind_of(f, p, out->runtime) != FV_MODULE_OF_OPENMP)
        return NO_MEMBER;
    out->caller = around(f, p, out->runtime, FV_MODULE_OF_OPENMP);
    if (kind_of(f, p, out->caller) == FV_MODULE_OF_C)
        return around(f, p, out->caller, FV_MODULE_OF_C) ? NO_MEMBER : WORKER;
    return frame_of(p, out->caller)->module < FV_MODEL_FIRST_MODULE ? NO_MEMBER : FORK;
}

/* ---- grafts ---- */

#define BUSY (FV_NONE - 1) /* it is being looked for: a team within a team of the same function */

static uint32_t graft_of(struct fv_forks *f, uint32_t module, uint64_t begin);

/* FV_NONE: no worker began there, or its fork is not known. */
static uint32_t worker_parent(struct fv_forks *f, const struct paths *p, uint64_t id)
{
    struct fork fork;
    uint64_t begin;

    if (member_of(f, p, id, &fork) != WORKER || !find_begin(f, frame_of(p, id), &begin))
        return FV_NONE;
    return graft_of(f, frame_of(p, id)->module, begin);
}

/* A path of the file, in the tree; or BUSY. */
static uint32_t node_of(struct fv_forks *f, const struct paths *p, uint64_t id)
{
    if (!id)
        return 0;
    uint32_t parent = worker_parent(f, p, id);
    if (parent == FV_NONE)
        parent = node_of(f, p, frame_of(p, id)->parent);
    return parent == BUSY ? BUSY : fv_call_tree_node(f->tree, parent, frame_of(p, id)->module, frame_of(p, id)->offset);
}

static uint32_t common(const struct fv_call_tree *t, uint32_t a, uint32_t b)
{
    while (a != b) /* a parent has a smaller number */
        if (a > b)
            a = t->nodes[a].parent;
        else
            b = t->nodes[b].parent;
    return a;
}

static uint32_t find_graft(struct fv_forks *f, uint32_t module, uint64_t begin)
{
    uint32_t node = FV_NONE, caller = FV_NONE;

    for (size_t i = 0; i < f->fork_count; i++) {
        const struct fork k = f->forks[i];
        const struct paths *p = &f->paths[k.paths];

        if (k.module != module || k.begin != begin)
            continue;
        uint32_t from = node_of(f, p, k.caller);
        if (from == BUSY)
            continue;
        if (node == FV_NONE)
            node = node_of(f, p, k.runtime);
        else if (from != caller)
            node = from = common(f->tree, caller, from);
        caller = from;
    }
    return node;
}

static uint32_t graft_of(struct fv_forks *f, uint32_t module, uint64_t begin)
{
    size_t before = f->graft_count;
    uint32_t i = FV_INTERN(f->by_function, f->grafts, f->graft_count, f->graft_room, (uint64_t[]){ module, begin });

    if (f->graft_count > before) {
        f->grafts[i].node = BUSY;
        f->level++;
        uint32_t node = f->level < LEVEL_MAX ? find_graft(f, module, begin) : FV_NONE; /* may move the grafts */
        f->level--;
        f->grafts[i].node = node;
    }
    return f->grafts[i].node;
}

/* ---- a file ---- */

static bool has_openmp(const struct fv_forks *f, const struct fv_numbers *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        if (modules->of[i] != FV_NONE && f->tree->modules[modules->of[i]].kind == FV_MODULE_OF_OPENMP)
            return true;
    return false;
}

/* Paths of damaged files: their numbers are not known from there on. */
static void read_paths(struct fv_forks *f, const struct fv_reader *reader, enum fv_chunk_type type,
                       const struct fv_numbers *modules)
{
    struct fv_cursor c = fv_cursor(reader, type);
    struct fv_loaded_modules loaded = { 0 };
    struct fv_path_record r;

    for (const void *data; (data = fv_cursor_next(&c));) {
        uint32_t thread = type == FV_CHUNK_PATHS ? FV_NO_THREAD : c.thread;
        struct paths *p = FV_INTERNED(f->by_thread, f->paths, f->path_count, f->path_room, thread);

        if (c.index != p->count || p->count + 1 >= FV_NONE)
            continue;
        memcpy(&r, data, sizeof(r));
        if (type == FV_CHUNK_SAMPLE_PATHS && r.module == FV_MODULE_UNKNOWN)
            fv_loaded_modules_place(&loaded, reader, &r);
        FV_GROW(p->frames, p->room, p->count + 1);
        uint32_t parent = r.parent <= p->count ? r.parent : 0, depth = parent ? frame_of(p, parent)->depth + 1 : 0;
        p->frames[p->count++] = (struct frame){ .parent = depth < DEPTH_MAX ? parent : 0,
                                                .module = fv_numbers_module(modules, r.module),
                                                .offset = r.offset,
                                                .depth = depth < DEPTH_MAX ? depth : 0 };
    }
    fv_loaded_modules_release(&loaded);
}

static void find_forks(struct fv_forks *f, uint32_t paths)
{
    const struct paths *p = &f->paths[paths];
    struct fork fork;

    for (uint64_t id = 1; id <= p->count; id++) {
        if (member_of(f, p, id, &fork) != FORK || !find_begin(f, frame_of(p, id), &fork.begin))
            continue;
        struct fork *known = FV_INTERNED(f->by_fork, f->forks, f->fork_count, f->fork_room,
                                         (uint64_t[]){ frame_of(p, id)->module, paths, fork.begin, fork.runtime });
        known->caller = fork.caller;
    }
}

void fv_forks_read(struct fv_forks *f, const struct fv_reader *reader, const struct fv_numbers *modules)
{
    forget_file(f);
    if (!has_openmp(f, modules))
        return;
    read_paths(f, reader, FV_CHUNK_PATHS, modules);
    read_paths(f, reader, FV_CHUNK_SAMPLE_PATHS, modules);
    for (uint32_t i = 0; i < f->path_count; i++)
        find_forks(f, i);
}

uint32_t fv_forks_parent(struct fv_forks *f, uint32_t thread, uint64_t path)
{
    uint32_t i = f->fork_count ? FV_FIND(f->by_thread, f->paths, thread) : FV_NONE;

    if (i == FV_NONE || !path || path > f->paths[i].count)
        return FV_NONE;
    uint32_t parent = worker_parent(f, &f->paths[i], path);
    return parent == BUSY ? FV_NONE : parent;
}
