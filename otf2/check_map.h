/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of active things by a three-part key: few at a time, of many over a trace's life, so entries can be
 * removed (open addressing, backward shift). */
#ifndef FV_OTF2_CHECK_MAP_H
#define FV_OTF2_CHECK_MAP_H

#include "base/base.h"

struct fv_key {
    uint32_t kind;
    uint64_t a, b;
};
struct fv_entry {
    struct fv_key key;
    uint32_t what;  /* 0: the slot is empty */
    uint64_t value; /* the caller's */
    uint64_t time;
    const char *record;
};
struct fv_check_map {
    struct fv_entry *slots;
    size_t room, used;
};

/* NULL; valid until a change */
struct fv_entry *fv_check_map_find(const struct fv_check_map *map, const struct fv_key *key);
void fv_check_map_add(struct fv_check_map *map, const struct fv_entry *entry); /* must not be in it */
void fv_check_map_remove(struct fv_check_map *map, struct fv_entry *entry);
void fv_check_map_clear(struct fv_check_map *map);
void fv_check_map_release(struct fv_check_map *map);

static inline bool fv_key_equal(const struct fv_key *x, const struct fv_key *y)
{
    return x->kind == y->kind && x->a == y->a && x->b == y->b;
}

#endif
