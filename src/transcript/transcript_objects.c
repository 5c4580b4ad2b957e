/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_threads.h: objects that threads wait for, and what each thread did to them. */
#include "transcript/transcript_threads.h"

uint32_t fv_transcript_module(struct fv_transcript *t, uint32_t module)
{
    uint32_t id = fv_numbers_get(&t->modules, module);

    return id == FV_NONE ? FV_MODULE_UNKNOWN : id;
}

/* `module` names what has no number; FV_NONE: its place does. */
uint32_t fv_transcript_object_of(struct fv_transcript *t, unsigned kind, uint32_t lock, uint32_t module, uint32_t node,
                                 uint32_t slot, uint64_t ticks)
{
    struct fv_transcript_threads *w = t->together;
    uint32_t place = lock || module != FV_NONE ? 0 : node;
    size_t before = w->object_count;
    uint32_t i = FV_INTERN(w->object_index, w->objects, w->object_count, w->object_room,
                           (uint32_t[]){ kind, lock, module, place });

    if (w->object_count > before)
        w->objects[i].record = (struct fv_sync_object){
            .id = i + 1,
            .kind = (uint8_t)kind,
            .flags = module != FV_NONE ? FV_SYNC_STATIC : 0,
            .module = module != FV_NONE ? fv_transcript_module(t, module) : FV_MODULE_UNKNOWN,
            .path = fv_transcript_path(t, node),
            .first = ticks,
            .thread = slot,
        };
    return i + 1;
}

void fv_transcript_name(struct fv_transcript *t, uint32_t object, uint32_t module)
{
    struct fv_sync_object *o = &t->together->objects[object - 1].record;

    if (module == FV_NONE || o->flags & FV_SYNC_STATIC)
        return;
    o->module = fv_transcript_add_module(t, module);
    o->flags |= o->module != FV_MODULE_UNKNOWN ? FV_SYNC_STATIC : 0;
}

struct fv_sync_record *fv_transcript_operate(struct fv_transcript *t, const struct fv_transcript_operation *o)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_transcript_sync *s =
        FV_INTERNED(w->sync_index, w->syncs, w->sync_count, w->sync_room, (struct {
                        uint32_t object, thread, node;
                        uint8_t kind, operation;
                        uint16_t pad;
                    }){ o->object, o->slot, o->node, (uint8_t)o->kind, (uint8_t)o->operation, 0 });
    struct fv_sync_record *r = &s->record;

    if (!r->acquired && !r->failed) {
        r->object = o->object;
        r->thread = o->slot;
        r->path = fv_transcript_path(t, o->node);
        r->kind = (uint8_t)o->kind;
        r->operation = (uint8_t)o->operation;
    }
    r->acquired += !o->failed;
    r->failed += o->failed;
    r->contended += o->contended && !o->failed;
    if (o->contended) {
        unsigned bucket = fv_log2_bucket(o->waited >> FV_TIME_SHIFT);

        r->wait_sum += o->waited;
        r->wait_max = o->waited > r->wait_max ? o->waited : r->wait_max;
        r->wait_histogram[bucket < FV_TIME_BUCKETS ? bucket : FV_TIME_BUCKETS - 1]++;
    }
    return r;
}
