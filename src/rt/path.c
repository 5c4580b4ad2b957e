/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths, verified instead of unwound.
 *
 * The cache (path_cache.h) remembers, for a call from one place at one stack depth, which stack slots held
 * the return addresses of the whole path. If they still do, the path is the same: the frame of a function has
 * one size at one of its calls, so the chain of slots is fixed - unless the function finds its frame through
 * the frame pointer (alloca, variable-length arrays, realigned stacks). Such frames have their frame pointer
 * inside of themselves; for them the saved frame pointer is one more slot to compare. A comparison costs a
 * nanosecond a frame; unwinding by libunwind, half a microsecond a frame, happens on a miss only.
 *
 * Slots are read between the wrapper's frame and the end of the thread's stack, which is memory that
 * exists as long as the thread does. Calls from other stacks (coroutines) and from signal handlers are
 * unwound every time.
 *
 * In a Python program one stack of C serves many lines. There the key under which the cache is asked has the state of
 * the Python code in it (python.h), and the frames of Python take the places of the interpreter's. */
#define UNW_LOCAL_ONLY
#include "rt/layers.h"
#include "rt/path_cache.h"
#include "rt/python.h"
#include "rt/return_address.h"

#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>

#ifdef PIC
/* libunwind also defines the functions that throw C++ exceptions. Where the program's own libraries come after ours, as
 * those that are opened by dlopen(), they would be taken: a thousand times slower, and blind to code that was
 * registered with libgcc. So libgcc's library stands before libunwind (UNWIND_LIBS), and this keeps a linker from
 * dropping it. */
extern int _Unwind_Backtrace(void);
__attribute__((used)) static int (*const libgcc)(void) = _Unwind_Backtrace;
#endif
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX    1024 /* frames; outer ones are cut, and the path says so */
#define UNWIND_STACK 4096 /* below us, where unwind() and libunwind run; mapped, since they run there */

/* One frame as libunwind reported it. */
struct frame {
    uintptr_t address;       /* return address into it */
    uintptr_t sp;            /* its stack pointer at the call */
    uintptr_t slot;          /* where the return address is; 0: not on the stack */
    uintptr_t frame_pointer; /* its value in that frame ... */
    uintptr_t saved_at;      /* ... and the slot that a callee saved it in; 0: none */
};

struct walk {
    unsigned count;
    bool truncated; /* there were more frames */
    bool cachable;
    unw_cursor_t before;               /* of a step in progress */
    uintptr_t guessed_at;              /* where the frame pointer is saved that was followed last, without a table */
    struct frame frame[DEPTH_MAX + 1]; /* last: a short walk touches one page */
};

/* A call path that is made of what a walk found, from the innermost frame outwards. */
struct places {
    struct place {
        uint32_t module;
        uint64_t offset;
    } place[DEPTH_MAX];
    unsigned count, limit;
    bool cut;     /* there were more */
    bool in_loop; /* of the interpreter of Python, whose frames are to be had elsewhere */
};

struct fv_paths {
    struct fv_path_cache cache;
    /* Of a miss in progress: here, because the application's stack may be small. */
    struct walk walk;
    struct places places;
    struct fv_python_walk *python; /* NULL: not needed so far */
    struct fv_path_check collected[2 * DEPTH_MAX];
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
}

void fv_paths_uncount(struct fv_paths *paths)
{
    fv_path_cache_uncount(&paths->cache);
}

/* Frames of a path at most. */
static unsigned limit_of(uint64_t depth)
{
    return depth && depth < DEPTH_MAX ? (unsigned)depth : DEPTH_MAX;
}

static inline uintptr_t slot_of(struct fv_call_place site)
{
    return fv_rt.options.depth == 1 ? 0 : (uintptr_t)&site.frame[1];
}

static inline bool with_python(void)
{
    return FV_UNLIKELY(__atomic_load_n(&fv_python, __ATOMIC_ACQUIRE) != NULL);
}

/* Under which the cache has the paths of a call. */
static inline uint64_t key_of(struct fv_call_place site, uintptr_t slot, bool python)
{
    return fv_path_root_key(site.return_address, slot) + (python ? fv_python_state() : 0);
}

struct fv_path_entry *fv_path_insert(struct fv_thread *thread, struct fv_call_place site, uint32_t path,
                                     const struct fv_path_check *checks, uint32_t count)
{
    struct fv_path_cache *cache = &thread->paths->cache;
    uintptr_t slot = slot_of(site);
    uint64_t before = cache->evicted;
    struct fv_path_entry *e = fv_path_cache_add(cache, key_of(site, slot, with_python()), slot, path, checks, count);

    thread->record->path_evictions += cache->evicted - before;
    return e;
}

