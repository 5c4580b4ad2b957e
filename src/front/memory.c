/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in front of the C library's allocator, whichever that is: each call is forwarded to the next one's function,
 * and then counted.
 *
 * The usual call costs a compare, the allocator's own size of the object, and three additions. What is large or drawn,
 * and each call where all are to be known, is told to who records (memory.h); so is a free whose address may be that of
 * something known, by a filter.
 *
 * The next one's functions are found by the first call, which comes before threads do (the loader's own, or a
 * constructor's). What dlsym() itself allocates meanwhile gets pieces of a pool, which are never freed. Nothing here
 * takes a lock. Rejected: a header in front of each object, which breaks where it is freed by somebody that allocated
 * elsewhere; __libc_malloc(), which is not the program's allocator where it has another one; operator new, which is
 * there in libraries that come later and cannot be forwarded to from here. */
#include "front/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>

static void *first_malloc(size_t bytes);
static void *first_calloc(size_t count, size_t bytes);
static void *first_realloc(void *object, size_t bytes);
static void *first_memalign(size_t alignment, size_t bytes);
static int first_posix_memalign(void **out, size_t alignment, size_t bytes);
static void *first_valloc(size_t bytes);
static void first_free(void *object);
static size_t first_usable(void *object);
static int first_iterate(int (*call)(struct dl_phdr_info *, size_t, void *), void *data);

static struct next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable)(void *);
    int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
} next = { first_malloc,         first_calloc, first_realloc, first_free,   first_memalign, first_memalign,
           first_posix_memalign, first_valloc, first_valloc,  first_usable, first_iterate };

struct fv_front_memory fvmpi_memory_v1;
static const uint64_t all_told = 0; /* as long as the thread was not here */
static FV_TLS struct fv_front_own own = { .large = &all_told };

/* ---- the next one's functions ---- */

enum { POOL = 16384 };
static struct {
    char bytes[POOL] __attribute__((aligned(16)));
    size_t used;
} pool;

static void *base_of(const char *name)
{
    Dl_info of;
    void *address = dlsym(RTLD_NEXT, name);

    return address && dladdr(address, &of) ? of.dli_fbase : NULL;
}

/* Only of glibc is known what stands before an object; and only its own description is of its memory. */
static void recognise(void)
{
    void *base = base_of("malloc");

    fvmpi_memory_v1.is_glibc = base && base == base_of("gnu_get_libc_version");
    if (!fvmpi_memory_v1.is_glibc)
        return;
    void *describe = dlsym(RTLD_NEXT, "mallinfo2");
    memcpy(&fvmpi_memory_v1.describe, &describe, sizeof(describe));
}

static inline bool is_pooled(const void *object)
{
    return (uintptr_t)object - (uintptr_t)pool.bytes < POOL;
}

static void *take_pooled(size_t alignment, size_t bytes)
{
    size_t begin = __atomic_load_n(&pool.used, __ATOMIC_RELAXED), at;

    alignment = alignment < 16 ? 16 : alignment;
    do {
        at = (begin + alignment - 1) / alignment * alignment;
        if (alignment > POOL || bytes > POOL || at + bytes > POOL)
            return NULL;
    } while (!__atomic_compare_exchange_n(&pool.used, &begin, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return pool.bytes + at;
}

static void *find_next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* False: this is a call from within. */
static bool find_all(void)
{
    static FV_TLS bool is_finding;
    const struct next was = next;
    struct next found = was;

    if (is_finding)
        return false;
    is_finding = true;
    void *const from[] = { find_next("malloc"),         find_next("calloc"),
                           find_next("realloc"),        find_next("free"),
                           find_next("memalign"),       find_next("aligned_alloc"),
                           find_next("posix_memalign"), find_next("valloc"),
                           find_next("pvalloc"),        find_next("malloc_usable_size"),
                           find_next("dl_iterate_phdr") };
    _Static_assert(sizeof(from) == sizeof(found), "in the order of the functions");

    for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++)
        if (from[i])
            memcpy((char *)&found + i * sizeof(void *), &from[i], sizeof(void *));
    fvmpi_memory_v1.usable = found.usable;
    fvmpi_memory_v1.malloc = found.malloc;
    recognise();
    next = found; /* the same in each thread that comes here */
    is_finding = false;
    return next.malloc != was.malloc;
}

static void *first_malloc(size_t bytes)
{
    return find_all() ? next.malloc(bytes) : take_pooled(16, bytes);
}

static void *first_calloc(size_t count, size_t bytes)
{
    size_t all;

    if (find_all())
        return next.calloc(count, bytes);
    return __builtin_mul_overflow(count, bytes, &all) ? NULL : take_pooled(16, all);
}

static void *first_realloc(void *object, size_t bytes)
{
    return find_all() ? next.realloc(object, bytes) : take_pooled(16, bytes);
}

static void *first_memalign(size_t alignment, size_t bytes)
{
    return find_all() ? next.memalign(alignment, bytes) : take_pooled(alignment, bytes);
}

static int first_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    if (find_all())
        return next.posix_memalign(out, alignment, bytes);
    *out = take_pooled(alignment, bytes);
    return *out ? 0 : ENOMEM;
}

