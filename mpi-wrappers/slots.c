/* SPDX-License-Identifier: BSD-3-Clause */
/* See lookup.h. Slots are the words of an object's memory that the dynamic linker fills with addresses: of functions
 * that are called (by a global offset table), or pointed to. One that holds the function that our wrapper calls gets
 * the wrapper. A call that is bound when it is first made (a slot that leads back into its own object) is bound now, if
 * it would be bound to that function or to the wrapper: a name that somebody else has in front stays theirs. Slots of
 * the MPI library itself stay, too. */
#include "lookup.h"
#include "next.h"

#include "base/linked_objects.h"
#include "base/lock.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#ifdef PIC

uint32_t fv_slots_late;

#if defined(__x86_64__)
enum { CALLED = R_X86_64_JUMP_SLOT, FROM_TABLE = R_X86_64_GLOB_DAT, POINTED_TO = R_X86_64_64 };
#elif defined(__aarch64__)
enum { CALLED = R_AARCH64_JUMP_SLOT, FROM_TABLE = R_AARCH64_GLOB_DAT, POINTED_TO = R_AARCH64_ABS64 };
#endif

struct object {
    void *handle;
    const struct link_map *map;
    const ElfW(Sym) * symbols;
    const char *strings;
};

enum access { NEVER, WRITABLE, PROTECTED };

/* PROTECTED: made read-only when it was filled (PT_GNU_RELRO), in whole pages as the dynamic linker does it: what is
 * before the first of them is, too, what is behind the last is not. NEVER: in code or constants (DT_TEXTREL), or across
 * words. The headers are the object's first bytes. */
static enum access access_of(const void *slot, uintptr_t page)
{
    Dl_info info;
    struct link_map *map = NULL;
    const ElfW(Ehdr) *header = dladdr1(slot, &info, (void **)&map, RTLD_DL_LINKMAP) ? info.dli_fbase : NULL;
    enum access access = NEVER;

    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) || (uintptr_t)slot % sizeof(slot))
        return NEVER;
    const ElfW(Phdr) *part = (const ElfW(Phdr) *)((const char *)header + header->e_phoff);
    const uintptr_t at = (uintptr_t)slot - map->l_addr, at_page = at & ~(page - 1);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const uintptr_t begin = part[i].p_vaddr & ~(page - 1), end = (part[i].p_vaddr + part[i].p_memsz) & ~(page - 1);

        if (part[i].p_type == PT_GNU_RELRO && at_page >= begin && at_page < end)
            return PROTECTED;
        if (part[i].p_type == PT_LOAD && part[i].p_flags & PF_W && at - part[i].p_vaddr < part[i].p_memsz)
            access = WRITABLE;
    }
    return access;
}

static struct fv_lock protection; /* of pages: other threads lead slots in them, too */

static void forget_lock(void)
{
    protection.held = 0;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_lock);
}

static void write_slot(void **slot, void *value)
{
    const uintptr_t page = getauxval(AT_PAGESZ);
    void *at = (void *)((uintptr_t)slot & ~(page - 1));
    const enum access access = access_of(slot, page);

    if (access == WRITABLE)
        __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (access != PROTECTED)
        return;
    uint64_t signals = fv_lock_sigsave(&protection);
    if (!mprotect(at, page, PROT_READ | PROT_WRITE)) {
        __atomic_store_n(slot, value, __ATOMIC_RELEASE);
        mprotect(at, page, PROT_READ);
    }
    fv_unlock_sigrestore(&protection, signals);
}

/* A program that is not position-independent, and points to a function, has an address for it that is its own, and
 * leads there by this slot. */
static void *defined_behind(const struct link_map *program, const char *name)
{
    void *found = NULL;

    for (const struct link_map *o = program->l_next; o && !found; o = o->l_next)
        found = fv_linked_function(o, name);
    return found;
}

/* What a call that is not bound yet would be bound to: by an object's own libraries, or by all; NULL: none of our
 * business. */
static void *bound_to(const struct object *o, const char *name)
{
    void *own = fv_lookup_plain(o->handle, name), *first = dlsym(RTLD_DEFAULT, name);

    if (own && fv_linked_object(own) == o->map && !fv_linked_function(o->map, name))
        own = first = defined_behind(o->map, name);
    return own && (!first || first == own || fv_next_is_ours(first)) ? own : NULL;
}

