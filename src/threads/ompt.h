/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of OMPT that ompt.c uses, by which OpenMP's run-time libraries tell a tool what they do: written from
 * the OpenMP API Specification 5.2, chapter 19 (OMPT Interface), since GCC has no omp-tools.h, whose names a
 * program may have. Numbers are the specification's; those of 5.0 that later ones have replaced are here, too. */
#ifndef FV_OMPT_H
#define FV_OMPT_H

#include "base/base.h"

/* What a tool keeps with a region or task; the runtime's memory, zero at first. */
union fv_ompt_data {
    uint64_t value;
    void *ptr;
};

/* exit: NULL unless the task is in the program's code, or was left from there. */
struct fv_ompt_frame {
    union fv_ompt_data exit, enter;
    int exit_flags, enter_flags;
};

enum fv_ompt_endpoint { FV_OMPT_BEGIN = 1, FV_OMPT_END = 2, FV_OMPT_BEGINEND = 3 };

/* Of a parallel region, as bits. */
#define FV_OMPT_LEAGUE 0x40000000 /* a teams construct */

/* Of a task, as bits. */
#define FV_OMPT_INITIAL    0x00000001
#define FV_OMPT_EXPLICIT   0x00000004
#define FV_OMPT_TASKWAITS  0x00000010 /* it is one, with dependences */
#define FV_OMPT_UNDEFERRED 0x08000000

/* Why a task is left for another one. */
enum fv_ompt_status {
    FV_OMPT_COMPLETE = 1,
    FV_OMPT_YIELD = 2,
    FV_OMPT_CANCEL = 3,
    FV_OMPT_DETACH = 4,
    FV_OMPT_SWITCH = 7,
    FV_OMPT_TASKWAIT_COMPLETE = 8,
};

enum fv_ompt_sync {
    FV_OMPT_BARRIER = 1,          /* 5.0 */
    FV_OMPT_BARRIER_IMPLICIT = 2, /* 5.0: of worksharing, or at a region's end */
    FV_OMPT_BARRIER_EXPLICIT = 3,
    FV_OMPT_BARRIER_IMPLEMENTATION = 4,
    FV_OMPT_TASKWAIT = 5,
    FV_OMPT_TASKGROUP = 6,
    FV_OMPT_REDUCTION = 7,
    FV_OMPT_BARRIER_WORKSHARE = 8,
    FV_OMPT_BARRIER_PARALLEL = 9, /* at a region's end */
    FV_OMPT_BARRIER_TEAMS = 10,
};

enum fv_ompt_mutex {
    FV_OMPT_LOCK = 1,
    FV_OMPT_TEST_LOCK = 2,
    FV_OMPT_NEST_LOCK = 3,
    FV_OMPT_TEST_NEST_LOCK = 4,
    FV_OMPT_CRITICAL = 5,
    FV_OMPT_ATOMIC = 6,
    FV_OMPT_ORDERED = 7,
};

enum fv_ompt_work {
    FV_OMPT_WORK_LOOP = 1,
    FV_OMPT_WORK_SECTIONS = 2,
    FV_OMPT_WORK_SINGLE = 3,       /* by the thread that does it, ... */
    FV_OMPT_WORK_SINGLE_OTHER = 4, /* ... by another one */
    FV_OMPT_WORK_WORKSHARE = 5,
    FV_OMPT_WORK_DISTRIBUTE = 6,
    FV_OMPT_WORK_TASKLOOP = 7,
    FV_OMPT_WORK_SCOPE = 8,
    FV_OMPT_WORK_LOOP_STATIC = 10, /* 5.2: loops by their schedules, ... */
    FV_OMPT_WORK_LOOP_OTHER = 13,  /* ... to this one */
};

enum fv_ompt_target {
    FV_OMPT_TARGET = 1, /* a region; 2 to 4: directives that move data; from 9 on likewise with nowait */
    FV_OMPT_TARGET_NOWAIT = 9,
    FV_OMPT_TARGET_LAST = 12,
};

/* What is called when, with which parameters: X(event, number, parameters). */
#define FV_OMPT_EVENTS(X)                                                                                            \
    X(thread_begin, 1, (int kind, union fv_ompt_data *thread))                                                       \
    X(parallel_begin, 3,                                                                                             \
      (union fv_ompt_data * task, const struct fv_ompt_frame *frame, union fv_ompt_data *parallel, unsigned threads, \
       int flags, const void *from))                                                                                 \
    X(parallel_end, 4, (union fv_ompt_data * parallel, union fv_ompt_data * task, int flags, const void *from))      \
    X(task_create, 5,                                                                                                \
      (union fv_ompt_data * task, const struct fv_ompt_frame *frame, union fv_ompt_data *created, int flags,         \
       int depends, const void *from))                                                                               \
    X(task_schedule, 6, (union fv_ompt_data * prior, int status, union fv_ompt_data *next))                          \
    X(implicit_task, 7,                                                                                              \
      (int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, unsigned threads, unsigned number,      \
       int flags))                                                                                                   \
    X(sync_region_wait, 16,                                                                                          \
      (int kind, int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, const void *from))            \
    X(work, 20,                                                                                                      \
      (int kind, int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, uint64_t count,               \
       const void *from))                                                                                            \
    X(masked, 21, (int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, const void *from))          \
    X(sync_region, 23,                                                                                               \
      (int kind, int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, const void *from))            \
    X(lock_init, 24, (int kind, unsigned hint, unsigned how, uint64_t mutex, const void *from))                      \
    X(lock_destroy, 25, (int kind, uint64_t mutex, const void *from))                                                \
    X(mutex_acquire, 26, (int kind, unsigned hint, unsigned how, uint64_t mutex, const void *from))                  \
    X(mutex_acquired, 27, (int kind, uint64_t mutex, const void *from))

typedef void fv_ompt_function(void);
typedef fv_ompt_function *fv_ompt_lookup(const char *name);
/* Answers of the runtime's ompt_set_callback(): above 2 the event is told, some times or always. */
typedef int fv_ompt_set(int event, fv_ompt_function *callback);
typedef int fv_ompt_task_info(int ancestor, int *flags, union fv_ompt_data **task, struct fv_ompt_frame **frame,
                              union fv_ompt_data **parallel, int *thread);
typedef int fv_ompt_parallel_info(int ancestor, union fv_ompt_data **parallel, int *team_size);

/* Of target regions a runtime is asked for one of two events: 5.0 has the first alone. */
#define FV_OMPT_ON_TARGET     8
#define FV_OMPT_ON_TARGET_EMI 33
typedef void fv_ompt_on_target(int kind, int endpoint, int device, union fv_ompt_data *task, uint64_t id,
                               const void *from);
typedef void fv_ompt_on_target_emi(int kind, int endpoint, int device, union fv_ompt_data *task,
                                   union fv_ompt_data *target_task, union fv_ompt_data *target, const void *from);

struct fv_ompt_tool {
    int (*initialize)(fv_ompt_lookup *lookup, int device, union fv_ompt_data *tool); /* 0: no tool any more */
    void (*finalize)(union fv_ompt_data *tool);
    union fv_ompt_data data;
};
typedef struct fv_ompt_tool *fv_ompt_start(unsigned version, const char *runtime);
FV_PUBLIC struct fv_ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

#endif
