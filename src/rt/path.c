/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths, verified instead of unwound.
 *
 * The cache (path_cache.h) remembers, for a call from one place at one stack depth, which stack slots held
 * the return addresses of the whole path. If they still do, the path is the same: the frame of a function has
 * one size at one of its calls, so the chain of slots is fixed - unless the function finds its frame through
 * the frame pointer (alloca, variable-length arrays, realigned stacks). Such frames have their frame pointer
 * inside of themselves; unless it is known to be an address there by chance, the saved one is one more slot to compare.
 * A comparison costs a nanosecond a frame; unwinding (unwind.h) happens on a miss only.
 *
 * Slots are read between the wrapper's frame and the end of the thread's stack, which is memory that
 * exists as long as the thread does. Calls from other stacks (coroutines) and from signal handlers are
 * unwound every time.
 *
 * Of a path that is new most outer frames stood in the last one, too: their nodes of the call tree are remembered.
 *
 * In a Python program one stack of C serves many lines. There the key under which the cache is asked has the state of
 * the Python code in it (python.h), and the frames of Python take the places of the interpreter's. */
#include "rt/layers.h"
#include "rt/loaded_objects.h"
#include "rt/path_cache.h"
#include "rt/python.h"
#include "rt/unwind.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <string.h>
#include <sys/auxv.h>

/* A call path that is made of what a walk found, from the innermost frame outwards. */
struct places {
    struct place {
        uint32_t module;
        uint64_t offset;
    } place[FV_WALK_MOST];
    unsigned count, limit;
    bool cut;     /* there were more */
    bool in_loop; /* of the interpreter of Python, whose frames are to be had elsewhere */
};

/* Nodes of the last walk's frames, from the outermost inwards. Each holds for as long as the addresses of those before
 * it stay the same, and no object was closed. */
#define STANDING 64
struct standing {
    uint64_t removals;
    unsigned count;
    uintptr_t address[STANDING];
    uint32_t node[STANDING];
};

/* How many of the outermost frames of the last walk need no check, by the return addresses into the last three. */
struct ends {
    uint64_t removals;
    uintptr_t address[3];
    unsigned sole;
};

struct fv_paths {
    struct fv_path_cache cache;
    struct standing standing;
    struct ends ends;
    /* Of a miss in progress: here, because the application's stack may be small. */
    struct fv_stack_walk walk;
    struct places places;
    struct fv_python_walk *python; /* NULL: not needed so far */
    struct fv_path_check collected[3 * FV_WALK_MOST];
};

struct fv_paths *fv_paths_new(struct fv_path_cache **cache)
{
    struct fv_paths *paths = fv_memory_new(sizeof(struct fv_paths));

    if (!paths)
        return NULL;
    *cache = &paths->cache;
    fv_path_front_clear(&paths->cache);
    return paths;
}

void fv_paths_forget(struct fv_paths *paths)
{
    fv_path_cache_clear(&paths->cache);
    paths->standing.count = 0;
    paths->ends = (struct ends){ 0 };
}

void fv_paths_uncount(struct fv_paths *paths)
{
    fv_path_cache_uncount(&paths->cache);
}

/* Frames of a path at most. */
static unsigned limit_of(uint64_t depth)
{
    return depth && depth < FV_WALK_MOST ? (unsigned)depth : FV_WALK_MOST;
}

/* As the cache has it. */
static inline struct fv_call_place place_of(struct fv_call_place site)
{
    return (struct fv_call_place){ site.return_address, fv_rt.options.depth == 1 ? NULL : site.frame };
}

static inline bool with_python(void)
{
    return FV_UNLIKELY(__atomic_load_n(&fv_python, __ATOMIC_ACQUIRE) != NULL);
}

/* fv_module_removals() when it was asked last. Where a library was closed another one may stand, and be called from the
 * same slots: paths from before are not found any more. */
static uint64_t removals_seen;

static void notice(uint64_t removals)
{
    if (__atomic_load_n(&removals_seen, __ATOMIC_RELAXED) == removals)
        return;
    __atomic_store_n(&removals_seen, removals, __ATOMIC_RELEASE);
    for (struct fv_thread *t = __atomic_load_n(&fv_rt.threads, __ATOMIC_ACQUIRE); t; t = t->next_all)
        fv_path_front_clear(t->path_cache); /* what a thread puts there now is of code that is not closed yet */
}

