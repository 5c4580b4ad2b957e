/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a run as the analysis sees them: one step for each call of each thread, in order of time, and
 * what the call had to wait for. A process keeps the steps of its own ranks: in memory as far as it may, the
 * others in a spill file without a name; what others need of them they are told.
 *
 * A line is what one thread did: lines are numbered by (rank, thread), over all ranks of the run. */
#ifndef FV_STEPS_H
#define FV_STEPS_H

#include "merge/merge.h"

/* Kinds of waiting, with their names in analysis.json, where each is described: share/analysis.md. */
#define FV_WAIT_STATES(X)                       \
    X(LATE_SENDER, "late_sender")               \
    X(WRONG_ORDER, "late_sender_wrong_order")   \
    X(LATE_RECEIVER, "late_receiver")           \
    X(NXN, "wait_at_nxn")                       \
    X(NXN_COMPLETION, "nxn_completion")         \
    X(BARRIER, "wait_at_barrier")               \
    X(BARRIER_COMPLETION, "barrier_completion") \
    X(LATE_BROADCAST, "late_broadcast")         \
    X(EARLY_REDUCE, "early_reduce")             \
    X(LATE_REDUCE, "late_reduce")               \
    X(LATE_TAKER, "late_taker")                 \
    X(EARLY_SCAN, "early_scan")                 \
    X(CREATE, "wait_at_create")                 \
    X(INIT, "wait_at_init")                     \
    X(INIT_COMPLETION, "init_completion")       \
    X(FINALIZE, "wait_at_finalize")             \
    X(IO, "wait_at_io")                         \
    X(FENCE, "wait_at_fence")                   \
    X(LATE_POST, "late_post")                   \
    X(EARLY_WAIT, "early_wait")                 \
    X(LATE_COMPLETE, "late_complete")           \
    X(NO_PROGRESS, "no_progress")               \
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
    return state == FV_WS_NXN_COMPLETION || state == FV_WS_BARRIER_COMPLETION || state == FV_WS_INIT_COMPLETION;
}

/* Kinds that follow from a rule that may fail. */
static inline bool fv_is_estimate(unsigned state)
{
    return state == FV_WS_NO_PROGRESS || state == FV_WS_LATE_TAKER;
}

enum fv_step_flags {
    FV_STEP_MORE = 1,      /* no call of its own: another dependency of the call before */
    FV_STEP_KNOWN = 2,     /* the other side was found; the cause_ fields are set */
    FV_STEP_STRICT = 4,    /* it waited only if the cause came before the call's end: else it need not have */
    FV_STEP_ALL = 8,       /* all that take part in `instance` depend on each other */
    FV_STEP_PAUSE = 16,    /* no call: recording was paused */
    FV_STEP_PROBE = 32,    /* MPI_Probe: the receive behind it tells what it waited for */
    FV_STEP_IDEAL = 64,    /* it begins when it would in the ideal network (graph.h) */
    FV_STEP_SAMPLED = 128, /* samples of the CPU clock were taken between the call before and this one: samples.h */
};

/* Times are ns. What few steps have is in a detail: see below. */
struct fv_step {
    uint64_t begin : 52, size : 4, flags : 8; /* size: of the message, see fv_step_size_of() */
    int64_t cause_after : 40; /* when what the call needs was begun, after its own begin; see fv_step_cause() */
    uint64_t site : 24;       /* of struct fv_sites; see fv_step_site() */
    uint32_t length : 31, has_detail : 1; /* length: of the call; or, number of the detail; see fv_step_length() */
    uint32_t cause_line;                  /* by whom (of a send also before it is known), ... */
    uint32_t cause_step;                  /* ... which is this step of that line, ... */
    uint32_t cause_site : 24, kind : 7;   /* ... in which call; enum fv_wait_state: what it is if the call waited for
                                           * it */
    uint32_t withheld : 1;                /* the cause is the call in which who had to take part came back to MPI:
                                           * progress.h */
};

struct fv_step_detail {
    uint64_t length;
    int64_t cause_after;
    uint32_t comm;     /* of an operation of all; FV_NONE: of the whole run */
    uint32_t instance; /* ... which of them */
    uint32_t part_ns;  /* completion, or a part of the waiting that has a kind of its own; withheld: number of the
                        * fv_step_post */
    uint16_t locked;   /* of the time since the call before: for locks of its rank's threads */
};

/* Who posted what the call needs, and when, after its begin; line FV_NONE: not known. Of a step that is not withheld
 * that is its cause. */
struct fv_step_post {
    int64_t after;
    uint32_t line, step, site;
};

