/* One-sided communication and files. Both act on objects that were made from a communicator and do not
 * tell it cheaply (MPI_Win_get_group makes a new group each time), so it is remembered when they are
 * made. An attribute on the window would do too, but would show in the application's key values. */
#include "done.h"

/* Windows and files are few: a short list that is searched without a lock. An entry is free while its
 * handle is 0; comm is written before the handle is, and stays valid for good (struct fv_comm does). */
#define OWNERS 256

struct owner {
    uint64_t handle;
    struct fv_comm *comm;
};
struct owners {
    struct owner entry[OWNERS];
    unsigned used; /* entries beyond were never taken */
};
static struct owners windows, files;

/* More objects than entries: their calls are counted without communicator. */
static void remember(struct owners *owners, uint64_t handle, struct fv_comm *comm)
{
    for (unsigned i = 0; comm && i < OWNERS; i++) {
        uint64_t none = 0, busy = ~UINT64_C(0);
        struct owner *o = &owners->entry[i];

        if (!__atomic_compare_exchange_n(&o->handle, &none, busy, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&o->comm, comm, __ATOMIC_RELAXED);
        __atomic_store_n(&o->handle, handle, __ATOMIC_RELEASE);
        unsigned used = __atomic_load_n(&owners->used, __ATOMIC_RELAXED);
        while (used < i + 1 && !__atomic_compare_exchange_n(&owners->used, &used, i + 1, false,
                                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
        return;
    }
}

static struct owner *find(struct owners *owners, uint64_t handle)
{
    unsigned used = __atomic_load_n(&owners->used, __ATOMIC_ACQUIRE);

    for (unsigned i = 0; i < used; i++)
        if (__atomic_load_n(&owners->entry[i].handle, __ATOMIC_ACQUIRE) == handle)
            return &owners->entry[i];
    return NULL;
}

static struct fv_comm *comm_of(struct owners *owners, uint64_t handle)
{
    struct owner *o = find(owners, handle);

    return o ? __atomic_load_n(&o->comm, __ATOMIC_RELAXED) : NULL;
}

/* A creation is collective over comm, and in practice everyone waits for everyone. */
static void made(struct fv_call *call, struct owners *owners, uint64_t handle, MPI_Comm comm)
{
    struct fv_comm *c = fv_comm_get(fv_handle(comm));

    remember(owners, handle, c);
    fv_done_creation(call, c);
}

static void gone(struct fv_call *call, int result, struct owners *owners, uint64_t was)
{
    struct owner *o = result == MPI_SUCCESS && was ? find(owners, was) : NULL;
    struct fv_comm *comm = o ? o->comm : NULL;

    if (o)
        __atomic_store_n(&o->handle, 0, __ATOMIC_RELEASE);
    fv_call_record(call, comm, 0, 0);
}

/* ---- one-sided: bytes at the origin (MPI-4.0 section 12.3) ---- */

static void moved(struct fv_call *call, MPI_Win win, int target, uint64_t sent, uint64_t received)
{
    struct fv_comm *comm = comm_of(&windows, fv_handle(win));

    fv_call_record(call, comm, sent, received);
    if (sent && comm)
        fv_call_sent_to(call, comm, target, 1, sent);
}

void fv_done_put(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target,
                 MPI_Win win)
{
    bool ok = result == MPI_SUCCESS && target != MPI_PROC_NULL;

    moved(call, win, target, ok ? fv_bytes(count, type) : 0, 0);
}

void fv_done_get(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target,
                 MPI_Win win)
{
    bool ok = result == MPI_SUCCESS && target != MPI_PROC_NULL;

    moved(call, win, target, 0, ok ? fv_bytes(count, type) : 0);
}

/* With MPI_NO_OP the origin buffer is not significant (section 12.3.4). */
void fv_done_get_accumulate(struct fv_call *call, int result, MPI_Count sent_count, MPI_Datatype sent_type,
                            MPI_Count got_count, MPI_Datatype got_type, int target, MPI_Op op, MPI_Win win)
{
    bool ok = result == MPI_SUCCESS && target != MPI_PROC_NULL;

    moved(call, win, target, ok && op != MPI_NO_OP ? fv_bytes(sent_count, sent_type) : 0,
          ok ? fv_bytes(got_count, got_type) : 0);
}

void fv_done_on_win(struct fv_call *call, int result, MPI_Win win)
{
    fv_call_record(call, result == MPI_SUCCESS ? comm_of(&windows, fv_handle(win)) : NULL, 0, 0);
}

void fv_done_newwin(struct fv_call *call, int result, MPI_Comm comm, const MPI_Win *win)
{
    if (result == MPI_SUCCESS)
        made(call, &windows, fv_handle(*win), comm);
    else
        fv_call_record(call, NULL, 0, 0);
}

void fv_done_win_free(struct fv_call *call, int result, uint64_t was)
{
    gone(call, result, &windows, was);
}

/* ---- files: what is written is sent, what is read is received ---- */

static void transferred(struct fv_call *call, int result, MPI_File file, uint64_t sent, uint64_t received)
{
    fv_call_record(call, result == MPI_SUCCESS ? comm_of(&files, fv_handle(file)) : NULL, sent, received);
}

/* From the status, but no more than was asked for: some releases of ROMIO leave the status of an empty
 * transfer unset (pmodels/mpich#2332). */
static uint64_t blocking_bytes(int result, MPI_Count count, MPI_Datatype type, const MPI_Status *status)
{
    if (result != MPI_SUCCESS)
        return 0;
    uint64_t asked = fv_bytes(count, type), told = asked ? fv_status_bytes(status) : 0;

    return told < asked ? told : asked;
}

void fv_done_file_read(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                       const MPI_Status *status)
{
    transferred(call, result, file, 0, blocking_bytes(result, count, type, status));
}

void fv_done_file_write(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                        const MPI_Status *status)
{
    transferred(call, result, file, blocking_bytes(result, count, type, status), 0);
}

/* The end of a split collective does not know how much its begin asked for. */
void fv_done_file_read_end(struct fv_call *call, int result, MPI_File file, const MPI_Status *status)
{
    transferred(call, result, file, 0, result == MPI_SUCCESS ? fv_status_bytes(status) : 0);
}

void fv_done_file_write_end(struct fv_call *call, int result, MPI_File file, const MPI_Status *status)
{
    transferred(call, result, file, result == MPI_SUCCESS ? fv_status_bytes(status) : 0, 0);
}

/* Non-blocking: as asked for; a read beyond the end of the file is counted in full. */
void fv_done_file_iread(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file)
{
    transferred(call, result, file, 0, result == MPI_SUCCESS ? fv_bytes(count, type) : 0);
}

void fv_done_file_iwrite(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file)
{
    transferred(call, result, file, result == MPI_SUCCESS ? fv_bytes(count, type) : 0, 0);
}

void fv_done_on_file(struct fv_call *call, int result, MPI_File file)
{
    transferred(call, result, file, 0, 0);
}

void fv_done_newfile(struct fv_call *call, int result, MPI_Comm comm, const MPI_File *file)
{
    if (result == MPI_SUCCESS)
        made(call, &files, fv_handle(*file), comm);
    else
        fv_call_record(call, NULL, 0, 0);
}

void fv_done_file_close(struct fv_call *call, int result, uint64_t was)
{
    gone(call, result, &files, was);
}
