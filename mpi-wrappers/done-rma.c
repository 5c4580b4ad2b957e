/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication and files. Both act on objects that were made from a communicator and do not
 * tell it cheaply (MPI_Win_get_group makes a new group each time), so it is remembered when they are
 * made. An attribute on the window would do too, but would show in the application's key values. */
#include "done.h"

/* `known` from before the call: by now the handle may be another thread's new object. */
static void gone(struct fv_call *call, int result, enum fv_owner_kind kind, struct fv_owner known)
{
    if (result == MPI_SUCCESS)
        fv_owner_remove(kind, &known);
    else
        known = (struct fv_owner){ 0 };
    if (known.number && kind == FV_OWNED_WINDOW)
        fv_event(call, WIN_GONE, known.number);
    else if (known.number)
        fv_event(call, FILE_GONE, known.number);
    fv_call_record(call, known.comm, 0, 0);
}

/* What completes by a request of its own is followed for the trace. 0: not followed. */
static uint64_t follow(struct fv_call *call, const struct fv_owner *owner, const MPI_Request *request, bool *complete)
{
    const struct fv_request r = { .kind = FV_REQUEST_OPERATION, .comm = owner->comm };

    *complete = false;
    return fv_tracing() && request ? fv_done_follow(call, r, *request, complete) : 0;
}

static void note_request(struct fv_call *call, int result, const struct fv_owner *owner, const MPI_Request *request)
{
    if (request && result == MPI_SUCCESS && !fv_tracing())
        fv_done_note(call, FV_REQUEST_OPERATION, owner->comm, MPI_PROC_NULL, 0, *request);
}

/* An event whose last field is the request, and the end of it where it is complete already. */
#define EVENT_OF_REQUEST(kind, owner, ...)                             \
    do {                                                               \
        bool complete_;                                                \
        uint64_t number_ = follow(call, (owner), request, &complete_); \
        fv_event(call, kind, __VA_ARGS__, number_);                    \
        if (complete_)                                                 \
            fv_event(call, DONE, number_);                             \
    } while (0)

/* ---- one-sided: bytes at the origin (MPI-4.0 section 12.3) ---- */

/* A creation is collective over comm, and in practice everyone waits for everyone. Its number among the
 * collective calls tells a window from the others of its communicator, on all ranks alike. */
void fv_done_newwin(struct fv_call *call, int result, MPI_Comm comm, const MPI_Win *win)
{
    if (result != MPI_SUCCESS) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    struct fv_comm *c = fv_comm_get(fv_handle(comm));
    uint32_t sequence = c ? fv_comm_collectives(c) : 0;
    uint64_t number = fv_tracing() ? fv_event_window(fv_comm_number(c), sequence) : 0;

    fv_owner_add(FV_OWNED_WINDOW, fv_handle(*win), (struct fv_owner){ .comm = c, .number = number });
    fv_event(call, WIN_NEW, number, fv_comm_number(c), sequence);
    fv_done_creation(call, c);
}

void fv_done_win_free(struct fv_call *call, int result, struct fv_owner known)
{
    gone(call, result, FV_OWNED_WINDOW, known);
}

static struct fv_owner window_of(int result, MPI_Win win)
{
    return result == MPI_SUCCESS ? fv_owner_of(FV_OWNED_WINDOW, fv_handle(win)) : (struct fv_owner){ 0 };
}

/* Moves data: the call succeeded and has a target. */
static bool moves(int result, int target)
{
    return result == MPI_SUCCESS && target != MPI_PROC_NULL;
}

static void moved(struct fv_call *call, const struct fv_owner *window, int target, uint64_t sent, uint64_t received)
{
    fv_call_record(call, window->comm, sent, received);
    if (sent)
        fv_call_sent_to(call, window->comm, target, 1, sent);
}

void fv_done_put(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target, MPI_Win win,
                 const MPI_Request *request)
{
    struct fv_owner window = window_of(result, win);
    uint64_t bytes = moves(result, target) ? fv_bytes(count, type) : 0;

    if (moves(result, target) && window.number)
        EVENT_OF_REQUEST(PUT, &window, window.number, fv_signed(target), bytes);
    note_request(call, result, &window, request);
    moved(call, &window, target, bytes, 0);
}

