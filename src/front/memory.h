/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands between the interposers of the C library's allocator (memory.c, in libfvmpi-memory.so) and who records
 * (src/memory): the state of a thread, and the table of hooks. A thread's own state says by one compare whether a call
 * is anything but usual. */
#ifndef FV_FRONT_MEMORY_H
#define FV_FRONT_MEMORY_H

#include "front/front.h"

/* A thread's. */
struct fv_front_own {
    const uint64_t *large; /* allocations of so many bytes are told; 0: each one is, and each free; else these by the
                            * filter alone */
    int64_t left;          /* bytes until the next one is, of smaller ones */
    uint32_t until_timed;  /* calls until the time of one is taken; 0: of none ... */
    uint32_t drawn;        /* ... and what it was when the time of one was taken last: then it is of that call */
    uint32_t random;       /* 0: not yet */
    struct fv_memory_sums *sums; /* where it counts; NULL: nowhere yet */
    bool is_shared;              /* the sums are others', too */
    bool is_telling;
    bool is_inside;      /* the next one's function runs, and may hold locks: also of who has left it by longjmp() */
    uint64_t begin, end; /* of the call that was timed last: ticks; 0: not known */
    size_t freed;        /* by the realloc() that is told next */
    uint64_t spent;      /* ticks that the call took whose time was taken last; in `allocated`, that one did;
                          * FV_FRONT_UNTIMED: not known */
    uintptr_t at;        /* the stack where it began to tell */
    uintptr_t in_loader; /* where a callback of the loader's began, under its lock; 0: it is in none */
};

/* An object that a realloc() may move: taken out of what is known, and put back if it fails. */
struct fv_front_object {
    uint64_t address, where; /* where: the recorder's own; address 0: it was not known */
    size_t bytes;
};

#define FV_FRONT_UNTIMED UINT64_MAX
#define FV_FRONT_NONE    SIZE_MAX /* bytes that are not known, or that no call allocated, or freed */

/* A call that is over. */
struct fv_front_call {
    unsigned function;   /* enum fv_memory_function */
    uint64_t begin, end; /* ticks; 0: not known */
    size_t bytes, freed;
    struct fv_call_place site;
};

#define FV_FRONT_HELD   65536 /* the allocator's bytes that a thread may hold back from the process's sum */
#define FV_FRONT_FILTER 65536

/* In a page that the kernel wipes in a child (base/pages.h): there nothing is told, and nothing counted. */
struct fv_front_hooks {
    uint64_t large;                          /* what the threads' own lead to */
    uint64_t (*ticks)(void);                 /* now */
    uint64_t ticks_cost;                     /* what two readings are apart with nothing between them */
    void (*begin)(struct fv_front_own *own); /* sets what the thread has from now on */
    /* It is in the sums already. */
    void (*allocated)(struct fv_front_own *own, void *object, size_t bytes, struct fv_call_place site);
    size_t (*freed)(struct fv_front_own *own, void *object); /* its bytes; FV_FRONT_NONE: not known */
    struct fv_front_object (*take)(struct fv_front_own *own, void *object);
    void (*taken)(struct fv_front_own *own, const struct fv_front_object *object, bool freed); /* not freed: put back */
    void (*publish)(struct fv_front_own *own);                                                 /* what it holds back */
    void (*called)(struct fv_front_own *own, const struct fv_front_call *call); /* NULL: of no interest; else each is
                                                                                 * timed */
};

struct fv_front_memory {
    const struct fv_front_hooks *hooks; /* NULL: nobody records */
    bool is_exact;
    int64_t before;                    /* the allocator's bytes that are live, as long as nobody records; any thread */
    size_t (*usable)(void *object);    /* the allocator's own */
    void *(*malloc)(size_t bytes);     /* likewise */
    bool is_glibc;                     /* it is glibc's */
    void *describe;                    /* its mallinfo2(); NULL: it has none */
    int64_t chunks, mapped;            /* [mapped: bytes] objects of FV_MEMORY_LONG and more that glibc has in mappings
                                        * of their own; any thread */
    void *(*own_malloc)(size_t bytes); /* the one that stands in front of it */
    uint8_t filter[FV_FRONT_FILTER];   /* how many objects that are known have the address's hash, up to 255, which
                                        * stays */
};
FV_FRONT_TABLE struct fv_front_memory fvmpi_memory_v1;

static inline uint32_t fv_front_hash(const void *object)
{
    return (uint32_t)((((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 48);
}

#endif
