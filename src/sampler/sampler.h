/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling whole instances of functions, after FVSampler (Su et al., ICS 2019), without a PMU: a clock sample
 * puts an execution breakpoint on a function's entry; there the trap puts a read-write watchpoint on the
 * stack slot of the return address, which traps when the function returns. For what lasts, and for all where a call
 * does not put the return address on the stack (AArch64), an execution breakpoint where it returns to takes the
 * watchpoint's place: see instances.c. The same clock samples count where CPU time goes.
 *
 * Clock samples alone, without instances, are signalled as SIGPROF: see clock.c.
 *
 * Everything here but begin and end runs in the handler of the signal, of the thread that the struct belongs to:
 * no lock, no allocation, no C library but system calls. Memory is had when the thread begins.
 *
 *     X slot   idle -> armed at a tick -> trap at the entry: the instance is pushed -> idle
 *     RW slot  on the innermost instance; a trap there is its return, or somebody else who looks, or another one that
 *     returns to there
 *
 * Only src/sampler includes this; src/rt sees the row of rt/layers.h. */
#ifndef FV_SAMPLER_H
#define FV_SAMPLER_H

#include "rt/python.h"
#include "rt/thread.h"
#include "sampler/calls.h"
#include "rt/cfi.h"
#include "sampler/perf.h"
#include "sampler/pmu.h"
#include "sampler/step.h"
#include "sampler/record_table.h"
#include "sampler/timer.h"

/* Records of a thread in the rank file, at most; they begin with a page. */
#define FV_SAMPLE_NODES    32768 /* of the call tree: up to 512 KiB */
#define FV_SAMPLE_CONTEXTS 1024  /* functions in their calling contexts: up to 3512 KiB, with events 7624 */
#define FV_SAMPLE_COSTS    16384 /* up to 448 KiB */
#define FV_SAMPLE_DEPTH    200   /* frames of a path */
#define FV_SAMPLE_STEPS    2000  /* frames of the stack that are looked at; those of a recursion are one in the path */
#define FV_KNOWN           1024  /* functions that may be chosen */
#define FV_SEEN            1024  /* frames seen on the stack by ticks, a random sample of all */
#define FV_GAPS            64    /* times between entries that a context keeps */
#define FV_LIVE            64    /* instances being measured */
#define FV_LONG_KNOWN      64    /* functions with long calls whose calls are counted */
#define FV_X_SLOTS \
    3 /* execution breakpoints at entries; the fourth debug register waits for a return. Where the stack
       * is not watched two more are wanted, before \
       * the second and third of these */

/* What is read where an instance begins and ends. */
struct fv_readings {
    uint64_t ticks, cpu_ns;
    uint64_t mpi_ticks, mpi_tool_ticks, mpi_calls, mpi_bytes, faults, switches, migrations;
};

/* An instance being measured; or a call that was joined on its way, by a sample: see long_calls.c. */
struct fv_live_instance {
    uintptr_t slot; /* the stack pointer where it was entered: of the return address, where a call pushes that */
    uintptr_t ret;  /* the return address */
    uintptr_t function;
    struct fv_readings begin;
    uint64_t tool_ticks, tool_ns; /* of the sampler when it began */
    struct fv_pmu_mark pmu;
    uint32_t context;
    uint32_t strays; /* traps of what waits for its return that were not that */
    uint32_t again;  /* entries of its function since */
    bool lasts;      /* a tick found it, or it is of a function whose calls mostly last */
    bool by_return;  /* while it is armed: a breakpoint waits where it returns to, in place of the watchpoint */
    bool near;       /* that is not to be: code is run there meanwhile */
    bool in_window;
    bool joined;
    /* where it was joined: */
    uint32_t known, ticks; /* of s->known; samples that found it */
    uint64_t before_ns;    /* CPU time before the first of these, since the sample before */
};

