/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each thread of a run was when somebody looked, several times in a row (`fvmpi where`, --hang-after): by what
 * the threads themselves wrote into the rank files, and what was seen of those that were not interrupted. Of ranks that
 * were not looked at at all, the call of MPI that they are in.
 *
 * Only the looks that were asked for last count. */
#ifndef FV_PROFILE_LOOKS_H
#define FV_PROFILE_LOOKS_H

#include "profile/model.h"
#include "trace/format_looks.h"

/* What became of a thread: enum fv_look_how, and of ranks that were not looked at: */
#define FV_LOOKED_HOWS(X)                                                                                          \
    X(TAKEN, FV_LOOK_TAKEN, "looked_at", NULL)                                                                     \
    X(NO_SIGNAL, FV_LOOK_NO_SIGNAL, "no_signal", "its process has no signal free for it")                          \
    X(STOPPED, FV_LOOK_STOPPED, "stopped", "it is stopped")                                                        \
    X(BLOCKED, FV_LOOK_BLOCKED, "blocked", "it blocks the signal")                                                 \
    X(UNRESTARTABLE, FV_LOOK_UNRESTARTABLE, "unrestartable", "its system call would fail")                         \
    X(UNSEEN_CALL, FV_LOOK_UNSEEN_CALL, "unseen_call", "its system call cannot be seen from here, and might fail") \
    X(SILENT, FV_LOOK_SILENT, "silent", "it did not answer")                                                       \
    X(ELSEWHERE, FV_LOOK_ELSEWHERE, "elsewhere", "it is on another host")                                          \
    X(FOREIGN, FV_LOOK_FOREIGN, "foreign", "it is another user's")                                                 \
    X(DEAD, 32, "dead", "it was killed")                                                                           \
    X(UNTOLD, 34, "untold", "the reason was not recorded")                                                         \
    X(ENDED, 33, "ended", NULL)
#define FV_LOOKED_HOW(name, number, word, why) FV_LOOKED_##name = (number),
enum fv_looked_how { FV_LOOKED_HOWS(FV_LOOKED_HOW) };
const char *fv_looked_name(enum fv_looked_how how);
/* Why it was not interrupted; NULL: it was. */
const char *fv_looked_why(enum fv_looked_how how);

/* A thread. */
struct fv_looks_thread {
    uint32_t rank, thread, tid; /* thread: fv_thread_view.id; FV_NONE: it called no MPI. tid 0: not looked at */
    bool is_main;
    uint8_t how;          /* enum fv_looked_how, in the last look */
    char state;           /* a letter, as in proc(5); 0: not known */
    uint32_t looks;       /* that met it */
    uint32_t first_place; /* its part of fv_looks.places: where it was, look by look, ... */
    uint32_t places;      /* ... as often as it answered; those on one line of the source are one ... */
    uint32_t different;   /* ... but here: different ones, by the instruction */
    uint32_t calls;       /* different calls of MPI that it was met in, or none */
    uint32_t node;        /* where it was at last, of a call of MPI the call's place; 0: not known */
    const char *function; /* that call of MPI; NULL: it was in none */
    int32_t system_call;  /* as in struct fv_look */
    uint32_t holder;      /* likewise; 0: none of the process's threads */
    const char *file;     /* NULL: none */
};
struct fv_looks {
    uint64_t request;              /* fv_look.look of the first look; 0: nobody looked */
    double at_s;                   /* of the last look that a thread answered; NAN: none did */
    uint32_t looks;                /* that were taken */
    struct fv_looks_thread *items; /* by rank, the main thread first, then by tid */
    size_t count, room;
    uint32_t *places; /* nodes */
    size_t place_count, place_room;
};
void fv_looks_release(void *data);

/* What was seen from outside: the caller's. */
struct fv_seen_look {
    int world_rank;
    struct fv_look look; /* `ticks` 0 */
};
struct fv_seen_looks {
    uint64_t request;
    struct fv_seen_look *items;
    size_t count, room;
    bool or_newer; /* looks that somebody asked for later count in their place */
};

FV_SUBJECT_DATA(struct fv_looks, looks, looks)

/* Has the rank's main thread begun or ended a call of MPI since the last look, so that it is not where it was then?
 * Not asked of one that asks in vain. */
bool fv_looks_are_past(const struct fv_model *model, uint32_t rank);

#endif
