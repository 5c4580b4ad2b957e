/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion calls (MPI_Wait, MPI_Test and their families), MPI_Start and MPI_Request_free without their
 * PMPI_ call, so that every language binding shares one accounting:
 *
 *     struct fv_call call;
 *     struct fv_completion c;
 *     bool on = fv_call_enter(&call, FV_FN_MPI_Waitall, FV_CALL_SITE());
 *     MPI_Status *seen = fv_completion_before(&c, &call, on, true, count, requests, count, statuses);
 *     int result = PMPI_Waitall(count, requests, seen);
 *     if (on && fv_call_end(&call))
 *         fv_completed_all(&c, result, NULL, requests, seen);
 *     return result;
 *
 * A binding whose handles are not C's fills fv_completion_room() with converted ones and passes that.
 *
 * What the fv_completed_ functions look at: nothing where fv_completion_follows() is false; else `statuses`
 * of the entries that completed, and `now`, the requests after the call (NULL: not known), only where
 * `result` is an error. Each ends the call by fv_call_record(). */
#ifndef FV_COMPLETE_H
#define FV_COMPLETE_H

#include "glue.h"

/* The requests of a call in the caller's order, as they were before it: MPI overwrites what completes.
 * On the wrapper's stack; `first` is the caller's to change, the rest is complete.c's. */
struct fv_completion {
    int first; /* number of the first request in indices: 0, Fortran 1; set it after _before() */
    int count; /* 0: none of them is followed, or memory is short */
    struct fv_call *call;
    const MPI_Request *before;      /* a copy, to look up those that complete; or: */
    const struct fv_request *known; /* all looked up; kind 0: not followed */
    MPI_Request single;             /* the copy of one */
    struct fv_request one;
    MPI_Status status;
};

/* What is left to do where anything is followed, and where it completed. */
MPI_Status *fv_completion_keep(struct fv_completion *c, bool waits, int count, const MPI_Request *requests, int n,
                               MPI_Status *statuses);
MPI_Status *fv_completion_keep_one(struct fv_completion *c, const MPI_Request *request, MPI_Status *status);
/* Of the one that a call waited for; and fv_call_record(). */
void fv_completed_one(struct fv_completion *c, int result, const MPI_Request *now, const MPI_Status *status);
void fv_completion_settle_all(struct fv_completion *c, int result, const MPI_Request *now, const MPI_Status *statuses);
void fv_completion_settle_any(struct fv_completion *c, int result, int index, const MPI_Request *now,
                              const MPI_Status *status);

/* After fv_call_enter() returned `on`. `waits`: fv_completion_tell() comes next. `statuses` is the caller's array of n
 * (count, or 1 where the call tells of one request), or MPI_STATUS(ES)_IGNORE. Returns the array to pass on: statuses,
 * or one of our own where the caller ignores what we need to see. */
static inline MPI_Status *fv_completion_before(struct fv_completion *c, struct fv_call *call, bool on, bool waits,
                                               int count, const MPI_Request *requests, int n, MPI_Status *statuses)
{
    c->first = c->count = 0;
    c->call = call;
    if (!on || !(count == 1 ? requests && fv_request_may_be_known(fv_handle(*requests)) : fv_requests_any()))
        return statuses;
    return count == 1 && waits ? fv_completion_keep_one(c, requests, statuses)
                               : fv_completion_keep(c, waits, count, requests, n, statuses);
}
static inline bool fv_completion_follows(const struct fv_completion *c)
{
    return c->count > 0;
}
/* Room for `count` converted handles, to be passed to _before(), which then copies none. NULL: nothing is
 * followed, or no memory; pass the NULL on. Valid until the call is recorded. */
MPI_Request *fv_completion_room(struct fv_call *call, bool on, int count);
/* After _before() of a call that waits: tells what for, to reports of hung programs. */
void fv_completion_describe(const struct fv_completion *c, int count, const MPI_Request *requests);
static inline void fv_completion_tell(const struct fv_completion *c, bool on, int count, const MPI_Request *requests)
{
    if (c->count == 1)
        fv_request_waits(c->call, &c->one, fv_peer(c->one.peer));
    else if (on && count > 0 && requests && fv_requests_told())
        fv_completion_describe(c, count, requests);
}

/* Wait, Test, Waitall, Testall. flag NULL: the call waits. */
static inline void fv_completed_all(struct fv_completion *c, int result, const int *flag, const MPI_Request *now,
                                    const MPI_Status *statuses)
{
    if (c->count == 1 && !flag) {
        fv_completed_one(c, result, now, statuses);
        return;
    }
    if (flag && result == MPI_SUCCESS && !*flag) {
        fv_call_in_vain(c->call);
        if (c->count == 1 && c->known && c->known->kind)
            fv_event(c->call, TESTED, c->known->number);
    } else if (c->count) {
        fv_completion_settle_all(c, result, now, statuses);
    }
    fv_call_record(c->call, NULL, 0, 0);
}
/* Waitany, Testany. *index outside of the array, as MPI_UNDEFINED is, says that nothing completed. */
static inline void fv_completed_any(struct fv_completion *c, int result, const int *flag, const int *index,
                                    const MPI_Request *now, const MPI_Status *status)
{
    if (flag && result == MPI_SUCCESS && !*flag)
        fv_call_in_vain(c->call);
    if (c->count && index && (result != MPI_SUCCESS || !flag || *flag))
        fv_completion_settle_any(c, result, *index, now, status);
    fv_call_record(c->call, NULL, 0, 0);
}
/* Waitsome, Testsome; statuses[i] is that of request indices[i]. */
void fv_completed_some(struct fv_completion *c, int result, const int *outcount, const int *indices,
                       const MPI_Request *now, const MPI_Status *statuses);

/* Before the fv_completed_ function of a call that leaves the requests as they are (MPI_Request_get_status_all and its
 * kin): of operations that failed MPI_Wait will tell. */
static inline void fv_completion_peeked(struct fv_completion *c, int result)
{
    if (result != MPI_SUCCESS)
        c->count = 0;
}

/* Before MPI_Cancel, recorded or not: from now on statuses are asked whether their operation was cancelled. */
void fv_cancelling(void);

/* ---- after MPI_Start (count 1), MPI_Startall, MPI_Request_free; they end the call likewise ---- */

/* Before: what is known of the requests, because MPI may replace their handles (Open MPI does while the
 * transport of the operation before is not done). `one` is the place for a single one; of several it is scratch
 * 0. NULL, or kind 0: unknown. */
const struct fv_request *fv_start_keep(struct fv_call *call, bool on, int count, const MPI_Request *requests,
                                       struct fv_request *one);
/* After: `now` are the handles as MPI left them. */
void fv_done_start(struct fv_call *call, int result, int count, const struct fv_request *known, const MPI_Request *now);
/* `known`: what fv_request_get() said before the call, because the handle may be another thread's request
 * after it; NULL: unknown. */
void fv_done_request_free(struct fv_call *call, int result, const struct fv_request *known);

#endif