struct fv_known_function {
    uintptr_t entry;
    uint32_t armed, entered;
    bool fast; /* returns sooner than the window can tell */
    uint16_t contexts;
    uint8_t prompt;   /* of its last calls so many came before the next tick after they were waited for; see slots.c */
    bool recursive;   /* it was seen to be called while it was called */
    uint64_t seen_at; /* tick that found it on the stack */
    /* see long_calls.c */
    uint32_t measured, quick;   /* instances; those of them that are short beside a tick's period ... */
    uint64_t quick_ns, look_ns; /* ... and their CPU time; for how long entries are counted */
    bool hot;                   /* samples were in the cache line of its entry */
    uint32_t refuted;           /* calls that were joined and returned soon */
    uint32_t long_context;      /* + 1, of its first long call; 0: it has none */
    bool given_up;              /* a call lasted for long, and nothing else is known of it */
};

/* Frames of one sample. */
struct fv_walk {
    uintptr_t address[FV_SAMPLE_DEPTH];  /* one past what is meant: return addresses, and the innermost plus one */
    uintptr_t function[FV_SAMPLE_DEPTH]; /* entry of what it is in; 0: it may not be measured */
    uintptr_t slot[FV_SAMPLE_DEPTH];     /* as in struct fv_live_instance; 0: not known */
    uintptr_t ret[FV_SAMPLE_DEPTH];      /* where it returns to */
    bool recursive[FV_SAMPLE_DEPTH];     /* it stands for several frames of one function */
    unsigned count;
    bool cut; /* there were more, or they could not be told */
};

struct fv_x_slot {
    struct fv_event_fd event;
    uintptr_t entry;            /* 0: idle */
    uintptr_t before;           /* function at the beginning of the entry's cache line */
    bool armed;                 /* else it is idle, or rests: see fv_x_settle() */
    uint32_t known, age, skip;  /* skip: entries that are still to be passed over */
    bool skips;                 /* there were some: no choice for the window */
    uint32_t gaps, gap_context; /* gaps > 0: not for an instance, but so many entries, or one in that context */
    bool look;                  /* not for an instance: entries are counted */
    uint32_t entries;           /* so far */
    bool fresh;                 /* armed by this signal, at the end of which the times are taken */
    uint64_t armed_cpu_ns, armed_tool_ns;
};

struct fv_sampler_context {
    uint64_t window_ns;  /* see window.c; 0: too few instances */
    uint64_t refresh_at; /* returns */
    uint32_t known;
    bool hides;               /* its returns are not to be told from others, where the stack is not watched */
    uint32_t gap_count;       /* seen */
    uint64_t gap_ns[FV_GAPS]; /* some of them */
};

/* In a trace. */
enum fv_log { FV_LOG_INSTANCES, FV_LOG_SAMPLES, FV_LOG_EVENTS, FV_TRACE_LOGS };
struct fv_trace_log {
    struct fv_chunk_header *chunk, *next; /* being filled, and what comes then; NULL: none */
    uint64_t count;
};