static void lead(const struct object *o, const ElfW(Rela) * r)
{
    unsigned type = ELF64_R_TYPE(r->r_info);
    const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(r->r_info)];
    const char *name = o->strings + symbol->st_name;

    if ((type != CALLED && type != FROM_TABLE && type != POINTED_TO) || symbol->st_shndx != SHN_UNDEF || r->r_addend ||
        (name[0] | 0x20) != 'm' || (name[1] | 0x20) != 'p')
        return;
    void **slot = (void **)(o->map->l_addr + r->r_offset), *holds = __atomic_load_n(slot, __ATOMIC_RELAXED), *own;
    if (type == CALLED && holds && fv_linked_object(holds) == o->map)
        holds = bound_to(o, name);
    if (holds && (own = fv_lookup_wrapper(name, holds)))
        write_slot(slot, own);
}

static void lead_all(const struct object *o, int64_t table, int64_t bytes)
{
    const ElfW(Rela) *r = fv_linked_part(o->map, table);

    for (size_t i = 0; r && i < fv_linked_number(o->map, bytes) / sizeof(*r); i++)
        lead(o, &r[i]);
}

static bool lead_object(void *handle, void *mpi)
{
    struct object o = { .handle = handle, .map = handle };

    o.symbols = fv_linked_part(o.map, DT_SYMTAB);
    o.strings = fv_linked_part(o.map, DT_STRTAB);
    if (o.map == mpi || !o.symbols || !o.strings ||
        !strncmp(fv_base_name(o.map->l_name), "libfvmpi", strlen("libfvmpi")))
        return false;
    lead_all(&o, DT_JMPREL, DT_PLTRELSZ);
    lead_all(&o, DT_RELA, DT_RELASZ);
    return false;
}

void fv_slots_lead_here(void)
{
    if (!fv_mpi_find_by(NULL))
        return;
    void *mpi = (void *)(uintptr_t)fv_linked_object(fv_next_of_mpi()),
         *program = fv_slots_late ? fv_lookup_open(NULL) : NULL;

    fv_each_object(lead_object, mpi);
    if (program) {
        lead_object(program, mpi);
        dlclose(program);
    }
}

/* ---- what is new ---- */

enum { NEW_MOST = 64 };

struct list {
    const struct link_map *own; /* the dynamic linker is not asked for it while its lock is held */
    const struct link_map *after, *last;
    unsigned long long removals;
    bool is_found;
    size_t count;
    char *names[NEW_MOST];
};

/* Objects are put at the end of the list. It does not change while dl_iterate_phdr() calls. */
static int walk(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct list *list = arg;
    const struct link_map *o = list->own;
    (void)size;

    list->removals = info->dlpi_subs;
    while (o && o->l_prev)
        o = o->l_prev;
    for (; o; o = o->l_next) {
        if (list->is_found && list->count < NEW_MOST)
            list->names[list->count++] = strdup(o->l_name);
        list->is_found |= o == list->after;
        list->last = o;
    }
    return 1;
}

struct fv_loaded_before fv_loaded_before(void)
{
    struct list list = { .own = fv_linked_object(&fv_slots_late) };

    dl_iterate_phdr(walk, &list);
    return (struct fv_loaded_before){ list.last, list.removals };
}

/* One that another thread has opened may be closed meanwhile: it is held as long as it is looked at. */
void fv_slots_lead_new(struct fv_loaded_before before)
{
    struct list list = { .own = fv_linked_object(&fv_slots_late), .after = before.last };

    dl_iterate_phdr(walk, &list);
    if (!list.is_found || list.count == NEW_MOST || list.removals != before.removals) {
        fv_slots_lead_here();
    } else if (list.count && fv_mpi_find_by(NULL)) {
        void *mpi = (void *)(uintptr_t)fv_linked_object(fv_next_of_mpi());

        for (size_t i = 0; i < list.count; i++) {
            void *object = list.names[i] ? fv_lookup_open(list.names[i]) : NULL;

            if (object) {
                lead_object(object, mpi);
                dlclose(object);
            }
        }
    }
    for (size_t i = 0; i < list.count; i++)
        free(list.names[i]);
}
#endif
