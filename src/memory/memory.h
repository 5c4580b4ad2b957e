/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program allocates (--memory), told by the interposers in libfvmpi-memory.so (front/memory.h): by call
 * path what was allocated, what of it was freed, and what is live. Objects that are known stand in a table by address
 * (objects.c); a thread counts in records of its own, one a call path (sites.c); the process's live bytes and their
 * peak are sums that threads add to now and then (process.c). All of a path's records at the peak follow without
 * looking at them there: a record remembers what it had before its first change since (struct fv_memory_site). */
#ifndef FV_MEMORY_H
#define FV_MEMORY_H

#include "front/memory.h"
#include "rt/sections.h"
#include "rt/thread.h"

/* A call path's record of a thread. */
struct fv_allocator {
    struct fv_memory_site *record; /* in the file */
    struct fv_memory_path *shared; /* likewise, of all threads; NULL: no room */
    struct fv_memory *of;
    int64_t pending;            /* of its bytes, not yet in `shared` */
    uint32_t number;            /* of the process's, from 1 */
} __attribute__((aligned(64))); /* beside another thread's */

#define FV_MEMORY_RECENT 64
struct fv_memory_recent { /* a call path inside of MPI */
    uintptr_t address;
    uint32_t call, path;
};

#define FV_MEMORY_OPEN 64 /* as many as a thread's sections can be deep */

/* Of a thread; it stays for the next one that has its struct fv_thread. */
struct fv_memory {
    struct fv_thread *thread;
    struct fv_memory_sums *sums; /* in the file */
    struct fv_map sites;         /* by call path */
    struct fv_tail tail, section_tail;
    struct fv_allocator *rest; /* for what there is no room for */
    uint64_t random;
    struct fv_memory_recent recent[FV_MEMORY_RECENT];
    unsigned open_count;
    struct fv_memory_section *open[FV_MEMORY_OPEN]; /* sections that have begun */
};

extern struct fv_memory_process *fv_memory_process; /* in the file; NULL: nothing is recorded */
extern bool fv_memory_ending;                       /* exit() runs: what is allocated from now on is in no call path */

/* ---- objects.c: what is live and known ---- */

struct fv_object {
    uint64_t address;
    uint64_t bytes : 40, allocator : 24; /* allocator: fv_allocator.number */
};
/* False: no room. */
bool fv_object_add(struct fv_object object);
/* Takes it out; address 0: it is not known. */
struct fv_object fv_object_take(const void *address);

/* ---- sites.c ---- */

/* NULL: there is no room for anything. */
struct fv_memory *fv_memory_of(struct fv_thread *thread);
/* The thread's record of a call path. NULL: no room. */
struct fv_allocator *fv_allocator_of(struct fv_memory *m, uint32_t path);
struct fv_allocator *fv_allocator_at(uint32_t number);
/* `path` of an allocation by the thread; false: it is fvmpi's own. */
bool fv_memory_path(struct fv_memory *m, struct fv_call_place site, uint32_t *path);
/* spent: ticks of the call; FV_FRONT_UNTIMED: not known. */
void fv_allocator_allocated(struct fv_allocator *a, uint64_t bytes, uint64_t spent);
/* By the thread that has `m`. */
void fv_allocator_freed(struct fv_memory *m, struct fv_allocator *a, uint64_t bytes);

/* ---- trace.c ---- */

/* A call that is over, of the thread that has `m`. */
void fv_memory_trace(struct fv_memory *m, const struct fv_front_call *call);

/* ---- process.c ---- */

bool fv_memory_process_new(void); /* false: no room */
void fv_memory_publish(struct fv_memory_sums *sums, bool is_shared);

/* No call made yet. */
void fv_memory_sums_init(struct fv_memory_sums *sums);

/* ---- system.c: what the allocator has from the system ---- */

/* Live bytes; held: what the thread holds back. */
static inline int64_t fv_memory_live(int64_t held)
{
    return __atomic_load_n(&fv_memory_process->live, __ATOMIC_RELAXED) + held;
}
/* Without a lock or a system call. */
void fv_memory_state_read(struct fv_memory_state *out, int64_t live);
/* Once, when recording begins. */
void fv_memory_heap_find(void);
/* Asks glibc, under its locks: not of a thread that is inside of the allocator. */
void fv_memory_arenas_note(struct fv_memory_arenas *out);

/* ---- sections.c ---- */

extern const struct fv_section_watch fv_memory_section_watch;

/* ---- pages.c ---- */

/* Each line of a file; one that is too long is cut. */
void fv_memory_lines(int fd, void (*take)(void *context, const char *line), void *context);
/* Asks the kernel, and keeps what it tells in `pages` if that is more than it had there. */
void fv_memory_pages_note(struct fv_memory_pages *pages);
/* By the text of smaps_rollup: sets resident, huge; false: they are not in it. */
bool fv_memory_pages_read(struct fv_memory_pages *pages, const char *rollup);
/* By a line of numa_maps: adds to near, far. */
void fv_memory_pages_place(struct fv_memory_pages *pages, const char *line, unsigned own_node);

/* ---- places.c ---- */

/* Once: writes what is on which NUMA node. */
void fv_memory_places_note(void);
/* By a line of numa_maps: adds bytes by node. */
void fv_memory_line_place(const char *line, uint64_t on[FV_MEMORY_NODES]);

#endif