struct fv_sampler {
    struct fv_thread *thread;
    struct fv_sampler_record *record; /* this and these in the file */
    struct fv_record_table nodes, instances, costs, cost_regions;
    struct fv_record_table computing, long_calls; /* like instances */
    struct fv_record_table recent;                /* likewise */
    struct fv_record_table event_counts;          /* likewise, where events are counted */
    struct fv_record_table events;                /* likewise: of single instances */
    struct fv_trace_log log[FV_TRACE_LOGS];
    struct fv_progress {
        uint64_t useful;   /* calls of MPI before the last tick, but for those that asked in vain; ... */
        uint64_t in_vain;  /* ... and those */
        uint64_t cpu_ns;   /* of the thread at the last tick */
        bool outside;      /* of MPI at the last tick */
        uint64_t all_ns;   /* CPU time of the process, when a window began in which all went in vain; 0: none has */
        uint64_t other_ns; /* ... and of that, what is not known to go in vain */
    } progress;
    uint64_t tick_cpu_ns; /* at the last tick: of the thread, but for ours */
    bool on;              /* events are open */
    bool rehearses;       /* ticks are for us to see what they cost, and count nothing */
    uint64_t random;
    struct fv_wall {
        uint64_t ticks, ns;
    } begin;
    double ns_per_tick;                     /* as known at the last tick; 0: not yet */
    uint64_t tool_ticks, tool_ns;           /* to be subtracted from all that is open */
    uint64_t budget_cpu_ns, budget_tool_ns; /* what they were when the present thread began */
    uint64_t tool_mpi_ticks;                /* of tool_ticks, while the thread was in MPI */
    struct fv_stack_range stack;
    struct fv_event_fd tick, rw;
    bool watches;                         /* the stack can be watched; else there are breakpoints alone: */
    struct fv_event_fd again;             /* where the innermost instance was entered */
    struct fv_event_fd step;              /* see step.h */
    uintptr_t again_at, step_at;          /* where these are armed; 0: they are not */
    uintptr_t passing;                    /* where the thread stands, and has met a breakpoint; 0: at none */
    struct fv_tick_timer timer;           /* in place of tick */
    uint64_t clock_ticks, clock_begin_ns; /* by it, and user time when the first could come */
    bool clock_rests;                     /* of `tick`, as fv_clock_pause() has it */
    struct fv_pmu pmu;
    struct fv_calls calls;
    struct fv_event_fd migration_counter; /* -1: the processors met are counted */
    int cpu;                              /* met last; -1: none yet */
    uint64_t migrations;
    struct fv_x_slot x[FV_X_SLOTS];
    struct fv_live_instance live[FV_LIVE];
    unsigned depth;
    uintptr_t armed; /* the slot of the instance that the watchpoint, or the breakpoint in its place, waits for; 1: of
                      * none any more; 0: it is not armed */
    bool leaves;     /* a function was left without returning, by this thread */
    void *signal_stack; /* ours; not used where the application has one */
    struct fv_walk walk;
    struct fv_python_samples *python;                   /* NULL: the process has no interpreter */
    uintptr_t key[FV_SAMPLE_DEPTH + FV_PYTHON_SAMPLED]; /* of a path with frames of Python, see python_path.c */
    /* calibration: durations go here */
    uint64_t *calibration;
    unsigned calibrated, calibration_room;
    /* the call tree: open addressing by (parent, address) */
    uint32_t node_table[2 * FV_SAMPLE_NODES];
    uintptr_t node_address[FV_SAMPLE_NODES];
    uint16_t node_context[FV_SAMPLE_NODES], node_cost[FV_SAMPLE_NODES]; /* index + 1 */
    uint16_t cost_next[FV_SAMPLE_COSTS]; /* index + 1: the same node within other sections, behind other calls; 0: no
                                          * more */
    struct fv_sampler_context context[FV_SAMPLE_CONTEXTS];
    struct fv_known_function known[FV_KNOWN];
    uint16_t long_known[FV_LONG_KNOWN];
    uint32_t long_count;
    uint16_t known_table[2 * FV_KNOWN]; /* index + 1 */
    uint32_t known_count;
    uint16_t seen[FV_SEEN]; /* indices of known */
    uint64_t frames_seen;
    uintptr_t unknown[16]; /* addresses in objects that the process has not met */
    uint32_t unknown_count;
    struct fv_cfi_cache cfi;
};

extern struct fv_calibration {
    uint64_t trap_ticks, trap_ns, spread_ticks;
} fv_sampler_calibration;

static inline uint64_t fv_sampler_random(struct fv_sampler *s)
{
    s->random += UINT64_C(0x9e3779b97f4a7c15);
    return fv_mix(s->random);
}

/* Is anything sampled here? Is a SIGTRAP a sample, or a trap, of ours? */
bool fv_sampler_samples(void);
bool fv_sampler_sent(const siginfo_t *info);

/* ---- readings.c ---- */

