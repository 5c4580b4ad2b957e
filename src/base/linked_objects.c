/* SPDX-License-Identifier: BSD-3-Clause */
/* See linked_objects.h. The tables are those of the ELF specification, and GNU's of hashes (DT_GNU_HASH: a filter,
 * which we pass over; buckets, each with the number of its first symbol; chains, whose last hash has bit 0 set). */
#include "base/linked_objects.h"

#include <dlfcn.h>

#ifdef PIC

FV_EARLY uint64_t fv_linked_number(const struct link_map *object, int64_t tag)
{
    for (const ElfW(Dyn) *d = object->l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d->d_un.d_val;
    return 0;
}

/* Some objects (the kernel's) keep offsets in their dynamic section, all others addresses. */
FV_EARLY const void *fv_linked_part(const struct link_map *object, int64_t tag)
{
    uint64_t at = fv_linked_number(object, tag);

    return (const void *)(uintptr_t)(at && at < object->l_addr ? object->l_addr + at : at);
}

FV_EARLY static bool is_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

struct names {
    const struct link_map *object;
    const ElfW(Sym) * symbols;
    const char *strings;
};

FV_EARLY static void *defined(const struct names *n, uint32_t i, const char *name)
{
    const ElfW(Sym) *s = &n->symbols[i];

    if (s->st_shndx == SHN_UNDEF || (s->st_info & 0xf) != STT_FUNC || !is_equal(n->strings + s->st_name, name))
        return NULL;
    return (void *)(n->object->l_addr + s->st_value);
}

FV_EARLY static void *find_gnu(const struct names *n, const uint32_t *table, const char *name)
{
    uint32_t buckets = table[0], first = table[1], filter_words = table[2], hash = 5381;
    const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(table + 4) + filter_words),
                   *chain = bucket + buckets;
    void *found = NULL;

    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    if (i < first || !i)
        return NULL;
    do
        found = (chain[i - first] | 1) == (hash | 1) ? defined(n, i, name) : NULL;
    while (!found && !(chain[i++ - first] & 1));
    return found;
}

FV_EARLY static void *find_sysv(const struct names *n, const uint32_t *table, const char *name)
{
    uint32_t hash = 0;

    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    uint32_t i = table[0] ? table[2 + hash % table[0]] : 0;
    void *found = NULL;
    for (; i && !found; i = table[2 + table[0] + i])
        found = defined(n, i, name);
    return found;
}

FV_EARLY void *fv_linked_function(const struct link_map *object, const char *name)
{
    const struct names n = { object, fv_linked_part(object, DT_SYMTAB), fv_linked_part(object, DT_STRTAB) };
    const uint32_t *gnu = fv_linked_part(object, DT_GNU_HASH), *sysv = gnu ? NULL : fv_linked_part(object, DT_HASH);

    if (!n.symbols || !n.strings)
        return NULL;
    return gnu ? find_gnu(&n, gnu, name) : sysv ? find_sysv(&n, sysv, name) : NULL;
}

static bool is_in(const struct names *n, const char *name, int64_t table, int64_t bytes)
{
    const ElfW(Rela) *r = fv_linked_part(n->object, table);

    for (size_t i = 0; r && i < fv_linked_number(n->object, bytes) / sizeof(*r); i++) {
        const ElfW(Sym) *s = &n->symbols[r[i].r_info >> 32];

        if (s->st_shndx == SHN_UNDEF && is_equal(n->strings + s->st_name, name))
            return true;
    }
    return false;
}

bool fv_linked_needs(const struct link_map *object, const char *name)
{
    if (!object)
        return false;
    const struct names n = { object, fv_linked_part(object, DT_SYMTAB), fv_linked_part(object, DT_STRTAB) };

    return n.symbols && n.strings && (is_in(&n, name, DT_JMPREL, DT_PLTRELSZ) || is_in(&n, name, DT_RELA, DT_RELASZ));
}

FV_EARLY const struct link_map *fv_linked_object(const void *address)
{
    Dl_info info;
    struct link_map *object = NULL;

    return dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
}

FV_EARLY static bool is_c_library(const struct link_map *object)
{
    const char *slash = object->l_name, *name = slash;

    for (; *slash; slash++)
        if (*slash == '/')
            name = slash + 1;
    return is_equal(name, "libc.so.6") || is_equal(name, "libdl.so.2");
}

/* A library that was opened later has nothing of that kind behind it: the C library's is it then. */
FV_EARLY void *fv_linked_next(const char *name)
{
    const struct link_map *own = fv_linked_object((const void *)(uintptr_t)fv_linked_next), *o;
    void *found = NULL;

    for (o = own ? own->l_next : NULL; o && !found; o = o->l_next)
        found = fv_linked_function(o, name);
    for (o = own; o && !found; o = o->l_prev)
        found = is_c_library(o) ? fv_linked_function(o, name) : NULL;
    return found;
}

/* Constructors ask first, while we are being opened. */
FV_NO_TSAN static fv_linked_ask *ask_front(void)
{
    static fv_linked_ask *ask;
    static bool known;

    if (!known) {
        const struct link_map *o = fv_linked_object((const void *)(uintptr_t)fv_linked_next);
        void *front = NULL;

        for (; o && !front; o = o->l_prev)
            front = fv_linked_function(o, FV_LINKED_FRONT);
        ask = front ? ((fv_linked_front *)(uintptr_t)front)() : NULL;
        known = true;
    }
    return ask;
}

FV_NO_TSAN void *fv_linked_behind(const char *name)
{
    fv_linked_ask *ask = ask_front();

    return ask ? ask(name) : dlsym(RTLD_NEXT, name);
}
#else
void *fv_linked_behind(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}
#endif
