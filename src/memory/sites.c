/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread counts by call path. Its records are its own: what it frees of another's stands in its own record of
 * that path, and readers add records of a path up. Of all threads is only the path's live sum, for its own peak. */
#include "memory/memory.h"
#include "rt/path.h"

#include <limits.h>

enum {
    BLOCK = 1024,
    BLOCKS = (1 << 24) / BLOCK,
    SITES = 1 << 22, /* places of a thread's table */
    PATHS = 1 << 22,
    PENDING = 4096,
};

struct site {
    uint64_t key; /* path + 1 */
    struct fv_allocator *allocator;
};
struct path {
    uint64_t key;
    struct fv_memory_path *record;
};

static struct fv_allocator *blocks[BLOCKS];
static uint32_t allocators;
static struct fv_map paths; /* of the process, under: */
static struct fv_lock paths_lock;
static struct fv_tail paths_tail;
static struct fv_budget budget = { .most = &fv_rt.options.profile_max };

/* ---- records ---- */

struct fv_allocator *fv_allocator_at(uint32_t number)
{
    return &__atomic_load_n(&blocks[(number - 1) / BLOCK], __ATOMIC_ACQUIRE)[(number - 1) % BLOCK];
}

/* Under paths_lock. */
static struct fv_allocator *new_allocator(void)
{
    struct fv_allocator **block = &blocks[allocators / BLOCK];

    if (allocators == BLOCK * BLOCKS)
        return NULL;
    if (!*block)
        __atomic_store_n(block, fv_memory_new(BLOCK * sizeof(**block)), __ATOMIC_RELEASE);
    return *block ? &(*block)[allocators % BLOCK] : NULL;
}

/* Under paths_lock. NULL: no room. */
static struct fv_memory_path *shared_path(uint32_t path, bool beyond)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_MEMORY_PATHS, .first_pages = 2, .most_pages = 64, .budget = &budget
    };
    struct path *known = fv_map_add(&paths, sizeof(*known), (uint64_t)path + 1, 2 * PATHS);

    if (!known)
        return NULL;
    if (!known->record &&
        (known->record = fv_tail_next(&paths_tail, &kind, FV_NO_THREAD, sizeof(*known->record), beyond))) {
        known->record->path = path;
        fv_tail_commit(&paths_tail, sizeof(*known->record));
    }
    return known->record;
}

static struct fv_allocator *make(struct fv_memory *m, uint32_t path, bool beyond)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_MEMORY_SITES, .first_pages = 2, .most_pages = 64, .budget = &budget
    };
    struct fv_allocator *a = new_allocator();
    struct fv_memory_path *shared = a ? shared_path(path, beyond) : NULL;
    struct fv_memory_site *record =
        shared ? fv_tail_next(&m->tail, &kind, m->thread->id, sizeof(*record), beyond) : NULL;

    if (!record)
        return NULL;
    record->path = path;
    fv_tail_commit(&m->tail, sizeof(*record));
    *a = (struct fv_allocator){ .record = record, .shared = shared, .of = m, .number = ++allocators };
    return a;
}

/* Locks that a handler's victim may hold are left alone. */
static FV_COLD struct fv_allocator *find_slowly(struct fv_memory *m, uint32_t path)
{
    struct fv_scope scope = fv_scope_enter();
    struct fv_allocator *a = NULL;

    if (fv_lock_is_free(&fv_rt.writer.lock) && fv_lock_is_free(&paths_lock)) {
        fv_lock(&paths_lock);
        struct site *site = fv_map_add(&m->sites, sizeof(*site), (uint64_t)path + 1, 2 * SITES);
        if (site && !site->allocator)
            site->allocator = make(m, path, !path);
        a = site ? site->allocator : NULL;
        if (site && !a) /* another try is another time's */
            fv_map_erase(&m->sites, sizeof(*site), site);
        fv_unlock(&paths_lock);
    }
    fv_scope_leave(&scope);
    return a;
}

struct fv_allocator *fv_allocator_of(struct fv_memory *m, uint32_t path)
{
    const struct site *known = fv_map_find(&m->sites, sizeof(*known), (uint64_t)path + 1);
    struct fv_allocator *a = FV_LIKELY(known != NULL) ? known->allocator : find_slowly(m, path);

    if (FV_UNLIKELY(!a)) {
        __atomic_fetch_add(&fv_memory_process->paths_lost, 1, __ATOMIC_RELAXED);
        a = m->rest ? m->rest : (m->rest = find_slowly(m, 0));
    }
    return a;
}

struct fv_memory *fv_memory_of(struct fv_thread *t)
{
    if (t->memory)
        return t->memory;
    struct fv_memory *m = fv_memory_new(sizeof(*m));
    struct fv_chunk_header *chunk =
        m ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_MEMORY_SUMS, t->id, 0, sizeof(*m->sums)) : NULL;

    if (!chunk) {
        fv_memory_free(m, sizeof(*m));
        return NULL;
    }
    m->sums = fv_chunk_records(chunk);
    fv_memory_sums_init(m->sums);
    fv_chunk_commit(chunk, sizeof(*m->sums));
    m->thread = t;
    m->random = fv_mix2(fv_ticks(), t->id) | 1;
    return t->memory = m;
}

/* ---- call paths ---- */

