/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of locks, and of what else threads wait for, by their numbers in the archive (threads.h): OTF2 has no
 * definition of a lock. Those of variables are named, and those on a heap or a stack that were waited for. */
#ifndef FV_LOCK_NAMES_H
#define FV_LOCK_NAMES_H

#include "merge/bytes.h"

struct fv_lock_names {
    struct fv_arena arena;
    struct fv_lock_name {
        const char *name; /* as the report has it; NULL: it has none */
        uint8_t kind;     /* enum fv_sync_kind; of those with a name */
    } * items;
    uint32_t count;
};

struct fv_merge;
/* Collective, when definitions and call paths are known to all; all get the same names. False: the message
 * was torn. */
bool fv_lock_names_collect(struct fv_lock_names *names, struct fv_merge *merge, bool symbols);
void fv_lock_names_release(struct fv_lock_names *names);

#endif