/* Where a callee saved a register of this frame; 0: in none of its slots. */
static inline uintptr_t saved_at(unw_cursor_t *cursor, int reg)
{
    unw_save_loc_t at;

    return !unw_get_save_loc(cursor, reg, &at) && at.type == UNW_SLT_MEMORY ? at.u.addr : 0;
}

static void read_frame(unw_cursor_t *cursor, struct frame *f)
{
    unw_word_t ip = 0, sp = 0, fp = 0;

    unw_get_reg(cursor, UNW_REG_IP, &ip);
    unw_get_reg(cursor, UNW_REG_SP, &sp);
    *f = (struct frame){ .address = ip, .sp = sp };
#if defined(__x86_64__)
    unw_get_reg(cursor, UNW_X86_64_RBP, &fp);
    f->slot = sp - sizeof(uintptr_t);
    f->saved_at = saved_at(cursor, UNW_X86_64_RBP);
#elif defined(__aarch64__)
    unw_get_reg(cursor, UNW_AARCH64_X29, &fp);
    f->slot = saved_at(cursor, UNW_AARCH64_X30);
    f->saved_at = saved_at(cursor, UNW_AARCH64_X29);
#endif
    f->frame_pointer = fp;
}

/* libunwind checks memory through a pipe of its own, whose descriptors it keeps: the application's next
 * open() would get other numbers, and if it closes descriptors that it does not own, libunwind writes into
 * whatever file got them next. So while we unwind, its reads come here: the thread's own stack is read as
 * it is, other memory (stacks of coroutines and signal handlers) through the kernel, which checks. The
 * application's own use of libunwind is passed on. */
static FV_TLS struct {
    bool on;
    uintptr_t low, high;
    uintptr_t watched, watched_value; /* as in struct fv_thread */
} unwinding;
static int (*libunwind_access)(unw_addr_space_t, unw_word_t, unw_word_t *, int, void *);

