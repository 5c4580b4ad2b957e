/* The objects of the process, and where they are used: see sync.h. */
#include "threads/sync.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#define OBJECTS_MOST 65536
#define BUCKETS      16384

static struct fv_lock things_lock;
static struct fv_sync_thing *things[BUCKETS];
static uint32_t thing_count;
static struct fv_chunk_header *thing_chunk;

/* ---- objects whose use is not the application's ---- */

static struct range {
    uintptr_t begin, end;
} ignored[4];
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

bool fv_sync_is_ignored(uintptr_t address)
{
    for (unsigned i = 0; i < ignored_count; i++)
        if (address >= ignored[i].begin && address < ignored[i].end)
            return true;
    return false;
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

uint32_t fv_sync_whole_path(struct fv_thread *outside, struct fv_site site)
{
    if (outside)
        return fv_path_lookup(outside, site)->path;
    return fv_sync_site_path((uintptr_t)site.return_address);
}

static struct fv_sync_thing **bucket_of(uintptr_t address)
{
    return &things[fv_mix(address) % BUCKETS];
}

/* Under things_lock. */
static struct fv_sync_thing *find_thing(uintptr_t address, unsigned kind)
{
    struct fv_sync_thing *thing = *bucket_of(address);

    while (thing && (thing->address != address || thing->kind != kind))
        thing = thing->next;
    return thing;
}

/* Under things_lock. */
static struct fv_sync_thing *new_thing(void)
{
    static struct fv_sync_thing *slab;
    static unsigned left;

    if (!left) {
        slab = fv_memory_new(16 * FV_PAGE);
        left = slab ? 16 * FV_PAGE / sizeof(*slab) : 0;
    }
    return left ? &slab[--left] : NULL;
}

/* Under things_lock. */
static struct fv_sync_object *new_object(void)
{
    if (thing_count >= OBJECTS_MOST)
        return NULL;
    if (!thing_chunk || fv_chunk_room(thing_chunk) < sizeof(struct fv_sync_object))
        thing_chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SYNC_OBJECTS, FV_NO_THREAD, thing_count,
                                      8 * FV_PAGE - 64);
    return thing_chunk ? fv_chunk_next(thing_chunk) : NULL;
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

/* Under things_lock. From now on its address is another's. */
static void retire(struct fv_sync_thing *thing)
{
    struct fv_sync_thing **link = bucket_of(thing->address);

    while (*link != thing)
        link = &(*link)->next;
    *link = thing->next;
    thing->record->retired = fv_ticks();
    __atomic_fetch_add(fv_sync_generation(thing->address), 1, __ATOMIC_RELEASE);
}

/* Under things_lock. What is known of a first use's address, unless its module was unloaded since. */
static struct fv_sync_thing *find_same(const struct first_use *use)
{
    struct fv_sync_thing *thing = find_thing(use->address, use->kind);

    if (!thing || (thing->record->module == use->module && thing->record->offset == use->offset))
        return thing;
    retire(thing);
    return NULL;
}

/* Under things_lock. NULL: no room. */
static struct fv_sync_thing *make_thing(const struct first_use *first)
{
    struct fv_sync_object *object = new_object();
    struct fv_sync_thing *thing = object ? new_thing() : NULL;
    struct fv_sync_thing **bucket = bucket_of(first->address);
    uint8_t flags = first->module != FV_MODULE_UNKNOWN ? FV_SYNC_STATIC : 0;

    if (!thing)
        return NULL;
    uint32_t parties = parties_of(first->address, first->kind, &flags);
    *object = (struct fv_sync_object){
        .id = ++thing_count,
        .kind = (uint8_t)first->kind,
        .flags = flags,
        .address = first->address == FV_SYNC_NOBODY ? 0 : first->address,
        .offset = first->offset,
        .module = first->module,
        .path = first->path,
        .first = first->ticks,
        .parties = parties,
        .thread = first->thread,
    };
    fv_chunk_commit(thing_chunk, sizeof(*object));
    *thing = (struct fv_sync_thing){ .next = *bucket,
                                     .address = first->address,
                                     .record = object,
                                     .parties = parties,
                                     .id = object->id,
                                     .kind = first->kind };
    *bucket = thing;
    return thing;
}

struct fv_sync_thing *fv_sync_thing_at(struct fv_sync *s, struct fv_thread *outside, uintptr_t address,
                                       unsigned kind, struct fv_site site)
{
    struct first_use use = { .address = address, .kind = kind, .ticks = fv_ticks(), .thread = s->thread->id };

    use.module = fv_module_of(address, &use.offset);
    fv_lock(&things_lock);
    struct fv_sync_thing *thing = find_same(&use);
    bool full = thing_count >= OBJECTS_MOST;
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

bool fv_sync_thing_is_at(const struct fv_sync_thing *thing, uintptr_t address, unsigned kind)
{
    uint64_t signals = fv_lock_sigsave(&things_lock);
    bool same = find_thing(address, kind) == thing;

    fv_unlock_sigrestore(&things_lock, signals);
    return same;
}

void fv_sync_retire(const volatile void *object, unsigned kind)
{
    int saved = errno;

    if (!fv_sync_wants(~0u) || !fv_rt_on())
        return;
    uint64_t signals = fv_lock_sigsave(&things_lock);
    struct fv_sync_thing *thing = find_thing((uintptr_t)object, kind);

    if (thing)
        retire(thing);
    fv_unlock_sigrestore(&things_lock, signals);
    errno = saved;
}