void fv_path_notice(void)
{
    if (__atomic_load_n(&fv_rt.threads, __ATOMIC_ACQUIRE))
        notice(fv_module_removals());
}

/* Under which the cache has the paths of a call. */
static inline uint64_t key_of(struct fv_call_place place, bool python)
{
    return fv_path_root_key(place) + (python ? fv_python_state() : 0) +
           __atomic_load_n(&removals_seen, __ATOMIC_RELAXED) * UINT64_C(0x9e3779b97f4a7c15);
}

struct fv_path_entry *fv_path_insert(struct fv_thread *thread, struct fv_call_place site, uint32_t path,
                                     const struct fv_path_check *checks, uint32_t count)
{
    struct fv_path_cache *cache = &thread->paths->cache;
    const struct fv_call_place place = place_of(site);
    uint64_t before = cache->evicted;
    struct fv_path_entry *e = fv_path_cache_add(cache, key_of(place, with_python()), place, path, checks, count);

    thread->record->path_evictions += cache->evicted - before;
    return e;
}

/* What the slot of a return address holds: that, and where it is signed (pointer authentication on AArch64) its
 * signature. */
static inline uintptr_t value_at(uintptr_t slot, uintptr_t address)
{
#if defined(__x86_64__)
    return (void)slot, address; /* the sampler may watch the slot: not to be read */
#else
    return (void)address, *(const volatile uintptr_t *)slot;
#endif
}

static bool is_in(const void *object, uintptr_t return_address)
{
    struct fv_loaded_object found;

    return fv_loaded_find(return_address - 1, &found) && found.object == object;
}

/* In the few instructions that a program begins with, whose one call is into the C library. */
static bool is_entry(uintptr_t return_address)
{
    return return_address - (uintptr_t)getauxval(AT_ENTRY) < 64;
}

/* Of the last three frames of a walk, innermost first. Each function that the C library starts a program or a thread
 * with is called from one place. The innermost of them is not asked about: it calls what it is told to. */
static unsigned count_sole(const uintptr_t address[3])
{
    struct fv_loaded_object libc;

    if (!fv_loaded_find((uintptr_t)gnu_get_libc_version, &libc) || !is_in(libc.object, address[1]))
        return 0;
    if (is_entry(address[2]))
        return is_in(libc.object, address[0]) ? 2 : 1;
    return is_in(libc.object, address[2]) ? 1 : 0;
}

/* How many of the outermost frames follow from the one before them. */
static unsigned sole_frames(struct ends *ends, const struct fv_stack_walk *walk, uint64_t removals)
{
    const struct fv_stack_frame *last = &walk->frame[walk->count - 1];

    if (walk->count < 4 || walk->truncated)
        return 0;
    if (ends->removals != removals || ends->address[0] != last[-2].address || ends->address[1] != last[-1].address ||
        ends->address[2] != last->address) {
        *ends = (struct ends){ removals, { last[-2].address, last[-1].address, last->address }, 0 };
        ends->sole = count_sole(ends->address);
    }
    return ends->sole;
}

/* Checks that pin a walk down, and where they may be. */
struct collected {
    struct fv_path_check *checks;
    unsigned count;
    uintptr_t base, end;
};

/* False: not there. */
static bool collect(struct collected *c, uintptr_t slot, uintptr_t value)
{
    if (slot < c->base || slot >= c->end)
        return false;
    c->checks[c->count++] = (struct fv_path_check){ (int64_t)(slot - c->base), value };
    return true;
}

/* What finds the next frame from this one, beside the size of this one. Where a function has realigned its stack, as
 * for vectors, callers at several depths of the stack leave it with one frame pointer: the slot tells them apart that
 * has what the stack pointer was. */