static void *first_valloc(size_t bytes)
{
    return find_all() ? next.valloc(bytes) : take_pooled(4096, bytes);
}

static void first_free(void *object)
{
    if (object && find_all())
        next.free(object);
}

static size_t first_usable(void *object)
{
    return object && find_all() ? next.usable(object) : 0;
}

static int first_iterate(int (*call)(struct dl_phdr_info *, size_t, void *), void *data)
{
    find_all();
    return next.iterate == first_iterate ? 0 : next.iterate(call, data);
}

/* Whoever has the name for everybody. */
static __typeof__(malloc) own_malloc __attribute__((alias("malloc"), copy(malloc)));

__attribute__((constructor)) static void find_early(void)
{
    if (next.malloc == first_malloc)
        find_all();
    fvmpi_memory_v1.own_malloc = own_malloc;
}

/* ---- inside of the loader, under its lock ---- */

/* While a callback of dl_iterate_phdr() runs, the thread holds the loader's lock, which who unwinds takes behind a lock
 * of its own. Nobody is told of what is allocated there, or threads could wait for each other. */
struct callback {
    int (*call)(struct dl_phdr_info *, size_t, void *);
    void *data;
};

static int call_back(struct dl_phdr_info *info, size_t bytes, void *callback)
{
    const struct callback *c = callback;
    uintptr_t was = own.in_loader;

    own.in_loader = (uintptr_t)__builtin_frame_address(0);
    int result = c->call(info, bytes, c->data);
    own.in_loader = was;
    return result;
}

FV_PUBLIC int dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *data)
{
    return next.iterate(call_back, &(struct callback){ call, data });
}

/* ---- telling ---- */

static bool is_on_alternate_stack(void)
{
    stack_t stack;

    return sigaltstack(NULL, &stack) || stack.ss_flags & SS_ONSTACK;
}

/* Of what began at that place of the stack, 0: nothing did, and may have been left by longjmp() or an exception. */
static bool is_within(uintptr_t began, uintptr_t at)
{
    return began && (at < began || is_on_alternate_stack());
}

