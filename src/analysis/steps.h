/* The calls of a run as the analysis sees them: one step for each call of each thread, in order of time, and
 * what the call had to wait for. Steps are kept in a file of each process (a spill file in the experiment's
 * directory), because there may be more of them than memory; all of it is mapped.
 *
 * A line is what one thread did: lines are numbered by (rank, thread), over all ranks of the run. */
#ifndef FV_STEPS_H
#define FV_STEPS_H

#include "merge/merge.h"

/* Kinds of waiting, with their names in analysis.json, where each is described: share/analysis.md. */
#define FV_WAIT_STATES(X)                                                                                    \
    X(LATE_SENDER, "late_sender")                                                                            \
    X(WRONG_ORDER, "late_sender_wrong_order")                                                                \
    X(LATE_RECEIVER, "late_receiver")                                                                        \
    X(NXN, "wait_at_nxn")                                                                                    \
    X(NXN_COMPLETION, "nxn_completion")                                                                      \
    X(BARRIER, "wait_at_barrier")                                                                            \
    X(BARRIER_COMPLETION, "barrier_completion")                                                              \
    X(LATE_BROADCAST, "late_broadcast")                                                                      \
    X(EARLY_REDUCE, "early_reduce")                                                                          \
    X(LATE_REDUCE, "late_reduce")                                                                            \
    X(EARLY_SCAN, "early_scan")                                                                              \
    X(CREATE, "wait_at_create")                                                                              \
    X(INIT, "wait_at_init")                                                                                  \
    X(INIT_COMPLETION, "init_completion")                                                                    \
    X(FINALIZE, "wait_at_finalize")                                                                          \
    X(IO, "wait_at_io")                                                                                      \
    X(FENCE, "wait_at_fence")                                                                                \
    X(LATE_POST, "late_post")                                                                                \
    X(EARLY_WAIT, "early_wait")                                                                              \
    X(LATE_COMPLETE, "late_complete")                                                                        \
    X(LOCK, "lock_contention")

enum fv_wait_state {
    FV_WS_NONE,
#define FV_WAIT_STATE(state, name) FV_WS_##state,
    FV_WAIT_STATES(FV_WAIT_STATE)
#undef FV_WAIT_STATE
        FV_WS_COUNT
};
extern const char *const fv_wait_state_names[FV_WS_COUNT];

/* The end of an operation that nobody is waited for any more: told, but no waiting. */
static inline bool fv_is_completion(unsigned state)
{
    return state == FV_WS_NXN_COMPLETION || state == FV_WS_BARRIER_COMPLETION ||
           state == FV_WS_INIT_COMPLETION;
}

enum fv_step_flags {
    FV_STEP_MORE = 1,   /* no call of its own: another dependency of the call before */
    FV_STEP_KNOWN = 2,  /* the other side was found; the cause_ fields are set */
    FV_STEP_STRICT = 4, /* it waited only if the cause came before the call's end: else it need not have */
    FV_STEP_ALL = 8,    /* all that take part in `instance` depend on each other */
    FV_STEP_PAUSE = 16, /* no call: recording was paused */
    FV_STEP_PROBE = 32, /* MPI_Probe: the receive behind it tells what it waited for */
};

/* 64 bytes. */
struct fv_step {
    uint64_t begin, end; /* ns */
    uint64_t cause_ns;   /* when what the call needs was begun */
    double cost;         /* scratch of the passes over the graph */
    uint32_t site;       /* of struct fv_sites; FV_NONE: the end of the rank, or a pause */
    uint32_t cause_line; /* by whom (of a send also before it is known), ... */
    uint32_t cause_site; /* ... in which call ... */
    uint32_t cause_step; /* ... which is this step of that line */
    uint32_t comm;       /* of a collective operation; FV_NONE */
    uint32_t instance;   /* ... which of them */
    uint32_t part_ns;    /* completion, or a part of the waiting that has a kind of its own */
    uint8_t kind, flags; /* enum fv_wait_state: what it is if the call waited for the cause */
    uint16_t locked;     /* of the time since the call before: for locks of its rank's threads */
};

