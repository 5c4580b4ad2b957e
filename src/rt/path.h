/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths: found by the cache of a thread, or unwound (path.c), and interned in the process's call tree. */
#ifndef FV_PATH_H
#define FV_PATH_H

#include "rt/process.h"
#include "rt/rt.h"

/* A stack slot and what it must hold for a cached path to be the path. */
struct fv_path_check {
    int64_t offset; /* from the slot of the wrapper's return address */
    uintptr_t value;
};

struct fv_path_entry {
    struct fv_cell *cell;     /* last used with this path */
    uint64_t sent, received;  /* a call of so many bytes is counted in `cell` again, ... */
    uint64_t bytes;           /* ... both ... */
    uint32_t sends, receives; /* ... as so many messages ... */
    uint32_t comm, section;   /* ... if these are the same, too; comm FV_PATH_UNCOUNTED: never */
    uint32_t function, path;  /* function: last called; FV_PATH_UNCOUNTED: none; path: node id */
    uint32_t left;            /* so many such calls may be counted before it is asked whether the cell has room */
    uint32_t cell_index;
    uint32_t class;         /* of `function`: enum fv_function_class */
    uint32_t site;          /* of the thread's events, if: */
    uint32_t site_function; /* function + 1; 0: not known */
};
#define FV_PATH_UNCOUNTED UINT32_MAX /* more than there are communicators and functions */

struct fv_path_cache;
struct fv_paths *fv_paths_new(struct fv_path_cache **cache); /* of a thread; and what finds them */
void fv_paths_forget(struct fv_paths *paths);
void fv_paths_uncount(struct fv_paths *paths); /* what was counted with them is forgotten */
struct fv_path_entry *fv_path_lookup(struct fv_thread *thread, struct fv_call_place site);
/* Asks fv_module_removals(), from any thread, once there is one that records: paths through what was closed are not
 * taken for those through what stands there now. Known on each miss, and when a program asks for a function of a
 * library that it has opened. */
void fv_path_notice(void);
/* NULL: it is not in the cache. Never unwinds. */
struct fv_path_entry *fv_path_known(struct fv_thread *thread, struct fv_call_place site);
/* Adds a path with the given checks (copied), of frames further out than the site. */
struct fv_path_entry *fv_path_insert(struct fv_thread *thread, struct fv_call_place site, uint32_t path,
                                     const struct fv_path_check *checks, uint32_t count);
/* For functions of ours that stand between functions of the application: their frames are in no path. */
#define FV_UNSEEN __attribute__((section("fv_unseen"), noinline))
bool fv_path_is_unseen(uintptr_t return_address);
/* In a signal handler that holds all signals: the call path that the signal interrupted, at `pc`; innermost one past
 * it. Of a thread; NULL: that calls no MPI. */
uint32_t fv_path_interrupted(const struct fv_thread *thread, uintptr_t pc);

/* ---- the call tree (tree.c) and modules (module.c); both under fv_tree_lock ---- */

extern struct fv_lock fv_tree_lock;
/* Node for a frame below parent; 0 when the budget is full (counted by the caller). */
uint32_t fv_tree_child(uint32_t parent, uint32_t module, uint64_t offset);
const struct fv_path_record *fv_tree_node(uint32_t id); /* id > 0 */
/* The module of an address, recorded in the file when new; the offset of the address in it. */
uint32_t fv_module_find(uintptr_t address, uint64_t *offset);
/* The same of modules that are known, without a lock: for signal handlers. FV_MODULE_UNKNOWN: ask
 * fv_module_find() later. */
uint32_t fv_module_known(uintptr_t address, uint64_t *offset);
/* One address, with the lock that fv_module_find() wants. */
uint32_t fv_module_of(uintptr_t address, uint64_t *offset);
/* The module that stands for a function in a file of source code (format.h). FV_MODULE_UNKNOWN: no room, or, in a
 * signal handler, which `tries`, none now. */
uint32_t fv_module_of_code(const char *file, const char *function, bool tries);
/* Is it of those by which an interpreter calls MPI: bindings and such, that say nothing of a program? */
bool fv_module_is_binding(uint32_t module);
/* Before a batch of fv_module_find(): notices dlclose(), by how often there was one, which is asked without
 * fv_tree_lock. */
uint64_t fv_module_removals(void);
void fv_module_refresh(uint64_t removals);

#endif
