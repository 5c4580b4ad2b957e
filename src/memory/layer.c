/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer: fills the table of hooks when recording begins, and empties it where it ends (memory.h). */
#include "memory/memory.h"
#include "base/experiment.h"
#include "rt/clock.h"
#include "rt/layers.h"
#include "rt/remarks.h"

bool fv_memory_ending;
static FV_TLS struct fv_front_own *own_front; /* the thread's; NULL: it was not here */
static FV_TLS struct fv_memory *own_memory;   /* NULL: it is not recorded */

/* ---- drawing ---- */

/* In (0, 1], of 32 bits. */
static double draw(struct fv_memory *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return ((double)(m->random >> 32) + 1) / 4294967296.0;
}

/* -log(x), of x in (0, 1]: x = f * 2^e, and the series of log((1 + z) / (1 - z)). The C library's is in a library of
 * its own. */
static double minus_log(double x)
{
    int e = 0;

    while (x < 0.70710678118654752) {
        x *= 2;
        e++;
    }
    double z = (x - 1) / (x + 1), q = z * z;

    return e * 0.69314718055994531 - 2 * z * (1 + q * (1. / 3 + q * (1. / 5 + q * (1. / 7 + q * (1. / 9)))));
}

static int64_t next_gap(struct fv_memory *m)
{
    return (int64_t)(minus_log(draw(m)) * (double)FV_MEMORY_MEAN) + 1;
}

/* ---- the hooks ---- */

static const uint64_t all_told = 0;
static struct fv_front_hooks *hooks; /* in memory that is wiped in a child; NULL: there was no room */

/* What it counts is everybody's. */
static void share(struct fv_front_own *own)
{
    own->large = &all_told;
    own->is_shared = true;
    own->sums = &fv_memory_process->rest;
}

static void begin(struct fv_front_own *own)
{
    if (fv_thread_is_attaching()) /* it begins with the next one */
        return;
    struct fv_scope scope = fv_scope_enter();
    struct fv_thread *t = fv_self;
    struct fv_memory *m = NULL;

    if (fv_rt_here() && fv_lock_is_free(&fv_rt.lock) && fv_lock_is_free(&fv_rt.writer.lock)) {
        if (!t && (t = fv_thread_attach()))
            fv_current = t;
        m = t ? fv_memory_of(t) : NULL;
    }
    own_front = own;
    own_memory = m;
    if (m) {
        own->sums = m->sums;
        own->is_shared = false;
        own->left = next_gap(m);
        own->large = &hooks->large;
    } else {
        share(own);
    }
    fv_scope_leave(&scope);
}

static void allocated(struct fv_front_own *own, void *object, size_t bytes, struct fv_call_place site)
{
    struct fv_memory *m = own_memory;
    uint32_t path;

    if (FV_UNLIKELY(!m || fv_memory_ending))
        return;
    if (bytes < *own->large) {
        if (own->left > 0) /* it came for something else */
            return;
        own->left = next_gap(m);
    }
    if (FV_UNLIKELY(!fv_memory_path(m, site, &path))) {
        own->sums->unseen++;
        return;
    }
    struct fv_allocator *a = fv_allocator_of(m, path);
    if (FV_UNLIKELY(!a || !fv_object_add((struct fv_object){ (uintptr_t)object, bytes, a->number }))) {
        __atomic_fetch_add(&fv_memory_process->objects_lost, 1, __ATOMIC_RELAXED);
        return;
    }
    fv_allocator_allocated(a, bytes, own->spent);
}

static void called(struct fv_front_own *own, const struct fv_front_call *call)
{
    (void)own;
    if (own_memory && !fv_memory_ending)
        fv_memory_trace(own_memory, call);
}

/* By a thread that is not recorded: in the record of who allocated it, which is not quite its own. */
static void count_freed(const struct fv_object *object)
{
    struct fv_allocator *a = fv_allocator_at(object->allocator);

    fv_allocator_freed(own_memory ? own_memory : a->of, a, object->bytes);
}

static size_t freed(struct fv_front_own *own, void *address)
{
    struct fv_object object = fv_object_take(address);
    (void)own;

    if (!object.address)
        return FV_FRONT_NONE;
    count_freed(&object);
    return object.bytes;
}

static struct fv_front_object take(struct fv_front_own *own, void *address)
{
    struct fv_object object = fv_object_take(address);
    (void)own;

    return (struct fv_front_object){ object.address, (uint64_t)object.bytes << 24 | object.allocator, object.bytes };
}

