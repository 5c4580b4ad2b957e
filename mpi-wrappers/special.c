/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end and control of the measurement: MPI_Init and its kin, sessions, MPI_Finalize, MPI_Abort,
 * MPI_Pcontrol. The rest of the wrappers is generated, or stands in complete.c. */
#include "special.h"

#include "done.h"
#include "functions.h"
#include "next.h"

#include <errno.h>

static void enter(struct fv_special_call *life, unsigned function, struct fv_call_place site)
{
    life->function = function;
    life->site = site;
    life->on = fv_call_enter(&life->call, function, site);
}

static void leave(struct fv_special_call *life, int result)
{
    if (life->on && fv_call_end(&life->call))
        fv_done_plainly(&life->call, result);
}

/* Calls that start and end MPI run one in the other where a Fortran binding calls C. */
static __thread bool inside;

static bool begin_nesting(struct fv_special_call *life)
{
    *life = (struct fv_special_call){ .nested = inside };
    inside = true;
    return !life->nested;
}

static bool end_nesting(const struct fv_special_call *life)
{
    inside = life->nested;
    return !life->nested;
}

static int sessions; /* open ones */

/* ---- the world model ---- */

/* The runtime starts when MPI_Init returns, because only then it is known who we are. */
static void start_world(const struct fv_special_call *life, uint64_t end)
{
    struct fv_start_info info;
    int saved = errno;

    if (fv_mpi_attach(&info)) {
        info.init_begin = life->begin;
        info.init_end = end;
        fv_start(&info);
        fv_start_record_init(life->function, life->site, life->begin, end);
        if (fv_started())
            fv_comm_world(); /* a first call that hangs is on a communicator that the file tells of */
    }
    errno = saved;
}

void fv_init_before(struct fv_special_call *life, unsigned function, struct fv_call_place site)
{
    if (!begin_nesting(life))
        return;
    life->function = function;
    life->site = site;
    life->first = !fv_started();
    if (life->first) {
        fv_mpi_starting(true);
        life->begin = fv_now();
    } else { /* after a session, or in error */
        enter(life, function, site);
    }
}

void fv_init_after(struct fv_special_call *life, int result)
{
    if (!end_nesting(life))
        return;
    if (!life->first) {
        leave(life, result);
        return;
    }
    uint64_t end = fv_now();
    fv_mpi_starting(false);
    if (result == MPI_SUCCESS)
        start_world(life, end);
}

#if HAVE_MPI_Init
FV_PUBLIC int MPI_Init(int *argc, char ***argv)
{
    struct fv_special_call life;

    fv_init_before(&life, FV_FN_MPI_Init, FV_CALL_SITE());
    int result = fv_next_MPI_Init(argc, argv);
    fv_init_after(&life, result);
    return result;
}
#endif

#if HAVE_MPI_Init_thread
FV_PUBLIC int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct fv_special_call life;

    fv_init_before(&life, FV_FN_MPI_Init_thread, FV_CALL_SITE());
    int result = fv_next_MPI_Init_thread(argc, argv, required, provided);
    fv_init_after(&life, result);
    return result;
}
#endif

/* Everyone's last barrier: who comes late shows in the wait log of the world. */
void fv_finalize_before(struct fv_special_call *life, struct fv_call_place site)
{
    *life = (struct fv_special_call){ 0 };
    enter(life, FV_FN_MPI_Finalize, site);
    if (!life->on)
        return;
    life->world = fv_comm_get(fv_handle(MPI_COMM_WORLD));
    fv_call_peer(&life->call, fv_handle(MPI_COMM_WORLD), FV_NO_PEER, 0);
    fv_finalizing();
}

/* MPI may not be asked anything any more. */
void fv_finalize_after(struct fv_special_call *life, int result)
{
    bool last = result == MPI_SUCCESS &&
                !__atomic_load_n(&sessions, __ATOMIC_ACQUIRE); /* else the last session's end is the end */

    if (!life->on || !fv_call_end(&life->call)) {
        if (last && (life->on || fv_unrecorded()))
            fv_finalized();
        return;
    }
    if (result == MPI_SUCCESS) {
        fv_done_creation(&life->call, life->world);
        if (last)
            fv_finalized();
    } else {
        fv_call_record(&life->call, NULL, 0, 0);
    }
}

#if HAVE_MPI_Finalize
FV_PUBLIC int MPI_Finalize(void)
{
    struct fv_special_call life;

    fv_finalize_before(&life, FV_CALL_SITE());
    int result = fv_next_MPI_Finalize();
    fv_finalize_after(&life, result);
    return result;
}
#endif

