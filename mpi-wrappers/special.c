/* Start, end and control of the measurement: MPI_Init and its kin, sessions, MPI_Finalize, MPI_Abort,
 * MPI_Pcontrol. The rest of the wrappers is generated, or stands in complete.c. */
#include "done.h"
#include "functions.h"

#include <errno.h>

/* ---- the world model ---- */

/* The runtime starts when MPI_Init returns, because only then it is known who we are. */
static void start_world(unsigned function, struct fv_site site, uint64_t begin, uint64_t end)
{
    struct fv_start_info info;
    int saved = errno;

    if (fv_mpi_attach(&info)) {
        info.init_begin = begin;
        info.init_end = end;
        fv_start(&info);
        fv_start_record_init(function, site, begin, end);
    }
    errno = saved;
}

#if HAVE_MPI_Init
FV_PUBLIC int MPI_Init(int *argc, char ***argv)
{
    struct fv_call call;
    struct fv_site site = FV_CALL_SITE();

    if (fv_started()) { /* after a session, or in error */
        bool on = fv_call_enter(&call, FV_FN_MPI_Init, site);
        int result = PMPI_Init(argc, argv);

        if (on) {
            fv_call_end(&call);
            fv_done_plainly(&call, result);
        }
        return result;
    }
    fv_mpi_starting(true);
    uint64_t begin = fv_now();
    int result = PMPI_Init(argc, argv);
    uint64_t end = fv_now();
    fv_mpi_starting(false);
    if (result == MPI_SUCCESS)
        start_world(FV_FN_MPI_Init, site, begin, end);
    return result;
}
#endif

#if HAVE_MPI_Init_thread
FV_PUBLIC int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct fv_call call;
    struct fv_site site = FV_CALL_SITE();

    if (fv_started()) {
        bool on = fv_call_enter(&call, FV_FN_MPI_Init_thread, site);
        int result = PMPI_Init_thread(argc, argv, required, provided);

        if (on) {
            fv_call_end(&call);
            fv_done_plainly(&call, result);
        }
        return result;
    }
    fv_mpi_starting(true);
    uint64_t begin = fv_now();
    int result = PMPI_Init_thread(argc, argv, required, provided);
    uint64_t end = fv_now();
    fv_mpi_starting(false);
    if (result == MPI_SUCCESS)
        start_world(FV_FN_MPI_Init_thread, site, begin, end);
    return result;
}
#endif

#if HAVE_MPI_Finalize
/* Everyone's last barrier: who comes late shows in the wait log of the world. After PMPI_Finalize MPI
 * may not be asked anything. */
FV_PUBLIC int MPI_Finalize(void)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Finalize, FV_CALL_SITE());
    struct fv_comm *world = on ? fv_comm_get(fv_handle(MPI_COMM_WORLD)) : NULL;

    if (on) {
        fv_call_peer(&call, fv_handle(MPI_COMM_WORLD), FV_NO_PEER, 0);
        fv_finalizing();
    }
    int result = PMPI_Finalize();
    if (on) {
        fv_call_end(&call);
        if (result == MPI_SUCCESS)
            fv_done_creation(&call, world);
        else
            fv_call_record(&call, NULL, 0, 0);
        if (result == MPI_SUCCESS)
            fv_finalized();
    }
    return result;
}
#endif

/* ---- sessions ---- */

#if HAVE_MPI_Session_init && HAVE_MPI_Session_finalize
/* Open ones. Without the world model the first starts the measurement and the last ends it; sessions
 * that follow continue it. */
static int sessions;

static void start_session(MPI_Session session, struct fv_site site, uint64_t begin, uint64_t end)
{
    struct fv_start_info info;
    bool first = __atomic_fetch_add(&sessions, 1, __ATOMIC_ACQ_REL) == 0;
    bool running = fv_started();

    if (!first || fv_mpi_world() || !fv_mpi_attach_session(session, &info))
        return;
    info.init_begin = begin;
    info.init_end = end;
    fv_start(&info);
    if (!running)
        fv_start_record_init(FV_FN_MPI_Session_init, site, begin, end);
}

FV_PUBLIC int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct fv_call call;
    struct fv_site site = FV_CALL_SITE();
    bool on = fv_started() && fv_call_enter(&call, FV_FN_MPI_Session_init, site);

    fv_mpi_starting(true);
    uint64_t begin = fv_now();
    int result = PMPI_Session_init(info, errhandler, session);
    uint64_t end = fv_now();
    if (on) {
        fv_call_end(&call);
        fv_done_plainly(&call, result);
    }
    if (result == MPI_SUCCESS)
        start_session(*session, site, begin, end);
    fv_mpi_starting(false);
    return result;
}

FV_PUBLIC int MPI_Session_finalize(MPI_Session *session)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Session_finalize, FV_CALL_SITE());
    bool last = on && __atomic_load_n(&sessions, __ATOMIC_ACQUIRE) == 1 && !fv_mpi_world();

    if (last) {
        fv_finalizing();
        fv_mpi_detach_session();
    }
    int result = PMPI_Session_finalize(session);
    if (result == MPI_SUCCESS)
        __atomic_fetch_sub(&sessions, 1, __ATOMIC_ACQ_REL);
    if (on) {
        fv_call_end(&call);
        fv_done_plainly(&call, result);
        if (last && result == MPI_SUCCESS)
            fv_finalized();
    }
    return result;
}
#endif

/* ---- control ---- */

#if HAVE_MPI_Abort
FV_PUBLIC int MPI_Abort(MPI_Comm comm, int errorcode)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Abort, FV_CALL_SITE());

    if (fv_started())
        fv_aborting(errorcode);
    int result = PMPI_Abort(comm, errorcode);
    if (on) { /* it came back, which the standard allows for */
        fv_call_end(&call);
        fv_done_plainly(&call, result);
    }
    return result;
}
#endif

#if HAVE_MPI_Pcontrol
/* Arguments behind `level` are for other tools; C cannot forward them, and MPI's own does nothing. */
FV_PUBLIC int MPI_Pcontrol(const int level, ...)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Pcontrol, FV_CALL_SITE());
    int result = PMPI_Pcontrol(level);

    if (on) {
        fv_call_end(&call);
        fv_done_plainly(&call, result);
    }
    if (level == 0)
        fv_pause();
    else if (level == 1)
        fv_resume();
    return result;
}
#endif