/* Stacks have places that AddressSanitizer forbids, where a library is built with it. */
__attribute__((no_sanitize("address"))) static int access_memory(unw_addr_space_t space, unw_word_t address,
                                                                 unw_word_t *value, int write, void *arg)
{
    if (!unwinding.on)
        return libunwind_access(space, address, value, write, arg);
    if (write)
        return -UNW_EINVAL;
    if (address == unwinding.watched && address) {
        *value = unwinding.watched_value;
        return 0;
    }
    if (address >= unwinding.low && address < unwinding.high && unwinding.high - address >= sizeof(*value)) {
        memcpy(value, (const void *)address, sizeof(*value));
        return 0;
    }
    return fv_memory_peek(address, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

/* The first use of libunwind opens its pipe, even so: the low descriptors are taken meanwhile. */
void fv_path_init(void)
{
    int filler[48];
    unsigned fillers = 0;

    while (fillers < 48 && (filler[fillers] = fcntl(fv_rt.writer.fd, F_DUPFD_CLOEXEC, 0)) >= 0 && filler[fillers] < 48)
        fillers++;
    if (fillers < 48 && filler[fillers] >= 48)
        close(filler[fillers]);
    unw_accessors_t *accessors = unw_get_accessors(unw_local_addr_space);

    while (fillers > 0)
        close(filler[--fillers]);
    libunwind_access = accessors->access_mem;
    accessors->access_mem = access_memory;
}

/* Of a frame that has no table libunwind says that it is a byte long. It searches the loader's list for that, with a
 * lock and signals held: addresses that have a table are remembered, by any thread. */
static bool has_table(unw_cursor_t *cursor, uintptr_t address)
{
    static uintptr_t with_table[1024];
    uintptr_t *known = &with_table[fv_mix(address) % (sizeof(with_table) / sizeof(*with_table))];
    unw_proc_info_t info;

    if (__atomic_load_n(known, __ATOMIC_RELAXED) == address)
        return true;
    if (unw_get_proc_info(cursor, &info) || info.end_ip <= info.start_ip + 1)
        return false;
    __atomic_store_n(known, address, __ATOMIC_RELAXED);
    return true;
}

/* Of a frame that was found by the frame pointer libunwind knows address and registers, but on x86-64 not the stack
 * pointer. It begins anew from what is known; registers then stand in `context`. */
static void know_stack(unw_cursor_t *cursor, unw_context_t *context, uintptr_t sp)
{
#if defined(__x86_64__)
    static const struct {
        int from, to;
    } kept[] = { { UNW_REG_IP, REG_RIP },     { UNW_X86_64_RBX, REG_RBX }, { UNW_X86_64_RBP, REG_RBP },
                 { UNW_X86_64_R12, REG_R12 }, { UNW_X86_64_R13, REG_R13 }, { UNW_X86_64_R14, REG_R14 },
                 { UNW_X86_64_R15, REG_R15 } };
    unw_word_t value[sizeof(kept) / sizeof(*kept)] = { 0 };

    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        unw_get_reg(cursor, kept[i].from, &value[i]);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        context->uc_mcontext.gregs[kept[i].to] = (greg_t)value[i];
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    unw_init_local(cursor, context);
#else
    (void)cursor, (void)context, (void)sp;
#endif
}

/* To the next frame outwards, which is read. 0: there is none, or the frame has no table and its frame pointer leads to
 * no return address. */
static int step(struct walk *walk, unw_cursor_t *cursor, unw_context_t *context)
{
    const struct frame *from = &walk->frame[walk->count - 1];
    struct frame *to = &walk->frame[walk->count];
    uintptr_t at = from->frame_pointer + sizeof(at);
    unw_word_t found = 0;

    walk->before = *cursor;
    int more = unw_step(cursor);
    if (more <= 0)
        return more;
    read_frame(cursor, to);
    if (to->saved_at - (uintptr_t)context < sizeof(*context))
        to->saved_at = walk->guessed_at;
    if (at < from->sp || access_memory(unw_local_addr_space, at, &found, 0, NULL) || to->address != found ||
        has_table(&walk->before, from->address))
        return more;
    if (!fv_is_return_address(found))
        return 0;
    to->slot = at;
    to->sp = at + sizeof(at);
    to->saved_at = walk->guessed_at = from->frame_pointer;
    know_stack(cursor, context, to->sp);
    return more;
}

/* Unwinds from a caller outwards, whose address is the site's, at most `limit` frames and one more for the size of the
 * last.
 */
static void unwind(struct walk *walk, struct fv_call_place site, unsigned limit)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t ip = 0;
    int more;

    walk->count = 0;
    walk->truncated = false;
    walk->cachable = true;
    unw_getcontext(&context);
    if (unw_init_local(&cursor, &context))
        return;
    while ((more = unw_step(&cursor)) > 0) {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip == (uintptr_t)site.return_address)
            break;
    }
    if (more > 0)
        read_frame(&cursor, &walk->frame[0]);
    while (more > 0 && walk->count < limit) {
        if (!walk->frame[walk->count].address)
            return;
        walk->count++;
        if (unw_is_signal_frame(&cursor) > 0)
            walk->cachable = false;
        more = step(walk, &cursor, &context);
    }
    walk->truncated = more > 0;
    if (more <= 0)
        walk->frame[walk->count] = (struct frame){ .sp = UINTPTR_MAX };
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

/* The stack slots that pin this walk down. 0: it can't be cached. */
static unsigned collect_checks(const struct walk *walk, struct fv_call_place site, uintptr_t stack_end,
                               struct fv_path_check *checks)
{
    uintptr_t base = (uintptr_t)&site.frame[1];
    unsigned count = 0;

    for (unsigned i = 0; i < walk->count; i++) {
        const struct frame *f = &walk->frame[i];
        uintptr_t slot = f->slot, next_sp = walk->frame[i + 1].sp;

        if (slot < base || slot >= stack_end)
            return 0;
        checks[count++] = (struct fv_path_check){ (int64_t)(slot - base), value_at(slot, f->address) };
        if (f->frame_pointer < f->sp || f->frame_pointer >= next_sp || (i + 1 == walk->count && !walk->truncated))
            continue; /* a general register here; or nothing was found by it */
        if (f->saved_at < base - sizeof(uintptr_t) || f->saved_at >= stack_end)
            return 0;
        checks[count++] = (struct fv_path_check){ (int64_t)(f->saved_at - base), f->frame_pointer };
    }
    return count;
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
static void place_frames(struct places *p, const struct walk *walk, const struct fv_python_walk *python)
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
static uint32_t intern(struct places *p, const struct walk *walk, const struct fv_python_walk *python)
{
    uint32_t id = 0;
    uint64_t removals = fv_module_removals();
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);

    fv_module_refresh(removals);
    p->limit = limit_of(fv_rt.options.depth);
    place_frames(p, walk, python);
    if (p->cut && !fv_rt.options.depth)
        id = fv_tree_child(0, FV_MODULE_TRUNCATED, 0);
    for (unsigned i = p->count; i-- > 0;)
        if (!(id = fv_tree_child(id, p->place[i].module, p->place[i].offset)))
            break;
    fv_unlock_sigrestore(&fv_tree_lock, signals);
    if (!id)
        fv_dropped(FV_DROP_PATHS);
    return id;
}

/* Of the walk there must be all that the interpreter's loop may stand in. */
static unsigned walk_limit(const struct fv_python_walk *python)
{
    unsigned limit = limit_of(fv_rt.options.depth);

    return python && limit > 1 ? DEPTH_MAX : limit;
}

/* Of threads that signals have interrupted, one after the other: their stacks may be full. */
static struct {
    struct fv_lock lock; /* signals are held where it is taken */
    struct walk walk;
    struct places places;
    struct fv_python_walk python;
} interrupted;

/* What the thread was unwinding itself, if it was, goes on as if nothing was. */
uint32_t fv_path_interrupted(const struct fv_thread *thread, uintptr_t pc)
{
    const typeof(unwinding) before = unwinding;
    uint32_t path = 0;

    if (!fv_lock_is_free(&interrupted.lock)) /* the file lost its pages while we were here */
        return 0;
    fv_lock(&interrupted.lock);
    const struct fv_python_walk *python = fv_python_walk(&interrupted.python, true) ? &interrupted.python : NULL;
    unwinding.low = unwinding.high = 0; /* the kernel reads: what is there may be anything */
    unwinding.watched = thread ? thread->watched : 0;
    unwinding.watched_value = thread ? thread->watched_value : 0;
    unwinding.on = true;
    unwind(&interrupted.walk, (struct fv_call_place){ .return_address = (const void *)pc }, walk_limit(python));
    unwinding = before;
    interrupted.walk.frame[0].address += 1; /* as if it were a return address */
    if (interrupted.walk.count)
        path = intern(&interrupted.places, &interrupted.walk, python);
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

static void unwind_own(struct fv_thread *thread, struct fv_call_place site, bool own_stack, unsigned limit)
{
    struct walk *walk = &thread->paths->walk;

    walk->count = 0;
    if (limit > 1) {
        /* a coroutine's stack may end anywhere: nothing of it is read without asking the kernel */
        unwinding.low = own_stack ? (uintptr_t)__builtin_frame_address(0) - UNWIND_STACK : 0;
        unwinding.high = own_stack ? thread->stack_end : 0;
        unwinding.watched = thread->watched;
        unwinding.watched_value = thread->watched_value;
        unwinding.on = true;
        unwind(walk, site, limit);
        unwinding.on = false;
    }
    if (!walk->count) { /* nothing to unwind by: the call site alone */
        walk->count = 1;
        walk->truncated = false;
        walk->cachable = limit > 1;
        walk->frame[0] = (struct frame){ .address = (uintptr_t)site.return_address };
    }
}

static FV_COLD struct fv_path_entry *miss(struct fv_thread *thread, struct fv_call_place site)
{
    uint64_t begin = fv_ticks();
    int saved = errno; /* what the kernel does not let us read sets it */
    struct fv_paths *paths = thread->paths;
    bool own_stack = (uintptr_t)site.frame >= thread->stack_low && (uintptr_t)site.frame < thread->stack_end;
    const struct fv_python_walk *python = own_python(paths);
    unsigned limit = walk_limit(python), count = 0;

    unwind_own(thread, site, own_stack, limit);
    uint32_t path = intern(&paths->places, &paths->walk, python);
    if (paths->places.in_loop && !python)
        fv_python_missed();
    if (paths->walk.cachable && own_stack && limit > 1)
        count = collect_checks(&paths->walk, site, thread->stack_end, paths->collected);
    struct fv_path_entry *e = count || limit == 1 ? fv_path_insert(thread, site, path, paths->collected, count)
                                                  : fv_path_cache_pass(&paths->cache, path);
    fv_layers_tell(FV_AT_CATCH_UP, thread);
    thread->record->path_misses++;
    thread->record->cold_ticks += fv_ticks() - begin;
    errno = saved;
    return e;
}

static __attribute__((noinline)) struct fv_path_entry *search(struct fv_thread *thread, uint32_t root, uintptr_t slot)
{
    return FV_UNLIKELY(thread->watched) ? fv_path_cache_find(&thread->paths->cache, thread, root, slot, true)
                                        : fv_path_cache_find(&thread->paths->cache, thread, root, slot, false);
}

/* While an instance is measured (--sample). */
static __attribute__((noinline)) bool holds_watched(const struct fv_path_node *node, uintptr_t slot,
                                                    const struct fv_thread *thread)
{
    return fv_path_holds(node, slot, thread, true);
}

/* Most call sites have one path at a depth of the stack: a tree of one node. */
static inline __attribute__((always_inline)) struct fv_path_entry *find(struct fv_thread *thread,
                                                                        struct fv_call_place site, bool python)
{
    struct fv_path_cache *cache = &thread->paths->cache;
    uintptr_t slot = slot_of(site);
    uint32_t root = fv_path_place_of(cache, key_of(site, slot, python));
    struct fv_path_node *node = &cache->node[root];

    if (FV_LIKELY(node->is_path && !node->children && node->is_used && node->slot == slot))
        return FV_UNLIKELY(thread->watched) ? (holds_watched(node, slot, thread) ? &node->entry : NULL)
                                            : (fv_path_holds(node, slot, thread, false) ? &node->entry : NULL);
    return search(thread, root, slot);
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