static bool collect_link(struct collected *c, struct fv_stack_walk *walk, unsigned i)
{
    const struct fv_stack_frame *f = &walk->frame[i];
    const uintptr_t next_sp = walk->frame[i + 1].sp;
    const bool is_within = f->frame_pointer >= f->sp && f->frame_pointer < next_sp;
    intptr_t above = 0;

    if (is_within && next_sp == f->frame_pointer + 2 * sizeof(uintptr_t))
        return collect(c, f->saved_at, f->frame_pointer);
    switch (fv_cfi_link_of(&walk->scratch, f->address - 1, &above)) {
    case FV_CFI_BY_STACK: return true;
    case FV_CFI_NO_TABLE: return !is_within || collect(c, f->saved_at, f->frame_pointer);
    case FV_CFI_BY_POINTER: return collect(c, f->saved_at, f->frame_pointer);
    case FV_CFI_BY_SLOT:
        return collect(c, f->saved_at, f->frame_pointer) && collect(c, f->frame_pointer + (uintptr_t)above, next_sp);
    case FV_CFI_BY_OTHER: break;
    }
    return false;
}

/* The stack slots that pin this walk down, together with its return address. False: it can't be cached. */
static bool collect_checks(struct fv_stack_walk *walk, unsigned frames, struct collected *c)
{
    for (unsigned i = 0; i < frames; i++) {
        const struct fv_stack_frame *f = &walk->frame[i];

        if (i ? !collect(c, f->slot, value_at(f->slot, f->address)) : f->slot < c->base || f->slot >= c->end)
            return false;
        if (f->is_fixed || (i + 1 == frames && !walk->truncated))
            continue; /* nothing is found by it */
        if (!collect_link(c, walk, i))
            return false;
    }
    return true;
}

/* The bounds of FV_UNSEEN, by the linker, if there is one such function: this is. */
extern const char __start_fv_unseen[] __attribute__((visibility("hidden")));
extern const char __stop_fv_unseen[] __attribute__((visibility("hidden")));

FV_UNSEEN bool fv_path_is_unseen(uintptr_t return_address)
{
    return return_address >= (uintptr_t)__start_fv_unseen && return_address < (uintptr_t)__stop_fv_unseen;
}

static void add_place(struct places *p, uint32_t module, uint64_t offset)
{
    p->cut = p->count == p->limit;
    if (!p->cut)
        p->place[p->count++] = (struct place){ module, offset };
}

/* Frames of Python from number `next` on: those that one call of the interpreter's loop runs, or all. Returns the next
 * one. */
static unsigned add_python(struct places *p, const struct fv_python_walk *python, unsigned next, bool all)
{
    for (bool more = true; more && next < python->count; next++) {
        const struct fv_python_frame *f = &python->frame[next];

        if (f->module)
            add_place(p, f->module, f->line);
        more = all || !f->outermost;
    }
    return next;
}

/* Of the interpreter, that say nothing of the program. */
static bool is_interpreter(uint32_t module)
{
    return module == fv_python_module() || fv_module_is_binding(module);
}

/* `python`: NULL where the thread is in no code of Python. Under fv_tree_lock. */
static void place_frames(struct places *p, const struct fv_stack_walk *walk, const struct fv_python_walk *python)
{
    uint32_t exit = python || !with_python() ? 0 : fv_python_exit();
    bool in_exit = false;
    unsigned next = 0;

    p->count = 0;
    p->cut = p->in_loop = false;
    for (unsigned i = 0; i < walk->count && !p->cut; i++) {
        uintptr_t address = walk->frame[i].address;
        uint64_t offset;

        if (fv_path_is_unseen(address))
            continue;
        if (fv_python_is_loop(address)) {
            p->in_loop = true;
            if (python) {
                next = add_python(p, python, next, false);
                continue;
            }
        }
        uint32_t module = fv_module_find(address, &offset);
        if (!(python || exit) || !is_interpreter(module)) {
            add_place(p, module, offset);
        } else if (exit && !in_exit) {
            add_place(p, exit, 0);
            in_exit = true;
        }
    }
    if (python && !p->cut)
        add_python(p, python, next, true);
    p->cut |= walk->truncated;
    if (!p->count && python)
        place_frames(p, walk, NULL);
}

/* The call tree's node for a walk; outermost frame first. */
static uint32_t intern_places(struct places *p, const struct fv_stack_walk *walk, const struct fv_python_walk *python)
{
    uint32_t id = 0;

    p->limit = limit_of(fv_rt.options.depth);
    place_frames(p, walk, python);
    if (p->cut && !fv_rt.options.depth)
        id = fv_tree_child(0, FV_MODULE_TRUNCATED, 0);
    for (unsigned i = p->count; i-- > 0;)
        if (!(id = fv_tree_child(id, p->place[i].module, p->place[i].offset)))
            break;
    return id;
}