#define FV_STEP_TIME_MAX ((UINT64_C(1) << 52) - 1) /* 52 days */
#define FV_STEP_NO_SITE  0xffffffu                 /* the end of the rank, or a pause; so many sites there may be */

/* Times of damaged traces may not fit. */
static inline uint64_t fv_step_time(uint64_t ns)
{
    return ns < FV_STEP_TIME_MAX ? ns : FV_STEP_TIME_MAX;
}

/* Classes of sizes of messages: below 1 KiB, then each twice the one before; 16 MiB and more. */
#define FV_STEP_SIZES 16
static inline unsigned fv_step_size_of(uint64_t bytes)
{
    unsigned class = bytes < 1024 ? 0 : (unsigned)(63 - __builtin_clzll(bytes)) - 9;

    return class < FV_STEP_SIZES ? class : FV_STEP_SIZES - 1;
}

static inline void fv_step_set_size(struct fv_step *s, unsigned class)
{
    s->size = class & (FV_STEP_SIZES - 1);
}

static inline uint32_t fv_step_site_of(uint32_t in_step)
{
    return in_step == FV_STEP_NO_SITE ? FV_NONE : in_step;
}

static inline uint32_t fv_step_site(const struct fv_step *s)
{
    return fv_step_site_of(s->site);
}

/* ---- where they are ---- */

#define FV_STEPS_A_BLOCK 256

struct fv_step_line {
    uint32_t rank, slot;         /* index in fv_defs.ranks; thread of it */
    uint32_t process;            /* that has the steps */
    uint32_t count, block_count; /* of steps (in the first process: of all lines); of blocks */
    struct fv_step **blocks;     /* where they are: extents do not move */
    size_t room;
    uint64_t begin_ns, end_ns; /* of the rank's program; of another thread its first and last event */
};

#define FV_BLOCKS_AN_EXTENT 1024 /* what is mapped at a time: 8 MiB */

struct fv_spill {
    char *path; /* for messages */
    int file;   /* -1: not open */
    struct fv_step **extents;
    size_t extent_count, extent_room, in_memory; /* in_memory: so many extents are not in the file */
    size_t allocated;                            /* bytes of all */
    uint32_t blocks;
};

struct fv_steps {
    struct fv_step_line *lines; /* one more: the details, in place of steps; and so many more: their samples */
    uint32_t line_count;
    uint32_t *first_line; /* by index in fv_defs.ranks; one more at the end */
    struct fv_spill spill;
    uint64_t resident, *visited; /* bytes of the file: that may be in memory; that were looked at */
    uint32_t processes, own;
    bool failed; /* no room, or no file: logged once. No step is added any more */
};

void fv_steps_init(struct fv_steps *steps, const struct fv_merge *merge);
/* Collective: makes this process's spill file. memory: bytes that the steps may take of it. False: logged. */
bool fv_steps_create(struct fv_steps *steps, const struct fv_transport *t, const char *directory, uint64_t memory);
/* A new step at the end of a line of this process, cleared; its number is count - 1. NULL: failed. */
struct fv_step *fv_steps_add(struct fv_steps *steps, uint32_t line);
/* Collective: the first process learns when lines began and ended, and how many steps they have. */
void fv_steps_gather(struct fv_steps *steps, const struct fv_transport *t);
void fv_steps_release(struct fv_steps *steps);

/* Takes the file's pages out of this process's memory; they come back when they are looked at. */
void fv_steps_forget(const struct fv_steps *steps);

/* A pass over the steps says how many it has looked at, so that not much more of them is resident than may
 * be. */
static inline void fv_steps_visited(const struct fv_steps *steps, uint32_t count)
{
    *steps->visited += (uint64_t)count * sizeof(struct fv_step);
    if (FV_UNLIKELY(*steps->visited > steps->resident))
        fv_steps_forget(steps);
}

static inline bool fv_steps_are_own(const struct fv_steps *s, uint32_t line)
{
    return s->lines[line].process == s->own;
}

/* Of a line of this process. */
static inline struct fv_step *fv_step(const struct fv_steps *s, uint32_t line, uint32_t number)
{
    return s->lines[line].blocks[number / FV_STEPS_A_BLOCK] + number % FV_STEPS_A_BLOCK;
}

/* The steps from `first` on that are of the same call end before this one; and the call's first step before
 * `number`. */
static inline uint32_t fv_call_behind(const struct fv_steps *s, uint32_t line, uint32_t first)
{
    do
        first++;
    while (first < s->lines[line].count && fv_step(s, line, first)->flags & FV_STEP_MORE);
    return first;
}

static inline uint32_t fv_call_before(const struct fv_steps *s, uint32_t line, uint32_t number)
{
    do
        number--;
    while (number && fv_step(s, line, number)->flags & FV_STEP_MORE);
    return number;
}

