/* SPDX-License-Identifier: BSD-3-Clause */
/* From a rank's records to steps, and to what must be matched with other ranks: messages, collective
 * operations, locks. What belongs together has a key; all items of a key meet in one process (match.h), whose
 * answers come back here. Receives are told in an order of their own: receives.h. */
#ifndef FV_COLLECT_H
#define FV_COLLECT_H

#include "analysis/sites.h"
#include "analysis/steps.h"
#include "analysis/tally.h"
#include "merge/groups.h"

enum fv_item_kind { FV_ITEM_SEND, FV_ITEM_RECEIVE, FV_ITEM_GROUP, FV_ITEM_LOCK, FV_ITEM_COMPLETION };
enum fv_item_flags {
    FV_ITEM_GIVES = 1, /* group: others wait for it */
    FV_ITEM_TAKES = 2, /* ... it waits for others */
    FV_ITEM_ROOT = 4,
    FV_ITEM_BLOCKING = 8, /* ... its end is that of the operation */
    FV_ITEM_LATER = 16,   /* send: `reply` is its number; the step that waits for it is not known yet */
    FV_ITEM_SHARED = 32,  /* lock */
};

/* A non-blocking operation of a group is told twice: when it was begun, and, with this key, when it was completed:
 * `ns`, `line`, `site` and `step` are of that call then, and `extra` is when the call before it ended. */
static inline uint64_t fv_item_completion_key(uint64_t key)
{
    return key ^ 1;
}

/* 72 bytes. Of a lock of a window: what is behind the semicolons. */
struct fv_item {
    uint64_t key, ns; /* ns: begin of the call that posted it; of the locking call */
    uint64_t end;     /* group: end of the call, of a scan the rank in the communicator; receive: when it was there, 0
                       * not known; begin of the unlocking call */
    uint64_t extra;   /* send: a time that the receiver wants to know; receive, group: the line that waits; end
                       * of the locking call */
    uint64_t reply;   /* step that waits; with FV_ITEM_LATER the number of the send; FV_NONE: none; end of the
                       * unlocking call */
    uint32_t line, site, step; /* of the call that posted it; of the unlocking call */
    uint32_t member;           /* group: world rank; message: of the receiver; line of the locking call */
    uint32_t expected;         /* group: how many there will be; step of the locking call */
    uint8_t kind, flags, form; /* form: enum fv_form */
    uint8_t wait;              /* group: enum fv_wait_state of those that take */
};

/* Who depends on whom in a group. */
enum fv_form { FV_FORM_ALL, FV_FORM_FROM_ROOT, FV_FORM_TO_ROOT, FV_FORM_LOWER };
/* Who only gives in an operation with a root: it waits for nobody but those who take that, if they have to be there. */
static inline bool fv_form_gives(enum fv_form form, bool is_root)
{
    return form == FV_FORM_FROM_ROOT ? is_root : form == FV_FORM_TO_ROOT && !is_root;
}

struct fv_answer {
    uint64_t ns, reply;
    uint32_t line; /* that asked */
    uint32_t cause_line, cause_site, cause_step;
    uint32_t part_ns;
    /* later: FV_ITEM_LATER; lock: it is what a call waited for that nothing was known of; withheld: perhaps, by who
     * came back to MPI at `ns`, and was outside of it since `outside`; the call that asked ended part_ns after that:
     * progress.h */
    bool later, lock, withheld;
    uint64_t outside;
};

struct fv_collect {
    const struct fv_merge *merge;
    const struct fv_sites *sites;
    const struct fv_groups *groups;
    struct fv_steps *steps;
    struct fv_tallies *tallies; /* gets what threads waited for each other */
    uint8_t *traits;            /* by function: enum fv_call_traits */
    uint32_t traced;            /* ranks with a trace */
    struct fv_item *items;      /* to be sent; taken by the caller */
    size_t count, room;
    bool partial;     /* traces have lost their begins: what has no number cannot be counted */
    uint64_t unknown; /* messages whose peers are not known, and what could not be counted */
};

void fv_collect_init(struct fv_collect *collect, const struct fv_merge *merge, const struct fv_sites *sites,
                     const struct fv_groups *groups, struct fv_steps *steps, struct fv_tallies *tallies);
void fv_collect_release(struct fv_collect *collect);

/* What is kept of one rank between its records. */
struct fv_rank_collect;
struct fv_rank_collect *fv_collect_rank(struct fv_collect *collect, const struct fv_merge_file *file);
struct fv_sink *fv_collect_sink(struct fv_rank_collect *rank);
/* Where sends are cancelled, a replay into this one comes first: a cancelled send takes no part, which must
 * be known when it is told. */
struct fv_sink fv_collect_look_ahead(struct fv_rank_collect *rank);
/* After its last record: receives that were held back. */
void fv_collect_rest(struct fv_rank_collect *rank);
void fv_collect_answer(struct fv_rank_collect *rank, const struct fv_answer *answer);
void fv_collect_rank_release(struct fv_rank_collect *rank);

#endif
