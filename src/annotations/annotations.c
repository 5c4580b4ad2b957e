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
/* A path of ours of another process, as of a launcher with the library of another MPI, is not anybody's choice. */
static void name_us(const char *variable, const char *library)
{
    const char *before = getenv(variable), *name = before ? strrchr(before, '/') : NULL;
    bool is_ours = name && !strncmp(name, "/libfvmpi", 9);

    if (!before || !*before || is_ours)
        setenv(variable, library, 1);
}

static bool holds(const struct dl_phdr_info *info, const char *text)
{
    bool found = false;

    for (unsigned i = 0; i < info->dlpi_phnum && !found; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        found = p->p_type == PT_LOAD && (p->p_flags & PF_R) && !(p->p_flags & PF_W) &&
                memmem((const void *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, text, strlen(text));
    }
    return found;
}

/* Kokkos before 3.7 knows another variable alone, of which newer ones say on stderr that it is old. */
static int is_old_kokkos(struct dl_phdr_info *info, size_t bytes, void *is_old)
{
    (void)bytes;
    if (info->dlpi_name && strstr(fv_base_name(info->dlpi_name), "kokkoscore"))
        *(bool *)is_old = holds(info, "KOKKOS_PROFILE_LIBRARY") && !holds(info, "KOKKOS_TOOLS_LIBS");
    return 0;
}

/* Where the library is: absolute, as in LD_PRELOAD and from the linker's search. NULL: it is linked into the program, whom nobody can load. */
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
    const char *disabled = getenv("FVMPI_DISABLE"), *annotations = getenv("FVMPI_ANNOTATIONS"), *library = own_path();
    bool is_old = false;

    is_off = (annotations && !strcmp(annotations, "off")) || (disabled && !strcmp(disabled, "1"));
    if (!library || is_off)
        return;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        name_us(variables[i], library);
    dl_iterate_phdr(is_old_kokkos, &is_old);
    if (is_old)
        name_us("KOKKOS_PROFILE_LIBRARY", library);
}
#endif