/* Inside of an MPI call: the path of that, and where the allocator was called, without what is between. */
static FV_COLD uint32_t look_up_inside(uint32_t call, uintptr_t address)
{
    uint64_t removals = fv_module_removals(), offset;

    if (!fv_lock_is_free(&fv_tree_lock))
        return call;
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);
    fv_module_refresh(removals);
    uint32_t module = fv_module_find(address, &offset), path = fv_tree_child(call, module, offset);
    fv_unlock_sigrestore(&fv_tree_lock, signals);
    return path;
}

static uint32_t path_inside(struct fv_memory *m, uintptr_t address)
{
    uint32_t call = m->thread->record->in_call.path;
    struct fv_memory_recent *recent = &m->recent[fv_mix2(address, call) % FV_MEMORY_RECENT];

    if (recent->address != address || recent->call != call)
        *recent = (struct fv_memory_recent){ address, call, look_up_inside(call, address) };
    return recent->path;
}

bool fv_memory_path(struct fv_memory *m, struct fv_call_place site, uint32_t *path)
{
    struct fv_thread *t = m->thread;

    *path = 0;
    if (!fv_current && t->record->in_call.begin)
        fv_call_was_left(); /* then it is outside */
    if (FV_LIKELY(fv_current == t)) {
        t->inside = site;
        fv_current = NULL;
        *path = fv_path_lookup(t, site)->path;
        fv_current = t;
        return true;
    }
    if (!t->record->in_call.begin)
        return false;
    *path = path_inside(m, (uintptr_t)site.return_address);
    return true;
}

/* ---- counting ---- */

static inline bool is_known(uint64_t bytes)
{
    return bytes >= FV_MEMORY_LARGE || fvmpi_memory_v1.is_exact;
}

/* What one that was drawn stands for: 1 / (1 - exp(-bytes / mean)) of its kind, which is, as far as whole numbers go,
 * mean / bytes + 1 / 2. */
static inline void add(struct fv_memory_amount *to, uint64_t bytes, int64_t *moved)
{
    if (FV_LIKELY(is_known(bytes))) {
        to->count++;
        to->bytes += bytes;
        *moved = (int64_t)bytes;
        return;
    }
    to->samples++;
    to->weight += (FV_MEMORY_MEAN << 8) / (bytes ? bytes : 1) + 128;
    to->sample_bytes += FV_MEMORY_MEAN + bytes / 2;
    *moved = (int64_t)(FV_MEMORY_MEAN + bytes / 2);
}

static inline int64_t live_of(const struct fv_memory_site *r)
{
    return (int64_t)(r->allocated.bytes + r->allocated.sample_bytes - r->freed.bytes - r->freed.sample_bytes);
}

static inline void before_change(struct fv_memory_site *r)
{
    uint64_t number = __atomic_load_n(&fv_memory_process->peak_number, __ATOMIC_RELAXED);

    if (r->peak_number == number)
        return;
    r->at_peak = live_of(r);
    r->peak_number = number;
}

static void move(struct fv_allocator *a, int64_t bytes)
{
    struct fv_memory_path *p = a->shared;

    a->pending += bytes;
    if (a->pending > -PENDING && a->pending < PENDING)
        return;
    int64_t live = __atomic_add_fetch(&p->live, a->pending, __ATOMIC_RELAXED),
            peak = __atomic_load_n(&p->peak, __ATOMIC_RELAXED);
    uint64_t now = fv_ticks(), begin = fv_rt.writer.header->begin_ticks;
    unsigned octave = fv_log2_bucket(now > begin ? (now - begin) >> FV_MEMORY_YOUNG : 0);

    a->pending = 0;
    while (live > peak && !__atomic_compare_exchange_n(&p->peak, &peak, live, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    __atomic_store_n(&p->at[octave < FV_MEMORY_OCTAVES ? octave : FV_MEMORY_OCTAVES - 1], live + 1, __ATOMIC_RELAXED);
}

static FV_COLD void add_time(struct fv_memory_times *to, uint64_t bytes, uint64_t spent)
{
    if (!(to->longs | to->timed) || spent < to->least_ticks)
        to->least_ticks = spent;
    if (spent > to->most_ticks)
        to->most_ticks = spent;
    *(bytes >= FV_MEMORY_LONG ? &to->longs : &to->timed) += 1;
    *(bytes >= FV_MEMORY_LONG ? &to->long_ticks : &to->ticks) += spent;
}

void fv_allocator_allocated(struct fv_allocator *a, uint64_t bytes, uint64_t spent)
{
    struct fv_memory_site *r = a->record;
    int64_t moved;

    before_change(r);
    if (is_known(bytes)) {
        if (!r->allocated.count || bytes < r->least)
            r->least = bytes;
        if (bytes > r->most)
            r->most = bytes;
        if (FV_UNLIKELY(spent != FV_FRONT_UNTIMED))
            add_time(&r->times, bytes, spent);
    }
    add(&r->allocated, bytes, &moved);
    move(a, moved);
}

void fv_allocator_freed(struct fv_memory *m, struct fv_allocator *a, uint64_t bytes)
{
    struct fv_allocator *own = a->of == m ? a : fv_allocator_of(m, a->record->path);
    int64_t moved;

    if (!own)
        return;
    before_change(own->record);
    if (own != a)
        add(&own->record->foreign, bytes, &moved);
    add(&own->record->freed, bytes, &moved);
    move(own, -moved);
}
