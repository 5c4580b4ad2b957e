/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the functions that a process calls, written into its rank file when first used, so that a
 * reader of any version knows what a function id means. */
#include "rt/statistics.h"
#include "rt/tail.h"

#include <string.h>

static struct fv_lock lock;
uint8_t fv_function_written[FV_FUNCTION_REST + 1];
static struct fv_tail tail;

static bool write_record(unsigned function)
{
    static const struct fv_function rest = { "(other functions)", FV_CLASS_OTHER, FV_RULE_NONE };
    const struct fv_function *f = function < fv_function_count ? &fv_functions[function] : &rest;
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_FUNCTIONS, .first_pages = 1, .most_pages = 1 };
    struct fv_function_record *r = fv_tail_next(&tail, &kind, FV_NO_THREAD, sizeof(*r), false);

    if (!r)
        return false;
    r->id = (uint16_t)function;
    r->class = f->class;
    r->wait = f->wait;
    strncpy(r->name, f->name, sizeof(r->name) - 1);
    fv_tail_commit(&tail, sizeof(*r));
    return true;
}

void fv_function_write(unsigned function)
{
    uint64_t signals = fv_lock_sigsave(&lock);
    if (!fv_function_written[function] && write_record(function)) /* on a full disk, the next call tries again */
        __atomic_store_n(&fv_function_written[function], 1, __ATOMIC_RELAXED);
    fv_unlock_sigrestore(&lock, signals);
}