void fv_done_get(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target, MPI_Win win,
                 const MPI_Request *request)
{
    struct fv_owner window = window_of(result, win);
    uint64_t bytes = moves(result, target) ? fv_bytes(count, type) : 0;

    if (moves(result, target) && window.number)
        EVENT_OF_REQUEST(GET, &window, window.number, fv_signed(target), bytes);
    note_request(call, result, &window, request);
    moved(call, &window, target, 0, bytes);
}

static void combined(struct fv_call *call, int result, int target, MPI_Win win, uint64_t sent, uint64_t received,
                     const MPI_Request *request)
{
    struct fv_owner window = window_of(result, win);

    if (moves(result, target) && window.number)
        EVENT_OF_REQUEST(ATOMIC, &window, window.number, fv_signed(target), sent, received);
    note_request(call, result, &window, request);
    moved(call, &window, target, sent, received);
}

void fv_done_accumulate(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target, MPI_Win win,
                        const MPI_Request *request)
{
    uint64_t sent = moves(result, target) ? fv_bytes(count, type) : 0;

    combined(call, result, target, win, sent, 0, request);
}

/* With MPI_NO_OP the origin buffer is not significant (section 12.3.4). */
void fv_done_get_accumulate(struct fv_call *call, int result, MPI_Count sent_count, MPI_Datatype sent_type,
                            MPI_Count got_count, MPI_Datatype got_type, int target, MPI_Op op, MPI_Win win,
                            const MPI_Request *request)
{
    bool ok = moves(result, target);
    uint64_t sent = ok && op != MPI_NO_OP ? fv_bytes(sent_count, sent_type) : 0;
    uint64_t received = ok ? fv_bytes(got_count, got_type) : 0;

    combined(call, result, target, win, sent, received, request);
}

void fv_done_lock(struct fv_call *call, int result, int type, int target, MPI_Win win)
{
    struct fv_owner window = window_of(result, win);

    if (window.number)
        fv_event(call, LOCK, window.number, fv_signed(target), type == MPI_LOCK_SHARED);
    fv_call_record(call, window.comm, 0, 0);
}

void fv_done_on_win(struct fv_call *call, int result, int target, MPI_Win win)
{
    struct fv_owner window = window_of(result, win);

    if (window.number)
        fv_event(call, RMA_SYNC, window.number, target >= 0 ? fv_signed(target) : fv_signed(-1));
    fv_call_record(call, window.comm, 0, 0);
}

/* The exposure ends where the test says so; until then it is a call on the window. */
void fv_done_win_test(struct fv_call *call, int result, const int *flag, MPI_Win win)
{
    if (result == MPI_SUCCESS && *flag) {
        fv_done_on_win(call, result, MPI_PROC_NULL, win);
        return;
    }
    if (result == MPI_SUCCESS)
        fv_call_in_vain(call);
    fv_call_record(call, window_of(result, win).comm, 0, 0);
}

static void event_members(struct fv_call *call, MPI_Group group)
{
    int n = 0, *ranks = NULL;

    if (PMPI_Group_size(group, &n) == MPI_SUCCESS && n > 0)
        ranks = fv_scratch(call, 0, 2 * (size_t)n * sizeof(*ranks));
    if (!ranks || !fv_members_of_group(group, n, ranks + n))
        return;
    for (int i = 0; i < n; i++)
        fv_event(call, MEMBER, (uint64_t)(uint32_t)ranks[n + i]);
}

void fv_done_epoch(struct fv_call *call, int result, MPI_Group group, MPI_Win win)
{
    struct fv_owner window = window_of(result, win);

    if (window.number && call->trace) {
        fv_event(call, RMA_SYNC, window.number, fv_signed(-1));
        event_members(call, group);
    }
    fv_call_record(call, window.comm, 0, 0);
}

/* ---- files: what is written is sent, what is read is received ---- */

static struct fv_owner file_of(int result, MPI_File file)
{
    return result == MPI_SUCCESS ? fv_owner_of(FV_OWNED_FILE, fv_handle(file)) : (struct fv_owner){ 0 };
}

