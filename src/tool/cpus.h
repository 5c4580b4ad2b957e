/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of processors, as the kernel writes them: lists ("0-3,8") and masks ("ff,ffffffff"). */
#ifndef FV_CPUS_H
#define FV_CPUS_H

#include "tool/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FV_CPUS_MOST = 4096, FV_CPUS_WORDS = FV_CPUS_MOST / 64 };
struct fv_cpus {
    uint64_t bits[FV_CPUS_WORDS];
};

/* "" and "(null)", as some kernels write it, are none. False: it is no such thing, or has a processor from FV_CPUS_MOST
 * on. */
bool fv_cpus_from_list(const char *text, struct fv_cpus *out);
bool fv_cpus_from_mask(const char *text, struct fv_cpus *out);
/* The same backwards, in the arena. */
char *fv_cpus_list(const struct fv_cpus *cpus, struct fv_arena *arena);
char *fv_cpus_mask(const struct fv_cpus *cpus, struct fv_arena *arena);

size_t fv_cpus_count(const struct fv_cpus *cpus);
size_t fv_cpus_first(const struct fv_cpus *cpus);                      /* FV_CPUS_MOST: there is none */
bool fv_cpus_within(const struct fv_cpus *a, const struct fv_cpus *b); /* is all of a in b? */
bool fv_cpus_meet(const struct fv_cpus *a, const struct fv_cpus *b);
bool fv_cpus_same(const struct fv_cpus *a, const struct fv_cpus *b);
void fv_cpus_add(struct fv_cpus *to, const struct fv_cpus *from);
void fv_cpus_remove(struct fv_cpus *from, const struct fv_cpus *what);

static inline void fv_cpus_set(struct fv_cpus *cpus, size_t cpu)
{
    cpus->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static inline bool fv_cpus_has(const struct fv_cpus *cpus, size_t cpu)
{
    return cpus->bits[cpu / 64] >> cpu % 64 & 1;
}

#endif