/* ---- sessions ---- */

#if HAVE_MPI_Session_init && HAVE_MPI_Session_finalize
/* Without the world model the first starts the measurement and the last ends it; sessions that follow
 * continue it. */
static void start_session(const struct fv_special_call *life, MPI_Session session, uint64_t end)
{
    struct fv_start_info info;
    bool first = __atomic_fetch_add(&sessions, 1, __ATOMIC_ACQ_REL) == 0;
    bool running = fv_started();

    fv_threads_many(); /* which are more than the world was asked for, perhaps */
    if (!first || fv_mpi_world() || !fv_mpi_attach_session(session, &info))
        return;
    info.init_begin = life->begin;
    info.init_end = end;
    fv_start(&info);
    if (!running)
        fv_start_record_init(FV_FN_MPI_Session_init, life->site, life->begin, end);
}

void fv_session_init_before(struct fv_special_call *life, struct fv_call_place site)
{
    if (!begin_nesting(life))
        return;
    life->site = site;
    if (fv_started())
        enter(life, FV_FN_MPI_Session_init, site);
    fv_mpi_starting(true);
    life->begin = fv_now();
}

void fv_session_init_after(struct fv_special_call *life, int result, MPI_Session session)
{
    if (!end_nesting(life))
        return;
    uint64_t end = fv_now();
    leave(life, result);
    if (result == MPI_SUCCESS)
        start_session(life, session, end);
    fv_mpi_starting(false);
}

FV_PUBLIC int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct fv_special_call life;

    fv_session_init_before(&life, FV_CALL_SITE());
    int result = fv_next_MPI_Session_init(info, errhandler, session);
    fv_session_init_after(&life, result, result == MPI_SUCCESS ? *session : MPI_SESSION_NULL);
    return result;
}

void fv_session_finalize_before(struct fv_special_call *life, struct fv_call_place site)
{
    if (!begin_nesting(life))
        return;
    enter(life, FV_FN_MPI_Session_finalize, site);
    /* of two threads that finalize the last two, one is the last */
    life->last = __atomic_sub_fetch(&sessions, 1, __ATOMIC_ACQ_REL) == 0 && life->on && !fv_mpi_world();
    if (life->last) {
        fv_finalizing();
        fv_mpi_detach_session();
    }
}

void fv_session_finalize_after(struct fv_special_call *life, int result)
{
    if (!end_nesting(life))
        return;
    if (result != MPI_SUCCESS)
        __atomic_fetch_add(&sessions, 1, __ATOMIC_ACQ_REL);
    leave(life, result);
    if (life->last && result == MPI_SUCCESS)
        fv_finalized();
}

FV_PUBLIC int MPI_Session_finalize(MPI_Session *session)
{
    struct fv_special_call life;

    fv_session_finalize_before(&life, FV_CALL_SITE());
    int result = fv_next_MPI_Session_finalize(session);
    fv_session_finalize_after(&life, result);
    return result;
}
#endif

/* ---- control ---- */

void fv_abort_before(struct fv_special_call *life, int code, struct fv_call_place site)
{
    *life = (struct fv_special_call){ 0 };
    enter(life, FV_FN_MPI_Abort, site);
    fv_aborting(code);
}

void fv_abort_after(struct fv_special_call *life, int result)
{
    leave(life, result);
}

#if HAVE_MPI_Abort
FV_PUBLIC int MPI_Abort(MPI_Comm comm, int errorcode)
{
    struct fv_special_call life;

    fv_abort_before(&life, errorcode, FV_CALL_SITE());
    int result = fv_next_MPI_Abort(comm, errorcode);
    fv_abort_after(&life, result);
    return result;
}
#endif

void fv_pcontrol_before(struct fv_special_call *life, struct fv_call_place site)
{
    *life = (struct fv_special_call){ 0 };
    enter(life, FV_FN_MPI_Pcontrol, site);
}

void fv_pcontrol_after(struct fv_special_call *life, int result, int level)
{
    leave(life, result);
    if (level == 0)
        fv_pause();
    else if (level == 1)
        fv_resume();
    else if (level == 2)
        fv_forget();
    else if (level == 3 || level == 4)
        fv_mark();
}

#if HAVE_MPI_Pcontrol
/* Arguments behind `level` are for other tools; C cannot forward them, and MPI's own does nothing. */
FV_PUBLIC int MPI_Pcontrol(const int level, ...)
{
    struct fv_special_call life;

    fv_pcontrol_before(&life, FV_CALL_SITE());
    int result = fv_next_MPI_Pcontrol(level);
    fv_pcontrol_after(&life, result, level);
    return result;
}
#endif
