/* SPDX-License-Identifier: BSD-3-Clause */
/* See annotations.h. Caliper and LIKWID: ours stand in front of the functions that programs call, which do what they
 * do. A region begins behind theirs and ends before, so that it is without their own work. Of Caliper what has a name:
 * regions, phases, functions, scopes, loops; not its values. */
#include "annotations/annotations.h"
#include "base/linked_objects.h"

#include <dlfcn.h>

/* Versions of these names that a linker passes over (exports.map): a program that is linked with us, too, may have a
 * library's own in it. */
#if defined(PIC) && defined(__ELF__)

enum { CALIPER_REGION, CALIPER_PHASE, CALIPER_COMM, CALIPER_OBJECT, LIKWID, DOMAINS };
static const char domains[DOMAINS];

/* Not 0. */
static uint64_t id_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; name && *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash | 1;
}

/* The library's own: next in the program, or what the caller's library is linked with, where that was loaded
 * privately. */
static FV_COLD void *find_next(const char *name, const void *caller)
{
    void *next = fv_linked_behind(name), *library;
    Dl_info from;

    if (next || !dladdr(caller, &from) || !from.dli_fname ||
        !(library = dlopen(from.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
        return next;
    next = dlsym(library, name);
    dlclose(library);
    return next;
}

#define NEXT(name, type)                                                                                 \
    static void *next;                                                                                   \
    void *known = __atomic_load_n(&next, __ATOMIC_RELAXED);                                              \
    if (FV_UNLIKELY(!known))                                                                             \
        __atomic_store_n(&next, known = find_next(name, __builtin_return_address(0)), __ATOMIC_RELAXED); \
    type *own = (type *)(uintptr_t)known
#define IN_FRONT(result, symbol, ...)                                      \
    __asm__(".symver fv_in_front_" #symbol "," #symbol "@FVMPI_IN_FRONT"); \
    FV_FOUND_BY_NAME(result, fv_in_front_##symbol, __VA_ARGS__)

/* Some versions return a code, others nothing. */
typedef long named(const char *name);
#define BEGINS(symbol, domain)                                    \
    IN_FRONT(long, symbol, const char *name)                      \
    {                                                             \
        NEXT(#symbol, named);                                     \
        long code = own ? own(name) : 0;                          \
        fv_annotation_begin(&domains[domain], id_of(name), name); \
        return code;                                              \
    }
#define ENDS(symbol, domain)                              \
    IN_FRONT(long, symbol, const char *name)              \
    {                                                     \
        NEXT(#symbol, named);                             \
        fv_annotation_end(&domains[domain], id_of(name)); \
        return own ? own(name) : 0;                       \
    }
BEGINS(cali_begin_region, CALIPER_REGION)
ENDS(cali_end_region, CALIPER_REGION)
BEGINS(cali_begin_phase, CALIPER_PHASE)
ENDS(cali_end_phase, CALIPER_PHASE)
BEGINS(cali_begin_comm_region, CALIPER_COMM)
ENDS(cali_end_comm_region, CALIPER_COMM)
BEGINS(likwid_markerStartRegion, LIKWID)
ENDS(likwid_markerStopRegion, LIKWID)

/* Loops in C; of each attribute the last one begun ends. One of a value that is no text has not begun here. */
typedef long begins_text(uint64_t attribute, const char *text);
IN_FRONT(long, cali_begin_string, uint64_t attribute, const char *text)
{
    NEXT("cali_begin_string", begins_text);
    long code = own ? own(attribute, text) : 0;

    fv_annotation_begin((const void *)(uintptr_t)attribute, 0, text);
    return code;
}

typedef long ends_attribute(uint64_t attribute);
IN_FRONT(long, cali_end, uint64_t attribute)
{
    NEXT("cali_end", ends_attribute);
    fv_annotation_end((const void *)(uintptr_t)attribute, 0);
    return own ? own(attribute) : 0;
}

/* In C++ an object is the region: of cali::Function, ScopeAnnotation and Loop. Loop::end() is its end, if it has
 * one. */
typedef void constructor(void *object, const char *name);
typedef void destructor(void *object);
#define CONSTRUCTS(symbol)                                                      \
    IN_FRONT(void, symbol, void *object, const char *name)                      \
    {                                                                           \
        NEXT(#symbol, constructor);                                             \
        if (own)                                                                \
            own(object, name);                                                  \
        fv_annotation_begin(&domains[CALIPER_OBJECT], (uintptr_t)object, name); \
    }
#define DESTROYS(symbol)                                                \
    IN_FRONT(void, symbol, void *object)                                \
    {                                                                   \
        NEXT(#symbol, destructor);                                      \
        fv_annotation_end(&domains[CALIPER_OBJECT], (uintptr_t)object); \
        if (own)                                                        \
            own(object);                                                \
    }
CONSTRUCTS(_ZN4cali8FunctionC1EPKc)
DESTROYS(_ZN4cali8FunctionD1Ev)
CONSTRUCTS(_ZN4cali15ScopeAnnotationC1EPKc)
DESTROYS(_ZN4cali15ScopeAnnotationD1Ev)
CONSTRUCTS(_ZN4cali4LoopC1EPKc)
DESTROYS(_ZN4cali4Loop3endEv)
DESTROYS(_ZN4cali4LoopD1Ev)

#else
typedef int fv_in_front_nothing; /* programs that are linked statically have the libraries' own */
#endif
