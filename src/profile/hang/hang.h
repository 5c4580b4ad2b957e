/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for whom in a run that hangs or was killed, from where each rank was last seen: a pure function
 * of the model.
 *
 * A rank waits for one list of ranks: for all of them, as those who have come to a barrier do for those who
 * have not, or for any of them, as a receive from MPI_ANY_SOURCE does. Of an MPI_Waitall it is not known what
 * has completed already, so it counts as waiting for any. A rank can go on if it is not waiting, if it waits
 * in a way that was not recorded, or if those on its list can: the least fixed point of that leaves the ranks
 * that no rank can free (the AND-OR model; Hilbrich et al., "A graph based approach for MPI deadlock
 * detection", ICS 2009). So what is called stuck is stuck, if only the messages that were sent had arrived: a
 * snapshot does not show them. Where the ranks had been waiting for a second or more, they had.
 *
 * Lists are shared: 100,000 ranks in a barrier are one list and a number each. */
#ifndef FV_HANG_H
#define FV_HANG_H

#include "profile/model.h"

#define FV_HANG_STATES(X)                                                                      \
    X(ACTIVE, "active")   /* outside of MPI */                                                 \
    X(WAITS, "waits")     /* for its list */                                                   \
    X(MATCHED, "matched") /* in a call that those it needs have come to: data are under way */ \
    X(RECENT, "recent")   /* of a job that runs: in a call for less than a second */           \
    X(UNTOLD, "untold")   /* in a call, and what it waits for was not recorded */              \
    X(ASKS, "asks")       /* it polls, for FV_HANG_ASKS_S or longer in vain */                 \
    X(ENDED, "ended")     /* finalized, or exited */                                           \
    X(STOPPED, "stopped") /* not let run, by a signal or a debugger, where it does not wait */ \
    X(DEAD, "dead")       /* killed, and others run on */
#define FV_HANG_STATE(name, word) FV_HANG_##name,
enum fv_hang_state { FV_HANG_STATES(FV_HANG_STATE) };
const char *fv_hang_state_name(enum fv_hang_state state);

struct fv_hang_list {
    uint32_t first, count; /* in fv_hang.targets: indices of ranks */
    bool any;              /* one of them is enough; else all are needed */
    bool open;             /* and there are others, of whom nothing is known */
};
struct fv_hang_rank {
    enum fv_hang_state state;
    uint32_t list;    /* if it waits */
    uint32_t cycle;   /* FV_NONE: in none */
    uint32_t direct;  /* ranks that have it on their list */
    uint32_t missing; /* it waits for ranks of which there is no rank file: 1 + the world rank, FV_HANG_SOME: one of
                       * several; 0: for none */
    bool stuck;
    bool other_threads; /* its main thread waits, but others are not in MPI */
};
/* Ranks that wait for each other: order[0] for order[1], and so on, the last for order[0]. `count` ranks
 * depend on each other, of which these are a shortest cycle. */
struct fv_hang_cycle {
    uint32_t *order;
    uint32_t length, count;
    bool lasting;     /* they had been there for a second or more */
    uint32_t culprit; /* of `order`: who is in a call that fewest ranks are in, as in a receive that nobody sends to
                       * while the others have come to a collective; FV_NONE: the order is not known */
};
/* Ranks that do not go on together: they are the reason for others to wait, and do not wait themselves. */
struct fv_hang_cause {
    enum fv_hang_state state;
    uint32_t *ranks;
    uint32_t count, waiting; /* waiting: ranks that wait for them, directly or through others: */
    uint32_t first_waiting;
};
/* Members of a communicator whose calls do not fit together. */
struct fv_hang_mismatch {
    uint32_t comm;
    uint64_t sequence;
    uint32_t a, b;
    bool roots;       /* the same function with different roots */
    uint32_t culprit; /* a or b: whose call fewer are in */
};
struct fv_hang {
    struct fv_hang_rank *ranks; /* as fv_model.ranks */
    uint32_t rank_count, waiting, stuck;
    struct fv_hang_list *lists;
    size_t list_count, list_room;
    uint32_t *targets;
    size_t target_count, target_room;
    struct fv_hang_cycle *cycles; /* of the first 64 the order is known */
    size_t cycle_count, cycle_room;
    struct fv_hang_cause *causes; /* most waiting ranks first; at most one of each state */
    size_t cause_count, cause_room;
    struct fv_hang_mismatch *mismatches;
    size_t mismatch_count, mismatch_room;
    bool lasting;    /* those who wait had been waiting for a second or more */
    uint32_t asking; /* ranks that ask in vain; 0 if one may go on by itself */
};

#define FV_HANG_LASTING_S 1.0
#define FV_HANG_ASKS_S    10.0
#define FV_HANG_SOME      FV_NONE

/* Fills in all but the ranks' states and lists (hang_graph.c). */
void fv_hang_solve(const struct fv_model *model, struct fv_hang *hang);
void fv_hang_build(struct fv_model *model);
void fv_hang_release(void *data); /* struct fv_hang */
/* NULL: all ranks finalized, or one called MPI_Abort. */
static inline const struct fv_hang *fv_model_hang(const struct fv_model *model)
{
    return model->data[FV_SUBJECT_unfinished];
}

/* ---- in words (hang_words.c), for all views ---- */

/* What became of the run, and why it hangs: "Killed: ranks 0 and 1 wait for each other". "" where it
 * completed. */
char *fv_hang_headline(const struct fv_model *model, char *out, size_t bytes);
/* "rank 0 in MPI_Recv waits to receive from rank 1 (tag 5, MPI_COMM_WORLD)" */
char *fv_hang_rank(const struct fv_model *model, uint32_t rank, char *out, size_t bytes);
char *fv_hang_cause(const struct fv_model *model, const struct fv_hang_cause *cause, char *out, size_t bytes);
char *fv_hang_mismatch(const struct fv_model *model, const struct fv_hang_mismatch *mismatch, char *out, size_t bytes);

#endif
