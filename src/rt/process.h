/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that is recorded: its state, its rank file, private memory. What its threads own is in rt/thread.h. */
#ifndef FV_RT_PROCESS_H
#define FV_RT_PROCESS_H

#include "base/lock.h"
#include "base/options.h"
#include "trace/writer.h"

#include <sys/syscall.h>
#include <unistd.h>

enum fv_runtime_state {
    FV_RT_OFF,      /* for good: disabled, failed to start, or a child's */
    FV_RT_IDLE,     /* MPI has not started: shells, launchers, helpers stay here */
    FV_RT_STARTING, /* there is a file; the ranks agree on barriers, which takes as long as one of them is late */
    FV_RT_ON,       /* recording, or paused */
};

#define FV_RECORDING 1u
#define FV_CHANGED   2u

/* What every entry looks at. Once recording starts it lies in a page that the kernel wipes in a child, however that was
 * made: by fork(), of which pthread_atfork() tells, or by _Fork(), clone() or a system call, of which nobody does. So a
 * child is off and does not record, at no cost. Kernels before 4.14 do not wipe it: there the file does not grow in a
 * child (trace/writer.h). Rejected: getpid(), which is a system call. */
struct fv_process_state {
    uint32_t state;     /* enum fv_runtime_state */
    uint32_t recording; /* without FV_RECORDING calls are followed but not counted (paused); and FV_CHANGED as often as
                         * it went on, or forgot */
};

struct fv_runtime {
    struct fv_process_state *here;
    uint64_t resumed;     /* ticks: when it last went on */
    uint8_t tracing;      /* 1: calls are written as events, until: */
    bool trace_stopped;   /* the budget is used up: they are counted as dropped */
    bool thread_multiple; /* several threads may be inside MPI: take the locks of hot tables */
    pid_t pid;
    struct fv_lock lock; /* of start, thread list, pause */
    struct fv_options options;
    struct fv_writer writer;
    struct fv_thread *threads; /* all ever made, through next_all */
    struct fv_thread *free;    /* of ended threads, through next_free */
    uint32_t thread_count;
    int world_rank;
};
extern FV_INSIDE struct fv_runtime fv_rt;

/* Threads may ask while another one starts. */
static inline struct fv_process_state *fv_here(void)
{
    return __atomic_load_n(&fv_rt.here, __ATOMIC_ACQUIRE);
}

static inline uint32_t fv_rt_state(void)
{
    return __atomic_load_n(&fv_here()->state, __ATOMIC_ACQUIRE);
}

/* 0: this is a child. */
static inline uint32_t fv_recording(void)
{
    return __atomic_load_n(&fv_here()->recording, __ATOMIC_RELAXED);
}

/* Or in a child. */
static inline bool fv_rt_paused(void)
{
    return !(fv_recording() & FV_RECORDING);
}

/* Ticks that it was paused. */
static inline uint64_t fv_paused_until(uint64_t now)
{
    const struct fv_file_header *h = fv_rt.writer.header;
    uint64_t since = __atomic_load_n(&h->paused_since, __ATOMIC_RELAXED);

    return __atomic_load_n(&h->paused_ticks, __ATOMIC_RELAXED) + (FV_UNLIKELY(since && since < now) ? now - since : 0);
}

static inline bool fv_rt_early(void)
{
    uint32_t state = fv_rt_state();

    return state == FV_RT_IDLE || state == FV_RT_STARTING;
}

static inline bool fv_rt_on(void)
{
    return fv_rt_state() == FV_RT_ON;
}

/* Is this the process that records: no child, nor one of vfork(), which has our memory? Older C libraries' getpid()
 * remembers. */
static inline bool fv_rt_here(void)
{
    return fv_rt_on() && fv_rt.pid == (pid_t)syscall(SYS_getpid);
}
/* It ends; without MPI_Finalize, if that was not called. */
void fv_exiting(void);
/* It calls exec(). True: it becomes another program, unless fv_exec_failed() says that it goes on, which must follow
 * then. Any thread, handlers, too. */
bool fv_replacing(void);
void fv_exec_failed(void);

/* A sign of life, for a report of a process that is killed; the latest of all threads, so that no sample in the file is
 * later. Any thread, handlers. */
static inline void fv_is_alive(uint64_t ticks)
{
    uint64_t *alive = &fv_rt.writer.header->alive_ticks, last = __atomic_load_n(alive, __ATOMIC_RELAXED);

    while ((!last || (int64_t)(ticks - last) > 0) &&
           !__atomic_compare_exchange_n(alive, &last, ticks, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Counts something that was not recorded. Any thread. */
static inline void fv_dropped(enum fv_drop what)
{
    if (fv_rt.writer.header)
        __atomic_fetch_add(&fv_rt.writer.header->dropped[what], 1, __ATOMIC_RELAXED);
}

/* Private memory straight from the system, zeroed; the application's malloc stays its own. NULL: none. */
void *fv_memory_new(size_t bytes);
/* Zeroed again in a child, where the kernel can do that (4.14). */
void *fv_memory_new_wiped(size_t bytes);
void fv_memory_free(void *memory, size_t bytes);
/* At the end of the process: what has pages of all that is the memory that the rank file tells. */
void fv_memory_settle(void);

/* Is there memory, or was a moment ago? Needs no permission; any time; errno changes. */
bool fv_memory_is_readable(uintptr_t at);
/* Reads memory that may not be there. */
bool fv_memory_peek(uintptr_t at, void *out, size_t bytes);
/* As many bytes from each of several addresses, one behind the other in `out`. */
bool fv_memory_gather(const uintptr_t *at, unsigned count, size_t bytes, void *out);

/* Is some thread in MPI_Init, before recording has begun? */
bool fv_starting(void);
void fv_shadow_write(struct fv_writer *writer);        /* of those that were added; at the start */
extern uint32_t fv_shadows;                            /* are there any? */
void fv_shadow_came(unsigned function, uint32_t path); /* such a call, from this path */
bool fv_shadow_tell(void);                             /* what did not come, at the end; false: nothing */

#endif