uint64_t fv_cpu_ns(void); /* of the thread */
/* How long a tick of fv_ticks() is: begins to measure it, and measures. */
void fv_wall_begin(struct fv_sampler *s);
void fv_wall_measure(struct fv_sampler *s);
/* Counters of the thread, by itself. */
void fv_readings_open(struct fv_sampler *s);
void fv_readings_close(struct fv_sampler *s);
/* Where is the thread now? Called now and then, for migrations. */
void fv_readings_see_processor(struct fv_sampler *s);
/* All but the clocks, which the caller reads first or last. Here further counters are read. */
void fv_readings_take(struct fv_sampler *s, struct fv_readings *out);
/* The thread's time in MPI at out->ticks, and the sampler's own in it. */
void fv_readings_take_mpi(const struct fv_sampler *s, struct fv_readings *out);

/* ---- instances.c: those that are being measured ---- */

/* Begins one: `entry` are the registers at the first instruction of a function, `known` is its index. The
 * caller fills in what it begins with, and whether it is in the window. It is measured from the next
 * fv_live_watch() on. NULL: it cannot be followed, and is counted. */
struct fv_live_instance *fv_live_push(struct fv_sampler *s, uintptr_t function, uint32_t known,
                                      const struct fv_registers *entry);
/* The watchpoint, or the breakpoint in its place, goes to the innermost. */
void fv_live_watch(struct fv_sampler *s);
/* The innermost will not return, or cannot be followed any more. */
void fv_live_abandon(struct fv_sampler *s);
/* Those whose frames are below the stack pointer are gone. */
void fv_live_pop_gone(struct fv_sampler *s, uintptr_t sp);
/* At a tick, when s->walk is known, before fv_live_watch(): those that it finds last. */
void fv_live_tick(struct fv_sampler *s, uintptr_t pc, uintptr_t sp);
/* A late trap of it: the handler itself may run where the innermost returns to, and meet the breakpoint for ever. A
 * watchpoint, or nothing, in its place. */
void fv_live_on_late(struct fv_sampler *s);
void fv_live_on_late_again(struct fv_sampler *s); /* likewise where it was entered */
/* A trap of the watchpoint; the clocks of `now` are set. */
void fv_live_on_rw(struct fv_sampler *s, const struct fv_registers *r, struct fv_readings *now);
/* The innermost one's function is entered again. True: because it was left. */
bool fv_live_on_again(struct fv_sampler *s, const struct fv_registers *r);
/* A trap of a breakpoint at an entry. The instance that begins; NULL: none. */
struct fv_live_instance *fv_live_on_x(struct fv_sampler *s, unsigned slot, const struct fv_registers *r,
                                      uint64_t now_ns);

/* ---- slots.c: execution breakpoints ---- */

static inline void fv_x_disarm(struct fv_x_slot *x)
{
    fv_perf_disarm(&x->event);
    x->armed = false;
    x->entry = 0;
    x->gaps = 0;
    x->look = false;
}
/* The slot waits for an entry of that function from now on. */
void fv_x_wait(struct fv_sampler *s, struct fv_x_slot *x, uint32_t known);
/* At the end of each signal. A processor may run code several times slower that shares a cache line with an armed
 * breakpoint (AMD's does: it decodes the line anew each time). So breakpoints rest that are in a line of a function
 * that is being measured, mostly at its own entry, where a gap ends. Not if it calls itself: entries would be
 * missed. */
void fv_x_settle(struct fv_sampler *s);
/* It was entered, while it is waited for an instance: how soon tells how often the function is called. */
void fv_x_see_entry(struct fv_sampler *s, struct fv_x_slot *x);

/* A debug exception without the word of which breakpoint it was: some hypervisors lose that at times (DR6 is 0). The
 * kernel then takes it for an instruction that asks for one (int1), and would end the process. Is it known by the place
 * where it came? Then the context goes on behind the breakpoint. */
bool fv_trap_by_place(const struct fv_sampler *s, const siginfo_t *info, ucontext_t *context,
                      struct fv_trap_source *out);
#define FV_LINE(address) ((address) / 64)

/* ---- ticks.c: a sample of the CPU clock ---- */

