/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions whose accounting the table does not describe, for all Fortran bindings. Rejected: translating
 * to C and calling PMPI_X. Sentinels, LOGICALs, strings, call-backs and status arrays are then all ours to
 * get right, for each MPI; tools that do so return wrong results for some of them. */
#include "fortran.h"

#include "complete.h"
#include "done.h"
#include "functions.h"
#include "special.h"

/* ---- start, end, control ---- */

void fv_f_MPI_Init(struct fv_call_place site, fv_f_function *real, MPI_Fint *ierror)
{
    struct fv_special_call life;

    fv_init_before(&life, FV_FN_MPI_Init, site);
    ((void (*)(MPI_Fint *))real)(ierror);
    fv_init_after(&life, fv_f_result(ierror));
}

void fv_f_MPI_Init_thread(struct fv_call_place site, fv_f_function *real, MPI_Fint *required, MPI_Fint *provided,
                          MPI_Fint *ierror)
{
    struct fv_special_call life;

    fv_init_before(&life, FV_FN_MPI_Init_thread, site);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(required, provided, ierror);
    fv_init_after(&life, fv_f_result(ierror));
}

void fv_f_MPI_Finalize(struct fv_call_place site, fv_f_function *real, MPI_Fint *ierror)
{
    struct fv_special_call life;

    fv_finalize_before(&life, site);
    ((void (*)(MPI_Fint *))real)(ierror);
    fv_finalize_after(&life, fv_f_result(ierror));
}

#if HAVE_MPI_Session_init && HAVE_MPI_Session_finalize
void fv_f_MPI_Session_init(struct fv_call_place site, fv_f_function *real, MPI_Fint *info, MPI_Fint *errhandler,
                           MPI_Fint *session, MPI_Fint *ierror)
{
    struct fv_special_call life;

    fv_session_init_before(&life, site);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(info, errhandler, session, ierror);
    int result = fv_f_result(ierror);
    fv_session_init_after(&life, result, result == MPI_SUCCESS ? MPI_Session_f2c(*session) : MPI_SESSION_NULL);
}

void fv_f_MPI_Session_finalize(struct fv_call_place site, fv_f_function *real, MPI_Fint *session, MPI_Fint *ierror)
{
    struct fv_special_call life;

    fv_session_finalize_before(&life, site);
    ((void (*)(MPI_Fint *, MPI_Fint *))real)(session, ierror);
    fv_session_finalize_after(&life, fv_f_result(ierror));
}
#endif

void fv_f_MPI_Abort(struct fv_call_place site, fv_f_function *real, MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror)
{
    struct fv_special_call life;

    fv_abort_before(&life, *code, site);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(comm, code, ierror);
    fv_abort_after(&life, fv_f_result(ierror));
}

/* The standard knows no `ierror` here, some MPIs do: whatever came goes on. */
void fv_f_MPI_Pcontrol(struct fv_call_place site, fv_f_function *real, MPI_Fint *level, MPI_Fint *ierror)
{
    struct fv_special_call life;

    fv_pcontrol_before(&life, site);
    ((void (*)(MPI_Fint *, MPI_Fint *))real)(level, ierror);
    fv_pcontrol_after(&life, MPI_SUCCESS, *level);
}

/* ---- completion ---- */

/* Handles as C has them. MPICH's are the same numbers in both languages. */
#ifdef MPICH_NUMVERSION
#define SAME_HANDLES 1
#else
#define SAME_HANDLES 0
#endif

static const MPI_Request *requests_of(struct fv_call *call, bool on, int count, const MPI_Fint *requests)
{
    if (SAME_HANDLES)
        return (const MPI_Request *)(const void *)requests;
    MPI_Request *room = fv_completion_room(call, on, count);

    for (int i = 0; room && i < count; i++)
        room[i] = MPI_Request_f2c(requests[i]);
    return room;
}

/* ... after the call, where it is not told what C's would be. */
static const MPI_Request *requests_now(const MPI_Fint *requests)
{
    return SAME_HANDLES ? (const MPI_Request *)(const void *)requests : NULL;
}

/* Indices of requests begin with 1 in Fortran, but with 0 in some bindings (mpi_f08 of MPICH 4.0). One that
 * is complete at once tells, once for each procedure. */
enum telling { ANY_WAIT, ANY_TEST, SOME };

