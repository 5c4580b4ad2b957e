/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of the process, and where they are used: see objects.h.
 *
 * Objects of a *series* are alike: of one kind, and with one first use (a call path; of what lies in a
 * module, the place there). Reports show them as one lock. So when several of them have ended, the next takes
 * over the number of the last, and with it the records of all threads: a million locks that live one after
 * the other take the room of a few. Reports say how many they were. Objects that exist together have
 * different numbers. */
#include "threads/objects.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#define OBJECTS_MOST 65536 /* that have a number: exist together, or have ended and nobody followed them */
#define BUCKETS      16384
#define APART        16 /* objects of a series that have ended and keep their number */

struct fv_sync_series {
    struct fv_sync_series *next;    /* of the same bucket */
    struct fv_sync_thing *ended;    /* whose number is free */
    uint64_t offset;                /* in its module; on the heap or a stack 0 */
    uint32_t module, path, parties; /* path 0: it is in a module */
    uint32_t ended_count;
    uint8_t kind, flags;
};

static struct bucket {
    struct fv_sync_thing *first;
    uint32_t removals; /* see look() */
} things[BUCKETS];

static struct fv_lock things_lock;
static struct fv_sync_series *series[BUCKETS];
static struct fv_tail objects; /* their records */
static uint32_t free_count;    /* numbers that a next one may take over */
uint64_t fv_sync_retirements;

/* ---- objects whose use is not the application's ---- */

static struct range {
    uintptr_t begin, end;
} ignored[4], runtime;
static unsigned ignored_count;

static int note_range(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t own = (uintptr_t)&fv_sync_mode;
    struct range r = { UINTPTR_MAX, 0 };

    (void)size, (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + ph->p_vaddr, end = begin + ph->p_memsz;

        if (ph->p_type != PT_LOAD)
            continue;
        r.begin = begin < r.begin ? begin : r.begin;
        r.end = end > r.end ? end : r.end;
    }
    bool is_ours = own >= r.begin && own < r.end;
    if ((is_ours || strstr(info->dlpi_name, "/libunwind")) && ignored_count < 4)
        ignored[ignored_count++] = r;
    return 0;
}

static bool is_in(const struct range *r, uintptr_t address)
{
    return address >= __atomic_load_n(&r->begin, __ATOMIC_RELAXED) &&
           address < __atomic_load_n(&r->end, __ATOMIC_RELAXED);
}

bool fv_sync_is_tools(uintptr_t address)
{
    for (unsigned i = 0; i < ignored_count; i++)
        if (is_in(&ignored[i], address))
            return true;
    return false;
}

bool fv_sync_is_runtimes(uintptr_t address)
{
    return is_in(&runtime, address);
}

bool fv_sync_is_ignored(uintptr_t address)
{
    return fv_sync_is_tools(address) || fv_sync_is_runtimes(address);
}

static int note_runtime(struct dl_phdr_info *info, size_t size, void *address)
{
    const uintptr_t at = (uintptr_t)address;
    bool is_found = false;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum && !is_found; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        struct range r = { info->dlpi_addr + ph->p_vaddr, info->dlpi_addr + ph->p_vaddr + ph->p_memsz };

        is_found = ph->p_type == PT_LOAD && is_in(&r, at);
        if (is_found && *info->dlpi_name) { /* the program's own, where that has it, has its other calls, too */
            __atomic_store_n(&runtime.begin, r.begin, __ATOMIC_RELAXED);
            __atomic_store_n(&runtime.end, r.end, __ATOMIC_RELAXED);
        }
    }
    return is_found;
}

void fv_sync_ignore_runtime(uintptr_t code)
{
    dl_iterate_phdr(note_runtime, (void *)code);
}

void fv_sync_ignore_tools(void)
{
    dl_iterate_phdr(note_range, NULL);
}

/* ---- objects ---- */

uint32_t fv_sync_site_path(uintptr_t return_address)
{
    uint64_t offset, removals = fv_module_removals();

    fv_lock(&fv_tree_lock);
    fv_module_refresh(removals);
    uint32_t module = fv_module_find(return_address, &offset);
    uint32_t id = fv_tree_child(0, module, offset);
    fv_unlock(&fv_tree_lock);
    if (!id)
        fv_dropped(FV_DROP_PATHS);
    return id;
}

uint32_t fv_sync_whole_path(struct fv_thread *outside, struct fv_call_place site)
{
    if (outside)
        return fv_path_lookup(outside, site)->path;
    return fv_sync_site_path((uintptr_t)site.return_address);
}

static struct bucket *bucket_of(uintptr_t address)
{
    return &things[fv_mix(address) % BUCKETS];
}