/* On average, ns. */
static inline uint64_t fv_tick_period(const struct fv_sampler *s)
{
    uint32_t rate = s->record->rate; /* 0 when the file has lost it (bus.c) */

    return 1000000000u / (rate ? rate : 1);
}
void fv_tick(struct fv_sampler *s, const struct fv_registers *r, const struct fv_readings *now);

/* ---- clock.c: ticks without instances ---- */

static inline bool fv_clock_alone(void)
{
    return fv_rt.options.sample == FV_SAMPLE_CLOCK;
}
/* What keeps all threads from it. */
enum fv_sampler_stop fv_clock_refusal(void);
/* By the thread itself, when its handler is set: chooses the rate, and begins. False: no timer could be had. */
bool fv_clock_open(struct fv_sampler *s);
/* In the handler, of the timer: the time to the next tick, if that is not the same always. */
void fv_clock_on_tick(struct fv_sampler *s);
/* By the thread itself: no signal until it goes on. Either twice is once. */
void fv_clock_pause(struct fv_sampler *s);
void fv_clock_resume(struct fv_sampler *s);
bool fv_clock_is_paused(const struct fv_sampler *s);
/* The program may have closed our descriptor, as those do that close all that they know nothing of. */
void fv_clock_renew(struct fv_sampler *s);
/* For good. Any thread. */
void fv_clock_stop(struct fv_sampler *s, enum fv_sampler_stop why);
/* The calling thread's, if its clock has begun; NULL. */
struct fv_sampler *fv_sampler_ticking(void);
/* Ours, and what is enough for the handler. */
stack_t fv_signal_stack(const struct fv_sampler *s);
size_t fv_signal_stack_least(void);

/* ---- long_calls.c: of functions that mostly return soon ---- */

/* An instance took so long. */
void fv_long_learn(struct fv_sampler *s, uint32_t known, uint64_t cpu_ns);
/* Do most calls last for a good part of the time between two ticks? */
bool fv_long_is_usual(const struct fv_known_function *known);
/* At a tick: of calls that were joined before. */
void fv_long_tick(struct fv_sampler *s);
/* Of each frame of a function that may be chosen, innermost first; so much CPU time after the tick before. */
void fv_long_see(struct fv_sampler *s, unsigned frame, uint32_t known, const struct fv_readings *now,
                 uint64_t since_tick_ns, bool in_budget);
/* A call that was joined. */
void fv_long_returned(struct fv_sampler *s, const struct fv_live_instance *live, const struct fv_registers *r,
                      const struct fv_readings *end);
/* At a tick, when breakpoints are armed: entries are counted, of one that has long calls. And an entry, so long after
 * it. */
void fv_look_begin(struct fv_sampler *s, uint64_t cpu_ns);
void fv_look_entry(struct fv_sampler *s, struct fv_x_slot *x, uint64_t since_ns);

/* ---- calibrate.c ---- */

/* By the thread itself, while it is sampled: sets fv_sampler_calibration. False: breakpoints are granted, and none
 * traps. */
bool fv_calibrate(struct fv_sampler *s);

/* ---- window.c: which instances were chosen without bias ---- */

/* CPU time since the slot was armed, less what the sampler took itself. */
uint64_t fv_since_armed(const struct fv_sampler *s, const struct fv_x_slot *x, uint64_t now_ns);
/* Was the slot armed, by a tick, close enough before this entry? */
bool fv_window_holds(const struct fv_sampler *s, const struct fv_x_slot *x, uint32_t context, uint64_t now_ns);
/* After returns: the window anew, now and then. */
void fv_window_refresh(struct fv_sampler *s, uint32_t context);
/* At an instance's entry: is the slot to stay armed, to see when the next comes? */
bool fv_gap_begin(struct fv_sampler *s, struct fv_x_slot *x, uint32_t context);
/* An entry at a slot that was left so. */
void fv_gap_end(struct fv_sampler *s, struct fv_x_slot *x, const struct fv_registers *entry, uint64_t now_ns);

/* ---- trace_log.c ---- */