static int ask_first_index(fv_f_function *real, enum telling telling)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Fint one = 1, index[1] = { 1 }, n = 0, ierror = MPI_SUCCESS;

    if (!fv_mpi_world() || PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request))
        return 1;
    MPI_Fint handle = MPI_Request_c2f(request), *seen = (MPI_Fint *)(void *)&status;
    if (telling == ANY_WAIT)
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(&one, &handle, index, seen,
                                                                                     &ierror);
    else /* n is the flag, or how many */
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(
            &one, &handle, telling == SOME ? &n : index, telling == SOME ? index : &n, seen, &ierror);
    request = MPI_Request_f2c(handle);
    if (request != MPI_REQUEST_NULL) /* MPI_Request_get_status_any leaves it */
        PMPI_Request_free(&request);
    return ierror == MPI_SUCCESS && index[0] == 0 ? 0 : 1;
}

static int first_index(fv_f_function *real, enum telling telling)
{
    static struct {
        fv_f_function *real;
        int first;
    } told[12]; /* six functions, two bindings */
    static int count;
    int n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

    for (int i = 0; i < n && i < 12; i++)
        if (__atomic_load_n(&told[i].real, __ATOMIC_ACQUIRE) == real)
            return told[i].first;
    int first = ask_first_index(real, telling);
    int at = __atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL);
    if (at < 12) {
        told[at].first = first;
        __atomic_store_n(&told[at].real, real, __ATOMIC_RELEASE);
    }
    return first;
}

/* A completion call between its halves. */
struct completion {
    struct fv_call call;
    struct fv_completion c;
    bool on;
    size_t n;        /* statuses */
    MPI_Fint *seen;  /* what to pass on as such */
    MPI_Status room; /* for one that is not aligned */
};

static void before(struct completion *w, unsigned function, bool waits, struct fv_call_place site, int count,
                   const MPI_Fint *requests, int n, MPI_Fint *statuses)
{
    w->on = fv_call_enter(&w->call, function, site);
    w->n = n > 0 ? (size_t)n : 0;
    bool own = w->on && fv_f_ignored(statuses);
    bool wanted = w->on && (fv_requests_any() || (waits && fv_requests_told()));
    const MPI_Request *c_requests = wanted ? requests_of(&w->call, w->on, count, requests) : NULL;
    MPI_Status *c_statuses = fv_completion_before(&w->c, &w->call, w->on, waits, count, c_requests, n,
                                                  own ? MPI_STATUSES_IGNORE : (MPI_Status *)(void *)statuses);

    if (waits)
        fv_completion_tell(&w->c, w->on, count, c_requests);
    w->seen = own && c_statuses == MPI_STATUSES_IGNORE ? statuses : (MPI_Fint *)(void *)c_statuses;
}

/* What C reads as statuses. */
static const MPI_Status *after(struct completion *w)
{
    if (!fv_completion_follows(&w->c))
        return NULL;
    const MPI_Status *statuses = fv_f_statuses(w->seen, w->n, w->n == 1 ? &w->room : NULL);

    /* The caller has given statuses, so that the memory for our own is free. */
    return statuses ? statuses : fv_f_statuses(w->seen, w->n, fv_scratch(&w->call, 1, w->n * sizeof(*statuses)));
}

void fv_f_MPI_Wait(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *status,
                   MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Wait, true, site, 1, request, 1, status);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(request, w.seen, ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), NULL, requests_now(request), seen);
    }
}

void fv_f_MPI_Test(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status,
                   MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Test, false, site, 1, request, 1, status);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(request, flag, w.seen, ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), flag, requests_now(request), seen);
    }
}

void fv_f_MPI_Waitall(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Waitall, true, site, *count, requests, *count, statuses);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, w.seen, ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), NULL, requests_now(requests), seen);
    }
}

void fv_f_MPI_Testall(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Testall, false, site, *count, requests, *count, statuses);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, flag, w.seen, ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), flag, requests_now(requests), seen);
    }
}

static void tell_first(struct completion *w, fv_f_function *real, enum telling telling)
{
    if (fv_completion_follows(&w->c))
        w->c.first = first_index(real, telling);
}

void fv_f_MPI_Waitany(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *index, MPI_Fint *status, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Waitany, true, site, *count, requests, 1, status);
    tell_first(&w, real, ANY_WAIT);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, index, w.seen,
                                                                                 ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completed_any(&w.c, fv_f_result(ierror), NULL, index, requests_now(requests), seen);
    }
}

void fv_f_MPI_Testany(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Testany, false, site, *count, requests, 1, status);
    tell_first(&w, real, ANY_TEST);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, index,
                                                                                             flag, w.seen, ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completed_any(&w.c, fv_f_result(ierror), flag, index, requests_now(requests), seen);
    }
}