static void has_read(struct fv_call *call, int result, MPI_File fh, uint64_t bytes, const MPI_Request *request)
{
    struct fv_owner file = file_of(result, fh);

    if (file.number)
        EVENT_OF_REQUEST(READ, &file, file.number, bytes);
    note_request(call, result, &file, request);
    fv_call_record(call, file.comm, 0, bytes);
}

static void has_written(struct fv_call *call, int result, MPI_File fh, uint64_t bytes, const MPI_Request *request)
{
    struct fv_owner file = file_of(result, fh);

    if (file.number)
        EVENT_OF_REQUEST(WRITE, &file, file.number, bytes);
    note_request(call, result, &file, request);
    fv_call_record(call, file.comm, bytes, 0);
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
    has_read(call, result, file, blocking_bytes(result, count, type, status), NULL);
}

void fv_done_file_write(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                        const MPI_Status *status)
{
    has_written(call, result, file, blocking_bytes(result, count, type, status), NULL);
}

/* The end of a split collective does not know how much its begin asked for. */
void fv_done_file_read_end(struct fv_call *call, int result, MPI_File file, const MPI_Status *status)
{
    has_read(call, result, file, result == MPI_SUCCESS ? fv_status_bytes(status) : 0, NULL);
}

void fv_done_file_write_end(struct fv_call *call, int result, MPI_File file, const MPI_Status *status)
{
    has_written(call, result, file, result == MPI_SUCCESS ? fv_status_bytes(status) : 0, NULL);
}

/* Non-blocking: as asked for; a read beyond the end of the file is counted in full. */
void fv_done_file_iread(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                        const MPI_Request *request)
{
    has_read(call, result, file, result == MPI_SUCCESS ? fv_bytes(count, type) : 0, request);
}

void fv_done_file_iwrite(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                         const MPI_Request *request)
{
    has_written(call, result, file, result == MPI_SUCCESS ? fv_bytes(count, type) : 0, request);
}

void fv_done_file_seek(struct fv_call *call, int result, MPI_Offset offset, int whence, MPI_File fh)
{
    struct fv_owner file = file_of(result, fh);
    unsigned from = whence == MPI_SEEK_SET ? 0 : whence == MPI_SEEK_CUR ? 1 : 2; /* as lseek() */

    if (file.number)
        fv_event(call, SEEK, file.number, fv_signed(offset), from);
    fv_call_record(call, file.comm, 0, 0);
}

void fv_done_on_file(struct fv_call *call, int result, MPI_File file)
{
    fv_call_record(call, file_of(result, file).comm, 0, 0);
}

static unsigned mode_of(int mode)
{
    static const struct {
        int mpi;
        unsigned ours;
    } modes[] = {
        { MPI_MODE_RDONLY, FV_FILE_RDONLY },
        { MPI_MODE_WRONLY, FV_FILE_WRONLY },
        { MPI_MODE_RDWR, FV_FILE_RDWR },
        { MPI_MODE_CREATE, FV_FILE_CREATE },
        { MPI_MODE_EXCL, FV_FILE_EXCL },
        { MPI_MODE_APPEND, FV_FILE_APPEND },
        { MPI_MODE_DELETE_ON_CLOSE, FV_FILE_DELETE_ON_CLOSE },
    };
    unsigned out = 0;

    for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
        out |= mode & modes[i].mpi ? modes[i].ours : 0;
    return out;
}

void fv_done_newfile(struct fv_call *call, int result, MPI_Comm comm, const char *name, int mode, const MPI_File *file)
{
    if (result != MPI_SUCCESS) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    struct fv_comm *c = fv_comm_get(fv_handle(comm));
    uint64_t number = fv_tracing() ? fv_event_file(fv_comm_number(c), mode_of(mode), name) : 0;

    fv_owner_add(FV_OWNED_FILE, fv_handle(*file), (struct fv_owner){ .comm = c, .number = number });
    if (number)
        fv_event(call, FILE_NEW, number);
    fv_done_creation(call, c);
}

void fv_done_file_close(struct fv_call *call, int result, struct fv_owner known)
{
    gone(call, result, FV_OWNED_FILE, known);
}