/* Room for what the trace gets first. Not from a signal handler. */
void fv_trace_log_prepare(struct fv_sampler *s);
/* An instance that has ended: into the trace, if there is one. */
void fv_instance_log_add(struct fv_sampler *s, const struct fv_live_instance *live, uint64_t end, uint64_t cpu_ns,
                         const uint64_t counts[FV_METRIC_EVENTS]);
/* A tick, likewise: the node of its call path, and CPU time since the one before. */
void fv_sample_log_add(struct fv_sampler *s, uint32_t path, uint64_t ticks, uint64_t cpu_ns);

/* ---- python_path.c ---- */

/* The node of s->walk with frames of Python in place of their interpreter's, if there are any; 0: no room. */
uint32_t fv_walk_intern_sample(struct fv_sampler *s);
/* A frame of Python among addresses: no address of the application is so high. */
#define FV_PYTHON_KEY ((uintptr_t)1 << 63)
static inline uintptr_t fv_python_key(const struct fv_python_frame *f)
{
    return FV_PYTHON_KEY | (uintptr_t)f->module << 24 | (f->line < 1u << 24 ? f->line : 0);
}
static inline uint32_t fv_python_key_module(uintptr_t key, uint64_t *line)
{
    *line = key & ((1u << 24) - 1);
    return (uint32_t)(key >> 24);
}

/* ---- contexts.c: tables of the thread ---- */

bool fv_tables_init(struct fv_sampler *s);
/* Unwinds from registers, innermost first. */
void fv_walk(struct fv_sampler *s, const struct fv_registers *registers);
/* The node of s->walk from frame `first` outwards; 0: no room. */
uint32_t fv_walk_intern(struct fv_sampler *s, unsigned first);
/* The node of such a frame below another; 0: no room. Address 0: the frames outside of here are not known. */
uint32_t fv_walk_child(struct fv_sampler *s, uint32_t parent, uintptr_t address);
/* The same of a function that has returned to where s->walk stands: as of its instances. */
uint32_t fv_walk_intern_returned(struct fv_sampler *s, uintptr_t function);
/* The context of an instance of the function that s->walk stands at the entry of; FV_SAMPLE_CONTEXTS: no
 * room. */
uint32_t fv_context_find(struct fv_sampler *s, uint32_t node, uint32_t known);
/* The same, if there is one. */
uint32_t fv_context_known(const struct fv_sampler *s, uint32_t node);
struct fv_instances *fv_context_record(struct fv_sampler *s, uint32_t context);
struct fv_instance_computing *fv_context_computing(struct fv_sampler *s, uint32_t context);
struct fv_long_calls *fv_context_long(struct fv_sampler *s, uint32_t context);
/* NULL: no events are counted. */
struct fv_event_counts *fv_context_events(struct fv_sampler *s, uint32_t context);
struct fv_instance_events *fv_context_event_values(struct fv_sampler *s, uint32_t context); /* likewise */
struct fv_recent_instances *fv_context_recent(struct fv_sampler *s, uint32_t context);
void fv_cost_add(struct fv_sampler *s, uint32_t node, bool in_mpi);
/* Index of a function that may be chosen; FV_KNOWN: no room. */
uint32_t fv_known_find(struct fv_sampler *s, uintptr_t entry);
/* CPU time outside of MPI from begin to end of what was measured. */
uint64_t fv_live_computing_ns(const struct fv_sampler *s, const struct fv_live_instance *live,
                              const struct fv_readings *end);
/* A measured instance. Returns its CPU time, ns. */
uint64_t fv_context_add(struct fv_sampler *s, const struct fv_live_instance *live, const struct fv_readings *end);
/* May the handler trap there? Not in what it uses itself. */
bool fv_exclude_init(void); /* false: we are linked into the program, and cannot tell ourselves from it */
bool fv_excluded(const struct fv_cfi_row *row);
/* May a breakpoint wait where a call returns to? */
bool fv_may_wait_at(struct fv_sampler *s, uintptr_t ret);
/* Can a return to there be told? */
bool fv_can_follow(struct fv_sampler *s, uintptr_t ret);

#endif
