/* SPDX-License-Identifier: BSD-3-Clause */
/* See loaded_objects.h. The table is two: a reader uses the one that was finished last, while the other is written.
 * What a reader took holds unless two writings have begun since, one of them of what it was reading: then it looks
 * again. So nobody waits, and nothing has to be kept for readers and freed later. */
#include "rt/loaded_objects.h"
#include "base/lock.h"
#include "base/without.h"
#include "rt/process.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* Of the C library's headers from 2.35 on; its binary interface. */
struct found {
    unsigned long long flags;
    void *map_start, *map_end;
    struct link_map *loader;
    void *unwind;
    unsigned long long reserved[8];
};
static int (*find_object)(void *, struct found *);

#define OBJECTS 1024 /* more are not known */
#define HEAD    12   /* bytes of .eh_frame_hdr before its table: encodings, where .eh_frame is, how many entries */

struct object {
    uintptr_t begin, end;
    const uint8_t *unwind;
    uint8_t head[HEAD];
};
struct table {
    struct object object[OBJECTS]; /* by address */
    unsigned count;
    unsigned long long came, went; /* so many objects, when it was read */
};
static struct table *table[2];
static uint32_t begun, done; /* writings; table[done & 1] is the one to read */
static struct fv_lock writing;

/* ---- writing ---- */

static void add(struct table *t, const struct object *o)
{
    unsigned at = t->count;

    if (t->count == OBJECTS)
        return;
    for (t->count++; at > 0 && t->object[at - 1].begin > o->begin; at--)
        t->object[at] = t->object[at - 1];
    t->object[at] = *o;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct table *t = arg;
    struct object o = { .begin = UINTPTR_MAX };
    (void)size;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD) {
            o.begin = at < o.begin ? at : o.begin;
            o.end = at + p->p_memsz > o.end ? at + p->p_memsz : o.end;
        } else if (p->p_type == PT_GNU_EH_FRAME && p->p_memsz >= HEAD) {
            o.unwind = (const uint8_t *)at;
        }
    }
    if (o.unwind)
        memcpy(o.head, o.unwind, HEAD);
    if (o.begin < o.end)
        add(t, &o);
    t->came = info->dlpi_adds;
    t->went = info->dlpi_subs;
    return 0;
}

static int is_as_read(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct table *t = arg;
    (void)size;

    return info->dlpi_adds == t->came && info->dlpi_subs == t->went ? 2 : 1;
}

/* The loader may let us wait for a thread that waits for nothing of ours: whoever comes meanwhile goes on with what is
 * known. */
static void write_next(void)
{
    uint32_t next = done + 1;
    struct table *t = table[next & 1];

    __atomic_store_n(&begun, next, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* before the first of its objects changes */
    t->count = 0;
    dl_iterate_phdr(visit, t);
    __atomic_store_n(&done, next, __ATOMIC_RELEASE);
}

void fv_loaded_refresh(void)
{
    if (!table[0] || !table[1])
        return;
    uint64_t signals = fv_signals_hold();
    if (fv_try_lock(&writing)) {
        if (!done || dl_iterate_phdr(is_as_read, table[done & 1]) != 2)
            write_next();
        fv_unlock(&writing);
    }
    fv_signals_go_on(signals);
}

void fv_loaded_start(void)
{
    for (unsigned i = 0; !find_object && i < 2; i++)
        if (!table[i])
            table[i] = fv_memory_new(sizeof(*table[i]));
    fv_loaded_refresh();
}

/* A name that is not there would make dlsym() keep an error message, by malloc(), which others may have interposed and
 * which may not be ready yet: so an older C library is not asked. */
__attribute__((constructor)) static void find_early(void)
{
    unsigned major = 0, minor = 0;
    void *function = NULL;

    if (sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor) == 2 && (major > 2 || minor >= 35) &&
        !fv_without("find_object"))
        function = dlsym(RTLD_DEFAULT, "_dl_find_object");
    memcpy(&find_object, &function, sizeof(function));
}

/* ---- reading ---- */

/* What was unloaded may have another object, or none, in its place. */
static bool is_there(const struct object *o)
{
    uintptr_t at = (uintptr_t)o->unwind;

    return !at ||
           (fv_memory_is_readable(at) && fv_memory_is_readable(at + HEAD - 1) && !memcmp(o->unwind, o->head, HEAD));
}

static bool search(const struct table *t, uintptr_t address, struct object *out)
{
    unsigned low = 0, high = t->count < OBJECTS ? t->count : OBJECTS; /* somebody may be writing */

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (t->object[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    *out = t->object[low - 1];
    return address >= out->begin && address < out->end;
}

static bool find_own(uintptr_t address, struct fv_loaded_object *out)
{
    struct object o;

    for (unsigned tries = 0; tries < 3; tries++) {
        uint32_t now = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
        bool found = now && search(table[now & 1], address, &o);

        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&begun, __ATOMIC_RELAXED) - now > 1)
            continue;
        if (!found || !is_there(&o))
            return false;
        *out = (struct fv_loaded_object){ .object = (const void *)o.begin, .unwind = o.unwind };
        return true;
    }
    return false;
}

bool fv_loaded_ask(uintptr_t address, struct fv_loaded_object *out)
{
    struct found found;

    if (!find_object)
        return false;
    *out = (struct fv_loaded_object){ 0 };
    if (!find_object((void *)address, &found))
        *out = (struct fv_loaded_object){ .object = found.map_start, .unwind = found.unwind, .loader = found.loader };
    return true;
}

bool fv_loaded_find(uintptr_t address, struct fv_loaded_object *out)
{
    if (fv_loaded_ask(address, out))
        return out->object != NULL;
    return find_own(address, out);
}

uint32_t fv_loaded_generation(void)
{
    return find_object ? 0 : __atomic_load_n(&done, __ATOMIC_ACQUIRE);
}