/* What is at an address; exact under things_lock. */
static struct fv_sync_thing *find_thing(uintptr_t address, unsigned kind)
{
    struct fv_sync_thing *thing = __atomic_load_n(&bucket_of(address)->first, __ATOMIC_ACQUIRE);

    while (thing && (__atomic_load_n(&thing->address, __ATOMIC_RELAXED) != address || thing->kind != kind))
        thing = __atomic_load_n(&thing->next, __ATOMIC_ACQUIRE);
    return thing;
}

/* The same without the lock. Who was removed meanwhile may be in another bucket by now, and lead there.
 * False: so ask again under the lock. */
static bool look(uintptr_t address, unsigned kind, struct fv_sync_thing **out)
{
    const uint32_t *removals = &bucket_of(address)->removals;
    uint32_t before = __atomic_load_n(removals, __ATOMIC_ACQUIRE);

    *out = find_thing(address, kind);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(removals, __ATOMIC_RELAXED) == before;
}

/* Memory that stays until the process ends, from `slab`. Under things_lock. */
struct slab {
    char *next;
    size_t left;
};
static void *take(struct slab *slab, size_t bytes)
{
    if (slab->left < bytes) {
        slab->next = fv_memory_new(16 * FV_PAGE);
        slab->left = slab->next ? 16 * FV_PAGE : 0;
        if (!slab->next)
            return NULL;
    }
    slab->next += bytes;
    slab->left -= bytes;
    return slab->next - bytes;
}

/* Under things_lock. */
static struct fv_sync_object *new_object(void)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_SYNC_OBJECTS, .first_pages = 8, .most_pages = 8 };

    return objects.count < OBJECTS_MOST
               ? fv_tail_next(&objects, &kind, FV_NO_THREAD, sizeof(struct fv_sync_object), false)
               : NULL;
}

/* glibc's barrier holds how many it waits for, and whether they are of several processes. */
static uint32_t parties_of(uintptr_t address, unsigned kind, uint8_t *flags)
{
#if defined(__GLIBC__)
    const volatile unsigned *words = (const volatile unsigned *)address;

    if (kind == FV_SYNC_BARRIER && words[3])
        *flags |= FV_SYNC_SHARED;
    else if (kind == FV_SYNC_BARRIER)
        return words[2];
#endif
    return 0;
}

struct first_use {
    uintptr_t address;
    uint64_t offset, ticks;
    uint32_t module, path, thread;
    unsigned kind;
};

/* ---- one that ends, and the next of its series; all under things_lock ---- */

/* From now on its address is another's, and its number its series'. */
static void retire(struct fv_sync_thing *thing)
{
    struct bucket *bucket = bucket_of(thing->address);
    struct fv_sync_thing **link = &bucket->first;

    while (*link != thing)
        link = &(*link)->next;
    __atomic_store_n(link, thing->next, __ATOMIC_RELEASE);
    __atomic_fetch_add(&bucket->removals, 1, __ATOMIC_RELEASE);
    thing->record->retired = fv_ticks();
    thing->before = thing->series->ended;
    thing->series->ended = thing;
    free_count += ++thing->series->ended_count > APART;
    __atomic_fetch_add(fv_sync_generation(thing->address), 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&fv_sync_retirements, 1, __ATOMIC_RELAXED);
}

/* What is known of a first use's address, unless its module was unloaded since. */
static struct fv_sync_thing *find_same(const struct first_use *use)
{
    struct fv_sync_thing *thing = find_thing(use->address, use->kind);

    if (!thing || (thing->record->module == use->module && thing->record->offset == use->offset))
        return thing;
    retire(thing);
    return NULL;
}

static struct fv_sync_series *series_of(const struct fv_sync_series *like)
{
    static struct slab slab;
    uint64_t hash = like->offset ^ (uint64_t)like->module << 32 ^ (uint64_t)like->path << 8 ^ like->kind;
    struct fv_sync_series **bucket = &series[fv_mix(hash) % BUCKETS], *s = *bucket;

    while (s && (s->offset != like->offset || s->module != like->module || s->path != like->path ||
                 s->parties != like->parties || s->kind != like->kind || s->flags != like->flags))
        s = s->next;
    if (s)
        return s;
    s = take(&slab, sizeof(*s));
    if (!s)
        return NULL;
    *s = *like;
    s->next = *bucket;
    *bucket = s;
    return s;
}

/* A thing with a number of its own. */
static struct fv_sync_thing *new_thing(struct fv_sync_series *of, const struct first_use *first)
{
    static struct slab slab;
    struct fv_sync_object *object = new_object();
    struct fv_sync_thing *thing = object ? take(&slab, sizeof(*thing)) : NULL;