static void taken(struct fv_front_own *own, const struct fv_front_object *from, bool was_freed)
{
    const struct fv_object object = { from->address, from->where >> 24, from->where & 0xffffff };
    (void)own;

    if (was_freed)
        count_freed(&object);
    else if (!fv_object_add(object))
        __atomic_fetch_add(&fv_memory_process->objects_lost, 1, __ATOMIC_RELAXED);
}

static void publish(struct fv_front_own *own)
{
    fv_memory_publish(own->sums, own->is_shared);
}

static uint64_t ticks(void)
{
    return fv_ticks();
}

/* What two readings are apart: the least of some. */
static uint64_t cost_of_ticks(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 32; i++) {
        uint64_t begin = ticks(), end = ticks();
        least = end - begin < least ? end - begin : least;
    }
    return least;
}

_Static_assert((int)FV_MEMORY_CHOICE_ON == FV_MEMORY_SAMPLED && (int)FV_MEMORY_CHOICE_EXACT == FV_MEMORY_EXACT,
               "an option's value is the rank file's");

static bool is_traced(void)
{
    return fv_rt.options.memory == FV_MEMORY_CHOICE_CALLS && fv_rt.options.trace;
}

static bool make_hooks(void)
{
    hooks = hooks ? hooks : fv_memory_new_wiped(sizeof(*hooks));
    if (hooks)
        *hooks = (struct fv_front_hooks){ fv_rt.options.memory >= FV_MEMORY_CHOICE_EXACT ? 0 : FV_MEMORY_LARGE,
                                          ticks,
                                          cost_of_ticks(),
                                          begin,
                                          allocated,
                                          freed,
                                          take,
                                          taken,
                                          publish,
                                          is_traced() ? called : NULL };
    return hooks;
}

/* ---- the layer ---- */

static void start(struct fv_thread *self)
{
    (void)self;
    if (!fv_rt.options.memory || fv_memory_process)
        return;
    if (!&fvmpi_memory_v1) {
        fv_remark(fv_first_rank(), "FVMPI_MEMORY: libfvmpi-memory.so is not loaded, so memory is not recorded; preload "
                                   "it, too (fvmpi run --memory does)");
        return;
    }
    if (!make_hooks() || !fv_memory_process_new())
        return;
    fvmpi_memory_v1.is_exact = fv_rt.options.memory >= FV_MEMORY_CHOICE_EXACT;
    fv_memory_process->flags |= is_traced() ? FV_MEMORY_IN_TRACE : 0;
    fv_memory_arenas_note(&fv_memory_process->at_begin);
    fv_section_watch = &fv_memory_section_watch;
    __atomic_store_n(&fvmpi_memory_v1.hooks, hooks, __ATOMIC_RELEASE);
}

/* What the thread frees from now on, as it goes, is everybody's. */
static void thread_ends(struct fv_thread *self)
{
    (void)self;
    if (!own_memory)
        return;
    fv_memory_publish(own_memory->sums, false);
    own_memory = NULL;
    share(own_front);
}

/* In a handler that came while the thread allocates, as one that calls exit() may, glibc is not asked: its locks may be
 * the thread's own. */
static void note_end(struct fv_thread *self)
{
    (void)self;
    if (!fv_memory_process || fv_memory_ending)
        return;
    fv_memory_pages_note(&fv_memory_process->pages);
    fv_memory_places_note();
    fv_memory_state_read(&fv_memory_process->end, fv_memory_live(own_memory ? own_memory->sums->held : 0));
    if (own_front && !own_front->is_inside)
        fv_memory_arenas_note(&fv_memory_process->at_end);
}

/* Destructors free what the program had until now: that counts. */
static void exits(struct fv_thread *self)
{
    note_end(self);
    if (own_memory)
        fv_memory_publish(own_memory->sums, false);
    fv_memory_ending = true;
}

/* Of a child nothing is recorded. */
static void fork_ends(struct fv_thread *self)
{
    (void)self;
    if (!&fvmpi_memory_v1)
        return;
    __atomic_store_n(&fvmpi_memory_v1.hooks, NULL, __ATOMIC_RELEASE);
    if (own_front)
        *own_front = (struct fv_front_own){ .large = &all_told };
    own_memory = NULL;
    fv_section_watch = NULL;
}

const struct fv_layer fv_memory_layer = { .at = { [FV_AT_START] = start,
                                                  [FV_AT_THREAD_END] = thread_ends,
                                                  [FV_AT_FINALIZE] = note_end,
                                                  [FV_AT_EXIT] = exits,
                                                  [FV_AT_FORK] = fork_ends } };