/* The same of a walk that is whole, in a process without Python. */
static uint32_t intern_frames(struct standing *s, const struct fv_stack_walk *walk, uint64_t removals)
{
    const struct fv_stack_frame *outermost = &walk->frame[walk->count - 1];
    unsigned i = 0;
    uint64_t offset;

    if (s->removals != removals)
        s->count = 0;
    s->removals = removals;
    while (i < s->count && i < walk->count && s->address[i] == (outermost - i)->address)
        i++;
    uint32_t id = i ? s->node[i - 1] : 0;
    for (s->count = i < walk->count ? i : s->count; i < walk->count; i++) {
        const uintptr_t address = (outermost - i)->address;
        bool lasts = true;

        if (!fv_path_is_unseen(address)) {
            const uint32_t module = fv_module_find(address, &offset);

            if (!(id = fv_tree_child(id, module, offset)))
                break;
            lasts = module != FV_MODULE_UNKNOWN;
        }
        if (lasts && i == s->count && i < STANDING) {
            s->address[i] = address;
            s->node[i] = id;
            s->count++;
        }
    }
    return id;
}

/* standing: of the last walk; NULL: none is kept. */
static uint32_t intern(struct places *p, struct standing *standing, const struct fv_stack_walk *walk,
                       const struct fv_python_walk *python, uint64_t removals)
{
    const bool is_whole = standing && !walk->truncated && !with_python() && !fv_python_module();
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);

    fv_module_refresh(removals);
    p->in_loop = false;
    uint32_t id = is_whole ? intern_frames(standing, walk, removals) : intern_places(p, walk, python);
    fv_unlock_sigrestore(&fv_tree_lock, signals);
    if (!id)
        fv_dropped(FV_DROP_PATHS);
    return id;
}

/* Of the walk there must be all that the interpreter's loop may stand in. */
static unsigned walk_limit(const struct fv_python_walk *python)
{
    unsigned limit = limit_of(fv_rt.options.depth);

    return python && limit > 1 ? FV_WALK_MOST : limit;
}

/* Of threads that signals have interrupted, one after the other: their stacks may be full. */
static struct {
    struct fv_lock lock; /* signals are held where it is taken */
    struct fv_stack_walk walk;
    struct places places;
    struct fv_python_walk python;
} interrupted;

/* What the thread was unwinding itself, if it was, goes on as if nothing was. */
uint32_t fv_path_interrupted(const struct fv_thread *thread, uintptr_t pc)
{
    uint32_t path = 0;

    if (!fv_lock_is_free(&interrupted.lock)) /* the file lost its pages while we were here */
        return 0;
    fv_lock(&interrupted.lock);
    const struct fv_python_walk *python = fv_python_walk(&interrupted.python, true) ? &interrupted.python : NULL;
    const struct fv_stack_range all = { 0, 0, thread ? thread->watched : 0, thread ? thread->watched_value : 0 };
    fv_unwind(&interrupted.walk, (struct fv_call_place){ .return_address = (const void *)pc }, walk_limit(python), &all,
              FV_UNWIND_ANEW);              /* the kernel reads: what is there may be anything */
    interrupted.walk.frame[0].address += 1; /* as if it were a return address */
    if (interrupted.walk.count)
        path = intern(&interrupted.places, NULL, &interrupted.walk, python, fv_module_removals());
    fv_unlock(&interrupted.lock);
    return path;
}

static const struct fv_python_walk *own_python(struct fv_paths *paths)
{
    if (!with_python() && !fv_python_try())
        return NULL;
    if (!paths->python)
        paths->python = fv_memory_new(sizeof(*paths->python));
    return paths->python && fv_python_walk(paths->python, false) ? paths->python : NULL;
}

static void unwind_own(struct fv_thread *thread, struct fv_call_place site, bool own_stack, unsigned limit,
                       uint64_t removals)
{
    struct fv_stack_walk *walk = &thread->paths->walk;

    walk->count = 0;
    if (limit > 1) {
        /* a coroutine's stack may end anywhere: nothing of it is read without asking the kernel */
        const struct fv_stack_range stack = { 0, own_stack ? thread->stack_end : 0, thread->watched,
                                              thread->watched_value };
        fv_unwind(walk, site, limit, &stack, own_stack ? removals : FV_UNWIND_ANEW);
    }
    if (!walk->count) { /* nothing to unwind by: the call site alone */
        walk->count = 1;
        walk->truncated = false;
        walk->cachable = limit > 1;
        walk->frame[0] = (struct fv_stack_frame){ .address = (uintptr_t)site.return_address };
    }
}