static void some(struct completion *w, bool peeks, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                 MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *ierror)
{
    tell_first(w, real, SOME);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(
        incount, requests, outcount, indices, w->seen, ierror);
    if (w->on && fv_call_end(&w->call)) {
        const MPI_Status *seen = after(w);
        if (peeks)
            fv_completion_peeked(&w->c, fv_f_result(ierror));
        fv_completed_some(&w->c, fv_f_result(ierror), outcount, indices, requests_now(requests), seen);
    }
}

void fv_f_MPI_Waitsome(struct fv_call_place site, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                       MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Waitsome, true, site, *incount, requests, *incount, statuses);
    some(&w, false, real, incount, requests, outcount, indices, ierror);
}

void fv_f_MPI_Testsome(struct fv_call_place site, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                       MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Testsome, false, site, *incount, requests, *incount, statuses);
    some(&w, false, real, incount, requests, outcount, indices, ierror);
}

void fv_f_MPI_Request_get_status_all(struct fv_call_place site, fv_f_function *real, MPI_Fint *count,
                                     MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Request_get_status_all, false, site, *count, requests, *count, statuses);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, flag, w.seen, ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completion_peeked(&w.c, fv_f_result(ierror));
        fv_completed_all(&w.c, fv_f_result(ierror), flag, requests_now(requests), seen);
    }
}

void fv_f_MPI_Request_get_status_any(struct fv_call_place site, fv_f_function *real, MPI_Fint *count,
                                     MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status,
                                     MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Request_get_status_any, false, site, *count, requests, 1, status);
    tell_first(&w, real, ANY_TEST);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, index,
                                                                                             flag, w.seen, ierror);
    if (w.on && fv_call_end(&w.call)) {
        const MPI_Status *seen = after(&w);
        fv_completion_peeked(&w.c, fv_f_result(ierror));
        fv_completed_any(&w.c, fv_f_result(ierror), flag, index, requests_now(requests), seen);
    }
}

void fv_f_MPI_Request_get_status_some(struct fv_call_place site, fv_f_function *real, MPI_Fint *incount,
                                      MPI_Fint *requests, MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses,
                                      MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Request_get_status_some, false, site, *incount, requests, *incount, statuses);
    some(&w, true, real, incount, requests, outcount, indices, ierror);
}

/* ---- the other end ---- */

void fv_f_MPI_Start(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror)
{
    struct fv_call call;
    struct fv_request one;
    bool on = fv_call_enter(&call, FV_FN_MPI_Start, site);
    const MPI_Request was = on ? MPI_Request_f2c(*request) : MPI_REQUEST_NULL;
    const struct fv_request *known = fv_start_keep(&call, on, 1, &was, &one);

    ((void (*)(MPI_Fint *, MPI_Fint *))real)(request, ierror);
    if (on && fv_call_end(&call)) {
        const MPI_Request now = MPI_Request_f2c(*request);
        fv_done_start(&call, fv_f_result(ierror), 1, known, &now);
    }
}

void fv_f_MPI_Startall(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                       MPI_Fint *ierror)
{
    struct fv_call call;
    struct fv_request one;
    bool on = fv_call_enter(&call, FV_FN_MPI_Startall, site);
    const struct fv_request *known = fv_start_keep(&call, on, *count, requests_of(&call, on, *count, requests), &one);

    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, ierror);
    if (on && fv_call_end(&call)) {
        fv_done_start(&call, fv_f_result(ierror), *count, known, requests_of(&call, on, *count, requests));
    }
}

void fv_f_MPI_Request_free(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror)
{
    struct fv_call call;
    struct fv_request known;
    bool on = fv_call_enter(&call, FV_FN_MPI_Request_free, site);
    bool have = on && fv_requests_any() && fv_request_get(fv_handle(MPI_Request_f2c(*request)), &known);

    ((void (*)(MPI_Fint *, MPI_Fint *))real)(request, ierror);
    if (on && fv_call_end(&call)) {
        fv_done_request_free(&call, fv_f_result(ierror), have ? &known : NULL);
    }
}

void fv_f_MPI_Cancel(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Cancel, site);

    fv_cancelling();
    ((void (*)(MPI_Fint *, MPI_Fint *))real)(request, ierror);
    if (on && fv_call_end(&call)) {
        fv_done_plainly(&call, fv_f_result(ierror));
    }
}