/* Nobody is told of what happens while somebody is: by a signal handler, or by who is told. */
static bool begin_telling(uintptr_t at)
{
    if (is_within(own.in_loader, at) || (own.is_telling && is_within(own.at, at)))
        return false;
    own.at = at;
    own.is_telling = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static void end_telling(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.is_telling = false;
}

static inline void add(uint64_t *to, uint64_t value)
{
    if (FV_UNLIKELY(own.is_shared))
        __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
    else
        *to += value;
}

static inline bool is_held_too_long(const struct fv_memory_sums *sums)
{
    return (uint64_t)(sums->held + FV_FRONT_HELD) > 2 * FV_FRONT_HELD;
}

/* Of threads that share the sums one may miss the other's extreme. */
static inline void widen(struct fv_memory_calls *calls, uint64_t bytes)
{
    if (FV_UNLIKELY(bytes < calls->least))
        calls->least = bytes;
    if (FV_UNLIKELY(bytes > calls->most))
        calls->most = bytes;
}

static inline void count(struct fv_memory_calls *calls, uint64_t bytes)
{
    add(&calls->calls, 1);
    add(&calls->bytes, bytes);
    widen(calls, bytes);
}

/* By the only thread that has them. */
static inline void count_own(struct fv_memory_calls *calls, uint64_t bytes)
{
    calls->calls++;
    calls->bytes += bytes;
    widen(calls, bytes);
}

/* glibc says in the word before an object whether it has a mapping of its own, and how long that is behind what it
 * skipped for alignment, which the word before has. 0: it has none, or that is not known. */
static inline size_t mapped_of(const void *object, size_t usable)
{
    const size_t *head = object;

    return usable >= FV_MEMORY_LONG && fvmpi_memory_v1.is_glibc && head[-1] & 2 ? (head[-1] & ~(size_t)7) + head[-2]
                                                                                : 0;
}

static inline void count_mapped(size_t bytes, int64_t by)
{
    if (!bytes)
        return;
    __atomic_fetch_add(&fvmpi_memory_v1.chunks, by, __ATOMIC_RELAXED);
    __atomic_fetch_add(&fvmpi_memory_v1.mapped, by * (int64_t)bytes, __ATOMIC_RELAXED);
}

/* NULL: nobody records; or this is a child. */
static const struct fv_front_hooks *hooks(void)
{
    const struct fv_front_hooks *h = __atomic_load_n(&fvmpi_memory_v1.hooks, __ATOMIC_ACQUIRE);

    return h && FV_LIKELY(h->begin != NULL) ? h : NULL;
}

/* ---- whose time is taken ---- */

/* Uniform in 1 to twice the mean, so that no pattern of the program's is met in step. */
static void draw_timed(const struct fv_front_hooks *h)
{
    if (h->called) {
        own.until_timed = own.drawn = 1;
        return;
    }
    own.random = own.random ? own.random : (uint32_t)fv_mix((uintptr_t)&own) | 1;
    own.random ^= own.random << 13;
    own.random ^= own.random >> 17;
    own.random ^= own.random << 5;
    own.until_timed = own.drawn = 1 + own.random % (2 * FV_MEMORY_TIMED - 1);
}

/* The thread is here for the first time; its first call, which takes longer than others, is drawn as any other. */
static void begin(const struct fv_front_hooks *h)
{
    h->begin(&own);
    draw_timed(h);
}

/* Nobody records: what is live is known all the same when somebody does. */
static void count_before(int64_t bytes)
{
    __atomic_fetch_add(&fvmpi_memory_v1.before, bytes, __ATOMIC_RELAXED);
}

static FV_COLD void tell_failed(const struct fv_front_hooks *h, enum fv_memory_function function)
{
    if (h && own.sums)
        add(&own.sums->of[function].failed, 1);
}

static FV_COLD void tell_call_now(const struct fv_front_hooks *h, enum fv_memory_function function, size_t bytes,
                                  size_t freed, struct fv_call_place site)
{
    const struct fv_front_call call = { function, own.begin, own.end, bytes, freed, site };

    own.begin = own.end = 0;
    if (!begin_telling((uintptr_t)__builtin_frame_address(0)))
        return;
    h->called(&own, &call);
    end_telling();
}

static inline void tell_call(enum fv_memory_function function, size_t bytes, size_t freed, struct fv_call_place site)
{
    const struct fv_front_hooks *h = hooks();

    if (FV_UNLIKELY(h && h->called))
        tell_call_now(h, function, bytes, freed, site);
}

static __attribute__((noinline)) void tell_allocated(void *object, size_t bytes, enum fv_memory_function function,
                                                     struct fv_call_place site)
{
    size_t freed = function == FV_MEMORY_FN_REALLOC ? own.freed : FV_FRONT_NONE;
    const struct fv_front_hooks *h = hooks();
    size_t usable = object ? next.usable(object) : 0;
    int saved = errno;

    if (FV_UNLIKELY(!object)) {
        tell_failed(h, function);
        tell_call(function, FV_FRONT_NONE, freed, site);
        errno = saved;
    }
    if (FV_UNLIKELY(!object || is_pooled(object)))
        return;
    count_mapped(mapped_of(object, usable), 1);
    if (FV_UNLIKELY(!h)) {
        count_before((int64_t)usable);
        return;
    }
    bool tell = begin_telling((uintptr_t)__builtin_frame_address(0));
    if (bytes < FV_MEMORY_LONG && own.until_timed != own.drawn)
        own.spent = FV_FRONT_UNTIMED;
    if (FV_UNLIKELY(!own.sums) && tell)
        begin(h);
    if (FV_LIKELY(own.sums != NULL)) {
        count(&own.sums->of[function], bytes);
        add((uint64_t *)&own.sums->held, usable);
        if (FV_UNLIKELY(!tell))
            add(&own.sums->unseen, 1);
    } else { /* within its own beginning */
        count_before((int64_t)usable);
    }
    if (tell) {
        h->allocated(&own, object, bytes, site);
        if (own.sums && (bytes >= FV_MEMORY_LARGE || is_held_too_long(own.sums)))
            h->publish(&own);
        end_telling();
        tell_call(function, bytes, freed, site);
    }
    errno = saved;
}

/* The allocator's bytes of it, and those that were asked for. */
static size_t tell_freed(void *object, size_t *asked)
{
    const struct fv_front_hooks *h = hooks();
    int saved = errno;
    size_t usable = next.usable(object);

    if (FV_UNLIKELY(!h)) {
        count_before(-(int64_t)usable);
        return usable;
    }
    bool tell = begin_telling((uintptr_t)__builtin_frame_address(0));
    if (FV_UNLIKELY(!own.sums) && tell)
        begin(h);
    if (FV_LIKELY(own.sums != NULL)) {
        count(&own.sums->of[FV_MEMORY_FN_FREE], usable);
        add((uint64_t *)&own.sums->held, -(uint64_t)usable);
    } else {
        count_before(-(int64_t)usable);
    }
    if (tell) {
        *asked = h->freed(&own, object);
        if (own.sums && (usable >= FV_MEMORY_LARGE || is_held_too_long(own.sums)))
            h->publish(&own);
        end_telling();
    }
    errno = saved;
    return usable;
}

static FV_COLD void tell_held(void)
{
    const struct fv_front_hooks *h = hooks();

    if (h && begin_telling((uintptr_t)__builtin_frame_address(0))) {
        h->publish(&own);
        end_telling();
    }
}

/* ---- its time ---- */

static FV_COLD uint64_t begin_timed(void)
{
    const struct fv_front_hooks *h = hooks();

    return h && own.sums ? h->ticks() : 0;
}

static FV_COLD void end_timed(uint64_t begin, size_t bytes, enum fv_memory_function function)
{
    const struct fv_front_hooks *h = hooks();

    if (!h) /* it has ended meanwhile, by a fork */
        return;
    own.begin = begin;
    own.end = h->ticks();
    uint64_t ticks = own.end - begin;
    ticks = ticks > h->ticks_cost && ticks < UINT64_MAX / 2 ? ticks - h->ticks_cost : 0;
    own.spent = ticks;
    struct fv_memory_calls *calls = &own.sums->of[function];
    if (ticks < calls->least_ticks)
        calls->least_ticks = ticks;
    if (ticks > calls->most_ticks)
        calls->most_ticks = ticks;
    if (bytes >= FV_MEMORY_LONG) {
        add(&calls->longs, 1);
        add(&calls->long_ticks, ticks);
        return;
    }
    add(&calls->timed, 1);
    add(&calls->ticks, ticks);
    uint64_t square = (ticks + 8) >> 4; /* no more than 2^31, of a call that was stopped for minutes */
    square = square < (UINT64_C(1) << 31) ? square : UINT64_C(1) << 31;
    add(&calls->squares, square * square);
    draw_timed(h);
}

/* Before a call; 0: its time is not taken. */
static inline __attribute__((always_inline)) uint64_t timed(size_t bytes)
{
    own.is_inside = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (FV_LIKELY(bytes < FV_MEMORY_LONG && --own.until_timed))
        return 0;
    return begin_timed();
}

/* After it. */
static inline __attribute__((always_inline)) void took(uint64_t begin, size_t bytes, enum fv_memory_function function)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.is_inside = false;
    if (FV_UNLIKELY(begin))
        end_timed(begin, bytes, function);
}

