/* SPDX-License-Identifier: BSD-3-Clause */
/* See functions.h. Rejected: a tree of functions alone, without the places of calls (a function that is called from two
 * lines is what people look for); a table of the process (a lock, and a cache line that all threads write). */
#include "functions/functions.h"
#include "functions/exclusions.h"
#include "rt/path.h"
#include "rt/process.h"
#include "rt/tail.h"

enum {
    PLACES = 1 << 16, /* of a thread */
    BLOCK = 256,
    BLOCKS = PLACES / BLOCK,
    OFTEN = 100000, /* calls of a function before it may be too short */
    SHORT_NS = 1000,
};

struct place {
    uint64_t key;
    struct fv_called_function *called;
};
struct short_function {
    uint64_t address;
};

struct fv_functions *fv_functions_new(struct fv_thread *thread)
{
    struct fv_functions *f = fv_memory_new(sizeof(*f));
    struct fv_called_function **blocks = f ? fv_memory_new(BLOCKS * sizeof(struct fv_called_function *)) : NULL;
    struct fv_chunk_header *chunk =
        blocks ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_FUNCTION_LOSSES, thread->id, 0, sizeof(*f->losses)) : NULL;

    if (!chunk) {
        if (blocks)
            fv_memory_free(blocks, BLOCKS * sizeof(struct fv_called_function *));
        if (f)
            fv_memory_free(f, sizeof(*f));
        return NULL;
    }
    f->blocks = blocks;
    f->losses = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*f->losses));
    return f;
}

/* ---- places ---- */

static uint64_t key_of(const struct fv_called_function *caller, const void *function, const void *site)
{
    /* 0 is none; callers differ above that bit */
    return (((uintptr_t)site * UINT64_C(0xbf58476d1ce4e5b9) + (uintptr_t)function) * UINT64_C(0x94d049bb133111eb) +
            2 * (uint64_t)caller->number) |
           1;
}

static struct fv_called_function *called_at(const struct fv_functions *f, uint32_t index)
{
    return &f->blocks[index / BLOCK][index % BLOCK];
}

static struct fv_called_function *new_called(struct fv_functions *f)
{
    if (f->count == PLACES)
        return NULL;
    if (!f->blocks[f->count / BLOCK])
        f->blocks[f->count / BLOCK] = fv_memory_new(BLOCK * sizeof(struct fv_called_function));
    return f->blocks[f->count / BLOCK] ? called_at(f, f->count) : NULL;
}

/* Among the callers: the outermost call of a recursion is measured. */
static struct fv_called_function *find_outer(struct fv_called_function *caller, const void *function, const void *site)
{
    while (caller && !(caller->function == function && caller->site == site))
        caller = caller->parent;
    return caller;
}

/* Where the function is called, by where its caller was; what is inlined has no place of its own. 0: no room. */
static uint32_t path_of(const struct fv_called_function *caller, const void *site, bool inlined)
{
    uint64_t removals = fv_module_removals(), offset;

    if (inlined)
        return caller->path;
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);
    fv_module_refresh(removals);
    uint32_t module = fv_module_find((uintptr_t)site, &offset), path = fv_tree_child(caller->path, module, offset);
    fv_unlock_sigrestore(&fv_tree_lock, signals);
    return path;
}

static uint32_t child_of(uint32_t node, uint32_t module, uint64_t offset)
{
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);
    uint32_t child = fv_tree_child(node, module, offset);

    fv_unlock_sigrestore(&fv_tree_lock, signals);
    return child;
}

/* As what is counted alone, but nowhere. */
static struct fv_called_function *leave_out(struct fv_functions *f, struct fv_called_function *c,
                                            struct fv_called_function *caller, const void *function, const void *site)
{
    if (!fv_map_add(&f->shorts, sizeof(struct short_function), (uintptr_t)function, 4 * PLACES))
        return NULL;
    f->count++;
    *c = (struct fv_called_function){
        .calls = &f->nowhere, .parent = caller, .function = function, .site = site, .is_counted = true
    };
    return c;
}