    if (!thing)
        return NULL;
    *object = (struct fv_sync_object){
        .id = (uint32_t)objects.count + 1,
        .kind = of->kind,
        .flags = of->flags,
        .module = of->module,
        .path = first->path,
        .first = first->ticks,
        .parties = of->parties,
        .thread = first->thread,
    };
    fv_tail_commit(&objects, sizeof(*object));
    *thing = (struct fv_sync_thing){
        .record = object, .series = of, .parties = of->parties, .id = object->id, .kind = of->kind
    };
    return thing;
}

/* The one that ended last, for the next. */
static struct fv_sync_thing *thing_again(struct fv_sync_series *of)
{
    struct fv_sync_thing *thing = of->ended;

    of->ended = thing->before;
    of->ended_count--;
    free_count--;
    thing->is_series = true;
    thing->record->more++;
    thing->record->retired = 0;
    __atomic_store_n(&thing->holder, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&thing->owner, 0, __ATOMIC_RELAXED);
    return thing;
}

/* NULL: no room. */
static struct fv_sync_thing *make_thing(const struct first_use *first)
{
    bool in_module = first->module != FV_MODULE_UNKNOWN;
    struct fv_sync_series like = { .offset = in_module ? first->offset : 0,
                                   .path = in_module ? 0 : first->path,
                                   .module = first->module,
                                   .kind = (uint8_t)first->kind,
                                   .flags = in_module ? FV_SYNC_STATIC : 0 };
    struct bucket *bucket = bucket_of(first->address);

    like.parties = parties_of(first->address, first->kind, &like.flags);
    struct fv_sync_series *of = series_of(&like);
    struct fv_sync_thing *thing = !of ? NULL : of->ended_count > APART ? thing_again(of) : new_thing(of, first);
    if (!thing)
        return NULL;
    thing->record->address = first->address == FV_SYNC_NOBODY ? 0 : first->address;
    thing->record->offset = first->offset;
    __atomic_store_n(&thing->address, first->address, __ATOMIC_RELAXED);
    __atomic_store_n(&thing->next, bucket->first, __ATOMIC_RELEASE);
    __atomic_store_n(&bucket->first, thing, __ATOMIC_RELEASE);
    return thing;
}

struct fv_sync_thing *fv_sync_thing_at(struct fv_sync *s, struct fv_thread *outside, uintptr_t address, unsigned kind,
                                       struct fv_call_place site)
{
    struct first_use use = { .address = address, .kind = kind, .ticks = fv_ticks(), .thread = s->thread->id };

    use.module = fv_module_of(address, &use.offset);
    fv_lock(&things_lock);
    struct fv_sync_thing *thing = find_same(&use);
    bool full = objects.count >= OBJECTS_MOST && !free_count;
    fv_unlock(&things_lock);
    if (thing || full)
        return thing;
    use.path = use.module == FV_MODULE_UNKNOWN ? fv_sync_whole_path(outside, site)
                                               : fv_sync_site_path((uintptr_t)site.return_address);
    fv_lock(&things_lock);
    thing = find_same(&use);
    if (!thing)
        thing = make_thing(&use);
    fv_unlock(&things_lock);
    return thing;
}

bool fv_sync_thing_is_at(const struct fv_sync_thing *thing, uintptr_t address)
{
    struct fv_sync_thing *found;

    if (look(address, thing->kind, &found))
        return found == thing;
    uint64_t signals = fv_lock_sigsave(&things_lock);
    bool same = find_thing(address, thing->kind) == thing;
    fv_unlock_sigrestore(&things_lock, signals);
    return same;
}

void fv_sync_retire(const volatile void *object, unsigned kind)
{
    struct fv_sync_thing *thing;
    int saved = errno;

    if (!fv_sync_wants(~0u) || !fv_rt_on())
        return;
    if (look((uintptr_t)object, kind, &thing) && !thing)
        return;
    uint64_t signals = fv_lock_sigsave(&things_lock);
    thing = find_thing((uintptr_t)object, kind);
    if (thing)
        retire(thing);
    fv_unlock_sigrestore(&things_lock, signals);
    errno = saved;
}

bool fv_sync_is_again(const struct fv_sync_thing *held, const struct fv_sync_record *record,
                      const struct fv_sync_thing *thing)
{
    if (held != thing)
        return false; /* another object at its address */
    switch (thing ? thing->kind : FV_SYNC_KINDS) {
    case FV_SYNC_SPIN: return false;
    case FV_SYNC_RWLOCK:
        return record->operation != FV_SYNC_LOCK && record->operation != FV_SYNC_TRY &&
               record->operation != FV_SYNC_TIMED;
#if defined(__GLIBC__)
    case FV_SYNC_MUTEX:
        return (((const pthread_mutex_t *)thing->address)->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP;
#endif
    }
    return true;
}