/* In the way of each allocation. `site` is of the interposer. */
static inline __attribute__((always_inline)) void allocated(void *object, size_t bytes,
                                                            enum fv_memory_function function, struct fv_call_place site)
{
    if (FV_LIKELY(bytes < *own.large && (own.left -= (int64_t)bytes) > 0 && object)) {
        struct fv_memory_sums *sums = own.sums;

        count_own(&sums->of[function], bytes);
        sums->held += (int64_t)next.usable(object);
        if (FV_UNLIKELY(is_held_too_long(sums)))
            tell_held();
        return;
    }
    tell_allocated(object, bytes, function, site);
}

/* ---- the interposers ---- */

FV_PUBLIC void *malloc(size_t bytes)
{
    uint64_t begin = timed(bytes);
    void *object = next.malloc(bytes);

    took(begin, bytes, FV_MEMORY_FN_MALLOC);
    allocated(object, bytes, FV_MEMORY_FN_MALLOC, FV_CALL_SITE());
    return object;
}

FV_PUBLIC void *calloc(size_t count_of, size_t bytes)
{
    uint64_t begin = timed(count_of * bytes);
    void *object = next.calloc(count_of, bytes);

    took(begin, count_of * bytes, FV_MEMORY_FN_CALLOC);
    allocated(object, count_of * bytes, FV_MEMORY_FN_CALLOC, FV_CALL_SITE());
    return object;
}

