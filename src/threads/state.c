/* SPDX-License-Identifier: BSD-3-Clause */
/* See state.h. */
#include "threads/state.h"

FV_TLS struct fv_sync *fv_sync_current;
FV_TLS enum fv_sync_why fv_sync_why;
uint32_t fv_sync_mode;
uint32_t fv_sync_generations[FV_SYNC_GENERATIONS];

struct fv_sync_rarely fv_sync_rare_begin(struct fv_sync *s)
{
    struct fv_sync_rarely r = { s, fv_current, fv_ticks(), fv_scope_enter() };

    fv_sync_current = NULL;
    fv_sync_why = FV_SYNC_BUSY;
    fv_current = NULL;
    return r;
}

void fv_sync_rare_end(const struct fv_sync_rarely *r)
{
    r->s->state->cold_ticks += fv_ticks() - r->begin;
    fv_current = r->outside;
    fv_sync_why = FV_SYNC_NOT_YET;
    fv_sync_current = r->s;
    fv_scope_leave(&r->scope);
}