static FV_COLD struct fv_path_entry *miss(struct fv_thread *thread, struct fv_call_place site)
{
    uint64_t begin = fv_ticks();
    int saved = errno; /* what the kernel does not let us read sets it */
    struct fv_paths *paths = thread->paths;
    bool own_stack = (uintptr_t)site.frame >= thread->stack_low && (uintptr_t)site.frame < thread->stack_end;
    const struct fv_python_walk *python = own_python(paths);
    unsigned limit = walk_limit(python);
    struct collected c = { .checks = paths->collected, .base = (uintptr_t)site.frame, .end = thread->stack_end };
    const uint64_t removals = fv_module_removals();

    notice(removals);
    unwind_own(thread, site, own_stack, limit, removals);
    uint32_t path = intern(&paths->places, &paths->standing, &paths->walk, python, removals);
    if (paths->places.in_loop && !python)
        fv_python_missed();
    const bool is_pinned =
        limit == 1 ||
        (paths->walk.cachable && own_stack &&
         collect_checks(&paths->walk, paths->walk.count - sole_frames(&paths->ends, &paths->walk, removals), &c));
    struct fv_path_entry *e =
        is_pinned ? fv_path_insert(thread, site, path, c.checks, c.count) : fv_path_cache_pass(&paths->cache, path);
    fv_layers_tell(FV_AT_CATCH_UP, thread);
    thread->record->path_misses++;
    thread->record->cold_ticks += fv_ticks() - begin;
    errno = saved;
    return e;
}

static __attribute__((noinline)) struct fv_path_entry *search(struct fv_thread *thread, uint32_t root,
                                                              struct fv_call_place place)
{
    return FV_UNLIKELY(thread->watched) ? fv_path_cache_find(&thread->paths->cache, thread, root, place, true)
                                        : fv_path_cache_find(&thread->paths->cache, thread, root, place, false);
}

/* While an instance is measured (--sample). */
static __attribute__((noinline)) bool holds_watched(const struct fv_path_node *node, uintptr_t frame,
                                                    const struct fv_thread *thread)
{
    return fv_path_holds(node, frame, thread, true);
}

/* Most call sites have one path at a depth of the stack: a tree of one node. */
static inline __attribute__((always_inline)) struct fv_path_entry *find(struct fv_thread *thread,
                                                                        struct fv_call_place site, bool python)
{
    struct fv_path_cache *cache = &thread->paths->cache;
    const struct fv_call_place place = place_of(site);
    const uintptr_t frame = (uintptr_t)place.frame;
    uint32_t root = fv_path_place_of(cache, key_of(place, python));
    struct fv_path_node *node = &cache->node[root];

    if (FV_LIKELY(node->is_path && !node->children && node->is_used && fv_path_is_of(node, place)))
        return FV_UNLIKELY(thread->watched) ? (holds_watched(node, frame, thread) ? &node->entry : NULL)
                                            : (fv_path_holds(node, frame, thread, false) ? &node->entry : NULL);
    return search(thread, root, place);
}

struct fv_path_entry *fv_path_known(struct fv_thread *thread, struct fv_call_place site)
{
    return find(thread, site, with_python());
}

static __attribute__((noinline)) struct fv_path_entry *lookup_python(struct fv_thread *thread,
                                                                     struct fv_call_place site)
{
    struct fv_path_entry *known = find(thread, site, true);

    return FV_LIKELY(known != NULL) ? known : miss(thread, site);
}

struct fv_path_entry *fv_path_lookup(struct fv_thread *thread, struct fv_call_place site)
{
    struct fv_path_entry *known = fv_path_again(thread, site, 0);

    if (FV_LIKELY(known || (known = fv_path_again(thread, site, 1))))
        return known;
    if (with_python())
        return lookup_python(thread, site); /* apart, since the registers that it saves cost all others */
    known = find(thread, site, false);
    if (FV_UNLIKELY(!known))
        return miss(thread, site);
    fv_path_front_keep(thread->path_cache, site, known);
    return known;
}