static struct fv_called_function *make(struct fv_thread *t, struct fv_called_function *caller, const void *function,
                                       const void *site, bool inlined)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_FUNCTION_CALLS, .first_pages = 1, .most_pages = 16 };
    struct fv_functions *f = t->functions;
    struct fv_called_function *c = new_called(f);
    uint64_t offset;
    uint32_t module = fv_module_of((uintptr_t)function, &offset);

    if (c && fv_exclusions_have(function, offset))
        return leave_out(f, c, caller, function, site);
    struct fv_function_calls *calls = c ? fv_tail_next(&f->tail, &kind, t->id, sizeof(*calls), false) : NULL;

    if (!calls)
        return NULL;
    *calls = (struct fv_function_calls){
        .parent = caller->number, .module = module, .offset = offset, .ticks_min = UINT64_MAX
    };
    uint32_t path = path_of(caller, site, inlined);
    calls->node = child_of(inlined ? caller->calls->node : path, module, offset + 1);
    fv_tail_commit(&f->tail, sizeof(*calls));
    f->count++;
    *c = (struct fv_called_function){ .calls = calls,
                                      .parent = caller,
                                      .function = function,
                                      .site = site,
                                      .path = path,
                                      .number = (uint32_t)f->tail.count };
    if ((c->is_counted = fv_called_is_short(f, function)))
        calls->flags |= FV_CALLS_COUNTED;
    return c;
}

/* Locks that a handler's victim may hold are left alone. */
static bool may_make(void)
{
    return fv_lock_is_free(&fv_tree_lock) && fv_lock_is_free(&fv_rt.writer.lock);
}

struct fv_called_function *fv_called_find(struct fv_thread *t, struct fv_called_function *caller, const void *function,
                                          const void *site, bool inlined)
{
    struct fv_functions *f = t->functions;
    uint64_t key = key_of(caller, function, site);
    struct place *known = fv_map_find(&f->places, sizeof(*known), key);

    if (FV_LIKELY(known != NULL)) {
        bool is_it = known->called->function == function && known->called->site == site;

        if (is_it && caller->recent)
            caller->recent->after = known->called;
        caller->recent = is_it ? known->called : caller->recent;
        return is_it ? known->called : NULL;
    }
    struct fv_scope scope = fv_scope_enter();
    struct fv_called_function *made = find_outer(caller, function, site);
    if (!made && may_make())
        made = make(t, caller, function, site, inlined);
    struct place *place = made ? fv_map_add(&f->places, sizeof(*place), key, 4 * PLACES) : NULL;
    if (place)
        place->called = made;
    else
        f->losses->no_room++;
    fv_scope_leave(&scope);
    return place ? made : NULL;
}

/* ---- short functions ---- */

bool fv_called_is_short(const struct fv_functions *f, const void *function)
{
    return fv_map_find(&f->shorts, sizeof(struct short_function), (uintptr_t)function);
}

static double nanoseconds(uint64_t ticks)
{
    const struct fv_clock_point *first = &fv_rt.writer.header->first;
    struct fv_clock_point now;

    fv_clock_point(&now);
    return now.ticks > first->ticks
               ? (double)ticks * (double)(now.monotonic_ns - first->monotonic_ns) / (double)(now.ticks - first->ticks)
               : 0;
}

FV_COLD void fv_called_judge(struct fv_functions *f, const struct fv_called_function *called)
{
    uint64_t calls = 0, ended = 0, ticks = 0;

    if (fv_rt.options.functions == FV_FUNCTIONS_ALL)
        return;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct fv_called_function *c = called_at(f, i);

        if (c->function != called->function)
            continue;
        calls += c->calls->calls;
        ended += c->calls->ended;
        ticks += c->calls->ticks;
    }
    if (calls < OFTEN || nanoseconds(ticks) >= (double)ended * SHORT_NS)
        return;
    struct fv_scope scope = fv_scope_enter();
    bool known = fv_map_add(&f->shorts, sizeof(struct short_function), (uintptr_t)called->function, 4 * PLACES);
    for (uint32_t i = 0; known && i < f->count; i++)
        if (called_at(f, i)->function == called->function) {
            called_at(f, i)->is_counted = true;
            called_at(f, i)->calls->flags |= FV_CALLS_COUNTED;
        }
    fv_scope_leave(&scope);
}

void fv_functions_close(struct fv_functions *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        called_at(f, i)->open = 0;
        called_at(f, i)->calls->opened = 0;
    }
}

/* ---- MPI_Pcontrol(2) ---- */

void fv_functions_clear(struct fv_thread *t)
{
    uint64_t now = fv_ticks();

    for (uint32_t i = 0; t->functions && i < t->functions->count; i++) {
        const struct fv_called_function *c = called_at(t->functions, i);
        struct fv_function_calls *calls = c->calls;

        *calls = (struct fv_function_calls){ .parent = calls->parent,
                                             .node = calls->node,
                                             .module = calls->module,
                                             .flags = calls->flags,
                                             .offset = calls->offset,
                                             .calls = c->open,
                                             .nested = c->open ? c->open - 1 : 0,
                                             .ticks_min = UINT64_MAX,
                                             .opened = c->open ? now : 0,
                                             .paused = fv_paused_until(now) };
    }
}