/* The part of some time before the call that was spent on waiting for locks, at most all of it. */
#define FV_LOCKED 65535u /* all */
static inline uint64_t fv_step_locked(const struct fv_step *s, uint64_t ns)
{
    if (!s->locked)
        return 0;
    return s->locked == FV_LOCKED ? ns : (uint64_t)((double)ns * s->locked / FV_LOCKED + 0.5);
}

/* Waiting for the cause: from the call's begin until the cause, or, if that came too late, its own end. */
static inline uint64_t fv_step_wait(const struct fv_step *s)
{
    if (!(s->flags & FV_STEP_KNOWN) || !s->kind || s->cause_ns <= s->begin ||
        (s->flags & FV_STEP_STRICT && s->cause_ns >= s->end))
        return 0;
    return (s->cause_ns < s->end ? s->cause_ns : s->end) - s->begin;
}

/* ---- where they are ---- */

#define FV_STEPS_A_BLOCK 256

struct fv_line {
    uint32_t rank, slot;         /* index in fv_defs.ranks; thread of it */
    uint32_t process;            /* whose spill file has the steps */
    uint32_t count, block_count; /* of steps; of blocks */
    uint32_t *blocks;            /* where they are in the file, in blocks */
    size_t room;
    uint64_t begin_ns, end_ns; /* of the rank's program; of another thread its first and last event */
};

#define FV_BLOCKS_AN_EXTENT 1024 /* what is mapped at a time: 16 MiB */

struct fv_spill {
    char *path; /* NULL: not open */
    int file;
    struct fv_step **extents;
    size_t extent_count, extent_room, allocated; /* allocated: bytes of the file */
    uint32_t blocks;
};

struct fv_steps {
    struct fv_line *lines;
    uint32_t line_count;
    uint32_t *first_line;   /* by index in fv_defs.ranks; one more at the end */
    struct fv_spill *spill; /* by process */
    int processes, own;
    bool several_hosts; /* the processes are on: what one writes, another sees when it is in the file */
};

void fv_steps_init(struct fv_steps *steps, const struct fv_merge *merge);
/* Collective: makes this process's spill file. The first process opens all. The files have no name any more
 * when it returns. False: logged. */
bool fv_steps_create(struct fv_steps *steps, const struct fv_transport *t, const char *directory);
/* A new step at the end of a line of this process, cleared; its number is count - 1. NULL: no room; logged.
 */
struct fv_step *fv_steps_add(struct fv_steps *steps, uint32_t line);
/* Collective: the first process learns where all steps are, and maps them. False: logged. */
bool fv_steps_gather(struct fv_steps *steps, const struct fv_transport *t);
void fv_steps_release(struct fv_steps *steps);

/* Takes the files' pages out of this process's memory; they come back when they are looked at. */
void fv_steps_forget(const struct fv_steps *steps);

/* A pass over the steps says how many it has looked at, so that never much more than this is resident. */
#define FV_STEPS_RESIDENT (UINT64_C(64) << 20)
struct fv_steps_visit {
    uint64_t bytes;
};
static inline void fv_steps_visited(const struct fv_steps *steps, struct fv_steps_visit *visit,
                                    uint32_t count)
{
    visit->bytes += (uint64_t)count * sizeof(struct fv_step);
    if (FV_UNLIKELY(visit->bytes > FV_STEPS_RESIDENT)) {
        visit->bytes = 0;
        fv_steps_forget(steps);
    }
}

static inline struct fv_step *fv_step(const struct fv_steps *s, uint32_t line, uint32_t number)
{
    const struct fv_line *l = &s->lines[line];
    uint32_t block = l->blocks[number / FV_STEPS_A_BLOCK];

    return s->spill[l->process].extents[block / FV_BLOCKS_AN_EXTENT] +
           (size_t)(block % FV_BLOCKS_AN_EXTENT) * FV_STEPS_A_BLOCK + number % FV_STEPS_A_BLOCK;
}

#endif