/* Of an object that may be known. */
static __attribute__((noinline)) void free_known(void *object, struct fv_call_place site)
{
    size_t asked = FV_FRONT_NONE, usable = tell_freed(object, &asked);

    count_mapped(mapped_of(object, usable), -1);
    uint64_t begin = timed(usable);

    next.free(object);
    took(begin, usable, FV_MEMORY_FN_FREE);
    int saved = errno;
    tell_call(FV_MEMORY_FN_FREE, FV_FRONT_NONE, asked == FV_FRONT_NONE ? usable : asked, site);
    errno = saved;
}

FV_PUBLIC void free(void *object)
{
    if (FV_UNLIKELY(!object || is_pooled(object)))
        return;
    if (FV_UNLIKELY(!*own.large || fvmpi_memory_v1.filter[fv_front_hash(object)])) {
        free_known(object, FV_CALL_SITE());
        return;
    }
    size_t usable = next.usable(object);
    count_own(&own.sums->of[FV_MEMORY_FN_FREE], usable);
    own.sums->held -= (int64_t)usable;
    if (FV_UNLIKELY(is_held_too_long(own.sums)))
        tell_held();
    count_mapped(mapped_of(object, usable), -1);
    uint64_t begin = timed(usable);
    next.free(object);
    took(begin, usable, FV_MEMORY_FN_FREE);
}

/* What is known of the object, if anything may be: before it can be another thread's. */
static struct fv_front_object take(void *object)
{
    const struct fv_front_hooks *h = hooks();
    struct fv_front_object known = { 0 };
    int saved = errno;

    if (!h || (*own.large && !fvmpi_memory_v1.filter[fv_front_hash(object)]))
        return known;
    if (begin_telling((uintptr_t)__builtin_frame_address(0))) {
        known = h->take(&own, object);
        end_telling();
    }
    errno = saved;
    return known;
}

