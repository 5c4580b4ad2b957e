/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows and files by their handles. Lookup takes no lock: it reads again if somebody wrote meanwhile.
 * Writers hold a lock, and signals. */
#include "rt/thread.h"

/* handle 0: empty */
struct table {
    uint32_t mask;
    struct fv_owner entry[];
};
static struct owners {
    struct fv_lock lock;
    uint32_t used;
    uint64_t serial;     /* the last one's */
    uint64_t writes;     /* odd: somebody writes */
    struct table *table; /* one that was outgrown is kept, for readers inside it */
} all[FV_OWNED_KINDS];

static uint32_t home(const struct table *t, uint64_t handle)
{
    return (uint32_t)fv_mix(handle) & t->mask;
}

/* The handle's place, or the empty one where it would be. Empty ones are never few, but a reader may see many
 * writes at once. */
static struct fv_owner *search(struct table *t, uint64_t handle)
{
    uint32_t at = home(t, handle);
    uint64_t found;

    for (uint32_t n = 0; n <= t->mask; n++, at = (at + 1) & t->mask)
        if (!(found = __atomic_load_n(&t->entry[at].handle, __ATOMIC_RELAXED)) || found == handle)
            break;
    return &t->entry[at];
}

static void put(struct fv_owner *to, struct fv_owner from)
{
    __atomic_store_n(&to->handle, from.handle, __ATOMIC_RELAXED);
    __atomic_store_n(&to->comm, from.comm, __ATOMIC_RELAXED);
    __atomic_store_n(&to->number, from.number, __ATOMIC_RELAXED);
    __atomic_store_n(&to->serial, from.serial, __ATOMIC_RELAXED);
}

static struct fv_owner get(const struct fv_owner *from)
{
    return (struct fv_owner){ .handle = __atomic_load_n(&from->handle, __ATOMIC_RELAXED),
                              .comm = __atomic_load_n(&from->comm, __ATOMIC_RELAXED),
                              .number = __atomic_load_n(&from->number, __ATOMIC_RELAXED),
                              .serial = __atomic_load_n(&from->serial, __ATOMIC_RELAXED) };
}

static void begin_write(struct owners *o)
{
    __atomic_store_n(&o->writes, o->writes + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_write(struct owners *o)
{
    __atomic_store_n(&o->writes, o->writes + 1, __ATOMIC_RELEASE);
}

static bool grow(struct owners *o)
{
    uint32_t size = o->table ? 2 * (o->table->mask + 1) : 64;
    struct table *bigger = fv_memory_new(sizeof(*bigger) + size * sizeof(bigger->entry[0]));

    if (!bigger)
        return false;
    bigger->mask = size - 1;
    for (uint32_t i = 0; o->table && i <= o->table->mask; i++)
        if (o->table->entry[i].handle)
            *search(bigger, o->table->entry[i].handle) = o->table->entry[i];
    __atomic_store_n(&o->table, bigger, __ATOMIC_RELEASE);
    return true;
}

void fv_owner_add(enum fv_owner_kind kind, uint64_t handle, struct fv_owner owner)
{
    struct owners *o = &all[kind];
    uint64_t signals = fv_lock_sigsave(&o->lock);

    if (!owner.comm || ((!o->table || o->used * 2 > o->table->mask) && !grow(o))) {
        fv_unlock_sigrestore(&o->lock, signals);
        fv_dropped(FV_DROP_COMMS);
        return;
    }
    struct fv_owner *e = search(o->table, handle);
    o->used += !e->handle;
    owner.handle = handle;
    owner.serial = ++o->serial;
    begin_write(o);
    put(e, owner);
    end_write(o);
    fv_unlock_sigrestore(&o->lock, signals);
}

struct fv_owner fv_owner_of(enum fv_owner_kind kind, uint64_t handle)
{
    struct owners *o = &all[kind];

    for (;;) {
        uint64_t before = __atomic_load_n(&o->writes, __ATOMIC_ACQUIRE);
        struct table *t = __atomic_load_n(&o->table, __ATOMIC_ACQUIRE);
        struct fv_owner owner = { 0 };

        if (t)
            owner = get(search(t, handle));
        if (owner.handle != handle)
            owner = (struct fv_owner){ 0 };
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (FV_LIKELY(!(before & 1) && __atomic_load_n(&o->writes, __ATOMIC_RELAXED) == before))
            return owner;
    }
}

/* Closes the gap, so that probing needs no tombstones. */
static void erase(struct table *t, struct fv_owner *e)
{
    uint32_t hole = (uint32_t)(e - t->entry);

    for (uint32_t at = (hole + 1) & t->mask; t->entry[at].handle; at = (at + 1) & t->mask)
        if (((at - home(t, t->entry[at].handle)) & t->mask) >= ((at - hole) & t->mask)) {
            put(&t->entry[hole], t->entry[at]);
            hole = at;
        }
    put(&t->entry[hole], (struct fv_owner){ 0 });
}

bool fv_owner_remove(enum fv_owner_kind kind, const struct fv_owner *known)
{
    struct owners *o = &all[kind];

    if (!known->handle)
        return false;
    uint64_t signals = fv_lock_sigsave(&o->lock);
    struct fv_owner *e = search(o->table, known->handle);
    bool is_same = e->handle && e->serial == known->serial;
    if (is_same) {
        o->used--;
        begin_write(o);
        erase(o->table, e);
        end_write(o);
    }
    fv_unlock_sigrestore(&o->lock, signals);
    return is_same;
}
