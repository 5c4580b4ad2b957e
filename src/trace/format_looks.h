/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: where each thread was when somebody looked (`fvmpi where`, --hang-after). */
#ifndef FV_FORMAT_LOOKS_H
#define FV_FORMAT_LOOKS_H

#include <stdint.h>

/* How a thread was looked at, or why it was let be. */
enum fv_look_how {
    FV_LOOK_TAKEN = 1,         /* it was interrupted, and unwound itself */
    FV_LOOK_NO_SIGNAL = 2,     /* its process has no signal for that */
    FV_LOOK_STOPPED = 3,       /* it is stopped, by a signal or a debugger */
    FV_LOOK_BLOCKED = 4,       /* it blocks the signal */
    FV_LOOK_UNRESTARTABLE = 5, /* its system call would end with EINTR */
    FV_LOOK_UNSEEN_CALL = 6,   /* its system call cannot be seen */
    FV_LOOK_SILENT = 7,        /* it did not answer in time */
    FV_LOOK_ELSEWHERE = 8,     /* it is on another host */
    FV_LOOK_FOREIGN = 9,       /* it is another user's */
};

/* Numbers of system calls are the processor's. */
#define FV_LOOK_NO_CALL      (-1) /* it runs, or is about to */
#define FV_LOOK_UNKNOWN_CALL (-2)
#define FV_LOOK_FILE         104

/* Of a look: milliseconds since 1970 when it was asked for, times 16, and behind it which of several, from 0. */
#define FV_LOOK_SHIFT 4
#define FV_LOOK_MOST  (1u << FV_LOOK_SHIFT)

/* A thread at one look. Chunks of them are used again: the oldest go first. */
struct fv_look {
    uint64_t look;            /* [hex] which one */
    uint64_t ticks;           /* when the thread answered */
    uint64_t call_begin;      /* [ticks] fv_in_call.begin of the MPI call that it is in; 0: none */
    uint64_t argument[3];     /* [hex] the first ones of its system call */
    uint32_t tid, thread;     /* fv_thread_record.id; FV_NO_THREAD: it called no MPI */
    uint32_t path, call_path; /* PATHS: where it was, innermost one past the instruction; of that MPI call. 0: none */
    int32_t system_call;      /* its number, or one of FV_LOOK_*_CALL */
    uint32_t function;        /* fv_function_record.id of that MPI call */
    uint8_t how;              /* [enum fv_look_how] */
    uint8_t state;            /* a letter, as in proc(5); 0: it ran */
    uint16_t pad;
    uint32_t holder;         /* where that is a wait for a mutex: the thread that has it, its tid. Of another wait
                              * for a futex it may be any number */
    char file[FV_LOOK_FILE]; /* what the system call works on; "": none. Of a long path the end, NUL-padded */
};
_Static_assert(sizeof(struct fv_look) == 184, "on-disk size");

#endif
