/* SPDX-License-Identifier: BSD-3-Clause */
/* See omp_next.h. No lock is held around dl*(), which take the dynamic linker's: a constructor may call us.
 */
#include "threads/omp_next.h"
#include "base/lock.h"
#include "rt/thread.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define RUNTIMES 8
#define MODULES  64

const struct fv_omp_next *fv_omp_global;

/* ---- where there is no runtime: weak references may have found us ---- */

static long nothing(void)
{
    return 0;
}

static int one(void)
{
    return 1;
}

static bool yes(void)
{
    return true;
}

static int is_free(void *lock)
{
    return (void)lock, 1;
}

static void run_alone(fv_omp_body *body, void *data, unsigned threads, unsigned flags)
{
    (void)threads, (void)flags;
    body(data);
}

static bool is_llvm(void *handle)
{
    const void *its = dlsym(handle, "GOMP_task"), *llvms = dlsym(handle, "__kmpc_fork_call");
    Dl_info a, b;

    return its && llvms && dladdr(its, &a) && dladdr(llvms, &b) && a.dli_fbase == b.dli_fbase;
}

static void fill(struct fv_omp_next *out, void *handle)
{
    void *function;
    long (*none)(void) = nothing;

#define FIND(name, result, parameters) \
    function = dlsym(handle, #name);   \
    memcpy(&out->name, function ? &function : (void **)&none, sizeof(function));
    FV_OMP_FUNCTIONS(FIND, FIND)
#undef FIND
    out->is_llvm = is_llvm(handle);
    out->has_kmpc = dlsym(handle, "__kmpc_end_critical") != NULL;
}

/* Written once: a thread may be using it while another one asks. */
static const struct fv_omp_next *make_alone(void)
{
    static struct fv_omp_next made;
    static struct fv_lock making;
    static bool done;
    long (*none)(void) = nothing;

    uint64_t signals = fv_lock_sigsave(&making);
    if (!done) {
#define NONE(name, result, parameters) memcpy(&made.name, &none, sizeof(none));
        FV_OMP_FUNCTIONS(NONE, NONE)
#undef NONE
        made.GOMP_parallel = run_alone;
        made.omp_test_lock = made.omp_test_lock_ = is_free;
        made.omp_test_nest_lock = made.omp_test_nest_lock_ = is_free;
        made.omp_get_num_threads = one;
        made.GOMP_single_start = yes;
        done = true;
    }
    fv_unlock_sigrestore(&making, signals);
    return &made;
}

/* ---- runtimes that only some modules see ---- */

static bool is_ours(const void *function)
{
    Dl_info ours, its;

    return dladdr(&fv_omp_global, &ours) && dladdr(function, &its) && ours.dli_fbase == its.dli_fbase;
}

/* What a runtime is known by; NULL: there is none. */
static void *mark_of(void *handle)
{
    void *found = dlsym(handle, "GOMP_parallel");

    if (!found)
        found = dlsym(handle, "omp_set_lock");
    return found && !is_ours(found) ? found : NULL;
}

static struct fv_lock lock;
static struct runtime {
    void *mark;
    struct fv_omp_next next;
} * runtimes[RUNTIMES];
/* Modules that have called, and what they call. Never changed once counted. */
static struct module {
    uintptr_t begin, end;
    const struct fv_omp_next *next;
} modules[MODULES];
static unsigned module_count;

/* NULL: not known yet. */
static const struct runtime *known_runtime(const void *mark)
{
    for (unsigned i = 0; i < RUNTIMES; i++) {
        const struct runtime *r = __atomic_load_n(&runtimes[i], __ATOMIC_ACQUIRE);

        if (r && r->mark == mark)
            return r;
    }
    return NULL;
}

/* Its functions are called from here: it must stay. */
static bool keep(const void *mark)
{
    Dl_info info;

    return dladdr(mark, &info) && dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* NULL: no memory, or too many. */
static const struct fv_omp_next *runtime_of(void *handle)
{
    void *mark = mark_of(handle);
    const struct runtime *known = known_runtime(mark);
    struct runtime *made = known ? NULL : fv_memory_new(sizeof(*made));

    if (known)
        return &known->next;
    if (!made || !keep(mark))
        return NULL;
    fill(&made->next, handle);
    made->mark = mark;
    uint64_t signals = fv_lock_sigsave(&lock);
    for (unsigned i = 0; i < RUNTIMES; i++)
        if (!runtimes[i]) {
            __atomic_store_n(&runtimes[i], made, __ATOMIC_RELEASE);
            break;
        }
    fv_unlock_sigrestore(&lock, signals);
    return &made->next;
}

struct search {
    char name[16][512];
    unsigned count;
};

static int note_name(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;
    const char *base = fv_base_name(info->dlpi_name);

    (void)size;
    bool fits = search->count < 16 && strlen(info->dlpi_name) < sizeof(search->name[0]);
    if (fits && (!strncmp(base, "libgomp", 7) || !strncmp(base, "libomp", 6) || !strncmp(base, "libiomp", 7)))
        strcpy(search->name[search->count++], info->dlpi_name);
    return 0;
}

/* kmpc: one that has functions of LLVM's. NULL: the handle leads to none. */
static const struct fv_omp_next *runtime_by(void *handle, bool kmpc)
{
    const struct fv_omp_next *found = handle && mark_of(handle) ? runtime_of(handle) : NULL;

    return found && (!kmpc || found->has_kmpc) ? found : NULL;
}

/* As the caller's module sees it; else any that is there: a caller may have called last of all, by a jump,
 * and what it returns to is then ours. */
static const struct fv_omp_next *find_local(const void *caller, bool kmpc)
{
    const struct fv_omp_next *found;
    struct search search = { .count = 0 };
    Dl_info info;
    void *module = dladdr(caller, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    found = runtime_by(module, kmpc);
    if (module)
        dlclose(module);
    if (!found)
        dl_iterate_phdr(note_name, &search);
    for (unsigned i = 0; i < search.count && !found; i++) {
        void *handle = dlopen(search.name[i], RTLD_LAZY | RTLD_NOLOAD);

        found = runtime_by(handle, kmpc);
        if (handle)
            dlclose(handle);
    }
    return found;
}

struct range {
    uintptr_t address, begin, end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct range *range = arg;
    uintptr_t low = UINTPTR_MAX, high = 0;
    bool is_in = false;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = begin + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        low = begin < low ? begin : low;
        high = end > high ? end : high;
        is_in = is_in || (range->address >= begin && range->address < end);
    }
    if (is_in) {
        range->begin = low;
        range->end = high;
    }
    return is_in;
}

/* Where there are too many, the others are looked for each time. */
static void remember(const void *caller, const struct fv_omp_next *next)
{
    struct range range = { .address = (uintptr_t)caller };

    dl_iterate_phdr(find_range, &range);
    uint64_t signals = fv_lock_sigsave(&lock);
    if (range.end && module_count < MODULES) {
        modules[module_count] = (struct module){ range.begin, range.end, next };
        __atomic_store_n(&module_count, module_count + 1, __ATOMIC_RELEASE);
    }
    fv_unlock_sigrestore(&lock, signals);
}

static const struct fv_omp_next *remembered(const void *caller, bool kmpc)
{
    unsigned count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

    for (unsigned i = 0; i < count; i++)
        if ((uintptr_t)caller >= modules[i].begin && (uintptr_t)caller < modules[i].end &&
            (!kmpc || modules[i].next->has_kmpc))
            return modules[i].next;
    return NULL;
}

/* The runtime that all modules see, from now on. */
static const struct fv_omp_next *make_global(const void *mark)
{
    static struct fv_omp_next global;
    struct fv_omp_next found;

    fill(&found, RTLD_NEXT);
    keep(mark);
    uint64_t signals = fv_lock_sigsave(&lock);
    if (!fv_omp_global) {
        global = found;
        __atomic_store_n(&fv_omp_global, &global, __ATOMIC_RELEASE);
    }
    fv_unlock_sigrestore(&lock, signals);
    return &global;
}

FV_COLD const struct fv_omp_next *fv_omp_next_slowly(const void *caller)
{
    const struct fv_omp_next *known = remembered(caller, false);
    const void *mark = known ? NULL : mark_of(RTLD_NEXT);

    if (known || mark)
        return known ? known : make_global(mark);
    const struct fv_omp_next *local = find_local(caller, false);
    if (!local)
        return make_alone();
    remember(caller, local);
    return local;
}

/* A plugin of clang's in a program of GCC's. */
FV_COLD const struct fv_omp_next *fv_omp_next_of_llvm(const void *caller)
{
    const struct fv_omp_next *known = remembered(caller, true), *local = known ? NULL : find_local(caller, true);

    if (local)
        remember(caller, local);
    return known ? known : local ? local : fv_omp_next(caller);
}
