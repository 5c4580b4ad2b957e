/* SPDX-License-Identifier: BSD-3-Clause */
/* See annotations.h. Ends have no name, so each thread keeps the names of what it began. */
#define _GNU_SOURCE
#include "annotations/annotations.h"
#include "base/pages.h"
#include "rt/layers.h"
#include "rt/sections.h"
#include "rt/thread.h"
#include "trace/format.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 64 }; /* open on a thread at a time */

struct open {
    const void *domain;
    uint64_t id;
    char name[FV_SECTION_NAME];
};
struct opened {
    uint32_t count, beyond; /* beyond: began where there was no room, and have not ended */
    struct open items[DEEP];
};
static FV_TLS struct opened *opened;
static bool is_off;

static FV_COLD struct opened *make_opened(void)
{
    void *pages = fv_map_pages(sizeof(struct opened), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return opened = pages == MAP_FAILED ? NULL : pages;
}

void fv_annotation_begin(const void *domain, uint64_t id, const char *name)
{
    struct opened *o = opened || is_off ? opened : make_opened();

    if (!o)
        return;
    if (o->count == DEEP) {
        o->beyond++;
        return;
    }
    struct open *of = &o->items[o->count++];
    size_t length = strnlen(name = name ? name : "", sizeof(of->name) - 1);

    of->domain = domain;
    of->id = id;
    memcpy(of->name, name, length);
    memset(of->name + length, 0, sizeof(of->name) - length);
    fvmpi_section_begin_v1(of->name, 0, FV_SECTION_MARKED);
}

void fv_annotation_end(const void *domain, uint64_t id)
{
    struct opened *o = opened;
    uint32_t i = o ? o->count : 0;

    if (o && o->beyond) {
        o->beyond--;
        return;
    }
    while (i && !(o->items[i - 1].domain == domain && (!id || o->items[i - 1].id == id)))
        i--;
    if (!i)
        return;
    fvmpi_section_end_v1(o->items[i - 1].name, 0, FV_SECTION_MARKED);
    memmove(&o->items[i - 1], &o->items[i], (--o->count - (i - 1)) * sizeof(o->items[0]));
}

static void forget_thread(struct fv_thread *self)
{
    (void)self;
    if (opened)
        fv_unmap_pages(opened, sizeof(*opened));
    opened = NULL;
}

const struct fv_layer fv_annotations_layer = { .at = { [FV_AT_THREAD_END] = forget_thread } };

/* ---- who wants to know ---- */

#if defined(PIC) && defined(__GLIBC__)
enum { LARGEST = 64 << 20 }; /* bytes of a segment that is looked through */

/* A path of ours of another process, as of a launcher with the library of another MPI, is not anybody's choice. */
static void name_us(const char *variable, const char *library)
{
    const char *before = fv_env(variable), *name = before ? strrchr(before, '/') : NULL;
    bool is_ours = name && !strncmp(name, "/libfvmpi", 9);

    if (!before || !*before || is_ours)
        setenv(variable, library, 1);
}

/* Horspool's search. Not memmem(): a sanitizer that the program was built with would object to what lies between its
 * variables. */
__attribute__((no_sanitize("address"))) static bool is_in(const void *from, size_t bytes, const char *text,
                                                          size_t length)
{
    const unsigned char *at = from, *end = at + bytes;
    unsigned char shift[256];

    memset(shift, (int)length, sizeof(shift));
    for (size_t i = 0; i + 1 < length; i++)
        shift[(unsigned char)text[i]] = (unsigned char)(length - 1 - i);
    for (; (size_t)(end - at) >= length; at += shift[at[length - 1]]) {
        size_t same = 0;

        while (same < length && at[same] == (unsigned char)text[same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

/* A segment that holds constants: it is never written to, and has no code, unless the linker put code and constants
 * into one. */
static bool is_constant(const struct dl_phdr_info *info, unsigned i)
{
    ElfW(Word) most = PF_R | PF_X;

    for (unsigned k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_LOAD && info->dlpi_phdr[k].p_flags == PF_R)
            most = PF_R;
    return info->dlpi_phdr[i].p_type == PT_LOAD &&
           (info->dlpi_phdr[i].p_flags == PF_R || info->dlpi_phdr[i].p_flags == most);
}

/* In what the loader mapped of the object's file? */
static bool is_loaded(const struct dl_phdr_info *info, ElfW(Addr) at, size_t bytes)
{
    bool found = false;

    for (unsigned i = 0; i < info->dlpi_phnum && !found; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        ElfW(Addr) offset = at - info->dlpi_addr - p->p_vaddr;

        found = p->p_type == PT_LOAD && (p->p_flags & PF_R) && offset < p->p_filesz && bytes <= p->p_filesz - offset;
    }
    return found;
}

/* The names of an object's dynamic symbols, one behind the other; their bytes, 0 where the table is not as it should
 * be. */
static size_t dynamic_names(const struct dl_phdr_info *info, const void **names)
{
    const ElfW(Dyn) *dynamic = NULL;
    ElfW(Addr) at = 0;
    size_t bytes = 0;

    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_STRTAB)
            at = dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_STRSZ)
            bytes = dynamic->d_un.d_val;
    }
    if (at < info->dlpi_addr) /* not everywhere does the loader write the address there */
        at += info->dlpi_addr;
    *names = (const void *)at;
    return is_loaded(info, at, bytes) ? bytes : 0;
}

/* Could Kokkos be in it, by the functions that it uses? It loads a library that the environment names, and is C++: that
 * may be linked statically into a program, so that it does not show there. `getenv` may be written as the end of
 * `secure_getenv`. */
static bool may_have_kokkos(const struct dl_phdr_info *info)
{
    const void *names;
    size_t bytes = dynamic_names(info, &names);
    bool is_program = !info->dlpi_name || !*info->dlpi_name;

    return is_in(names, bytes, "dlopen", sizeof("dlopen")) && is_in(names, bytes, "dlsym", sizeof("dlsym")) &&
           is_in(names, bytes, "getenv", sizeof("getenv")) &&
           (is_program || is_in(names, bytes, "_ZdlPv", strlen("_ZdlPv")));
}

static bool holds(const struct dl_phdr_info *info, const char *text)
{
    bool found = false;

    for (unsigned i = 0; i < info->dlpi_phnum && !found; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        found = is_constant(info, i) && p->p_filesz <= LARGEST &&
                is_in((const void *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, text, strlen(text));
    }
    return found;
}

struct kokkos {
    bool is_old, is_new;
};

/* Kokkos before 3.7 knows another variable alone, of which newer ones say on stderr that it is old. It is a library, or
 * linked into the program or into another library, and its symbols may be gone: the names of the variables tell it,
 * among the constants of an object. To look through those of all objects takes too long: 1 to 2 ms per megabyte. */
static int look_for_kokkos(struct dl_phdr_info *info, size_t bytes, void *state)
{
    struct kokkos *found = state;
    (void)bytes;

    if ((info->dlpi_name && !strncmp(fv_base_name(info->dlpi_name), "libfvmpi", 8)) || !may_have_kokkos(info))
        return 0;
    if (!holds(info, "KOKKOS_PROFILE_LIBRARY"))
        return 0;
    if (holds(info, "KOKKOS_TOOLS_LIBS"))
        found->is_new = true;
    else
        found->is_old = true;
    return 0;
}

/* Where the library is: absolute, as in LD_PRELOAD and from the linker's search. NULL: it is linked into the program,
 * whom nobody can load. */
static const char *own_path(void)
{
    Dl_info us;
    bool found = dladdr((void *)(uintptr_t)own_path, &us) && us.dli_fname;

    return found && us.dli_fname[0] == '/' && !strncmp(fv_base_name(us.dli_fname), "libfvmpi", 8) ? us.dli_fname : NULL;
}

/* Before the program's own constructors, which may use these interfaces; there is one thread. */
__attribute__((constructor(102))) static void ask_to_know(void)
{
    static const char *const variables[] = { "KOKKOS_TOOLS_LIBS", "NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64" };
    const char *disabled = fv_env("FVMPI_DISABLE"), *annotations = fv_env("FVMPI_ANNOTATIONS"), *library = own_path();
    struct kokkos kokkos = { 0 };

    is_off =
        fv_has_more_rights() || (annotations && !strcmp(annotations, "off")) || (disabled && !strcmp(disabled, "1"));
    if (!library || is_off)
        return;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        name_us(variables[i], library);
    dl_iterate_phdr(look_for_kokkos, &kokkos);
    if (kokkos.is_old && !kokkos.is_new)
        name_us("KOKKOS_PROFILE_LIBRARY", library);
}
#endif