/* ---- what is in a step or in its detail ---- */

static inline struct fv_step_detail *fv_step_detail(const struct fv_steps *steps, const struct fv_step *s)
{
    return (struct fv_step_detail *)(void *)fv_step(steps, steps->line_count, s->length);
}

/* A detail, made if there is none. NULL: failed, which steps->failed says; what was to be kept is lost. */
struct fv_step_detail *fv_step_need_detail(struct fv_steps *steps, struct fv_step *s);
void fv_step_set_length(struct fv_steps *steps, struct fv_step *s, uint64_t ns);
/* When what the call needs was begun. */
void fv_step_set_cause(struct fv_steps *steps, struct fv_step *s, uint64_t ns);

static inline uint64_t fv_step_length(const struct fv_steps *steps, const struct fv_step *s)
{
    return FV_UNLIKELY(s->has_detail) ? fv_step_detail(steps, s)->length : s->length;
}

static inline uint64_t fv_step_end(const struct fv_steps *steps, const struct fv_step *s)
{
    return s->begin + fv_step_length(steps, s);
}

/* When the call before ended, or the line began. */
static inline uint64_t fv_step_end_before(const struct fv_steps *s, uint32_t line, uint32_t number)
{
    return number ? fv_step_end(s, fv_step(s, line, number - 1)) : s->lines[line].begin_ns;
}

static inline int64_t fv_step_cause_after(const struct fv_steps *steps, const struct fv_step *s)
{
    return FV_UNLIKELY(s->has_detail) ? fv_step_detail(steps, s)->cause_after : s->cause_after;
}

static inline uint64_t fv_step_cause(const struct fv_steps *steps, const struct fv_step *s)
{
    return s->begin + (uint64_t)fv_step_cause_after(steps, s);
}

static inline struct fv_step_post fv_step_post(const struct fv_steps *steps, const struct fv_step *s)
{
    if (FV_UNLIKELY(s->withheld))
        return *(const struct fv_step_post *)(const void *)fv_step(steps, steps->line_count,
                                                                   fv_step_detail(steps, s)->part_ns);
    return (struct fv_step_post){ fv_step_cause_after(steps, s), s->cause_line, s->cause_step, s->cause_site };
}

/* Since when the call was waiting for what was posted by then, as far as that is known. */
static inline uint64_t fv_step_ready(const struct fv_steps *steps, const struct fv_step *s)
{
    int64_t after = s->flags & FV_STEP_KNOWN ? fv_step_cause_after(steps, s) : 0;

    return s->begin + (uint64_t)(after > 0 ? after : 0);
}

/* Then the cause is who came back to MPI: progress.h. */
void fv_step_withhold(struct fv_steps *steps, struct fv_step *s, uint64_t back_ns, uint32_t line, uint32_t step,
                      uint32_t site);

/* What most of its waiting is. */
static inline unsigned fv_step_main_kind(const struct fv_steps *steps, const struct fv_step *s)
{
    return !s->withheld || fv_step_post(steps, s).after > fv_step_cause_after(steps, s) / 2
               ? s->kind
               : (unsigned)FV_WS_NO_PROGRESS;
}

static inline uint32_t fv_step_part(const struct fv_steps *steps, const struct fv_step *s)
{
    return s->has_detail && s->flags & FV_STEP_KNOWN && !s->withheld ? fv_step_detail(steps, s)->part_ns : 0;
}

#define FV_LOCKED 65535u /* all */
static inline uint64_t fv_locked_part(uint16_t locked, uint64_t ns)
{
    return locked == FV_LOCKED ? ns : (uint64_t)((double)ns * locked / FV_LOCKED + 0.5);
}

/* The part of some time before the call that was spent on waiting for locks, at most all of it. */
static inline uint64_t fv_step_locked(const struct fv_steps *steps, const struct fv_step *s, uint64_t ns)
{
    return FV_UNLIKELY(s->has_detail) ? fv_locked_part(fv_step_detail(steps, s)->locked, ns) : 0;
}

/* Waiting for the cause: from the call's begin until the cause, or, if that came too late, its own end. */
static inline uint64_t fv_step_wait(const struct fv_steps *steps, const struct fv_step *s)
{
    int64_t after;

    if (!(s->flags & FV_STEP_KNOWN) || !s->kind || (after = fv_step_cause_after(steps, s)) <= 0)
        return 0;
    uint64_t length = fv_step_length(steps, s);
    if ((uint64_t)after >= length && s->flags & FV_STEP_STRICT)
        return 0;
    return (uint64_t)after < length ? (uint64_t)after : length;
}

#endif