static void taken(const struct fv_front_object *known, bool freed)
{
    const struct fv_front_hooks *h = hooks();
    int saved = errno;

    if (h && known->address && begin_telling((uintptr_t)__builtin_frame_address(0))) {
        h->taken(&own, known, freed);
        end_telling();
    }
    errno = saved;
}

/* The object of `usable` bytes was freed, by realloc(). */
static void count_freed(size_t usable)
{
    if (!own.sums) {
        count_before(-(int64_t)usable);
        return;
    }
    add(&own.sums->freed, 1);
    add((uint64_t *)&own.sums->held, -(uint64_t)usable);
}

static void *realloc_pooled(const void *object, size_t bytes)
{
    void *copy = next.malloc(bytes);
    size_t room = (size_t)(pool.bytes + POOL - (const char *)object);

    if (copy)
        memcpy(copy, object, bytes < room ? bytes : room);
    return copy;
}

FV_PUBLIC void *realloc(void *object, size_t bytes)
{
    struct fv_front_object known = { 0 };
    bool is_real = object && !is_pooled(object);
    size_t usable = 0, mapped = 0;
    uint64_t begin;
    void *moved;

    if (is_real) {
        usable = next.usable(object);
        mapped = mapped_of(object, usable);
        known = take(object);
    }
    begin = timed(bytes);
    moved = object && !is_real ? realloc_pooled(object, bytes) : next.realloc(object, bytes);
    took(begin, bytes, FV_MEMORY_FN_REALLOC);
    bool freed = is_real && (moved || !bytes); /* of 0 bytes: as free() */
    taken(&known, freed);
    if (freed) {
        count_freed(usable);
        count_mapped(mapped, -1);
    }
    own.freed = !freed ? FV_FRONT_NONE : known.address ? known.bytes : usable;
    if (moved || bytes)
        allocated(moved, bytes, FV_MEMORY_FN_REALLOC, FV_CALL_SITE());
    else if (freed)
        tell_call(FV_MEMORY_FN_REALLOC, FV_FRONT_NONE, own.freed, FV_CALL_SITE());
    return moved;
}

FV_PUBLIC void *memalign(size_t alignment, size_t bytes)
{
    uint64_t begin = timed(bytes);
    void *object = next.memalign(alignment, bytes);

    took(begin, bytes, FV_MEMORY_FN_MEMALIGN);
    allocated(object, bytes, FV_MEMORY_FN_MEMALIGN, FV_CALL_SITE());
    return object;
}

FV_PUBLIC void *aligned_alloc(size_t alignment, size_t bytes)
{
    uint64_t begin = timed(bytes);
    void *object = next.aligned_alloc(alignment, bytes);

    took(begin, bytes, FV_MEMORY_FN_ALIGNED_ALLOC);
    allocated(object, bytes, FV_MEMORY_FN_ALIGNED_ALLOC, FV_CALL_SITE());
    return object;
}

FV_PUBLIC int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    uint64_t begin = timed(bytes);
    int result = next.posix_memalign(out, alignment, bytes);

    took(begin, bytes, FV_MEMORY_FN_POSIX_MEMALIGN);
    allocated(result ? NULL : *out, bytes, FV_MEMORY_FN_POSIX_MEMALIGN, FV_CALL_SITE());
    return result;
}

FV_PUBLIC void *valloc(size_t bytes)
{
    uint64_t begin = timed(bytes);
    void *object = next.valloc(bytes);

    took(begin, bytes, FV_MEMORY_FN_VALLOC);
    allocated(object, bytes, FV_MEMORY_FN_VALLOC, FV_CALL_SITE());
    return object;
}

FV_PUBLIC void *pvalloc(size_t bytes)
{
    uint64_t begin = timed(bytes);
    void *object = next.pvalloc(bytes);

    took(begin, bytes, FV_MEMORY_FN_PVALLOC);
    allocated(object, bytes, FV_MEMORY_FN_PVALLOC, FV_CALL_SITE());
    return object;
}
